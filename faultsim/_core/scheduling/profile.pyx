"""Free nodes over time, in blocks of steps; the contract is in profile.pxd."""

from libc.string cimport memmove

from faultsim._core.containers.memory cimport close_state, open_state, own_block, part_t, resize_block
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.thresholds cimport thresholds


cdef int profile_open(profile_t *f, void *owner) except -1:
    f.room = thresholds.block_steps
    f.capacity = min(8, thresholds.first_room)
    own_block(owner, &f.block, f.capacity, sizeof(steps_t))
    own_block(owner, &f.order, f.capacity, sizeof(int32_t))
    own_block(owner, &f.begins, f.capacity, sizeof(double))
    return 0


cdef inline void clear(steps_t *s, int32_t end) noexcept nogil:
    """There are steps no more from s.n to `end`."""
    cdef int32_t i
    for i in range(s.n, end):
        s.at[i] = INFINITY


cdef void profile_reset(profile_t *f, double at, int32_t level) noexcept nogil:
    cdef steps_t *s = &f.block[0]
    f.n = f.made = 1
    f.spare = -1
    f.order[0] = 0
    f.begins[0] = s.at[0] = at
    s.n, s.high = 1, level
    s.level[0] = level
    clear(s, STEPS_IN_BLOCK)


cdef int32_t new_block(profile_t *f, void *owner) noexcept nogil:
    cdef int32_t found = f.spare, more
    if found >= 0:
        f.spare = f.block[found].n
        return found
    if f.made == f.capacity:
        more = 2 * f.capacity
        if (resize_block(owner, &f.block, <size_t>more * sizeof(steps_t)) < 0
                or resize_block(owner, &f.order, <size_t>more * sizeof(int32_t)) < 0
                or resize_block(owner, &f.begins, <size_t>more * sizeof(double)) < 0):
            return -1
        f.capacity = more
    f.made += 1
    return f.made - 1


cdef int profile_append(profile_t *f, void *owner, double at, int32_t level) noexcept nogil:
    cdef int32_t b = f.n - 1
    cdef steps_t *s = block_at(f, b)
    if s.n > f.room // 2:            # room for those that come between
        b = new_block(f, owner)
        if b < 0:
            return NO_MEMORY
        f.order[f.n] = b
        f.begins[f.n] = at
        f.n += 1
        s = &f.block[b]
        s.n, s.high = 0, level
        clear(s, STEPS_IN_BLOCK)
    s.at[s.n], s.level[s.n] = at, level
    s.n += 1
    s.high = max(s.high, level)
    return OK


cdef inline void shift(profile_t *f, int32_t to, int32_t at) noexcept nogil:
    """The blocks from place `at` on go to place `to`."""
    memmove(&f.order[to], &f.order[at], <size_t>(f.n - at) * sizeof(int32_t))
    memmove(&f.begins[to], &f.begins[at], <size_t>(f.n - at) * sizeof(double))


cdef inline void move_steps(steps_t *to, int32_t i, const steps_t *source, int32_t k, int32_t n) noexcept nogil:
    memmove(&to.at[i], &source.at[k], <size_t>n * sizeof(double))
    memmove(&to.level[i], &source.level[k], <size_t>n * sizeof(int32_t))


cdef int split(profile_t *f, void *owner, int32_t b) noexcept nogil:
    cdef int32_t made = new_block(f, owner), half = f.room // 2
    cdef steps_t *s
    cdef steps_t *other
    if made < 0:
        return NO_MEMORY
    s, other = block_at(f, b), &f.block[made]
    other.n, other.high = s.n - half, s.high
    move_steps(other, 0, s, half, other.n)
    s.n = half
    clear(s, STEPS_IN_BLOCK)
    clear(other, STEPS_IN_BLOCK)
    shift(f, b + 2, b + 1)
    f.order[b + 1] = made
    f.begins[b + 1] = other.at[0]
    f.n += 1
    return OK


cdef int insert(profile_t *f, void *owner, double t, spot_t *spot) noexcept nogil:
    """A step at `t`, with the level of `spot`, which is the one before and becomes the new one."""
    cdef steps_t *s = block_at(f, spot.b)
    cdef int32_t i
    if s.n == f.room:
        if split(f, owner, spot.b) < 0:
            return NO_MEMORY
        if spot.i >= f.room // 2:
            spot.b += 1
            spot.i -= f.room // 2
        s = block_at(f, spot.b)
    spot.i += 1
    i = spot.i
    move_steps(s, i + 1, s, i, s.n - i)
    s.n += 1
    s.at[i] = t
    s.level[i] = s.level[i - 1]
    return OK


