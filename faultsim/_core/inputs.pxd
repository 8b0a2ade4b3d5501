# Columns that Python computes and the core reads: failures, predictions, requests for checkpoints, and what a policy's
# factory asks for by name ("queue_key", "checkpoint_interval", "ticks").  Checked here, once.

from libc.stdint cimport int32_t

from faultsim._core.state cimport sim_t

# A column of a table as the core reads it; the array lives as long as columns["kept"].
cdef object column(dict columns, dict table, str name, dtype, Py_ssize_t length)
cdef int check_nodes(sim_t *s, object node, int least) except -1
cdef int check_ascending(str name, object values) except -1

# The rows of the jobs, the failure trace, predictions and requests of the run, before sim_alloc.
cdef int set_inputs(sim_t *s, dict columns) except -1
