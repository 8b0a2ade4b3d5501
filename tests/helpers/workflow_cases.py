"""Workflows for the tests of both engines: tables made by hand, random cases, and what every output must satisfy."""

from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from helpers.failure_strategies import by_time

FINISH, REPAIR, FAILURE, KILL, WAKE_UP, ARRIVAL, START = range(7)

#: The worked example (the costs that the printed traces of [yu2010] leave, on a five-unit grid).
EXAMPLE_COST = [[30, 40, 50], [30, 25, 40], [35, 30, 20], [45, 35, 40], [30, 45, 45]]
EXAMPLE_EDGES = [(0, 1, 10), (0, 2, 10), (0, 3, 10), (1, 4, 10), (2, 4, 10), (3, 4, 20)]
EXAMPLE_FAILURES = [(5, 2, 5), (15, 0, 5), (60, 1, 5)]
EXAMPLE_PREDICTIONS = [(8, 2), (18, 0), (90, 2)]


def tables_of(workflows, nodes=None, speed=None, bandwidth=1.0):
    """What an engine takes, of workflows (cost, edges) or (cost, edges, arrival)."""
    first, arrival, cost, edges = [0], [], [], []
    for row in workflows:
        own_cost, own_edges, own_arrival = (*row, 0.0)[:3]
        edges += [(first[-1] + u, first[-1] + v, x) for u, v, x in own_edges]
        cost += list(own_cost)
        arrival.append(own_arrival)
        first.append(len(cost))
    if nodes is None:
        nodes = len(speed) if speed is not None else len(cost[0])
    tables = {
        "first_job": np.array(first, dtype=np.int64),
        "arrival": np.array(arrival, dtype=float),
        "cost": np.array(cost, dtype=float),
        "speed": np.ones(nodes) if speed is None else np.array(speed, dtype=float),
        "bandwidth": np.array(bandwidth, dtype=float) if np.ndim(bandwidth) else float(bandwidth),
    }
    for name, key, other in (("predecessor", 1, 0), ("successor", 0, 1)):
        rows = sorted(edges, key=lambda edge: (edge[key], edge[other]))
        tables[f"{name}_start"] = np.searchsorted([row[key] for row in rows], np.arange(first[-1] + 1)).astype(np.int64)
        tables[name] = np.array([row[other] for row in rows], dtype=np.int32)
        tables[f"{name}_transfer"] = np.array([row[2] for row in rows], dtype=float)
    return tables


def world_of(failures=(), predictions=()):
    """Failures (time, node, down time) and predictions (time, node) or (begin, end, node).

    Ends ascend with begins, as those of all predictors do; one that does not is made later.
    """
    dated: list[tuple] = []
    for begin, end, node in sorted([row if len(row) == 3 else (row[0], *row) for row in predictions]):
        dated.append((begin, max(end, dated[-1][1]) if dated else end, node))
    return {
        "failures": by_time(list(failures), time=float, node=np.int32, downtime=float),
        "predictions": by_time(dated, begin=float, end=float, node=np.int32) | {"p": 1.0},
    }


def settings_of(scheduler="rank_hybd", transfers="parallel", outputs=None, **rule):
    return {"scheduler": {"name": scheduler, **rule}, "transfers": transfers, "outputs": outputs, "record": True}


# -- random cases


@st.composite
def graphs(draw, lengths, sizes, max_jobs):
    """(jobs, edges) of a random graph, whose numbers are in no particular order."""
    jobs = draw(st.integers(1, max_jobs))
    names = draw(st.permutations(range(jobs)))
    pairs = [(u, v) for v in range(jobs) for u in range(v)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=3 * jobs)) if pairs else []
    return jobs, [(names[u], names[v], draw(sizes)) for u, v in chosen]


@st.composite
def foreseen(draw, failures, nodes, horizon):
    """Predictions (begin, end, node) of some failures, at their times or beside, as intervals, and false ones."""
    rows = []
    for time, node, down in failures:
        kind = draw(st.sampled_from(["none", "dated", "inside", "interval", "none", "dated"]))
        if kind == "dated":
            rows.append((time, time, node))
        if kind == "inside":
            rows.append((time + down, time + down, node))
        if kind == "interval":
            begin = max(0, time - draw(st.integers(0, 4)))
            rows.append((begin, begin + draw(st.integers(0, 9)), node))
    anywhere = st.tuples(st.integers(0, horizon), st.integers(0, 12), st.integers(0, nodes - 1))
    for begin, length, node in draw(st.lists(anywhere, max_size=6)):
        rows.append((begin, begin + (0 if draw(st.booleans()) else length), node))
    return rows


