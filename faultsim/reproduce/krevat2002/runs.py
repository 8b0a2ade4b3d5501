"""The runs behind the figures of [krevat2002]: which schedulers, which loads, and their metrics as curves."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from faultsim.arrays import Floats
from faultsim.data.workload import Workload
from faultsim.machines import Cluster, Torus
from faultsim.policies import Defragment, EasyBackfill, Fcfs, MaxFreePartition
from faultsim.policies.placement import BoxOrderWord
from faultsim.reproduce.data_files import JobLog
from faultsim.reproduce.krevat2002.inputs import NODES
from faultsim.simulation.run import Run
from faultsim.sweep.run_list import RunList

PAPER_GRID = tuple(round(0.7 + 0.05 * i, 2) for i in range(15))  # section 3.3: c = 0.7 ... 1.4
# "The saturation region for these schedulers is shown here by plotting values of c > 1.4" (NASA, section 3.4). How far
# is not said: to an offered load of 1.05, which is what c = 1.4 is on SDSC.
BEYOND = tuple(round(1.45 + 0.05 * i, 2) for i in range(7))
SCHEDULERS = ("FCFS", "Backfill", "Migration", "B+M")
BOX_ORDERS: tuple[BoxOrderWord, ...] = ("extents-ascending", "bases")


@dataclass(frozen=True)
class Series:
    """One curve: a machine with its policies."""

    name: str
    flat: bool = False
    backfill: bool = False
    migration: Defragment | None = None
    box_order: BoxOrderWord = "extents-descending"
    reservation: Literal["any", "fixed"] = "any"
    estimates: Literal["actual", "requested"] = "actual"

    def run(self, log: Workload) -> Run:
        """The run of this series on `log` (run times scaled already)."""
        boxes = "any" if self.flat else self.reservation
        scheduler = EasyBackfill(reservation=boxes) if self.backfill else Fcfs()
        if self.flat:
            return Run(log, Cluster(NODES), scheduler=scheduler, start_delay=1.0, estimates=self.estimates)
        return Run(
            log,
            Torus.bluegene_l(),
            scheduler=scheduler,
            placement=MaxFreePartition(box_order=self.box_order),
            migration=self.migration,
            start_delay=1.0,
            estimates=self.estimates,
        )

    @property
    def expense(self) -> float:
        """Roughly how long a run takes, relative to FCFS: long runs go first."""
        full = self.migration is not None and self.migration.max_concentration == 1.0
        return 1.0 + 0.3 * self.backfill + 3.0 * (self.migration is not None) + 16.0 * full - 0.99 * self.flat


_WAITING, _ALWAYS = Defragment(), Defragment(when="always")
_FULL = Defragment(min_free=0.0, max_concentration=1.0, when="always")


def _four(
    suffix: str = "", migration: Defragment = _WAITING, order: BoxOrderWord = "extents-descending"
) -> list[Series]:
    return [
        Series(
            name + suffix,
            backfill=name in ("Backfill", "B+M"),
            migration=migration if name in ("Migration", "B+M") else None,
            box_order=order,
        )
        for name in SCHEDULERS
    ]


#: All series by name. "always": migration also with an empty queue; "full": no parameters either (section 3.4).
SERIES: dict[str, Series] = {
    series.name: series
    for series in [
        *_four(),
        Series("Flat FCFS", flat=True),
        Series("Flat Backfill", flat=True, backfill=True),
        *(s for s in _four(", always", _ALWAYS) if s.migration),
        *(s for s in _four(", full", _FULL) if s.migration),
        *(s for order in BOX_ORDERS for s in _four(f", {order}", order=order)),
    ]
}

#: Column of a curve -> what of a run.
COLUMNS = {
    "utilization": "capacity_utilized",
    "unused": "capacity_unused",
    "lost": "capacity_lost",
    "mean_wait": "mean_wait",
    "mean_bounded_slowdown": "mean_bounded_slowdown",
    "makespan": "makespan",
    "attempted": "migrations_attempted",
    "successful": "migrations_successful",
    "passes": "passes",
    "events": "events",
}


class Key(NamedTuple):
    """One curve."""

    log: str
    series: str


@dataclass(frozen=True)
class Curve:
    """Metrics of one series over the load coefficients `c`, ascending; `columns` as in `COLUMNS`, one value per c."""

    c: Floats
    columns: Mapping[str, Floats]

    def __getitem__(self, name: str) -> Floats:
        return self.columns[name]

    def upto(self, c: float) -> "Curve":
        """The points with load coefficients up to `c`."""
        keep = self.c <= c + 1e-9
        return Curve(self.c[keep], {name: values[keep] for name, values in self.columns.items()})

    def at(self, c: float) -> dict[str, float]:
        """The point at load coefficient `c`."""
        i = int(np.flatnonzero(np.abs(self.c - c) < 1e-9)[0])
        return {name: float(values[i]) for name, values in self.columns.items()}

    def at_utilization(self, name: str, levels: ArrayLike) -> Floats:
        """Column `name` at utilizations `levels`, along the rising part of the curve; NaN where it does not reach."""
        u = self["utilization"]
        rising = np.flatnonzero(u >= np.maximum.accumulate(u))
        return np.interp(np.asarray(levels, dtype=np.float64), u[rising], self[name][rising], left=np.nan, right=np.nan)


@dataclass(frozen=True)
class Plan:
    """What to run: jobs a log, load coefficients a log, and which series at which of them."""

    jobs: int | None
    grid: Mapping[str, tuple[float, ...]]
    box_order_grid: tuple[float, ...]

    def settings(self, logs: Iterable[str]) -> dict[Key, dict[str, tuple[float, ...]]]:
        """Every curve with its load coefficients."""
        return {
            Key(log, series.name): {"c": self.grid[log] if swept else self.box_order_grid}
            for log in logs
            for series in SERIES.values()
            if (swept := series.box_order == "extents-descending") or self.box_order_grid
        }


def plan(quick: bool) -> Plan:
    """The full plan, or the quick one: all jobs, but half of the load coefficients and one box order."""
    if quick:
        few = (0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.4)
        return Plan(jobs=None, grid={"nasa": (*few, 1.6, 1.75), "sdsc": few}, box_order_grid=())
    return Plan(jobs=None, grid={"nasa": PAPER_GRID + BEYOND, "sdsc": PAPER_GRID}, box_order_grid=(1.0, 1.2, 1.4))


@dataclass(frozen=True)
class Evidence:
    """All that the claims look at."""

    sources: Mapping[str, JobLog]
    curves: Mapping[tuple[str, str], Curve]
    checks: Mapping[str, Any] = field(default_factory=dict)
    quick: bool = False

    def curve(self, log: str, series: str) -> Curve:
        """The curve of `series` on `log` ("nasa", "sdsc")."""
        return self.curves[log, series]


def run_list(sources: Mapping[str, JobLog], what: Plan) -> RunList[Key]:
    """The runs of a plan, the long ones first, so that no thread idles long."""

    @cache
    def log(name: str, c: float) -> Workload:
        return sources[name].log.with_runtime_factor(c)

    return RunList(
        "krevat2002",
        what.settings(sources),
        lambda key, c: SERIES[key.series].run(log(key.log, c)),
        COLUMNS,
        order=lambda key, c: -SERIES[key.series].expense * c,
    )


def curves(made: Mapping[Key, Mapping[str, Floats]], what: Plan) -> dict[tuple[str, str], Curve]:
    """What the runs gave, as curves."""
    settings = what.settings({key.log: None for key in made})
    return {key: Curve(np.array(settings[key]["c"]), columns) for key, columns in made.items()}
