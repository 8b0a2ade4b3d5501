"""Recovery (recovery.pxd): somebody outside is asked what becomes of each job (model.md#decisions); both are there."""

from faultsim._core.questions cimport open_questions
from faultsim._core.recovery.hold cimport hold_job, open_hold
from faultsim._core.recovery.requeue cimport open_requeue, requeue_job
from faultsim._core.state cimport ASK_FAILURE, sim_t
from faultsim._core.tables.factory cimport factory


cdef int open_either(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    open_hold(sim, options, columns)
    open_requeue(sim, options, columns)
    # Where nobody says anything; only Requeue, and a policy in Python, has a place.
    s.recovery.killed = requeue_job if "place" in options else hold_job
    return open_questions(s, <int>ASK_FAILURE, options.get("object"))


EITHER = factory(open_either)
