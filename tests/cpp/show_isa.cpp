// For test_isa.py, which runs it on emulated CPUs, and for .ci/cpp: prints the instruction set in use, the message of the
// status, the instruction sets that this CPU can run, and one value of a kernel.
#include <cstdio>
#include <string>

#include "kernsel/gram.hpp"
#include "kernsel/runtime.hpp"

int main() {
  const double x[2] = {0.0, 1.0};
  double K[4] = {0.0, 0.0, 0.0, 0.0};
  const auto status = kernsel::gram<double>(kernsel::rbf({1.0}), kernsel::columns(x, 2, 1), kernsel::columns(K, 2, 2));
  std::string levels;
  for (const std::string& level : kernsel::isa_levels()) levels += (levels.empty() ? "" : ",") + level;
  std::printf("%s|%s|%s|%.4f\n", kernsel::isa(), status.message, levels.c_str(), K[1]);
}
