"""Figures and reports of sweeps."""

import math

import numpy as np
import pytest

import faultsim as fs
from faultsim.cli import main
from faultsim.errors import OptionError
from faultsim.plot import plot_differences, plot_heatmap, plot_sweep
from faultsim.report import report_sweep
from helpers.html_pages import checked
from helpers.refusals import refused


@pytest.fixture(scope="module")
def table():
    base = {"log": lambda rng: fs.synthetic.nasa_like(120, rng=rng), "machine": fs.Cluster(128)}
    grid = {"load": [0.9, 0.6, 0.75], "scheduler": [fs.Fcfs(), fs.EasyBackfill()], "start_delay": [0.0, 60.0]}
    return fs.Sweep(base, grid, replicates=4, name="demo <i>").run()


def test_lines_are_the_means_in_the_order_of_the_axis(table):
    ax = plot_sweep(table, "mean_wait", x="load")
    assert len(ax.lines) == len(ax.collections) == 4
    for line in ax.lines:
        scheduler, delay = line.get_label().split(", ")
        part = table.select(scheduler=scheduler, start_delay=float(delay))
        assert line.get_xdata().tolist() == [0.6, 0.75, 0.9]
        means = [part.select(load=load)["mean_wait"].mean() for load in (0.6, 0.75, 0.9)]
        assert line.get_ydata() == pytest.approx(means)
    assert ax.get_ylabel() == "mean wait (s)"
    assert ax.get_legend().get_title().get_text() == "scheduler, start_delay"


def test_bands_are_the_intervals(table):
    part = table.select(start_delay=0.0, scheduler="easy")
    ax = plot_sweep(part, "utilization", x="load", confidence=0.9)
    (band,) = ax.collections
    found = part.summary("utilization", confidence=0.9)
    corners = band.get_paths()[0].vertices[:, 1]
    assert corners.min() == pytest.approx(100 * found["low"].min())
    assert corners.max() == pytest.approx(100 * found["high"].max())
    assert ax.get_ylabel() == "utilization (%)"
    assert ax.get_legend() is None


def test_words_are_drawn_side_by_side(table):
    ax = plot_sweep(table.select(start_delay=0.0), "mean_wait", x="scheduler")
    assert [text.get_text() for text in ax.get_xticklabels()] == ["fcfs", "easy"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0.9", "0.6", "0.75"]


def test_long_words_do_not_cover_each_other():
    words = [fs.Fcfs(order=fs.ShortestFirst()), fs.Fcfs(order=fs.LargestFirst()), fs.EasyBackfill(order=fs.Wfp3())]
    run = fs.Run(fs.synthetic.nasa_like(20, rng=1), fs.Cluster(128))
    table = fs.Sweep(run, {"scheduler": [*words, fs.EasyBackfill(order=fs.LargestFirst())], "load": [0.7, 0.9]}).run()
    for ax in (
        plot_sweep(table, "mean_wait", x="scheduler"),
        plot_heatmap(table, "mean_wait", x="scheduler", y="load"),
    ):
        ax.figure.draw_without_rendering()
        ends = [ax.transData.transform((tick, 0.0))[0] for tick in ax.get_xticks()]
        for end, text in zip(ends, ax.get_xticklabels(), strict=True):
            assert text.get_rotation() == 30
            assert text.get_window_extent().x1 < end + 20
    short = plot_sweep(table.where(table["load"] > 0.8), "mean_wait", x="load")
    assert {text.get_rotation() for text in short.get_xticklabels()} == {0.0}


def test_a_heat_map_has_the_means(table):
    part = table.select(scheduler="fcfs")
    ax = plot_heatmap(part, "mean_wait", x="load", y="start_delay")
    grid = np.asarray(ax.images[0].get_array())
    for j, load in enumerate((0.6, 0.75, 0.9)):
        for i, delay in enumerate((0.0, 60.0)):
            assert grid[i, j] == pytest.approx(part.select(load=load, start_delay=delay)["mean_wait"].mean())
    assert len(ax.texts) == 6
    with pytest.raises(OptionError, match=r"axis scheduler has several values.*select\(scheduler"):
        plot_heatmap(table, "mean_wait", x="load", y="start_delay")
    refused(OptionError, "two axes", plot_heatmap, part, "mean_wait", x="load", y="load")


def test_differences_are_those_of_the_paired_test(table):
    seen = set()
    for axis, baseline, first in (("start_delay", 0.0, "0.9, fcfs, 60"), ("scheduler", "fcfs", "0.9, easy, 0")):
        found = table.compare("mean_wait", axis, baseline)
        ax = plot_differences(table, "mean_wait", axis, baseline)
        marks = {}
        for container in ax.containers:
            line = container.lines[0]
            for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True):
                marks[int(y)] = (x, container.get_label().startswith("significant after"))
        assert [marks[row][0] for row in range(len(found["n"]))] == pytest.approx(found["difference"].tolist())
        assert [marks[row][1] for row in range(len(found["n"]))] == found["significant"].tolist()
        assert next(text.get_text() for text in ax.get_yticklabels()) == first
        seen |= set(found["significant"].tolist())
    assert seen == {True, False}


