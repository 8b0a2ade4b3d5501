"""Figures show themselves at the end of a notebook's cell, without pyplot."""

import pickle

import pytest

import faultsim as fs

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

from faultsim.plot import plot_curves, plot_heatmap, plot_queue, save

RESULT = fs.simulate(fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2]), fs.Cluster(2))


@pytest.mark.parametrize("kept", [lambda ax: ax, lambda ax: pickle.loads(pickle.dumps(ax))], ids=["new", "pickled"])
def test_a_figure_is_a_picture(kept):
    ax = kept(plot_queue(RESULT))
    for drawn in (ax, ax.figure):
        assert drawn._repr_png_().startswith(b"\x89PNG")


def heat_map():
    base = {"log": lambda rng: fs.synthetic.nasa_like(20, rng=rng), "machine": fs.Cluster(128)}
    table = fs.Sweep(base, {"load": [0.5, 0.9], "scheduler": ["fcfs", "easy"]}).run()
    return plot_heatmap(table, "mean_wait", x="load", y="scheduler")


@pytest.mark.parametrize("draw", [lambda: plot_curves({"a": ([1, 2], [3, 400])}, log=True), heat_map])
def test_figures_with_ticks_of_their_own_can_be_pickled(draw):
    assert pickle.loads(pickle.dumps(draw()))._repr_png_().startswith(b"\x89PNG")


def test_axes_on_a_part_of_a_figure_are_saved_with_the_whole(tmp_path):
    figure = Figure()
    _, right = figure.subfigures(1, 2)
    save(plot_queue(RESULT, ax=right.add_subplot()), tmp_path / "whole.png")
    save(figure, tmp_path / "same.png")
    assert (tmp_path / "whole.png").read_bytes() == (tmp_path / "same.png").read_bytes()


def test_the_axes_of_others_stay_as_they_are():
    ax = plot_queue(RESULT, ax=Figure().add_subplot())
    assert not hasattr(ax, "_repr_png_")
