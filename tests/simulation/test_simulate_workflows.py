"""`simulate_workflows`: what it takes, what it refuses, what it gives."""

import _thread
import copy
import math
import pickle
import signal
import threading

import numpy as np
import pytest

import faultsim as fs
from faultsim.data.event_kinds import WorkflowEventKind
from faultsim.errors import InputError, OptionError
from faultsim.results.prediction_accuracy import matched
from helpers.engine_inputs import compiled_workflows as WorkflowEngine
from helpers.refusals import refusals, refused
from helpers.workflow_cases import EXAMPLE_COST, EXAMPLE_EDGES, settings_of, tables_of, world_of

FLOW = fs.Workflow(EXAMPLE_COST, EXAMPLE_EDGES)
NODES = fs.Resources(3)
FAILURES = fs.FailureTrace([5, 15, 60], [2, 0, 1], 5, span=200)
FORESEEN = fs.PredictionTrace([8, 18, 90], [2, 0, 2])
CHAIN = fs.Workflow([4, 4], [(0, 1, 1)])


def example(**options):
    return fs.simulate_workflows(FLOW, NODES, **{"failures": FAILURES, **options})


# -- what comes back


@pytest.mark.parametrize("engine", ["core", "reference"])
def test_worked_example(engine):
    result = example(engine=engine)
    assert (result.makespan, result.loss_time, result.reschedulings) == (155.0, 30.0, 4)
    assert (result.aoa, result.makespans.tolist()) == (0.0, [155.0])
    result = example(engine=engine, scheduler=fs.Flaw(), predictor=FORESEEN, record=True)
    assert (result.makespan, result.loss_time, result.reschedulings) == (150.0, 20.0, 1)
    assert (result.aoa, result.aaa) == (0.5, {"per_pass": 0.9, "per_node": 6 / 7})
    assert result.questions == {"per_pass": (10, 9), "per_node": (7, 6)}
    assert (result.matched.hits, result.matched.missed, result.matched.false) == (2, 1, 1)
    assert result.decisions["job"].tolist() == [0, 3, 1, 2, 3, 4]
    assert result.decisions["node"].tolist() == [1, 1, 0, 2, 1, 0]
    assert result.decisions["asked"].tolist() == [2, 1, 1, 1, 1, 1]
    assert result.jobs["kills"].tolist() == [0, 0, 0, 1, 0]
    kills = result.events["kind"] == WorkflowEventKind.KILL
    assert result.events["time"][kills].tolist() == [60.0]


def test_many_workflows_arrive_over_time():
    result = fs.simulate_workflows([CHAIN, CHAIN.submitted(3), FLOW.submitted(1)], NODES, record=True)
    assert len(result) == 3
    assert result.jobs["workflow"].tolist() == [0, 0, 1, 1, 2, 2, 2, 2, 2]
    assert result.jobs["job"].tolist() == [0, 1, 0, 1, 0, 1, 2, 3, 4]
    arrived = result.events["kind"] == WorkflowEventKind.ARRIVAL
    assert result.events["workflow"][arrived].tolist() == [0, 2, 1]
    assert result.events["job"][arrived].tolist() == [-1, -1, -1]
    assert result.makespans.tolist() == [8.0, 8.0, result.makespans[2]]
    assert result.makespan == max(result.makespans + result.arrivals) - 0.0
    other = fs.simulate_workflows([CHAIN, CHAIN, FLOW], NODES, arrivals=[0, 3, 1])
    assert other.jobs["finish"].tolist() == result.jobs["finish"].tolist()
    assert other.arrivals.tolist() == [0.0, 3.0, 1.0]


def test_a_cost_matrix_beside_costs_of_one_number():
    flows = [FLOW, fs.Workflow([7])]
    mixed = fs.simulate_workflows(flows, NODES)
    alike = fs.simulate_workflows([FLOW, fs.Workflow([[7, 7, 7]])], NODES)
    assert mixed.jobs["finish"].tolist() == alike.jobs["finish"].tolist()


def test_results_are_read_only_and_the_same_every_time():
    one, two = example(), example()
    for name, column in one.jobs.items():
        assert column.tobytes() == two.jobs[name].tobytes()
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1
    with pytest.raises(TypeError):
        one.jobs["node"] = 3  # type: ignore[index]


