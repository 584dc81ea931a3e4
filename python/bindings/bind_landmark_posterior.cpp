#include <pybind11/stl.h>

#include "approximations.hpp"
#include "arrays.hpp"
#include "kernsel/conjugate_gradients.hpp"
#include "kernsel/nystrom_posterior.hpp"
#include "module.hpp"
#include "posteriors.hpp"

namespace py = pybind11;
using kernsel::Index;
using kernsel::Kernel;
using kernsel::NystromPosterior;
using kernsel::NystromSums;
using kernsel::Status;
using kernsel::View;

namespace {

using Held = HeldBy<NystromPosterior>;

std::unique_ptr<Held> condition(const Kernel& k, const py::object& X, const py::object& y, const py::object& noise,
                                const py::object& trend, Index count, const py::object& approximation) {
  const Input x = matrix(X, "X"), targets = matrix(y, "y"), extra = matrix(noise, "noise", 1);
  auto held = std::make_unique<Held>();
  const kernsel::Conditioning given{k, x.view<double>(), targets.view<double>(), extra.view<double>(), basis_of(trend, count)};
  const kernsel::NystromOptions options = nystrom_options(approximation);
  compute([&] { return held->posterior.condition(given, options); });
  return held;
}

// From sums over rows, to the same bits; without rows if X has none.
std::unique_ptr<Held> restore(const Kernel& k, const py::object& X, const py::object& y, const py::object& noise,
                              const py::object& trend, Index count, const py::object& approximation, const NystromSums& sums) {
  const Input x = matrix(X, "X"), targets = matrix(y, "y"), extra = matrix(noise, "noise", 1);
  auto held = std::make_unique<Held>();
  const kernsel::Conditioning given{k, x.view<double>(), targets.view<double>(), extra.view<double>(), basis_of(trend, count)};
  const kernsel::NystromOptions options = nystrom_options(approximation);
  compute([&] { return held->posterior.assume(given, options, sums); });
  return held;
}

py::tuple predict(const Held& held, const py::object& Z) {
  const Input points = matrix(Z, "X");
  auto means = new_array<double>(points.rows(), held.posterior.outputs()), variances = new_array<double>(points.rows());
  const View<double> mean = view_of(means), variance = view_of(variances);
  read(held, [&](const NystromPosterior& p) { return p.predict(points.view<double>(), mean, variance); });
  return py::make_tuple(means, variances);
}

py::array_t<double> weights(const Held& held) {
  const Index n = held.posterior.points();
  auto out = new_array<double>(n, held.posterior.outputs());
  const View<double> to = view_of(out);
  read(held, [&](const NystromPosterior& p) {
    const Status status = require_points(p, n);
    return status.ok() ? p.coefficients(to) : status;
  });
  return out;
}

// A copy of what a function returns of a posterior.
template <class F>
auto of(const F& f) {
  return [f](const Held& held) {
    std::decay_t<decltype(f(held.posterior))> found{};
    read(held, [&](const NystromPosterior& p) {
      found = f(p);
      return Status{};
    });
    return found;
  };
}

py::tuple solve(const Kernel& k, const py::object& X, const py::object& y, const py::object& noise, const py::object& trend,
                Index count, const py::object& approximation, double tolerance, Index most) {
  const Input x = matrix(X, "X"), targets = matrix(y, "y"), extra = matrix(noise, "noise", 1);
  const kernsel::Conditioning given{k, x.view<double>(), targets.view<double>(), extra.view<double>(), basis_of(trend, count)};
  const kernsel::NystromOptions options = nystrom_options(approximation);
  kernsel::Solution solution;
  compute([&] { return kernsel::solve_by_conjugate_gradients(given, options, {tolerance, most}, solution); });
  return py::make_tuple(by_rows(solution.c, targets.cols()), by_rows(solution.beta, targets.cols()), solution.iterations,
                        solution.residual);
}

}  // namespace

void bind_landmark_posterior(py::module_& module) {
  py::class_<Held> bound(module, "NystromPosterior");
  bind_common(bound);
  bound
      .def_static("condition", &condition, py::arg("kernel"), py::arg("X"), py::arg("y"), py::arg("noise"), py::arg("trend"),
                  py::arg("count"), py::arg("approximation"))
      .def_static("restore", &restore, py::arg("kernel"), py::arg("X"), py::arg("y"), py::arg("noise"), py::arg("trend"),
                  py::arg("count"), py::arg("approximation"), py::arg("sums"))
      .def("predict", &predict, py::arg("X"))
      .def_property_readonly("landmarks", [](const Held& held) { return copied(held, &NystromPosterior::landmarks); })
      .def_property_readonly("landmark_weights",
                             [](const Held& held) { return copied(held, &NystromPosterior::landmark_weights); })
      .def_property_readonly("weights", &weights)
      .def_property_readonly("squares", of([](const NystromPosterior& p) { return p.squares(); }))
      .def_property_readonly("log_det", of([](const NystromPosterior& p) { return p.log_det(); }))
      .def_property_readonly("log_det_trend", of([](const NystromPosterior& p) { return p.log_det_trend(); }))
      .def_property_readonly("sums", of([](const NystromPosterior& p) { return p.sums(); }));
  module.def("solve_by_conjugate_gradients", &solve, py::arg("kernel"), py::arg("X"), py::arg("y"), py::arg("noise"),
             py::arg("trend"), py::arg("count"), py::arg("approximation"), py::arg("tolerance"), py::arg("most"));
}
