"""`load_result`: reads a saved result exactly."""

import os
from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from faultsim.data.columns import WORKLOAD
from faultsim.data.failures import FailureTrace
from faultsim.errors import InputError
from faultsim.results.files import load_arrays
from faultsim.results.provenance import Record
from faultsim.results.result import FROM_ENGINE, Result


def load_result(path: str | os.PathLike[str]) -> Result:
    """Read a result that `Result.save` wrote; everything is restored exactly.

    Raises
    ------
    InputError
        If the file does not exist, is corrupt, or is not a saved result.

    Examples
    --------
    >>> import faultsim as fs, os, tempfile
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> path = os.path.join(tempfile.mkdtemp(), "run.npz")
    >>> fs.simulate(log, fs.Cluster(2)).save(path)
    >>> fs.load_result(path).jobs["wait"]
    array([0., 9.])
    """
    needed = [f"jobs/{name}" for name in FROM_ENGINE] + [f"workload/{column.name}" for column in WORKLOAD]
    arrays, facts = load_arrays(path, needed)
    output: dict[str, Any] = {name: arrays[f"jobs/{name}"] for name in FROM_ENGINE}
    if "jobs/state" in arrays:
        output["state"] = arrays["jobs/state"]
    for key in ("events_table", "allocations"):
        table = _under(arrays, key)
        if table:
            output[key] = table
    output |= facts["counters"]
    output["ledger"] = facts["ledger"]
    output["makespan_begin"], output["makespan_end"] = facts["span"]
    saved_columns = _under(arrays, "workload")
    columns = {column.name: saved_columns.pop(column.name) for column in WORKLOAD} | saved_columns
    for values in columns.values():
        values.setflags(write=False)
    saved = facts["provenance"]
    policies = {kind: _under(arrays, f"policy/{kind}") for kind in ("predictor",)}
    record = Record(
        settings=saved["settings"],
        columns=columns,
        source=saved["input"]["source"],
        dropped=facts["dropped"],
        failures=_failures(path, _under(arrays, "failures"), saved["failures"]),
        arrays={kind: columns for kind, columns in policies.items() if columns},
        elapsed=saved["elapsed"],
        saved=saved,
    )
    return Result(output, record)


def _under(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """The columns whose names begin with ``prefix/``, without it."""
    return {name[len(prefix) + 1 :]: column for name, column in arrays.items() if name.startswith(prefix + "/")}


def _failures(
    path: str | os.PathLike[str], columns: dict[str, NDArray[Any]], saved: dict[str, Any] | None
) -> FailureTrace | None:
    """The failure trace of a saved result, checked against its recorded digest."""
    if saved is None:
        return None
    try:
        trace = FailureTrace(**columns, span=saved["span"], name=saved["name"], dropped=saved["dropped"])
    except (TypeError, KeyError, InputError) as error:
        raise InputError(f"{os.fspath(path)}: the failures of this saved result are corrupt ({error})") from None
    if trace.digest() != saved["digest"]:
        raise InputError(f"{os.fspath(path)}: the failures of this saved result are not those of its run")
    return trace
