"""The thread sanitizer over sweeps and misuse: no race in a compiled module of faultsim.

Only these are built for it, so that it knows nothing of what the interpreter and NumPy do among themselves.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.scripts import CHECKOUT, environment
from helpers.soaking import MARKS, SIZE, compiled, keep

pytestmark = [*MARKS, pytest.mark.skipif(sys.platform != "linux", reason="the sanitizer is preloaded, as on Linux")]
FOLDER = Path(__file__).parent
SECONDS = 60.0
RACE = """
import ctypes, sys, threading
library = ctypes.CDLL(sys.argv[1])
threads = [threading.Thread(target=library.race, args=(10**7,)) for _ in range(2)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""


@pytest.fixture(scope="module")
def sanitizer():
    compiler = shutil.which("gcc")
    found = compiler and subprocess.check_output([compiler, "-print-file-name=libtsan.so"], text=True).strip()
    if not found or not Path(found).is_absolute():
        pytest.skip("no gcc with a thread sanitizer")
    return found


def races(arguments, modules, sanitizer, folder):
    """What the sanitizer says of a Python process, a text for each race."""
    folder.mkdir()
    options = f"log_path={folder}/said exitcode=0 report_signal_unsafe=0 history_size=4"
    env = {**os.environ, "PYTHONPATH": str(modules), "LD_PRELOAD": sanitizer, "TSAN_OPTIONS": options}
    command = [sys.executable, "-P", *map(str, arguments)]
    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    said = "".join(path.read_text() for path in folder.glob("said*"))
    return done.stdout, re.findall(r"(?s)WARNING: ThreadSanitizer:.*?={18}", said)


def test_the_sanitizer_sees_a_race(sanitizer, tmp_path):
    library = compiled(FOLDER / "race.c", tmp_path / "race.so", "-g", "-fsanitize=thread")
    _, found = races(["-c", RACE, library], tmp_path, sanitizer, tmp_path / "run")
    assert found
    assert "race.c" in found[0]


def test_threads_race_nowhere_in_the_core(sanitizer, tmp_path):
    pytest.importorskip("Cython")
    env = {**environment(), "FAULTSIM_SANITIZE": "thread"}
    build = [
        sys.executable,
        "setup.py",
        "-q",
        "build",
        "--build-base",
        tmp_path / "build",
        "--build-lib",
        tmp_path / "lib",
    ]
    done = subprocess.run(build, cwd=CHECKOUT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    seconds = max(0.5, SECONDS * SIZE)
    said, found = races([FOLDER / "racing.py", seconds], tmp_path / "lib", sanitizer, tmp_path / "run")
    objects, engine = said.split()[-2:]
    assert Path(engine).is_relative_to(tmp_path / "lib")
    assert [race for race in found if "/faultsim/_core/" in race] == []
    what = "Sweeps on threads, and threads that misuse each public object, under the thread sanitizer."
    numbers = {"objects": int(objects), "seconds for each": seconds, "races": 0}
    keep("thread-sanitizer", what, numbers, "test_thread_sanitizer.py")
