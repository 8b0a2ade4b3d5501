"""One check for each kind of option value; each raises `OptionError` that says what was wrong, what was given and what
would be right.

The dataclasses of `faultsim.machines` and `faultsim.policies` call these once, in ``__post_init__``.
"""

import contextlib
import importlib
import inspect
import math
import operator
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from functools import cache
from types import FunctionType, ModuleType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ForwardRef,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
)  # fmt: skip

from faultsim import renames, vocabulary
from faultsim.errors import InputError, MissingExtraError, OptionError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

T = TypeVar("T")
#: What a duration may be given as: seconds, text such as "2h", `datetime.timedelta` or `numpy.timedelta64`.
Duration: TypeAlias = Union[float, str, timedelta, "np.timedelta64"]
#: A column of durations, or one for all of its rows.
Durations: TypeAlias = Union["ArrayLike", Sequence[Duration], timedelta]
#: What `rng=` may be: a generator, a seed sequence, or a seed.
Random: TypeAlias = Union["np.random.Generator", "np.random.SeedSequence", int]
#: The last second of the clock, and the longest duration (model.md#time): up to 2^33 s, 272 years, doubles are at most
#: 2^-20 s apart, about a microsecond.  With a later end, short jobs at late times would lose their length.
LATEST = 2**33
#: Decisions of policies without progress after which a run ends with an error (model.md#endless).  A larger number lets
#: policies wait for longer; a run that would never end takes a second to be refused, and where a policy in Python acts,
#: some ten seconds.
MOST_FRUITLESS = 1_000_000
#: Rows of `Decision.reserved`, as a window may hold any number of a reservation that repeats.
MOST_RESERVED = 1_000_000
#: Most jobs, draws and the like that one call makes: a column of so many doubles has 800 MB.
MOST_ROWS = 100_000_000
#: Suffix of a duration as text -> seconds.
UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
_SECONDS = ("s", "seconds")


