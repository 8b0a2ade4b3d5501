"""The engine of workflows: its Python border.

One ``with nogil`` a call.  Status codes from below become exceptions here, and nowhere else.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

import numpy as np

from faultsim._core.contract cimport FAULTSIM_DEBUG, FS_VERIFY_EVERY
from faultsim._core.inputs cimport column
from faultsim._core.status cimport BROKEN, DONE, NO_MEMORY, OK, STUCK
from faultsim._core.workflow.follow cimport follow_free, follow_init, follow_instant, follow_t
from faultsim._core.workflow.run cimport workflow_instant, workflow_next
from faultsim._core.workflow.state cimport (
    by_node_fill, decision_t, workflow_alloc, workflow_broken, workflow_event_t, workflow_free, workflow_ranks,
    workflow_t,
)

_SCHEDULERS = ("rank_hybd", "flaw", "fifo", "heft")


cdef int loop(workflow_t *s, follow_t *follow, int64_t budget) noexcept nogil:
    """Run until all is done (DONE), or `budget` events and looks were made (OK); by a plan, if there is one."""
    # What an event takes goes by the jobs that its pass tries, and by the free nodes.
    cdef int64_t limit = (s.n_events + s.n_looks) + budget, look = s.n_events + FS_VERIFY_EVERY
    cdef int code
    while s.n_events + s.n_looks < limit:
        if FAULTSIM_DEBUG and follow == NULL and s.n_events >= look:
            look = s.n_events + FS_VERIFY_EVERY
            if workflow_broken(s) != NULL:
                return BROKEN
        if follow == NULL:
            code = workflow_instant(s, workflow_next(s))
        else:
            code = follow_instant(s, follow, workflow_next(s))
        if code != OK:
            return code
    return OK


cdef class WorkflowEngine:
    """A simulation of the tables under the settings (see ``faultsim.simulate_workflows``, its only user)."""

    cdef object broken       # class of the exception for a broken engine
    cdef workflow_t s
    cdef follow_t follow
    cdef bint plans
    cdef bint ready
    cdef bint busy           # some thread is inside run()
    cdef bint failed
    cdef dict columns
    cdef dict arrays         # "kept": those that the pointers of `s` point into

    def __cinit__(self):
        memset(&self.s, 0, sizeof(workflow_t))
        memset(&self.follow, 0, sizeof(follow_t))
        self.arrays = {"kept": []}

    def __dealloc__(self):
        follow_free(&self.follow)
        workflow_free(&self.s)

    def __init__(self, settings, tables, world=None):
        cdef int code
        if self.ready:
            raise RuntimeError("an engine is initialised once")
        self.broken = settings.get("error", RuntimeError)
        self.set_rules(settings)
        self.point_to_graph(tables)
        self.point_to_machine(tables)
        self.point_to_results()
        code = workflow_alloc(&self.s)
        if code == OK:
            code = workflow_ranks(&self.s)
        if code == OK and self.plans:
            code = follow_init(&self.follow, &self.s)
        self.translate(code)
        self.set_orders()
        self.set_world(world or {})
        self.ready = True

    cdef int set_rules(self, settings) except -1:
        cdef workflow_t *s = &self.s
        scheduler = settings["scheduler"]
        if scheduler["name"] not in _SCHEDULERS:
            raise ValueError(f"unknown scheduler {scheduler['name']!r} of workflows")
        self.plans = scheduler["name"] == "heft"
        s.pool.fifo = scheduler["name"] == "fifo"
        s.pool.ascending = scheduler.get("across") == "ascending"
        s.asks = scheduler["name"] == "flaw" or scheduler.get("aware", False)
        s.moves.in_turn = settings["transfers"] == "in_turn"
        s.moves.shared = settings["outputs"] is not None
        s.moves.copy = settings["outputs"] or 0.0
        s.record.on = settings["record"]
        return 0

    cdef object keep(self, values):
        self.arrays["kept"].append(values)
        return values

    cdef int point_to_graph(self, tables) except -1:
        cdef workflow_t *s = &self.s
        cdef const int64_t[::1] first, starts
        cdef const double[::1] arrival, size
        cdef const int32_t[::1] job
        jobs, workflows = len(tables["predecessor_start"]) - 1, len(tables["arrival"])
        edges = len(tables["predecessor"])
        if jobs < 1 or workflows < 1:
            raise ValueError("there must be a workflow, and a job in it")
        s.n, s.workflows = jobs, workflows
        first = column(self.arrays, tables, "first_job", np.int64, workflows + 1)
        if first[0] != 0 or first[workflows] != jobs or (np.diff(first) < 1).any():
            raise ValueError("first_job: every workflow has a job, and they follow each other")
        s.graph.first_job = &first[0]
        arrival = column(self.arrays, tables, "arrival", np.float64, workflows)
        s.graph.arrival = &arrival[0]
        for side in ("predecessor", "successor"):
            starts = column(self.arrays, tables, f"{side}_start", np.int64, jobs + 1)
            # One entry more, so that there is a first one to point to.
            job = self.keep(np.append(column(self.arrays, tables, side, np.int32, edges), np.int32(0)))
            size = self.keep(np.append(column(self.arrays, tables, f"{side}_transfer", np.float64, edges), 0.0))
            if starts[0] != 0 or starts[jobs] != edges or (np.diff(starts) < 0).any():
                raise ValueError(f"{side}_start: must ascend from 0 to the number of edges")
            if edges and (np.min(job) < 0 or np.max(job) >= jobs):
                raise ValueError(f"{side}: jobs must be in 0..{jobs - 1}")
            if side == "predecessor":
                s.graph.before_start, s.graph.before, s.graph.before_size = &starts[0], &job[0], &size[0]
            else:
                s.graph.after_start, s.graph.after, s.graph.after_size = &starts[0], &job[0], &size[0]
        return 0

    cdef int point_to_machine(self, tables) except -1:
        cdef workflow_t *s = &self.s
        cdef const double[::1] flat
        nodes = len(tables["speed"])
        if nodes < 1:
            raise ValueError("there must be a node")
        s.nodes = nodes
        flat = column(self.arrays, tables, "speed", np.float64, nodes)
        s.machine.speed = &flat[0]
        cost = np.ascontiguousarray(tables["cost"], dtype=np.float64)
        s.machine.per_node = cost.ndim == 2
        if cost.shape[0] != s.n or cost.ndim > 2 or cost.ndim == 2 and cost.shape[1] != s.nodes:
            raise ValueError(f"cost: expected one a job, or one a job and node, got shape {cost.shape}")
        flat = self.keep(cost.reshape(-1))
        s.machine.cost = &flat[0]
        links = np.asarray(tables["bandwidth"], dtype=np.float64)
        if links.ndim == 0:
            s.machine.bandwidth = links.item()
        elif links.ndim != 2 or links.shape[0] != s.nodes or links.shape[1] != s.nodes:
            raise ValueError(f"bandwidth: expected a number or one a pair of nodes, got shape {links.shape}")
        else:
            flat = self.keep(np.ascontiguousarray(links).reshape(-1))
            s.machine.links = &flat[0]
        return 0

    cdef int point_to_results(self) except -1:
        cdef workflow_t *s = &self.s
        cdef int32_t[::1] whole
        cdef double[::1] real
        self.columns = {
            "node": np.zeros(s.n, np.int32), "start": np.zeros(s.n), "finish": np.zeros(s.n),
            "kills": np.zeros(s.n, np.int32),
        }
        whole = self.columns["node"]
        s.job.node = &whole[0]
        whole = self.columns["kills"]
        s.job.kills = &whole[0]
        real = self.columns["start"]
        s.job.begun = &real[0]
        real = self.columns["finish"]
        s.job.finish = &real[0]
        return 0

    cdef int set_orders(self) except -1:
        """The order of arrivals, and those of the pool: places by rank, ties by job."""
        cdef workflow_t *s = &self.s
        cdef int32_t[::1] view
        arrival = np.array([s.graph.arrival[i] for i in range(s.workflows)])
        view = self.keep(np.argsort(arrival, kind="stable").astype(np.int32))
        s.arrivals = &view[0]
        if s.pool.fifo:
            return 0
        rank = np.asarray(<double[:s.n]>s.job.rank)
        job = np.argsort(-rank, kind="stable").astype(np.int32)
        place = np.empty_like(job)
        place[job] = np.arange(s.n, dtype=np.int32)
        view = self.keep(job)
        s.pool.down_job = &view[0]
        view = self.keep(place)
        s.pool.down_place = &view[0]
        if s.pool.ascending and s.workflows > 1:
            job = np.argsort(rank, kind="stable").astype(np.int32)
            place = np.empty_like(job)
            place[job] = np.arange(s.n, dtype=np.int32)
            view = self.keep(job)
            s.pool.up_job = &view[0]
            view = self.keep(place)
            s.pool.up_place = &view[0]
        return 0

    cdef int set_world(self, world) except -1:
        cdef workflow_t *s = &self.s
        cdef const double[::1] begin, end
        cdef const int32_t[::1] node
        cdef int code
        cdef Py_ssize_t rows
        for what in ("failures", "predictions"):
            table = world.get(what) or {}
            rows = len(table["node"]) if table else 0
            begin, end, node = [
                self.keep(np.append(column(self.arrays, table, name, dtype, rows) if rows else [], last).astype(dtype))
                for name, dtype, last in (
                    ("time" if what == "failures" else "begin", np.float64, INFINITY),
                    ("downtime" if what == "failures" else "end", np.float64, INFINITY), ("node", np.int32, 0))
            ]
            if (np.diff(begin) < 0).any() or what == "predictions" and (np.diff(end) < 0).any():
                raise ValueError(f"the times of {what} must ascend")
            if rows and (np.min(node) < 0 or np.max(node) >= s.nodes):
                raise ValueError(f"nodes of {what} must be in 0..{s.nodes - 1}")
            if what == "failures":
                s.faults.time, s.faults.downtime, s.faults.node, s.faults.n = &begin[0], &end[0], &node[0], rows
                code = by_node_fill(s, &s.faults.failing, &node[0], &begin[0], &begin[0], rows)
            else:
                code = by_node_fill(s, &s.faults.foreseen, &node[0], &begin[0], &end[0], rows)
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
        if code == STUCK:
            raise self.broken("jobs wait, nothing runs and nothing will happen")
        if code == BROKEN:
            if self.ready:
                self.verify()        # says which
            raise self.broken("the edges of a workflow lead round in a circle, or an invariant does not hold")
        raise self.broken(f"unknown status {code}")

    # ------------------------------------------------------------------ running

    def run(self, budget=None):
        """Run at most `budget` events, or fewer where passes look at many nodes: "done" or "budget"."""
        cdef int64_t most = (1 << 62) if budget is None else budget
        cdef int code
        if self.busy or self.failed:
            raise self.broken("this simulation is running in another thread, or an exception broke it off")
        self.busy = True
        with nogil:
            code = loop(&self.s, &self.follow if self.plans else NULL, most)
        self.busy = False
        self.translate(code)
        return "done" if code == DONE else "budget"

    @property
    def now(self):
        """Time of the last instant handled, in seconds."""
        return self.s.now

    @property
    def n_done(self):
        """Jobs that have ended."""
        return self.s.n_done

    @property
    def n_events(self):
        """Events handled so far."""
        return self.s.n_events

    def verify(self):
        """Check the invariants; the face's EngineError says which is broken."""
        cdef const char *found
        if self.plans:
            return
        with nogil:
            found = workflow_broken(&self.s)
        if found != NULL:
            raise self.broken(found.decode())

    # ------------------------------------------------------------------ results

    def ranks(self):
        """The local rank of every job."""
        return np.array(<double[:self.s.n]>self.s.job.rank)

    def output(self):
        """The finished simulation's columns and counts, as documented in faultsim.simulate_workflows."""
        cdef workflow_t *s = &self.s
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
        rows = np.asarray(<decision_t[:self.s.record.n_decisions]>self.s.record.decision)
        return {name: rows[name].copy() for name in ("time", "job", "node", "asked", "begin", "finish")}

    cdef object recorded_events(self):
        rows = np.asarray(<workflow_event_t[:self.s.record.n_events]>self.s.record.event)
        return {name: rows[name].copy() for name in ("time", "kind", "workflow", "job", "node")}
