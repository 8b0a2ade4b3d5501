"""Random runs of all kinds, a hundred thousand in one process: memory, descriptors and threads stay what they were."""

import json
from pathlib import Path

import pytest

from helpers.scripts import python
from helpers.soaking import MARKS, keep, scaled

pytestmark = [*MARKS, pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")]
RUNS = 100_000
#: Bytes and blocks that allocators and bounded caches may still take after a tenth of the runs; 30 bytes a run.
BYTES, BLOCKS = 3_000_000, 6_000


def test_a_hundred_thousand_runs_leave_nothing_behind():
    runs = scaled(RUNS, 1000)
    done = python(Path(__file__).with_name("lasting.py"), runs, timeout=None)
    assert done.returncode == 0, done.stderr[-3000:]
    held = [json.loads(line) for line in done.stdout.splitlines()]
    first, last = held[0], held[-1]
    assert len(held) == 11
    assert last["refused"] < 0.1 * runs
    assert len({each["descriptors"] for each in held}) == 1, held
    assert len({each["threads"] for each in held}) == 1, held
    assert last["resident"] - first["resident"] < BYTES, held
    assert last["blocks"] - first["blocks"] < BLOCKS, held
    what = "Random runs of all kinds in one process, of jobs and of workflows, with sweeps, copies and saved results."
    numbers = {
        "runs": runs,
        "bytes more at the end": max(0, last["resident"] - first["resident"]),
        "descriptors more": 0,
        "threads more": 0,
    }
    keep("lasting", what, numbers, "test_lasting.py")
