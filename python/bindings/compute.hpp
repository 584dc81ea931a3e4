// Runs a computation of the core without the GIL, and raises what its status says.
#pragma once

#include <pybind11/pybind11.h>

#include "errors.hpp"

// Releases the GIL. At the end of the interpreter a thread that asks for it again would be ended by force, through C++ frames
// that do not expect it: such a thread sleeps instead until the process ends.
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

// Safe because arguments are views by the time this is called: nothing in `f` touches a Python object.
template <class F>
kernsel::Status compute_status(const F& f) {
  kernsel::Status status;
  {
    const WithoutGil released;
    status = f();
  }
  // A signal handler that raised comes before whatever the computation ended in meanwhile.
  if (PyErr_Occurred()) throw pybind11::error_already_set();
  return status;
}

template <class F>
void compute(const F& f) {
  raise_status(compute_status(f));
}
