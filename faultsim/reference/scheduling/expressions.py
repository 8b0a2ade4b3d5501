"""Keys that are expressions, one job at a time (model.md#key)."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from faultsim.data.lowered import Lowered
from faultsim.errors import OptionError
from faultsim.policies.expressions import Node, parse
from faultsim.reference.job import Job
from faultsim.reference.scheduling.orders import Columns

__all__ = ["check_static", "evaluate", "key"]

#: Names of which a key depends on more than the log.
OF_THE_MOMENT = {"now", "wait", "restarts"}


def key(queue: list[Job], now: float, rule: Lowered, columns: Columns) -> list[float]:
    return [key_of(job, now, rule["text"], columns) for job in queue]


def key_of(job: Job, now: float, text: str, columns: Columns) -> float:
    tree = parse(text)
    further = {name: float(columns[name][job.row]) for name in names_in(tree) & columns.keys()}
    dynamic = not names_in(tree).isdisjoint(OF_THE_MOMENT)
    value = evaluate(tree, {**further, **names_of(job, now, dynamic)})
    if math.isnan(value):
        raise OptionError(f"key {text!r} is not a number (NaN) for the job in row {job.row} at time {now:g}")
    return value


def check_static(jobs: list[Job], rule: Lowered, columns: Columns) -> None:
    """ "Without `now`, `wait` and `restarts` it is that of all jobs before the run, as of their submit times"; "a
    `CompiledOrder` that says that it is static" is checked, too.
    """
    given: Any = rule.get("object")
    order = getattr(given, "order", given)
    if getattr(order, "static", False) and jobs:
        order.static_keys(
            np.array([job.row for job in jobs], np.int32),
            np.array([job.submit for job in jobs]),
            np.array([job.estimate for job in jobs]),
            np.array([job.size for job in jobs], np.int32),
        )
    if "text" in rule and not names_in(parse(rule["text"])) & OF_THE_MOMENT:
        for job in jobs:
            key_of(job, job.submit, rule["text"], columns)


def names_in(node: Node) -> set[str]:
    return {node.column}.union(*map(names_in, node.parts))


def names_of(job: Job, now: float, dynamic: bool = True) -> dict[str, float]:
    return {
        "submit": job.submit if dynamic else job.logged, "wait": now - job.submit, "now": now, "estimate": job.estimate,
        "size": float(job.size), "restarts": float(job.restarts), "index": float(job.row),
    }  # fmt: skip


def evaluate(node: Node, names: dict[str, float]) -> float:
    """The value of a tree."""
    if node.operation == "number":
        return node.number
    if node.operation == "column":
        return names[node.column]
    return OPERATIONS[node.operation](*[evaluate(part, names) for part in node.parts])


def where(c: float, a: float, b: float) -> float:
    """ "where(c, a, b) is a if c is not 0, and else b; it is NaN if c is"."""
    if math.isnan(c):
        return c
    return a if c != 0.0 else b


def smaller(a: float, b: float) -> float:
    """ "NaN if either is"."""
    return a if a < b or math.isnan(a) else b


def larger(a: float, b: float) -> float:
    return a if a > b or math.isnan(a) else b


def divide(a: float, b: float) -> float:
    if b != 0.0:
        return a / b
    if a == 0.0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def power(a: float, b: float) -> float:
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if a < 0.0 and b % 2.0 == 1.0 else math.inf
    except ValueError:  # 0 to a negative power, or a root of a negative number
        if a != 0.0:
            return math.nan
        return math.copysign(math.inf, a) if b % 2.0 == 1.0 else math.inf


def logarithm(function: Callable[[float], float]) -> Callable[[float], float]:
    """ "minus infinity at 0, NaN below"."""

    def value(x: float) -> float:
        if x == 0.0:
            return -math.inf
        return function(x) if x > 0.0 else math.nan

    return value


def exponential(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


OPERATIONS: dict[str, Callable[..., float]] = {
    "negate": lambda a: -a,
    "abs": abs,
    "sqrt": lambda a: math.sqrt(a) if a >= 0.0 else math.nan,
    "exp": exponential,
    "log": logarithm(math.log),
    "log2": logarithm(math.log2),
    "log10": logarithm(math.log10),
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": divide,
    "**": power,
    "min": smaller,
    "max": larger,
    "<": lambda a, b: float(a < b),
    "<=": lambda a, b: float(a <= b),
    ">": lambda a, b: float(a > b),
    ">=": lambda a, b: float(a >= b),
    "==": lambda a, b: float(a == b),
    "!=": lambda a, b: float(a != b),
    "where": where,
}
