"""Nothing is written beyond what is there, which an allocator of the C library looks for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

#: Of the C library: with MALLOC_CHECK_=3 it ends a process that has written behind a block.
LOOKING = [
    path for path in ("/usr/lib/x86_64-linux-gnu/libc_malloc_debug.so.0", "/lib64/libc_malloc_debug.so.0")
    if Path(path).exists()
]  # fmt: skip

#: Machines that are as full as can be, so that what has room for one entry for each node is used up to its end.
FULL = """
import faultsim as fs

nodes = 64
log = fs.Workload(submit=[0] * 63 + [1], runtime=[50 + i for i in range(63)] + [9], size=[1] * 63 + [2])
failures = fs.FailureTrace([20.0, 30.0], [0, 1], 0, span=500)
pairs = [2] * nodes + [4] * 32, [*range(nodes), *range(32)]
foreseen = fs.IntervalPredictor.from_pairs(*pairs, interval=10, precision=1)
always = fs.Defragment(min_free=0, max_concentration=1, when="always", keep_promise=True)
asked = fs.PredictedWindows("1m", fs.AllJobs(), interval=5, cost=1)
for scheduler in (fs.Fcfs(), fs.EasyBackfill(), fs.ConservativeBackfill(), fs.Backfill("unlimited")):
    torus = {"migration": always, "failures": failures, "scheduler": scheduler}
    fs.simulate(log, fs.Torus(4, 4, 4), **torus)
    fs.simulate(log, fs.Torus(4, 4, 4), **torus, predictor=foreseen, rescheduling=fs.Fars(10, fs.JobFailureRate()))
    flat = {"migration": fs.LeastFailuresMigration(0, 0), "failures": failures, "scheduler": scheduler}
    fs.simulate(log, fs.Cluster(nodes), checkpointing=asked, **flat, record=True)
    fars = fs.Fars(10, fs.NodeStealing(), live=True)
    fs.simulate(
        log, fs.Cluster(nodes), checkpointing=fs.Periodic(5, 1), **flat, predictor=foreseen, rescheduling=fars
    )
"""


@pytest.mark.skipif(not LOOKING, reason="the C library has no allocator that looks at the ends of blocks")
def test_full_machines_write_behind_no_block():
    looking = {**os.environ, "LD_PRELOAD": LOOKING[0], "MALLOC_CHECK_": "3", "MALLOC_PERTURB_": "165"}
    done = subprocess.run([sys.executable, "-c", FULL], env=looking, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
