"""Wrong answers without a word: each is refused by name, or told in `Result.warnings`, reports and the log."""

import logging
from pathlib import Path

import numpy as np
import pytest

import faultsim as fs
from faultsim.errors import InputError, OptionError
from faultsim.results.caveats import caveats
from helpers import command

LOG = fs.Workload(submit=[0, 1, 2], runtime=[10, 10, 5], size=[2, 4, 2])
YEAR = 365 * 86_400
LATE = fs.Workload(submit=[YEAR, YEAR + 500], runtime=[100, 100], size=[2, 2], estimate=[100, 100])


def warned(**options):
    log, machine = options.pop("log", LOG), options.pop("machine", fs.Cluster(4))
    return fs.simulate(log, machine, estimates="actual", **options).warnings


# -- the row of the user's log


def test_index_is_the_row_that_the_user_gave():
    """Also for orders and placements written in Python, where some jobs are left out."""
    log = fs.Workload(submit=[0, 0, 0, 0], runtime=[10] * 4, size=[1, 99, 2, 4])
    seen = set()

    class Order(fs.QueueOrder):
        def keys(self, queue, now):
            seen.update(zip(queue.index.tolist(), queue.size.tolist(), strict=True))
            return queue.submit

    class First(fs.Placement):
        def choose(self, job, candidates, state):
            seen.add((job.index, job.size))
            return 0

        def choose_nodes(self, job, free, state):
            seen.add((job.index, job.size))
            return free[: job.size]

    fs.simulate(log, fs.Cluster(4), scheduler=fs.Fcfs(order=Order()), oversized="drop")
    for machine in (fs.Cluster(4), fs.Torus(2, 2, 1)):
        fs.simulate(log, machine, placement=First(), oversized="drop")
    assert seen == {(0, 1), (2, 2), (3, 4)}


# -- clocks that do not meet


def test_a_trace_that_lies_before_or_after_the_jobs():
    remedy = "FailureTrace.align and Workload.from_zero bring the clocks together"
    trace = fs.FailureTrace([60, 600], [0, 1], 120, span=2 * YEAR)
    result = fs.simulate(LATE, fs.Cluster(2), failures=trace)
    run = "the run, from 31,536,000 s to 31,536,600 s"
    assert result.warnings == (f"none of the 2 failures is in {run}: they are from 60 s to 600 s. {remedy}",)
    assert "2 failures, 0 within the run, requeue" in repr(result)
    assert f"note: {result.warnings[0]}" in str(result)
    after = fs.FailureTrace([1e9, 2e9], [0, 1])
    assert (
        "none of the 2 failures is in the run, from 0 s to 20 s: they are from 1,000,000,000 s"
        in warned(failures=after)[0]
    )


def test_few_failures_within_the_run():
    trace = fs.FailureTrace(np.linspace(19, 1e6, 1000), [3] * 1000)
    assert warned(failures=trace) == ()  # at this rate more than one is not to be expected in 20 s
    crowded = fs.FailureTrace([3, *np.linspace(25, 40, 999)], [3] * 1000)
    assert warned(failures=crowded)[0].startswith("only 1 of the 1,000 failures is in the run, from 0 s to 2")
    part = fs.FailureTrace([5, YEAR + 50, YEAR + 60], [0, 0, 0], span=2 * YEAR)
    said = warned(log=LATE, machine=fs.Cluster(2), failures=part)[0]
    assert said.startswith("1 of the 3 failures come before the run, from 31,536,000 s to ")


def test_bringing_clocks_together():
    trace = fs.FailureTrace([60, 600], [0, 1], [120, 5], coin=[0.1, 0.2], span=1000, name="x")
    moved = trace.align(LATE)
    assert (moved.time.tolist(), moved.span, moved.name) == ([YEAR + 60, YEAR + 600], YEAR + 1000, "x")
    assert (moved.downtime.tolist(), moved.coin.tolist()) == ([120, 5], [0.1, 0.2])
    assert trace.align(LATE, begin=600).time.tolist() == [YEAR]
    assert trace.align(LATE.from_zero()) == trace
    assert LATE.from_zero().submit.tolist() == [0, 500]
    assert LATE.from_zero().name == LATE.name
    with pytest.raises(InputError, match="align: the log must be a Workload, got 31536000"):
        trace.align(YEAR)
    assert fs.simulate(LATE, fs.Cluster(2), failures=moved).warnings == ()


