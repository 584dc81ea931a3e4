// k(phi(x), phi(z)), where phi is a function that the user gives, or a matrix B whose entries are hyperparameters.
#include "kernels/nodes/functions.hpp"

namespace kernsel {

namespace {

template <class T>
class FunctionMap final : public PointMap<T> {
 public:
  FunctionMap(const PointFunction& phi, Index outputs, const Geometry<T>& points, Status& status)
      : columns_(points.columns), outputs_(outputs), phi_(phi, outputs, points, status) {}
  View<const T> X() const override { return phi_.all_of_x(); }
  View<const T> Z() const override { return phi_.all_of_z(); }
  Status pull(const Place& at, const T* mapped_x, const T* mapped_z, double*, T* gx, T* gz) const override {
    if (gx) add(mapped_x, phi_.derivative_of_x(at), at.height, gx);
    if (gz) add(mapped_z, phi_.derivative_of_z(at), at.width, gz);
    return {};
  }

 private:
  void add(const T* mapped, const T* slopes, Index count, T* to) const {
    for (Index o = 0; o < outputs_; ++o, mapped += count)
      for (const Index k : columns_)
        for (Index r = 0; r < count; ++r) to[r + k * count] += mapped[r] * *slopes++;
  }

  std::vector<Index> columns_;
  Index outputs_;
  PointValues<T> phi_;
};

template <class T>
class MatrixMap final : public PointMap<T> {
 public:
  MatrixMap(const std::vector<double>& B, Index outputs, const Geometry<T>& points, Status& status)
      : columns_(points.columns), B_(B.begin(), B.end()), outputs_(outputs), same_(points.same) {
    status = assign(points.X, points.block, X_);
    if (status.ok() && !same_) status = assign(points.Z, points.block, Z_);
  }
  View<const T> X() const override { return X_.view(); }
  View<const T> Z() const override { return second().view(); }
  Status pull(const Place& at, const T* mapped_x, const T* mapped_z, double* gradient, T* gx, T* gz) const override {
    pull_matrix(mapped_x, X_.points.block_data(at.i), at.height, gradient);
    pull_matrix(mapped_z, second().points.block_data(at.j), at.width, gradient);
    if (gx) add(mapped_x, at.height, gx);
    if (gz) add(mapped_z, at.width, gz);
    return {};
  }

 private:
  struct Set {
    Points<T> points;       // before the map
    std::vector<T> mapped;  // (n, outputs), column-major
    Index rows = 0, outputs = 0;
    View<const T> view() const { return kernsel::columns(mapped.data(), rows, outputs); }
  };
  const Set& second() const { return same_ ? X_ : Z_; }

  Status assign(View<const T> X, Index block, Set& to) {
    const Status status = to.points.assign(X, block, columns_, std::vector<T>(columns_.size(), T(1)));
    if (!status.ok()) return status;
    to.rows = X.rows;
    to.outputs = outputs_;
    to.mapped.assign(static_cast<std::size_t>(X.rows * outputs_), T(0));
    constexpr Index padding = 64 / static_cast<Index>(sizeof(T));
    const auto dimension = static_cast<Index>(columns_.size());
    std::vector<T> turned(B_.size());  // (d, outputs), column-major, which is the order of the rows of B
    std::copy(B_.begin(), B_.end(), turned.begin());
    for (Index first = 0, b = 0; first < X.rows; first += block, ++b) {
      const Index real = std::min(block, X.rows - first), height = round_up(real, padding);
      T* out = scratch<T>(Scratch::step, height * outputs_);
      if (!out) return no_memory();
      std::fill_n(out, height * outputs_, T(0));
      tile_kernels<T>().multiply_nn(height, outputs_, dimension, T(1), to.points.block_data(b), height, turned.data(),
                                    std::max<Index>(dimension, 1), out, height);
      for (Index o = 0; o < outputs_; ++o) std::copy_n(out + o * height, real, to.mapped.data() + first + o * X.rows);
    }
    return {};
  }
  void pull_matrix(const T* mapped, const T* points, Index count, double* gradient) const {
    for (Index o = 0; o < outputs_; ++o)
      for (std::size_t k = 0; k < columns_.size(); ++k)
        *gradient++ += tile_kernels<T>().dot(count, mapped + o * count, points + Index(k) * count);
  }
  void add(const T* mapped, Index count, T* to) const {
    const T* b = B_.data();
    for (Index o = 0; o < outputs_; ++o, mapped += count)
      for (const Index k : columns_) {
        for (Index r = 0; r < count; ++r) to[r + k * count] += mapped[r] * *b;
        ++b;
      }
  }

