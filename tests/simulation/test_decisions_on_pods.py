"""Decisions from outside on pods (model.md#decisions): schedulers by hand, slices that the caller chooses, refusals."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import faultsim as fs
from helpers.answers import Recover, answered
from helpers.deciders import ByHand, assert_same, decider_of, easy, fcfs, inside, outside
from helpers.drawn_policies import policies
from helpers.runs import pods, runs

ENGINES = pytest.mark.parametrize("engine", ["core", "reference"])
#: Four cubes of four hosts; slices of a cube have 1 or 2.
POD = fs.Pod((1, 2, 2), (2, 2, 2), 4)
WIRED = replace(POD, wiring="static")
HELD = replace(POD, spares=1)
LOG = fs.Workload(submit=[0, 1, 2, 3], runtime=[10, 10, 5, 4], size=[8, 2, 4, 12], estimate=[12, 10, 5, 9])


@st.composite
def decided_runs(draw, **options):
    """Runs that a caller can decide: nothing that a scheduler promises to others is asked for."""
    run, kind = draw(runs(on=pods(), **options)), draw(st.sampled_from([fs.Fcfs, fs.EasyBackfill]))
    scheduler = kind(order=draw(st.sampled_from(["arrival", "shortest", "largest", "wfp3"])))
    if kind is not fs.Fcfs and draw(st.booleans()):
        scheduler = replace(scheduler, repairs="unknown")
    return run.with_options(scheduler=scheduler, rescheduling=None, record=True)


def check_decided(run, engine, verify=False):
    expected = run.simulate(engine=engine)
    assert_same(outside(run, decider_of(run), engine, verify), expected)
    if getattr(run.scheduler, "repairs", "known") == "known":
        assert_same(inside(run, decider_of(run), engine, verify), expected)


@ENGINES
@given(run=decided_runs())
def test_built_in_schedulers_by_hand_give_the_same_bytes(engine, run):
    check_decided(run, engine, verify=True)


@pytest.mark.slow
@ENGINES
@pytest.mark.parametrize("failing", [None, True])
def test_thousands_of_random_runs_by_hand(failing, engine):
    @given(decided_runs(failing=failing))
    @settings(max_examples=1500)
    def check(run):
        check_decided(run, engine, verify=True)

    check()


@ENGINES
@given(run=decided_runs(failing=True), rule=policies("recovery", "pod", lacking=["staying"]))
def test_failures_answered_from_outside_equal_the_recovery_that_they_repeat(engine, run, rule):
    run = run.with_options(recovery=rule)
    answers = {"failure": Recover(rule).react}
    assert_same(answered(run, answers, decider_of(run), engine, verify=engine == "core"), run.simulate(engine=engine))


@pytest.mark.parametrize(
    "pod",
    [fs.Pod.tpu_v4(), fs.Pod.tpu_v4("static"), fs.Pod.tpu_v4(spares=3), fs.Pod.tpu_v5p("static", aligned=False)],
    ids=str,
)
@pytest.mark.parametrize("kind", [fs.Fcfs, fs.EasyBackfill])
def test_a_whole_pod_by_hand(kind, pod):
    log = fs.synthetic.exponential(150, rng=4, mean_gap=900, mean_runtime=9000, sizes=[1, 4, 16, 48, 96, 256, 320])
    failures = fs.synthetic.exponential_failures(pod.nodes, 4e5, 4e6, downtime=3600.0, rng=5)
    run = fs.Run(log, pod, scheduler=kind(), failures=failures, checkpointing="periodic:1h,1m", record=True)
    expected = run.simulate()
    assert expected.jobs["restarts"].sum() > 0
    assert_same(outside(run, {"fcfs": fcfs, "easy": easy}[kind.name], verify=pod.wiring == "ocs"), expected)
    assert_same(inside(run, decider_of(run)), expected)


# -- what can be seen


def simulation(pod=POD, log=LOG, **options):
    return fs.Simulation(log, pod, scheduler=fs.External(), **options)


@ENGINES
def test_cubes_and_slices(engine):
    """Host 14, of the last cube, is down; job 0 has cubes 1 and 2, job 1 the second half of the last cube's hosts."""
    sim = simulation(engine=engine, record=True, failures=fs.FailureTrace([0], [14], [100]))
    d = sim.advance()
    assert (d.free, d.free_cubes.tolist(), d.down.tolist(), d.occupancy.shape) == (15, [0, 1, 2], [14], (16,))
    d.start(0, cubes=[2, 1])
    assert (d.free_cubes.tolist(), d.free_cubes.dtype, d.free) == ([0], np.int32, 7)
    d = sim.advance()
    assert d.slices(1).tolist() == [[12, 13], [0, 1], [2, 3]]
    assert d.slices(1, 1).tolist() == [[15], [12], [13], [0], [1], [2], [3]]
    assert d.slices(1, 3).shape == (0, 3)
    d.start(1, nodes=[13, 12])
    assert [each.tolist() for each in d.running.where] == [list(range(4, 12)), [12, 13]]
    changed = [(kind, job, nodes) for kind, job, _, nodes in d.changes if kind == "started"]
    assert changed == [("started", 0, list(range(4, 12))), ("started", 1, [12, 13])]
    d = sim.advance()
    assert (d.queue.tolist(), d.queue.fits.tolist(), d.shadow(2)) == ([2], [True], (2.0, 1))
    d = sim.advance()
    assert (d.fits(3), d.shadow(3), d.may_backfill(3, 2)) == (False, (12.0, 3), False)


