// The search: its quadratic problems in boxes, what is expected of hyperparameters, kernels with other hyperparameters, optima
// of all criteria, and searches that are stopped early or cannot begin.
#include <algorithm>
#include <stdexcept>

#include "check.hpp"
#include "kernsel/choose.hpp"
#include "kernsel/gram.hpp"
#include "kernsel/prior.hpp"
#include "search/box.hpp"

using kernsel::Index;
using kernsel::Kernel;
using kernsel::Optimum;

namespace {

double value_of(const std::vector<double>& H, const std::vector<double>& g, const std::vector<double>& s) {
  double value = 0.0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    value += g[i] * s[i];
    for (std::size_t j = 0; j < s.size(); ++j) value += 0.5 * s[i] * H[i + j * s.size()] * s[j];
  }
  return value;
}

// The minimum of g's + s'Hs / 2 in a box, by minimizing over one coordinate after the other, many times: slow and simple.
std::vector<double> by_coordinates(const std::vector<double>& H, const std::vector<double>& g, const std::vector<double>& lower,
                                   const std::vector<double>& upper) {
  const std::size_t n = g.size();
  std::vector<double> s(n, 0.0);
  for (int round = 0; round < 20000; ++round)
    for (std::size_t i = 0; i < n; ++i) {
      double slope = g[i];
      for (std::size_t j = 0; j < n; ++j) slope += H[i + j * n] * s[j];
      s[i] = std::clamp(s[i] - slope / H[i + i * n], lower[i], upper[i]);
    }
  return s;
}

void quadratic_problems() {
  for (unsigned seed = 0; seed < 202; ++seed) {
    const std::size_t n = seed < 200 ? 1 + seed % 7 : 80;
    const std::vector<double> B = random_numbers<double>(Index(n * n), seed), g = random_numbers<double>(Index(n), seed + 1000);
    const std::vector<double> room = random_numbers<double>(Index(2 * n), seed + 2000);
    std::vector<double> H(n * n, 0.0), lower(n), upper(n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t k = 0; k < n; ++k) H[i + j * n] += B[i + k * n] * B[j + k * n];
      H[i + i * n] += 0.1;
      lower[i] = seed % 3 == 0 && i == 0 ? 0.0 : -std::abs(room[i]);  // some start at a bound
      upper[i] = seed % 5 == 0 && i == n - 1 ? 0.0 : std::abs(room[n + i]);
    }
    std::vector<double> found;
    CHECK(kernsel::minimize_in_box(
              H, g, lower, upper, [] { return true; }, found)
              .ok());
    const std::vector<double> expected = by_coordinates(H, g, lower, upper);
    for (std::size_t i = 0; i < n; ++i) CHECK(found[i] >= lower[i] && found[i] <= upper[i]);
    CHECK_BELOW(value_of(H, g, found) - value_of(H, g, expected), 1e-10);
  }
}

void other_hyperparameters() {
  const Kernel shared = kernsel::rbf({0.5, 2.0});
  const Kernel fixed = kernsel::brownian();
  const Kernel k = 2.0 * (shared * shared) + kernsel::polynomial(1.5, 2, {3.0}) + kernsel::white(0.1) + fixed +
                   kernsel::normalize(kernsel::dot_product(0.7)) + kernsel::transform(shared, {1.0, 0.0, 0.5, 1.0}, 2) +
                   kernsel::on(kernsel::periodic(1.1, {0.9}), {1}) + kernsel::arc_cosine(1, 0.3, {1.0}) +
                   kernsel::matern(1.2, {0.4}) + kernsel::wendland(1, {5.0}) + kernsel::product_matern(2.5, {0.3, 0.6});
  std::vector<double> theta = k.theta();
  for (std::size_t p = 0; p < theta.size(); ++p) theta[p] += 0.1 * static_cast<double>(p % 3) - 0.07;
  bool changed = false;
  const Kernel moved = k.with_theta(theta, &changed);
  CHECK(changed);
  const std::vector<double> found = moved.theta();
  CHECK(found.size() == theta.size());
  for (std::size_t p = 0; p < theta.size(); ++p) CHECK_BELOW(std::abs(found[p] - theta[p]), 1e-14);
  // A node that occurs twice is still one node with one set of parameters, and the original kernel is unchanged.
  CHECK(moved.parameters() == k.parameters());
  CHECK(k.theta() != theta);
  std::vector<double> too_few = theta;
  too_few.pop_back();
  CHECK(k.with_theta(too_few, &changed).theta() == k.theta());
  CHECK(!changed);
  kernsel::KernelFunction f;
  f.theta = {1.0};
  const Kernel function = kernsel::function(f);
  CHECK(function.with_theta({2.0}, &changed).theta() == function.theta());
  CHECK(!changed);
}

