"""Change the program at random places, one at a time, and count how often its quick tests notice.

    python tests/verification/mutants.py [-n 200] [--seed 0] [--only PART] [--minutes M]

Run it in a checkout of its own, built in place and without changes that are not committed: files are changed, built
and put back.  A mutant is one comparison, operator, number or condition of the core or of the Python above it that is
another, or one statement that is left out.  The tests that concern it are those of its folder (`TESTS`).  Printed are
the share that was killed, and those that survived, each with file, line and text: either a test is missing, or the two
mean the same.  A mutant that does not build counts for nothing.
"""

import argparse
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
#: The soonest to notice what a run gives.
DIGESTS = "tests/verification/test_digests.py"
ENGINES = ["tests/core/test_engine.py", "tests/verification/test_third_program.py"]
MOVING = ["tests/core/test_rescheduling.py", "tests/core/test_rescheduling_spares.py"]
#: Beginning of a path below ``faultsim`` -> tests, first those that are done soon; the longest beginning counts.
TESTS = {
    "_core/fars": [*MOVING, "tests/kernels/test_knapsack.py"],
    "_core/faults": [
        *MOVING, "tests/reference/test_reference_failures.py", "tests/verification/test_third_failures.py",
    ],
    "_core/checkpointing": [
        "tests/reference/test_reference_checkpointing.py", *MOVING, "tests/verification/test_third_failures.py",
    ],
    "_core/recovery": ["tests/reference/test_reference_failures.py", "tests/verification/test_third_failures.py"],
    "_core/migration": ["tests/reference/test_reference_migration.py", "tests/core/test_bounds.py"],
    "_core/placement": [
        "tests/core/test_choose.py", "tests/core/test_curve_best_fit.py", "tests/core/test_most_cubic.py",
    ],
    "_core/scheduling": ["tests/core/test_profile.py", "tests/core/test_backfill.py", "tests/core/test_by_slope.py"],
    "_core/scheduling/expressions": ["tests/core/test_expressions.py"],
    "_core/torus": ["tests/kernels/test_partition.py", "tests/core/test_lines.py", "tests/core/test_balance.py"],
    "_core/containers": ["tests/kernels/test_event_queue.py", "tests/core/test_releases.py"],
    "_core/workflow": ["tests/reference/test_reference_workflow.py", "tests/core/test_workflow_engines.py"],
    "_core": [],
    "data": ["tests/data"],
    "readers": ["tests/readers"],
    "policies": ["tests/policies", "tests/simulation/test_foreseeing.py"],
    "simulation": ["tests/simulation/test_simulate.py", "tests/simulation/test_foreseeing.py"],
    "results": ["tests/results"],
    "sweep": ["tests/sweep/test_sweep.py", "tests/sweep/test_sweep_statistics.py"],
    "synthetic": ["tests/synthetic"],
}  # fmt: skip
#: A pattern, and what may stand in its place.
SWAPS = {
    r" < ": [" <= ", " > "], r" <= ": [" < "], r" > ": [" >= ", " < "], r" >= ": [" > "], r" == ": [" != "],
    r" != ": [" == "], r" \+ ": [" - "], r" - ": [" + "], r" \* ": [" + "], r" / ": [" * "], r" // ": [" * "],
    r" \+= ": [" -= "], r" -= ": [" += "], r" and ": [" or "], r" or ": [" and "], r"\bnot ": [""],
    r"\bTrue\b": ["False"], r"\bFalse\b": ["True"],
    r"(?<![\w.\"'])0(?![\w.x])": ["1"], r"(?<![\w.\"'])1(?![\w.x])": ["0"],
}  # fmt: skip
#: Lines that say nothing while the program runs.
SILENT = re.compile(
    r"\s*(#|@|cdef (class|struct|enum|inline|extern)|c?import|from|def |class |raise|ctypedef|cimport|\"|\))"
)
DROPPED = re.compile(r"(\s+)(\w[\w.\[\]]* [+\-|&]?= .*|[\w.]+\(.*\))$")


#: What pytest returns where it found none to run.
NO_TESTS = 5


class Mutant(NamedTuple):
    """One line that is another."""

    file: Path
    line: int
    before: str
    after: str

    def __str__(self) -> str:
        path = self.file.relative_to(ROOT)
        return f"{path}:{self.line + 1}\n    - {self.before.strip()}\n    + {self.after.strip()}"


