"""`CompiledOrder`: a queue order that is a C function, compiled by whatever (faultsim/policy.h)."""

import ctypes
import re
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from faultsim import checks
from faultsim.arrays import Floats, Integers
from faultsim.data.lowered import Lowered
from faultsim.errors import OptionError
from faultsim.policies.base import reads_runtimes
from faultsim.policies.contract import Compiled, by_name, capsule_parts, check_version
from faultsim.policies.orders import QueueOrder, WaitingJobs

__all__ = ["CompiledOrder"]

_CFUNCTION: type = ctypes._CFuncPtr  # type: ignore[attr-defined]
_DOUBLES = ctypes.POINTER(ctypes.c_double)
_FUNCTION = ctypes.CFUNCTYPE(
    None, ctypes.c_int64, _DOUBLES, _DOUBLES, _DOUBLES, ctypes.c_double, _DOUBLES, ctypes.c_void_p
)
SIGNATURE = "void (int64_t, const double *, const double *, const double *, double, double *, void *)"
_PARAMETERS = ("n", "submit", "estimate", "size", "now", "key", "user_data")


class CompiledOrder(Compiled, QueueOrder):
    """A queue order that is a C function: one call for the whole queue, without the global interpreter lock.

    Parameters
    ----------
    function : object
        What carries a pointer and its signature: a `scipy.LowLevelCallable`, a numba ``cfunc``, a function of ctypes
        with its ``argtypes`` and ``restype`` or of cffi, or a PyCapsule whose name is the signature, such as Cython
        keeps in ``__pyx_capi__``; or ``"module:attribute"``, where one of these is found again.  The signature is
        that of ``faultsim_queue_keys_t`` in ``faultsim/policy.h``: ``void (int64_t n, const double *submit, const
        double *estimate, const double *size, double now, double *key, void *user_data)``.
    version : str, optional
        What tells it from other functions; a sweep needs it, as it keeps results by what they come from.
    static : bool, default False
        Whether the key of a job never changes: it does not depend on ``now`` or on other jobs. Then all keys are
        computed once, before the run, and no pass sorts, as with `ShortestFirst`. A run calls the function twice, with
        the jobs the other way round and another ``now``, and refuses it if a key differs.

    Raises
    ------
    OptionError
        If there is no pointer, or another signature; in the run, for a key that is NaN or was not written, and for one
        that changes although the order is static.

    Notes
    -----
    The function must be thread-safe, and must give the same keys for the same columns.  The object is kept as long as
    the order.  Only one that is given by name can be sent to other processes.

    Examples
    --------
    >>> import ctypes
    >>> import faultsim as fs
    >>> doubles = ctypes.POINTER(ctypes.c_double)
    >>> kind = ctypes.CFUNCTYPE(None, ctypes.c_int64, doubles, doubles, doubles, ctypes.c_double, doubles,
    ...                         ctypes.c_void_p)
    >>> @kind                                     # any other compiler gives a faster one
    ... def largest_first(n, submit, estimate, size, now, key, user_data):
    ...     for i in range(n):
    ...         key[i] = -size[i]
    >>> log = fs.Workload(submit=[0, 1, 2], runtime=[10, 9, 3], size=[2, 1, 2])
    >>> fs.simulate(log, fs.Cluster(2), scheduler=fs.Fcfs(fs.CompiledOrder(largest_first))).jobs["start"]
    array([ 0., 13., 10.])
    >>> fs.CompiledOrder(largest_first, static=True).static
    True
    """

    name: ClassVar[str] = "compiled"
    what: ClassVar[str] = "order"
    sees_jobs: ClassVar[bool] = False
    static: bool = False
    # Not in __dict__, which says in a sweep what the order is.
    __slots__ = ("_found", "function")

    def __init__(self, function: object, *, version: str = "", static: bool = False) -> None:
        self.function: object = function
        self.version: str = check_version("order", version)
        if checks.flag("static", static):  # in __dict__ only then: other orders keep their identity in sweeps
            self.static = True
        self._found = _found(by_name("order", function) if isinstance(function, str) else function)
        _check_signature(self._found.signature)

    @property
    def source(self) -> object:
        """What it was made of."""
        return self.function

    @property
    def address(self) -> int:
        """Where the function is."""
        return self._found.address

    @property
    def user_data(self) -> int:
        """The pointer that it is given; 0 for none."""
        return self._found.user_data

    def keys(self, queue: WaitingJobs, now: float) -> ArrayLike:
        """What the function gives for these jobs; NaN where it writes nothing."""
        return self._keys(queue.submit, queue.estimate, queue.size, now)

    def _keys(self, submit: ArrayLike, estimate: ArrayLike, size: ArrayLike, now: float) -> Floats:
        columns = [np.array(column, np.float64) for column in (submit, estimate, size)]
        key = np.full(len(columns[0]), np.nan)
        pointers = [column.ctypes.data_as(_DOUBLES) for column in (*columns, key)]
        _FUNCTION(self.address)(len(key), *pointers[:3], now, pointers[3], self.user_data or None)
        return key

    def static_keys(self, row: Sequence[int] | Integers, submit: Floats, estimate: Floats, size: Integers) -> Floats:
        """The keys of all jobs, if the order is static: of jobs by submit time, whose rows in the user's log are `row`.

        Raises
        ------
        OptionError
            If a key is NaN, or is another one at another time or among other jobs.
        """
        first, last = float(submit[0]), float(submit[-1]) + 3600.0
        key = self._keys(submit, estimate, size, first)
        again = self._keys(submit[::-1], estimate[::-1], size[::-1], last)[::-1]
        for at in np.flatnonzero(np.isnan(key))[:1].tolist():
            raise self.refused(int(row[at]), float(submit[at]))
        for at in np.flatnonzero(key != again)[:1].tolist():
            raise OptionError(
                f"{self!r} is static, but the key of job {row[at]} is {key[at]:g} at {first:g} s and {again[at]:g} at "
                f"{last:g} s, with the jobs the other way round: make it without static=True"
            )
        return key

    def options(self) -> dict[str, object]:
        """What else it was made of."""
        return {**super().options(), **({"static": True} if self.static else {})}

    def lower(self) -> Lowered:
        """The object itself."""
        reads_runtimes(self)
        return {"name": self.name, "object": self}

    def refused(self, index: int, now: float) -> OptionError:
        """The error for a job whose key is not a number."""
        return OptionError(f"{type(self).__name__}.keys returned NaN for job {index} at time {now:g}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.function!r})"


class _Found(NamedTuple):
    address: int
    user_data: int
    signature: list[str]  # the result, then the parameters, as in `_types`


def _found(function: object) -> _Found:
    """The pointer in an object, and its signature."""
    kind = type(function)
    if isinstance(function, tuple) and kind.__name__ == "LowLevelCallable":
        return _of_capsule(tuple.__getitem__(function, 0), "the function of the LowLevelCallable")
    if kind.__name__ == "PyCapsule":
        return _of_capsule(function, "the PyCapsule")
    if isinstance(getattr(function, "ctypes", None), _CFUNCTION):  # numba
        return _of_ctypes(function.ctypes)  # type: ignore[attr-defined]
    if isinstance(function, _CFUNCTION):
        return _of_ctypes(function)
    if kind.__module__ == "_cffi_backend":
        ffi = checks.extra("cffi", "compiled", "a function of cffi").FFI()
        text = ffi.getctype(ffi.typeof(function))
        if "(*)" in text:
            return _Found(int(ffi.cast("uintptr_t", function)), 0, _types(text))
    raise OptionError(
        f"a compiled order needs a scipy.LowLevelCallable, a numba cfunc, a function of ctypes or cffi, or a "
        f"PyCapsule, got {checks.shown(function)}"
    )


def _of_capsule(capsule: object, what: str) -> _Found:
    name, address, context = capsule_parts(capsule)
    if not name:
        raise OptionError(f"{what} has no name; its name must be its signature: {SIGNATURE}")
    return _Found(address, context, _types(name))


def _of_ctypes(function: Any) -> _Found:
    if function.argtypes is None:
        raise OptionError(f"the function of ctypes has no argtypes; they must be those of {SIGNATURE}")
    address = ctypes.cast(function, ctypes.c_void_p).value or 0
    if not address:
        raise OptionError("the function of ctypes is a null pointer")
    return _Found(address, 0, [_ctypes_name(kind) for kind in (function.restype, *function.argtypes)])


def _ctypes_name(kind: object) -> str:
    if kind is None:
        return "void"
    if isinstance(target := getattr(kind, "_type_", None), type):
        return _ctypes_name(target) + " *"
    if isinstance(kind, type) and issubclass(kind, ctypes._SimpleCData):
        known: dict[object, str] = {ctypes.c_double: "double", ctypes.c_float: "float", ctypes.c_void_p: "void *"}
        if getattr(kind, "_type_", "") in ("l", "q") and ctypes.sizeof(kind) == 8:
            return "int64_t"
        return known.get(kind, kind.__name__)
    return str(getattr(kind, "__name__", kind))


_LONG = "int64_t" if ctypes.sizeof(ctypes.c_long) == 8 else "long"
_SAME = {
    "long": _LONG, "long int": _LONG, "signed long": _LONG, "long long": "int64_t", "long long int": "int64_t",
    "signed long long": "int64_t", "npy_int64": "int64_t", "npy_intp": "int64_t", "Py_ssize_t": "int64_t",
    "ssize_t": "int64_t", "ptrdiff_t": "int64_t", "intptr_t": "int64_t",
}  # fmt: skip
_WORDS = {"void", "double", "float", "int", "long", "short", "char", "signed", "unsigned", *_SAME}


def _types(text: str) -> list[str]:
    """The types of a signature in C, without names and without const."""
    found = re.fullmatch(r"([^()]*)\(([^()]*)\)[\w\s]*", text.replace("(*)", " "))
    if not found:
        return [text]
    return [_type(part) for part in (found[1], *found[2].split(","))]


def _type(text: str) -> str:
    words = re.findall(r"\w+", re.sub(r"\b(const|volatile|restrict|__restrict)\b", " ", text))
    if len(words) > 1 and words[-1] not in _WORDS and not words[-1].endswith("_t"):
        words.pop()  # the name
    return " ".join([_SAME.get(" ".join(words), " ".join(words)), "*" * text.count("*")]).strip()


_WANTED = _types(SIGNATURE)


def _check_signature(given: list[str]) -> None:
    if given == _WANTED:
        return
    if len(given) != len(_WANTED):
        wrong = f"it takes {len(given) - 1} parameters, not {len(_WANTED) - 1}" if len(given) > 1 else repr(given[0])
    elif given[0] != "void":
        wrong = f"it returns {given[0]}, not void"
    else:
        at = next(i for i, (one, other) in enumerate(zip(given, _WANTED, strict=True)) if one != other)
        wrong = f"parameter {at}, {_PARAMETERS[at - 1]}, is {given[at]}, not {_WANTED[at]}"
    raise OptionError(f"a compiled order has another signature, {SIGNATURE}: {wrong}")
