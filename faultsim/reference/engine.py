"""The slow, obvious engine: MODEL.md read aloud, for tests, for teaching and for trying out a new policy.

It shares no code with the fast engine: when the two agree on every job of a random workload, a misreading must have
been made twice.  Each rule is one function beside the sentence of MODEL.md that it stands for.

- `boxes`: the boxes of a torus, in contract order (section 5)
- `state`: jobs, clock, machine, diary
- `queueing`: queue orders, FCFS, EASY (section 6); `conservative`: the rest of it
- `placement` (section 7), `migration` (section 8), `ledger` (section 14), `verify` (section 16)
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from faultsim.errors import NotAvailableError
from faultsim.reference.boxes import Box, BoxTable
from faultsim.reference.conservative import conservative
from faultsim.reference.ledger import advance, ledger
from faultsim.reference.migration import defragment
from faultsim.reference.queueing import backfill, check_start, fcfs, queue_order
from faultsim.reference.state import Job, State, table_of
from faultsim.reference.verify import check_end, check_instant

__all__ = ["simulate"]

KNOWN = {"machine", "scheduler", "placement", "migration", "overrun", "start_delay", "record", "verify"}
SCHEDULERS = ("fcfs", "easy", "conservative")


def simulate(
    settings: dict[str, Any], submit: ArrayLike, runtime: ArrayLike, estimate: ArrayLike, size: ArrayLike
) -> dict[str, Any]:
    """Run jobs through a machine and say what became of each.

    Parameters
    ----------
    settings : dict
        The lowered policies: machine, scheduler, placement, migration, overrun, start_delay, record; with ``verify``
        true the invariants of MODEL.md section 16 are checked after every instant.
    submit, runtime, estimate : array of shape (n,)
        Seconds; submit not decreasing, none negative, no NaN.
    size : array of shape (n,)
        Requested nodes, at least 1 and at most the machine's.

    Returns
    -------
    dict
        Columns of shape (n,), counts, and the ledger in node-seconds; with ``record`` the events and allocations too.

    Raises
    ------
    NotAvailableError
        A setting names a part of the model that is not there.
    EngineError
        An invariant does not hold (with ``verify``).

    Examples
    --------
    >>> from faultsim.reference.engine import simulate
    >>> settings = {"machine": {"name": "cluster", "nodes": 4}, "placement": {"name": "first_fit"}, "migration": None,
    ...             "scheduler": {"name": "fcfs", "order": {"name": "arrival"}}, "overrun": "extend",
    ...             "start_delay": 0.0, "record": False}
    >>> simulate(settings, [0, 0], [10, 10], [10, 10], [3, 2])["start"]
    array([ 0., 10.])
    """
    check_settings(settings)
    table, nodes = table_of(settings)
    jobs = make_jobs(settings, table, submit, runtime, estimate, size)
    state = State(settings, jobs, table, nodes)
    coming = list(reversed(jobs))  # the next to arrive is the last
    state.now = begin = jobs[0].submit if jobs else 0.0
    while coming or state.running:
        advance(state, next_time(state, coming))
        while happens_now(state, coming):
            scheduling_pass(state)
        if state.checking:
            check_instant(state)
    accounts = ledger(state)
    if state.checking:
        check_end(state, accounts, begin, state.now)
    return output(state, accounts, begin, state.now)


def check_settings(settings: dict[str, Any]) -> None:
    """Refuse by name what this version does not have."""
    for name, value in settings.items():
        if name not in KNOWN and value is not None:
            raise NotAvailableError(f"setting {name!r}: this engine knows {', '.join(sorted(KNOWN))}")
    if settings["scheduler"]["name"] not in SCHEDULERS:
        raise NotAvailableError(f"scheduler {settings['scheduler']['name']!r}: known are {', '.join(SCHEDULERS)}")
    if settings["overrun"] not in ("extend", "kill"):
        raise NotAvailableError(f"overrun {settings['overrun']!r}: known are extend, kill")


def make_jobs(
    settings: dict[str, Any],
    table: BoxTable | None,
    submit: ArrayLike,
    runtime: ArrayLike,
    estimate: ArrayLike,
    size: ArrayLike,
) -> list[Job]:
    """The jobs, by (submit, index).

    MODEL.md 3: "or "kill" at the estimate (it counts as done with run time = estimate, its work useful)".
    """
    columns = (np.asarray(column, dtype=np.float64).tolist() for column in (submit, runtime, estimate))
    jobs = []
    for i, (s, r, e, n) in enumerate(zip(*columns, np.asarray(size).tolist(), strict=True)):
        executed = min(r, e) if settings["overrun"] == "kill" else r
        jobs.append(Job(i, s, executed, e, n, n if table is None else table.round_up(n)))
    return jobs


def next_time(state: State, coming: list[Job]) -> float:
    """When something happens next."""
    times = [job.finish for job in state.running]
    if coming:
        times.append(coming[-1].submit)
    return min(times)


def happens_now(state: State, coming: list[Job]) -> bool:
    """Handle all events of this instant: "Total order by (time, kind, serial)", FINISH before ARRIVAL, "FINISH by job
    index", "ARRIVAL in workload order".  Whether there was one, that is, whether a pass is due.

    "Events that a pass creates at the same instant (a job of run time 0) are drained next and followed by another
    pass."
    """
    ending = sorted((job for job in state.running if job.finish == state.now), key=lambda job: job.index)
    for job in ending:
        state.end(job)
    arrived = 0
    while coming and coming[-1].submit == state.now:
        state.arrive(coming.pop())
        arrived += 1
    state.events += len(ending) + arrived
    return bool(ending) or arrived > 0


def scheduling_pass(state: State) -> None:
    """One pass.  Krevat's order with everything on: FCFS, migrate, FCFS, backfill."""
    order = queue_order(state)
    state.passes += 1
    if state.settings["scheduler"]["name"] == "conservative":
        conservative(state, order)
    else:
        head = order[0] if order else None
        fcfs(state, order)
        if defragment(state, order):
            fcfs(state, order)
        check_start(state, head)
        if order and state.settings["scheduler"]["name"] == "easy":
            backfill(state, order)
    state.last_pass = state.now


