#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "factors/trend.hpp"
#include "isa/table.hpp"
#include "kernsel/cholesky.hpp"
#include "kernsel/gram.hpp"
#include "kernsel/jitter.hpp"
#include "kernsel/posterior.hpp"

namespace kernsel {

namespace {

using Numbers = std::vector<double>;

Numbers by_rows(View<const double> from) {
  Numbers copy;
  copy.reserve(static_cast<std::size_t>(from.rows * from.cols));
  for (Index i = 0; i < from.rows; ++i)
    for (Index j = 0; j < from.cols; ++j) copy.push_back(from(i, j));
  return copy;
}

bool has_shape(View<double> view, Index n, Index m) { return view.rows == n && view.cols == m; }

}  // namespace

struct DensePosterior::Content {
  explicit Content(Kernel given) : kernel(std::move(given)) {}

  Kernel kernel;
  Index n = 0, d = 0, m = 0, q = 0;
  Numbers X, y, noise;  // (n, d) and (n, m), by rows; (n)
  Basis basis;
  Numbers H;     // (n, q), by columns
  Numbers c;     // (n, m), by rows
  Numbers beta;  // (q, m), by rows
  Numbers R;     // of singular matrices, (n, rank), by rows
  Index rank = 0;
  bool knows_variances = false, has_targets = false;
  mutable std::shared_ptr<LowerTiles<double>> own;
  mutable std::shared_ptr<const LowerTiles<double>> shared;  // own, or another's
  mutable Trend trend;
  mutable std::mutex making;  // of the factor, when it is first needed

  View<const double> points() const { return rows(X.data(), n, d); }
  View<const double> coefficients() const { return rows(c.data(), n, m); }

  void take(const Conditioning& given) {
    n = given.X.rows;
    d = given.X.cols;
    m = given.y.cols;
    X = by_rows(given.X);
    has_targets = given.y.rows == n;
    y = by_rows(given.y);
    noise.assign(static_cast<std::size_t>(n), 0.0);
    for (Index i = 0; i < n && given.noise.rows > 0; ++i)
      noise[static_cast<std::size_t>(i)] = given.noise(given.noise.rows == 1 ? 0 : i, 0);
    basis = given.trend;
    q = basis.count(d);
  }

  Status write_basis() {
    H.assign(static_cast<std::size_t>(n * q), 0.0);
    return basis.write(points(), kernsel::columns(H.data(), n, q));
  }

  // The factor, and what the trend makes of it.
  Status factorize(View<const double> known = {}) const {
    auto made = std::make_shared<LowerTiles<double>>();
    Status status;
    if (known.rows > 0) {
      status = made->resize(n);
      if (status.ok()) status = assign_lower<double>(ArraySource<double>(known), *made);
    } else {
      status = kernsel::factorize<double>(kernel, points(), vector(noise.data(), n), *made);
    }
    if (status.ok()) status = make_trend(*made, kernsel::columns(H.data(), n, q), padded_size(*made), trend);
    if (!status.ok()) return status;
    own = std::move(made);
    shared = own;
    return {};
  }
  Status require_factor() const {
    const std::lock_guard<std::mutex> lock(making);
    if (shared || rank > 0) return {};
    if (!knows_variances) return Status::invalid("this model has coefficients only: it knows no variances");
    return factorize();
  }

