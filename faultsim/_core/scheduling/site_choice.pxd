# Which nodes of a site a job gets (model.md#site-placement).

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from faultsim._core.containers.releases cimport release_t
from faultsim._core.site.shares cimport ask_t, may_fit_again, site_of, site_t
from faultsim._core.state cimport sim_t

# The rules of placement, in site_t.rule.
cdef enum site_rule:
    BY_NUMBER = 0
    BY_FREE = 1              # fewest free cores, then least memory, then fewest GPUs
    BY_LOAD = 2              # the largest share of free cores
    BY_FAILURES = 3
    BY_SAFETY = 4
    BY_RUNS = 5              # as Slurm chooses

cdef struct candidate_t:
    double key
    int32_t node
    int32_t cores            # that it offers
    int32_t count            # so many nodes from it on offer as many
    int32_t cost             # to the head

cdef struct node_run_t:
    int64_t cores            # that its nodes offer
    int32_t first            # candidate
    int32_t nodes            # 0: it has been used
    int32_t weight

cdef struct site_choice_t:
    uint64_t *open           # scratch of `open_to`
    candidate_t *all
    candidate_t *some
    node_run_t *run               # scratch: the runs of neighbours in `some`
    # What nodes offer of what is free now to jobs of the form that was tried last.
    int32_t listed_form      # 1 more than it; 0: none was
    candidate_t *listed      # per node: the offers of a section begin at its first node
    int32_t *n_listed        # per section: how many these are
    int64_t *listed_at       # node_section_t.changes when they were listed; -1: they are not
    int64_t *refused         # per form: 1 more than `gives` of the site when a job of it had no room; 0: none had

# What is free of each node at a time to come.  It is made of what is free now, so what has changed since `seen` is all
# that `site_now` reads.
#
# The shadow of a job is kept while jobs start and leave: `then_started` and `then_left` note what that changes, and
# `kept_shadow` goes on from the last time.  Other changes (failures, moved ends, starts of heads) are noticed, as
# site_t.changes and releases_t.changes count them; then the shadow is computed again.
cdef struct site_then_t:
    uint64_t *free
    uint64_t *more           # per node: what jobs have given back by then; 0 if it was not touched
    uint64_t *down           # the nodes that are down then, one bit each
    int32_t *touched         # the nodes of which `free` is no longer what is free now
    uint8_t *is_touched
    int32_t n_touched
    int64_t seen             # site_t.changes; below 0: all of `free` may be wrong
    int32_t head             # the job that `time` is the shadow of; -1: none
    double time              # its shadow: `free` is after the releases that end by then
    int64_t there            # how much of what it needs can serve it then
    int64_t ends             # releases_t.changes

cdef int open_site_then(void *owner, site_then_t *then, const site_t *m) except -1
cdef void site_now(site_then_t *then, const site_t *m) noexcept nogil
# A job leaves, or a node is repaired; `there`, how much of what `ask` needs can serve it, is kept.
cdef void site_release(site_then_t *then, const site_t *m, const ask_t *ask, const release_t *each,
                       int64_t *there) noexcept nogil
# The first release after which a job has room; `then` is that time, and `there` how much serves the job then.
cdef double site_shadow(const sim_t *s, site_then_t *then, int32_t job, int64_t *there) noexcept nogil
# The same, from the last such time of the same job on.
cdef double kept_shadow(const sim_t *s, site_then_t *then, int32_t job) noexcept nogil
# A job has started; if it outlives the shadow, the caller has taken its shares from `free`.  A job has left.
cdef void then_started(const sim_t *s, site_then_t *then, int32_t job, bint outlives) noexcept nogil
cdef void then_left(const sim_t *s, site_then_t *then, int32_t job) noexcept nogil
# What is closed to a job that would start at t is free no more (model.md#absences); what is free now of other nodes.
cdef void hide_closed(const sim_t *s, int32_t job, double t, uint64_t *free) noexcept nogil
cdef const uint64_t *open_to(const sim_t *s, site_choice_t *p, int32_t job) noexcept nogil
# How much of what a job needs can serve it from t on, when `then` is t.
cdef int64_t served_then(const sim_t *s, const site_then_t *then, int32_t job, double t) noexcept nogil


cdef inline uint64_t free_then(const site_then_t *then, int32_t node) noexcept nogil:
    return then.free[node]


# A caller changes `free` of a node.
cdef inline void touch_node(site_then_t *then, int32_t node) noexcept nogil:
    if not then.is_touched[node]:
        then.is_touched[node] = 1
        then.touched[then.n_touched] = node
        then.n_touched += 1


cdef int open_site_choice(void *owner, site_choice_t *p, const sim_t *s) except -1

# Whether jobs of the form of a job had no room, and nothing that serves them has become free since.  False where nodes
# may be closed to jobs, as that depends on the job.
cdef inline bint form_is_refused(site_choice_t *p, const sim_t *s, int32_t job) noexcept nogil:
    cdef const site_t *m = site_of(&s.machine)
    cdef int64_t *known = &p.refused[m.form[job]]
    if s.absences.state != NULL:
        return False
    if known[0] == m.gives + 1:
        return True
    if known[0] == 0 or may_fit_again(m, &m.ask[job], known[0] - 1):
        return False
    known[0] = m.gives + 1
    return True


# A job has no room now.
cdef inline void refuse_form(site_choice_t *p, const site_t *m, int32_t job) noexcept nogil:
    p.refused[m.form[job]] = m.gives + 1


# The shares for a job that would start at t, of what is free of each node, into site_t.chosen; whether it has room.
cdef bint choose_shares(sim_t *s, site_choice_t *p, int32_t job, double t, const uint64_t *free) noexcept nogil
# The same, of what leaves room for the head in `later`, which has `slack` more of what the head needs than it needs.
cdef bint choose_beside(sim_t *s, site_choice_t *p, int32_t job, double t, const uint64_t *free, const ask_t *head,
                        const uint64_t *later, int64_t slack) noexcept nogil
# By how much of what the head needs less serves it in `later`, with what is chosen.
cdef int64_t chosen_cost(const site_t *m, const ask_t *head, const uint64_t *later) noexcept nogil
# A node gives so many cores to a job, with what goes with them; `sort_shares` ends what is chosen one by one.
cdef void put_share(site_t *m, const ask_t *ask, int32_t node, int32_t cores) noexcept nogil
cdef void sort_shares(site_t *m) noexcept nogil
# How much of what a job needs can serve it.
cdef int64_t all_served(const site_t *m, const ask_t *ask, const uint64_t *free) noexcept nogil
