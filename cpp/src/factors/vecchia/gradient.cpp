// From the derivatives of a criterion to those in the hyperparameters and the noise.
#include <algorithm>

#include "base/parallel.hpp"
#include "factors/vecchia/state.hpp"
#include "kernsel/gram.hpp"

namespace kernsel {

namespace {

constexpr Index features_of_a_job = 64;

}  // namespace

Status Vecchia::differentiate_shown(const Problem& problem, const Criterion& criterion, Evaluation& out) {
  const Request& request = criterion.request;
  if (!shown_ || problem.X.rows != n_ || problem.X.cols != columns_of_points_ || problem.y.rows != n_ || problem.y.cols != m_ ||
      problem.trend.cols != q_ || request.in_sample != request_.in_sample || request.left_out != request_.left_out ||
      request.coefficients || request.diagonal)
    return Status::invalid("differentiate: expected the problem of the last evaluation, and a criterion that sees its sets");
  problem_ = problem;
  take_points();
  Fit fit;
  give(fit);
  Partials partials;
  Status status = apply(criterion, fit, partials);
  out.value = partials.unit * partials.value;
  out.information.clear();
  if (status.ok() && problem.unknown_noise.rows > 0) status = information_of({}, out.information);
  return status.ok() ? pull_all(partials, out.gradient) : status;
}

Status Vecchia::pull_all(const Partials& partials, Gradient& out) {
  out.theta.assign(at(k_->parameters()), 0.0);
  out.noise.assign(at(n_), 0.0);
  out.targets.assign(at(n_ * m_), 0.0);
  Adjoint adjoint;
  adjoint.c = partials.c;
  adjoint.precision = partials.precision;
  Status status = adjoint.M.resize(columns(), columns(), tiled());
  if (status.ok()) status = adjoint.beta.resize(m_, columns(), tiled());
  if (status.ok() && tiled()) status = of_F_.resize(n_, inducing_.count(), true);
  if (!status.ok()) return status;
  table_width_ = 2 * m_ + 1;
  table_.assign(at(n_ * table_width_), 0.0);
  for (Index i = 0; i < n_; ++i)
    for (Index j = 0; j < m_; ++j) table_row(i)[j] = problem_.y(i, j) - D_.dot(D_.row(i), beta_.row(j));
  if (!partials.left_out.density.empty()) status = pull_densities(partials.left_out.density, out);
  const bool with_left_out = !partials.left_out.residual.empty() || !partials.left_out.variance.empty();
  if (status.ok() && with_left_out) status = pull_others(partials.left_out, adjoint, out);
  const bool with_trend = columns() > 0 && (with_left_out || partials.log_det_trend != 0.0);
  if (status.ok() && kind_ != Before::none &&
      (with_trend || partials.log_det != 0.0 || !partials.squares.empty() || !partials.products.empty() || !adjoint.c.empty() ||
       !adjoint.precision.empty()))
    status = pull_before(partials, adjoint, out);
  const View<double> of_points = of_points_ ? rows(of_points_, n_, X_.cols) : View<double>{};
  if (status.ok() && tiled()) status = inducing_.pull(*k_, X_, D_, of_F_, out.theta, of_points);
  for (std::size_t i = 0; i < partials.noise.size(); ++i) out.noise[i] += partials.noise[i];
  if (status.ok() && !partials.noise.empty())  // white parts of the kernel are noise, too
    status = pullback_noise(*k_, problem_.X, vector(partials.noise.data(), n_), out.theta.data(), of_points);
  if (partials.unit == 1.0) return status;
  for (double& entry : out.theta) entry *= partials.unit;
  for (double& entry : out.noise) entry *= partials.unit;
  for (double& entry : out.targets) entry *= partials.unit;
  return status;
}

void Vecchia::gather_columns(const Cell& cell, const std::int32_t* set, const double** out) const {
  for (Index r = 0; r < cell.count(); ++r) out[r] = D_.row(set[r]);
}

// dJ/dF of a chunk of sets: -2 W F_S = a (F_S'v)' + v (F_S'a)', and v (dJ/d(F_S'v))'. A job has some of the features, for which
// it adds up the sets in their order.
void Vecchia::pull_features(Index begin, Index end, const Sets& sets, const Shown& shown, const Numbers& kept) {
  const Index most = sets.neighbours + 1, features = inducing_.count();
  const Index jobs = (features + features_of_a_job - 1) / features_of_a_job;
  const double cost = static_cast<double>((end - begin) * most * features);
  static_cast<void>(run_jobs(jobs, cost, [&](Jobs&, Index job) {
    const Index first = job * features_of_a_job, last = std::min(first + features_of_a_job, features);
    for (Index i = begin; i < end; ++i) {
      const Index slot = i % walk_chunk, size = sets.size(i);
      const double *a = kept.data() + 2 * slot * most, *v = a + most;
      const double *eta = shown.eta.row(i), *along = of_slots_.row(slot);
      for (Index r = 0; r < size; ++r) {
        double* to = of_F_.row(r + 1 < size ? sets.neighbours_of(i)[r] : sets.last[at(i)]);
        for (Index l = first; l < last; ++l) to[l] += a[r] * eta[l] + v[r] * along[l];
      }
    }
  }));
}

}  // namespace kernsel
