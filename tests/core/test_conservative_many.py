"""Conservative backfilling on a cluster while many jobs wait, and its plain twin by the clock's ticks."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import faultsim as fs
from helpers.engines import runs_agree

NODES = 24
TICKS = 4_000  # nothing takes longer, all in all


class Plain:
    """All times are whole numbers; what is free is counted for each of them (model.md#conservative)."""

    def __init__(self, log):
        self.submit, self.runtime, self.size, self.estimate = (
            np.asarray(log.columns[name]).astype(int) for name in ("submit", "runtime", "size", "estimate")
        )
        self.start = np.full(len(log), -1)
        self.queue, self.running, self.begin = [], [], {}
        self.now = self.last = -1
        self.upset = False

    def free(self):
        """By the plan."""
        level = np.full(TICKS, NODES)
        for job in self.running:
            level[self.now : max(self.now, self.start[job] + self.estimate[job])] -= self.size[job]
        for job, begin in self.begin.items():
            level[begin : begin + self.estimate[job]] -= self.size[job]
        return level

    def hole(self, level, job):
        low = np.flatnonzero(level[self.now :] < self.size[job])
        ends = np.append(low, TICKS)
        begins = np.concatenate([[0], low + 1])
        return self.now + int(begins[np.argmax(ends - begins >= self.estimate[job])])

    def sweep(self):
        level = self.free()
        for job in list(self.queue):
            old = self.begin.pop(job, TICKS)
            level[old : old + self.estimate[job]] += self.size[job]
            begin = self.begin[job] = min(self.hole(level, job), old)
            level[begin : begin + self.estimate[job]] -= self.size[job]
            used = sum(self.size[other] for other in self.running)
            if begin == self.now and used + self.size[job] <= NODES:
                del self.begin[job]
                self.queue.remove(job)
                self.running.append(job)
                self.start[job] = self.now

    def run(self):
        arrivals = list(np.argsort(self.submit, kind="stable"))
        while arrivals or self.running:
            ends = [self.start[job] + self.runtime[job] for job in self.running]
            self.now = min(ends + [self.submit[job] for job in arrivals[:1]])
            for job, end in zip(list(self.running), ends, strict=True):
                if end == self.now:
                    self.running.remove(job)
                    self.upset |= self.runtime[job] > self.estimate[job]
            while arrivals and self.submit[arrivals[0]] == self.now:
                self.queue.append(arrivals.pop(0))
            overdue = any(self.start[job] + self.estimate[job] <= self.now for job in self.running)
            missed = any(begin < self.now or begin == self.last for begin in self.begin.values())
            if self.upset or overdue or missed:
                self.begin.clear()
            self.upset, self.last = False, self.now
            self.sweep()
        return self.start


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 3))
def test_a_long_queue_is_planned_as_by_its_plain_twin(seed, overrun):
    rng = np.random.default_rng(seed)
    jobs = 250
    runtime = rng.integers(1, 40, jobs)
    # Most end early; some of them outlive their estimates, in `overrun` of 100.
    early = runtime * rng.integers(1, 4, jobs)
    estimate = np.where(rng.integers(0, 100, jobs) < overrun, np.maximum(runtime - 3, 1), early)
    log = fs.Workload(
        submit=np.sort(rng.integers(0, 100, jobs)).astype(float),
        runtime=runtime.astype(float),
        size=np.minimum(rng.geometric(0.25, jobs), NODES),
        estimate=estimate.astype(float),
    )
    run = fs.simulate(log, fs.Cluster(NODES), scheduler=fs.ConservativeBackfill(), estimates="requested")
    assert run.jobs["start"].tolist() == Plain(log).run().tolist()


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 10_000))
def test_who_may_start_is_asked_of_many_steps(seed):
    """Some 150 jobs run, and end at as many times; one of them outlives its estimate, so that each pass plans again."""
    rng = np.random.default_rng(seed)
    running, waiting = 150, 30
    estimate = np.concatenate(
        [[1], rng.permutation(np.arange(100, 100 + 6 * running, 6))[1:], rng.integers(1, 1000, waiting)]
    )
    size = np.concatenate([rng.integers(1, 3, running), rng.integers(1, 60, waiting)])
    submit = np.concatenate([np.zeros(running), np.sort(rng.integers(2, 90, waiting))])
    runtime = estimate.copy()
    runtime[0] = 2000
    log = fs.Workload(
        submit=submit.astype(float), runtime=runtime.astype(float), size=size, estimate=estimate.astype(float)
    )
    machine = fs.Cluster(int(size[:running].sum()) + int(rng.integers(2, 60)))
    runs_agree(fs.Run(log, machine, scheduler=fs.ConservativeBackfill(), estimates="requested"))
