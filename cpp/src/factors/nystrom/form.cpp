#include "factors/nystrom/form.hpp"

#include <cmath>

#include "factors/nystrom/content.hpp"

namespace kernsel {

namespace {

constexpr double added = 1e-13;  // to a form that may be singular, in parts of its largest entry

// U <- the lower triangular matrix for which the first m rows and columns of C are sign U'U: from the Cholesky factor P of
// these in reversed order, U_ij = P_(m-1-j)(m-1-i). False if the sign is another one.
Status reversed_root(const PointRows& C, Index m, double sign, PointRows& U, bool& found) {
  PointRows P;
  Status status = P.resize(m, m, true);
  if (status.ok()) status = U.resize(C.width(), C.width(), true);
  if (!status.ok()) return status;
  double most = 0.0;
  for (Index i = 0; i < m; ++i) most = std::max(most, std::abs(C.row(i)[i]));
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < m; ++j) P.row(i)[j] = sign * C.row(m - 1 - i)[m - 1 - j];
    P.row(i)[i] += added * most;
  }
  found = factorize(P).ok();
  for (Index j = 0; j < m && found; ++j)
    for (Index i = j; i < m; ++i) U.row(j)[i] = P.row(m - 1 - i)[m - 1 - j];
  return status;
}

}  // namespace

// With S = R^-T A R^-1, E is 2 S - 2 l I in the basis of the features, where l is the derivative in sum e_i / N_i.
Status NystromBlocks::Content::make_form() {
  if (totals.log_det == 0.0 && totals.log_det_trend == 0.0 && totals.missing == 0.0) return {};
  const Index w = width();
  form = std::make_unique<NystromForm>();
  PointRows S, half, U;
  Status status = S.resize(w, w, true);
  if (status.ok()) status = half.resize(w, w, true);
  if (!status.ok()) return status;
  for (Index j = 0; j < w; ++j) S.row(j)[j] = 2.0 * (j < m ? totals.log_det : totals.log_det_trend);
  status = sandwich(root_transposed, S, half);
  for (Index j = 0; j < m; ++j) S.row(j)[j] -= 2.0 * totals.missing;
  bool found = false;
  form->sign = totals.missing == 0.0 ? (totals.log_det < 0.0 ? -1.0 : 1.0) : (totals.missing < 0.0 ? 1.0 : -1.0);
  if (status.ok()) status = reversed_root(S, m, form->sign, U, found);
  if (!status.ok() || !found) {
    form.reset();
    return status;
  }
  for (PointRows* matrix : {&form->G, &form->G_transposed})
    if (status.ok()) status = matrix->resize(w, w, true);
  if (status.ok()) status = multiply_triangular(U, Triangle::lower, inverse, {0, w}, form->G, 0);
  if (!status.ok()) return status;
  transpose(form->G, form->G_transposed);
  if (q == 0) return status;
  PointRows of_features;
  status = of_features.resize(q, w, true);
  if (status.ok()) status = form->of_trend.resize(q, w, true);
  for (Index j = 0; j < q && status.ok(); ++j)
    for (Index l = 0; l < m; ++l) of_features.row(j)[l] = S.row(m + j)[l] * units[static_cast<std::size_t>(m + j)];
  if (status.ok()) status = multiply_triangular(inverse_transposed, Triangle::upper, of_features, {0, q}, form->of_trend, 0);
  for (Index j = 0; j < q && status.ok(); ++j)
    for (Index l = m; l < w; ++l)
      form->of_trend.row(j)[l] = S.row(m + j)[l] * units[static_cast<std::size_t>(m + j)] * units[static_cast<std::size_t>(l)];
  return status;
}

Status NystromBlocks::Content::make_form_of_Psi() {
  if (totals.log_det != 0.0 || totals.log_det_trend != 0.0 || totals.missing != 0.0) return {};
  const Index w = width();
  form = std::make_unique<NystromForm>();
  double trace = 0.0;
  for (Index j = 0; j < w; ++j) trace += Psi.row(j)[j];
  form->sign = trace < 0.0 ? -1.0 : 1.0;
  PointRows U;
  bool found = false;
  Status status = reversed_root(Psi, w, form->sign, U, found);
  if (!status.ok() || !found) {
    form.reset();
    return status;
  }
  for (PointRows* matrix : {&form->G, &form->G_transposed})
    if (status.ok()) status = matrix->resize(w, w, true);
  if (status.ok()) status = multiply_triangular(U, Triangle::lower, T, {0, w}, form->G, 0);
  for (Index j = 0; j < w && status.ok(); ++j)
    for (Index i = j; i < w; ++i) form->G.row(j)[i] *= std::sqrt(2.0);
  if (status.ok()) transpose(form->G, form->G_transposed);
  return status;
}

}  // namespace kernsel
