"""Where somebody outside says that a job starts, or goes; the contract is in places.pxd."""

from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport free as c_free, malloc
from libc.string cimport memcpy

import numpy as np

from faultsim._core.cluster.named cimport change_node, named_of
from faultsim._core.faults.progress cimport progress_move
from faultsim._core.record cimport close_stay, open_stay, record_event
from faultsim._core.state cimport EV_MOVE, ask_of, asks_shape, disturb, sim_t
from faultsim._core.status cimport NO_MEMORY, OK
from faultsim._core.tables.machine cimport machine_t, place_t, same_place

# What jobs of a machine take, and how that is said.
_TAKEN = {"cluster": ("nodes", ("nodes",)), "torus": ("boxes", ("box",)), "pod": ("slices", ("cubes", "nodes"))}


cdef int end_move(sim_t *s, int32_t job, const move_t *cost) noexcept nogil:
    s.n_events += 1
    s.moves[job] += 1
    if progress_move(s, job, cost) < 0:
        return NO_MEMORY
    if s.record.on and (record_event(s, EV_MOVE, job, -1) < 0 or open_stay(s, job) < 0):
        return NO_MEMORY
    disturb(s)
    return OK


cdef int move_to_nodes(sim_t *s, int32_t job, const int32_t *out, const int32_t *into, int32_t n,
                       const move_t *cost) noexcept nogil:
    cdef int32_t i
    if s.record.on:
        close_stay(s, job)
    for i in range(n):
        if change_node(named_of(&s.machine), job, out[i], into[i]) < 0:
            return NO_MEMORY
    if s.migration.failed != NULL:
        s.migration.failed(s.migration.state, s, job, -1)
    return end_move(s, job, cost)


cdef int move_to_place(sim_t *s, int32_t job, const place_t *place, const move_t *cost) noexcept nogil:
    cdef int code = OK
    if s.record.on:
        close_stay(s, job)
    s.machine.give(s.machine.state, job)
    s.machine.take(s.machine.state, job, place)
    if s.scheduler.adopt != NULL:
        code = s.scheduler.adopt(s.scheduler.state, s, job)
    return end_move(s, job, cost) if code == OK else code


