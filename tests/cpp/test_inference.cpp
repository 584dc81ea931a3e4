// Inference around each factor: gradients by differences, the same bits for any number of threads, the choice, and what it
// refuses. Values are compared with a slow twin by the tests of the Python package.
#include "base/parallel.hpp"
#include "check.hpp"
#include "kernsel/choose.hpp"
#include "kernsel/inference.hpp"
#include "kernsel/nystrom.hpp"
#include "kernsel/vecchia.hpp"

using kernsel::Index;
using kernsel::Inference;
using Numbers = std::vector<double>;

namespace {

constexpr Index n = 40;
constexpr Inference inferences[] = {Inference::laplace, Inference::expectation_propagation};

struct Data {
  Numbers X = random_numbers<double>(n, 1), y, sizes, noise = Numbers(n, 1e-3), H = Numbers(n, 1.0);
  Data() {
    for (Index i = 0; i < n; ++i) {
      const double rate = 3.0 * std::exp(std::sin(2.0 * X[static_cast<std::size_t>(i)]));
      y.push_back(std::floor(rate + static_cast<double>(i % 3)));
      sizes.push_back(1.0 + 0.5 * static_cast<double>(i % 4));
    }
  }
  kernsel::Problem problem() const {
    kernsel::Problem out{kernsel::rows(X.data(), n, 1), kernsel::vector(y.data(), n), kernsel::vector(noise.data(), n),
                         kernsel::rows(H.data(), n, 1)};
    out.sizes = sizes.data();
    return out;
  }
};

std::unique_ptr<kernsel::Factor> factor(int kind) {
  kernsel::NystromOptions landmarks;
  landmarks.given = {-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0};  // the same for any kernel
  kernsel::VecchiaOptions neighbours;
  neighbours.neighbours = 8;
  if (kind == 1) return kernsel::nystrom_factor(landmarks);
  if (kind == 2) return kernsel::vecchia_factor(neighbours);
  return kernsel::dense_factor();
}

kernsel::Evaluation evaluation(const Data& data, int kind, Inference inference, const kernsel::Criterion& criterion,
                               double log_length, kernsel::Order order) {
  const std::unique_ptr<kernsel::Factor> inner = factor(kind);
  const auto latent = kernsel::latent_factor(inference, kernsel::likelihoods::negative_binomial(3.0), *inner);
  kernsel::Evaluation out;
  const kernsel::Kernel k = 0.8 * kernsel::matern(2.5, {std::exp(log_length)});
  CHECK(evaluate(k, data.problem(), criterion, order, *latent, out).ok());
  CHECK(latent->converged());
  CHECK(static_cast<Index>(latent->site_noise().size()) == n);
  return out;
}

void gradients_and_threads() {
  const Data data;
  for (const Inference inference : inferences)
    for (int kind = 0; kind < 3; ++kind)
      for (const kernsel::Criterion& criterion : {kernsel::criteria::likelihood(true), kernsel::criteria::left_out_density()}) {
        const auto at = [&](double log_length) {
          return evaluation(data, kind, inference, criterion, log_length, kernsel::Order::value).value;
        };
        const kernsel::Evaluation found = evaluation(data, kind, inference, criterion, -0.2, kernsel::Order::gradient);
        const double h = 1e-3;
        const double slope = (at(-0.2 - 2 * h) - 8 * at(-0.2 - h) + 8 * at(-0.2 + h) - at(-0.2 + 2 * h)) / (12 * h);
        // Of the fourth order in h, and modes within 1e-8 by neighbours, which h divides.
        CHECK_BELOW(std::abs(found.gradient.theta[1] - slope), 1e-5 * (1.0 + std::abs(slope)));
        kernsel::use_a_team_for_any_work(true);
        const kernsel::Evaluation together = evaluation(data, kind, inference, criterion, -0.2, kernsel::Order::gradient);
        kernsel::use_a_team_for_any_work(false);
        CHECK(together.value == found.value && together.gradient.theta == found.gradient.theta);
        CHECK(together.gradient.likelihood == found.gradient.likelihood);
      }
}

void the_choice_finds_parameters_of_the_likelihood() {
  const Data data;
  const kernsel::Problem given = data.problem();
  for (const Inference inference : inferences) {
    kernsel::Choosing problem(1.0 * kernsel::matern(2.5, {1.0}), given.X, given.y);
    problem.trend = given.trend;
    problem.sizes = data.sizes.data();
    problem.likelihood = kernsel::likelihoods::negative_binomial(1.0);
    problem.inference = inference;
    kernsel::Choice choice;
    CHECK(choose(problem, kernsel::ChoosingOptions{}, choice).ok());
    CHECK(choice.ended == kernsel::Ended::converged && choice.likelihood.size() == 1);
    for (const double slope : choice.gradient) CHECK_BELOW(std::abs(slope), 0.05);  // inside of the bounds, to .01 nats
    problem.finds_noise = true;
    CHECK(!choose(problem, kernsel::ChoosingOptions{}, choice).ok());
  }
}

void what_is_impossible_is_named() {
  Data data;
  data.y[7] = -1.0;
  const auto dense = kernsel::dense_factor();
  for (const Inference inference : inferences) {
    const auto latent = kernsel::latent_factor(inference, kernsel::likelihoods::poisson(), *dense);
    kernsel::Evaluation out;
    const kernsel::Status status =
        evaluate(kernsel::rbf({1.0}), data.problem(), kernsel::criteria::likelihood(true), kernsel::Order::value, *latent, out);
    CHECK(status.code == kernsel::Code::invalid_argument && status.pivot == 7);
  }
}

}  // namespace

int main() {
  gradients_and_threads();
  the_choice_finds_parameters_of_the_likelihood();
  what_is_impossible_is_named();
  return report("inference");
}
