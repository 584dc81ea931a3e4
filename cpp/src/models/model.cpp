#include "kernsel/model.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <optional>

#include "base/memory.hpp"
#include "kernels/kernel_json.hpp"
#include "kernsel/gram.hpp"
#include "models/container.hpp"

namespace kernsel {

namespace {

enum class Trend { none, constant, linear, quadratic };

Index functions(Trend trend, Index d) {
  return trend == Trend::none ? 0 : trend == Trend::constant ? 1 : trend == Trend::linear ? 1 + d : 1 + d + d * (d + 1) / 2;
}

// h(x): a constant; all columns; all products of two.
void write_basis(Trend trend, View<const double> X, Index row, double* h) {
  if (trend == Trend::none) return;
  *h++ = 1.0;
  if (trend == Trend::constant) return;
  for (Index k = 0; k < X.cols; ++k) *h++ = X(row, k);
  for (Index j = 0; trend == Trend::quadratic && j < X.cols; ++j)
    for (Index k = j; k < X.cols; ++k) *h++ = X(row, j) * X(row, k);
}

// A <- Q, R with A = Q R, by rows (q, q), for a few columns A, (n, q) by columns: Gram and Schmidt, who are asked twice.
void orthonormalize(std::vector<double>& A, Index n, Index q, std::vector<double>& R) {
  R.assign(static_cast<std::size_t>(q * q), 0.0);
  for (Index j = 0; j < q; ++j) {
    double* a = A.data() + j * n;
    for (int times = 0; times < 2; ++times)
      for (Index i = 0; i < j; ++i) {
        const double* b = A.data() + i * n;
        double along = 0.0;
        for (Index r = 0; r < n; ++r) along += b[r] * a[r];
        for (Index r = 0; r < n; ++r) a[r] -= along * b[r];
        R[static_cast<std::size_t>(i * q + j)] += along;
      }
    double square = 0.0;
    for (Index r = 0; r < n; ++r) square += a[r] * a[r];
    const double size = std::sqrt(square);
    for (Index r = 0; r < n; ++r) a[r] /= size;
    R[static_cast<std::size_t>(j * q + j)] = size;
  }
}

}  // namespace

// mean(z) = (k(z, X) C + h(z) B) * factor + offset, for each output. Without points X, the columns of z stand for k(z, X).
// var(z) = (k(z, z) - |L^-1 k(X, z)|^2 + |R^-T r|^2) * spread^2, L L' = K~ = k(X, X) + diag(diagonal), L^-1 H = Q R,
// r = h(z) - H'K~^-1 k(X, z): R^-T r = R^-T h(z) - V'k(X, z), V = K~^-1 H R^-1.
struct Model::Content {
  std::string estimator;
  std::optional<Kernel> kernel;
  Index n = 0, d = 0, outputs = 0;
  bool has_points = false, process = false;
  Trend trend = Trend::none;
  std::vector<double> X, C, B, factor, offset;  // matrices by rows
  std::vector<double> diagonal, spread;
  double jitter = 0.0;

  bool factorized = false;
  LowerTiles<double> L;
  std::vector<double> V, R;  // (n, q) by columns; (q, q) by rows

  View<const double> points() const { return rows<const double>(X.data(), n, d); }
  Index trend_functions() const { return functions(trend, d); }

