"""The files that a `Result` writes and reads: saved runs (.npz), schedules (SWF) and Batsim's jobs table (CSV)."""

import csv
import io
import json
import os
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from faultsim.data.columns import JOBS, WORKLOAD
from faultsim.data.event_kinds import JobState
from faultsim.data.further import further_names
from faultsim.data.swf_format import FIELDS, write_rows
from faultsim.data.text_files import write_text
from faultsim.data.whole_files import whole_file
from faultsim.errors import InputError
from faultsim.results.held import Held
from faultsim.results.provenance import SCHEMA, Record

_FACTS = "facts.json"
_KIND = "faultsim result"


def save_arrays(path: str | os.PathLike[str], arrays: Mapping[str, NDArray[Any] | Held], facts: dict[str, Any]) -> None:
    """Write arrays and facts to one .npz; the file is moved into place once it is complete."""
    document = json.dumps({"kind": _KIND, "schema": SCHEMA, **facts}, allow_nan=True).encode()
    with whole_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as members:
        for name, array in {_FACTS: np.frombuffer(document, dtype=np.uint8), **arrays}.items():
            with members.open(f"{name}.npy", "w", force_zip64=True) as member:
                _write_array(member, array)


def _write_array(member: IO[bytes], array: NDArray[Any] | Held) -> None:
    """As NumPy writes it; the nodes that jobs held block by block, for they may be more than all the rest."""
    if not isinstance(array, Held):
        npy.write_array(member, array, allow_pickle=False)
        return
    shape = (int(array["node_offsets"][-1]),)
    npy.write_array_header_1_0(member, {"descr": "<i4", "fortran_order": False, "shape": shape})
    for block in array.blocks():
        member.write(block.astype("<i4", copy=False).tobytes())