def output(state: State, accounts: dict[str, float], begin: float, end: float) -> dict[str, Any]:
    """What both engines hand back."""
    jobs = state.jobs

    def column(name: str, dtype: type) -> np.ndarray[Any, Any]:
        return np.array([getattr(job, name) for job in jobs], dtype=dtype)

    result: dict[str, Any] = {
        "first_start": column("start", np.float64),
        "start": column("start", np.float64),
        "finish": column("finish", np.float64),
        "runtime": column("runtime", np.float64),
        "allocated": column("allocated", np.int32),
        "restarts": np.zeros(len(jobs), np.int32),
        "lost_work": np.zeros(len(jobs)),
        "checkpoint_time": np.zeros(len(jobs)),
        "moves": column("moves", np.int32),
        "backfilled": column("backfilled", np.bool_),
        "migrations_attempted": state.attempted,
        "migrations_successful": state.successful,
        "events": state.events,
        "passes": state.passes,
        "ledger": accounts,
        "makespan_begin": begin,
        "makespan_end": end,
    }
    if state.recording:
        result["events_table"] = events_table(state)
        result["allocations"] = allocations(state)
    return result


def events_table(state: State) -> dict[str, np.ndarray[Any, Any]]:
    """Every start, finish, arrival and move in the order in which they happened."""
    return {
        "time": np.array([row[0] for row in state.diary], dtype=np.float64),
        "kind": np.array([row[1] for row in state.diary], dtype=np.int8),
        "job": np.array([row[2] for row in state.diary], dtype=np.int32),
    }


def allocations(state: State) -> dict[str, np.ndarray[Any, Any]]:
    """Who held which nodes from when to when, in order of taking them; a moved job has one row per place."""
    rows: dict[str, np.ndarray[Any, Any]] = {
        "job": np.array([row[0] for row in state.places], dtype=np.int32),
        "begin": np.array([row[1] for row in state.places], dtype=np.float64),
        "end": np.array([row[2] for row in state.places], dtype=np.float64),
    }
    where = [row[3] for row in state.places]
    if state.table is not None:
        for i, axis in enumerate(Box._fields[:6]):
            rows[axis] = np.array([place[i] for place in where], dtype=np.int32)
    else:
        rows["node_offsets"] = np.cumsum([0] + [len(place) for place in where], dtype=np.int64)
        rows["nodes"] = np.array([node for place in where for node in place], dtype=np.int32)
    return rows
