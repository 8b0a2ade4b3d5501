"""Memory of one simulation; the contract is in state.pxd."""

from libc.stdlib cimport free as c_free
from libc.string cimport memset

from faultsim._core.containers.event_queue cimport heap_copy, heap_free, heap_init
from faultsim._core.containers.memory cimport duplicate, fresh
from faultsim._core.containers.releases cimport releases_copy, releases_free, releases_init
from faultsim._core.status cimport NO_MEMORY, OK


cdef int trace_alloc(sim_t *s) noexcept nogil:
    cdef trace_t *f = &s.trace
    cdef size_t nodes = s.nodes
    f.up_at = <double *>fresh(nodes, sizeof(double))
    f.down = <uint8_t *>fresh(nodes, 1)
    f.count = <int32_t *>fresh(nodes, sizeof(int32_t))
    if f.up_at == NULL or f.down == NULL or f.count == NULL:
        return NO_MEMORY
    if s.machine.named:
        s.predictions.failing = <uint64_t *>fresh(s.machine.words, sizeof(uint64_t))
        if s.predictions.failing == NULL:
            return NO_MEMORY
    return OK


cdef int sim_alloc(sim_t *s) noexcept nogil:
    cdef size_t n = s.n
    cdef int32_t i
    for i in range(<int>N_SOURCES):
        s.source_at[i] = -1
    s.state = <int8_t *>fresh(n, 1)
    s.need = <int32_t *>fresh(n, sizeof(int32_t))
    s.decision = <double *>fresh(n, sizeof(double))
    s.expected = <double *>fresh(n, sizeof(double))
    s.promise = <double *>fresh(n, sizeof(double))
    s.promise_epoch = <int32_t *>fresh(n, sizeof(int32_t))
    s.queue.job = <int32_t *>fresh(n, sizeof(int32_t))
    if s.state == NULL or s.need == NULL or s.decision == NULL or s.expected == NULL:
        return NO_MEMORY
    if s.promise == NULL or s.promise_epoch == NULL or s.queue.job == NULL:
        return NO_MEMORY
    if heap_init(&s.heap, 256) < 0 or releases_init(&s.releases, 256) < 0:
        return NO_MEMORY
    if s.track.on and trace_alloc(s) < 0:
        return NO_MEMORY
    if s.record.on:
        s.record.open_stay = <int64_t *>fresh(n, sizeof(int64_t))
        if s.record.open_stay == NULL:
            return NO_MEMORY
    s.epoch = 1
    s.free = s.nodes
    s.now = s.submit[0]
    s.clock = s.submit[0]
    s.remaining = s.estimate
    for i in range(s.n):
        s.need[i] = s.machine.next_size(s.machine.state, s.size[i])
        s.run[i] = s.estimate[i] if s.kill and s.estimate[i] < s.runtime[i] else s.runtime[i]
    return OK


cdef void add_source(sim_t *s, int rank, int kind, double time,
                     int (*fire)(void *, bint *) noexcept nogil) noexcept nogil:
    cdef int i = s.n_sources, k
    while i > 0 and s.source[i - 1].rank > rank:
        s.source[i] = s.source[i - 1]
        i -= 1
    s.source[i].rank = rank
    s.source[i].kind = kind
    s.source[i].time = time
    s.source[i].fire = fire
    s.n_sources += 1
    for k in range(s.n_sources):
        s.source_at[s.source[k].rank] = k


cdef void sim_free(sim_t *s) noexcept nogil:
    if s.rescheduling.close != NULL:
        s.rescheduling.close(s.rescheduling.state)
    if s.checkpointing.close != NULL:
        s.checkpointing.close(s.checkpointing.state)
    if s.recovery.close != NULL:
        s.recovery.close(s.recovery.state)
    if s.migration.close != NULL:
        s.migration.close(s.migration.state)
    if s.scheduler.close != NULL:
        s.scheduler.close(s.scheduler.state)
    if s.order.close != NULL:
        s.order.close(s.order.state)
    if s.placement.close != NULL:
        s.placement.close(s.placement.state)
    if s.machine.close != NULL:
        s.machine.close(s.machine.state)
    c_free(s.state)
    c_free(s.need)
    c_free(s.decision)
    c_free(s.expected)
    c_free(s.promise)
    c_free(s.promise_epoch)
    c_free(s.trace.up_at)
    c_free(s.trace.down)
    c_free(s.trace.count)
    c_free(s.trace.rank)
    c_free(s.predictions.failing)
    c_free(s.hidden)
    c_free(s.queue.job)
    c_free(s.queue.need)
    c_free(s.queue.least)
    c_free(s.queue.entry)
    c_free(s.record.event)
    c_free(s.record.stay)
    c_free(s.record.node)
    c_free(s.record.open_stay)
    heap_free(&s.heap)
    releases_free(&s.releases)


cdef void disown(sim_t *s) noexcept nogil:
    """Forget all that a shallow copy shares with its source and would free."""
    s.machine.state = NULL
    s.machine.close = NULL
    s.placement.close = NULL
    s.order.close = NULL
    s.scheduler.close = NULL
    s.migration.close = NULL
    s.recovery.close = NULL
    s.checkpointing.close = NULL
    s.rescheduling.close = NULL
    s.state = NULL
    s.need = NULL
    s.decision = NULL
    s.expected = NULL
    s.promise = NULL
    s.promise_epoch = NULL
    s.trace.up_at = NULL
    s.trace.down = NULL
    s.trace.count = NULL
    s.trace.rank = NULL
    s.predictions.failing = NULL
    s.track.at = NULL
    s.track.spare = NULL
    s.track.saved = NULL
    s.track.killed_at = NULL
    s.track.started = NULL
    s.track.remaining = NULL
    s.track.owed = NULL
    s.hidden = NULL
    s.queue.job = NULL
    s.queue.need = NULL
    s.queue.least = NULL
    s.queue.entry = NULL
    s.record.event = NULL
    s.record.stay = NULL
    s.record.node = NULL
    s.record.open_stay = NULL
    memset(&s.heap, 0, sizeof(s.heap))
    memset(&s.releases, 0, sizeof(s.releases))


