// A kernel made ready for two sets of points: a list of steps, children before parents, that fills tiles and pulls tiles of
// weights back.
//
// This is reverse-mode differentiation where every value is a tile: one virtual call for each step and tile. A subtree that
// stands in the expression several times (the same node) is one step, with one set of parameters.
#pragma once

#include <atomic>
#include <cmath>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "isa/table.hpp"
#include "kernsel/kernel.hpp"
#include "memory.hpp"

namespace kernsel {

// Points in blocks of `block` rows: each block is (padded rows, d), by columns, so that a tile finds its points contiguous.
template <class T>
class Points {
 public:
  // The k-th of the columns is multiplied by factor[k], a power of two where exactness matters.
  Status assign(View<const T> X, Index block, const std::vector<Index>& columns, const std::vector<T>& factor);
  const T* block_data(Index i) const { return static_cast<const T*>(memory_.data()) + i * block_ * columns_; }

 private:
  Memory memory_;
  Index block_ = 0, columns_ = 0;
};

// One tile: block row i of X against block row j of Z.
struct TilePlace {
  Index i, j;
  Index row, col;       // of its first element
  Index height, width;  // padded
  bool same;            // X and Z are one set, so that row == col is a point against itself
  Index count() const { return height * width; }
};

template <class T>
class Step {
 public:
  virtual ~Step() = default;
  virtual void forward(const TilePlace& at, const T* const* children, T* out) const = 0;
  // Given W = dJ/d(value): adds dJ/dtheta of its own parameters (false: no memory);
  virtual bool pull_parameters(const TilePlace& at, const T* const* children, const T* value, const T* W,
                               double* gradient) const = 0;
  // and returns dJ/d(child c), written to `room` or W itself.
  virtual const T* pull_child(const TilePlace& at, std::size_t c, const T* const* children, const T* value, const T* W,
                              T* room) const = 0;
  // k(x, x) for the points of block i; `count` is padded.
  virtual void diagonal(Index i, Index count, const T* const* children, T* out) const = 0;
};

template <class T>
struct Geometry {
  View<const T> X, Z;
  bool same;
  Index block;
  std::vector<Index> columns;  // of X and Z that the kernel sees
  Index dimension() const { return static_cast<Index>(columns.size()); }
};

class KernelNode {
 public:
  virtual ~KernelNode() = default;
  virtual Status check(Index columns) const = 0;
  virtual std::vector<double> theta() const = 0;  // of this node alone, log scale
  virtual bool may_overflow() const { return false; }
  // A node that only restricts its child to some columns (kernels/columns.cpp) names them; it has no step.
  virtual const std::vector<Index>* selected_columns() const { return nullptr; }
  virtual std::unique_ptr<Step<float>> bind(const Geometry<float>& points, Status& status) const = 0;
  virtual std::unique_ptr<Step<double>> bind(const Geometry<double>& points, Status& status) const = 0;

  std::vector<std::shared_ptr<const KernelNode>> children;
};

template <class T>
class Program {
 public:
  static constexpr Index preferred_block = sizeof(T) == 8 ? 120 : 144;

  Program(const Kernel& kernel, View<const T> X, View<const T> Z, bool same, Index block);
  const Status& status() const { return status_; }
  // What a computation ended in, when values may have overflowed on the way.
  Status finish(const Status& status) const;

  Index block() const { return block_; }
  Index row_blocks() const { return (rows_ + block_ - 1) / block_; }
  Index col_blocks() const { return (cols_ + block_ - 1) / block_; }
  TilePlace place(Index i, Index j) const;
  Index parameters() const { return parameters_; }
  double cost() const { return cost_; }  // of an element, in nanoseconds, roughly

  // The values of a tile, height x width without gaps; in `out`, or in memory of the calling thread. nullptr: no memory.
  const T* forward(const TilePlace& at, T* out = nullptr) const;
  const T* diagonal(Index i) const;
  // gradient += sum over the tile of W dk/dtheta. False: no memory.
  bool pullback(const TilePlace& at, const T* W, double* gradient) const;

 private:
  struct Entry {
    std::unique_ptr<Step<T>> step;
    std::vector<std::size_t> children;
    std::size_t slot = 0;       // of its value in forward(); children that nobody else needs are overwritten
    Index first_parameter = 0;  // in the gradient
  };

  std::size_t compile(const std::shared_ptr<const KernelNode>& node, const Geometry<T>& points);
  void assign_slots();
  void look_for_overflow(const T* values, Index count) const;

  Status status_;
  std::vector<Entry> entries_;
  // A node is compiled once for each selection of columns that it is seen through, with one set of parameters.
  std::map<std::pair<const KernelNode*, std::vector<Index>>, std::size_t> known_;
  std::unordered_map<const KernelNode*, Index> first_parameter_;
  bool may_overflow_ = false;
  mutable std::atomic<bool> overflowed_{false};
  Index rows_, cols_, block_;
  bool same_;
  Index parameters_ = 0;
  std::size_t slots_ = 0;
  double cost_ = 0.0;
};

extern template class Points<float>;
extern template class Points<double>;
extern template class Program<float>;
extern template class Program<double>;

}  // namespace kernsel
