// What is added to the diagonal of a matrix that is positive definite but for rounding, so that its Cholesky factor exists.
//
// The one policy, wherever the library adds any: what rounding makes of n x n entries, and where that is not enough ten times
// as much, up to five times over. Then the matrix is not positive definite, and an error says so. Nothing is added without
// being reported: by the choice (`Choice::jitter`) and by estimators (`jitter_`).
#pragma once

#include <algorithm>

#include "kernsel/status.hpp"

namespace kernsel {

// What to begin with, relative to the diagonal: 4 n^(1/2) eps. Rounding errors of n x n entries add up to a matrix of norm
// n^(1/2) eps or so, not to the n eps of the worst case.
double least_jitter(Index n);

constexpr int most_raises = 5;  // of the jitter, by ten each

// Calls attempt(), which uses `jitter`, and again with more of it as long as that helps.
template <class F>
Status with_jitter(double& jitter, double least, const F& attempt) {
  Status status = attempt();
  for (int raised = 0; raised < most_raises && status.code == Code::not_positive_definite; ++raised) {
    jitter = 10.0 * std::max(jitter, least);
    status = attempt();
  }
  return status;
}

}  // namespace kernsel
