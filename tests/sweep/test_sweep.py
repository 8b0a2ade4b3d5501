"""Sweeps: axes, labels, streams, names by content, resuming, and the table."""

import contextlib
import dataclasses
import json
import sqlite3

import numpy as np
import pytest

import faultsim as fs
from faultsim.policies import POLICIES, parse_policy
from faultsim.simulation.engine_inputs import make_world
from faultsim.sweep.labels import label
from faultsim.sweep.merge import merge
from faultsim.sweep.random_streams import draws_from_seed
from faultsim.sweep.row_schema import COLUMNS, numbers
from faultsim.sweep.runner import places
from faultsim.sweep.task_hash import task_id
from faultsim.sweep.wanted import Wanted
from faultsim.sweep.worker import do
from helpers.refusals import refusals, refused

TORUS = fs.Torus(2, 2, 4)


def log(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return fs.Workload(
        submit=np.cumsum(rng.exponential(30, n)), runtime=rng.exponential(200, n), size=rng.integers(1, 9, n)
    )


def drawn_log(rng):
    return log(40, rng)


def drawn_failures(rng, log):
    return fs.synthetic.exponential_failures(
        nodes=16, span=log.submit[-1] + 1000, mtbf=5000, downtime=20, rng=rng, any_rate=True
    )


DRAWN = {"log": drawn_log, "machine": TORUS, "failures": drawn_failures}
POLICIES_TWO = {
    "policy": {
        "old": {"placement": fs.MaxFreePartition()},
        "new": {"placement": fs.Balancing(), "predictor": fs.Confidence(0.3)},
    }
}


def same(a, b):
    assert list(a) == list(b)
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


# -- the grid


def test_a_row_is_the_run_that_its_axes_say():
    base = fs.Run(log(), TORUS, start_delay=1.0)
    table = fs.Sweep(base, {"runtime_factor": [0.5, 1.5], "scheduler": [fs.Fcfs(), fs.EasyBackfill()]}).run()
    assert table["runtime_factor"].tolist() == [0.5, 0.5, 1.5, 1.5]
    assert table["scheduler"].tolist() == ["fcfs", "easy", "fcfs", "easy"]
    for row, (c, scheduler) in enumerate([(c, s) for c in (0.5, 1.5) for s in (fs.Fcfs(), fs.EasyBackfill())]):
        result = fs.simulate(log().with_runtime_factor(c), TORUS, scheduler=scheduler, start_delay=1.0)
        for name in fs.METRICS.keys() & set(COLUMNS):
            assert table[name][row] == result.metrics[name], name
        assert {k: table[f"ledger_{k}"][row] for k in result.ledger} == dict(result.ledger)
        assert table["events"][row] == result.counters["events"]


def test_zipped_axes_lists_and_bundles_are_dimensions():
    sweep = fs.Sweep(
        {**DRAWN, "log": log()},
        {"start_delay": [0, 5], **POLICIES_TWO},
        zipped={"runtime_factor": [1, 2, 3], "gap_factor": [1, 2, 3]},
        cells=[{"overrun": "kill", "estimates": "actual"}, {"overrun": "extend"}],
    )
    assert len(sweep) == 2 * 2 * 3 * 2
    assert sweep.axes == ("start_delay", "policy", "runtime_factor", "gap_factor", "overrun", "estimates")
    last = sweep.grid[len(sweep) - 1]
    assert dict(last.labels) == {
        "start_delay": 5,
        "policy": "new",
        "runtime_factor": 3,
        "gap_factor": 3,
        "overrun": "extend",
        "estimates": None,
    }
    assert last.values["predictor"] == fs.Confidence(0.3)
    assert "estimates" not in last.values
    assert sorted(sweep.grid.running_order()) == list(range(len(sweep)))


def test_a_parameter_of_a_policy_is_an_axis():
    base = {
        "log": log(),
        "machine": TORUS,
        "failures": fs.FailureTrace([50, 500], [0, 3], 10),
        "placement": fs.Balancing(),
    }
    sweep = fs.Sweep(
        {**base, "predictor": fs.Confidence(0.5)},
        {"predictor.probability": [0.1, 0.9], "scheduler.order": ["shortest", fs.LargestFirst()]},
    )
    runs = [task.run for task in sweep.tasks()]
    assert [run.predictor.probability for run in runs] == [0.1, 0.1, 0.9, 0.9]
    assert [run.scheduler.order.name for run in runs] == ["shortest", "largest"] * 2


test_mistakes_are_refused_before_anything_runs = refusals(
    fs.OptionError,
    lambda arguments: fs.Sweep(fs.Run(log(), TORUS), **arguments),
    ({"grid": {"runtime_facter": [1]}}, "did you mean 'runtime_factor'"),
    ({"grid": {"record": [True]}}, "record cannot be an axis"),
    ({"grid": {"runtime_factor": 1.0}}, "must be a list"),
    ({"grid": {"runtime_factor": []}}, "has no values"),
    ({"grid": {"runtime_factor": [1.0, 1.0]}}, "two values called 1.0"),
    ({"grid": {"runtime_factor": [0.0]}}, "axis runtime_factor must be above 0"),
    ({"grid": {"scheduler": ["eazy"]}}, "cell scheduler=eazy: unknown scheduler 'eazy'"),
    ({"grid": {"placement": [fs.SafestFirst()]}}, "cell placement=safest_first: SafestFirst chooses single nodes"),
    ({"grid": {"failure_count": [3]}}, "no failures to change"),
    ({"grid": {"predictor.probability": [3]}}, "no predictor whose probability"),
    ({"grid": {"scheduler.oder": [3]}}, "did you mean 'order'"),
    (
        {"zipped": {"runtime_factor": [1], "gap_factor": [1, 2]}},
        "equally many values, got runtime_factor 1, gap_factor 2",
    ),
    ({"cells": [{"overrun": "kill"}, {"overrun": "kill"}]}, "items 0 and 1 are both"),
    ({"grid": {"overrun": ["kill"]}, "cells": [{"overrun": "extend"}]}, "given twice"),
    ({"grid": ["load"]}, r"grid must be a mapping of axes to values, got \['load'\]"),
    ({"grid": {3: [1]}}, "an axis has a name, got 3"),
    ({"grid": {"replicate": {"a": {"overrun": "kill"}}}}, "axis replicate: bundles need another name"),
    ({"grid": {"mean": {"a": {"overrun": "kill"}}}}, "axis mean: bundles need another name"),
    ({"zipped": 0.5}, "zipped must be a mapping"),
    ({"zipped": {"load": 0.5}}, "axis load must be a list of values"),
    ({"cells": 3}, "cells, item 0: expected a mapping"),
    ({"replicates": 0}, "replicates must be at least 1"),
    ({"warmup": 0.6, "drain": 0.4}, "leave no jobs"),
)


def test_a_base_needs_a_log_and_a_machine():
    refused(fs.OptionError, "needs 'machine'", fs.Sweep, {"log": log()})
    assert len(fs.Sweep({"log": log()}, {"machine": [TORUS, fs.Cluster(16)]})) == 2


# -- labels


def test_every_policy_has_a_word_that_makes_it_again():
    for row in POLICIES:
        if row.name in ("trace",) or row.kind == "order":
            continue
        policy = parse_policy(row.kind, row.example or row.name)
        assert parse_policy(row.kind, label(policy)) == policy


def test_labels_tell_values_apart():
    assert label(fs.EasyBackfill()) == "easy"
    assert label(fs.EasyBackfill(order=fs.ShortestFirst())) == "easy:order=shortest"
    for number, same in ((np.float64(0.5), 0.5), (np.int32(3), 3), (np.bool_(True), True)):
        assert (label(number), type(label(number))) == (same, type(same))
    assert label(log().renamed("one")) == "one"
    with pytest.raises(fs.OptionError, match="two values called 'one'"):
        fs.Sweep({"machine": TORUS}, {"log": [log().renamed("one"), log(20).renamed("one")]})
    table = fs.Sweep({"machine": TORUS}, {"log": {"a": log(), "b": log(20)}}).run()
    assert table["log"].tolist() == ["a", "b"]


# -- streams


def test_replicates_differ_and_policies_share_them():
    sweep = fs.Sweep(DRAWN, {**POLICIES_TWO, "runtime_factor": [1.0, 1.2]}, replicates=3)
    tasks = list(sweep.tasks())
    by = {(t.labels["policy"], t.labels["runtime_factor"], t.replicate): t for t in tasks}
    for r in range(3):
        assert by["old", 1.0, r].log == by["new", 1.0, r].log
        assert by["old", 1.0, r].failures == by["new", 1.0, r].failures
    assert len({by["old", 1.0, r].log for r in range(3)}) == 3
    assert len({by["old", 1.0, r].failures for r in range(3)}) == 3


def test_streams_hang_on_seed_purpose_and_replicate_only():
    few = list(fs.Sweep(DRAWN, {"start_delay": [1.0]}, replicates=2).tasks())
    many = list(fs.Sweep(DRAWN, {"start_delay": [0.0, 1.0], "overrun": ["kill", "extend"]}, replicates=5).tasks())
    assert {t.log for t in few} <= {t.log for t in many}
    assert len({t.log for t in many}) == 5
    other = list(fs.Sweep({**DRAWN, "seed": 1}, {"start_delay": [1.0]}, replicates=2).tasks())
    assert not {t.log for t in few} & {t.log for t in other}


def test_failures_of_a_count_are_among_those_of_a_higher_one():
    trace = fs.FailureTrace(np.arange(100.0), np.arange(100) % 16, 5)
    sweep = fs.Sweep({"log": log(), "machine": TORUS, "failures": trace}, {"failure_count": [10, 50]}, replicates=2)
    few0, few1, more0, more1 = (set(t.run.failures.time.tolist()) for t in sweep.tasks())
    assert few0 < more0
    assert few1 < more1
    assert few0 != few1


def test_where_nothing_is_drawn_replicates_are_one_run():
    calls = []
    base = fs.Run(log(), TORUS)
    table = fs.Sweep(base, {"start_delay": [0.0, 1.0]}, replicates=4).run(progress=lambda *a: calls.append(a))
    assert table.n_rows == 8
    assert len(set(table["run"].tolist())) == 2
    assert calls[-1][:2] == (8, 8)


def test_only_predictors_that_say_so_draw_from_the_seed():
    trace = fs.FailureTrace(np.arange(0.0, 9000.0, 100.0), np.arange(90) % 16, 5)
    for row in POLICIES:
        if row.kind != "predictor" or row.name == "trace":
            continue
        predictor = parse_policy("predictor", row.example or row.name)
        worlds = []
        for seed in (0, 1):
            run = fs.Run(log(), TORUS, failures=trace, predictor=predictor, seed=seed)
            worlds.append(repr(make_world(run, run.log, run.log.runtime)))
        assert (worlds[0] != worlds[1]) == draws_from_seed(predictor), row.name


def test_a_predictor_that_draws_does_so_in_each_replicate():
    trace = fs.FailureTrace(np.arange(0.0, 9000.0, 300.0), np.arange(30) % 16, 5)
    base = {"log": log(), "machine": TORUS, "failures": trace, "predictor": fs.IntervalPredictor(0.5, 0.5, 300)}
    table = fs.Sweep({**base, "seed": 5}, replicates=3).run()
    assert not table.errors
    assert table["seed"][0] == 5
    assert len(set(table["seed"].tolist())) == 3
    assert len(set(table["run"].tolist())) == 3


# -- names by content


def first(base, grid=None, **options):
    return next(iter(fs.Sweep(base, grid, **options).tasks())).id


def test_a_name_hangs_on_content_and_not_on_names():
    jobs = log()
    run = fs.Run(jobs, TORUS)
    assert first(run) == first(fs.Run(log().renamed("other"), TORUS))
    assert first(run) == first(run, {"start_delay": [0.0]}, name="x", replicates=7)


def test_any_change_of_an_input_or_an_option_gives_another_name():
    trace = fs.FailureTrace([50, 500], [0, 3], 10)
    base = {
        "log": log(),
        "machine": TORUS,
        "failures": trace,
        "predictor": fs.Confidence(0.5),
        "placement": fs.Balancing(),
    }
    columns = {name: column.copy() for name, column in log().columns.items()}
    columns["runtime"][7] = np.nextafter(columns["runtime"][7], 1e9)
    changed = {
        "log": fs.Workload(**columns),
        "machine": fs.Torus(2, 4, 2),
        "failures": fs.FailureTrace([50, 500], [0, 3], 11),
        "scheduler": fs.Fcfs(),
        "placement": fs.TieBreaking(),
        "migration": fs.Defragment(),
        "recovery": fs.Hold(),
        "predictor": fs.Confidence(0.25),
        "checkpointing": fs.Periodic(100, 1),
        "rescheduling": None,
        "estimates": 2.0,
        "overrun": "kill",
        "start_delay": 1e-9,
        "seed": 1,
        "oversized": "drop",
        "reservations": "all:begin=1,end=2",
    }
    assert set(changed) == {f.name for f in dataclasses.fields(fs.Run)} - {"_", "record"}
    names = [first(base)] + [first({**base, key: value}) for key, value in changed.items() if key != "rescheduling"]
    names += [first(base, warmup=0.1), first(base, drain=0.1)]
    coin = fs.FailureTrace([50, 500], [0, 3], 10, coin=[0.1, 0.2])
    names += [first({**base, "failures": coin})]
    assert len(set(names)) == len(names)


def test_a_name_covers_the_version(monkeypatch):
    before = first(fs.Run(log(), TORUS))
    monkeypatch.setattr("faultsim.sweep.task_hash.__version__", "9.9")
    assert first(fs.Run(log(), TORUS)) != before


class Order(fs.QueueOrder):
    factor = 1.0

    def keys(self, queue, now):
        return queue.submit * 1.0


def test_a_name_covers_the_code_of_a_policy_in_python():
    class Other(Order):
        def keys(self, queue, now):
            return queue.submit * 2.0

    Other.__qualname__ = Order.__qualname__
    one, two, three = Order(), Other(), Order()
    three.weight = 2
    names = [first(fs.Run(log(), TORUS, scheduler=fs.Fcfs(order=order))) for order in (one, two, three, Order())]
    assert len(set(names)) == 3
    assert names[0] == names[3]


def test_the_name_is_the_same_everywhere():
    # A change of this name forgets every finished run of every store: it belongs with a new version of the package.
    run = fs.Run(fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2]), fs.Cluster(2))
    name = task_id(run, run.log.digest(), None, (0.0, 0.0))
    assert len(name) == 32
    assert name == task_id(run.with_options(record=True), run.log.digest(), None, (0.0, 0.0))


