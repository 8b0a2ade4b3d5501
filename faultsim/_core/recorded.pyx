"""What a run recorded, as arrays; the contract is in recorded.pxd."""

from cython.view cimport array
from libc.stdint cimport int32_t
from libc.stdlib cimport free as c_free, realloc

import numpy as np

from faultsim._core.state cimport record_event_t, record_stay_t, sim_t


cdef object recorded_events(const sim_t *s):
    """Columns of the events."""
    rows = np.asarray(<record_event_t[:s.record.n_events]>s.record.event)
    return {name: rows[name].copy() for name in ("time", "kind", "job", "node")}


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
    rows = np.asarray(<record_stay_t[:s.record.n_stays]>s.record.stay)
    out = {name: rows[name].copy() for name in ("job", "begin", "end")}
    if s.machine.placed:
        out.update(zip("xyzabc", rows["place"]["part"].T.copy(), strict=True))
    else:
        out["node_offsets"], out["nodes"] = np.append(rows["first"], s.record.n_nodes), nodes
    return out