struct Data {
  std::vector<double> x = random_numbers<double>(120, 3), y = std::vector<double>(60), ones = std::vector<double>(60, 1.0);
  Data() {
    const std::vector<double> noise = random_numbers<double>(60, 4);
    for (std::size_t i = 0; i < 60; ++i) y[i] = std::sin(2.0 * x[i]) + 0.3 * x[60 + i] + 0.1 * noise[i];
  }
  kernsel::Problem problem() const {
    return {kernsel::columns(x.data(), 60, 2), kernsel::vector(y.data(), 60), {}, kernsel::vector(ones.data(), 60)};
  }
};

kernsel::CriterionObjective objective_of(const Data& data, kernsel::Factor& factor) {
  kernsel::CriterionObjective objective(2.0 * kernsel::matern52({1.0, 1.0}), factor);
  objective.problem = data.problem();
  objective.noise = data.ones;
  objective.jitter = 1e-10;
  objective.criterion = kernsel::criteria::likelihood();
  objective.unknowns = {{0, 1, 2}, -1, 3};
  objective.bounds = {{-5.0, -5.0, -5.0, -12.0}, {5.0, 9.0, 9.0, 2.0}, {1.0, 1.0, 1.0, 3.0}};
  return objective;
}

const std::vector<std::vector<double>> starts{{0.0, 0.0, 0.0, -3.0}, {1.0, 2.0, 2.0, 0.0}, {-1.0, -2.0, -2.0, -9.0}};

void finds_the_optimum() {
  const Data data;
  const auto factor = kernsel::dense_factor();
  kernsel::CriterionObjective objective = objective_of(data, *factor);
  kernsel::SearchOptions options;
  options.fine = 1e-9;
  Optimum optimum;
  CHECK(kernsel::search(objective, nullptr, starts, options, optimum).ok());
  CHECK(optimum.ended == kernsel::Ended::converged);
  CHECK(optimum.evaluations < 60);
  CHECK(optimum.of_starts.size() == starts.size());
  for (const double slope : optimum.best.gradient) CHECK_BELOW(std::abs(slope), 1e-3);
  // No point nearby has a lower value.
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::vector<double> x = optimum.best.x;
    const std::vector<double> step = random_numbers<double>(4, seed);
    for (std::size_t i = 0; i < 4; ++i)
      x[i] = std::clamp(x[i] + 0.1 * step[i], objective.bounds.lower[i], objective.bounds.upper[i]);
    kernsel::Trial trial;
    CHECK(objective.evaluate(x, kernsel::Order::value, trial).ok());
    CHECK_BELOW(optimum.best.value, trial.value);
  }
  // The information is symmetric; tests/python/_search/test_choice.py compares it with its formula.
  kernsel::Trial here;
  CHECK(objective.evaluate(optimum.best.x, kernsel::Order::information, here).ok());
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t b = 0; b < 4; ++b) CHECK_BELOW(std::abs(here.information[a + 4 * b] - here.information[b + 4 * a]), 1e-8);
}

void ends_early() {
  const Data data;
  const auto factor = kernsel::dense_factor();
  kernsel::CriterionObjective objective = objective_of(data, *factor);
  Optimum optimum;
  kernsel::SearchOptions few;
  few.evaluations = 3;
  CHECK(kernsel::search(objective, nullptr, starts, few, optimum).ok());
  CHECK(optimum.ended == kernsel::Ended::evaluations && optimum.evaluations == 3 && std::isfinite(optimum.best.value));
  kernsel::SearchOptions told;
  Index calls = 0;
  told.progress = [&](Index evaluations, Index points, double) {
    ++calls;
    CHECK(evaluations == calls && points == 60);
    return calls < 5;
  };
  CHECK(kernsel::search(objective, nullptr, starts, told, optimum).ok());
  CHECK(optimum.ended == kernsel::Ended::stopped && calls == 5);
  kernsel::SearchOptions brief;
  brief.seconds = 0.0;
  CHECK(kernsel::search(objective, nullptr, starts, brief, optimum).ok());
  CHECK(optimum.ended == kernsel::Ended::seconds && optimum.evaluations == 1);
  told.progress = [](Index, Index, double) -> bool { throw std::runtime_error("enough"); };
  CHECK(kernsel::search(objective, nullptr, starts, told, optimum).code == kernsel::Code::exception);
}

