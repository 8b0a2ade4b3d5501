"""``faultsim show``, standard output as a file, ``--quiet``, and changes of the log in ``faultsim run``."""

import csv
import io
import json

import pytest

import faultsim as fs
from faultsim.readers.table import what_is
from helpers import command
from helpers.command import refused, run


@pytest.fixture
def swf(tmp_path):
    path = tmp_path / "small.swf"
    path.write_text(command.swf(5, 60))
    return str(path)


@pytest.fixture
def saved(capsys, swf, tmp_path):
    path = str(tmp_path / "run.npz")
    assert run(capsys, "run", swf, "--save", path, "--record", "--quiet") == (0, "", "")
    return path


def test_show_prints_a_result_as_run_did(capsys, swf, saved):
    ran, shown = (run(capsys, *argv)[1].splitlines() for argv in (("run", swf), ("show", saved)))
    assert shown == [f"result   {saved}", *ran[1:]]


def test_show_writes_what_run_writes(capsys, swf, saved, tmp_path):
    pytest.importorskip("matplotlib")
    ran = {name: tmp_path / f"ran.{name}" for name in ("csv", "svg")}
    shown = {name: tmp_path / f"shown.{name}" for name in ("csv", "svg", "html")}
    run(capsys, "run", swf, "--csv", str(ran["csv"]), "--gantt", str(ran["svg"]))
    status, out, _ = run(
        capsys, "show", saved, "--csv", str(shown["csv"]), "--gantt", str(shown["svg"]), "--report", str(shown["html"])
    )
    assert status == 0
    assert out.count("written") == 3
    assert ran["csv"].read_bytes() == shown["csv"].read_bytes()
    assert len(ran["svg"].read_bytes()) == pytest.approx(len(shown["svg"].read_bytes()), rel=0.05)
    assert saved in shown["html"].read_text(encoding="utf-8")


def test_show_json_has_the_metrics(capsys, swf, saved):
    shown, ran = (json.loads(run(capsys, *argv, "--json")[1]) for argv in (("show", saved), ("run", swf)))
    assert shown["settings"] == {**ran["settings"], "record": True}
    for name in ("metrics", "ledger", "jobs", "warnings"):
        assert shown[name] == ran[name]


def test_show_finds_out_what_a_file_is(capsys, swf, tmp_path):
    trace, jobs, stg = tmp_path / "failures.csv", tmp_path / "jobs.csv", tmp_path / "two.stg"
    fs.FailureTrace([5.0], [2], span=9.0).write_csv(trace)
    fs.read_swf(swf).write_csv(jobs)
    stg.write_text("0\n0 5 0\n1 0 1 0\n")
    dax = tmp_path / "some.xml"
    dax.write_text('<adag xmlns="http://pegasus.isi.edu/schema/DAX"><job id="A" runtime="3"/></adag>')
    for path, command_, words in (
        (swf, "log", "offered_load"),
        (jobs, "log", "runtime_mean"),
        (trace, "failures", "node_mtbf"),
        (dax, "workflow", "meshing"),
    ):
        status, out, err = run(capsys, "show", str(path))
        assert (status, err) == (0, "")
        assert words in out
        first, _, rest = out.partition("\n")
        assert first == f"file {path}: a {what_is(path).called}"
        assert rest == run(capsys, command_, "summary", str(path))[1]
    assert "workflow" in run(capsys, "show", str(stg))[1] + refused(capsys, "workflow", "summary", swf)


def test_show_takes_a_store(capsys, tmp_path):
    spec = tmp_path / "s.toml"
    spec.write_text("replicates = 2\n[base]\nlog = { synthetic = 'nasa_like', jobs = 50 }\nmachine = 'torus:4x4x8'\n")
    assert run(capsys, "sweep", str(spec), "--quiet") == (0, "", "")
    store = str(tmp_path / "s.db")
    assert run(capsys, "show", store)[1] == run(capsys, "status", store)[1]


def test_show_refuses(capsys, swf, tmp_path):
    assert "no such file" in refused(capsys, "show", str(tmp_path / "none"))
    assert "FILE" in refused(capsys, "show")
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"PK\x03\x04 and no more")
    assert "broken.npz" in refused(capsys, "show", str(broken))
    plain = str(tmp_path / "plain.npz")
    run(capsys, "run", swf, "--save", plain)
    assert "record" in refused(capsys, "show", plain, "--gantt", str(tmp_path / "x.svg"))
    assert "--record is for --save" in refused(capsys, "run", swf, "--record")


