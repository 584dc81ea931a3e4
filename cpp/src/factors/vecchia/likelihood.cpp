// The sets of the likelihood: c, the diagonal of P. and U = P D at their points, and the derivatives of a criterion.
#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
#include "factors/vecchia/state.hpp"

namespace kernsel {

namespace {

constexpr Index rows_at_a_time = 4096, columns_of_a_job = 64;

double dot(Index count, const double* a, const double* b) {
  double sum = 0.0;
  for (Index i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

Status Vecchia::show_before() {
  const Index count = before_.count(), most = before_.neighbours + 1;
  Status status = clear(shown_before_, count);
  if (status.ok() && scatters_) status = U_.resize(n_, columns(), tiled());
  if (!status.ok()) return status;
  Numbers kept(scatters_ ? at(std::min(walk_chunk, count) * most) : 0);
  if (scatters_) {
    c_.assign(at(n_ * m_), 0.0);
    precision_.assign(at(n_), 0.0);
  }
  status = walk(
      *k_, points(), before_, false,
      [&](const Cell& cell, const std::int32_t* set, Index i, Index) -> Status {
        show_set(cell, set, i, shown_before_);
        if (scatters_) std::copy_n(cell.v(), cell.count(), kept.data() + i % walk_chunk * most);
        return {};
      },
      [&](Index begin, Index end, Index) {
        if (scatters_) scatter(begin, end, kept.data());
      });
  if (!status.ok()) return status;
  for (const double v : shown_before_.v) log_det_ -= 2.0 * std::log(v);
  status = columns() > 0 ? estimate() : Status{};
  if (!status.ok()) return status;
  for (Index i = 0; i < count; ++i)
    for (Index j = 0; j < m_; ++j) squares_[at(j)] += std::pow(error(shown_before_, i, j), 2);
  for (Index j = 0; j < m_; ++j)  // what the unit variances of the inducing points' coefficients add to y'c
    squares_[at(j)] += dot(inducing_.count(), beta_.row(j), beta_.row(j));
  return scatters_ ? without_trend() : Status{};
}

// Adds v_i times t_i, eta_i and itself to c, U and the diagonal of P at the points of sets.
void Vecchia::scatter(Index begin, Index end, const double* kept) {
  const Index most = before_.neighbours + 1;
  const auto visit = [&](const auto& f) {
    for (Index i = begin; i < end; ++i) {
      const double* v = kept + i % walk_chunk * most;
      const Index size = before_.size(i);
      for (Index r = 0; r < size; ++r) f(i, r + 1 < size ? before_.neighbours_of(i)[r] : before_.last[at(i)], v[r]);
    }
  };
  visit([&](Index i, Index p, double v) {
    for (Index j = 0; j < m_; ++j) c_[at(p + j * n_)] += v * shown_before_.t[at(i * m_ + j)];
    precision_[at(p)] += v * v;
  });
  const Index jobs = (columns() + columns_of_a_job - 1) / columns_of_a_job;
  const double cost = static_cast<double>((end - begin) * most * columns());
  static_cast<void>(run_jobs(jobs, cost, [&](Jobs&, Index job) {  // each entry's sum is in the order of the sets
    const Index first = job * columns_of_a_job, last = std::min(first + columns_of_a_job, columns());
    visit([&](Index i, Index p, double v) {
      const double* from = shown_before_.eta.row(i);
      double* to = U_.row(p);
      for (Index l = first; l < last; ++l) to[l] += v * from[l];
    });
  }));
}

// c <- P (y - D beta), and the diagonal of P. = P - U M^-1 U'.
Status Vecchia::without_trend() {
  if (columns() == 0) return {};
  Numbers all = precision_;
  PointRows part;
  Status status = part.resize(std::min(rows_at_a_time, n_), columns(), tiled());
  for (Index begin = 0; begin < n_ && status.ok(); begin += rows_at_a_time) {
    const Index count = std::min(rows_at_a_time, n_ - begin);
    status = multiply(inverse_, U_, {begin, count}, part, 0);
    for (Index i = begin; i < begin + count; ++i) {
      for (Index j = 0; j < m_; ++j) c_[at(i + j * n_)] -= U_.dot(U_.row(i), beta_.row(j));
      precision_[at(i)] -= U_.dot(part.row(i - begin), U_.row(i));
    }
  }
  for (const std::int32_t i : before_.last) {
    if (!status.ok() || precision_[at(i)] > 1e-10 * all[at(i)]) continue;
    status = Status::invalid("trend: a point has leverage one: without it the trend is not determined");
    if (!tiled()) continue;
    status.code = Code::not_positive_definite;  // coefficients of inducing points have a prior: this is rounding
    status.pivot = i;
    status.value = precision_[at(i)];
  }
  return status;
}

// The formulas are explained in HACKING.
Status Vecchia::pull_before(const Partials& partials, Adjoint& adjoint, Gradient& out) {
  const bool of_c = !adjoint.c.empty(), of_precision = !adjoint.precision.empty();
  const bool of_U = columns() > 0 && (adjoint.has_U || of_precision);
  PointRows part, weighted, mu;
  Status status = part.resize(of_precision ? std::min(rows_at_a_time, n_) : 0, columns(), tiled());
  if (status.ok()) status = weighted.resize(tiled() ? part.rows() : 0, columns(), tiled());
  if (status.ok() && of_U && !adjoint.has_U) status = adjoint.U.resize(n_, columns(), tiled());
  if (status.ok()) status = mu.resize(m_, columns(), tiled());
  Numbers of_beta(columns() > 0 && of_c ? at(std::min(rows_at_a_time, n_) * m_) : 0);
  for (Index begin = 0; begin < n_ && columns() > 0 && status.ok(); begin += rows_at_a_time) {
    const Index count = std::min(rows_at_a_time, n_ - begin);
    for (Index i = 0; i < count && of_c; ++i)
      for (Index j = 0; j < m_; ++j) of_beta[at(i * m_ + j)] = -adjoint.c[at(begin + i + j * n_)];
    if (of_c) status = add_weighted(U_, {begin, count}, of_beta.data(), m_, adjoint.beta);
    if (!of_precision || !status.ok()) continue;
    status = multiply(inverse_, U_, {begin, count}, part, 0);
    for (Index i = 0; i < count; ++i) {
      const double g = adjoint.precision[at(begin + i)];
      const double* row = part.row(i);
      double* to = adjoint.U.row(begin + i);
      for (Index l = 0; l < columns(); ++l) {
        to[l] -= 2.0 * g * row[l];
        if (tiled()) weighted.row(i)[l] = g * row[l];
        for (Index h = 0; h < columns() && !tiled(); ++h) adjoint.M.row(h)[l] += g * row[l] * row[h];
      }
    }
    if (tiled() && status.ok()) status = add_products(weighted, {0, count}, part, 0, false, adjoint.M);
  }
  if (status.ok() && columns() > 0) status = add_log_dets(partials, adjoint.M);
  if (status.ok() && columns() > 0) status = multiply(inverse_, adjoint.beta, {0, m_}, mu, 0);
  if (!status.ok()) return status;
  // Each row of the table: y - D beta, (outputs); G_c + D mu, (outputs); and g, the derivatives with respect to c and the
  // diagonal of P..
  for (Index i = 0; i < n_; ++i) {
    double* row = table_row(i);
    for (Index j = 0; j < m_; ++j)
      row[m_ + j] = (of_c ? adjoint.c[at(i + j * n_)] : 0.0) + (columns() > 0 ? D_.dot(D_.row(i), mu.row(j)) : 0.0);
    row[2 * m_] = of_precision ? adjoint.precision[at(i)] : 0.0;
  }
  return pull_sets(
      before_, shown_before_,
      [&](Index begin, Index end) -> Status {  // 2 G_M eta
        if (columns() == 0) return {};
        const Status done = multiply(adjoint.M, shown_before_.eta, {begin, end - begin}, of_slots_, 0);
        for (Index i = 0; i < end - begin; ++i)
          for (Index l = 0; l < columns(); ++l) of_slots_.row(i)[l] *= 2.0;
        return done;
      },
      [&](const Cell& cell, const std::int32_t* set, Index i, const OfSet& of_set, double* q) {
        const Index size = cell.count();
        const double *v = cell.v(), *eta = shown_before_.eta.row(i);
        std::array<const double*, VecchiaOptions::most_neighbours + 1> of_rows{};
        Numbers errors(at(m_));
        // v'(G_c + D mu), and with it twice the errors' share of y'c; G_U'v + 2 G_M eta.
        for (Index j = 0; j < m_; ++j) errors[at(j)] = error(shown_before_, i, j);
        for (Index j = 0; j < m_; ++j) {
          of_set.errors[j] = partials.squares.empty() ? 0.0 : 2.0 * partials.squares[at(j)] * errors[at(j)];
          if (!partials.products.empty()) of_set.errors[j] += 2.0 * dot(m_, &partials.products[at(j * m_)], errors.data());
        }
        for (Index r = 0; r < size; ++r) {
          const double* row = table_row(set[r]);
          for (Index j = 0; j < m_; ++j) of_set.errors[j] += v[r] * row[m_ + j];
          if (of_U) of_rows[at(r)] = adjoint.U.row(set[r]);
        }
        if (of_U) D_.add(size, of_rows.data(), v, of_set.eta);
        for (Index r = 0; r < size; ++r) {
          const double* row = table_row(set[r]);
          q[r] = dot(m_, of_set.errors, row) + D_.dot(of_set.eta, D_.row(set[r])) + dot(m_, errors.data(), row + m_) +
                 (of_U ? D_.dot(eta, of_rows[at(r)]) : 0.0) + 2.0 * row[2 * m_] * v[r];
        }
        q[size - 1] -= 2.0 * partials.log_det / v[size - 1];
        for (Index j = 0; j < m_ && tiled(); ++j) {  // beta in the errors: for dJ/dD only, as it is in G_c + D mu
          const double* row = mu.row(j);
          D_.add(1, &row, &errors[at(j)], of_set.eta);
        }
      },
      out);
}

}  // namespace kernsel
