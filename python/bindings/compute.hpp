// Runs a computation of the core without the GIL, and raises what its status says.
#pragma once

#include <pybind11/pybind11.h>

#include "errors.hpp"

// Safe because arguments are views by the time this is called: nothing in `f` touches a Python object.
template <class F>
kernsel::Status compute_status(const F& f) {
  const pybind11::gil_scoped_release release;
  return f();
}

template <class F>
void compute(const F& f) {
  raise_status(compute_status(f));
}
