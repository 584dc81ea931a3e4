// Kernels as JSON: the names of the functions in kernel.hpp with their arguments, in the order numbers, lists, kernels.
//
//     ["sum", ["scale", 2.0, ["rbf", [1.0, 0.3]]], ["white", 0.1]]
//
// "sum" and "product" have two or more kernels, "scale" is `factor * k`, "project" is `transform` by a matrix.
#pragma once

#include <string>
#include <string_view>

#include "kernsel/kernel.hpp"

namespace kernsel {

// Fails for kernels that contain a function of the caller.
Status kernel_to_json(const Kernel& kernel, std::string& json);

// The text need not be trusted. If it is not a kernel, the status says why, and `kernel` is unchanged.
Status kernel_from_json(std::string_view json, Kernel& kernel);

}  // namespace kernsel