# -- the store


def test_a_finished_run_is_never_made_again(tmp_path, monkeypatch):
    store = tmp_path / "a.db"
    whole = fs.Sweep(DRAWN, POLICIES_TWO, replicates=4)
    part = fs.Sweep(DRAWN, POLICIES_TWO, replicates=2)
    part.run(store)
    made = []
    from faultsim.sweep import executors as pools

    do = pools.do
    monkeypatch.setattr(pools, "do", lambda runs, *rest: made.extend(runs) or do(runs, *rest))
    table = whole.run(store)
    assert len(made) == 4
    same(table, whole.run())
    made.clear()
    same(table, whole.run(store))
    assert not made


def test_another_content_under_the_same_words_is_another_sweep(tmp_path):
    """Else a merge would keep rows of the old one among those of the new."""
    log = fs.synthetic.nasa_like(20, rng=0)

    def sweep(cost, second):
        policies = {"plain": {}, "saves": {"checkpointing": fs.Periodic(600, cost)}}
        logs = [log, fs.Workload(submit=[0.0], runtime=[second], size=[1], name="second")]
        return fs.Sweep(fs.Run(log, fs.Cluster(128)), {"log": logs, "policy": policies})

    variants = [sweep(10, 5.0), sweep(20, 5.0), sweep(10, 6.0)]
    assert len({each.id for each in variants}) == 3
    assert sweep(10, 5.0).id == variants[0].id
    for number, each in enumerate(variants):
        each.run(tmp_path / f"{number}.db")
    merge(tmp_path / "all.db", [tmp_path / f"{number}.db" for number in range(3)])
    for number, each in enumerate(variants):
        merged = fs.load_sweep(tmp_path / "all.db", each.id)
        assert merged["run"].tolist() == fs.load_sweep(tmp_path / f"{number}.db")["run"].tolist()


