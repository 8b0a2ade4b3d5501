"""Measure a build from nothing and write the section "Building" of benchmarks/RESULTS.md.

    python benchmarks/run_building.py [--only PART ...] [--dry]

What is tracked of this checkout, with what is changed in it, is copied to a temporary folder and built there, without a
cache of compilations.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from results import run_parts, table

CHECKOUT = Path(__file__).resolve().parents[1]

HEAD = """
A build of all extension modules from nothing, on all cores.  CPU time, of all processes, includes the system's.
"""

#: In this order, by the same command.
STAGES = ("from nothing", "again, nothing changed")


def copied(folder: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (CHECKOUT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(CHECKOUT / name, folder / name)


def without_cache() -> dict[str, str]:
    """The environment, with the compiler itself in place of a cache in front of it."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("FAULTSIM_")}
    if "CC" in environment:
        environment["CC"] = re.sub(r"^\S*ccache\s+", "", environment["CC"])
    return {**environment, "CCACHE_DISABLE": "1"}


def stages() -> tuple[str, str]:
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copied(folder)
        environment = without_cache() | {"PYTHONPATH": str(folder)}
        for stage in STAGES:
            before, began = os.times(), time.perf_counter()
            subprocess.run(
                [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"],
                cwd=folder,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=True,
            )
            took, after = time.perf_counter() - began, os.times()
            cpu = after.children_user + after.children_system - before.children_user - before.children_system
            rows.append({"stage": stage, "CPU, s": cpu, "wall, s": took})
        modules = len([*folder.glob("faultsim/**/*.so"), *folder.glob("faultsim/**/*.pyd")])
        written = sum(path.stat().st_size for path in folder.rglob("*.c")) / 1e6
    return "From nothing", table(rows) + f"\n\n{modules} extension modules, {written:.0f} MB of C."


if __name__ == "__main__":
    run_parts("building", "Building", HEAD, {"stages": stages}, __doc__)
