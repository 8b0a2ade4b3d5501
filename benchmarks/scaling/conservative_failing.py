"""Conservative backfilling on a cluster whose nodes fail, so that plans are made again and again."""

from functools import cache, partial
from statistics import mean

import faultsim as fs
from scaling.conservative_cluster import sdsc
from scaling.row import Row, cpu

#: How many jobs wait is up to the trace, and by a factor of some ten, so there are several.
SEEDS = (1, 2, 3)


@cache
def trace(daily, seed):
    """For the whole log; a shorter one sees the beginning."""
    horizon = 1.2 * float(sdsc().submit[-1])
    count = round(daily * horizon / 86_400)
    return fs.synthetic.weibull_failures(128, horizon, 0.85, 18_000.0, downtime=3600.0, count=count, rng=seed)


def settings(daily, jobs):
    return [{"log": sdsc().head(jobs), "machine": fs.Cluster(128), "failures": trace(daily, seed)} for seed in SEEDS]


def stepped(daily, jobs):
    return [fs.Simulation(**setting, scheduler=fs.ConservativeBackfill()) for setting in settings(daily, jobs)]


def measure(daily, jobs):
    runs = [fs.Run(**setting, scheduler=fs.ConservativeBackfill()) for setting in settings(daily, jobs)]
    easy = [run.with_options(scheduler=fs.EasyBackfill()) for run in runs]
    return mean(cpu(run.simulate) for run in runs), mean(cpu(run.simulate) for run in easy), jobs


def row(daily, reach):
    return Row(
        title=f"Conservative backfilling on a failing cluster: jobs of SDSC-SP2, {daily} failures a day, three traces",
        grows="jobs",
        sizes=(800, 3_200, 12_800, 51_200),
        measure=partial(measure, daily),
        run="conservative",
        against="EASY",
        reach=reach,
        step="waiting jobs looked at",
        stepped=partial(stepped, daily),
        bound="What fails begins from nothing, so the queue grows with the log: jobs times waiting jobs, as above.  "
        "Failures, repairs and jobs past their estimates drop the plan.  It is made again up to a horizon: the next "
        "disturbance nearly always comes before that is reached.",
    )


ROW = row(2, "at most 90 times EASY")
