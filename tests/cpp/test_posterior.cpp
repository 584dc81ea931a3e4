// The posterior compared with dense linear algebra, its derivatives with central differences, and updates with new fits.
#include <algorithm>

#include "check.hpp"
#include "kernsel/cholesky.hpp"
#include "kernsel/gram.hpp"
#include "kernsel/posterior.hpp"

using kernsel::Basis;
using kernsel::columns;
using kernsel::DensePosterior;
using kernsel::Index;
using kernsel::rows;
using kernsel::vector;
using kernsel::View;

namespace {

constexpr Index n = 40, d = 2, m = 7;
const std::vector<double> x = random_numbers<double>(n * d, 1), z = random_numbers<double>(m * d, 2);
const View<const double> X = rows(x.data(), n, d), Z = rows(z.data(), m, d);
const kernsel::Kernel k = 1.5 * kernsel::matern52({1.0, 2.0});

std::vector<double> targets() {
  std::vector<double> y = random_numbers<double>(2 * n, 3);
  for (Index i = 0; i < n; ++i) y[static_cast<std::size_t>(2 * i)] = std::sin(X(i, 0)) + 3.0 * X(i, 1) + 5.0;
  return y;
}

std::vector<double> variances() {
  std::vector<double> noise = random_numbers<double>(n, 4);
  for (double& value : noise) value = 0.05 + 0.1 * value * value;
  return noise;
}

// The inverse by Gauss-Jordan elimination with row exchanges.
std::vector<double> inverse_of(std::vector<double> A, Index size) {
  std::vector<double> inverse(A.size(), 0.0);
  const auto at = [size](std::vector<double>& M, Index i, Index j) -> double& {
    return M[static_cast<std::size_t>(i * size + j)];
  };
  for (Index i = 0; i < size; ++i) at(inverse, i, i) = 1.0;
  for (Index j = 0; j < size; ++j) {
    Index pivot = j;
    for (Index i = j; i < size; ++i)
      if (std::abs(at(A, i, j)) > std::abs(at(A, pivot, j))) pivot = i;
    for (Index c = 0; c < size; ++c) {
      std::swap(at(A, j, c), at(A, pivot, c));
      std::swap(at(inverse, j, c), at(inverse, pivot, c));
    }
    const double value = at(A, j, j);
    for (Index c = 0; c < size; ++c) {
      at(A, j, c) /= value;
      at(inverse, j, c) /= value;
    }
    for (Index i = 0; i < size; ++i) {
      const double factor = at(A, i, j);
      for (Index c = 0; c < size && i != j; ++c) {
        at(A, i, c) -= factor * at(A, j, c);
        at(inverse, i, c) -= factor * at(inverse, j, c);
      }
    }
  }
  return inverse;
}

// Mean and covariance from the saddle point matrix [K~ H; H' 0]: universal kriging as textbooks have it.
struct Kriging {
  std::vector<double> mean, covariance;
  Kriging(const Basis& basis, const std::vector<double>& y, const std::vector<double>& noise) {
    const Index q = basis.count(d), size = n + q;
    std::vector<double> S(static_cast<std::size_t>(size * size), 0.0), K(static_cast<std::size_t>(n * n)),
        H(static_cast<std::size_t>(n * q)), cross(static_cast<std::size_t>(size * m)), own(static_cast<std::size_t>(m * m)),
        h(static_cast<std::size_t>(m * q));
    CHECK(kernsel::gram<double>(k, X, rows(K.data(), n, n)).ok());
    CHECK(kernsel::gram<double>(k, Z, rows(own.data(), m, m)).ok());
    CHECK(kernsel::cross_gram<double>(k, X, Z, rows(cross.data(), n, m)).ok());
    CHECK(basis.write(X, rows(H.data(), n, q)).ok());
    CHECK(basis.write(Z, rows(h.data(), m, q)).ok());
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) S[static_cast<std::size_t>(i * size + j)] = K[static_cast<std::size_t>(i * n + j)];
      S[static_cast<std::size_t>(i * (size + 1))] += noise[static_cast<std::size_t>(i)];
      for (Index j = 0; j < q; ++j)
        S[static_cast<std::size_t>(i * size + n + j)] = S[static_cast<std::size_t>((n + j) * size + i)] =
            H[static_cast<std::size_t>(i * q + j)];
    }
    for (Index j = 0; j < q; ++j)
      for (Index c = 0; c < m; ++c) cross[static_cast<std::size_t>((n + j) * m + c)] = h[static_cast<std::size_t>(c * q + j)];
    const std::vector<double> inverse = inverse_of(S, size);
    mean.assign(static_cast<std::size_t>(2 * m), 0.0);
    covariance = own;
    for (Index c = 0; c < m; ++c)
      for (Index i = 0; i < size; ++i) {
        double weight = 0.0;  // of row i of the system in the prediction of point c
        for (Index j = 0; j < size; ++j)
          weight += inverse[static_cast<std::size_t>(i * size + j)] * cross[static_cast<std::size_t>(j * m + c)];
        for (Index o = 0; o < 2 && i < n; ++o)
          mean[static_cast<std::size_t>(2 * c + o)] += weight * y[static_cast<std::size_t>(2 * i + o)];
        for (Index e = 0; e < m; ++e)
          covariance[static_cast<std::size_t>(e * m + c)] -= weight * cross[static_cast<std::size_t>(i * m + e)];
      }
  }
};