def test_dollars_are_no_formulas(table):
    columns = dict(table.select(start_delay=0.0))
    columns["scheduler"] = np.where(columns["scheduler"] == "easy", r"$\\bad{ $5", "$a$")
    odd = type(table)(columns, axes=table.axes)
    for draw in (
        lambda: plot_sweep(odd, "mean_wait", x="load"),
        lambda: plot_heatmap(odd, "mean_wait", x="load", y="scheduler"),
        lambda: plot_differences(odd, "mean_wait", "scheduler", "$a$"),
    ):
        draw().figure.draw_without_rendering()


def test_what_is_wrong_is_said(table):
    refused(OptionError, r"no axis 'laod' \(did you mean 'load'", plot_sweep, table, "mean_wait", x="laod")
    refused(OptionError, "metric", plot_sweep, table, "mean_weight", x="load")
    run = fs.Run(fs.synthetic.nasa_like(20, rng=1), fs.Cluster(128))
    many = fs.Sweep(run, {"start_delay": [float(i) for i in range(20)], "seed": [0, 1]}).run()
    refused(OptionError, r"20 lines \(start_delay\).*select", plot_sweep, many, "mean_wait", x="seed")


def test_a_sweep_gives_a_whole_page_the_same_each_time(table):
    text = report_sweep(table, command="faultsim sweep demo.toml").html()
    assert text == report_sweep(table, command="faultsim sweep demo.toml").html()
    page = checked(text)
    assert page.text["h1"] == "demo <i>"
    assert "faultsim sweep demo.toml" in page.text["code"]
    assert text.count("<svg ") == 2 * 6  # for wide and narrow screens: curves and differences of three metrics
    value = float(table.select(scheduler="easy", load=0.6, start_delay=0.0)["mean_wait"].mean())
    assert any(found.get("data-value") == repr(value) for _, found in page.tags)
    assert f"{table.n_rows} rows" in page.text["p"]


def test_two_axes_of_numbers_make_a_heat_map(table):
    text = report_sweep(table.select(scheduler="fcfs"), metrics=["mean_wait"]).html()
    assert text.count("<svg ") == 2 * 2
    assert "over load and start_delay, as colours" in text


def test_many_curves_are_several_figures():
    run = fs.Run(fs.synthetic.nasa_like(20, rng=1), fs.Cluster(128))
    grid = {"load": [0.5, 0.6, 0.7, 0.8, 0.9], "start_delay": [0.0, 1.0, 2.0, 3.0], "seed": [0, 1, 2, 3]}
    text = report_sweep(fs.Sweep(run, grid).run(), metrics=["mean_wait"]).html()
    checked(text)
    assert text.count("<svg ") == 2 * 4
    assert "seed = 3" in text


def test_failed_runs_and_odd_values_are_shown():
    run = fs.Run(fs.synthetic.nasa_like(20, rng=1), fs.Cluster(128))
    table = fs.Sweep(run, {"predictor": [None], "start_delay": [0.0, 5.0]}).run()
    columns = dict(table) | {"mean_wait": np.array([math.nan, 1.0]), "status": np.array(["error", "ok"])}
    broken = type(table)(columns, axes=table.axes, errors={0: "no <b>luck</b>"}, expected=3)
    text = report_sweep(broken, metrics=["mean_wait"]).html()
    checked(text)
    assert "failed: no &lt;b&gt;luck&lt;/b&gt;" in text
    assert "2 rows of 3; not done" in text
    assert "1 runs failed" in text
    refused(OptionError, "no metric 'x'", report_sweep, broken, metrics=["x"])
    refused(OptionError, "no rows yet", report_sweep, broken.where(np.zeros(2, bool)))


def test_the_commands_write_a_report(tmp_path, capsys):
    spec = tmp_path / "demo.toml"
    spec.write_text(
        'replicates = 3\n[base]\nlog = { synthetic = "nasa_like", jobs = 60 }\nmachine = "cluster:128"\n'
        '[grid]\nload = [0.7, 0.9]\nscheduler = ["fcfs", "easy"]\n'
    )
    path = tmp_path / "sweep.html"
    assert main(["sweep", str(spec), "--report", str(path)]) == 0
    assert f"written  {path}" in capsys.readouterr().out
    page = checked(path.read_text())
    assert f"faultsim sweep {spec} --report {path}" in page.text["code"]
    argv = ["status", str(tmp_path / "demo.db"), "--metric", "mean_wait", "--against", "scheduler=easy"]
    assert main([*argv, "--report", str(path)]) == 0
    assert "mean wait (s) against scheduler = easy" in path.read_text()
    assert main([*argv, "--report", str(tmp_path / "no" / "x.html")]) == 2
    assert "its folder does not exist" in capsys.readouterr().err
