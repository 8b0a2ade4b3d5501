"""Memory that is out, at each block that compiled code asks for: MemoryError or the same answer, nothing left."""

import os
import platform
import shlex
import subprocess
import sysconfig
from pathlib import Path

import pytest

from helpers.counts import record
from helpers.scripts import environment, python

FOLDER = Path(__file__).parents[1] / "starving"


pytestmark = [
    pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="starve.c takes the place of functions of glibc"),
    pytest.mark.skipif("FAULTSIM_SANITIZE" in os.environ, reason="a sanitizer may have an allocator of its own"),
    pytest.mark.timeout(1800),
]


def starved(folder, *cases, thresholds="default"):
    """What is counted over these cases, or all: cases, blocks, refusals, errors, and what went wrong."""
    pytest.importorskip("gymnasium")
    library = folder / "starve.so"
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    try:
        subprocess.run(
            [*compiler, "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, FOLDER / "starve.c"], check=True
        )
    except FileNotFoundError:
        pytest.skip(f"no C compiler {compiler[0]}")
    environ = {**environment(), "LD_PRELOAD": str(library), "FAULTSIM_THRESHOLDS": thresholds}
    done = python(FOLDER / "starved.py", 0, *cases, env=environ, timeout=1700)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1500:]
    return [int(part.split()[0]) for part in done.stdout.splitlines()[-1].split(", ")]


def test_sets_that_do_not_grow_give_no_other_place(tmp_path):
    """At the least thresholds, arrays have room for one item at first."""
    *_, errors, wrong = starved(tmp_path, "torus-python", "torus-balancing", "torus-ties", thresholds="least")
    assert errors > 300
    assert wrong == 0


def test_every_block_that_is_refused_ends_well(tmp_path):
    cases, blocks, refused, errors, wrong = starved(tmp_path)
    assert cases > 70
    assert blocks > 7000
    # What is refused once may be done without: a memo, a larger table.
    assert refused == 2 * blocks
    assert refused >= errors > 0.9 * refused
    assert wrong == 0
    record(
        "refused-blocks", "trouble",
        "Each block of memory that compiled code asks for is refused, once and from then on, over fixed runs, copies, "
        "workflows, records and kernels: MemoryError or the same answer, no block left, the next call equal.",
        {"fixed cases": cases, "blocks": blocks, "refusals": refused, "ended in MemoryError": errors,
         "done without the block": refused - errors, "other answers, leaks or crashes": 0},
        "pytest tests/verification/test_starving.py",
    )  # fmt: skip
