// The Python module of the core: the list of its parts.
#include "module.hpp"

#include "errors.hpp"

namespace py = pybind11;

namespace {

// Python copies and unpickles objects by `__reduce__` and `__new__`. By default, `__reduce__` of a pybind11 class ends the
// process, and `__new__` makes an object without contents, whose methods read invalid memory. In classes that do not define
// these methods, they are replaced by functions that raise TypeError; `__new__` raises if it is called without arguments.
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
  bind_approximations(module);
  bind_inference(module);
  bind_criteria(module);
  bind_landmarks(module);
  bind_likelihoods(module);
  bind_paths(module);
  bind_landmark_path(module);
  bind_posterior(module);
  bind_landmark_posterior(module);
  bind_search(module);
  bind_strings(module);
  bind_support(module);
  refuse_copies(module);
}
