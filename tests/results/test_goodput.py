"""Goodput: groups of the ledger, effective training time, time between kills; by hand and by the plain account."""

import contextlib
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import faultsim as fs
from faultsim.errors import OptionError
from faultsim.reference.goodput import goodput as plainly
from faultsim.reference.goodput import hold_times
from faultsim.results.goodput import poisson_interval
from faultsim.results.ledger import GOODPUT_ACCOUNTS, LEDGER_ACCOUNTS
from helpers.refusals import refused
from helpers.results import nodes_of
from helpers.runs import runs

# Worked by hand.  Five nodes, FCFS, restarts take 5 s, a checkpoint of 2 s after every 10 s of work.
#
#   job 0  submit 0, 30 s of work, 4 nodes
#   job 1  submit 0, 20 s of work, 2 nodes: waits for job 0
#   node 0 fails at 15, and is down for 7 s: until 22
#
# Job 0 works 0-10, saves 10-12, works 12-15 and is killed: 3 s lost, 10 s safe.  Nodes 1-4 are enough: it starts again
# at 15, restarts until 20, works 20-30, saves 30-32, and works 32-42 (10 s are left: at a checkpoint nothing would
# remain).  Job 1 takes 42-52, saves 52-54, works on: no, 20 s of work have one checkpoint, after 10 s: 42-52, 52-54,
# 54-64.  T = 64, N T = 320.
#
# Free: node 4 over 0-15, asked for by job 1; nobody over 15-22 (one is down); one over 22-42, asked for; three over
# 42-64, nobody waits.  So despite demand 15 + 20 = 35, without 3 x 22 = 66, down 7.
BY_HAND = {
    "productive": 4 * 30 + 2 * 20,
    "cut_at_limit": 0,
    "rolled_back": 4 * 3,
    "checkpointing": 4 * 4 + 2 * 2,
    "restarting": 4 * 5,
    "slowed": 0,
    "waiting_for_repair": 7,
    "rounded_up": 0,
    "idle_despite_demand": 35,
    "idle_without_demand": 66,
}


def by_hand(**options):
    log = fs.Workload(submit=[0, 0], runtime=[30, 20], size=[4, 2], user=[3, 9])
    failures = fs.FailureTrace(time=[15], node=[0], downtime=[7], span=1000)
    given = {"scheduler": "fcfs", "checkpointing": fs.Periodic(10, 2), "recovery": fs.Requeue(restart_cost=5)}
    return fs.simulate(log, fs.Cluster(5), failures=failures, **{**given, **options})


def groups(result):
    return {name: math.fsum(result.ledger[account] for account in group) for name, group in GOODPUT_ACCOUNTS.items()}


def test_every_account_is_in_one_group():
    grouped = [account for group in GOODPUT_ACCOUNTS.values() for account in group]
    assert sorted(grouped) == sorted(LEDGER_ACCOUNTS)


def test_by_hand():
    result = by_hand()
    assert groups(result) == BY_HAND
    assert sum(BY_HAND.values()) == 5 * 64  # exactly
    table = result.goodput
    assert table["account"].tolist() == [name.replace("_", " ") for name in BY_HAND]
    assert (table["node_hours"] * 3600).tolist() == pytest.approx(list(BY_HAND.values()), rel=1e-15)
    assert table["share"].tolist() == [seconds / 320 for seconds in BY_HAND.values()]
    assert [result.metrics["goodput"], *(result.metrics[f"share_{name}"] for name in list(BY_HAND)[1:])] == list(
        table["share"]
    )
    # Job 0 needs 42 s for 30 s of work, job 1 22 s for 20 s.
    assert result.ettr.tolist() == [30 / 42, 20 / 22]
    assert result.metrics["ettr"] == 160 / (4 * 42 + 2 * 22)
    assert result.metrics["ettr_with_queue"] == 160 / (4 * 42 + 2 * 64)
    assert result.metrics["mean_ettr"] == pytest.approx((30 / 42 + 20 / 22) / 2, rel=1e-15)
    assert result.metrics["mttf"] == 42 + 22
    assert str(table).splitlines()[-1] == "ETTR 75.47% since first starts, 54.05% since submits"
    assert "productive" in table._repr_html_()


def test_a_held_job_waits_for_its_repair():
    held = by_hand(recovery=fs.Hold(restart_cost=5))
    # Killed at 15 and held until 22, it restarts until 27, works and saves until 49; job 1 takes 49-71.
    assert groups(held) == {
        **BY_HAND,
        "waiting_for_repair": 4 * 7,
        "idle_despite_demand": 49,
        "idle_without_demand": 3 * 22,
    }
    assert held.ettr.tolist() == [30 / 49, 20 / 22]