def test_a_changed_input_is_run_again(tmp_path):
    store = tmp_path / "a.db"
    old = fs.Sweep(fs.Run(log(), TORUS), {"runtime_factor": [1.0, 2.0]}).run(store)
    new = fs.Sweep(fs.Run(log(seed=1), TORUS), {"runtime_factor": [1.0, 2.0]}).run(store)
    assert not set(old["run"]) & set(new["run"])
    assert (old["mean_wait"] != new["mean_wait"]).all()
    with contextlib.closing(sqlite3.connect(store)) as db:
        assert db.execute("SELECT count(*) FROM sweep").fetchone() == (2,)


def test_rows_can_be_read_with_ordinary_tools(tmp_path):
    store = tmp_path / "a.db"
    table = fs.Sweep(fs.Run(log(), TORUS), {"runtime_factor": [1.0, 2.0]}, name="two").run(store)
    db = sqlite3.connect(store)
    rows = db.execute("SELECT sweep_name, axes, mean_wait, status FROM results ORDER BY task").fetchall()
    db.close()
    assert [json.loads(row[1]) for row in rows] == [{"runtime_factor": 1.0}, {"runtime_factor": 2.0}]
    assert [row[2] for row in rows] == table["mean_wait"].tolist()
    assert {(row[0], row[3]) for row in rows} == {("two", "ok")}


