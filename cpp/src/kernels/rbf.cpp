#include "kernels/node.hpp"

namespace kernsel {

namespace {

template <class T>
class RbfStep final : public LeafStep<T> {
 public:
  // Each column is divided by the power of two next to its length scale, which is exact, and the rest of the scale is a
  // weight in (1/4, 1]: differences stay correctly rounded, and columns in any unit stay within range.
  RbfStep(const Geometry<T>& points, const std::vector<double>& length_scale, Status& status)
      : dimension_(points.X.cols), isotropic_(length_scale.size() == 1) {
    std::vector<T> factor(static_cast<std::size_t>(dimension_));
    for (std::size_t k = 0; k < factor.size(); ++k) {
      int exponent = 0;
      const double mantissa = std::frexp(length_scale[isotropic_ ? 0 : k], &exponent);  // in [1/2, 1)
      factor[k] = static_cast<T>(std::ldexp(1.0, 1 - exponent));
      weights_.push_back(static_cast<T>(0.25 / (mantissa * mantissa)));
    }
    if (isotropic_ && dimension_ > 0) scale_ = weights_[0];
    same_ = points.same;
    status = X_.assign(points.X, points.block, factor);
    if (status.ok() && !same_) status = Z_.assign(points.Z, points.block, factor);
  }

  void forward(const TilePlace& at, const T* const*, T* out) const override { tile_kernels<T>().rbf(points(at), scale_, out); }
  void pull_parameters(const TilePlace& at, const T* const*, const T* value, const T* W, double* gradient) const override {
    if (!isotropic_) return tile_kernels<T>().rbf_pullback(points(at), W, value, gradient);
    std::vector<double> each(static_cast<std::size_t>(dimension_), 0.0);
    tile_kernels<T>().rbf_pullback(points(at), W, value, each.data());
    for (const double part : each) *gradient += static_cast<double>(scale_) * part;
  }
  void diagonal(Index, Index count, const T* const*, T* out) const override { tile_kernels<T>().fill(count, T(1), out); }

 private:
  PointTile<T> points(const TilePlace& at) const {
    return {at.height,
            at.width,
            dimension_,
            X_.block_data(at.i),
            (same_ ? X_ : Z_).block_data(at.j),
            isotropic_ ? nullptr : weights_.data()};
  }

  Index dimension_;
  bool isotropic_, same_ = false;
  T scale_ = T(1);
  std::vector<T> weights_;
  Points<T> X_, Z_;
};

class RbfNode final : public NodeBase<RbfNode> {
 public:
  explicit RbfNode(std::vector<double> length_scale) : length_scale_(std::move(length_scale)) {}
  Status check(Index columns) const override {
    for (const double l : length_scale_)
      if (!positive(l)) return Status::invalid("rbf: length scales must be positive and finite");
    const auto scales = static_cast<Index>(length_scale_.size());
    if (scales != 1 && scales != columns) return Status::invalid("rbf: give one length scale, or one for each column of X");
    return {};
  }
  std::vector<double> theta() const override {
    std::vector<double> logs;
    for (const double l : length_scale_) logs.push_back(std::log(l));
    return logs;
  }
  template <class T>
  std::unique_ptr<Step<T>> make(const Geometry<T>& points, Status& status) const {
    return std::make_unique<RbfStep<T>>(points, length_scale_, status);
  }

 private:
  std::vector<double> length_scale_;
};

}  // namespace

Kernel rbf(std::vector<double> length_scale) { return Kernel(std::make_shared<RbfNode>(std::move(length_scale))); }

}  // namespace kernsel
