#include "errors.hpp"

#include <pybind11/pybind11.h>

#include <cstdio>

namespace py = pybind11;

namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

// Raises kernsel._base.errors.<name>(*arguments).
template <class... Arguments>
[[noreturn]] void raise_own(const char* name, Arguments&&... arguments) {
  const py::object type = py::module_::import("kernsel._base.errors").attr(name);
  const py::object error = type(std::forward<Arguments>(arguments)...);
  PyErr_SetObject(type.ptr(), error.ptr());
  throw py::error_already_set();
}

[[noreturn]] void raise_memory_error(const kernsel::Status& status) {
  std::string message = "not enough memory";
  if (status.bytes != 0) message += ": this needs " + bytes_as_text(status.bytes);
  if (status.available != 0) message += ", and " + bytes_as_text(status.available) + " are available";
  PyErr_SetString(PyExc_MemoryError, message.c_str());
  throw py::error_already_set();
}

}  // namespace

void raise_value_error(const std::string& message) { throw py::value_error(message); }
void raise_type_error(const std::string& message) { throw py::type_error(message); }
void raise_runtime_error(const std::string& message) {
  PyErr_SetString(PyExc_RuntimeError, message.c_str());
  throw py::error_already_set();
}

std::string bytes_as_text(std::size_t bytes) {
  const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024.0 && unit < 6; ++unit) value /= 1024.0;
  if (unit == 0) return std::to_string(bytes) + " bytes";
  return number(value) + " " + units[unit] + " (" + std::to_string(bytes) + " bytes)";
}

void raise_status(const kernsel::Status& status) {
  switch (status.code) {
    case kernsel::Code::ok:
      return;
    case kernsel::Code::invalid_argument:
      raise_value_error(status.message);
    case kernsel::Code::not_positive_definite:
      raise_own("NotPositiveDefiniteError", status.pivot, status.value);
    case kernsel::Code::out_of_memory:
      raise_memory_error(status);
    case kernsel::Code::interrupted:
      PyErr_SetNone(PyExc_KeyboardInterrupt);
      throw py::error_already_set();
    case kernsel::Code::exception:
      std::rethrow_exception(status.exception);
  }
}
