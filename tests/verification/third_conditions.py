"""A third program for conditions, arrays, earliest starts and withdrawals, with failures (model.md#eligibility).

    python tests/verification/third_conditions.py --runs 20000 [--seed 1]

It shares no code with the engines and keeps no list of events: all times are whole seconds, and every second is looked
at.  Fcfs and EasyBackfill on a cluster; jobs that a failure kills go back to the queue.
"""

import argparse
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import faultsim as fs

KINDS = ("after", "afterok", "afterany", "afternotok")


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
    place: int = -1
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

    def __init__(self, jobs, nodes, failures, easy, limit):
        self.jobs, self.nodes, self.failures, self.easy, self.limit = jobs, nodes, list(failures), easy, limit
        self.down = {}
        self.places = self.lines = 0

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
        if job.array < 0 or not job.most:
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
        job.status, job.eligible, job.place = "queued", t, self.places
        self.places += 1

    def close(self, job, t, status):
        job.status, job.end, job.in_line = status, t, None

    # -- one event; whether there was one, and whether a pass is due

    def event(self, t):
        for job in self.jobs:
            if job.status == "running" and job.end == t:
                self.close(job, t, "timed out" if self.limit and job.runtime > job.estimate else "ended")
                job.nodes = []
                return True, True
        for node in sorted(self.down):
            if self.down[node] == t:
                del self.down[node]
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
                self.close(job, t, "killed" if job.status == "running" else "withdrawn")
                if job.nodes:
                    job.start = min(job.start, t)
                    job.nodes = []
                else:
                    job.start = np.nan
                return True, waited
        return False, False

    def fail(self, t):
        """All failures of this second; whether one had an effect."""
        effect = False
        while self.failures and self.failures[0][0] == t:
            _, node, length = self.failures.pop(0)
            for job in self.jobs:
                if node in job.nodes:
                    job.nodes, job.status, effect = [], "queued", True
            if length > 0 and t + length > self.down.get(node, t):
                self.down[node] = t + length
                effect = True
        return effect

    # -- a pass

    def free(self):
        held = {node for job in self.jobs for node in job.nodes}
        return [node for node in range(self.nodes) if node not in held and node not in self.down]

    def start(self, job, t):
        job.nodes = self.free()[: job.size]
        job.status, job.start = "running", t
        job.first_held = t if job.first_held is None else job.first_held
        job.end = t + (min(job.runtime, job.estimate) if self.limit else job.runtime)

    def schedule(self, t):
        queue = sorted((job for job in self.jobs if job.status == "queued"), key=lambda job: job.place)
        while queue and queue[0].size <= len(self.free()):
            self.start(queue.pop(0), t)
        if not queue or not self.easy:
            return
        releases = [(max(t, job.start + job.estimate), job.size) for job in self.jobs if job.nodes]
        releases = sorted(releases + [(up, 1) for up in self.down.values()])
        free, shadow = len(self.free()), np.inf
        for when, size in releases:
            free += size
            if free >= queue[0].size:
                shadow = when
                break
        extra = len(self.free()) + sum(size for when, size in releases if when <= shadow) - queue[0].size
        for job in queue[1:]:
            if job.size > len(self.free()):
                continue
            if t + job.estimate <= shadow:
                self.start(job, t)
            elif job.size <= extra:
                extra -= job.size
                self.start(job, t)

    def run(self):
        t = min(job.submit for job in self.jobs)
        for when, node, length in self.failures:
            if when < t < when + length:
                self.down[node] = max(self.down.get(node, t), when + length)
        self.failures = [row for row in self.failures if row[0] >= t]
        while not all(job.over for job in self.jobs):
            while True:
                happened = due = False
                while not all(job.over for job in self.jobs) or happened:
                    there, wanted = self.event(t)
                    if not there:
                        break
                    happened, due = True, due | wanted
                if due:
                    self.schedule(t)
                if not any(job.status == "running" and job.end == t for job in self.jobs) and not any(
                    job.status == "submitted" and self.status_of(job, t) != "not yet" and job.in_line is None
                    for job in self.jobs
                ):
                    break
            t += 1
            if t > 5000:
                raise RuntimeError("the run does not end")


def drawn(rng):
    """A random case: the log, the failures and the options of a run."""
    n, nodes = int(rng.integers(1, 9)), int(rng.integers(1, 6))
    submit = np.sort(rng.integers(0, 15, n))
    columns = {}
    user, name = rng.integers(0, 2, n), rng.choice(["a", "b"], n)
    if rng.random() < 0.8:
        texts = []
        for row in range(n):
            parts = ["singleton"] if rng.random() < 0.15 else []
            for other in rng.choice(row, min(row, int(rng.integers(0, 3))), replace=False).tolist() if row else ():
                parts.append(f"{rng.choice(KINDS)}:{other + 1}+{rng.choice([0, 0, 2, 7])}")
            texts.append(",".join(parts))
        columns |= {"after": np.array(texts), "name": name}
    if rng.random() < 0.5:
        columns["begin"] = np.where(rng.random(n) < 0.5, rng.integers(0, 40, n), -1)
    if rng.random() < 0.5:
        array = rng.integers(-1, 2, n)
        columns |= {"array": array, "array_limit": np.where(array < 0, -1, rng.integers(1, 3, 2)[array])}
    if rng.random() < 0.6:
        columns["cancel"] = np.where(rng.random(n) < 0.4, submit + rng.integers(0, 30, n), -1)
    log = fs.Workload(
        submit, rng.integers(0, 15, n), rng.integers(1, nodes + 1, n), estimate=rng.integers(0, 20, n), user=user,
        columns=columns,
    )  # fmt: skip
    count = int(rng.integers(0, 5)) if rng.random() < 0.6 else 0
    time = np.sort(rng.integers(0, 60, count))
    failures = fs.FailureTrace(time, rng.integers(0, nodes, count), rng.choice([0, 0, 1, 9], count), span=10_000)
    return log, nodes, failures, bool(rng.random() < 0.6), bool(rng.random() < 0.4)


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
        jobs.append(job)
    return jobs


def compare(seed):
    """Run one case in both engines and here; the states that occurred, or what differs."""
    rng = np.random.default_rng(seed)
    log, nodes, failures, easy, limit = drawn(rng)
    jobs = jobs_of(log)
    rows = zip(failures.time.astype(int), failures.node.tolist(), failures.downtime.astype(int), strict=True)
    Machine(jobs, nodes, rows, easy, limit).run()
    scheduler = fs.EasyBackfill(repairs="known") if easy else fs.Fcfs()
    result = fs.simulate(
        log, fs.Cluster(nodes), scheduler=scheduler, failures=failures, overrun="kill" if limit else "extend"
    )
    for name, mine in {
        "state": [job.status for job in jobs],
        "eligible": [job.eligible for job in jobs],
        "start": [job.start for job in jobs],
        "finish": [float(job.end) for job in jobs],
    }.items():
        np.testing.assert_array_equal(result.jobs[name], np.array(mine), f"seed {seed}, {name}")
    return [job.status for job in jobs]


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(argv)
    sys.path.append(str(Path(__file__).resolve().parents[1]))
    from helpers import thresholds

    thresholds.from_environment()
    found = {}
    for number in range(given.runs):
        for status in compare([given.seed, number]):
            found[status] = found.get(status, 0) + 1
    counts = ", ".join(f"{count:,} {status}" for status, count in sorted(found.items()))
    print(f"{given.runs:,} runs agree; jobs: {counts}")
    return found


if __name__ == "__main__":
    main()
