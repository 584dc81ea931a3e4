// Simple kernels between functionals of two points: values, partial derivatives and averages, and the way back to
// hyperparameters.
#pragma once

#include <memory>
#include <vector>

#include "kernels/functionals/jet.hpp"
#include "kernels/program.hpp"

namespace kernsel {

// A functional of a function of d columns, see kernsel/functionals.hpp.
struct Functional {
  const double *lower, *upper;  // the ends of the box
  Index along;                  // the column of the partial derivative, or -1
  bool boxed;                   // whether some ends differ
};

// A destination of derivatives in hyperparameters, that of number p at a distance of p * stride.
struct Sums {
  double* to;
  Index stride;
  void add(Index p, double value) const { to[p * stride] += value; }
};

class Leaf {
 public:
  explicit Leaf(std::vector<Index> columns) : columns_(std::move(columns)) {}
  virtual ~Leaf() = default;
  // The covariance of the two functionals without their derivatives, and with either or both. `room` has a place for one
  // jet for each column.
  virtual Jet value(const Functional& x, const Functional& z, Jet* room) const = 0;
  // Adds the derivatives in the hyperparameters for weights W.
  virtual void pull(const Functional& x, const Functional& z, const Jet& W, Jet* room, const Sums& to) const = 0;
  virtual bool differentiable() const { return true; }  // in x and in z, at x = z too
  virtual bool integrable() const { return false; }     // over boxes

  const std::vector<Index>& columns() const { return columns_; }

 protected:
  std::size_t count() const { return columns_.size(); }
  // The place of a functional's derivative among the columns of the leaf; that of a column which it does not see is count().
  std::size_t place_of(Index along) const {
    std::size_t k = 0;
    while (k < count() && columns_[k] != along) ++k;
    return k;
  }

 private:
  std::vector<Index> columns_;
};

// Returns the leaf of a node as it is written, or nullptr if there is none; `learned` tells whether the number before the
// length scales is a hyperparameter.
std::unique_ptr<Leaf> make_leaf(const Expression& written, bool learned, std::vector<Index> columns);

}  // namespace kernsel
