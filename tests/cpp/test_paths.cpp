// Decompositions against their definitions; least squares and the regularization path against refits.
#include <algorithm>
#include <string>

#include "base/parallel.hpp"
#include "check.hpp"
#include "kernsel/cholesky.hpp"
#include "kernsel/decomposition.hpp"
#include "kernsel/gram.hpp"
#include "kernsel/least_squares.hpp"
#include "kernsel/path.hpp"
#include "kernsel/runtime.hpp"

using kernsel::columns;
using kernsel::Index;
using kernsel::vector;
using kernsel::View;

namespace {

using Numbers = std::vector<double>;

constexpr double eps = std::numeric_limits<double>::epsilon();

std::size_t at(Index i, Index j, Index rows) { return static_cast<std::size_t>(i + j * rows); }

double size_of(const Numbers& values) {
  double largest = 0.0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

double norm_of(const Numbers& values) {
  const double largest = size_of(values);
  double sum = 0.0;
  for (const double value : values) sum += largest > 0.0 ? (value / largest) * (value / largest) : 0.0;
  return largest * std::sqrt(sum);
}

// op(A) B by columns, with sizes (n, k) and (k, m).
Numbers product(const Numbers& A, const Numbers& B, Index n, Index k, Index m, bool transposed = false) {
  Numbers C(static_cast<std::size_t>(n * m));
  for (Index j = 0; j < m; ++j)
    for (Index l = 0; l < k; ++l)
      for (Index i = 0; i < n; ++i) C[at(i, j, n)] += (transposed ? A[at(l, i, k)] : A[at(i, l, n)]) * B[at(l, j, k)];
  return C;
}

Numbers difference(Numbers a, const Numbers& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return a;
}

// The norm of V'V - I.
double departure(const Numbers& V, Index n, Index k) {
  Numbers G = product(V, V, k, n, k, true);
  for (Index i = 0; i < k; ++i) G[at(i, i, k)] -= 1.0;
  return norm_of(G);
}

// An orthogonal matrix: the eigenvectors of a random symmetric matrix.
Numbers orthogonal(Index n, unsigned seed) {
  Numbers A = random_numbers<double>(n * n, seed), e(static_cast<std::size_t>(n)), V(A.size());
  CHECK(kernsel::symmetric_eigen(columns<const double>(A.data(), n, n), vector(e.data(), n), columns(V.data(), n, n)).ok());
  return V;
}

// Q diag(e) Q' for a random orthogonal Q, exactly symmetric.
Numbers with_spectrum(const Numbers& e, unsigned seed) {
  const auto n = static_cast<Index>(e.size());
  const Numbers Q = orthogonal(n, seed);
  Numbers QE = Q;
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i) QE[at(i, j, n)] *= e[static_cast<std::size_t>(j)];
  Numbers Qt(Q.size());
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i) Qt[at(j, i, n)] = Q[at(i, j, n)];
  Numbers A = product(QE, Qt, n, n, n);
  for (Index j = 0; j < n; ++j)
    for (Index i = j + 1; i < n; ++i) A[at(j, i, n)] = A[at(i, j, n)];
  return A;
}

double worst_residual = 0.0, worst_departure = 0.0;

void check_eigen(const char* name, const Numbers& A, Index n) {
  Numbers e(static_cast<std::size_t>(n)), V(A.size());
  const kernsel::Status status =
      kernsel::symmetric_eigen(columns(A.data(), n, n), vector(e.data(), n), columns(V.data(), n, n));
  if (!status.ok()) std::printf("%s: %s\n", name, status.message);
  CHECK(status.ok());
  CHECK(std::is_sorted(e.rbegin(), e.rend()));
  Numbers VE = V;
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i) VE[at(i, j, n)] *= e[static_cast<std::size_t>(j)];
  const double size = static_cast<double>(n), norm = norm_of(A);
  const double residual = norm_of(difference(product(A, V, n, n, n), VE)), orthogonality = departure(V, n, n);
  CHECK_BELOW(residual, 2.0 * size * eps * norm);
  CHECK_BELOW(orthogonality, 5.0 * size * eps);
  if (norm > 0.0) worst_residual = std::max(worst_residual, residual / (size * eps * norm));
  worst_departure = std::max(worst_departure, orthogonality / (size * eps));
}

Numbers symmetric(Index n, unsigned seed) {
  Numbers A = random_numbers<double>(n * n, seed);
  for (Index j = 0; j < n; ++j)
    for (Index i = j + 1; i < n; ++i) A[at(j, i, n)] = A[at(i, j, n)];
  return A;
}

