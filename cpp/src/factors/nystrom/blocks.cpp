// The first pass over rows, and what it leads to.
#include <cmath>
#include <utility>

#include "factors/nystrom/content.hpp"
#include "isa/table.hpp"
#include "kernsel/gram.hpp"

namespace kernsel {

namespace {

using Numbers = std::vector<double>;

// What is left of a function of the trend, in parts of its square, if it depends on others and on nothing else.
constexpr double dependent = 1e-13;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

void add_to(Numbers& sums, const Numbers& more) {
  if (sums.empty()) sums.assign(more.size(), 0.0);
  for (std::size_t i = 0; i < more.size(); ++i) sums[i] += more[i];
}

}  // namespace

void NystromSums::add(const NystromSums& other) {
  rows += other.rows;
  add_to(moments, other.moments);
  add_to(products, other.products);
  add_to(squares, other.squares);
  add_to(trend, other.trend);
  log_noise += other.log_noise;
  missing += other.missing;
}

void NystromSums::subtract(const NystromSums& other) {
  const auto less = [](Numbers& sums, const Numbers& of) {
    for (std::size_t i = 0; i < of.size(); ++i) sums[i] -= of[i];
  };
  rows -= other.rows;
  less(moments, other.moments);
  less(products, other.products);
  less(squares, other.squares);
  less(trend, other.trend);
  log_noise -= other.log_noise;
  missing -= other.missing;
}

void NystromPartialSums::add(const NystromPartialSums& other) {
  add_to(products, other.products);
  add_to(moments, other.moments);
  add_to(missing, other.missing);
  add_to(theta, other.theta);
}

void NystromPartialSums::multiply(double factor) {
  for (Numbers* sums : {&products, &moments, &missing, &theta})
    for (double& sum : *sums) sum *= factor;
}

NystromBlocks::NystromBlocks() : content_(std::make_unique<Content>()) {}
NystromBlocks::~NystromBlocks() = default;
NystromBlocks::NystromBlocks(NystromBlocks&&) noexcept = default;
NystromBlocks& NystromBlocks::operator=(NystromBlocks&&) noexcept = default;

double NystromBlocks::log_det() const { return content_->log_det; }
double NystromBlocks::log_det_trend() const { return content_->log_det_trend; }
const Numbers& NystromBlocks::squares() const { return content_->squares; }

Numbers NystromBlocks::trend_coefficients() const {
  const Content& c = *content_;
  Numbers out;
  for (Index k = 0; k < c.outputs(); ++k)
    for (Index j = 0; j < c.q; ++j) out.push_back(c.of_raw.row(k)[c.m + j]);
  return out;
}

Status NystromBlocks::begin(const Kernel& k, View<const double> Z, Index trend) {
  if (Z.rows == 0) return Status::invalid("Nystrom's approximation: there are no landmarks");
  return within_memory([&] {
    Content made;
    made.kernel.emplace(k);
    made.m = Z.rows;
    made.d = Z.cols;
    made.q = trend;
    for (Index i = 0; i < Z.rows; ++i)
      for (Index j = 0; j < Z.cols; ++j) made.Z.push_back(Z(i, j));
    const Index m = made.m;
    PointRows L, root;
    Status status = L.resize(m, m, true);
    // K_ZZ is between two sets of points: it has no noise that the kernel may contain.
    if (status.ok())
      status = cross_gram<double>(k, made.landmarks(), made.landmarks(), View<double>{L.row(0), m, m, 1, L.stride()});
    if (!status.ok()) return status;
    for (Index j = 0; j < m; ++j) L.row(j)[j] *= 1.0 + Content::jitter;
    status = factorize(L);
    if (status.ok()) status = invert_transposed(L, root);
    if (status.ok()) status = made.inverse.resize(made.width(), made.width(), true);
    if (status.ok()) status = made.inverse_transposed.resize(made.width(), made.width(), true);
    if (!status.ok()) return status;
    for (Index c = 0; c < m; ++c)
      for (Index r = c; r < m; ++r) {
        made.inverse.row(c)[r] = root.row(r)[c];
        made.inverse_transposed.row(r)[c] = root.row(r)[c];
      }
    *content_ = std::move(made);
    return status;
  });
}

Status NystromBlocks::Content::check(const RowBlock& block, bool targets) const {
  const Index n = block.X.rows;
  if (block.X.cols != d) return Status::invalid("Nystrom's approximation: expected rows with as many columns as the landmarks");
  if (targets && (block.y.rows != n || block.y.cols == 0))
    return Status::invalid("Nystrom's approximation: y must have one row for each point");
  if (block.noise.rows != 0 && block.noise.rows != 1 && block.noise.rows != n)
    return Status::invalid("Nystrom's approximation: give one noise variance, or one for each point");
  if (q > 0 && (block.trend.rows != n || block.trend.cols != q))
    return Status::invalid("Nystrom's approximation: the trend must have one row for each point");
  return {};
}

Status NystromBlocks::Content::write_noise(const RowBlock& block, Numbers& noise) const {
  const Index n = block.X.rows;
  noise.assign(at(n), 0.0);
  const Status status = gram_noise(*kernel, block.X, kernsel::vector(noise.data(), n));
  if (!status.ok()) return status;
  for (Index i = 0; i < n; ++i) {
    if (block.noise.rows > 0) noise[at(i)] += block.noise(block.noise.rows == 1 ? 0 : i, 0);
    if (!(noise[at(i)] > 0.0)) return Status::invalid("Nystrom's approximation: the noise of each point must be positive");
  }
  return {};
}

Status NystromBlocks::Content::write_raw(View<const double> X, View<const double> trend, Index begin, Index count,
                                         PointRows& raw) const {
  // By columns, k(Z, X) has the landmarks of one point next to each other, as a row has.
  const Status status = cross_gram<double>(*kernel, landmarks(), X.block(begin, 0, count, X.cols),
                                           View<double>{raw.row(0), m, count, 1, raw.stride()});
  for (Index i = 0; i < count; ++i)
    for (Index j = 0; j < q; ++j) raw.row(i)[m + j] = trend(begin + i, j);
  return status;
}

Status NystromBlocks::Content::write_diagonal(View<const double> X, Numbers& out) const {
  out.assign(at(X.rows), 0.0);
  Status status = gram_diagonal<double>(*kernel, X, kernsel::vector(out.data(), X.rows));
  if (!status.ok() || !kernel->has_noise()) return status;
  Numbers noise(at(X.rows), 0.0);
  status = gram_noise(*kernel, X, kernsel::vector(noise.data(), X.rows));
  for (std::size_t i = 0; i < noise.size(); ++i) out[i] -= noise[i];
  return status;
}

std::vector<Index> NystromBlocks::Content::parts(Index n, const std::vector<Index>& ends) {
  std::vector<Index> out{0};
  Index last = 0, largest = 0;
  for (std::size_t g = 0; g < ends.size(); ++g) largest = std::max(largest, ends[g] - (g > 0 ? ends[g - 1] : 0));
  // Each group is the work of one thread, so that there should be several.
  const Index most = std::max(rows_at_a_time, std::min(2 * largest, 4 * rows_at_a_time));
  for (const Index end : ends) {
    if (end - out.back() > most && last > out.back()) out.push_back(last);
    last = end;
  }
  if (last > out.back()) out.push_back(last);
  while (out.back() < n) out.push_back(std::min(out.back() + rows_at_a_time, n));
  return out;
}

Index NystromBlocks::Content::most_rows(const std::vector<Index>& parts) {
  Index most = 0;
  for (std::size_t part = 1; part < parts.size(); ++part) most = std::max(most, parts[part] - parts[part - 1]);
  return most;
}

Status NystromBlocks::features(View<const double> X, View<double> out) const {
  const Content& c = *content_;
  if (X.cols != c.d) return Status::invalid("Nystrom's approximation: expected rows with as many columns as the landmarks");
  return within_memory([&] {
    PointRows F;
    const Status status = F.resize(std::min(Content::rows_at_a_time, X.rows), c.width(), true);
    if (!status.ok()) return status;
    Numbers none(at(c.q), 0.0);
    const View<const double> trend{none.data(), X.rows, c.q, 0, 1};
    return c.for_rows(X, trend, [&](Index begin, Index count, const PointRows& raw) {
      const Status done = multiply_triangular(c.inverse, Triangle::lower, raw, {0, count}, F, 0);
      for (Index i = 0; i < count; ++i)
        for (Index j = 0; j < c.m; ++j) out(begin + i, j) = F.row(i)[j];
      return done;
    });
  });
}

Status NystromBlocks::add(const RowBlock& block, NystromSums& sums) const {
  const Content& c = *content_;
  Status checked = c.check(block, true);
  if (!checked.ok()) return checked;
  return within_memory([&] {
    const Index n = block.X.rows, w = c.width(), outputs = block.y.cols, m = c.m, q = c.q;
    Numbers noise, diagonal, lost(at(n), 0.0);
    PointRows D, moments, products;
    Status status = c.write_noise(block, noise);
    if (status.ok()) status = c.write_diagonal(block.X, diagonal);
    if (status.ok()) status = D.resize(std::min(Content::rows_at_a_time, n), w, true);
    if (status.ok()) status = moments.resize(w, w, true);
    if (status.ok()) status = products.resize(outputs, w, true);
    if (!status.ok()) return status;
    NystromSums found;
    found.rows = n;
    found.squares.assign(at(outputs), 0.0);
    found.trend.assign(at(q * q), 0.0);
    Numbers targets(at(Content::rows_at_a_time * outputs));
    status = c.for_rows(block.X, block.trend, [&](Index begin, Index count, const PointRows& raw) {
      Status done = multiply_triangular(c.inverse, Triangle::lower, raw, {0, count}, D, 0);
      if (!done.ok()) return done;
      done = for_each_row(count, static_cast<double>(m), [&](Index i) {  // D / N^1/2 in the place of D
        const double variance = noise[at(begin + i)], root = 1.0 / std::sqrt(variance);
        double* row = D.row(i);
        lost[at(begin + i)] = (diagonal[at(begin + i)] - D.dot(row, row)) / variance;
        for (Index j = 0; j < q; ++j) row[m + j] = raw.row(i)[m + j];
        tile_kernels<double>().scale(D.stride(), root, row, row);
        for (Index k = 0; k < outputs; ++k) targets[at(i * outputs + k)] = block.y(begin + i, k) * root;
      });
      if (!done.ok()) return done;
      for (Index i = 0; i < count; ++i) {
        found.log_noise += std::log(noise[at(begin + i)]);
        found.missing += lost[at(begin + i)];
        for (Index k = 0; k < outputs; ++k) found.squares[at(k)] += targets[at(i * outputs + k)] * targets[at(i * outputs + k)];
        for (Index j = 0; j < q; ++j)
          for (Index l = 0; l < q; ++l) found.trend[at(j + l * q)] += raw.row(i)[m + j] * raw.row(i)[m + l];
      }
      done = add_products(D, {0, count}, D, 0, true, moments);
      return done.ok() ? add_weighted(D, {0, count}, targets.data(), outputs, products) : done;
    });
    if (!status.ok()) return status;
    mirror(moments);
    for (Index j = 0; j < w; ++j) found.moments.insert(found.moments.end(), moments.row(j), moments.row(j) + w);
    for (Index k = 0; k < outputs; ++k) found.products.insert(found.products.end(), products.row(k), products.row(k) + w);
    sums.add(found);
    return status;
  });
}

Status NystromBlocks::add_targets(const RowBlock& block, NystromSums& sums) const {
  const Content& c = *content_;
  Status checked = c.check(block, true);
  if (!checked.ok()) return checked;
  return within_memory([&] {
    const Index w = c.width(), outputs = block.y.cols, m = c.m;
    Numbers noise, targets(at(Content::rows_at_a_time * outputs));
    PointRows of_raw, products;
    Status status = c.write_noise(block, noise);
    if (status.ok()) status = of_raw.resize(outputs, w, true);
    if (status.ok()) status = products.resize(outputs, w, true);
    if (!status.ok()) return status;
    NystromSums found;
    found.squares.assign(at(outputs), 0.0);
    status = c.for_rows(block.X, block.trend, [&](Index begin, Index count, const PointRows& raw) {
      for (Index i = 0; i < count; ++i)
        for (Index k = 0; k < outputs; ++k) {
          const double y = block.y(begin + i, k);
          targets[at(i * outputs + k)] = y / noise[at(begin + i)];
          found.squares[at(k)] += y * y / noise[at(begin + i)];
        }
      return add_weighted(raw, {0, count}, targets.data(), outputs, of_raw);
    });
    if (status.ok()) status = multiply_triangular(c.inverse, Triangle::lower, of_raw, {0, outputs}, products, 0);
    if (!status.ok()) return status;
    for (Index k = 0; k < outputs; ++k) {
      std::copy_n(of_raw.row(k) + m, c.q, products.row(k) + m);  // functions of the trend are no features
      found.products.insert(found.products.end(), products.row(k), products.row(k) + w);
    }
    sums.add(found);
    return status;
  });
}

namespace {

// The logarithm of the determinant of H'H, whose functions are multiplied by `units` for it; and what these add to it. Fails if
// they are linearly dependent.
Status log_det_of_trend(const NystromSums& sums, Index q, double& out) {
  PointRows A;
  Status status = A.resize(q, q, true);
  out = 0.0;
  for (Index j = 0; j < q && status.ok(); ++j)
    for (Index l = 0; l < q; ++l)
      A.row(j)[l] = sums.trend[at(j + l * q)] / std::sqrt(sums.trend[at(j * (q + 1))] * sums.trend[at(l * (q + 1))]);
  if (status.ok()) status = factorize(A);
  bool independent = status.ok();
  for (Index j = 0; j < q && independent; ++j) {
    independent = A.row(j)[j] * A.row(j)[j] > dependent;
    out += 2.0 * std::log(A.row(j)[j]) + std::log(sums.trend[at(j * (q + 1))]);
  }
  return independent ? status : Status::invalid("trend: the columns are linearly dependent");
}

}  // namespace

Status NystromBlocks::solve(const NystromSums& sums) {
  return within_memory([&] { return content_->solve(sums); });
}

Status NystromBlocks::Content::solve(const NystromSums& sums) {
  const Index w = width(), outs = static_cast<Index>(sums.squares.size());
  if (sums.rows == 0) return Status::invalid("Nystrom's approximation: there are no points");
  if (static_cast<Index>(sums.moments.size()) != w * w || static_cast<Index>(sums.products.size()) != w * outs ||
      static_cast<Index>(sums.trend.size()) != q * q)
    return Status::invalid("Nystrom's approximation: the sums are those of another number of landmarks or of another trend");
  double log_det_HH = 0.0;
  Status status;
  if (q > 0) status = log_det_of_trend(sums, q, log_det_HH);
  if (!status.ok()) return status;
  moments = sums.moments;
  units.assign(at(w), 1.0);
  for (Index j = m; j < w; ++j) units[at(j)] = 1.0 / std::sqrt(moments[at(j * (w + 1))]);
  PointRows R, from, inverse_of_R;
  status = R.resize(w, w, true);
  if (status.ok()) status = from.resize(w, w, true);
  if (status.ok()) status = root.resize(w, w, true);
  if (status.ok()) status = root_transposed.resize(w, w, true);
  if (status.ok()) status = T.resize(w, w, true);
  if (status.ok()) status = T_transposed.resize(w, w, true);
  if (status.ok()) status = coefficients.resize(outs, w, true);
  if (status.ok()) status = of_raw.resize(outs, w, true);
  if (!status.ok()) return status;
  for (Index j = 0; j < w; ++j) {
    for (Index i = 0; i < w; ++i) R.row(j)[i] = moments[at(i + j * w)] * units[at(i)] * units[at(j)];
    if (j < m) R.row(j)[j] += 1.0;
  }
  status = factorize(R);
  if (status.ok()) status = invert_transposed(R, inverse_of_R);
  if (!status.ok()) return status;
  log_det = sums.log_noise;
  log_det_trend = -log_det_HH;
  for (Index j = 0; j < w; ++j) {
    (j < m ? log_det : log_det_trend) += 2.0 * std::log(R.row(j)[j] / units[at(j)]);
    for (Index i = j; i < w; ++i) root.row(j)[i] = inverse_of_R.row(i)[j];
    // Column j of what makes D, with its units, of raw rows.
    for (Index i = 0; i < m && j < m; ++i) from.row(j)[i] = inverse.row(j)[i];
    if (j >= m) from.row(j)[j] = units[at(j)];
  }
  status = multiply_triangular(root, Triangle::lower, from, {0, w}, T, 0);
  if (!status.ok()) return status;
  transpose(T, T_transposed);
  transpose(root, root_transposed);
  return solve_targets(sums);
}

Status NystromBlocks::solve_targets(const NystromSums& sums) {
  const Content& c = *content_;
  if (static_cast<Index>(sums.products.size()) != c.width() * c.outputs() ||
      static_cast<Index>(sums.squares.size()) != c.outputs())
    return Status::invalid("Nystrom's approximation: the sums are those of other targets");
  return within_memory([&] { return content_->solve_targets(sums); });
}

Status NystromBlocks::Content::solve_targets(const NystromSums& sums) {
  const Index w = width(), outs = static_cast<Index>(sums.squares.size());
  squares = sums.squares;
  for (Index k = 0; k < outs; ++k) {
    double* to = coefficients.row(k);
    std::fill_n(to, coefficients.stride(), 0.0);
    for (Index j = 0; j < w; ++j)
      for (Index i = j; i < w; ++i) to[i] += root.row(j)[i] * units[at(j)] * sums.products[at(j + k * w)];
    squares[at(k)] -= coefficients.dot(to, to);
  }
  bool finite = std::isfinite(log_det) && std::isfinite(log_det_trend);
  for (const double square : squares) finite = finite && std::isfinite(square);
  if (!finite)
    return Status::invalid("Nystrom's approximation: sums are out of range; the noise is too small, or the kernel too large");
  return multiply_triangular(T_transposed, Triangle::upper, coefficients, {0, outs}, of_raw, 0);
}

Status NystromBlocks::Content::show(const RowBlock& block, const Numbers& noise, Index begin, Index count, const PointRows& raw,
                                    View<double> c) const {
  return for_each_row(count, 0.2 * static_cast<double>(m * outputs()), [&](Index i) {
    for (Index k = 0; k < outputs(); ++k)
      c(begin + i, k) = (block.y(begin + i, k) - raw.dot(raw.row(i), of_raw.row(k))) / noise[at(begin + i)];
  });
}

Status NystromBlocks::Content::show_precision(const Numbers& noise, Index begin, Index count, const PointRows& raw,
                                              PointRows& t, View<double> precision) const {
  const Status status = multiply_triangular(T, Triangle::lower, raw, {0, count}, t, 0);
  if (!status.ok()) return status;
  return for_each_row(count, 0.2 * static_cast<double>(m), [&](Index i) {
    const double variance = noise[at(begin + i)];
    precision(begin + i, 0) = (1.0 - t.dot(t.row(i), t.row(i)) / variance) / variance;
  });
}

Status NystromBlocks::show(const RowBlock& block, View<double> c, View<double> precision, View<double> missing) const {
  const Content& content = *content_;
  Status checked = content.check(block, true);
  if (!checked.ok()) return checked;
  return within_memory([&] {
    const Index n = block.X.rows;
    Numbers noise, diagonal;
    PointRows t;
    Status status = content.write_noise(block, noise);
    if (status.ok() && missing.data) status = content.write_diagonal(block.X, diagonal);
    if (status.ok()) status = t.resize(std::min(Content::rows_at_a_time, n), content.width(), true);
    if (!status.ok()) return status;
    return content.for_rows(block.X, block.trend, [&](Index begin, Index count, const PointRows& raw) {
      Status done;
      if (c.data) done = content.show(block, noise, begin, count, raw, c);
      if (done.ok() && precision.data) done = content.show_precision(noise, begin, count, raw, t, precision);
      if (done.ok() && missing.data) done = multiply_triangular(content.inverse, Triangle::lower, raw, {0, count}, t, 0);
      if (done.ok() && missing.data)
        done = for_each_row(count, 0.2 * static_cast<double>(content.m),
                            [&](Index i) { missing(begin + i, 0) = diagonal[at(begin + i)] - t.dot(t.row(i), t.row(i)); });
      return done;
    });
  });
}

Status NystromBlocks::predict(View<const double> X, View<const double> trend, View<double> mean, View<double> variance) const {
  const Content& content = *content_;
  Status checked = content.check({X, {}, {}, trend}, false);
  if (!checked.ok()) return checked;
  return within_memory([&] {
    Numbers diagonal;
    PointRows t;
    Status status = variance.data ? content.write_diagonal(X, diagonal) : Status{};
    if (status.ok() && variance.data) status = t.resize(std::min(Content::rows_at_a_time, X.rows), content.width(), true);
    if (!status.ok()) return status;
    return content.for_rows(X, trend, [&](Index begin, Index count, const PointRows& raw) {
      Status done = for_each_row(count, 0.2 * static_cast<double>(content.m), [&](Index i) {
        for (Index k = 0; k < content.outputs() && mean.data; ++k)
          mean(begin + i, k) = raw.dot(raw.row(i), content.of_raw.row(k));
        if (variance.data) variance(begin + i, 0) = diagonal[at(begin + i)];
      });
      for (const bool of_prior : {true, false}) {  // k - q, and then what is not known of the values at the landmarks
        if (!done.ok() || !variance.data) return done;
        done = multiply_triangular(of_prior ? content.inverse : content.T, Triangle::lower, raw, {0, count}, t, 0);
        for (Index i = 0; i < count && done.ok(); ++i)
          variance(begin + i, 0) += (of_prior ? -1.0 : 1.0) * t.dot(t.row(i), t.row(i));
      }
      return done;
    });
  });
}

}  // namespace kernsel
