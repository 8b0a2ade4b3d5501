"""The HTML report of one reproduction, or of all: claims, tables of numbers, figures, and how each claim is judged."""

import re
from collections.abc import Iterable, Sequence

from faultsim.report import Page, Picture, Section, Table, Text
from faultsim.reproduce import claims as table
from faultsim.reproduce.claims import Row, Verdict
from faultsim.reproduce.everything import COLUMNS, closing, overview
from faultsim.reproduce.pictures import fewer_colours
from faultsim.reproduce.report import Report

_COLOURS = 64  # of a figure's picture: lines and letters need no more
_FIGURE = re.compile(r"fig(\d+)(.*)")
_TITLE = "The claims of the papers and their verdicts"


def page_of(done: Report[object], *, command: str = "") -> Page:
    """The page of one reproduction.

    Parameters
    ----------
    done : Report
        What ``reproduce`` of a paper gave; its figures are read from the folder that it wrote.
    command : str
        The command that made it.
    """
    return Page(done.title, _sections(done, level=2), about=_about(done), command=command)


def page_of_all(reports: Sequence[Report[object]], *, command: str = "") -> Page:
    """One page of several reproductions: how many claims hold, then each paper as in `page_of`."""
    documents = {done.command: done.document() for done in reports}
    sections = [
        Section("Papers", [Table(COLUMNS, overview(documents))]),
        Section("Claims that do not hold, or partly, or are undecided", [_open_claims(reports)]),
    ]
    for done in reports:
        sections += [Section(done.title, [Text(_about(done))]), *_sections(done, level=3)]
    quick = any(done.quick for done in reports)
    about = [closing(documents), *(["A quick run: leave --quick out for all of it."] if quick else [])]
    return Page(_TITLE, sections, about=about, command=command)


def _about(done: Report[object]) -> list[str]:
    lines = [*done.logs(), f"{len(done.rows)} claims: {table.counts(done.rows)}. {done.runs:,} runs."]
    lines.append(table.supports(done.rows))
    return [*lines, f"A quick run: {done.quick_note}."] if done.quick else lines


def _sections(done: Report[object], level: int) -> list[Section]:
    """The figures first: they show at a glance what the claims then say one by one."""
    sections = []
    if done.figures:
        sections.append(Section("Figures", [_picture(done, name) for name in done.figures], level))
    sections.append(Section("Claims", [Text(done.remarks), _claims(done.rows)], level))
    if done.settings:
        rows = [[letter, words] for letter, words in done.settings.items()]
        sections.append(Section("Settings", [Table(["letter", "what it stands for"], rows)], level))
    if done.grids:
        grids = [Table(_heads(grid.rows[0]), [list(row) for row in grid.rows[1:]], grid.title) for grid in done.grids]
        sections.append(Section("Numbers", grids, level))
    if done.changes():
        heads = ["id", "before", "now", "why"]
        sections.append(Section("Verdicts that changed", [Table(heads, [list(row) for row in done.changes()])], level))
    rules = [[row.claim.id, row.claim.kind, row.rule_words] for row in done.rows]
    sections.append(Section("How each claim is judged", [Table(["id", "kind", "rule"], rules)], level))
    return sections


def _heads(names: Sequence[str]) -> list[str]:
    """A column without a name still needs something to click on."""
    return [name or "what" for name in names]


def _ours(row: Row) -> str:
    return row.finding.ours + (f" ({row.finding.note})" if row.finding.note else "")


def _claims(rows: Iterable[Row]) -> Table:
    cells = [
        [row.claim.id, row.claim.text, row.claim.where, row.claim.paper, _ours(row), str(row.finding.verdict),
         str(row.finding.parts), row.support_words, row.claim.settings]
        for row in rows
    ]  # fmt: skip
    return Table(["id", "claim", "where", "paper", "ours", "verdict", "parts", "support", "settings"], cells, kinds=5)


def _open_claims(reports: Iterable[Report[object]]) -> Table:
    cells = [
        [
            done.command,
            row.claim.id,
            row.claim.text,
            row.claim.paper,
            _ours(row),
            str(row.finding.verdict),
            str(row.finding.parts),
        ]
        for done in reports
        for row in done.rows
        if row.finding.verdict in (Verdict.PARTLY, Verdict.FAILS, Verdict.UNDECIDED)
    ]
    return Table(["paper", "id", "claim", "paper's value", "ours", "verdict", "parts"], cells, kinds=5)


def _picture(done: Report[object], name: str) -> Picture | Text:
    """The figure that the reproduction drew, and the claims that look at it as its words."""
    path = done.out / f"{name}.png"
    if not path.is_file():
        return Text([f"{name} was not drawn."], note=True)
    found = _FIGURE.fullmatch(name)
    title = name.replace("_", " ").replace("-", " ").capitalize()
    about = [f"The figure is drawn from {name}.csv"]
    if found:
        title = f"Figure {found[1]}{found[2].replace('-', ', ')}"
        number = re.compile(rf"\bFigs?\. (?:[\d, ab]*\b)?{found[1]}(?!\d)")
        about = [f"{row.claim.id}: {row.claim.text}" for row in done.rows if number.search(row.claim.where)] or about
    return Picture(fewer_colours(path, _COLOURS), f"{title}. {'; '.join(about)}.", title)
