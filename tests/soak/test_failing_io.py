"""Calls of the system that fail while files are read and written: whole or untouched, told by name, nothing left."""

import sys
from pathlib import Path

import pytest

from helpers.scripts import environment, python
from helpers.soaking import MARKS, SIZE, compiled, keep, scaled

pytestmark = [*MARKS, pytest.mark.skipif(sys.platform != "linux", reason="failing_io.c is for Linux")]
FOLDER = Path(__file__).parent


def test_every_call_that_fails_leaves_files_whole_or_untouched(tmp_path):
    for needed in ("matplotlib", "pyarrow"):
        pytest.importorskip(needed)
    library = compiled(FOLDER / "failing_io.c", tmp_path / "failing_io.so", "-ldl")
    most = 0 if SIZE >= 1 else scaled(300, 2)
    env = {**environment(), "LD_PRELOAD": str(library)}
    done = python(FOLDER / "failing_io.py", most, env=env, timeout=None)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-1500:]
    cases, calls, errors, wrong = (int(part.split()[0]) for part in done.stdout.splitlines()[-1].split(", "))
    assert cases > 50
    assert calls > errors > calls // 3
    assert wrong == 0
    what = "Files, reports and stores are written and read while one call of the system after the other fails."
    numbers = {"cases": cases, "failing calls": calls, "broken files": wrong}
    keep("failing-io", what, numbers, "test_failing_io.py")
