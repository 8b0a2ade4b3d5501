# The border of one simulation: its memory as objects of Python, and what its status codes become there.
#
# A class in three rooms: Border has the memory, Live adds what a caller that owns time tells, Engine how it runs.

from libc.stdint cimport int32_t, int64_t

from faultsim._core.door cimport Door
from faultsim._core.state cimport sim_t

cdef class Border:
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
    cdef object error
    cdef object ranges       # the recorded ranges of nodes as an array, once they were asked for
    cdef bint lent           # they are its own now
    # Rows of the user's log of the jobs, and jobs of the rows (-1: none); None: they are the same.
    cdef object rows, jobs
    cdef bint stopped        # by the caller, between two events
    cdef public list acts    # what the caller did: (by a Decision, name, arguments, options); None: not kept
    cdef int64_t event, stay     # numbers of the first of the record that the next decision has to tell

    cdef int point_to_columns(self) except -1
    cdef int own_inputs(self) except -1
    cdef int point_to_told(self) except -1
    cdef void *column(self, str name, dtype) except NULL
    cdef int translate(self, int code) except -1
    cdef int refuse_if_unusable(self) except -1
    cdef int reads_runtimes(self, str kind) except -1
    cdef object seen(self, int32_t job, int32_t size)
