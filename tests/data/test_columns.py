"""The data dictionary and its checks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultsim.data.columns import TABLES, WORKLOAD, Column, as_column, by_name, check_columns, check_order
from faultsim.errors import InputError
from helpers.refusals import refused

SIZE, SUBMIT, ESTIMATE = (by_name(WORKLOAD)[name] for name in ("size", "submit", "estimate"))


@pytest.mark.parametrize("table", TABLES)
def test_every_column_is_fully_described(table: str) -> None:
    columns = TABLES[table]
    assert len(by_name(columns)) == len(columns), "a name appears twice"
    for column in columns:
        assert column.name.isidentifier()
        assert np.dtype(column.dtype).str[1:] == column.dtype or column.dtype in ("?", "i1")
        assert column.unit in {"s", "1", "nodes", "node-s"}
        assert column.meaning.endswith(".")
        assert column.source
        if column.missing is not None and column.minimum is not None:
            assert column.missing < column.minimum, "a missing value could be taken for a real one"


@pytest.mark.parametrize(
    ("values", "column", "message"),
    [
        ([1.0, float("nan")], SUBMIT, "submit, row 1: nan is not a finite number"),
        ([1.0, float("inf")], SUBMIT, "submit, row 1: inf is not a finite number"),
        ([0, -3], SUBMIT, "submit, row 1: -3 is negative; expected at least 0"),
        ([5, -2], ESTIMATE, "estimate, row 1: -2 is negative; expected at least 0, or -1 where it is missing"),
        ([4, 2.5], SIZE, "size, row 1: 2.5 is not a whole number"),
        ([4, 0], SIZE, "size, row 1: 0 is less than 1; expected at least 1"),
        ([4, 10**400], SIZE, "size: a whole number is too large for any column"),
        ([4, 2**31], SIZE, "size, row 1: 2147483648 does not fit into int32"),
        ([4, 2.0**31], SIZE, "size, row 1: 2147483648 does not fit into int32"),
        ([4, 2**70], SIZE, "size, row 1: 1.1805916207174113e[+]21 does not fit into int32"),
        ([4, "many"], SIZE, "size, row 1: 'many' is not a number"),
        ([4, None], SIZE, "size, row 1: None is not a number"),
        ([[4, 1]], SIZE, r"size: expected one dimension, got 2 \(shape \(1, 2\)\)"),
        ([[4, 1], [2]], SIZE, "size: expected a one-dimensional array of numbers, got a ragged list"),
        (7, SIZE, "size: expected one dimension, got 0"),
    ],
)
def test_bad_values_are_named_with_column_and_row(values: object, column: Column, message: str) -> None:
    refused(InputError, f"^{message}", as_column, values, column)


def test_wrong_length() -> None:
    refused(InputError, r"^size: 2 values for 3 rows$", as_column, [1, 2], SIZE, length=3)


def test_a_column_is_a_read_only_copy_without_negative_zeros() -> None:
    mine = np.array([-0.0, 1.0])
    column = as_column(mine, SUBMIT)
    mine[1] = 7.0
    assert column.tolist() == [0.0, 1.0]
    assert not np.signbit(column[0])
    assert column.flags.c_contiguous
    with pytest.raises(ValueError, match="read-only"):
        column[0] = 3.0


def test_strided_and_foreign_types_are_converted() -> None:
    assert as_column(np.arange(10, dtype=">f4")[::-3], SUBMIT).tolist() == [9.0, 6.0, 3.0, 0.0]
    assert as_column(np.array([1, 2], dtype=object), SIZE).dtype == np.int32
    assert as_column(np.array([True, True]), SIZE).tolist() == [1, 1]
    assert as_column([], SIZE).dtype == np.int32


@given(st.lists(st.floats(0, 1e9), min_size=1))
def test_order_is_refused_exactly_where_it_goes_down(values: list[float]) -> None:
    array = np.array(values)
    if values == sorted(values):
        check_order(array, SUBMIT)
    else:
        row = next(i for i in range(1, len(values)) if values[i] < values[i - 1])
        refused(InputError, f"^submit, row {row}: ", check_order, array, SUBMIT)


def test_check_columns() -> None:
    good = {"time": [0.0, 1.0], "kind": [5, 0], "job": [0, 0], "node": [-1, -1], "left aside": [1]}
    assert {key: values.dtype.str[1:] for key, values in check_columns(good, TABLES["events"]).items()} == {
        "time": "f8",
        "kind": "i1",
        "job": "i4",
        "node": "i4",
    }
    with pytest.raises(InputError, match=r"^job: column missing; expected time, kind, job, node$"):
        check_columns({"time": [0.0], "kind": [5]}, TABLES["events"])
    refused(InputError, r"^kind: 1 value for 2 rows$", check_columns, {**good, "kind": [5]}, TABLES["events"])
