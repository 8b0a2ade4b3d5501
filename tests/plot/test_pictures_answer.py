"""What figures show where they used to hide it: several runs, zeros on logarithmic axes, Holm's correction, labels."""

import csv
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import faultsim as fs
from faultsim.errors import OptionError
from faultsim.plot import (
    animate_occupancy,
    new_figure,
    occupancy,
    plot_differences,
    plot_distribution,
    plot_ledger,
    plot_occupancy,
    plot_panels,
    plot_queue,
    plot_saturation,
    plot_sweep,
    plot_utilization,
)
from faultsim.plot.failure_marks import cross
from faultsim.plot.occupancy import busiest
from faultsim.plot.touching import FILLS, STRONG
from faultsim.reproduce.krevat2002.figures import FIGURES
from faultsim.reproduce.krevat2002.runs import COLUMNS, Curve
from helpers.refusals import refused

LATE = 1000.0  # the first submit, so that the clock of the run and the time since then differ


def runs(n):
    log = fs.synthetic.nasa_like(120, rng=1)
    return {f"run {i}": fs.simulate(log.with_load(0.4 + 0.2 * i, nodes=128), fs.Cluster(128)) for i in range(n)}


@pytest.fixture(scope="module")
def table():
    base = {"log": lambda rng: fs.synthetic.nasa_like(150, rng=rng), "machine": fs.Cluster(128)}
    axes = {"load": [0.2, 0.7, 0.9, 1.0, 1.2], "scheduler": ["fcfs", "easy", "conservative"]}
    return fs.Sweep(base, axes, replicates=4).run()


@pytest.mark.parametrize("draw", [plot_utilization, plot_queue])
@pytest.mark.parametrize("n", [2, 5])
def test_several_runs_are_in_rows_that_do_not_meet(draw, n):
    several = runs(n)
    ax = draw(several)
    assert [text.get_text().partition(",")[0] for text in ax.texts] == list(several)
    steps = [line for line in ax.lines if line.get_drawstyle() == "steps-post"]
    reach = [(line.get_ydata().min(), line.get_ydata().max()) for line in steps]
    assert len(reach) == n
    for (low, _), (_, high) in pairwise(reach):
        assert high < low
    assert max(high - low for low, high in reach) == pytest.approx(1.0)


def test_the_mean_of_each_run_ends_with_the_run():
    several = runs(3)
    ax = plot_utilization(several)
    first = min(run.span[0] for run in several.values())
    means = [line for line in ax.lines if line.get_linestyle() == "--"]
    ends = [max(line.get_xdata()) for line in means]
    widest = max(run.span[1] for run in several.values()) - first
    expected = [ax.get_xlim()[1] * (run.span[1] - first) / widest for run in several.values()]
    assert ends == pytest.approx(expected)
    assert len({round(end, 6) for end in ends}) > 1


def test_zeros_on_a_logarithmic_axis_are_drawn(table):
    assert (table.summary("mean_wait")["mean"] == 0).any()
    for ax in (plot_saturation(table), plot_sweep(table, "mean_wait", x="load", log=True)):
        assert ax.get_yscale() == "symlog"
        assert ax.get_ylim()[0] == 0.0
        assert 0.0 in ax.get_yticks()
        for line in ax.lines:
            points = line.get_xydata()
            assert np.isfinite(ax.transData.transform(points)).all()
    figure = plot_panels(table, "mean_wait", x="load", panels="scheduler", log=True)
    assert {ax.get_yscale() for ax in figure.axes} == {"symlog"}
    curves = {"a": ([0.5, 1.0], [0.0, 90.0])}
    assert plot_saturation(curves).get_yscale() == "symlog"
    assert plot_saturation({"a": ([0.5, 1.0], [0.1, 90.0])}).get_yscale() == "log"
    plot_saturation({"a": ([0.5, 1.0], [0.0, 0.0])}).figure.draw_without_rendering()


def test_the_loads_of_a_sweep_are_the_ticks_of_a_saturation_curve(table):
    assert plot_saturation(table).get_xticks() == pytest.approx([0.2, 0.7, 0.9, 1.0, 1.2])


def test_differences_name_the_correction_where_intervals_seem_to_say_otherwise():
    base = {"log": lambda rng: fs.synthetic.nasa_like(300, rng=rng), "machine": fs.Cluster(128)}
    grid = {"load": [0.5, 0.6, 0.7, 0.8, 0.9], "scheduler": ["fcfs", "easy", "conservative"]}
    table = fs.Sweep(base, grid, replicates=5).run()
    found = table.compare("mean_wait", "scheduler", "fcfs")
    clear = ~found["significant"] & ((found["low"] > 0) | (found["high"] < 0))
    assert clear.any()
    words = [text.get_text() for text in plot_differences(table, "mean_wait", "scheduler", "fcfs").get_legend().texts]
    assert f"significant alone,\nnot after Holm's correction\nfor {len(clear)} rows" in words
    one = table.where(table["scheduler"] != "conservative").select(load=0.9)
    words = [text.get_text() for text in plot_differences(one, "mean_wait", "scheduler", "fcfs").get_legend().texts]
    assert not any("Holm" in text for text in words)


