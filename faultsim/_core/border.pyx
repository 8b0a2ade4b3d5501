"""The memory of a simulation, and its exceptions; the contract is in border.pxd.

Status codes from below become exceptions here, and nowhere else.
"""

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memset

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from faultsim.errors import BusyError, DecisionError, EngineError

from faultsim._core.door cimport Door
from faultsim._core.state cimport queue_t, sim_free, sim_t, usable
from faultsim._core.status cimport BROKEN, NO_MEMORY, PYTHON_ERROR, STUCK
from faultsim._core.tables.machine cimport place_t
from faultsim._core.thresholds cimport thresholds
from faultsim._core.verify cimport check_invariants

#: Columns that a caller with live= adds to.
_TOLD = ("checkpoint_interval", "shape_rank", "rows", "jobs")
_TOLD_BY_NAME = ("queue_key", "queue_columns")


cdef object zeros = np.zeros, FLOAT64 = np.dtype(np.float64), INT32 = np.dtype(np.int32), BOOL = np.dtype(np.bool_)


cdef class Border:
    """The columns and settings of a simulation, and what goes wrong in it."""

    def __cinit__(self):
        memset(&self.s, 0, sizeof(sim_t))
        self.s.limit = thresholds
        self.ready = False
        self.error = None
        self.door = Door(BusyError, "simulation")

    def __dealloc__(self):
        if self.lent:
            self.s.record.range = NULL    # the array that has it frees it
        sim_free(&self.s)

    cdef int point_to_columns(self) except -1:
        cdef const double[::1] submit = self.inputs[0], runtime = self.inputs[1], estimate = self.inputs[2]
        cdef const int32_t[::1] size = self.inputs[3]
        cdef sim_t *s = &self.s
        if submit.shape[0] < 1 or not (
                submit.shape[0] == runtime.shape[0] == estimate.shape[0] == size.shape[0]):
            raise ValueError("columns must have one length, at least 1")
        s.n = <int32_t>submit.shape[0]
        s.submit, s.runtime, s.estimate, s.size = &submit[0], &runtime[0], &estimate[0], &size[0]
        s.first_start = <double *>self.column("first_start", FLOAT64)
        s.start = <double *>self.column("start", FLOAT64)
        s.finish = <double *>self.column("finish", FLOAT64)
        s.run = <double *>self.column("runtime", FLOAT64)
        s.allocated = <int32_t *>self.column("allocated", INT32)
        s.restarts = <int32_t *>self.column("restarts", INT32)
        s.lost_work = <double *>self.column("lost_work", FLOAT64)
        s.checkpoint_time = <double *>self.column("checkpoint_time", FLOAT64)
        s.restart_time = <double *>self.column("restart_time", FLOAT64)
        s.failure_wait = <double *>self.column("failure_wait", FLOAT64)
        s.slowed_time = <double *>self.column("slowed_time", FLOAT64)
        s.moves = <int32_t *>self.column("moves", INT32)
        s.backfilled = <uint8_t *>self.column("backfilled", BOOL)
        return 0

    cdef int own_inputs(self) except -1:
        """Columns that the caller adds to are no longer those of the simulation that this is a copy of."""
        self.inputs = tuple([column.copy() for column in self.inputs])
        self.world = replace(self.world)
        for name in _TOLD:
            if (column := getattr(self.world, name)) is not None:
                setattr(self.world, name, column.copy())
        self.given = {**self.given, "world": self.world}
        for name in _TOLD_BY_NAME:
            if self.given.get(name) is not None:
                self.given[name] = self.given[name].copy()
        return 0

    cdef int point_to_told(self) except -1:
        """The simulation reads these columns where they are now."""
        cdef const double[::1] values
        cdef const int32_t[::1] rows
        cdef const double[:, ::1] columns
        if self.given.get("queue_columns") is not None:
            columns = self.given["queue_columns"]
            self.s.queue.column = &columns[0, 0]
        if self.given.get("queue_key") is not None:
            values = self.given["queue_key"]
            self.s.queue.key = &values[0]
        if self.world.checkpoint_interval is not None:
            values = self.world.checkpoint_interval
            self.s.track.interval = &values[0]
        if self.world.shape_rank is not None:
            rows = self.world.shape_rank
            self.s.rank = &rows[0]
        rows = self.rows = self.world.rows
        self.jobs = self.world.jobs
        self.s.row = &rows[0]
        return 0

    cdef void *column(self, str name, dtype) except NULL:
        """Where the engine writes a result column; the array is made when first asked for."""
        cdef Py_buffer memory
        values = self.columns.get(name)
        if values is None:
            self.columns[name] = values = zeros(self.s.n, dtype)
        PyObject_GetBuffer(values, &memory, PyBUF_WRITABLE)
        PyBuffer_Release(&memory)        # `columns` keeps the array, which does not move
        return memory.buf

    cdef int translate(self, int code) except -1:
        """The one place where status codes become exceptions."""
        if code >= 0:
            return 0
        if code == STUCK and (self.s.scheduler.elsewhere or self.s.live):
            raise DecisionError(self.deadlock())
        self.failed = True
        if code == STUCK and (self.s.trace.endless or "object" in self.settings.scheduler):
            raise DecisionError(self.deadlock())
        if code == NO_MEMORY:
            raise MemoryError("the engine ran out of memory")
        if code == PYTHON_ERROR:
            error, self.error = self.error, None
            raise error
        if code == STUCK:
            raise EngineError("jobs wait, nothing runs and nothing will happen")
        if code == BROKEN:
            self.verify()        # says which
            raise EngineError("an invariant does not hold")
        raise EngineError(f"unknown status {code}")

    def translate_outside(self, int code):
        """What a decision could not do leaves the simulation in the middle of something."""
        self.translate(code)

    def deadlock(self):
        """Jobs wait, and nothing will ever start one."""
        cdef queue_t *q = &self.s.queue
        cdef int32_t head, node, gone = 0
        if self.s.trace.endless and not self.s.live:
            for node in range(self.s.nodes):
                gone += self.s.trace.down[node] and self.s.trace.up_at[node] == INFINITY
        if gone:
            return (f"deadlock: {self.s.known - self.s.n_done} jobs have not ended, none runs, and nothing else will "
                    f"happen after {self.s.now:g} s; {gone} of {self.s.nodes} nodes do not return")
        if q.head == q.end or (self.s.live and self.s.running):
            return f"{self.s.running} jobs run without an end: nothing else will happen"
        head = q.job[q.head]
        return (f"deadlock: {q.end - q.head} jobs wait, none was started, and nothing else will happen after "
                f"{self.s.now:g} s; the first, job {self.row_key(head)}, asks for {self.s.need[head]} nodes, and "
                f"{usable(&self.s)} are free")

    cdef int refuse_if_unusable(self) except -1:
        if self.busy or self.s.closed:       # in this thread, which is inside
            raise BusyError("this simulation is in the middle of a step: a policy that is asked can only look")
        if self.failed:
            raise EngineError(
                "an exception broke off a scheduling pass of this simulation; it cannot go on, start again")
        return 0

    def verify(self):
        """Check the invariants (model.md#invariants); EngineError says which is broken."""
        cdef const char *found = NULL
        _inside = self.door.enter(True)
        if check_invariants(&self.s, &found) == NO_MEMORY:
            raise MemoryError("no memory to check the invariants")
        if found != NULL:
            raise EngineError(found.decode())

    def row_key(self, job):
        """The row of a job in the user's log."""
        return job if self.rows is None else int(self.rows[job])

    cdef int reads_runtimes(self, str kind) except -1:
        """Whether the policy of this kind, or the "caller", may read true run times (model.md#oracle)."""
        scheduler = self.settings.scheduler
        if kind == "caller":         # by an option of the simulation, or of External
            return self.world.oracle_runtimes or (
                "object" not in scheduler and scheduler.get("oracle_runtimes", False))
        policy = scheduler["order"] if kind == "order" else getattr(self.settings, kind)
        return policy.get("oracle_runtimes", False)

    def runtimes_of(self, str kind, jobs):
        """True run times (s) of jobs, by number, for the policy of this kind; inf where they are unknown."""
        if not self.reads_runtimes(kind):
            raise self.parts.hidden_runtime()
        return np.asarray(self.inputs[1])[jobs]

    def column_of(self, name, rows):
        """A further column of the user's log."""
        if name == "runtime":
            raise self.parts.hidden_runtime()
        try:
            return self.world.columns[name][rows]
        except KeyError:
            raise AttributeError(f"the log has no column {name!r}") from None

    def nodes_of(self, int32_t job):
        """Where a job is: its box, or its nodes, ascending."""
        cdef place_t place
        cdef int32_t[::1] nodes
        if self.s.machine.boxes:
            place = self.s.machine.place_of(self.s.machine.state, job)
            return tuple([place.part[i] for i in range(6)])
        found = np.empty(self.s.allocated[job], np.int32)
        nodes = found
        self.s.machine.list_nodes(self.s.machine.state, job, &nodes[0])
        return found

    # ------------------------------------------------------------------ policies written in Python

    def keep_error(self, error):
        """A user's policy raised; the exception goes out at the border."""
        self.error = error

    cdef object seen(self, int32_t job, int32_t size):
        """What a `Placement` sees of the job that it places."""
        submit, runtime, estimate, _ = self.inputs
        seen = self.parts.seen_job(
            index=self.row_key(job), submit=float(submit[job]), estimate=float(estimate[job]), size=size)
        if self.reads_runtimes("placement"):
            seen.runtime = float(runtime[job])
        return seen

    def chosen_by_python(self, rule, int32_t job, double now, bytes candidates, bytes occ, int field):
        """The index that a `Placement` chooses."""
        boxes = np.frombuffer(candidates, np.int32).reshape(-1, 6)
        bits = np.unpackbits(np.frombuffer(occ, np.uint8), bitorder="little")
        x, y, z = (self.settings.machine[axis] for axis in "xyz")
        busy = bits[:x * y * field].reshape(x * y, field)[:, :z].astype(bool).reshape(x, y, z)
        return rule.choose(self.seen(job, int(self.inputs[3][job])), boxes, SimpleNamespace(now=now, busy=busy))

    def nodes_by_python(self, rule, int32_t job, double now, list unused, int32_t count):
        """The nodes that a `Placement` chooses on a cluster."""
        state = SimpleNamespace(now=now, nodes=self.s.nodes)
        return rule.choose_nodes(self.seen(job, count), np.array(unused, np.int32), state)