void eigen() {
  for (const Index n : {1, 2, 3, 5, 31, 32, 33, 64, 100, 300}) {
    const Numbers A = symmetric(n, static_cast<unsigned>(n));
    check_eigen("random", A, n);
    for (const double unit : {1e-300, 1e-160, 1e160, 1e300}) {
      Numbers scaled = A;
      for (double& entry : scaled) entry *= unit;
      check_eigen("scaled", scaled, n);
    }
    check_eigen("zero", Numbers(A.size()), n);
    Numbers ones(A.size(), 1.0), diagonal(A.size()), graded(A.size()), rising(A.size()), beside(A.size());
    for (Index i = 0; i < n; ++i) {
      diagonal[at(i, i, n)] = static_cast<double>((7 * i) % n) - 3.0;
      if (i + 1 < n) beside[at(i, i + 1, n)] = beside[at(i + 1, i, n)] = 1.0;
    }
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) {
        graded[at(i, j, n)] = A[at(i, j, n)] * std::pow(10.0, -0.3 * static_cast<double>(i + j));
        rising[at(n - 1 - i, n - 1 - j, n)] = graded[at(i, j, n)];
      }
    check_eigen("ones", ones, n);
    check_eigen("diagonal", diagonal, n);
    check_eigen("zero diagonal", beside, n);
    check_eigen("graded", graded, n);
    check_eigen("graded upwards", rising, n);
    Numbers clustered, decaying;
    for (Index i = 0; i < n; ++i) {
      clustered.push_back(i % 3 == 0 ? 1.0 : i % 3 == 1 ? 1.0 + 1e-14 * static_cast<double>(i) : 0.0);
      decaying.push_back(std::pow(10.0, -static_cast<double>(i)));
    }
    check_eigen("clustered", with_spectrum(clustered, 3), n);
    check_eigen("decaying", with_spectrum(decaying, 4), n);
  }
  std::printf("eigenvectors: |A V - V E| <= %.2g n eps |A|, |V'V - I| <= %.2g n eps\n", worst_residual, worst_departure);
  Numbers bad{1.0, std::nan(""), 0.0, 1.0}, e(2), V(4);
  CHECK(kernsel::symmetric_eigen(columns<const double>(bad.data(), 2, 2), vector(e.data(), 2), columns(V.data(), 2, 2)).code ==
        kernsel::Code::invalid_argument);
}

// Results are the same to the last bit for any number of threads.
void threads() {
  const Index n = 300;
  const Numbers A = symmetric(n, 9);
  Numbers first;
  const int before = kernsel::num_threads();
  kernsel::use_a_team_for_any_work(true);
  for (const int count : {1, 2}) {
    kernsel::set_num_threads(count);
    Numbers e(static_cast<std::size_t>(n)), V(A.size()), s(100), U(A.size() / 3);
    CHECK(kernsel::symmetric_eigen(columns(A.data(), n, n), vector(e.data(), n), columns(V.data(), n, n)).ok());
    CHECK(kernsel::singular_values(columns(A.data(), n, 100), vector(s.data(), 100), columns(U.data(), n, 100)).ok());
    kernsel::LeastSquares fit;
    CHECK(kernsel::least_squares(columns(A.data(), n, 100), columns(A.data(), n, 3), 0.1, fit).ok());
    Numbers all = e;
    for (const Numbers* more : {&V, &s, &U, &fit.coefficients, &fit.left_out, &fit.leverage})
      all.insert(all.end(), more->begin(), more->end());
    if (first.empty()) first = all;
    CHECK(all == first);
  }
  kernsel::use_a_team_for_any_work(false);
  kernsel::set_num_threads(before);
}

