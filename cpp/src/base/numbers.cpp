#include "base/numbers.hpp"

#include <charconv>
#include <cmath>

// Where the standard library has no conversions of floating-point numbers (libc++ reads them from version 20 on, and Apple's
// writes them from macOS 13.3 on), those of POSIX are used, with the "C" locale of the calling thread.
#if !defined(__cpp_lib_to_chars)
#include <locale.h>
#include <stdlib.h>

#include <cstdio>
#if defined(__APPLE__)
#include <xlocale.h>
#endif
#endif

namespace kernsel {

#if defined(__cpp_lib_to_chars)

void append_number(std::string& text, double number) {
  char digits[32];
  const auto written = std::to_chars(digits, digits + sizeof(digits), number);
  text.append(digits, written.ptr);
}

bool number_of(std::string_view text, double& number) {
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end && std::isfinite(number);
}

#else

namespace {

locale_t plain() {
  static const locale_t made = newlocale(LC_ALL_MASK, "C", nullptr);
  return made;
}

class PlainLocale {
 public:
  PlainLocale() : before_(uselocale(plain())) {}
  ~PlainLocale() { uselocale(before_); }
  PlainLocale(const PlainLocale&) = delete;
  PlainLocale& operator=(const PlainLocale&) = delete;

 private:
  locale_t before_;
};

}  // namespace

void append_number(std::string& text, double number) {
  const PlainLocale locale;
  char digits[32];
  for (int precision = 1; precision <= 17; ++precision) {
    std::snprintf(digits, sizeof digits, "%.*g", precision, number);
    if (strtod(digits, nullptr) == number) break;
  }
  text += digits;
}

bool number_of(std::string_view text, double& number) {
  const std::string terminated(text);
  char* end = nullptr;
  number = strtod_l(terminated.c_str(), &end, plain());
  if (text.empty() || end != terminated.c_str() + terminated.size() || !std::isfinite(number)) return false;
  // Below the range of normal and subnormal numbers the result is zero, though a digit before the exponent is not.
  return number != 0.0 || text.substr(0, text.find_first_of("eE")).find_first_of("123456789") == std::string_view::npos;
}

#endif

}  // namespace kernsel
