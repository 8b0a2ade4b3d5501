"""Digests of what runs give, kept in the folder ``golden``, to show that a change of the program moved nothing.

    python tests/verification/digests.py check [FILE ...] [-n N]    compare with what is kept; all files, or the first N
    python tests/verification/digests.py write [FILE ...]           keep what this version gives
    python tests/verification/digests.py show FILE CASE             a case and its result in full, to compare by diff
    python tests/verification/digests.py table [FILE]               how often everything occurs in the random cases
    python tests/verification/digests.py revision [--replace]       enter the digests that are kept in golden/revisions

A file holds one kind of cases, one a line: its name (the seed of a random case), a digest of what was drawn or read,
and digests of the jobs, of the sums (ledger, counters, metrics), of the events and of the allocations, ``-`` where
none were recorded; or the name of the error by which a combination is refused.  Only public names are used, so that
this runs on any version.  What is hashed is listed here: a column or metric that comes later does not count.

Digests that change belong with a new model revision, `faultsim.MODEL_REVISION`.  The table golden/revisions has a line
for each revision and file: the number of its cases, and a digest of them.  Lines are added, and none is changed; new
cases at the end of a file belong to the same revision.  `revision` refuses digests that have changed under their
revision; with ``--replace`` it enters them all the same, for a revision that is in no commit that others have.

A case whose inputs differ is skipped and counted, so that another file, NumPy or mathematical library does not fail.
Every random number is whole, so only the cases with WFP3 (pow) and UNICEF (log2) hang on that library.
"""

import argparse
import hashlib
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import digest_cases
import digest_dags
import digest_logs
import digest_machines
import digest_workflows
import numpy as np

import faultsim as fs

GOLDEN = Path(__file__).resolve().parent / "golden"
#: File -> how many seeds, or None where the cases are files of the folder of public logs.
FILES = {
    "random": 8000, "big_jobs": 500, "workflows": 1000, "logs": None, "dags": None, "rescheduling": 2000, "pods": 2000,
    "preemption": 1500, "shapes": 1000,
}  # fmt: skip
#: Of the random cases of jobs, those that are drawn elsewhere.
DRAWN = dict.fromkeys(("pods", "preemption", "shapes"), digest_machines.drawn)
PARTS = ("jobs", "sums", "events", "places")

COLUMNS = (
    "id", "submit", "size", "first_start", "start", "finish", "allocated", "runtime", "restarts", "lost_work",
    "checkpoint_time", "restart_time", "failure_wait", "moves", "backfilled", "wait", "response", "bounded_slowdown",
)  # fmt: skip
LEDGER = (
    "useful", "lost", "checkpoint", "restart", "migration", "start_delay", "growth", "held_for_repair", "down",
    "idle_no_demand", "idle_demand",
)  # fmt: skip
COUNTERS = (
    "migrations_attempted", "migrations_successful", "failures", "failures_hit", "checkpoints", "events", "passes",
)  # fmt: skip
METRICS = (
    "n_jobs", "makespan", "mean_wait", "mean_response", "mean_bounded_slowdown", "mean_slowdown", "capacity_utilized",
    "capacity_unused", "capacity_lost", "utilization", "throughput", "failures", "failures_hit", "service_unit_loss",
    "failed_jobs", "job_failure_rate", "failure_slowdown", "work_loss_ratio", "checkpoint_overhead_ratio",
    "migrations_attempted", "migrations_successful", "moves", "backfilled",
)  # fmt: skip
EVENTS = ("time", "kind", "job", "node")
BOXES = ("job", "begin", "end", "x", "y", "z", "a", "b", "c")
NODES = ("job", "begin", "end", "node_offsets", "nodes")

Tables = dict[str, list[tuple[str, Any]]]


