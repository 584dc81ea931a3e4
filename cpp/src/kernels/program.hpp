// A kernel compiled for two sets of points: a list of steps, children before parents, that computes tiles of values and,
// backwards, gradients for tiles of weights.
//
// This is reverse-mode differentiation in which every value is a tile, so that there is one virtual call for each step and
// tile. Equal subexpressions are evaluated once. If they are the same node, they also share their parameters.
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

// Points in blocks of `block` rows. Each block is a column-major matrix (padded rows, d), so that the points of a tile are
// contiguous.
template <class T>
class Points {
 public:
  // Copies the given columns of X, the k-th of them multiplied by factor[k], which should be a power of two where the product
  // must be exact.
  Status assign(View<const T> X, Index block, const std::vector<Index>& columns, const std::vector<T>& factor);
  const T* block_data(Index i) const { return static_cast<const T*>(memory_.data()) + i * block_ * columns_; }

 private:
  Memory memory_;
  Index block_ = 0, columns_ = 0;
};

// The part of the kernel matrix that is computed at a place. A tile has all pairs of block i of X and block j of Z. A diagonal
// has the points of one block, each paired with itself; its width is 1.
enum class Part : char { tile, diagonal_of_x, diagonal_of_z };

struct Place {
  Index i, j;
  Index row, col;       // the row and column of its first element
  Index height, width;  // with padding
  bool same;            // X and Z are the same points, so that row == col is a point and itself
  Part part;
  bool tile() const { return part == Part::tile; }
  bool on_diagonal() const { return tile() && same && row == col; }
  Index count() const { return height * width; }
};

template <class T>
// One operation of a program, which computes the value of a node from those of its children, and gradients from weights W =
// dJ/d(value). All values and weights are contiguous tiles.
class Step {
 public:
  virtual ~Step() = default;
  virtual Status forward(const Place& at, const T* const* children, T* out) const = 0;
  // Adds dJ/dtheta for the parameters of this step.
  virtual Status pull_parameters(const Place& at, const T* const* children, const T* value, const T* W,
                                 double* gradient) const = 0;
  // Adds dJ/dx to gx and dJ/dz to gz, which have all columns of the points, at.height or at.width elements apart. Either may be
  // nullptr. On a diagonal, only gx is used, and it has the derivative in both arguments.
  virtual Status pull_points(const Place& at, const T* const* children, const T* value, const T* W, T* gx, T* gz) const = 0;
  // Returns dJ/d(child c), written to `room`, or W itself if it is the same.
  virtual const T* pull_child(const Place& at, std::size_t c, const T* const* children, const T* value, const T* W,
                              T* room) const = 0;
  // As pull_parameters, but with separate sums for each row of a tile: rows is column-major, (height, own parameters). Only
  // steps for which has_rows() is true can do this.
  virtual bool has_rows() const { return false; }
  virtual Status pull_rows(const Place&, const T* const*, const T*, const T*, double*) const {
    return Status::invalid("this kernel has no derivatives by rows");
  }
};

template <class T>
// The points that a node sees, for which its step is made.
struct Geometry {
  View<const T> X, Z;
  bool same;
  Index block;
  std::vector<Index> columns;   // the columns of X and Z that the kernel sees
  bool differentiable = false;  // whether dJ/dx will be needed
  std::size_t frame = 0;        // the number of these points: see Program::Frame
  Part part = Part::tile;       // the part of the matrix for which the step is made
  Index dimension() const { return static_cast<Index>(columns.size()); }
};

// Points phi(X) and phi(Z), made from X and Z for the kernel inside a transformation (kernels/nodes/transform.cpp).
template <class T>
class PointMap {
 public:
  virtual ~PointMap() = default;
  virtual View<const T> X() const = 0;
  virtual View<const T> Z() const = 0;
  // For the gradient of a tile in the mapped points: adds dJ/dtheta for the parameters of the map, and dJ/dx and dJ/dz to gx
  // and gz unless these are nullptr.
  virtual Status pull(const Place& at, const T* mapped_x, const T* mapped_z, double* gradient, T* gx, T* gz) const = 0;
};

class KernelNode;

// A node in written form: the name of a function in kernel.hpp, then the numbers that it takes, a list of numbers, and kernels.
// If `kernels` is empty, these are the children of the node. A node without a name cannot be written.
struct Expression {
  const char* name = nullptr;
  std::vector<double> numbers = {};
  std::vector<double> list = {};
  std::vector<const KernelNode*> kernels = {};
};

