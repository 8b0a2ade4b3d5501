"""Policies: frozen dataclasses that say how a run decides; each lowers to a plain dict that the engine takes.

`POLICIES` lists them all.  A new policy is a class in one of these modules and a row here.
"""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from types import MappingProxyType
from typing import Any

from numpy.typing import NDArray

from faultsim import checks
from faultsim.errors import OptionError
from faultsim.policies.base import Policy
from faultsim.policies.checkpointing import (
    AllJobs,
    BeforeFailure,
    BigJobs,
    Checkpointing,
    Daly,
    LongJobs,
    NoCheckpoint,
    Periodic,
    PredictedWindows,
    RiskBased,
    Victims,
    Young,
)
from faultsim.policies.migration import Defragment, LeastFailuresMigration, Migration
from faultsim.policies.placement import (
    BOX_ORDERS,
    Balancing,
    FirstFit,
    LeastFailuresFirst,
    MaxFreePartition,
    Placement,
    SafestFirst,
    TieBreaking,
)
from faultsim.policies.predictors import (
    Accuracy,
    Blind,
    Buckets,
    Confidence,
    IntervalPredictor,
    Perfect,
    PredictionTrace,
    Predictor,
)
from faultsim.policies.queueing import (
    ORDERS,
    ArrivalOrder,
    ConservativeBackfill,
    EasyBackfill,
    Fcfs,
    LargestFirst,
    QueueOrder,
    Scheduler,
    ShortestFirst,
    Unicef,
    WaitingJobs,
    Wfp3,
)
from faultsim.policies.recovery import Hold, Recovery, Requeue
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
from faultsim.policies.workflows import Fifo, Flaw, Heft, Outputs, RankHybd, SharedOutputs, WorkflowScheduler

__all__ = [
    "BOX_ORDERS",
    "ORDERS",
    "POLICIES",
    "Accuracy",
    "AllJobs",
    "ArrivalOrder",
    "Balancing",
    "BeforeFailure",
    "BigJobs",
    "Blind",
    "Buckets",
    "Checkpointing",
    "Confidence",
    "ConservativeBackfill",
    "Daly",
    "Defragment",
    "EasyBackfill",
    "FailureSlowdown",
    "Fars",
    "Fcfs",
    "Fifo",
    "FirstFit",
    "Flaw",
    "Heft",
    "Hold",
    "IntervalPredictor",
    "JobFailureRate",
    "LargestFirst",
    "LeastFailuresFirst",
    "LeastFailuresMigration",
    "LongJobs",
    "MaxFreePartition",
    "Migration",
    "NoCheckpoint",
    "NodeStealing",
    "Outputs",
    "Perfect",
    "Periodic",
    "Placement",
    "Policy",
    "PolicyRow",
    "PredictedWindows",
    "PredictionTrace",
    "Predictor",
    "QueueOrder",
    "RankHybd",
    "Recovery",
    "Requeue",
    "Rescheduling",
    "RiskBased",
    "SafestFirst",
    "Scheduler",
    "ServiceUnitLoss",
    "SharedOutputs",
    "ShortestFirst",
    "Static",
    "Strategy",
    "TieBreaking",
    "Unicef",
    "Victims",
    "WaitingJobs",
    "Wfp3",
    "WorkflowScheduler",
    "Young",
    "from_lowered",
    "known_policies",
    "parse_policy",
]


@dataclass(frozen=True)
class PolicyRow:
    """One policy: what it decides, its names, its class, the machines it has a meaning on, and its source."""

    kind: str
    name: str
    cls: type[Policy]
    machines: tuple[str, ...]
    source: str
    aliases: tuple[str, ...] = ()
    #: Text that `parse_policy` takes, for a policy whose parameters have no defaults.
    example: str = ""

    @property
    def summary(self) -> str:
        """First line of the class's documentation."""
        return (self.cls.__doc__ or "").strip().splitlines()[0]


_BOTH = ("cluster", "torus")
_WORKFLOWS = ("resources",)

