// f(x) k(x, z) f(z), where f is a function that the user gives.
#include "kernels/nodes/functions.hpp"

namespace kernsel {

namespace {

template <class T>
class WarpStep final : public Step<T> {
 public:
  WarpStep(const PointFunction& f, const Geometry<T>& points, Status& status)
      : columns_(points.columns), f_(f, 1, points, status) {}

  Status forward(const Place& at, const T* const* children, T* out) const override {
    each(at, [&](Index, Index, Index i, T factor) { out[i] = children[0][i] * factor; });
    return {};
  }
  Status pull_parameters(const Place&, const T* const*, const T*, const T*, double*) const override { return {}; }
  const T* pull_child(const Place& at, std::size_t, const T* const*, const T*, const T* W, T* room) const override {
    each(at, [&](Index, Index, Index i, T factor) { room[i] = W[i] * factor; });
    return room;
  }
  Status pull_points(const Place& at, const T* const* children, const T*, const T* W, T* gx, T* gz) const override {
    const T *fx = f_.of_x(at), *fz = at.tile() ? f_.of_z(at) : fx;
    T* of_x = scratch<T>(Scratch::step, at.height + at.width);  // dJ/df
    if (!of_x) return no_memory();
    T* of_z = of_x + at.height;
    std::fill_n(of_x, at.height + at.width, T(0));
    each(at, [&](Index r, Index c, Index i, T) {
      const T weight = W[i] * children[0][i];
      of_x[r] += weight * fz[at.tile() ? c : r] * (at.tile() ? T(1) : T(2));
      if (at.tile()) of_z[c] += weight * fx[r];
    });
    if (gx) add(of_x, f_.derivative_of_x(at), at.height, gx);
    if (gz) add(of_z, f_.derivative_of_z(at), at.width, gz);
    return {};
  }

 private:
  // Calls g(row, column, index in the tile, f(x) f(z)) for all elements. f(x) f(z) is multiplied first, so that (z, x) gives
  // the same bits.
  template <class G>
  void each(const Place& at, const G& g) const {
    const T *fx = f_.of_x(at), *fz = at.tile() ? f_.of_z(at) : fx;
    for (Index c = 0; c < at.width; ++c)
      for (Index r = 0; r < at.height; ++r) g(r, c, r + c * at.height, fx[r] * fz[at.tile() ? c : r]);
  }
  void add(const T* weights, const T* slopes, Index count, T* to) const {
    for (const Index k : columns_)
      for (Index r = 0; r < count; ++r) to[r + k * count] += weights[r] * *slopes++;
  }

  std::vector<Index> columns_;
  PointValues<T> f_;
};

class WarpNode final : public NodeBase<WarpNode> {
 public:
  WarpNode(const Kernel& k, PointFunction f) : f_(std::move(f)) { children = {k.node()}; }
  Status check(Index) const override { return f_.value ? Status{} : Status::invalid("warp: give a function"); }
  std::vector<double> theta() const override { return {}; }
  bool may_overflow() const override { return true; }
  std::string key() const override { return function_key("warp", f_.name, *this); }
  template <class T>
  std::unique_ptr<Step<T>> make(const Geometry<T>& points, Status& status) const {
    return std::make_unique<WarpStep<T>>(f_, points, status);
  }

 private:
  PointFunction f_;
};

}  // namespace

Kernel warp(const Kernel& k, PointFunction f) { return Kernel(std::make_shared<WarpNode>(k, std::move(f))); }

}  // namespace kernsel
