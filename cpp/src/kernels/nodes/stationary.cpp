// Kernels of the distance between points.
#include "kernels/nodes/metric_leaf.hpp"
#include "kernels/written.hpp"

namespace kernsel {

namespace {

// `name` is the function by which the kernel is written. Before the length scales, it takes `numbers`, followed by the
// parameters.
Kernel stationary(Profile profile, const char* name, std::vector<double> length_scale, std::vector<double> parameters = {},
                  std::vector<double> numbers = {}) {
  const char* problem = length_scale.empty() ? "give one length scale, or one for each column of X" : nullptr;
  for (const double p : parameters)
    if (!positive(p)) problem = "the parameters of the kernel must be positive and finite";
  MetricLeaf leaf{Metric::squared_distance, profile, std::move(length_scale), std::move(parameters)};
  leaf.learned = !leaf.parameters.empty();
  leaf.name = name;
  leaf.numbers = std::move(numbers);
  return Kernel(std::make_shared<MetricNode>(leaf, problem));
}

// A node of its own, since the profile depends on the number of columns that the kernel sees.
class WendlandNode final : public NodeBase<WendlandNode> {
 public:
  WendlandNode(int smoothness, std::vector<double> length_scale)
      : smoothness_(smoothness), length_scale_(std::move(length_scale)) {}
  Status check(Index columns) const override {
    if (smoothness_ < 0 || smoothness_ > 2) return Status::invalid("wendland: the smoothness must be 0, 1 or 2");
    return check_scales(length_scale_, columns);
  }
  std::vector<double> theta() const override { return logarithms(length_scale_); }
  std::vector<Rule> rules() const override { return std::vector<Rule>(length_scale_.size(), Rule::length); }
  bool set_theta(const double* values) override {
    exponentials(values, length_scale_);
    return true;
  }
  std::string key() const override {
    return key_of(smoothness_ == 0 ? "wendland 0" : smoothness_ == 1 ? "wendland 1" : "wendland 2", length_scale_);
  }
  Expression expression() const override { return {"wendland", {static_cast<double>(smoothness_)}, length_scale_}; }
  template <class T>
  std::unique_ptr<Step<T>> make(const Geometry<T>& points, Status& status) const {
    const Profile profiles[] = {Profile::wendland0, Profile::wendland1, Profile::wendland2};
    const double j = static_cast<double>(points.dimension() / 2 + smoothness_ + 1);
    const MetricLeaf leaf{Metric::squared_distance, profiles[smoothness_], length_scale_, {j}};
    return std::make_unique<MetricStep<T>>(leaf, points, status);
  }

 private:
  int smoothness_;
  std::vector<double> length_scale_;
};

}  // namespace

Kernel cosine(std::vector<double> period) {
  const char* problem = period.empty() ? "give one period, or one for each column of X" : nullptr;
  MetricLeaf leaf{Metric::difference, Profile::cosine, std::move(period), {}};
  leaf.name = "cosine";
  return Kernel(std::make_shared<MetricNode>(std::move(leaf), problem));
}

Kernel spectral_mixture(const std::vector<double>& weights, const std::vector<std::vector<double>>& length_scales,
                        const std::vector<std::vector<double>>& periods) {
  const char* problem =
      "spectral_mixture: give one weight, length scale and period, or one for each column, for each component";
  if (weights.empty() || length_scales.size() != weights.size() || periods.size() != weights.size())
    return Kernel(std::make_shared<MetricNode>(MetricLeaf{Metric::difference, Profile::cosine, {}, {}}, problem));
  Kernel sum = weights[0] * (rbf(length_scales[0]) * cosine(periods[0]));
  for (std::size_t q = 1; q < weights.size(); ++q) sum = sum + weights[q] * (rbf(length_scales[q]) * cosine(periods[q]));
  return sum;
}

Kernel wendland(int smoothness, std::vector<double> length_scale) {
  return Kernel(std::make_shared<WendlandNode>(smoothness, std::move(length_scale)));
}

Kernel rbf(std::vector<double> length_scale) { return stationary(Profile::rbf, "rbf", std::move(length_scale)); }

Kernel exponential(std::vector<double> length_scale) {
  return stationary(Profile::exponential, "exponential", std::move(length_scale));
}

Kernel matern32(std::vector<double> length_scale) {
  return stationary(Profile::matern32, "matern", std::move(length_scale), {}, {1.5});
}

Kernel matern52(std::vector<double> length_scale) {
  return stationary(Profile::matern52, "matern", std::move(length_scale), {}, {2.5});
}

Kernel rational_quadratic(double alpha, std::vector<double> length_scale) {
  return stationary(Profile::rational_quadratic, "rational_quadratic", std::move(length_scale), {alpha});
}

Kernel periodic(double length_scale, std::vector<double> period) {
  return stationary(Profile::periodic, "periodic", std::move(period), {length_scale});
}

WrittenFunctions stationary_functions() {
  static const WrittenFunction functions[] = {
      {"rbf", 0, true, 0, [](const Numbers&, const Numbers& l, Kernels) { return rbf(l); }},
      {"exponential", 0, true, 0, [](const Numbers&, const Numbers& l, Kernels) { return exponential(l); }},
      {"rational_quadratic", 1, true, 0,
       [](const Numbers& p, const Numbers& l, Kernels) { return rational_quadratic(p[0], l); }},
      {"periodic", 1, true, 0, [](const Numbers& p, const Numbers& l, Kernels) { return periodic(p[0], l); }},
      {"cosine", 0, true, 0, [](const Numbers&, const Numbers& l, Kernels) { return cosine(l); }},
      {"wendland", 1, true, 0, [](const Numbers& p, const Numbers& l, Kernels) { return wendland(whole(p[0]), l); }},
  };
  return {functions, sizeof(functions) / sizeof(*functions)};
}

}  // namespace kernsel
