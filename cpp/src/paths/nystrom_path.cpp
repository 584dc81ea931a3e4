// The path of Nystrom's approximation, from sums over rows. With A = W^(1/2) F and H those of the trend times W^(1/2),
//
//     A'A - A'UU'A = X diag(e) X',   H = U R,   V = (I - UU') A X diag(e)^(-1/2)
//
// where U has orthonormal columns. So all that the dense path has in the coordinates of V comes from A'A, H'A and H'H, and row
// i of V from row i of A and H: w_i^(1/2) rotation (k_i, h_i).
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/parallel.hpp"
#include "factors/nystrom/content.hpp"
#include "kernsel/decomposition.hpp"
#include "paths/content.hpp"

namespace kernsel {

namespace {

using Content = RegularizationPath::Content;
using Numbers = std::vector<double>;

constexpr double eps = std::numeric_limits<double>::epsilon();

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// C += sign A' A or C += sign A' B of matrices by columns with few rows, for a few columns of a trend.
void add_transposed_product(double sign, const Padded& A, const Padded& B, Padded& C) {
  for (Index j = 0; j < B.cols(); ++j)
    for (Index i = 0; i < A.cols(); ++i) C(i, j) += sign * dot_from(0, A.stride(), A.column(i), B.column(j));
}

// out <- A B, for A of (rows*, inner) and B of (inner, cols), both by columns.
Status multiply(const Padded& A, const double* B, Index ldb, Index cols, Padded& out) {
  constexpr Index columns_of_a_job = 64;
  const Status status = out.resize(A.rows(), cols);
  if (!status.ok()) return status;
  const double cost = 0.1 * static_cast<double>(A.rows()) * static_cast<double>(A.cols()) * static_cast<double>(cols);
  return run_jobs((cols + columns_of_a_job - 1) / columns_of_a_job, cost, [&](Jobs&, Index job) {
    const Index begin = job * columns_of_a_job, count = std::min(columns_of_a_job, cols - begin);
    tile_kernels<double>().multiply_nn(A.stride(), count, A.cols(), 1.0, A.data(), A.stride(), B + begin * ldb, ldb,
                                       out.column(begin), out.stride());
  });
}

class Maker {
 public:
  Maker(const NystromBlocks& blocks, const PathSums& sums, const LandmarkPathOptions& options)
      : basis_(blocks.content()), sums_(sums), options_(options) {
    m_ = basis_.m;
    q_ = basis_.q;
    w_ = m_ + q_;
    targets_ = static_cast<Index>(sums.rows.squares.size());
  }

  Status make() {
    Status status = check();
    if (status.ok()) status = orthogonalize();
    if (status.ok()) status = decompose();
    if (status.ok()) status = rotate();
    if (status.ok()) status = project_targets();
    if (status.ok()) content_->measure();
    return status;
  }

  std::shared_ptr<const Content> content() const { return content_; }

 private:
  double moment(Index i, Index j) const { return sums_.rows.moments[at(i + j * w_)]; }
  double product(Index i, Index k) const { return sums_.rows.products[at(i + k * w_)] / content_->y_unit; }

  Status check() {
    const NystromSums& rows = sums_.rows;
    if (rows.rows == 0 || targets_ == 0) return Status::invalid("path: expected sums over a row at least");
    if (static_cast<Index>(rows.moments.size()) != w_ * w_ || static_cast<Index>(rows.products.size()) != w_ * targets_)
      return Status::invalid("path: the sums are those of another number of landmarks or of another trend");
    if (q_ > rows.rows) return Status::invalid("trend: expected no more columns than points");
    if (!(options_.sigma >= 0.0) || !std::isfinite(options_.sigma))
      return Status::invalid("sigma: expected a number that is not negative");
    for (const Numbers* numbers : {&rows.moments, &rows.products, &rows.squares})
      for (const double value : *numbers)
        if (!std::isfinite(value)) return Status::invalid("path: expected sums of finite numbers");
    Spectrum& s = *spectrum_;
    s.landmarks = true;
    s.n = rows.rows;
    s.q = q_;
    for (Index j = 0; j < m_; ++j) greatest_ = std::max(greatest_, moment(j, j));
    s.k_unit = power_of_two(greatest_);
    greatest_ /= s.k_unit;
    s.weights = sums_.weights;
    s.log_weights = -rows.log_noise;
    s.inverse_weights = sums_.inverse_weights / static_cast<double>(s.n);
    s.missing = options_.bound ? rows.missing / s.k_unit : 0.0;
    content_->spectrum = spectrum_;
    content_->noise = options_.sigma;
    content_->per_alpha = (options_.mean_of_errors ? s.weights : 1.0) / s.k_unit;
    content_->y_unit = power_of_two(std::sqrt(*std::max_element(rows.squares.begin(), rows.squares.end())));
    return {};
  }

