// The last passes over rows, and the gradient.
//
// In the basis of the rows t_i, of whose weighted squares and what is known before the data the sum is the identity, and with
// the derivatives a and b in the log determinants of K~ and of the trend as A = diag(a, ..., a, b, ..., b), the adjoint of a
// raw row is T'u_i,
//
//     w_G = sum t_i G_c,i / N_i          c_G,i = (G_c,i - t_i'w_G) / N_i          Psi = sum g_i / N_i^2 t_i t_i'
//     u_i = -w_G c_i - w c_G,i + (2 / N_i) (A - g_i / N_i + Psi) t_i
//     dJ/dK_ZZ = T'(sym(w_G w') + Psi + A) T - a K_ZZ^-1
//     dJ/dN_i = -c_G,i c_i + a / N_i - (t_i'(A + Psi) t_i + g_i (1 - 2 t_i't_i / N_i)) / N_i^2
//
// and a derivative ge_i in e_i = k(x_i, x_i) - q_ii adds -2 ge_i K_ZZ^-1 k_i to the adjoint of k_i, K_ZZ^-1 (sum ge_i k_i k_i')
// K_ZZ^-1 to that of K_ZZ, and ge_i to that of k(x_i, x_i). Where small groups are left out, the matrix G of derivatives in P.
// is no diagonal one, and g_i t_i / N_i becomes v_i = sum_j G_ij t_j / N_j.
#include <cmath>
#include <utility>

#include "factors/nystrom/content.hpp"
#include "isa/table.hpp"
#include "kernsel/gram.hpp"

namespace kernsel {

namespace {

using Numbers = std::vector<double>;
using Content = NystromBlocks::Content;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

double value_of(View<const double> values, Index i, Index k = 0) { return values.data ? values(i, k) : 0.0; }

// The pass over a block of rows that ends in its part of the gradient.
class Pull {
 public:
  Pull(const Content& content, const RowBlock& block, const NystromPartials& partials, const SmallGroups* groups)
      : c_(content), block_(block), partials_(partials), groups_(groups), n_(block.X.rows) {
    parts_ = Content::parts(n_, groups ? groups->ends : std::vector<Index>{});
  }

  Status prepare() {
    Status status = c_.write_noise(block_, noise_);
    of_noise_.assign(at(n_), 0.0);
    of_missing_.assign(at(n_), 0.0);
    for (Index i = 0; i < n_ && sees_missing(); ++i)
      of_missing_[at(i)] = value_of(partials_.missing, i) + c_.totals.missing / noise_[at(i)];
    if (status.ok() && sees_missing()) status = c_.write_diagonal(block_.X, diagonal_);
    const Index size = Content::most_rows(parts_);
    for (PointRows* rows : {&W_, &t_, &u_})
      if (status.ok()) status = rows->resize(size, c_.width(), true);
    form_ = groups_ || partials_.precision.data || partials_.missing.data ? nullptr : c_.form.get();
    return status;
  }

  Status run(double* theta, const NystromRowGradient& to, View<double> landmarks) {
    const View<double>&noise = to.noise, &points = to.points;
    targets_ = to.targets;
    Status status = c_.for_rows(block_.X, block_.trend, parts_, [&](Index begin, Index count, const PointRows& raw) {
      Status done;
      if (sees_only_c())
        tile_kernels<double>().fill(count * W_.stride(), 0.0, W_.row(0));
      else
        done = form_ ? by_form(begin, count, raw) : by_basis(begin, count, raw);
      if (done.ok()) done = add_products_of_targets(begin, count, raw);
      if (!done.ok()) return done;
      return c_.pull_values(block_.X.block(begin, 0, count, block_.X.cols), W_, theta,
                            points.data ? points.block(begin, 0, count, points.cols) : points, landmarks);
    });
    if (!status.ok()) return status;
    Numbers of_kernel_noise(at(n_));
    for (Index i = 0; i < n_; ++i) {
      of_noise_[at(i)] += value_of(partials_.noise, i);
      if (noise.data) noise(i, 0) = of_noise_[at(i)];
      of_kernel_noise[at(i)] = of_noise_[at(i)] - of_missing_[at(i)];  // the diagonal has it, too
    }
    const auto weights = [&](const Numbers& of) { return kernsel::vector(static_cast<const double*>(of.data()), n_); };
    if (sees_missing()) status = pullback_diagonal(*c_.kernel, block_.X, weights(of_missing_), theta, points);
    return status.ok() ? pullback_noise(*c_.kernel, block_.X, weights(of_kernel_noise), theta, points) : status;
  }

