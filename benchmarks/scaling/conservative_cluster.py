"""Conservative backfilling on a cluster where jobs come faster than they end, and outlive their estimates."""

from functools import cache

import faultsim as fs
from scaling.row import DATA, Row, cpu


@cache
def sdsc():
    log = fs.read_swf(DATA / "SDSC-SP2-1998-4.2-cln.swf.gz")
    return log[(log.runtime > 0) & (log.size <= 128)]


def measure(jobs):
    log = sdsc().head(jobs).with_load(1.2, nodes=128)
    run = fs.Run(log, fs.Cluster(128), scheduler=fs.ConservativeBackfill())
    return cpu(run.simulate, 1), cpu(run.with_options(scheduler=fs.EasyBackfill()).simulate), jobs


ROW = Row(
    title="Conservative backfilling on a cluster: jobs of SDSC-SP2 at load 1.2",
    grows="jobs",
    sizes=(800, 3_200, 12_800, 51_200),
    measure=measure,
    run="conservative",
    against="EASY",
    reach="at most 30 times EASY",
    bound="The queue grows with the log, and by the rule each early end moves about a tenth of it: jobs times waiting "
    "jobs. A reservation that moves costs about half a microsecond, however many wait.",
)
