// A kernel made ready for two sets of points: a list of steps, children before parents, that fills tiles and pulls tiles of
// weights back.
//
// This is reverse-mode differentiation where every value is a tile: one virtual call for each step and tile. Subtrees that are
// equal are evaluated once; where they are one node, they also have one set of parameters.
#pragma once

#include <atomic>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "isa/table.hpp"
#include "kernsel/kernel.hpp"

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

// Where values are wanted. A tile: all pairs of block i of X and block j of Z. Or a diagonal: the points of one block, each
// against itself; then width is 1.
enum class Part : char { tile, diagonal_of_x, diagonal_of_z };

struct Place {
  Index i, j;
  Index row, col;       // of its first element
  Index height, width;  // padded
  bool same;            // X and Z are one set, so that row == col is a point against itself
  Part part;
  bool tile() const { return part == Part::tile; }
  bool on_diagonal() const { return tile() && same && row == col; }
  Index count() const { return height * width; }
};

template <class T>
class Step {
 public:
  virtual ~Step() = default;
  virtual Status forward(const Place& at, const T* const* children, T* out) const = 0;
  // Given W = dJ/d(value): adds dJ/dtheta of its own parameters;
  virtual Status pull_parameters(const Place& at, const T* const* children, const T* value, const T* W,
                                 double* gradient) const = 0;
  // adds dJ/dx and dJ/dz to gx and gz, by columns (height or width apart) of all columns of the points; either may be nullptr,
  // and on a diagonal gx is what counts;
  virtual Status pull_points(const Place& at, const T* const* children, const T* value, const T* W, T* gx, T* gz) const = 0;
  // and returns dJ/d(child c), written to `room` or W itself.
  virtual const T* pull_child(const Place& at, std::size_t c, const T* const* children, const T* value, const T* W,
                              T* room) const = 0;
  // pull_parameters for each row of a tile alone: rows, (height, own parameters), by columns. Not every step can.
  virtual bool has_rows() const { return false; }
  virtual Status pull_rows(const Place&, const T* const*, const T*, const T*, double*) const {
    return Status::invalid("this kernel has no derivatives by rows");
  }
};

template <class T>
struct Geometry {
  View<const T> X, Z;
  bool same;
  Index block;
  std::vector<Index> columns;   // of X and Z that the kernel sees
  bool differentiable = false;  // will dJ/dx be asked for?
  std::size_t frame = 0;        // which points these are: see Program::Frame
  Part part = Part::tile;       // where values will be wanted
  Index dimension() const { return static_cast<Index>(columns.size()); }
};

// Other points made of the points, for the kernel inside (kernels/transform.cpp).
template <class T>
class PointMap {
 public:
  virtual ~PointMap() = default;
  virtual View<const T> X() const = 0;
  virtual View<const T> Z() const = 0;
  // Given dJ/d(mapped points) of a tile: adds dJ/dtheta, and dJ/dx to gx and gz unless they are nullptr.
  virtual Status pull(const Place& at, const T* mapped_x, const T* mapped_z, double* gradient, T* gx, T* gz) const = 0;
};

class KernelNode;

// A kernel as it is written: the name of a function of kernel.hpp, the numbers that it takes, then a list of numbers, then
// kernels, which are the children of the node if none are named. Without a name it cannot be written.
struct Expression {
  const char* name = nullptr;
  std::vector<double> numbers = {};
  std::vector<double> list = {};
  std::vector<const KernelNode*> kernels = {};
};

class KernelNode {
 public:
  virtual ~KernelNode();
  virtual Status check(Index columns) const = 0;
  // Of this node alone: logarithms of parameters that are positive, others as they are.
  virtual std::vector<double> theta() const = 0;
  // What kinds of numbers these are; unknown unless the node says more.
  virtual std::vector<Rule> rules() const;
  // A copy with the same children, which may then be given other parameters: false if they cannot be changed.
  virtual std::shared_ptr<KernelNode> copy() const = 0;
  virtual bool set_theta(const double* values) {
    (void)values;
    return theta().empty();
  }
  // Equal for two nodes whose children are equal: they have the same values.
  virtual std::string key() const;
  virtual Expression expression() const { return {}; }
  virtual bool may_overflow() const { return false; }
  virtual bool is_noise() const { return false; }        // does it tell a point itself from an equal one?
  virtual bool sees_diagonals() const { return false; }  // its child is followed by the diagonals of the child
  // A node that only restricts its child to some columns (kernels/columns.cpp) names them; it has no step.
  virtual const std::vector<Index>* selected_columns() const { return nullptr; }
  // The number of columns of the points that its children see.
  virtual Index columns_inside(Index columns) const { return columns; }
  // A node that shows other points to its child; it has no step, but may have parameters.
  virtual bool maps_points() const { return false; }
  virtual std::unique_ptr<PointMap<float>> map(const Geometry<float>& points, Status& status) const;
  virtual std::unique_ptr<PointMap<double>> map(const Geometry<double>& points, Status& status) const;
  virtual std::unique_ptr<Step<float>> bind(const Geometry<float>& points, Status& status) const = 0;
  virtual std::unique_ptr<Step<double>> bind(const Geometry<double>& points, Status& status) const = 0;

