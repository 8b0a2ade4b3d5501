"""Light and dark: the colours of a figure that are no data, and what every public plot function shares."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import astuple, dataclass
from functools import wraps
from typing import TYPE_CHECKING, Literal, ParamSpec, TypeVar, cast

from faultsim import checks
from faultsim.entries import entry
from faultsim.errors import OptionError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, FigureBase

ThemeName = Literal["light", "dark"]


@dataclass(frozen=True)
class Theme:
    """Colours of what is no data. All others are the same in every theme, and can be seen on both grounds.

    Examples
    --------
    >>> THEMES["light"].ground, THEMES["dark"].ground
    ('#FFFFFF', '#16181C')
    """

    name: ThemeName
    #: Behind everything, and between bars that touch.
    ground: str
    #: Titles, labels and the seventh line.
    ink: str
    #: Ticks, frames, failures that hit nobody.
    soft: str
    #: Grids.
    line: str
    #: Free nodes and idle capacity.
    free: str
    #: Nodes that are down.
    down: str
    #: Failures that kill.
    kill: str

    def swaps(self, other: "Theme") -> dict[str, str]:
        """Colour -> what it is in the other theme: enough to recolour a drawn figure.

        Examples
        --------
        >>> THEMES["light"].swaps(THEMES["dark"])["#202124"]
        '#E8EAEE'
        """
        return dict(zip(astuple(self)[1:], astuple(other)[1:], strict=True))


THEMES: dict[str, Theme] = {
    "light": Theme("light", "#FFFFFF", "#202124", "#5F6368", "#DADCE0", "#E8EAED", "#BDC1C6", "#C5221F"),
    "dark": Theme("dark", "#16181C", "#E8EAEE", "#A8AEB6", "#363B42", "#2A2E34", "#575E67", "#FF5A4F"),
}
_CURRENT: ContextVar[Theme] = ContextVar("theme", default=THEMES["light"])
#: Largest width of a new figure in inches.
_WIDEST: ContextVar[float] = ContextVar("widest", default=float("inf"))


def current() -> Theme:
    """The theme in which figures are drawn now.

    Examples
    --------
    >>> current().name
    'light'
    """
    return _CURRENT.get()


@entry
@contextmanager
def use_theme(name: ThemeName) -> Iterator[None]:
    """Draw all figures of a block in a theme; other threads keep theirs.

    Parameters
    ----------
    name : {"light", "dark"}
        The theme.

    Raises
    ------
    OptionError
        If there is no such theme.

    Examples
    --------
    >>> from faultsim.plot import plot_curves, use_theme
    >>> with use_theme("dark"):
    ...     ax = plot_curves({"FCFS": ([40, 50, 60], [1, 2, 9])}, x="utilization (%)", y="mean wait (h)")
    >>> [round(255 * part) for part in ax.figure.get_facecolor()[:3]]
    [22, 24, 28]
    """
    checks.choice("theme", name, THEMES)
    token = _CURRENT.set(THEMES[name])
    try:
        yield
    finally:
        _CURRENT.reset(token)


@contextmanager
def at_most_wide(inches: float) -> Iterator[None]:
    """Draw all new figures of a block at most so wide, with letters of the same size.

    Examples
    --------
    >>> from faultsim.plot import new_figure
    >>> with at_most_wide(4.0):
    ...     figure = new_figure(7.0, 3.0)
    >>> figure.get_size_inches().tolist()
    [4.0, 3.0]
    """
    token = _WIDEST.set(inches)
    try:
        yield
    finally:
        _WIDEST.reset(token)


def widest() -> float:
    """The largest width of a new figure now, in inches.

    Examples
    --------
    >>> widest()
    inf
    """
    return _WIDEST.get()


def root_figure(drawn: "Axes | FigureBase") -> "Figure":
    """The figure that an Axes, or a part of a figure, is on; a figure itself."""
    from matplotlib.figure import SubFigure

    figure = drawn.figure
    while isinstance(figure, SubFigure):
        figure = figure.figure
    return figure


def _fits(ax: "Axes") -> ThemeName:
    """The theme whose ink can be read on the figure of an Axes."""
    from matplotlib.colors import to_rgba

    red, green, blue, opacity = to_rgba(root_figure(ax).get_facecolor())
    dark = opacity > 0.5 and 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
    return "dark" if dark else "light"


P = ParamSpec("P")
R = TypeVar("R")
_AXES = """ax : Axes, optional
    Where to draw; by default a new figure.
"""
_THEME = """theme : {"light", "dark"}, optional
    By default what fits the figure of `ax`, or the theme of `use_theme`.
"""
_RETURNS = """
Returns
-------
{}

"""
_MISSING = """MissingExtraError
    If matplotlib is not installed.
"""


def themed(draw: Callable[P, R]) -> Callable[P, R]:
    """A plot function whose keyword `theme` holds while it draws.

    Its docstring gets what all of them share: `ax` (if it has one), `theme`, Returns, and the error without matplotlib.
    """
    own = "ax" in (draw.__kwdefaults__ or {})

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> R:
        name, ax = cast("ThemeName | None", kwargs.get("theme")), cast("Axes | None", kwargs.get("ax"))
        if ax is not None and (isinstance(ax, type) or not hasattr(ax, "add_collection")):
            hint = ": figure.add_subplot() makes one" if hasattr(ax, "savefig") else ""
            raise OptionError(f"{draw.__name__}: ax must be an Axes of matplotlib, got {type(ax).__name__}{hint}")
        if not isinstance(title := kwargs.get("title", ""), str):
            raise OptionError(f"{draw.__name__}: title must be text, got {checks.shown(title)}")
        if name is not None:
            checks.choice("theme", name, THEMES)
            if ax is not None:
                root_figure(ax).set_facecolor(THEMES[name].ground)
        elif ax is not None:
            name = _fits(ax)
        with use_theme(name or current().name):
            return draw(*args, **kwargs)

    drawn.__doc__ = _completed(draw.__doc__ or "", _AXES + _THEME if own else _THEME, "Axes" if own else "Figure")
    return drawn


def _completed(doc: str, parameters: str, returned: str) -> str:
    head, examples, tail = inspect.cleandoc(doc).partition("\nExamples\n")
    head, raises, errors = head.partition("\nRaises\n------\n")
    return (
        head.rstrip() + "\n" + parameters + _RETURNS.format(returned)
        + "Raises\n------\n" + (errors.rstrip() + "\n" if raises else "") + _MISSING
        + examples + tail
    )  # fmt: skip
