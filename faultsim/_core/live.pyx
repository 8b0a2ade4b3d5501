"""What a caller that owns time, jobs and failures tells a simulation; the contract is in live.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t

import operator

import numpy as np

from faultsim.errors import DecisionError

from faultsim._core.containers.event_queue cimport heap_push
from faultsim._core.event_loop cimport catch_up
from faultsim._core.faults.outages cimport fail_node, job_on, repair_now
from faultsim._core.faults.progress cimport TOO_LATE, progress_end, progress_extend, progress_know
from faultsim._core.state cimport (
    EV_WAKE, FROM_ARRIVALS, FROM_HOLDS, JOB_DONE, JOB_RUNNING, executed, sim_t, source_next, source_t,
)


cdef int settle_hold(sim_t *s) noexcept nogil:
    """What a job is held for has changed."""
    cdef source_t *source
    cdef bint wanted = False
    if not s.recovery.keeps_nodes:  # then there is no such source
        return 0
    source = &s.source[s.source_at[<int>FROM_HOLDS]]
    return source.fire(s, &wanted) if source.time == s.now else 0


cdef class Live(Border):
    """The acts of such a caller; one that is not possible is refused, and changes nothing."""

    # ------------------------------------------------------------------ below

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
        try:
            node = operator.index(node)
        except TypeError:
            self.refuse(f"a node is named by a whole number, not by {node!r:.60}")
        if not 0 <= node < self.s.nodes:
            self.refuse(f"there is no node {node}: nodes are 0 to {self.s.nodes - 1}")
        return node

    # ------------------------------------------------------------------ jobs

    def submit(self, submit, runtime, estimate, size, interval, rank, key, columns, further):
        """Jobs that the caller has got now, by submit time; columns as those of __init__, `columns` of all jobs.

        `further` are the numbers of the further columns that a key names.
        """
        cdef sim_t *s = &self.s
        _inside = self.door.enter()
        self.refuse_unless_live()
        if s.known + len(submit) > s.n:
            self.refuse(f"live={s.n} is room for so many jobs: {s.known} are there, and {len(submit)} more do not fit")
        if submit[0] < s.now:
            self.refuse(f"a job cannot be submitted at {submit[0]:g} s: it is {s.now:g} s already")
        if further is not None:
            self.given["queue_columns"][:, s.known:s.known + len(submit)] = further
        self.add(submit, runtime, estimate, size, interval, rank, key)
        self.world.columns = columns

    cdef int add(self, submit, runtime, estimate, size, interval, rank, key) except -1:
        cdef sim_t *s = &self.s
        cdef int32_t first = s.known, count = <int32_t>len(submit)
        told = [*zip(self.inputs, (submit, runtime, estimate, size))]
        told += [(column, values) for column, values in (
            (self.world.checkpoint_interval, interval), (self.world.shape_rank, rank),
            (self.given.get("queue_key"), key)) if values is not None]
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
        return self.number(first)

    cdef int number(self, int32_t first) except -1:
        """The jobs from `first` on have their numbers, and have not arrived."""
        cdef sim_t *s = &self.s
        cdef int32_t job
        for job in range(first, s.known):
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
        """A node fails now; `downtime` inf: nobody knows when it will be up."""
        cdef sim_t *s = &self.s
        _inside = self.door.enter()
        cdef int32_t node = self.node_at(which), job = job_on(s, node)
        cdef bint wanted = False
        if s.trace.down[node] and s.trace.up_at[node] == INFINITY:
            self.refuse(f"node {node} is down already, for an unknown time: call up({node}) first")
        if job >= 0 and s.state[job] == JOB_RUNNING and s.finish[job] <= s.now:
            self.refuse(f"node {node} has job {self.row_key(job)}, which ends now: let it end first")
        catch_up(s)
        self.translate(fail_node(s, node, s.now + downtime, &wanted))
        self.translate(settle_hold(s))
        if wanted:
            self.translate(heap_push(&s.heap, s.now, EV_WAKE, 0))

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
