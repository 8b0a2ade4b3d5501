"""Compare the speed of two versions of faultsim, for everything that RESULTS.md measures, in one run.

    python benchmarks/compare_versions.py --old PYTHON [CHECKOUT] --new PYTHON [CHECKOUT] [--write FILE]
    python benchmarks/compare_versions.py ... --only '^engine|FCFS' --seconds 2
    python benchmarks/compare_versions.py ... --callgrind

A version is an interpreter that has it installed, or an interpreter and a built checkout.  The rows are those of
`compare_rows.py`; one process for each version serves the rows of a section, and the two take turns, old new new old,
in many short samples, so that what else the machine does meets both alike.  Disturbances last for some tenths of a
second, so a section is gone through several times, in two sessions with processes of their own, whose memory lies
elsewhere.  A sample is CPU time of the whole process; memory and import time come from fresh processes, also in turns.
Where times are taken, the C library keeps memory that was freed: whether it gives some back after a run, and the next
has to fault it in again (up to a tenth of the time), follows from what else the process did, not from the version.  For
the same reason a short call is made once untimed in each sample: before it, the other version had the caches.

For every row: the least and the median of both versions; the ratio of the leasts, of the lower quartiles, and the
median ratio of samples taken one after the other, with the middle half of those.  A row is "unsure" if the ratio of the
leasts is above the limit, and "slower" if that of the quartiles is, too.  Rows beyond the limit, in either direction,
are measured again in new processes while there is time, so give a busy machine more --minutes.  Before a row is timed,
both must give the same answer.

With --callgrind, instructions are counted by valgrind instead of seconds, and no other program can disturb that: those
of one run less those of an empty one.  Ratios are good to some thousandths, but to 4 % for sweeps, whose threads and
database never do the same twice.  It takes fifty times as long, so without --only it counts a selection.
"""

import argparse
import atexit
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

ROWS = Path(__file__).with_name("compare_rows.py")
SECTIONS = (
    *("engine", "failures", "torus_failures", "balance", "decisions", "partitions", "fars", "workflows", "sweeps"),
    *("reading", "kernels", "memory", "looking"),
)
#: Seconds that a sample should last at least, and that a call takes whose first one tells how long; least and most
#: samples of a row in a session, for each version; how often a session comes back to a row; sessions of a row at most.
SAMPLE, LONG, FEWEST, MOST, VISITS, SESSIONS = 0.002, 0.02, 3, 30, 3, 8
SLOWER = 1.02
#: Variables of the GNU C library: it gives no memory back until 256 MB are free, and maps only blocks above 32 MB anew.
KEEP = {"MALLOC_TRIM_THRESHOLD_": str(2**28), "MALLOC_MMAP_THRESHOLD_": str(2**25)}
SELECTED = (
    r"^engine: (flat, (?!.*reference)|500 jobs|1,280 nodes|4x4x8)|^failures: SDSC.*(EASY|conservative, [fn])"
    r"|^torus_failures: .*(EASY|Balancing)|^balance: EASY, actual|^decisions: .* on 8x8x8, (1|20) f"
    r"|^partitions: (largest|all of \d+), 8x8x8.*bitmap|^partitions: place .* 8x8x8"
    r"|^fars: (SUL-D|EASY)|^workflows: 5 |^reading: (NASA|20,)|^kernels: "
)


