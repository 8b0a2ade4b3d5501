"""Conservative backfilling on a torus (MODEL 6); the contract is in conservative_torus.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport calloc, free as c_free, malloc, qsort
from libc.string cimport memcpy, memset

from faultsim._core.torus.choose cimport permit_t
from faultsim._core.scheduling.placement cimport same_box
from faultsim._core.state cimport (
    JOB_RUNNING, NO_MEMORY, OK, aim, end_if_started_at, plan_t, promise_start, sim_t, start_job, wait_t,
)
from faultsim._core.fars.suspicion cimport place_warily
from faultsim._core.torus.occupancy cimport box_size, box_t, next_feasible, occ_fill, occ_meets, occ_set_node


cdef int plan_alloc_torus(sim_t *s) noexcept nogil:
    cdef plan_t *p = &s.plan
    cdef size_t n = s.n, words = s.torus.words
    cdef int32_t i
    p.begin = <double *>malloc(n * sizeof(double))
    p.end = <double *>calloc(n, sizeof(double))
    p.box = <box_t *>calloc(n, sizeof(box_t))
    p.mask = <uint64_t **>calloc(n, sizeof(uint64_t *))
    p.window = <uint64_t *>calloc(words, sizeof(uint64_t))
    p.instant = <uint64_t *>calloc(words, sizeof(uint64_t))
    # Ends of reservations, of running jobs and of outages (at most one a node).
    p.times = <double *>malloc((n + <size_t>s.nodes + 1) * sizeof(double))
    if p.begin == NULL or p.end == NULL or p.box == NULL or p.mask == NULL:
        return NO_MEMORY
    if p.window == NULL or p.instant == NULL or p.times == NULL:
        return NO_MEMORY
    for i in range(s.n):
        p.begin[i] = INFINITY
    p.last_pass = -INFINITY
    p.gained = -INFINITY
    p.head = -1
    return OK


cdef inline void join(uint64_t *into, const uint64_t *more, int words) noexcept nogil:
    cdef int k
    for k in range(words):
        into[k] |= more[k]


cdef int ascending(const void *a, const void *b) noexcept nogil:
    cdef double p = (<const double *>a)[0], q = (<const double *>b)[0]
    return (p > q) - (p < q)


cdef int32_t release_times(sim_t *s) noexcept nogil:
    """plan.times: when nodes come back, from now on, ascending, each once; how many."""
    cdef plan_t *p = &s.plan
    cdef int32_t i, n = 0, kept = 0
    cdef double t
    for i in range(s.releases.n):
        t = s.releases.items[i].end
        if t < INFINITY:
            p.times[n] = t if t > s.now else s.now
            n += 1
    for i in range(s.wait.head, s.wait.end):
        if p.begin[s.wait.job[i]] != INFINITY:
            p.times[n] = p.end[s.wait.job[i]]
            n += 1
    qsort(p.times, <size_t>n, sizeof(double), ascending)
    for i in range(n):
        if p.times[i] >= s.now and (kept == 0 or p.times[i] != p.times[kept - 1]):
            p.times[kept] = p.times[i]
            kept += 1
    return kept


cdef void taken_over(sim_t *s, int32_t job, double t, double end, bint real) noexcept nogil:
    """plan.window: nodes that `job` cannot have over all of [t, end); plan.instant: what is taken at t.

    `real`: t is now and every running job counts, also one that has outlived its estimate.
    """
    cdef plan_t *p = &s.plan
    cdef int words = s.torus.words
    cdef size_t bytes = <size_t>words * sizeof(uint64_t)
    cdef int32_t i, other
    memset(p.window, 0, bytes)
    if real:
        memcpy(p.window, s.occ, bytes)
    else:
        for i in range(s.releases.n):
            other = s.releases.items[i].job
            if s.releases.items[i].end > t:
                if other >= 0:
                    join(p.window, p.mask[other], words)
                else:
                    occ_set_node(&s.torus, p.window, -1 - other)
        if s.faults.n_down > 0 and not s.faults.repairs_known:
            for i in range(s.nodes):
                if s.faults.down[i]:
                    occ_set_node(&s.torus, p.window, i)
    memcpy(p.instant, p.window, bytes)
    for i in range(s.wait.head, s.wait.end):
        other = s.wait.job[i]
        # A reservation without length takes nothing from others.
        if other == job or s.state[other] == JOB_RUNNING or not p.begin[other] < p.end[other]:
            continue
        if p.begin[other] <= t and t < p.end[other]:
            join(p.instant, p.mask[other], words)
            join(p.window, p.mask[other], words)
        elif t < p.begin[other] and p.begin[other] < end:
            join(p.window, p.mask[other], words)


cdef int try_at(sim_t *s, int32_t job, bint head, double t, bint real, box_t *box) noexcept nogil:
    """The size of a box that `job` can have from t on, the smallest first; 0: none; < 0: a status code."""
    cdef plan_t *p = &s.plan
    cdef int32_t size = s.need[job], limit = s.nodes if head else size + s.policy.max_growth
    cdef permit_t permit
    cdef int code
    taken_over(s, job, t, end_if_started_at(s, job, t), real)
    aim(s, job, t)
    memset(&permit, 0, sizeof(permit))
    permit.forbidden = p.window
    while size != 0 and size <= limit:
        if real:
            code = place_warily(s, job, p.instant, size, &permit, box)
        else:
            code = s.policy.place(s, job, p.instant, size, &permit, box)
        if code != 0:
            return size if code > 0 else code
        size = next_feasible(&s.torus, size + 1)
    return 0


cdef int find_hole(sim_t *s, int32_t job, bint head, double *begin, box_t *box, bint *starts) noexcept nogil:
    """Earliest time from now on, then smallest size, with a box that is free all along; the size, or a status code.

    A job that has a reservation finds none better from plan.gained on, unless as the new head of the queue it may take
    any size; and none later than its own is looked for (0).
    """
    cdef plan_t *p = &s.plan
    cdef double old = p.begin[job], stop = old
    cdef int32_t n, i
    cdef int size
    if old != INFINITY and p.gained < stop and (not head or p.head == job):
        stop = p.gained
    starts[0] = True
    begin[0] = s.now
    if s.now < stop or old == s.now:
        size = try_at(s, job, head, s.now, True, box)
        if size != 0:
            return size
    # A hole at now that counts on nodes of an overrun job is not one to start in.
    starts[0] = False
    if s.now < stop:
        n = release_times(s)
        for i in range(n):
            if p.times[i] >= stop:
                break
            size = try_at(s, job, head, p.times[i], False, box)
            if size != 0:
                begin[0] = p.times[i]
                return size
    begin[0] = old
    return try_at(s, job, head, old, False, box) if old != INFINITY else 0


cdef void released_conservative_torus(sim_t *s, int32_t job) noexcept nogil:
    c_free(s.plan.mask[job])
    s.plan.mask[job] = NULL
    if s.expected[job] < s.now:
        s.plan.rebuild = True    # it outlived its estimate: a disturbance
    elif s.expected[job] > s.plan.gained:
        s.plan.gained = s.expected[job]


cdef int schedule_conservative_torus(sim_t *s) noexcept nogil:
    cdef plan_t *p = &s.plan
    cdef wait_t *w = &s.wait
    cdef bint disturbed = p.rebuild
    cdef int32_t i, job
    cdef int code
    if s.policy.order != NULL:
        code = s.policy.order(s)
        if code < 0:
            return code
    p.rebuild = False
    if s.releases.n > 0 and s.releases.items[0].end <= s.now:
        disturbed = True
    for i in range(w.head, w.end):
        if p.begin[w.job[i]] < s.now or p.begin[w.job[i]] == p.last_pass:
            disturbed = True
            s.epoch += 1
            break
    code = sweep(s, disturbed)
    if code < 0:
        return code
    if s.policy.migrate != NULL:
        code = s.policy.migrate(s)
        if code < 0:
            return code
        if s.adopted:
            for i in range(s.releases.n):
                job = s.releases.items[i].job
                if job >= 0 and remask(s, job, &s.box[job]) < 0:
                    return NO_MEMORY
            code = sweep(s, True)
            if code < 0:
                return code
    if w.head == w.end:
        w.head = 0
        w.end = 0
    p.last_pass = s.now
    return OK


cdef int remask(sim_t *s, int32_t job, const box_t *box) noexcept nogil:
    cdef size_t bytes = <size_t>s.torus.words * sizeof(uint64_t)
    cdef uint64_t *mask = s.plan.mask[job]
    if mask == NULL:
        mask = <uint64_t *>malloc(bytes)
        if mask == NULL:
            return NO_MEMORY
        s.plan.mask[job] = mask
    memset(mask, 0, bytes)
    occ_fill(&s.torus, mask, box)
    return OK


cdef int sweep(sim_t *s, bint disturbed) noexcept nogil:
    """One reservation after another, in queue order, out of the plan and into its earliest hole."""
    cdef plan_t *p = &s.plan
    cdef wait_t *w = &s.wait
    cdef int32_t i, keep, job, head = -1
    cdef double begin = INFINITY, vacated = -INFINITY
    cdef bint starts = False
    cdef box_t box
    cdef int size, code
    if disturbed:
        p.gained = -INFINITY
        for i in range(w.head, w.end):
            p.begin[w.job[i]] = INFINITY
    for i in range(w.head, w.end):
        job = w.job[i]
        size = find_hole(s, job, head < 0, &begin, &box, &starts)
        if size < 0:
            return size
        if size == 0:
            # It keeps its reservation.  Nothing as good is found only where a reservation without length stood beside
            # another one, or after a change of the queue order.
            begin = p.begin[job]
            if begin == INFINITY:
                head = job if head < 0 else head
                continue
            box = p.box[job]
            size = box_size(&box)
            starts = begin == s.now and not occ_meets(&s.torus, s.occ, &box)
        if p.begin[job] != INFINITY and (begin != p.begin[job] or not same_box(&box, &p.box[job])):
            # What it leaves may serve those behind it now and those before it in the next pass.
            if p.end[job] > p.gained:
                p.gained = p.end[job]
            if p.end[job] > vacated:
                vacated = p.end[job]
        promise_start(s, job, begin)
        if remask(s, job, &box) < 0:
            return NO_MEMORY
        if starts:
            p.begin[job] = INFINITY
            code = start_job(s, job, size, &box, head >= 0)
            if code < 0:
                return code
            continue
        head = job if head < 0 else head
        p.begin[job] = begin
        p.end[job] = end_if_started_at(s, job, begin)
        p.box[job] = box
    keep = w.head
    for i in range(w.head, w.end):
        if s.state[w.job[i]] != JOB_RUNNING:
            w.job[keep] = w.job[i]
            keep += 1
    w.end = keep
    p.head = head
    p.gained = vacated
    return OK
