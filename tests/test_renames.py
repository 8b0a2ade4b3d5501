"""Every old name of `faultsim.renames` works, warns with the new one, and gives the same."""

import dataclasses
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import faultsim as fs
from faultsim.cli.app import main
from faultsim.policies import from_lowered, parse_policy
from faultsim.policies.registry import POLICIES
from faultsim.renames import RENAMES, UNTIL, OldNameWarning, Rename, current
from faultsim.sweep.axes import JOBS
from faultsim.sweep.input_sources import failures_source
from helpers.refusals import refused

LOG = fs.Workload(submit=[0, 60, 90], runtime=[100, 30, 5], size=[4, 1, 2])
TRACE = fs.FailureTrace([60, 600, 700], [0, 1, 2], 120, span=1000)
RACKS = fs.Domains.hosts(8)
FLOW = fs.Workflow([1, 2], [(0, 1, 4)])
#: What has the old methods, and arguments for each.
OBJECTS = {"Workload": LOG, "FailureTrace": TRACE, "Workflow": FLOW, "Result": fs.simulate(LOG, fs.Cluster(8))}
#: Function -> the call by today's names.
CALLS = {
    "Workload.with_runtime_factor": (LOG.with_runtime_factor, (), {"factor": 2}),
    "Workload.with_gap_factor": (LOG.with_gap_factor, (), {"factor": 2}),
    "Workload.with_size_factor": (LOG.with_size_factor, (), {"factor": 2}),
    "Workload.with_load": (LOG.with_load, (), {"load": 0.5, "nodes": 4}),
    **{name: (getattr(fs.synthetic, name), (), {"jobs": 20, "rng": 1}) for name in ("nasa_like", "sdsc_like")},
    **{name: (getattr(fs.synthetic, name), (), {"jobs": 20, "rng": 1}) for name in ("llnl_like", "lublin")},
    "exponential": (fs.synthetic.exponential, (), {"jobs": 20, "rng": 1, "mean_gap": 60, "mean_runtime": 600}),
    "hyper_erlang": (fs.synthetic.hyper_erlang, (), {"jobs": 20, "rng": 1, "model": fs.synthetic.lublin(99, rng=2)}),
    "random_dag": (fs.synthetic.random_dag, (), {"jobs": 20, "rng": 1}),
    "bench_dags": (fs.synthetic.bench_dags, (), {"n": 2, "rng": 1}),
    "weibull_failures": (fs.synthetic.weibull_failures, (8,), {"span": 9e6, "shape": 0.8, "scale": 18_000, "rng": 1}),
    "exponential_failures": (fs.synthetic.exponential_failures, (8,), {"span": 9e6, "mtbf": 1e5, "rng": 1}),
    "renewal_failures": (fs.synthetic.renewal_failures, (8,), {"span": 9e6, "mtbf": 1e5, "downtime": 60, "rng": 1}),
    "domain_failures": (fs.synthetic.domain_failures, (RACKS, 9e6), {"per_day": 0.1, "downtime": 60, "rng": 1}),
    "plan": (lambda *args, **named: repr(fs.plan(*args, **named)), ("tpu-v4",), {"mtbf": "30d", "downtime": "1h"}),
    "FailureTrace": (fs.FailureTrace, (), {"time": [1], "node": [0], "downtime": 5, "coin": [0.5], "span": 9}),
}


def rows(kind: str) -> pytest.MarkDecorator:
    found = [row for row in RENAMES if row.kind == kind]
    assert found
    return pytest.mark.parametrize("row", found, ids=lambda row: f"{row.owner}.{row.old}")


def heard(row: Rename) -> pytest.WarningsRecorder:
    return pytest.warns(OldNameWarning, match=rf"{re.escape(row.old)}.* is an old name.*write .*{re.escape(row.new)}")


@rows("method")
def test_methods(row):
    owner, given = OBJECTS[row.owner], "-" if row.owner == "Result" else 2
    with heard(row) as said:
        old = getattr(owner, row.old)(given)
    assert Path(said[0].filename) == Path(__file__)
    assert old == getattr(owner, row.new)(given)
    assert row.old not in dir(owner)
    with pytest.raises(AttributeError, match="has no attribute 'zebra'"):
        _ = owner.zebra


@rows("argument")
def test_arguments(row):
    function, given, named = CALLS[row.owner]
    others = {name: value for name, value in named.items() if name != row.new}
    with heard(row) as said:
        old = function(*given, **others, **{row.old: named[row.new]})
    assert Path(said[0].filename) == Path(__file__)
    assert old == function(*given, **named)
    refused(fs.OptionError, f"{row.new} is given twice", twice, row, function, given, named)


def twice(row, function, given, named):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OldNameWarning)
        function(*given, **named, **{row.old: named[row.new]})


@rows("attribute")
def test_attributes(row):
    thing = {"Resources": fs.Resources(3), "PodPlan": fs.plan("tpu-v4", mtbf="30d", downtime="1h")}[row.owner]
    with heard(row) as said:
        assert getattr(thing, row.old) == getattr(thing, row.new)
    assert Path(said[0].filename) == Path(__file__)


@rows("column")
def test_columns(row):
    table = {"jobs": fs.simulate(LOG, fs.Cluster(8)).jobs}[row.owner]
    with heard(row) as said:
        assert table[row.old] is table[row.new]
    assert Path(said[0].filename) == Path(__file__)


@rows("place")
def test_places(row):
    function, _, named = CALLS[row.owner]
    before = list(named)[: list(named).index(row.new) + 1]
    with heard(row):
        old = function(*(named[name] for name in before), **{k: v for k, v in named.items() if k not in before})
    assert old == function(**named)


