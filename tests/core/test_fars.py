"""`Fars` from outside: what it is combined with, what is refused and how, text, results, files, pictures."""

import json
import math
from operator import call

import numpy as np
import pytest

import faultsim as fs
from faultsim.errors import InputError, OptionError
from faultsim.plot import plot_gantt, plot_queue, plot_utilization
from faultsim.policies import parse_policy
from faultsim.simulation.execution import Execution
from helpers.refusals import refusals, refused
from helpers.results import assert_equal as same

SUL, JFR, FSD, STEALING = fs.ServiceUnitLoss(), fs.JobFailureRate(), fs.FailureSlowdown(), fs.NodeStealing()
LOG = fs.Workload(submit=[0, 1, 2], runtime=[1000, 900, 800], size=[2, 3, 1])
FAILURES = fs.FailureTrace([500, 900], [0, 3], [60, 0], span=2000)
FLAT, TORUS = fs.Cluster(8), fs.Torus(2, 2, 2)
FORESEEN = fs.IntervalPredictor(1, 1, 300)
FARS = fs.Fars(300, SUL)


def run(machine=FLAT, log=LOG, **options):
    return fs.Run(log, machine, **{"failures": FAILURES, "predictor": FORESEEN, "rescheduling": FARS, **options})


# -- parameters


test_bad_parameters = refusals(
    OptionError,
    call,
    (lambda: fs.Fars(0, SUL), "interval of Fars must be above 0 seconds, got 0"),
    (lambda: fs.Fars(-300, SUL), "interval of Fars must be above 0 seconds, got -300"),
    (lambda: fs.Fars(math.nan, SUL), "interval of Fars must be above 0 seconds, got nan"),
    (lambda: fs.Fars(math.inf, SUL), "interval of Fars must be above 0 seconds and finite, got inf"),
    (lambda: fs.Fars("300", SUL), "interval of Fars must be a number in seconds, got '300'"),
    (lambda: fs.Fars(SUL, 300), r"interval of Fars must be a number in seconds, got ServiceUnitLoss\(\)"),
    (lambda: fs.Fars(300, 3), r"strategy must be ServiceUnitLoss\(\), .* or NodeStealing\(\), got 3"),
    (lambda: fs.Fars(300, fs.ServiceUnitLoss), r"strategy must be an instance: write ServiceUnitLoss\(\)"),
    (lambda: fs.Fars(300, SUL, 16), r'spares must be "dynamic" or Static\(nodes\), got 16; write Static\(16\)'),
    (lambda: fs.Fars(300, SUL, "static"), r"spares must be \"dynamic\" or Static\(nodes\), got 'static'$"),
    (lambda: fs.Static(-1), "nodes of Static must be at least 0, got -1"),
    (lambda: fs.Static(1.5), "nodes of Static must be a whole number, got 1.5"),
    (lambda: fs.Fars(300, SUL, checkpoint_cost=-1), "checkpoint_cost must be at least 0 seconds, got -1"),
    (lambda: fs.Fars(300, SUL, restart_cost=math.inf), "restart_cost must be at least 0 seconds and finite, got inf"),
    (lambda: fs.Fars(300, SUL, live=1), "live must be True or False, got 1"),
    (lambda: fs.Fars(300, SUL, suspicious="first"), "unknown value of suspicious 'first'; known: 'last', 'ignore'"),
    (lambda: fs.Fars(300, SUL, queue_cost="men"), r"unknown value of queue_cost 'men' \(did you mean 'mean'\?\)"),
    (lambda: fs.Fars(300, SUL, residual="print"), "unknown value of residual 'print'"),
)


TEXTS = {
    "fars:300,sul": fs.Fars(300, SUL),
    "fars:interval=300,strategy=sul,spares=static:16": fs.Fars(300, SUL, fs.Static(16)),
    "Fars:300,JFR-D,static:16": fs.Fars(300, JFR, fs.Static(16)),
    "fars:300,sul,static:nodes=3,10,5": fs.Fars(300, SUL, fs.Static(3), 10, 5),
    "fars:60,fsd,dynamic,queue-cost=mean,live=true": fs.Fars(60, FSD, live=True, queue_cost="mean"),
    "fars:strategy=node-stealing, interval=60": fs.Fars(60, STEALING),
    "fars:300,sul,suspicious=ignore,residual=difference": fs.Fars(300, SUL, suspicious="ignore", residual="difference"),
}