 private:
  bool sees_missing() const {
    return partials_.missing.data || c_.totals.missing != 0.0 || (groups_ && groups_->sees_missing());
  }

  // Whether there are only terms of rank one, as for residuals.
  bool sees_only_c() const {
    return !groups_ && !partials_.precision.data && !sees_missing() && !c_.has_Psi && c_.totals.log_det == 0.0 &&
           c_.totals.log_det_trend == 0.0;
  }

  // W <- the adjoint without the terms in c, where it is a form of the values alone.
  Status by_form(Index begin, Index count, const PointRows& raw) {
    Status done = multiply_triangular(form_->G, Triangle::lower, raw, {0, count}, t_, 0);
    if (done.ok()) done = multiply_triangular(form_->G_transposed, Triangle::upper, t_, {0, count}, W_, 0);
    if (!done.ok()) return done;
    return for_each_row(count, 0.3 * static_cast<double>(c_.m), [&](Index i) {
      const double N = noise_[at(begin + i)];
      const double *h = raw.row(i) + c_.m, *g = t_.row(i);
      double* out = W_.row(i);
      double square = form_->sign * t_.dot(g, g);
      tile_kernels<double>().scale(W_.stride(), form_->sign / N, out, out);
      for (Index j = 0; j < form_->of_trend.rows(); ++j) {
        const double* row = form_->of_trend.row(j);
        for (Index l = 0; l < c_.m; ++l) out[l] += h[j] / N * row[l];
        for (Index l = 0; l < c_.width(); ++l) square += (l < c_.m ? 2.0 : 1.0) * h[j] * row[l] * raw.row(i)[l];
      }
      const double own = diagonal_.empty() ? 0.0 : diagonal_[at(begin + i)];
      of_noise_[at(begin + i)] = c_.totals.log_det / N - (0.5 * square + c_.totals.missing * own) / (N * N);
    });
  }

  // The same for any criterion.
  Status by_basis(Index begin, Index count, const PointRows& raw) {
    const bool has_Psi = c_.has_Psi;
    Status done = multiply_triangular(c_.T, Triangle::lower, raw, {0, count}, t_, 0);
    if (done.ok() && has_Psi) done = multiply(c_.Psi, t_, {0, count}, u_, 0);
    if (done.ok() && groups_) done = find_slopes(*groups_, partials_, begin, count, t_, noise_.data() + begin, slopes_);
    for (Index i = 0; i < count && done.ok() && groups_ && groups_->sees_missing(); ++i)
      of_missing_[at(begin + i)] = slopes_.missing[at(i)] + c_.totals.missing / noise_[at(begin + i)];
    if (!done.ok()) return done;
    done = for_each_row(count, static_cast<double>(c_.m), [&](Index i) {
      const double N = noise_[at(begin + i)];
      const double a = c_.totals.log_det, b = c_.totals.log_det_trend;
      const double* t = t_.row(i);
      double *u = u_.row(i), of_trend = 0.0;
      if (!has_Psi) std::fill_n(u, u_.stride(), 0.0);
      for (Index j = c_.m; j < c_.width(); ++j) of_trend += t[j] * t[j];
      const double all = t_.dot(t, t);
      const double of_diagonal = a * (all - of_trend) + b * of_trend + t_.dot(t, u);
      if (groups_) {
        const double* v = slopes_.v.row(i);
        of_noise_[at(begin + i)] = a / N - (of_diagonal + slopes_.precision[at(i)] - 2.0 * t_.dot(t, v)) / (N * N);
        for (Index j = 0; j < c_.width(); ++j) u[j] = 2.0 / N * ((j < c_.m ? a : b) * t[j] - v[j] + u[j]);
        return;
      }
      const double g = value_of(partials_.precision, begin + i);
      of_noise_[at(begin + i)] = a / N - (of_diagonal + g * (1.0 - 2.0 * all / N)) / (N * N);
      for (Index j = 0; j < c_.m; ++j) u[j] = 2.0 / N * ((a - g / N) * t[j] + u[j]);
      for (Index j = c_.m; j < c_.width(); ++j) u[j] = 2.0 / N * ((b - g / N) * t[j] + u[j]);
    });
    if (done.ok()) done = multiply_triangular(c_.T_transposed, Triangle::upper, u_, {0, count}, W_, 0);
    if (!done.ok() || !sees_missing()) return done;
    done = multiply_triangular(c_.inverse, Triangle::lower, raw, {0, count}, t_, 0);
    if (!done.ok()) return done;
    done = for_each_row(count, static_cast<double>(c_.m), [&](Index i) {
      const double N = noise_[at(begin + i)], e = diagonal_[at(begin + i)] - t_.dot(t_.row(i), t_.row(i));
      of_noise_[at(begin + i)] -= c_.totals.missing * e / (N * N);
      tile_kernels<double>().scale(t_.stride(), -2.0 * of_missing_[at(begin + i)], t_.row(i), t_.row(i));
    });
    if (done.ok()) done = multiply_triangular(c_.inverse_transposed, Triangle::upper, t_, {0, count}, u_, 0);
    if (!done.ok()) return done;
    return for_each_row(count, static_cast<double>(c_.m),
                        [&](Index i) { tile_kernels<double>().add(W_.stride(), W_.row(i), u_.row(i), W_.row(i)); });
  }

