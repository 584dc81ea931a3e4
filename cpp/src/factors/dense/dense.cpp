#include <algorithm>
#include <optional>

#include "factors/dense/adjoint.hpp"
#include "factors/dense/groups.hpp"
#include "factors/dense/information.hpp"
#include "factors/dense/squares.hpp"
#include "factors/dense/state.hpp"
#include "factors/groups.hpp"
#include "kernsel/cholesky.hpp"
#include "kernsel/factor.hpp"

namespace kernsel {

namespace {

// A criterion that is a square of y has derivatives in P of its fourth power, if the kernel is of the size of y squared: a
// double holds the criterion, but not these. So they are computed in a unit of the criterion's size.
void multiply(double unit, std::vector<double>& values) {
  for (double& value : values) value *= unit;
}

class Dense final : public Factor {
 public:
  Status show(const Kernel& k, const Problem& problem, const Request& request, bool differentiable, Fit& fit) override {
    state_.emplace(k, problem, tiles_);
    groups_.clear();
    const bool alone = request.groups.alone(), in_groups = request.left_out && !alone;
    Status status;
    if (in_groups) status = points_of(request.groups, problem.X.rows, groups_);
    if (status.ok()) status = start(*state_, differentiable);
    if (!status.ok()) return status;
    const bool precision = differentiable || request.diagonal || request.left_out;
    const bool divides = request.diagonal || (request.left_out && alone);
    has_inverse_ = precision && (differentiable || in_groups);
    if (precision) status = find_precision(*state_, has_inverse_, divides);
    if (status.ok() && request.left_out) status = in_groups ? leave_out(*state_, groups_, request, left_out_) : leave_alone();
    fit = {problem.y,
           state_->c.view(state_->n),
           state_->precision.data(),
           state_->noise.data(),
           problem.weights,
           state_->trend.q,
           state_->log_det,
           state_->trend.log_det,
           request.left_out ? &left_out_ : nullptr};
    return status;
  }

  std::vector<double> trend_coefficients() const override { return coefficients(state_->trend, state_->problem.y); }

  bool solves() const override { return true; }

  Status solve(const std::vector<double>& y, std::vector<double>& c) override {
    const Index n = state_->n;
    Tall right, solved;
    Status status = right.resize(state_->padded, 1);
    if (!status.ok()) return status;
    std::copy(y.begin(), y.end(), right.column(0));
    if (has_inverse_) {
      status = multiply_symmetric(state_->P, right, solved);
    } else {
      status = solved.resize(state_->padded, 1);
      if (status.ok()) std::copy(y.begin(), y.end(), solved.column(0));
      if (status.ok()) status = kernsel::solve<double>(state_->P, solved.view(n));
    }
    if (!status.ok()) return status;
    project(state_->trend, right.view(n), n, solved);
    c.assign(solved.column(0), solved.column(0) + n);
    return {};
  }

  bool multiplies_squares() const override { return has_inverse_; }

  Status multiply_squares(const std::vector<double>& g, std::vector<double>& out) override {
    return kernsel::multiply_squares(*state_, g, out);
  }

  Status pull(const Partials& partials, Gradient& out) override {
    Adjoint adjoint;
    Status status = find_adjoint(partials, adjoint);
    if (status.ok()) status = kernsel::pull(*state_, adjoint, out);
    if (!status.ok() || partials.unit == 1.0) return status;
    multiply(partials.unit, out.theta);
    multiply(partials.unit, out.noise);
    multiply(partials.unit, out.targets);
    return {};
  }

  Status pull_points(const Partials& partials, View<double> out) override {
    Adjoint adjoint;
    Status status = find_adjoint(partials, adjoint);
    if (status.ok()) status = kernsel::pull_points(*state_, adjoint, out);
    for (Index i = 0; i < out.rows && partials.unit != 1.0; ++i)
      for (Index k = 0; k < out.cols; ++k) out(i, k) *= partials.unit;
    return status;
  }

  Status information(const Partials& partials, std::vector<double>& out) override {
    return average_information(*state_, partials, out);
  }

 private:
  Status find_adjoint(const Partials& partials, Adjoint& adjoint) const {
    adjoint.of_inverse = partials.log_det;
    adjoint.squared = partials.precision;
    adjoint.noise = partials.noise;
    if (!groups_.empty()) return pull_groups(*state_, groups_, left_out_, partials, adjoint);
    std::vector<double> in_c = partials.c;
    add_points_alone(partials.left_out, in_c, adjoint.squared);
    Status status = with_trend(*state_, partials.log_det_trend, in_c.empty() ? 0 : state_->m, adjoint);
    if (!status.ok() || in_c.empty()) return status;
    Tall G;
    status = G.resize(state_->padded, state_->m);
    for (Index j = 0; j < state_->m && status.ok(); ++j) std::copy_n(in_c.data() + j * state_->n, state_->n, G.column(j));
    return status.ok() ? add_weights(*state_, G, adjoint) : status;
  }

  // r_i = c_i / P.ii, of variance 1 / P.ii.
  Status leave_alone() {
    const auto n = static_cast<std::size_t>(state_->n);
    left_out_.residual.resize(n * static_cast<std::size_t>(state_->m));
    left_out_.variance.resize(n);
    left_out_.density.clear();
    for (std::size_t i = 0; i < n; ++i) left_out_.variance[i] = 1.0 / state_->precision[i];
    for (std::size_t at = 0; at < left_out_.residual.size(); ++at)
      left_out_.residual[at] = state_->c(static_cast<Index>(at % n), static_cast<Index>(at / n)) / state_->precision[at % n];
    return {};
  }

  // Adds the partial derivatives in c and in P.ii that follow from those in residuals and variances.
  void add_points_alone(const LeftOut& partials, std::vector<double>& in_c, std::vector<double>& in_precision) const {
    if (partials.residual.empty() && partials.variance.empty()) return;
    const auto n = static_cast<std::size_t>(state_->n);
    in_c.resize(std::max(in_c.size(), partials.residual.size()), 0.0);
    in_precision.resize(n, 0.0);
    for (std::size_t at = 0; at < partials.residual.size(); ++at) {
      const std::size_t i = at % n;
      const double part = partials.residual[at] / state_->precision[i];
      in_c[at] += part;
      in_precision[i] -= part * left_out_.residual[at];
    }
    for (std::size_t i = 0; i < partials.variance.size(); ++i)
      in_precision[i] -= partials.variance[i] * left_out_.variance[i] * left_out_.variance[i];
  }

  LowerTiles<double> tiles_;
  bool has_inverse_ = false;  // whether the tiles have P in place of L
  std::optional<State> state_;
  std::vector<std::vector<Index>> groups_;  // of points that are left out together
  LeftOut left_out_;
};

}  // namespace

std::unique_ptr<Factor> dense_factor() { return std::make_unique<Dense>(); }

}  // namespace kernsel
