"""Change the program at random places, one at a time, and count how often its quick tests notice.

    python tests/verification/mutants.py [-n 200] [--seed 0] [--only PART] [--minutes M] [--keep FOLDER]
        [--jobs J] [--files F] [--again] [--sanitize] [--thresholds least]

A mutant is one comparison, operator, number or condition of the core or of the Python above it that is another, or one
statement that is left out.  The tests that concern it are those of its folder (`TESTS`), and the digests.  Mutants
are made and tested in a copy of the checkout in FOLDER, where a line for each is kept: a run that was stopped goes on
there, and with ``--again`` those that survived meet the tests that were added since.  With ``--sanitize`` what survives
in the core meets the digests once more, built with the address and undefined-behaviour sanitizers.  With
``--thresholds least`` everything runs with every shortcut of the core switched on from the first job on, and what
survives once more at the default ones.  Printed are the share that was killed, and those that survived, each with file,
line and text: either a test is missing, or the two mean the same.  These are known by what an optimizing compiler makes
of them, or are listed with the reason in `EQUIVALENT`; they count for nothing, nor do mutants that do not build.
"""

import argparse
import hashlib
import json
import random
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from mutant_runs import PLAIN, ROOT, SANITIZERS, Checkout, modules_of

EQUIVALENT = Path(__file__).with_name("equivalent_mutants.toml")
#: The first of each kind, which most mutants change.
FEW_DIGESTS = [
    "tests/verification/digests.py", "check",
    "random", "big_jobs", "rescheduling", "workflows", "pods", "preemption", "-n", "60",
]  # fmt: skip
#: Seconds of the processor for these, which take 2.
FEW_CPU = 15
#: The soonest to notice what a run gives.
DIGESTS = "tests/verification/test_digests.py"
#: What becomes of memory that is out.
STARVING = "tests/verification/test_starving.py"
MOVING = ["tests/core/test_rescheduling.py", "tests/core/test_rescheduling_spares.py"]
#: On nodes that jobs share: both engines, and the third program.
ON_SITES = ["tests/core/test_site_engines.py", "tests/verification/test_plain_site.py"]
#: Nodes that are closed to jobs at times, on all machines.
ABSENCES = [
    "tests/verification/test_third_absences.py", "tests/simulation/test_absences_outside.py",
    "tests/simulation/test_absences_on_sites.py", "tests/simulation/test_absences_together.py",
    "tests/simulation/test_reservations.py",
]  # fmt: skip
#: Jobs with conditions, holds and withdrawals, which change while a simulation runs.
CONDITIONS = [
    "tests/core/test_start_delays_and_holds.py", "tests/simulation/test_conditions.py",
    "tests/simulation/test_changes_of_jobs.py", "tests/verification/test_third_conditions.py",
]  # fmt: skip
#: Boxes of a torus.
BOXES = [
    "tests/core/test_kept_bounds.py", "tests/core/test_row_slices.py", "tests/kernels/test_partition.py",
    "tests/core/test_lines.py", "tests/core/test_work_torus.py", "tests/core/test_choose.py",
]  # fmt: skip
#: Tori with listed shapes, under Slurm's rules.
LISTED = [
    "tests/verification/test_listed_shapes.py", "tests/reference/test_reference_listed_shapes.py",
    "tests/core/test_torus_segments.py", "tests/core/test_slurm_torus.py",
]  # fmt: skip
#: Beginning of a path below ``faultsim`` -> tests, first those that are done soon; the longest beginning counts.
TESTS = {
    "_core/fars": [*MOVING, "tests/kernels/test_knapsack.py", "tests/simulation/test_endless.py"],
    "_core/faults": [
        *MOVING, "tests/results/test_partial.py", "tests/reference/test_reference_failures.py",
        "tests/verification/test_third_failures.py", "tests/core/test_engine_failures.py",
        "tests/core/test_hot_spares.py",
    ],
    "_core/checkpointing": [
        "tests/reference/test_reference_checkpointing.py", *MOVING, "tests/verification/test_third_failures.py",
        "tests/core/test_engine_failures.py",
    ],
    "_core/recovery": [
        "tests/reference/test_reference_failures.py", "tests/verification/test_third_failures.py",
        "tests/core/test_engine_failures.py", "tests/core/test_hot_spares.py",
    ],
    "_core/migration": [
        "tests/core/test_work_least_failures.py", "tests/reference/test_reference_migration.py",
        "tests/core/test_bounds.py",
    ],
    "_core/placement": [
        "tests/core/test_choose.py", "tests/core/test_curve_best_fit.py", "tests/core/test_most_cubic.py",
    ],
    "_core/placement/compiled_rules": ["tests/core/test_compiled_policies.py"],
    "_core/placement/safest": ["tests/verification/test_third_failures.py", "tests/core/test_work_predictions.py"],
    "_core/placement/site_rules": ON_SITES,
    "_core/placement/slurm_torus": LISTED,
    "_core/scheduling": [
        "tests/verification/test_plain_cluster.py", "tests/core/test_by_slope.py", "tests/simulation/test_why.py",
        "tests/core/test_work_conservative.py",
        "tests/core/test_work_conservative_torus.py", "tests/core/test_work_running.py",
        "tests/core/test_conservative_many.py", *ABSENCES,
    ],
    "_core/absences": ABSENCES,
    "_core/avoidance": [
        *MOVING, "tests/core/test_hot_spares.py", "tests/simulation/test_own_nodes.py", *ABSENCES,
    ],
    "_core/edges": ["tests/simulation/test_drains.py", *ABSENCES],
    "_core/eligibility": CONDITIONS,
    "_core/withdrawal": [*CONDITIONS, "tests/simulation/test_live.py"],
    "_core/snapshot": ["tests/simulation/test_why.py", "tests/simulation/test_why_waits.py"],
    "_core/cluster/least_failed": [
        "tests/core/test_work_least_failures.py", "tests/verification/test_third_failures.py",
        "tests/core/test_work_nodes.py",
    ],
    "_core/cluster": ["tests/core/test_work_nodes.py", "tests/core/test_curve_best_fit.py"],
    "_core/scheduling/backfill": ["tests/core/test_backfill.py", "tests/core/test_rescheduling_spares.py", *ABSENCES],
    "_core/scheduling/preemption": [
        "tests/policies/test_preemptive.py", "tests/verification/test_third_absences.py",
        "tests/simulation/test_absences_together.py",
    ],
    "_core/scheduling/shadow": [
        "tests/core/test_work_pod.py", "tests/core/test_work_torus.py", "tests/verification/test_plain_cluster.py",
        *ABSENCES,
    ],
    "_core/scheduling/masks": [
        "tests/core/test_work_conservative_torus.py", "tests/core/test_backfill.py", "tests/core/test_pod_engines.py",
        *ABSENCES,
    ],
    "_core/scheduling/conservative_counted": [
        "tests/core/test_conservative_many.py", "tests/core/test_work_conservative.py",
        "tests/verification/test_plain_cluster.py", "tests/simulation/test_why.py", *ABSENCES,
    ],
    "_core/scheduling/easy_placed": ["tests/core/test_work_torus.py", "tests/simulation/test_simulate.py", *ABSENCES],
    "_core/scheduling/compiled": ["tests/core/test_compiled_policies.py", *ABSENCES],
    "_core/scheduling/external": ["tests/simulation/test_decisions.py", "tests/simulation/test_decision_fuzz.py"],
    "_core/scheduling/backfill_shared": [*ON_SITES, *ABSENCES],
    "_core/scheduling/conservative_shared": [*ON_SITES, "tests/simulation/test_why_on_sites.py", *ABSENCES],
    "_core/scheduling/easy_shared": [*ON_SITES, *ABSENCES],
    "_core/scheduling/node_lines": [*ON_SITES, *ABSENCES],
    "_core/scheduling/site_choice": [*ON_SITES, *ABSENCES],
    "_core/scheduling/site_view": ["tests/simulation/test_decisions_on_sites.py", *ON_SITES],
    "_core/site_decisions": ["tests/simulation/test_decisions_on_sites.py", *ON_SITES],
    "_core/slurm": [
        "tests/simulation/test_slurm_runs.py", "tests/simulation/test_slurm_reservations.py",
        "tests/core/test_slurm_controllers.py",
    ],
    "_core/site": [*ON_SITES, "tests/core/test_site_parts.py", "tests/machines/test_site.py"],
    "_core/orders": [
        "tests/core/test_by_slope.py", "tests/core/test_compiled_orders.py", "tests/simulation/test_live.py",
    ],
    "_core/orders/rules": [
        "tests/core/test_compiled_orders.py", "tests/core/test_by_slope.py", "tests/simulation/test_live.py",
    ],
    "_core/orders/python_orders": ["tests/simulation/test_python_policies.py", "tests/policies"],
    "_core/orders/expressions": [
        "tests/core/test_expressions.py", "tests/core/test_by_slope.py", "tests/simulation/test_live.py",
    ],
    "_core/torus": BOXES,
    "_core/torus/finder": [*BOXES, "tests/verification/test_memory.py"],
    "_core/torus/listed": LISTED,
    "_core/containers": ["tests/kernels/test_event_queue.py", "tests/core/test_releases.py"],
    "_core/containers/memory": ["tests/simulation/test_live.py"],
    "_core/workflow": [
        "tests/core/test_work_workflows.py", "tests/reference/test_reference_workflow.py",
        "tests/core/test_workflow_engines.py", "tests/simulation/test_simulate_workflows.py",
    ],
    "_core/pod": [
        "tests/core/test_pod_machine.py", "tests/core/test_pod_engines.py", "tests/machines/test_pod.py",
        "tests/core/test_work_pod.py", "tests/core/test_pod_shapes.py", "tests/verification/test_third_spare_cubes.py",
    ],
    "_core/jobs": ["tests/simulation/test_own_nodes.py", "tests/core/test_set_up.py", "tests/results/test_partial.py"],
    "_core/event_loop": [
        "tests/simulation/test_own_nodes.py", "tests/simulation/test_live_requests.py", "tests/results/test_partial.py",
    ],
    "_core/environments": ["tests/rl"],
    "_core/team": ["tests/rl"],
    "_core/record": ["tests/results/test_partial.py", "tests/verification/test_invariants.py"],
    "_core/job_columns": [
        "tests/simulation/test_decisions.py", "tests/simulation/test_asked.py", "tests/simulation/test_own_nodes.py",
    ],
    "_core/engine": [
        "tests/simulation/test_simulate.py", "tests/simulation/test_live.py", "tests/results/test_partial.py",
        "tests/core/test_set_up.py", "tests/simulation/test_live_requests.py",
        "tests/simulation/test_changes_of_jobs.py",
    ],
    "_core/so_far": ["tests/results/test_partial.py"],
    "_core/decisions": [
        "tests/simulation/test_decisions.py", "tests/simulation/test_acts.py", "tests/simulation/test_decision_logs.py",
        "tests/simulation/test_foreseeing.py", "tests/simulation/test_asked.py",
        "tests/simulation/test_absences_outside.py", "tests/simulation/test_decision_fuzz.py",
    ],
    "_core/changes": ["tests/simulation/test_live.py", "tests/simulation/test_own_nodes.py"],
    "_core/job_terms": ["tests/sweep/test_at_once.py", "tests/results/test_metrics.py"],
    "_core/number_lines": ["tests/core/test_number_lines.py", "tests/readers/test_input_lines.py"],
    "_core/verify": ["tests/verification/test_invariants.py"],
    "_core": ["tests/core/test_set_up.py", "tests/simulation/test_simulate.py",
              "tests/core/test_refused_sizes.py", "tests/verification/test_invariants.py"],
    "cli": ["tests/cli"],
    "cli/reproduce": ["tests/cli/test_cli.py", "tests/reproduce/test_studies.py", "tests/reproduce/test_reports.py"],
    "machines": ["tests/machines"],
    "machines/power": ["tests/results/test_energy.py"],
    "data": ["tests/data"],
    "data/failure_table": ["tests/data/test_failures.py", "tests/data/test_failure_table.py"],
    "data/event_kinds": ["tests/results/test_partial.py"],
    "readers": ["tests/readers"],
    "policies/expressions": ["tests/policies", "tests/core/test_by_slope.py"],
    "policies/curves": ["tests/core/test_curve_best_fit.py"],
    "policies": ["tests/policies", "tests/simulation/test_foreseeing.py"],
    "simulation/stepping": [
        "tests/simulation/test_live.py", "tests/simulation/test_asked.py", "tests/simulation/test_python_policies.py",
    ],
    "simulation/progress": ["tests/simulation/test_progress.py"],
    "simulation": ["tests/simulation/test_simulate.py", "tests/simulation/test_foreseeing.py"],
    "simulation/execution": ["tests/simulation/test_live.py", "tests/simulation/test_simulate.py"],
    "results/caveats": ["tests/results", "tests/simulation/test_pods.py"],
    "results/prediction_accuracy": ["tests/simulation/test_simulate_workflows.py"],
    "results/saved": ["tests/results", "tests/trust/test_saved_results.py"],
    "results/expected_ettr": ["tests/verification/test_ettr_theory.py"],
    "results": ["tests/results"],
    "sweep": ["tests/sweep/test_sweep.py", "tests/sweep/test_sweep_statistics.py", "tests/sweep"],
    "sweep/runner": ["tests/sweep/test_batches.py", "tests/sweep/test_sweep.py", "tests/sweep"],
    "synthetic": ["tests/synthetic"],
}  # fmt: skip
#: Folders of tests that take long, or are about other parts.
ELSEWHERE = {"plot", "report", "reproduce", "rl", "soak", "trust"}
SLOW = re.compile("survival|dask|workers|batch_systems|compiled_policies")
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
FUNCTION = re.compile(r"\s*(?:async )?(?:cdef|cpdef|def) [^=]*?(\w+)\(")
DROPPED = re.compile(r"(\s+)(\w[\w.\[\]]* [+\-|&]?= .*|[\w.]+\(.*\))$")


