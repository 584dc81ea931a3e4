// What is expected of hyperparameters before the data are seen, as densities of their logarithms.
//
// Most are expected near the start that the data propose (data.hpp), which has their unit, within a factor of a few. The length
// scales of one kernel are expected to be like each other: log l_j = u_j + c + d_j for column j, where u_j is the start that
// the data propose, c is common to all columns, and the d_j are independent and normal, of standard deviation `spread`. The
// smaller the spread, the more a length scale is like that of the other columns; at zero there is one for all, and at infinity
// each is free. The spread itself is expected to be exponential, of mean
// `mean_spread`.
#pragma once

#include <limits>
#include <vector>

#include "kernsel/data.hpp"

namespace kernsel {

class Prior {
 public:
  // An unknown of its own, or its difference from the unknown `than`: normal, or a Cauchy variable, which may be far away.
  struct One {
    Index at;
    Index than = -1;
    double middle = 0.0, width = 1.0;
    bool cauchy = false;
  };
  // The length scales of a kernel. An infinite `width` of the common part c is no expectation of it: the density is then that
  // of the differences alone.
  struct Alike {
    std::vector<Index> at;
    std::vector<double> middle;
    double width = std::numeric_limits<double>::infinity();
  };
  std::vector<One> ones;
  std::vector<Alike> alike;
  double spread = 1.0;
  bool spread_is_given = false;  // nothing is expected then of the spread itself
  static constexpr double mean_spread = 0.5;

  // The log density at x. If they are not empty, its derivatives are subtracted from `gradient`, (count), and the negative
  // second derivatives are added to `curvature`, (count, count), for the Cauchy density by a positive bound of them.
  double log_density(const std::vector<double>& x, std::vector<double>& gradient, std::vector<double>& curvature) const;
  bool empty() const { return ones.empty() && alike.empty(); }
};

// The logarithm of the integral of exp(f) over all x, by Laplace's approximation: f, its negative gradient and its negative
// second derivatives H are given at a point near the maximum. It is NaN if H is not positive definite.
double laplace_near(double log_density, const std::vector<double>& gradient, const std::vector<double>& H);

}  // namespace kernsel
