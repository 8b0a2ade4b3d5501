# What a debug build checks (contract.h): a C assertion that names file and line of the generated C.

cdef extern from "contract.h" nogil:
    void fs_require(bint condition)
    void fs_prefetch(const void *address)
    const int FAULTSIM_DEBUG
    const int FS_VERIFY_EVERY            # events between two checks of all invariants