cdef class Places(Outlook):
    """What can be said of where."""

    cdef tuple said(self, object job, dict given):
        named = [what for what in given if given[what] is not None]
        if not named:
            return None
        if len(named) > 1:
            _inside = self.enter(True)
            self.check()
            self.refuse(f"say where job {job} goes by one of nodes=, box= and cubes=, got "
                        f"{' and '.join([f'{what}=' for what in named])}")
        what = named[0]
        asked = given[what]
        try:
            numbers = np.ascontiguousarray(asked)
            if numbers.dtype.kind not in "iu":
                raise TypeError
        except (TypeError, ValueError, OverflowError):
            _inside = self.enter(True)
            self.check()
            self.refuse(f"{what} of job {job} must be whole numbers, got {asked!r}")
        if numbers.dtype != np.int32:    # what does not fit is no node either
            numbers = np.clip(numbers, -1, 0x7FFFFFFF).astype(np.int32)
        return what, numbers.ravel()

    cdef int check_kind(self, str what) except -1:
        """Whether jobs of this machine are placed in this way."""
        machine = self.engine.settings.machine["name"]
        taken, ways = _TAKEN[machine]
        if what not in ways:
            self.refuse(f"jobs on a {machine} take {taken}: give {' or '.join([f'{way}=' for way in ways])}, not "
                        f"{what}=")
        return 0

    cdef int check_distinct(self, int32_t job, const int32_t[::1] numbers, int32_t end, str what) except -1:
        cdef Py_ssize_t i
        for i in range(numbers.shape[0]):
            if not 0 <= numbers[i] < end:
                self.refuse(f"there is no {what} {numbers[i]}: {what}s are 0 to {end - 1}")
        if len(set(np.asarray(numbers).tolist())) != numbers.shape[0]:
            self.refuse(f"{what}s of job {self.row_of(job)} are named twice")
        return 0

    cdef int check_nodes(self, int32_t job, str what, object numbers, int32_t size, int32_t owner) except -1:
        cdef sim_t *s = self.s
        cdef machine_t *m = &s.machine
        cdef const int32_t[::1] node = numbers
        cdef Py_ssize_t i
        self.check_kind(what)
        if node.shape[0] != size:
            self.refuse(f"job {self.row_of(job)} asks for {size} nodes, got {node.shape[0]}")
        self.check_distinct(job, node, s.nodes, "node")
        for i in range(node.shape[0]):
            if m.marked(m.state, m.occ, node[i]) and (owner < 0 or not m.holds(m.state, owner, node[i])):
                self.refuse(f"node {node[i]} is not free")
        return 0

    cdef int check_place(self, int32_t job, str what, object numbers, int32_t owner, place_t *place) except -1:
        self.check_kind(what)
        if what == "box":
            self.check_box(numbers, place)
        else:
            self.check_slice(job, what, numbers, place)
        return self.check_free(job, what, numbers, place, owner)

    cdef int check_box(self, object numbers, place_t *place) except -1:
        """Whether it is one."""
        cdef machine_t *m = &self.s.machine
        cdef const int32_t[::1] part = numbers
        cdef int i
        if part.shape[0] != 6:
            self.refuse(f"a box is six numbers (x, y, z, a, b, c), got {part.shape[0]}")
        for i in range(6):
            place.part[i] = part[i]
        if not m.is_place(m.state, place):
            self.refuse(f"{tuple(numbers.tolist())} is no box of this machine")
        return 0

    cdef int check_slice(self, int32_t job, str what, object numbers, place_t *place) except -1:
        """The slice of these nodes, or of these whole cubes."""
        cdef machine_t *m = &self.s.machine
        cdef const int32_t[::1] node
        cdef int32_t hosts = self.engine.settings.machine["hosts"], ask = ask_of(self.s, job)
        if what == "cubes":
            self.check_distinct(job, numbers, self.s.nodes // hosts, "cube")
            numbers = (numbers[:, None] * hosts + np.arange(hosts, dtype=np.int32)).ravel()
        node = numbers
        self.check_distinct(job, node, self.s.nodes, "node")
        if node.shape[0] == 0 or not m.place_with(m.state, &node[0], <int32_t>node.shape[0], ask, place):
            row = self.row_of(job)
            shape = f" of the shape {self.engine.column_of('shape', row)}" if asks_shape(self.s, job) else ""
            self.refuse(f"the {node.shape[0]} nodes given for job {row} are no slice of this pod{shape}")
        return 0

    cdef int check_free(self, int32_t job, str what, object numbers, const place_t *place, int32_t owner) except -1:
        """Whether it is large enough, nobody else has a node of it, and what is held back stays so."""
        cdef sim_t *s = self.s
        cdef machine_t *m = &s.machine
        cdef size_t bytes = <size_t>m.words * sizeof(uint64_t)
        cdef int32_t size = m.size_of(place)
        cdef uint64_t *mask
        cdef place_t old
        cdef bint too_many = False
        kind = "box" if what == "box" else "slice"
        if owner >= 0 and size != s.allocated[owner]:
            self.refuse(f"job {self.row_of(job)} moves to a {kind} of the {s.allocated[owner]} nodes that it has, got "
                        f"{size}")
        if size < s.size[job]:
            self.refuse(f"job {self.row_of(job)} asks for {s.size[job]} nodes, and the {kind} has {size}")
        mask = <uint64_t *>malloc(bytes)
        if mask == NULL:
            raise MemoryError("no memory for an occupancy")
        try:
            memcpy(mask, m.occ, bytes)
            if owner >= 0:
                old = m.place_of(m.state, owner)
                m.lift(m.state, mask, &old)
            if m.meets(m.state, mask, place):
                self.refuse(f"{self.taken(what, numbers, mask)} is not free")
            if m.may_be_busy != NULL:
                m.put(m.state, mask, place)
                too_many = not m.may_be_busy(m.state, mask)
        finally:
            c_free(mask)
        if too_many:
            self.refuse(f"job {self.row_of(job)} cannot have this slice: it would use cubes that are held back")
        if owner >= 0 and same_place(&old, place):
            self.refuse(f"job {self.row_of(job)} already has this {kind}")
        return 0

    cdef str taken(self, str what, object numbers, const uint64_t *mask):
        """The box; or the first of the nodes or cubes of a pod that has a node in a mask."""
        cdef machine_t *m = &self.s.machine
        cdef int32_t node, hosts
        if what == "box":
            return f"box {tuple(numbers.tolist())}"
        hosts = self.engine.settings.machine["hosts"] if what == "cubes" else 1
        for number in numbers.tolist():
            for node in range(number * hosts, (number + 1) * hosts):
                if m.marked(m.state, mask, node):
                    return f"{what[:-1]} {number}"
