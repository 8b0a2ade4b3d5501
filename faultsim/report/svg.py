"""Figures as SVG for embedding in a page: small, without clashing ids, the same bytes for the same figure."""

import io
import re
from html import escape
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_DROPPED = {"metadata", "style", "title"}
#: Of the parts that are pictures within the SVG.
RASTER_DPI = 110
#: What matplotlib sets for its whole file in a style sheet, which would apply to the whole page.
_STROKES = "stroke-linejoin:round;stroke-linecap:butt"


def inline_svg(figure: "Axes | Figure", name: str, alt: str) -> str:
    """A figure as an ``<svg>`` element.

    Parameters
    ----------
    figure : Axes or Figure
        What a plot function returned.
    name : str
        Begins all ids inside; differs among the figures of a page.
    alt : str
        Text alternative: what the figure shows.

    Examples
    --------
    >>> from faultsim.plot import plot_curves
    >>> text = inline_svg(plot_curves({"a": ([1, 2], [3, 4])}), "waits", "Waits against load")
    >>> text.startswith('<svg role="img" aria-label="Waits against load"')
    True
    """
    whole: Any = figure if hasattr(figure, "savefig") else figure.figure
    buffer = io.BytesIO()
    whole.savefig(buffer, format="svg", metadata={"Date": None}, dpi=RASTER_DPI)
    root = ElementTree.fromstring(buffer.getvalue())
    ids: dict[str, str] = {}
    _strip(root, name, ids)
    _refer(root, ids)
    width, height, box = (root.attrib.get(key, "") for key in ("width", "height", "viewBox"))
    root.attrib.clear()
    inside = "".join(ElementTree.tostring(child, encoding="unicode") for child in root)
    return (
        f'<svg role="img" aria-label="{escape(alt)}" width="{width}" height="{height}" viewBox="{box}" '
        f'style="{_STROKES}"><title>{escape(alt)}</title>{inside}</svg>'
    )


def _strip(element: ElementTree.Element, name: str, ids: dict[str, str]) -> None:
    """Plain names of elements and attributes, short numbers, and ids that count up from `name`."""
    element.tail = None
    for child in list(element):
        child.tag = _local(child.tag)
        if child.tag in _DROPPED:
            element.remove(child)
            continue
        given = dict(child.attrib)
        child.attrib.clear()
        for key, value in given.items():
            key = _local(key)
            if key == "id":
                # Groups have ids that nothing refers to; they go below.
                ids[value] = f"{name}-{len(ids)}"
            child.attrib[key] = _NUMBER.sub(_short, value) if key in ("d", "x", "y", "points") else value
        _strip(child, name, ids)
    if element.text and not element.text.strip():
        element.text = None


def _refer(root: ElementTree.Element, ids: dict[str, str]) -> None:
    used = set()
    for element in root.iter():
        for key, value in element.attrib.items():
            if key == "href" and value.startswith("#"):
                used.add(value[1:])
                element.attrib[key] = "#" + ids[value[1:]]
            elif "url(#" in value:
                used |= set(_REFERENCE.findall(value))
                element.attrib[key] = _REFERENCE.sub(lambda match: f"url(#{ids[match[1]]})", value)
    for element in root.iter():
        if "id" in element.attrib:
            if element.attrib["id"] in used:
                element.attrib["id"] = ids[element.attrib["id"]]
            else:
                del element.attrib["id"]


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _short(match: re.Match[str]) -> str:
    return f"{float(match[0]):.2f}".rstrip("0").rstrip(".")
