"""The options of a run, declared once: what `Run` holds, and what it takes.

Whatever lists the options (signatures, the lowered form, axes of sweeps, the command line) reads them here.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, MISSING, dataclass, fields
from functools import lru_cache
from typing import Literal, TypeAlias, TypedDict, TypeVar

import numpy as np

from faultsim import checks
from faultsim.arrays import Flags, Integers, LongIntegers
from faultsim.data.columns import WORKLOAD, as_column, by_name
from faultsim.data.failures import FailureTrace
from faultsim.data.lowered import Lowered
from faultsim.data.workload import Workload
from faultsim.machines import Machine
from faultsim.machines.reservation import Reservation
from faultsim.policies import (
    Checkpointing,
    EasyBackfill,
    HotSpares,
    Migration,
    Placement,
    Policy,
    Predictor,
    Recovery,
    Rescheduling,
    Scheduler,
    Static,
)
from faultsim.policies.base import REMEMBERED
from faultsim.policies.words import (
    CheckpointingWord,
    MigrationWord,
    PlacementWord,
    PredictorWord,
    RecoveryWord,
    ReschedulingWord,
    SchedulerWord,
)

#: What the scheduler knows: requested or actual times, or the latter times a factor.
Estimates: TypeAlias = Literal["requested", "actual"] | float
EngineName: TypeAlias = Literal["core", "reference"]
Overrun: TypeAlias = Literal["extend", "kill"]
Oversized: TypeAlias = Literal["error", "drop"]
#: Reservations as they may be given; a trace of outages that are planned is as many.
Reservations: TypeAlias = Reservation | FailureTrace | str | Iterable[Reservation | FailureTrace | str] | None

DEFAULT_SCHEDULER = EasyBackfill()


class OwnPolicies(TypedDict, total=False):
    """The options that a user may write in Python, as they are given."""

    scheduler: Scheduler | SchedulerWord
    placement: Placement | PlacementWord | None
    recovery: Recovery | RecoveryWord | None
    predictor: Predictor | PredictorWord | None
    checkpointing: Checkpointing | CheckpointingWord | None
    rescheduling: Rescheduling | ReschedulingWord | None


class Options(OwnPolicies, total=False):
    """The options of a run as they are given: of `simulate`, `Simulation`, `Run` and `Run.with_options`."""

    migration: Migration | MigrationWord | None
    failures: FailureTrace | None
    estimates: Estimates
    overrun: Overrun
    start_delay: checks.Duration
    seed: int
    record: bool
    oversized: Oversized
    reservations: Reservations


class Changes(Options, total=False):
    """What a copy of a run may have otherwise."""

    log: Workload
    machine: Machine | str


@dataclass(frozen=True)
class RunOptions:
    """The options of a run as it holds them; `faultsim.Run` adds the checks, and what it does.

    The modules below `Run` take this, so that none of them has to import it.
    """

    log: Workload
    machine: Machine
    _: KW_ONLY
    scheduler: Scheduler = DEFAULT_SCHEDULER
    placement: Placement | None = None
    migration: Migration | None = None
    failures: FailureTrace | None = None
    recovery: Recovery | None = None
    predictor: Predictor | None = None
    checkpointing: Checkpointing | None = None
    rescheduling: Rescheduling | None = None
    estimates: Estimates = "requested"
    overrun: Overrun = "extend"
    start_delay: float = 0.0
    seed: int = 0
    record: bool = False
    oversized: Oversized = "error"
    reservations: tuple[Reservation, ...] = ()

    @property
    def kind(self) -> str:
        """The kind of machine that schedules the log: policies and compiled parts are chosen by it."""
        return self.machine.kind_of(self.log)

    @property
    def capacity(self) -> int:
        """What sizes of jobs count in all: nodes, or the cores of a site whose nodes jobs share."""
        return self.machine.capacity_for(self.log.columns)

    @property
    def spare_nodes(self) -> int:
        """Nodes that `Static` keeps from the jobs."""
        spares = getattr(self.rescheduling, "spares", None)
        return spares.nodes if isinstance(spares, Static) else 0

    @property
    def most_nodes(self) -> int:
        """Nodes of the largest job that the machine takes, spare nodes left out."""
        return self.machine.largest_job - self.spare_nodes

    def refused_sizes(self, size: Integers) -> Flags:
        """Which of these sizes no job can have: above the machine, or without a listed shape."""
        size = as_column(size, _SIZE)
        unlisted = None if self.placement is None else self.placement.unlisted_sizes(self.machine, size)
        larger: Flags = self.nodes_needed(size) > self.most_nodes
        return larger if unlisted is None else larger | unlisted

    def place_ranks(self, log: Workload) -> Integers | None:
        """Which shape, or form of place, each job requests, as its machine numbers them; None where all are alike."""
        ranks = None if self.placement is None else self.placement.place_ranks(self.machine, log.size)
        return self.machine.shape_ranks(log) if ranks is None else ranks

    def nodes_needed(self, size: Integers) -> Integers | LongIntegers:
        """Nodes that jobs of these sizes hold at a start, hot spares included; on a pod only without others rounded."""
        rule = self.recovery
        if not isinstance(rule, HotSpares):
            return size
        units, unit = self.machine.spare_units(size)
        more = rule.count * (units // rule.per if rule.per else np.minimum(units, 1))
        return np.where(units > 0, (units + more) * unit, size)

    @property
    def has_python(self) -> bool:
        """Whether a policy written in Python is involved."""
        given = (self.scheduler, self.scheduler.order, self.placement, self.recovery, self.rescheduling)
        asked = self.checkpointing is not None and self.checkpointing.is_asked()
        return asked or _are_written(*map(type, given))

    def lower(self) -> Lowered:
        """All options in their plain form, as provenance keeps them."""
        lowered: Lowered = {"machine": self.machine.lower()}
        for name in OPTIONS:
            value = getattr(self, name)
            if isinstance(value, Policy):
                value = value.lower()
            elif isinstance(value, FailureTrace):
                value = {"count": len(value), "span": value.span}
            elif name == "reservations":
                value = list(map(str, value))
            lowered[name] = value
        return lowered


_SIZE = by_name(WORKLOAD)["size"]


@lru_cache(REMEMBERED)
def _are_written(*classes: type) -> bool:
    """Whether one of these classes of policies was written in Python; computed once per set, as most runs are short."""
    return any(issubclass(cls, Policy) and cls.is_written() for cls in classes)


#: The names of the options, in the order of signatures and of the lowered form, and their defaults.
OPTIONS: dict[str, object] = {each.name: each.default for each in fields(RunOptions) if each.default is not MISSING}

Called = TypeVar("Called", bound=Callable[..., object])


def takes(taken: type, defaults: Mapping[str, object]) -> Callable[[Called], Called]:
    """Give a function with ``**options`` the signature that ``help()`` and documentation show.

    Parameters
    ----------
    taken : TypedDict
        The types of the options, for ``**options: Unpack[taken]``.
    defaults : dict
        Their defaults, in order.
    """
    types = inspect.get_annotations(taken)

    def shown(called: Called) -> Called:
        called.faultsim_types = {**types, **called.__annotations__}  # type: ignore[attr-defined]
        signature = inspect.signature(called)
        own = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
        at = next((i for i, each in enumerate(own) if each.kind is inspect.Parameter.KEYWORD_ONLY), len(own))
        options = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=types[name])
            for name, default in defaults.items()
        ]
        listed = [*own[:at], *options, *own[at:]]
        listed = [each.replace(annotation=_shown(each.annotation)) for each in listed]
        called.__signature__ = inspect.Signature(listed, return_annotation=_shown(signature.return_annotation))  # type: ignore[attr-defined]
        return called

    return shown


def _shown(annotation: object) -> object:
    return annotation if annotation is inspect.Signature.empty else checks.shown_type(annotation)


def refuse_unknown(call: str, options: Mapping[str, object], known: Mapping[str, object]) -> None:
    """As Python refuses a keyword that a function does not have, with the one that was meant."""
    for name in options:
        if name not in known:
            raise TypeError(f"{call}() got an unexpected keyword argument {name!r}{checks.did_you_mean(name, known)}")
