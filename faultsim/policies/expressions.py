"""Arithmetic expressions over the columns of waiting jobs: their text, their tree, their program (model.md#key)."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from faultsim import checks
from faultsim.arrays import Floats, Integers, Values
from faultsim.errors import OptionError

__all__ = ["COLUMNS", "FUNCTIONS", "OPERATIONS", "Node", "Program", "check_names", "parse", "program"]

#: What every expression can name, in the order of the core's numbers; the last three change while a job waits.  Other
#: names are those of further columns of the log.
COLUMNS = ("submit", "estimate", "size", "index", "restarts", "wait", "now")
CHANGING = frozenset({"restarts", "wait", "now"})
#: Function -> number of arguments; None: two or more.
FUNCTIONS: dict[str, int | None] = {
    "where": 3, "min": None, "max": None, "abs": 1, "sqrt": 1, "exp": 1, "log": 1, "log2": 1, "log10": 1,
}  # fmt: skip
#: What a program does, in the order of the core's numbers: "number" and "column" push one, "negate" is unary minus.
OPERATIONS = (
    "number", "column", "negate", "abs", "sqrt", "exp", "log", "log2", "log10",
    "+", "-", "*", "/", "**", "min", "max", "<", "<=", ">", ">=", "==", "!=", "where",
)  # fmt: skip

#: Binary operators, those that bind least first.
_LEVELS = {"<": 0, "<=": 0, ">": 0, ">=": 0, "==": 0, "!=": 0, "+": 1, "-": 1, "*": 2, "/": 2}
#: Most parts inside one another; what reads and evaluates a tree calls itself.
MOST_NESTED = 100
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<name>[^\W\d]\w*)|(?P<sign>\*\*|[<>=!]=|[-+*/<>(),])"
    r"|(?P<other>\S))"
)
#: Most parts of a program that are computed once.
MOST_KEPT = 8
#: Where a key counts as a power of `wait` at all: most operations, and most powers inside one another.
MOST_OPERATIONS = 40
MOST_POWERS = 2
#: Columns of a log that no key can name, and why.
_HIDDEN = {"runtime": 'nobody knows it while a job waits; with estimates="actual" it is the estimate'}
#: What people write elsewhere, and how it is written here.
_MEANT = {
    "^": "a power is **", "=": "a comparison is ==", "&": "multiply two comparisons", "|": "use max(a, b)",
    "%": "there is no remainder", "and": "multiply two comparisons", "or": "use max(a, b)", "if": "use where(c, a, b)",
    "ln": "the natural logarithm is log", "pow": "a power is **",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Node:
    """A part of an expression: an operation of `OPERATIONS` on parts, or the number or the column that it is."""

    operation: str
    parts: tuple["Node", ...] = ()
    number: float = 0.0
    column: str = ""
    nested: int = 1
    at: int = field(default=0, compare=False)  # column of the text, where a name may be wrong


class Program(NamedTuple):
    """A stack program: rows of (operation, argument); the argument is the place of a number or of a column.

    Columns behind those of `COLUMNS` are what the programs in `kept` give: parts that do not change, computed once.
    Behind `MOST_KEPT` of these are the columns of the log named in `further`.
    """

    code: Integers
    numbers: Floats
    depth: int
    static: bool
    kept: tuple["Program", ...] = ()
    further: tuple[str, ...] = ()
    degree: float | None = None  # the value of a job is its value at wait 1, times wait to this power


class _Token(NamedTuple):
    kind: str
    text: str
    column: int


@lru_cache(maxsize=1024)
def parse(text: str) -> Node:
    """The tree of an expression.

    Raises
    ------
    OptionError
        With the column of the text at which it is wrong.

    Examples
    --------
    >>> [part.operation for part in parse("estimate * size + 1").parts]
    ['*', 'number']
    >>> parse("estimate * sqr(size)")
    Traceback (most recent call last):
    ...
    faultsim.errors.OptionError: key 'estimate * sqr(size)', column 12: unknown function 'sqr' (did you mean 'sqrt'?)...
    """
    return _Parser(text).whole()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = [
            _Token(str(found.lastgroup), found[str(found.lastgroup)], found.start(str(found.lastgroup)) + 1)
            for found in _TOKEN.finditer(text)
        ]
        self.tokens.append(_Token("end", "", len(text.rstrip()) + 1))
        self.at = 0
        self.open = 0

    def whole(self) -> Node:
        if len(self.tokens) == 1:
            raise self.wrong(self.now, "is empty; write for instance estimate * size")
        node = self.expression(0)
        if self.now.kind != "end":
            raise self.wrong(self.now, f"{self.now.text!r} does not belong here" + self.meant())
        return node

    def expression(self, level: int) -> Node:
        """Operands joined by operators of this level or above."""
        node = self.operand()
        while self.now.kind == "sign" and _LEVELS.get(self.now.text, -1) >= level:
            token = self.take()
            binds = _LEVELS[token.text]
            node = self.node(token, token.text, node, self.expression(binds + 1))
            if not binds and _LEVELS.get(self.now.text, -1) == 0:
                raise self.wrong(self.now, "comparisons cannot be chained; write (a < b) * (b < c)")
        return node

    def operand(self) -> Node:
        """A number, a column, a call or what is in parentheses, with its minus and its power."""
        token = self.take()
        self.open += 1
        if self.open > MOST_NESTED:
            raise self.wrong(token, f"more than {MOST_NESTED} parts inside one another")
        if token.text == "-":
            node = self.node(token, "negate", self.operand())
        else:
            node = self.atom(token)
            if self.now.text == "**":
                node = self.node(self.take(), "**", node, self.operand())
        self.open -= 1
        return node

    def atom(self, token: _Token) -> Node:
        if token.kind == "number":
            number = float(token.text)
            if math.isinf(number):
                raise self.wrong(token, f"{token.text} is more than a float64 holds")
            return Node("number", number=number)
        if token.kind == "name":
            return self.call(token) if self.now.text == "(" else self.column(token)
        if token.text == "(":
            node = self.expression(0)
            self.expect(")", f"the ( of column {token.column} is not closed")
            return node
        if token.kind == "other":
            raise self.wrong(token, f"{token.text!r} does not belong here")
        raise self.wrong(token, "a number, a name or ( is missing here")

    def column(self, token: _Token) -> Node:
        if token.text in FUNCTIONS:
            raise self.wrong(token, f"{token.text} is a function: write {token.text}(...)")
        return Node("column", column=token.text, at=token.column)

    def call(self, token: _Token) -> Node:
        if token.text not in FUNCTIONS:
            if token.text in COLUMNS:
                raise self.wrong(token, f"{token.text} is not a function")
            hint = checks.did_you_mean(token.text, FUNCTIONS)
            hint = f" ({_MEANT[token.text]})" if token.text in _MEANT else hint
            raise self.wrong(token, f"unknown function {token.text!r}{hint}; known: {', '.join(FUNCTIONS)}")
        self.take()
        parts = [self.expression(0)]
        while self.now.text == ",":
            self.take()
            parts.append(self.expression(0))
        self.expect(")", f"the ( of {token.text} is not closed")
        wanted = FUNCTIONS[token.text]
        if len(parts) != wanted and (wanted is not None or len(parts) < 2):
            takes = "2 or more arguments" if wanted is None else f"{wanted} argument{'s' * (wanted > 1)}"
            raise self.wrong(token, f"{token.text} takes {takes}, got {len(parts)}")
        if wanted is not None:
            return self.node(token, token.text, *parts)
        node = parts[0]
        for part in parts[1:]:
            node = self.node(token, token.text, node, part)
        return node

    def node(self, token: _Token, operation: str, *parts: Node) -> Node:
        nested = 1 + max(part.nested for part in parts)
        if nested > 2 * MOST_NESTED:
            most = 2 * MOST_NESTED
            raise self.wrong(token, f"more than {most} parts inside one another; use parentheses to balance it")
        return Node(operation, parts, nested=nested)

    @property
    def now(self) -> _Token:
        return self.tokens[self.at]

    def take(self) -> _Token:
        token = self.now
        self.at += token.kind != "end"
        return token

    def expect(self, sign: str, otherwise: str) -> None:
        if self.now.text != sign:
            raise self.wrong(self.now, otherwise + self.meant())
        self.take()

    def meant(self) -> str:
        return f" ({_MEANT[self.now.text]})" if self.now.text in _MEANT else ""

    def wrong(self, token: _Token, what: str) -> OptionError:
        return OptionError(f"key {self.text!r}, column {token.column}: {what}")


def further_in(node: Node) -> Iterator[Node]:
    """The names of further columns in a tree."""
    if node.column and node.column not in COLUMNS:
        yield node
    for part in node.parts:
        yield from further_in(part)


def check_names(text: str, columns: Mapping[str, Values]) -> None:
    """Raise `OptionError` for a name in a key that is none, or no column of numbers, with its column of the text.

    Parameters
    ----------
    text : str
        The key.
    columns : mapping of str to array
        The columns of the log.

    Examples
    --------
    >>> check_names("estimate * priority", {"priority": np.array([3, 1])})
    >>> check_names("2 * sise", {"priority": np.array([3, 1])})
    Traceback (most recent call last):
    ...
    faultsim.errors.OptionError: key '2 * sise', column 5: unknown name 'sise' (did you mean 'size'?); known: ...
    """
    known = dict.fromkeys([*COLUMNS, *(name for name in columns if name not in _HIDDEN)])
    for node in further_in(parse(text)):
        name, where = node.column, f"key {text!r}, column {node.at}: "
        if name in _HIDDEN:
            raise OptionError(f"{where}{name} is not for keys: {_HIDDEN[name]}")
        if name not in known:
            hint = checks.did_you_mean(name, [*known, *FUNCTIONS])
            hint = f" ({_MEANT[name]})" if name in _MEANT else hint
            names, functions = ", ".join(known), ", ".join(FUNCTIONS)
            raise OptionError(f"{where}unknown name {name!r}{hint}; known: {names}, and functions {functions}")
        if columns[name].dtype.kind not in "biuf":
            raise OptionError(f"{where}the column {name!r} is of {columns[name].dtype}, and a key takes numbers")


@lru_cache(maxsize=1024)
def program(text: str) -> Program:
    """The program of an expression, which leaves its value as the only one on the stack.

    Examples
    --------
    >>> program("estimate * 2")
    Program(code=array([[ 1,  1],
           [ 0,  0],
           [11,  0]], dtype=int32), numbers=array([2.]), depth=2, static=True, kept=(), further=(), degree=None)
    """
    tree = parse(text)
    return _program(tree, tuple(dict.fromkeys(node.column for node in further_in(tree))))


def _program(tree: Node, further: tuple[str, ...]) -> Program:
    code: list[tuple[int, int]] = []
    numbers: list[float] = []
    kept: list[Node] = []
    depth = most = 0
    static = _is_static(tree)
    for node, is_kept in _postfix(tree, 0 if static else MOST_KEPT, kept):
        argument, operation = 0, node.operation
        if is_kept:
            argument, operation = len(COLUMNS) + len(kept) - 1, "column"
        elif operation == "number":
            argument = len(numbers)
            numbers.append(node.number)
        elif node.column in COLUMNS:
            argument = COLUMNS.index(node.column)
        elif operation == "column":
            argument = len(COLUMNS) + MOST_KEPT + further.index(node.column)
        code.append((OPERATIONS.index(operation), argument))
        depth += 1 if operation == "column" else 1 - len(node.parts)
        most = max(most, depth)
    programs = tuple(_program(node, further) for node in kept)
    degree = _degree(tree) if not static and _count(tree) <= MOST_OPERATIONS else None
    return Program(np.array(code, np.int32), np.array(numbers, np.float64), most, static, programs, further, degree)


def _degree(node: Node, powers: int = MOST_POWERS) -> float | None:
    """The power of `wait` that an expression is, up to what does not change; None: it is none.

    Also none where rounding could be more than the core expects, as after a power of a power of a power.
    """
    if _is_static(node):
        return 0.0
    if node.column == "wait":
        return 1.0
    operation, first = node.operation, node.parts[0] if node.parts else None
    exponent = 0.5 if operation == "sqrt" else _number(node.parts[1]) if operation == "**" else None
    if first is None or operation not in ("negate", "abs", "sqrt", "*", "/", "**"):
        return None
    degree = _degree(first, powers - (exponent is not None))
    if degree is None or operation in ("negate", "abs"):
        return degree
    if operation in ("*", "/"):
        other = _degree(node.parts[1], powers)
        return None if other is None else degree + other if operation == "*" else degree - other
    if exponent is None or powers == 0 or not 0.25 <= abs(exponent) <= 4.0:
        return None
    return degree * exponent


def _number(node: Node) -> float | None:
    if node.operation == "negate":
        negated = _number(node.parts[0])
        return None if negated is None else -negated
    return node.number if node.operation == "number" else None


def _count(node: Node) -> int:
    return 1 + sum(map(_count, node.parts))


def _is_static(node: Node) -> bool:
    return node.column not in CHANGING and all(map(_is_static, node.parts))


def _postfix(node: Node, most: int, kept: list[Node]) -> Iterator[tuple[Node, bool]]:
    """The parts of a tree in the order of a program; the first that do not change are `kept`, each as one."""
    is_kept = len(kept) < most and bool(node.parts) and _is_static(node)
    if is_kept:
        kept.append(node)
    else:
        for part in node.parts:
            yield from _postfix(part, most, kept)
    yield node, is_kept
