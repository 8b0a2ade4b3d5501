"""The engine: the event loop's Python border.

One ``with nogil`` a call.
"""

from cpython.exc cimport PyErr_CheckSignals
from cpython.pycapsule cimport PyCapsule_New
from cpython.ref cimport PyObject
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

import numpy as np

from faultsim._core.containers.releases cimport releases_all
from faultsim._core.contract cimport FAULTSIM_DEBUG
from faultsim._core.decisions cimport Decision, new_decision
from faultsim._core.door cimport Inside
from faultsim._core.event_loop cimport (
    R_BUDGET, R_UNTIL, end_pass, fire_arrival, next_time, run_instant, run_until, take_pass,
)
from faultsim._core.live cimport Live
from faultsim._core.tables.factory cimport call_factory
from faultsim._core.containers.event_queue cimport event_t, heap_pop
from faultsim._core.faults.outages cimport fire_failure, outages_before
from faultsim._core.faults.progress cimport progress_open
from faultsim._core.inputs cimport set_inputs
from faultsim._core.queue cimport queue_again, sort_as_of_pass, sort_queue
from faultsim._core.record cimport lend_ranges, recorded_events, recorded_ranges, recorded_stays
from faultsim._core.snapshot cimport snapshot_of
from faultsim._core.so_far cimport book_so_far, columns_so_far, states_of
from faultsim._core.state cimport (
    ASK_CHECKPOINT, ASK_FAILURE, ASK_SCHEDULE, EV_ARRIVAL, EV_FAILURE, FROM_ARRIVALS, FROM_TRACE, JOB_DONE, N_ACCOUNTS,
    N_QUESTIONS, add_source, disturb, sim_alloc, sim_copy, sim_t, timed_out, was_killed,
)
from faultsim._core.status cimport DECIDE, DONE, STUCK

#: Whether this is a FAULTSIM_DEBUG build: C assertions, bounds checks, and all invariants after every chunk of events.
DEBUG = bool(FAULTSIM_DEBUG)

# In the order in which they are opened: a later one may ask what an earlier one has filled in.
_POLICIES = ("placement", "order", "scheduler", "migration", "recovery", "checkpointing", "rescheduling")

#: Kinds of decisions by what is asked.
_KINDS = ("schedule", "failure", "checkpoint", "tick")
# Kinds of the policies in Python that answer them.
_ANSWERS = ("scheduler", "recovery", "checkpointing", "rescheduling")

_REASONS = {<int>DONE: "done", <int>R_BUDGET: "budget", <int>R_UNTIL: "until", <int>DECIDE: "decide"}


cdef int run_on(sim_t *s, int64_t budget, double until) noexcept nogil:
    """`run_until` after a decision, whose pass ends here."""
    cdef int code
    if s.deciding:
        code = end_pass(s)
        if code < 0 or code == DECIDE:
            return code
    return run_until(s, budget, until)


