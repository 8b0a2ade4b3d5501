"""The identity of Python objects by content: policies, metrics, and everything that they refer to.

`identity` walks through an object and returns a digest of what it holds.  Equal content gives an equal digest in every
process, whatever ``PYTHONHASHSEED`` is; other content gives another digest.  An object without readable content (a
lock, an open file, a generator, a random generator) is refused by name.

Functions and classes are nodes of a graph, as they refer to each other in cycles.  So are objects that refer back to
themselves.  Each node has a document, in which other nodes are numbers.  The digest of a node comes from refinement as
in the minimization of automata: in each round the numbers in all documents are replaced by the digests of the round
before, until the number of different digests no longer grows.  The digest of the object covers its own document and
those of all nodes, so neither the order of the walk nor shared objects have an effect.

`joblib.hash` pickles functions by name, so that it does not see their code; `dask.tokenize` hashes pickles of
cloudpickle, which depend on the order of sets.  Hence a walk of our own.
"""

import array
import copyreg
import enum
import functools
import pickle
import random
import struct
import types
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from faultsim.data.failures import FailureTrace
from faultsim.data.workflow import Workflow
from faultsim.data.workload import Workload
from faultsim.errors import FaultsimError, OptionError
from faultsim.machines import Machine
from faultsim.machines.resources import Resources
from faultsim.policies.base import Policy
from faultsim.policies.contract import Compiled
from faultsim.sweep.identity_code import class_parts, code_parts, home_of, is_own, module_of, used_globals
from faultsim.sweep.identity_tables import array_parts, table_parts

#: Name of the method by which an object gives its own identity.
HOOK = "__faultsim_identity__"
#: Most levels of containers and objects within each other.  A level takes up to five of the 1,000 frames that Python
#: allows; where fewer are free, `RecursionError` is reported in the same words.
MOST_LEVELS = 100


class _Open(NamedTuple):
    """What depends on nodes, and whether the order of its parts counts."""

    kind: str
    ordered: bool
    parts: "tuple[Tree, ...]"


#: A digest; or what depends on nodes: an `_Open`, or the number of a node.
Tree: TypeAlias = bytes | int | _Open


def identity(thing: object, what: str) -> str:
    """32 hexadecimal digits that identify an object by content.

    Parameters
    ----------
    thing : object
    what : str
        What messages call it.

    Raises
    ------
    OptionError
        If something in it cannot be identified by content, or is nested too deeply; the message names it.

    Examples
    --------
    >>> identity({"a", "b"}, "x") == identity({"b", "a"}, "x"), identity([1], "x") == identity([1.0], "x")
    (True, False)
    >>> identity(lambda x, k=2: k * x, "x") == identity(lambda x, k=3: k * x, "x")
    False
    >>> identity([iter([1])], "metric 'm'")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    faultsim.errors.OptionError: metric 'm', item 0: a list_iterator has no content that identifies it, ...
    """
    walk = _Walk(thing, what)
    try:
        return walk.digest(thing).hex()
    except RecursionError:
        raise walk.too_deep() from None


def _hash(kind: str, parts: Iterable[bytes]) -> bytes:
    state = blake2b(kind.encode("utf-8", "surrogatepass") + b"\0", digest_size=16)
    for part in parts:
        state.update(len(part).to_bytes(8, "little"))
        state.update(part)
    return state.digest()


def _text(text: str) -> bytes:
    """Of a word of ours."""
    return _hash("word", [text.encode("utf-8", "surrogatepass")])


def _join(kind: str, parts: Iterable[Tree], ordered: bool = True) -> Tree:
    listed = tuple(parts)
    digests = [part for part in listed if type(part) is bytes]
    if len(digests) == len(listed):
        return _hash(kind, digests if ordered else sorted(digests))
    return _Open(kind, ordered, listed)


def _colored(tree: Tree, colors: Sequence[bytes], done: dict[int, bytes]) -> bytes:
    """The digest of a tree whose nodes have these digests."""
    if isinstance(tree, bytes):
        return tree
    if isinstance(tree, int):
        return _hash("node", [colors[tree]])
    made = done.get(id(tree))
    if made is None:
        kind, ordered, parts = tree
        found = [_colored(part, colors, done) for part in parts]
        made = done[id(tree)] = _hash(kind, found if ordered else sorted(found))
    return made


