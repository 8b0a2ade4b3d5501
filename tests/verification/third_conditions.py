"""A third program for jobs as people submit them, with failures (model.md#eligibility, model.md#absences).

    python tests/verification/third_conditions.py --runs 20000 [--seed 1]

Conditions, arrays, earliest starts, withdrawals, holds, reservations and drained nodes, under Fcfs, EasyBackfill,
Backfill and ConservativeBackfill on a cluster; jobs that a failure kills go back to the queue.  It shares no code with
the engines and keeps no list of events: all times are whole seconds, and every second is looked at.
"""

import argparse
import itertools
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import faultsim as fs

sys.path.append(str(Path(__file__).resolve().parents[1]))

from verification.third_plans import Plans, Window

from helpers import thresholds
from helpers.counts import record

SCHEDULERS = ("fcfs", "easy", "backfill", "conservative")
KINDS = ("after", "afterok", "afterany", "afternotok")
#: No run that ends is that long.
HORIZON = 1000
#: When a run of which jobs are on hold, or nodes drained, has them released and resumed.
LAST_ACTS = 90


class NeverEnds(Exception):
    """A job has no time at which it could run."""


@dataclass
class Case:
    """The machine and the options of a run."""

    nodes: int
    failures: list  # (time, node, length)
    windows: list
    acts: list  # (time, verb, job or node)
    scheduler: str
    depth: float
    known: bool
    limit: bool


@dataclass(eq=False)
class Job:
    """A job, and what has become of it."""

    row: int
    submit: int
    runtime: int
    estimate: int
    size: int
    waits: list = field(default_factory=list)  # (kind, row, delay)
    alone: bool = False
    owner: tuple = (0, "")
    begin: int = 0
    cancel: int | None = None
    array: int = -1
    most: int = 0
    status: str = "coming"  # coming, submitted, queued, running, or how it ended
    eligible: float = np.nan
    user: int = 0
    place: int = -1
    on_hold: bool = False
    kills: int = 0
    first_held: int | None = None
    start: float = np.nan
    end: float = np.nan
    nodes: list = field(default_factory=list)
    slot: bool = False
    in_line: int | None = None

    @property
    def over(self):
        return self.status in ("ended", "timed out", "killed", "withdrawn", "unmet")


