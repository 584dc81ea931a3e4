// The choice of the instruction set. On x86-64, CPUID tells what the CPU has, and XGETBV whether the operating system saves the
// registers that it needs. Every 64-bit ARM has NEON.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "kernsel/runtime.hpp"
#include "table.hpp"

#ifdef KERNSEL_X86
#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#else
#include <cpuid.h>
#endif
#endif

namespace kernsel {

// Defined in tiles_<set>.cpp, for those that the build has (KERNSEL_ISA_COMPILED).
extern const InstructionSet base_set, avx2_set, avx512_set, neon_set;

namespace {

#ifdef KERNSEL_X86

struct Registers {
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(std::uint32_t leaf, std::uint32_t subleaf = 0) {
  Registers r;
#if defined(_MSC_VER) && !defined(__clang__)
  int values[4];
  __cpuidex(values, static_cast<int>(leaf), static_cast<int>(subleaf));
  r = {std::uint32_t(values[0]), std::uint32_t(values[1]), std::uint32_t(values[2]), std::uint32_t(values[3])};
#else
  __cpuid_count(leaf, subleaf, r.eax, r.ebx, r.ecx, r.edx);
#endif
  return r;
}

std::uint64_t saved_registers() {
#if defined(_MSC_VER) && !defined(__clang__)
  return _xgetbv(0);
#else
  std::uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (std::uint64_t(high) << 32) | low;
#endif
}

bool has(std::uint32_t word, std::initializer_list<int> bits) {
  for (const int bit : bits)
    if (((word >> bit) & 1u) == 0) return false;
  return true;
}

// Returns the micro-architecture level, 1 to 4, of the x86-64 psABI that the CPU and the operating system support.
int microarchitecture_level() {
  const std::uint32_t last_leaf = cpuid(0).eax;
  const Registers one = cpuid(1);
  const Registers extended = cpuid(0x80000000u).eax >= 0x80000001u ? cpuid(0x80000001u) : Registers{};
  const bool v2 = has(one.ecx, {0, 9, 13, 19, 20, 23}) && has(extended.ecx, {0});  // SSE3 SSSE3 CX16 SSE4.1 SSE4.2 POPCNT, LAHF
  if (!v2) return 1;
  const Registers seven = last_leaf >= 7 ? cpuid(7) : Registers{};
  const bool os_saves = has(one.ecx, {27});
  const std::uint64_t saved = os_saves ? saved_registers() : 0;
  const bool v3 = (saved & 0x6) == 0x6 && has(one.ecx, {12, 22, 28, 29}) && has(seven.ebx, {3, 5, 8}) &&
                  has(extended.ecx, {5});  // FMA MOVBE AVX F16C, BMI1 AVX2 BMI2, LZCNT
  if (!v3) return 2;
  const bool v4 = (saved & 0xe6) == 0xe6 && has(seven.ebx, {16, 17, 28, 30, 31});  // AVX-512 F DQ CD BW VL
  return v4 ? 4 : 3;
}

#else

int microarchitecture_level() { return 1; }

#endif

struct Compiled {
  const InstructionSet* set;
  int level;  // the least that microarchitecture_level() must be
};

const std::vector<Compiled>& compiled_sets() {
  static const std::vector<Compiled> sets{
#ifdef KERNSEL_HAS_BASE
#ifdef KERNSEL_X86
      {&base_set, 2},
#else
      {&base_set, 1},
#endif
#endif
#ifdef KERNSEL_HAS_AVX2
      {&avx2_set, 3},
#endif
#ifdef KERNSEL_HAS_AVX512
      {&avx512_set, 4},
#endif
#ifdef KERNSEL_HAS_NEON
      {&neon_set, 1},
#endif
  };
  return sets;
}

std::size_t usable_sets() {
  const int level = microarchitecture_level();
  std::size_t usable = 0;
  while (usable < compiled_sets().size() && compiled_sets()[usable].level <= level) ++usable;
  return usable;
}

struct Choice {
  const InstructionSet* set = compiled_sets().front().set;
  Status status;
};

Choice choose() {
  Choice choice;
  const std::size_t usable = usable_sets();
  if (usable == 0) {
    static const std::string message = "this CPU is older than x86-64-v" + std::to_string(compiled_sets().front().level) +
                                       ", the least that this build of kernsel needs (v2: SSE4.2, v3: AVX2, v4: AVX-512)";
    choice.status = Status::invalid(message.c_str());
    return choice;
  }
  choice.set = compiled_sets()[usable - 1].set;
  const char* wish = std::getenv("KERNSEL_ISA");
  if (!wish || !*wish) return choice;
  for (std::size_t i = 0; i < compiled_sets().size(); ++i) {
    if (std::strcmp(wish, compiled_sets()[i].set->name) != 0) continue;
    if (i < usable) {
      choice.set = compiled_sets()[i].set;
    } else {
      static const std::string message = std::string("KERNSEL_ISA=") + wish +
                                         " is above what this CPU and its operating system offer (" + choice.set->name +
                                         "): unset it or name a lower level";
      choice.status = Status::invalid(message.c_str());
    }
    return choice;
  }
  static const std::string message = [&] {
    std::string names;
    for (const Compiled& one : compiled_sets()) names += (names.empty() ? "" : ", ") + std::string(one.set->name);
    return std::string("KERNSEL_ISA=") + wish + " is not an instruction set of this build; it has " + names;
  }();
  choice.status = Status::invalid(message.c_str());
  return choice;
}

const Choice& choice() {
  static const Choice made = choose();
  return made;
}

}  // namespace

const InstructionSet& instruction_set() { return *choice().set; }
Status runtime_status() { return choice().status; }
const char* isa() { return choice().set->name; }

std::vector<std::string> isa_compiled() {
  std::vector<std::string> names;
  for (const Compiled& one : compiled_sets()) names.emplace_back(one.set->name);
  return names;
}

std::vector<std::string> isa_levels() {
  std::vector<std::string> names = isa_compiled();
  names.resize(usable_sets());
  return names;
}

}  // namespace kernsel