def code_lines(text: str) -> list[int]:
    """Numbers of the lines that do something: none of a docstring, a comment or a declaration."""
    found, quoted = [], False
    for number, line in enumerate(text.splitlines()):
        marks = line.count('"""')
        if not quoted and not marks and line.strip() and not SILENT.match(line):
            found.append(number)
        quoted ^= marks % 2 == 1
    return found


def mutants_of(file: Path) -> list[Mutant]:
    text = file.read_text()
    lines, found = text.splitlines(), []
    for number in code_lines(text):
        line = lines[number]
        code = re.sub(r"\s{2,}#.*", "", line)
        for pattern, others in SWAPS.items():
            for match in re.finditer(pattern, code):
                found += [Mutant(file, number, line, line[: match.start()] + o + line[match.end() :]) for o in others]
        if (match := DROPPED.match(code)) and code.count("(") == code.count(")"):
            found.append(Mutant(file, number, line, match[1] + "pass"))
    return found


def concerning(file: Path) -> list[str]:
    path = file.relative_to(ROOT / "faultsim").as_posix()
    tests = TESTS[max((begin for begin in TESTS if path.startswith(begin)), key=len)]
    if not path.startswith(("_core", "simulation", "policies")):
        return tests
    more = [] if path.startswith("_core/workflow") or not path.startswith("_core") else ENGINES
    return [DIGESTS, *tests, *(test for test in more if test not in tests)]


def run(command: list[str], seconds: float) -> int | None:
    """Its return code; None if it took too long, which a loop without an end does."""
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise


def build() -> bool:
    return run([sys.executable, "setup.py", "-q", "build_ext", "--inplace"], 1200) == 0


def passes(test: str, seconds: float) -> bool:
    """Whether tests pass, if there are any."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", test]
    return run(command, seconds) in (0, NO_TESTS)


def verdict(mutant: Mutant, seconds: float) -> str:
    """ "killed", "survived" or "not built"; the file is what it was afterwards."""
    text, compiled = mutant.file.read_text(), mutant.file.suffix == ".pyx"
    lines = text.splitlines(keepends=True)
    lines[mutant.line] = mutant.after + "\n"
    try:
        mutant.file.write_text("".join(lines))
        if compiled and not build():
            return "not built"
        return "survived" if all(passes(test, seconds) for test in concerning(mutant.file)) else "killed"
    finally:
        mutant.file.write_text(text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=200, help="how many mutants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="of files whose path holds this")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no mutant after these")
    parser.add_argument("--seconds", type=float, default=300, help="for a file of tests, before it counts as killed")
    given = parser.parse_args()
    if subprocess.run(["git", "diff", "--quiet", "--", "faultsim"], cwd=ROOT, check=False).returncode:
        parser.error("faultsim has changes that are not committed")
    begins = tuple(f"faultsim/{begin}" for begin in TESTS)
    files = [file for suffix in ("py", "pyx") for file in sorted(ROOT.glob(f"faultsim/**/*.{suffix}"))]
    files = [file for file in files if file.relative_to(ROOT).as_posix().startswith(begins) and given.only in str(file)]
    pool = [mutant for file in files for mutant in mutants_of(file)]
    chosen = random.Random(given.seed).sample(pool, min(given.n, len(pool)))
    print(f"{len(chosen):,} of {len(pool):,} mutants in {len(files):,} files", flush=True)
    for test in sorted({test for mutant in chosen for test in concerning(mutant.file)}):
        if not passes(test, given.seconds):  # else all mutants would be killed by it
            parser.error(f"{test} fails, or takes too long, before anything is changed")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the file that is changed is put back
    count, survivors, begin = Counter(), [], time.monotonic()
    for number, mutant in enumerate(chosen, 1):
        if time.monotonic() - begin > 60 * given.minutes:
            break
        said = verdict(mutant, given.seconds)
        count[said] += 1
        survivors += [mutant] if said == "survived" else []
        print(f"{number} {said}: {mutant}", flush=True)
    build()
    tried = count["killed"] + count["survived"]
    print(f"\n{count['killed']} of {tried} killed ({count['killed'] / max(tried, 1):.0%}); survivors:")
    print("\n".join(map(str, survivors)) or "none")
    keep(count, shlex.join(["python", "tests/verification/mutants.py", *sys.argv[1:]]))
    return 0


def keep(count: Counter[str], command: str) -> None:
    """Keep the numbers, for the page on testing, where that is asked for."""
    sys.path.append(str(ROOT / "tests"))
    from helpers.counts import record

    record(
        "mutants", "tests", "The program is changed at random places, one at a time, and its quick tests are run.",
        {"mutants": count["killed"] + count["survived"], "noticed": count["killed"], "survived": count["survived"]},
        command,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
