"""The border of the public names: a raw error of Python becomes one of faultsim that names the argument to blame.

Most arguments are checked where they are used, by `faultsim.checks` and the readers of columns.  What such a check does
not expect, an object of another library or a list in place of a word, ends in some error of Python far below.  `entry`
compares the arguments with the annotations of the function then, and only then, so that calls that work cost nothing.
"""

import collections.abc
import inspect
import itertools
import os
import sys
import types
import typing
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from faultsim import checks
from faultsim.errors import FaultsimError, OptionError

Called = TypeVar("Called", bound=Callable[..., object])
#: Elements of a container that are looked at.
_MOST = 1000
_PACKAGE = os.path.dirname(os.path.abspath(__file__))
#: Methods with leading underscores that are entries, too.
_SPECIAL = ("__init__", "__call__")


def entry(function: Called) -> Called:
    """Decorator of a public function: flags are checked, and a raw error becomes an `OptionError` that names it.

    Examples
    --------
    >>> @entry
    ... def head(rows: list[int], *, reverse: bool = False) -> int:
    ...     return rows[0]
    >>> head([3, 4])
    3
    >>> head(5)
    Traceback (most recent call last):
    ...
    faultsim.errors.OptionError: head: rows must be a list, got 5
    >>> head([3], reverse="no")
    Traceback (most recent call last):
    ...
    faultsim.errors.OptionError: reverse must be True or False, got 'no'
    """
    flags = frozenset(name for name, kind in _annotations(function).items() if kind is bool)
    flag, blamed, own, raw = checks.flag, blame, FaultsimError, Exception

    # All that is used here is in the closure: below, the function gets the names of the module of `function`, to which
    # `doctest` counts it.
    def called(*args, **kwargs):  # type: ignore[no-untyped-def]
        for name in kwargs:
            if name in flags:
                flag(name, kwargs[name])
        try:
            return function(*args, **kwargs)
        except own:
            raise
        except raw as error:
            if (better := blamed(function, args, kwargs, error)) is None:
                raise
            raise better from None

    made = types.FunctionType(called.__code__, function.__globals__, function.__name__, None, called.__closure__)
    return typing.cast(Called, wraps(function)(made))


def checked(function: Called) -> Called:
    """Decorator of a method that the package calls, and users seldom: all arguments are compared with their types.

    Examples
    --------
    >>> @checked
    ... def show(text: str) -> None: ...
    >>> show(5)
    Traceback (most recent call last):
    ...
    faultsim.errors.OptionError: show: text must be text, got 5
    """

    @wraps(function)
    def called(*args: object, **kwargs: object) -> object:
        if wrong := blame(function, args, kwargs, TypeError()):
            raise wrong
        return function(*args, **kwargs)

    return typing.cast(Called, called)


def guard(module: dict[str, Any]) -> None:
    """Make entries of the public methods of all classes that a module lists in ``__all__``, and of their bases here.

    Parameters
    ----------
    module : dict
        ``globals()`` of the module.
    """
    for name in module["__all__"]:
        cls = module.get(name)
        if inspect.isclass(cls) and not issubclass(cls, BaseException | tuple | str):
            for base in cls.__mro__:
                if base.__module__.startswith("faultsim"):
                    _guard_class(base)


def _guard_class(cls: type) -> None:
    if isinstance(vars(cls).get("__init__"), types.WrapperDescriptorType):
        return
    for name, member in list(vars(cls).items()):
        if name.startswith("_") and name not in _SPECIAL:
            continue
        inside = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if not isinstance(inside, types.FunctionType) or hasattr(inspect.unwrap(inside), "faultsim_entry"):
            continue
        inspect.unwrap(inside).faultsim_entry = True
        made = entry(inside)
        setattr(cls, name, type(member)(made) if inside is not member else made)


def _annotations(function: Callable[..., object]) -> dict[str, object]:
    """Types as they were before `checks.show_types` and ``takes`` put words in their place."""
    inside = inspect.unwrap(function)
    return {**inside.__annotations__, **getattr(inside, "faultsim_types", {})}


def blame(
    function: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object], error: BaseException
) -> OptionError | None:
    """An error that names the first argument which is not of its annotated type; None if all are.

    Neither `MemoryError` nor `OSError` with a number and a file is raw: Python and the system say what is wrong.

    Examples
    --------
    >>> def row(number: int) -> None: ...
    >>> blame(row, ("x",), {}, TypeError())
    OptionError("row: number must be a whole number, got 'x'")
    >>> blame(row, (5,), {}, TypeError()) is None
    True
    """
    if isinstance(error, Warning | MemoryError) or (
        isinstance(error, OSError) and None not in (error.errno, error.filename)
    ):
        return None
    if _of_callers(error):
        return None
    inside = inspect.unwrap(function)
    try:
        bound = inspect.signature(inside, follow_wrapped=False).bind_partial(*args, **kwargs)
    except (TypeError, ValueError):  # arguments that do not fit by number or name: Python's own words are good
        return None
    kinds, scope = _annotations(inside), vars(sys.modules.get(inside.__module__, sys))
    owner = _owner(inside)
    tests: list[Callable[[object, object], bool]] = [is_a]
    if isinstance(error, ArithmeticError) or "dimension" in str(error):
        tests.append(_is_usual)
    if "string to float" in str(error) or "float() argument" in str(error):
        tests.append(_is_numeric)
    return next((found for test in tests if (found := _first(bound, kinds, scope, owner, test))), None)


