// What a user of the library can add without touching it, with the public headers alone: a criterion, a factor and an objective
// (cpp/HACKING.md, "To add"). Each is compared with formulas of a textbook, in plain loops.
#include <algorithm>
#include <cmath>

#include "check.hpp"
#include "kernsel/choose.hpp"
#include "kernsel/gram.hpp"

using kernsel::Criterion;
using kernsel::Fit;
using kernsel::Index;
using kernsel::Kernel;
using kernsel::Order;
using kernsel::Partials;
using kernsel::Status;
using kernsel::View;

namespace {

const double log_2pi = std::log(2.0 * 3.14159265358979323846);

// ---- Matrices with the textbook's algorithms.

struct Matrix {
  Index rows = 0, cols = 0;
  std::vector<double> values;
  Matrix() = default;
  Matrix(Index height, Index width) : rows(height), cols(width), values(static_cast<std::size_t>(height * width), 0.0) {}
  double& operator()(Index i, Index j) { return values[static_cast<std::size_t>(i + j * rows)]; }
  double operator()(Index i, Index j) const { return values[static_cast<std::size_t>(i + j * rows)]; }
  View<double> view() { return kernsel::columns(values.data(), rows, cols); }
  View<const double> view() const { return kernsel::columns(values.data(), rows, cols); }
};

Matrix copy_of(View<const double> A) {
  Matrix out(A.rows, A.cols);
  for (Index j = 0; j < A.cols; ++j)
    for (Index i = 0; i < A.rows; ++i) out(i, j) = A(i, j);
  return out;
}

Matrix transposed(const Matrix& A) { return copy_of(A.view().transposed()); }

Matrix operator*(const Matrix& A, const Matrix& B) {
  Matrix out(A.rows, B.cols);
  for (Index j = 0; j < B.cols; ++j)
    for (Index k = 0; k < A.cols; ++k)
      for (Index i = 0; i < A.rows; ++i) out(i, j) += A(i, k) * B(k, j);
  return out;
}

Matrix operator-(Matrix A, const Matrix& B) {
  for (std::size_t i = 0; i < A.values.size(); ++i) A.values[i] -= B.values[i];
  return A;
}

// The inverse of a symmetric positive definite matrix, and the logarithm of its determinant.
Status invert(const Matrix& A, Matrix& inverse, double& log_det) {
  const Index n = A.rows;
  Matrix L(n, n);
  log_det = 0.0;
  for (Index j = 0; j < n; ++j) {
    for (Index i = j; i < n; ++i) {
      double sum = A(i, j);
      for (Index k = 0; k < j; ++k) sum -= L(i, k) * L(j, k);
      if (i == j && !(sum > 0.0)) {
        Status status;
        status.code = kernsel::Code::not_positive_definite;
        status.pivot = i;
        status.value = sum;
        return status;
      }
      L(i, j) = i == j ? std::sqrt(sum) : sum / L(j, j);
    }
    log_det += 2.0 * std::log(L(j, j));
  }
  Matrix R(n, n);  // L^-1
  for (Index j = 0; j < n; ++j)
    for (Index i = j; i < n; ++i) {
      double sum = i == j ? 1.0 : 0.0;
      for (Index k = j; k < i; ++k) sum -= L(i, k) * R(k, j);
      R(i, j) = sum / L(i, i);
    }
  inverse = transposed(R) * R;
  return {};
}

// ---- Data: a smooth function of two columns with errors, a trend, and unequal noise variances.

struct Data {
  Index n;
  Matrix X, y, H, noise;
  explicit Data(Index points, unsigned seed = 1) : n(points), X(points, 2), y(points, 1), H(points, 2), noise(points, 1) {
    X.values = random_numbers<double>(2 * n, seed);
    const std::vector<double> errors = random_numbers<double>(n, seed + 1);
    for (Index i = 0; i < n; ++i) {
      y(i, 0) = std::sin(2.0 * X(i, 0)) + 0.5 * X(i, 1) + 0.2 * errors[static_cast<std::size_t>(i)];
      H(i, 0) = 1.0;
      H(i, 1) = X(i, 1);
      noise(i, 0) = 0.05 * (1.0 + std::abs(X(i, 0)));
    }
  }
  kernsel::Problem problem(bool with_trend) const {
    return {X.view(), y.view(), noise.view(), with_trend ? H.view() : View<const double>{}};
  }
};

Kernel kernel_of(double length, double variance = 1.5) { return variance * kernsel::matern32({length, 2.0 * length}); }

// ---- A criterion that the library does not have.

// log N(y; 0, K~) - weight sum_i log cosh r_i, r_i the residual of point i when it, or its group, is left out.
Criterion careful_likelihood(double weight, kernsel::Groups groups = {}) {
  Criterion criterion;
  criterion.larger_is_better = true;
  criterion.request.left_out = true;
  criterion.request.groups = std::move(groups);
  criterion.apply = [weight](const Fit& fit, Partials& out) -> Status {
    out.value = -0.5 * (fit.log_det + static_cast<double>(fit.n()) * log_2pi);
    out.log_det = -0.5;
    for (Index i = 0; i < fit.n(); ++i) {
      const double r = fit.left_out->residual[static_cast<std::size_t>(i)];
      out.value -= 0.5 * fit.y(i, 0) * fit.c(i, 0) + weight * std::log(std::cosh(r));
      out.c.push_back(-0.5 * fit.y(i, 0));
      out.left_out.residual.push_back(-weight * std::tanh(r));
    }
    return {};
  };
  return criterion;
}

// K~ = K + noise I.
Matrix matrix_of(const Kernel& k, const Data& data, double noise) {
  Matrix K(data.n, data.n);
  CHECK(kernsel::gram<double>(k, data.X.view(), K.view()).ok());
  for (Index i = 0; i < data.n; ++i) K(i, i) += noise;
  return K;
}

double log_likelihood(const Kernel& k, const Data& data, double noise) {
  Matrix P;
  double log_det = 0.0;
  CHECK(invert(matrix_of(k, data, noise), P, log_det).ok());
  return -0.5 * (log_det + static_cast<double>(data.n) * log_2pi + (transposed(data.y) * P * data.y)(0, 0));
}

// The value of careful_likelihood() from its definition: for each group, a fit to all other points.
double by_refits(const Kernel& k, const Data& data, double noise, double weight, const std::vector<Index>& groups) {
  const Matrix K = matrix_of(k, data, noise);
  double value = log_likelihood(k, data, noise);
  for (Index g = 0; g <= *std::max_element(groups.begin(), groups.end()); ++g) {
    std::vector<Index> out, others;
    for (Index i = 0; i < data.n; ++i) (groups[static_cast<std::size_t>(i)] == g ? out : others).push_back(i);
    const auto rest = static_cast<Index>(others.size());
    Matrix K_rest(rest, rest), y_rest(rest, 1), P_rest, row(1, rest);
    for (Index a = 0; a < rest; ++a) {
      y_rest(a, 0) = data.y(others[static_cast<std::size_t>(a)], 0);
      for (Index b = 0; b < rest; ++b)
        K_rest(a, b) = K(others[static_cast<std::size_t>(a)], others[static_cast<std::size_t>(b)]);
    }
    double unused = 0.0;
    CHECK(invert(K_rest, P_rest, unused).ok());
    const Matrix c = P_rest * y_rest;
    for (const Index i : out) {
      for (Index b = 0; b < rest; ++b) row(0, b) = K(i, others[static_cast<std::size_t>(b)]);
      value -= weight * std::log(std::cosh(data.y(i, 0) - (row * c)(0, 0)));
    }
  }
  return value;
}

double evaluated(const Kernel& k, const kernsel::Problem& problem, const Criterion& criterion, kernsel::Factor& factor) {
  kernsel::Evaluation found;
  CHECK(kernsel::evaluate(k, problem, criterion, Order::value, factor, found).ok());
  return found.value;
}

// Checks the gradient in the hyperparameters and in the noise by central differences. Their error is the third derivative times
// h^2 = 1e-10, and rounding errors of about 1e-14 divided by h = 1e-5.
void has_gradient(const Kernel& k, kernsel::Problem problem, const Criterion& criterion, kernsel::Factor& factor) {
  kernsel::Evaluation here;
  CHECK(kernsel::evaluate(k, problem, criterion, Order::gradient, factor, here).ok());
  const double h = 1e-5, allowed = 1e-7 * (10.0 + std::abs(here.value));
  const std::vector<double> theta = k.theta();
  CHECK(here.gradient.theta.size() == theta.size());
  for (std::size_t p = 0; p < theta.size(); ++p) {
    std::vector<double> more = theta, less = theta;
    more[p] += h;
    less[p] -= h;
    const double change =
        evaluated(k.with_theta(more), problem, criterion, factor) - evaluated(k.with_theta(less), problem, criterion, factor);
    CHECK_BELOW(std::abs(here.gradient.theta[p] - change / (2.0 * h)), allowed);
  }
  const Index n = problem.X.rows;
  Matrix noise = copy_of(problem.noise);
  problem.noise = noise.view();
  for (const Index i : {Index(0), n / 2, n - 1}) {
    const double size = noise(i, 0), step = h * size;
    noise(i, 0) = size + step;
    const double more = evaluated(k, problem, criterion, factor);
    noise(i, 0) = size - step;
    const double less = evaluated(k, problem, criterion, factor);
    noise(i, 0) = size;
    CHECK_BELOW(std::abs(here.gradient.noise[static_cast<std::size_t>(i)] * size - (more - less) / (2.0 * h)), allowed);
  }
}

kernsel::Groups every_fifth(Index n) {
  kernsel::Groups groups{std::vector<Index>(static_cast<std::size_t>(n)), 5};
  for (Index i = 0; i < n; ++i) groups.of[static_cast<std::size_t>(i)] = i % 5;
  return groups;
}

void a_criterion() {
  const Data data(30);
  const auto dense = kernsel::dense_factor();
  const double weight = 3.0;
  std::vector<Index> alone(30);
  for (Index i = 0; i < 30; ++i) alone[static_cast<std::size_t>(i)] = i;
  for (const kernsel::Groups& groups : {kernsel::Groups{}, every_fifth(30)}) {
    const Criterion criterion = careful_likelihood(weight, groups);
    const std::vector<Index>& of = groups.alone() ? alone : groups.of;
    for (const bool with_trend : {false, true}) has_gradient(kernel_of(0.8), data.problem(with_trend), criterion, *dense);

    // The unknowns are one factor of both length scales and the noise. The optimum must be as good as the best point of a grid,
    // at which the criterion is computed by refits.
    kernsel::CriterionObjective objective(kernel_of(1.0), *dense);
    objective.problem = data.problem(false);
    objective.noise.assign(30, 1.0);
    objective.criterion = criterion;
    objective.unknowns = {{-1, 0, 0}, -1, 1};
    objective.bounds = {{-2.0, -6.0}, {2.0, 0.0}, {1.0, 3.0}};
    kernsel::SearchOptions options;
    options.fine = 1e-8;
    kernsel::Optimum optimum;
    CHECK(kernsel::search(objective, nullptr, {{0.0, -3.0}, {1.0, -1.0}}, options, optimum).ok());
    CHECK(optimum.ended == kernsel::Ended::converged);
    const auto brute = [&](double u, double v) {
      const Kernel k = kernel_of(1.0).with_theta({std::log(1.5), u, u});  // both length scales are exp(u)
      return by_refits(k, data, std::exp(v), weight, of);
    };
    const double best = brute(optimum.best.x[0], optimum.best.x[1]);
    CHECK_BELOW(std::abs(best - optimum.best.criterion), 1e-10 * (1.0 + std::abs(best)));
    for (double u = -2.0; u <= 2.0; u += 0.25)
      for (double v = -6.0; v <= 0.0; v += 0.5) CHECK_BELOW(brute(u, v), best + 1e-6);
  }

  // The choice of all hyperparameters, with starts and bounds from the data.
  kernsel::Choosing problem(kernel_of(1.0), data.X.view(), data.y.view());
  problem.finds_noise = true;
  problem.criterion = [&](const std::vector<Index>&) { return careful_likelihood(weight); };
  kernsel::Choice choice;
  CHECK(kernsel::choose(problem, {}, choice).ok());
  CHECK(choice.ended == kernsel::Ended::converged);
  const auto brute = [&](std::size_t p, double step) {
    std::vector<double> theta = choice.theta;
    if (p < theta.size()) theta[p] += step;
    const double noise = choice.noise * (p < theta.size() ? 1.0 : std::exp(step));
    return by_refits(problem.kernel.with_theta(theta), data, noise + choice.jitter, weight, alone);
  };
  const double best = brute(0, 0.0);
  CHECK_BELOW(std::abs(best - choice.criterion), 1e-9 * (1.0 + std::abs(best)));
  for (std::size_t p = 0; p <= choice.theta.size(); ++p)
    for (const double step : {-0.1, 0.1}) CHECK_BELOW(brute(p, step), best);
}

// ---- A factor that the library does not have.

// K~ = Q + N, Q = C M^-1 C' of rank m, C = k(X, Z), M = k(Z, Z), the m centres Z being each `step`-th of the points: Nystroem's
// approximation, in O(n^3) for clarity. With step 1 it is the kernel matrix itself. P. is P without the trend.
class LowRank final : public kernsel::Factor {
 public:
  explicit LowRank(Index step) : step_(step) {}