cdef void remove_block(profile_t *f, int32_t b) noexcept nogil:
    f.block[f.order[b]].n = f.spare
    f.spare = f.order[b]
    shift(f, b, b + 1)
    f.n -= 1


cdef inline void fill(profile_t *f, int32_t b) noexcept nogil:
    """The next block joins one that has become almost empty."""
    cdef steps_t *s = block_at(f, b)
    cdef steps_t *other
    if s.n >= f.room // 4 or b + 1 >= f.n:
        return
    other = block_at(f, b + 1)
    if s.n + other.n <= f.room // 2:
        move_steps(s, s.n, other, 0, other.n)
        s.n += other.n
        s.high = max(s.high, other.high)
        remove_block(f, b + 1)


cdef void tidy(profile_t *f, spot_t spot) noexcept nogil:
    """The step goes if it changes nothing."""
    cdef steps_t *s = block_at(f, spot.b)
    cdef steps_t *other
    cdef int32_t i = spot.i
    if i > 0:
        if s.level[i] != s.level[i - 1]:
            return
    elif spot.b == 0:
        return
    else:
        other = block_at(f, spot.b - 1)
        if s.level[0] != other.level[other.n - 1]:
            return
    s.n -= 1
    if s.n == 0:
        remove_block(f, spot.b)
        return
    move_steps(s, i, s, i + 1, s.n - i)
    s.at[s.n] = INFINITY
    if i == 0:
        f.begins[spot.b] = s.at[0]
    fill(f, spot.b)


cdef inline int32_t last_before(const steps_t *s, double end) noexcept nogil:
    """The last step of a block that begins before `end`, as its first one does."""
    cdef int32_t i = last_by(s, end)
    return i - 1 if i > 0 and s.at[i] == end else i


cdef int32_t add_within(profile_t *f, spot_t a, double begin, double end, int32_t nodes) noexcept nogil:
    """`profile_add_at` where all of it lies in the block of `a`, which holds at `begin`; -1: it does not.

    The place in the block of what holds at `begin` then.

    What comes or goes at both ends is known before anything is moved, so that each step moves at most once.
    """
    cdef steps_t *s = block_at(f, a.b)
    cdef int32_t i = a.i, n = s.n, k, high, level, most, lead = 1, tail = 1
    cdef bint known = s.at[i] == begin
    if n > f.room - 2 or (a.b + 1 < f.n and f.begins[a.b + 1] <= end) or (known and i == 0 and a.b > 0):
        return -1
    # The steps of before that lie within are at [i, high), from where `begin` is known on.
    high = min(last_before(s, end) + 1, n)
    f.looked += high - i
    level = s.level[high - 1]
    if known:
        lead = -1 if i > 0 and s.level[i] + nodes == s.level[i - 1] else 0
    else:
        i += 1
    if high == n:
        tail = 1 if end < INFINITY else 0
    elif s.at[high] == end:
        tail = -1 if s.level[high] == level + nodes else 0
    for k in range(i, high):
        s.level[k] += nodes
    if lead < 0:
        move_steps(s, i, s, i + 1, high - i - 1)
    k = high + (tail < 0)
    if lead + tail != 0:
        move_steps(s, high + lead + (tail > 0), s, k, n - k)
    if lead > 0:
        move_steps(s, i + 1, s, i, high - i)
        s.at[i], s.level[i] = begin, s.level[i - 1] + nodes
    high += lead
    if tail > 0:
        s.at[high], s.level[high] = end, level
    s.n = n + lead + tail
    clear(s, n)
    if nodes > 0:
        most = s.high
        for k in range(i, high):
            most = max(most, s.level[k])
        s.high = most
    if s.n < n:
        fill(f, a.b)
    return i - (lead < 0)


cdef int profile_add(profile_t *f, void *owner, double begin, double end, int32_t nodes) noexcept nogil:
    cdef spot_t here
    return profile_add_at(f, owner, begin, end, nodes, &here) if begin < end else OK


