"""Which nodes of a site a job gets (model.md#site-placement); the contract is in site_choice.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport uint8_t
from libc.stdlib cimport qsort
from libc.string cimport memcpy

from faultsim._core.absences cimport absences_of, absences_t, closed_to, last_release, next_end_tried
from faultsim._core.containers.bits cimport mask_has
from faultsim._core.containers.memory cimport own_block, own_jobs
from faultsim._core.containers.release_chunks cimport chunk_items
from faultsim._core.containers.releases cimport release_t, releases_all, releases_t
from faultsim._core.faults.predictions cimport failing_nodes
from faultsim._core.site.shares cimport (
    N_CHANGED, cores_of, fits_in, gpus_of, is_node_repair, less, mebibytes_of, needed, next_block, next_in_section,
    node_block_t, node_section_t, offer_of, served, share_of, share_t, shares_returned, shares_t, site_of,
)
from faultsim._core.state cimport end_if_started_at, set_window


cdef int open_site_choice(void *owner, site_choice_t *p, const sim_t *s) except -1:
    cdef const site_t *m = site_of(&s.machine)
    own_block(owner, &p.open, s.nodes, sizeof(uint64_t))
    own_block(owner, &p.all, s.nodes, sizeof(candidate_t))
    own_block(owner, &p.some, s.nodes, sizeof(candidate_t))
    own_block(owner, &p.listed, s.nodes, sizeof(candidate_t))
    own_block(owner, &p.n_listed, m.sections, sizeof(int32_t))
    own_block(owner, &p.listed_at, m.sections, sizeof(int64_t))
    own_jobs(owner, &p.refused, m.forms, sizeof(int64_t))
    return own_block(owner, &p.run, s.nodes + 1, sizeof(node_run_t))


cdef int open_site_then(void *owner, site_then_t *then, const site_t *m) except -1:
    own_block(owner, &then.free, m.nodes, sizeof(uint64_t))
    own_block(owner, &then.more, m.nodes, sizeof(uint64_t))
    own_block(owner, &then.touched, m.nodes, sizeof(int32_t))
    own_block(owner, &then.is_touched, m.nodes, sizeof(uint8_t))
    then.seen = then.head = -1
    return own_block(owner, &then.down, m.words, sizeof(uint64_t))


cdef void site_now(site_then_t *then, const site_t *m) noexcept nogil:
    cdef int64_t k
    cdef int32_t i, node
    for i in range(then.n_touched):
        node = then.touched[i]
        then.free[node], then.more[node], then.is_touched[node] = m.open[node], 0, 0
    then.n_touched = 0
    if then.seen < 0 or m.changes - then.seen > N_CHANGED:
        memcpy(then.free, m.open, <size_t>m.nodes * sizeof(uint64_t))
    else:
        for k in range(then.seen, m.changes):
            node = m.changed[k & (N_CHANGED - 1)]
            then.free[node] = m.open[node]
    then.seen = m.changes
    memcpy(then.down, m.occ, <size_t>m.words * sizeof(uint64_t))


cdef void site_release(site_then_t *then, const site_t *m, const ask_t *ask, const release_t *each,
                       int64_t *there) noexcept nogil:
    cdef const share_t *returned
    cdef int32_t k, n = 0, node = -1 - each.job
    cdef uint64_t word
    if is_node_repair(m, each.job):
        touch_node(then, node)
        then.down[node >> 6] &= ~((<uint64_t>1) << (node & 63))
        then.free[node] = m.left[node] + then.more[node]
        there[0] += served(m, ask, node, then.free[node])
        return
    returned = shares_returned(m, each.job, &n)
    for k in range(n):
        node, word = returned[k].node, returned[k].word
        touch_node(then, node)
        then.more[node] += word
        if not mask_has(then.down, node):
            there[0] -= served(m, ask, node, then.free[node])
            then.free[node] += word
            there[0] += served(m, ask, node, then.free[node])


cdef void hide_closed(const sim_t *s, int32_t job, double t, uint64_t *free) noexcept nogil:
    cdef absences_t *a = absences_of(s)
    cdef int32_t node
    if s.absences.state == NULL or not closed_to(s, job, t, end_if_started_at(s, job, t), a.closed):
        return
    for node in range(s.nodes):
        if mask_has(a.closed, node):
            free[node] = 0


cdef const uint64_t *open_to(const sim_t *s, site_choice_t *p, int32_t job) noexcept nogil:
    cdef const site_t *m = site_of(&s.machine)
    if s.absences.state == NULL:
        return m.open
    memcpy(p.open, m.open, <size_t>m.nodes * sizeof(uint64_t))
    hide_closed(s, job, s.now, p.open)
    return p.open


cdef int64_t served_then(const sim_t *s, const site_then_t *then, int32_t job, double t) noexcept nogil:
    cdef const site_t *m = site_of(&s.machine)
    cdef absences_t *a = absences_of(s)
    cdef bint closed = s.absences.state != NULL and closed_to(s, job, t, end_if_started_at(s, job, t), a.closed)
    cdef int64_t sum_ = 0
    cdef int32_t node
    for node in range(m.nodes):
        if not closed or not mask_has(a.closed, node):
            sum_ += served(m, &m.ask[job], node, free_then(then, node))
    return sum_


# ---------------------------------------------------------------------------------------------- shadows

# A release among all of them.
cdef struct release_at_t:
    int32_t chunk
    int32_t i


cdef inline int32_t releases_in(const releases_t *r, int32_t chunk) noexcept nogil:
    return r.n if r.n_chunks == 1 else r.chunk[chunk].n


cdef void seek_release_after(const releases_t *r, double time, release_at_t *at) noexcept nogil:
    """The first release that ends after a time, or behind the last."""
    cdef int32_t low = 0, high = r.n_chunks - 1, mid
    cdef const release_t *items
    while low < high:
        mid = (low + high) >> 1
        if r.chunk[mid].end > time:
            high = mid
        else:
            low = mid + 1
    at.chunk, items = low, chunk_items(r, low)
    low, high = 0, releases_in(r, at.chunk)
    while low < high:
        mid = (low + high) >> 1
        if items[mid].end > time:
            high = mid
        else:
            low = mid + 1
    at.i = low


cdef inline const release_t *release_at(const releases_t *r, release_at_t *at) noexcept nogil:
    """The release there; NULL behind the last."""
    if at.i == releases_in(r, at.chunk):
        if at.chunk == r.n_chunks - 1:
            return NULL
        at.chunk, at.i = at.chunk + 1, 0
    return chunk_items(r, at.chunk) + at.i


cdef inline const release_t *release_before(const releases_t *r, release_at_t *at) noexcept nogil:
    """The release before; NULL before the first."""
    if at.i == 0:
        if at.chunk == 0:
            return NULL
        at.chunk -= 1
        at.i = releases_in(r, at.chunk)
    return chunk_items(r, at.chunk) + at.i - 1


cdef inline void change_then(site_then_t *then, const site_t *m, const ask_t *ask, const share_t *each,
                             bint more) noexcept nogil:
    """A share is free then, or no more; `there` is kept."""
    then.there -= served(m, ask, each.node, then.free[each.node])
    then.free[each.node] += each.word if more else 0 - each.word
    then.there += served(m, ask, each.node, then.free[each.node])


cdef void undo_release(site_then_t *then, const site_t *m, const ask_t *ask, int32_t job) noexcept nogil:
    """`site_release` of a job is undone."""
    cdef int32_t k
    for k in range(m.held[job].n):
        then.more[m.held[job].item[k].node] -= m.held[job].item[k].word
        change_then(then, m, ask, &m.held[job].item[k], False)


cdef bint release_until(const sim_t *s, site_then_t *then, const ask_t *ask, release_at_t *at,
                        double time) noexcept nogil:
    """Releases from a position on that end by a time; whether no repair is among them."""
    cdef site_t *m = site_of(&s.machine)
    cdef const release_t *each = release_at(&s.releases, at)
    cdef bint jobs_alone = True
    while each != NULL and each.end <= time:
        jobs_alone &= each.job >= 0
        site_release(then, m, ask, each, &then.there)
        at.i += 1
        each = release_at(&s.releases, at)
    return jobs_alone


cdef double release_until_fits(const sim_t *s, site_then_t *then, int32_t job, release_at_t *at,
                               double time) noexcept nogil:
    """The first release from a position on, and not before a time, after which a job has room."""
    cdef const ask_t *ask = &site_of(&s.machine).ask[job]
    cdef const release_t *each = release_at(&s.releases, at)
    while each != NULL:
        time = max(time, each.end)
        if time == INFINITY:
            break
        if not release_until(s, then, ask, at, time):
            then.head = -1
        if then.there >= needed(ask):
            return time
        each = release_at(&s.releases, at)
    then.head = -1
    return INFINITY


cdef double site_shadow(const sim_t *s, site_then_t *then, int32_t job, int64_t *there) noexcept nogil:
    cdef site_t *m = site_of(&s.machine)
    cdef release_at_t at
    cdef double time = s.now
    cdef int32_t i
    then.head = -1
    if s.absences.state != NULL:
        return shadow_beside(s, then, job, there)
    site_now(then, m)
    then.there = all_served(m, &m.ask[job], m.open)
    if then.there < needed(&m.ask[job]):
        at.chunk = at.i = 0
        then.head, then.ends = job, s.releases.changes
        for i in range(m.words):
            if then.down[i]:
                then.head = -1
        time = then.time = release_until_fits(s, then, job, &at, s.now)
    there[0] = then.there
    return time


cdef double kept_shadow(const sim_t *s, site_then_t *then, int32_t job) noexcept nogil:
    cdef site_t *m = site_of(&s.machine)
    cdef const ask_t *ask = &m.ask[job]
    cdef const release_t *each
    cdef release_at_t at
    cdef double time = max(s.now, then.time)
    if then.head != job or then.seen != m.changes or then.ends != s.releases.changes or s.absences.state != NULL:
        return site_shadow(s, then, job, &then.there)
    seek_release_after(&s.releases, then.time, &at)
    if not release_until(s, then, ask, &at, time):
        return site_shadow(s, then, job, &then.there)
    if then.there < needed(ask):
        time = release_until_fits(s, then, job, &at, time)
    # Invariant: the job has room at `time`, after the releases before `at`.
    while then.head >= 0 and s.now < time < INFINITY:
        each = release_before(&s.releases, &at)
        if each == NULL or each.end <= s.now:
            time = s.now
            break
        time = each.end
        while each != NULL and each.end == time:
            undo_release(then, m, ask, each.job)
            at.i -= 1
            each = release_before(&s.releases, &at)
        if then.there < needed(ask):
            release_until(s, then, ask, &at, time)
            break
    then.time = time
    return time


cdef inline bint is_next_change(const sim_t *s, const site_then_t *then, int32_t nodes) noexcept nogil:
    """Whether all that changed since the last note is that a job started or left so many nodes."""
    return (then.head >= 0 and then.seen == site_of(&s.machine).changes - nodes
            and then.ends == s.releases.changes - 1)


cdef void then_started(const sim_t *s, site_then_t *then, int32_t job, bint outlives) noexcept nogil:
    cdef const site_t *m = site_of(&s.machine)
    cdef const shares_t *mine = &m.held[job]
    cdef int32_t k
    if not is_next_change(s, then, mine.n) or outlives != (s.expected[job] > then.time):
        then.head = -1
        return
    for k in range(0 if outlives else mine.n):
        touch_node(then, mine.item[k].node)
        then.more[mine.item[k].node] += mine.item[k].word
    then.seen, then.ends = m.changes, s.releases.changes


cdef void then_left(const sim_t *s, site_then_t *then, int32_t job) noexcept nogil:
    cdef const site_t *m = site_of(&s.machine)
    cdef int32_t k
    if not is_next_change(s, then, m.n_chosen):
        then.head = -1
        return
    for k in range(m.n_chosen):
        if s.expected[job] <= then.time:
            then.more[m.chosen[k].node] -= m.chosen[k].word
        else:
            change_then(then, m, &m.ask[then.head], &m.chosen[k], True)
    then.seen, then.ends = m.changes, s.releases.changes


cdef double shadow_beside(const sim_t *s, site_then_t *then, int32_t job, int64_t *there) noexcept nogil:
    """The same where nodes may be closed to the job: of now, the releases, and the ends of absences that are tried."""
    cdef site_t *m = site_of(&s.machine)
    cdef const ask_t *ask = &m.ask[job]
    cdef const release_t *items = releases_all(&s.releases)
    cdef int64_t unused = 0
    cdef int32_t i = 0
    cdef double t = s.now, last = last_release(s)
    site_now(then, m)
    # Invariant: no time before t that is tried has room; `then` is after items[:i].
    while t < INFINITY:
        while i < s.releases.n and items[i].end <= t:
            site_release(then, m, ask, &items[i], &unused)
            i += 1
        there[0] = served_then(s, then, job, t)
        if there[0] >= needed(ask):
            return t
        t = min(items[i].end if i < s.releases.n else INFINITY, next_end_tried(s, t, last))
    return INFINITY


cdef int64_t all_served(const site_t *m, const ask_t *ask, const uint64_t *free) noexcept nogil:
    cdef const node_block_t *each
    cdef int64_t sum_ = 0
    cdef int32_t i = next_block(m, ask, free, 0), node
    while i < m.blocks:
        each = &m.block[i]
        for node in range(each.first, each.first + each.n):
            sum_ += served(m, ask, node, free[node])
        i = next_block(m, ask, free, i + 1)
    return sum_


cdef inline int32_t cost_of(const site_t *m, const ask_t *head, const uint64_t *later, int32_t node,
                            uint64_t share) noexcept nogil:
    return served(m, head, node, later[node]) - served(m, head, node, less(later[node], share))


cdef int64_t chosen_cost(const site_t *m, const ask_t *head, const uint64_t *later) noexcept nogil:
    cdef int64_t sum_ = 0
    cdef int32_t i
    for i in range(m.n_chosen):
        sum_ += cost_of(m, head, later, m.chosen[i].node, m.chosen[i].word)
    return sum_


# ---------------------------------------------------------------------------------------------- rules

cdef int by_key(const void *a, const void *b) noexcept nogil:
    cdef const candidate_t *p = <const candidate_t *>a
    cdef const candidate_t *q = <const candidate_t *>b
    if p.key != q.key:
        return -1 if p.key < q.key else 1
    return (p.node > q.node) - (p.node < q.node)


cdef int by_node(const void *a, const void *b) noexcept nogil:
    cdef int32_t p = (<const share_t *>a).node, q = (<const share_t *>b).node
    return (p > q) - (p < q)


cdef void put_share(site_t *m, const ask_t *ask, int32_t node, int32_t cores) noexcept nogil:
    m.chosen[m.n_chosen].node = node
    m.chosen[m.n_chosen].word = share_of(m, ask, node, cores)
    m.n_chosen += 1


cdef void key_candidates(sim_t *s, int32_t job, double t, const uint64_t *free, candidate_t *some,
                         int32_t n) noexcept nogil:
    cdef site_t *m = site_of(&s.machine)
    cdef const uint64_t *failing = NULL
    cdef candidate_t *c
    cdef uint64_t word
    cdef int32_t i
    if m.rule == BY_SAFETY:
        set_window(s, job, t)
        failing = failing_nodes(s)
    for i in range(n):
        c = &some[i]
        word = free[c.node]
        c.key = 0.0
        if m.rule == BY_FREE:            # 45 bits, which a double has
            c.key = (cores_of(word) * 4294967296.0 + mebibytes_of(word) * 256.0) + gpus_of(word)
        elif m.rule == BY_LOAD:
            c.key = -(<double>cores_of(word) / <double>cores_of(m.total[c.node]))
        elif m.rule == BY_FAILURES:
            c.key = s.trace.count[c.node] if s.trace.count != NULL else 0
        elif failing != NULL:
            c.key = mask_has(failing, c.node)


cdef void in_order(sim_t *s, int32_t job, double t, const uint64_t *free, candidate_t *some, int32_t n,
                   int64_t count) noexcept nogil:
    """The first of the candidates in the order of the rule, until there are enough."""
    cdef site_t *m = site_of(&s.machine)
    cdef const ask_t *ask = &m.ask[job]
    cdef int32_t i, best = 0, cores
    if m.rule != BY_NUMBER:
        key_candidates(s, job, t, free, some, n)
        if ask.nodes == 1:
            for i in range(1, n):
                if some[i].key < some[best].key:
                    best = i
            put_share(m, ask, some[best].node, ask.cores)
            return
        qsort(some, <size_t>n, sizeof(candidate_t), by_key)
    for i in range(n):
        if count <= 0:
            return
        cores = ask.cores if ask.nodes else <int32_t>min(<int64_t>some[i].cores, count)
        put_share(m, ask, some[i].node, cores)
        count -= 1 if ask.nodes else cores


cdef int32_t find_runs(const site_t *m, const ask_t *ask, candidate_t *some, int32_t n, node_run_t *run) noexcept nogil:
    """The runs of the candidates: of consecutive numbers and equal weight."""
    cdef node_run_t *last = NULL
    cdef int32_t i, runs = 0, next_ = -1
    cdef bint equal = ask.gpus > 0 and ask.nodes == 1        # all nodes count as equally full
    for i in range(n):
        if equal:
            some[i].cores = ask.cores
        if some[i].node != next_ or m.weight[next_] != last.weight:
            last = &run[runs]
            last.first, last.nodes, last.cores, last.weight = i, 0, 0, m.weight[some[i].node]
            runs += 1
        last.nodes += some[i].count
        last.cores += <int64_t>some[i].cores * some[i].count
        next_ = some[i].node + some[i].count
    run[runs].first = n
    return runs


cdef int64_t in_runs(sim_t *s, int32_t job, candidate_t *some, int32_t n, int64_t count,
                     node_run_t *run) noexcept nogil:
    """model.md#consecutive-best-fit; `run` has room for one more than there are.  Returns what is missing then."""
    cdef site_t *m = site_of(&s.machine)
    cdef const ask_t *ask = &m.ask[job]
    cdef int64_t nodes = count if ask.nodes else 1
    cdef int64_t cores = count * ask.cores if ask.nodes else count
    cdef int32_t i, runs = find_runs(m, ask, some, n, run), first, end, alone, given, node
    cdef node_run_t *each
    cdef node_run_t *best
    cdef bint enough, best_enough
    while cores > 0:
        best, best_enough = NULL, False
        for i in range(runs):
            each = &run[i]
            if each.nodes == 0 or (best != NULL and each.weight > best.weight):
                continue
            enough = each.cores >= cores and each.nodes >= nodes
            if (best == NULL or each.weight < best.weight
                    or (enough and (not best_enough or each.cores < best.cores))
                    or (not enough and each.cores > best.cores)):
                best, best_enough = each, enough
        if best == NULL:
            break
        best.nodes = 0                   # it has been used
        first, end = best.first, best[1].first
        if nodes <= 1:
            alone = -1
            for i in range(first, end):
                if some[i].cores >= cores and (alone < 0 or some[i].cores < some[alone].cores):
                    alone = i
            if alone >= 0:
                first, end = alone, alone + 1
        for i in range(first, end):
            for node in range(some[i].node, some[i].node + some[i].count):
                if cores <= 0 and nodes <= 0:
                    break
                given = ask.cores if ask.nodes else <int32_t>min(<int64_t>some[i].cores, cores)
                put_share(m, ask, node, given)
                cores -= given
                nodes -= 1
    return nodes if ask.nodes else cores