void nowhere_to_begin() {
  Data data;
  data.x.assign(data.x.size(), 1.0);  // all points are equal
  const auto factor = kernsel::dense_factor();
  kernsel::CriterionObjective objective = objective_of(data, *factor);
  objective.jitter = 0.0;
  objective.noise.clear();
  objective.unknowns.noise = -1;
  objective.bounds.lower.pop_back();
  objective.bounds.upper.pop_back();
  objective.bounds.reach.pop_back();
  Optimum optimum;
  const kernsel::Status status = kernsel::search(objective, nullptr, {{0.0, 0.0, 0.0}}, {}, optimum);
  CHECK(status.code == kernsel::Code::not_positive_definite);
}

// The search by criteria that are not likelihoods, whose information is only a first guess: no point nearby has a lower value.
void any_criterion() {
  const Data data;
  const auto factor = kernsel::dense_factor();
  kernsel::Groups groups{std::vector<Index>(60), 5};
  for (Index i = 0; i < 60; ++i) groups.of[static_cast<std::size_t>(i)] = i % 5;
  namespace criteria = kernsel::criteria;
  const kernsel::Criterion all[] = {criteria::leave_out(criteria::squared()),
                                    criteria::leave_out(criteria::log_density(), {}, true),
                                    criteria::leave_out(criteria::crps(), groups),
                                    criteria::leave_out(criteria::squared(), groups),
                                    criteria::joint_log_density(groups),
                                    criteria::generalized_cross_validation(),
                                    criteria::unbiased_risk({0.01})};
  for (const kernsel::Criterion& criterion : all) {
    kernsel::CriterionObjective objective = objective_of(data, *factor);
    objective.criterion = criterion;
    objective.kernel = kernsel::matern52({1.0, 1.0});
    objective.unknowns = {{1, 2}, 0, 3};
    kernsel::SearchOptions options;
    options.coarse = 0.02;
    options.fine = 1e-8;
    Optimum optimum;
    CHECK(kernsel::search(objective, nullptr, starts, options, optimum).ok());
    CHECK(optimum.ended == kernsel::Ended::converged && optimum.evaluations < 150);
    for (unsigned seed = 0; seed < 20; ++seed) {
      std::vector<double> x = optimum.best.x;
      const std::vector<double> step = random_numbers<double>(4, seed);
      for (std::size_t i = 0; i < 4; ++i)
        x[i] = std::clamp(x[i] + 0.1 * step[i], objective.bounds.lower[i], objective.bounds.upper[i]);
      kernsel::Trial trial;
      CHECK(objective.evaluate(x, kernsel::Order::value, trial).ok());
      CHECK_BELOW(optimum.best.value, trial.value + 1e-7);
    }
  }
}

// The gradient of each loss of points that are left out, in groups and alone, with a trend, against central differences.
void gradients_of_groups() {
  const Data data;
  std::vector<double> H(120, 1.0);
  for (std::size_t i = 0; i < 60; ++i) H[60 + i] = data.x[i];
  kernsel::Groups groups{std::vector<Index>(60), 7};
  for (Index i = 0; i < 60; ++i) groups.of[static_cast<std::size_t>(i)] = (i * i) % 7 == 0 ? 0 : i % 7;
  namespace criteria = kernsel::criteria;
  const auto factor = kernsel::dense_factor();
  for (const kernsel::Groups& left_out : {groups, kernsel::Groups{}})
    for (const auto& loss : {criteria::squared(), criteria::log_density(), criteria::crps(), criteria::smooth_absolute(0.1)})
      for (const bool profiled : {false, true}) {
        kernsel::CriterionObjective objective = objective_of(data, *factor);
        objective.problem.trend = kernsel::columns<const double>(H.data(), 60, 2);
        objective.criterion = criteria::leave_out(loss, left_out, false, profiled);
        const std::vector<double> x{0.3, -0.2, 0.4, -2.0};
        kernsel::Trial here, ahead, behind;
        CHECK(objective.evaluate(x, kernsel::Order::gradient, here).ok());
        for (std::size_t i = 0; i < 4; ++i) {
          std::vector<double> moved = x;
          moved[i] += 1e-5;
          CHECK(objective.evaluate(moved, kernsel::Order::value, ahead).ok());
          moved[i] -= 2e-5;
          CHECK(objective.evaluate(moved, kernsel::Order::value, behind).ok());
          // The error of the differences is the third derivative times h^2, and rounding errors divided by h.
          CHECK_BELOW(std::abs(here.gradient[i] - (ahead.value - behind.value) / 2e-5), 1e-6 * (1.0 + std::abs(here.value)));
        }
      }
}

