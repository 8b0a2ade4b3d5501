"""The structs of faultsim/policy.h for ctypes, and where a policy that is compiled elsewhere keeps its own."""

import ctypes
import pickle
from collections.abc import Callable
from ctypes import (
    CFUNCTYPE,
    POINTER,
    c_char_p,
    c_double,
    c_float,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_void_p,
)
from functools import partial
from typing import ClassVar, TypeVar

from faultsim.errors import OptionError

VERSION = 1
#: Most bytes that a scheduler may keep of a run or of a job: more are a mistake.
MOST_BYTES = 1 << 30


class Release(ctypes.Structure):
    """faultsim_release_t."""

    _fields_ = [("end", c_double), ("job", c_int32), ("nodes", c_int32)]


#: Field of faultsim_pass_t -> the type of the function.
ACTS: "dict[str, type[ctypes._CFunctionType]]" = {
    "expected_end": CFUNCTYPE(c_double, c_void_p, c_int32),
    "fits": CFUNCTYPE(c_int, c_void_p, c_int32),
    "start": CFUNCTYPE(c_int, c_void_p, c_int32),
    "shadow": CFUNCTYPE(c_double, c_void_p, c_int32, POINTER(c_int64)),
    "backfill": CFUNCTYPE(c_int, c_void_p, c_int32, c_int32, c_int32),
    "wake": CFUNCTYPE(c_int, c_void_p, c_double),
}
_NUMBERS = ("version", "placed", "nodes", "free", "waiting", "change", "disturbed", "running")


class Pass(ctypes.Structure):
    """faultsim_pass_t."""

    _fields_ = [
        *((name, c_uint32 if name == "version" else c_int32) for name in _NUMBERS),
        ("now", c_double), ("job", POINTER(c_int32)), ("need", POINTER(c_int32)), ("least", POINTER(c_float)),
        ("release", POINTER(Release)), ("submit", POINTER(c_double)), ("estimate", POINTER(c_double)),
        ("size", POINTER(c_int32)), ("restarts", POINTER(c_int32)), ("row", POINTER(c_int32)),
        *ACTS.items(), ("engine", c_void_p),
    ]  # fmt: skip


#: Field of faultsim_boxes_t, or of faultsim_nodes_t -> the type of the function.
QUESTIONS: "dict[str, type[ctypes._CFunctionType]]" = {
    "busy": CFUNCTYPE(c_int, c_void_p, c_int32, c_int32, c_int32),
    "left": CFUNCTYPE(c_int32, c_void_p, c_int64),
    "failing": CFUNCTYPE(c_int32, c_void_p, c_int64),
}
FAILING_NODES = CFUNCTYPE(c_void_p, c_void_p)


class Boxes(ctypes.Structure):
    """faultsim_boxes_t."""

    _fields_ = [
        ("version", c_uint32), ("job", c_int32), ("size", c_int32), ("shape", c_int32 * 3), ("now", c_double),
        ("submit", c_double), ("estimate", c_double), ("p", c_double), ("count", c_int64), ("box", POINTER(c_int32)),
        *QUESTIONS.items(), ("engine", c_void_p),
    ]  # fmt: skip


class Nodes(ctypes.Structure):
    """faultsim_nodes_t."""

    _fields_ = [
        ("version", c_uint32), ("job", c_int32), ("count", c_int32), ("nodes", c_int32), ("words", c_int32),
        ("now", c_double), ("submit", c_double), ("estimate", c_double), ("p", c_double), ("free", c_void_p),
        ("failures", POINTER(c_int32)), ("failing", FAILING_NODES), ("engine", c_void_p),
    ]  # fmt: skip


class Table(ctypes.Structure):
    """What both tables begin with, and what says which of them it is."""

    KIND: ClassVar[int]
    WHAT: ClassVar[str]
    name: bytes


class SchedulerTable(Table):
    """faultsim_scheduler_t."""

    KIND, WHAT = 0x48435346, "scheduler"
    _fields_ = [
        ("kind", c_uint32), ("version", c_uint32), ("name", c_char_p),
        ("schedule", CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p)), ("state_bytes", c_size_t),
        ("job_bytes", c_size_t), ("data", c_void_p),
    ]  # fmt: skip


class PlacementTable(Table):
    """faultsim_placement_t."""

    KIND, WHAT = 0x434C5046, "placement"
    _fields_ = [
        ("kind", c_uint32), ("version", c_uint32), ("name", c_char_p),
        ("choose", CFUNCTYPE(c_int64, c_void_p, c_void_p)), ("take", CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p)),
        ("data", c_void_p),
    ]  # fmt: skip


