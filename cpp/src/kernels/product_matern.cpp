// Products of one-dimensional Matern kernels.
#include "kernels/metric_leaf.hpp"

namespace kernsel {

namespace {

template <class T>
class ProductMaternStep final : public LeafStep<T> {
 public:
  ProductMaternStep(MaternOrder order, const std::vector<double>& length_scale, const Geometry<T>& points, Status& status)
      : order_(order), dimension_(points.dimension()), one_scale_(length_scale.size() == 1), same_(points.same) {
    const double slope = std::sqrt(order == MaternOrder::half ? 1.0 : order == MaternOrder::three_halves ? 3.0 : 5.0);
    std::vector<T> factor;
    for (Index k = 0; k < dimension_; ++k) {
      const Scaling scaling = scaling_by(length_scale[one_scale_ ? 0 : static_cast<std::size_t>(k)]);
      factor.push_back(static_cast<T>(scaling.factor));
      weights_.push_back(static_cast<T>(slope * scaling.rest));
    }
    status = X_.assign(points.X, points.block, points.columns, factor);
    if (status.ok() && !same_) status = Z_.assign(points.Z, points.block, points.columns, factor);
  }

  void forward(const TilePlace& at, const T* const*, T* out) const override {
    tile_kernels<T>().product_matern(order_, points(at), out);
  }
  bool pull_parameters(const TilePlace& at, const T* const*, const T* value, const T* W, double* gradient) const override {
    if (!one_scale_) {
      tile_kernels<T>().product_matern_pullback(order_, points(at), W, value, gradient);
      return true;
    }
    std::vector<double> each(static_cast<std::size_t>(dimension_), 0.0);
    tile_kernels<T>().product_matern_pullback(order_, points(at), W, value, each.data());
    for (const double part : each) *gradient += part;
    return true;
  }
  void diagonal(Index, Index count, const T* const*, T* out) const override { tile_kernels<T>().fill(count, T(1), out); }

 private:
  PointTile<T> points(const TilePlace& at) const {
    return {at.height, at.width, dimension_, X_.block_data(at.i), (same_ ? X_ : Z_).block_data(at.j), weights_.data()};
  }

  MaternOrder order_;
  Index dimension_;
  bool one_scale_, same_;
  std::vector<T> weights_;
  Points<T> X_, Z_;
};

class ProductMaternNode final : public NodeBase<ProductMaternNode> {
 public:
  ProductMaternNode(MaternOrder order, std::vector<double> length_scale, const char* problem)
      : order_(order), length_scale_(std::move(length_scale)), problem_(problem) {}
  Status check(Index columns) const override {
    if (problem_) return Status::invalid(problem_);
    return check_scales(length_scale_, columns);
  }
  std::vector<double> theta() const override { return logarithms(length_scale_); }
  template <class T>
  std::unique_ptr<Step<T>> make(const Geometry<T>& points, Status& status) const {
    return std::make_unique<ProductMaternStep<T>>(order_, length_scale_, points, status);
  }

 private:
  MaternOrder order_;
  std::vector<double> length_scale_;
  const char* problem_;
};

}  // namespace

Kernel product_matern(double nu, std::vector<double> length_scale) {
  const MaternOrder order = nu == 0.5 ? MaternOrder::half : nu == 1.5 ? MaternOrder::three_halves : MaternOrder::five_halves;
  const bool known = nu == 0.5 || nu == 1.5 || nu == 2.5;
  const char* problem = known ? nullptr : "product_matern: nu must be 1/2, 3/2 or 5/2";
  return Kernel(std::make_shared<ProductMaternNode>(order, std::move(length_scale), problem));
}

}  // namespace kernsel
