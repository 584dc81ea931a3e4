// Kernels that depend on the identity of points but not on their distances: a constant, white noise, and noise whose variance
// is a function of the point.
#include "kernels/nodes/functions.hpp"

namespace kernsel {

namespace {

template <class T>
class ConstantStep final : public PlacelessStep<T> {
 public:
  explicit ConstantStep(double value) : value_(static_cast<T>(value)) {}
  Status forward(const Place& at, const T* const*, T* out) const override {
    tile_kernels<T>().fill(at.count(), value_, out);
    return {};
  }
  Status pull_parameters(const Place& at, const T* const*, const T*, const T* W, double* gradient) const override {
    *gradient += static_cast<double>(value_) * tile_kernels<T>().sum(at.count(), W);
    return {};
  }
  bool has_rows() const override { return true; }
  Status pull_rows(const Place& at, const T* const*, const T* value, const T* W, double* rows) const override {
    add_row_products(at, W, value, rows);
    return {};
  }

 private:
  T value_;
};

template <class T>
class WhiteStep final : public PlacelessStep<T> {
 public:
  explicit WhiteStep(double noise) : noise_(static_cast<T>(noise)) {}
  Status forward(const Place& at, const T* const*, T* out) const override {
    tile_kernels<T>().fill(at.count(), at.tile() ? T(0) : noise_, out);
    for (Index r = 0; at.on_diagonal() && r < at.height; ++r) out[r + r * at.height] = noise_;
    return {};
  }
  Status pull_parameters(const Place& at, const T* const*, const T*, const T* W, double* gradient) const override {
    double trace = at.tile() ? 0.0 : tile_kernels<T>().sum(at.count(), W);
    for (Index r = 0; at.on_diagonal() && r < at.height; ++r) trace += static_cast<double>(W[r + r * at.height]);
    *gradient += static_cast<double>(noise_) * trace;
    return {};
  }
  bool has_rows() const override { return true; }
  Status pull_rows(const Place& at, const T* const*, const T* value, const T* W, double* rows) const override {
    add_row_products(at, W, value, rows);
    return {};
  }

 private:
  T noise_;
};

// A node with one positive parameter, and steps that are made from this number.
template <template <class> class StepOf, bool noise>
class NumberNode final : public NodeBase<NumberNode<StepOf, noise>> {
 public:
  NumberNode(const char* name, double value, const char* problem) : name_(name), value_(value), problem_(problem) {}
  Status check(Index) const override { return positive(value_) ? Status{} : Status::invalid(problem_); }
  std::vector<double> theta() const override { return {std::log(value_)}; }
  std::vector<Rule> rules() const override { return {noise ? Rule::noise : Rule::variance}; }
  bool set_theta(const double* values) override {
    value_ = std::exp(*values);
    return true;
  }
  std::string key() const override { return key_of(name_, {value_}); }
  Expression expression() const override { return {name_, {value_}}; }
  bool is_noise() const override { return noise; }
  bool may_overflow() const override { return value_ > 1e15; }
  template <class T>
  std::unique_ptr<Step<T>> make(const Geometry<T>&, Status& status) const {
    status = check_range<T>(value_);
    return std::make_unique<StepOf<T>>(value_);
  }

 private:
  const char* name_;
  double value_;
  const char* problem_;
};

// The variances are computed only for places at which points are paired with themselves.
template <class T>
class NoiseStep final : public LeafStep<T> {
 public:
  NoiseStep(double level, const PointFunction& variance, const Geometry<T>& points, Status& status)
      : level_(static_cast<T>(level)), columns_(points.columns) {
    if (points.part == Part::tile && !points.same) return;
    values_ = std::make_unique<PointValues<T>>(variance, 1, points, status);
    const View<const T> all = values_->all_of_x();
    for (Index r = 0; status.ok() && r < all.rows; ++r)
      if (all(r, 0) < T(0)) status = Status::invalid("noise: the variances must not be negative");
  }
  Status forward(const Place& at, const T* const*, T* out) const override {
    if (at.tile()) tile_kernels<T>().fill(at.count(), T(0), out);
    if (itself(at)) tile_kernels<T>().scale(at.height, level_, values_->of_x(at), out);
    if (!at.on_diagonal()) return {};
    for (Index r = at.height - 1; r > 0; --r) {
      out[r + r * at.height] = out[r];
      out[r] = T(0);
    }
    return {};
  }
  Status pull_parameters(const Place& at, const T* const*, const T* value, const T* W, double* gradient) const override {
    if (itself(at)) *gradient += tile_kernels<T>().dot(at.count(), W, value);
    return {};
  }
  bool has_rows() const override { return true; }
  Status pull_rows(const Place& at, const T* const*, const T* value, const T* W, double* rows) const override {
    add_row_products(at, W, value, rows);
    return {};
  }
  // In a tile, half of the derivative goes to the point as a row of X, and half to it as a row of Z.
  Status pull_points(const Place& at, const T* const*, const T*, const T* W, T* gx, T* gz) const override {
    if (!itself(at)) return {};
    const Index step = at.tile() ? at.height + 1 : 1;
    const T factor = at.tile() ? level_ / T(2) : level_;
    const T* slopes = values_->derivative_of_x(at);
    for (const Index k : columns_)
      for (Index r = 0; r < at.height; ++r) {
        const T change = factor * W[r * step] * *slopes++;
        if (gx) gx[r + k * at.height] += change;
        if (gz) gz[r + k * at.height] += change;
      }
    return {};
  }

 private:
  static bool itself(const Place& at) { return !at.tile() || at.on_diagonal(); }
  T level_;
  std::vector<Index> columns_;
  std::unique_ptr<PointValues<T>> values_;
};

class NoiseNode final : public NodeBase<NoiseNode> {
 public:
  NoiseNode(double level, PointFunction variance) : level_(level), variance_(std::move(variance)) {}
  Status check(Index) const override {
    if (!variance_.value) return Status::invalid("noise: give the variance of each point");
    return positive(level_) ? Status{} : Status::invalid("noise: the level must be positive and finite");
  }
  std::vector<double> theta() const override { return {std::log(level_)}; }
  std::vector<Rule> rules() const override { return {Rule::ratio}; }
  bool set_theta(const double* values) override {
    level_ = std::exp(*values);
    return true;
  }
  bool is_noise() const override { return true; }
  std::string key() const override { return key_of("noise", {level_}) + function_key("", variance_.name, *this); }
  template <class T>
  std::unique_ptr<Step<T>> make(const Geometry<T>& points, Status& status) const {
    return std::make_unique<NoiseStep<T>>(level_, variance_, points, status);
  }

 private:
  double level_;
  PointFunction variance_;
};

}  // namespace

Kernel constant(double value) {
  return Kernel(
      std::make_shared<NumberNode<ConstantStep, false>>("constant", value, "constant: the value must be positive and finite"));
}

Kernel white(double noise) {
  return Kernel(std::make_shared<NumberNode<WhiteStep, true>>("white", noise, "white: the noise must be positive and finite"));
}

Kernel noise(double level, PointFunction variance) { return Kernel(std::make_shared<NoiseNode>(level, std::move(variance))); }

}  // namespace kernsel
