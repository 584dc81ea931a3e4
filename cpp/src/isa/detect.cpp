// The choice of the instruction set. CPUID tells what the CPU has, and XGETBV whether the operating system saves the registers
// that it needs.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "kernsel/runtime.hpp"
#include "table.hpp"

#ifdef KERNSEL_X86
#if defined(_MSC_VER)
#include <intrin.h>
#else
#include <cpuid.h>
#endif
#endif

namespace kernsel {

namespace {

#ifdef KERNSEL_X86

struct Registers {
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(std::uint32_t leaf, std::uint32_t subleaf = 0) {
  Registers r;
#if defined(_MSC_VER)
  int values[4];
  __cpuidex(values, static_cast<int>(leaf), static_cast<int>(subleaf));
  r = {std::uint32_t(values[0]), std::uint32_t(values[1]), std::uint32_t(values[2]), std::uint32_t(values[3])};
#else
  __cpuid_count(leaf, subleaf, r.eax, r.ebx, r.ecx, r.edx);
#endif
  return r;
}

std::uint64_t saved_registers() {
#if defined(_MSC_VER)
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

const std::vector<const InstructionSet*>& compiled_sets() {
  static const std::vector<const InstructionSet*> sets{&base_set, &avx2_set, &avx512_set};
  return sets;
}

std::size_t usable_sets() { return static_cast<std::size_t>(microarchitecture_level() - 1); }

#else

const std::vector<const InstructionSet*>& compiled_sets() {
  static const std::vector<const InstructionSet*> sets{&base_set};
  return sets;
}

std::size_t usable_sets() { return 1; }

#endif

struct Choice {
  const InstructionSet* set = &base_set;
  Status status;
};

Choice choose() {
  Choice choice;
  const std::size_t usable = usable_sets();
  if (usable == 0) {
    choice.status = Status::invalid("this CPU is older than x86-64-v2 (SSE4.2), the least that kernsel needs");
    return choice;
  }
  choice.set = compiled_sets()[usable - 1];
  const char* wish = std::getenv("KERNSEL_ISA");
  if (!wish || !*wish) return choice;
  for (std::size_t i = 0; i < compiled_sets().size(); ++i) {
    if (std::strcmp(wish, compiled_sets()[i]->name) != 0) continue;
    if (i < usable) {
      choice.set = compiled_sets()[i];
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
    for (const InstructionSet* set : compiled_sets()) names += (names.empty() ? "" : ", ") + std::string(set->name);
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
  for (const InstructionSet* set : compiled_sets()) names.emplace_back(set->name);
  return names;
}

std::vector<std::string> isa_levels() {
  std::vector<std::string> names = isa_compiled();
  names.resize(usable_sets());
  return names;
}

}  // namespace kernsel