class Mutant(NamedTuple):
    """One line that is another."""

    path: str
    line: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line + 1}\n    - {self.before.strip()}\n    + {self.after.strip()}"


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
    path, lines, found = file.relative_to(ROOT).as_posix(), file.read_text().splitlines(), []
    for number in code_lines(file.read_text()):
        line = lines[number]
        code = re.sub(r"\s{2,}#.*", "", line)
        for pattern, others in SWAPS.items():
            for match in re.finditer(pattern, code):
                found += [Mutant(path, number, line, line[: match.start()] + o + line[match.end() :]) for o in others]
        if (match := DROPPED.match(code)) and code.count("(") == code.count(")"):
            found.append(Mutant(path, number, line, match[1] + "pass"))
    return found


def concerning(path: str) -> list[str]:
    """Files of tests, those first that name the module; of a folder these only, if there are any."""
    below = path.removeprefix("faultsim/")
    named = TESTS[max((begin for begin in TESTS if below.startswith(begin)), key=len)]
    word = re.compile(rf"\b{Path(path).stem}\b")
    files = []
    for place in (ROOT / name for name in named):
        within = [file for file in sorted(place.glob("test_*.py")) if not SLOW.search(file.name)] or [place]
        files += [file for file in within if word.search(file.read_text())] or within
    more = sorted(ROOT.glob(f"tests/*/test_*{Path(path).stem}*.py"))
    files += [file for file in more if file.parent.name not in ELSEWHERE]
    files.sort(key=lambda file: (Path(path).stem not in file.stem, not word.search(file.read_text())))
    names = [file.relative_to(ROOT).as_posix() for file in files]
    if runs_change(path):
        names += [DIGESTS, STARVING] if below.startswith("_core") else [DIGESTS]
    return list(dict.fromkeys(names))


