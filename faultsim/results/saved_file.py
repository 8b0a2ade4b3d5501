"""Files of saved results: arrays and facts in one .npz, each with a digest, which strangers may have written."""

import json
import lzma
import math
import os
import struct
import threading
import tokenize
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import IO, Any, TypeGuard

import numpy as np
from numpy.lib import format as npy

from faultsim import checks
from faultsim.arrays import Values
from faultsim.data.columns import Column
from faultsim.data.failures import FailureTrace
from faultsim.data.limits import check_unpacked
from faultsim.data.numbering import numbering_of_text
from faultsim.data.slowdowns import slow_outage
from faultsim.data.whole_files import check_name, whole_file
from faultsim.errors import FaultsimError, InputError
from faultsim.results.held import Held
from faultsim.results.provenance import SCHEMA

_FACTS = "facts.json"
_HEADER = 10_000  # bytes of the header of an array
#: NumPy parses headers by `ast`, which raises SystemError now and then in several threads of Python before 3.11.9
#: (python/cpython#106905).
_PARSING = threading.Lock()
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
    lzma.LZMAError,
    struct.error,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)

#: What Python says of facts that are none.
MALFORMED = (FaultsimError, LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError)


@dataclass(frozen=True)
class Form:
    """A kind of saved results.

    Parameters
    ----------
    kind : str
        As the facts have it.
    called, writer, reader : str
        What messages call it, and what writes and reads it.
    layout, with_digests : int
        The layout that is written, and the first that has digests.
    facts : tuple of str
        What the facts say.
    """

    kind: str
    called: str
    writer: str
    reader: str
    layout: int
    with_digests: int
    facts: tuple[str, ...]


OF_JOBS = Form(
    "faultsim result",
    "a saved result",
    "Result.save",
    "load_result",
    SCHEMA,
    4,
    ("provenance", "ledger", "span", "counters", "dropped"),
)
OF_WORKFLOWS = Form(
    "faultsim workflow result",
    "a saved result of workflows",
    "WorkflowResult.save",
    "load_workflow_result",
    1,
    1,
    ("settings", "counters", "workflows", "bandwidth", "failures"),
)
_FORMS = {form.kind: form for form in (OF_JOBS, OF_WORKFLOWS)}


def form_of(path: str | os.PathLike[str]) -> Form:
    """What is in a file, by the first words of its facts; `OF_JOBS` if that cannot be told, whose reader says why."""
    try:
        with zipfile.ZipFile(path) as members, members.open(f"{_FACTS}.npy") as member:
            begins = member.read(512)
    except _DAMAGED:
        return OF_JOBS
    return next((form for form in _FORMS.values() if f'"kind": "{form.kind}"'.encode() in begins), OF_JOBS)


def save_arrays(
    path: str | os.PathLike[str], arrays: Mapping[str, Values | Held], facts: dict[str, Any], form: Form = OF_JOBS
) -> None:
    """Write arrays and facts to one .npz; the file is moved into place once it is complete."""
    digests: dict[str, str] = {}
    with whole_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as members:
        for name, array in arrays.items():
            with members.open(f"{name}.npy", "w", force_zip64=True) as member:
                digests[name] = _write_array(member, array)
        document = {"kind": form.kind, "schema": form.layout, **facts, "columns": digests}
        text = json.dumps(document | {"digest": _of_facts(document)}, allow_nan=True).encode()
        with members.open(f"{_FACTS}.npy", "w", force_zip64=True) as member:
            _write_array(member, np.frombuffer(text, dtype=np.uint8))


def _write_array(member: IO[bytes], array: Values | Held) -> str:
    """As NumPy writes it, and its digest; the nodes that jobs held are more than all else, and go block by block."""
    if not isinstance(array, Held):
        npy.write_array(member, array, allow_pickle=False)
        return _digest(array.dtype, array.shape, [np.ascontiguousarray(array).tobytes()])
    shape = (int(array["node_offsets"][-1]),)
    npy.write_array_header_1_0(member, {"descr": "<i4", "fortran_order": False, "shape": shape})

    def written() -> Iterator[bytes]:
        for block in array.blocks():
            content = block.astype("<i4", copy=False).tobytes()
            member.write(content)
            yield content

    return _digest(np.dtype("<i4"), shape, written())