# -- standard output


def test_standard_output_holds_the_file_and_nothing_else(capsys, swf, tmp_path):
    status, out, err = run(capsys, "run", swf, "--csv", "-")
    assert (status, err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [float(row["wait"]) for row in rows] == fs.simulate(fs.read_swf(swf), fs.Cluster(16)).jobs["wait"].tolist()
    assert run(capsys, "log", "convert", swf, "-")[1] == run(capsys, "log", "convert", swf, "-", "-q")[1]
    (tmp_path / "again.swf").write_text(run(capsys, "log", "convert", swf, "-")[1])
    assert fs.read_swf(tmp_path / "again.swf") == fs.read_swf(swf)


def test_pictures_and_reports_go_to_standard_output(capsys, swf):
    pytest.importorskip("matplotlib")
    assert run(capsys, "run", swf, "--gantt", "-")[1].startswith("<?xml")
    assert run(capsys, "run", swf, "--report", "-")[1].startswith("<!doctype html>")


def test_only_one_file_goes_to_standard_output(capsys, swf):
    for more in (["--json"], ["--save", "-"]):
        assert "both need standard output" in refused(capsys, "run", swf, "--csv", "-", *more)


def test_quiet_prints_nothing_but_errors(capsys, swf, tmp_path):
    for argv in (
        ("run", swf),
        ("log", "convert", swf, str(tmp_path / "x.csv")),
        ("log", "generate", "lublin", str(tmp_path / "y.swf"), "--jobs", "9"),
        ("failures", "generate", "exponential", str(tmp_path / "z.csv")),
        ("workflow", "run", "--count", "1"),
    ):
        assert run(capsys, *argv)[1]
        assert run(capsys, *argv, "--quiet") == (0, "", "")
    assert "no such file" in refused(capsys, "run", str(tmp_path / "none"), "--quiet")


# -- changes of the log


def test_run_changes_the_log_as_log_convert_does(capsys, swf, tmp_path):
    changes = ["--head", "40", "--runtime-factor", "1.5", "--gap-factor", "0.5"]
    changed = str(tmp_path / "changed.swf")
    run(capsys, "log", "convert", swf, changed, *changes, "--load", "0.7", "--nodes", "16")
    of_changes, of_file = (
        json.loads(run(capsys, "run", *argv, "--machine", "cluster:16", "--json")[1])["metrics"]
        for argv in ((swf, *changes, "--load", "0.7"), (changed,))
    )
    for name, value in of_file.items():
        assert of_changes[name] == (None if value is None else pytest.approx(value, rel=1e-9)), name


def test_load_is_of_the_machine_that_runs_it(capsys, swf):
    for nodes in (16, 64):
        argv = ("run", swf, "--load", "0.5", "--machine", f"cluster:{nodes}", "--json")
        log = fs.read_swf(swf).with_load(0.5, nodes=nodes)
        makespan = fs.simulate(log, fs.Cluster(nodes)).metrics["makespan"]
        assert json.loads(run(capsys, *argv)[1])["metrics"]["makespan"] == makespan


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--head", "0"], "at least 1"),
        (["--load", "-1"], "load"),
        (["--gap-factor", "x"], "gap-factor"),
        (["--krevat", "kth"], "krevat"),
    ],
)
def test_run_refuses_changes(capsys, swf, options, words):
    assert words in refused(capsys, "run", swf, *options)


def test_goodput_and_energy_are_printed_when_asked(capsys, swf, saved):
    options = ["--goodput", "--power", "idle=100,busy=300"]
    ran, shown = (run(capsys, *argv, *options)[1] for argv in (("run", swf), ("show", saved)))
    result = fs.load_result(saved)
    for text in (result.goodput, result.mttf(), result.energy(fs.Power(idle=100, busy=300))):
        assert str(text) in ran
        assert str(text) in shown
    assert "kWh" not in run(capsys, "run", swf)[1]
    document = json.loads(run(capsys, "show", saved, *options, "--json")[1])
    assert [row["node_hours"] for row in document["goodput"]] == result.goodput["node_hours"].tolist()
    assert document["energy"]["kwh"] == result.energy(fs.Power(idle=100, busy=300)).kwh
    assert document["energy"]["power"] == {"idle": 100, "busy": 300, "down": 0}
    assert document["mttf"][0]["mttf"] is None  # infinite: nothing failed
    assert document["metrics"]["ettr"] == 1
    assert "energy" not in json.loads(run(capsys, "show", saved, "--json")[1])


