/* Included by anchor_maps.h once for every target; FS_NAME gives the names, FS_TARGET the function attribute. */

FS_TARGET static void FS_NAME(fs_turn)(uint64_t *FS_ALONE dst, const uint64_t *FS_ALONE src, long n, const fs_turn_t *t) {
    const uint64_t *FS_ALONE low = t->low, *FS_ALONE high = t->high;
    long r = (long)(t->right >> 6), l = (long)(t->left >> 6), i;
    int a = (int)(t->right & 63), b = (int)(t->left & 63);
    if (n == 1) {
        dst[0] = (r ? 0 : (src[0] >> a) & low[0]) | (l ? 0 : (src[0] << b) & high[0]);
        return;
    }
    if (a == 0) {
        for (i = 0; i < n - r; i++) dst[i] = src[i + r] & low[i];
    } else {
        for (i = 0; i < n - r - 1; i++) dst[i] = ((src[i + r] >> a) | (src[i + r + 1] << (64 - a))) & low[i];
        if (r < n) dst[n - r - 1] = (src[n - 1] >> a) & low[n - r - 1];
    }
    for (i = n - r < 0 ? 0 : n - r; i < n; i++) dst[i] = 0;
    if (l >= n) return;
    dst[l] |= (src[0] << b) & high[l];
    if (b == 0) {
        for (i = l + 1; i < n; i++) dst[i] |= src[i - l] & high[i];
    } else {
        for (i = l + 1; i < n; i++) dst[i] |= ((src[i - l] << b) | (src[i - l - 1] >> (64 - b))) & high[i];
    }
}

/* dst &= a; returns whether a bit is left */
FS_TARGET static uint64_t FS_NAME(fs_both)(uint64_t *dst, const uint64_t *FS_ALONE a, long n) {
    uint64_t any = 0;
    for (long i = 0; i < n; i++) { uint64_t w = dst[i] & a[i]; dst[i] = w; any |= w; }
    return any;
}

/* dst = a & ~b; returns whether a bit is left */
FS_TARGET static uint64_t FS_NAME(fs_without)(uint64_t *FS_ALONE dst, const uint64_t *FS_ALONE a,
                                              const uint64_t *FS_ALONE b, long n) {
    uint64_t any = 0;
    for (long i = 0; i < n; i++) { uint64_t w = a[i] & ~b[i]; dst[i] = w; any |= w; }
    return any;
}

/* dst = a + b and the carry of it; returns whether there is a carry */
FS_TARGET static uint64_t FS_NAME(fs_half)(uint64_t *FS_ALONE dst, uint64_t *FS_ALONE carry,
                                           const uint64_t *FS_ALONE a, const uint64_t *FS_ALONE b, long n) {
    uint64_t any = 0;
    for (long i = 0; i < n; i++) {
        uint64_t p = a[i], q = b[i];
        dst[i] = p ^ q;
        carry[i] = p & q;
        any |= p & q;
    }
    return any;
}

/* the same with a carry that comes in */
FS_TARGET static uint64_t FS_NAME(fs_full)(uint64_t *FS_ALONE dst, uint64_t *FS_ALONE carry,
                                           const uint64_t *FS_ALONE a, const uint64_t *FS_ALONE b, long n) {
    uint64_t any = 0;
    for (long i = 0; i < n; i++) {
        uint64_t p = a[i], q = b[i], c = carry[i], t = p ^ q, out = (p & q) | (t & c);
        dst[i] = t ^ c;
        carry[i] = out;
        any |= out;
    }
    return any;
}

static const fs_map_loops FS_NAME(fs_maps) = {FS_NAME(fs_turn), FS_NAME(fs_both), FS_NAME(fs_without),
                                              FS_NAME(fs_half), FS_NAME(fs_full)};