void singular() {
  for (const Index n : {1, 2, 7, 40, 130})
    for (const Index d : {1, 2, 6, 40, 90})
      for (const int kind : {0, 1, 2, 3}) {
        const Index k = std::min(n, d);
        Numbers A = random_numbers<double>(n * d, static_cast<unsigned>(n + d));
        for (Index j = 0; j < d; ++j)
          for (Index i = 0; i < n; ++i) {
            if (kind == 1 && j >= 2) A[at(i, j, n)] = A[at(i, 0, n)] - static_cast<double>(j) * A[at(i, 1, n)];  // rank 2
            if (kind == 2) A[at(i, j, n)] *= std::pow(10.0, -0.2 * static_cast<double>(j));
            if (kind == 3) A[at(i, j, n)] = 0.0;
          }
        Numbers s(static_cast<std::size_t>(k)), U(static_cast<std::size_t>(n * k));
        CHECK(
            kernsel::singular_values(columns<const double>(A.data(), n, d), vector(s.data(), k), columns(U.data(), n, k)).ok());
        CHECK(std::is_sorted(s.rbegin(), s.rend()));
        // The columns of A'U have the singular values as norms and are orthogonal, those of U that belong to zeros are zero,
        // and UU'A = A.
        const double norm = norm_of(A), slack = 10.0 * static_cast<double>(std::max(n, d)) * eps;
        Numbers B = product(A, U, d, n, k, true);
        const Numbers G = product(B, B, k, d, k, true);  // (A'U)'A'U = diag(s^2)
        for (Index i = 0; i < k; ++i)
          for (Index j = 0; j < i; ++j) CHECK_BELOW(std::abs(G[at(i, j, k)]), slack * norm * norm);
        double squares = 0.0;
        for (Index j = 0; j < k; ++j) {
          const double length = norm_of(Numbers(B.begin() + j * d, B.begin() + (j + 1) * d));
          CHECK_BELOW(std::abs(length - s[static_cast<std::size_t>(j)]), slack * norm);
          squares += s[static_cast<std::size_t>(j)] * s[static_cast<std::size_t>(j)];
          if (s[static_cast<std::size_t>(j)] == 0.0)  // such columns of U are zero
            CHECK(norm_of(Numbers(U.begin() + j * n, U.begin() + (j + 1) * n)) == 0.0);
        }
        CHECK_BELOW(std::abs(std::sqrt(squares) - norm), slack * norm);
        Index rank = 0;
        while (rank < k && s[static_cast<std::size_t>(rank)] > slack * norm) ++rank;
        if (kind != 2) CHECK(rank == (kind == 3 ? 0 : kind == 1 ? std::min<Index>(2, k) : k));
        CHECK(rank > 0 || kind == 3);
        U.resize(static_cast<std::size_t>(n * rank));
        CHECK_BELOW(departure(U, n, rank), slack);
        CHECK_BELOW(norm_of(difference(product(U, product(U, A, rank, n, d, true), n, rank, d), A)), 3.0 * slack * norm);
      }
}

// The x of minimum norm that minimizes |A x - b|^2 + ridge |x|^2, from the eigenvectors of A'A: for well-conditioned A.
Numbers solution(const Numbers& A, const Numbers& b, Index n, Index d, double ridge) {
  Numbers G = product(A, A, d, n, d, true), e(static_cast<std::size_t>(d)), V(G.size());
  CHECK(kernsel::symmetric_eigen(columns<const double>(G.data(), d, d), vector(e.data(), d), columns(V.data(), d, d)).ok());
  Numbers w = product(V, product(A, b, d, n, 1, true), d, d, 1, true);
  for (Index i = 0; i < d; ++i) {
    const auto k = static_cast<std::size_t>(i);
    w[k] = e[k] > 1e-11 * e[0] ? w[k] / (e[k] + ridge) : 0.0;
  }
  return product(V, w, d, d, 1);
}

