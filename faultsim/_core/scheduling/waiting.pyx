"""Who waits, by number; the contract is in waiting.pxd."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint8_t, uint64_t

from faultsim._core.containers.bits cimport fs_highest
from faultsim._core.containers.memory cimport close_state, open_state, own_block, part_t
from faultsim._core.queue cimport TOGETHER


cdef int waiting_open(waiting_t *w, void *owner, const sim_t *s) except -1:
    cdef int32_t top = fs_highest(<uint64_t>s.nodes) if s.nodes > 0 else 0, rows, i
    w.classes = 8 if top < 8 else 16 if top < 16 else LANES
    w.blocks = LANES // w.classes
    rows = s.n // (TOGETHER * w.blocks) + 1
    own_block(owner, &w.least, rows * w.blocks * TOGETHER, sizeof(float))
    own_block(owner, &w.rows, rows * LANES, sizeof(float))
    own_block(owner, &w.loose, rows * w.blocks, sizeof(uint8_t))
    for i in range(rows * w.blocks * TOGETHER):
        w.least[i] = INFINITY
    for i in range(rows * LANES):
        w.rows[i] = INFINITY
    return 0


cdef void wait_on(waiting_t *w, int32_t job, int32_t need, float least) noexcept nogil:
    cdef float *of = &w.rows[w.classes * (job // TOGETHER) + fs_highest(<uint64_t>need)]
    w.least[job] = least
    of[0] = min(of[0], least)


cdef void wait_no_more(waiting_t *w, int32_t job) noexcept nogil:
    w.least[job] = INFINITY
    w.loose[job // TOGETHER] = 1


cdef void tighten(const line_t *line, int32_t block) noexcept nogil:
    cdef float *least = line.rows + line.classes * block
    cdef float *of
    cdef int32_t i
    for i in range(line.classes):
        least[i] = INFINITY
    for i in range(TOGETHER * block, min(TOGETHER * block + TOGETHER, line.room)):
        if waits_at(line, i):
            of = &least[fs_highest(<uint64_t>line.need[i])]
            of[0] = min(of[0], line.least[i])
    line.loose[block] = 0


cdef void least_by_class(const line_t *line, float *least) noexcept nogil:
    cdef float lanes[LANES]
    cdef const float *row
    cdef int32_t numbers = TOGETHER * line.blocks, r, k
    for k in range(LANES):
        lanes[k] = INFINITY
    for r in range(line.begin // numbers, (line.end - 1) // numbers + 1):
        row = line.rows + LANES * r
        for k in range(line.blocks * r, line.blocks * (r + 1)):
            if line.loose[k]:
                tighten(line, k)
        for k in range(LANES):           # the compiler makes vectors of this
            lanes[k] = lanes[k] if lanes[k] < row[k] else row[k]
    for k in range(line.classes, LANES):
        lanes[k % line.classes] = min(lanes[k % line.classes], lanes[k])
    for k in range(LANES):
        least[k] = lanes[k] if k < line.classes else INFINITY


cdef line_t line_of(const waiting_t *w, const sim_t *s, bint by_number) noexcept nogil:
    cdef line_t line
    line.classes, line.blocks, line.loose = w.classes, w.blocks, w.loose
    if by_number:
        line.job, line.need, line.least, line.rows = NULL, s.need, w.least, w.rows
        line.begin, line.end, line.room = 0, 0, s.n
        if s.queue.head < s.queue.end:
            line.begin, line.end = s.queue.job[s.queue.head], s.queue.job[s.queue.end - 1] + 1
    else:
        line.job, line.need, line.least, line.rows = s.queue.job, s.queue.need, s.queue.least, NULL
        line.begin, line.end, line.room = s.queue.head, s.queue.end, s.queue.end
    return line


cdef inline bint lets_through(const line_t *line, const bound_t *bound, int32_t block) noexcept nogil:
    cdef const float *least = line.rows + line.classes * block
    cdef int32_t k
    for k in range(line.classes):
        if least[k] <= bound.most[k]:
            return True
    return False


cdef inline bint some_in_block(const line_t *line, const bound_t *bound, int32_t block) noexcept nogil:
    if not lets_through(line, bound, block):
        return False
    if not line.loose[block]:
        return True
    tighten(line, block)
    return lets_through(line, bound, block)


cdef int32_t next_in_rows(const line_t *line, const bound_t *bound, int32_t at, int32_t end) noexcept nogil:
    cdef int32_t block = at // TOGETHER, blocks = line.blocks, row, k, some
    cdef const float *least
    # What is left of the row that has begun.
    while block % blocks:
        if some_in_block(line, bound, block):
            return max(at, TOGETHER * block)
        block += 1
    for row in range(block // blocks, (end - 1) // (TOGETHER * blocks) + 1):
        least, some = line.rows + LANES * row, 0
        for k in range(LANES):           # the compiler makes vectors of this
            some |= least[k] <= bound.most[k]
        if some:
            for block in range(row * blocks, (row + 1) * blocks):
                if some_in_block(line, bound, block):
                    return max(at, TOGETHER * block)
    return end


cdef int32_t next_short(const line_t *line, const stairs_t *stairs, int32_t at, int32_t end) noexcept nogil:
    cdef bound_t bound
    cdef const int32_t *need
    cdef const float *least
    cdef int32_t i, k, some, level
    cdef float length
    if stairs.n == 0:
        return end
    if line.rows != NULL:
        # The lowest stair that has as many nodes as the least need of the class.
        i = stairs.n - 1
        for k in range(line.classes):
            while i >= 0 and stairs.level[i] >> k == 0:
                i -= 1
            bound.most[k] = stairs.length[i] if i >= 0 else -1.0
        for k in range(line.classes, LANES):
            bound.most[k] = bound.most[k - line.classes]
    while True:
        at = next_group(line, &bound, at, end)
        if at >= end:
            return end
        need, least = line.need + at, line.least + at
        if at + TOGETHER <= line.room:
            some = 0
            for i in range(stairs.n):
                level, length = stairs.level[i], stairs.length[i]
                for k in range(TOGETHER):        # the compiler makes vectors of this
                    some |= (need[k] <= level) & (least[k] <= length)
                if some:                         # without which it makes them of the stairs
                    break
            if not some:
                at += TOGETHER
                continue
        for k in range(min(<int32_t>TOGETHER, end - at)):
            for i in range(stairs.n):
                if need[k] <= stairs.level[i] and least[k] <= stairs.length[i]:
                    return at + k
        at += TOGETHER


cdef struct tested_t:
    waiting_t waiting
    int32_t *need
    int32_t *ends


cdef class Waiting:
    """Who waits, on its own, for tests: jobs with these needs, on so many nodes."""

    cdef part_t part
    cdef sim_t s

    def __cinit__(self, list need, int32_t nodes):
        cdef tested_t *t = <tested_t *>open_state(&self.part, sizeof(tested_t))
        cdef int32_t i
        self.s.n, self.s.nodes = len(need), nodes
        own_block(t, &t.need, self.s.n, sizeof(int32_t))
        own_block(t, &t.ends, 2, sizeof(int32_t))
        for i in range(self.s.n):
            t.need[i] = need[i]
        t.ends[0], t.ends[1] = 0, self.s.n - 1
        self.s.need, self.s.queue.job, self.s.queue.end = t.need, t.ends, 2
        waiting_open(&t.waiting, t, &self.s)

    def __dealloc__(self):
        close_state(self.part.state)

    def wait(self, int32_t job, float least):
        """A job waits that takes at least so long."""
        cdef tested_t *t = <tested_t *>self.part.state
        wait_on(&t.waiting, job, t.need[job], least)

    def wait_no_more(self, int32_t job):
        """It waits no more, if it did."""
        wait_no_more(&(<tested_t *>self.part.state).waiting, job)

    def least(self, int32_t first, int32_t last):
        """By class: no job that waits takes less, of those whose rows have the numbers [first, last]."""
        cdef line_t line = line_of(&(<tested_t *>self.part.state).waiting, &self.s, True)
        cdef float least[LANES]
        line.begin, line.end = first, last + 1
        least_by_class(&line, least)
        return [least[i] for i in range(LANES)]

    def next_short(self, list stairs, int32_t at, int32_t end):
        """The first job in [at, end) for which there is a stair (nodes, length); `end`: none."""
        cdef line_t line = line_of(&(<tested_t *>self.part.state).waiting, &self.s, True)
        cdef stairs_t to
        cdef int32_t i
        to.n = len(stairs)
        for i in range(to.n):
            to.level[i], to.length[i] = stairs[i]
        return next_short(&line, &to, at, end)
