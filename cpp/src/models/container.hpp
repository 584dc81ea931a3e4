// The file of a model: named texts and arrays in the format of safetensors, which python/kernsel/saving/container.py describes.
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

  const std::string& description() const { return description_; }  // the model, as JSON
  // The shape of an array of finite numbers of double or single precision, or nullptr.
  const std::vector<Index>* shape(const std::string& name) const;
  // Reads the numbers of such an array, by rows.
  Status read(const std::string& name, std::vector<double>& values);

 private:
  struct Array {
    std::string name;
    std::vector<Index> shape;
    std::size_t item = 0;  // bytes of a number: 8 for doubles, 4 for floats; 0 for types that are not read
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

// Writes a file, first beside `path` under another name: a file that exists is replaced when all of the new one is written.
Status write_container(const char* path, const std::string& description, const std::vector<Named>& arrays);

}  // namespace kernsel
