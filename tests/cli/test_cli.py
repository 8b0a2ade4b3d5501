"""The command line: what it prints, and its exit status."""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import faultsim as fs
from faultsim.cli.output import dumps, table
from faultsim.cli.parser import hint, one_line
from helpers import command
from helpers.command import refused, run


@pytest.fixture
def swf(tmp_path):
    path = tmp_path / "small.swf"
    path.write_text(command.swf(5, 60))
    return str(path)


# -- the top


def test_version_and_help(capsys):
    assert run(capsys, "--version") == (0, f"faultsim {fs.__version__}\n", "")
    status, out, err = run(capsys)
    assert (status, err) == (0, "")
    for name in ("run", "log", "bench", "reproduce"):
        assert name in out
        assert run(capsys, name, "--help")[0] == 0
        assert name in capsys.readouterr().out + run(capsys, name, "--help")[1]


def test_wrong_commands_get_a_hint(capsys):
    assert "did you mean 'run'?" in refused(capsys, "rum")
    assert "did you mean 'reproduce'?" in refused(capsys, "reprodcue", "krevat2002")
    assert "did you mean 'summary'?" in refused(capsys, "log", "sumary")
    assert "did you mean 'krevat2002'?" in refused(capsys, "reproduce", "krevat")
    assert "did you mean '--placement'?" in refused(capsys, "run", "--placment", "mfp")
    assert "did you mean 'engine'?" in refused(capsys, "bench", "engines")


