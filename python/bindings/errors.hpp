// The only place that raises Python exceptions.
#pragma once

#include <string>

#include "kernsel/status.hpp"

[[noreturn]] void raise_value_error(const std::string& message);
[[noreturn]] void raise_type_error(const std::string& message);
[[noreturn]] void raise_runtime_error(const std::string& message);

// Nothing if `status` is ok, its exception otherwise. To be called with the GIL held.
void raise_status(const kernsel::Status& status);

// "1.5 GiB (1610612736 bytes)"
std::string bytes_as_text(std::size_t bytes);
