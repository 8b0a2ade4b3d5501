"""Reads blocks of whitespace-separated numbers at the speed of NumPy, without a loop over lines.

The tokens of a block are found as edges between white space and the rest, and eight digits at a time become a number
by the three multiplications of "SIMD within a register" ([lemire2018]).  Anything out
of the ordinary - lines of different lengths, exponents, letters, very long numbers - makes `parse_block` return None,
and the caller reads the block line by line, where it can say what is wrong with which line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Prefix of every block, so that the eight bytes before any token's end can be loaded.
PAD = b" " * 16

# Integers of up to 16 digits are done here; a float64 holds all of 15 and every whole number that logs use.
_MAX_DIGITS = 16
_PLAIN = b"0123456789-. \t\r\n"
_ZEROS = np.uint64(0x3030303030303030)
# Masks of the highest k bytes, k = 0..8.
_USED = np.array([(0xFFFFFFFFFFFFFFFF << (8 * (8 - k))) & 0xFFFFFFFFFFFFFFFF for k in range(9)], dtype=np.uint64)
# Adding 0x76 to a byte of 0..9 leaves its top bit clear, to one of 10..63 sets it; none is larger in a plain block.
_OVER_NINE = np.uint64(0x7676767676767676)
_TOP_BITS = np.uint64(0x8080808080808080)
_PAIRS, _QUADS, _EIGHT = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF), np.uint64(0xFFFFFFFF)


def parse_block(block: bytes, wanted: Sequence[int], width: int) -> list[NDArray[Any]] | None:
    """Some columns of a block of lines of numbers.

    Parameters
    ----------
    block : bytes
        `PAD`, then whole lines, each of the same number of fields, none blank.
    wanted : sequence of int
        Fields to return, counted from 0.
    width : int
        Least number of fields of a line.

    Returns
    -------
    list of numpy.ndarray, or None
        A column each, int64 if all its values are whole and written without a point, else float64.  None if a line is
        out of the ordinary, without saying which.

    Examples
    --------
    >>> parse_block(PAD + b"1 10 -1\\n2 20.5 -1\\n", [0, 1], 3)
    [array([1, 2]), array([10. , 20.5])]
    >>> parse_block(PAD + b"1 10 -1\\n2 many -1\\n", [0, 1], 3) is None
    True
    """
    if block.translate(None, _PLAIN):
        return None
    if not block.endswith(b"\n"):
        block += b"\n"
    text = np.frombuffer(block, dtype=np.uint8)
    gap = text <= 32
    edges = np.flatnonzero(gap[1:] != gap[:-1]) + 1  # begin, end, begin, end, ...: PAD and the last newline are gaps
    begins, ends = edges[0::2], edges[1::2]
    newlines = np.flatnonzero(text == 10)
    rows = len(newlines)
    if len(begins) % rows or len(begins) // rows < width:
        return None
    fields = len(begins) // rows
    if (ends[fields - 1 :: fields] > newlines).any() or (begins[fields::fields] < newlines[:-1]).any():
        return None
    if not _signs_and_points_fit(block, text, begins):
        return None
    chosen = list(wanted)
    first = np.ascontiguousarray(begins.reshape(rows, fields)[:, chosen].T)
    after = np.ascontiguousarray(ends.reshape(rows, fields)[:, chosen].T)
    values, whole = _whole_numbers(block, text, first, after)
    return [values[i] if whole[i] else _any_numbers(block, first[i], after[i]) for i in range(len(chosen))]


def _signs_and_points_fit(block: bytes, text: NDArray[np.uint8], begins: NDArray[np.int64]) -> bool:
    """Whether every minus sign begins a number and no number has two points, or no digit."""
    signs = np.flatnonzero(text == 45)
    if (text[signs - 1] > 32).any() or (text[signs + 1] - 46 > 11).any():  # uint8: 46..57 are the point and the digits
        return False
    if b"." in block:
        points = np.flatnonzero(text == 46)
        owners = np.searchsorted(begins, points, side="right")
        if (owners[1:] == owners[:-1]).any():
            return False
        before, after = text[points - 1] - 48, text[points + 1] - 48  # uint8: below "0" wraps around
        return not ((before > 9) & (after > 9)).any()
    return True


def _whole_numbers(
    block: bytes, text: NDArray[np.uint8], begins: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Integers, a row of the result a column of the table; and which rows are right, all being whole numbers."""
    negative = text[begins] == 45
    digits = ends - begins - negative
    # The block as overlapping little-endian words, one at every byte.
    words: NDArray[np.uint64] = np.ndarray((len(block) - 7,), "<u8", buffer=block, strides=(1,))
    values, bad = _eight_digits(words[ends - 8], np.minimum(digits, 8))
    longest = digits.max(axis=1)
    for column in np.flatnonzero(longest > 8):
        upper, worse = _eight_digits(words[ends[column] - 16], np.clip(digits[column] - 8, 0, 8))
        values[column] += upper * np.uint64(100_000_000)
        bad[column] |= worse
    result = values.astype(np.int64)
    np.negative(result, out=result, where=negative)
    return result, ~bad.any(axis=1) & (longest <= _MAX_DIGITS)


def _eight_digits(word: NDArray[np.uint64], digits: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """The last `digits` characters of each word as a number, and where one of them is no digit.

    The last character is the highest byte, so what is not used are the lowest bytes.
    """
    word = (word ^ _ZEROS) & _USED[digits]  # a digit becomes its value, a sign or a point something above nine
    bad = ((word + _OVER_NINE) & _TOP_BITS) != 0
    word = (word * np.uint64(10) + (word >> np.uint64(8))) & _PAIRS
    word = (word * np.uint64(100) + (word >> np.uint64(16))) & _QUADS
    return (word * np.uint64(10_000) + (word >> np.uint64(32))) & _EIGHT, bad


def _any_numbers(block: bytes, begins: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.float64]:
    """Numbers with a point, or long ones, one by one."""
    spans = zip(begins.tolist(), ends.tolist(), strict=True)
    return np.array([float(block[begin:end]) for begin, end in spans], dtype=np.float64)
