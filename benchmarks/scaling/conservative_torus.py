"""Conservative backfilling on a torus whose nodes fail."""

import run_failures

import faultsim as fs
from scaling.row import Row, cpu


def measure(jobs):
    log = run_failures.krevat().head(jobs)
    trace = run_failures.failures(log, 128, 2 * jobs // 5, 0.0, burst=4)
    runs = [
        fs.Run(log, fs.Torus.bluegene_l(), scheduler=scheduler, failures=trace)
        for scheduler in (fs.ConservativeBackfill(), fs.EasyBackfill())
    ]
    took, other = (cpu(run.simulate) for run in runs)
    return took, other, jobs


ROW = Row(
    title="Conservative backfilling on a 4x4x8 torus: Krevat's jobs of SDSC-SP2, stretched, 4 failures for 10 jobs",
    grows="jobs",
    sizes=(156, 625, 2_500, 10_000),
    measure=measure,
    run="conservative",
    against="EASY",
    reach="at most 25 times EASY",
    bound="A pass looks at each waiting job, and the longest queue of the log is not at its begin.",
)