SCHEDULERS = (
    {"name": "rank_hybd", "across": "ascending"},
    {"name": "rank_hybd", "across": "descending"},
    {"name": "flaw", "across": "ascending"},
    {"name": "flaw", "across": "descending"},
    {"name": "fifo", "aware": False},
    {"name": "fifo", "aware": True},
)


@st.composite
def workflow_cases(draw, schedulers=SCHEDULERS, max_workflows=4, max_jobs=9):
    """(settings, tables, world) of one run.

    Times are mostly whole multiples of one unit, so that failures, ends, transfers and arrivals meet; sometimes they
    are any doubles, where rounding would show.
    """
    nodes = draw(st.integers(1, 5))
    exact = draw(st.sampled_from([True, True, True, False]))
    unit = draw(st.sampled_from([1.0, 1.0, 0.1, 1 / 3]))

    def times(low, high):
        return st.integers(low, high) if exact else st.floats(low, high, allow_subnormal=False)

    lengths, sizes = times(0, draw(st.sampled_from([3, 9, 30]))), times(0, draw(st.sampled_from([0, 3, 12])))
    as_matrix = draw(st.booleans())
    workflows = []
    arrivals = st.just(0) if draw(st.booleans()) else times(0, 30)
    for _ in range(draw(st.integers(1, max_workflows))):
        jobs, edges = draw(graphs(lengths, sizes, max_jobs))
        cost = [[draw(lengths) for _ in range(nodes if as_matrix else 1)] for _ in range(jobs)]
        cost = np.array(cost, dtype=float) * unit if as_matrix else np.array(cost, dtype=float)[:, 0] * unit
        workflows.append((cost, [(u, v, x * unit) for u, v, x in edges], draw(arrivals) * unit))
    ratios = st.sampled_from([1.0, 1.0, 2.0, 0.5, 3.0])
    speed = None if as_matrix else [draw(ratios) for _ in range(nodes)]
    bandwidth = draw(ratios)
    if draw(st.integers(0, 3)) == 0:
        bandwidth = [[draw(ratios) for _ in range(nodes)] for _ in range(nodes)]

    horizon = draw(st.sampled_from([10, 40, 120]))
    down = st.sampled_from(draw(st.sampled_from([[0], [0, 1, 2, 5], [1, 2, 4, 9, 40]])))
    failure = st.tuples(times(0, horizon), st.integers(0, nodes - 1), down)
    failures = sorted(draw(st.lists(failure, max_size=20)), key=lambda row: row[0])
    predictions = draw(foreseen(failures, nodes, horizon)) if draw(st.booleans()) else []
    settings = {
        "scheduler": draw(st.sampled_from(schedulers)),
        "transfers": draw(st.sampled_from(["parallel", "in_turn"])),
        "outputs": draw(st.sampled_from([None, None, None, 0.0, unit, 4 * unit])),
        "record": draw(st.sampled_from([True, True, True, False])),
    }
    world = world_of(
        [(t * unit, node, d * unit) for t, node, d in failures],
        [(b * unit, e * unit, node) for b, e, node in predictions],
    )
    return settings, tables_of(workflows, nodes, speed, bandwidth), draw(st.sampled_from([world, world, None]))


@st.composite
def heft_cases(draw):
    settings, tables, world = draw(workflow_cases(({"name": "heft"},)))
    world = world and {**world, "predictions": world_of()["predictions"]}
    return {**settings, "transfers": "parallel", "outputs": None}, tables, world


# -- what holds of every output


def assert_same(fast, slow):
    """Every column, count and row equal, to the bit."""
    assert set(fast) == set(slow)
    for name in sorted(slow, key=lambda name: name not in ("events_table", "decisions")):
        value = slow[name]
        if isinstance(value, dict):
            assert list(fast[name]) == list(value)
            for column in value:
                np.testing.assert_array_equal(fast[name][column], value[column], f"{name}.{column}", strict=True)
        elif isinstance(value, np.ndarray):
            np.testing.assert_array_equal(fast[name], value, name, strict=True)
        else:
            assert fast[name] == value, name


def rows_of(columns, *names):
    return list(zip(*(columns[name].tolist() for name in names or columns), strict=True))


def inputs_of(tables):
    """The predecessors of each job."""
    starts = tables["predecessor_start"]
    return [tables["predecessor"][a:b].tolist() for a, b in pairwise(starts)]


