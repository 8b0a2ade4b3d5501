"""What every policy has in common: a kind, a name, and a plain lowered form."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache, partial
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar, Protocol, Self

from faultsim import checks
from faultsim.arrays import Values
from faultsim.data.lowered import Lowered
from faultsim.errors import OptionError

__all__ = [
    "Check", "FailureCount", "JobCount", "NodeCount", "OwnPolicy", "Policy", "Seconds", "SeenJobs", "Share",
    "hidden_runtime", "no_column", "nothing_returned", "reads_runtimes",
]  # fmt: skip

# Types of parameters, with their unit; `faultsim.policies.parameters` reads it.
Seconds = Annotated[float, "s"]
Share = Annotated[float, "1"]
NodeCount = Annotated[int, "nodes"]
JobCount = Annotated[int, "jobs"]
FailureCount = Annotated[float, "failures"]

#: Sets of classes of policies of which something is remembered: users may make classes without end.
REMEMBERED = 256


class Check(partial[object]):
    """In the type of a parameter: what a given value is passed to, and replaced by what comes back."""

    def __repr__(self) -> str:
        given = [*map(repr, self.args), *(f"{name}={value!r}" for name, value in self.keywords.items())]
        return f"{self.func.__name__}({', '.join(given)})"


class MachineFacts(Protocol):
    """What a policy may ask of the machine of a run."""

    @property
    def nodes(self) -> int: ...
    @property
    def shape(self) -> tuple[int, int, int] | None: ...
    @property
    def has_boxes(self) -> bool: ...
    @property
    def any_nodes(self) -> bool: ...
    @property
    def wraps(self) -> bool: ...


class Policy(checks.Listed):
    """Base of all policies: a frozen dataclass whose parameters are checked as their types say.

    They lower to a plain dict: the engine takes the lowered form, provenance keeps it, and
    `faultsim.policies.from_lowered` reverses it.
    """

    kind: ClassVar[str] = ""
    name: ClassVar[str] = ""
    #: What it plans before the run by what is foreseen then; "": nothing.
    plans_ahead: ClassVar[str] = ""

    def __post_init__(self) -> None:
        cls: object = type(self)  # which mypy does not take for hashable
        for name, check in _checks(cls):
            object.__setattr__(self, name, check(getattr(self, name)))

    @classmethod
    def is_written(cls) -> bool:
        """Whether the class was written by a user, in Python."""
        return False

    def lower(self) -> Lowered:
        """``{"name": ..., parameter: value, ...}``; policies among the parameters are lowered too."""
        lowered: Lowered | None = self.__dict__.get("_lowered")
        if lowered is None:
            lowered = self._plain()
            if not self.is_written():  # a user's class need not be frozen
                object.__setattr__(self, "_lowered", lowered)
        return {**lowered}

    def _plain(self) -> Lowered:
        """What `lower` returns, which asks once."""
        lowered: Lowered = {"name": self.name}
        cls: object = type(self)
        for name in _parameters(cls):
            value = getattr(self, name)
            lowered[name] = value.lower() if isinstance(value, Policy) else value
        return lowered

    def arrays(self) -> dict[str, Values]:
        """Columns that the lowered form only counts and hashes; a saved result keeps them separately."""
        return {}

    @classmethod
    def from_parts(cls, options: Lowered, arrays: Mapping[str, Values] | None) -> Self:
        """The policy of a lowered form (without its name) and its `arrays`."""
        return cls(**options)


@lru_cache(REMEMBERED)
def _checks(cls: type) -> tuple[tuple[str, Check], ...]:
    if not issubclass(cls, OwnPolicy) and not cls.__module__.startswith("faultsim."):
        own = cls.__mro__[1].__name__
        raise OptionError(
            f"{cls.__name__}: what a subclass of {own} overrides would be ignored, since its rule is compiled; use "
            f"{own} as it is, or subclass one of {', '.join(kind.__name__ for kind in _own_kinds())}"
        )
    marks = ((field.name, mark) for field in fields(cls) for mark in getattr(field.type, "__metadata__", ()))
    return tuple((name, mark) for name, mark in marks if isinstance(mark, Check))


class OwnPolicy(Policy):
    """Base of the kinds of which users write their own in Python: any class outside this package is one."""

    #: Whether it reads `runtime`, the true run times of jobs, which no scheduler has: for upper bounds only
    #: (model.md#oracle).  Set it on your class.
    oracle_runtimes: bool = False
    #: Whether it sees jobs at all, so that it could read their run times.
    sees_jobs: ClassVar[bool] = True

    @classmethod
    def is_written(cls) -> bool:
        """Whether it is none of the package's own, or the base of a kind, which says what is to be defined."""
        return cls.name == "python" or not cls.__module__.startswith("faultsim.policies.")

    def _plain(self) -> Lowered:
        """With the object itself for one written in Python."""
        if not self.is_written():
            return super()._plain()
        return {"name": "python", "object": self, **({"oracle_runtimes": True} if reads_runtimes(self) else {})}


def reads_runtimes(policy: object) -> bool:
    """Whether a policy is an oracle, by its attribute `oracle_runtimes`.

    Raises
    ------
    OptionError
        If the attribute is neither True nor False, or if the policy sees no jobs.
    """
    name, value = type(policy).__name__, getattr(policy, "oracle_runtimes", False)
    is_oracle = checks.flag(f"oracle_runtimes of {name}", value)
    if is_oracle and not getattr(policy, "sees_jobs", True):
        raise OptionError(f"oracle_runtimes of {name} has no effect: it receives no run times; leave it out")
    return is_oracle


def nothing_returned(policy: object, method: str, given: object) -> OptionError:
    """The error of a method that acts on a decision, and whose answer would have no effect."""
    return OptionError(
        f"{type(policy).__name__}.{method} must act by the methods of the decision and return nothing, got "
        f"{checks.shown(given)}: what it returns has no effect"
    )


def hidden_runtime() -> OptionError:
    """The error of a policy that reads `runtime` and is no oracle (model.md#oracle)."""
    return OptionError(
        "runtime is the true run time, which no scheduler has: use estimate, or for an upper bound set "
        "oracle_runtimes = True on the class of the policy (External and Simulation: oracle_runtimes=True)"
    )


def no_column(name: str, jobs: object, columns: Iterable[str]) -> AttributeError:
    """The error for an attribute that jobs do not have, with a hint.

    Parameters
    ----------
    name : str
        What was read.
    jobs : object
        The jobs.
    columns : iterable of str
        Further columns of the log.

    Examples
    --------
    >>> no_column("sizes", SeenJobs(submit=[], size=[]), ["queue"])
    AttributeError("jobs have no 'sizes' (did you mean 'size'?), and the log has no such column")
    """
    if name.startswith("_"):  # Python looks for these, also in `dir`
        return AttributeError(name)
    known = [each for each in (*dir(jobs), *columns) if not each.startswith("_")]
    hint = checks.did_you_mean(name, known)
    return AttributeError(f"jobs have no {name!r}{hint}, and the log has no such column")


class SeenJobs(SimpleNamespace):
    """Jobs, or one job, as a policy written in Python sees them: columns by name, without true run times."""

    def __len__(self) -> int:
        return len(self.submit)

    def __getattr__(self, name: str) -> Any:
        if name == "runtime":
            raise hidden_runtime()
        raise no_column(name, self, ())


def _own_kinds() -> list[type]:
    return sorted((cls for cls in OwnPolicy.__subclasses__() if cls.__module__.startswith("faultsim.")), key=str)


@lru_cache(REMEMBERED)
def _parameters(cls: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(cls)) if is_dataclass(cls) else ()
