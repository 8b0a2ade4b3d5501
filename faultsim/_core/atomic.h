/* What threads count together, for every compiler that Python is built with; each in one order that all threads see. */
#ifndef FAULTSIM_ATOMIC_H
#define FAULTSIM_ATOMIC_H
#include <stdint.h>

/* fs_add gives back what was there before, as fs_swap does, and fs_take, which puts a value only where 0 was; fs_rest
   lets another thread go first. */
#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
static __inline int64_t fs_add(int64_t *to, int64_t count) { return _InterlockedExchangeAdd64(to, count); }
static __inline int64_t fs_swap(int64_t *at, int64_t value) { return _InterlockedExchange64(at, value); }
static __inline int64_t fs_take(int64_t *at, int64_t value) { return _InterlockedCompareExchange64(at, value, 0); }
#else
static inline int64_t fs_add(int64_t *to, int64_t count) { return __atomic_fetch_add(to, count, __ATOMIC_SEQ_CST); }
static inline int64_t fs_swap(int64_t *at, int64_t value) { return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST); }
static inline int64_t fs_take(int64_t *at, int64_t value) {
    int64_t there = 0;
    __atomic_compare_exchange_n(at, &there, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return there;
}
#endif

#if defined(_WIN32)
__declspec(dllimport) int __stdcall SwitchToThread(void);
static __inline void fs_rest(void) { SwitchToThread(); }
#else
#include <sched.h>
static inline void fs_rest(void) { sched_yield(); }
#endif

#endif
