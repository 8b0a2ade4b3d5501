"""`FailureTrace`: columns, coins, and what is done with a trace."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim import FailureTrace
from faultsim.data.columns import FAILURES
from faultsim.errors import InputError, OptionError
from helpers.refusals import refused


def drawn(n: int, *, nodes: int = 8, seed: int = 1, downtime: float = 50.0) -> FailureTrace:
    rng = np.random.default_rng(seed)
    return FailureTrace(rng.uniform(0, 1000, n), rng.integers(nodes, size=n), rng.exponential(downtime, n), span=1000)


@st.composite
def traces(draw: Callable[..., Any]) -> FailureTrace:
    """Traces with ties, overlaps and outages of no length, in whole seconds so that sums are exact."""
    n = draw(st.integers(0, 30))
    time, node, down = (draw(st.lists(st.integers(0, top), min_size=n, max_size=n)) for top in (40, 3, 15))
    return FailureTrace(time, node, down, span=draw(st.integers(40, 60)))


# -- making one ------------------------------------------------------------------------------------------------------


def test_rows_are_sorted_and_ties_keep_their_order() -> None:
    trace = FailureTrace([5, 1, 5, 1], [0, 1, 2, 3], [10, 11, 12, 13], coin=[0.0, 0.1, 0.2, 0.3])
    assert trace.time.tolist() == [1, 1, 5, 5]
    assert trace.node.tolist() == [1, 3, 0, 2]
    assert trace.downtime.tolist() == [11, 13, 10, 12]
    assert trace.coin.tolist() == [0.1, 0.3, 0.0, 0.2]
    assert trace.span == 5


def test_columns_are_read_only_copies_of_the_tables_types() -> None:
    mine = np.array([3.0, 4.0])
    trace = FailureTrace(mine, [0, 1])
    mine[0] = 100.0
    assert trace.time.tolist() == [3.0, 4.0]
    assert list(trace.columns) == [column.name for column in FAILURES]
    for column in FAILURES:
        values = trace.columns[column.name]
        assert values.dtype == np.dtype(column.dtype)
        assert not values.flags.writeable
    with pytest.raises(AttributeError, match="read-only: span cannot be set"):
        trace.span = 3.0  # type: ignore[misc]
    with pytest.raises(AttributeError, match="read-only: name cannot be deleted"):
        del trace.name


@pytest.mark.parametrize("node", [[0], [3, 0], [0, 7, 2]])
def test_a_trace_needs_a_machine_up_to_its_last_node(node: list[int]) -> None:
    assert FailureTrace([5.0] * len(node), node).min_nodes == max(node) + 1


def test_an_empty_trace() -> None:
    trace = FailureTrace([], [])
    assert len(trace) == 0
    assert (trace.span, trace.min_nodes) == (0.0, 0)
    assert len(trace.with_span(10).window(2, 5).merge(trace).merge_overlaps().map_nodes(4)) == 0
    assert trace.summary(nodes=4)["n_failures"] == 0
    assert FailureTrace([], [], span=100).with_count(0).span == 100
    refused(InputError, r"^with_count: the trace has 0 failures, 1 are requested$", trace.with_count, 1, repeat=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, math.nan], [0, 0]), "time, row 1: nan is not a finite number"),
        (([1, math.inf], [0, 0]), "time, row 1: inf is not a finite number"),
        (([-1], [0]), "time, row 0: -1 is negative"),
        (([1, 2], [0, -1]), "node, row 1: -1 is negative; expected at least 0"),
        (([1], [0.5]), "node, row 0: 0.5 is not a whole number"),
        (([1], [2**31]), "node, row 0: 2147483648 does not fit into int32"),
        (([1, 2], [0]), "node: 1 value for 2 rows"),
        (([1, 2], [0, 0], [0, -3]), "downtime, row 1: -3 is negative; expected at least 0"),
        (([1, 2], [0, 0], [0, math.nan]), "downtime, row 1: nan is not a finite number"),
        (([1, 2], [0, 0], [0, -math.inf]), "downtime, row 1: -inf is not a finite number"),
        (([1, 2], [0, 0], -3), "downtime, row 0: -3 is negative; expected at least 0"),
        (([], [], math.nan), "downtime, row 0: nan is not a finite number"),
        (([1], [0], [1, 2]), "downtime: 2 values for 1 row"),
        (([1, 2], [0, 0], 0, [0.5, 1.0]), "coin, row 1: 1.0 is not below 1; expected 0 <= coin < 1"),
        (([1], [0], 0, [-0.1]), "coin, row 0: -0.1 is negative"),
        (([1], [0], 0, [math.nan]), "coin, row 0: nan is not a finite number"),
        (([1, 7.5], [0, 0], 0, None, 7), "span: 7.0 s ends before the last failure at 7.5 s; expected at least that"),
        (([1], [0], 0, None, math.inf), "span must be at least 0 s and finite, got inf"),
    ],
)
def test_bad_values_are_named(arguments: tuple[Any, ...], message: str) -> None:
    named = dict(zip(("time", "node", "downtime", "coin", "span"), arguments, strict=False))
    refused(ValueError, f"^{message}", FailureTrace, **named)


def test_equality_digest_and_pickle() -> None:
    trace = FailureTrace([1, 2], [0, 1], 5, span=10, name="a", dropped={"x": 2})
    same = FailureTrace([1.0, 2.0], [0, 1], [5, 5], span=10.0)
    assert trace == same
    assert hash(trace) == hash(same)
    others = [
        FailureTrace([1, 2], [0, 1], 5, span=11),
        FailureTrace([1, 2], [0, 2], 5, span=10),
        FailureTrace([1, 2], [0, 1], 6, span=10),
        FailureTrace([1, 3], [0, 1], 5, span=10),
        FailureTrace([1, 2], [0, 1], 5, coin=[0.0, 0.5], span=10),
        trace[:1],
    ]
    assert all(trace != other for other in others)
    assert len({other.digest() for other in [trace, *others]}) == 1 + len(others)
    assert trace != "a trace"
    back = pickle.loads(pickle.dumps(trace))
    assert back == trace
    assert (back.name, dict(back.dropped), back.time.flags.writeable) == ("a", {"x": 2}, False)


def test_parts() -> None:
    trace = drawn(20)
    assert trace[5:8].time.tolist() == trace.time[5:8].tolist()
    assert trace[trace.node == 3].coin.tolist() == trace.coin[trace.node == 3].tolist()
    assert trace[5:8].span == 1000
    with pytest.raises(InputError, match="slices go forward, got step -1"):
        trace[::-1]
    with pytest.raises(InputError, match="takes a slice or a mask of 20 booleans, got an array of int64"):
        trace[[1, 2]]
    with pytest.raises(InputError, match="takes a slice or a mask of 20 booleans, got float"):
        trace[3.0]


# -- coins -----------------------------------------------------------------------------------------------------------


def test_default_coins_depend_on_the_count_only_and_look_uniform() -> None:
    assert np.array_equal(drawn(5000, seed=1).coin, drawn(5000, seed=2).coin)
    assert not np.array_equal(drawn(5000).coin[:4999], drawn(4999).coin)
    coin = np.sort(drawn(5000).coin)
    assert np.abs(coin - (np.arange(5000) + 0.5) / 5000).max() < 1.63 / math.sqrt(5000)  # Kolmogorov-Smirnov, 1 %


@given(traces(), st.data())
def test_coins_stay_with_their_failures(trace: FailureTrace, data: st.DataObject) -> None:
    """The down time is given a value of its own for each failure; afterwards it must still meet the same coin."""
    marked = FailureTrace(trace.time, trace.node, 1000.0 + np.arange(len(trace)), coin=trace.coin, span=trace.span)
    pairs = set(zip(marked.downtime.tolist(), marked.coin.tolist(), strict=True))
    t0 = data.draw(st.integers(0, 30))
    changed = [
        marked.window(t0, t0 + 10),
        marked.with_span(7.0),
        marked.with_count(len(marked) // 2),
        marked.map_nodes(2),
        marked.map_nodes(3, "permute", rng=4),
        marked.drop_outside(2),
        marked.merge(FailureTrace([], [])),
        marked[1:],
    ]
    for other in changed:
        assert set(zip(other.downtime.tolist(), other.coin.tolist(), strict=True)) <= pairs


# -- time ------------------------------------------------------------------------------------------------------------


@given(traces(), st.integers(0, 50), st.integers(1, 40), st.booleans(), st.booleans())
def test_window(trace: FailureTrace, t0: int, length: int, shift: bool, under_way: bool) -> None:
    t1 = t0 + length
    part = trace.window(t0, t1, shift=shift, under_way=under_way)
    expected = []
    for time, node, down, coin in zip(trace.time, trace.node, trace.downtime, trace.coin, strict=True):
        if t0 <= time < t1:
            expected.append((time - t0 * shift, node, down, coin))
        elif under_way and time < t0 < time + down:
            expected.append((t0 - t0 * shift, node, time + down - t0, coin))
    assert sorted(zip(part.time, part.node, part.downtime, part.coin, strict=True)) == sorted(expected)
    assert part.span == max(min(t1, trace.span), t0) - t0 * shift
    assert (np.diff(part.time) >= 0).all()


def test_window_edges() -> None:
    trace = FailureTrace([0, 10, 20], [0, 0, 0])
    assert trace.window(0, 20).time.tolist() == [0, 10]
    assert trace.window(0, math.inf) == trace
    assert trace.window(10, math.inf, shift=False).time.tolist() == [10, 20]
    for wrong in [(10, 10), (10, 5), (-1, 5), (math.nan, 5), (0, math.nan)]:
        refused(OptionError, r"^t[01] of window\(\) must be ", trace.window, *wrong)


@given(traces(), st.floats(1e-3, 1e9))
def test_stretch(trace: FailureTrace, span: float) -> None:
    other = trace.with_span(span)
    assert other.span == span
    assert np.allclose(other.time, trace.time * (span / trace.span), rtol=1e-14)
    assert not len(other) or other.time[-1] <= span
    assert np.array_equal(other.downtime, trace.downtime)
    # What falls together stays together, to the bit.
    assert np.array_equal(np.diff(other.time) > 0, np.diff(trace.time) > 0)


def test_stretch_is_exact_at_the_end_and_needs_a_span() -> None:
    assert 11.0 * (0.1 / 11.0) > 0.1, "the other way round the last failure would come after the span"
    assert FailureTrace([1, 11], [0, 0]).with_span(0.1).time[-1] == 0.1
    trace = drawn(5)
    assert trace.with_span(1000) is trace
    refused(InputError, "with_span: the trace has no span", FailureTrace([0, 0], [0, 1]).with_span, 10)
    refused(OptionError, r"span of with_span\(\) must be above 0 s, got 0", trace.with_span, 0)


# -- count -----------------------------------------------------------------------------------------------------------


@given(traces(), st.integers(0, 40), st.integers(0, 40), st.integers(0, 3))
def test_thinning_is_nested_and_twice_is_once(trace: FailureTrace, few: int, more: int, seed: int) -> None:
    few, more = sorted((min(few, len(trace)), min(more, len(trace))))
    small, large = trace.with_count(few, rng=seed), trace.with_count(more, rng=seed)
    assert (len(small), len(large), small.span) == (few, more, trace.span)
    assert set(small.coin) <= set(large.coin)
    assert large.with_count(few, rng=seed) == small


def test_thinning_says_nothing_about_coin_time_or_node() -> None:
    trace = drawn(20_000, nodes=100)
    half = trace.with_count(10_000)
    for values, kept, mean in (
        (trace.coin, half.coin, 0.5),
        (trace.time, half.time, 500),
        (trace.node, half.node, 49.5),
    ):
        error = values.std() / math.sqrt(20_000)  # of the mean of a half drawn without replacement
        assert abs(kept.mean() - mean) < 4 * math.sqrt(2) * error
    other = trace.with_count(10_000, rng=1)
    assert abs(len(set(half.coin) & set(other.coin)) - 5000) < 4 * math.sqrt(20_000 / 16)
    assert (half.coin < 0.1).mean() == pytest.approx(0.1, abs=4 * math.sqrt(0.09 / 10_000))


def test_thinning_failures_that_share_a_coin() -> None:
    trace = FailureTrace(np.arange(2000.0), np.zeros(2000, dtype=int), coin=np.full(2000, 0.5))
    half = trace.with_count(1000)
    assert abs(half.time.mean() - 999.5) < 4 * 577 / math.sqrt(2000)
    assert set(trace.with_count(500).time) <= set(half.time)


def test_thinning_by_a_generator_draws_anew_at_each_call() -> None:
    trace = drawn(100)
    rng = np.random.default_rng(5)
    first, second = trace.with_count(50, rng=rng), trace.with_count(50, rng=rng)
    assert first != second
    assert first == trace.with_count(50, rng=np.random.default_rng(5))


def test_more_failures_than_there_are() -> None:
    trace = drawn(10)
    with pytest.raises(
        InputError, match=r"^with_count: the trace has 10 failures, 25 are requested; repeat=True repeats it"
    ):
        trace.with_count(25)
    longer = trace.with_count(25, repeat=True)
    assert (len(longer), longer.span) == (25, 3000)
    # Each failure comes from one of three copies, at the same place in its copy.
    assert set(np.round(longer.time % 1000, 6)) <= set(np.round(trace.time, 6))
    assert len(set(longer.coin)) == 25
    assert trace.with_count(30, repeat=True).node.tolist() == trace.node.tolist() * 3
    assert trace.with_count(10, repeat=True) == trace
    refused(
        OptionError, r"count of with_count\(\) must be at least 0 and at most 10000000, got -1", trace.with_count, -1
    )
    with pytest.raises(OptionError, match=r"rng must be a seed .* got 'x'"):
        trace.with_count(5, rng="x")  # type: ignore[arg-type]


# -- nodes -----------------------------------------------------------------------------------------------------------


def test_map_nodes() -> None:
    trace = FailureTrace(range(300), range(300), coin=np.arange(300) / 300)
    assert trace.map_nodes(128).node.tolist() == [k % 128 for k in range(300)]
    shuffled = trace.map_nodes(128, "permute", rng=3)
    assert shuffled == trace.map_nodes(128, "permute", rng=3)
    assert shuffled != trace.map_nodes(128, "permute", rng=4)
    assert set(np.bincount(shuffled.node, minlength=128)) == {2, 3}
    assert shuffled.node.tolist() != trace.map_nodes(128).node.tolist()
    larger = trace.map_nodes(1000, "permute", rng=3).node
    assert len(set(larger)) == 300
    assert larger.max() > 300
    table = np.where(np.arange(300) < 2, np.arange(300), -1)
    chosen = trace.map_nodes(2, table)
    assert chosen.node.tolist() == [0, 1]
    assert dict(chosen.dropped) == {"node not mapped": 298}


def test_map_nodes_refuses() -> None:
    trace = FailureTrace([1, 2], [0, 5])
    refused(OptionError, r"unknown way to map nodes 'modlo' \(did you mean 'modulo'\?\)", trace.map_nodes, 4, "modlo")
    refused(OptionError, "'permute' needs rng=", trace.map_nodes, 4, "permute")
    refused(InputError, "map_nodes: 2 new numbers for the nodes 0-5", trace.map_nodes, 4, [0, 1])
    with pytest.raises(InputError, match="map_nodes: node 3 becomes 4; expected 0-3, or -1 to leave it out"):
        trace.map_nodes(4, [0, 1, 2, 4, 0, 0])
    with pytest.raises(OptionError, match="expected 'modulo', 'permute' or an array of whole numbers"):
        trace.map_nodes(4, 0.5)  # type: ignore[arg-type]
    refused(OptionError, r"n of map_nodes\(\) must be at least 1", trace.map_nodes, 0)


def test_nodes_outside_the_machine() -> None:
    trace = FailureTrace([1, 2, 3], [0, 128, 500])
    with pytest.raises(
        InputError,
        match=r"^failures: node, row 1: 128 is outside the machine of 128 nodes \(2 of 3 failures\); map_nodes",
    ):
        trace.check_against(128)
    inside = trace.drop_outside(128)
    inside.check_against(128)
    assert dict(inside.dropped) == {"node outside the machine": 2}
    assert inside.drop_outside(128) is inside


# -- several ---------------------------------------------------------------------------------------------------------


@given(traces(), traces())
def test_merge(a: FailureTrace, b: FailureTrace) -> None:
    both = a.merge(b)
    assert both.span == max(a.span, b.span)
    assert (np.diff(both.time) >= 0).all()
    rows = [
        (t, from_b, *rest)
        for from_b, trace in enumerate((a, b))
        for t, *rest in zip(trace.time, trace.node, trace.downtime, trace.coin, strict=True)
    ]
    rows.sort(key=lambda row: row[:2])
    assert [(t, *rest) for t, _, *rest in rows] == list(
        zip(both.time, both.node, both.downtime, both.coin, strict=True)
    )


def test_concat_and_merge_keep_names_and_counts() -> None:
    a = FailureTrace([1], [0], span=10, name="a", dropped={"x": 1})
    b = FailureTrace([2], [1], span=5, name="b", dropped={"x": 2, "y": 1})
    joined = FailureTrace.concat([a, b, a])
    assert joined.time.tolist() == [1, 12, 16]
    assert (joined.span, joined.name, dict(joined.dropped)) == (25, "a+b", {"x": 4, "y": 1})
    assert a.merge(b, name="both").name == "both"
    with pytest.raises(InputError, match="concat: one trace given"):
        FailureTrace.concat(a)  # type: ignore[arg-type]
    refused(InputError, "concat: no trace given", FailureTrace.concat, [])
    with pytest.raises(InputError, match="merge: item 1 must be a FailureTrace, got 'b'"):
        a.merge("b")  # type: ignore[arg-type]


def down_at(trace: FailureTrace, node: int, t: float) -> bool:
    mine = trace.node == node
    return bool(((trace.time[mine] <= t) & (t < trace.time[mine] + trace.downtime[mine])).any())


@given(traces())
def test_merge_overlaps(trace: FailureTrace) -> None:
    merged = trace.merge_overlaps()
    assert len(trace) - len(merged) == sum(merged.dropped.values())
    for node in range(4):
        mine = merged[merged.node == node]
        # One after the other, and no two in one instant.
        assert (mine.time[1:] >= mine.time[:-1] + mine.downtime[:-1]).all()
        assert (np.diff(mine.time) > 0).all()
        for half_second in range(120):
            t = half_second / 2
            assert down_at(trace, node, t) == down_at(merged, node, t)
        # No failure but inside an outage went.
        assert set(mine.time) <= set(trace.time[trace.node == node])
        kept = set(zip(trace.time.tolist(), trace.coin.tolist(), strict=True))
        assert set(zip(mine.time.tolist(), mine.coin.tolist(), strict=True)) <= kept
    assert merged.merge_overlaps() is merged


def test_touching_outages_stay_two() -> None:
    trace = FailureTrace([0, 10, 10], [0, 0, 1], 10)
    assert trace.merge_overlaps() is trace
    assert FailureTrace([0, 9.5], [0, 0], [10, 0]).merge_overlaps().downtime.tolist() == [10]
    assert FailureTrace([5, 5], [0, 0], [0, 3]).merge_overlaps().downtime.tolist() == [3]


# -- facts and other forms -------------------------------------------------------------------------------------------


def test_summary() -> None:
    trace = FailureTrace([0, 0, 100, 3600, 7200], [0, 1, 1, 1, 3], [200, 0, 60, 40, 600], span=7500)
    summary = trace.summary(nodes=10)
    gaps = np.array([0, 100, 3500, 3600])
    assert dict(summary) == pytest.approx(
        {
            "n_failures": 5,
            "n_dropped": 0,
            "nodes": 10,
            "n_failing_nodes": 3,
            "span": 7500,
            "first": 0,
            "last": 7200,
            "per_day": 5 / 7500 * 86_400,
            "node_mtbf": 15_000,
            "gap_mean": 1800,
            "gap_cv": gaps.std() / 1800,
            "downtime_mean": 180,
            "downtime_median": 60,
            "downtime_max": 600,
            "n_transient": 1,
            "worst_node": 1,
            "worst_node_share": 0.6,
            "worst_tenth_share": 0.6,
            "n_bursts": 4,
            "burst_nodes_mean": 5 / 4,
            "burst_nodes_max": 2,
            "n_single": 3,
            "availability": 1 - (200 + 60 + 40 + 300) / 75_000,  # the last outage is cut at the span
        }
    )
    assert trace.summary(nodes=10, burst_gap=100)["n_bursts"] == 3
    assert trace.summary()["nodes"] == 4
    assert "availability" in str(summary)
    refused(InputError, "outside the machine of 2 nodes", trace.summary, nodes=2)


@given(traces(), st.integers(4, 50))
def test_availability_is_the_share_of_time_up(trace: FailureTrace, nodes: int) -> None:
    seconds = np.zeros((nodes, int(trace.span)), dtype=bool)
    for time, node, down in zip(trace.time, trace.node, trace.downtime, strict=True):
        seconds[node, int(time) : int(time + down)] = True
    assert trace.summary(nodes=nodes)["availability"] == pytest.approx(1 - seconds.mean(), abs=1e-12)


def test_pandas() -> None:
    pd = pytest.importorskip("pandas")
    trace = drawn(20)
    assert FailureTrace.from_pandas(trace.to_pandas(), span=1000) == trace
    frame = pd.DataFrame({"time": [5.0, 1.0], "node": [1, 0], "cause": ["a", "b"]})
    assert FailureTrace.from_pandas(frame).node.tolist() == [0, 1]
    refused(InputError, "column 'node' missing; the frame has time", FailureTrace.from_pandas, frame[["time"]])
    with pytest.raises(InputError, match="column 'downtimes' is not known; did you mean 'downtime'"):
        FailureTrace.from_pandas(frame.rename(columns={"cause": "downtimes"}))


def test_names() -> None:
    assert repr(FailureTrace([1], [0], name="a")) == "<FailureTrace 'a': 1 failure, nodes 0-0, span 1 s>"
    assert repr(FailureTrace([], [], dropped={"x": 2})) == "<FailureTrace: 0 failures, span 0 s, 2 dropped>"
    assert fs.FailureTrace([1], [0]).renamed("b").name == "b"
