// The list of everything that Python sees of the core.
#include "module.hpp"

#include "errors.hpp"

namespace py = pybind11;

namespace {

// Python copies an object, and reads it from a pickle, by `__reduce__` and `__new__`. What the classes of pybind11 do by
// default is to end the process in the first, and in the second to make an object without contents, whose methods read memory
// that is not theirs. Classes without methods of their own for these refuse: to be reduced, and to be made of nothing.
void refuse_copies(const py::module_& module) {
  for (const auto& [name, value] : py::cast<py::dict>(module.attr("__dict__"))) {
    if (!py::isinstance<py::type>(value)) continue;
    const std::string called = "kernsel._core." + py::cast<std::string>(name);
    const py::object own = value.attr("__dict__"), plain_new = value.attr("__base__").attr("__new__");
    const auto refuse = [called](const py::args&) {
      raise_type_error(called +
                       " cannot be pickled or copied: pickle the kernel or the estimator of the package, which makes it anew");
    };
    const auto make = [called, plain_new](const py::object& type, const py::args& args, const py::kwargs& named) {
      if (args.empty() && named.empty()) raise_type_error(called + " cannot be made of nothing: the package makes it");
      return plain_new(type);
    };
    if (!own.contains("__new__")) py::setattr(value, "__new__", py::staticmethod(py::cpp_function(make, py::name("__new__"))));
    if (own.contains("__reduce__")) continue;
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
  bind_paths(module);
  bind_posterior(module);
  bind_search(module);
  bind_strings(module);
  bind_support(module);
  refuse_copies(module);
}
