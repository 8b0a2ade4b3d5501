"""`Slurm`: the options of Slurm's scheduler, under Slurm's own names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Self

from faultsim import checks
from faultsim.data.lowered import Lowered
from faultsim.data.slurm_settings import IGNORED_SETTINGS, IGNORED_WORDS, SCHEDULER_WORDS, SETTINGS, Setting
from faultsim.data.slurm_times import value_of
from faultsim.errors import InputError, NotAvailableError, OptionError

__all__ = ["Slurm"]

#: Versions whose rules are known.
VERSIONS = ("22.05",)
_OPTIONS = {key: row for key, row in (SETTINGS | SCHEDULER_WORDS).items() if key not in ("clustername", "grestypes")}
_SLURM_TIME = re.compile(r"[\d:-]+|UNLIMITED|INFINITE|NONE", re.IGNORECASE | re.ASCII)


class Slurm:
    """The options of Slurm's scheduler: priorities, the main loop, backfill, limits and preemption.

    An option that is not given has the default of Slurm 22.05 (not that of any site).  No run can have this scheduler
    yet: ``simulate(scheduler=fs.Slurm())`` is refused by name.

    Parameters
    ----------
    version : {"22.05"}, default "22.05"
        Whose rules.
    SchedulerParameters : str, optional
        As in slurm.conf, split into options: ``"bf_window=4320,bf_busy_nodes"``.
    **options
        Settings of slurm.conf and words of SchedulerParameters: ``PriorityWeightAge=1000``, ``bf_window="3d"``.
        Numbers are in Slurm's unit (minutes for ``bf_window``, seconds for ``PriorityMaxAge``); text is a time with its
        unit, or as in slurm.conf.

    Raises
    ------
    OptionError
        An unknown option, one that is not modelled, or a value that it cannot have.

    Examples
    --------
    >>> import faultsim as fs
    >>> site = fs.Slurm(bf_window="3d", PriorityWeightAge=1000)
    >>> site.bf_window, site.bf_interval, site.PriorityMaxAge
    (4320.0, 30.0, 604800.0)
    >>> site.replace(bf_window="1d")
    Slurm(PriorityWeightAge=1000, bf_window=1440.0)
    >>> fs.Slurm(bf_windw=5)
    Traceback (most recent call last):
    faultsim.errors.OptionError: Slurm has no option 'bf_windw' (did you mean 'bf_window'?)
    """

    __slots__ = ("_given", "version")
    version: str
    _given: dict[str, object]

    def __init__(self, version: str = "22.05", *, SchedulerParameters: str = "", **options: Any) -> None:
        checks.choice("version of Slurm", version, VERSIONS)
        if not isinstance(SchedulerParameters, str):
            raise OptionError(f"SchedulerParameters of Slurm must be text, got {SchedulerParameters!r:.60}")
        given: dict[str, object] = {}
        for word in filter(None, (part.strip() for part in SchedulerParameters.split(","))):
            name, equals, value = word.partition("=")
            row = _row(name)
            if not equals and row.kind != "flag":
                raise OptionError(f"SchedulerParameters of Slurm: {row.name} needs a value, as in {row.name}=...")
            given[row.name] = _value(row, value)
        for name, value in options.items():
            row = _row(name)
            given[row.name] = _value(row, value)
        object.__setattr__(self, "version", version)
        object.__setattr__(self, "_given", {name: given[name] for name in _names() if name in given})

    def __getattr__(self, name: str) -> Any:
        row = _OPTIONS.get(name.lower())
        if name.startswith("_") or row is None or row.name != name:
            raise AttributeError(f"Slurm has no option {name!r}{checks.did_you_mean(name, _names())}")
        return self._given.get(name, row.default)

    def __setattr__(self, name: str, value: object) -> None:
        raise OptionError(f"options of Slurm do not change; write replace({name}=...)")

    def __delattr__(self, name: str) -> None:
        raise OptionError("options of Slurm do not change")

    def __reduce__(self) -> tuple[object, ...]:
        return _made, (self.version, self._given)

    def replace(self, **options: Any) -> Self:
        """The same scheduler with other options.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Slurm(bf_window=60).replace(bf_resolution=300)
        Slurm(bf_window=60.0, bf_resolution=300.0)
        """
        version = options.pop("version", self.version)
        words = options.pop("SchedulerParameters", "")
        split = type(self)(version, SchedulerParameters=words, **options)
        changed: dict[str, Any] = self._given | split._given
        return type(self)(version, **changed)

    @property
    def options(self) -> Mapping[str, object]:
        """All options by name, also those with their defaults.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Slurm().options["bf_max_job_test"]
        500
        """
        return {row.name: self._given.get(row.name, row.default) for row in _OPTIONS.values()}

    def lower(self) -> Lowered:
        """The plain form that provenance keeps: what was given."""
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in self._given.items()}
        return {"name": "slurm", "version": self.version, **plain}

    def refuse(self) -> NotAvailableError:
        """The error of a run that would have this scheduler."""
        return NotAvailableError(
            "scheduler Slurm is not simulated yet; use Backfill(), EasyBackfill(), Fcfs() or Preemptive(), or compare "
            "decisions with faultsim slurm compare-decisions"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Slurm):
            return NotImplemented
        return self.version == other.version and self.options == other.options

    def __hash__(self) -> int:
        return hash((self.version, tuple(self.options.items())))

    def __repr__(self) -> str:
        version = [] if self.version == "22.05" else [f"version={self.version!r}"]
        return f"Slurm({', '.join([*version, *(f'{name}={value!r}' for name, value in self._given.items())])})"

    def __dir__(self) -> Iterator[str]:
        return iter([*object.__dir__(self), *_names()])


def _made(version: str, given: dict[str, Any]) -> Slurm:
    return Slurm(version, **given)


def _names() -> list[str]:
    return [row.name for row in _OPTIONS.values()]


def _row(name: str) -> Setting:
    row = _OPTIONS.get(name.lower())
    if row is not None:
        return row
    ignored = {key.lower(): (key, effect) for key, effect in (IGNORED_SETTINGS | IGNORED_WORDS).items()}
    if name.lower() in ignored:
        key, effect = ignored[name.lower()]
        raise OptionError(f"option {key} of Slurm is not modelled: {effect}")
    raise OptionError(f"Slurm has no option {name!r:.60}{checks.did_you_mean(name, _names())}")


def _value(row: Setting, value: object) -> object:
    """The value of an option as it is kept."""
    what = f"{row.name} of Slurm"
    if value is None and row.default is None:
        return None
    if row.kind == "flag" and not isinstance(value, str):
        return checks.flag(what, value)
    if row.kind in ("minutes", "seconds", "time") and not (isinstance(value, str) and _SLURM_TIME.fullmatch(value)):
        if isinstance(value, str) or not isinstance(value, int | float):
            return float(checks.duration(what, value, low=0.0)) / (60.0 if row.kind == "minutes" else 1.0)
        return float(checks.number(what, value, low=0.0))
    if row.kind == "count" and not isinstance(value, str):
        return checks.whole(what, value, low=0, high=2**32 - 1)
    if row.kind == "memory" and not isinstance(value, str):
        return checks.whole(what, value, low=1, unit="MiB")
    if isinstance(value, Mapping):
        value = ",".join(f"{key}={weight}" for key, weight in value.items())
    elif isinstance(value, list | tuple) and row.kind == "weights":
        value = tuple(value)
        if all(isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[1], float) for pair in value):
            return value
    elif isinstance(value, list | tuple):
        value = ",".join(map(str, value))
    if not isinstance(value, str):
        raise OptionError(f"{what} must be text as in slurm.conf, got {value!r:.60}")
    try:
        return value_of("Slurm", row, value)
    except InputError as error:
        raise OptionError(str(error)) from None
