// The posterior by Nystrom's approximation: with the points as landmarks compared with the dense one, with few landmarks its
// derivatives compared with central differences, and updates with new fits.
#include "kernsel/nystrom_posterior.hpp"

#include <atomic>
#include <thread>

#include "base/parallel.hpp"
#include "kernsel/conjugate_gradients.hpp"
#include "kernsel/runtime.hpp"
#include "posteriors.hpp"

using kernsel::Basis;
using kernsel::Conditioning;
using kernsel::DensePosterior;
using kernsel::NystromBlocks;
using kernsel::NystromOptions;
using kernsel::NystromPosterior;
using kernsel::NystromSums;
using kernsel::RowBlock;

namespace {

const Kernel smooth = 1.5 * kernsel::matern52({1.0, 2.0});
constexpr Index few = 12;

NystromOptions landmarks(Index count) {
  NystromOptions options;
  options.landmarks = count;
  return options;
}

NystromOptions at_points(const Numbers& coordinates) {
  NystromOptions options;
  options.given = coordinates;
  return options;
}

Numbers coordinates_of(const NystromPosterior& model) {
  const View<const double> U = model.landmarks();
  Numbers out;
  for (Index i = 0; i < U.rows; ++i)
    for (Index j = 0; j < U.cols; ++j) out.push_back(U(i, j));
  return out;
}

// All that a posterior of rows knows.
Numbers all_of(const Posterior& model) {
  Numbers out;
  for (const Numbers& part : {mean_of(model), variance_of(model), covariance_of(model), mean_gradient_of(model),
                              variance_gradient_of(model), left_out_of(model), values_of(model)})
    out.insert(out.end(), part.begin(), part.end());
  return out;
}

void compare(const Posterior& model, const Posterior& other, double allowed) {
  CHECK(model.points() == other.points() && model.columns() == d && model.outputs() == other.outputs());
  CHECK_BELOW(difference(mean_of(model), mean_of(other)), allowed);
  CHECK_BELOW(difference(variance_of(model), variance_of(other)), allowed);
  CHECK_BELOW(difference(covariance_of(model), covariance_of(other)), allowed);
  CHECK_BELOW(difference(mean_gradient_of(model), mean_gradient_of(other)), allowed);
  CHECK_BELOW(difference(variance_gradient_of(model), variance_gradient_of(other)), allowed);
  CHECK_BELOW(difference(left_out_of(model), left_out_of(other)), allowed);
  CHECK_BELOW(difference(values_of(model), values_of(other)), allowed);
}

// The diagonal of K_UU, 1e-10 larger than it is, changes variances of some 1e-2 by that.
constexpr double of_jitter = 1e-7;

// With all points as landmarks, both posteriors are the same.
void compare_with_dense() {
  for (const Kernel& k : {smooth, smooth + kernsel::white(0.2)})
    for (const Basis::Kind trend : {Basis::Kind::none, Basis::Kind::constant, Basis::Kind::linear})
      for (const Index outputs : {1, 2}) {
        const Numbers y = targets(outputs), noise = variances();
        const Conditioning given{k, X, rows(y.data(), n, outputs), vector(noise.data(), n), trend};
        DensePosterior dense;
        NystromPosterior model;
        CHECK(dense.condition(given).ok());
        CHECK(model.condition(given, at_points(x)).ok());
        compare(model, dense, of_jitter);
        CHECK(model.trend().rows == dense.trend().rows);
      }
}

// Points are added and removed; what is stored makes the same bits.
void update() {
  for (const Basis::Kind trend : {Basis::Kind::none, Basis::Kind::linear}) {
    const Numbers y = targets(2), noise = variances();
    const View<const double> Y = rows(y.data(), n, 2), N = vector(noise.data(), n);
    const Index first = 20;
    NystromPosterior whole, grown, again;
    CHECK(whole.condition({smooth, X, Y, N, trend}, landmarks(few)).ok());
    const NystromOptions options = at_points(coordinates_of(whole));
    CHECK(grown.condition({smooth, X.block(0, 0, first, d), Y.block(0, 0, first, 2), N.block(0, 0, first, 1), trend}, options)
              .ok());
    for (const Index begin : {first, first + 1}) {
      const Index count = begin == first ? 1 : n - begin;
      CHECK(grown.append(X.block(begin, 0, count, d), Y.block(begin, 0, count, 2), N.block(begin, 0, count, 1)).ok());
    }
    compare(grown, whole, 1e-11);
    for (const Index i : {n - 1, Index{30}, Index{0}}) {
      CHECK(grown.remove(i).ok());
      CHECK(grown.points() == grown.X().rows);
    }
    Numbers kept_x, kept_y, kept_noise;
    for (Index i = 1; i < n - 1; ++i) {
      if (i == 30) continue;
      kept_x.insert(kept_x.end(), x.begin() + i * d, x.begin() + (i + 1) * d);
      kept_y.insert(kept_y.end(), y.begin() + 2 * i, y.begin() + 2 * i + 2);
      kept_noise.push_back(noise[at(i)]);
    }
    const Conditioning kept{smooth, rows<const double>(kept_x.data(), n - 3, d), rows<const double>(kept_y.data(), n - 3, 2),
                            vector<const double>(kept_noise.data(), n - 3), trend};
    CHECK(whole.condition(kept, options).ok());
    compare(grown, whole, 1e-11);
    CHECK(again.assume(kept, options, whole.sums()).ok());
    CHECK(all_of(again) == all_of(whole));

    // Another kernel, for the same landmarks.
    const Kernel other = 0.7 * kernsel::matern32({0.5, 0.9});
    CHECK(grown.set_kernel(other).ok());
    CHECK(whole.condition({other, kept.X, kept.y, kept.noise, trend}, options).ok());
    compare(grown, whole, 1e-14);
  }
}

// Rows that were seen block by block, and none is kept.
void condition_on_sums() {
  const Numbers y = targets(1), noise = variances();
  const Conditioning given{smooth, X, rows(y.data(), n, 1), vector(noise.data(), n), Basis::Kind::constant};
  NystromPosterior whole, model;
  CHECK(whole.condition(given, landmarks(few)).ok());
  const Numbers ones(at(n), 1.0);
  const auto block = [&](Index begin, Index end) {
    const Index count = end - begin;
    return RowBlock{X.block(begin, 0, count, d), given.y.block(begin, 0, count, 1), given.noise.block(begin, 0, count, 1),
                    vector(ones.data(), count)};
  };
  NystromBlocks blocks;
  NystromSums sums;
  CHECK(blocks.begin(smooth, whole.landmarks(), 1).ok());
  CHECK(blocks.add(block(0, 25), sums).ok());
  CHECK(blocks.add(block(25, 50), sums).ok());
  const View<const double> no_rows{nullptr, 0, d, d, 1};
  const NystromOptions options = at_points(coordinates_of(whole));
  CHECK(model.assume({smooth, no_rows, {}, {}, Basis::Kind::constant}, options, sums).ok());
  CHECK(model.points() == 50 && !model.has_rows() && model.X().rows == 0);
  const RowBlock rest = block(50, n);
  CHECK(model.append(rest.X, rest.y, rest.noise).ok());
  CHECK(model.points() == n && model.X().rows == 0);
  CHECK_BELOW(difference(mean_of(model), mean_of(whole)), 1e-11);
  CHECK_BELOW(difference(covariance_of(model), covariance_of(whole)), 1e-11);
  CHECK_BELOW(difference(variance_gradient_of(model), variance_gradient_of(whole)), 1e-11);
  Numbers found(2), expected(2), residuals(at(n));
  for (const bool restricted : {false, true}) {
    CHECK(model.value(kernsel::criteria::likelihood(restricted), found[restricted]).ok());
    CHECK(whole.value(kernsel::criteria::likelihood(restricted), expected[restricted]).ok());
  }
  CHECK_BELOW(difference(found, expected), 1e-12);

  // What takes rows is refused.
  CHECK(!model.value(kernsel::criteria::generalized_cross_validation(), found[0]).ok());
  CHECK(!model.leave_one_out(vector(residuals.data(), n), {}, {}).ok());
  CHECK(!model.coefficients(vector(residuals.data(), n)).ok());
  CHECK(!model.remove(0).ok());
  CHECK(!model.set_kernel(smooth).ok());
}

void differentiate() {
  const Numbers y = targets(2), noise = variances();
  for (const Basis::Kind trend : {Basis::Kind::none, Basis::Kind::constant, Basis::Kind::quadratic})
    for (const Kernel& k : {smooth + kernsel::white(0.1), smooth * kernsel::dot_product(1.0, {1.0, 0.5})}) {
      NystromPosterior model;
      CHECK(model.condition({k, X, rows(y.data(), n, 2), vector(noise.data(), n), trend}, landmarks(few)).ok());
      const auto mean = [&](View<const double> points) { return mean_of(model, points); };
      const auto variance = [&](View<const double> points) { return variance_of(model, points); };
      CHECK_BELOW(difference(mean_gradient_of(model), central_differences(2, mean)), 1e-7);
      CHECK_BELOW(difference(variance_gradient_of(model), central_differences(1, variance)), 1e-7);
      const Numbers joint = covariance_of(model), own = variance_of(model);
      for (Index i = 0; i < m; ++i) CHECK_BELOW(std::abs(joint[at(i * (m + 1))] - own[at(i)]), 1e-13 * 10.0);
    }
}

// The same bits for any number of threads, for more points than are processed at a time.
void compare_threads() {
  const Index many = 3000, columns_of_many = 3, outputs = 2;
  const Numbers points = random_numbers<double>(many * columns_of_many, 5), y = random_numbers<double>(many * outputs, 6),
                noise{0.1};
  const View<const double> all = rows(points.data(), many, columns_of_many), some = all.block(0, 0, 1100, columns_of_many);
  kernsel::use_a_team_for_any_work(true);
  Numbers found[2];
  for (const int threads : {1, 2}) {
    kernsel::set_num_threads(threads);
    NystromPosterior model;
    CHECK(model
              .condition(
                  {kernsel::matern52({1.0}), all, rows(y.data(), many, outputs), vector(noise.data(), 1), Basis::Kind::linear},
                  landmarks(30))
              .ok());
    for (const Numbers& part : {mean_of(model, all), variance_of(model, all), covariance_of(model, some), left_out_of(model)})
      found[threads - 1].insert(found[threads - 1].end(), part.begin(), part.end());
    const Numbers joint = covariance_of(model, some), own = variance_of(model, some);
    CHECK_BELOW(std::abs(joint[at(1050 * 1101)] - own[1050]), 1e-13);
  }
  kernsel::use_a_team_for_any_work(false);
  CHECK(found[0] == found[1]);
}

void share_between_threads() {
  const Numbers y = targets(1), noise = variances();
  NystromPosterior model;
  CHECK(model.condition({smooth, X, rows(y.data(), n, 1), vector(noise.data(), n), Basis::Kind::linear}, landmarks(few)).ok());
  const Numbers before = variance_of(model);
  std::vector<Numbers> found(4, Numbers(at(m)));
  std::vector<std::thread> threads;
  std::atomic<int> failed{0};
  for (Numbers& variance : found)
    threads.emplace_back([&model, &variance, &failed] { failed += !model.variance(Z, vector(variance.data(), m)).ok(); });
  for (std::thread& thread : threads) thread.join();
  CHECK(failed == 0);
  for (const Numbers& variance : found) CHECK(variance == before);
}

// Coefficients of the whole kernel matrix, by few landmarks and iterations.
void iterate() {
  for (const Kernel& k : {smooth, smooth + kernsel::white(0.2)})
    for (const Basis::Kind trend : {Basis::Kind::none, Basis::Kind::constant, Basis::Kind::quadratic}) {
      const Numbers y = targets(2), noise = variances();
      const Conditioning given{k, X, rows(y.data(), n, 2), vector(noise.data(), n), trend};
      DensePosterior dense;
      CHECK(dense.condition(given).ok());
      Numbers c, beta;
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < 2; ++j) c.push_back(dense.coefficients()(i, j));
      for (Index i = 0; i < dense.trend().rows; ++i)
        for (Index j = 0; j < 2; ++j) beta.push_back(dense.trend()(i, j));
      kernsel::Solution solution;
      CHECK(kernsel::solve_by_conjugate_gradients(given, landmarks(few), {1e-10, 60}, solution).ok());
      CHECK(solution.residual < 1e-9 && solution.iterations > 2 && solution.iterations < 40);
      CHECK_BELOW(difference(solution.c, c), 1e-7);  // the residual, by the condition number, some hundred
      if (!beta.empty()) CHECK_BELOW(difference(solution.beta, beta), 1e-7);

      // With all points as landmarks there is next to nothing left to be done; and too few iterations are said to be that.
      CHECK(kernsel::solve_by_conjugate_gradients(given, at_points(x), {1e-10, 60}, solution).ok());
      CHECK(solution.iterations <= 2);
      CHECK(kernsel::solve_by_conjugate_gradients(given, landmarks(few), {1e-10, 1}, solution).ok());
      CHECK(solution.iterations == 1 && solution.residual > 1e-6);
    }
}