@ENGINES
def test_slices_of_wires_are_blocks(engine):
    d = simulation(WIRED, engine=engine).advance()
    assert d.slices(0).tolist() == [list(range(8)), list(range(8, 16))]
    assert d.slices(0, 4).tolist() == [list(range(at, at + 4)) for at in (0, 4, 8, 12)]
    d.start(0, cubes=[2, 3])
    assert (d.free_cubes.tolist(), d.slices(0, 8).tolist()) == ([0, 1], [list(range(8))])


@ENGINES
def test_spare_cubes_are_not_among_the_slices(engine):
    """One of four cubes is held back: with three in use, slices inside a cube are in one of these."""
    sim = simulation(HELD, fs.Workload([0, 0, 0], [9, 9, 9], [8, 1, 1]), engine=engine)
    d = sim.advance()
    d.start(0, cubes=[0, 3])
    d.start(1, nodes=[6])
    assert d.free_cubes.tolist() == [2]
    assert d.slices(2).tolist() == [[7], [4], [5]]
    for where in ({"nodes": [8]}, {"cubes": [2]}):
        with pytest.raises(fs.DecisionError, match="job 2 cannot have this slice: it would use cubes that are held b"):
            d.start(2, **where)
    d.start(2, nodes=[4])
    sim.verify()


# -- what can be done, and what cannot


@ENGINES
@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda d: d.start(3), "job 3 cannot start: it needs 12 nodes and 8 are free"),
        (lambda d: d.start(2, cubes=[1]), "cube 1 is not free"),
        (lambda d: d.start(2, nodes=range(4, 8)), "node 4 is not free"),
        (lambda d: d.start(2, cubes=[4]), "there is no cube 4: cubes are 0 to 3"),
        (lambda d: d.start(2, cubes=[2, 2]), "cubes of job 2 are named twice"),
        (lambda d: d.start(2, cubes=np.array([], int)), "the 0 nodes given for job 2 are no slice of this pod"),
        (lambda d: d.start(2, cubes=[2.5]), "cubes of job 2 must be whole numbers"),
        (lambda d: d.start(2, nodes=[16, 17]), "there is no node 16: nodes are 0 to 15"),
        (lambda d: d.start(2, nodes=[8, 9, 10, 12]), "the 4 nodes given for job 2 are no slice of this pod"),
        (lambda d: d.start(1, nodes=[9, 10]), "the 2 nodes given for job 1 are no slice of this pod"),
        (lambda d: d.start(2, nodes=[8, 9]), "job 2 asks for 4 nodes, and the slice has 2"),
        (lambda d: d.start(2, box=[0, 0, 0, 1, 1, 1]), "jobs on a pod take slices: give cubes= or nodes=, not box="),
        (lambda d: d.start(2, nodes=[8], cubes=[2]), r"by one of nodes=, box= and cubes=, got nodes= and cubes="),
        (lambda d: d.boxes(2), r"a pod has no boxes: choose by d\.slices or d\.free_cubes"),
        (lambda d: d.slices(2), r"optical switches join any cubes of this pod: choose some of d\.free_cubes"),
        (lambda d: d.move(0), "say where job 0 moves to: cubes= or nodes="),
        (lambda d: d.move(0, cubes=[1]), "job 0 moves to a slice of the 8 nodes that it has, got 4"),
        (lambda d: d.move(0, cubes=[1, 0]), "job 0 already has this slice"),
        (lambda d: d.move(0, box=[0, 0, 0, 1, 1, 1]), "jobs on a pod take slices"),
    ],
)
def test_illegal_acts_are_refused_by_name_and_change_nothing(engine, act, words):
    sim = simulation(engine=engine)
    sim.advance().start(0)
    d = sim.advance(until=3)
    while d.now < 3 or d.kind != "time":
        d = sim.advance(until=3)
    with pytest.raises(fs.DecisionError, match=words):
        act(d)
    assert (d.free, d.queue.tolist()) == (8, [1, 2, 3])
    while d is not None:
        easy(d)
        d = sim.advance()
    assert sim.result().jobs["start"].tolist() == [0, 3, 3, 10]


