"""Results of other model revisions: refused with what to do, read where that is allowed, never mixed with others."""

import contextlib
import copy
import json
import pickle
import shutil
import sqlite3
import warnings

import numpy as np
import pytest

import faultsim as fs
from faultsim.cli.app import main
from faultsim.errors import MOST
from faultsim.results import revision as revision_module
from faultsim.results.provenance import Record
from faultsim.results.revision import check_pickle, check_revision
from faultsim.sweep.merge import merge
from faultsim.sweep.store import Store
from helpers.older import older_result, older_store, with_revision
from helpers.refusals import refused

NOW = fs.MODEL_REVISION
LOG = fs.Workload(submit=[0, 1, 2], runtime=[10, 5, 5], size=[2, 2, 1], name="three jobs")
OLD = "of an older version without a model revision, and this version computes revision"
REMEDY = r"or read it as it is with allow_older_results=True \(--allow-older-results\)"
CAVEAT = f"whose numbers may differ from those of revision {NOW}, which this version computes"


def sweep(**options):
    return fs.Sweep(fs.Run(LOG, fs.Cluster(2)), {"start_delay": [0.0, 1.0]}, name="delays", **options)


@pytest.fixture
def store(tmp_path):
    sweep().run(tmp_path / "new.db", workers=1)
    return tmp_path / "new.db"


@pytest.fixture
def saved(tmp_path):
    fs.simulate(LOG, fs.Cluster(2), record=True).save(tmp_path / "run.npz")
    return tmp_path / "run.npz"


@pytest.fixture
def flows(tmp_path):
    fs.simulate_workflows(fs.Workflow([4, 4], [(0, 1, 1)]), fs.Resources(2)).save(tmp_path / "flows.npz")
    return tmp_path / "flows.npz"


def rows(path):
    with contextlib.closing(sqlite3.connect(path)) as db:
        return [db.execute(f"SELECT * FROM {table}").fetchall() for table in ("run", "task", "sweep", "environment")]


# -- what is written


