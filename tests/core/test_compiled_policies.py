"""Schedulers and placements compiled in a package of their own (tests/compiled_policies), and in C without one."""

import ctypes
import importlib
import pickle
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_documents import blocks, run_python

import faultsim as fs
from faultsim.errors import OptionError
from faultsim.policies import contract
from helpers.acted_runs import reservations_of
from helpers.compiling import build_library, build_package
from helpers.engines import head_of, runs_agree
from helpers.refusals import refusals, refused
from helpers.results import assert_equal, random_log
from helpers.runs import machines, pods, runs
from helpers.scripts import CHECKOUT, environment, python
from helpers.site_runs import drawn_run, with_parts

ENGINES = pytest.mark.parametrize("engine", ["core", "reference"])
LOG = random_log(60, 8)
MACHINES = [fs.Cluster(8), fs.Torus(2, 2, 2)]
OUTSIDE = "outside_policies"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return build_package(tmp_path_factory.mktemp("package"))


@pytest.fixture(scope="module", autouse=True)
def package(folder):
    """The package can be imported."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield importlib.import_module(OUTSIDE)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return build_library(tmp_path_factory.mktemp("library"))


def scheduler(name, **options):
    return fs.CompiledScheduler(f"{OUTSIDE}.easy:{name}", **options)


def placement(name, **options):
    return fs.CompiledPlacement(f"{OUTSIDE}.placements:{name}", **options)


def wrong(name, make=fs.CompiledScheduler):
    return make(f"{OUTSIDE}.wrong:{name}")


def by_symbol(library, name, make=fs.CompiledScheduler):
    return make(ctypes.c_uint32.in_dll(library, name))


# -- the built-in ones again


@st.composite
def scheduled_runs(draw, kind):
    """Runs of a scheduler to whose reservations nothing else looks."""
    run = draw(runs(on=machines() | pods()))
    built_in = kind(order=draw(st.sampled_from(["arrival", "shortest", "largest", "wfp3"])))
    if kind is not fs.Fcfs and draw(st.booleans()):
        built_in = replace(built_in, repairs="unknown")
    migration = None if isinstance(run.migration, fs.Defragment) else run.migration
    return run.with_options(scheduler=built_in, migration=migration, rescheduling=None, record=True)


def again(run, name):
    options = {"order": run.scheduler.order, "repairs": getattr(run.scheduler, "repairs", "known")}
    return run.with_options(scheduler=scheduler(name, **options))


BUILT_IN = pytest.mark.parametrize(
    ("name", "kind"), [("fcfs", fs.Fcfs), ("easy", fs.EasyBackfill), ("short_easy", fs.EasyBackfill)]
)


@BUILT_IN
@given(st.data())
def test_built_in_schedulers_compiled_elsewhere_give_the_same_bytes(name, kind, data):
    run = data.draw(scheduled_runs(kind))
    assert_equal(again(run, name).simulate(), run.simulate())


@BUILT_IN
@given(st.data())
def test_the_reference_engine_calls_the_same_functions(name, kind, data):
    run = data.draw(scheduled_runs(kind))
    assert_equal(again(run, name).simulate(engine="reference"), run.simulate(engine="reference"))


@BUILT_IN
@given(st.integers(0, 2**32 - 1))
def test_they_run_where_jobs_share_nodes(name, kind, seed):
    """Both engines give what the built-in scheduler gives."""
    rng = np.random.default_rng(seed)
    run = drawn_run(rng, int(rng.integers(2, 14)))
    order = getattr(run.scheduler, "order", fs.ArrivalOrder())
    run = with_parts(rng, run.with_options(scheduler=kind(order=order))) or run.with_options(
        scheduler=kind(order=order)
    )
    expected = run.simulate()
    for engine in ("core", "reference"):
        assert_equal(again(run, name).simulate(engine=engine), expected)


@ENGINES
def test_starts_without_room_on_a_site_are_refused(engine):
    log = fs.Workload([0, 0], [9, 9], [1, 1], columns={"cores": [1, 1], "nodes": [1, 1], "gpus": [1, 1]})
    run = fs.Run(log, "site:g=1x8c8Gx1v100", scheduler=wrong("too_early"))
    refused(fs.DecisionError, "job 1 cannot start: no nodes have what it asks for free", run.simulate, engine=engine)


@pytest.mark.parametrize(
    "machine", [fs.Cluster(128), fs.Torus(4, 4, 8), fs.Pod((2, 2, 2))], ids=lambda machine: machine.name
)
def test_real_logs_and_their_invariants(machine, data_dir):
    log = head_of(data_dir, "SDSC-SP2-1998-4.2-cln", 3000 if machine.name == "cluster" else 600)
    failures = fs.synthetic.exponential_failures(128, float(log.submit[-1]), 5e6, downtime=600.0, rng=1)
    for options in ({}, {"failures": failures, "record": True}):
        expected = fs.simulate(log, machine, **options)
        for name in ("easy", "short_easy"):
            sim = fs.Simulation(log, machine, scheduler=scheduler(name), **options)
            while sim.step():
                sim.verify()
            assert_equal(sim.result(), expected)


def test_the_whole_of_a_log(data_dir):
    log = fs.read_swf(data_dir / "swf" / "SDSC-SP2-1998-4.2-cln.swf.gz")
    run = fs.Run(log, fs.Cluster(128), record=True, oversized="drop")
    for name in ("easy", "short_easy"):
        assert_equal(again(run, name).simulate(), run.simulate())
    placed = run.with_options(placement=placement("first_fit"))
    assert_equal(placed.simulate(), run.simulate())


RULES = {
    "first_fit": (fs.FirstFit, {"cluster", "torus"}),
    "roomiest": (fs.MaxFreePartition, {"torus"}),
    "tie_breaking": (fs.TieBreaking, {"torus"}),
    "safest": (fs.SafestFirst, {"cluster"}),
    "least_failures": (fs.LeastFailuresFirst, {"cluster"}),
}


@pytest.mark.parametrize("engine", ["core", "reference"])
@pytest.mark.parametrize("name", RULES)
@given(st.data())
def test_built_in_placements_compiled_elsewhere_give_the_same_bytes(name, engine, data):
    rule, machines = RULES[name]
    run = data.draw(runs(torus=None if len(machines) > 1 else "torus" in machines, record=True, failing=True))
    if run.predictor is None or not run.predictor.says_where:
        run = run.with_options(predictor=fs.Perfect(), checkpointing=None, rescheduling=None)
    options = {"box_order": run.placement.box_order} if run.machine.name == "torus" else {}
    expected = run.with_options(placement=rule(**options)).simulate(engine=engine)
    assert_equal(run.with_options(placement=placement(name, **options)).simulate(engine=engine), expected)


# -- C without Cython


def test_structs_of_ctypes_are_those_of_the_header(library):
    structs = {
        "pass": (contract.Pass, "engine"),
        "release": (contract.Release, "nodes"),
        "boxes": (contract.Boxes, "engine"),
        "nodes": (contract.Nodes, "engine"),
        "scheduler": (contract.SchedulerTable, "data"),
        "placement": (contract.PlacementTable, "data"),
    }
    for name, (struct, last) in structs.items():
        size, at = (ctypes.c_size_t.in_dll(library, f"{what}_of_{name}").value for what in ("size", "engine"))
        assert (ctypes.sizeof(struct), getattr(struct, last).offset) == (size, at), name


class Greedy(fs.Scheduler):
    """Whatever fits starts, from either end."""

    def __init__(self, step):
        self.step = step

    def schedule(self, decision):
        for job in decision.queue.tolist()[:: self.step]:
            if decision.fits(job):
                decision.start(job)


@ENGINES
@pytest.mark.parametrize(("name", "step"), [("greedy_table", 1), ("latest_table", -1)])
@given(run=runs(max_jobs=8, on=machines() | pods()))
def test_a_scheduler_in_c(library, engine, name, step, run):
    run = run.with_options(migration=None, rescheduling=None)
    compiled = run.with_options(scheduler=by_symbol(library, name)).simulate(engine=engine)
    expected = run.with_options(scheduler=Greedy(step)).simulate(engine=engine)
    assert_equal(compiled, expected, but=("ledger",))


@given(run=runs(max_jobs=8, on=machines() | pods()))
def test_what_it_remembers_and_passes_that_it_asks_for(library, run):
    run = run.with_options(scheduler=by_symbol(library, "slow_table"), migration=None, rescheduling=None)
    decisions = np.sort(runs_agree(run).jobs["start"] - run.start_delay)
    assert run.failures is not None or (np.diff(decisions) >= 1).all()


@given(run=runs(max_jobs=10, on=machines() | pods()), order=st.sampled_from(["arrival", "shortest", "wfp3"]))
def test_whatever_is_possible_is_the_same_on_both_engines(library, run, order):
    random = by_symbol(library, "random_table", lambda table: fs.CompiledScheduler(table, order=order))
    runs_agree(run.with_options(scheduler=random, migration=None, rescheduling=None))


@given(
    run=runs(max_jobs=10, on=machines() | pods()),
    order=st.sampled_from(["arrival", "shortest"]),
    seed=st.integers(0, 2**32),
)
def test_whatever_is_possible_beside_reservations(library, run, order, seed):
    random_one = by_symbol(library, "random_table", lambda table: fs.CompiledScheduler(table, order=order))
    run = run.with_options(scheduler=random_one, migration=None, rescheduling=None)
    runs_agree(run.with_options(reservations=reservations_of(run, random.Random(seed))))


@ENGINES
def test_a_job_that_is_started_on_reserved_nodes_is_an_error(engine):
    night = fs.Reservation("all", 5, 9)
    log = fs.Workload(submit=[0], runtime=[20], size=[2])
    with pytest.raises(
        fs.DecisionError, match="of the 4 that are free too few are open to it, as the others are reserved"
    ):
        fs.simulate(log, fs.Cluster(4), scheduler=scheduler("easy"), reservations=night, engine=engine)


@ENGINES
def test_a_placement_with_data_of_its_own(library, engine):
    class Second(fs.Placement):
        def choose(self, job, candidates, state):
            return 1 % len(candidates)

    own = by_symbol(library, "placement_table", fs.CompiledPlacement)
    expected = fs.simulate(LOG, fs.Torus(2, 2, 2), placement=Second(), record=True, engine=engine)
    assert_equal(fs.simulate(LOG, fs.Torus(2, 2, 2), placement=own, record=True, engine=engine), expected)


# -- copies, threads, processes, provenance


def test_copies_and_a_caller_that_lets_it_take_over(library):
    for machine in MACHINES:
        for name in ("easy", "short_easy"):
            expected = fs.simulate(LOG, machine)
            sim = fs.Simulation(LOG, machine, scheduler=scheduler(name), placement=placement("first_fit"))
            sim.run(until=500)
            fork = sim.copy()
            sim.run()
            fork.run()
            assert_equal(sim.result(), fork.result())
            outside = fs.Simulation(LOG, machine, scheduler=fs.External())
            outside.advance()
            assert_equal(outside.rollout(scheduler=scheduler(name)), expected)
    slow = by_symbol(library, "slow_table")
    sim = fs.Simulation(LOG, MACHINES[0], scheduler=slow)
    sim.run(until=500)
    fork = sim.copy()
    fork.run()
    assert_equal(fork.result(), fs.simulate(LOG, MACHINES[0], scheduler=slow))


def test_many_on_threads():
    built_in = [fs.Run(LOG, machine, placement=fs.FirstFit()) for machine in MACHINES]
    ours = [run.with_options(scheduler=scheduler("easy"), placement=placement("first_fit")) for run in built_in]
    assert not any(run.has_python for run in ours)
    for result, run in zip(fs.simulate_many(ours * 6, threads=3), built_in * 6, strict=True):
        assert_equal(result, run.simulate())


def test_by_name_they_go_to_other_processes(folder, tmp_path):
    order = fs.CompiledOrder(f"{OUTSIDE}.orders:smallest_area", version="1")
    easy = pickle.loads(pickle.dumps(scheduler("easy", order=order, repairs="unknown", version="1")))
    assert (repr(easy), easy.repairs, easy.version) == (f"CompiledScheduler('{OUTSIDE}.easy:easy')", "unknown", "1")
    rule = pickle.loads(pickle.dumps(placement("first_fit", box_order="bases", version="2")))
    assert (repr(rule), rule.box_order, rule.version) == (
        f"CompiledPlacement('{OUTSIDE}.placements:first_fit')", "bases", "2",
    )  # fmt: skip
    expected = fs.simulate(LOG, MACHINES[0], scheduler=fs.EasyBackfill("estimate * size", repairs="unknown"))
    assert_equal(fs.simulate(LOG, MACHINES[0], scheduler=easy), expected)
    program = """