@rows("parameter")
def test_parameters(row):
    found = next(each for each in POLICIES if each.cls.__name__ == row.owner)
    rest = {"cost": 30, "mtbf": 9e6} if found.cls is fs.MaxAvailability else {}
    new = found.cls(**rest, **{row.new: 1})
    with heard(row) as said:
        assert found.cls(**rest, **{row.old: 1}) == new
    assert Path(said[0].filename) == Path(__file__)
    with heard(row):
        assert getattr(new, row.old) == getattr(new, row.new) == 1
    with heard(row):
        assert (
            parse_policy(found.kind, ",".join([f"{found.name}:{row.old}=1", *(f"{k}={v:g}s" for k, v in rest.items())]))
            == new
        )
    assert (
        from_lowered(found.kind, {"name": found.name, **rest, row.old: 1}) == new
    )  # of a saved result, without a word
    assert not hasattr(new, "zebra")
    assert dataclasses.replace(new, **{row.new: 1}) == new
    if found.kind == "predictor":
        options = {"predictor": found.cls(0.5)}
        with heard(row):
            JOBS.set_parameters(options, {f"predictor.{row.old}": 1})
        assert options == {"predictor": new}


@rows("option")
def test_options(row, capsys, tmp_path):
    trace = tmp_path / "trace.csv"
    TRACE.write_csv(trace)
    words = row.owner.split()[1:]
    if row.owner == "faultsim plan":
        said = [(main(["plan", "--mtbf", "30d", option, "1h"]), capsys.readouterr().out) for option in (row.new,)]
        with heard(row):
            assert [(main(["plan", "--mtbf", "30d", row.old, "1h"]), capsys.readouterr().out)] == said
        return
    made = {
        "generate": ["renewal" if row.old == "--mttr" else "exponential"],
        "convert": [str(trace)],
        "summary": [str(trace), "--json"],
    }[words[1]]
    out = tmp_path / "out.csv"
    last = [] if words[1] == "summary" else [str(out)]

    def done(*option: str) -> str:
        assert main([*words, *made, *last, *option]) == 0
        return out.read_text() if last else capsys.readouterr().out

    new = done(row.new, f"2000{row.unit}")
    for option in ([row.old, "2000"], [f"{row.old}=2000"]):
        with heard(row):
            assert done(*option) == new


def test_options_are_said_on_the_terminal(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["faultsim", "failures", "generate", "exponential", "-", "--days", "1"])
    monkeypatch.setattr("sys.warnoptions", [])
    with warnings.catch_warnings():
        assert main() == 0
    assert capsys.readouterr().err == (
        "faultsim: warning: --days of faultsim failures generate is an old name, until version 1.0: write --span with "
        "the unit d\n"
    )


@rows("key")
def test_keys(row, tmp_path):
    table = {"synthetic": "renewal", "mtbf": 1e5, "downtime": 60, "span": 9e6}
    del table[row.new]
    with heard(row):
        old = failures_source({**table, row.old: 9e4}, tmp_path)
    new = failures_source({**table, row.new: 9e4}, tmp_path)
    assert repr(old) == repr(new)
    assert old(np.random.default_rng(1), fs.Cluster(8), LOG) == new(np.random.default_rng(1), fs.Cluster(8), LOG)


def test_every_kind_has_a_test():
    assert {row.kind for row in RENAMES} == {
        "method", "attribute", "column", "argument", "place", "parameter", "option", "key",
    }  # fmt: skip
    assert len({(row.kind, row.owner, row.old) for row in RENAMES}) == len(RENAMES)


def test_keys_that_are_not_old_stay():
    assert current("key", "failures", {"span": 1, "mtbf": 2}) == {"span": 1, "mtbf": 2}


def test_the_page_lists_each():
    page = (Path(fs.__file__).parents[1] / "docs" / "background" / "stability.md").read_text(encoding="utf-8")
    section = page.partition("## Old names and units")[2]
    assert f"version {UNTIL}" in section
    table = [line for line in section.splitlines() if line.startswith("|")]
    for row in RENAMES:
        assert any(re.search(rf"\b{row.old.strip('-')}\b.*\|.*\b{row.new.strip('-')}\b", line) for line in table), row


@pytest.mark.parametrize("rng", [7, np.random.SeedSequence(7), np.random.default_rng(7)], ids=lambda rng: type(rng))
def test_rng_may_be_any_of_three(rng):
    assert len(fs.synthetic.nasa_like(20, rng=rng)) == 20
    assert len(TRACE.with_count(2, rng=rng)) == 2
    assert len(TRACE.map_nodes(2, "permute", rng=rng)) == 3
    assert fs.PredictionTrace.at_accuracy(TRACE, 1, 0, rng=rng).time.size == 3


@pytest.mark.parametrize("rng", [-1, 1.5, None, "1", True])
def test_what_is_no_rng(rng):
    for call in (
        lambda: fs.synthetic.nasa_like(20, rng=rng),
        lambda: fs.synthetic.renewal_failures(2, 10, 5, 1, any_rate=True, rng=rng),
        lambda: TRACE.with_count(2, rng=rng),
        lambda: fs.PredictionTrace.at_accuracy(TRACE, 1, 0, rng=rng),
    ):
        refused(fs.OptionError, r"^rng.*", call)


def test_a_seed_sequence_is_its_seed():
    assert fs.synthetic.nasa_like(20, rng=np.random.SeedSequence(7)) == fs.synthetic.nasa_like(20, rng=7)


def test_workloads_and_traces_are_made_alike():
    assert fs.Workload([0, 60, 90], [100, 30, 5], [4, 1, 2]) == LOG
    assert fs.FailureTrace(time=[60, 600, 700], node=[0, 1, 2], downtime=120, span="1000s") == TRACE
    with pytest.raises(TypeError, match="positional argument"):
        fs.Workload([0], [1], [1], [1])
