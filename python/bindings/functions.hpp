// Wrappers of Python functions that the core calls.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "kernsel/kernel.hpp"

// A reference to a Python object that can be copied and released on any thread, with or without the GIL.
std::shared_ptr<pybind11::object> shared_object(const pybind11::object& object);

// Copies the result of the Python function `name` to `to`; it must have one number for each entry.
void copy_result(const pybind11::object& result, const char* name, kernsel::View<double> to);

// Wraps f(points), which returns one number for each point, or an array of several. `name` is the name of the function in
// errors; the derivative may be None.
kernsel::PointFunction point_function(const pybind11::object& f, const char* name,
                                      const pybind11::object& derivative = pybind11::none());

// A kernel by Python functions value(X, Z) and pullback(X, Z, W), which returns the gradient with respect to theta. Kernels of
// the same name are treated as equal.
kernsel::Kernel kernel_function(const pybind11::object& value, const pybind11::object& pullback, std::vector<double> theta,
                                std::string name, const pybind11::object& diagonal);

// A kernel whose values are the entries of a matrix, which it keeps alive.
kernsel::Kernel precomputed(const pybind11::object& K);
