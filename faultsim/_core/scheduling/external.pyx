"""Schedulers with passes that are decided elsewhere (model.md#decisions): by the caller, or by a method in Python."""

from cpython.ref cimport PyObject

from faultsim._core.containers.memory cimport open_state
from faultsim._core.questions cimport open_questions
from faultsim._core.queue cimport sort_queue
from faultsim._core.state cimport ASK_CHECKPOINT, sim_t
from faultsim._core.status cimport DECIDE, OK, PYTHON_ERROR
from faultsim._core.tables.factory cimport factory

cdef struct external_t:
    PyObject *object         # the scheduler in Python; the engine keeps it


cdef inline int begin_outside_pass(sim_t *s) noexcept nogil:
    s.disturbed, s.unforeseen = s.unforeseen or (s.releases.n > 0 and s.releases.first[0].end <= s.now), False
    return sort_queue(s)


cdef int wait_for_caller(void *state, void *sim) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    cdef int code = begin_outside_pass(s)
    if code == PYTHON_ERROR:         # the pass waits all the same, and the queue is sorted when it is next read
        s.queue.unsorted = s.now
    s.deciding = code == OK or code == PYTHON_ERROR
    return DECIDE if code == OK else code


cdef int ask_python(void *state, void *sim) noexcept nogil:
    cdef sim_t *s = <sim_t *>sim
    cdef int code = begin_outside_pass(s)
    if code == OK:
        with gil:
            s.deciding = True        # while the GIL is held, so that no other thread reads what changes
            try:
                (<object><PyObject *>s.owner).decide_in_python(<object>(<external_t *>state).object)
            except BaseException as error:
                (<object><PyObject *>s.owner).keep_error(error)
                code = PYTHON_ERROR
            s.deciding = False
    return code


cdef int open_outside(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    s.scheduler.schedule, s.scheduler.elsewhere = wait_for_caller, True
    if "checkpoint" in options["at"]:
        open_questions(s, <int>ASK_CHECKPOINT, None)
    return 0


cdef int open_written(void *sim, dict options, dict columns) except -1:
    cdef external_t *p = <external_t *>open_state(&(<sim_t *>sim).scheduler, sizeof(external_t))
    p.object = <PyObject *>options["object"]
    (<sim_t *>sim).scheduler.schedule, (<sim_t *>sim).scheduler.elsewhere = ask_python, True
    return 0


OUTSIDE = factory(open_outside)
WRITTEN = factory(open_written)
