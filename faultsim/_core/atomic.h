/* What threads count together, for every compiler that Python is built with; each in one order that all threads see. */
#ifndef FAULTSIM_ATOMIC_H
#define FAULTSIM_ATOMIC_H
#include <stdint.h>

/* fs_add gives back what was there before, as fs_swap does. */
#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
static __inline int64_t fs_add(int64_t *to, int64_t count) { return _InterlockedExchangeAdd64(to, count); }
static __inline int64_t fs_swap(int64_t *at, int64_t value) { return _InterlockedExchange64(at, value); }
#else
static inline int64_t fs_add(int64_t *to, int64_t count) { return __atomic_fetch_add(to, count, __ATOMIC_SEQ_CST); }
static inline int64_t fs_swap(int64_t *at, int64_t value) { return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST); }
#endif

#endif
