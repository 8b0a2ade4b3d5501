"""Reservations under `Slurm`: jobs run in the one that their column ``reservation`` names."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from faultsim.arrays import Floats, Integers
from faultsim.data.workload import Workload
from faultsim.data.world import AbsenceRows
from faultsim.errors import InputError, NotAvailableError, OptionError
from faultsim.machines import Machine
from faultsim.machines.reservation import Reservation
from faultsim.reference.slurm.state import Booked, Reserved

#: Begins and ends of each reservation that may follow each other without a start before nothing more is expected.
MOST_EDGES = 4


class SlurmReservations:
    """The reservations of a run, and the jobs that name them (model.md#slurm-reservations).

    Parameters
    ----------
    given : sequence of Reservation
        Those of the run.
    log : Workload
        The user's log.

    Raises
    ------
    InputError
        A job names a reservation that is for other users.
    OptionError
        Jobs name a reservation, and there are two of its name.
    NotAvailableError
        ``overrun="kill"``.

    Attributes
    ----------
    until : numpy.ndarray of float64 or None
        Of each row, when its reservation is over for good; None without reservations.
    """

    def __init__(self, given: Sequence[Reservation], log: Workload) -> None:
        self._given = given
        self._of = np.full(len(log), -1, np.int32)
        self.until: Floats | None = None
        if not given:
            return
        for each in given:
            if each.overrun == "kill":
                raise NotAvailableError(
                    f"{each!r}: Slurm kills no job at the begin of a reservation: leave overrun= out; jobs whose time "
                    f"limit reaches into it do not start before it"
                )
        numbers = {each.name: at for at, each in enumerate(given) if each.name}
        texts = [str(text) for text in log.columns["reservation"].tolist()] if "reservation" in log.further else []
        counts = Counter(each.name for each in given)
        for row, name in enumerate(texts):
            at = numbers.get(name, -1)
            if at < 0:
                continue
            if counts[name] > 1:
                raise OptionError(
                    f"job {log.id[row]} names the reservation {name!r}, and {counts[name]} have this name"
                )
            users = given[at].users
            if users is not None and int(log.user[row]) not in users:
                raise InputError(
                    f"job {log.id[row]} of user {log.user[row]} names the reservation {name!r}, which is for the users "
                    f"{', '.join(map(str, users))}: Slurm refuses such a job"
                )
            self._of[row] = at
        over = np.array([math.inf if each.every else math.ceil(each.end) if each.end < math.inf else math.inf
                         for each in given] + [math.inf])  # fmt: skip
        self.until = over[self._of]

    def name(self, row: int) -> str:
        """The reservation of a job, as the controller knows it; "" for none."""
        at = int(self._of[row])
        return "" if at < 0 else _known_as(at)

    def booked(self, machine: Machine, place: Mapping[int, int]) -> list[Booked]:
        """As the controller takes them; `place` has the controller's number of each node."""
        named = set(self._of.tolist())
        found = []
        for at, each in enumerate(self._given):
            nodes = frozenset(place[number] for number in each.node_numbers(machine).tolist())
            closed = each.users is None and at not in named
            first = Reserved(_known_as(at), nodes, each.begin, each.end, closed, each.nodes == "all")
            found.append(Booked(first, each.every or 0.0))
        return found

    def absences(self, rows: AbsenceRows) -> AbsenceRows:
        """What an engine is to know: nodes are open to the jobs that name their reservation."""
        count = len(self._given)
        return replace(rows, permits=np.concatenate([np.zeros((1, count), bool), np.eye(count, dtype=bool)]))

    @property
    def groups(self) -> Integers:
        """The row of those permits that each job has: 0, or one more than the number of its reservation."""
        return self._of + np.int32(1)


def next_edge(booked: Sequence[Booked], now: float) -> float:
    """The first begin or end of a reservation after now."""
    return min((each.next_edge(now) for each in booked), default=math.inf)


def _known_as(at: int) -> str:
    return f"reservation {at}"
