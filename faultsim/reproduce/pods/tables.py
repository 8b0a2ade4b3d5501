"""The tables of the page: what can be promised, and how many spare cubes that takes."""

import math
from collections.abc import Mapping, Sequence

from faultsim.errors import OptionError
from faultsim.machines import Pod
from faultsim.planning import plan
from faultsim.reproduce.claims import Row
from faultsim.reproduce.pods import laws
from faultsim.reproduce.pods.runs import COLUMNS, Evidence
from faultsim.reproduce.pods.table_claims import CONFIDENCE, SIZES, cells, of_table, pinned
from faultsim.reproduce.report import Grid
from faultsim.reproduce.study import Rows

#: What the planning table is asked for: shape -> how many.
WANTED: Sequence[Mapping[str, int]] = (
    {"4x4x4": 1},
    {"4x4x4": 64},
    {"4x8x8": 8},
    {"8x8x16": 1},
    {"8x8x16": 4},
    {"8x16x16": 2},
    {"12x16x16": 1},
    {"16x16x24": 1},
    {"8x8x16": 4, "4x4x4": 20},
)
PROBABILITIES = (0.90, 0.97, 0.99)


def grids(e: Evidence, judged: Sequence[Row]) -> list[Grid]:
    """The table of promises, that of means, and the planning tables."""
    return [_promises(e), _means(e), _spares("switched"), _spares("static")]


def _promises(e: Evidence) -> Grid:
    """Each cell: the promised share, and whether the simulation says the same."""
    marks = {True: "", None: " (open)", False: " (not in the simulation)"}
    rows = [["chips", *(f"{100 * a:g} % {wiring}" for a in laws.LEVELS for wiring in laws.WIRINGS)]]
    for cubes in laws.TABLE:
        places = [(cubes, a, wiring) for a in laws.LEVELS for wiring in laws.WIRINGS]
        rows.append([SIZES[cubes], *(f"{laws.promised_share(*at):.4g}{marks[pinned(e, *at)]}" for at in places)])
    same = sum(pinned(e, *cell) is True for cell in cells())
    return Grid(
        f"Share of 64 cubes that is promised with 97 %, by availability of hosts: {same} of {len(cells())} cells are "
        "the same by simulation",
        rows,
    )


def _means(e: Evidence) -> Grid:
    rows = [["chips", *(f"{wiring}, {kind}" for wiring in laws.WIRINGS for kind in ("closed form", "simulated"))]]
    for cubes in laws.TABLE:
        row = [SIZES[cubes]]
        for wiring in laws.WIRINGS:
            found, scale = of_table(e, "slices", cubes, 0.999, wiring), cubes / laws.CUBES
            row.append(f"{laws.mean_share(cubes, 0.999, wiring):.4f}")
            row.append(f"{scale * found.value:.4f} +- {scale * found.half:.4f}")
        rows.append(row)
    return Grid(f"Mean share of 64 cubes at 99.9 %, with {100 * CONFIDENCE:g} % intervals", rows)


def _spares(wiring: str) -> Grid:
    pod = Pod.tpu7x("ocs" if wiring == "switched" else "static")
    rows = [["slices", *(f"{100 * a:g} %, with {100 * p:.0f} %" for a in laws.LEVELS for p in PROBABILITIES)]]
    for wanted in WANTED:
        row = [" and ".join(f"{count} of {shape}" for shape, count in wanted.items())]
        for a in laws.LEVELS:
            try:
                found = plan(pod, wanted, availability=a, probabilities=PROBABILITIES).spares
            except OptionError:  # the pod has no room for them
                row += ["-"] * len(PROBABILITIES)
                continue
            cells = (float(found[f"spare_{100 * p:.0f}"][-1]) for p in PROBABILITIES)
            row += [_count(cell, 10 * pod.n_cubes) for cell in cells]
        rows.append(row)
    which = f"{pod.n_cubes} cubes, {wiring}"
    if wiring == "static":
        which += " (spares are whole blocks; -: no room for them, no formula, or beyond what is counted)"
    return Grid(f"Spare cubes that keep these slices up: {which}, by availability of hosts and probability", rows)


def _count(cubes: float, most: int) -> str:
    """In a cell: beyond ten pods the number itself says nothing more."""
    return "-" if math.isnan(cubes) else f"> {most:,}" if cubes > most else f"{cubes:,.0f}"


def run_rows(e: Evidence) -> Rows:
    """Every run: its setting, its replicate, its columns."""
    yield ("part", "machine", "cubes", "level", "how", "replicate", *COLUMNS)
    for key, columns in e.runs.items():
        for replicate in range(len(next(iter(columns.values())))):
            numbers = (f"{float(columns[name][replicate]):.8g}" for name in COLUMNS)
            yield (*key, replicate, *("" if text == "nan" else text for text in numbers))
