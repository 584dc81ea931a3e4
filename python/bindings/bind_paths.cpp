#include <pybind11/stl.h>

#include "arrays.hpp"
#include "compute.hpp"
#include "errors.hpp"
#include "kernsel/least_squares.hpp"
#include "module.hpp"

namespace py = pybind11;
using kernsel::Index;
using kernsel::View;

namespace {

using Numbers = std::vector<double>;

py::array_t<double> vector_of(const Numbers& values) {
  auto out = new_array<double>(static_cast<Index>(values.size()));
  std::copy(values.begin(), values.end(), out.mutable_data());
  return out;
}

// `values` by columns, as an array in C order.
py::array_t<double> matrix_of(const Numbers& values, Index rows, Index cols) {
  auto out = new_array<double>(rows, cols);
  const View<const double> from = kernsel::columns(values.data(), rows, cols);
  const View<double> to = view_of(out);
  for (Index j = 0; j < cols; ++j)
    for (Index i = 0; i < rows; ++i) to(i, j) = from(i, j);
  return out;
}

Input numbers(const py::object& object, const char* name, int dimensions) {
  Input input(object, name, dimensions);
  input.to(false);
  return input;
}

py::dict least_squares(const py::object& A, const py::object& b, double ridge, const py::object& free) {
  const Input matrix = numbers(A, "A", 2), targets = numbers(b, "b", 2), fitted = numbers(free, "free", 2);
  kernsel::LeastSquares found;
  compute([&, a = matrix.view<double>(), y = targets.view<double>(), u = fitted.view<double>()] {
    return kernsel::least_squares(a, y, ridge, found, u);
  });
  py::dict result;
  result["rank"] = found.rank;
  result["leverage"] = vector_of(found.leverage);
  result["coefficients"] = matrix_of(found.coefficients, matrix.cols(), targets.cols());
  result["residuals"] = matrix_of(found.residuals, matrix.rows(), targets.cols());
  result["left_out"] = matrix_of(found.left_out, matrix.rows(), targets.cols());
  result["press"] = vector_of(found.press);
  return result;
}

}  // namespace

void bind_paths(py::module_& module) {
  module.def("least_squares", &least_squares, py::arg("A"), py::arg("b"), py::arg("ridge"), py::arg("free"));
}
