// The list of everything that Python sees of the core.
#include "module.hpp"

PYBIND11_MODULE(_core, module, pybind11::mod_gil_not_used()) {
  module.doc() = "The compiled core of kernsel. Use the functions of the package; these are what they call.";
  bind_runtime(module);
  bind_factor(module);
  bind_kernels(module);
  bind_criteria(module);
  bind_selection(module);
  bind_strings(module);
  bind_support(module);
}
