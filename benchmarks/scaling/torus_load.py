"""Many small jobs on a large torus that come in at a load of 0.8."""

import numpy as np

import faultsim as fs
from scaling.row import Row, cpu
from scaling.torus_jobs import jobs_at_once

LOAD = 0.8


def measure(jobs):
    log, machine = jobs_at_once(jobs), fs.Torus.bluegene_l_nodes()
    span = float(np.sum(log.size * log.runtime)) / (machine.nodes * LOAD)
    submit = np.sort(np.random.default_rng(2).uniform(0, span, jobs))
    log = fs.Workload(**{**log.columns, "submit": submit})
    runs = (fs.Run(log, machine, scheduler=kind, placement=fs.FirstFit()) for kind in (fs.EasyBackfill(), fs.Fcfs()))
    easy, fcfs = (cpu(run.simulate, 1) for run in runs)
    return easy, fcfs, jobs


ROW = Row(
    title="Many small jobs on a torus of 32x32x64 nodes, at a load of 0.8",
    grows="jobs",
    sizes=(1_250, 5_000, 20_000, 80_000),  # the first few hundred jobs fill an empty machine
    measure=measure,
    run="EASY",
    against="FCFS",
    reach="at most 2 times FCFS, and 150 us a job",
)
