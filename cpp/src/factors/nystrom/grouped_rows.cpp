#include "factors/nystrom/grouped_rows.hpp"

#include "factors/groups.hpp"
#include "factors/nystrom/content.hpp"

namespace kernsel {

namespace {

using Numbers = std::vector<double>;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

Numbers copy_in_order(View<const double> from, const std::vector<Index>& order) {
  Numbers to;
  const bool each = from.rows == static_cast<Index>(order.size());
  to.reserve(at(each ? from.rows * from.cols : from.rows));
  if (!each)
    for (Index i = 0; i < from.rows; ++i) to.push_back(from(i, 0));
  for (std::size_t at_row = 0; at_row < order.size() && each; ++at_row)
    for (Index j = 0; j < from.cols; ++j) to.push_back(from(order[at_row], j));
  return to;
}

bool any(const Numbers& values) {
  return std::any_of(values.begin(), values.end(), [](double value) { return value != 0.0; });
}

}  // namespace

Status GroupedRows::arrange(const Problem& problem, const Request& request, Index width) {
  std::vector<std::vector<Index>> groups;
  const Status status = points_of(request.groups, problem.X.rows, groups);
  if (!status.ok()) return status;
  outputs_ = small_.outputs = problem.y.cols;
  columns_ = problem.X.cols;
  trend_columns_ = small_.trend = problem.trend.cols;
  variances_ = request.variances;
  densities_ = request.densities;
  // A joint density needs the covariances of a group in any case.
  const auto small = [&](const std::vector<Index>& group) { return densities_ || static_cast<Index>(group.size()) <= width; };
  std::vector<Index> ends;
  for (const bool size : {true, false})
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (small(groups[g]) != size) continue;
      order_.insert(order_.end(), groups[g].begin(), groups[g].end());
      (size ? small_.ends : ends).push_back(count());
      if (size) small_groups_.push_back(static_cast<Index>(g));
    }
  large_.begin(small_.rows(), std::move(ends));
  X_ = copy_in_order(problem.X, order_);
  y_ = copy_in_order(problem.y, order_);
  noise_ = copy_in_order(problem.noise, order_);
  trend_ = copy_in_order(problem.trend, order_);
  return status;
}

RowBlock GroupedRows::rows() const {
  const Index n = count();
  const auto view = [](const Numbers& of, Index rows, Index cols) {
    return of.empty() ? View<const double>{} : kernsel::rows(of.data(), rows, cols);
  };
  return {view(X_, n, columns_), view(y_, n, outputs_), view(noise_, static_cast<Index>(noise_.size()), 1),
          view(trend_, n, trend_columns_)};
}

Status GroupedRows::add(const NystromBlocks& blocks, bool differentiable, NystromSums& total) {
  return large_.add(blocks, rows(), differentiable && variances_ ? 2 : 1, total);
}

Status GroupedRows::leave_out(NystromBlocks& blocks, const NystromSums& total, LeftOut& out) {
  const Index n = count(), m = outputs_, few = small_.rows();
  RowBlock block = rows(), of_small = block;
  of_small.X.rows = of_small.y.rows = few;
  if (of_small.noise.rows == n) of_small.noise.rows = few;
  if (of_small.trend.rows == n) of_small.trend.rows = few;
  Status status;
  if (few > 0) status = kernsel::leave_out(blocks.content(), of_small, variances_, densities_, small_);
  Numbers residual, variance;
  if (status.ok() && !large_.empty()) status = large_.leave_out(blocks, block, total, variances_, residual, variance);
  if (status.ok() && !large_.empty()) status = blocks.solve(total);
  if (!status.ok()) return status;
  out = {};
  out.residual.resize(at(n * m));
  out.variance.resize(at(variances_ ? n : 0));
  for (Index row = 0; row < n; ++row) {
    const Index i = order_[at(row)];
    const Index in_part = row < few ? row : row - few;
    for (Index k = 0; k < m; ++k) out.residual[at(i + k * n)] = (row < few ? small_.residual : residual)[at(in_part * m + k)];
    if (variances_) out.variance[at(i)] = (row < few ? small_.variance : variance)[at(in_part)];
  }
  out.density = small_.density;  // all groups are small, in their order, if there are densities
  return status;
}

