// The tile kernels for both scalar types, compared with plain loops, for sizes around those of their register tiles.
#include <algorithm>

#include "check.hpp"
#include "isa/table.hpp"
#include "kernsel/tiles.hpp"

using kernsel::Index;

namespace {

template <class T>
constexpr Index padding = kernsel::LowerTiles<T>::padding;

template <class T>
void products(Index m, Index n, Index k) {
  const auto& kernels = kernsel::tile_kernels<T>();
  Aligned<T> A(random_numbers<T>(m * k, 1)), B(random_numbers<T>(n * k, 2)), start(random_numbers<T>(m * n, 3));
  const double limit = 8.0 * epsilon<T>() * static_cast<double>(k + 2);
  for (const bool transposed : {true, false}) {
    Aligned<T> C(std::vector<T>(start.data(), start.data() + m * n));
    (transposed ? kernels.multiply_nt : kernels.multiply_nn)(m, n, k, T(-0.5), A.data(), m, B.data(), transposed ? n : k,
                                                             C.data(), m);
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) {
        double sum = static_cast<double>(start.data()[i + j * m]), size = std::abs(sum);
        for (Index p = 0; p < k; ++p) {
          const double term = -0.5 * static_cast<double>(A.data()[i + p * m]) *
                              static_cast<double>(transposed ? B.data()[j + p * n] : B.data()[p + j * k]);
          sum += term;
          size += std::abs(term);
        }
        CHECK_BELOW(std::abs(static_cast<double>(C.data()[i + j * m]) - sum), limit * size);
      }
  }
}

template <class T>
void factorization(Index n) {
  const auto& kernels = kernsel::tile_kernels<T>();
  const std::vector<T> A = positive_definite<T>(n, 4);
  Aligned<T> L(A);
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < j; ++i) L.data()[i + j * n] = std::numeric_limits<T>::quiet_NaN();  // must not be read
  T pivot = 0;
  CHECK(kernels.factorize(n, L.data(), n, &pivot) == -1);
  const double scale = 4.0 * static_cast<double>(n) * epsilon<T>() * static_cast<double>(*std::max_element(A.begin(), A.end()));
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) {
      double sum = 0.0;
      for (Index k = 0; k <= j; ++k) sum += static_cast<double>(L.data()[i + k * n]) * static_cast<double>(L.data()[j + k * n]);
      CHECK_BELOW(std::abs(sum - static_cast<double>(A[static_cast<std::size_t>(i + j * n)])), scale);
    }

  const Index m = 3 * padding<T>;
  const std::vector<T> B = random_numbers<T>(m * n, 5);
  Aligned<T> X(B), Y(B);
  kernels.solve_transposed(m, n, L.data(), n, X.data(), m);
  kernels.solve(m, n, L.data(), n, Y.data(), m);
  const double limit = 32.0 * static_cast<double>(n) * epsilon<T>() * std::sqrt(static_cast<double>(n));
  for (Index r = 0; r < m; ++r)
    for (Index j = 0; j < n; ++j) {
      double x = 0.0, y = 0.0;
      for (Index k = 0; k <= j; ++k) x += static_cast<double>(X.data()[r + k * m]) * static_cast<double>(L.data()[j + k * n]);
      for (Index k = j; k < n; ++k) y += static_cast<double>(Y.data()[r + k * m]) * static_cast<double>(L.data()[k + j * n]);
      CHECK_BELOW(std::abs(x - static_cast<double>(B[static_cast<std::size_t>(r + j * m)])), limit);
      CHECK_BELOW(std::abs(y - static_cast<double>(B[static_cast<std::size_t>(r + j * m)])), limit);
    }

  for (const Index bad : {Index(0), n / 2, n - 1}) {
    Aligned<T> broken(A);
    broken.data()[bad + bad * n] = T(-1);
    CHECK(kernels.factorize(n, broken.data(), n, &pivot) == bad);
    CHECK(pivot < T(0));
  }
}

