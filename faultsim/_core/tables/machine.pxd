# What a machine is to the engine: an allocator, which knows what is free and which nodes a job has.
#
# Contract.  One table of functions serves a cluster whose nodes are only counted, a cluster whose nodes are known by
# number, a torus, and a pod.  `named` machines know which nodes a job has; on `placed` ones, a kind of named ones, a
# job needs a place, so that free nodes alone do not tell whether it can start.  Where `boxes` is set, a place is a box,
# and this is what Python sees of it; elsewhere Python sees nodes, or ranges of them.  What a function is there for is
# said in brackets; it is NULL elsewhere.
#
# A mask of nodes has `words` words in the machine's own layout, bits of no node always 0.  `occ` is the mask of the
# nodes that are busy or down: read by all, changed by these functions only.  That of a cluster may be out of date:
# `marked` knows, and cluster/named.pxd has what tells whole words.  `sim_t.free` counts free nodes; whoever takes or
# gives back keeps it.

from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim._core.containers.releases cimport release_t, releases_t

# Where a job is, in the words of its machine: base and extents of a box on a torus, a set of cubes on a pod.
cdef struct place_t:
    int32_t part[6]

# Which parts of a machine have a node in a mask, a bit a part: a word or two instead of many where places are large.
cdef struct outline_t:
    uint64_t word[3]

# What is asked of a placed machine: a number of nodes or, where jobs ask for shapes (model.md#shapes), that and from
# bit RANK_AT on which of the shapes of that number, from 1 on.  A function with an `ask` takes either.
cdef enum:
    RANK_AT = 24

# Consecutive nodes.
cdef struct range_t:
    int32_t first, count

# Which free places are candidates at all; all zero permits every one.
cdef struct permit_t:
    const uint64_t *forbidden       # NULL, or nodes that a candidate must not touch
    const uint64_t *later           # NULL, or the occupancy at the shadow time: a candidate B is permitted iff
    int need                        # a free place of at least this remains in (later | B), an ask; < 1 asks nothing
    const place_t *near             # `later` has no such place that meets none of these; n_near == 0: it may have
    int n_near
    bint same                       # since it was last asked about, `later`, `need` and `near` have stayed as they were