  std::vector<Index> columns_;
  std::vector<T> B_;  // (outputs, d), row-major
  Index outputs_;
  bool same_;
  Set X_, Z_;
};

template <class Node>
class TransformNode : public OperationNode<Node> {
 public:
  TransformNode(const Kernel& k, Index outputs) : outputs_(outputs) { this->children = {k.node()}; }
  bool maps_points() const override { return true; }
  Index columns_inside(Index) const override { return outputs_; }
  std::unique_ptr<Step<float>> bind(const Geometry<float>&, Status&) const override { return nullptr; }
  std::unique_ptr<Step<double>> bind(const Geometry<double>&, Status&) const override { return nullptr; }

 protected:
  Index outputs_;
};

class FunctionTransformNode final : public TransformNode<FunctionTransformNode> {
 public:
  FunctionTransformNode(const Kernel& k, Index outputs, PointFunction phi) : TransformNode(k, outputs), phi_(std::move(phi)) {}
  Status check(Index) const override {
    return phi_.value && outputs_ > 0 ? Status{} : Status::invalid("transform: give a function and the number of its outputs");
  }
  std::string key() const override { return function_key("transform", phi_.name, *this) + std::to_string(outputs_); }
  std::unique_ptr<PointMap<float>> map(const Geometry<float>& points, Status& status) const override {
    return std::make_unique<FunctionMap<float>>(phi_, outputs_, points, status);
  }
  std::unique_ptr<PointMap<double>> map(const Geometry<double>& points, Status& status) const override {
    return std::make_unique<FunctionMap<double>>(phi_, outputs_, points, status);
  }

 private:
  PointFunction phi_;
};

class MatrixTransformNode final : public TransformNode<MatrixTransformNode> {
 public:
  MatrixTransformNode(const Kernel& k, std::vector<double> B, Index outputs) : TransformNode(k, outputs), B_(std::move(B)) {}
  Status check(Index columns) const override {
    if (outputs_ < 1 || static_cast<Index>(B_.size()) != outputs_ * columns)
      return Status::invalid("transform: the matrix must have one column for each column of X");
    for (const double b : B_)
      if (!std::isfinite(b)) return Status::invalid("transform: the entries of the matrix must be finite");
    return {};
  }
  std::vector<double> theta() const override { return B_; }
  bool set_theta(const double* values) override {
    std::copy_n(values, B_.size(), B_.begin());
    return true;
  }
  std::string key() const override { return key_of("matrix", B_) + std::to_string(outputs_); }
  Expression expression() const override { return {"project", {static_cast<double>(outputs_)}, B_}; }
  std::unique_ptr<PointMap<float>> map(const Geometry<float>& points, Status& status) const override {
    return std::make_unique<MatrixMap<float>>(B_, outputs_, points, status);
  }
  std::unique_ptr<PointMap<double>> map(const Geometry<double>& points, Status& status) const override {
    return std::make_unique<MatrixMap<double>>(B_, outputs_, points, status);
  }

 private:
  std::vector<double> B_;
};

}  // namespace

Kernel transform(const Kernel& k, Index outputs, PointFunction phi) {
  return Kernel(std::make_shared<FunctionTransformNode>(k, outputs, std::move(phi)));
}

Kernel transform(const Kernel& k, std::vector<double> B, Index outputs) {
  return Kernel(std::make_shared<MatrixTransformNode>(k, std::move(B), outputs));
}

Kernel quadratic_form(std::vector<double> B, Index outputs) { return transform(dot_product(0.0), std::move(B), outputs); }

}  // namespace kernsel
