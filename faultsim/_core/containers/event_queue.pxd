# The event heap: what happens next, in the total order of model.md#events.
#
# An event is three numbers, and they are its whole key: (time, kind, serial), smallest first.  Nothing else is kept,
# so two events with the same three numbers are the same event, and the order in which they were pushed cannot matter.
# What an event means is the caller's: `kind` is its EventKind, `serial` the job, node or failure it is about.
#
# A 4-ary heap in one array: children of i are 4i+1 .. 4i+4.  Against a binary heap it has half the levels and the four
# children lie in one or two cache lines.
#
# Invariants: 0 <= n <= capacity; no item precedes its parent; no time is NaN (the caller's duty: NaN has no order).

from libc.math cimport INFINITY
from libc.stdint cimport int64_t

cdef struct event_t:
    double time      # seconds; infinities are legal
    int kind         # smaller kinds come first at one instant
    int64_t serial   # smaller serials come first within a kind

cdef struct heap_t:
    event_t *items   # the heap, items[0] the next event; owned
    Py_ssize_t n     # events held
    Py_ssize_t capacity
    Py_ssize_t far   # events above which `heap_pop` fetches levels in advance

# 0, or -1 when memory is out (the heap is then empty and safe to free).
cdef int heap_init(heap_t *heap, Py_ssize_t capacity) noexcept nogil
cdef void heap_free(heap_t *heap) noexcept nogil

# 0, or -1 when memory is out (the heap is then as before).  Capacity doubles, so a push costs no allocation on average.
cdef int heap_push(heap_t *heap, double time, int kind, int64_t serial) noexcept nogil


cdef inline int push_known(heap_t *heap, double time, int kind, int64_t serial) noexcept nogil:
    """Pushes an event unless its time is inf, which means unknown: it is pushed once the time is set."""
    return heap_push(heap, time, kind, serial) if time < INFINITY else 0


# Moves the next event to `event`; False, and `event` untouched, when there is none.
cdef bint heap_pop(heap_t *heap, event_t *event) noexcept nogil

# Makes `target` (initialised, or zeroed) hold what `source` holds.  0, or -1 when memory is out (target as before).
cdef int heap_copy(heap_t *target, const heap_t *source) noexcept nogil

# True when every item follows its parent: for `verify()` and tests.
cdef bint heap_is_ordered(const heap_t *heap) noexcept nogil


# The next event, NULL when there is none; good until the next push or pop.
cdef inline const event_t *heap_top(const heap_t *heap) noexcept nogil:
    return heap.items if heap.n > 0 else NULL


cdef inline void heap_clear(heap_t *heap) noexcept nogil:
    heap.n = 0


cdef inline bint event_precedes(const event_t *a, const event_t *b) noexcept nogil:
    if a.time != b.time:
        return a.time < b.time
    if a.kind != b.kind:
        return a.kind < b.kind
    return a.serial < b.serial


cdef class EventHeap:
    cdef heap_t heap
