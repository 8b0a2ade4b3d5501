"""Queue orders that change with time, on logs that press harder and harder."""

from functools import cache

import numpy as np

import faultsim as fs
from scaling.row import DATA, Row, cpu


@cache
def sdsc() -> fs.Workload:
    log = fs.read_swf(DATA / "SDSC-SP2-1998-4.2-cln.swf.gz")
    return log[log.runtime > 0]


def saturated(jobs: int) -> fs.Workload:
    """So many jobs of SDSC-SP2 at once: all of them wait."""
    columns = {name: column[:jobs] for name, column in sdsc().columns.items()}
    return fs.Workload(**{**columns, "submit": np.arange(jobs, dtype=float)})


def measure(jobs: int) -> tuple[float, float, int]:
    log = saturated(jobs)
    run = fs.Run(log, fs.Cluster(128), scheduler=fs.EasyBackfill(order="wfp3"))
    other = run.with_options(scheduler=fs.EasyBackfill())
    return cpu(run.simulate), cpu(other.simulate), jobs


ROW = Row(
    title="EASY by WFP3: jobs of SDSC-SP2 that come all at once, on 128 nodes",
    grows="jobs",
    sizes=(800, 3200, 12_800, 51_200),
    measure=measure,
    run="WFP3",
    against="arrival order",
    reach="at most 5 times arrival order",
    bound="A pass looks at each waiting job a few times, and all wait: jobs times waiting jobs, as in arrival order.",
)
