#include "kernsel/vecchia_posterior.hpp"

#include <algorithm>
#include <utility>

#include "base/memory.hpp"
#include "factors/vecchia/walk.hpp"
#include "kernsel/gram.hpp"
#include "posterior/vecchia_content.hpp"

namespace kernsel {

namespace {

using Numbers = std::vector<double>;

// New points whose neighbours are found at a time, and the numbers of their columns.
constexpr Index points_at_a_time = 32768, least_at_a_time = 1024, numbers_at_a_time = 1 << 22;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

bool has_shape(View<double> view, Index n, Index m) { return view.rows == n && view.cols == m; }

}  // namespace

VecchiaPosterior::VecchiaPosterior() : content_(std::make_unique<Content>(constant(1.0))) {}
VecchiaPosterior::~VecchiaPosterior() = default;
VecchiaPosterior::VecchiaPosterior(VecchiaPosterior&&) noexcept = default;
VecchiaPosterior& VecchiaPosterior::operator=(VecchiaPosterior&&) noexcept = default;

Status VecchiaPosterior::condition(const Conditioning& given, VecchiaOptions options, Index predict_neighbours) {
  auto made = std::make_unique<Content>(given.kernel);
  Status status = made->take(given, std::move(options), predict_neighbours);
  if (status.ok()) status = made->require_trend();
  if (status.ok()) content_ = std::move(made);
  return status;
}

Status VecchiaPosterior::assume(const Conditioning& given, VecchiaOptions options, Index predict_neighbours,
                                View<const double> coefficients, std::vector<double> R) {
  auto made = std::make_unique<Content>(given.kernel);
  const Status status = made->take(given, std::move(options), predict_neighbours);
  if (!status.ok()) return status;
  const Index w = made->w;
  if (coefficients.rows != w || (w > 0 && coefficients.cols != made->m) || static_cast<Index>(R.size()) != w * w)
    return Status::invalid("posterior: the shapes of its arrays do not fit to each other");
  for (Index j = 0; j < w; ++j)
    if (!(std::abs(R[at(j * (w + 1))]) > 0.0)) return Status::invalid("posterior: the triangle of the trend is singular");
  for (Index j = 0; j < w; ++j)
    for (Index k = 0; k < made->m; ++k) made->beta.push_back(coefficients(j, k));
  made->R = std::move(R);
  made->has_trend = true;
  content_ = std::move(made);
  return {};
}

Index VecchiaPosterior::points() const { return content_->n; }
Index VecchiaPosterior::columns() const { return content_->d; }
Index VecchiaPosterior::outputs() const { return content_->m; }
const Kernel& VecchiaPosterior::kernel() const { return content_->kernel; }
bool VecchiaPosterior::has_variances() const { return true; }
Status VecchiaPosterior::set_kernel(const Kernel& k) {
  content_->kernel = k;
  if (content_->inducing.empty()) return {};
  content_->has_trend = content_->has_rest = false;  // the coefficients are those of features, which the kernel determines
  return within_memory([&] { return content_->make_columns(); });
}
View<const double> VecchiaPosterior::X() const { return content_->points(); }
View<const double> VecchiaPosterior::y() const { return content_->targets(); }
View<const double> VecchiaPosterior::noise() const { return content_->variances(); }
const VecchiaOptions& VecchiaPosterior::options() const { return content_->options; }
Index VecchiaPosterior::predict_neighbours() const { return content_->predict_neighbours; }
const Basis& VecchiaPosterior::trend_basis() const { return content_->basis; }
View<const double> VecchiaPosterior::trend() const {
  if (!content_->require_trend().ok()) return {};
  const Index features = content_->inducing.count();
  return rows<const double>(content_->beta.data() + features * content_->m, content_->q, content_->m);
}
View<const double> VecchiaPosterior::coefficients() const {
  if (!content_->require_trend().ok()) return {};
  return rows<const double>(content_->beta.data(), content_->w, content_->m);
}
View<const double> VecchiaPosterior::landmarks() const { return content_->inducing.points(); }
const std::vector<double>& VecchiaPosterior::trend_triangle() const {
  static_cast<void>(content_->require_trend());
  return content_->R;
}

Status VecchiaPosterior::predict(View<const double> Z, View<double> mean, View<double> variance) const {
  const Content& own = *content_;
  const Index m = own.m, w = own.w, d = own.d;
  const bool with_mean = mean.data != nullptr, with_variance = variance.data != nullptr;
  if (with_mean && !has_shape(mean, Z.rows, m))
    return Status::invalid("mean: expected a row for each point and a column for each output");
  if (with_variance && !has_shape(variance, Z.rows, 1)) return Status::invalid("variance: expected one number for each point");
  Status status = own.prepare(Z);
  if (!status.ok()) return status;
  return within_memory([&] {
    Numbers h;
    Sets sets;
    const Index at_a_time = std::clamp<Index>(numbers_at_a_time / std::max<Index>(w, 1), least_at_a_time, points_at_a_time);
    for (Index begin = 0; begin < Z.rows && status.ok(); begin += at_a_time) {
      const Index count = std::min(at_a_time, Z.rows - begin);
      const Numbers points = by_rows(Z.block(begin, 0, count, d));
      const View<const double> some = rows<const double>(points.data(), count, d);
      h.resize(at(count * w));  // becomes the part of the columns that those of the neighbours do not predict
      status = own.write_columns(some, h.data());
      if (status.ok()) status = own.sets_of(some, own.predict_neighbours, false, sets);
      if (!status.ok()) return status;
      const auto visit = [&](const Cell& cell, const std::int32_t* set, Index i, Index) -> Status {
        const Index others = cell.count() - 1;
        const double* v = cell.v();
        double* of_trend = h.data() + i * w;
        for (Index k = 0; k < m && with_mean; ++k) {
          double sum = 0.0, trend = 0.0;
          for (Index r = 0; r < others; ++r) sum -= v[r] * own.rest_of(set[r])[k];
          for (Index j = 0; j < w; ++j) trend += of_trend[j] * own.beta[at(j * m + k)];
          mean(begin + i, k) = trend + sum / v[others];
        }
        if (!with_variance) return {};
        for (Index r = 0; r < others && w > 0; ++r) {
          const double weight = -v[r] / v[others];
          for (Index j = 0; j < w; ++j) of_trend[j] -= weight * own.columns_at(set[r])[j];
        }
        double sum = cell.variance();
        own.solve_transposed(of_trend);
        for (Index j = 0; j < w; ++j) sum += of_trend[j] * of_trend[j];
        variance(begin + i, 0) = sum;
        return {};
      };
      status = walk(own.kernel, own.set_points(some, h.data()), sets, false, visit, [](Index, Index, Index) {});
    }
    return status;
  });
}

Status VecchiaPosterior::mean(View<const double> Z, View<double> out) const {
  if (!has_shape(out, Z.rows, content_->m))
    return Status::invalid("mean: expected a row for each point and a column for each output");
  return predict(Z, out, {});
}

Status VecchiaPosterior::variance(View<const double> Z, View<double> out) const {
  if (!has_shape(out, Z.rows, 1)) return Status::invalid("variance: expected one number for each point");
  return predict(Z, {}, out);
}

Status VecchiaPosterior::leave_one_out(View<double> residuals, View<double> variances, View<double> leverage) const {
  const Content& own = *content_;
  return within_memory([&] {
    const std::unique_ptr<VecchiaFactor> factor = vecchia_factor(own.options);
    Request request;
    request.in_sample = request.coefficients = false;
    request.diagonal = leverage.rows > 0;
    request.left_out = request.variances = residuals.rows > 0 || variances.rows > 0;
    Fit fit;
    const Status status = factor->show(own.kernel, own.problem(), request, false, fit);
    for (Index i = 0; i < own.n && status.ok(); ++i) {
      for (Index k = 0; k < residuals.cols; ++k) residuals(i, k) = fit.left_out->residual[at(i + k * own.n)];
      if (variances.rows > 0) variances(i, 0) = fit.left_out->variance[at(i)];
      if (leverage.rows > 0) leverage(i, 0) = 1.0 - fit.noise[i] * fit.precision[i];
    }
    return status;
  });
}

Status VecchiaPosterior::value(const Criterion& criterion, double& out) const {
  const Content& own = *content_;
  const std::unique_ptr<VecchiaFactor> factor = vecchia_factor(own.options);
  Evaluation found;
  const Status status = evaluate(own.kernel, own.problem(), criterion, Order::value, *factor, found);
  out = found.value;
  return status;
}

}  // namespace kernsel
