"""What schedulers from outside ask where jobs share nodes; the contract is in site_view.pxd."""

from libc.math cimport INFINITY

from faultsim._core.containers.memory cimport own_block
from faultsim._core.containers.releases cimport release_t, releases_all
from faultsim._core.scheduling.site_choice cimport (
    all_served, choose_beside, choose_shares, chosen_cost, free_then, hide_closed, open_site_choice, open_site_then,
    open_to, site_now, site_release, site_shadow,
)
from faultsim._core.site.shares cimport ask_t, fits_in, less, needed, site_of, site_t
from faultsim._core.state cimport end_if_started


cdef int open_site_view(void *owner, site_view_t *v, const sim_t *s) except -1:
    cdef const site_t *m = site_of(&s.machine)
    open_site_choice(owner, &v.choice, s)
    open_site_then(owner, &v.then, m)
    return own_block(owner, &v.later, m.nodes, sizeof(uint64_t))


cdef double view_shadow(const sim_t *s, site_view_t *v, int32_t head, int64_t *extra) noexcept nogil:
    cdef const site_t *m = site_of(&s.machine)
    cdef const ask_t *ask = &m.ask[head]
    cdef const release_t *items
    cdef int64_t there = all_served(m, ask, m.open)
    cdef int32_t i = 0, node
    cdef double time = s.now
    if there < needed(ask) or s.absences.state != NULL:
        time = site_shadow(s, &v.then, head, &there)
    else:                    # what is expected to have left by now has left
        items = releases_all(&s.releases)
        site_now(&v.then, m)
        while i < s.releases.n and items[i].end <= s.now:
            site_release(&v.then, m, ask, &items[i], &there)
            i += 1
    v.slack = 0 if time == INFINITY else there - needed(ask)
    extra[0] = v.slack
    for node in range(m.nodes):
        v.later[node] = free_then(&v.then, node)
    if time < INFINITY:
        hide_closed(s, head, time, v.later)
    return time


cdef bint view_has_room(const sim_t *s, site_view_t *v, int32_t job) noexcept nogil:
    cdef const site_t *m = site_of(&s.machine)
    return fits_in(m, &m.ask[job], open_to(s, &v.choice, job))


cdef bint view_choose(sim_t *s, site_view_t *v, int32_t job) noexcept nogil:
    return choose_shares(s, &v.choice, job, s.now, open_to(s, &v.choice, job))


cdef bint view_choose_beside(sim_t *s, site_view_t *v, int32_t job, int32_t head, double time) noexcept nogil:
    cdef const site_t *m = site_of(&s.machine)
    if end_if_started(s, job) <= time:
        return view_choose(s, v, job)
    return choose_beside(s, &v.choice, job, s.now, open_to(s, &v.choice, job), &m.ask[head], v.later, v.slack)


cdef void view_take_chosen(const sim_t *s, site_view_t *v, int32_t head) noexcept nogil:
    cdef const site_t *m = site_of(&s.machine)
    cdef int32_t i
    v.slack -= chosen_cost(m, &m.ask[head], v.later)
    for i in range(m.n_chosen):  # of nodes that are closed to the head nothing is free then
        v.later[m.chosen[i].node] = less(v.later[m.chosen[i].node], m.chosen[i].word)
