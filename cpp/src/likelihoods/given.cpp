// Likelihoods of functions that the caller gives.
#include <utility>

#include "base/call_out.hpp"
#include "kernsel/likelihood.hpp"

namespace kernsel {

Status Likelihood::cross(const Observations&, const double*, DensityCross*) const {
  return Status::invalid("this likelihood has one latent function");
}

namespace likelihoods {

namespace {

class Given final : public Likelihood {
 public:
  explicit Given(LikelihoodFunctions functions) : functions_(std::move(functions)) {}

  std::string name() const override { return functions_.name; }
  std::vector<LikelihoodParameter> parameters() const override { return functions_.parameters; }
  std::shared_ptr<const Likelihood> with(const std::vector<double>& values) const override { return functions_.with(values); }
  bool is_log_concave() const override { return functions_.log_concave; }
  bool is_for_any_thread() const override { return false; }
  Outcomes outcomes(double) const override { return functions_.outcomes; }

  Status check(const Observations& of) const override {
    return call_out([&] { functions_.check(of); });
  }
  Status check_sizes(Index count, const double* size) const override {
    return call_out([&] { functions_.check_sizes(count, size); });
  }
  Status rough(const Observations& of, double* f) const override {
    return call_out([&] { functions_.rough(of, f); });
  }
  Status density(const Observations& of, const double* f, Density* out) const override {
    return call_out([&] { functions_.density(of, f, out); });
  }
  Status density_slope(const Observations& of, const double* f, Index p, DensitySlope* out) const override {
    return call_out([&] { functions_.slope(of, f, p, out); });
  }
  Status conditional(const Latent& at, double* mean, double* variance) const override {
    return call_out([&] { functions_.conditional(at, mean, variance); });
  }
  Status probability(const Latent& at, const double* y, double* out) const override {
    return call_out([&] { functions_.probability(at, y, out); });
  }

 private:
  LikelihoodFunctions functions_;
};

}  // namespace

std::shared_ptr<const Likelihood> of_functions(LikelihoodFunctions functions) {
  return std::make_shared<Given>(std::move(functions));
}

}  // namespace likelihoods
}  // namespace kernsel
