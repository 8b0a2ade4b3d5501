"""The data dictionary: every column of every table, and the one place where values are checked.

A table is a tuple of `Column`, in the order in which files and frames show it.  Documentation, file headers and tests
read these tables; facts about a column are written only here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from faultsim import checks
from faultsim.arrays import Flags, Values
from faultsim.errors import InputError

MAX_NODES = 2**31 - 1  # node numbers and sizes are int32


@dataclass(frozen=True)
class Column:
    """What one column holds.

    Parameters
    ----------
    name : str
        Name of the column, the same in Python, in files and in frames.
    dtype : str
        NumPy type code, native byte order.
    unit : str
        Unit of the values; "1" for counts and numbers.
    missing : float or None
        The value that means "unknown", or None if a value is always present.
    meaning : str
        One sentence.
    source : str
        Where the definition comes from: a field of the Standard Workload Format, or a section of a paper.
    minimum : float or None
        Smallest valid value besides `missing`.
    clock : bool
        Whether it is a time or a duration of the clock, which ends at `checks.LATEST`.
    endless : bool
        Whether a duration may be infinite: then it does not end.

    Examples
    --------
    >>> by_name(WORKLOAD)["runtime"].unit
    's'
    """

    name: str
    dtype: str
    unit: str
    missing: float | None
    meaning: str
    source: str
    minimum: float | None = None
    clock: bool = False
    endless: bool = False


_SWF = "Standard Workload Format 2.2, field"

#: What a `Workload` holds, one row per job, sorted by `submit`.
WORKLOAD: tuple[Column, ...] = (
    Column("id", "i8", "1", None, "Job number in the log it comes from.", f"{_SWF} 1"),
    Column(
        "submit", "f8", "s", None, "Time at which the job enters the queue; never decreases.", f"{_SWF} 2", 0.0, True
    ),
    Column("runtime", "f8", "s", None, "Time the job needs on its nodes, without failures.", f"{_SWF} 4", 0.0, True),
    Column("estimate", "f8", "s", -1.0, "Run time that the user asked for.", f"{_SWF} 9", 0.0, True),
    Column("size", "i4", "nodes", None, "Number of nodes that the job requests.", f"{_SWF} 5, else 8", 1.0),
    Column("user", "i8", "1", -1.0, "Number of the user.", f"{_SWF} 12", 0.0),
)

#: What a log may have besides: the waits on the machine that it was recorded on.
RECORDED_WAIT = Column(
    "recorded_wait", "f8", "s", -1.0, "Wait on the machine that the log was recorded on.", f"{_SWF} 3", 0.0
)

#: What a `FailureTrace` holds, one row per failure, sorted by `time`.
FAILURES: tuple[Column, ...] = (
    Column("time", "f8", "s", None, "When the node fails; never decreases.", "[zhang2004] section 3", 0.0, True),
    Column("node", "i4", "1", None, "Number of the node, from 0.", "[zhang2004] section 3", 0.0),
    Column(
        "downtime",
        "f8",
        "s",
        None,
        "How long the node is down; 0: not at all, inf: for good.",
        "[zhang2004] section 3",
        0.0,
        True,
        True,
    ),
    Column("coin", "f8", "1", None, "Uniform in [0, 1); predictors compare it.", "[oliner2004] section 4.2", 0.0),
)

#: What a `Workflow` holds of its jobs, one row per job; `cost` may have one column per node.
WORKFLOW_JOBS: tuple[Column, ...] = (
    Column(
        "cost", "f8", "s", None, "Time the job needs on a node, or on a node of speed 1.", "[yu2010] section 1", 0.0
    ),
)

#: What a `Workflow` holds of its dependencies, one row per edge, sorted by the two jobs.
WORKFLOW_EDGES: tuple[Column, ...] = (
    Column("edge_from", "i4", "1", None, "Job whose output the edge carries.", "[yu2010] section 1", 0.0),
    Column("edge_to", "i4", "1", None, "Job that needs it.", "[yu2010] section 1", 0.0),
    Column("transfer", "f8", "s", None, "Time to copy it to another node; or bytes.", "[yu2010] section 1", 0.0),
)

#: What `Result.jobs` holds, one row per job, in workload order.
JOBS: tuple[Column, ...] = (
    Column("id", "i8", "1", None, "Job number in the log.", "workload"),
    Column("submit", "f8", "s", None, "Time at which the job was submitted.", "workload", 0.0),
    Column(
        "eligible",
        "f8",
        "s",
        None,
        "Time at which it entered the queue: the submit time, or later if it had conditions.",
        "model.md#eligibility",
        0.0,
    ),
    Column("first_start", "f8", "s", None, "First start, including the start delay.", "[krevat2002] section 3.2", 0.0),
    Column("start", "f8", "s", None, "Last start, including the start delay.", "[oliner2004] section 6.1", 0.0),
    Column("finish", "f8", "s", None, "End of the job.", "[krevat2002] section 3.2", 0.0),
    Column("size", "i4", "nodes", None, "Nodes requested.", "workload", 1.0),
    Column("allocated", "i4", "nodes", None, "Nodes held, with rounding and growth.", "[krevat2002] section 2", 1.0),
    Column(
        "runtime", "f8", "s", None, "Run time as executed; the estimate for a job that was cut at it.", "workload", 0.0
    ),
    Column("wait", "f8", "s", None, "start - eligible.", "[krevat2002] section 3.2; [oliner2004] section 6.1", 0.0),
    Column("response", "f8", "s", None, "finish - eligible.", "[krevat2002] section 3.2", 0.0),
    Column(
        "bounded_slowdown", "f8", "1", None, "max(response, 10) / max(runtime, 10).", "[krevat2002] section 3.2", 0.0
    ),
    Column(
        "restarts",
        "i4",
        "1",
        None,
        "Number of times that a failure killed it, or that it was stopped for its nodes.",
        "[zhang2004] section 3",
        0.0,
    ),
    Column("lost_work", "f8", "node-s", None, "Node-seconds rolled back.", "[zhang2004] section 3", 0.0),
    Column("checkpoint_time", "f8", "s", None, "Time spent in checkpoints.", "[zhang2004] section 5", 0.0),
    Column("restart_time", "f8", "s", None, "Time spent restarting after failures.", "[zhang2004] section 5", 0.0),
    Column(
        "failure_wait",
        "f8",
        "s",
        None,
        "From kills to the next start, or to the end of the hold.",
        "[li2009] section 5.3",
        0.0,
    ),
    Column("slowed_time", "f8", "s", None, "By which outages that slow it made it longer.", "model.md#slowness", 0.0),
    Column(
        "moves",
        "i4",
        "1",
        None,
        "Number of times the job moved while running, or went on with a hot spare.",
        "[krevat2002]",
        0.0,
    ),
    Column("backfilled", "?", "1", None, "Started ahead of an earlier job in the queue.", "[krevat2002] section 2"),
    Column("state", "U9", "1", None, "How far it got, in words, see `JobState`.", "model.md#partial"),
    Column("user", "i8", "1", None, "User number in the log, -1 where missing.", "workload"),
    Column("estimate", "f8", "s", None, "Requested run time in the log, -1 where missing.", "workload"),
)

_HELD = (
    Column("job", "i4", "1", None, "Row of the job in the workload.", "faultsim", 0.0),
    Column("begin", "f8", "s", None, "Time of the decision; nodes are held from here.", "faultsim", 0.0),
    Column("end", "f8", "s", None, "Time at which the nodes are released.", "faultsim", 0.0),
)

#: What `Result.allocations` holds on a torus, one row per box of a job and place.
ALLOCATIONS: tuple[Column, ...] = (
    *_HELD,
    Column("x", "i4", "nodes", None, "Base of the box along x.", "[krevat2002] section 2", 0.0),
    Column("y", "i4", "nodes", None, "Base of the box along y.", "[krevat2002] section 2", 0.0),
    Column("z", "i4", "nodes", None, "Base of the box along z.", "[krevat2002] section 2", 0.0),
    Column("a", "i4", "nodes", None, "Extent of the box along x.", "[krevat2002] section 2", 1.0),
    Column("b", "i4", "nodes", None, "Extent of the box along y.", "[krevat2002] section 2", 1.0),
    Column("c", "i4", "nodes", None, "Extent of the box along z.", "[krevat2002] section 2", 1.0),
)

#: The same on a cluster: row k holds ``nodes[node_offsets[k]:node_offsets[k + 1]]``, ascending.
CLUSTER_NODES: tuple[Column, ...] = (
    *_HELD,
    Column("node_offsets", "i8", "1", None, "Where each row's nodes begin; one entry more than rows.", "faultsim", 0.0),
    Column("nodes", "i4", "1", None, "Node numbers of all rows, one list after the other.", "faultsim", 0.0),
)

#: What `Result.events` holds, one row per event, in the order in which they happened.
EVENTS: tuple[Column, ...] = (
    Column("time", "f8", "s", None, "When it happened.", "faultsim", 0.0),
    Column("kind", "i1", "1", None, "Kind of event, see `EventKind`.", "faultsim", 0.0),
    Column("job", "i4", "1", -1.0, "Row of the job in the workload.", "faultsim", 0.0),
    Column("node", "i4", "1", -1.0, "Node that failed or was repaired.", "faultsim", 0.0),
)

#: What `WorkflowResult.jobs` holds, one row per job, workflow by workflow.
WORKFLOW_RESULTS: tuple[Column, ...] = (
    Column("workflow", "i4", "1", None, "Number of the workflow, from 0.", "faultsim", 0.0),
    Column("job", "i4", "1", None, "Number of the job in its workflow.", "faultsim", 0.0),
    Column("node", "i4", "1", None, "Node that completed it.", "[yu2010] section 4.B", 0.0),
    Column("start", "f8", "s", None, "When it was last put there, before its transfers.", "[yu2010] section 4.B", 0.0),
    Column("finish", "f8", "s", None, "When it was done.", "[yu2010] section 4.B", 0.0),
    Column("kills", "i4", "1", None, "Number of times that a failure killed it.", "[yu2010] section 5.C", 0.0),
)

#: What `WorkflowResult.decisions` holds, one row each time a job is put on a node, in order.
DECISIONS: tuple[Column, ...] = (
    Column("time", "f8", "s", None, "When it was decided.", "[yu2010] Figures 7 and 8", 0.0),
    Column("workflow", "i4", "1", None, "Number of the workflow.", "[yu2010] Figures 7 and 8", 0.0),
    Column("job", "i4", "1", None, "Number of the job in its workflow.", "[yu2010] Figures 7 and 8", 0.0),
    Column("node", "i4", "1", None, "Node that it is put on.", "[yu2010] Figures 7 and 8", 0.0),
    Column("asked", "i4", "1", None, "Nodes asked about, including this one.", "[yu2010] Figures 7 and 8", 0.0),
    Column("begin", "f8", "s", None, "When its inputs have arrived.", "[yu2010] section 4.B", 0.0),
    Column("finish", "f8", "s", None, "When it will be done if nothing fails.", "[yu2010] section 4.B", 0.0),
)

#: What `WorkflowResult.events` holds, one row per event, in the order in which they happened.
WORKFLOW_EVENTS: tuple[Column, ...] = (
    Column("time", "f8", "s", None, "When it happened.", "faultsim", 0.0),
    Column("kind", "i1", "1", None, "Kind of event, see `WorkflowEventKind`.", "faultsim", 0.0),
    Column("workflow", "i4", "1", -1.0, "Workflow that arrived, or that the job belongs to.", "faultsim", 0.0),
    Column("job", "i4", "1", -1.0, "Number of the job in its workflow.", "faultsim", 0.0),
    Column("node", "i4", "1", -1.0, "Node of the job, or that failed or was repaired.", "faultsim", 0.0),
)

#: Every table, by name.
TABLES: dict[str, tuple[Column, ...]] = {
    "workload": WORKLOAD,
    "failures": FAILURES,
    "workflow jobs": WORKFLOW_JOBS,
    "workflow edges": WORKFLOW_EDGES,
    "jobs": JOBS,
    "allocations": ALLOCATIONS,
    "cluster allocations": CLUSTER_NODES,
    "events": EVENTS,
    "workflow results": WORKFLOW_RESULTS,
    "decisions": DECISIONS,
    "workflow events": WORKFLOW_EVENTS,
}


def by_name(table: tuple[Column, ...]) -> dict[str, Column]:
    """The columns of a table by their names.

    Examples
    --------
    >>> list(by_name(EVENTS))
    ['time', 'kind', 'job', 'node']
    """
    return {column.name: column for column in table}


def read_only(values: Values) -> Values:
    """Mark an array that has no other owner as read-only, and return it.

    Examples
    --------
    >>> read_only(np.zeros(2)).flags.writeable
    False
    """
    values.setflags(write=False)
    return values


def content_hash(columns: Mapping[str, Values], first: bytes = b"") -> str:
    """Hash of named columns, after what comes `first`: the same on every machine for equal values.

    Examples
    --------
    >>> a = content_hash({"node": np.array([1, 2])})
    >>> a == content_hash({"node": np.array([1, 2])}), len(a)
    (True, 32)
    """
    from hashlib import blake2b

    state = blake2b(first, digest_size=16)
    for name, values in columns.items():
        if values.dtype.kind == "U":  # however wide it is kept
            values = np.array(values.tolist(), dtype=np.str_)
        kind = values.dtype.newbyteorder("<")
        state.update(f"{name} {kind.str} {len(values)};".encode())
        state.update(np.ascontiguousarray(values, dtype=kind).tobytes())
    return state.hexdigest()


def _plain(values: object, column: Column) -> Values:
    """One dimension of plain numbers as NumPy reads them; anything else is an `InputError`."""
    checks.refuse_masked(column.name, values)
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(f"{column.name}: expected a one-dimensional array of numbers, got a ragged list") from error
    if array.ndim != 1:
        raise InputError(f"{column.name}: expected one dimension, got {array.ndim} (shape {array.shape})")
    if column.unit == "s":
        array = in_seconds(values, array)
    if array.dtype.kind == "m" and array.size:  # of months, of no unit, or of no time
        raise InputError(f"{column.name}, row 0: {array[0]!r} is not a number")
    if array.dtype.kind not in "iufb" and array.size:
        for row, value in enumerate(values if isinstance(values, list | tuple) else array.tolist()):
            if not isinstance(value, int | float) and (column.unit != "s" or checks.seconds(value) is None):
                raise InputError(f"{column.name}, row {row}: {value!r} is not a number")
        try:
            array = array.astype("f8")  # Python integers that fit no NumPy integer, or an object array of plain numbers
        except OverflowError:
            raise InputError(f"{column.name}: a whole number is too large for any column") from None
    return array


def in_seconds(values: object, array: Values) -> Values:
    """An array with its durations, text such as "2h" too, as seconds; unchanged where something in it is none.

    Parameters
    ----------
    values : array_like
        What it was made of: NumPy makes text of a number that stands beside text.
    array : numpy.ndarray
        What NumPy made of it.

    Examples
    --------
    >>> in_seconds(["2h", 60], np.array(["2h", 60]))
    array([7200.,   60.])
    """
    if array.dtype.kind == "m":
        try:
            has_unit = np.datetime_data(array.dtype)[0] != "generic"
            return array / np.timedelta64(1, "s") if has_unit else array
        except TypeError:  # months or years
            return array
    if array.dtype.kind not in "OUT":
        return array
    rows: Sequence[object] = values if isinstance(values, list | tuple) and array.ndim == 1 else array.ravel().tolist()
    found = [checks.seconds(each) for each in rows]
    for each, length in zip(rows, found, strict=True):
        if isinstance(each, str) and length is not None and length < 0:
            raise InputError(f"a duration is 0 or more, got {each!r}")
    if all(each is None for each in found):
        return array
    mixed = [each if length is None else length for each, length in zip(rows, found, strict=True)]
    plain = all(isinstance(each, int | float) for each in mixed)
    return np.array(mixed, dtype="f8").reshape(array.shape) if plain else array


def as_column(values: object, column: Column, *, length: int | None = None) -> Values:
    """Check values against their column and return a contiguous, read-only copy with the column's type.

    Parameters
    ----------
    values : array_like, one-dimensional
        The values, in `column.unit`.
    column : Column
        What they have to be.
    length : int, optional
        Number of rows that the table has.

    Returns
    -------
    numpy.ndarray
        A copy of type `column.dtype`, independent of the caller's array.

    Raises
    ------
    InputError
        Wrong length, NaN or infinite, not a whole number where one is required, below the smallest valid value, too
        large for the type, or a time beyond the end of the clock.  The message names column, row and value.

    Examples
    --------
    >>> as_column([4, 8], by_name(WORKLOAD)["size"])
    array([4, 8], dtype=int32)
    >>> as_column([4, 2.5], by_name(WORKLOAD)["size"])
    Traceback (most recent call last):
    ...
    faultsim.errors.InputError: size, row 1: 2.5 is not a whole number
    """
    array = _plain(values, column)
    if length is not None and len(array) != length:
        raise InputError(f"{column.name}: {checks.count(len(array), 'values')} for {checks.count(length, 'rows')}")
    if array.dtype.kind == "f":
        right = np.isfinite(array)
        if column.endless:
            right |= array == np.inf
        _refuse(~right, array, column, "is not a finite number")
    if column.minimum is not None:
        low = array < column.minimum
        if column.missing is not None and low.any():
            low &= array != column.missing
        else_missing = "" if column.missing is None else f", or {column.missing:g} where it is missing"
        what = "is negative" if column.minimum == 0 else f"is less than {column.minimum:g}"
        expected = f"expected at least {column.minimum:g}{else_missing}"
        _refuse(low, array, column, f"{what}; {expected}")
    if column.clock:
        late = array > checks.LATEST
        if column.endless and array.dtype.kind == "f":
            late &= np.isfinite(array)
        if late.any():
            _refuse(late, array, column, checks.beyond_the_clock(float(array[int(np.argmax(late))])))
    kind = np.dtype(column.dtype)
    if kind.kind == "i" and array.dtype.kind != "b" and array.dtype != kind:  # values of its own type fit
        if array.dtype.kind == "f":
            _refuse(array != np.floor(array), array, column, "is not a whole number")
        info = np.iinfo(kind)
        # 2.0**63 is one more than the largest int64, and a float64 compares exactly with it.
        too_large = (array >= 2.0 ** (8 * kind.itemsize - 1)) if array.dtype.kind == "f" else array > info.max
        _refuse(too_large | (array < info.min), array, column, f"does not fit into {kind.name}")
    column_values = np.array(array, dtype=kind, order="C")
    if kind.kind == "f":
        column_values += 0.0  # -0.0 becomes 0.0, so that equal columns have equal bytes
    return read_only(column_values)


def _refuse(bad: Flags, values: Values, column: Column, why: str) -> None:
    """Raise for the first bad row, if there is one."""
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"{column.name}, row {row}: {_show(values[row])} {why}")


def _show(value: object) -> str:
    number = value.item() if isinstance(value, np.generic) else value
    if isinstance(number, float) and number.is_integer() and abs(number) < 1e15:
        return str(int(number))
    return repr(number)


def check_order(values: Values, column: Column) -> None:
    """Raise `InputError` if a column decreases.

    Examples
    --------
    >>> check_order(np.array([0.0, 5.0, 4.0]), by_name(WORKLOAD)["submit"])
    Traceback (most recent call last):
    ...
    faultsim.errors.InputError: submit, row 2: 4 is less than 5 in the row before; sort the rows by submit first
    """
    down = values[1:] < values[:-1]
    if down.any():
        row = int(np.argmax(down)) + 1
        raise InputError(
            f"{column.name}, row {row}: {_show(values[row])} is less than {_show(values[row - 1])} in the row before; "
            f"sort the rows by {column.name} first"
        )


def check_columns(table: Mapping[str, Values], columns: tuple[Column, ...]) -> dict[str, Values]:
    """Check a whole table: every column is present, has the same length, and is as its `Column` says.

    Parameters
    ----------
    table : mapping of str to array
        Column name to values.
    columns : tuple of Column
        What the table has to hold.

    Returns
    -------
    dict of str to numpy.ndarray
        Checked, read-only copies in the order of `columns`.

    Raises
    ------
    InputError
        As `as_column`, and for a missing column.

    Examples
    --------
    >>> list(check_columns({"time": [0.0], "kind": [5], "job": [0], "node": [-1]}, EVENTS))
    ['time', 'kind', 'job', 'node']
    """
    checked: dict[str, Values] = {}
    length: int | None = None
    for column in columns:
        if column.name not in table:
            raise InputError(f"{column.name}: column missing; expected {', '.join(c.name for c in columns)}")
        checked[column.name] = as_column(table[column.name], column, length=length)
        length = len(checked[column.name])
    return checked
