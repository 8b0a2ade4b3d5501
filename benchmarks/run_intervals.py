"""Measure how often confidence intervals of a sweep's means cover the truth, for docs/guides/intervals.md.

    python benchmarks/run_intervals.py [--runs N] [--dry]

Many runs of one experiment are cut into sweeps of 5 and of 20 replicates; the truth is the mean of all runs.  An
interval of 95 % should miss it in 5 sweeps of 100, on each side in 2.5.
"""

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from results import table, write_section

import faultsim as fs
from faultsim.sweep.hypothesis_tests import student_p
from faultsim.sweep.intervals import INTERVALS, interval_of_mean, interval_of_ratio

PAGE = Path(__file__).resolve().parents[1] / "docs" / "guides" / "intervals"
RUNS = 20_000
REPLICATES = (5, 20)
#: Sweeps that a bootstrap is tried on; the others are tried on all.
SOME = 2_000
HEAD = """
Share of sweeps whose 95 % interval covers what all {runs:,} runs say; misses below and above; the width beside that of
the first interval of the same thing.  The last row of each experiment is the share of sweeps in which a t test at 5 %
finds no difference where there is none.  docs/guides/intervals.md has what is covered of these rows.
"""
#: What has which intervals.
KINDS = {"mean": INTERVALS, "difference": [kind for kind in INTERVALS if kind != "log"], "ratio": ["log"]}
Floats = NDArray[np.float64]


def queue(rng: np.random.Generator, rho: float, n: int = 500) -> fs.Workload:
    """Jobs of the queue M/M/1: one node, exponential gaps of mean 1 and run times of mean `rho`."""
    return fs.Workload(
        submit=np.cumsum(rng.exponential(1.0, n)), runtime=rng.exponential(rho, n), size=np.ones(n, np.int64)
    )


def experiments(runs: int) -> Iterator[tuple[str, str, Floats, Floats]]:
    """What, metric, and its values under two schedulers or speeds that share their random numbers."""
    waits = np.empty((2, 2, runs))
    for row, rho in enumerate((0.7, 0.9)):
        for seed in range(runs):
            log = queue(np.random.default_rng([row, seed]), rho)
            for column, factor in enumerate((1.0, 1.05)):
                slower = fs.Workload(submit=log.submit, runtime=factor * log.runtime, size=log.size)
                waits[row, column, seed] = fs.simulate(slower, fs.Cluster(1), scheduler="fcfs").metrics["mean_wait"]
        yield f"M/M/1 at load {rho}, 500 jobs, service 5 % slower", "mean_wait", waits[row, 0], waits[row, 1]
    slow = np.empty((2, runs))
    for seed in range(runs):
        log = fs.synthetic.sdsc_like(300, rng=np.random.default_rng([2, seed])).with_load(0.8, nodes=128)
        for column, scheduler in enumerate(("fcfs", "easy")):
            result = fs.simulate(log, fs.Cluster(128), scheduler=scheduler)
            slow[column, seed] = result.metrics["mean_bounded_slowdown"]
    yield "jobs like SDSC's at load 0.8, 300, EASY against FCFS", "mean_bounded_slowdown", slow[0], slow[1]


def ends(of: str, kind: str, base: Floats, other: Floats) -> Iterator[tuple[float, float]]:
    """The interval of each sweep, a row of the arrays."""
    for one, another in list(zip(other, base, strict=True))[: SOME if kind.startswith("b") else None]:
        if of == "ratio":
            yield interval_of_ratio(one, another, 0.975)
        else:
            yield interval_of_mean(another if of == "mean" else one - another, 0.975, kind)


def covered(ends: Floats, truth: float) -> dict[str, float]:
    below, above = (ends[:, 1] < truth).mean(), (ends[:, 0] > truth).mean()
    return {
        "covers, %": 100 * (1 - below - above),
        "too low, %": 100 * below,
        "too high, %": 100 * above,
        "width": float(np.median(ends[:, 1] - ends[:, 0])),
    }


def measure(runs: int) -> Iterator[dict[str, Any]]:
    for what, metric, base, other in experiments(runs):
        for n in REPLICATES:
            sweeps = runs // n
            pairs = [sample[: sweeps * n].reshape(sweeps, n) for sample in (base, other)]
            truths = {
                "mean": base.mean(),
                "difference": other.mean() - base.mean(),
                "ratio": other.mean() / base.mean(),
            }
            for of, truth in truths.items():
                width = 0.0
                for kind in KINDS[of]:
                    found = covered(np.array(list(ends(of, kind, *pairs))), float(truth))
                    width = width or found["width"]
                    row = {"experiment": what, "metric": metric, "of": of, "replicates": n, "interval": kind}
                    found["width"] /= width
                    row |= {name: float(f"{value:.3g}") for name, value in found.items()}
                    print(row, flush=True)
                    yield row
            # Pairs that differ by chance only: the same experiment, told apart by a coin.
            flip = np.random.default_rng(n).choice([-1.0, 1.0], (sweeps, n))
            false = 100 * np.mean([student_p(sample) < 0.05 for sample in flip * (pairs[1] - pairs[0])])
            row = {"experiment": what, "metric": metric, "of": "no difference", "replicates": n, "interval": "t test"}
            row |= {"covers, %": float(f"{100 - false:.3g}"), "too low, %": "-", "too high, %": "-", "width": "-"}
            print(row, flush=True)
            yield row


def compact(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """How often each interval covers, an interval a column, for the page."""
    made: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows:
        what, of = row["experiment"].partition(",")[0], row["of"]
        line = {"experiment": what, "95 % interval of": of, "replicates": row["replicates"]} | dict.fromkeys(
            INTERVALS, ""
        )
        line = made.setdefault((what, of, str(row["replicates"])), line)
        line["t" if of == "no difference" else row["interval"]] = row["covers, %"]
    return list(made.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--dry", action="store_true", help="print only")
    arguments = parser.parse_args()
    rows = list(measure(arguments.runs))
    if arguments.dry:
        return
    PAGE.mkdir(exist_ok=True)
    with open(PAGE / "coverage.csv", "w", newline="", encoding="utf-8") as file:
        lines = compact(rows)
        writer = csv.DictWriter(file, lines[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    write_section(
        "intervals", "Coverage of confidence intervals", HEAD.format(runs=arguments.runs) + "\n" + table(rows)
    )


if __name__ == "__main__":
    main()