cdef inline void pick(sim_t *s, site_choice_t *p, int32_t job, double t, const uint64_t *free, candidate_t *some,
                      int32_t n, int64_t count) noexcept nogil:
    if site_of(&s.machine).rule == BY_RUNS:
        in_runs(s, job, some, n, count, p.run)
    else:
        in_order(s, job, t, free, some, n, count)


cdef int32_t list_section(const site_t *m, const ask_t *ask, const node_section_t *part,
                          candidate_t *out) noexcept nogil:
    """What nodes of a section offer of what is free now; equal nodes are one."""
    cdef const node_block_t *block
    cdef int32_t i = next_in_section(m, ask, part, part.first), node, cores, n = 0
    while i < part.first + part.n:
        block = &m.block[i]
        for node in range(block.first, block.first + (1 if block.equal else block.n)):
            cores = offer_of(m, ask, node, m.open[node])
            if cores > 0:
                out[n].node, out[n].cores, out[n].count = node, cores, block.n if block.equal else 1
                n += 1
        i = next_in_section(m, ask, part, i + 1)
    return n


cdef void list_form(site_choice_t *p, const site_t *m, int32_t form) noexcept nogil:
    """The lists are of a form from now on."""
    cdef int32_t i
    if p.listed_form != form + 1:
        p.listed_form = form + 1
        for i in range(m.sections):
            p.listed_at[i] = -1