import faultsim as fs
from helpers.results import random_log
if __name__ == "__main__":
    base = {"log": random_log(60, 8), "machine": fs.Cluster(8)}
    names = ["outside_policies.easy:" + name for name in ("easy", "fcfs")]
    axis = {"scheduler": [fs.CompiledScheduler(name, version="1") for name in names]}
    sweep = fs.Sweep(base, axis).run("rows.db", executor="processes", workers=2)
    print(sweep["scheduler"].tolist(), sweep["mean_wait"].tolist())
"""
    (tmp_path / "sweep.py").write_text(program, encoding="utf-8")
    done = python("sweep.py", cwd=tmp_path, env=environment(folder, CHECKOUT / "tests"))
    assert done.returncode == 0, done.stderr
    waits = [
        fs.simulate(LOG, MACHINES[0], scheduler=one).metrics["mean_wait"] for one in (fs.EasyBackfill(), fs.Fcfs())
    ]
    assert done.stdout.strip() == f"['easy', 'fcfs'] {waits}"


def test_a_simulation_by_name_is_pickled_in_the_middle():
    sim = fs.Simulation(LOG, MACHINES[0], scheduler=scheduler("easy"), placement=placement("first_fit"))
    sim.run(until=500)
    other = pickle.loads(pickle.dumps(sim))
    other.run()
    assert_equal(other.result(), fs.simulate(LOG, MACHINES[0]))


def test_provenance_and_sweeps_know_them_by_name(library, tmp_path):
    easy, rule = scheduler("easy", version="1"), placement("first_fit", version="1")
    result = fs.simulate(LOG, MACHINES[0], scheduler=easy, placement=rule)
    kept = result.provenance["settings"]
    assert (kept["scheduler"]["name"], kept["scheduler"]["policy"]) == ("compiled", "easy")
    assert kept["scheduler"]["repr"] == f"CompiledScheduler('{OUTSIDE}.easy:easy')"
    assert (kept["placement"]["policy"], kept["placement"]["box_order"]) == ("first_fit", "extents-descending")
    assert_equal(fs.rerun(result), result)
    result.save(tmp_path / "run.npz")
    with pytest.raises(OptionError, match=r"a scheduler compiled elsewhere \(CompiledScheduler\('outside_policies"):
        fs.rerun(fs.load_result(tmp_path / "run.npz"))
    base = {"log": LOG, "machine": MACHINES[0]}
    assert fs.Sweep({**base, "scheduler": easy}).run(tmp_path / "a.db")["mean_wait"].shape == (1,)
    for option in ({"scheduler": scheduler("easy")}, {"placement": placement("first_fit")}):
        with pytest.raises(OptionError, match=r'only its version tells: give Compiled\w+\(\.\.\., version="\.\.\."\)'):
            fs.Sweep({**base, **option}).run(tmp_path / "a.db")
    with pytest.raises(pickle.PicklingError, match="is an address in this process: run on threads, give its name as"):
        pickle.dumps(by_symbol(library, "greedy_table"))
    assert repr(by_symbol(library, "greedy_table")) == "CompiledScheduler(<greedy>)"


@ENGINES
def test_with_a_caller_that_owns_time(library, engine):
    for own in (scheduler("easy"), by_symbol(library, "slow_table"), by_symbol(library, "random_table")):
        sim = fs.Simulation(LOG[:20], MACHINES[0], scheduler=own, live=60, engine=engine)
        sim.advance(until=float(LOG.submit[19]))
        sim.submit(LOG[20:])
        while sim.advance() is not None:
            pass
        expected = fs.simulate(LOG, MACHINES[0], scheduler=own).jobs["start"]
        np.testing.assert_array_equal(sim.result().jobs["start"], expected)


@ENGINES
def test_its_decisions_are_nobody_elses(engine):
    sim = fs.Simulation(LOG, MACHINES[0], scheduler=wrong("never"), engine=engine)
    decision = sim.advance(until=float(LOG.submit[3]))
    with pytest.raises(fs.DecisionError, match=r"the scheduler of this simulation \(compiled\) decides"):
        decision.start(0)


def test_dropped_jobs_keep_their_rows():
    log = fs.Workload(submit=[0, 1, 2], runtime=[5, 5, 5], size=[9, 2, 8])
    for engine in ("core", "reference"):
        with pytest.raises(fs.DecisionError, match="job 2 cannot start: it needs 8 nodes and 6 are free"):
            fs.simulate(log, MACHINES[0], scheduler=wrong("too_early"), oversized="drop", engine=engine)


# -- what is not possible


@ENGINES
@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("too_early", r"scheduler 'too_early' at \d+ s: job \d+ cannot start: it needs \d nodes and \d are free"),
        ("twice", r"scheduler 'twice' at \d+ s: job 0 is not waiting: it was started in this pass"),
        ("outside", r"scheduler 'outside' at \d+ s: there is no place 1 in a queue of 1 jobs"),
        ("never", "deadlock: 60 jobs wait, none was started, and nothing else will happen"),
        ("gives_up", r"scheduler 'gives_up' at \d+ s: schedule gave up and returned 7"),
        ("itself", r"scheduler 'itself' at \d+ s: job 0 cannot be backfilled ahead of itself"),
        ("wakes_before", r"wake\(\d+\): the time must be later than now, and at most 8589934592 s"),
        ("blind", "there is no place -1 in a queue of 1 jobs"),
    ],
)
def test_what_is_not_possible_ends_the_run_by_name(name, said, machine, engine):
    with pytest.raises(fs.DecisionError, match=said) as error:
        fs.simulate(LOG, machine, scheduler=wrong(name), engine=engine)
    assert "\n" not in str(error.value)


@ENGINES
def test_no_box_where_nodes_are_free(engine):
    log = fs.Workload(submit=[0, 0, 0], runtime=[9, 9, 9], size=[2, 1, 3])
    with pytest.raises(fs.DecisionError, match="job 2 cannot start: no box of 3 nodes or more is free"):
        fs.simulate(log, fs.Torus(1, 1, 6, wrap=False), scheduler=wrong("too_early"), engine=engine,
                    placement=fs.CompiledPlacement(f"{OUTSIDE}.wrong:middle"))  # fmt: skip


@ENGINES
@pytest.mark.parametrize(
    ("name", "machine", "said"),
    [
        (
            "no_box",
            MACHINES[1],
            r"placement 'no_box' at \d+ s, for job 0: choose returned (\d+), and there are \1 boxes",
        ),
        ("none_taken", MACHINES[0], r"for job 0: take took 0 nodes, and the job needs \d"),
        ("all_taken", MACHINES[0], "for job 0: take took a node that is not free"),
        ("no_idea", MACHINES[0], "for job 0: take gave up and returned 5"),
    ],
)
def test_a_choice_that_is_none_ends_the_run_by_name(name, machine, said, engine):
    with pytest.raises(OptionError, match=said):
        fs.simulate(LOG, machine, placement=wrong(name, fs.CompiledPlacement), engine=engine)


def test_after_an_error_a_simulation_cannot_go_on():
    sim = fs.Simulation(LOG, MACHINES[0], scheduler=wrong("too_early"))
    with pytest.raises(fs.DecisionError):
        sim.run()
    with pytest.raises(fs.EngineError, match="an exception broke off a scheduling pass"):
        sim.run()


test_tables_that_are_none = refusals(
    OptionError,
    lambda make: make(),
    (lambda: wrong("newer"), r"compiled for version 2 of faultsim/policy\.h, and this faultsim has 1"),
    (lambda: wrong("of_another_kind"), "must be FAULTSIM_SCHEDULER_KIND, got that of a placement"),
    (lambda: wrong("never", fs.CompiledPlacement), "PyCapsule named 'faultsim_placement_t', got one named 'faultsim_s"),
    (lambda: wrong("unnamed"), "a PyCapsule named 'faultsim_scheduler_t', got one named ''"),
    (lambda: wrong("misnamed"), "got one named 'something else'"),
    (lambda: wrong("empty"), "scheduler 'empty' has no function schedule"),
    (lambda: wrong("huge"), "job_bytes of scheduler 'huge' is 18446744073709551615"),
    (lambda: wrong("not_there"), r"module outside_policies\.wrong has no 'not_there'"),
    (lambda: fs.CompiledScheduler("no_module_of_this_name:x"), "No module named 'no_module_of_this_name'"),
    (lambda: fs.CompiledScheduler("easy"), "a compiled scheduler is named 'module:attribute', got 'easy'"),
    (lambda: fs.CompiledScheduler("math:pi"), "a compiled scheduler needs a PyCapsule, .* got 3.14"),
    (lambda: fs.CompiledScheduler(print), "got <built-in function print>"),
    (lambda: fs.CompiledScheduler(contract.SchedulerTable()), "must be FAULTSIM_SCHEDULER_KIND, got 0x0"),
    (lambda: fs.CompiledScheduler(contract.SchedulerTable(0x48435346, 1)), "a compiled scheduler must have a name"),
    (lambda: scheduler("easy", repairs="perhaps"), "unknown value of repairs 'perhaps'"),
    (lambda: scheduler("easy", order="fastest"), "unknown queue order 'fastest'"),
    (lambda: scheduler("easy", version=1), "version of a compiled scheduler must be text, got 1"),
    (lambda: placement("first_fit", box_order="any"), "unknown box_order 'any'"),
    (lambda: fs.Run(LOG, MACHINES[0], placement=placement("roomiest")), "placement 'roomiest' has no function take"),
    (lambda: fs.Run(LOG, MACHINES[1], placement=placement("safest")), "placement 'safest' has no function choose"),
    (lambda: fs.Run(LOG, MACHINES[0], placement=placement("first_fit", box_order="bases")),
     "box_order='bases' is not supported on cluster"),
)  # fmt: skip


def test_a_table_of_another_kind_of_object(library):
    refused(OptionError, "got that of a scheduler", by_symbol, library, "greedy_table", fs.CompiledPlacement)


# -- the guide


def test_the_guide_builds_and_runs(tmp_path, monkeypatch):
    guide = blocks((CHECKOUT / "docs" / "guides" / "compiled.md").read_text(encoding="utf-8"))
    texts = {language: [block for block in guide if block.language == language] for language in ("cython", "py", "c")}
    (tmp_path / "easy_outside.pyx").write_text(texts["cython"][0].text, encoding="utf-8")
    (tmp_path / "setup.py").write_text(texts["py"][0].text, encoding="utf-8")
    done = python("setup.py", "-q", "build_ext", "--inplace", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / "roomiest.c").write_text(texts["c"][0].text, encoding="utf-8")
    build_library(tmp_path, tmp_path / "roomiest.c")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    names = {}
    ran = [run_python(block, names, "docs/guides/compiled.md") for block in guide if block.language == "python"]
    assert len(ran) == 2


@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_why_a_job_waits_that_a_compiled_scheduler_does_not_start(machine):
    """Where the machine has no room, the reason is that of the package's scheduler; else the decision is its own."""
    sims = [fs.Simulation(LOG, machine, scheduler=rule) for rule in (scheduler("easy"), fs.EasyBackfill())]
    delayed = 0
    while all(sim.step() for sim in sims):
        for row in range(len(LOG)):
            compiled, built_in = (sim.why(row) for sim in sims)
            if built_in.cause in (fs.Cause.WOULD_DELAY, fs.Cause.TOO_LARGE):
                assert compiled.cause == fs.Cause.OUTSIDE
                delayed += 1
            else:
                assert compiled == built_in
    assert delayed > 0
