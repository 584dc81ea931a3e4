// A minimal test framework: CHECK counts failures and goes on; report() prints their number, and returns the exit code.
#pragma once

#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <vector>

#include "kernsel/view.hpp"

inline int failures = 0;

#define CHECK(condition)                                          \
  do {                                                            \
    if (!(condition)) {                                           \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                 \
    }                                                             \
  } while (false)

#define CHECK_BELOW(value, limit)                                                               \
  do {                                                                                          \
    const double value_ = static_cast<double>(value), limit_ = static_cast<double>(limit);      \
    if (!(value_ <= limit_)) {                                                                  \
      std::printf("%s:%d: %s is %g, allowed %g\n", __FILE__, __LINE__, #value, value_, limit_); \
      ++failures;                                                                               \
    }                                                                                           \
  } while (false)

inline int report(const char* name) {
  std::printf("%s: %d failures\n", name, failures);
  return failures == 0 ? 0 : 1;
}

template <class T>
std::vector<T> random_numbers(kernsel::Index count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<T> numbers(static_cast<std::size_t>(count));
  for (T& number : numbers) number = static_cast<T>(normal(generator));
  return numbers;
}

// A copy of numbers in memory that is 64-byte aligned, which tile kernels require.
template <class T>
class Aligned {
 public:
  explicit Aligned(const std::vector<T>& from) : room_(from.size() + 64) {
    while (reinterpret_cast<std::size_t>(room_.data() + shift_) % 64 != 0) ++shift_;
    for (std::size_t i = 0; i < from.size(); ++i) data()[i] = from[i];
  }
  T* data() { return room_.data() + shift_; }

 private:
  std::vector<T> room_;
  std::size_t shift_ = 0;
};

// A random symmetric positive definite matrix, by columns.
template <class T>
std::vector<T> positive_definite(kernsel::Index n, unsigned seed) {
  const std::vector<T> B = random_numbers<T>(n * n, seed);
  std::vector<T> A(B.size());
  for (kernsel::Index i = 0; i < n; ++i)
    for (kernsel::Index j = 0; j < n; ++j) {
      double sum = i == j ? static_cast<double>(n) : 0.0;
      for (kernsel::Index k = 0; k < n; ++k)
        sum += static_cast<double>(B[static_cast<std::size_t>(i + k * n)]) *
               static_cast<double>(B[static_cast<std::size_t>(j + k * n)]);
      A[static_cast<std::size_t>(i + j * n)] = static_cast<T>(sum);
    }
  return A;
}

template <class T>
double epsilon() {
  return static_cast<double>(std::numeric_limits<T>::epsilon());
}
