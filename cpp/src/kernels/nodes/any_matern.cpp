// Matern kernels of any smoothness: of the distance, or products over the columns.
#include "kernels/nodes/matern_table.hpp"
#include "kernels/nodes/metric_leaf.hpp"

namespace kernsel {

namespace {

template <class T>
class AnyMaternStep final : public LeafStep<T> {
 public:
  AnyMaternStep(double nu, const std::vector<double>& scale, const Geometry<T>& points, Status& status)
      : nu_(nu),
        table_(MaternTable::of(nu)),
        scales_(scale.size()),
        metrics_(Metric::squared_distance, scale, points, status) {}

  Status forward(const Place& at, const T* const*, T* out) const override {
    metrics_.forward(at, out);
    for (Index i = 0; i < at.count(); ++i) out[i] = static_cast<T>(table_->log_value(argument(out[i])));
    tile_kernels<T>().profile(Profile::exp, at.count(), nullptr, out, out);
    return {};
  }
  Status pull_parameters(const Place& at, const T* const*, const T* value, const T* W, double* gradient) const override {
    T* S = scratch<T>(Scratch::metric, 2 * at.count());
    if (!S) return no_memory();
    pull_value(at, value, W, S, S + at.count());
    metrics_.pull_scales(at, S, S + at.count(), scales_, gradient);
    return {};
  }
  Status pull_points(const Place& at, const T* const*, const T* value, const T* W, T* gx, T* gz) const override {
    T* S = scratch<T>(Scratch::metric, 2 * at.count());
    if (!S) return no_memory();
    pull_value(at, value, W, S, S + at.count());
    return metrics_.pull_points(at, S + at.count(), S, gx, gz);
  }

 private:
  double argument(T s) const { return std::sqrt(2.0 * nu_ * static_cast<double>(s)); }
  // Computes S and G = W df/dS. Where S is 0, the slope may be infinite; G is 0 there, as for all profiles.
  void pull_value(const Place& at, const T* value, const T* W, T* S, T* G) const {
    metrics_.forward(at, S);
    for (Index i = 0; i < at.count(); ++i) {
      const double slope = S[i] > T(0) ? -static_cast<double>(value[i]) * std::exp(table_->log_rate(argument(S[i]))) : 0.0;
      G[i] = static_cast<T>(static_cast<double>(W[i]) * slope);
    }
  }

  double nu_;
  std::shared_ptr<const MaternTable> table_;
  std::size_t scales_;
  Metrics<T> metrics_;
};

template <class T>
class AnyProductMaternStep final : public LeafStep<T> {
 public:
  AnyProductMaternStep(double nu, const std::vector<double>& scale, const Geometry<T>& points, Status& status)
      : nu_(nu), table_(MaternTable::of(nu)), one_scale_(scale.size() == 1), columns_(points.columns) {
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      const Scaling scaling = scaling_by(scale[one_scale_ ? 0 : k]);
      factors_.push_back(static_cast<T>(scaling.factor));
      weights_.push_back(std::sqrt(2.0 * nu) * scaling.rest);
    }
    status = points_.assign(points, factors_);
  }

