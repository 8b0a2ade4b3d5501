"""Policies that are compiled elsewhere: the package and the library of tests/compiled_policies, built by the tests."""

import ctypes
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import faultsim as fs
from helpers.scripts import CHECKOUT, python

SOURCES = CHECKOUT / "tests" / "compiled_policies"


def build_package(folder: Path, flags: str = "-O1") -> Path:
    """The package, built in a copy of its folder against the faultsim that is tested; where it can be imported."""
    there = folder / "compiled_policies"
    shutil.copytree(SOURCES, there, ignore=shutil.ignore_patterns("*.c", "*.so", "build", "__pycache__"))
    env = {**os.environ, "PYTHONPATH": str(CHECKOUT), "OUTSIDE_CFLAGS": flags}
    done = python("setup.py", "-q", "build_ext", "--inplace", cwd=there, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return there


def build_library(folder: Path, source: str = "greedy.c", flags: str = "-O1") -> ctypes.CDLL:
    """A file of C, compiled by the compiler of this Python."""
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    made = folder / f"{Path(source).stem}.so"
    command = [*compiler, *flags.split(), "-shared", "-fPIC", "-I", fs.get_include(), "-o", made, SOURCES / source]
    try:
        subprocess.run(command, check=True, stderr=sys.stderr)
    except FileNotFoundError:
        pytest.skip(f"no C compiler {compiler[0]}")
    return ctypes.CDLL(str(made))
