"""faultsim: fast, trusted simulation of fault-aware job scheduling."""
# ruff: noqa: I001 (grouped by meaning)

from typing import TYPE_CHECKING

# Inputs
from faultsim.checks import show_types_of as _show_types_of
from faultsim.data.domains import Domains
from faultsim.data.failures import FailureTrace
from faultsim.data.limits import Limits
from faultsim.data.slowdowns import Slowdown
from faultsim.readers.bluegene_ras import read_bluegene_ras
from faultsim.readers.dax import read_dax
from faultsim.readers.failures_csv import read_failures
from faultsim.readers.fta import read_fta
from faultsim.readers.jobs import read_jobs
from faultsim.readers.krevat import krevat_span
from faultsim.readers.lanl import read_lanl
from faultsim.readers.lsf import read_lsf
from faultsim.readers.pbs import read_pbs
from faultsim.readers.sacct import read_sacct
from faultsim.readers.sacct_events import read_sacct_events
from faultsim.readers.sge import read_sge
from faultsim.readers.stepfun import read_stepfun
from faultsim.readers.stg import read_stg
from faultsim.readers.swf import read_swf
from faultsim.readers.table import READERS
from faultsim.readers.titan import read_titan
from faultsim.readers.topology import TopologyChoice, TopologyShape, TopologyTorus, TorusTopology, read_topology_yaml
from faultsim.readers.wfcommons import read_wfcommons
from faultsim.data.workflow import Workflow
from faultsim.data.workload import Workload, concat

# Machines and policies
from faultsim.machines import Cluster, NodeClass, Partition, Pod, Reservation, Site, Torus
from faultsim.machines.power import Power
from faultsim.machines.resources import Resources
from faultsim.policies import (
    POLICIES,
    Accuracy,
    AllJobs,
    ArrivalOrder,
    Backfill,
    Balancing,
    BeforeFailure,
    BestFit,
    BigJobs,
    Blind,
    Buckets,
    Checkpointing,
    CompiledOrder,
    CompiledPlacement,
    CompiledScheduler,
    Confidence,
    ConsecutiveBestFit,
    ConservativeBackfill,
    CurveBestFit,
    Daly,
    Defragment,
    EasyBackfill,
    External,
    FailureSlowdown,
    Fars,
    Fcfs,
    Fifo,
    FirstFit,
    Flaw,
    Heft,
    Hold,
    HotSpares,
    IntervalPredictor,
    JobFailureRate,
    Key,
    LargestFirst,
    LeastFailuresFirst,
    LeastFailuresMigration,
    LeastLoaded,
    LongJobs,
    MaxAvailability,
    MaxFreePartition,
    MostCubic,
    NoCheckpoint,
    NodeStealing,
    Perfect,
    Periodic,
    Placement,
    PredictedWindows,
    PredictionTrace,
    Predictor,
    Preemptive,
    QueueOrder,
    RankHybd,
    Recovery,
    Requeue,
    Rescheduling,
    RiskBased,
    SafestFirst,
    Scheduler,
    ServiceUnitLoss,
    SharedOutputs,
    ShortestFirst,
    Slurm,
    SlurmTorus,
    Static,
    TieBreaking,
    Unicef,
    Wfp3,
    Young,
    parse_policy,
)

# Runs and results
from faultsim.results.expected_ettr import expected_ettr
from faultsim.results.kiviat import kiviat_gain
from faultsim.results.metrics import METRICS
from faultsim.version import MODEL_REVISION
from faultsim.results.reasons import Cause, Reason, Why
from faultsim.results.result import Result
from faultsim.data.event_kinds import JobState
from faultsim.simulation.run import Run
from faultsim._core.decisions import Decision
from faultsim.simulation.stepping import Simulation
from faultsim.simulation.simulate import rerun, simulate
from faultsim.simulation.simulate_many import simulate_many
from faultsim.simulation.workflows import simulate_workflows
from faultsim.results.workflow_result import WorkflowResult

# What is imported when it is first asked for: most runs need none of it, and it takes as long to import as the rest of
# what is above the core
if TYPE_CHECKING:
    from faultsim import synthetic
    from faultsim.planning import PodPlan, plan
    from faultsim.reading import read, read_site
    from faultsim.data.queue_state import QueueState
    from faultsim.readers.squeue import read_squeue
    from faultsim.sweep.forecast import Calibration, Forecast, calibrate_forecast, forecast
    from faultsim.results.load import load_result
    from faultsim.results.saved_workflows import load_workflow_result
    from faultsim.data.slurm_settings import IgnoredKey
    from faultsim.data.slurm_site import SlurmAssociation, SlurmNode, SlurmPartition, SlurmQos
    from faultsim.slurm_site import SlurmConf, read_slurm_conf
    from faultsim.sweep.advise import ShapeAdvice, advise_shapes
    from faultsim.sweep import Sweep, SweepTable, load_sweep, read_sweep

# Errors
from faultsim.errors import (
    DecisionError,
    BusyError,
    EngineError,
    FaultsimError,
    InputError,
    MissingExtraError,
    NotAvailableError,
    OptionError,
    StoreError,
    WorkerError,
)

# Standalone kernels
from faultsim.kernels import partition
from faultsim.machines.box import Box
from faultsim.kernels.event_queue import EventQueue
from faultsim.kernels.knapsack import knapsack

# Building against the C surface
from faultsim.include import get_include

from faultsim.version import __version__  # noqa: F401
from faultsim.entries import guard as _guard

