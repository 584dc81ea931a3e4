// Kernels whose values the user gives, by a matrix or a function.
#include "kernels/nodes/functions.hpp"

namespace kernsel {

namespace {

// A point is the number of a row of the matrix.
template <class T>
class PrecomputedStep final : public LeafStep<T> {
 public:
  PrecomputedStep(View<const double> K, const Geometry<T>& points, Status& status)
      : K_(K), block_(points.block), same_(points.same) {
    status = assign(points.X, points.columns[0], X_);
    if (status.ok() && !same_) status = assign(points.Z, points.columns[0], Z_);
  }
  Status forward(const Place& at, const T* const*, T* out) const override {
    const std::vector<Index>& of_z = same_ ? X_ : Z_;
    const Index* x = (at.part == Part::diagonal_of_z ? of_z : X_).data() + at.i * block_;
    const Index* z = of_z.data() + at.j * block_;
    for (Index c = 0; c < at.width; ++c)
      for (Index r = 0; r < at.height; ++r) out[r + c * at.height] = static_cast<T>(K_(x[r], at.tile() ? z[c] : x[r]));
    return {};
  }
  Status pull_parameters(const Place&, const T* const*, const T*, const T*, double*) const override { return {}; }
  Status pull_points(const Place&, const T* const*, const T*, const T*, T*, T*) const override {
    return Status::invalid("a precomputed kernel has no gradient in the points");
  }

 private:
  Status assign(View<const T> X, Index column, std::vector<Index>& to) const {
    to.assign(static_cast<std::size_t>(round_up(X.rows, 16)), 0);
    for (Index r = 0; r < X.rows; ++r) {
      const auto value = static_cast<double>(X(r, column));
      if (!(value >= 0.0 && value < static_cast<double>(K_.rows)) || value != std::floor(value))
        return Status::invalid("precomputed: points must be whole numbers, the numbers of rows of the matrix");
      to[static_cast<std::size_t>(r)] = static_cast<Index>(value);
    }
    return {};
  }

  View<const double> K_;
  Index block_;
  bool same_;
  std::vector<Index> X_, Z_;
};

class PrecomputedNode final : public NodeBase<PrecomputedNode> {
 public:
  PrecomputedNode(View<const double> K, std::shared_ptr<const void> owner) : K_(K), owner_(std::move(owner)) {}
  Status check(Index columns) const override {
    if (K_.rows != K_.cols || K_.rows == 0) return Status::invalid("precomputed: the matrix must be square");
    return columns == 1 ? Status{} : Status::invalid("precomputed: points must have one column, the number of a row; see on()");
  }
  std::vector<double> theta() const override { return {}; }
  std::string key() const override {
    std::string key = "precomputed " + std::to_string(reinterpret_cast<std::uintptr_t>(K_.data));
    for (const Index number : {K_.rows, K_.row_stride, K_.col_stride}) key += " " + std::to_string(number);
    return key;
  }
  Expression expression() const override {
    Expression written{"precomputed", {static_cast<double>(K_.rows)}};
    for (Index i = 0; i < K_.rows; ++i)
      for (Index j = 0; j < K_.cols; ++j) written.list.push_back(K_(i, j));
    return written;
  }
  template <class T>
  std::unique_ptr<Step<T>> make(const Geometry<T>& points, Status& status) const {
    return std::make_unique<PrecomputedStep<T>>(K_, points, status);
  }

 private:
  View<const double> K_;
  std::shared_ptr<const void> owner_;
};

template <class T>
class FunctionStep final : public LeafStep<T> {
 public:
  FunctionStep(const KernelFunction& function, const Geometry<T>& points)
      : function_(function),
        columns_(points.columns),
        block_(points.block),
        same_(points.same),
        X_(points.X, points.columns),
        Z_(points.same ? points.X.block(0, 0, 0, 0) : points.Z, points.columns),
        steps_(X_.steps()) {}

  Status forward(const Place& at, const T* const*, T* out) const override {
    const View<const double> x = block_of(at.part == Part::diagonal_of_z ? second() : X_, at.i);
    const View<const double> z = at.tile() ? block_of(second(), at.j) : x;
    std::vector<double> K;
    const bool alone = !at.tile() && function_.diagonal;
    const Status status = alone ? call_diagonal(x, K) : call(x, z, K);
    if (!status.ok()) return status;
    tile_kernels<T>().fill(at.count(), T(0), out);
    if (alone) {
      std::transform(K.begin(), K.end(), out, [](double value) { return static_cast<T>(value); });
      return {};
    }
    if (!at.tile()) {
      for (Index r = 0; r < x.rows; ++r) out[r] = static_cast<T>(K[static_cast<std::size_t>(r + r * x.rows)]);
      return {};
    }
    // In a diagonal tile, the lower triangle is copied to the upper one, so that the result is symmetric to the last bit.
    for (Index c = 0; c < z.rows; ++c)
      for (Index r = 0; r < x.rows; ++r) {
        const Index i = at.on_diagonal() && r < c ? c + r * x.rows : r + c * x.rows;
        out[r + c * at.height] = static_cast<T>(K[static_cast<std::size_t>(i)]);
      }
    return {};
  }

  Status pull_parameters(const Place& at, const T* const*, const T*, const T* W, double* gradient) const override {
    if (function_.theta.empty()) return {};
    const View<const double> x = block_of(at.part == Part::diagonal_of_z ? second() : X_, at.i);
    const View<const double> z = at.tile() ? block_of(second(), at.j) : x;
    const std::vector<double> weights = plain_weights(at, W, x.rows, z.rows);
    return call_out([&] { function_.pullback(x, z, columns(weights.data(), x.rows, z.rows), gradient); });
  }

