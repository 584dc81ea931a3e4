// The list of everything that Python sees of the core.
#include "module.hpp"

#include "errors.hpp"

namespace py = pybind11;

namespace {

// What Python does by default to pickle, copy or describe an object calls a constructor that these classes do not have, and
// pybind11 answers by ending the process.
void refuse_to_pickle(const py::module_& module) {
  for (const auto& [name, value] : py::cast<py::dict>(module.attr("__dict__"))) {
    if (!py::isinstance<py::type>(value) || value.attr("__dict__").contains("__reduce__")) continue;
    const auto refuse = [called = py::cast<std::string>(name)](const py::args&) {
      raise_type_error("kernsel._core." + called +
                       " cannot be pickled or copied: pickle the kernel or the estimator of the package, which makes it anew");
    };
    for (const char* method : {"__reduce__", "__reduce_ex__"})
      py::setattr(value, method, py::cpp_function(refuse, py::name(method), py::is_method(value)));
  }
}

}  // namespace

PYBIND11_MODULE(_core, module, pybind11::mod_gil_not_used()) {
  module.doc() = "The compiled core of kernsel. Use the functions of the package; these are what they call.";
  bind_runtime(module);
  bind_factor(module);
  bind_kernels(module);
  bind_criteria(module);
  bind_selection(module);
  bind_strings(module);
  bind_support(module);
  refuse_to_pickle(module);
}
