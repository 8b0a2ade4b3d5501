"""Threads that wait for work of their own; the contract is in team.pxd."""

from cpython.pythread cimport (
    NOWAIT_LOCK, PyThread_acquire_lock, PyThread_allocate_lock, PyThread_free_lock, PyThread_release_lock, WAIT_LOCK,
)

from faultsim._core.status cimport OK

cdef extern from "atomic.h" nogil:
    int64_t fs_add(int64_t *to, int64_t count)
    int64_t fs_swap(int64_t *at, int64_t value)

# Attempts to take the lock before a thread sleeps: some tens of microseconds.  A wrong value only
# costs time.
cdef int LOOKS = 1000


cdef inline void await_lock(PyThread_type_lock lock) noexcept nogil:
    cdef int _look
    for _look in range(LOOKS):
        if PyThread_acquire_lock(lock, NOWAIT_LOCK):
            return
    PyThread_acquire_lock(lock, WAIT_LOCK)


cdef PyThread_type_lock taken_lock() except NULL:
    cdef PyThread_type_lock lock = PyThread_allocate_lock()
    if lock == NULL:
        raise MemoryError("no memory for a lock")
    PyThread_acquire_lock(lock, WAIT_LOCK)
    return lock


cdef class Team:
    """Threads that share the work of a subclass."""

    def __cinit__(self):
        self.done = taken_lock()

    def __dealloc__(self):
        cdef int k
        for k in range(self.members):
            PyThread_free_lock(self.go[k])
        if self.done != NULL:
            PyThread_free_lock(self.done)

    def enlist(self):
        """The number of a new member; its thread must call `serve`."""
        cdef int k = self.members
        if k == MOST_MEMBERS:
            raise ValueError(f"a team has at most {<int>MOST_MEMBERS} members")
        self.go[k] = taken_lock()
        self.members += 1
        return k

    def serve(self, int k):
        """Work whenever there is some, until the team is dismissed."""
        if not 0 <= k < self.members:
            raise ValueError(f"there is no member {k}")
        with nogil:
            while not fs_add(&self.over, 0):
                if self.take_parts():
                    PyThread_release_lock(self.done)
                fs_swap(&self.waits[k], 1)
                # Work that arrived before `waits` was set might be missed, so check again.  A member that clears its
                # own flag has not been woken.
                if fs_add(&self.over, 0) or fs_add(&self.at, 0) < self.end:
                    if fs_swap(&self.waits[k], 0):
                        continue
                await_lock(self.go[k])

    cdef void wake(self) noexcept nogil:
        cdef int k
        for k in range(self.members):
            if fs_swap(&self.waits[k], 0):
                PyThread_release_lock(self.go[k])

    def dismiss(self):
        """Let the members go; what is shared out later is done by the caller alone."""
        fs_swap(&self.over, 1)
        self.wake()

    cdef int part(self, int64_t begin, int64_t end) noexcept nogil:
        return OK

    cdef bint take_parts(self) noexcept nogil:
        cdef int64_t begin = fs_add(&self.at, self.each), end
        cdef bint last = False
        cdef int code
        while begin < self.end:
            end = min(begin + self.each, self.end)
            code = self.part(begin, end)
            if code < 0:
                self.code = code
            last = fs_add(&self.left, begin - end) == end - begin
            begin = fs_add(&self.at, self.each)
        return last

    cdef void take_on(self, int64_t n, int threads) noexcept nogil:
        self.at = self.end = n
        self.each = max(1, min(32, n // (4 * threads)))

    cdef int share_out(self) noexcept nogil:
        self.code = OK
        fs_swap(&self.left, self.end)
        fs_swap(&self.at, 0)
        self.wake()
        if not self.take_parts():
            await_lock(self.done)
        return self.code
