"""Fixed cases of all that the compiled modules do, each a call that gives the same every time."""

import pickle
import tempfile
from pathlib import Path

import numpy as np

import faultsim as fs


class Widest(fs.QueueOrder):
    def keys(self, queue, now):
        return -queue.size


class Last(fs.Placement):
    def choose(self, job, candidates, state):
        return len(candidates) - 1

    def choose_nodes(self, job, unused, state):
        return unused[-job.size :]


class Own(fs.Scheduler):
    def schedule(self, decision):
        easy(decision)


def easy(d):
    """EASY backfilling, from outside."""
    waiting = d.queue.tolist()
    while waiting and d.fits(waiting[0]):
        d.start(waiting.pop(0))
    for job in waiting[1:]:
        d.backfill(job, max_growth=3)


def log_for(machine, n=40, seed=1):
    rng = np.random.default_rng(seed)
    if machine == MANY:
        times = np.arange(80, 160)
        return fs.Workload(submit=np.zeros(81), runtime=[*times, 5], size=[1] * 80 + [100])
    if machine == LONG:
        return fs.Workload(submit=[0] * 4, runtime=[10, 20, 5, 50], size=[720, 120, 30, 2])
    nodes = 16 if machine == SITE else machine.nodes
    log = fs.Workload(
        submit=np.sort(rng.integers(0, 80, n)), runtime=rng.integers(1, 40, n), estimate=rng.integers(1, 60, n),
        size=rng.integers(1, nodes // 2, n), user=np.arange(n) % 3,
    )  # fmt: skip
    return log.with_columns(cores=log.size, memory=1024 * (1 + log.size % 4)) if machine == SITE else log


def answer(thing):
    """Of a result: all that it has, in a form that can be compared."""
    if isinstance(thing, fs.Result):
        return [pickle.dumps([np.asarray(thing.jobs[name]).tobytes() for name in thing.jobs]), dict(thing.ledger)]
    return thing


CLUSTER, TORUS = fs.Cluster(16), fs.Torus(4, 2, 3)
WIDE = fs.Torus(9, 5, 7)
#: Where the least boxes of 30 nodes have nine extents on an axis, more than their sets have room for at first.
LONG = fs.Torus(24, 6, 6)
#: Where more jobs run than plans have steps at first.
MANY = fs.Torus(4, 4, 10)
#: 16 hosts, as the cluster has nodes, so that failures are the same; and one whose masks take more than one word.
SWITCHED, WIRED, LARGE = (
    fs.Pod((1, 2, 2), (2, 2, 2), 4), fs.Pod((1, 2, 2), (2, 2, 2), 4, "static"),
    fs.Pod((3, 5, 5), (2, 2, 2), 2, "static", aligned=False),
)  # fmt: skip
_DRAWN = fs.synthetic.exponential_failures(
    nodes=16, span=300, mtbf=600, downtime=7, any_rate=True, rng=np.random.default_rng(3)
)
#: Without the number of nodes, so that it goes with machines of more.
FAILURES = fs.FailureTrace(_DRAWN.time, _DRAWN.node, _DRAWN.downtime, coin=_DRAWN.coin, span=_DRAWN.span)
#: 16 cores, as the cluster has nodes.
SITE = fs.Site([fs.NodeClass("cpu", 4, cores=4, memory="16G")])
#: Nodes that are closed at times, or to some users.
RESERVED = [fs.Reservation([1], 20, 50), fs.Reservation([0, 2], 30, 90, users=[1], every=200)]
FORESEEN = {"failures": FAILURES, "predictor": fs.Perfect()}
WARNED = {"failures": FAILURES, "predictor": fs.IntervalPredictor(1, 1, 10), "checkpointing": fs.Periodic(5, 1)}

STEALING = fs.Fars(10, fs.NodeStealing())


def runs():
    """Name -> machine and options."""
    return {
        "fcfs": (CLUSTER, {"scheduler": fs.Fcfs()}),
        "easy": (CLUSTER, {}),
        "easy-wfp3": (CLUSTER, {"scheduler": fs.EasyBackfill(order=fs.Wfp3())}),
        "easy-python": (CLUSTER, {"scheduler": fs.EasyBackfill(order=Widest())}),
        "easy-key": (CLUSTER, {"scheduler": fs.EasyBackfill(order=fs.Key("size * (now - submit)"))}),
        "conservative": (CLUSTER, {"scheduler": fs.ConservativeBackfill()}),
        "depth": (CLUSTER, {"scheduler": fs.Backfill(3)}),
        "record": (CLUSTER, {"record": True}),
        "own-scheduler": (CLUSTER, {"scheduler": Own()}),
        "own-placement": (CLUSTER, {"placement": Last(), "record": True}),
        "curve": (fs.Cluster(16, shape=(4, 2, 2)), {"placement": fs.CurveBestFit()}),
        "failures": (CLUSTER, {"failures": FAILURES, "record": True}),
        "hold": (CLUSTER, {"failures": FAILURES, "recovery": fs.Hold()}),
        "periodic": (CLUSTER, {"failures": FAILURES, "checkpointing": fs.Periodic(5, 1)}),
        "safest": (CLUSTER, {**FORESEEN, "placement": fs.SafestFirst()}),
        "least-failures": (CLUSTER, {**FORESEEN, "placement": fs.LeastFailuresFirst()}),
        "fars": (CLUSTER, {**WARNED, "rescheduling": fs.Fars(10, fs.FailureSlowdown())}),
        "spares": (CLUSTER, {**WARNED, "rescheduling": STEALING}),
        "spares-depth": (CLUSTER, {**WARNED, "rescheduling": STEALING, "scheduler": fs.Backfill(3)}),
        "spares-conservative": (CLUSTER, {**WARNED, "rescheduling": STEALING, "scheduler": fs.ConservativeBackfill()}),
        "torus": (TORUS, {}),
        "torus-fcfs": (TORUS, {"scheduler": fs.Fcfs(), "placement": fs.MaxFreePartition()}),
        "torus-conservative": (TORUS, {"scheduler": fs.ConservativeBackfill(), "placement": fs.MostCubic()}),
        "torus-depth": (TORUS, {"scheduler": fs.Backfill(2)}),
        "torus-python": (TORUS, {"placement": Last()}),
        "torus-defragment": (TORUS, {"migration": fs.Defragment(cost=1.0), "record": True}),
        "torus-wide": (WIDE, {"placement": fs.MaxFreePartition()}),
        "torus-long": (LONG, {}),
        "torus-long-python": (LONG, {"placement": Last()}),
        "torus-balancing": (TORUS, {**FORESEEN, "placement": fs.Balancing()}),
        "torus-ties": (WIDE, {**FORESEEN, "placement": fs.TieBreaking()}),
        "torus-fars": (TORUS, {**WARNED, "rescheduling": fs.Fars(10, fs.FailureSlowdown())}),
        "preemptive": (CLUSTER, {"scheduler": fs.Preemptive("shortest"), "record": True}),
        "preemptive-failing": (CLUSTER, {"scheduler": fs.Preemptive("largest"), "failures": FAILURES}),
        "switched": (SWITCHED, {"failures": FAILURES, "record": True}),
        "switched-conservative": (SWITCHED, {"scheduler": fs.ConservativeBackfill()}),
        "switched-fars": (SWITCHED, {**WARNED, "rescheduling": fs.Fars(10, fs.FailureSlowdown())}),
        "wired": (WIRED, {"failures": FAILURES, "record": True}),
        "wired-conservative": (WIRED, {"scheduler": fs.ConservativeBackfill()}),
        "wired-fars": (WIRED, {**WARNED, "rescheduling": fs.Fars(10, fs.FailureSlowdown())}),
        "large-pod": (LARGE, {"scheduler": fs.Fcfs()}),
        "site": (SITE, {}),
        "site-depth": (SITE, {"scheduler": fs.Backfill(3), "record": True}),
        "site-conservative": (SITE, {"scheduler": fs.ConservativeBackfill()}),
        "site-reserved": (SITE, {"reservations": RESERVED, "scheduler": fs.ConservativeBackfill()}),
        "reserved": (CLUSTER, {"reservations": RESERVED}),
        "reserved-depth": (CLUSTER, {"reservations": RESERVED, "scheduler": fs.Backfill(3)}),
        "reserved-conservative": (CLUSTER, {"reservations": RESERVED, "scheduler": fs.ConservativeBackfill()}),
        "torus-reserved": (TORUS, {"reservations": RESERVED, "scheduler": fs.ConservativeBackfill()}),
        "torus-many": (MANY, {"scheduler": fs.ConservativeBackfill()}),
    }


def run(machine, options):
    log = log_for(machine)
    return lambda: fs.simulate(log, machine, **options)


def copied(machine, options, steps=25):
    log = log_for(machine)

    def call():
        sim = fs.Simulation(log, machine, **options)
        for _ in range(steps):
            sim.step()
        fork = sim.copy()
        fork.verify()
        fork.run()
        sim.result(partial=True)
        return fork.result()

    return call


def decided(machine):
    log = log_for(machine)

    def call():
        sim = fs.Simulation(log, machine, scheduler=fs.External(), record=True)
        seen = []
        while (d := sim.advance()) is not None:
            if len(d.queue):
                seen.append(d.shadow(d.queue.tolist()[-1]))
                seen.append(len(d.boxes(d.queue.tolist()[0])) if machine.name == "torus" else 0)
            easy(d)
        return seen, answer(sim.result())

    return call


def live():
    log = log_for(CLUSTER)
    sim = fs.Simulation(log, CLUSTER, live=90)
    for i in range(20):
        sim.submit(fs.Workload(submit=[sim.now + i], runtime=[9], size=[3]))
        sim.advance(sim.now + 9)
        sim.fail(i % 16, 4.0)
    sim.run()
    return sim.result()


def rolled_out():
    log = log_for(CLUSTER)

    def call():
        sim = fs.Simulation(log, CLUSTER, scheduler=fs.External())
        for _ in range(9):
            easy(sim.advance())
        return answer(sim.rollout(fs.ConservativeBackfill())), answer(sim.rollout(fs.Fcfs(order=fs.ShortestFirst())))

    return call


def workflow(scheduler, **options):
    rng = np.random.default_rng(1)
    edges = [(a, b, float(rng.integers(1, 5))) for b in range(1, 25) for a in range(b) if rng.random() < 0.15]
    flows = [fs.Workflow(rng.integers(1, 20, 25), edges=edges) for _ in range(3)]
    if isinstance(scheduler, fs.Heft):
        flows = flows[:1]

    def call():
        result = fs.simulate_workflows(flows, fs.Resources(4), scheduler=scheduler, **options)
        return [np.asarray(result.jobs[name]).tobytes() for name in result.jobs]

    return call


def queue():
    events = [(float(i * 37 % 101), 0, i) for i in range(300)]

    def call():
        made = fs.EventQueue(events)
        other = made.copy()
        return [other.pop() for _ in range(len(other))]

    return call


def partitions(shape, algorithm):
    busy = np.random.default_rng(1).random(shape) < 0.4

    def call():
        try:
            found = [fs.partition.find_partitions(busy, size, algorithm).tobytes() for size in (1, 2, 4)]
            return found, fs.partition.max_free_partition(busy, algorithm)
        finally:
            fs.partition._torus.cache_clear()  # where a torus stays on purpose

    return call


def environments():
    from faultsim.rl import VectorPickJob

    envs = VectorPickJob(3, jobs=20, slots=4, log=log_for(CLUSTER), machine=CLUSTER)
    _, info = envs.reset(seed=1)
    for _ in range(30):
        seen, reward, *_, info = envs.step(info["action_mask"].argmax(axis=1))
    envs.close()
    return seen.tobytes(), reward.tobytes()


def read():
    """A log, whose lines compiled code reads."""
    lines = [f"{i} {i} -1 9 2 -1 -1 2 60 -1 1 1 1 -1 1 -1 -1 -1\n" for i in range(1, 400)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log.swf")
        path.write_text("".join(lines))
        return fs.read_swf(path).submit.tobytes()


def cases():
    """Name -> call."""
    found = {name: run(*rest) for name, rest in runs().items()}
    found |= {f"copy-{name}": copied(*rest) for name, rest in runs().items()}
    found |= {f"decided-{machine}": decided(machine) for machine in (CLUSTER, TORUS, WIDE)}
    found |= {"read": read, "environments": environments, "live": live, "rollout": rolled_out(), "event-queue": queue()}
    found |= {f"workflow-{rule.name}": workflow(rule) for rule in (fs.Heft(), fs.RankHybd(), fs.Fifo())}
    found["workflow-flaw"] = workflow(fs.Flaw(), predictor=fs.Blind())
    found |= {f"{name}-{shape}": partitions(shape, name) for name in fs.partition.ALGORITHMS
              for shape in ((3, 4, 3), (5, 3, 9))}  # fmt: skip
    values, weights = np.random.default_rng(1).random(30), np.arange(30) % 7
    found["knapsack"] = lambda: [each.tobytes() for each in map(np.asarray, fs.knapsack(values, weights, 40))]
    return found
