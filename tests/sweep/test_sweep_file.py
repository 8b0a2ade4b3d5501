"""Sweeps as TOML files: they say what the Python form says, and mistakes are told with their lines."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faultsim as fs
from faultsim.sweep.input_sources import FAILURES, LOGS, failures_source, log_source
from faultsim.sweep.toml_lines import lines
from helpers.command import run
from helpers.refusals import refused

HEAD = """
[base]
log = { synthetic = "nasa_like", jobs = 50 }
machine = "torus:4x4x8"
"""
WHOLE = """
name = "whole"
replicates = 2
warmup = 0.1
[base]
log = { synthetic = "nasa_like", jobs = 60 }
machine = "torus:4x4x8"
failures = { synthetic = "exponential", mtbf = 400000.0, downtime = 60.0 }
estimates = "actual"
start_delay = 1.0
predictor.probability = 0.5
[grid]
scheduler = ["fcfs", "easy:reservation=fixed"]
[grid.policy.krevat]
placement = "mfp"
migration = "defragment"
predictor = "confidence:0.1"
[grid.policy.oliner]
placement = "balancing"
predictor = "confidence:0.1"
[[zip]]
runtime_factor = [0.8, 1.2]
gap_factor = [1.0, 1.1]
[[cells]]
overrun = "kill"
[[cells]]
recovery = "hold"
"""


def written(tmp_path, text, name="s.toml"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_a_file_with_orders_that_are_expressions(tmp_path):
    text = """
[base]
log = { synthetic = "nasa_like", jobs = 60 }
machine = "cluster:128"
[grid]
scheduler.order = ["f1", "estimate * size", "where(wait > 60, 0, 1)"]
"""
    table = fs.read_sweep(written(tmp_path, text)).run()
    assert list(table["scheduler.order"]) == ["f1", "estimate * size", "where(wait > 60, 0, 1)"]


def test_a_file_says_what_the_python_form_says(tmp_path):
    def log(rng):
        return fs.synthetic.nasa_like(60, rng=rng)

    def failures(rng, machine, log):
        horizon = log.submit[-1] + log.runtime.max()
        return fs.synthetic.exponential_failures(nodes=128, span=horizon, mtbf=400_000, downtime=60, rng=rng)

    base = {
        "log": log,
        "machine": fs.Torus(4, 4, 8),
        "failures": failures,
        "estimates": "actual",
        "start_delay": 1.0,
        "predictor.probability": 0.5,
    }
    krevat = {"placement": fs.MaxFreePartition(), "migration": fs.Defragment(), "predictor": fs.Confidence(0.1)}
    oliner = {"placement": fs.Balancing(), "predictor": fs.Confidence(0.1)}
    grid = {
        "scheduler": [fs.Fcfs(), fs.EasyBackfill(reservation="fixed")],
        "policy": {"krevat": krevat, "oliner": oliner},
    }
    python = fs.Sweep(
        base,
        grid,
        zipped={"runtime_factor": [0.8, 1.2], "gap_factor": [1.0, 1.1]},
        cells=[{"overrun": "kill"}, {"recovery": fs.Hold()}],
        replicates=2,
        warmup=0.1,
        name="whole",
    )
    file = fs.read_sweep(written(tmp_path, WHOLE))
    assert repr(file) == repr(python)
    assert file.id == python.id
    assert [t.id for t in file.tasks()] == [t.id for t in python.tasks()]
    assert [dict(t.labels) for t in file.tasks()] == [dict(t.labels) for t in python.tasks()]


def test_all_mistakes_are_told_at_once_with_their_lines(tmp_path):
    text = """replicats = 5