template <class T>
void copies(Index m, Index n) {
  const auto& kernels = kernsel::tile_kernels<T>();
  const std::vector<T> A = random_numbers<T>(m * n, 6);
  std::vector<T> B(A.size(), T(0)), C(A.size() + 1, T(0));
  kernels.transpose(m, n, A.data(), m, B.data(), n);
  kernels.stream(m, n, A.data(), m, C.data() + 1, m);
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) CHECK(B[static_cast<std::size_t>(j + i * n)] == A[static_cast<std::size_t>(i + j * m)]);
  CHECK(std::equal(A.begin(), A.end(), C.begin() + 1));
  CHECK(C[0] == T(0));
}

template <class T>
void elementwise(Index count) {
  const auto& kernels = kernsel::tile_kernels<T>();
  Aligned<T> a(random_numbers<T>(count, 7)), b(random_numbers<T>(count, 8)), out(random_numbers<T>(count, 9));
  const std::vector<T> before(out.data(), out.data() + count);
  double sum = 0.0, dot = 0.0, size = 0.0;
  kernels.multiply_add(count, a.data(), b.data(), out.data());
  for (Index i = 0; i < count; ++i) {
    const double exact = static_cast<double>(a.data()[i]) * static_cast<double>(b.data()[i]);
    CHECK_BELOW(std::abs(static_cast<double>(out.data()[i]) - static_cast<double>(before[static_cast<std::size_t>(i)]) - exact),
                4.0 * epsilon<T>() * (std::abs(exact) + 8.0));
    sum += static_cast<double>(a.data()[i]);
    dot += exact;
    size += std::abs(static_cast<double>(a.data()[i])) + std::abs(exact);
  }
  CHECK_BELOW(std::abs(kernels.sum(count, a.data()) - sum), 16.0 * epsilon<T>() * size);
  CHECK_BELOW(std::abs(kernels.dot(count, a.data(), b.data()) - dot), 16.0 * epsilon<T>() * size);
  kernels.add(count, a.data(), b.data(), out.data());
  for (Index i = 0; i < count; ++i) CHECK(out.data()[i] == a.data()[i] + b.data()[i]);
  kernels.multiply(count, a.data(), b.data(), out.data());
  for (Index i = 0; i < count; ++i) CHECK(out.data()[i] == a.data()[i] * b.data()[i]);
  kernels.scale(count, T(3), a.data(), out.data());
  for (Index i = 0; i < count; ++i) CHECK(out.data()[i] == T(3) * a.data()[i]);
  kernels.fill(count, T(5), out.data());
  for (Index i = 0; i < count; ++i) CHECK(out.data()[i] == T(5));
}

template <class T>
void lower_product(Index n, Index k) {
  const auto& kernels = kernsel::tile_kernels<T>();
  Aligned<T> A(random_numbers<T>(n * k, 10)), C(std::vector<T>(static_cast<std::size_t>(n * n), T(0))),
      full(std::vector<T>(static_cast<std::size_t>(n * n), T(0)));
  kernels.multiply_lower(n, k, T(1), A.data(), n, C.data(), n);
  kernels.multiply_nt(n, n, k, T(1), A.data(), n, A.data(), n, full.data(), n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) CHECK(C.data()[i + j * n] == full.data()[i + j * n]);
}

template <class T>
void all() {
  for (const Index rows : {1, 2, 3, 4, 7})
    for (const Index k : {0, 1, 5, 48}) {
      for (const Index cols : {1, 2, 3}) products<T>(rows * padding<T>, cols * padding<T>, k);
      lower_product<T>(rows * padding<T>, k);
    }
  for (const Index blocks : {1, 2, 3, 6, 9}) factorization<T>(blocks * padding<T>);
  for (const Index m : {1, 7, 8, 16, 33, 70})
    for (const Index n : {1, 5, 16, 31, 64}) copies<T>(m, n);
  for (const Index count : {1, 3, 4, 9, 100}) elementwise<T>(count * padding<T>);
}

}  // namespace

int main() {
  std::printf("instruction set %s\n", kernsel::instruction_set().name);
  all<float>();
  all<double>();
  return report("tiles");
}