def function_of(path: str, line: int) -> str:
    """The name of the function that a line is in."""
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()[: line + 1]
    return next((found[1] for text in reversed(lines) if (found := FUNCTION.match(text))), "")


def equivalent() -> dict[tuple[str, str, str, str], str]:
    """File, line before and after, and the function, "" for all of the file -> why both mean the same."""
    listed = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["mutant"]
    return {(each["path"], each["before"], each["after"], each.get("function", "")): each["why"] for each in listed}


def is_equivalent(mutant: Mutant) -> bool:
    """Whether it is listed."""
    key, listed = (mutant.path, mutant.before.strip(), mutant.after.strip()), equivalent()
    return (*key, "") in listed or (*key, function_of(mutant.path, mutant.line)) in listed


def drawn(seed: int, only: str) -> list[Mutant]:
    """All mutants, in a random order."""
    begins = tuple(f"faultsim/{begin}" for begin in TESTS)
    files = [file for suffix in ("py", "pyx", "pxi") for file in sorted(ROOT.glob(f"faultsim/**/*.{suffix}"))]
    paths = {file: file.relative_to(ROOT).as_posix() for file in files}
    pool = [
        mutant
        for file in files
        if paths[file].startswith(begins) and any(part in paths[file] for part in only.split(","))
        for mutant in mutants_of(file)
    ]
    print(f"{len(pool):,} mutants in {len(files):,} files", flush=True)
    random.Random(seed).shuffle(pool)
    return [mutant for mutant in pool if not only_words(mutant)]


