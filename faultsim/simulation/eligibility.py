"""Conditions, arrays and withdrawals of a log become columns that an engine reads (model.md#eligibility)."""

from collections.abc import Iterable, Mapping

import numpy as np

from faultsim.arrays import Integers, Values
from faultsim.data.conditions import (
    COLUMNS,
    KINDS,
    after_texts,
    first_circle,
    has_conditions,
    limits,
    numbers,
    parse_after,
    times,
)
from faultsim.data.workload import Workload
from faultsim.data.world import EligibilityRows
from faultsim.errors import InputError, NotAvailableError, OptionError
from faultsim.policies import Hold
from faultsim.simulation.options import RunOptions

_AFTER_OK, _AFTER_ANY = KINDS.index("afterok"), KINDS.index("afterany")


def check_conditions(run: RunOptions) -> None:
    """Reject columns that cannot be followed, before anything runs."""
    columns = run.log._columns
    eligibility_rows(run.log, run.log, None)
    if isinstance(run.recovery, Hold) and np.isfinite(times(columns, "cancel", np.inf)).any():
        raise OptionError(
            "cancel is not available with recovery=Hold(): a job that is held for a repair is not withdrawn; use "
            "recovery=Requeue(), or log.with_columns(cancel=None)"
        )


def refuse_conditions(log: Workload, what: str) -> None:
    """Raise `NotAvailableError` for a log whose columns a run would follow."""
    if has_conditions(log._columns) and eligibility_rows(log, log, None) is not None:
        found = ", ".join(name for name in COLUMNS if name in log._columns)
        raise NotAvailableError(
            f"{what} does not follow the columns {found} of the log: leave them out, "
            f"log.with_columns({', '.join(f'{name}=None' for name in found.split(', '))})"
        )


def eligibility_rows(whole: Workload, log: Workload, jobs: Integers | None) -> EligibilityRows | None:
    """What the engines read; None if every job may begin when it is submitted.

    Parameters
    ----------
    whole, log : Workload
        The user's log, and the jobs of it that fit the machine.
    jobs : numpy.ndarray of int32, optional
        The job of each row of `whole`, -1 where it is left out; None if both are equal.
    """
    if jobs is None and "conditions" in log._once:
        found: EligibilityRows | None = log._once["conditions"]
        return found
    columns = whole._columns
    waits = [*_after(columns), *_preceding(columns)]
    rows = _lowered(whole, waits, np.arange(len(whole), dtype=np.int32) if jobs is None else jobs)
    if jobs is None:
        log._once["conditions"] = rows
    return rows


#: A condition: the row that waits, the row that it waits for (-1: none of the log), kind and delay.
_Wait = tuple[int, int, int, float]


def _rows_of(columns: Mapping[str, Values]) -> dict[str, int]:
    """The row of each id; -1 of one that several jobs have."""
    found: dict[str, int] = {}
    for row, name in enumerate(map(str, columns["id"].tolist())):
        found[name] = -1 if name in found else row
    return found


def _after(columns: Mapping[str, Values]) -> Iterable[_Wait]:
    """Those of the column ``after``."""
    if "after" not in columns:
        return
    ids = _rows_of(columns)
    for row, text in enumerate(after_texts(columns["after"])):
        for kind, other, delay in parse_after(text, row)[0] if text else ():
            if ids.get(other, -1) < 0:
                what = "several jobs have it" if other in ids else "the log has no such job"
                raise InputError(
                    f"after, row {row}: {text!r:.80} names job {other!r:.40}, and {what}; name an id of the log, or "
                    f"leave the condition out"
                )
            yield row, ids[other], kind, delay


def _preceding(columns: Mapping[str, Values]) -> Iterable[_Wait]:
    """Those of the fields 17 and 18 of SWF; a job that is not in the log is no condition."""
    if "preceding_job" not in columns:
        return
    preceding = numbers(columns, "preceding_job", "the number of a job")
    count = len(preceding)
    think = numbers(columns, "think_time", "a time in seconds") if "think_time" in columns else np.zeros(count)
    think = np.where(np.isnan(think) | (think == -1), 0.0, think)
    named = np.flatnonzero(preceding > 0)
    for row in named[~((think[named] >= 0) & np.isfinite(think[named]))][:1].tolist():
        raise InputError(f"think_time, row {row}: {think[row]:g} is no time; expected seconds, 0 or more, or -1")
    ids = _rows_of(columns) if len(named) else {}
    for row in named.tolist():
        other = f"{preceding[row]:.0f}"
        if ids.get(other) == -1:
            raise InputError(f"preceding_job, row {row}: several jobs have the id {other}; give each job its own")
        yield row, ids.get(other, -1), _AFTER_ANY, float(think[row])


