"""The file of a saved result: arrays and facts in one .npz, each with a digest, which strangers may have written.

Layout 4 has digests; 1 to 3, of earlier versions, have none and are checked as far as they can be.
"""

import json
import math
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from itertools import pairwise
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from faultsim.data.columns import ALLOCATIONS, CLUSTER_NODES, EVENTS, FAILURES, JOBS, WORKLOAD, Column
from faultsim.data.event_kinds import EventKind, JobState
from faultsim.data.limits import FREE, limits
from faultsim.data.whole_files import whole_file
from faultsim.errors import InputError
from faultsim.results.held import Held
from faultsim.results.provenance import SCHEMA

_FACTS = "facts.json"
_KIND = "faultsim result"
#: The first layout with digests.
_DIGESTS = 4
_HEADER = 10_000  # bytes of the header of an array
_EXPECTED = "expected a file that Result.save wrote"
# What zipfile, zlib, NumPy and json raise when they meet a file that is none, or a crafted one.
_DAMAGED = (
    OSError,
    ValueError,
    EOFError,
    LookupError,
    AttributeError,
    TypeError,
    RuntimeError,
    SyntaxError,
    ArithmeticError,
    MemoryError,
    struct.error,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)


def save_arrays(path: str | os.PathLike[str], arrays: Mapping[str, NDArray[Any] | Held], facts: dict[str, Any]) -> None:
    """Write arrays and facts to one .npz; the file is moved into place once it is complete."""
    digests: dict[str, str] = {}
    with whole_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as members:
        for name, array in arrays.items():
            with members.open(f"{name}.npy", "w", force_zip64=True) as member:
                digests[name] = _write_array(member, array)
        document = {"kind": _KIND, "schema": SCHEMA, **facts, "columns": digests}
        text = json.dumps(document | {"digest": _of_facts(document)}, allow_nan=True).encode()
        with members.open(f"{_FACTS}.npy", "w", force_zip64=True) as member:
            _write_array(member, np.frombuffer(text, dtype=np.uint8))


def _write_array(member: IO[bytes], array: NDArray[Any] | Held) -> str:
    """As NumPy writes it, and its digest; the nodes that jobs held are more than all else, and go block by block."""
    if not isinstance(array, Held):
        npy.write_array(member, array, allow_pickle=False)
        return _digest(array.dtype, array.shape, [np.ascontiguousarray(array).tobytes()])
    shape = (int(array["node_offsets"][-1]),)
    npy.write_array_header_1_0(member, {"descr": "<i4", "fortran_order": False, "shape": shape})
    said = blake2b(_head(np.dtype("<i4"), shape), digest_size=16)
    for block in array.blocks():
        content = block.astype("<i4", copy=False).tobytes()
        member.write(content)
        said.update(content)
    return said.hexdigest()