void squares() {
  for (const Index n : {1, 2, 5, 12, 40})
    for (const Index d : {1, 3, 12, 30})
      for (const int kind : {0, 1, 2, 3})
        for (const double ridge : {0.0, 0.3}) {
          Numbers A = random_numbers<double>(n * d, static_cast<unsigned>(100 * n + d));
          const Numbers b = random_numbers<double>(2 * n, 7);
          for (Index i = 0; i < n; ++i) {
            if (kind == 1 && d > 2) A[at(i, 2, n)] = A[at(i, 0, n)] - A[at(i, 1, n)];
            // The last column is zero but for the last row, which therefore has leverage one without a ridge.
            if (kind == 2) A[at(i, d - 1, n)] = i + 1 == n ? 1.0 : 0.0;
          }
          if (kind == 3) std::fill(A.begin(), A.end(), 0.0);
          kernsel::LeastSquares fit;
          CHECK(kernsel::least_squares(columns<const double>(A.data(), n, d), columns(b.data(), n, 2), ridge, fit).ok());
          double levers = 0.0;
          for (const double lever : fit.leverage) {
            CHECK(lever >= 0.0 && lever <= 1.0);
            levers += lever;
          }
          if (ridge == 0.0) CHECK_BELOW(std::abs(levers - static_cast<double>(fit.rank)), 1e-13 * static_cast<double>(n + d));
          if (kind == 2 && ridge == 0.0) CHECK_BELOW(1.0 - fit.leverage.back(), 1e-14);
          for (Index k = 0; k < 2; ++k) {
            const Numbers one(b.begin() + k * n, b.begin() + (k + 1) * n), x = solution(A, one, n, d, ridge);
            const double size = 1.0 + norm_of(x);
            CHECK_BELOW(
                norm_of(difference(Numbers(fit.coefficients.begin() + k * d, fit.coefficients.begin() + (k + 1) * d), x)),
                1e-8 * size);
            double press = 0.0;
            for (Index i = 0; i < n; ++i) {
              Numbers rest, rest_b;
              for (Index j = 0; j < d; ++j)
                for (Index r = 0; r < n; ++r)
                  if (r != i) rest.push_back(A[at(r, j, n)]);
              for (Index r = 0; r < n; ++r)
                if (r != i) rest_b.push_back(one[static_cast<std::size_t>(r)]);
              const Numbers without = n > 1 ? solution(rest, rest_b, n - 1, d, ridge) : Numbers(static_cast<std::size_t>(d));
              double residual = one[static_cast<std::size_t>(i)], plain = residual;
              for (Index j = 0; j < d; ++j) {
                residual -= A[at(i, j, n)] * without[static_cast<std::size_t>(j)];
                plain -= A[at(i, j, n)] * x[static_cast<std::size_t>(j)];
              }
              const double found = fit.left_out[at(i, k, n)];
              CHECK_BELOW(std::abs(found - residual), 1e-7 * (1.0 + std::abs(residual)));
              CHECK_BELOW(std::abs(fit.residuals[at(i, k, n)] - plain), 1e-8 * size);
              press += found * found;
            }
            CHECK_BELOW(std::abs(press - fit.press[static_cast<std::size_t>(k)]), 1e-12 * press);
          }
        }
  // Units of A and b near the limits of double precision.
  Numbers A = random_numbers<double>(60, 1), b = random_numbers<double>(20, 2);
  kernsel::LeastSquares plain, scaled;
  CHECK(kernsel::least_squares(columns<const double>(A.data(), 20, 3), vector<const double>(b.data(), 20), 0.5, plain).ok());
  for (double& entry : A) entry = std::ldexp(entry, 500);
  for (double& entry : b) entry = std::ldexp(entry, -300);
  CHECK(kernsel::least_squares(columns<const double>(A.data(), 20, 3), vector<const double>(b.data(), 20),
                               std::ldexp(0.5, 1000), scaled)
            .ok());
  CHECK(scaled.leverage == plain.leverage);
  for (std::size_t i = 0; i < 20; ++i) CHECK(scaled.left_out[i] == std::ldexp(plain.left_out[i], -300));
  CHECK(!kernsel::least_squares(columns<const double>(A.data(), 20, 3), vector<const double>(b.data(), 20), -1.0, plain).ok());
  CHECK(!kernsel::least_squares(columns<const double>(A.data(), 20, 3), vector<const double>(b.data(), 19), 0.0, plain).ok());
}

// The quantities of a path for one lambda, by solving a system with K~ = K + diag(lambda / w).
struct Refit {
  Refit(const Numbers& K, const Numbers& y, const Numbers& H, const Numbers& w, double lambda)
      : n(static_cast<Index>(w.size())), m(static_cast<Index>(y.size()) / n), q(static_cast<Index>(H.size()) / n) {
    // c of [K + diag(lambda / w), H; H', 0] [c; b] = [y; 0], and the block P of the inverse, by elimination with row exchanges.
    const Index size = n + q;
    Numbers A(static_cast<std::size_t>(size * size)), B(static_cast<std::size_t>(size * (m + n)));
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) A[at(i, j, size)] = K[at(i, j, n)];
      A[at(j, j, size)] += lambda / w[static_cast<std::size_t>(j)];
      for (Index a = 0; a < q; ++a) A[at(j, n + a, size)] = A[at(n + a, j, size)] = H[at(j, a, n)];
      for (Index k = 0; k < m; ++k) B[at(j, k, size)] = y[at(j, k, n)];
      B[at(j, m + j, size)] = 1.0;
    }
    for (Index k = 0; k < size; ++k) {
      Index best = k;
      for (Index i = k + 1; i < size; ++i)
        if (std::abs(A[at(i, k, size)]) > std::abs(A[at(best, k, size)])) best = i;
      log_det += std::log(std::abs(A[at(best, k, size)]));
      for (Index j = 0; j < size; ++j) std::swap(A[at(k, j, size)], A[at(best, j, size)]);
      for (Index j = 0; j < m + n; ++j) std::swap(B[at(k, j, size)], B[at(best, j, size)]);
      for (Index i = 0; i < size; ++i) {
        if (i == k) continue;
        const double factor = A[at(i, k, size)] / A[at(k, k, size)];
        for (Index j = k; j < size; ++j) A[at(i, j, size)] -= factor * A[at(k, j, size)];
        for (Index j = 0; j < m + n; ++j) B[at(i, j, size)] -= factor * B[at(k, j, size)];
      }
    }
    for (Index j = 0; j < m + n; ++j)
      for (Index i = 0; i < n; ++i) (j < m ? c : P).push_back(B[at(i, j, size)] / A[at(i, i, size)]);
    double weights = 0.0, trace = 0.0, inverse = 0.0;
    for (Index i = 0; i < n; ++i) {
      const double wi = w[static_cast<std::size_t>(i)];
      weights += wi;
      inverse += 1.0 / wi / static_cast<double>(n);
      trace += P[at(i, i, n)] / wi;
    }
    for (Index k = 0; k < m; ++k)
      for (Index i = 0; i < n; ++i) {
        const double wi = w[static_cast<std::size_t>(i)], ci = c[at(i, k, n)], left_out = ci / P[at(i, i, n)];
        loo += wi * left_out * left_out / weights / static_cast<double>(m);
        residual += ci * ci / wi * lambda * lambda;
        quadratic += ci * y[at(i, k, n)];
        for (Index j = 0; j < n; ++j) semi += ci * K[at(i, j, n)] * c[at(j, k, n)];
      }
    dof = static_cast<double>(n) - lambda * trace;
    gcv = static_cast<double>(n) * residual / (lambda * lambda) / (trace * trace) / static_cast<double>(m) * inverse;
  }

  Index n, m, q;
  Numbers c, P;
  double log_det = 0.0;  // log det K~ + log det H'PH, P = K~^-1
  double loo = 0.0, residual = 0.0, quadratic = 0.0, semi = 0.0, dof = 0.0, gcv = 0.0;
};

