#define KERNSEL_SET base_set
#define KERNSEL_SET_NAME "base"
#include "tiles.inl"
