#include "kernsel/rows.hpp"

#include <algorithm>

#include "base/call_out.hpp"
#include "base/memory.hpp"
#include "factors/nystrom/alone.hpp"
#include "kernsel/gram.hpp"

namespace kernsel {

namespace {

using Numbers = std::vector<double>;

constexpr const char* other_rows = "rows: a pass had other rows than the one before it";

// Calls f(rows, begin) for all blocks, where `begin` is the number of the first row.
template <class F>
Status for_blocks(const RowSource& source, Index n, const F& f) {
  Index begin = 0;
  Status passed;
  const Status called = call_out([&] {
    passed = source([&](const RowBlock& rows) {
      if (n >= 0 && begin + rows.X.rows > n) return Status::invalid(other_rows);
      const Status status = rows.X.rows > 0 ? f(rows, begin) : Status{};
      begin += rows.X.rows;
      return status;
    });
  });
  if (!called.ok() || !passed.ok()) return called.ok() ? passed : called;
  return n >= 0 && begin != n ? Status::invalid(other_rows) : passed;
}

// The noise and the weights of all rows, of which some criteria are functions.
struct Given {
  Numbers noise, weights;
};

Status add_given(const Kernel& k, const RowBlock& rows, Given& given) {
  const Index n = rows.X.rows;
  const std::size_t before = given.noise.size();
  given.noise.resize(before + static_cast<std::size_t>(n), 0.0);
  double* noise = given.noise.data() + before;
  const Status status = gram_noise(k, rows.X, vector(noise, n));
  for (Index i = 0; i < n; ++i) {
    if (rows.noise.rows > 0) noise[i] += rows.noise(rows.noise.rows == 1 ? 0 : i, 0);
    if (rows.weights.rows > 0) given.weights.push_back(rows.weights(i, 0));
  }
  return given.weights.empty() || given.weights.size() == given.noise.size()
             ? status
             : Status::invalid("rows: give weights in all blocks, or in none");
}

class Passes {
 public:
  Passes(const Kernel& k, const RowSource& source) : k_(k), source_(source) {}

  Status show(View<const double> Z, const Request& request, bool differentiable, bool bound, Fit& fit);
  Status pull(const Partials& partials, bool bound, Gradient& out);
  Numbers trend_coefficients() const { return blocks_.trend_coefficients(); }

