"""Many simulations that wait for a decision each; the contract is in environments.pxd."""

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free as c_free, realloc
from libc.string cimport memcpy, memmove, memset

import numpy as np

from faultsim.errors import DecisionError

from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.event_loop cimport end_pass, next_time, run_instant
from faultsim._core.faults.outages cimport outages_before
from faultsim._core.faults.progress cimport progress_know
from faultsim._core.jobs cimport start_job
from faultsim._core.state cimport FROM_ARRIVALS, FROM_TRACE, queue_t, sim_copy, sim_free, source_next
from faultsim._core.status cimport BROKEN, DECIDE, DONE, NO_MEMORY, OK, STUCK

# Bytes per job of the result columns, nine of 8, three of 4, one of 1, and of what its starts have cost so far.
cdef enum:
    DOUBLES = 9
    INTS = 3
    BYTES = 8 * (DOUBLES + 1) + 4 * INTS + 1

cdef double GAMMA = 10.0     # s; the bound of the slowdown
cdef double HALF = 3600.0    # s; a time that an observation shows as 1/2: an hour, a usual run time
cdef double LONGEST = 43200.0            # s; RLScheduler's longest waiting time
cdef double NEARLY = 1e-5    # RLScheduler's distance from 0 and 1


cdef int wait_for_action(void *state, void *sim) noexcept nogil:
    (<sim_t *>sim).deciding = True
    return DECIDE


cdef inline double squash(double seconds) noexcept nogil:
    return seconds / (seconds + HALF)


cdef inline double most(double value) noexcept nogil:
    return value if value < 1.0 - NEARLY else 1.0 - NEARLY


cdef double first_end(sim_t *s) noexcept nogil:
    """When the first of the jobs that hold nodes is expected to end; infinite: there is none."""
    cdef const release_t *items = s.releases.first
    cdef double end = INFINITY
    cdef int32_t i
    if s.releases.n > 0 and items[0].job >= 0 and not s.recovery.keeps_nodes:
        return items[0].end
    items = releases_all(&s.releases)        # the first is a repair, or that of a held job
    for i in range(s.releases.n):
        if items[i].job >= 0 and s.expected[items[i].job] < end:
            end = s.expected[items[i].job]
    return end


cdef int32_t nodes_down(const sim_t *s) noexcept nogil:
    """Those in held jobs, too, which `n_down` leaves out."""
    cdef int32_t node, n = 0
    if not s.recovery.keeps_nodes:
        return s.trace.n_down
    for node in range(s.nodes):
        n += s.trace.down[node]
    return n


