"""Reports: one file that holds all it needs, escapes what it is given, and is the same for the same run."""

import errno
import json
import os
import re

import numpy as np
import pytest

import faultsim as fs
from faultsim.cli import main
from faultsim.errors import MissingExtraError, OptionError
from faultsim.plot import gantt, plot_curves
from faultsim.report import Code, Page, Picture, Section, Table, Text, report_run, report_sweep
from faultsim.report.chart import Chart
from faultsim.report.numbers import three_digits
from faultsim.report.packed import layout
from faultsim.report.replay import Replay
from faultsim.report.svg import inline_svg
from faultsim.report.waiting import reasons_of
from helpers.html_pages import Checked, checked
from helpers.results import random_log

NASTY = """</script><script>alert("x")</script><img src=x onerror='y'> & -->"""


@pytest.fixture(scope="module")
def run():
    log = random_log(150, 8)
    trace = fs.FailureTrace(np.arange(5, 3000, 60), np.arange(50) * 7 % 32, [0, 40] * 25, span=3000)
    return fs.Run(log, fs.Torus(4, 4, 2), record=True, failures=trace)


def test_a_page_escapes_all_it_is_given():
    sections = [
        Section(NASTY, [Text([NASTY]), Text([NASTY], bullets=True), Code(NASTY)]),
        Section(NASTY, [Table([NASTY], [[NASTY]], title=NASTY, kinds=0), Picture(b"", NASTY, NASTY)]),
        Section("figure", [Picture(inline_svg(plot_curves({NASTY: ([1], [2])}, title=NASTY), "f", NASTY), NASTY)]),
    ]
    text = Page(NASTY, sections, about=[NASTY], command=NASTY, footer=NASTY).html()
    page = checked(text)
    assert [tag for tag, _ in page.tags].count("script") == 1
    assert not [found for _, found in page.tags if "onerror" in found]
    assert page.text["h1"] == page.text["p"][: len(NASTY)] == page.text["td"] == page.text["caption"] == NASTY


def test_only_the_pages_own_script_may_run_and_nothing_is_fetched():
    import base64
    import hashlib

    text = Page("x", []).html()
    script = re.search(r"<script>(.*?)</script>", text, re.S)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")


def test_numbers_sort_as_numbers_and_words_as_words():
    table = Table(["jobs", "s", "name"], [[12, float("nan"), "b"], [1500, None, "a"], [7, float("inf"), "3"]])
    page = Checked(table.html())
    cells = [found for tag, found in page.tags if tag == "td"]
    assert [cell.get("data-value") for cell in cells] == [
        "12.0", "", None, "1500.0", "", None, "7.0", "Infinity", None,
    ]  # fmt: skip
    heads = [found for tag, found in page.tags if tag == "th"]
    assert [head.get("class") for head in heads] == ["number", "number", None]
    assert page.text["td"].split() == ["12n/ab1,500a7inf3"]


def test_the_report_of_a_pod_shows_its_cubes():
    log = fs.Workload(submit=[0, 5], runtime=[10, 10], size=[8, 1])
    text = report_run(fs.simulate(log, fs.Pod((1, 2, 2), (2, 2, 2), 4), record=True)).html()
    assert "Cubes of the pod, 5 s after the first submit: 2 jobs on 9 of 16 hosts" in text
    assert "replay" not in text.split("</style>")[1].split("<script")[0]


def test_a_run_gives_a_whole_page_the_same_each_time(run):
    result = run.simulate()
    text = report_run(result, command="faultsim run --report x.html").html()
    assert text == report_run(run.simulate(), command="faultsim run --report x.html").html()
    page = checked(text)
    assert text.count("<figure") == 8  # ledger, nodes, queue, Gantt, torus, replay, waits, slowdowns
    for tag, found in page.tags:
        if tag == "svg":
            assert found["role"] == "img"
            assert len(found["aria-label"]) > 10
        if tag == "canvas":
            assert found["aria-label"]
    assert "faultsim run --report x.html" in page.text["code"]
    wait = result.metrics["mean_wait"]
    assert f'data-value="{wait!r}"' in text
    assert len(text) < 600_000