bool near(double found, double expected, double slack) {
  return std::abs(found - expected) <= slack * std::abs(expected) + 1e-300;
}

struct Data {
  explicit Data(Index points, Index outputs, unsigned seed = 5)
      : n(points), m(outputs), x(random_numbers<double>(points, seed)) {
    const Numbers noise = random_numbers<double>(n * m, seed + 1), spread = random_numbers<double>(n, seed + 2);
    for (Index k = 0; k < m; ++k)
      for (Index i = 0; i < n; ++i)
        y.push_back(std::sin(2.0 * x[static_cast<std::size_t>(i)] + static_cast<double>(k)) + 0.2 * noise[at(i, k, n)]);
    for (const double value : spread) weights.push_back(std::exp(0.3 * value));
    for (Index a = 0; a < 2; ++a)
      for (const double value : x) trend.push_back(a == 0 ? 1.0 : value);
    K.resize(static_cast<std::size_t>(n * n));
    CHECK(kernsel::gram<double>(kernel, columns<const double>(x.data(), n, 1), columns(K.data(), n, n)).ok());
  }
  kernsel::PathProblem problem(Index q, bool weighted) const {
    kernsel::PathProblem p;
    p.y = columns<const double>(y.data(), n, m);
    if (q > 0) p.trend = columns<const double>(trend.data(), n, q);
    if (weighted) p.weights = weights.data();
    p.sigma = 0.2;
    return p;
  }

  kernsel::Kernel kernel = kernsel::matern32({0.8});
  Index n, m;
  Numbers x, y, weights, trend, K;
};

