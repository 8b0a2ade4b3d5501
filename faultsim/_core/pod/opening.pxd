# How a pod is opened.

from libc.stdint cimport int32_t

from faultsim._core.pod.slices cimport pod_t


# Options: extents `cubes` and `cube`, `hosts`, `wiring`, `aligned`, `largest` (None: all), `spares` (or not), as a
# lowered pod has them.  `shapes`: jobs may ask for shapes.
cdef int pod_open(pod_t *m, dict options, int32_t jobs, bint shapes) except -1