def _groups(columns: Mapping[str, Values]) -> tuple[Integers, Values]:
    """The group of each row (-1: none with a singleton), and which rows are singletons."""
    count = len(columns["submit"])
    single = np.zeros(count, np.bool_)
    if "after" in columns:
        single[:] = [bool(text) and parse_after(text, row)[1] for row, text in enumerate(after_texts(columns["after"]))]
    if not single.any():
        return np.full(count, -1, np.int32), single
    row = int(np.argmax(single))
    if "name" not in columns:
        raise InputError(f"after, row {row}: 'singleton' goes by user and name, and the log has no column 'name'")
    for row in np.flatnonzero(single & (columns["user"] < 0))[:1].tolist():
        raise InputError(f"after, row {row}: 'singleton' goes by user and name, and the user is missing (-1)")
    keys = list(zip(columns["user"].tolist(), columns["name"].tolist(), strict=True))
    numbers_of = {
        key: i for i, key in enumerate(dict.fromkeys(key for key, one in zip(keys, single, strict=True) if one))
    }
    return np.array([numbers_of.get(key, -1) for key in keys], np.int32), single


def _lowered(whole: Workload, waits: list[_Wait], jobs: Integers) -> EligibilityRows | None:
    columns = whole._columns
    group, single = _groups(columns)
    array, most = limits(columns)
    begin, cancel = times(columns, "begin", -np.inf), times(columns, "cancel", np.inf)
    _refuse_circles(whole, waits, group, single)
    late = bool((begin > columns["submit"]).any() or np.isfinite(cancel).any())
    if not (waits or single.any() or len(most) or late):
        return None
    kept = jobs >= 0
    here = [(int(jobs[row]), -1 if other < 0 else int(jobs[other]), *rest) for row, other, *rest in waits if kept[row]]
    inside = sorted((each for each in here if each[1] >= 0), key=lambda each: each[1])
    n = int(kept.sum())
    group, single, cancel = group[kept], single[kept], cancel[kept]
    withdrawal = np.flatnonzero(np.isfinite(cancel)).astype(np.int32)
    member = np.flatnonzero(group >= 0).astype(np.int32)
    member = member[np.argsort(group[member], kind="stable")]
    groups = int(group.max(initial=-1)) + 1
    return EligibilityRows(
        first=np.searchsorted([each[1] for each in inside], np.arange(n + 1)).astype(np.int64),
        waiter=np.array([each[0] for each in inside], np.int32),
        kind=np.array([each[2] for each in inside], np.int8),
        delay=np.array([each[3] for each in inside], np.float64),
        unmet=np.array(sorted({each[0] for each in here if each[1] < 0 and each[2] == _AFTER_OK}), np.int32),
        begin=begin[kept],
        cancel=cancel,
        withdrawal=withdrawal[np.argsort(cancel[withdrawal], kind="stable")],
        group=group,
        single=single.astype(np.uint8),
        group_first=np.searchsorted(group[member], np.arange(groups + 1)).astype(np.int64),
        member=member,
        array=array[kept],
        most=most,
    )


def _refuse_circles(whole: Workload, waits: list[_Wait], group: Integers, single: Values) -> None:
    """Raise `InputError` for jobs that wait for each other.

    A job of a group has a second node, "this and all earlier members have ended", for which the singletons behind it
    wait.
    """
    n = len(whole)
    if not waits:  # a singleton waits for earlier jobs only
        return
    edges: dict[int, list[int]] = {}
    for row, other, *_ in waits:
        if other >= 0:
            edges.setdefault(row, []).append(other)
    last: dict[int, int] = {}
    for row in np.flatnonzero(group >= 0).tolist():
        before = last.get(int(group[row]), -1)
        if single[row] and before >= 0:
            edges.setdefault(row, []).append(n + before)
        edges[n + row] = [row] if before < 0 else [row, n + before]
        last[int(group[row])] = row
    circle = first_circle([edges.get(node, ()) for node in range(2 * n if last else n)])
    if circle is not None:
        rows = [node for node in circle if node < n]
        rows = rows if circle[0] < n else [*rows, rows[0]]
        chain = " -> ".join(str(whole.id[row]) for row in rows[:12]) + (" -> ..." if len(rows) > 12 else "")
        where = "preceding_job" if "after" not in whole._columns else "after"
        raise InputError(
            f"{where}, row {rows[0]}: jobs wait for each other, {chain}, so that none of them can begin; leave out one "
            f"of these conditions"
        )
