// Anderson mixing: faster steps of a fixed-point iteration x <- G(x) that converges slowly.
#pragma once

#include <cmath>
#include <deque>
#include <vector>

namespace kernsel {

// The next x is the combination of the last values of G whose combined change G(x) - x is the smallest, in the norm of the
// given weights. Combinations have weights whose sum is one.
class Mixing {
 public:
  explicit Mixing(std::size_t remembered) : most_(remembered) {}

  // The weights of the values of G so far, oldest first, of which the last is that of this call; `change` is G(x) - x.
  std::vector<double> mix(const std::vector<double>& change, const std::vector<double>& norm) {
    changes_.push_back(change);
    if (changes_.size() > most_) changes_.pop_front();
    const std::size_t m = changes_.size() - 1;  // the unknowns: the weights of all but the last
    std::vector<double> A(m * m), b(m), out(m + 1, 0.0);
    for (std::size_t i = 0; i < change.size(); ++i)
      for (std::size_t r = 0; r < m; ++r) {
        const double of_r = norm[i] * (changes_[r][i] - change[i]);
        b[r] -= of_r * change[i];
        for (std::size_t c = 0; c <= r; ++c) A[r + c * m] += of_r * (changes_[c][i] - change[i]);
      }
    double trace = 0.0;
    for (std::size_t r = 0; r < m; ++r) trace += A[r + r * m];
    for (std::size_t r = 0; r < m; ++r) A[r + r * m] += 1e-12 * trace;
    if (!solve(A, b, m)) b.assign(m, 0.0);
    out[m] = 1.0;
    for (std::size_t r = 0; r < m; ++r) {
      out[r] = b[r];
      out[m] -= b[r];
    }
    return out;
  }
  void forget() { changes_.clear(); }
  std::size_t count() const { return changes_.size(); }

 private:
  // b <- A^-1 b by Cholesky's factorization of the lower triangle; false if A is not positive definite.
  static bool solve(std::vector<double>& A, std::vector<double>& b, std::size_t m) {
    for (std::size_t c = 0; c < m; ++c) {
      for (std::size_t k = 0; k < c; ++k)
        for (std::size_t r = c; r < m; ++r) A[r + c * m] -= A[r + k * m] * A[c + k * m];
      if (!(A[c + c * m] > 0.0)) return false;
      const double root = std::sqrt(A[c + c * m]);
      for (std::size_t r = c; r < m; ++r) A[r + c * m] /= root;
    }
    for (std::size_t r = 0; r < m; ++r) {
      for (std::size_t k = 0; k < r; ++k) b[r] -= A[r + k * m] * b[k];
      b[r] /= A[r + r * m];
    }
    for (std::size_t r = m; r-- > 0;) {
      for (std::size_t k = r + 1; k < m; ++k) b[r] -= A[k + r * m] * b[k];
      b[r] /= A[r + r * m];
    }
    return true;
  }

  std::size_t most_;
  std::deque<std::vector<double>> changes_;
};

}  // namespace kernsel
