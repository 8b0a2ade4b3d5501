"""Nothing is accepted without effect: it is refused, or the result names it."""

import numpy as np
import pytest

import faultsim as fs
from faultsim.errors import OptionError

LOG = fs.Workload(submit=[0, 0, 1], runtime=[100, 90, 50], size=[2, 2, 2], estimate=[200] * 3)
FAILURES = fs.FailureTrace([20, 31], [0, 1], 5, span=1000)
ENGINES = pytest.mark.parametrize("engine", ["core", "reference"])


# -- what policies in Python return, and have


class Reacts(fs.Recovery):
    def react(self, decision):
        return "hold"


class Passes(fs.Scheduler):
    def schedule(self, decision):
        yield from decision.queue


class Ticks(fs.Rescheduling):
    interval = 50.0

    def tick(self, decision):
        return False


@ENGINES
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"recovery": Reacts(), "failures": FAILURES}, "Reacts.react must act .* return nothing, got 'hold'"),
        ({"scheduler": Passes()}, "Passes.schedule must act .* return nothing, got <generator"),
        ({"rescheduling": Ticks()}, "Ticks.tick must act .* return nothing, got False"),
    ],
)
def test_what_a_method_returns_that_acts(engine, options, said):
    with pytest.raises(OptionError, match=said):
        fs.simulate(LOG, fs.Cluster(4), engine=engine, **options)


def test_a_checkpoint_rule_that_both_plans_and_is_asked():
    class Both(fs.Checkpointing):
        interval, cost = 10.0, 1.0

        def intervals(self, jobs):
            return np.full(len(jobs), 10.0)

        def wants(self, decision):
            return True

    with pytest.raises(OptionError, match="Both defines intervals and wants, of which only one is called"):
        fs.simulate(LOG, fs.Cluster(4), checkpointing=Both())


@ENGINES
def test_a_scheduler_in_python_may_not_know_repairs(engine):
    class Heads(fs.Scheduler):
        seen: tuple[float, ...] = ()

        def schedule(self, decision):
            Heads.seen = (*Heads.seen, *decision.repairs.tolist())
            for job in decision.queue:
                if decision.fits(job):
                    decision.start(job)

    class Blindly(Heads):
        repairs = "unknown"

    failures = fs.FailureTrace([0.5], [3], 50, span=1000)
    for scheduler, until in ((Heads(), 50.5), (Blindly(), np.inf)):
        Heads.seen = ()
        fs.simulate(LOG, fs.Cluster(4), scheduler=scheduler, failures=failures, engine=engine)
        assert Heads.seen[0] == until
    Blindly.repairs = "never"
    with pytest.raises(OptionError, match="unknown repairs of Blindly 'never'"):
        fs.simulate(LOG, fs.Cluster(4), scheduler=Blindly())