def test_a_run_that_fails_is_a_row_with_its_error(tmp_path):
    store = tmp_path / "a.db"
    sweep = fs.Sweep({"log": log()}, {"machine": [fs.Cluster(4), fs.Cluster(16)]})
    table = sweep.run(store)
    assert table["status"].tolist() == ["error", "ok"]
    assert "larger than the machine" in table.errors[0]
    assert np.isnan(table["mean_wait"][0])
    same(table, sweep.run(store))
    same(table, sweep.run(store, retry=True))
    assert fs.load_sweep(store).errors == table.errors


def test_short_runs_that_are_made_together_do_not_touch_each_other():
    class Broken(fs.Placement):
        def choose(self, job, candidates, state):
            raise RuntimeError("no box for this job")

    torus = fs.Torus(2, 2, 2)
    logs = [
        fs.synthetic.exponential(30, rng=k, mean_gap=60, mean_runtime=90, mean_size=2, max_size=8) for k in range(40)
    ]
    runs = [fs.Run(log, torus, placement=Broken() if k % 7 == 3 else fs.FirstFit()) for k, log in enumerate(logs)]
    runs[20] = fs.Run(fs.Workload(submit=[0.0], runtime=[1.0], size=[9]), torus)
    runs[21] = fs.Run(fs.synthetic.nasa_like(2000, rng=0), fs.Torus(4, 4, 8))  # many slices
    done = do(runs, Wanted())
    assert len(done) == len(runs)
    assert sorted(done.errors) == sorted([20, *range(3, 40, 7)])
    assert "1 of 1 jobs" in done.errors[20]
    assert done.errors[3].startswith("RuntimeError: no box for this job")
    for position, run in enumerate(runs):
        if position not in done.errors:
            assert done.rows[position].tolist() == numbers(run.simulate())
    assert np.isnan(done.rows[sorted(done.errors)]).all()


