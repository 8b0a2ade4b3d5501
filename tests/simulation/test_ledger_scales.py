"""The ledger at all scales of time: no account below 0, and all of them together the capacity (model.md#ledger)."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim import checks

NODES = 8
#: Metrics that are shares of the capacity.
SHARES = {"utilization", "capacity_unused", "capacity_lost"}


@st.composite
def scaled_runs(draw):
    """A run whose times are some seconds, microseconds or centuries, early or late, and one job after the other."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    scale = 2.0 ** draw(st.integers(-20, 33))
    begin = draw(st.sampled_from([0.0, 1.0, 2.0**20, 2.0**32, 2.0**33 - 2.0**20]))
    n = draw(st.sampled_from([1, 6, 40, 400]))
    late = checks.LATEST
    runtime = np.minimum(rng.exponential(scale, n), late)
    submit = np.minimum(begin + rng.exponential(scale / 4, n).cumsum(), late)
    options = {"start_delay": draw(st.sampled_from([0.0, scale / 30]))}
    if draw(st.booleans()):
        options["checkpointing"] = fs.Periodic(max(scale / 10, 1e-6), scale / 100, any_rate=True)
    if draw(st.booleans()):
        time = np.sort(np.minimum(rng.uniform(submit[0], submit[0] + scale * n, 12), late))
        downtime = np.minimum(rng.exponential(scale, 12), late)
        options["failures"] = fs.FailureTrace(time, rng.integers(0, NODES, 12), downtime)
        options["recovery"] = draw(st.sampled_from([fs.Requeue(), fs.Requeue(restart_cost=scale / 50), fs.Hold()]))
    log = fs.Workload(submit=submit, runtime=runtime, size=rng.integers(1, NODES + 1, n))
    machine = draw(st.sampled_from([fs.Cluster(NODES), fs.Torus(2, 2, 2)]))
    return log, machine, options


def check(result, log, begin, end):
    """Accounts, shares and the sum of all."""
    ledger = dict(result.ledger)
    assert min(ledger.values()) >= 0.0, ledger
    capacity = NODES * (end - begin)
    # Each booking is a difference of clock times, which are that far apart at the end.
    step = NODES * (len(log) + 30) * 8 * math.ulp(end)
    assert math.fsum(ledger.values()) == pytest.approx(capacity, rel=1e-12, abs=step)
    # (NaN: no time has passed.)
    shares = {name: value for name, value in result.metrics.items() if name in SHARES}
    assert not any(share < -1e-12 or share > 1.0 + 1e-12 for share in shares.values()), shares
    return ledger, step


@given(scaled_runs())
def test_accounts_at_all_scales(drawn):
    log, machine, options = drawn
    result = fs.simulate(log, machine, **options)
    jobs = result.jobs
    ledger, step = check(result, log, log.submit[0], jobs["finish"].max())
    work = math.fsum(jobs["runtime"] * jobs["size"])
    assert ledger["useful"] + ledger["cut_at_limit"] == pytest.approx(work, rel=1e-12, abs=step)


def test_capacity_lost_of_short_jobs_at_a_late_time():
    """The machine is full, and the clock shows a little less than the run times."""
    rng = np.random.default_rng(60)
    lost = []
    for _ in range(40):
        runtime = rng.exponential(1e-3, 20)
        log = fs.Workload(submit=np.full(20, 2.0**33 - 1), runtime=runtime, size=np.full(20, NODES))
        result = fs.simulate(log, fs.Cluster(NODES))
        lost.append(result.metrics["capacity_lost"])
        assert fs.simulate_many([fs.Run(log, fs.Cluster(NODES))])[0].metrics["capacity_lost"] == lost[-1]
    assert min(lost) == 0.0
    assert max(lost) < 0.01


@given(scaled_runs(), st.floats(0.1, 3.0))
def test_accounts_before_the_end(drawn, part):
    log, machine, options = drawn
    sim = fs.Simulation(log, machine, **options)
    sim.run(until=min(float(log.submit[0] + part * (log.submit[-1] - log.submit[0])), checks.LATEST))
    check(sim.result(partial=True), log, log.submit[0], sim.now)
