"""Random runs of all kinds, a hundred thousand in one process: memory, descriptors and threads stay what they were."""

import json
from pathlib import Path

import pytest

from helpers.scripts import python
from helpers.soaking import MARKS, keep, scaled

pytestmark = [*MARKS, pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")]
RUNS = 100_000
#: Bytes and blocks a run that allocators and bounded caches may still take after the first runs, and what they may
#: take however few there are.
BYTES, BLOCKS = 30, 0.06
FIRST_BYTES, FIRST_BLOCKS = 1_000_000, 600


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
    assert last["resident"] - first["resident"] < max(FIRST_BYTES, BYTES * runs), held
    assert last["blocks"] - first["blocks"] < max(FIRST_BLOCKS, BLOCKS * runs), held
    what = "Random runs of all kinds in one process, of jobs and of workflows, with sweeps, copies and saved results."
    numbers = {
        "runs": runs,
        "bytes more at the end": max(0, last["resident"] - first["resident"]),
        "descriptors more": 0,
        "threads more": 0,
    }
    keep("lasting", what, numbers, "test_lasting.py")
