// Makes a kernel from JSON that is already parsed.
#pragma once

#include "base/json.hpp"
#include "kernsel/kernel_json.hpp"

namespace kernsel {

Status kernel_from_json(const Json& json, Kernel& kernel);

}  // namespace kernsel
