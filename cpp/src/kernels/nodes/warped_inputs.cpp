// k(w(x), w(z)), where w warps each column by Kumaraswamy's distribution function F(u) = 1 - (1 - u^a)^b of its place
// u = (x - lower) / (upper - lower) between two limits: w(x) = lower + (upper - lower) F(u). See Snoek, Swersky, Zemel and
// Adams, "Input warping for Bayesian optimization of non-stationary functions", ICML 2014.
//
// F has a slope of zero or infinity at its ends. Below u = margin and above 1 - margin a straight line continues it, so that w
// increases everywhere and has a derivative, beyond the limits, too.
#include "kernels/nodes/node.hpp"

namespace kernsel {

namespace {

constexpr double margin = 0.01;

struct WarpedNumber {
  double value, slope, in_log_a, in_log_b;
};

WarpedNumber warped(double x, double a, double b, double lower, double upper) {
  const double width = upper - lower, place = (x - lower) / width, u = std::clamp(place, margin, 1.0 - margin);
  const double l = std::log(u), power = std::exp(a * l), rest = -std::expm1(a * l), m = std::log(rest);
  const double slope = a * b * std::exp((a - 1.0) * l + (b - 1.0) * m), beyond = slope * (place - u);
  const double in_log_a = slope * u * l + beyond * (1.0 + a * l - (b - 1.0) * a * l * power / rest);
  const double in_log_b = -b * m * std::exp(b * m) + beyond * (1.0 + b * m);
  return {lower + width * (beyond - std::expm1(b * m)), slope, width * in_log_a, width * in_log_b};
}

// The numbers of all columns; a list of one number has it for all of them.
struct Shapes {
  std::vector<double> a, b, lower, upper;
  static double of(const std::vector<double>& numbers, Index column) {
    return numbers[numbers.size() == 1 ? 0 : static_cast<std::size_t>(column)];
  }
  WarpedNumber at(double x, Index k) const { return warped(x, of(a, k), of(b, k), of(lower, k), of(upper, k)); }
};

template <class T>
class WarpedInputsMap final : public PointMap<T> {
 public:
  WarpedInputsMap(const Shapes& shapes, const Geometry<T>& points, Status& status)
      : shapes_(shapes), columns_(points.columns), same_(points.same) {
    status = assign(points.X, points.block, X_);
    if (status.ok() && !same_) status = assign(points.Z, points.block, Z_);
  }
  View<const T> X() const override { return X_.view(); }
  View<const T> Z() const override { return second().view(); }
  Status pull(const Place& at, const T* mapped_x, const T* mapped_z, double* gradient, T* gx, T* gz) const override {
    const Set& first = at.part == Part::diagonal_of_z ? second() : X_;
    pull_set(mapped_x, first.points.block_data(at.i), at.height, gradient, gx);
    pull_set(mapped_z, second().points.block_data(at.j), at.width, gradient, gz);
    return {};
  }

 private:
  struct Set {
    Points<T> points;       // before the map
    std::vector<T> mapped;  // (n, d), column-major
    Index rows = 0, count = 0;
    View<const T> view() const { return kernsel::columns(mapped.data(), rows, count); }
  };
  const Set& second() const { return same_ ? X_ : Z_; }

  Status assign(View<const T> X, Index block, Set& to) {
    to.rows = X.rows;
    to.count = static_cast<Index>(columns_.size());
    to.mapped.reserve(static_cast<std::size_t>(to.rows * to.count));
    for (Index k = 0; k < to.count; ++k)
      for (Index r = 0; r < X.rows; ++r)
        to.mapped.push_back(
            static_cast<T>(shapes_.at(static_cast<double>(X(r, columns_[static_cast<std::size_t>(k)])), k).value));
    return to.points.assign(X, block, columns_, std::vector<T>(columns_.size(), T(1)));
  }