__all__ = [
    "METRICS",
    "MODEL_REVISION",
    "POLICIES",
    "READERS",
    "Accuracy",
    "AllJobs",
    "ArrivalOrder",
    "Backfill",
    "Balancing",
    "BeforeFailure",
    "BestFit",
    "BigJobs",
    "Blind",
    "Box",
    "Buckets",
    "BusyError",
    "Calibration",
    "Cause",
    "Checkpointing",
    "Cluster",
    "CompiledOrder",
    "CompiledPlacement",
    "CompiledScheduler",
    "Confidence",
    "ConsecutiveBestFit",
    "ConservativeBackfill",
    "CurveBestFit",
    "Daly",
    "Decision",
    "DecisionError",
    "Defragment",
    "Domains",
    "EasyBackfill",
    "EngineError",
    "EventQueue",
    "External",
    "FailureSlowdown",
    "FailureTrace",
    "Fars",
    "FaultsimError",
    "Fcfs",
    "Fifo",
    "FirstFit",
    "Flaw",
    "Forecast",
    "Heft",
    "Hold",
    "HotSpares",
    "IgnoredKey",
    "InputError",
    "IntervalPredictor",
    "JobFailureRate",
    "JobState",
    "Key",
    "LargestFirst",
    "LeastFailuresFirst",
    "LeastFailuresMigration",
    "LeastLoaded",
    "Limits",
    "LongJobs",
    "MaxAvailability",
    "MaxFreePartition",
    "MissingExtraError",
    "MostCubic",
    "NoCheckpoint",
    "NodeClass",
    "NodeStealing",
    "NotAvailableError",
    "OptionError",
    "Partition",
    "Perfect",
    "Periodic",
    "Placement",
    "Pod",
    "PodPlan",
    "Power",
    "PredictedWindows",
    "PredictionTrace",
    "Predictor",
    "Preemptive",
    "QueueOrder",
    "QueueState",
    "RankHybd",
    "Reason",
    "Recovery",
    "Requeue",
    "Rescheduling",
    "Reservation",
    "Resources",
    "Result",
    "RiskBased",
    "Run",
    "SafestFirst",
    "Scheduler",
    "ServiceUnitLoss",
    "ShapeAdvice",
    "SharedOutputs",
    "ShortestFirst",
    "Simulation",
    "Site",
    "Slowdown",
    "Slurm",
    "SlurmAssociation",
    "SlurmConf",
    "SlurmNode",
    "SlurmPartition",
    "SlurmQos",
    "SlurmTorus",
    "Static",
    "StoreError",
    "Sweep",
    "SweepTable",
    "TieBreaking",
    "TopologyChoice",
    "TopologyShape",
    "TopologyTorus",
    "Torus",
    "TorusTopology",
    "Unicef",
    "Wfp3",
    "Why",
    "WorkerError",
    "Workflow",
    "WorkflowResult",
    "Workload",
    "Young",
    "advise_shapes",
    "calibrate_forecast",
    "concat",
    "expected_ettr",
    "forecast",
    "get_include",
    "kiviat_gain",
    "knapsack",
    "krevat_span",
    "load_result",
    "load_sweep",
    "load_workflow_result",
    "parse_policy",
    "partition",
    "plan",
    "read",
    "read_bluegene_ras",
    "read_dax",
    "read_failures",
    "read_fta",
    "read_jobs",
    "read_lanl",
    "read_lsf",
    "read_pbs",
    "read_sacct",
    "read_sacct_events",
    "read_sge",
    "read_site",
    "read_slurm_conf",
    "read_squeue",
    "read_stepfun",
    "read_stg",
    "read_sweep",
    "read_swf",
    "read_titan",
    "read_topology_yaml",
    "read_wfcommons",
    "rerun",
    "simulate",
    "simulate_many",
    "simulate_workflows",
    "synthetic",
]

# `help()` shows types in short words.
_show_types_of(globals())
_guard(globals())

#: Name -> its module, where that is imported when it is first asked for; "" names a package itself.
_LATER = {
    "load_result": "results.load",
    "load_workflow_result": "results.saved_workflows",
    "read": "reading",
    "read_site": "reading",
    "IgnoredKey": "data.slurm_settings",
    **dict.fromkeys(("SlurmAssociation", "SlurmNode", "SlurmPartition", "SlurmQos"), "data.slurm_site"),
    **dict.fromkeys(("SlurmConf", "read_slurm_conf"), "slurm_site"),
    "QueueState": "data.queue_state",
    "read_squeue": "readers.squeue",
    **dict.fromkeys(("Calibration", "Forecast", "calibrate_forecast", "forecast"), "sweep.forecast"),
    "planning": "",
    "sweep": "",
    "synthetic": "",
    **dict.fromkeys(("PodPlan", "plan"), "planning"),
    **dict.fromkeys(("Sweep", "SweepTable", "load_sweep", "read_sweep"), "sweep"),
    **dict.fromkeys(("ShapeAdvice", "advise_shapes"), "sweep.advise"),
}


def __getattr__(name: str) -> object:
    """What is imported late; a wrong name gets a did-you-mean."""
    if name in _LATER:
        from importlib import import_module

        value: object = import_module(f"faultsim.{_LATER[name] or name}")
        if _LATER[name]:
            from faultsim.checks import show_types

            value = globals()[name] = getattr(value, name)
            show_types(value)
            _guard({"__all__": (name,), name: value})
        return value
    from faultsim.checks import did_you_mean

    hint = "" if name.startswith("_") else did_you_mean(name, __all__)
    raise AttributeError(f"module 'faultsim' has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