def test_module_runs_and_start_is_quick():
    code = (
        "import sys; from faultsim.cli import main; main(['--version']);"
        "bad = {'scipy', 'matplotlib', 'pandas', 'rich', 'pyarrow'} & set(sys.modules); assert not bad, bad"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    done = subprocess.run([sys.executable, "-m", "faultsim", "--version"], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("faultsim ")


# -- run


def test_run_prints_a_table(capsys, swf):
    status, out, err = run(capsys, "run", swf, "--machine", "torus:2x2x4")
    assert (status, err) == (0, "")
    assert swf in out
    assert "mean_wait" in out
    assert "torus:2x2x4" in out


def test_run_takes_the_machine_of_the_log(capsys, swf):
    document = json.loads(run(capsys, "run", swf, "--json")[1])
    assert document["settings"]["machine"] == {"name": "cluster", "nodes": 16}


def test_run_json_is_one_document_with_the_metrics_of_simulate(capsys, swf):
    status, out, err = run(
        capsys, "run", swf, "--json", "--machine", "torus:2x2x4", "--scheduler", "fcfs", "--placement", "first-fit",
        "--estimates", "actual", "--runtime-factor", "1.5", "--start-delay", "1", "--head", "30",
    )  # fmt: skip
    assert (status, err) == (0, "")
    document = json.loads(out)
    expected = fs.simulate(
        fs.read_swf(swf).head(30).with_runtime_factor(1.5), fs.Torus(2, 2, 4), scheduler=fs.Fcfs(),
        placement=fs.FirstFit(), estimates="actual", start_delay=1.0,
    )  # fmt: skip
    assert document["jobs"] == 30
    for name in expected.metrics:
        value = float(expected.metrics[name])
        assert document["metrics"][name] == (pytest.approx(value) if np.isfinite(value) else None)
    assert document["ledger"] == pytest.approx(dict(expected.ledger))
    assert document["settings"]["scheduler"]["name"] == "fcfs"


@pytest.mark.parametrize(
    "options",
    [
        ["--order", "where(size > 2, 1, 2) * log10(estimate + 1)"],
        ["--scheduler", "easy:order='where(size > 2, 1, 2) * log10(estimate + 1)',max_growth=1"],
        ["--scheduler", "easy:order=where(size > 2, 1, 2) * log10(estimate + 1)"],
    ],
)
def test_run_takes_an_order_that_is_an_expression(capsys, swf, options):
    order = json.loads(run(capsys, "run", swf, "--json", "--machine", "cluster:16", *options)[1])["settings"][
        "scheduler"
    ]
    assert order["order"] == {"name": "key", "text": "where(size > 2, 1, 2) * log10(estimate + 1)"}


def test_run_takes_policies_with_options(capsys, swf):
    argv = ["run", swf, "--json", "--machine", "mesh:2x2x4", "--migration", "defragment:when=always,min_free=0",
            "--scheduler", "easy:reservation=fixed", "--order", "shortest", "--max-growth", "2", "--box-order", "bases",
            "--overrun", "kill", "--estimates", "2"]  # fmt: skip
    settings = json.loads(run(capsys, *argv)[1])["settings"]
    assert settings["machine"]["wrap"] is False
    assert settings["migration"]["when"] == "always"
    assert settings["migration"]["min_free"] == 0
    assert settings["scheduler"] == {
        "name": "easy", "order": {"name": "shortest"}, "reservation": "fixed", "max_growth": 2, "repairs": "known",
    }  # fmt: skip
    assert settings["placement"] == {"name": "max_free_partition", "box_order": "bases"}
    assert (settings["overrun"], settings["estimates"]) == ("kill", 2.0)


def test_run_takes_a_reservation_depth(capsys, swf):
    for word, depth in (("10", 10), ("unlimited", "unlimited")):
        out = run(capsys, "run", swf, "--json", "--machine", "cluster:16", "--scheduler", f"backfill:depth={word}")[1]
        assert json.loads(out)["settings"]["scheduler"]["depth"] == depth


def test_run_without_a_log_says_what_it_ran(capsys):
    status, out, _ = run(capsys, "run", "--jobs", "50")
    assert status == 0
    assert "no LOG given" in out
    assert "sdsc_like" in out
    document = json.loads(run(capsys, "run", "--jobs", "50", "--synthetic", "nasa-like", "--seed", "4", "--json")[1])
    assert document["log"]["built_in"] is True
    assert "nasa-like" in document["log"]["source"]
    assert document["jobs"] == 50


def test_run_writes_files(capsys, swf, tmp_path):
    names = {end: str(tmp_path / f"out.{end}") for end in ("npz", "csv", "png")}
    status, out, _ = run(capsys, "run", swf, "--machine", "torus:2x2x4", "--save", names["npz"], "--csv", names["csv"],
                         "--gantt", names["png"])  # fmt: skip
    assert status == 0
    assert all(name in out for name in names.values())
    result = fs.load_result(names["npz"])
    with open(names["csv"], newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(result) == 40
    assert [float(row["start"]) for row in rows] == result.jobs["start"].tolist()
    assert Path(names["png"]).read_bytes().startswith(b"\x89PNG")


def test_run_drops_oversized_jobs_on_request(capsys, swf):
    err = refused(capsys, "run", swf, "--machine", "cluster:8")
    assert "larger than the machine" in err
    status, out, _ = run(capsys, "run", swf, "--machine", "cluster:8", "--oversized", "drop", "--json")
    assert status == 0
    assert json.loads(out)["jobs"] == sum(1 + i % 9 <= 8 for i in range(1, 41))


# -- bad input: one line, status 2


def write(tmp_path, text, name="bad.swf"):
    path = tmp_path / name
    path.write_text(text)
    return str(path)


GOOD = "1 0 -1 10 1 -1 -1 1 20 -1 1 1 -1 -1 -1 -1 -1 -1\n"


def test_no_such_file(capsys, tmp_path):
    assert "nowhere.swf" in refused(capsys, "run", tmp_path / "nowhere.swf")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("hello world\nthis is text\n", ["line 1", "hello world", "SWF"]),
        ("2 5 -1 10 1\n", ["line 1", "5 fields"]),
        (GOOD.replace("10", "ten"), ["line 1", "ten"]),
        ("; MaxProcs: 16\n", ["empty log"]),
        ("", ["empty log"]),
        (GOOD.replace(" 10 ", " nan "), ["run time missing"]),
        (GOOD.replace(" 1 -1 -1 1 ", " 1.5 -1 -1 1.5 "), ["line 1", "1.5"]),
        (GOOD.replace("1 0 ", "1 -5 "), ["submit"]),
    ],
    ids=["not SWF", "five fields", "letters", "empty log", "empty file", "NaN", "size not whole", "negative time"],
)
def test_broken_logs(capsys, tmp_path, text, says):
    path = write(tmp_path, text)
    err = refused(capsys, "run", path)
    assert path in err
    for part in says:
        assert part in err, err


def test_a_picture_is_no_log(capsys, tmp_path):
    path = tmp_path / "x.swf.gz"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    assert str(path) in refused(capsys, "run", path)


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--machine", "torus:0x4x8"], ["x", "0", "at least 1"]),
        (["--machine", "torus:4x-4x8"], ["y", "-4"]),
        (["--machine", "torus:4x4"], ["torus:4x4x8"]),
        (["--machine", "cluster:many"], ["cluster:"]),
        (["--machine", "tours:4x4x8"], ["did you mean 'torus'?"]),
        (["--scheduler", "eazy"], ["did you mean 'easy'?", "fcfs", "conservative"]),
        (["--scheduler", "easy:growth=1"], ["growth", "max_growth"]),
        (["--scheduler", "backfill"], ["needs depth", "backfill:depth=10"]),
        (["--scheduler", "fcfs", "--reservation", "fixed"], ["reservation", "fcfs"]),
        (["--order", "shortst"], ["did you mean 'shortest'?"]),
        (["--placement", "mpf"], ["mpf", "first_fit"]),
        (["--placement", "mfp", "--machine", "cluster:16"], ["max-free-partition", "cluster"]),
        (["--migration", "defragment", "--machine", "cluster:16"], ["defragment is", "cluster"]),
        (["--migration", "defragmant", "--machine", "torus:2x2x4"], ["did you mean 'defragment'?"]),
        (["--machine", "torus:2x2x4", "--migration", "defragment:when=never"], ["never", "always"]),
        (["--placement", "balancing", "--machine", "torus:2x2x4"], ["balancing req", "--predictor confidence:0.1"]),
        (["--estimates", "exact"], ["requested", "actual"]),
        (["--estimates", "-1"], ["-1"]),
        (["--overrun", "stop"], ["stop", "extend", "kill"]),
        (["--runtime-factor", "nan"], ["nan"]),
        (["--start-delay", "-1"], ["-1"]),
        (["--head", "0"], ["0", "at least 1"]),
        (["--oversized", "maybe"], ["maybe", "drop"]),
        (["--synthetic", "nasa_like"], ["one of the two"]),
        (["--gantt", "x.doc"], ["x.doc", ".png"]),
        (["--csv", "/nowhere/at/all.csv"], ["/nowhere/at/all.csv", "folder"]),
        (["--save", "/"], ["/ is a folder"]),
    ],
)  # fmt: skip
def test_bad_options(capsys, swf, argv, says):
    err = refused(capsys, "run", swf, *argv)
    for part in says:
        assert part in err, err


