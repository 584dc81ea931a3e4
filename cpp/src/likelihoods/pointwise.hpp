// Likelihoods of one formula for each row. T says for one row
//
//     const char* fault(y, size)                    what is wrong with y, or nullptr
//     double rough_at(y, size)                      f for y
//     Density density_at(y, size, f)
//     Conditional conditional_at(f, size)
//     double probability_at(y, f, size)             of values up to y
//
// and, unless what is below is right, const char* size_fault(size) and DensitySlope slope_at(y, size, f, parameter).
#pragma once

#include "likelihoods/rows.hpp"

namespace kernsel {

// The mean and the variance of y given f.
struct Conditional {
  double mean = 0.0, variance = 0.0;
};

template <class T>
class Pointwise : public Likelihood {
 public:
  Status check(const Observations& of) const override {
    const Status sizes = check_sizes(of.count, of.size);
    if (!sizes.ok()) return sizes;
    for (Index i = 0; i < of.count; ++i) {
      const char* fault = self().fault(of.y[i], of.size_of(i));
      if (fault) return wrong_row(i, of.y[i], fault);
    }
    return {};
  }

  Status check_sizes(Index count, const double* size) const override {
    for (Index i = 0; size && i < count; ++i)
      if (const char* fault = self().size_fault(size[i])) return wrong_row(i, size[i], fault);
    return {};
  }

  Status rough(const Observations& of, double* f) const override {
    return for_rows(of.count, 20.0, [&](Index i) { f[i] = self().rough_at(of.y[i], of.size_of(i)); });
  }

  Status density(const Observations& of, const double* f, Density* out) const override {
    return for_rows(of.count, 50.0, [&](Index i) { out[i] = self().density_at(of.y[i], of.size_of(i), f[i]); });
  }

  Status density_slope(const Observations& of, const double* f, Index p, DensitySlope* out) const override {
    return for_rows(of.count, 50.0, [&](Index i) { out[i] = self().slope_at(of.y[i], of.size_of(i), f[i], p); });
  }

  Status conditional(const Latent& at, double* mean, double* variance) const override {
    return for_rows(at.count, 50.0, [&](Index i) {
      const Conditional of = self().conditional_at(at.f[i], at.size_of(i));
      mean[i] = of.mean;
      variance[i] = of.variance;
    });
  }

  Status probability(const Latent& at, const double* y, double* out) const override {
    return for_rows(at.count, 200.0, [&](Index i) { out[i] = self().probability_at(y[i], at.f[i], at.size_of(i)); });
  }

  const char* size_fault(double) const { return nullptr; }
  DensitySlope slope_at(double, double, double, Index) const { return {}; }

 private:
  const T& self() const { return static_cast<const T&>(*this); }
};

}  // namespace kernsel