cdef class PickJobs:
    """`n` simulations of stretches of a log.

    Parameters
    ----------
    template : Engine
        In which nothing has happened.
    columns : tuple of arrays
        submit, runtime, estimate (float64), size (int32), divisor in the metric (float64), and what an observation
        shows of each job all the time (float32, 2 or 6 per job).
    out : dict of arrays
        seen, mask, reward, now, total, ended, illegal; and first, the rows where next episodes begin (int64).
    """

    def __cinit__(self):
        self.slot = NULL

    def __dealloc__(self):
        cdef int64_t i
        if self.slot != NULL:
            for i in range(self.n):
                if self.slot[i].used:
                    sim_free(&self.slot[i].s)
                c_free(self.slot[i].results)
                c_free(self.slot[i].acted)
            c_free(self.slot)

    def __init__(self, object template, tuple columns, dict out, *, int slots, int preset, int metric, int autoreset,
                 bint telescoping, int threads=1):
        cdef const double[::1] submit = columns[0], runtime = columns[1], estimate = columns[2], divisor = columns[4]
        cdef const int32_t[::1] size = columns[3]
        cdef const float[:, ::1] still = columns[5]
        cdef float[:, :, ::1] seen = out["seen"]
        cdef uint8_t[:, ::1] mask = out["mask"]
        cdef double[::1] reward = out["reward"], now = out["now"], total = out["total"]
        cdef uint8_t[::1] ended = out["ended"]
        cdef int64_t[::1] illegal = out["illegal"]
        cdef const sim_t *s = <const sim_t *>PyCapsule_GetPointer(template.lend(), "faultsim.sim_t")
        cdef int64_t i
        if self.slot != NULL:
            raise RuntimeError("PickJobs is initialised once")
        if (s.machine.placed or s.order.sort != NULL or s.queue.key != NULL or s.queue.need != NULL or s.kill or
                s.start_delay != 0 or s.track.interval != NULL or s.track.clocks.of != NULL):
            raise ValueError("the template is no plain cluster with a queue in order of arrival")
        self.kept, self.template, self.first = (template, columns, out), s, out["first"]
        self.n, self.row, self.jobs, self.n_jobs = seen.shape[0], seen.shape[1] * seen.shape[2], s.n, submit.shape[0]
        self.slots, self.preset, self.metric, self.autoreset = slots, preset, metric, autoreset
        self.telescoping, self.n_still = telescoping, 2 if preset == COMPACT else 6
        if mask.shape[0] != self.n or mask.shape[1] != slots + 1 or self.row != (
                4 * (slots + 1) if preset == COMPACT else 8 * slots) or not (
                reward.shape[0] == now.shape[0] == total.shape[0] == ended.shape[0] == illegal.shape[0] ==
                self.first.shape[0] == self.n) or not (
                runtime.shape[0] == estimate.shape[0] == size.shape[0] == divisor.shape[0] == still.shape[0] ==
                self.n_jobs >= self.jobs) or still.shape[1] != self.n_still:
            raise ValueError("arrays do not fit each other")
        self.submit, self.runtime, self.estimate, self.size = &submit[0], &runtime[0], &estimate[0], &size[0]
        self.divisor, self.still = &divisor[0], &still[0, 0]
        self.seen, self.mask, self.reward, self.now = &seen[0, 0, 0], &mask[0, 0], &reward[0], &now[0]
        self.total, self.ended, self.illegal = &total[0], &ended[0], &illegal[0]
        self.take_on(self.n, threads)
        self.slot = <slot_t *>calloc(self.n, sizeof(slot_t))
        if self.slot == NULL:
            raise MemoryError("no memory for the simulations")
        for i in range(self.n):
            self.slot[i].over, self.slot[i].begun = True, self.first.shape[1]
            self.slot[i].results = <char *>calloc(self.jobs, BYTES)
            if self.slot[i].results == NULL:
                raise MemoryError("no memory for the simulations")

    def reset(self, const int64_t[::1] which):
        """Begin episodes; whether what was drawn is used up in some simulation."""
        cdef int64_t i
        cdef int code = OK
        for i in range(which.shape[0]):
            if not 0 <= which[i] < self.n:
                raise ValueError("there is no such simulation")
        self.told = [False, False]
        with nogil:
            for i in range(which.shape[0]):
                if code >= 0:
                    code = self.enter(which[i])
        self.translate(code)
        return self.told[1]

    def step(self, const int64_t[::1] actions):
        """A step of all simulations: whether an episode ended, and as `reset`; None: there is no such action."""
        cdef int64_t i
        cdef bint known = actions.shape[0] == self.n
        cdef int code
        for i in range(actions.shape[0]):
            known &= 0 <= actions[i] <= self.slots
        if not known:
            return None
        self.told = [False, False]
        self.actions = &actions[0]
        with nogil:
            code = self.share_out()
        self.translate(code)
        return self.told[0], self.told[1]

    def used_up(self):
        """The simulations that have begun all their drawn episodes, for which new ones are to be drawn."""
        cdef int64_t i
        return [i for i in range(self.n) if self.slot[i].begun == self.first.shape[1]]

    def drawn(self, int64_t i):
        """New ones were drawn for a simulation."""
        if not 0 <= i < self.n:
            raise ValueError("there is no such simulation")
        self.slot[i].begun = 0

    def state(self, int64_t i):
        """A simulation for `restore`: whether there is one, the episodes begun of those drawn, the row of the log where
        this one begins, and its actions so far.
        """
        if not 0 <= i < self.n:
            raise ValueError("there is no such simulation")
        cdef slot_t *e = &self.slot[i]
        actions = np.empty(e.n_acted, np.int64)
        cdef int64_t[::1] out = actions
        cdef int64_t k
        for k in range(e.n_acted):
            out[k] = e.acted[k]
        return bool(e.used), e.begun, e.row, actions

    def restore(self, int64_t i, bint used, int64_t begun, int64_t row, const int64_t[::1] actions):
        """Repeat the episode of a simulation."""
        cdef int64_t k
        if not 0 <= i < self.n or not 0 <= begun <= self.first.shape[1]:
            raise ValueError("there is no such simulation")
        cdef slot_t *e = &self.slot[i]
        e.begun = begun
        if not used:
            return
        self.translate(self.begin_at(i, row))
        for k in range(actions.shape[0]):
            if e.over or not 0 <= actions[k] <= self.slots:
                raise ValueError("these are not the actions of such an episode")
            self.translate(self.go_on(i, actions[k]))
        self.show(i)

    cdef int part(self, int64_t begin, int64_t end) noexcept nogil:
        cdef int64_t i
        cdef int code
        for i in range(begin, end):
            code = self.one(i, self.actions[i])
            if code < 0:
                return code
        return OK

    def translate(self, int code):
        """What a status becomes."""
        if code == NO_MEMORY:
            raise MemoryError("no memory for the simulations")
        if code == STUCK:
            raise DecisionError("deadlock: jobs wait, none runs, and nothing else will happen: too many nodes do not "
                                "return")
        if code < 0:
            raise RuntimeError(f"a simulation ended with status {code}")

    cdef int one(self, int64_t at, int64_t action) noexcept nogil:
        cdef slot_t *e = &self.slot[at]
        cdef int code
        self.ended[at] = False
        self.reward[at] = 0.0
        if e.over:
            return self.enter(at) if self.autoreset == NEXT_STEP else OK
        code = self.go_on(at, action)
        if code < 0:
            return code
        if e.over:
            self.ended[at] = self.told[0] = True
            self.total[at] = e.paid
            if self.autoreset == SAME_STEP:
                return self.enter(at)
        self.show(at)
        return OK

    cdef int go_on(self, int64_t at, int64_t action) noexcept nogil:
        """An action, as far as the next decision, and its reward."""
        cdef slot_t *e = &self.slot[at]
        cdef int64_t room
        cdef int32_t *more
        cdef int code
        if e.n_acted == e.cap_acted:
            room = 2 * e.cap_acted + 64      # some episodes of 256 jobs double it four times
            more = <int32_t *>realloc(e.acted, <size_t>room * sizeof(int32_t))
            if more == NULL:
                return NO_MEMORY
            e.acted, e.cap_acted = more, room
        e.acted[e.n_acted] = <int32_t>action
        e.n_acted += 1
        code = self.act(at, action)
        if code < 0:
            return code
        e.over = code == 0
        self.pay(at)
        return OK

    cdef int enter(self, int64_t at) noexcept nogil:
        """A simulation begins again, at the next row of those that were drawn."""
        cdef slot_t *e = &self.slot[at]
        if e.begun == self.first.shape[1]:
            return BROKEN
        e.begun += 1
        if e.begun == self.first.shape[1]:
            self.told[1] = True
        return self.begin_at(at, self.first[at, e.begun - 1])

    cdef int begin_at(self, int64_t at, int64_t first) noexcept nogil:
        """A simulation begins again, at a row of the log."""
        cdef slot_t *e = &self.slot[at]
        cdef sim_t *s = &e.s
        cdef double **double_column[DOUBLES]
        cdef int32_t **int_column[INTS]
        cdef size_t n = self.jobs
        cdef int32_t i
        cdef int code
        if not 0 <= first <= self.n_jobs - self.jobs:
            return BROKEN
        e.row, e.n_acted = first, 0
        if e.used:
            sim_free(s)
        e.used = True
        if sim_copy(s, self.template) < 0:
            return NO_MEMORY
        if s.scheduler.close != NULL:
            s.scheduler.close(s.scheduler.state)
        memset(&s.scheduler, 0, sizeof(s.scheduler))
        s.scheduler.schedule, s.scheduler.elsewhere = wait_for_action, True
        double_column[0], double_column[1], double_column[2] = &s.first_start, &s.start, &s.finish
        double_column[3], double_column[4], double_column[5] = &s.run, &s.lost_work, &s.checkpoint_time
        double_column[6], double_column[7] = &s.restart_time, &s.failure_wait
        double_column[8] = &s.slowed_time
        int_column[0], int_column[1], int_column[2] = &s.allocated, &s.restarts, &s.moves
        memset(e.results, 0, n * BYTES)
        for i in range(DOUBLES):
            double_column[i][0] = <double *>(e.results + 8 * n * i)
        for i in range(INTS):
            int_column[i][0] = <int32_t *>(e.results + 8 * n * (DOUBLES + 1) + 4 * n * i)
        e.counted = <double *>(e.results + 8 * n * DOUBLES)
        s.backfilled = <uint8_t *>(e.results + n * (8 * (DOUBLES + 1) + 4 * INTS))
        s.submit, s.runtime, s.estimate = self.submit + first, self.runtime + first, self.estimate + first
        s.size, s.remaining = self.size + first, self.estimate + first
        for i in range(s.n):
            s.need[i] = s.size[i]
            s.run[i] = s.runtime[i]
        s.now = s.clock = s.submit[0]
        source_next(s, FROM_ARRIVALS, s.submit[0])
        if s.track.on:
            progress_know(s, 0, s.n)
            s.remaining = s.track.remaining
            if outages_before(s) < 0:
                return NO_MEMORY
            if s.trace.n > 0:
                source_next(s, FROM_TRACE, s.trace.time[s.trace.next] if s.trace.next < s.trace.n else INFINITY)
        e.started = e.paid = 0.0
        e.illegal = 0
        code = self.settle(e)
        if code < 0:
            return code
        e.over = code == 0       # only if all jobs have ended: none fits where all nodes are down
        self.show(at)
        return OK

    cdef int settle(self, slot_t *e) noexcept nogil:
        """1: a decision waits; 0: all jobs have ended; or a status < 0."""
        cdef int code
        while True:
            code = end_pass(&e.s) if e.s.deciding else OK
            while code == OK:
                code = run_instant(&e.s)
            if code == STUCK and self.any_fits(&e.s):
                e.s.deciding = True      # the decision is as it was: waiting has changed nothing
                return 1
            if code < 0:
                return code
            if code == DONE:
                return 0
            if self.any_fits(&e.s):
                return 1

    cdef bint any_fits(self, const sim_t *s) noexcept nogil:
        cdef const queue_t *q = &s.queue
        cdef int32_t i, end = min(q.end, q.head + self.slots)
        for i in range(q.head, end):
            if s.need[q.job[i]] <= s.free:
                return True
        return False

    cdef bint possible(self, sim_t *s, int64_t action) noexcept nogil:
        if action == self.slots:
            return next_time(s) != INFINITY
        return action < s.queue.end - s.queue.head and s.need[s.queue.job[s.queue.head + action]] <= s.free

    cdef int32_t first_that_fits(self, const sim_t *s) noexcept nogil:
        cdef int32_t i = 0
        while s.need[s.queue.job[s.queue.head + i]] > s.free:
            i += 1
        return i

    cdef int act(self, int64_t at, int64_t action) noexcept nogil:
        """Do what is possible, and settle."""
        cdef slot_t *e = &self.slot[at]
        cdef sim_t *s = &e.s
        cdef queue_t *q = &s.queue
        cdef int32_t place, job
        cdef double cost
        if not self.possible(s, action):
            e.illegal += 1
            action = self.slots if self.possible(s, self.slots) else self.first_that_fits(s)
        if action < self.slots:
            place = q.head + <int32_t>action
            job = q.job[place]
            cost = self.cost(s, job)
            e.started += cost - e.counted[job]       # of a job that starts again, what it costs more
            e.counted[job] = cost
            if start_job(s, job, s.need[job], NULL, place != q.head) < 0:
                return NO_MEMORY
            if place == q.head:
                q.head += 1
            else:
                memmove(&q.job[place], &q.job[place + 1], <size_t>(q.end - place - 1) * sizeof(int32_t))
                q.end -= 1
            if q.head == q.end:
                q.head = q.end = 0
            if self.any_fits(s):
                return 1
        return self.settle(e)

    cdef double cost(self, const sim_t *s, int32_t job) noexcept nogil:
        """What a job adds to the sum if it starts now."""
        cdef double wait = s.now - s.submit[job]
        if self.metric == MEAN_WAIT:
            return wait
        return self.of_response(s, job, wait + s.runtime[job])

    cdef double of_response(self, const sim_t *s, int32_t job, double response) noexcept nogil:
        if self.metric == MEAN_BOUNDED_SLOWDOWN and response < GAMMA:
            response = GAMMA
        return response / self.divisor[(s.submit - self.submit) + job]

    cdef double sum_of_all(self, const sim_t *s) noexcept nogil:
        """What all jobs of an episode that has ended add, in the order of their rows, as `rewards.sum_of` does."""
        cdef double total = 0.0
        cdef int32_t job
        for job in range(s.n):
            if self.metric == MEAN_WAIT:
                total += s.start[job] - s.submit[job]
            else:
                total += self.of_response(s, job, s.finish[job] - s.submit[job])
        return total

    cdef void pay(self, int64_t at) noexcept nogil:
        cdef slot_t *e = &self.slot[at]
        cdef double total = self.sum_of_all(&e.s) if e.over else e.started
        cdef int32_t i
        if not e.over:
            if not self.telescoping:
                return
            for i in range(e.s.queue.head, e.s.queue.end):
                total += self.cost(&e.s, e.s.queue.job[i]) - e.counted[e.s.queue.job[i]]
        total /= e.s.n
        self.reward[at] = e.paid - total
        e.paid = total

    # ------------------------------------------------------------------ what is seen

    cdef void show(self, int64_t at) noexcept nogil:
        cdef slot_t *e = &self.slot[at]
        cdef sim_t *s = &e.s
        cdef uint8_t *mask = self.mask + at * (self.slots + 1)
        cdef int32_t i, n = 0 if e.over else min(self.slots, s.queue.end - s.queue.head)
        for i in range(n):
            mask[i] = s.need[s.queue.job[s.queue.head + i]] <= s.free
        memset(mask + n, 0, self.slots - n)
        mask[self.slots] = e.over or self.possible(s, self.slots)
        self.now[at], self.illegal[at] = s.now, e.illegal
        if self.preset == COMPACT:
            self.show_compact(e, self.seen + at * self.row, n)
        else:
            self.show_rlscheduler(e, self.seen + at * self.row, n)
        e.shown = n

    cdef void show_compact(self, slot_t *e, float *to, int32_t n) noexcept nogil:
        cdef sim_t *s = &e.s
        cdef const float *still = self.still + 2 * (s.submit - self.submit)
        cdef int32_t i, job, waiting = s.queue.end - s.queue.head
        cdef double soon = 1.0, next_end
        memset(to, 0, 4 * sizeof(float))
        if not e.over:
            next_end = first_end(s)
            if next_end < INFINITY:
                soon = next_end - s.now
                soon = squash(soon) if soon > 0 else 0.0
            to[0] = <float>(s.free / <double>s.nodes)
            to[1] = <float>(nodes_down(s) / <double>s.nodes)
            to[2] = <float>(waiting / <double>(waiting + self.slots))
            to[3] = <float>soon
        for i in range(n):
            to += 4
            job = s.queue.job[s.queue.head + i]
            to[0] = <float>squash(s.now - s.submit[job])
            to[1] = still[2 * job]
            to[2] = still[2 * job + 1]
            to[3] = s.need[job] <= s.free
        if e.shown > n:
            memset(to + 4, 0, <size_t>(e.shown - n) * 4 * sizeof(float))

    cdef void show_rlscheduler(self, slot_t *e, float *to, int32_t n) noexcept nogil:
        cdef sim_t *s = &e.s
        cdef const float *still = self.still + 6 * (s.submit - self.submit)
        cdef int32_t i, k, job
        for i in range(n):
            job = s.queue.job[s.queue.head + i]
            to[0] = <float>most((s.now - s.submit[job]) / LONGEST)
            memcpy(to + 1, still + 6 * job, 6 * sizeof(float))
            to[7] = <float>(1.0 - NEARLY if s.need[job] <= s.free else NEARLY)
            to += 8
        for _ in range(n, e.shown):
            to[0] = to[7] = 0.0
            for k in range(1, 7):
                to[k] = 1.0
            to += 8