  Status show(const Kernel& k, const kernsel::Problem& problem, const kernsel::Request& request, bool, Fit& fit) override {
    if (k.has_noise()) return Status::invalid("LowRank: give the noise beside the kernel");
    if (!request.groups.alone() || request.densities) return Status::invalid("LowRank: points are left out alone");
    k_ = k;
    problem_ = problem;
    const Index n = problem.X.rows;
    Z_ = problem.X;
    Z_.rows = (n + step_ - 1) / step_;
    Z_.row_stride *= step_;
    noise_.assign(static_cast<std::size_t>(n), 0.0);
    for (Index i = 0; i < n && problem.noise.rows > 0; ++i)
      noise_[static_cast<std::size_t>(i)] = problem.noise(problem.noise.rows == 1 ? 0 : i, 0);
    Matrix K;
    Status status = low_rank(k, K, &A_);
    for (Index i = 0; i < n; ++i) K(i, i) += noise_[static_cast<std::size_t>(i)];
    double log_det = 0.0, of_HPH = 0.0, of_HH = 0.0;
    if (status.ok()) status = invert(K, P_, log_det);
    if (!status.ok()) return status;
    projected_ = P_;
    beta_ = {};
    const Matrix y = copy_of(problem.y), H = copy_of(problem.trend);
    if (H.cols > 0) {
      Matrix inverse, unused;
      status = invert(transposed(H) * P_ * H, inverse, of_HPH);
      if (status.ok()) status = invert(transposed(H) * H, unused, of_HH);
      if (!status.ok()) return status;
      projected_ = P_ - P_ * H * inverse * transposed(H) * P_;
      beta_ = inverse * transposed(H) * P_ * y;
    }
    c_ = projected_ * y;
    precision_.clear();
    left_out_ = {};
    for (Index i = 0; i < n; ++i) {
      precision_.push_back(projected_(i, i));
      left_out_.variance.push_back(1.0 / projected_(i, i));
    }
    for (Index j = 0; j < y.cols; ++j)
      for (Index i = 0; i < n; ++i) left_out_.residual.push_back(c_(i, j) / projected_(i, i));
    fit = {problem.y, c_.view(), precision_.data(), noise_.data(), problem.weights,
           H.cols,    log_det,   of_HPH - of_HH,    &left_out_};
    return {};
  }

