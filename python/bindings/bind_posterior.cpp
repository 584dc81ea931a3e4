#include <pybind11/stl.h>

#include "approximations.hpp"
#include "arrays.hpp"
#include "bind_factor.hpp"
#include "compute.hpp"
#include "errors.hpp"
#include "functions.hpp"
#include "kernsel/posterior.hpp"
#include "kernsel/vecchia_posterior.hpp"
#include "module.hpp"

namespace py = pybind11;
using kernsel::Basis;
using kernsel::DensePosterior;
using kernsel::Index;
using kernsel::Status;
using kernsel::VecchiaPosterior;
using kernsel::View;

namespace {

// A posterior that Python owns. Several threads may read it at the same time; a thread that changes it has it alone.
template <class P>
struct HeldBy {
  P posterior;
  mutable FactorLock lock;
};

using Held = HeldBy<DensePosterior>;
using HeldVecchia = HeldBy<VecchiaPosterior>;

template <class P, class F>
void read(const HeldBy<P>& held, const F& f) {
  std::shared_mutex& mutex = held.lock.get();
  compute([&] {
    const FactorLock::Use use(&held.lock);
    const std::shared_lock lock(mutex);
    return f(held.posterior);
  });
}

template <class P, class F>
void change(HeldBy<P>& held, const F& f) {
  std::shared_mutex& mutex = held.lock.get();
  compute([&] {
    const FactorLock::Use use(&held.lock);
    const std::unique_lock lock(mutex);
    return f(held.posterior);
  });
}

// A copy of a part of a posterior, made while no other thread may change it.
template <class P, class Part>
py::array_t<double> copied(const HeldBy<P>& held, const Part& part) {
  std::vector<double> values;
  Index count = 0, width = 0;
  read(held, [&](const P& posterior) {
    const View<const double> from = (posterior.*part)();
    count = from.rows;
    width = from.cols;
    for (Index i = 0; i < count; ++i)
      for (Index j = 0; j < width; ++j) values.push_back(from(i, j));
    return Status{};
  });
  auto out = new_array<double>(count, width);
  std::copy(values.begin(), values.end(), out.mutable_data());
  return out;
}

Input matrix(const py::object& values, const char* name, int dimensions = 2) {
  Input input(values, name, dimensions);
  input.to(false);
  input.require_finite();
  return input;
}

Basis basis_of(const py::object& trend, Index count) {
  if (trend.is_none()) return {};
  if (py::isinstance<py::str>(trend)) {
    const auto name = trend.cast<std::string>();
    return name == "constant" ? Basis::Kind::constant : name == "linear" ? Basis::Kind::linear : Basis::Kind::quadratic;
  }
  if (py::isinstance<py::function>(trend) || PyCallable_Check(trend.ptr()))
    return Basis::functions(count, point_function(trend, "trend"));
  return Basis::fixed(matrix(trend, "trend").view<double>());
}

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

std::unique_ptr<Held> latent(const kernsel::Kernel& k, const py::object& X, const py::object& c, const py::object& factor,
                             std::vector<double> root) {
  const Input x = matrix(X, "X"), weights = matrix(c, "weights", 0);
  auto held = std::make_unique<Held>();
  const auto& tiles = factor.cast<const Factor<double>&>().tiles;
  const std::shared_ptr<py::object> owner = shared_object(factor);
  const std::shared_ptr<const kernsel::LowerTiles<double>> L(owner, &tiles);
  compute([&] { return held->posterior.assume_latent(k, x.view<double>(), weights.view<double>(), L, std::move(root)); });
  return held;
}

std::unique_ptr<Held> of_root(const kernsel::Kernel& k, const py::object& X, const py::object& c, const py::object& R) {
  const Input x = matrix(X, "X"), weights = matrix(c, "weights", 0), root = matrix(R, "root");
  auto held = std::make_unique<Held>();
  compute([&] { return held->posterior.assume_root(k, x.view<double>(), weights.view<double>(), root.view<double>()); });
  return held;
}

// Calls f(posterior, Z, out) for m points Z; out has the shape (m, width), or (m) if the width cols(posterior, m) is negative.
template <class P, class F, class Cols>
py::array_t<double> at_points(const HeldBy<P>& held, const py::object& Z, const Cols& cols, const F& f) {
  const Input points = matrix(Z, "X");
  const Index m = points.rows(), width = cols(held.posterior, m);
  auto out = width < 0 ? new_array<double>(m) : new_array<double>(m, width);
  const View<double> to = view_of(out);
  read(held, [&](const P& posterior) { return f(posterior, points.view<double>(), to); });
  return out;
}

// That the posterior still has as many points as the output has rows: they are counted before the lock is taken.
Status require_points(const kernsel::Posterior& posterior, Index n) {
  return posterior.points() == n ? Status{} : Status::invalid("posterior: another thread has changed its points");
}

template <class P>
py::tuple leave_one_out(const HeldBy<P>& held) {
  const Index n = held.posterior.points(), m = held.posterior.outputs();
  auto residuals = new_array<double>(n, m), variances = new_array<double>(n), leverage = new_array<double>(n);
  const View<double> r = view_of(residuals), v = view_of(variances), l = view_of(leverage);
  read(held, [&](const P& posterior) {
    const Status status = require_points(posterior, n);
    return status.ok() ? posterior.leave_one_out(r, v, l) : status;
  });
  return py::make_tuple(residuals, variances, leverage);
}

template <class P>
double value(const HeldBy<P>& held, const kernsel::Criterion& criterion) {
  double found = 0.0;
  read(held, [&](const P& posterior) { return posterior.value(criterion, found); });
  return found;
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

template <class P>
void append(HeldBy<P>& held, const py::object& X, const py::object& y, const py::object& noise) {
  const Input x = matrix(X, "X"), targets = matrix(y, "y"), extra = matrix(noise, "noise", 1);
  change(held, [&](P& posterior) { return posterior.append(x.view<double>(), targets.view<double>(), extra.view<double>()); });
}

// The functions that all posteriors have.
template <class P>
void bind_common(py::class_<HeldBy<P>>& bound) {
  const auto one = [](const P&, Index) { return Index{-1}; };
  const auto square = [](const P&, Index m) { return m; };
  const auto outputs = [](const P& p, Index) { return p.outputs(); };
  const auto slopes = [](const P& p, Index) { return p.columns() * p.outputs(); };
  const auto columns = [](const P& p, Index) { return p.columns(); };
  const auto at = [&](auto method, auto cols) {
    return [method, cols](const HeldBy<P>& held, const py::object& Z) {
      return at_points(held, Z, cols,
                       [method](const P& p, View<const double> points, View<double> to) { return (p.*method)(points, to); });
    };
  };
  const auto part = [](auto method) { return [method](const HeldBy<P>& held) { return copied(held, method); }; };
  bound.def("mean", at(&P::mean, outputs), py::arg("X"))
      .def("variance", at(&P::variance, one), py::arg("X"))
      .def("covariance", at(&P::covariance, square), py::arg("X"))
      .def("mean_gradient", at(&P::mean_gradient, slopes), py::arg("X"))
      .def("variance_gradient", at(&P::variance_gradient, columns), py::arg("X"))
      .def("leave_one_out", &leave_one_out<P>)
      .def("value", &value<P>, py::arg("criterion"))
      .def("append", &append<P>, py::arg("X"), py::arg("y"), py::arg("noise"))
      .def(
          "remove", [](HeldBy<P>& held, Index i) { change(held, [i](P& p) { return p.remove(i); }); }, py::arg("i"))
      .def(
          "set_kernel", [](HeldBy<P>& held, const kernsel::Kernel& k) { change(held, [&k](P& p) { return p.set_kernel(k); }); },
          py::arg("kernel"))
      .def_property_readonly("X", part(&P::X))
      .def_property_readonly("y", part(&P::y))
      .def_property_readonly("noise", part(&P::noise))
      .def_property_readonly("beta", part(&P::trend));
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
      .def_static("latent", &latent, py::arg("kernel"), py::arg("X"), py::arg("weights"), py::arg("factor"), py::arg("root"))
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