def test_bad_synthetic_logs(capsys):
    assert "did you mean 'nasa_like'?" in refused(capsys, "run", "--synthetic", "nasalike")
    assert "at least 1" in refused(capsys, "run", "--jobs", "0")
    assert "--seed" in refused(capsys, "run", "--seed", "-1")


# -- log


def test_log_summary_and_head(capsys, swf):
    status, out, _ = run(capsys, "log", "summary", swf, "--json")
    assert status == 0
    document = json.loads(out)
    assert document["n_jobs"] == 40
    assert document["nodes"] == 16
    assert "offered_load" in run(capsys, "log", "summary", swf)[1]
    jobs = json.loads(run(capsys, "log", "head", swf, "-n", "3", "--json")[1])["jobs"]
    assert jobs["submit"] == [10.0, 20.0, 30.0]
    assert len(run(capsys, "log", "head", swf, "-n", "3")[1].splitlines()) == 5
    assert "-n" in refused(capsys, "log", "head", swf, "-n", "0")
    assert "nodes must be at least 1" in refused(capsys, "log", "summary", swf, "--nodes", "0")


def test_log_convert_and_generate(capsys, swf, tmp_path):
    out = str(tmp_path / "half.swf.gz")
    assert run(capsys, "log", "convert", swf, out, "--head", "20", "--runtime-factor", "2")[0] == 0
    assert fs.read_swf(out) == fs.read_swf(swf).head(20).with_runtime_factor(2)
    table_file = tmp_path / "jobs.csv"
    assert run(capsys, "log", "convert", swf, table_file)[0] == 0
    assert len(table_file.read_text().splitlines()) == 41
    made = tmp_path / "made.swf"
    assert run(capsys, "log", "generate", "lublin", made, "--jobs", "25")[0] == 0
    assert len(fs.read_swf(made)) == 25
    assert ".swf" in refused(capsys, "log", "convert", swf, tmp_path / "jobs.doc")
    assert "KIND: unknown kind 'lublim'; did you mean" in refused(capsys, "log", "generate", "lublim", made)


def test_log_load(capsys, swf, tmp_path):
    out = str(tmp_path / "loaded.swf")
    assert run(capsys, "log", "convert", swf, out, "--load", "0.9")[0] == 0
    # SWF holds whole seconds, so the load comes back nearly.
    assert fs.read_swf(out).summary(nodes=16)["offered_load"] == pytest.approx(0.9, rel=0.05)


# -- bench


@pytest.mark.parametrize("what", ["queue", "knapsack", "engine"])
def test_bench_prints_a_table_and_json(capsys, swf, what):
    argv = ["bench", what, "--quick"] + (["--log", swf] if what == "engine" else [])
    status, out, err = run(capsys, *argv, "--json")
    assert (status, err) == (0, "")
    document = json.loads(out)
    assert document["bench"] == what
    assert document["rows"]
    assert len({tuple(row) for row in document["rows"]}) == 1  # every row has the same columns


# -- how it ends


def test_interrupt_is_130(capsys, swf, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("faultsim.simulate", interrupted)
    status, _, err = run(capsys, "run", swf)
    assert (status, err) == (130, "faultsim: interrupted\n")


def test_a_closed_pipe_is_quiet(swf):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "faultsim", "log", "head", swf, "-n", "40"], stdout=writer, stderr=subprocess.PIPE,
        check=False,
    )  # fmt: skip
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_unwritable_output_is_one_line(capsys, swf, tmp_path):
    assert "folder" in refused(capsys, "run", swf, "--save", tmp_path / "no" / "such" / "x.npz")
    err = refused(capsys, "log", "convert", swf, tmp_path / "no" / "x.csv")
    assert "x.csv" in err


# -- pieces


def test_json_has_no_nan():
    text = dumps({"a": float("nan"), "b": [np.float64(1.5), np.int32(2)], "c": np.array([1.0, np.inf]), "d": Path("x")})
    assert json.loads(text) == {"a": None, "b": [1.5, 2], "c": [1.0, None], "d": "x"}


def test_table_aligns():
    lines = table([["a", 1.0, None], ["bcd", 22222, 3]], ["name", "x", "y"]).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert re.fullmatch(r"bcd\s+22,222\s+3", lines[2])


def test_one_line_and_hint():
    assert one_line("a\n  b") == "a b"
    assert hint("qqq", ["fcfs"]) == ""