  std::vector<double> trend_coefficients() const override { return beta_.values; }

  // W = dJ/dK~ = a P - b (P - P.) - sym((P. g) c') - P. G P., and from there to the parameters by way of
  // dQ = dC A + A' dC' - A' dM A, A = M^-1 C'.
  Status pull(const Partials& partials, kernsel::Gradient& out) override {
    const Index n = P_.rows, m = c_.cols;
    Matrix g(n, m), W(n, n);
    std::vector<double> G(static_cast<std::size_t>(n), 0.0);
    for (std::size_t at = 0; at < g.values.size(); ++at) {
      const std::size_t i = at % static_cast<std::size_t>(n);
      if (!partials.c.empty()) g.values[at] += partials.c[at];
      if (partials.left_out.residual.empty()) continue;
      g.values[at] += partials.left_out.residual[at] / precision_[i];
      G[i] -= partials.left_out.residual[at] * left_out_.residual[at] / precision_[i];
    }
    for (std::size_t i = 0; i < G.size(); ++i) {
      if (!partials.precision.empty()) G[i] += partials.precision[i];
      if (!partials.left_out.variance.empty()) G[i] -= partials.left_out.variance[i] / (precision_[i] * precision_[i]);
    }
    const Matrix Pg = projected_ * g;
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < n; ++i) {
        W(i, j) = partials.log_det * P_(i, j) - partials.log_det_trend * (P_(i, j) - projected_(i, j));
        for (Index l = 0; l < m; ++l) W(i, j) -= 0.5 * (Pg(i, l) * c_(j, l) + c_(i, l) * Pg(j, l));
        for (Index l = 0; l < n; ++l) W(i, j) -= projected_(i, l) * G[static_cast<std::size_t>(l)] * projected_(l, j);
      }
    for (double& entry : W.values) entry *= partials.unit;
    out.noise.clear();
    for (Index i = 0; i < n; ++i)
      out.noise.push_back(W(i, i) +
                          (partials.noise.empty() ? 0.0 : partials.unit * partials.noise[static_cast<std::size_t>(i)]));
    Matrix of_C = W * transposed(A_), of_M = A_ * of_C;
    std::vector<double> less(static_cast<std::size_t>(k_.parameters()));
    out.theta.resize(less.size());
    Status status = kernsel::pullback<double>(k_, problem_.X, Z_, of_C.view(), out.theta.data());
    if (status.ok()) status = kernsel::pullback<double>(k_, Z_, of_M.view(), less.data());
    for (std::size_t p = 0; p < less.size(); ++p) out.theta[p] = 2.0 * out.theta[p] - less[p];
    return status;
  }