// A node of an expression of kernels.
class KernelNode {
 public:
  virtual ~KernelNode();
  virtual Status check(Index columns) const = 0;
  // The parameters of this node, without those of its children: positive ones as logarithms, others as they are.
  virtual std::vector<double> theta() const = 0;
  // The kinds of these parameters; Rule::none unless the node says more.
  virtual std::vector<Rule> rules() const;
  // Returns a copy with the same children. set_theta() sets its parameters; it returns false if they cannot be changed.
  virtual std::shared_ptr<KernelNode> copy() const = 0;
  virtual bool set_theta(const double* values) {
    (void)values;
    return theta().empty();
  }
  // A text that two nodes share only if they have the same values and gradients whenever their children have.
  virtual std::string key() const;
  virtual Expression expression() const { return {}; }
  virtual bool may_overflow() const { return false; }
  virtual bool is_noise() const { return false; }        // whether a point differs from another, equal point
  virtual bool is_of_levels() const { return false; }    // whether numbers are names of levels, between which nothing lies
  virtual bool sees_diagonals() const { return false; }  // whether its step also gets the diagonals of its child
  // A node that restricts its child to some columns (kernels/nodes/columns.cpp) returns their numbers; such a node has no step.
  virtual const std::vector<Index>* selected_columns() const { return nullptr; }
  // The number of columns of the points that its children see, if it sees `columns`.
  virtual Index columns_inside(Index columns) const { return columns; }
  // Whether the node gives other points to its child, made by map(). Such a node has no step, but may have parameters.
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

  // `differentiable` tells that pullback() will also be asked for dJ/dx.
  Program(const Kernel& kernel, View<const T> X, View<const T> Z, bool same, Index block, bool differentiable = false);
  const Status& status() const { return status_; }
  // Returns the status of a computation that ended with `status`: an error if values have overflowed.
  Status finish(const Status& status) const;

  Index block() const { return block_; }
  Index row_blocks() const { return (rows_ + block_ - 1) / block_; }
  Index col_blocks() const { return (cols_ + block_ - 1) / block_; }
  Place tile(Index i, Index j) const;
  Place diagonal(Index i) const { return part_of(tile(i, 0), Part::diagonal_of_x); }
  Index columns() const { return columns_; }  // of the points
  Index parameters() const { return parameters_; }
  double cost() const { return cost_; }  // the approximate time for one element, in nanoseconds

  // If the matrix is one tile, forward() keeps all intermediate values from now on, for the derivatives that are computed next.
  Status keep_values();
  // values <- the values of a place, (height, width) without gaps, which are in `out` or, if that is nullptr, in memory that
  // belongs to the program or to the calling thread.
  Status forward(const Place& at, const T*& values, T* out = nullptr) const;
  // As forward(), but also keeps the values of all steps in memory of the calling thread: `tape`, from which pullback() and
  // pull_rows() for this place can start. It is valid until the thread's next call of one of these without a tape.
  Status forward_recording(const Place& at, const T*& values, const T*& tape) const;
  // gradient += sum over the tile of W dk/dtheta, and gx += dJ/dx, (height, columns of X), if the program is differentiable and
  // gx is not nullptr.
  Status pullback(const Place& at, const T* W, double* gradient, T* gx = nullptr, const T* tape = nullptr) const;
  // rows += sum over each row of the tile of W dk/dtheta, (height, parameters), if has_rows().
  bool has_rows() const { return has_rows_; }
  Status pull_rows(const Place& at, const T* W, double* rows, const T* tape = nullptr) const;

 private:
  // A step with the values that it reads.
  struct Value {
    std::unique_ptr<Step<T>> step;
    Part part;
    std::vector<std::size_t> children;
    std::size_t slot = 0;  // its memory in forward(), which is used again when the value is no longer needed
  };
  // An occurrence of a node in the expression. Several entries may share a value; each has its own weights and parameters.
  struct Entry {
    std::size_t value;
    std::vector<std::size_t> children;
    Index first_parameter;  // its place in the gradient
    std::size_t frame;
  };
  // Points as a kernel sees them: the given ones (frame 0), or those that a node of the expression makes from other points.
  struct Frame {
    std::unique_ptr<PointMap<T>> map;
    std::size_t parent = 0, same_points = 0;  // same_points: the first frame with the same points
    Index columns = 0, first_parameter = 0;
    bool pulled = false;  // whether dJ/d(points) is needed
  };

  // An entry whose children are being compiled; entry.children has those that are finished.
  struct Opened {
    const KernelNode* node;
    const Geometry<T>* points;
    Part part;
    std::size_t* known;  // where to store the number of the entry
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
  // The destination of derivatives in the parameters: sums over the tile, or sums over each row. The other one is nullptr.
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
  // A node is compiled once for each set of points, columns and part for which it occurs; all these share one set of
  // parameters.
  std::map<std::tuple<const KernelNode*, std::size_t, std::vector<Index>, Part>, std::size_t> known_;
  std::map<std::tuple<const KernelNode*, std::size_t, std::vector<Index>>, std::size_t> known_frames_;
  std::unordered_map<const KernelNode*, Index> first_parameter_;
  std::unordered_map<std::string, std::size_t> known_values_, known_points_;
  bool may_overflow_ = false, has_rows_ = true;
  mutable std::atomic<bool> overflowed_{false};
  Memory kept_;                 // all values, if the matrix is one tile: see keep_values()
  mutable bool keeps_ = false;  // whether kept_ has the values
  Index rows_, cols_, columns_, block_;
  Index tile_size_;  // the number of elements of the largest tile
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
