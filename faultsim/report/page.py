"""A report as one self-contained HTML file: its parts, how each is written, and the page around them.

All text is escaped; a content security policy lets only the page's own script run, and blocks all fetching.
"""

import base64
import hashlib
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from importlib.resources import files
from typing import Protocol

from faultsim.data.text_files import write_text
from faultsim.errors import OptionError
from faultsim.version import __version__

#: Letters from which a cell needs some width.
_LONG = 40
Cell = str | float | int | None


class Part(Protocol):
    """What a section holds."""

    def html(self) -> str:
        """As HTML."""


@dataclass(frozen=True)
class Text:
    """Paragraphs, or with `bullets` a list.

    Examples
    --------
    >>> from faultsim.report import Text
    >>> Text(["1 < 2"]).html()
    '<p>1 &lt; 2</p>'
    """

    paragraphs: Sequence[str]
    bullets: bool = False
    note: bool = False

    def html(self) -> str:
        """As HTML."""
        kind = ' class="note"' if self.note else ""
        if self.bullets:
            return f"<ul{kind}>" + "".join(f"<li>{escape(text)}</li>" for text in self.paragraphs) + "</ul>"
        return "\n".join(f"<p{kind}>{escape(text)}</p>" for text in self.paragraphs)


@dataclass(frozen=True)
class Code:
    """A command or a piece of a program.

    Examples
    --------
    >>> from faultsim.report import Code
    >>> Code("a && b").html()
    '<pre><code>a &amp;&amp; b</code></pre>'
    """

    text: str

    def html(self) -> str:
        """As HTML."""
        return f"<pre><code>{escape(self.text)}</code></pre>"


@dataclass(frozen=True)
class Table:
    """A table that is sorted by clicking its headers.

    Parameters
    ----------
    head : sequence of str
        Names of the columns, with units.
    rows : sequence of sequence of str, float, int or None
        The cells.  A column whose cells are all numbers (or None) sorts as such and stands right.
    title : str
        Its caption.
    kinds : int, optional
        Number of a column whose words are the cells' classes, for their colours ("holds", "partly", ...).

    Examples
    --------
    >>> from faultsim.report import Table
    >>> "data-value" in Table(["wait (s)"], [[1234.5], [None]]).html()
    True
    """

    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    title: str = ""
    kinds: int | None = None

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.head):
                raise OptionError(f"table {self.title!r}: row {number} has {len(row)} cells, its head {len(self.head)}")

    def html(self) -> str:
        """As HTML."""
        columns = range(len(self.head))
        numeric = [all(not isinstance(row[i], str) for row in self.rows) and bool(self.rows) for i in columns]
        lines = ['<div class="scroll" tabindex="0"><table class="sortable">']
        if self.title:
            lines.append(f"<caption>{escape(self.title)}</caption>")
        heads = (
            f'<th scope="col" aria-sort="none"{_number(numeric[i])}><button type="button">{escape(name)}</button></th>'
            for i, name in enumerate(self.head)
        )
        lines.append("<thead><tr>" + "".join(heads) + "</tr></thead><tbody>")
        for row in self.rows:
            lines.append("<tr>" + "".join(self._cell(i, row[i], numeric[i]) for i in columns) + "</tr>")
        lines.append("</tbody></table></div>")
        return "\n".join(lines)

    def _cell(self, column: int, value: Cell, numeric: bool) -> str:
        if numeric:
            known = value is not None and not math.isnan(float(value))
            key = repr(float(value)) if known and value is not None else ""
            key = key.replace("inf", "Infinity")
            return f'<td class="number" data-value="{key}">{escape(shown(value))}</td>'
        text = shown(value)
        kind = text.replace(" ", "-") if column == self.kinds else "words" if len(text) > _LONG else ""
        return f'<td class="{escape(kind)}">{escape(text)}</td>' if kind else f"<td>{escape(text)}</td>"


def _number(numeric: bool) -> str:
    return ' class="number"' if numeric else ""