seed = 3
warmup = "x"
[base]
log = { synthetic = "nasa_lik", jobs = 300 }
machine = "tors:4x4x8"
failures = { synthetic = "weibull", shap = 0.85, scale = 18000 }
[grid]
load = [
  0.7,
  "x",
]
runtime_facter = [1]
scheduler = ["esy", "fcfs"]
gap_factor = 2
predictor.probability = []
[grid.policy.krevat]
placment = "mfp"
[[zip]]
overrun = ["kill"]
[[cells]]
recovery = "requeue"
[[cells]]
recovery = "hodl"
"""
    path = written(tmp_path, text)
    with pytest.raises(fs.InputError) as caught:
        fs.read_sweep(path)
    told = [line.removeprefix(f"{path}:") for line in str(caught.value).splitlines()]
    expected = [
        r"1: replicats: unknown key \(did you mean 'replicates'\?\); known: name, ",
        r"2: seed: unknown key \(an option of the runs belongs below \[base\]\)",
        r"3: warmup: warmup must be a number, got 'x'",
        r"5: base.log: unknown synthetic log 'nasa_lik' \(did you mean 'nasa_like'\?\)",
        r"6: base.machine: unknown machine 'tors:4x4x8' \(did you mean 'torus'\?\)",
        r"7: base.failures: unknown key 'shap' \(did you mean 'shape'\?\); known: synthetic, ",
        r"11: axis load must be a number, got 'x'",
        r"13: grid.runtime_facter: unknown axis 'runtime_facter' \(did you mean 'runtime_factor'\?\)",
        r"14: grid.scheduler: unknown scheduler 'esy' \(did you mean 'easy'\?\); known: fcfs, easy, backfill, ",
        r"15: grid.gap_factor: must be a list of values, got 2; write gap_factor = \[2\]",
        r"16: grid.predictor.probability: has no values",
        r"18: grid.policy.krevat.placment: unknown axis 'placment' \(did you mean 'placement'\?\)",
        r"24: cells.recovery: unknown recovery 'hodl' \(did you mean 'hold'\?\)",
    ]
    assert len(told) == len(expected), "\n".join(told)
    for line, pattern in zip(told, expected, strict=True):
        assert re.match(pattern, line), f"{line}\n  is not\n{pattern}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = [1\n", r":\d+: not TOML: Unclosed array"),
        ("a = 1\nb = = 2\n", ":2: not TOML: Invalid value"),
        ("\n\n" + 33 * "a." + "b = 1\n", ":3: a key of more than 32 parts; none that a sweep knows has"),
        ("replicates = 2\n", r": needs a table \[base\] with log and machine"),
        (HEAD + "[grid]\nplacement = ['mfp', 'safest-first']\n", ":5: grid: cell placement=safest_first: SafestFirst"),
        (HEAD + "[grid]\noverrun = ['kill', 'kil']\n", ":5: grid: cell overrun=kil: unknown overrun 'kil'"),
        (HEAD + "[grid]\nload = [0.5, 0.5]\n", ":6: axis load has two values called 0.5"),
        (HEAD + "[grid]\nhead = [10.0]\n", ":6: axis head must be a whole number, got 10.0"),
        (HEAD + "grid = 3\n", r":5: base.grid: unknown axis 'grid'"),
        (HEAD + "[[grid]]\nload = [1.0]\n", r":5: grid: must be a table"),
        (HEAD + "[cells]\nload = 1.0\n", r":5: cells: must be tables: \[\[cells\]\]"),
        (HEAD.replace("jobs = 50", "jobs = 50, file = 'x'"), ":3: base.log: a log is a path"),
        (HEAD.replace("jobs = 50", "job = 50"), r"unknown key 'job' \(did you mean 'jobs'\?\)"),
        (HEAD.replace('{ synthetic = "nasa_like", jobs = 50 }', "'none.swf'"), r":3: base.log: .*none.swf"),
        (HEAD + "failures = { synthetic = 'weibull' }\n", ":5: base.failures: .* 'weibull' needs shape and scale"),
        (HEAD + "failures = { synthetic = 'weibull', shape = -1, scale = 9 }\n", ":5: base.failures: shape must be at"),
        (
            HEAD + "[grid]\nfailures = ['none',\n { synthetic = 'renewal', mtbf = 'x', downtime = 1 }]\n",
            ":7: grid.failures: mtbf",
        ),
        (HEAD + "failures = { synthetic = 'weibull', shape = 1, scale = 9, count = -3 }\n", ":5: base.failures: count"),
        (
            HEAD.replace('"nasa_like"', "'lublin', nodes = 3"),
            ":3: base.log: nodes: expected a whole number of at least 8",
        ),
        (
            HEAD.replace('"nasa_like"', "'exponential', mean_gap = -3, mean_runtime = 9"),
            ":3: base.log: mean_gap must be above 0 seconds, got -3",
        ),
        (
            HEAD + "[grid]\nstart_delay = [0, 1]\n[[zip]]\nload = [0.5, 0.7]\nhead = [9]\n",
            ":8: zip.load: zipped axes vary",
        ),
        (
            HEAD + "[[zip]]\nload = [0.5, 0.6]\n[[zip]]\nhead = [9, 9]\n",
            ":8: zip.head: zipped axes head: items 0 and 1",
        ),
        (
            HEAD + "[grid]\nload = [0.5, 0.7]\n[[cells]]\nhead = 5\n[[cells]]\nhead = 5\n",
            ":7: cells: items 0 and 1 are",
        ),
        (
            HEAD + "[grid]\npredictor.probability = [1]\n[grid.mean.x]\nhead = 3\n",
            ":7: axis mean: bundles need another name",
        ),
        (HEAD + "failures = { file = 'x.csv', format = 'lan' }\n", r"unknown format 'lan' \(did you mean 'lanl'\?\)"),
    ],
)
def test_a_mistake_has_its_line(tmp_path, text, message):
    refused(fs.InputError, message, fs.read_sweep, written(tmp_path, text))


def test_a_file_that_is_not_there_or_no_text(tmp_path):
    refused(fs.InputError, "no such file", fs.read_sweep, tmp_path / "x.toml")
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe\x00")
    refused(fs.InputError, "cannot be read as text", fs.read_sweep, tmp_path / "b.toml")
    refused(fs.InputError, "cannot be read as text", fs.read_sweep, tmp_path)


# -- logs and failures


@pytest.mark.parametrize("name", LOGS)
def test_every_synthetic_log_is_drawn_anew(name):
    options = {"mean_gap": 60.0, "mean_runtime": 500.0} if name == "exponential" else {}
    source = log_source({"synthetic": name, "jobs": 40, **options}, Path())
    one, two = source(np.random.default_rng(0)), source(np.random.default_rng(1))
    assert len(one) == 40
    assert one != two


@pytest.mark.parametrize("name", FAILURES)
def test_every_synthetic_trace_is_drawn_anew(name):
    options = {"weibull": {"shape": 0.8, "scale": 500.0}, "exponential": {"mtbf": "50000s"}}
    options["renewal"] = {"mtbf": "50000s", "downtime": 100.0}
    source = failures_source({"synthetic": name, **options[name]}, Path())
    log = fs.synthetic.nasa_like(100, rng=0)
    one = source(np.random.default_rng(0), fs.Cluster(128), log)
    assert one != source(np.random.default_rng(1), fs.Cluster(128), log)
    assert one.span == log.submit[-1] + log.runtime.max()


def test_files_are_relative_to_the_spec(tmp_path, monkeypatch):
    folder = tmp_path / "inside"
    folder.mkdir()
    fs.synthetic.nasa_like(30, rng=0).write_swf(folder / "log.swf")
    fs.FailureTrace([50, 60], [3, 200], 5).write_csv(folder / "trace.csv")
    text = """
