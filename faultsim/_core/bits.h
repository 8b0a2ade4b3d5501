/* Bit counts of a 64-bit word, for every compiler that Python is built with. */
#ifndef FAULTSIM_BITS_H
#define FAULTSIM_BITS_H
#include <stdint.h>
#include <string.h>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
static __inline int fs_popcount(uint64_t w) { return (int)__popcnt64(w); }
static __inline int fs_lowest(uint64_t w) { unsigned long i; _BitScanForward64(&i, w); return (int)i; }
static __inline int fs_highest(uint64_t w) { unsigned long i; _BitScanReverse64(&i, w); return (int)i; }
#else
#if defined(__POPCNT__) || !defined(__x86_64__)
static inline int fs_popcount(uint64_t w) { return __builtin_popcountll(w); }
#else
/* Without the instruction, the compiler would call a function. */
static inline int fs_popcount(uint64_t w) {
    w -= (w >> 1) & UINT64_C(0x5555555555555555);
    w = (w & UINT64_C(0x3333333333333333)) + ((w >> 2) & UINT64_C(0x3333333333333333));
    w = (w + (w >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (int)((w * UINT64_C(0x0101010101010101)) >> 56);
}
#endif
static inline int fs_lowest(uint64_t w) { return __builtin_ctzll(w); }         /* index of the lowest set bit, w != 0 */
static inline int fs_highest(uint64_t w) { return 63 - __builtin_clzll(w); }   /* index of the highest set bit, w != 0 */
#endif

/* The n lowest set bits, 1 <= n <= how many there are. */
static inline uint64_t fs_lowest_bits(uint64_t w, int n) {
    const uint64_t each = UINT64_C(0x0101010101010101), high = UINT64_C(0x8080808080808080);
    uint64_t sums = w - ((w >> 1) & UINT64_C(0x5555555555555555)), rest;
    int byte, left;
    sums = (sums & UINT64_C(0x3333333333333333)) + ((sums >> 2) & UINT64_C(0x3333333333333333));
    sums = ((sums + (sums >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f)) * each;    /* in a byte: bits in it and below */
    byte = fs_lowest(((sums | high) - (uint64_t)n * each) & high) & ~7;     /* of the n-th bit, times 8 */
    left = n - (int)(((sums << 8) >> byte) & 255);                          /* in it */
    rest = w >> byte;
    while (left-- > 0)
        rest &= rest - 1;
    return w & ~(rest << byte);
}

/* Lines may be narrower than a word only where bytes follow each other from the low end. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define FS_LITTLE_ENDIAN 0
#else
#define FS_LITTLE_ENDIAN 1
#endif

/* Bit i: is the i-th of 8 bytes not 0? */
static inline uint64_t fs_pack(const unsigned char *bytes) {
    uint64_t w;
    memcpy(&w, bytes, 8);
    w |= w >> 4;
    w |= w >> 2;
    w |= w >> 1;
    w &= UINT64_C(0x0101010101010101);          /* a product moves bit 0 of each byte to its place in the highest */
    return w * (FS_LITTLE_ENDIAN ? UINT64_C(0x0102040810204080) : UINT64_C(0x8040201008040201)) >> 56;
}

/* The lowest 8 bits as bytes of 0 or 1. */
static inline void fs_unpack(uint64_t w, unsigned char *bytes) {
    w = (w & 255) * UINT64_C(0x0101010101010101);
    w &= FS_LITTLE_ENDIAN ? UINT64_C(0x8040201008040201) : UINT64_C(0x0102040810204080);    /* each byte its own bit */
    w = ((w + UINT64_C(0x7f7f7f7f7f7f7f7f)) >> 7) & UINT64_C(0x0101010101010101);
    memcpy(bytes, &w, 8);
}

#endif