def test_no_line_connects_values_that_are_words(table):
    ax = plot_sweep(table, "mean_wait", x="scheduler")
    marks = list(ax.containers)
    assert len(marks) == 5
    places = [container[0].get_xdata() for container in marks]
    for across, container in zip(places, marks, strict=True):
        assert container[0].get_linestyle() == "None"
        assert np.rint(across).tolist() == [0.0, 1.0, 2.0]
    assert len({round(float(across[0]), 6) for across in places}) == 5
    assert len([line for line in plot_sweep(table, "mean_wait", x="load").lines if line.get_linestyle() == "-"]) == 3


def mostly_zero():
    """20 jobs of 200 run so long that the next one waits: 95 % wait for nothing."""
    at = np.arange(400)
    log = fs.Workload(submit=at * 100.0, runtime=np.where(at % 20 == 0, 150.0, 5.0), size=np.full(400, 4))
    return fs.simulate(log, fs.Cluster(4))


@pytest.mark.parametrize("what", ["wait", "slowdown"])
def test_a_distribution_with_most_jobs_at_zero_shows_the_others(what):
    ax = plot_distribution(mostly_zero(), what)
    assert 90 < ax.get_ylim()[0] < 95
    (text,) = ax.get_legend().get_texts()
    assert text.get_text().endswith("; 95 % at most 1 s" if what == "wait" else "; 95 % of 1")
    assert [mark.get_offsets().tolist() for mark in ax.collections] == [[[1.0, 95.0]]]
    idle = fs.simulate(fs.Workload(submit=[0, 9], runtime=[5, 5], size=[1, 1]), fs.Cluster(2))
    assert [text.get_text()[:3] for text in plot_distribution(idle, what).texts] == ["no "]


def test_the_ledger_of_one_run_has_all_shares_in_words():
    run = next(iter(runs(1).values()))
    words = [text.get_text() for text in plot_ledger(run).get_legend().get_texts()]
    shares = {word.rpartition(", ")[0]: float(word.rpartition(", ")[2].removesuffix(" %")) for word in words}
    assert sum(shares.values()) == pytest.approx(100.0, abs=0.2)
    assert {"useful", "idle without demand"} <= shares.keys()
    assert plot_ledger(run.ledger).get_xlim() == (0, 100)
    assert not any("%" in text.get_text() for text in plot_ledger({"a": run, "b": run}).get_legend().get_texts())


def torus_run(machine, n=120):
    rng = np.random.default_rng(3)
    log = fs.Workload(
        LATE + np.sort(rng.integers(0, 40_000, n)), rng.integers(2000, 20_000, n), rng.choice([1, 2, 4, 8], n)
    )
    failures = fs.synthetic.exponential_failures(64, 1e5, 400_000, downtime=9000.0, rng=2, any_rate=True)
    return fs.simulate(log, machine, failures=failures, record=True)


@pytest.fixture(scope="module")
def busy():
    return torus_run(fs.Torus(4, 4, 4))


def test_an_instant_is_a_time_since_the_first_submit(busy, tmp_path):
    assert busy.span[0] > LATE - 1
    twelve = occupancy(busy, 43_200.0)
    np.testing.assert_array_equal(occupancy(busy, "12h"), twelve)
    np.testing.assert_array_equal(occupancy(busy, timedelta(hours=12)), twelve)
    held, moment = busy.allocations, busy.span[0] + 43_200.0
    now = (held["begin"] <= moment) & (moment < held["end"])
    assert (twelve >= 0).sum() == (held["a"] * held["b"] * held["c"])[now].sum() > 0
    assert plot_occupancy(busy, at="12h").get_title().startswith("12 hours after the first submit\n")
    refused(OptionError, "at must be at most .* when the run is over", plot_occupancy, busy, at="400d")
    refused(OptionError, "at must be at least 0", plot_occupancy, busy, at=-1)
    refused(OptionError, "at must be", plot_occupancy, busy, at="noon")
    refused(OptionError, "at must be at most", animate_occupancy, busy, tmp_path / "a.gif", begin="900d")


