"""Conservative backfilling on a cluster where jobs come faster than they end, and outlive their estimates."""

from functools import cache

import faultsim as fs
from scaling.row import DATA, Row, cpu


@cache
def sdsc():
    log = fs.read_swf(DATA / "SDSC-SP2-1998-4.2-cln.swf.gz")
    return log[(log.runtime > 0) & (log.size <= 128)]


def setting(jobs):
    return {"log": sdsc().head(jobs).with_load(1.2, nodes=128), "machine": fs.Cluster(128)}


def stepped(jobs):
    return [fs.Simulation(**setting(jobs), scheduler=fs.ConservativeBackfill())]


def measure(jobs):
    run = fs.Run(**setting(jobs), scheduler=fs.ConservativeBackfill())
    return cpu(run.simulate), cpu(run.with_options(scheduler=fs.EasyBackfill()).simulate), jobs


ROW = Row(
    title="Conservative backfilling on a cluster: jobs of SDSC-SP2 at load 1.2",
    grows="jobs",
    sizes=(800, 3_200, 12_800, 51_200),
    measure=measure,
    run="conservative",
    against="EASY",
    reach="at most 90 times EASY on whole logs",
    step="waiting jobs looked at",
    stepped=stepped,
    bound="The queue grows with the log: jobs times waiting jobs.  By the rule an early end may move every "
    "reservation, and where each goes depends on where those before it went; after a disturbance all are found "
    "again.  Where many jobs wait the plan is made up to a horizon, and further on once that is near: most "
    "disturbances come before.  A job behind it costs a comparison or two in each pass.",
)
