"""The engine: the event loop's Python border.

One ``with nogil`` a call.  Status codes from below become exceptions here, and nowhere else.
"""

from cpython.ref cimport PyObject
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from types import SimpleNamespace

import numpy as np

from faultsim._core.scheduling.conservative_counted cimport (
    plan_alloc_cluster, released_conservative_cluster, schedule_conservative_cluster,
)
from faultsim._core.scheduling.conservative_placed cimport (
    plan_alloc_torus, released_conservative_torus, schedule_conservative_torus,
)
from faultsim._core.scheduling.defragment cimport defragment
from faultsim._core.faults.failures cimport failures_before
from faultsim._core.event_loop cimport next_time, run_instant
from faultsim._core.cluster.node_sets cimport take_first_fit, take_least_failures, take_safest
from faultsim._core.scheduling.orders cimport order_python, order_unicef, order_wfp3
from faultsim._core.scheduling.placement cimport (
    place_balancing, place_first_fit, place_max_free, place_python, place_tie_breaking,
)
from faultsim._core.recorded cimport lend_nodes, recorded_events, recorded_stays
from faultsim._core.scheduling.easy_counted cimport schedule_cluster
from faultsim._core.scheduling.easy_placed cimport schedule_torus
from faultsim._core.state cimport (
    BROKEN, DONE, NO_MEMORY, OK, PYTHON_ERROR, STUCK, sim_alloc, sim_copy, sim_free, sim_t,
)
from faultsim._core.torus.occupancy cimport torus_init
from faultsim._core.verify cimport broken_invariant
from faultsim._core.engine_inputs cimport set_world

cdef extern from "contract.h" nogil:
    const int FAULTSIM_DEBUG
    const int FS_VERIFY_EVERY

#: Whether this is a FAULTSIM_DEBUG build: C assertions, bounds checks, and all invariants after every chunk of events.
DEBUG = bool(FAULTSIM_DEBUG)

# Event kinds of `events_table`, by number (MODEL 2; the last two are records of what passes did).
EVENT_KINDS = ("finish", "repair", "failure", "checkpoint", "reschedule", "arrival", "start", "move")

# In the order of sim.pxd's `account`.
ACCOUNTS = (
    "useful", "lost", "checkpoint", "restart", "migration", "start_delay", "growth", "held_for_repair", "down",
    "idle_no_demand", "idle_demand",
)

_BOX_ORDERS = {"extents-descending": 0, "extents-ascending": 1, "bases": 2}

# Result columns and their types; the arrays are the caller's and the engine writes into them.
_RESULTS = {
    "first_start": np.float64, "start": np.float64, "finish": np.float64, "runtime": np.float64,
    "allocated": np.int32, "restarts": np.int32, "lost_work": np.float64, "checkpoint_time": np.float64,
    "restart_time": np.float64, "failure_wait": np.float64, "moves": np.int32, "backfilled": np.bool_,
}

# Exceptions of a broken engine and of a user's policy that answers wrongly; the face puts its own here.
_errors = [RuntimeError, ValueError]


def use_errors(engine_error, input_error):
    """The exception classes to raise (the core imports nothing from the face)."""
    _errors[:] = engine_error, input_error


cdef enum reason:
    R_DONE = 1
    R_BUDGET = 2
    R_UNTIL = 3

_REASONS = {<int>R_DONE: "done", <int>R_BUDGET: "budget", <int>R_UNTIL: "until"}


cdef int loop(sim_t *s, int64_t budget, double until) noexcept nogil:
    """Run until all is done, `budget` events and ticks were handled, or the next event is later than `until`."""
    # A tick that moves nobody is no event, but takes its time all the same.
    cdef int64_t limit = (s.n_events + s.fars.next) + budget, look = s.n_events + FS_VERIFY_EVERY
    cdef double t
    cdef int code
    while s.n_events + s.fars.next < limit:
        if FAULTSIM_DEBUG and (s.n_events >= look or s.n_done == s.n):
            look = s.n_events + FS_VERIFY_EVERY
            if broken_invariant(s) != NULL:
                return BROKEN
        t = next_time(s)
        if t > until:
            return R_DONE if s.n_done == s.n else R_UNTIL
        code = run_instant(s, t)
        if code < 0:
            return code
        if code == DONE:
            return R_DONE
    return R_BUDGET


