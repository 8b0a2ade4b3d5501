"""Measure the partition finders and write the section "Partition finders" of benchmarks/RESULTS.md.

python benchmarks/run_partitions.py [--only PART ...] [--dry]
"""

import statistics
from functools import cache
from typing import Any

from results import run_parts, table

from faultsim.bench.partitions import measure, measure_placement

HEAD = """
CPU time a question, the least of three, without Python in between and with nothing remembered from question to
question.
"""
PLACEMENT = {"first_fit_us": "first fit, us", "max_free_partition_us": "max free partition, us"}
NAMES = {
    "pop_per_bitmap": "pop / bitmap",
    "divisor_per_bitmap": "divisor / bitmap",
    **{f"{finder}_us": f"{finder}, us" for finder in ("bitmap", "divisor", "pop", "naive")},
}


@cache
def rows() -> list[dict[str, Any]]:
    """All of them; both questions are measured together."""
    found = measure()
    for row in found:
        row["divisor_per_bitmap"] = row["divisor_us"] / row["bitmap_us"] if row["divisor_us"] else None
    return found


def largest() -> tuple[str, str]:
    """The largest free box."""
    mine = [row for row in rows() if row["question"] == "largest"]
    ratios = [row["pop_per_bitmap"] for row in mine]
    naive = [row["naive_us"] / row["bitmap_us"] for row in mine if row["machine"] == "8x8x8"]
    said = (
        f"`pop` takes {min(ratios):.1f} to {max(ratios):.0f} times as long as `bitmap`, "
        f"{statistics.median(ratios):.0f} in the median; `naive` on 8x8x8 {min(naive):,.0f} to {max(naive):,.0f} times."
    )
    return "The largest free box", f"{said}\n\n{table(mine, NAMES)}"


def of_a_size() -> tuple[str, str]:
    """All free boxes of a size."""
    mine = [row for row in rows() if row["question"] != "largest"]
    ratios = [row["divisor_us"] / row["bitmap_us"] for row in mine]
    listing = [row["naive_us"] / row["divisor_us"] for row in mine if row["naive_us"]]
    where = "; ".join(
        f"{row['question']}: {row['machine']} {row['busy']}" for row in mine if row["divisor_us"] < row["bitmap_us"]
    )
    said = (
        f"`divisor` is {min(listing):.0f} to {max(listing):,.0f} times as fast as listing everything (`naive`), and "
        f"takes {min(ratios):.2f} to {max(ratios):.1f} times as long as `bitmap`.  Where `divisor` is the faster one: "
        f"{where or 'nowhere'}."
    )
    return "All free boxes of a size", f"{said}\n\n{table(mine, NAMES)}"


def placement() -> tuple[str, str]:
    """One placement of each rule."""
    said = "On occupancies that jobs have left, 70 % of the nodes busy.  `fits` is the share of them with room."
    return "One placement", f"{said}\n\n{table(measure_placement(), PLACEMENT)}"


def main() -> None:
    parts = {part.__name__: part for part in (largest, of_a_size, placement)}
    run_parts("partitions", "Partition finders", HEAD, parts, __doc__ or "")


if __name__ == "__main__":
    main()