// A criterion for a kernel and the noise that was chosen, without a trend.
double value_at(const kernsel::Kernel& k, const kernsel::Choice& choice, const Data& data,
                const kernsel::Criterion& criterion) {
  const double noise = choice.noise + choice.jitter;
  kernsel::Problem there = data.problem();
  there.trend = {};
  there.noise = kernsel::vector<const double>(&noise, 1);
  kernsel::Evaluation found;
  const auto factor = kernsel::dense_factor();
  CHECK(kernsel::evaluate(k, there, criterion, kernsel::Order::value, *factor, found).ok());
  return found.value;
}

// The choice by defaults: starts and bounds from the data, a scale in closed form, and leave-one-out errors as the criterion.
void chooses() {
  const Data data;
  kernsel::Choosing problem(2.0 * kernsel::matern52({1.0, 1.0}), data.problem().X, data.problem().y);
  problem.finds_noise = true;
  kernsel::Choice choice;
  CHECK(kernsel::choose(problem, {}, choice).ok());
  CHECK(choice.ended == kernsel::Ended::converged && choice.theta.size() == 3 && choice.evaluations < 150);
  CHECK(choice.noise > 1e-3 && choice.noise < 1.0);
  const auto value = [&](double more) {
    const kernsel::Kernel k = problem.kernel.with_theta({choice.theta[0], choice.theta[1] + more, choice.theta[2]});
    return value_at(k, choice, data, kernsel::criteria::leave_out(kernsel::criteria::squared()));
  };
  CHECK_BELOW(std::abs(value(0.0) - choice.criterion), 1e-9 * choice.criterion);
  CHECK_BELOW(value(0.0), std::min(value(0.05), value(-0.05)));
  kernsel::Choice again;
  CHECK(kernsel::choose(problem, {}, again).ok());
  CHECK(again.theta == choice.theta && again.criterion == choice.criterion);
  // Targets of the wrong length are refused.
  problem.y = problem.y.block(0, 0, 59, 1);
  CHECK(kernsel::choose(problem, {}, again).code == kernsel::Code::invalid_argument);
}

// An amplitude that acts twice is no common factor of the kernel: what is reported is the criterion at what was found.
void amplitudes_in_several_places() {
  const Data data;
  const kernsel::Kernel n = 2.0 * kernsel::matern52({1.0, 1.0}), other = 0.5 * kernsel::matern32({0.3, 0.4});
  for (const kernsel::Kernel& k : {n * n, n + n, n * other, n * n + n, n * other + n}) {
    kernsel::Choosing problem(k, data.problem().X, data.problem().y);
    problem.finds_noise = true;
    problem.criterion = [](const std::vector<Index>&) { return kernsel::criteria::likelihood(); };
    problem.scale_free = [](const std::vector<Index>&) {
      return kernsel::criteria::likelihood(false, kernsel::criteria::Scale::shared);
    };
    kernsel::Choice choice;
    CHECK(kernsel::choose(problem, {}, choice).ok());
    const kernsel::Kernel at = problem.kernel.with_theta(choice.theta);
    const double value = value_at(at, choice, data, kernsel::criteria::likelihood());
    CHECK_BELOW(std::abs(value - choice.criterion), 1e-8 * (1.0 + std::abs(choice.criterion)));
  }
}