cdef class Engine:
    """A simulation of the columns under the settings (see ``faultsim.simulate``, its only user)."""

    cdef sim_t s
    cdef bint ready
    cdef bint busy           # some thread is inside run() or step(), perhaps in a policy written in Python
    cdef bint failed         # a pass was broken off half way
    cdef readonly dict settings
    cdef dict columns
    cdef object inputs
    cdef object world        # keeps the arrays of failures, predictions and alarms
    cdef object error
    cdef object nodes        # the recorded nodes as an array, once they were asked for
    cdef bint lent           # they are its own now

    def __cinit__(self):
        memset(&self.s, 0, sizeof(sim_t))
        self.ready = False
        self.error = None

    def __dealloc__(self):
        if self.lent:
            self.s.record.node = NULL    # the array that has it frees it
        sim_free(&self.s)

    def __init__(self, settings, submit, runtime, estimate, size, world=None):
        cdef int code
        if self.ready:
            raise RuntimeError("an Engine is initialised once")
        self.settings = settings
        self.inputs = (submit, runtime, estimate, size)
        self.columns = {name: np.zeros(len(submit), dtype) for name, dtype in _RESULTS.items()}
        self.point_to_columns()
        self.set_machine(settings["machine"])
        self.set_policies(settings)
        self.world = set_world(&self.s, settings, world)
        code = sim_alloc(&self.s)
        if code == OK:
            code = self.set_up_queue(settings["scheduler"])
        if code == OK and self.s.faults.on:
            code = failures_before(&self.s)
        self.translate(code)
        self.ready = True

    cdef int point_to_columns(self) except -1:
        cdef const double[::1] submit = self.inputs[0], runtime = self.inputs[1], estimate = self.inputs[2]
        cdef const int32_t[::1] size = self.inputs[3]
        cdef double[::1] f
        cdef int32_t[::1] i
        cdef uint8_t[::1] b
        cdef sim_t *s = &self.s
        if submit.shape[0] < 1 or not (
                submit.shape[0] == runtime.shape[0] == estimate.shape[0] == size.shape[0]):
            raise ValueError("columns must have one length, at least 1")
        s.n = <int32_t>submit.shape[0]
        s.submit, s.runtime, s.estimate, s.size = &submit[0], &runtime[0], &estimate[0], &size[0]
        f = self.columns["first_start"]
        s.first_start = &f[0]
        f = self.columns["start"]
        s.start = &f[0]
        f = self.columns["finish"]
        s.finish = &f[0]
        f = self.columns["runtime"]
        s.run = &f[0]
        f = self.columns["lost_work"]
        s.lost_work = &f[0]
        f = self.columns["checkpoint_time"]
        s.checkpoint_time = &f[0]
        f = self.columns["restart_time"]
        s.restart_time = &f[0]
        f = self.columns["failure_wait"]
        s.failure_wait = &f[0]
        i = self.columns["allocated"]
        s.allocated = &i[0]
        i = self.columns["restarts"]
        s.restarts = &i[0]
        i = self.columns["moves"]
        s.moves = &i[0]
        b = self.columns["backfilled"].view(np.uint8)
        s.backfilled = &b[0]
        return 0

    cdef int set_machine(self, machine) except -1:
        cdef sim_t *s = &self.s
        if machine["name"] == "torus":
            if torus_init(&s.torus, machine["x"], machine["y"], machine["z"], machine["wrap"]) < 0:
                raise MemoryError("no memory for the torus")
            s.is_torus = True
            s.nodes = s.torus.nodes
        elif machine["name"] == "cluster":
            s.nodes = machine["nodes"]
        else:
            raise ValueError(f"unknown machine {machine['name']!r}")
        return 0

    cdef int set_policies(self, settings) except -1:
        """Names become function pointers, once; nothing below reads a name."""
        cdef sim_t *s = &self.s
        scheduler, placement, migration = settings["scheduler"], settings["placement"], settings["migration"]
        name = scheduler["name"]
        if name == "conservative":
            s.policy.schedule = schedule_conservative_torus if s.is_torus else schedule_conservative_cluster
            s.policy.released = released_conservative_torus if s.is_torus else released_conservative_cluster
        elif name in ("fcfs", "easy"):
            s.policy.schedule = schedule_torus if s.is_torus else schedule_cluster
            s.policy.backfill = name == "easy"
        else:
            raise ValueError(f"unknown scheduler {name!r}")
        s.policy.fixed = scheduler.get("reservation") == "fixed"
        s.policy.max_growth = min(scheduler.get("max_growth", 0), <object>s.nodes)
        if s.is_torus:
            s.policy.box_order = _BOX_ORDERS[placement["box_order"]]
            if placement["name"] == "first_fit":
                s.policy.place = place_first_fit
            elif placement["name"] == "max_free_partition":
                s.policy.place = place_max_free
            elif placement["name"] == "balancing":
                s.policy.place = place_balancing
                s.policy.rule_max = placement["rule"] == "max"
            elif placement["name"] == "tie_breaking":
                s.policy.place = place_tie_breaking
            elif placement["name"] == "python":
                s.policy.place = place_python
                s.policy.python_place = <void *><PyObject *>placement["object"]
            else:
                raise ValueError(f"unknown placement {placement['name']!r}")
        elif placement["name"] == "least_failures_first":
            s.policy.take = take_least_failures
        elif placement["name"] == "safest_first":
            s.policy.take = take_safest
        elif placement["name"] == "first_fit":
            s.policy.take = take_first_fit
        else:
            raise ValueError(f"unknown placement {placement['name']!r} for a cluster")
        if migration is not None and migration["name"] == "least_failures" and not s.is_torus:
            s.faults.evades = True
            s.faults.threshold = migration["threshold"]
            s.faults.move_cost = migration["cost"]
        elif migration is not None:
            if migration["name"] != "defragment" or not s.is_torus:
                raise ValueError(f"unknown migration {migration['name']!r} for this machine")
            s.policy.migrate = defragment
            s.policy.min_free = migration["min_free"]
            s.policy.max_concentration = migration["max_concentration"]
            s.policy.move_cost = migration["cost"]
            s.policy.always = migration["when"] == "always"
            s.policy.keep_promise = migration["keep_promise"]
        s.policy.kill = settings["overrun"] == "kill"
        s.policy.start_delay = settings["start_delay"]
        s.policy.owner = <void *><PyObject *>self
        s.record.on = settings["record"]
        return 0

    cdef int set_up_queue(self, scheduler) except? -100:
        cdef sim_t *s = &self.s
        cdef int32_t i
        order = scheduler["order"]["name"]
        if s.policy.backfill and not s.is_torus:
            s.wait.look.need = <int32_t *>malloc(<size_t>s.n * sizeof(int32_t))
            s.wait.look.least = <float *>malloc(<size_t>s.n * sizeof(float))
            if s.wait.look.need == NULL or s.wait.look.least == NULL:
                return NO_MEMORY
        if order in ("shortest", "largest"):
            s.wait.key = <double *>malloc(<size_t>s.n * sizeof(double))
            if s.wait.key == NULL:
                return NO_MEMORY
            for i in range(s.n):
                s.wait.key[i] = s.estimate[i] if order == "shortest" else -<double>s.size[i]
        elif order == "wfp3":
            s.policy.order = order_wfp3
        elif order == "unicef":
            s.policy.order = order_unicef
        elif order == "python":
            s.policy.order = order_python
            s.policy.python_order = <void *><PyObject *>scheduler["order"]["object"]
        elif order != "arrival":
            raise ValueError(f"unknown queue order {order!r}")
        if scheduler["name"] == "conservative":
            return plan_alloc_torus(s) if s.is_torus else plan_alloc_cluster(s)
        return OK

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
        if code == STUCK:
            raise _errors[0]("jobs wait, nothing runs and nothing will happen")
        if code == BROKEN:
            self.verify()        # says which
            raise _errors[0]("an invariant does not hold")
        raise _errors[0](f"unknown status {code}")

    # ------------------------------------------------------------------ running

    def run(self, budget=None, double until=INFINITY):
        """Run at most `budget` events and ticks, up to and with time `until`: "done", "budget" or "until"."""
        cdef int64_t most = (1 << 62) if budget is None else budget
        cdef int code
        self.refuse_if_unusable()
        self.busy = True
        with nogil:
            code = loop(&self.s, most, until)
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
        self.busy = True
        with nogil:
            code = run_instant(&self.s, next_time(&self.s))
        self.busy = False
        self.translate(code)
        return code != DONE

    cdef int refuse_if_unusable(self) except -1:
        if self.busy:
            raise _errors[0]("this simulation is in the middle of a step, in another thread or in the policy that asks")
        if self.failed:
            raise _errors[0]("an exception broke off a scheduling pass of this simulation; it cannot go on, begin anew")
        return 0

    @property
    def now(self):
        """Time of the last instant handled, in seconds."""
        return self.s.now

    @property
    def next_time(self):
        """Time of the next event, inf when none is left."""
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
    def n_events(self):
        """Events handled so far."""
        return self.s.n_events

    def queue(self):
        """Waiting jobs (row numbers, int32) in queue order."""
        cdef int32_t i
        return np.array([self.s.wait.job[i] for i in range(self.s.wait.head, self.s.wait.end)], np.int32)

    def running(self):
        """Jobs that hold nodes (row numbers, int32), ascending."""
        cdef int32_t i
        jobs = [self.s.releases.items[i].job for i in range(self.s.releases.n)]
        return np.sort(np.array([job for job in jobs if job >= 0], np.int32))

    def verify(self):
        """Check the invariants of MODEL 16; EngineError says which is broken."""
        cdef const char *found
        with nogil:
            found = broken_invariant(&self.s)
        if found != NULL:
            raise _errors[0](found.decode())

    def copy(self):
        """An independent twin that goes on from here."""
        cdef Engine other
        cdef int code
        self.refuse_if_unusable()
        other = Engine.__new__(Engine)
        other.settings = self.settings
        other.inputs = self.inputs
        other.world = self.world
        other.columns = {name: column.copy() for name, column in self.columns.items()}
        with nogil:
            code = sim_copy(&other.s, &self.s)
        other.point_to_columns()
        other.s.policy.owner = <void *><PyObject *>other
        other.ready = True
        self.translate(code)
        return other

    # ------------------------------------------------------------------ results

    def output(self):
        """The finished simulation's columns, counts and ledger, as documented in faultsim.simulate."""
        cdef sim_t *s = &self.s
        cdef int i
        if s.n_done != s.n:
            raise RuntimeError(f"the simulation has not finished: {s.n_done} of {s.n} jobs have ended")
        out = dict(self.columns)
        out["migrations_attempted"] = s.n_attempted
        out["migrations_successful"] = s.n_successful
        out["failures"] = s.faults.n_handled
        out["failures_hit"] = s.faults.n_hit
        out["checkpoints"] = s.faults.n_checkpoints
        out["events"] = s.n_events
        out["passes"] = s.n_passes
        out["ledger"] = {name: s.ledger[i] for i, name in enumerate(ACCOUNTS)}
        out["makespan_begin"] = s.submit[0]
        out["makespan_end"] = s.clock
        if s.record.on:
            out["events_table"] = recorded_events(s)
            if self.nodes is None and not s.is_torus:
                self.nodes = lend_nodes(s)
                self.lent = True
            out["allocations"] = recorded_stays(s, self.nodes)
        return out

    # ------------------------------------------------------------------ policies written in Python

    def keep_error(self, error):
        """A user's policy raised; the exception goes out at the border."""
        self.error = error

    def sorted_by_python(self, order, jobs, double now):
        """The jobs (row numbers) in the order of a `QueueOrder`."""
        submit, _, estimate, size = self.inputs
        cdef int32_t i
        if self.s.entry == NULL:
            index = np.sort(np.array(jobs, np.int32))
        else:
            index = np.array(sorted(jobs, key=[self.s.entry[i] for i in range(self.s.n)].__getitem__), np.int32)
        queue = SimpleNamespace(
            index=index, submit=submit[index], estimate=estimate[index], size=size[index])
        keys = np.asarray(order.keys(queue, now), dtype=np.float64)
        if keys.shape != index.shape or np.isnan(keys).any():
            raise _errors[1](
                f"queue order: keys() must give {len(index)} numbers, none NaN; got shape {keys.shape}")
        return index[np.argsort(keys, kind="stable")]

    def chosen_by_python(self, rule, int32_t job, double now, bytes candidates, bytes occ):
        """The index that a `Placement` chooses."""
        submit, _, estimate, size = self.inputs
        boxes = np.frombuffer(candidates, np.int32).reshape(-1, 6)
        bits = np.unpackbits(np.frombuffer(occ, np.uint8), bitorder="little")
        lines, field = self.s.torus.lines, self.s.torus.field
        busy = bits[:lines * field].reshape(lines, field)[:, :self.s.torus.z].astype(bool).reshape(
            self.s.torus.x, self.s.torus.y, self.s.torus.z)
        index = rule.choose(
            SimpleNamespace(
                index=int(job), submit=float(submit[job]), estimate=float(estimate[job]), size=int(size[job])),
            boxes, SimpleNamespace(now=now, busy=busy))
        if not isinstance(index, (int, np.integer)) or not 0 <= index < len(boxes):
            raise _errors[1](f"placement: choose() gave {index!r} for {len(boxes)} candidates")
        return int(index)


cdef struct slice_t:
    sim_t *s
    int64_t budget
    int code


def run_together(list engines, list budgets):
    """A slice of each engine, one after the other; a status for each, of which `Engine.conclude` makes the rest.

    The interpreter's lock is let go once for all of them: where runs are short, waiting for it takes longer than they.
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
