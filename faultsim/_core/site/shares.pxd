# A machine with nodes that jobs share (model.md#sites).
#
# The amounts of a node are one word: cores in bits 0-12, MiB in 14-37, GPUs in 39-46.  The bits above each are guards,
# always 0 in an amount: with the guards set in the free amounts, a subtraction borrows a guard where something is
# missing.  Every request needs a core, so an empty word serves none: it stands for a node that is down.

from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim._core.tables.machine cimport hit_t, machine_t

cdef enum:
    MEMORY_AT = 14
    GPUS_AT = 39
    # Nodes that are stored; more than jobs give back between most passes, and few enough to read for each form.
    # tests/core/test_site_engines.py has runs in which more become free at once.
    N_GIVEN = 64
    # Nodes that are stored when their free amounts change; more than change between most shadows.
    N_CHANGED = 256

# What a job requests (faultsim/data/world.py, AskRows).
cdef struct ask_t:
    int32_t nodes            # 0: any number
    int32_t cores            # on each node, or in all
    int32_t memory           # MiB on each node, or for each core
    int32_t gpus
    bint by_core
    bint exclusive
    uint64_t classes         # one bit for each class that may serve
    uint64_t least           # what a node must have free

cdef struct share_t:
    int32_t node
    uint64_t word

# The shares of a job, by node.
cdef struct shares_t:
    share_t *item
    int32_t n

# A part of a node that is down.
cdef struct lost_part_t:
    share_t share            # that no job has
    double until             # -1: it is up again

# What a held job has of a part that is down.
cdef struct kept_part_t:
    int32_t job
    int32_t number           # of the part
    uint64_t word

# Consecutive nodes of one class.
cdef struct node_block_t:
    int32_t first, n
    int32_t section          # that it is part of
    bint equal               # equal amounts are free of all of them
    uint64_t most            # the most that is free of each amount on any of them

# Consecutive blocks of one class.
cdef struct node_section_t:
    int32_t first, n
    int32_t weight           # of its nodes
    uint64_t most            # as of a block
    int64_t changes          # site_t.changes when `open` of a node of it changed last

cdef struct site_t:
    uint64_t *occ            # the nodes that are down, one bit each
    int32_t nodes, words, jobs
    uint64_t *total          # per node: what it has
    uint64_t *left           # what no job holds, but for parts that are down, whether it is up or not
    uint64_t *open           # the same of nodes that are up, and 0
    uint64_t *bit            # of its class
    int32_t *weight
    int64_t gives            # how often something of a node became free
    int32_t given[64]        # the last nodes of which it did; the k-th is at k modulo 64
    int64_t changes          # how often `open` of a node changed
    int32_t changed[256]     # the last such nodes, in the same way
    node_block_t *block           # in the order of their nodes
    int32_t blocks
    int32_t *block_of        # per node
    node_section_t *section
    int32_t sections
    int32_t *by_weight       # the sections by the weight of their class, then by number
    ask_t *ask               # per job
    int32_t *form            # jobs of equal requests have the same number
    int32_t forms            # room for so many at first; with live= for one of each job, which grows with them
    shares_t *held           # per job
    share_t *chosen          # for the job that starts next, or those of the job that left last
    int32_t n_chosen
    lost_part_t *lost        # parts that are or were down, in the order in which they failed
    int32_t n_lost
    kept_part_t *kept        # of parts that are down
    int32_t n_kept, cap_kept
    int rule                 # of placement: enum of site_choice.pxd
    int32_t *found           # scratch: jobs on a node, and those of them that are hit
    hit_t *hit
    int32_t cap_found


cdef inline bint node_is_down(const site_t *m, int32_t node) noexcept nogil:
    return (m.occ[node >> 6] >> (node & 63)) & 1


# Of the releases of a site, repairs of parts have the numbers behind those of nodes: job = -1 - (nodes + number).
cdef inline bint is_node_repair(const site_t *m, int32_t job) noexcept nogil:
    return job < 0 and -1 - job < m.nodes


cdef inline const share_t *shares_returned(const site_t *m, int32_t job, int32_t *n) noexcept nogil:
    """What a release returns that is no repair of a node: the shares of a job, or a part that was down."""
    if job < 0:
        n[0] = 1
        return &m.lost[-1 - job - m.nodes].share
    n[0] = m.held[job].n
    return m.held[job].item


cdef inline site_t *site_of(const machine_t *m) noexcept nogil:
    return <site_t *>m.state


cdef inline uint64_t amounts(int64_t cores, int64_t memory, int64_t gpus) noexcept nogil:
    return <uint64_t>cores | <uint64_t>memory << MEMORY_AT | <uint64_t>gpus << GPUS_AT


cdef inline int32_t cores_of(uint64_t word) noexcept nogil:
    return word & 0x1FFF


cdef inline int32_t mebibytes_of(uint64_t word) noexcept nogil:
    return (word >> MEMORY_AT) & 0xFFFFFF


cdef inline int32_t gpus_of(uint64_t word) noexcept nogil:
    return (word >> GPUS_AT) & 0xFF


