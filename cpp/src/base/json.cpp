#include "base/json.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/numbers.hpp"

namespace kernsel {

namespace {

constexpr int deepest = 256;
constexpr int most_values = 1'000'000;

class Parser {
 public:
  explicit Parser(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  // Returns what is wrong with the text, or nullptr. So do all functions read...() below.
  const char* parse(Json& value) {
    const char* problem = read(value, 0);
    skip_space();
    return problem ? problem : at_ == end_ ? nullptr : "JSON: more text after the value";
  }

 private:
  const char* read(Json& value, int depth) {
    skip_space();
    if (depth > deepest) return "JSON: nested too deeply";
    if (++values_ > most_values) return "JSON: too many values";
    if (at_ == end_) return "JSON: the text ends too early";
    switch (*at_) {
      case '{':
        return read_items(value, Json::Kind::object, '}', depth);
      case '[':
        return read_items(value, Json::Kind::list, ']', depth);
      case '"':
        value.kind = Json::Kind::text;
        return read_text(value.text);
      case 't':
        value.truth = true;
        return read_word("true", Json::Kind::boolean, value);
      case 'f':
        return read_word("false", Json::Kind::boolean, value);
      case 'n':
        return read_word("null", Json::Kind::null, value);
      default:
        return read_number(value);
    }
  }

  const char* read_items(Json& value, Json::Kind kind, char close, int depth) {
    value.kind = kind;
    ++at_;
    skip_space();
    if (take(close)) return nullptr;
    while (true) {
      if (kind == Json::Kind::object) {
        skip_space();
        value.names.emplace_back();
        if (const char* problem = read_text(value.names.back())) return problem;
        skip_space();
        if (!take(':')) return "JSON: expected a colon after a name";
      }
      value.items.emplace_back();
      if (const char* problem = read(value.items.back(), depth + 1)) return problem;
      skip_space();
      if (take(close)) break;
      if (!take(',')) return "JSON: expected a comma or the end of a list or object";
    }
    return has_twins(value.names) ? "JSON: a name is there twice" : nullptr;
  }

  static bool has_twins(const std::vector<std::string>& names) {
    std::vector<std::string_view> sorted(names.begin(), names.end());
    std::sort(sorted.begin(), sorted.end());
    return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
  }

  const char* read_text(std::string& text) {
    if (!take('"')) return "JSON: expected a text in quotation marks";
    while (at_ != end_ && *at_ != '"') {
      if (static_cast<unsigned char>(*at_) < 0x20) return "JSON: a control character in a text";
      if (*at_ != '\\') {
        text += *at_++;
      } else if (const char* problem = read_escape(text)) {
        return problem;
      }
    }
    return take('"') ? nullptr : "JSON: the text ends too early";
  }

  const char* read_escape(std::string& text) {
    constexpr const char* wrong = "JSON: an escape sequence that there is not";
    ++at_;
    if (at_ == end_) return wrong;
    const char kind = *at_++;
    constexpr std::string_view from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
    const std::size_t plain = from.find(kind);
    if (plain != std::string_view::npos) {
      text += to[plain];
      return nullptr;
    }
    std::uint32_t code = 0, low = 0;
    if (kind != 'u' || !read_code(code)) return wrong;
    if (code >= 0xDC00 && code < 0xE000) return wrong;
    if (code >= 0xD800 && code < 0xDC00) {  // the first half of a surrogate pair
      if (!take('\\') || !take('u') || !read_code(low) || low < 0xDC00 || low >= 0xE000) return wrong;
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    append_utf8(text, code);
    return nullptr;
  }

  bool read_code(std::uint32_t& code) {
    if (end_ - at_ < 4) return false;
    const auto read = std::from_chars(at_, at_ + 4, code, 16);
    at_ += 4;
    return read.ptr == at_;
  }

  static void append_utf8(std::string& text, std::uint32_t code) {
    const auto byte = [&](std::uint32_t bits) { text += static_cast<char>(bits); };
    if (code < 0x80) return byte(code);
    if (code < 0x800) {
      byte(0xC0 | code >> 6);
    } else {
      if (code < 0x10000) {
        byte(0xE0 | code >> 12);
      } else {
        byte(0xF0 | code >> 18);
        byte(0x80 | (code >> 12 & 0x3F));
      }
      byte(0x80 | (code >> 6 & 0x3F));
    }
    byte(0x80 | (code & 0x3F));
  }

  const char* read_word(std::string_view word, Json::Kind kind, Json& value) {
    value.kind = kind;
    if (std::string_view(at_, static_cast<std::size_t>(end_ - at_)).substr(0, word.size()) != word)
      return "JSON: a word that is not true, false or null";
    at_ += word.size();
    return nullptr;
  }

  // Checks the grammar of JSON numbers before the conversion, which also accepts other texts, such as "inf".
  const char* read_number(Json& value) {
    constexpr const char* wrong = "JSON: expected a value";
    value.kind = Json::Kind::number;
    const char* begin = at_;
    take('-');
    if (!take('0') && !digits()) return wrong;
    if (take('.') && !digits()) return wrong;
    if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
      ++at_;
      if (!take('-')) take('+');
      if (!digits()) return wrong;
    }
    const std::string_view number(begin, static_cast<std::size_t>(at_ - begin));
    return number_of(number, value.number) ? nullptr : "JSON: a number that is out of range";
  }

  bool digits() {
    const char* begin = at_;
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9') ++at_;
    return at_ != begin;
  }

  bool take(char wanted) {
    if (at_ == end_ || *at_ != wanted) return false;
    ++at_;
    return true;
  }

  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\n' || *at_ == '\r')) ++at_;
  }

  const char* at_;
  const char* end_;
  int values_ = 0;
};

}  // namespace

const Json* Json::find(std::string_view name) const {
  const auto place = std::find(names.begin(), names.end(), name);
  return place == names.end() ? nullptr : &items[static_cast<std::size_t>(place - names.begin())];
}

bool Json::whole(double most) const {
  return kind == Kind::number && number >= 0.0 && number <= most && number == std::floor(number);
}

Status parse_json(std::string_view text, Json& value) {
  const char* problem = Parser(text).parse(value);
  return problem ? Status::invalid(problem) : Status{};
}

void append_text(std::string& text, std::string_view value) {
  static const char* const digits = "0123456789abcdef";
  text += '"';
  for (const char c : value) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') text += '\\';
    if (code >= 0x20)
      text += c;
    else
      text.append("\\u00").append(1, digits[code >> 4]).append(1, digits[code & 15]);
  }
  text += '"';
}

}  // namespace kernsel
