// Inducing points: a part of the kernel matrix that is of low rank, and exact between all points.
//
// With landmarks Z, K_ZZ = L L' and the features F = k(X, Z) L^-T, Q = F F' is what the function's values at the landmarks say
// of the kernel matrix. The function is F u + e, where u has unit variances, and e has the covariance K - Q. So features are
// columns of a trend whose coefficients u are known to be of unit variance, and neighbours are needed for e only.
//
// The diagonal of K_ZZ is multiplied by 1 + `jitter`, so that L exists for landmarks that are near to each other. No Q is
// wrong: with more jitter, a little more is left to the neighbours.
#pragma once

#include <vector>

#include "kernsel/kernel.hpp"
#include "tiles/point_rows.hpp"

namespace kernsel {

class Inducing {
 public:
  static constexpr double jitter = 1e-8;

  // Takes the coordinates of landmarks, (any number, columns), by rows.
  void set(std::vector<double> landmarks, Index columns);
  bool empty() const { return landmarks_.empty(); }
  Index count() const { return columns_ > 0 ? static_cast<Index>(landmarks_.size()) / columns_ : 0; }
  const std::vector<double>& landmarks() const { return landmarks_; }

  // Computes L for a kernel, to which all other functions refer.
  Status factorize(const Kernel& k);
  // Writes the features at the rows of X: one row of `count()` numbers for each, `stride` apart.
  Status write(const Kernel& k, View<const double> X, double* out, Index stride) const;
  // Overwrites G = dJ/dF, (n, count), tiled, by dJ/dk(X, Z) = G L^-1.
  Status pull_rows(PointRows& G) const;
  // gradient += the derivatives with respect to the parameters, given the features F, the first of each row, and G = dJ/dF,
  // which is overwritten. J must depend on F F' only. If there is memory for it, (n, d), of_points += the derivatives in the
  // points, for landmarks that do not move.
  Status pull(const Kernel& k, View<const double> X, const PointRows& F, PointRows& G, std::vector<double>& gradient,
              View<double> of_points) const;

  View<const double> points() const { return rows(landmarks_.data(), count(), columns_); }

 private:
  std::vector<double> landmarks_;
  Index columns_ = 0;
  PointRows inverse_, inverse_transposed_;  // L^-1 and L^-T, by columns
};

}  // namespace kernsel
