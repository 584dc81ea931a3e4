#include <pybind11/operators.h>
#include <pybind11/stl.h>

#include "arrays.hpp"
#include "bind_factor.hpp"
#include "compute.hpp"
#include "errors.hpp"
#include "functions.hpp"
#include "kernsel/functionals.hpp"
#include "kernsel/gram.hpp"
#include "kernsel/kernel_json.hpp"
#include "module.hpp"

namespace py = pybind11;
using kernsel::Index;
using kernsel::Kernel;
using kernsel::View;

namespace {

Input points(const py::object& object, const char* name) {
  Input input(object, name, 2);
  input.require_finite();
  return input;
}

void require_same_columns(const Input& X, const Input& Z) {
  if (X.cols() == Z.cols()) return;
  raise_value_error("Z: expected " + std::to_string(X.cols()) + " columns, as X has, got shape " + Z.shape());
}

py::array gram(const Kernel& k, const py::object& X, const py::object& out) {
  Input x = points(X, "X");
  return in_precision(
      [&](auto type) -> py::array {
        using T = decltype(type);
        auto K = output<T>(out, x.rows(), x.rows());
        compute([&, to = view_of(K)] { return kernsel::gram<T>(k, x.view<T>(), to); });
        return K;
      },
      x);
}

py::array cross_gram(const Kernel& k, const py::object& X, const py::object& Z, const py::object& out) {
  Input x = points(X, "X"), z = points(Z, "Z");
  require_same_columns(x, z);
  return in_precision(
      [&](auto type) -> py::array {
        using T = decltype(type);
        auto K = output<T>(out, x.rows(), z.rows());
        compute([&, to = view_of(K)] { return kernsel::cross_gram<T>(k, x.view<T>(), z.view<T>(), to); });
        return K;
      },
      x, z);
}

py::array diagonal(const Kernel& k, const py::object& X) {
  Input x = points(X, "X");
  return in_precision(
      [&](auto type) -> py::array {
        using T = decltype(type);
        auto out = new_array<T>(x.rows());
        compute([&, to = view_of(out)] { return kernsel::gram_diagonal<T>(k, x.view<T>(), to); });
        return out;
      },
      x);
}

py::array_t<double> noise_of(const Kernel& k, const py::object& X) {
  Input x = points(X, "X");
  x.to(false);
  auto out = new_array<double>(x.rows());
  compute([&, to = view_of(out)] { return kernsel::gram_noise(k, x.view<double>(), to); });
  return out;
}

py::array multiply(const Kernel& k, const py::object& X, const py::object& Z, const py::object& V) {
  Input x = points(X, "X"), z = points(Z, "Z"), v(V, "V", 0);
  require_same_columns(x, z);
  if (v.rows() != z.rows()) {
    raise_value_error("V: expected " + std::to_string(z.rows()) + " rows, one for each point of Z, got shape " + v.shape());
  }
  return in_precision(
      [&](auto type) -> py::array {
        using T = decltype(type);
        auto out = v.one_dimensional() ? new_array<T>(x.rows()) : new_array<T>(x.rows(), v.cols());
        compute([&, to = view_of(out)] { return kernsel::multiply<T>(k, x.view<T>(), z.view<T>(), v.view<T>(), to); });
        return out;
      },
      x, z, v);
}

void check_weights(const Input& X, const Input& Z, const Input& W) {
  require_same_columns(X, Z);
  if (W.rows() == X.rows() && W.cols() == Z.rows()) return;
  raise_value_error("W: expected shape (" + std::to_string(X.rows()) + ", " + std::to_string(Z.rows()) +
                    "), as the kernel matrix has, got " + W.shape());
}

py::array_t<double> pullback(const Kernel& k, const py::object& X, const py::object& W, const std::optional<py::object>& Z) {
  Input x = points(X, "X"), z = points(Z ? *Z : X, "Z"), w(W, "W", 2);
  check_weights(x, z, w);
  auto gradient = new_array<double>(k.parameters());
  in_precision(
      [&](auto type) {
        using T = decltype(type);
        compute([&, to = gradient.mutable_data()] {
          return Z ? kernsel::pullback<T>(k, x.view<T>(), z.view<T>(), w.view<T>(), to)
                   : kernsel::pullback<T>(k, x.view<T>(), w.view<T>(), to);
        });
      },
      x, z, w);
  return gradient;
}

// The gradient with respect to the points of X, in single precision if all arguments are.
py::array pullback_points(const Kernel& k, const py::object& X, const py::object& W, const std::optional<py::object>& Z) {
  Input x = points(X, "X"), z = points(Z ? *Z : X, "Z"), w(W, "W", 2);
  check_weights(x, z, w);
  return in_precision(
      [&](auto type) -> py::array {
        using T = decltype(type);
        auto gradient = new_array<T>(x.rows(), x.cols());
        compute([&, to = view_of(gradient)] {
          return Z ? kernsel::pullback_points<T>(k, x.view<T>(), z.view<T>(), w.view<T>(), to)
                   : kernsel::pullback_points<T>(k, x.view<T>(), w.view<T>(), to);
        });
        return gradient;
      },
      x, z, w);
}

// Returns the Cholesky factor of k(X, X) + diag(noise).
py::object cholesky(const Kernel& k, const py::object& X, const py::object& noise) {
  Input x = points(X, "X"), extra = noise_input(noise, x.rows());
  extra.to(x.single());
  return in_precision(
      [&](auto type) -> py::object {
        using T = decltype(type);
        auto factor = std::make_unique<Factor<T>>();
        compute([&] { return kernsel::factorize<T>(k, x.view<T>(), extra.view<T>(), factor->tiles); });
        return py::cast(std::move(factor));
      },
      x, extra);
}

}  // namespace

