"""Metrics: each row against an example worked by hand, and against a brute-force look at the schedule."""

import math
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given

import faultsim as fs
from faultsim.errors import OptionError
from faultsim.results import metrics
from faultsim.results.metrics import METRICS
from faultsim.results.result import Result
from helpers.results import nodes_of, random_log
from helpers.runs import runs

# Worked by hand.  Four nodes, start delay 1 s, EASY.
#
#   job  submit  runtime  estimate  size
#    0      0       9        11       2     decided 0, runs 1-10
#    1      1       10       10       4     needs all: reserved at 0 + 1 + 11 = 12, decided 10, runs 11-21
#    2      2       5        5        2     2 + 1 + 5 = 8 <= 12: decided 2, runs 3-8, backfilled
#    3      4       0        8        1     nothing free until 8; 8 + 1 + 8 = 17 > 12, no extra: decided 21
#
# T = 22, N T = 88.  Held: 2 x 10 + 4 x 11 + 2 x 6 + 1 x 1 = 77; useful: 18 + 40 + 10 = 68; delay: 2 + 4 + 2 + 1 = 9.
# Idle: 2 nodes over 0-2, of which job 1 asks for all from 1 on: 2 unused, 2 despite demand; 2 over 8-10, asked for
# (4 + 1); 3 over 21-22 with an empty queue.  So unused 2 + 3 = 5, despite demand 2 + 4 = 6, and 77 + 5 + 6 = 88.
BY_HAND = fs.Workload(
    submit=[0, 1, 2, 4], runtime=[9, 10, 5, 0], estimate=[11, 10, 5, 8], size=[2, 4, 2, 1], id=[1, 2, 3, 4]
)
WAITS, RESPONSES, RUNTIMES = [1, 10, 1, 18], [10, 20, 6, 18], [9, 10, 5, 0]
EXPECTED = {
    "n_jobs": 4,
    "makespan": 22,
    "mean_wait": 30 / 4,
    "mean_response": 54 / 4,
    "mean_bounded_slowdown": (1 + 2 + 1 + 1.8) / 4,
    "mean_slowdown": (10 / 9 + 2 + 6 / 5) / 3,
    "capacity_utilized": 68 / 88,
    "capacity_unused": 5 / 88,
    "capacity_lost": 15 / 88,
    "utilization": 77 / 88,
    "throughput": 4 / 22,
    "cut_jobs": 0,
    "cut_work_ratio": 0.0,
    "withdrawn_jobs": 0,
    "unmet_jobs": 0,
    "failures": 0,
    "failures_hit": 0,
    "service_unit_loss": 0,
    "failed_jobs": 0,
    "job_failure_rate": 0,
    "failure_slowdown": 0,
    "work_loss_ratio": 0,
    "checkpoint_overhead_ratio": 0,
    "migrations_attempted": 0,
    "migrations_successful": 0,
    "moves": 0,
    "mean_dispersal": math.nan,  # nothing is recorded
    "backfilled": 1,
    "median_wait": 5.5,
    "p95_wait": 10 + 0.85 * 8,
    "max_wait": 18.0,
    "median_response": 14.0,
    "p95_response": 18 + 0.85 * 2,
    "max_response": 20.0,
    "median_bounded_slowdown": 1.4,
    "p95_bounded_slowdown": 1.8 + 0.85 * 0.2,
    "max_bounded_slowdown": 2.0,
    "max_restarts": 0,
    "max_lost_work": 0.0,
    "worst_user_wait": math.nan,
    "worst_user_slowdown": math.nan,
    "worst_size_wait": 18.0,
    "worst_size_slowdown": 2.0,
    "goodput": 68 / 88,
    "share_cut_at_limit": 0.0,
    "share_rolled_back": 0.0,
    "share_checkpointing": 0.0,
    "share_restarting": 9 / 88,  # start delays
    "share_slowed": 0.0,
    "share_waiting_for_repair": 0.0,
    "share_rounded_up": 0.0,
    "share_idle_despite_demand": 6 / 88,
    "share_idle_without_demand": 5 / 88,
    "ettr": 1.0,
    "ettr_with_queue": 68 / (2 * 10 + 4 * 20 + 2 * 6 + 18),
    "mean_ettr": 1.0,
    "mttf": math.inf,
    "kills_per_1000_node_days": 0.0,
}


