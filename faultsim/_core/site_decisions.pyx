"""Decisions where jobs share nodes (model.md#site-decisions); the contract is in site_decisions.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t

import numpy as np

from faultsim._core.containers.memory cimport close_state, open_state, own_block, part_t
from faultsim._core.containers.releases cimport releases_all
from faultsim._core.edges cimport is_drained
from faultsim._core.scheduling.site_choice cimport (
    all_served, choose_beside, choose_shares, free_then, hide_closed, open_site_choice, open_site_then, open_to,
    put_share, site_now, site_release, site_shadow, sort_shares,
)
from faultsim._core.site.shares cimport (
    ask_t, chosen_cores, cores_of, fits_in, gpus_of, has_cores, mebibytes_of, needed, node_is_down, offer_of, set_ask,
    shares_t, site_of, site_t,
)
from faultsim._core.state cimport end_if_started


cdef class SiteView:
    """Scratch and answers of `Decision` where jobs share nodes."""

    def __dealloc__(self):
        close_state(self.v)

    cdef int read_requests(self, sim_t *s, object rows, int32_t first, int32_t last) except -1:
        cdef site_t *m = site_of(&s.machine)
        cdef int32_t job
        columns = [column[first:last].tolist() for column in rows.columns()]
        for job, row in zip(range(first, last), zip(*columns)):
            nodes, cores, memory, gpus, by_core, exclusive, classes = row
            set_ask(m, job, nodes, cores, memory, gpus, by_core, exclusive, classes)
            m.form[job] = <int32_t>self.forms.setdefault(row, len(self.forms))
        return 0

    cdef double look_ahead(self, sim_t *s, int32_t head, int64_t *extra) noexcept:
        cdef site_t *m = site_of(&s.machine)
        cdef const ask_t *ask = &m.ask[head]
        cdef int64_t there = all_served(m, ask, m.open)
        cdef int32_t i = 0, node
        cdef double time = s.now
        items = releases_all(&s.releases)
        if there < needed(ask) or s.absences.state != NULL:
            time = site_shadow(s, &self.v.then, head, &there)
        else:                    # what is expected to have left by now has left
            site_now(&self.v.then, m)
            while i < s.releases.n and items[i].end <= s.now:
                site_release(&self.v.then, m, ask, &items[i], &there)
                i += 1
        self.v.slack = 0 if time == INFINITY else there - needed(ask)
        extra[0] = self.v.slack
        for node in range(m.nodes):
            self.v.later[node] = free_then(&self.v.then, node)
        if time < INFINITY:
            hide_closed(s, head, time, self.v.later)
        return time

    cdef bint has_room(self, sim_t *s, int32_t job) noexcept:
        cdef site_t *m = site_of(&s.machine)
        return fits_in(m, &m.ask[job], open_to(s, &self.v.choice, job))

    cdef bint choose(self, sim_t *s, int32_t job) noexcept:
        return choose_shares(s, &self.v.choice, job, s.now, open_to(s, &self.v.choice, job))

    cdef bint choose_past(self, sim_t *s, int32_t job, int32_t head, double time) noexcept:
        cdef site_t *m = site_of(&s.machine)
        if end_if_started(s, job) <= time:
            return self.choose(s, job)
        return choose_beside(s, &self.v.choice, job, s.now, open_to(s, &self.v.choice, job), &m.ask[head],
                             self.v.later, self.v.slack)

    cdef str choose_named(self, sim_t *s, int32_t job, object row, const int32_t *node, Py_ssize_t n):
        cdef site_t *m = site_of(&s.machine)
        cdef const ask_t *ask = &m.ask[job]
        cdef const uint64_t *free = open_to(s, &self.v.choice, job)
        cdef int64_t missing = needed(ask)
        cdef int32_t cores
        cdef Py_ssize_t i
        m.n_chosen = 0
        if ask.nodes and n != ask.nodes:
            return f"job {row} asks for {ask.nodes} nodes, got {n}"
        # Invariant: of the nodes so far `missing` less are needed, and they are chosen.
        for i in range(n):
            cores = offer_of(m, ask, node[i], free[node[i]])
            if cores == 0:
                return f"job {row} has no room on node {node[i]}"
            if missing <= 0:
                return f"job {row} does not need node {node[i]}: those named before it offer {ask.cores} cores"
            cores = ask.cores if ask.nodes else <int32_t>min(<int64_t>cores, missing)
            put_share(m, ask, node[i], cores)
            missing -= 1 if ask.nodes else cores
        if missing > 0:
            return f"the nodes named for job {row} offer {ask.cores - missing} of its {ask.cores} cores"
        sort_shares(m)
        return ""

    cdef str choose_with_cores(self, sim_t *s, int32_t job, object row, const int32_t *node, const int32_t *cores,
                               Py_ssize_t n):
        cdef site_t *m = site_of(&s.machine)
        cdef const ask_t *ask = &m.ask[job]
        cdef const uint64_t *free = open_to(s, &self.v.choice, job)
        cdef int64_t most = <int64_t>ask.cores * max(1, ask.nodes), least = most - max(0, ask.nodes - 1), sum_ = 0
        cdef Py_ssize_t i
        m.n_chosen = 0
        if ask.nodes and n != ask.nodes:
            return f"job {row} asks for {ask.nodes} nodes, got {n}"
        for i in range(n):
            sum_ += cores[i]
        if not (ask.exclusive or least <= sum_ <= most):
            return f"job {row} asks for {most} cores in all, got {sum_}"
        for i in range(n):
            if cores[i] < 1 or not has_cores(m, ask, node[i], free[node[i]], cores[i]):
                return f"job {row} has no room for {cores[i]} cores on node {node[i]}"
            put_share(m, ask, node[i], cores[i])
        sort_shares(m)
        return ""

    cdef int32_t cores_chosen(self, sim_t *s) noexcept:
        return chosen_cores(site_of(&s.machine))

    cdef object occupied(self, sim_t *s):
        cdef const site_t *m = site_of(&s.machine)
        cdef int32_t node
        return np.array([node_is_down(m, node) or m.left[node] != m.total[node] or is_drained(s, node)
                         for node in range(m.nodes)], np.bool_)

    cdef object free_amounts(self, sim_t *s):
        cdef const site_t *m = site_of(&s.machine)
        cdef int32_t node
        found = np.empty((m.nodes, 3), np.int64)
        cdef int64_t[:, ::1] out = found
        for node in range(m.nodes):
            put_amounts(&out[node, 0], 0 if is_drained(s, node) else m.open[node])
        return found

    cdef object shares(self, sim_t *s, int32_t job):
        cdef const shares_t *mine = &site_of(&s.machine).held[job]
        cdef int32_t i
        found = np.empty((mine.n, 4), np.int64)
        cdef int64_t[:, ::1] out = found
        for i in range(mine.n):
            out[i, 0] = mine.item[i].node
            put_amounts(&out[i, 1], mine.item[i].word)
        return found


cdef void put_amounts(int64_t *out, uint64_t word) noexcept:
    out[0], out[1], out[2] = cores_of(word), mebibytes_of(word), gpus_of(word)


cdef SiteView new_site_view(sim_t *s):
    cdef SiteView view = SiteView.__new__(SiteView)
    view.forms = {}
    cdef part_t part
    cdef site_t *m = site_of(&s.machine)
    view.v = <site_view_t *>open_state(&part, sizeof(site_view_t))
    open_site_choice(view.v, &view.v.choice, s)
    open_site_then(view.v, &view.v.then, m)
    own_block(view.v, &view.v.later, m.nodes, sizeof(uint64_t))
    return view
