# Nodes that are closed to most jobs at known times (model.md#absences).
#
# The state is a part of sim_t; all of it is NULL where there are no absences and no node was ever drained.  Drained
# nodes (model.md#drained) are closed to all jobs at all times.  A *closed set* is the union of the nodes of some
# absences and of those that are drained; a *view* is the machine without a closed set.  Plans on counts count, beside
# all nodes, those of each view that a promise needs.

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from faultsim._core.containers.releases cimport release_t
from faultsim._core.state cimport end_if_started, sim_t, usable

cdef struct absence_t:
    double begin, end
    double every             # 0: once
    bint kills
    bint for_users           # it is open to some jobs
    double latest            # the last occurrence that had begun at the last event of absences

cdef struct absences_t:
    int32_t n, words
    absence_t *row
    uint64_t *nodes          # a mask per absence, one after another
    const int32_t *group     # of users, per row of the user's log; NULL: all are in the first
    const uint8_t *permits   # per group and absence: it is open to jobs of these users
    uint64_t *active         # the nodes of absences that have begun and not ended, without those that are drained
    bint any_active
    uint64_t *drained
    int32_t n_drained
    double open_from, open_until     # no absence is active then (`none_closed`)
    uint64_t *ahead          # nodes that are closed to all jobs that start now and end after `open_until`
    double drained_time      # node-seconds for which drained nodes were free
    int32_t idle_edges       # begins and ends since something else was to come
    uint64_t *sets           # the closed sets met so far, one after another; number 0 is none
    int32_t n_sets, room_sets
    uint64_t *spared         # a job that starts takes these nodes first (`spares`)
    bint spares
    uint64_t *closed         # scratch: as the next two
    uint64_t *joined
    uint64_t *part           # the nodes that are hidden from the placement rule
    uint64_t *hidden


cdef inline absences_t *absences_of(const sim_t *s) noexcept nogil:
    return <absences_t *>s.absences.state


cdef inline bint is_open_to(const absences_t *a, int32_t i, int32_t row) noexcept nogil:
    return a.permits[(0 if a.group == NULL else <int64_t>a.group[row]) * a.n + i]


# Occurrences of an absence, from 0 on: when one begins and ends (inf: there is none), the last that has begun by t (-1:
# none has), the first end after t.
cdef inline double occurrence_begin(const absence_t *a, double k) noexcept nogil:
    if a.every == 0.0:
        return a.begin if k == 0.0 else INFINITY
    return a.begin + k * a.every


cdef inline double occurrence_end(const absence_t *a, double k) noexcept nogil:
    if a.every == 0.0:
        return a.end if k == 0.0 else INFINITY
    return a.end + k * a.every


cdef double last_begun(const absence_t *a, double t) noexcept nogil


cdef inline bint is_active(const absence_t *a, double t) noexcept nogil:
    cdef double k = last_begun(a, t)
    return k >= 0.0 and t < occurrence_end(a, k)


cdef inline double next_end(const absence_t *a, double t) noexcept nogil:
    cdef double k = last_begun(a, t)
    return occurrence_end(a, k) if k >= 0.0 and t < occurrence_end(a, k) else occurrence_end(a, k + 1.0)


# Whether nodes are drained.
cdef inline bint any_drained(const sim_t *s) noexcept nogil:
    return s.absences.state != NULL and absences_of(s).n_drained > 0


# Whether nodes are reserved or drained now.
cdef inline bint any_closed(const absences_t *a) noexcept nogil:
    return a.any_active or a.n_drained > 0


# Whether an absence meets a stay from t to `end`.
cdef inline bint meets_stay(const absence_t *a, double t, double end) noexcept nogil:
    cdef double k = last_begun(a, t)
    return (k >= 0.0 and t < occurrence_end(a, k)) or occurrence_begin(a, k + 1.0) < end


# Whether it is clear without a look at the absences that no node is closed to any job from t, not before now, to `end`.
cdef inline bint none_closed(const absences_t *a, double t, double end) noexcept nogil:
    return a.n_drained == 0 and t < a.open_until and end <= a.open_until and t >= a.open_from


# The nodes that a job may not hold from t to `end`, into `out`; whether there are any.
cdef bint closed_to(const sim_t *s, int32_t job, double t, double end, uint64_t *out) noexcept nogil
# [placed] Nodes that are closed to a job in that time become a part of `mask`, an occupancy, for has_free and permits;
# where the machine has has_free_beside, only those that are reserved for users (join_claimed; whether there are any),
# which count as in use (model.md#held-back).
cdef bint join_claimed(const sim_t *s, int32_t job, double t, double end, uint64_t *mask) noexcept nogil
cdef void join_closed(const sim_t *s, int32_t job, double t, double end, const uint64_t *closed,
                      uint64_t *mask) noexcept nogil