def test_what_was_not_recorded_is_said(run):
    bare = run.with_options(record=False)
    text = report_run(bare.simulate()).html()
    checked(text)
    assert "not made with record=True" in text
    assert text.count("<figure") == 3  # ledger, waits, slowdowns
    text = report_run(bare.with_options(failures=None, recovery=None).simulate()).html()
    assert text.count("<figure") == 5


def test_runs_that_cannot_be_drawn_are_named_in_order(run):
    bare = run.with_options(record=False).simulate()
    labels = ["b", "c", "a", "e"]
    page = report_run(run.simulate(), name="drawn", against=dict.fromkeys(labels, bare)).html()
    told = re.findall(r"(\w): Not drawn", page)
    assert told == labels


def test_runs_side_by_side(run):
    one, other = run.simulate(), run.with_options(scheduler=fs.Fcfs()).simulate()
    text = report_run(one, against={"FCFS <b>": other}, name="EASY").html()
    page = checked(text)
    assert "Kiviat graph of EASY, FCFS &lt;b&gt;" in text
    assert page.text["h1"] == "EASY and FCFS <b>: 150 jobs on torus:4x4x2"
    assert f'data-value="{other.metrics["mean_wait"]!r}"' in text
    assert "FCFS <b>" in page.text["button"]
    with pytest.raises(OptionError, match="another name"):
        report_run(one, against={"EASY": other}, name="EASY")


def test_a_report_of_a_run_that_was_saved(run, tmp_path):
    result = run.simulate()
    result.save(tmp_path / "run.npz")
    assert report_run(fs.load_result(tmp_path / "run.npz")).html() == report_run(result).html()


@pytest.mark.parametrize("machine", [fs.Cluster(1), fs.Torus(1, 1, 1)])
def test_a_run_in_which_nothing_takes_time(machine):
    text = report_run(fs.simulate(fs.Workload(submit=[5], runtime=[0], size=[1]), machine, record=True)).html()
    checked(text)
    assert "n/a" in text


def test_a_replay_holds_the_stays(run):
    result = run.simulate()
    about, data = layout(Replay(result).columns())
    at, columns = 0, {}
    for name, kind, count in about:
        columns[name] = np.frombuffer(data, "<" + kind, count, at)
        at += columns[name].nbytes + -columns[name].nbytes % 4
    assert at == len(data)
    held = result.allocations
    order = np.argsort(held["begin"], kind="stable")
    for name in "xyzabc":
        np.testing.assert_array_equal(columns[name], held[name][order])
    np.testing.assert_array_equal(columns["job"], held["job"][order])
    np.testing.assert_allclose(columns["end"], held["end"][order] - result.span[0], rtol=1e-6)
    assert len(columns["fail_node"]) == 25
    np.testing.assert_allclose(columns["wait"], result.jobs["wait"], rtol=1e-6)
    assert columns["user"].tolist() == (np.maximum(result.users, -1) + 1).tolist()


def test_a_replay_has_the_reasons_of_waiting(run):
    result = run.simulate()
    why = reasons_of(result)
    assert why
    text = report_run(result).html()
    assert [json.loads(found)["why"] for found in re.findall(r'class="about">(.*?)</script>', text)] == [
        {str(job): reason for job, reason in why.items()}
    ] * 2


