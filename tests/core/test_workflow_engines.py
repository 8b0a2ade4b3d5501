"""The compiled workflow engine equals the reference engine, decision by decision: random cases and real workflows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import faultsim as fs
from helpers.engine_inputs import compiled_workflows as Compiled
from helpers.engine_inputs import plain_workflows as Plain
from helpers.workflow_cases import SCHEDULERS, assert_same, check_output, heft_cases, workflow_cases
from helpers.workflow_draws import drawn_case, drawn_plan


def ran(kind, case, budget=None):
    engine = kind(*case)
    while engine.run(budget) != "done":
        assert engine.n_done <= len(case[1]["cost"])
    assert engine.n_done == len(case[1]["cost"])
    return engine.output()


def both_agree(case, budget=7):
    slow = ran(Plain, case)
    if case[0]["record"]:
        check_output(*case, slow)
    assert_same(ran(Compiled, case, budget), slow)


NAMES = ("rank_hybd", "flaw", "fifo")


def examples(wanted):
    """That many, or more where the profile asks for more."""
    return settings(max_examples=max(wanted, settings.default.max_examples))


@pytest.mark.parametrize("name", NAMES)
def test_engines_agree_on_random_cases(name):
    @given(workflow_cases([rule for rule in SCHEDULERS if rule["name"] == name]))
    @examples(200)
    def agree(case):
        both_agree(case)

    agree()


@given(heft_cases())
@examples(200)
def test_engines_plan_alike_on_random_cases(case):
    both_agree(case)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("large", [False, True])
def test_engines_agree_on_many_random_cases(name, large):
    size = {"max_workflows": 7, "max_jobs": 25} if large else {}

    @given(workflow_cases([rule for rule in SCHEDULERS if rule["name"] == name], **size))
    @examples(2000)
    def agree(case):
        both_agree(case, budget=3)

    agree()


@pytest.mark.slow
@given(heft_cases())
@examples(2000)
def test_engines_plan_alike_on_many_random_cases(case):
    both_agree(case, budget=3)


def test_engines_agree_on_eventful_cases():
    for seed in range(600):
        both_agree(drawn_case(seed))
        both_agree(drawn_case(seed, moving=True))
    for seed in range(30):
        both_agree(drawn_case(seed, large=True), budget=None)
    for seed in range(150):
        both_agree(drawn_plan(seed))
        both_agree(drawn_plan(seed, moving=True))


@pytest.mark.slow
@pytest.mark.parametrize("block", range(1, 5))
def test_engines_agree_on_many_eventful_cases(block):
    for seed in range(10_000 * block, 10_000 * block + 5_000):
        both_agree(drawn_case(seed), budget=3)
        both_agree(drawn_case(seed, moving=True), budget=3)
    for seed in range(10_000 * block, 10_000 * block + 1_000):
        both_agree(drawn_case(seed, large=True), budget=1000)
        both_agree(drawn_plan(seed, large=True), budget=1000)


@given(workflow_cases(), st.lists(st.integers(1, 5), min_size=1, max_size=5))
def test_slices_change_nothing(case, budgets):
    engine, turn = Compiled(*case), 0
    while engine.run(budgets[turn % len(budgets)]) != "done":
        turn += 1
    assert_same(engine.output(), ran(Compiled, case))


# -- by the face of the package, so that it makes tables and predictions

HOUR = 3600.0
TABLES = ("jobs", "decisions", "events")
NUMBERS = ("makespan", "loss_time", "reschedulings", "questions", "matched", "warnings")


def faces_agree(workflows, resources, **options):
    fast, slow = (
        fs.simulate_workflows(workflows, resources, engine=engine, **options) for engine in ("core", "reference")
    )
    for table in TABLES if options.get("record") else TABLES[:2]:
        mine, theirs = getattr(fast, table), getattr(slow, table)
        assert list(mine) == list(theirs)
        for name in theirs:
            np.testing.assert_array_equal(mine[name], theirs[name], f"{table}.{name}", strict=True)
    np.testing.assert_array_equal(fast.makespans, slow.makespans)
    for name in NUMBERS:
        assert getattr(fast, name) == getattr(slow, name), name
    return fast


def failing(nodes, span, gap, downtime, seed=1):
    """About one failure each `gap` seconds, more of them on some nodes than on others."""
    return fs.synthetic.weibull_failures(
        nodes, span, 0.7, gap, window=4, zipf=0.5, downtime=downtime, permute=True, any_rate=True, rng=seed
    )


PREDICTORS = {
    "perfect": fs.Perfect(),
    "accuracy": fs.Accuracy(0.6),
    "confidence": fs.Confidence(0.3),
    "intervals": fs.IntervalPredictor(0.7, 0.6, 0.1 * HOUR),
    "blind": fs.Blind(),
}


@pytest.mark.parametrize("name", PREDICTORS)
def test_synthetic_workflows_with_each_predictor(name):
    rng = np.random.default_rng(5)
    flows = [fs.synthetic.random_dag(40, ccr=0.5, rng=rng).with_cost_factor(60).submitted(900.0 * i) for i in range(4)]
    done = faces_agree(
        flows,
        fs.Resources(6),
        scheduler=fs.Flaw("descending" if name == "perfect" else "ascending"),
        failures=failing(6, 200 * HOUR, 2 * HOUR, 600.0),
        predictor=PREDICTORS[name],
        record=True,
    )
    # Who knows all failures starts nothing before one, but a source may still fail.
    assert done.reschedulings > 0 or name == "perfect"
    assert done.questions["per_node"][0] >= len(done.decisions["job"])


REAL = {
    "Montage_25.xml": fs.read_dax,
    "CyberShake_30.xml": fs.read_dax,
    "Sipht_30.xml": fs.read_dax,
    "Epigenomics_24.xml": fs.read_dax,
    "montage-chameleon-2mass-01d-001.json": fs.read_wfcommons,
    "soykb-chameleon-10fastq-10ch-001.json": fs.read_wfcommons,
    "srasearch-chameleon-10a-001.json": fs.read_wfcommons,
}
OPTIONS = [
    {"scheduler": fs.RankHybd()},
    {"scheduler": fs.Flaw(), "predictor": fs.Accuracy(0.5), "transfers": "in_turn"},
    {"scheduler": fs.Fifo(), "outputs": fs.SharedOutputs(5.0)},
    {"scheduler": fs.Fifo(aware=True), "predictor": fs.Perfect()},
]


@pytest.mark.parametrize("turn", range(len(OPTIONS)))
@pytest.mark.parametrize("name", REAL)
def test_real_workflows_on_failing_nodes(data_dir, name, turn):
    folder = "dax" if name.endswith("xml") else "wfcommons"
    flow = REAL[name](data_dir / "dags" / folder / name)
    gap = flow.cost.sum() / 40
    faces_agree(
        [flow, flow.submitted(10 * gap), flow.submitted(gap)],
        fs.Resources(speed=[1, 2, 1, 0.5], bandwidth=1e6),
        failures=failing(4, 400 * gap, gap, gap / 2),
        record=True,
        **OPTIONS[turn],
    )


@pytest.mark.parametrize("name", REAL)
def test_plans_of_real_workflows(data_dir, name):
    folder = "dax" if name.endswith("xml") else "wfcommons"
    flow = REAL[name](data_dir / "dags" / folder / name)
    faces_agree([flow.submitted(100), flow], fs.Resources(speed=[1, 2, 1, 0.5], bandwidth=1e6), scheduler=fs.Heft())


def test_nodes_of_the_cluster_that_the_paper_takes(data_dir):
    """System 2 of LANL, 2001: 32 of its 49 nodes, a time unit of five minutes, several workflows at once."""
    path = data_dir / "failures" / "LA-UR-05-7318-failure-data-1996-2005.csv.gz"
    trace = fs.read_lanl(path, system=2, begin="2001-03-01", end="2001-05-01").drop_outside(32)
    flows = fs.synthetic.bench_dags(2, rng=3)
    foreseen = fs.PredictionTrace.at_accuracy(trace, 0.6, 0.5, nodes=32, rng=np.random.default_rng(1))
    for scheduler in (fs.RankHybd(), fs.Flaw()):
        done = faces_agree(flows, fs.Resources(32), scheduler=scheduler, failures=trace, predictor=foreseen)
        assert done.aoa == pytest.approx(0.6, abs=0.02)
