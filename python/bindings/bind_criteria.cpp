#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <vector>

#include "approximations.hpp"
#include "arrays.hpp"
#include "compute.hpp"
#include "errors.hpp"
#include "functions.hpp"
#include "inference.hpp"
#include "module.hpp"

namespace py = pybind11;
namespace criteria = kernsel::criteria;
using kernsel::Criterion;
using kernsel::Evaluation;
using kernsel::Groups;
using kernsel::Index;
using kernsel::Kernel;

namespace {

py::array_t<double> array(const std::vector<double>& values, Index rows, Index cols) {
  auto out = cols < 0 ? new_array<double>(rows) : new_array<double>(rows, cols);
  const kernsel::View<double> to = view_of(out);
  for (Index c = 0; c < to.cols; ++c)
    for (Index r = 0; r < to.rows; ++r) to(r, c) = values[static_cast<std::size_t>(r + c * to.rows)];
  return out;
}

py::dict evaluate(const Criterion& criterion, const Kernel& k, const py::object& X, const py::object& y,
                  const py::object& noise, const py::object& trend, const py::object& weights, bool gradient,
                  Workspace& workspace, const py::object& approximation, bool points, Observed* observed) {
  Input x(X, "X", 2), targets(y, "y", 0), basis(trend, "trend", 2);
  Input extra = noise_input(noise, x.rows());
  for (Input* input : {&x, &targets, &basis, &extra}) {
    input->to(false);
    input->require_finite();
  }
  kernsel::Problem problem{x.view<double>(), targets.view<double>(), extra.view<double>(), basis.view<double>()};
  std::vector<double> w;
  if (!weights.is_none()) {
    w = weights.cast<std::vector<double>>();
    problem.weights = w.data();
  }
  if (observed && !observed->sizes.empty()) {
    if (static_cast<Index>(observed->sizes.size()) != x.rows()) raise_value_error("sizes: expected one for each point");
    problem.sizes = observed->sizes.data();
  }
  Evaluation out;
  const kernsel::Order order = points ? kernsel::Order::points : gradient ? kernsel::Order::gradient : kernsel::Order::value;
  std::shared_mutex& mutex = workspace.lock.get();
  const auto make = factor_of(approximation, workspace);
  compute([&] {
    const std::unique_lock<std::shared_mutex> lock(mutex);
    const FactorLock::Use use(&workspace.lock);
    kernsel::Factor& factor = make(k, problem.X);
    if (!observed) return kernsel::evaluate(k, problem, criterion, order, factor, out);
    const std::unique_ptr<kernsel::LatentFactor> latent = observed->around(factor);
    const kernsel::Status status = kernsel::evaluate(k, problem, criterion, order, *latent, out);
    if (status.ok()) observed->keep(*latent);
    return status;
  });
  const Index n = x.rows(), m = targets.one_dimensional() ? -1 : targets.cols();
  py::dict result;
  result["value"] = out.value;
  result["scale"] = out.scale;
  result["effective_dof"] = out.dof;
  result["log_det"] = out.log_det;
  result["log_det_trend"] = out.log_det_trend;
  result["squares"] = array(out.squares, Index(out.squares.size()), -1);
  result["beta"] = array(out.beta, basis.cols(), m);
  result["dual_coef"] = out.c.empty() ? py::object(py::none()) : py::object(array(out.c, n, m));
  result["noise"] = array(out.noise, Index(out.noise.size()), -1);  // of the points over which the criterion sums
  result["precision"] = out.precision.empty() ? py::object(py::none()) : py::object(array(out.precision, n, -1));
  result["gradient"] =
      gradient ? py::object(array(out.gradient.theta, Index(out.gradient.theta.size()), -1)) : py::object(py::none());
  result["noise_gradient"] = gradient ? py::object(array(out.gradient.noise, n, -1)) : py::object(py::none());
  result["likelihood_gradient"] = py::none();
  if (observed && gradient)
    result["likelihood_gradient"] = array(out.gradient.likelihood, Index(out.gradient.likelihood.size()), -1);
  result["points_gradient"] = py::none();
  result["landmarks_gradient"] = py::none();
  if (points) {
    auto in_points = new_array<double>(n, x.cols());
    std::copy(out.points.begin(), out.points.end(), in_points.mutable_data());
    result["points_gradient"] = std::move(in_points);
    if (!out.landmarks.empty()) result["landmarks_gradient"] = by_rows(out.landmarks, x.cols());
  }
  return result;
}

// The derivatives of a criterion for what the last evaluation in the workspace has computed of the same problem by neighbours.
py::dict differentiate(const Criterion& criterion, const py::object& X, const py::object& y, const py::object& noise,
                       const py::object& trend, const py::object& weights, Workspace& workspace,
                       const py::object& unknown_noise) {
  Input x(X, "X", 2), targets(y, "y", 0), basis(trend, "trend", 2);
  Input extra = noise_input(noise, x.rows()), unknown = noise_input(unknown_noise.is_none() ? noise : unknown_noise, x.rows());
  for (Input* input : {&x, &targets, &basis, &extra, &unknown}) input->to(false);
  kernsel::Problem problem{x.view<double>(), targets.view<double>(), extra.view<double>(), basis.view<double>()};
  if (!unknown_noise.is_none()) problem.unknown_noise = unknown.view<double>();
  std::vector<double> w;
  if (!weights.is_none()) {
    w = weights.cast<std::vector<double>>();
    problem.weights = w.data();
  }
  Evaluation out;
  std::shared_mutex& mutex = workspace.lock.get();
  compute([&] {
    const std::unique_lock<std::shared_mutex> lock(mutex);
    const FactorLock::Use use(&workspace.lock);
    if (!workspace.vecchia) return kernsel::Status::invalid("differentiate: expected an evaluation by neighbours before");
    return workspace.vecchia->differentiate(problem, criterion, out);
  });
  const auto parameters = Index(out.gradient.theta.size()) + 1;
  py::dict result;
  result["value"] = out.value;
  result["gradient"] = array(out.gradient.theta, parameters - 1, -1);
  result["noise_gradient"] = array(out.gradient.noise, x.rows(), -1);
  result["information"] = out.information.empty() ? py::object(py::none()) : array(out.information, parameters, parameters);
  return result;
}

// Returns the part of the inverse P that a criterion depends on: P y, its diagonal, or the blocks of groups of points.
const char* seen_by(const Criterion& criterion) {
  const kernsel::Request& request = criterion.request;
  if (request.left_out && !request.groups.alone()) return "blocks";
  return request.diagonal || request.left_out ? "diagonal" : "products";
}

// Returns which quantities of a fit a criterion depends on.
py::dict request_of(const Criterion& criterion) {
  const kernsel::Request& request = criterion.request;
  py::dict out;
  out["coefficients"] = request.coefficients;
  out["diagonal"] = request.diagonal;
  out["left_out"] = request.left_out;
  out["variances"] = request.variances;
  out["one_by_one"] = request.groups.alone() && !request.densities;
  return out;
}

// Evaluates a criterion for the quantities of a fit (kernsel/fit.hpp), of which those that it does not depend on may be None.
// The derivatives are to be multiplied by `unit`; those that are None are zero.
py::dict apply(const Criterion& criterion, Index rows, const py::dict& fit) {
  std::vector<std::unique_ptr<Input>> inputs;
  const auto read = [&](const char* name, int dimensions) {
    const py::object given = fit[name];
    if (given.is_none()) return kernsel::View<const double>{};
    inputs.push_back(std::make_unique<Input>(given, name, dimensions));
    inputs.back()->to(false);
    if (inputs.back()->rows() != rows) raise_value_error(std::string(name) + ": expected one row for each point");
    return inputs.back()->view<double>();
  };
  const auto copy = [](const kernsel::View<const double>& from) {
    std::vector<double> to;
    for (Index c = 0; c < from.cols && from.data; ++c)
      for (Index r = 0; r < from.rows; ++r) to.push_back(from(r, c));
    return to;
  };
  const auto squares = fit["squares"].cast<std::vector<double>>();
  const auto outputs = Index(squares.size());
  const std::vector<double> precision = copy(read("precision", 1)), noise = copy(read("noise", 1)),
                            weights = copy(read("weights", 1));
  kernsel::Fit of_rows;
  of_rows.y = {nullptr, rows, outputs, 1, rows};
  of_rows.c = read("c", 2);
  of_rows.precision = precision.empty() ? nullptr : precision.data();
  of_rows.noise = noise.empty() ? nullptr : noise.data();
  of_rows.weights = weights.empty() ? nullptr : weights.data();
  of_rows.trend = fit["trend"].cast<Index>();
  of_rows.log_det = fit["log_det"].cast<double>();
  of_rows.log_det_trend = fit["log_det_trend"].cast<double>();
  of_rows.missing = fit["missing"].cast<double>();
  of_rows.squares = squares.data();
  const kernsel::LeftOut left_out{copy(read("residual", 2)), copy(read("variance", 1)), {}};
  const kernsel::Request& request = criterion.request;
  const auto count = static_cast<std::size_t>(rows), all = count * squares.size();
  if ((request.coefficients && of_rows.c.cols != outputs) || (request.diagonal && (precision.empty() || noise.empty())) ||
      (request.left_out && left_out.residual.size() != all) ||
      (request.left_out && request.variances && left_out.variance.size() != count) || !request.groups.alone() ||
      request.densities)
    raise_value_error("fit: expected all that the criterion depends on, and a criterion that leaves out points one by one");
  if (request.left_out) of_rows.left_out = &left_out;
  kernsel::Partials partials;
  compute([&] { return kernsel::apply(criterion, of_rows, partials); });
  const auto slopes = [&](const std::vector<double>& values, Index cols) {
    return values.empty() ? py::object(py::none()) : py::object(array(values, rows, cols));
  };
  if (partials.squares.empty()) partials.squares.assign(squares.size(), 0.0);
  py::dict out;
  out["value"] = partials.unit * partials.value;
  out["unit"] = partials.unit;
  out["scale"] = partials.scale;
  out["squares"] = array(partials.squares, outputs, -1);
  out["log_det"] = partials.log_det;
  out["log_det_trend"] = partials.log_det_trend;
  out["missing"] = partials.missing;
  out["c"] = slopes(partials.c, outputs);
  out["precision"] = slopes(partials.precision, -1);
  out["noise"] = slopes(partials.noise, -1);
  out["residual"] = slopes(partials.left_out.residual, outputs);
  out["variance"] = slopes(partials.left_out.variance, -1);
  return out;
}

// Wraps a Python function loss(residuals, variances), which returns three arrays: the values, and the derivatives with respect
// to the residuals and the variances.
criteria::PointLoss point_loss(const py::object& loss) {
  const auto f = [loss = shared_object(loss)](Index count, const double* r, const double* v, criteria::Loss* out) {
    const py::gil_scoped_acquire gil;
    const auto given = [count](const double* values) {
      auto copy = new_array<double>(count);
      std::copy_n(values, count, copy.mutable_data());
      return copy;
    };
    const py::object result = (*loss)(given(r), given(v));
    if (!py::isinstance<py::tuple>(result) || py::len(result) != 3)
      raise_value_error(
          "loss: expected the function to return three arrays: values, derivatives in the residual, in the variance");
    const char* names[] = {"loss", "derivative in the residual", "derivative in the variance"};
    std::vector<double> parts[3];
    for (int p = 0; p < 3; ++p) {
      parts[p].resize(static_cast<std::size_t>(count));
      copy_result(result.cast<py::tuple>()[static_cast<std::size_t>(p)], names[p], kernsel::vector(parts[p].data(), count));
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) out[i] = {parts[0][i], parts[1][i], parts[2][i]};
  };
  return {f, false, true, false};
}

// The weighted sum of y'c of each output and log det K~, with `products` also of y_j'c_k (for `differentiate` only), or of
// residuals and variances of what is left out: any criterion with these partial derivatives has its gradient.
Criterion linear(std::vector<double> squares, double log_det, const py::object& residual, const py::object& variance,
                 std::vector<Index> groups, Index count, const py::object& products) {
  const auto numbers = [](const py::object& given, int dimensions) {
    std::vector<double> to;
    if (given.is_none()) return to;
    Input input(given, "partials", dimensions);
    input.to(false);
    const auto from = input.view<double>();
    for (Index c = 0; c < from.cols; ++c)
      for (Index r = 0; r < from.rows; ++r) to.push_back(from(r, c));
    return to;
  };
  Criterion criterion;
  criterion.request.coefficients = false;
  criterion.request.left_out = !residual.is_none();
  criterion.request.in_sample = !criterion.request.left_out;
  criterion.request.variances = !variance.is_none();
  criterion.request.groups = {std::move(groups), count};
  criterion.apply = [squares = std::move(squares), products = numbers(products, 2), log_det, residual = numbers(residual, 2),
                     variance = numbers(variance, 1)](const kernsel::Fit& fit, kernsel::Partials& out) {
    const std::size_t rows = fit.left_out ? fit.left_out->residual.size() : residual.size();
    if (residual.size() != rows || (fit.left_out && !variance.empty() && variance.size() != fit.left_out->variance.size()))
      return kernsel::Status::invalid("linear: expected a number for each point that is left out");
    if (!fit.left_out && static_cast<Index>(squares.size()) != fit.outputs())
      return kernsel::Status::invalid("linear: expected a number for each output");
    if (!products.empty() && products.size() != squares.size() * squares.size())
      return kernsel::Status::invalid("linear: expected a number for each pair of outputs");
    if (!fit.left_out) {
      out.squares = squares;
      out.products = products;
      out.log_det = log_det;
      out.value = log_det * fit.log_det;
      for (Index k = 0; k < fit.outputs(); ++k) out.value += squares[static_cast<std::size_t>(k)] * fit.square(k);
      return kernsel::Status{};
    }
    out.left_out.residual = residual;
    out.left_out.variance = variance;
    for (std::size_t i = 0; i < residual.size(); ++i) out.value += residual[i] * fit.left_out->residual[i];
    for (std::size_t i = 0; i < variance.size(); ++i) out.value += variance[i] * fit.left_out->variance[i];
    return kernsel::Status{};
  };
  return criterion;
}

Criterion leave_out(const std::string& loss, double width, const py::object& function, bool sum, bool profiled,
                    std::vector<Index> groups, Index count) {
  const criteria::PointLoss f = !function.is_none()     ? point_loss(function)
                                : loss == "squared"     ? criteria::squared()
                                : loss == "log_density" ? criteria::log_density()
                                : loss == "crps"        ? criteria::crps()
                                                        : criteria::smooth_absolute(width);
  return criteria::leave_out(f, {std::move(groups), count}, sum, profiled);
}

}  // namespace

