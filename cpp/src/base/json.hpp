// A strict JSON parser, which makes a tree of values, and a writer of texts.
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
  std::vector<Json> items;         // the elements of a list, or the values of an object
  std::vector<std::string> names;  // the names of the values of an object, in the same order

  bool is(Kind wanted) const { return kind == wanted; }
  // Returns the value of this name in an object, or nullptr.
  const Json* find(std::string_view name) const;
  // Returns whether this is a whole number from 0 to `most`.
  bool whole(double most) const;
};

// Parses a JSON text. Refuses objects in which a name occurs twice, numbers that are not finite as doubles, more than a million
// values, and lists or objects nested more than 256 deep.
Status parse_json(std::string_view text, Json& value);

// Appends a text in quotation marks, with escape sequences where JSON requires them.
void append_text(std::string& text, std::string_view value);

}  // namespace kernsel
