"""Pairs of objects whose content differs, pairs whose content is equal, and objects without content.

As a program, it prints the identity of each: classes and functions are those of ``__main__`` then.
"""

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import json
import operator
import pathlib
import random
import re
import threading
import types
import uuid
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import faultsim as fs
from faultsim.sweep.identity import identity

try:
    import pandas as pd
    import scipy.sparse as sparse
except ImportError:  # their pairs are left out
    pd = sparse = None


class Slots:
    __slots__ = ("a", "b")

    def __init__(self, a, b=None):
        self.a = a
        if b is not None:
            self.b = b


@dataclasses.dataclass
class Data:
    a: Any
    b: Any = 1


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Bits(enum.Flag):
    A = 1
    B = 2


Point = collections.namedtuple("Point", "a b")


class Rule:
    def __init__(self, k):
        self.k = k

    def times(self, x):
        return x * self.k


class Order(fs.QueueOrder):
    def __init__(self, x):
        self.x = x

    def keys(self, queue, now):
        return queue.submit


class Own:
    """An object that gives its own identity."""

    def __init__(self, word, lock=None):
        self.word, self.lock = word, lock

    def __faultsim_identity__(self):
        return self.word


def closure(k):
    return lambda x: x * k


def recursive(k):
    def f(n):
        return k if n == 0 else f(n - 1)

    return f


