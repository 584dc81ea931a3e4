#include "functions.hpp"

#include <memory>

#include "arrays.hpp"
#include "errors.hpp"

namespace py = pybind11;
using kernsel::Index;
using kernsel::View;

namespace {

py::array_t<double> as_array(View<const double> from) {
  auto array = new_array<double>(from.rows, from.cols);
  const View<double> to = view_of(array);
  for (Index r = 0; r < from.rows; ++r)
    for (Index c = 0; c < from.cols; ++c) to(r, c) = from(r, c);
  return array;
}

}  // namespace

std::shared_ptr<py::object> shared_object(const py::object& object) {
  return {new py::object(object), [](py::object* held) {
            const py::gil_scoped_acquire gil;
            delete held;
          }};
}

void copy_result(const py::object& result, const char* name, View<double> to) {
  Input values(result, name, 0);
  values.to(false);
  const bool same = values.rows() == to.rows && values.cols() == to.cols;
  if (!same || (values.one_dimensional() && to.cols != 1)) {
    std::string expected = "(" + std::to_string(to.rows) + ",";
    if (to.cols != 1) expected += " " + std::to_string(to.cols);
    raise_value_error(std::string(name) + ": expected the function to return an array of shape " + expected + "), got " +
                      values.shape());
  }
  const View<const double> from = values.view<double>();
  for (Index c = 0; c < to.cols; ++c)
    for (Index r = 0; r < to.rows; ++r) to(r, c) = from(r, c);
}

kernsel::PointFunction point_function(const py::object& f, const char* name, const py::object& derivative) {
  const auto call = [](const py::object& what, const char* called) {
    return [what = shared_object(what), called](View<const double> points, View<double> values) {
      const py::gil_scoped_acquire gil;
      copy_result((*what)(as_array(points)), called, values);
    };
  };
  kernsel::PointFunction function{call(f, name)};
  if (!derivative.is_none()) function.derivative = call(derivative, "derivative");
  // The name is the address of the Python object, which is unique, since the kernel keeps the object alive.
  function.name = std::to_string(reinterpret_cast<std::uintptr_t>(f.ptr()));
  return function;
}

kernsel::Kernel kernel_function(const py::object& value, const py::object& pullback, std::vector<double> theta,
                                std::string name, const py::object& diagonal) {
  kernsel::KernelFunction function;
  function.value = [f = shared_object(value)](View<const double> X, View<const double> Z, View<double> values) {
    const py::gil_scoped_acquire gil;
    const py::object result = (*f)(as_array(X), as_array(Z));
    Input K(result, "function", 2);  // a matrix is required: an array of shape (n,) is not accepted for (n, 1)
    copy_result(result, "function", values);
  };
  if (!diagonal.is_none())
    function.diagonal = [f = shared_object(diagonal)](View<const double> X, View<double> values) {
      const py::gil_scoped_acquire gil;
      copy_result((*f)(as_array(X)), "diagonal", values);
    };
  function.pullback = [f = shared_object(pullback), count = theta.size()](View<const double> X, View<const double> Z,
                                                                          View<const double> weights, double* gradient) {
    const py::gil_scoped_acquire gil;
    std::vector<double> more(count);
    copy_result((*f)(as_array(X), as_array(Z), as_array(weights)), "gradient", kernsel::vector(more.data(), Index(count)));
    for (std::size_t p = 0; p < count; ++p) gradient[p] += more[p];
  };
  function.theta = std::move(theta);
  function.name = std::move(name);
  return kernsel::function(std::move(function));
}

kernsel::Kernel precomputed(const py::object& K) {
  auto input = std::shared_ptr<Input>(new Input(K, "K", 2), [](Input* held) {
    const py::gil_scoped_acquire gil;
    delete held;
  });
  input->to(false);
  input->require_finite();
  return kernsel::precomputed(input->view<double>(), input);
}
