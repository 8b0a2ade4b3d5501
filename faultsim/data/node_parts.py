"""Parts of nodes that fail: cores, memory or GPUs, as the column `part` of a failure trace names them."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from faultsim import checks
from faultsim.arrays import Floats, Integers, LongIntegers, Texts, Values
from faultsim.data.columns import read_only
from faultsim.errors import InputError

#: The resources of a node, in the order of their amounts.
RESOURCES = ("cores", "memory", "gpus")
_SAID = "expected cores:4, memory:16G or gpus:1, or empty text for the whole node"
_PART = re.compile(r"(cores|memory|gpus?)\s*[:=]\s*(\d{1,12})\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_MEBIBYTES = {"K": 2.0**-10, "": 1.0, "M": 1.0, "G": 2.0**10, "T": 2.0**20}
#: More than any node has.
_MOST = 2**31 - 1


def part_of(text: str) -> tuple[int, int] | None:
    """Which of `RESOURCES` a text names, and how much of it; memory in MiB.  None: the whole node.

    Examples
    --------
    >>> part_of("memory:16G"), part_of("gpu:1"), part_of("")
    ((1, 16384), (2, 1), None)
    """
    if not (said := text.strip()):
        return None
    found = _PART.fullmatch(said)
    if found is None:
        raise InputError(f"{said!r:.60} names no part of a node; {_SAID}")
    name, number, unit = found[1].lower(), int(found[2]), found[3].upper()
    at = 2 if name.startswith("gpu") else RESOURCES.index(name)
    if unit and at != 1:
        raise InputError(f"{said!r:.60}: {RESOURCES[at]} have no unit; {_SAID}")
    amount = math.ceil(number * _MEBIBYTES[unit]) if at == 1 else number
    if not 1 <= amount <= _MOST:
        raise InputError(f"{said!r:.60}: the amount must be 1 to {_MOST:,}; {_SAID}")
    return at, amount


def parts_column(given: ArrayLike, length: int) -> Values | None:
    """The column as a trace keeps it: ``gpus:1``, memory in MiB, empty text for the whole node; None if all are empty.

    Examples
    --------
    >>> parts_column(["", "memory:1G", None], 3)
    array(['', 'memory:1024M', ''], dtype='<U12')
    """
    checks.refuse_masked("part", given)
    rows = np.asarray(given, dtype=object)
    if rows.ndim == 0:
        rows = np.full(length, rows[()], dtype=object)
    if rows.shape != (length,):
        raise InputError(f"part: expected {length} values in one column, one for each failure, got shape {rows.shape}")
    said = []
    known: dict[object, str] = {}
    for row, value in enumerate(rows.tolist()):
        if value is None or value != value:  # a missing value of pandas
            value = ""
        if not isinstance(value, str):
            raise InputError(f"part, row {row}: {value!r:.60} is no text; {_SAID}")
        if value not in known:
            try:
                known[value] = _written(part_of(value))
            except InputError as error:
                raise InputError(f"part, row {row}: {error}") from None
        said.append(known[value])
    return read_only(np.array(said, dtype=np.str_)) if any(said) else None


def _written(part: tuple[int, int] | None) -> str:
    return "" if part is None else f"{RESOURCES[part[0]]}:{part[1]}{'M' if part[0] == 1 else ''}"


def amounts_of(part: Texts) -> LongIntegers:
    """Cores, MiB and GPUs that each failure names, of shape (n, 3); 0 for the whole node.

    Examples
    --------
    >>> amounts_of(np.array(["", "gpus:2"])).tolist()
    [[0, 0, 0], [0, 0, 2]]
    """
    found = np.zeros((len(part), 3), np.int64)
    texts, which = np.unique(part, return_inverse=True)
    for at, text in enumerate(texts.tolist()):
        if (each := part_of(text)) is not None:
            found[which == at, each[0]] = each[1]
    return found


def joined_parts(columns: Iterable[Mapping[str, Values]]) -> dict[str, Values]:
    """The column `part` of several traces, one after another; empty if none has it."""
    several = list(columns)
    if not any("part" in each for each in several):
        return {}
    return {"part": np.concatenate([each.get("part", np.full(len(each["time"]), "")) for each in several])}


def units_hit(priority: Values) -> Floats:
    """A number in [0, 1) for each failure, by which the unit that fails is chosen, from 64 random bits of it."""
    return (priority >> np.uint64(11)).astype(np.float64) * 2.0**-53


class PartsDown(NamedTuple):
    """Parts of nodes that are down from `begin` to `end`, with their amounts of each resource."""

    begin: Floats
    end: Floats
    node: Integers
    amounts: LongIntegers


def parts_down(begin: Floats, end: Floats, node: Integers, part: LongIntegers, has: LongIntegers) -> PartsDown:
    """The parts of nodes that go down: of each that fails, what is up of it (model.md#site-parts).

    Parameters
    ----------
    begin, end, node : array of shape (n,)
        Of each failure of a part, by time; of none that is not down at all.
    part : array of shape (n, 3)
        What fails.
    has : array of shape (nodes, 3)
        What each node has.

    Examples
    --------
    >>> two = np.array([[0, 0, 2], [0, 0, 2]])
    >>> parts_down(np.array([0.0, 5.0]), np.array([9.0, 9.0]), np.array([0, 0]), two, np.array([[8, 0, 3]])).amounts
    array([[0, 0, 2],
           [0, 0, 1]])
    """
    amounts = np.zeros_like(part)
    still_down: dict[int, list[int]] = {}  # of each node, the rows that had not ended at its last failure
    for row, (time, where) in enumerate(zip(begin.tolist(), node.tolist(), strict=True)):
        before = [each for each in still_down.get(where, ()) if end[each] > time]
        amounts[row] = np.minimum(part[row], has[where] - amounts[before].sum(axis=0))
        still_down[where] = [*before, row]
    return PartsDown(begin, end, node, amounts)