cdef inline const candidate_t *offers_in(site_choice_t *p, const site_t *m, const ask_t *ask, int32_t section,
                                         int32_t *n) noexcept nogil:
    """`list_section` for the form that is listed.

    A section is listed again if a node of it has changed.  Jobs of one form often start one after another, and a start
    changes the sections of its nodes alone.
    """
    cdef const node_section_t *part = &m.section[section]
    cdef candidate_t *listed = p.listed + m.block[part.first].first
    if p.listed_at[section] != part.changes:
        p.n_listed[section] = list_section(m, ask, part, listed)
        p.listed_at[section] = part.changes
    n[0] = p.n_listed[section]
    return listed


cdef int32_t list_offers(site_choice_t *p, const site_t *m, int32_t job, const uint64_t *free,
                         candidate_t *out) noexcept nogil:
    """What each node offers of what is free of it."""
    cdef const ask_t *ask = &m.ask[job]
    cdef const candidate_t *listed
    cdef int32_t node, cores, i, k, n = 0, there = 0
    if free != m.open:
        for node in range(m.nodes):
            cores = offer_of(m, ask, node, free[node])
            if cores > 0:
                out[n].node, out[n].cores, out[n].count = node, cores, 1
                n += 1
        return n
    list_form(p, m, m.form[job])
    for i in range(m.sections):
        listed = offers_in(p, m, ask, i, &there)
        for k in range(there):
            for node in range(listed[k].node, listed[k].node + listed[k].count):
                out[n].node, out[n].cores, out[n].count = node, listed[k].cores, 1
                n += 1
    return n


