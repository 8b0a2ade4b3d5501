"""The engine of workflows: its Python border.

One ``with nogil`` a call.  Status codes from below become exceptions here, and nowhere else.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int8_t, int32_t, int64_t
from libc.string cimport memset

import numpy as np

from faultsim.errors import BusyError, DecisionError, EngineError

from faultsim._core.contract cimport FAULTSIM_DEBUG, FS_VERIFY_EVERY
from faultsim._core.door cimport Door
from faultsim._core.inputs cimport input_column
from faultsim._core.status cimport BROKEN, DONE, NO_MEMORY, OK, STUCK
from faultsim._core.tables.factory cimport call_factory
from faultsim._core.workflow.run cimport workflow_instant, workflow_next
from faultsim._core.workflow.state cimport (
    by_node_fill, kept_t, workflow_alloc, workflow_broken, workflow_free, workflow_ranks, workflow_t,
)


cdef int loop(workflow_t *s, int64_t budget) noexcept nogil:
    """Run until all is done (DONE), or `budget` events and looks were made (OK)."""
    # What an event takes goes by the jobs that its pass tries, and by the free nodes.
    cdef int64_t limit = (s.n_events + s.n_looks) + budget, look = s.n_events + FS_VERIFY_EVERY
    cdef int code
    while s.n_events + s.n_looks < limit:
        if FAULTSIM_DEBUG and s.n_events >= look:
            look = s.n_events + FS_VERIFY_EVERY
            if workflow_broken(s) != NULL:
                return BROKEN
        code = workflow_instant(s, workflow_next(s))
        if code != OK:
            return code
    return OK


def _inverse(order):
    place = np.empty_like(order)
    place[order] = np.arange(len(order), dtype=order.dtype)
    return place


def _by_rank(rank):
    """Jobs by rank, ascending and descending, those of one rank by number."""
    order = np.argsort(rank)             # of any kind: the fastest, which leaves ties in any order
    ranks = rank[order]
    new = ranks[1:] != ranks[:-1]
    if new.all():
        return order.astype(np.int32), order[::-1].astype(np.int32)
    place = np.append(0, np.cumsum(new))         # among the different ranks
    turns = place, place[len(place) - 1] - place         # there are no negative indices here, not even of objects
    return [(np.sort(turn << 32 | order) & 0xFFFFFFFF).astype(np.int32) for turn in turns]


cdef class WorkflowEngine:
    """A simulation of the tables under the settings (see ``faultsim.simulation.core_engine``, its only user)."""

    cdef bint endless        # some down time does not end
    cdef workflow_t s
    cdef bint ready
    cdef Door door           # one thread at a time
    cdef bint failed
    cdef dict columns
    cdef dict arrays         # "kept": those that the pointers of `s` point into

    def __cinit__(self):
        memset(&self.s, 0, sizeof(workflow_t))
        self.arrays = {"kept": []}
        self.door = Door(BusyError, "simulation")

    def __dealloc__(self):
        workflow_free(&self.s)

    def __init__(self, settings, tables, world, factory):
        cdef workflow_t *s = &self.s
        cdef int code
        if self.ready:
            raise RuntimeError("an engine is initialised once")
        s.moves.in_turn = settings.transfers == "in_turn"
        s.moves.shared = settings.outputs is not None
        s.moves.copy = settings.outputs or 0.0
        s.record.on = settings.record
        self.point_to_graph(tables)
        self.point_to_machine(tables)
        self.columns = {name: np.zeros(s.n, dtype) for name, dtype in (
            ("node", np.int32), ("start", np.float64), ("finish", np.float64), ("kills", np.int32))}
        s.job.node, s.job.kills = self.whole(self.columns["node"]), self.whole(self.columns["kills"])
        s.job.begun, s.job.finish = self.real(self.columns["start"]), self.real(self.columns["finish"])
        call_factory(factory, s, settings.scheduler, self.arrays)
        code = workflow_alloc(s)
        if code == OK:
            code = workflow_ranks(s)
        self.translate(code)
        self.set_orders(tables)
        self.set_world(world)
        self.ready = True

    cdef int32_t *whole(self, values) except NULL:
        """Where the engine finds an array that it keeps."""
        cdef const int32_t[::1] view = values
        self.arrays["kept"].append(values)
        return <int32_t *>&view[0]

    cdef double *real(self, values) except NULL:
        cdef const double[::1] view = values
        self.arrays["kept"].append(values)
        return <double *>&view[0]

    cdef object table_column(self, given, str name, dtype, Py_ssize_t rows, last):
        """A column; where it has no rows, one entry, so that there is a first one to point to."""
        return input_column(self.arrays, given, name, dtype, rows) if rows else np.array([last], dtype)

    cdef int point_to_graph(self, tables) except -1:
        cdef workflow_t *s = &self.s
        cdef const int64_t[::1] first, starts
        jobs, workflows = len(tables["predecessor_start"]) - 1, len(tables["arrival"])
        edges = len(tables["predecessor"])
        if jobs < 1 or workflows < 1:
            raise ValueError("there must be a workflow, and a job in it")
        s.n, s.workflows = jobs, workflows
        first = input_column(self.arrays, tables["first_job"], "first_job", np.int64, workflows + 1)
        if first[0] != 0 or first[workflows] != jobs or (np.diff(first) < 1).any():
            raise ValueError("first_job: every workflow has a job, and they follow each other")
        s.graph.first_job = &first[0]
        s.graph.arrival = self.real(input_column(self.arrays, tables["arrival"], "arrival", np.float64, workflows))
        for side in ("predecessor", "successor"):
            starts = input_column(self.arrays, tables[f"{side}_start"], f"{side}_start", np.int64, jobs + 1)
            job = self.table_column(tables[side], side, np.int32, edges, 0)
            size = self.table_column(tables[f"{side}_transfer"], f"{side}_transfer", np.float64, edges, 0.0)
            if starts[0] != 0 or starts[jobs] != edges or (np.diff(starts) < 0).any():
                raise ValueError(f"{side}_start: must ascend from 0 to the number of edges")
            if np.min(job) < 0 or np.max(job) >= jobs:
                raise ValueError(f"{side}: jobs must be in 0..{jobs - 1}")
            if side == "predecessor":
                s.graph.before_start, s.graph.before, s.graph.before_size = &starts[0], self.whole(job), self.real(size)
            else:
                s.graph.after_start, s.graph.after, s.graph.after_size = &starts[0], self.whole(job), self.real(size)
        return 0

    cdef int point_to_machine(self, tables) except -1:
        cdef workflow_t *s = &self.s
        nodes = len(tables["speed"])
        if nodes < 1:
            raise ValueError("there must be a node")
        s.nodes = nodes
        s.machine.speed = self.real(input_column(self.arrays, tables["speed"], "speed", np.float64, nodes))
        cost = np.ascontiguousarray(tables["cost"], dtype=np.float64)
        s.machine.per_node = cost.ndim == 2
        if cost.shape[0] != s.n or cost.ndim > 2 or cost.ndim == 2 and cost.shape[1] != s.nodes:
            raise ValueError(f"cost: expected one a job, or one a job and node, got shape {cost.shape}")
        s.machine.cost = self.real(cost.reshape(-1))
        links = np.asarray(tables["bandwidth"], dtype=np.float64, order="C")
        if links.ndim == 0:
            s.machine.bandwidth = links.item()
        elif links.ndim != 2 or links.shape[0] != s.nodes or links.shape[1] != s.nodes:
            raise ValueError(f"bandwidth: expected a number or one a pair of nodes, got shape {links.shape}")
        else:
            s.machine.links = self.real(links.reshape(-1))
        s.machine.alike = (
            not s.machine.per_node and s.machine.links == NULL and bool((tables["speed"] == tables["speed"][0]).all()))
        return 0

    cdef int set_orders(self, tables) except -1:
        """The order of arrivals, and those of the pool: places by rank, ties by job."""
        cdef workflow_t *s = &self.s
        s.arrivals = self.whole(np.argsort(tables["arrival"], kind="stable").astype(np.int32))
        if s.pool.fifo:
            return 0
        up, down = _by_rank(self.ranks())
        s.pool.down_job, s.pool.down_place = self.whole(down), self.whole(_inverse(down))
        if s.pool.ascending and s.workflows > 1:
            s.pool.up_job, s.pool.up_place = self.whole(up), self.whole(_inverse(up))
        return 0

    cdef int set_world(self, world) except -1:
        cdef workflow_t *s = &self.s
        cdef Py_ssize_t rows
        # Both tables have the same form: a node and two times per row, ascending.
        for what, first, second in (("failures", "time", "downtime"), ("predictions", "begin", "end")):
            table = getattr(world, what, None)
            rows = 0 if table is None else len(table.node)
            node, begin, end = [
                self.table_column(getattr(table, name, None), name, dtype, rows, last) for name, dtype, last in (
                    ("node", np.int32, 0), (first, np.float64, INFINITY), (second, np.float64, INFINITY))]
            if (np.diff(begin) < 0).any() or what == "predictions" and (np.diff(end) < 0).any():
                raise ValueError(f"the times of {what} must ascend")
            if np.min(node) < 0 or np.max(node) >= s.nodes:
                raise ValueError(f"nodes of {what} must be in 0..{s.nodes - 1}")
            if what == "failures":
                s.faults.n, s.faults.node = rows, self.whole(node)
                s.faults.time, s.faults.downtime = self.real(begin), self.real(end)
                self.endless = rows > 0 and np.isinf(end).any()
                code = by_node_fill(s, &s.faults.failing, s.faults.node, s.faults.time, s.faults.time, rows)
            else:
                s.faults.n_warned, s.faults.warned = rows, self.whole(node)
                s.faults.warned_from, s.faults.warned_until = self.real(begin), self.real(end)
                code = by_node_fill(
                    s, &s.faults.foreseen, s.faults.warned, s.faults.warned_from, s.faults.warned_until, rows)
                s.asks = s.asks and rows > 0
            self.translate(code)
        return 0

    cdef int translate(self, int code) except -1:
        """The one place where status codes become exceptions."""
        if code >= 0:
            return 0
        self.failed = True
        if code == NO_MEMORY:
            raise MemoryError("the engine of workflows ran out of memory")
        if code == STUCK and self.endless:
            raise DecisionError(
                f"deadlock: {self.s.n - self.s.n_done} jobs have not ended, none runs, and nothing else will happen: "
                "nodes do not return")
        if code == STUCK:
            raise EngineError("jobs wait, nothing runs and nothing will happen")
        if code == BROKEN:
            if self.ready:
                self.verify()        # raises with the name of the invariant
            raise EngineError("the edges of a workflow lead round in a circle, or an invariant does not hold")
        raise EngineError(f"unknown status {code}")

    # ------------------------------------------------------------------ running

    def run(self, budget=None):
        """Run at most `budget` events, or fewer where passes look at many nodes: "done" or "budget"."""
        cdef int64_t most = (1 << 62) if budget is None else budget
        cdef int code
        _inside = self.door.enter()
        if self.failed:
            raise EngineError("an exception broke this simulation off; it cannot go on, start again")
        with nogil:
            code = loop(&self.s, most)
        self.translate(code)
        return "done" if code == DONE else "budget"

    @property
    def now(self):
        """Time of the last instant handled, in seconds."""
        _inside = self.door.enter(True)
        return self.s.now

    @property
    def n_done(self):
        """Jobs that have ended."""
        _inside = self.door.enter(True)
        return self.s.n_done

    @property
    def n_looks(self):
        """Nodes read for a job so far, for tests of how work grows."""
        _inside = self.door.enter(True)
        return self.s.n_looks

    @property
    def n_events(self):
        """Events handled so far."""
        _inside = self.door.enter(True)
        return self.s.n_events

    def verify(self):
        """Check the invariants; EngineError names the broken one."""
        cdef const char *found
        _inside = self.door.enter(True)
        with nogil:
            found = workflow_broken(&self.s)
        if found != NULL:
            raise EngineError(found.decode())

    # ------------------------------------------------------------------ results

    def ranks(self):
        """The local rank of every job."""
        return np.array(<double[:self.s.n]>self.s.job.rank)

    def output(self):
        """The finished simulation's columns and counts, as documented in faultsim.simulate_workflows."""
        cdef workflow_t *s = &self.s
        _inside = self.door.enter(True)
        if s.n_done != s.n:
            raise RuntimeError(f"the simulation has not finished: {s.n_done} of {s.n} jobs have ended")
        out = dict(self.columns)
        out["decisions"] = self.decisions()
        out["loss_time"] = s.count.loss
        out["reschedulings"] = s.count.kills
        out["questions"] = (s.count.pass_asked, s.count.pass_right, s.count.node_asked, s.count.node_right)
        out["events"] = s.n_events
        if s.record.on:
            out["events_table"] = self.recorded_events()
        return out

    cdef object decisions(self):
        cdef const kept_t *r = &self.s.record
        cdef int64_t n = r.n_decisions, k
        cdef double[::1] time = np.empty(n), begin = np.empty(n), finish = np.empty(n)
        cdef int32_t[::1] job = np.empty(n, np.int32), node = np.empty(n, np.int32), asked = np.empty(n, np.int32)
        for k in range(n):
            time[k], begin[k], finish[k] = r.decision[k].time, r.decision[k].begin, r.decision[k].finish
            job[k], node[k], asked[k] = r.decision[k].job, r.decision[k].node, r.decision[k].asked
        return {"time": time.base, "job": job.base, "node": node.base, "asked": asked.base, "begin": begin.base,
                "finish": finish.base}

    cdef object recorded_events(self):
        cdef const kept_t *r = &self.s.record
        cdef int64_t n = r.n_events, k
        cdef double[::1] time = np.empty(n)
        cdef int8_t[::1] kind = np.empty(n, np.int8)
        cdef int32_t[::1] workflow = np.empty(n, np.int32), job = np.empty(n, np.int32), node = np.empty(n, np.int32)
        for k in range(n):
            time[k], kind[k], workflow[k] = r.event[k].time, r.event[k].kind, r.event[k].workflow
            job[k], node[k] = r.event[k].job, r.event[k].node
        return {"time": time.base, "kind": kind.base, "workflow": workflow.base, "job": job.base, "node": node.base}