@pytest.mark.parametrize("text", TEXTS)
def test_text(text):
    assert parse_policy("rescheduling", text) == TEXTS[text]


def test_policies_by_their_place_in_text():
    assert parse_policy("checkpointing", "windows:4h,long:seconds=600").victims == fs.LongJobs(600)
    assert parse_policy("checkpointing", "windows:4h,big:3,60").interval == 60


test_bad_text = refusals(
    OptionError,
    parse_policy,
    ("rescheduling", "fars", "needs interval and strategy, for instance fars:interval=300,strategy=service_un"),
    ("rescheduling", "fars:300", "rescheduling 'fars' needs strategy, for instance"),
    ("rescheduling", "fars:sul", "unknown option 'sul' of rescheduling 'fars'.*; known: interval, strategy, "),
    (
        "rescheduling",
        "fars:300,sull",
        r"unknown strategy 'sull' \(did you mean 'sul'\?\); known: service_unit_loss",
    ),
    ("rescheduling", "fars:300,sul,static", "spares 'static' needs nodes, for instance static:16"),
    ("rescheduling", "fars:300,sul,16", "unknown spares '16'; known: dynamic, static"),
    ("rescheduling", "fars:300,sul,dinamic", r"unknown spares 'dinamic' \(did you mean 'dynamic'\?\)"),
    ("rescheduling", "fars:300,sul,spares=16", r"got 16; write Static\(16\)"),
    ("rescheduling", "fars:0,sul", "interval of Fars must be above 0 seconds, got 0"),
    ("rescheduling", "fars:300,sul,interval=60", "option 'interval' of rescheduling 'fars' is given twice"),
    ("rescheduling", "fras:300,sul", r"unknown rescheduling 'fras' \(did you mean 'fars'\?\); known: fars"),
    ("rescheduling", "sul", r"unknown rescheduling 'sul' \(it is a strategy\)"),
    ("migration", "fars:300,sul", r"unknown migration 'fars' \(it is a rescheduling\)"),
)


# -- combinations


test_what_is_refused = refusals(
    OptionError,
    lambda machine, options: run(machine, **options),
    (
        FLAT,
        {"predictor": None},
        r"Fars requires a predictor: give predictor=IntervalPredictor\(prec",
    ),
    (
        FLAT,
        {"predictor": fs.Buckets("4h")},
        r"Fars must know which node will fail; Buckets\(length=14400.0\) only says",
    ),
    (FLAT, {"failures": None}, "predicts the failures of the run, but there are none: give failures="),
    (
        FLAT,
        {"rescheduling": fs.Fars(300, SUL, fs.Static(8))},
        r"Static\(nodes=8\) leaves no node of cluster:8 .* fewer than 8",
    ),
    (FLAT, {"rescheduling": fs.Fars(300, SUL, fs.Static(900))}, r"Static\(nodes=900\) leaves no node of cluster:8"),
    (
        TORUS,
        {"rescheduling": fs.Fars(300, SUL, fs.Static(1))},
        r"Static\(nodes=1\) keeps single nodes, and on torus:2x2x",
    ),
    (
        TORUS,
        {"rescheduling": fs.Fars(300, STEALING)},
        "NodeStealing takes single nodes of a job, and on torus:2x2x2",
    ),
    (FLAT, {"rescheduling": fs.Fars(300, STEALING)}, r"NodeStealing requires checkpoints, .*=Young\(cost, mtbf\)"),
    (
        FLAT,
        {"rescheduling": fs.Fars(300, STEALING), "checkpointing": fs.NoCheckpoint()},
        "NodeStealing requires checkpoints, or the job that it stops would lose everything",
    ),
    (
        FLAT,
        {"rescheduling": SUL},
        r"rescheduling must be one of Fars, got ServiceUnitLoss\(\); write Fars\(300, Ser",
    ),
    (FLAT, {"rescheduling": fs.Fars}, r"rescheduling must be an instance: write rescheduling=Fars\(interval=300"),
    (FLAT, {"rescheduling": "fars:60,jfx"}, r"unknown strategy 'jfx' \(did you mean 'jfr'"),
    (FLAT, {"rescheduling": 300}, "rescheduling must be one of Fars, got 300$"),
    (
        FLAT,
        {"migration": FARS, "rescheduling": None},
        "migration must be one of Defragment, LeastFailuresMigration",
    ),
)


