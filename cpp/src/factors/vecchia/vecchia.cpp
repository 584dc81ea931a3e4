#include "kernsel/vecchia.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "factors/trend.hpp"
#include "factors/vecchia/walk.hpp"
#include "kernels/program.hpp"
#include "kernsel/gram.hpp"

namespace kernsel {

namespace {

using Numbers = std::vector<double>;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// What sets of one kind show, in the order of the sets; the notation is that of vecchia.hpp.
struct Shown {
  Numbers v;    // v_ii
  Numbers t;    // v_i'y, (count, outputs), by rows
  Numbers eta;  // H'v_i, (count, q), by rows
};

// Numbers of each point side by side, by rows, so that those of a set are gathered at once.
struct PointTable {
  Index width = 0;
  Numbers values;
  void resize(Index n, Index columns) {
    width = columns;
    values.assign(at(n * columns), 0.0);
  }
  double* row(Index i) { return values.data() + i * width; }
  const double* row(Index i) const { return values.data() + i * width; }
};

// A number that differs for different points, but for a chance of 2^-64.
std::uint64_t fingerprint_of(View<const double> X) {
  std::uint64_t hash = static_cast<std::uint64_t>(X.rows) * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(X.cols);
  for (Index i = 0; i < X.rows; ++i)
    for (Index j = 0; j < X.cols; ++j) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &X(i, j), sizeof(bits));
      hash = (hash ^ bits) * 0xff51afd7ed558ccdULL;
      hash ^= hash >> 32;
    }
  return hash;
}

