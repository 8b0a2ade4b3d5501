"""Figures as SVG for a page: small, legible on light and on dark, the same bytes for the same figure.

Neutral colours become the variables of the page's style sheet, words become text that can be found and read aloud, and
styles become attributes, so that the page's policy need not allow styles from anywhere.
"""

import io
import re
from collections.abc import Iterator
from html import escape, unescape
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from faultsim.plot.base import on
from faultsim.plot.theme import THEMES, root_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_PLACE = re.compile(r"translate\((\S+) (\S+)\)(?: rotate\((\S+)\))? scale\((\S+) \S+\)")
_PLACED = re.compile(r"translate\((\S+) (\S+)\)")
_LEVEL = re.compile(r"translate\(\S+ 0(?:\.0)?\)")
_DROPPED = {"metadata", "style", "title"}
#: Of the parts that are pictures within the SVG.
RASTER_DPI = 110
#: Width in inches of figures on narrow pages: letters of 9 points have about 11 pixels on 360.
NARROW = 3.9
#: Width in points below which a figure is not stretched to the width of a column.
SMALL = 440.0
VARIABLES = ("ground", "ink", "soft", "line", "free", "down", "kill")
#: Colour in which figures are drawn -> variable of the page, which differs between light and dark.
NEUTRAL = {"#000000": "var(--ink)"} | {getattr(THEMES["light"], name).lower(): f"var(--{name})" for name in VARIABLES}
#: Neutral colours of areas on which there may be words.
AREAS = ("soft", "free", "down", "kill")
_ON = {on(shade).lower() for shade in ("#000000", "#FFFFFF")}
_WORDS_ON = {f"var(--{name})": f"var(--on-{name})" for name in AREAS}


def variables(theme: str) -> str:
    """The declarations of a page's style sheet for a theme.

    Examples
    --------
    >>> variables("light")[:43]
    '--ground: #FFFFFF; --ink: #202124; --soft: '
    """
    shades = {name: getattr(THEMES[theme], name) for name in VARIABLES}
    return " ".join(
        [f"--{name}: {shade};" for name, shade in shades.items()]
        + [f"--on-{name}: {on(shades[name])};" for name in AREAS]
    )


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
    buffer = io.BytesIO()
    root_figure(figure).savefig(buffer, format="svg", metadata={"Date": None}, dpi=RASTER_DPI)
    parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    root = ElementTree.fromstring(without_controls(buffer.getvalue()), parser)
    ids: dict[str, str] = {}
    _strip(root, name, ids)
    _drop_unused_glyphs(root)
    _mind_the_ground(root)
    _refer(root, ids)
    width, height, box = (root.attrib.get(key, "") for key in ("width", "height", "viewBox"))
    root.attrib.clear()
    inside = "".join(ElementTree.tostring(child, encoding="unicode") for child in root)
    small = ' class="small"' if float(box.split()[2]) < SMALL else ""
    return (
        f'<svg{small} role="img" aria-label="{escape(alt)}" width="{width}" height="{height}" viewBox="{box}" '
        f'fill="{NEUTRAL["#000000"]}" stroke-linejoin="round" stroke-linecap="butt">{inside}</svg>'
    )


def without_controls(text: bytes) -> bytes:
    """Replace control characters, which XML does not have, in names that a figure shows.

    Examples
    --------
    >>> without_controls(b"a\\x01b")
    b'a?b'
    """
    return re.sub(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]", b"?", text)


def _strip(element: ElementTree.Element, name: str, ids: dict[str, str]) -> None:
    """Plain names of elements and attributes, short numbers, and ids that count up from `name`."""
    element.tail = None
    words = ""
    for child in list(element):
        if not isinstance(child.tag, str):  # a comment: the words of the glyphs that follow
            words = unescape(child.text or "").strip(" ")
            element.remove(child)
            continue
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
            if key == "style":
                child.attrib.update(_attributes(value))
            else:
                child.attrib[key] = _NUMBER.sub(_short, value) if key in ("d", "x", "y", "points") else value
                if key == "d":
                    child.attrib[key] = " ".join(child.attrib[key].split())
        _strip(child, name, ids)
        if words and child.tag == "g":
            _write(child, words)
            words = ""
        for key in ("fill", "stroke"):
            if key in child.attrib:
                child.attrib[key] = NEUTRAL.get(child.attrib[key], child.attrib[key])
    if element.text and not element.text.strip():
        element.text = None


def _attributes(style: str) -> Iterator[tuple[str, str]]:
    """Declarations of a style as attributes; colours in small letters."""
    for declaration in style.split(";"):
        key, _, value = (part.strip() for part in declaration.partition(":"))
        if key:
            yield key, value.lower() if key in ("fill", "stroke") else value


def _write(group: ElementTree.Element, words: str) -> None:
    """Glyphs of a line of plain text as text, its middle where theirs is; formulas stay glyphs."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    found = _PLACE.fullmatch(group.attrib.get("transform", ""))
    glyphs = [child for child in group if child.tag == "use"]
    formula = any(not _LEVEL.fullmatch(glyph.attrib.get("transform", "translate(0 0)")) for glyph in glyphs)
    if not found or formula or len(glyphs) != len(words) or "\\" in words:
        return
    x, y, turned, scale = found[1], found[2], found[3], float(found[4])
    size = round(100 * scale, 2)
    width, _, _ = text_to_path.get_text_width_height_descent(words, FontProperties(size=size), False)
    for glyph in glyphs:
        group.remove(glyph)
    group.tag = "text"
    group.text = words
    place = f"translate({float(x):.2f} {float(y):.2f})" + (f" rotate({float(turned):.3g})" if turned else "")
    group.attrib.update({"transform": place, "x": f"{width / 2:.2f}", "font-size": f"{size:g}"})


def _drop_unused_glyphs(root: ElementTree.Element) -> None:
    """Shapes of letters that no glyph uses any more, and the groups of text around them."""
    used = {element.attrib["href"][1:] for element in root.iter("use")}
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag == "defs":
                for shape in list(child):
                    if shape.tag == "path" and shape.attrib.get("id") not in used:
                        child.remove(shape)
                if not len(child):
                    parent.remove(child)
    for parent in list(root.iter("text")):
        for child in list(parent):  # what is defined there is used by later glyphs
            parent.remove(child)
            root.insert(0, child)


def _mind_the_ground(root: ElementTree.Element) -> None:
    """Words on an area whose colour the page chooses get a colour that it chooses to suit."""
    areas: list[tuple[float, float, float, float, str]] = []
    for element in root.iter():
        fill = element.attrib.get("fill", "")
        if element.tag == "path" and fill not in ("", "none"):
            at = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", element.attrib.get("d", ""))]
            if len(at) > 3:
                areas.append((min(at[::2]), max(at[::2]), min(at[1::2]), max(at[1::2]), fill))
        elif element.tag == "text" and fill in _ON:
            place = _PLACED.match(element.attrib["transform"])
            if not place or "rotate" in element.attrib["transform"]:
                continue
            x, y = float(place[1]) + float(element.attrib["x"]), float(place[2]) - 2.0
            under = [area[4] for area in areas if area[0] <= x <= area[1] and area[2] <= y <= area[3]]
            if under and under[-1] in _WORDS_ON:
                element.attrib["fill"] = _WORDS_ON[under[-1]]


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
