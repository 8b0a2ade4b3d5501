"""Decisions where jobs share nodes (model.md#site-decisions); the contract is in site_decisions.pxd."""

from libc.stdint cimport int32_t, int64_t, uint64_t

import numpy as np

from faultsim._core.containers.memory cimport close_state, open_state, part_t
from faultsim._core.edges cimport is_drained
from faultsim._core.scheduling.site_choice cimport open_to, put_share, sort_shares
from faultsim._core.scheduling.site_view cimport open_site_view
from faultsim._core.site.shares cimport (
    ask_t, cores_of, gpus_of, has_cores, mebibytes_of, needed, node_is_down, offer_of, set_ask, shares_t, site_of,
    site_t,
)


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
    view.v = <site_view_t *>open_state(&part, sizeof(site_view_t))
    open_site_view(view.v, view.v, s)
    return view
