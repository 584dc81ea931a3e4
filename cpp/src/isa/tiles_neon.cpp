#define KERNSEL_SET neon_set
#define KERNSEL_SET_NAME "neon"
#include "tiles.inl"
