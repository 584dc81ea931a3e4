#include <pybind11/stl.h>

#include "approximations.hpp"
#include "arrays.hpp"
#include "kernsel/vecchia_posterior.hpp"
#include "module.hpp"
#include "posteriors.hpp"

namespace py = pybind11;
using kernsel::DensePosterior;
using kernsel::Index;
using kernsel::Status;
using kernsel::VecchiaPosterior;
using kernsel::View;

namespace {

using Held = HeldBy<DensePosterior>;
using HeldVecchia = HeldBy<VecchiaPosterior>;

std::unique_ptr<Held> condition(const kernsel::Kernel& k, const py::object& X, const py::object& y, const py::object& noise,
                                const py::object& trend, Index count) {
  const Input x = matrix(X, "X"), targets = matrix(y, "y"), extra = matrix(noise, "noise", 1);
  auto held = std::make_unique<Held>();
  const kernsel::Conditioning given{k, x.view<double>(), targets.view<double>(), extra.view<double>(), basis_of(trend, count)};
  compute([&] { return held->posterior.condition(given); });
  return held;
}

// Restores a posterior from its coefficients and its factor, to the same bits.
std::unique_ptr<Held> restore(const kernsel::Kernel& k, const py::object& X, const py::object& y, const py::object& noise,
                              const py::object& trend, Index count, const py::object& weights, const py::object& beta,
                              const py::object& factor) {
  const Input x = matrix(X, "X"), targets = matrix(y, "y"), extra = matrix(noise, "noise", 1), L = matrix(factor, "factor"),
              c = matrix(weights, "weights"), b = matrix(beta, "beta");
  auto held = std::make_unique<Held>();
  const kernsel::Conditioning given{k, x.view<double>(), targets.view<double>(), extra.view<double>(), basis_of(trend, count)};
  compute([&] { return held->posterior.assume(given, c.view<double>(), b.view<double>(), true, L.view<double>()); });
  return held;
}

std::unique_ptr<Held> of_factor(const kernsel::Kernel& k, const py::object& X, const py::object& c, const py::object& factor) {
  const Input x = matrix(X, "X"), weights = matrix(c, "weights", 0);
  auto held = std::make_unique<Held>();
  const auto& tiles = factor.cast<const Factor<double>&>().tiles;
  const std::shared_ptr<py::object> owner = shared_object(factor);
  const std::shared_ptr<const kernsel::LowerTiles<double>> L(owner, &tiles);
  compute([&] { return held->posterior.assume_factor(k, x.view<double>(), weights.view<double>(), L); });
  return held;
}

std::unique_ptr<Held> of_root(const kernsel::Kernel& k, const py::object& X, const py::object& c, const py::object& R) {
  const Input x = matrix(X, "X"), weights = matrix(c, "weights", 0), root = matrix(R, "root");
  auto held = std::make_unique<Held>();
  compute([&] { return held->posterior.assume_root(k, x.view<double>(), weights.view<double>(), root.view<double>()); });
  return held;
}

py::array_t<double> lower(const Held& held) {
  const Index n = held.posterior.points();
  auto out = new_array<double>(n, n);
  const View<double> to = view_of(out);
  read(held, [&](const DensePosterior& posterior) {
    const kernsel::LowerTiles<double>* L = nullptr;
    Status status = require_points(posterior, n);
    if (status.ok()) status = posterior.factor(L);
    return status.ok() ? kernsel::unpack_lower<double>(*L, to) : status;
  });
  return out;
}

template <class F>
double number(const Held& held, const F& f) {
  double found = 0.0;
  read(held, [&](const DensePosterior& posterior) {
    found = f(posterior);
    return Status{};
  });
  return found;
}

std::unique_ptr<HeldVecchia> condition_near(const kernsel::Kernel& k, const py::object& X, const py::object& y,
                                            const py::object& noise, const py::object& trend, Index count,
                                            const py::object& approximation, Index predicting) {
  const Input x = matrix(X, "X"), targets = matrix(y, "y"), extra = matrix(noise, "noise", 1);
  auto held = std::make_unique<HeldVecchia>();
  const kernsel::Conditioning given{k, x.view<double>(), targets.view<double>(), extra.view<double>(), basis_of(trend, count)};
  const kernsel::VecchiaOptions options = vecchia_options(approximation);
  compute([&] { return held->posterior.condition(given, options, predicting); });
  return held;
}

// Restores a posterior from the coefficients of its trend and the triangle of these, to the same bits.
std::unique_ptr<HeldVecchia> restore_near(const kernsel::Kernel& k, const py::object& X, const py::object& y,
                                          const py::object& noise, const py::object& trend, Index count,
                                          const py::object& approximation, Index predicting, const py::object& coefficients,
                                          std::vector<double> triangle) {
  const Input x = matrix(X, "X"), targets = matrix(y, "y"), extra = matrix(noise, "noise", 1),
              b = matrix(coefficients, "coefficients");
  auto held = std::make_unique<HeldVecchia>();
  const kernsel::Conditioning given{k, x.view<double>(), targets.view<double>(), extra.view<double>(), basis_of(trend, count)};
  const kernsel::VecchiaOptions options = vecchia_options(approximation);
  compute([&] { return held->posterior.assume(given, options, predicting, b.view<double>(), std::move(triangle)); });
  return held;
}

// The mean, (m, outputs), and the variance, (m), of new points from the same sets of neighbours.
py::tuple predict_near(const HeldVecchia& held, const py::object& Z) {
  const Input points = matrix(Z, "X");
  auto means = new_array<double>(points.rows(), held.posterior.outputs()), variances = new_array<double>(points.rows());
  const View<double> mean = view_of(means), variance = view_of(variances);
  read(held, [&](const VecchiaPosterior& p) { return p.predict(points.view<double>(), mean, variance); });
  return py::make_tuple(means, variances);
}

}  // namespace

