// Leaves that are functions of a squared distance or of an inner product and of nothing else: k = f(sum_k term_k), term_k of
// columns divided by length scales.
#pragma once

#include <string>

#include "kernels/node.hpp"

namespace kernsel {

// 1 / l = factor * rest, factor a power of two, so that to multiply by it is exact, and rest in (1/2, 1].
struct Scaling {
  double factor, rest;
};

inline Scaling scaling_by(double length_scale) {
  int exponent = 0;
  const double mantissa = std::frexp(length_scale, &exponent);  // in [1/2, 1)
  return {std::ldexp(1.0, 1 - exponent), 0.5 / mantissa};
}

// Length scales or periods: one for all columns, or one for each.
inline Status check_scales(const std::vector<double>& scales, Index columns) {
  const auto count = static_cast<Index>(scales.size());
  if (count != 1 && count != columns) return Status::invalid("give one length scale, or one for each column of X");
  for (const double scale : scales)
    if (!positive(scale)) return Status::invalid("length scales and periods must be positive and finite");
  return {};
}

inline std::vector<double> logarithms(const std::vector<double>& values) {
  std::vector<double> logs;
  for (const double value : values) logs.push_back(std::log(value));
  return logs;
}

struct MetricLeaf {
  Metric metric;
  Profile profile;
  std::vector<double> scale;       // length scales: one, or one for each column; none for inner products as they are
  std::vector<double> parameters;  // of the profile
  bool learned = false;            // is the first of them a hyperparameter? It comes before the length scales.
  double exponent = 1.0;           // the hyperparameter is parameters[0]^(1 / exponent)
};

template <class T>
class MetricStep final : public LeafStep<T> {
 public:
  // Each column is divided by the power of two next to its length scale, which is exact, and the rest of the scale is a weight
  // in (1/4, 1]: differences stay correctly rounded, and columns in any unit stay within range.
  MetricStep(const MetricLeaf& leaf, const Geometry<T>& points, Status& status)
      : leaf_(leaf), dimension_(points.dimension()), one_scale_(leaf.scale.size() <= 1), same_(points.same) {
    std::vector<T> factor(static_cast<std::size_t>(dimension_));
    for (std::size_t k = 0; k < factor.size(); ++k) {
      const double l = leaf.scale.empty() ? 1.0 : leaf.scale[one_scale_ ? 0 : k];
      const Scaling scaling = scaling_by(l);
      factor[k] = static_cast<T>(scaling.factor);
      weights_.push_back(static_cast<T>(leaf.metric == Metric::difference ? scaling.rest : scaling.rest * scaling.rest));
    }
    if (one_scale_ && dimension_ > 0) factor_ = weights_[0];
    for (const double p : leaf.parameters) parameters_.push_back(static_cast<T>(p));
    status = X_.assign(points.X, points.block, points.columns, factor);
    if (status.ok() && !same_) status = Z_.assign(points.Z, points.block, points.columns, factor);
  }

  void forward(const TilePlace& at, const T* const*, T* out) const override {
    tile_kernels<T>().metric(leaf_.metric, points(at), factor_, out);
    tile_kernels<T>().profile(leaf_.profile, at.count(), parameters_.data(), out, out);
  }

  // d(term)/dlog(length scale) = -2 term, or -term where the scale stands in it once.
  bool pull_parameters(const TilePlace& at, const T* const*, const T* value, const T* W, double* gradient) const override {
    const TileKernels<T>& kernels = tile_kernels<T>();
    T* S = scratch<T>(Scratch::metric, 2 * at.count());
    if (!S) return false;
    T* G = S + at.count();
    const double power = leaf_.metric == Metric::difference ? 1.0 : 2.0;
    kernels.metric(leaf_.metric, points(at), factor_, S);
    double own = 0.0;
    kernels.profile_pullback(leaf_.profile, at.count(), parameters_.data(), S, value, W, G, &own);
    if (leaf_.learned) *gradient++ += leaf_.exponent * own;
    if (leaf_.scale.size() == 1) {
      *gradient -= power * kernels.dot(at.count(), G, S);
    } else if (!leaf_.scale.empty()) {
      std::vector<double> terms(leaf_.scale.size(), 0.0);
      kernels.metric_pullback(leaf_.metric, points(at), G, terms.data());
      for (const double term : terms) *gradient++ -= power * term;
    }
    return true;
  }

  void diagonal(Index i, Index count, const T* const*, T* out) const override {
    const T* x = X_.block_data(i);
    const PointTile<T> block{count, count, dimension_, x, x, one_scale_ ? nullptr : weights_.data()};
    tile_kernels<T>().metric_diagonal(leaf_.metric, block, factor_, out);
    tile_kernels<T>().profile(leaf_.profile, count, parameters_.data(), out, out);
  }

 private:
  PointTile<T> points(const TilePlace& at) const {
    const T* x = X_.block_data(at.i);
    const T* z = (same_ ? X_ : Z_).block_data(at.j);
    return {at.height, at.width, dimension_, x, z, one_scale_ ? nullptr : weights_.data()};
  }

  MetricLeaf leaf_;
  Index dimension_;
  bool one_scale_, same_;
  T factor_ = T(1);
  std::vector<T> weights_, parameters_;
  Points<T> X_, Z_;
};

class MetricNode final : public NodeBase<MetricNode> {
 public:
  // `problem`: what is wrong with the parameters, or nullptr.
  MetricNode(MetricLeaf leaf, const char* problem) : leaf_(std::move(leaf)), problem_(problem) {}

  Status check(Index columns) const override {
    if (problem_) return Status::invalid(problem_);
    return leaf_.scale.empty() ? Status{} : check_scales(leaf_.scale, columns);
  }
  bool may_overflow() const override { return leaf_.profile == Profile::polynomial; }
  std::vector<double> theta() const override {
    std::vector<double> logs = logarithms(leaf_.scale);
    if (leaf_.learned) logs.insert(logs.begin(), std::log(leaf_.parameters[0]) / leaf_.exponent);
    return logs;
  }
  template <class T>
  std::unique_ptr<Step<T>> make(const Geometry<T>& points, Status& status) const {
    return std::make_unique<MetricStep<T>>(leaf_, points, status);
  }

 private:
  MetricLeaf leaf_;
  const char* problem_;
};

}  // namespace kernsel