def test_a_worker_that_is_told_to_stop_gives_back_what_it_has():
    class Stop:
        looks = 0

        def is_set(self):
            self.looks += 1
            return self.looks > 4

    log = fs.synthetic.nasa_like(50, rng=0)
    runs = [fs.Run(log, fs.Cluster(128), start_delay=float(k)) for k in range(100)]
    done = do(runs, Wanted(), Stop())
    assert 0 < len(done) < len(runs)
    assert done.rows[len(done) - 1].tolist() == numbers(runs[len(done) - 1].simulate())


@pytest.mark.parametrize("replicates", [1, 5])
def test_shards_are_the_whole(replicates, tmp_path):
    sweep = fs.Sweep(DRAWN, {"start_delay": [0.0, 1.0, 2.0]}, replicates=replicates)
    whole = sweep.run()
    parts = [sweep.run(tmp_path / f"{i}.db", shard=(i, 2)) for i in (1, 2)]
    assert sum(part.n_rows for part in parts) == whole.n_rows
    assert sorted(np.concatenate([part["run"] for part in parts])) == sorted(whole["run"])
    assert not parts[0].complete
    everything = {place for i in (1, 2) for place in places(sweep._maker, (i, 2))}
    assert len(everything) == len(sweep)


@pytest.mark.parametrize("shard", ["0/2", "3/2", "a/b", "1", (1, 2, 3)])
def test_a_wrong_shard_is_refused(shard):
    refused(fs.OptionError, "shard must be i/n", fs.Sweep(fs.Run(log(), TORUS)).run, shard=shard)


