# A machine, as the engine uses it: which nodes are free, and which nodes a job holds.
#
# Contract.  `machine_t` has what every machine has.  Three tables add what only some machines have; a table is NULL
# where the machine is not of that kind, so `m.placed != NULL` is the test for a machine with places:
#
# table      type                 machines                         adds
# named      machine_nodes_t      clusters with node numbers,      nodes in masks, the nodes of a job
#                                 tori, pods
# placed     machine_places_t     tori, pods                       places: sets of nodes that one job can have
# outlined   machine_outlines_t   pods without spare cubes         fast tests of places that consist of whole cubes
#
# A placed machine is also named, an outlined one also placed.  On a placed machine a job needs a free place, so the
# number of free nodes does not decide whether it can start.  The tables are constants of cluster/named.pyx,
# torus/machine.pyx and pod/machine.pyx; cluster/counted.pyx has none.  "[or NULL]" marks a function that some machines
# of a kind lack.
#
# A mask of nodes has `words` words in the machine's own layout; bits of no node are always 0.  `occ` is the mask of the
# nodes that are busy or down: every module may read it, only functions of these tables change it.  On a cluster `occ`
# may be out of date: use `marked`, or the functions of cluster/named.pxd for whole words.  `sim_t.free` counts free
# nodes; the caller of a function that takes or returns nodes updates it.
#
# `sim` and `state` are void pointers here and in the other tables.  sim_t (state.pxd) holds the tables by value, so
# state.pxd cimports the tables and they cannot cimport it: a struct that is declared forward in one .pxd and defined in
# another is two types to Cython, and in a circle of cimports with forward declarations in both, the field of sim_t is
# an incomplete type for every module that cimports a table first.  Each function casts `state` and `sim` at its
# beginning.

from libc.stdint cimport int32_t, int64_t, uint64_t

from faultsim._core.containers.releases cimport release_t, releases_t

# The allocation of a job, as its machine writes it: base and extents of a box on a torus (or a name of several boxes,
# where part[3] is 0), a set of cubes on a pod.
cdef struct place_t:
    int32_t part[6]

# The parts of a machine that have a node in a mask, one bit per part.  Where places are large, this is three words
# instead of the many of a mask.
cdef struct outline_t:
    uint64_t word[3]

# An `ask` is a number of nodes and, where jobs request shapes (model.md#shapes), from bit RANK_AT on the rank of a
# shape among those of that number, from 1 on (0: any shape).  24 bits hold the nodes of every machine that has shapes;
# machines without shapes use all 31 bits for nodes.
cdef enum:
    RANK_AT = 24

# Consecutive nodes.
cdef struct range_t:
    int32_t first, count

# The free places that a search may return; all zero permits every one.
cdef struct permit_t:
    const uint64_t *forbidden       # NULL, or nodes that the place must not contain
    const uint64_t *later           # NULL, or the occupancy at the shadow time: a place B is permitted if and only if
    int need                        # a free place for `need` (an ask) remains in (later | B); < 1: no such condition
    const place_t *near             # places such that every free place for `need` in `later` overlaps at least one;
    int n_near                      # n_near == 0: no such places are known
    # [machines with has_free_beside] NULL, or forbidden nodes that count as held by jobs; NULL, or nodes outside of
    # `later` that the place for `need` must not contain.
    const uint64_t *used
    const uint64_t *shut
    bint same                       # `later`, `need` and `near` have not changed since the last call with this permit

# Functions of machines with numbered nodes.
cdef struct machine_nodes_t:
    # One node in a mask: set, clear, test.
    void (*mark)(const void *state, uint64_t *mask, int32_t node) noexcept nogil
    void (*unmark)(const void *state, uint64_t *mask, int32_t node) noexcept nogil
    bint (*marked)(const void *state, const uint64_t *mask, int32_t node) noexcept nogil
    # A node that no job holds goes down; comes up again.
    void (*block)(void *state, int32_t node) noexcept nogil
    void (*unblock)(void *state, int32_t node) noexcept nogil
    # Whether a job holds a node.
    bint (*holds)(const void *state, int32_t job, int32_t node) noexcept nogil
    # [NULL if placed] The job that holds a node; -1: none.  `running` has all jobs with nodes; `asked` is raised by the
    # number of jobs that were examined.
    int32_t (*job_at)(void *state, int32_t node, const releases_t *running, int64_t *asked) noexcept nogil
    # The number of a job's nodes in `mask`.  `list` is NULL or has the same n nodes, for machines that are faster with
    # it.
    int32_t (*overlap)(const void *state, int32_t job, const uint64_t *mask, const int32_t *list,
                       int64_t n) noexcept nogil
    # Adds a job's nodes to a mask; False if one of them was in it.
    bint (*add_job)(const void *state, uint64_t *mask, int32_t job) noexcept nogil
    # [NULL if boxes] The nodes of a job, ascending; the same as ranges that do not touch.  Returns how many.
    int32_t (*list_nodes)(const void *state, int32_t job, int32_t *out) noexcept nogil
    int32_t (*list_ranges)(const void *state, int32_t job, range_t *out) noexcept nogil
    # [NULL if placed] A job takes these free nodes in addition to those that it holds; OK or NO_MEMORY.
    int (*take_nodes)(void *state, int32_t job, const int32_t *list, int32_t count) noexcept nogil
    # A job returns all its nodes.
    void (*return_nodes)(void *state, int32_t job) noexcept nogil
    # [or NULL] A job returns one node, on a pod the whole cube; returns how many nodes these are, or NO_MEMORY.
    int32_t (*drop)(void *state, int32_t job, int32_t node) noexcept nogil