def _head(dtype: "np.dtype[np.generic]", shape: tuple[int, ...]) -> bytes:
    return f"{dtype.str} {shape} ".encode()


def _digest(dtype: "np.dtype[np.generic]", shape: tuple[int, ...], content: Iterable[bytes]) -> str:
    said = blake2b(_head(dtype, shape), digest_size=16)
    for part in content:
        said.update(part)
    return said.hexdigest()


def _of_facts(document: Mapping[str, object]) -> str:
    """The digest of all facts but itself."""
    rest = {key: value for key, value in document.items() if key != "digest"}
    return blake2b(json.dumps(rest, sort_keys=True, allow_nan=True).encode(), digest_size=16).hexdigest()


class SavedFile:
    """What is in a file of `save_arrays`; for any other file, `InputError` says what is wrong with it."""

    def __init__(self, path: str | os.PathLike[str], form: Form) -> None:
        self.name = checks.file_name(path)
        check_name(self.name)
        self._form, self._expected = form, f"expected a file that {form.writer} wrote"
        self.arrays: dict[str, Values] = {}
        self._made: dict[str, str] = {}
        try:
            with open(self.name, "rb") as file, zipfile.ZipFile(file) as members:
                self._read(members, os.fstat(file.fileno()).st_size)
        except FileNotFoundError:
            raise InputError(f"{self.name}: no such file") from None
        except IsADirectoryError:
            raise InputError(f"{self.name}: a folder, {self._expected}") from None
        except InputError:
            raise
        except _DAMAGED as error:
            said = str(error) or type(error).__name__
            raise self.bad(f"{said:.120}") from None
        self.facts: dict[str, Any] = self._facts()
        self.layout: int = self.facts["schema"]

    def _read(self, members: zipfile.ZipFile, packed: int) -> None:
        """All arrays; how large they are is known, and allowed, before any is made."""
        listed = members.infolist()
        check_unpacked(self.name, sum(info.file_size for info in listed), max(packed, 1))
        for info in listed:
            name = info.filename.removesuffix(".npy")
            if name in self.arrays:
                raise ValueError(f"{name} appears twice")
            with members.open(info) as member:
                self.arrays[name] = self._array(name, member, info.file_size)

    def _array(self, name: str, member: IO[bytes], size: int) -> Values:
        version = npy.read_magic(member)
        header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}[version]
        with _PARSING:
            shape, fortran, dtype = header(member, max_header_size=_HEADER)
        if dtype.kind not in "biufcmMSU" or dtype.hasobject or len(shape) > 2:
            raise ValueError(f"{name} is {dtype} of {len(shape)} axes")
        if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != size - member.tell():
            raise ValueError(f"{name} is no {dtype} of shape {shape}")
        content = member.read()
        member.read(1)  # so that the checksum of the file is checked
        array: Values = np.frombuffer(bytearray(content), dtype).reshape(shape, order="F" if fortran else "C")
        if name != _FACTS:
            self._made[name] = _digest(dtype, shape, [array.tobytes() if fortran else content])
        return array

    def _facts(self) -> dict[str, Any]:
        form = self._form
        try:
            facts = json.loads(self.arrays.pop(_FACTS).tobytes())
            if facts["kind"] != form.kind:
                other = _FORMS.get(facts["kind"])
                hint = "" if other is None else f"; faultsim.{other.reader} reads it"
                raise ValueError(f"its kind is {facts['kind']!r:.60}{hint}")
            layout = facts["schema"]
            for key in form.facts:
                facts[key]
        except (KeyError, ValueError, TypeError, RecursionError) as error:
            said = str(error)[:120]
            raise InputError(f"{self.name}: not {form.called} ({said}); {self._expected}") from None
        if type(layout) is not int or layout not in range(1, form.layout + 1):
            raise InputError(
                f"{self.name}: saved in layout {layout!r:.20}, this version reads layouts 1 to {form.layout}"
            )
        self._said = facts.pop("columns", None), facts.pop("digest", None)
        if layout >= form.with_digests:
            try:
                whole = _of_facts({**facts, "columns": self._said[0]})
            except (ValueError, RecursionError):
                whole = ""
            self._unchanged = whole == self._said[1]
        return dict(facts)

    def bad(self, what: str) -> InputError:
        """The error for what is in the file."""
        return InputError(f"{self.name}: not {self._form.called}, or a corrupt one ({what}); {self._expected}")

    def check_digests(self) -> None:
        """Refuse a file of which anything has changed since it was written; layouts without digests pass.

        Raises
        ------
        InputError
            Naming the column.
        """
        if self.layout < self._form.with_digests:
            return
        if not self._unchanged:
            raise InputError(f"{self.name}: facts of this saved result are not those that were saved; it is damaged")
        columns = self._said[0]
        if not isinstance(columns, dict):
            raise self.bad("its columns have no digests")
        for name in sorted({*self._made, *columns}):
            if self._made.get(name) != columns.get(name):
                raise InputError(
                    f"{self.name}: column {name} of this saved result is not the one that was saved; it is damaged"
                )

    def under(self, prefix: str) -> dict[str, Values]:
        """The columns whose names begin with ``prefix/``, without it."""
        return {
            name[len(prefix) + 1 :]: column for name, column in self.arrays.items() if name.startswith(prefix + "/")
        }

    def failures(self, said: Mapping[str, Any] | None) -> FailureTrace | None:
        """The failures of the run, checked against what identifies them."""
        if said is None:
            return None
        try:
            trace = FailureTrace(
                **self.under("failures"), span=said["span"], name=said["name"], dropped=said["dropped"]
            )
            if said.get("numbers"):
                trace = trace._numbered(numbering_of_text(said["numbers"]))
            if said.get("slowdowns"):
                trace = trace._made(trace.columns, slow=[slow_outage(text) for text in said["slowdowns"]])
        except MALFORMED as error:
            raise InputError(f"{self.name}: the failures of this saved result are corrupt ({error!s:.120})") from None
        if trace.digest() != said["digest"]:
            raise InputError(f"{self.name}: the failures of this saved result are not those of its run")
        return trace

    # -- what may be in it

    def check_counters(self, names: Iterable[str]) -> None:
        """Refuse counters other than these, and what counts nothing."""
        counters, wanted = self.facts["counters"], set(names)
        if not isinstance(counters, dict) or counters.keys() != wanted:
            raise self.bad(f"its counters are not {', '.join(sorted(wanted))}")
        for name, value in counters.items():
            if type(value) is not int or not 0 <= value < 2**63:
                raise self.bad(f"counter {name} is {value!r:.40}")

    @property
    def _may_miss(self) -> bool:
        """Whether numbers may be missing."""
        return False

    def check_column(
        self, key: str, values: Values, column: Column | None, rows: int, *, is_text: bool = False
    ) -> None:
        """Refuse another type or length than that of a column."""
        wanted = values.dtype if column is None or is_text else np.dtype(column.dtype)
        if values.shape != (rows,) or values.dtype != wanted:
            raise InputError(
                f"{self.name}: column {key} of this saved result is {values.dtype} of shape {values.shape}, "
                f"expected {wanted} of shape ({rows},)"
            )

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
            if self._may_miss:
                right |= np.isnan(values)
        if missing is not None:
            right |= values == missing
        if not right.all():
            row = int(np.argmin(right))
            raise InputError(f"{self.name}: column {key} of this saved result has {values[row]} in row {row}")


def is_number(value: object) -> TypeGuard[float]:
    """Whether arithmetic with it gives a number again."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -1e300 < value < 1e300