@pytest.fixture(scope="module")
def by_hand():
    return fs.simulate(BY_HAND, fs.Cluster(4), start_delay=1)


def test_the_example_is_as_it_was_worked(by_hand):
    assert by_hand.jobs["wait"].tolist() == WAITS
    assert by_hand.jobs["response"].tolist() == RESPONSES
    assert by_hand.jobs["runtime"].tolist() == RUNTIMES
    assert by_hand.ledger["idle_no_demand"] == 5
    assert by_hand.ledger["idle_demand"] == 6
    assert by_hand.ledger["start_delay"] == 9


@pytest.mark.parametrize("name", METRICS)
def test_every_row_by_hand(by_hand, name):
    row = METRICS[name]
    assert row.name == name
    assert row.formula
    assert row.function.__doc__
    value = by_hand.metrics[name]
    assert value == pytest.approx(EXPECTED[name], rel=1e-14, nan_ok=True)
    assert type(value) is (
        int
        if isinstance(EXPECTED[name], int)
        and row.unit in ("jobs", "")
        and value == int(value)
        and name not in ("failure_slowdown",)
        else float
    )


def test_the_table_is_complete():
    assert list(EXPECTED) == list(METRICS)


@given(runs(record=True))
def test_every_row_by_brute_force(run):
    result = run.simulate()
    if result.metrics["makespan"] == 0:
        return
    for name, value in brute_force(result).items():
        assert result.metrics[name] == pytest.approx(value, rel=1e-9, abs=1e-9), name


@given(runs())
def test_the_ledger_balances(run):
    result = run.simulate()
    assert metrics.ledger_error(result) <= 1e-9
    assert min(result.ledger.values()) >= 0.0
    work = result.jobs["size"] * result.jobs["runtime"]
    limited = result.jobs["state"] == fs.JobState.TIMED_OUT
    assert result.ledger["useful"] == pytest.approx(float(work[~limited].sum()))
    assert result.ledger["cut_at_limit"] == pytest.approx(float(work[limited].sum()))


