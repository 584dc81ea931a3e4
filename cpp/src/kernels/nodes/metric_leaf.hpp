// Kernels that are functions of one squared distance, inner product or signed difference: k = f(sum_k term_k), where the
// columns are divided by length scales.
#pragma once

#include "kernels/nodes/node.hpp"

namespace kernsel {

// 1 / l = factor * rest, where factor is a power of two, so that multiplication by it is exact, and rest is in (1/2, 1].
struct Scaling {
  double factor, rest;
};

inline Scaling scaling_by(double length_scale) {
  int exponent = 0;
  const double mantissa = std::frexp(length_scale, &exponent);  // in [1/2, 1)
  return {std::ldexp(1.0, 1 - exponent), 0.5 / mantissa};
}

// Checks length scales or periods: there must be one for all columns, or one for each.
inline Status check_scales(const std::vector<double>& scales, Index columns) {
  const auto count = static_cast<Index>(scales.size());
  if (count != 1 && count != columns) return Status::invalid("give one length scale, or one for each column of X");
  for (const double scale : scales)
    if (!positive(scale)) return Status::invalid("length scales and periods must be positive and finite");
  return {};
}

struct MetricLeaf {
  Metric metric;
  Profile profile;
  std::vector<double> scale;       // length scales: one, one for each column, or none
  std::vector<double> parameters;  // parameters of the profile
  bool learned = false;            // parameters[0] is a hyperparameter, the first in theta
  double exponent = 1.0;           // the hyperparameter is parameters[0]^(1 / exponent)
  bool plain = false;              // the hyperparameter is parameters[0] itself, which may be negative
  // The written form: the function of kernel.hpp that makes this kernel, and the numbers that it takes before the parameters.
  const char* name = nullptr;
  std::vector<double> numbers = {};
};

// Points, each column divided by the greatest power of two up to its length scale, which is exact. The rest of the length scale
// is a weight in (1/4, 1], or (1/2, 1] for differences. Differences are then correctly rounded, and columns in any unit stay
// within the range of T.
template <class T>
class Metrics {
 public:
  Metrics(Metric metric, const std::vector<double>& scale, const Geometry<T>& points, Status& status)
      : metric_(metric), columns_(points.columns), one_scale_(scale.size() <= 1) {
    factors_.resize(columns_.size());
    for (std::size_t k = 0; k < factors_.size(); ++k) {
      const Scaling scaling = scaling_by(scale.empty() ? 1.0 : scale[one_scale_ ? 0 : k]);
      factors_[k] = static_cast<T>(scaling.factor);
      weights_.push_back(static_cast<T>(metric == Metric::difference ? scaling.rest : scaling.rest * scaling.rest));
    }
    if (one_scale_ && !columns_.empty()) factor_ = weights_[0];
    status = points_.assign(points, factors_);
  }

  void forward(const Place& at, T* S) const {
    if (at.tile())
      tile_kernels<T>().metric(metric_, place(at), factor_, S);
    else
      tile_kernels<T>().metric_diagonal(metric_, place(at), factor_, S);
  }

  // Adds dJ/dlog l for G = dJ/dS; `scales` is their number. If there is one l, S is proportional to l^-power, so that dS/dlog l
  // = -power S; otherwise S is not read.
  void pull_scales(const Place& at, const T* S, const T* G, std::size_t scales, double* gradient) const {
    const double power = metric_ == Metric::difference ? 1.0 : 2.0;
    if (scales == 1) {
      *gradient -= power * tile_kernels<T>().dot(at.count(), G, S);
    } else if (scales > 1 && at.tile()) {
      std::vector<double> terms(scales, 0.0);
      tile_kernels<T>().metric_pullback(metric_, place(at), G, terms.data());
      for (const double term : terms) *gradient++ -= power * term;
    } else if (scales > 1 && metric_ == Metric::inner_product) {
      const PointTile<T> block = place(at);
      for (std::size_t k = 0; k < scales; ++k) {
        const T* x = block.X + static_cast<Index>(k) * at.height;
        double term = 0.0;
        for (Index r = 0; r < at.height; ++r) term += static_cast<double>(G[r]) * static_cast<double>(x[r] * x[r]);
        gradient[k] -= power * term * static_cast<double>(weights_[k]);
      }
    }
  }