Numbers GroupedRows::arranged(const Numbers& of, Index columns, Index begin, Index end) const {
  Numbers out;
  for (Index row = begin; row < end && !of.empty(); ++row)
    for (Index k = 0; k < columns; ++k) out.push_back(of[at(order_[at(row)] + k * count())]);
  return out;
}

Status GroupedRows::pull_all_rows(NystromBlocks& blocks, const Partials& partials, const NystromTotals& totals, double* theta,
                                  const NystromRowGradient& gradient, View<double> landmarks) {
  const Index n = count();
  const Numbers c = arranged(partials.c, outputs_, 0, n), precision = arranged(partials.precision, 1, 0, n),
                of_noise = arranged(partials.noise, 1, 0, n);
  const auto view = [](const Numbers& of, Index rows, Index cols) {
    return of.empty() ? View<const double>{} : kernsel::rows(of.data(), rows, cols);
  };
  const NystromPartials of_rows{view(c, n, outputs_), view(precision, n, 1), {}, view(of_noise, n, 1)};
  NystromPartialSums sums;
  blocks.set_totals(totals);
  Status status = blocks.content().add_partials(rows(), of_rows, &small_, sums);
  if (status.ok()) status = blocks.solve_partials(sums);
  if (status.ok()) status = blocks.content().pull(rows(), of_rows, &small_, theta, gradient, landmarks);
  return status.ok() ? blocks.pull_landmarks(theta, landmarks) : status;
}

Status GroupedRows::pull(NystromBlocks& blocks, const NystromSums& total, const Partials& partials, const NystromTotals& totals,
                         double* theta, const NystromRowGradient& gradient, View<double> landmarks) {
  const Index n = count(), few = small_.rows();
  const LeftOut& left_out = partials.left_out;
  small_.of_residual = arranged(left_out.residual, outputs_, 0, few);
  small_.of_variance = arranged(left_out.variance, 1, 0, few);
  small_.of_density = left_out.density;
  const bool sees_fit = !partials.c.empty() || !partials.precision.empty() || !partials.noise.empty() || any(totals.squares) ||
                        totals.log_det != 0.0 || totals.log_det_trend != 0.0 || totals.missing != 0.0;
  Numbers memory[3];  // for derivatives in the order of these rows
  const auto like = [n](const View<double>& of, Numbers& in) {
    in.resize(at(of.data ? n * of.cols : 0));
    return of.data ? kernsel::rows(in.data(), n, of.cols) : of;
  };
  const NystromRowGradient own{like(gradient.noise, memory[0]), like(gradient.targets, memory[1]),
                               like(gradient.points, memory[2])};
  const auto add_to = [&](const View<double>& from, const View<double>& to) {
    for (Index row = 0; row < n; ++row)
      for (Index j = 0; j < to.cols; ++j) to(order_[at(row)], j) += from(row, j);
  };
  const auto add = [&] {
    add_to(own.noise, gradient.noise);
    add_to(own.targets, gradient.targets);
    add_to(own.points, gradient.points);
  };
  Status status;
  if (few > 0 || sees_fit) {
    status = pull_all_rows(blocks, partials, totals, theta, own, landmarks);
    if (status.ok()) add();
  }
  if (!status.ok() || large_.empty()) return status;
  const Numbers of_residual = arranged(left_out.residual, outputs_, few, n);
  const Numbers of_variance = arranged(left_out.variance, 1, few, n);
  status = large_.pull(blocks, rows(), total, of_residual, of_variance, theta, own, landmarks);
  if (status.ok()) add();
  return status.ok() ? blocks.solve(total) : status;
}

}  // namespace kernsel
