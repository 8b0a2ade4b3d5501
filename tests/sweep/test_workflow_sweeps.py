"""Sweeps of workflows: the same engine, store and statistics, with runs of `simulate_workflows` as tasks."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import faultsim as fs
from faultsim.cli.app import main
from faultsim.results.workflow_metrics import WORKFLOW_METRICS
from faultsim.sweep.merge import merge
from faultsim.sweep.random_streams import generator
from faultsim.sweep.row_schema import COLUMNS
from faultsim.sweep.store import Store
from helpers.refusals import refused

DAY = 86_400


def workflows(rng: np.random.Generator) -> list[fs.Workflow]:
    return [fs.synthetic.random_dag(20, rng=rng).with_cost_factor(300) for _ in range(3)]


def failures(rng: np.random.Generator, resources: fs.Resources, workflows: tuple[fs.Workflow, ...]) -> fs.FailureTrace:
    assert len(workflows) == 3
    return fs.synthetic.exponential_failures(resources.nodes, 3 * DAY, DAY, downtime=600, rng=rng)


def kills(result: fs.WorkflowResult) -> float:
    return float(result.jobs["kills"].max())


BASE: Mapping[str, Any] = {"workflows": workflows, "resources": fs.Resources(4), "failures": failures}
POLICIES = {
    "blind": {"scheduler": fs.RankHybd()},
    "aware": {"scheduler": "flaw", "predictor": fs.IntervalPredictor(0.7, 0.7, 600)},
}


def sweep(**options: Any) -> fs.Sweep:
    grid = {"resources": [fs.Resources(2), fs.Resources(4)], "policy": POLICIES, "every": [0, 3600]}
    return fs.Sweep(BASE, grid, **{"replicates": 3, "name": "flows", **options})


def same(one: fs.SweepTable, other: fs.SweepTable) -> None:
    assert list(one) == list(other)
    for name in one:
        np.testing.assert_array_equal(one[name], other[name])


def test_a_sweep_is_its_runs_one_by_one() -> None:
    made = sweep(metrics={"most_kills": kills})
    table = made.run(workers=2)
    assert table.complete
    assert not table.errors
    assert not table.warnings
    assert table.metrics == (*WORKFLOW_METRICS, "most_kills")
    seeds = set()
    for row, (task, found) in enumerate(zip(made.tasks(), (table[at] for at in range(len(table))), strict=True)):
        flows = workflows(generator(0, "workflows", task.replicate))
        nodes = fs.Resources(int(found["resources"]))
        trace = failures(generator(0, "failures", task.replicate), nodes, tuple(flows))
        result = fs.simulate_workflows(
            [flow.submitted(number * found["every"]) for number, flow in enumerate(flows)],
            nodes,
            failures=trace,
            seed=found["seed"],
            **POLICIES[found["policy"]],
        )
        numbers = {**result.metrics, "most_kills": kills(result)}
        np.testing.assert_array_equal([found[name] for name in numbers], list(numbers.values()), err_msg=str(row))
        assert found["run"] == task.id
        if found["policy"] == "aware":
            seeds.add(found["seed"])
    assert len(seeds) == 3
    assert table["reschedulings"].sum() > 0


def test_what_changes_workflows() -> None:
    flow = fs.Workflow([10, 20, 30], [(0, 1, 5), (0, 2, 5)], name="fork")
    base = {"workflows": flow, "resources": fs.Resources(1), "outputs": fs.SharedOutputs(1)}
    alone = {"cost_factor": [2.0], "transfer_factor": [0.0], "ccr": [0.5], "outputs.cost": [4.0]}
    expected = {"cost_factor": 120.0, "transfer_factor": 60.0, "ccr": 60.0, "outputs.cost": 60.0}
    shared = {name: 4.0 if name == "outputs.cost" else 1.0 for name in alone}
    for name, values in alone.items():
        made = fs.Sweep(base, {name: values})
        (task,) = made.tasks()
        assert made.run()["makespan"].tolist() == [expected[name] + shared[name]]
        assert task.run.flows[0].ccr == {"ccr": 0.5, "transfer_factor": 0.0, "cost_factor": 0.125}.get(name, 0.25)
    several = fs.Sweep({**base, "workflows": [flow, flow]}, {"arrivals": [[0, 0], [0, 500]], "seed": [1, 2]})
    assert sorted(several.run()["makespan"].tolist()) == [122.0, 122.0, 561.0, 561.0]


def test_replicates_that_draw_nothing_are_one_run() -> None:
    table = fs.Sweep({"workflows": fs.Workflow([4, 4]), "resources": fs.Resources(1)}, replicates=3).run()
    assert len(set(table["run"])) == 1
    assert table.summary("makespan")["n"].tolist() == [1]


def test_a_word_draws_as_its_policy() -> None:
    each = [
        fs.Sweep({**BASE, "scheduler": "flaw", "predictor": given}, replicates=2).run()
        for given in ("interval:precision=0.7,recall=0.7,interval=600", fs.IntervalPredictor(0.7, 0.7, 600))
    ]
    assert each[0]["run"].tolist() == each[1]["run"].tolist()
    assert len(set(each[0]["run"])) == 2


def test_equal_runs_have_one_hash() -> None:
    flow = fs.Workflow([3, 4], [(0, 1, 1)], name="a")
    base = {"workflows": flow, "resources": fs.Resources(2)}
    expected = next(iter(fs.Sweep(base).tasks())).id
    equal: list[dict[str, Any]] = [
        {"workflows": [flow.renamed("b")]},
        {"workflows": lambda rng: flow},
        {"resources": fs.Resources(speed=[1, 1])},
        {"scheduler": fs.RankHybd()},
        {"arrivals": [0]},
    ]
    other: list[dict[str, Any]] = [
        {"workflows": flow.submitted(1)},
        {"workflows": [flow, flow]},
        {"resources": fs.Resources(3)},
        {"resources": fs.Resources(2, bandwidth=2)},
        {"resources": fs.Resources(2, bandwidth=[[1, 2], [3, 4]])},
        {"scheduler": fs.Fifo()},
        {"arrivals": [1]},
        {"outputs": fs.SharedOutputs(1)},
        {"transfers": "in_turn"},
        {"failures": fs.FailureTrace([1], [0], span=9)},
    ]
    for change in equal:
        assert next(iter(fs.Sweep({**base, **change}).tasks())).id == expected, change
    ids = [next(iter(fs.Sweep({**base, **change}).tasks())).id for change in other]
    assert len({expected, *ids}) == 1 + len(other)


# -- the store


def test_one_store_has_rows_of_both_kinds(tmp_path: Path) -> None:
    path = tmp_path / "both.db"
    jobs = fs.Sweep({"log": fs.synthetic.nasa_like(40, rng=0), "machine": fs.Cluster(128)}, {"load": [0.7, 0.9]})
    alone = jobs.run(), sweep().run()
    for made in (sweep(), jobs, sweep(), jobs):
        made.run(path)
    same(alone[0], jobs.run(path))
    same(alone[1], fs.load_sweep(path, "flows"))
    assert "ledger_useful" not in alone[1]
    assert "loss_time" not in alone[0]
    with Store(path, write=False, check=True) as store:
        assert store.count("run") == len(alone[0]) + len(alone[1])
        (both,) = store.read("SELECT count(makespan), count(loss_time), count(utilization) FROM results")
    assert both == (26, 24, 2)


def test_a_store_without_columns_of_workflows_gets_them(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    jobs = fs.Sweep({"log": fs.synthetic.nasa_like(40, rng=0), "machine": fs.Cluster(128)}, name="jobs")
    expected = jobs.run(path)
    with Store(path) as store:
        store.write("DROP VIEW results", [[]])
        for name in set(WORKFLOW_METRICS) - set(COLUMNS):
            store.write(f'ALTER TABLE run DROP COLUMN "{name}"', [[]])
    same(expected, fs.load_sweep(path, "jobs"))
    same(sweep().run(), sweep().run(path))
    same(expected, fs.load_sweep(path, "jobs"))


def test_shards_and_executors_give_the_same_rows(tmp_path: Path) -> None:
    parts = [tmp_path / f"{part}.db" for part in (1, 2, 3)]
    for part, path in enumerate(parts, 1):
        filled = sweep().fill(path, shard=(part, 3), workers=1)
        assert filled.made == filled.total == 8
    assert merge(tmp_path / "all.db", parts).runs == 24
    expected = sweep().run()
    same(expected, fs.load_sweep(tmp_path / "all.db"))
    assert sweep().fill(tmp_path / "all.db").made == 0
    same(expected, sweep().run(workers=2, executor="processes"))


def test_dask_gives_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("faultsim.sweep.dask_executor.ALONE", 100)  # all inputs travel on their own
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None) as client:
        same(sweep().run(), sweep().run(executor=client))


VICTIM = """
import os, sys
import faultsim as fs
sys.path[:0] = [{folder!r}]
from test_workflow_sweeps import sweep
def die(done, total, seconds):
    if done >= 5:
        os.kill(os.getpid(), 9)
