"""parse_block against Python's own split and float, on all that fits and all that does not."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultsim._core.number_lines import parse_block
from faultsim.reference import number_lines as plain

INTEGERS = st.one_of(
    st.integers(-9, 9), st.integers(-(10**8) - 5, 10**8 + 5), st.integers(-(10**16) + 1, 10**16 - 1)
).map(str)
PADDED = st.integers(0, 10**9).map(lambda v: f"{v:016d}")
DECIMALS = st.floats(-1e9, 1e9, allow_nan=False).map(lambda v: f"{v:.6f}")
SPACES = st.sampled_from([" ", "  ", "\t", "          "])


@st.composite
def blocks(draw: st.DrawFn, field: st.SearchStrategy[str]) -> tuple[list[list[str]], str]:
    width = draw(st.integers(1, 6))
    rows = draw(st.lists(st.lists(field, min_size=width, max_size=width), min_size=1, max_size=8))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    lines = []
    for row in rows:
        line = draw(st.sampled_from(["", " ", "\t"]))
        for token in row:
            line += token + draw(SPACES)
        lines.append(line.rstrip() if draw(st.booleans()) else line)
    return rows, end.join(lines) + draw(st.sampled_from(["", end]))


@given(blocks(st.one_of(INTEGERS, PADDED)))
def test_whole_numbers(block: tuple[list[list[str]], str]) -> None:
    rows, text = block
    columns = parse_block(text.encode(), range(len(rows[0])), len(rows[0]))
    assert columns is not None
    for field, column in enumerate(columns):
        assert column.dtype == np.int64
        assert column.tolist() == [int(row[field]) for row in rows]


@given(blocks(st.one_of(INTEGERS, DECIMALS)))
def test_any_numbers(block: tuple[list[list[str]], str]) -> None:
    rows, text = block
    columns = parse_block(text.encode(), range(len(rows[0])), len(rows[0]))
    assert columns is not None
    for field, column in enumerate(columns):
        kind = float if column.dtype == np.float64 else int
        assert column.tolist() == [kind(row[field]) for row in rows]


#: Lines as logs have them, and what may stand in them.
LINES = (
    b"306879 33156539    198    267    1     -1    -1   -1   3600    -1  1 275 160  -1 -1  4 -1 -1",
    b"    1        0    588   1451  128   -1.0    -1  128   7200    -1  1   1  -1  -1  1 -1 -1 -1",
    b"7 5.25 -1 10.5 4 -1 -1 8 2147483647 -1 1 3 -1 -1 -1 -1 -1 -1",
    b"7\t5 -1 10 4 -1 -1 8 60 -1 1 3 -1 -1 -1 -1 -1 -1\r",
)
WANTED = (0, 1, 3, 4, 7, 8, 11)
ODD = [b"-0", b"-0.0", b".5", b"5.", b"-.5", b".", b"-", b"--1", b"1-", b"1.2.3", b"1e3", b"+1", b"nan", b"0x1", b"1_0"]
LONG = [
    b"9" * 15,
    b"9" * 16,
    b"-" + b"9" * 17,
    b"9" * 400,
    b"0" * 20 + b"7",
    b"9007199254740993",
    b"0." + b"0" * 22 + b"1",
]
LONGER = [b"123456789012345.5", b"1." + b"0" * 25, b"0.1", b"1.7976931348623157" + b"0" * 300, b"1234567890.123456"]
SPLICED = st.sampled_from([*ODD, *LONG, *LONGER]) | st.sampled_from([bytes([c]) for c in b"0123456789-. \t\r\n;x\0\v"])


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Lines of logs, with something put in, or in another's place, here and there."""
    text = bytearray(b"\n".join(draw(st.lists(st.sampled_from(LINES), min_size=1, max_size=4))))
    for what in draw(st.lists(SPLICED, max_size=4)):
        begin = draw(st.integers(0, len(text)))
        text[begin : begin + draw(st.sampled_from([0, 0, 1, 2, 8]))] = what
    return bytes(text) + draw(st.sampled_from([b"", b"\n"]))


def assert_as_plain(
    block: bytes, wanted: tuple[int, ...], width: int, usual: dict[int, tuple[int, ...]] | None = None
) -> None:
    columns, slow = parse_block(block, wanted, width, usual), plain.parse_block(block, wanted, width, usual)
    if columns is None or slow is None:
        assert columns is slow
        return
    for ours, theirs in zip(columns, slow, strict=True):
        assert ours.dtype == theirs.dtype
        assert ours.tobytes() == theirs.tobytes()


@given(mutated())
def test_same_bytes_as_the_plain_one(block: bytes) -> None:
    assert_as_plain(block, WANTED, 18)


@given(
    mutated(), st.dictionaries(st.sampled_from([2, 10, 16, 17]), st.lists(st.integers(-1, 9), max_size=4).map(tuple))
)
def test_usual_values_are_those_of_the_plain_one(block: bytes, usual: dict[int, tuple[int, ...]]) -> None:
    assert_as_plain(block, WANTED, 18, usual)


@pytest.mark.parametrize("usual", [{0: [1]}, {18: [1]}, {-1: [1]}, {2: [10]}, {2: [-2]}])
def test_usual_values_that_cannot_be_meant(usual: dict[int, list[int]]) -> None:
    with pytest.raises(ValueError, match="usual"):
        parse_block(LINES[0] + b"\n", WANTED, 18, usual)


@given(st.text("0123456789-.eE+ \t\r\nx;", max_size=60))
def test_never_a_wrong_number(text: str) -> None:
    assert_as_plain(text.encode(), (0,), 1)


@given(st.floats(-1e25, 1e25, allow_nan=False), st.integers(0, 30))
def test_the_nearest_double(value: float, decimals: int) -> None:
    assert_as_plain(b"%.*f %r" % (decimals, value, value), (0,), 1)


@pytest.mark.parametrize("bad", ["1 2\n3", "1\n\n2", "1 x", "1 2e3", "1 +2", "1 2-", "1 -", "1 .", "1 1.2.3", "1 --2"])
def test_out_of_the_ordinary_is_left_to_the_caller(bad: str) -> None:
    assert parse_block(bad.encode() + b"\n", [0], 1) is None


def test_too_narrow_and_just_wide_enough() -> None:
    assert parse_block(b"1 2 3\n", [0], 4) is None
    assert parse_block(b"1 2 3\n", [2], 3) is not None
    wide = b"1 " * 100
    assert_as_plain(wide + b"\n" + wide, (63, 0), 64)


@pytest.mark.parametrize(("wanted", "width"), [([3], 3), ([-1], 3), ([0], 65), ([0], 0), ([], 3)])
def test_only_fields_that_every_line_has(wanted: list[int], width: int) -> None:
    with pytest.raises(ValueError, match="field"):
        parse_block(b"1 2 3\n", wanted, width)


def test_memory_is_that_of_the_columns() -> None:
    """Work without seconds: nothing is kept for each byte or token, as when a block is parsed by arrays."""
    block = LINES[0] + b"\n"
    columns = 8 * len(WANTED) * 2000
    block *= 2000
    tracemalloc.start()
    parse_block(block, WANTED, 18)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert columns < peak < 3.2 * columns  # as whole numbers, as any, and one of them again, each on its own


def test_long_integers_go_by_way_of_floats() -> None:
    columns = parse_block(b"12345678901234567 9999999999999999\n", [0, 1], 2)
    assert columns is not None
    assert columns[0].tolist() == [12345678901234567.0]
    assert columns[1].tolist() == [9999999999999999]
