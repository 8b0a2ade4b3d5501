"""Sweeps that are killed at random moments: no process is left, and the resumed store is one that was never killed."""

from pathlib import Path

import pytest

from helpers.scripts import python
from helpers.soaking import MARKS, keep, scaled

pytestmark = [*MARKS, pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="processes are read from /proc")]
KILLS = 200


@pytest.mark.parametrize("executor", ["threads", "processes", "dask", "command"])
def test_kills_leave_no_process_and_lose_no_row(executor, tmp_path):
    if executor == "dask":
        pytest.importorskip("distributed")
    kills = scaled(KILLS, 5)
    done = python(Path(__file__).with_name("killing.py"), executor, kills, tmp_path, timeout=None)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    made, amid, stores, seconds = (float(part.split()[0]) for part in done.stdout.splitlines()[-1].split(", "))
    assert made == kills
    assert amid > 0
    what = f"A sweep is killed at random moments and resumed ({executor}): its rows are those of one never killed."
    numbers = {"kills": kills, "stores": int(stores), "processes left": 0, "rows lost": 0}
    numbers["s until the last process ended"] = seconds
    keep(f"kills-{executor}", what, numbers, f"test_kills.py -k {executor}")