def test_a_page_appears_whole_or_not_at_all(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "x.html"
    path.write_text("before")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        Page("x", []).write(path)
    assert path.read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == ["x.html"]


def test_the_command_writes_a_report(tmp_path, capsys):
    path = tmp_path / "run & all.html"
    assert main(["run", "--jobs", "60", "--machine", "torus:4x4x8", "--report", str(path)]) == 0
    assert f"written  {path}" in capsys.readouterr().out
    page = checked(path.read_text())
    assert "faultsim run --jobs 60 --machine torus:4x4x8 --report '" in page.text["code"]
    assert "built-in synthetic sdsc_like (60 jobs, seed 0)" in page.text["p"]
    assert main(["run", "--report", str(tmp_path / "no" / "x.html")]) == 2


def test_a_chart_is_shapes_then_a_picture_and_at_last_tells_nothing():
    for jobs, shapes, tells in ((200, True, True), (3500, False, True), (31_000, False, False)):
        log = fs.Workload(submit=np.arange(jobs) * 10, runtime=[15] * jobs, size=[1] * jobs)
        text = Chart(fs.simulate(log, fs.Cluster(4), record=True), "g").html()
        checked(text)
        assert (text.count("<path") > jobs) is shapes
        assert ("<image" in text) is not shapes
        assert ("application/json" in text) is tells
        assert len(text) < 700_000


def test_the_largest_log_gives_a_small_page(data_dir, tmp_path):
    log = fs.read_swf(data_dir / "swf" / "CEA-Curie-2011-2.1-cln.swf.gz")
    result = fs.simulate(log, fs.Cluster(93_312), record=True)
    path = tmp_path / "curie.html"
    report_run(result, against={"FCFS": fs.rerun(result, scheduler=fs.Fcfs())}).write(path)
    checked(path.read_text(encoding="utf-8"))
    assert path.stat().st_size < 2_200_000


def test_names_of_files_that_are_no_text(tmp_path):
    """They come from the command line as lone surrogates, and figures show them as tables do."""
    log = fs.synthetic.sdsc_like(40, rng=1).renamed("log\udcff.swf")
    run = fs.Run(log, fs.Torus(4, 4, 8), record=True)
    one, other = run.simulate(), run.with_options(scheduler=fs.Fcfs()).simulate()
    report_run(one, name="a\udcff", against={"b\udcfe$": other}).write(tmp_path / "run.html")
    grid = {"log": [log, log.head(30).renamed("other\udcff$")], "load": [0.7, 0.9]}
    table = fs.Sweep({"machine": fs.Torus(4, 4, 8)}, grid).run()
    report_sweep(table, metrics=["mean_wait"]).write(tmp_path / "sweep.html")
    for name, words in (("run", ["a\\udcff", "b\\udcfe$", "log\\udcff.swf"]), ("sweep", ["other\\udcff$"])):
        text = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
        checked(text)
        for word in words:
            assert word in text


def test_without_matplotlib_the_extra_is_named(run, monkeypatch, capsys, tmp_path):
    result = run.simulate()
    monkeypatch.setattr("faultsim.plot.base.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r'pip install "faultsim\[plot\]"'):
        report_run(result)
    assert main(["run", "--jobs", "10", "--report", str(tmp_path / "x.html")]) == 2
    assert 'pip install "faultsim[plot]"' in capsys.readouterr().err


def test_a_report_has_goodput_times_between_kills_and_energy(run):
    result = run.simulate()
    power = fs.Power(idle=100, busy=300, down=20)
    text = report_run(result, power=power).html()
    assert result.mttf()["kills"].sum() > 0
    for words in ("Goodput", "ettr with queue", "Time between kills by size", "Energy at 100 W idle, 300 W busy"):
        assert words in text, words
    assert f">{three_digits(result.energy(power).kwh)}<" in text
    without = report_run(run.with_options(failures=None).simulate()).html()
    assert "Time between kills" not in without
    assert "Energy at" not in without
    checked(report_run(result, against={"other": result}, power=power).html())


@pytest.mark.parametrize("machine", [fs.Cluster(4), fs.Torus(2, 2, 1)], ids=str)
def test_a_chart_counts_its_bars_once_for_each_picture(machine, monkeypatch):
    """Which takes as long as drawing them."""
    asked = []
    monkeypatch.setattr(gantt, "_few", lambda *given, few=gantt._few: asked.append(given) or few(*given))
    log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 1])
    assert "application/json" in Chart(fs.simulate(log, machine, record=True), "g").html()
    assert len(asked) == 2  # for wide and for narrow pages
