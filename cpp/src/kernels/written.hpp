// The functions of kernel.hpp by which kernels are written and read, as in ["rational_quadratic", 2, [0.5]]: a name, numbers, a
// list of numbers, and kernels.
#pragma once

#include <cmath>
#include <string_view>
#include <vector>

#include "kernsel/kernel.hpp"

namespace kernsel {

using Numbers = std::vector<double>;
using Kernels = const std::vector<Kernel>&;

// The arguments that a function takes. For sums and products, `kernels` is the least number of kernels.
struct WrittenFunction {
  std::string_view name;
  std::size_t numbers;
  bool list;
  std::size_t kernels;
  Kernel (*make)(const Numbers& p, const Numbers& list, Kernels of);
};

// A table of such functions.
struct WrittenFunctions {
  const WrittenFunction* first;
  std::size_t count;
  const WrittenFunction* begin() const { return first; }
  const WrittenFunction* end() const { return first + count; }
};

WrittenFunctions stationary_functions();  // defined in nodes/stationary.cpp; kernel_json.cpp has all others

// Returns a whole number from 0 to 1000 as int, and -1, which no kernel accepts, for any other number.
inline int whole(double number) {
  return number >= 0.0 && number <= 1000.0 && number == std::floor(number) ? static_cast<int>(number) : -1;
}

}  // namespace kernsel
