"""Outages that slow jobs down (model.md#slowness): both engines at random, closed forms, and what must not change."""

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import faultsim as fs
from faultsim.errors import FaultsimError, InputError, NotAvailableError, OptionError
from faultsim.simulation.slowness import speeds
from helpers.engines import runs_agree
from helpers.refusals import refused
from helpers.runs import machines, pods, runs

SPEEDS = st.sampled_from([0.25, 0.5, 0.75, 0.9, 1.0])


@st.composite
def effects(draw: st.DrawFn, machine: fs.Cluster | fs.Torus | fs.Pod) -> fs.Slowdown:
    if not isinstance(machine, fs.Pod):
        return fs.Slowdown(draw(SPEEDS))
    axis = draw(st.sampled_from([None, "x", "y", "z"])) if machine.wiring == "ocs" else None
    shapes = [str(each) for each in machine.slices if each.cubes]
    if draw(st.booleans()):
        return fs.Slowdown(draw(SPEEDS), axis)
    return fs.Slowdown({shape: draw(SPEEDS) for shape in shapes if shape == shapes[-1] or draw(st.booleans())}, axis)


@st.composite
def slow_runs(draw: st.DrawFn, **options) -> fs.Run:
    """Any run with outages of three networks, which often overlap."""
    run = draw(runs(**options))
    networks = fs.Domains.join([
        fs.Domains([range(run.machine.nodes)], run.machine, kind=f"network {k}", effect=draw(effects(run.machine)))
        for k in range(3)
    ])  # fmt: skip
    rows = draw(
        st.lists(st.tuples(st.integers(0, 90), st.integers(0, 2), st.sampled_from([1, 5, 7.5, 40])), max_size=6)
    )
    time, node, lasts = ([row[k] for row in rows] for k in range(3))
    slow = fs.FailureTrace(time, node, lasts, span=400).map_domains(networks, any_rate=True)
    return run.with_options(failures=slow if run.failures is None else slow.merge(run.failures))


ON = {"pod": pods(), "ocs": pods("ocs"), "cluster": machines(torus=False), "torus": machines(torus=True)}


@pytest.mark.parametrize("on", ["pod", "cluster"])
@given(st.data())
@settings(max_examples=25)
def test_engines_agree(on, data):
    check(data.draw(slow_runs(on=ON[on], failing=True)))


@pytest.mark.slow
@pytest.mark.parametrize("failing", [False, True])
@pytest.mark.parametrize(
    ("on", "hot"), [("pod", False), ("ocs", True), ("cluster", False), ("cluster", True), ("torus", False)]
)
@given(st.data())
@settings(max_examples=800)
def test_engines_agree_on_many(on, failing, hot, data):
    check(data.draw(slow_runs(on=ON[on], failing=failing, hot=hot)))


@pytest.mark.slow
@pytest.mark.parametrize("failing", [False, True])
@pytest.mark.parametrize("on", ON)
@given(st.data())
@settings(max_examples=150)
def test_invariants_hold_at_every_instant(on, failing, data):
    """In the run, in a copy of it, and in its books so far."""
    run = data.draw(slow_runs(on=ON[on], failing=failing))
    options = {name: getattr(run, name) for name in run.__dataclass_fields__ if name not in ("log", "machine")}
    sim = fs.Simulation(run.log, run.machine, **options)
    while sim.step():
        sim.verify()
        sim.copy().verify()
        so_far = sim.result(partial=True)
        begin, end = so_far.span
        total = run.machine.nodes * (end - begin)
        assert math.fsum(so_far.ledger.values()) == pytest.approx(total, rel=1e-9, abs=1e-9 * max(end, 1))
        assert min(so_far.ledger.values()) >= -1e-9 * max(total, end)
    sim.verify()
    assert (sim.result().jobs["finish"] == run.simulate().jobs["finish"]).all()


def check(run: fs.Run) -> None:
    """Both engines say the same, the ledger has what jobs say, and it is what their clocks lost."""
    result = runs_agree(run)
    jobs, latest = result.jobs, result.jobs["finish"].max()
    slowed = jobs["size"] * jobs["slowed_time"]
    assert result.ledger["slowed"] == pytest.approx(slowed.sum(), rel=0, abs=1e-9 * latest * jobs["size"].sum())
    # Who was never killed or moved did all in one piece: the integral of the speed over it is what was done.
    for job in np.flatnonzero((jobs["restarts"] == 0) & (jobs["moves"] == 0)).tolist():
        row = jobs[job]
        did = row["runtime"] + row["checkpoint_time"]
        assert integral(run, job, row["start"], row["finish"]) == pytest.approx(did, rel=1e-9, abs=1e-9 * latest)
        lost = row["finish"] - row["start"] - did
        assert row["slowed_time"] == pytest.approx(lost, rel=0, abs=1e-9 * latest)


