"""Threads that wait for work of their own; the contract is in team.pxd."""

from cpython.pythread cimport (
    PyThread_acquire_lock, PyThread_allocate_lock, PyThread_free_lock, PyThread_release_lock, WAIT_LOCK, NOWAIT_LOCK,
)

from faultsim._core.status cimport OK

cdef extern from "atomic.h" nogil:
    int64_t fs_take(int64_t *from_, int64_t count)

# So often does somebody look whether it goes on before it falls asleep: some tens of microseconds.
cdef int LOOKS = 1000


cdef inline void await_lock(PyThread_type_lock lock) noexcept nogil:
    cdef int _look
    for _look in range(LOOKS):
        if PyThread_acquire_lock(lock, NOWAIT_LOCK):
            return
    PyThread_acquire_lock(lock, WAIT_LOCK)


cdef class Team:
    """Threads that share the work of a subclass."""

    def __dealloc__(self):
        cdef int k
        for k in range(self.members):
            PyThread_free_lock(self.go[k])
            PyThread_free_lock(self.done[k])

    def enlist(self):
        """The number of a new member, whose thread is to call `serve`."""
        cdef int k = self.members
        if k == MOST_MEMBERS:
            raise ValueError(f"a team has at most {<int>MOST_MEMBERS} members")
        self.go[k], self.done[k] = PyThread_allocate_lock(), PyThread_allocate_lock()
        if self.go[k] == NULL or self.done[k] == NULL:
            raise MemoryError("no memory for a lock")
        PyThread_acquire_lock(self.go[k], WAIT_LOCK)
        PyThread_acquire_lock(self.done[k], WAIT_LOCK)
        self.members += 1
        return k

    def serve(self, int k):
        """Work whenever there is some, until the team is dismissed."""
        if not 0 <= k < self.members:
            raise ValueError(f"there is no member {k}")
        with nogil:
            await_lock(self.go[k])
            while not self.over:
                self.take_parts()
                PyThread_release_lock(self.done[k])
                await_lock(self.go[k])

    def dismiss(self):
        """Let the members go; what is shared out later is done by the caller alone."""
        cdef int k
        if not self.over:
            self.over = True
            for k in range(self.members):
                PyThread_release_lock(self.go[k])

    cdef int part(self, int64_t begin, int64_t end) noexcept nogil:
        return OK

    cdef void take_parts(self) noexcept nogil:
        cdef int64_t begin = fs_take(&self.at, self.each)
        cdef int code
        while begin < self.end:
            code = self.part(begin, min(begin + self.each, self.end))
            if code < 0:
                self.code = code
            begin = fs_take(&self.at, self.each)

    cdef int share_out(self, int64_t n, int64_t each) noexcept nogil:
        cdef int k, members = 0 if self.over else self.members
        self.at, self.end, self.each, self.code = 0, n, each, OK
        for k in range(members):
            PyThread_release_lock(self.go[k])
        self.take_parts()
        for k in range(members):
            await_lock(self.done[k])
        return self.code