def _empty(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is cell
    except ValueError:
        return True


def _number(value: float) -> bytes:
    return b"nan" if value != value else struct.pack("<d", value)  # all NaN are one


#: Exact type -> the bytes of its values.
_SCALARS: dict[type, Callable[..., bytes]] = {
    type(None): lambda _: b"",
    type(...): lambda _: b"",
    type(NotImplemented): lambda _: b"",
    bool: lambda value: b"1" if value else b"0",
    int: lambda value: hex(value).encode(),  # `str` refuses more than 4,300 digits
    float: _number,
    complex: lambda value: _number(value.real) + b"," + _number(value.imag),
    str: lambda value: value.encode("utf-8", "surrogatepass"),
    bytes: bytes,
    bytearray: bytes,
    range: lambda value: repr(value).encode(),
}
_DESCRIPTORS = (
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.ClassMethodDescriptorType,
)
_RANDOM = (random.Random, np.random.Generator, np.random.RandomState, np.random.BitGenerator)


class _Walk:
    """One walk through an object."""

    def __init__(self, thing: object, what: str) -> None:
        #: Packages whose code is read even if they are installed.
        self._home = home_of(thing)
        self._what = what
        self._path: list[str] = []
        self._trees: dict[int, Tree] = {}  # of objects that are done
        self._begun: set[int] = set()  # objects around the one at hand
        self._numbers: dict[int, int] = {}  # of nodes
        self._documents: list[Tree] = []
        self._waiting: list[tuple[int, types.FunctionType | type, list[str]]] = []  # nodes without a document
        self._kept: list[object] = []  # what has an entry above lives as long: its id is not given again

    def digest(self, thing: object) -> bytes:
        top = self._tree(thing)
        while self._waiting:
            number, node, self._path = self._waiting.pop()
            self._documents[number] = self._class(node) if isinstance(node, type) else self._function(node)
        colors, different, before = [b""] * len(self._documents), 0, -1
        while different > before:
            done: dict[int, bytes] = {}
            colors = [_colored(document, colors, done) for document in self._documents]
            different, before = len(set(colors)), different
        # All nodes, as the digest of one covers only the nodes that are a few steps away.
        return _hash("identity", [_colored(top, colors, {}), *sorted(set(colors))])

    # -- errors

    def _place(self) -> str:
        said = ", ".join([self._what, *self._path])
        return said if len(said) <= 100 else f"{said[:50]} ... {said[-45:]}"

    def refused(self, thing: object, why: str = "has no content that identifies it") -> OptionError:
        return OptionError(
            f"{self._place()}: a {_called(type(thing))} {why}, and a sweep keeps results by what they come from: leave "
            f"it out, or give what holds it a method {HOOK}(self) that returns text or numbers in its place"
        )

    def too_deep(self) -> OptionError:
        return OptionError(
            f"{self._what}: it holds objects nested more than {MOST_LEVELS} levels deep, and a sweep keeps results by "
            f"what they come from: keep its data flatter, or give it a method {HOOK}(self) that returns text or numbers"
        )

    # -- the walk

    def _tree(self, thing: object) -> Tree:
        """The digest of an object, or its tree if it depends on nodes."""
        scalar = _SCALARS.get(type(thing))
        if scalar is not None:
            return _hash(type(thing).__name__, [scalar(thing)])
        key = id(thing)
        if key in self._trees:
            return self._trees[key]
        self._kept.append(thing)
        if key in self._begun:  # it refers back to itself
            return self._node(key)
        if len(self._begun) >= MOST_LEVELS:
            raise self.too_deep()
        self._begun.add(key)
        tree = self._parts(thing)
        self._begun.remove(key)
        if key in self._numbers and type(tree) is not int:
            number = self._numbers[key]
            self._documents[number], tree = tree, number
        self._trees[key] = tree
        return tree

    def _node(self, key: int) -> int:
        if key not in self._numbers:
            self._numbers[key] = len(self._documents)
            self._documents.append(b"")
        return self._numbers[key]

    def _at(self, part: str, thing: object) -> Tree:
        """The same, for a part that messages name."""
        self._path.append(part)
        tree = self._tree(thing)
        self._path.pop()
        return tree

    def _each(self, things: Iterable[object], called: str) -> list[Tree]:
        return [self._at(f"{called} {number}", thing) for number, thing in enumerate(things)]

    def _named(self, kind: str, state: Mapping[str, object], called: str = "attribute") -> Tree:
        """Values by name, in no order."""
        pairs = [
            _join("pair", [_text(str(name)), self._at(f"{called} {name}", value)]) for name, value in [*state.items()]
        ]
        return _join(kind, pairs, ordered=False)

    def _items(self, kind: str, items: Iterable[tuple[object, object]], ordered: bool = False) -> Tree:
        """The pairs of a mapping."""
        pairs = []
        for key, value in [*items]:
            said = f"key {key!r:.30}" if isinstance(key, str | int | float) else "a key"
            pairs.append(_join("pair", [self._at(said, key), self._at(said, value)]))
        return _join(kind, pairs, ordered)

    def _parts(self, thing: Any) -> Tree:
        """The tree of an object that is no plain number or text."""
        cls = type(thing)
        if (hook := self._hook(thing)) is not None:
            return self._by_hook(thing, hook)
        if isinstance(thing, types.FunctionType | type):
            return self._code(thing)
        if cls is list or cls is tuple:
            if len(kinds := set(map(type, thing))) == 1 and (scalar := _SCALARS.get(kind := kinds.pop())) is not None:
                return _hash(f"{cls.__name__} of {kind.__name__}", map(scalar, thing))  # many numbers, faster
            return _join(cls.__name__, self._each(thing, "item"))
        if cls is dict or cls is types.MappingProxyType:
            return self._items(cls.__name__, thing.items())
        if isinstance(thing, set | frozenset):
            return self._of_class(thing, _join("set", self._each(thing, "item"), ordered=False))
        for classes, read in _KINDS:
            if isinstance(thing, classes):
                return read(self, thing)
        if hasattr(thing, "py_func") and cls.__module__.partition(".")[0] == "numba":
            return self._wrapper(thing)
        if (found := table_parts(thing)) is not None:
            return self._of_class(thing, self._mixed("table", found))
        own = self._of_faultsim(thing)
        return self._object(thing) if own is None else own

    def _mixed(self, kind: str, parts: Iterable[object]) -> Tree:
        """Bytes, and other things."""
        return _join(kind, [_hash("bytes", [part]) if type(part) is bytes else self._tree(part) for part in parts])

    def _of_class(self, thing: object, parts: Tree) -> Tree:
        """Parts of an object that is one of a class, with the attributes of a caller's own class."""
        own = is_own(type(thing).__module__, self._home)
        state = getattr(thing, "__dict__", {}) if own else {}
        return _join("object", [self._tree(type(thing)), parts, self._named("state", state)])

    def _array(self, thing: object) -> Tree:
        parts = self._mixed("array", array_parts(thing))
        return parts if type(thing) in _ARRAYS else self._of_class(thing, parts)

    def _buffer(self, thing: object) -> Tree:
        return _join(type(thing).__name__, [self._mixed("buffer", array_parts(np.asarray(thing)))])

    def _member(self, thing: enum.Enum) -> Tree:
        return _join("member", [self._tree(type(thing)), _text(str(thing.name)), self._at("value", thing.value)])

    def _method(self, thing: types.MethodType) -> Tree:
        return _join("method", [self._tree(thing.__func__), self._at(f"method {thing.__name__}", thing.__self__)])

    def _partial(self, thing: "functools.partial[object]") -> Tree:
        parts = [self._at("function", thing.func), _join("arguments", self._each(thing.args, "argument"))]
        parts += [self._named("keywords", thing.keywords, "argument"), self._tree(type(thing))]
        return _join("partial", [*parts, self._named("state", vars(thing))])

    def _wrapper(self, thing: object) -> Tree:
        """Of one function: a static method, a cached property and the like."""
        of = next(getattr(thing, name) for name in ("__wrapped__", "func", "py_func") if hasattr(thing, name))
        return _join("wrapper", [_text(type(thing).__qualname__), self._tree(of)])

    def _cell(self, thing: types.CellType) -> Tree:
        return _text("empty cell") if _empty(thing) else _join("cell", [self._tree(thing.cell_contents)])

    # -- objects

    def _hook(self, thing: object) -> Callable[[], object] | None:
        """The method by which an object gives its own identity, or None."""
        if isinstance(thing, type):
            return None  # it is one for its objects
        on_itself = isinstance(thing, types.FunctionType | functools.partial)
        hook = getattr(thing if on_itself else type(thing), HOOK, None)
        if hook is None:
            return None
        if not callable(hook):
            raise OptionError(f"{self._place()}: {HOOK} must be a method, got {_called(type(hook))}")
        return hook if on_itself else lambda: getattr(thing, HOOK)()

    def _by_hook(self, thing: object, hook: Callable[[], object]) -> Tree:
        cls = type(thing)
        where = f"{self._place()}: {HOOK} of {_called(cls)}"
        try:
            given = hook()
        except FaultsimError:
            raise
        except Exception as error:  # the caller's method may raise anything
            raise OptionError(f"{where} raised {type(error).__name__}: {error}") from error
        if given is None or given is thing:
            got = "None" if given is None else "the object itself"
            raise OptionError(f"{where} must return text or numbers that identify the object, got {got}")
        return _join("by itself", [_text(f"{cls.__module__}.{cls.__qualname__}"), self._at(HOOK, given)])

    def _of_faultsim(self, thing: object) -> Tree | None:
        """The package's own objects, without what they remember of calls."""
        cls = type(thing)
        if isinstance(thing, Workload | FailureTrace | Workflow):
            return _join("input", [_text(cls.__name__), _text(thing.digest())])
        if isinstance(thing, Machine):
            return _join("machine", [self._tree(thing.lower())])
        if isinstance(thing, Resources):
            return _join("resources", [self._tree(thing.speed), self._tree(thing.bandwidth)])
        if isinstance(thing, Compiled):
            if not thing.version:
                raise OptionError(
                    f"a sweep keeps results by what they come from, which of a compiled {thing.what} only its version "
                    f'tells: give {cls.__name__}(..., version="...")'
                )
            return _join("compiled", [self._tree(cls), self._named("state", vars(thing))])
        if isinstance(thing, Policy) and not thing.is_written():
            return _join("policy", [self._tree(cls), self._tree(thing.lower()), self._tree(thing.arrays())])
        return None

    def _object(self, thing: object) -> Tree:
        """Any other object, as pickle takes it apart: its class, how it is made, and its state."""
        cls = type(thing)
        if isinstance(thing, _RANDOM):
            raise self.refused(thing, "changes as it is used")
        if isinstance(thing, Iterator) and not is_own(cls.__module__, self._home):
            raise self.refused(thing)
        try:
            take_apart = copyreg.dispatch_table.get(cls)
            reduced = thing.__reduce_ex__(4) if take_apart is None else take_apart(thing)
        except RecursionError:
            raise
        except Exception:  # whatever a class raises that cannot be pickled
            raise self.refused(thing) from None
        if isinstance(reduced, str):
            return self._global(thing, reduced)
        if not isinstance(reduced, tuple) or not 2 <= len(reduced) <= 6:
            raise self.refused(thing)
        make, arguments, state, items, pairs, setter = (*reduced, None, None, None, None)[:6]
        parts = [self._tree(cls), self._tree(make), *self._each(arguments, "argument"), self._state(state)]
        if items is not None:
            parts.append(_join("items", self._each(items, "item")))
        if pairs is not None:
            parts.append(self._items("pairs", pairs, ordered=isinstance(thing, OrderedDict)))
        return _join("object", parts if setter is None else [*parts, self._tree(setter)])

    def _state(self, state: object) -> Tree:
        if isinstance(state, tuple) and len(state) == 2 and all(isinstance(part, dict | None) for part in state):
            return _join("states", [self._state(part) for part in state])  # attributes, and `__slots__`
        if type(state) is dict and all(type(name) is str for name in state):
            return self._named("state", state)
        return self._tree(state)

    # -- code

    def _global(self, thing: object, name: str) -> Tree:
        """What a module has under a name."""
        module = module_of(thing, name)
        if module is None:
            raise self.refused(thing, f"is not what a module has as {name!r:.40}")
        return _text(f"global {module}.{name}")

    def _built_in(self, thing: Any) -> Tree:
        """A function that is not written in Python: by name, with the object that it is a method of."""
        name = thing.__name__
        if isinstance(thing, _DESCRIPTORS):
            return _text(f"descriptor {thing.__objclass__.__module__}.{thing.__objclass__.__qualname__}.{name}")
        of = getattr(thing, "__self__", None)
        if of is not None and not isinstance(of, types.ModuleType | type):
            return _join("method", [_text(name), self._at(f"method {name}", of)])
        return self._global(thing, thing.__qualname__)

    def _code(self, thing: types.FunctionType | type) -> Tree:
        """A function or a class: by name if it is installed, else a node."""
        module, name = str(thing.__module__), thing.__qualname__
        if not is_own(module, self._home):
            written = isinstance(thing, types.FunctionType) or any(
                isinstance(member, types.FunctionType) for member in vars(thing).values()
            )
            if not written or module_of(thing, name):
                return _text(f"global {module}.{name}")
        number = self._node(id(thing))
        self._waiting.append((number, thing, self._path.copy()))
        return number

    def _function(self, function: types.FunctionType) -> Tree:
        code = function.__code__
        cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        parts = [
            self._tree(code),
            _join("defaults", self._each(function.__defaults__ or (), "default")),
            self._named("keyword defaults", function.__kwdefaults__ or {}, "default"),
            self._named("closure", cells, "variable"),
            self._named("globals", used_globals(function, self._home), "global"),
            self._named("attributes", vars(function)),
        ]
        return _join("function", parts)

    def _class(self, cls: type) -> Tree:
        bases, members = class_parts(cls)
        name = _text(f"{cls.__module__}.{cls.__qualname__}")
        parts = [name, self._tree(type(cls)), *(self._tree(base) for base in bases)]
        return _join("class", [*parts, self._named("members", members, f"{cls.__qualname__}:")])


def _called(cls: type) -> str:
    return cls.__qualname__ if cls.__module__ in ("builtins", "__main__") else f"{cls.__module__}.{cls.__qualname__}"


_ARRAYS = (np.ndarray, *{np.dtype(code).type for code in np.typecodes["All"]})
#: Kinds of objects -> how they are read; the first that fits.
_KINDS: tuple[tuple[type | tuple[type, ...], Callable[..., Tree]], ...] = (
    (types.ModuleType, lambda walk, thing: _text(f"module {thing.__name__}")),
    (enum.Enum, _Walk._member),
    (types.MethodType, _Walk._method),
    ((types.BuiltinFunctionType, types.MethodWrapperType, *_DESCRIPTORS), _Walk._built_in),
    ((classmethod, staticmethod, functools.cached_property, functools._lru_cache_wrapper), _Walk._wrapper),
    (property, lambda walk, thing: _join("property", walk._each([thing.fget, thing.fset, thing.fdel], "function"))),
    ((functools.partial, functools.partialmethod), _Walk._partial),
    (types.CodeType, lambda walk, thing: _join("code", [walk._tree(part) for part in code_parts(thing)])),
    (types.CellType, _Walk._cell),
    (np.vectorize, lambda walk, thing: walk._named("vectorize", {**vars(thing), "_ufunc": None})),  # made in a call
    (slice, lambda walk, thing: _join("slice", walk._each([thing.start, thing.stop, thing.step], "part"))),
    ((np.ndarray, np.generic, np.dtype), _Walk._array),
    ((memoryview, array.array, pickle.PickleBuffer), _Walk._buffer),
)
