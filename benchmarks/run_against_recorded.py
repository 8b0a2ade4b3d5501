"""Numbers and pictures of the guide "Does the simulation resemble my machine?".

python benchmarks/run_against_recorded.py

Runs four public logs as they are on a cluster of the size in their header, under FCFS and EASY, and writes
docs/guides/recorded/. The logs are those of FAULTSIM_DATA, or ../shared/data beside the checkout.
"""

import csv
import os
from pathlib import Path

import faultsim as fs
from faultsim.plot import new_figure, plot_against_recorded, save

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("FAULTSIM_DATA") or ROOT.parent / "shared" / "data") / "swf"
FOLDER = ROOT / "docs" / "guides" / "recorded"
LOGS = {
    "SDSC-SP2": "SDSC-SP2-1998-4.2-cln",
    "CTC-SP2": "CTC-SP2-1996-3.1-cln",
    "KTH-SP2": "KTH-SP2-1996-2.1-cln",
    "CEA-Curie": "CEA-Curie-2011-2.1-cln",
}
SCHEDULERS = {"FCFS": fs.Fcfs(), "EASY": fs.EasyBackfill()}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    rows = []
    machines = []
    for name, file in LOGS.items():
        log = fs.read_swf(DATA / f"{file}.swf.gz")
        for scheduler, policy in SCHEDULERS.items():
            result = fs.simulate(log, fs.Cluster(int(log.max_nodes or 0)), scheduler=policy, oversized="drop")
            compared = result.against_recorded()
            hours = [compared[f"{kind}_mean_wait"] / 3600 for kind in ("recorded", "simulated")]
            rows.append(
                [
                    name,
                    scheduler,
                    *(f"{value:.1f}" for value in hours),
                    f"{compared['wait_ratio']:.2f}",
                    f"{compared['rank_correlation']:.2f}",
                    *(f"{100 * compared[f'{kind}_utilization']:.1f}" for kind in ("recorded", "simulated")),
                ]
            )
            print(name, scheduler, compared, sep="\n")
            if scheduler == "EASY" and name == "SDSC-SP2":
                figure = new_figure(11.0, 4.0)
                left, right = figure.subplots(1, 2)
                plot_against_recorded(result, by="time", title=f"{name}: mean waits over time", ax=left)
                plot_against_recorded(result, by="size", title=f"{name}: mean waits by size", ax=right)
                save(left, FOLDER / "waits.png")
        counts = ("n_jobs", "nodes", "recorded_most_nodes", "n_unfit", "n_out_of_order", "n_passed")
        machines.append([name, *(f"{int(compared[key]):,}" for key in counts)])
    heads = {
        "waits": [
            "log", "scheduler", "recorded mean wait (h)", "simulated (h)", "ratio", "rank correlation",
            "recorded utilization (%)", "simulated (%)",
        ],
        "machines": [
            "log", "jobs", "nodes", "most nodes held", "starts that do not fit", "starts out of order", "jobs passed",
        ],
    }  # fmt: skip
    for table, content in (("waits", rows), ("machines", machines)):
        with open(FOLDER / f"{table}.csv", "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([heads[table], *content])


if __name__ == "__main__":
    main()
