// The construction of a path. With Q'H = [R; 0], where Q = [U, Z] is a product of q reflections, Q'KQ has U'KU in its first q
// rows and columns, and Z'KZ in the others: Z is not formed, and a trend takes O(n^2 q) operations more.
#include "kernsel/path.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/call_out.hpp"
#include "kernsel/decomposition.hpp"
#include "kernsel/gram.hpp"
#include "paths/content.hpp"
#include "paths/householder.hpp"

namespace kernsel {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

void sum_weights(Spectrum& s) {
  for (const double root : s.root) {
    s.weights += root * root;
    s.log_weights += 2.0 * std::log(root);
    s.inverse_weights += 1.0 / (root * root) / static_cast<double>(s.n);
  }
}

class Maker {
 public:
  explicit Maker(const PathProblem& problem) : problem_(problem) {}

  Status of_matrix(View<const double> K, const Decomposition& decompose) {
    if (K.rows != K.cols || K.rows != problem_.y.rows)
      return Status::invalid("K: expected a square matrix with one row for each row of y");
    Status status = begin(K, false);
    const double largest = status.ok() ? largest_of(work_.view()) : 0.0;
    if (status.ok() && q_ > 0) status = rotate_rows_and_columns();
    const Index r = n_ - q_;
    std::vector<double> e(static_cast<std::size_t>(r));
    if (status.ok()) status = vectors_.resize(n_, r);
    if (status.ok() && r > 0) {
      const View<double> values = vector(e.data(), r), vectors = vectors_.view().block(q_, 0, r, r);
      status = run(decompose, symmetric_eigen, work_.view().block(q_, q_, r, r), values, vectors);
    }
    if (!status.ok()) return status;
    return finish_matrix(e, largest);
  }

  Status of_eigen(View<const double> e, View<const double> V) {
    n_ = problem_.y.rows;
    if (problem_.trend.cols > 0 || problem_.weights) return Status::invalid("of_eigen: expected no trend and no weights");
    if (e.rows != n_ || V.rows != n_ || V.cols != n_) return Status::invalid("of_eigen: expected e (n) and V (n, n)");
    const double largest = largest_of(e);
    if (!std::isfinite(largest)) return Status::invalid("of_eigen: expected finite numbers");
    Status status = check_problem();
    spectrum_->k_unit = power_of_two(largest);
    if (status.ok()) status = vectors_.resize(n_, n_);
    if (!status.ok()) return status;
    std::vector<double> sorted(static_cast<std::size_t>(n_));
    const std::vector<Index> order = descending(n_, [&](Index i) { return e(i, 0); });
    for (Index j = 0; j < n_; ++j) {
      const Index from = order[static_cast<std::size_t>(j)];
      sorted[static_cast<std::size_t>(j)] = e(from, 0) / spectrum_->k_unit;
      for (Index i = 0; i < n_; ++i) vectors_(i, j) = V(i, from);
    }
    return finish_matrix(sorted, largest / spectrum_->k_unit);
  }

  Status of_features(View<const double> A, const Decomposition& decompose) {
    const Index d = A.cols;
    if (A.rows != problem_.y.rows || d == 0) return Status::invalid("A: expected one row for each row of y");
    Status status = begin(A, true);
    if (status.ok() && q_ > 0) status = apply(trend_.H, true, work_);
    const Index rest = n_ - q_, k = std::min(rest, d);
    std::vector<double> s(static_cast<std::size_t>(k));
    Padded kept;  // the decomposition may overwrite what it is given
    if (status.ok()) status = kept.resize(n_, d);
    if (status.ok()) status = vectors_.resize(n_, k);
    if (!status.ok()) return status;
    copy(work_.view(), 1.0, kept.view());
    if (k > 0)
      status = run(decompose, singular_values, work_.view().block(q_, 0, rest, d), vector(s.data(), k),
                   vectors_.view().block(q_, 0, rest, k));
    if (!status.ok()) return status;
    const double least = static_cast<double>(std::max(n_, d)) * eps * (s.empty() ? 0.0 : s[0]);
    std::vector<double>& e = spectrum_->e;
    for (const double value : s)
      if (value > least) e.push_back(value * value);
    const auto r = static_cast<Index>(e.size());
    if (!e.empty()) spectrum_->greatest = e[0];
    // U'AA'U and U'AA'V, from the first q rows of Q'A.
    Padded part;  // (d, r): (Z'A)' times the vectors
    status = part.resize(d, r);
    if (status.ok()) status = spectrum_->inner.resize(q_, q_);
    if (status.ok()) status = spectrum_->cross.resize(q_, r);
    if (!status.ok()) return status;
    if (q_ > 0) {
      for (Index j = 0; j < r; ++j)
        for (Index i = 0; i < d; ++i) part(i, j) = dot_from(q_, kept.stride(), vectors_.column(j), kept.column(i));
      for (Index a = 0; a < q_; ++a) {
        for (Index b = 0; b < q_; ++b)
          for (Index i = 0; i < d; ++i) spectrum_->inner(a, b) += kept(a, i) * kept(b, i);
        for (Index j = 0; j < r; ++j)
          for (Index i = 0; i < d; ++i) spectrum_->cross(a, j) += kept(a, i) * part(i, j);
      }
    }
    return finish(r);
  }