def test_curie_does_not_get_the_second_year(data_dir):
    log = fs.read_swf(data_dir / "swf" / "CEA-Curie-2011-2.1-cln.swf.gz").head(20_000)
    trace = fs.read_lanl(data_dir / "failures" / "LA-UR-05-7318-failure-data-1996-2005.csv.gz", system=2)
    machine = fs.Cluster(93_312)
    result = fs.simulate(log, machine, failures=trace)
    assert any("failures come before the run, from 31,656,837 s" in text for text in result.warnings)
    result = fs.simulate(log, machine, failures=trace.align(log))
    assert not any("FailureTrace.align" in text for text in result.warnings)


# -- what cannot be meant


def test_a_checkpoint_that_takes_longer_than_the_work_it_saves():
    said = r"Periodic: cost=300 is 300 s for a checkpoint after each 10 s of work \(interval=10\): less than a tenth"
    with pytest.raises(OptionError, match=said):
        fs.Periodic(10, 300)
    with pytest.raises(OptionError, match=f"cell .*: {said}"):
        fs.Sweep(
            {"log": LOG, "machine": fs.Cluster(4), "checkpointing": fs.Periodic(10, 10)},
            {"checkpointing.cost": [20, 300]},
        )
    assert fs.Run(LOG, fs.Cluster(4), checkpointing=fs.Periodic(10, 300, any_rate=True)).checkpointing.cost == 300
    for cost in (10, 100):  # who looks for the best interval tries some that are far from it
        assert fs.Run(LOG, fs.Cluster(4), checkpointing=fs.Periodic(10, cost)).checkpointing.cost == cost


@pytest.mark.parametrize(
    "cls", [fs.ServiceUnitLoss, fs.LongJobs, fs.LeastFailuresMigration, fs.Static, fs.Heft, fs.SharedOutputs]
)
def test_a_subclass_that_nothing_would_call(cls):
    own = type("Mine", (cls,), {"choose": lambda self: None})
    with pytest.raises(OptionError, match=f"Mine: what a subclass of {cls.__name__} overrides would be ignored"):
        own(*([3] if cls in (fs.Static, fs.SharedOutputs) else []))


def test_what_a_subclass_overrides_is_used():
    """Of every kind of which users write their own; what is not one of its methods is asked for by name."""
    called = set()

    class Easy(fs.EasyBackfill):
        def schedule(self, decision):
            called.add("schedule")
            for job in decision.queue:
                if decision.fits(job):
                    decision.start(job)

    class Shortest(fs.ShortestFirst):
        def keys(self, queue, now):
            called.add("keys")
            return -queue.estimate

    class Fit(fs.FirstFit):
        def choose_nodes(self, job, free, state):
            called.add("choose_nodes")
            return free[-job.size :]

    class Often(fs.Periodic):
        def intervals(self, jobs):
            called.add("intervals")
            return np.full(len(jobs), 3.0)

    class Stay(fs.Requeue):
        def react(self, decision):
            called.add("react")

    class Sees(fs.Confidence):
        def predict(self, trace, machine, rng):
            called.add("predict")
            return {"time": trace.time, "node": trace.node}

    class Ticks(fs.Fars):
        def tick(self, decision):
            called.add("tick")

    trace = fs.FailureTrace([5], [0], [3], span=100)
    fs.simulate(LOG, fs.Cluster(4), scheduler=Easy(order=Shortest()), placement=Fit(), checkpointing=Often(9, 1))
    options = {"recovery": Stay(), "predictor": Sees(0.5), "rescheduling": Ticks(2, fs.ServiceUnitLoss())}
    fs.simulate(LOG, fs.Cluster(4), failures=trace, **options)
    assert called == {"schedule", "keys", "choose_nodes", "intervals", "react", "predict", "tick"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "--scheduler", "easy", "--scheduler=fcfs"], "faultsim run: error: --scheduler is given twice"),
        (["run", "--json", "--json"], "faultsim run: error: --json is given twice"),
        (["log", "head", "-n", "3", "-n", "4"], "faultsim log head: error: -n is given twice"),
        (["run", "--failures", "synthetic:count=3,count=4"], "faultsim run --failures: error: --count is given twice"),
        (
            ["run", "--checkpointing", "young:cost=3,cost=4,mtbf=9"],
            "option 'cost' of checkpointing 'young' is given twice",
        ),
    ],
)
def test_an_option_that_is_given_twice(capsys, words, said):
    assert said in command.refused(capsys, *words)


# -- what may be meant


