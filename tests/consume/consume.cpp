// Kernel ridge regression without Python: reads n, d and m, then X (n x d), y (n) and Z (m x d) from standard input, prints the
// instruction set, the log determinant of K + alpha, the coefficients, the predictions at Z, the gradient of c'Kc, the
// leave-one-out error with a constant trend, and its gradient, the alpha that leave-one-out chooses along the path, and what
// least squares on X leave of y.
#include <cstdio>
#include <iostream>
#include <vector>

#include <kernsel/cholesky.hpp>
#include <kernsel/choose.hpp>
#include <kernsel/criteria.hpp>
#include <kernsel/factor.hpp>
#include <kernsel/gram.hpp>
#include <kernsel/kernel.hpp>
#include <kernsel/least_squares.hpp>
#include <kernsel/path.hpp>
#include <kernsel/posterior.hpp>
#include <kernsel/runtime.hpp>
#include <kernsel/search.hpp>
#include <kernsel/support.hpp>

using kernsel::Index;
using kernsel::Status;

namespace {

std::vector<double> read(Index count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) std::cin >> value;
  return values;
}

void print(const char* name, const std::vector<double>& values) {
  std::printf("%s", name);
  for (const double value : values) std::printf(" %.17g", value);
  std::printf("\n");
}

int fail(const Status& status) {
  std::fprintf(stderr, "kernsel: code %d, pivot %td, %s\n", static_cast<int>(status.code), status.pivot, status.message);
  return 1;
}

}  // namespace