  std::shared_ptr<RegularizationPath::Content> content() const { return content_; }

 private:
  template <class F>
  static std::vector<Index> descending(Index count, const F& value) {
    std::vector<Index> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return value(a) > value(b); });
    return order;
  }

  template <class F>
  static Status run(const Decomposition& given, const F& own, View<double> A, View<double> values, View<double> vectors) {
    if (!given) return own(A, values, vectors);
    Status status;
    const Status called = call_out([&] { status = given(A, values, vectors); });
    if (!called.ok() || !status.ok()) return called.ok() ? status : called;
    for (Index j = 0; j < vectors.cols; ++j)
      if (!std::isfinite(values(j, 0)) || (j > 0 && values(j, 0) > values(j - 1, 0)))
        return Status::invalid("decompose: expected finite values, the largest first");
    return status;
  }

  Status check_problem() {
    n_ = problem_.y.rows;
    q_ = problem_.trend.cols;
    content_->spectrum = spectrum_;
    spectrum_->n = n_;
    spectrum_->q = q_;
    if (n_ == 0 || problem_.y.cols == 0) return Status::invalid("y: expected a point at least");
    if (q_ > 0 && problem_.trend.rows != n_) return Status::invalid("trend: expected one row for each row of y");
    if (q_ > n_) return Status::invalid("trend: expected no more columns than points");
    if (!(problem_.sigma >= 0.0) || !std::isfinite(problem_.sigma))
      return Status::invalid("sigma: expected a number that is not negative");
    spectrum_->root.assign(static_cast<std::size_t>(n_), 1.0);
    for (Index i = 0; i < n_ && problem_.weights; ++i) {
      if (!(problem_.weights[i] > 0.0) || !std::isfinite(problem_.weights[i]))
        return Status::invalid("weights: expected positive, finite numbers");
      spectrum_->root[static_cast<std::size_t>(i)] = std::sqrt(problem_.weights[i]);
    }
    return {};
  }

  double root(Index i) const { return spectrum_->root[static_cast<std::size_t>(i)]; }

  // Sets work_ to K or A with weights, divided by its unit, and trend_ to the reflections of the trend.
  Status begin(View<const double> matrix, bool features) {
    Status status = check_problem();
    if (status.ok()) status = work_.resize(n_, matrix.cols);
    if (!status.ok()) return status;
    for (Index j = 0; j < matrix.cols; ++j)
      for (Index i = 0; i < n_; ++i) work_(i, j) = matrix(i, j) * (features ? root(i) : root(i) * root(j));
    const double largest = largest_of(work_.view());
    if (!std::isfinite(largest)) return Status::invalid(features ? "A: expected finite numbers" : "K: expected finite numbers");
    const double unit = power_of_two(largest);
    for (Index j = 0; j < matrix.cols; ++j)
      for (Index i = 0; i < n_; ++i) work_(i, j) /= unit;
    spectrum_->features = features;
    spectrum_->k_unit = features ? unit * unit : unit;
    if (q_ == 0) return status;
    Padded H;
    status = H.resize(n_, q_);
    if (!status.ok()) return status;
    for (Index j = 0; j < q_; ++j)
      for (Index i = 0; i < n_; ++i) H(i, j) = problem_.trend(i, j) * root(i);
    const double of_trend = largest_of(H.view());
    if (!std::isfinite(of_trend)) return Status::invalid("trend: expected finite numbers");
    copy(H.view(), 1.0 / power_of_two(of_trend), H.view());
    return factorize_qr(H, trend_);
  }

  // work_ <- Q'KQ.
  Status rotate_rows_and_columns() {
    Status status = apply(trend_.H, true, work_);
    if (!status.ok()) return status;
    for (Index j = 0; j < n_; ++j)
      for (Index i = 0; i < j; ++i) std::swap(work_(i, j), work_(j, i));
    return apply(trend_.H, true, work_);
  }

  // `largest` is the largest entry of K: rounding errors are relative to it, and not to the eigenvalues of Z'KZ, which may be
  // much smaller.
  Status finish_matrix(const std::vector<double>& e, double largest) {
    const Index r = n_ - q_;
    double most = 0.0;
    for (const double value : e) most = std::max(most, std::abs(value));
    if (!e.empty()) {
      spectrum_->least = e.back();
      spectrum_->greatest = e.front();
      if (e.back() < -100.0 * static_cast<double>(n_) * problem_.rounding * std::max(most, largest)) {
        Status status;
        status.code = Code::not_positive_definite;
        status.pivot = n_ - 1;
        status.value = e.back() * spectrum_->k_unit;
        return status;
      }
    }
    spectrum_->e = e;
    for (double& value : spectrum_->e) value = value > static_cast<double>(n_) * eps * most ? value : 0.0;
    Status status = spectrum_->inner.resize(q_, q_);
    if (status.ok()) status = spectrum_->cross.resize(q_, r);
    if (!status.ok()) return status;
    if (q_ > 0) {
      copy(work_.view().block(0, 0, q_, q_), 1.0, spectrum_->inner.view());
      // Column a of Q'KQ, from row q on, is Z'K u_a.
      for (Index j = 0; j < r; ++j)
        for (Index a = 0; a < q_; ++a)
          spectrum_->cross(a, j) = dot_from(q_, work_.stride(), vectors_.column(j), work_.column(a));
    }
    return finish(r);
  }

  // Computes V = Q [0; vectors], and y in these coordinates.
  Status finish(Index r) {
    work_ = Padded();
    if (r < vectors_.cols()) {
      Padded fewer;
      const Status status = fewer.resize(n_, r);
      if (!status.ok()) return status;
      copy(vectors_.view().block(0, 0, n_, r), 1.0, fewer.view());
      vectors_ = std::move(fewer);
    }
    const Index m = problem_.y.cols;
    Padded& z = content_->z;
    Padded& rest = content_->rest;
    Status status = q_ > 0 ? apply(trend_.H, false, vectors_) : Status{};
    if (status.ok()) status = q_ > 0 ? columns_of_q(trend_.H, q_, spectrum_->U) : spectrum_->U.resize(n_, 0);
    if (status.ok()) status = z.resize(r, m);
    if (status.ok()) status = rest.resize(n_, m);
    if (!status.ok()) return status;
    for (Index k = 0; k < m; ++k)
      for (Index i = 0; i < n_; ++i) rest(i, k) = problem_.y(i, k) * root(i);
    const double largest = largest_of(rest.view());
    if (!std::isfinite(largest)) return Status::invalid("y: expected finite numbers");
    content_->y_unit = power_of_two(largest);
    copy(rest.view(), 1.0 / content_->y_unit, rest.view());
    for (Index k = 0; k < m; ++k) {
      double* const y = rest.column(k);
      for (Index j = 0; j < r; ++j) z(j, k) = dot_from(0, rest.stride(), vectors_.column(j), y);
      if (!spectrum_->features) {
        std::fill_n(y, rest.stride(), 0.0);
        continue;
      }
      std::vector<double> of_trend(static_cast<std::size_t>(q_));
      for (Index a = 0; a < q_; ++a)
        of_trend[static_cast<std::size_t>(a)] = dot_from(0, rest.stride(), spectrum_->U.column(a), y);
      for (Index a = 0; a < q_; ++a)
        add_from(0, rest.stride(), -of_trend[static_cast<std::size_t>(a)], spectrum_->U.column(a), y);
      for (Index j = 0; j < r; ++j) add_from(0, rest.stride(), -z(j, k), vectors_.column(j), y);
    }
    spectrum_->beyond.assign(static_cast<std::size_t>(n_), 0.0);
    if (spectrum_->features) {
      std::vector<double>& beyond = spectrum_->beyond;
      for (const Padded* basis : {&vectors_, &spectrum_->U})
        for (Index j = 0; j < basis->cols(); ++j)
          for (Index i = 0; i < n_; ++i) beyond[static_cast<std::size_t>(i)] += (*basis)(i, j) * (*basis)(i, j);
      for (double& value : beyond) value = std::max(1.0 - value, 0.0);
    }
    status = spectrum_->V.assign(vectors_.view());
    content_->noise = problem_.sigma;
    sum_weights(*spectrum_);
    content_->per_alpha = (problem_.mean_of_errors ? spectrum_->weights : 1.0) / spectrum_->k_unit;
    content_->measure_squares();
    content_->measure();
    return status;
  }

  const PathProblem& problem_;
  std::shared_ptr<Spectrum> spectrum_ = std::make_shared<Spectrum>();
  std::shared_ptr<RegularizationPath::Content> content_ = std::make_shared<RegularizationPath::Content>();
  Index n_ = 0, q_ = 0;
  Padded work_, vectors_;
  QR trend_;
};

}  // namespace

