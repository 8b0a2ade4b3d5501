# What somebody outside does when it is to decide (model.md#decisions).
#
# A Decision is valid while its number is sim_t.n_decisions.  Whoever lets the simulation go on raises that number
# first, so a Decision can be kept, but no longer used.

from libc.stdint cimport int32_t, int64_t

from faultsim._core.faults.progress cimport move_t
from faultsim._core.places cimport Places
from faultsim._core.state cimport sim_t
from faultsim._core.tables.machine cimport permit_t, place_t

cdef class Decision(Places):
    cdef int act(self, str what) except -1
    cdef int refuse_another(self, int32_t job, str what) except -1
    cdef int32_t stoppable(self, object row, str what) except -1
    cdef int change_nodes(self, int32_t job, tuple given, const move_t *cost) except -1
    cdef int note(self, str name, tuple arguments, dict options) except -1
    cdef int leave_queue(self, int32_t at) except -1
    cdef int32_t head_of(self, object head) except -1
    cdef int begin(self, int32_t job, int32_t at, int32_t size, tuple given) except -1
    cdef int launch(self, int32_t job, int32_t at, int32_t size, const place_t *place) except -1
    cdef int choose(self, int32_t job, int32_t size, permit_t *permit, place_t *place) except -1
    cdef int try_to_backfill(self, int32_t job, int32_t head, int32_t growth, bint do_it) except -1
    cdef int conclude(self, int code) except -1

# A new one for the policy of a kind, or the "caller"; what came before it is over.
cdef Decision new_decision(object engine, sim_t *s, str kind, str reader, const int32_t *row, const int32_t *job_of,
                           int64_t n_rows)
