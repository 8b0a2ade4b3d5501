"""Figures that show themselves where they end a notebook's cell, although nothing here imports pyplot."""

import io
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from faultsim.plot.theme import root_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Drawn = TypeVar("Drawn", "Axes", "Figure")


def shown(drawn: Drawn) -> Drawn:
    """A figure or an Axes of one, with the method by which notebooks ask for a picture.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> shown(Figure())._repr_png_()[1:4]
    b'PNG'
    """
    vars(drawn)["_repr_png_"] = partial(_png, drawn)
    return drawn


def _png(drawn: "Axes | Figure") -> bytes:
    """The whole figure."""
    picture = io.BytesIO()
    root_figure(drawn).savefig(picture, format="png", bbox_inches="tight")
    return picture.getvalue()
