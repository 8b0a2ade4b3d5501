"""What a run recorded, as arrays; the contract is in recorded.pxd."""

from cython.view cimport array
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free as c_free, realloc

import numpy as np

from faultsim._core.state cimport sim_t


cdef object recorded_events(const sim_t *s):
    """Columns of the events."""
    cdef int64_t i, n = s.record.n_events
    time, kind, job, node = np.empty(n), np.empty(n, np.int8), np.empty(n, np.int32), np.empty(n, np.int32)
    cdef double[::1] t = time
    cdef signed char[::1] k = kind
    cdef int32_t[::1] j = job, v = node
    for i in range(n):
        t[i] = s.record.event[i].time
        k[i] = s.record.event[i].kind
        j[i] = s.record.event[i].job
        v[i] = s.record.event[i].node
    return {"time": time, "kind": kind, "job": job, "node": node}


cdef object lend_nodes(sim_t *s):
    """The nodes of all stays, without a copy: of a long log they are most of the memory."""
    cdef array found
    cdef int32_t *smaller
    if s.record.n_nodes == 0:
        c_free(s.record.node)
        s.record.node, s.record.cap_nodes = NULL, 0
        return np.empty(0, np.int32)
    smaller = <int32_t *>realloc(s.record.node, s.record.n_nodes * sizeof(int32_t))
    if smaller != NULL:
        s.record.node, s.record.cap_nodes = smaller, s.record.n_nodes
    found = <int32_t[:s.record.n_nodes]> s.record.node
    nodes = np.asarray(found)
    found.callback_free_data = c_free     # from here on it is the array's
    return nodes


cdef object recorded_stays(const sim_t *s, object nodes):
    """Columns of the stays: boxes on a torus, lists of nodes on a cluster."""
    cdef int64_t i, n = s.record.n_stays
    job, begin, end = np.empty(n, np.int32), np.empty(n), np.empty(n)
    cdef int32_t[::1] j = job
    cdef double[::1] b = begin, e = end
    cdef int32_t[:, ::1] box
    cdef int64_t[::1] offset
    cdef int k
    for i in range(n):
        j[i] = s.record.stay[i].job
        b[i] = s.record.stay[i].begin
        e[i] = s.record.stay[i].end
    out = {"job": job, "begin": begin, "end": end}
    if s.machine.placed:
        rows = np.empty((6, n), np.int32)
        box = rows
        for i in range(n):
            for k in range(6):
                box[k, i] = s.record.stay[i].place.part[k]
        out.update(zip("xyzabc", rows, strict=True))
    else:
        offsets = np.empty(n + 1, np.int64)
        offset = offsets
        for i in range(n):
            offset[i] = s.record.stay[i].first
        offset[n] = s.record.n_nodes
        out["node_offsets"], out["nodes"] = offsets, nodes
    return out
