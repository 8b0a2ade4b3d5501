"""How much of faultsim the quick tests run: lines of Python by coverage.py, blocks of the compiled core by gcov.

A copy of the checkout is built with FAULTSIM_GCOV, its tests are run there, and a table by package is printed, and
written with ``--csv`` for the documentation:

    pip install pytest-cov        # and gcov, which comes with gcc
    python tests/verification/line_coverage.py --csv docs/background/coverage.csv

It takes about twenty minutes of CPU. Random tests draw 15 examples instead of 60, and ``--every 5`` runs every fifth
test only, chosen by a hash of its name: what is printed then is less than what all tests run, never more.
"""

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
#: Loaded by pytest, and so by its workers.
PLUGIN = """
import os, zlib
def pytest_collection_modifyitems(config, items):
    every = int(os.environ["EVERY"])
    kept = [item for item in items if zlib.crc32(item.nodeid.encode()) % every == 0]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept
"""
SETTINGS = "[run]\nsource = faultsim\nconcurrency = multiprocessing, thread\npatch = subprocess\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, metavar="K", help="run every K-th test (default: all)")
    parser.add_argument(
        "--workers",
        default="0",
        metavar="N",
        help="of pytest; only 0, the default, counts the core: workers end without writing counts",
    )
    parser.add_argument("--built", type=Path, metavar="DIR", help="a copy that is already built with FAULTSIM_GCOV")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write the table there")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.built or built(Path(scratch) / "faultsim-counted")
        ended = run_tests(folder, Path(scratch), args.every, args.workers)
        rows = [*python_rows(Path(scratch) / "python.json"), *core_rows(folder)]
    for row in rows:
        print(f"{row[0]:<44} {row[1]:>7,} {row[2]:>7,} run {row[3]:>6} %")
    if args.csv:
        with open(args.csv, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([["part", "lines", "run", "share (%)"], *rows])
    return ended


def built(folder: Path) -> Path:
    """A copy of what git tracks, with its core built to be counted."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(CHECKOUT / name, folder / name)
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    subprocess.run(command, cwd=folder, env={**os.environ, "FAULTSIM_GCOV": "1"}, check=True)
    return folder


def run_tests(folder: Path, scratch: Path, every: int, workers: str) -> int:
    """The quick tests of a copy; what they run of the core stays there, beside its object files."""
    (scratch / "every_kth.py").write_text(PLUGIN, encoding="utf-8")
    (scratch / "settings").write_text(SETTINGS, encoding="utf-8")
    path = os.pathsep.join([str(folder), str(scratch)])
    environment = {**os.environ, "PYTHONPATH": path, "EVERY": str(every), "COVERAGE_FILE": str(scratch / "counted")}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--everything",
        "-q",
        "-n",
        workers,
        "-p",
        "every_kth",
        "-p",
        "no:cacheprovider",
    ]
    command += ["--hypothesis-profile=few", "--cov", f"--cov-config={scratch / 'settings'}"]
    command += [f"--cov-report=json:{scratch / 'python.json'}"]
    return subprocess.run(command, cwd=folder, env=environment, check=False).returncode


def python_rows(report: Path) -> list[tuple[str, int, int, str]]:
    """By package, then of all."""
    lines, run = Counter[str](), Counter[str]()
    for name, file in json.loads(report.read_text(encoding="utf-8"))["files"].items():
        parts = Path(name).parts
        part = "/".join(parts[parts.index("faultsim") :][:-1][:2])
        lines[part] += file["summary"]["num_statements"]
        run[part] += file["summary"]["covered_lines"]
    rows = [(part, lines[part], run[part]) for part in sorted(lines)]
    return [*map(shared, rows), shared(("all of Python", lines.total(), run.total()))]


def core_rows(folder: Path) -> list[tuple[str, int, int, str]]:
    """Functions of the core, and their basic blocks: C between two jumps, of which a line of Cython has several.

    What Cython adds to them, such as the wrappers of Python's calls, is left out.
    """
    functions: dict[str, bool] = {}
    blocks: dict[str, tuple[int, int]] = {}
    for notes in sorted(folder.joinpath("build").rglob("*.gcno")):
        command = ["gcov", "--stdout", "--json-format", str(notes)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        for file in json.loads(done.stdout)["files"]:
            for found in file["functions"]:
                if found["name"].startswith("__pyx_f_8faultsim_5_core_"):
                    name = found["name"]  # of an inline function in several modules
                    functions[name] = functions.get(name, False) or found["execution_count"] > 0
                    most = max(found["blocks_executed"], blocks.get(name, (0, 0))[1])
                    blocks[name] = found["blocks"], most
    total, run = (sum(each) for each in zip(*blocks.values(), strict=True))
    return [
        shared(("the compiled core, functions", len(functions), sum(functions.values()))),
        shared(("the compiled core, basic blocks", total, run)),
    ]


def shared(row: tuple[str, int, int]) -> tuple[str, int, int, str]:
    """With the share of the lines that were run, in percent."""
    return (*row, f"{100 * row[2] / max(row[1], 1):.1f}")


if __name__ == "__main__":
    sys.exit(main())