void bind_criteria(py::module_& module) {
  py::class_<Criterion>(module, "Criterion")
      .def_property_readonly("sees", &seen_by)
      .def_property_readonly("request", &request_of);
  module.def(
      "likelihood",
      [](bool restricted, const std::string& scale) {
        const criteria::Scale which = scale == "known"  ? criteria::Scale::known
                                      : scale == "each" ? criteria::Scale::each
                                                        : criteria::Scale::shared;
        return criteria::likelihood(restricted, which);
      },
      py::arg("restricted"), py::arg("scale"));
  module.def("leave_out", &leave_out, py::arg("loss"), py::arg("width"), py::arg("function"), py::arg("sum"),
             py::arg("profiled"), py::arg("groups") = std::vector<Index>(), py::arg("count") = 0);
  module.def(
      "joint_log_density",
      [](std::vector<Index> groups, Index count) {
        return criteria::joint_log_density({std::move(groups), count});
      },
      py::arg("groups"), py::arg("count"));
  module.def(
      "left_out_density",
      [](bool sum, std::vector<Index> groups, Index count) {
        return criteria::left_out_density({std::move(groups), count}, sum);
      },
      py::arg("sum"), py::arg("groups") = std::vector<Index>(), py::arg("count") = 0);
  module.def("linear", &linear, py::arg("squares"), py::arg("log_det"), py::arg("residual"), py::arg("variance"),
             py::arg("groups") = std::vector<Index>(), py::arg("count") = 0, py::arg("products") = py::none());
  module.def("apply", &apply, py::arg("criterion"), py::arg("rows"), py::arg("fit"));
  module.def("generalized_cross_validation", &criteria::generalized_cross_validation);
  module.def("unbiased_risk", &criteria::unbiased_risk, py::arg("variance"));
  module.def("evaluate", &evaluate, py::arg("criterion"), py::arg("kernel"), py::arg("X"), py::arg("y"), py::arg("noise"),
             py::arg("trend"), py::arg("weights"), py::arg("gradient"), py::arg("workspace"),
             py::arg("approximation") = py::none(), py::arg("points") = false, py::arg("observed") = py::none());
  module.def("differentiate", &differentiate, py::arg("criterion"), py::arg("X"), py::arg("y"), py::arg("noise"),
             py::arg("trend"), py::arg("weights"), py::arg("workspace"), py::arg("unknown_noise") = py::none());
}