@cache
def bytecode() -> str:
    """A folder for the bytecode of both versions, which is gone with this process."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return folder.name


@dataclass
class Version:
    """An interpreter, and a checkout for its path."""

    name: str
    python: str
    checkout: Path | None = None

    def environment(self, section: str) -> dict[str, str]:
        found = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        found |= {} if section == "memory" else KEEP
        found.pop("PYTHONDONTWRITEBYTECODE", None)
        # The same order of sets and dicts in both; and bytecode of both, as of an installed package.
        found |= {"PYTHONHASHSEED": "0", "PYTHONPYCACHEPREFIX": bytecode(), "MPLBACKEND": "agg"}
        return found | ({"PYTHONPATH": str(self.checkout)} if self.checkout else {})


class Worker:
    """A process that serves the rows of a section."""

    def __init__(self, version: Version, section: str, wanted: str, prefix: Sequence[str] = ()) -> None:
        self.version = version
        self.process = subprocess.Popen(
            [*prefix, version.python, str(ROWS), section, wanted],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=version.environment(section),
            cwd=tempfile.gettempdir(),
        )
        self.hello = self._read()
        if version.checkout and not Path(self.hello["package"]).is_relative_to(version.checkout):
            raise SystemExit(
                f"{version.name}: {version.python} imports {self.hello['package']}, not {version.checkout}"
            )

    def _read(self) -> dict[str, Any]:
        line = self.process.stdout.readline() if self.process.stdout else ""
        if not line:
            raise SystemExit(f"{self.version.name}: the process ended with {self.process.wait()}; see above")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def ask(self, row: str, loops: int) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"row": row, "loops": loops}) + "\n")
        self.process.stdin.flush()
        return self._read()

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


@dataclass
class Row:
    """Samples of both versions, in pairs taken one after the other."""

    name: str
    unit: str
    old: list[float] = field(default_factory=list)
    new: list[float] = field(default_factory=list)
    note: str = ""

    @property
    def least(self) -> float:
        return min(self.new) / min(self.old)

    @property
    def pairs(self) -> list[float]:
        return [new / old for old, new in zip(self.old, self.new, strict=True)]

    @property
    def quarter(self) -> float:
        """Ratio of the lower quartiles: that of the leasts, with less of it left to one sample."""
        new, old = (statistics.quantiles(values, n=4, method="inclusive")[0] for values in (self.new, self.old))
        return new / old

    def verdict(self, limit: float) -> str:
        if self.note or self.least <= limit:
            return self.note or ("faster" if max(self.least, self.quarter) < 2 - limit else "")
        return SLOW if self.quarter > limit else UNSURE

    def plan(self, old: Worker, new: Worker, seconds: float) -> tuple[int, int]:
        """Run it once in both, compare what they answer; (calls a sample, samples) for about so many seconds."""
        first, again = old.ask(self.name, 0), new.ask(self.name, 0)
        if first.get("same") != again.get("same"):
            self.note = OTHER
        if self.unit != "s":  # a fresh process each time
            return 1, 2
        once = max(1e-7, min(first["value"], again["value"]))
        if once < LONG:  # the first call may have taken much longer than the next
            once = max(1e-7, min(worker.ask(self.name, 1)["value"] for worker in (old, new)))
        loops = max(1, math.ceil(SAMPLE / once))
        return loops, max(FEWEST if once < 10 * LONG else 2, min(MOST, int(seconds / (2 * loops * once))))

    def sample(self, turns: Sequence[Worker], loops: int) -> None:
        for worker in turns:
            values = self.old if worker.version.name == "old" else self.new
            values.append(worker.ask(self.name, loops)["value"])

    def cells(self, limit: float) -> list[str]:
        low, middle, high = statistics.quantiles(self.pairs, n=4, method="inclusive")
        return [
            self.name,
            *(amount(find(values), self.unit) for find in (min, statistics.median) for values in (self.old, self.new)),
            f"{self.least:.3f}",
            f"{self.quarter:.3f}",
            f"{middle:.3f}",
            f"{low:.3f} - {high:.3f}",
            str(len(self.old)),
            self.verdict(limit),
        ]


HEAD = ("row", "old, least", "new, least", "old, median", "new, median", "new / old, least", "quartile")
HEAD += ("median of pairs", "middle half", "samples", "")
SLOW, UNSURE, OTHER = "**slower**", "unsure", "**another answer**"


def amount(value: float, unit: str) -> str:
    if unit == "MB":
        return f"{value:,.1f} MB"
    for factor, name in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if value * factor >= 1 or name == "us":
            return f"{value * factor:.4g} {name}"
    raise AssertionError


@dataclass
class Measured:
    """The rows of a section so far, and why others are missing."""

    rows: dict[str, Row] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    def doubtful(self, limit: float) -> list[str]:
        """Rows to measure again: faster ones too, or luck would count on one side only."""
        return [name for name, row in self.rows.items() if not 2 - limit <= row.least <= limit]

    def session(self, versions: Sequence[Version], section: str, wanted: str, seconds: float) -> None:
        """Add samples from a new pair of processes: for each row some, and that `VISITS` times over."""
        old, new = (Worker(version, section, wanted) for version in versions)
        for worker, other in ((old, new), (new, old)):
            self.skipped |= worker.hello["skipped"]
            only = worker.hello["rows"].keys() - other.hello["rows"].keys() - other.hello["skipped"].keys()
            self.skipped |= dict.fromkeys(only, f"only in the {worker.version.name} version")
        plan = {}
        for name, unit in old.hello["rows"].items():
            if name in new.hello["rows"]:
                row = self.rows.setdefault(name, Row(name, unit))
                plan[name] = row.plan(old, new, seconds)
        for visit in range(VISITS):
            for name, (loops, count) in plan.items():
                for number in range(count * visit // VISITS, count * (visit + 1) // VISITS):
                    self.rows[name].sample((old, new) if number % 2 == 0 else (new, old), loops)
        old.close()
        new.close()


# -- instructions


class Counter(Worker):
    """The same under callgrind, which counts nothing until `begin`."""

    def __init__(self, version: Version, section: str, wanted: str, folder: Path) -> None:
        self.out = folder / version.name
        valgrind = ["valgrind", "--tool=callgrind", "-q", "--instr-atstart=no", f"--callgrind-out-file={self.out}"]
        super().__init__(version, section, wanted, valgrind)
        self.dumps = 0

    def control(self, *words: str) -> None:
        subprocess.run(["callgrind_control", *words, str(self.process.pid)], check=True, capture_output=True)

    def begin(self) -> None:
        for row in self.hello["rows"]:
            self.ask(row, 0)
        self.control("--instr=on")
        self.count("")  # the first count has what comes before it

    def count(self, row: str) -> int:
        """Instructions of one run, and of the request for it."""
        self.ask(row, 1)
        self.control("--dump")
        self.dumps += 1
        match = re.search(r"^totals: (\d+)", self.out.with_suffix(f".{self.dumps}").read_text(encoding="utf-8"), re.M)
        assert match is not None
        return int(match[1])


def counted(versions: Sequence[Version], section: str, wanted: str) -> dict[str, list[int]]:
    """Row -> instructions of one run, of the old version and of the new one."""
    plain = [Worker(version, section, wanted) for version in versions]
    names = [{name for name, unit in worker.hello["rows"].items() if unit == "s"} for worker in plain]
    for worker in plain:
        worker.close()
    found: dict[str, list[int]] = {name: [] for name in plain[0].hello["rows"] if all(name in each for each in names)}
    if not found:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        for version in versions:
            worker = Counter(version, section, f"^{section}: ({'|'.join(map(re.escape, found))})$", Path(folder))
            worker.begin()
            empty = worker.count("")
            for name, counts in found.items():
                counts.append(worker.count(name) - empty)
            worker.close()
    return found


# -- all


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, ["---"] * len(head), *rows))


def compare(versions: Sequence[Version], options: argparse.Namespace, tell: Callable[[str], None]) -> None:
    """Time every section, then again what is in doubt while there is time; print all."""
    began, limit = time.perf_counter(), options.limit
    found = {section: Measured() for section in options.sections}
    for session in range(SESSIONS):
        for section, measured in found.items():
            doubtful = measured.doubtful(limit)
            late = time.perf_counter() - began > 60 * options.minutes
            wanted = options.only if session < 2 else f"^{section}: ({'|'.join(map(re.escape, doubtful))})$"
            if (session < 2 or doubtful) and (session == 0 or not late):
                measured.session(versions, section, wanted, options.seconds * (1 if session < 2 else 2))
                print(f"session {session + 1}: {section}, {time.perf_counter() - began:.0f} s", file=sys.stderr)
    rows = [(section, row) for section, measured in found.items() for row in measured.rows.values()]
    if not rows:
        raise SystemExit(f"no row matches {options.only!r}")
    for section, measured in found.items():
        if measured.rows:
            tell(f"### {section}\n\n{table(HEAD, [row.cells(limit) for row in measured.rows.values()])}\n")
        for name, why in measured.skipped.items():
            tell(f"Not measured: {section}, {name}: {why}.\n")
    slow = [f"- {section}: {row.name} ({row.least:.3f})" for section, row in rows if "**" in row.verdict(limit)]
    mean = math.exp(statistics.fmean(math.log(row.least) for _, row in rows))
    unsure = sum(row.verdict(limit) == UNSURE for _, row in rows)
    tell(
        f"{len(rows)} rows in {time.perf_counter() - began:.0f} s: new / old is {mean:.3f} in the geometric mean; "
        f"{len(slow)} rows slower than {limit} or with another answer, {unsure} unsure.\n"
    )
    tell("\n".join(slow))


def count(versions: Sequence[Version], options: argparse.Namespace, tell: Callable[[str], None]) -> None:
    """The same by instructions."""
    above = []
    for section in options.sections:
        rows = []
        for name, (old, new) in counted(versions, section, options.only).items():
            more = "**more**" if new > options.limit * old else ""
            rows.append([name, f"{old:,}", f"{new:,}", f"{new / old:.4f}", more])
            above += [f"- {section}: {name} ({new / old:.4f})"] if more else []
        if rows:
            tell(f"### {section}, instructions\n\n{table(('row', 'old', 'new', 'new / old', ''), rows)}\n")
    tell("\n".join([f"{len(above)} rows take more than {options.limit} times the instructions.\n", *above]))


def version_of(name: str, words: list[str]) -> Version:
    if len(words) > 2:
        raise SystemExit(f"--{name} takes an interpreter and, if it is not installed there, a built checkout")
    # Not resolved: a virtual environment is known by the path of its interpreter's link.
    return Version(name, os.path.abspath(words[0]), Path(words[1]).resolve() if words[1:] else None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("old", "new"):
        parser.add_argument(f"--{name}", nargs="+", required=True, metavar="PATH", help="interpreter [checkout]")
    parser.add_argument("--only", metavar="REGEX", help='rows to measure, as "section: row"')
    parser.add_argument(
        "--sections", nargs="+", choices=SECTIONS, default=SECTIONS, metavar="SECTION", help=" ".join(SECTIONS)
    )
    parser.add_argument(
        "--seconds", type=float, default=0.1, help="CPU seconds for a row in a session, both versions together"
    )
    parser.add_argument("--minutes", type=float, default=6.0, help="begin nothing new after so long")
    parser.add_argument("--limit", type=float, default=SLOWER, help="ratio above which a row is slower")
    parser.add_argument("--cpu", type=int, help="keep both processes on this processor")
    parser.add_argument("--callgrind", action="store_true", help="count instructions instead of seconds")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write what is printed to a Markdown file, too")
    options = parser.parse_args()
    options.only = options.only or (SELECTED if options.callgrind else ".")
    if options.cpu is not None:
        os.sched_setaffinity(0, {options.cpu})
    versions = version_of("old", options.old), version_of("new", options.new)
    lines: list[str] = []

    def tell(text: str) -> None:
        lines.append(text)
        print(text, flush=True)

    try:
        (count if options.callgrind else compare)(versions, options, tell)
    finally:
        if options.write:
            options.write.write_text("\n".join(lines).strip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
