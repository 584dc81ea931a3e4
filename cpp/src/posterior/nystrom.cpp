#include "kernsel/nystrom_posterior.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/memory.hpp"
#include "factors/nystrom/content.hpp"
#include "kernsel/gram.hpp"
#include "posterior/nystrom_content.hpp"

namespace kernsel {

namespace {

using Numbers = std::vector<double>;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

void append_rows(Numbers& to, View<const double> from) {
  for (Index i = 0; i < from.rows; ++i)
    for (Index j = 0; j < from.cols; ++j) to.push_back(from(i, j));
}

bool has_shape(View<double> view, Index n, Index m) { return view.rows == n && view.cols == m; }

}  // namespace

View<const double> NystromPosterior::Content::landmarks() const { return blocks.content().landmarks(); }

Status NystromPosterior::Content::take(const Conditioning& given) {
  n = given.X.rows;
  d = given.X.cols;
  basis = given.trend;
  q = basis.count(d);
  has_rows = n > 0;
  Status status = kernel.check(d);
  if (!status.ok() || !has_rows) return status;
  if (given.y.rows != n || given.y.cols == 0) return Status::invalid("condition: y must have one row for each point");
  if (given.noise.rows > 1 && given.noise.rows != n)
    return Status::invalid("condition: give one noise variance, or one for each point");
  outputs = given.y.cols;
  append_rows(X, given.X);
  append_rows(y, given.y);
  for (Index i = 0; i < n; ++i) noise.push_back(given.noise.rows == 0 ? 0.0 : given.noise(given.noise.rows == 1 ? 0 : i, 0));
  H.resize(at(n * q));
  return basis.write(points(), rows(H.data(), n, q));
}

Status NystromPosterior::Content::solve(NystromSums wanted) {
  const Status status = blocks.solve(wanted);
  if (!status.ok()) {
    if (sums.rows > 0) static_cast<void>(blocks.solve(sums));
    return status;
  }
  sums = std::move(wanted);
  n = sums.rows;
  outputs = static_cast<Index>(sums.squares.size());
  const Numbers by_columns = blocks.trend_coefficients();
  beta.resize(at(q * outputs));
  for (Index j = 0; j < q; ++j)
    for (Index k = 0; k < outputs; ++k) beta[at(j * outputs + k)] = by_columns[at(j + k * q)];
  return {};
}

Status NystromPosterior::Content::fit(const Numbers& U) {
  NystromSums found;
  Status status = blocks.begin(kernel, rows(U.data(), static_cast<Index>(U.size()) / d, d), q);
  if (status.ok()) status = blocks.add(block(), found);
  return status.ok() ? solve(std::move(found)) : status;
}

Status NystromPosterior::Content::require_rows() const {
  return has_rows ? Status{} : Status::invalid("posterior: it has kept no rows, which this needs, only sums over them");
}

Status NystromPosterior::Content::total_noise(Numbers& out) const {
  out.assign(at(n), 0.0);
  const Status status = gram_noise(kernel, points(), vector(out.data(), n));
  for (Index i = 0; i < n; ++i) out[at(i)] += noise[at(i)];
  return status;
}

Numbers NystromPosterior::Content::widths() const {
  const View<const double> U = landmarks();
  Numbers out;
  for (Index j = 0; j < d; ++j) {
    double least = U(0, j), most = least;
    for (Index i = 0; i < U.rows; ++i) {
      least = std::min(least, U(i, j));
      most = std::max(most, U(i, j));
    }
    out.push_back(most - least);
  }
  return out;
}

Status NystromPosterior::Content::check(View<const double> Z) const {
  if (Z.cols != d) return Status::invalid("Z: expected as many columns as the model has");
  for (Index i = 0; i < Z.rows; ++i)
    for (Index j = 0; j < d; ++j)
      if (!std::isfinite(Z(i, j))) return Status::invalid("Z: expected finite coordinates");
  return {};
}

NystromPosterior::NystromPosterior() : content_(std::make_unique<Content>(constant(1.0))) {}
NystromPosterior::~NystromPosterior() = default;
NystromPosterior::NystromPosterior(NystromPosterior&&) noexcept = default;
NystromPosterior& NystromPosterior::operator=(NystromPosterior&&) noexcept = default;

Status NystromPosterior::condition(const Conditioning& given, NystromOptions options) {
  if (given.X.rows == 0 || given.X.cols == 0) return Status::invalid("condition: there are no points");
  return within_memory([&] {
    auto made = std::make_unique<Content>(given.kernel);
    Numbers U;
    Status status = made->take(given);
    if (status.ok()) status = choose_landmarks(given.kernel, given.X, options, U);
    if (status.ok()) status = made->fit(U);
    if (!status.ok()) return status;
    made->options = std::move(options);
    content_ = std::move(made);
    return status;
  });
}

Status NystromPosterior::assume(const Conditioning& given, NystromOptions options, NystromSums sums) {
  const Index d = given.X.cols;
  if (d == 0 || options.given.empty() || static_cast<Index>(options.given.size()) % d != 0)
    return Status::invalid("posterior: expected landmarks with as many columns as the points");
  if (given.X.rows > 0 && (given.X.rows != sums.rows || given.y.cols != static_cast<Index>(sums.squares.size())))
    return Status::invalid("posterior: the shapes of its arrays do not fit to each other");
  if (sums.squares.empty()) return Status::invalid("posterior: expected at least one output");
  return within_memory([&] {
    auto made = std::make_unique<Content>(given.kernel);
    Status status = made->take(given);
    if (status.ok())
      status = made->blocks.begin(given.kernel, rows<const double>(options.given.data(), Index(options.given.size()) / d, d),
                                  made->q);
    if (status.ok()) status = made->solve(std::move(sums));
    if (!status.ok()) return status;
    made->options = std::move(options);
    content_ = std::move(made);
    return status;
  });
}

Index NystromPosterior::points() const { return content_->n; }
Index NystromPosterior::columns() const { return content_->d; }
Index NystromPosterior::outputs() const { return content_->outputs; }
const Kernel& NystromPosterior::kernel() const { return content_->kernel; }
bool NystromPosterior::has_variances() const { return true; }
bool NystromPosterior::has_rows() const { return content_->has_rows; }
View<const double> NystromPosterior::X() const { return content_->points(); }
View<const double> NystromPosterior::y() const { return content_->targets(); }
View<const double> NystromPosterior::noise() const { return content_->variances(); }
const NystromOptions& NystromPosterior::options() const { return content_->options; }
const Basis& NystromPosterior::trend_basis() const { return content_->basis; }
View<const double> NystromPosterior::landmarks() const { return content_->landmarks(); }
View<const double> NystromPosterior::trend() const {
  return rows<const double>(content_->beta.data(), content_->q, content_->outputs);
}
View<const double> NystromPosterior::landmark_weights() const {
  const PointRows& weights = content_->blocks.content().of_raw;
  return {weights.row(0), content_->landmarks().rows, content_->outputs, 1, weights.stride()};
}
const Numbers& NystromPosterior::squares() const { return content_->blocks.squares(); }
double NystromPosterior::log_det() const { return content_->blocks.log_det(); }
double NystromPosterior::log_det_trend() const { return content_->blocks.log_det_trend(); }
const NystromSums& NystromPosterior::sums() const { return content_->sums; }

Status NystromPosterior::coefficients(View<double> out) const {
  const Content& own = *content_;
  const Status status = own.require_rows();
  if (!status.ok()) return status;
  if (!has_shape(out, own.n, own.outputs)) return Status::invalid("coefficients: expected a row for each point");
  return own.blocks.show(own.block(), out, {}, {});
}

Status NystromPosterior::predict(View<const double> Z, View<double> mean, View<double> variance) const {
  const Content& own = *content_;
  const bool with_mean = mean.data != nullptr, with_variance = variance.data != nullptr;
  if (with_mean && !has_shape(mean, Z.rows, own.outputs))
    return Status::invalid("mean: expected a row for each point and a column for each output");
  if (with_variance && !has_shape(variance, Z.rows, 1)) return Status::invalid("variance: expected one number for each point");
  return within_memory([&] {
    return own.in_chunks(Z, Content::points_at_a_time, [&](Index begin, View<const double> some, View<const double> h) {
      const View<double> means = with_mean ? mean.block(begin, 0, some.rows, own.outputs) : View<double>{},
                         variances = with_variance ? variance.block(begin, 0, some.rows, 1) : View<double>{};
      Status status = own.blocks.predict(some, h, means, variances);
      if (!status.ok() || !with_variance || !own.kernel.has_noise()) return status;
      Numbers noise(at(some.rows));
      status = gram_noise(own.kernel, some, vector(noise.data(), some.rows));
      for (Index i = 0; i < some.rows; ++i) variances(i, 0) += noise[at(i)];
      return status;
    });
  });
}

Status NystromPosterior::mean(View<const double> Z, View<double> out) const {
  if (!has_shape(out, Z.rows, content_->outputs))
    return Status::invalid("mean: expected a row for each point and a column for each output");
  return predict(Z, out, {});
}

Status NystromPosterior::variance(View<const double> Z, View<double> out) const {
  if (!has_shape(out, Z.rows, 1)) return Status::invalid("variance: expected one number for each point");
  return predict(Z, {}, out);
}

Status NystromPosterior::leave_one_out(View<double> residuals, View<double> variances, View<double> leverage) const {
  const Content& own = *content_;
  Status status = own.require_rows();
  if (!status.ok()) return status;
  return within_memory([&] {
    Numbers precision(at(own.n)), missing(at(own.n)), noise;
    const bool with_variances = variances.rows > 0;
    status = own.blocks.show(own.block(), residuals.rows > 0 ? residuals : View<double>{}, vector(precision.data(), own.n),
                             with_variances ? vector(missing.data(), own.n) : View<double>{});
    if (status.ok() && leverage.rows > 0) status = own.total_noise(noise);
    for (Index i = 0; i < own.n && status.ok(); ++i) {
      const double p = precision[at(i)];
      for (Index k = 0; k < residuals.cols; ++k) residuals(i, k) /= p;
      if (with_variances) variances(i, 0) = 1.0 / p + missing[at(i)];
      if (leverage.rows > 0) leverage(i, 0) = 1.0 - noise[at(i)] * p;
    }
    return status;
  });
}

Status NystromPosterior::value(const Criterion& criterion, double& out) const {
  const Content& own = *content_;
  const Request& request = criterion.request;
  return within_memory([&] {
    if (!criterion.is_likelihood || request.coefficients || request.diagonal || request.left_out) {
      Status status = own.require_rows();
      if (!status.ok()) return status;
      NystromOptions options = own.options;
      options.given.clear();
      append_rows(options.given, own.landmarks());
      Evaluation found;
      const std::unique_ptr<NystromFactor> factor = nystrom_factor(std::move(options));
      status = evaluate(own.kernel, {own.points(), own.targets(), own.variances(), own.functions()}, criterion, Order::value,
                        *factor, found);
      out = found.value;
      return status;
    }
    // A likelihood is a function of sums; of the targets it asks only how many they are.
    const double zero = 0.0;
    Fit fit;
    fit.y = {&zero, own.n, own.outputs, 0, 0};
    fit.trend = own.q;
    fit.log_det = log_det();
    fit.log_det_trend = log_det_trend();
    fit.squares = squares().data();
    fit.missing = own.options.bound ? own.sums.missing : 0.0;
    Partials partials;
    const Status status = apply(criterion, fit, partials);
    out = partials.unit * partials.value;
    return status;
  });
}

Status NystromPosterior::append(View<const double> X, View<const double> y, View<const double> noise) {
  Content& own = *content_;
  const Index more = X.rows;
  if (X.cols != own.d || y.rows != more || y.cols != own.outputs || noise.rows != more)
    return Status::invalid("append: expected points, targets and noise as those that are there");
  if (own.basis.kind() == Basis::Kind::fixed)
    return Status::invalid("trend: a matrix says nothing of other points; give a name or a function to predict");
  Status status = own.check(X);
  if (!status.ok() || more == 0) return status;
  return within_memory([&] {
    Numbers h(at(more * own.q));
    const View<double> functions = rows(h.data(), more, own.q);
    NystromSums all = own.sums;
    status = own.basis.write(X, functions);
    if (status.ok()) status = own.blocks.add({X, y, noise, functions}, all);
    if (!status.ok()) return status;
    Numbers points = own.X, targets = own.y, variances = own.noise;  // the views may be those of the posterior
    if (own.has_rows) {
      append_rows(points, X);
      append_rows(targets, y);
      append_rows(variances, noise);
      h.insert(h.begin(), own.H.begin(), own.H.end());
    } else {
      h.clear();
    }
    status = own.solve(std::move(all));
    if (!status.ok()) return status;
    own.X = std::move(points);
    own.y = std::move(targets);
    own.noise = std::move(variances);
    own.H = std::move(h);
    return status;
  });
}

Status NystromPosterior::remove(Index i) {
  Content& own = *content_;
  Status status = own.require_rows();
  if (!status.ok()) return status;
  if (i < 0 || i >= own.n || own.n <= std::max<Index>(own.q, 1))
    return Status::invalid("remove: there is no such point, or without it too few would be left");
  return within_memory([&] {
    NystromSums of_point, left = own.sums;
    status = own.blocks.add({own.points().block(i, 0, 1, own.d), own.targets().block(i, 0, 1, own.outputs),
                             own.variances().block(i, 0, 1, 1), own.functions().block(i, 0, 1, own.q)},
                            of_point);
    if (!status.ok()) return status;
    left.subtract(of_point);
    status = own.solve(std::move(left));
    if (!status.ok())
      return own.q > 0 ? Status::invalid("remove: without this point the columns of the trend are linearly dependent") : status;
    const auto erase = [i](Numbers& values, Index each) {
      values.erase(values.begin() + i * each, values.begin() + (i + 1) * each);
    };
    erase(own.X, own.d);
    erase(own.y, own.outputs);
    erase(own.noise, 1);
    erase(own.H, own.q);
    own.basis.remove(i);
    return status;
  });
}

Status NystromPosterior::set_kernel(const Kernel& k) {
  const Content& own = *content_;
  const Status status = own.require_rows();
  if (!status.ok()) return status;
  NystromPosterior made;
  NystromOptions options = own.options;
  options.given.clear();
  append_rows(options.given, own.landmarks());
  const Status done = made.condition({k, own.points(), own.targets(), own.variances(), own.basis}, std::move(options));
  if (!done.ok()) return done;
  made.content_->options = own.options;
  content_ = std::move(made.content_);
  return done;
}

}  // namespace kernsel
