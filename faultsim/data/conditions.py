"""Text and checks of the columns that say when jobs may begin and when they are withdrawn (model.md#eligibility).

A log has them as further columns: ``after``, ``begin``, ``array``, ``array_limit``, ``cancel``, and of a log in SWF
``preceding_job`` and ``think_time``.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from faultsim import checks
from faultsim.arrays import Floats, Values
from faultsim.data.columns import read_only
from faultsim.errors import InputError

#: Kinds of conditions on another job, by the number that engines have for them.
KINDS = ("after", "afterok", "afterany", "afternotok")
#: The word for "once all earlier jobs of this user and name have ended".
SINGLETON = "singleton"
#: Columns with a meaning for the engines.
COLUMNS = ("after", "begin", "array", "array_limit", "cancel", "preceding_job", "think_time")
#: Those with times on the clock of the log.
TIMES = frozenset({"begin", "cancel"})
_ALL = frozenset(COLUMNS)
_GRAMMAR = "expected afterok, afterany, afternotok or after with job ids, as 'afterok:12+5m:13,after:9', or 'singleton'"


class Condition(NamedTuple):
    """A condition on another job: its kind by number, the other's id as text, and the delay in seconds."""

    kind: int
    other: str
    delay: float


def has_conditions(columns: Mapping[str, Values]) -> bool:
    """Whether a log has a column that says when jobs may begin or are withdrawn.

    Examples
    --------
    >>> has_conditions({"submit": np.zeros(1)}), has_conditions({"begin": np.zeros(1)})
    (False, True)
    """
    return not _ALL.isdisjoint(columns)


def parse_after(text: str, row: int) -> tuple[list[Condition], bool]:
    """Conditions of one job, and whether it is a singleton.

    Raises
    ------
    InputError
        For any other text, with the row.

    Examples
    --------
    >>> parse_after("afterok:12+5m:13,singleton", 0)
    ([Condition(kind=1, other='12', delay=300.0), Condition(kind=1, other='13', delay=0.0)], True)
    """
    found: list[Condition] = []
    single = False
    if "?" in text:
        raise InputError(f"after, row {row}: {text!r:.80}: '?' (any one of them) is not available; a job waits for all")
    for part in filter(None, (each.strip() for each in text.split(","))):
        word, *others = (each.strip() for each in part.split(":"))
        if word == SINGLETON and not others:
            single = True
        elif word not in KINDS:
            hint = checks.did_you_mean(word, (*KINDS, SINGLETON))
            raise InputError(f"after, row {row}: unknown condition {word!r:.40}{hint}; {_GRAMMAR}")
        elif not others or "" in others:
            raise InputError(f"after, row {row}: {part!r:.60} names no job; {_GRAMMAR}")
        else:
            for other in others:
                name, plus, delay = other.partition("+")
                found.append(Condition(KINDS.index(word), name.strip(), _delay(delay, row) if plus else 0.0))
    return found, single


def _delay(text: str, row: int) -> float:
    seconds = checks.seconds(text.strip())
    if seconds is None:
        try:
            seconds = float(text)
        except ValueError:
            seconds = math.nan
    if not 0.0 <= seconds <= checks.LATEST:
        raise InputError(
            f"after, row {row}: the delay {text!r:.40} is no time; expected seconds, 0 or more, or text such as '5m'"
        )
    return seconds


def after_texts(values: Values) -> list[str]:
    """The texts of the column ``after``, which may be all empty and then of any type."""
    if values.dtype.kind != "U":
        if values.dtype.kind == "f" and np.isnan(values).all():
            return [""] * len(values)
        raise InputError(f"after, row 0: {values[0]!r} is not text; {_GRAMMAR}")
    texts: list[str] = values.tolist()
    return texts


def times(columns: Mapping[str, Values], name: str, missing: float) -> Floats:
    """A column of times in seconds, with `missing` where it has -1 or NaN.

    Raises
    ------
    InputError
        For what is no time, or beyond the end of the clock, or before the submit time, with the row.
    """
    submit = columns["submit"]
    if name not in columns:
        return np.full(len(submit), missing)
    values = numbers(columns, name, "a time in seconds")
    absent = np.isnan(values) | (values == -1)
    for row in np.flatnonzero(~absent & ~((values >= 0) & (values <= checks.LATEST)))[:1].tolist():
        raise InputError(
            f"{name}, row {row}: {values[row]:g} is no time on the clock of the log; expected 0 to {checks.LATEST} s, "
            f"or -1 where it is missing"
        )
    for row in np.flatnonzero(~absent & (values < submit))[:1].tolist() if name == "cancel" else ():
        raise InputError(
            f"cancel, row {row}: {values[row]:g} s is before the submit time, {submit[row]:g} s; expected the time on "
            f"the clock of the log, or -1 where the job is not withdrawn"
        )
    return np.where(absent, missing, values)


