/* Word loops of the bitmap finder, and nothing else: each works on plain arrays of uint64 in which a line of z takes
 * `field` bits (occupancy.pxd).  The loops are compiled for any machine, for AVX2 and for AVX-512, and the fastest table that
 * the machine can run is taken when a finder is made; results are integers, so all give the same.  Included by row_maps.pyx alone. */
#ifndef FAULTSIM_ROW_KERNELS_H
#define FAULTSIM_ROW_KERNELS_H
#include "row_maps.h"

#if defined(__GNUC__)
typedef uint64_t __attribute__((aligned(1), may_alias)) fs_word;   /* a word at any byte */
#define FS_ALWAYS static inline __attribute__((always_inline))
#else
typedef uint64_t fs_word;
#define FS_ALWAYS static __inline
#endif

FS_ALWAYS uint64_t fs_run(uint64_t r, const fs_steps *s, int n, int whole) {
    for (int i = 0; i < n; i++)
        r &= whole ? (r >> s->k[i]) | (r << s->back[i]) : ((r >> s->k[i]) & s->lo[i]) | ((r << s->back[i]) & s->hi[i]);
    return r;
}

/* the number of steps is written out so that each loop has its shifts in registers */
#define FS_CASES(LOOP, WHOLE) \
    switch (s->n) { case 0: LOOP(0, WHOLE) break; case 1: LOOP(1, WHOLE) break; case 2: LOOP(2, WHOLE) break; \
                    case 3: LOOP(3, WHOLE) break; case 4: LOOP(4, WHOLE) break; case 5: LOOP(5, WHOLE) break; \
                    default: LOOP(6, WHOLE) }
#define FS_BY_STEPS(LOOP) if (s->whole) { FS_CASES(LOOP, 1) } else { FS_CASES(LOOP, 0) }

#include "row_octet.h"

#define FS_NAME(name) name##_any
#define FS_TARGET
#include "row_loops.h"
#undef FS_NAME
#undef FS_TARGET

#if defined(__x86_64__) && defined(__GNUC__)
#define FS_NAME(name) name##_avx2
#define FS_TARGET __attribute__((target("avx2,popcnt")))
#include "row_loops.h"
#undef FS_NAME
#undef FS_TARGET
#define FS_NAME(name) name##_avx512
/* vectors of 256 bits: the new instructions help, wider vectors hardly do */
#define FS_TARGET __attribute__((target("popcnt,avx512f,avx512vl,avx512bw,avx512dq,prefer-vector-width=256")))
#include "row_loops.h"
#undef FS_NAME
#undef FS_TARGET
#endif

/* The tables that this machine can run, the slowest first; NULL past the end. */
static const fs_row_kernels *fs_row_kernels_at(int i) {
    const fs_row_kernels *tables[3] = {&fs_table_any, 0, 0};
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2")) {
        tables[1] = &fs_table_avx2;
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
            tables[2] = &fs_table_avx512;
    }
#endif
    return i < 3 ? tables[i] : 0;
}

static const fs_row_kernels *fs_best_row_kernels(void) {
    int i = 0;
    while (fs_row_kernels_at(i + 1)) i++;
    return fs_row_kernels_at(i);
}

#endif
