// What every file of this folder begins with: the common part of nodes and steps.
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "isa/table.hpp"
#include "kernsel/kernel.hpp"
#include "program.hpp"

namespace kernsel {

inline bool positive(double value) { return value > 0.0 && std::isfinite(value); }

// A node whose steps need nothing but the node's own numbers: Node has `template <class T> std::unique_ptr<Step<T>>
// make(points, status)`.
template <class Node>
class NodeBase : public KernelNode {
 public:
  std::unique_ptr<Step<float>> bind(const Geometry<float>& points, Status& status) const override {
    return static_cast<const Node*>(this)->make(points, status);
  }
  std::unique_ptr<Step<double>> bind(const Geometry<double>& points, Status& status) const override {
    return static_cast<const Node*>(this)->make(points, status);
  }
};

template <class T>
class LeafStep : public Step<T> {
 public:
  const T* pull_child(const TilePlace&, std::size_t, const T* const*, const T*, const T* W, T*) const override { return W; }
};

template <class T>
class OperationStep : public Step<T> {  // no parameters of its own
 public:
  bool pull_parameters(const TilePlace&, const T* const*, const T*, const T*, double*) const override { return true; }
};

}  // namespace kernsel
