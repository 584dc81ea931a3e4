#include <pybind11/stl.h>

#include "compute.hpp"
#include "errors.hpp"
#include "kernsel/measure.hpp"
#include "kernsel/runtime.hpp"
#include "module.hpp"

namespace py = pybind11;

namespace {

// The main thread, on which alone Python handles signals. Other threads do not take the GIL to check for them.
unsigned long main_thread = 0;

// Tells whether Python has received a signal whose handler raised. Called without the GIL, by the thread that called the core.
bool python_wants_to_stop() {
  if (PyThread_get_thread_ident() != main_thread) return false;
  const py::gil_scoped_acquire gil;
  return PyErr_CheckSignals() != 0;
}

void remember_main_thread() {
  main_thread = py::module_::import("threading").attr("main_thread")().attr("ident").cast<unsigned long>();
  const py::module_ os = py::module_::import("os");
  if (py::hasattr(os, "register_at_fork")) {  // the forking thread is the main thread of the child
    os.attr("register_at_fork")(py::arg("after_in_child") =
                                    py::cpp_function([] { main_thread = PyThread_get_thread_ident(); }));
  }
}

}  // namespace

void bind_runtime(py::module_& module) {
  const kernsel::Status status = kernsel::runtime_status();
  if (!status.ok()) throw py::import_error(status.message);
  remember_main_thread();
  kernsel::set_interrupt_check(python_wants_to_stop);

  module.def("version", &kernsel::version);
  module.def("compiler", &kernsel::compiler);
  module.def("eigen_version", &kernsel::eigen_version);
  module.def("openmp_version", &kernsel::openmp_version);
  module.def("threading", &kernsel::threading);
  module.def("isa", &kernsel::isa);
  module.def("isa_levels", &kernsel::isa_levels);
  module.def("isa_compiled", &kernsel::isa_compiled);
  module.def("num_threads", &kernsel::num_threads);
  module.def("set_num_threads", &kernsel::set_num_threads);
  module.def("available_memory", &kernsel::available_memory);
  module.def(
      "tile_product_rate",
      [](bool single) {
        double rate = 0.0;
        compute([&] { return single ? kernsel::tile_product_rate<float>(rate) : kernsel::tile_product_rate<double>(rate); });
        return rate;
      },
      py::arg("single") = false);
}
