"""Measure what schedulers cost as the load passes 1, for docs/guides/saturation.md: its table and its picture.

    python benchmarks/run_saturation.py [--only MACHINE ...] [--dry]

CPU time of `simulate`, once.  A scheduler whose run took longer than `LONGEST` is not run at higher loads.  The logs
are those of FAULTSIM_DATA, or of ../shared/data beside the checkout.
"""

import argparse
import csv
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from results import table, write_section
from scaling.row import cpu

import faultsim as fs
from faultsim.plot import PALETTE, new_figure, plot_saturation, save
from faultsim.plot.curves import MARKERS

DATA = Path(os.environ.get("FAULTSIM_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data") / "swf"
PAGE = Path(__file__).resolve().parents[1] / "docs" / "guides" / "saturation"
LOADS = (0.6, 0.8, 0.9, 1.0, 1.1, 1.2, 1.5, 2.0, 5.0, 50.0)
LONGEST = 10.0
CLUSTER = {
    "FCFS": fs.Fcfs(),
    "EASY": fs.EasyBackfill(),
    "EASY by saf": fs.EasyBackfill(order="saf"),
    "EASY by WFP3": fs.EasyBackfill(order="wfp3"),
    "EASY by a key": fs.EasyBackfill(order=fs.Key("-wait - 10 * estimate")),
    "Backfill(depth=10)": fs.Backfill(10),
    "conservative": fs.ConservativeBackfill(),
}
TORUS = {
    "FCFS": fs.Fcfs(),
    "EASY": fs.EasyBackfill(),
    "EASY by WFP3": fs.EasyBackfill(order="wfp3"),
    "Backfill(depth=10)": fs.Backfill(10),
    "conservative": fs.ConservativeBackfill(),
}
HEAD = f"""
CPU time of `simulate`, once each; no line where a run at a lower load took more than {LONGEST:g} s.  The table and the
picture of docs/guides/saturation.md are of the same run.
"""


def machines() -> dict[str, tuple[fs.Workload, Any, dict[str, Any]]]:
    log = fs.read_swf(DATA / "SDSC-SP2-1998-4.2-cln.swf.gz")
    return {
        "cluster of 128": (log[log.runtime > 0], fs.Cluster(128), CLUSTER),
        "torus 4x4x8": (fs.krevat_span(log, "sdsc"), fs.Torus.bluegene_l(), TORUS),
    }


def measure(names: list[str]) -> Iterator[dict[str, Any]]:
    for name, (log, machine, schedulers) in machines().items():
        if names and name not in names:
            continue
        for what, scheduler in schedulers.items():
            for load in LOADS:
                run = fs.Run(log.with_load(load, nodes=128), machine, scheduler=scheduler)
                results: list[fs.Result] = []
                took = cpu(lambda run=run, results=results: results.append(run.simulate()), 1)
                jobs = results[0].jobs
                waited = float((jobs["first_start"] - jobs["submit"]).sum())
                row = {
                    "machine": name,
                    "scheduler": what,
                    "load": load,
                    "jobs waiting, mean": round(waited / results[0].metrics["makespan"]),
                    "CPU a job, us": float(f"{took / len(log) * 1e6:.3g}"),
                }
                print(row, flush=True)
                yield row
                if took > LONGEST:
                    break


def draw(rows: list[dict[str, Any]]) -> Any:
    names = list(dict.fromkeys(row["machine"] for row in rows))
    schedulers = dict.fromkeys(row["scheduler"] for row in rows)
    styles = {what: {"color": PALETTE[i], "marker": MARKERS[i]} for i, what in enumerate(schedulers)}
    figure = new_figure(7.0, 4.2 * len(names))
    for ax, name in zip(figure.subplots(len(names), 1, squeeze=False)[:, 0], names, strict=True):
        here = [row for row in rows if row["machine"] == name]
        curves = {
            what: tuple(
                [float(row[column]) for row in here if row["scheduler"] == what] for column in ("load", "CPU a job, us")
            )
            for what in dict.fromkeys(row["scheduler"] for row in here)
        }
        plot_saturation(curves, ax=ax, y="CPU time a job (us)", title=name, styles=styles)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], metavar="MACHINE", help="implies --dry")
    parser.add_argument("--dry", action="store_true", help="print only")
    arguments = parser.parse_args()
    rows = list(measure(arguments.only))
    if arguments.dry or arguments.only:
        save(draw(rows), "saturation.png")
        return
    PAGE.mkdir(exist_ok=True)
    with open(PAGE / "cost.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    save(draw(rows), PAGE / "cost.png")
    write_section("saturation", "Saturation", HEAD + "\n" + table(rows))


if __name__ == "__main__":
    main()