  // Coefficients by generalized least squares, and again for what these leave: the first are off by rounding of y's own size.
  Status solve() {
    Numbers rest = y;
    beta.assign(static_cast<std::size_t>(q * m), 0.0);
    for (int pass = 0; pass < 2 && q > 0; ++pass) {
      const Numbers part = kernsel::coefficients(trend, rows<const double>(rest.data(), n, m));
      for (Index j = 0; j < q; ++j)
        for (Index k = 0; k < m; ++k) beta[static_cast<std::size_t>(j * m + k)] += part[static_cast<std::size_t>(j + k * q)];
      for (Index i = 0; i < n; ++i)
        for (Index k = 0; k < m; ++k) {
          double fitted = 0.0;
          for (Index j = 0; j < q; ++j)
            fitted += H[static_cast<std::size_t>(i + j * n)] * beta[static_cast<std::size_t>(j * m + k)];
          rest[static_cast<std::size_t>(i * m + k)] = y[static_cast<std::size_t>(i * m + k)] - fitted;
        }
    }
    c = rest;
    const Status status = kernsel::solve<double>(*shared, rows(c.data(), n, m));
    for (Index j = 0; j < q && status.ok(); ++j) {
      const double* v = trend.V.column(j);
      for (Index k = 0; k < m; ++k) {
        double dot = 0.0;
        for (Index i = 0; i < n; ++i) dot += v[i] * rest[static_cast<std::size_t>(i * m + k)];
        for (Index i = 0; i < n; ++i) c[static_cast<std::size_t>(i * m + k)] -= dot * v[i];
      }
    }
    return status;
  }

  // Calls f(first, count, cross) for blocks of points, cross = k(X, Z) of them, (n, count), with room up to `stride`.
  template <class F>
  Status in_blocks(View<const double> Z, Index most, const F& f) const {
    const Index blocks = (Z.rows + most - 1) / std::max<Index>(most, 1);
    const Index size = blocks > 0 ? (Z.rows + blocks - 1) / blocks : 0;  // all alike: a narrow last one would read L for few
    Memory memory;
    Status status = memory.reserve(static_cast<std::size_t>(std::max<Index>(n * size, 1)) * sizeof(double));
    for (Index begin = 0; status.ok() && begin < Z.rows; begin += size) {
      const Index count = std::min(size, Z.rows - begin);
      const View<double> cross = rows(static_cast<double*>(memory.data()), n, count);
      status = cross_gram<double>(kernel, points(), Z.block(begin, 0, count, d), cross);
      if (status.ok()) status = f(begin, count, cross);
    }
    return status;
  }

  // R^-T r for the points of a block, (q, count) by rows: the coefficients of the trend add its squares to the variance.
  Status of_trend(View<const double> Z, View<const double> cross, Numbers& out) const {
    const Index count = Z.rows;
    out.assign(static_cast<std::size_t>(q * count), 0.0);
    if (q == 0) return {};
    Numbers h(static_cast<std::size_t>(count * q));
    const Status status = basis.write(Z, rows(h.data(), count, q));
    if (!status.ok()) return status;
    for (Index j = 0; j < q; ++j) {  // V'k(X, Z)
      const double* v = trend.V.column(j);
      double* sums = out.data() + j * count;
      for (Index i = 0; i < n; ++i)
        for (Index z = 0; z < count; ++z) sums[z] += v[i] * cross(i, z);
    }
    for (Index z = 0; z < count; ++z) {
      double* own_h = h.data() + z * q;
      for (Index j = 0; j < q; ++j) {
        for (Index l = 0; l < j; ++l) own_h[j] -= trend.R[static_cast<std::size_t>(l + j * q)] * own_h[l];
        own_h[j] /= trend.R[static_cast<std::size_t>(j + j * q)];
      }
      for (Index j = 0; j < q; ++j) {
        double& entry = out[static_cast<std::size_t>(j * count + z)];
        entry = own_h[j] - entry;
      }
    }
    return {};
  }

  // b'K~^-1 b of each column of a block, which may be overwritten.
  Status explained(View<double> cross, View<double> out) const {
    if (rank == 0) return inverse_quadratic<double>(*shared, cross, out);
    Numbers sums(static_cast<std::size_t>(cross.cols));
    for (Index z = 0; z < cross.cols; ++z) out(z, 0) = 0.0;
    for (Index r = 0; r < rank; ++r) {
      std::fill(sums.begin(), sums.end(), 0.0);
      for (Index i = 0; i < n; ++i)
        for (Index z = 0; z < cross.cols; ++z)
          sums[static_cast<std::size_t>(z)] += R[static_cast<std::size_t>(i * rank + r)] * cross(i, z);
      for (Index z = 0; z < cross.cols; ++z) out(z, 0) += sums[static_cast<std::size_t>(z)] * sums[static_cast<std::size_t>(z)];
    }
    return {};
  }

