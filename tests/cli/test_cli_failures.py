"""``faultsim failures``: summary, convert, generate."""

import io
import json
import sys

import pytest

import faultsim as fs
from helpers import command

RAS = "2005-06-05-01.55.06.697467 R11-M0-NB-C:J07-U11 RAS KERNEL FATAL rts internal error\n"
FTA = "    0\t    0\t    7\t    5\tsite/node1\t         0\t   1115820000\t   1115823600\t       NULL\n"


def run(capsys, *argv):
    return command.run(capsys, "failures", *argv)


def refused(capsys, *argv):
    return command.refused(capsys, "failures", *argv)


@pytest.fixture
def files(tmp_path):
    for name, text in {
        "lanl.csv": command.LANL,
        "one.csv": command.LANL_2,
        "event_trace.tab": FTA,
        "ras.log": RAS,
    }.items():
        (tmp_path / name).write_text(text)
    fs.FailureTrace([10, 20, 30], [0, 5, 200], [60, 0, 60], span=100).write_csv(tmp_path / "own.csv.gz")
    return tmp_path


def test_help(capsys):
    status, out, err = run(capsys)
    assert (status, err) == (0, "")
    assert "faultsim failures convert TRACE OUT" in out
    for action in ("summary", "convert", "generate"):
        status, out, err = run(capsys, action, "--help")
        assert (status, err) == (0, "")
        assert "--json" in out


# -- summary


@pytest.mark.parametrize(
    ("name", "count", "nodes"),
    [("one.csv", 2, 4), ("event_trace.tab", 1, 1), ("ras.log", 1, 128), ("own.csv.gz", 3, 201)],
)
def test_the_format_is_told_by_the_first_line(capsys, files, name, count, nodes):
    status, out, err = run(capsys, "summary", files / name, "--json")
    assert (status, err) == (0, "")
    document = json.loads(out)
    assert (document["n_failures"], document["nodes"]) == (count, nodes)
    assert document["trace"] == str(files / name)
    assert document["built_in"] is False
    status, out, err = run(capsys, "summary", files / name)
    assert (status, err) == (0, "")
    assert out.startswith(f"trace  {files / name}\n")
    assert f"n_failures{count:>24}" in out


def test_readers_get_their_options(capsys, files):
    def n_failures(*argv):
        status, out, err = run(capsys, "summary", *argv, "--json")
        assert (status, err) == (0, "")
        return json.loads(out)["n_failures"]

    assert n_failures(files / "lanl.csv", "--system", 20) == 2
    assert n_failures(files / "one.csv", "--begin", "2005-06-22") == 1
    assert n_failures(files / "one.csv", "--end", 1119398400) == 1  # 2005-06-22 in seconds
    with open(files / "ras.log", "a") as file:
        file.write(RAS.replace("01.55", "01.56") + RAS.replace("rts", "Lustre mount FAILED").replace("-M0", "-M1"))
    assert n_failures(files / "ras.log") == 1
    assert n_failures(files / "ras.log", "--gap", 30) == 2
    assert n_failures(files / "ras.log", "--kinds", "all", "--level", "node") == 2
    assert n_failures(files / "event_trace.tab", "--prefix", "site/", "--min-downtime", 3600) == 1


def test_summary_of_changed_traces(capsys, files):
    own = files / "own.csv.gz"

    def summary(*argv):
        status, out, err = run(capsys, "summary", own, *argv, "--json")
        assert (status, err) == (0, "")
        return json.loads(out)

    assert summary("--from", 15)["first"] == 5
    assert summary("--to", 15)["span"] == 15
    assert summary("--map-nodes", 128)["nodes"] == 128
    assert summary("--map-nodes", 128, "--how", "permute", "--seed", 3)["n_failing_nodes"] == 3
    assert summary("--drop-outside", 128)["dropped"] == {"node outside the machine": 1}
    assert summary("--count", 2)["n_failures"] == 2
    assert summary("--count", 7, "--repeat")["span"] == 300
    assert summary("--span", 1000)["last"] == 300
    assert summary("--merge-overlaps", "--burst-gap", 10)["n_bursts"] == 1
    assert summary("--nodes", 400)["nodes"] == 400