def shown(value: Cell) -> str:
    """A cell as text: five significant digits, with thousands separators.

    Examples
    --------
    >>> shown(1234567.8), shown(0.123456), shown(3), shown(None), shown(float("nan"))
    ('1,234,568', '0.12346', '3', '', 'n/a')
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    if math.isnan(value):
        return "n/a"
    if abs(value) >= 10_000 and math.isfinite(value):
        return f"{value:,.0f}"
    return f"{value:,.5g}"


@dataclass(frozen=True)
class Picture:
    """A figure: inline SVG (from `faultsim.report.svg`) or the bytes of a PNG, with a text alternative.

    Examples
    --------
    >>> from faultsim.report import Picture
    >>> Picture("<svg></svg>", alt="A curve that rises", caption="Waits").html()
    '<figure><svg></svg><figcaption>Waits</figcaption></figure>'
    """

    content: str | bytes
    alt: str
    caption: str = ""

    def html(self) -> str:
        """As HTML."""
        if isinstance(self.content, bytes):
            data = base64.b64encode(self.content).decode()
            inside = f'<img alt="{escape(self.alt)}" src="data:image/png;base64,{data}">'
        else:
            inside = self.content
        caption = f"<figcaption>{escape(self.caption)}</figcaption>" if self.caption else ""
        return f"<figure>{inside}{caption}</figure>"


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it; `level` 2 for the page's sections, 3 within one.

    Examples
    --------
    >>> from faultsim.report import Section, Text
    >>> Section("Waits", [Text(["None."])]).level
    2
    """

    title: str
    parts: Sequence[Part]
    level: int = 2


@dataclass(frozen=True)
class Page:
    """A whole report.

    Parameters
    ----------
    title : str
        Its heading.
    sections : sequence of Section
        What it holds.
    about : sequence of str
        Lines below the heading.
    command : str
        The command that made it.

    Examples
    --------
    >>> from faultsim.report import Page, Section, Table
    >>> page = Page("Waits", [Section("Table", [Table(["s"], [[1.0]])])], command="faultsim run --report waits.html")
    >>> page.html().startswith("<!doctype html>")
    True
    """

    title: str
    sections: Sequence[Section]
    about: Sequence[str] = ()
    command: str = ""
    footer: str = field(default=f"Written by faultsim {__version__}; opens without a network.")

    def html(self) -> str:
        """The file's text."""
        style, script = asset("style.css"), asset("script.js")
        policy = (
            f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src '{_digest(script)}'; "
            "base-uri 'none'; form-action 'none'"
        )
        lines = [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta name="generator" content="faultsim {escape(__version__)}">',
            '<link rel="icon" href="data:,">',  # no browser asks for one then
            f"<title>{escape(self.title)}</title>",
            f"<style>\n{style}</style>",
            "</head>",
            "<body>",
            "<header>",
            f"<h1>{escape(self.title)}</h1>",
            *(f"<p>{escape(line)}</p>" for line in self.about),
        ]
        if self.command:
            lines += ["<p>Made by</p>", Code(self.command).html()]
        lines += ["</header>", *self._contents(), "<main>"]
        for number, section in enumerate(self.sections):
            lines.append(f'<h{section.level} id="s{number}">{escape(section.title)}</h{section.level}>')
            lines += [part.html() for part in section.parts]
        lines += ["</main>", f"<footer>{escape(self.footer)}</footer>", f"<script>{script}</script>", "</body></html>"]
        return "\n".join(lines) + "\n"

    def _contents(self) -> Iterable[str]:
        top = [(number, section.title) for number, section in enumerate(self.sections) if section.level == 2]
        if len(top) > 1:
            items = "".join(f'<li><a href="#s{number}">{escape(title)}</a></li>' for number, title in top)
            yield f'<nav aria-label="Contents"><ul>{items}</ul></nav>'

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the file; it appears complete or not at all."""
        # A file name may have bytes that are no text: they are written as \udcff, so that the page is still UTF-8.
        write_text(path, self.html().encode("utf-8", "backslashreplace").decode("utf-8"))


@cache
def asset(name: str) -> str:
    """A file shipped with the package for its pages."""
    return files("faultsim.report").joinpath(name).read_text(encoding="utf-8")


def _digest(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