  std::vector<std::shared_ptr<const KernelNode>> children;
};

template <class T>
class Program {
 public:
  static constexpr Index preferred_block = sizeof(T) == 8 ? 120 : 144;

  // `differentiable`: pullback will be asked for dJ/dx.
  Program(const Kernel& kernel, View<const T> X, View<const T> Z, bool same, Index block, bool differentiable = false);
  const Status& status() const { return status_; }
  // What a computation ended in, when values may have overflowed on the way.
  Status finish(const Status& status) const;

  Index block() const { return block_; }
  Index row_blocks() const { return (rows_ + block_ - 1) / block_; }
  Index col_blocks() const { return (cols_ + block_ - 1) / block_; }
  Place tile(Index i, Index j) const;
  Place diagonal(Index i) const { return part_of(tile(i, 0), Part::diagonal_of_x); }
  Index parameters() const { return parameters_; }
  double cost() const { return cost_; }  // of an element, in nanoseconds, roughly

  // If there is one tile only: from now on forward() keeps all values on the way for the derivatives, which are its next.
  Status keep_values();
  // values <- those of a place, height x width without gaps, in `out` or in memory of the calling thread.
  Status forward(const Place& at, const T*& values, T* out = nullptr) const;
  // gradient += sum over the tile of W dk/dtheta; and gx += dJ/dx, (height, columns of X), if the program is differentiable.
  Status pullback(const Place& at, const T* W, double* gradient, T* gx = nullptr) const;
  // rows += sum over each row of the tile, (height, parameters), if all steps can.
  bool has_rows() const { return has_rows_; }
  Status pull_rows(const Place& at, const T* W, double* rows) const;

 private:
  // A step that is taken, on the children's values.
  struct Value {
    std::unique_ptr<Step<T>> step;
    Part part;
    std::vector<std::size_t> children;
    std::size_t slot = 0;  // in forward(); children that nobody else needs are overwritten
  };
  // A place in the expression: its value may be that of others, its weights and its parameters are its own.
  struct Entry {
    std::size_t value;
    std::vector<std::size_t> children;
    Index first_parameter;  // in the gradient
    std::size_t frame;
  };
  // Points as a kernel sees them: those given (the first frame), or those that a node of the expression makes of others.
  struct Frame {
    std::unique_ptr<PointMap<T>> map;
    std::size_t parent = 0, same_points = 0;  // the first frame with the same points
    Index columns = 0, first_parameter = 0;
    bool pulled = false;  // is dJ/d(points) needed?
  };

  // A place in the expression whose children are being compiled: those that are, its entry has.
  struct Opened {
    const KernelNode* node;
    const Geometry<T>* points;
    Part part;
    std::size_t* known;  // where the number of the entry goes
    Entry entry;
  };
  void compile(const KernelNode* root, const Geometry<T>& points);
  std::size_t close(Opened& place);
  Geometry<T> enter(const KernelNode* node, const Geometry<T>& points);
  Index first_parameter(const KernelNode* node);
  std::size_t value_of(const KernelNode& node, const Geometry<T>& points, Part part, const std::vector<std::size_t>& children);
  void assign_slots();
  void look_for_overflow(const T* values, Index count) const;
  Place part_of(const Place& at, Part part) const;
  // Where derivatives in the parameters go: sums over the tile, or over each row.
  struct Sums {
    double* gradient;
    double* rows;
  };
  Status record(const Place& at, T* values) const;
  Status recorded(const Place& at, const T*& values) const;
  Status pull_steps(const Place& at, const T* values, T* adjoints, const T* W, const Sums& sums,
                    const std::vector<T*>& points) const;

  Status status_;
  std::vector<Value> values_;
  std::vector<Entry> entries_;
  std::vector<Frame> frames_;
  // A node is compiled once for each selection of columns that it is seen through, with one set of parameters.
  std::map<std::tuple<const KernelNode*, std::size_t, std::vector<Index>, Part>, std::size_t> known_;
  std::map<std::tuple<const KernelNode*, std::size_t, std::vector<Index>>, std::size_t> known_frames_;
  std::unordered_map<const KernelNode*, Index> first_parameter_;
  std::unordered_map<std::string, std::size_t> known_values_, known_points_;
  bool may_overflow_ = false, has_rows_ = true;
  mutable std::atomic<bool> overflowed_{false};
  Memory kept_;                 // of the one tile, all values
  mutable bool keeps_ = false;  // are they there?
  Index rows_, cols_, block_;
  Index tile_size_;  // of the largest tile
  bool same_, pulls_points_ = false;
  Index parameters_ = 0;
  std::size_t slots_ = 0;
  double cost_ = 0.0;
};

extern template class Points<float>;
extern template class Points<double>;
extern template class Program<float>;
extern template class Program<double>;

}  // namespace kernsel
