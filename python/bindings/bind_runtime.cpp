#include <pybind11/stl.h>

#include "errors.hpp"
#include "kernsel/measure.hpp"
#include "kernsel/runtime.hpp"
#include "module.hpp"

namespace py = pybind11;

namespace {

// Runs on the thread that called into the core, with the GIL released: did Python get a signal, and did its handler raise?
bool python_wants_to_stop() {
  const py::gil_scoped_acquire gil;
  return PyErr_CheckSignals() != 0;
}

}  // namespace

void bind_runtime(py::module_& module) {
  const kernsel::Status status = kernsel::runtime_status();
  if (!status.ok()) throw py::import_error(status.message);
  kernsel::set_interrupt_check(python_wants_to_stop);

  module.def("version", &kernsel::version);
  module.def("compiler", &kernsel::compiler);
  module.def("eigen_version", &kernsel::eigen_version);
  module.def("openmp_version", &kernsel::openmp_version);
  module.def("isa", &kernsel::isa);
  module.def("isa_levels", &kernsel::isa_levels);
  module.def("isa_compiled", &kernsel::isa_compiled);
  module.def("num_threads", &kernsel::num_threads);
  module.def("set_num_threads", &kernsel::set_num_threads);
  module.def("available_memory", &kernsel::available_memory);
  module.def(
      "tile_product_rate",
      [](bool single) {
        const py::gil_scoped_release release;
        return single ? kernsel::tile_product_rate<float>() : kernsel::tile_product_rate<double>();
      },
      py::arg("single") = false);
}
