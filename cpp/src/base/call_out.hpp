// Calls of functions that the user of the library has given.
#pragma once

#include <exception>
#include <new>

#include "base/memory.hpp"

namespace kernsel {

// Calls f, which may throw and may itself run computations of this library on the same thread. An exception is caught and
// stored in the status.
template <class F>
Status call_out(const F& f) {
  const ScratchAside aside;
  Status status;
  try {
    f();
  } catch (const std::bad_alloc&) {
    status = no_memory();
  } catch (...) {
    status.code = Code::exception;
    status.exception = std::current_exception();
  }
  return status;
}

}  // namespace kernsel
