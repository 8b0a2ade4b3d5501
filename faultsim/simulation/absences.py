"""Reservations of a run: checked, and as the engines read them (model.md#absences)."""

import numpy as np

from faultsim.arrays import Integers, Values
from faultsim.data.world import AbsenceRows
from faultsim.errors import InputError
from faultsim.simulation.options import RunOptions


def check_absences(run: RunOptions) -> None:
    """Reject reservations of nodes that the machine does not have."""
    for each in run.reservations or ():
        each.node_numbers(run.machine)


def absence_rows(run: RunOptions) -> AbsenceRows | None:
    """What the engines read; None without reservations."""
    if not run.reservations:
        return None
    given = run.reservations
    nodes = [each.node_numbers(run.machine) for each in given]
    permits = [[False] * len(given)] + [[user in (each.users or ()) for each in given] for user in _named(run)]
    return AbsenceRows(
        begin=np.array([each.begin for each in given]),
        end=np.array([each.end for each in given]),
        every=np.array([each.every or 0.0 for each in given]),
        first=np.cumsum([0, *map(len, nodes)]).astype(np.int64),
        node=np.concatenate(nodes).astype(np.int32),
        kills=np.array([each.overrun == "kill" for each in given], bool),
        permits=np.array(permits, bool),
        names=tuple(each.name for each in given),
    )


def user_groups(run: RunOptions, users: Values, *, more: bool) -> Integers | None:
    """The group of users that each row of a log is in: 0, or one more than the place of its user among those named.

    None if no reservation is for users.  `more`: jobs of other users may come later.

    Raises
    ------
    InputError
        If a reservation is for users, and no job has one.
    """
    named = _named(run)
    if not named:
        return None
    if (users < 0).all() and not more:
        raise InputError(
            f"{next(each for each in run.reservations if each.users)!r} is for users, and the log has no users: leave "
            f"users= out, or give the log a column 'user'"
        )
    return np.where(np.isin(users, named), np.searchsorted(named, users) + 1, 0).astype(np.int32)


def _named(run: RunOptions) -> list[int]:
    """The users whom reservations are for, ascending."""
    return sorted({user for each in run.reservations for user in each.users or ()})
