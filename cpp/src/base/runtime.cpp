#include "kernsel/runtime.hpp"

#include "kernsel/version.hpp"

namespace kernsel {

const char* version() { return KERNSEL_VERSION; }

const char* eigen_version() { return KERNSEL_EIGEN_VERSION; }

const char* compiler() {
#define KERNSEL_TEXT(x) #x
#define KERNSEL_TEXT_OF(x) KERNSEL_TEXT(x)
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "GCC " __VERSION__;
#elif defined(_MSC_VER)
  return "MSVC " KERNSEL_TEXT_OF(_MSC_VER);
#else
  return "unknown";
#endif
}

}  // namespace kernsel
