// Kernels as values: parameters in order, shared subtrees, errors that wait until the kernel is used.
#include "check.hpp"
#include "kernsel/gram.hpp"
#include "program.hpp"

using kernsel::Index;
using kernsel::Kernel;

namespace {

void parameters_from_left_to_right() {
  const Kernel k = 2.0 * kernsel::rbf({0.5, 3.0}) + kernsel::constant(5.0) * kernsel::white(7.0);
  const double expected[] = {2.0, 0.5, 3.0, 5.0, 7.0};
  CHECK(k.parameters() == 5);
  for (std::size_t p = 0; p < 5; ++p) CHECK_BELOW(std::abs(k.theta()[p] - std::log(expected[p])), 1e-15);
}

// The same kernel in two places is evaluated once, has one set of parameters, and gets the gradient of both places.
void shared_subtrees() {
  const Kernel shared = kernsel::rbf({0.8});
  const Kernel k = shared * shared + shared;
  CHECK(k.parameters() == 1);
  const std::vector<double> x = random_numbers<double>(40, 1), w = random_numbers<double>(1600, 2);
  const auto X = kernsel::columns(x.data(), 40, 1);
  double gradient = 0.0;
  CHECK(kernsel::pullback<double>(k, X, kernsel::columns(w.data(), 40, 40), &gradient).ok());
  const auto value = [&](double l) {
    const Kernel moved = kernsel::rbf({l});
    std::vector<double> K(1600);
    CHECK(kernsel::gram<double>(moved * moved + moved, X, kernsel::columns(K.data(), 40, 40)).ok());
    double sum = 0.0;
    for (std::size_t i = 0; i < K.size(); ++i) sum += w[i] * K[i];
    return sum;
  };
  const double h = 1e-5;
  CHECK_BELOW(std::abs(gradient - (value(0.8 * std::exp(h)) - value(0.8 * std::exp(-h))) / (2 * h)), 1e-7);
}

void errors_wait_until_the_kernel_is_used() {
  const std::vector<double> x = random_numbers<double>(12, 1);
  std::vector<double> K(16);
  const auto X = kernsel::columns(x.data(), 4, 3);
  const auto out = kernsel::columns(K.data(), 4, 4);
  for (const Kernel& k :
       {kernsel::rbf({-1.0}), kernsel::rbf({1.0, 2.0}), kernsel::rbf({}), kernsel::constant(0.0), kernsel::white(-1.0),
        -1.0 * kernsel::rbf({1.0}), kernsel::rbf({1.0}) + kernsel::rbf({std::nan("")})}) {
    CHECK(kernsel::gram<double>(k, X, out).code == kernsel::Code::invalid_argument);
    kernsel::LowerTiles<double> L;
    CHECK(kernsel::factorize<double>(k, X, {}, L).code == kernsel::Code::invalid_argument);
  }
  CHECK(kernsel::gram<double>(kernsel::rbf({1.0}), X, kernsel::columns(K.data(), 2, 2)).code ==
        kernsel::Code::invalid_argument);
}

}  // namespace

int main() {
  parameters_from_left_to_right();
  shared_subtrees();
  errors_wait_until_the_kernel_is_used();
  return report("kernel");
}