def test_without_a_trace_a_built_in_one_is_used_and_said(capsys):
    status, out, err = run(capsys, "summary")
    assert (status, err) == (0, "")
    assert out.startswith("trace  no TRACE given: built-in synthetic weibull (266 failures of 320 nodes, seed 0)\n")
    document = json.loads(run(capsys, "summary", "--seed", 4, "--json")[1])
    assert document["built_in"] is True
    assert (document["n_failures"], document["nodes"]) == (266, 320)
    assert "seed 4" in document["trace"]
    assert "--gap is for reading a TRACE, and none is given" in refused(capsys, "summary", "--gap", 5)
    assert "--format is for reading a TRACE" in refused(capsys, "summary", "--format", "csv")


def test_standard_input(capsys, files, monkeypatch):
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO((files / "own.csv.gz").read_bytes())))
    )
    status, out, err = run(capsys, "summary", "-", "--format", "csv", "--json")
    assert (status, err) == (0, "")
    assert json.loads(out)["trace"] == "standard input"
    assert "--format is needed for standard input: csv, lanl, fta, ras" in refused(capsys, "summary", "-")


# -- convert and generate


def test_convert(capsys, files):
    out_file = files / "out.csv.xz"
    status, out, err = run(capsys, "convert", files / "one.csv", out_file, "--map-nodes", 2)
    assert (status, err) == (0, "")
    assert out == f"{out_file}: 2 failures of 2 nodes, span 126000 s\n"
    trace = fs.read_failures(out_file)
    assert trace == fs.read_lanl(files / "one.csv").map_nodes(2)
    assert trace.name == "LANL system 2 (0 s = 2005-06-21 00:00)"
    status, out, err = run(capsys, "convert", files / "own.csv.gz", "-")
    assert (status, err) == (0, "")
    assert out.partition("\n")[2].startswith("# faultsim failure trace, version 1\n# span: 100\n")
    status, out, err = run(capsys, "convert", files / "own.csv.gz", out_file, "--json")
    assert json.loads(out)["out"] == str(out_file)
    assert json.loads(out)["n_failures"] == 3


def test_generate(capsys, tmp_path):
    path = tmp_path / "t.csv"

    def made(*argv):
        status, out, err = run(capsys, "generate", *argv[:1], path, *argv[1:])
        assert (status, err) == (0, "")
        assert out.startswith(f"{path}: ")
        return fs.read_failures(path)

    day = 86_400
    weibull = made("weibull", "--count", 78, "--shape", 0.2, "--window", 32, "--zipf", 0.5, "--burst", 4, "--permute")
    assert weibull == fs.synthetic.weibull_failures(
        320, 62 * day, 0.2, 18_000, window=32, zipf=0.5, burst=4, count=78, permute=True, rng=0
    )
    assert made("weibull", "--scale", 9000) == fs.synthetic.weibull_failures(320, 62 * day, 0.85, 9000, rng=0)
    exponential = made("exponential", "--nodes", 128, "--span", "10d", "--mtbf", "5d", "--downtime", 0, "--seed", 7)
    assert exponential == fs.synthetic.exponential_failures(128, 10 * day, mtbf=5 * day, rng=7)
    renewal = made("renewal", "--downtime", 60, "--uptimes", "bathtub_per_gap", "--repairs", "constant")
    assert renewal == fs.synthetic.renewal_failures(
        320, 62 * day, 56 * day, 60, uptimes="bathtub_per_gap", repairs="constant", rng=0
    )
    document = json.loads(run(capsys, "generate", "weibull", path, "--count", 5, "--json")[1])
    assert (document["n_failures"], document["span"]) == (5, 62 * day)


