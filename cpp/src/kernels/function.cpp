// Functions of a kernel that leave it positive semidefinite: powers, series with coefficients that are not negative, the
// exponential.
#include "kernels/node.hpp"

namespace kernsel {

namespace {

template <class T>
class FunctionStep final : public OperationStep<T> {
 public:
  FunctionStep(Profile profile, const std::vector<double>& parameters)
      : profile_(profile), parameters_(parameters.begin(), parameters.end()) {}

  void forward(const TilePlace& at, const T* const* children, T* out) const override {
    tile_kernels<T>().profile(profile_, at.count(), parameters_.data(), children[0], out);
  }
  const T* pull_child(const TilePlace& at, std::size_t, const T* const* children, const T* value, const T* W,
                      T* room) const override {
    double none = 0.0;
    tile_kernels<T>().profile_pullback(profile_, at.count(), parameters_.data(), children[0], value, W, room, &none);
    return room;
  }
  void diagonal(Index, Index count, const T* const* children, T* out) const override {
    tile_kernels<T>().profile(profile_, count, parameters_.data(), children[0], out);
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

Kernel pow(const Kernel& k, int exponent) {
  const char* problem = exponent < 1 || exponent > 100 ? "pow: the exponent must be a whole number from 1 to 100" : nullptr;
  return Kernel(std::make_shared<FunctionNode>(Profile::polynomial, std::vector<double>{0.0, double(exponent)}, k, problem));
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
