"""Reads recorded workflows in WfFormat, the JSON form of WfCommons: see `read_wfcommons`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from faultsim import checks
from faultsim.data.workflow import Workflow
from faultsim.entries import entry
from faultsim.errors import InputError
from faultsim.readers.input_lines import Lines, stem

_SUFFIXES = (".gz", ".xz", ".bz2", ".json")
_OLDER = ("workflow.tasks", "workflow.jobs")
_NEGATIVE = "negative run time taken as 0"
_TASKS = "workflow.specification.tasks"
_FILES = "workflow.specification.files"
_RUNS = "workflow.execution.tasks"


@entry
def read_wfcommons(path: str | os.PathLike[str], *, name: str | None = None, strict: bool = False) -> Workflow:
    """Read a recorded workflow in WfFormat, such as those of WfInstances and of pegasus-instances.

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
        Tasks in the order of the file, labelled by their ids, or by their names where they have no ids.  The cost of a
        task is its run time in seconds, as measured on its machine; the cores it had there are ignored.  An edge
        carries, in bytes, the files that the parent writes and the child reads.

    Raises
    ------
    InputError
        No such file; JSON that is malformed (file, line and column are named); a document of another form; a field
        that is missing or of the wrong kind (its place in the document is named); a run time or size that is not
        finite, a negative size; a parent, child or file that is unknown; parents and children that contradict each
        other; a cycle.

    Notes
    -----
    The form is told by its fields, not by its version: from 1.5 on tasks are in ``workflow.specification`` and their
    run times in ``workflow.execution``; before, they are in ``workflow.tasks`` or ``workflow.jobs`` (1.2 and earlier),
    with ``runtimeInSeconds`` or ``runtime``, and edges to tasks by id or by name.

    Source: [coleman2022]; WfFormat 1.2 to 1.6.

    Examples
    --------
    >>> import json
    >>> import faultsim as fs
    >>> tasks = [
    ...     {"id": "a", "name": "a", "parents": [], "children": ["b"], "inputFiles": [], "outputFiles": ["f"]},
    ...     {"id": "b", "name": "b", "parents": ["a"], "children": [], "inputFiles": ["f"], "outputFiles": []},
    ... ]
    >>> runs = [{"id": "a", "runtimeInSeconds": 3.5}, {"id": "b", "runtimeInSeconds": 4}]
    >>> document = {"name": "two", "schemaVersion": "1.5", "workflow": {
    ...     "specification": {"tasks": tasks, "files": [{"id": "f", "sizeInBytes": 1000}]},
    ...     "execution": {"makespanInSeconds": 8, "executedAt": "2026-01-01", "tasks": runs}}}
    >>> with open("two.json", "w") as file:
    ...     json.dump(document, file)
    >>> wf = fs.read_wfcommons("two.json")
    >>> wf, wf.cost, wf.transfer
    (<Workflow 'two': 2 jobs, 1 edge, transfers in bytes>, array([3.5, 4. ]), array([1000.]))
    """
    lines = Lines(path, document=True)
    place = _Place(_parsed(lines), lines.name, "")
    title = stem(path, _SUFFIXES) if name is None else str(name)
    is_strict = checks.flag("strict", strict)
    if place.has("profiles") and not place.has("workflow"):
        raise place.bad(
            "a workload of Batsim, which is not read; a CSV of its jobs with submit, runtime, size and estimate is",
            at="",
        )
    workflow = place.get("workflow", dict)
    for older in _OLDER:
        if workflow.has(older.partition(".")[2]) and not workflow.has("specification"):
            return _older(place, older, title, strict=is_strict)
    tasks, files, runs = place.rows(_TASKS), place.rows(_FILES, missing_is_empty=True), place.rows(_RUNS)
    number = _numbered(tasks)
    negative: list[str] = []
    runtime = _by_id(runs, "runtimeInSeconds", number, negative=None if is_strict else negative)
    if not number:
        raise place.bad(f"{_TASKS}: no task", at="")
    for label, job in number.items():
        if label not in runtime:
            raise tasks[job].bad(f"task {label!r} has no entry in {_RUNS}")
    sizes = _by_id(files, "sizeInBytes")
    written = [_listed(task, "outputFiles", sizes) for task in tasks]
    read = [_listed(task, "inputFiles", sizes) for task in tasks]
    edges = [(a, b, _carried(written[a], read[b], sizes)) for a, b in _pairs(tasks, number)]
    costs = [runtime[label] for label in number]
    return _made(lines.name, costs, edges, title, list(number), len(negative))


def _made(
    where: str, costs: list[float], edges: list[tuple[int, int, float]], title: str, labels: list[str], negative: int
) -> Workflow:
    dropped = {_NEGATIVE: negative} if negative else {}
    try:
        return Workflow(costs, edges, title, labels=labels, transfer_unit="bytes", dropped=dropped)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _older(place: _Place, path: str, title: str, *, strict: bool) -> Workflow:
    """A document of before WfFormat 1.5: each task has its run time, its files and the tasks before and behind it."""
    tasks = place.rows(path)
    if not tasks:
        raise place.bad("no task", at=path)
    number: dict[str, int] = {}
    names: dict[str, list[int]] = {}
    for job, task in enumerate(tasks):
        label = task.get("id" if task.has("id") else "name", str)
        if label.text in number:
            raise label.bad(f"{label.text!r} already appears in {path}[{number[label.text]}]")
        number[label.text] = job
        names.setdefault(task.get("name", str).text if task.has("name") else label.text, []).append(job)
    costs, negative = [], 0
    for task in tasks:
        seconds = task.amount("runtimeInSeconds" if task.has("runtimeInSeconds") else "runtime", low=None)
        if seconds < 0 and strict:
            raise task.bad(f"run time {seconds:g}; expected 0 or more, or strict=False, which takes it as 0")
        negative += seconds < 0
        costs.append(max(seconds, 0.0))
    files = [_files(task) for task in tasks]
    pairs: dict[tuple[int, int], None] = {}
    for key in ("parents", "children"):
        for job, task in enumerate(tasks):
            for other_label in task.names(key) if task.has(key) else []:
                others = [number[other_label]] if other_label in number else names.get(other_label, [])
                if len(others) != 1:
                    what = "no task has" if not others else f"{len(others)} tasks have"
                    raise task.bad(f"{what} the id or name {other_label!r}", at=f"{task.path}.{key}")
                pairs[(others[0], job) if key == "parents" else (job, others[0])] = None
    edges = []
    for a, b in pairs:
        written, read = files[a][0], files[b][1]
        few = min(read, written, key=len)  # a task may gather thousands of files, each of another task
        shared = (file for file in few if file in read and file in written)
        edges.append((a, b, sum((read[file] or written[file] for file in shared), 0.0)))
    return _made(place.file, costs, edges, title, list(number), negative)


def _files(task: _Place) -> tuple[dict[str, float], dict[str, float]]:
    """The files that a task writes and reads, with their bytes, 0 where unknown."""
    written: dict[str, float] = {}
    read: dict[str, float] = {}
    for file in task.rows("files", missing_is_empty=True):
        label = file.get("name" if file.has("name") else "id", str).text
        link = file.get("link", str).text.lower()
        key = "sizeInBytes" if file.has("sizeInBytes") else "size"
        size = file.amount(key) if file.has(key) else 0.0
        for kind, known in (("output", written), ("input", read)):
            if link in (kind, "inout"):
                known[label] = size
    return written, read


def _parsed(lines: Lines) -> object:
    import json

    try:
        return json.loads(lines.json(), parse_int=_whole)
    except json.JSONDecodeError as error:
        place = f"{lines.name}, line {error.lineno}, column {error.colno}"
        is_xml = error.doc.lstrip()[:1] == "<"
        instead = " (this looks like XML: read_dax reads DAX files)" if is_xml else ""
        raise InputError(f"{place}: {error.msg}; expected the JSON of WfCommons{instead}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{lines.name}, byte {error.start}: not UTF-8 text; expected JSON") from None
    except RecursionError:
        raise InputError(f"{lines.name}: lists or objects nested too deeply; expected WfFormat") from None


def _whole(text: str) -> float:
    """Python may refuse to read a whole number of more than 640 digits, 4,300 by default; as a float it is infinite."""
    return int(text) if len(text) <= 640 else float(text)


class _Place:
    """A value of the document and its place, for error messages."""

    __slots__ = ("file", "path", "value")

    def __init__(self, value: Any, file: str, path: str) -> None:
        self.value, self.file, self.path = value, file, path

    @property
    def text(self) -> str:
        return str(self.value)

    def bad(self, what: str, at: str | None = None) -> InputError:
        path = self.path if at is None else at
        return InputError(f"{self.file}{', ' + path if path else ''}: {what}")

    def get(self, key: str, kind: type | tuple[type, ...]) -> _Place:
        """A field of this object, of the kind expected."""
        path = f"{self.path}.{key}" if self.path else key
        if not isinstance(self.value, dict):
            raise self.bad(f"expected an object, got {_kind(self.value)}")
        if key not in self.value:
            raise self.bad("the field is missing", at=path)
        value = self.value[key]
        if not isinstance(value, kind) or isinstance(value, bool):
            wanted = _KINDS[kind if isinstance(kind, type) else kind[0]]
            raise self.bad(f"expected {wanted}, got {_kind(value)}", at=path)
        return _Place(value, self.file, path)

    def has(self, key: str) -> bool:
        return isinstance(self.value, dict) and key in self.value

    def rows(self, path: str, missing_is_empty: bool = False) -> list[_Place]:
        """The entries of a list somewhere below."""
        at = self
        *objects, last = path.split(".")
        for key in objects:
            at = at.get(key, dict)
        if missing_is_empty and not at.has(last):
            return []
        at = at.get(last, list)
        return [_Place(value, at.file, f"{at.path}[{row}]") for row, value in enumerate(at.value)]

    def amount(self, key: str, low: float | None = 0.0) -> float:
        field = self.get(key, (float, int))
        try:
            value = float(field.value)
        except OverflowError:
            value = float("inf")
        if not abs(value) < float("inf") or (low is not None and value < low):
            raise field.bad(f"{field.value}; expected a finite number" + ("" if low is None else " of 0 or more"))
        return value

    def names(self, key: str) -> list[str]:
        field = self.get(key, list)
        for row, value in enumerate(field.value):
            if not isinstance(value, str):
                raise field.bad(f"expected a string, got {_kind(value)}", at=f"{field.path}[{row}]")
        return list(field.value)


_KINDS: dict[type, str] = {dict: "an object", list: "a list", str: "a string", float: "a number", int: "a number"}


def _kind(value: object) -> str:
    return {**_KINDS, bool: "true or false", type(None): "null"}.get(type(value), type(value).__name__)


def _numbered(tasks: list[_Place]) -> dict[str, int]:
    """Id -> job, in the order of the file."""
    number: dict[str, int] = {}
    for job, task in enumerate(tasks):
        label = task.get("id", str)
        if label.text in number:
            raise label.bad(f"{label.text!r} already appears in {_TASKS}[{number[label.text]}]")
        number[label.text] = job
    return number


def _by_id(
    rows: list[_Place], field: str, known: Mapping[str, int] | None = None, *, negative: list[str] | None = None
) -> dict[str, float]:
    """Id -> number, each id once; negative ones are 0, and listed, if there is a list for them."""
    found: dict[str, float] = {}
    for row in rows:
        label = row.get("id", str)
        if label.text in found:
            raise label.bad(f"{label.text!r} appears twice")
        if known is not None and label.text not in known:
            raise label.bad(f"no task has the id {label.text!r}")
        value = row.amount(field, low=0.0 if negative is None else None)
        if value < 0 and negative is not None:
            negative.append(label.text)
        found[label.text] = max(value, 0.0)
    return found


def _listed(task: _Place, key: str, sizes: Mapping[str, float]) -> dict[str, None]:
    """The files of a task, each once; a task without files may omit the field."""
    if not task.has(key):
        return {}
    files = dict.fromkeys(task.names(key))
    for file in files:
        if file not in sizes:
            raise task.bad(f"no file has the id {file!r}", at=f"{task.path}.{key}")
    return files


def _carried(written: Mapping[str, None], read: Mapping[str, None], sizes: Mapping[str, float]) -> float:
    """Bytes of the files that one task writes and another reads."""
    few = min(read, written, key=len)  # a task may gather thousands of files, each of another task
    return sum(sizes[file] for file in few if file in read and file in written)


def _pairs(tasks: list[_Place], number: Mapping[str, int]) -> dict[tuple[int, int], None]:
    """The edges (parent, child), which a task states for its parents and, in most files, for its children."""
    ways: dict[str, dict[tuple[int, int], str]] = {}
    for key in ("parents", "children"):
        found: dict[tuple[int, int], str] = {}
        for job, task in enumerate(tasks):
            path = f"{task.path}.{key}"
            for label in task.names(key) if key == "parents" or task.has(key) else []:
                if label not in number:
                    raise task.bad(f"no task has the id {label!r}", at=path)
                pair = (number[label], job) if key == "parents" else (job, number[label])
                if pair in found:
                    raise task.bad(f"{label!r} appears twice; give each edge once", at=path)
                found[pair] = path
        ways[key] = found
    parents, children = ways["parents"], ways["children"]
    for some, others, missing in ((children, parents, "parents"), (parents, children, "children")):
        if some is parents and not any(task.has("children") for task in tasks):
            continue
        for a, b in some:
            if (a, b) not in others:
                one, other = (b, a) if missing == "parents" else (a, b)
                task = tasks[one]
                label = list(number)[other]
                raise task.bad(f"{label!r} is missing here, but {some[a, b]} says so", at=f"{task.path}.{missing}")
    return dict.fromkeys(parents)
