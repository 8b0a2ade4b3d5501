"""Distributions over jobs, saturation, panels of a sweep, runs on one time axis, themes."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

import faultsim as fs
from faultsim.errors import OptionError
from faultsim.plot import (
    new_figure,
    plot_distribution,
    plot_ledger,
    plot_panels,
    plot_queue,
    plot_saturation,
    plot_sweep,
    plot_utilization,
    use_theme,
)
from faultsim.plot.theme import THEMES
from helpers.refusals import refused
from helpers.results import random_log


@pytest.fixture(scope="module")
def runs():
    run = fs.Run(random_log(300, 16), fs.Cluster(20), record=True)
    return {"EASY": run.simulate(), "FCFS": run.with_options(scheduler=fs.Fcfs()).simulate()}


@pytest.fixture(scope="module")
def table():
    base = {"log": lambda rng: fs.synthetic.nasa_like(60, rng=rng), "machine": fs.Cluster(128)}
    grid = {"load": [0.5, 1.0, 4.0], "scheduler": [fs.Fcfs(), fs.EasyBackfill()], "start_delay": [0.0, 30.0]}
    return fs.Sweep(base, grid, replicates=3).run()


@pytest.mark.parametrize(
    ("what", "column"), [("wait", "wait"), ("response", "response"), ("slowdown", "bounded_slowdown")]
)
def test_the_line_is_the_share_of_jobs_that_have_no_more(runs, what, column):
    ax = plot_distribution(runs, what)
    assert ax.get_xscale() == "log"
    for line, run in zip(ax.lines, runs.values(), strict=True):
        x, y = line.get_data()
        assert (np.diff(y) >= 0).all()
        for at in np.quantile(x, [0.1, 0.5, 0.9]):
            drawn = y[np.searchsorted(x, at, side="right") - 1]
            assert drawn == pytest.approx(100 * (run.jobs[column] <= at).mean())
        assert y[-1] == 100


def test_a_long_line_is_thinned_and_keeps_its_ends():
    rng = np.random.default_rng(3)
    log = fs.Workload(submit=np.sort(rng.random(6000) * 1e5), runtime=rng.random(6000) * 500, size=np.ones(6000, int))
    run = fs.simulate(log, fs.Cluster(14))
    (line,) = plot_distribution(run).lines
    x, y = line.get_data()
    waits = run.jobs["wait"]
    assert len(np.unique(waits[waits > 1])) > 2500 > len(x)
    assert y[0] == pytest.approx(100 * (waits <= 1).mean(), abs=0.1)
    assert x[-2] == waits.max()


def test_distributions_say_what_is_wrong(runs):
    refused(OptionError, "unknown what 'waits'", plot_distribution, runs, "waits")
    refused(OptionError, "at least one", plot_distribution, {})
    refused(OptionError, "at least one", plot_queue, {})


def test_saturation_marks_where_the_machine_is_full(table):
    part = table.select(start_delay=0.0)
    ax = plot_saturation(part, "mean_wait")
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "symlog")  # some means are 0
    (mark,) = [line for line in ax.lines if str(line.get_label()).startswith("load 1")]
    assert set(mark.get_xdata()) == {1.0}
    (easy,) = [line for line in ax.lines if line.get_label() == "easy"]
    means = [part.select(load=load, scheduler="easy")["mean_wait"].mean() for load in (0.5, 1.0, 4.0)]
    assert easy.get_ydata() == pytest.approx(means)
    low = plot_saturation({"a": ([0.5, 0.9], [1.0, 2.0])}, y="s")
    assert (len(low.lines), low.get_xscale(), low.get_legend()) == (1, "linear", None)
    refused(OptionError, "at least one", plot_saturation, {})
    refused(OptionError, "axis scheduler has no numbers", plot_saturation, part, x="scheduler")


def test_panels_are_parts_of_the_sweep(table):
    figure = plot_panels(table, "mean_wait", x="load", panels="scheduler", title="both")
    titles = [ax.get_title() for ax in figure.axes]
    assert titles == ["scheduler fcfs", "scheduler easy"]
    for ax, scheduler in zip(figure.axes, ("fcfs", "easy"), strict=True):
        alone = plot_sweep(table.select(scheduler=scheduler), "mean_wait", x="load")
        assert [line.get_ydata().tolist() for line in ax.lines] == [line.get_ydata().tolist() for line in alone.lines]
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()
    refused(OptionError, "x and panels are both", plot_panels, table, "mean_wait", x="load", panels="load")
    refused(OptionError, r"no axis 'laod' \(did you mean", plot_panels, table, "mean_wait", x="load", panels="laod")


def test_bands_end_where_a_metric_does(table):
    found = table.summary("mean_wait")
    assert np.nanmin(found["low"]) < 0  # as intervals of few replicates are
    ax = plot_sweep(table, "mean_wait", x="load")
    lowest = min(band.get_paths()[0].vertices[:, 1].min() for band in ax.collections)
    assert lowest == 0.0


def test_runs_share_a_time_axis(runs):
    ax = plot_utilization(runs)
    ends = [line.get_xdata()[-1] for line in ax.lines if len(line.get_xdata()) > 2]
    last = max(run.span[1] for run in runs.values())
    assert max(ends) == ax.get_xlim()[1]
    for end, run in zip(ends, runs.values(), strict=True):
        assert end / max(ends) == pytest.approx((run.span[1] - run.span[0]) / (last - run.span[0]))
    words = [text.get_text() for text in ax.texts]
    assert words == [f"{name}, mean {100 * run.metrics['utilization']:.1f} %" for name, run in runs.items()]


def test_failures_of_runs_with_different_ones_are_not_marked():
    log = random_log(40, 8)
    traces = [fs.FailureTrace([500.0 + i], [3], [5.0], span=1e4) for i in range(2)]
    one, two = (fs.simulate(log, fs.Cluster(20), failures=trace, record=True) for trace in traces)
    alike = plot_queue({"a": one, "b": fs.simulate(log, fs.Cluster(20), failures=traces[0], record=True)})
    assert "failure" in [text.get_text() for text in alike.get_legend().get_texts()]
    apart = plot_queue({"a": one, "b": two})
    assert apart.get_legend() is None


def test_what_is_drawn_follows_the_theme(runs):
    dark = THEMES["dark"]
    with use_theme("dark"):
        ambient = plot_ledger(runs)
    for ax in (
        ambient,
        plot_ledger(runs, theme="dark"),
        plot_ledger(runs, ax=new_figure(theme="dark").add_subplot()),
        plot_ledger(runs, ax=new_figure().add_subplot(), theme="dark"),
    ):
        assert to_hex(ax.figure.get_facecolor()).upper() == dark.ground
        assert to_hex(ax.xaxis.label.get_color()).upper() == dark.ink
        assert {to_hex(text.get_color()).upper() for text in ax.get_legend().get_texts()} == {dark.ink}
    light = plot_ledger(runs)
    assert to_hex(light.figure.get_facecolor()).upper() == "#FFFFFF"
    assert to_hex(light.xaxis.label.get_color()).upper() == THEMES["light"].ink


def test_themes_give_ink_that_can_be_read():
    def brightness(name):
        parts = np.array([int(name[i : i + 2], 16) / 255 for i in (1, 3, 5)])
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    def contrast(a, b):
        low, high = sorted((brightness(a), brightness(b)))
        return (high + 0.05) / (low + 0.05)

    for theme in THEMES.values():
        assert contrast(theme.ink, theme.ground) > 12
        assert contrast(theme.soft, theme.ground) > 4.5
        assert contrast(theme.kill, theme.ground) > 4.5
        assert contrast(theme.ink, theme.down) > 4.5
        assert contrast(theme.ink, theme.free) > 4.5
    neutral = [colour for theme in THEMES.values() for colour in list(vars(theme).values())[1:]]
    assert len(set(neutral)) == len(neutral)
