"""Measure what the depth of reservations costs and gives on an overloaded cluster, for docs/guides/backfilling.md.

    python benchmarks/run_depth.py [--dry | --draw]

Two logs at an offered load of 3: a week of a university cluster, whose jobs nearly all take one node, and the first
20,000 jobs of SDSC-SP2, squeezed to that load.  CPU time of `simulate`: the least of three runs, or one run where that
takes longer than `ONCE` seconds.  The logs are those of FAULTSIM_DATA, or of ../shared/data beside the checkout.
--dry prints only; --draw draws the picture again from the table of the last measurement.
"""

import argparse
import csv
import gzip
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from results import table, write_section
from scaling.row import cpu

import faultsim as fs
from faultsim.plot import PALETTE, new_figure, plot_curves, save
from faultsim.plot.base import legend_below
from faultsim.plot.curves import MARKERS
from faultsim.plot.theme import THEMES, use_theme

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("FAULTSIM_DATA") or ROOT.parent / "shared" / "data")
PAGE = ROOT / "docs" / "guides" / "backfilling"
SCHEDULERS = {
    "EASY": fs.EasyBackfill(),
    **{str(depth): fs.Backfill(depth) for depth in (1, 2, 5, 10, 20, 50, 100)},
    "all": fs.ConservativeBackfill(),
}
#: Runs that take longer are measured once (seconds).
ONCE = 5.0
PANELS = {
    "CPU, s": "CPU time of the run (s)",
    "mean wait, h": "mean wait, all jobs (h)",
    "mean wait of wide jobs, h": "mean wait, wide jobs (h)",
    "mean bounded slowdown": "mean bounded slowdown",
}
HEAD = """
Both logs at an offered load of 3.  CPU time of `simulate`, the least of three runs, or one run where it takes more than
5 s.  Wide jobs take two nodes or more in the week (348 of 19,579), more than 32 in SDSC-SP2 (958 of 20,000).  `all` is
`ConservativeBackfill`.  The table and the picture of docs/guides/backfilling.md are of the same run.
"""


def seconds(limit: str) -> int:
    """A time limit as Slurm prints it, ``[days-]hours:minutes:seconds``."""
    days, _, clock = limit.rpartition("-")
    hours, minutes, rest = map(int, clock.split(":"))
    return 86_400 * int(days or 0) + 3_600 * hours + 60 * minutes + rest


def university_week() -> fs.Workload:
    with gzip.open(DATA / "slurm" / "ub-hpc" / "week.csv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return fs.Workload(
        submit=[float(row["submit"]) for row in rows],
        runtime=[float(row["runtime"]) for row in rows],
        size=[int(row["nodes"]) for row in rows],
        estimate=[seconds(row["limit"]) for row in rows],
        id=[int(row["id"]) for row in rows],
    )


def logs() -> dict[str, tuple[fs.Workload, int, int]]:
    """Name -> the log, the nodes of its machine, and the size above which a job is wide."""
    sdsc = fs.read_swf(DATA / "swf" / "SDSC-SP2-1998-4.2-cln.swf.gz")
    sdsc = sdsc[sdsc.runtime > 0].head(20_000)
    return {"university week": (university_week(), 217, 1), "SDSC-SP2": (sdsc.with_load(3.0, nodes=128), 128, 32)}


def measure() -> Iterator[dict[str, Any]]:
    for name, (log, nodes, narrow) in logs().items():
        for depth, scheduler in SCHEDULERS.items():
            run = fs.Run(log, fs.Cluster(nodes), scheduler=scheduler)
            results: list[fs.Result] = []
            took = cpu(lambda run=run, results=results: results.append(run.simulate()), 1)
            if took < ONCE:
                took = min(took, cpu(run.simulate, 2))
            jobs, metrics = results[0].jobs, results[0].metrics
            wait = (jobs["start"] - jobs["submit"])[jobs["size"] > narrow]
            row = {
                "log": name,
                "depth": depth,
                "CPU, s": float(f"{took:.2g}"),
                "mean wait, h": float(f"{metrics['mean_wait'] / 3600:.5g}"),
                "mean wait of wide jobs, h": float(f"{wait.mean() / 3600:.5g}"),
                "mean bounded slowdown": float(f"{metrics['mean_bounded_slowdown']:.5g}"),
            }
            print(row, flush=True)
            yield row


def draw(rows: list[dict[str, Any]]) -> Any:
    """Narrow and tall, so that its words can be read on a small screen."""
    figure = new_figure(4.8, 8.2)
    names = list(dict.fromkeys(row["log"] for row in rows))
    styles = {name: {"color": PALETTE[i], "marker": MARKERS[i]} for i, name in enumerate(names)}
    panels = figure.subplots(len(PANELS), 1, sharex=True)
    for ax, (column, title) in zip(panels, PANELS.items(), strict=True):
        curves = {
            name: (range(len(SCHEDULERS)), [float(row[column]) for row in rows if row["log"] == name]) for name in names
        }
        plot_curves(curves, ax=ax, title=title, styles=styles, log=column == "CPU, s")
        if column != "CPU, s":
            ax.set_ylim(0, 1.1 * max(max(values) for _, values in curves.values()))
    panels[-1].set_xticks(range(len(SCHEDULERS)), list(SCHEDULERS))
    panels[-1].set_xlabel("EASY, Backfill(depth=k), all: conservative")
    legend_below(panels[-1])
    return figure


def write_pictures(rows: list[dict[str, Any]]) -> None:
    for theme in THEMES:
        with use_theme(theme):
            save(draw(rows), PAGE / f"depth-{theme}.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dry", action="store_true", help="print only")
    parser.add_argument("--draw", action="store_true", help="measure nothing")
    arguments = parser.parse_args()
    if arguments.draw:
        with open(PAGE / "depth.csv", encoding="utf-8") as file:
            write_pictures(list(csv.DictReader(file)))
        return
    rows = list(measure())
    if arguments.dry:
        return
    PAGE.mkdir(exist_ok=True)
    with open(PAGE / "depth.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    write_pictures(rows)
    write_section("depth", "Depth of reservations", HEAD + "\n" + table(rows))


if __name__ == "__main__":
    main()
