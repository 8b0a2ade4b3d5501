"""The tables of [li2009] as our own numbers, and every figure's numbers as CSV."""

from collections.abc import Iterable, Sequence

from faultsim.reproduce.li2009.claims import DISTRIBUTIONS, experiments, label
from faultsim.reproduce.li2009.inputs import HOUR
from faultsim.reproduce.li2009.measures import SIX, composite, composites, gain_of, grid, mean_of, orders, relative
from faultsim.reproduce.li2009.runs import (
    COLUMNS,
    COMBINED,
    COMBINED_LOADS,
    DRAWN,
    EASY,
    METHODS,
    STRATEGIES,
    VARIANTS,
    Evidence,
    Place,
)
from faultsim.reproduce.report import Grid
from faultsim.reproduce.study import Rows
from faultsim.sweep.jackknife import half_width

#: How a table calls a metric, and how it shows it.
_SHOWN = {
    "mean_response": ("Resp (s)", "{:,.0f}", 1.0),
    "utilization": ("Util (%)", "{:.1f}", 100.0),
    "throughput": ("Thru (jobs/h)", "{:.2f}", HOUR),
    "service_unit_loss": ("SUL (CPU-h)", "{:,.0f}", 1 / HOUR),
    "job_failure_rate": ("JFR (%)", "{:.2f}", 100.0),
    "failed_jobs": ("failed jobs", "{:,.0f}", 1.0),
    "failure_slowdown": ("FSD", "{:.4f}", 1.0),
}


def _cells(e: Evidence, place: Place, method: str) -> list[str]:
    return [form.format(scale * mean_of(e, place, method, name)) for name, (_, form, scale) in _SHOWN.items()]


def _raw(e: Evidence, number: int, words: str, places: dict[str, list[Place]]) -> Grid:
    head = [words, "", *(name for name, _, _ in _SHOWN.values())]
    rows = [
        [value, DISTRIBUTIONS[place.source][0], *_cells(e, place, EASY)]
        for value, both in places.items()
        for place in both
    ]
    return Grid(f"Table {number}. EASY without FARS, under exponential (E) and bathtub (W) failures", [head, *rows])


def _baseline(e: Evidence) -> Grid:
    """The numbers of Figures 4, 5 and 9."""
    rows = [["experiment", "method", *(name for name, _, _ in _SHOWN.values()), "gain (%)", "orders of the axes"]]
    for place in experiments(e):
        gains = composites(e, place)
        if place.source != "weibull":  # the jobs are those of "exp"
            rows.append([label(place), "no failures", *_cells(e, place._replace(mtbf=0.0), EASY), "", ""])
        for method in METHODS:
            ends = ["", ""]
            if method != EASY:
                spread = orders(e, place, method)
                ends = [gains[method].percent(1)[:-2], f"{100 * spread.lowest:.1f} to {100 * spread.highest:.1f}"]
            rows.append([label(place), method, *_cells(e, place, method), *ends])
    return Grid("Figures 4, 5 and 9 as numbers", rows)


def _combined(e: Evidence) -> Grid:
    p = e.parameters
    rows = [["experiment", *COMBINED]]
    for place in experiments(e):
        found = [composite(e, place, method, p.precision, p.recall).percent(1) for method in COMBINED.values()]
        rows.append([label(place), *found])
    return Grid(f"Composite gain over EASY alone, at precision {p.precision:g} and recall {p.recall:g}", rows)


def _variants(e: Evidence) -> Grid:
    """What other readings and parameters do to the baseline."""
    rows = [["baseline, but", "Resp (s)", "", "failed jobs", "", "SUL (CPU-h)", "", "gain (%)"]]
    for name in VARIANTS:
        found = e.variant(name)
        cells = [
            _SHOWN[metric][1].format(_SHOWN[metric][2] * found[method][metric].mean())
            for metric in ("mean_response", "failed_jobs", "service_unit_loss")
            for method in (EASY, "SUL-D")
        ]
        rows.append([name, *cells, gain_of(found["SUL-D"], found[EASY]).percent(1)[:-2]])
    return Grid("The baseline under other readings: exponential failures, EASY and SUL-D", rows)


