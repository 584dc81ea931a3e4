// The density exp(g), g(x) = log p(y | m + s x) - x^2 / 2, of one latent value for each row: where it is large.
//
// g is largest somewhere between the prior mean and where the observation alone would have f; if log p is not concave there may
// be a maximum near either. From these the integral reaches to where g has fallen by 40.
#pragma once

#include <cmath>
#include <vector>

#include "kernsel/likelihood.hpp"
#include "likelihoods/quadrature.hpp"

namespace kernsel {

// A place x of a row, at which g is known.
struct LatentPlace {
  Index row = 0;
  double x = 0.0, g = 0.0, slope = 0.0, precision = 0.0, curvature = 1.0, first = 0.0;
};

class Tilted {
 public:
  Tilted(const Likelihood& likelihood, const Observations& of, const double* mean, const double* variance)
      : likelihood_(likelihood), of_(of), mean_(mean), deviation_(static_cast<std::size_t>(of.count)) {
    for (Index i = 0; i < of.count; ++i) deviation_[static_cast<std::size_t>(i)] = std::sqrt(variance[i]);
  }

  double deviation(Index row) const { return deviation_[static_cast<std::size_t>(row)]; }
  double width(Index row) const { return 1.0 / std::sqrt(mode(row).curvature); }  // of exp(g)
  const LatentPlace& mode(Index row) const { return mode_[static_cast<std::size_t>(row)]; }
  std::vector<Panel> panels() const { return panels_; }

  Status locate() {
    Status status = climb();
    if (status.ok()) status = reach();
    return status;
  }

  // What the likelihood says at pairs of a row and x, by `call`(observations, f).
  template <class F>
  Status at(Index count, const Index* row, const double* x, const F& call) {
    y_.resize(static_cast<std::size_t>(count));
    f_.resize(y_.size());
    size_.resize(of_.size ? y_.size() : 0);
    for (Index k = 0; k < count; ++k) {
      const auto to = static_cast<std::size_t>(k);
      y_[to] = of_.y[row[k]];
      f_[to] = mean_[row[k]] + deviation(row[k]) * x[k];
      if (of_.size) size_[to] = of_.size[row[k]];
    }
    return call(Observations{count, y_.data(), of_.size ? size_.data() : nullptr}, f_.data());
  }

  Status density(Index count, const Index* row, const double* x, std::vector<Density>& out) {
    out.resize(static_cast<std::size_t>(count));
    return at(count, row, x, [&](const Observations& of, const double* f) { return likelihood_.density(of, f, out.data()); });
  }

 private:
  Status evaluate(std::vector<LatentPlace>& places);
  Status climb();
  Status reach();

  const Likelihood& likelihood_;
  const Observations of_;
  const double* mean_;
  std::vector<double> deviation_;
  std::vector<LatentPlace> lower_, upper_, mode_;  // the lowest, the highest and the best maximum found
  std::vector<Panel> panels_;
  std::vector<double> y_, size_, f_, x_;
  std::vector<Index> rows_;
  std::vector<Density> densities_;
};

}  // namespace kernsel