  // trend_root <- R^-T, of_trend_ <- U'A, and moments_ <- A'A - A'UU'A.
  Status orthogonalize() {
    const double unit = spectrum_->k_unit, root_of_unit = std::sqrt(unit);
    Padded& inverse = spectrum_->trend_root;
    Padded R;  // lower triangular: R' of H = U R
    Status status = R.resize(q_, q_);
    if (status.ok()) status = inverse.resize(q_, q_);
    if (status.ok()) status = of_trend_.resize(q_, m_);
    if (status.ok()) status = moments_.resize(m_, m_);
    if (!status.ok()) return status;
    for (Index j = 0; j < q_; ++j) {
      for (Index i = j; i < q_; ++i) {
        R(i, j) = moment(m_ + i, m_ + j);
        for (Index l = 0; l < j; ++l) R(i, j) -= R(i, l) * R(j, l);
        if (i == j && !(R(j, j) > 1e3 * eps * moment(m_ + j, m_ + j)))
          return Status::invalid("trend: the columns are linearly dependent");
        R(i, j) = i == j ? std::sqrt(R(j, j)) : R(i, j) / R(j, j);
      }
    }
    for (Index j = 0; j < q_; ++j)
      for (Index i = j; i < q_; ++i) {
        double value = i == j ? 1.0 : 0.0;
        for (Index l = j; l < i; ++l) value -= R(i, l) * inverse(l, j);
        inverse(i, j) = value / R(i, i);
      }
    for (Index j = 0; j < m_; ++j) {
      for (Index i = 0; i < q_; ++i)
        for (Index l = 0; l <= i; ++l) of_trend_(i, j) += inverse(i, l) * moment(m_ + l, j) / root_of_unit;
      for (Index i = 0; i < m_; ++i) moments_(i, j) = moment(i, j) / unit;
    }
    add_transposed_product(-1.0, of_trend_, of_trend_, moments_);
    return status;
  }

  // e and X, whose eigenvalues that are not above rounding are left out: what they explain counts as noise.
  Status decompose() {
    Spectrum& s = *spectrum_;
    Numbers all(at(m_));
    Status status = X_.resize(m_, m_);
    if (status.ok()) status = symmetric_eigen(moments_.view(), kernsel::vector(all.data(), m_), X_.view());
    if (!status.ok()) return status;
    s.least = all.back();
    s.greatest = all.front();
    const double least = static_cast<double>(w_) * eps * std::max(greatest_, all.front());
    for (const double value : all)
      if (value > least && static_cast<Index>(s.e.size()) < s.n - q_) s.e.push_back(value);
    return status;
  }

  // rotation, cross and inner.
  Status rotate() {
    Spectrum& s = *spectrum_;
    const Index r = s.r();
    const double root_of_unit = std::sqrt(s.k_unit);
    Padded scaled;  // diag(e)^(-1/2) X', (r, m)
    Status status = scaled.resize(r, m_);
    if (status.ok()) status = s.inner.resize(q_, q_);
    if (status.ok()) status = s.cross.resize(q_, r);
    if (!status.ok()) return status;
    for (Index l = 0; l < m_; ++l)
      for (Index j = 0; j < r; ++j) scaled(j, l) = X_(l, j) / std::sqrt(s.e[at(j)]);
    Padded of_values;
    status = multiply(scaled, basis_.inverse.row(0), basis_.inverse.stride(), m_, of_values);
    if (status.ok()) status = s.rotation.resize(r, w_);
    if (!status.ok()) return status;
    copy(of_values.view(), 1.0 / root_of_unit, s.rotation.view().block(0, 0, r, m_));
    for (Index a = 0; a < q_; ++a) {
      for (Index b = 0; b < q_; ++b)
        for (Index l = 0; l < m_; ++l) s.inner(a, b) += of_trend_(a, l) * of_trend_(b, l);
      Numbers row(at(r), 0.0);  // U'A X diag(e)^(-1/2)
      for (Index l = 0; l < m_; ++l)
        for (Index j = 0; j < r; ++j) row[at(j)] += of_trend_(a, l) * scaled(j, l);
      for (Index j = 0; j < r; ++j) {
        s.cross(a, j) = row[at(j)] * s.e[at(j)];
        for (Index p = 0; p <= a; ++p) s.rotation(j, m_ + p) -= row[at(j)] * s.trend_root(a, p);
      }
    }
    return status;
  }

