// For test_isa.py, which runs it on emulated CPUs: prints the instruction set in use, the message of the status, the number of
// instruction sets, and one value of a kernel.
#include <cstdio>

#include "kernsel/gram.hpp"
#include "kernsel/runtime.hpp"

int main() {
  const double x[2] = {0.0, 1.0};
  double K[4] = {0.0, 0.0, 0.0, 0.0};
  const auto status = kernsel::gram<double>(kernsel::rbf({1.0}), kernsel::columns(x, 2, 1), kernsel::columns(K, 2, 2));
  std::printf("%s|%s|%d|%.4f\n", kernsel::isa(), status.message, static_cast<int>(kernsel::isa_levels().size()), K[1]);
}
