#include "kernsel/model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <optional>

#include "base/memory.hpp"
#include "base/numbers.hpp"
#include "kernels/kernel_json.hpp"
#include "kernsel/gram.hpp"
#include "kernsel/kernel_json.hpp"
#include "models/container.hpp"

namespace kernsel {

namespace {

bool basis_named(const std::string& name, Basis& basis) {
  if (name != "constant" && name != "linear" && name != "quadratic") return false;
  basis = name == "constant" ? Basis::Kind::constant : name == "linear" ? Basis::Kind::linear : Basis::Kind::quadratic;
  return true;
}

const char* name_of(const Basis& basis) {
  switch (basis.kind()) {
    case Basis::Kind::none:
      return "null";
    case Basis::Kind::constant:
      return "\"constant\"";
    case Basis::Kind::linear:
      return "\"linear\"";
    case Basis::Kind::quadratic:
      return "\"quadratic\"";
    default:
      return nullptr;
  }
}

// The name and the arguments of a likelihood, in JSON, if `named` makes it from these.
Status append_likelihood(std::string& text, const Likelihood& likelihood) {
  std::shared_ptr<const Likelihood> again;
  const std::vector<double> arguments = likelihood.arguments();
  const Status status = likelihoods::named(likelihood.name(), arguments, again);
  if (!status.ok()) return Status::invalid("save_model: a likelihood that has no name cannot be written");
  text += "[\"" + likelihood.name() + "\"";
  for (const double argument : arguments) {
    text += ",";
    if (std::isfinite(argument))
      append_number(text, argument);
    else
      text += "null";
  }
  text += "]";
  return status;
}

std::vector<double> numbers_of(View<const double> from) {
  std::vector<double> numbers;
  for (Index i = 0; i < from.rows; ++i)
    for (Index j = 0; j < from.cols; ++j) numbers.push_back(from(i, j));
  return numbers;
}

}  // namespace

// mean(z) = (k(z, X) C + h(z) B) * factor + offset, for each output. Without points X, the columns of z stand for k(z, X).
// The variance is that of the posterior, times spread^2.
struct Model::Content {
  std::string estimator;
  DensePosterior dense;
  // In the place of `dense`, if one of them is there.
  std::unique_ptr<VecchiaPosterior> near;
  std::unique_ptr<NystromPosterior> of_landmarks;
  bool refined = false;  // whether means are those of `dense` nevertheless
  bool has_points = false, process = false;
  Index d = 0, outputs = 0;
  std::vector<double> factor, offset, scale, spread;
  double jitter = 0.0;
  std::shared_ptr<const Likelihood> likelihood;  // of observations; nullptr for normal noise
  std::vector<double> linear;  // (d, outputs), by rows: the coefficients of the columns of z if there are no points