def load_arrays(path: str | os.PathLike[str], needed: Iterable[str]) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Arrays and facts of a file of `save_arrays`; for any other file, `InputError` says what is wrong with it."""
    name = os.fspath(path)
    try:
        with open(name, "rb") as file:
            if not zipfile.is_zipfile(file):
                raise ValueError("not a zip file")
            file.seek(0)
            with np.load(file, allow_pickle=False) as members:
                arrays = {key: members[key] for key in members.files}
    except FileNotFoundError:
        raise InputError(f"{name}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{name}: a folder, expected a file that Result.save wrote") from None
    except (
        OSError,
        ValueError,
        EOFError,
        KeyError,
        AttributeError,
        TypeError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        raise InputError(
            f"{name}: not a saved result, or a corrupt one ({error}); expected a file that Result.save wrote"
        ) from None
    try:
        facts = json.loads(arrays.pop(_FACTS).tobytes())
        if facts["kind"] != _KIND:
            raise ValueError(f"its kind is {facts['kind']!r}")
        schema = facts["schema"]
        for key in ("provenance", "ledger", "span", "counters", "dropped"):
            facts[key]
    except (KeyError, ValueError, TypeError) as error:
        raise InputError(f"{name}: not a saved result ({error}); expected a file that Result.save wrote") from None
    if schema == 1:
        _complete(arrays, facts)
    elif schema not in range(1, SCHEMA + 1):
        raise InputError(f"{name}: saved in layout {schema}, this version reads layouts 1 to {SCHEMA}")
    _check(name, arrays, needed)
    return arrays, facts


def _complete(arrays: dict[str, NDArray[Any]], facts: dict[str, Any]) -> None:
    """What layout 1 lacks: it predates failures."""
    rows = len(arrays.get("workload/submit", ()))
    for column in ("restart_time", "failure_wait"):
        arrays[f"jobs/{column}"] = np.zeros(rows)
    facts["counters"] |= dict.fromkeys(("failures", "failures_hit", "checkpoints"), 0)
    facts["provenance"]["failures"] = None
    if "events_table/time" in arrays:
        arrays["events_table/node"] = np.full(len(arrays["events_table/time"]), -1, np.int32)


def _check(name: str, arrays: dict[str, NDArray[Any]], needed: Iterable[str]) -> None:
    """Check that every needed column exists and has its type, and that all have the same length."""
    kinds = {f"jobs/{c.name}": c.dtype for c in JOBS} | {f"workload/{c.name}": c.dtype for c in WORKLOAD}
    rows = len(arrays["workload/submit"]) if "workload/submit" in arrays else -1
    states = [key for key in ("jobs/state",) if key in arrays]
    for key in [*needed, *states]:
        if key not in arrays:
            raise InputError(f"{name}: column {key} is missing from this saved result")
        column = arrays[key]
        if key == "workload/id" and column.dtype.kind == "U" and column.shape == (rows,):
            continue
        if column.shape != (rows,) or column.dtype != np.dtype(kinds[key]):
            raise InputError(
                f"{name}: column {key} of this saved result is {column.dtype} of shape {column.shape}, "
                f"expected {np.dtype(kinds[key])} of shape ({rows},)"
            )
    for key in arrays:
        if key.startswith("workload/") and arrays[key].shape != (rows,):
            raise InputError(f"{name}: column {key} of this saved result has shape {arrays[key].shape}, not ({rows},)")
    for key in states:
        if not np.isin(arrays[key], list(JobState)).all():
            raise InputError(f"{name}: column {key} of this saved result has a number that is no JobState")


def write_schedule(path: str | os.PathLike[str], jobs: Mapping[str, NDArray[Any]], record: Record, title: str) -> None:
    """The schedule as SWF (`Result.write_swf`)."""
    state = jobs["state"]
    fields = {
        "id": jobs["id"],
        "submit": jobs["submit"],
        "wait": np.nan_to_num(jobs["wait"], nan=-1.0),
        "runtime": np.nan_to_num(jobs["runtime"], nan=-1.0),
        "allocated": np.where(state < JobState.RUNNING, -1, jobs["allocated"]),
        "requested": jobs["size"],
        "requested_time": record.columns["estimate"],
        "status": np.select([state < JobState.ENDED, state > JobState.ENDED], [-1, 5], 1),
        "user": record.columns["user"],
    }
    more = [name for name in further_names(record.columns) if name in FIELDS and name not in fields]
    fields |= {name: record.columns[name] for name in more}
    comments = [
        "; Version: 2.2",
        "; Computer: simulated by faultsim",
        f"; Note: {title}",
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
    jobs: Mapping[str, NDArray[Any]],
    record: Record,
    held: Mapping[str, NDArray[Any]] | None,
) -> None:
    """The jobs as Batsim writes them (`Result.write_jobs_csv`)."""
    n, state = len(jobs["submit"]), jobs["state"]
    execution = jobs["finish"] - jobs["start"]
    with np.errstate(divide="ignore", invalid="ignore"):
        stretch = jobs["response"] / execution
    source = os.path.basename(record.source) or "workload"
    places = _places(n, record, held)
    columns: list[Iterable[Any]] = [
        jobs["id"].tolist(),
        [source] * n,
        jobs["id"].tolist(),
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
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(BATSIM_COLUMNS)
    out.writerows(zip(*columns, strict=True))
    write_text(path, text.getvalue())


#: Batsim's states, by `JobState`.
_BATSIM_STATES = (
    "NOT_SUBMITTED",
    "SUBMITTED",
    "RUNNING",
    "RUNNING",
    "COMPLETED_SUCCESSFULLY",
    "COMPLETED_WALLTIME_REACHED",
    "COMPLETED_KILLED",
)


def _known(times: NDArray[Any], state: NDArray[np.int8]) -> list[Any]:
    """Times, empty where a job that has not ended has none yet."""
    unknown = np.isnan(times) & (state < JobState.ENDED)
    return ["" if empty else time for time, empty in zip(times.tolist(), unknown.tolist(), strict=True)]


def _places(n: int, record: Record, held: Mapping[str, NDArray[Any]] | None) -> list[str]:
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
    for job, *box in zip(*(held[name].tolist() for name in ("job", "x", "y", "z", "a", "b", "c")), strict=True):
        x, y, z = ((box[axis] + np.arange(box[axis + 3])) % extent[axis] for axis in range(3))
        numbers = (x[:, None, None] * extent[1] + y[:, None]) * extent[2] + z
        places[job] = intervals(np.sort(numbers, axis=None))
    return places


def intervals(nodes: NDArray[Any]) -> str:
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