cdef inline bint has(uint64_t free, uint64_t asked) noexcept nogil:
    """Whether no amount is larger than what is free."""
    cdef uint64_t guards = (<uint64_t>1 << 13) | (<uint64_t>1 << 38) | (<uint64_t>1 << 47)
    return (((free | guards) - asked) & guards) == guards


cdef inline uint64_t least_of_both(uint64_t a, uint64_t b) noexcept nogil:
    """What is free in both."""
    cdef uint64_t guards = (<uint64_t>1 << 13) | (<uint64_t>1 << 38) | (<uint64_t>1 << 47)
    cdef uint64_t kept = ((a | guards) - b) & guards             # the guards of amounts of which `b` has no more
    # From each guard down to the lowest bit of its amount.
    cdef uint64_t bits = kept - ((kept >> 13 & 1) | (kept >> 24 & <uint64_t>1 << MEMORY_AT)
                                 | (kept >> 8 & <uint64_t>1 << GPUS_AT))
    return (b & bits) | (a & ~bits)


cdef inline uint64_t less(uint64_t free, uint64_t share) noexcept nogil:
    """What a share leaves; nothing where it is more than what is free."""
    return free - share if has(free, share) else 0


# The cores that a node offers to a job, of what is free there; 0: it does not serve.
cdef inline int32_t offer_of(const site_t *m, const ask_t *ask, int32_t node, uint64_t free) noexcept nogil:
    cdef int32_t cores
    if not m.bit[node] & ask.classes or not has(free, ask.least) or (ask.exclusive and free != m.total[node]):
        return 0
    cores = cores_of(free)
    if ask.by_core and ask.memory > 0:
        cores = min(cores, mebibytes_of(free) // ask.memory)
    return cores


# The same in what the job needs: nodes, or cores.
cdef inline int32_t served(const site_t *m, const ask_t *ask, int32_t node, uint64_t free) noexcept nogil:
    cdef int32_t cores = offer_of(m, ask, node, free)
    return min(cores, 1) if ask.nodes else cores


cdef inline int32_t needed(const ask_t *ask) noexcept nogil:
    return ask.nodes if ask.nodes else ask.cores


cdef inline uint64_t share_of(const site_t *m, const ask_t *ask, int32_t node, int32_t cores) noexcept nogil:
    """What a job takes of a node that gives it so many cores."""
    if ask.exclusive:
        return m.total[node]
    return amounts(cores, <int64_t>ask.memory * cores if ask.by_core else ask.memory, ask.gpus)


# Whether a node has so many cores for a job, and what comes with them.
cdef inline bint has_cores(const site_t *m, const ask_t *ask, int32_t node, uint64_t free,
                           int32_t cores) noexcept nogil:
    if not m.bit[node] & ask.classes:
        return False
    if ask.exclusive:
        return free == m.total[node]
    if cores > cores_of(free) or (ask.by_core and ask.memory > 0 and cores > mebibytes_of(free) // ask.memory):
        return False
    return has(free, share_of(m, ask, node, cores))


# Whether a job that had no room when so many nodes had been given back may have room now: whether one of those given
# back since serves it.
cdef inline bint may_fit_again(const site_t *m, const ask_t *ask, int64_t then) noexcept nogil:
    cdef int64_t k
    cdef int32_t node
    if m.gives - then > N_GIVEN:
        return True
    for k in range(then, m.gives):
        node = m.given[k & (N_GIVEN - 1)]
        if offer_of(m, ask, node, m.open[node]) > 0:
            return True
    return False


# What a job requests (AskRows of faultsim/data/world.py).
cdef int set_ask(site_t *m, int32_t job, int32_t nodes, int32_t cores, int32_t memory, int32_t gpus, bint by_core,
                 bint exclusive, uint64_t classes) except -1
# Whether a node of a class can serve a job if it has the most that is free of any; `node`: one of them.
cdef inline bint may_serve(const site_t *m, const ask_t *ask, int32_t node, uint64_t most) noexcept nogil:
    return m.bit[node] & ask.classes and has(most, ask.least)


# Of a section, the first block from block i on that may serve a job by what is free now; its end: there is none.
cdef inline int32_t next_in_section(const site_t *m, const ask_t *ask, const node_section_t *part,
                                    int32_t i) noexcept nogil:
    cdef int32_t end = part.first + part.n
    if not may_serve(m, ask, m.block[part.first].first, part.most):
        return end
    while i < end and not may_serve(m, ask, m.block[i].first, m.block[i].most):
        i += 1
    return i


# The first block from block i on that may serve a job by what is free of each node: each block, if that is not what is
# free now.  `blocks`: there is none.
cdef inline int32_t next_block(const site_t *m, const ask_t *ask, const uint64_t *free, int32_t i) noexcept nogil:
    cdef const node_section_t *part
    while free == m.open and i < m.blocks:
        part = &m.section[m.block[i].section]
        i = next_in_section(m, ask, part, i)
        if i < part.first + part.n:
            break
    return i


# Whether a job has room in what is free of each node.
cdef bint fits_in(const site_t *m, const ask_t *ask, const uint64_t *free) noexcept nogil
# Cores of the shares that are chosen.
cdef int32_t chosen_cores(const site_t *m) noexcept nogil
