// The factor: passes over the rows of a problem that are in memory.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/memory.hpp"
#include "base/random.hpp"
#include "factors/fingerprint.hpp"
#include "factors/groups.hpp"
#include "factors/nystrom/alone.hpp"
#include "factors/nystrom/grouped_rows.hpp"
#include "kernsel/gram.hpp"
#include "kernsel/nystrom.hpp"

namespace kernsel {

namespace {

using Numbers = std::vector<double>;

constexpr Index rows_of_information = 500;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

class Nystrom final : public NystromFactor {
 public:
  explicit Nystrom(NystromOptions options) : options_(std::move(options)) {}

  const Numbers& landmarks() const override { return landmarks_; }
  const NystromOptions& options() const override { return options_; }
  void set_options(NystromOptions options) override {
    options_ = std::move(options);
    landmarks_.clear();
  }

  Status show(const Kernel& k, const Problem& problem, const Request& request, bool differentiable, Fit& fit) override {
    return within_memory([&] { return show_all(k, problem, request, differentiable, fit); });
  }
  Numbers trend_coefficients() const override { return blocks_.trend_coefficients(); }
  Status pull(const Partials& partials, Gradient& out) override {
    return within_memory([&] { return pull_all(partials, out, {}, {}); });
  }
  Status pull_points(const Partials& partials, View<double> out) override {
    return within_memory([&] {
      Gradient unused;
      return pull_all(partials, unused, out, {});
    });
  }
  Status pull_landmarks(const Partials& partials, Numbers& out) override {
    return within_memory([&] {
      Gradient unused;
      out.assign(landmarks_.size(), 0.0);
      const Index d = problem_.X.cols;
      return pull_all(partials, unused, {}, kernsel::rows(out.data(), static_cast<Index>(out.size()) / d, d));
    });
  }
  Status information(const Partials& partials, Numbers& out) override {
    return within_memory([&] { return information_of_some(partials, out); });
  }

 private:
  Status show_all(const Kernel& k, const Problem& problem, const Request& request, bool differentiable, Fit& fit);
  Status pull_all(const Partials& partials, Gradient& out, View<double> points, View<double> landmarks);
  Status information_of_some(const Partials& partials, Numbers& out);
  Status find_landmarks();
  RowBlock rows() const {
    return {problem_.X, problem_.y, problem_.noise, problem_.trend,
            problem_.weights ? vector(problem_.weights, n_) : View<const double>{}};
  }

  NystromOptions options_;
  Numbers landmarks_;
  std::uint64_t fingerprint_ = 0;
  Index columns_ = -1;

