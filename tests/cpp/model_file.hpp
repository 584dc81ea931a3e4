// The file of a model of two points, as Python would write it.
#pragma once

#include <string>
#include <vector>

#include "kernsel/view.hpp"

struct Numbers {
  const char* name;
  std::vector<kernsel::Index> shape;
  std::vector<double> values;
};

// The bytes of a file: a header in JSON, with the model's description as a text, and the named arrays after it.
inline std::string file_of(const std::string& model, const std::vector<Numbers>& arrays) {
  std::string quoted;
  for (const char c : model) quoted += c == '"' ? "\\\"" : std::string(1, c);
  std::string header = R"({"__metadata__":{"format":"kernsel","version":"1","model":")" + quoted + "\"}", data;
  for (const Numbers& array : arrays) {
    header += std::string(",\"") + array.name + "\":{\"dtype\":\"F64\",\"shape\":[";
    for (std::size_t i = 0; i < array.shape.size(); ++i) header += (i ? "," : "") + std::to_string(array.shape[i]);
    header += "],\"data_offsets\":[" + std::to_string(data.size()) + ",";
    data.append(reinterpret_cast<const char*>(array.values.data()), array.values.size() * sizeof(double));
    header += std::to_string(data.size()) + "]}";
  }
  header += "}";
  header.append((8 - header.size() % 8) % 8, ' ');
  std::string length(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(header.size() >> 8 * i & 0xFF);
  return length + header + data;
}

inline const char* const process =
    R"({"estimator":"GaussianProcessRegressor","columns":1,"core_kernel":["scale",2,["rbf",[0.8]]],"trend":"constant","jitter":0.0})";

inline std::vector<Numbers> process_arrays() {
  return {{"points", {2, 1}, {0.3, 1.1}},
          {"coefficients", {2, 1}, {0.7, -0.7}},
          {"trend_coefficients", {1, 1}, {0.4}},
          {"offset", {1}, {10.0}},
          {"factor", {1}, {3.0}},
          {"diagonal", {2}, {0.1, 0.2}},
          {"scale", {1}, {1.5}}};
}