@pytest.mark.parametrize("machine", [FLAT, TORUS])
def test_every_other_combination_runs(machine):
    """What the paper names as its future work, and all the rest: one call."""
    torus = machine is TORUS
    placements = [fs.FirstFit(), *([fs.Balancing(), fs.TieBreaking()] if torus else [fs.SafestFirst()])]
    checkpoints = [
        None, fs.Periodic(100, 5), fs.Young(5, "5000s"), fs.Daly(5, "5000s"), fs.BeforeFailure(5),
        fs.PredictedWindows("6m", "all", 60, 5), fs.RiskBased(60, 5),
    ]  # fmt: skip
    strategies = [SUL, JFR, FSD, *([] if torus else [STEALING])]
    count = 0
    for scheduler in (fs.Fcfs(), fs.EasyBackfill(), fs.ConservativeBackfill()):
        for recovery in (fs.Requeue(), fs.Hold(3)):
            for placement in placements:
                for checkpointing in checkpoints:
                    strategy = strategies[count % len(strategies)]
                    if strategy is STEALING and checkpointing is None:
                        strategy = SUL
                    made = run(
                        machine,
                        scheduler=scheduler,
                        recovery=recovery,
                        placement=placement,
                        checkpointing=checkpointing,
                        migration=[None, fs.Defragment(cost=2) if torus else fs.LeastFailuresMigration(0, 2)][
                            count % 2
                        ],
                        rescheduling=fs.Fars(100, strategy, live=count % 3 == 0),
                    )
                    result = made.simulate()
                    # Who starts on nodes that will not fail has nothing to move.
                    aware = isinstance(placement, fs.SafestFirst | fs.Balancing | fs.TieBreaking)
                    assert aware or result.metrics["migrations_attempted"] > 0
                    count += 1
    assert count == 6 * len(placements) * len(checkpoints)


@pytest.mark.parametrize(
    "predictor",
    [fs.Perfect(), fs.Confidence(0.1), fs.Accuracy(0.9), fs.PredictionTrace([450], [0]), fs.Blind(), FORESEEN],
    ids=lambda predictor: predictor.name,
)
def test_every_predictor_that_says_where(predictor):
    result = run(predictor=predictor).simulate()
    assert (result.metrics["moves"] > 0) == (predictor != fs.Blind())


def test_blind_moves_nothing():
    with_fars, without = run(predictor=fs.Blind()), run(predictor=None, rescheduling=None)
    same(*(made.with_options(record=True).simulate() for made in (with_fars, without)))


def test_intervals_of_predictor_and_fars_may_differ():
    # Predictions of 300 s: at 400 s the tick of a 100 s interval sees that node 0 fails somewhere until 600 s.
    result = run(rescheduling=fs.Fars(100, SUL), record=True).simulate()
    moves = result.events["time"][result.events["kind"] == 7]
    assert result.metrics["failed_jobs"] == 0
    assert moves[0] == 300


def test_no_failures_are_needed_with_predictions_of_your_own():
    predictor = fs.PredictionTrace([400], [0])
    result = run(failures=None, predictor=predictor).simulate()
    assert result.metrics["moves"] == 1
    assert "fars service_unit_loss, trace predictor" in repr(result)
    stealing = run(
        failures=None, predictor=predictor, rescheduling=fs.Fars(300, STEALING), checkpointing=fs.Periodic(60, 1)
    )
    assert stealing.recovery == fs.Requeue()  # where a stolen job goes
    assert run(failures=None, predictor=predictor).recovery is None


# -- spare nodes


