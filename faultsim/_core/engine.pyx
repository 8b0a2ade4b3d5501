"""The engine: the event loop's Python border.

One ``with nogil`` a call.  Status codes from below become exceptions here, and nowhere else.
"""

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.exc cimport PyErr_CheckSignals
from cpython.pycapsule cimport PyCapsule_New
from cpython.pythread cimport PyThread_get_thread_ident
from cpython.ref cimport PyObject
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from types import SimpleNamespace

import numpy as np

from faultsim._core.contract cimport FAULTSIM_DEBUG, FS_VERIFY_EVERY
from faultsim._core.decisions cimport Decision, new_decision
from faultsim._core.event_loop cimport catch_up, end_pass, fire_arrival, next_time, run_instant, take_pass
from faultsim._core.tables.factory cimport call_factory
from faultsim._core.containers.event_queue cimport event_t, heap_pop, heap_push
from faultsim._core.faults.outages cimport fail_node, fire_failure, job_on, outages_before, repair_now
from faultsim._core.faults.progress cimport progress_end, progress_extend, progress_know, progress_open
from faultsim._core.inputs cimport set_inputs
from faultsim._core.queue cimport queue_again, sort_as_of_pass, sort_queue
from faultsim._core.record cimport lend_nodes, recorded_events, recorded_stays
from faultsim._core.state cimport (
    EV_ARRIVAL, EV_FAILURE, EV_WAKE, FROM_ARRIVALS, FROM_TRACE, JOB_DONE, JOB_RUNNING, N_ACCOUNTS, add_source, disturb,
    executed, queue_t, sim_alloc, sim_copy, sim_free, sim_t, source_next, usable,
)
from faultsim._core.tables.machine cimport place_t
from faultsim._core.status cimport BROKEN, DECIDE, DONE, NO_MEMORY, PYTHON_ERROR, STUCK
from faultsim._core.verify cimport broken_invariant

#: Whether this is a FAULTSIM_DEBUG build: C assertions, bounds checks, and all invariants after every chunk of events.
DEBUG = bool(FAULTSIM_DEBUG)

# In the order in which they are opened: a later one may ask what an earlier one has filled in.
_POLICIES = ("placement", "order", "scheduler", "migration", "recovery", "checkpointing", "rescheduling")

cdef enum reason:
    R_DONE = 1
    R_BUDGET = 2
    R_UNTIL = 3
    R_DECIDE = 4

_REASONS = {<int>R_DONE: "done", <int>R_BUDGET: "budget", <int>R_UNTIL: "until", <int>R_DECIDE: "decide"}


cdef int loop(sim_t *s, int64_t budget, double until) noexcept nogil:
    """Run until all is done, `budget` events and ticks were handled, or the next event is later than `until`."""
    # A tick that moves nobody is no event, but takes its time all the same.
    cdef int64_t limit = (s.n_events + s.n_ticks) + budget, look = s.n_events + FS_VERIFY_EVERY
    cdef double t
    cdef int code
    while s.n_events + s.n_ticks < limit:
        if FAULTSIM_DEBUG and (s.n_events >= look or s.n_done == s.known):
            look = s.n_events + FS_VERIFY_EVERY
            if broken_invariant(s) != NULL:
                return BROKEN
        if until == INFINITY and s.n_done == s.known:
            return R_DONE
        t = next_time(s)
        if t > until:
            return R_DONE if s.n_done == s.known else R_UNTIL
        code = run_instant(s, t)
        if code < 0:
            return code
        if code == DONE:
            return R_DONE
        if code == DECIDE:
            return R_DECIDE
    return R_BUDGET


cdef int go_on(sim_t *s, int64_t budget, double until) noexcept nogil:
    """`loop` after a decision, whose pass ends here."""
    cdef int code
    if s.deciding:
        code = end_pass(s)
        if code < 0:
            return code
        if code == DECIDE:
            return R_DECIDE
    return loop(s, budget, until)


