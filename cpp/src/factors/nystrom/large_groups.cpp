#include "factors/nystrom/large_groups.hpp"

#include <cmath>
#include <utility>

#include "factors/groups.hpp"
#include "factors/nystrom/content.hpp"
#include "isa/table.hpp"
#include "kernsel/gram.hpp"
#include "kernsel/runtime.hpp"

namespace kernsel {

namespace {

using Numbers = std::vector<double>;
using Content = NystromBlocks::Content;

// What the other rows have of the square of a function of the trend, in parts of it, if it is zero but for rounding errors.
constexpr double rounding_of_trend = 1e-13;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

RowBlock LargeGroups::rows_of(const RowBlock& rows, Index g) const {
  const Index begin = begin_of(g), count = end_of(g) - begin;
  const auto part = [&](View<const double> of) { return of.rows == rows.X.rows ? of.block(begin, 0, count, of.cols) : of; };
  return {rows.X.block(begin, 0, count, rows.X.cols), part(rows.y), part(rows.noise), part(rows.trend)};
}

Status LargeGroups::add(const NystromBlocks& blocks, const RowBlock& rows, Index matrices, NystromSums& total) {
  sums_.clear();
  const Index w = blocks.content().width();
  Status status = check_memory(at(matrices * count() * w * w) * sizeof(double));
  if (status.ok() && end_of(-1) > 0) status = blocks.add(rows_of(rows, -1), total);
  for (Index g = 0; g < count() && status.ok(); ++g) {
    sums_.emplace_back();
    status = blocks.add(rows_of(rows, g), sums_.back());
    if (status.ok()) total.add(sums_.back());
  }
  return status;
}

Status LargeGroups::solve_without(Index g, NystromBlocks& blocks, const NystromSums& total) const {
  const NystromSums& own = sums_[at(g)];
  NystromSums others = total;
  others.subtract(own);
  const Index q = blocks.content().q;
  for (Index j = 0; j < q; ++j)
    if (!(others.trend[at(j * (q + 1))] > rounding_of_trend * total.trend[at(j * (q + 1))])) return trend_needs_group();
  const Status status = blocks.solve(others);
  return status.code == Code::invalid_argument ? trend_needs_group() : status;
}

Status LargeGroups::leave_out(NystromBlocks& blocks, const RowBlock& rows, const NystromSums& total, bool variances,
                              Numbers& residual, Numbers& variance) const {
  const Index m = rows.y.cols, n = end_of(count() - 1) - first_;
  residual.assign(at(n * m), 0.0);
  variance.assign(at(variances ? n : 0), 0.0);
  Status status;
  for (Index g = 0; g < count() && status.ok(); ++g) {
    const RowBlock of_group = rows_of(rows, g);
    const Index before = begin_of(g) - first_, size = of_group.X.rows;
    status = solve_without(g, blocks, total);
    if (status.ok())
      status = blocks.predict(of_group.X, of_group.trend, kernsel::rows(residual.data() + before * m, size, m),
                              variances ? vector(variance.data() + before, size) : View<double>{});
    Numbers noise;
    if (status.ok() && variances) status = blocks.content().write_noise(of_group, noise);
    for (Index i = 0; i < size && status.ok(); ++i) {
      for (Index k = 0; k < m; ++k) {
        double& r = residual[at((before + i) * m + k)];
        r = of_group.y(i, k) - r;
      }
      if (variances) variance[at(before + i)] += noise[at(i)];
    }
  }
  return status;
}

// Two passes over the rows: sums over each group, and then the adjoints of all rows.
class LargeGroupsPull {
 public:
  LargeGroupsPull(const LargeGroups& groups, NystromBlocks& blocks, const RowBlock& rows, const NystromSums& total,
                  const Numbers& of_residual, const Numbers& of_variance)
      : groups_(groups),
        blocks_(blocks),
        rows_(rows),
        total_(total),
        of_residual_(of_residual),
        of_variance_(of_variance),
        w_(blocks.content().width()),
        m_(blocks.content().m),
        outputs_(rows.y.cols),
        sees_variances_(!of_variance.empty()) {}

