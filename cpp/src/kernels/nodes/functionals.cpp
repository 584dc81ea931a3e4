// The covariance of values, partial derivatives and averages over boxes of a process. It is computed for one pair of
// functionals after the other: kernels/functionals/ has the formulas.
#include "kernsel/functionals.hpp"

#include "kernels/functionals/tree.hpp"
#include "kernels/nodes/node.hpp"

namespace kernsel {

namespace {

class Functionals {
 public:
  // Reads rows of 2 d + 1 numbers.
  template <class T>
  Status assign(View<const T> rows, const std::vector<Index>& columns) {
    width_ = static_cast<Index>(columns.size());
    const Index d = dimension();
    numbers_.reserve(static_cast<std::size_t>(rows.rows * width_));
    boxed_.assign(static_cast<std::size_t>(rows.rows), 0);
    for (Index r = 0; r < rows.rows; ++r) {
      for (const Index column : columns) numbers_.push_back(static_cast<double>(rows(r, column)));
      const double* row = &numbers_[static_cast<std::size_t>(r * width_)];
      if (!(row[2 * d] >= 0.0 && row[2 * d] <= static_cast<double>(d)) || row[2 * d] != std::floor(row[2 * d]))
        return Status::invalid("functionals: the last number of a row must be 0, or that of a column, from 1 on");
      for (Index k = 0; k < d; ++k) {
        if (row[k] > row[d + k]) return Status::invalid("functionals: a lower end of a box is above the upper one");
        if (row[k] < row[d + k]) boxed_[static_cast<std::size_t>(r)] = 1;
      }
    }
    return {};
  }
  Index dimension() const { return (width_ - 1) / 2; }
  Index count() const { return static_cast<Index>(boxed_.size()); }
  Functional operator[](Index r) const {
    const double* row = &numbers_[static_cast<std::size_t>(r * width_)];
    const Index d = dimension();
    return {row, row + d, static_cast<Index>(row[2 * d]) - 1, boxed_[static_cast<std::size_t>(r)] != 0};
  }
  // Marks the columns in which some functional has an extent, and those along which there are derivatives.
  void mark(std::vector<char>& boxed, std::vector<char>& along) const {
    for (Index r = 0; r < count(); ++r) {
      const Functional of = (*this)[r];
      if (of.along >= 0) along[static_cast<std::size_t>(of.along)] = 1;
      for (Index k = 0; of.boxed && k < dimension(); ++k)
        if (of.lower[k] < of.upper[k]) boxed[static_cast<std::size_t>(k)] = 1;
    }
  }

 private:
  Index width_ = 1;
  std::vector<double> numbers_;
  std::vector<char> boxed_;
};

template <class T>
class FunctionalsStep final : public LeafStep<T> {
 public:
  FunctionalsStep(const Kernel& kernel, const Geometry<T>& points, Status& status) : same_(points.same) {
    status = X_.assign(points.X, points.columns);
    if (status.ok() && !same_) status = Z_.assign(points.Z, points.columns);
    if (!status.ok()) return;
    const char* problem = tree_.make(kernel, X_.dimension());
    std::vector<char> boxed(static_cast<std::size_t>(X_.dimension()), 0), along = boxed;
    X_.mark(boxed, along);
    if (!same_) Z_.mark(boxed, along);
    if (!problem) problem = tree_.problem(boxed, along);
    if (problem) status = Status::invalid(problem);
  }

  Status forward(const Place& at, const T* const*, T* out) const override {
    std::vector<Jet> room(tree_.room());
    std::fill_n(out, at.count(), T(0));
    each(at, [&](Index r, Index c, const Functional& x, const Functional& z) {
      T& value = out[r + c * at.height];
      if (at.on_diagonal() && r < c)
        value = out[c + r * at.height];
      else
        value = static_cast<T>(tree_.value(x, z, room.data()));
    });
    return {};
  }
  Status pull_parameters(const Place& at, const T* const*, const T*, const T* W, double* gradient) const override {
    std::vector<Jet> room(tree_.room());
    each(at, [&](Index r, Index c, const Functional& x, const Functional& z) {
      if (at.on_diagonal() && r < c) return;
      double weight = static_cast<double>(W[r + c * at.height]);
      if (at.on_diagonal() && r > c) weight += static_cast<double>(W[c + r * at.height]);
      if (weight != 0.0) tree_.pull(x, z, weight, room.data(), {gradient, 1});
    });
    return {};
  }
  bool has_rows() const override { return true; }
  Status pull_rows(const Place& at, const T* const*, const T*, const T* W, double* rows) const override {
    std::vector<Jet> room(tree_.room());
    each(at, [&](Index r, Index c, const Functional& x, const Functional& z) {
      tree_.pull(x, z, static_cast<double>(W[r + c * at.height]), room.data(), {rows + r, at.height});
    });
    return {};
  }
  Status pull_points(const Place&, const T* const*, const T*, const T*, T*, T*) const override {
    return Status::invalid("functionals: no derivatives with respect to rows; predict functionals that are derivatives");
  }

 private:
  // Calls f(row, column, functional, functional) for all pairs that are not padding, on a diagonal for each with itself.
  template <class F>
  void each(const Place& at, const F& f) const {
    const Functionals& of_z = same_ ? X_ : Z_;
    const Functionals& of_x = at.part == Part::diagonal_of_z ? of_z : X_;
    const Index rows = std::min(at.height, of_x.count() - at.row);
    const Index cols = at.tile() ? std::min(at.width, of_z.count() - at.col) : 1;
    for (Index c = 0; c < cols; ++c)
      for (Index r = 0; r < rows; ++r) {
        const Functional x = of_x[at.row + r];
        f(r, c, x, at.tile() ? of_z[at.col + c] : x);
      }
  }

  bool same_;
  Functionals X_, Z_;
  FunctionalTree tree_;
};

// A leaf of the program, since the values of the kernel inside are not those of any tile.
class FunctionalsNode final : public NodeBase<FunctionalsNode> {
 public:
  explicit FunctionalsNode(Kernel inner) : inner_(std::move(inner)) {}
  Status check(Index columns) const override {
    if (columns < 3 || columns % 2 == 0)
      return Status::invalid("functionals: rows must have 2 d + 1 numbers: the ends of a box and a column");
    const Index d = (columns - 1) / 2;
    const Status status = inner_.check(d);
    FunctionalTree tree;
    const char* problem = status.ok() ? tree.make(inner_, d) : nullptr;
    return problem ? Status::invalid(problem) : status;
  }
  std::vector<double> theta() const override { return inner_.theta(); }
  std::vector<Rule> rules() const override { return inner_.rules(); }
  bool set_theta(const double* values) override {
    bool changed = false;
    inner_ = inner_.with_theta({values, values + inner_.parameters()}, &changed);
    return changed;
  }
  Expression expression() const override { return {"functionals", {}, {}, {inner_.node().get()}}; }
  bool may_overflow() const override { return true; }
  template <class T>
  std::unique_ptr<Step<T>> make(const Geometry<T>& points, Status& status) const {
    return std::make_unique<FunctionalsStep<T>>(inner_, points, status);
  }

 private:
  Kernel inner_;
};

}  // namespace

Kernel functionals(const Kernel& k) { return Kernel(std::make_shared<FunctionalsNode>(k)); }

}  // namespace kernsel