void RegularizationPath::Content::measure() {
  energy.assign(spectrum->e.size(), 0.0);
  energy_of_rest = 0.0;
  for (Index k = 0; k < z.cols(); ++k) {
    for (Index j = 0; j < z.rows(); ++j) energy[static_cast<std::size_t>(j)] += z(j, k) * z(j, k);
    energy_of_rest += rest_squares[static_cast<std::size_t>(k)];
  }
}

void RegularizationPath::Content::measure_squares() {
  rest_squares.assign(static_cast<std::size_t>(rest.cols()), 0.0);
  for (Index k = 0; k < rest.cols(); ++k)
    for (Index i = 0; i < rest.rows(); ++i) rest_squares[static_cast<std::size_t>(k)] += rest(i, k) * rest(i, k);
}

Status RegularizationPath::of_matrix(View<const double> K, const PathProblem& problem, RegularizationPath& out,
                                     const Decomposition& decompose) {
  return within_memory([&]() -> Status {
    Maker maker(problem);
    const Status status = maker.of_matrix(K, decompose);
    if (status.ok() || status.code == Code::not_positive_definite) out.content_ = maker.content();
    return status;
  });
}

Status RegularizationPath::of_kernel(const Kernel& k, View<const double> X, const PathProblem& problem,
                                     RegularizationPath& out) {
  return within_memory([&]() -> Status {
    Padded K;
    Status status = K.resize(X.rows, X.rows);
    if (status.ok()) status = gram<double>(k, X, K.view());
    return status.ok() ? of_matrix(K.view(), problem, out) : status;
  });
}