// What is expected of hyperparameters: its gradient against central differences, and its second derivatives, which are bounded
// from above where they are those of a Cauchy density.
void expectations() {
  kernsel::Prior prior;
  prior.ones.push_back({0, -1, 0.5, 2.0, false});
  prior.ones.push_back({1, 0, -2.0, 0.7, false});
  prior.ones.push_back({2, 0, -1.0, 2.0, true});
  prior.alike.push_back({{3, 4, 5}, {0.1, -0.3, 0.2}, 1.5});
  prior.alike.push_back({{6, 7}, {1.0, 0.0}});
  prior.spread = 0.6;
  CHECK(!prior.empty());
  CHECK(kernsel::Prior{}.empty());
  const std::vector<double> x = random_numbers<double>(8, 11);
  const std::size_t n = x.size();
  std::vector<double> gradient(n, 0.0), curvature(n * n, 0.0), none, without;
  const double value = prior.log_density(x, gradient, curvature);
  CHECK(value == prior.log_density(x, none, without));
  constexpr double step = 1e-4;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> ahead = x, behind = x;
    ahead[i] += step;
    behind[i] -= step;
    std::vector<double> slopes_ahead(n, 0.0), slopes_behind(n, 0.0);
    const double difference =
        prior.log_density(ahead, slopes_ahead, without) - prior.log_density(behind, slopes_behind, without);
    CHECK_BELOW(std::abs(gradient[i] + difference / (2.0 * step)), 1e-6);
    for (std::size_t j = 0; j < n; ++j) {
      const double second = (slopes_ahead[j] - slopes_behind[j]) / (2.0 * step);
      const bool of_cauchy = (i == 0 || i == 2) && (j == 0 || j == 2);
      if (!of_cauchy) CHECK_BELOW(std::abs(curvature[j + n * i] - second), 1e-6);
      if (of_cauchy && i == j) CHECK(curvature[j + n * i] >= second - 1e-6);
      CHECK(curvature[j + n * i] == curvature[i + n * j]);
    }
  }
  // Length scales that are alike but for the spread, with a common part, have the covariance s^2 I + w^2 1 1'.
  kernsel::Prior pair;
  pair.alike.push_back({{0, 1}, {0.0, 0.0}, 2.0});
  pair.spread = 0.5;
  const double a = 0.3, b = -0.8, own = 0.25 + 4.0, joint = 4.0, determinant = own * own - joint * joint;
  const double form = (own * (a * a + b * b) - 2.0 * joint * a * b) / determinant;
  const double of_spread = -0.5 / kernsel::Prior::mean_spread - std::log(kernsel::Prior::mean_spread);
  const double expected = -0.5 * form - 0.5 * std::log(determinant) - std::log(2.0 * 3.14159265358979323846) + of_spread;
  CHECK_BELOW(std::abs(pair.log_density({a, b}, none, without) - expected), 1e-12);
}

// Laplace's approximation is exact for a quadratic function, wherever it is begun: f(x) = 1 - (x - m)' H (x - m) / 2.
void integral_of_a_normal_density() {
  const std::vector<double> H{2.0, 0.5, 0.5, 1.0}, m{0.3, -0.7};
  const double exact = 1.0 + std::log(2.0 * 3.14159265358979323846) - 0.5 * std::log(2.0 * 1.0 - 0.5 * 0.5);
  for (const double away : {0.0, 1.0, -3.0}) {
    const std::vector<double> way{away, 0.5 * away};  // x - m
    std::vector<double> negative_gradient{H[0] * way[0] + H[2] * way[1], H[1] * way[0] + H[3] * way[1]};
    const double f = 1.0 - 0.5 * (way[0] * negative_gradient[0] + way[1] * negative_gradient[1]);
    CHECK_BELOW(std::abs(kernsel::laplace_near(f, negative_gradient, H) - exact), 1e-12);
  }
  CHECK(kernsel::laplace_near(1.5, {}, {}) == 1.5);
  CHECK(std::isnan(kernsel::laplace_near(0.0, {0.0, 0.0}, {1.0, 2.0, 2.0, 1.0})));
}

}  // namespace

int main() {
  quadratic_problems();
  other_hyperparameters();
  expectations();
  integral_of_a_normal_density();
  finds_the_optimum();
  ends_early();
  nowhere_to_begin();
  any_criterion();
  gradients_of_groups();
  chooses();
  amplitudes_in_several_places();
  return report("search");
}