cdef int copy_blocks(sim_t *to, const sim_t *source) noexcept nogil:
    cdef size_t n = source.n, nodes = source.nodes, mask = <size_t>source.machine.words * sizeof(uint64_t)
    cdef const record_t *r = &source.record
    cdef int bad = 0
    to.state = <int8_t *>duplicate(source.state, n, &bad)
    to.need = <int32_t *>duplicate(source.need, n * sizeof(int32_t), &bad)
    to.decision = <double *>duplicate(source.decision, n * sizeof(double), &bad)
    to.expected = <double *>duplicate(source.expected, n * sizeof(double), &bad)
    to.promise = <double *>duplicate(source.promise, n * sizeof(double), &bad)
    to.promise_epoch = <int32_t *>duplicate(source.promise_epoch, n * sizeof(int32_t), &bad)
    to.trace.up_at = <double *>duplicate(source.trace.up_at, nodes * sizeof(double), &bad)
    to.trace.down = <uint8_t *>duplicate(source.trace.down, nodes, &bad)
    to.trace.count = <int32_t *>duplicate(source.trace.count, nodes * sizeof(int32_t), &bad)
    to.trace.rank = <int32_t *>duplicate(source.trace.rank, nodes * sizeof(int32_t), &bad)
    to.predictions.failing = <uint64_t *>duplicate(source.predictions.failing, mask, &bad)
    to.hidden = <uint64_t *>duplicate(source.hidden, mask, &bad)
    to.queue.job = <int32_t *>duplicate(source.queue.job, n * sizeof(int32_t), &bad)
    to.queue.need = <int32_t *>duplicate(source.queue.need, n * sizeof(int32_t), &bad)
    to.queue.least = <float *>duplicate(source.queue.least, n * sizeof(float), &bad)
    to.queue.entry = <int64_t *>duplicate(source.queue.entry, n * sizeof(int64_t), &bad)
    to.record.event = <record_event_t *>duplicate(r.event, <size_t>r.cap_events * sizeof(record_event_t), &bad)
    to.record.stay = <record_stay_t *>duplicate(r.stay, <size_t>r.cap_stays * sizeof(record_stay_t), &bad)
    to.record.node = <int32_t *>duplicate(r.node, <size_t>r.cap_nodes * sizeof(int32_t), &bad)
    to.record.open_stay = <int64_t *>duplicate(r.open_stay, n * sizeof(int64_t), &bad)
    return NO_MEMORY if bad else OK


cdef inline int copy_part(const void *state, const void *sim, void **to, void (**to_close)(void *) noexcept nogil,
                          void *(*copy)(const void *, const void *) noexcept nogil,
                          void (*close)(void *) noexcept nogil) noexcept nogil:
    """The state of one policy; its owner frees it from now on."""
    if copy == NULL:
        to_close[0] = close
        return OK
    to[0] = copy(state, sim)
    if to[0] == NULL:
        return NO_MEMORY
    to_close[0] = close
    return OK


cdef int copy_policies(sim_t *to, const sim_t *source) noexcept nogil:
    if copy_part(source.placement.state, to, &to.placement.state, &to.placement.close,
                 source.placement.copy, source.placement.close) < 0:
        return NO_MEMORY
    if copy_part(source.order.state, to, &to.order.state, &to.order.close,
                 source.order.copy, source.order.close) < 0:
        return NO_MEMORY
    if copy_part(source.scheduler.state, to, &to.scheduler.state, &to.scheduler.close,
                 source.scheduler.copy, source.scheduler.close) < 0:
        return NO_MEMORY
    if copy_part(source.migration.state, to, &to.migration.state, &to.migration.close,
                 source.migration.copy, source.migration.close) < 0:
        return NO_MEMORY
    if copy_part(source.recovery.state, to, &to.recovery.state, &to.recovery.close,
                 source.recovery.copy, source.recovery.close) < 0:
        return NO_MEMORY
    if copy_part(source.checkpointing.state, to, &to.checkpointing.state, &to.checkpointing.close,
                 source.checkpointing.copy, source.checkpointing.close) < 0:
        return NO_MEMORY
    return copy_part(source.rescheduling.state, to, &to.rescheduling.state, &to.rescheduling.close,
                     source.rescheduling.copy, source.rescheduling.close)


cdef int sim_copy(sim_t *to, const sim_t *source) noexcept nogil:
    to[0] = source[0]
    disown(to)
    if heap_copy(&to.heap, &source.heap) < 0 or releases_copy(&to.releases, &source.releases) < 0:
        return NO_MEMORY
    if copy_blocks(to, source) < 0:
        return NO_MEMORY
    to.machine.state = source.machine.copy(source.machine.state, &to.machine)
    if to.machine.state == NULL:
        return NO_MEMORY
    to.machine.close = source.machine.close
    if copy_policies(to, source) < 0:
        return NO_MEMORY
    if source.avoid != NULL:
        to.avoid = (<const uint64_t **>to.rescheduling.state)[0]     # the mask is the first field of who sets it
    return OK
