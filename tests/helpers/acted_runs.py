"""Random runs for acts from outside: machines, jobs, failures and reservations."""

import random
from typing import Any

import faultsim as fs

SCHEDULERS = ("fcfs", "easy", "easy:order=shortest", "backfill:1", "backfill:3", "conservative")
MACHINES = (fs.Cluster(4), fs.Cluster(13), fs.Cluster(70), fs.Torus(2, 3, 2), fs.Pod((1, 2, 2)))


def drawn(rng: random.Random) -> tuple[fs.Workload, Any, dict[str, Any]]:
    """Jobs, a machine, and options of a run."""
    machine = rng.choice(MACHINES)
    n, most = rng.randint(3, 20), machine.largest_job
    size = [min(most, rng.choice([1, 1, 2, 3, max(1, most // 2), most])) for _ in range(n)]
    runtime = [rng.choice([0, 1, 5, 20, rng.randint(0, 60)]) for _ in range(n)]
    estimate = [max(1, run * rng.choice([1, 1, 2, 0.5])) for run in runtime]
    submit = sorted(rng.choice([0, rng.randint(0, 60)]) for _ in range(n))
    user = [rng.randint(0, 1) for _ in range(n)]
    options = {"scheduler": rng.choice(SCHEDULERS), "record": True}
    if rng.random() < 0.4:
        count = rng.randint(1, 5)
        times, nodes = sorted(rng.randint(0, 100) for _ in range(count)), rng.sample(range(4), 1) * count
        options["failures"] = fs.FailureTrace(times, nodes, [rng.choice([0, 5, 20])] * count)
        options["recovery"] = rng.choice(["requeue", "hold"])
    if rng.random() < 0.3:
        begin = rng.randint(0, 60)
        users = rng.choice([None, 0])
        options["reservations"] = fs.Reservation(rng.choice(["all", [0, 1]]), begin, begin + 10, users=users)
    if rng.random() < 0.2:
        options["start_delay"] = 2
    return fs.Workload(submit=submit, runtime=runtime, size=size, estimate=estimate, user=user), machine, options


def reservations_of(run: fs.Run, rng: random.Random, counts: tuple[int, ...] = (1, 2, 3)) -> list[fs.Reservation]:
    """Of a run: one of `counts` reservations, some of them repeated, with time for every job between them."""
    given = []
    for _ in range(rng.choice(counts)):
        begin, nodes = rng.randrange(0, 90), run.machine.nodes
        some = sorted(rng.sample(range(nodes), rng.randint(1, nodes)))
        every = rng.choice([None, None, 1e6])
        given.append(fs.Reservation(some, begin, begin + rng.choice([2, 10, 40]), every=every))
    return given
