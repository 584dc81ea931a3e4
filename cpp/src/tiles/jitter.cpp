#include "kernsel/jitter.hpp"

#include <cmath>
#include <limits>

namespace kernsel {

double least_jitter(Index n) { return 4.0 * std::sqrt(static_cast<double>(n)) * std::numeric_limits<double>::epsilon(); }

}  // namespace kernsel
