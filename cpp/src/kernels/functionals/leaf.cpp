#include "kernels/functionals/leaf.hpp"

#include <cmath>
#include <string_view>

#include "kernels/functionals/averages.hpp"

namespace kernsel {

namespace {

// Length scales or periods: one, or one for each column.
class Scales {
 public:
  explicit Scales(std::vector<double> values) : values_(std::move(values)) {}
  double operator[](std::size_t k) const { return values_.empty() ? 1.0 : values_[values_.size() == 1 ? 0 : k]; }
  // Adds a derivative in the logarithm of the k-th one.
  void add(const Sums& to, Index first, std::size_t k, double value) const {
    if (!values_.empty()) to.add(first + (values_.size() == 1 ? 0 : static_cast<Index>(k)), value);
  }

 private:
  std::vector<double> values_;
};

double middle(const Functional& of, Index column) { return 0.5 * (of.lower[column] + of.upper[column]); }

// f(s), s the squared distance divided by length scales.
class RadialLeaf : public Leaf {
 public:
  enum class Shape : std::uint8_t { rbf, exponential, matern32, matern52, rational_quadratic };

  RadialLeaf(Shape shape, double alpha, std::vector<double> scales, std::vector<Index> columns)
      : Leaf(std::move(columns)), shape_(shape), alpha_(alpha), scales_(std::move(scales)) {}

  Jet value(const Functional& x, const Functional& z, Jet*) const override {
    const Jet s = square(x, z);
    return compose(taylor(s.v), s);
  }
  void pull(const Functional& x, const Functional& z, const Jet& W, Jet*, const Sums& to) const override {
    const Jet s = square(x, z);
    const Taylor f = taylor(s.v);
    const Jet of_s = pull_composed(W, f, s);
    const bool learned = shape_ == Shape::rational_quadratic;
    if (learned) to.add(0, dot(W, compose(in_log_alpha(s.v, f), s)));
    const Index first = learned ? 1 : 0;
    const std::size_t i = place_of(x.along), j = place_of(z.along);
    for (std::size_t k = 0; k < count(); ++k) {
      const double difference = (x.lower[columns()[k]] - z.lower[columns()[k]]) / scales_[k];
      double sum = of_s.v * difference * difference;
      if (k == i) sum += of_s.x * s.x;
      if (k == j) sum += of_s.z * s.z;
      if (k == i && k == j) sum += of_s.xz * s.xz;
      scales_.add(to, first, k, -2.0 * sum);
    }
  }
  bool differentiable() const override { return shape_ != Shape::exponential; }

 private:
  Jet square(const Functional& x, const Functional& z) const {
    Jet s;
    const std::size_t i = place_of(x.along), j = place_of(z.along);
    for (std::size_t k = 0; k < count(); ++k) {
      const double difference = (x.lower[columns()[k]] - z.lower[columns()[k]]) / scales_[k];
      s.v += difference * difference;
      if (k == i) s.x = 2.0 * difference / scales_[k];
      if (k == j) s.z = -2.0 * difference / scales_[k];
      if (k == i && k == j) s.xz = -2.0 / (scales_[k] * scales_[k]);
    }
    return s;
  }

  // Derivatives that are infinite for s = 0 are zero there: ds/dx is, too, and the product goes to zero.
  Taylor taylor(double s) const {
    if (shape_ == Shape::rbf) {
      const double f = std::exp(-0.5 * s);
      return {f, -0.5 * f, 0.25 * f, -0.125 * f};
    }
    if (shape_ == Shape::rational_quadratic) {
      const double base = 1.0 + s / (2.0 * alpha_), f = std::pow(base, -alpha_);
      const double f1 = -0.5 * f / base, f2 = -0.5 * f1 * (alpha_ + 1.0) / (alpha_ * base);
      return {f, f1, f2, -0.5 * f2 * (alpha_ + 2.0) / (alpha_ * base)};
    }
    const double a = std::sqrt((shape_ == Shape::exponential ? 1.0 : shape_ == Shape::matern32 ? 3.0 : 5.0) * s);
    const double e = std::exp(-a), inverse = a > 0.0 ? 1.0 / a : 0.0;
    if (shape_ == Shape::exponential) return {e, -0.5 * inverse * e, 0.0, 0.0};
    if (shape_ == Shape::matern32)
      return {(1.0 + a) * e, -1.5 * e, 2.25 * inverse * e, -3.375 * (1.0 + a) * inverse * inverse * inverse * e};
    return {(1.0 + a + a * a / 3.0) * e, -5.0 / 6.0 * (1.0 + a) * e, 25.0 / 12.0 * e, -125.0 / 24.0 * inverse * e};
  }