  // W -= w_G c' + w c_G'
  Status add_products_of_targets(Index begin, Index count, const PointRows& raw) {
    const Index outputs = c_.outputs();
    return for_each_row(count, static_cast<double>(c_.m * outputs), [&](Index i) {
      const double N = noise_[at(begin + i)];
      for (Index k = 0; k < outputs; ++k) {
        const double *of_raw = c_.of_raw.row(k), *of_c_raw = c_.of_c_raw.row(k), y = block_.y(begin + i, k);
        const double square = c_.totals.squares.empty() ? 0.0 : c_.totals.squares[at(k)];
        const double c = (y - raw.dot(raw.row(i), of_raw)) / N;
        const double of_c = groups_ ? slopes_.c[at(i * outputs + k)] : value_of(partials_.c, begin + i, k);
        const double c_G = (of_c + square * y - raw.dot(raw.row(i), of_c_raw)) / N;
        const double* rows[] = {of_c_raw, of_raw};
        const double factors[] = {-c, -c_G};
        W_.add(2, rows, factors, W_.row(i));
        of_noise_[at(begin + i)] -= c_G * c;
        if (targets_.data) targets_(begin + i, k) = c_G + square * c;
      }
    });
  }

  const Content& c_;
  const RowBlock& block_;
  const NystromPartials& partials_;
  const SmallGroups* groups_;
  const Index n_;
  std::vector<Index> parts_;
  GroupSlopes slopes_;
  const NystromForm* form_ = nullptr;
  View<double> targets_;
  Numbers noise_, diagonal_, of_noise_, of_missing_;
  PointRows W_, t_, u_;
};

}  // namespace

void NystromBlocks::set_totals(NystromTotals totals) { content_->totals = std::move(totals); }

Status NystromBlocks::add_partials(const RowBlock& block, const NystromPartials& partials, NystromPartialSums& sums) const {
  const Status checked = content_->check(block, true);
  if (!checked.ok()) return checked;
  return within_memory([&] { return content_->add_partials(block, partials, nullptr, sums); });
}

Status NystromBlocks::Content::add_partials(const RowBlock& block, const NystromPartials& partials, const SmallGroups* groups,
                                            NystromPartialSums& sums) const {
  const Index n = block.X.rows, w = width(), outputs = this->outputs();
  const std::vector<Index> blocks = parts(n, groups ? groups->ends : std::vector<Index>{});
  const bool sees_c = groups || partials.c.data, sees_precision = groups || partials.precision.data;
  const bool sees_missing = partials.missing.data || (groups && groups->sees_missing());
  Numbers noise, factors(at(most_rows(blocks) * outputs));
  PointRows t, scaled, of_precision, missing, products;
  GroupSlopes slopes;
  Status status = write_noise(block, noise);
  for (PointRows* rows : {&t, &scaled})
    if (status.ok()) status = rows->resize(most_rows(blocks), w, true);
  for (PointRows* square : {&of_precision, &missing})
    if (status.ok()) status = square->resize(w, w, true);
  if (status.ok()) status = products.resize(outputs, w, true);
  if (!status.ok()) return status;
  // sums of factor_i row_i row_i', for the rows that are in t
  const auto add = [&](Index count, PointRows& to, const auto& factor) {
    const Status done = for_each_row(count, static_cast<double>(m), [&](Index i) {
      tile_kernels<double>().scale(t.stride(), factor(i), t.row(i), scaled.row(i));
    });
    return done.ok() ? add_products(t, {0, count}, scaled, 0, true, to) : done;
  };
  const auto add_groups = [&](Index begin, Index count) {
    Status done = find_slopes(*groups, partials, begin, count, t, noise.data() + begin, slopes);
    if (done.ok())
      done = for_each_row(count, static_cast<double>(m), [&](Index i) {
        tile_kernels<double>().scale(t.stride(), 1.0 / noise[at(begin + i)], slopes.v.row(i), scaled.row(i));
      });
    return done.ok() ? add_products(t, {0, count}, scaled, 0, true, of_precision) : done;
  };
  status = for_rows(block.X, block.trend, blocks, [&](Index begin, Index count, const PointRows& raw) {
    Status done;
    if (sees_c || sees_precision) done = multiply_triangular(T, Triangle::lower, raw, {0, count}, t, 0);
    if (done.ok() && groups) done = add_groups(begin, count);
    if (!done.ok()) return done;
    for (Index i = 0; i < count; ++i)
      for (Index k = 0; k < outputs; ++k)
        factors[at(i * outputs + k)] =
            (groups ? slopes.c[at(i * outputs + k)] : value_of(partials.c, begin + i, k)) / noise[at(begin + i)];
    if (sees_c) done = add_weighted(t, {0, count}, factors.data(), outputs, products);
    if (done.ok() && partials.precision.data && !groups)
      done = add(count, of_precision, [&](Index i) {
        const double N = noise[at(begin + i)];
        return partials.precision(begin + i, 0) / (N * N);
      });
    if (!done.ok() || !sees_missing) return done;
    done = multiply_triangular(inverse, Triangle::lower, raw, {0, count}, t, 0);
    if (!done.ok()) return done;
    return add(count, missing, [&](Index i) { return groups ? slopes.missing[at(i)] : partials.missing(begin + i, 0); });
  });
  if (!status.ok()) return status;
  mirror(of_precision);
  mirror(missing);
  NystromPartialSums found;
  const auto take = [](const PointRows& from, Index count, Index width, Numbers& to) {
    for (Index j = 0; j < count; ++j) to.insert(to.end(), from.row(j), from.row(j) + width);
  };
  take(products, outputs, w, found.products);
  if (sees_precision) take(of_precision, w, w, found.moments);
  if (sees_missing) take(missing, m, m, found.missing);
  sums.add(found);
  return status;
}

Status NystromBlocks::solve_partials(const NystromPartialSums& sums) {
  return within_memory([&] { return content_->solve_partials(sums); });
}

Status NystromBlocks::Content::solve_partials(const NystromPartialSums& sums) {
  const Index w = width(), outs = outputs();
  has_Psi = !sums.moments.empty();
  of_missing = sums.missing;
  Status status = of_c.resize(outs, w, true);
  if (status.ok()) status = of_c_raw.resize(outs, w, true);
  if (status.ok() && has_Psi) status = Psi.resize(w, w, true);
  if (!status.ok()) return status;
  for (Index k = 0; k < outs; ++k)
    for (Index j = 0; j < w; ++j) {
      const double square = totals.squares.empty() ? 0.0 : totals.squares[at(k)];
      of_c.row(k)[j] = square * coefficients.row(k)[j] + (sums.products.empty() ? 0.0 : sums.products[at(j + k * w)]);
    }
  for (Index j = 0; j < w && has_Psi; ++j) std::copy_n(sums.moments.data() + j * w, w, Psi.row(j));
  form.reset();
  if (!has_Psi)
    status = make_form();
  else if (!sums.theta.empty())  // what each row adds alone is known already
    status = make_form_of_Psi();
  return status.ok() ? multiply_triangular(T_transposed, Triangle::upper, of_c, {0, outs}, of_c_raw, 0) : status;
}

Status NystromBlocks::pull(const RowBlock& block, const NystromPartials& partials, double* theta,
                           const NystromRowGradient& of_rows, View<double> landmarks) const {
  const Status checked = content_->check(block, true);
  if (!checked.ok()) return checked;
  return within_memory([&] { return content_->pull(block, partials, nullptr, theta, of_rows, landmarks); });
}

Status NystromBlocks::Content::pull(const RowBlock& block, const NystromPartials& partials, const SmallGroups* groups,
                                    double* theta, const NystromRowGradient& of_rows, View<double> landmarks) const {
  Pull pull(*this, block, partials, groups);
  const Status status = pull.prepare();
  return status.ok() ? pull.run(theta, of_rows, landmarks) : status;
}

Status NystromBlocks::pull_landmarks(double* theta, View<double> landmarks) const {
  return within_memory([&] { return content_->pull_landmarks(theta, landmarks); });
}

Status NystromBlocks::Content::pull_landmarks(double* theta, View<double> of_Z) const {
  const Index w = width(), outs = outputs();
  PointRows S, half;
  Status status = S.resize(w, w, true);
  if (status.ok()) status = half.resize(w, w, true);
  if (!status.ok()) return status;
  for (Index j = 0; j < w; ++j) {
    if (has_Psi) std::copy_n(Psi.row(j), w, S.row(j));
    S.row(j)[j] += j < m ? totals.log_det : totals.log_det_trend;
    for (Index k = 0; k < outs; ++k)
      for (Index i = 0; i < w; ++i)
        S.row(j)[i] += 0.5 * (of_c.row(k)[i] * coefficients.row(k)[j] + of_c.row(k)[j] * coefficients.row(k)[i]);
  }
  // R^-T S R^-1, in the basis of the features
  status = sandwich(root_transposed, S, half);
  if (!status.ok()) return status;
  for (Index j = 0; j < m; ++j) {
    S.row(j)[j] -= totals.log_det;
    for (Index i = 0; i < m; ++i)
      S.row(j)[i] += totals.missing * moments[at(i + j * w)] + (of_missing.empty() ? 0.0 : of_missing[at(i + j * m)]);
  }
  for (Index j = 0; j < w; ++j)
    for (Index i = 0; i < w; ++i)
      if (i >= m || j >= m) S.row(j)[i] = 0.0;
  status = sandwich(inverse_transposed, S, half);
  return status.ok() ? pull_square(S, theta, of_Z) : status;
}

Status NystromBlocks::Content::pull_square(PointRows& S, double* theta, View<double> of_Z) const {
  for (Index j = 0; j < m; ++j) S.row(j)[j] *= 1.0 + jitter;
  const View<const double> W{S.row(0), m, m, 1, S.stride()};
  Numbers more(at(kernel->parameters()));
  Status status = pullback<double>(*kernel, landmarks(), landmarks(), W, more.data());
  for (std::size_t p = 0; p < more.size() && status.ok(); ++p) theta[p] += more[p];
  if (!status.ok() || !of_Z.data) return status;
  Numbers in_Z(at(m * d));
  status = pullback_points<double>(*kernel, landmarks(), landmarks(), W, rows(in_Z.data(), m, d));
  for (Index i = 0; i < m && status.ok(); ++i)
    for (Index j = 0; j < d; ++j) of_Z(i, j) += 2.0 * in_Z[at(i * d + j)];
  return status;
}

Status NystromBlocks::Content::pull_values(View<const double> X, const PointRows& adjoint, double* theta, View<double> points,
                                           View<double> of_Z) const {
  const View<const double> W{adjoint.row(0), m, X.rows, 1, adjoint.stride()};
  Numbers more(at(kernel->parameters()));
  Status status = pullback<double>(*kernel, landmarks(), X, W, more.data());
  for (std::size_t p = 0; p < more.size() && status.ok(); ++p) theta[p] += more[p];
  if (status.ok() && points.data) status = pullback_points<double>(*kernel, X, landmarks(), W.transposed(), points);
  if (!status.ok() || !of_Z.data) return status;
  Numbers in_Z(at(m * d));
  status = pullback_points<double>(*kernel, landmarks(), X, W, rows(in_Z.data(), m, d));
  for (Index i = 0; i < m && status.ok(); ++i)
    for (Index j = 0; j < d; ++j) of_Z(i, j) += in_Z[at(i * d + j)];
  return status;
}

Status NystromBlocks::Content::sandwich(const PointRows& M, PointRows& S, PointRows& half) const {
  Status status;
  for (int side = 0; side < 2 && status.ok(); ++side) {
    status = multiply_triangular(M, Triangle::upper, S, {0, width()}, half, 0);
    if (status.ok()) transpose(half, S);
  }
  return status;
}

}  // namespace kernsel