  std::optional<Kernel> k_;
  Problem problem_;
  NystromBlocks blocks_;
  NystromSums sums_;
  NystromPartialSums of_losses_;  // if the second pass has differentiated a sum of losses, over unit_
  double unit_ = 1.0;
  std::optional<GroupedRows> groups_;  // if points are not left out alone
  Index n_ = 0, m_ = 0;                // points, outputs
  ShownRows shown_;
  Numbers noise_;
  LeftOut left_out_;
};

Status Nystrom::find_landmarks() {
  const View<const double>& X = problem_.X;
  const std::uint64_t fingerprint = fingerprint_of(X);
  if (!landmarks_.empty() && X.cols == columns_ && (fingerprint == fingerprint_ || !options_.given.empty())) return {};
  landmarks_.clear();
  const Status status = choose_landmarks(*k_, X, options_, landmarks_);
  columns_ = X.cols;
  fingerprint_ = fingerprint;
  return status;
}

Status Nystrom::show_all(const Kernel& k, const Problem& problem, const Request& request, bool differentiable, Fit& fit) {
  k_.emplace(k);
  problem_ = problem;
  n_ = problem.X.rows;
  m_ = problem.y.cols;
  if (problem.trend.cols > n_) return Status::invalid("trend: there are more columns than points");
  Status status = find_landmarks();
  const Index d = problem.X.cols;
  if (!status.ok()) return status;
  const auto count = static_cast<Index>(landmarks_.size()) / std::max<Index>(d, 1);
  status = blocks_.begin(k, kernsel::rows(static_cast<const double*>(landmarks_.data()), count, d), problem.trend.cols);
  sums_ = {};
  of_losses_ = {};
  groups_.reset();
  const bool alone = !request.densities && (request.groups.alone() || request.groups.count == n_);
  std::vector<std::vector<Index>> single;
  if (status.ok() && alone && !request.groups.alone()) status = points_of(request.groups, n_, single);
  if (status.ok() && request.left_out && !alone) {
    status = groups_.emplace().arrange(problem, request, count + problem.trend.cols);
    if (status.ok()) status = groups_->add(blocks_, differentiable, sums_);
  } else if (status.ok()) {
    status = blocks_.add(rows(), sums_);
  }
  if (status.ok()) status = blocks_.solve(sums_);
  noise_.assign(at(n_), 0.0);
  if (status.ok()) status = gram_noise(k, problem.X, vector(noise_.data(), n_));
  if (!status.ok()) return status;
  for (Index i = 0; i < n_ && problem.noise.rows > 0; ++i) noise_[at(i)] += problem.noise(problem.noise.rows == 1 ? 0 : i, 0);
  Request of_rows = request;
  of_rows.left_out = request.left_out && !groups_;
  shown_.resize(of_rows, n_, m_);
  const auto view = [this](Numbers& of, Index cols) { return of.empty() ? View<double>{} : columns(of.data(), n_, cols); };
  if (request.slopes && differentiable) {
    unit_ = unit_of_losses(sums_);
    status = blocks_.show_losses(rows(), request, unit_, view(shown_.c, m_), view(shown_.precision, 1), of_losses_);
  } else if (!shown_.c.empty() || !shown_.precision.empty())
    status = blocks_.show(rows(), view(shown_.c, m_), view(shown_.precision, 1), view(shown_.missing, 1));
  if (status.ok() && of_rows.left_out) left_out_ = shown_.left_out();
  if (status.ok() && groups_) status = groups_->leave_out(blocks_, sums_, left_out_);
  if (!status.ok()) return status;
  fit = {};
  fit.y = problem.y;
  if (!shown_.c.empty()) fit.c = columns(static_cast<const double*>(shown_.c.data()), n_, m_);
  fit.precision = shown_.precision.empty() ? nullptr : shown_.precision.data();
  fit.noise = noise_.data();
  fit.weights = problem.weights;
  fit.trend = problem.trend.cols;
  fit.log_det = blocks_.log_det();
  fit.log_det_trend = blocks_.log_det_trend();
  fit.missing = options_.bound ? sums_.missing : 0.0;
  fit.left_out = request.left_out ? &left_out_ : nullptr;
  fit.squares = blocks_.squares().data();
  return status;
}

Status Nystrom::pull_all(const Partials& partials, Gradient& out, View<double> points, View<double> landmarks) {
  out.theta.assign(at(k_->parameters()), 0.0);
  out.noise.assign(at(n_), 0.0);
  out.targets.assign(at(n_ * m_), 0.0);
  const NystromRowGradient of_each{kernsel::vector(out.noise.data(), n_), kernsel::columns(out.targets.data(), n_, m_), points};
  const NystromTotals totals{partials.squares, partials.log_det, partials.log_det_trend,
                             options_.bound ? partials.missing : 0.0};
  Status status;
  if (groups_) {
    status = groups_->pull(blocks_, sums_, partials, totals, out.theta.data(), of_each, landmarks);
  } else {
    RowSlopes slopes(partials, shown_);
    blocks_.set_totals(totals);
    NystromPartialSums sums;
    const bool differentiated = !of_losses_.theta.empty() && partials.slope_factor != 0.0 && !points.data && !landmarks.data;
    if (differentiated) {
      sums = of_losses_;
      sums.multiply(partials.slope_factor * unit_);
      slopes.move_to_noise(shown_, noise_);
      out.theta = sums.theta;
    }
    const NystromPartials of_rows = slopes.of(0, n_);
    if (!differentiated && !slopes.empty()) status = blocks_.add_partials(rows(), of_rows, sums);
    if (status.ok()) status = blocks_.solve_partials(sums);
    if (status.ok()) status = blocks_.pull(rows(), of_rows, out.theta.data(), of_each, landmarks);
    if (status.ok()) status = blocks_.pull_landmarks(out.theta.data(), landmarks);
  }
  for (double& slope : out.theta) slope *= partials.unit;
  for (double& slope : out.noise) slope *= partials.unit;
  for (double& slope : out.targets) slope *= partials.unit;
  for (const View<double>& derivatives : {points, landmarks})
    for (Index i = 0; i < derivatives.rows; ++i)
      for (Index j = 0; j < derivatives.cols; ++j) derivatives(i, j) *= partials.unit;
  return status;
}

// That of the whole kernel matrix of some points, in proportion.
Status Nystrom::information_of_some(const Partials& partials, Numbers& out) {
  Random random(options_.seed);
  const std::vector<Index> chosen = random.subset(n_, std::min(n_, rows_of_information));
  const auto count = static_cast<Index>(chosen.size());
  const auto copy = [&](View<const double> from, Numbers& to) {
    if (from.rows != n_) return from;
    for (const Index i : chosen)
      for (Index j = 0; j < from.cols; ++j) to.push_back(from(i, j));
    return kernsel::rows(static_cast<const double*>(to.data()), count, from.cols);
  };
  Numbers X, y, noise, trend, unknown;
  const Problem some{copy(problem_.X, X),
                     copy(problem_.y, y),
                     copy(problem_.noise, noise),
                     copy(problem_.trend, trend),
                     nullptr,
                     copy(problem_.unknown_noise, unknown)};
  const std::unique_ptr<Factor> dense = dense_factor();
  Fit fit;
  Request request;
  Status status = dense->show(*k_, some, request, true, fit);
  Partials of_some;
  of_some.variance = partials.variance;
  of_some.freedom = partials.freedom * static_cast<double>(count) / static_cast<double>(n_);
  of_some.profiled = partials.profiled;
  if (status.ok()) status = dense->information(of_some, out);
  for (double& entry : out) entry *= static_cast<double>(n_) / static_cast<double>(count);
  return status;
}

}  // namespace

std::unique_ptr<NystromFactor> nystrom_factor(NystromOptions options) { return std::make_unique<Nystrom>(std::move(options)); }

}  // namespace kernsel
