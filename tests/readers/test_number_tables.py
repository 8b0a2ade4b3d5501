"""parse_block against Python's own split and float, on all that fits and all that does not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultsim.readers.number_tables import PAD, parse_block

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
    columns = parse_block(PAD + text.encode(), range(len(rows[0])), 1)
    assert columns is not None
    for field, column in enumerate(columns):
        assert column.dtype == np.int64
        assert column.tolist() == [int(row[field]) for row in rows]


@given(blocks(st.one_of(INTEGERS, DECIMALS)))
def test_any_numbers(block: tuple[list[list[str]], str]) -> None:
    rows, text = block
    columns = parse_block(PAD + text.encode(), range(len(rows[0])), 1)
    assert columns is not None
    for field, column in enumerate(columns):
        kind = float if column.dtype == np.float64 else int
        assert column.tolist() == [kind(row[field]) for row in rows]


@given(st.text("0123456789-.eE+ \t\r\nx;", max_size=60))
def test_never_a_wrong_number(text: str) -> None:
    """Whatever comes: None, or exactly what Python reads."""
    if not text.strip():
        return
    try:
        columns = parse_block(PAD + text.encode(), [0], 1)
    except (ValueError, ZeroDivisionError) as error:
        pytest.fail(f"{text!r} raised {error!r}")
    if columns is not None:
        rows = [line.split() for line in text.replace("\r", " ").split("\n")]
        rows = rows if rows[-1] else rows[:-1]
        assert all(len(row) == len(rows[0]) for row in rows)
        assert columns[0].tolist() == [float(row[0]) for row in rows]
        for row in rows:
            for token in row:
                float(token)


@pytest.mark.parametrize("bad", ["1 2\n3", "1\n\n2", "1 x", "1 2e3", "1 +2", "1 2-", "1 -", "1 .", "1 1.2.3", "1 --2"])
def test_out_of_the_ordinary_is_left_to_the_caller(bad: str) -> None:
    assert parse_block(PAD + bad.encode() + b"\n", [0], 1) is None


def test_too_narrow_and_just_wide_enough() -> None:
    assert parse_block(PAD + b"1 2 3\n", [0], 4) is None
    assert parse_block(PAD + b"1 2 3\n", [2], 3) is not None


def test_long_integers_go_by_way_of_floats() -> None:
    columns = parse_block(PAD + b"12345678901234567 9999999999999999\n", [0, 1], 2)
    assert columns is not None
    assert columns[0].tolist() == [12345678901234567.0]
    assert columns[1].tolist() == [9999999999999999]
