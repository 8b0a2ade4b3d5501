"""Python's border to the pod as a machine: for tests."""

from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from types import SimpleNamespace

import numpy as np

from faultsim._core.pod.choosing cimport pod_choose
from faultsim._core.pod.slices cimport cubes_of, cubes_t, is_inside, pod_t
from faultsim._core.tables.factory cimport call_factory
from faultsim._core.tables.machine cimport RANK_AT, machine_places_t, machine_t, outline_t, permit_t, place_t

from faultsim._core.pod.machine import POD


cdef class PodMachine:
    """A pod that is asked again and again, as the engine does; masks are whole numbers, one bit per host."""
    cdef machine_t m
    cdef list kept                  # what masks point to during a call

    def __cinit__(self, dict options, int32_t jobs, bint shapes=False):
        call_factory(POD, &self.m, options, {
            "n_jobs": jobs, "world": SimpleNamespace(shape_rank=() if shapes else None)})

    def __dealloc__(self):
        if self.m.close != NULL:
            self.m.close(self.m.state)

    cdef const uint64_t *_mask(self, object mask) except NULL:
        cdef bytes words = int(mask).to_bytes(8 * self.m.words, "little")
        self.kept.append(words)
        return <const uint64_t *><const char *>words

    cdef tuple _row(self, const place_t *place):
        cdef cubes_t cubes
        mask = bytearray(8 * self.m.words)
        cdef unsigned char[::1] view = mask
        self.m.placed.put(self.m.state, <uint64_t *>&view[0], place)
        size = self.m.placed.size_of(place)
        if is_inside(place):
            found, first = (place.part[0],), place.part[1]
        else:
            cubes, first = cubes_of(place), 0
            found = tuple([i for i in range(192) if cubes.word[i >> 6] >> (i & 63) & 1])
        return found, first, size, int.from_bytes(mask, "little")

    def ask(self, busy, int32_t ask, forbidden=None, later=None, int32_t need=0):
        """The place that is chosen, and all: cubes, first host, hosts and mask; `ask` and `need`: `with_rank`."""
        cdef permit_t permit
        cdef place_t place
        cdef place_t *found = NULL
        cdef long capacity = 0, n
        self.kept = []
        memset(&permit, 0, sizeof(permit))
        if forbidden is not None:
            permit.forbidden = self._mask(forbidden)
        if later is not None:
            permit.later, permit.need = self._mask(later), need
        occ = self._mask(busy)
        chosen = None
        if pod_choose(<pod_t *>self.m.state, occ, ask, &permit, &place):
            assert self.m.placed.is_place(self.m.state, &place)
            chosen = self._row(&place)
        n = self.m.placed.free_places(self.m.state, occ, ask, &permit, &found, &capacity)
        if n < 0:
            free(found)
            raise MemoryError
        try:
            return chosen, [self._row(&found[i]) for i in range(n)]
        finally:
            free(found)

    def free_for(self, busy, int32_t ask):
        """Whether a slice of exactly, and of at least this size is free, and the size of the largest."""
        self.kept = []
        occ = self._mask(busy)
        cdef const machine_places_t *placed = self.m.placed
        return (bool(placed.has_place(self.m.state, occ, ask)), bool(placed.has_free(self.m.state, occ, ask)),
                placed.largest(self.m.state, occ))

    def place_with(self, nodes, ask=None):
        """The place that has these nodes, which are different ones, and may be `ask`'s; None: there is none."""
        cdef int32_t[::1] each = np.array(nodes, np.int32)
        cdef place_t place
        if not self.m.placed.place_with(self.m.state, &each[0], <int32_t>each.shape[0],
                                        len(nodes) if ask is None else ask, &place):
            return None
        return self._row(&place)

    def beside(self, taken, int32_t ask, int32_t limit, later=None, int32_t need=0):
        """Whether cubes that are not taken, a bit each, have a slice up to the limit that leaves one later."""
        cdef outline_t outline, of_later
        cdef int32_t i
        for i in range(3):
            outline.word[i] = taken >> (64 * i) & ((1 << 64) - 1)
            of_later.word[i] = 0 if later is None else later >> (64 * i) & ((1 << 64) - 1)
        return bool(self.m.outlined.has_beside(self.m.state, &outline, ask, limit,
                                               NULL if later is None else &of_later, need))

    @staticmethod
    def with_rank(int32_t size, int32_t rank):
        """The ask of a job that requests the rank-th of the shapes of its size."""
        return size | rank << RANK_AT

    def next_size(self, int32_t size):
        return self.m.next_size(self.m.state, size)

    # -- what jobs hold

    @property
    def busy(self):
        return int.from_bytes(<bytes>(<char *>self.m.occ)[:8 * self.m.words], "little")

    def take(self, int32_t job, int32_t ask):
        """The place that a job takes of the free ones; None: there is none."""
        cdef place_t place
        if not pod_choose(<pod_t *>self.m.state, self.m.occ, ask, NULL, &place):
            return None
        self.m.placed.occupy(self.m.state, job, &place)
        return self._row(&place)

    def give(self, int32_t job):
        self.m.named.return_nodes(self.m.state, job)

    def block(self, int32_t node):
        self.m.named.block(self.m.state, node)

    def unblock(self, int32_t node):
        self.m.named.unblock(self.m.state, node)

    def of_job(self, int32_t job, mask):
        """The nodes of a job, one by one; how many are in a mask; whether it can join the mask."""
        self.kept = []
        occ = self._mask(mask)
        joined = bytearray(<bytes>self.kept[0])
        cdef unsigned char[::1] view = joined
        joins = bool(self.m.named.add_job(self.m.state, <uint64_t *>&view[0], job))
        return ([node for node in range(self.m.nodes) if self.m.named.holds(self.m.state, job, node)],
                self.m.named.overlap(self.m.state, job, occ, NULL, 0), joins, int.from_bytes(joined, "little"))

    def twin(self):
        """A copy, as a simulation makes one."""
        cdef PodMachine other = PodMachine.__new__(PodMachine, {**_EMPTY}, 0)
        other.m.close(other.m.state)
        memcpy(&other.m, &self.m, sizeof(machine_t))
        other.m.state = self.m.copy(self.m.state, NULL)
        if other.m.state == NULL:
            memset(&other.m, 0, sizeof(machine_t))
            raise MemoryError
        other.m.occ = (<pod_t *>other.m.state).occ
        return other


_EMPTY = {"cubes": (1, 1, 1), "cube": (1, 1, 1), "hosts": 1, "wiring": "ocs", "aligned": True, "largest": None}