cdef bint choose_by_weight(sim_t *s, site_choice_t *p, int32_t job) noexcept nogil:
    """`in_runs` of what is free now, a weight at a time, as runs of a smaller weight are used first."""
    cdef site_t *m = site_of(&s.machine)
    cdef const ask_t *ask = &m.ask[job]
    cdef const candidate_t *listed
    cdef int64_t missing = needed(ask)
    cdef int32_t i = 0, n, there = 0, weight
    if missing > 1 and not fits_in(m, ask, m.open):
        return False
    list_form(p, m, m.form[job])
    while missing > 0 and i < m.sections:
        n, weight = 0, m.section[m.by_weight[i]].weight
        while i < m.sections and m.section[m.by_weight[i]].weight == weight:
            listed = offers_in(p, m, ask, m.by_weight[i], &there)
            if there > 0:
                memcpy(&p.some[n], listed, <size_t>there * sizeof(candidate_t))
                n += there
            i += 1
        if n > 0:
            missing = in_runs(s, job, p.some, n, missing, p.run)
    return missing <= 0


cdef bint has_enough(const ask_t *ask, const candidate_t *all_, int32_t n) noexcept nogil:
    cdef int64_t sum_ = 0
    cdef int32_t i
    if ask.nodes:
        return n >= ask.nodes
    for i in range(n):
        sum_ += all_[i].cores
    return sum_ >= ask.cores


