"""The records of Slurm's accounting that are of jobs, as arrays: see `SlurmRecords`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faultsim.readers.accounting import LostRun
from faultsim.readers.job_rows import missing
from faultsim.readers.slurm_fields import SlurmFields
from faultsim.readers.slurm_runs import Runs
from faultsim.readers.slurm_values import count_of, first_node, gpus_of, memory_of, state_of, tres_of

#: What a size may be -> fields with it, what a job was given before what it asked for.
SIZES = {
    "nodes": ("allocnodes", "nnodes", "alloctres", "reqnodes", "reqtres"),
    "cpus": ("alloccpus", "ncpus", "alloctres", "reqcpus", "reqtres"),
    "gpus": ("alloctres", "reqtres"),
}
#: The same, as messages name them.
SIZE_NAMES = {
    "nodes": "AllocNodes or NNodes or ReqNodes or AllocTRES or ReqTRES",
    "cpus": "AllocCPUS or NCPUS or ReqCPUS or AllocTRES or ReqTRES",
    "gpus": "AllocTRES or ReqTRES",
}


def _gpus(text: str) -> float | None:
    tres = tres_of(text)
    found = gpus_of(tres)
    return 0.0 if tres and found is not None and np.isnan(found) else found


_OF_TRES: dict[str, Any] = {
    "nodes": lambda text: count_of(tres_of(text).get("node", "")),
    "cpus": lambda text: count_of(tres_of(text).get("cpu", "")),
    "gpus": _gpus,
}


class SlurmRecords:
    """The records of jobs; values are NaN where missing.

    Parameters
    ----------
    fields : SlurmFields
        Records that are no job steps.
    size : {"nodes", "cpus", "gpus"}
        How large a job is.
    identity : str
        The field with its id.

    Attributes
    ----------
    ids, users, states : list of str
    submit, start, end : numpy.ndarray of float64
        In seconds since 1970, or on the clock of the records.
    runtime, estimate : numpy.ndarray of float64
        In seconds; an estimate that is missing is -1.
    nodes, cpus, gpus, memory, size : numpy.ndarray of float64
        Memory is in MiB.
    never, running : numpy.ndarray of bool
        Whether a record is of a run that has not begun, or has not ended.
    """

    def __init__(self, fields: SlurmFields, size: str, identity: str) -> None:
        self.fields = fields
        self.ids = fields.texts(identity)
        for row, text in enumerate(self.ids):
            if not text[:1].isdigit():
                fields.bad(row, identity, "is no id of a job")
        self.users = fields.texts("uid", "user")
        self.states = [state_of(text) for text in fields.texts("state")]
        self.submit = fields.moments("submit")
        self.start, self.end = fields.moments("start"), fields.moments("end")
        self.runtime = self._elapsed()
        limits = fields.seconds("timelimitraw", 60.0) if fields.has("timelimitraw") else fields.seconds("timelimit")
        self.estimate = missing(limits)
        amounts = [self._amount(kind, needed=kind == size) for kind in SIZES]
        self.nodes, self.cpus, self.gpus = amounts
        self.size = amounts[list(SIZES).index(size)].copy()
        self.memory = self._memory()
        self.never, self.running = self._unfinished()

    def _elapsed(self) -> NDArray[np.float64]:
        name = self.fields.table.first_of("elapsedraw", "elapsed")
        if name is not None:
            return self.fields.seconds(name)
        return np.asarray(self.end - self.start)

    def _amount(self, kind: str, *, needed: bool) -> NDArray[np.float64]:
        """The first of the fields that is 1 or more; 0 GPUs where a record names its resources."""
        found = np.full(len(self.fields), np.nan)
        for name in SIZES[kind]:
            if not self.fields.has(name):
                continue
            if name.endswith("tres"):
                values = self.fields.column(name, _OF_TRES[kind], f"has no whole number of {kind}", needed=needed)
            else:
                values = self.fields.counts(name, needed=needed)
            found = np.where(found >= 1, found, np.where(np.isnan(values), found, values))
        return found

    def _memory(self) -> NDArray[np.float64]:
        """In MiB; NaN everywhere where no job was allocated memory: the site does not give it out (CR_Core), and what
        ReqMem says then is no request.
        """
        found = np.full(len(self.fields), np.nan)
        allocated = [tres_of(text) for text in self.fields.table.columns.get("alloctres", ()) if text]
        if allocated and not any("mem" in amounts for amounts in allocated):
            return found
        nodes, cpus = self.nodes, self.cpus
        for name in ("alloctres", "reqtres", "reqmem"):
            for row, text in enumerate(self.fields.table.columns.get(name, ())):
                if text and np.isnan(found[row]):
                    amount = text if name == "reqmem" else tres_of(text).get("mem", "")
                    mebibytes = memory_of(amount, nodes[row], cpus[row])
                    if mebibytes is not None:
                        found[row] = mebibytes
        return found

    def _unfinished(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        every = np.ones(len(self.fields), dtype=bool)
        begun = ~np.isnan(self.start) if self.fields.has("start") else every
        ended = ~np.isnan(self.end) if self.fields.has("end") else every
        if not self.fields.has("state"):
            return ~begun, begun & ~ended
        states = np.array([state[:16] for state in self.states])  # an array is as wide as its longest text
        # Older releases give a job that was cancelled in the queue a start, equal to its end.
        idle = ~(self.runtime > 0)
        never = ~begun | np.isin(states, ("PENDING", "REVOKED")) | ((states == "CANCELLED") & idle)
        return never, ~never & (~ended | np.isin(states, ("RUNNING", "SUSPENDED")))

    def lost_runs(self, jobs: Sequence[Runs]) -> list[LostRun]:
        """Ends, first nodes and states of lost runs; the components of a heterogeneous job are lost together."""
        lists = self.fields.texts("nodelist")
        found: dict[tuple[str, str, float], LostRun] = {}
        for job in jobs:
            for row in job.lost:
                end = self.end[row]
                if np.isnan(end):
                    end = self.start[row] + self.runtime[row]
                key = (self.ids[row].partition("+")[0], self.users[row], float(end))
                found.setdefault(key, LostRun(float(end), first_node(lists[row]), self.states[row]))
        return list(found.values())

    def adjust(self, jobs: Sequence[Runs]) -> None:
        """Give each job's last record the job's first submit; a part of a resized job, what is left of its limit.

        `jobs` has the parts of each job in the order of time.
        """
        used: dict[int, float] = {}
        for job in jobs:
            row = job.last
            self.submit[row] = self.submit[job.submit]
            if job.resized is None:
                continue
            used[row] = used.get(job.resized, 0.0) + float(self.runtime[job.resized])
            if not np.isnan(self.start[row]):
                self.submit[row] = self.start[row]
            left = self.estimate[row] - used[row]
            self.estimate[row] = left if left > 0 else -1.0

    def join_components(self, jobs: Sequence[Runs]) -> tuple[list[Runs], int]:
        """Add the components of each heterogeneous job to the first that ran; how many are left out."""
        parts: dict[tuple[str, str, float], list[int]] = {}
        for job in jobs:
            if "+" in self.ids[job.last]:
                leader = self.ids[job.last].partition("+")[0]
                parts.setdefault((leader, self.users[job.last], float(self.submit[job.last])), []).append(job.last)
        gone: set[int] = set()
        if parts:
            self.ids = list(self.ids)
        start = np.where(np.isnan(self.start), self.submit, self.start)
        for (leader, _, _), rows in parts.items():
            ran = [row for row in rows if not self.never[row]] or rows
            first = ran[0]
            self.ids[first] = leader
            for values in (self.size, self.nodes, self.cpus, self.gpus, self.memory):
                values[first] = values[ran].sum()
            self.runtime[first] = max(start[row] + self.runtime[row] for row in ran) - min(start[row] for row in ran)
            limits = self.estimate[ran]
            self.estimate[first] = limits.max() if limits.min() >= 0 else -1.0
            gone.update(row for row in rows if row != first)
        return [job for job in jobs if job.last not in gone], len(gone)
