"""Placement rules of nodes that jobs share (model.md#site-placement): which one, for scheduling/site_choice.pyx."""

from faultsim._core.faults.outages cimport counts_open
from faultsim._core.scheduling.site_choice cimport BY_FAILURES, BY_FREE, BY_LOAD, BY_NUMBER, BY_RUNS, BY_SAFETY
from faultsim._core.site.shares cimport site_of
from faultsim._core.state cimport sim_t
from faultsim._core.tables.factory cimport factory


cdef int open_first_fit(void *sim, dict options, dict columns) except -1:
    site_of(&(<sim_t *>sim).machine).rule = <int>BY_NUMBER
    return 0


cdef int open_best_fit(void *sim, dict options, dict columns) except -1:
    site_of(&(<sim_t *>sim).machine).rule = <int>BY_FREE
    return 0


cdef int open_least_loaded(void *sim, dict options, dict columns) except -1:
    site_of(&(<sim_t *>sim).machine).rule = <int>BY_LOAD
    return 0


cdef int open_consecutive(void *sim, dict options, dict columns) except -1:
    site_of(&(<sim_t *>sim).machine).rule = <int>BY_RUNS
    return 0


cdef int open_site_least_failures(void *sim, dict options, dict columns) except -1:
    cdef sim_t *s = <sim_t *>sim
    site_of(&s.machine).rule = <int>BY_FAILURES
    if counts_open(s) < 0:
        raise MemoryError("no memory for the failures of nodes")
    return 0


cdef int open_site_safest(void *sim, dict options, dict columns) except -1:
    site_of(&(<sim_t *>sim).machine).rule = <int>BY_SAFETY
    return 0


FIRST_FIT = factory(open_first_fit)
BEST_FIT = factory(open_best_fit)
LEAST_LOADED = factory(open_least_loaded)
CONSECUTIVE_BEST_FIT = factory(open_consecutive)
LEAST_FAILURES_FIRST = factory(open_site_least_failures)
SAFEST_FIRST = factory(open_site_safest)
