"""What all figures share: colors, axes without pyplot, words and numbers that fit, time axes, saving."""

import io
import math
import os
import textwrap
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

from numpy.typing import ArrayLike

from faultsim import checks
from faultsim.arrays import Floats
from faultsim.data.whole_files import whole_file
from faultsim.entries import entry
from faultsim.errors import MissingExtraError, OptionError
from faultsim.plot.given import refuse
from faultsim.plot.notebook import shown
from faultsim.plot.theme import THEMES, ThemeName, current, root_figure, use_theme, widest

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colors that people with common forms of color blindness can distinguish ([okabe2008]), darkest first for lines. The
#: last one is drawn in the ink of the theme.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
FORMATS = (".png", ".pdf", ".svg", ".svgz", ".jpg", ".jpeg", ".webp", ".eps", ".ps", ".tif", ".tiff")
_SLANTED_UP_TO = 24  # letters
_UPRIGHT = 0.18  # inches between upright words
_LETTERS = ("#FAFAFA", "#1B1C1E")  # on fills
_EM = 0.58  # mean width of a letter, by the size of the font
#: Unit of a time axis -> seconds, by the span from which it is used.
_UNITS = (
    (4 * 86400.0, "days", 86400.0),
    (4 * 3600.0, "hours", 3600.0),
    (600.0, "minutes", 60.0),
    (0.0, "seconds", 1.0),
)


@entry
def require_matplotlib() -> None:
    """Raise `MissingExtraError` when matplotlib is not installed (without importing it).

    Examples
    --------
    >>> from faultsim.plot import require_matplotlib
    >>> require_matplotlib()
    """
    if find_spec("matplotlib") is None:
        raise MissingExtraError('figures need matplotlib: pip install "faultsim[plot]"')


@entry
def new_figure(
    width: float = 7.0, height: float = 4.0, *, constrained: bool = True, theme: ThemeName | None = None
) -> "Figure":
    """An empty figure on the Agg canvas, for figures of a chosen size or with several panels.

    Parameters
    ----------
    width, height : float
        Inches.
    constrained : bool
        Whether matplotlib arranges what is on it, so that nothing overlaps; else the margins are the caller's.
    theme : {"light", "dark"}, optional
        By default that of `use_theme`; what is drawn on its axes follows.

    Returns
    -------
    Figure

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.

    Examples
    --------
    >>> from faultsim.plot import new_figure, plot_curves
    >>> left, right = new_figure(9.0, 3.5, theme="dark").subplots(1, 2)
    >>> ax = plot_curves({"FCFS": ([40, 50, 60], [1, 2, 9])}, ax=left)
    """
    require_matplotlib()
    width = min(width, widest())
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    width = checks.number("width", width, above=0.0, high=1000.0, unit="inches")
    height = checks.number("height", height, above=0.0, high=1000.0, unit="inches")
    with use_theme(theme or current().name):
        figure = Figure(
            figsize=(width, height), layout="constrained" if constrained else None, dpi=150, facecolor=current().ground
        )
    if constrained:
        figure.get_layout_engine().set(w_pad=0.09, h_pad=0.08)  # type: ignore[union-attr, call-arg]
    FigureCanvasAgg(figure)
    return shown(figure)


def axes(ax: "Axes | None", width: float = 7.0, height: float = 4.0) -> "Axes":
    """`ax`, or the axes of a new figure."""
    return shown(new_figure(width, height).add_subplot()) if ax is None else ax


def inked(name: str) -> str:
    """A colour of the light theme in that of the figure.

    Examples
    --------
    >>> inked("#FFFFFF"), inked("#0072B2")
    ('#FFFFFF', '#0072B2')
    """
    plain = {"#000000": current().ink, "black": current().ink, "white": current().ground}
    return plain.get(name) or THEMES["light"].swaps(current()).get(name, name)


def on(fill: str) -> str:
    """The colour of letters that can be read on a fill.

    Examples
    --------
    >>> on("#0072B2"), on("#E69F00")
    ('#FAFAFA', '#1B1C1E')
    """
    theme = current()
    if fill in (theme.free, theme.down):
        return theme.ink
    if fill in (theme.soft, theme.kill):
        return theme.ground
    return max(_LETTERS, key=lambda letters: _contrast(letters, fill))


