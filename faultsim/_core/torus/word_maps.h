/* A torus of at most 128 nodes in one integer. */
#ifndef FAULTSIM_WORD_MAPS_H
#define FAULTSIM_WORD_MAPS_H
#include <stdint.h>
#ifdef __SIZEOF_INT128__
typedef unsigned __int128 fs_u128;
#define FS_WORD_NODES 128
#define FS_HIGH(w) ((uint64_t)((w) >> 64))
#define FS_JOIN(high, low) (((fs_u128)(high) << 64) | (low))
#else
typedef uint64_t fs_u128;       /* compilers without 128-bit integers: half as many nodes */
#define FS_WORD_NODES 64
#define FS_HIGH(w) ((uint64_t)0)
#define FS_JOIN(high, low) ((fs_u128)(low))
#endif
#endif
