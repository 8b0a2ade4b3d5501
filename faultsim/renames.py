"""Old names: one table, and the helpers by which they go on, each with a `DeprecationWarning`."""

import inspect
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

from faultsim.errors import OptionError

P = ParamSpec("P")
T = TypeVar("T")
C = TypeVar("C", bound=type)

#: The version in which old names end.
UNTIL = "1.0"


class OldNameWarning(DeprecationWarning):
    """An old name was used; the message says the new one."""


@dataclass(frozen=True)
class Rename:
    """An old name.

    Parameters
    ----------
    kind : {"method", "attribute", "column", "argument", "place", "parameter", "option", "key"}
        A method; an attribute; a column of a table; a keyword of a function; an argument that had a place and now
        needs its keyword; a parameter of a policy, as keyword, field, in text and as an axis; an option of a command; a
        key in a sweep file.
    owner : str
        The class, function (as its ``__qualname__``), command or table that has it.
    old, new : str
        The names.
    unit : str
        Unit that a number under the old name had, if the new one is in seconds.
    """

    kind: str
    owner: str
    old: str
    new: str
    unit: str = ""


def _each(kind: str, owners: str, old: str, new: str) -> list[Rename]:
    return [Rename(kind, owner, old, new) for owner in owners.split()]


_LOGS = "nasa_like sdsc_like llnl_like lublin exponential hyper_erlang"
_FAILURES = "weibull_failures exponential_failures renewal_failures"

#: Every old name that goes on.
RENAMES: tuple[Rename, ...] = (
    Rename("method", "Workload", "scale_runtime", "with_runtime_factor"),
    Rename("method", "Workload", "scale_gaps", "with_gap_factor"),
    Rename("method", "Workload", "scale_size", "with_size_factor"),
    Rename("method", "FailureTrace", "rescale", "with_count"),
    Rename("method", "FailureTrace", "stretch", "with_span"),
    Rename("method", "Workflow", "scale_cost", "with_cost_factor"),
    Rename("method", "Workflow", "scale_transfer", "with_transfer_factor"),
    Rename("method", "Result", "write_jobs_csv", "write_batsim"),
    Rename("attribute", "Resources", "n_nodes", "nodes"),
    Rename("column", "jobs", "end", "finish"),
    *_each("argument", "renewal_failures domain_failures", "mttr", "downtime"),
    Rename("argument", "plan", "repair", "downtime"),
    Rename("attribute", "PodPlan", "repair", "downtime"),
    Rename("parameter", "MaxAvailability", "repair", "downtime"),
    Rename("option", "faultsim failures generate", "--mttr", "--downtime"),
    Rename("option", "faultsim plan", "--repair", "--downtime"),
    Rename("key", "failures", "mttr", "downtime"),
    Rename("argument", "Workload.with_runtime_factor", "c", "factor"),
    Rename("argument", "Workload.with_gap_factor", "f", "factor"),
    Rename("argument", "Workload.with_size_factor", "f", "factor"),
    Rename("argument", "Workload.with_load", "target", "load"),
    *_each("argument", _LOGS, "n", "jobs"),
    *_each("argument", _FAILURES, "horizon", "span"),
    *_each("place", f"{_LOGS} random_dag bench_dags", "rng", "rng"),
    *_each("place", "FailureTrace", "coin", "coin"),
    *_each("place", "FailureTrace", "span", "span"),
    *_each("parameter", "Confidence Accuracy", "a", "probability"),
    Rename("parameter", "Static", "k", "nodes"),
    Rename("parameter", "BigJobs", "k", "count"),
    Rename("option", "faultsim failures generate", "--days", "--span", unit="d"),
    *(Rename("option", f"faultsim failures {action}", "--stretch", "--span") for action in ("summary", "convert")),
    Rename("key", "failures", "horizon", "span"),
)


@cache
def renamed(kind: str, owner: str) -> Mapping[str, Rename]:
    """Old name -> row.

    Examples
    --------
    >>> renamed("parameter", "Static")["k"].new
    'nodes'
    """
    return {row.old: row for row in RENAMES if (row.kind, row.owner) == (kind, owner)}


