"""A week of a university cluster whose nodes jobs share, under each scheduler: seconds, and what jobs waited.

python benchmarks/run_site.py            the week as a site, as cores and as whole nodes; whole nodes of SDSC-SP2 as a
                                         site and as a cluster; larger sites at equal load
python benchmarks/run_site.py --quick    the week as a site alone

The week is that of FAULTSIM_DATA, or of ../shared/data beside the checkout: slurm/ub-hpc.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np

import faultsim as fs
from faultsim.reproduce.site.inputs import read_week

DATA = Path(os.environ.get("FAULTSIM_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
WEEK = DATA / "slurm" / "ub-hpc" / "week.csv.gz"

#: The classes of the site's slurm.conf, in its order.
SITE = fs.Site(
    [
        fs.NodeClass("n", 87, cores=32, memory="187000M", weight=60, features="CPU-Gold-6130,OPA"),
        fs.NodeClass("gn", 2, cores=32, memory="187000M", gpus="p100:2", weight=190, features="CPU-Gold-6130,OPA,P100"),
        fs.NodeClass("g", 8, cores=40, memory="187000M", gpus="v100:2", weight=190, features="CPU-Gold-6230,IB,V100"),
        fs.NodeClass("m", 96, cores=40, memory="187000M", weight=70, features="CPU-Gold-6230,IB"),
        fs.NodeClass("b", 24, cores=40, memory="754000M", weight=160, features="CPU-Gold-6230,IB"),
    ],
    [
        fs.Partition("general-compute", "n,m,b,g", max_time="3d", default=True),
        fs.Partition("debug", "gn", max_time="1h"),
    ],
)


def week() -> fs.Workload:
    """The week as a log of jobs that share nodes."""
    return read_week(WEEK)


def whole_nodes(log: fs.Workload, cores: int) -> fs.Workload:
    """The same jobs, with all cores of their nodes stated."""
    columns = {"cores": log.size * cores, "nodes": log.size}
    return fs.Workload(log.submit, log.runtime, log.size * cores, estimate=log.estimate, columns=columns)


def larger(site: fs.Site, log: fs.Workload, times: int) -> tuple[fs.Site, fs.Workload]:
    """So many times the nodes and, in the same time, the jobs."""
    for each in site.classes:
        site = site.with_nodes(each.name, each.count * times)
    rows = np.repeat(np.arange(len(log)), times)
    submit = log.submit[rows] + np.tile(np.arange(times) / times, len(log))
    order = np.argsort(submit, kind="stable")
    columns = {name: log.columns[name][rows][order] for name in log.further}
    taken = [log.runtime[rows][order], log.size[rows][order]]
    return site, fs.Workload(submit[order], *taken, estimate=log.estimate[rows][order], columns=columns)


def seconds(run: fs.Run) -> tuple[float, fs.Result]:
    """The best of three; of one where there are very many jobs."""
    times = []
    for _ in range(3 if len(run.log) < 500_000 else 1):
        begin = time.perf_counter()
        result = run.simulate()
        times.append(time.perf_counter() - begin)
    return min(times), result


def report(name: str, run: fs.Run) -> None:
    spent, result = seconds(run)
    wait = result.metrics["mean_wait"] / 3600
    print(
        f"{name:<46} {spent:8.3f} s  {1e6 * spent / len(result):8.1f} us per job  mean wait {wait:8.2f} h", flush=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the week as a site alone")
    args = parser.parse_args()
    log = week()
    for scheduler in ("fcfs", "easy", "backfill:depth=10", "conservative"):
        try:
            report(f"site, {scheduler}", fs.Run(log, SITE, scheduler=scheduler, oversized="drop"))
        except fs.NotAvailableError as error:
            print(f"site, {scheduler}: {error}")
    for placement in ("first_fit", "best_fit", "least_loaded"):
        report(f"site, easy, {placement}", fs.Run(log, SITE, scheduler="easy", placement=placement, oversized="drop"))
    if args.quick:
        return
    plain = fs.Workload(log.submit, log.runtime, log.columns["cores"], estimate=log.estimate)
    report("cores, easy", fs.Run(plain, fs.Cluster(SITE.cores), scheduler="easy"))
    plain = fs.Workload(log.submit, log.runtime, log.columns["nodes"], estimate=log.estimate)
    report("whole nodes, easy", fs.Run(plain, fs.Cluster(SITE.nodes), scheduler="easy"))
    log_of_nodes = fs.read_swf(DATA / "swf" / "SDSC-SP2-1998-4.2-cln.swf.gz")
    filled, filled_site = whole_nodes(log_of_nodes, 16), fs.Site(fs.NodeClass("n", 128, cores=16))
    for scheduler in ("fcfs", "easy"):
        report(f"SDSC-SP2 on a cluster, {scheduler}", fs.Run(log_of_nodes, fs.Cluster(128), scheduler=scheduler))
        report(f"SDSC-SP2 as cores of a site, {scheduler}", fs.Run(filled, filled_site, scheduler=scheduler))
    for times in (1, 10, 92):
        site, jobs = larger(SITE, log.head(10_000), times)
        report(
            f"{site.nodes:,} nodes, easy, {len(jobs):,} jobs", fs.Run(jobs, site, scheduler="easy", oversized="drop")
        )
        jobs = jobs.head(20_000)
        report(f"{site.nodes:,} nodes, easy, first 20,000 jobs", fs.Run(jobs, site, scheduler="easy", oversized="drop"))


if __name__ == "__main__":
    main()