cdef void sort_shares(site_t *m) noexcept nogil:
    cdef int32_t i = 1
    while i < m.n_chosen and m.chosen[i - 1].node < m.chosen[i].node:
        i += 1
    if i < m.n_chosen:
        qsort(m.chosen, <size_t>m.n_chosen, sizeof(share_t), by_node)


cdef bint choose_shares(sim_t *s, site_choice_t *p, int32_t job, double t, const uint64_t *free) noexcept nogil:
    cdef site_t *m = site_of(&s.machine)
    cdef const ask_t *ask = &m.ask[job]
    cdef int32_t n
    m.n_chosen = 0
    if free == m.open and m.rule == BY_RUNS:
        if not choose_by_weight(s, p, job):
            m.n_chosen = 0
            return False
        sort_shares(m)
        return True
    n = list_offers(p, m, job, free, p.some)
    if not has_enough(ask, p.some, n):
        return False
    pick(s, p, job, t, free, p.some, n, needed(ask))
    sort_shares(m)
    return True


cdef bint choose_beside(sim_t *s, site_choice_t *p, int32_t job, double t, const uint64_t *free, const ask_t *head,
                        const uint64_t *later, int64_t slack) noexcept nogil:
    cdef site_t *m = site_of(&s.machine)
    cdef const ask_t *ask = &m.ask[job]
    cdef candidate_t *c
    cdef int32_t i, n, k, cores, cost, last = -1
    if not choose_shares(s, p, job, t, free):
        return False
    if chosen_cost(m, head, later) <= slack:
        return True
    m.n_chosen = 0
    n = list_offers(p, m, job, free, p.all)
    if ask.nodes == 0:                   # of each node what costs the head nothing
        k = 0
        for i in range(n):
            c = &p.all[i]
            cores = c.cores
            while cores > 0 and cost_of(m, head, later, c.node, share_of(m, ask, c.node, cores)) > 0:
                cores = 0 if ask.exclusive else cores - 1
            if cores > 0:
                p.some[k] = c[0]
                p.some[k].cores = cores
                k += 1
        if not has_enough(ask, p.some, k):
            return False
        pick(s, p, job, t, free, p.some, k, ask.cores)
        sort_shares(m)
        return True
    for i in range(n):
        p.all[i].cost = cost_of(m, head, later, p.all[i].node, share_of(m, ask, p.all[i].node, ask.cores))
    # Invariant: the nodes that cost at most `last` are chosen.
    while m.n_chosen < ask.nodes:
        cost = -1
        for i in range(n):
            if p.all[i].cost > last and (cost < 0 or p.all[i].cost < cost):
                cost = p.all[i].cost
        k = 0
        for i in range(n):
            if p.all[i].cost == cost:
                p.some[k] = p.all[i]
                k += 1
        pick(s, p, job, t, free, p.some, k, min(k, ask.nodes - m.n_chosen))
        last = cost
    sort_shares(m)
    return chosen_cost(m, head, later) <= slack
