// Calling functions that the caller of the library gave.
#pragma once

#include <exception>
#include <new>

#include "base/memory.hpp"

namespace kernsel {

// Calls f, which may throw, and may compute itself. What it throws ends up in the status.
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