  // As pull_scales, but with separate sums for each row of a tile.
  void pull_scale_rows(const Place& at, const T* S, const T* G, std::size_t scales, T* room, double* rows) const {
    const double power = metric_ == Metric::difference ? 1.0 : 2.0;
    std::fill_n(room, at.height * static_cast<Index>(std::max<std::size_t>(scales, 1)), T(0));
    if (scales == 1) {
      for (Index c = 0; c < at.width; ++c)
        for (Index r = 0; r < at.height; ++r) room[r] += G[r + c * at.height] * S[r + c * at.height];
    } else if (scales > 1) {
      tile_kernels<T>().metric_rows(metric_, place(at), G, room);
    }
    for (Index i = 0; i < at.height * static_cast<Index>(scales); ++i) rows[i] -= power * static_cast<double>(room[i]);
  }

  // Adds dJ/dx and dJ/dz for G = dJ/dS; `room` has the size of a tile.
  Status pull_points(const Place& at, const T* G, T* room, T* gx, T* gz) const {
    const Index most = std::max(at.height, at.width), dimension = static_cast<Index>(columns_.size());
    T* terms = scratch<T>(Scratch::step, most * dimension);
    if (!terms) return no_memory();
    const PointTile<T> tile = place(at);
    if (!at.tile()) {
      if (metric_ != Metric::inner_product || !gx) return {};
      for (Index k = 0; k < dimension; ++k)  // d(x'x) = 2 x
        for (Index r = 0; r < at.height; ++r) terms[r + k * at.height] = T(2) * weight(k) * G[r] * tile.X[r + k * at.height];
      add(at.height, T(1), terms, gx);
      return {};
    }
    const T one = one_scale_ ? factor_ : T(1);
    if (gx) {
      tile_kernels<T>().metric_points(metric_, tile, G, terms);
      add(at.height, one, terms, gx);
    }
    if (gz) {
      const PointTile<T> turned{tile.width, tile.height, dimension, tile.Z, tile.X, tile.weights};
      tile_kernels<T>().transpose(at.height, at.width, G, at.height, room, at.width);
      tile_kernels<T>().metric_points(metric_, turned, room, terms);
      add(at.width, metric_ == Metric::difference ? -one : one, terms, gz);
    }
    return {};
  }

 private:
  PointTile<T> place(const Place& at) const { return points_.at(at, one_scale_ ? nullptr : weights_.data()); }
  T weight(Index k) const { return weights_[static_cast<std::size_t>(k)]; }
  void add(Index count, T factor, const T* terms, T* to) const {
    for (std::size_t k = 0; k < columns_.size(); ++k, terms += count)
      for (Index r = 0; r < count; ++r) to[r + columns_[k] * count] += factor * factors_[k] * terms[r];
  }

  Metric metric_;
  std::vector<Index> columns_;
  bool one_scale_;
  T factor_ = T(1);
  std::vector<T> factors_, weights_;
  LeafPoints<T> points_;
};

template <class T>
class MetricStep final : public LeafStep<T> {
 public:
  MetricStep(const MetricLeaf& leaf, const Geometry<T>& points, Status& status)
      : leaf_(leaf),
        metrics_(leaf.metric, leaf.scale, points, status),
        parameters_(leaf.parameters.begin(), leaf.parameters.end()) {}

  Status forward(const Place& at, const T* const*, T* out) const override {
    metrics_.forward(at, out);
    tile_kernels<T>().profile(leaf_.profile, at.count(), parameters_.data(), out, out);
    return {};
  }
  Status pull_parameters(const Place& at, const T* const*, const T* value, const T* W, double* gradient) const override {
    T* S = scratch<T>(Scratch::metric, 2 * at.count());
    if (!S) return no_memory();
    const double own = pull_profile(at, value, W, S, S + at.count());
    if (leaf_.learned) *gradient++ += leaf_.exponent * own;
    metrics_.pull_scales(at, S, S + at.count(), leaf_.scale.size(), gradient);
    return {};
  }
  bool has_rows() const override { return true; }
  Status pull_rows(const Place& at, const T* const*, const T* value, const T* W, double* rows) const override {
    T* S = scratch<T>(Scratch::metric, 2 * at.count());
    T* room = scratch<T>(Scratch::step, std::max(2 * at.count(), at.height * static_cast<Index>(leaf_.scale.size() + 1)));
    if (!S || !room) return no_memory();
    T* G = S + at.count();
    if (leaf_.learned) {
      pull_own_rows(at, W, S, room, rows);
      rows += at.height;
    }
    pull_profile(at, value, W, S, G);
    metrics_.pull_scale_rows(at, S, G, leaf_.scale.size(), room, rows);
    return {};
  }
  Status pull_points(const Place& at, const T* const*, const T* value, const T* W, T* gx, T* gz) const override {
    T* S = scratch<T>(Scratch::metric, 2 * at.count());
    if (!S) return no_memory();
    pull_profile(at, value, W, S, S + at.count());
    return metrics_.pull_points(at, S + at.count(), S, gx, gz);
  }

