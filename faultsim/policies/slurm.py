"""`Slurm`: the options of Slurm's scheduler, under Slurm's own names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, ClassVar, Self

from faultsim import checks
from faultsim.arrays import Values
from faultsim.data.lowered import Lowered
from faultsim.data.slurm_settings import IGNORED_SETTINGS, IGNORED_WORDS, SCHEDULER_WORDS, SETTINGS, Setting
from faultsim.data.slurm_site import SlurmAssociation, SlurmPartition, SlurmQos, SlurmRecord
from faultsim.data.slurm_times import value_of
from faultsim.errors import InputError, OptionError
from faultsim.policies.orders import ArrivalOrder
from faultsim.policies.queueing import Scheduler

__all__ = ["Slurm"]

#: Versions whose rules are known.
VERSIONS = ("22.05", "26.05")
_OPTIONS = {key: row for key, row in (SETTINGS | SCHEDULER_WORDS).items() if key not in ("clustername", "grestypes")}
_SLURM_TIME = re.compile(r"[\d:-]+|UNLIMITED|INFINITE|NONE", re.IGNORECASE | re.ASCII)


class Slurm(Scheduler):
    """Slurm's scheduler on a `Site`: priorities, the main loop, backfill, limits and preemption (model.md#slurm).

    An option that is not given has the default of Slurm 22.05 (not that of any site).

    Parameters
    ----------
    version : {"22.05", "26.05"}, default "22.05"
        The version with these rules.  Version 26.05 merges accounts of equal levels in the fair tree, and has no other
        difference here.
    SchedulerParameters : str, optional
        As in slurm.conf, split into options: ``"bf_window=4320,bf_busy_nodes"``.
    conf : SlurmConf, optional
        The configuration that gives partitions their tiers and limits, and users their accounts and QOS.  Without it
        partitions have Slurm's defaults, accounts and users one share each, and QOS no limits.
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

    name: ClassVar[str] = "slurm"
    is_slow: ClassVar[bool] = True
    version: str
    conf: SlurmRecord | None
    _given: dict[str, object]

    def __init__(
        self, version: str = "22.05", *, SchedulerParameters: str = "", conf: SlurmRecord | None = None, **options: Any
    ) -> None:
        checks.choice("version of Slurm", version, VERSIONS)
        if conf is not None and not isinstance(conf, SlurmRecord):
            raise OptionError(f"conf of Slurm must be a SlurmConf (read_slurm_conf reads one), got {conf!r:.60}")
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
        object.__setattr__(self, "conf", conf)
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
        return _made, (self.version, self._given, self.conf)

    @classmethod
    def is_written(cls) -> bool:
        """True: engines ask it as they ask schedulers in Python."""
        return True

    @property
    def title(self) -> str:
        """Its name in tables: with the options that its slurm.conf, or else Slurm, has otherwise.

        Examples
        --------
        >>> import faultsim as fs
        >>> fs.Slurm(bf_window="1d").title, fs.Slurm(bf_window="3d", PriorityWeightAge=1000).title
        ('slurm', 'slurm:PriorityWeightAge=1000,bf_window=4320')
        """
        usual = {} if self.conf is None else self.conf.settings
        plain = {row.name: usual.get(row.name, row.default) for row in _OPTIONS.values()}
        parts = [f"{name}={_shown(value)}" for name, value in self._given.items() if value != plain[name]]
        return f"slurm:{','.join(parts)}" if parts else "slurm"

    @property
    def partitions(self) -> tuple[SlurmPartition, ...]:
        """The partitions of its slurm.conf."""
        return () if self.conf is None else self.conf.partitions

    @property
    def associations(self) -> tuple[SlurmAssociation, ...]:
        """Accounts and users."""
        return () if self.conf is None else self.conf.associations

    @property
    def qos(self) -> Mapping[str, SlurmQos]:
        """QOS by name."""
        return {} if self.conf is None else self.conf.qos

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
        conf = options.pop("conf", self.conf)
        split = type(self)(version, SchedulerParameters=words, **options)
        changed: dict[str, Any] = self._given | split._given
        return type(self)(version, conf=conf, **changed)

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

    def _plain(self) -> Lowered:
        """What was given, and what its slurm.conf says of partitions, accounts and QOS."""
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in self._given.items()}
        lowered: Lowered = {"name": "slurm", "version": self.version, **plain}
        lowered |= {"order": ArrivalOrder().lower(), "repairs": "known"}
        if self.conf is None:
            return lowered
        conf = {
            "partitions": [asdict(each) for each in self.partitions],
            "associations": [asdict(each) for each in self.associations],
            "qos": [asdict(each) for each in self.qos.values()],
        }
        return lowered | {"conf": conf}

    @classmethod
    def from_parts(cls, options: Lowered, arrays: Mapping[str, Values] | None) -> Self:
        """The inverse of `lower`."""
        left_out = ("order", "repairs", "conf", "version")
        given: dict[str, Any] = {name: _tuples(value) for name, value in options.items() if name not in left_out}
        return cls(options["version"], conf=_conf_of(options.get("conf")), **given)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Slurm):
            return NotImplemented
        mine, theirs = ((s.partitions, s.associations, s.qos) for s in (self, other))
        return self.version == other.version and self.options == other.options and mine == theirs

    def __hash__(self) -> int:
        return hash((self.version, tuple(self.options.items())))

    def __repr__(self) -> str:
        version = [] if self.version == "22.05" else [f"version={self.version!r}"]
        return f"Slurm({', '.join([*version, *(f'{name}={value!r}' for name, value in self._given.items())])})"

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *_names()]


def _made(version: str, given: dict[str, Any], conf: SlurmRecord | None) -> Slurm:
    return Slurm(version, conf=conf, **given)


def _conf_of(plain: Mapping[str, Any] | None) -> SlurmRecord | None:
    """Partitions, accounts and QOS of a lowered form."""
    if plain is None:
        return None

    def rows(name: str) -> list[dict[str, Any]]:
        return [{key: _tuples(value) for key, value in row.items()} for row in plain[name]]

    qos = [SlurmQos(**row) for row in rows("qos")]
    return SlurmRecord(
        {}, (), tuple(SlurmPartition(**row) for row in rows("partitions")),
        tuple(SlurmAssociation(**row) for row in rows("associations")), {each.name: each for each in qos},
    )  # fmt: skip


def _tuples(value: object) -> object:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return "+".join(":".join(map(_shown, each)) if isinstance(each, tuple) else str(each) for each in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


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