def test_checkpoints_that_take_more_than_half_of_the_time(capsys, tmp_path, monkeypatch):
    log = LOG.with_runtime_factor(100)
    wrong, right = fs.Young(cost=30, mtbf=5, any_rate=True), fs.Young(cost=30, mtbf=56 * 86_400)
    said = "of the time for which jobs hold nodes: check the units of their cost and interval"
    assert warned(log=log, checkpointing=right) == ()
    (text,) = warned(log=log, checkpointing=wrong)
    assert text.startswith("checkpoints take ")
    assert text.endswith(said)
    table = fs.Sweep({"log": log, "machine": fs.Cluster(4)}, {"checkpointing": [right, wrong]}).run()
    assert table.warnings == (f"in 1 of 2 rows checkpoints take more than half {said}",)
    assert table.select(checkpointing="young:cost=30,mtbf=4.8384e+06").warnings == ()
    monkeypatch.chdir(tmp_path)
    Path("jobs.swf").write_text(command.swf(500, 999))
    status, out, _ = command.run(capsys, "run", "jobs.swf", "--checkpointing", "young:cost=30,mtbf=5,any_rate=true")
    assert status == 0
    assert "\nnote: checkpoints take " in out
    assert said in out


def test_jobs_that_share_an_id():
    twice = fs.Workload(submit=[0, 1, 2], runtime=[1, 1, 1], size=[1, 1, 1], id=[7, 7, 8])
    assert warned(log=twice) == ("1 of 3 jobs have an id that an earlier job has",)
    text = fs.Workload(submit=[0, 1, 2], runtime=[1, 1, 1], size=[1, 1, 1], id=["a", "b", "a"])
    assert warned(log=text) == ("1 of 3 jobs have an id that an earlier job has",)
    assert warned(log=fs.Workload(submit=[0, 1], runtime=[1, 1], size=[1, 1], id=[9, 3])) == ()


def test_a_load_that_is_rather_a_percentage(caplog):
    log = fs.synthetic.nasa_like(200, rng=1)
    assert warned(log=log.with_load(0.7, nodes=128), machine=fs.Cluster(128)) == ()
    assert not caplog.records
    heavy = log.with_load(71.5, nodes=128)
    assert caplog.messages == [
        "with_load(71.5): a load is work over what the machine can do, such as 0.715; this is 71.5 times that"
    ]
    log.with_load(71.5, nodes=128)
    assert len(caplog.messages) == 1
    assert warned(log=heavy, machine=fs.Cluster(128)) == (
        "the offered load is 71.5 times what the machine can do, no percentage: jobs wait without end",
    )


# -- where it is said


def test_warnings_are_logged_where_logging_is_set_up(caplog):
    trace = fs.FailureTrace([1e6], [0])
    runs = [fs.Run(LOG, fs.Cluster(4), estimates="actual", failures=trace)] * 3
    (text,) = runs[0].simulate().warnings
    assert caplog.record_tuples == [("faultsim", logging.WARNING, text)]
    caplog.clear()
    fs.simulate_many(runs)
    assert caplog.messages == [f"{text} (3 runs)"]


def test_nothing_is_computed_where_nobody_listens(monkeypatch):
    asked = []
    monkeypatch.setattr("faultsim.results.caveats.caveats", lambda result: asked.append(result) or ())
    monkeypatch.setattr(logging.root, "handlers", [])
    result = fs.simulate(LOG, fs.Cluster(4))
    assert not asked
    monkeypatch.undo()
    assert result.warnings is result.warnings
    assert result.warnings == caveats(result)


def test_they_are_there_after_loading_and_in_reports(tmp_path):
    result = fs.simulate(LATE, fs.Cluster(2), failures=fs.FailureTrace([60], [0], span=2 * YEAR), record=True)
    result.save(tmp_path / "run.npz")
    assert fs.load_result(tmp_path / "run.npz").warnings == result.warnings
    assert len(result.warnings) == 1
    pytest.importorskip("matplotlib")
    from faultsim.report import report_run

    page = report_run(result).html()
    assert "the only failure is not in the run" in page
    assert "1 failure, 0 within the run" in page


def test_workflows_tell_it_too():
    flow = fs.Workflow([10, 10], [(0, 1)])
    result = fs.simulate_workflows(flow, fs.Resources(2), failures=fs.FailureTrace([500], [0], span=1000))
    assert "1 failure, 0 within the run" in repr(result)
    assert result.warnings[0].startswith("the only failure is not in the run, from 0 s to 20 s: it is at 500 s")