 private:
  // Computes S and G = W df/dS. Returns the derivative in log parameters[0], or in parameters[0] itself if `plain`.
  double pull_profile(const Place& at, const T* value, const T* W, T* S, T* G) const {
    double own = 0.0;
    // S is not needed if the slope follows from the value, as for the squared exponential, and the gradients in several length
    // scales follow from the points.
    if (leaf_.profile != Profile::rbf || leaf_.scale.size() == 1) metrics_.forward(at, S);
    tile_kernels<T>().profile_pullback(leaf_.profile, at.count(), parameters_.data(), S, value, W, G, &own);
    return own;
  }

  // The derivative in parameters[0] for each row, by central differences, since profiles compute it only for whole tiles.
  void pull_own_rows(const Place& at, const T* W, T* S, T* room, double* rows) const {
    const T step = std::cbrt(std::numeric_limits<T>::epsilon());
    std::vector<T> moved = parameters_;
    metrics_.forward(at, S);
    const T size = leaf_.plain ? std::max(std::abs(moved[0]), T(1)) : moved[0];
    for (const T sign : {T(1), T(-1)}) {
      moved[0] = parameters_[0] + sign * step * size;
      T* value = room + (sign > T(0) ? 0 : at.count());
      tile_kernels<T>().profile(leaf_.profile, at.count(), moved.data(), S, value);
    }
    const double factor = leaf_.exponent / static_cast<double>(2 * step * (leaf_.plain ? size : T(1)));
    for (Index c = 0; c < at.width; ++c)
      for (Index r = 0; r < at.height; ++r) {
        const Index i = r + c * at.height;
        rows[r] += factor * static_cast<double>(W[i] * (room[i] - room[at.count() + i]));
      }
  }

  MetricLeaf leaf_;
  Metrics<T> metrics_;
  std::vector<T> parameters_;
};

class MetricNode final : public NodeBase<MetricNode> {
 public:
  // `problem` tells what is wrong with the parameters, or is nullptr.
  MetricNode(MetricLeaf leaf, const char* problem) : leaf_(std::move(leaf)), problem_(problem) {}

  const MetricLeaf& leaf() const { return leaf_; }
  const char* problem() const { return problem_; }
  Status check(Index columns) const override {
    if (problem_) return Status::invalid(problem_);
    return leaf_.scale.empty() ? Status{} : check_scales(leaf_.scale, columns);
  }
  bool may_overflow() const override { return leaf_.profile == Profile::polynomial; }
  std::vector<double> theta() const override {
    std::vector<double> all = logarithms(leaf_.scale);
    const double first = leaf_.parameters.empty() ? 0.0 : leaf_.parameters[0];
    if (leaf_.learned) all.insert(all.begin(), leaf_.plain ? first : std::log(first) / leaf_.exponent);
    return all;
  }
  std::vector<Rule> rules() const override {
    const bool inner = leaf_.metric == Metric::inner_product;
    const bool periods = leaf_.profile == Profile::periodic || leaf_.metric == Metric::difference;
    std::vector<Rule> all(leaf_.scale.size(), inner ? Rule::size : periods ? Rule::period : Rule::length);
    // The constant of a linear kernel has the unit of the points, unless these are divided by length scales.
    const bool norm = leaf_.exponent != 1.0 && leaf_.scale.empty();
    if (leaf_.learned) all.insert(all.begin(), leaf_.plain ? Rule::signed_number : norm ? Rule::norm : Rule::ratio);
    return all;
  }
  bool set_theta(const double* values) override {
    if (leaf_.learned) {
      leaf_.parameters[0] = leaf_.plain ? *values : std::exp(*values * leaf_.exponent);
      ++values;
    }
    exponentials(values, leaf_.scale);
    return true;
  }
  std::string key() const override {
    // The key also has what determines gradients, since kernels of equal values may differ in their hyperparameters.
    std::vector<double> numbers{double(leaf_.metric),  double(leaf_.profile), double(leaf_.scale.size()),
                                double(leaf_.learned), leaf_.exponent,        double(leaf_.plain)};
    numbers.insert(numbers.end(), leaf_.scale.begin(), leaf_.scale.end());
    numbers.insert(numbers.end(), leaf_.parameters.begin(), leaf_.parameters.end());
    return key_of("metric", numbers);
  }
  Expression expression() const override {
    if (leaf_.exponent != 1.0) return {leaf_.name, {std::sqrt(leaf_.parameters[0])}, leaf_.scale};  // dot_product(sigma)
    std::vector<double> numbers = leaf_.numbers;
    numbers.insert(numbers.end(), leaf_.parameters.begin(), leaf_.parameters.end());
    return {leaf_.name, std::move(numbers), leaf_.scale};
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
