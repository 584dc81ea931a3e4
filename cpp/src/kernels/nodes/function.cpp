// Functions of a kernel whose results are positive semidefinite again: powers, power series with nonnegative coefficients, and
// the exponential.
#include "kernels/nodes/node.hpp"

namespace kernsel {

namespace {

template <class T>
class FunctionStep final : public OperationStep<T> {
 public:
  FunctionStep(Profile profile, const std::vector<double>& parameters)
      : profile_(profile), parameters_(parameters.begin(), parameters.end()) {}

  Status forward(const Place& at, const T* const* children, T* out) const override {
    tile_kernels<T>().profile(profile_, at.count(), parameters_.data(), children[0], out);
    return {};
  }
  const T* pull_child(const Place& at, std::size_t, const T* const* children, const T* value, const T* W,
                      T* room) const override {
    double none = 0.0;
    tile_kernels<T>().profile_pullback(profile_, at.count(), parameters_.data(), children[0], value, W, room, &none);
    return room;
  }

 private:
  Profile profile_;
  std::vector<T> parameters_;
};

class FunctionNode final : public NodeBase<FunctionNode> {
 public:
  FunctionNode(Profile profile, std::vector<double> parameters, const Kernel& k, const char* problem)
      : profile_(profile), parameters_(std::move(parameters)), problem_(problem) {
    children = {k.node()};
  }
  Status check(Index) const override { return problem_ ? Status::invalid(problem_) : Status{}; }
  std::vector<double> theta() const override { return {}; }
  bool may_overflow() const override { return true; }
  std::string key() const override {
    std::vector<double> numbers{static_cast<double>(profile_)};
    numbers.insert(numbers.end(), parameters_.begin(), parameters_.end());
    return key_of("function", numbers);
  }
  Expression expression() const override {
    if (profile_ == Profile::exp) return {"exp"};
    if (profile_ == Profile::series) return {"series", {}, {parameters_.begin() + 1, parameters_.end()}};
    return {"pow", {parameters_.back()}};
  }
  template <class T>
  std::unique_ptr<Step<T>> make(const Geometry<T>&, Status&) const {
    return std::make_unique<FunctionStep<T>>(profile_, parameters_);
  }

 private:
  Profile profile_;
  std::vector<double> parameters_;
  const char* problem_;
};

}  // namespace

Kernel exp(const Kernel& k) { return Kernel(std::make_shared<FunctionNode>(Profile::exp, std::vector<double>{}, k, nullptr)); }

// Whole powers of a kernel are kernels. Other powers are kernels only if the kernel is infinitely divisible, which the caller
// must know; its values are then nonnegative.
Kernel pow(const Kernel& k, double exponent) {
  const char* problem = exponent > 0.0 && exponent <= 100.0 ? nullptr : "pow: the exponent must be positive, and at most 100";
  const bool whole = exponent == std::floor(exponent);
  const std::vector<double> parameters = whole ? std::vector<double>{0.0, exponent} : std::vector<double>{exponent};
  return Kernel(std::make_shared<FunctionNode>(whole ? Profile::polynomial : Profile::power, parameters, k, problem));
}

Kernel series(const std::vector<double>& coefficients, const Kernel& k) {
  const char* problem = coefficients.empty() ? "series: give at least one coefficient" : nullptr;
  for (const double c : coefficients)
    if (!(c >= 0.0) || !std::isfinite(c)) problem = "series: coefficients must be finite and not negative";
  std::vector<double> parameters{static_cast<double>(coefficients.size()) - 1.0};
  parameters.insert(parameters.end(), coefficients.begin(), coefficients.end());
  return Kernel(std::make_shared<FunctionNode>(Profile::series, std::move(parameters), k, problem));
}

}  // namespace kernsel
