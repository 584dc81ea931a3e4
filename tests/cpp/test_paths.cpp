// Decompositions against their definitions; least squares and the regularization path against refits.
#include <algorithm>
#include <string>

#include "check.hpp"
#include "kernsel/decomposition.hpp"
#include "kernsel/factor.hpp"
#include "kernsel/gram.hpp"
#include "kernsel/least_squares.hpp"
#include "kernsel/runtime.hpp"
#include "parallel.hpp"

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

// How far V'V is from the identity.
double departure(const Numbers& V, Index n, Index k) {
  Numbers G = product(V, V, k, n, k, true);
  for (Index i = 0; i < k; ++i) G[at(i, i, k)] -= 1.0;
  return norm_of(G);
}

// An orthogonal matrix, of the eigenvectors of a random one.
Numbers orthogonal(Index n, unsigned seed) {
  Numbers A = random_numbers<double>(n * n, seed), e(static_cast<std::size_t>(n)), V(A.size());
  CHECK(kernsel::symmetric_eigen(columns<const double>(A.data(), n, n), vector(e.data(), n), columns(V.data(), n, n)).ok());
  return V;
}

// Q diag(e) Q', symmetric to the last bit.
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

// The same bits for any number of threads.
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
        // A'U has orthogonal columns of these lengths; U has the whole range.
        const double norm = norm_of(A), slack = 10.0 * static_cast<double>(std::max(n, d)) * eps;
        Numbers B = product(A, U, d, n, k, true);
        double squares = 0.0;
        for (Index j = 0; j < k; ++j) {
          const double length = norm_of(Numbers(B.begin() + j * d, B.begin() + (j + 1) * d));
          CHECK_BELOW(std::abs(length - s[static_cast<std::size_t>(j)]), slack * norm);
          squares += s[static_cast<std::size_t>(j)] * s[static_cast<std::size_t>(j)];
          if (s[static_cast<std::size_t>(j)] == 0.0)  // make it count in what follows
            CHECK(norm_of(Numbers(U.begin() + j * n, U.begin() + (j + 1) * n)) == 0.0);
        }
        CHECK_BELOW(std::abs(std::sqrt(squares) - norm), slack * norm);
        Index rank = 0;
        while (rank < k && s[static_cast<std::size_t>(rank)] > slack * norm) ++rank;
        CHECK(rank == (kind == 3 ? 0 : kind == 1 ? std::min<Index>(2, k) : rank));
        U.resize(static_cast<std::size_t>(n * rank));
        CHECK_BELOW(departure(U, n, rank), slack);
        CHECK_BELOW(norm_of(difference(product(U, product(U, A, rank, n, d, true), n, rank, d), A)), 3.0 * slack * norm);
      }
}

// x of minimum norm with |A x - b|^2 + ridge |x|^2 least, by eigenvectors of A'A + ridge I or AA': for well-conditioned cases.
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
            // The last row alone sees the last column: leverage one.
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
  // Units as far as numbers go.
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

}  // namespace

int main() {
  eigen();
  threads();
  singular();
  squares();
  return report("paths");
}
