"""Figures show themselves at the end of a notebook's cell, without pyplot."""

import pickle

import pytest

import faultsim as fs

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

from faultsim.plot import plot_queue

RESULT = fs.simulate(fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2]), fs.Cluster(2))


@pytest.mark.parametrize("kept", [lambda ax: ax, lambda ax: pickle.loads(pickle.dumps(ax))], ids=["new", "pickled"])
def test_a_figure_is_a_picture(kept):
    ax = kept(plot_queue(RESULT))
    for drawn in (ax, ax.figure):
        assert drawn._repr_png_().startswith(b"\x89PNG")


def test_the_axes_of_others_stay_as_they_are():
    ax = plot_queue(RESULT, ax=Figure().add_subplot())
    assert not hasattr(ax, "_repr_png_")
