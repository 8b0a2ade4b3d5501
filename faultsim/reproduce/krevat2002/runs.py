"""The runs behind the figures of [krevat2002]: which schedulers, which loads, and their metrics as curves."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from faultsim.machines import Cluster, Torus
from faultsim.policies import Defragment, EasyBackfill, Fcfs, MaxFreePartition
from faultsim.reproduce.data_files import JobLog
from faultsim.reproduce.krevat2002.inputs import NODES
from faultsim.reproduce.study import by_column, counted, simulated
from faultsim.simulation.progress import Progress
from faultsim.simulation.run import Run

PAPER_GRID = tuple(round(0.7 + 0.05 * i, 2) for i in range(15))  # section 3.3: c = 0.7 ... 1.4
# "The saturation region for these schedulers is shown here by plotting values of c > 1.4" (NASA, section 3.4). How far
# is not said: to an offered load of 1.05, which is what c = 1.4 is on SDSC.
BEYOND = tuple(round(1.45 + 0.05 * i, 2) for i in range(7))
SCHEDULERS = ("FCFS", "Backfill", "Migration", "B+M")
BOX_ORDERS = ("extents-ascending", "bases")


@dataclass(frozen=True)
class Series:
    """One curve: a machine with its policies."""

    name: str
    flat: bool = False
    backfill: bool = False
    migration: Defragment | None = None
    box_order: str = "extents-descending"

    def run(self, log: Any) -> Run:
        """The run of this series on `log` (run times scaled already)."""
        scheduler = EasyBackfill() if self.backfill else Fcfs()
        if self.flat:
            return Run(log, Cluster(NODES), scheduler=scheduler, start_delay=1.0, estimates="actual")
        return Run(
            log,
            Torus.bluegene_l(),
            scheduler=scheduler,
            placement=MaxFreePartition(box_order=self.box_order),
            migration=self.migration,
            start_delay=1.0,
            estimates="actual",
        )

    @property
    def expense(self) -> float:
        """Roughly how long a run takes, relative to FCFS: long runs go first."""
        full = self.migration is not None and self.migration.max_concentration == 1.0
        return 1.0 + 0.3 * self.backfill + 3.0 * (self.migration is not None) + 16.0 * full - 0.99 * self.flat


_WAITING, _ALWAYS = Defragment(), Defragment(when="always")
_FULL = Defragment(min_free=0.0, max_concentration=1.0, when="always")


def _four(suffix: str = "", migration: Defragment = _WAITING, order: str = "extents-descending") -> list[Series]:
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

#: Column of a curve -> where it comes from: a metric, a counter, or the makespan.
COLUMNS: dict[str, Callable[[Any], float]] = {
    "utilization": lambda r: r.metrics["capacity_utilized"],
    "unused": lambda r: r.metrics["capacity_unused"],
    "lost": lambda r: r.metrics["capacity_lost"],
    "mean_wait": lambda r: r.metrics["mean_wait"],
    "mean_bounded_slowdown": lambda r: r.metrics["mean_bounded_slowdown"],
    "makespan": lambda r: r.metrics["makespan"],
    "attempted": lambda r: r.counters["migrations_attempted"],
    "successful": lambda r: r.counters["migrations_successful"],
    "passes": lambda r: r.counters["passes"],
    "events": lambda r: r.counters["events"],
}


@dataclass(frozen=True)
class Curve:
    """Metrics of one series over the load coefficients `c`, ascending; `columns` as in `COLUMNS`, one value per c."""

    c: NDArray[np.float64]
    columns: Mapping[str, NDArray[np.float64]]

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        return self.columns[name]

    def upto(self, c: float) -> "Curve":
        """The points with load coefficients up to `c`."""
        keep = self.c <= c + 1e-9
        return Curve(self.c[keep], {name: values[keep] for name, values in self.columns.items()})

    def at(self, c: float) -> dict[str, float]:
        """The point at load coefficient `c`."""
        i = int(np.flatnonzero(np.abs(self.c - c) < 1e-9)[0])
        return {name: float(values[i]) for name, values in self.columns.items()}

    def at_utilization(self, name: str, levels: ArrayLike) -> NDArray[np.float64]:
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

    def points(self, log: str) -> Iterator[tuple[Series, float]]:
        """Every (series, c) of one log."""
        for series in SERIES.values():
            swept = series.box_order == "extents-descending"
            yield from ((series, c) for c in (self.grid[log] if swept else self.box_order_grid))


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


def collect(
    sources: Mapping[str, JobLog], what: Plan, *, workers: int, progress: Progress | None = None
) -> dict[tuple[str, str], Curve]:
    """Run the plan on `workers` threads and gather the curves.

    Runs go in batches, the long ones first, so that neither all results are in memory at once nor a thread idles long.
    """
    scaled: dict[tuple[str, float], Any] = {}
    for name, source in sources.items():
        for c in {*what.grid[name], *what.box_order_grid}:
            scaled[name, c] = source.log.with_runtime_factor(c)
    tasks = [(name, series, c) for name in sources for series, c in what.points(name)]
    tasks.sort(key=lambda task: -task[1].expense * task[2])
    rows: dict[tuple[str, str], list[tuple[float, list[float]]]] = {}
    for (name, series, c), result in simulated(
        tasks,
        lambda task: task[1].run(scaled[task[0], task[2]]),
        batch=12 * workers,
        workers=workers,
        step=counted(progress, len(tasks)),
    ):
        values = [float(column(result)) for column in COLUMNS.values()]
        rows.setdefault((name, series.name), []).append((c, values))
    return {key: _curve(points) for key, points in rows.items()}


def _curve(points: list[tuple[float, list[float]]]) -> Curve:
    points.sort()
    return Curve(np.array([c for c, _ in points]), by_column(COLUMNS, [values for _, values in points]))