  // P.ii, none of them negative.
  Status precision(Numbers& out) const {
    Status status = require_factor();
    if (status.ok() && rank > 0) status = Status::invalid("leave_one_out: this is no fit by least squares");
    out.assign(static_cast<std::size_t>(n), 0.0);
    if (status.ok()) status = inverse_diagonal<double>(*shared, vector(out.data(), n));
    return status;
  }
  double without_trend(double whole, Index i) const {
    for (Index j = 0; j < q; ++j) whole -= trend.V(i, j) * trend.V(i, j);
    return std::max(whole, 0.0);
  }
  Status total_noise(Numbers& out) const {
    out.assign(static_cast<std::size_t>(n), 0.0);
    const Status status = gram_noise(kernel, points(), vector(out.data(), n));
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += noise[i];
    return status;
  }
};

DensePosterior::DensePosterior() : content_(std::make_unique<Content>(constant(1.0))) {}
DensePosterior::~DensePosterior() = default;
DensePosterior::DensePosterior(DensePosterior&&) noexcept = default;
DensePosterior& DensePosterior::operator=(DensePosterior&&) noexcept = default;

Status DensePosterior::condition(const Conditioning& given) {
  auto made = std::make_unique<Content>(given.kernel);
  if (given.X.rows == 0 || given.y.rows != given.X.rows || given.y.cols == 0)
    return Status::invalid("condition: y must have one row for each point");
  if (given.noise.rows > 1 && given.noise.rows != given.X.rows)
    return Status::invalid("condition: give one noise variance, or one for each point");
  made->take(given);
  made->knows_variances = true;
  Status status = made->write_basis();
  if (status.ok()) status = made->factorize();
  if (status.ok()) status = made->solve();
  if (status.ok()) content_ = std::move(made);
  return status;
}

Status DensePosterior::assume(const Conditioning& given, View<const double> C, View<const double> beta, bool can_factorize,
                              View<const double> L) {
  auto made = std::make_unique<Content>(given.kernel);
  made->take(given);
  made->m = C.cols;
  if (C.rows != given.X.rows || beta.rows != made->q || (made->q > 0 && beta.cols != C.cols) ||
      (L.rows > 0 && (L.rows != made->n || L.cols != made->n)))
    return Status::invalid("posterior: the shapes of its arrays do not fit to each other");
  made->c = by_rows(C);
  made->beta = by_rows(beta);
  made->knows_variances = can_factorize;
  Status status = made->write_basis();
  if (status.ok() && L.rows > 0) status = made->factorize(L);
  if (status.ok()) content_ = std::move(made);
  return status;
}

Status DensePosterior::assume_factor(const Kernel& k, View<const double> X, View<const double> c,
                                     std::shared_ptr<const LowerTiles<double>> L) {
  const Status status = assume({k, X, {}, {}, {}}, c, {}, true);
  if (!status.ok()) return status;
  if (L->size() != X.rows) return Status::invalid("posterior: the shapes of its arrays do not fit to each other");
  content_->shared = std::move(L);
  return {};
}

Status DensePosterior::assume_root(const Kernel& k, View<const double> X, View<const double> c, View<const double> R) {
  if (R.rows != X.rows) return Status::invalid("posterior: the shapes of its arrays do not fit to each other");
  const Status status = assume({k, X, {}, {}, {}}, c, {}, true);
  if (!status.ok()) return status;
  content_->R = by_rows(R);
  content_->rank = R.cols;
  return {};
}

Index DensePosterior::points() const { return content_->n; }
Index DensePosterior::columns() const { return content_->d; }
Index DensePosterior::outputs() const { return content_->m; }
const Kernel& DensePosterior::kernel() const { return content_->kernel; }
bool DensePosterior::has_variances() const { return content_->knows_variances; }
Status DensePosterior::set_kernel(const Kernel& k) {
  content_->kernel = k;
  return {};
}
View<const double> DensePosterior::X() const { return content_->points(); }
View<const double> DensePosterior::y() const { return rows<const double>(content_->y.data(), content_->n, content_->m); }
bool DensePosterior::has_targets() const { return content_->has_targets; }
View<const double> DensePosterior::noise() const { return vector<const double>(content_->noise.data(), content_->n); }
View<const double> DensePosterior::basis() const {
  return kernsel::columns<const double>(content_->H.data(), content_->n, content_->q);
}
View<const double> DensePosterior::coefficients() const { return content_->coefficients(); }
View<const double> DensePosterior::trend() const { return rows<const double>(content_->beta.data(), content_->q, content_->m); }
const Basis& DensePosterior::trend_basis() const { return content_->basis; }
double DensePosterior::log_det() const {
  return content_->require_factor().ok() && content_->shared ? log_determinant(*content_->shared) : std::nan("");
}
double DensePosterior::log_det_trend() const {
  return content_->require_factor().ok() ? content_->trend.log_det : std::nan("");
}
Status DensePosterior::factor(const LowerTiles<double>*& L) const {
  const Status status = content_->require_factor();
  L = content_->shared.get();
  return status;
}

Status DensePosterior::mean(View<const double> Z, View<double> out) const {
  const Content& own = *content_;
  if (Z.cols != own.d) return Status::invalid("Z: expected as many columns as the model has");
  if (!has_shape(out, Z.rows, own.m))
    return Status::invalid("mean: expected a row for each point and a column for each output");
  Status status = multiply<double>(own.kernel, Z, own.points(), own.coefficients(), out);
  if (!status.ok() || own.q == 0) return status;
  Numbers h(static_cast<std::size_t>(Z.rows * own.q));
  status = own.basis.write(Z, rows(h.data(), Z.rows, own.q));
  for (Index i = 0; i < Z.rows && status.ok(); ++i)
    for (Index k = 0; k < own.m; ++k)
      for (Index j = 0; j < own.q; ++j)
        out(i, k) += h[static_cast<std::size_t>(i * own.q + j)] * own.beta[static_cast<std::size_t>(j * own.m + k)];
  return status;
}

Status DensePosterior::variance(View<const double> Z, View<double> out) const {
  const Content& own = *content_;
  if (Z.cols != own.d) return Status::invalid("Z: expected as many columns as the model has");
  if (!has_shape(out, Z.rows, 1)) return Status::invalid("variance: expected one number for each point");
  Status status = own.require_factor();
  if (status.ok()) status = gram_diagonal<double>(own.kernel, Z, out);
  if (!status.ok()) return status;
  return own.in_blocks(Z, columns_at_a_time(own.n), [&](Index begin, Index count, View<double> cross) {
    Numbers of_trend, less(static_cast<std::size_t>(count));
    Status found = own.of_trend(Z.block(begin, 0, count, own.d), cross, of_trend);
    if (found.ok()) found = own.explained(cross, vector(less.data(), count));
    for (Index z = 0; z < count && found.ok(); ++z) {
      double variance = out(begin + z, 0) - less[static_cast<std::size_t>(z)];
      for (Index j = 0; j < own.q; ++j) {
        const double s = of_trend[static_cast<std::size_t>(j * count + z)];
        variance += s * s;
      }
      out(begin + z, 0) = variance;
    }
    return found;
  });
}

Status DensePosterior::covariance(View<const double> Z, View<double> out) const {
  const Content& own = *content_;
  const Index m = Z.rows, n = own.n;
  if (Z.cols != own.d) return Status::invalid("Z: expected as many columns as the model has");
  if (!has_shape(out, m, m)) return Status::invalid("covariance: expected a row and a column for each point");
  Status status = own.require_factor();
  if (status.ok() && own.rank > 0) status = Status::invalid("covariance: this model has no factor");
  if (status.ok()) status = gram<double>(own.kernel, Z, out);
  if (!status.ok() || m == 0) return status;
  // A = L^-1 k(X, Z) by rows, each padded: the columns of A', which the tile kernels multiply. The trend adds rows B.
  const Index padded = round_up(m, LowerTiles<double>::padding);
  Memory memory;
  status = memory.reserve(static_cast<std::size_t>(n * padded) * sizeof(double));
  if (!status.ok()) return status;
  auto* A = static_cast<double*>(memory.data());
  std::fill_n(A, n * padded, 0.0);
  const View<double> cross{A, n, m, padded, 1};
  status = cross_gram<double>(own.kernel, own.points(), Z, cross);
  Numbers of_trend;
  if (status.ok()) status = own.of_trend(Z, cross, of_trend);
  if (status.ok()) status = solve_lower<double>(*own.shared, cross);
  if (!status.ok()) return status;
  constexpr Index tile = 96;
  const Index blocks = (m + tile - 1) / tile;
  const double flops = static_cast<double>(m) * static_cast<double>(m) * static_cast<double>(n);
  return run_jobs(blocks * blocks, 0.05 * flops, [&](Jobs& jobs, Index job) {
    const Index i = job / blocks, j = job % blocks, row = i * tile, col = j * tile;
    if (j > i || !jobs.poll()) return;
    const Index height = std::min(tile, padded - row), width = std::min(tile, padded - col);
    double* sums = scratch<double>(Scratch::panel, height * width);
    if (!sums) return jobs.stop(no_memory());
    std::fill_n(sums, height * width, 0.0);
    tile_kernels<double>().multiply_nt(height, width, n, -1.0, A + row, padded, A + col, padded, sums, height);
    for (Index c = 0; c < std::min(width, m - col); ++c)
      for (Index r = 0; r < std::min(height, m - row); ++r) {
        double sum = sums[r + c * height];
        for (Index k = 0; k < own.q; ++k)
          sum += of_trend[static_cast<std::size_t>(k * m + row + r)] * of_trend[static_cast<std::size_t>(k * m + col + c)];
        if (row + r < col + c) continue;
        const double value = out(row + r, col + c) + sum;
        out(row + r, col + c) = value;
        if (row + r > col + c) out(col + c, row + r) = value;
      }
  });
}

Status DensePosterior::mean_gradient(View<const double> Z, View<double> out) const {
  const Content& own = *content_;
  const Index d = own.d, m = own.m;
  if (Z.cols != d) return Status::invalid("Z: expected as many columns as the model has");
  if (!has_shape(out, Z.rows, d * m)) return Status::invalid("mean_gradient: the output has the wrong shape");
  Numbers slopes(static_cast<std::size_t>(Z.rows * d));
  Status status;
  for (Index k = 0; k < m && status.ok(); ++k) {
    const View<const double> W{own.c.data() + k, Z.rows, own.n, 0, m};  // each row is the same
    status = pullback_points<double>(own.kernel, Z, own.points(), W, rows(slopes.data(), Z.rows, d));
    for (Index i = 0; i < Z.rows; ++i)
      for (Index j = 0; j < d; ++j) out(i, j * m + k) = slopes[static_cast<std::size_t>(i * d + j)];
  }
  if (!status.ok() || own.q == 0) return status;
  Numbers of_basis(static_cast<std::size_t>(Z.rows * d * own.q)), widths;
  for (Index j = 0; j < d; ++j) {
    double least = own.n > 0 ? own.X[static_cast<std::size_t>(j)] : 0.0, most = least;
    for (Index i = 0; i < own.n; ++i) {
      least = std::min(least, own.X[static_cast<std::size_t>(i * d + j)]);
      most = std::max(most, own.X[static_cast<std::size_t>(i * d + j)]);
    }
    widths.push_back(most - least);
  }
  const View<double> dh = rows(of_basis.data(), Z.rows, d * own.q);
  status = own.basis.write_gradient(Z, widths, dh);
  for (Index i = 0; i < Z.rows && status.ok(); ++i)
    for (Index j = 0; j < d; ++j)
      for (Index k = 0; k < m; ++k)
        for (Index l = 0; l < own.q; ++l)
          out(i, j * m + k) += dh(i, j * own.q + l) * own.beta[static_cast<std::size_t>(l * m + k)];
  return status;
}

Status DensePosterior::variance_gradient(View<const double> Z, View<double> out) const {
  const Content& own = *content_;
  const Index d = own.d, q = own.q, n = own.n;
  if (Z.cols != d) return Status::invalid("Z: expected as many columns as the model has");
  if (!has_shape(out, Z.rows, d)) return Status::invalid("variance_gradient: the output has the wrong shape");
  Status status = own.require_factor();
  if (status.ok() && own.rank > 0) status = Status::invalid("variance_gradient: this model has no factor");
  if (!status.ok()) return status;
  const Index most = std::min<Index>(256, columns_at_a_time(n));  // the kernel is asked for all pairs of a block, too
  return own.in_blocks(Z, most, [&](Index begin, Index count, View<double> cross) {
    const View<const double> points = Z.block(begin, 0, count, d);
    Numbers s, identity(static_cast<std::size_t>(count * count), 0.0), slopes(static_cast<std::size_t>(count * d));
    Status found = own.of_trend(points, cross, s);
    for (Index z = 0; z < count; ++z) identity[static_cast<std::size_t>(z * (count + 1))] = 1.0;
    if (found.ok())
      found = pullback_points<double>(own.kernel, points, rows<const double>(identity.data(), count, count),
                                      out.block(begin, 0, count, d));
    // d/dz k(z, X) K~^-1 k(X, z) = 2 sum_i dk(z, x_i)/dz w_i, w = K~^-1 k(X, z) + V R^-T r
    if (found.ok()) found = kernsel::solve<double>(*own.shared, cross);
    if (!found.ok()) return found;
    for (Index j = 0; j < q; ++j)
      for (Index i = 0; i < n; ++i)
        for (Index z = 0; z < count; ++z) cross(i, z) += own.trend.V(i, j) * s[static_cast<std::size_t>(j * count + z)];
    const View<const double> weights = View<const double>(cross).transposed();
    found = pullback_points<double>(own.kernel, points, own.points(), weights, rows(slopes.data(), count, d));
    for (Index z = 0; z < count; ++z)
      for (Index k = 0; k < d; ++k) out(begin + z, k) -= 2.0 * slopes[static_cast<std::size_t>(z * d + k)];
    if (!found.ok() || q == 0) return found;
    // (H'K~^-1 H)^-1 r = R^-1 s, times the derivatives of the functions.
    for (Index z = 0; z < count; ++z)
      for (Index j = q - 1; j >= 0; --j) {
        double& entry = s[static_cast<std::size_t>(j * count + z)];
        for (Index l = j + 1; l < q; ++l)
          entry -= own.trend.R[static_cast<std::size_t>(j + l * q)] * s[static_cast<std::size_t>(l * count + z)];
        entry /= own.trend.R[static_cast<std::size_t>(j + j * q)];
      }
    Numbers of_basis(static_cast<std::size_t>(count * d * q)), widths(static_cast<std::size_t>(d), 0.0);
    for (Index i = 0; i < n; ++i)
      for (Index k = 0; k < d; ++k)
        widths[static_cast<std::size_t>(k)] =
            std::max(widths[static_cast<std::size_t>(k)],
                     std::abs(own.X[static_cast<std::size_t>(i * d + k)] - own.X[static_cast<std::size_t>(k)]));
    const View<double> dh = rows(of_basis.data(), count, d * q);
    found = own.basis.write_gradient(points, widths, dh);
    for (Index z = 0; z < count && found.ok(); ++z)
      for (Index k = 0; k < d; ++k)
        for (Index j = 0; j < q; ++j) out(begin + z, k) += 2.0 * dh(z, k * q + j) * s[static_cast<std::size_t>(j * count + z)];
    return found;
  });
}

Status DensePosterior::leave_one_out(View<double> residuals, View<double> variances, View<double> leverage) const {
  const Content& own = *content_;
  Numbers precision, total;
  Status status = own.precision(precision);
  if (status.ok() && leverage.rows > 0) status = own.total_noise(total);
  for (Index i = 0; i < own.n && status.ok(); ++i) {
    const double p = own.without_trend(precision[static_cast<std::size_t>(i)], i);
    for (Index k = 0; k < residuals.cols; ++k) residuals(i, k) = own.c[static_cast<std::size_t>(i * own.m + k)] / p;
    if (variances.rows > 0) variances(i, 0) = 1.0 / p;
    if (leverage.rows > 0) leverage(i, 0) = 1.0 - total[static_cast<std::size_t>(i)] * p;
  }
  return status;
}

Status DensePosterior::value(const Criterion& criterion, double& out) const {
  const Content& own = *content_;
  Status status = own.require_factor();
  if (!status.ok()) return status;
  const View<const double> H = kernsel::columns<const double>(own.H.data(), own.n, own.q);
  if (criterion.request.left_out && !criterion.request.groups.alone()) {  // these see blocks of P, which is then formed
    Evaluation found;
    const std::unique_ptr<Factor> factor = dense_factor();
    status = evaluate(own.kernel, {own.points(), y(), noise(), H}, criterion, Order::value, *factor, found);
    out = found.value;
    return status;
  }
  Numbers precision, total;
  LeftOut left_out;
  if (criterion.request.diagonal || criterion.request.left_out) {
    status = own.precision(precision);
    if (status.ok()) status = own.total_noise(total);
    for (Index i = 0; i < own.n && status.ok(); ++i) {
      double& p = precision[static_cast<std::size_t>(i)];
      const double whole = p;
      p = own.without_trend(whole, i);
      if (!(p > 1e-10 * whole))
        status = Status::invalid("trend: a point has leverage one: without it the trend is not determined");
    }
    for (Index k = 0; k < own.m; ++k)
      for (Index i = 0; i < own.n; ++i)
        left_out.residual.push_back(own.c[static_cast<std::size_t>(i * own.m + k)] / precision[static_cast<std::size_t>(i)]);
    for (const double p : precision) left_out.variance.push_back(1.0 / p);
  }
  if (!status.ok()) return status;
  const Fit fit{y(),   own.coefficients(), precision.data(),  total.data(), nullptr,
                own.q, log_det(),          own.trend.log_det, &left_out};
  Partials partials;
  status = apply(criterion, fit, partials);
  out = partials.unit * partials.value;
  return status;
}

Status DensePosterior::append(View<const double> X, View<const double> y, View<const double> noise) {
  Content& own = *content_;
  const Index before = own.n, more = X.rows, d = own.d, m = own.m;
  if (X.cols != d || y.rows != more || y.cols != m || noise.rows != more)
    return Status::invalid("append: expected points, targets and noise as those that are there");
  Status status = own.require_factor();
  if (status.ok() && (!own.own || !own.has_targets))
    status = Status::invalid("append: this model has no factor of its own, or no targets");
  if (!status.ok()) return status;
  if (own.basis.kind() == Basis::Kind::fixed)
    return Status::invalid("trend: a matrix says nothing of other points; give a name or a function to predict");
  Numbers points = own.X, added = by_rows(X), targets = by_rows(y);
  points.insert(points.end(), added.begin(), added.end());
  const Index n = before + more;
  Numbers cross(static_cast<std::size_t>(n * more)), diagonal(static_cast<std::size_t>(more));
  status = cross_gram<double>(own.kernel, rows<const double>(points.data(), n, d), X, kernsel::columns(cross.data(), n, more));
  if (status.ok()) status = gram_diagonal<double>(own.kernel, X, vector(diagonal.data(), more));
  for (Index i = 0; i < more && status.ok(); ++i)
    status = kernsel::append<double>(*own.own, vector<const double>(cross.data() + i * n, before + i),
                                     diagonal[static_cast<std::size_t>(i)] + noise(i, 0));
  const Numbers X_before = own.X, y_before = own.y, noise_before = own.noise, H_before = own.H, c_before = own.c,
                beta_before = own.beta;
  if (status.ok()) {
    own.X = std::move(points);
    own.y.insert(own.y.end(), targets.begin(), targets.end());
    for (Index i = 0; i < more; ++i) own.noise.push_back(noise(i, 0));
    own.n = n;
    status = own.write_basis();
    if (status.ok())
      status = make_trend(*own.own, kernsel::columns<const double>(own.H.data(), n, own.q), padded_size(*own.own), own.trend);
    if (status.ok()) status = own.solve();
  }
  if (status.ok()) return status;
  own.n = before;
  own.X = X_before;
  own.y = y_before;
  own.noise = noise_before;
  own.H = H_before;
  own.c = c_before;
  own.beta = beta_before;
  while (own.own->size() > before) static_cast<void>(kernsel::remove<double>(*own.own, own.own->size() - 1));
  static_cast<void>(
      make_trend(*own.own, kernsel::columns<const double>(own.H.data(), before, own.q), padded_size(*own.own), own.trend));
  return status;
}

Status DensePosterior::remove(Index i) {
  Content& own = *content_;
  if (i < 0 || i >= own.n || own.n <= std::max<Index>(own.q, 1))
    return Status::invalid("remove: there is no such point, or without it too few would be left");
  Status status = own.require_factor();
  if (status.ok() && (!own.own || !own.has_targets))
    status = Status::invalid("remove: this model has no factor of its own, or no targets");
  if (status.ok() && own.q > 0) {  // asked before anything changes: the model stays as it is if the point may not go
    Numbers left;
    for (Index k = 0; k < own.q; ++k)
      for (Index r = 0; r < own.n; ++r)
        if (r != i) left.push_back(own.H[static_cast<std::size_t>(r + k * own.n)]);
    if (!independent(kernsel::columns<const double>(left.data(), own.n - 1, own.q)))
      status = Status::invalid("remove: without this point the columns of the trend are linearly dependent");
  }
  if (status.ok()) status = kernsel::remove<double>(*own.own, i);
  if (!status.ok()) return status;
  const auto erase = [i](Numbers& values, Index each) {
    values.erase(values.begin() + i * each, values.begin() + (i + 1) * each);
  };
  erase(own.X, own.d);
  erase(own.y, own.m);
  erase(own.noise, 1);
  own.basis.remove(i);
  --own.n;
  status = own.write_basis();
  if (status.ok())
    status = make_trend(*own.own, kernsel::columns<const double>(own.H.data(), own.n, own.q), padded_size(*own.own), own.trend);
  return status.ok() ? own.solve() : status;
}

Status Posterior::draw(View<const double> Z, View<const double> u, View<double> out) const {
  const Index m = Z.rows;
  if (outputs() != 1) return Status::invalid("draw: expected a model of one output");
  if (u.rows != m || !has_shape(out, m, u.cols)) return Status::invalid("draw: expected a row for each point");
  Numbers cov(static_cast<std::size_t>(m * m)), mean_at(static_cast<std::size_t>(m));
  Status status = covariance(Z, rows(cov.data(), m, m));
  if (status.ok()) status = mean(Z, vector(mean_at.data(), m));
  // The covariance is what is left of that before the data, whose rounding it has.
  Numbers before(static_cast<std::size_t>(m));
  if (status.ok()) status = gram_diagonal<double>(kernel(), Z, vector(before.data(), m));
  double size = 0.0;
  for (const double value : before) size = std::max(size, value);
  LowerTiles<double> root;
  double jitter = least_jitter(m) * size;
  if (status.ok())
    status = with_jitter(jitter, jitter, [&] {
      const Status room = root.resize(m);
      const ArraySource<double> source(rows<const double>(cov.data(), m, m), vector<const double>(&jitter, 1));
      return room.ok() ? factorize<double>(source, root) : room;
    });
  if (status.ok()) status = unpack_lower<double>(root, rows(cov.data(), m, m));
  for (Index i = 0; i < m && status.ok(); ++i)
    for (Index k = 0; k < u.cols; ++k) {
      double sum = mean_at[static_cast<std::size_t>(i)];
      for (Index j = 0; j <= i; ++j) sum += cov[static_cast<std::size_t>(i * m + j)] * u(j, k);
      out(i, k) = sum;
    }
  return status;
}

}  // namespace kernsel
