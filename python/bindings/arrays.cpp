#include "arrays.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "errors.hpp"
#include "kernsel/runtime.hpp"

namespace py = pybind11;
using kernsel::Index;

namespace {

std::string text_of(py::handle object) { return py::str(object).cast<std::string>(); }

std::string shape_text(const py::array& array) {
  std::string text = "(";
  for (py::ssize_t i = 0; i < array.ndim(); ++i) text += (i ? ", " : "") + std::to_string(array.shape(i));
  return text + (array.ndim() == 1 ? ",)" : ")");
}

// Returns array.astype(float32 or float64), which is always a copy.
py::array as_type(const py::array& array, bool single) {
  return py::array(array.attr("astype")(single ? "float32" : "float64"));
}

[[noreturn]] void raise_not_real(const char* name, const std::string& why) {
  raise_type_error(std::string(name) + ": expected an array of real numbers (" + why + ")");
}

// Converts any object to an array, as numpy.asarray does.
py::array as_array(py::handle object, const char* name) {
  if (py::isinstance<py::array>(object)) return py::reinterpret_borrow<py::array>(object);
  try {
    return py::array(py::module_::import("numpy").attr("asarray")(object));
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError)) throw;
    raise_not_real(name, text_of(error.value()));
  }
}

py::array objects_as_numbers(const py::array& array, const char* name) {
  try {
    return as_type(array, false);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError)) throw;
    raise_not_real(name, text_of(error.value()));
  }
}

bool readable_as_it_is(const py::array& array) {
  if ((array.flags() & py::detail::npy_api::NPY_ARRAY_ALIGNED_) == 0) return false;
  for (py::ssize_t i = 0; i < array.ndim(); ++i)
    if (array.strides(i) % array.itemsize() != 0) return false;
  return true;
}

template <class T>
std::string first_not_finite_in(kernsel::View<const T> view, bool lower, bool vector) {
  for (Index i = 0; i < view.rows; ++i)
    for (Index j = 0; j < (lower ? i + 1 : view.cols); ++j)
      if (!std::isfinite(view(i, j))) {
        const std::string row = (vector ? "entry " : "row ") + std::to_string(i);
        return vector ? row : row + ", column " + std::to_string(j);
      }
  return "";
}

}  // namespace

Input::Input(py::handle object, const char* name, int dimensions) : array_(as_array(object, name)), name_(name) {
  if (array_.ndim() < 1 || array_.ndim() > 2 || (dimensions != 0 && array_.ndim() != dimensions)) {
    const std::string wanted = dimensions == 0 ? "one or two dimensions" : dimensions == 1 ? "one dimension" : "two dimensions";
    const std::string cure = dimensions == 2 && array_.ndim() == 1 ? "; for a single column use .reshape(-1, 1)" : "";
    raise_value_error(std::string(name) + ": expected an array of " + wanted + ", got shape " + shape_text(array_) + cure);
  }
  const char kind = array_.dtype().kind();
  if (kind == 'O') {
    array_ = objects_as_numbers(array_, name);
  } else if (kind != 'f' && kind != 'i' && kind != 'u' && kind != 'b') {
    raise_not_real(name, "got dtype " + text_of(array_.dtype()));
  }
  const bool floating = array_.dtype().kind() == 'f';
  single_ = floating && array_.itemsize() == 4;
  const bool ours = single_ ? array_.dtype().equal(py::dtype::of<float>()) : array_.dtype().equal(py::dtype::of<double>());
  if (!ours || !readable_as_it_is(array_)) array_ = as_type(array_, single_);
}

std::string Input::shape() const { return shape_text(array_); }

void Input::to(bool single) {
  if (single == single_) return;
  array_ = as_type(array_, single);
  single_ = single;
}

std::string Input::first_not_finite(bool lower_triangle_only) const {
  const bool vector = one_dimensional();
  return single_ ? first_not_finite_in(view<float>(), lower_triangle_only, vector)
                 : first_not_finite_in(view<double>(), lower_triangle_only, vector);
}

