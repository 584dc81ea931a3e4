// Products of one-dimensional Matern kernels of smoothness 1/2, 3/2 and 5/2.
#include "kernels/nodes/metric_leaf.hpp"

namespace kernsel {

namespace {

template <class T>
class ProductMaternStep final : public LeafStep<T> {
 public:
  ProductMaternStep(MaternOrder order, const std::vector<double>& length_scale, const Geometry<T>& points, Status& status)
      : order_(order), columns_(points.columns), one_scale_(length_scale.size() == 1) {
    const double slope = std::sqrt(order == MaternOrder::half ? 1.0 : order == MaternOrder::three_halves ? 3.0 : 5.0);
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      const Scaling scaling = scaling_by(length_scale[one_scale_ ? 0 : k]);
      factors_.push_back(static_cast<T>(scaling.factor));
      weights_.push_back(static_cast<T>(slope * scaling.rest));
    }
    status = points_.assign(points, factors_);
  }

  Status forward(const Place& at, const T* const*, T* out) const override {
    if (at.tile())
      tile_kernels<T>().product_matern(order_, points_.at(at, weights_.data()), out);
    else
      tile_kernels<T>().fill(at.count(), T(1), out);
    return {};
  }
  Status pull_parameters(const Place& at, const T* const*, const T* value, const T* W, double* gradient) const override {
    if (!at.tile()) return {};
    std::vector<double> each(columns_.size(), 0.0);
    tile_kernels<T>().product_matern_pullback(order_, points_.at(at, weights_.data()), W, value, each.data());
    for (std::size_t k = 0; k < each.size(); ++k) gradient[one_scale_ ? 0 : k] += each[k];
    return {};
  }
  bool has_rows() const override { return true; }
  Status pull_rows(const Place& at, const T* const*, const T* value, const T* W, double* rows) const override {
    const Index count = at.height * static_cast<Index>(columns_.size());
    T* each = scratch<T>(Scratch::step, count);
    if (!each) return no_memory();
    tile_kernels<T>().product_matern_rows(order_, points_.at(at, weights_.data()), W, value, each);
    for (Index i = 0; i < count; ++i) rows[one_scale_ ? i % at.height : i] += static_cast<double>(each[i]);
    return {};
  }
  Status pull_points(const Place& at, const T* const*, const T* value, const T* W, T* gx, T* gz) const override {
    if (!at.tile()) return {};
    const auto dimension = static_cast<Index>(columns_.size());
    T* W_turned = scratch<T>(Scratch::metric, 2 * at.count());
    T* terms = scratch<T>(Scratch::step, std::max(at.height, at.width) * dimension);
    if (!W_turned || !terms) return no_memory();
    T* K_turned = W_turned + at.count();
    const TileKernels<T>& kernels = tile_kernels<T>();
    const PointTile<T> tile = points_.at(at, weights_.data());
    if (gx) {
      kernels.product_matern_points(order_, tile, W, value, terms);
      add(at.height, terms, gx);
    }
    if (gz) {
      kernels.transpose(at.height, at.width, W, at.height, W_turned, at.width);
      kernels.transpose(at.height, at.width, value, at.height, K_turned, at.width);
      const PointTile<T> turned{tile.width, tile.height, dimension, tile.Z, tile.X, tile.weights};
      kernels.product_matern_points(order_, turned, W_turned, K_turned, terms);
      add(at.width, terms, gz);
    }
    return {};
  }

 private:
  void add(Index count, const T* terms, T* to) const {
    for (std::size_t k = 0; k < columns_.size(); ++k, terms += count)
      for (Index r = 0; r < count; ++r) to[r + columns_[k] * count] += factors_[k] * terms[r];
  }

  MaternOrder order_;
  std::vector<Index> columns_;
  bool one_scale_;
  std::vector<T> factors_, weights_;
  LeafPoints<T> points_;
};

class ProductMaternNode final : public NodeBase<ProductMaternNode> {
 public:
  ProductMaternNode(MaternOrder order, std::vector<double> length_scale)
      : order_(order), length_scale_(std::move(length_scale)) {}
  Status check(Index columns) const override { return check_scales(length_scale_, columns); }
  std::vector<double> theta() const override { return logarithms(length_scale_); }
  std::vector<Rule> rules() const override { return std::vector<Rule>(length_scale_.size(), Rule::length); }
  bool set_theta(const double* values) override {
    exponentials(values, length_scale_);
    return true;
  }
  std::string key() const override {
    return key_of(order_ == MaternOrder::half           ? "product 1/2"
                  : order_ == MaternOrder::three_halves ? "product 3/2"
                                                        : "product 5/2",
                  length_scale_);
  }
  Expression expression() const override {
    const double nu = order_ == MaternOrder::half ? 0.5 : order_ == MaternOrder::three_halves ? 1.5 : 2.5;
    return {"product_matern", {nu}, length_scale_};
  }
  template <class T>
  std::unique_ptr<Step<T>> make(const Geometry<T>& points, Status& status) const {
    return std::make_unique<ProductMaternStep<T>>(order_, length_scale_, points, status);
  }

 private:
  MaternOrder order_;
  std::vector<double> length_scale_;
};

}  // namespace

Kernel any_product_matern(double nu, std::vector<double> length_scale);  // defined in any_matern.cpp

Kernel product_matern(double nu, std::vector<double> length_scale) {
  if (nu == HUGE_VAL) return rbf(std::move(length_scale));
  if (nu != 0.5 && nu != 1.5 && nu != 2.5) return any_product_matern(nu, std::move(length_scale));
  const MaternOrder order = nu == 0.5 ? MaternOrder::half : nu == 1.5 ? MaternOrder::three_halves : MaternOrder::five_halves;
  return Kernel(std::make_shared<ProductMaternNode>(order, std::move(length_scale)));
}

}  // namespace kernsel
