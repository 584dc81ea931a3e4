#include "kernels/node.hpp"

namespace kernsel {

namespace {

template <class T>
class ConstantStep final : public LeafStep<T> {
 public:
  explicit ConstantStep(double value) : value_(static_cast<T>(value)) {}
  void forward(const TilePlace& at, const T* const*, T* out) const override { tile_kernels<T>().fill(at.count(), value_, out); }
  bool pull_parameters(const TilePlace& at, const T* const*, const T*, const T* W, double* gradient) const override {
    *gradient += static_cast<double>(value_) * tile_kernels<T>().sum(at.count(), W);
    return true;
  }
  void diagonal(Index, Index count, const T* const*, T* out) const override { tile_kernels<T>().fill(count, value_, out); }

 private:
  T value_;
};

class ConstantNode final : public NodeBase<ConstantNode> {
 public:
  explicit ConstantNode(double value) : value_(value) {}
  Status check(Index) const override {
    return positive(value_) ? Status{} : Status::invalid("constant: the value must be positive and finite");
  }
  std::vector<double> theta() const override { return {std::log(value_)}; }
  template <class T>
  std::unique_ptr<Step<T>> make(const Geometry<T>&, Status&) const {
    return std::make_unique<ConstantStep<T>>(value_);
  }

 private:
  double value_;
};

}  // namespace

Kernel constant(double value) { return Kernel(std::make_shared<ConstantNode>(value)); }

}  // namespace kernsel
