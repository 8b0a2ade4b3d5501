"""A week of a university cluster under a hundred configurations of Slurm, as one sweep on two cores.

python benchmarks/run_slurm_sweep.py            writes its section of RESULTS.md; takes some minutes
python benchmarks/run_slurm_sweep.py --dry      prints only

Needs FAULTSIM_DATA (or ../shared/data beside the checkout) with slurm/ub-hpc.
"""

import os
import resource
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from results import run_parts, table
from run_slurm import CONF, LOG

import faultsim as fs

JOBS = int(os.environ.get("SWEEP_JOBS", len(LOG)))
#: Values of each setting; the week's own are bf_window=4320, bf_max_job_user=100, and bf_resolution=60 by default.
VALUES: dict[str, list[object]] = {
    "bf_window": [720, 1440, 2880, 5760, 10080],
    "bf_max_job_user": [1, 5, 20, 50, 200, 0],
    "bf_max_job_test": [100, 500, 1000],
    "bf_resolution": [120, 300, 600, 1800],
    "bf_interval": [30, 60, 300],
    "PriorityWeightFairshare": [0, 30000, 60000, 240000, 480000],
    "PriorityWeightAge": [0, 35000, 140000, 700000],
    "PriorityWeightJobSize": [0, 100000, 400000],
}
SITES = {
    "today": CONF.site,
    "+8 nodes with GPUs": CONF.site.with_nodes("g", 16),
    "+24 nodes": CONF.site.with_nodes("m", 120),
}
HEAD = """\
UB-HPC's week ({jobs:,} jobs, 217 nodes) under {runs} configurations: its own, {other} that set one option otherwise,
and these with more nodes.  `fs.Sweep` runs them in two processes and keeps them in a store.  Beside the
time on the clock is that of the processors, user and system, of both workers and the parent.
"""


def configurations() -> list[fs.Slurm]:
    """Today's, and those that differ from it in one option."""
    now = CONF.scheduler
    return [now, *(now.replace(**{name: value}) for name, values in VALUES.items() for value in values)]


def _cells() -> tuple[list[dict[str, object]], int]:
    """A hundred pairs of a configuration and a site: all on that of today, then on larger ones."""
    schedulers = configurations()
    pairs = [{"machine": site, "scheduler": each} for site in SITES.values() for each in schedulers]
    return pairs[:100], len(schedulers) - 1


def spent() -> float:
    """Seconds of the processor, user and system, of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


CELLS, OTHER = _cells()


def the_sweep() -> tuple[str, str]:
    sweep = fs.Sweep({"log": LOG.head(JOBS), "oversized": "drop"}, cells=CELLS)
    begin, used = time.perf_counter(), spent()
    with TemporaryDirectory() as folder:
        store = Path(folder) / "sweep.db"
        found = sweep.fill(store, workers=2, executor="processes", progress=False)
        clock, cpu = time.perf_counter() - begin, spent() - used
        assert found.made == len(CELLS)
        assert not found.failed
        begin = time.perf_counter()
        assert sweep.fill(store, workers=2, executor="processes", progress=False).made == 0
        again = time.perf_counter() - begin
        rows = sweep.run(store)
    names, wait = rows["scheduler"], np.asarray(rows["mean_wait"]) / 3600
    low, high = int(wait.argmin()), int(wait.argmax())
    return "A hundred configurations", table(
        [
            {
                "runs": len(CELLS),
                "s on the clock": clock,
                "s of the processors": cpu,
                "s of the processors per run": cpu / len(CELLS),
                "two cores alone, at best, s": cpu / 2,
                "resumed, s": again,
                "mean wait today, h": float(wait[0]),
                "shortest, h": f"{wait[low]:.3g} ({names[low]})",
                "longest, h": f"{wait[high]:.3g} ({names[high]})",
            }
        ]
    )


if __name__ == "__main__":
    run_parts(
        "slurm-sweep",
        "A sweep of Slurm's configurations",
        HEAD.format(jobs=JOBS, runs=len(CELLS), other=OTHER),
        {"sweep": the_sweep},
        __doc__ or "",
    )  # fmt: skip