def _contrast(one: str, other: str) -> float:
    """From 1 to 21, by the formula of WCAG 2.1."""

    def light(shade: str) -> float:
        parts = [int(shade[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


def colour(i: int) -> str:
    """The colour of the i-th line, in the theme of the figure.

    Examples
    --------
    >>> colour(0), colour(6), colour(7)
    ('#0072B2', '#202124', '#0072B2')
    """
    return inked(PALETTE[i % len(PALETTE)])


def tidy(
    ax: "Axes",
    *,
    x: str | None = None,
    y: str | None = None,
    title: str | None = None,
    grid: bool = True,
    taken: float = 0.0,
) -> "Axes":
    """Light frame and grid; labels of the axes and a title, where they are given; numbers with commas.

    `taken` are the inches across that long words beside the axes take of them.
    """
    from matplotlib.ticker import AutoLocator, FuncFormatter, MaxNLocator, ScalarFormatter

    theme = current()
    ax.set_facecolor(theme.ground)
    if x is not None:
        ax.set_xlabel(wrapped(x, room(ax) - taken, 10))
    if y is not None:
        ax.set_ylabel(wrapped(y, 0.85 * room(ax, across=False), 10))
    if title is not None:
        write_title(ax, title, taken=taken)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set(color=theme.ink, fontsize=10)
        if isinstance(axis.get_major_formatter(), ScalarFormatter) and axis.get_scale() == "linear":
            axis.set_major_formatter(FuncFormatter(tick))
            if axis is ax.xaxis and isinstance(axis.get_major_locator(), AutoLocator):  # six digits and a comma each
                axis.set_major_locator(
                    MaxNLocator(nbins=max(2, min(9, int((room(ax) - taken) / 0.6))), steps=[1, 2, 5, 10])
                )
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(theme.soft)
    ax.tick_params(color=theme.soft, labelcolor=theme.ink, labelsize=9)
    ax.tick_params(which="minor", color=theme.soft, labelcolor=theme.ink, labelsize=8)
    if grid:
        ax.grid(True, color=theme.line, linewidth=0.6)
        ax.set_axisbelow(True)
    return ax


def plain_number(value: float) -> str:
    """A number of an axis: with commas, without powers of ten.

    Examples
    --------
    >>> plain_number(1e6), plain_number(0.30000000000000004), plain_number(-2.0)
    ('1,000,000', '0.3', '\N{MINUS SIGN}2')
    """
    return f"{value + 0.0:,.10g}".replace("-", "\N{MINUS SIGN}")


def tick(value: float, _: object) -> str:
    """`plain_number` for a tick; a function with a name, so that figures can be pickled."""
    return plain_number(value)


def three_digits(value: float) -> str:
    """A number in a figure: three digits, or all before the point.

    Examples
    --------
    >>> three_digits(1234.5), three_digits(0.123456), three_digits(100.0)
    ('1,234', '0.123', '100')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def shapes_of(corners: Floats) -> Sequence[ArrayLike]:
    """The corners of many shapes, as collections of Matplotlib declare them: faster as one array than as a list."""
    return cast(Sequence[ArrayLike], corners)


def inches(ax: "Axes") -> tuple[float, float]:
    """Width and height of the figure, or the part of one, that the axes are on."""
    part, dots = ax.figure, root_figure(ax).dpi
    return part.bbox.width / dots, part.bbox.height / dots


def room(ax: "Axes", *, across: bool = True) -> float:
    """Inches that the axes have, roughly: before the layout the margins are only guessed."""
    box, (wide, high) = ax.get_position(original=True), inches(ax)
    return float(box.width * wide if across else box.height * high)


def wrapped(text: str, across: float, size: float) -> str:
    """Text in lines that fit.

    Examples
    --------
    >>> wrapped("nodes requested by waiting jobs", 1.5, 10)
    'nodes requested by\\nwaiting jobs'
    """
    letters = max(12, int(72 * across / (_EM * size)))
    return "\n".join(
        part for line in text.split("\n") for part in textwrap.wrap(line, letters, break_on_hyphens=False) or [""]
    )


def wide(texts: Sequence[str], size: float) -> float:
    """Inches that the longest of some texts takes, roughly.

    Examples
    --------
    >>> round(wide(["fcfs", "conservative"], 9.0), 2)
    0.87
    """
    return _EM * size / 72 * max(map(len, texts), default=0)


def write_title(ax: "Axes", text: str, *, pad: float = 6.0, taken: float = 0.0) -> None:
    """A title above the axes, in as many lines as it needs."""
    ax.set_title(wrapped(text, 1.08 * (room(ax) - taken), 11), fontsize=11, color=current().ink, pad=pad)


def legend_below(
    ax: "Axes", handles: "list[Artist] | None" = None, *, bare: bool = False, title: str | None = None
) -> None:
    """A legend below the axes and their label (or `bare` axes without one), in as many columns as fit."""
    labels = [handle.get_label() for handle in handles] if handles is not None else ax.get_legend_handles_labels()[1]
    if not labels:
        return
    letters = max(len(label) for label in map(str, labels))
    columns = max(1, min(len(labels), 6, int(72 * room(ax) * 1.05 / (8 * (_EM * letters + 4.2)))))
    given = {} if handles is None else {"handles": handles}
    under = 0.5 if bare else 4.5 + 1.6 * ax.get_xlabel().count("\n") + 72 / 8 * _slanted(ax)
    legend(ax, loc="upper center", bbox_to_anchor=(0.5, 0.0), borderaxespad=under, ncols=columns, title=title, **given)


def legend_of_figure(figure: "Figure", ax: "Axes", *, title: str | None = None) -> None:
    """The legend of one panel below all of them."""
    handles, labels = ax.get_legend_handles_labels()
    letters = max(map(len, labels), default=0)
    columns = max(1, min(len(labels), 6, int(72 * figure.get_size_inches()[0] / (8 * (_EM * letters + 4.2)))))
    made = figure.legend(
        handles, labels, loc="outside lower center", ncols=columns, fontsize=8, frameon=False, title=title,
        title_fontsize=8, labelcolor=current().ink,
    )  # fmt: skip
    made.get_title().set_color(current().ink)


def legend(ax: "Axes", **options: object) -> object:
    """A legend without a frame, in the ink of the theme."""
    made = ax.legend(**{"fontsize": 8, "frameon": False, "labelcolor": current().ink, "title_fontsize": 8} | options)
    made.get_title().set_color(current().ink)
    for text in made.get_texts():
        text.set_text(wrapped(text.get_text(), inches(ax)[0] - 0.9, 8))
    return made


def _slanted(ax: "Axes") -> float:
    """Inches that turned names below the axes reach further down than level ones."""
    turned = [label for label in ax.get_xticklabels() if label.get_rotation()]
    if not turned:
        return 0.0
    lines = [line for label in turned for line in label.get_text().split("\n")]
    return wide(lines, 9) * math.sin(math.radians(turned[0].get_rotation()))


def name_ticks(ax: "Axes", names: Sequence[str], *, taken: float = 0.0) -> None:
    """Names below the axes; slanted if one is too long for its place, upright in lines if it is very long."""
    free = max(0.3, room(ax) - taken) / max(1, len(names))
    every = max(1, math.ceil(_UPRIGHT / free))
    if wide(names, 9) <= 0.92 * free:
        ax.set_xticks(range(len(names)), names)
    elif max(map(len, names)) <= _SLANTED_UP_TO and free > 2 * _UPRIGHT:
        ax.set_xticks(range(len(names)), names, rotation=30, ha="right", rotation_mode="anchor")
    else:
        shown = [wrapped(name, 1.6, 9) if i % every == 0 else "" for i, name in enumerate(names)]
        ax.set_xticks(range(len(names)), shown, rotation=90)


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
    """Text that matplotlib shows literally, although dollars would begin a formula, or bytes of a file name be no text.

    Examples
    --------
    >>> print(verbatim("5 $ an $hour"), verbatim("log\\udcff.swf"))
    5 \\$ an \\$hour log\\udcff.swf
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("$", r"\$")


@entry
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
    require_matplotlib()
    import matplotlib

    name = checks.file_name(path)
    check_picture(name)
    end = ".svg" if name == "-" else os.path.splitext(name)[1].lower()
    if isinstance(figure, type) or not (hasattr(figure, "savefig") or hasattr(figure, "add_collection")):
        refuse("save", "an Axes or a Figure, which plot functions return", figure)
    # No date and no version inside: the same figure is the same bytes.
    metadata = {".png": {"Software": None}, ".pdf": {"CreationDate": None}, ".svg": {"Date": None}}.get(end)
    # Pillow writes some formats to the descriptor itself, and does not look at how much was written.
    memory = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "faultsim"}):  # else the parts of an SVG have names by chance
        root_figure(figure).savefig(memory, format=end[1:], metadata=metadata)
    with whole_file(name) as file:
        file.write(memory.getbuffer())


def check_picture(name: str) -> None:
    """Complain of a file name that is no picture's.

    Examples
    --------
    >>> check_picture("queue.png")
    """
    end = ".svg" if name == "-" else os.path.splitext(name)[1].lower()
    if end not in FORMATS:
        raise OptionError(f"{name}: unknown kind of picture {end!r}; known: {', '.join(FORMATS[:3])}")
