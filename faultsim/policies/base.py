"""What every policy has in common: a kind, a name, and a plain lowered form."""

from dataclasses import fields, is_dataclass
from typing import Any, ClassVar

__all__ = ["Policy"]


class Policy:
    """Base of all policies: a frozen dataclass whose parameters lower to a plain dict.

    The engine takes the lowered form, provenance keeps it, and `faultsim.policies.from_lowered` turns it back.
    """

    kind: ClassVar[str] = ""
    name: ClassVar[str] = ""

    def lower(self) -> dict[str, Any]:
        """``{"name": ..., parameter: value, ...}``; policies among the parameters are lowered too."""
        lowered: dict[str, Any] = {"name": self.name}
        if is_dataclass(self):
            for field in fields(self):
                value = getattr(self, field.name)
                lowered[field.name] = value.lower() if isinstance(value, Policy) else value
        return lowered
