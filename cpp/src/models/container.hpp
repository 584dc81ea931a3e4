// The file of a model: texts by name and arrays, in the format of safetensors. python/kernsel/saving/container.py describes it.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace kernsel {

class Container {
 public:
  // Reads the header, and compares what it says with the length of the file.
  Status open(const char* path);

  const std::string& description() const { return description_; }  // of the model: JSON
  // The shape of an array of finite numbers of double or single precision, or nullptr.
  const std::vector<Index>* shape(const std::string& name) const;
  // Its numbers, by rows.
  Status read(const std::string& name, std::vector<double>& values);

 private:
  struct Array {
    std::string name;
    std::vector<Index> shape;
    std::size_t item = 0;  // bytes of a number; 8 and 4 if it is one of doubles or floats, otherwise 0
    std::size_t begin = 0, bytes = 0;
  };
  Status read_header(const Json& header, std::size_t start, std::size_t size);
  Status read_metadata(const Json& metadata);
  static Status read_array(const std::string& name, const Json& entry, std::size_t room, Array& array);
  const Array* find(const std::string& name) const;

  std::ifstream file_;
  std::string description_;
  std::vector<Array> arrays_;
};

// An array to be written, by rows.
struct Named {
  const char* name;
  std::vector<Index> shape;
  std::vector<double> values;
};

// Writes a file of the format; it takes the place of another when all of it is written.
Status write_container(const char* path, const std::string& description, const std::vector<Named>& arrays);

}  // namespace kernsel