  // The vectors u = dQ/dtheta c by central differences of Q.
  Status information(const Partials& partials, std::vector<double>& out) override {
    const Index n = P_.rows, p = k_.parameters() + 1;
    const std::vector<double> theta = k_.theta();
    const View<const double>& noise = problem_.unknown_noise.rows > 0 ? problem_.unknown_noise : problem_.noise;
    out.assign(static_cast<std::size_t>(p * p), 0.0);
    std::vector<double> slopes(static_cast<std::size_t>(p), 0.0);
    for (Index j = 0; j < c_.cols; ++j) {
      const double variance = partials.variance[static_cast<std::size_t>(j)], h = 1e-5;
      Matrix U(n, p);
      for (Index a = 0; a + 1 < p; ++a)
        for (const double sign : {1.0, -1.0}) {
          std::vector<double> moved = theta;
          moved[static_cast<std::size_t>(a)] += sign * h;
          Matrix Q;
          const Status status = low_rank(k_.with_theta(moved), Q, nullptr);
          if (!status.ok()) return status;
          for (Index i = 0; i < n; ++i)
            for (Index l = 0; l < n; ++l) U(i, a) += sign * Q(i, l) * c_(l, j) / (2.0 * h);
        }
      for (Index i = 0; i < n && noise.rows > 0; ++i) U(i, p - 1) = noise(noise.rows == 1 ? 0 : i, 0) * c_(i, j);
      const Matrix products = transposed(U) * projected_ * U, along = transposed(U) * c_;
      for (std::size_t at = 0; at < out.size(); ++at) out[at] += 0.5 * products.values[at] / variance;
      for (Index a = 0; a < p; ++a) slopes[static_cast<std::size_t>(a)] += along(a, j) / variance;
      const bool last = j + 1 == c_.cols;
      if (partials.profiled == kernsel::Profiled::no || (partials.profiled == kernsel::Profiled::shared && !last)) continue;
      const double freedom = partials.freedom * (partials.profiled == kernsel::Profiled::shared ? double(c_.cols) : 1.0);
      for (std::size_t at = 0; at < out.size(); ++at)
        out[at] -= 0.5 * slopes[at % slopes.size()] * slopes[at / slopes.size()] / freedom;
      slopes.assign(slopes.size(), 0.0);
    }
    return {};
  }

