/* Word loops of the bitmap finder, and nothing else: each works on plain arrays of uint64 in which a line of z takes
 * `field` bits (torus.pxd).  The loops are compiled twice, for any machine and for AVX2, and the faster table is taken when
 * a finder is made; results are integers, so both give the same.  Included by lines.pyx alone. */
#ifndef FAULTSIM_LINES_KERNELS_H
#define FAULTSIM_LINES_KERNELS_H
#include "lines.h"

#if defined(__GNUC__)
typedef uint64_t __attribute__((aligned(1), may_alias)) fs_word;   /* a word at any byte */
#define FS_ALWAYS static inline __attribute__((always_inline))
#else
typedef uint64_t fs_word;
#define FS_ALWAYS static __inline
#endif

FS_ALWAYS uint64_t fs_run(uint64_t r, const fs_steps *s, int n) {
    for (int i = 0; i < n; i++) r &= ((r >> s->k[i]) & s->lo[i]) | ((r << s->back[i]) & s->hi[i]);
    return r;
}

/* n_steps is written out so that each loop has its shifts in registers */
#define FS_BY_STEPS(LOOP) \
    switch (s->n) { case 0: LOOP(0) break; case 1: LOOP(1) break; case 2: LOOP(2) break; case 3: LOOP(3) break; \
                    case 4: LOOP(4) break; case 5: LOOP(5) break; default: LOOP(6) }

#define FS_NAME(name) name##_any
#define FS_TARGET
#include "lines_loops.h"
#undef FS_NAME
#undef FS_TARGET

#if defined(__x86_64__) && defined(__GNUC__)
#define FS_NAME(name) name##_avx2
#define FS_TARGET __attribute__((target("avx2")))
#include "lines_loops.h"
#undef FS_NAME
#undef FS_TARGET
#endif

static const fs_kernels *fs_best_kernels(void) {
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2")) return &fs_table_avx2;
#endif
    return &fs_table_any;
}

#endif
