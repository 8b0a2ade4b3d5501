"""A sweep as a TOML file: the arguments of `Sweep` as text; all mistakes are reported at once, with their lines."""

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from faultsim import checks
from faultsim.data.failures import FailureTrace
from faultsim.data.whole_files import check_name
from faultsim.entries import entry
from faultsim.errors import FaultsimError, InputError, OptionError
from faultsim.machines import parse_machine
from faultsim.policies import parse_policy
from faultsim.readers.input_lines import Lines
from faultsim.slurm_site import SlurmConf, changed_settings
from faultsim.sweep.axes import JOBS, WORKFLOWS, Axes, axes_of, given_names
from faultsim.sweep.input_sources import (
    SiteFailures,
    failures_source,
    log_source,
    resources_source,
    slurm_site,
    slurm_source,
    workflows_source,
)
from faultsim.sweep.kinds import kind_of
from faultsim.sweep.sweep import Sweep
from faultsim.sweep.tasks import check_seed
from faultsim.sweep.toml_lines import Path as Place
from faultsim.sweep.toml_lines import lines
from faultsim.sweep.wanted import own_metrics

#: Keys of a file -> what they hold.
KEYS = {
    "name": "a name",
    "replicates": "how often each cell is run",
    "warmup": "share of the jobs that metrics exclude at the beginning",
    "drain": "share of the jobs that metrics exclude at the end",
    "metrics": "metrics to keep besides the usual ones, a list of names",
    "base": "what all runs have in common",
    "grid": "axes; all combinations are run",
    "zip": "axes that vary together, [[zip]] for several groups",
    "cells": "explicit settings, [[cells]]",
}
_MISSING = object()
#: Axes whose values may be tables.
_INPUTS = ("log", "workflows", "resources", "failures")
#: A key with more parts takes time and memory that grow with their square.
_MOST_PARTS = 32
_PART = r"(?:[A-Za-z0-9_-]++|\"[^\"\n]*+\"|'[^'\n]*+')[ \t]*+"
_DEEP = re.compile(rf"(?<![A-Za-z0-9_-])(?:{_PART}\.[ \t]*+){{{_MOST_PARTS}}}{_PART}")


@entry
def read_sweep(path: str | os.PathLike[str]) -> Sweep:
    """The sweep that a TOML file describes.

    Its keys are the parameters of `Sweep` (``zip`` for ``zipped``); policies and machines are written as on the command
    line, logs, workflows and failures are paths (relative to the file) or tables such as ``{ synthetic = "nasa_like",
    jobs = 1000 }``; the resources of workflows are a number of nodes, or ``{ speed = [1, 2], bandwidth = 1e9 }``.

    Parameters
    ----------
    path : str or path

    Raises
    ------
    InputError
        With one line for each mistake: file, line, key, and what would be right.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import faultsim as fs
    >>> text = '''
    ... replicates = 2
    ... [base]
    ... log = { synthetic = "nasa_like", jobs = 100 }
    ... machine = "torus:4x4x8"
    ... [grid]
    ... scheduler = ["fcfs", "easy:reservation=fixed"]
    ... runtime_factor = [0.8, 1.0]
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "sweep.toml"
    ...     _ = file.write_text(text)
    ...     fs.read_sweep(file)
    <Sweep: 4 cells (2 scheduler x 2 runtime_factor), 2 replicates: 8 runs>
    """
    where = checks.file_name(path)
    check_name(where)
    text = _text_of(where)
    if deep := _DEEP.search(text):
        line = text.count("\n", 0, deep.start()) + 1
        raise InputError(f"{where}:{line}: a key of more than {_MOST_PARTS} parts; none that a sweep knows has")
    try:
        document = tomllib.loads(text)
        known_lines = lines(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"^(.*?) \(at (?:line (\d+), column \d+|end of document)\)$", str(error), re.DOTALL)
        line_of = f":{found[2]}" if found and found[2] else f":{text.count(chr(10)) + 1}"
        raise InputError(f"{where}{line_of}: not TOML: {found[1] if found else error}") from None
    except RecursionError:
        raise InputError(f"{where}: values nested too deeply") from None
    except ValueError as error:  # of numbers: Python reads no whole number of more than 4,300 digits
        raise InputError(f"{where}: not TOML: {error}") from None
    for place, value in _leaves(document):
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            at = f":{known_lines[place]}" if place in known_lines else ""
            raise InputError(f"{where}{at}: a whole number of more than 64 bits, which no sweep needs")
    return _Reader(where, document, known_lines).sweep()