def only_words(mutant: Mutant) -> bool:
    """Whether a text is another, or an assertion of `zip` is left out; what braces hold in a text is code."""

    def code(text: re.Match[str]) -> str:
        return "".join(re.findall(r"{[^{}]*}", text[0])) if text[0].startswith("f") else ""

    before, after = (re.sub(r'f?"[^"]*"|, strict=\w+', code, line) for line in (mutant.before, mutant.after))
    return before == after


# -- what becomes of one


def verdict(checkout: Checkout, mutant: Mutant, first: int | None, again: bool, sanitize: bool) -> tuple[str, str]:
    """ "killed", "survived", "same code", "not built" or "unclear", and the test that says so."""
    thresholds = ""
    with checkout.changed(mutant.path, mutant.line, mutant.after):
        modules = modules_of(mutant.path)
        if not all(checkout.builds(module, PLAIN) for module in modules):
            return "not built", ""
        failed = ""
        if runs_change(mutant.path) and not again:
            failed = checkout.script(FEW_DIGESTS, FEW_CPU)
            failed = failed and f"digests: {failed}"
        if runs_change(mutant.path) and first is not None and not failed:
            failed = checkout.tests(concerning(mutant.path)[:first]) if first else ""
            if not failed:
                return "survived", ""
        files = concerning(mutant.path)
        failed = failed or checkout.tests(files)
        if not failed and checkout.thresholds != "default":  # a shortcut that is always taken hides what it spares
            thresholds = "default"
            failed = checkout.tests(files, thresholds=thresholds)
        if failed and not failed.startswith("digests"):  # a crash does not say where, and may come from outside
            alone = ([one] for one in files if checkout.tests([one], thresholds=thresholds))
            files = [failed] if "::" in failed else next(alone, [])
        if not failed and modules and all(checkout.means_the_same(mutant.path, module) for module in modules):
            return "same code", ""
        if sanitize and not failed and modules and all(checkout.builds(module, SANITIZERS) for module in modules):
            failed = checkout.tests([DIGESTS], sanitized=True)
            failed = failed and f"sanitizers: {failed}"
    by_tests = failed and not failed.startswith(("digests", "sanitizers"))
    # What fails on the unchanged program says nothing.
    if by_tests and not (files and checkout.passes(files, thresholds)):
        return "unclear", failed
    return ("killed" if failed else "survived"), failed


