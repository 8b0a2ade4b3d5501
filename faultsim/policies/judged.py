"""Policies whose times are checked together: a cost beside an interval, or beside the time between failures."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated

from faultsim import checks
from faultsim.data.lowered import Lowered
from faultsim.policies.base import Check, Policy

AnyRate = Annotated[bool, Check(checks.flag, "any_rate")]


class Judged(Policy):
    """Base of the policies whose times are checked together (`faultsim.rates`), unless they have ``any_rate=True``."""

    any_rate: bool

    def __post_init__(self) -> None:
        given = {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]
        super().__post_init__()
        self._judge({name: (name, value, getattr(self, name)) for name, value in given.items()})

    def _judge(self, values: Mapping[str, tuple[str, object, float]]) -> None:
        """Check the values together: name, value as given and value in seconds, by name."""
        raise NotImplementedError

    def _plain(self) -> Lowered:
        lowered = super()._plain()
        if not self.any_rate:
            lowered.pop("any_rate", None)
        return lowered

    def __repr__(self) -> str:
        names = [each.name for each in fields(self) if each.name != "any_rate"]  # type: ignore[arg-type]
        shown = names + ["any_rate"] * self.any_rate
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"
