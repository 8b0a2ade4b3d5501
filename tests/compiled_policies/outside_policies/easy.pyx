"""FCFS and EASY backfilling, on clusters and tori: `fcfs`, `easy`, and `short_easy`, the same in a few lines."""

from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t, int64_t

from faultsim.policy cimport (
    FAULTSIM_CHANGED_ALL, FAULTSIM_POLICY_VERSION, FAULTSIM_SCHEDULER, FAULTSIM_SCHEDULER_KIND, faultsim_pass_t,
    faultsim_scheduler_t,
)

cdef struct memory_t:
    int32_t examined         # so many jobs from the head on were refused under the present shadow
    bint valid
    double time              # the shadow of the head
    int64_t extra


cdef int start_heads(faultsim_pass_t *now) noexcept nogil:
    """How many jobs from the head on were started; -1: an error."""
    cdef int32_t place = 0
    while place < now.waiting and now.need[place] <= now.free and (not now.placed or now.fits(now, place)):
        if now.start(now, place) < 0:
            return -1
        place += 1
    return place


cdef int fcfs(faultsim_pass_t *now, void *state, void *data) noexcept nogil:
    return -1 if start_heads(now) < 0 else 0


cdef int short_easy(faultsim_pass_t *now, void *state, void *data) noexcept nogil:
    cdef int32_t head = start_heads(now), place
    if head < 0:
        return -1
    for place in range(head + 1, now.waiting):
        if now.need[place] <= now.free and now.backfill(now, place, head, 1) < 0:
            return -1
    return 0


cdef inline int32_t next_candidate(const faultsim_pass_t *now, int32_t place, int32_t free, int32_t extra,
                                   float time) noexcept nogil:
    """The first place from `place` on whose job fits, and perhaps ends in `time` or needs no more than `extra`."""
    cdef int32_t end = now.waiting, k, may
    cdef const int32_t *need = now.need
    cdef const float *least = now.least
    while place + 16 <= end:
        may = 0
        for k in range(16):              # the compiler makes vectors of this
            may |= (need[place + k] <= free) & ((need[place + k] <= extra) | (least[place + k] <= time))
        if may:
            break
        place += 16
    while place < end and not (need[place] <= free and (need[place] <= extra or least[place] <= time)):
        place += 1
    return place


cdef int easy_on_cluster(faultsim_pass_t *now, memory_t *memory) noexcept nogil:
    """After arrivals alone nobody who was refused can start: only what came is looked at."""
    cdef int32_t head = 0, place = memory.examined, started = 0
    cdef bint outlives
    cdef float time
    if now.change == FAULTSIM_CHANGED_ALL or place == 0 or (memory.valid and now.now > memory.time):
        memory.valid = False
        while head < now.waiting and now.need[head] <= now.free:
            if now.start(now, head) < 0:
                return -1
            head += 1
        if head == now.waiting:
            memory.examined = 0
            return 0
        place = head + 1
    if now.free > 0 and not memory.valid:
        while place < now.waiting and now.need[place] > now.free:
            place += 1
        if place < now.waiting:
            memory.valid = True
            memory.time = now.shadow(now, head, &memory.extra)
    # Rounded up, so that nobody who ends in time is passed over; the test that counts is below, in doubles.
    time = <float>((memory.time - now.now) * (1.0 + 1e-6) + 1e-15 * (memory.time + now.now))
    while now.free > 0:
        place = next_candidate(now, place, now.free, <int32_t>memory.extra, time)
        if place == now.waiting:
            break
        outlives = now.expected_end(now, place) > memory.time
        if not outlives or now.need[place] <= memory.extra:
            if now.start(now, place) < 0:
                return -1
            started += 1
            if outlives:
                memory.extra -= now.need[place]
        place += 1
    memory.examined = now.waiting - head - started
    return 0


cdef int easy_(faultsim_pass_t *now, void *state, void *data) noexcept nogil:
    return short_easy(now, state, data) if now.placed else easy_on_cluster(now, <memory_t *>state)


cdef faultsim_scheduler_t[3] tables

tables[0].name, tables[0].schedule = "fcfs", fcfs
tables[1].name, tables[1].schedule, tables[1].state_bytes = "easy", easy_, sizeof(memory_t)
tables[2].name, tables[2].schedule = "short_easy", short_easy
for i in range(3):
    tables[i].kind, tables[i].version = FAULTSIM_SCHEDULER_KIND, FAULTSIM_POLICY_VERSION
    globals()[tables[i].name.decode()] = PyCapsule_New(&tables[i], FAULTSIM_SCHEDULER, NULL)