#: Every policy of this version.  Documentation, the command line and tests walk this table.
POLICIES: tuple[PolicyRow, ...] = (
    PolicyRow("scheduler", "fcfs", Fcfs, _BOTH, "[krevat2002] section 2"),
    PolicyRow("scheduler", "easy", EasyBackfill, _BOTH, "[mualem2001]; [krevat2002] section 2", ("easy_backfill",)),
    PolicyRow("scheduler", "conservative", ConservativeBackfill, _BOTH, "[mualem2001]", ("conservative_backfill",)),
    PolicyRow("order", "arrival", ArrivalOrder, _BOTH, "first come first served"),
    PolicyRow("order", "shortest", ShortestFirst, _BOTH, "shortest job first", ("sjf",)),
    PolicyRow("order", "largest", LargestFirst, _BOTH, "largest job first", ("ljf",)),
    PolicyRow("order", "wfp3", Wfp3, _BOTH, "[tang2009]"),
    PolicyRow("order", "unicef", Unicef, _BOTH, "[tang2009]"),
    PolicyRow("placement", "first_fit", FirstFit, _BOTH, "model.md#first-fit", ("ff",)),
    PolicyRow("placement", "max_free_partition", MaxFreePartition, ("torus",), "[krevat2002] section 2", ("mfp",)),
    PolicyRow("placement", "balancing", Balancing, ("torus",), "[oliner2004] section 5.2.1"),
    PolicyRow("placement", "tie_breaking", TieBreaking, ("torus",), "[oliner2004] section 5.2.2"),
    PolicyRow(
        "placement", "least_failures_first", LeastFailuresFirst, ("cluster",), "[zhang2004] section 5.2.3", ("lff",)
    ),
    PolicyRow("placement", "safest_first", SafestFirst, ("cluster",), "model.md#safest-first", ("safest",)),
    PolicyRow("migration", "defragment", Defragment, ("torus",), "[krevat2002] section 2"),
    PolicyRow(
        "migration", "least_failures", LeastFailuresMigration, ("cluster",), "[zhang2004] section 5.2.3", ("lfm",)
    ),
    PolicyRow("recovery", "requeue", Requeue, _BOTH, "[oliner2004] section 6; [zhang2004] section 3"),
    PolicyRow("recovery", "hold", Hold, _BOTH, "[li2009] section 5.1"),
    PolicyRow("predictor", "blind", Blind, _BOTH, "model.md#predictors", ("none",)),
    PolicyRow("predictor", "perfect", Perfect, _BOTH, "[zhang2004] section 5.2.1"),
    PolicyRow("predictor", "confidence", Confidence, _BOTH, "[oliner2004] section 4.1", (), "confidence:0.1"),
    PolicyRow("predictor", "accuracy", Accuracy, _BOTH, "[oliner2004] section 4.2", (), "accuracy:0.1"),
    PolicyRow(
        "predictor",
        "interval",
        IntervalPredictor,
        _BOTH,
        "[li2009] section 5.1",
        (),
        "interval:precision=0.7,recall=0.7,interval=300",
    ),
    PolicyRow("predictor", "trace", PredictionTrace, _BOTH, "[yu2010]"),
    PolicyRow("predictor", "buckets", Buckets, _BOTH, "[zhang2004] section 5.2.2", (), "buckets:4"),
    PolicyRow("checkpointing", "none", NoCheckpoint, _BOTH, "model.md#checkpoints"),
    PolicyRow("checkpointing", "periodic", Periodic, _BOTH, "[zhang2004] section 5.1", (), "periodic:7200,300"),
    PolicyRow("checkpointing", "young", Young, _BOTH, "[young1974]; [li2009]", (), "young:cost=30,mtbf=4838400"),
    PolicyRow("checkpointing", "daly", Daly, _BOTH, "[daly2006]", (), "daly:cost=30,mtbf=4838400"),
    PolicyRow(
        "checkpointing", "before_failure", BeforeFailure, _BOTH, "[zhang2004] section 5.2.1", (), "before_failure:300"
    ),
    PolicyRow(
        "checkpointing",
        "predicted_windows",
        PredictedWindows,
        _BOTH,
        "[zhang2004] section 5.2.2",
        ("windows",),
        "predicted_windows:bucket=4,victims=long",
    ),
    PolicyRow("checkpointing", "risk_based", RiskBased, _BOTH, "[oliner2006]", (), "risk_based:3600,300"),
    PolicyRow("victims", "all", AllJobs, _BOTH, "[zhang2004] section 5.2.2"),
    PolicyRow("victims", "long", LongJobs, _BOTH, "[zhang2004] section 5.2.2"),
    PolicyRow("workflow_scheduler", "rank_hybd", RankHybd, _WORKFLOWS, "[yu2008]; [yu2010]"),
    PolicyRow("workflow_scheduler", "flaw", Flaw, _WORKFLOWS, "[yu2010] section 4"),
    PolicyRow("workflow_scheduler", "fifo", Fifo, _WORKFLOWS, "[yu2010] section 5.D"),
    PolicyRow("workflow_scheduler", "heft", Heft, _WORKFLOWS, "[topcuoglu2002]"),
    PolicyRow("outputs", "shared", SharedOutputs, _WORKFLOWS, "[robert2012]", (), "shared:60"),
    PolicyRow("victims", "big", BigJobs, _BOTH, "[zhang2004] section 5.2.2"),
    PolicyRow("rescheduling", "fars", Fars, _BOTH, "[li2009]", (), "fars:interval=300,strategy=service_unit_loss"),
    PolicyRow("strategy", "service_unit_loss", ServiceUnitLoss, _BOTH, "[li2009] equation 2", ("sul", "sul_d")),
    PolicyRow("strategy", "job_failure_rate", JobFailureRate, _BOTH, "[li2009] equation 3", ("jfr", "jfr_d")),
    PolicyRow("strategy", "failure_slowdown", FailureSlowdown, _BOTH, "[li2009] equation 4", ("fsd", "fsd_d")),
    PolicyRow("strategy", "node_stealing", NodeStealing, ("cluster",), "[du2024]"),
    PolicyRow("spares", "static", Static, ("cluster",), "[li2009] section 3", (), "static:16"),
)