@ENGINES
@pytest.mark.parametrize("machine", [fs.Cluster(16), fs.Torus(4, 2, 2)], ids=["cluster", "torus"])
def test_other_machines_have_no_cubes(machine, engine):
    d = fs.Simulation(LOG, machine, scheduler=fs.External(), engine=engine).advance()
    taken = "nodes: give nodes=" if machine.name == "cluster" else "boxes: give box="
    for act, words in (
        (lambda: d.start(0, cubes=[0]), f"jobs on a {machine.name} take {taken}, not cubes="),
        (lambda: d.free_cubes, "only a pod has cubes and slices"),
        (lambda: d.slices(0), "only a pod has cubes and slices"),
    ):
        with pytest.raises(fs.DecisionError, match=words):
            act()


@ENGINES
def test_a_block_is_what_is_wired(engine):
    d = simulation(WIRED, engine=engine).advance()
    for cubes in ([0, 2], [1, 2]):
        with pytest.raises(fs.DecisionError, match="the 8 nodes given for job 0 are no slice of this pod"):
            d.start(0, cubes=cubes)
    d.start(0, cubes=[0, 1, 2, 3])
    assert d.running.size.tolist() == [16]


@ENGINES
def test_a_job_moves_to_cubes_that_it_has_in_part(engine):
    """From cubes 0 and 1 to 1 and 3: what it did before is safe after 2 s, and it works again at 9."""
    sim = simulation(HELD, engine=engine, record=True)
    sim.advance().start(0)
    d = sim.advance(until=4)
    while d.kind != "time":
        d = sim.advance(until=4)
    d.move(0, cubes=[3, 1], checkpoint_cost=2, restart_cost=3)
    assert (d.running.where[0].tolist(), d.free_cubes.tolist()) == ([*range(4, 8), *range(12, 16)], [0, 2])
    assert d.running.expected_end.tolist() == [17.0]
    while d is not None:
        easy(d)
        d = sim.advance()
    jobs = sim.result().jobs
    assert (jobs["finish"][0], jobs["moves"].tolist()) == (15.0, [1, 0, 0, 0])


@pytest.mark.parametrize("pod", [POD, WIRED, HELD], ids=str)
def test_copies_pickles_and_results(pod, tmp_path):
    sim = simulation(pod, record=True)
    d = sim.advance()
    d.start(0, cubes=[2, 3])
    d = sim.advance()
    d.start(1, nodes=[6, 7])
    others = [sim.copy(), copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))]
    for each in (sim, *others):
        d = each.decision
        while d is not None:
            easy(d)
            each.verify()
            d = each.advance()
    result = sim.result()
    for each in others:
        assert_same(each.result(), result)
    result.save(tmp_path / "run.npz")
    loaded = fs.load_result(tmp_path / "run.npz")
    assert loaded.machine == pod
    assert loaded.allocations["nodes"][:10].tolist() == [*range(8, 16), 6, 7]
    with pytest.raises(fs.OptionError, match="decided from outside, which is not saved"):
        fs.rerun(loaded)


def test_a_built_in_scheduler_takes_over():
    sim = simulation()
    sim.advance().start(0)
    assert sim.rollout(fs.EasyBackfill()).jobs["start"].tolist() == fs.simulate(LOG, POD).jobs["start"].tolist()


def test_a_tick_in_python_moves_a_job_away():
    """A rescheduling of one's own under a built-in scheduler: at 5 the job leaves the cube that will fail at 7."""

    class Away(fs.Rescheduling):
        interval = 5.0

        def tick(self, decision):
            doomed = {node // 4 for node in decision.foreseen(5)["node"].tolist()}
            for job, where in zip(decision.running, decision.running.where, strict=True):
                has = set((where // 4).tolist())
                if has & doomed:
                    free = [cube for cube in decision.free_cubes.tolist() if cube not in doomed]
                    decision.move(job, cubes=[*(has - doomed), *free[: len(has & doomed)]])

    log = fs.Workload([0], [100], [8])
    options = {"failures": fs.FailureTrace([7], [2], [50], span=99), "predictor": "perfect", "rescheduling": Away()}
    for engine in ("core", "reference"):
        result = fs.simulate(log, POD, **options, record=True, engine=engine)
        assert (result.jobs["moves"].tolist(), result.jobs["restarts"].tolist()) == ([1], [0])
        assert sorted(set((result.allocations["nodes"][8:] // 4).tolist())) == [1, 2]


def test_what_a_scheduler_of_ones_own_does_not_go_with():
    own = ByHand(easy)
    with pytest.raises(fs.OptionError, match="starts jobs on more nodes than they ask for, which decisions from outs"):
        fs.simulate(LOG, POD, scheduler=own, recovery=fs.HotSpares(1), failures=fs.FailureTrace([1], [1]))