cdef class Engine:
    """A simulation of the columns under the settings (see ``faultsim.simulate``, its only user)."""

    cdef sim_t s
    cdef bint ready
    cdef unsigned long thread            # the last that let it run
    cdef bint busy           # some thread is inside run() or step(), perhaps in a policy written in Python
    cdef bint failed         # a pass was broken off half way
    cdef readonly dict settings
    cdef object broken       # class of the exception for a broken engine
    cdef dict columns
    cdef object inputs
    cdef object world        # keeps the arrays of failures, predictions and alarms
    cdef object error
    cdef object nodes        # the recorded nodes as an array, once they were asked for
    cdef bint lent           # they are its own now
    # Rows of the user's log of the jobs, and jobs of the rows (-1: none); None: they are the same.
    cdef object rows, jobs
    cdef bint stopped        # by the caller, between two events
    cdef public list acts    # what the caller did: (by a Decision, name, arguments, options); None: not kept
    cdef int64_t event, stay     # numbers of the first of the record that the next decision has to tell

    def __cinit__(self):
        memset(&self.s, 0, sizeof(sim_t))
        self.ready = False
        self.error = None

    def __dealloc__(self):
        if self.lent:
            self.s.record.node = NULL    # the array that has it frees it
        sim_free(&self.s)

    def __init__(self, settings, submit, runtime, estimate, size, world=None):
        cdef sim_t *s = &self.s
        if self.ready:
            raise RuntimeError("an Engine is initialised once")
        self.settings, self.broken = settings, settings.get("error", RuntimeError)
        self.inputs = (submit, runtime, estimate, size)
        self.columns = {}
        self.point_to_columns()
        self.world = {**(world or {}), "kept": [], "n_jobs": s.n}
        s.known = self.world.get("known", s.n)
        s.kill, s.start_delay = settings["overrun"] == "kill", settings["start_delay"]
        s.record.on, s.track.on = settings["record"], settings["tracked"]
        s.trace.repairs_known = settings["scheduler"].get("repairs") == "known"
        s.owner = <void *><PyObject *>self
        call_factory(settings["factories"]["machine"], &s.machine, settings["machine"], self.world)
        s.nodes = s.machine.nodes
        set_inputs(s, self.world)
        self.translate(sim_alloc(s))
        add_source(s, FROM_ARRIVALS, EV_ARRIVAL, s.submit[0], fire_arrival)
        for kind in _POLICIES:
            if kind in settings["factories"]:
                options = settings["scheduler"]["order"] if kind == "order" else settings[kind]
                call_factory(settings["factories"][kind], s, options, self.world)
        if s.track.on:
            self.translate(progress_open(s))
            self.translate(outages_before(s))
            s.unforeseen = False     # there were no plans yet
        if s.trace.n > 0:
            add_source(s, FROM_TRACE, EV_FAILURE, INFINITY if s.trace.next == s.trace.n else s.trace.time[s.trace.next],
                       fire_failure)
        self.rows, self.jobs = self.world.get("rows"), self.world.get("jobs")
        self.ready = True

    cdef int point_to_columns(self) except -1:
        cdef const double[::1] submit = self.inputs[0], runtime = self.inputs[1], estimate = self.inputs[2]
        cdef const int32_t[::1] size = self.inputs[3]
        cdef sim_t *s = &self.s
        if submit.shape[0] < 1 or not (
                submit.shape[0] == runtime.shape[0] == estimate.shape[0] == size.shape[0]):
            raise ValueError("columns must have one length, at least 1")
        s.n = <int32_t>submit.shape[0]
        s.submit, s.runtime, s.estimate, s.size = &submit[0], &runtime[0], &estimate[0], &size[0]
        s.first_start = <double *>self.column("first_start", np.float64)
        s.start = <double *>self.column("start", np.float64)
        s.finish = <double *>self.column("finish", np.float64)
        s.run = <double *>self.column("runtime", np.float64)
        s.allocated = <int32_t *>self.column("allocated", np.int32)
        s.restarts = <int32_t *>self.column("restarts", np.int32)
        s.lost_work = <double *>self.column("lost_work", np.float64)
        s.checkpoint_time = <double *>self.column("checkpoint_time", np.float64)
        s.restart_time = <double *>self.column("restart_time", np.float64)
        s.failure_wait = <double *>self.column("failure_wait", np.float64)
        s.moves = <int32_t *>self.column("moves", np.int32)
        s.backfilled = <uint8_t *>self.column("backfilled", np.bool_)
        return 0

    cdef int own_inputs(self) except -1:
        """Columns that the caller may write to are no longer those of the simulation that this is a copy of."""
        cdef double[::1] values
        self.inputs = tuple([column.copy() for column in self.inputs])
        self.world = dict(self.world)
        for name in ("checkpoint_interval", "queue_key"):
            if self.world.get(name) is not None:
                self.world[name] = values = self.world[name].copy()
                if name == "queue_key":
                    self.s.queue.key = &values[0]
                else:
                    self.s.track.interval = &values[0]
        return 0

    cdef void *column(self, str name, dtype) except NULL:
        """Where the engine writes a result column; the array is made when first asked for."""
        cdef Py_buffer memory
        if name not in self.columns:
            self.columns[name] = np.zeros(self.s.n, dtype)
        PyObject_GetBuffer(self.columns[name], &memory, PyBUF_WRITABLE)
        PyBuffer_Release(&memory)        # `columns` keeps the array, which does not move
        return memory.buf

    cdef int translate(self, int code) except -1:
        """The one place where status codes become exceptions."""
        if code >= 0:
            return 0
        self.failed = True
        if code == NO_MEMORY:
            raise MemoryError("the engine ran out of memory")
        if code == PYTHON_ERROR:
            error, self.error = self.error, None
            raise error
        if code == STUCK and self.s.scheduler.elsewhere:
            raise self.settings["decision_error"](self.deadlock())
        if code == STUCK:
            raise self.broken("jobs wait, nothing runs and nothing will happen")
        if code == BROKEN:
            self.verify()        # says which
            raise self.broken("an invariant does not hold")
        raise self.broken(f"unknown status {code}")

    # ------------------------------------------------------------------ running

    def run(self, budget=None, double until=INFINITY):
        """Run at most `budget` events and ticks, up to and with time `until`: "done", "budget" or "until"."""
        cdef int64_t most = (1 << 62) if budget is None else budget
        cdef int code
        self.refuse_if_unusable()
        self.busy, self.thread = True, PyThread_get_thread_ident()
        self.s.n_decisions += 1
        with nogil:
            code = go_on(&self.s, most, until)
        return self.conclude(code)

    def conclude(self, int code):
        """What `run` gives back, or raises, when a slice ended with this status."""
        self.busy = False
        self.translate(code)
        return _REASONS[code]

    def step(self):
        """All events of the next instant and its passes; False when nothing is left."""
        cdef int code
        self.refuse_if_unusable()
        self.busy, self.thread = True, PyThread_get_thread_ident()
        self.s.n_decisions += 1
        with nogil:
            code = end_pass(&self.s) if self.s.deciding else run_instant(&self.s, next_time(&self.s))
        self.busy = False
        self.translate(code)
        return code != DONE

    # ------------------------------------------------------------------ decisions from outside

    cdef Decision decide(self, str kind):
        cdef const int32_t[::1] rows, jobs
        cdef Decision decision
        self.translate(sort_as_of_pass(&self.s))
        if self.rows is None:
            decision = new_decision(self, &self.s, kind, NULL, NULL, self.s.known)
            if self.world.get("live"):
                decision.event, decision.stay = self.event, self.stay
                self.event, self.stay = self.s.record.n_events, self.s.record.n_stays
        else:
            rows, jobs = self.rows, self.jobs
            decision = new_decision(self, &self.s, kind, &rows[0], &jobs[0], jobs.shape[0])
        return decision

    def advance(self, double until=INFINITY):
        """Go on to the next decision, or past all events with time <= `until`; None: nothing is left to happen."""
        cdef sim_t *s = &self.s
        cdef int64_t number = s.n_decisions
        cdef bint deciding = s.deciding
        cdef bint stopped = self.stopped
        cdef event_t left_over
        cdef int code = R_BUDGET
        self.refuse_if_unusable()
        if not until >= s.now:
            raise self.settings["decision_error"](f"advance(until={until:g}): it is {s.now:g} s already")
        s.n_decisions += 1
        self.stopped = False
        self.busy, self.thread = True, PyThread_get_thread_ident()
        try:
            while code == R_BUDGET:
                with nogil:
                    code = go_on(s, 1 << 16, until)
                if code == R_BUDGET:
                    PyErr_CheckSignals()
        finally:
            self.busy = False
        if code == R_DECIDE:
            return self.decide("schedule")
        if code == STUCK and s.scheduler.elsewhere:
            s.n_decisions, s.deciding, self.stopped = number, deciding, stopped      # as if it had not been tried
            raise self.settings["decision_error"](self.deadlock())
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
            self.translate(code)
        return self.decide("time")

    @property
    def decision(self):
        """What is to be decided now; None if nothing is."""
        if self.busy or self.s.closed or not (self.s.deciding or self.stopped):
            return None
        return self.decide("schedule" if self.s.deciding else "time")

    def deadlock(self):
        """Jobs wait, and nothing will ever start one."""
        cdef queue_t *q = &self.s.queue
        cdef int32_t head
        if q.head == q.end:
            return f"{self.s.running} jobs run without an end: nothing else will happen"
        head = q.job[q.head]
        return (f"deadlock: {q.end - q.head} jobs wait, none was started, and nothing else will happen after "
                f"{self.s.now:g} s; the first, job {self.row_key(head)}, asks for {self.s.need[head]} nodes, and "
                f"{usable(&self.s)} are free")

    def take_over(self, dict scheduler, object factory, object order, dict inputs):
        """Another scheduler and queue order decide from now on, the pass that waits included."""
        cdef sim_t *s = &self.s
        cdef int32_t i
        if s.scheduler.close != NULL:
            s.scheduler.close(s.scheduler.state)
        if s.order.close != NULL:
            s.order.close(s.order.state)
        memset(&s.scheduler, 0, sizeof(s.scheduler))
        memset(&s.order, 0, sizeof(s.order))
        s.queue.key = NULL
        self.settings = {**self.settings, "scheduler": scheduler}
        self.world = {**self.world, "queue_key": None, **inputs}
        call_factory(order, s, scheduler["order"], self.world)
        call_factory(factory, s, scheduler, self.world)
        queue_again(s)
        if s.scheduler.adopt != NULL:
            for i in range(s.releases.n):
                if s.releases.items[i].job >= 0:
                    self.translate(s.scheduler.adopt(s.scheduler.state, s, s.releases.items[i].job))
        disturb(s)
        self.stopped = False
        if s.deciding:
            self.translate(take_pass(s))

    def decide_in_python(self, scheduler):
        """A pass of a `Scheduler` written in Python."""
        try:
            scheduler.schedule(self.decide("schedule"))
        finally:
            self.s.n_decisions += 1

    def translate_outside(self, int code):
        """What a decision could not do leaves the simulation in the middle of something."""
        self.translate(code)

    def row_key(self, job):
        """The row of a job in the user's log."""
        return job if self.rows is None else int(self.rows[job])

    def column_of(self, name, rows):
        """A further column of the user's log."""
        try:
            return self.world["columns"][name][rows]
        except KeyError:
            raise AttributeError(f"the log has no column {name!r}") from None

    def nodes_of(self, int32_t job):
        """Where a job is: its box, or its nodes, ascending."""
        cdef place_t place
        cdef int32_t[::1] nodes
        if self.s.machine.placed:
            place = self.s.machine.place_of(self.s.machine.state, job)
            return tuple([place.part[i] for i in range(6)])
        found = np.empty(self.s.allocated[job], np.int32)
        nodes = found
        self.s.machine.list_nodes(self.s.machine.state, job, &nodes[0])
        return found

    cdef int refuse_unless_still(self) except -1:
        """To look is possible for a policy in Python that is asked, too: nothing else moves in its thread."""
        if (self.s.closed or (self.busy and not self.s.deciding)) and self.thread != PyThread_get_thread_ident():
            raise self.broken(
                "this simulation is in the middle of a step, in another thread or in the policy that asks")
        return 0

    cdef int sort_by_now(self) except -1:
        """Put the queue in the order that the last pass would have given it; an order in Python must not act."""
        cdef int code
        self.s.closed, self.thread = True, PyThread_get_thread_ident()
        code = sort_as_of_pass(&self.s)
        self.s.closed = False
        return self.translate(code)

    cdef int refuse_if_unusable(self) except -1:
        if self.busy or self.s.closed:
            raise self.broken(
                "this simulation is in the middle of a step, in another thread or in the policy that asks")
        if self.failed:
            raise self.broken(
                "an exception broke off a scheduling pass of this simulation; it cannot go on, start again")
        return 0

    @property
    def now(self):
        """Time of the last instant handled, in seconds."""
        return self.s.now

    @property
    def next_time(self):
        """Time of the next event, inf when none is left."""
        self.refuse_unless_still()
        return next_time(&self.s)

    @property
    def free(self):
        """Free nodes."""
        return self.s.free

    @property
    def n_done(self):
        """Jobs that have ended."""
        return self.s.n_done

    @property
    def lost_work(self):
        """Node-seconds of work lost so far."""
        return self.columns["lost_work"].sum()

    @property
    def n_events(self):
        """Events handled so far."""
        return self.s.n_events

    @property
    def n_handled(self):
        """Events and ticks handled so far, as a budget of `run` counts them."""
        return self.s.n_events + self.s.n_ticks

    def queue(self):
        """Waiting jobs (row numbers, int32) in queue order."""
        cdef int32_t i
        self.refuse_unless_still()
        if not self.busy and not self.failed:
            self.sort_by_now()
        return np.array([self.s.queue.job[i] for i in range(self.s.queue.head, self.s.queue.end)], np.int32)

    def running(self):
        """Jobs that hold nodes (row numbers, int32), ascending."""
        cdef int32_t i
        self.refuse_unless_still()
        jobs = [self.s.releases.items[i].job for i in range(self.s.releases.n)]
        return np.sort(np.array([job for job in jobs if job >= 0], np.int32))

    def verify(self):
        """Check the invariants (model.md#invariants); EngineError says which is broken."""
        cdef const char *found
        self.refuse_unless_still()
        found = broken_invariant(&self.s)        # with the GIL: nobody else must act meanwhile
        if found != NULL:
            raise self.broken(found.decode())

    def copy(self):
        """An independent copy that continues from here."""
        cdef Engine other
        cdef int code
        self.refuse_if_unusable()
        self.busy = self.s.closed = True         # before anything that may let another thread in
        other = Engine.__new__(Engine)
        other.settings, other.broken = self.settings, self.broken
        other.inputs = self.inputs
        other.world = self.world
        other.rows, other.jobs, other.event, other.stay = self.rows, self.jobs, self.event, self.stay
        other.stopped = self.stopped
        other.columns = {name: column.copy() for name, column in self.columns.items()}
        with nogil:
            code = sim_copy(&other.s, &self.s)
        self.busy = self.s.closed = other.s.closed = False
        if self.world.get("live"):
            other.own_inputs()
        other.point_to_columns()
        other.s.owner = <void *><PyObject *>other
        other.ready = True
        other.translate(code)        # a copy that failed leaves this simulation as it is
        return other

    def lend(self):
        """The simulation itself, for environments.pyx, which copies it and keeps this engine."""
        return PyCapsule_New(&self.s, "faultsim.sim_t", NULL)

    # ------------------------------------------------------------------ the caller owns jobs and failures

    cdef int32_t job_at(self, Py_ssize_t row) except -1:
        cdef Py_ssize_t n = self.s.known if self.jobs is None else len(self.jobs)
        if not 0 <= row < n:
            self.refuse(f"there is no job {row}: the log has rows 0 to {n - 1}")
        return <int32_t>row if self.jobs is None else self.jobs[row]

    cdef int act(self) except -1:
        """Before the caller changes something."""
        self.refuse_if_unusable()
        if not self.world.get("live"):
            self.refuse("only a simulation that was made with live= takes this")
        catch_up(&self.s)
        self.s.n_decisions += not self.s.deciding      # what a Decision knows of time and shadows is over
        return 0

    cdef object refuse(self, str text):
        raise self.settings["decision_error"](text)

    def submit(self, submit, runtime, estimate, size, interval, key):
        """Jobs that the caller has got now; columns as those of __init__, for jobs behind all that there are."""
        cdef sim_t *s = &self.s
        cdef double[::1] all_submit = self.inputs[0], all_runtime = self.inputs[1], all_estimate = self.inputs[2]
        cdef int32_t[::1] all_size = self.inputs[3]
        cdef Py_ssize_t i, count = len(submit)
        cdef int32_t job = s.known
        self.act()
        if s.known + count > s.n:
            self.refuse(f"live={s.n} is room for so many jobs: {s.known} are there, and {count} more do not fit")
        last = max(s.now, all_submit[s.known - 1])
        if submit[0] < last:
            self.refuse(f"a job cannot be submitted at {submit[0]:g} s: it is {s.now:g} s, and the last job so far was "
                        f"submitted at {all_submit[s.known - 1]:g} s")
        for i in range(count):
            all_submit[job + i], all_runtime[job + i], all_estimate[job + i] = submit[i], runtime[i], estimate[i]
            all_size[job + i] = size[i]
            s.need[job + i] = s.machine.next_size(s.machine.state, size[i])
            s.run[job + i] = executed(s, <int32_t>(job + i))
        for name, values in (("checkpoint_interval", interval), ("queue_key", key)):
            if values is not None:
                self.world[name][job:job + count] = values
        progress_know(s, job, <int32_t>count)
        s.known += <int32_t>count
        if s.next_arrival == job:
            source_next(s, FROM_ARRIVALS, s.submit[job])

    def end_job(self, Py_ssize_t row):
        """A running job ends now."""
        cdef sim_t *s = &self.s
        cdef int32_t job = self.job_at(row)
        self.act()
        if s.state[job] != JOB_RUNNING or s.start[job] > s.now:
            self.refuse(f"job {row} cannot end: it is not running at {s.now:g} s")
        if s.finish[job] > s.now:
            self.translate(progress_end(s, job))

    def extend_job(self, Py_ssize_t row, double seconds):
        """A job that has not ended runs longer, or shorter."""
        cdef sim_t *s = &self.s
        cdef int32_t job = self.job_at(row)
        cdef double before = s.run[job]
        cdef double[::1] runtime = self.inputs[1]
        self.act()
        if s.state[job] == JOB_DONE:
            self.refuse(f"job {row} has ended")
        if not runtime[job] + seconds >= 0.0:
            self.refuse(f"job {row} cannot be extended by {seconds:g} s: it runs for {runtime[job]:g} s")
        runtime[job] += seconds
        s.run[job] = executed(s, job)
        if s.state[job] == JOB_RUNNING and s.run[job] != before:
            self.translate(progress_extend(s, job))
            if s.finish[job] < s.now:
                runtime[job] -= seconds
                s.run[job] = before
                self.translate(progress_extend(s, job))
                self.refuse(f"job {row} cannot be extended by {seconds:g} s: it would have ended before {s.now:g} s")

    def fail_node(self, Py_ssize_t node, double downtime):
        """A node fails now; `downtime` inf: nobody knows when it will be up."""
        cdef sim_t *s = &self.s
        cdef bint wanted = False
        cdef int32_t job
        self.act()
        self.refuse_unless_node(node)
        job = job_on(s, <int32_t>node)
        if job >= 0 and s.state[job] == JOB_RUNNING and s.finish[job] <= s.now:
            self.refuse(f"node {node} has job {self.row_key(job)}, which ends now: let it end first")
        self.translate(fail_node(s, <int32_t>node, s.now + downtime, &wanted))
        if wanted:
            self.translate(heap_push(&s.heap, s.now, EV_WAKE, 0))

    def repair_node(self, Py_ssize_t node):
        """A node that is down is up again."""
        cdef sim_t *s = &self.s
        self.act()
        self.refuse_unless_node(node)
        if not s.trace.down[node]:
            self.refuse(f"node {node} is not down")
        self.translate(repair_now(s, <int32_t>node))
        self.translate(heap_push(&s.heap, s.now, EV_WAKE, 0))

    cdef int refuse_unless_node(self, Py_ssize_t node) except -1:
        if not 0 <= node < self.s.nodes:
            self.refuse(f"there is no node {node}: nodes are 0 to {self.s.nodes - 1}")
        return 0

    # ------------------------------------------------------------------ results

    def output(self):
        """The finished simulation's columns, counts and ledger, as documented in faultsim.simulate."""
        cdef sim_t *s = &self.s
        if s.n_done != s.known:
            raise RuntimeError(f"the simulation has not finished: {s.n_done} of {s.known} jobs have ended")
        out = {name: values[:s.known] for name, values in self.columns.items()}
        out["migrations_attempted"] = s.n_attempted
        out["migrations_successful"] = s.n_successful
        out["failures"] = s.trace.n_handled
        out["failures_hit"] = s.trace.n_hit
        out["checkpoints"] = s.requests.n_checkpoints
        out["events"] = s.n_events
        out["passes"] = s.n_passes
        out["ledger"] = dict(zip(self.settings["accounts"], [s.ledger[i] for i in range(<int>N_ACCOUNTS)]))
        out["makespan_begin"] = s.submit[0]
        out["makespan_end"] = s.clock
        if s.record.on:
            out["events_table"] = recorded_events(s)
            if self.nodes is None and not s.machine.placed:
                self.lent = s.record.n_nodes > 0
                self.nodes = lend_nodes(s) if self.lent else np.empty(0, np.int32)
            out["allocations"] = recorded_stays(s, self.nodes)
        return out

    # ------------------------------------------------------------------ policies written in Python

    def keep_error(self, error):
        """A user's policy raised; the exception goes out at the border."""
        self.error = error

    def chosen_by_python(self, rule, int32_t job, double now, bytes candidates, bytes occ, int field):
        """The index that a `Placement` chooses."""
        submit, _, estimate, size = self.inputs
        boxes = np.frombuffer(candidates, np.int32).reshape(-1, 6)
        bits = np.unpackbits(np.frombuffer(occ, np.uint8), bitorder="little")
        x, y, z = (self.settings["machine"][axis] for axis in "xyz")
        busy = bits[:x * y * field].reshape(x * y, field)[:, :z].astype(bool).reshape(x, y, z)
        job_seen = SimpleNamespace(
            index=self.row_key(job), submit=float(submit[job]), estimate=float(estimate[job]), size=int(size[job]))
        return rule.choose(job_seen, boxes, SimpleNamespace(now=now, busy=busy))

    def nodes_by_python(self, rule, int32_t job, double now, list unused, int32_t count):
        """The nodes that a `Placement` chooses on a cluster."""
        submit, _, estimate, _ = self.inputs
        job_seen = SimpleNamespace(
            index=self.row_key(job), submit=float(submit[job]), estimate=float(estimate[job]), size=count)
        return rule.choose_nodes(job_seen, np.array(unused, np.int32), SimpleNamespace(now=now, nodes=self.s.nodes))


cdef struct slice_t:
    sim_t *s
    int64_t budget
    int code


def run_together(list engines, list budgets):
    """A slice of each engine, one after the other; a status for each, of which `Engine.conclude` makes the rest.

    The GIL is released once for all of them: short runs would wait for it longer than they take.
    """
    cdef Py_ssize_t i, n = len(engines)
    cdef slice_t *slices = <slice_t *>calloc(max(n, 1), sizeof(slice_t))
    cdef Engine engine
    if slices == NULL:
        raise MemoryError("no memory for the slices of runs")
    try:
        for i in range(n):
            engine = engines[i]
            slices[i].s, slices[i].budget = &engine.s, budgets[i]
            engine.refuse_if_unusable()
        for i in range(n):
            (<Engine>engines[i]).busy = True
        with nogil:
            for i in range(n):
                slices[i].code = loop(slices[i].s, slices[i].budget, INFINITY)
        return [slices[i].code for i in range(n)]
    finally:
        free(slices)