@pytest.mark.parametrize("back", [lambda result: pickle.loads(pickle.dumps(result)), copy.deepcopy])
def test_results_come_back_from_other_processes(back):
    result = example(scheduler=fs.Flaw(), predictor=FORESEEN, record=True)
    other = back(result)
    assert str(other) == str(result)
    assert other.log() == result.log()
    for table in ("jobs", "decisions", "events"):
        for name, column in getattr(result, table).items():
            np.testing.assert_array_equal(getattr(other, table)[name], column, strict=True)
            assert not getattr(other, table)[name].flags.writeable
    assert (other.workflows, other.resources) == (result.workflows, result.resources)
    assert other.arrivals.tolist() == result.arrivals.tolist()
    assert not other.arrivals.flags.writeable
    assert (other.settings, other.matched, other.failures) == (result.settings, result.matched, result.failures)


def test_in_print():
    text = str(example(scheduler=fs.Flaw(), predictor=FORESEEN, transfers="in_turn", outputs=fs.SharedOutputs(2)))
    assert text.startswith(
        "1 workflow (5 jobs) on 3 nodes: flaw, 3 failures, 3 within the run, trace predictor, transfers in turn, "
        "shared outputs\n"
    )
    assert "\nloss_time " in text
    assert "\naaa_per_pass " in text
    plain = fs.simulate_workflows([CHAIN, CHAIN], fs.Resources(1))
    assert repr(plain) == "<WorkflowResult: 2 workflows (4 jobs) on 1 node: rank_hybd>"
    assert "aoa" not in str(plain)
    assert "mean_makespan" in str(plain)
    assert plain.warnings == ()
    short = fs.FailureTrace([1], [0], 1, span=2)
    noted = fs.simulate_workflows(CHAIN, NODES, failures=short)
    assert str(noted).startswith("1 workflow (2 jobs) on 3 nodes: rank_hybd, 1 failure, 1 within the run\n")
    assert str(noted).endswith("note: the failure trace ends at 2 s, the last job at 9 s: nothing fails in between")


def test_to_pandas():
    pandas = pytest.importorskip("pandas")
    result = example(record=True)
    assert isinstance(result.to_pandas(), pandas.DataFrame)
    assert list(result.to_pandas("decisions")) == list(result.decisions)
    assert len(result.to_pandas("events")) == len(result.events["time"])
    refused(OptionError, "unknown table 'rows'; known: 'jobs', 'decisions', 'events'", result.to_pandas, "rows")


def test_settings_are_plain():
    settings = example(scheduler=fs.Flaw(), predictor=fs.Perfect(), outputs=fs.SharedOutputs(1)).settings
    assert settings["scheduler"] == {"name": "flaw", "across": "ascending"}
    assert settings["predictor"] == {"name": "perfect"}
    assert settings["outputs"] == 1.0
    assert settings["version"] == fs.__version__


def test_heft():
    result = fs.simulate_workflows([CHAIN, CHAIN], fs.Resources(speed=[1, 2]), scheduler=fs.Heft())
    assert result.makespans.tolist() == [4.0, 7.0]
    assert result.aaa["per_pass"] != result.aaa["per_pass"]
    assert math.isnan(result.aoa)


@pytest.mark.parametrize("engine", ["core", "reference"])
@pytest.mark.parametrize(
    ("failure", "start", "loss"),
    [
        (None, 7.0, 0.0),
        ((5, 0, 10), 18.0, 0.0),  # the source of the transfer: it begins anew at 15
        ((5, 1, 1), 9.0, 0.0),  # its target: it begins anew at 6
        ((5, 0, 0), 8.0, 0.0),  # for no time: at 5
        ((7, 0, 50), 7.0, 0.0),  # it is over
        ((8, 1, 2), 10.0, 1.0),  # kills the job; its input is there
        ((4, 0, 2), 9.0, 0.0),  # when the first job ends: its output waits until 6
        ((2, 0, 1), 10.0, 2.0),  # kills the first job, which is done at 7
    ],
)
def test_heft_follows_its_plan_through_failures(engine, failure, start, loss):
    flow = fs.Workflow([[4, 9], [20, 5]], [(0, 1, 3)])
    trace = None if failure is None else fs.FailureTrace(*([value] for value in failure), span=99)
    result = fs.simulate_workflows(
        flow, fs.Resources(2), scheduler=fs.Heft(), failures=trace, record=True, engine=engine
    )
    assert result.decisions["node"].tolist() == [0, 1]
    assert result.decisions["finish"].tolist() == [4.0, 12.0]
    assert result.jobs["start"][1] == start
    assert result.makespan == start + 5.0
    assert result.loss_time == loss
    assert result.reschedulings == (loss > 0)
    assert result.log().splitlines()[-1].split()[:3] == [f"{start + 5:g}", "T1", "done"]


# -- what is refused


