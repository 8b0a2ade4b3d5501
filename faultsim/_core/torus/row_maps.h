/* Types of the word loops of the bitmap finder (row_kernels.h). */
#ifndef FAULTSIM_ROW_H
#define FAULTSIM_ROW_H
#include <stdint.h>

#if defined(__GNUC__)
#define FS_RESTRICT __restrict__
#else
#define FS_RESTRICT
#endif

/* How to find runs of a given length: r = r & (r turned by k) for each k in turn, the sum of the k being length - 1. */
typedef struct {
    int n;                    /* steps, at most 6 */
    int whole;                /* a line is all of a word and a ring: no masks are needed */
    int k[6], back[6];        /* turn by k = shift right by k, or left by back = Z - k */
    uint64_t lo[6], hi[6];    /* bits that come from the right shift, from the left shift (none on a mesh) */
} fs_steps;

/* A machine of at most 8 words, in which each x has one word. */
typedef struct {
    int x, y, z, field;
    uint64_t all;             /* the bits of a word that belong to nodes */
    uint64_t ring;            /* every bit; none on a mesh */
    uint64_t lo, hi;          /* as in fs_steps, for a turn by 1 */
    const fs_steps *steps;    /* [z + 1] */
} fs_octet;

typedef struct {
    uint64_t (*both)(uint64_t *FS_RESTRICT, const uint64_t *FS_RESTRICT, const void *FS_RESTRICT, long);
    uint64_t (*rows)(uint64_t *FS_RESTRICT, const uint64_t *FS_RESTRICT, long, const void *FS_RESTRICT, long, long, long);
    uint64_t (*into)(uint64_t *FS_RESTRICT, const void *FS_RESTRICT, long);
    int (*any_run)(const uint64_t *FS_RESTRICT, long, const fs_steps *FS_RESTRICT);
    uint64_t (*runs)(uint64_t *FS_RESTRICT, const uint64_t *FS_RESTRICT, long, const fs_steps *FS_RESTRICT);
    int (*into_run)(uint64_t *FS_RESTRICT, const uint64_t *FS_RESTRICT, long, const fs_steps *FS_RESTRICT);
    uint64_t (*fold)(uint64_t *FS_RESTRICT, const uint64_t *FS_RESTRICT, long);
    int (*within)(const uint64_t *, const uint64_t *, long);
    long (*count)(const uint64_t *, long);
    uint64_t (*cut)(const uint64_t *FS_RESTRICT, int, long);
    void (*spread)(uint8_t *FS_RESTRICT, uint64_t, long);
    int (*lower)(uint8_t *FS_RESTRICT, const uint8_t *FS_RESTRICT, const uint8_t *FS_RESTRICT, long, long, long);
    int (*narrow)(uint8_t *FS_RESTRICT, uint8_t *FS_RESTRICT, const uint8_t *FS_RESTRICT, const uint8_t *FS_RESTRICT, long);
    int (*hunt)(const uint64_t *, const fs_octet *, int, int, int *);
} fs_row_kernels;

#endif
