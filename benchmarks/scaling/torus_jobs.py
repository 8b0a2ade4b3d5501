"""Many small jobs on a large torus: EASY beside FCFS, all of them waiting from the beginning."""

import numpy as np

import faultsim as fs
from scaling.row import Row, cpu

#: Nodes of the largest job, of 65,536.
LARGEST = 512


def jobs_at_once(jobs):
    rng = np.random.default_rng(1)
    size = rng.integers(1, LARGEST + 1, jobs)
    runtime = rng.exponential(3600, jobs) + 60
    estimate = runtime * rng.uniform(1, 5, jobs)
    return fs.Workload(submit=np.zeros(jobs), runtime=runtime, estimate=estimate, size=size)


def measure(jobs):
    log, machine = jobs_at_once(jobs), fs.Torus.bluegene_l_nodes()
    runs = (fs.Run(log, machine, scheduler=kind, placement=fs.FirstFit()) for kind in (fs.EasyBackfill(), fs.Fcfs()))
    easy, fcfs = (cpu(run.simulate, 1) for run in runs)
    return easy, fcfs, jobs


ROW = Row(
    title="Many small jobs on a torus of 32x32x64 nodes, all at once",
    grows="jobs",
    sizes=(375, 1_500, 6_000, 24_000),
    measure=measure,
    run="EASY",
    against="FCFS",
    reach="at most 2 times FCFS, and 150 us a job",
    bound="All jobs wait from the beginning, and in each pass EASY looks once at each of them, for nanoseconds.",
)
