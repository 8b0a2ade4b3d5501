/* The largest free box of a machine of at most 8 words, one an x: a single loop over registers, since a call or a trip
 * through memory costs as much as the step it is for.  Included by row_kernels.h alone. */
#ifndef FAULTSIM_ROW_OCTET_H
#define FAULTSIM_ROW_OCTET_H
#include <string.h>
#include "bits.h"

/* 8 words.  Wider vectors are hardly faster, and compilers make a bad job of those that the machine does not have. */
#if defined(__GNUC__)
typedef uint64_t fs_lane __attribute__((vector_size(16)));
typedef struct { fs_lane p, q, s, t; } fs_eight;
FS_ALWAYS uint64_t fs_eight_any(const fs_eight *a) {
    const fs_lane any = (a->p | a->q) | (a->s | a->t);
    return any[0] | any[1];
}
FS_ALWAYS void fs_eight_meet(fs_eight *r, const fs_eight *b) { r->p &= b->p; r->q &= b->q; r->s &= b->s; r->t &= b->t; }
/* r &= a turned */
FS_ALWAYS void fs_eight_turn(fs_eight *r, const fs_eight *a, int right, int left, uint64_t lo, uint64_t hi) {
    r->p &= ((a->p >> right) & lo) | ((a->p << left) & hi);
    r->q &= ((a->q >> right) & lo) | ((a->q << left) & hi);
    r->s &= ((a->s >> right) & lo) | ((a->s << left) & hi);
    r->t &= ((a->t >> right) & lo) | ((a->t << left) & hi);
}
#else
typedef struct { uint64_t w[8]; } fs_eight;
FS_ALWAYS uint64_t fs_eight_any(const fs_eight *a) {
    uint64_t any = 0;
    for (int i = 0; i < 8; i++) any |= a->w[i];
    return any;
}
FS_ALWAYS void fs_eight_meet(fs_eight *r, const fs_eight *b) { for (int i = 0; i < 8; i++) r->w[i] &= b->w[i]; }
FS_ALWAYS void fs_eight_turn(fs_eight *r, const fs_eight *a, int right, int left, uint64_t lo, uint64_t hi) {
    for (int i = 0; i < 8; i++) r->w[i] &= ((a->w[i] >> right) & lo) | ((a->w[i] << left) & hi);
}
#endif

/* The size of the largest free box, 0 = none of `least` nodes (1 or more).  `box` is the first of its size in contract
 * order, unless it has `enough` nodes, which end the search.
 *
 * Columns (a, b, 1) come with a and b rising, and a box as large as the best takes its place: the last to do so has the
 * greatest a, then b, among the largest.  reach[b] bounds the runs along z in columns of b and any a from here on. */
FS_ALWAYS int fs_octet_hunt(const uint64_t *vacant, const fs_octet *g, int least, int enough, int *box) {
    const int nx = g->x, ny = g->y, nz = g->z, used = g->y * g->field;
    uint64_t wide[16];                                  /* the words, followed by themselves or (mesh) by zeros */
    fs_eight slab, column, run, found;
    int reach[9], a, b, c, best = least, top = ny, ha = 0, hb = 0, hc = 0;
    uint64_t all = g->all;
    memset(wide, 0, sizeof wide);
    for (int i = 0; i < nx; i++) { wide[i] = vacant[i]; wide[nx + i] = vacant[i] & g->ring; all &= vacant[i]; }
    if (all == g->all && nx * ny * nz >= least) {
        memset(box, 0, 3 * sizeof(int));
        box[3] = nx, box[4] = ny, box[5] = nz;
        return nx * ny * nz;
    }
    for (b = 0; b <= 8; b++) reach[b] = nz;
    memset(&slab, 0, sizeof slab);
    memcpy(&slab, vacant, nx * sizeof(uint64_t));
    found = slab;
    for (a = 1; a <= nx; a++) {
        int most = 0;
        if (a > 1) {
            fs_eight next;
            memcpy(&next, wide + a - 1, sizeof next);
            fs_eight_meet(&slab, &next);
        }
        if (!fs_eight_any(&slab)) break;
        for (b = 1; b <= top; b++) if (b * reach[b] > most) most = b * reach[b];
        if (nx * most < best) break;
        if (a * most < best) continue;
        while (nx * top * reach[top] < best) top--;     /* wider columns are out for good */
        column = slab;
        for (b = 1; b <= top; b++) {
            const int area = a * b;
            if (b > 1) {
                const int k = (b - 1) * g->field;
                fs_eight_turn(&column, &slab, k, used - k, ~(uint64_t)0, g->ring);
                if (!fs_eight_any(&column)) { top = b - 1; break; }
                if (reach[b] > reach[b - 1]) reach[b] = reach[b - 1];
            }
            if (area * reach[b] < best) continue;
            c = (best + area - 1) / area;
            run = column;
            {
                const fs_steps *s = &g->steps[c];
                for (int i = 0; i < s->n; i++) {
                    fs_eight before = run;
                    fs_eight_turn(&run, &before, s->k[i], s->back[i], s->lo[i], s->hi[i]);
                }
            }
            if (!fs_eight_any(&run)) { reach[b] = c - 1; continue; }
            for (;; c++) {
                fs_eight before = run;
                found = run;
                if (c >= reach[b]) break;
                fs_eight_turn(&run, &before, 1, nz - 1, g->lo, g->hi);
                if (!fs_eight_any(&run)) break;
            }
            reach[b] = c;
            best = area * c;
            ha = a, hb = b, hc = c;
            if (best >= enough) goto done;
        }
    }
done:
    if (ha == 0) return 0;
    memcpy(wide, &found, sizeof found);     /* the lowest base has coordinate 0 on a full axis: all its bases are set */
    for (a = 0; wide[a] == 0; a++) {}
    b = fs_lowest(wide[a]);
    box[0] = a, box[1] = b / g->field, box[2] = b % g->field;
    box[3] = ha, box[4] = hb, box[5] = hc;
    return best;
}
#endif
