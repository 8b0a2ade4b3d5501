"""What engines receive of predictions, against the same from the model page, one prediction at a time."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import faultsim as fs
from faultsim.errors import OptionError
from faultsim.policies.interval_reports import ticks
from faultsim.reference.faults import foreseeing as plain
from faultsim.simulation.engine_inputs import alarms, predictions

MANY = settings(max_examples=3 * settings.default.max_examples)
NODES = 5
#: Whole seconds, tenths whose multiples round, and anything.
UNITS = st.sampled_from([1.0, 0.1, 0.3, 1 / 3])
LENGTHS = st.integers(1, 12)
SHARES = st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.75, 0.9, 1.0])


@st.composite
def traces(draw, unit):
    """Failures at multiples of the unit, where intervals begin and end, or beside them."""
    n = draw(st.integers(1, 30))
    time = st.integers(0, 60).map(lambda t: t * unit) | st.floats(0, 60 * unit)
    times = sorted(draw(st.lists(time, min_size=n, max_size=n)))
    node = draw(st.lists(st.integers(0, NODES - 1), min_size=n, max_size=n))
    coin = draw(st.lists(st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9]), min_size=n, max_size=n))
    return fs.FailureTrace(times, node, 0, coin=coin, span=max(times[-1], draw(st.integers(1, 90)) * unit))


def rows(foreseen):
    return list(zip(*(getattr(foreseen, name).tolist() for name in ("begin", "end", "node")), strict=True))


@given(st.data())
@MANY
def test_reports_of_intervals(data):
    unit = data.draw(UNITS)
    trace, length = data.draw(traces(unit)), data.draw(LENGTHS) * unit
    precision, recall, seed = data.draw(SHARES), data.draw(SHARES), data.draw(st.integers(0, 3))
    predictor = fs.IntervalPredictor(precision, recall, length)
    failures = list(zip(trace.time.tolist(), trace.node.tolist(), strict=True))
    try:
        pairs = plain.reports(failures, trace.span, NODES, seed, length, precision, recall)
    except ValueError:
        with pytest.raises(OptionError, match="false alarms"):
            predictions(predictor, trace, nodes=NODES, seed=seed)
        return
    foreseen = predictions(predictor, trace, nodes=NODES, seed=seed)
    assert rows(foreseen) == [(k * length, (k + 1) * length, node) for k, node in pairs]
    assert foreseen.p == precision


@given(st.data())
@MANY
def test_dated_predictions(data):
    trace, a = data.draw(UNITS.flatmap(traces)), data.draw(st.sampled_from([0.0, 0.3, 0.5, 1.0]))
    kind = data.draw(st.sampled_from([fs.Confidence(a), fs.Accuracy(a), fs.Perfect()]))
    foreseen = predictions(kind, trace, nodes=NODES, seed=1)
    table = zip(trace.time.tolist(), trace.node.tolist(), trace.coin.tolist(), strict=True)
    assert rows(foreseen) == [(time, time, node) for time, node, coin in table if plain.is_seen(kind.name, a, coin)]
    assert foreseen.p == (a if kind.name == "confidence" else 1.0)


@given(st.data())
@MANY
def test_suspicious_nodes_at_every_tick(data):
    unit = data.draw(UNITS)
    trace, length = data.draw(traces(unit)), data.draw(LENGTHS) * unit
    predictor = data.draw(st.sampled_from([fs.Perfect(), fs.IntervalPredictor(0.7, 0.5, data.draw(LENGTHS) * unit)]))
    try:
        foreseen = predictions(predictor, trace, nodes=NODES, seed=2)
    except OptionError:
        assume(False)
    table = ticks(foreseen, length)
    known = {}
    for i, time in enumerate(table.time.tolist()):
        known[time] = table.node[table.first[i] : table.first[i + 1]].tolist()
    now = set()
    for k in range(-20, int(trace.span // length) + 20):
        now = set(known.get(k * length, now))
        assert now == plain.suspicious(rows(foreseen), length, k), k
    assert set(known) <= {k * length for k in range(-20, int(trace.span // length) + 20)}


@given(st.data())
@MANY
def test_requests_in_windows(data):
    trace = data.draw(traces(data.draw(st.sampled_from([1.0, 0.5]))))
    length, interval = float(data.draw(LENGTHS)), data.draw(st.sampled_from([0.25, 0.3, 1.0, 3.0, 7.0]))
    rule = fs.PredictedWindows(fs.Buckets(length=length), fs.AllJobs(), interval, 0.1)
    asked = alarms(rule, None, trace, predictions(None, trace, nodes=NODES, seed=0), 0.0)
    assert asked.time.tolist() == [t for t in plain.windows(trace.time.tolist(), length, interval) if t >= 0]
    assert (asked.node == -1).all()


@given(st.data())
@MANY
def test_requests_before_failures(data):
    """ "at (begin of a prediction) - C", the latest begin of a checkpoint that ends by then in doubles."""
    trace = data.draw(UNITS.flatmap(traces))
    cost = data.draw(st.sampled_from([0.0, 0.1, 0.3, 2.0]))
    predictor = data.draw(st.sampled_from([None, fs.Accuracy(0.5)]))
    foreseen = predictions(predictor, trace, nodes=NODES, seed=0)
    asked = alarms(fs.BeforeFailure(cost), predictor, trace, foreseen, 0.0)
    seen = [
        (time, node)
        for time, node, coin in zip(trace.time.tolist(), trace.node.tolist(), trace.coin.tolist(), strict=True)
        if (predictor is None or plain.is_seen("accuracy", 0.5, coin))
    ]
    expected = []
    for time, node in seen:
        begin = time - cost
        if begin + cost > time:
            begin = float(np.nextafter(begin, -np.inf))
        if begin >= 0:
            expected.append((begin, node))
    assert list(zip(asked.time.tolist(), asked.node.tolist(), strict=True)) == expected
