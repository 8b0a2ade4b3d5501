"""Blocks of memory; the contract is in memory.pxd."""

from libc.stdlib cimport calloc, malloc
from libc.string cimport memcpy


cdef void *fresh(size_t count, size_t each) noexcept nogil:
    return calloc(count if count > 0 else 1, each)


cdef void *duplicate(const void *source, size_t bytes, int *bad) noexcept nogil:
    cdef void *to
    if source == NULL or bad[0]:
        return NULL
    to = malloc(bytes if bytes > 0 else 1)
    if to == NULL:
        bad[0] = 1
    else:
        memcpy(to, source, bytes)
    return to
