"""What the engines get to know of failures: predictions and alarms, from plain loops beside the vectorised ones."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim.data.world import RequestRows
from faultsim.errors import InputError, OptionError
from faultsim.policies.interval_reports import bucket_numbers, stream
from faultsim.simulation.engine_inputs import make_world, predictions
from helpers.refusals import refused

NODES = 6
LOG = fs.Workload(submit=[10, 20], runtime=[100, 100], size=[1, 2])


@st.composite
def traces(draw: st.DrawFn, least: int = 0) -> fs.FailureTrace:
    n = draw(st.integers(least, 30))
    seconds = st.one_of(st.integers(0, 400), st.floats(0, 400))
    return fs.FailureTrace(
        draw(st.lists(seconds, min_size=n, max_size=n)),
        draw(st.lists(st.integers(0, NODES - 1), min_size=n, max_size=n)),
        draw(st.lists(st.integers(0, 30), min_size=n, max_size=n)),
        span=draw(st.integers(400, 1000)),
    )


def rows(table) -> list[tuple[float, float, int]]:
    return list(zip(table.begin.tolist(), table.end.tolist(), table.node.tolist(), strict=True))


def world_of(run):
    return make_world(run, run.log, run.expected_runtimes(run.log))


def predicted(predictor, trace, seed=0):
    table = predictions(predictor, trace, nodes=NODES, seed=seed)
    begin, end = table.begin, table.end
    assert (begin.dtype, end.dtype, table.node.dtype) == (np.float64, np.float64, np.int32)
    assert (np.diff(begin) >= 0).all()
    assert (np.diff(end) >= 0).all()
    return table


def asked(checkpointing, trace, predictor=None, log=LOG):
    run = fs.Run(log, fs.Cluster(NODES), failures=trace, checkpointing=checkpointing, predictor=predictor)
    table = world_of(run).alarms or RequestRows(np.empty(0), np.empty(0, np.int32))
    assert (table.time.dtype, table.node.dtype) == (np.float64, np.int32)
    return list(zip(table.time.tolist(), table.node.tolist(), strict=True))


# -- dated predictions


@given(traces(), st.floats(0, 1))
def test_dated_predictors(trace, a):
    all_rows = [(t, t, node) for t, node in zip(trace.time.tolist(), trace.node.tolist(), strict=True)]
    assert rows(predicted(fs.Perfect(), trace)) == all_rows
    confident = predicted(fs.Confidence(a), trace)
    assert rows(confident) == (all_rows if a > 0 else [])
    assert confident.p == a
    seen = predicted(fs.Accuracy(a), trace)
    assert rows(seen) == [row for row, coin in zip(all_rows, trace.coin.tolist(), strict=True) if coin < a]
    assert seen.p == predicted(fs.Perfect(), trace).p == 1.0
    for predictor in (None, fs.Blind(), fs.Buckets("4h")):
        assert rows(predicted(predictor, trace)) == []


def test_a_trace_of_predictions_is_taken_as_it_is():
    table = predicted(fs.PredictionTrace([90, 18, 8], [2, 0, 2]), None)
    assert rows(table) == [(8, 8, 2), (18, 18, 0), (90, 90, 2)]
    assert table.p == 1.0


# -- intervals


@given(st.floats(0, 1e6), st.one_of(st.floats(1e-3, 1e5), st.integers(1, 100)))
def test_bucket_numbers(time, length):
    k = bucket_numbers(np.array([time]), float(length))[0].item()
    assert k * length < time <= (k + 1) * length
    for on_the_border in (3, 7):
        assert bucket_numbers(np.array([on_the_border * float(length)]), float(length)).tolist() == [on_the_border - 1]


RATES = st.sampled_from([0.1, 0.25, 0.5, 0.7, 0.9, 1.0])


@given(traces(least=1), RATES, RATES, st.sampled_from([7, 50, 0.7]), st.integers(0, 3))
def test_intervals_have_the_precision_and_recall_asked_for(trace, precision, recall, length, seed):
    failing = {
        (math.ceil(t / length - 1e-12) - 1, node)
        for t, node in zip(trace.time.tolist(), trace.node.tolist(), strict=True)
    }
    for k, node in failing:  # each by the definition, whatever the quotient rounds to
        inside = [t for t, other in zip(trace.time, trace.node, strict=True) if other == node]
        assert any((k - 1) * length <= t <= (k + 2) * length for t in inside)
    k = bucket_numbers(trace.time, length)
    failing = set(zip(k.tolist(), trace.node.tolist(), strict=True))
    predictor = fs.IntervalPredictor(precision, recall, length)
    hits = round(recall * len(failing))
    false = round(hits * (1 - precision) / precision)
    room = math.ceil(trace.span / length) * NODES - len({pair for pair in failing if pair[0] >= 0})
    if false > room:
        refused(OptionError, f"needs {false:,} false alarms, but only .* pairs", predicted, predictor, trace, seed)
        return
    table = predicted(predictor, trace, seed)
    reported = [(round(begin / length), node) for begin, _, node in rows(table)]
    assert len(set(reported)) == len(reported) == hits + false
    assert len(set(reported) & failing) == hits
    assert all(-1 <= k <= trace.span / length and 0 <= node < NODES for k, node in reported)
    assert table.p == precision
    assert (table.begin == [k * length for k, _ in reported]).all()
    assert (table.end == [(k + 1) * length for k, _ in reported]).all()


@given(traces(least=1), st.integers(0, 3))
def test_intervals_are_nested(trace, seed):
    def reported(precision, recall):
        return set(rows(predicted(fs.IntervalPredictor(precision, recall, 20), trace, seed)))

    in_recall = [reported(1.0, recall) for recall in (0.1, 0.3, 0.7, 1.0)]
    in_precision = [reported(precision, 0.7) for precision in (0.9, 0.7, 0.5)]
    both = [reported(0.6, recall) for recall in (0.1, 0.3, 0.7, 1.0)]
    for chain in (in_recall, in_precision, both):
        assert all(less <= more for less, more in itertools.pairwise(chain))
    assert len(reported(1.0, 1e-9)) == 0  # a recall that rounds to none


def test_draws_hang_on_the_seed_alone():
    trace = fs.FailureTrace(np.arange(0, 4000, 40), np.arange(100) % NODES, span=4000)
    predictor = fs.IntervalPredictor(0.5, 0.5, 60)
    first = rows(predicted(predictor, trace))
    assert first == rows(predicted(predictor, trace))
    assert first != rows(predicted(predictor, trace, seed=1))
    runs = [
        fs.Run(LOG, fs.Cluster(NODES), failures=trace, predictor=predictor, scheduler=scheduler, recovery=recovery)
        for scheduler in (fs.Fcfs(), fs.EasyBackfill())
        for recovery in (fs.Requeue(), fs.Hold())
    ]
    assert all(rows(world_of(run).predictions) == first for run in runs)
    assert stream(0, "a").random() != stream(1, "a").random()


def test_false_alarms_are_spread_over_all_pairs():
    trace = fs.FailureTrace(np.arange(0.5, 1000), np.zeros(1000, int), span=1000)
    table = predicted(fs.IntervalPredictor(0.5, 1.0, 1), trace)
    false = [row for row in rows(table) if row[2] > 0]
    assert len(false) == 1000
    counts = np.bincount([node for _, _, node in false], minlength=NODES)[1:]
    assert counts.min() > 160  # 200 each, 5 standard deviations
    assert counts.max() < 240
    assert abs(np.mean([begin for begin, _, _ in false]) - 499.5) < 5 * 289 / math.sqrt(1000)


def test_a_precision_next_to_nothing_is_refused_in_one_line():
    trace = fs.FailureTrace([5], [0], span=1000)
    with pytest.raises(OptionError, match=r"^precision=1e-300 needs 1e\+300 false alarms, but only 599 pairs"):
        predicted(fs.IntervalPredictor(1e-300, 1, 10), trace)
    with pytest.raises(OptionError, match=r"^precision=1e-310 needs inf false alarms"):
        predicted(fs.IntervalPredictor(1e-310, 1, 10), trace)


def test_nearly_every_pair_a_false_alarm():
    trace = fs.FailureTrace([5], [0], span=1000)
    n_pairs = 100 * NODES
    table = predicted(fs.IntervalPredictor(1 / n_pairs, 1, 10), trace)
    assert len({(begin, node) for begin, _, node in rows(table)}) == n_pairs


def test_pairs_of_your_own():
    table = predicted(fs.IntervalPredictor.from_pairs([5, 0], [3, 1], interval=300, precision=0.7), None)
    assert rows(table) == [(0, 300, 1), (1500, 1800, 3)]
    assert table.p == 0.7
    with pytest.raises(InputError, match="interval 5 of 1e\\+308 s is beyond what a float64 holds"):
        predicted(fs.IntervalPredictor.from_pairs([5], [3], interval=1e308, precision=0.7), None)


def test_intervals_that_are_too_short():
    trace = fs.FailureTrace([5], [0], span=1e6)
    with pytest.raises(OptionError, match=r"an interval of 0.001 s is too short for a span of 1e\+06 s"):
        predicted(fs.IntervalPredictor(1, 1, 0.001), trace)
    refused(OptionError, r"a bucket of 0.0036 s is too short for a span", asked, fs.PredictedWindows("0.0036s"), trace)
    with pytest.raises(OptionError, match=r"an interval of 1e-09 s makes .* requests in 1 buckets"):
        asked(fs.PredictedWindows("4h", interval=1e-9, any_rate=True), trace)


# -- alarms


@given(traces(), st.sampled_from([0, 3, 50.5]))
def test_alarms_before_failures(trace, cost):
    def before(table):
        return [(begin - cost, node) for begin, _, node in rows(table) if begin - cost >= 10]

    checkpointing = fs.BeforeFailure(cost)
    assert asked(checkpointing, trace) == before(predicted(fs.Perfect(), trace))
    for predictor in (fs.Accuracy(0.5), fs.Perfect(), fs.PredictionTrace([50], [2]), fs.Confidence(0), fs.Blind()):
        assert asked(checkpointing, trace, predictor) == before(predicted(predictor, trace))


@given(
    traces(),
    st.sampled_from([0.01, 1 / 36, 1 / 3, 0.07]),
    st.one_of(st.sampled_from([7, 36, 12.0, 5000, 100 / 3]), st.floats(5, 300)),
)
def test_alarms_of_predicted_windows(trace, hours, interval):
    length, expected = hours * 3600, []
    for k in range(int(400 / length) + 1):
        if any(k * length < t <= (k + 1) * length for t in trace.time.tolist()):
            i = 0
            while k * length + i * interval < (k + 1) * length:
                expected.append((k * length + i * interval, -1))
                i += 1
    expected = [row for row in expected if row[0] >= 10]
    assert asked(fs.PredictedWindows(fs.Buckets(length=length), interval=interval, cost=0), trace) == expected


def test_other_policies_ask_for_nothing():
    trace = fs.FailureTrace([50], [0], span=100)
    for policy in (fs.NoCheckpoint(), fs.Periodic(10, 1), fs.RiskBased(10, 1)):
        assert asked(policy, trace, fs.Perfect()) == []


# -- the world


def test_what_is_empty_is_left_out():
    def tables(**options):
        world = world_of(fs.Run(LOG, fs.Cluster(NODES), **options))
        names = ("failures", "predictions", "alarms", "ticks")
        return {name: getattr(world, name) for name in names if getattr(world, name) is not None}

    assert tables() == {}
    assert tables(failures=fs.FailureTrace([], []), predictor=fs.Perfect(), checkpointing=fs.BeforeFailure(1)) == {}
    assert tables(recovery=fs.Hold(), checkpointing=fs.BeforeFailure(1), predictor=fs.Blind()) == {}
    trace = fs.FailureTrace([30], [2], 5)
    assert set(tables(failures=trace)) == {"failures"}
    assert set(tables(failures=trace, predictor=fs.Confidence(0))) == {"failures"}
    full = tables(failures=trace, predictor=fs.Perfect(), checkpointing=fs.BeforeFailure(1))
    assert set(full) == {"failures", "predictions", "alarms"}
    failing = full["failures"]
    assert (failing.time.tolist(), failing.node.tolist(), failing.downtime.tolist()) == ([30], [2], [5])


def test_a_kind_of_a_built_in_predictor_must_say_what_it_predicts():
    class Mine(fs.Blind):
        name = "mine"

    refused(OptionError, r"Mine must define predict\(", fs.simulate, LOG, fs.Cluster(NODES), predictor=Mine())


# -- predictions of a given accuracy


@given(traces(), st.sampled_from([0, 0.3, 0.5, 0.9, 1]), st.sampled_from([0, 0.2, 0.5, 1]), st.integers(0, 9))
def test_predictions_at_an_accuracy(trace, aoa, share, seed):
    trace = trace.merge_overlaps()
    rng = np.random.default_rng(seed)
    if aoa == 0 and share == 1:
        with pytest.raises(OptionError, match="infinitely many false predictions"):
            fs.PredictionTrace.at_accuracy(trace, aoa, share, rng=rng)
        return
    made = fs.PredictionTrace.at_accuracy(trace, aoa, share, rng=rng, nodes=NODES)
    n = len(trace)
    hit, false = set(), 0
    for t, node in zip(made.time.tolist(), made.node.tolist(), strict=True):
        inside = [
            row for row in range(n)
            if trace.node[row] == node and trace.time[row] <= t <= trace.time[row] + trace.downtime[row]
        ]  # fmt: skip
        hit |= set(inside)
        false += not inside
    missed = n - len(hit)
    wrong = n * (1 - aoa) / (aoa * share + 1 - share)
    assert false == round(share * wrong)
    # A hit may fall where two outages of a node touch, so it may count for both.
    assert abs(missed - round((1 - share) * wrong)) <= 1
    assert len(made.time) == n - round((1 - share) * wrong) + false
    if n and missed + false:
        # Each of the two counts is off by up to one half.
        assert len(hit) / (len(hit) + missed + false) == pytest.approx(aoa, abs=2 / n)


def test_the_worked_example_of_an_accuracy():
    # [yu2010] Figure 5: three failures, AOA 50 %: two hits, one miss, one false prediction.
    trace = fs.FailureTrace([5, 15, 60], [2, 0, 1], 5, span=160)
    made = fs.PredictionTrace.at_accuracy(trace, 0.5, 0.5, rng=np.random.default_rng(2))
    down = [
        any(n == node and t <= at <= t + 5 for t, n in zip(trace.time, trace.node, strict=True))
        for at, node in zip(made.time, made.node, strict=True)
    ]
    assert sorted(down) == [False, True, True]


def test_no_room_for_false_predictions():
    trace = fs.FailureTrace([0], [0], 100, span=100)
    with pytest.raises(InputError, match="no room for 1 false predictions: 1 nodes are down nearly all the time"):
        fs.PredictionTrace.at_accuracy(trace, 0.5, 1, rng=np.random.default_rng(0))
    with pytest.raises(OptionError, match=r"rng must be a seed .* or a numpy.random.Generator, got 'x'"):
        fs.PredictionTrace.at_accuracy(trace, 0.5, 1, rng="x")
    for wrong in ([5, 15], fs.PredictionTrace([5], [0])):
        with pytest.raises(OptionError, match="trace must be a FailureTrace, got "):
            fs.PredictionTrace.at_accuracy(wrong, 0.5, 1, rng=np.random.default_rng(0))


def test_a_checkpoint_before_a_failure_ends_in_time_whatever_doubles_do():
    time = np.sort(np.random.default_rng(3).uniform(300, 1e4, 5_000))
    trace = fs.FailureTrace(time, np.zeros(len(time), np.int32))
    assert ((time - 299.9) + 299.9 > time).any()  # else there would be nothing to see
    run = fs.Run(
        fs.Workload(submit=[0], runtime=[1], size=[1]),
        fs.Cluster(1),
        failures=trace,
        checkpointing=fs.BeforeFailure(299.9),
    )
    begin = world_of(run).alarms.time
    assert (begin + 299.9 <= time).all()
    assert (np.nextafter(begin, np.inf) + 299.9 >= time).all()
