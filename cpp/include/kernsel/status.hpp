// The status that operations of the core return. The core never throws, prints or aborts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>

#include "kernsel/view.hpp"

namespace kernsel {

enum class Code : std::uint8_t {
  ok,
  invalid_argument,       // `message` says what is wrong
  not_positive_definite,  // `pivot` is the first row whose pivot is not positive, `value` is that pivot
  out_of_memory,          // `bytes` were requested, and `available` bytes were free (0 if unknown)
  interrupted,            // the interrupt check (runtime.hpp) asked to stop
  exception,              // a function that the caller gave threw `exception`
};

struct [[nodiscard]] Status {
  Code code = Code::ok;
  const char* message = "";  // static storage
  Index pivot = -1;
  double value = 0.0;
  std::size_t bytes = 0;
  std::size_t available = 0;
  std::exception_ptr exception;

  bool ok() const { return code == Code::ok; }

  static Status invalid(const char* message) {
    Status status;
    status.code = Code::invalid_argument;
    status.message = message;
    return status;
  }
};

}  // namespace kernsel