def level_without_entries(level: int) -> int:
    """The ``stacklevel=`` for `warnings.warn` by the calling function that leaves out frames of `faultsim.entries`.

    Examples
    --------
    >>> level_without_entries(1)
    1
    """
    frame, counted, given = sys._getframe(1), 0, 0
    while True:
        counted += 1
        given += not frame.f_code.co_filename.endswith("entries.py")
        if given == level or frame.f_back is None:
            return counted
        frame = frame.f_back


def warn(old: str, new: str, level: int = 2) -> None:
    """Say what to write instead; `level` as in `warnings.warn`, from the caller on."""
    said = f"{old} is an old name, until version {UNTIL}: write {new}"
    warnings.warn(said, OldNameWarning, stacklevel=level_without_entries(level + 1))


def current(
    kind: str, owner: str, given: Mapping[str, object], *, level: int = 2, called: str = "", silent: bool = False
) -> dict[str, Any]:
    """Keywords, or keys of a table, under their new names; `OptionError` if both are given."""
    old = renamed(kind, owner)
    if old.keys().isdisjoint(given):
        return dict(given)
    taken = {}
    for name, value in given.items():
        new = old[name].new if name in old else name
        if name in old and not silent:
            warn(f"{name}= of {called or owner}", f"{new}=", level)
        if new in taken or (name in old and new in given):
            raise OptionError(f"{called or owner}: {new} is given twice, once by its old name {name}")
        taken[new] = value
    return taken


def arguments(owner: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorator: the function also takes its arguments as `RENAMES` says that they were called, or placed.

    Examples
    --------
    >>> from faultsim.synthetic import nasa_like
    >>> list(inspect.signature(nasa_like).parameters)
    ['jobs', 'rng']
    """
    called = owner.rpartition(".")[2]
    places = tuple(renamed("place", owner))
    old = renamed("argument", owner).keys() | renamed("parameter", owner).keys()

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        if function.__name__ == "__init__":  # errors of arguments name the public class, not one below it
            function.__qualname__ = f"{owner}.__init__"
        kinds = [each.kind for each in inspect.signature(function).parameters.values()]
        n = kinds.count(inspect.Parameter.POSITIONAL_OR_KEYWORD)

        @wraps(function)
        def accepting(*args: P.args, **kwargs: P.kwargs) -> T:
            if len(args) <= n and old.isdisjoint(kwargs):
                return function(*args, **kwargs)
            given, first = dict(kwargs), args[:n]
            if placed := dict(zip(places, args[n:], strict=False)):
                if twice := placed.keys() & given.keys():
                    raise OptionError(f"{called}: {min(twice)} is given twice")
                warn(f"{called}() with {' and '.join(placed)} by place", ", ".join(f"{name}=" for name in placed))
            for kind in ("argument", "parameter"):
                given = current(kind, owner, given, level=3, called=f"{called}()")
            further: object = {**given, **placed}
            return function(*first, *args[n + len(placed) :], **further)  # type: ignore[arg-type]

        return accepting

    return decorate


def parameters(cls: C) -> C:
    """Decorator of a policy: its parameters go by their old names, too, as keywords and as fields."""
    old = renamed("parameter", cls.__qualname__)

    def field(self: object, name: str) -> object:
        if name not in old:
            raise AttributeError(f"{cls.__name__!r} object has no attribute {name!r}")
        warn(f"{cls.__name__}.{name}", f".{old[name].new}")
        return getattr(self, old[name].new)

    made: Any = cls
    made.__init__ = arguments(cls.__qualname__)(made.__init__)
    made.__getattr__ = field
    return cls


def old_method(owner: type, name: str) -> Callable[..., object]:
    """The method that was called so, for ``__getattr__``; `AttributeError` if there was none."""
    for cls in owner.__mro__:
        if row := renamed("method", cls.__name__).get(name):
            warn(f"{owner.__name__}.{name}()", f".{row.new}()", 3)
            method: Callable[..., object] = getattr(owner, row.new)
            return method
    raise AttributeError(f"{owner.__name__!r} object has no attribute {name!r}")