Status RegularizationPath::of_features(View<const double> A, const PathProblem& problem, RegularizationPath& out,
                                       const Decomposition& decompose) {
  return within_memory([&]() -> Status {
    Maker maker(problem);
    const Status status = maker.of_features(A, decompose);
    if (status.ok()) out.content_ = maker.content();
    return status;
  });
}

Status RegularizationPath::of_eigen(View<const double> e, View<const double> V, const PathProblem& problem,
                                    RegularizationPath& out) {
  return within_memory([&]() -> Status {
    Maker maker(problem);
    const Status status = maker.of_eigen(e, V);
    if (status.ok() || status.code == Code::not_positive_definite) out.content_ = maker.content();
    return status;
  });
}

Index RegularizationPath::points() const { return content_ ? content_->n() : 0; }
Index RegularizationPath::targets() const { return content_ ? content_->m() : 0; }
Index RegularizationPath::trend_columns() const { return content_ ? content_->spectrum->q : 0; }
double RegularizationPath::largest_alpha() const { return content_ ? content_->largest() / content_->per_alpha : 1.0; }
double RegularizationPath::least_eigenvalue() const {
  return content_ ? content_->spectrum->least * content_->spectrum->k_unit : 0.0;
}
double RegularizationPath::greatest_eigenvalue() const {
  return content_ ? content_->spectrum->greatest * content_->spectrum->k_unit : 0.0;
}

std::vector<double> RegularizationPath::eigenvalues() const {
  std::vector<double> values = content_ ? content_->spectrum->e : std::vector<double>();
  for (double& value : values) value *= content_->spectrum->k_unit;
  return values;
}

std::vector<double> RegularizationPath::default_alphas() const {
  std::vector<double> alphas;
  for (int i = 0; i < 200; ++i) alphas.push_back(std::pow(10.0, -12.0 + 14.0 * i / 199.0) * largest_alpha());
  return alphas;
}

Status RegularizationPath::target(Index k, RegularizationPath& out) const {
  return within_memory([&]() -> Status {
    if (k < 0 || k >= targets()) return Status::invalid("target: there is no such column of y");
    const auto one = std::make_shared<Content>();
    one->spectrum = content_->spectrum;
    one->y_unit = content_->y_unit;
    one->noise = content_->noise;
    one->per_alpha = content_->per_alpha;
    if (content_->spectrum->landmarks) one->columns = {content_->columns[static_cast<std::size_t>(k)]};
    one->rest_squares = {content_->rest_squares[static_cast<std::size_t>(k)]};
    const std::pair<const Padded*, Padded*> parts[] = {
        {&content_->z, &one->z}, {&content_->rest, &one->rest}, {&content_->trend_of_y, &one->trend_of_y}};
    for (const auto& [from, to] : parts) {
      const Status status = to->resize(from->rows(), 1);
      if (!status.ok()) return status;
      if (from->cols() > 0) copy(from->view().block(0, k, to->rows(), 1), 1.0, to->view());
    }
    one->measure();
    out.content_ = one;
    out.blocks_ = blocks_;
    out.rows_ = rows_;
    return Status{};
  });
}

