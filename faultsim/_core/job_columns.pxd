# The jobs of a moment as columns: those that wait, and those that hold nodes (model.md#decisions).

from libc.stdint cimport int32_t, int64_t

from faultsim._core.door cimport Door, Inside
from faultsim._core.state cimport sim_t

# What the simulation waits at; over once its number is no longer sim_t.n_decisions.
cdef class Moment:
    cdef object engine       # keeps the memory of `s`
    cdef Door door           # of the simulation
    cdef sim_t *s
    cdef int64_t number
    cdef double at
    cdef str reader          # the kind of the policy that it is given to, or "caller"

    # Of the simulation; TypeError: there is none.
    cdef Inside enter(self, bint brief)
    # Raises DecisionError if it is over.
    cdef int check(self) except -1
    cdef object refuse(self, str text)
    cdef int refuse_unless_named(self) except -1

cdef class Jobs:
    cdef Moment moment
    cdef object chosen           # numbers of jobs, of which those count that are still there; None: all

    cdef object numbers(self)    # the jobs, in order
    cdef bint is_there(self, int32_t job)
    cdef object those_left(self)
    cdef object pick(self, object places)
    cdef object row_at(self, object key)
    cdef object named(self, str name)

cdef class Waiting(Jobs):
    pass

cdef class Running(Jobs):
    cdef object followed(self)

# A read-only array of its own.
cdef object ints(const int32_t *values, Py_ssize_t n)
