// What an operation of the core ended in. The core never throws, prints or aborts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>

#include "kernsel/view.hpp"

namespace kernsel {

enum class Code : std::uint8_t {
  ok,
  invalid_argument,       // `message` tells what is wrong
  not_positive_definite,  // `pivot` is the first row whose pivot is not positive, `value` that pivot
  out_of_memory,          // `bytes` is what was asked for, `available` what there is (0: not known)
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
