"""The registry: one row per policy, kind of policy and machine, which everything else reads.

A row says what a policy is called, where it is supported, what it requires of the run, and which compiled part and
which part of the reference engine do it.  A new policy is a class in a module beside this one and a row here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from faultsim import checks, renames
from faultsim.arrays import Values
from faultsim.data.lowered import Lowered
from faultsim.errors import OptionError
from faultsim.policies.base import Policy
from faultsim.policies.checkpointing import (
    AllJobs,
    BeforeFailure,
    BigJobs,
    Checkpointing,
    Daly,
    LongJobs,
    MaxAvailability,
    NoCheckpoint,
    Periodic,
    PredictedWindows,
    RiskBased,
    Victims,
    Young,
)
from faultsim.policies.compiled import CompiledOrder
from faultsim.policies.compiled_tables import CompiledPlacement, CompiledScheduler
from faultsim.policies.key import Key
from faultsim.policies.migration import Defragment, LeastFailuresMigration, Migration
from faultsim.policies.orders import ArrivalOrder, LargestFirst, QueueOrder, ShortestFirst, Unicef, Wfp3
from faultsim.policies.parameters import Parameter, parameters_of
from faultsim.policies.placement import (
    Balancing,
    BestFit,
    ConsecutiveBestFit,
    CurveBestFit,
    FirstFit,
    LeastFailuresFirst,
    LeastLoaded,
    MaxFreePartition,
    MostCubic,
    Placement,
    SafestFirst,
    TieBreaking,
)
from faultsim.policies.predictions import IntervalPredictor, PredictionTrace
from faultsim.policies.predictors import Accuracy, Blind, Buckets, Confidence, Perfect, Predictor
from faultsim.policies.queueing import (
    Backfill,
    ConservativeBackfill,
    EasyBackfill,
    External,
    Fcfs,
    Preemptive,
    Scheduler,
)
from faultsim.policies.recovery import Hold, HotSpares, Recovery, Requeue
from faultsim.policies.rescheduling import (
    FailureSlowdown,
    Fars,
    JobFailureRate,
    NodeStealing,
    Rescheduling,
    ServiceUnitLoss,
    Static,
    Strategy,
)
from faultsim.policies.slurm import Slurm
from faultsim.policies.slurm_torus import SlurmTorus
from faultsim.policies.workflows import Fifo, Flaw, Heft, Outputs, RankHybd, SharedOutputs, WorkflowScheduler

__all__ = [
    "KINDS",
    "MACHINES",
    "POLICIES",
    "WRITTEN",
    "KindRow",
    "MachineRow",
    "PolicyRow",
    "find",
    "from_lowered",
    "known_policies",
    "parts_of",
    "row_of",
]


@dataclass(frozen=True)
class KindRow:
    """A kind of policy: the base of its classes, and whether `faultsim.Run` takes one as an option."""

    base: type[Policy]
    option: bool = False


#: Kind -> row.  A kind that is no option is a parameter of the same name of another policy, or of workflows.
KINDS: dict[str, KindRow] = {
    "scheduler": KindRow(Scheduler, option=True),
    "order": KindRow(QueueOrder),
    "placement": KindRow(Placement, option=True),
    "migration": KindRow(Migration, option=True),
    "recovery": KindRow(Recovery, option=True),
    "predictor": KindRow(Predictor, option=True),
    "checkpointing": KindRow(Checkpointing, option=True),
    "victims": KindRow(Victims),
    "rescheduling": KindRow(Rescheduling, option=True),
    "strategy": KindRow(Strategy),
    "spares": KindRow(Static),
    "workflow_scheduler": KindRow(WorkflowScheduler),
    "outputs": KindRow(Outputs),
}


@dataclass(frozen=True)
class MachineRow:
    """A machine: its default placement, and its compiled allocator when nodes are only counted, or known by number."""

    placement: type[Placement]
    counted: str
    named: str
    #: What a job takes there, and what else moves or places jobs, in the words of refusals.
    takes: str = "nodes"
    placements: str = ""
    migrations: str = ""
    free: str = "free nodes need not be contiguous"


#: Name -> row.
MACHINES: dict[str, MachineRow] = {
    "cluster": MachineRow(
        FirstFit, "cluster.counted:COUNTED", "cluster.named:NAMED", placements="placement=FirstFit()"
    ),
    "torus": MachineRow(
        MaxFreePartition,
        "torus.machine:TORUS",
        "torus.machine:TORUS",
        "boxes",
        "placement=Balancing(), TieBreaking() or another for boxes",
        "migration=Defragment() or None",
    ),
    "pod": MachineRow(
        FirstFit,
        "pod.machine:POD",
        "pod.machine:POD",
        "slices",
        "placement=FirstFit()",
        "migration=None",
        free="slices do not move",
    ),
    "site": MachineRow(
        ConsecutiveBestFit,
        "site.shares:SITE",
        "site.shares:SITE",
        "shares of nodes",
        "placement=ConsecutiveBestFit(), BestFit() or another for nodes that jobs share",
        "migration=None",
        free="jobs that share nodes do not move",
    ),
}


@dataclass(frozen=True)
class PolicyRow:
    """One policy: what it decides, its names, its class, the machines that support it, and its source."""

    kind: str
    name: str
    cls: type[Policy]
    machines: tuple[str, ...]
    source: str
    aliases: tuple[str, ...] = ()
    #: Text that `parse_policy` takes, for a policy whose parameters have no defaults.
    example: str = ""
    #: Module of `faultsim._core` and capsule that do it, for all machines or by machine; "" if there is nothing to do.
    compiled: str | Mapping[str, str] = ""
    #: Module of `faultsim.reference` and function or class that do it there, for all machines or by machine.
    reference: str | Mapping[str, str] = ""
    #: The compiled machine whose places are those of this placement alone; "": the machine's own.
    places: str = ""
    #: What the compiled engine must follow for it: "progress" of jobs, their "places", "nodes" for both, or "".
    follows: str = ""
    #: What it needs of the run (`faultsim.simulation.compatibility.NEEDS`), and what is usually given then.
    needs: Mapping[str, str] = field(default_factory=dict)
    #: Why other machines refuse it, and what to use there.
    elsewhere: str = ""

    @property
    def summary(self) -> str:
        """First line of the class's documentation."""
        return (self.cls.__doc__ or "").strip().splitlines()[0]

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its parameters, in order, without columns such as the times of `PredictionTrace`."""
        return parameters_of(self.cls)

    def compiled_on(self, machine: str) -> str | None:
        """Its compiled part on a machine: module:capsule, "" if there is nothing to do, None if it is not supported."""
        if machine not in self.machines:
            return None
        return self.compiled if isinstance(self.compiled, str) else self.compiled[machine]


_PLACED = ("cluster", "torus", "pod")
_ANY = (*_PLACED, "site")
_NAMED = ("cluster", "site")
_BOTH = ("cluster", "torus")
_CLUSTER = ("cluster",)
_SITE = ("site",)
_TORUS = ("torus",)
_WORKFLOWS = ("resources",)
_STATIC = "orders.rules:STATIC"
_PLANNED = "checkpointing.rules:PLANNED"
_FAILURES = {"failures": ""}
_WHERE = {"where": "IntervalPredictor"}
_PREDICTOR = {"predictor": "Confidence(0.1)", **_WHERE}
_FOR_TICKS = {"predictor": "IntervalPredictor(precision=0.7, recall=0.7, interval={policy.interval:g})", **_WHERE}
_BOXES = "{name} places boxes, and {run.machine} has none: use placement=FirstFit(), or use a Torus"
_NODES = (
    "{name} chooses single nodes, and on {run.machine} jobs take {there.takes}: use {there.placements}, or use a "
    "Cluster"
)
_CHOOSES = (
    "{name} chooses nodes or boxes, and on {run.machine} jobs take {there.takes}: use placement=FirstFit(), or use a "
    "Cluster or a Torus"
)
_SHARES = (
    "{name} chooses nodes that jobs share, and on {run.machine} jobs take {there.takes}: use {there.placements}, or "
    "use a Site and a log with cores"
)
_ALONE = "{name} is not supported where jobs share the nodes of {run.machine}: use "

#: Every policy of this version.
POLICIES: tuple[PolicyRow, ...] = (
    PolicyRow("scheduler", "fcfs", Fcfs, _ANY, "[krevat2002] section 2",
              compiled={"cluster": "scheduling.easy_counted:FCFS", "torus": "scheduling.easy_placed:FCFS",
                        "pod": "scheduling.easy_placed:FCFS", "site": "scheduling.easy_shared:FCFS"},
              reference="scheduling.schedulers:Fcfs"),
    PolicyRow("scheduler", "easy", EasyBackfill, _ANY, "[mualem2001]; [krevat2002] section 2",
              aliases=("easy_backfill",),
              compiled={"cluster": "scheduling.easy_counted:EASY", "torus": "scheduling.easy_placed:EASY",
                        "pod": "scheduling.easy_placed:EASY", "site": "scheduling.easy_shared:EASY"},
              reference="scheduling.schedulers:Easy"),
    PolicyRow("scheduler", "backfill", Backfill, _ANY, "model.md#backfill", example="backfill:depth=10",
              compiled={"cluster": "scheduling.backfill_counted:BACKFILL",
                        "torus": "scheduling.backfill_placed:BACKFILL",
                        "pod": "scheduling.backfill_placed:BACKFILL",
                        "site": "scheduling.backfill_shared:BACKFILL"},
              reference="scheduling.schedulers:Backfill"),
    PolicyRow("scheduler", "conservative", ConservativeBackfill, _ANY, "[mualem2001]",
              aliases=("conservative_backfill",),
              compiled={"cluster": "scheduling.conservative_counted:CONSERVATIVE",
                        "torus": "scheduling.conservative_placed:CONSERVATIVE",
                        "pod": "scheduling.conservative_placed:CONSERVATIVE",
                        "site": "scheduling.conservative_shared:CONSERVATIVE"},
              reference="scheduling.schedulers:Conservative"),
    PolicyRow("scheduler", "preemptive", Preemptive, _NAMED, "model.md#preemptive",
              example="preemptive:order=shortest",
              compiled={"cluster": "scheduling.easy_counted:PREEMPTIVE", "site": "scheduling.easy_shared:PREEMPTIVE"},
              follows="progress",
              needs={"recovery": "Requeue()"},
              elsewhere="{name} stops jobs for their nodes, and on {run.machine} jobs have places: use EasyBackfill(), "
                        "or use a Cluster or a Site", reference="faults.preemption:Preemptive"),
    PolicyRow("order", "arrival", ArrivalOrder, _ANY, "first come, first served", compiled=_STATIC,
              reference="scheduling.orders:arrival"),
    PolicyRow("order", "shortest", ShortestFirst, _ANY, "shortest job first", aliases=("sjf",), compiled=_STATIC,
              reference="scheduling.orders:shortest"),
    PolicyRow("order", "largest", LargestFirst, _ANY, "largest job first", aliases=("ljf",), compiled=_STATIC,
              reference="scheduling.orders:largest"),
    PolicyRow("order", "wfp3", Wfp3, _ANY, "[tang2009]", compiled="orders.rules:WFP3",
              reference="scheduling.orders:wfp3"),
    PolicyRow("order", "unicef", Unicef, _ANY, "[tang2009]", compiled="orders.rules:UNICEF",
              reference="scheduling.orders:unicef"),
    PolicyRow("order", "key", Key, _ANY, "model.md#key", example="key:'estimate * size'",
              compiled="orders.expressions:KEY", reference="scheduling.expressions:key"),
    PolicyRow("placement", "first_fit", FirstFit, _ANY, "model.md#first-fit", aliases=("ff",),
              compiled={"cluster": "placement.cluster_rules:FIRST_FIT", "torus": "placement.placed_rules:FIRST_FIT",
                        "pod": "placement.placed_rules:FIRST_SLICE", "site": "placement.site_rules:FIRST_FIT"},
              reference={"cluster": "scheduling.placement:lowest_nodes", "torus": "scheduling.placement:first_box",
                         "pod": "scheduling.placement:first_slice", "site": "scheduling.site_placement:first_fit"}),
    PolicyRow("placement", "max_free_partition", MaxFreePartition, _TORUS, "[krevat2002] section 2", aliases=("mfp",),
              compiled="placement.placed_rules:MAX_FREE_PARTITION", elsewhere=_BOXES,
              reference="scheduling.placement:max_free_partition"),
    PolicyRow("placement", "most_cubic", MostCubic, _TORUS, "model.md#most-cubic", aliases=("cubic",),
              compiled="placement.most_cubic:MOST_CUBIC", elsewhere=_BOXES,
              reference="scheduling.placement:cubic_box"),
    PolicyRow("placement", "balancing", Balancing, _TORUS, "[oliner2004] section 5.2.1",
              compiled="placement.placed_rules:BALANCING", needs=_PREDICTOR, elsewhere=_BOXES,
              reference="scheduling.placement:balancing"),
    PolicyRow("placement", "tie_breaking", TieBreaking, _TORUS, "[oliner2004] section 5.2.2",
              compiled="placement.placed_rules:TIE_BREAKING", needs=_PREDICTOR, elsewhere=_BOXES,
              reference="scheduling.placement:tie_breaking"),
    PolicyRow("placement", "slurm_torus", SlurmTorus, _TORUS, "[slurm2026]", aliases=("torus3d",),
              compiled="placement.slurm_torus:SLURM_TORUS", places="torus.listed_machine:LISTED",
              needs={"planned boxes": "EasyBackfill(reservation='fixed')",
                     "fixed boxes": "EasyBackfill(reservation='fixed')", "foresight": "Confidence(0.1)"},
              elsewhere=_BOXES,
              reference="scheduling.placement:listed_box"),
    PolicyRow("placement", "least_failures_first", LeastFailuresFirst, _NAMED, "[zhang2004] section 5.2.3",
              aliases=("lff",),
              compiled={"cluster": "placement.cluster_rules:LEAST_FAILURES_FIRST",
                        "site": "placement.site_rules:LEAST_FAILURES_FIRST"}, follows="nodes",
              elsewhere=_NODES,
              reference={"cluster": "scheduling.placement:least_failures_first",
                         "site": "scheduling.site_placement:least_failures_first"}),
    PolicyRow("placement", "safest_first", SafestFirst, _NAMED, "model.md#safest-first", aliases=("safest",),
              compiled={"cluster": "placement.safest:SAFEST_FIRST", "site": "placement.site_rules:SAFEST_FIRST"},
              follows="nodes", needs=_PREDICTOR,
              elsewhere=_NODES,
              reference={"cluster": "scheduling.placement:safest_first",
                         "site": "scheduling.site_placement:safest_first"}),
    PolicyRow("placement", "curve_best_fit", CurveBestFit, _CLUSTER, "[leung2002]", aliases=("curve",),
              compiled="placement.curve_best_fit:CURVE_BEST_FIT", follows="nodes",
              needs={"coordinates": "Cluster({run.machine.nodes}, shape=(x, y, z))"}, elsewhere=_NODES,
              reference="scheduling.placement:nodes_on_curve"),
    PolicyRow("placement", "consecutive_best_fit", ConsecutiveBestFit, _SITE, "model.md#consecutive-best-fit",
              aliases=("consecutive",), elsewhere=_SHARES, compiled="placement.site_rules:CONSECUTIVE_BEST_FIT",
              reference="scheduling.site_placement:consecutive_best_fit"),
    PolicyRow("placement", "best_fit", BestFit, _SITE, "model.md#site-placement", elsewhere=_SHARES,
              compiled="placement.site_rules:BEST_FIT",
              reference="scheduling.site_placement:best_fit"),
    PolicyRow("placement", "least_loaded", LeastLoaded, _SITE, "model.md#site-placement", aliases=("lln",),
              elsewhere=_SHARES, compiled="placement.site_rules:LEAST_LOADED",
              reference="scheduling.site_placement:least_loaded"),
    PolicyRow("migration", "defragment", Defragment, _TORUS, "[krevat2002] section 2",
              compiled="migration.defragment:DEFRAGMENT",
              elsewhere="{name} is not supported on {run.machine}, where {there.free}: use migration=None, or use a "
                        "Torus", reference="scheduling.defragment:Defragment"),
    PolicyRow("migration", "least_failures", LeastFailuresMigration, _CLUSTER, "[zhang2004] section 5.2.3",
              aliases=("lfm",), compiled="migration.least_failures:LEAST_FAILURES", follows="nodes",
              elsewhere="{name} moves single nodes, and on {run.machine} jobs keep {there.takes}: use "
                        "{there.migrations}, or use a Cluster", reference="faults.least_failures:LeastFailures"),
    PolicyRow("recovery", "requeue", Requeue, _ANY, "[oliner2004] section 6; [zhang2004] section 3",
              compiled="recovery.rules:REQUEUE", reference="faults.failures:go_back"),
    PolicyRow("recovery", "hot_spares", HotSpares, ("cluster", "pod"), "model.md#hot-spares",
              example="hot_spares:1,restart_cost=2m", compiled="recovery.rules:HOT_SPARES",
              reference="faults.hot_spares:HotSpares", follows="nodes",
              needs={"switches": "", "built in": "EasyBackfill()", "staying": ""},
              elsewhere="{name} exchanges nodes of a job, and on {run.machine} a job has one box: use Requeue(), or a "
                        "Cluster or a Pod with optical switches"),
    PolicyRow("recovery", "hold", Hold, _ANY, "[li2009] section 5.1", compiled="recovery.rules:HOLD",
              reference="faults.failures:hold"),
    PolicyRow("predictor", "blind", Blind, _ANY, "model.md#predictors", aliases=("none",)),
    PolicyRow("predictor", "perfect", Perfect, _ANY, "[zhang2004] section 5.2.1", needs=_FAILURES),
    PolicyRow("predictor", "confidence", Confidence, _ANY, "[oliner2004] section 4.1", example="confidence:0.1",
              needs=_FAILURES),
    PolicyRow("predictor", "accuracy", Accuracy, _ANY, "[oliner2004] section 4.2", example="accuracy:0.1",
              needs=_FAILURES),
    PolicyRow("predictor", "interval", IntervalPredictor, _ANY, "[li2009] section 5.1",
              example="interval:precision=0.7,recall=0.7,interval=300", needs=_FAILURES),
    PolicyRow("predictor", "trace", PredictionTrace, _ANY, "[yu2010]"),
    PolicyRow("predictor", "buckets", Buckets, _ANY, "[zhang2004] section 5.2.2", example="buckets:4h",
              needs=_FAILURES),
    PolicyRow("checkpointing", "none", NoCheckpoint, _ANY, "model.md#checkpoints",
              reference="faults.checkpointing:NoCheckpoint"),
    PolicyRow("checkpointing", "periodic", Periodic, _ANY, "[zhang2004] section 5.1", example="periodic:2h,5m",
              compiled=_PLANNED, follows="progress", reference="faults.checkpointing:Periodic"),
    PolicyRow("checkpointing", "young", Young, _ANY, "[young1974]; [li2009]", example="young:cost=30,mtbf=56d",
              compiled=_PLANNED, follows="progress", reference="faults.checkpointing:Young"),
    PolicyRow("checkpointing", "daly", Daly, _ANY, "[daly2006]", example="daly:cost=30,mtbf=56d",
              compiled=_PLANNED, follows="progress", reference="faults.checkpointing:Daly"),
    PolicyRow("checkpointing", "max_availability", MaxAvailability, _ANY, "[saxena2024]",
              example="max_availability:cost=30,mtbf=56d,downtime=10m", compiled=_PLANNED, follows="progress",
              reference="faults.checkpointing:MaxAvailability"),
    PolicyRow("checkpointing", "before_failure", BeforeFailure, _ANY, "[zhang2004] section 5.2.1",
              example="before_failure:300", compiled="checkpointing.requests:BEFORE_FAILURE", needs=_WHERE,
              reference="faults.checkpointing:BeforeFailure"),
    PolicyRow("checkpointing", "predicted_windows", PredictedWindows, _ANY, "[zhang2004] section 5.2.2",
              aliases=("windows",), example="predicted_windows:bucket=4h,victims=long",
              compiled="checkpointing.requests:PREDICTED_WINDOWS", needs={"buckets": ""},
              reference="faults.checkpointing:PredictedWindows"),
    PolicyRow("checkpointing", "risk_based", RiskBased, _ANY, "[oliner2006]", example="risk_based:3600,300",
              compiled="checkpointing.rules:RISK_BASED", follows="nodes", needs=_PREDICTOR,
              reference="faults.checkpointing:RiskBased"),
    PolicyRow("victims", "all", AllJobs, _ANY, "[zhang2004] section 5.2.2", reference="faults.checkpointing:all_jobs"),
    PolicyRow("victims", "long", LongJobs, _ANY, "[zhang2004] section 5.2.2",
              reference="faults.checkpointing:long_jobs"),
    PolicyRow("victims", "big", BigJobs, _ANY, "[zhang2004] section 5.2.2", reference="faults.checkpointing:big_jobs"),
    PolicyRow("rescheduling", "fars", Fars, _PLACED, "[li2009]",
              example="fars:interval=300,strategy=service_unit_loss", compiled="fars.fars:FARS", needs=_FOR_TICKS,
              elsewhere=_ALONE + "rescheduling=None, or a log of whole nodes", reference="fars.rescheduling:act"),
    PolicyRow("strategy", "service_unit_loss", ServiceUnitLoss, _ANY, "[li2009] equation 2",
              aliases=("sul", "sul_d"), compiled="fars.fars:SERVICE_UNIT_LOSS",
              reference="fars.rescheduling:ServiceUnitLoss"),
    PolicyRow("strategy", "job_failure_rate", JobFailureRate, _ANY, "[li2009] equation 3", aliases=("jfr", "jfr_d"),
              compiled="fars.fars:JOB_FAILURE_RATE", reference="fars.rescheduling:JobFailureRate"),
    PolicyRow("strategy", "failure_slowdown", FailureSlowdown, _ANY, "[li2009] equation 4", aliases=("fsd", "fsd_d"),
              compiled="fars.fars:FAILURE_SLOWDOWN", reference="fars.rescheduling:FailureSlowdown"),
    PolicyRow("strategy", "node_stealing", NodeStealing, _CLUSTER, "[du2024]", compiled="fars.fars:NODE_STEALING",
              needs={"checkpoints": "Young(cost, mtbf)", "recovery": "Requeue()"},
              elsewhere="{name} takes single nodes of a job, and on {run.machine} jobs keep {there.takes}: use "
                        "strategy=ServiceUnitLoss(), or use a Cluster", reference="fars.rescheduling:NodeStealing"),
    PolicyRow("spares", "static", Static, _CLUSTER, "[li2009] section 3", example="static:16", needs={"room": ""},
              elsewhere="{policy!r} keeps single nodes, and on {run.machine} jobs take {there.takes}: use "
                        "spares='dynamic', or use a Cluster"),
    PolicyRow("workflow_scheduler", "rank_hybd", RankHybd, _WORKFLOWS, "[yu2008]; [yu2010]",
              compiled="workflow.schedule:RANK_HYBD", reference="workflow.schedulers:RankHybd"),
    PolicyRow("workflow_scheduler", "flaw", Flaw, _WORKFLOWS, "[yu2010] section 4",
              compiled="workflow.schedule:FLAW", reference="workflow.schedulers:Flaw"),
    PolicyRow("workflow_scheduler", "fifo", Fifo, _WORKFLOWS, "[yu2010] section 5.D",
              compiled="workflow.schedule:FIFO", reference="workflow.schedulers:Fifo"),
    PolicyRow("workflow_scheduler", "heft", Heft, _WORKFLOWS, "[topcuoglu2002]", compiled="workflow.heft:HEFT",
              reference="workflow.schedulers:Heft"),
    PolicyRow("outputs", "shared", SharedOutputs, _WORKFLOWS, "[robert2012]", example="shared:60"),
)  # fmt: skip

#: Policies that users write in Python, by subclassing the base of the kind, or compile elsewhere, and those that leave
#: it to the caller.
WRITTEN: tuple[PolicyRow, ...] = (
    PolicyRow("scheduler", "python", Scheduler, _ANY, "",
              compiled="scheduling.external:WRITTEN", follows="nodes",
              reference="external:Written"),
    PolicyRow("scheduler", "external", External, _ANY, "",
              compiled="scheduling.external:OUTSIDE", follows="nodes",
              reference="external:External"),
    PolicyRow("scheduler", "compiled", CompiledScheduler, _ANY, "",
              compiled="scheduling.compiled_scheduler:COMPILED",
              reference="compiled:Compiled"),
    PolicyRow("predictor", "python", Predictor, _ANY, "", needs=_FAILURES),
    PolicyRow("checkpointing", "python", Checkpointing, _ANY, "", compiled=_PLANNED, follows="progress",
              reference="faults.checkpointing:Written"),
    PolicyRow("checkpointing", "asked", Checkpointing, _ANY, "",
              compiled="checkpointing.rules:ASKED", follows="nodes",
              reference="faults.checkpointing:Asked"),
    PolicyRow("recovery", "python", Recovery, _ANY, "",
              compiled="recovery.rules:EITHER", follows="nodes",
              reference="faults.failures:go_back"),
    PolicyRow("rescheduling", "python", Rescheduling, _ANY, "",
              compiled="fars.ticks:TICKS", follows="nodes",
              reference="state:nobody"),
    PolicyRow("order", "python", QueueOrder, _ANY, "", compiled="orders.python_orders:PYTHON",
              reference="scheduling.orders:python"),
    PolicyRow("order", "compiled", CompiledOrder, _ANY, "", compiled="orders.rules:COMPILED",
              reference="scheduling.orders:python"),
    PolicyRow("placement", "python", Placement, _BOTH, "", follows="places",
              elsewhere=_CHOOSES,
              compiled={"cluster": "placement.cluster_rules:PYTHON", "torus": "placement.placed_rules:PYTHON"},
              reference={"cluster": "scheduling.placement:own_nodes", "torus": "scheduling.placement:python"}),
    PolicyRow("placement", "compiled", CompiledPlacement, _BOTH, "", follows="places",
              elsewhere=_CHOOSES,
              compiled={"cluster": "placement.compiled_rules:ON_CLUSTER", "torus": "placement.compiled_rules:ON_TORUS"},
              reference={"cluster": "compiled:nodes", "torus": "compiled:box"}),
)  # fmt: skip

_BY_NAME = {(row.kind, row.name): row for row in (*POLICIES, *WRITTEN)}
_BY_CLASS = {row.cls: row for row in (*POLICIES, *WRITTEN)}
_PARTS = tuple(kind for kind, row in KINDS.items() if not row.option)


def find(kind: str, name: str) -> PolicyRow | None:
    """The row of a policy, built in or written in Python; None if there is none."""
    return _BY_NAME.get((kind, name))


def row_of(cls: type[Policy]) -> PolicyRow | None:
    """The row of a class of policies; None if it is not known."""
    return _BY_CLASS.get(cls) or find(cls.kind, "python" if cls.is_written() else cls.name)


def parts_of(cls: type[Policy]) -> tuple[str, ...]:
    """Names of the parameters that are policies, such as the strategy of `Fars`."""
    return tuple(field.name for field in fields(cls) if field.name in _PARTS) if is_dataclass(cls) else ()


@cache
def known_policies(kind: str) -> Mapping[str, PolicyRow]:
    """Rows of one kind by name.

    Examples
    --------
    >>> list(known_policies("migration"))
    ['defragment', 'least_failures']
    """
    return MappingProxyType({row.name: row for row in POLICIES if row.kind == kind})


def from_lowered(kind: str, lowered: Lowered | None, arrays: Mapping[str, Values] | None = None) -> Any:
    """The policy whose ``lower()`` gave this dict.

    Parameters
    ----------
    kind : str
        Kind of policy, as in `POLICIES`.
    lowered : dict or None
        The lowered form; None stays None.
    arrays : mapping of str to array, optional
        Its columns, for a policy that has some (`Policy.arrays`).

    Raises
    ------
    OptionError
        If the dict names no policy of this version, or one written in Python that was not saved with it.

    Examples
    --------
    >>> from_lowered("migration", Defragment(cost=3).lower()) == Defragment(cost=3)
    True
    """
    if lowered is None:
        return None
    rest = dict(lowered)
    name = rest.pop("name", None)
    if kind == Slurm.kind and name == Slurm.name:
        return Slurm.from_parts(rest, arrays)
    if any(row.kind == kind and row.name == name for row in WRITTEN):
        if isinstance(rest.get("object"), Policy):
            return rest["object"]
        if name == External.name:
            raise OptionError("this run was decided from outside, which is not saved: give a scheduler")
        whose = "written in Python" if name in ("python", "asked") else "compiled elsewhere"
        which = rest.get("repr" if "policy" in rest else "class", "unknown")
        used = f"{'an' if kind == 'order' else 'a'} {kind} {whose} ({which})"
        raise OptionError(f"this run used {used}, which is not saved; pass it again")
    rows = known_policies(kind)
    cls = rows[checks.choice(kind, name, rows)].cls
    rest = renames.current("parameter", cls.__name__, rest, silent=True)
    for part in _PARTS:
        if isinstance(rest.get(part), dict):
            rest[part] = from_lowered(part, rest[part])
    try:
        return cls.from_parts(rest, arrays)
    except (TypeError, KeyError) as error:
        raise OptionError(f"{kind} {name!r} cannot be made from {rest}: {error}") from None