void table() {
  const Numbers alphas{1e-3, 0.1, 3.0};
  for (const Index n : {Index{5}, Index{40}, Index{150}})
    for (const Index q : {0, 1, 2})
      for (const bool weighted : {false, true})
        for (const Index m : {1, 2}) {
          const Data data(n, m);
          const kernsel::PathProblem problem = data.problem(q, weighted);
          const Numbers ones(static_cast<std::size_t>(n), 1.0), H(data.trend.begin(), data.trend.begin() + q * n);
          const Numbers& w = weighted ? data.weights : ones;
          kernsel::RegularizationPath path, of_kernel, restored;
          CHECK(kernsel::RegularizationPath::of_matrix(columns(data.K.data(), n, n), problem, path).ok());
          CHECK(kernsel::RegularizationPath::of_kernel(data.kernel, columns<const double>(data.x.data(), n, 1), problem,
                                                       of_kernel)
                    .ok());
          const Numbers state = path.state();
          CHECK(kernsel::RegularizationPath::from_state(vector(state.data(), static_cast<Index>(state.size())), restored).ok());
          kernsel::PathValues found, same, again;
          CHECK(path.values(alphas, found).ok());
          CHECK(of_kernel.values(alphas, same).ok());
          CHECK(restored.values(alphas, again).ok());
          CHECK(found.loo == same.loo && found.loo == again.loo && found.log_likelihood == again.log_likelihood);
          for (std::size_t l = 0; l < alphas.size(); ++l) {
            const double lambda = alphas[l], slack = 1e-10;
            const Refit refit(data.K, data.y, H, w, lambda);
            CHECK(near(found.loo[l], refit.loo, slack));
            CHECK(near(found.gcv[l], refit.gcv, slack));
            CHECK(near(found.residual_norm[l] * found.residual_norm[l], refit.residual, slack));
            CHECK(near(found.seminorm[l] * found.seminorm[l], refit.semi, slack));
            CHECK(near(found.effective_dof[l], refit.dof, slack));
            const double dm = static_cast<double>(m), dn = static_cast<double>(n);
            CHECK_BELOW(std::abs(found.risk[l] - (refit.residual + dm * 0.04 * (2.0 * refit.dof - dn)) / (dn * dm)), 1e-11);
            if (q == 0) {
              const double pi = 3.14159265358979323846;
              const double likelihood = -0.5 * (refit.quadratic + dm * refit.log_det + dn * dm * std::log(2.0 * pi));
              CHECK_BELOW(std::abs(found.log_likelihood[l] - likelihood), 1e-10 * (1.0 + std::abs(likelihood)));
              CHECK_BELOW(std::abs(found.restricted_log_likelihood[l] - likelihood), 1e-10 * (1.0 + std::abs(likelihood)));
              const double profiled =
                  -0.5 * (dn * dm * (std::log(2.0 * pi * refit.quadratic / (dn * dm)) + 1.0) + dm * refit.log_det);
              CHECK_BELOW(std::abs(found.profiled_log_likelihood[l] - profiled), 1e-10 * (1.0 + std::abs(profiled)));
            }
            Numbers c(static_cast<std::size_t>(n * m));
            CHECK(path.dual_coef(lambda, columns(c.data(), n, m)).ok());
            CHECK_BELOW(norm_of(difference(c, refit.c)), 1e-10 * norm_of(refit.c));
          }
          // With groups of one point each, this is leave-one-out.
          std::vector<Index> group;
          for (Index i = 0; i < n; ++i) group.push_back(i);
          Numbers single;
          CHECK(path.leave_groups_out(group, n, false, alphas, single).ok());
          if (!weighted)
            for (std::size_t l = 0; l < alphas.size(); ++l) CHECK(near(single[l], found.loo[l], 1e-9));
          // The path of one target alone, and the curvature of the L-curve by differences.
          kernsel::RegularizationPath last;
          kernsel::PathValues of_last, around;
          CHECK(path.target(m - 1, last).ok());
          CHECK(last.values(alphas, of_last).ok());
          const Numbers y_last(data.y.end() - n, data.y.end());
          CHECK(near(of_last.loo[1], Refit(data.K, y_last, H, w, alphas[1]).loo, 1e-10));
          const double h = 1e-3, lambda = alphas[1];
          CHECK(path.values({lambda * std::exp(-h), lambda, lambda * std::exp(h)}, around, false).ok());
          CHECK(std::isnan(around.loo[0]));
          double u[3], v[3];
          for (std::size_t l = 0; l < 3; ++l) {
            u[l] = std::log(around.residual_norm[l]);
            v[l] = std::log(around.seminorm[l]);
          }
          const double du = (u[2] - u[0]) / (2 * h), dv = (v[2] - v[0]) / (2 * h), ddu = (u[2] - 2 * u[1] + u[0]) / (h * h),
                       ddv = (v[2] - 2 * v[1] + v[0]) / (h * h);
          CHECK_BELOW(std::abs((du * ddv - ddu * dv) / std::pow(du * du + dv * dv, 1.5) - around.curvature[1]),
                      1e-4 * (1.0 + std::abs(around.curvature[1])));
        }
}