  Status find_sums() {
    const Index count = groups_.count();
    Status status = alpha_.resize(count * outputs_, w_, true);
    if (status.ok()) status = u_.resize(count * outputs_, w_, true);
    if (sees_variances_) {
      V_ = std::vector<PointRows>(at(count));
      for (PointRows* matrix : {&V_total_, &half_, &features_})
        if (status.ok()) status = matrix->resize(w_, w_, true);
    }
    for (Index g = 0; g < count && status.ok(); ++g) status = find_sums_of(g);
    return status;
  }

  Status run(double* theta, const NystromRowGradient& of_rows, View<double> landmarks) {
    Status status;
    targets_ = of_rows.targets;
    for (Index g = -1; g < groups_.count() && status.ok(); ++g)
      if (groups_.end_of(g) > groups_.begin_of(g)) status = pull_rows(g, theta, of_rows, landmarks);
    return status.ok() ? pull_square(theta, landmarks) : status;
  }

 private:
  const Content& content() const { return blocks_.content(); }
  // Derivatives for the rows of a group from row `begin` of it on.
  double rho(Index g, Index i, Index k) const {
    return of_residual_.empty() ? 0.0 : of_residual_[at((groups_.begin_of(g) - groups_.first_ + i) * outputs_ + k)];
  }
  double nu(Index g, Index i) const { return of_variance_[at(groups_.begin_of(g) - groups_.first_ + i)]; }

  // Row i of `scaled` <- nu_i times that of `rows`, and to += their products.
  Status add_squares(Index g, Index begin, Index count, const PointRows& rows, PointRows& scaled, PointRows& to) const {
    const Status done = for_each_row(count, static_cast<double>(m_), [&](Index i) {
      tile_kernels<double>().scale(rows.stride(), nu(g, begin + i), rows.row(i), scaled.row(i));
    });
    return done.ok() ? add_products(rows, {0, count}, scaled, 0, true, to) : done;
  }

  // alpha_g and u_g as adjoints of raw rows, and V_g in the basis D.
  Status find_sums_of(Index g) {
    Status status = groups_.solve_without(g, blocks_, total_);
    if (!status.ok()) return status;
    const Content& c = content();
    const RowBlock block = groups_.rows_of(rows_, g);
    const std::vector<Index> parts = Content::parts(block.X.rows, {});
    PointRows sums, in_t, t, scaled;
    Numbers factors(at(Content::most_rows(parts) * outputs_));
    for (PointRows* rows : {&sums, &in_t})
      if (status.ok()) status = rows->resize(outputs_, w_, true);
    for (PointRows* rows : {&t, &scaled})
      if (status.ok() && sees_variances_) status = rows->resize(Content::most_rows(parts), w_, true);
    if (status.ok() && sees_variances_) status = V_[at(g)].resize(w_, w_, true);
    if (!status.ok()) return status;
    status = c.for_rows(block.X, block.trend, parts, [&](Index begin, Index count, const PointRows& raw) {
      for (Index i = 0; i < count; ++i)
        for (Index k = 0; k < outputs_; ++k) factors[at(i * outputs_ + k)] = rho(g, begin + i, k);
      Status done = add_weighted(raw, {0, count}, factors.data(), outputs_, sums);
      if (!done.ok() || !sees_variances_) return done;
      done = multiply_triangular(c.T, Triangle::lower, raw, {0, count}, t, 0);
      return done.ok() ? add_squares(g, begin, count, t, scaled, V_[at(g)]) : done;
    });
    if (status.ok()) status = multiply_triangular(c.T, Triangle::lower, sums, {0, outputs_}, in_t, 0);
    if (status.ok()) status = multiply_triangular(c.T_transposed, Triangle::upper, in_t, {0, outputs_}, u_, g * outputs_);
    for (Index k = 0; k < outputs_; ++k) std::copy_n(c.of_raw.row(k), alpha_.stride(), alpha_.row(g * outputs_ + k));
    if (!status.ok() || !sees_variances_) return status;
    PointRows& V = V_[at(g)];
    mirror(V);
    status = c.sandwich(c.root_transposed, V, half_);
    for (Index j = 0; j < w_; ++j)
      for (Index i = 0; i < w_; ++i) {
        V.row(j)[i] *= c.units[at(i)] * c.units[at(j)];
        V_total_.row(j)[i] += V.row(j)[i];
      }
    return status;
  }