  // Adds what the derivatives in mapped points, (count, d), mean for the shapes and for the points.
  void pull_set(const T* mapped, const T* points, Index count, double* gradient, T* to) const {
    const std::size_t shapes_a = shapes_.a.size();
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      double in_log_a = 0.0, in_log_b = 0.0;
      for (Index r = 0; r < count; ++r, ++mapped, ++points) {
        const auto weight = static_cast<double>(*mapped);
        if (weight == 0.0) continue;  // as of padding
        const WarpedNumber at = shapes_.at(static_cast<double>(*points), static_cast<Index>(k));
        in_log_a += weight * at.in_log_a;
        in_log_b += weight * at.in_log_b;
        if (to) to[r + columns_[k] * count] += static_cast<T>(weight * at.slope);
      }
      gradient[shapes_a == 1 ? 0 : k] += in_log_a;
      gradient[shapes_a + (shapes_.b.size() == 1 ? 0 : k)] += in_log_b;
    }
  }

  Shapes shapes_;
  std::vector<Index> columns_;
  bool same_;
  Set X_, Z_;
};

class WarpedInputsNode final : public OperationNode<WarpedInputsNode> {
 public:
  WarpedInputsNode(const Kernel& k, Shapes shapes) : shapes_(std::move(shapes)) { children = {k.node()}; }
  Status check(Index columns) const override {
    const auto fits = [&](const std::vector<double>& numbers) {
      return numbers.size() == 1 || static_cast<Index>(numbers.size()) == columns;
    };
    if (!fits(shapes_.a) || !fits(shapes_.b) || !fits(shapes_.lower) || !fits(shapes_.upper))
      return Status::invalid("warped_inputs: expected one number, or one for each column of X");
    for (const auto* shape : {&shapes_.a, &shapes_.b})
      if (!std::all_of(shape->begin(), shape->end(), positive))
        return Status::invalid("warped_inputs: the shapes a and b must be positive and finite");
    for (Index k = 0; k < columns; ++k)
      if (!positive(Shapes::of(shapes_.upper, k) - Shapes::of(shapes_.lower, k)))
        return Status::invalid("warped_inputs: the upper limits must be above the lower ones, and finite");
    return {};
  }
  std::vector<double> theta() const override {
    std::vector<double> all = logarithms(shapes_.a);
    for (const double b : shapes_.b) all.push_back(std::log(b));
    return all;
  }
  std::vector<Rule> rules() const override { return std::vector<Rule>(shapes_.a.size() + shapes_.b.size(), Rule::ratio); }
  bool set_theta(const double* values) override {
    exponentials(exponentials(values, shapes_.a), shapes_.b);
    return true;
  }
  bool maps_points() const override { return true; }
  std::string key() const override {
    return key_of("warped_inputs", numbers()) + std::to_string(shapes_.a.size()) + "," + std::to_string(shapes_.b.size());
  }
  Expression expression() const override {
    return {"warped_inputs", {static_cast<double>(shapes_.a.size()), static_cast<double>(shapes_.b.size())}, numbers()};
  }
  std::unique_ptr<PointMap<float>> map(const Geometry<float>& points, Status& status) const override {
    return std::make_unique<WarpedInputsMap<float>>(shapes_, points, status);
  }
  std::unique_ptr<PointMap<double>> map(const Geometry<double>& points, Status& status) const override {
    return std::make_unique<WarpedInputsMap<double>>(shapes_, points, status);
  }
  std::unique_ptr<Step<float>> bind(const Geometry<float>&, Status&) const override { return nullptr; }
  std::unique_ptr<Step<double>> bind(const Geometry<double>&, Status&) const override { return nullptr; }

 private:
  std::vector<double> numbers() const {
    std::vector<double> all;
    for (const auto* part : {&shapes_.a, &shapes_.b, &shapes_.lower, &shapes_.upper})
      all.insert(all.end(), part->begin(), part->end());
    return all;
  }

  Shapes shapes_;
};

}  // namespace

Kernel warped_inputs(const Kernel& k, std::vector<double> a, std::vector<double> b, std::vector<double> lower,
                     std::vector<double> upper) {
  return Kernel(std::make_shared<WarpedInputsNode>(k, Shapes{std::move(a), std::move(b), std::move(lower), std::move(upper)}));
}

}  // namespace kernsel
