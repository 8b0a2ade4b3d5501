"""Blocks of memory; the contract is in memory.pxd."""

from libc.stdlib cimport calloc, free as c_free, malloc, realloc
from libc.string cimport memcpy

from faultsim._core.contract cimport fs_require
from faultsim._core.status cimport NO_MEMORY, OK


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


cdef inline void *kept(arena_t *arena, void **block) noexcept nogil:
    # In front of each block is the one before it; two words, so that blocks are aligned as malloc aligns.
    if block == NULL:
        arena.failed = True
        return NULL
    block[0] = arena.last
    arena.last = block
    return block + 2


cdef void *arena_get(arena_t *arena, size_t count, size_t each) noexcept nogil:
    return kept(arena, <void **>malloc(2 * sizeof(void *) + count * each))


cdef void *arena_zeros(arena_t *arena, size_t count, size_t each) noexcept nogil:
    return kept(arena, <void **>calloc(2 * sizeof(void *) + count * each, 1))


cdef void arena_free(arena_t *arena) noexcept nogil:
    cdef void **block
    while arena.last != NULL:
        block = <void **>arena.last
        arena.last = block[0]
        c_free(block)


cdef bint enlarged(void *field, size_t count, size_t each) noexcept nogil:
    cdef void *moved = realloc((<void **>field)[0], max(count, <size_t>1) * each)
    if moved != NULL:
        (<void **>field)[0] = moved
    return moved != NULL


cdef inline void **field_at(const blocks_t *list_, void *owner, int i) noexcept nogil:
    return <void **>(<char *>owner + list_.block[i].field)


cdef void blocks_add(blocks_t *list_, void *owner, void *field, size_t count, size_t each) noexcept nogil:
    list_block(list_, owner, field, fresh(count, each), count * each)


cdef void blocks_room(blocks_t *list_, void *owner, void *field, size_t count, size_t each) noexcept nogil:
    list_block(list_, owner, field, malloc(count * each if count > 0 else 1), count * each)


cdef inline void list_block(blocks_t *list_, void *owner, void *field, void *block, size_t bytes) noexcept nogil:
    fs_require(list_.n < 32)
    (<void **>field)[0] = block
    list_.failed |= (<void **>field)[0] == NULL
    list_.block[list_.n].field = <size_t>(<char *>field - <char *>owner)
    list_.block[list_.n].bytes = bytes
    list_.block[list_.n].each = 0
    list_.block[list_.n].live = list_.block[list_.n].queued = False
    list_.n += 1


cdef inline void note_jobs(blocks_t *list_, size_t jobs, size_t each) noexcept nogil:
    """The block listed last has an item for each job."""
    list_.block[list_.n - 1].each = each
    list_.jobs = jobs


cdef void blocks_add_jobs(blocks_t *list_, void *owner, void *field, size_t jobs, size_t each,
                          size_t more=0) noexcept nogil:
    blocks_add(list_, owner, field, more + jobs * each, 1)
    note_jobs(list_, jobs, each)


cdef void blocks_room_jobs(blocks_t *list_, void *owner, void *field, size_t jobs, size_t each) noexcept nogil:
    blocks_room(list_, owner, field, jobs, each)
    note_jobs(list_, jobs, each)


cdef inline void repeat_last(char *block, size_t begin, size_t end, size_t each) noexcept nogil:
    """Fill bytes `begin` to `end` with the item in front of them."""
    while begin < end:
        memcpy(block + begin, block + begin - each, each)
        begin += each


cdef int blocks_grow(blocks_t *list_, void *owner, size_t jobs) noexcept nogil:
    cdef size_t before, each
    cdef int i
    for i in range(list_.n):
        before, each = list_.block[i].bytes, list_.block[i].each
        if each > 0:
            if blocks_resize(list_, owner, field_at(list_, owner, i), before + (jobs - list_.jobs) * each) < 0:
                return NO_MEMORY
            repeat_last(<char *>field_at(list_, owner, i)[0], before, list_.block[i].bytes, each)
    list_.jobs = jobs
    return OK


cdef inline block_t *block_of(blocks_t *list_, void *owner, void *field) noexcept nogil:
    cdef int i = 0
    while field_at(list_, owner, i) != <void **>field:
        i += 1
    return &list_.block[i]


cdef int blocks_resize(blocks_t *list_, void *owner, void *field, size_t bytes) noexcept nogil:
    cdef void *moved = realloc((<void **>field)[0], bytes)
    if moved == NULL:
        return NO_MEMORY
    (<void **>field)[0] = moved
    block_of(list_, owner, field).bytes = bytes
    return OK


cdef void blocks_cut(blocks_t *list_, void *owner, void *field, size_t first, size_t bytes) noexcept nogil:
    (<char **>field)[0] += first
    block_of(list_, owner, field).bytes = bytes


cdef void blocks_live(blocks_t *list_) noexcept nogil:
    list_.block[list_.n - 1].live = True