void bind_posterior(py::module_& module) {
  const auto part = [](auto method) { return [method](const Held& held) { return copied(held, method); }; };
  py::class_<Held> dense(module, "Posterior");
  bind_common(dense);
  dense
      .def_static("condition", &condition, py::arg("kernel"), py::arg("X"), py::arg("y"), py::arg("noise"), py::arg("trend"),
                  py::arg("count"))
      .def_static("restore", &restore, py::arg("kernel"), py::arg("X"), py::arg("y"), py::arg("noise"), py::arg("trend"),
                  py::arg("count"), py::arg("weights"), py::arg("beta"), py::arg("factor"))
      .def_static("of_factor", &of_factor, py::arg("kernel"), py::arg("X"), py::arg("weights"), py::arg("factor"))
      .def_static("of_root", &of_root, py::arg("kernel"), py::arg("X"), py::arg("weights"), py::arg("root"))
      .def("lower", &lower)
      .def_property_readonly("log_det",
                             [](const Held& held) { return number(held, [](const auto& p) { return p.log_det(); }); })
      .def_property_readonly("log_det_trend",
                             [](const Held& held) { return number(held, [](const auto& p) { return p.log_det_trend(); }); })
      .def_property_readonly("basis", part(&DensePosterior::basis))
      .def_property_readonly("weights", part(&DensePosterior::coefficients));
  const auto of_near = [](auto method) { return [method](const HeldVecchia& held) { return copied(held, method); }; };
  py::class_<HeldVecchia> near(module, "VecchiaPosterior");
  bind_common(near);
  near.def_static("condition", &condition_near, py::arg("kernel"), py::arg("X"), py::arg("y"), py::arg("noise"),
                  py::arg("trend"), py::arg("count"), py::arg("approximation"), py::arg("predicting"))
      .def_static("restore", &restore_near, py::arg("kernel"), py::arg("X"), py::arg("y"), py::arg("noise"), py::arg("trend"),
                  py::arg("count"), py::arg("approximation"), py::arg("predicting"), py::arg("coefficients"),
                  py::arg("triangle"))
      .def_property_readonly("coefficients", of_near(&VecchiaPosterior::coefficients))
      .def_property_readonly("landmarks", of_near(&VecchiaPosterior::landmarks))
      .def("predict", &predict_near, py::arg("X"))
      .def_property_readonly("triangle", [](const HeldVecchia& held) {
        std::vector<double> values;
        read(held, [&](const VecchiaPosterior& p) {
          values = p.trend_triangle();
          return Status{};
        });
        return values;
      });
}