def test_the_ten_largest_jobs_have_colours_of_their_own_and_names(busy):
    ax = plot_occupancy(busy)
    state = occupancy(busy, busiest(busy))
    jobs, nodes = np.unique(state[state >= 0], return_counts=True)
    assert len(jobs) > 10
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    ids = busy.jobs["id"]
    largest = sorted(zip(-nodes, jobs, strict=True))[:10]
    assert words[:10] == [f"job {ids[job]}, {-n} node{'s' * int(n < -1)}" for n, job in largest]
    assert words[10] == f"{len(jobs) - 10} smaller job{'s' * (len(jobs) > 11)}"
    shades = [
        "#" + "".join(f"{round(255 * part):02X}" for part in row[:3]) for row in ax.collections[0].get_facecolor()
    ]
    of_job = {
        job: {shade for shade, here in zip(shades, state.ravel().tolist(), strict=True) if here == job} for job in jobs
    }
    assert all(len(each) == 1 for each in of_job.values())
    named = [next(iter(of_job[job])) for _, job in largest]
    assert len(set(named)) == 10
    assert set(named) <= set(STRONG)
    assert {next(iter(of_job[job])) for job in jobs} - set(named) <= set(FILLS[len(STRONG) :])
    labels = {text.get_text() for text in ax.texts}
    assert len(labels & {str(ids[job]) for job in jobs}) > 5


def test_a_small_figure_names_few_jobs(busy):
    ax = plot_occupancy(busy, ax=new_figure(3.4, 4.0).add_subplot())
    assert sum(text.get_text().startswith("job ") for text in ax.get_legend().get_texts()) == 4


def test_down_nodes_are_crossed_out(busy):
    trace, (begin, end) = busy.failures, busy.span
    at = next(time - begin + 1 for time in trace.time.tolist() if begin < time < end - 9000)
    ax = plot_occupancy(busy, at)
    down = ((trace.time <= begin + at) & (begin + at < trace.time + trace.downtime)).sum()
    crosses = [part for part in ax.collections if type(part).__name__ == "LineCollection"]
    assert [len(part.get_segments()) for part in crosses] == [2 * down]
    assert "node down" in [text.get_text() for text in ax.get_legend().get_texts()]
    cross(ax, np.array([]), np.array([]), 1.0, [])  # none: nothing is drawn


def test_cubes_of_a_slice_have_the_label_of_their_job():
    pod = fs.Pod((2, 2, 2), (2, 2, 2), 2)
    log = fs.Workload([LATE, LATE], [90.0, 90.0], [8, 4], id=[71, 94])
    ax = plot_occupancy(fs.simulate(log, pod, record=True), 1.0)
    labels = [text.get_text() for text in ax.texts]
    assert (labels.count("71"), labels.count("94")) == (4, 2)
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == ["job 71, 4 cubes", "job 94, 2 cubes", "host free"]


def krevat_evidence():
    """The curves of the repository's own run, which its figures show."""
    place = Path(__file__).parents[2] / "docs" / "reproductions" / "krevat2002" / "runs.csv"
    rows: dict[tuple[str, str], list[dict[str, str]]] = {}
    with open(place, newline="") as file:
        for row in csv.DictReader(file):
            rows.setdefault((row["log"].lower(), row["series"]), []).append(row)
    curves = {}
    for key, some in rows.items():
        some.sort(key=lambda row: float(row["c"]))
        columns = {name: np.array([float(row[name]) for row in some]) for name in COLUMNS}
        curves[key] = Curve(np.array([float(row["c"]) for row in some]), columns)
    sources = {name: SimpleNamespace(label=name.upper()) for name in ("nasa", "sdsc")}
    return SimpleNamespace(curve=lambda log, name: curves[log, name], quick=False, sources=sources)


def test_figures_of_krevat_say_what_the_marks_of_the_paper_mean():
    evidence = krevat_evidence()
    _, bells, between, _ = FIGURES["fig6"][0](evidence).axes
    assert {text.get_text() for text in bells.texts} == {"Migration falls\nfrom 70 %", "B+M falls\nfrom 77 %"}
    assert [text.get_text() for text in between.texts] == ["90 min in the paper", "30 min in the paper"]
    (stars,) = [line for line in between.lines if line.get_marker() == "*"]
    assert list(stars.get_ydata()) == [90.0, 30.0]
    assert not [line for line in between.lines if len(set(line.get_ydata())) == 1]  # no line across
    nasa, sdsc = FIGURES["fig8"][0](evidence).axes
    assert "0.5" in [text.get_text() for text in nasa.texts]  # the sliver of lost capacity
    assert "0.3" in [text.get_text() for text in sdsc.texts]
    words = sdsc.get_legend_handles_labels()[1]
    assert "edges of utilized and lost in the paper" in words