  // z = V'y, what remains of y, and its coefficients in the trend.
  Status project_targets() {
    const Spectrum& s = *spectrum_;
    const Index r = s.r();
    const double root_of_unit = std::sqrt(s.k_unit);
    Status status = content_->z.resize(r, targets_);
    if (status.ok()) status = content_->rest.resize(0, targets_);
    if (status.ok()) status = content_->trend_of_y.resize(q_, targets_);
    if (!status.ok()) return status;
    for (Index k = 0; k < targets_; ++k) {
      content_->columns.push_back(k);
      Numbers of_y(at(q_), 0.0), of_features(at(m_));  // U'y and A'(I - UU') y
      double rest = sums_.rows.squares[at(k)] / (content_->y_unit * content_->y_unit);
      for (Index i = 0; i < q_; ++i) {
        for (Index l = 0; l <= i; ++l) of_y[at(i)] += s.trend_root(i, l) * product(m_ + l, k);
        rest -= of_y[at(i)] * of_y[at(i)];
      }
      for (Index i = 0; i < q_; ++i)
        for (Index l = i; l < q_; ++l) content_->trend_of_y(i, k) += s.trend_root(l, i) * of_y[at(l)];
      for (Index l = 0; l < m_; ++l) {
        of_features[at(l)] = product(l, k) / root_of_unit;
        for (Index i = 0; i < q_; ++i) of_features[at(l)] -= of_trend_(i, l) * of_y[at(i)];
      }
      for (Index j = 0; j < r; ++j) {
        double sum = 0.0;
        for (Index l = 0; l < m_; ++l) sum += X_(l, j) * of_features[at(l)];
        content_->z(j, k) = sum / std::sqrt(s.e[at(j)]);
        rest -= content_->z(j, k) * content_->z(j, k);
      }
      content_->rest_squares.push_back(std::max(rest, 0.0));
    }
    return status;
  }