# Functions of machines with places.
cdef struct machine_places_t:
    # A job takes a free place; the place that it holds; it moves to another place.  `set_place` leaves `occ` as it is:
    # the caller then passes the new mask to `set_occupancy`, with the size of its largest free place.
    void (*occupy)(void *state, int32_t job, const place_t *place) noexcept nogil
    place_t (*place_of)(const void *state, int32_t job) noexcept nogil
    void (*set_place)(void *state, int32_t job, const place_t *place) noexcept nogil
    void (*set_occupancy)(void *state, const uint64_t *occ, int32_t largest) noexcept nogil
    # Number of nodes of a place; whether the machine has such a place.
    int32_t (*size_of)(const place_t *place) noexcept nogil
    bint (*is_place)(const void *state, const place_t *place) noexcept nogil
    # [or NULL: a place is one box] The boxes of a place, one call for each; `at` is 0 first.  False: there are no more.
    bint (*next_box)(const void *state, const place_t *place, int32_t *at, place_t *out) noexcept nogil
    # [or NULL] Finds the place that consists of exactly these `count` different nodes; False: there is none, or it does
    # not have the shape of `ask`.
    bint (*place_with)(const void *state, const int32_t *list, int32_t count, int32_t ask,
                       place_t *out) noexcept nogil
    # A place in a mask: set all its nodes, clear them, test whether any is set.
    void (*put)(const void *state, uint64_t *mask, const place_t *place) noexcept nogil
    void (*lift)(const void *state, uint64_t *mask, const place_t *place) noexcept nogil
    bint (*meets)(const void *state, const uint64_t *mask, const place_t *place) noexcept nogil
    # Clears in a mask what n releases (jobs, and repairs as -1 - node) return.
    void (*release)(const void *state, const release_t *items, int32_t n, uint64_t *mask) noexcept nogil
    # Whether a mask has a free place of exactly, of at least this many nodes (with a shape: of this shape); size of the
    # largest free place of any shape in a mask, in `occ`.
    bint (*has_place)(void *state, const uint64_t *mask, int32_t ask) noexcept nogil
    bint (*has_free)(void *state, const uint64_t *mask, int32_t ask) noexcept nogil
    # [or NULL: nodes that are closed to a job may be set in the mask] has_free for a place without nodes of `closed`,
    # of which those that are not set in the mask do not count as held by jobs (a pod holds cubes back).
    bint (*has_free_beside)(void *state, const uint64_t *mask, const uint64_t *closed, int32_t ask) noexcept nogil
    int32_t (*largest)(void *state, const uint64_t *mask) noexcept nogil
    int32_t (*largest_now)(void *state) noexcept nogil
    # [or NULL: has_free is fast] The value of has_free for a mask that had no such place before `left` became free.
    # -1: not computed, because has_free takes less time than a search around a place as large as `left`.
    int (*has_free_at)(void *state, const uint64_t *mask, int32_t need, const place_t *left) noexcept nogil
    # True if it is certain, without a search, that `occ` has no free place of exactly `size` nodes.
    bint (*lacks)(void *state, int32_t size) noexcept nogil
    # All free and permitted places of exactly `ask`, into a block that grows; returns how many, -1: no memory.
    long (*free_places)(void *state, const uint64_t *mask, int32_t ask, permit_t *permit, place_t **found,
                        long *capacity) noexcept nogil
    # [or NULL: always] Whether jobs may hold all nodes that are set in a mask and not down (a pod holds cubes back).
    bint (*may_be_busy)(void *state, const uint64_t *mask) noexcept nogil
    # Number of words read so far in searches for places, for tests of how work grows.
    int64_t (*searched)(const void *state) noexcept nogil

# Functions of machines on which a place of at least `machine_t.part` nodes consists of whole parts (cubes), so that
# outlines suffice to decide whether it is free.
cdef struct machine_outlines_t:
    # The outline of a mask, for a mask that is zero outside words [low, high).
    void (*trace)(const void *state, const uint64_t *mask, int32_t low, int32_t high, outline_t *into) noexcept nogil
    # Sets in a mask all nodes of these parts.
    void (*fill)(const void *state, const outline_t *taken, uint64_t *mask) noexcept nogil
    # Whether there is a place of a size in [ask, limit] (of the shape of `ask`, where it has one) outside `taken` such
    # that a free place for `need` remains in `later`.  ask >= machine_t.part.  `later` may be NULL, and need < part:
    # that condition is left out.
    bint (*has_beside)(void *state, const outline_t *taken, int32_t ask, int32_t limit, const outline_t *later,
                       int32_t need) noexcept nogil