def brute_force(result: Result) -> dict[str, float]:
    """The metrics from the recorded schedule alone, one job and one interval at a time, without the ledger."""
    nodes, jobs = result.machine.nodes, {name: column.tolist() for name, column in result.jobs.items()}
    rows = range(len(jobs["submit"]))
    allocations = zip(*(result.allocations[name].tolist() for name in ("job", "begin", "end")), strict=True)
    nodes_held = (nodes.tolist() for nodes in nodes_of(result.allocations, result.machine.shape))
    held = [(*row, places) for row, places in zip(allocations, nodes_held, strict=True)]
    trace = result.failures or fs.FailureTrace([], [])
    outages = [(t, t + d, node) for t, node, d, _ in zip(*(c.tolist() for c in trace.columns.values()), strict=True)]
    requeues = result.settings["recovery"] is not None and result.settings["recovery"]["name"] == "requeue"
    queued = []  # job, from, to
    since = dict(enumerate(jobs["submit"]))
    seen, hit, checkpoints, stolen = 0, 0, 0, 0
    for time, kind, job in zip(*(result.events[name].tolist() for name in ("time", "kind", "job")), strict=True):
        if kind == 6:
            queued.append((job, since.pop(job), time))
        elif kind == 2:
            seen, hit = seen + 1, hit + (job >= 0)
            if job >= 0 and requeues:
                since[job] = time
        elif kind == 4:
            since[job] = time
            stolen += 1
        checkpoints += kind == 3
    assert not since
    assert (seen, hit, checkpoints) == tuple(result.counters[k] for k in ("failures", "failures_hit", "checkpoints"))
    begin, end = min(jobs["submit"]), max(jobs["finish"])
    cuts = {begin, end} | {t for row in (*held, *queued) for t in row[1:3]} | {t for row in outages for t in row[:2]}
    unused = occupied = 0.0
    for left, right in pairwise(sorted(t for t in cuts if begin <= t <= end)):
        busy = [place for _, b, e, places in held if b <= left and right <= e for place in places]
        down = {node for b, e, node in outages if b <= left and right <= e} - set(busy)
        assert len(set(busy)) == len(busy)
        asked = sum(jobs["size"][j] for j, b, e in queued if b <= left and right <= e)
        unused += max(0, nodes - len(busy) - len(down) - asked) * (right - left)
        occupied += len(busy) * (right - left)
    total = nodes * (end - begin)
    useful = sum(jobs["size"][j] * jobs["runtime"][j] for j in rows)
    ran = [j for j in rows if jobs["runtime"][j] > 0]
    n = len(rows)
    response = [jobs["finish"][j] - jobs["submit"][j] for j in rows]
    lost = [jobs["lost_work"][j] / jobs["size"][j] for j in rows]
    delayed = [lost[j] + jobs["failure_wait"][j] + jobs["restart_time"][j] for j in rows]
    return {
        "makespan": end - begin,
        "mean_wait": sum(jobs["start"][j] - jobs["submit"][j] for j in rows) / n,
        "mean_response": sum(response) / n,
        "mean_bounded_slowdown": sum(max(response[j], 10) / max(jobs["runtime"][j], 10) for j in rows) / n,
        **({"mean_slowdown": sum(response[j] / jobs["runtime"][j] for j in ran) / len(ran)} if ran else {}),
        "capacity_utilized": useful / total,
        "capacity_unused": unused / total,
        "capacity_lost": 1 - useful / total - unused / total,
        "utilization": occupied / total,
        "throughput": n / (end - begin),
        "failures": seen,
        "failures_hit": hit,
        "service_unit_loss": sum(jobs["lost_work"]),
        "failed_jobs": sum(count > 0 for count in jobs["restarts"]),
        "job_failure_rate": sum(count > 0 for count in jobs["restarts"]) / n,
        "failure_slowdown": sum(delayed[j] / max(10, jobs["runtime"][j]) for j in rows) / n,
        "work_loss_ratio": sum(lost[j] / jobs["runtime"][j] for j in ran) / n,
        "checkpoint_overhead_ratio": sum(jobs["checkpoint_time"][j] / jobs["runtime"][j] for j in ran) / n,
        "moves": len(held) - n - stolen - (hit if requeues else 0),
        "backfilled": sum(jobs["backfilled"]),
    }


def test_options_of_bounded_slowdown(by_hand):
    # Gamma 6 s; as Oliner prints it, the smaller of run time and threshold is below the line.
    assert metrics.bounded_slowdown(by_hand, gamma=6).tolist() == [10 / 9, 2, 1, 3]
    assert metrics.bounded_slowdown(by_hand, denominator="min").tolist() == [10 / 9, 2, 2, math.inf]
    assert metrics.mean_bounded_slowdown(by_hand, gamma=6) == pytest.approx((10 / 9 + 2 + 1 + 3) / 4)
    with pytest.raises(OptionError, match="gamma must be above 0 seconds, got 0"):
        metrics.bounded_slowdown(by_hand, gamma=0)
    with pytest.raises(OptionError, match="unknown denominator 'both'; known: 'max', 'min'"):
        metrics.bounded_slowdown(by_hand, denominator="both")


