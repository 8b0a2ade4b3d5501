"""File names that are no UTF-8, and terminals that can write nothing but ASCII."""

import os
import subprocess
import sys

import pytest

from faultsim.sweep.store import Store
from helpers import command

#: What the name of a file is, and what the process knows of text.
CASES = {
    "not UTF-8": (b"\xff", {"LC_ALL": "C.UTF-8", "PYTHONUTF8": "0"}),
    "C locale": ("é".encode(), {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    "ASCII terminal": ("é".encode(), {"PYTHONUTF8": "1", "PYTHONIOENCODING": "ascii:strict"}),
}
SPEC = """
[base]
log = { synthetic = "nasa_like", jobs = 50 }
machine = "cluster:128"
[grid]
scheduler = ["fcfs", "easy"]
"""
#: Commands; a word that ends in "*" with an ending names a file.
COMMANDS = [
    ["run", "log*.swf", "--failures", "failures*.csv", "--csv", "jobs*.csv", "--save", "run*.npz"],
    ["failures", "convert", "failures*.csv", "-"],
    ["sweep", "sweep*.toml", "--metric", "mean_wait", "--csv", "rows*.csv"],
    ["status", "sweep*.db"],
]
DRAWN = [
    ["run", "log*.swf", "--report", "run*.html", "--gantt", "run*.svg"],
    ["sweep", "sweep*.toml", "--metric", "mean_wait", "--report", "sweep*.html"],
]


@pytest.fixture(params=list(CASES))
def case(request, tmp_path):
    """Runs a command in a folder of files with such names, and returns what it prints."""
    odd, environment = CASES[request.param]
    environment = {**os.environ, "MPLBACKEND": "Agg", **environment}

    def named(word):
        return os.fsencode(word).replace(b"*", odd)

    def path(word):
        return os.path.join(os.fsencode(tmp_path), named(word))

    for word, text in {
        "log*.swf": command.swf(50, 99), "failures*.csv": "time,node\n60,0\n130,5\n", "sweep*.toml": SPEC
    }.items():  # fmt: skip
        try:
            with open(path(word), "w") as file:
                file.write(text)
        except OSError:
            pytest.skip("this file system takes no such name")

    def run(words, status=0):
        found = subprocess.run(
            [sys.executable, "-m", "faultsim", *map(named, words)], cwd=tmp_path, env=environment, capture_output=True
        )
        assert b"Traceback" not in found.stderr, found.stderr.decode("utf-8", "replace")
        assert found.returncode == status, found.stderr.decode("utf-8", "replace")
        return found

    run.path = path
    return run


def test_tables_and_stores(case):
    for words in COMMANDS:
        case(words)
    with Store(os.fsdecode(case.path("sweep*.db")), write=False) as store:
        assert store.sweeps()[0]["name"] == ""


def test_reports_and_figures(case):
    pytest.importorskip("matplotlib")
    for words in DRAWN:
        case(words)
    with open(case.path("run*.html"), encoding="utf-8") as file:
        assert "log: log" in file.read()


def test_an_error_is_one_line(case):
    found = case(["run", "none*.swf"], status=2)
    assert found.stdout == b""
    assert found.stderr.count(b"\n") == 1
