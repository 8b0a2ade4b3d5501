"""The flat machine against queueing theory: what no program can agree with by sharing a mistake.

Every check draws independent replicates with fixed seeds, drops a warm-up, and asks that theory lies within the 99.9 %
confidence interval of the replicates' mean (some thirty are asked, so that one in thirty families of seeds would fail
by chance), and that the interval is narrow enough to mean something.  The seeds were not chosen.
"""

import math
from functools import cache

import numpy as np
import pytest
from restarts import assert_within

import faultsim as fs

REPLICATES = 60
FCFS, EASY, CONSERVATIVE = fs.Fcfs(), fs.EasyBackfill(), fs.ConservativeBackfill()


def generator(*key):
    return np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence(20021, spawn_key=key)))


def poisson_log(rng, n, rate, runtime, size):
    return fs.Workload(submit=np.cumsum(rng.exponential(1 / rate, n)), runtime=runtime, size=np.full(n, size))


# -- one-node jobs: M/M/c, by Erlang's C formula


def erlang_c(c, load):
    """P(wait) of M/M/c with `load` = c * rho erlangs, by the recursion of Erlang B."""
    blocked = 1.0
    for k in range(1, c + 1):
        blocked = load * blocked / (k + load * blocked)
    return blocked / (1 - load / c * (1 - blocked))


def test_the_formula_gives_the_printed_constants():
    wait = erlang_c(10, 8.0)
    assert wait == pytest.approx(0.409180, abs=5e-7)
    assert wait / (10 * (1 - 0.8)) == pytest.approx(0.204590, abs=5e-7)
    assert erlang_c(1, 0.5) == pytest.approx(0.5)
    assert erlang_c(2, 1.0) == pytest.approx(1 / 3)


