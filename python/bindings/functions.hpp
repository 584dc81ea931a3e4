// Python functions that the core calls.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "kernsel/kernel.hpp"

// A Python object that is copied and dropped on any thread, with or without the GIL.
std::shared_ptr<pybind11::object> shared_object(const pybind11::object& object);

// Copies what the function `name` returned, a number for each entry of `to`.
void copy_result(const pybind11::object& result, const char* name, kernsel::View<double> to);

// f(points), with one number for each point, or an array of several. `name` is what errors call it; a derivative may be None.
kernsel::PointFunction point_function(const pybind11::object& f, const char* name,
                                      const pybind11::object& derivative = pybind11::none());

// A kernel of value(X, Z) and pullback(X, Z, W), which returns the gradient in theta; equal to others of the same name.
kernsel::Kernel kernel_function(const pybind11::object& value, const pybind11::object& pullback, std::vector<double> theta,
                                std::string name, const pybind11::object& diagonal);

// The kernel of a matrix, which it keeps alive.
kernsel::Kernel precomputed(const pybind11::object& K);
