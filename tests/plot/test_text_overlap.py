"""No figure writes words over words or out of itself: small and large inputs, light and dark, narrow to wide."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import faultsim as fs
from faultsim import plot
from helpers.results import random_log
from helpers.text_boxes import boxes, faults

#: Pixels of a phone, of a window and of a wide screen, at 96 for an inch.
WIDTHS = (400, 1280, 2560)
LONG = "conservative backfilling by shortest"


@cache
def runs(size):
    """EASY and FCFS on a torus that fails, and EASY on a cluster."""
    if size == "small":
        log, shape, count = random_log(6, 4), (2, 2, 1), 2
    else:
        log, shape, count = random_log(900, 64), (4, 4, 8), 60
    nodes = int(np.prod(shape))
    user = np.arange(len(log)) % 17
    log = fs.Workload(submit=60 * log.submit, runtime=60 * log.runtime, size=log.size, user=user, name="a log")
    span = float(log.submit[-1]) * 1.5
    trace = fs.FailureTrace(
        np.linspace(1, span, count),
        np.arange(count) * 7 % nodes,
        np.where(np.arange(count) % 3, 0, 3600),
        span=span + 1,
    )
    run = fs.Run(log, fs.Torus(*shape), failures=trace, record=True)
    flat = fs.Run(log, fs.Cluster(nodes), failures=trace, record=True)
    return run.simulate(), run.with_options(scheduler=fs.Fcfs()).simulate(), flat.simulate()


@cache
def site_run(size):
    """Jobs that share nodes."""
    n = 6 if size == "small" else 300
    rows = np.arange(n)
    columns = {"cores": 1 + rows % 4, "nodes": np.ones(n, int), "gpus": rows % 2}
    log = fs.Workload(100.0 * rows, 60.0 * (1 + rows % 90), [1] * n, columns=columns)
    return fs.simulate(log, "site:a=2x4cx2v100", record=True)


@cache
def table(size):
    base = {"log": lambda rng: fs.synthetic.nasa_like(120, rng=rng), "machine": fs.Cluster(128)}
    if size == "small":
        grid = {"load": [0.6, 0.9], "scheduler": [fs.Fcfs(), fs.EasyBackfill()], "start_delay": [0.0, 1000.0]}
    else:
        orders = [fs.Fcfs(order=fs.ShortestFirst()), fs.EasyBackfill(order=fs.Wfp3()), fs.ConservativeBackfill()]
        grid = {
            "load": [0.5, 0.6, 0.75, 0.9, 1.0, 1.5, 2.5],
            "scheduler": [fs.Fcfs(), fs.EasyBackfill(), *orders],
            "start_delay": [0.0, 1000.0],
        }
    return fs.Sweep(base, grid, replicates=2).run()


@cache
def workflows(size):
    chain = [(0, 1, 1), (0, 2, 1), (1, 3, 2)]
    count, nodes = (2, 2) if size == "small" else (9, 12)
    flows = [fs.Workflow([4, 4, 6, 2], chain, name=f"workflow {i}") for i in range(count)]
    failures = fs.FailureTrace([6, 14, 15], [0, 1, 1], [3, 2, 4], span=60)
    return fs.simulate_workflows(flows, fs.Resources(nodes), failures=failures, record=True)


@cache
def pod_run(size):
    """With a host that is down."""
    pod = fs.Pod((1, 1, 3), (2, 2, 2), 4) if size == "small" else fs.Pod.tpu_v5p("static")
    failures = fs.FailureTrace([0], [1], [1e9], span=1e9)
    return fs.simulate(random_log(60, 8), pod, failures=failures, record=True)


@cache
def recorded_run(size):
    log = random_log(60, 16)
    waits = log.submit % 50 * (1.0 if size == "small" else 1e5)
    columns = {name: getattr(log, name) for name in ("submit", "runtime", "size")}
    return fs.simulate(fs.Workload(**columns, recorded_wait=waits), fs.Cluster(16))


def both(size):
    easy, fcfs, _ = runs(size)
    return {"EASY": easy, "FCFS": fcfs} if size == "small" else {LONG: easy, f"{LONG} 2": fcfs, "FCFS": fcfs}


@cache
def plans(size):
    failures = fs.FailureTrace([3600], [0], ["1d"], span=90 * 86400)
    return (
        fs.plan("pod:tpu-v4", "8x8x16", availability=0.999)
        if size == "small"
        else fs.plan("pod:tpu7x,wiring=static", failures=failures)
    )


def curves(size):
    labels = ["EASY", "FCFS"] if size == "small" else [f"{LONG} {i}" for i in range(7)]
    return {label: ([0.5, 1.0, 5.0], [1.0 + i, 30.0, 9000.0]) for i, label in enumerate(labels)}


#: Name -> height in inches, and what draws on given axes.
FIGURES = {
    "gantt": (5.0, lambda size, ax: plot.plot_gantt(runs(size)[0], ax=ax)),
    "gantt of nodes": (5.0, lambda size, ax: plot.plot_gantt(runs(size)[2], by="user", ax=ax)),
    "gantt of waits": (5.5, lambda size, ax: plot.plot_gantt(runs(size)[0], by="wait", rows="nodes", ax=ax)),
    "utilization": (4.0, lambda size, ax: plot.plot_utilization(runs(size)[0], ax=ax)),
    "utilizations": (4.0, lambda size, ax: plot.plot_utilization(both(size), ax=ax)),
    "queue": (4.0, lambda size, ax: plot.plot_queue(both(size), ax=ax)),
    "wait": (4.0, lambda size, ax: plot.plot_distribution(both(size), ax=ax)),
    "slowdown": (4.0, lambda size, ax: plot.plot_distribution(runs(size)[2], "slowdown", title=LONG, ax=ax)),
    "resources": (4.0, lambda size, ax: plot.plot_resources(site_run(size), "gpus", title=LONG, ax=ax)),
    "waits by size": (4.0, lambda size, ax: plot.plot_waits_by(both(size), "size_class", title=LONG, ax=ax)),
    "waits by user": (5.0, lambda size, ax: plot.plot_waits_by(runs(size)[2], "user", ax=ax)),
    "ledger": (3.2, lambda size, ax: plot.plot_ledger(both(size), title="Where the time goes, " + LONG, ax=ax)),
    "slices": (5.0, lambda size, ax: plot.plot_occupancy(runs(size)[0], ax=ax)),
    "cubes": (5.0, lambda size, ax: plot.plot_occupancy(runs(size)[0], view="space", ax=ax)),
    "cubes of a pod": (5.0, lambda size, ax: plot.plot_occupancy(pod_run(size), ax=ax)),
    "kiviat": (5.0, lambda size, ax: plot.plot_kiviat(both(size), baseline="FCFS", title=LONG, ax=ax)),
    "sweep": (4.6, lambda size, ax: plot.plot_sweep(table(size), "mean_wait", x="load", title=LONG, ax=ax)),
    "words": (4.6, lambda size, ax: plot.plot_sweep(table(size).select(load=0.9), "utilization", x="scheduler", ax=ax)),
    "saturation": (5.0, lambda size, ax: plot.plot_saturation(table(size).select(start_delay=0.0), ax=ax)),
    "saturation of curves": (5.0, lambda size, ax: plot.plot_saturation(curves(size), y="CPU a job (us)", ax=ax)),
    "heat": (4.0, lambda size, ax: plot.plot_heatmap(
        table(size).select(start_delay=0.0), "mean_wait", x="load", y="scheduler", ax=ax)),
    "turned heat": (4.0, lambda size, ax: plot.plot_heatmap(
        table(size).select(start_delay=0.0), "mean_wait", x="scheduler", y="load", ax=ax)),
    "differences": (8.0, lambda size, ax: plot.plot_differences(
        table(size).select(start_delay=0.0), "mean_wait", "scheduler", "fcfs", ax=ax)),
    "capacity": (4.0, lambda size, ax: plot.plot_capacity(
        {label: (0.6, 0.03 * i, 0.4 - 0.03 * i) for i, label in enumerate(curves(size))}, title=LONG, ax=ax)),
    "sizes": (3.5, lambda size, ax: plot.plot_job_sizes(
        random_log(60, 16), nodes=16 if size == "small" else 128, ax=ax)),
    "curves": (4.0, lambda size, ax: plot.plot_curves(
        curves(size), x="system utilization (%)", y="mean bounded slowdown", log=size == "large", ax=ax)),
    "promises": (5.0, lambda size, ax: plot.plot_promises(plans(size), ax=ax)),
    "recorded": (4.0, lambda size, ax: plot.plot_against_recorded(
        recorded_run(size), by="time" if size == "large" else "size", ax=ax)),
    "workflow": (4.5, lambda size, ax: plot.plot_workflow(workflows(size), ax=ax)),
}  # fmt: skip


def found(draw, size, theme, width, height):
    figure = plot.new_figure(width / 96, height, theme=theme)
    figure.set_dpi(96)
    draw(size, figure.add_subplot())
    return faults(figure)


@pytest.mark.parametrize("size", ["small", "large"])
@pytest.mark.parametrize("name", FIGURES)
def test_no_words_cover_others_or_leave_the_figure(name, size):
    height, draw = FIGURES[name]
    wrong = {
        (theme, width): said
        for theme in ("light", "dark")
        for width in WIDTHS
        if (said := found(draw, size, theme, width, height))
    }
    assert not wrong


def test_a_part_of_a_figure_has_room_of_its_own():
    figure = plot.new_figure(13.0, 5.4)
    left, right = figure.subfigures(1, 2, width_ratios=(2.1, 1))
    plot.plot_queue(both("small"), ax=left.subplots())
    ax = plot.plot_kiviat({f"strategy {i}": run for i, run in enumerate(runs("small"))}, ax=right.subplots())
    assert faults(figure) == []
    assert ax.bbox.width > 2.5 * figure.dpi


@pytest.mark.parametrize("size", ["small", "large"])
@pytest.mark.parametrize("width", WIDTHS)
def test_panels_hold_their_words(size, width):
    for theme in ("light", "dark"):
        figure = plot.plot_panels(
            table(size), "mean_wait", x="load", panels="scheduler", title=LONG, width=width / 96, theme=theme
        )
        figure.set_dpi(96)
        assert faults(figure) == []


@pytest.mark.parametrize("name", FIGURES)
def test_figures_of_their_own_size_hold_their_words(name):
    for size in ("small", "large"):
        figure = FIGURES[name][1](size, None).figure
        assert faults(figure) == []


def test_every_public_figure_is_looked_at():
    source = Path(__file__).read_text(encoding="utf-8")
    drawing = [name for name in plot.__all__ if name.startswith("plot_")]
    assert [name for name in drawing if f"plot.{name}(" not in source] == []


def test_a_bad_figure_is_found():
    figure = plot.new_figure(4.0, 3.0)
    ax = figure.add_subplot()
    plot.plot_curves({"a": ([1, 2], [3, 4])}, ax=ax, x="time (s)")
    assert faults(figure) == []
    ax.text(0.5, 0.5, "one word", transform=ax.transAxes)
    note = ax.text(0.52, 0.5, "another", transform=ax.transAxes)
    assert faults(figure) == ["'one word' covers 'another'"]
    note.set(rotation=90, position=(0.2, 0.3))
    assert faults(figure) == []
    figure.text(0.98, 0.5, "far out")
    assert "'far out' leaves the figure" in faults(figure)


def test_slanted_words_side_by_side_are_no_fault_and_level_ones_are():
    figure = plot.new_figure(4.0, 3.0)
    ax = figure.add_subplot()
    names = [f"a rather long name {i}" for i in range(5)]
    ax.set_xticks(range(5), names, rotation=30, ha="right", rotation_mode="anchor")
    assert faults(figure) == []
    ax.set_xticks(range(5), names, rotation=0, ha="center")
    assert len(faults(figure)) >= 4


def test_words_that_are_not_drawn_do_not_count():
    figure = plot.new_figure(4.0, 3.0)
    ax = figure.add_subplot()
    ax.text(5.0, 5.0, "far away", clip_on=True)
    ax.text(0.5, 0.5, "hidden", visible=False)
    ax.text(0.5, 0.5, "shown")
    ax.set(xlim=(0, 1), ylim=(0, 1))
    assert {"far away", "hidden"}.isdisjoint({words for words, _ in boxes(figure)})
    assert faults(figure) == []
