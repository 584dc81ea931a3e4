// The posterior by Vecchia's approximation: with all points as neighbours compared with the dense one, with few neighbours its
// derivatives compared with central differences, and updates with new fits.
#include "kernsel/vecchia_posterior.hpp"

#include <atomic>
#include <thread>

#include "base/parallel.hpp"
#include "kernsel/gram.hpp"
#include "kernsel/runtime.hpp"
#include "posteriors.hpp"

using kernsel::Basis;
using kernsel::columns;
using kernsel::Conditioning;
using kernsel::DensePosterior;
using kernsel::VecchiaOptions;
using kernsel::VecchiaPosterior;

namespace {

VecchiaOptions neighbours(Index count, Index inducing = 0) {
  VecchiaOptions options;
  options.neighbours = count;
  options.inducing = inducing;
  return options;
}

void compare(const Posterior& model, const Posterior& dense, double allowed) {
  CHECK(model.points() == dense.points() && model.columns() == d && model.outputs() == dense.outputs());
  CHECK_BELOW(difference(mean_of(model), mean_of(dense)), allowed);
  CHECK_BELOW(difference(variance_of(model), variance_of(dense)), allowed);
  CHECK_BELOW(difference(covariance_of(model), covariance_of(dense)), 1e3 * allowed);  // with 1e-12 added to the variances
  CHECK_BELOW(difference(mean_gradient_of(model), mean_gradient_of(dense)), allowed);
  CHECK_BELOW(difference(variance_gradient_of(model), variance_gradient_of(dense)), allowed);
  CHECK_BELOW(difference(left_out_of(model), left_out_of(dense)), 10.0 * allowed);
  CHECK_BELOW(difference(values_of(model), values_of(dense)), allowed);
}

const Kernel smooth = 1.5 * kernsel::matern52({1.0, 2.0});

// With all points as neighbours, both posteriors are the same.
void compare_with_dense() {
  for (const Kernel& k : {smooth, smooth + kernsel::white(0.2)})
    for (const Basis::Kind trend : {Basis::Kind::none, Basis::Kind::constant, Basis::Kind::linear})
      for (const Index outputs : {1, 2}) {
        const Index inducing = trend == Basis::Kind::constant ? 0 : 7;
        const VecchiaOptions options = neighbours(n + m, inducing);
        const Numbers y = targets(outputs), noise = variances();
        const Conditioning given{k, X, rows(y.data(), n, outputs), vector(noise.data(), n), trend};
        DensePosterior dense;
        VecchiaPosterior model;
        CHECK(dense.condition(given).ok());
        CHECK(model.condition(given, options, n + m).ok());
        compare(model, dense, 1e-12);

        // The same from what is stored, and in one pass.
        VecchiaPosterior again;
        CHECK(again.assume(given, model.options(), model.predict_neighbours(), model.coefficients(), model.trend_triangle())
                  .ok());
        Numbers mean(at(m * outputs)), variance(at(m));
        CHECK(again.predict(Z, rows(mean.data(), m, outputs), vector(variance.data(), m)).ok());
        CHECK(mean == mean_of(model) && variance == variance_of(model));
        CHECK(again.landmarks().rows == inducing && again.trend().rows == model.trend().rows);

        // Most points are added to a posterior of the first ones, and some are removed.
        const Index first = 20;
        Conditioning some = given;
        some.X = X.block(0, 0, first, d);
        some.y = given.y.block(0, 0, first, outputs);
        some.noise = given.noise.block(0, 0, first, 1);
        CHECK(model.condition(some, options, n + m).ok());
        const auto append = [&](Posterior& to, Index begin, Index end) {
          const Index count = end - begin;
          CHECK(to.append(X.block(begin, 0, count, d), given.y.block(begin, 0, count, outputs),
                          given.noise.block(begin, 0, count, 1))
                    .ok());
        };
        append(model, first, first + 3);
        CHECK_BELOW(difference(mean_of(model), mean_of(model)), 0.0);
        for (Index i = first + 3; i < n - 10; ++i) append(model, i, i + 1);
        append(model, n - 10, n);
        compare(model, dense, 1e-11);
        for (const Index i : {n - 1, Index{30}, Index{0}}) {
          CHECK(model.remove(i).ok());
          CHECK(dense.remove(i).ok());
        }
        compare(model, dense, 1e-11);
      }
}

void differentiate() {
  const Numbers y = targets(2), noise = variances();
  for (const Basis::Kind trend : {Basis::Kind::none, Basis::Kind::constant, Basis::Kind::quadratic})
    for (const Kernel& k : {smooth + kernsel::white(0.1), smooth * kernsel::dot_product(1.0, {1.0, 0.5})}) {
      VecchiaPosterior model;
      CHECK(model.condition({k, X, rows(y.data(), n, 2), vector(noise.data(), n), trend}, neighbours(5), 7).ok());
      const auto mean = [&](View<const double> points) { return mean_of(model, points); };
      const auto variance = [&](View<const double> points) { return variance_of(model, points); };
      CHECK_BELOW(difference(mean_gradient_of(model), central_differences(2, mean)), 1e-7);
      CHECK_BELOW(difference(variance_gradient_of(model), central_differences(1, variance)), 1e-7);
    }
}

// New points that equal training points or each other, without noise.
void predict_equal_points() {
  const Numbers y = targets(1);
  for (const Basis::Kind trend : {Basis::Kind::none, Basis::Kind::linear}) {
    VecchiaPosterior model;
    CHECK(model.condition({smooth, X, rows(y.data(), n, 1), {}, trend}, neighbours(10), 15).ok());
    Numbers same(x.begin(), x.begin() + 4 * d);  // four training points, then new ones, of which some are equal
    for (const Index i : {0, 1, 0, 1, 2, 0}) same.insert(same.end(), z.begin() + i * d, z.begin() + (i + 1) * d);
    const View<const double> points = rows<const double>(same.data(), 10, d);
    const Numbers mean = mean_of(model, points), variance = variance_of(model, points), joint = covariance_of(model, points);
    for (Index i = 0; i < 4; ++i) {
      CHECK_BELOW(std::abs(mean[at(i)] - y[at(i)]), 1e-11);
      CHECK_BELOW(std::abs(variance[at(i)]), 1e-12);
      CHECK(variance[at(i)] >= 0.0);
      for (Index j = 0; j < 10; ++j) CHECK_BELOW(std::abs(joint[at(i * 10 + j)]), 1e-10);
    }
    for (const Index twin : {6, 9})
      for (Index j = 0; j < 10; ++j) CHECK_BELOW(std::abs(joint[at(4 * 10 + j)] - joint[at(twin * 10 + j)]), 1e-10);
    CHECK(joint[at(4 * 11)] > 1e-6);
  }
}

// With few neighbours, the joint covariance of points that are far from each other has the variances on its diagonal.
void compare_joint_with_variances() {
  const Numbers y = targets(1), noise = variances();
  VecchiaPosterior model;
  CHECK(
      model.condition({smooth, X, rows(y.data(), n, 1), vector(noise.data(), n), Basis::Kind::linear}, neighbours(8), 6).ok());
  for (Index i = 0; i < m; ++i)
    CHECK_BELOW(difference(covariance_of(model, Z.block(i, 0, 1, d)), variance_of(model, Z.block(i, 0, 1, d))), 1e-14);
}

// A grid, on which the matrix of noise-free new points is singular up to rounding.
void draw_on_a_grid() {
  const Index count = 400;
  const Numbers y = targets(1), noise = variances();
  Numbers grid(at(count * d), 0.3);
  for (Index i = 0; i < count; ++i) grid[at(i * d)] = 0.01 * static_cast<double>(i - count / 2);
  const View<const double> points = rows<const double>(grid.data(), count, d);
  const Kernel k = 1.5 * kernsel::rbf({1.0, 2.0});
  const Conditioning given{k, X, rows(y.data(), n, 1), vector(noise.data(), n), Basis::Kind::constant};
  DensePosterior dense;
  CHECK(dense.condition(given).ok());
  VecchiaPosterior model;
  CHECK(model.condition(given, neighbours(n), n + count).ok());
  CHECK_BELOW(difference(covariance_of(model, points), covariance_of(dense, points)), 1e-7);
  CHECK(model.condition(given, neighbours(n), 80).ok());
  CHECK_BELOW(difference(covariance_of(model, points), covariance_of(dense, points)), 1e-5);
  const Numbers u = random_numbers<double>(count, 8);
  Numbers drawn(at(count));
  CHECK(model.draw(points, vector(u.data(), count), vector(drawn.data(), count)).ok());
}

// The same bits for any number of threads.
void compare_threads() {
  const Index many = 3000, columns_of_many = 3, outputs = 2;
  const Numbers points = random_numbers<double>(many * columns_of_many, 5), y = random_numbers<double>(many * outputs, 6),
                others = random_numbers<double>(500 * columns_of_many, 7), noise{0.1};
  const View<const double> to = rows<const double>(others.data(), 500, columns_of_many);
  kernsel::use_a_team_for_any_work(true);
  Numbers found[2];
  for (const int threads : {1, 2}) {
    kernsel::set_num_threads(threads);
    VecchiaPosterior model;
    CHECK(model
              .condition({kernsel::matern52({1.0}), rows(points.data(), many, columns_of_many), rows(y.data(), many, outputs),
                          vector(noise.data(), 1), Basis::Kind::linear},
                         neighbours(10), 20)
              .ok());
    Numbers& all = found[threads - 1];
    for (const Numbers& part : {mean_of(model, to), variance_of(model, to), covariance_of(model, to), left_out_of(model)})
      all.insert(all.end(), part.begin(), part.end());
  }
  kernsel::use_a_team_for_any_work(false);
  CHECK(found[0] == found[1]);
}

// Rows that are added come to be more than the limit beside the tree: predictions are those of a posterior made at once, whose
// trend has other predecessors, so there is none.
void append_many() {
  const Index before = 1500, after = 1300, all = before + after;
  const Numbers points = random_numbers<double>(all, 5), y = random_numbers<double>(all, 6), noise{0.1};
  const Kernel k = kernsel::matern32({0.2});
  const Numbers variance_of_added(at(after), 0.1);
  const auto part = [&](Index begin, Index end) { return rows<const double>(points.data() + begin, end - begin, 1); };
  const View<const double> to = part(100, 200);
  VecchiaPosterior model, at_once;
  CHECK(at_once.condition({k, part(0, all), rows(y.data(), all, 1), vector(noise.data(), 1)}, neighbours(4), 12).ok());
  CHECK(model.condition({k, part(0, before), rows(y.data(), before, 1), vector(noise.data(), 1)}, neighbours(4), 12).ok());
  Index end = before;
  for (const Index count : {200, 700, 200, 200}) {
    CHECK(model
              .append(part(end, end + count), rows<const double>(y.data() + end, count, 1),
                      vector<const double>(variance_of_added.data(), count))
              .ok());
    end += count;
    CHECK(model.points() == end);
    if (end == all) CHECK_BELOW(difference(mean_of(model, to), mean_of(at_once, to)), 1e-12);
    if (end == before + 900) {
      VecchiaPosterior same;
      CHECK(same.condition({k, part(0, end), rows(y.data(), end, 1), vector(noise.data(), 1)}, neighbours(4), 12).ok());
      CHECK_BELOW(difference(mean_of(model, to), mean_of(same, to)), 1e-12);
    }
  }
}

// What is computed when it is first needed is computed once, by one of several threads.
void share_between_threads() {
  const Numbers y = targets(1), noise = variances();
  VecchiaPosterior model;
  CHECK(
      model.condition({smooth, X, rows(y.data(), n, 1), vector(noise.data(), n), Basis::Kind::linear}, neighbours(8), 10).ok());
  const Numbers before = mean_of(model);
  CHECK(model.append(X.block(0, 0, 1, d), vector(y.data(), 1), vector(noise.data(), 1)).ok());
  CHECK(model.remove(n).ok());
  std::vector<Numbers> found(4, Numbers(at(m)));
  std::vector<std::thread> threads;
  std::atomic<int> failed{0};
  for (Numbers& mean : found)
    threads.emplace_back([&model, &mean, &failed] { failed += !model.mean(Z, vector(mean.data(), m)).ok(); });
  for (std::thread& thread : threads) thread.join();
  CHECK(failed == 0);
  for (const Numbers& mean : found) CHECK(mean == before);
}

// Neither no new points at all nor a kernel that depends on no column are exceptions.
void predict_in_extreme_cases() {
  const Numbers y = targets(1), noise = variances();
  for (const Kernel& k : {smooth, kernsel::constant(2.0), kernsel::dot_product(0.0)})
    for (const Index points : {Index{1}, n}) {
      VecchiaPosterior model;
      DensePosterior dense;
      const Conditioning given{k, X.block(0, 0, points, d), rows(y.data(), points, 1), vector(noise.data(), points), {}};
      CHECK(model.condition(given, neighbours(n), n).ok());
      CHECK(dense.condition(given).ok());
      CHECK(mean_of(model, Z.block(0, 0, 0, d)).empty() && covariance_of(model, Z.block(0, 0, 0, d)).empty());
      CHECK_BELOW(difference(mean_of(model), mean_of(dense)), 1e-11);
      CHECK_BELOW(difference(variance_of(model), variance_of(dense)), 1e-11);
      CHECK_BELOW(difference(left_out_of(model), left_out_of(dense)), 1e-11);
      const Numbers origin(d, 0.0);
      CHECK_BELOW(difference(variance_of(model, rows<const double>(origin.data(), 1, d)),
                             variance_of(dense, rows<const double>(origin.data(), 1, d))),
                  1e-11);
    }
}

void interrupt() {
  const Index many = 200000;
  const Numbers y = targets(1), noise = variances(), points = random_numbers<double>(many * d, 9);
  VecchiaPosterior model;
  CHECK(model.condition({smooth, X, rows(y.data(), n, 1), vector(noise.data(), n), {}}, neighbours(30), 50).ok());
  Numbers mean(at(many));
  kernsel::set_interrupt_check([] { return true; });
  const kernsel::Status status = model.mean(rows<const double>(points.data(), many, d), vector(mean.data(), many));
  kernsel::set_interrupt_check(nullptr);
  CHECK(status.code == kernsel::Code::interrupted);
}

void refuse() {
  const Numbers y = targets(1), noise = variances();
  const Kernel exact = kernsel::matern52({1.0, 2.0});  // of variance one: pivots of equal points are exactly zero
  VecchiaPosterior model;
  const Conditioning given{exact, X, rows(y.data(), n, 1), vector(noise.data(), n), Basis::Kind::constant};
  CHECK(!model.condition(given, neighbours(0), 5).ok());
  CHECK(!model.condition(given, neighbours(5), 0).ok());
  CHECK(model.condition(given, neighbours(5), 5).ok());
  const Numbers bad{std::nan(""), 0.0};
  Numbers out(2);
  CHECK(!model.mean(rows<const double>(bad.data(), 1, d), vector(out.data(), 1)).ok());
  CHECK(!model.mean(rows<const double>(bad.data(), 1, 1), vector(out.data(), 1)).ok());
  CHECK(!model.remove(n).ok());

  // A new point that equals a training point without noise cannot be added, and then none is.
  CHECK(model.condition({exact, X, rows(y.data(), n, 1), {}, Basis::Kind::constant}, neighbours(5), 5).ok());
  const Numbers before = mean_of(model), zero{0.0, 0.0}, values{1.0, 2.0};
  const Numbers added{0.1, 0.2, x[0], x[1]};
  const kernsel::Status status =
      model.append(rows<const double>(added.data(), 2, d), vector(values.data(), 2), vector(zero.data(), 2));
  CHECK(status.code == kernsel::Code::not_positive_definite && status.pivot >= 0);
  CHECK(model.points() == n && mean_of(model) == before);

  // Two equal training points without noise: sets with both are singular, and the pivot is one of them.
  Numbers twice = x;
  twice[at(5 * d)] = x[0];
  twice[at(5 * d + 1)] = x[1];
  CHECK(model.condition({exact, rows<const double>(twice.data(), n, d), rows(y.data(), n, 1), {}, {}}, neighbours(5), 5).ok());
  const kernsel::Status failed = model.mean(rows<const double>(x.data(), 1, d), vector(out.data(), 1));
  CHECK(failed.code == kernsel::Code::not_positive_definite && (failed.pivot == 0 || failed.pivot == 5));
}

}  // namespace

int main() {
  compare_with_dense();
  differentiate();
  predict_equal_points();
  compare_joint_with_variances();
  draw_on_a_grid();
  compare_threads();
  append_many();
  share_between_threads();
  predict_in_extreme_cases();
  interrupt();
  refuse();
  return report("vecchia_posterior");
}
