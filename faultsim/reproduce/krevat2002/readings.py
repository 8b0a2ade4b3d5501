"""The readings of [krevat2002]: box order, when migration is tried, which reservation, which estimates."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from faultsim.data.workload import Workload
from faultsim.reproduce.claims import Row, judge
from faultsim.reproduce.krevat2002 import claims, migration_claims
from faultsim.reproduce.krevat2002.checks import run_checks
from faultsim.reproduce.krevat2002.inputs import load
from faultsim.reproduce.krevat2002.runs import BOX_ORDERS, COLUMNS, SERIES, Curve, Evidence, plan
from faultsim.reproduce.readings import Axis, Reading, Readings
from faultsim.simulation.run import Run
from faultsim.sweep.run_list import RunList

_SPLIT = "by figure"
AXES = (
    Axis(
        "box order",
        ("extents-descending", *BOX_ORDERS),
        'The paper says "predictable incremental search" only; it is the order of the model page, which K24 fits.',
    ),
    Axis(
        "migration is tried",
        (_SPLIT, "always", "waiting"),
        'Figures 3-5 and 8 with a job that waits, as section 2 says; Figures 6 and 7 "every time the state of the '
        'torus is modified" (section 3.4).',
    ),
    Axis("reservation", ("any", "fixed"), "The head of the queue needs some box at its time, not a given one."),
    Axis(
        "estimates",
        ("actual", "requested"),
        "A job of the paper has arrival, run time and size only; NASA's log has no requested times.",
    ),
)
#: The series that are run with every box order: those of the default.
_OWN = [series for series in SERIES.values() if series.box_order == "extents-descending"]


class _Key(NamedTuple):
    log: str
    series: str
    order: str
    reservation: str
    estimates: str


def _made(
    *, data: str | Path | None, seed: int, workers: int | None, jobs: int | None = None
) -> Iterator[tuple[Reading, Sequence[Row]]]:
    sources, grid = load(data, jobs=jobs, seed=seed), plan(False).grid

    @cache
    def log(name: str, c: float) -> Workload:
        return sources[name].log.with_runtime_factor(c)

    order, _, reservation, estimates = (axis.values for axis in AXES)
    keys = {
        _Key(name, series.name, *combination): {"c": grid[name]}
        for name in sources
        for series in _OWN
        for combination in ((a, b, c) for a in order for b in reservation for c in estimates)
    }

    def made(key: _Key, c: float) -> Run:
        how: dict[str, Any] = {"box_order": key.order, "reservation": key.reservation, "estimates": key.estimates}
        return replace(SERIES[key.series], **how).run(log(key.log, c))

    runs = RunList("krevat2002 readings", keys, made, COLUMNS, order=lambda key, c: -SERIES[key.series].expense * c)
    found, checks = runs.run(workers=workers, progress=False), run_checks(quick=False)
    curves = {key: Curve(np.array(grid[key.log]), columns) for key, columns in found.items()}
    for reading in READINGS.all():
        how = reading["box order"], reading["reservation"], reading["estimates"]
        chosen = {(k.log, k.series): curve for k, curve in curves.items() if k[2:] == how}
        evidence = Evidence(sources, _as_tried(chosen, reading["migration is tried"]), checks)
        yield reading, judge([*claims.CLAIMS, *migration_claims.CLAIMS], evidence)


def _as_tried(curves: Mapping[tuple[str, str], Curve], when: str) -> dict[tuple[str, str], Curve]:
    """All curves with one rule for attempts, where it is not that of the figure."""
    read = dict(curves)
    for log, series in curves:
        if series.endswith(", always"):
            plain = series.removesuffix(", always")
            if when == "always":
                read[log, plain] = curves[log, series]
            elif when == "waiting":
                read[log, series] = curves[log, plain]
    return read


READINGS: Readings[Evidence] = Readings(
    axes=AXES,
    about="All loads of the study's page; Table 1 and the unit checks are the same in all.",
    shown=("K12", "K23", "K24"),
    made=_made,
)
