// JSON, read strictly into a tree of values, and numbers written so that they are read back to the bit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernsel/status.hpp"

namespace kernsel {

struct Json {
  enum class Kind : std::uint8_t { null, boolean, number, text, list, object };
  Kind kind = Kind::null;
  bool truth = false;
  double number = 0.0;
  std::string text;
  std::vector<Json> items;         // of a list, or of an object
  std::vector<std::string> names;  // of the items of an object

  bool is(Kind wanted) const { return kind == wanted; }
  // The item of this name, or nullptr.
  const Json* find(std::string_view name) const;
  // Is it a whole number from 0 to `most`?
  bool whole(double most) const;
};

// No name twice, finite numbers, at most a million values, and 256 lists or objects within each other.
Status parse_json(std::string_view text, Json& value);

// Appends a finite number with as few digits as identify it.
void append_number(std::string& text, double number);

// Appends a text in quotes.
void append_text(std::string& text, std::string_view value);

}  // namespace kernsel