int main() {
  Index n = 0, d = 0, m = 0;
  std::cin >> n >> d >> m;
  const auto x = read(n * d), y = read(n), z = read(m * d);
  const auto X = kernsel::rows(x.data(), n, d), Z = kernsel::rows(z.data(), m, d);

  const kernsel::Kernel k = 2.0 * kernsel::rbf({0.7, 1.5}) + kernsel::constant(0.5) * kernsel::rbf({1.0});
  const double alpha = 0.01;

  kernsel::LowerTiles<double> L;
  Status status = kernsel::factorize<double>(k, X, kernsel::vector(&alpha, 1), L);
  if (!status.ok()) return fail(status);

  std::vector<double> c = y;
  status = kernsel::solve<double>(L, kernsel::vector(c.data(), n));
  if (!status.ok()) return fail(status);

  std::vector<double> predictions(static_cast<std::size_t>(m));
  status = kernsel::multiply<double>(k, Z, X, kernsel::vector(c.data(), n), kernsel::vector(predictions.data(), m));
  if (!status.ok()) return fail(status);

  std::vector<double> weights(static_cast<std::size_t>(n * n));
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      weights[static_cast<std::size_t>(i * n + j)] = c[static_cast<std::size_t>(i)] * c[static_cast<std::size_t>(j)];
  std::vector<double> gradient(static_cast<std::size_t>(k.parameters()));
  status = kernsel::pullback<double>(k, X, kernsel::rows(weights.data(), n, n), gradient.data());
  if (!status.ok()) return fail(status);

  std::printf("isa %s\nversion %s\n", kernsel::isa(), kernsel::version());
  print("logdet", {kernsel::log_determinant(L)});
  print("coefficients", c);
  print("predictions", predictions);
  print("gradient", gradient);

  const std::vector<double> ones(static_cast<std::size_t>(n), 1.0);
  const kernsel::Problem problem{X, kernsel::vector(y.data(), n), kernsel::vector(&alpha, 1), kernsel::vector(ones.data(), n)};
  const auto loo = kernsel::criteria::leave_out(kernsel::criteria::squared());
  const std::unique_ptr<kernsel::Factor> factor = kernsel::dense_factor();
  kernsel::Evaluation found;
  status = kernsel::evaluate(k, problem, loo, kernsel::Order::gradient, *factor, found);
  if (!status.ok()) return fail(status);
  print("loo", {found.value});
  print("loo_gradient", found.gradient.theta);

  // The same with all values of alpha, and the one whose leave-one-out error is the least.
  kernsel::PathProblem path_problem;
  path_problem.y = kernsel::vector(y.data(), n);
  path_problem.trend = kernsel::vector(ones.data(), n);
  kernsel::RegularizationPath path;
  kernsel::PathValues along, at_alpha;
  kernsel::PathChoice choice;
  status = kernsel::RegularizationPath::of_kernel(k, X, path_problem, path);
  if (status.ok()) status = path.values({alpha}, at_alpha);
  if (status.ok()) status = path.values(path.default_alphas(), along);
  if (status.ok()) status = path.best(kernsel::PathRule::loo, along, choice);
  if (!status.ok()) return fail(status);
  print("path_loo", at_alpha.loo);
  print("path_likelihood", at_alpha.log_likelihood);
  print("path_alpha", {choice.alpha});

  // y by the columns of X themselves.
  kernsel::LeastSquares linear;
  status = kernsel::least_squares(X, kernsel::vector(y.data(), n), 0.0, linear);
  if (!status.ok()) return fail(status);
  print("leverage", linear.leverage);
  print("left_out", linear.left_out);

  // The same kernel, with the hyperparameters that are likeliest.
  kernsel::CriterionObjective objective(k, *factor);
  objective.problem = problem;
  objective.known.assign(static_cast<std::size_t>(n), 0.1);
  objective.criterion = kernsel::criteria::likelihood();
  for (Index p = 0; p < k.parameters(); ++p) {
    objective.unknowns.place.push_back(p);
    objective.bounds.lower.push_back(-12.0);
    objective.bounds.upper.push_back(12.0);
    objective.bounds.reach.push_back(1.0);
  }
  kernsel::SearchOptions options;
  options.fine = 1e-9;
  kernsel::Optimum optimum;
  status = kernsel::search(objective, nullptr, {k.theta()}, options, optimum);
  if (!status.ok()) return fail(status);
  print("likeliest", {-optimum.best.value});
  print("theta", optimum.best.x);

  // Chosen by leave-one-out, from starts and within bounds that the data give; the posterior, its errors and derivatives.
  kernsel::Choosing choosing(
      kernsel::constant(1.0) * kernsel::matern52(std::vector<double>(static_cast<std::size_t>(X.cols), 1.0)), X,
      kernsel::vector<const double>(y.data(), n));
  choosing.finds_noise = true;
  kernsel::Choice chosen;
  status = kernsel::choose(choosing, {}, chosen);
  if (!status.ok()) return fail(status);
  print("chosen", {chosen.criterion, chosen.noise, static_cast<double>(chosen.evaluations)});
  kernsel::DensePosterior model;
  const double variance = chosen.noise + chosen.jitter;
  status = model.condition({choosing.kernel.with_theta(chosen.theta), X, kernsel::vector<const double>(y.data(), n),
                            kernsel::vector<const double>(&variance, 1), kernsel::Basis::Kind::constant});
  std::vector<double> residuals(static_cast<std::size_t>(n)), left_out(residuals.size()), leverage(residuals.size());
  if (status.ok())
    status = model.leave_one_out(kernsel::vector(residuals.data(), n), kernsel::vector(left_out.data(), n),
                                 kernsel::vector(leverage.data(), n));
  if (!status.ok()) return fail(status);
  print("chosen_theta", model.kernel().theta());
  print("residuals", residuals);
  print("chosen_leverage", leverage);

  kernsel::SupportSolver solver(k, X, std::size_t{1} << 24);
  kernsel::SupportOptions precise;
  precise.tolerance = 1e-10;
  kernsel::SupportFit support;
  const std::vector<double> highest(static_cast<std::size_t>(n), 10.0), lowest(static_cast<std::size_t>(n), -10.0);
  status = solver.solve({kernsel::vector(y.data(), n), lowest, highest, 0.1, true}, precise, support);
  if (!status.ok()) return fail(status);
  print("support", support.a);
  print("intercept", {support.intercept});
}
