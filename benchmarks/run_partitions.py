"""Measure the partition finders and write their section of RESULTS.md: ``python benchmarks/run_partitions.py``."""

import statistics

from results import table, write_section

from faultsim.bench.partitions import measure, measure_placement


def main() -> None:
    rows = measure()
    largest = [row for row in rows if row["question"] == "largest"]
    every = [row for row in rows if row["question"] != "largest"]
    ratios = [row["pop_per_bitmap"] for row in largest]
    naive = [row["naive_us"] / row["bitmap_us"] for row in largest if row["machine"] == "8x8x8"]
    beaten = [row["divisor_us"] / row["bitmap_us"] for row in every]
    listing = [row["naive_us"] / row["divisor_us"] for row in every if row["naive_us"]]
    names = {"pop_per_bitmap": "pop / bitmap"} | {f"{a}_us": f"{a}, us" for a in ("bitmap", "divisor", "pop", "naive")}
    for row in rows:
        row["divisor_per_bitmap"] = row["divisor_us"] / row["bitmap_us"] if row["divisor_us"] else None
    names["divisor_per_bitmap"] = "divisor / bitmap"
    placement = {"first_fit_us": "first fit, us", "max_free_partition_us": "max free partition, us"}
    where = "; ".join(
        f"{row['question']}: {row['machine']} {row['busy']}"
        for row in rows
        if row["divisor_us"] and row["divisor_us"] < row["bitmap_us"]
    )
    body = f"""
CPU time a question, the least of three, without Python in between and with nothing remembered from question to question.

**The largest free box.**  `pop` takes {min(ratios):.1f} to {max(ratios):.0f} times as long as `bitmap`, {statistics.median(ratios):.0f} in the
median; `naive` on 8x8x8 {min(naive):,.0f} to {max(naive):,.0f} times.

{table(largest, names)}

**All free boxes of a size.**  `divisor` is {min(listing):.0f} to {max(listing):,.0f} times as fast as listing everything (`naive`), and takes
{min(beaten):.2f} to {max(beaten):.1f} times as long as `bitmap`.  Where `divisor` is the faster one: {where or "nowhere"}.

{table(every, names)}

**One placement**, on occupancies that jobs have left, 70 % of the nodes busy.  `fits` is the share of them with room.

{table(measure_placement(), placement)}
"""  # noqa: E501
    write_section("partitions", "Partition finders", body)


if __name__ == "__main__":
    main()
