# From which sizes on shortcuts are taken, and how much the memories behind them hold: numbers that change the speed of a
# run and never its result.  Tests set them to their least, so that small cases take every shortcut.
#
# Contract: a state copies the values when it is opened, and goes by its copy.

from libc.stdint cimport int32_t, int64_t

cdef struct thresholds_t:
    # conservative plans on clusters
    int32_t deferred_queue   # waiting jobs above which a plan is made only up to a horizon
    int32_t horizon_steps    # steps up to the first horizon
    int32_t horizon_growth   # factor from one horizon to the next; at least 2
    int32_t horizon_every    # reservations made between two attempts to set a horizon
    int32_t refusals         # that are remembered; at most 16

cdef thresholds_t thresholds     # what states copy
