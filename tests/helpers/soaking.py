"""How long the soak tests are: ``FAULTSIM_SOAK=0.01 pytest -m soak`` makes them a hundredth of what they should be."""

import os
import shlex
import subprocess
import sysconfig

import pytest

from helpers.counts import record

#: What a module of soak tests is marked with: a test has no end but its own.
MARKS = [pytest.mark.soak, pytest.mark.timeout(0)]
SIZE = float(os.environ.get("FAULTSIM_SOAK", "1"))


def scaled(count, least=1):
    """A number of runs, kills or files, as long as the soak tests are."""
    return max(least, round(count * SIZE))


def keep(kind, what, numbers, test):
    """Keep the numbers of a soak test, with the command that repeats it."""
    command = f"pytest -m soak tests/soak/{test}"
    record(kind, "trouble", what, numbers, command if SIZE == 1 else f"FAULTSIM_SOAK={SIZE:g} {command}")


def compiled(source, library, *options):
    """Compile a file of C to a library that is preloaded; skips where there is no compiler."""
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    command = [*compiler, "-O1", "-Wall", "-Werror", "-shared", "-fPIC", *options, "-o", library, source]
    try:
        subprocess.run(command, check=True)
    except FileNotFoundError:
        pytest.skip(f"no C compiler {compiler[0]}")
    return library
