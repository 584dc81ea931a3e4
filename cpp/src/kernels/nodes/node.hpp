// Base classes of nodes and steps, and helper functions, for all files of this folder.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "isa/table.hpp"
#include "kernels/program.hpp"
#include "kernsel/kernel.hpp"

namespace kernsel {

inline bool positive(double value) { return value > 0.0 && std::isfinite(value); }

// Checks that a number is positive and finite in the type of the steps.
template <class T>
Status check_range(double value) {
  const bool fits = static_cast<T>(value) > T(0) && std::isfinite(static_cast<T>(value));
  return fits ? Status{}
              : Status::invalid("a number of the kernel is out of the range of single precision; use float64 points");
}

// Returns a text that is equal for equal names and numbers, to the bit.
inline std::string key_of(const char* name, const std::vector<double>& numbers) {
  std::string key(name);
  const std::size_t start = key.size() + 1;
  key.resize(start + numbers.size() * sizeof(double), ' ');
  if (!numbers.empty()) std::memcpy(&key[start], numbers.data(), numbers.size() * sizeof(double));
  return key;
}

// values <- exp(logs). Returns a pointer to the numbers after those that were read.
inline const double* exponentials(const double* logs, std::vector<double>& values) {
  for (double& value : values) value = std::exp(*logs++);
  return logs;
}

inline std::vector<double> logarithms(const std::vector<double>& values) {
  std::vector<double> logs;
  for (const double value : values) logs.push_back(std::log(value));
  return logs;
}

// A node whose steps need only the node's own numbers. Node must have `template <class T> std::unique_ptr<Step<T>> make(points,
// status)`.
template <class Node>
class NodeBase : public KernelNode {
 public:
  std::shared_ptr<KernelNode> copy() const override { return std::make_shared<Node>(static_cast<const Node&>(*this)); }
  std::unique_ptr<Step<float>> bind(const Geometry<float>& points, Status& status) const override {
    return static_cast<const Node*>(this)->make(points, status);
  }
  std::unique_ptr<Step<double>> bind(const Geometry<double>& points, Status& status) const override {
    return static_cast<const Node*>(this)->make(points, status);
  }
};

template <class T>
// A step without children.
class LeafStep : public Step<T> {
 public:
  const T* pull_child(const Place&, std::size_t, const T* const*, const T*, const T* W, T*) const override { return W; }
};

// rows += the sums of the rows of the elementwise product of A and B: the derivative for a parameter in log form that
// multiplies the value.
template <class T>
void add_row_products(const Place& at, const T* A, const T* B, double* rows) {
  for (Index c = 0; c < at.width; ++c, A += at.height, B += at.height)
    for (Index r = 0; r < at.height; ++r) rows[r] += static_cast<double>(A[r] * B[r]);
}

// The points of both sets as a leaf sees them, with each column multiplied by a factor.
template <class T>
class LeafPoints {
 public:
  Status assign(const Geometry<T>& points, const std::vector<T>& factor) {
    dimension_ = points.dimension();
    same_ = points.same;
    const Status status = X_.assign(points.X, points.block, points.columns, factor);
    return status.ok() && !same_ ? Z_.assign(points.Z, points.block, points.columns, factor) : status;
  }
  // Returns the points of a tile; for a diagonal, those of its block, paired with themselves.
  PointTile<T> at(const Place& at, const T* weights) const {
    const Points<T>& of_z = same_ ? X_ : Z_;
    const T* x = (at.part == Part::diagonal_of_z ? of_z : X_).block_data(at.i);
    if (!at.tile()) return {at.height, at.height, dimension_, x, x, weights};
    return {at.height, at.width, dimension_, x, of_z.block_data(at.j), weights};
  }

 private:
  Points<T> X_, Z_;
  Index dimension_ = 0;
  bool same_ = false;
};

// The step of a kernel that does not depend on the coordinates of the points.
template <class T>
class PlacelessStep : public LeafStep<T> {
 public:
  Status pull_points(const Place&, const T* const*, const T*, const T*, T*, T*) const override { return {}; }
};

template <class T>
class OperationStep : public Step<T> {  // a step without parameters that does not read the points
 public:
  Status pull_parameters(const Place&, const T* const*, const T*, const T*, double*) const override { return {}; }
  Status pull_points(const Place&, const T* const*, const T*, const T*, T*, T*) const override { return {}; }
};

template <class Node>
class OperationNode : public KernelNode {
 public:
  std::shared_ptr<KernelNode> copy() const override { return std::make_shared<Node>(static_cast<const Node&>(*this)); }
  Status check(Index) const override { return {}; }
  std::vector<double> theta() const override { return {}; }
};

}  // namespace kernsel
