// Nystrom's approximation: passes over blocks of rows agree with the factor for rows in memory, to the last bit for any number
// of threads.
#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
#include "base/random.hpp"
#include "check.hpp"
#include "kernsel/nystrom.hpp"
#include "kernsel/runtime.hpp"

using kernsel::Index;
using kernsel::View;
using Numbers = std::vector<double>;

namespace {

struct Data {
  Index n, d;
  Numbers X, y, noise, H, weights;
  Data(Index rows, Index columns)
      : n(rows), d(columns), X(random_numbers<double>(n * d, 1)), y(random_numbers<double>(2 * n, 2)) {
    for (Index i = 0; i < n; ++i) {
      noise.push_back(0.1 + 0.01 * static_cast<double>(i % 7));
      H.push_back(1.0);
      weights.push_back(1.0 + 0.5 * static_cast<double>(i % 3));
    }
  }
  kernsel::Problem problem() const {
    return {kernsel::rows(X.data(), n, d), kernsel::rows(y.data(), n, 2), kernsel::vector(noise.data(), n),
            kernsel::rows(H.data(), n, 1), weights.data()};
  }
};

kernsel::NystromOptions given(const Data& data, Index m) {
  kernsel::NystromOptions options;
  options.given.assign(data.X.begin(), data.X.begin() + m * data.d);
  options.landmarks = m;
  return options;
}

kernsel::Evaluation evaluation(const Data& data, Index m, const kernsel::Criterion& criterion) {
  const std::unique_ptr<kernsel::NystromFactor> factor = kernsel::nystrom_factor(given(data, m));
  kernsel::Evaluation out;
  const kernsel::Kernel k = kernsel::matern(2.5, Numbers(static_cast<std::size_t>(data.d), 0.7));
  CHECK(kernsel::evaluate(k, data.problem(), criterion, kernsel::Order::points, *factor, out).ok());
  return out;
}

void same_bits_for_any_number_of_threads(Index n, Index m) {
  const Data data(n, 3);
  // The first half in groups of three, and the others in two.
  kernsel::Groups groups;
  const Index small = (n / 2 + 2) / 3;
  for (Index i = 0; i < n; ++i) groups.of.push_back(i < n / 2 ? i / 3 : small + i % 2);
  groups.count = small + 2;
  for (const kernsel::Criterion& criterion :
       {kernsel::criteria::likelihood(true), kernsel::criteria::leave_out(kernsel::criteria::squared()),
        kernsel::criteria::leave_out(kernsel::criteria::log_density()),
        kernsel::criteria::leave_out(kernsel::criteria::log_density(), groups), kernsel::criteria::joint_log_density(groups)}) {
    kernsel::use_a_team_for_any_work(true);
    kernsel::set_num_threads(1);
    const kernsel::Evaluation one = evaluation(data, m, criterion);
    kernsel::set_num_threads(3);
    const kernsel::Evaluation three = evaluation(data, m, criterion);
    kernsel::set_num_threads(2);
    kernsel::use_a_team_for_any_work(false);
    CHECK(one.value == three.value && std::isfinite(one.value));
    CHECK(one.gradient.theta == three.gradient.theta);
    CHECK(one.gradient.noise == three.gradient.noise);
    CHECK(one.points == three.points && one.landmarks == three.landmarks);
  }
}

void add_to(Numbers& sum, const Numbers& more, double factor) {
  sum.resize(std::max(sum.size(), more.size()), 0.0);
  for (std::size_t i = 0; i < more.size(); ++i) sum[i] += factor * more[i];
}

// The sum of two criteria of which only the second leaves out points.
kernsel::Criterion sum_of(const kernsel::Criterion& first, const kernsel::Criterion& second) {
  kernsel::Criterion both = second;
  both.request.in_sample = both.request.coefficients = both.request.diagonal = true;
  both.apply = [=](const kernsel::Fit& fit, kernsel::Partials& out) {
    kernsel::Status status;
    for (const kernsel::Criterion& criterion : {first, second}) {
      kernsel::Partials part;
      status = criterion.apply(fit, part);
      out.value += part.unit * part.value;
      add_to(out.squares, part.squares, part.unit);
      add_to(out.c, part.c, part.unit);
      add_to(out.precision, part.precision, part.unit);
      add_to(out.noise, part.noise, part.unit);
      out.log_det += part.unit * part.log_det;
      out.log_det_trend += part.unit * part.log_det_trend;
      out.missing += part.unit * part.missing;
      add_to(out.left_out.residual, part.left_out.residual, part.unit);
      add_to(out.left_out.variance, part.left_out.variance, part.unit);
    }
    return status;
  };
  return both;
}

void near(const Numbers& found, const Numbers& a, const Numbers& b) {
  double size = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) size = std::max(size, std::abs(a[i]) + std::abs(b[i]));
  CHECK(found.size() == a.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(std::abs(found[i] - a[i] - b[i]) <= 1e5 * epsilon<double>() * size);
}

// A criterion may see the fit of all points, and groups that are left out, besides; of small groups, of large ones, or both.
void derivatives_of_a_sum_are_sums() {
  const Data data(60, 2);
  for (const Index small : {0, 30, 60}) {
    kernsel::Groups groups;
    for (Index i = 0; i < 60; ++i) groups.of.push_back(i < small ? i / 3 : small / 3 + i % 2);
    groups.count = small / 3 + (small < 60 ? 2 : 0);
    const kernsel::Criterion left_out = kernsel::criteria::leave_out(kernsel::criteria::log_density(), groups);
    for (const kernsel::Criterion& fitted :
         {kernsel::criteria::likelihood(true), kernsel::criteria::generalized_cross_validation()}) {
      const kernsel::Evaluation a = evaluation(data, 9, fitted), b = evaluation(data, 9, left_out),
                                both = evaluation(data, 9, sum_of(fitted, left_out));
      near({both.value}, {a.value}, {b.value});
      near(both.gradient.theta, a.gradient.theta, b.gradient.theta);
      near(both.gradient.noise, a.gradient.noise, b.gradient.noise);
      near(both.points, a.points, b.points);
      near(both.landmarks, a.landmarks, b.landmarks);
    }
  }
}

// The derivatives of a sum of losses begin while points are shown; without Request::slopes they do not. A loss that falls with
// |r| has a matrix Psi that is not definite.
void derivatives_of_losses_begin_early() {
  const Data data(60, 2);
  const kernsel::criteria::PointLoss cosine{[](Index count, const double* r, const double*, kernsel::criteria::Loss* out) {
                                              for (Index i = 0; i < count; ++i)
                                                out[i] = {std::cos(3.0 * r[i]), -3.0 * std::sin(3.0 * r[i]), 0.0};
                                            },
                                            false, false, false};
  for (const kernsel::criteria::PointLoss& loss :
       {kernsel::criteria::squared(), kernsel::criteria::smooth_absolute(0.1), cosine}) {
    const kernsel::Criterion early = kernsel::criteria::leave_out(loss);
    kernsel::Criterion late = early;
    late.request.slopes = nullptr;
    CHECK(early.request.slopes);
    const kernsel::Evaluation a = evaluation(data, 9, early), b = evaluation(data, 9, late);
    CHECK(a.value == b.value && a.points == b.points);
    near(a.gradient.theta, b.gradient.theta, Numbers(b.gradient.theta.size(), 0.0));
    near(a.gradient.noise, b.gradient.noise, Numbers(b.gradient.noise.size(), 0.0));
  }
}

// The information is that of the whole kernel matrix of 500 points, with the noise of each of them.
void information_sees_the_noise_of_each_point() {
  const Data all(620, 2);
  const kernsel::NystromOptions options = given(all, 9);
  const std::vector<Index> chosen = kernsel::Random(options.seed).subset(all.n, 500);
  Data some(500, 2);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto from = static_cast<std::size_t>(chosen[i]);
    std::copy_n(all.X.begin() + 2 * chosen[i], 2, some.X.begin() + 2 * static_cast<Index>(i));
    std::copy_n(all.y.begin() + 2 * chosen[i], 2, some.y.begin() + 2 * static_cast<Index>(i));
    some.noise[i] = all.noise[from];
  }
  const kernsel::Kernel k = kernsel::matern(2.5, {0.7, 0.9});
  const kernsel::Criterion likelihood = kernsel::criteria::likelihood();
  kernsel::Evaluation found, expected;
  CHECK(evaluate(k, all.problem(), likelihood, kernsel::Order::information, *kernsel::nystrom_factor(options), found).ok());
  CHECK(evaluate(k, some.problem(), likelihood, kernsel::Order::information, *kernsel::dense_factor(), expected).ok());
  Numbers scaled = expected.information;
  for (double& entry : scaled) entry *= 620.0 / 500.0;
  CHECK(scaled.size() == 9);
  near(found.information, scaled, Numbers(9, 0.0));
}

}  // namespace

int main() {
  derivatives_of_losses_begin_early();
  information_sees_the_noise_of_each_point();
  derivatives_of_a_sum_are_sums();
  same_bits_for_any_number_of_threads(200, 20);
  same_bits_for_any_number_of_threads(1500, 601);
  return report("nystrom");
}
