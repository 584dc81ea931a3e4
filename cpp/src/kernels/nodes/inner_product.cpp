// Kernels of the inner product of points.
#include "kernels/nodes/metric_leaf.hpp"

namespace kernsel {

Kernel polynomial(double offset, int degree, std::vector<double> length_scale) {
  const char* problem = !(offset >= 0.0) || !std::isfinite(offset) ? "polynomial: the offset must be finite and not negative"
                        : degree < 1 || degree > 100 ? "polynomial: the degree must be a whole number from 1 to 100"
                                                     : nullptr;
  MetricLeaf leaf{Metric::inner_product, Profile::polynomial, std::move(length_scale), {offset, static_cast<double>(degree)}};
  leaf.learned = offset > 0.0;
  leaf.name = "polynomial";
  return Kernel(std::make_shared<MetricNode>(leaf, problem));
}

Kernel dot_product(double sigma, std::vector<double> length_scale) {
  const char* problem = sigma >= 0.0 && std::isfinite(sigma) ? nullptr : "dot_product: sigma must be finite and not negative";
  MetricLeaf leaf{Metric::inner_product, Profile::polynomial, std::move(length_scale), {sigma * sigma, 1.0}};
  leaf.learned = sigma > 0.0;
  leaf.exponent = 2.0;
  leaf.name = "dot_product";
  return Kernel(std::make_shared<MetricNode>(leaf, problem));
}

Kernel sigmoid(double offset, std::vector<double> length_scale) {
  const char* problem = std::isfinite(offset) ? nullptr : "sigmoid: the offset must be finite";
  MetricLeaf leaf{Metric::inner_product, Profile::sigmoid, std::move(length_scale), {offset}};
  leaf.learned = true;
  leaf.plain = true;
  leaf.name = "sigmoid";
  return Kernel(std::make_shared<MetricNode>(leaf, problem));
}

}  // namespace kernsel