def stays_of(result):
    held = [result.allocations[name].tolist() for name in ("job", "begin", "end")]
    return list(
        zip(*held, [places.tolist() for places in nodes_of(result.allocations, result.machine.shape)], strict=True)
    )


def held_for_repair(result, stays):
    """Seconds of each job; where a scheduler stops jobs, `failure_wait` holds waits in the queue as well."""
    recovery = result.settings["recovery"]
    holds = recovery is not None and recovery["name"] == "hold"
    jobs = [result.jobs[row] for row in range(len(result))]
    return np.array(hold_times(jobs, stays, holds=holds, start_delay=result.settings["start_delay"]))


def test_a_stopped_job_does_not_wait_for_a_repair():
    """Hold keeps nodes from a failure to the repair; a job that another one stops waits in the queue."""
    log = fs.Workload(submit=[0, 10], runtime=[100, 30], size=[2, 2])
    run = fs.Run(
        log, fs.Cluster(2), scheduler=fs.Preemptive("shortest"), recovery=fs.Hold(), start_delay=5, record=True,
        failures=fs.FailureTrace(time=[20], node=[0], downtime=[4], span=1000),
    )  # fmt: skip
    result = run.simulate()
    # Job 1 stops job 0 at 10, is hit at 20, held until 24 and over at 54; job 0 starts again at 54.
    assert result.jobs["failure_wait"].tolist() == [49, 4]
    assert held_for_repair(result, stays_of(result)).tolist() == [0, 4]
    assert groups(result)["waiting_for_repair"] == 2 * 4
    assert np.dot(result.jobs["size"], result.exposed) == pytest.approx(2 * (115 + 40))


@given(runs(record=True), st.sampled_from(["core", "reference"]))
def test_goodput_is_what_the_schedule_says(run, engine):
    result = run.simulate(engine=engine)
    begin, end = result.span
    trace = result.failures or fs.FailureTrace([], [])
    stays = stays_of(result)
    slow = plainly(
        result.machine.nodes,
        begin,
        end,
        [result.jobs[row] for row in range(len(result))],
        stays,
        list(zip(trace.time.tolist(), trace.node.tolist(), trace.downtime.tolist(), strict=True)),
        hold=held_for_repair(result, stays),
    )
    total = result.machine.nodes * (end - begin)
    assert groups(result) == pytest.approx(slow, rel=0, abs=1e-9 * max(total, 1.0))
    assert math.fsum(slow.values()) == pytest.approx(total, rel=1e-9)
    assert math.fsum(result.goodput["node_hours"]) * 3600 == pytest.approx(total, rel=1e-9)


@given(runs(record=True))
def test_effective_training_time(run):
    result = run.simulate()
    jobs = result.jobs
    for job, ratio in zip((jobs[row] for row in range(len(result))), result.ettr.tolist(), strict=True):
        took = job["finish"] - job["first_start"]
        assert math.isnan(ratio) if took == 0 else ratio == job["runtime"] / took
        assert math.isnan(ratio) or 0 <= ratio <= 1 + 1e-12
    known = result.ettr[~np.isnan(result.ettr)]
    if len(known):
        assert known.min() - 1e-9 <= result.metrics["ettr"] <= known.max() + 1e-9
        assert result.metrics["ettr_with_queue"] <= result.metrics["ettr"] + 1e-12
    table = result.mttf(jobs["submit"] * 0)
    assert table["kills"].sum() == jobs["restarts"].sum()
    if table["exposed"][0] > 0:
        assert table["mttf"][0] == pytest.approx(result.metrics["mttf"])


# -- time between kills


def test_time_between_kills_by_hand():
    result = by_hand()
    table = result.mttf()
    assert table["size_class"].tolist() == [2, 4]
    assert table["exposed"].tolist() == [20 + 2, 30 + 3 + 4 + 5]
    assert table["kills"].tolist() == [0, 1]
    assert table["mttf"].tolist() == [math.inf, 42]
    assert table["per_1000_node_days"].tolist() == [0, 1000 * 86_400 / (4 * 42)]
    # -ln 0.025 failures would be the most that are likely where none was seen.
    assert table["low"].tolist() == pytest.approx([22 / -math.log(0.025), 42 / stats.chi2.ppf(0.975, 4) * 2])
    assert table["high"].tolist() == pytest.approx([math.inf, 42 / stats.chi2.ppf(0.025, 2) * 2])
    assert result.mttf("user")["user"].tolist() == [3, 9]
    assert result.mttf(["a", "a"], confidence=0.5)["kills"].tolist() == [1]
    assert result.by("size_class", ["mttf"])["mttf"].tolist() == [math.inf, 42]


