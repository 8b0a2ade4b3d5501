"""faultsim: fast, trusted simulation of fault-aware job scheduling."""
# ruff: noqa: I001 (grouped by meaning)

# Inputs
from faultsim import synthetic
from faultsim.failures import FailureTrace
from faultsim.readers.bluegene_ras import read_bluegene_ras
from faultsim.readers.dax import read_dax
from faultsim.readers.failures_csv import read_failures
from faultsim.readers.fta import read_fta
from faultsim.readers.krevat import krevat_span
from faultsim.readers.lanl import read_lanl
from faultsim.readers.stg import read_stg
from faultsim.readers.swf import read_swf
from faultsim.readers.wfcommons import read_wfcommons
from faultsim.workflow import Workflow
from faultsim.workload import Workload, concat

# Machines and policies
from faultsim.machine import Cluster, Torus
from faultsim.resources import Resources
from faultsim.policies import (
    POLICIES,
    Accuracy,
    AllJobs,
    ArrivalOrder,
    Balancing,
    BeforeFailure,
    BigJobs,
    Blind,
    Buckets,
    Confidence,
    ConservativeBackfill,
    Daly,
    Defragment,
    EasyBackfill,
    FailureSlowdown,
    Fars,
    Fcfs,
    Fifo,
    FirstFit,
    Flaw,
    Heft,
    Hold,
    IntervalPredictor,
    JobFailureRate,
    LargestFirst,
    LeastFailuresFirst,
    LeastFailuresMigration,
    LongJobs,
    MaxFreePartition,
    NoCheckpoint,
    NodeStealing,
    Perfect,
    Periodic,
    Placement,
    PredictedWindows,
    PredictionTrace,
    QueueOrder,
    RankHybd,
    Requeue,
    RiskBased,
    SafestFirst,
    ServiceUnitLoss,
    SharedOutputs,
    ShortestFirst,
    Static,
    TieBreaking,
    Unicef,
    Wfp3,
    Young,
)

# Runs and results
from faultsim.kiviat import kiviat_gain
from faultsim.metrics import METRICS
from faultsim.result import Result
from faultsim.result_load import load_result
from faultsim.simulate import Run, Simulation, rerun, simulate
from faultsim.many import simulate_many
from faultsim.simulate_workflows import simulate_workflows
from faultsim.workflow_result import WorkflowResult

# Sweeps
from faultsim.sweep import Sweep, SweepTable, load_sweep, read_sweep

# Errors
from faultsim.errors import (
    EngineError,
    FaultsimError,
    InputError,
    MissingExtraError,
    NotAvailableError,
    OptionError,
    StoreError,
    WorkerError,
)

# Kernels on their own
from faultsim import partition
from faultsim.box import Box
from faultsim.event_queue import EventQueue
from faultsim.knapsack import knapsack

# Building against the C surface
from faultsim.include import get_include

from faultsim.version import __version__  # noqa: F401

__all__ = [
    "METRICS",
    "POLICIES",
    "Accuracy",
    "AllJobs",
    "ArrivalOrder",
    "Balancing",
    "BeforeFailure",
    "BigJobs",
    "Blind",
    "Box",
    "Buckets",
    "Cluster",
    "Confidence",
    "ConservativeBackfill",
    "Daly",
    "Defragment",
    "EasyBackfill",
    "EngineError",
    "EventQueue",
    "FailureSlowdown",
    "FailureTrace",
    "Fars",
    "FaultsimError",
    "Fcfs",
    "Fifo",
    "FirstFit",
    "Flaw",
    "Heft",
    "Hold",
    "InputError",
    "IntervalPredictor",
    "JobFailureRate",
    "LargestFirst",
    "LeastFailuresFirst",
    "LeastFailuresMigration",
    "LongJobs",
    "MaxFreePartition",
    "MissingExtraError",
    "NoCheckpoint",
    "NodeStealing",
    "NotAvailableError",
    "OptionError",
    "Perfect",
    "Periodic",
    "Placement",
    "PredictedWindows",
    "PredictionTrace",
    "QueueOrder",
    "RankHybd",
    "Requeue",
    "Resources",
    "Result",
    "RiskBased",
    "Run",
    "SafestFirst",
    "ServiceUnitLoss",
    "SharedOutputs",
    "ShortestFirst",
    "Simulation",
    "Static",
    "StoreError",
    "Sweep",
    "SweepTable",
    "TieBreaking",
    "Torus",
    "Unicef",
    "Wfp3",
    "WorkerError",
    "Workflow",
    "WorkflowResult",
    "Workload",
    "Young",
    "concat",
    "get_include",
    "kiviat_gain",
    "knapsack",
    "krevat_span",
    "load_result",
    "load_sweep",
    "partition",
    "read_bluegene_ras",
    "read_dax",
    "read_failures",
    "read_fta",
    "read_lanl",
    "read_stg",
    "read_sweep",
    "read_swf",
    "read_wfcommons",
    "rerun",
    "simulate",
    "simulate_many",
    "simulate_workflows",
    "synthetic",
]


def __getattr__(name: str) -> object:
    """A wrong name gets a did-you-mean."""
    from faultsim.checks import did_you_mean

    hint = "" if name.startswith("_") else did_you_mean(name, __all__)
    raise AttributeError(f"module 'faultsim' has no attribute {name!r}{hint}")