def outages_of(world):
    return rows_of(world["failures"], "time", "node", "downtime") if world and "failures" in world else []


def check_plan(tables, world, output):
    """What the page demands of a run of `Heft` with `record`: the plan is kept, only later."""
    before, outages = inputs_of(tables), outages_of(world)
    jobs = len(before)
    plan = {row[0]: row[1:] for row in rows_of(output["decisions"], "job", "node", "begin", "finish")}
    assert sorted(plan) == list(range(jobs))
    assert not output["decisions"]["asked"].any()
    assert output["questions"] == (0, 0, 0, 0)
    assert output["events"] == sum(kind not in (KILL, START) for kind in output["events_table"]["kind"])
    running, done, kills, loss = {}, [], Counter(), 0.0
    for time, kind, _, job, node in rows_of(output["events_table"]):
        if kind == START:
            assert node == plan[job][0]
            assert node not in {where for where, _ in running.values()}
            assert all(u in done for u in before[job])
            assert not any(p == node and t <= time < t + d for t, p, d in outages)
            assert time >= plan[job][1]
            running[job] = node, time
        elif kind in (FINISH, KILL):
            where, began = running.pop(job)
            assert where == node
            if kind == FINISH:
                done.append(job)
                assert (began, time) == (output["start"][job], output["finish"][job])
            else:
                assert any((t, p) == (time, node) for t, p, _ in outages)
                kills[job] += 1
                loss += time - began
    assert sorted(done) == list(range(jobs))
    assert output["kills"].tolist() == [kills[job] for job in range(jobs)]
    assert (output["loss_time"], output["reschedulings"]) == (loss, sum(kills.values()))
    for node in set(output["node"].tolist()):
        here = [job for job in output["decisions"]["job"].tolist() if plan[job][0] == node]
        here.sort(key=lambda job: plan[job][1:])
        assert [job for job in done if plan[job][0] == node] == here
    if not outages:
        assert output["start"].tolist() == [plan[job][1] for job in range(jobs)]
        assert output["finish"].tolist() == [plan[job][2] for job in range(jobs)]


def check_output(settings, tables, world, output):
    """What the page demands of a run with `record`, seen from the events alone."""
    if settings["scheduler"]["name"] == "heft":
        check_plan(tables, world, output)
        return
    before, outages = inputs_of(tables), outages_of(world)
    jobs = len(before)
    arrival = np.repeat(tables["arrival"], np.diff(tables["first_job"]))
    on_node, done, kills, loss = {}, {}, Counter(), 0.0
    busy = {}
    starts = iter(rows_of(output["decisions"], "time", "job", "node", "asked", "begin", "finish"))
    clock = -1.0
    for time, kind, _, job, node in rows_of(output["events_table"]):
        assert time >= clock
        clock = time
        if kind == START:
            start = next(starts)
            assert start[:3] == (time, job, node)
            assert start[3] >= 1
            assert time <= start[4] <= start[5]
            assert arrival[job] <= time
            assert job not in on_node
            assert job not in done
            assert all(u in done for u in before[job])
            assert node not in busy
            assert not any(p == node and t <= time < t + d for t, p, d in outages)
            if settings["outputs"] is None:
                assert not any(p == done[u][1] and t <= time < t + d for u in before[job] for t, p, d in outages), (
                    "a job started though an input was out of reach"
                )
            on_node[job], busy[node] = start, job
        elif kind in (FINISH, KILL):
            put, _, where, _, _, finish = on_node.pop(job)
            del busy[where]
            assert node == where
            if kind == FINISH:
                assert time == finish
                done[job] = (time, node)
            else:
                assert put <= time < finish
                kills[job] += 1
                loss += time - put
                assert any(t == time and (p == node or settings["outputs"] is None) for t, p, _ in outages)
        elif kind == FAILURE:
            assert any((t, p) == (time, node) for t, p, _ in outages)
    assert next(starts, None) is None
    assert not on_node
    assert sorted(done) == list(range(jobs))
    assert [done[job] for job in range(jobs)] == rows_of(output, "finish", "node")
    assert output["kills"].tolist() == [kills[job] for job in range(jobs)]
    assert (output["loss_time"], output["reschedulings"]) == (loss, sum(kills.values()))
    assert output["events"] == sum(kind not in (KILL, START) for kind in output["events_table"]["kind"])
    asked_pass, right_pass, asked_node, right_node = output["questions"]
    assert 0 <= right_pass <= asked_pass
    assert 0 <= right_node <= asked_node
    assert asked_node >= output["decisions"]["asked"].sum()