  // The derivatives of the rational quadratic kernel and of its first two derivatives with respect to log alpha.
  Taylor in_log_alpha(double s, const Taylor& f) const {
    const double base = 1.0 + s / (2.0 * alpha_), log = alpha_ * std::log(base), ratio = s / (2.0 * alpha_ * base);
    return {f.g * (alpha_ * ratio - log), f.g1 * ((alpha_ + 1.0) * ratio - log),
            f.g2 * ((alpha_ + 2.0) * ratio - log - 1.0 / (alpha_ + 1.0)), 0.0};
  }

  Shape shape_;
  double alpha_;
  Scales scales_;
};

// prod_k m((x_k - z_k) / l_k), for which averages over boxes are products of averages over intervals.
class ProductLeaf final : public Leaf {
 public:
  ProductLeaf(LineKernel kernel, std::vector<double> scales, std::vector<Index> columns)
      : Leaf(columns),
        kernel_(kernel),
        scales_(scales),
        radial_(RadialLeaf::Shape::rbf, 0.0, std::move(scales), std::move(columns)) {}

  Jet value(const Functional& x, const Functional& z, Jet* room) const override {
    if (is_radial(x, z)) return radial_.value(x, z, room);
    double plain = 1.0;
    Jet product{1.0, 0.0, 0.0, 0.0};
    for (std::size_t k = 0; k < count(); ++k) {
      const Factor of = factor(x, z, k);
      if (of.plain)
        plain *= of.value.v;
      else
        product = product * of.value;
    }
    return plain * product;
  }
  void pull(const Functional& x, const Functional& z, const Jet& W, Jet* room, const Sums& to) const override {
    if (is_radial(x, z)) return radial_.pull(x, z, W, room, to);
    // At most two factors have derivatives. All others are positive numbers, or zero if they underflow.
    Factor special[2];
    std::size_t place[2] = {0, 0}, specials = 0;
    double plain = 1.0;
    for (std::size_t k = 0; k < count(); ++k) {
      const Factor of = factor(x, z, k);
      if (of.plain) {
        plain *= of.value.v;
        room[k].v = of.value.v > 0.0 ? of.in_log_length.v / of.value.v : 0.0;  // the derivative of its logarithm
      } else {
        room[k].v = 0.0;
        place[specials] = k;
        special[specials++] = of;
      }
    }
    const Jet one{1.0, 0.0, 0.0, 0.0};
    const Jet first = specials > 0 ? special[0].value : one, second = specials > 1 ? special[1].value : one;
    const double all = plain * dot(W, first * second);
    for (std::size_t k = 0; k < count(); ++k) scales_.add(to, 0, k, all * room[k].v);
    for (std::size_t s = 0; s < specials; ++s)
      scales_.add(to, 0, place[s], plain * dot(pull_factor(W, s == 0 ? second : first), special[s].in_log_length));
  }
  bool differentiable() const override { return kernel_ != LineKernel::matern12; }
  bool integrable() const override { return true; }