def test_jobs_that_static_leaves_no_room_for():
    log = fs.Workload(submit=range(8), runtime=[1] * 8, size=[6, 5, 8, 1, 7, 7, 7, 7], id=range(100, 108))
    made = run(log=log, rescheduling=fs.Fars(300, SUL, fs.Static(3)))
    said = (
        r"6 of 8 jobs are larger than the machine without its spare nodes \(8 - 3 = 5 nodes\): id 100 \(6 nodes\), "
        r"102 \(8 nodes\), 104 \(7 nodes\), 105 \(7 nodes\), 106 \(7 nodes\), \.\.\.; take a larger machine or fewer "
        r"spare nodes, or pass oversized=\"drop\""
    )
    refused(InputError, said, made.simulate)
    result = made.with_options(oversized="drop").simulate()
    assert result.jobs["id"].tolist() == [101, 103]
    assert dict(result.dropped) == {"larger than the machine without its spare nodes": 6}
    with pytest.raises(
        InputError, match=r"all 7 jobs are larger than .* \(8 - 4 = 4 nodes\): take a larger machine or f"
    ):
        run(log=log[log.size > 1], rescheduling=fs.Fars(300, SUL, fs.Static(4)), oversized="drop").simulate()
    assert len(run(log=log, rescheduling=fs.Fars(300, SUL, fs.Static(0))).simulate()) == 8


def test_spare_nodes_stay_free():
    log = fs.Workload(submit=[0] * 6, runtime=[100] * 6, size=[2] * 6)
    result = run(log=log, rescheduling=fs.Fars(300, SUL, fs.Static(3)), predictor=fs.Blind()).simulate()
    assert result.jobs["start"].tolist() == [0, 0, 100, 100, 200, 200]  # 5 nodes hold two of them


# -- times that do not add up


@pytest.mark.parametrize(
    "options",
    [
        {"rescheduling": fs.Fars(300, SUL, checkpoint_cost=1e304)},
        {"rescheduling": fs.Fars(300, SUL, restart_cost=1.7e308)},
        {"rescheduling": fs.Fars(300, SUL, restart_cost=1.7e308, live=True)},
        {"rescheduling": fs.Fars(1.7e308, SUL)},
        {"rescheduling": FARS, "predictor": fs.PredictionTrace([1.7e308], [0])},
        {
            "rescheduling": FARS,
            "predictor": fs.IntervalPredictor.from_pairs([1], [0], interval=8e307, precision=0.5),
        },
        {"rescheduling": fs.Fars(300, STEALING), "checkpointing": fs.Periodic(1e303, 1e303)},
    ],
)
def test_times_that_add_up_to_infinity(options):
    with pytest.raises(
        InputError, match=r"add up to more than a float64 holds: .*, moves of .* s, ticks every .* s, pre"
    ):
        run(**options).simulate()


def test_ticks_that_are_too_short():
    with pytest.raises(OptionError, match=r"a Fars interval of 1e-09 s is too short for a span of"):
        run(rescheduling=fs.Fars(1e-9, SUL)).simulate()
    # One prediction has no span, but the number of its interval must be exact all the same.
    late = fs.PredictionTrace([1e20], [0])
    with pytest.raises(OptionError, match=r"a Fars interval of 300 s is too short for predictions up to 1e\+20 s"):
        run(rescheduling=FARS, predictor=late).simulate()


def test_ticks_that_move_nobody_are_worked_off_in_slices_too():
    foreseen = fs.PredictionTrace(np.arange(1, 901), np.full(900, 7))  # a node that nobody uses
    engine = Execution(fs.Run(LOG, FLAT, predictor=foreseen, rescheduling=fs.Fars(1, SUL))).engine
    slices = 1
    while engine.run(10) == "budget":
        slices += 1
    assert engine.n_done == len(LOG)
    assert slices > 900 / 10


# -- results


@pytest.fixture(scope="module")
def moved():
    return run(rescheduling=fs.Fars(300, SUL, fs.Static(1), residual="difference"), record=True).simulate()


def test_what_is_printed(moved):
    text = str(moved)
    assert text.startswith("3 jobs on cluster:8 (8 nodes): easy, first_fit, fars service_unit_loss, 2 failures, 2 w")
    assert moved.metrics["moves"] == moved.metrics["migrations_successful"] == 2
    for line in ("migrations_attempted", "migrations_successful", "moves", "  migration "):
        assert f"\n{line}" in text
    assert "migrations" not in str(run(predictor=fs.Blind()).simulate())


