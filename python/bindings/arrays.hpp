// The conversion of NumPy arrays to views of the core and back. No other file of the bindings reads dtype, shape, strides or
// flags.
#pragma once

#include <pybind11/numpy.h>

#include <optional>
#include <vector>

#include "kernsel/view.hpp"

// An array argument in a form that the core can read: float32 or float64 in native byte order, aligned, with one or two
// dimensions and strides that are multiples of the element size. Other arrays are converted; of the real dtypes, float32 is
// kept and all others become float64.
class Input {
 public:
  // `dimensions` is 1 or 2, or 0 if both are allowed. `name` is the name of the argument, for errors.
  Input(pybind11::handle object, const char* name, int dimensions);

  bool single() const { return single_; }
  bool one_dimensional() const { return array_.ndim() == 1; }
  kernsel::Index rows() const { return array_.shape(0); }
  kernsel::Index cols() const { return array_.ndim() == 1 ? 1 : array_.shape(1); }
  const char* name() const { return name_; }
  std::string shape() const;

  void to(bool single);  // converts to single or double precision
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

// A vector of integers, copied from an array that must have exactly that type.
template <class T>
std::vector<T> whole_numbers(const pybind11::object& object, const char* name);

// The numbers that are added to a diagonal of n entries: one number for all, one for each entry, or none.
Input noise_input(const pybind11::object& noise, kernsel::Index n);

// A new array in C order. Raises MemoryError before the allocation if there is not enough memory.
template <class T>
pybind11::array_t<T> new_array(kernsel::Index rows, std::optional<kernsel::Index> cols = std::nullopt);

// The array `out` of the user after a check of its shape and dtype, or a new one if `out` is None.
template <class T>
pybind11::array_t<T> output(const pybind11::object& out, kernsel::Index rows, kernsel::Index cols);

// An array that shares memory of the core with a Python function; valid only while that function runs.
pybind11::array_t<double> array_on(kernsel::View<double> memory);

template <class T>
kernsel::View<T> view_of(pybind11::array_t<T>& array) {
  const auto size = static_cast<kernsel::Index>(sizeof(T));
  const kernsel::Index step = array.strides(0) / size;
  if (array.ndim() == 1) return {array.mutable_data(), array.shape(0), 1, step, step};
  return {array.mutable_data(), array.shape(0), array.shape(1), step, array.strides(1) / size};
}

// Converts all arguments to one scalar type T, which is float32 if all of them are and float64 otherwise, and calls f(T()).
template <class F, class... Inputs>
auto in_precision(const F& f, Inputs&... inputs) {
  const bool single = (inputs.single() && ...);
  (inputs.to(single), ...);
  return single ? f(float()) : f(double());
}