 private:
  Status low_rank(const Kernel& k, Matrix& Q, Matrix* solved) const {
    const Index n = problem_.X.rows, m = Z_.rows;
    Matrix C(n, m), M(m, m), inverse;
    double unused = 0.0;
    Q = Matrix(n, n);
    Status status = kernsel::cross_gram<double>(k, problem_.X, Z_, C.view());
    if (status.ok()) status = kernsel::gram<double>(k, Z_, M.view());
    if (status.ok()) status = invert(M, inverse, unused);
    if (!status.ok()) return status;
    const Matrix A = inverse * transposed(C);
    Q = C * A;
    if (solved) *solved = A;
    return {};
  }

  Index step_;
  Kernel k_ = kernsel::constant(1.0);
  kernsel::Problem problem_{};
  View<const double> Z_;
  Matrix A_, P_, projected_, c_, beta_;
  std::vector<double> noise_, precision_;
  kernsel::LeftOut left_out_;
};

// Checks that two vectors agree. Both come from Cholesky factors of matrices whose condition is below 1e5 here: 1e-9 leaves
// room for n times the condition times rounding.
void agree(const std::vector<double>& a, const std::vector<double>& b, double allowed = 1e-9) {
  CHECK(a.size() == b.size());
  double size = 1.0;
  for (const double entry : a) size = std::max(size, std::abs(entry));
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) CHECK_BELOW(std::abs(a[i] - b[i]), allowed * size);
}