  Status pull_rows(Index g, double* theta, const NystromRowGradient& of_rows, View<double> landmarks) {
    const View<double>&noise = of_rows.noise, &points = of_rows.points;
    const RowBlock block = groups_.rows_of(rows_, g);
    const Index first = groups_.begin_of(g), n = block.X.rows;
    const bool sees_own = sees_variances_ && g >= 0;
    const Content& c = content();
    const std::vector<Index> parts = Content::parts(n, {});
    Status status = sees_own ? groups_.solve_without(g, blocks_, total_) : Status{};
    Numbers of_diagonal(at(n), 0.0);
    of_noise_.assign(at(n), 0.0);
    for (Index i = 0; i < n && sees_own; ++i) of_noise_[at(i)] = of_diagonal[at(i)] = nu(g, i);
    if (status.ok()) status = c.write_noise(block, noise_);
    for (PointRows* rows : {&W_, &D_, &x_, &t_})
      if (status.ok() && (sees_variances_ || rows == &W_)) status = rows->resize(Content::most_rows(parts), w_, true);
    if (status.ok() && sees_variances_) status = others_.resize(w_, w_, true);
    if (!status.ok()) return status;
    for (Index j = 0; j < w_ && sees_variances_; ++j)
      for (Index i = 0; i < w_; ++i) others_.row(j)[i] = V_total_.row(j)[i] - (sees_own ? V_[at(g)].row(j)[i] : 0.0);
    status = c.for_rows(block.X, block.trend, parts, [&](Index begin, Index count, const PointRows& raw) {
      tile_kernels<double>().fill(count * W_.stride(), 0.0, W_.row(0));
      Status done = sees_variances_ ? pull_variances(g, begin, count, raw) : Status{};
      if (done.ok()) done = add_products_of_targets(g, block, begin, count, raw);
      if (!done.ok()) return done;
      return c.pull_values(block.X.block(begin, 0, count, block.X.cols), W_, theta,
                           points.data ? points.block(first + begin, 0, count, points.cols) : points, landmarks);
    });
    if (!status.ok()) return status;
    Numbers of_kernel_noise(at(n));
    for (Index i = 0; i < n; ++i) {
      noise(first + i, 0) = of_noise_[at(i)];
      of_kernel_noise[at(i)] = of_noise_[at(i)] - of_diagonal[at(i)];  // the diagonal has it, too
    }
    const View<double> of_points = points.data ? points.block(first, 0, n, points.cols) : points;
    const auto weights = [n](const Numbers& of) { return kernsel::vector(static_cast<const double*>(of.data()), n); };
    if (sees_own) status = pullback_diagonal(*c.kernel, block.X, weights(of_diagonal), theta, of_points);
    return status.ok() ? pullback_noise(*c.kernel, block.X, weights(of_kernel_noise), theta, of_points) : status;
  }

  // W <- the terms of variances.
  Status pull_variances(Index g, Index begin, Index count, const PointRows& raw) {
    const Content& c = content();
    Status done = multiply_triangular(c.inverse, Triangle::lower, raw, {0, count}, D_, 0);
    if (done.ok() && g >= 0) done = add_squares(g, begin, count, D_, x_, features_);
    for (Index i = 0; i < count; ++i) std::copy(raw.row(i) + m_, raw.row(i) + w_, D_.row(i) + m_);
    if (done.ok()) done = multiply(others_, D_, {0, count}, x_, 0);
    if (!done.ok()) return done;
    done = for_each_row(count, static_cast<double>(m_), [&](Index i) {
      const double N = noise_[at(begin + i)];
      of_noise_[at(begin + i)] += D_.dot(D_.row(i), x_.row(i)) / (N * N);
      tile_kernels<double>().scale(x_.stride(), -2.0 / N, x_.row(i), x_.row(i));
    });
    if (done.ok() && g >= 0) done = multiply_triangular(c.T, Triangle::lower, raw, {0, count}, t_, 0);
    // The rows of W are memory for R^-T t, whose first m entries have the unit one.
    if (done.ok() && g >= 0) done = multiply_triangular(c.root_transposed, Triangle::upper, t_, {0, count}, W_, 0);
    if (done.ok() && g >= 0)
      done = for_each_row(count, static_cast<double>(m_), [&](Index i) {
        const double *of_mean = W_.row(i), *f = D_.row(i), factor = 2.0 * nu(g, begin + i);
        for (Index j = 0; j < m_; ++j) x_.row(i)[j] += factor * (of_mean[j] - f[j]);
      });
    return done.ok() ? multiply_triangular(c.inverse_transposed, Triangle::upper, x_, {0, count}, W_, 0) : done;
  }

