"""What a reproduction gives back and writes: its judged claims for a terminal, as a page, and as JSON."""

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar, cast

from faultsim.data.text_files import write_text
from faultsim.errors import OptionError
from faultsim.reproduce import claims as table
from faultsim.reproduce.claims import Row, Verdict
from faultsim.reproduce.data_files import JobLog
from faultsim.reproduce.documents import ClaimsDocument
from faultsim.reproduce.history import COUNT, DRAWN, MENDED, before
from faultsim.version import MODEL_REVISION

Evidence = TypeVar("Evidence")


@dataclass(frozen=True)
class Input:
    """A log or trace that the runs used: its name, how the text calls it, where it comes from, how long it is."""

    name: str
    label: str
    text: str
    real: bool
    count: int
    what: str = "jobs"

    def document(self) -> dict[str, object]:
        """As plain data for JSON."""
        return {"name": self.name, "real": self.real, "source": self.text, self.what: self.count}


def job_logs(sources: Iterable[JobLog]) -> list[Input]:
    """Job logs as inputs."""
    return [Input(s.name, s.label, s.text, s.real, len(s.log)) for s in sources]


@dataclass(frozen=True)
class Grid:
    """A table of numbers beside the claims: its title, and rows of text of which the first is the head."""

    title: str
    rows: Sequence[Sequence[str]]

    def text(self) -> str:
        """For a terminal, columns aligned.

        Examples
        --------
        >>> print(Grid("Waits", [["log", "s"], ["NASA", "12"]]).text())
        Waits
          log    s
          NASA  12
        """
        widths = [max(map(len, column)) for column in zip(*self.rows, strict=True)]
        lines = [self.title]
        for first, *rest in self.rows:
            cells = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
            lines.append("  " + "  ".join([first.ljust(widths[0]), *cells]))
        return "\n".join(lines)

    def markdown(self) -> str:
        """As a Markdown table."""
        return "\n".join([f"**{self.title}**", "", *table.markdown_table(self.rows[0], self.rows[1:])])


