// Sum, product and positive multiple of kernels.
#include "kernels/nodes/node.hpp"

namespace kernsel {

namespace {

template <class T>
class SumStep final : public OperationStep<T> {
 public:
  Status forward(const Place& at, const T* const* children, T* out) const override {
    tile_kernels<T>().add(at.count(), children[0], children[1], out);
    return {};
  }
  const T* pull_child(const Place&, std::size_t, const T* const*, const T*, const T* W, T*) const override { return W; }
};

template <class T>
class ProductStep final : public OperationStep<T> {
 public:
  Status forward(const Place& at, const T* const* children, T* out) const override {
    tile_kernels<T>().multiply(at.count(), children[0], children[1], out);
    return {};
  }
  const T* pull_child(const Place& at, std::size_t c, const T* const* children, const T*, const T* W, T* room) const override {
    tile_kernels<T>().multiply(at.count(), W, children[1 - c], room);
    return room;
  }
};

template <template <class> class StepOf>
class PairNode final : public OperationNode<PairNode<StepOf>> {
 public:
  PairNode(const char* name, const Kernel& a, const Kernel& b) : name_(name) { this->children = {a.node(), b.node()}; }
  std::string key() const override { return name_; }
  Expression expression() const override { return {name_}; }
  std::unique_ptr<Step<float>> bind(const Geometry<float>&, Status&) const override {
    return std::make_unique<StepOf<float>>();
  }
  std::unique_ptr<Step<double>> bind(const Geometry<double>&, Status&) const override {
    return std::make_unique<StepOf<double>>();
  }

 private:
  const char* name_;
};

template <class T>
class ScaleStep final : public OperationStep<T> {
 public:
  explicit ScaleStep(double factor) : factor_(static_cast<T>(factor)) {}
  Status forward(const Place& at, const T* const* children, T* out) const override {
    tile_kernels<T>().scale(at.count(), factor_, children[0], out);
    return {};
  }
  Status pull_parameters(const Place& at, const T* const*, const T* value, const T* W, double* gradient) const override {
    *gradient += tile_kernels<T>().dot(at.count(), W, value);
    return {};
  }
  bool has_rows() const override { return true; }
  Status pull_rows(const Place& at, const T* const*, const T* value, const T* W, double* rows) const override {
    add_row_products(at, W, value, rows);
    return {};
  }
  const T* pull_child(const Place& at, std::size_t, const T* const*, const T*, const T* W, T* room) const override {
    tile_kernels<T>().scale(at.count(), factor_, W, room);
    return room;
  }

 private:
  T factor_;
};

class ScaleNode final : public NodeBase<ScaleNode> {
 public:
  ScaleNode(double factor, const Kernel& k) : factor_(factor) { children = {k.node()}; }
  Status check(Index) const override {
    return positive(factor_) ? Status{} : Status::invalid("a kernel can be multiplied by a positive, finite number only");
  }
  std::vector<double> theta() const override { return {std::log(factor_)}; }
  std::vector<Rule> rules() const override { return {Rule::variance}; }
  bool set_theta(const double* values) override {
    factor_ = std::exp(*values);
    return true;
  }
  std::string key() const override { return key_of("scale", {factor_}); }
  Expression expression() const override { return {"scale", {factor_}}; }
  bool may_overflow() const override { return factor_ > 1e15; }
  template <class T>
  std::unique_ptr<Step<T>> make(const Geometry<T>&, Status& status) const {
    status = check_range<T>(factor_);
    return std::make_unique<ScaleStep<T>>(factor_);
  }

 private:
  double factor_;
};

}  // namespace

Kernel operator+(const Kernel& a, const Kernel& b) { return Kernel(std::make_shared<PairNode<SumStep>>("sum", a, b)); }
Kernel operator*(const Kernel& a, const Kernel& b) { return Kernel(std::make_shared<PairNode<ProductStep>>("product", a, b)); }
Kernel operator*(double factor, const Kernel& k) { return Kernel(std::make_shared<ScaleNode>(factor, k)); }

}  // namespace kernsel