cdef struct machine_t:
    void *state              # as the next two: part_t of memory.pxd
    void *(*copy)(const void *state, const void *sim) noexcept nogil
    void (*close)(void *state) noexcept nogil
    int32_t nodes
    int32_t words                   # of a mask; 0 unless named
    bint named
    bint placed
    bint boxes
    uint64_t *occ                   # [named] the first field of the state, too
    # The smallest size >= `size` that a job can hold; 0: none.
    int32_t (*next_size)(const void *state, int32_t size) noexcept nogil

    # [named] one node in a mask; whether a job has it; a node that is in no job goes down, and comes back
    void (*mark)(const void *state, uint64_t *mask, int32_t node) noexcept nogil
    void (*unmark)(const void *state, uint64_t *mask, int32_t node) noexcept nogil
    bint (*marked)(const void *state, const uint64_t *mask, int32_t node) noexcept nogil
    bint (*holds)(const void *state, int32_t job, int32_t node) noexcept nogil
    # [named, not placed] which of the jobs with nodes, all among the releases, has it (-1: none); `asked` counts looks
    int32_t (*job_at)(void *state, int32_t node, const releases_t *running, int64_t *asked) noexcept nogil
    void (*block)(void *state, int32_t node) noexcept nogil
    void (*unblock)(void *state, int32_t node) noexcept nogil
    # [named] how many of a job's nodes are in `mask`; `list` (or NULL) are the same n nodes, for who is faster with
    # them
    int32_t (*overlap)(const void *state, int32_t job, const uint64_t *mask, const int32_t *list,
                       int64_t n) noexcept nogil
    # [named] a job gives its nodes back; its nodes into a mask that has none of them: False if it had
    void (*give)(void *state, int32_t job) noexcept nogil
    # [named; or NULL] it gives one of its nodes back, on a pod with the cube; how many these are, or NO_MEMORY
    int32_t (*drop)(void *state, int32_t job, int32_t node) noexcept nogil
    bint (*add_job)(const void *state, uint64_t *mask, int32_t job) noexcept nogil
    # [named, no boxes] the nodes of a job, ascending; as ranges that do not touch; how many
    int32_t (*list_nodes)(const void *state, int32_t job, int32_t *out) noexcept nogil
    int32_t (*list_ranges)(const void *state, int32_t job, range_t *out) noexcept nogil

    # ... it takes these free ones, besides those that it has; OK or NO_MEMORY
    int (*take_nodes)(void *state, int32_t job, const int32_t *list, int32_t count) noexcept nogil

    # [placed] is this one at all; all free ones of exactly `ask`, into a growing block: how many, -1 no memory
    bint (*is_place)(const void *state, const place_t *place) noexcept nogil
    long (*free_places)(void *state, const uint64_t *mask, int32_t ask, permit_t *permit, place_t **found,
                        long *capacity) noexcept nogil
    # [placed, no boxes] the place that has these `count` different nodes and no others; False: there is none, or it is
    # not of the shape that is asked for
    bint (*place_with)(const void *state, const int32_t *list, int32_t count, int32_t ask,
                       place_t *out) noexcept nogil
    # [placed; or NULL] may jobs hold what is taken in a mask and not down now, or would it be more than they may use
    bint (*may_be_busy)(void *state, const uint64_t *mask) noexcept nogil
    # [placed] a job takes a place that is free; has it; goes to another (occ is then left to `rearrange`, to which
    # the size of the largest free place is known)
    void (*take)(void *state, int32_t job, const place_t *place) noexcept nogil
    place_t (*place_of)(const void *state, int32_t job) noexcept nogil
    void (*set_place)(void *state, int32_t job, const place_t *place) noexcept nogil
    void (*rearrange)(void *state, const uint64_t *occ, int32_t largest) noexcept nogil
    # [placed] places in masks; their size
    int32_t (*size_of)(const place_t *place) noexcept nogil
    void (*put)(const void *state, uint64_t *mask, const place_t *place) noexcept nogil
    void (*lift)(const void *state, uint64_t *mask, const place_t *place) noexcept nogil
    bint (*meets)(const void *state, const uint64_t *mask, const place_t *place) noexcept nogil
    # [placed] what n releases (jobs, and repairs as -1 - node) will have given back, out of a mask
    void (*release)(const void *state, const release_t *items, int32_t n, uint64_t *mask) noexcept nogil
    # [placed] is there a free place of exactly, of at least so many nodes (of a shape: of this one); the largest size
    # of one for which no shape is asked, in a mask, in `occ`
    bint (*has_place)(void *state, const uint64_t *mask, int32_t ask) noexcept nogil
    bint (*has_free)(void *state, const uint64_t *mask, int32_t ask) noexcept nogil
    # [placed; or NULL: has_free is fast] has_free of a mask that had no such place before `left` became free; -1:
    # has_free takes less time than a search beside a place so large
    int (*has_free_at)(void *state, const uint64_t *mask, int32_t need, const place_t *left) noexcept nogil
    int32_t (*largest)(void *state, const uint64_t *mask) noexcept nogil
    int32_t (*largest_now)(void *state) noexcept nogil
    # [placed] is it known, without a search, that `occ` has no free place of exactly `size` nodes?
    bint (*lacks)(void *state, int32_t size) noexcept nogil
    # [placed] places of so many nodes or more have whole parts, so that outlines tell whether they are free; 0: there
    # are no outlines, and none of these
    int32_t part
    # the outline of a mask, where this is in words [low, high) of it; all nodes of these parts into a mask; `release`,
    # with the outline of the mask; is a place of a size in [ask, limit], ask >= `part`, or of its shape, free where
    # this is taken, with which one of `need` is left in `later` (NULL or less than `part`: that is not asked)
    void (*trace)(const void *state, const uint64_t *mask, int32_t low, int32_t high, outline_t *into) noexcept nogil
    void (*fill)(const void *state, const outline_t *taken, uint64_t *mask) noexcept nogil
    void (*release_parts)(const void *state, const release_t *items, int32_t n, uint64_t *mask,
                          outline_t *taken) noexcept nogil
    bint (*has_beside)(void *state, const outline_t *taken, int32_t ask, int32_t limit, const outline_t *later,
                       int32_t need) noexcept nogil
    # [or NULL] the invariant of its own that is broken, or NULL
    const char *(*check)(void *state) noexcept nogil
    # [placed] words that it has looked at in order to find places, for tests of how work grows
    int64_t (*searched)(const void *state) noexcept nogil


cdef inline int32_t nodes_of(int32_t ask) noexcept nogil:
    """Of a machine on which jobs ask for shapes: others may have more nodes than fit below."""
    return ask & ((1 << RANK_AT) - 1)


cdef inline bint outline_grows(const outline_t *taken, const outline_t *more) noexcept nogil:
    return (more.word[0] & ~taken.word[0] | more.word[1] & ~taken.word[1] | more.word[2] & ~taken.word[2]) != 0


cdef inline void outline_join(outline_t *taken, const outline_t *more) noexcept nogil:
    taken.word[0] |= more.word[0]
    taken.word[1] |= more.word[1]
    taken.word[2] |= more.word[2]


cdef inline void outline_lift(outline_t *taken, const outline_t *less) noexcept nogil:
    taken.word[0] &= ~less.word[0]
    taken.word[1] &= ~less.word[1]
    taken.word[2] &= ~less.word[2]


cdef inline bint same_place(const place_t *p, const place_t *q) noexcept nogil:
    cdef int i
    for i in range(6):
        if p.part[i] != q.part[i]:
            return False
    return True