def test_a_wrong_power_is_refused_before_the_work(capsys, swf, saved):
    assert "--power: busy missing" in refused(capsys, "run", swf, "--power", "idle=100")
    assert "expected watts" in refused(capsys, "show", saved, "--power", "300W")


# -- why a job waited


@pytest.fixture
def waiting(capsys, tmp_path):
    """A saved result in which the job with the id 9 waits; two jobs have the id 8."""
    log = tmp_path / "waiting.swf"
    jobs = [(7, 0, 10, 2), (8, 1, 5, 3), (9, 2, 20, 1), (8, 40, 5, 1)]
    log.write_text(
        "".join(f"{job} {t} -1 {run} {size} -1 -1 {size} {run} -1 1 1 1 -1 -1 -1 -1 -1\n" for job, t, run, size in jobs)
    )
    path = str(tmp_path / "waiting.npz")
    run(capsys, "run", str(log), "--machine", "cluster:3", "--save", path, "--quiet")
    return path


def test_show_says_why_a_job_waited(capsys, waiting):
    status, out, err = run(capsys, "show", waiting, "--why", "9")
    lines = out.splitlines()
    assert (status, err) == (0, "")
    assert lines[:2] == [f"result   {waiting}", "job 9 waited 13 s"]
    assert "would delay the head: the reservation of job 8 at 10 s" in lines[2]
    assert "no room: needs 1 node, 0 are free; room is expected at 15 s" in lines[3]
    assert len(lines) == 4


def test_show_names_the_row_of_an_id_that_several_jobs_have(capsys, waiting):
    _, out, _ = run(capsys, "show", waiting, "--why", "8", "--why", "9")
    assert "job 8 waited 9 s" in out
    assert "job 9 waited 13 s" in out
    assert "note: 2 jobs have the id 8: this is the first submitted, row 1 of the result" in out


def test_show_why_as_json(capsys, waiting):
    shown = json.loads(run(capsys, "show", waiting, "--why", "9", "--json")[1])
    (why,) = shown["why"]
    assert (why["job"], why["id"], why["same_id"]) == (2, 9, 1)
    assert why["seconds"] == {"would delay the head": 8.0, "no room": 5.0}
    assert why["spans"][1] == {
        "begin": 10.0, "end": 15.0, "reason": {"cause": "no room", "until": 15.0, "needed": 1, "free": 0}
    }  # fmt: skip
    assert "metrics" in shown


def test_show_why_refuses_an_id_that_no_job_has(capsys, waiting):
    assert "--why 17: no job of the result has this id; the first has 7" in refused(
        capsys, "show", waiting, "--why", "17"
    )


def test_reports_take_reasons_a_title_and_other_results(capsys, swf, saved, tmp_path):
    pytest.importorskip("matplotlib")
    page, other = tmp_path / "page.html", str(tmp_path / "fcfs.npz")
    run(capsys, "run", swf, "--save", other, "--scheduler", "fcfs", "--quiet")
    for reasons in (0, 1):
        run(capsys, "show", saved, "--report", str(page), "--reasons", str(reasons), "--title", "Mine", "--quiet")
        text = page.read_text(encoding="utf-8")
        assert "<h1>Mine</h1>" in text
        assert ('"why": {}' in text) is not reasons
    assert run(capsys, "show", saved, "--report", str(page), "--against", other, "--quiet")[0] == 0
    assert f"{saved} − {other}" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("option", [("--reasons", "3"), ("--title", "x"), ("--against", "x.npz")])
def test_options_of_reports_are_refused_without_one(capsys, saved, option):
    assert f"{option[0]} is for --report FILE" in refused(capsys, "show", saved, *option)


def test_a_negative_number_of_reasons_is_refused_before_the_work(capsys, tmp_path):
    page = tmp_path / "x.html"
    said = refused(capsys, "run", "--jobs", "10", "--report", str(page), "--reasons", "-3")
    assert "--reasons must be at least 0, got -3" in said
    assert not page.exists()
