"""Policies written in Python that other processes can import."""

import numpy as np

import faultsim as fs


class Easy(fs.Scheduler):
    """EASY backfilling, in an order of its own."""

    def __init__(self, order):
        self.order = order

    def schedule(self, decision):
        """Heads first, then whoever delays the head by nothing."""
        waiting = decision.queue.tolist()
        while waiting and decision.fits(waiting[0]):
            decision.start(waiting.pop(0))
        for job in waiting[1:]:
            decision.backfill(job)


class Every(fs.Predictor):
    """Foresees every failure of even nodes."""

    says_where = True

    def predict(self, trace, machine, rng):
        """At the failures."""
        even = trace.node % 2 == 0
        return {"begin": trace.time[even], "end": trace.time[even], "node": trace.node[even], "p": 1.0}


class EveryMinute(fs.Checkpointing):
    """A checkpoint a minute, of 5 seconds."""

    cost = 5.0

    def intervals(self, jobs):
        """Seconds of work."""
        return np.full(len(jobs), 60.0)


class Widest(fs.QueueOrder):
    """Most nodes first."""

    def keys(self, queue, now):
        """Minus the size."""
        return -queue.size
