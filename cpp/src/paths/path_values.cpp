// The table of a path. With D = 1 / (e + lambda) and z = V'y: c = V (z D), the precision's diagonal (V * V) D, and
//
//     |y - f|^2 = lambda^2 sum z^2 D^2,   |f|^2 = sum e z^2 D^2,   c'y = sum z^2 D,   log det = -sum log D,
//
// to which directions of eigenvalue zero that have no vectors in V add their part, with 1 / lambda in the place of D.
#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
#include "paths/content.hpp"

namespace kernsel {

namespace {

constexpr double pi = 3.14159265358979323846;

// log |det S| for S (q, q), which is overwritten: Gaussian elimination with row exchanges.
double log_determinant_of(Padded& S) {
  const Index q = S.rows();
  double sum = 0.0;
  for (Index k = 0; k < q; ++k) {
    Index best = k;
    for (Index i = k + 1; i < q; ++i)
      if (std::abs(S(i, k)) > std::abs(S(best, k))) best = i;
    if (best != k)
      for (Index j = k; j < q; ++j) std::swap(S(k, j), S(best, j));
    sum += std::log(std::abs(S(k, k)));
    if (S(k, k) == 0.0) return sum;
    for (Index i = k + 1; i < q; ++i) {
      const double factor = S(i, k) / S(k, k);
      for (Index j = k + 1; j < q; ++j) S(i, j) -= factor * S(k, j);
    }
  }
  return sum;
}

// The part of log det K~ that belongs to the directions of the trend: log det (U'KU + lambda I - U'KV D V'KU).
Status log_det_of_trend(const Spectrum& s, double lambda, const double* D, double& out) {
  out = 0.0;
  if (s.q == 0) return {};
  Padded S;
  const Status status = S.resize(s.q, s.q);
  if (!status.ok()) return status;
  for (Index b = 0; b < s.q; ++b) {
    for (Index a = 0; a < s.q; ++a) S(a, b) = s.inner(a, b);
    S(b, b) += lambda;
    for (Index j = 0; j < s.r(); ++j)
      for (Index a = 0; a < s.q; ++a) S(a, b) -= s.cross(a, j) * D[j] * s.cross(b, j);
  }
  out = log_determinant_of(S);
  return status;
}

// The sums from which the criteria are computed, for one lambda: |y - f|^2, |f|^2, c'y, the trace of the precision, log det,
// the derivative of |f|^2 with respect to lambda, sum e D, and |df/dlambda|^2.
struct Sums {
  double residual = 0.0, semi = 0.0, quadratic = 0.0, trace = 0.0, log_det = 0.0, slope = 0.0, dof = 0.0, quasi = 0.0;
};

Sums sums_at(const RegularizationPath::Content& content, double lambda, const double* D) {
  const Spectrum& s = *content.spectrum;
  Sums sums;
  for (Index j = 0; j < s.r(); ++j) {
    const double e = s.e[static_cast<std::size_t>(j)], energy = content.energy[static_cast<std::size_t>(j)], d = D[j];
    const double square = energy * d * d;
    sums.residual += square;
    sums.semi += e * square;
    sums.quadratic += energy * d;
    sums.trace += d;
    sums.log_det += std::log(e + lambda);
    sums.slope -= 2.0 * e * square * d;
    sums.dof += e * d;
    sums.quasi += e * square * d * d;
  }
  const auto zeros = static_cast<double>(s.zeros());
  sums.residual = lambda * lambda * sums.residual + content.energy_of_rest;
  sums.quadratic += content.energy_of_rest / lambda;
  sums.trace += zeros / lambda;
  sums.log_det += zeros * std::log(lambda);
  return sums;
}

}  // namespace

Status check_alphas(const std::vector<double>& alphas) {
  for (const double alpha : alphas)
    if (!(alpha > 0.0) || !std::isfinite(alpha)) return Status::invalid("alphas: expected positive, finite numbers");
  return alphas.empty() ? Status::invalid("alphas: expected one value at least") : Status{};
}

std::vector<double> RegularizationPath::Content::in_units(const std::vector<double>& alphas) const {
  std::vector<double> lambda = alphas;
  for (double& value : lambda) value *= per_alpha;
  return lambda;
}

Status RegularizationPath::Content::inverses(const std::vector<double>& lambda, Padded& D) const {
  const Index r = spectrum->r(), count = static_cast<Index>(lambda.size());
  const Status status = D.resize(r, count);
  if (!status.ok()) return status;
  for (Index l = 0; l < count; ++l)
    for (Index j = 0; j < r; ++j)
      D(j, l) = 1.0 / (spectrum->e[static_cast<std::size_t>(j)] + lambda[static_cast<std::size_t>(l)]);
  return status;
}

Status RegularizationPath::Content::coefficients(Index target, const std::vector<double>& lambda, const Padded& D,
                                                 PanelMatrix& C) const {
  const Index r = spectrum->r(), count = D.cols();
  Padded weighted;
  Status status = weighted.resize(r, count);
  if (status.ok()) status = C.reserve(n(), count);
  if (!status.ok()) return status;
  for (Index l = 0; l < count; ++l)
    for (Index j = 0; j < r; ++j) weighted(j, l) = z(j, target) * D(j, l);
  const double cost = 0.1 * static_cast<double>(r) * static_cast<double>(count) * static_cast<double>(n());
  return run_jobs(C.panels(), cost, [&](Jobs&, Index p) {
    constexpr Index height = PanelMatrix::height;
    double* const out = C.panel(p);
    for (Index l = 0; l < count; ++l)
      for (Index i = 0; i < height; ++i) {
        const Index row = p * height + i;
        out[i + l * height] = row < n() ? rest(row, target) / lambda[static_cast<std::size_t>(l)] : 0.0;
      }
    tile_kernels<double>().multiply_nn(height, count, r, 1.0, spectrum->V.panel(p), height, weighted.data(), weighted.stride(),
                                       out, height);
  });
}

namespace {

// The mean squared leave-one-out residuals, weighted, over y_unit^2.
Status leave_one_out(const RegularizationPath::Content& content, const std::vector<double>& lambda, const Padded& D,
                     std::vector<double>& loo) {
  constexpr Index height = PanelMatrix::height, chunk = 128;
  const Spectrum& s = *content.spectrum;
  const Index n = s.n, r = s.r(), count = D.cols();
  PanelMatrix precision, c;
  Status status = precision.reserve(n, count);
  if (!status.ok()) return status;
  const double cost = 0.1 * static_cast<double>(r) * static_cast<double>(count) * static_cast<double>(n);
  status = run_jobs(s.V.panels(), cost, [&](Jobs& jobs, Index p) {
    Memory room;
    const Status reserved = room.reserve(height * chunk * sizeof(double));
    if (!reserved.ok()) return jobs.stop(reserved);
    auto* const squares = static_cast<double*>(room.data());
    double* const out = precision.panel(p);
    for (Index l = 0; l < count; ++l)
      for (Index i = 0; i < height; ++i) {
        const Index row = p * height + i;
        out[i + l * height] = row < n ? s.beyond[static_cast<std::size_t>(row)] / lambda[static_cast<std::size_t>(l)] : 0.0;
      }
    for (Index first = 0; first < r; first += chunk) {
      const Index width = std::min(chunk, r - first);
      const double* const V = s.V.panel(p) + first * height;
      tile_kernels<double>().multiply(height * width, V, V, squares);
      tile_kernels<double>().multiply_nn(height, count, width, 1.0, squares, height, D.data() + first, D.stride(), out, height);
    }
  });
  loo.assign(static_cast<std::size_t>(count), 0.0);
  for (Index k = 0; k < content.m() && status.ok(); ++k) {
    status = content.coefficients(k, lambda, D, c);
    for (Index l = 0; l < count && status.ok(); ++l) {
      double sum = 0.0;
      for (Index i = 0; i < n; ++i) {
        // K and y are multiplied by w^(1/2): the residual is c_i / P_ii / w_i^(1/2), and its square counts w_i times.
        const double left_out = c(i, l) / precision(i, l);
        sum += left_out * left_out;
      }
      loo[static_cast<std::size_t>(l)] += sum / (s.weights * static_cast<double>(content.m()));
    }
  }
  return status;
}

}  // namespace

Status RegularizationPath::values(const std::vector<double>& alphas, PathValues& out, bool leave_out) const {
  return within_memory([&]() -> Status {
    Status status = check_alphas(alphas);
    if (!status.ok()) return status;
    if (!content_) return Status::invalid("path: nothing has been decomposed");
    const Content& content = *content_;
    const Spectrum& s = *content.spectrum;
    const std::vector<double> lambda = content.in_units(alphas);
    const std::size_t count = alphas.size();
    Padded D;
    status = content.inverses(lambda, D);
    if (!status.ok()) return status;
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    out.alphas = alphas;
    for (std::vector<double>* column :
         {&out.loo, &out.gcv, &out.log_likelihood, &out.restricted_log_likelihood, &out.profiled_log_likelihood,
          &out.profiled_restricted_log_likelihood, &out.residual_norm, &out.seminorm, &out.effective_dof, &out.risk,
          &out.curvature, &out.quasi_optimality})
      column->assign(count, nan);
    if (leave_out && s.landmarks) {
      std::vector<double> of_targets;
      status = left_out(alphas, of_targets);
      if (!status.ok()) return status;
      for (std::size_t l = 0; l < count; ++l) {
        double sum = 0.0;
        for (std::size_t k = l; k < of_targets.size(); k += count) sum += of_targets[k];
        out.loo[l] = sum / static_cast<double>(content.m());
      }
    } else if (leave_out) {
      status = leave_one_out(content, lambda, D, out.loo);
      for (double& value : out.loo) value *= content.y_unit * content.y_unit;
    }
    if (!status.ok()) return status;
    const auto n = static_cast<double>(s.n), m = static_cast<double>(content.m()), rest = n - static_cast<double>(s.q);
    const double log_unit = std::log(s.k_unit), log_ratio = 2.0 * std::log(content.y_unit) - log_unit;
    const double square = content.y_unit * content.y_unit, of_norm = content.y_unit / std::sqrt(s.k_unit);
    const double sigma = content.noise / content.y_unit, variance = sigma * sigma;
    const double cost = 15.0 * static_cast<double>(s.r()) * static_cast<double>(count);
    return run_jobs(static_cast<Index>(count), cost, [&](Jobs& jobs, Index l) {
      const auto at = static_cast<std::size_t>(l);
      const double lam = lambda[at];
      const Sums sums = sums_at(content, lam, D.column(l));
      double of_trend = 0.0;
      const Status determined = log_det_of_trend(s, lam, D.column(l), of_trend);
      if (!determined.ok()) return jobs.stop(determined);
      const double whole = m * (sums.log_det + of_trend + n * log_unit - s.log_weights);
      const double kept = m * (sums.log_det + rest * log_unit - s.log_weights);
      const double quadratic = sums.quadratic * of_norm * of_norm;
      const double missing = m * s.missing / lam;
      const auto profiled = [&](double freedom, double log_det) {
        const double mean = std::log(2.0 * pi * sums.quadratic / (freedom * m)) + log_ratio;
        return -0.5 * (freedom * m * (mean + 1.0) + log_det + missing);
      };
      out.gcv[at] = square * (n * sums.residual / (lam * lam) / (sums.trace * sums.trace) / m * s.inverse_weights);
      out.log_likelihood[at] = -0.5 * (quadratic + whole + missing + n * m * std::log(2.0 * pi));
      out.restricted_log_likelihood[at] = -0.5 * (quadratic + kept + missing + rest * m * std::log(2.0 * pi));
      out.profiled_log_likelihood[at] = profiled(n, whole);
      out.profiled_restricted_log_likelihood[at] = profiled(rest, kept);
      out.residual_norm[at] = content.y_unit * std::sqrt(sums.residual);
      out.seminorm[at] = of_norm * std::sqrt(sums.semi);
      out.effective_dof[at] = static_cast<double>(s.q) + sums.dof;
      if (content.noise > 0.0)
        out.risk[at] = square * ((sums.residual + m * variance * (2.0 * (n - lam * sums.trace) - n)) / (n * m));
      const double R = sums.residual, S = sums.semi, slope = sums.slope;
      const double curvature = 2.0 * R * S / std::abs(slope) * (R * S + lam * slope * R + lam * lam * slope * S) /
                               std::pow(R * R + lam * lam * S * S, 1.5);
      out.curvature[at] = std::isfinite(curvature) ? curvature : 0.0;
      out.quasi_optimality[at] = of_norm * lam * std::sqrt(sums.quasi);
    });
  });
}

Status RegularizationPath::dual_coef(double alpha, View<double> out) const {
  return within_memory([&]() -> Status {
    Status status = check_alphas({alpha});
    if (!status.ok()) return status;
    if (content_ && content_->spectrum->landmarks) return Status::invalid("dual_coef: landmarks have coefficients, not points");
    if (!content_ || out.rows != points() || out.cols != targets())
      return Status::invalid("dual_coef: expected room for one row for each point and one column for each target");
    const std::vector<double> lambda = content_->in_units({alpha});
    Padded D;
    PanelMatrix c;
    status = content_->inverses(lambda, D);
    for (Index k = 0; k < out.cols && status.ok(); ++k) {
      status = content_->coefficients(k, lambda, D, c);
      for (Index i = 0; i < out.rows && status.ok(); ++i)
        out(i, k) =
            c(i, 0) * content_->spectrum->root[static_cast<std::size_t>(i)] * (content_->y_unit / content_->spectrum->k_unit);
    }
    return status;
  });
}

}  // namespace kernsel
