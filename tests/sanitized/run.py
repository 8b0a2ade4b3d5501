"""The core under the compiler's sanitizers: memory and undefined behaviour, with all assertions.

    python tests/sanitized/run.py [FOLDER] [-n 2000] [--kinds 0] [--built]

It is built in FOLDER (a temporary one if none is named), where signed overflows do not wrap around.  Then all that
compiled modules do (tests/starving/cases.py), the tests of kernels and engine, and N random runs that are verified
after every event, copied on the way, and give the digests that are kept; then random runs of other kinds (kinds.py):
decisions from outside, compiled policies, environments, servers, workflows with failures.  The first finding ends it.
With ``-n 0`` there are only these.
Where the compiler has no sanitizers, it says so and ends well.
"""

import argparse
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from helpers.counts import record  # noqa: E402

SANITIZE = "address,undefined"
#: What is translated anew in the folder; `.c` files that are newer than their sources are taken as they are.
NEEDED = ("faultsim", "tests", "benchmarks", "conftest.py", "setup.py", "pyproject.toml", "README.md", "LICENSE")
TESTS = (
    "tests/kernels", "tests/core/test_backfill.py", "tests/core/test_conservative_many.py", "tests/core/test_lines.py",
    "tests/core/test_number_lines.py", "tests/core/test_pod_engines.py", "tests/core/test_pod_machine.py",
    "tests/core/test_refused_sizes.py", "tests/core/test_releases.py", "tests/core/test_selection.py",
    "tests/core/test_set_up.py", "tests/core/test_workflow_engines.py", "tests/policies/test_preemptive.py",
    "tests/simulation/test_decision_fuzz.py", "tests/simulation/test_live_fuzz.py",
)  # fmt: skip
#: Files of digests, whose cases are the random runs, and how many eighths of these come from each.
EIGHTHS = {"random": 6, "pods": 1, "preemption": 1}
#: What kinds.py runs; as many of each.
KINDS = ("decisions", "live", "compiled", "environments", "servers", "workflows")
#: What found.c does wrong, and the word for it.
MISTAKES = {"past_the_end(8)": "heap-buffer-overflow", "beyond_the_largest(2)": "signed integer overflow"}
CC = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
FLAGS = [f"-fsanitize={SANITIZE}", "-fno-sanitize-recover=all", "-fno-wrapv", "-O1", "-g1"]


def environment(folder: Path) -> dict[str, str]:
    """Of a Python process that imports what is built there; its own memory is not looked at when it ends."""
    said = subprocess.run([*CC, "-print-file-name=libasan.so"], capture_output=True, text=True, check=True).stdout
    return os.environ | {
        "PYTHONPATH": f"{folder}{os.pathsep}{folder / 'tests'}",
        "LD_PRELOAD": said.strip(),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
    }


def why_not(folder: Path) -> str:
    """Why there are no sanitizers; "" if the compiler has them."""
    library = folder / "found.so"
    command = [*CC, *FLAGS, "-shared", "-fPIC", "-o", library, ROOT / "tests" / "sanitized" / "found.c"]
    try:
        built = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        return f"no compiler: {error}"
    if built.returncode:
        return next(iter(built.stderr.splitlines()), f"{CC[0]} ends with {built.returncode}")
    return ""


def unseen(folder: Path) -> str:
    """The mistake made on purpose that is not found, and what was said instead; "" if all are."""
    library = folder / "found.so"
    for call, word in MISTAKES.items():
        code = f"import ctypes; ctypes.CDLL({str(library)!r}).{call}"
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment(folder), capture_output=True, text=True, check=False
        )
        if not done.returncode or word not in done.stderr:
            return f"{word} is not found: {done.stderr[-300:].strip() or 'nothing is said'}"
    return ""


def build(folder: Path) -> None:
    for name in NEEDED:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("*.so", "__pycache__")
            shutil.copytree(ROOT / name, folder / name, ignore=ignored, dirs_exist_ok=True)
        else:
            shutil.copy2(ROOT / name, folder)
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
        cwd=folder,
        env=os.environ | {"FAULTSIM_SANITIZE": SANITIZE},
        stdout=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode:
        sys.exit(f"it cannot be built with {SANITIZE}")


