// A kernel of levels that have an order: a Matern kernel of their positions on a line, whose distances are parameters.
#include "kernels/nodes/levels.hpp"

namespace kernsel {

namespace {

// m(|t_i - t_j|), t_0 = 0, t_i = t_(i-1) + gaps_(i-1), where m is the Matern kernel of smoothness nu with length scale 1.
struct OrderedLevels {
  double nu;
  std::vector<double> gaps, positions;

  OrderedLevels(double smoothness, std::vector<double> distances) : nu(smoothness), gaps(std::move(distances)) { place(); }
  void place() {
    positions.assign(1, 0.0);
    for (const double gap : gaps) positions.push_back(positions.back() + gap);
  }
  Index levels() const { return static_cast<Index>(positions.size()); }
  double distance(Index i, Index j) const {
    return std::abs(positions[static_cast<std::size_t>(i)] - positions[static_cast<std::size_t>(j)]);
  }
  double value(Index i, Index j) const {
    const double r = distance(i, j);
    if (nu == 0.5) return std::exp(-r);
    if (nu == 1.5) return (1.0 + std::sqrt(3.0) * r) * std::exp(-std::sqrt(3.0) * r);
    if (nu == 2.5) return (1.0 + std::sqrt(5.0) * r + 5.0 / 3.0 * r * r) * std::exp(-std::sqrt(5.0) * r);
    return std::exp(-0.5 * r * r);
  }
  double slope(double r) const {  // m'(r)
    if (nu == 0.5) return -std::exp(-r);
    if (nu == 1.5) return -3.0 * r * std::exp(-std::sqrt(3.0) * r);
    if (nu == 2.5) return -5.0 / 3.0 * r * (1.0 + std::sqrt(5.0) * r) * std::exp(-std::sqrt(5.0) * r);
    return -r * std::exp(-0.5 * r * r);
  }
  void pull(Index i, Index j, double weight, double* gradient, Index stride) const {
    const double factor = weight * slope(distance(i, j));
    for (Index k = std::min(i, j); k < std::max(i, j); ++k) gradient[k * stride] += factor * gaps[static_cast<std::size_t>(k)];
  }
  Status check() const {
    if (nu != 0.5 && nu != 1.5 && nu != 2.5 && nu != HUGE_VAL)
      return Status::invalid("ordered_levels: nu must be 1/2, 3/2, 5/2 or infinity");
    if (gaps.empty()) return Status::invalid("ordered_levels: expected the gaps between two levels at least");
    for (const double gap : gaps)
      if (!positive(gap)) return Status::invalid("ordered_levels: the gaps must be positive and finite");
    return {};
  }
  std::vector<double> theta() const { return logarithms(gaps); }
  std::vector<Rule> rules() const { return std::vector<Rule>(gaps.size(), Rule::ratio); }
  void set_theta(const double* values) {
    exponentials(values, gaps);
    place();
  }
  // Infinity is no number of JSON; 0 stands for it there.
  Expression expression() const { return {"ordered_levels", {nu == HUGE_VAL ? 0.0 : nu}, gaps}; }
};

}  // namespace

Kernel ordered_levels(double nu, std::vector<double> gaps) {
  return Kernel(std::make_shared<LevelNode<OrderedLevels>>(OrderedLevels(nu, std::move(gaps))));
}

}  // namespace kernsel
