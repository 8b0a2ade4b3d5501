"""Checkpointing (checkpointing.pxd): planned checkpoints, whatever the rule that says how far apart they are."""

import numpy as np

from faultsim._core.tables.factory cimport factory
from faultsim._core.inputs cimport column
from faultsim._core.state cimport sim_t


cdef int open_planned(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    cdef const double[::1] interval = column(columns, columns, "checkpoint_interval", np.float64, s.n)
    s.track.cost = options["cost"]
    s.track.interval = &interval[0]
    return 0


PLANNED = factory(open_planned)