def _of_callers(error: BaseException) -> bool:
    """Whether an error went through code of the caller, such as a policy, below this call."""
    import site
    import sysconfig

    paths = sysconfig.get_paths()
    known = (
        _PACKAGE,
        paths["stdlib"],
        paths["platstdlib"],
        paths["purelib"],
        paths["platlib"],
        *site.getsitepackages(),
    )
    below = error.__traceback__.tb_next if error.__traceback__ is not None else None
    while below is not None:
        name = below.tb_frame.f_code.co_filename
        if os.path.isabs(name) and not name.startswith(known) and "site-packages" not in name:
            return True
        below = below.tb_next
    return False


def _first(
    bound: inspect.BoundArguments,
    kinds: Mapping[str, object],
    scope: Mapping[str, object],
    owner: str,
    test: Callable[[object, object], bool],
) -> OptionError | None:
    """An error about the first argument that a test refuses for its type."""
    for name, value in bound.arguments.items():
        parameter = bound.signature.parameters[name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            given = [(f"argument {i + 1}", each, kinds.get(name, Any)) for i, each in enumerate(value)]
        elif parameter.kind is parameter.VAR_KEYWORD:
            given = [(key, each, kinds.get(key, Any)) for key, each in value.items()]
        else:
            given = [(name, value, kinds.get(name, Any))]
        for label, each, kind in given:
            kind = _resolved(kind, scope)
            if not test(each, kind):
                usual = ", of a usual size" if test is _is_usual else ""
                return OptionError(f"{owner}: {label} must be {words(kind)}{usual}, got {_said(each)}")
    return None


def _owner(inside: Callable[..., object]) -> str:
    name: str = inside.__qualname__.replace(".__init__", "").replace(".__call__", "")
    return name.rpartition("<locals>.")[2]


def _said(value: object) -> str:
    if isinstance(value, type) or inspect.isroutine(value):
        return checks.shown_function(value)
    try:
        return checks.shown(value).encode("ascii", "backslashreplace").decode()
    except Exception:
        return f"an object of {type(value).__name__}"


def _resolved(kind: object, scope: Mapping[str, object]) -> object:
    """A type that may be written as text; `Any` where its name is known to type checkers only."""
    if isinstance(kind, typing.ForwardRef):
        kind = kind.__forward_arg__
    if isinstance(kind, str):
        try:
            return eval(kind, {**vars(sys.modules["faultsim"]), **scope})
        except Exception:
            return Any
    return kind


def _scope() -> dict[str, object]:
    import numpy as np
    from numpy.typing import ArrayLike

    return {"ArrayLike": ArrayLike, "np": np}


def is_a(value: object, kind: object) -> bool:
    """Whether a value is of an annotated type, elements of containers included; True where that cannot be said.

    Text must be such that a file or a terminal takes it, numbers such that a double or 64 bits do.

    Examples
    --------
    >>> is_a(3, float), is_a("x", float), is_a([1, "x"], list[int]), is_a([[1, 2], [3]], "ArrayLike")
    (True, False, False, False)
    """
    try:
        return _is_a(value, kind)
    except Exception:  # an object that cannot be compared, such as an array with more than one truth value
        return False


def _is_a(value: object, kind: object) -> bool:
    if isinstance(kind, str | typing.ForwardRef):
        kind = _resolved(kind, _scope())
    if kind is Any or isinstance(kind, TypeVar | checks.ShownType):
        return True
    if kind is None or kind is type(None):
        return value is None
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _is_a(value, parts[0])
    if origin is Literal:
        return type(value) in {type(each) for each in parts} and value in parts
    if origin in (Union, types.UnionType):
        if any(_is_numpy(part) for part in parts) and _is_array(value):
            return True
        return any(is_a(value, part) for part in parts if not _is_numpy(part))
    if origin is type:
        return isinstance(value, type)
    if origin is collections.abc.Callable:
        return callable(value)
    if origin is not None:
        return _is_container(value, origin, parts)
    return _is_plain(value, kind)


def _is_numeric(value: object, kind: object) -> bool:
    """Whether what may be an array has no text but numbers."""
    import numpy as np

    if value is None or not any(map(_is_numpy, get_args(kind))):
        return True
    try:
        return np.asarray(value, dtype=np.float64).size >= 0
    except (TypeError, ValueError):
        return False


def _is_usual(value: object, kind: object) -> bool:
    """Whether what may be an array or a number is one of numbers below 1e18, not nearer to 0 than 1e-18."""
    import numpy as np

    parts = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
    wanted = [part for part in parts if part in (int, float) or _is_numpy(part) or get_origin(part) is np.ndarray]
    if not wanted or value is None or not is_a(value, kind):
        return True
    if isinstance(value, str | bytes):
        return str in parts and checks.seconds(value) is not None
    try:
        array = np.abs(np.asarray(value, dtype=np.float64))
    except (TypeError, ValueError, OverflowError):
        return not _is_array(value) or bool(set(parts) - set(wanted) - {type(None)})
    return bool((np.isfinite(array) & (array < 1e18) & ((array > 1e-18) | (array == 0))).all())


def _is_plain(value: Any, kind: object) -> bool:
    import numpy as np

    if kind in (int, float) and (np.ma.is_masked(value) or isinstance(value, np.datetime64 | np.timedelta64)):
        return False
    if kind is bool:
        return value is True or value is False
    if kind is str:
        return isinstance(value, str) and "\0" not in value and value.encode() is not None
    if kind is int:
        return not isinstance(value, bool) and -(2**63) <= value.__index__() < 2**63
    if kind is float:
        return not isinstance(value, bool | str | bytes) and abs(float(value)) >= 0.0
    if not isinstance(kind, type):
        return True
    if typing.is_typeddict(kind):
        return isinstance(value, Mapping)
    return isinstance(value, kind)


def _is_numpy(kind: object) -> bool:
    return "numpy" in str(getattr(kind, "__module__", "")) and "_typing" in str(getattr(kind, "__module__", ""))


def _is_array(value: object) -> bool:
    """Whether NumPy makes an array of numbers, times or words of it."""
    import numpy as np

    if isinstance(value, str | bytes | Mapping | type) or value is None or np.ma.is_masked(value):
        return False
    array = np.asarray(value)
    return array.dtype.kind in "biufUSmM" and not (array.dtype.kind in "mM" and bool(np.isnat(array).any()))


def _is_container(value: Any, origin: type, parts: tuple[object, ...]) -> bool:
    import numpy as np

    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and not np.ma.is_masked(value)
    if origin is os.PathLike:
        return isinstance(value, os.PathLike) and isinstance(os.fspath(value), str)
    if isinstance(value, str | bytes) and origin is not str:
        return False
    is_listed = isinstance(value, np.ndarray) and value.ndim > 0 and not np.ma.is_masked(value)
    if not isinstance(value, origin) and not (is_listed and issubclass(list, origin)):
        return False
    if isinstance(value, type) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return False
    if isinstance(value, Mapping) and len(parts) == 2:
        return all(_is_a(key, parts[0]) and is_a(each, parts[1]) for key, each in list(value.items())[:_MOST])
    if origin is tuple and parts[-1:] != (...,):
        return len(value) == len(parts) and all(map(is_a, value, parts))
    if not isinstance(value, collections.abc.Collection) or not parts:
        return True
    return all(is_a(each, parts[0]) for each in itertools.islice(value, _MOST))


#: Types in the words of messages.
_WORDS: dict[object, str] = {
    int: "a whole number", float: "a number", str: "text", bool: "True or False", type(None): "None", None: "None",
    list: "a list", dict: "a dict", set: "a set", tuple: "a tuple", os.PathLike: "a path",
    collections.abc.Sequence: "a list", collections.abc.Iterable: "a list", collections.abc.Collection: "a list",
    collections.abc.Mapping: "a dict", collections.abc.Callable: "a function", collections.abc.Iterator: "an iterator",
}  # fmt: skip


def words(kind: object) -> str:
    """An annotated type as a message says it.

    Examples
    --------
    >>> from collections.abc import Iterable
    >>> words(str | os.PathLike[str] | None), words(Iterable[int]), words(Literal["any", "all"])
    ('text, a path or None', 'a list', "'any' or 'all'")
    """
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return words(parts[0])
    if origin is Literal:
        return _listed([repr(each) for each in parts])
    if origin in (Union, types.UnionType):
        array = ["numbers (a list or an array)"] if any(map(_is_numpy, parts)) else []
        return _listed(list(dict.fromkeys(array + [words(each) for each in parts if not _is_numpy(each)])))
    found = _WORDS.get(origin or kind)
    if found is None:
        name = getattr(origin or kind, "__name__", None) or str(kind)
        found = "an array" if name == "ndarray" else checks.a(name)
    return found


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else "".join(names)
