/* What a FAULTSIM_DEBUG build checks and a release build does not pay for. */
#ifndef FAULTSIM_CONTRACT_H
#define FAULTSIM_CONTRACT_H
#include <assert.h>

#ifndef FAULTSIM_DEBUG
#define FAULTSIM_DEBUG 0
#endif

/* A contract of a .pxd, as a C assertion: the process ends with the file and line of the generated C.  NDEBUG drops it. */
#define fs_require(condition) assert(condition)

/* What is at an address will be read soon. */
#if defined(_MSC_VER) && !defined(__clang__)
#define fs_prefetch(address) ((void)(address))
#else
#define fs_prefetch(address) __builtin_prefetch(address)
#endif

/* Events between two `verify()` of a debug build. */
#define FS_VERIFY_EVERY 64

#endif