def digest(columns: Iterable[tuple[str, Any]], length: int = 8) -> str:
    """Hash of named columns by content: integers and booleans as int64, other numbers as float64."""
    state = hashlib.blake2b(digest_size=length // 2)
    for name, values in sorted(columns, key=lambda column: column[0]):
        array = np.asarray(values)
        array = np.ascontiguousarray(array, dtype="<f8" if array.dtype.kind == "f" else "<i8")
        if array.dtype.kind == "f":
            array = np.where(np.isnan(array), np.nan, array)  # all NaN are one
        state.update(f"{name} {array.dtype.str} {array.shape};".encode())
        state.update(array.tobytes())
    return state.hexdigest()


def tables(result: fs.Result, looks: list[tuple[str, Any]] | None = None) -> Tables:
    """All that is hashed of a result, by part; `looks` is what was seen of it on the way."""
    sums = [(f"ledger {name}", result.ledger[name]) for name in LEDGER]
    if cut := result.ledger.get("cut_at_limit"):  # an account that came later; runs without it keep their digests
        sums.append(("ledger cut_at_limit", cut))
    sums += [(f"counter {name}", result.counters[name]) for name in COUNTERS]
    sums += [(f"metric {name}", float(result.metrics[name])) for name in METRICS]
    sums += [("span", result.span), ("dropped", sum(result.dropped.values()))]
    made: Tables = {"jobs": [(name, result.jobs[name]) for name in COLUMNS] + (looks or []), "sums": sums}
    if result.settings["record"]:
        held = BOXES if isinstance(result.machine, fs.Torus) else NODES
        made["events"] = [(name, result.events[name]) for name in EVENTS]
        made["places"] = [(name, result.allocations[name]) for name in held]
    return made


def line_of(made: Tables | fs.FaultsimError) -> str:
    if isinstance(made, fs.FaultsimError):
        return type(made).__name__
    return " ".join(digest(made[part]) if part in made else "-" for part in PARTS)


# -- running cases


class Made(NamedTuple):
    """A case that has run."""

    name: str
    inputs: str
    result: Any
    tables: Tables | fs.FaultsimError


def looked_at(case: digest_cases.Case) -> tuple[fs.Result, list[tuple[str, Any]]]:
    """The result of a case that is stopped, looked at, verified and copied on the way."""
    sim, seen, copied = case.simulation(), [], None
    for number, until in enumerate(case.looks):
        sim.run(until=until)
        sim.step()
        sim.verify()
        now = {"queue": sim.queue, "running": sim.running, "free": sim.free, "done": sim.n_done, "now": sim.now}
        seen += [(f"look {number} {name}", values) for name, values in now.items()]
        if case.fork and number == 1:
            copied = sim.copy()
    sim.run()
    if copied is None:
        return sim.result(), seen
    copied.run()
    mine, other = sim.result(), copied.result()
    if line_of(tables(mine)) != line_of(tables(other)):
        seen.append(("the copy went another way", 1))
    return other, seen


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns, or the error by which it refuses."""
    try:
        return call()
    except fs.FaultsimError as error:
        return error


def drawn_in(file: str) -> Callable[[int], digest_cases.Case]:
    """From a seed to the random case of jobs that has it in a file."""
    return partial(DRAWN.get(file, digest_cases.drawn), list(FILES).index(file), about=file)


def run_random(names: Iterable[str], file: str) -> Iterator[Made]:
    """The random cases of these seeds, some at a time on two threads."""
    seeds = iter(map(int, names))
    draw = drawn_in(file)
    while cases := [(seed, draw(seed)) for seed in islice(seeds, 100)]:
        made = [outcome(partial(looked_at, case) if case.looks else case.run) for _, case in cases]
        runs = [one for one in made if isinstance(one, fs.Run)]
        try:
            results = iter(fs.simulate_many(runs, threads=2))
        except fs.FaultsimError:  # few are refused as late as this
            results = iter([outcome(run.simulate) for run in runs])
        for (seed, case), one in zip(cases, made, strict=True):
            result = next(results) if isinstance(one, fs.Run) else one
            result, looks = result if isinstance(result, tuple) else (result, None)
            refused = isinstance(result, fs.FaultsimError)
            yield Made(str(seed), digest(case.inputs(), 6), result, result if refused else tables(result, looks))


def run_files(names: Iterable[str], file: str) -> Iterator[Made]:
    """The cases of public logs and workflows; those whose files are not here are left out."""
    read = digest_logs if file == "logs" else digest_dags
    for name in names:
        inputs = digest_logs.digest_of(read.files(name))
        if inputs is not None:
            result, columns = read.run(name)
            made = tables(result) if file == "logs" else digest_workflows.tables(result)
            made["jobs"] += [(f"read {key}", values) for key, values in columns.items()]
            yield Made(name, inputs, result, made)


def run_workflows(names: Iterable[str], file: str) -> Iterator[Made]:
    for name in names:
        case = digest_workflows.drawn(list(FILES).index(file), int(name))
        result = outcome(case.run)
        refused = isinstance(result, fs.FaultsimError)
        yield Made(name, digest(case.inputs(), 6), result, result if refused else digest_workflows.tables(result))


def run_cases(file: str, names: Iterable[str]) -> Iterator[Made]:
    if FILES[file] is None:
        return run_files(names, file)
    return run_workflows(names, file) if file == "workflows" else run_random(names, file)


def names_of(file: str) -> list[str]:
    if file == "dags":
        return digest_dags.names()
    return list(digest_logs.CASES) if file == "logs" else [str(seed) for seed in range(FILES[file] or 0)]


# -- comparing


@dataclass
class Report:
    """What a check found."""

    same: int = 0
    refused: int = 0
    skipped: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        said = f"{self.same:,} the same ({self.refused:,} of them refused as before)"
        if self.skipped:
            said += f", {len(self.skipped):,} skipped: their inputs are not here, or others: {self.skipped[:5]}"
        return said + (f", {len(self.different):,} DIFFERENT: {self.different[:20]}" if self.different else "")


def kept(path: Path) -> dict[str, tuple[str, str]]:
    """Name -> digest of the inputs and of the outputs."""
    lines = (line.split(maxsplit=2) for line in path.read_text().splitlines() if not line.startswith("#"))
    return {name: (inputs, outputs) for name, inputs, outputs in lines}


def check(file: str, n: int | None = None, folder: Path = GOLDEN) -> Report:
    """Run the cases of a file, or its first n, and compare."""
    golden = dict(islice(kept(folder / f"{file}.txt").items(), n))
    report, missing = Report(), dict(golden)
    for made in run_cases(file, golden):
        del missing[made.name]
        inputs, expected = golden[made.name]
        if made.inputs != inputs:
            report.skipped.append(made.name)
            continue
        got = line_of(made.tables)
        if got == expected:
            report.same += 1
            report.refused += isinstance(made.tables, fs.FaultsimError)
        else:
            report.different.append(f"{made.name} ({different_parts(expected, got)})")
    report.skipped += missing
    return report


def different_parts(expected: str, got: str) -> str:
    before, after = expected.split(), got.split()
    if len(before) != len(after):
        return f"{before[0] if len(before) == 1 else 'a result'}, now {after[0] if len(after) == 1 else 'a result'}"
    return ", ".join(part for part, old, new in zip(PARTS, before, after, strict=False) if old != new)


# -- revisions


def cases_of(path: Path) -> list[str]:
    """The lines of the cases of a file."""
    return [line for line in path.read_text().splitlines() if not line.startswith("#")]


def digest_of(lines: Iterable[str]) -> str:
    """A digest of cases."""
    return hashlib.blake2b("\n".join(lines).encode(), digest_size=16).hexdigest()


def revisions(folder: Path = GOLDEN) -> dict[int, dict[str, tuple[int, str]]]:
    """Revision -> file -> number of cases, and their digest, in the order of the table."""
    found: dict[int, dict[str, tuple[int, str]]] = {}
    for line in cases_of(folder / "revisions"):
        revision, file, count, digest = line.split()
        found.setdefault(int(revision), {})[file] = int(count), digest
    return found


def moved(revision: int = fs.MODEL_REVISION, folder: Path = GOLDEN) -> list[str]:
    """Why the digests that are kept are not those of this revision; empty if they are."""
    table = revisions(folder)
    wrong = [] if list(table) == sorted(table) else ["the revisions of the table do not ascend"]
    if max(table) != revision:
        wrong.append(f"MODEL_REVISION is {revision}, and the last of the table is {max(table)}")
    entered = table.get(revision, {})
    for path in sorted(folder.glob("*.txt")):
        lines = cases_of(path)
        count, digest = entered.get(path.stem, (0, ""))
        if digest_of(lines[:count]) != digest:
            wrong.append(f"the digests of {path.stem} are not those of revision {revision}")
        elif count != len(lines):
            wrong.append(f"{path.stem} has {len(lines)} cases, and {count} in the table")
    return wrong + [f"there is no file {file}.txt" for file in entered if not (folder / f"{file}.txt").exists()]


def enter(revision: int = fs.MODEL_REVISION, folder: Path = GOLDEN, *, replace: bool = False) -> str:
    """Enter the digests that are kept in the table; empty, or why they are not entered."""
    table = revisions(folder)
    if revision < max(table):
        return f"MODEL_REVISION is {revision}, and the table has revision {max(table)}"
    entered = {} if replace else table.get(revision, {})
    for path in sorted(folder.glob("*.txt")):
        lines = cases_of(path)
        count, digest = entered.get(path.stem, (0, digest_of([])))
        if digest_of(lines[:count]) != digest:
            return (
                f"the digests of {path.stem} are not those of model revision {revision}: raise MODEL_REVISION in "
                f"faultsim/version.py, and say on the model page and in the changelog what has changed"
            )
        entered = {**entered, path.stem: (len(lines), digest_of(lines))}
    table[revision] = dict(sorted(entered.items()))
    lines = [line for line in (folder / "revisions").read_text().splitlines() if line.startswith("#")]
    for number, files in table.items():
        lines += [f"{number} {file} {count} {digest}" for file, (count, digest) in files.items()]
    (folder / "revisions").write_text("\n".join(lines) + "\n")
    return ""


# -- commands


def write(file: str, folder: Path = GOLDEN, n: int | None = None) -> None:
    names = names_of(file)[:n]
    lines = [f"{made.name} {made.inputs} {line_of(made.tables)}" for made in run_cases(file, names)]
    folder.mkdir(exist_ok=True)
    text = "\n".join([f"# case, inputs, {', '.join(PARTS)}; written by digests.py", *lines])
    (folder / f"{file}.txt").write_text(text + "\n")
    refused = sum(len(line.split()) == 3 for line in lines)
    print(f"{file}: {len(lines):,} cases, {refused:,} of them refused")


def show(file: str, name: str) -> None:
    """Everything that is hashed of a case, as text."""
    if FILES[file] is not None:
        key = list(FILES).index(file), int(name)
        print(digest_workflows.drawn(*key) if file == "workflows" else drawn_in(file)(int(name)))
    for made in run_cases(file, [name]):
        print(f"{made.name} {made.inputs} {line_of(made.tables)}")
        if isinstance(made.tables, fs.FaultsimError):
            print(made.tables)
            continue
        for part, columns in made.tables.items():
            for column, values in columns:
                for row, value in enumerate(np.asarray(values).ravel().tolist()):
                    print(f"{part}.{column}[{row}] {value!r}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["check", "write", "show", "table", "revision"])
    parser.add_argument("files", nargs="*", help=f"{', '.join(FILES)}, or their files; for show a file and a case")
    parser.add_argument("-n", type=int, help="check the first N cases of each file only")
    parser.add_argument("--replace", action="store_true", help="for a revision that is in no commit that others have")
    given = parser.parse_args(arguments)
    sys.path.append(str(Path(__file__).resolve().parents[1]))
    from helpers import thresholds

    thresholds.from_environment()
    if given.command == "revision":
        if why := enter(replace=given.replace):
            print(why)
        return 1 if why else 0
    if given.command == "show":
        show(*given.files)
        return 0
    if given.command == "table":
        import digest_table

        file = given.files[0] if given.files else "random"
        digest_table.show(made.result for made in run_cases(file, names_of(file)[: given.n]))
        return 0
    found, totals = 0, Counter[str]()
    for path in map(Path, given.files or FILES):
        folder = path.parent if path.suffix else GOLDEN
        if given.command == "write":
            write(path.stem, folder)
            if folder == GOLDEN:
                print("\n".join(moved()))
        else:
            report = check(path.stem, given.n, folder)
            print(f"{path.stem}: {report}", flush=True)
            found += len(report.different)
            totals.update(same=report.same, refused=report.refused, skipped=len(report.skipped))
    if given.command == "check" and not given.files and given.n is None and not found:
        keep(totals)
    return 1 if found else 0


def keep(totals: Mapping[str, int]) -> None:
    """Keep how much was the same, for the page on testing, where that is asked for."""
    from helpers.counts import record

    record(
        "digests", "answers",
        "Random runs and runs of public logs give the bytes that they gave before: jobs, sums, events and places.",
        {"runs the same": totals["same"] - totals["refused"], "combinations refused as before": totals["refused"],
         "runs different": 0, "runs left out because their inputs are not here": totals["skipped"]},
        "python tests/verification/digests.py check",
    )  # fmt: skip


if __name__ == "__main__":
    np.set_printoptions(threshold=sys.maxsize)  # for `show`
    sys.exit(main())