def test_masks(by_hand):
    small = by_hand.jobs["size"] <= 2
    assert metrics.mean_wait(by_hand, mask=small) == (1 + 1 + 18) / 3
    assert metrics.mean_response(by_hand, mask=~small) == 20
    assert metrics.mean_slowdown(by_hand, mask=[False, False, True, True]) == 6 / 5
    assert metrics.mean_bounded_slowdown(by_hand, mask=small) == pytest.approx((1 + 1 + 1.8) / 3)
    assert math.isnan(metrics.mean_wait(by_hand, mask=np.zeros(4, bool)))
    for bad in ([0, 1, 0, 1], [True]):
        with pytest.raises(OptionError, match="mask must be 4 booleans, one per job"):
            metrics.mean_wait(by_hand, mask=bad)


@pytest.mark.parametrize("share", [0.0, 0.99, 1.02])
def test_a_ledger_that_does_not_add_up_is_told(by_hand, share):
    ledger = {account: share * amount for account, amount in by_hand.ledger.items()}
    off = SimpleNamespace(
        machine=by_hand.machine, capacity=by_hand.capacity, span=by_hand.span, metrics=by_hand.metrics, ledger=ledger
    )
    assert metrics.ledger_error(off) == pytest.approx(abs(1 - share))


def test_no_time_at_all():
    result = fs.simulate(fs.Workload(submit=[5], runtime=[0], size=[1]), fs.Cluster(2))
    assert result.metrics["makespan"] == 0
    for name in ("capacity_utilized", "capacity_unused", "capacity_lost", "utilization", "throughput", "mean_slowdown"):
        assert math.isnan(result.metrics[name])
    assert metrics.ledger_error(result) == 0
    assert "makespan" in str(result)


def test_metrics_of_failures_follow_their_formulas(by_hand):
    """The formulas alone, held against a result with columns that were changed by hand."""
    output = dict(by_hand._output) | {
        "restarts": np.array([2, 0, 0, 1], np.int32),
        "lost_work": np.array([18.0, 0, 5.0, 0]),
        "checkpoint_time": np.array([0, 5.0, 0, 0]),
        "restart_time": np.array([3.0, 0, 0, 0]),
        "failure_wait": np.array([4.0, 0, 0, 20.0]),
        "failures": 7,
        "failures_hit": 2,
        "ledger": dict(by_hand.ledger) | {"lost": 23.0},
    }
    failed = Result(output, by_hand.record)
    assert failed.metrics["failures"] == 7
    assert failed.metrics["failed_jobs"] == 2
    assert failed.metrics["failures_hit"] == 2
    assert failed.metrics["job_failure_rate"] == 0.5
    assert failed.metrics["service_unit_loss"] == 23
    assert failed.metrics["work_loss_ratio"] == pytest.approx((18 / (2 * 9) + 5 / (2 * 5)) / 4)
    assert failed.metrics["checkpoint_overhead_ratio"] == pytest.approx((5 / 10) / 4)
    # Run times 9, 10, 5, 0 on 2, 4, 2, 1 nodes; 10 s below the line for the short ones.
    assert failed.metrics["failure_slowdown"] == pytest.approx(((9 + 4 + 3) / 10 + 0 + 2.5 / 10 + 20 / 10) / 4)


def test_migration_is_counted():
    log = random_log(300, 29, horizon=9000, longest=900)
    result = fs.simulate(log, fs.Torus(4, 4, 4), scheduler=fs.Fcfs(), migration=fs.Defragment(), record=True)
    assert 0 < result.metrics["migrations_successful"] <= result.metrics["migrations_attempted"]
    assert result.metrics["moves"] == np.count_nonzero(result.events["kind"] == 7) > 0


def test_unknown_names(by_hand):
    with pytest.raises(KeyError, match=r"no metric 'mean_wiat' \(did you mean 'mean_wait'\?\)"):
        _ = by_hand.metrics["mean_wiat"]
    assert dict(by_hand.metrics) == {name: by_hand.metrics[name] for name in METRICS}
    assert len(by_hand.metrics) == len(METRICS)
