/* Bit counts of a 64-bit word, for every compiler that Python is built with. */
#ifndef FAULTSIM_BITS_H
#define FAULTSIM_BITS_H
#include <stdint.h>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
static __inline int fs_popcount(uint64_t w) { return (int)__popcnt64(w); }
static __inline int fs_lowest(uint64_t w) { unsigned long i; _BitScanForward64(&i, w); return (int)i; }
static __inline int fs_highest(uint64_t w) { unsigned long i; _BitScanReverse64(&i, w); return (int)i; }
#else
static inline int fs_popcount(uint64_t w) { return __builtin_popcountll(w); }
static inline int fs_lowest(uint64_t w) { return __builtin_ctzll(w); }         /* index of the lowest set bit, w != 0 */
static inline int fs_highest(uint64_t w) { return 63 - __builtin_clzll(w); }   /* index of the highest set bit, w != 0 */
#endif

/* Lines may be narrower than a word only where bytes follow each other from the low end. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define FS_LITTLE_ENDIAN 0
#else
#define FS_LITTLE_ENDIAN 1
#endif

#endif