  // W += the terms of residuals.
  Status add_products_of_targets(Index g, const RowBlock& block, Index begin, Index count, const PointRows& raw) {
    const Index terms = groups_.count() * outputs_, first = groups_.begin_of(g);
    for (Index i = 0; i < count; ++i)
      for (Index k = 0; k < targets_.cols; ++k) targets_(first + begin + i, k) = 0.0;
    std::vector<const double*> rows;
    for (const PointRows* of : {&alpha_, &u_})
      for (Index term = 0; term < terms; ++term) rows.push_back(of->row(term));
    Numbers factors(at(2 * terms * count), 0.0);
    return for_each_row(count, static_cast<double>(m_ * terms), [&](Index i) {
      const double N = noise_[at(begin + i)];
      double *of_alpha = factors.data() + 2 * terms * i, *of_u = of_alpha + terms;
      for (Index term = 0; term < terms; ++term) {
        const Index k = term % outputs_;
        if (term / outputs_ == g) {
          of_alpha[term] = -rho(g, begin + i, k);
          if (targets_.data) targets_(first + begin + i, k) += rho(g, begin + i, k);
          continue;
        }
        const double c = (block.y(begin + i, k) - raw.dot(raw.row(i), alpha_.row(term))) / N;
        const double of_c = raw.dot(raw.row(i), u_.row(term)) / N;
        of_alpha[term] = of_c;
        of_u[term] = -c;
        of_noise_[at(begin + i)] += of_c * c;
        if (targets_.data) targets_(first + begin + i, k) -= of_c;
      }
      W_.add(2 * terms, rows.data(), of_alpha, W_.row(i));
    });
  }

  Status pull_square(double* theta, View<double> landmarks) {
    const Content& c = content();
    PointRows S, half;
    Status status = S.resize(w_, w_, true);
    if (status.ok() && sees_variances_) status = half.resize(w_, w_, true);
    if (sees_variances_) mirror(features_);
    for (Index j = 0; j < m_ && status.ok() && sees_variances_; ++j)
      for (Index i = 0; i < m_; ++i) S.row(j)[i] = features_.row(j)[i] - V_total_.row(j)[i];
    if (status.ok() && sees_variances_) status = c.sandwich(c.inverse_transposed, S, half);
    if (!status.ok()) return status;
    for (Index term = 0; term < alpha_.rows(); ++term) {
      const double *a = alpha_.row(term), *u = u_.row(term);
      for (Index j = 0; j < m_; ++j)
        for (Index i = 0; i < m_; ++i) S.row(j)[i] += 0.5 * (u[i] * a[j] + u[j] * a[i]);
    }
    return c.pull_square(S, theta, landmarks);
  }

  const LargeGroups& groups_;
  NystromBlocks& blocks_;
  const RowBlock& rows_;
  const NystromSums& total_;
  const Numbers &of_residual_, &of_variance_;
  const Index w_, m_, outputs_;
  const bool sees_variances_;
  PointRows alpha_, u_;           // a row for each output of each group
  std::vector<PointRows> V_;      // of each group
  PointRows V_total_, features_;  // sum of V_g, and of nu_i f_i f_i'
  PointRows others_, half_;
  View<double> targets_;
  Numbers noise_, of_noise_;
  PointRows W_, D_, x_, t_;
};

Status LargeGroups::pull(NystromBlocks& blocks, const RowBlock& rows, const NystromSums& total, const Numbers& of_residual,
                         const Numbers& of_variance, double* theta, const NystromRowGradient& of_rows,
                         View<double> landmarks) const {
  LargeGroupsPull pull(*this, blocks, rows, total, of_residual, of_variance);
  const Status status = pull.find_sums();
  return status.ok() ? pull.run(theta, of_rows, landmarks) : status;
}

}  // namespace kernsel