// Groups that are left out, compared with refits to the other points; features compared with the kernel matrix AA'.
void groups() {
  const Data data(30, 1);
  const Index n = data.n;
  for (const bool features : {false, true}) {
    // Features of rank three: x, x^2, x^3, and x^2 again.
    Numbers A;
    for (const int power : {1, 2, 3, 2})
      for (const double value : data.x) A.push_back(std::pow(value, power));
    Numbers At(A.size());
    for (Index j = 0; j < 4; ++j)
      for (Index i = 0; i < n; ++i) At[at(j, i, 4)] = A[at(i, j, n)];
    const Numbers K = features ? product(A, At, n, 4, n) : data.K;
    const kernsel::PathProblem problem = data.problem(1, false);
    kernsel::RegularizationPath path, of_matrix;
    CHECK((features ? kernsel::RegularizationPath::of_features(columns(A.data(), n, 4), problem, path)
                    : kernsel::RegularizationPath::of_matrix(columns(K.data(), n, n), problem, path))
              .ok());
    CHECK(kernsel::RegularizationPath::of_matrix(columns(K.data(), n, n), problem, of_matrix).ok());
    const Numbers alphas{0.05, 2.0};
    kernsel::PathValues a, b;
    CHECK(path.values(alphas, a).ok());
    CHECK(of_matrix.values(alphas, b).ok());
    for (std::size_t l = 0; l < 2; ++l)
      for (const auto rule : {kernsel::PathRule::loo, kernsel::PathRule::gcv, kernsel::PathRule::likelihood,
                              kernsel::PathRule::profiled_restricted_likelihood, kernsel::PathRule::risk,
                              kernsel::PathRule::discrepancy, kernsel::PathRule::l_curve, kernsel::PathRule::quasi_optimality})
        CHECK_BELOW(std::abs((a.*kernsel::curve_of(rule))[l] - (b.*kernsel::curve_of(rule))[l]),
                    1e-8 * (1.0 + std::abs((b.*kernsel::curve_of(rule))[l])));
    std::vector<Index> group;
    for (Index i = 0; i < n; ++i) group.push_back((7 * i) % 4);
    Numbers squared, density;
    CHECK(path.leave_groups_out(group, 4, false, alphas, squared).ok());
    CHECK(path.leave_groups_out(group, 4, true, alphas, density).ok());
    // One group of all points, beside empty ones, leaves none to learn from.
    const std::vector<Index> all(group.size(), 2);
    CHECK(path.leave_groups_out(all, 4, false, alphas, squared).code == kernsel::Code::invalid_argument);
    for (std::size_t l = 0; l < 2; ++l) {
      double expected = 0.0;
      for (Index g = 0; g < 4; ++g) {
        std::vector<Index> in, rest;
        for (Index i = 0; i < n; ++i) (group[static_cast<std::size_t>(i)] == g ? in : rest).push_back(i);
        const auto k = static_cast<Index>(rest.size());
        Numbers K_rest(static_cast<std::size_t>(k * k)), y_rest, ones(rest.size(), 1.0);
        for (Index j = 0; j < k; ++j) {
          for (Index i = 0; i < k; ++i)
            K_rest[at(i, j, k)] = K[at(rest[static_cast<std::size_t>(i)], rest[static_cast<std::size_t>(j)], n)];
          y_rest.push_back(data.y[static_cast<std::size_t>(rest[static_cast<std::size_t>(j)])]);
        }
        const Refit refit(K_rest, y_rest, ones, ones, alphas[l]);
        // The constant of the trend is y - K c - lambda c at any point, since lambda c are the residuals.
        double constant = y_rest[0] - alphas[l] * refit.c[0];
        for (Index j = 0; j < k; ++j) constant -= K_rest[at(0, j, k)] * refit.c[static_cast<std::size_t>(j)];
        for (const Index i : in) {
          double residual = data.y[static_cast<std::size_t>(i)] - constant;
          for (Index j = 0; j < k; ++j)
            residual -= K[at(i, rest[static_cast<std::size_t>(j)], n)] * refit.c[static_cast<std::size_t>(j)];
          expected += residual * residual / static_cast<double>(n);
        }
      }
      CHECK(near(squared[l], expected, 1e-9));
      CHECK(std::isfinite(density[l]));
    }
  }
}