@given(st.integers(0, 10**6), st.floats(0.01, 0.999))
def test_bounds_are_where_the_count_would_be_as_unlikely(count, confidence):
    low, high = poisson_interval(count, confidence)
    tail = (1 - confidence) / 2
    assert stats.poisson.cdf(count, high) == pytest.approx(tail, rel=1e-6)
    assert low == 0 if count == 0 else stats.poisson.sf(count - 1, low) == pytest.approx(tail, rel=1e-6)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"start_delay": 150},
        {"start_delay": 150, "recovery": fs.Hold(restart_cost=40)},
        {"start_delay": 40, "recovery": fs.Requeue(restart_cost=150), "checkpointing": fs.Periodic(20, 20)},
    ],
)
def test_the_rate_is_that_of_the_failures(options):
    """Whatever jobs do on their nodes: of some thousand failures, within four deviations."""
    n = 3000
    log = fs.Workload(submit=np.arange(n) * 2e4, runtime=[300] * n, size=[3] * n)
    failures = fs.synthetic.exponential_failures(3, n * 2e4, 1200, downtime=1, rng=5, any_rate=True)
    result = fs.simulate(log, fs.Cluster(3), failures=failures, **{"recovery": fs.Requeue(), **options})
    table = result.mttf()
    kills = int(table["kills"][0])
    assert kills > 1500
    assert abs(table["mttf"][0] / 400 - 1) < 4 / math.sqrt(kills)
    assert result.metrics["kills_per_1000_node_days"] == pytest.approx(table["per_1000_node_days"][0])
    assert abs(table["per_1000_node_days"][0] * 1200 / 86_400_000 - 1) < 4 / math.sqrt(kills)


def test_the_rate_counts_pauses_and_the_nodes_that_jobs_hold():
    """On a torus, where jobs hold more nodes than they ask for, and pause when others are moved."""
    rng = np.random.default_rng(7)
    n = 1500
    log = fs.Workload(
        submit=np.sort(rng.uniform(0, n * 250, n)), runtime=rng.exponential(900, n), size=[5, 11, 13] * 500
    )
    failures = fs.synthetic.exponential_failures(64, 4 * n * 250, 30_000, downtime=1, rng=8, any_rate=True)
    options = {"recovery": fs.Requeue(), "failures": failures, "record": True}
    result = fs.simulate(log, fs.Torus(4, 4, 4), migration=fs.Defragment(cost=600), **options)
    paused, grown = (result.ledger[name] / result.ledger["useful"] for name in ("migration", "growth"))
    kills = result.jobs["restarts"].sum()
    assert min(paused, grown) > 0.1
    assert kills > 500
    # Every failure of a node that a job holds is a kill.
    assert result.metrics["kills_per_1000_node_days"] == pytest.approx(1000 * 86_400 / 30_000, rel=4 / math.sqrt(kills))


@given(runs(record=True))
def test_the_time_exposed_is_that_on_nodes(run):
    """From who held what: each job without start delays, and all of them together."""
    result = run.simulate()
    held = np.bincount(
        result.allocations["job"], result.allocations["end"] - result.allocations["begin"], minlength=len(result)
    )
    held -= held_for_repair(result, stays_of(result))
    size, longest = result.jobs["size"], float(np.max(result.jobs["finish"]))
    assert np.dot(size, result.exposed) == pytest.approx(np.dot(size, held), rel=1e-9, abs=1e-9 * longest)
    whole = (result.jobs["restarts"] == 0) & (result.jobs["moves"] == 0)
    assert result.exposed[whole] == pytest.approx(held[whole], rel=1e-9, abs=1e-9 * longest)
    if not result.settings["start_delay"]:
        assert result.exposed == pytest.approx(held, rel=1e-9, abs=1e-9 * longest)


@pytest.mark.parametrize("hit", [[], [70]])
def test_kills_that_are_not_of_failures_are_said(hit):
    log = fs.Workload(submit=[0, 0], runtime=[100, 50], size=[1, 1])
    failures = fs.FailureTrace(time=hit, node=[0] * len(hit), span=1000)
    simulation = fs.Simulation(log, fs.Cluster(2), scheduler=fs.External(), failures=failures, start_delay=10)
    for until in (50.0, None):
        while (decision := simulation.advance(until=until)) is not None:
            if decision.kind == "time":
                decision.kill(1)
                break
            for job in decision.queue.tolist():
                decision.start(job)
    result = simulation.result()
    assert result.counters["failures_hit"] == len(hit)
    assert result.jobs["restarts"].tolist() == [len(hit), 1]
    # Job 0: 0-110; of a failure at 70, from then on once more, 80-180.  Job 1: 0-50.
    assert result.exposed == pytest.approx([180 if hit else 110, 50])
    table = result.mttf()
    assert table.notes[1:] == (f"1 of the {1 + len(hit)} kills of the run are not of failures",)
    assert str(table).endswith("kills of the run are not of failures")


