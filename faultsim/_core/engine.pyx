"""The engine: a simulation as an object of Python.

One ``with nogil`` a call.  Status codes from below become exceptions in `Engine.translate`, and nowhere else.
"""

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from cpython.pycapsule cimport PyCapsule_New
from cpython.ref cimport PyObject
from libc.math cimport INFINITY
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from dataclasses import replace
from types import SimpleNamespace
import operator

import numpy as np

from faultsim import checks
from faultsim.errors import BusyError, DecisionError, EngineError

from faultsim._core.absences cimport absences_of, any_drained
from faultsim._core.containers.event_queue cimport event_t, heap_pop, heap_push
from faultsim._core.containers.releases cimport releases_all
from faultsim._core.contract cimport FAULTSIM_DEBUG
from faultsim._core.decisions cimport Decision, new_decision
from faultsim._core.door cimport Door, Inside
from faultsim._core.edges cimport is_drained, open_absences, set_drained
from faultsim._core.eligibility cimport (
    NOT_ON_HOLD, WITHDRAWN, eligible_of, eligible_t, next_withdrawal, open_conditions, point_to_conditions,
)
from faultsim._core.event_loop cimport (
    R_BUDGET, R_UNTIL, catch_up, end_pass, fire_arrival, next_time, run_instant, run_until, take_pass,
)
from faultsim._core.faults.outages cimport fail_node, fire_failure, job_on, outages_before, repair_now
from faultsim._core.faults.progress cimport TOO_LATE, progress_end, progress_extend, progress_know, progress_open
from faultsim._core.inputs cimport set_inputs
from faultsim._core.queue cimport queue_again, sort_as_of_pass, sort_queue
from faultsim._core.record cimport (
    Shared, lend_ranges, record_event, record_told, recorded_events, recorded_ranges, recorded_stays, share_records,
)
from faultsim._core.site_decisions cimport SiteView, new_site_view
from faultsim._core.snapshot cimport place_for_python, snapshot_of
from faultsim._core.so_far cimport book_so_far, columns_so_far, eligible_times, state_now, states_between
from faultsim._core.state cimport (
    ACC_RESERVED, ASK_CHECKPOINT, ASK_FAILURE, ASK_SCHEDULE, EV_ARRIVAL, EV_CHANGE, EV_FAILURE, EV_LAST, EV_READY,
    EV_RELEASED, EV_WAKE, FROM_ARRIVALS, FROM_HOLDS, FROM_TRACE, FROM_WITHDRAWALS,
    JOB_DONE, JOB_FUTURE, JOB_HELD, JOB_QUEUED, JOB_RUNNING, N_ACCOUNTS, N_QUESTIONS, add_source, clear_job, disturb,
    executed, queue_t, record_t, sim_alloc, sim_copy, sim_free, sim_grow, sim_t, source_next, source_t, usable,
)
from faultsim._core.status cimport BROKEN, DECIDE, DONE, ENDLESS, NO_MEMORY, PYTHON_ERROR, STUCK
from faultsim._core.tables.factory cimport call_factory
from faultsim._core.tables.machine cimport place_t
from faultsim._core.thresholds cimport thresholds
from faultsim._core.verify cimport check_invariants
from faultsim._core.withdrawal cimport end_without_run, fire_withdrawal, hold_back, kill_withdrawn, let_go

#: Whether this is a FAULTSIM_DEBUG build: C assertions, bounds checks, and all invariants after every chunk of events.
DEBUG = bool(FAULTSIM_DEBUG)

# In the order in which they are opened: a later one may ask what an earlier one has filled in.
_POLICIES = ("placement", "order", "scheduler", "migration", "recovery", "checkpointing", "rescheduling")

#: Kinds of decisions by what is asked.
_KINDS = ("schedule", "failure", "checkpoint", "tick")
# Kinds of the policies in Python that answer them.
_ANSWERS = ("scheduler", "recovery", "checkpointing", "rescheduling")

_REASONS = {<int>DONE: "done", <int>R_BUDGET: "budget", <int>R_UNTIL: "until", <int>DECIDE: "decide"}

#: Columns that a caller with live= adds to.
_TOLD = ("checkpoint_interval", "shape_rank", "user_group", "rows", "jobs")
_TOLD_BY_NAME = ("queue_key", "queue_columns")
# What jobs have in such columns that are to come.
_MORE = {"jobs": -1, "checkpoint_interval": INFINITY, "shape_rank": 0, "user_group": 0}
# Submit time, run time, estimate and size of jobs that the caller has not submitted yet.
_TO_COME = (INFINITY, 0.0, 0.0, 1)


cdef object zeros = np.zeros, FLOAT64 = np.dtype(np.float64), INT32 = np.dtype(np.int32), BOOL = np.dtype(np.bool_)


cdef object longer(object column, int64_t room, object value):
    """A column, or several of one length, with `value` for further jobs."""
    *rows, n = column.shape
    return np.concatenate([column, np.full((*rows, room - n), value, column.dtype)], axis=len(rows))


cdef object copied_rows(object column, int32_t first, int32_t end):
    """A copy, with only the rows from `first` to `end` in it if `first` > 0."""
    if first == 0:
        return column.copy()
    part = np.empty_like(column)
    part[first:end] = column[first:end]
    return part


cdef enum:
    # The C library of GNU maps larger blocks each by itself at first, and gives them back when they are freed, so that
    # each copy writes to new pages: 15 ms instead of .7 for 54,000 jobs.  It stops doing so for blocks up to the size
    # of one that was freed, 32 MiB at most, and then keeps up to twice as much freed memory.  Before, it gives back
    # what is more than 128 KiB, the size of a copy of about 1,024 jobs.  Elsewhere this is without effect.
    LEAST_BYTES = 8 << 10
    KEPT_BYTES = (32 << 20) - (8 << 10)

cdef bint pages_kept = False


cdef void keep_pages(size_t bytes):
    """Lets the C library keep the memory of copies, in blocks of up to `bytes`, once they are freed."""
    global pages_kept
    if bytes >= LEAST_BYTES and not pages_kept:
        pages_kept = True
        PyMem_RawFree(PyMem_RawMalloc(KEPT_BYTES))       # never written to, so that it takes no memory


cdef object no_conditions(int32_t n):
    """The columns of `EligibilityRows` where no job has a condition."""
    none, jobs = np.empty(0, np.int32), np.full(n, -1, np.int32)
    return SimpleNamespace(
        first=np.zeros(n + 1, np.int64), waiter=none, kind=np.empty(0, np.int8), delay=np.empty(0), unmet=none,
        begin=np.full(n, -INFINITY), cancel=np.full(n, INFINITY), withdrawal=none, group=jobs,
        single=np.zeros(n, np.uint8), group_first=np.zeros(1, np.int64), member=none, array=jobs, most=none)


cdef int run_on(sim_t *s, int64_t budget, double until) noexcept nogil:
    """`run_until` after a decision; its pass ends here."""
    cdef int code
    if s.deciding:
        code = end_pass(s)
        if code < 0 or code == DECIDE:
            return code
    return run_until(s, budget, until)


cdef int settle_hold(sim_t *s) noexcept nogil:
    """What a job is held for has changed."""
    cdef source_t *source
    cdef bint wanted = False
    if not s.recovery.keeps_nodes:  # then there is no such source
        return 0
    source = &s.source[s.source_at[<int>FROM_HOLDS]]
    return source.fire(s, &wanted) if source.time == s.now else 0