@cache
def known_policies(kind: str) -> Mapping[str, PolicyRow]:
    """Rows of one kind by name.

    Examples
    --------
    >>> list(known_policies("placement"))
    ['first_fit', 'max_free_partition', 'balancing', 'tie_breaking', 'least_failures_first', 'safest_first']
    """
    return MappingProxyType({row.name: row for row in POLICIES if row.kind == kind})


def from_lowered(kind: str, lowered: dict[str, Any] | None, arrays: Mapping[str, NDArray[Any]] | None = None) -> Any:
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
        If the dict names no policy of this version, or one written in Python that did not travel with it.

    Examples
    --------
    >>> from_lowered("migration", Defragment(cost=3).lower()) == Defragment(cost=3)
    True
    """
    if lowered is None:
        return None
    rest = dict(lowered)
    name = rest.pop("name", None)
    if name == "python":
        if isinstance(rest.get("object"), Policy):
            return rest["object"]
        raise OptionError(
            f"this run used a {kind} written in Python ({rest.get('class', 'unknown')}), "
            f"which does not travel; pass it again"
        )
    rows = known_policies(kind)
    cls = rows[checks.choice(kind, name, rows)].cls
    for part in ("order", "strategy", "spares"):
        if isinstance(rest.get(part), dict):
            rest[part] = from_lowered(part, rest[part])
    try:
        return cls.from_parts(rest, arrays)
    except (TypeError, KeyError) as error:
        raise OptionError(f"{kind} {name!r} cannot be made from {rest}: {error}") from None


def parse_policy(kind: str, text: str) -> Any:
    """A policy from text, as the command line takes it: ``name`` or ``name:option=value,option=value``.

    Dashes and underscores are the same; short names such as ``mfp`` are in `POLICIES`.  Numbers without a name are the
    first parameters: ``periodic:7200,300``; so are policies where a parameter is one: ``fars:300,sul,static:16``.

    Raises
    ------
    OptionError
        For an unknown name or option, with the known ones, or one that is missing.

    Examples
    --------
    >>> parse_policy("placement", "mfp")
    MaxFreePartition(box_order='extents-descending')
    >>> parse_policy("scheduler", "easy:order=shortest,reservation=fixed").reservation
    'fixed'
    >>> parse_policy("checkpointing", "predicted_windows:bucket=4,victims=long:seconds=600").victims
    LongJobs(seconds=600.0)
    """
    name, _, options = str(text).partition(":")
    rows: dict[str, PolicyRow] = {}
    for row in POLICIES:
        if row.kind == kind:
            for key in (row.name, *row.aliases, row.cls.__name__):
                rows[_fold(key)] = row
    row = rows.get(_fold(name))  # type: ignore[assignment]
    if row is None:
        raise OptionError(_unknown(kind, name))
    return _made(row, _options(row, options))


def _unknown(kind: str, name: str) -> str:
    """What is wrong with a name: the nearest one, those that are known, and where it belongs if elsewhere."""
    words = ["dynamic"] if kind == "spares" else []
    words += [row.name for row in POLICIES if row.kind == kind]
    near = checks.did_you_mean(name, [*words, *(name for row in POLICIES if row.kind == kind for name in row.aliases)])
    others = [row.kind for row in POLICIES if _fold(name) in map(_fold, (row.name, *row.aliases, row.cls.__name__))]
    where = f" (it is a {others[0]})" if others else near
    return f"unknown {kind} {name!r}{where}; known: {', '.join(words)}"


def _options(row: PolicyRow, text: str) -> dict[str, Any]:
    """``option=value,option=value``, or values by their place that are numbers or policies."""
    legal = [field.name for field in fields(row.cls) if field.name not in _COLUMNS]  # type: ignore[arg-type]
    taken: dict[str, Any] = {}
    for place, item in enumerate(filter(None, (part.strip() for part in text.split(",")))):
        key, equals, given = item.partition("=")
        if ":" in key:  # an option of a policy that is given by its place: long:seconds=600
            equals = ""
        key, value = key.strip().replace("-", "_"), _value(given.strip())
        here = legal[place] if not equals and place < len(legal) else ""
        if here in _POLICIES or (here and type(_value(item)) in (int, float)):
            key, value = here, item if here in _POLICIES else _value(item)
        elif not equals or key not in legal:
            hint = checks.did_you_mean(key, legal)
            raise OptionError(
                f"unknown option {item!r} of {row.kind} {row.name!r}{hint}; known: "
                f"{', '.join(legal) or 'none'} (write {row.name}:option=value)"
            )
        if key in taken:
            raise OptionError(f"option {key!r} of {row.kind} {row.name!r} is given twice")
        is_policy = key in _POLICIES and isinstance(value, str) and value != "dynamic"
        taken[key] = parse_policy(key, value) if is_policy else value
    return taken


def _made(row: PolicyRow, taken: dict[str, Any]) -> Policy:
    """The policy with these parameters; `OptionError` says which are missing."""
    missing = [
        field.name
        for field in fields(row.cls)  # type: ignore[arg-type]
        if field.init and field.default is MISSING and field.default_factory is MISSING and field.name not in taken
    ]
    if not missing:
        return row.cls(**taken)
    if set(missing) & set(_COLUMNS):
        raise OptionError(f"{row.kind} {row.name!r} needs columns: make a {row.cls.__name__} in Python")
    raise OptionError(f"{row.kind} {row.name!r} needs {' and '.join(missing)}, for instance {row.example}")


#: Parameters that are policies: their names are kinds.
_POLICIES = ("victims", "strategy", "spares")
#: Parameters that are columns, which text cannot give.
_COLUMNS = ("time", "node", "index")


def _fold(name: str) -> str:
    return name.strip().lower().replace("-", "").replace("_", "")


def _value(text: str) -> Any:
    """An option's value: true, false, a whole number, a number, or the text itself."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            pass
    return text
