"""What a `Result` writes for other programs: schedules (SWF) and Batsim's jobs table (CSV)."""

import os
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from faultsim.arrays import Texts, Values
from faultsim.data.column_files import csv_text
from faultsim.data.event_kinds import JobState
from faultsim.data.further import further_names
from faultsim.data.swf_format import FIELDS, write_rows
from faultsim.data.text_files import write_text
from faultsim.results.held import Held, held_last
from faultsim.results.provenance import Record, revision_of
from faultsim.results.revision import in_words


def write_schedule(path: str | os.PathLike[str], jobs: Mapping[str, Values], record: Record, title: str) -> None:
    """The schedule as SWF (`Result.write_swf`)."""
    state = jobs["state"]
    without_run = np.isin(state, (JobState.WITHDRAWN, JobState.UNMET))
    fields = {
        "id": jobs["id"],
        "submit": jobs["submit"],
        "wait": np.nan_to_num(np.where(without_run, jobs["finish"], jobs["start"]) - jobs["submit"], nan=-1.0),
        "runtime": np.where(without_run, -1.0, np.nan_to_num(jobs["runtime"], nan=-1.0)),
        "allocated": np.where(without_run | np.isin(state, (JobState.FUTURE, JobState.WAITING)), -1, jobs["allocated"]),
        "requested": jobs["size"],
        "requested_time": record.columns["estimate"],
        "status": np.select(
            [state == JobState.ENDED, without_run | np.isin(state, (JobState.TIMED_OUT, JobState.KILLED))], [1, 5], -1
        ),
        "user": record.columns["user"],
    }
    more = [name for name in further_names(record.columns) if name in FIELDS and name not in fields]
    fields |= {name: record.columns[name] for name in more}
    comments = [
        "; Version: 2.2",
        "; Computer: simulated by faultsim",
        f"; Note: {title}",
        f"; Note: {in_words(revision_of(record))}",
        f"; MaxJobs: {len(state)}",
        f"; MaxRecords: {len(state)}",
    ]
    write_rows(path, fields, comments)


#: Columns of Batsim's ``_jobs.csv`` (Batsim's documentation, "Jobs output").
BATSIM_COLUMNS = (
    "job_id",
    "workload_name",
    "profile",
    "submission_time",
    "requested_number_of_resources",
    "requested_time",
    "success",
    "final_state",
    "starting_time",
    "execution_time",
    "finish_time",
    "waiting_time",
    "turnaround_time",
    "stretch",
    "allocated_resources",
    "consumed_energy",
    "metadata",
)


def write_jobs_csv(
    path: str | os.PathLike[str],
    jobs: Mapping[str, Values],
    record: Record,
    held: Mapping[str, Values] | None,
) -> None:
    """The jobs as Batsim writes them (`Result.write_jobs_csv`)."""
    n, state = len(jobs["submit"]), jobs["state"]
    execution = jobs["finish"] - jobs["start"]
    with np.errstate(divide="ignore", invalid="ignore"):
        stretch = jobs["response"] / execution
    source, ids = os.path.basename(record.source) or "workload", jobs["id"].tolist()
    places = _places(n, record, held)
    columns: list[Sequence[object]] = [
        ids,
        [source] * n,
        ids,
        jobs["submit"].tolist(),
        jobs["size"].tolist(),
        record.columns["estimate"].tolist(),
        (state == JobState.ENDED).astype(int).tolist(),
        [_BATSIM_STATES[value] for value in state.tolist()],
        *(
            _known(times, state)
            for times in (jobs["start"], execution, jobs["finish"], jobs["wait"], jobs["response"], stretch)
        ),
        places,
        [-1] * n,
        [""] * n,
    ]
    write_text(path, csv_text(BATSIM_COLUMNS, columns))


#: Batsim's states, by `JobState`.
_BATSIM_STATES: dict[str, str] = {
    JobState.FUTURE: "NOT_SUBMITTED",
    JobState.WAITING: "SUBMITTED",
    JobState.RUNNING: "RUNNING",
    JobState.HELD: "RUNNING",
    JobState.ENDED: "COMPLETED_SUCCESSFULLY",
    JobState.TIMED_OUT: "COMPLETED_WALLTIME_REACHED",
    JobState.KILLED: "COMPLETED_KILLED",
    JobState.WITHDRAWN: "REJECTED",
    JobState.UNMET: "REJECTED",
}


def _known(times: Values, state: Texts) -> list[object]:
    """Times, empty where a job that has not ended has none yet."""
    unknown = np.isnan(times) & ~np.isin(state, (JobState.ENDED, JobState.TIMED_OUT, JobState.KILLED))
    return ["" if empty else time for time, empty in zip(times.tolist(), unknown.tolist(), strict=True)]


def _places(n: int, record: Record, held: Mapping[str, Values] | None) -> list[str]:
    """Interval sets of the nodes that each job held last."""
    places = [""] * n
    if held is None:
        return places
    if isinstance(held, Held):
        offsets, parts = held.range_offsets.tolist(), held.ranges.tolist()
        for row, job in enumerate(held["job"].tolist()):
            places[job] = _text((first, first + count - 1) for first, count in parts[offsets[row] : offsets[row + 1]])
        return places
    if "nodes" in held:
        offsets, nodes = held["node_offsets"].tolist(), held["nodes"]
        for row, job in enumerate(held["job"].tolist()):
            places[job] = intervals(nodes[offsets[row] : offsets[row + 1]])
        return places
    machine = record.settings["machine"]
    extent = (machine["x"], machine["y"], machine["z"])
    last = held_last(held, n)
    numbers: dict[int, list[int]] = {}
    for job, *box in zip(*(held[name][last].tolist() for name in ("job", "x", "y", "z", "a", "b", "c")), strict=True):
        x, y, z = ((box[axis] + np.arange(box[axis + 3])) % extent[axis] for axis in range(3))
        here = (x[:, None, None] * extent[1] + y[:, None]) * extent[2] + z
        numbers.setdefault(job, []).extend(here.ravel().tolist())
    for job, nodes_held in numbers.items():
        places[job] = intervals(np.sort(np.array(nodes_held)))
    return places


def intervals(nodes: Values) -> str:
    """Ascending node numbers as an interval set.

    Examples
    --------
    >>> intervals(np.array([0, 1, 2, 3, 4, 6, 8]))
    '0-4 6 8'
    """
    if not len(nodes):
        return ""
    cuts = np.flatnonzero(np.diff(nodes) != 1)
    firsts, lasts = nodes[np.r_[0, cuts + 1]].tolist(), nodes[np.r_[cuts, len(nodes) - 1]].tolist()
    return _text(zip(firsts, lasts, strict=True))


def _text(spans: Iterable[tuple[int, int]]) -> str:
    """First and last nodes as an interval set."""
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)