cdef int profile_add_at(profile_t *f, void *owner, double begin, double end, int32_t nodes,
                        spot_t *here) noexcept nogil:
    cdef spot_t a, z
    cdef steps_t *s
    cdef int32_t i, k, n, most
    a = spot_of(f, begin)
    i = add_within(f, a, begin, end, nodes)
    if i >= 0:
        here.b, here.i = a.b, i
        return OK
    if at_of(f, a) != begin and insert(f, owner, begin, &a) < 0:
        return NO_MEMORY
    # Block by block, as far as it goes.
    z = a
    while True:
        s = block_at(f, z.b)
        i = n = s.n
        if z.b + 1 == f.n or f.begins[z.b + 1] >= end:
            i = min(last_before(s, end) + 1, n)
        for k in range(z.i, i):
            s.level[k] += nodes
        f.looked += i - z.i
        if nodes > 0:
            most = s.high
            for k in range(z.i, i):
                most = max(most, s.level[k])
            s.high = most
        if i < n or z.b + 1 == f.n or f.begins[z.b + 1] >= end:
            break
        z.b += 1
        z.i = 0
    # The last step that lies within; the next one, if there is one, is where it ends or later.
    z.i = i - 1
    if end < INFINITY:
        n = f.n
        if end_of(f, z) == end:
            step_on(f, &z)
            tidy(f, z)
        else:
            if insert(f, owner, end, &z) < 0:
                return NO_MEMORY
            s = block_at(f, z.b)
            s.level[z.i] -= nodes
            s.high = max(s.high, s.level[z.i])
            if n != f.n:
                a = spot_of(f, begin)
    tidy(f, a)
    here[0] = spot_of(f, begin)
    return OK


cdef void profile_forget(profile_t *f, double t) noexcept nogil:
    cdef spot_t spot = spot_of(f, t)
    cdef steps_t *s
    cdef int32_t b
    for b in range(spot.b):
        f.block[f.order[b]].n = f.spare
        f.spare = f.order[b]
    if spot.b > 0:
        shift(f, 0, spot.b)
        f.n -= spot.b
    s = block_at(f, 0)
    if spot.i > 0:
        s.n -= spot.i
        move_steps(s, 0, s, spot.i, s.n)
        clear(s, s.n + spot.i)
    # What holds at `t` began then or earlier.
    f.begins[0] = s.at[0] = t


cdef bint profile_rise(profile_t *f, spot_t *spot, int32_t need, double stop) noexcept nogil:
    cdef steps_t *s
    cdef int32_t i = spot.i, b = spot.b, high
    while b < f.n and f.begins[b] < stop:
        s = block_at(f, b)
        if s.high >= need:
            f.looked += s.n - i
            if i > 0:
                while i < s.n and s.level[i] < need:
                    i += 1
            else:
                high = s.level[0]
                while i < s.n and s.level[i] < need:
                    high = max(high, s.level[i])
                    i += 1
                if i == s.n:
                    s.high = high        # it was too high a bound
            if i < s.n:
                spot.b, spot.i = b, i
                return True
        b += 1
        i = 0
    return False


cdef class Profile:
    """A profile on its own, for tests: from time 0 on, with so many nodes free."""

    cdef part_t part

    def __cinit__(self, int32_t level):
        cdef profile_t *f = <profile_t *>open_state(&self.part, sizeof(profile_t))
        profile_open(f, f)
        profile_reset(f, 0.0, level)

    def __dealloc__(self):
        close_state(self.part.state)

    def add(self, double begin, double end, int32_t nodes):
        """`nodes` more, or fewer, are free in [begin, end)."""
        cdef profile_t *f = <profile_t *>self.part.state
        cdef spot_t here, spot
        if not begin < end:
            return
        if profile_add_at(f, f, begin, end, nodes, &here) < 0:
            raise MemoryError("no memory for the profile")
        spot = spot_of(f, begin)
        if here.b != spot.b or here.i != spot.i:
            raise AssertionError(f"another step holds at {begin}")

    def forget(self, double t):
        """Let the front be at `t`."""
        cdef profile_t *f = <profile_t *>self.part.state
        profile_forget(f, t)

    def rise(self, double t, int32_t need):
        """The first step from that at `t` on with `need` nodes; None: there is none."""
        cdef profile_t *f = <profile_t *>self.part.state
        cdef spot_t spot = spot_of(f, t)
        return at_of(f, spot) if profile_rise(f, &spot, need, INFINITY) else None

    def steps(self):
        """All steps, as (time, level); blocks are checked on the way."""
        cdef profile_t *f = <profile_t *>self.part.state
        cdef steps_t *s
        cdef int32_t b, i
        found = []
        for b in range(f.n):
            s = block_at(f, b)
            high = max([s.level[i] for i in range(s.n)])
            behind = [s.at[i] for i in range(s.n, STEPS_IN_BLOCK)]
            if (not 0 < s.n <= f.room or f.begins[b] != s.at[0] or high > s.high
                    or behind != [INFINITY] * len(behind)):
                raise AssertionError(f"block {b} is wrong")
            found += [(s.at[i], s.level[i]) for i in range(s.n)]
        return found