 private:
  const Kernel& k_;
  const RowSource& source_;
  NystromBlocks blocks_;
  Given given_;
  ShownRows shown_;
  LeftOut left_out_;
  NystromPartialSums of_losses_;  // if the second pass has differentiated a sum of losses, over unit_
  double unit_ = 1.0;
};

Status Passes::show(View<const double> Z, const Request& request, bool differentiable, bool bound, Fit& fit) {
  if (request.densities || (request.left_out && !request.groups.alone()))
    return Status::invalid("rows: points that are not in memory are left out one by one");
  NystromSums sums;
  Index outputs = 0, trend = 0;
  Status status = for_blocks(source_, -1, [&](const RowBlock& rows, Index begin) {
    Status done;
    if (begin == 0) {
      outputs = rows.y.cols;
      trend = rows.trend.cols;
      done = blocks_.begin(k_, Z, trend);
    }
    if (rows.y.cols != outputs || rows.trend.cols != trend)
      return Status::invalid("rows: a block has another number of targets, or of functions of the trend, than the first");
    if (done.ok()) done = blocks_.add(rows, sums);
    return done.ok() ? add_given(k_, rows, given_) : done;
  });
  if (!status.ok()) return status;
  const Index n = sums.rows;
  if (n == 0) return Status::invalid("rows: there are none");
  if (trend > n) return Status::invalid("trend: there are more columns than points");
  status = blocks_.solve(sums);
  shown_.resize(request, n, outputs);
  const auto view = [n](Numbers& of, Index begin, Index count, Index columns) {
    return of.empty() ? View<double>{} : View<double>{of.data() + begin, count, columns, 1, n};
  };
  unit_ = unit_of_losses(sums);
  if (status.ok() && !(shown_.c.empty() && shown_.precision.empty()))
    status = for_blocks(source_, n, [&](const RowBlock& rows, Index begin) {
      const Index count = rows.X.rows;
      const View<double> c = view(shown_.c, begin, count, outputs), precision = view(shown_.precision, begin, count, 1);
      return request.slopes && differentiable ? blocks_.show_losses(rows, request, unit_, c, precision, of_losses_)
                                              : blocks_.show(rows, c, precision, view(shown_.missing, begin, count, 1));
    });
  if (!status.ok()) return status;
  if (request.left_out) left_out_ = shown_.left_out();
  fit = {};
  fit.y = {nullptr, n, outputs, 1, n};  // its numbers are not kept: y'c is known
  if (!shown_.c.empty()) fit.c = columns(static_cast<const double*>(shown_.c.data()), n, outputs);
  fit.precision = shown_.precision.empty() ? nullptr : shown_.precision.data();
  fit.noise = given_.noise.data();
  fit.weights = given_.weights.empty() ? nullptr : given_.weights.data();
  fit.trend = trend;
  fit.log_det = blocks_.log_det();
  fit.log_det_trend = blocks_.log_det_trend();
  fit.missing = bound ? sums.missing : 0.0;
  fit.left_out = request.left_out ? &left_out_ : nullptr;
  fit.squares = blocks_.squares().data();
  return status;
}

Status Passes::pull(const Partials& partials, bool bound, Gradient& out) {
  const Index n = shown_.n;
  RowSlopes slopes(partials, shown_);
  blocks_.set_totals({partials.squares, partials.log_det, partials.log_det_trend, bound ? partials.missing : 0.0});
  NystromPartialSums sums;
  Status status;
  out.theta.assign(static_cast<std::size_t>(k_.parameters()), 0.0);
  out.noise.assign(static_cast<std::size_t>(n), 0.0);
  if (!of_losses_.theta.empty() && partials.slope_factor != 0.0) {
    sums = std::move(of_losses_);
    sums.multiply(partials.slope_factor * unit_);
    slopes.move_to_noise(shown_, given_.noise);
    out.theta = sums.theta;
  } else if (!slopes.empty())
    status = for_blocks(source_, n, [&](const RowBlock& rows, Index begin) {
      return blocks_.add_partials(rows, slopes.of(begin, rows.X.rows), sums);
    });
  if (status.ok()) status = blocks_.solve_partials(sums);
  if (status.ok())
    status = for_blocks(source_, n, [&](const RowBlock& rows, Index begin) {
      const View<double> noise = vector(out.noise.data() + begin, rows.X.rows);
      return blocks_.pull(rows, slopes.of(begin, rows.X.rows), out.theta.data(), {noise}, {});
    });
  if (status.ok()) status = blocks_.pull_landmarks(out.theta.data(), {});
  for (double& slope : out.theta) slope *= partials.unit;
  for (double& slope : out.noise) slope *= partials.unit;
  return status;
}

}  // namespace

RowSource rows_of(const Problem& problem, Index rows_at_a_time) {
  return [problem, rows_at_a_time](const TakeRows& take) {
    const Index n = problem.X.rows;
    const auto part = [](View<const double> of, Index begin, Index count) {
      return of.rows > 1 ? of.block(begin, 0, count, of.cols) : of;
    };
    for (Index begin = 0; begin < n; begin += rows_at_a_time) {
      const Index count = std::min(rows_at_a_time, n - begin);
      const View<const double> weights = problem.weights ? vector(problem.weights + begin, count) : View<const double>{};
      const Status status =
          take({problem.X.block(begin, 0, count, problem.X.cols), problem.y.block(begin, 0, count, problem.y.cols),
                part(problem.noise, begin, count), part(problem.trend, begin, count), weights});
      if (!status.ok()) return status;
    }
    return Status{};
  };
}

Status add_rows(const RowSource& source, const NystromBlocks& blocks, NystromSums& sums) {
  return within_memory(
      [&] { return for_blocks(source, -1, [&](const RowBlock& rows, Index) { return blocks.add(rows, sums); }); });
}

Status evaluate(const Kernel& k, const RowSource& source, View<const double> Z, const Criterion& criterion, Order order,
                Evaluation& out, bool bound) {
  if (order != Order::value && order != Order::gradient)
    return Status::invalid("rows: expected Order::value or Order::gradient");
  return within_memory([&] {
    Passes passes(k, source);
    Fit fit;
    Status status = passes.show(Z, criterion.request, order == Order::gradient, bound, fit);
    Partials partials;
    if (status.ok()) status = apply(criterion, fit, partials);
    if (!status.ok()) return status;
    out = {};
    out.value = partials.unit * partials.value;
    out.scale = partials.scale;
    out.log_det = fit.log_det;
    out.log_det_trend = fit.log_det_trend;
    out.squares.assign(fit.squares, fit.squares + fit.outputs());
    out.noise.assign(fit.noise, fit.noise + fit.n());
    out.beta = passes.trend_coefficients();
    return order == Order::gradient ? passes.pull(partials, bound, out.gradient) : status;
  });
}

}  // namespace kernsel