void bind_kernels(py::module_& module) {
  py::class_<Kernel>(module, "Kernel")
      .def_property_readonly("theta", &Kernel::theta)
      .def(py::self + py::self)
      .def(py::self * py::self)
      .def(double() * py::self)
      .def("gram", &gram, py::arg("X"), py::arg("out") = py::none())
      .def("cross_gram", &cross_gram, py::arg("X"), py::arg("Z"), py::arg("out") = py::none())
      .def("diagonal", &diagonal, py::arg("X"))
      .def("noise", &noise_of, py::arg("X"))
      .def_property_readonly("json",
                             [](const Kernel& k) -> std::optional<std::string> {
                               std::string json;
                               return kernsel::kernel_to_json(k, json).ok() ? std::optional(json) : std::nullopt;
                             })
      .def_property_readonly("adjustable",
                             [](const Kernel& k) {
                               bool changed = false;
                               (void)k.with_theta(k.theta(), &changed);
                               return changed;
                             })
      .def("multiply", &multiply, py::arg("X"), py::arg("Z"), py::arg("V"))
      .def("pullback", &pullback, py::arg("X"), py::arg("W"), py::arg("Z") = std::nullopt)
      .def("pullback_points", &pullback_points, py::arg("X"), py::arg("W"), py::arg("Z") = std::nullopt)
      .def("cholesky", &cholesky, py::arg("X"), py::arg("noise"));
  module.def("rbf", &kernsel::rbf, py::arg("length_scale"));
  module.def("exponential", &kernsel::exponential, py::arg("length_scale"));
  module.def("matern", &kernsel::matern, py::arg("nu"), py::arg("length_scale"));
  module.def("rational_quadratic", &kernsel::rational_quadratic, py::arg("alpha"), py::arg("length_scale"));
  module.def("periodic", &kernsel::periodic, py::arg("length_scale"), py::arg("period"));
  module.def("product_matern", &kernsel::product_matern, py::arg("nu"), py::arg("length_scale"));
  module.def("cosine", &kernsel::cosine, py::arg("period"));
  module.def("wendland", &kernsel::wendland, py::arg("smoothness"), py::arg("length_scale"));
  module.def("dot_product", &kernsel::dot_product, py::arg("sigma"), py::arg("length_scale"));
  module.def("polynomial", &kernsel::polynomial, py::arg("offset"), py::arg("degree"), py::arg("length_scale"));
  module.def("sigmoid", &kernsel::sigmoid, py::arg("offset"), py::arg("length_scale"));
  module.def("radial_pair", &kernsel::radial_pair, py::arg("length_scale"));
  module.def("arc_cosine", &kernsel::arc_cosine, py::arg("order"), py::arg("offset"), py::arg("length_scale"));
  module.def("brownian", &kernsel::brownian);
  module.def("spectral_mixture", &kernsel::spectral_mixture, py::arg("weights"), py::arg("length_scales"), py::arg("periods"));
  module.def("exp", py::overload_cast<const Kernel&>(&kernsel::exp), py::arg("kernel"));
  module.def("pow", py::overload_cast<const Kernel&, double>(&kernsel::pow), py::arg("kernel"), py::arg("exponent"));
  module.def("series", &kernsel::series, py::arg("coefficients"), py::arg("kernel"));
  module.def("on", &kernsel::on, py::arg("kernel"), py::arg("columns"));
  module.def("compose", &kernsel::compose, py::arg("outer"), py::arg("inner"));
  module.def("functionals", &kernsel::functionals, py::arg("kernel"));
  module.def("normalize", &kernsel::normalize, py::arg("kernel"));
  module.def(
      "warp",
      [](const Kernel& k, const py::object& f, const py::object& derivative) {
        return kernsel::warp(k, point_function(f, "function", derivative));
      },
      py::arg("kernel"), py::arg("function"), py::arg("derivative"));
  module.def(
      "transform",
      [](const Kernel& k, Index outputs, const py::object& phi, const py::object& derivative) {
        return kernsel::transform(k, outputs, point_function(phi, "phi", derivative));
      },
      py::arg("kernel"), py::arg("outputs"), py::arg("phi"), py::arg("derivative"));
  module.def(
      "project",
      [](const Kernel& k, std::vector<double> B, Index outputs) { return kernsel::transform(k, std::move(B), outputs); },
      py::arg("kernel"), py::arg("B"), py::arg("outputs"));
  module.def("warped_inputs", &kernsel::warped_inputs, py::arg("kernel"), py::arg("a"), py::arg("b"), py::arg("lower"),
             py::arg("upper"));
  module.def("quadratic_form", &kernsel::quadratic_form, py::arg("B"), py::arg("rows"));
  module.def(
      "noise",
      [](double level, const py::object& variance) { return kernsel::noise(level, point_function(variance, "variances")); },
      py::arg("level"), py::arg("variances"));
  module.def("precomputed", &precomputed, py::arg("K"));
  module.def("function", &kernel_function, py::arg("value"), py::arg("pullback"), py::arg("theta"), py::arg("name"),
             py::arg("diagonal") = py::none());
  module.def("exchangeable", &kernsel::exchangeable, py::arg("correlation"));
  module.def("grouped_levels", &kernsel::grouped_levels, py::arg("within"), py::arg("between"), py::arg("groups"));
  module.def("correlated_levels", &kernsel::correlated_levels, py::arg("W"), py::arg("rank"));
  module.def("coregion", &kernsel::coregion, py::arg("W"), py::arg("kappa"));
  module.def("ordered_levels", &kernsel::ordered_levels, py::arg("nu"), py::arg("gaps"));
  module.def("constant", &kernsel::constant, py::arg("value"));
  module.def("white", &kernsel::white, py::arg("noise"));
}