test_options_without_a_meaning = refusals(
    OptionError,
    lambda options: example(**options),
    ({"scheduler": fs.Flaw()}, r"Flaw requires a predictor: .* or Blind\(\) for none"),
    ({"scheduler": fs.Fifo(aware=True)}, "Fifo requires a predictor"),
    ({"scheduler": fs.Flaw}, r"must be an instance: write scheduler=Flaw\(\)"),
    ({"scheduler": fs.EasyBackfill()}, "must be one of RankHybd, Flaw, Fifo, Heft, got EasyBackfill"),
    ({"scheduler": "flow"}, r"unknown workflow scheduler 'flow' \(did you mean 'flaw'"),
    ({"scheduler": fs.Flaw(), "predictor": fs.Buckets("4h")}, r"Buckets\(length=14400.0\) only says when"),
    ({"scheduler": fs.Flaw(), "predictor": fs.Perfect(), "failures": None}, "predicts the failures of the run"),
    ({"predictor": "perfct"}, "unknown predictor .perfct."),
    ({"failures": [1, 2]}, "failures must be a FailureTrace"),
    ({"transfers": "serial"}, "unknown transfers 'serial'; known: 'parallel', 'in_turn'"),
    ({"outputs": "shared"}, r"outputs must be 'node' or SharedOutputs\(cost\), got 'shared'"),
    ({"outputs": fs.SharedOutputs}, r"outputs must be 'node' or SharedOutputs\(cost\)"),
    ({"engine": "slow"}, "unknown engine 'slow'"),
    ({"seed": -1}, "seed must be at least 0"),
    ({"record": 1}, "record must be True or False"),
    (
        {"scheduler": fs.Heft(), "predictor": FORESEEN},
        "Heft plans .* and without predictions, so predictor= is not supported with it",
    ),
    ({"scheduler": fs.Heft(), "failures": None, "transfers": "in_turn"}, "transfers='in_turn' is not supported"),
    ({"scheduler": fs.Heft(), "failures": None, "outputs": fs.SharedOutputs(1)}, r"outputs=SharedOutputs\(cost"),
)


def test_policies_check_their_options():
    for scheduler in (fs.RankHybd, fs.Flaw):
        refused(OptionError, r"unknown order across workflows 'up'", scheduler, "up")
    refused(OptionError, "aware must be True or False", fs.Fifo, aware=1)
    refused(OptionError, "cost of a copy must be at least 0 seconds", fs.SharedOutputs, -1)


@pytest.mark.parametrize(
    ("workflows", "resources", "error", "message"),
    [
        ([], NODES, InputError, "no workflow: give at least one"),
        ([FLOW, 3], NODES, OptionError, "workflows, row 1: expected a Workflow, got 3"),
        (7, NODES, OptionError, "workflows must be a Workflow or a list of them, got 7"),
        ("abc", NODES, OptionError, "workflows must be a Workflow or a list of them"),
        (FLOW, 3, OptionError, r"the resources must be Resources, got 3; write Resources\(3\)"),
        (FLOW, fs.Cluster(3), OptionError, "the resources must be Resources"),
        (FLOW, fs.Resources(2), InputError, "its costs are for 3 nodes, the resources have 2"),
        ([CHAIN, FLOW], fs.Resources(2), InputError, "workflows, row 1: .* for 3 nodes, the resources have 2"),
    ],
)
def test_inputs_that_do_not_fit(workflows, resources, error, message):
    refused(error, message, fs.simulate_workflows, workflows, resources)


def test_nodes_that_are_not_there():
    with pytest.raises(InputError, match=r"1 of 2 failures .* first in row 1 \(node 3\); map_nodes\(3\)"):
        example(failures=fs.FailureTrace([1, 2], [0, 3], 0))
    with pytest.raises(InputError, match=r"1 of 1 predictions are of nodes outside 0 to 2, first in row 0 \(node 5\)$"):
        example(scheduler=fs.Flaw(), predictor=fs.PredictionTrace([1], [5]))


@pytest.mark.parametrize("arrivals", [[1], [1, 2, 3], [-1, 0], [0, math.nan], [[0, 1]], ["a", "b"]])
def test_arrivals_that_do_not_fit(arrivals):
    refused(InputError, r"^arrivals", fs.simulate_workflows, [CHAIN, CHAIN], NODES, arrivals=arrivals)


@pytest.mark.parametrize(
    ("flow", "nodes", "options"),
    [
        (fs.Workflow([1e308, 1e308]), NODES, {}),
        (fs.Workflow([10.0]), fs.Resources(speed=[1.0, 1e-308]), {}),
        (fs.Workflow([1, 1], [(0, 1, 1e300)]), fs.Resources(2, bandwidth=1e-10), {}),
        (fs.Workflow([1, 1], [(0, 1)]), NODES, {"outputs": fs.SharedOutputs(1e308)}),
    ],
)
def test_times_that_no_double_holds(flow, nodes, options):
    refused(InputError, "add up to more than a float64 holds", fs.simulate_workflows, flow, nodes, **options)


