#include "models/container.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <system_error>

namespace kernsel {

namespace {

constexpr std::size_t largest_header = std::size_t{1} << 23;
constexpr double largest_size = 9007199254740992.0;  // 2^53: whole numbers up to there are exact

struct Type {
  std::string_view name;
  std::size_t bytes;
};
constexpr Type types[] = {{"F64", 8}, {"F32", 4}, {"I64", 8}, {"BOOL", 1}, {"U8", 1}};

// Reads a little-endian number of `count` bytes, on machines of any byte order.
std::uint64_t number_at(const char* bytes, std::size_t count) {
  std::uint64_t number = 0;
  for (std::size_t i = count; i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

template <class T, class Bits>
double as_number(Bits bits) {
  T value;
  static_assert(sizeof(T) == sizeof(Bits), "the same bytes");
  std::memcpy(&value, &bits, sizeof(T));
  return static_cast<double>(value);
}

}  // namespace

Status Container::open(const char* path) {
  file_.open(path, std::ios::binary | std::ios::ate);
  if (!file_) return Status::invalid("model: the file cannot be opened");
  const std::streamoff end = file_.tellg();
  char prefix[8];
  if (end < 8 || !file_.seekg(0) || !file_.read(prefix, 8)) return Status::invalid("model: the file is too short, or no file");
  const auto size = static_cast<std::size_t>(end);
  const std::uint64_t length = number_at(prefix, 8);
  if (length > size - 8 || length > largest_header)
    return Status::invalid("model: the length of the header is that of no model");
  std::string text(static_cast<std::size_t>(length), '\0');
  if (!file_.read(&text[0], static_cast<std::streamsize>(length))) return Status::invalid("model: the file cannot be read");
  Json header;
  const Status status = parse_json(text, header);
  return status.ok() ? read_header(header, 8 + text.size(), size) : status;
}

Status Container::read_header(const Json& header, std::size_t start, std::size_t size) {
  if (!header.is(Json::Kind::object)) return Status::invalid("model: the header must be an object");
  for (std::size_t i = 0; i < header.items.size(); ++i) {
    if (header.names[i] == "__metadata__") {
      const Status status = read_metadata(header.items[i]);
      if (!status.ok()) return status;
      continue;
    }
    arrays_.emplace_back();
    const Status status = read_array(header.names[i], header.items[i], size - start, arrays_.back());
    if (!status.ok()) return status;
  }
  std::sort(arrays_.begin(), arrays_.end(),
            [](const Array& a, const Array& b) { return a.begin != b.begin ? a.begin < b.begin : a.bytes < b.bytes; });
  std::size_t at = 0;
  for (Array& array : arrays_) {
    if (array.begin != at) return Status::invalid("model: the arrays overlap, or leave holes");
    at += array.bytes;
    array.begin += start;
  }
  if (at != size - start) return Status::invalid("model: the arrays must end where the file does");
  return description_.empty() ? Status::invalid("model: this is no file of kernsel") : Status{};
}

Status Container::read_metadata(const Json& metadata) {
  for (const Json& text : metadata.items)
    if (!text.is(Json::Kind::text)) return Status::invalid("model: expected texts in __metadata__");
  const Json *format = metadata.find("format"), *version = metadata.find("version"), *model = metadata.find("model");
  if (!format || format->text != "kernsel" || !version || !model) return Status::invalid("model: this is no file of kernsel");
  if (version->text != "1") return Status::invalid("model: this version of the format needs a newer kernsel");
  description_ = model->text;
  return {};
}

Status Container::read_array(const std::string& name, const Json& entry, std::size_t room, Array& array) {
  constexpr const char* wrong = "model: expected dtype, shape and data_offsets of an array";
  const Json *type = entry.find("dtype"), *shape = entry.find("shape"), *offsets = entry.find("data_offsets");
  if (!type || !shape || !offsets || entry.items.size() != 3) return Status::invalid(wrong);
  if (!shape->is(Json::Kind::list) || shape->items.size() > 8 || !offsets->is(Json::Kind::list) || offsets->items.size() != 2)
    return Status::invalid(wrong);
  const auto* known = std::find_if(std::begin(types), std::end(types), [&](const Type& t) { return t.name == type->text; });
  if (known == std::end(types)) return Status::invalid("model: an array of a type that is not known");
  double bytes = static_cast<double>(known->bytes);  // exact up to 2^53, and no file is longer
  for (const Json& count : shape->items) {
    if (!count.whole(largest_size)) return Status::invalid(wrong);
    array.shape.push_back(static_cast<Index>(count.number));
    bytes *= count.number;
  }
  for (const Json& offset : offsets->items)
    if (!offset.whole(largest_size)) return Status::invalid(wrong);
  const double begin = offsets->items[0].number, end = offsets->items[1].number;
  if (end > static_cast<double>(room) || end - begin != bytes)
    return Status::invalid("model: the shape of an array is not that of its bytes in the file");
  array.name = name;
  array.item = known->name[0] == 'F' ? known->bytes : 0;
  array.begin = static_cast<std::size_t>(begin);
  array.bytes = static_cast<std::size_t>(bytes);
  return {};
}

const Container::Array* Container::find(const std::string& name) const {
  const auto found = std::find_if(arrays_.begin(), arrays_.end(), [&](const Array& array) { return array.name == name; });
  return found == arrays_.end() || found->item == 0 ? nullptr : &*found;
}

const std::vector<Index>* Container::shape(const std::string& name) const {
  const Array* array = find(name);
  return array ? &array->shape : nullptr;
}

Status Container::read(const std::string& name, std::vector<double>& values) {
  const Array* array = find(name);
  if (!array) return Status::invalid("model: an array of numbers is missing");
  std::vector<char> bytes(array->bytes);
  file_.clear();
  if (!file_.seekg(static_cast<std::streamoff>(array->begin)) ||
      !file_.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
    return Status::invalid("model: the file cannot be read");
  values.resize(array->bytes / array->item);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t bits = number_at(&bytes[i * array->item], array->item);
    values[i] = array->item == 8 ? as_number<double>(bits) : as_number<float>(static_cast<std::uint32_t>(bits));
    if (!std::isfinite(values[i])) return Status::invalid("model: the numbers of an array must be finite");
  }
  return {};
}

Status write_container(const char* path, const std::string& description, const std::vector<Named>& arrays) {
  std::string header = R"({"__metadata__":{"format":"kernsel","version":"1","model":)";
  append_text(header, description);
  header += "}";
  std::size_t end = 0;
  for (const Named& array : arrays) {
    header += ",\"" + std::string(array.name) + "\":{\"dtype\":\"F64\",\"shape\":[";
    for (std::size_t i = 0; i < array.shape.size(); ++i) header += (i ? "," : "") + std::to_string(array.shape[i]);
    header += "],\"data_offsets\":[" + std::to_string(end) + ",";
    end += array.values.size() * sizeof(double);
    header += std::to_string(end) + "]}";
  }
  header += "}";
  header.append((8 - header.size() % 8) % 8, ' ');
  const auto as_bytes = [](std::uint64_t bits) {  // little-endian, whatever the machine is
    std::string bytes(8, '\0');
    for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(bits >> 8 * i & 0xFF);
    return bytes;
  };
  // Two that write the same model at once write two files, and the later one stays.
  const std::string beside = std::string(path) + "." + std::to_string(std::random_device{}()) + ".part";
  {
    std::ofstream file(beside, std::ios::binary | std::ios::trunc);
    file << as_bytes(header.size()) << header;
    std::string bytes;
    for (const Named& array : arrays) {
      bytes.clear();
      for (const double value : array.values) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof(bits));
        bytes += as_bytes(bits);
      }
      file << bytes;
    }
    if (!file.flush()) {
      std::remove(beside.c_str());
      return Status::invalid("model: the file cannot be written");
    }
  }
  std::error_code problem;
  std::filesystem::rename(beside, path, problem);  // over a file that is there, on any system
  if (!problem) return {};
  std::remove(beside.c_str());
  return Status::invalid("model: the file cannot be written");
}

}  // namespace kernsel