def done(folder: Path, *arguments: object) -> str:
    """What a process prints whose core is the one built there; the end, with what it said, where it ends badly."""
    command = [sys.executable, *map(str, arguments)]
    given = {"cwd": folder, "env": environment(folder), "capture_output": True, "text": True}
    made = subprocess.run(command, check=False, **given)
    if made.returncode:
        raise RuntimeError(f"{shlex.join(command[1:])}\n{made.stdout[-2000:]}\n{made.stderr[-6000:]}")
    return made.stdout


def outside(folder: Path, work: list[tuple[object, ...]]) -> int:
    """Random runs of other kinds; the exit status."""
    try:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            said = list(pool.map(lambda arguments: done(folder, *arguments), work))
    except RuntimeError as error:
        print(error)
        return 1
    found = {kind: [0, 0, 0] for kind in KINDS}
    for arguments, text in zip(work, said, strict=True):
        numbers = map(int, text.split()[-3:])
        found[str(arguments[1])] = [old + new for old, new in zip(found[str(arguments[1])], numbers, strict=True)]
    runs, refused, acts = map(sum, zip(*found.values(), strict=True))
    print(f"no finding in {runs:,} runs of other kinds ({refused:,} refused or given up), {acts:,} acts and steps")
    record(
        "sanitizers-kinds", "trouble",
        "The same sanitizers over random runs of other kinds: decisions from outside, callers that own time, compiled "
        "policies, environments, servers and workflows with failures, on clusters, sites, tori and pods with spares "
        "and preemption.",
        {**{kind: numbers[0] for kind, numbers in found.items()}, "refused or given up": refused,
         "acts and steps": acts, "findings": 0},
        "python tests/sanitized/run.py -n 0 --kinds 10000",
    )  # fmt: skip
    return 0


def used() -> float:
    """Seconds of processors that children have used."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def main() -> int:
    """Say what was done, or what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("-n", type=int, default=2000, help="how many random runs")
    parser.add_argument("--kinds", type=int, default=0, help="how many random runs of other kinds")
    parser.add_argument("--built", action="store_true", help="FOLDER has been built by a run before")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        return checked(Path(given.folder or scratch).resolve(), given.n, given.kinds, given.built)


def checked(folder: Path, n: int, kinds: int, built_before: bool) -> int:
    """Build and run all of it there."""
    folder.mkdir(parents=True, exist_ok=True)
    if reason := why_not(folder):
        print(f"sanitizers: skipped: {reason}")
        return 0
    if reason := unseen(folder):
        print(f"sanitizers: {reason}")
        return 1
    if not built_before:
        build(folder)
    built = used()
    each = -(-kinds // len(KINDS))
    work: list[tuple[object, ...]] = [
        ("tests/sanitized/kinds.py", kind, first, min(first + 100, each))
        for kind in KINDS
        for first in range(0, each, 100)
    ]
    if kinds and (status := outside(folder, work)):
        return status
    if not n:
        return 0
    work = [
        ("tests/sanitized/stepped.py", file, first, min(first + 250, n * eighths // 8))
        for file, eighths in EIGHTHS.items()
        for first in range(0, n * eighths // 8, 250)
    ]
    work += [("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-n", "0", "--capture=sys", test) for test in TESTS]
    work += [("tests/sanitized/everything.py",)]
    try:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            said = list(pool.map(lambda arguments: done(folder, *arguments), work))
    except RuntimeError as error:
        print(error)
        return 1
    stepped = [map(int, text.split()) for arguments, text in zip(work, said, strict=True) if "stepped" in arguments[0]]
    runs, steps, copies, refused = map(sum, zip(*stepped, strict=True))
    tests = sum(int(found[1]) for text in said if (found := re.search(r"^(\d+) passed", text, re.MULTILINE)))
    cases = int(said[-1])
    print(f"no finding in {runs:,} runs ({refused} refused), {steps:,} steps verified, {copies:,} copies,")
    print(f"{tests:,} tests and {cases} fixed cases; {built:.0f} s to build and {used() - built:.0f} s to run")
    record(
        "sanitizers", "trouble",
        "Address and undefined-behaviour sanitizers, assertions on, overflows not wrapping: kernels, engine, and "
        "random runs verified after each event and copied on the way.",
        {"random runs": runs, "steps verified": steps, "copies": copies, "tests": tests, "fixed cases": cases,
         "findings": 0},
        "python tests/sanitized/run.py",
    )  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