def _head(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    return f"{dtype.str} {shape} ".encode()


def _digest(dtype: np.dtype[Any], shape: tuple[int, ...], content: Iterable[bytes]) -> str:
    said = blake2b(_head(dtype, shape), digest_size=16)
    for part in content:
        said.update(part)
    return said.hexdigest()


def _of_facts(document: Mapping[str, Any]) -> str:
    """The digest of all facts but itself."""
    rest = {key: value for key, value in document.items() if key != "digest"}
    return blake2b(json.dumps(rest, sort_keys=True, allow_nan=True).encode(), digest_size=16).hexdigest()


class Saved:
    """What is in a file of `save_arrays`; for any other file, `InputError` says what is wrong with it.

    Parameters
    ----------
    path : path
    needed : iterable of str
        Columns without which it is no result.
    counters, accounts : iterable of str
        What the facts count, and the accounts of the ledger.
    """

    def __init__(
        self, path: str | os.PathLike[str], needed: Iterable[str], counters: Iterable[str], accounts: Iterable[str]
    ) -> None:
        self.name = os.fspath(path)
        self.arrays: dict[str, NDArray[Any]] = {}
        self._made: dict[str, str] = {}
        try:
            with open(self.name, "rb") as file, zipfile.ZipFile(file) as members:
                self._read(members, os.fstat(file.fileno()).st_size)
        except FileNotFoundError:
            raise InputError(f"{self.name}: no such file") from None
        except IsADirectoryError:
            raise InputError(f"{self.name}: a folder, expected a file that Result.save wrote") from None
        except InputError:
            raise
        except _DAMAGED as error:
            said = str(error) or type(error).__name__
            raise InputError(f"{self.name}: not a saved result, or a corrupt one ({said:.120}); {_EXPECTED}") from None
        self.facts: dict[str, Any] = self._facts()
        self.layout: int = self.facts["schema"]
        if self.layout == 1:
            self._complete()
        self._check_facts(counters, accounts)
        self._check_columns(needed)

    def _read(self, members: zipfile.ZipFile, packed: int) -> None:
        """All arrays; how large they are is known, and allowed, before any is made."""
        listed = members.infolist()
        most, total = limits(), sum(info.file_size for info in listed)
        most.check(self.name, "bytes", total)
        if total > FREE:
            most.check(self.name, "ratio", total // max(packed, 1))
        for info in listed:
            name = info.filename.removesuffix(".npy")
            if name in self.arrays:
                raise ValueError(f"{name} appears twice")
            with members.open(info) as member:
                self.arrays[name] = self._array(name, member, info.file_size)

    def _array(self, name: str, member: IO[bytes], size: int) -> NDArray[Any]:
        version = npy.read_magic(member)
        header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}[version]
        shape, fortran, dtype = header(member, max_header_size=_HEADER)
        if dtype.kind not in "biufcmMSU" or dtype.hasobject or len(shape) > 2:
            raise ValueError(f"{name} is {dtype} of {len(shape)} axes")
        if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != size - member.tell():
            raise ValueError(f"{name} is no {dtype} of shape {shape}")
        content = member.read()
        member.read(1)  # so that the checksum of the file is checked
        array: NDArray[Any] = np.frombuffer(bytearray(content), dtype).reshape(shape, order="F" if fortran else "C")
        if name != _FACTS:
            self._made[name] = _digest(dtype, shape, [array.tobytes() if fortran else content])
        return array

    def _facts(self) -> dict[str, Any]:
        try:
            facts = json.loads(self.arrays.pop(_FACTS).tobytes())
            if facts["kind"] != _KIND:
                raise ValueError(f"its kind is {facts['kind']!r:.60}")
            layout = facts["schema"]
            for key in ("provenance", "ledger", "span", "counters", "dropped"):
                facts[key]
        except (KeyError, ValueError, TypeError, RecursionError) as error:
            said = str(error)[:120]
            raise InputError(
                f"{self.name}: not a saved result ({said}); expected a file that Result.save wrote"
            ) from None
        if type(layout) is not int or layout not in range(1, SCHEMA + 1):
            raise InputError(f"{self.name}: saved in layout {layout!r:.20}, this version reads layouts 1 to {SCHEMA}")
        self._said = facts.pop("columns", None), facts.pop("digest", None)
        if layout >= _DIGESTS:
            try:
                whole = _of_facts({**facts, "columns": self._said[0]})
            except (ValueError, RecursionError):
                whole = ""
            self._unchanged = whole == self._said[1]
        return dict(facts)

    def _complete(self) -> None:
        """What layout 1 lacks: it predates failures."""
        arrays, facts = self.arrays, self.facts
        rows = len(np.atleast_1d(arrays.get("workload/submit", ())))
        for column in ("restart_time", "failure_wait"):
            arrays[f"jobs/{column}"] = np.zeros(rows)
        for key in ("counters", "provenance"):
            if not isinstance(facts[key], dict):
                raise self.bad(f"its {key} are no names with values")
        facts["counters"] |= dict.fromkeys(("failures", "failures_hit", "checkpoints"), 0)
        facts["provenance"]["failures"] = None
        if "events_table/time" in arrays:
            arrays["events_table/node"] = np.full(len(np.atleast_1d(arrays["events_table/time"])), -1, np.int32)

    def bad(self, what: str) -> InputError:
        """The error for what is in the file."""
        return InputError(f"{self.name}: not a saved result, or a corrupt one ({what}); {_EXPECTED}")

    def check_digests(self) -> None:
        """Refuse a file of which anything has changed since it was written; layouts without digests pass.

        Raises
        ------
        InputError
            Naming the column.
        """
        if self.layout < _DIGESTS:
            return
        if not self._unchanged:
            raise InputError(f"{self.name}: facts of this saved result are not those that were saved; it is damaged")
        columns = self._said[0]
        for name in sorted({*self._made, *columns}):
            if self._made.get(name) != columns.get(name):
                raise InputError(
                    f"{self.name}: column {name} of this saved result is not the one that was saved; it is damaged"
                )

    # -- what may be in it

    def _check_facts(self, counters: Iterable[str], accounts: Iterable[str]) -> None:
        facts = self.facts
        for key, names in (("counters", set(counters)), ("ledger", set(accounts))):
            if not isinstance(facts[key], dict) or facts[key].keys() != names:
                raise self.bad(f"its {key} are not {', '.join(sorted(names))}")
        for name, value in facts["counters"].items():
            if type(value) is not int or not 0 <= value < 2**63:
                raise self.bad(f"counter {name} is {value!r:.40}")
        for name, value in facts["ledger"].items():
            if not _is_number(value):
                raise self.bad(f"ledger, {name}: {value!r:.40}")
        span = facts["span"]
        if not isinstance(span, list) or len(span) != 2 or not all(map(_is_number, span)) or span[0] > span[1]:
            raise self.bad(f"its span is {span!r:.60}")
        if not _are_counts(facts["dropped"]):
            raise self.bad("what was dropped are no counts")
        kinds = {"settings": dict, "input": dict, "elapsed": (int, float), "failures": (dict, type(None))}
        saved = facts["provenance"]
        for key, kind in kinds.items():
            if not isinstance(saved, dict) or not isinstance(saved.get(key, ...), kind):  # type: ignore[arg-type]
                raise self.bad(f"its provenance has no {key}")
        if not isinstance(saved["input"].get("source"), str):
            raise self.bad("its provenance does not say where the log is from")

    def _check_columns(self, needed: Iterable[str]) -> None:
        """Refuse columns that are missing, unknown, of another type or length, or have values out of range."""
        arrays = self.arrays
        for key in needed:
            if key not in arrays:
                raise InputError(f"{self.name}: column {key} is missing from this saved result")
        rows = len(np.atleast_1d(arrays["workload/submit"]))
        tables = {"jobs": (JOBS, rows), "workload": (WORKLOAD, rows)}
        held = CLUSTER_NODES if "allocations/node_offsets" in arrays else ALLOCATIONS
        for table, columns in (("events_table", EVENTS), ("allocations", held), ("failures", FAILURES)):
            first = arrays.get(f"{table}/{columns[0].name}")
            if first is not None:
                tables[table] = (columns, len(np.atleast_1d(first)))
        for key, values in arrays.items():
            table, _, name = key.partition("/")
            if table == "policy" and name.count("/") == 1:
                continue
            if table not in ("jobs", "workload", "events_table", "allocations", "failures"):
                raise self.bad(f"{key} is no column of a result")
            columns, length = tables.get(table, ((), 0))
            column = next((one for one in columns if one.name == name), None)
            if column is None and table in ("jobs", "events_table", "allocations"):
                raise self.bad(f"{key} is no column of a result")
            if name == "node_offsets":
                length += 1
            elif name == "nodes" and table == "allocations":
                length = self._listed()
            self._check_column(key, values, column, length)

    def _listed(self) -> int:
        """How many nodes the stays on a cluster have together."""
        offsets = self.arrays.get("allocations/node_offsets", np.zeros(0))
        if offsets.shape == () or not len(offsets) or offsets.dtype.kind != "i":
            raise self.bad("allocations/node_offsets are no places")
        if offsets[0] != 0 or (offsets[1:] < offsets[:-1]).any():
            raise self.bad("allocations/node_offsets decrease")
        return int(offsets[-1])

    def _check_column(self, key: str, values: NDArray[Any], column: Column | None, rows: int) -> None:
        is_text = key == "workload/id" and values.dtype.kind == "U"
        wanted = values.dtype if column is None or is_text else np.dtype(column.dtype)
        if values.shape != (rows,) or values.dtype != wanted:
            raise InputError(
                f"{self.name}: column {key} of this saved result is {values.dtype} of shape {values.shape}, "
                f"expected {wanted} of shape ({rows},)"
            )
        if key == "jobs/state":
            if not np.isin(values, list(JobState)).all():
                raise InputError(f"{self.name}: column {key} of this saved result has a number that is no JobState")
        elif key == "events_table/kind":
            self.check_range(key, min(EventKind), max(EventKind))
        elif column is not None and not is_text and not key.startswith("failures/"):  # `FailureTrace` checks its own
            # Of a run that is not over, a job has not all its numbers yet.
            low = None if column.minimum is None else 0 if self._is_part else column.minimum
            self.check_range(key, low, None, column.missing)

    @property
    def _is_part(self) -> bool:
        return "jobs/state" in self.arrays

    def check_range(self, key: str, low: float | None, high: float | None, missing: float | None = None) -> None:
        """Refuse values beyond these bounds, and what is not finite.

        Raises
        ------
        InputError
            Naming column and row.
        """
        values = self.arrays[key]
        right = np.ones(len(values), np.bool_)
        with np.errstate(invalid="ignore"):
            if low is not None:
                right &= values >= low
            if high is not None:
                right &= values <= high
        if values.dtype.kind == "f":
            right &= np.isfinite(values)
            if self._is_part:
                right |= np.isnan(values)
        if missing is not None:
            right |= values == missing
        if not right.all():
            row = int(np.argmin(right))
            raise InputError(f"{self.name}: column {key} of this saved result has {values[row]} in row {row}")

    def check_machine(self, nodes: int, extents: tuple[int, int, int] | None) -> None:
        """Refuse what does not fit the machine, the jobs, or the time before it.

        Raises
        ------
        InputError
            Naming column and row.
        """
        arrays, rows = self.arrays, len(self.arrays["workload/submit"])
        self.check_range("jobs/allocated", None, nodes)
        for before, after in pairwise(("workload/submit", "jobs/first_start", "jobs/start", "jobs/finish")):
            if (early := np.flatnonzero(arrays[after] < arrays[before])).size:
                said = f"column {after} of this saved result is before {before} in row {early[0]}"
                raise InputError(f"{self.name}: {said}")
        bounds = {"events_table/job": rows - 1, "events_table/node": nodes - 1, "allocations/job": rows - 1}
        bounds |= {"allocations/nodes": nodes - 1}
        for names, further in ((("x", "y", "z"), 1), (("a", "b", "c"), 0)):
            for name, extent in zip(names, extents or (nodes, nodes, nodes), strict=True):
                bounds[f"allocations/{name}"] = extent - further
        for key, high in bounds.items():
            if key in arrays:
                self.check_range(key, None, high)


def _is_number(value: object) -> bool:
    """Whether arithmetic with it gives a number again."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -1e300 < value < 1e300


def _are_counts(value: object) -> bool:
    return isinstance(value, dict) and all(type(count) is int and 0 <= count < 2**63 for count in value.values())