# An amount of cores (0), MiB (1) or GPUs (2) as one number.
cdef inline int32_t packed_part(int64_t amount, int resource) noexcept nogil:
    return <int32_t>(4 * amount + resource)


# Units of a job that fail.
cdef struct hit_t:
    int32_t job
    int64_t units

# Functions of machines with nodes that jobs share: a job holds amounts of each of its nodes (site/shares.pxd), and
# sizes, free and down capacity are cores.  block and unblock of machine_nodes_t then concern what no job holds of it.
cdef struct machine_shares_t:
    # A job takes the shares that were chosen for it; OK or NO_MEMORY.
    int (*take_shares)(void *state, int32_t job) noexcept nogil
    # It returns them: adds the cores that are free then, and those on nodes that are down.
    void (*return_shares)(void *state, int32_t job, int32_t *free, int32_t *down) noexcept nogil
    # Cores of a node that no job holds; nodes of a job.
    int32_t (*left)(const void *state, int32_t node) noexcept nogil
    int32_t (*count)(const void *state, int32_t job) noexcept nogil
    # Free cores of the nodes of a mask.
    int32_t (*free_on)(const void *state, const uint64_t *mask) noexcept nogil
    # The jobs on a node, ascending, valid until the next call; NULL: no memory.
    const int32_t *(*jobs_on)(void *state, int32_t node, const releases_t *running, int32_t *n) noexcept nogil
    # Parts of nodes that fail (model.md#site-parts).  A part of a trace is three numbers: cores, MiB, GPUs.
    # The jobs that have failing units, ascending, valid until the next call; NULL: no memory.  `fails`: how much of the
    # part is up.
    const hit_t *(*jobs_hit)(void *state, int32_t node, const releases_t *running, const int64_t *part, double unit,
                             int64_t *fails, int32_t *n) noexcept nogil
    # So much of a part, which no job has, is down until `until`: its number.  `free` and `down` as of return_shares.
    int32_t (*lose)(void *state, int32_t node, const int64_t *part, int64_t fails, double until, int32_t *free,
                    int32_t *down) noexcept nogil
    # A held job has so many units of this part, too.
    int (*hold_units)(void *state, int32_t number, const int64_t *part, const hit_t *held) noexcept nogil
    # It is up again: its node.  `jobs`: the `n` held jobs that had units of it, ascending, valid until the next call.
    int32_t (*regain)(void *state, int32_t number, int32_t *free, int32_t *down, const int32_t **jobs,
                      int32_t *n) noexcept nogil
    # How much of it is down, with what held jobs have, as packed_part().
    int32_t (*lost_part)(const void *state, int32_t number) noexcept nogil
    # When the last part is up of which a held job has units; -1: it has of none.
    double (*kept_until)(const void *state, int32_t job) noexcept nogil
    # When it is up again; -1: it is not down.  How many numbers there are.
    double (*lost_until)(const void *state, int32_t number) noexcept nogil
    int32_t (*lost)(const void *state) noexcept nogil
    # Before the simulation: how much of a part is up at `time` beside earlier ones, without lose(); it is down until
    # `until`.
    int64_t (*lose_early)(void *state, int32_t node, const int64_t *part, double time, double until) noexcept nogil
    # Parts of lose_early() that are down at `now` stay so; others are forgotten.
    void (*keep_early)(void *state, double now, int32_t *free, int32_t *down) noexcept nogil

cdef struct machine_t:
    void *state                     # as the next two: part_t of memory.pxd
    void *(*copy)(const void *state, const void *sim) noexcept nogil
    void (*close)(void *state) noexcept nogil
    int32_t nodes
    int32_t words                   # of a mask; 0 unless named
    int32_t part                    # nodes of a part, if outlined; else 0
    bint boxes                      # places are boxes, also in Python; elsewhere Python gets nodes, or ranges of them
    uint64_t *occ                   # NULL unless named; also the first field of the state
    const machine_nodes_t *named
    const machine_places_t *placed
    const machine_outlines_t *outlined
    const machine_shares_t *shared
    int32_t capacity                # what sizes of jobs count in all, if shared; else 0: nodes
    # The smallest size >= `size` that a job can hold; 0: none.
    int32_t (*next_size)(const void *state, int32_t size) noexcept nogil
    # [or NULL] The machine's own invariant that does not hold, as a text; NULL: all hold.
    const char *(*own_invariant)(void *state) noexcept nogil


cdef inline int32_t nodes_of(int32_t ask) noexcept nogil:
    """Number of nodes of an ask, on a machine where jobs request shapes (elsewhere the whole ask is that number)."""
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
