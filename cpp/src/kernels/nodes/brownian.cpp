// The covariance of Brownian motion for one column, and of the Brownian sheet for several: prod_k min(|x_k|, |z_k|), and 0
// where the signs of x_k and z_k differ.
#include "kernels/nodes/node.hpp"

namespace kernsel {

namespace {

template <class T>
T least(T x, T z) {
  if (x > T(0) && z > T(0)) return std::min(x, z);
  return x < T(0) && z < T(0) ? -std::max(x, z) : T(0);
}

// The derivative of least(x, z) in x. At x = z it is the mean of the derivatives on both sides.
template <class T>
T slope(T x, T z) {
  const T sign = x < T(0) ? T(-1) : T(1);
  if (x * sign == z * sign) return sign / T(2);
  return x * sign < z * sign ? sign : T(0);
}

template <class T>
class BrownianStep final : public LeafStep<T> {
 public:
  BrownianStep(const Geometry<T>& points, Status& status) : columns_(points.columns) {
    status = points_.assign(points, std::vector<T>(columns_.size(), T(1)));
  }

  Status forward(const Place& at, const T* const*, T* out) const override {
    const PointTile<T> tile = points_.at(at, nullptr);
    tile_kernels<T>().fill(at.count(), T(1), out);
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      const T *x = tile.X + Index(k) * at.height, *z = tile.Z + Index(k) * tile.width;
      for (Index c = 0; c < at.width; ++c)
        for (Index r = 0; r < at.height; ++r) out[r + c * at.height] *= least(x[r], z[at.tile() ? c : r]);
    }
    return {};
  }
  Status pull_parameters(const Place&, const T* const*, const T*, const T*, double*) const override { return {}; }
  Status pull_points(const Place& at, const T* const*, const T*, const T* W, T* gx, T* gz) const override {
    const PointTile<T> tile = points_.at(at, nullptr);
    for (std::size_t k = 0; k < columns_.size(); ++k)
      for (Index c = 0; c < at.width; ++c)
        for (Index r = 0; r < at.height; ++r) {
          const Index other = at.tile() ? c : r;
          T rest = W[r + c * at.height];
          for (std::size_t m = 0; m < columns_.size(); ++m)
            if (m != k) rest *= least(tile.X[r + Index(m) * at.height], tile.Z[other + Index(m) * tile.width]);
          const T x = tile.X[r + Index(k) * at.height], z = tile.Z[other + Index(k) * tile.width];
          if (x * z <= T(0)) continue;
          // On a diagonal, both arguments are the same point, so that both derivatives are added.
          if (gx) gx[r + columns_[k] * at.height] += rest * (at.tile() ? slope(x, z) : T(2) * slope(x, x));
          if (gz) gz[c + columns_[k] * at.width] += rest * slope(z, x);
        }
    return {};
  }

 private:
  std::vector<Index> columns_;
  LeafPoints<T> points_;
};

class BrownianNode final : public NodeBase<BrownianNode> {
 public:
  Status check(Index) const override { return {}; }
  std::vector<double> theta() const override { return {}; }
  std::string key() const override { return "brownian"; }
  Expression expression() const override { return {"brownian"}; }
  bool may_overflow() const override { return true; }
  template <class T>
  std::unique_ptr<Step<T>> make(const Geometry<T>& points, Status& status) const {
    return std::make_unique<BrownianStep<T>>(points, status);
  }
};

}  // namespace

Kernel brownian() { return Kernel(std::make_shared<BrownianNode>()); }

}  // namespace kernsel
