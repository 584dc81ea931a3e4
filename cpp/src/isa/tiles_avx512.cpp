#define KERNSEL_SET avx512_set
#define KERNSEL_SET_NAME "avx512"
#include "tiles.inl"
