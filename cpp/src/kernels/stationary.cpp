// Kernels of the distance between points.
#include "kernels/metric_leaf.hpp"

namespace kernsel {

namespace {

Kernel stationary(Profile profile, std::vector<double> length_scale, std::vector<double> parameters = {}) {
  const char* problem = length_scale.empty() ? "give one length scale, or one for each column of X" : nullptr;
  for (const double p : parameters)
    if (!positive(p)) problem = "the parameters of the kernel must be positive and finite";
  const bool learned = !parameters.empty();
  const MetricLeaf leaf{Metric::squared_distance, profile, std::move(length_scale), std::move(parameters), learned};
  return Kernel(std::make_shared<MetricNode>(leaf, problem));
}

}  // namespace

Kernel rbf(std::vector<double> length_scale) { return stationary(Profile::rbf, std::move(length_scale)); }
Kernel exponential(std::vector<double> length_scale) { return stationary(Profile::exponential, std::move(length_scale)); }
Kernel matern32(std::vector<double> length_scale) { return stationary(Profile::matern32, std::move(length_scale)); }
Kernel matern52(std::vector<double> length_scale) { return stationary(Profile::matern52, std::move(length_scale)); }

Kernel rational_quadratic(double alpha, std::vector<double> length_scale) {
  return stationary(Profile::rational_quadratic, std::move(length_scale), {alpha});
}

Kernel periodic(double length_scale, std::vector<double> period) {
  return stationary(Profile::periodic, std::move(period), {length_scale});
}

}  // namespace kernsel
