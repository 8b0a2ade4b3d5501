"""RLScheduler's simulator once more, written from its rules alone, one event after the other, without the package.

A job is (submit, run time, size, estimate); an estimate of -1 is missing.
"""

import math


def _log10(value):
    return math.log10(value if value else 0.1)


SCORES = {
    "FCFS": lambda submit, estimate, size, wait: submit,
    "SJF": lambda submit, estimate, size, wait: (estimate, submit),
    "F1": lambda submit, estimate, size, wait: _log10(estimate) * size + 870 * _log10(submit),
    "WFP3": lambda submit, estimate, size, wait: -((wait / estimate) ** 3) * size,
    "UNICEF": lambda submit, estimate, size, wait: -(wait + 1e-15) / (math.log2(size + 1e-15) * estimate),
}


def starts(jobs, nodes, policy, backfill, real_wait):
    """When each job starts."""
    jobs = [(submit, run, size, run if estimate < 0 else estimate) for submit, run, size, estimate in jobs]
    now, free, arrived = jobs[0][0], nodes, 1
    queue, running, start = [0], [], {}

    def begin(job):
        nonlocal free
        queue.remove(job)
        running.append(job)
        start[job] = now
        free -= jobs[job][2]

    def next_event():
        nonlocal now, free, arrived
        running.sort(key=lambda job: start[job] + jobs[job][1])
        end = start[running[0]] + jobs[running[0]][1] if running else math.inf
        if arrived < len(jobs) and jobs[arrived][0] <= end:
            now = jobs[arrived][0]
            queue.append(arrived)
            arrived += 1
        else:
            now = end
            free += jobs[running.pop(0)][2]

    def score(job):
        submit, _, size, estimate = jobs[job]
        return SCORES[policy](submit, estimate, size, now - submit if real_wait else -1 - submit)

    while True:
        queue.sort(key=score)
        first = queue[0]
        available, expected = free, now
        for job in sorted(running, key=lambda job: start[job] + jobs[job][3]):
            if available >= jobs[first][2]:
                break
            available += jobs[job][2]
            expected = start[job] + jobs[job][3]
        while jobs[first][2] > free:
            if backfill:
                queue.sort(key=lambda job: jobs[job][0])
                for job in list(queue):
                    if jobs[job][2] <= free and now + jobs[job][3] < expected:
                        begin(job)
            next_event()
        begin(first)
        while not queue:
            if arrived == len(jobs):
                return [start[job] for job in range(len(jobs))]
            next_event()


def mean_slowdown(jobs, begun):
    """Bounded, with 10 s."""
    found = [max(1.0, (at - job[0] + job[1]) / max(job[1], 10)) for job, at in zip(jobs, begun, strict=True)]
    return sum(found) / len(found)