 private:
  struct Factor {
    Jet value = {}, in_log_length = {};
    bool plain = true;  // without derivatives
  };
  bool is_radial(const Functional& x, const Functional& z) const { return kernel_ == LineKernel::rbf && !x.boxed && !z.boxed; }
  Factor factor(const Functional& x, const Functional& z, std::size_t k) const {
    const Index column = columns()[k];
    const bool by_x = x.along == column, by_z = z.along == column;
    const LineAverages all = line_averages(kernel_, scales_[k], {x.lower[column], x.upper[column]},
                                           {z.lower[column], z.upper[column]}, (by_x ? 1 : 0) + (by_z ? 1 : 0));
    const auto jet = [&](const double* of) {
      return Jet{of[0], by_x ? of[1] : 0.0, by_z ? -of[1] : 0.0, by_x && by_z ? -of[2] : 0.0};
    };
    return {jet(all.mean), jet(all.in_log_length), !by_x && !by_z};
  }

  LineKernel kernel_;
  Scales scales_;
  RadialLeaf radial_;
};

// (offset + x'z)^degree, columns divided by length scales; the dot product is of degree 1 and has averages.
class InnerLeaf final : public Leaf {
 public:
  // `in_log` is the derivative of the offset in the logarithm of the hyperparameter; zero if there is none.
  InnerLeaf(double offset, double in_log, int degree, std::vector<double> scales, std::vector<Index> columns)
      : Leaf(std::move(columns)), offset_(offset), in_log_(in_log), degree_(degree), scales_(std::move(scales)) {}

  Jet value(const Functional& x, const Functional& z, Jet*) const override {
    const Jet u = inner(x, z);
    return compose(taylor(u.v), u);
  }
  void pull(const Functional& x, const Functional& z, const Jet& W, Jet*, const Sums& to) const override {
    const Jet u = inner(x, z), of_u = pull_composed(W, taylor(u.v), u);
    if (in_log_ > 0.0) to.add(0, in_log_ * of_u.v);
    for (std::size_t k = 0; k < count(); ++k) scales_.add(to, in_log_ > 0.0 ? 1 : 0, k, -2.0 * dot(of_u, term(x, z, k)));
  }
  bool integrable() const override { return degree_ == 1; }

 private:
  Jet term(const Functional& x, const Functional& z, std::size_t k) const {
    const Index column = columns()[k];
    const double a = middle(x, column) / scales_[k], b = middle(z, column) / scales_[k];
    const double in_a = x.along == column ? 1.0 / scales_[k] : 0.0, in_b = z.along == column ? 1.0 / scales_[k] : 0.0;
    return {a * b, in_a * b, a * in_b, in_a * in_b};
  }
  Jet inner(const Functional& x, const Functional& z) const {
    Jet sum{offset_, 0.0, 0.0, 0.0};
    for (std::size_t k = 0; k < count(); ++k) sum += term(x, z, k);
    return sum;
  }
  Taylor taylor(double u) const {
    double g[4] = {1.0, 0.0, 0.0, 0.0};
    for (int i = 0; i < degree_; ++i)  // times u, once more
      for (int r = 3; r >= 0; --r) g[r] = g[r] * u + (r > 0 ? r * g[r - 1] : 0.0);
    return {g[0], g[1], g[2], g[3]};
  }

  double offset_, in_log_;
  int degree_;
  Scales scales_;
};

// cos t, t = 2 pi sum_k (x_k - z_k) / p_k; or, with a length scale l and one column, exp((cos t - 1) / l^2), the periodic
// kernel.
class WaveLeaf final : public Leaf {
 public:
  // A length scale of zero stands for none.
  WaveLeaf(double length_scale, std::vector<double> periods, std::vector<Index> columns)
      : Leaf(std::move(columns)), length_scale_(length_scale), periods_(std::move(periods)) {}