@dataclass(frozen=True, kw_only=True)
class Report(Generic[Evidence]):
    """What a reproduction gave: the evidence, the judged claims, the files written, the seconds it took.

    Parameters
    ----------
    title : str
        Authors, title, venue and year.
    command : str
        Its name for ``faultsim reproduce``.
    evidence : object
        What the claims were judged on.
    rows : list of Row
        The judged claims.
    inputs : sequence of Input
        Logs and traces.
    settings : mapping
        What the letters in the claims' settings stand for.
    quick, quick_note
        Whether it was a quick run, and what that left out.
    usual : bool
        Whether it is a full run with the default seed and options.
    remarks : sequence of str
        Paragraphs for the page, before the table.
    grids : sequence of Grid
        Tables of numbers, before the claims.
    figures : sequence of str
        Names of the figures, without ending.
    out, files
        The folder, and every file written.
    runs, seconds
        Number of simulations, and how long all of it took.
    """

    title: str
    command: str
    evidence: Evidence
    rows: list[Row]
    inputs: Sequence[Input]
    settings: Mapping[str, str]
    quick: bool
    quick_note: str
    usual: bool = False
    remarks: Sequence[str] = ()
    grids: Sequence[Grid] = ()
    figures: Sequence[str] = ()
    out: Path
    files: list[Path]
    runs: int
    seconds: float

    @property
    def failed(self) -> list[str]:
        """Labels of the claims that do not hold."""
        return [row.claim.id for row in self.rows if row.finding.verdict is Verdict.FAILS]

    def changes(self) -> list[tuple[str, str, str, str]]:
        """Verdicts that changed: claim, before, now, why; of a usual run on the inputs of before, as the rule alone is
        other then.
        """
        drawn = {source.name for source in self.inputs if not source.real}
        return changes(self.command, self.rows) if self.usual and drawn == DRAWN.get(self.command, set()) else []

    def logs(self) -> list[str]:
        """One line an input: which, and where it comes from."""
        return [f"{source.label}: {source.text}" for source in self.inputs]

    def text(self) -> str:
        """The claims as a table for the terminal."""
        lines = [self.title, *self.logs()]
        if self.quick:
            lines.append(f"quick run: {self.quick_note}; leave --quick out for all of it")
        lines += [
            "",
            *(f"{letter}  {words}" for letter, words in self.settings.items()),
            "",
            *(line for grid in self.grids for line in (grid.text(), "")),
            table.text(self.rows),
            "",
            f"{len(self.rows)} claims: {table.counts(self.rows)}. {table.supports(self.rows)}",
            f"{self.runs} runs in {self.seconds:.1f} s; figures, their data and the claims are in {self.out}",
        ]
        return "\n".join(lines)

    def summary(self) -> str:
        """A quick run in a few lines: how many claims hold, where they are, and what to do next."""
        page = next((str(path) for path in self.files if path.suffix == ".md"), f"{self.out}/CLAIMS.md")
        synthetic = any(not source.real for source in self.inputs)
        following = [
            ("the claims, ours beside the paper's", page),
            ("the figures and their data", str(self.out)),
            ("the whole study", f"faultsim reproduce {self.command}"),
            *([("with the real logs", f"faultsim reproduce {self.command} --data FOLDER")] if synthetic else []),
            ("a run of your own", "faultsim run --help, or the tutorial: docs/tutorial.md"),
        ]
        width = max(len(what) for what, _ in following)
        lines = [
            self.title,
            *self.logs(),
            f"quick run: {self.quick_note}; leave --quick out for all of it",
            "",
            f"{len(self.rows)} claims: {table.counts(self.rows)}. {table.supports(self.rows)}",
            f"{self.runs} runs in {self.seconds:.1f} s",
            "",
            "what next",
            *(f"  {what.ljust(width)}  {where}" for what, where in following),
        ]
        return "\n".join(lines)

    def document(self) -> ClaimsDocument:
        """The same as plain data for JSON."""
        grids = {"tables": [{"title": grid.title, "rows": list(map(list, grid.rows))} for grid in self.grids]}
        document = {
            "paper": self.title,
            "model_revision": MODEL_REVISION,
            "quick": self.quick,
            "runs": self.runs,
            "seconds": round(self.seconds, 3),
            "logs": [source.document() for source in self.inputs],
            "settings": dict(self.settings),
            **(grids if self.grids else {}),
            "claims": table.document(self.rows),
            "changed": [dict(zip(("id", "before", "now", "why"), row, strict=True)) for row in self.changes()],
            "out": str(self.out),
            "files": [path.name for path in self.files],
        }
        return cast(ClaimsDocument, document)

    def page(self, figures: str = "") -> str:
        """The claims as a Markdown page; `figures` is the way from the page to the figures."""
        lines = [
            f"# {self.title}",
            "",
            f"Written by `faultsim reproduce {self.command}`"
            + (" `--quick`" if self.quick else "")
            + "; nothing here is edited by hand.",
            "",
            *(f"- {line}" for line in self.logs()),
            "",
            f"{len(self.rows)} claims: {table.counts(self.rows)}. {self.runs} runs.",
            "",
            f"{table.supports(self.rows)} A verdict counts the parts of a claim's rule: those that are true, and those "
            "that an interval leaves open. Calibrated is what rests on something that we chose because the paper does "
            "not give it.",
            "",
            *(line for remark in self.remarks for line in (remark, "")),
            "Settings:",
            "",
            *(f"- **{letter}**: {words}" for letter, words in self.settings.items()),
            "",
            "## Figures",
            "",
            *(line for name in self.figures for line in (f"![{name}]({figures}{name}.png)", "")),
            "## Claims",
            "",
            *(line for grid in self.grids for line in (grid.markdown(), "")),
            table.markdown(self.rows),
            "",
            *self._changed(),
        ]
        return "\n".join(lines)

    def _changed(self) -> list[str]:
        head = ("id", "before", "now", "why")
        found = table.markdown_table(head, self.changes())
        return ["## Verdicts that changed", "", *found, ""] if self.changes() else []

    def write(self, page: Path) -> None:
        """Write the page, with links to the figures, and claims.json."""
        relative = os.path.relpath(self.out, page.parent).replace(os.sep, "/")
        # A file name may have bytes that are no text.
        text = self.page("" if relative == "." else f"{relative}/")
        write_text(page, text.encode("utf-8", "backslashreplace").decode("utf-8"))
        write_text(self.out / "claims.json", json.dumps(self.document(), indent=1) + "\n")


def changes(study: str, rows: Sequence[Row]) -> list[tuple[str, str, str, str]]:
    """Of every claim whose verdict changed: its label, the verdict before, the one now with its count, and why."""
    found = []
    for row in rows:
        label, now = row.claim.id, row.finding.verdict
        old = before(study, label)
        if old and old != now:
            found.append((label, old, row.verdict_words, MENDED.get(label, COUNT)))
    return found


def folder(out: str | Path) -> Path:
    """The folder `out`, made if needed.

    Raises
    ------
    OptionError
        If it cannot be one.
    """
    path = Path(out)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"--out {out}: cannot be made a folder ({error.strerror})") from None
    return path


def write_csv(rows: Iterable[Sequence[object]], path: Path) -> None:
    """Write rows (the first is the header) as CSV."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    write_text(path, text.getvalue().encode("utf-8", "backslashreplace").decode("utf-8"))