cdef void blocks_queued(blocks_t *list_) noexcept nogil:
    list_.block[list_.n - 1].queued = True


cdef void *duplicate_part(const void *source, size_t bytes, size_t first, size_t end, int *bad) noexcept nogil:
    """A block of so many bytes, with only those from `first` to `end` in it."""
    cdef void *to = NULL if bad[0] else malloc(bytes if bytes > 0 else 1)
    if to == NULL:
        bad[0] = 1
    else:
        memcpy(<char *>to + first, <const char *>source + first, end - first)
    return to


cdef int blocks_copy(blocks_t *list_, void *owner, const copy_window_t *window=NULL) noexcept nogil:
    cdef int i, bad = 0
    cdef const block_t *block
    cdef void **at
    for i in range(list_.n):
        at, block = field_at(list_, owner, i), &list_.block[i]
        if window != NULL and block.live and at[0] != NULL:
            at[0] = duplicate_part(at[0], block.bytes, window.first * block.each, window.end * block.each, &bad)
        elif window != NULL and block.queued and at[0] != NULL:
            at[0] = duplicate_part(at[0], block.bytes, window.head * block.each, window.tail * block.each, &bad)
        else:
            at[0] = duplicate(at[0], block.bytes, &bad)
    return NO_MEMORY if bad else OK


cdef void blocks_free(blocks_t *list_, void *owner) noexcept nogil:
    cdef int i
    for i in range(list_.n):
        c_free(field_at(list_, owner, i)[0])
    list_.n = 0


# ---------------------------------------------------------------------------------------------- states

# In front of a state; a multiple of 16 bytes long, so that the state is aligned as malloc aligns.
cdef struct header_t:
    blocks_t blocks
    size_t bytes             # of the state
    size_t each              # of a job, if the state has an item for each; else 0


cdef inline header_t *header_of(const void *state) noexcept nogil:
    return <header_t *>state - 1


cdef void *open_state(void *table, size_t bytes) except NULL:
    cdef part_t *part = <part_t *>table
    cdef header_t *header = <header_t *>calloc(1, sizeof(header_t) + bytes)
    if header == NULL:
        raise MemoryError("no memory for the state of a policy")
    header.bytes = bytes
    part.state, part.copy, part.close = header + 1, copy_state, close_state
    return part.state


cdef int own_block(void *state, void *field, size_t count, size_t each) except -1:
    cdef blocks_t *blocks = &header_of(state).blocks
    blocks_add(blocks, state, field, count, each)
    if blocks.failed:
        raise MemoryError("no memory for the state of a policy")
    return 0


cdef int own_jobs(void *state, void *field, size_t jobs, size_t each, size_t more=0) except -1:
    cdef blocks_t *blocks = &header_of(state).blocks
    blocks_add_jobs(blocks, state, field, jobs, each, more)
    if blocks.failed:
        raise MemoryError("no memory for the state of a policy")
    return 0


cdef void *open_jobs_state(void *table, size_t jobs, size_t each) except NULL:
    cdef void *state = open_state(table, jobs * each)
    header_of(state).each, header_of(state).blocks.jobs = each, jobs
    return state


cdef int grow_state(void *table, size_t jobs) noexcept nogil:
    cdef part_t *part = <part_t *>table
    cdef header_t *header
    cdef size_t before
    if part.state == NULL:
        return OK
    header = header_of(part.state)
    if header.each > 0:
        before = header.bytes
        header = <header_t *>realloc(header, sizeof(header_t) + jobs * header.each)
        if header == NULL:
            return NO_MEMORY
        part.state, header.bytes = header + 1, jobs * header.each
        repeat_last(<char *>part.state, before, header.bytes, header.each)
    return blocks_grow(&header.blocks, part.state, jobs)


cdef size_t jobs_of(const void *state) noexcept nogil:
    return header_of(state).blocks.jobs


cdef int resize_block(void *state, void *field, size_t bytes) noexcept nogil:
    return blocks_resize(&header_of(state).blocks, state, field, bytes)


cdef int resize_jobs(void *state, void *field, size_t jobs, size_t each) noexcept nogil:
    cdef blocks_t *blocks = &header_of(state).blocks
    cdef int i = 0
    if blocks_resize(blocks, state, field, jobs * each) < 0:
        return NO_MEMORY
    while <void *>field_at(blocks, state, i) != field:
        i += 1
    blocks.block[i].each = each
    return OK


cdef void *copy_state(const void *state, const void *sim) noexcept nogil:
    cdef int bad = 0
    cdef header_t *header = <header_t *>duplicate(
        header_of(state), sizeof(header_t) + header_of(state).bytes, &bad)
    if header == NULL:
        return NULL
    if blocks_copy(&header.blocks, header + 1) < 0:
        close_state(header + 1)
        return NULL
    return header + 1


cdef void close_state(void *state) noexcept nogil:
    if state != NULL:
        blocks_free(&header_of(state).blocks, state)
        c_free(header_of(state))
