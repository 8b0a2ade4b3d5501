# Where somebody outside says that a job starts, or goes: nodes, a box, or the slice of a pod (model.md#decisions).

from libc.stdint cimport int32_t, uint64_t

from faultsim._core.faults.progress cimport move_t
from faultsim._core.outlook cimport Outlook
from faultsim._core.state cimport sim_t
from faultsim._core.tables.machine cimport place_t

# Moves of a job that has started, is not held and does not end now: from `n` of its nodes to as many free ones; to a
# place of its size that is free but for its own nodes.  OK or NO_MEMORY.
cdef int move_to_nodes(sim_t *s, int32_t job, const int32_t *out, const int32_t *into, int32_t n,
                       const move_t *cost) noexcept nogil
cdef int move_to_place(sim_t *s, int32_t job, const place_t *place, const move_t *cost) noexcept nogil


cdef class Places(Outlook):
    # How it is said and the numbers, an array of int32; None: nobody says.  Before anything is looked at, as arrays of
    # the caller's own run code of its own.
    cdef tuple said(self, object job, dict given)
    # Whether a job may have these nodes of a cluster, which are free, or `owner`'s (-1: nobody's).
    cdef int check_nodes(self, int32_t job, str what, object numbers, int32_t size, int32_t owner) except -1
    # The box or slice, of the size that `owner` has, or large enough for a job that waits (-1), and free but for it.
    cdef int check_place(self, int32_t job, str what, object numbers, int32_t owner, place_t *place) except -1
    # Below these.
    cdef int check_kind(self, str what) except -1
    cdef int check_distinct(self, int32_t job, const int32_t[::1] numbers, int32_t end, str what) except -1
    cdef int check_box(self, object numbers, place_t *place) except -1
    cdef int check_slice(self, int32_t job, str what, object numbers, place_t *place) except -1
    cdef int check_free(self, int32_t job, str what, object numbers, const place_t *place, int32_t owner) except -1
    cdef str taken(self, str what, object numbers, const uint64_t *mask)
