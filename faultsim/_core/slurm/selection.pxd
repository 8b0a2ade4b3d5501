from libc.stdint cimport int32_t, uint64_t

from faultsim._core.slurm.rules cimport slurm_form_t, slurm_room_t, slurm_run_t, slurm_t

# Give nodes to a job (sign 1), or take them back (-1).
cdef void slurm_take(slurm_t *s, slurm_room_t *room, const slurm_run_t *run, int32_t sign) noexcept nogil
cdef void slurm_copy_room(slurm_t *s, slurm_room_t *into, const slurm_room_t *room) noexcept nogil
# The nodes of a mask that can serve a form, into `avail` and `have`; GPU jobs change keys.
cdef void slurm_fill(slurm_t *s, const slurm_form_t *f, const uint64_t *mask, const slurm_room_t *room) noexcept nogil
# The same of one node that has another room now.
cdef void slurm_refill(slurm_t *s, const slurm_form_t *f, int32_t node, const slurm_room_t *room) noexcept nogil
# Nodes for a form of those filled: the number in `found`, or -1.
cdef int32_t slurm_pick(slurm_t *s, const slurm_form_t *f, const slurm_room_t *room,
                        const uint64_t *idle) noexcept nogil
# Both.
cdef int32_t slurm_choose(slurm_t *s, const slurm_form_t *f, const uint64_t *mask,
                          const slurm_room_t *room) noexcept nogil
cdef void slurm_reset_keys(slurm_t *s, const uint64_t *mask) noexcept nogil