  Status pull_points(const Place& at, const T* const*, const T*, const T* W, T* gx, T* gz) const override {
    const View<const double> x = block_of(at.part == Part::diagonal_of_z ? second() : X_, at.i);
    const View<const double> z = at.tile() ? block_of(second(), at.j) : x;
    const std::vector<double> weights = plain_weights(at, W, x.rows, z.rows);
    if (gx) {
      const Status status = differences(
          x, [&](View<const double> moved, std::vector<double>& K) { return call(moved, at.tile() ? z : moved, K); },
          [&](Index r, std::size_t k, const std::vector<double>& slopes) {
            double sum = 0.0;
            for (Index c = 0; c < z.rows; ++c)
              sum += weights[std::size_t(r + c * x.rows)] * slopes[std::size_t(r + c * x.rows)];
            gx[r + columns_[k] * at.height] += static_cast<T>(sum);
          });
      if (!status.ok()) return status;
    }
    if (!gz) return {};
    return differences(
        z, [&](View<const double> moved, std::vector<double>& K) { return call(x, moved, K); },
        [&](Index c, std::size_t k, const std::vector<double>& slopes) {
          double sum = 0.0;
          for (Index r = 0; r < x.rows; ++r) sum += weights[std::size_t(r + c * x.rows)] * slopes[std::size_t(r + c * x.rows)];
          gz[c + columns_[k] * at.width] += static_cast<T>(sum);
        });
  }

 private:
  const PlainPoints<T>& second() const { return same_ ? X_ : Z_; }
  View<const double> block_of(const PlainPoints<T>& points, Index i) const {
    const View<const double> all = points.view();
    return all.block(i * block_, 0, std::min(block_, all.rows - i * block_), all.cols);
  }
  Status call(View<const double> x, View<const double> z, std::vector<double>& K) const {
    K.resize(static_cast<std::size_t>(x.rows * z.rows));
    return finite(call_out([&] { function_.value(x, z, columns(K.data(), x.rows, z.rows)); }), K);
  }
  Status call_diagonal(View<const double> x, std::vector<double>& K) const {
    K.resize(static_cast<std::size_t>(x.rows));
    return finite(call_out([&] { function_.diagonal(x, columns(K.data(), x.rows, 1)); }), K);
  }
  static Status finite(const Status& status, const std::vector<double>& K) {
    for (std::size_t i = 0; status.ok() && i < K.size(); ++i)
      if (!std::isfinite(K[i])) return Status::invalid("the function of a kernel returned a number that is not finite");
    return status;
  }
  static std::vector<double> plain_weights(const Place& at, const T* W, Index n, Index m) {
    std::vector<double> weights(static_cast<std::size_t>(n * m), 0.0);
    for (Index c = 0; c < (at.tile() ? m : 1); ++c)
      for (Index r = 0; r < n; ++r)
        weights[static_cast<std::size_t>(r + (at.tile() ? c : r) * n)] = static_cast<double>(W[r + c * at.height]);
    return weights;
  }
  // Calls use(point, column, dK) for all points and columns, where dK has the derivatives of the values in that column, by
  // central differences.
  template <class Evaluate, class Use>
  Status differences(View<const double> points, const Evaluate& evaluate, const Use& use) const {
    std::vector<double> moved(static_cast<std::size_t>(points.rows * points.cols)), slopes;
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      const auto along = [&](double h, std::vector<double>& K) {
        for (Index r = 0; r < points.rows; ++r)
          for (Index c = 0; c < points.cols; ++c)
            moved[static_cast<std::size_t>(r * points.cols + c)] = points(r, c) + (c == static_cast<Index>(k) ? h : 0.0);
        return evaluate(rows(static_cast<const double*>(moved.data()), points.rows, points.cols), K);
      };
      const Status status = evaluate(points, slopes);  // this call sets the size of `slopes`
      if (!status.ok()) return status;
      const Status done = central_differences(along, steps_[k], slopes);
      if (!done.ok()) return done;
      for (Index r = 0; r < points.rows; ++r) use(r, k, slopes);
    }
    return {};
  }

  const KernelFunction& function_;  // owned by the node
  std::vector<Index> columns_;
  Index block_;
  bool same_;
  PlainPoints<T> X_, Z_;
  std::vector<double> steps_;
};

class FunctionNode final : public NodeBase<FunctionNode> {
 public:
  explicit FunctionNode(KernelFunction function) : function_(std::move(function)) {}
  Status check(Index) const override {
    const bool complete = function_.value && (function_.theta.empty() || function_.pullback);
    return complete ? Status{} : Status::invalid("function: give the value, and the gradient if there are parameters");
  }
  std::vector<double> theta() const override { return function_.theta; }
  std::string key() const override { return key_of("function", function_.theta) + function_key("", function_.name, *this); }
  template <class T>
  std::unique_ptr<Step<T>> make(const Geometry<T>& points, Status&) const {
    return std::make_unique<FunctionStep<T>>(function_, points);
  }

 private:
  KernelFunction function_;
};

}  // namespace

Kernel precomputed(View<const double> K, std::shared_ptr<const void> owner) {
  return Kernel(std::make_shared<PrecomputedNode>(K, std::move(owner)));
}

Kernel function(KernelFunction f) { return Kernel(std::make_shared<FunctionNode>(std::move(f))); }

}  // namespace kernsel