void choices() {
  const Data data(60, 1);
  const Index n = data.n;
  kernsel::RegularizationPath path, given;
  kernsel::PathProblem problem = data.problem(0, false);
  CHECK(kernsel::RegularizationPath::of_matrix(columns(data.K.data(), n, n), problem, path).ok());
  kernsel::PathValues poor, wide;
  CHECK(path.values({1.0, 1.1}, poor).ok());
  CHECK(path.values(path.default_alphas(), wide).ok());
  CHECK(wide.alphas.size() == 200);
  for (const auto rule :
       {kernsel::PathRule::loo, kernsel::PathRule::gcv, kernsel::PathRule::likelihood, kernsel::PathRule::restricted_likelihood,
        kernsel::PathRule::profiled_likelihood, kernsel::PathRule::profiled_restricted_likelihood, kernsel::PathRule::risk}) {
    const double sign =
        rule == kernsel::PathRule::loo || rule == kernsel::PathRule::gcv || rule == kernsel::PathRule::risk ? 1 : -1;
    kernsel::PathChoice choice;
    CHECK(path.best(rule, poor, choice).ok());
    CHECK(choice.outcome == kernsel::PathChoice::Outcome::found);
    kernsel::PathValues there;
    CHECK(path.values({0.9 * choice.alpha, choice.alpha, 1.1 * choice.alpha}, there).ok());
    const Numbers& curve = there.*kernsel::curve_of(rule);
    CHECK(sign * curve[1] <= sign * curve[0] && sign * curve[1] <= sign * curve[2]);
    for (const double value : wide.*kernsel::curve_of(rule)) CHECK(sign * curve[1] <= sign * value + 1e-12 * std::abs(value));
  }
  kernsel::PathChoice choice;
  kernsel::PathValues there;
  CHECK(path.best(kernsel::PathRule::discrepancy, {}, choice, 1.1).ok());
  CHECK(path.values({choice.alpha}, there).ok());
  CHECK(near(there.residual_norm[0], 1.1 * std::sqrt(static_cast<double>(n)) * 0.2, 1e-11));
  CHECK(path.best(kernsel::PathRule::discrepancy, {}, choice, 100.0).ok());
  CHECK(choice.outcome == kernsel::PathChoice::Outcome::noise_is_all);
  // For the identity, given by its decomposition, the L-curve has no corner, and quasi-optimality has no minimum.
  Numbers e(static_cast<std::size_t>(n), 1.0), I(data.K.size());
  for (Index i = 0; i < n; ++i) I[at(i, i, n)] = 1.0;
  CHECK(kernsel::RegularizationPath::of_eigen(vector<const double>(e.data(), n), columns<const double>(I.data(), n, n), problem,
                                              given)
            .ok());
  CHECK(given.best(kernsel::PathRule::l_curve, {}, choice).ok());
  CHECK(choice.outcome == kernsel::PathChoice::Outcome::no_corner);
  CHECK(given.best(kernsel::PathRule::quasi_optimality, {}, choice).ok());
  CHECK(choice.outcome == kernsel::PathChoice::Outcome::no_minimum);
  CHECK(given.eigenvalues() == e);
  // The L-curve of an ill-posed problem has a corner: eigenvalues decay, and so do the data, but for some noise.
  const Index size = 40;
  Numbers decaying, y(static_cast<std::size_t>(size));
  const Numbers Q = orthogonal(size, 8), noise = random_numbers<double>(size, 1);
  for (Index i = 0; i < size; ++i) decaying.push_back(std::pow(10.0, -0.25 * static_cast<double>(i)));
  for (Index j = 0; j < size; ++j)
    for (Index i = 0; i < size; ++i)
      y[static_cast<std::size_t>(i)] += Q[at(i, j, size)] * (std::pow(decaying[static_cast<std::size_t>(j)], 0.7) +
                                                             1e-4 * noise[static_cast<std::size_t>(j)]);
  kernsel::PathProblem ill;
  ill.y = vector<const double>(y.data(), size);
  CHECK(kernsel::RegularizationPath::of_eigen(vector<const double>(decaying.data(), size), columns(Q.data(), size, size), ill,
                                              given)
            .ok());
  CHECK(given.best(kernsel::PathRule::l_curve, {}, choice).ok());
  CHECK(choice.outcome == kernsel::PathChoice::Outcome::found);
  CHECK(given.values({0.8 * choice.alpha, choice.alpha, 1.2 * choice.alpha}, there, false).ok());
  CHECK(there.curvature[1] > 1.0 && there.curvature[1] >= there.curvature[0] && there.curvature[1] >= there.curvature[2]);
  CHECK(std::isnan(there.risk[0]));
  CHECK(!given.best(kernsel::PathRule::risk, wide, choice).ok());
  // Matrices, values of lambda and states that must be refused.
  Numbers indefinite = I;
  indefinite[0] = -1.0;
  kernsel::RegularizationPath other;
  CHECK(kernsel::RegularizationPath::of_matrix(columns<const double>(indefinite.data(), n, n), problem, other).code ==
        kernsel::Code::not_positive_definite);
  CHECK(other.least_eigenvalue() == -1.0 && other.greatest_eigenvalue() == 1.0);
  CHECK(!path.values({1.0, 0.0}, there).ok());
  CHECK(!path.values({}, there).ok());
  CHECK(!kernsel::RegularizationPath().values({1.0}, there).ok());
  CHECK(kernsel::RegularizationPath::of_matrix(columns(data.K.data(), n, n), problem, other,
                                               [](View<double>, View<double>, View<double>) -> kernsel::Status { throw 1; })
            .code == kernsel::Code::exception);
  const Numbers state = path.state();
  for (const std::size_t kept : {std::size_t{0}, std::size_t{5}, std::size_t{20}, state.size() - 1})
    CHECK(!kernsel::RegularizationPath::from_state(vector(state.data(), static_cast<Index>(kept)), other).ok());
}

}  // namespace

int main() {
  eigen();
  threads();
  singular();
  squares();
  table();
  groups();
  choices();
  return report("paths");
}