[base]
log = "log.swf"
machine = "cluster:128"
[grid]
failures = ["none", { file = "trace.csv", map = "modulo" }, { file = "trace.csv", map = "drop" }]
"""
    written(folder, text)
    monkeypatch.chdir(tmp_path)
    sweep = fs.read_sweep("inside/s.toml")
    none, modulo, drop = (task.run.failures for task in sweep.tasks())
    assert none is None
    assert modulo.node.tolist() == [3, 72]
    assert drop.node.tolist() == [3]
    assert [cell.labels["failures"] for cell in sweep.grid] == [None, "trace.csv:map=modulo", "trace.csv:map=drop"]


def test_a_mistake_inside_a_file_that_is_named_has_both_lines(tmp_path):
    fs.synthetic.nasa_like(20, rng=0).write_swf(tmp_path / "log.swf")
    log = (tmp_path / "log.swf").read_text().splitlines()[1:-1]  # without the two that say whether it is complete
    log[-2] = "19 x 3"
    (tmp_path / "log.swf").write_text("\n".join(log) + "\n")
    text = '[base]\nlog = { file = "log.swf", strict = true }\nmachine = "cluster:128"\npredictor = "confidence:0.5"\n'
    text += "[grid]\nfailures = ['none',\n 'none.csv']\n"
    with pytest.raises(fs.InputError) as caught:
        fs.read_sweep(written(tmp_path, text))
    first, second = str(caught.value).splitlines()
    assert re.search(rf"s\.toml:2: base\.log: .*log\.swf, line {len(log) - 1}: 3 fields, expected 18: '19 x 3'", first)
    assert re.search(r"s\.toml:7: grid\.failures: .*none\.csv", second)


def test_a_parameter_that_a_policy_does_not_have_has_its_line(tmp_path):
    text = HEAD + "failures = { synthetic = 'exponential', mtbf = 1e6 }\npredictor = 'confidence:0.5'\n"
    with pytest.raises(fs.InputError, match=r":8: axis predictor\.b: .* no parameter .b.; it has: probability"):
        fs.read_sweep(written(tmp_path, text + "[grid]\npredictor.b = [0.1]\n"))


# -- lines


def test_lines_of_every_kind_of_value():
    text = 'a = "x # y" # z\nb = """\n[no]\n\\""""  # after\n\'c d\' = { e = [1, "]"], f.g = \'}\' }\n'
    text += '[t."u.v"]\nw = [\n  [1, 2],\n  # [3]\n  [4], ]\n[[x]]\ny = 1979-05-27T07:32:00Z\n[[x]]\n[x.sub]\nz = 1\n'
    tomllib.loads(text)
    found = lines(text)
    assert found["a",] == 1
    assert found["b",] == 2
    assert found["c d", "e", 1] == 5
    assert found["c d", "f", "g"] == 5
    assert found["t", "u.v"] == 6
    assert found["t", "u.v", "w", 1, 0] == 10
    assert found["x", 0, "y"] == 12
    assert found["x", 1, "sub", "z"] == 15


def paths(value, above=()):
    found = {above} if above else set()
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        found |= paths(inner, (*above, key))
    return found


KEY = st.text("abc_-1", min_size=1, max_size=3)
VALUE = st.recursive(
    st.integers() | st.booleans() | st.text("ab]}#,'=\"\\\n ", max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEY, inner, max_size=3),
    max_leaves=8,
)


def toml(value, wide):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        marks = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{marks}"'
    if isinstance(value, list):
        gap = "\n # ]\n" if wide else " "
        return "[" + gap + ("," + gap).join(toml(item, wide) for item in value) + gap + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(item, False)}" for key, item in value.items()) + "}"
    return str(value)


@given(st.dictionaries(KEY, VALUE, max_size=4), st.booleans())
def test_every_key_and_item_has_a_line(document, wide):
    text = "".join(f"\n{key} = {toml(value, wide)}\n" for key, value in document.items())
    assert tomllib.loads(text) == document
    found = lines(text)
    assert set(found) == paths(document)
    order = [found[key,] for key in document]
    assert order == sorted(set(order))


# -- commands


def test_commands_run_a_sweep_and_tell_of_it(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, HEAD + "[grid]\nscheduler = ['fcfs', 'easy']\nload = [0.7, 0.9]\n")
    written(tmp_path, "replicates = 3\n" + HEAD + "[grid]\nscheduler = ['fcfs', 'easy']\n", "r.toml")
    dry = run(capsys, "sweep", "s.toml", "--dry-run")[1].splitlines()
    assert dry[2] == "rows    4, of which 4 runs are to be made"
    assert re.match(r"time    about \S+ (s|min|h) on \d+ cores \(4 tried: ", dry[3])
    assert not Path("s.db").exists()
    status, out, _ = run(capsys, "sweep", "s.toml")
    assert status == 0
    assert "rows    4: 4 runs made" in out
    assert "0 runs made" in run(capsys, "sweep", "s.toml")[1]
    assert "of which 0 runs are to be made" in run(capsys, "sweep", "s.toml", "--dry-run")[1]
    status, out, _ = run(
        capsys, "sweep", "r.toml", "--store", "s.db", "--metric", "mean_wait", "--against", "scheduler=fcfs"
    )
    assert re.search(r"^easy +3 ", out, re.MULTILINE)
    out = run(capsys, "status", "s.db", "--metric", "mean_wait", "--interval", "log")[1]
    assert "mean_wait: mean with 95 % interval (log)" in out
    assert len(run(capsys, "status", "s.db")[1].splitlines()) == 4
    for command in (["status", "s.db"], ["sweep", "r.toml", "--store", "s.db"]):
        out = run(capsys, *command, "--csv", "-")[1]
        assert out.startswith("scheduler,replicate,seed,n_jobs,")
        assert len(out.splitlines()) == 1 + 6
    run(capsys, "status", "s.db", "--parquet", "rows.parquet")
    import pyarrow.parquet

    table = pyarrow.parquet.read_table("rows.parquet")
    assert table.column("mean_wait").to_pylist() == fs.load_sweep("s.db")["mean_wait"].tolist()


def test_shards_are_merged(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, HEAD + "[grid]\nload = [0.5, 0.6, 0.7, 0.8, 0.9]\n")
    for i in (1, 2):
        assert run(capsys, "sweep", "s.toml", "--shard", f"{i}/2")[0] == 0
    assert "to go on: faultsim sweep s.toml --shard 1/2" in run(capsys, "status", "s.1of2.db")[1]
    out = run(capsys, "merge", "all.db", "s.1of2.db", "s.2of2.db")[1]
    assert out == "all.db: 5 runs and 5 rows added from 2 stores\n"
    assert run(capsys, "merge", "all.db", "s.1of2.db")[1].startswith("all.db: 0 runs and 0 rows")
    merged, whole = fs.load_sweep("all.db"), fs.read_sweep("s.toml").run()
    for name in whole:
        np.testing.assert_array_equal(merged[name], whole[name])
    assert run(capsys, "merge", "all.db", "all.db")[0] == 2


def test_a_failed_run_is_told_and_the_status_is_2(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, HEAD.replace("torus:4x4x8", "cluster:1") + "[grid]\noversized = ['drop', 'error']\n")
    status, out, _ = run(capsys, "sweep", "s.toml")
    assert status == 2
    assert "1 failed" in out
    assert "larger than the machine" in run(capsys, "status", "s.db")[1]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["sweep", "x.toml"], "x.toml: no such file"),
        (["status", "x.db"], "x.db: no such store"),
        (["sweep", "s.toml", "--workers", "0"], "--workers: got 0"),
        (["sweep", "s.toml", "--shard", "5/4"], "shard must be i/n"),
        (["sweep", "s.toml", "--metric", "mean_wat"], "did you mean 'mean_wait'"),
        (["sweep", "s.toml", "--against", "a=b"], "--against is for a --metric"),
        (["sweep", "s.toml", "--csv", "no/x.csv"], "its folder does not exist"),
        (["sweep", "s.toml", "--csv", "-", "--json"], "--csv and --json both need standard output"),
        (["sweep", "s.toml", "--report", "-", "--csv", "-"], "--csv and --report both need standard output"),
        (["sweep", "s.toml", "--interval", "log"], "--interval is for a --metric"),
        (["sweep", "s.toml", "--metric", "mean_wait", "--interval", "logs"], "unknown --interval 'logs'"),
        (
            [*("sweep", "s.toml", "--metric", "mean_wait"), "--against", "scheduler=fcfs", "--interval", "log"],
            "--interval log is for means",
        ),
        (["sweep", "s.toml", "--csv", "-", "--metric", "mean_wait"], "standard output has the rows and nothing else"),
        (["sweep", "s.toml", "--store", ":memory:"], "--store: a store in memory is lost afterwards"),
        (["sweep", "s.toml", "--report", "."], ". is a folder; a file is needed"),
        (["sweep", "s.toml", "--store", "no/x.db"], "its folder does not exist"),
        (["sweep", "s.toml", "--store", "s.toml"], "not a sweep store"),
        (["status", "s.toml"], "not a sweep store"),
        (["sweep", "s.toml", "--dask", "tcp://127.0.0.1:1"], "no Dask scheduler answers"),
    ],
)
def test_bad_use_is_one_line_and_status_2(tmp_path, capsys, monkeypatch, argv, message):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, HEAD)
    monkeypatch.setattr("faultsim.sweep.dask_executor.PATIENCE", 0.5)
    status, out, err = run(capsys, *argv)
    assert (status, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1
