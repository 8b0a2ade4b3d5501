# Columns that Python computes and the core reads: those of the `World` of a run (failures, predictions, requests for
# checkpoints), and what the factory of a policy reads by name ("queue_key", "curve").  Checked here, once.

from libc.stdint cimport int32_t

from faultsim._core.state cimport sim_t

# An array as the core reads it; it lives as long as columns["kept"].  `name` is for messages.
cdef object input_column(dict columns, object given, str name, dtype, Py_ssize_t length)
cdef int check_nodes(sim_t *s, object node, int least) except -1
cdef int check_ascending(str name, object values) except -1

# The rows of the jobs, the failure trace, predictions and requests of the run, before sim_alloc.
cdef int set_inputs(sim_t *s, dict columns) except -1
