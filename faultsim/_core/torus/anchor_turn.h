/* A type of the word loops of listed shapes (anchor_maps.h). */
#ifndef FAULTSIM_ANCHOR_TURN_H
#define FAULTSIM_ANCHOR_TURN_H
#include <stdint.h>

/* A turn along one axis: bit i comes from bit i + right where `low` is set, and from bit i - left where `high` is. */
typedef struct { const uint64_t *low, *high; int64_t right, left; } fs_turn_t;
#endif
