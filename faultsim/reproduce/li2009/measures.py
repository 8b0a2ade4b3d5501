"""What the claims of [li2009] measure, over replicates.

A metric of a method is its mean over the replicates, and a gain compares means: redrawing the predictor alone moves
the gain of one run by two or three points, as much as the paper's strategies differ.  The interval beside it is that of
the jackknife over the replicates, which share jobs, failures and predictions.  The composite gain is that of
`kiviat_gain`; the rim of its axes is the largest value among the methods compared in that setting.  The relative gain
of one metric is positive where the method is better.  "Clearly" means that the whole 95 % interval lies on that side of
the bound; with one replicate nothing does.
"""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from faultsim.arrays import Floats
from faultsim.reproduce.li2009.runs import EASY, METHODS, Evidence, Place
from faultsim.results.kiviat import AXES, KiviatGain, kiviat_area, kiviat_gain, kiviat_radii
from faultsim.sweep.jackknife import Estimate, jackknife

Columns = Mapping[str, Floats]
#: The metrics of the Kiviat graph, in the order of its axes.
SIX = tuple(axis.metric for axis in AXES)
RELIABILITY = ("service_unit_loss", "job_failure_rate", "failure_slowdown")
#: Metrics of which more is better.
_MORE = ("utilization", "throughput")


def means(columns: Columns) -> dict[str, float]:
    """Means over the replicates of the six metrics."""
    return {metric: float(columns[metric].mean()) for metric in SIX}


def mean_of(e: Evidence, place: Place, method: str, column: str) -> float:
    """Mean of a column over the replicates."""
    return float(e.at(place, method)[column].mean())


def relative(e: Evidence, place: Place, method: str, metric: str) -> Estimate:
    """By which share of EASY's value a method is better in one metric."""
    base, ours = (e.at(place, name)[metric] for name in (EASY, method))
    sign = -1.0 if metric in _MORE else 1.0
    return jackknife(lambda a, b: sign * float(1.0 - b.mean() / a.mean()) if a.mean() else 0.0, base, ours)


def _gain(ours: int, *tables: Floats) -> float:
    """Composite gain of table number `ours` over the first; each is (metrics, replicates)."""
    methods = {str(i): dict(zip(SIX, table.mean(axis=1).tolist(), strict=True)) for i, table in enumerate(tables)}
    radii = kiviat_radii(methods)
    base = kiviat_area(radii["0"])
    return 1.0 - kiviat_area(radii[str(ours)]) / base if base else 0.0


def _table(columns: Columns) -> Floats:
    return np.array([columns[metric] for metric in SIX])


def composites(e: Evidence, place: Place) -> dict[str, Estimate]:
    """Composite gains over EASY of the paper's strategies, compared with each other."""
    tables = [_table(e.at(place, name)) for name in METHODS]
    return {name: jackknife(partial(_gain, number), *tables) for number, name in enumerate(METHODS) if name != EASY}


def behind(e: Evidence, place: Place, method: str, other: str) -> Estimate:
    """By how much the composite gain of a strategy is below that of another."""
    a, b = METHODS.index(method), METHODS.index(other)
    tables = [_table(e.at(place, name)) for name in METHODS]
    return jackknife(lambda *drawn: _gain(b, *drawn) - _gain(a, *drawn), *tables)


def drop(e: Evidence, before: Place, after: Place) -> Estimate:
    """By how much the composite gain of SUL-D among the paper's methods is lower at one place than at another."""
    ours = METHODS.index("SUL-D")
    tables = [_table(e.at(place, name)) for place in (before, after) for name in METHODS]
    return jackknife(lambda *t: _gain(ours, *t[: len(METHODS)]) - _gain(ours, *t[len(METHODS) :]), *tables)


def contrast(e: Evidence, *terms: tuple[float, str, Place]) -> Estimate:
    """A sum of relative gains of SUL-D: each with a factor, a metric of which less is better, and a place."""
    pairs = [e.at(place, name)[metric] for _, metric, place in terms for name in (EASY, "SUL-D")]

    def total(*drawn: Floats) -> float:
        gains = [1.0 - b.mean() / a.mean() if a.mean() else 0.0 for a, b in zip(drawn[::2], drawn[1::2], strict=True)]
        return float(sum(factor * gain for (factor, *_), gain in zip(terms, gains, strict=True)))

    return jackknife(total, *pairs)


def fall(e: Evidence, place: Place, low: float, high: float, recalls: Sequence[float]) -> Estimate:
    """By how much the composite gain of SUL-D falls from precision `high` to `low`, mean over recalls."""
    pairs = [(precision, recall) for precision in (high, low) for recall in recalls]
    tables = [_table(e.at(place, "SUL-D", precision=a, recall=b)) for a, b in pairs]

    def mean(base: Floats, *drawn: Floats) -> float:
        gains = [_gain(1, base, table) for table in drawn]
        return float(np.mean(gains[: len(recalls)]) - np.mean(gains[len(recalls) :]))

    return jackknife(mean, _table(e.at(place, EASY)), *tables)


def gain_of(method: Columns, baseline: Columns) -> Estimate:
    """Composite gain of a method, compared with the baseline alone."""
    return jackknife(partial(_gain, 1), _table(baseline), _table(method))


def composite(e: Evidence, place: Place, method: str, precision: float, recall: float) -> Estimate:
    """Composite gain of one method, compared with EASY alone: that of Figures 8 and 10."""
    return gain_of(e.at(place, method, precision=precision, recall=recall), e.at(place, EASY))


def orders(e: Evidence, place: Place, method: str) -> KiviatGain:
    """The composite gain of a strategy with its range over all orders of the axes."""
    found = {name: means(e.at(place, name)) for name in METHODS}
    return kiviat_gain(found[method], found[EASY], among=list(found.values()))


def cells(e: Evidence, place: Place) -> dict[tuple[float, float], Estimate]:
    """Composite gains of SUL-D over precision and recall, compared with EASY alone."""
    values = e.what.grid
    return {(a, b): composite(e, place, "SUL-D", a, b) for a in values for b in values}


def above_corner(e: Evidence, place: Place) -> list[Estimate]:
    """By how much the gain of each other cell is above that of the least precision and recall."""
    least = min(e.what.grid)
    base, corner = (_table(e.at(place, EASY)), _table(e.at(place, "SUL-D", precision=least, recall=least)))
    return [
        jackknife(
            lambda none, low, table: _gain(1, none, table) - _gain(1, none, low),
            base,
            corner,
            _table(e.at(place, "SUL-D", precision=a, recall=b)),
        )
        for a in e.what.grid
        for b in e.what.grid
        if (a, b) != (least, least)
    ]


def grid(e: Evidence, place: Place, method: str = "SUL-D", values: Sequence[float] | None = None) -> Floats:
    """Composite gains over precision (first axis) and recall, compared with EASY alone: means only."""
    chosen = e.what.grid if values is None else values
    base = _table(e.at(place, EASY))
    table = [[_gain(1, base, _table(e.at(place, method, precision=a, recall=b))) for b in chosen] for a in chosen]
    return np.array(table)