  Jet value(const Functional& x, const Functional& z, Jet*) const override {
    const Jet t = turn(x, z);
    return length_scale_ > 0.0 ? compose(exponential(t.v), exponent(t)) : compose(cosine(t.v), t);
  }
  void pull(const Functional& x, const Functional& z, const Jet& W, Jet*, const Sums& to) const override {
    const Jet t = turn(x, z);
    Jet of_cosine = W;
    if (length_scale_ > 0.0) {
      const Jet inside = exponent(t), of_inside = pull_composed(W, exponential(t.v), inside);
      to.add(0, -2.0 * dot(of_inside, inside));
      of_cosine = 1.0 / (length_scale_ * length_scale_) * of_inside;
    }
    const Jet of_t = pull_composed(of_cosine, cosine(t.v), t);
    for (std::size_t k = 0; k < count(); ++k) periods_.add(to, length_scale_ > 0.0 ? 1 : 0, k, -dot(of_t, term(x, z, k)));
  }

 private:
  Jet term(const Functional& x, const Functional& z, std::size_t k) const {
    const Index column = columns()[k];
    const double one = 6.283185307179586 / periods_[k];
    return {one * (x.lower[column] - z.lower[column]), x.along == column ? one : 0.0, z.along == column ? -one : 0.0, 0.0};
  }
  Jet turn(const Functional& x, const Functional& z) const {
    Jet sum;
    for (std::size_t k = 0; k < count(); ++k) sum += term(x, z, k);
    return sum;
  }
  static Taylor cosine(double t) {
    const double c = std::cos(t), s = std::sin(t);
    return {c, -s, -c, s};
  }
  // (cos t - 1) / l^2, where the difference is -2 sin(t / 2)^2 to all digits.
  Jet exponent(const Jet& t) const {
    Taylor one_less = cosine(t.v);
    one_less.g = -2.0 * std::sin(0.5 * t.v) * std::sin(0.5 * t.v);
    return 1.0 / (length_scale_ * length_scale_) * compose(one_less, t);
  }
  Taylor exponential(double t) const {
    const double half = std::sin(0.5 * t) / length_scale_, e = std::exp(-2.0 * half * half);
    return {e, e, e, e};
  }

  double length_scale_;
  Scales periods_;
};

}  // namespace

std::unique_ptr<Leaf> make_leaf(const Expression& written, bool learned, std::vector<Index> columns) {
  using Shape = RadialLeaf::Shape;
  const std::string_view name = written.name ? written.name : "";
  const std::vector<double>& scales = written.list;
  const auto radial = [&](Shape shape, double alpha = 0.0) {
    return std::make_unique<RadialLeaf>(shape, alpha, scales, columns);
  };
  const auto product = [&](LineKernel kernel) { return std::make_unique<ProductLeaf>(kernel, scales, columns); };
  const double first = written.numbers.empty() ? 0.0 : written.numbers[0];
  const bool product_matern = name == "product_matern", one_column = columns.size() == 1;
  if (name == "rbf") return product(LineKernel::rbf);
  if (product_matern || (one_column && (name == "matern" || name == "exponential"))) {
    const double nu = name == "exponential" ? 0.5 : first;
    if (nu == 0.5) return product(LineKernel::matern12);
    if (nu == 1.5) return product(LineKernel::matern32);
    if (nu == 2.5) return product(LineKernel::matern52);
    return nullptr;
  }
  if (name == "exponential") return radial(Shape::exponential);
  if (name == "matern" && first == 1.5) return radial(Shape::matern32);
  if (name == "matern" && first == 2.5) return radial(Shape::matern52);
  if (name == "rational_quadratic") return radial(Shape::rational_quadratic, first);
  if (name == "dot_product")  // whose hyperparameter is the root of the offset
    return std::make_unique<InnerLeaf>(first * first, learned ? 2.0 * first * first : 0.0, 1, scales, columns);
  if (name == "polynomial")
    return std::make_unique<InnerLeaf>(first, learned ? first : 0.0, static_cast<int>(written.numbers[1]), scales, columns);
  if (name == "cosine") return std::make_unique<WaveLeaf>(0.0, scales, columns);
  if (name == "periodic" && one_column) return std::make_unique<WaveLeaf>(first, scales, columns);
  return nullptr;
}

}  // namespace kernsel