def written(text):
    """The function f of a module with this text."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(text, names)
    return names["f"]


def elements(value):
    array = np.empty(2, object)
    array[:] = [value, None]
    return array


def of_itself(k):
    rule = Rule(k)
    rule.me, rule.other = rule, rule.times
    return rule


def cyclic(k):
    made = [k]
    made.append(made)
    return made


def mutual(k):
    return written(f"def h(): return {k}\ndef g(): return h() or f()\ndef f(): return g()")


def table(*rows):
    return np.array(list(rows), np.dtype("i1,f8", align=True))


def pairs_that_differ() -> Iterator[tuple[Any, Any]]:
    yield from _plain()
    yield from _code()
    yield from _arrays()
    if pd is not None:
        yield from _frames()


def _plain() -> Iterator[tuple[Any, Any]]:
    yield collections.deque([1, 2]), collections.deque([1, 3])
    yield collections.deque([1], 3), collections.deque([1], 4)
    yield Slots(1), Slots(2)
    yield Slots(1, 2), Slots(1, 3)
    yield Slots(1), Slots(1, 1)
    yield Data(np.array([1, 2])), Data(np.array([1, 3]))
    yield Data(np.zeros(10_000)), Data(np.r_[np.zeros(5_000), 1, np.zeros(4_999)])  # of which repr shows the ends
    yield {1}, {2}
    yield {1: 1}, {"1": 1}
    yield {1: 1}, {1: 2}
    yield frozenset("ab"), frozenset("ac")
    yield {1}, frozenset({1})
    yield [1], (1,)
    yield [[1], 2], [1, [2]]
    yield [1], [True]
    yield [1], [1.0]
    yield 0.0, -0.0
    yield [1.0] * 100, [1.0] * 99 + [2.0]
    yield 10**5000, 10**5000 + 1
    yield b"a", bytearray(b"a")
    yield "a", b"a"
    yield range(3), range(4)
    yield slice(1), slice(2)
    yield memoryview(b"ab"), memoryview(b"ac")
    yield types.MappingProxyType({1: 1}), types.MappingProxyType({1: 2})
    yield datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 2)
    yield datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    yield datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)
    yield datetime.timedelta(1), datetime.timedelta(2)
    yield Color.RED, Color.BLUE
    yield Color.RED, 1
    yield Bits.A, Bits.A | Bits.B
    yield Point(1, 2), Point(1, 3)
    yield Point(1, 2), (1, 2)
    yield decimal.Decimal(1), decimal.Decimal(2)
    yield fractions.Fraction(1, 2), fractions.Fraction(1, 3)
    yield collections.OrderedDict(a=1, b=2), collections.OrderedDict(b=2, a=1)
    yield collections.defaultdict(int), collections.defaultdict(list)
    yield collections.Counter("ab"), collections.Counter("abb")
    yield types.SimpleNamespace(a=1), types.SimpleNamespace(a=2)
    yield re.compile("a"), re.compile("b")
    yield re.compile("a"), re.compile("a", re.IGNORECASE)
    yield pathlib.PurePath("a"), pathlib.PurePath("b")
    yield uuid.UUID(int=1), uuid.UUID(int=2)
    yield ValueError(1), ValueError(2)
    yield of_itself(1), of_itself(2)
    yield cyclic(1), cyclic(2)
    yield Order(1), Order(2)
    yield Order([Order(1)]), Order([Order(2)])
    yield Order(fs.Young(1, 2e5)), Order(fs.Young(2, 2e5))
    yield Order(fs.Cluster(2)), Order(fs.Cluster(3))
    yield fs.Workload([0], [1], [1]), fs.Workload([0], [2], [1])
    yield Own("a"), Own("b")


def _code() -> Iterator[tuple[Any, Any]]:
    yield functools.partial(max, 1), functools.partial(max, 2)
    yield functools.partial(max, key=len), functools.partial(max, key=abs)
    yield functools.partial(max), functools.partial(min)
    yield functools.partialmethod(max, 1), functools.partialmethod(max, 2)
    yield closure(1), closure(2)
    yield recursive(1), recursive(2)
    yield mutual(1), mutual(2)
    yield lambda x, k=1: x, lambda x, k=2: x
    yield lambda *, k=1: k, lambda *, k=2: k
    yield Rule(1).times, Rule(2).times
    yield [1].count, [2].count
    yield operator.itemgetter(1), operator.itemgetter(2)
    yield np.add, np.subtract
    yield np.mean, np.median
    yield len, max
    yield int, float
    texts = [
        "K = {}\ndef f(): return K",  # a global
        "def g(): return {}\ndef f(): return g()",  # a function that it calls
        "class A:\n    def m(self): return {}\ndef f(): return A().m()",
        "class B:\n    k = {}\nclass A(B): pass\ndef f(): return A().k",
        "import functools\n@functools.lru_cache\ndef g(): return {}\ndef f(): return g()",
        "def f(): return (lambda: {})()",
        "def f(x): return x in {{'a', {}}}",
    ]
    yield from ((written(text.format(1)), written(text.format(2))) for text in texts)
    yield written("def f(x): return x == 1"), written("def f(x): return x == 1.0")
    yield written("def f(x): return x == 1"), written("def f(x): return x == True")
    yield written("def f(): return 0.0"), written("def f(): return -0.0")
    guarded = "def f():\n    try: return 1\n    except {}: return 2"
    yield written(guarded.format("KeyError")), written(guarded.format("ValueError"))


def _arrays() -> Iterator[tuple[Any, Any]]:
    yield elements(1), elements(2)
    yield elements([1]), elements([2])
    yield np.ma.array([1, 2], mask=[0, 1]), np.ma.array([1, 2], mask=[1, 0])
    yield np.ma.array([1, 2]), np.array([1, 2])
    yield np.array([1]), np.array([1.0])
    yield np.arange(4), np.arange(4).reshape(2, 2)
    yield np.array(["2020-01-01"], "M8[D]"), np.array(["2020-01-02"], "M8[D]")
    yield np.datetime64("2020"), np.datetime64("2021")
    yield table((1, 2.0)), table((1, 3.0))
    yield np.longdouble(1) / 3, np.longdouble(1) / 7
    yield np.arange(2).view(np.recarray), np.arange(2)


def _frames() -> Iterator[tuple[Any, Any]]:
    yield pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [1, 3]})
    yield pd.DataFrame({"a": range(1000)}), pd.DataFrame({"a": [*range(500), 0, *range(501, 1000)]})
    yield pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"b": [1, 2]})
    yield pd.DataFrame({"a": [1, 2]}, index=[0, 1]), pd.DataFrame({"a": [1, 2]}, index=[0, 2])
    yield pd.Series([1.0, 2.0]), pd.Series([1.0, 2.5])
    yield pd.Series([1, 2]), pd.Series([1.0, 2.0])
    yield pd.Series(["a", "b"]), pd.Series(["a", "c"])
    yield pd.Series(["a", "b"], dtype="category"), pd.Series(["a", "c"], dtype="category")
    yield pd.Series([1, None], dtype="Int64"), pd.Series([2, None], dtype="Int64")
    one, two = (pd.to_datetime(["2020-01-01", f"2021-01-0{day}"], utc=True) for day in (1, 2))
    yield pd.Series(one), pd.Series(two)
    yield pd.Timestamp("2020"), pd.Timestamp("2021")
    yield pd.MultiIndex.from_tuples([(1, 2)]), pd.MultiIndex.from_tuples([(1, 3)])
    yield sparse.csr_matrix(np.eye(3)), sparse.csr_matrix(2 * np.eye(3))
    yield sparse.csr_matrix(np.eye(3)), sparse.csc_matrix(np.eye(3))
    yield sparse.dok_matrix(np.eye(3)), sparse.dok_matrix(2 * np.eye(3))


def _twice(make: Callable[[], Any]) -> tuple[Any, Any]:
    return make(), make()


def pairs_that_are_equal() -> Iterator[tuple[Any, Any]]:
    same = _lambda()
    yield {"b", "a", "c"}, {"c", "b", "a"}
    yield {"x": 1, "y": 2}, {"y": 2, "x": 1}
    yield {1, "a", (2, frozenset("xyz"))}, {(2, frozenset("zyx")), "a", 1}
    yield [same, same], [same, _lambda()]
    yield {closure(1), closure(2), closure(3)}, {closure(3), closure(1), closure(2)}
    yield np.asfortranarray(np.arange(6).reshape(2, 3)), np.arange(6).reshape(2, 3)
    yield np.arange(10)[::2], np.array([0, 2, 4, 6, 8])
    yield np.array([1], ">i8"), np.array([1], "<i8")
    yield np.array([np.nan]), np.array([-np.nan])
    yield np.ma.array([1, 2]), np.ma.array([1, 2], mask=[0, 0])
    yield Own("a", threading.Lock()), Own("a", threading.Lock())
    yield Order(fs.Fcfs()), Order(_used(fs.Fcfs()))
    makers: list[Callable[[], Any]] = [
        _lambda, lambda: closure(3), lambda: recursive(3), lambda: mutual(3), lambda: of_itself(1), lambda: cyclic(1),
        lambda: Rule(1).times, lambda: functools.partial(max, key=lambda x: -x), lambda: elements([1]),
        lambda: Data(np.arange(3), Slots({1, 2}, collections.deque("ab"))), lambda: table((1, 2.0), (3, 4.0)),
        lambda: written("def f(x): return x in {'a', 'b', 'c', 'd'}"), lambda: np.ma.array([1, 2], mask=[0, 1]),
        lambda: [Color.RED, Point(1, 2), decimal.Decimal("1.5"), datetime.timedelta(3), re.compile("a|b")],
    ]  # fmt: skip
    yield from map(_twice, makers)
    if pd is not None:
        frame = {"a": [1.0, 2.0], "b": ["x", None], "c": ["u", "v"]}
        yield _twice(lambda: pd.DataFrame(frame).astype({"c": "category"}))
        parts = [pd.DataFrame({name: frame[name]}) for name in "abc"]
        yield pd.DataFrame(frame), pd.concat(parts, axis=1)
        yield pd.DataFrame({"a": [1, 2, 3]})[1:].reset_index(drop=True), pd.DataFrame({"a": [2, 3]})
        one, other = ([1.0, 2.0], [1, 0]), ([2.0, 1.0], [0, 1])
        yield tuple(sparse.csr_matrix((data, at, [0, 2, 2]), shape=(2, 2)) for data, at in (one, other))


def _lambda():
    return lambda x: x + 1


def _used(policy):
    policy.lower()  # which it remembers
    return policy


def without_content() -> dict[str, Any]:
    """Objects that are refused, by what the message calls them."""
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    chain = None
    for _ in range(5_000):
        chain = Slots(chain)
    return {
        "generator": (each for each in "ab"),
        "_thread.lock": threading.Lock(),
        "_thread.RLock": threading.RLock(),
        "_io.TextIOWrapper": open(__file__, encoding="utf-8"),
        "RandomState": np.random.RandomState(1),
        "Generator": np.random.default_rng(1),
        "PCG64": np.random.PCG64(1),
        "random.Random": random.Random(1),
        "list_iterator": iter([]),
        "map": map(len, []),
        "weakref.ReferenceType": weakref.ref(Rule(1)),
        "numpy.ufunc": np.frompyfunc(len, 1, 1),
        "nested more than 100 levels deep": deep,
        "more than 100 levels deep": chain,
    }


if __name__ == "__main__":
    found = [[identity(one, "it") for one in pair] for pair in pairs_that_differ()]
    print(json.dumps(found + [[identity(one, "it") for one in pair] for pair in pairs_that_are_equal()]))
