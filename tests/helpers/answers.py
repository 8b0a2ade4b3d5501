"""Built-in recoveries, checkpoint rules and rescheduling again, as policies in Python and as answers of a caller."""

from itertools import product

import numpy as np

import faultsim as fs


class Recover(fs.Recovery):
    """A built-in recovery again."""

    def __init__(self, rule):
        self.rule = rule
        self.place, self.restart_cost = getattr(rule, "place", "arrival"), rule.restart_cost

    def react(self, decision):
        act = decision.hold if isinstance(self.rule, fs.Hold) else decision.requeue
        act(decision.job)


class Risky(fs.Checkpointing):
    """model.md#risk-based again."""

    def __init__(self, rule):
        self.interval, self.cost = rule.interval, rule.cost

    def wants(self, decision):
        now, window = decision.now, self.interval + self.cost
        seen = decision.foreseen(window)
        near = seen[(seen["begin"] < now + window) & (seen["end"] > now)]
        running = decision.running
        where = running.where[running.index.tolist().index(decision.job)]
        k = len(set(near["node"].tolist()) & nodes_of(where, decision.occupancy.shape))
        survives = 1.0
        for _ in range(k):
            survives *= 1.0 - near["p"][0]
        return ((1.0 - survives) * decision.asked) * self.interval >= self.cost


class Always(fs.Checkpointing):
    """Every request is granted."""

    def __init__(self, rule):
        self.interval, self.cost = rule.interval, rule.cost

    def wants(self, decision):
        return True


class Leave(fs.Rescheduling):
    """`Fars` with `JobFailureRate` again, on a cluster with `Fcfs` (model.md#tick)."""

    def __init__(self, rule):
        self.rule, self.interval = rule, rule.interval

    def tick(self, decision):
        leave(decision, self.rule)


def leave(d, rule):
    """One tick of `Fars` with `JobFailureRate`, on a cluster with `Fcfs`."""
    end = (round(d.now / rule.interval) + 1) * rule.interval
    seen = d.foreseen(end - d.now)
    near = seen[(seen["end"] > d.now) & ((seen["begin"] < end) | (seen["begin"] == seen["end"]))]
    suspicious = set(near["node"].tolist())
    running, held = d.running, set(d.down.tolist())
    jobs = []
    for job, start, nodes in zip(running.index.tolist(), running.start.tolist(), running.where, strict=True):
        mine = sorted(suspicious & set(nodes.tolist()))
        if mine and start <= d.now and not held & set(nodes.tolist()):
            jobs.append((job, nodes.tolist(), mine))
    healthy = [node for node in np.flatnonzero(~d.occupancy).tolist() if node not in suspicious]

    def risk(k):
        survives = 1.0
        for _ in range(k):
            survives *= 1.0 - near["p"][0]
        return 1.0 - survives

    values = [risk(len(mine)) for _, _, mine in jobs]
    taken, _ = fs.knapsack(values, [len(mine) for _, _, mine in jobs], len(healthy))
    moving = {job: mine for (job, _, mine), take in zip(jobs, taken, strict=True) if take}
    left = len(healthy) - sum(map(len, moving.values()))
    best = 0.0
    for job, _, mine in jobs if left else ():
        if job not in moving and len(mine) > left:
            lower = risk(len(mine) - left)
            gain = risk(len(mine)) - lower if rule.residual == "difference" else lower
            if gain > best:
                best, extra = gain, {job: mine[:left]}
    if best > 0.0:
        moving |= extra
    cost = {"checkpoint_cost": rule.checkpoint_cost, "restart_cost": rule.restart_cost, "live": rule.live}
    for job, nodes, _ in jobs:
        out = moving.get(job)
        if out:
            into = [node for node in np.flatnonzero(~d.occupancy).tolist() if node not in suspicious][: len(out)]
            d.move(job, nodes=[*(node for node in nodes if node not in out), *into], **cost)


def nodes_of(where, shape):
    """The nodes of a job, as a set of numbers."""
    if len(shape) == 1:
        return set(where.tolist())
    axes = [
        [(base + i) % n for i in range(extent)] for base, extent, n in zip(where[:3], where[3:], shape, strict=True)
    ]
    return {int(np.ravel_multi_index(place, shape)) for place in product(*axes)}


def answered(run, answers, decide, engine="core", verify=False, **external):
    """A run of which a caller decides the passes and gives the other answers, functions by kind."""
    options = {name: getattr(run, name) for name in run.__dataclass_fields__ if name not in ("log", "machine", "_")}
    repairs = getattr(run.scheduler, "repairs", "known")
    at = ("schedule", *answers)
    options["scheduler"] = fs.External(order=run.scheduler.order, repairs=repairs, at=at, **external)
    sim = fs.Simulation(run.log, run.machine, engine=engine, **options)
    while (d := sim.advance()) is not None:
        answers.get(d.kind, decide)(d)
        if verify:
            sim.verify()
    return sim.result()