def fails_unchanged(checkout: Checkout, sanitize: bool) -> str:
    """What fails though nothing was changed, which every mutant would be killed by."""
    path = "faultsim/_core/state.pyx"
    with checkout.changed(path, 0, (ROOT / path).read_text().splitlines()[0]):
        if not checkout.builds(path, PLAIN):
            return f"{path} is not built"
        if failed := checkout.script(FEW_DIGESTS) or checkout.tests([DIGESTS]):
            return failed
        if sanitize and checkout.builds(path, SANITIZERS):
            failed = checkout.tests([DIGESTS], sanitized=True)
        return failed and f"sanitizers: {failed}"
    return ""


def runs_change(path: str) -> bool:
    """Whether digests may notice what is changed in a file."""
    return path.startswith(tuple(f"faultsim/{folder}" for folder in ("_core", "simulation", "policies", "machines")))


# -- all


def digest_of_tests() -> str:
    state = hashlib.sha256()
    for file in sorted(ROOT.glob("tests/**/*.py")):
        if not file.name.startswith("mutant"):
            state.update(file.read_bytes())
    return state.hexdigest()[:12]


class Log:
    """A line for each verdict, with the tests that gave it: those of the first line, or others were added."""

    def __init__(self, file: Path, commit: str, seed: int, only: str, partly: bool) -> None:
        self.file, self.tests, self.partly = file, digest_of_tests(), partly
        self.first_tests, self.last_tests = "", dict[Mutant, str]()
        head = {"commit": commit, "seed": seed, "only": only}
        self.first: dict[Mutant, tuple[str, str]] = {}
        self.last: dict[Mutant, tuple[str, str]] = {}
        if not file.exists():
            file.write_text(json.dumps(head) + "\n")
        begin, *lines = file.read_text().splitlines()
        if json.loads(begin) != head:
            sys.exit(f"{file} is of {begin}, not of {head}: name another folder")
        for line in lines:
            self._take(json.loads(line))

    def _take(self, kept: dict[str, Any]) -> None:
        mutant = Mutant(*kept["mutant"])
        self.last[mutant] = kept["verdict"], kept["by"]
        self.last_tests[mutant] = kept["tests"] + ("" if kept["partly"] else " all")
        self.first_tests = self.first_tests or kept["tests"]
        if kept["tests"] == self.first_tests:
            self.first[mutant] = self.last[mutant]

    def add(self, mutant: Mutant, said: tuple[str, str], seconds: float) -> None:
        kept = {
            "mutant": mutant,
            "verdict": said[0],
            "by": said[1],
            "tests": self.tests,
            "partly": self.partly and runs_change(mutant.path),
            "seconds": round(seconds, 1),
        }
        with self.file.open("a") as file:
            file.write(json.dumps(kept) + "\n")
        self._take(json.loads(json.dumps(kept)))

    def counts(self, mutant: Mutant) -> bool:
        said = self.last[mutant][0] in ("killed", "survived")
        return said and not only_words(mutant) and not is_equivalent(mutant)

    def to_do_again(self) -> list[Mutant]:
        """Survivors that have not met all of the tests as they are now."""
        met = f"{self.tests} all"
        return [each for each in self.survivors() if self.last_tests[each] != met]

    def survivors(self) -> list[Mutant]:
        return [mutant for mutant, (said, _) in self.last.items() if said == "survived" and self.counts(mutant)]

    def numbers(self) -> dict[str, int]:
        counted = [mutant for mutant in self.last if self.counts(mutant)]
        said = Counter(self.last[mutant][0] for mutant in counted)
        before = Counter(self.first.get(mutant, ("",))[0] for mutant in counted)
        known = {"same code", "survived"}
        equal = [mutant for mutant, (was, _) in self.last.items() if was in known and mutant not in counted]
        whole = sum(self.last_tests[mutant].endswith(" all") for mutant in self.survivors())
        return {
            "mutants": len(counted), "noticed": said["killed"], "not noticed by any test that concerns the file": whole,
            "not noticed by some of these, the rest not run yet": said["survived"] - whole,
            "noticed before tests were added for survivors": before["killed"],
            "equivalent, which do not count": len(equal),
        }  # fmt: skip