  const NystromBlocks::Content& basis_;
  const PathSums& sums_;
  const LandmarkPathOptions& options_;
  std::shared_ptr<Spectrum> spectrum_ = std::make_shared<Spectrum>();
  std::shared_ptr<Content> content_ = std::make_shared<Content>();
  Index m_ = 0, q_ = 0, w_ = 0, targets_ = 0;
  double greatest_ = 0.0;  // the largest entry of A'A over the unit, to which rounding errors are relative
  Padded of_trend_, moments_, X_;
};

}  // namespace

Status PathSums::add(const NystromBlocks& blocks, const RowBlock& block) {
  if (blocks.content().kernel && blocks.content().kernel->has_noise())
    return Status::invalid("path: the kernel must have no noise of its own, which lambda would not multiply");
  const Status status = blocks.add(block, rows);
  for (Index i = 0; i < block.X.rows && status.ok(); ++i) {
    const double variance = block.noise(block.noise.rows == 1 ? 0 : i, 0);
    weights += 1.0 / variance;
    inverse_weights += variance;
  }
  return status;
}

void PathSums::add(const PathSums& other) {
  rows.add(other.rows);
  weights += other.weights;
  inverse_weights += other.inverse_weights;
}

Status RegularizationPath::of_landmarks(const NystromBlocks& blocks, const PathSums& sums, const LandmarkPathOptions& options,
                                        RegularizationPath& out) {
  return within_memory([&]() -> Status {
    Maker maker(blocks, sums, options);
    const Status status = maker.make();
    if (status.ok()) out.content_ = maker.content();
    return status;
  });
}

bool RegularizationPath::by_landmarks() const { return content_ && content_->spectrum->landmarks; }

Status RegularizationPath::set_rows(std::shared_ptr<const NystromBlocks> blocks, PathRows rows) {
  if (!content_ || !content_->spectrum->landmarks) return Status::invalid("set_rows: expected a path by landmarks");
  blocks_ = std::move(blocks);
  rows_ = std::move(rows);
  return {};
}

Status RegularizationPath::landmark_coef(double alpha, View<double> out) const {
  return within_memory([&]() -> Status {
    Status status = check_alphas({alpha});
    if (!status.ok()) return status;
    if (!content_ || !content_->spectrum->landmarks) return Status::invalid("landmark_coef: expected a path by landmarks");
    const Spectrum& s = *content_->spectrum;
    const Index w = s.rotation.cols(), r = s.r();
    if (out.rows != w || out.cols != targets())
      return Status::invalid("landmark_coef: expected room for each landmark and column of the trend, and for each target");
    const double lambda = content_->in_units({alpha})[0];
    Numbers shrunk(at(round_up(std::max<Index>(r, 1), Padded::padding)));
    for (Index k = 0; k < out.cols; ++k) {
      for (Index j = 0; j < r; ++j) shrunk[at(j)] = content_->z(j, k) * s.e[at(j)] / (s.e[at(j)] + lambda);
      for (Index l = 0; l < w; ++l) {
        double sum = l >= w - s.q ? content_->trend_of_y(l - (w - s.q), k) : 0.0;
        for (Index j = 0; j < r; ++j) sum += s.rotation(j, l) * shrunk[at(j)];
        out(l, k) = content_->y_unit * sum;
      }
    }
    return status;
  });
}

namespace {

// The numbers by which rows of V are multiplied, for all values of lambda: those of the precision, and those of c for each
// target, (lambda, r). Directions whose eigenvalue is nothing against the least lambda are what no direction explains.
struct Factors {
  Index r = 0;
  Padded precision;
  std::vector<Padded> of_targets;

