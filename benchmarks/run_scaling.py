"""Measure how costs grow, and write the section "Scaling" of benchmarks/RESULTS.md.

    python benchmarks/run_scaling.py [--only ROW ...] [--dry]

Each row is a module of benchmarks/scaling.  The logs are those of FAULTSIM_DATA, or of ../shared/data beside the
checkout.
"""

import importlib
from functools import partial
from pathlib import Path
from statistics import mean

from results import run_parts, table
from scaling.row import LINEAR, Row, exponent

from faultsim import Simulation

HEAD = f"""
CPU time, the least of a few runs of one process.  The exponent is the slope of the whole cost over the size, both as
logarithms, by least squares over all sizes; where the number of jobs stays the same, so that the size is that of the
machine or of the trace, an exponent near 0 is best.  Above {LINEAR} the row says what bounds it.
"""


def looked(simulation: Simulation) -> int:
    simulation.run()
    return int(simulation._execution.engine.work["looked"])


def show(row: Row) -> tuple[str, str]:
    lines, costs = [], []
    for size in row.sizes:
        took, other, count, *beside = row.measure(size)
        costs.append(took)
        lines.append(
            {
                row.grows: f"{size:,}",
                row.run + ", s": took,
                "us each": took / count * 1e6,
                row.against + ", s": other,
                "ratio": None if other is None else took / other,
            }
        )
        if beside:
            lines[-1] |= {row.beside + ", s": beside[0], "ratio to it": took / beside[0]}
        if row.stepped:
            looks = mean(looked(simulation) for simulation in row.stepped(size))
            lines[-1] |= {row.step: f"{looks:,.0f}", "us each of these": took / looks * 1e6}
    slope = exponent(row.sizes, costs)
    text = f"Exponent {slope:.2f}; wanted: {row.reach}."
    if slope > LINEAR:
        text += f"  {row.bound or 'Not explained.'}"
    return row.title, table(lines) + "\n\n" + text


def rows() -> dict[str, Row]:
    """By name of their modules."""
    names = sorted(path.stem for path in Path(__file__).with_name("scaling").glob("[a-z]*.py") if path.stem != "row")
    return {name: importlib.import_module(f"scaling.{name}").ROW for name in names}


def main():
    parts = {name: partial(show, row) for name, row in rows().items()}
    run_parts("scaling", "Scaling", HEAD, parts, __doc__)


if __name__ == "__main__":
    main()
