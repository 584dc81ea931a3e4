#include "kernsel/conjugate_gradients.hpp"

#include <algorithm>
#include <cmath>

#include "base/memory.hpp"
#include "kernsel/gram.hpp"

namespace kernsel {

namespace {

using Numbers = std::vector<double>;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// With B = Q + N, by landmarks, the preconditioner is the solution z of B z + H gamma = r, H'z = 0. So directions stay where
// H'p = 0, and H gamma, which no such direction can change, is subtracted from the residual, for it would hide the rest.
class Iteration {
 public:
  Iteration(const Conditioning& given, Solution& out)
      : given_(given), n_(given.X.rows), m_(given.y.cols), q_(given.trend.count(given.X.cols)), out_(out) {}

  Status prepare(const NystromOptions& options) {
    if (n_ == 0 || given_.y.rows != n_ || m_ == 0) return Status::invalid("condition: y must have one row for each point");
    if (given_.noise.rows > 1 && given_.noise.rows != n_)
      return Status::invalid("condition: give one noise variance, or one for each point");
    noise_.assign(at(n_), 0.0);
    Status status = gram_noise(given_.kernel, given_.X, vector(noise_.data(), n_));
    for (Index i = 0; i < n_ && given_.noise.rows > 0; ++i) noise_[at(i)] += given_.noise(given_.noise.rows == 1 ? 0 : i, 0);
    H_.resize(at(n_ * q_));
    if (status.ok()) status = given_.trend.write(given_.X, rows(H_.data(), n_, q_));
    Numbers U;
    const Index d = given_.X.cols;
    if (status.ok()) status = choose_landmarks(given_.kernel, given_.X, options, U);
    if (status.ok())
      status = blocks_.begin(given_.kernel, rows<const double>(U.data(), static_cast<Index>(U.size()) / d, d), q_);
    NystromSums sums;
    if (status.ok()) status = blocks_.add(block(given_.y), sums);
    return status.ok() ? blocks_.solve(sums) : status;
  }

  Status run(const ConjugateGradients& how) {
    const Index size = n_ * m_;
    Numbers &c = out_.c, z(at(size)), p(at(size), 0.0), product(at(size)), before(at(m_), 0.0);
    c.assign(at(size), 0.0);
    out_.beta.assign(at(q_ * m_), 0.0);
    residual_.clear();
    for (Index i = 0; i < n_; ++i)
      for (Index k = 0; k < m_; ++k) residual_.push_back(given_.y(i, k));
    Status status = precondition(z);  // the fit by landmarks, where the iteration begins
    if (!status.ok()) return status;
    c = z;
    status = find_residual(product);
    for (out_.iterations = 0; status.ok(); ++out_.iterations) {
      status = precondition(z);
      if (!status.ok() || relative_residual() <= how.tolerance || out_.iterations == how.most) break;
      const Numbers now = dots(residual_, z);
      for (Index i = 0; i < n_; ++i)
        for (Index k = 0; k < m_; ++k) {
          const double weight = before[at(k)] > 0.0 ? now[at(k)] / before[at(k)] : 0.0;
          p[at(i * m_ + k)] = z[at(i * m_ + k)] + weight * p[at(i * m_ + k)];
        }
      before = now;
      status = multiply_by_K(p, product);
      if (!status.ok()) return status;
      const Numbers curvature = dots(p, product);
      for (Index k = 0; k < m_; ++k) {
        if (!(now[at(k)] > 0.0)) continue;  // solved
        if (!(curvature[at(k)] > 0.0)) {
          status.code = Code::not_positive_definite;
          status.value = curvature[at(k)];
          return status;
        }
        const double step = now[at(k)] / curvature[at(k)];
        for (Index i = 0; i < n_; ++i) {
          c[at(i * m_ + k)] += step * p[at(i * m_ + k)];
          residual_[at(i * m_ + k)] -= step * product[at(i * m_ + k)];
        }
      }
    }
    if (status.ok()) status = find_residual(product);  // rounding errors of steps add up in the other one
    out_.residual = relative_residual();
    return status;
  }

 private:
  RowBlock block(View<const double> y) const { return {given_.X, y, given_.noise, rows<const double>(H_.data(), n_, q_)}; }

  // z <- the solution for the residual, from which H gamma is subtracted; beta += gamma.
  Status precondition(Numbers& z) {
    const RowBlock rest = block(rows<const double>(residual_.data(), n_, m_));
    NystromSums sums;
    Status status = blocks_.add_targets(rest, sums);
    if (status.ok()) status = blocks_.solve_targets(sums);
    if (status.ok()) status = blocks_.show(rest, rows(z.data(), n_, m_), {}, {});
    if (!status.ok()) return status;
    const Numbers gamma = blocks_.trend_coefficients();
    for (Index j = 0; j < q_; ++j)
      for (Index k = 0; k < m_; ++k) {
        out_.beta[at(j * m_ + k)] += gamma[at(j + k * q_)];
        for (Index i = 0; i < n_; ++i) residual_[at(i * m_ + k)] -= H_[at(i * q_ + j)] * gamma[at(j + k * q_)];
      }
    return status;
  }

  Status multiply_by_K(const Numbers& v, Numbers& out) const {
    const Status status =
        multiply<double>(given_.kernel, given_.X, given_.X, rows<const double>(v.data(), n_, m_), rows(out.data(), n_, m_));
    for (Index i = 0; i < n_; ++i)
      for (Index k = 0; k < m_; ++k) out[at(i * m_ + k)] += noise_[at(i)] * v[at(i * m_ + k)];
    return status;
  }

  // y - H beta - K~ c
  Status find_residual(Numbers& product) {
    const Status status = multiply_by_K(out_.c, product);
    for (Index i = 0; i < n_; ++i)
      for (Index k = 0; k < m_; ++k) residual_[at(i * m_ + k)] = without_trend(i, k) - product[at(i * m_ + k)];
    return status;
  }

  double without_trend(Index i, Index k) const {
    double rest = given_.y(i, k);
    for (Index j = 0; j < q_; ++j) rest -= H_[at(i * q_ + j)] * out_.beta[at(j * m_ + k)];
    return rest;
  }

  Numbers dots(const Numbers& a, const Numbers& b) const {
    Numbers sums(at(m_), 0.0);
    for (Index i = 0; i < n_; ++i)
      for (Index k = 0; k < m_; ++k) sums[at(k)] += a[at(i * m_ + k)] * b[at(i * m_ + k)];
    return sums;
  }

  double relative_residual() const {
    double most = 0.0;
    for (Index k = 0; k < m_; ++k) {
      double size = 0.0, rest = 0.0;
      for (Index i = 0; i < n_; ++i) {
        size += without_trend(i, k) * without_trend(i, k);
        rest += residual_[at(i * m_ + k)] * residual_[at(i * m_ + k)];
      }
      if (rest > 0.0) most = std::max(most, std::sqrt(rest / size));
    }
    return most;
  }

  const Conditioning& given_;
  const Index n_, m_, q_;
  Solution& out_;
  NystromBlocks blocks_;
  Numbers noise_, H_, residual_;  // that of the kernel included; by rows
};

}  // namespace

Status solve_by_conjugate_gradients(const Conditioning& given, const NystromOptions& landmarks, const ConjugateGradients& how,
                                    Solution& out) {
  return within_memory([&] {
    Solution found;
    Iteration iteration(given, found);
    Status status = iteration.prepare(landmarks);
    if (status.ok()) status = iteration.run(how);
    if (status.ok()) out = std::move(found);
    return status;
  });
}

}  // namespace kernsel