def _text_of(where: str) -> str:
    if not os.path.exists(where):
        raise InputError(f"{where}: no such file")
    if os.path.isdir(where):
        raise InputError(f"{where}: cannot be read as text: it is a directory")
    try:
        path = os.path.join(os.curdir, where) if where == "-" else where
        return b"".join(Lines(path, utf_16=False)).decode("utf-8")  # TOML is in UTF-8
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: cannot be read as text: {error}") from None


def _leaves(value: object, place: Place = ()) -> Iterator[tuple[Place, object]]:
    """Every value that holds no others, and where it is."""
    items: Iterable[tuple[str | int, object]] = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    else:
        yield place, value
    for key, item in items:
        yield from _leaves(item, (*place, key))


class _Reader:
    """Turns the document into the arguments of `Sweep`, and collects its mistakes."""

    def __init__(self, where: str, document: dict[str, object], known_lines: dict[Place, int]) -> None:
        self._where, self._document, self._lines = where, document, known_lines
        self._folder = Path(where).parent
        self._wrong: list[tuple[int, str]] = []
        self._read: dict[str, object] = {}
        names = given_names(document.get("base"), document.get("grid"), document.get("zip"), self._listed("cells"))
        self._axes: Axes = JOBS if (found := self._attempt((), lambda: axes_of(names))) is _MISSING else found
        self._kind = kind_of(self._axes)
        self._conf = self._slurm()

    def _slurm(self) -> SlurmConf | None:
        """The configuration of Slurm below ``[base]``, which gives the machine and the scheduler."""
        base = self._document.get("base")
        if not isinstance(base, dict) or "slurm" not in base:
            return None
        given = base["slurm"]
        self._document = {**self._document, "base": {k: v for k, v in base.items() if k != "slurm"}}
        found = self._attempt(("base", "slurm"), lambda: slurm_source(given, self._folder))
        return None if found is _MISSING else found

    def _listed(self, key: str) -> list[object]:
        value = self._document.get(key)
        return value if isinstance(value, list) else []

    def sweep(self) -> Sweep:
        document = self._document
        if self._wrong:  # it is of two kinds
            raise InputError(self._wrong[0][1])
        for key in document:
            if key not in KEYS:
                hint = checks.did_you_mean(key, KEYS)
                if any(key in axes.options or key in axes.changes for axes in (JOBS, WORKFLOWS)):
                    hint = " (an option of the runs belongs below [base])"
                self._say((key,), f"unknown key{hint}; known: {', '.join(KEYS)}")
        arguments: dict[str, Any] = {
            "base": self._base(),
            "grid": self._grid(self._table(("grid",))),
            "zipped": self._groups(),
            "cells": self._cells(),
        }
        for key in ("name", "replicates", "warmup", "drain", "metrics"):
            if key in document:
                arguments[key] = document[key]
        if "name" in document and not isinstance(document["name"], str):
            self._say(("name",), f"must be text, got {document['name']!r}")
        self._attempt(("replicates",), lambda: checks.whole("replicates", document.get("replicates", 1), low=1))
        for key in ("warmup", "drain"):
            self._attempt((key,), lambda: checks.number(key, document.get(key, 0.0), low=0.0, high=1.0))  # noqa: B023
        self._attempt(("metrics",), lambda: own_metrics(document.get("metrics"), (), self._kind))
        if "base" not in document:
            self._say((), f"needs a table [base] with {self._axes.work} and {self._axes.machine}")
        if not self._wrong:
            try:
                return Sweep(arguments.pop("base"), arguments.pop("grid"), **arguments)
            except (OptionError, InputError) as error:
                self._say(self._place_of(str(error)), str(error))
        raise InputError("\n".join(text for _, text in sorted(self._wrong)))

    # -- mistakes

    def _say(self, place: Place, message: str) -> None:
        """Record a mistake at a place, or at the nearest one above it that has a line."""
        line, above = 0, place
        while above and not line:
            line = self._lines.get(above, 0)
            above = above[:-1]
        key = ".".join(str(part) for part in place if isinstance(part, str))
        text = f"{self._where}:{line}: " if line else f"{self._where}: "
        self._wrong.append(
            (line, text + (f"{key}: " if key and not message.startswith(("axis ", "cells:")) else "") + message)
        )

    def _attempt(self, place: Place, make: Callable[[], object]) -> Any:
        """What `make` returns; a mistake is recorded, and the result is `_MISSING`."""
        try:
            return make()
        except FaultsimError as error:
            self._say(place, str(error))
        except OSError as error:
            self._say(place, f"{error.filename or ''}: {error.strerror or error}")
        except (TypeError, ValueError) as error:
            self._say(place, str(error))
        return _MISSING

    def _place_of(self, message: str) -> Place:
        """The place of the axis named by a message of `Sweep`; a cell involves all its axes."""
        whole: Place = ("grid",) if "grid" in self._document else ("base",)
        if message.startswith("cell "):
            return whole
        if message.startswith("cells"):
            return ("cells",)
        group = re.match(r"zipped axes (?:vary together.* got )?(\S+?)(?:[,: ]|$)", message)
        tables = ("zip",) if group else ("grid", "zip", "cells", "base")
        for table in tables:
            for place in self._lines:
                words = [part for part in place[1:] if isinstance(part, str)]
                name = ".".join(words)
                if place[0] != table or not name or words[-1] != place[-1]:
                    continue
                if name == group[1] if group else re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", message):
                    return place
        return whole

    # -- parts

    def _table(self, place: Place) -> dict[str, object]:
        value = self._document.get(str(place[0]), {})
        if isinstance(value, dict):
            return value
        self._say(place, f"must be a table, got {checks.shown(value)}")
        return {}

    def _settings(self, place: Place, table: Mapping[str, object]) -> dict[str, object]:
        """Axes with one value each."""
        found = {}
        for name, given in _flat(table, self._axes).items():
            at = (*place, *name.split("."))
            if self._attempt(at, lambda: self._axes.check(name)) is not _MISSING:  # noqa: B023
                value = self._value(at, name, given)
                if value is not _MISSING:
                    found[name] = value
        return found

    def _base(self) -> dict[str, object]:
        found = self._settings(("base",), self._table(("base",)))
        if self._conf is None:
            return found
        conf = self._conf
        machine = self._attempt(("base", "slurm"), lambda: conf.site)
        return {"machine": machine, "scheduler": conf.scheduler, **found}

    def _grid(self, table: Mapping[str, object]) -> dict[str, object]:
        found: dict[str, object] = {}
        for name, given in _flat(table, self._axes).items():
            at = ("grid", *name.split("."))
            tables = isinstance(given, dict) and given and all(isinstance(item, dict) for item in given.values())
            if tables and name not in _INPUTS:
                found[name] = {key: self._settings((*at, key), item) for key, item in given.items()}
                continue
            if self._attempt(at, lambda: self._axes.check(name)) is not _MISSING:  # noqa: B023
                found[name] = self._values(at, name, given)
        return found

    def _groups(self) -> list[dict[str, object]]:
        given = self._document.get("zip", [])
        groups = given if isinstance(given, list) else [given]
        found = []
        for number, group in enumerate(groups):
            place: Place = ("zip", number) if isinstance(given, list) else ("zip",)
            if not isinstance(group, dict):
                self._say(place, f"must be a table of axes, got {checks.shown(group)}")
                continue
            one = {}
            for name, values in _flat(group, self._axes).items():
                at = (*place, *name.split("."))
                if self._attempt(at, lambda: self._axes.check(name)) is not _MISSING:  # noqa: B023
                    one[name] = self._values(at, name, values)
            found.append(one)
        return found

    def _cells(self) -> list[dict[str, object]] | None:
        if "cells" not in self._document:
            return None
        given = self._document["cells"]
        if not isinstance(given, list) or not all(isinstance(cell, dict) for cell in given):
            self._say(("cells",), "must be tables: [[cells]]")
            return None
        return [self._settings(("cells", number), cell) for number, cell in enumerate(given)]

    def _values(self, place: Place, name: str, given: object) -> object:
        """The values of an axis: a list, or a table of names and values."""
        if isinstance(given, dict):
            named = {key: self._value((*place, key), name, value) for key, value in given.items()}
            return {key: value for key, value in named.items() if value is not _MISSING}
        if not isinstance(given, list):
            self._say(
                place, f"must be a list of values, got {checks.shown(given)}; write {name.split('.')[-1]} = [{given!r}]"
            )
            return []
        if not given:
            self._say(place, "has no values")
        values = [self._value((*place, number), name, value) for number, value in enumerate(given)]
        if name == "machine" and self._conf is not None:  # a site as text is long
            return {word: value for word, value in zip(given, values, strict=True) if value is not _MISSING}
        return [value for value in values if value is not _MISSING]

    def _value(self, place: Place, name: str, given: object) -> object:
        """One value of an axis, from its text."""
        return self._attempt(place, lambda: self._meant(name, given))

    def _meant(self, name: str, given: object) -> object:
        if name in _INPUTS:
            key = f"{name} {given!r}"  # a file that is named twice is read once
            if key not in self._read:
                source = self._input(name, given)
                if name == "failures" and self._conf is not None and isinstance(source, FailureTrace):
                    source = SiteFailures(source, self._conf.site)
                self._read[key] = source
            return self._read[key]
        if name == "machine":
            if not isinstance(given, str):
                raise OptionError(f'must be text such as "torus:4x4x8", got {given!r}')
            return parse_machine(given) if self._conf is None else slurm_site(self._conf, given)
        if name in self._axes.policies:
            if not isinstance(given, str):
                raise OptionError(f"must be text that names a {name}, got {given!r}")
            if given.strip().lower() == ("node" if name == "outputs" else "none") and name != "scheduler":
                return "node" if name == "outputs" else None
            word, _, options = given.partition(":")
            if name == "scheduler" and self._conf is not None and word.strip() == "slurm":
                return changed_settings(self._conf.scheduler, [each for each in options.split(",") if each])
            return parse_policy(self._axes.policies[name], given)
        if isinstance(given, dict):
            raise OptionError(f"must be a number or text, got {checks.shown(given)}")
        self._kind.check_given({name: given})
        check_seed({name: given})
        return given

    def _input(self, name: str, given: object) -> object:
        if name == "resources":
            return resources_source(given)
        source = {"log": log_source, "workflows": workflows_source, "failures": failures_source}[name]
        return source(given, self._folder)


def _flat(table: Mapping[str, object], axes: Axes) -> dict[str, Any]:
    """Dotted keys such as ``predictor.probability``, which TOML reads as nested tables."""
    found: dict[str, object] = {}
    for name, given in table.items():
        if name in axes.policies and isinstance(given, dict):
            found |= {f"{name}.{parameter}": value for parameter, value in given.items()}
        else:
            found[name] = given
    return found
