// The search: its quadratic problems against all sets of bounds that could hold, kernels with other hyperparameters, and what a
// search does when it is stopped or cannot begin.
#include <algorithm>
#include <stdexcept>

#include "check.hpp"
#include "kernsel/gram.hpp"
#include "kernsel/selection.hpp"
#include "search/box.hpp"

using kernsel::Index;
using kernsel::Kernel;
using kernsel::Objective;
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

// The least value over a fine grid of each free number, one after the other, many times: slow, and sure for convex functions.
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
      lower[i] = seed % 3 == 0 && i == 0 ? 0.0 : -std::abs(room[i]);  // some begin at a bound, some cannot move at all
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
  // One node stays one node, with one set of parameters, and the kernel that was there is as it was.
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

Objective objective_of(const Data& data) {
  Objective objective{
      2.0 * kernsel::matern52({1.0, 1.0}), data.problem(), data.ones, 1e-10, kernsel::criteria::likelihood(), {}, true, {}};
  objective.unknowns.place = {0, 1, 2};
  objective.unknowns.noise = 3;
  objective.unknowns.lower = {-5.0, -5.0, -5.0, -12.0};
  objective.unknowns.upper = {5.0, 9.0, 9.0, 2.0};
  objective.unknowns.reach = {1.0, 1.0, 1.0, 3.0};
  return objective;
}

const std::vector<std::vector<double>> starts{{0.0, 0.0, 0.0, -3.0}, {1.0, 2.0, 2.0, 0.0}, {-1.0, -2.0, -2.0, -9.0}};

void finds_the_optimum() {
  const Data data;
  const Objective objective = objective_of(data);
  kernsel::LowerTiles<double> buffer;
  kernsel::SearchOptions options;
  options.fine = 1e-9;
  Optimum optimum;
  CHECK(kernsel::search(objective, nullptr, starts, options, buffer, optimum).ok());
  CHECK(optimum.ended == kernsel::Ended::converged);
  CHECK(optimum.evaluations < 60);
  CHECK(optimum.of_starts.size() == starts.size());
  for (const double slope : optimum.best.gradient) CHECK_BELOW(std::abs(slope), 1e-3);
  // Nowhere near is it better.
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::vector<double> x = optimum.best.x;
    const std::vector<double> step = random_numbers<double>(4, seed);
    for (std::size_t i = 0; i < 4; ++i)
      x[i] = std::clamp(x[i] + 0.1 * step[i], objective.unknowns.lower[i], objective.unknowns.upper[i]);
    kernsel::Trial trial;
    CHECK(objective.evaluate(x, kernsel::Order::value, buffer, trial).ok());
    CHECK_BELOW(optimum.best.value, trial.value);
  }
  // Symmetric; tests/python/test_selection.py has the formula.
  kernsel::Trial here;
  CHECK(objective.evaluate(optimum.best.x, kernsel::Order::information, buffer, here).ok());
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t b = 0; b < 4; ++b) CHECK_BELOW(std::abs(here.information[a + 4 * b] - here.information[b + 4 * a]), 1e-8);
}

void ends_early() {
  const Data data;
  const Objective objective = objective_of(data);
  kernsel::LowerTiles<double> buffer;
  Optimum optimum;
  kernsel::SearchOptions few;
  few.evaluations = 3;
  CHECK(kernsel::search(objective, nullptr, starts, few, buffer, optimum).ok());
  CHECK(optimum.ended == kernsel::Ended::evaluations && optimum.evaluations == 3 && std::isfinite(optimum.best.value));
  kernsel::SearchOptions told;
  Index calls = 0;
  told.progress = [&](Index evaluations, Index points, double) {
    ++calls;
    CHECK(evaluations == calls && points == 60);
    return calls < 5;
  };
  CHECK(kernsel::search(objective, nullptr, starts, told, buffer, optimum).ok());
  CHECK(optimum.ended == kernsel::Ended::stopped && calls == 5);
  kernsel::SearchOptions brief;
  brief.seconds = 0.0;
  CHECK(kernsel::search(objective, nullptr, starts, brief, buffer, optimum).ok());
  CHECK(optimum.ended == kernsel::Ended::seconds && optimum.evaluations == 1);
  told.progress = [](Index, Index, double) -> bool { throw std::runtime_error("enough"); };
  CHECK(kernsel::search(objective, nullptr, starts, told, buffer, optimum).code == kernsel::Code::exception);
}

void nowhere_to_begin() {
  Data data;
  data.x.assign(data.x.size(), 1.0);  // all points are one
  Objective objective = objective_of(data);
  objective.jitter = 0.0;
  objective.noise.clear();
  objective.unknowns.noise = -1;
  objective.unknowns.lower.pop_back();
  objective.unknowns.upper.pop_back();
  objective.unknowns.reach.pop_back();
  kernsel::LowerTiles<double> buffer;
  Optimum optimum;
  const kernsel::Status status = kernsel::search(objective, nullptr, {{0.0, 0.0, 0.0}}, {}, buffer, optimum);
  CHECK(status.code == kernsel::Code::not_positive_definite);
}

}  // namespace

int main() {
  quadratic_problems();
  other_hyperparameters();
  finds_the_optimum();
  ends_early();
  nowhere_to_begin();
  return report("selection");
}
