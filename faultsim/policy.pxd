# The contract of compiled policies in C (policy.h, which says what each field means), for Cython.

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

cdef extern from "faultsim/policy.h" nogil:
    const int FAULTSIM_POLICY_VERSION

    ctypedef void (*faultsim_queue_keys_t)(int64_t n, const double *submit, const double *estimate, const double *size,
                                           double now, double *key, void *user_data) noexcept nogil

    const char *FAULTSIM_SCHEDULER
    const uint32_t FAULTSIM_SCHEDULER_KIND
    cdef enum faultsim_change:
        FAULTSIM_CHANGED_NOTHING
        FAULTSIM_CHANGED_TAIL
        FAULTSIM_CHANGED_ALL

    ctypedef struct faultsim_release_t:
        double end
        int32_t job
        int32_t nodes

    ctypedef struct faultsim_pass_t:
        uint32_t version
        int32_t placed
        int32_t nodes
        int32_t free
        int32_t waiting
        int32_t change
        int32_t disturbed
        int32_t running
        double now
        const int32_t *job
        const int32_t *need
        const float *least
        const faultsim_release_t *release
        const double *submit
        const double *estimate
        const int32_t *size
        const int32_t *restarts
        const int32_t *row
        double (*expected_end)(faultsim_pass_t *, int32_t place) noexcept nogil
        int (*fits)(faultsim_pass_t *, int32_t place) noexcept nogil
        int (*start)(faultsim_pass_t *, int32_t place) noexcept nogil
        double (*shadow)(faultsim_pass_t *, int32_t place, int64_t *extra) noexcept nogil
        int (*backfill)(faultsim_pass_t *, int32_t place, int32_t head, int32_t growth) noexcept nogil
        int (*wake)(faultsim_pass_t *, double time) noexcept nogil
        void *engine

    ctypedef struct faultsim_scheduler_t:
        uint32_t kind
        uint32_t version
        const char *name
        int (*schedule)(faultsim_pass_t *, void *state, void *data) noexcept nogil
        size_t state_bytes
        size_t job_bytes
        void *data

    const char *FAULTSIM_PLACEMENT
    const uint32_t FAULTSIM_PLACEMENT_KIND

    ctypedef struct faultsim_boxes_t:
        uint32_t version
        int32_t job
        int32_t size
        int32_t shape[3]
        double now
        double submit
        double estimate
        double p
        int64_t count
        const int32_t *box
        int (*busy)(const faultsim_boxes_t *, int32_t x, int32_t y, int32_t z) noexcept nogil
        int32_t (*left)(const faultsim_boxes_t *, int64_t k) noexcept nogil
        int32_t (*failing)(const faultsim_boxes_t *, int64_t k) noexcept nogil
        void *engine

    ctypedef struct faultsim_nodes_t:
        uint32_t version
        int32_t job
        int32_t count
        int32_t nodes
        int32_t words
        double now
        double submit
        double estimate
        double p
        const uint64_t *free
        const int32_t *failures
        const uint64_t *(*failing)(const faultsim_nodes_t *) noexcept nogil
        void *engine

    ctypedef struct faultsim_placement_t:
        uint32_t kind
        uint32_t version
        const char *name
        int64_t (*choose)(const faultsim_boxes_t *, void *data) noexcept nogil
        int (*take)(const faultsim_nodes_t *, uint64_t *taken, void *data) noexcept nogil
        void *data