# -- refusals


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["sumary"], "did you mean 'summary'?"),
        (["summary", "nowhere.csv"], "nowhere.csv: no such file"),
        (["summary", "{lanl.csv}", "--system", 99], "has no system 99; it has 2, 20"),
        (["summary", "{lanl.csv}", "--gap", 5], "--gap is for ras; "),
        (["summary", "{ras.log}", "--under-way"], "--under-way is for lanl and fta; "),
        (["summary", "{lanl.csv}"], "has the records of 2 systems, 2, 20; give one by system= (--system), such as 2"),
        (["summary", "{one.csv}", "--begin", "soon"], "begin: 'soon' is not a date"),
        (["summary", "{lanl.csv}", "--format", "xml"], "invalid choice: 'xml'"),
        (["summary", "{lanl.csv}", "--format", "fta"], "line 1: node_id, event_type and the two times must be numbers"),
        (["summary", "{own.csv.gz}", "--nodes", 128], "200 is outside the machine of 128 nodes"),
        (["summary", "{own.csv.gz}", "--count", 5], "the trace has 3 failures, 5 are requested"),
        (["summary", "{own.csv.gz}", "--how", "permute"], "give --map-nodes N, too"),
        (["summary", "{own.csv.gz}", "--repeat"], "--repeat is for --count N"),
        (["summary", "{own.csv.gz}", "--from", 50, "--to", 20], "t1 of window() must be above 50 s, got 20.0"),
        (["summary", "{own.csv.gz}", "--cuont", 5], "did you mean '--count'?"),
        (["convert", "{own.csv.gz}", "out.txt"], "out.txt: unknown kind of file; use .csv"),
        (["convert", "{own.csv.gz}", "-", "--json"], "both need standard output"),
        (["convert", "{own.csv.gz}", "no/such/folder/out.csv"], "its folder does not exist"),
        (["generate", "webull", "x.csv"], "did you mean 'weibull'? known: weibull, exponential, renewal"),
        (["generate", "weibull", "x.csv", "--mtbf", "5d"], "--mtbf is for exponential and renewal, not for weibull"),
        (["generate", "weibull", "x.csv", "--window", 3], "window must be even"),
        (["generate", "weibull", "x.csv", "--seed", -1], "--seed: -1 is no seed: a whole number, at least 0"),
        (["generate", "renewal", "x.csv", "--uptimes", "bathtub"], "unknown distribution of up times 'bathtub'"),
    ],
)
def test_refusals(capsys, files, monkeypatch, argv, message):
    monkeypatch.chdir(files)
    arguments = [str(files / a[1:-1]) if isinstance(a, str) and a.startswith("{") else a for a in argv]
    assert message in refused(capsys, *arguments)


def test_no_trace_by_its_first_line(capsys, tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("once upon a time\n")
    assert "not a failure trace by its first line; give --format csv|lanl|fta|ras" in refused(capsys, "summary", path)
    path.write_text("")
    assert "empty; expected a line with the names of the columns" in refused(capsys, "summary", path)


def test_lemons_stay_out(capsys, tmp_path):
    trace = fs.FailureTrace([0, 100, 200, 900], [5, 5, 5, 5], 10, span=1000)
    trace.write_csv(tmp_path / "own.csv")
    for words, rule in (("2,2m", (2, 120)), ("2, 150s ,5m", (2, 150, 300))):
        status, _, err = run(capsys, "convert", tmp_path / "own.csv", tmp_path / "out.csv", "--lemons", words)
        assert (status, err) == (0, "")
        expected = trace.exclude_lemons(*rule[:2], out=rule[2] if len(rule) > 2 else None)
        assert fs.read_failures(tmp_path / "out.csv") == expected != trace
    assert "'x' is no number of failures" in refused(capsys, "summary", tmp_path / "own.csv", "--lemons", "x,30d")
    assert "'3' is no rule: write failures, window and" in refused(
        capsys, "summary", tmp_path / "own.csv", "--lemons", "3"
    )
    assert "--lemons: failures must be at least 1" in refused(
        capsys, "summary", tmp_path / "own.csv", "--lemons", "0,30d"
    )
    assert "--lemons: out must be above 0 s" in refused(capsys, "summary", tmp_path / "own.csv", "--lemons", "3,1d,0s")
    assert "'30' has no unit: write days, as in 3,30d, or 30s" in refused(
        capsys, "summary", tmp_path / "own.csv", "--lemons", "3,30"
    )
