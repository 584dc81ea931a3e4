#define KERNSEL_SET avx2_set
#define KERNSEL_SET_NAME "avx2"
#include "tiles.inl"