class Machine:
    """Nodes, jobs and failures, second by second."""

    def __init__(self, jobs, case):
        self.jobs, self.nodes, self.limit, self.windows = jobs, case.nodes, case.limit, case.windows
        self.failures, self.acts = list(case.failures), list(case.acts)
        self.had_failures = bool(case.failures)
        self.plans = Plans(self, case.scheduler, case.depth, case.known)
        self.down, self.drained, self.done = {}, set(), []
        self.places = self.lines = 0
        self.edges_of = None
        self.stays = []  # (job, from, nodes) of each time that a job holds nodes

    # -- conditions

    def status_of(self, job, t):
        """Of the conditions of a job at t: "met", "not yet" or "never"."""
        found = "met"
        waits = list(job.waits)
        if job.alone:
            waits += [("afterany", other.row, 0) for other in self.jobs[: job.row] if other.owner == job.owner]
        for kind, row, delay in waits:
            other = self.jobs[row]
            if kind == "after" and other.first_held is not None:
                since = other.first_held
            elif not other.over:
                found = "not yet" if found == "met" else found
                continue
            elif (kind == "afterok" and other.status != "ended") or (kind == "afternotok" and other.status == "ended"):
                return "never"
            else:
                since = other.end
            if since + delay > t and found == "met":
                found = "not yet"
        return "not yet" if found == "met" and job.begin > t else found

    def room(self, job):
        return job.most - sum(other.slot and other.array == job.array for other in self.jobs if not other.over)

    def take_slot(self, job):
        """Whether the job may enter the queue now; else it gets in line once."""
        if job.array < 0 or not job.most or job.slot:
            return True
        line = sorted(
            (other for other in self.jobs if other.in_line is not None and other.array == job.array),
            key=lambda other: other.in_line,
        )
        if job.in_line is not None:
            if job in line[: self.room(job)]:
                job.slot, job.in_line = True, None
                return True
            return False
        if self.room(job) > len(line):
            job.slot = True
            return True
        job.in_line = self.lines
        self.lines += 1
        return False

    def enter(self, job, t):
        job.status, job.place = "queued", self.places
        job.eligible = job.eligible if job.kills else t
        self.places += 1

    def close(self, job, t, status):
        job.status, job.end, job.in_line = status, t, None

    # -- one event; whether there was one, and whether a pass is due

    def event(self, t):
        for job in self.jobs:
            if job.status == "running" and job.end == t:
                self.plans.disturbed |= job.start + job.estimate < t
                self.close(job, t, "timed out" if self.limit and job.runtime > job.estimate else "ended")
                job.nodes = []
                return True, True
        if self.edges_of != t:
            self.edges_of = t
            return True, self.edges(t)
        for node in sorted(self.down):
            if self.down[node] == t:
                del self.down[node]
                self.plans.disturbed = True
                return True, True
        if self.failures and self.failures[0][0] == t:
            return True, self.fail(t)
        for job in self.jobs:
            if job.status == "coming" and job.submit == t:
                job.status = "submitted"
                if self.status_of(job, t) == "met" and self.take_slot(job):
                    self.enter(job, t)
                    return True, True
                return True, False
        for job in self.jobs:
            if job.status == "submitted":
                found = self.status_of(job, t)
                if job.on_hold and found == "met":
                    if job.in_line is not None and self.take_slot(job):
                        return True, False
                    continue
                if found == "never":
                    self.close(job, t, "unmet")
                    return True, False
                if found == "met":
                    before = job.in_line
                    if self.take_slot(job):
                        self.enter(job, t)
                        return True, True
                    if before is None:
                        return True, False
        for job in self.jobs:
            if job.cancel == t and not job.over:
                waited = job.status in ("queued", "running")
                self.plans.disturbed |= waited
                self.close(job, t, "killed" if job.status == "running" else "withdrawn")
                if job.nodes:
                    job.start = min(job.start, t)
                    job.nodes = []
                else:
                    job.start = np.nan
                return True, waited
        return False, False

    def edges(self, t):
        """Begins and ends of windows at this second; whether a pass is due."""
        due = any(window.ends(t) for window in self.windows)
        for window in self.windows:
            for job in self.jobs:
                if window.kills and window.begins(t) and window.nodes & set(job.nodes) and job.user not in window.users:
                    self.close(job, t, "killed")
                    job.nodes, self.plans.disturbed, due = [], True, True
        return due

    def fail(self, t):
        """All failures of this second; whether one had an effect."""
        effect = False
        while self.failures and self.failures[0][0] == t:
            _, node, length = self.failures.pop(0)
            for job in self.jobs:
                if node in job.nodes:
                    job.nodes, job.status, effect = [], "queued", True
                    job.kills += 1
            if length > 0 and t + length > self.down.get(node, t):
                self.down[node] = t + length
                effect = True
        self.plans.disturbed |= effect
        return effect

    def act(self, verb, which):
        """What the caller does between two seconds, if that is possible; whether a pass is due."""
        job = self.jobs[which] if verb in ("hold", "release") else None
        if verb == "hold" and job.status in ("submitted", "queued") and not job.on_hold:
            job.on_hold, waited = True, job.status == "queued"
            job.status, job.eligible = "submitted", job.eligible if job.kills else np.nan
        elif verb == "release" and job.on_hold and not job.over:
            job.on_hold, waited = False, False
        elif verb == "drain" and which not in self.drained:
            self.drained.add(which)
            waited = True
        elif verb == "resume" and which in self.drained:
            self.drained.remove(which)
            waited = True
        else:
            return False
        self.done.append((verb, which))
        self.plans.disturbed |= waited
        return waited

    # -- a pass

    def queue(self):
        return sorted((job for job in self.jobs if job.status == "queued"), key=lambda job: job.place)

    def start(self, job, t, nodes):
        job.nodes, job.status, job.start = nodes, "running", t
        self.stays.append((job.row, float(t), sorted(nodes)))
        job.first_held = t if job.first_held is None else job.first_held
        job.end = t + (min(job.runtime, job.estimate) if self.limit else job.runtime)

    def is_settled(self, t):
        """Whether nothing is left to happen at this second."""
        return not any(
            (job.status == "running" and job.end == t)
            or (
                job.status == "submitted"
                and job.in_line is None
                and self.status_of(job, t) != "not yet"
                and not (job.on_hold and self.status_of(job, t) == "met")
            )
            for job in self.jobs
        )

    def settle(self, t, due):
        """All events of a second and its passes."""
        while True:
            happened = False
            while not all(job.over for job in self.jobs) or happened:
                there, wanted = self.event(t)
                if not there:
                    break
                happened, due = True, due | wanted
            if due:
                self.plans.schedule(t)
            due = False
            if self.is_settled(t):
                return

    def run(self):
        t = min(job.submit for job in self.jobs)
        for when, node, length in self.failures:
            if when < t < when + length:
                self.down[node] = max(self.down.get(node, t), when + length)
        self.failures = [row for row in self.failures if row[0] >= t]
        while not all(job.over for job in self.jobs):
            self.settle(t, False)
            now = [act for act in self.acts if act[0] == t]
            if now and not all(job.over for job in self.jobs):
                before = len(self.done)
                due = sum(self.act(verb, which) for _, verb, which in now) > 0
                self.done[before:] = [(t, *act) for act in self.done[before:]]
                self.settle(t, due)
            t += 1
            if t > HORIZON:
                raise NeverEnds