  Status make(const Content& content, const Numbers& lambda) {
    const Spectrum& s = *content.spectrum;
    const double least = 0.1 * eps * *std::min_element(lambda.begin(), lambda.end());
    while (r < s.r() && s.e[at(r)] > least) ++r;
    const Index count = static_cast<Index>(lambda.size());
    Status status = precision.resize(count, r);
    of_targets.resize(at(content.m()));
    for (Index k = 0; k < content.m() && status.ok(); ++k) status = of_targets[at(k)].resize(count, r);
    if (!status.ok()) return status;
    for (Index j = 0; j < r; ++j)
      for (Index l = 0; l < count; ++l) {
        precision(l, j) = 1.0 / (s.e[at(j)] + lambda[at(l)]);
        for (Index k = 0; k < content.m(); ++k) of_targets[at(k)](l, j) = content.z(j, k) * precision(l, j);
      }
    return status;
  }
};

}  // namespace

Status RegularizationPath::left_out(const NystromBlocks& blocks, const RowBlock& block, const std::vector<double>& alphas,
                                    std::vector<double>& sums) const {
  return within_memory([&]() -> Status {
    Status status = check_alphas(alphas);
    if (!status.ok()) return status;
    if (!content_ || !content_->spectrum->landmarks) return Status::invalid("left_out: expected a path by landmarks");
    const Content& content = *content_;
    const Spectrum& s = *content.spectrum;
    const NystromBlocks::Content& basis = blocks.content();
    const Index count = static_cast<Index>(alphas.size()), targets = content.m(), w = basis.width();
    if (w != s.rotation.cols() || basis.q != s.q)
      return Status::invalid("left_out: expected the landmarks and trend of the sums");
    if (block.noise.rows != 1 && block.noise.rows != block.X.rows)
      return Status::invalid("left_out: expected the noise 1 / w of each row");
    status = basis.check(block, true);
    if (!status.ok()) return status;
    for (const Index column : content.columns)
      if (column >= block.y.cols) return Status::invalid("left_out: expected the targets of the sums");
    const Numbers lambda = content.in_units(alphas);
    Factors factors;
    status = factors.make(content, lambda);
    if (!status.ok()) return status;
    const Index r = factors.r, height = round_up(std::max<Index>(r, 1), Padded::padding), stride = factors.precision.stride();
    constexpr Index rows_of_a_job = 64;
    if (sums.empty()) sums.assign(at(count * targets), 0.0);
    return basis.for_rows(block.X, block.trend, [&](Index begin, Index size, const PointRows& raw) {
      const Index jobs = (size + rows_of_a_job - 1) / rows_of_a_job;
      Numbers parts(at(jobs * count * targets), 0.0);
      const double cost = 0.1 * static_cast<double>(size) * static_cast<double>(r) * static_cast<double>(w + 2 * count);
      const Status done = run_jobs(jobs, cost, [&](Jobs& all, Index job) {
        const TileKernels<double>& kernels = tile_kernels<double>();
        const Index first = job * rows_of_a_job, rows = std::min(rows_of_a_job, size - first);
        Memory room;
        const Status reserved = room.reserve(at(rows_of_a_job * (height + (1 + targets) * stride)) * sizeof(double));
        if (!reserved.ok()) return all.stop(reserved);
        double* const V = static_cast<double*>(room.data());   // V', (r, rows)
        double* const precision = V + rows_of_a_job * height;  // (lambda, rows)
        double* const c = precision + rows_of_a_job * stride;  // the same for each target
        kernels.fill(rows * height, 0.0, V);
        kernels.fill(rows_of_a_job * (1 + targets) * stride, 0.0, precision);
        if (r > 0)
          kernels.multiply_nn(height, rows, w, 1.0, s.rotation.data(), s.rotation.stride(), raw.row(first), raw.stride(), V,
                              height);
        for (Index i = 0; i < rows; ++i) {
          const Index row = begin + first + i;
          const double root = 1.0 / std::sqrt(block.noise(block.noise.rows == 1 ? 0 : row, 0));
          const double* const h = raw.row(first + i) + basis.m;
          double* const v = V + i * height;
          kernels.scale(height, root, v, v);
          for (Index j = r; j < height; ++j) v[j] = 0.0;  // directions that were left out, where the height is padding
          double explained = kernels.dot(height, v, v);
          for (Index a = 0; a < s.q; ++a) {
            double u = 0.0;
            for (Index b = 0; b <= a; ++b) u += s.trend_root(a, b) * h[b];
            explained += root * root * u * u;
          }
          const double beyond = std::max(1.0 - explained, 0.0);
          for (Index l = 0; l < count; ++l) precision[l + i * stride] = beyond / lambda[at(l)];
          for (Index k = 0; k < targets; ++k) {
            double rest = block.y(row, content.columns[at(k)]) / content.y_unit;
            for (Index a = 0; a < s.q; ++a) rest -= content.trend_of_y(a, k) * h[a];
            rest *= root;
            for (Index j = 0; j < r; ++j) rest -= v[j] * content.z(j, k);
            double* const of_row = c + (i + k * rows_of_a_job) * stride;
            for (Index l = 0; l < count; ++l) of_row[l] = rest / lambda[at(l)];
          }
        }
        for (Index k = 0; k < targets && r > 0; ++k)
          kernels.multiply_nn(stride, rows, r, 1.0, factors.of_targets[at(k)].data(), stride, V, height,
                              c + k * rows_of_a_job * stride, stride);
        kernels.multiply(rows * height, V, V, V);
        if (r > 0) kernels.multiply_nn(stride, rows, r, 1.0, factors.precision.data(), stride, V, height, precision, stride);
        double* const part = parts.data() + job * count * targets;
        for (Index k = 0; k < targets; ++k)
          for (Index i = 0; i < rows; ++i)
            for (Index l = 0; l < count; ++l) {
              const double left_out = c[l + (i + k * rows_of_a_job) * stride] / precision[l + i * stride];
              part[l + k * count] += left_out * left_out;
            }
      });
      const double square = content.y_unit * content.y_unit;
      for (Index job = 0; job < jobs && done.ok(); ++job)
        for (Index l = 0; l < count * targets; ++l) sums[at(l)] += square * parts[at(job * count * targets + l)];
      return done;
    });
  });
}

Status RegularizationPath::left_out(const std::vector<double>& alphas, std::vector<double>& means) const {
  if (!rows_ || !blocks_) return Status::invalid("loo: expected a path that knows its rows; those of a saved one are not kept");
  means.clear();
  const Status status = rows_([&](const RowBlock& block) { return left_out(*blocks_, block, alphas, means); });
  for (double& value : means) value /= content_->spectrum->weights;
  return status.ok() && means.empty() ? Status::invalid("loo: there are no rows") : status;
}

Numbers landmark_state(const Content& content) {
  const Spectrum& s = *content.spectrum;
  Numbers state{state_of_landmarks,
                static_cast<double>(s.n),
                static_cast<double>(s.q),
                static_cast<double>(s.r()),
                static_cast<double>(content.m()),
                static_cast<double>(s.rotation.cols()),
                s.k_unit,
                s.least,
                s.greatest,
                s.weights,
                s.log_weights,
                s.inverse_weights,
                s.missing,
                content.y_unit,
                content.noise,
                content.per_alpha};
  state.insert(state.end(), s.e.begin(), s.e.end());
  state.insert(state.end(), content.rest_squares.begin(), content.rest_squares.end());
  for (const Index column : content.columns) state.push_back(static_cast<double>(column));
  for (const Padded* part : {&s.rotation, &s.trend_root, &s.inner, &s.cross, &content.z, &content.trend_of_y})
    for (Index j = 0; j < part->cols(); ++j) state.insert(state.end(), part->column(j), part->column(j) + part->rows());
  return state;
}

Status content_of_landmark_state(View<const double> state, std::shared_ptr<const Content>& out) {
  constexpr Index numbers = 16;
  const Status wrong = Status::invalid("state: expected what a path has given");
  if (state.rows < numbers) return wrong;
  for (Index i = 1; i < 6; ++i)  // sizes, of which the number of rows is not one of what follows
    if (!(state(i, 0) >= 0.0) || state(i, 0) != std::floor(state(i, 0)) ||
        (i > 1 && state(i, 0) > static_cast<double>(state.rows)))
      return wrong;
  const double dq = state(2, 0), dr = state(3, 0), dm = state(4, 0), dw = state(5, 0);
  const double total = numbers + dr + 2.0 * dm + dr * dw + 2.0 * dq * dq + dq * dr + dr * dm + dq * dm;
  if (total != static_cast<double>(state.rows) || !(state(1, 0) >= dq + dr) || state(1, 0) > 1e15 || dm == 0.0 || dw < dq)
    return wrong;
  const auto q = static_cast<Index>(dq), r = static_cast<Index>(dr), m = static_cast<Index>(dm), w = static_cast<Index>(dw);
  const auto spectrum = std::make_shared<Spectrum>();
  const auto content = std::make_shared<Content>();
  content->spectrum = spectrum;
  spectrum->landmarks = true;
  spectrum->n = static_cast<Index>(state(1, 0));
  spectrum->q = q;
  Index place = 6;
  for (double* to : {&spectrum->k_unit, &spectrum->least, &spectrum->greatest, &spectrum->weights, &spectrum->log_weights,
                     &spectrum->inverse_weights, &spectrum->missing, &content->y_unit, &content->noise, &content->per_alpha})
    *to = state(place++, 0);
  for (Index j = 0; j < r; ++j) spectrum->e.push_back(state(place++, 0));
  for (Index k = 0; k < m; ++k) content->rest_squares.push_back(state(place++, 0));
  for (Index k = 0; k < m; ++k) {
    const double column = state(place++, 0);
    if (!(column >= 0.0) || column > 1e9 || column != std::floor(column)) return wrong;
    content->columns.push_back(static_cast<Index>(column));
  }
  struct Part {
    Padded* to;
    Index rows, cols;
  };
  const Part parts[] = {{&spectrum->rotation, r, w}, {&spectrum->trend_root, q, q}, {&spectrum->inner, q, q},
                        {&spectrum->cross, q, r},    {&content->z, r, m},           {&content->trend_of_y, q, m}};
  for (const Part& part : parts) {
    const Status status = part.to->resize(part.rows, part.cols);
    if (!status.ok()) return status;
    const View<const double> from{&state(std::min(place, state.rows - 1), 0), part.rows, part.cols, state.row_stride,
                                  part.rows * state.row_stride};
    place += part.rows * part.cols;
    copy(from, 1.0, part.to->view());
  }
  content->measure();
  out = content;
  return {};
}

}  // namespace kernsel
