/* What threads count together, for every compiler that Python is built with. */
#ifndef FAULTSIM_ATOMIC_H
#define FAULTSIM_ATOMIC_H
#include <stdint.h>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
static __inline int64_t fs_take(int64_t *from, int64_t count) { return _InterlockedExchangeAdd64(from, count); }
#else
static inline int64_t fs_take(int64_t *from, int64_t count) { return __atomic_fetch_add(from, count, __ATOMIC_RELAXED); }
#endif

#endif