def test_the_interval_covers_the_rate_of_independent_failures():
    """One job of 3 nodes that fail at rate 1/300 each: of 200 intervals at 90 %, at least 90 % less four deviations."""
    rng, covered, runs_made = np.random.default_rng(4), 0, 200
    log = fs.Workload(submit=[0], runtime=[3000], size=[3])
    for _ in range(runs_made):
        failures = fs.synthetic.exponential_failures(3, 6000, 300, rng=rng, any_rate=True)
        result = fs.simulate(log, fs.Cluster(3), failures=failures, checkpointing=fs.Periodic(1, 0))
        table = result.mttf(confidence=0.9)
        covered += bool(table["low"][0] <= 100 <= table["high"][0])
    assert covered >= runs_made * 0.9 - 4 * math.sqrt(runs_made * 0.9 * 0.1)


def test_bad_input():
    result = by_hand()
    refused(OptionError, "confidence must be below 1, such as 0.95, got 95", result.mttf, confidence=95)
    refused(OptionError, "confidence must be above 0, got 0", result.mttf, confidence=0)
    refused(OptionError, "unknown column 'sizes'", result.mttf, "sizes")


# -- elsewhere


def test_of_a_run_that_is_not_over():
    log = fs.Workload(submit=[0, 0, 5], runtime=[10, 100, 10], size=[1, 1, 1])
    simulation = fs.Simulation(log, fs.Cluster(2))
    simulation.run(until=30)
    result = simulation.result(partial=True)
    assert not result.is_over
    assert np.isnan(result.ettr).tolist() == [False, True, False]
    assert result.metrics["ettr"] == 1
    assert result.goodput["share"].sum() == pytest.approx(1)
    assert result.mttf()["exposed"].tolist() == [20]


def test_nothing_takes_no_time():
    result = fs.simulate(fs.Workload(submit=[5], runtime=[0], size=[1]), fs.Cluster(2))
    for name in ("goodput", "ettr", "ettr_with_queue", "mean_ettr", "mttf"):
        assert math.isnan(result.metrics[name]), name
    assert np.isnan(result.goodput["share"]).all()
    assert np.isnan(result.mttf()["mttf"]).all()


def test_sweeps_keep_them_when_asked():
    base = {"log": fs.Workload(submit=[0, 0], runtime=[30, 20], size=[4, 2]), "machine": fs.Cluster(5)}
    table = fs.Sweep(base, {"start_delay": [0, 5]}, metrics=["goodput", "ettr", "share_idle_despite_demand"]).run()
    assert table["ettr"].tolist() == [1, 1]
    assert table["goodput"].tolist() == [160 / 250, 160 / 300]
    assert "goodput" not in fs.Sweep(base, {"start_delay": [0]}).run().metrics


def test_sweeps_keep_what_is_infinite_or_nothing_as_json(tmp_path, recwarn):
    import sqlite3

    log, base = fs.Workload(submit=[0], runtime=[100], size=[1]), {"machine": fs.Cluster(1)}
    failures = fs.FailureTrace([10, 60], [0, 0], span=1000)
    inputs = {**base, "log": log, "recovery": fs.Requeue(), "checkpointing": fs.Periodic(20, 0)}
    store = tmp_path / "mttf.db"
    axes = {"failures": {"none": None, "two": failures}}
    table = fs.Sweep(inputs, axes, metrics=["mttf", "kills_per_1000_node_days"], name="kills").run(store)
    assert table["mttf"].tolist() == [math.inf, table["mttf"][1]]
    assert table["kills_per_1000_node_days"][0] == 0
    assert fs.load_sweep(store, "kills")["mttf"].tolist() == table["mttf"].tolist()
    with contextlib.closing(sqlite3.connect(store)) as db:
        documents = [row[0] for row in db.execute("SELECT json_extract(numbers, '$.mttf') FROM own")]
    assert "inf" in documents
    found = table.summary("mttf")
    assert np.isnan(found["sd"]).all()
    assert not [warning for warning in recwarn if warning.category is RuntimeWarning]
    assert any("1 of 2 rows are infinite" in note for note in found.notes)


def test_what_hot_spares_take_over_is_no_kill():
    """One failure, one swap: no kill, and none that something else than a failure did."""
    log = fs.Workload(submit=[0], runtime=[100], size=[2])
    failures = fs.FailureTrace(time=[10], node=[0], downtime=[5])
    found = str(fs.simulate(log, fs.Cluster(8), failures=failures, recovery=fs.HotSpares(1)).mttf())
    assert "no kills: what hot spares took over, 1 times" in found
    assert "are not of failures" not in found