void a_factor() {
  const Data data(24);
  const auto dense = kernsel::dense_factor();
  LowRank whole(1), some(3);
  namespace criteria = kernsel::criteria;
  const Criterion all[] = {criteria::likelihood(),
                           criteria::likelihood(true),
                           criteria::likelihood(true, criteria::Scale::each),
                           criteria::leave_out(criteria::squared()),
                           criteria::leave_out(criteria::log_density()),
                           criteria::generalized_cross_validation(),
                           careful_likelihood(2.0)};
  for (const Criterion& criterion : all)
    for (const bool with_trend : {false, true}) {
      const kernsel::Problem problem = data.problem(with_trend);
      const Kernel k = kernel_of(0.6);
      kernsel::Evaluation ours, theirs;
      CHECK(kernsel::evaluate(k, problem, criterion, Order::information, whole, ours).ok());
      CHECK(kernsel::evaluate(k, problem, criterion, Order::information, *dense, theirs).ok());
      agree({ours.value, ours.dof, ours.log_det, ours.scale}, {theirs.value, theirs.dof, theirs.log_det, theirs.scale});
      agree(ours.c, theirs.c);
      agree(ours.beta, theirs.beta);
      agree(ours.gradient.theta, theirs.gradient.theta);
      agree(ours.gradient.noise, theirs.gradient.noise);
      agree(ours.information, theirs.information, 1e-7);  // `ours` is computed by central differences
      has_gradient(k, problem, criterion, some);
    }

  // Both factors of the whole matrix lead to the same choice. The approximation leads to another one, at which its own
  // likelihood is larger than nearby.
  const auto choose_by = [&](kernsel::Factor* factor) {
    kernsel::Choosing problem(kernel_of(1.0), data.X.view(), data.y.view());
    problem.finds_noise = true;
    problem.factor = factor;
    problem.criterion = [](const std::vector<Index>&) { return criteria::likelihood(); };
    kernsel::Choice choice;
    CHECK(kernsel::choose(problem, {}, choice).ok());
    CHECK(choice.ended == kernsel::Ended::converged);
    return choice;
  };
  const kernsel::Choice by_dense = choose_by(nullptr), by_whole = choose_by(&whole), by_some = choose_by(&some);
  CHECK_BELOW(std::abs(by_dense.criterion - by_whole.criterion), 1e-5);
  CHECK(std::abs(by_dense.criterion - by_some.criterion) > 1e-2);
  const auto value = [&](std::size_t p, double step) {
    std::vector<double> theta = by_some.theta;
    if (p < theta.size()) theta[p] += step;
    const double noise = by_some.noise * (p < theta.size() ? 1.0 : std::exp(step)) + by_some.jitter;
    kernsel::Problem problem = data.problem(false);
    problem.noise = kernsel::vector<const double>(&noise, 1);
    return evaluated(kernel_of(1.0).with_theta(theta), problem, criteria::likelihood(), some);
  };
  CHECK_BELOW(std::abs(value(0, 0.0) - by_some.criterion), 1e-9 * (1.0 + std::abs(by_some.criterion)));
  CHECK_BELOW(std::max(value(1, 0.05), value(1, -0.05)), by_some.criterion);
  CHECK_BELOW(std::max(value(99, 0.05), value(99, -0.05)), by_some.criterion);

  // The status of a factor is returned to the caller.
  kernsel::Evaluation out;
  const Criterion groups = criteria::leave_out(criteria::squared(), every_fifth(24));
  CHECK(kernsel::evaluate(kernel_of(1.0), data.problem(false), groups, Order::value, some, out).code ==
        kernsel::Code::invalid_argument);
}

