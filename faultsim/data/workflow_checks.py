"""What a `Workflow` is made of, checked."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from faultsim import checks
from faultsim.arrays import Values
from faultsim.data.columns import WORKFLOW_JOBS, as_column, read_only
from faultsim.errors import InputError, OptionError

(_COST,) = WORKFLOW_JOBS
#: One number per job, or one for each of its nodes.
Costs: TypeAlias = checks.Durations | Sequence[Sequence[checks.Duration]]
_MAX_JOBS = 2**31 - 1  # job numbers are int32


def checked_cost(cost: Costs) -> Values:
    """As one number per job, or rows of them; `InputError` names the job and the node."""
    if isinstance(cost, list | tuple):
        checks.refuse_masked("cost", cost)
    try:
        given = np.asarray(cost)
    except ValueError:
        raise InputError("cost: expected one number per job or rows of equal length, got a ragged list") from None
    if given.ndim not in (1, 2):
        raise InputError(f"cost: expected shape (jobs,) or (jobs, nodes), got {given.shape}")
    if not given.size:
        raise InputError(f"cost: a workflow has at least one job and one node, got shape {given.shape}")
    if len(given) > _MAX_JOBS:
        raise InputError(f"cost: {len(given):,} jobs; at most {_MAX_JOBS:,}")
    try:
        flat = as_column(given.reshape(-1) if given.ndim == 2 else cost, _COST)
    except InputError as error:
        text = str(error)
        place, colon, rest = text.partition(": ")
        row = place.removeprefix("cost, row ")
        if not row.isdecimal():
            raise
        job, node = divmod(int(row), given.shape[1]) if given.ndim == 2 else (int(row), None)
        where = f"cost, job {job}" + ("" if node is None else f", node {node}")
        raise InputError(f"{where}{colon}{rest}") from None
    return read_only(flat.reshape(given.shape))


def checked_labels(labels: Sequence[str] | None, jobs: int) -> tuple[str, ...] | None:
    """A name for each job, no two alike."""
    if labels is None:
        return None
    names = tuple(map(str, labels))
    if len(names) != jobs:
        raise InputError(f"labels: {len(names)} for {jobs} jobs")
    if len(set(names)) < jobs:
        seen: set[str] = set()
        again = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise InputError(f"labels: {again!r} appears twice; give each job its own")
    return names


def checked_submit(submit: checks.Duration) -> float:
    """In seconds."""
    try:
        return checks.number("submit", submit, low=0.0, unit="s") + 0.0
    except OptionError as error:  # a time of the input, not an option
        raise InputError(str(error)) from None