std::vector<double> RegularizationPath::state() const {
  if (!content_) return {};
  if (content_->spectrum->landmarks) return landmark_state(*content_);
  const Spectrum& s = *content_->spectrum;
  std::vector<double> state{static_cast<double>(s.n),
                            static_cast<double>(s.q),
                            static_cast<double>(s.r()),
                            static_cast<double>(targets()),
                            s.features ? 1.0 : 0.0,
                            s.k_unit,
                            s.least,
                            s.greatest,
                            content_->y_unit,
                            content_->noise,
                            content_->per_alpha};
  for (const std::vector<double>* part : {&s.e, &s.root, &s.beyond}) state.insert(state.end(), part->begin(), part->end());
  for (const Padded* part : {&s.U, &s.inner, &s.cross, &content_->z, &content_->rest})
    for (Index j = 0; j < part->cols(); ++j) state.insert(state.end(), part->column(j), part->column(j) + part->rows());
  for (Index j = 0; j < s.r(); ++j)
    for (Index i = 0; i < s.n; ++i) state.push_back(s.V(i, j));
  return state;
}

Status RegularizationPath::from_state(View<const double> state, RegularizationPath& out) {
  return within_memory([&]() -> Status {
    constexpr Index numbers = 11;
    const Status wrong = Status::invalid("state: expected what a path has given");
    if (state.rows < numbers) return wrong;
    if (state(0, 0) == state_of_landmarks) return content_of_landmark_state(state, out.content_);
    Index sizes[4];
    for (Index i = 0; i < 4; ++i) {
      const double size = state(i, 0);
      if (!(size >= 0.0) || size > static_cast<double>(state.rows) || size != std::floor(size)) return wrong;
      sizes[i] = static_cast<Index>(size);
    }
    const auto [n, q, r, m] = sizes;
    // In floating point, since a product of sizes could overflow.
    const double dn = state(0, 0), dq = state(1, 0), dr = state(2, 0), dm = state(3, 0);
    const double total = numbers + dr + 2.0 * dn + dn * dq + dq * dq + dq * dr + dr * dm + dn * dm + dn * dr;
    if (total != static_cast<double>(state.rows) || q + r > n || n == 0 || m == 0) return wrong;
    const auto spectrum = std::make_shared<Spectrum>();
    const auto content = std::make_shared<Content>();
    content->spectrum = spectrum;
    spectrum->n = n;
    spectrum->q = q;
    spectrum->features = state(4, 0) != 0.0;
    spectrum->k_unit = state(5, 0);
    spectrum->least = state(6, 0);
    spectrum->greatest = state(7, 0);
    content->y_unit = state(8, 0);
    content->noise = state(9, 0);
    content->per_alpha = state(10, 0);
    Index place = numbers;
    const auto take = [&](Index rows, Index cols) {
      const View<const double> from{&state(place, 0), rows, cols, state.row_stride, rows * state.row_stride};
      place += rows * cols;
      return from;
    };
    const std::pair<std::vector<double>*, Index> vectors[] = {{&spectrum->e, r}, {&spectrum->root, n}, {&spectrum->beyond, n}};
    for (const auto& [to, size] : vectors) {
      to->resize(static_cast<std::size_t>(size));
      copy(take(size, 1), 1.0, vector(to->data(), size));
    }
    struct Part {
      Padded* to;
      Index rows, cols;
    };
    const Part parts[] = {
        {&spectrum->U, n, q}, {&spectrum->inner, q, q}, {&spectrum->cross, q, r}, {&content->z, r, m}, {&content->rest, n, m}};
    for (const Part& part : parts) {
      const Status status = part.to->resize(part.rows, part.cols);
      if (!status.ok()) return status;
      copy(take(part.rows, part.cols), 1.0, part.to->view());
    }
    const Status status = spectrum->V.assign(take(n, r));
    if (!status.ok()) return status;
    sum_weights(*spectrum);
    content->measure_squares();
    content->measure();
    out.content_ = content;
    return status;
  });
}

}  // namespace kernsel