def tables(e: Evidence) -> list[Grid]:
    """Tables 4 and 5, the baseline and the combinations."""
    p = e.parameters
    loads = {f"{load:g}": [Place(source, load) for source in DRAWN] for load in e.what.loads}
    days = {f"{p.mtbf * r:g}": [Place(source, mtbf=p.mtbf * r) for source in DRAWN] for r in e.what.ratios}
    raw = [_raw(e, 4, "load", loads), _raw(e, 5, "MTBF (days)", days)]
    return [*raw, _baseline(e), _combined(e), _variants(e)]


# -- the numbers behind the figures


def _places_rows(places: Sequence[Place]) -> Iterable[list[object]]:
    return ([place.source, "" if place.load is None else place.load] for place in places)


def baseline_rows(e: Evidence, places: Sequence[Place]) -> Rows:
    """Means of the methods at some places, with half widths of their 95 % intervals."""
    yield ["source", "load", "method", *(f"{name}{end}" for name in COLUMNS for end in ("", "_half")), "gain"]
    for place, head in zip(places, _places_rows(places), strict=True):
        gains = composites(e, place)
        for method in METHODS:
            found = e.at(place, method)
            values = [float(v) for name in COLUMNS for v in (found[name].mean(), half_width(found[name]))]
            yield [*head, method, *values, gains[method].value if method != EASY else 0.0]


def _curve_rows(e: Evidence, x: str, places: dict[float, list[Place]]) -> Rows:
    gains = [f"{name}{end}" for name in STRATEGIES for end in ("", "_half")]
    yield ["source", x, *(f"SUL-D_{name}{end}" for name in SIX for end in ("", "_half")), *gains]
    for value, both in places.items():
        for place in both:
            single = [relative(e, place, "SUL-D", metric) for metric in SIX]
            whole = [composites(e, place)[name] for name in STRATEGIES]
            yield [place.source, value, *(v for found in (*single, *whole) for v in (found.value, found.half))]


def load_rows(e: Evidence) -> Rows:
    """Figure 6."""
    return _curve_rows(e, "load", {load: [Place(source, load) for source in DRAWN] for load in e.what.loads})


def mtbf_rows(e: Evidence) -> Rows:
    """Figure 7."""
    days = {ratio: e.parameters.mtbf * ratio for ratio in e.what.ratios}
    return _curve_rows(e, "mtbf_days", {d: [Place(source, mtbf=d) for source in DRAWN] for d in days.values()})


def grid_rows(e: Evidence, places: Sequence[Place]) -> Rows:
    """Figures 8 and 10."""
    yield ["source", "load", "precision", "recall", "gain"]
    for place, head in zip(places, _places_rows(places), strict=True):
        table = grid(e, place)
        for i, precision in enumerate(e.what.grid):
            for j, recall in enumerate(e.what.grid):
                yield [*head, precision, recall, float(table[i, j])]


def combined_rows(e: Evidence) -> Rows:
    """The figure of combinations."""
    yield ["load", "method", "precision", "recall", "gain", "gain_half"]
    for load in COMBINED_LOADS:
        for name, method in COMBINED.items():
            for precision in e.what.combined:
                for recall in e.what.combined:
                    found = composite(e, Place("exp", load), method, precision, recall)
                    yield [load, name, precision, recall, found.value, found.half]


#: Figure -> its numbers.
ROWS = {
    "fig4": lambda e: baseline_rows(e, [Place("exp")]),
    "fig5": lambda e: baseline_rows(e, [Place("weibull")]),
    "fig6": load_rows,
    "fig7": mtbf_rows,
    "fig8": lambda e: grid_rows(e, [Place(source) for source in DRAWN]),
    "fig9": lambda e: baseline_rows(e, [Place("trace", load) for load in e.what.trace_loads]),
    "fig10": lambda e: grid_rows(e, [Place("trace", load) for load in e.what.trace_loads]),
    "combined": combined_rows,
}


def point_rows(e: Evidence) -> Rows:
    """Every setting: mean and half width of the 95 % interval of every column."""
    names = [f"{name}{end}" for name in COLUMNS for end in ("", "_half")]
    yield ["source", "load", "mtbf_days", "method", "precision", "recall", *names]
    for setting, columns in e.runs.items():
        if not setting.variant:
            values = [float(v) for name in COLUMNS for v in (columns[name].mean(), half_width(columns[name]))]
            yield [setting.source, f"{setting.load:.6g}", *setting[2:-1], *(f"{value:.6g}" for value in values)]