sweep().run({path!r}, workers=1, progress=die)
"""


def test_a_killed_sweep_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "killed.db"
    code = VICTIM.format(folder=str(Path(__file__).parent), path=str(path))
    tests = str(Path(__file__).parent.parent)
    done = subprocess.run([sys.executable, "-c", f"import sys; sys.path.append({tests!r})\n{code}"], timeout=120)
    assert done.returncode == -9
    with Store(path, write=False) as store:
        there = store.count("run")
    assert 5 <= there < 24
    filled = sweep().fill(path)
    assert (filled.made, filled.done) == (24 - there, 24)
    same(sweep().run(), fs.load_sweep(path))


def test_a_run_that_fails_has_a_row_and_a_reason(tmp_path: Path) -> None:
    def only_few(rng: np.random.Generator, replicate: int) -> fs.Workflow:
        return fs.Workflow([2.0**20] * 9 if replicate else [1.0])

    made = fs.Sweep({"workflows": only_few, "resources": fs.Resources(speed=[2.0**-20])}, replicates=2)
    table = made.run(tmp_path / "store.db")
    assert table["status"].tolist() == ["ok", "error"]
    assert "where the clock ends" in table.errors[1]
    assert np.isnan(table["makespan"][1])
    assert table["makespan"][0] == 2.0**20


# -- bad input, by name


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"log": fs.synthetic.nasa_like(5, rng=0)}, "of job logs .* or of workflows .* has log and workflows"),
        ({"machine": fs.Cluster(4)}, "has machine and workflows"),
        ({"load": 0.5}, r"unknown axis 'load' \(one of sweeps with log, and this one has workflows\)"),
        ({"sheduler": 1}, r"did you mean 'scheduler'"),
        ({"record": True}, "record cannot be an axis"),
        ({"resources": 4}, r"the resources must be Resources, got 4; write Resources\(4\)"),
        ({"workflows": 3}, "workflows must be a Workflow or a list of them, got 3"),
        ({"workflows": lambda rng: 3}, "the factory of workflows must return a Workflow or a list of them, got 3"),
        ({"workflows": []}, "no workflow: give at least one"),
        ({"failures": lambda rng: 3}, "the factory of failures must return a FailureTrace, got 3"),
        ({"failures": 3}, "failures must be a FailureTrace, got 3"),
        ({"failures": None, "failure_count": 3}, "axis failure_count: there are no failures to change"),
        ({"scheduler": fs.Fcfs()}, "the workflow scheduler must be one of RankHybd, Flaw, Fifo, Heft, got Fcfs"),
        ({"scheduler": fs.Flaw()}, "Flaw requires a predictor"),
        ({"scheduler.order": 1}, "axis scheduler.order: RankHybd has no parameter 'order'; it has: across"),
        ({"outputs.cost": 1}, "there is no outputs whose cost could be set"),
        ({"every": -1}, "axis every must be at least 0 s, got -1"),
        ({"every": 1, "arrivals": [0, 1, 2]}, "axis every: arrivals say when workflows arrive"),
        ({"cost_factor": 0}, "axis cost_factor must be above 0, got 0"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_bad_input_is_told_by_name(change: dict[str, Any], said: str) -> None:
    def make() -> None:
        list(fs.Sweep({**BASE, **change}).tasks())

    refused((fs.OptionError, fs.InputError), said, make)


def test_options_of_the_sweep_itself() -> None:
    refused(fs.OptionError, "needs 'resources', unless an axis", fs.Sweep, {"workflows": workflows})
    refused(fs.OptionError, "needs 'workflows', unless an axis", fs.Sweep, {"resources": fs.Resources(3)})
    refused(fs.OptionError, "warmup and drain exclude jobs of a log", fs.Sweep, BASE, warmup=0.1)
    refused(fs.OptionError, "'p95_wait' names no further metric of workflows", fs.Sweep, BASE, metrics=["p95_wait"])
    refused(fs.OptionError, "has a column 'aoa' already", fs.Sweep, BASE, metrics={"aoa": kills})
    three = {"workflows": fs.Workflow([[1, 2, 3]])}
    refused(fs.InputError, "cell resources=2: .*costs are for 3", fs.Sweep, three, {"resources": [fs.Resources(2)]})


# -- as a file

SPEC = """
name = "predictors"
replicates = 2
[base]
workflows = { synthetic = "bench_dags", count = 2, jobs = [20, 30] }
resources = 8
failures = { synthetic = "exponential", mtbf = "2d", downtime = "1h" }
scheduler = "flaw"
[grid]
predictor = ["blind", "perfect"]
outputs = ["node", "shared:60"]
every = [0, 600.0]
"""


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_of_workflows(tmp_path: Path) -> None:
    made = fs.read_sweep(written(tmp_path / "spec.toml", SPEC))
    table = made.run()
    assert repr(made).endswith("8 cells (2 predictor x 2 outputs x 2 every), 2 replicates: 16 runs>")
    flows = [fs.synthetic.bench_dags(2, rng=generator(0, "workflows", k), jobs=(20, 30)) for k in (0, 1)]
    sizes = [sum(map(len, each)) for each in flows]
    assert table["n_jobs"].tolist() == sizes * 8
    assert table.select(predictor="blind")["reschedulings"].sum() > 0
    assert made.metrics == table.metrics == tuple(WORKFLOW_METRICS)


def test_workflows_and_resources_from_files(tmp_path: Path) -> None:
    written(tmp_path / "two.stg", "2\n0 0 0\n1 5 1 0\n2 7 1 1\n3 0 1 2\n")
    text = """
    [base]
    workflows = "two.stg"
    [grid]
    resources = [1, { speed = [1, 2], bandwidth = 10.0 }]
    [grid.workflows]
    one = "two.stg"
    both = ["two.stg", { file = "two.stg", format = "stg" }]
    """
    table = fs.read_sweep(written(tmp_path / "spec.toml", text)).run()
    assert table["workflows"].tolist() == ["one", "both"] * 2
    assert table["makespan"].tolist() == [12.0, 24.0, 6.0, 12.0]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("resources = 8", "machine = 'torus:4x4x8'", r"spec.toml.*has machine and workflows"),
        ("resources = 8", "resources = 'eight'", r"spec.toml:6: base.resources: resources are a number of nodes"),
        ("resources = 8", "resources = { node = 8 }", r"spec.toml:6: .*unknown key 'node' \(did you mean 'nodes'"),
        ("resources = 8", "resources = 0", "spec.toml:6: .*nodes of Resources must be"),
        ('"bench_dags"', '"bench_dag"', "spec.toml:5: .*did you mean 'bench_dags'"),
        ("count = 2", "number = 2", "spec.toml:5: .*unknown key 'number'"),
        ('"flaw"', '"easy"', "spec.toml:8: base.scheduler: unknown workflow scheduler 'easy'"),
        ('"shared:60"', '"shared:x"', "spec.toml:11: grid.outputs: unknown option .x. of outputs"),
        ("every = [0, 600.0]", "every = [-1]", "spec.toml:12: axis every must be at least 0 s"),
        ("every = [0, 600.0]", "load = [0.5]", "spec.toml:12: .*unknown axis 'load' .one of sweeps with log"),
        ("replicates = 2", "warmup = 0.1", "warmup and drain exclude jobs of a log"),
        ("replicates = 2", "metrics = ['p95_wait']", "'p95_wait' names no further metric of workflows"),
    ],
)
def test_mistakes_of_a_file_have_lines(before: str, after: str, said: str, tmp_path: Path) -> None:
    assert before in SPEC
    refused(fs.InputError, said, fs.read_sweep, written(tmp_path / "spec.toml", SPEC.replace(before, after)))


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "spec.toml", SPEC)
    assert main(["sweep", "spec.toml", "--metric", "mean_wait"]) == 2
    assert "no 'mean_wait' in this sweep; known: n_workflows" in capsys.readouterr().err
    assert main(["sweep", "spec.toml", "--metric", "loss_time", "--against", "predictor=blind"]) == 0
    assert "loss_time: predictor against blind" in capsys.readouterr().out
    assert main(["status", "spec.db", "--csv", "rows.csv", "--report", "report.html"]) == 0
    assert (tmp_path / "rows.csv").read_text().startswith("predictor,outputs,every,replicate,seed,n_workflows")
    assert "mean makespan (s)" in (tmp_path / "report.html").read_text()


def test_a_number_that_changes_on_the_disk_is_told(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    sweep().run(path)
    with Store(path, check=False) as store:
        store.write("UPDATE run SET loss_time = loss_time + 1 WHERE id = (SELECT min(id) FROM run)", [[]])
    refused(fs.StoreError, "row .* of run is not the one that was written", fs.load_sweep, path)
