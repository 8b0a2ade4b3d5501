"""Reads workflows of Pegasus in DAX, its XML form: see `read_dax`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from math import isfinite

from faultsim import checks
from faultsim.checks import parsed
from faultsim.data.workflow import Workflow
from faultsim.entries import entry
from faultsim.errors import InputError
from faultsim.readers.input_lines import Lines, stem

_SUFFIXES = (".gz", ".xz", ".bz2", ".xml", ".dax")
_LINKS = ("input", "output", "inout")


@entry
def read_dax(path: str | os.PathLike[str], *, name: str | None = None, strict: bool = False) -> Workflow:
    """Read a workflow in DAX, the abstract workflow format of Pegasus (versions 2 and 3).

    Parameters
    ----------
    path : path
        Plain, gzip, xz or bzip2, detected by content; "-" is standard input.
    name : str, optional
        Name of the workflow; that of the file, without its suffixes, by default.
    strict : bool
        Whether a negative run time is an error; by default it counts as 0, and `Workflow.dropped` counts those.

    Returns
    -------
    Workflow
        Jobs in the order of the file, labelled by their ids.  The cost of a job is its ``runtime`` in seconds, an
        attribute or a profile of that key.  An edge carries, in bytes, the files that the parent writes and the child
        reads, at the size that the child states (generated files state another for each reader), else the parent.  A
        negative size, which generators write, is missing; `Workflow.dropped` counts those.

    Raises
    ------
    InputError
        No such file; XML that is malformed (file, line and column are named), declares entities, or is not DAX; a job
        without an id or run time; a number that is invalid or not finite; a parent or child that
        is not a job; an edge given twice (with the line); a cycle.

    Notes
    -----
    A document that declares entities is rejected, so that none can grow without bound or refer to another file.

    Source: [juve2013], whose generated workflows are in this form; Pegasus, "DAX XML schema".

    Examples
    --------
    >>> import faultsim as fs
    >>> with open("two.xml", "w") as file:
    ...     _ = file.write(
    ...         '<adag xmlns="http://pegasus.isi.edu/schema/DAX">'
    ...         '<job id="A" runtime="3.5"><uses file="f" link="output" size="1000"/></job>'
    ...         '<job id="B" runtime="4"><uses file="f" link="input" size="1000"/></job>'
    ...         '<child ref="B"><parent ref="A"/></child></adag>'
    ...     )
    >>> wf = fs.read_dax("two.xml")
    >>> wf, wf.labels, wf.transfer
    (<Workflow 'two': 2 jobs, 1 edge, transfers in bytes>, ('A', 'B'), array([1000.]))
    """
    lines = Lines(path, document=True)
    document = _Document(lines.name, strict=checks.flag("strict", strict))
    document.read(lines)
    return document.workflow(stem(path, _SUFFIXES) if name is None else str(name))


class _Document:
    """What has been read so far; the methods are expat's handlers, so that each error knows its line."""

    def __init__(self, file: str, *, strict: bool = False) -> None:
        self.file, self.strict = file, strict
        self.negative_runtimes = 0
        self.number: dict[str, int] = {}  # id -> job, in the order of the file
        self.runtime: list[float | None] = []
        self.written: list[dict[str, float | None]] = []  # file -> bytes, a job
        self.read_by: list[dict[str, float | None]] = []
        self.edges: dict[tuple[str, str], int] = {}  # (parent, child) -> line
        self.mentioned: dict[str, int] = {}  # id in a dependence -> line
        self.lines: list[int] = []
        self.depth = 0
        self.job: int | None = None
        self.child: str | None = None
        self.negative = 0  # sizes
        self.profile: list[str] | None = None
        from xml.parsers import expat

        self.parser = parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.text
        parser.EntityDeclHandler = self.entity

    def read(self, lines: Lines) -> None:
        from xml.parsers import expat

        try:
            for block in lines:
                self.parser.Parse(block, False)
            self.parser.Parse(b"", True)
        except expat.ExpatError as error:
            what = expat.ErrorString(error.code)
            place = f"{self.file}, line {error.lineno}, column {error.offset + 1}"
            raise InputError(f"{place}: {what}; expected the XML of Pegasus") from None
        except (LookupError, ValueError) as error:  # an encoding that expat does not know
            if isinstance(error, InputError):
                raise
            raise self.bad(str(error)) from None

    def workflow(self, name: str) -> Workflow:
        if not self.number:
            raise InputError(f"{self.file}: no job; expected <job> elements inside <adag>")
        for reference, line in self.mentioned.items():
            if reference not in self.number:
                raise InputError(f"{self.file}, line {line}: no job has the id {reference!r}")
        labels = list(self.number)
        costs = []
        for job, seconds in enumerate(self.runtime):
            if seconds is None:
                raise InputError(f"{self.file}, line {self.lines[job]}: job {labels[job]!r} has no runtime")
            costs.append(seconds)
        rows = [(self.number[a], self.number[b]) for a, b in self.edges]
        edges = [(a, b, _carried(self.written[a], self.read_by[b])) for a, b in rows]
        counts = {"negative size": self.negative, "negative run time taken as 0": self.negative_runtimes}
        dropped = {reason: count for reason, count in counts.items() if count}
        try:
            return Workflow(costs, edges, name, labels=labels, transfer_unit="bytes", dropped=dropped)
        except InputError as error:
            raise InputError(f"{self.file}: {error}") from None

    # -- handlers ----------------------------------------------------------------------------------------------------

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        element = tag.rpartition(" ")[2]
        self.depth += 1
        if self.depth == 1 and element != "adag":
            raise self.bad(f"<{element}> is not DAX, whose first element is <adag>")
        if self.depth == 2 and element in ("job", "dag", "dax"):
            self.start_job(attributes)
        elif self.depth == 2 and element == "child":
            self.child = self.reference(attributes, "child")
        elif self.depth == 3 and element == "parent" and self.child is not None:
            pair = (self.reference(attributes, "parent"), self.child)
            if pair in self.edges:
                what = f"{pair[0]!r} -> {pair[1]!r} already appears in line {self.edges[pair]}"
                raise self.bad(f"{what}; give each edge once")
            self.edges[pair] = self.line
        elif self.job is not None and element == "uses":
            self.uses(attributes)
        elif self.job is not None and element == "profile" and attributes.get("key", "").lower() == "runtime":
            self.profile = []

    def start_job(self, attributes: Mapping[str, str]) -> None:
        reference = attributes.get("id", "")
        if not reference:
            raise self.bad("a job without an id")
        if reference in self.number:
            first = self.lines[self.number[reference]]
            raise self.bad(f"the id {reference!r} already appears in line {first}")
        self.job = self.number[reference] = len(self.runtime)
        self.lines.append(self.line)
        given = attributes.get("runtime")
        self.runtime.append(None if given is None else self.seconds(given))
        self.written.append({})
        self.read_by.append({})

    def uses(self, attributes: Mapping[str, str]) -> None:
        assert self.job is not None
        file = attributes.get("file", attributes.get("name", ""))
        if not file:
            raise self.bad("<uses> without a file")
        link = attributes.get("link", "").lower()
        if link not in _LINKS:
            return  # executables and the like, which exist before the workflow starts
        size = attributes.get("size")
        amount = None if size is None else self.amount("size", size, low=-float("inf"))
        if amount is not None and amount < 0:
            self.negative += 1
            amount = None
        if link != "output":
            self.read_by[self.job][file] = amount
        if link != "input":
            self.written[self.job][file] = amount

    def end(self, tag: str) -> None:
        if self.profile is not None and self.job is not None:
            self.runtime[self.job] = self.seconds("".join(self.profile))
            self.profile = None
        if self.depth == 2:
            self.job = self.child = None
        self.depth -= 1

    def text(self, data: str) -> None:
        if self.profile is not None:
            self.profile.append(data)

    def entity(self, name: str, *_: object) -> None:
        raise self.bad(f"the document declares the entity {name!r}; entities are rejected")

    # -- parts -------------------------------------------------------------------------------------------------------

    @property
    def line(self) -> int:
        return self.parser.CurrentLineNumber

    def bad(self, what: str) -> InputError:
        return InputError(f"{self.file}, line {self.line}: {what}")

    def reference(self, attributes: Mapping[str, str], element: str) -> str:
        reference = attributes.get("ref", "")
        if not reference:
            raise self.bad(f"<{element}> without a ref")
        self.mentioned.setdefault(reference, self.line)
        return reference

    def seconds(self, text: str) -> float:
        value = self.amount("runtime", text, low=0.0 if self.strict else -float("inf"))
        self.negative_runtimes += value < 0
        return max(value, 0.0)

    def amount(self, what: str, text: str, low: float = 0.0) -> float:
        try:
            value = parsed(text, float)
        except ValueError:
            raise self.bad(f"{what} {text.strip()!r:.60} is not a number") from None
        if not (low <= value and isfinite(value)):
            raise self.bad(f"{what} {text.strip()!r:.60}; expected a finite number" + " of 0 or more" * (low == 0))
        return value


def _carried(written: Mapping[str, float | None], read: Mapping[str, float | None]) -> float:
    """Bytes of the files that one job writes and another reads."""
    total = 0.0
    for file in min(read, written, key=len):  # a job may gather thousands of files, each of another job
        if file in read and file in written:
            size = read[file]
            total += size if size is not None else written[file] or 0.0
    return total
