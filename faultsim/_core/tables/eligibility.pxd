# When jobs may begin (model.md#eligibility): the state of eligibility.pyx and withdrawal.pyx behind one pointer.

cdef struct eligibility_t:
    void *state              # eligible_t of eligibility.pxd
    void *(*copy)(const void *state, const void *sim) noexcept nogil
    void (*close)(void *state) noexcept nogil
    bint on                  # some job of the run has a condition, an earliest start or a withdrawal