void Input::require_finite() const {
  const std::string place = first_not_finite();
  if (!place.empty()) raise_value_error(std::string(name_) + ": contains NaN or infinity, first at " + place);
}

Input noise_input(const py::object& noise, Index n) {
  Input input(noise, "noise", 1);
  input.require_finite();
  if (input.rows() > 1 && input.rows() != n) {
    raise_value_error("noise: expected 1 entry or " + std::to_string(n) + ", one for each row, got " +
                      std::to_string(input.rows()));
  }
  return input;
}

template <class T>
py::array_t<T> new_array(Index rows, std::optional<Index> cols) {
  const auto count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols.value_or(1));
  raise_status(kernsel::check_memory(count * sizeof(T)));
  if (cols) return py::array_t<T>({rows, *cols});
  return py::array_t<T>(rows);
}

template <class T>
py::array_t<T> output(const py::object& out, Index rows, Index cols) {
  if (out.is_none()) return new_array<T>(rows, cols);
  const std::string wanted = "(" + std::to_string(rows) + ", " + std::to_string(cols) + ")";
  const std::string type = sizeof(T) == 4 ? "float32" : "float64";
  if (!py::isinstance<py::array>(out))
    raise_type_error("out: expected a NumPy array of shape " + wanted + " and dtype " + type);
  const auto array = py::reinterpret_borrow<py::array>(out);
  if (!array.dtype().equal(py::dtype::of<T>())) {
    raise_type_error("out: expected dtype " + type + ", the one of the data, got " + text_of(array.dtype()));
  }
  if (array.ndim() != 2 || array.shape(0) != rows || array.shape(1) != cols) {
    raise_value_error("out: expected shape " + wanted + ", got " + shape_text(array));
  }
  if (!array.writeable()) raise_value_error("out: the array is read-only");
  if (!readable_as_it_is(array)) raise_value_error("out: the array is not aligned");
  const Index a = std::abs(array.strides(0)), b = std::abs(array.strides(1));
  const auto size = static_cast<Index>(sizeof(T));
  const bool apart = (rows < 2 || a >= size) && (cols < 2 || b >= size) &&
                     (rows < 2 || cols < 2 || (a > b ? a >= b * (cols - 1) + size : b >= a * (rows - 1) + size));
  if (!apart) raise_value_error("out: elements of the array overlap in memory");
  return py::reinterpret_borrow<py::array_t<T>>(array);
}

template py::array_t<float> new_array<float>(Index, std::optional<Index>);
template py::array_t<double> new_array<double>(Index, std::optional<Index>);
template py::array_t<float> output<float>(const py::object&, Index, Index);
template py::array_t<double> output<double>(const py::object&, Index, Index);

py::array_t<double> array_on(kernsel::View<double> memory) {
  const auto size = static_cast<Index>(sizeof(double));
  // pybind11 copies the memory unless the array has an owner, which may be any object, such as None.
  return py::array_t<double>({memory.rows, memory.cols}, {memory.row_stride * size, memory.col_stride * size}, memory.data,
                             py::none());
}

template <class T>
std::vector<T> whole_numbers(const py::object& object, const char* name) {
  const bool right = py::isinstance<py::array>(object) && py::reinterpret_borrow<py::array>(object).ndim() == 1 &&
                     py::reinterpret_borrow<py::array>(object).dtype().equal(py::dtype::of<T>());
  if (!right) raise_type_error(std::string(name) + ": expected a vector of int" + std::to_string(8 * sizeof(T)));
  const auto array = py::reinterpret_borrow<py::array>(object);
  std::vector<T> numbers(static_cast<std::size_t>(array.shape(0)));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    std::memcpy(&numbers[i], static_cast<const char*>(array.data()) + static_cast<Index>(i) * array.strides(0), sizeof(T));
  return numbers;
}

template std::vector<std::int32_t> whole_numbers<std::int32_t>(const py::object&, const char*);
template std::vector<std::int64_t> whole_numbers<std::int64_t>(const py::object&, const char*);
