// Points that are left out, each predicted from neighbours among all others.
#include <algorithm>
#include <cmath>

#include "factors/vecchia/state.hpp"

namespace kernsel {

namespace {

constexpr Index sets_at_a_time = 4096;

}  // namespace

Status Vecchia::show_others() {
  const Index count = others_.count();
  Status status = clear(shown_others_, count);
  if (!status.ok()) return status;
  status = walk(
      *k_, points(), others_, false,
      [&](const Cell& cell, const std::int32_t* set, Index i, Index) -> Status {
        show_set(cell, set, i, shown_others_);
        return {};
      },
      [](Index, Index, Index) {});
  PointRows a;  // M^-1 eta
  if (status.ok()) status = a.resize(std::min(sets_at_a_time, count), columns(), tiled());
  left_out_.residual.assign(at(count * m_), 0.0);
  left_out_.variance.assign(at(count), 0.0);
  left_out_.density.clear();
  if (status.ok() && request_.densities) show_densities();
  for (Index begin = 0; begin < count && status.ok(); begin += sets_at_a_time) {
    const Index end = std::min(begin + sets_at_a_time, count);
    if (columns() > 0) status = multiply(inverse_, shown_others_.eta, {begin, end - begin}, a, 0);
    for (Index i = begin; i < end && status.ok(); ++i) {
      const double* of_trend = a.row(i - begin);
      const Index p = others_.last[at(i)];
      const double v = shown_others_.v[at(i)], share = scatters_ ? D_.dot(of_trend, U_.row(p)) : 0.0;
      const double precision = share != 0.0 ? precision_[at(p)] : 1.0;
      left_out_.variance[at(i)] = (1.0 + D_.dot(of_trend, shown_others_.eta.row(i)) + share * share / precision) / (v * v);
      for (Index j = 0; j < m_; ++j) {
        const double correction = share != 0.0 ? share * c_[at(p + j * n_)] / precision : 0.0;
        left_out_.residual[at(i + j * count)] = (error(shown_others_, i, j) + correction) / v;
      }
    }
  }
  return status;
}

// The density of a group is a product of those of its points, each given others and the points before it in the group.
void Vecchia::show_densities() {
  constexpr double log_two_pi = 1.8378770664093453;
  left_out_.density.assign(at(groups_.count), 0.0);
  for (Index i = 0; i < others_.count(); ++i)
    for (Index j = 0; j < m_; ++j) {
      const double t = shown_others_.t[at(i * m_ + j)];
      left_out_.density[at(groups_.of[at(i)])] += std::log(shown_others_.v[at(i)]) - 0.5 * (t * t + log_two_pi);
    }
}

Status Vecchia::pull_densities(const Numbers& given, Gradient& out) {
  return pull_sets(
      others_, shown_others_, [](Index, Index) { return Status{}; },
      [&](const Cell& cell, const std::int32_t* set, Index i, const OfSet& of_set, double* q) {
        const double slope = given[at(groups_.of[at(i)])];
        for (Index j = 0; j < m_; ++j) of_set.errors[j] = -slope * shown_others_.t[at(i * m_ + j)];
        for (Index r = 0; r < cell.count(); ++r) {
          q[r] = 0.0;
          for (Index j = 0; j < m_; ++j) q[r] += of_set.errors[j] * table_row(set[r])[j];
        }
        q[cell.count() - 1] += slope * static_cast<double>(m_) / shown_others_.v[at(i)];
      },
      out);
}

// The formulas are explained in HACKING.
Status Vecchia::pull_others(const LeftOut& given, Adjoint& adjoint, Gradient& out) {
  const Index count = others_.count(), most = std::min(walk_chunk, count);
  const bool corrects = scatters_ && columns() > 0;
  Status status;
  PointRows a, U, inverse_U, products;  // M^-1 eta; U of the points of a chunk, and M^-1 U; sums of a x' for dJ/dM
  Numbers of_error(at(count * m_), 0.0), of_beta(at(most * m_)), of_v(at(count));
  if (corrects) {
    adjoint.c.resize(at(n_ * m_), 0.0);
    adjoint.precision.resize(at(n_), 0.0);
    adjoint.has_U = true;
    status = adjoint.U.resize(n_, columns(), tiled());
    if (status.ok()) status = U.resize(most, columns(), tiled());
  }
  if (status.ok()) status = a.resize(most, columns(), tiled());
  if (status.ok()) status = inverse_U.resize(most, columns(), tiled());
  if (status.ok()) status = products.resize(tiled() ? columns() : 0, columns(), tiled());
  if (!status.ok()) return status;
  const auto prepare = [&](Index begin, Index end) -> Status {
    Status done;
    for (Index i = begin; i < end && corrects; ++i) std::copy_n(U_.row(others_.last[at(i)]), columns(), U.row(i - begin));
    if (columns() > 0) done = multiply(inverse_, shown_others_.eta, {begin, end - begin}, a, 0);
    if (done.ok() && corrects) done = multiply(inverse_, U, {0, end - begin}, inverse_U, 0);
    for (Index i = begin; i < end && done.ok(); ++i) {
      const Index p = others_.last[at(i)];
      const double *of_a = a.row(i - begin), *of_U = inverse_U.row(i - begin);
      const double v = shown_others_.v[at(i)], share = corrects ? D_.dot(of_a, U_.row(p)) : 0.0;
      const double of_variance = given.variance.empty() ? 0.0 : given.variance[at(i)];
      const double sigma = of_variance / (v * v);
      const double precision = corrects && precision_[at(p)] > 0.0 ? precision_[at(p)] : 1.0, w = share / precision;
      double in_residual = 0.0, f = 0.0;
      for (Index j = 0; j < m_; ++j) of_beta[at((i - begin) * m_ + j)] = 0.0;
      for (Index j = 0; j < m_ && !given.residual.empty(); ++j) {
        const double slope = given.residual[at(i + j * count)], rho = slope / v;
        in_residual += slope * left_out_.residual[at(i + j * count)];
        of_error[at(i * m_ + j)] = rho;
        of_beta[at((i - begin) * m_ + j)] = -rho;
        if (!corrects) continue;
        f += rho * c_[at(p + j * n_)] / precision;
        adjoint.c[at(p + j * n_)] += w * rho;
      }
      of_v[at(i)] = -(in_residual + 2.0 * of_variance * left_out_.variance[at(i)]) / v;
      const double of_share = corrects ? f + 2.0 * sigma * w : 0.0;
      if (corrects) adjoint.precision[at(p)] -= w * f + sigma * w * w;
      double* to = of_slots_.row(i - begin);
      for (Index l = 0; l < columns(); ++l) {
        to[l] = 2.0 * sigma * of_a[l] + of_share * of_U[l];
        if (corrects) adjoint.U.row(p)[l] += of_share * of_a[l];
        for (Index h = 0; h < columns() && !tiled(); ++h)
          adjoint.M.row(h)[l] -= sigma * of_a[l] * of_a[h] + 0.5 * of_share * (of_a[l] * of_U[h] + of_U[l] * of_a[h]);
      }
      // The same by a product of matrices: sigma a a' + share sym(a M^-1 U') = sym(a x').
      for (Index l = 0; l < columns() && tiled(); ++l) inverse_U.row(i - begin)[l] = sigma * of_a[l] + of_share * of_U[l];
    }
    if (done.ok() && columns() > 0)
      done = add_weighted(shown_others_.eta, {begin, end - begin}, of_beta.data(), m_, adjoint.beta);
    if (done.ok() && tiled()) done = add_products(a, {0, end - begin}, inverse_U, 0, false, products);
    return done;
  };
  status = pull_sets(
      others_, shown_others_, prepare,
      [&](const Cell& cell, const std::int32_t* set, Index i, const OfSet& of_set, double* q) {
        std::copy_n(of_error.data() + i * m_, m_, of_set.errors);
        for (Index r = 0; r < cell.count(); ++r) {
          const double* row = table_row(set[r]);
          double sum = 0.0;
          for (Index j = 0; j < m_; ++j) sum += of_set.errors[j] * row[j];
          q[r] = sum + D_.dot(of_set.eta, D_.row(set[r]));
        }
        q[cell.count() - 1] += of_v[at(i)];
      },
      out);
  for (Index c = 0; c < columns() && tiled(); ++c)
    for (Index r = 0; r < columns(); ++r) adjoint.M.row(c)[r] -= 0.5 * (products.row(c)[r] + products.row(r)[c]);
  return status;
}

}  // namespace kernsel
