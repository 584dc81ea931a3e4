// The functions that raise Python exceptions. No other file of the bindings does.
#pragma once

#include <string>

#include "kernsel/status.hpp"

[[noreturn]] void raise_value_error(const std::string& message);
[[noreturn]] void raise_type_error(const std::string& message);
[[noreturn]] void raise_runtime_error(const std::string& message);

// Raises the exception for `status`, unless it is ok. To be called with the GIL held.
void raise_status(const kernsel::Status& status);

// "1.5 GiB (1610612736 bytes)"
std::string bytes_as_text(std::size_t bytes);
