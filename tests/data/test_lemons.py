"""`FailureTrace.exclude_lemons`: nodes that fail again and again are taken out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim import FailureTrace
from faultsim.errors import InputError, OptionError
from faultsim.reference.faults.lemons import without_lemons
from helpers.refusals import refused

DAY = 86_400


def rows_of(trace: FailureTrace) -> list[tuple[float, int, float, float]]:
    return list(zip(*(trace.columns[name].tolist() for name in ("time", "node", "downtime", "coin")), strict=True))


@st.composite
def cases(draw: Callable[..., Any]) -> tuple[FailureTrace, dict[str, Any]]:
    """Many failures of few nodes, with ties and outages that reach beyond others."""
    n = draw(st.integers(0, 30))
    time, node, down = (draw(st.lists(st.integers(0, top), min_size=n, max_size=n)) for top in (60, 2, 20))
    rule = {
        "failures": draw(st.integers(1, 4)),
        "window": draw(st.sampled_from([1, 5, 20, 100])),
        "out": draw(st.sampled_from([None, 1, 10, 30])),
    }
    return FailureTrace(time, node, down, span=draw(st.integers(60, 80))), rule


@given(cases())
def test_outages_are_those_of_the_plain_twin(case: tuple[FailureTrace, dict[str, Any]]) -> None:
    trace, rule = case
    found = trace.exclude_lemons(**rule, any_rate=True)
    assert rows_of(found) == without_lemons(rows_of(trace), trace.span, **rule)
    assert len(trace) - len(found) == found.dropped.get("of a node that is out", 0)
    assert found.span == trace.span


@given(cases(), st.integers(0, 60))
def test_nothing_looks_ahead(case: tuple[FailureTrace, dict[str, Any]], until: int) -> None:
    """What comes of the failures up to some time is the same whatever fails afterwards."""
    trace, rule = case
    known = trace[trace.time <= until]
    found = rows_of(trace.exclude_lemons(**rule, any_rate=True))
    assert rows_of(known.exclude_lemons(**rule, any_rate=True)) == [row for row in found if row[0] <= until]


@given(cases())
def test_outages_only_grow(case: tuple[FailureTrace, dict[str, Any]]) -> None:
    """A node that was down still is, at every second of the span; and who never fails so often is left alone."""
    trace, rule = case
    found = trace.exclude_lemons(**rule, any_rate=True)

    def down(of: FailureTrace) -> np.ndarray:
        seconds = np.zeros((200, 3), dtype=bool)
        for time, node, lasting in zip(of.time, of.node, of.downtime, strict=True):
            seconds[int(time) : int(time + lasting), node] = True
        return seconds

    assert (down(found) >= down(trace)).all()
    for node in range(3):
        mine = trace.node == node
        instants = np.unique(trace.time[mine])
        if all((np.abs(instants - t) <= rule["window"]).sum() < rule["failures"] for t in instants):
            assert rows_of(found[found.node == node]) == rows_of(trace[mine])


def test_by_hand() -> None:
    trace = FailureTrace([0, 10, 20, 30, 31, 45, 60, 61], [1, 1, 1, 1, 0, 1, 1, 1], [1, 0, 2, 1, 5, 9, 3, 0], span=100)
    # The third failure of node 1 within 20 s takes it out until 50; the one at 45 lasts longer, and moves that to 54.
    found = trace.exclude_lemons(3, 20, out=30)
    assert found.time.tolist() == [0, 10, 20, 31, 45, 60, 61]
    assert found.downtime.tolist() == [1, 0, 30, 5, 9, 3, 0]
    assert dict(found.dropped) == {"of a node that is out": 1}
    # For good: to the end of the span.
    found = trace.exclude_lemons(3, 20)
    assert (found.time.tolist(), found.downtime.tolist()) == ([0, 10, 20, 31], [1, 0, 80, 5])
    # The window is closed: failures 20 s apart are within 20 s, and not within 19.
    assert trace[:5].exclude_lemons(3, 20, out=30) != trace[:5]
    assert trace[:5].exclude_lemons(3, 19, out=30) == trace[:5]
    # Those of one instant are one; one that comes as the node returns finds it new.
    same = FailureTrace([5, 5, 5, 6, 16], [0] * 5, [1, 2, 3, 1, 1], span=20)
    assert same.exclude_lemons(2, 5, out=10).downtime.tolist() == [1, 2, 3, 10, 1]


def test_a_lemon_kills_no_more_jobs() -> None:
    log = fs.Workload(submit=[0], runtime=[500], size=[1])
    trace = FailureTrace([100, 200, 300, 400], [0] * 4, 1, span=1000)
    assert fs.simulate(log, fs.Cluster(2), failures=trace).jobs["restarts"][0] == 1  # it goes on elsewhere
    result = fs.simulate(log, fs.Cluster(1), failures=trace)
    assert (result.jobs["restarts"][0], result.jobs["finish"][0]) == (4, 901.0)
    result = fs.simulate(log, fs.Cluster(1), failures=trace.exclude_lemons(2, 150, out=300))
    assert (result.jobs["restarts"][0], result.jobs["finish"][0]) == (2, 1000.0)


def test_what_is_refused() -> None:
    trace = FailureTrace([1, 2], [0, 0], span=10)
    refused(OptionError, r"failures of exclude_lemons\(\) must be at least 1, got 0", trace.exclude_lemons, 0, 5)
    refused(OptionError, r"window of exclude_lemons\(\) must be above 0 s, got 0", trace.exclude_lemons, 1, 0)
    refused(OptionError, r"out of exclude_lemons\(\) must be above 0 s, got 0", trace.exclude_lemons, 1, 5, out=0)
    days = FailureTrace(np.arange(20.0), [0] * 20)
    refused(InputError, "each fails every 0.95 s: are the times in days", days.exclude_lemons, 3, "30d")
    assert FailureTrace([], []).exclude_lemons(2, "1d") == FailureTrace([], [])


def test_the_record_of_a_training_cluster(data_dir) -> None:
    trace = fs.read_stepfun(data_dir / "failures" / "stepfun" / "fault_trace.json.xz")
    found = trace.exclude_lemons(3, "30d", out="30d")
    assert rows_of(found) == without_lemons(rows_of(trace), trace.span, 3, 30 * DAY, 30 * DAY)
    assert found.dropped["of a node that is out"] == 54
    before, after = trace.summary(400)["availability"], found.summary(400)["availability"]
    assert round(before - after, 3) == 0.008
    columns = zip(found.time.tolist(), found.node.tolist(), found.downtime.tolist(), strict=True)
    old = set(zip(trace.time.tolist(), trace.node.tolist(), trace.downtime.tolist(), strict=True))
    assert sum(row not in old for row in columns) == 53