def integral(run: fs.Run, job: int, begin: float, end: float) -> float:
    """Of the speed of a job over a time, second by second of all outages, without the package's own clocks."""
    assert run.failures is not None
    outages, size = run.failures.slowdowns, int(run.log.size[job])
    along, shape = (2 if size > 1 else 1, 1, 1), ""
    if isinstance(run.machine, fs.Pod):
        found = next(each for each in run.machine.slices if each.hosts >= size)
        along, shape = tuple(max(n // run.machine.cube[0], 1) for n in found.shape), str(found)
        along = along if found.cubes else (1, 1, 1)
    corners = {begin, end, *(t for o in outages for t in (o.time, o.time + o.duration) if begin < t < end)}
    ordered, sums = sorted(corners), []
    for left, right in pairwise(ordered):
        out = {o.domain: o.effect for o in outages if o.time <= left and right <= o.time + o.duration}
        speed = 1.0
        for effect in out.values():
            if effect.axis is not None and along["xyz".index(effect.axis)] == 1:
                continue
            by_shape = dict(effect.speed) if effect.shapes else {shape: effect.speed} if max(along) > 1 else {}
            speed *= by_shape.get(shape, 1.0)
        sums.append(speed * (right - left))
    return math.fsum(sums)


def network(machine, *outages, effect=None, **options):
    """Outages (time, duration) of what all nodes share."""
    domain = fs.Domains({"network": range(machine.nodes)}, machine, effect=effect or fs.Slowdown(0.5))
    time, lasts = ([row[k] for row in outages] for k in range(2))
    return fs.FailureTrace(time, [0] * len(time), lasts, **options).map_domains(domain)


ENGINES = pytest.mark.parametrize("engine", ["core", "reference"])


@ENGINES
def test_one_job_by_hand(engine):
    """Half the speed from 10 to 30 s, and from 35 to 40: 100 s of work take 112.5 s; on one node 100 s."""
    log = fs.Workload(submit=[0, 0], runtime=[100, 100], size=[2, 1])
    slow = network(fs.Cluster(3), (10, 20), (35, 5))
    result = fs.simulate(log, fs.Cluster(3), failures=slow, engine=engine)
    assert result.jobs["finish"].tolist() == [112.5, 100]
    assert result.jobs["slowed_time"].tolist() == [12.5, 0]
    assert (result.ledger["useful"], result.ledger["slowed"]) == (300, 25)
    assert result.metrics["share_slowed"] == 25 / (3 * 112.5)
    assert result.ettr.tolist() == [100 / 112.5, 1]


@ENGINES
def test_a_kill_and_a_checkpoint_by_hand(engine):
    """10 s of work, 2 s for a checkpoint; half the speed from 5 to 25 s, a failure at 23 s.

    It works 0-5, and until 15 for the other five; it saves 15-19, and works for 2 s until 23, which are lost.  After
    3 s of restart, of which 2 go by until 25 as 1, it works from 27 on, with 10 s safe: until 37, saves, until 49.
    """
    log, machine = fs.Workload(submit=[0], runtime=[30], size=[2]), fs.Cluster(2)
    trace = network(machine, (5, 20)).merge(fs.FailureTrace([23], [0], 0))
    given = {"checkpointing": fs.Periodic(10, 2), "recovery": fs.Requeue(restart_cost=3), "failures": trace}
    result = fs.simulate(log, machine, engine=engine, **given)
    assert result.jobs["finish"].tolist() == [49]
    assert result.ledger == pytest.approx(
        {**dict.fromkeys(result.ledger, 0), "useful": 60, "lost": 4, "checkpoint": 8, "restart": 6, "slowed": 20}
    )


@ENGINES
def test_a_hold_does_not_get_slower(engine):
    """Down from 4 to 14 s, half the speed from 2 to 20 s: 2 s and 1 s are lost, then 3 s until 20, and 7 s."""
    log, machine = fs.Workload(submit=[0], runtime=[10], size=[2]), fs.Cluster(2)
    trace = network(machine, (2, 18)).merge(fs.FailureTrace([4], [0], 10))
    result = fs.simulate(log, machine, engine=engine, failures=trace, recovery=fs.Hold(restart_cost=0))
    assert result.jobs["finish"].tolist() == [27]
    assert result.jobs["slowed_time"].tolist() == [1 + 3]
    held = {name: seconds for name, seconds in result.ledger.items() if seconds}
    assert held == {"useful": 20, "lost": 6, "slowed": 8, "held_for_repair": 20}


def test_nobody_foresees_it():
    """The second job has a reservation for 10 s, and starts at 15 s: it lasts 20 s itself.  Its promise is excused."""
    log = fs.Workload(submit=[0, 1, 2], runtime=[10, 10, 30], size=[2, 3, 1])
    machine = fs.Cluster(3)
    sim = fs.Simulation(log, machine, failures=network(machine, (5, 100)))
    sim.run(until=12)
    sim.verify()
    sim.run()
    sim.verify()
    assert sim.result().jobs["start"].tolist() == [0, 15, 35]


def test_exposed_with_start_delays():
    log, machine = fs.Workload(submit=[0, 0], runtime=[100, 50], size=[2, 1]), fs.Cluster(3)
    result = fs.simulate(log, machine, failures=network(machine, (10, 20)), start_delay=5)
    assert result.exposed.tolist() == [5 + 110, 5 + 50]


def test_shapes_and_axes():
    """Slices of 1x1x2 and 1x2x2 cubes, and half a cube."""
    pod = fs.Pod((1, 2, 4), (2, 2, 2), 4)
    log = pod.jobs(fs.Workload(submit=[0] * 3, runtime=[100] * 3, size=[1] * 3), shape=["2x2x4", "2x4x4", "1x2x2"])
    for effect, finish in (
        (fs.Slowdown(0.5), [110, 110, 100]),
        (fs.Slowdown(0.5, axis="z"), [110, 110, 100]),
        (fs.Slowdown(0.5, axis="y"), [100, 110, 100]),
        (fs.Slowdown(0.5, axis="x"), [100, 100, 100]),
        (fs.Slowdown({"2x2x4": 0.5}), [110, 100, 100]),
        (fs.Slowdown({"2x2x4": 0.5, "2x4x4": 0.25}, axis="y"), [100, 115, 100]),
    ):
        result = fs.simulate(log, pod, failures=network(pod, (0, 20), effect=effect))
        assert result.jobs["finish"].tolist() == finish, effect


def test_domains_that_are_out_together():
    """Those of one domain are one; the speeds of several are multiplied."""
    machine = fs.Cluster(2)
    parts = fs.Domains.blocks(machine, 2, copies=2, effect=fs.Slowdown(0.5))
    trace = fs.FailureTrace([10, 15, 20], [0, 0, 1], [20, 20, 5]).map_domains(parts)
    assert speeds(trace.slowdowns, "", (2, 1, 1)) == [(10, 0.5), (20, 0.25), (25, 0.5), (35, 1)]
    assert speeds(trace.slowdowns, "", (1, 1, 1)) == []


@given(runs(failing=True, on=pods("ocs"), record=True))
def test_full_speed_is_no_outage(run):
    assert run.failures is not None
    domain = fs.Domains([range(run.machine.nodes)], run.machine, effect=fs.Slowdown(1.0))
    slow = fs.FailureTrace([3, 9], [0, 0], 50).map_domains(domain).merge(run.failures)
    one, other = run.simulate(), run.with_options(failures=slow.with_span(max(slow.span, 1))).simulate()
    assert all((one.jobs[name] == other.jobs[name]).all() for name in one.jobs)
    assert (one.ledger, one.counters) == (other.ledger, other.counters)


# -- the table and the trace


def test_a_trace_keeps_its_slowdowns(tmp_path: Path):
    machine = fs.Cluster(4)
    slow = network(machine, (60, 600), (100, 50), span=1000, name="a")
    trace = slow.merge(fs.FailureTrace([70], [1], 5, span=1000), name="a")
    assert [(o.time, o.duration) for o in trace.slowdowns] == [(60, 600), (100, 50)]
    assert repr(trace) == "<FailureTrace 'a': 1 failure, nodes 1-1, span 1000 s, 2 slowdowns>"
    assert trace[:0].slowdowns == trace.with_count(0).slowdowns == trace.slowdowns
    assert trace != fs.FailureTrace([70], [1], 5, span=1000)
    assert [o.time for o in trace.window(80, 500).slowdowns] == [20]
    caught = trace.window(80, 500, under_way=True).slowdowns
    assert [(o.time, o.duration) for o in caught] == [(0, 580), (20, 50)]
    assert [o.time for o in trace.with_span(2000).slowdowns] == [120, 200]
    assert [o.time for o in fs.FailureTrace.concat([trace, trace]).slowdowns] == [60, 100, 1060, 1100]
    log = fs.Workload(submit=[1000, 1001], runtime=[200, 10], size=[2, 1])
    assert [o.time for o in trace.align(log).slowdowns] == [1060, 1100]
    trace.write_csv(tmp_path / "slow.csv")
    again = fs.read_failures(tmp_path / "slow.csv")
    assert again == trace
    assert again.slowdowns == trace.slowdowns
    result = fs.simulate(log, machine, failures=trace.align(log))
    result.save(tmp_path / "slow.npz")
    loaded = fs.load_result(tmp_path / "slow.npz")
    assert loaded.failures == result.failures
    assert loaded.ledger["slowed"] == result.ledger["slowed"] > 0
    assert fs.rerun(loaded).jobs["finish"].tolist() == result.jobs["finish"].tolist()


def test_files_with_slowdowns_that_are_none(tmp_path: Path):
    path = tmp_path / "bad.csv"
    for text, said in (
        ("60,600,4,-,0.5", "line 1: slowdown: '60,600,4,-,0.5' is none"),
        ("60,-1,4,-,0.5,a", "expected times in seconds, 0 to 8589934592"),
        ("60,600,4,w,0.5,a", "unknown axis of Slowdown 'w'"),
        ("60,600,4,-,4x4=0.5,a", "a shape is three extents"),
    ):
        path.write_text(f"# slowdown: {text}\ntime,node\n1,0\n")
        refused(InputError, said, fs.read_failures, path)


def test_speeds_that_are_none():
    for speed, said in (
        (0, "speed of Slowdown must be above 0"),
        (1.5, "speed of Slowdown must be at most 1, the speed without an outage, got 1.5"),
        (math.nan, "speed of Slowdown"),
        ("half", "speed of Slowdown"),
        ({}, "no shapes are given"),
        ({"4x4": 0.5}, "a shape is three extents in chips, such as '4x4x8', got '4x4'"),
        ({"4x4x8": 2}, "speed of Slowdown for 4x4x8 must be at most 1"),
        ({"4x4x8": 0.5, "4X4x8": 0.6}, "a shape appears twice"),
    ):
        refused(FaultsimError, said, fs.Slowdown, speed)
    refused(OptionError, "unknown axis of Slowdown 'w'", fs.Slowdown, 0.5, "w")


def test_runs_that_are_refused():
    log, cluster, pod = fs.Workload(submit=[0], runtime=[9], size=[2]), fs.Cluster(4), fs.Pod((1, 1, 2), (2, 2, 2), 4)
    slow = network(cluster, (1, 5))
    refused(InputError, "trace is of 4 nodes, and the machine has 5", fs.Run, log, fs.Cluster(5), failures=slow)
    by_axis = network(cluster, (1, 5), effect=fs.Slowdown(0.5, axis="x"))
    refused(OptionError, "is about slices, and cluster:4 has none", fs.Run, log, cluster, failures=by_axis)
    wired = fs.Pod((1, 1, 2), (2, 2, 2), 4, "static")
    by_axis = network(wired, (1, 5), effect=fs.Slowdown(0.5, axis="x"))
    refused(OptionError, "no switches serve the axis x of all cubes", fs.Run, log, wired, failures=by_axis)
    for shape, said in (("2x2x6", "the shape 2x2x6 of a slice is not allowed"), ("1x2x2", "lies inside a cube")):
        unknown = network(pod, (1, 5), effect=fs.Slowdown({shape: 0.5}))
        refused(OptionError, said, fs.Run, log, pod, failures=unknown)
    refused(
        NotAvailableError,
        "live= does not know outages that slow jobs",
        fs.Simulation,
        log,
        cluster,
        failures=slow,
        live=9,
    )
    flow, on = fs.Workflow([1.0, 2.0]), fs.Resources(4)
    refused(NotAvailableError, "simulate_workflows does not know", fs.simulate_workflows, flow, on, failures=slow)
    refused(InputError, "map_nodes: the trace has slowdowns", slow.map_nodes, 4)
    pods = network(pod, (1, 5), span=100)
    refused(NotAvailableError, "plan does not know outages", fs.plan, pod, ["2x2x4"], failures=pods, any_rate=True)