def moved(values: Values, by: Floats) -> Values:
    """A column of times, later by `by` seconds where it has one.

    Examples
    --------
    >>> moved(np.array([5.0, -1.0]), np.array([2.0, 2.0]))
    array([ 7., -1.])
    """
    if values.dtype.kind not in "iuf":
        return values  # refused by name when the log runs
    return read_only(np.where(values == -1, -1.0, values + by))


def numbers(columns: Mapping[str, Values], name: str, what: str) -> Floats:
    """A column as float64."""
    values = columns[name]
    if values.dtype.kind not in "iufb":
        raise InputError(
            f"{name}, row 0: {str(values[0])!r:.40} is not {what}; expected numbers, or if the column means something "
            f"else, another name: log.with_columns({name}=None) leaves it out"
        )
    return values.astype(np.float64)


def limits(columns: Mapping[str, Values]) -> tuple[Values, Values]:
    """The array of each job (-1: none with a limit), and the limit of each array.

    Raises
    ------
    InputError
        A limit that is no whole number, differs inside an array, or stands where there is no array, with the row.
    """
    count = len(columns["submit"])
    if "array" not in columns:
        if "array_limit" in columns:
            raise InputError("array_limit: the log has no column 'array', which names the array of each job; give both")
        return np.full(count, -1, np.int32), np.empty(0, np.int32)
    if "array_limit" not in columns:
        return np.full(count, -1, np.int32), np.empty(0, np.int32)
    limit = numbers(columns, "array_limit", "a whole number of tasks")
    limit = np.where(np.isnan(limit) | (limit == -1), 0, limit)
    for row in np.flatnonzero((limit < 0) | (limit != np.floor(limit)) | (limit >= 2**31))[:1].tolist():
        raise InputError(
            f"array_limit, row {row}: {limit[row]:g} is no number of tasks; expected 1 or more, or -1 without a limit"
        )
    names = columns["array"]
    none = names == "" if names.dtype.kind == "U" else (names == -1) | (names != names)
    for row in np.flatnonzero((limit > 0) & none)[:1].tolist():
        raise InputError(f"array_limit, row {row}: {limit[row]:g} tasks of no array; name one in the column 'array'")
    inside = np.flatnonzero(~none)
    labels, first, which = np.unique(names[inside], return_index=True, return_inverse=True)
    most = limit[inside][first]
    for at in np.flatnonzero(limit[inside] != most[which])[:1].tolist():
        row, other = int(inside[at]), int(inside[first[which[at]]])
        raise InputError(
            f"array_limit, row {row}: {limit[row]:g} differs from {limit[other]:g} in row {other} of the same array "
            f"{labels[which[at]]!s}; an array has one limit"
        )
    array = np.full(count, -1, np.int32)
    limited = np.flatnonzero(most > 0)
    number = np.full(len(labels), -1, np.int32)
    number[limited] = np.arange(len(limited), dtype=np.int32)
    array[inside] = number[which]
    return array, most[limited].astype(np.int32)


def first_circle(waits_for: Sequence[Sequence[int]]) -> list[int] | None:
    """Jobs that wait for each other, the first again at the end; None if there are none.

    Examples
    --------
    >>> first_circle([[2], [], [1, 3], [0]])
    [0, 2, 3, 0]
    """
    done = bytearray(len(waits_for))  # 1: on the path, 2: leads to no circle
    for start in range(len(waits_for)):
        if done[start]:
            continue
        path, rest = [start], [iter(waits_for[start])]
        done[start] = 1
        while path:
            for other in rest[-1]:
                if done[other] == 1:
                    return [*path[path.index(other) :], other]
                if not done[other]:
                    done[other] = 1
                    path.append(other)
                    rest.append(iter(waits_for[other]))
                    break
            else:
                done[path.pop()] = 2
                rest.pop()
    return None
