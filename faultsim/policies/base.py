"""What every policy has in common: a kind, a name, and a plain lowered form."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, Self

from numpy.typing import NDArray

__all__ = ["FailureCount", "Hours", "JobCount", "NodeCount", "Policy", "Seconds", "Share"]

# Types of parameters, with their unit; `faultsim.policies.registry` reads it.
Seconds = Annotated[float, "s"]
Hours = Annotated[float, "h"]
Share = Annotated[float, "1"]
NodeCount = Annotated[int, "nodes"]
JobCount = Annotated[int, "jobs"]
FailureCount = Annotated[float, "failures"]


class Policy:
    """Base of all policies: a frozen dataclass whose parameters lower to a plain dict.

    The engine takes the lowered form, provenance keeps it, and `faultsim.policies.from_lowered` reverses it.
    """

    kind: ClassVar[str] = ""
    name: ClassVar[str] = ""

    @classmethod
    def is_written(cls) -> bool:
        """Whether the class was written by a user, in Python."""
        return False

    def lower(self) -> dict[str, Any]:
        """``{"name": ..., parameter: value, ...}``; policies among the parameters are lowered too."""
        lowered: dict[str, Any] = {"name": self.name}
        cls: Any = type(self)  # which mypy does not take for hashable
        for name in _parameters(cls):
            value = getattr(self, name)
            lowered[name] = value.lower() if isinstance(value, Policy) else value
        return lowered

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Columns that the lowered form only counts and hashes; a saved result keeps them separately."""
        return {}

    @classmethod
    def from_parts(cls, options: dict[str, Any], arrays: Mapping[str, NDArray[Any]] | None) -> Self:
        """The policy of a lowered form (without its name) and its `arrays`."""
        return cls(**options)


@cache
def _parameters(cls: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(cls)) if is_dataclass(cls) else ()
