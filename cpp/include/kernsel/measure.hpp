// The machine's own limit, to measure against.
#pragma once

#include "kernsel/status.hpp"

namespace kernsel {

// rate <- floating-point operations a second of products of tiles that stay in the cache, on all threads: what the
// factorization would reach if it were nothing else. Takes about a tenth of a second.
template <class T>
Status tile_product_rate(double& rate);

}  // namespace kernsel
