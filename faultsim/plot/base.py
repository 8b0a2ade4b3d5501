"""What all figures share: colors, axes without pyplot, time axes, saving."""

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from faultsim.data.whole_files import whole_file
from faultsim.errors import MissingExtraError, OptionError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colors that people with common forms of color blindness can distinguish ([okabe2008]), darkest first for lines.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY = "#5F6368"
FORMATS = (".png", ".pdf", ".svg", ".svgz", ".jpg", ".jpeg", ".webp", ".eps", ".ps", ".tif", ".tiff")
#: Unit of a time axis -> seconds, by the span from which it is used.
_UNITS = (
    (4 * 86400.0, "days", 86400.0),
    (4 * 3600.0, "hours", 3600.0),
    (600.0, "minutes", 60.0),
    (0.0, "seconds", 1.0),
)


def require_matplotlib() -> None:
    """Raise `MissingExtraError` when matplotlib is not installed (without importing it).

    Examples
    --------
    >>> from faultsim.plot import require_matplotlib
    >>> require_matplotlib()
    """
    if find_spec("matplotlib") is None:
        raise MissingExtraError('figures need matplotlib: pip install "faultsim[plot]"')


def new_figure(width: float = 7.0, height: float = 4.0, *, constrained: bool = True) -> "Figure":
    """An empty figure of `width` x `height` inches on the Agg canvas; constrained layout, or the caller's margins."""
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained" if constrained else None, dpi=150)
    FigureCanvasAgg(figure)
    return figure


def axes(ax: "Axes | None", width: float = 7.0, height: float = 4.0) -> "Axes":
    """`ax`, or the axes of a new figure."""
    return new_figure(width, height).add_subplot() if ax is None else ax


def tidy(
    ax: "Axes", *, x: str | None = None, y: str | None = None, title: str | None = None, grid: bool = True
) -> "Axes":
    """Light frame and grid; labels of the axes and a title, where they are given."""
    if x is not None:
        ax.set_xlabel(x, fontsize=10)
    if y is not None:
        ax.set_ylabel(y, fontsize=10)
    if title is not None:
        ax.set_title(title, fontsize=11)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(GREY)
    ax.tick_params(color=GREY, labelsize=9)
    if grid:
        ax.grid(True, color="#DADCE0", linewidth=0.6)
        ax.set_axisbelow(True)
    return ax


def legend_below(ax: "Axes", handles: list[Any] | None = None) -> None:
    """A legend below the axes and their label, where it hides nothing."""
    given = {} if handles is None else {"handles": handles}
    ax.legend(
        fontsize=8, loc="upper center", bbox_to_anchor=(0.5, 0.0), borderaxespad=4.5, ncols=4, frameon=False, **given
    )


def time_unit(span: float) -> tuple[str, float]:
    """Name and seconds of the unit for a time axis of `span` seconds.

    Examples
    --------
    >>> time_unit(86400.0 * 30)
    ('days', 86400.0)
    """
    for least, name, seconds in _UNITS:
        if span >= least:
            return name, seconds
    return _UNITS[-1][1:]


def verbatim(text: str) -> str:
    """Text that matplotlib shows literally, although dollars would begin a formula.

    Examples
    --------
    >>> print(verbatim("5 $ an $hour"))
    5 \\$ an \\$hour
    """
    return text.replace("$", r"\$")


def save(figure: "Axes | Figure", path: str | os.PathLike[str]) -> None:
    """Save a figure, or the figure of an Axes, as .png, .pdf, .svg and so on, according to the file name.

    Parameters
    ----------
    figure : Axes or Figure
        What a plot function returned.
    path : path
        File to write; "-" is standard output, as .svg.

    Raises
    ------
    OptionError
        If the file name has no known image extension.

    Examples
    --------
    >>> import faultsim as fs, io, os, tempfile
    >>> from faultsim.plot import plot_queue, save
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> ax = plot_queue(fs.simulate(log, fs.Cluster(2)))
    >>> save(ax, os.path.join(tempfile.mkdtemp(), "queue.png"))
    """
    name = os.fspath(path)
    end = ".svg" if name == "-" else os.path.splitext(name)[1].lower()
    if end not in FORMATS:
        raise OptionError(f"{name}: unknown kind of picture {end!r}; known: {', '.join(FORMATS[:3])}")
    whole: Any = figure if hasattr(figure, "savefig") else figure.figure
    # No date and no version inside: the same figure is the same bytes.
    metadata = {".png": {"Software": None}, ".pdf": {"CreationDate": None}, ".svg": {"Date": None}}.get(end)
    with whole_file(name) as file:
        whole.savefig(file, format=end[1:], metadata=metadata)
