"""Columns that policies written in Python return, checked before an engine uses them."""

from collections.abc import Mapping

import numpy as np

from faultsim import checks
from faultsim.arrays import Floats
from faultsim.data.columns import in_seconds
from faultsim.data.world import PredictionRows
from faultsim.errors import OptionError


def own_predictions(name: str, given: object, nodes: int) -> PredictionRows:
    """What a `Predictor` written in Python predicts, checked, by begin."""
    if not isinstance(given, Mapping):
        raise OptionError(
            f"{name} must return a mapping with node, and begin and end or time, got {checks.shown(given)}"
        )
    table = checked_predictions(f"{name} must return", given, nodes, name)
    begin, end = table.begin, table.end
    wrong = np.flatnonzero(np.diff(end, prepend=-np.inf) < 0)
    if len(wrong):
        row = int(wrong[0])
        raise OptionError(
            f"{name}: the prediction from {begin[row]:g} s to {end[row]:g} s ends before one that began earlier; that "
            f"is not supported"
        )
    return table


def _in_order(given: Mapping[str, object]) -> list[str]:
    """The names of columns, those that are known first."""
    known = ("node", "time", "begin", "end", "p")
    return [*(name for name in known if name in given), *(str(name) for name in given if name not in known)]


def checked_predictions(must: str, given: Mapping[str, object], nodes: int, name: str) -> PredictionRows:
    """Predictions in columns as of `Predictor.predict`, checked, by (begin, end, node)."""
    missing = {"node", "time"} - set(given) if "time" in given else {"node", "begin", "end"} - set(given)
    if missing or set(given) - {"node", "time", "begin", "end", "p"}:
        raise OptionError(
            f"{must} node, and begin and end or time, and p; got {', '.join(_in_order(given)) or 'nothing'}"
        )
    begin = given.get("begin", given.get("time"))
    begin, end, node = (
        given_numbers(name, key, values, timed=key != "node")
        for key, values in (("begin", begin), ("end", given.get("end", begin)), ("node", given["node"]))
    )
    if not len(begin) == len(end) == len(node):
        raise OptionError(
            f"{name}: begin, end and node must have one length, got {len(begin)}, {len(end)}, {len(node)}"
        )
    order = np.lexsort((node, end, begin))
    begin, end, node = begin[order], end[order], node[order]
    wrong = np.flatnonzero(end < begin)
    if len(wrong):
        row = int(wrong[0])
        raise OptionError(f"{name}: the prediction from {begin[row]:g} s to {end[row]:g} s ends before it begins")
    if ((node != np.floor(node)) | (node < 0) | (node >= nodes)).any():
        raise OptionError(f"{name}: nodes must be whole numbers from 0 to {nodes - 1}")
    p = checks.number(f"p of {name}", given.get("p", 1.0), low=0.0, high=1.0)
    return PredictionRows(begin, end, node.astype(np.int32), p)


def given_numbers(name: str, what: str, given: object, *, finite: bool = True, timed: bool = False) -> Floats:
    try:
        array = checks.real_array(f"{name}: {what}", given)
        if timed:
            array = in_seconds(given, array)
        if array.dtype.kind == "m":
            raise TypeError("NumPy would take 1 h for 1")
        values = np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise OptionError(f"{name}: {what} must be numbers, got {checks.shown(given)}") from None
    if values.ndim != 1 or np.isnan(values).any() or (finite and not np.isfinite(values).all()):
        raise OptionError(f"{name}: {what} must be one row of numbers{', finite ones' if finite else ''}, without NaN")
    return values