def test_events_that_were_not_recorded():
    with pytest.raises(OptionError, match="recorded no events: simulate with record=True"):
        _ = example().events


# -- accuracy of predictions


def fails(*rows):
    time, node, downtime = (np.array(column) for column in zip(*rows, strict=True))
    return time.astype(float), downtime.astype(float), node.astype(np.int32)


def says(*rows):
    begin, end, node = (np.array(column) for column in zip(*rows, strict=True))
    return begin.astype(float), end.astype(float), node.astype(np.int32)


def test_accuracy_of_the_first_figure():
    # One failure hit, one missed, one false prediction: 33.3 %.
    found = matched(*fails((10, 0, 5), (50, 0, 5)), *says((30, 30, 0), (52, 52, 0)))
    assert (found.hits, found.missed, found.false) == (1, 1, 1)
    assert found.aoa == 1 / 3


@pytest.mark.parametrize(
    ("prediction", "hit"),
    [
        ((10, 10, 0), True),
        ((15, 15, 0), True),
        ((9.99, 9.99, 0), False),
        ((15.01, 15.01, 0), False),
        ((12, 12, 1), False),
        ((5, 10, 0), True),
        ((15, 20, 0), True),
        ((0, 30, 0), True),
        ((16, 20, 0), False),
    ],
)
def test_a_prediction_hits_from_the_failure_to_the_repair(prediction, hit):
    found = matched(*fails((10, 0, 5)), *says(prediction))
    assert (found.hits, found.missed, found.false) == (hit, not hit, not hit)


def test_accuracy_against_every_pair():
    rng = np.random.default_rng(7)
    for _ in range(200):
        time = np.sort(rng.integers(0, 30, rng.integers(0, 9)).astype(float))
        down, node = rng.integers(0, 8, len(time)).astype(float), rng.integers(0, 3, len(time)).astype(np.int32)
        begin = np.sort(rng.integers(0, 40, rng.integers(0, 9)).astype(float))
        end, about = begin + rng.integers(0, 2) * 5.0, rng.integers(0, 3, len(begin)).astype(np.int32)
        pairs = (
            (node[:, None] == about) & (end >= time[:, None]) & (begin <= (time + down)[:, None])
            if len(time) and len(begin)
            else np.zeros((len(time), len(begin)), bool)
        )
        found = matched(time, down, node, begin, end, about)
        assert found.hits == pairs.any(axis=1).sum()
        assert found.missed == len(time) - found.hits
        assert found.false == len(begin) - pairs.any(axis=0).sum()


def test_a_wrong_prediction_may_be_a_right_answer():
    # Section 4.3: down from 100 to 120, predicted for 130, asked about the next 140: a yes, and right.
    job, down = fs.Workflow([140]), fs.FailureTrace([100], [0], 20, span=500)
    result = fs.simulate_workflows(
        job, fs.Resources(1), scheduler=fs.Flaw(), failures=down, predictor=fs.PredictionTrace([130], [0])
    )
    assert (result.matched.hits, result.matched.false) == (0, 1)
    assert result.questions["per_node"][1] >= 1
    assert result.jobs["start"].tolist() == [130.0]
    assert result.reschedulings == 0


# -- the compiled engine by itself


def test_a_pool_of_many_words_is_walked_in_order():
    # 20,000 places are three levels of bits.
    rng = np.random.default_rng(1)
    cost = rng.permutation(20_000) + 1.0
    result = fs.simulate_workflows(fs.Workflow(cost), fs.Resources(3))
    assert (np.diff(cost[result.decisions["job"]]) < 0).all()
    # Of two workflows the shortest comes first, until one of them has nothing left in the pool.
    halves = [fs.Workflow(cost[:9_999]), fs.Workflow(cost[9_999:])]
    result = fs.simulate_workflows(halves, fs.Resources(3))
    taken = cost[result.decisions["workflow"] * 9_999 + result.decisions["job"]]
    down = np.flatnonzero(np.diff(taken) < 0)
    assert len(down) == 0 or down[0] > 19_900


