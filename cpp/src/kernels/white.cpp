#include "kernels/node.hpp"

namespace kernsel {

namespace {

template <class T>
class WhiteStep final : public LeafStep<T> {
 public:
  explicit WhiteStep(double noise) : noise_(static_cast<T>(noise)) {}
  void forward(const TilePlace& at, const T* const*, T* out) const override {
    tile_kernels<T>().fill(at.count(), T(0), out);
    if (!on_diagonal(at)) return;
    for (Index r = 0; r < at.height; ++r) out[r + r * at.height] = noise_;
  }
  bool pull_parameters(const TilePlace& at, const T* const*, const T*, const T* W, double* gradient) const override {
    if (!on_diagonal(at)) return true;
    double trace = 0.0;
    for (Index r = 0; r < at.height; ++r) trace += static_cast<double>(W[r + r * at.height]);
    *gradient += static_cast<double>(noise_) * trace;
    return true;
  }
  void diagonal(Index, Index count, const T* const*, T* out) const override { tile_kernels<T>().fill(count, noise_, out); }

 private:
  static bool on_diagonal(const TilePlace& at) { return at.same && at.row == at.col; }
  T noise_;
};

class WhiteNode final : public NodeBase<WhiteNode> {
 public:
  explicit WhiteNode(double noise) : noise_(noise) {}
  Status check(Index) const override {
    return positive(noise_) ? Status{} : Status::invalid("white: the noise must be positive and finite");
  }
  std::vector<double> theta() const override { return {std::log(noise_)}; }
  template <class T>
  std::unique_ptr<Step<T>> make(const Geometry<T>&, Status&) const {
    return std::make_unique<WhiteStep<T>>(noise_);
  }

 private:
  double noise_;
};

}  // namespace

Kernel white(double noise) { return Kernel(std::make_shared<WhiteNode>(noise)); }

}  // namespace kernsel
