// The functions of kernel.hpp as kernels are written and read by them: ["rational_quadratic", 2, [0.5]]. Each is a name,
// numbers, a list of numbers, and kernels.
#pragma once

#include <cmath>
#include <string_view>
#include <vector>

#include "kernsel/kernel.hpp"

namespace kernsel {

using Numbers = std::vector<double>;
using Kernels = const std::vector<Kernel>&;

// What a function takes. Sums and products take any number of kernels.
struct WrittenFunction {
  std::string_view name;
  std::size_t numbers;
  bool list;
  std::size_t kernels;
  Kernel (*make)(const Numbers& p, const Numbers& list, Kernels of);
};

// A table of them.
struct WrittenFunctions {
  const WrittenFunction* first;
  std::size_t count;
  const WrittenFunction* begin() const { return first; }
  const WrittenFunction* end() const { return first + count; }
};

WrittenFunctions stationary_functions();  // of nodes/stationary.cpp; kernel_json.cpp has all others

// A whole number; out of the range of those that any kernel takes if it is none.
inline int whole(double number) {
  return number >= 0.0 && number <= 1000.0 && number == std::floor(number) ? static_cast<int>(number) : -1;
}

}  // namespace kernsel
