/* Included by row_maps.h once for every target; FS_NAME gives the names, FS_TARGET the function attribute. */

/* dst = a & b, b at any byte; returns whether a bit is left */
FS_TARGET static uint64_t FS_NAME(fs_both)(uint64_t *FS_RESTRICT dst, const uint64_t *FS_RESTRICT a,
                                           const void *FS_RESTRICT b, long n) {
    const fs_word *p = (const fs_word *)b;
    uint64_t any = 0;
    for (long i = 0; i < n; i++) { uint64_t w = a[i] & p[i]; dst[i] = w; any |= w; }
    return any;
}

/* the same for n rows of `row` words, which begin `step_a` and `step_b` words apart in a and b */
FS_TARGET static uint64_t FS_NAME(fs_rows)(uint64_t *FS_RESTRICT dst, const uint64_t *FS_RESTRICT a, long step_a,
                                           const void *FS_RESTRICT b, long step_b, long n, long row) {
    const fs_word *p = (const fs_word *)b;
    uint64_t any = 0;
    if (row == 1) {
        for (long i = 0; i < n; i++) { uint64_t w = a[i * step_a] & p[i * step_b]; dst[i] = w; any |= w; }
        return any;
    }
    for (long i = 0; i < n; i++, dst += row, a += step_a, p += step_b)
        for (long j = 0; j < row; j++) { uint64_t w = a[j] & p[j]; dst[j] = w; any |= w; }
    return any;
}

/* dst &= b, b at any byte */
FS_TARGET static uint64_t FS_NAME(fs_into)(uint64_t *FS_RESTRICT dst, const void *FS_RESTRICT b, long n) {
    const fs_word *p = (const fs_word *)b;
    uint64_t any = 0;
    for (long i = 0; i < n; i++) { uint64_t w = dst[i] & p[i]; dst[i] = w; any |= w; }
    return any;
}

/* is there a run of the length that the steps stand for? */
FS_TARGET static int FS_NAME(fs_any_run)(const uint64_t *FS_RESTRICT q, long n, const fs_steps *FS_RESTRICT s) {
#define FS_LOOP(N, W) for (long i = 0; i < n; i += 64) { \
        long end = i + 64 < n ? i + 64 : n; \
        uint64_t any = 0; \
        for (long j = i; j < end; j++) any |= fs_run(q[j], s, N, W); \
        if (any) return 1; }
    FS_BY_STEPS(FS_LOOP)
#undef FS_LOOP
    return 0;
}

/* dst = where such runs begin */
FS_TARGET static uint64_t FS_NAME(fs_runs)(uint64_t *FS_RESTRICT dst, const uint64_t *FS_RESTRICT q, long n,
                                           const fs_steps *FS_RESTRICT s) {
    uint64_t any = 0;
#define FS_LOOP(N, W) for (long i = 0; i < n; i++) { uint64_t w = fs_run(q[i], s, N, W); dst[i] = w; any |= w; }
    FS_BY_STEPS(FS_LOOP)
#undef FS_LOOP
    return any;
}

/* dst &= b, and is there a run in it?  0 = nothing is left, 1 = something is, 2 = a run */
FS_TARGET static int FS_NAME(fs_into_run)(uint64_t *FS_RESTRICT dst, const uint64_t *FS_RESTRICT b, long n,
                                          const fs_steps *FS_RESTRICT s) {
    uint64_t any = 0, run = 0;
#define FS_LOOP(N, W) for (long i = 0; i < n; i++) { \
        uint64_t w = dst[i] & b[i]; dst[i] = w; any |= w; run |= fs_run(w, s, N, W); }
    FS_BY_STEPS(FS_LOOP)
#undef FS_LOOP
    return run ? 2 : any != 0;
}

/* acc |= row; returns whether the row has a bit */
FS_TARGET static uint64_t FS_NAME(fs_fold)(uint64_t *FS_RESTRICT acc, const uint64_t *FS_RESTRICT row, long n) {
    uint64_t any = 0;
    for (long i = 0; i < n; i++) { acc[i] |= row[i]; any |= row[i]; }
    return any;
}

/* is a a subset of b? */
FS_TARGET static int FS_NAME(fs_within)(const uint64_t *a, const uint64_t *b, long n) {
    for (long i = 0; i < n; i += 64) {
        long end = i + 64 < n ? i + 64 : n;
        uint64_t out = 0;
        for (long j = i; j < end; j++) out |= a[j] & ~b[j];
        if (out) return 0;
    }
    return 1;
}

/* how many bits */
FS_TARGET static long FS_NAME(fs_count)(const uint64_t *a, long n) {
    long bits = 0;
    for (long i = 0; i < n; i++) bits += fs_popcount(a[i]);
    return bits;
}

/* bit `at` of each of n <= 64 words */
FS_TARGET static uint64_t FS_NAME(fs_cut)(const uint64_t *FS_RESTRICT a, int at, long n) {
    uint64_t bits = 0;
    for (long i = 0; i < n; i++) bits |= ((a[i] >> at) & 1) << i;
    return bits;
}

/* u += the bits of w, a byte each */
FS_TARGET static void FS_NAME(fs_spread)(uint8_t *FS_RESTRICT u, uint64_t w, long n) {
    for (long i = 0; i < n; i++) u[i] += (uint8_t)((w >> i) & 1);
}

/* dst = the lesser of two, byte by byte, in rows of `pitch` (a multiple of 32); returns whether one is left */
FS_TARGET static int FS_NAME(fs_lower)(uint8_t *FS_RESTRICT dst, const uint8_t *FS_RESTRICT a, const uint8_t *FS_RESTRICT b,
                                       long step_b, long rows, long pitch) {
    uint8_t any = 0;
    for (long i = 0; i < rows; i++, dst += pitch, a += pitch, b += step_b)
        for (long j = 0; j < pitch; j += 32)
            for (int k = 0; k < 32; k++) {
                uint8_t w = a[j + k] < b[j + k] ? a[j + k] : b[j + k];
                dst[j + k] = w;
                any |= w;
            }
    return any != 0;
}

/* u = min(u, a), d = min(d, b), n bytes; the largest sum of the two */
FS_TARGET static int FS_NAME(fs_narrow)(uint8_t *FS_RESTRICT u, uint8_t *FS_RESTRICT d, const uint8_t *FS_RESTRICT a,
                                        const uint8_t *FS_RESTRICT b, long n) {
    uint8_t best = 0;
    for (long i = 0; i < n; i++) {
        uint8_t p = u[i] < a[i] ? u[i] : a[i], q = d[i] < b[i] ? d[i] : b[i], sum = (uint8_t)(p + q);
        u[i] = p;
        d[i] = q;
        best = sum > best ? sum : best;
    }
    return best;
}

/* the largest box of a machine of 8 words; see row_octet.h */
FS_TARGET static int FS_NAME(fs_hunt)(const uint64_t *vacant, const fs_octet *g, int least, int enough, int *box) {
    return fs_octet_hunt(vacant, g, least, enough, box);
}

static const fs_row_kernels FS_NAME(fs_table) = {
    FS_NAME(fs_both), FS_NAME(fs_rows), FS_NAME(fs_into), FS_NAME(fs_any_run), FS_NAME(fs_runs), FS_NAME(fs_into_run), FS_NAME(fs_fold), FS_NAME(fs_within),
    FS_NAME(fs_count), FS_NAME(fs_cut), FS_NAME(fs_spread), FS_NAME(fs_lower), FS_NAME(fs_narrow), FS_NAME(fs_hunt),
};