// ---- An objective that the library does not have.

// Minus the sum of the log likelihoods of two sets of data with one kernel: the unknowns are the logarithms of its variance, of
// a factor of its length scales, and of the noise variance, the same for all points.
class OfBoth final : public kernsel::Objective {
 public:
  OfBoth(const Data& first, const Data& second) : data_{&first, &second}, factor_(kernsel::dense_factor()) {}
  const kernsel::Domain& domain() const override { return domain_; }
  Index points() const override { return data_[0]->n + data_[1]->n; }
  bool has_curvature() const override { return true; }

  Status evaluate(const std::vector<double>& x, Order order, kernsel::Trial& out) override {
    const Kernel k = kernel_of(std::exp(x[1]), std::exp(x[0]));
    const double noise = std::exp(x[2]);
    out.x = x;
    out.value = 0.0;
    out.gradient.assign(order == Order::value ? 0 : 3, 0.0);
    out.information.assign(order == Order::information ? 9 : 0, 0.0);
    const std::size_t unknown[] = {0, 1, 1, 2};  // for the variance, the two length scales, and the noise
    for (const Data* data : data_) {
      kernsel::Problem problem = data->problem(false);
      problem.noise = kernsel::vector<const double>(&noise, 1);
      kernsel::Evaluation found;
      const Status status = kernsel::evaluate(k, problem, kernsel::criteria::likelihood(), order, *factor_, found);
      if (!status.ok()) return status;
      out.value -= found.value;
      if (order == Order::value) continue;
      for (std::size_t p = 0; p < 3; ++p) out.gradient[unknown[p]] -= found.gradient.theta[p];
      for (const double part : found.gradient.noise) out.gradient[2] -= part * noise;
      for (std::size_t at = 0; at < found.information.size(); ++at)
        out.information[unknown[at % 4] + 3 * unknown[at / 4]] += found.information[at];
    }
    out.criterion = -out.value;
    return {};
  }

 private:
  const Data* data_[2];
  std::unique_ptr<kernsel::Factor> factor_;
  kernsel::Domain domain_{{-4.0, -3.0, -7.0}, {4.0, 3.0, 1.0}, {1.0, 1.0, 3.0}};
};

void an_objective() {
  const Data first(20, 3), second(25, 8);
  OfBoth objective(first, second);
  kernsel::SearchOptions options;
  options.fine = 1e-8;
  kernsel::Optimum optimum;
  CHECK(kernsel::search(objective, nullptr, {{0.0, 0.0, -3.0}, {1.0, 1.0, -1.0}}, options, optimum).ok());
  CHECK(optimum.ended == kernsel::Ended::converged && optimum.evaluations < 60);
  const auto brute = [&](double a, double b, double v) {
    double value = 0.0;
    for (const Data* data : {&first, &second}) value += log_likelihood(kernel_of(std::exp(b), std::exp(a)), *data, std::exp(v));
    return value;
  };
  const std::vector<double>& x = optimum.best.x;
  const double best = brute(x[0], x[1], x[2]);
  CHECK_BELOW(std::abs(best - optimum.best.criterion), 1e-10 * (1.0 + std::abs(best)));
  for (double a = -4.0; a <= 4.0; a += 0.5)
    for (double b = -3.0; b <= 3.0; b += 0.5)
      for (double v = -7.0; v <= 1.0; v += 1.0) CHECK_BELOW(brute(a, b, v), best + 1e-6);
}

}  // namespace

int main() {
  a_criterion();
  a_factor();
  an_objective();
  return report("additions");
}
