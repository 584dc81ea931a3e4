#include "kernsel/vecchia.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "factors/fingerprint.hpp"
#include "factors/landmarks.hpp"
#include "factors/vecchia/state.hpp"
#include "kernsel/gram.hpp"

namespace kernsel {

namespace {

// The number of points by which a trend is estimated if the likelihood's sets are needed for nothing else: so many that their
// number does not matter, but for functions that hardly differ between points.
constexpr Index points_of_trend = 4096, points_of_each_column = 64;

}  // namespace

bool Vecchia::renew(const Kernel& k, View<const double> X, bool always) {
  std::vector<Feature> coordinates;
  if (knows(X) && !always && find_features(k, X, coordinates).ok() && are_alike(coordinates, coordinates_)) return false;
  forget();
  return true;
}

std::vector<double> Vecchia::products() const {
  Numbers out(shown_before_.v.empty() ? 0 : at(m_ * m_), 0.0), errors(at(m_));
  for (Index i = 0; i < static_cast<Index>(shown_before_.v.size()); ++i) {
    for (Index j = 0; j < m_; ++j) errors[at(j)] = error(shown_before_, i, j);
    for (Index j = 0; j < m_; ++j)
      for (Index k = 0; k < m_; ++k) out[at(j + k * m_)] += errors[at(j)] * errors[at(k)];
  }
  return out;
}

void Vecchia::set_options(VecchiaOptions options) {
  options_ = std::move(options);
  forget();
}

Status Vecchia::show(const Kernel& k, const Problem& problem, const Request& request, bool, Fit& fit) {
  return within_memory([&] { return show_all(k, problem, request, fit); });
}

Status Vecchia::pull(const Partials& partials, Gradient& out) {
  return within_memory([&] { return pull_all(partials, out); });
}

Status Vecchia::pull_points(const Partials& partials, View<double> out) {
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

Status Vecchia::information(const Partials& partials, Numbers& out) {
  return within_memory([&] { return information_of(partials, out); });
}

Status Vecchia::differentiate(const Problem& problem, const Criterion& criterion, Evaluation& out) {
  return within_memory([&] { return differentiate_shown(problem, criterion, out); });
}

void Vecchia::forget() {
  shown_ = false;
  before_ = {};
  others_ = {};
  found_ = Before::none;
  all_for_trend_ = false;
  inducing_.set({}, 0);
  columns_of_points_ = -1;
}

// Whether the neighbours are those of these points.
bool Vecchia::knows(View<const double> X) const { return X.cols == columns_of_points_ && fingerprint_of(X) == fingerprint_; }

// The first points of the order by which coefficients are estimated if nothing else needs their sets.
Index Vecchia::enough_for_columns() const { return std::max(points_of_trend, points_of_each_column * columns()); }

// The sets of predecessors that a request needs.
Vecchia::Before Vecchia::needed(const Request& request) const {
  const Before terms = all_terms() ? Before::all : Before::terms;
  if (request.coefficients || request.diagonal) return Before::all;
  if (request.in_sample) return terms;
  if (columns() == 0) return Before::none;
  // All points matter for inducing points, but for a sum over some points.
  if (tiled() && all_terms()) return Before::all;
  return n_ <= enough_for_columns() || all_for_trend_ ? Before::all : Before::first;
}

Status Vecchia::find_features(const Kernel& k, View<const double> X, std::vector<Feature>& out) const {
  if (options_.features.empty()) return features_of(k, X, out);
  for (const Feature& feature : options_.features)
    if (feature.column < 0 || feature.column >= X.cols)
      return Status::invalid("Vecchia's approximation: a feature is of a column that the points do not have");
  out = options_.features;
  return {};
}

Status Vecchia::find_sets(const Request& request) {
  const View<const double>& X = problem_.X;
  if (!knows(X)) {
    forget();
    const Status status = find_features(*k_, X, coordinates_);
    if (!status.ok()) return status;
    columns_of_points_ = X.cols;
    fingerprint_ = fingerprint_of(X);
  }
  Status status = find_landmarks();
  kind_ = needed(request);
  if (status.ok() && kind_ != Before::none && kind_ != found_) {
    SetsOf of{options_.terms, 0};
    if (kind_ != Before::terms) of.points.clear();
    if (kind_ == Before::first) of.first = enough_for_columns();
    status = predecessors(X, coordinates_, options_, of, before_);
    found_ = status.ok() ? kind_ : Before::none;
  }
  const Index wanted = kind_ == Before::all && (request.coefficients || request.diagonal) ? n_ : 0;
  if (status.ok() && request.left_out &&
      (others_.empty() || groups_.of != request.groups.of || jointly_ != request.densities || others_.count() < wanted)) {
    groups_ = request.groups;
    jointly_ = request.densities;
    SetsOf of{options_.terms, 0};
    if (wanted > 0) of.points.clear();
    status = others(X, coordinates_, options_, groups_, jointly_, of.points, others_);
  }
  return status;
}

Status Vecchia::find_landmarks() {
  if (options_.inducing == 0 || tiled()) return {};
  if (options_.inducing < 0 || options_.inducing > VecchiaOptions::most_inducing)
    return Status::invalid("Vecchia's approximation: expected 2000 inducing points at most");
  const View<const double>& X = problem_.X;
  Numbers landmarks = options_.landmarks;
  if (landmarks.empty()) {
    std::vector<Index> chosen;
    const Status status = choose_landmarks(*k_, X, options_.inducing, options_.seed, chosen);
    if (!status.ok()) return status;
    for (const Index i : chosen)
      for (Index j = 0; j < X.cols; ++j) landmarks.push_back(X(i, j));
  } else if (static_cast<Index>(landmarks.size()) % std::max<Index>(X.cols, 1) != 0) {
    return Status::invalid("Vecchia's approximation: expected landmarks with as many columns as the points");
  }
  inducing_.set(std::move(landmarks), X.cols);
  return {};
}

SetPoints Vecchia::points() const {
  const Index features = inducing_.count();
  return {X_, added_.data(), {}, features, rows(D_.row(0), n_, D_.stride())};
}

Status Vecchia::show_all(const Kernel& k, const Problem& problem, const Request& request, Fit& fit) {
  if (request.densities && (problem.trend.cols > 0 || options_.inducing > 0))
    return Status::invalid(
        "Vecchia's approximation has no joint density of groups with a trend or inducing points; leave out points, or these");
  if (request.densities && (request.groups.alone() || request.variances || !all_terms()))
    return Status::invalid("Vecchia's approximation: joint densities are those of groups of all points");
  shown_ = false;
  k_.emplace(k);
  problem_ = problem;
  n_ = problem.X.rows;
  m_ = problem.y.cols;
  q_ = problem.trend.cols;
  request_ = request;
  if (q_ > n_) return Status::invalid("trend: there are more columns than points");
  take_points();
  noise_.assign(at(n_), 0.0);
  Status status = gram_noise(k, problem.X, vector(noise_.data(), n_));
  if (!status.ok()) return status;
  added_.assign(at(n_), 0.0);
  for (Index i = 0; i < n_ && problem.noise.rows > 0; ++i) added_[at(i)] = problem.noise(problem.noise.rows == 1 ? 0 : i, 0);
  for (Index i = 0; i < n_; ++i) noise_[at(i)] += added_[at(i)];
  status = find_sets(request);
  if (status.ok()) status = take_columns();
  if (status.ok()) status = show_sets();
  if (!status.ok() && kind_ == Before::first && status.code == Code::invalid_argument) {
    all_for_trend_ = true;  // a function of the trend may be zero at all of the first points
    status = find_sets(request);
    if (status.ok()) status = show_sets();
  }
  shown_ = status.ok();
  if (shown_) give(fit);
  return status;
}

Status Vecchia::show_sets() {
  log_det_ = log_det_trend_ = 0.0;
  squares_.assign(at(m_), 0.0);
  R_.assign(at(columns() * columns()), 0.0);
  scatters_ = request_.coefficients || request_.diagonal || (request_.left_out && columns() > 0 && kind_ != Before::terms);
  Status status = beta_.resize(m_, columns(), tiled());
  if (status.ok() && kind_ != Before::none) status = show_before();
  if (status.ok() && request_.left_out) status = show_others();
  return status;
}

// The points by rows, copied if they are not.
void Vecchia::take_points() {
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

// The columns and the targets, by rows.
Status Vecchia::take_columns() {
  const Index features = inducing_.count();
  Status status = D_.resize(n_, columns(), tiled());
  if (status.ok() && tiled()) status = inducing_.factorize(*k_);
  if (status.ok() && tiled()) status = inducing_.write(*k_, X_, D_.row(0), D_.stride());
  if (!status.ok()) return status;
  table_width_ = m_;
  table_.resize(at(n_ * m_));
  for (Index i = 0; i < n_; ++i) {
    for (Index j = 0; j < m_; ++j) table_row(i)[j] = problem_.y(i, j);
    for (Index j = 0; j < q_; ++j) D_.row(i)[features + j] = problem_.trend(i, j);
  }
  return {};
}

void Vecchia::show_set(const Cell& cell, const std::int32_t* set, Index i, Shown& out) const {
  const double* v = cell.v();
  std::array<const double*, VecchiaOptions::most_neighbours + 1> rows{};
  gather_columns(cell, set, rows.data());
  double* t = out.t.data() + i * m_;
  for (Index r = 0; r < cell.count(); ++r)
    for (Index j = 0; j < m_; ++j) t[j] += v[r] * table_row(set[r])[j];
  D_.add(cell.count(), rows.data(), v, out.eta.row(i));
  out.v[at(i)] = v[cell.count() - 1];
}

Status Vecchia::clear(Shown& out, Index count) const {
  out.v.assign(at(count), 0.0);
  out.t.assign(at(count * m_), 0.0);
  return out.eta.resize(count, columns(), tiled());
}

// t_i - eta_i'beta for output j.
double Vecchia::error(const Shown& shown, Index i, Index j) const {
  double sum = shown.t[at(i * m_ + j)];
  if (tiled()) return sum - D_.dot(shown.eta.row(i), beta_.row(j));
  for (Index l = 0; l < q_; ++l) sum -= shown.eta.row(i)[l] * beta_.row(j)[l];
  return sum;
}

// What a criterion sees: the points of the terms, in the order of the sets.
void Vecchia::give(Fit& fit) {
  const bool has_all = kind_ == Before::all;  // whether all points have sets of predecessors
  const bool some = !all_terms() && !request_.coefficients && !request_.diagonal;
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
    fit.y = kernsel::columns(static_cast<const double*>(y), count, m_);
    fit.noise = noise;
    fit.weights = problem_.weights ? weights : nullptr;
  } else {
    fit.y = problem_.y;
    fit.noise = noise_.data();
    fit.weights = problem_.weights;
  }
  // Points by which a trend is estimated stand for those that are shown.
  for (double& square : squares_)
    if (!request_.in_sample && kind_ != Before::none && before_.count() != fit.y.rows)
      square *= static_cast<double>(fit.y.rows) / static_cast<double>(before_.count());
  fit.squares = squares_.data();
  if (scatters_ && has_all && !some) {
    fit.c = kernsel::columns(static_cast<const double*>(c_.data()), n_, m_);
    fit.precision = precision_.data();
  }
  fit.trend = q_;
  fit.log_det = kind_ == Before::terms || has_all ? log_det_ : std::nan("");
  fit.log_det_trend = log_det_trend_;
  if (request_.left_out) fit.left_out = &left_out_;
}

std::unique_ptr<VecchiaFactor> vecchia_factor(VecchiaOptions options) { return std::make_unique<Vecchia>(std::move(options)); }

}  // namespace kernsel
