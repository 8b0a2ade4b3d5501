"""Measure placement by predicted failures and write that section of benchmarks/RESULTS.md.

    python benchmarks/run_balance.py [--only PART ...] [--dry]

Needs SDSC-SP2 in FAULTSIM_DATA, or in ../shared/data beside the checkout.
"""

import os
from pathlib import Path

from results import run_parts, table

import faultsim as fs
from faultsim.bench.balance import measure_decisions, measure_simulations

DATA = Path(os.environ.get("FAULTSIM_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data") / "swf"
HEAD = """
CPU time, the least of several, the rules in turn.  "times": as long as `MaxFreePartition`.
"""
RULES = ("max_free_partition", "balancing", "tie_breaking")
NAMES = {"max_free_partition": "`MaxFreePartition`", "balancing": "`Balancing`", "tie_breaking": "`TieBreaking`"}


def ratios(rows, unit):
    """Add how many times MaxFreePartition each of the other rules takes."""
    for row in rows:
        for rule in RULES[1:]:
            row[f"{rule} times"] = row[f"{rule}_{unit}"] / row[f"{RULES[0]}_{unit}"]
    shown = "ms" if unit == "s" else unit
    for row in rows if unit == "s" else ():
        for rule in RULES:
            row[f"{rule}_s"] *= 1e3
    return {f"{rule}_{unit}": f"{NAMES[rule]}, {shown}" for rule in RULES} | {
        f"{rule} times": f"{NAMES[rule]}, times" for rule in RULES[1:]
    }


def decisions():
    rows = measure_decisions()
    names = ratios(rows, "us")
    worst = max(rows, key=lambda row: row["balancing times"])
    said = f"""
On occupancies that jobs have left with half of the nodes busy, with nothing remembered from decision to decision and a
number of random nodes predicted to fail with a probability of 0.5.  At worst `Balancing` takes {worst["balancing times"]:.2f} times as long
({worst["machine"]}, {worst["size"]} nodes, {worst["failing"]} failing).
"""  # noqa: E501
    return "One decision", f"{said.strip()}\n\n{table(rows, names)}"


def simulations():
    span = fs.krevat_span(fs.read_swf(DATA / "SDSC-SP2-1998-4.2-cln.swf.gz"), "sdsc")
    rows = measure_simulations(span)
    names = ratios(rows, "s")
    longest = max(rows, key=lambda row: row["balancing times"])
    said = f"""
Krevat's 10,000 jobs of SDSC-SP2 on 4x4x8, `Requeue`, `Confidence(0.5)`, means over four traces of 4,000 failures.  The
rules make different histories, with longer or shorter queues to look through, so a ratio says as much about these as about
the rules; `Balancing` takes up to {longest["balancing times"]:.2f} times as long.
"""  # noqa: E501
    return "Whole simulations", f"{said.strip()}\n\n{table(rows, names)}"


def main():
    parts = {part.__name__: part for part in (decisions, simulations)}
    run_parts("balance", "Placement by predicted failures", HEAD, parts, __doc__)


if __name__ == "__main__":
    main()
