"""``faultsim plan``: tables, documents, files, pictures, error lines."""

import csv
import io
import json

import pytest

import faultsim as fs
from helpers import command


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fs.FailureTrace([60, 4000, 9000], [0, 5, 1500], [600, 700, 800], span=100_000).write_csv("own.csv")
    return tmp_path


def run(capsys, *argv):
    status, out, err = command.run(capsys, "plan", *argv)
    assert (status, err) == (0, "")
    return out


def test_the_tables_are_those_of_the_function(capsys):
    shapes = ["8x8x16=6", "4x4x4=20", "--machine", "pod:tpu-v5p"]
    found = fs.plan("pod:tpu-v5p", {"8x8x16": 6, "4x4x4": 20}, mtbf="100d", downtime="4h")
    assert run(capsys, *shapes, "--mtbf", "100d", "--downtime", "4h") == f"{found}\n"
    assert run(capsys) == f"{fs.plan('pod:tpu-v4', availability=0.999)}\n"


def test_a_document(capsys):
    made = json.loads(run(capsys, "1024=2", "--availability", "0.99", "--probability", "0.5,0.999", "--json"))
    assert made["machine"] == "pod:4x4x4"
    assert (made["availability"], made["mtbf"], made["probabilities"]) == (0.99, None, [0.5, 0.999])
    assert [row["wanted"] for row in made["spares"]] == ["2 of 8x8x16"]
    assert made["promises"][0]["slices_99.9"] == 2
    assert "ettr" not in made
    made = json.loads(run(capsys, "64", "--availability", "0.99", "--downtime", "1h", "--cost", "2m", "--json"))
    assert [row["checkpointing"] for row in made["ettr"]][:2] == ["none", "periodic"]
    assert made["ettr"][2]["interval"] == fs.Young("2m", made["mtbf"]).work_between([16])[0]


def test_rules_and_simulation(capsys):
    rates = ["--mtbf", "50d", "--downtime", "4h", "--runtime", "2d"]
    rules = ["--checkpointing", "none", "--checkpointing", "periodic:2h,1m"]
    made = json.loads(run(capsys, "1024", *rates, *rules, "--simulate", "--json"))
    assert [row["checkpointing"] for row in made["ettr"]] == ["none", "periodic:2h,1m"]
    assert made["ettr"][1]["low"] < made["ettr"][1]["simulated"] < made["ettr"][1]["high"]
    again = json.loads(run(capsys, "1024", *rates, *rules, "--simulate", "--seed", "1", "--json"))
    assert again["ettr"][1]["simulated"] != made["ettr"][1]["simulated"]


def test_a_trace(capsys):
    out = run(capsys, "64", "--failures", "own.csv", "--map-failures", "drop")
    assert out.startswith("failures own.csv (2 failures; 1 records left out)\npod:4x4x4  64 cubes")
    assert out.count("  independent  ") == 2
    made = json.loads(
        run(capsys, "64", "--failures", "synthetic:exponential,mtbf=20d,count=50", "--span", "30d", "--json")
    )
    assert made["failures"]["source"].startswith("built-in synthetic exponential (50 failures of 1,024 nodes in 30.0")
    assert {row["failures"] for row in made["promises"]} == {"trace", "independent"}


def test_files(capsys, here):
    out = run(capsys, "64=2", "--csv", "-", "--table", "spares")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["wanted"] for row in rows] == ["2 of 4x4x4"]
    assert run(capsys, "64", "--csv", "p.csv", "-q") == ""
    assert (here / "p.csv").read_text().startswith("shape,chips,cubes,most,mean,slices_90")


def test_a_picture(capsys, here):
    pytest.importorskip("matplotlib")
    assert run(capsys, "64", "1024", "-o", "p.png", "--theme", "dark").endswith("written  p.png\n")
    assert (here / "p.png").stat().st_size > 2000
    assert "<svg" in run(capsys, "64", "--plot", "-")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--availability 99.9", "availability must be above 0 and below 1, such as 0.999, got 99.9 (is that in %?)"),
        ("--availability 0.9 --mtbf 1d --downtime 1h", "availability follows from --mtbf and --downtime: give two of"),
        ("--mtbf 3d", "error: give --availability, or --mtbf and --downtime, or --failures"),
        ("--mtbf soon", "'soon' is no duration"),
        ("--probability 0.9,97", "probability must be above 0 and below 1"),
        ("--probability high", "--probability: expected numbers such as 0.9,0.97,0.99, got 'high'"),
        ("4x4x6", "the nearest that are: 4x4x4 (64 chips) and 4x4x8 (128 chips)"),
        ("30", "no multiple of 4, the chips of the smallest slice"),
        ("8x8x16=9", "9 of 8x8x16 need more than pod:4x4x4 has, 64 cubes: at most 4 of 8x8x16 fit"),
        ("--machine cluster:64", "the machine must be a pod, such as 'tpu-v5p', got cluster:64"),
        ("--machine pod:4x4x4,wiring=static,aligned=false", "with aligned=False no formula"),
        ("--failures own.csv", "1 of 3 failures are of nodes that the machine of 1,024 nodes does not have"),
        ("--failures none.csv", "none.csv"),
        (
            "--failures own.csv --map-failures drop --downtime 1h",
            "--failures says when hosts are up: give no --availab",
        ),
        ("--failures days.csv", "are the times in days? times and down times are in seconds; --any-rate takes them"),
        ("--span 3d", "--span is for --failures"),
        ("--simulate", "--simulate needs to know how often hosts fail; give --downtime or --mtbf, too"),
        ("--checkpointing none", "--checkpointing needs to know how often hosts fail"),
        ("--downtime 1h --checkpointing yung:3,4d", "did you mean 'young'?"),
        ("--table ettr", "--table is for --csv FILE"),
        ("--theme dark", "--theme is for --plot FILE"),
        ("--csv t.csv --table ettr", "ettr: availability does not say how often hosts fail"),
        ("--csv - --json", "--csv and --json both need standard output"),
        ("--plot p.foo", "p.foo: unknown kind of picture '.foo'"),
        ("--failure own.csv", "did you mean '--failures'?"),
    ],
)
def test_error_lines(capsys, words, message):
    fs.FailureTrace([i / 10 for i in range(3000)], [i % 100 for i in range(3000)], 0.1).write_csv("days.csv")
    given = words.split()
    if words in ("--simulate", "--checkpointing none", "--csv t.csv --table ettr"):
        given += ["--availability", "0.99"]
    elif words.startswith("--downtime 1h --check"):
        given += ["--mtbf", "9d"]
    assert message in command.refused(capsys, "plan", *given)
