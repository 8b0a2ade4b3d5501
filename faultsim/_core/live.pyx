"""What a caller that owns time, jobs and failures tells a simulation (model.md#owned)."""

from libc.stdint cimport int32_t

from faultsim._core.containers.event_queue cimport heap_push
from faultsim._core.event_loop cimport catch_up
from faultsim._core.faults.outages cimport fail_node, job_on, repair_now
from faultsim._core.faults.progress cimport progress_end, progress_extend, progress_know
from faultsim._core.state cimport (
    EV_WAKE, FROM_ARRIVALS, JOB_DONE, JOB_RUNNING, executed, sim_t, source_next,
)


cdef class Live(Border):
    """The acts of such a caller; one that is not possible is refused, and changes nothing."""

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