cdef class Engine:
    """A simulation of the columns under the settings (see ``faultsim.simulate``, its only user)."""

    cdef sim_t s
    cdef bint ready
    cdef readonly Door door  # one thread at a time looks or acts
    cdef bint busy           # in the middle of run() or step(), perhaps in a policy written in Python
    cdef bint failed         # a pass was broken off half way
    cdef readonly object settings    # faultsim.policies.settings.Settings
    cdef object parts        # faultsim.simulation.core_engine.Parts
    cdef dict columns
    cdef object inputs
    cdef object world        # faultsim.data.world.World; keeps the arrays of failures, predictions and alarms
    cdef dict given          # what the factories read by name
    cdef object error        # that a policy in Python raised, until it goes out
    cdef object ranges       # the recorded ranges of nodes as an array, once they were requested
    cdef bint lent           # they are its own now
    # Rows of the user's log of the jobs, and jobs of the rows (-1: none); None: they are the same.
    cdef object rows, jobs
    cdef bint stopped        # by the caller, between two events
    # A queue order raised when `advance` had come to "decide" or "until", so the decision was not returned; else "".
    cdef readonly str owed
    cdef public object changer       # a weak reference to the method by which a decision changes a job; or None
    cdef public list acts    # what the caller did: (by a Decision, name, arguments, options); None: not kept
    cdef int64_t event, stay     # index of the first records that the next decision reports
    cdef readonly SiteView site_view     # where jobs share nodes; else None
    cdef Shared shared       # what copies have in common
    cdef bint lent_inputs    # [live] copies read the columns of jobs,
    cdef bint borrowed       # or they are another's;
    cdef bint own_runtime    # but not the run times
    cdef object ended        # the states of the jobs of which it has no columns as a copy, once all have been filled in
    cdef tuple foreseen      # the arrays of predictions, once the caller has added some

    def __cinit__(self):
        memset(&self.s, 0, sizeof(sim_t))
        self.s.limit = thresholds
        self.ready = False
        self.error = None
        self.owed = ""
        self.door = Door(BusyError, "simulation")
        self.shared = Shared()

    def __dealloc__(self):
        if self.lent:
            self.s.record.range = NULL    # the array that has it frees it
        sim_free(&self.s)

    def __init__(self, settings, submit, runtime, estimate, size, world, parts):
        cdef sim_t *s = &self.s
        if self.ready:
            raise RuntimeError("an Engine is initialised once")
        self.settings, self.parts = settings, parts
        self.inputs = (submit, runtime, estimate, size)
        self.columns = {}
        self.point_to_columns()
        self.world = replace(world)          # a caller with live= changes its fields
        self.given = {**parts.inputs, "world": self.world, "kept": [], "n_jobs": s.n}
        s.known, s.live = s.n if world.known is None else world.known, world.live
        if s.live:
            self.own_inputs()        # a key may be a column of the log
            self.point_to_columns()
        s.kill, s.start_delay = settings.overrun == "kill", settings.start_delay
        s.latest, s.most_fruitless = checks.LATEST, checks.MOST_FRUITLESS
        s.record.on, s.track.on = settings.record, parts.tracked
        s.trace.repairs_known = settings.scheduler.get("repairs") == "known"
        s.owner = <void *><PyObject *>self
        call_factory(parts.factories["machine"], &s.machine, settings.machine, self.given)
        s.nodes = s.machine.nodes
        s.capacity = s.machine.capacity if s.machine.shared else s.nodes
        set_inputs(s, self.given)
        self.translate(sim_alloc(s))
        add_source(s, FROM_ARRIVALS, EV_ARRIVAL, s.submit[0], fire_arrival)       # inf: none is known yet
        if self.world.absences is not None:
            open_absences(s, self.given)
        if self.world.eligibility is not None:
            open_conditions(s, self.given, self.world.eligibility)
            add_source(s, FROM_WITHDRAWALS, EV_LAST, INFINITY, fire_withdrawal)
            next_withdrawal(s)
        for kind in _POLICIES:
            if kind in parts.factories:
                options = settings.scheduler["order"] if kind == "order" else getattr(settings, kind)
                call_factory(parts.factories[kind], s, options, self.given)
        if s.machine.shared:
            self.site_view = new_site_view(s)
            self.site_view.read_requests(s, self.world.asks, 0, s.known if s.live else 0)
        if s.track.on:
            self.translate(progress_open(s))
            self.translate(outages_before(s))
            s.unforeseen = False     # there were no plans yet
        if s.trace.n > 0:
            add_source(s, FROM_TRACE, EV_FAILURE, INFINITY if s.trace.next == s.trace.n else s.trace.time[s.trace.next],
                       fire_failure)
        self.rows, self.jobs = self.world.rows, self.world.jobs
        if s.live:
            self.point_to_told()
        self.ready = True

    # ------------------------------------------------------------------ memory and exceptions

    cdef int point_to_columns(self) except -1:
        cdef const double[::1] submit = self.inputs[0], runtime = self.inputs[1], estimate = self.inputs[2]
        cdef const int32_t[::1] size = self.inputs[3]
        cdef sim_t *s = &self.s
        if submit.shape[0] < 1 or not (
                submit.shape[0] == runtime.shape[0] == estimate.shape[0] == size.shape[0]):
            raise ValueError("columns must have one length, at least 1")
        s.n = <int32_t>submit.shape[0]
        if s.eligibility.on:             # its times are its own
            eligible_of(s).submitted = &submit[0]
        else:
            s.submit = &submit[0]
        s.runtime, s.estimate, s.size = &runtime[0], &estimate[0], &size[0]
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
        self.own_world()
        for name in _TOLD:
            if (column := getattr(self.world, name)) is not None:
                setattr(self.world, name, column.copy())
        if self.world.asks is not None:
            self.world.asks = self.world.asks.with_room(0)
        for name in _TOLD_BY_NAME:
            if self.given.get(name) is not None:
                self.given[name] = self.given[name].copy()
        if self.borrowed:
            self.forget_rows()
        self.lent_inputs = self.borrowed = self.own_runtime = False
        return 0

    cdef int forget_rows(self) except -1:
        """Reset the rows behind the known jobs, where the original has added jobs of its own since the copy."""
        cdef int32_t n = self.s.known
        told = [getattr(self.world, name) for name in _MORE] + [self.given.get(name) for name in _TOLD_BY_NAME]
        values = (*_MORE.values(), *(0 for _ in _TOLD_BY_NAME))
        for column, value in zip([*self.inputs, *told], [*_TO_COME, *values]):
            if column is not None:
                column[..., n:] = value
        self.world.rows[n:] = np.arange(n, self.s.n)
        return 0

    cdef int own_world(self) except -1:
        self.world = replace(self.world)
        self.given = {**self.given, "world": self.world}
        return 0

    cdef int own_before(self, bint changes) except -1:
        """Own the columns of jobs before rows are added, or before existing rows change (`changes`).

        A copy reads the columns of its original, up to its own number of jobs.  The original adds rows behind these in
        place; a copy never does.
        """
        if self.borrowed or (changes and self.lent_inputs):
            self.own_inputs()
            self.point_to_columns()
            self.point_to_told()
        return 0

    cdef int own_runtimes(self) except -1:
        """The same before a run time changes; the other columns stay shared."""
        if (self.borrowed or self.lent_inputs) and not self.own_runtime:
            submit, runtime, estimate, size = self.inputs
            self.inputs = submit, runtime.copy(), estimate, size
            self.point_to_columns()
            self.own_runtime = True
        return 0

    cdef int point_to_told(self) except -1:
        """The simulation reads these columns where they are now."""
        cdef const double[::1] values
        cdef const int32_t[::1] rows, jobs
        cdef const double[:, ::1] columns
        if self.given.get("queue_columns") is not None:
            columns = self.given["queue_columns"]
            self.s.queue.column, self.s.queue.length = &columns[0, 0], columns.shape[1]
        if self.given.get("queue_key") is not None:
            values = self.given["queue_key"]
            self.s.queue.key = &values[0]
        if self.world.checkpoint_interval is not None:
            values = self.world.checkpoint_interval
            self.s.track.interval = &values[0]
        if self.world.shape_rank is not None:
            rows = self.world.shape_rank
            self.s.rank = &rows[0]
        if self.world.user_group is not None:
            rows = self.world.user_group
            absences_of(&self.s).group = &rows[0]
        rows = self.rows = self.world.rows
        jobs = self.jobs = self.world.jobs
        self.s.row, self.s.job_of, self.s.n_rows = &rows[0], &jobs[0], jobs.shape[0]
        return 0

    cdef void *column(self, str name, dtype) except NULL:
        """Where the engine writes a result column; the array is made when first requested."""
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
        if code == STUCK and (self.s.scheduler.elsewhere or self.s.live or waits_for_caller(&self.s)):
            raise DecisionError(self.deadlock())
        if code == PYTHON_ERROR and self.s.deciding:     # an order, while the caller decides: nothing has changed
            self.raise_kept()
        self.failed = True
        if code == STUCK and (
                self.s.trace.endless or "object" in self.settings.scheduler or self.s.absences.state != NULL):
            raise DecisionError(self.deadlock())
        if code == ENDLESS:
            raise DecisionError(self.endless())
        if code == NO_MEMORY:
            raise MemoryError("the engine ran out of memory")
        if code == PYTHON_ERROR:
            error, self.error = self.error, None
            raise error
        if code == STUCK:
            raise EngineError("jobs wait, nothing runs and nothing will happen")
        if code == BROKEN:
            self.verify()        # raises with the name of the invariant
            raise EngineError("an invariant does not hold")
        raise EngineError(f"unknown status {code}")

    def raise_kept(self):
        """Raise the error of user code that was called before anything changed: the simulation can go on."""
        error, self.error = self.error, None
        raise error

    def translate_outside(self, int code):
        """What a decision could not do leaves the simulation in the middle of something."""
        self.translate(code)

    def deadlock(self):
        """Jobs wait, and nothing will ever start one."""
        cdef queue_t *q = &self.s.queue
        cdef int32_t head, node, gone = 0, parts = 0
        if self.s.trace.endless and not self.s.live:
            for node in range(self.s.nodes):
                gone += self.s.trace.down[node] and self.s.trace.up_at[node] == INFINITY
            if self.s.trace.part != NULL:
                for node in range(self.s.machine.shared.lost(self.s.machine.state)):
                    parts += self.s.machine.shared.lost_until(self.s.machine.state, node) == INFINITY
        if gone or parts:
            also = f", and {parts} parts of nodes" if parts else ""
            return (f"deadlock: {self.s.known - self.s.n_done} jobs have not ended, none runs, and nothing else will "
                    f"happen after {self.s.now:g} s; {gone} of {self.s.nodes} nodes do not return{also}")
        if self.s.live and self.s.running:
            return f"{self.s.running} jobs run without an end: nothing else will happen"
        if any_on_hold(&self.s):
            left, on_hold = self.s.known - self.s.n_done, eligible_of(&self.s).n_on_hold
            return (f"deadlock: {left} jobs have not ended, {on_hold} of them are on hold (release them), and nothing "
                    f"else will happen after {self.s.now:g} s")
        if any_drained(&self.s):
            return (f"deadlock: {self.s.known - self.s.n_done} jobs have not ended, {absences_of(&self.s).n_drained} "
                    f"nodes are drained (resume them), and nothing else will happen after {self.s.now:g} s")
        if q.head == q.end:
            return f"{self.s.running} jobs run without an end: nothing else will happen"
        head = q.job[q.head]
        return (f"deadlock: {q.end - q.head} jobs wait, none was started, and nothing else will happen after "
                f"{self.s.now:g} s; the first, job {self.row_key(head)}, asks for {self.s.need[head]} nodes, and "
                f"{usable(&self.s)} are free")

    def endless(self):
        """Policies wait, or stop jobs again and again, and nothing comes of it."""
        cdef sim_t *s = &self.s
        return (f"no progress: policies have acted or requested a pass {s.most_fruitless:,} times until {s.now:g} s, "
                f"and no job arrived or ended and no node failed; {s.queue.end - s.queue.head} jobs wait and "
                f"{s.running} run (model.md#endless)")

    cdef int refuse_if_unusable(self) except -1:
        if self.busy or self.s.closed:       # in this thread, which is inside
            raise BusyError("this simulation is in the middle of a step: a policy that is asked can only look")
        if self.failed:
            raise EngineError(
                "an exception broke off a scheduling pass of this simulation; it cannot go on, start again")
        return 0

    def verify(self):
        """Check the invariants (model.md#invariants); EngineError names the broken one."""
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

    def reach_words(self, number, begin, end, ends):
        """Why nodes are closed to a job, for messages: `AbsenceRows.reach_words`."""
        return self.world.absences.reach_words(number, begin, end, ends)

    def column_of(self, name, rows, jobs=None):
        """A further column of the user's log; `jobs` have those of the scheduler, for a hint."""
        if name == "runtime":
            raise self.parts.hidden_runtime()
        try:
            return self.world.columns[name][rows]
        except KeyError:
            raise self.parts.no_column(name, jobs, self.world.columns) from None

    def names_of_columns(self):
        """Columns of the user's log that anything may read."""
        return [name for name in self.world.columns if name != "runtime"]

    def nodes_of(self, int32_t job):
        """Where a job is: its box (a list of boxes, if it has several), or its nodes, ascending."""
        cdef place_t place
        cdef int32_t[::1] nodes
        if self.s.machine.boxes:
            place = self.s.machine.placed.place_of(self.s.machine.state, job)
            return place_for_python(&self.s, &place)
        many = self.s.allocated[job]
        if self.s.machine.shared:
            many = self.s.machine.shared.count(self.s.machine.state, job)
        found = np.empty(many, np.int32)
        nodes = found
        self.s.machine.named.list_nodes(self.s.machine.state, job, &nodes[0])
        return found

    # ------------------------------------------------------------------ running

    def run(self, budget=None, double until=INFINITY):
        """Run at most `budget` events, ticks and requests, up to and with time `until`: "done", "budget" or "until"."""
        cdef int64_t most = (1 << 62) if budget is None else budget
        cdef int code
        _inside = self.door.enter()
        self.begin()
        with nogil:
            code = run_on(&self.s, most, until)
        return self.conclude(code)

    cdef int begin(self) except -1:
        """Before it goes on: what was to be decided is over."""
        self.refuse_if_unusable()
        self.busy = True
        self.s.n_decisions += 1
        self.stopped = False
        return 0

    def conclude(self, int code):
        """What `run` gives back, or raises, when a slice ended with this status."""
        self.busy = False
        self.translate(code)
        return _REASONS[code]

    def step(self):
        """All events of the next instant and its passes; False when nothing is left."""
        cdef int code
        _inside = self.door.enter()
        self.begin()
        with nogil:
            code = end_pass(&self.s) if self.s.deciding else run_instant(&self.s)
        self.busy = False
        self.translate(code)
        return code != DONE

    # ------------------------------------------------------------------ decisions from outside

    cdef Decision decide(self, str kind, str reader):
        """For the policy of a kind, or the "caller"."""
        cdef Decision decision
        cdef int code = sort_as_of_pass(&self.s)
        if code == PYTHON_ERROR:
            self.raise_kept()
        self.translate(code)
        decision = new_decision(self, &self.s, kind, reader)
        decision.inside = self.busy
        if self.s.record.on:
            decision.event, decision.stay = self.event, self.stay
        return decision

    cdef Decision hand_out(self, str kind):
        """A decision for the caller, which reports each change once."""
        cdef Decision decision = self.decide(kind, "caller")
        self.s.fruitless, self.owed = 0, ""
        self.event, self.stay = self.s.record.n_events, self.s.record.n_stays
        return decision

    def advance(self, double until=INFINITY):
        """Go on to the next decision, or past all events with time <= `until`; None: nothing is left to happen."""
        cdef sim_t *s = &self.s
        cdef int64_t number
        cdef bint deciding, stopped
        cdef event_t left_over
        cdef int code = R_BUDGET
        _inside = self.door.enter()
        number, deciding, stopped = s.n_decisions, s.deciding, self.stopped
        self.refuse_if_unusable()
        if not until >= s.now:
            raise DecisionError(f"advance(until={until:g}): it is {s.now:g} s already")
        if self.owed == "decide":
            return self.hand_out(self.kind_asked())
        self.begin()
        try:
            while code == R_BUDGET:
                with nogil:
                    code = run_on(s, 1 << 16, until)
                if code == R_BUDGET:
                    PyErr_CheckSignals()
        finally:
            self.busy = False
        self.owed = "decide" if s.deciding else ""
        if code == DECIDE:
            return self.hand_out(self.kind_asked())
        if code == STUCK and (s.scheduler.elsewhere or s.live or waits_for_caller(s)):
            s.n_decisions, s.deciding, self.stopped = number, deciding, stopped      # as if it had not been tried
            raise DecisionError(self.deadlock())
        self.translate(code)
        if until == INFINITY:
            return None
        if s.now < until:
            s.now = until
        self.stopped = True
        while s.n_done == s.known and s.heap.n > 0 and s.heap.items[0].time < until:
            heap_pop(&s.heap, &left_over)
        if s.scheduler.elsewhere:        # by what their keys are now
            s.closed = True
            code = sort_queue(s)
            s.closed = False
            if code == PYTHON_ERROR:         # nothing else has changed: sorted when it is next read
                s.queue.unsorted, self.owed = s.now, "until"
                self.raise_kept()
            self.translate(code)
        return self.hand_out("time")

    @property
    def decision(self):
        """What is to be decided now, with changes since the last advance; None if nothing is."""
        _inside = self.look()
        if self.busy or self.s.closed or not (self.s.deciding or self.stopped):
            return None
        decision = self.decide(self.kind_asked() if self.s.deciding else "time", "caller")
        self.owed = ""
        return decision

    def is_open(self, Decision decision not None):
        """Whether it is the one that is to be decided now."""
        _inside = self.door.enter(True)
        return decision.s == &self.s and decision.number == self.s.n_decisions

    def take_over(self, dict scheduler, object factory, object order, dict inputs):
        """Another scheduler and queue order decide from now on, the pass that waits included."""
        cdef sim_t *s = &self.s
        cdef int32_t i
        _inside = self.door.enter()
        if s.scheduler.close != NULL:
            s.scheduler.close(s.scheduler.state)
        memset(&s.scheduler, 0, sizeof(s.scheduler))
        self.settings = replace(self.settings, scheduler=scheduler)
        self.open_order(order, inputs)
        call_factory(factory, s, scheduler, self.given)
        queue_again(s)
        items = releases_all(&s.releases)
        if s.scheduler.adopt != NULL:
            for i in range(s.releases.n):
                if items[i].job >= 0:
                    self.translate(s.scheduler.adopt(s.scheduler.state, s, items[i].job))
        disturb(s)
        self.stopped = False
        for i in range(<int>N_QUESTIONS):
            s.asked.on[i] = s.asked.policy[i] != NULL
        # A pass follows, else jobs that wait would wait for an event, which may never come.
        s.wanted = s.wanted or not s.deciding or s.asked.resume != NULL
        if s.deciding:
            self.translate(take_pass(s) if s.asked.resume == NULL else end_pass(s))

    def order_again(self, object order, dict inputs):
        """The queue is in the order of what the jobs ask for now, where decisions come from outside."""
        cdef sim_t *s = &self.s
        cdef int code
        _inside = self.door.enter()
        self.open_order(order, inputs)
        queue_again(s)
        disturb(s)
        s.closed = True
        code = sort_queue(s)
        s.closed = False
        if code == PYTHON_ERROR:         # the next look at the queue sorts it
            s.queue.unsorted = s.now
            self.raise_kept()
        self.translate(code)

    cdef int open_order(self, object order, dict inputs) except -1:
        """The order of the scheduler's settings, with what it reads."""
        cdef sim_t *s = &self.s
        if s.order.close != NULL:
            s.order.close(s.order.state)
        memset(&s.order, 0, sizeof(s.order))
        s.queue.key = s.queue.column = NULL
        if s.live and inputs.get("queue_key") is not None:       # by row, and without those to come
            key = inputs["queue_key"][self.rows[:s.known]]
            inputs = {**inputs, "queue_key": longer(key, s.n, 0)}
        self.given = {**self.given, "queue_key": None, "queue_columns": None, **inputs}
        call_factory(order, s, self.settings.scheduler["order"], self.given)
        return 0

    def decide_in_python(self, scheduler):
        """A pass of a `Scheduler` written in Python."""
        try:
            given = scheduler.schedule(self.decide("schedule", "scheduler"))
            if given is not None:
                raise self.parts.nothing_returned(scheduler, "schedule", given)
        finally:
            self.s.n_decisions += 1

    cdef str kind_asked(self):
        """What kind of decision waits for the caller; the queue is then by what the keys are now."""
        cdef int code
        if self.s.asked.question != ASK_SCHEDULE:
            self.s.closed = True
            code = sort_queue(&self.s)
            self.s.closed = False
            self.translate(code)
        return _KINDS[self.s.asked.question]

    def answer_in_python(self, policy):
        """The answer of a policy written in Python to the open question."""
        cdef int question = self.s.asked.question
        decision = self.decide(_KINDS[question], _ANSWERS[question])
        try:
            if question == ASK_CHECKPOINT:
                return policy.wants(decision)
            given = policy.react(decision) if question == ASK_FAILURE else policy.tick(decision)
            if given is not None:
                raise self.parts.nothing_returned(policy, "react" if question == ASK_FAILURE else "tick", given)
            return False
        finally:
            self.s.n_decisions += 1

    cpdef Inside look(self):
        """Enters to read.  That is not brief if the order is in Python, because reading may sort the queue."""
        return self.door.enter("object" not in self.settings.scheduler["order"])

    cpdef int sort_by_now(self) except -1:
        """Put the queue in the order that the last pass would have given it; an order in Python must not act."""
        cdef int code
        self.s.closed = True
        code = sort_as_of_pass(&self.s)
        self.s.closed = False
        if code == PYTHON_ERROR:
            self.raise_kept()
        return self.translate(code)

    @property
    def now(self):
        """Time of the last instant handled, in seconds."""
        _inside = self.door.enter(True)
        return self.s.now

    @property
    def next_time(self):
        """Time of the next event, inf when none is left."""
        _inside = self.door.enter(True)
        return next_time(&self.s)

    @property
    def free(self):
        """Free nodes."""
        _inside = self.door.enter(True)
        return self.s.free

    @property
    def n_done(self):
        """Jobs that have ended."""
        _inside = self.door.enter(True)
        return self.s.n_done

    @property
    def lost_work(self):
        """Node-seconds of work lost so far."""
        _inside = self.door.enter(True)
        self.fill_columns()
        return self.columns["lost_work"][:self.s.known].sum()

    @property
    def n_events(self):
        """Events handled so far."""
        _inside = self.door.enter(True)
        return self.s.n_events

    @property
    def n_handled(self):
        """Events, ticks and requests handled so far, as a budget of `run` counts them."""
        _inside = self.door.enter(True)
        return self.s.n_events + self.s.n_ticks

    @property
    def work(self):
        """What was done so far, by name; for tests of how it grows."""
        searched = self.s.machine.placed.searched(self.s.machine.state) if self.s.machine.placed else 0
        return {**self.s.work, "moved": self.s.releases.moved, "searched": searched}

    def queue(self):
        """Waiting jobs (row numbers, int32) in queue order."""
        cdef int32_t i
        _inside = self.look()
        if not (self.busy or self.s.closed or self.failed):      # in the middle of an act, it stays as it is
            self.sort_by_now()
        jobs = [self.s.queue.job[i] for i in range(self.s.queue.head, self.s.queue.end)]
        return np.array(self.rows[jobs] if self.s.live else jobs, np.int32)

    def snapshot(self, int32_t row, int32_t most):
        """What the rules of schedulers depend on now (`faultsim._core.snapshot`), of `most` jobs and that of a row."""
        _inside = self.look()
        self.refuse_if_unusable()
        self.sort_by_now()
        return snapshot_of(&self.s, self.jobs[row] if self.s.live else row, most)

    def state_of(self, int32_t row):
        """Of the job of a row: state (a `JobState` by number), kills, and submit, start and finish (s)."""
        _inside = self.door.enter(True)
        cdef sim_t *s = &self.s
        cdef int32_t job = self.jobs[row] if s.live else row
        self.fill_columns()
        cdef int state = self.ended[job] if job < s.from_job else state_now(s, job)
        return state, s.restarts[job], s.submit[job], s.start[job], s.finish[job]

    def running(self):
        """Jobs that hold nodes (row numbers, int32), ascending."""
        cdef int32_t i
        _inside = self.door.enter(True)
        items = releases_all(&self.s.releases)
        jobs = [items[i].job for i in range(self.s.releases.n)]
        jobs = [job for job in jobs if job >= 0]
        return np.sort(np.array(self.rows[jobs] if self.s.live else jobs, np.int32))

    def copy(self):
        """An independent copy that continues from here."""
        cdef Engine other
        cdef int code
        _inside = self.door.enter(True)
        self.refuse_if_unusable()
        keep_pages(self.s.n * sizeof(double))
        cdef int32_t first = self.share_jobs() if self.s.live else 0
        if self.s.live and self.s.record.on:
            share_records(&self.s, self.shared, self.event, self.stay)
        other = Engine.__new__(Engine)
        other.shared = self.shared.copy()
        other.settings, other.parts = self.settings, self.parts
        other.inputs = self.inputs
        other.world, other.given = self.world, self.given
        other.rows, other.jobs, other.event, other.stay = self.rows, self.jobs, self.event, self.stay
        other.stopped, other.owed, other.foreseen = self.stopped, self.owed, self.foreseen
        other.columns = {name: copied_rows(column, first, self.s.known) for name, column in self.columns.items()}
        with nogil:
            code = sim_copy(&other.s, &self.s, first)
        other.translate(code)        # a copy that failed leaves this simulation as it is
        if self.s.live:
            other.own_world()
            self.lent_inputs = other.lent_inputs = other.borrowed = True
            self.own_runtime = False
        other.point_to_columns()
        other.s.owner = <void *><PyObject *>other
        if other.s.machine.shared:
            other.site_view = new_site_view(&other.s)
            other.site_view.forms = dict(self.site_view.forms)
        other.ready = True
        return other

    cdef int32_t share_jobs(self) except -1:
        """Keep the columns of the first jobs for all copies if they have ended and their changes were reported; return
        the number of these jobs.

        Invariant of both loops: the jobs before `first` have ended, and no change of a job before `last` is unreported.
        """
        cdef sim_t *s = &self.s
        cdef record_t *r = &s.record
        cdef int32_t first = s.shared_jobs, last = s.known
        cdef int64_t i
        for i in range(self.event, r.n_events):
            if 0 <= r.event[i - r.from_event].job < last:
                last = r.event[i - r.from_event].job
                if last - first < s.limit.shared_rows:
                    return first
        while first < last and s.state[first] == JOB_DONE:
            first += 1
        if first - s.shared_jobs < s.limit.shared_rows:
            return s.shared_jobs
        kept = {name: column[s.shared_jobs:first].copy() for name, column in self.columns.items()}
        kept["state"] = states_between(s, s.shared_jobs, first)
        self.shared.jobs = self.shared.jobs.and_then(kept)
        s.shared_jobs = first
        return first

    cdef int fill_columns(self) except -1:
        """Write the rows of ended jobs, which a copy does not have at first, to the columns."""
        cdef int32_t n = self.s.from_job
        if n == 0 or self.ended is not None:
            return 0
        self.ended = np.empty(n, np.int8)
        self.shared.jobs.fill({**self.columns, "state": self.ended}, n)
        return 0

    cdef object states(self):
        """The states of all jobs, once the columns are filled in."""
        found = states_between(&self.s, self.s.from_job, self.s.known)
        return found if self.ended is None else np.concatenate([self.ended, found])

    def lend(self):
        """The simulation itself, for environments.pyx, which copies it and keeps this engine."""
        return PyCapsule_New(&self.s, "faultsim.sim_t", NULL)

    # ------------------------------------------------------------------ inputs of a caller that owns time

    cdef object refuse(self, str text):
        raise DecisionError(text)

    cdef int refuse_unless_live(self) except -1:
        self.refuse_if_unusable()
        if not self.s.live:
            self.refuse("only a simulation that was made with live= takes this")
        return 0

    cdef int32_t job_at(self, object row) except -1:
        self.refuse_unless_live()
        try:
            row = operator.index(row)
        except TypeError:
            self.refuse(f"a job is named by its row, a whole number, not by {row!r:.60}")
        if not 0 <= row < self.s.known:
            self.refuse(f"there is no job {row}: the log has rows 0 to {self.s.known - 1}")
        return self.jobs[row]

    cdef int32_t node_at(self, object node) except -1:
        self.refuse_unless_live()
        return self.any_node_at(node)

    cdef int32_t any_node_at(self, object node) except -1:
        """As `node_at`, also where the caller does not own time."""
        try:
            node = operator.index(node)
        except TypeError:
            self.refuse(f"a node is named by a whole number, not by {node!r:.60}")
        if not 0 <= node < self.s.nodes:
            self.refuse(f"there is no node {node}: nodes are 0 to {self.s.nodes - 1}")
        return node

    # ------------------------------------------------------------------ jobs

    def submit(self, submit, runtime, estimate, size, interval, rank, group, key, columns, further, asks):
        """Jobs that the caller has got now, by submit time; columns as those of __init__, `columns` of all jobs.

        `further` are the numbers of the further columns that a key names; `asks` is what jobs that share nodes request.
        """
        cdef sim_t *s = &self.s
        _inside = self.door.enter()
        self.refuse_unless_live()
        if submit[0] < s.now:
            self.refuse(f"a job cannot be submitted at {submit[0]:g} s: it is {s.now:g} s already")
        self.own_before(False)
        self.make_room(len(submit))
        if further is not None:
            self.given["queue_columns"][:, s.known:s.known + len(submit)] = further
        if group is not None:
            self.world.user_group[s.known:s.known + len(submit)] = group
        self.add(submit, runtime, estimate, size, interval, rank, key, asks)
        self.world.columns = columns

    def submit_one(self, double submit, double runtime, double estimate, int32_t size, columns):
        """The same of one job without further columns."""
        cdef sim_t *s = &self.s
        cdef const double *submits
        cdef int32_t job
        _inside = self.door.enter()
        self.refuse_unless_live()
        if submit < s.now:
            self.refuse(f"a job cannot be submitted at {submit:g} s: it is {s.now:g} s already")
        self.own_before(False)
        self.make_room(1)
        job = s.known
        submits = eligible_of(s).submitted if s.eligibility.on else s.submit
        if job > s.next_arrival and submit < submits[job - 1]:       # ahead of others
            self.add([submit], [runtime], [estimate], [size], None, None, None, None)
        else:
            (<double *>submits)[job], (<double *>s.runtime)[job] = submit, runtime
            (<double *>s.estimate)[job], (<int32_t *>s.size)[job] = estimate, size
            self.jobs[job] = job
            s.known += 1
            self.number(job)
        self.world.columns = columns

    cdef int make_room(self, Py_ssize_t count) except -1:
        """Room for further jobs, and one more, as which the columns of others begin (`sim_grow`)."""
        cdef sim_t *s = &self.s
        cdef int32_t before = s.n
        cdef int64_t room = before
        if s.known + count < room:
            return 0
        room = min(max(2 * room, s.known + count + 1), <int64_t>INT32_MAX)
        if s.known + count >= room:
            self.refuse(f"there are {s.known} jobs, and {count} more do not fit: job numbers end at {INT32_MAX - 1}")
        self.inputs = tuple([longer(column, room, value) for column, value in zip(self.inputs, _TO_COME)])
        self.columns = {name: longer(column, room, 0) for name, column in self.columns.items()}
        self.world.rows = longer(self.world.rows, room, 0)
        self.world.rows[before:] = np.arange(before, room)
        for name, value in _MORE.items():
            if (column := getattr(self.world, name)) is not None:
                setattr(self.world, name, longer(column, room, value))
        if self.world.asks is not None:
            self.world.asks = self.world.asks.with_room(room - before)
        for name in _TOLD_BY_NAME:
            if (column := self.given.get(name)) is not None:
                self.given[name] = longer(column, room, 0)
        self.given["n_jobs"] = room
        self.translate(sim_grow(s, <int32_t>room))
        self.lent_inputs = self.own_runtime = False
        self.point_to_columns()
        self.point_to_told()
        if s.eligibility.on:
            point_to_conditions(s, self.given, no_conditions(s.n))
        return 0

    cdef int add(self, submit, runtime, estimate, size, interval, rank, key, asks) except -1:
        cdef sim_t *s = &self.s
        cdef int32_t first = s.known, count = <int32_t>len(submit)
        if s.next_arrival < first and submit[0] < self.inputs[0][first - 1]:     # ahead of others
            self.own_before(True)
        told = [*zip(self.inputs, (submit, runtime, estimate, size))]
        told += [(column, values) for column, values in (
            (self.world.checkpoint_interval, interval), (self.world.shape_rank, rank),
            (self.given.get("queue_key"), key)) if values is not None]
        if asks is not None:
            told += [*zip(self.world.asks.columns(), asks.columns())]
        for column, values in told:
            column[first:first + count] = values
        s.known += count
        order = np.argsort(self.inputs[0][s.next_arrival:s.known], kind="stable")
        self.rows[first:s.known] = np.arange(first, s.known)
        if (order[:-1] > order[1:]).any():
            first = s.next_arrival
            for column in (*(column for column, _ in told), self.rows):
                column[first:s.known] = column[first:s.known][order]
        self.jobs[self.rows[first:s.known]] = np.arange(first, s.known)
        if asks is not None:
            self.site_view.read_requests(s, self.world.asks, first, s.known)
        return self.number(first)

    cdef int number(self, int32_t first) except -1:
        """The jobs from `first` on have their numbers, and have not arrived."""
        cdef sim_t *s = &self.s
        cdef int32_t job
        for job in range(first, s.known):
            if s.eligibility.on:
                eligible_of(s).eligible[job] = self.inputs[0][job]
            clear_job(s, job)
            s.need[job] = s.machine.next_size(s.machine.state, s.size[job])
            s.run[job] = executed(s, job)
        progress_know(s, first, s.known - first)
        source_next(s, FROM_ARRIVALS, s.submit[s.next_arrival])
        return 0

    def end_job(self, row):
        """A running job ends now."""
        cdef sim_t *s = &self.s
        _inside = self.door.enter()
        cdef int32_t job = self.job_at(row)
        if s.state[job] != JOB_RUNNING or s.start[job] > s.now:
            self.refuse(f"job {row} cannot end: it is not running at {s.now:g} s")
        if s.finish[job] <= s.now:
            self.refuse(f"job {row} ends now, as was told")
        catch_up(s)
        self.translate(progress_end(s, job))

    def withdraw(self, row):
        """A job that waits is withdrawn now, and one that runs is killed."""
        cdef sim_t *s = &self.s
        _inside = self.door.enter()
        self.refuse_if_unusable()
        cdef int32_t job = self.any_job_at(row)
        if s.state[job] == JOB_DONE:
            self.refuse(f"job {row} cannot be withdrawn: it has ended")
        if s.state[job] == JOB_HELD:
            self.refuse(f"job {row} cannot be withdrawn: it holds its nodes until they are repaired")
        if s.state[job] == JOB_FUTURE and job >= s.next_arrival:
            self.refuse(f"job {row} cannot be withdrawn: it has not arrived yet")
        if s.state[job] == JOB_RUNNING and s.finish[job] <= s.now:
            self.refuse(f"job {row} cannot be withdrawn: it ends now")
        if s.state[job] == JOB_RUNNING and not s.track.on:
            self.refuse(f"job {row} cannot be withdrawn: it runs, and only a simulation with failures=, live= or "
                        f"scheduler=External() follows what running jobs have done")
        catch_up(s)
        if s.state[job] == JOB_RUNNING:
            self.translate(kill_withdrawn(s, job))
        elif not self.end_waiting(job):
            return
        self.translate(heap_push(&s.heap, s.now, EV_WAKE, 0))

    def withdraw_waiting(self, int32_t job):
        """The same of a job by its number, for a decision."""
        try:
            self.end_waiting(job)
        except BaseException:
            self.s.n_decisions += 1
            raise

    cdef bint end_waiting(self, int32_t job) except -1:
        """A job that holds no nodes is withdrawn; whether it was in the queue."""
        cdef sim_t *s = &self.s
        cdef bint waited = False
        if not s.eligibility.on:
            open_conditions(s, self.given, no_conditions(s.n))
        self.translate(end_without_run(s, job, WITHDRAWN, &waited))
        return waited

    def hold(self, row):
        """A job that waits is on hold from now on."""
        cdef sim_t *s = &self.s
        _inside = self.door.enter()
        self.refuse_if_unusable()
        cdef int32_t job = self.any_job_at(row)
        if s.state[job] == JOB_FUTURE and job >= s.next_arrival:
            self.refuse(f"job {row} cannot be put on hold: it has not arrived yet")
        if s.state[job] != JOB_FUTURE and s.state[job] != JOB_QUEUED:
            what = "has ended" if s.state[job] == JOB_DONE else "has nodes"
            self.refuse(f"job {row} cannot be put on hold: it {what}")
        if is_held_back(s, job):
            self.refuse(f"job {row} is on hold already")
        catch_up(s)
        if self.hold_job(job):
            self.translate(heap_push(&s.heap, s.now, EV_WAKE, 0))

    def release(self, row):
        """It is not on hold any more."""
        cdef sim_t *s = &self.s
        _inside = self.door.enter()
        self.refuse_if_unusable()
        cdef int32_t job = self.any_job_at(row)
        if not is_held_back(s, job):
            self.refuse(f"job {row} cannot be released: it is not on hold")
        catch_up(s)
        self.translate(let_go(s, job))

    def change(self, row, estimate, size, columns, bint decided=False):
        """A job that has had no nodes gets other values (model.md#changed); None: as before.

        `columns` are the further columns of the log from now on.  `take_over` or `order_again` follows, as orders and
        schedulers keep what they have computed.  If it was `decided`, no pass follows.
        """
        cdef sim_t *s = &self.s
        _inside = self.door.enter()
        cdef int32_t job = self.changeable(row, decided)
        catch_up(s)
        self.given["kept"].append(self.inputs)       # copies of this simulation go on reading them
        self.own_inputs()
        if s.state[job] == JOB_QUEUED:
            s.demand -= s.size[job]
        if estimate is not None:
            self.inputs[2][job] = estimate
        if size is not None:
            self.inputs[3][job] = size
        self.point_to_columns()
        if not s.track.on:
            s.remaining = s.estimate
        s.need[job] = s.machine.next_size(s.machine.state, s.size[job])
        s.run[job] = executed(s, job)
        if s.track.on:
            progress_know(s, job, 1)
        if s.state[job] == JOB_QUEUED:
            s.demand += s.size[job]
        self.world.columns = columns
        if not decided:
            self.translate(heap_push(&s.heap, s.now, EV_WAKE, 0))

    def record_change(self, row):
        """After `change` and `postpone`."""
        _inside = self.door.enter()
        if self.s.record.on:
            self.translate(record_event(&self.s, EV_CHANGE, self.any_job_at(row), -1))

    def postpone(self, row, double begin, bint decided=False):
        """A job of the queue leaves it until `begin`, as if that were its earliest start."""
        cdef sim_t *s = &self.s
        cdef eligible_t *e
        _inside = self.door.enter()
        cdef int32_t job = self.changeable(row, decided)
        if s.state[job] != JOB_QUEUED:
            what = "on hold" if is_held_back(s, job) else "not eligible yet"
            self.refuse(f"job {row} cannot get another earliest start: it is {what}")
        if not begin > s.now:
            self.refuse(f"job {row} cannot get the earliest start {begin:g} s: it is {s.now:g} s already")
        catch_up(s)
        self.hold_job(job)
        e = eligible_of(s)
        e.on_hold[job] = NOT_ON_HOLD
        e.n_on_hold -= 1
        self.translate(record_told(s, EV_RELEASED, job, -1))
        self.translate(heap_push(&s.heap, begin, EV_READY, job))
        if not decided:
            self.translate(heap_push(&s.heap, s.now, EV_WAKE, 0))

    def changeable(self, row, bint decided=False):
        """The number of a job that has had no nodes yet; `decided` by a policy, perhaps in the middle of a pass."""
        cdef sim_t *s = &self.s
        if not decided:
            self.refuse_if_unusable()
        cdef int32_t job = self.any_job_at(row)
        if s.state[job] == JOB_FUTURE and job >= s.next_arrival:
            self.refuse(f"job {row} cannot be changed: it has not arrived yet")
        if s.state[job] != JOB_FUTURE and s.state[job] != JOB_QUEUED:
            what = "has ended" if s.state[job] == JOB_DONE else "has nodes"
            self.refuse(f"job {row} cannot be changed: it {what}")
        if s.restarts[job] > 0:
            self.refuse(f"job {row} cannot be changed: it has had nodes before")
        return job

    def is_on_hold(self, int32_t row):
        """Whether the job of a row is on hold; rows as of `state_of`."""
        _inside = self.door.enter(True)
        return is_held_back(&self.s, self.jobs[row] if self.s.live else row)

    def hold_waiting(self, int32_t job):
        """As `hold` of a job by its number, for a decision."""
        self.hold_job(job)

    def release_waiting(self, int32_t job):
        """As `release` of a job by its number, for a decision."""
        try:
            self.translate(let_go(&self.s, job))
        except BaseException:
            self.s.n_decisions += 1
            raise

    cdef bint hold_job(self, int32_t job) except -1:
        """Whether it was in the queue."""
        cdef sim_t *s = &self.s
        cdef bint waited = False
        if not s.eligibility.on:
            open_conditions(s, self.given, no_conditions(s.n))
        self.translate(hold_back(s, job, &waited))
        return waited

    cdef int32_t any_job_at(self, object row) except -1:
        """As `job_at`, also where the caller does not own time."""
        cdef int32_t job
        if self.s.live:
            return self.job_at(row)
        try:
            row = operator.index(row)
        except TypeError:
            self.refuse(f"a job is named by its row, a whole number, not by {row!r:.60}")
        known = self.s.n if self.jobs is None else len(self.jobs)
        if not 0 <= row < known:
            self.refuse(f"there is no job {row}: the log has rows 0 to {known - 1}")
        job = row if self.jobs is None else self.jobs[row]
        if job < 0:
            self.refuse(f"job {row} was dropped from the log: it does not fit on the machine")
        return job

    def extend_job(self, row, double seconds):
        """A job that has not ended runs longer, or shorter."""
        cdef sim_t *s = &self.s
        _inside = self.door.enter()
        cdef int32_t job = self.job_at(row)
        cdef int code
        cdef double run, runtime = s.runtime[job]
        if s.state[job] == JOB_DONE:
            self.refuse(f"job {row} has ended")
        if s.state[job] == JOB_RUNNING and s.finish[job] <= s.now and s.run[job] != executed(s, job):
            self.refuse(f"job {row} ends now, as was told")
        if runtime == INFINITY:
            self.refuse(f"job {row} cannot be extended: its run time is unknown, so it runs until finish, or with "
                        f"overrun='kill' to its estimate, which stays")
        if not runtime + seconds >= 0.0:
            self.refuse(f"job {row} cannot be extended by {seconds:g} s: it runs for {runtime:g} s")
        if s.latest < runtime + seconds < INFINITY:
            self.refuse(f"job {row} cannot be extended by {seconds:g} s: the clock ends at {s.latest:.0f} s")
        self.own_runtimes()
        self.inputs[1][job] = runtime + seconds
        run = executed(s, job)
        if s.state[job] != JOB_RUNNING:
            s.run[job] = run
        elif run != s.run[job]:
            code = progress_extend(s, job, run)
            self.translate(code)
            if code == TOO_LATE:
                self.inputs[1][job] = runtime
                self.refuse(f"job {row} cannot be extended by {seconds:g} s: it would have ended before {s.now:g} s")
        catch_up(s)

    def expect_ends(self):
        """From now on jobs of unknown run times run for their estimates (model.md#rollout)."""
        cdef sim_t *s = &self.s
        cdef int32_t job
        cdef int code
        _inside = self.door.enter()
        catch_up(s)
        self.own_runtimes()
        for job in range(s.from_job, s.known):
            if s.run[job] != INFINITY or s.state[job] == JOB_DONE:
                continue
            (<double *>s.runtime)[job] = s.estimate[job]
            if s.state[job] != JOB_RUNNING:
                s.run[job] = s.estimate[job]
                continue
            code = progress_extend(s, job, s.estimate[job])
            if code == TOO_LATE:         # it should have ended before
                (<double *>s.runtime)[job] = INFINITY
                code = progress_end(s, job)
            self.translate(code)

    # ------------------------------------------------------------------ predictions

    def foresee(self, begin, end, node, double p):
        """Predictions that come to those which have not passed, in columns by begin."""
        cdef sim_t *s = &self.s
        _inside = self.door.enter()
        cdef const double[::1] begins, ends
        cdef const int32_t[::1] nodes
        self.refuse_unless_live()
        i = [i for i in range(s.predictions.next, s.predictions.n) if s.predictions.end[i] > s.now]
        if i and p != s.predictions.p:
            self.refuse(f"predictions have one probability: those so far have p={s.predictions.p:g}, got {p:g}")
        begin = np.append([s.predictions.begin[k] for k in i], begin)
        end = np.append([s.predictions.end[k] for k in i], end)
        node = np.append(np.array([s.predictions.node[k] for k in i], np.int32), node)
        order = np.lexsort((node, end, begin))
        self.foreseen = begins, ends, nodes = begin[order], end[order], node[order]      # keeps them
        s.predictions.n, s.predictions.next, s.predictions.p = len(order), 0, p
        if len(order):
            s.predictions.begin, s.predictions.end, s.predictions.node = &begins[0], &ends[0], &nodes[0]
        s.predictions.nested = (self.foreseen[1][1:] < self.foreseen[1][:-1]).any()

    # ------------------------------------------------------------------ nodes

    def fail_node(self, which, double downtime):
        """A node fails now; `downtime` inf: the time of its repair is unknown."""
        cdef sim_t *s = &self.s
        _inside = self.door.enter()
        cdef int32_t node = self.node_at(which), job
        cdef bint wanted = False
        if s.trace.down[node] and s.trace.up_at[node] == INFINITY:
            self.refuse(f"node {node} is down already, for an unknown time: call up({node}) first")
        for job in self.jobs_at(node):
            if s.state[job] == JOB_RUNNING and s.finish[job] <= s.now:
                self.refuse(f"node {node} has job {self.row_key(job)}, which ends now: let it end first")
        catch_up(s)
        self.translate(fail_node(s, node, s.now + downtime, &wanted))
        self.translate(settle_hold(s))
        if wanted:
            self.translate(heap_push(&s.heap, s.now, EV_WAKE, 0))

    cdef list jobs_at(self, int32_t node):
        """The jobs on a node, ascending."""
        cdef const int32_t *found
        cdef int32_t i, n = 0
        if not self.s.machine.shared:
            i = job_on(&self.s, node)
            return [] if i < 0 else [i]
        found = self.s.machine.shared.jobs_on(self.s.machine.state, node, &self.s.releases, &n)
        if found == NULL:
            raise MemoryError("no memory for the jobs of a node")
        return [found[i] for i in range(n)]

    def repair_node(self, which):
        """A node that is down is up again."""
        cdef sim_t *s = &self.s
        _inside = self.door.enter()
        cdef int32_t node = self.node_at(which)
        if not s.trace.down[node]:
            self.refuse(f"node {node} is not down")
        catch_up(s)
        self.translate(repair_now(s, node))
        self.translate(settle_hold(s))
        self.translate(heap_push(&s.heap, s.now, EV_WAKE, 0))

    def drain(self, which):
        """A node takes no new jobs from now on (model.md#drained)."""
        _inside = self.door.enter()
        self.refuse_if_unusable()
        self.close_node(which, True, True)

    def resume(self, which):
        """It takes jobs again."""
        _inside = self.door.enter()
        self.refuse_if_unusable()
        self.close_node(which, False, True)

    def drained(self):
        """The nodes that are drained, ascending."""
        cdef int32_t node
        _inside = self.door.enter(True)
        nodes = [node for node in range(self.s.nodes) if is_drained(&self.s, node)] if any_drained(&self.s) else []
        return np.array(nodes, np.int32)

    cdef int32_t checked_node(self, object which, bint drain) except -1:
        """The node of a drain or a resume."""
        cdef int32_t node
        if self.s.machine.named == NULL:
            self.refuse("only a simulation with record=True, failures=, reservations= or live= follows the nodes of "
                        "jobs, which drain needs: give record=True")
        node = self.any_node_at(which)
        if is_drained(&self.s, node) == drain:
            self.refuse(f"node {node} is drained already" if drain else f"node {node} is not drained")
        return node

    def close_node(self, which, bint drain, bint wake):
        """As `drain` and `resume`, also for a decision; whether a pass follows."""
        cdef sim_t *s = &self.s
        cdef int32_t node = self.checked_node(which, drain)
        catch_up(s)
        set_drained(s, node, drain)
        if wake:
            self.translate(heap_push(&s.heap, s.now, EV_WAKE, 0))

    # ------------------------------------------------------------------ policies written in Python

    def keep_error(self, error):
        """A user's policy raised; the exception goes out at the border."""
        self.error = error

    cdef object seen(self, int32_t job, int32_t size):
        """What a `Placement` sees of the job that it places."""
        seen = self.parts.seen_job(
            index=self.row_key(job), submit=self.s.submit[job], estimate=self.s.estimate[job], size=size)
        if self.reads_runtimes("placement"):
            seen.runtime = float(self.inputs[1][job])
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

    # ------------------------------------------------------------------ results

    def output(self):
        """The finished simulation's columns, counts and ledger, as documented in faultsim.simulate."""
        cdef sim_t *s = &self.s
        _inside = self.door.enter(True)
        if s.n_done != s.known:
            raise RuntimeError(f"the simulation has not finished: {s.n_done} of {s.known} jobs have ended")
        if not s.live:
            out = dict(self.columns)
            if s.eligibility.on:
                out["eligible"] = eligible_times(s)
            if s.track.killed_for_good or s.eligibility.on:
                out["state"] = self.states()
            return self.add_totals(out)
        # It may go on, and what is given out stays as it is.
        self.fill_columns()
        out = {name: values[:s.known].copy() for name, values in self.columns.items()}
        out["state"] = self.states()
        if s.eligibility.on:
            out["eligible"] = eligible_times(s)[:s.known]
        return self.add_totals(out)

    def output_so_far(self, bint last=False):
        """The same of a simulation that is not over, as of now (model.md#partial).

        After the `last` one nothing else may be done with it, so that it needs no copy.
        """
        cdef Engine other = self if last else self.copy()
        other.fill_columns()
        book_so_far(&other.s)
        out = columns_so_far(&other.s, other.columns, other.states())
        if other.s.eligibility.on:
            out["eligible"] = eligible_times(&other.s)[:other.s.known]
        return other.add_totals(out)

    cdef dict add_totals(self, dict out):
        cdef sim_t *s = &self.s
        out["migrations_attempted"] = s.n_attempted
        out["migrations_successful"] = s.n_successful
        out["failures"] = s.trace.n_handled
        out["failures_hit"] = s.trace.n_hit
        out["checkpoints"] = s.requests.n_checkpoints
        out["events"] = s.n_events
        out["passes"] = s.n_passes
        accounts = [s.ledger[i] for i in range(<int>N_ACCOUNTS)]
        drained = 0.0 if s.absences.state == NULL else absences_of(s).drained_time
        accounts.insert(<int>ACC_RESERVED + 1, drained)
        out["ledger"] = dict(zip(self.parts.accounts, accounts))
        out["makespan_begin"] = float(self.inputs[0][0] if s.next_arrival > 0 else s.clock)
        out["makespan_end"] = s.clock
        if s.record.on:
            out["events_table"] = recorded_events(s, self.shared)
            if s.live:
                self.ranges = recorded_ranges(s, self.shared)
            elif self.ranges is None and not s.machine.boxes:
                self.lent = s.record.n_ranges > 0
                self.ranges = lend_ranges(s) if self.lent else recorded_ranges(s, self.shared)
            out["allocations"] = recorded_stays(s, self.shared, self.ranges)
        return self.by_row(out) if s.live else out

    cdef dict by_row(self, dict out):
        """What comes out of jobs that were not all submitted in the order of their submit times."""
        cdef int32_t n = self.s.known
        rows, jobs = self.rows[:n], self.jobs[:n]
        if (rows == np.arange(n, dtype=np.int32)).all():
            return out
        for name in (*self.columns, "state", "eligible"):
            if name in out:
                out[name] = out[name][jobs]
        for name in ("events_table", "allocations"):
            job = out[name]["job"]
            out[name]["job"] = np.where(job < 0, job, rows[job])
        return out