class Todo:
    """Mutants to look at, handed out until enough of them count, or time is up."""

    def __init__(self, log: Log, given: argparse.Namespace) -> None:
        self.log, self._n, self._end = log, given.n, time.monotonic() + 60 * given.minutes
        self._pool = iter(log.to_do_again() if given.again else drawn(given.seed, given.only))
        self._again, self._files, self._sanitize, self._lock = given.again, given.files, given.sanitize, Lock()

    def one(self) -> Mutant | None:
        with self._lock:
            enough = not self._again and sum(map(self.log.counts, self.log.last)) >= self._n
            if enough or time.monotonic() > self._end:
                return None
            return next((mutant for mutant in self._pool if self._again or mutant not in self.log.last), None)

    def work(self, checkout: Checkout) -> None:
        """Look at one after the other."""
        while (mutant := self.one()) is not None:
            begin = time.monotonic()
            said = verdict(checkout, mutant, self._files, self._again, self._sanitize)
            with self._lock:
                self.log.add(mutant, said, time.monotonic() - begin)
                print(f"{len(self.log.last)} {' by '.join(filter(None, said))}: {mutant}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=200, help="how many mutants that count")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="of files whose path holds this, or one of several between commas")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no mutant after these")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where the copy and the verdicts are")
    parser.add_argument("--jobs", type=int, default=1, help="so many at once, each in a copy")
    parser.add_argument("--files", type=int, help="of tests of the core, after the first digests; --again runs all")
    parser.add_argument("--sanitize", action="store_true", help="what survives in the core meets the sanitizers")
    parser.add_argument("--thresholds", default="default", help="of the shortcuts of the core: default or least")
    parser.add_argument("--again", action="store_true", help="survivors meet the tests as they are now")
    given = parser.parse_args()
    git = ["git", "-C", str(ROOT)]
    if subprocess.run([*git, "diff", "--quiet", "HEAD", "--", "faultsim"], check=False).returncode:
        parser.error("faultsim has changes that are not committed")
    tree = subprocess.run(
        [*git, "rev-parse", "HEAD:faultsim"], capture_output=True, text=True, check=True
    ).stdout.strip()
    folder = given.keep or Path(tempfile.gettempdir()) / f"faultsim-mutants-{tree[:12]}"
    checkouts = [Checkout(folder / f"checkout-{number}", given.thresholds) for number in range(given.jobs)]
    sound = folder / f"sound-{digest_of_tests()}{'-sanitized' * given.sanitize}"
    if not sound.exists():  # in a piece of the run before this one
        if failed := fails_unchanged(checkouts[0], given.sanitize):
            sys.exit(f"before anything is changed: {failed}")
        sound.touch()
    todo = Todo(Log(folder / "verdicts.jsonl", tree, given.seed, given.only, given.files is not None), given)
    with ThreadPoolExecutor(given.jobs) as threads:
        list(threads.map(todo.work, checkouts))
    log = todo.log
    numbers = log.numbers()
    print("\nsurvivors:", *log.survivors(), sep="\n")
    print(f"{numbers['noticed'] / max(numbers['mutants'], 1):.1%} noticed; {numbers}")
    sys.path.append(str(ROOT / "tests"))
    from helpers.counts import record

    what = f"Files of {given.only}" if given.only else "Core and Python"
    record(
        re.sub(r"[^a-z0-9]+", "-", f"mutants-{given.only}".lower()).strip("-"),
        "tests",
        f"{what} are changed at random places, one at a time, and tests that concern them are run.",
        numbers,
        f"python tests/verification/mutants.py -n {given.n} --seed {given.seed}"
        + (f" --only {given.only}" if given.only else "")
        + (f" --thresholds {given.thresholds}" if given.thresholds != "default" else ""),
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
