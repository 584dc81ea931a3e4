#include <pybind11/stl.h>

#include "approximations.hpp"
#include "arrays.hpp"
#include "compute.hpp"
#include "errors.hpp"
#include "functions.hpp"
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
                  Workspace& workspace, const py::object& approximation, bool points) {
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
  Evaluation out;
  const kernsel::Order order = points ? kernsel::Order::points : gradient ? kernsel::Order::gradient : kernsel::Order::value;
  std::shared_mutex& mutex = workspace.lock.get();
  const auto make = factor_of(approximation, workspace);
  compute([&] {
    const std::unique_lock<std::shared_mutex> lock(mutex);
    const FactorLock::Use use(&workspace.lock);
    return kernsel::evaluate(k, problem, criterion, order, make(k, problem.X), out);
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
  result["noise"] = array(out.noise, n, -1);
  result["precision"] = out.precision.empty() ? py::object(py::none()) : py::object(array(out.precision, n, -1));
  result["gradient"] =
      gradient ? py::object(array(out.gradient.theta, Index(out.gradient.theta.size()), -1)) : py::object(py::none());
  result["noise_gradient"] = gradient ? py::object(array(out.gradient.noise, n, -1)) : py::object(py::none());
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

// Returns the part of the inverse P that a criterion depends on: P y, its diagonal, or the blocks of groups of points.
const char* seen_by(const Criterion& criterion) {
  const kernsel::Request& request = criterion.request;
  if (request.left_out && !request.groups.alone()) return "blocks";
  return request.diagonal || request.left_out ? "diagonal" : "products";
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
  py::class_<Criterion>(module, "Criterion").def_property_readonly("sees", &seen_by);
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
  module.def("generalized_cross_validation", &criteria::generalized_cross_validation);
  module.def("unbiased_risk", &criteria::unbiased_risk, py::arg("variance"));
  module.def("evaluate", &evaluate, py::arg("criterion"), py::arg("kernel"), py::arg("X"), py::arg("y"), py::arg("noise"),
             py::arg("trend"), py::arg("weights"), py::arg("gradient"), py::arg("workspace"),
             py::arg("approximation") = py::none(), py::arg("points") = false);
}
