# Blocks of memory, and the structs that own them.

# `count` items of `each` bytes, all zero; NULL: no memory.
cdef void *fresh(size_t count, size_t each) noexcept nogil
# A copy of a block (NULL stays NULL); `bad` is set, and never cleared, when memory is out.
cdef void *duplicate(const void *source, size_t bytes, int *bad) noexcept nogil

# Blocks that all end together, with what they are part of.  All zero is an arena without blocks.
cdef struct arena_t:
    void *last
    bint failed              # memory was out for a block; never cleared

# NULL: no memory.  `arena_zeros` has nothing but zeros in it.
cdef void *arena_get(arena_t *arena, size_t count, size_t each) noexcept nogil
cdef void *arena_zeros(arena_t *arena, size_t count, size_t each) noexcept nogil
cdef void arena_free(arena_t *arena) noexcept nogil

# Moves a block of malloc, to which the pointer at `field` points, to where it has room for so many; False, and all is
# as before, where there is no memory.
cdef bint enlarged(void *field, size_t count, size_t each) noexcept nogil

# The blocks that a struct owns.  They are listed once, when they are allocated; copies and the end go by the list.
cdef struct block_t:
    size_t field             # where in the owner the pointer to it is
    size_t bytes
    size_t each              # of a job, where it has an item for each job and they are its last; else 0
    bint live                # items of jobs that have ended are not read; those of later jobs are written first
    bint queued              # items are positions of the queue, and only those of waiting jobs are read

cdef struct blocks_t:
    block_t block[32]
    int n
    bint failed              # memory was out for a block; its field is NULL
    size_t jobs              # for which the blocks with an item for each job have room

# A block of zeros for a field of the owner (its address).
cdef void blocks_add(blocks_t *list_, void *owner, void *field, size_t count, size_t each) noexcept nogil
# The same with anything in it, for what is always written before it is read.
cdef void blocks_room(blocks_t *list_, void *owner, void *field, size_t count, size_t each) noexcept nogil
# The same two, with an item for each job behind `more` bytes.
cdef void blocks_add_jobs(blocks_t *list_, void *owner, void *field, size_t jobs, size_t each,
                          size_t more=*) noexcept nogil
cdef void blocks_room_jobs(blocks_t *list_, void *owner, void *field, size_t jobs, size_t each) noexcept nogil
# Room for more jobs.  The last job so far must be one that was never submitted: the new ones are copies of it.
# OK or NO_MEMORY (some blocks have more room then).
cdef int blocks_grow(blocks_t *list_, void *owner, size_t jobs) noexcept nogil
# Another size for a block; OK or NO_MEMORY, where it is as before.
cdef int blocks_resize(blocks_t *list_, void *owner, void *field, size_t bytes) noexcept nogil
# After a shallow copy of the owner, before `blocks_copy`: the copy leaves out the first bytes of a block, and has
# `bytes` bytes from there on.
cdef void blocks_cut(blocks_t *list_, void *owner, void *field, size_t first, size_t bytes) noexcept nogil
# Marks the block listed last as `live` or `queued`; it has only items of jobs.
cdef void blocks_live(blocks_t *list_) noexcept nogil
cdef void blocks_queued(blocks_t *list_) noexcept nogil
# The items of `live` and `queued` blocks that are copied; others are undefined in the copy.
cdef struct copy_window_t:
    size_t first, end        # of those that are `live`
    size_t head, tail        # of those that are `queued`
# After a shallow copy of the owner: it gets blocks of its own.  OK or NO_MEMORY (the rest is NULL then).  All items are
# copied where `window` is NULL.
cdef int blocks_copy(blocks_t *list_, void *owner, const copy_window_t *window=*) noexcept nogil
cdef void blocks_free(blocks_t *list_, void *owner) noexcept nogil

# How the table of a policy or machine begins (tables/*.pxd): with its state, how that is copied for another simulation
# (NULL: no memory) and how it ends; all NULL where there is none.
cdef struct part_t:
    void *state
    void *(*copy)(const void *state, const void *sim) noexcept nogil
    void (*close)(void *state) noexcept nogil

# A state of zeros, with a list of its blocks in front, for a table that gets the copy and the end below.
cdef void *open_state(void *table, size_t bytes) except NULL
cdef int own_block(void *state, void *field, size_t count, size_t each) except -1
cdef int own_jobs(void *state, void *field, size_t jobs, size_t each, size_t more=*) except -1
# A state that is itself an array with an item for each job.
cdef void *open_jobs_state(void *table, size_t jobs, size_t each) except NULL
# `blocks_grow` of the state of a table, if it has one.
cdef int grow_state(void *table, size_t jobs) noexcept nogil
# For how many jobs a state has room.
cdef size_t jobs_of(const void *state) noexcept nogil
cdef int resize_block(void *state, void *field, size_t bytes) noexcept nogil
# Of a block that may be empty until then: an item for each of so many jobs.
cdef int resize_jobs(void *state, void *field, size_t jobs, size_t each) noexcept nogil
cdef void *copy_state(const void *state, const void *sim) noexcept nogil
cdef void close_state(void *state) noexcept nogil
