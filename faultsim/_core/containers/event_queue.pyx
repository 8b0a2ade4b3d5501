"""The event heap; its contract is in event_queue.pxd, its reference in faultsim/reference/containers/event_queue.py."""

cimport cython
from cpython.pyport cimport PY_SSIZE_T_MAX
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy

from faultsim._core.contract cimport fs_prefetch, fs_require
from faultsim._core.thresholds cimport thresholds

cdef Py_ssize_t MIN_CAPACITY = 16
cdef Py_ssize_t MAX_CAPACITY = PY_SSIZE_T_MAX // (2 * <Py_ssize_t> sizeof(event_t))    # no byte count overflows


cdef int heap_init(heap_t *heap, Py_ssize_t capacity) noexcept nogil:
    heap.n = 0
    heap.capacity = 0
    heap.items = NULL
    heap.far = thresholds.far_events
    if capacity < MIN_CAPACITY:
        capacity = MIN_CAPACITY
    if capacity > thresholds.first_room:
        capacity = thresholds.first_room
    if capacity > MAX_CAPACITY:
        return -1
    heap.items = <event_t *> malloc(<size_t> capacity * sizeof(event_t))
    if heap.items == NULL:
        return -1
    heap.capacity = capacity
    return 0


cdef void heap_free(heap_t *heap) noexcept nogil:
    free(heap.items)
    heap.items = NULL
    heap.n = 0
    heap.capacity = 0


cdef int heap_reserve(heap_t *heap, Py_ssize_t capacity) noexcept nogil:
    cdef event_t *items
    if capacity <= heap.capacity:
        return 0
    if capacity > MAX_CAPACITY:
        return -1
    items = <event_t *> realloc(heap.items, <size_t> capacity * sizeof(event_t))
    if items == NULL:
        return -1
    heap.items = items
    heap.capacity = capacity
    return 0


cdef int heap_push(heap_t *heap, double time, int kind, int64_t serial) noexcept nogil:
    cdef Py_ssize_t hole = heap.n, parent
    cdef event_t event
    fs_require(time == time)    # not NaN
    if hole == heap.capacity and heap_reserve(heap, MIN_CAPACITY if hole == 0 else 2 * hole) < 0:
        return -1
    heap.n += 1
    event.time = time
    event.kind = kind
    event.serial = serial
    while hole > 0:
        parent = (hole - 1) >> 2
        if not event_precedes(&event, &heap.items[parent]):
            break
        heap.items[hole] = heap.items[parent]
        hole = parent
    heap.items[hole] = event
    return 0


cdef inline void sift_down(event_t *items, Py_ssize_t n, const event_t *moved, bint far) noexcept nogil:
    """An event finds its place, from the root down."""
    cdef Py_ssize_t hole = 0, child, last, best
    cdef double time, low
    while True:
        child = 4 * hole + 1
        if child >= n:
            break
        if far and 4 * child + 16 < n:
            # The next level comes out of main memory in the meantime, whichever of them it will be.
            for last in range(4 * child + 1, 4 * child + 17, 2):
                fs_prefetch(&items[last])
        last = child + 4 if child + 4 < n else n
        best = child
        low = items[best].time
        for child in range(child + 1, last):
            time = items[child].time
            # Nearly all is settled by the time.
            if time < low or (time == low and event_precedes(&items[child], &items[best])):
                best = child
                low = time
        if low > moved.time or (low == moved.time and not event_precedes(&items[best], moved)):
            break
        items[hole] = items[best]
        hole = best
    items[hole] = moved[0]


cdef bint heap_pop(heap_t *heap, event_t *event) noexcept nogil:
    cdef event_t *items = heap.items
    cdef event_t moved
    cdef Py_ssize_t n
    if heap.n == 0:
        return False
    event[0] = items[0]
    n = heap.n - 1
    heap.n = n
    moved = items[n]
    if n > heap.far:
        sift_down(items, n, &moved, True)
    else:
        sift_down(items, n, &moved, False)
    return True


cdef int heap_copy(heap_t *target, const heap_t *source) noexcept nogil:
    if heap_reserve(target, source.n) < 0:
        return -1
    if source.n > 0:
        memcpy(target.items, source.items, <size_t> source.n * sizeof(event_t))
    target.n = source.n
    target.far = source.far
    return 0


cdef bint heap_is_ordered(const heap_t *heap) noexcept nogil:
    cdef Py_ssize_t i
    if not 0 <= heap.n <= heap.capacity:
        return False
    for i in range(1, heap.n):
        if event_precedes(&heap.items[i], &heap.items[(i - 1) >> 2]):
            return False
    return True


cdef class EventHeap:
    """Owns one heap; `faultsim.EventQueue` checks what goes in and is what people use.

    A method is one step for other threads.  `critical_section` is there for builds of Python without a global
    interpreter lock, on which nothing was tested.
    """

    def __cinit__(self, Py_ssize_t capacity=0):
        if heap_init(&self.heap, capacity) < 0:
            raise MemoryError(f"no memory for an event heap of {capacity} events")

    def __dealloc__(self):
        heap_free(&self.heap)

    def __len__(self):
        return self.heap.n

    @cython.critical_section
    def push(self, double time, int kind, int64_t serial):
        if heap_push(&self.heap, time, kind, serial) < 0:
            raise MemoryError(f"no memory for more than {self.heap.n} events")

    @cython.critical_section
    def pop(self):
        cdef event_t event
        if not heap_pop(&self.heap, &event):
            raise IndexError("pop from an empty event queue")
        return event.time, event.kind, event.serial

    @cython.critical_section
    def peek(self):
        cdef const event_t *event = heap_top(&self.heap)
        if event == NULL:
            raise IndexError("peek at an empty event queue")
        return event.time, event.kind, event.serial

    @cython.critical_section
    def clear(self):
        heap_clear(&self.heap)

    @cython.critical_section
    def copy(self):
        cdef EventHeap other = EventHeap.__new__(EventHeap)
        if heap_copy(&other.heap, &self.heap) < 0:
            raise MemoryError(f"no memory for a copy of {self.heap.n} events")
        return other

    @cython.critical_section
    def verify(self):
        return heap_is_ordered(&self.heap)

    def __reduce__(self):
        raise TypeError("EventHeap holds C memory and is not pickled; pickle faultsim.EventQueue")
