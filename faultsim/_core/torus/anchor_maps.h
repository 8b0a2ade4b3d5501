/* Word loops of listed shapes (listed.pyx): maps of bases, one bit per cell, and counters of several bits per cell, which
 * are as many maps ("planes"), the lowest bit first.  Compiled for any machine and for AVX2; results are integers. */
#ifndef FAULTSIM_ANCHOR_MAPS_H
#define FAULTSIM_ANCHOR_MAPS_H
#include "anchor_turn.h"

#if defined(__GNUC__)
#define FS_ALONE __restrict__
#else
#define FS_ALONE
#endif

typedef struct {
    void (*turn)(uint64_t *FS_ALONE, const uint64_t *FS_ALONE, long, const fs_turn_t *);
    uint64_t (*both)(uint64_t *, const uint64_t *FS_ALONE, long);
    uint64_t (*without)(uint64_t *FS_ALONE, const uint64_t *FS_ALONE, const uint64_t *FS_ALONE, long);
    uint64_t (*half)(uint64_t *FS_ALONE, uint64_t *FS_ALONE, const uint64_t *FS_ALONE, const uint64_t *FS_ALONE, long);
    uint64_t (*full)(uint64_t *FS_ALONE, uint64_t *FS_ALONE, const uint64_t *FS_ALONE, const uint64_t *FS_ALONE, long);
} fs_map_loops;

#define FS_NAME(name) name##_any
#define FS_TARGET
#include "anchor_loops.h"
#undef FS_NAME
#undef FS_TARGET
#if defined(__x86_64__) && defined(__GNUC__)
#define FS_NAME(name) name##_avx2
#define FS_TARGET __attribute__((target("avx2")))
#include "anchor_loops.h"
#undef FS_NAME
#undef FS_TARGET
#endif

static const fs_map_loops *fs_best_map_loops(void) {
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2")) return &fs_maps_avx2;
#endif
    return &fs_maps_any;
}
#endif
