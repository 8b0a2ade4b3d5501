"""`load_result`: reads a saved result exactly."""

import math
import os
from typing import Any

from faultsim.data.columns import WORKLOAD
from faultsim.data.event_kinds import JobState
from faultsim.entries import entry
from faultsim.results.provenance import Record
from faultsim.results.result import FROM_ENGINE, Result
from faultsim.results.revision import check_revision, is_revision
from faultsim.results.saved import Saved
from faultsim.results.saved_file import MALFORMED


@entry
def load_result(path: str | os.PathLike[str], *, allow_older_results: bool = False) -> Result:
    """Read a result that `Result.save` wrote; everything is restored exactly.

    Types, shapes and ranges are checked, and a digest of each column and of all facts: a file of which anything has
    changed is refused.  Files of earlier versions (layouts 1 to 3) have no digests; they are checked but for that.

    Parameters
    ----------
    path : str or path
    allow_older_results : bool, default False
        Whether a result of an older `MODEL_REVISION`, whose numbers may differ from those of this version, is read as
        it is; `Result.warnings` says so then.

    Raises
    ------
    InputError
        If the file does not exist, is damaged, is not a saved result, is of another model revision, or is larger than
        the `Limits` in force.

    Examples
    --------
    >>> import faultsim as fs, os, tempfile
    >>> log = fs.Workload(submit=[0, 1], runtime=[10, 5], size=[2, 2])
    >>> path = os.path.join(tempfile.mkdtemp(), "run.npz")
    >>> fs.simulate(log, fs.Cluster(2)).save(path)
    >>> fs.load_result(path).jobs["wait"]
    array([0., 9.])
    """
    file = Saved(path)
    arrays, facts = file.arrays, file.facts
    output: dict[str, Any] = {name: arrays[f"jobs/{name}"] for name in FROM_ENGINE}
    if "jobs/state" in arrays:
        output["state"] = arrays["jobs/state"]
    if "jobs/eligible" in arrays:
        output["eligible"] = arrays["jobs/eligible"]
    for key in ("events_table", "allocations"):
        table = file.under(key)
        if table:
            output[key] = table
    output |= facts["counters"]
    output["ledger"] = facts["ledger"]
    output["makespan_begin"], output["makespan_end"] = facts["span"]
    saved_columns = file.under("workload")
    columns = {column.name: saved_columns.pop(column.name) for column in WORKLOAD} | saved_columns
    for values in columns.values():
        values.setflags(write=False)
    saved = facts["provenance"]
    predictions = file.under("policy/predictor")
    record = Record(
        settings=saved["settings"],
        columns=columns,
        source=saved["input"]["source"],
        dropped=facts["dropped"],
        failures=file.failures(saved["failures"]),
        arrays={"predictor": predictions} if predictions else {},
        elapsed=saved["elapsed"],
        saved=saved,
        recorded_wait=arrays.get("recorded/wait"),
        comments=tuple(facts.get("comments", ())),
    )
    result = Result(output, record)
    try:
        machine = result.machine
        repr(result), bool(result.settings["record"]), str(result.settings["estimates"])
    except MALFORMED as error:
        raise file.bad(f"its settings are none of a run: {error!s:.80}") from None
    file.check_machine(machine.nodes, result.capacity, machine.shape if machine.has_boxes else None)
    file.check_digests()
    revision = saved.get("model_revision")
    if not is_revision(revision):
        raise file.bad(f"its model revision is {revision!r:.40}")
    check_revision(file.name, revision, "simulate again", allow_older_results=allow_older_results)
    if file.before_limits:
        _book_limits(output["ledger"], result)
    return result


def _book_limits(ledger: dict[str, float], result: Result) -> None:
    """Give the work of jobs that were cut at their limit its account, which earlier versions did not have."""
    jobs = result.jobs
    cut = jobs["state"] == JobState.TIMED_OUT
    if cut.any():
        ledger["cut_at_limit"] = min(math.fsum((jobs["size"] * jobs["runtime"])[cut]), ledger["useful"])
        ledger["useful"] -= ledger["cut_at_limit"]
