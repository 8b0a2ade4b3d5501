"""What happened between two decisions; the contract is in changes.pxd."""

from libc.stdint cimport int32_t, int64_t

import numpy as np

from faultsim._core.state cimport (
    EV_CHANGE, EV_FAILURE, EV_FINISH, EV_MOVE, EV_RESCHEDULE, EV_START, EV_WITHDRAWAL, record_event_t, record_stay_t,
    sim_t, timed_out,
)
from faultsim._core.tables.machine cimport range_t


cdef list where_of(const sim_t *s, int64_t stay):
    """The nodes of a stay, on a torus the numbers of the boxes of its place."""
    cdef const record_stay_t *at = &s.record.stay[stay]
    cdef const range_t *part
    cdef int64_t i, end, box = stay
    if s.machine.boxes:
        found = []
        while box < s.record.n_stays and s.record.stay[box].first == stay:
            found += [s.record.stay[box].place.part[i] for i in range(6)]
            box += 1
        return found
    end = s.record.stay[stay + 1].first if stay + 1 < s.record.n_stays else s.record.n_ranges
    found = []
    for i in range(at.first, end):
        part = &s.record.range[i]
        found += range(part.first, part.first + part.count)
    return found


cdef Changes changes_since(const sim_t *s, const int32_t *row, int64_t event, int64_t stay):
    cdef Changes found = Changes.__new__(Changes)
    cdef const record_event_t *e
    cdef int64_t i
    found.rows = []
    for i in range(event, s.record.n_events):
        e = &s.record.event[i]
        where = []
        if e.kind == EV_START or e.kind == EV_MOVE:
            kind = "started" if e.kind == EV_START else "moved"
            where = where_of(s, stay)
            stay += len(where) // 6 if s.machine.boxes else 1
        elif e.kind == EV_FINISH:
            kind = "ended"
            if timed_out(s, e.job):
                kind = "timed out"
        elif e.kind == EV_WITHDRAWAL:
            kind = "withdrawn"
        elif e.kind == EV_CHANGE:
            kind = "changed"
        elif (e.kind == EV_FAILURE or e.kind == EV_RESCHEDULE) and e.job >= 0:
            kind = "killed"
        else:
            continue
        found.rows.append((kind, e.job if row == NULL else row[e.job], e.time, where))
    return found


cdef class Changes:
    """What happened since the last decision, in its order: jobs that started, ended, timed out, were killed, moved,
    withdrawn or changed.

    ``timed out`` is a job that ``overrun="kill"`` ended at its estimate; ``killed`` one that a failure, the
    rescheduling or the caller stopped, and that waits again; ``withdrawn`` one that ended without a run; ``changed``
    one with other requests from now on.

    Attributes
    ----------
    rows : list of (kind, index, time, nodes)
        The row of the job in the user's log, seconds, and of jobs that started or moved the nodes, on a torus the six
        numbers of each box.
    """

    def __init__(self):
        raise TypeError("changes come from Decision.changes")

    def __len__(self):
        return len(self.rows)

    def __iter__(self):
        return iter(self.rows)

    def tolist(self):
        """The rows."""
        return list(self.rows)

    @property
    def kind(self):
        """What happened to each, as a list of words."""
        return [row[0] for row in self.rows]

    @property
    def index(self):
        """Rows of the jobs (int32)."""
        return np.array([row[1] for row in self.rows], np.int32)

    @property
    def time(self):
        """When (s)."""
        return np.array([row[2] for row in self.rows], np.float64)

    @property
    def nodes(self):
        """The nodes of all rows, one after another (int32): those of row i are at ``offsets[i]:offsets[i + 1]``."""
        return np.array([node for row in self.rows for node in row[3]], np.int32)

    @property
    def offsets(self):
        """Where the nodes of each row begin (int64, one more than there are rows)."""
        return np.cumsum([0] + [len(row[3]) for row in self.rows], dtype=np.int64)

    @property
    def intervals(self):
        """The nodes of each row as text: "0-4 6 8"."""
        return [intervals_of(row[3]) for row in self.rows]


def intervals_of(nodes):
    """Ascending numbers as text, "0-4 6 8".

    Examples
    --------
    >>> intervals_of([0, 1, 2, 6, 8, 9])
    '0-2 6 8-9'
    """
    runs = []
    run = None
    for node in nodes:
        if run is not None and node == run[1] + 1:
            run[1] = node
        else:
            run = [node, node]
            runs.append(run)
    return " ".join([str(first) if first == last else f"{first}-{last}" for first, last in runs])