  Status read(Container& file, const Json& json);
  Status read_size(const Container& file, const Json& json);
  Status read_numbers(Container& file, const Json& json);
  Status mean(View<const double> Z, View<double> out) const;
  Status factorize();
  Status deviation(View<const double> Z, View<double> out) const;
};

Status Model::Content::read(Container& file, const Json& json) {
  const Json *name = json.find("estimator"), *expression = json.find("core_kernel"), *trend_name = json.find("trend");
  if (!name || name->text.empty()) return Status::invalid("model: expected the name of an estimator");
  if (!expression || expression->is(Json::Kind::null))
    return Status::invalid("model: one that C++ cannot predict with: no regression, or its kernel has a function of Python");
  kernel.emplace(constant(1.0));
  Status status = kernel_from_json(*expression, *kernel);
  if (!status.ok()) return status;
  estimator = name->text;
  if (trend_name && !trend_name->is(Json::Kind::null)) {
    const std::string& text = trend_name->text;
    trend = text == "constant" ? Trend::constant : text == "linear" ? Trend::linear : Trend::quadratic;
    if (trend == Trend::quadratic && text != "quadratic") return Status::invalid("model: a trend that is not known");
  }
  status = read_size(file, json);
  return status.ok() ? read_numbers(file, json) : status;
}

// All sizes, from shapes of arrays that the file has.
Status Model::Content::read_size(const Container& file, const Json& json) {
  constexpr const char* wrong = "model: the shapes of its arrays do not fit to each other";
  const Json* count = json.find("columns");
  if (!count || !count->whole(1e9) || count->number < 1.0) return Status::invalid("model: expected a number of columns");
  d = static_cast<Index>(count->number);
  const std::vector<Index>*shape_of_C = file.shape("coefficients"), *shape_of_X = file.shape("points");
  if (!shape_of_C || shape_of_C->size() != 2) return Status::invalid(wrong);
  n = (*shape_of_C)[0];
  outputs = (*shape_of_C)[1];
  has_points = shape_of_X != nullptr;
  process = file.shape("diagonal") != nullptr;
  const auto has = [&](const char* name, const std::vector<Index>& expected) {
    const std::vector<Index>* found = file.shape(name);
    return found && *found == expected;
  };
  if (has_points ? !has("points", {n, d}) : n != d) return Status::invalid(wrong);
  if (outputs < 1 || !has("offset", {outputs}) || (file.shape("factor") && !has("factor", {outputs})))
    return Status::invalid(wrong);
  // As many functions as d allows may be more than fit into memory: the array of their coefficients is in the file.
  if (trend != Trend::none && !has("trend_coefficients", {trend_functions(), outputs})) return Status::invalid(wrong);
  if (process && (!has_points || n < 1 || !has("diagonal", {n}) || !has("scale", {outputs}) || n < trend_functions()))
    return Status::invalid(wrong);
  return has_points ? kernel->check(d) : Status{};
}

Status Model::Content::read_numbers(Container& file, const Json& json) {
  Status status = file.read("coefficients", C);
  if (status.ok() && has_points) status = file.read("points", X);
  if (status.ok() && trend != Trend::none) status = file.read("trend_coefficients", B);
  if (status.ok()) status = file.read("offset", offset);
  factor.assign(offset.size(), 1.0);
  if (status.ok() && file.shape("factor")) status = file.read("factor", factor);
  if (!status.ok() || !process) return status;
  const Json* least = json.find("jitter");
  if (!least || !least->is(Json::Kind::number) || least->number < 0.0) return Status::invalid("model: expected a jitter");
  jitter = least->number;
  status = file.read("diagonal", diagonal);
  if (status.ok()) status = file.read("scale", spread);
  if (!status.ok()) return status;
  const auto negative = [](double value) { return value < 0.0; };
  if (std::any_of(diagonal.begin(), diagonal.end(), negative) || std::any_of(spread.begin(), spread.end(), negative))
    return Status::invalid("model: variances must not be negative");
  for (std::size_t k = 0; k < spread.size(); ++k) spread[k] = std::sqrt(spread[k]) * std::abs(factor[k]);
  return {};
}

Status Model::Content::mean(View<const double> Z, View<double> out) const {
  const View<const double> coefficients = rows<const double>(C.data(), n, outputs);
  for (Index i = 0; i < out.rows; ++i)
    for (Index k = 0; k < outputs; ++k) out(i, k) = 0.0;
  if (has_points && n > 0) {
    const Status status = multiply<double>(*kernel, Z, points(), coefficients, out);
    if (!status.ok()) return status;
  }
  const Index q = trend_functions();
  std::vector<double> h(static_cast<std::size_t>(q));
  for (Index i = 0; i < out.rows; ++i) {
    write_basis(trend, Z, i, h.data());
    for (Index k = 0; k < outputs; ++k) {
      const auto at = static_cast<std::size_t>(k);
      double sum = out(i, k);
      for (Index j = 0; !has_points && j < d; ++j) sum += Z(i, j) * coefficients(j, k);
      for (Index j = 0; j < q; ++j) sum += h[static_cast<std::size_t>(j)] * B[static_cast<std::size_t>(j * outputs) + at];
      out(i, k) = sum * factor[at] + offset[at];
    }
  }
  return {};
}

Status Model::Content::factorize() {
  if (factorized) return {};
  Status status = kernsel::factorize<double>(*kernel, points(), vector<const double>(diagonal.data(), n), L);
  if (!status.ok()) return status;
  const Index q = trend_functions();
  std::vector<double> H(static_cast<std::size_t>(n * q)), h(static_cast<std::size_t>(q));
  for (Index i = 0; i < n; ++i) {
    write_basis(trend, points(), i, h.data());
    for (Index j = 0; j < q; ++j) H[static_cast<std::size_t>(i + j * n)] = h[static_cast<std::size_t>(j)];
  }
  std::vector<double> reduced = H;
  if (q > 0) status = solve_lower<double>(L, kernsel::columns(reduced.data(), n, q));
  if (q > 0 && status.ok()) status = solve<double>(L, kernsel::columns(H.data(), n, q));
  if (!status.ok()) return status;
  orthonormalize(reduced, n, q, R);
  for (Index j = 0; j < q; ++j) {
    const double pivot = R[static_cast<std::size_t>(j * q + j)];
    if (!(pivot > 0.0)) return Status::invalid("model: the functions of the trend depend on each other");
    double* column = H.data() + j * n;
    for (Index i = 0; i < j; ++i) {
      const double* before = H.data() + i * n;
      for (Index r = 0; r < n; ++r) column[r] -= R[static_cast<std::size_t>(i * q + j)] * before[r];
    }
    for (Index r = 0; r < n; ++r) column[r] /= pivot;
  }
  V = std::move(H);
  factorized = true;
  return {};
}

Status Model::Content::deviation(View<const double> Z, View<double> out) const {
  const Index q = trend_functions(), size = std::min(columns_at_a_time(n), Z.rows);
  std::vector<double> K(static_cast<std::size_t>(n * size)), own(static_cast<std::size_t>(Z.rows)),
      explained(static_cast<std::size_t>(size)), r(static_cast<std::size_t>(q)), products(static_cast<std::size_t>(q * size));
  Status status = gram_diagonal<double>(*kernel, Z, vector(own.data(), Z.rows));
  for (Index begin = 0; status.ok() && begin < Z.rows; begin += size) {
    const Index count = std::min(size, Z.rows - begin);
    const View<double> cross = rows(K.data(), n, count);
    status = cross_gram<double>(*kernel, points(), Z.block(begin, 0, count, d), cross);
    if (status.ok())
      status = inverse_quadratic<double>(L, rows<const double>(K.data(), n, count), vector(explained.data(), count));
    std::fill(products.begin(), products.end(), 0.0);  // V'k(X, z)
    for (Index j = 0; j < q; ++j)
      for (Index i = 0; i < n; ++i)
        for (Index c = 0; c < count; ++c)
          products[static_cast<std::size_t>(j * size + c)] += V[static_cast<std::size_t>(i + j * n)] * cross(i, c);
    for (Index c = 0; status.ok() && c < count; ++c) {
      double variance = own[static_cast<std::size_t>(begin + c)] - explained[static_cast<std::size_t>(c)];
      // R^-T r = R^-T h - V'k, by substitution.
      write_basis(trend, Z, begin + c, r.data());
      for (Index j = 0; j < q; ++j) {
        double s = r[static_cast<std::size_t>(j)];
        for (Index i = 0; i < j; ++i) s -= R[static_cast<std::size_t>(i * q + j)] * r[static_cast<std::size_t>(i)];
        r[static_cast<std::size_t>(j)] = s / R[static_cast<std::size_t>(j * q + j)];
      }
      for (Index j = 0; j < q; ++j) {
        const double s = r[static_cast<std::size_t>(j)] - products[static_cast<std::size_t>(j * size + c)];
        variance += s * s;
      }
      const double deviation = std::sqrt(std::max(variance, jitter));
      for (Index k = 0; k < outputs; ++k) out(begin + c, k) = deviation * spread[static_cast<std::size_t>(k)];
    }
  }
  return status;
}

Model::Model() = default;
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

const std::string& Model::estimator() const {
  static const std::string none;
  return content_ ? content_->estimator : none;
}
Index Model::points() const { return content_ && content_->has_points ? content_->n : 0; }
Index Model::columns() const { return content_ ? content_->d : 0; }
Index Model::outputs() const { return content_ ? content_->outputs : 0; }
bool Model::has_deviations() const { return content_ && content_->process; }
const Kernel& Model::kernel() const {
  static const Kernel none = constant(1.0);
  return content_ ? *content_->kernel : none;
}

Status Model::predict(View<const double> Z, View<double> mean) const {
  if (!content_) return Status::invalid("model: none has been loaded");
  if (Z.cols != content_->d) return Status::invalid("Z: expected as many columns as the model has");
  if (mean.rows != Z.rows || mean.cols != content_->outputs)
    return Status::invalid("mean: expected a row for each point and a column for each output");
  try {
    return content_->mean(Z, mean);
  } catch (const std::bad_alloc&) {
    return no_memory();
  }
}

Status Model::predict(View<const double> Z, View<double> mean, View<double> deviation) {
  Status status = static_cast<const Model&>(*this).predict(Z, mean);
  if (!status.ok()) return status;
  if (!content_->process) return Status::invalid("deviation: only Gaussian processes have standard deviations");
  if (deviation.rows != mean.rows || deviation.cols != mean.cols)
    return Status::invalid("deviation: expected a row for each point and a column for each output");
  try {
    status = content_->factorize();
    return status.ok() && Z.rows > 0 ? content_->deviation(Z, deviation) : status;
  } catch (const std::bad_alloc&) {
    return no_memory();
  }
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

}  // namespace kernsel