cdef class Engine(Live):
    """A simulation of the columns under the settings (see ``faultsim.simulate``, its only user)."""

    def __init__(self, settings, submit, runtime, estimate, size, world=None):
        cdef sim_t *s = &self.s
        if self.ready:
            raise RuntimeError("an Engine is initialised once")
        self.settle(settings)
        self.inputs = (submit, runtime, estimate, size)
        self.columns = {}
        self.point_to_columns()
        self.world = {**(world or {}), "kept": [], "n_jobs": s.n}
        s.known, s.live = self.world.get("known", s.n), self.world.get("live", False)
        if s.live:
            self.own_inputs()        # a key may be a column of the log
            self.point_to_columns()
        s.kill, s.start_delay = settings["overrun"] == "kill", settings["start_delay"]
        s.latest = settings["latest"]
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
        if s.live:
            self.point_to_told()
        self.ready = True

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
        cdef const int32_t[::1] rows, jobs
        cdef Decision decision
        self.translate(sort_as_of_pass(&self.s))
        if self.rows is None:
            decision = new_decision(self, &self.s, kind, reader, NULL, NULL, self.s.known)
        else:
            rows, jobs = self.rows, self.jobs
            decision = new_decision(self, &self.s, kind, reader, &rows[0], &jobs[0], jobs.shape[0])
        decision.inside = self.busy
        if self.s.record.on:
            decision.event, decision.stay = self.event, self.stay
        return decision

    cdef Decision hand_out(self, str kind):
        """To the caller, who is told of changes once."""
        cdef Decision decision = self.decide(kind, "caller")
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
            raise self.settings["decision_error"](f"advance(until={until:g}): it is {s.now:g} s already")
        self.begin()
        try:
            while code == R_BUDGET:
                with nogil:
                    code = run_on(s, 1 << 16, until)
                if code == R_BUDGET:
                    PyErr_CheckSignals()
        finally:
            self.busy = False
        if code == DECIDE:
            return self.hand_out(self.kind_asked())
        if code == STUCK and (s.scheduler.elsewhere or s.live):
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
        return self.hand_out("time")

    @property
    def decision(self):
        """What is to be decided now, with changes since the last advance; None if nothing is."""
        _inside = self.look()
        if self.busy or self.s.closed or not (self.s.deciding or self.stopped):
            return None
        return self.decide(self.kind_asked() if self.s.deciding else "time", "caller")

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
        if s.order.close != NULL:
            s.order.close(s.order.state)
        memset(&s.scheduler, 0, sizeof(s.scheduler))
        memset(&s.order, 0, sizeof(s.order))
        s.queue.key = s.queue.column = NULL
        self.settings = {**self.settings, "scheduler": scheduler}
        self.world = {**self.world, "queue_key": None, "queue_columns": None, **inputs}
        call_factory(order, s, scheduler["order"], self.world)
        call_factory(factory, s, scheduler, self.world)
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
        if s.deciding:
            self.translate(take_pass(s) if s.asked.resume == NULL else end_pass(s))

    def decide_in_python(self, scheduler):
        """A pass of a `Scheduler` written in Python."""
        try:
            given = scheduler.schedule(self.decide("schedule", "scheduler"))
            if given is not None:
                raise self.settings["nothing_returned"](scheduler, "schedule", given)
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
        """What a policy written in Python says to the question that is asked."""
        cdef int question = self.s.asked.question
        decision = self.decide(_KINDS[question], _ANSWERS[question])
        try:
            if question == ASK_CHECKPOINT:
                return policy.wants(decision)
            given = policy.react(decision) if question == ASK_FAILURE else policy.tick(decision)
            if given is not None:
                raise self.settings["nothing_returned"](policy, "react" if question == ASK_FAILURE else "tick", given)
            return False
        finally:
            self.s.n_decisions += 1

    cpdef Inside look(self):
        """For a look that may sort the queue: an order in Python is somebody else's code."""
        return self.door.enter("object" not in self.settings["scheduler"]["order"])

    cdef int sort_by_now(self) except -1:
        """Put the queue in the order that the last pass would have given it; an order in Python must not act."""
        cdef int code
        self.s.closed = True
        code = sort_as_of_pass(&self.s)
        self.s.closed = False
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
        return self.columns["lost_work"].sum()

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
        searched = self.s.machine.searched(self.s.machine.state) if self.s.machine.placed else 0
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
        cdef int state = s.state[job]
        if was_killed(s, job):
            state += 2
        elif state == JOB_DONE and timed_out(s, job):
            state += 1
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
        other = Engine.__new__(Engine)
        other.settle(self.settings)
        other.inputs = self.inputs
        other.world = self.world
        other.rows, other.jobs, other.event, other.stay = self.rows, self.jobs, self.event, self.stay
        other.stopped, other.foreseen = self.stopped, self.foreseen
        other.columns = {name: column.copy() for name, column in self.columns.items()}
        with nogil:
            code = sim_copy(&other.s, &self.s)
        other.translate(code)        # a copy that failed leaves this simulation as it is
        if self.s.live:
            other.own_inputs()
            other.point_to_told()
        other.point_to_columns()
        other.s.owner = <void *><PyObject *>other
        other.ready = True
        return other

    def lend(self):
        """The simulation itself, for environments.pyx, which copies it and keeps this engine."""
        return PyCapsule_New(&self.s, "faultsim.sim_t", NULL)

    # ------------------------------------------------------------------ results

    def output(self):
        """The finished simulation's columns, counts and ledger, as documented in faultsim.simulate."""
        cdef sim_t *s = &self.s
        _inside = self.door.enter(True)
        if s.n_done != s.known:
            raise RuntimeError(f"the simulation has not finished: {s.n_done} of {s.known} jobs have ended")
        if not s.live:
            out = dict(self.columns)
            if s.track.killed_for_good:
                out["state"] = states_of(s)
            return self.add_totals(out)
        # It may go on, and what is given out stays as it is.
        out = {name: values[:s.known].copy() for name, values in self.columns.items()}
        out["state"] = states_of(s)
        return self.add_totals(out)

    def output_so_far(self):
        """The same of a simulation that is not over, as of now (model.md#partial)."""
        cdef Engine other = self.copy()
        book_so_far(&other.s)
        return other.add_totals(columns_so_far(&other.s, other.columns))

    cdef dict add_totals(self, dict out):
        cdef sim_t *s = &self.s
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
            if s.live:
                self.ranges = recorded_ranges(s)
            elif self.ranges is None and not s.machine.boxes:
                self.lent = s.record.n_ranges > 0
                self.ranges = lend_ranges(s) if self.lent else recorded_ranges(s)
            out["allocations"] = recorded_stays(s, self.ranges)
        return self.by_row(out) if s.live else out

    cdef dict by_row(self, dict out):
        """What comes out of jobs that were not all submitted in the order of their submit times."""
        cdef int32_t n = self.s.known
        rows, jobs = self.rows[:n], self.jobs[:n]
        if (rows == np.arange(n)).all():
            return out
        for name in (*self.columns, "state"):
            out[name] = out[name][jobs]
        for name in ("events_table", "allocations"):
            job = out[name]["job"]
            out[name]["job"] = np.where(job < 0, job, rows[job])
        return out


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
