// Runs a computation of the core without the GIL, and raises the exception for its status.
#pragma once

#include <pybind11/pybind11.h>

#include "errors.hpp"

// Releases the GIL for its lifetime. While the interpreter is finalized, a thread that acquires the GIL again would be
// terminated within C++ functions that cannot be unwound; such a thread sleeps instead until the process ends.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() {
    sleep_if_finalizing();
    PyEval_RestoreThread(state_);
  }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  static void sleep_if_finalizing();
  PyThreadState* state_;
};

// Releasing the GIL is safe, since arguments have been converted to views: `f` does not access Python objects.
template <class F>
kernsel::Status compute_status(const F& f) {
  kernsel::Status status;
  {
    const WithoutGil released;
    status = f();
  }
  // An exception of a signal handler takes precedence over the status of the computation.
  if (PyErr_Occurred()) throw pybind11::error_already_set();
  return status;
}

template <class F>
void compute(const F& f) {
  raise_status(compute_status(f));
}