# -- metrics with a cut-off


def test_warmup_and_drain_leave_jobs_out_of_the_metrics_over_jobs():
    base = {**DRAWN, "log": log(100)}
    table = fs.Sweep(base, warmup=0.1, drain=0.25).run()
    result = next(iter(fs.Sweep(base).tasks())).run.simulate()
    jobs = {name: column[10:75] for name, column in result.jobs.items()}
    assert table["n_jobs"][0] == 65
    assert table["mean_wait"][0] == jobs["wait"].mean()
    assert table["failed_jobs"][0] == (jobs["restarts"] > 0).sum()
    assert table["backfilled"][0] == jobs["backfilled"].sum()
    assert table["utilization"][0] == result.metrics["utilization"]


def test_metrics_over_jobs_are_those_that_hang_on_rows_only():
    result = next(iter(fs.Sweep(DRAWN).tasks())).run.simulate()
    whole = dict(zip(COLUMNS, numbers(result), strict=True))
    cut = dict(zip(COLUMNS, numbers(result, (0.2, 0.2)), strict=True))
    changed = {name for name in COLUMNS if whole[name] != cut[name]}
    assert changed <= {name for name, metric in fs.METRICS.items() if metric.per_job}


# -- the table


def test_a_table_can_be_cut_and_taken_away():
    table = fs.Sweep(DRAWN, {**POLICIES_TWO, "start_delay": [0.0, 1.0]}, replicates=3).run()
    assert table.axes == ("policy", "start_delay")
    part = table.select(policy="new", replicate=[0, 2])
    assert part.n_rows == 4
    assert set(part["replicate"]) == {0, 2}
    assert part.complete
    assert table.where(table["start_delay"] > 0).n_rows == 6
    frame = table.to_pandas()
    assert frame.groupby(["policy", "start_delay"])["mean_wait"].count().tolist() == [3] * 4
    assert table.to_arrow().num_rows == 12
    refused(fs.OptionError, r"no axis 'polcy' .*did you mean 'policy'", table.select, polcy="new")
    refused(fs.OptionError, "no value 'newer'; it has: 'old', 'new'", table.select, policy="newer")
    with pytest.raises(KeyError, match="did you mean 'mean_wait'"):
        table["mean_wat"]
    assert not table["mean_wait"].flags.writeable


def test_an_axis_takes_the_name_of_a_metric():
    traces = {"few": fs.FailureTrace([50], [0], 10), "many": fs.FailureTrace([50, 60, 70], [0, 1, 2], 10)}
    table = fs.Sweep({"log": log(), "machine": TORUS}, {"failures": traces}).run()
    assert table["failures"].tolist() == ["few", "many"]
    assert table["metric:failures"].tolist() == [1.0, 3.0]
    assert "metric:failures" in table.metrics


def test_a_store_is_read_while_the_sweep_runs(tmp_path):
    store = tmp_path / "a.db"
    sweep = fs.Sweep(DRAWN, {"start_delay": list(range(30))}, name="slow")
    seen = []
    sweep.run(store, workers=1, progress=lambda done, *_: seen.append((done, fs.load_sweep(store).n_rows)))
    assert [rows for _, rows in seen] == [done for done, _ in seen]
    assert len(seen) > 3
    assert fs.load_sweep(store, "slow").complete
    refused(fs.OptionError, "has no sweep 'fast'; it has: slow", fs.load_sweep, store, "fast")