def test_saved_loaded_and_run_again(moved, tmp_path):
    same(fs.rerun(moved), moved)
    moved.save(tmp_path / "moved.npz")
    loaded = fs.load_result(tmp_path / "moved.npz")
    same(loaded, moved)
    same(fs.rerun(loaded), moved)
    settings = json.loads(json.dumps(loaded.provenance))["settings"]["rescheduling"]
    assert settings == {
        "name": "fars", "interval": 300.0, "strategy": {"name": "service_unit_loss"},
        "spares": {"name": "static", "nodes": 1}, "checkpoint_cost": 30.0, "restart_cost": 30.0, "live": False,
        "suspicious": "last", "queue_cost": "last", "residual": "difference",
    }  # fmt: skip


def test_pairs_of_your_own_travel(tmp_path):
    pairs = fs.IntervalPredictor.from_pairs([1, 2], [0, 3], interval=300, precision=0.7)
    result = run(predictor=pairs, record=True).simulate()
    assert result.metrics["moves"] == 2
    result.save(tmp_path / "pairs.npz")
    same(fs.rerun(fs.load_result(tmp_path / "pairs.npz")), result)


def test_step_by_step_with_copies(moved):
    simulation = fs.Simulation(
        LOG, FLAT, failures=FAILURES, predictor=FORESEEN, record=True,
        rescheduling=fs.Fars(300, SUL, fs.Static(1), residual="difference"),
    )  # fmt: skip
    simulation.run(until=300)
    fork = simulation.copy()
    while simulation.step():
        simulation.verify()
    fork.run()
    same(simulation.result(), moved)
    same(fork.result(), moved)


def test_many_at_once(moved):
    made = run(rescheduling=fs.Fars(300, SUL, fs.Static(1), residual="difference"), record=True)
    for result in fs.simulate_many([made] * 4, threads=2):
        same(result, moved)


# -- stolen nodes


@pytest.fixture(scope="module", params=["requeue", "hold"])
def stolen(request):
    """A full machine: the job of 5 nodes takes two from the small one, which comes back when there is room."""
    log = fs.Workload(submit=[0, 200], runtime=[5000, 900], size=[5, 3])
    failures = fs.FailureTrace([2000], [0], [60], span=9000)
    recovery = {"requeue": fs.Requeue(), "hold": fs.Hold()}[request.param]
    return fs.simulate(
        log, FLAT, failures=failures, predictor=fs.PredictionTrace([500], [1]), recovery=recovery, record=True,
        rescheduling=fs.Fars(300, STEALING), checkpointing=fs.Periodic(4000, 10),
    )  # fmt: skip


def test_what_a_theft_counts_as(stolen):
    kills = stolen.counters["failures_hit"]
    assert kills == stolen.metrics["failures_hit"] == 1
    assert stolen.jobs["restarts"].tolist() == [1, 1]
    assert stolen.metrics["failed_jobs"] == 2
    assert stolen.jobs["moves"].tolist() == [1, 0]
    theft = stolen.events["kind"] == 4
    assert stolen.events["time"][theft].tolist() == [300]
    assert stolen.events["job"][theft].tolist() == [1]
    assert stolen.jobs["lost_work"][1] == 300.0


def test_pictures_know_of_thefts(stolen):
    def area(ax):
        x, y = ax.lines[0].get_data()
        return float((y[:-1] * np.diff(x)).sum() / (x[-1] - x[0]))

    assert area(plot_utilization(stolen)) == pytest.approx(100.0 * stolen.metrics["utilization"])
    requeues = stolen.settings["recovery"]["name"] == "requeue"
    waited = stolen.jobs["size"] * stolen.jobs["failure_wait"]
    total = waited.sum() if requeues else waited[1]
    assert area(plot_queue(stolen)) == pytest.approx(total / stolen.metrics["makespan"])
    (ended,) = (bar for bar in plot_gantt(stolen).collections if bar.get_hatch())
    (bars,) = ended.get_paths()  # five corners each
    at = {round(right * 60) for right in bars.vertices[:, 0].reshape(-1, 5).max(axis=1)}
    assert at == ({300, 2000} if requeues else {300})
