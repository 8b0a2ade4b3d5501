# Blocks of memory.

# `count` items of `each` bytes, all zero; NULL: no memory.
cdef void *fresh(size_t count, size_t each) noexcept nogil
# A copy of a block (NULL stays NULL); `bad` is set, and never cleared, when memory is out.
cdef void *duplicate(const void *source, size_t bytes, int *bad) noexcept nogil