OneTable = TypeVar("OneTable", bound=Table)
_TABLES: dict[int, type[Table]] = {table.KIND: table for table in (SchedulerTable, PlacementTable)}


class Compiled:
    """A policy that is compiled elsewhere: where it is, and how it is found again."""

    __slots__ = ()
    what: ClassVar[str] = "policy"
    version: str

    @property
    def source(self) -> object:
        """What it was made of."""
        raise NotImplementedError

    @property
    def title(self) -> str:
        """What it is called."""
        return type(self).__name__

    def options(self) -> dict[str, object]:
        """What else it was made of."""
        return {"version": self.version}

    def __reduce__(self) -> tuple[object, ...]:
        if isinstance(self.source, str):
            made: Callable[..., Compiled] = type(self)
            return partial(made, self.source, **self.options()), ()
        raise pickle.PicklingError(
            f"{self!r} is an address in this process: run on threads, give its name as 'module:attribute', or define "
            f"__reduce__ in a subclass"
        )


class Tabled(Compiled):
    """One that is a table of functions."""

    __slots__ = ()
    table: Table
    made_of: object

    @property
    def source(self) -> object:
        """What it was made of."""
        return self.made_of

    @property
    def title(self) -> str:
        """Its name by its table."""
        return self.table.name.decode("utf-8", "replace")

    @property
    def address(self) -> int:
        """Where its table is."""
        return ctypes.addressof(self.table)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({repr(self.source) if isinstance(self.source, str) else f'<{self.title}>'})"


def check_version(what: str, version: object) -> str:
    """``version=``: text."""
    if not isinstance(version, str):
        raise OptionError(f"version of a compiled {what} must be text, got {version!r:.60}")
    return version


def by_name(what: str, name: str) -> object:
    """What a module has under a name, ``"module:attribute"``, also where Cython keeps its functions."""
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise OptionError(f"a compiled {what} is named 'module:attribute', got {name!r}")
    from pkgutil import resolve_name

    try:
        found = resolve_name(f"{module}:")
    except (ImportError, ValueError) as error:
        raise OptionError(f"compiled {what} {name!r}: {error}") from None
    if hasattr(found, attribute):
        return getattr(found, attribute)
    known: dict[str, object] = getattr(found, "__pyx_capi__", {})
    if attribute not in known:
        raise OptionError(f"compiled {what} {name!r}: module {module} has no {attribute!r}")
    return known[attribute]


def capsule_parts(capsule: object) -> tuple[str, int, int]:
    """Name ("" for none), pointer and context of a PyCapsule."""
    api = ctypes.pythonapi
    get_name, get_pointer, get_context = api.PyCapsule_GetName, api.PyCapsule_GetPointer, api.PyCapsule_GetContext
    get_name.restype, get_name.argtypes = c_char_p, [ctypes.py_object]
    get_pointer.restype, get_pointer.argtypes = c_void_p, [ctypes.py_object, c_char_p]
    get_context.restype, get_context.argtypes = c_void_p, [ctypes.py_object]
    name = get_name(capsule)
    return (name or b"").decode("utf-8", "replace"), get_pointer(capsule, name), get_context(capsule) or 0


def table_of(wanted: type[OneTable], source: object) -> OneTable:
    """The table that an object carries, checked: a PyCapsule of its name, or an object of ctypes that begins it."""
    what, name = wanted.WHAT, f"faultsim_{wanted.WHAT}_t"
    if isinstance(source, str):
        source = by_name(what, source)
    if type(source).__name__ == "PyCapsule":
        called, address, _ = capsule_parts(source)
        if called != name:
            raise OptionError(f"a compiled {what} is a PyCapsule named {name!r}, got one named {called!r:.80}")
    elif isinstance(source, ctypes.Structure | ctypes._SimpleCData):
        address = ctypes.addressof(source)
    else:
        raise OptionError(
            f"a compiled {what} needs a PyCapsule, an object of ctypes that begins its table, or 'module:attribute', "
            f"got {source!r:.60}"
        )
    kind, version = (c_uint32 * 2).from_address(address)
    if kind != wanted.KIND:
        is_ = f"that of a {_TABLES[kind].WHAT}" if kind in _TABLES else f"0x{kind:x}"
        raise OptionError(f"kind of a compiled {what} must be FAULTSIM_{what.upper()}_KIND, got {is_}")
    if not 1 <= version <= VERSION:
        raise OptionError(
            f"this {what} was compiled for version {version} of faultsim/policy.h, and this faultsim has {VERSION}"
        )
    table = wanted.from_address(address)
    if not table.name:
        raise OptionError(f"a compiled {what} must have a name")
    return table
