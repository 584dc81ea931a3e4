// The functions h of a trend, the mean h(x)'beta of a process with estimated coefficients beta.
#pragma once

#include <vector>

#include "kernsel/kernel.hpp"

namespace kernsel {

class Basis {
 public:
  enum class Kind {
    none,
    constant,   // the function 1
    linear,     // the function 1 and all columns
    quadratic,  // the function 1, all columns, and all products of two columns
    functions,  // functions of the caller
    fixed,      // a matrix of values at the training points, with which other points cannot be predicted
  };

  Basis(Kind kind = Kind::none) : kind_(kind) {}
  // `count` functions of points. Without derivatives, these are computed by central differences.
  static Basis functions(Index count, PointFunction f);
  // A matrix of values at the training points, (n, q), which is copied.
  static Basis fixed(View<const double> H);

  Kind kind() const { return kind_; }
  Index count(Index columns) const;  // the number of functions, for points with that many columns
  // out, (m, q), <- h at points. For a fixed basis, `points` must be the training points.
  Status write(View<const double> points, View<double> out) const;
  // out, (m, d q), <- dh/dx, with the index of the function varying fastest. `widths` are the ranges of the columns, from which
  // steps of differences are computed.
  Status write_gradient(View<const double> points, const std::vector<double>& widths, View<double> out) const;
  // Add rows to a fixed basis, or remove one.
  void append(View<const double> H);
  void remove(Index row);

 private:
  Kind kind_;
  Index count_ = 0;
  PointFunction f_;
  std::vector<double> values_;  // the matrix of a fixed basis, by rows
};

}  // namespace kernsel