# [placed] Whether the occupancy has a free place for a job without nodes of `closed`, which are closed to it then.
cdef bint has_open_at(const sim_t *s, int32_t job, double t, double end, const uint64_t *occ,
                      const uint64_t *closed) noexcept nogil
# `used` of a permit for a job that would stay from now to `end`, into scratch; NULL: none, or not on this machine.
cdef const uint64_t *claimed_of_others(const sim_t *s, int32_t job, double end) noexcept nogil
# Whether an absence ends at t.
cdef bint ends_at(const sim_t *s, double t) noexcept nogil
# The last time at which a running job is expected to end, or a node to be up.
cdef double last_release(const sim_t *s) noexcept nogil
cdef double last_end(const release_t *items, int32_t n, double now) noexcept nogil
# [clusters] The free nodes of a set are not free until `show_nodes`; how many.
cdef int32_t hide_nodes(const sim_t *s, const uint64_t *nodes) noexcept nogil
cdef void show_nodes(const sim_t *s) noexcept nogil
# The nodes that are closed from now to `end` to a job that moves, into scratch; NULL: none.
cdef const uint64_t *closed_to_mover(const sim_t *s, int32_t job, double end) noexcept nogil
# The number of that closed set, 0: none; NO_MEMORY.
cdef int32_t closed_set(const sim_t *s, int32_t job, double t, double end) noexcept nogil
# Whether all of set `b` is in set `a`.
cdef bint set_covers(const absences_t *a, int32_t one, int32_t other) noexcept nogil
# Of the ends of absences after t, the first that plans try (`last`: the last of their other times); inf: none.
cdef double next_end_tried(const sim_t *s, double t, double last) noexcept nogil
# The first time after t at which a running job ends, a node is known to be up or, of those that are tried, an absence
# ends; or a reservation: of their ends, `first` is the first after t and `last` the last of all.
cdef double next_tried(const sim_t *s, double t, double first, double last) noexcept nogil
# [clusters] How many free nodes a job may have that starts now; and where some may be closed to it.
cdef inline int32_t open_room(const sim_t *s, int32_t job) noexcept nogil:
    if none_closed(absences_of(s), s.now, end_if_started(s, job)):
        return usable(s)
    return room_outside(s, job)


cdef int32_t room_outside(const sim_t *s, int32_t job) noexcept nogil
# [clusters] No job that ends after `open_until` has more than these free nodes.
cdef int32_t room_ahead(const sim_t *s) noexcept nogil
# [clusters] Whether a closed set leaves `need` nodes, free or not.
cdef bint leaves_nodes(const sim_t *s, int32_t set_, int32_t need) noexcept nogil
# The first end of an absence after t (inf: none), before which no less is closed to a job than at t.
cdef double first_end_after(const sim_t *s, double t) noexcept nogil
# [clusters] How many nodes outside of a closed set are free at t, if running jobs end as expected.
cdef int32_t free_outside(const sim_t *s, int32_t set_, double t) noexcept nogil
# [clusters] How many free nodes of a closed set are open to a job that starts now.
cdef int32_t free_inside(const sim_t *s, int32_t set_, int32_t job) noexcept nogil
# [clusters] `count` nodes for a job that starts now, first those that are its users' or `spared`; OK or a code.
cdef int take_open(sim_t *s, int32_t job, int32_t count) noexcept nogil
# [clusters] When a job finds room: then, the nodes that it leaves of those that are free, and of those of them that are
# open to it; and what is closed to it.
cdef struct open_shadow_t:
    double time
    int64_t extra, beside
    int32_t closed
# Of `out.time`, at which enough nodes are free for the first time, the releases after it, and the ends of absences that
# are tried, the first at which a job has room; OK or NO_MEMORY.
cdef int find_open_time(const sim_t *s, int32_t job, open_shadow_t *out) noexcept nogil
# [clusters] How many nodes outside of a closed set a job takes that starts now and takes others first.
cdef inline int64_t taken_outside(const sim_t *s, int32_t set_, int32_t job) noexcept nogil:
    return max(<int64_t>0, <int64_t>s.need[job] - free_inside(s, set_, job))


# [clusters] Whether a job that starts now and outlives a shadow leaves the head its nodes then: it may take `extra` of
# all, and `beside` of those outside of a closed set (0: there is none).
cdef inline bint leaves_head(const sim_t *s, int32_t job, int64_t extra, int64_t beside, int32_t set_) noexcept nogil:
    return s.need[job] <= extra and (set_ == 0 or taken_outside(s, set_, job) <= beside)


# The next job that starts takes nodes of these sets first.
cdef void spare_none(const sim_t *s) noexcept nogil
cdef void spare_set(const sim_t *s, int32_t set_) noexcept nogil
# How many free nodes are reserved.
cdef int32_t free_and_reserved(const sim_t *s) noexcept nogil
# How many free nodes are drained.
cdef int32_t free_and_drained(const sim_t *s) noexcept nogil
