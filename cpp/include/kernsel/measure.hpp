// The peak speed of the machine, for comparison in benchmarks.
#pragma once

#include "kernsel/status.hpp"

namespace kernsel {

// rate <- the floating-point operations per second of products of tiles in the cache, on all threads, which bounds the speed of
// the factorization. Takes about a tenth of a second.
template <class T>
Status tile_product_rate(double& rate);

}  // namespace kernsel