  Status forward(const Place& at, const T* const*, T* out) const override {
    tile_kernels<T>().fill(at.count(), T(0), out);
    if (at.tile()) {
      each(at, [&](std::size_t k, Index i, double difference, Index, Index) {
        out[i] += static_cast<T>(table_->log_value(weights_[k] * std::abs(difference)));
      });
    }
    tile_kernels<T>().profile(Profile::exp, at.count(), nullptr, out, out);
    return {};
  }
  // Adds dJ/dlog l_k, by a f'(a) / f = -(a^2 / nu) rate and da/dlog l_k = -a, where log rate is MaternTable::log_rate.
  Status pull_parameters(const Place& at, const T* const*, const T* value, const T* W, double* gradient) const override {
    if (!at.tile()) return {};
    each(at, [&](std::size_t k, Index i, double difference, Index, Index) {
      const double a = weights_[k] * std::abs(difference);
      if (a > 0.0)
        gradient[one_scale_ ? 0 : k] += double(W[i]) * double(value[i]) * a * a / nu_ * std::exp(table_->log_rate(a));
    });
    return {};
  }
  Status pull_points(const Place& at, const T* const*, const T* value, const T* W, T* gx, T* gz) const override {
    if (!at.tile()) return {};
    each(at, [&](std::size_t k, Index i, double difference, Index r, Index c) {
      const double a = weights_[k] * std::abs(difference);
      if (a == 0.0) return;
      const double slope = -weights_[k] * weights_[k] * difference / nu_ * std::exp(table_->log_rate(a));
      const auto change = static_cast<T>(double(W[i]) * double(value[i]) * slope) * factors_[k];
      if (gx) gx[r + columns_[k] * at.height] += change;
      if (gz) gz[c + columns_[k] * at.width] -= change;
    });
    return {};
  }

 private:
  // Calls f(column of the points, index in the tile, difference of the coordinates, row, column) for all elements.
  template <class F>
  void each(const Place& at, const F& f) const {
    const PointTile<T> tile = points_.at(at, nullptr);
    for (std::size_t k = 0; k < columns_.size(); ++k)
      for (Index c = 0; c < at.width; ++c)
        for (Index r = 0; r < at.height; ++r)
          f(k, r + c * at.height, double(tile.X[r + Index(k) * at.height]) - double(tile.Z[c + Index(k) * at.width]), r, c);
  }

  double nu_;
  std::shared_ptr<const MaternTable> table_;
  bool one_scale_;
  std::vector<Index> columns_;
  std::vector<T> factors_;
  std::vector<double> weights_;
  LeafPoints<T> points_;
};

template <template <class> class StepOf>
class AnyMaternNode final : public NodeBase<AnyMaternNode<StepOf>> {
 public:
  AnyMaternNode(const char* name, double nu, std::vector<double> scale) : name_(name), nu_(nu), scale_(std::move(scale)) {}
  Status check(Index columns) const override {
    if (!(nu_ >= MaternTable::smallest_nu && nu_ <= MaternTable::largest_nu))
      return Status::invalid("matern: nu must be from 1e-6 to 100 (the squared exponential is the limit)");
    return check_scales(scale_, columns);
  }
  std::vector<double> theta() const override { return logarithms(scale_); }
  std::vector<Rule> rules() const override { return std::vector<Rule>(scale_.size(), Rule::length); }
  bool set_theta(const double* values) override {
    exponentials(values, scale_);
    return true;
  }
  std::string key() const override {
    std::vector<double> numbers = scale_;
    numbers.push_back(nu_);
    return key_of(name_, numbers);
  }
  Expression expression() const override { return {name_, {nu_}, scale_}; }
  template <class T>
  std::unique_ptr<Step<T>> make(const Geometry<T>& points, Status& status) const {
    return std::make_unique<StepOf<T>>(nu_, scale_, points, status);
  }

 private:
  const char* name_;
  double nu_;
  std::vector<double> scale_;
};

}  // namespace

Kernel matern(double nu, std::vector<double> length_scale) {
  if (nu == 0.5) return exponential(std::move(length_scale));
  if (nu == 1.5) return matern32(std::move(length_scale));
  if (nu == 2.5) return matern52(std::move(length_scale));
  if (nu == HUGE_VAL) return rbf(std::move(length_scale));
  return Kernel(std::make_shared<AnyMaternNode<AnyMaternStep>>("matern", nu, std::move(length_scale)));
}

Kernel any_product_matern(double nu, std::vector<double> length_scale) {
  return Kernel(std::make_shared<AnyMaternNode<AnyProductMaternStep>>("product_matern", nu, std::move(length_scale)));
}

}  // namespace kernsel
