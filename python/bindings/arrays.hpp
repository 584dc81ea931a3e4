// Where NumPy arrays enter and leave. Nothing else in the bindings looks at dtype, shape, strides or flags.
#pragma once

#include <pybind11/numpy.h>

#include <optional>
#include <vector>

#include "kernsel/view.hpp"

// An argument as the core can read it: float32 or float64 in native byte order, aligned, one or two dimensions, any strides
// that are whole elements. What is not is converted: float32 stays, everything else that is real becomes float64.
class Input {
 public:
  // `dimensions` is 1 or 2, or 0 for either. Errors name the argument.
  Input(pybind11::handle object, const char* name, int dimensions);

  bool single() const { return single_; }
  bool one_dimensional() const { return array_.ndim() == 1; }
  kernsel::Index rows() const { return array_.shape(0); }
  kernsel::Index cols() const { return array_.ndim() == 1 ? 1 : array_.shape(1); }
  const char* name() const { return name_; }
  std::string shape() const;

  void to(bool single);  // converts to that precision
  void require_finite() const;
  std::string first_not_finite(bool lower_triangle_only = false) const;  // "row 3, column 0", or "" if all are finite

  template <class T>
  kernsel::View<const T> view() const {
    const auto size = static_cast<kernsel::Index>(sizeof(T));
    const kernsel::Index step = array_.strides(0) / size;
    if (array_.ndim() == 1) return {static_cast<const T*>(array_.data()), array_.shape(0), 1, step, step};
    return {static_cast<const T*>(array_.data()), array_.shape(0), array_.shape(1), step, array_.strides(1) / size};
  }

 private:
  pybind11::array array_;
  const char* name_;
  bool single_ = false;
};

// A vector of whole numbers, copied from an array of that very type.
template <class T>
std::vector<T> whole_numbers(const pybind11::object& object, const char* name);

// What is added to a diagonal of n entries: one number for all, one for each, or none.
Input noise_input(const pybind11::object& noise, kernsel::Index n);

// A new array, in C order; MemoryError before it is allocated if there is no room.
template <class T>
pybind11::array_t<T> new_array(kernsel::Index rows, std::optional<kernsel::Index> cols = std::nullopt);

// The array that the user gave as `out`, checked, or a new one.
template <class T>
pybind11::array_t<T> output(const pybind11::object& out, kernsel::Index rows, kernsel::Index cols);

// An array that shows memory of the core to a function of Python: of use only as long as that function runs.
pybind11::array_t<double> array_on(kernsel::View<double> memory);

template <class T>
kernsel::View<T> view_of(pybind11::array_t<T>& array) {
  const auto size = static_cast<kernsel::Index>(sizeof(T));
  const kernsel::Index step = array.strides(0) / size;
  if (array.ndim() == 1) return {array.mutable_data(), array.shape(0), 1, step, step};
  return {array.mutable_data(), array.shape(0), array.shape(1), step, array.strides(1) / size};
}

// Calls f(T()) for the scalar type that a computation on these arguments has, after converting all to it: float32 only if all
// are.
template <class F, class... Inputs>
auto in_precision(const F& f, Inputs&... inputs) {
  const bool single = (inputs.single() && ...);
  (inputs.to(single), ...);
  return single ? f(float()) : f(double());
}
