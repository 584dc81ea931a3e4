// The normalized kernel, k(x, z) / (k(x, x) k(z, z))^(1/2).
#include "kernels/nodes/node.hpp"

namespace kernsel {

namespace {

template <class T>
class NormalizeStep final : public OperationStep<T> {
 public:
  explicit NormalizeStep(const Geometry<T>& points) : rows_(points.X.rows), cols_(points.Z.rows) {}

  // The children are the values of k, and its diagonals for the points of X and of Z.
  Status forward(const Place& at, const T* const* children, T* out) const override {
    T* f = scratch<T>(Scratch::step, at.height + at.width);
    if (!f) return no_memory();
    if (!at.tile()) {
      if (!factors(children[0], at.height, (at.part == Part::diagonal_of_z ? cols_ : rows_) - at.row, f)) return no_length();
      tile_kernels<T>().fill(at.count(), T(1), out);
      return {};
    }
    if (!factors(children[1], at.height, rows_ - at.row, f) || !factors(children[2], at.width, cols_ - at.col, f + at.height))
      return no_length();
    const T* g = f + at.height;
    for (Index c = 0; c < at.width; ++c)  // f g first, so that (z, x) gives the same bits
      for (Index r = 0; r < at.height; ++r) out[r + c * at.height] = children[0][r + c * at.height] * (f[r] * g[c]);
    for (Index r = 0; at.on_diagonal() && r < at.height; ++r) out[r + r * at.height] = T(1);
    return {};
  }

  const T* pull_child(const Place& at, std::size_t c, const T* const* children, const T* value, const T* W,
                      T* room) const override {
    if (!at.tile()) {
      tile_kernels<T>().fill(at.count(), T(0), room);
    } else if (c == 0) {
      const auto root = [](T diagonal) { return diagonal > T(0) ? T(1) / std::sqrt(diagonal) : T(0); };
      for (Index j = 0; j < at.width; ++j) {
        const T of_z = root(children[2][j]);
        for (Index i = 0; i < at.height; ++i) room[i + j * at.height] = W[i + j * at.height] * (root(children[1][i]) * of_z);
      }
    } else {  // the derivative in k(x, x) is -value / (2 k(x, x))
      const T* diagonal = children[c];
      const Index count = c == 1 ? at.height : at.width;
      tile_kernels<T>().fill(count, T(0), room);
      for (Index j = 0; j < at.width; ++j)
        for (Index i = 0; i < at.height; ++i) room[c == 1 ? i : j] += W[i + j * at.height] * value[i + j * at.height];
      for (Index i = 0; i < count; ++i) room[i] = diagonal[i] > T(0) ? room[i] / (T(-2) * diagonal[i]) : T(0);
    }
    return room;
  }

 private:
  static Status no_length() {
    return Status::invalid(
        "normalize: k(x, x) is not positive for a point, which leaves nothing to divide by: leave it out, or add a constant");
  }
  // out <- k(x, x)^(-1/2), and zero for the padding, the rows from `real` on. Returns false if some k(x, x) is not positive.
  static bool factors(const T* diagonal, Index count, Index real, T* out) {
    for (Index r = 0; r < count; ++r) {
      if (r < real && !(diagonal[r] > T(0))) return false;
      out[r] = r < real ? T(1) / std::sqrt(diagonal[r]) : T(0);
    }
    return true;
  }

  Index rows_, cols_;
};

class NormalizeNode final : public NodeBase<NormalizeNode> {
 public:
  explicit NormalizeNode(const Kernel& k) { children = {k.node()}; }
  Status check(Index) const override { return {}; }
  std::vector<double> theta() const override { return {}; }
  std::string key() const override { return "normalize"; }
  Expression expression() const override { return {"normalize"}; }
  bool sees_diagonals() const override { return true; }
  template <class T>
  std::unique_ptr<Step<T>> make(const Geometry<T>& points, Status&) const {
    return std::make_unique<NormalizeStep<T>>(points);
  }
};

}  // namespace

Kernel normalize(const Kernel& k) { return Kernel(std::make_shared<NormalizeNode>(k)); }

}  // namespace kernsel
