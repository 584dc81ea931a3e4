// Numbers as text and back, in the same way whatever the locale is: the shortest text that reads back as the same number.
#pragma once

#include <string>
#include <string_view>

namespace kernsel {

void append_number(std::string& text, double number);

// Reads a decimal number that is all of `text`, and returns whether it is within the range of finite numbers.
bool number_of(std::string_view text, double& number);

}  // namespace kernsel
