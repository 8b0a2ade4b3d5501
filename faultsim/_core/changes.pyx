"""What happened between two decisions; the contract is in changes.pxd."""

from libc.stdint cimport int32_t, int64_t

import numpy as np

from faultsim._core.state cimport (
    EV_ARRIVAL, EV_CHANGE, EV_CHECKPOINT, EV_CONTINUED, EV_DRAINED, EV_FAILURE, EV_FINISH, EV_HELD, EV_KILLED, EV_MOVE,
    EV_ON_HOLD, EV_PART_DOWN, EV_PART_FAILED, EV_PART_UP, EV_RELEASED, EV_REPAIR, EV_REQUEUED, EV_RESCHEDULE,
    EV_RESUMED, EV_START, EV_WITHDRAWAL, log_row, record_event_t, record_stay_t, record_t, sim_t, timed_out,
    was_killed,
)
from faultsim._core.tables.machine cimport range_t


cdef list where_of(const sim_t *s, int64_t stay):
    """The nodes of a stay, on a torus the numbers of the boxes of its place."""
    cdef const record_t *r = &s.record
    cdef const record_stay_t *at = &r.stay[stay - r.from_stay]
    cdef const range_t *part
    cdef int64_t i, end, box = stay
    if s.machine.boxes:
        found = []
        while box < r.n_stays and r.stay[box - r.from_stay].first == stay:
            found += [r.stay[box - r.from_stay].place.part[i] for i in range(6)]
            box += 1
        return found
    end = r.stay[stay + 1 - r.from_stay].first if stay + 1 < r.n_stays else r.n_ranges
    found = []
    for i in range(at.first, end):
        part = &r.range[i - r.from_range]
        found += range(part.first, part.first + part.count)
    return found


#: Words of the records that stand for one row each; starts, ends, and failures are more.
_WORDS = {
    <int>EV_ARRIVAL: "submitted", <int>EV_CHECKPOINT: "checkpointed", <int>EV_KILLED: "killed",
    <int>EV_REQUEUED: "requeued", <int>EV_HELD: "held", <int>EV_CONTINUED: "continued", <int>EV_ON_HOLD: "on hold",
    <int>EV_RELEASED: "released", <int>EV_WITHDRAWAL: "withdrawn", <int>EV_CHANGE: "changed",
    <int>EV_FAILURE: "down", <int>EV_REPAIR: "up",
    <int>EV_PART_DOWN: "part down", <int>EV_PART_UP: "part up", <int>EV_DRAINED: "drained", <int>EV_RESUMED: "resumed",
}
#: What killed a job, by `kill_cause`.
_CAUSES = ("failure", "preemption", "rescheduling", "act", "withdrawal", "reservation")


cdef str part_text(int32_t packed):
    """A part of a node as failure traces name it (`packed_part`)."""
    return ("cores:{}", "memory:{}M", "gpus:{}")[packed % 4].format(packed // 4)


cdef Changes changes_since(const sim_t *s, int64_t event, int64_t stay):
    cdef Changes found = Changes.__new__(Changes)
    cdef const record_event_t *e
    cdef int64_t i
    cdef int32_t job, fallen = -1        # the node of a failure that has its row
    cdef double at = 0.0
    cdef bint of_part = False            # failures and repairs from here on are of a part
    found.rows, found.cause, found.part = [], [], []
    for i in range(event, s.record.n_events):
        e = &s.record.event[i - s.record.from_event]
        job, where, cause, part = e.job, [], "", ""
        if e.kind == EV_START or e.kind == EV_MOVE:
            kind = "started" if e.kind == EV_START else "moved"
            where = where_of(s, stay)
            stay += len(where) // 6 if s.machine.boxes else 1
        elif e.kind == EV_FINISH:
            if was_killed(s, job):
                continue                 # it has the row of its kill
            kind = "timed out" if timed_out(s, job) else "ended"
        elif e.kind == EV_RESCHEDULE:
            continue                     # so has this one
        elif of_part and (e.kind == EV_FAILURE or e.kind == EV_REPAIR):
            of_part = e.kind == EV_FAILURE
            continue                     # it has the row of its part
        elif e.kind == EV_PART_FAILED or (e.kind == EV_PART_DOWN and job < 4):
            of_part = e.kind == EV_PART_DOWN
            continue                     # none of it goes down
        else:
            kind = _WORDS[e.kind]
            if e.kind == EV_PART_DOWN or e.kind == EV_PART_UP:
                job, where, part, of_part = -1, [e.node], part_text(e.job), True
            elif e.kind == EV_KILLED:
                cause = _CAUSES[e.node]
            elif e.kind == EV_FAILURE or e.kind == EV_REPAIR or e.kind == EV_DRAINED or e.kind == EV_RESUMED:
                # On a node that jobs share a failure has a record for each.
                if e.kind == EV_FAILURE and e.node == fallen and e.time == at:
                    continue
                if e.kind == EV_FAILURE:
                    fallen, at = e.node, e.time
                elif e.kind == EV_REPAIR and e.node == fallen:
                    fallen = -1
                job, where = -1, [e.node]
        found.rows.append((kind, job if job < 0 else log_row(s, job), e.time, where))
        found.cause.append(cause)
        found.part.append(part)
    return found


cdef class Changes:
    """What happened since the last decision, in its order, from which a twin of the machine can be kept
    (model.md#changes).

    Of jobs: ``submitted`` (it enters the queue), ``started``, ``moved``, ``checkpointed`` (at a request), ``ended``,
    ``timed out`` (``overrun="kill"`` ended it at its estimate), ``killed`` with its cause, and after that ``requeued``
    (it waits again) or ``held`` (it keeps its nodes until they are repaired) and later ``continued``, or neither, if
    it was killed for good; ``on hold``, ``released``, ``withdrawn`` (it ended without a run) and ``changed`` (it
    has other requests).  Of nodes: ``down`` (a failure), ``up``, ``part down`` and ``part up`` (of parts of
    nodes that fail), ``drained`` and ``resumed``.

    Attributes
    ----------
    rows : list of (kind, index, time, nodes)
        The row of the job in the user's log, of nodes -1; seconds; and of jobs that started or moved their nodes, on a
        torus the six numbers of each box; of changes of nodes that node.
    cause : list of str
        Of each row that is a kill: ``failure``, ``preemption``, ``rescheduling``, ``act``, ``withdrawal`` or
        ``reservation``; else empty.
    part : list of str
        Of each row ``part down`` or ``part up`` how much of the node, as ``gpus:1``; else empty.

    Examples
    --------
    >>> import faultsim as fs
    >>> log = fs.Workload(submit=[0], runtime=[10], size=[2])
    >>> trace = fs.FailureTrace(time=[4], node=[0], downtime=[0], span=10)
    >>> sim = fs.Simulation(log, fs.Cluster(2), failures=trace, recovery=fs.Requeue(), record=True)
    >>> changes = sim.advance(until=4).changes
    >>> changes.kind
    ['submitted', 'started', 'killed', 'requeued', 'down', 'started']
    >>> changes.cause[2]
    'failure'
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
        """Rows of the jobs (int32); -1: a change of a node."""
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
