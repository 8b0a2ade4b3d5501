"""Labels of an axis as a column, and back."""

import math
from collections.abc import Sequence

import numpy as np

from faultsim.arrays import Flags, Values


def labels_of(column: Values) -> list[object]:
    """Each label of an axis once; None where its column has NaN.

    Examples
    --------
    >>> labels_of(as_column([0.5, None, None]))
    [0.5, None]
    """
    return list(dict.fromkeys(None if value != value else value for value in column.tolist()))


def matches(column: Values, value: object) -> Flags:
    """Where the column of an axis has a given label; None is NaN among numbers.

    Examples
    --------
    >>> matches(as_column([0.5, None]), None), matches(as_column(["a", "b"]), 3)
    (array([False,  True]), array([False, False]))
    """
    found = np.zeros(len(column), np.bool_)
    try:
        if column.dtype.kind == "f" and (value is None or value != value):
            return np.isnan(column.astype(np.float64))
        found[:] = column == value
    except (TypeError, ValueError, ArithmeticError):  # an array or an object of another library is no label
        found[:] = False
    return found


def as_column(values: Sequence[object]) -> Values:
    """Labels of an axis as an array: numbers where all are (None is NaN), else text or objects.

    Examples
    --------
    >>> as_column([1, 2]), as_column([1.5, None]), as_column(["easy", "fcfs"])
    (array([1, 2]), array([1.5, nan]), array(['easy', 'fcfs'], dtype='<U4'))
    """
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return np.array(values, np.bool_)
    if kinds == {int}:
        return np.array(values, np.int64)
    if kinds and kinds <= {int, float, type(None)} and kinds != {type(None)}:
        return np.array([math.nan if value is None else value for value in values], np.float64)
    if kinds == {str}:
        return np.array(values)
    column = np.empty(len(values), object)
    column[:] = list(values)
    return column