@pytest.mark.parametrize("name", ["rank_hybd", "flaw", "fifo"])
def test_in_small_slices(name):
    tables = tables_of([(EXAMPLE_COST, EXAMPLE_EDGES), (EXAMPLE_COST, EXAMPLE_EDGES, 3.0)])
    world = world_of([(5, 2, 5), (15, 0, 5), (60, 1, 5)], [(8, 2), (18, 0), (90, 2)])
    whole = WorkflowEngine(settings_of(name), tables, world)
    assert whole.run() == "done"
    sliced = WorkflowEngine(settings_of(name), tables, world)
    slices = 0
    while sliced.run(1) == "budget":
        sliced.verify()
        slices += 1
    assert slices > 10
    assert sliced.n_done == 10
    assert sliced.n_events == whole.n_events
    for column in ("node", "start", "finish", "kills"):
        assert sliced.output()[column].tolist() == whole.output()[column].tolist()
    assert sliced.run() == "done"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"first_job": [0, 4]}, "every workflow has a job"),
        ({"first_job": [0, 0, 5], "arrival": [0.0, 0.0]}, "every workflow has a job"),
        ({"predecessor_start": [0, 0, 1, 2, 3, 7]}, "predecessor_start: must ascend"),
        ({"successor": np.array([1, 2, 3, 4, 4, 9], np.int32)}, r"successor: jobs must be in 0\.\.4"),
        ({"cost": np.zeros((5, 2))}, "cost: expected one a job"),
        ({"cost": np.zeros(4)}, "cost: expected one a job"),
        ({"speed": np.zeros(0)}, "there must be a node"),
        ({"bandwidth": np.ones((2, 2))}, "bandwidth: expected a number"),
        ({"arrival": np.zeros((1, 1))}, "arrival: expected 1 values"),
    ],
)
def test_the_border_checks_shapes(change, message):
    tables = {**tables_of([(EXAMPLE_COST, EXAMPLE_EDGES)]), **change}
    refused(ValueError, message, WorkflowEngine, settings_of(), tables)


def test_the_border_checks_the_world():
    tables = tables_of([(EXAMPLE_COST, EXAMPLE_EDGES)])
    for world, message in (
        (world_of([(1, 7, 0)]), r"nodes of failures must be in 0\.\.2"),
        ({"failures": {"time": [2, 1], "node": [0, 0], "downtime": [0, 0]}}, "times of failures must ascend"),
        (
            {"predictions": {"begin": [0, 1], "end": [3, 2], "node": [0, 0], "p": 1.0}},
            "times of predictions must ascend",
        ),
    ):
        refused(ValueError, message, WorkflowEngine, settings_of(), tables, world)
    refused(ValueError, "unknown workflow_scheduler 'best'", WorkflowEngine, settings_of("best"), tables)
    engine = WorkflowEngine(settings_of(), tables)
    refused(RuntimeError, "has not finished: 0 of 5", engine.output)
    refused(RuntimeError, "initialised once", engine.__init__, settings_of(), tables, None, None)


def test_a_circle_below_the_face_is_found():
    tables = tables_of([([1.0, 1.0], [(0, 1, 0.0)])], nodes=1)
    tables["successor"], tables["successor_start"] = np.array([1, 0], np.int32), np.array([0, 1, 2])
    tables["predecessor"], tables["predecessor_start"] = np.array([1, 0], np.int32), np.array([0, 1, 2])
    tables["successor_transfer"] = tables["predecessor_transfer"] = np.zeros(2)
    refused(fs.EngineError, "circle", WorkflowEngine, settings_of(), tables)


def test_progress(monkeypatch):
    monkeypatch.setattr("faultsim.simulation.workflows.FIRST", 1_000)
    heard = []
    fs.simulate_workflows(fs.Workflow(np.ones(20_000)), NODES, progress=lambda *now: heard.append(now))
    assert len(heard) > 1
    assert heard[-1][:2] == (20_000, 20_000)


def test_a_slice_ends_where_passes_look_at_many_nodes():
    jobs, nodes, predicted = 100, 10, 50
    tables = tables_of([([20.0] * jobs, [])], nodes=nodes)
    world = world_of([], [(10 * k, node) for k in range(1, predicted + 1) for node in range(nodes)])
    engine = WorkflowEngine(settings_of("flaw"), tables, world)
    slices = 1
    while engine.run(jobs * nodes) == "budget":
        slices += 1
    # At every wake-up all jobs ask about all nodes: a handful of events, but a slice's work.
    assert slices >= predicted
    assert engine.n_events < 4 * jobs


def test_ctrl_c_is_answered_between_slices():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in the background
    flow, nodes = fs.Workflow(np.ones(500_000)), fs.Resources(64)
    timer, reached = threading.Timer(0.1, _thread.interrupt_main), []

    def again():
        while True:
            fs.simulate_workflows(flow, nodes, progress=lambda done, total, now: reached.append(done))

    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            again()
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