void refuse() {
  const Numbers y = targets(1), noise = variances(), bad{std::nan(""), 0.0}, zero{0.0}, one{1.0};
  NystromPosterior model;
  const Conditioning given{smooth, X, rows(y.data(), n, 1), vector(noise.data(), n), Basis::Kind::linear};
  CHECK(!model.condition(given, landmarks(0)).ok());
  CHECK(!model.condition({smooth, X, rows(y.data(), n, 1), {}, {}}, landmarks(few)).ok());  // no noise
  CHECK(!model
             .condition({smooth, X.block(0, 0, 2, d), rows(y.data(), 2, 1), vector(noise.data(), 1), Basis::Kind::linear},
                        landmarks(few))
             .ok());  // a trend that two points do not determine
  CHECK(model.condition(given, landmarks(few)).ok());
  Numbers out(2);
  CHECK(!model.mean(rows<const double>(bad.data(), 1, d), vector(out.data(), 1)).ok());
  CHECK(!model.mean(rows<const double>(bad.data(), 1, 1), vector(out.data(), 1)).ok());
  CHECK(!model.remove(n).ok());
  CHECK(!model.assume(given, landmarks(few), model.sums()).ok());                     // no landmarks
  CHECK(!model.assume(given, at_points({0.0, 0.0, 1.0, 1.0}), model.sums()).ok());    // other ones
  CHECK(!model.assume(given, at_points(coordinates_of(model)), NystromSums{}).ok());  // no rows
  const Numbers before = all_of(model);
  CHECK(!model.append(Z.block(0, 0, 1, d), vector(one.data(), 1), vector(zero.data(), 1)).ok());
  CHECK(all_of(model) == before);

  // A point without which the trend is not determined stays, and so does the model.
  NystromPosterior least;
  CHECK(least
            .condition({smooth, X.block(0, 0, 4, d), rows(y.data(), 4, 1), vector(noise.data(), 4), Basis::Kind::linear},
                       landmarks(few))
            .ok());
  CHECK(least.remove(1).ok());
  const Numbers mean = mean_of(least);
  CHECK(!least.remove(0).ok());
  CHECK(least.points() == 3 && mean_of(least) == mean);
}

}  // namespace

int main() {
  compare_with_dense();
  update();
  condition_on_sums();
  differentiate();
  compare_threads();
  share_between_threads();
  iterate();
  refuse();
  return report("nystrom_posterior");
}
