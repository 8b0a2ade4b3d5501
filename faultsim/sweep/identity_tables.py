"""What identifies arrays, data frames and sparse matrices: types and values, not how they are kept in memory."""

import sys
from types import ModuleType
from typing import Any

import numpy as np

from faultsim.arrays import Values

#: Kinds of elements whose bytes are their values.
_BYTES = "biufcmMSUV"


def array_parts(array: object) -> list[object]:
    """Bytes and things that identify a NumPy array, scalar or dtype.

    Examples
    --------
    >>> a = np.arange(6.0).reshape(2, 3)
    >>> array_parts(a) == array_parts(np.asfortranarray(a)), array_parts(a) == array_parts(a.ravel())
    (True, False)
    >>> array_parts(np.array([1], ">i4")) == array_parts(np.array([1], "<i4"))
    True
    """
    if isinstance(array, np.dtype):
        return _type_parts(array)
    masked: list[object] = []
    if isinstance(array, np.ma.MaskedArray):
        masked = [np.ma.getmaskarray(array), array.fill_value, bool(array.hardmask)]
        array = array.data
    plain = np.asarray(array)
    kind = b"array" if isinstance(array, np.ndarray) else b"scalar"
    return [kind, *_type_parts(plain.dtype), plain.shape, *_values(plain), *masked]


def _type_parts(dtype: "np.dtype[np.generic]") -> list[object]:
    if dtype.fields is not None:
        fields = [(name, [*_type_parts(dtype.fields[name][0])], dtype.fields[name][1]) for name in dtype.names or ()]
        return ["fields", fields, dtype.itemsize]
    if dtype.subdtype is not None:
        return ["subarray", _type_parts(dtype.subdtype[0]), dtype.subdtype[1]]
    return [dtype.newbyteorder("<").str if dtype.kind in _BYTES else str(dtype)]


def _values(array: Values) -> list[object]:
    dtype = array.dtype
    if dtype.fields is not None:  # not the bytes between them, which may be anything
        return [part for name in dtype.names or () for part in _values(array[name])]
    if dtype.kind not in _BYTES or dtype.hasobject:
        return [array.ravel().tolist()]
    if dtype.kind in "fc" and dtype.itemsize // (1 + (dtype.kind == "c")) > 8:  # long doubles have bytes without use
        return [list(map(repr, array.ravel()))]
    values = np.ascontiguousarray(array, dtype.newbyteorder("<"))
    if dtype.kind in "fc" and (empty := np.isnan(values)).any():
        values = np.where(empty, values.dtype.type(np.nan), values)  # all NaN are one
    return [values.tobytes()]


def table_parts(thing: object) -> list[object] | None:
    """The same of a pandas object or a SciPy sparse matrix; None for anything else, and if these are not imported.

    Examples
    --------
    >>> table_parts([1]) is None
    True
    """
    libraries = {cls.__module__.partition(".")[0] for cls in type(thing).__mro__}
    if "scipy" in libraries and hasattr(thing, "tocoo") and hasattr(thing, "shape"):
        return _sparse(thing)
    pandas: ModuleType | None = sys.modules.get("pandas")
    if pandas is None or "pandas" not in libraries:
        return None
    extra = [(name, getattr(thing, name, None)) for name in getattr(thing, "_metadata", ()) if name != "name"]
    if isinstance(thing, pandas.DataFrame):
        columns = [_column(thing.iloc[:, at].array) for at in range(thing.shape[1])]
        return [thing.index, thing.columns, columns, dict(thing.attrs), extra]
    if isinstance(thing, pandas.Series):
        return [thing.index, thing.name, _column(thing.array), dict(thing.attrs), extra]
    if isinstance(thing, pandas.MultiIndex):
        levels = [thing.get_level_values(at) for at in range(thing.nlevels)]
        return [list(thing.names), levels]
    if isinstance(thing, pandas.RangeIndex):
        return [thing.name, thing.start, thing.stop, thing.step]
    if isinstance(thing, pandas.Index):
        return [thing.name, _column(thing.array)]
    if isinstance(thing, pandas.Categorical):
        return [thing.categories, bool(thing.ordered), np.asarray(thing.codes)]
    if isinstance(thing, pandas.api.extensions.ExtensionArray):
        return _column(thing)
    return None


def _column(values: Any) -> list[object]:
    """A column: its type and its values."""
    dtype = values.dtype
    if isinstance(dtype, np.dtype):
        return [np.asarray(values)]
    if hasattr(values, "categories") and hasattr(values, "codes"):
        return [values.categories, bool(values.ordered), np.asarray(values.codes)]
    if hasattr(values, "asi8"):  # times of a zone, periods
        return [str(dtype), np.asarray(values.asi8)]
    missing = np.asarray(values.isna())
    listed = np.asarray(values.astype(object), dtype=object)
    listed[missing] = None
    return [str(dtype), missing, listed.tolist()]


def _sparse(matrix: Any) -> list[object]:
    """The elements in order of their places, those that are kept as zero too."""
    plain = matrix.tocoo(copy=True)
    plain.sum_duplicates()
    places = plain.coords if hasattr(plain, "coords") else (plain.row, plain.col)
    return [matrix.shape, [np.asarray(place, np.int64) for place in places], np.asarray(plain.data)]
