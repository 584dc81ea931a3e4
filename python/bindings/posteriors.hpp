#pragma once

#include <pybind11/stl.h>

#include <shared_mutex>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "bind_factor.hpp"
#include "compute.hpp"
#include "functions.hpp"
#include "kernsel/posterior.hpp"

// What the bindings of all posteriors share.

// A posterior that Python owns. Several threads may read it at the same time; a thread that changes it has it alone.
template <class P>
struct HeldBy {
  P posterior;
  mutable FactorLock lock;
};

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
pybind11::array_t<double> copied(const HeldBy<P>& held, const Part& part) {
  std::vector<double> values;
  kernsel::Index count = 0, width = 0;
  read(held, [&](const P& posterior) {
    const kernsel::View<const double> from = (posterior.*part)();
    count = from.rows;
    width = from.cols;
    for (kernsel::Index i = 0; i < count; ++i)
      for (kernsel::Index j = 0; j < width; ++j) values.push_back(from(i, j));
    return kernsel::Status{};
  });
  auto out = new_array<double>(count, width);
  std::copy(values.begin(), values.end(), out.mutable_data());
  return out;
}

inline Input matrix(const pybind11::object& values, const char* name, int dimensions = 2) {
  Input input(values, name, dimensions);
  input.to(false);
  input.require_finite();
  return input;
}

inline kernsel::Basis basis_of(const pybind11::object& trend, kernsel::Index count) {
  if (trend.is_none()) return {};
  if (pybind11::isinstance<pybind11::str>(trend)) {
    const auto name = trend.cast<std::string>();
    return name == "constant" ? kernsel::Basis::Kind::constant
           : name == "linear" ? kernsel::Basis::Kind::linear
                              : kernsel::Basis::Kind::quadratic;
  }
  if (pybind11::isinstance<pybind11::function>(trend) || PyCallable_Check(trend.ptr()))
    return kernsel::Basis::functions(count, point_function(trend, "trend"));
  return kernsel::Basis::fixed(matrix(trend, "trend").view<double>());
}

// Calls f(posterior, Z, out) for m points Z; out has the shape (m, width), or (m) if the width cols(posterior, m) is negative.
template <class P, class F, class Cols>
pybind11::array_t<double> at_points(const HeldBy<P>& held, const pybind11::object& Z, const Cols& cols, const F& f) {
  const Input points = matrix(Z, "X");
  const kernsel::Index m = points.rows(), width = cols(held.posterior, m);
  auto out = width < 0 ? new_array<double>(m) : new_array<double>(m, width);
  const kernsel::View<double> to = view_of(out);
  read(held, [&](const P& posterior) { return f(posterior, points.view<double>(), to); });
  return out;
}

// That the posterior still has as many points as the output has rows: they are counted before the lock is taken.
inline kernsel::Status require_points(const kernsel::Posterior& posterior, kernsel::Index n) {
  return posterior.points() == n ? kernsel::Status{}
                                 : kernsel::Status::invalid("posterior: another thread has changed its points");
}

template <class P>
pybind11::tuple leave_one_out(const HeldBy<P>& held) {
  const kernsel::Index n = held.posterior.points(), m = held.posterior.outputs();
  auto residuals = new_array<double>(n, m), variances = new_array<double>(n), leverage = new_array<double>(n);
  const kernsel::View<double> r = view_of(residuals), v = view_of(variances), l = view_of(leverage);
  read(held, [&](const P& posterior) {
    const kernsel::Status status = require_points(posterior, n);
    return status.ok() ? posterior.leave_one_out(r, v, l) : status;
  });
  return pybind11::make_tuple(residuals, variances, leverage);
}

template <class P>
double value(const HeldBy<P>& held, const kernsel::Criterion& criterion) {
  double found = 0.0;
  read(held, [&](const P& posterior) { return posterior.value(criterion, found); });
  return found;
}

template <class P>
void append(HeldBy<P>& held, const pybind11::object& X, const pybind11::object& y, const pybind11::object& noise) {
  const Input x = matrix(X, "X"), targets = matrix(y, "y"), extra = matrix(noise, "noise", 1);
  change(held, [&](P& posterior) { return posterior.append(x.view<double>(), targets.view<double>(), extra.view<double>()); });
}

// The functions that all posteriors have.
template <class P>
void bind_common(pybind11::class_<HeldBy<P>>& bound) {
  const auto one = [](const P&, kernsel::Index) { return kernsel::Index{-1}; };
  const auto square = [](const P&, kernsel::Index m) { return m; };
  const auto outputs = [](const P& p, kernsel::Index) { return p.outputs(); };
  const auto slopes = [](const P& p, kernsel::Index) { return p.columns() * p.outputs(); };
  const auto columns = [](const P& p, kernsel::Index) { return p.columns(); };
  const auto at = [&](auto method, auto cols) {
    return [method, cols](const HeldBy<P>& held, const pybind11::object& Z) {
      return at_points(held, Z, cols, [method](const P& p, kernsel::View<const double> points, kernsel::View<double> to) {
        return (p.*method)(points, to);
      });
    };
  };
  const auto part = [](auto method) { return [method](const HeldBy<P>& held) { return copied(held, method); }; };
  bound.def("mean", at(&P::mean, outputs), pybind11::arg("X"))
      .def("variance", at(&P::variance, one), pybind11::arg("X"))
      .def("covariance", at(&P::covariance, square), pybind11::arg("X"))
      .def("mean_gradient", at(&P::mean_gradient, slopes), pybind11::arg("X"))
      .def("variance_gradient", at(&P::variance_gradient, columns), pybind11::arg("X"))
      .def("leave_one_out", &leave_one_out<P>)
      .def("value", &value<P>, pybind11::arg("criterion"))
      .def("append", &append<P>, pybind11::arg("X"), pybind11::arg("y"), pybind11::arg("noise"))
      .def(
          "remove", [](HeldBy<P>& held, kernsel::Index i) { change(held, [i](P& p) { return p.remove(i); }); },
          pybind11::arg("i"))
      .def(
          "set_kernel", [](HeldBy<P>& held, const kernsel::Kernel& k) { change(held, [&k](P& p) { return p.set_kernel(k); }); },
          pybind11::arg("kernel"))
      .def_property_readonly("X", part(&P::X))
      .def_property_readonly("y", part(&P::y))
      .def_property_readonly("noise", part(&P::noise))
      .def_property_readonly("beta", part(&P::trend));
}