cdef inline bint is_held_back(const sim_t *s, int32_t job) noexcept nogil:
    return s.eligibility.on and eligible_of(s).on_hold[job] != NOT_ON_HOLD


cdef inline bint any_on_hold(const sim_t *s) noexcept nogil:
    return s.eligibility.on and eligible_of(s).n_on_hold > 0


cdef inline bint waits_for_caller(const sim_t *s) noexcept nogil:
    """Whether the caller can let something happen that nothing else will."""
    return any_on_hold(s) or any_drained(s)


cdef struct moment_slice_t:
    sim_t *s
    int64_t budget
    int code


def run_together(list engines, list budgets):
    """A slice of each engine, one after the other; a status for each, of which `Engine.conclude` makes the rest.

    The GIL is released once for all of them: short runs would wait for it longer than they take.
    """
    cdef Py_ssize_t i, n = len(engines)
    cdef moment_slice_t *slices = <moment_slice_t *>calloc(max(n, 1), sizeof(moment_slice_t))
    cdef Engine engine
    if slices == NULL:
        raise MemoryError("no memory for the slices of runs")
    inside = []
    try:
        for i in range(n):
            engine = engines[i]
            inside.append(engine.door.enter())
            slices[i].s, slices[i].budget = &engine.s, budgets[i]
            engine.refuse_if_unusable()
        for i in range(n):
            (<Engine>engines[i]).busy = True
        with nogil:
            for i in range(n):
                slices[i].code = run_until(slices[i].s, slices[i].budget, INFINITY)
        return [slices[i].code for i in range(n)]
    finally:
        free(slices)