@pytest.mark.parametrize(("c", "rho", "n"), [(1, 0.6, 20_000), (3, 0.7, 20_000), (10, 0.8, 40_000), (32, 0.8, 40_000)])
def test_one_node_jobs_are_the_queue_mmc(c, rho, n):
    p_wait = erlang_c(c, c * rho)
    drain = c * (1 - rho)  # rate at which a wait ends, in 1 / E[S]
    waited, wait, long_wait = [], [], []
    for replicate in range(REPLICATES):
        rng = generator(6, c, replicate)
        log = poisson_log(rng, n, c * rho, rng.exponential(1.0, n), 1)
        result = fs.simulate(log, fs.Cluster(c), scheduler=FCFS, estimates="actual")
        seen = result.jobs["wait"][n // 5 :]
        waited.append((seen > 0).mean())
        wait.append(seen.mean())
        long_wait.append((seen > 1 / drain).mean())
        if replicate < 4:  # nobody can overtake: every reservation is for the next free node
            for other in (EASY, CONSERVATIVE):
                same = fs.simulate(log, fs.Cluster(c), scheduler=other, estimates="actual")
                assert np.array_equal(same.jobs["start"], result.jobs["start"])
                assert not same.jobs["backfilled"].any()
    assert_within(waited, p_wait, 0.06)
    assert_within(wait, p_wait / drain, 0.1)
    assert_within(long_wait, p_wait * math.exp(-1), 0.1)  # the wait of those who wait is exponential


# -- jobs that need the whole machine: M/G/1, by the Pollaczek-Khinchine formula


def uniform(rng, n):
    return rng.uniform(0.0, 2.0, n)


def constant(rng, n):
    return np.ones(n)


def hyperexponential(rng, n):
    return np.where(rng.random(n) < 0.2, rng.exponential(3.0, n), rng.exponential(0.5, n))


def erlang_2(rng, n):
    return rng.gamma(2.0, 0.5, n)


#: Service time, all of mean 1, and its second moment.
SERVICES = {uniform: 4 / 3, constant: 1.0, hyperexponential: 0.2 * 18 + 0.8 * 0.5, erlang_2: 1.5}


@pytest.mark.parametrize("service", SERVICES, ids=lambda f: f.__name__)
def test_jobs_of_the_whole_machine_are_the_queue_mg1(service):
    n, rho = 20_000, 0.7
    wait = []
    for replicate in range(REPLICATES):
        rng = generator(7, list(SERVICES).index(service), replicate)
        log = poisson_log(rng, n, rho, service(rng, n), 128)
        result = fs.simulate(log, fs.Cluster(128), scheduler=FCFS)
        wait.append(result.jobs["wait"][n // 5 :].mean())
        if replicate < 2:  # there is nothing to backfill with, and a torus has one box for it
            for machine in (fs.Cluster(128), fs.Torus(4, 4, 8)):
                for other in (FCFS, EASY, CONSERVATIVE):
                    same = fs.simulate(log, machine, scheduler=other)
                    assert np.array_equal(same.jobs["start"], result.jobs["start"])
    assert_within(wait, rho * SERVICES[service] / (2 * (1 - rho)), 0.08)


def test_shortest_first_is_the_mm1_queue_with_that_discipline():
    """W_q = integral of (lambda E[S^2] / 2) / (1 - rho(x))^2 dF(x), rho(x) the load of jobs shorter than x (Phipps)."""
    n, rho = 20_000, 0.8
    x = (np.arange(400_000) + 0.5) * 1e-4
    shorter = rho * (1 - np.exp(-x) * (1 + x))
    theory = np.sum(rho / (1 - shorter) ** 2 * np.exp(-x)) * 1e-4
    assert theory < 0.6 * rho / (1 - rho)  # well below what first come, first served would give
    wait = []
    for replicate in range(REPLICATES):
        rng = generator(8, replicate)
        log = poisson_log(rng, n, rho, rng.exponential(1.0, n), 4)
        result = fs.simulate(log, fs.Cluster(4), scheduler=fs.Fcfs(order=fs.ShortestFirst()))
        wait.append(result.jobs["wait"][n // 5 :].mean())
    assert_within(wait, theory, 0.06)


# -- rigid parallel jobs: where first come, first served saturates ([rumyantsev2017])

#: Nodes -> size: probability, the constant C, the utilisation at saturation.
SATURATION = {
    2: ({1: 0.5, 2: 0.5}, 0.875, 0.8571),
    8: ({1: 0.3, 3: 0.4, 5: 0.3}, 0.469668, 0.7984),
    128: ({1: 0.4, 2: 0.1, 4: 0.1, 8: 0.1, 16: 0.1, 32: 0.1, 64: 0.06, 128: 0.04}, 0.212362, 0.5724),
}


@cache
def saturation(c):
    """(C, E[size] / (C c)) for i.i.d. sizes and one exponential service rate ([rumyantsev2017]).

    C = sum over i <= c of (1 / i) * sum over i <= j <= c of P(sum of i sizes = j) * P(size > c - j).
    """
    p = np.zeros(c + 1)
    for size, probability in SATURATION[c][0].items():
        p[size] = probability
    beyond = np.array([p[c - j + 1 :].sum() for j in range(c + 1)])  # P(size > c - j)
    total, power = 0.0, np.eye(1, c + 1)[0]
    for i in range(1, c + 1):
        power = np.convolve(power, p)[: c + 1]
        total += (power * beyond)[i:].sum() / i
    return total, float(p @ np.arange(c + 1)) / (total * c)


@pytest.mark.parametrize("c", SATURATION)
def test_the_saturation_formula_gives_the_printed_constants(c):
    _, constant, utilisation = SATURATION[c]
    assert saturation(c)[0] == pytest.approx(constant, abs=1e-6)
    assert saturation(c)[1] == pytest.approx(utilisation, abs=5e-5)


def busy_share(result, nodes, begin, end):
    jobs = result.jobs
    held = np.clip(np.minimum(jobs["finish"], end) - np.maximum(jobs["start"], begin), 0, None)
    return float((held * jobs["size"]).sum() / (nodes * (end - begin)))


@pytest.mark.parametrize("c", SATURATION)
def test_first_come_first_served_saturates_where_theory_says(c):
    n = 20_000
    sizes = SATURATION[c][0]
    shares, backfilled = [], []
    for replicate in range(REPLICATES):
        rng = generator(9, c, replicate)
        log = fs.Workload(
            submit=np.zeros(n), runtime=rng.exponential(1.0, n), size=rng.choice(list(sizes), n, p=list(sizes.values()))
        )
        result = fs.simulate(log, fs.Cluster(c), scheduler=FCFS)
        # The queue is never empty until the last job starts; the first tenth is warm-up.
        shares.append(busy_share(result, c, result.jobs["start"][n // 10], result.jobs["start"][-1]))
        if replicate < 2:
            easy = fs.simulate(log[:2000], fs.Cluster(c), scheduler=EASY)
            backfilled.append(busy_share(easy, c, 0.0, easy.jobs["start"].max() / 2))
    assert_within(shares, saturation(c)[1], 0.01)
    if c > 2:  # with 2 nodes and long one-node jobs a reservation can cost as much as it gives
        assert min(backfilled) > 1.05 * saturation(c)[1]


@pytest.mark.parametrize(("factor", "stable"), [(0.9, True), (1.5, False)])
def test_the_queue_is_stable_just_below_saturation_only(factor, stable):
    """(lambda / mu) * C < 1 is the condition: below it the backlog stays, above it grows with time."""
    n, c = 100_000, 8
    rng = generator(10, int(10 * factor))
    sizes = SATURATION[c][0]
    log = fs.Workload(
        submit=np.cumsum(rng.exponential(saturation(c)[0] / factor, n)),
        runtime=rng.exponential(1.0, n),
        size=rng.choice(list(sizes), n, p=list(sizes.values())),
    )
    wait = fs.simulate(log, fs.Cluster(c), scheduler=FCFS).jobs["wait"]
    first, last = wait[: n // 4].mean(), wait[-n // 4 :].mean()
    # Above: the jobs that arrive in a time t need factor * t to start.
    grown = (factor - 1) * (log.submit[-n // 8] - log.submit[n // 8])
    if stable:
        assert last < 2 * first
    else:
        assert last - first == pytest.approx(grown, rel=0.05)
