"""A report as one self-contained HTML file: its parts, how each is written, and the page around them.

All text is escaped; a content security policy lets only the page's own script run, and blocks all fetching.
"""

import base64
import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from importlib.resources import files
from typing import Protocol

from faultsim.data.text_files import write_text
from faultsim.report.svg import variables
from faultsim.version import MODEL_REVISION, __version__


class Part(Protocol):
    """What a section holds; with an attribute `broad` that is true, it takes both columns of a wide page."""

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
    broad: bool = True

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
class Picture:
    """A figure: inline SVG (from `faultsim.report.svg`) or the bytes of a PNG, with a text alternative.

    On a dark page the brightness of a PNG is turned around; one with `broad` takes both columns of a wide page. A
    narrow page shows `narrow`, if there is such an SVG, in place of the first.

    Examples
    --------
    >>> from faultsim.report import Picture
    >>> Picture("<svg></svg>", alt="A curve that rises", caption="Waits").html()
    '<figure><div class="picture"><svg></svg></div><figcaption>Waits</figcaption></figure>'
    """

    content: str | bytes
    alt: str
    caption: str = ""
    broad: bool = False
    narrow: str = ""

    def html(self) -> str:
        """As HTML."""
        if isinstance(self.content, bytes):
            data = base64.b64encode(self.content).decode()
            inside = f'<img alt="{escape(self.alt)}" src="data:image/png;base64,{data}">'
        elif self.narrow:
            inside = f'<div class="on-wide">{self.content}</div><div class="on-narrow">{self.narrow}</div>'
        else:
            inside = self.content
        caption = f"<figcaption>{escape(self.caption)}</figcaption>" if self.caption else ""
        return f'<figure><div class="picture">{inside}</div>{caption}</figure>'


@dataclass(frozen=True)
class Warnings:
    """What a reader should know before the numbers are believed, where nobody overlooks it.

    Examples
    --------
    >>> from faultsim.report import Warnings
    >>> "<li>1 &lt; 2</li>" in Warnings(["1 < 2"]).html()
    True
    """

    texts: Sequence[str]
    broad: bool = True

    def html(self) -> str:
        """As HTML."""
        items = "".join(f"<li>{escape(text)}</li>" for text in self.texts)
        return f'<aside class="warnings"><p>Before you believe the numbers</p><ul>{items}</ul></aside>'


@dataclass(frozen=True)
class Stack:
    """Parts one below the other in one column of a wide page.

    Examples
    --------
    >>> from faultsim.report import Stack, Text
    >>> Stack([Text(["a"]), Text(["b"])]).html().count("<p>")
    2
    """

    parts: Sequence[Part]

    def html(self) -> str:
        """As HTML."""
        return '<div class="stack">' + "\n".join(part.html() for part in self.parts) + "</div>"


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

    def html(self, name: str) -> str:
        """As HTML; `name` is the id of its heading."""
        lines = [
            f'<section aria-labelledby="{name}">',
            f'<h{self.level} id="{name}">{escape(self.title)}</h{self.level}>',
        ]
        if self.parts:
            lines.append('<div class="parts">')
            for part in self.parts:
                broad = " broad" if getattr(part, "broad", False) else ""
                lines += [f'<div class="part{broad}">', part.html(), "</div>"]
            lines.append("</div>")
        return "\n".join([*lines, "</section>"])


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
    footer : str
        The last line.
    warnings : sequence of str
        What should be known before the numbers are believed.

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
    footer: str = field(
        default=f"Written by faultsim {__version__}, model revision {MODEL_REVISION}; opens without a network."
    )
    warnings: Sequence[str] = ()

    def html(self) -> str:
        """The file's text."""
        sections = [section.html(f"s{number}") for number, section in enumerate(self.sections)]
        explores = any('class="explore"' in text for text in sections)  # the button of a view that zooms
        style = _style() + (asset("uplot/uPlot.min.css") if explores else "")
        script = asset("script.js")
        if explores:
            library = f"/*! uPlot\n{asset('uplot/LICENSE')}*/\n{asset('uplot/uPlot.iife.min.js')}"
            script = f"{library}\n{script}\n{asset('explore.js')}"
        policy = (
            f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
            "base-uri 'none'; form-action 'none'"
        )
        lines = [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="color-scheme" content="light dark">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta name="generator" content="faultsim {escape(__version__)}">',
            '<link rel="icon" href="data:,">',  # no browser asks for one then
            f"<title>{escape(self.title)}</title>",
            f"<style>{style}</style>",
            "</head>",
            "<body>",
            "<header>",
            f"<h1>{escape(self.title)}</h1>",
            *(f"<p>{escape(line)}</p>" for line in self.about),
        ]
        if self.command:
            lines += ["<p>Made by</p>", Code(self.command).html()]
        if self.warnings:
            lines.append(Warnings(self.warnings).html())
        lines += ["</header>", *self._contents(), "<main>"]
        lines += sections
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


def _style() -> str:
    """The style sheet, with the colours of the themes in which figures are drawn."""
    dark = f"@media (prefers-color-scheme: dark) {{ :root {{ {variables('dark')} }} }}"
    return f"\n:root {{ {variables('light')} }}\n{dark}\n{asset('style.css')}"


def _digest(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