#: Words of other programs and papers -> the names of them here.
SYNONYMS: dict[str, str] = {
    "end": "finish",
    "ended": "finish",
    "finished": "finish",
    "completion": "finish",
    "mttr": "downtime",
    "repair": "downtime",
    "repair_time": "downtime",
    "n_nodes": "nodes",
    "num_nodes": "nodes",
    "procs": "size",
    "processors": "size",
    "used": "useful",
    "turnaround": "response",
    "walltime": "estimate",
    "requested": "estimate",
    "arrival": "submit",
    "duration": "runtime",
    "runtime": "shortest",
    "size": "largest",
    "submit": "arrival",
    "fifo": "arrival",
    "fcfs": "arrival",
    "wait": "mean_wait",
    "response": "mean_response",
    "slowdown": "mean_slowdown",
}


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`` (did you mean 'x'?)`` for the nearest known name, or one with the same meaning, or nothing.

    Examples
    --------
    >>> did_you_mean("shortst", ["shortest", "largest"])
    " (did you mean 'shortest'?)"
    >>> did_you_mean("end", ["start", "finish"]), did_you_mean("zebra", ["shortest", "largest"])
    (" (did you mean 'finish'?)", '')
    """
    from difflib import get_close_matches

    folded = {k.lower().replace("-", "_"): k for k in known}
    wanted = str(name).lower().replace("-", "_")
    meant = SYNONYMS.get(wanted)
    near = [meant] if meant is not None and meant in folded else get_close_matches(wanted, folded, n=1, cutoff=0.65)
    if not near and len(wanted) > 2:
        near = [each for each in folded if each.startswith(wanted[:-1]) or (len(each) > 2 and wanted.startswith(each))]
    return f" (did you mean {folded[near[0]]!r}?)" if near else ""


class Named(dict[str, T]):
    """A dict whose `KeyError` suggests the nearest name.

    Examples
    --------
    >>> Named("account", {"useful": 1.0, "lost": 0.0})["used"]
    Traceback (most recent call last):
    KeyError: "no account 'used' (did you mean 'useful'?); known: useful, lost"
    """

    __slots__ = ("_noun",)

    def __init__(self, noun: str, values: Mapping[str, T]) -> None:
        super().__init__(values)
        self._noun = noun

    def __missing__(self, name: object) -> T:
        raise KeyError(f"no {self._noun} {name!r}{did_you_mean(str(name), self)}; known: {', '.join(self)}")

    def __reduce__(self) -> tuple[object, ...]:
        return Named, (self._noun, dict(self))


def no_attribute(kind: type, name: str) -> AttributeError:
    """The error of an attribute that a class does not have, with the nearest public one.

    Examples
    --------
    >>> import faultsim as fs
    >>> no_attribute(fs.Workload, "sizes")
    AttributeError("'Workload' object has no attribute 'sizes' (did you mean 'size'?)")
    """
    public = [each for each in dir(kind) if not each.startswith("_")]
    hint = "" if name.startswith("_") else did_you_mean(name, public)
    return AttributeError(f"{kind.__name__!r} object has no attribute {name!r}{hint}")


def no_name(module: str, name: str, known: Iterable[str]) -> AttributeError:
    """The error of a name that a module does not have, with the nearest public one.

    Examples
    --------
    >>> no_name("faultsim.plot", "plot_gant", ["plot_gantt"])
    AttributeError("module 'faultsim.plot' has no attribute 'plot_gant' (did you mean 'plot_gantt'?)")
    """
    hint = "" if name.startswith("_") else did_you_mean(name, known)
    return AttributeError(f"module {module!r} has no attribute {name!r}{hint}")


#: Methods and attributes of public classes by which policies, tables and engines reach each other, and those of `dict`
#: that a read-only table refuses: neither the reference nor completion shows them.
INTERNAL = frozenset({
    "address", "all_intervals", "all_predictions", "any_nodes", "array_shape", "arrays", "asks", "begins_with_nodes",
    "blocks", "check_against", "check_columns", "check_log", "check_machine", "check_slowdown", "clear", "dated",
    "exchanges_nodes", "expected_runtimes", "first_events", "fitting_log", "from_parts", "fromkeys", "has_boxes",
    "has_python", "has_tiers", "held_back", "inputs", "is_asked", "is_slow", "is_written", "largest_job",
    "largest_place", "lower",
    "most_nodes", "needs_failures", "node_unit", "nodes_needed", "options", "picture", "place_ranks", "planned",
    "planned_intervals", "planned_requests", "planned_ticks", "plans", "plans_ahead", "plans_in_python", "pop",
    "in_whole_nodes", "part_amounts", "part_units", "parts_that_fail",
    "popitem", "predictions", "refuse_days", "refuse_domains", "refuse_others", "refuse_parts", "refuse_slowdowns",
    "refused",
    "requests", "says_where", "setdefault", "capacity_for", "job_nodes", "kind_of", "lower_for", "node_amounts",
    "node_classes", "nodes_named", "prepared", "refusal", "refusals", "shape_ranks", "shapes_on", "site_parts",
    "unlisted_sizes", "spare_nodes", "spare_units", "speed_forms", "title", "update", "user_data", "with_coordinates",
    "wraps",
})  # fmt: skip


class Listed:
    """An object whose completion shows what is for users.

    Examples
    --------
    >>> import faultsim as fs
    >>> [name for name in dir(fs.Cluster(4)) if not name.startswith("_")]
    ['name', 'nodes', 'shape']
    """

    __slots__ = ()

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in INTERNAL]


class OldNames(Listed):
    """An object with attributes that had other names; a wrong name gets the nearest.

    Examples
    --------
    >>> import warnings, faultsim as fs
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     fs.Resources(3).n_nodes
    3
    >>> str(caught[0].message)
    'Resources.n_nodes is an old name, until version 1.0: write .nodes'
    """

    __slots__ = ()

    if not TYPE_CHECKING:  # where every name would do

        def __getattr__(self, name: str) -> object:
            for cls in type(self).__mro__:
                if row := renames.renamed("attribute", cls.__name__).get(name):
                    renames.warn(f"{cls.__name__}.{name}", f".{row.new}")
                    return getattr(self, row.new)
            if any(name in renames.renamed("method", cls.__name__) for cls in type(self).__mro__):
                return renames.old_method(type(self), name).__get__(self)
            raise no_attribute(type(self), name)


def _bounds(low: float | None, high: float | None, above: float | None) -> str:
    words = []
    if low is not None:
        words.append(f"at least {low if isinstance(low, int) else format(low, 'g')}")
    if above is not None:
        words.append(f"above {above:g}")
    if high is not None:
        words.append(f"at most {high if isinstance(high, int) else format(high, 'g')}")
    return " and ".join(words)


def number(
    what: str,
    value: Any,
    *,
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    unit: str = "",
    finite: bool = True,
) -> float:
    """A real number in bounds, as a float; NaN never passes.

    Where the unit is seconds, it may be any `Duration`.

    Examples
    --------
    >>> number("interval", "2h", unit="seconds"), number("interval", timedelta(minutes=5), unit="seconds")
    (7200.0, 300.0)
    """
    if type(value) is float:
        x = value
    elif isinstance(value, str | timedelta) or hasattr(value, "dtype"):
        refuse_missing(what, value)
        x = _converted(what, value, unit)
    elif isinstance(value, str | bytes | bool) or value is None:
        raise OptionError(f"{what} must be a number{unit and ' in ' + unit}, got {value!r}")
    else:
        try:
            x = float(value)
        except (TypeError, ValueError, OverflowError):
            raise OptionError(f"{what} must be a number{unit and ' in ' + unit}, got {value!r}") from None
    if (
        math.isnan(x)
        or (finite and math.isinf(x))
        or (low is not None and x < low)
        or (high is not None and x > high)
        or (above is not None and not x > above)
    ):
        right = f"{_bounds(low, high, above) or 'finite'}{unit and ' ' + unit}"
        if finite and math.isinf(x) and not right.startswith("finite"):
            right += " and finite"
        raise OptionError(f"{what} must be {right}, got {value!r}")
    return x


def duration(
    what: str,
    value: object,
    *,
    low: float | None = None,
    above: float | None = None,
    unit: str = "seconds",
    endless: bool = False,
) -> float:
    """A number of seconds that the clock can show, at most `LATEST`; with `endless` infinity, too.

    Examples
    --------
    >>> duration("start_delay", "2h", low=0.0)
    7200.0
    >>> duration("start_delay", 1e17, low=0.0)
    Traceback (most recent call last):
    faultsim.errors.OptionError: start_delay must be at least 0 and at most 8589934592 seconds, got 1e+17
    """
    x = number(what, value, low=low, above=above, unit=unit, finite=not endless)
    return x if endless and x == math.inf else number(what, value, low=low, high=LATEST, above=above, unit=unit)


def beyond_the_clock(seconds: float) -> str:
    """What is wrong with a time after `LATEST`, with a guess of its unit.

    Examples
    --------
    >>> beyond_the_clock(1.7e12)
    'is beyond 8589934592 s (272 years), where the clock ends; is it in milliseconds?'
    """
    for unit, parts in (("milliseconds", 1e3), ("microseconds", 1e6), ("nanoseconds", 1e9)):
        if seconds / parts <= LATEST:
            return f"is beyond {LATEST} s (272 years), where the clock ends; is it in {unit}?"
    return f"is beyond {LATEST} s (272 years), where the clock ends"


def _converted(what: str, value: Any, unit: str) -> float:
    """A duration in seconds, or a number of NumPy; a duration is nothing else, whatever ``float(value)`` says."""
    found = seconds(value)
    is_duration = found is not None
    if found is None and not isinstance(value, str) and getattr(getattr(value, "dtype", None), "kind", "") != "m":
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            found = float(value)
    if found is not None and (unit in _SECONDS or not is_duration):
        return found
    hint = " (as text with its unit: '90s', '5m', '2h', '56d')" if unit in _SECONDS and isinstance(value, str) else ""
    raise OptionError(f"{what} must be a number{unit and ' in ' + unit}, got {value!r}{hint}")


Number = TypeVar("Number", int, float)
Word = TypeVar("Word", bound=str)


def parsed(text: str | bytes, kind: Callable[[str | bytes], Number]) -> Number:
    """The number in a file or on the command line, where ``1_0`` is none, nor are digits of other alphabets.

    Raises
    ------
    ValueError
        It is no number.

    Examples
    --------
    >>> parsed("10", int), parsed(b"1e3", float)
    (10, 1000.0)
    >>> parsed("1_0", int)
    Traceback (most recent call last):
    ValueError: not a number: '1_0'
    """
    if not text.isascii() or (b"_" in text if isinstance(text, bytes) else "_" in text):
        raise ValueError(f"not a number: {text[:40]!r}")
    return kind(text)


def seconds(value: object) -> float | None:
    """Seconds of a duration: text with a unit, a timedelta, or one of NumPy's; None of anything else, also of a number.

    Text is that of `faultsim.vocabulary.duration`.

    Examples
    --------
    >>> seconds("56d"), seconds("1h30m"), seconds(timedelta(weeks=1)), seconds("300"), seconds("2 months")
    (4838400.0, 5400.0, 604800.0, None, None)
    """
    if isinstance(value, str):
        return vocabulary.duration(value)
    if isinstance(value, timedelta):
        return value.total_seconds()
    if getattr(getattr(value, "dtype", None), "kind", "") == "m":
        import numpy as np

        try:
            has_unit = np.datetime_data(value.dtype)[0] != "generic"  # type: ignore[attr-defined]
            return float(value / np.timedelta64(1, "s")) if has_unit else None  # type: ignore[operator]
        except TypeError:  # months, years or an array
            return None
    return None


def whole(what: str, value: Any, *, low: int | None = None, high: int | None = None, unit: str = "") -> int:
    """A whole number in bounds, as an int; 4.0 is not one, True is not one."""
    if type(value) is int:
        n = value
    else:
        try:
            if isinstance(value, bool):
                raise TypeError
            n = operator.index(value)
        except TypeError:
            raise OptionError(f"{what} must be a whole number, got {value!r}") from None
    if (low is not None and n < low) or (high is not None and n > high):
        least = low == 1 and high is None
        noun = unit.removesuffix("s") if least else unit
        raise OptionError(f"{what} must be {_bounds(low, high, None)}{noun and ' ' + noun}, got {_written(n)}")
    return n


def _written(n: int) -> str:
    """A whole number; Python writes none of thousands of digits."""
    return str(n) if n.bit_length() < 1000 else f"one of {n.bit_length():,} bits"


def a(noun: str) -> str:
    """A noun with its article.

    Examples
    --------
    >>> a("order"), a("scheduler")
    ('an order', 'a scheduler')
    """
    return f"{'an' if noun[:1].lower() in 'aeio' else 'a'} {noun}"


class ShownType:
    """A type as signatures show it."""

    __slots__ = ("_words",)

    def __init__(self, words: str) -> None:
        self._words = words

    def __repr__(self) -> str:
        return self._words


#: Classes whose methods have such annotations.
_SHOWN: set[type] = set()


def show_types(thing: object) -> None:
    """Give a function, or the public methods of a class, annotations that ``help()`` shows in short words."""
    if isinstance(thing, FunctionType):
        inside = inspect.unwrap(thing)
        inside.faultsim_types = {**inside.__annotations__, **getattr(inside, "faultsim_types", {})}
        inside.__annotations__ = {name: shown_type(kind) for name, kind in inside.__annotations__.items()}
    elif isinstance(thing, type):
        for cls in thing.__mro__:
            if cls in _SHOWN or not cls.__module__.startswith("faultsim."):
                continue
            _SHOWN.add(cls)
            for name, value in vars(cls).items():
                method = getattr(value, "__func__", value)
                if isinstance(method, FunctionType) and (name in ("__init__", "__new__") or not name.startswith("_")):
                    show_types(method)


def show_types_of(names: Mapping[str, Any]) -> None:
    """The same for all public names of a module, its ``globals()``."""
    for name in names["__all__"]:
        show_types(names.get(name))


def shown_type(kind: object) -> ShownType:
    """A type in short words for ``help()``, without modules, checks and units.

    Examples
    --------
    >>> from typing import Annotated, Literal
    >>> shown_type(Annotated[float, "s"]), shown_type(Duration), shown_type(Literal["any", "fixed"] | None)
    (float, Duration, 'any' | 'fixed' | None)
    """
    return ShownType(_words(kind))


_MODULES = re.compile(r"\b(?:[A-Za-z_]\w*\.)+(?=[A-Za-z_])")


@cache
def _unions() -> dict[str, tuple[object, ...]]:
    """Name -> the parts of unions that have one."""
    from numpy.typing import ArrayLike

    return {"ArrayLike": get_args(ArrayLike), "Duration": get_args(Duration)}


def _words(kind: object) -> str:
    if kind is None or kind is type(None):
        return "None"
    if isinstance(kind, str):
        return _MODULES.sub("", kind)
    if isinstance(kind, ShownType):
        return str(kind)
    if isinstance(kind, ForwardRef):
        return _MODULES.sub("", kind.__forward_arg__)
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _words(parts[0])
    if origin is Literal:
        return " | ".join(map(repr, parts)) if len(parts) < 5 else "str"
    if origin is Union or origin is UnionType:
        rest, named = list(parts), []
        for name, several in _unions().items():
            if all(each in rest for each in several):
                rest = [each for each in rest if each not in several]
                named.append(name)
        return " | ".join([*named, *map(_words, rest)])
    if getattr(origin, "__name__", "") == "ndarray":
        return "ndarray"
    if isinstance(parts, tuple) and parts and origin is not None:
        listed = ", ".join(
            "..." if each is ... else f"[{', '.join(map(_words, each))}]" if isinstance(each, list) else _words(each)
            for each in parts
        )
        return f"{getattr(origin, '__name__', origin)}[{listed}]"
    return getattr(kind, "__name__", None) or _MODULES.sub("", repr(kind))


def count(number: int, nouns: str) -> str:
    """A number of things, whose plural is given.

    Examples
    --------
    >>> count(1, "nodes"), count(2000, "hosts")
    ('1 node', '2,000 hosts')
    """
    return f"{number:,} {nouns.removesuffix('s') if number == 1 else nouns}"


def plain(value: object) -> object:
    """A list of what is an array, else the value itself.

    Examples
    --------
    >>> import numpy as np
    >>> plain(np.array([4, 4, 8])), plain((4, 4, 8))
    ([4, 4, 8], (4, 4, 8))
    """
    return value.tolist() if hasattr(value, "dtype") and hasattr(value, "tolist") else value


def refuse_masked(name: str, values: object) -> None:
    """Raise `InputError` where a masked array, or a list with masked values, says that a value is missing.

    Examples
    --------
    >>> import numpy as np
    >>> refuse_masked("size", np.ma.array([4, 8], mask=[False, True]))
    Traceback (most recent call last):
    ...
    faultsim.errors.InputError: size, row 1: the value is masked, that is, missing
    """
    import numpy as np

    if isinstance(values, list | tuple):
        masked = [value is np.ma.masked for value in values]
    elif isinstance(values, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(values).ravel().tolist()
    else:
        return
    if any(masked):
        raise InputError(f"{name}, row {masked.index(True)}: the value is masked, that is, missing")


def real_array(name: str, values: object) -> "NDArray[Any]":
    """An array of what is given, with nothing that is masked, missing (NaT), complex or a date.

    Raises
    ------
    InputError
        It has such values, or is ragged.

    Examples
    --------
    >>> real_array("time", [1, 2.5]).tolist()
    [1.0, 2.5]
    >>> real_array("time", [1, 2j])
    Traceback (most recent call last):
    ...
    faultsim.errors.InputError: time: expected real numbers, got [1, 2j]
    """
    import numpy as np

    refuse_masked(name, values)
    found = array(name, values)
    if found.dtype.kind in "cM" or (found.dtype.kind == "m" and bool(np.isnat(found).any())):
        raise InputError(f"{name}: expected real numbers, got {shown(values)}")
    if found.dtype.kind == "O":  # of Python's numbers, or with None
        refuse_masked(name, found.ravel().tolist())
        for each in found.ravel().tolist():
            refuse_missing(name, each)
            if isinstance(each, complex):
                raise InputError(f"{name}: expected real numbers, got {each!r:.60}")
    return found


def refuse_missing(what: str, value: object) -> None:
    """Raise `OptionError` for what other libraries have in place of a missing value: NaT, or one that is masked."""
    if hasattr(value, "dtype"):
        import numpy as np

        array = np.asarray(value)
        if array.dtype.kind == "c":
            raise OptionError(f"{what} must be a real number, got {value!r:.60}")
        if np.ma.is_masked(value) or (array.dtype.kind in "mM" and bool(np.isnat(array).any())):
            raise OptionError(f"{what} is missing, got {value!r:.60}")
    elif type(value).__name__ in ("NaTType", "NAType"):
        raise OptionError(f"{what} is missing, got {value!r:.60}")


def flag(what: str, value: object) -> bool:
    """True or False, nothing else."""
    if value is True or value is False:
        return bool(value)
    raise OptionError(f"{what} must be True or False, got {value!r}")


def generator(rng: Random) -> "np.random.Generator":
    """The generator itself, or a new one (PCG64DXSM) from a seed.  There is no hidden default.

    Examples
    --------
    >>> bool(generator(7).integers(100) == generator(7).integers(100))
    True
    """
    import numpy as np

    if isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, np.random.SeedSequence):
        return np.random.Generator(np.random.PCG64DXSM(rng))
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool) and rng >= 0:
        return np.random.Generator(np.random.PCG64DXSM(int(rng)))
    raise OptionError(
        f"rng must be a seed (a whole number, at least 0), a numpy.random.SeedSequence or a numpy.random.Generator, "
        f"got {rng!r:.60}"
    )


def shown(value: object, maker: str = "") -> str:
    """What was given, in one short line; for a pandas frame, what makes of it what is wanted.

    Examples
    --------
    >>> shown([1, 2], "Workload"), shown("x" * 99)[-7:]
    ('[1, 2]', 'xxx ...')
    """
    if hasattr(value, "iloc") and hasattr(value, "columns"):
        return f"a {type(value).__name__}" + (f": {maker}.from_pandas(frame) makes one of it" if maker else "")
    whole = repr(value)
    return " ".join(whole[:60].split()) + (" ..." if len(whole) > 60 else "")


def shown_function(value: object) -> str:
    """A class or a function by its name, without an address in memory.

    Examples
    --------
    >>> shown_function(int), shown_function(len)
    ('the class int', 'the function len')
    """
    name = getattr(value, "__qualname__", type(value).__name__)
    return f"the class {name}" if isinstance(value, type) else f"the function {name}"


def is_label(value: object) -> bool:
    """Whether something may be a label of an axis: it has a hash, and one truth value when it is compared.

    Examples
    --------
    >>> import numpy as np
    >>> is_label(0.5), is_label("easy"), is_label([1]), is_label(np.array(5))
    (True, True, False, False)
    """
    try:
        hash(value)
        return (value == value) in (True, False)
    except (TypeError, ValueError):
        return False


def names(what: str, values: object) -> tuple[str, ...]:
    """Several names: a list of text, not one text alone.

    Examples
    --------
    >>> names("columns", ["user", "queue"])
    ('user', 'queue')
    >>> names("columns", "user")
    Traceback (most recent call last):
    ...
    faultsim.errors.OptionError: columns: expected a list of names, got 'user'
    """
    found = list(values) if isinstance(values, Iterable) and not isinstance(values, str | bytes) else [None]
    if not all(isinstance(each, str) for each in found):
        raise OptionError(f"{what}: expected a list of names, got {shown(values)}")
    return tuple(map(str, found))


def counts_of(what: str, values: object) -> dict[str, int]:
    """Counts by name, such as of what was dropped.

    Examples
    --------
    >>> counts_of("dropped", {"cancelled": 3}), counts_of("dropped", None)
    ({'cancelled': 3}, {})
    """
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise OptionError(f"{what} must be a dict of counts by name, got {shown(values)}")
    return {str(name): whole(f"{what}[{name!r:.40}]", count, low=0) for name, count in values.items()}


def array(what: str, values: object) -> "NDArray[Any]":
    """An array of what is given, or `InputError` for lists of unequal lengths.

    Examples
    --------
    >>> array("rows", [1, 2]).tolist()
    [1, 2]
    >>> array("rows", [[1, 2], [3]])
    Traceback (most recent call last):
    ...
    faultsim.errors.InputError: rows: expected a list or an array, got [[1, 2], [3]]
    """
    import numpy as np

    try:
        return np.asarray(values)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what}: expected a list or an array, got {shown(values)}") from None


def file_name(path: object) -> str:
    """The name of a file, which is given as text or as a path.

    Examples
    --------
    >>> from pathlib import PurePosixPath
    >>> file_name(PurePosixPath("logs/nasa.swf"))
    'logs/nasa.swf'
    >>> file_name(None)
    Traceback (most recent call last):
    ...
    faultsim.errors.OptionError: the name of a file must be text or a path, got None
    """
    try:
        name = os.fspath(path)  # type: ignore[call-overload]
    except TypeError:
        raise OptionError(f"the name of a file must be text or a path, got {shown(path)}") from None
    return os.fsdecode(name)


def choice(what: str, value: object, known: Iterable[Word]) -> Word:
    """One of the known names, exactly; for an unknown one the error suggests the nearest and lists them all."""
    names = tuple(known)
    if isinstance(value, str) and value in names:
        return names[names.index(value)]
    listed = ", ".join(repr(k) for k in names)
    if isinstance(value, str):
        raise OptionError(f"unknown {what} {value!r}{did_you_mean(value, names)}; known: {listed}")
    raise OptionError(f"{what} must be one of {listed}, got {value!r}")


def extra(module: str, name: str, what: str) -> ModuleType:
    """The module of an optional dependency, which the extra of this name installs.

    Raises
    ------
    MissingExtraError
        If it is not installed.

    Examples
    --------
    >>> extra("nowhere_to_be_found", "plot", "this")
    Traceback (most recent call last):
    faultsim.errors.MissingExtraError: this needs nowhere_to_be_found: pip install "faultsim[plot]"
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise MissingExtraError(f'{what} needs {package}: pip install "faultsim[{name}]"') from None
