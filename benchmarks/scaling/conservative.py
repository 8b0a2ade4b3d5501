"""Conservative backfilling where jobs come faster than they end."""

import os
from functools import cache
from pathlib import Path

import faultsim as fs
from scaling.row import Row, cpu

DATA = Path(os.environ.get("FAULTSIM_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data") / "swf"


@cache
def sdsc() -> fs.Workload:
    log = fs.read_swf(DATA / "SDSC-SP2-1998-4.2-cln.swf.gz")
    return log[log.runtime > 0].with_load(1.2, nodes=128)


def measure(jobs: int) -> tuple[float, float, int]:
    run = fs.Run(sdsc()[:jobs], fs.Cluster(128), scheduler=fs.ConservativeBackfill())
    other = run.with_options(scheduler=fs.EasyBackfill())
    return cpu(run.simulate, 1), cpu(other.simulate), jobs


ROW = Row(
    title="Conservative backfilling: jobs of SDSC-SP2 at load 1.2, on 128 nodes",
    grows="jobs",
    sizes=(800, 3200, 12_800, 51_200),
    measure=measure,
    run="conservative",
    against="EASY",
    reach="at most 30 times EASY",
    bound="The queue grows with the log, and by the rule each early end moves about a tenth of it: jobs times waiting "
    "jobs. A reservation that moves costs about a microsecond, however many wait.",
)
