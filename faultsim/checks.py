"""One check for each kind of option value; each raises `OptionError` that says what was wrong, what was given and what
would be right.

The dataclasses of `faultsim.machines` and `faultsim.policies` call these once, in ``__post_init__``.
"""

import contextlib
import importlib
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from types import UnionType
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
    from numpy.typing import ArrayLike

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


#: Methods and attributes of public classes by which policies, tables and engines reach each other, and those of `dict`
#: that a read-only table refuses: neither the reference nor completion shows them.
INTERNAL = frozenset({
    "address", "all_intervals", "all_predictions", "any_nodes", "array_shape", "arrays", "asks", "begins_with_nodes",
    "blocks", "check_against", "check_columns", "check_log", "check_machine", "check_slowdown", "clear", "dated",
    "exchanges_nodes", "expected_runtimes", "first_events", "fitting_log", "from_parts", "fromkeys", "has_boxes",
    "has_python", "held_back", "inputs", "is_asked", "is_slow", "is_written", "largest_job", "largest_place", "lower",
    "most_nodes", "needs_failures", "node_unit", "nodes_needed", "options", "picture", "planned", "planned_intervals",
    "planned_requests", "planned_ticks", "plans", "plans_ahead", "plans_in_python", "pop", "popitem", "predictions",
    "refuse_days", "refuse_domains", "refuse_others", "refuse_slowdowns", "refused", "requests",
    "says_where", "setdefault",
    "shape_ranks", "spare_nodes", "spare_units", "speed_forms", "title", "update", "user_data", "with_coordinates",
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
        raise OptionError(f"{what} must be {_bounds(low, high, None)}{unit and ' ' + unit}, got {_written(n)}")
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


def show_types(function: Any) -> None:
    """Give a function annotations that ``help()`` shows in short words."""
    inside = getattr(function, "__wrapped__", function)
    inside.__annotations__ = {name: shown_type(kind) for name, kind in inside.__annotations__.items()}


def shown_type(kind: Any) -> ShownType:
    """A type in short words for ``help()``, without modules, checks and units.

    Examples
    --------
    >>> from typing import Annotated, Literal
    >>> shown_type(Annotated[float, "s"]), shown_type(Duration), shown_type(Literal["any", "fixed"] | None)
    (float, Duration, 'any' | 'fixed' | None)
    """
    return ShownType(_words(kind))


def _words(kind: Any) -> str:
    if kind is None or kind is type(None):
        return "None"
    if isinstance(kind, ShownType | str):
        return str(kind)
    if isinstance(kind, ForwardRef):
        return kind.__forward_arg__
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _words(parts[0])
    if origin is Literal:
        return " | ".join(map(repr, parts)) if len(parts) < 5 else "str"
    if origin is Union or origin is UnionType:
        durations = get_args(Duration)
        whole = all(each in parts for each in durations)
        rest = [each for each in parts if each not in durations] if whole else list(parts)
        return " | ".join([*(["Duration"] if whole else []), *map(_words, rest)])
    if isinstance(parts, tuple) and parts and origin is not None:
        listed = ", ".join(
            "..." if each is ... else str(list(map(_words, each))) if isinstance(each, list) else _words(each)
            for each in parts
        )
        return f"{getattr(origin, '__name__', origin)}[{listed}]"
    return getattr(kind, "__name__", None) or re.sub(r"\b(?:\w+\.)+(?=\w)", "", repr(kind))


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


def refuse_missing(what: str, value: object) -> None:
    """Raise `OptionError` for what other libraries have in place of a missing value: NaT, or one that is masked."""
    if hasattr(value, "dtype"):
        import numpy as np

        array = np.asarray(value)
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
    >>> shown([1, 2], "Workload")
    '[1, 2]'
    """
    if hasattr(value, "iloc") and hasattr(value, "columns"):
        return f"a {type(value).__name__}" + (f": {maker}.from_pandas(frame) makes one of it" if maker else "")
    return " ".join(f"{value!r:.60}".split())


def shown_function(value: object) -> str:
    """A class or a function by its name, without an address in memory.

    Examples
    --------
    >>> shown_function(int), shown_function(len)
    ('the class int', 'the function len')
    """
    name = getattr(value, "__qualname__", type(value).__name__)
    return f"the class {name}" if isinstance(value, type) else f"the function {name}"


def choice(what: str, value: object, known: Iterable[Word]) -> Word:
    """One of the known names, exactly; for an unknown one the error suggests the nearest and lists them all."""
    names = tuple(known)
    if isinstance(value, str) and value in names:
        return names[names.index(value)]
    listed = ", ".join(repr(k) for k in names)
    if isinstance(value, str):
        raise OptionError(f"unknown {what} {value!r}{did_you_mean(value, names)}; known: {listed}")
    raise OptionError(f"{what} must be one of {listed}, got {value!r}")


def extra(module: str, name: str, what: str) -> Any:
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