DensePosterior fitted(const Basis& basis, const std::vector<double>& y, const std::vector<double>& noise, Index points = n) {
  DensePosterior model;
  CHECK(model.condition({k, X.block(0, 0, points, d), rows(y.data(), points, 2), vector(noise.data(), points), basis}).ok());
  return model;
}

std::vector<double> mean_of(const DensePosterior& model) {
  std::vector<double> out(static_cast<std::size_t>(2 * m));
  CHECK(model.mean(Z, rows(out.data(), m, 2)).ok());
  return out;
}

std::vector<double> variance_of(const DensePosterior& model) {
  std::vector<double> out(static_cast<std::size_t>(m));
  CHECK(model.variance(Z, vector(out.data(), m)).ok());
  return out;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = a.size() == b.size() ? 0.0 : 1e300;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

Basis some_functions() {
  return Basis::functions(2, {[](View<const double> points, View<double> values) {
                            for (Index i = 0; i < points.rows; ++i) {
                              values(i, 0) = std::exp(0.3 * points(i, 0));
                              values(i, 1) = points(i, 1) * points(i, 1);
                            }
                          }});
}

const std::vector<Basis> bases{Basis::Kind::none, Basis::Kind::constant, Basis::Kind::linear, Basis::Kind::quadratic,
                               some_functions()};

void means_and_covariances() {
  const std::vector<double> y = targets(), noise = variances();
  for (const Basis& basis : bases) {
    const DensePosterior model = fitted(basis, y, noise);
    const Kriging expected(basis, y, noise);
    CHECK_BELOW(largest_difference(mean_of(model), expected.mean), 1e-10);
    std::vector<double> covariance(static_cast<std::size_t>(m * m)), diagonal;
    CHECK(model.covariance(Z, rows(covariance.data(), m, m)).ok());
    CHECK_BELOW(largest_difference(covariance, expected.covariance), 1e-10);
    for (Index i = 0; i < m; ++i) diagonal.push_back(covariance[static_cast<std::size_t>(i * (m + 1))]);
    CHECK_BELOW(largest_difference(variance_of(model), diagonal), 1e-11);
  }
}

void gradients() {
  const std::vector<double> y = targets(), noise = variances();
  const double step = 1e-5;
  for (const Basis& basis : bases) {
    const DensePosterior model = fitted(basis, y, noise);
    std::vector<double> of_mean(static_cast<std::size_t>(m * d * 2)), of_variance(static_cast<std::size_t>(m * d));
    CHECK(model.mean_gradient(Z, rows(of_mean.data(), m, d * 2)).ok());
    CHECK(model.variance_gradient(Z, rows(of_variance.data(), m, d)).ok());
    for (Index j = 0; j < d; ++j) {
      std::vector<double> moved[2], mean[2], variance[2];
      for (int side = 0; side < 2; ++side) {
        moved[side] = z;
        for (Index i = 0; i < m; ++i) moved[side][static_cast<std::size_t>(i * d + j)] += side == 0 ? step : -step;
        mean[side].resize(static_cast<std::size_t>(2 * m));
        variance[side].resize(static_cast<std::size_t>(m));
        CHECK(model.mean(rows<const double>(moved[side].data(), m, d), rows(mean[side].data(), m, 2)).ok());
        CHECK(model.variance(rows<const double>(moved[side].data(), m, d), vector(variance[side].data(), m)).ok());
      }
      for (std::size_t i = 0; i < static_cast<std::size_t>(m); ++i) {
        const auto J = static_cast<std::size_t>(j);
        for (std::size_t o = 0; o < 2; ++o)
          CHECK_BELOW(std::abs((mean[0][2 * i + o] - mean[1][2 * i + o]) / (2.0 * step) - of_mean[(i * d + J) * 2 + o]), 1e-7);
        CHECK_BELOW(std::abs((variance[0][i] - variance[1][i]) / (2.0 * step) - of_variance[i * d + J]), 1e-7);
      }
    }
  }
}

void left_out() {
  const std::vector<double> y = targets(), noise = variances();
  for (const Basis& basis : bases) {
    const DensePosterior model = fitted(basis, y, noise);
    std::vector<double> residuals(2 * n), variance(n), leverage(n);
    CHECK(model.leave_one_out(rows(residuals.data(), n, 2), vector(variance.data(), n), vector(leverage.data(), n)).ok());
    for (const Index i : {Index{0}, Index{17}, n - 1}) {  // compared with a model without the point
      DensePosterior rest = fitted(basis, y, noise);
      CHECK(rest.remove(i).ok());
      double mean[2], var = 0.0;
      CHECK(rest.mean(X.block(i, 0, 1, d), rows(mean, 1, 2)).ok() && rest.variance(X.block(i, 0, 1, d), vector(&var, 1)).ok());
      const auto at = static_cast<std::size_t>(i);
      for (std::size_t o = 0; o < 2; ++o) CHECK_BELOW(std::abs(y[2 * at + o] - mean[o] - residuals[2 * at + o]), 1e-9);
      CHECK_BELOW(std::abs(var + noise[at] - variance[at]), 1e-9);
      // The leverage is the derivative of the fitted value with respect to y_i; the fit is linear in y.
      std::vector<double> other = y;
      other[2 * at] += 1.0;
      double before[2], after[2];
      CHECK(model.mean(X.block(i, 0, 1, d), rows(before, 1, 2)).ok());
      CHECK(fitted(basis, other, noise).mean(X.block(i, 0, 1, d), rows(after, 1, 2)).ok());
      CHECK_BELOW(std::abs(after[0] - before[0] - leverage[at]), 1e-9);
    }
  }
}

void updates() {
  const std::vector<double> y = targets(), noise = variances();
  for (const Basis& basis : bases) {
    const DensePosterior whole = fitted(basis, y, noise);
    DensePosterior model = fitted(basis, y, noise, n - 6);
    CHECK(model.append(X.block(n - 6, 0, 6, d), rows(y.data() + 2 * (n - 6), 6, 2), vector(noise.data() + n - 6, 6)).ok());
    CHECK_BELOW(largest_difference(mean_of(model), mean_of(whole)), 1e-9);
    CHECK_BELOW(largest_difference(variance_of(model), variance_of(whole)), 1e-9);
    // Points that make the matrix indefinite are refused, and the model is unchanged.
    const std::vector<double> before = mean_of(model), twice{z[0], z[1], z[0], z[1]}, none(2, -10.0), values(4, 1.0);
    CHECK(!model.append(rows(twice.data(), 2, d), rows(values.data(), 2, 2), vector(none.data(), 2)).ok());
    CHECK(model.points() == n && largest_difference(mean_of(model), before) == 0.0);
  }
}

// A point without which the trend is not determined stays, and the model with it.
void a_point_that_has_to_stay() {
  std::vector<double> H(n, 0.0);
  H[3] = 1.0;  // nothing but this point says how large this function is
  const std::vector<double> y = targets(), noise = variances();
  DensePosterior model = fitted(Basis::fixed(vector<const double>(H.data(), n)), y, noise);
  std::vector<double> before(2 * n), after(2 * n);
  CHECK(model.leave_one_out(rows(before.data(), n, 2), {}, {}).ok());
  CHECK(model.remove(3).code == kernsel::Code::invalid_argument);
  CHECK(model.points() == n);
  CHECK(model.leave_one_out(rows(after.data(), n, 2), {}, {}).ok());
  for (std::size_t i = 0; i < 2 * n; ++i) CHECK(i / 2 == 3 || before[i] == after[i]);
  CHECK(model.remove(4).ok() && model.points() == n - 1);
}

void draws() {
  std::vector<double> y(n);
  for (Index i = 0; i < n; ++i) y[static_cast<std::size_t>(i)] = std::sin(X(i, 0));
  const std::vector<double> noise = variances();
  DensePosterior model;
  CHECK(model.condition({k, X, vector<const double>(y.data(), n), vector(noise.data(), n), Basis::Kind::constant}).ok());
  constexpr Index many = 4000;
  const std::vector<double> u = random_numbers<double>(m * many, 9);
  std::vector<double> drawn(static_cast<std::size_t>(m * many)), mean(m), covariance(m * m);
  CHECK(model.draw(Z, rows(u.data(), m, many), rows(drawn.data(), m, many)).ok());
  CHECK(model.mean(Z, vector(mean.data(), m)).ok() && model.covariance(Z, rows(covariance.data(), m, m)).ok());
  for (Index a = 0; a < m; ++a)
    for (Index b = 0; b < m; ++b) {
      double sum = 0.0;
      for (Index s = 0; s < many; ++s)
        sum += (drawn[static_cast<std::size_t>(a * many + s)] - mean[static_cast<std::size_t>(a)]) *
               (drawn[static_cast<std::size_t>(b * many + s)] - mean[static_cast<std::size_t>(b)]);
      // The tolerance is five standard errors of a covariance that is estimated from so many draws.
      const double size = std::sqrt(2.0 * covariance[static_cast<std::size_t>(a * (m + 1))] *
                                    covariance[static_cast<std::size_t>(b * (m + 1))]);
      CHECK_BELOW(std::abs(sum / many - covariance[static_cast<std::size_t>(a * m + b)]), 5.0 * size / std::sqrt(double(many)));
    }
}

void what_is_refused() {
  const std::vector<double> y = targets(), noise = variances();
  DensePosterior model;
  CHECK(model.condition({k, X, rows(y.data(), n - 1, 2), vector(noise.data(), n)}).code == kernsel::Code::invalid_argument);
  CHECK(model.condition({k, X, rows(y.data(), n, 2), vector(noise.data(), 3)}).code == kernsel::Code::invalid_argument);
  model = fitted(Basis::fixed(X), y, noise);  // a trend that is known at the training points only
  std::vector<double> out(2 * m);
  CHECK(model.mean(Z, rows(out.data(), m, 2)).code == kernsel::Code::invalid_argument);
  CHECK(model.mean(Z.block(0, 0, m, 1), rows(out.data(), m, 2)).code == kernsel::Code::invalid_argument);
  DensePosterior coefficients;
  CHECK(coefficients.assume({k, X, {}, {}}, rows(y.data(), n, 2), {}, false).ok());
  CHECK(coefficients.mean(Z, rows(out.data(), m, 2)).ok() && !coefficients.has_variances());
  CHECK(coefficients.variance(Z, vector(out.data(), m)).code == kernsel::Code::invalid_argument);
  CHECK(coefficients.remove(0).code == kernsel::Code::invalid_argument);
}

}  // namespace

int main() {
  means_and_covariances();
  gradients();
  left_out();
  updates();
  a_point_that_has_to_stay();
  draws();
  what_is_refused();
  return report("posterior");
}