def test_everything_that_holds_results_has_the_revision(store, saved, flows, tmp_path, capsys):
    with contextlib.closing(sqlite3.connect(store)) as db:
        assert db.execute("SELECT revision FROM model").fetchall() == [(NOW,)]
        assert db.execute("PRAGMA user_version").fetchone() == (3,)
    assert fs.load_sweep(store).model_revision == sweep().run().model_revision == NOW
    result = fs.load_result(saved)
    assert result.model_revision == result.provenance["model_revision"] == NOW
    again = fs.load_workflow_result(flows)
    assert again.model_revision == again.settings["model_revision"] == NOW
    result.write_swf(tmp_path / "run.swf")
    assert f"; Note: of model revision {NOW}\n" in (tmp_path / "run.swf").read_text()
    for argv in (["show", saved], ["show", flows], ["status", store], ["run", "--jobs", "20"]):
        assert main([*map(str, argv), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["model_revision"] == NOW
    assert result.warnings == ("3 of 3 jobs have no requested time; their run time is used instead",)


def test_the_name_of_a_run_covers_the_revision(monkeypatch):
    before = [task.id for task in sweep().tasks()]
    monkeypatch.setattr("faultsim.sweep.task_hash.MODEL_REVISION", NOW + 1)
    assert not set(before) & {task.id for task in sweep().tasks()}


# -- stores


@pytest.mark.parametrize("digests", [True, False])
def test_stores_of_older_versions_are_refused_and_read_where_allowed(digests, store, tmp_path):
    old = older_store(store, tmp_path / "old.db", digests=digests)
    before = rows(old)
    for call in (fs.load_sweep, sweep().run, sweep().fill):
        refused(fs.StoreError, f"old.db: {OLD} {NOW}, whose numbers may differ: .*{REMEDY}", call, old)
    refused(fs.StoreError, "make its runs again in a new store", fs.load_sweep, old)
    refused(fs.StoreError, "name another store for new runs", sweep().run, old)
    table, new = fs.load_sweep(old, allow_older_results=True), fs.load_sweep(store)
    np.testing.assert_array_equal(table["mean_wait"], new["mean_wait"])
    assert table.model_revision is None
    assert table.warnings == table[:1].warnings == (f"of an older version without a model revision, {CAVEAT}",)
    assert new.warnings == ()
    assert rows(old) == before


def test_stores_of_another_revision_are_refused_and_read_where_allowed(store):
    with_revision(store, NOW - 1)
    said = f"new.db: of model revision {NOW - 1}, and this version computes revision {NOW}, whose numbers may differ"
    refused(fs.StoreError, f"{said}: make its runs again in a new store, {REMEDY}", fs.load_sweep, store)
    refused(fs.StoreError, f"{said}: name another store for new runs, {REMEDY}", sweep().run, store)
    assert fs.load_sweep(store, allow_older_results=True).model_revision == NOW - 1
    with_revision(store, NOW + 1)
    for allow in (True, False):
        said = f"of model revision {NOW + 1}, and this version computes revision {NOW}: update faultsim"
        refused(fs.StoreError, said, fs.load_sweep, store, allow_older_results=allow)
    refused(fs.StoreError, "update faultsim", sweep().run, store)


@pytest.mark.parametrize("statement", ["DELETE FROM model", "INSERT INTO model VALUES (1, 1)", "DROP TABLE model"])
def test_a_store_has_one_revision(statement, store):
    with contextlib.closing(sqlite3.connect(store)) as db, db:
        db.execute(statement)
    refused(fs.StoreError, "new.db: damaged", fs.load_sweep, store, allow_older_results=True)


@pytest.mark.parametrize("value", [0, -1, "two", 2**40])
def test_what_is_no_revision_is_damage(value, store):
    with contextlib.suppress(sqlite3.IntegrityError):
        with_revision(store, value)
        refused(fs.StoreError, "damaged: its model revision is", fs.load_sweep, store, allow_older_results=True)


def test_runs_of_a_list_are_not_added_to_an_older_store(store):
    from typing import NamedTuple

    from faultsim.sweep.run_list import RunList

    class Setting(NamedTuple):
        nodes: int

    make = lambda setting, c: fs.Run(LOG, fs.Cluster(setting.nodes))  # noqa: E731
    listed = RunList("list", {Setting(2): {"c": [1.0]}}, make, {"wait": "mean_wait"})
    refused(fs.StoreError, f"of model revision {NOW - 1}", listed.run, with_revision(store, NOW - 1))


# -- merging


def shards(tmp_path):
    found = [tmp_path / f"{part}.db" for part in (1, 2)]
    for part, path in enumerate(found, 1):
        sweep().run(path, shard=(part, 2), workers=1)
    return found


@pytest.mark.parametrize("allow", [True, False])
def test_shards_of_two_revisions_are_not_joined(allow, tmp_path):
    one, two = shards(tmp_path)
    with_revision(two, NOW - 1)
    for sources in ([one, two], [two, one]):
        refused(
            fs.StoreError, "of model revision .*; numbers of two revisions are not joined: make the older runs again",
            merge, tmp_path / "all.db", sources, allow_older_results=allow,
        )  # fmt: skip
    assert not (tmp_path / "all.db").exists()
    before = rows(one)
    refused(fs.StoreError, "two revisions are not joined", merge, one, [two], allow_older_results=allow)
    refused(fs.StoreError, "two revisions are not joined", merge, two, [one], allow_older_results=allow)
    assert rows(one) == before
    old = older_store(one, tmp_path / "old.db")
    refused(fs.StoreError, "two revisions are not joined", merge, one, [old], allow_older_results=allow)


def test_shards_without_a_revision_are_not_joined(tmp_path):
    old = [older_store(path, tmp_path / f"old-{path.name}") for path in shards(tmp_path)]
    for allow in (True, False):
        said = "old-1.db: of an older version without a model revision, so that its numbers and those of .*old-2.db"
        refused(fs.StoreError, said, merge, tmp_path / "all.db", old, allow_older_results=allow)
    refused(fs.StoreError, "copy the file", merge, tmp_path / "all.db", old[:1], allow_older_results=True)
    assert not (tmp_path / "all.db").exists()


def test_shards_of_one_older_revision_are_joined_where_allowed(tmp_path):
    parts, target = [with_revision(path, NOW - 1) for path in shards(tmp_path)], tmp_path / "all.db"
    refused(fs.StoreError, f"of model revision {NOW - 1}.*{REMEDY}", merge, target, parts)
    assert not target.exists()
    assert merge(target, parts, allow_older_results=True) == (2, 2, 0)
    assert merge(target, parts, allow_older_results=True) == (0, 0, 0)
    refused(fs.StoreError, f"of model revision {NOW - 1}", fs.load_sweep, target)
    table = fs.load_sweep(target, allow_older_results=True)
    assert table.complete
    assert table.model_revision == NOW - 1
    refused(fs.StoreError, "name another store", sweep().run, target)


# -- saved results


def test_saved_results_of_older_versions_are_refused_and_read_where_allowed(saved, flows):
    for path, keys, read in (
        (saved, ["provenance"], fs.load_result),
        (flows, ["settings"], fs.load_workflow_result),
    ):
        new = read(path)
        older_result(path, *keys)
        refused(
            fs.InputError, rf"{path.name}: {OLD} {NOW}, whose numbers may differ: simulate again, {REMEDY}", read, path
        )
        old = read(path, allow_older_results=True)
        assert old.model_revision is None
        assert old.warnings == (f"of an older version without a model revision, {CAVEAT}", *new.warnings)
        assert f"note: {old.warnings[0]}" in str(old)
        np.testing.assert_array_equal(old.jobs["finish"], new.jobs["finish"])
        old.save(path)  # it is as old as before
        refused(fs.InputError, OLD, read, path)
        assert read(path, allow_older_results=True).model_revision is None
        for copied in (copy.copy(old), copy.deepcopy(old), pickle.loads(pickle.dumps(old))):
            assert copied.model_revision is None
            assert copied.warnings == old.warnings


@pytest.mark.parametrize("found", [NOW - 1, NOW + 1])
def test_saved_results_of_another_revision_are_refused(found, saved, flows):
    older_result(saved, "provenance", revision=found)
    older_result(flows, "settings", revision=found)
    for path, read in ((saved, fs.load_result), (flows, fs.load_workflow_result)):
        refused(fs.InputError, f"{path.name}: of model revision {found}, and this version computes", read, path)
        if found < NOW:
            assert read(path, allow_older_results=True).model_revision == found
        else:
            refused(fs.InputError, "update faultsim", read, path, allow_older_results=True)


@pytest.mark.parametrize("found", [True, 0, -3, 2.0, "3", [3]])
def test_what_is_no_revision_is_refused(found, saved, flows):
    older_result(saved, "provenance", revision=found)
    older_result(flows, "settings", revision=found)
    for path, read in ((saved, fs.load_result), (flows, fs.load_workflow_result)):
        refused(fs.InputError, f"{path.name}: not a saved result.*", read, path, allow_older_results=True)


def test_rerun_says_that_a_result_is_older(saved):
    new = fs.load_result(saved)
    older_result(saved, "provenance", revision=NOW - 1)
    old = fs.load_result(saved, allow_older_results=True)
    with pytest.warns(UserWarning, match=rf"rerun: the result is of model revision {NOW - 1}, .*computed again"):
        again = fs.rerun(old)
    assert again.model_revision == NOW
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fs.rerun(new).warnings == again.warnings


# -- pickles


def test_pickles_of_another_revision_are_refused_by_name(monkeypatch):
    simulation = fs.Simulation(LOG, fs.Cluster(2))
    simulation.step()
    flow = fs.simulate_workflows(fs.Workflow([4, 4]), fs.Resources(2))
    results = [fs.simulate(LOG, fs.Cluster(2)), flow, sweep().run(), simulation]
    pickles = [pickle.dumps(result) for result in results]
    for result, packed in zip(results, pickles, strict=True):
        assert type(pickle.loads(packed)) is type(result)
    for module in ("results.revision", "results.workflow_result", "sweep.table", "simulation.stepping"):
        monkeypatch.setattr(f"faultsim.{module}.MODEL_REVISION", NOW + 1)
    for result, packed in zip(results, pickles, strict=True):
        said = (
            f"this pickle of a {type(result).__name__} is of model revision {NOW}, and this version computes revision"
        )
        refused(fs.InputError, said, pickle.loads, packed)


def test_pickles_of_older_versions_are_refused_by_name():
    """They have the attributes alone."""
    result = fs.simulate(LOG, fs.Cluster(2))
    for made in (result, sweep().run()):
        empty = type(made).__new__(type(made))
        refused(fs.InputError, f"this pickle of a {type(made).__name__} is of an older", empty.__setstate__, vars(made))

    class OfRelease010:
        def __reduce__(self):  # a dataclass
            return Record, (), {"settings": {}, "source": ""}

    refused(fs.InputError, "this pickle of a Result is of an older", pickle.loads, pickle.dumps(OfRelease010()))
    flow = fs.simulate_workflows(fs.Workflow([4, 4]), fs.Resources(2))
    restore, given = flow.__reduce__()
    refused(fs.InputError, "this pickle of a WorkflowResult is of an older version", restore, *given[:3])
    state = fs.Simulation(LOG, fs.Cluster(2)).__getstate__()
    del state["model_revision"]
    empty = object.__new__(fs.Simulation)
    refused(fs.InputError, "this pickle of a Simulation is of an older version", empty.__setstate__, state)


# -- the command line


def test_commands_refuse_older_results_and_read_them_where_allowed(store, saved, flows, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    old = older_store(store, tmp_path / "old.db")
    older_result(saved, "provenance")
    older_result(flows, "settings")
    picture = str(tmp_path / "a.svg")
    commands = [
        ["status", old], ["status", old, "--metric", "mean_wait"], ["status", old, "--json"], ["show", old],
        ["show", saved], ["show", flows], ["show", saved, "--json"],
        ["plot", "sweep", old, "--x", "start_delay", "-o", picture], ["plot", "wait", saved, "-o", picture],
        ["status", old, "--report", tmp_path / "r.html"],
    ]  # fmt: skip
    before = rows(old)
    for argv in commands:
        words = list(map(str, argv))
        assert main(words) == 2
        error = capsys.readouterr().err
        assert OLD in error
        assert "--allow-older-results" in error
        assert main([*words, "--allow-older-results"]) == 0
        said = capsys.readouterr().out
        assert said.count(CAVEAT) == 1, words
    assert CAVEAT in (tmp_path / "r.html").read_text()
    assert rows(old) == before


SPEC = """
name = "two"
[base]
log = { synthetic = "nasa_like", jobs = 20 }
machine = "cluster:128"
[grid]
load = [0.5, 0.7]
"""


def test_a_sweep_makes_no_runs_for_an_older_store(tmp_path, capsys):
    spec, store = tmp_path / "s.toml", tmp_path / "s.db"
    spec.write_text(SPEC)
    words = ["sweep", str(spec), "--quiet"]
    assert main([*words, "--allow-older-results"]) == 0  # a new store
    with_revision(store, NOW - 1)
    before = rows(store)
    capsys.readouterr()
    for more in ([], ["--dry-run"]):
        assert main([*words, *more]) == 2
        assert f"s.db: of model revision {NOW - 1}, and this version computes" in capsys.readouterr().err
    assert main([*words[:2], "--allow-older-results"]) == 0
    said = capsys.readouterr().out
    assert "rows    2: 2 are there, and no run is made" in said
    assert CAVEAT in said
    assert main([*words[:2], "--allow-older-results", "--metric", "mean_wait", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["made"], document["rows"]) == (0, 2)
    assert CAVEAT in document["warnings"][0]
    assert rows(store) == before
    shutil.copy(store, tmp_path / "old.db")
    store.unlink()
    assert main(words) == 0
    capsys.readouterr()
    for option in ([], ["--allow-older-results"]):
        assert main(["merge", str(store), str(tmp_path / "old.db"), *option]) == 2
        assert "numbers of two revisions are not joined" in capsys.readouterr().err


def test_results_of_two_revisions_are_not_drawn_together(saved, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    new = tmp_path / "new.npz"
    shutil.copy(saved, new)
    older_result(saved, "provenance")
    assert main(["plot", "wait", str(saved), str(new), "-o", str(tmp_path / "a.svg"), "--allow-older-results"]) == 2
    assert "results of more than one model revision are not compared" in capsys.readouterr().err


def test_messages_fit_in_a_line():
    for found in (None, NOW - 1, NOW + 1):
        with pytest.raises(fs.InputError) as raised:
            check_revision("x" * 60, found, "make its runs again in a new store")
        assert len(str(raised.value)) <= MOST
    with pytest.raises(fs.InputError) as raised:
        check_pickle("WorkflowResult", None)
    assert len(str(raised.value)) <= MOST
    assert revision_module.ALLOW in str(raised.value)


def test_a_store_of_one_revision_takes_no_rows_of_another(tmp_path):
    with Store(tmp_path / "a.db", revision=NOW - 1):
        pass
    refused(fs.StoreError, f"of model revision {NOW - 1}", Store, tmp_path / "a.db")
    with Store(tmp_path / "b.db"):
        pass
    refused(fs.StoreError, "name another store for new runs", Store, tmp_path / "b.db", revision=NOW - 1)