  void set_spread() {
    spread.clear();
    for (std::size_t k = 0; k < scale.size(); ++k) spread.push_back(std::sqrt(scale[k]) * std::abs(factor[k]));
  }
  Posterior& posterior() {
    if (near) return *near;
    if (of_landmarks) return *of_landmarks;
    return dense;
  }
  const Posterior& posterior() const { return const_cast<Content*>(this)->posterior(); }
  const Posterior& of_mean() const { return refined ? dense : posterior(); }
  Status read(Container& file, const Json& json);
  Status read_near(Container& file, const Json& json, const Conditioning& given, View<const double> beta);
  Status read_landmarks(Container& file, const Json& json, const Conditioning& given);
  Status read_likelihood(const Json& observed);
  Status latent(View<const double> Z, const double* size, std::vector<double>& mean, std::vector<double>& variance) const;
  Status mean(View<const double> Z, View<double> out) const;
  Status deviation(View<const double> Z, View<double> out) const;
};

Status Model::Content::read(Container& file, const Json& json) {
  constexpr const char* wrong = "model: the shapes of its arrays do not fit to each other";
  const Json *name = json.find("estimator"), *expression = json.find("core_kernel"), *trend_name = json.find("trend");
  if (!name || name->text.empty()) return Status::invalid("model: expected the name of an estimator");
  if (!expression || expression->is(Json::Kind::null))
    return Status::invalid("model: one that C++ cannot predict with: no regression, or its kernel has a function of Python");
  Kernel kernel = constant(1.0);
  Status status = kernel_from_json(*expression, kernel);
  if (!status.ok()) return status;
  estimator = name->text;
  Basis trend;
  if (trend_name && !trend_name->is(Json::Kind::null) && !basis_named(trend_name->text, trend))
    return Status::invalid("model: a trend that is not known");

  // All sizes are compared with the shapes of arrays in the file, which its length limits.
  const Json* count = json.find("columns");
  if (!count || !count->whole(1e9) || count->number < 1.0) return Status::invalid("model: expected a number of columns");
  d = static_cast<Index>(count->number);
  const Json* approximation = json.find("approximation");  // which has no coefficients
  const std::vector<Index>*shape_of_C = file.shape(approximation ? "targets" : "coefficients"),
        *shape_of_X = file.shape("points");
  if (!shape_of_C || shape_of_C->size() != 2) return Status::invalid(wrong);
  const Index n = (*shape_of_C)[0], q = trend.count(d);
  outputs = (*shape_of_C)[1];
  has_points = shape_of_X != nullptr;
  process = file.shape("diagonal") != nullptr;
  const auto has = [&](const char* array, const std::vector<Index>& expected) {
    const std::vector<Index>* found = file.shape(array);
    return found && *found == expected;
  };
  if (has_points ? !has("points", {n, d}) : n != d) return Status::invalid(wrong);
  if (outputs < 1 || !has("offset", {outputs}) || (file.shape("factor") && !has("factor", {outputs})))
    return Status::invalid(wrong);
  // The number q of trend functions, which d determines, may be too large for memory: it must be that of an array in the file.
  if (q > 0 && !has("trend_coefficients", {q, outputs})) return Status::invalid(wrong);
  // A posterior by landmarks may have kept no rows.
  const bool sums_only = approximation && approximation->find("landmarks") && n == 0;
  if (process && (!has_points || !has("diagonal", {n}) || !has("scale", {outputs}) || (!sums_only && (n < 1 || n < q))))
    return Status::invalid(wrong);
  const bool has_targets = process && file.shape("targets") != nullptr;
  if (has_targets && !has("targets", {n, outputs})) return Status::invalid(wrong);
  if (approximation && !has_targets) return Status::invalid(wrong);
  if (has_points) status = kernel.check(d);
  if (!status.ok()) return status;
  if (const Json* observed = json.find("observed")) {
    if (!process || outputs != 1) return Status::invalid("model: a likelihood is for a process of one output");
    status = read_likelihood(*observed);
    if (!status.ok()) return status;
  }

  std::vector<double> X, y, B, C, diagonal;
  const Json* means_refined = approximation && approximation->find("landmarks") ? approximation->find("refined") : nullptr;
  refined = means_refined && means_refined->is(Json::Kind::boolean) && means_refined->truth;
  if (refined && (sums_only || !has("coefficients", {n, outputs}))) return Status::invalid(wrong);
  if (!approximation || refined) status = file.read("coefficients", C);
  if (status.ok() && has_points) status = file.read("points", X);
  if (status.ok() && q > 0) status = file.read("trend_coefficients", B);
  if (status.ok() && has_targets) status = file.read("targets", y);
  if (status.ok()) status = file.read("offset", offset);
  factor.assign(offset.size(), 1.0);
  if (status.ok() && file.shape("factor")) status = file.read("factor", factor);
  if (status.ok() && process) {
    const Json* least = json.find("jitter");
    if (!least || !least->is(Json::Kind::number) || least->number < 0.0) return Status::invalid("model: expected a jitter");
    jitter = least->number;
    status = file.read("diagonal", diagonal);
    if (status.ok()) status = file.read("scale", scale);
  }
  if (!status.ok()) return status;
  const auto negative = [](double value) { return value < 0.0; };
  if (std::any_of(diagonal.begin(), diagonal.end(), negative) || std::any_of(scale.begin(), scale.end(), negative))
    return Status::invalid("model: variances must not be negative");
  set_spread();
  if (!has_points) linear = C;
  const Index points = has_points ? n : 0, known = has_targets ? n : 0;
  const Conditioning given{kernel, rows<const double>(X.data(), points, d), rows<const double>(y.data(), known, outputs),
                           vector<const double>(diagonal.data(), process ? n : 0), trend};
  const View<const double> beta = rows<const double>(B.data(), q, outputs);
  if (approximation && approximation->find("landmarks"))
    status = read_landmarks(file, *approximation, given);
  else if (approximation)
    return read_near(file, *approximation, given, beta);
  if (!status.ok() || (approximation && !refined)) return status;
  return dense.assume(given, rows<const double>(C.data(), points, outputs), beta, process && !refined);
}

// A likelihood is a list of its name and its arguments; a limit that is null is infinite.
Status Model::Content::read_likelihood(const Json& observed) {
  const Json* form = observed.find("core_likelihood");
  if (!form || form->items.empty() || !form->items[0].is(Json::Kind::text))
    return Status::invalid("model: expected a likelihood, a list of its name and numbers");
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> arguments;
  for (std::size_t i = 1; i < form->items.size(); ++i) {
    const Json& item = form->items[i];
    if (!item.is(Json::Kind::number) && !item.is(Json::Kind::null))
      return Status::invalid("model: expected numbers as the arguments of a likelihood");
    arguments.push_back(item.is(Json::Kind::number) ? item.number : i == 2 ? -infinity : infinity);
  }
  return likelihoods::named(form->items[0].text, arguments, likelihood);
}

// The margins of f at points, and a check of the sizes of observations there.
Status Model::Content::latent(View<const double> Z, const double* size, std::vector<double>& mean,
                              std::vector<double>& variance) const {
  mean.assign(static_cast<std::size_t>(Z.rows), 0.0);
  variance = mean;
  Status status = size ? likelihood->check_sizes(Z.rows, size) : Status{};
  if (status.ok()) status = this->mean(Z, vector(mean.data(), Z.rows));
  if (status.ok()) status = posterior().variance(Z, vector(variance.data(), Z.rows));
  for (double& value : variance) value = std::max(value, 0.0) * spread[0] * spread[0];
  return status;
}

// A posterior by nearest neighbours: their numbers, the triangle of inducing points and trend, and the landmarks.
Status Model::Content::read_near(Container& file, const Json& json, const Conditioning& given, View<const double> beta) {
  VecchiaOptions options;
  Index predicting = 0;
  const auto whole = [&](const char* name, double least, double most, auto& to) {
    const Json* found = json.find(name);
    if (!found || !found->whole(most) || found->number < least) return false;
    to = static_cast<std::decay_t<decltype(to)>>(found->number);
    return true;
  };
  constexpr double most_neighbours = 500.0, largest_seed = 9007199254740992.0;
  if (!whole("neighbors", 1.0, most_neighbours, options.neighbours) ||
      !whole("predict_neighbors", 1.0, most_neighbours, predicting) || !whole("random_state", 0.0, largest_seed, options.seed))
    return Status::invalid("model: an approximation that is not known");
  constexpr double most_inducing = VecchiaOptions::most_inducing;
  if (json.find("inducing") && !whole("inducing", 0.0, most_inducing, options.inducing))
    return Status::invalid("model: an approximation that is not known");
  Index inducing = 0;  // of them in use
  std::vector<double> coefficients;
  if (options.inducing > 0) {
    const std::vector<Index>* shape = file.shape("landmarks");
    if (!shape || shape->size() != 2 || (*shape)[0] < 1 || (*shape)[0] > options.inducing || (*shape)[1] != d)
      return Status::invalid("model: expected landmarks, at most as many as inducing points");
    inducing = (*shape)[0];
    const std::vector<Index>* of_these = file.shape("inducing_coefficients");
    if (!of_these || *of_these != std::vector<Index>{inducing, outputs})
      return Status::invalid("model: expected the coefficients of inducing points");
    Status status = file.read("landmarks", options.landmarks);
    if (status.ok()) status = file.read("inducing_coefficients", coefficients);
    if (!status.ok()) return status;
  }
  for (Index j = 0; j < beta.rows; ++j)
    for (Index k = 0; k < outputs; ++k) coefficients.push_back(beta(j, k));
  const Index w = inducing + beta.rows;
  std::vector<double> triangle, by_columns;  // by rows, and by columns
  const std::vector<Index>* shape = file.shape("trend_triangle");
  if (!shape || *shape != std::vector<Index>{w, w}) return Status::invalid("model: expected the triangle of the trend");
  const Status status = w > 0 ? file.read("trend_triangle", triangle) : Status{};
  if (!status.ok()) return status;
  for (Index j = 0; j < w; ++j)
    for (Index i = 0; i < w; ++i) by_columns.push_back(triangle[static_cast<std::size_t>(i * w + j)]);
  near = std::make_unique<VecchiaPosterior>();
  return near->assume(given, std::move(options), predicting, rows<const double>(coefficients.data(), w, outputs),
                      std::move(by_columns));
}

// A posterior by landmarks: these, and the sums over all rows.
Status Model::Content::read_landmarks(Container& file, const Json& json, const Conditioning& given) {
  const Json *count = json.find("rows"), *log_noise = json.find("log_noise"), *missing = json.find("missing"),
             *bound = json.find("bound");
  if (!count || !count->whole(1e15) || count->number < 1.0 || !log_noise || !log_noise->is(Json::Kind::number) || !missing ||
      !missing->is(Json::Kind::number) || !bound || !bound->is(Json::Kind::boolean))
    return Status::invalid("model: an approximation that is not known");
  const std::vector<Index>* shape = file.shape("landmarks");
  if (!shape || shape->size() != 2 || (*shape)[0] < 1 || (*shape)[0] > NystromOptions::most_landmarks || (*shape)[1] != d)
    return Status::invalid("model: expected landmarks, with as many columns as the model has");
  const Index q = given.trend.count(d), w = (*shape)[0] + q;
  const auto has = [&](const char* array, const std::vector<Index>& expected) {
    const std::vector<Index>* found = file.shape(array);
    return found && *found == expected;
  };
  if (!has("landmark_moments", {w, w}) || !has("landmark_products", {w, outputs}) || !has("landmark_squares", {outputs}) ||
      !has("trend_moments", {q, q}))
    return Status::invalid("model: expected the sums of a posterior by landmarks");
  NystromOptions options;
  NystromSums sums;
  std::vector<double> products;  // by rows
  Status status = file.read("landmarks", options.given);
  if (status.ok()) status = file.read("landmark_moments", sums.moments);
  if (status.ok()) status = file.read("landmark_products", products);
  if (status.ok()) status = file.read("landmark_squares", sums.squares);
  if (status.ok()) status = file.read("trend_moments", sums.trend);
  if (!status.ok()) return status;
  for (Index k = 0; k < outputs; ++k)
    for (Index j = 0; j < w; ++j) sums.products.push_back(products[static_cast<std::size_t>(j * outputs + k)]);
  sums.rows = static_cast<Index>(count->number);
  sums.log_noise = log_noise->number;
  sums.missing = missing->number;
  options.landmarks = (*shape)[0];
  options.bound = bound->truth;
  of_landmarks = std::make_unique<NystromPosterior>();
  return of_landmarks->assume(given, std::move(options), std::move(sums));
}

Status Model::Content::mean(View<const double> Z, View<double> out) const {
  const Status status = of_mean().mean(Z, out);
  for (Index i = 0; i < out.rows && status.ok(); ++i)
    for (Index k = 0; k < outputs; ++k) {
      const auto at = static_cast<std::size_t>(k);
      for (Index j = 0; !has_points && j < d; ++j) out(i, k) += Z(i, j) * linear[static_cast<std::size_t>(j * outputs) + at];
      out(i, k) = out(i, k) * factor[at] + offset[at];
    }
  return status;
}

Status Model::Content::deviation(View<const double> Z, View<double> out) const {
  std::vector<double> variance(static_cast<std::size_t>(Z.rows));
  const Status status = posterior().variance(Z, vector(variance.data(), Z.rows));
  for (Index i = 0; i < Z.rows && status.ok(); ++i)
    for (Index k = 0; k < outputs; ++k)
      out(i, k) = std::sqrt(std::max(variance[static_cast<std::size_t>(i)], jitter)) * spread[static_cast<std::size_t>(k)];
  return status;
}

Model::Model() = default;
Model::Model(DensePosterior posterior, Units units, double least) : content_(std::make_unique<Content>()) {
  content_->dense = std::move(posterior);
  take(std::move(units), least);
}
Model::Model(VecchiaPosterior posterior, Units units, double least) : content_(std::make_unique<Content>()) {
  content_->near = std::make_unique<VecchiaPosterior>(std::move(posterior));
  take(std::move(units), least);
}
Model::Model(NystromPosterior posterior, Units units, double least) : content_(std::make_unique<Content>()) {
  content_->of_landmarks = std::make_unique<NystromPosterior>(std::move(posterior));
  take(std::move(units), least);
}

void Model::take(Units units, double least) {
  Content& own = *content_;
  own.estimator = "Posterior";
  own.has_points = true;
  own.process = own.posterior().has_variances();
  own.d = own.posterior().columns();
  own.outputs = own.posterior().outputs();
  own.factor = std::move(units.factor);
  own.offset = std::move(units.offset);
  own.scale = std::move(units.scale);
  const auto outputs = static_cast<std::size_t>(own.outputs);
  own.factor.resize(outputs, 1.0);
  own.offset.resize(outputs, 0.0);
  own.scale.resize(outputs, 1.0);
  own.jitter = least;
  own.set_spread();
}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

const std::string& Model::estimator() const {
  static const std::string none;
  return content_ ? content_->estimator : none;
}
Index Model::points() const { return content_ && content_->has_points ? content_->posterior().points() : 0; }
Index Model::columns() const { return content_ ? content_->d : 0; }
Index Model::outputs() const { return content_ ? content_->outputs : 0; }
bool Model::has_deviations() const { return content_ && content_->process; }
const Kernel& Model::kernel() const {
  static const Kernel none = constant(1.0);
  return content_ ? content_->posterior().kernel() : none;
}
const Posterior* Model::posterior() const { return content_ && content_->has_points ? &content_->posterior() : nullptr; }

Status Model::predict(View<const double> Z, View<double> mean) const {
  if (!content_) return Status::invalid("model: none has been loaded");
  if (Z.cols != content_->d) return Status::invalid("Z: expected as many columns as the model has");
  if (mean.rows != Z.rows || mean.cols != content_->outputs)
    return Status::invalid("mean: expected a row for each point and a column for each output");
  return within_memory([&] { return content_->mean(Z, mean); });
}

Status Model::predict(View<const double> Z, View<double> mean, View<double> deviation) const {
  const Status status = predict(Z, mean);
  if (!status.ok()) return status;
  if (!content_->process) return Status::invalid("deviation: only Gaussian processes have standard deviations");
  if (deviation.rows != mean.rows || deviation.cols != mean.cols)
    return Status::invalid("deviation: expected a row for each point and a column for each output");
  return within_memory([&] { return content_->deviation(Z, deviation); });
}

Status Model::predict_gradient(View<const double> Z, View<double> mean, View<double> deviation) const {
  if (!content_ || !content_->has_points) return Status::invalid("model: none has been loaded that is a function of points");
  const Content& own = *content_;
  const Index width = own.d * own.outputs;
  if (mean.rows != Z.rows || mean.cols != width ||
      (deviation.rows > 0 && (deviation.rows != Z.rows || deviation.cols != width)))
    return Status::invalid("predict_gradient: expected a row for each point, and a column for each derivative of each output");
  if (deviation.rows > 0 && !own.process) return Status::invalid("deviation: only Gaussian processes have standard deviations");
  return within_memory([&] {
    Status status = own.of_mean().mean_gradient(Z, mean);
    for (Index i = 0; i < Z.rows; ++i)
      for (Index j = 0; j < width; ++j) mean(i, j) *= own.factor[static_cast<std::size_t>(j % own.outputs)];
    if (!status.ok() || deviation.rows == 0) return status;
    std::vector<double> variance(static_cast<std::size_t>(Z.rows)), slopes(static_cast<std::size_t>(Z.rows * own.d));
    status = own.posterior().variance(Z, vector(variance.data(), Z.rows));
    if (status.ok()) status = own.posterior().variance_gradient(Z, rows(slopes.data(), Z.rows, own.d));
    for (Index i = 0; i < Z.rows; ++i) {
      const double std = std::sqrt(std::max(variance[static_cast<std::size_t>(i)], own.jitter));
      for (Index j = 0; j < width; ++j) {
        const double slope = slopes[static_cast<std::size_t>(i * own.d + j / own.outputs)];
        deviation(i, j) = std > 0.0 ? slope / (2.0 * std) * own.spread[static_cast<std::size_t>(j % own.outputs)] : 0.0;
      }
    }
    return status;
  });
}

const Likelihood* Model::likelihood() const { return content_ ? content_->likelihood.get() : nullptr; }

Status Model::set_likelihood(std::shared_ptr<const Likelihood> likelihood) {
  if (!content_ || !content_->process || content_->outputs != 1)
    return Status::invalid("set_likelihood: expected a Gaussian process of one output");
  content_->likelihood = std::move(likelihood);
  return {};
}

Status Model::predict_observations(View<const double> Z, const double* size, double* mean, double* variance) const {
  if (!likelihood()) return Status::invalid("predict_observations: expected a model that has a likelihood");
  if (Z.cols != content_->d) return Status::invalid("Z: expected as many columns as the model has");
  return within_memory([&] {
    std::vector<double> f, spread;
    const Status status = content_->latent(Z, size, f, spread);
    return status.ok() ? likelihood()->predict({Z.rows, f.data(), spread.data(), size}, mean, variance) : status;
  });
}

Status Model::predict_quantiles(View<const double> Z, const double* size, const std::vector<double>& levels,
                                View<double> quantiles) const {
  if (!likelihood()) return Status::invalid("predict_quantiles: expected a model that has a likelihood");
  if (Z.cols != content_->d) return Status::invalid("Z: expected as many columns as the model has");
  if (quantiles.rows != Z.rows || quantiles.cols != static_cast<Index>(levels.size()))
    return Status::invalid("quantiles: expected a row for each point and a column for each level");
  if (!std::all_of(levels.begin(), levels.end(), [](double level) { return level > 0.0 && level < 1.0; }))
    return Status::invalid("levels: expected numbers between 0 and 1, both excluded");
  return within_memory([&] {
    std::vector<double> f, spread, found(static_cast<std::size_t>(Z.rows));
    Status status = content_->latent(Z, size, f, spread);
    for (std::size_t k = 0; k < levels.size() && status.ok(); ++k) {
      const std::vector<double> level(found.size(), levels[k]);
      status = likelihood()->predict_quantile({Z.rows, f.data(), spread.data(), size}, level.data(), found.data());
      for (Index i = 0; i < Z.rows; ++i) quantiles(i, static_cast<Index>(k)) = found[static_cast<std::size_t>(i)];
    }
    return status;
  });
}

Status Model::append(View<const double> X, View<const double> y, View<const double> noise) {
  if (!content_ || !content_->process) return Status::invalid("append: only Gaussian processes take more points in");
  if (content_->likelihood) return Status::invalid("append: observations of a likelihood would need all targets anew");
  if (content_->refined) return Status::invalid("append: means that were refined would have to be found anew");
  return within_memory([&] { return content_->posterior().append(X, y, noise); });
}

Status Model::remove(Index i) {
  if (!content_ || !content_->process) return Status::invalid("remove: only Gaussian processes leave points out");
  if (content_->likelihood) return Status::invalid("remove: observations of a likelihood would need all targets anew");
  if (content_->refined) return Status::invalid("remove: means that were refined would have to be found anew");
  return within_memory([&] { return content_->posterior().remove(i); });
}

Status Model::refine(const Solution& solution) {
  if (!content_ || !content_->of_landmarks || !content_->of_landmarks->has_rows())
    return Status::invalid("refine: expected a posterior by landmarks that has kept its rows");
  Content& own = *content_;
  const NystromPosterior& coarse = *own.of_landmarks;
  const Index n = coarse.X().rows, q = coarse.trend().rows, m = own.outputs;
  if (static_cast<Index>(solution.c.size()) != n * m || static_cast<Index>(solution.beta.size()) != q * m)
    return Status::invalid("refine: expected coefficients of the points and of the trend for each output");
  return within_memory([&] {
    const Conditioning given{coarse.kernel(), coarse.X(), coarse.y(), coarse.noise(), coarse.trend_basis()};
    const Status status = own.dense.assume(given, rows<const double>(solution.c.data(), n, m),
                                           rows<const double>(solution.beta.data(), q, m), false);
    own.refined = own.refined || status.ok();
    return status;
  });
}

Status load_model(const char* path, Model& model) {
  try {
    Container file;
    Status status = file.open(path);
    Json json;
    if (status.ok()) status = parse_json(file.description(), json);
    if (!status.ok()) return status;
    Model loaded;
    loaded.content_ = std::make_unique<Model::Content>();
    status = loaded.content_->read(file, json);
    if (status.ok()) model = std::move(loaded);
    return status;
  } catch (const std::bad_alloc&) {
    return no_memory();
  }
}

Status save_model(const char* path, const Model& model) {
  if (!model.content_ || !model.content_->has_points)
    return Status::invalid("save_model: expected a model that is a function of points");
  const Model::Content& own = *model.content_;
  return within_memory([&] {
    std::string kernel;
    const Status status = kernel_to_json(own.posterior().kernel(), kernel);
    if (!status.ok()) return status;
    const char* trend = name_of(own.near           ? own.near->trend_basis()
                                : own.of_landmarks ? own.of_landmarks->trend_basis()
                                                   : own.dense.trend_basis());
    if (!trend) return Status::invalid("save_model: a trend of functions, or of a matrix, cannot be written");
    std::string description = "{\"estimator\":\"" + own.estimator + "\",\"columns\":" + std::to_string(own.d) +
                              ",\"core_kernel\":" + kernel + ",\"trend\":" + trend + ",\"jitter\":";
    append_number(description, own.jitter);
    if (own.likelihood) {
      description += ",\"observed\":{\"core_likelihood\":";
      const Status written = append_likelihood(description, *own.likelihood);
      if (!written.ok()) return written;
      description += "}";
    }
    const Index n = own.of_landmarks ? own.of_landmarks->X().rows : own.posterior().points(), m = own.outputs;
    std::vector<Named> arrays{{"offset", {m}, own.offset}, {"factor", {m}, own.factor}};
    const auto add = [&](const auto& posterior, bool has_targets) {
      arrays.push_back({"points", {n, own.d}, numbers_of(posterior.X())});
      const View<const double> beta = own.refined ? own.dense.trend() : posterior.trend();
      arrays.push_back({"trend_coefficients", {beta.rows, m}, numbers_of(beta)});
      if (own.process) arrays.push_back({"diagonal", {n}, numbers_of(posterior.noise())});
      if (own.process) arrays.push_back({"scale", {m}, own.scale});
      if (has_targets) arrays.push_back({"targets", {n, m}, numbers_of(posterior.y())});
    };
    if (own.near) {
      add(*own.near, true);
      const View<const double> landmarks = own.near->landmarks(), coefficients = own.near->coefficients();
      const Index w = landmarks.rows + own.near->trend().rows;
      const std::vector<double>& R = own.near->trend_triangle();
      if (static_cast<Index>(R.size()) != w * w) return Status::invalid("save_model: the trend cannot be computed");
      arrays.push_back({"trend_triangle", {w, w}, numbers_of(columns<const double>(R.data(), w, w))});
      if (landmarks.rows > 0) {
        arrays.push_back({"landmarks", {landmarks.rows, own.d}, numbers_of(landmarks)});
        arrays.push_back(
            {"inducing_coefficients", {landmarks.rows, m}, numbers_of(coefficients.block(0, 0, landmarks.rows, m))});
      }
      description += ",\"approximation\":{\"neighbors\":" + std::to_string(own.near->options().neighbours) +
                     ",\"predict_neighbors\":" + std::to_string(own.near->predict_neighbours()) +
                     ",\"random_state\":" + std::to_string(own.near->options().seed) +
                     ",\"inducing\":" + std::to_string(own.near->options().inducing) + "}";
    } else if (own.of_landmarks) {
      const NystromPosterior& posterior = *own.of_landmarks;
      const NystromSums& sums = posterior.sums();
      const View<const double> landmarks = posterior.landmarks();
      const Index q = posterior.trend().rows, w = landmarks.rows + q;
      add(posterior, true);
      arrays.push_back({"landmarks", {landmarks.rows, own.d}, numbers_of(landmarks)});
      arrays.push_back({"landmark_moments", {w, w}, sums.moments});
      arrays.push_back({"landmark_products", {w, m}, numbers_of(columns<const double>(sums.products.data(), w, m))});
      arrays.push_back({"landmark_squares", {m}, sums.squares});
      arrays.push_back({"trend_moments", {q, q}, sums.trend});
      if (own.refined) arrays.push_back({"coefficients", {n, m}, numbers_of(own.dense.coefficients())});
      description += ",\"approximation\":{\"landmarks\":" + std::to_string(landmarks.rows) +
                     ",\"rows\":" + std::to_string(sums.rows) + ",\"log_noise\":";
      append_number(description, sums.log_noise);
      description += ",\"missing\":";
      append_number(description, sums.missing);
      description += posterior.options().bound ? ",\"bound\":true" : ",\"bound\":false";
      description += own.refined ? ",\"refined\":true}" : "}";
    } else {
      add(own.dense, own.dense.has_targets());
      arrays.push_back({"coefficients", {n, m}, numbers_of(own.dense.coefficients())});
    }
    description += "}";
    return write_container(path, description, arrays);
  });
}

}  // namespace kernsel