def drawn(rng):
    """A random case, one of three with a bit of everything: the log, and the machine and options of a run."""
    rich = rng.random() < 0.33
    n, nodes = int(rng.integers(6, 11) if rich else rng.integers(1, 9)), int(rng.integers(1, 6))
    submit = np.sort(rng.integers(0, 15, n))
    columns = {}
    user, name = rng.integers(0, 2, n), rng.choice(["a", "b"], n)
    if rich or rng.random() < 0.7:
        texts = []
        for row in range(n):
            parts = ["singleton"] if rng.random() < 0.15 else []
            for other in rng.choice(row, min(row, int(rng.integers(0, 3))), replace=False).tolist() if row else ():
                parts.append(f"{rng.choice(KINDS)}:{other + 1}+{rng.choice([0, 0, 2, 7])}")
            texts.append(",".join(parts))
        columns |= {"after": np.array(texts), "name": name}
    if rich or rng.random() < 0.3:
        columns["begin"] = np.where(rng.random(n) < 0.5, rng.integers(0, 40, n), -1)
    if rich or rng.random() < 0.3:
        array = rng.integers(-1, 2, n)
        columns |= {"array": array, "array_limit": np.where(array < 0, -1, rng.integers(1, 3, 2)[array])}
    if rich or rng.random() < 0.4:
        columns["cancel"] = np.where(rng.random(n) < 0.4, submit + rng.integers(0, 30, n), -1)
    log = fs.Workload(
        submit, rng.integers(0, 15, n), rng.integers(1, nodes + 1, n), estimate=rng.integers(0, 20, n), user=user,
        columns=columns,
    )  # fmt: skip
    count = int(rng.integers(1, 5)) if rich or rng.random() < 0.4 else 0
    time, node = np.sort(rng.integers(0, 60, count)).tolist(), rng.integers(0, nodes, count).tolist()
    case = Case(
        nodes,
        list(zip(time, node, rng.choice([0, 0, 1, 9], count).tolist(), strict=True)),
        drawn_windows(rng, nodes) if rich or rng.random() < 0.4 else [],
        drawn_acts(rng, n, nodes) if rich or rng.random() < 0.4 else [],
        scheduler=str(rng.choice(SCHEDULERS)),
        depth=float(rng.choice([1, 2, 3, np.inf])),
        known=bool(rng.random() < 0.7),
        limit=bool(rng.random() < 0.4),
    )
    return log, case


def drawn_windows(rng, nodes):
    windows = []
    for _ in range(int(rng.integers(1, 4))):
        begin, length = int(rng.integers(0, 50)), int(rng.choice([1, 4, 10]))
        every = int(rng.choice([0, 0, length + rng.choice([1, 25, 40, 70])]))
        some = frozenset(rng.choice(nodes, int(rng.integers(1, nodes + 1)), replace=False).tolist())
        users = [frozenset(), frozenset(), frozenset({0}), frozenset({0, 1})][rng.integers(0, 4)]
        windows.append(Window(begin, begin + length, every, some, users, bool(rng.random() < 0.3)))
    return windows


def drawn_acts(rng, jobs, nodes):
    """Of a caller between two seconds; in the end, all nodes and jobs are free to go on."""
    acts = []
    for _ in range(int(rng.integers(1, 7))):
        verb = str(rng.choice(["hold", "hold", "release", "drain", "resume"]))
        which = int(rng.integers(0, jobs if verb in ("hold", "release") else nodes))
        acts.append((int(rng.integers(0, 30)), verb, which))
    acts.sort(key=lambda act: act[0])
    acts += [(LAST_ACTS, "release", job) for job in range(jobs)]
    return [*acts, *((LAST_ACTS, "resume", node) for node in range(nodes))]


def jobs_of(log):
    jobs = []
    columns = log.columns
    for row in range(len(log)):
        job = Job(row, *(int(getattr(log, name)[row]) for name in ("submit", "runtime", "estimate", "size")))
        for part in columns["after"][row].split(",") if "after" in columns and columns["after"][row] else ():
            if part == "singleton":
                job.alone, job.owner = True, (int(log.user[row]), columns["name"][row])
                continue
            kind, rest = part.split(":")
            other, delay = rest.split("+")
            job.waits.append((kind, int(other) - 1, int(delay)))
        if "name" in columns:
            job.owner = (int(log.user[row]), str(columns["name"][row]))
        job.begin = int(columns["begin"][row]) if "begin" in columns else 0
        if "cancel" in columns and columns["cancel"][row] >= 0:
            job.cancel = int(columns["cancel"][row])
        if "array" in columns:
            job.array, job.most = int(columns["array"][row]), int(columns["array_limit"][row])
        job.user = int(log.user[row])
        jobs.append(job)
    return jobs