double dot(Index count, const double* a, const double* b) {
  double sum = 0.0;
  for (Index i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

// Small symmetric matrices, (q, q), by columns; R is the triangle of the trend, H'PH = R'R.
Numbers inverse_of(const Numbers& R, Index q) {
  Numbers root(at(q * q), 0.0), out(at(q * q), 0.0);  // root = R^-1, upper
  for (Index c = 0; c < q; ++c)
    for (Index r = c; r >= 0; --r) {
      double sum = r == c ? 1.0 : 0.0;
      for (Index l = r + 1; l <= c; ++l) sum -= R[at(r + l * q)] * root[at(l + c * q)];
      root[at(r + c * q)] = sum / R[at(r + r * q)];
    }
  for (Index a = 0; a < q; ++a)
    for (Index b = 0; b < q; ++b)
      for (Index l = std::max(a, b); l < q; ++l) out[at(a + b * q)] += root[at(a + l * q)] * root[at(b + l * q)];
  return out;
}

// out <- A x for a symmetric (q, q) matrix.
void multiply(const Numbers& A, Index q, const double* x, double* out) {
  for (Index a = 0; a < q; ++a) {
    out[a] = 0.0;
    for (Index b = 0; b < q; ++b) out[a] += A[at(a + b * q)] * x[b];
  }
}

class Vecchia final : public VecchiaFactor {
 public:
  explicit Vecchia(VecchiaOptions options) : options_(std::move(options)) {}

  const std::vector<std::int32_t>& neighbours(bool left_out) const override { return left_out ? others_.of : before_.of; }
  const VecchiaOptions& options() const override { return options_; }
  void set_options(VecchiaOptions options) override {
    options_ = std::move(options);
    forget();
  }

  bool renew(const Kernel& k, View<const double> X, bool always) override {
    std::vector<Feature> features;
    if (knows(X) && !always && features_of(k, X, features).ok() && are_alike(features, features_)) return false;
    forget();
    return true;
  }

  Status show(const Kernel& k, const Problem& problem, const Request& request, bool, Fit& fit) override {
    return within_memory([&] { return show_all(k, problem, request, fit); });
  }

  Numbers trend_coefficients() const override { return beta_; }
  const Numbers& trend_triangle() const override { return R_; }

  Status pull(const Partials& partials, Gradient& out) override {
    return within_memory([&] { return pull_all(partials, out); });
  }

  Status pull_points(const Partials& partials, View<double> out) override {
    Numbers sums(at(n_ * X_.cols), 0.0);
    of_points_ = sums.data();
    const Status status = within_memory([&] {
      Gradient unused;
      return pull_all(partials, unused);
    });
    of_points_ = nullptr;
    for (Index i = 0; i < n_; ++i)
      for (Index k = 0; k < X_.cols; ++k) out(i, k) = partials.unit * sums[at(i * X_.cols + k)];
    return status;
  }

  Status information(const Partials& partials, Numbers& out) override {
    return within_memory([&] { return information_of(partials, out); });
  }

 private:
  void forget() {
    before_ = {};
    others_ = {};
    columns_ = -1;
  }

  // Whether the neighbours are those of these points.
  bool knows(View<const double> X) const { return X.cols == columns_ && fingerprint_of(X) == fingerprint_; }

  bool all_terms() const { return options_.terms.empty(); }

  Status find_sets(const Request& request) {
    const View<const double>& X = problem_.X;
    if (!knows(X)) {
      forget();
      const Status status = features_of(*k_, X, features_);
      if (!status.ok()) return status;
      columns_ = X.cols;
      fingerprint_ = fingerprint_of(X);
    }
    Status status;
    if (in_sample_ && (before_.empty() || (scatters_ && before_.count() < X.rows)))
      status = predecessors(X, features_, options_, scatters_, before_);
    if (status.ok() && request.left_out &&
        (others_.empty() || groups_.of != request.groups.of || jointly_ != request.densities ||
         (scatters_ && others_.count() < X.rows))) {
      groups_ = request.groups;
      jointly_ = request.densities;
      status = others(X, features_, options_, groups_, jointly_, scatters_, others_);
    }
    return status;
  }

  Status show_all(const Kernel& k, const Problem& problem, const Request& request, Fit& fit) {
    if (request.densities && problem.trend.cols > 0)
      return Status::invalid(
          "Vecchia's approximation has no joint density of groups with a trend; leave out points, or the trend");
    if (request.densities && (request.groups.alone() || request.variances || !all_terms()))
      return Status::invalid("Vecchia's approximation: joint densities are those of groups of all points");
    k_.emplace(k);
    problem_ = problem;
    n_ = problem.X.rows;
    m_ = problem.y.cols;
    q_ = problem.trend.cols;
    request_ = request;
    if (q_ > n_) return Status::invalid("trend: there are more columns than points");
    by_rows();
    noise_.assign(at(n_), 0.0);
    Status status = gram_noise(k, problem.X, vector(noise_.data(), n_));
    if (!status.ok()) return status;
    added_.assign(at(n_), 0.0);
    for (Index i = 0; i < n_ && problem.noise.rows > 0; ++i) added_[at(i)] = problem.noise(problem.noise.rows == 1 ? 0 : i, 0);
    for (Index i = 0; i < n_; ++i) noise_[at(i)] += added_[at(i)];
    in_sample_ = request.in_sample || request.coefficients || request.diagonal || q_ > 0;
    scatters_ = request.coefficients || request.diagonal || (request.left_out && q_ > 0 && all_terms());
    status = find_sets(request);
    if (!status.ok()) return status;
    table_.resize(n_, m_ + q_);
    for (Index i = 0; i < n_; ++i) {
      for (Index j = 0; j < m_; ++j) table_.row(i)[j] = problem.y(i, j);
      for (Index j = 0; j < q_; ++j) table_.row(i)[m_ + j] = problem.trend(i, j);
    }
    log_det_ = log_det_trend_ = 0.0;
    squares_.assign(at(m_), 0.0);
    beta_.assign(at(q_ * m_), 0.0);
    R_.assign(at(q_ * q_), 0.0);
    if (in_sample_) status = show_before(scatters_);
    if (status.ok() && request.left_out) status = show_others();
    if (!status.ok()) return status;
    give(fit);
    return {};
  }

  // The points by rows, copied if they are not.
  void by_rows() {
    const View<const double>& X = problem_.X;
    if (X.col_stride == 1) {
      X_ = X;
      return;
    }
    copied_.resize(at(X.rows * X.cols));
    for (Index i = 0; i < X.rows; ++i)
      for (Index j = 0; j < X.cols; ++j) copied_[at(i * X.cols + j)] = X(i, j);
    X_ = rows(static_cast<const double*>(copied_.data()), X.rows, X.cols);
  }

  void show_set(const Cell& cell, const std::int32_t* points, Index i, Shown& out) const {
    const Index count = cell.count();
    const double* v = cell.v();
    double* t = out.t.data() + i * m_;
    double* eta = out.eta.data() + i * q_;
    out.v[at(i)] = v[count - 1];
    for (Index r = 0; r < count; ++r) {
      const double* row = table_.row(points[r]);
      for (Index j = 0; j < m_; ++j) t[j] += v[r] * row[j];
      for (Index j = 0; j < q_; ++j) eta[j] += v[r] * row[m_ + j];
    }
  }

  void clear(Shown& out, Index count) const {
    out.v.assign(at(count), 0.0);
    out.t.assign(at(count * m_), 0.0);
    out.eta.assign(at(count * q_), 0.0);
  }

  // t_i - eta_i'beta for output j.
  double error(const Shown& shown, Index i, Index j) const {
    double sum = shown.t[at(i * m_ + j)];
    for (Index l = 0; l < q_; ++l) sum -= shown.eta[at(i * q_ + l)] * beta_[at(l + j * q_)];
    return sum;
  }

  // The likelihood's sets, the trend from them and, with `scatters`, c and the diagonal of P..
  Status show_before(bool scatters) {
    const Index count = before_.count(), most = before_.neighbours + 1;
    clear(shown_before_, count);
    Numbers kept(scatters ? at(std::min(walk_chunk, count) * most) : 0);
    if (scatters) {
      c_.assign(at(n_ * m_), 0.0);
      U_.assign(at(n_ * q_), 0.0);
      precision_.assign(at(n_), 0.0);
    }
    const Status status = walk(
        *k_, {X_, added_.data()}, before_, false,
        [&](const Cell& cell, const std::int32_t* points, Index i, Index) -> Status {
          show_set(cell, points, i, shown_before_);
          if (scatters) std::copy_n(cell.v(), cell.count(), kept.data() + i % walk_chunk * most);
          return {};
        },
        [&](Index begin, Index end, Index) {
          for (Index i = begin; i < end && scatters; ++i) {
            const double* v = kept.data() + i % walk_chunk * most;
            const Index size = before_.size(i);
            for (Index r = 0; r < size; ++r) {
              const Index p = r + 1 < size ? before_.neighbours_of(i)[r] : before_.last[at(i)];
              for (Index j = 0; j < m_; ++j) c_[at(p + j * n_)] += v[r] * shown_before_.t[at(i * m_ + j)];
              for (Index l = 0; l < q_; ++l) U_[at(p * q_ + l)] += v[r] * shown_before_.eta[at(i * q_ + l)];
              precision_[at(p)] += v[r] * v[r];
            }
          }
        });
    if (!status.ok()) return status;
    for (const double v : shown_before_.v) log_det_ -= 2.0 * std::log(v);
    const Status trend = q_ > 0 ? estimate_trend() : Status{};
    if (!trend.ok()) return trend;
    for (Index i = 0; i < count; ++i)
      for (Index j = 0; j < m_; ++j) squares_[at(j)] += std::pow(error(shown_before_, i, j), 2);
    return scatters ? without_trend() : Status{};
  }

  // beta and R from the sets: the least squares of t against eta.
  Status estimate_trend() {
    const Index count = before_.count();
    Numbers E(at(count * q_)), H(at(n_ * q_)), unused;
    for (Index i = 0; i < count; ++i)
      for (Index l = 0; l < q_; ++l) E[at(i + l * count)] = shown_before_.eta[at(i * q_ + l)];
    for (Index i = 0; i < n_; ++i)
      for (Index l = 0; l < q_; ++l) H[at(i + l * n_)] = problem_.trend(i, l);
    Status status = orthonormalize(columns(H.data(), n_, q_), unused);
    if (status.ok()) status = orthonormalize(columns(E.data(), count, q_), R_);
    if (!status.ok()) return status;
    for (Index l = 0; l < q_; ++l) log_det_trend_ += 2.0 * std::log(R_[at(l * (q_ + 1))] / unused[at(l * (q_ + 1))]);
    inverse_ = inverse_of(R_, q_);
    for (Index j = 0; j < m_; ++j)
      for (Index l = q_ - 1; l >= 0; --l) {
        double sum = 0.0;
        for (Index i = 0; i < count; ++i) sum += E[at(i + l * count)] * shown_before_.t[at(i * m_ + j)];
        for (Index h = l + 1; h < q_; ++h) sum -= R_[at(l + h * q_)] * beta_[at(h + j * q_)];
        beta_[at(l + j * q_)] = sum / R_[at(l * (q_ + 1))];
      }
    return {};
  }

  // c <- P (y - H beta), and the diagonal of P. = P - U M^-1 U'.
  Status without_trend() {
    Numbers part(at(q_));
    for (Index i = 0; i < n_ && q_ > 0; ++i) {
      for (Index j = 0; j < m_; ++j) c_[at(i + j * n_)] -= dot(q_, U_.data() + i * q_, beta_.data() + j * q_);
      multiply(inverse_, q_, U_.data() + i * q_, part.data());
      const double all = precision_[at(i)];
      precision_[at(i)] -= dot(q_, part.data(), U_.data() + i * q_);
      if (!(precision_[at(i)] > 1e-10 * all))
        return Status::invalid("trend: a point has leverage one: without it the trend is not determined");
    }
    return {};
  }

  Status show_others() {
    const Index count = others_.count();
    clear(shown_others_, count);
    Status status = walk(
        *k_, {X_, added_.data()}, others_, false,
        [&](const Cell& cell, const std::int32_t* points, Index i, Index) -> Status {
          show_set(cell, points, i, shown_others_);
          return {};
        },
        [](Index, Index, Index) {});
    if (!status.ok()) return status;
    left_out_ = {};
    if (request_.densities) return show_densities();
    left_out_.residual.assign(at(count * m_), 0.0);
    left_out_.variance.assign(at(count), 0.0);
    left_out_.density.clear();
    Numbers a(at(q_));
    for (Index i = 0; i < count; ++i) {
      const double* eta = shown_others_.eta.data() + i * q_;
      const double v = shown_others_.v[at(i)], share = share_of_trend(i, a);
      const double precision = share != 0.0 ? precision_[at(i)] : 1.0;
      left_out_.variance[at(i)] = (1.0 + dot(q_, a.data(), eta) + share * share / precision) / (v * v);
      for (Index j = 0; j < m_; ++j) {
        const double correction = share != 0.0 ? share * c_[at(i + j * n_)] / precision : 0.0;
        left_out_.residual[at(i + j * count)] = (error(shown_others_, i, j) + correction) / v;
      }
    }
    return {};
  }

  // The density of a group is a product of those of its points, each given others and the points before it in the group.
  Status show_densities() {
    constexpr double log_two_pi = 1.8378770664093453;
    left_out_.density.assign(at(groups_.count), 0.0);
    for (Index i = 0; i < others_.count(); ++i)
      for (Index j = 0; j < m_; ++j) {
        const double t = shown_others_.t[at(i * m_ + j)];
        left_out_.density[at(groups_.of[at(i)])] += std::log(shown_others_.v[at(i)]) - 0.5 * (t * t + log_two_pi);
      }
    return {};
  }

  // a <- M^-1 eta_i of set i of the others. Returns U_i a, by which the point's own target affects the trend of its prediction:
  // zero if the terms are some of the points, where one of many has next to no effect.
  double share_of_trend(Index i, Numbers& a) const {
    if (q_ == 0) return 0.0;
    multiply(inverse_, q_, shown_others_.eta.data() + i * q_, a.data());
    return scatters_ ? dot(q_, a.data(), U_.data() + i * q_) : 0.0;
  }

  // What a criterion sees: the points of the terms, in the order of the sets.
  void give(Fit& fit) {
    const bool some = !all_terms() && !scatters_;
    fit = {};
    if (some) {
      const auto count = static_cast<Index>(options_.terms.size());
      of_terms_.assign(at(count * (m_ + 2)), 0.0);
      double *y = of_terms_.data(), *noise = y + count * m_, *weights = noise + count;
      for (Index i = 0; i < count; ++i) {
        const Index p = options_.terms[at(i)];
        for (Index j = 0; j < m_; ++j) y[i + j * count] = problem_.y(p, j);
        noise[i] = noise_[at(p)];
        weights[i] = problem_.weights ? problem_.weights[p] : 1.0;
      }
      fit.y = columns(static_cast<const double*>(y), count, m_);
      fit.noise = noise;
      fit.weights = problem_.weights ? weights : nullptr;
    } else {
      fit.y = problem_.y;
      fit.noise = noise_.data();
      fit.weights = problem_.weights;
    }
    fit.squares = squares_.data();
    if (scatters_) {
      fit.c = columns(static_cast<const double*>(c_.data()), n_, m_);
      fit.precision = precision_.data();
    }
    fit.trend = q_;
    fit.log_det = in_sample_ ? log_det_ : std::nan("");
    fit.log_det_trend = log_det_trend_;
    if (request_.left_out) fit.left_out = &left_out_;
  }

  // Derivatives of a criterion with respect to what the likelihood's sets determine. The formulas of this section are explained
  // in HACKING.
  struct Adjoint {
    Numbers c, precision;  // (n, outputs) by columns, and (n); or empty
    Numbers U;             // (n, q) by rows, or empty
    Numbers M, beta;       // (q, q), symmetric; (q, outputs)
  };

  Status pull_all(const Partials& partials, Gradient& out) {
    out.theta.assign(at(k_->parameters()), 0.0);
    out.noise.assign(at(n_), 0.0);
    Adjoint adjoint{partials.c, partials.precision, {}, Numbers(at(q_ * q_), 0.0), Numbers(at(q_ * m_), 0.0)};
    // Each row of the table: y - H beta, (outputs), and H, (q); and for the likelihood's sets G_c + H mu, (outputs), G_U, (q),
    // and g, the derivatives with respect to c, U and the diagonal of P..
    table_.resize(n_, 2 * m_ + 2 * q_ + 1);
    for (Index i = 0; i < n_; ++i) {
      double* row = table_.row(i);
      for (Index l = 0; l < q_; ++l) row[m_ + l] = problem_.trend(i, l);
      for (Index j = 0; j < m_; ++j) row[j] = problem_.y(i, j) - dot(q_, row + m_, beta_.data() + j * q_);
    }
    Status status;
    if (!partials.left_out.density.empty()) status = pull_densities(partials.left_out.density, out);
    const bool with_left_out = !partials.left_out.residual.empty() || !partials.left_out.variance.empty();
    if (status.ok() && with_left_out) status = pull_others(partials.left_out, adjoint, out);
    const bool with_trend = q_ > 0 && (with_left_out || partials.log_det_trend != 0.0);
    if (status.ok() && in_sample_ &&
        (with_trend || partials.log_det != 0.0 || !partials.squares.empty() || !adjoint.c.empty() ||
         !adjoint.precision.empty()))
      status = pull_before(partials, adjoint, out);
    for (std::size_t i = 0; i < partials.noise.size(); ++i) out.noise[i] += partials.noise[i];
    if (status.ok() && !partials.noise.empty())  // white parts of the kernel are noise, too
      status = pullback_noise(*k_, problem_.X, vector(partials.noise.data(), n_), out.theta.data(),
                              of_points_ ? rows(of_points_, n_, X_.cols) : View<double>{});
    if (partials.unit == 1.0) return status;
    for (double& entry : out.theta) entry *= partials.unit;
    for (double& entry : out.noise) entry *= partials.unit;
    return status;
  }

  Status pull_densities(const Numbers& given, Gradient& out) {
    return pull_sets(
        others_,
        [&](const Cell& cell, const std::int32_t* points, Index i, double* q) {
          const double slope = given[at(groups_.of[at(i)])];
          for (Index r = 0; r < cell.count(); ++r)
            q[r] = -slope * dot(m_, shown_others_.t.data() + i * m_, table_.row(points[r]));
          q[cell.count() - 1] += slope * static_cast<double>(m_) / shown_others_.v[at(i)];
        },
        out);
  }

  Status pull_others(const LeftOut& given, Adjoint& adjoint, Gradient& out) {
    const Index count = others_.count();
    const bool corrects = scatters_ && q_ > 0;
    if (corrects) {
      adjoint.c.resize(at(n_ * m_), 0.0);
      adjoint.precision.resize(at(n_), 0.0);
      adjoint.U.assign(at(n_ * q_), 0.0);
    }
    Numbers of_error(at(count * m_), 0.0), of_trend(at(count * q_), 0.0), of_v(at(count));
    Numbers a(at(q_)), inverse_U(at(q_), 0.0);
    for (Index i = 0; i < count; ++i) {
      const double v = shown_others_.v[at(i)], share = share_of_trend(i, a);
      const double of_variance = given.variance.empty() ? 0.0 : given.variance[at(i)];
      const double sigma = of_variance / (v * v);
      const double precision = corrects ? precision_[at(i)] : 1.0, w = share / precision;
      double in_residual = 0.0, f = 0.0;
      for (Index j = 0; j < m_ && !given.residual.empty(); ++j) {
        const double slope = given.residual[at(i + j * count)], rho = slope / v;
        in_residual += slope * left_out_.residual[at(i + j * count)];
        of_error[at(i * m_ + j)] = rho;
        for (Index l = 0; l < q_; ++l) adjoint.beta[at(l + j * q_)] -= rho * shown_others_.eta[at(i * q_ + l)];
        if (!corrects) continue;
        f += rho * c_[at(i + j * n_)] / precision;
        adjoint.c[at(i + j * n_)] += w * rho;
      }
      of_v[at(i)] = -(in_residual + 2.0 * of_variance * left_out_.variance[at(i)]) / v;
      const double of_share = corrects ? f + 2.0 * sigma * w : 0.0;
      if (corrects) {
        adjoint.precision[at(i)] -= w * f + sigma * w * w;
        multiply(inverse_, q_, U_.data() + i * q_, inverse_U.data());
      }
      for (Index l = 0; l < q_; ++l) {
        of_trend[at(i * q_ + l)] = 2.0 * sigma * a[at(l)] + of_share * inverse_U[at(l)];
        if (corrects) adjoint.U[at(i * q_ + l)] += of_share * a[at(l)];
        for (Index h = 0; h < q_; ++h)
          adjoint.M[at(l + h * q_)] -=
              sigma * a[at(l)] * a[at(h)] + 0.5 * of_share * (a[at(l)] * inverse_U[at(h)] + inverse_U[at(l)] * a[at(h)]);
      }
    }
    return pull_sets(
        others_,
        [&](const Cell& cell, const std::int32_t* points, Index i, double* q) {
          for (Index r = 0; r < cell.count(); ++r) {
            const double* row = table_.row(points[r]);
            q[r] = dot(m_, of_error.data() + i * m_, row) + dot(q_, of_trend.data() + i * q_, row + m_);
          }
          q[cell.count() - 1] += of_v[at(i)];
        },
        out);
  }

  Status pull_before(const Partials& partials, Adjoint& adjoint, Gradient& out) {
    const bool of_c = !adjoint.c.empty(), of_precision = !adjoint.precision.empty(), of_U = !adjoint.U.empty();
    Numbers part(at(q_));
    for (Index i = 0; i < n_ && q_ > 0; ++i) {
      double* to = table_.row(i) + 2 * m_ + q_;
      for (Index l = 0; l < q_ && of_U; ++l) to[l] = adjoint.U[at(i * q_ + l)];
      for (Index j = 0; j < m_ && of_c; ++j)
        for (Index l = 0; l < q_; ++l) adjoint.beta[at(l + j * q_)] -= U_[at(i * q_ + l)] * adjoint.c[at(i + j * n_)];
      if (!of_precision) continue;
      multiply(inverse_, q_, U_.data() + i * q_, part.data());
      for (Index l = 0; l < q_; ++l) {
        to[l] -= 2.0 * adjoint.precision[at(i)] * part[at(l)];
        for (Index h = 0; h < q_; ++h) adjoint.M[at(l + h * q_)] += adjoint.precision[at(i)] * part[at(l)] * part[at(h)];
      }
    }
    for (std::size_t l = 0; l < adjoint.M.size(); ++l) adjoint.M[l] += partials.log_det_trend * inverse_[l];
    Numbers mu(at(q_ * m_));
    for (Index j = 0; j < m_ && q_ > 0; ++j) multiply(inverse_, q_, adjoint.beta.data() + j * q_, mu.data() + j * q_);
    for (Index i = 0; i < n_; ++i) {
      double* row = table_.row(i);
      for (Index j = 0; j < m_; ++j)
        row[m_ + q_ + j] = (of_c ? adjoint.c[at(i + j * n_)] : 0.0) + dot(q_, row + m_, mu.data() + j * q_);
      row[2 * m_ + 2 * q_] = of_precision ? adjoint.precision[at(i)] : 0.0;
    }
    return pull_sets(
        before_,
        [&](const Cell& cell, const std::int32_t* points, Index i, double* q) {
          const Index size = cell.count();
          const double* v = cell.v();
          const double* eta = shown_before_.eta.data() + i * q_;
          // The errors; v'(G_c + H mu), and with it twice the errors' share of y'c; G_U'v + 2 G_M eta.
          Numbers room(at(2 * m_ + q_), 0.0);
          double *errors = room.data(), *along = errors + m_, *of_trend = along + m_;
          if (q_ > 0) multiply(adjoint.M, q_, eta, of_trend);
          for (Index l = 0; l < q_; ++l) of_trend[l] *= 2.0;
          for (Index j = 0; j < m_; ++j) {
            errors[j] = error(shown_before_, i, j);
            along[j] = partials.squares.empty() ? 0.0 : 2.0 * partials.squares[at(j)] * errors[j];
          }
          for (Index r = 0; r < size; ++r) {
            const double* row = table_.row(points[r]);
            for (Index j = 0; j < m_; ++j) along[j] += v[r] * row[m_ + q_ + j];
            for (Index l = 0; l < q_; ++l) of_trend[l] += v[r] * row[2 * m_ + q_ + l];
          }
          for (Index r = 0; r < size; ++r) {
            const double* row = table_.row(points[r]);
            q[r] = dot(m_, along, row) + dot(q_, of_trend, row + m_) + dot(m_, errors, row + m_ + q_) +
                   dot(q_, eta, row + 2 * m_ + q_) + 2.0 * row[2 * m_ + 2 * q_] * v[r];
          }
          q[size - 1] -= 2.0 * partials.log_det / v[size - 1];
        },
        out);
  }

  // Adds the gradient of sets, given their derivatives with respect to v: fill(cell, points, i, q).
  template <class Fill>
  Status pull_sets(const Sets& sets, const Fill& fill, Gradient& out) {
    const Index parameters = k_->parameters(), most = sets.neighbours + 1, d = of_points_ ? X_.cols : 0;
    Numbers slopes(at(walk_batches * parameters), 0.0), noise(at(std::min(walk_chunk, sets.count()) * most));
    Numbers in_points(noise.size() * at(d));
    return walk(
        *k_, {X_, added_.data()}, sets, true,
        [&](Cell& cell, const std::int32_t* points, Index i, Index batch) -> Status {
          fill(cell, points, i, cell.q());
          const Status status = cell.pull(slopes.data() + batch * parameters, noise.data() + i % walk_chunk * most);
          return status.ok() && of_points_ ? cell.pull_points(in_points.data() + i % walk_chunk * most * d) : status;
        },
        [&](Index begin, Index end, Index batches) {
          for (Index batch = 0; batch < batches; ++batch)
            for (Index p = 0; p < parameters; ++p) out.theta[at(p)] += slopes[at(batch * parameters + p)];
          std::fill(slopes.begin(), slopes.end(), 0.0);
          for (Index i = begin; i < end; ++i) {
            const double* of_noise = noise.data() + i % walk_chunk * most;
            const Index size = sets.size(i);
            for (Index r = 0; r + 1 < size; ++r) out.noise[at(sets.neighbours_of(i)[r])] += of_noise[r];
            out.noise[at(sets.last[at(i)])] += of_noise[size - 1];
            for (Index r = 0; r < size && of_points_; ++r) {
              const Index point = r + 1 < size ? sets.neighbours_of(i)[r] : sets.last[at(i)];
              const double* from = in_points.data() + (i % walk_chunk * most + r) * d;
              for (Index k = 0; k < d; ++k) of_points_[point * d + k] += from[k];
            }
          }
        },
        of_points_ != nullptr);
  }

  Status information_of(const Partials& partials, Numbers& out) {
    const Sets& sets = request_.in_sample || others_.empty() ? before_ : others_;
    const Index parameters = k_->parameters(), p = parameters + 1, stride = round_up(p, LowerTiles<double>::padding);
    const View<const double>& unknown = problem_.unknown_noise.rows > 0 ? problem_.unknown_noise : problem_.noise;
    const Index room = stride * stride;
    Memory memory;  // the sums of each batch, aligned
    Status status = memory.reserve(at(std::min(walk_batches, sets.count()) * room) * sizeof(double));
    if (!status.ok()) return status;
    double* sums = static_cast<double*>(memory.data());
    std::fill_n(sums, std::min(walk_batches, sets.count()) * room, 0.0);
    Numbers slopes(at(walk_batches * p), 0.0), total(at(room), 0.0), slope(at(p), 0.0);
    status = walk(
        *k_, {X_, added_.data()}, sets, true,
        [&](Cell& cell, const std::int32_t* points, Index, Index batch) -> Status {
          double* noise = cell.q();  // free, since nothing is pulled back
          for (Index r = 0; r < cell.count() && unknown.rows > 0; ++r) noise[r] = unknown(unknown.rows == 1 ? 0 : points[r], 0);
          return cell.add_information(unknown.rows > 0 ? noise : nullptr, sums + batch * room, stride,
                                      slopes.data() + batch * p);
        },
        [&](Index, Index, Index batches) {
          for (Index batch = 0; batch < batches; ++batch) {
            for (Index a = 0; a < room; ++a) total[at(a)] += sums[batch * room + a];
            for (Index a = 0; a < p; ++a) slope[at(a)] += slopes[at(batch * p + a)];
          }
          std::fill_n(sums, batches * room, 0.0);
          std::fill(slopes.begin(), slopes.end(), 0.0);
        });
    if (!status.ok()) return status;
    const double outputs = static_cast<double>(m_), freedom = std::max(partials.freedom, 1.0);
    out.assign(at(p * p), 0.0);
    for (Index b = 0; b < p; ++b)
      for (Index a = 0; a < p; ++a) {
        double value = total[at(std::max(a, b) + std::min(a, b) * stride)];
        if (partials.profiled != Profiled::no) value -= 0.5 * slope[at(a)] * slope[at(b)] / freedom;
        out[at(a + b * p)] = outputs * value;
      }
    return {};
  }

  VecchiaOptions options_;
  Sets before_, others_;           // neighbours among points before each point, and among all others
  std::vector<Feature> features_;  // in which neighbours were chosen
  Index columns_ = -1;             // of the points whose neighbours these are
  std::uint64_t fingerprint_ = 0;  // of the points
  Groups groups_;
  bool jointly_ = false;  // whether others_ are for the joint densities of groups

  std::optional<Kernel> k_;
  Problem problem_{};
  Request request_;
  bool in_sample_ = true,
       scatters_ = false;  // whether the likelihood's sets are needed, and c, U and the diagonal of P. as well
  Index n_ = 0, m_ = 0, q_ = 0;
  View<const double> X_;
  Numbers copied_;
  Numbers added_, noise_;        // the noise of the problem, and that with the white parts of the kernel
  double* of_points_ = nullptr;  // (n, d), by rows: where pull_sets() adds derivatives in the points
  PointTable table_;
  Shown shown_before_, shown_others_;
  Numbers beta_, R_, inverse_;  // the trend's coefficients, (q, outputs); M = R'R; M^-1
  Numbers squares_, c_, U_, precision_, of_terms_;
  double log_det_ = 0.0, log_det_trend_ = 0.0;
  LeftOut left_out_;
};

}  // namespace

std::unique_ptr<VecchiaFactor> vecchia_factor(VecchiaOptions options) { return std::make_unique<Vecchia>(std::move(options)); }

}  // namespace kernsel
