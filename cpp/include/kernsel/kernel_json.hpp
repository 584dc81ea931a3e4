// Kernels as JSON: the functions of kernel.hpp by name, with their arguments, numbers first, then lists, then kernels.
//
//     ["sum", ["scale", 2.0, ["rbf", [1.0, 0.3]]], ["white", 0.1]]
//
// "sum" and "product" take two kernels or more, "scale" is `factor * k`, "project" is `transform` by a matrix.
#pragma once

#include <string>
#include <string_view>

#include "kernsel/kernel.hpp"

namespace kernsel {

// Fails for kernels with a function of the caller's in them.
Status kernel_to_json(const Kernel& kernel, std::string& json);

// The text may be from anywhere; `kernel` is as it was if it is none.
Status kernel_from_json(std::string_view json, Kernel& kernel);

}  // namespace kernsel