def options_of(case):
    repairs = "known" if case.known else "unknown"
    schedulers = {
        "fcfs": lambda: fs.Fcfs(),
        "easy": lambda: fs.EasyBackfill(repairs=repairs),
        "backfill": lambda: fs.Backfill("unlimited" if case.depth == np.inf else int(case.depth), repairs=repairs),
        "conservative": lambda: fs.ConservativeBackfill(repairs=repairs),
    }
    time, node, length = np.array(case.failures or np.empty((0, 3)), int).T
    reservations = [
        fs.Reservation(
            sorted(each.nodes), each.begin, each.end, users=sorted(each.users) or None, every=each.every or None,
            overrun="kill" if each.kills else "wait",
        )
        for each in case.windows
    ]  # fmt: skip
    return {
        "scheduler": schedulers[case.scheduler](),
        "failures": fs.FailureTrace(time, node, length, span=10_000),
        "reservations": reservations or None,
        "overrun": "kill" if case.limit else "extend",
    }


def run_of(log, case, acts, engine):
    """The result of an engine of the package, in which a caller does the same."""
    sim = fs.Simulation(log, fs.Cluster(case.nodes), engine=engine, record=True, **options_of(case))
    for time in sorted({time for time, _, _ in acts}):
        sim.advance(until=time)
        for at, verb, which in acts:
            if at == time:
                getattr(sim, verb)(which)
    sim.advance()
    return sim.result()


def stays_of(result):
    """The nodes of each time that a job holds some, as `Machine.stays`."""
    table = result.allocations
    first = table["node_offsets"].tolist()
    nodes = [sorted(table["nodes"][start:end].tolist()) for start, end in itertools.pairwise(first)]
    return list(zip(table["job"].tolist(), table["begin"].tolist(), nodes, strict=True))


def compare(seed, engines=("core",)):
    """Run one case in these engines and here.  The case and what came of it; None if it never ends."""
    log, case = drawn(np.random.default_rng(seed))
    jobs = jobs_of(log)
    program = Machine(jobs, case)
    try:
        program.run()
    except NeverEnds:
        return None
    mine = {
        "state": [job.status for job in jobs],
        "eligible": [job.eligible for job in jobs],
        "start": [job.start for job in jobs],
        "finish": [float(job.end) for job in jobs],
    }
    for engine in engines:
        result = run_of(log, case, program.done, engine)
        for name, column in mine.items():
            np.testing.assert_array_equal(result.jobs[name], np.array(column), f"seed {seed}, {engine}, {name}")
        assert sorted(stays_of(result)) == sorted(program.stays), f"seed {seed}, {engine}, nodes"
    return log, program


def features(log, program):
    """What a case has, in words of the page on testing."""
    done = {verb for _, verb, _ in program.done}
    return {
        **{f"under {name}": program.plans.scheduler == name for name in SCHEDULERS},
        "with conditions": any(job.waits or job.alone for job in program.jobs),
        "with earliest starts": "begin" in log.columns,
        "with arrays": "array" in log.columns,
        "with withdrawals": any(job.status in ("withdrawn", "killed") for job in program.jobs),
        "with failures": program.had_failures,
        "with reservations": bool(program.windows),
        "with jobs on hold": "hold" in done,
        "with drained nodes": "drain" in done,
    }


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--reference", action="store_true", help="also compare the reference engine")
    given = parser.parse_args(argv)
    thresholds.from_environment()
    states, counts, number = Counter(), Counter(), 0
    while counts["random runs"] < given.runs:
        found = compare([given.seed, number], ("core", "reference") if given.reference else ("core",))
        number += 1
        if found is None:
            continue
        has = features(*found)
        counts["random runs"] += 1
        counts.update(has)
        counts["with all of these"] += sum(has.values()) == len(has) - len(SCHEDULERS) + 1
        states.update(job.status for job in found[1].jobs)
    words = ", ".join(f"{count:,} {name}" for name, count in [*counts.items(), *sorted(states.items())])
    print(f"all agree: {words}")
    what = (
        "Random runs of jobs with conditions, arrays, withdrawals, holds, reservations, drained nodes and failures in "
        "the compiled engine and in a program that tries every second: state, times and nodes of every job."
    )
    command = f"python tests/verification/third_conditions.py --runs {given.runs} --seed {given.seed}"
    record("jobs-as-submitted", "answers", what, {**counts, "runs that differ": 0}, command)
    return states


if __name__ == "__main__":
    main()
