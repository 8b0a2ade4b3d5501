# A decision: what a caller or a policy in Python can read and do at it (model.md#decisions).
#
# A Decision is valid while its number is sim_t.n_decisions.  Every function that continues the simulation raises that
# number first, so a Decision can be kept, but no longer used.

from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim._core.faults.progress cimport move_t
from faultsim._core.job_columns cimport Moment
from faultsim._core.site_decisions cimport SiteView
from faultsim._core.state cimport sim_t
from faultsim._core.tables.machine cimport permit_t, place_t

cdef class Decision(Moment):
    cdef readonly str kind
    cdef readonly bint disturbed
    cdef readonly object job, node, until, asked     # what the question is about; None where it does not apply
    cdef bint moved              # a job was moved
    cdef bint acted              # there was an act before the last one
    cdef bint inside             # it is given to a policy in Python, which acts again wherever the run is repeated
    cdef int64_t event, stay     # index of the first new record since the decision before; -1: not recorded
    # The shadow of `head`, until something changes.
    cdef int32_t head
    cdef int32_t epoch       # the shadow is valid while sim_t.epoch has this value
    cdef double time
    cdef int64_t extra
    cdef int64_t beside      # [clusters] nodes outside of closed set `later_set` (0: none) that it leaves then
    cdef int32_t later_set
    cdef uint64_t *later     # [placed] the occupancy then
    cdef uint64_t *shut      # [placed] what is closed to `head` then; NULL: nothing
    cdef SiteView site       # where jobs share nodes; else None

    cdef int32_t find(self, object given) except -1
    cdef int sort(self) except -1
    cdef int32_t row_of(self, int32_t job) noexcept
    cdef int32_t waiting_at(self, int32_t job) except -1
    cdef int look_ahead(self, int32_t head) except -1
    cdef dict pod(self)
    cdef SiteView on_site(self)
    cdef bint is_on_hold(self, int32_t job)
    cdef str phrase(self, int32_t job)

    # The keyword of a choice and its numbers, an array of int32; None: none was given.  Called before anything is read,
    # because converting an array of a caller's own class can run any code.
    cdef tuple said(self, object job, dict given)
    # Whether a job may have these nodes of a cluster until `end`, which are free, or `owner`'s (-1: no job's).
    cdef int check_nodes(self, int32_t job, str what, object numbers, int32_t size, int32_t owner,
                         double end) except -1
    # The box or slice, of the size that `owner` has, or large enough for a job that waits (-1), and free but for it.
    cdef int check_place(self, int32_t job, str what, object numbers, int32_t owner, double end,
                         place_t *place) except -1
    # Below these.
    cdef int check_kind(self, str what) except -1
    cdef int check_distinct(self, int32_t job, const int32_t[::1] numbers, int32_t end, str what) except -1
    cdef int check_box(self, object numbers, place_t *place) except -1
    cdef int check_slice(self, int32_t job, str what, object numbers, place_t *place) except -1
    cdef int check_free(self, int32_t job, str what, object numbers, const place_t *place, int32_t owner,
                        double end) except -1
    cdef str taken(self, str what, object numbers, const uint64_t *mask)

    cdef int act(self, str what) except -1
    cdef int refuse_act(self, str what) except -1
    cdef int refuse_another(self, int32_t job, str what) except -1
    cdef int32_t stoppable(self, object row, str what) except -1
    cdef int hold_waiting(self, object job, int32_t j) except -1
    cdef int close_node(self, str act, object node) except -1
    cdef double end_of(self, int32_t job) noexcept
    cdef list marked_nodes(self, const uint64_t *mask)
    cdef str reach(self, int32_t job, double end, object nodes)
    cdef str reach_anywhere(self, int32_t job)
    cdef int check_open(self, int32_t job, str name, object nodes, double end, int32_t owner) except -1
    cdef double moved_end(self, int32_t job, const move_t *cost) noexcept
    cdef int change_nodes(self, int32_t job, tuple given, const move_t *cost) except -1
    cdef int note(self, str name, tuple arguments, dict options) except -1
    cdef int leave_queue(self, int32_t at) except -1
    cdef int32_t head_of(self, object head) except -1
    cdef int begin(self, int32_t job, int32_t at, int32_t size, tuple given) except -1
    cdef int begin_on_site(self, int32_t job, int32_t at, object row, tuple given, object each) except -1
    cdef object said_cores(self, object job, object nodes, object cores)
    cdef int launch(self, int32_t job, int32_t at, int32_t size, const place_t *place) except -1
    cdef int choose(self, int32_t job, int32_t size, permit_t *permit, place_t *place) except -1
    cdef int try_to_backfill(self, int32_t job, int32_t head, int32_t growth, bint do_it) except -1
    cdef int conclude(self, int code) except -1

# A new one for the policy of a kind, or the "caller"; what came before it is over.
cdef Decision new_decision(object engine, sim_t *s, str kind, str reader)
