// The functions of a trend: a mean h(x)'beta beside the process, beta estimated.
#pragma once

#include <vector>

#include "kernsel/kernel.hpp"

namespace kernsel {

class Basis {
 public:
  enum class Kind {
    none,
    constant,   // 1
    linear,     // also all columns
    quadratic,  // also all products of two columns
    functions,  // of the caller's
    fixed,      // a matrix of values at the training points, which says nothing of others
  };

  Basis(Kind kind = Kind::none) : kind_(kind) {}
  // That many functions of points; without derivatives these are central differences.
  static Basis functions(Index count, PointFunction f);
  // A matrix, (n, q); copied.
  static Basis fixed(View<const double> H);

  Kind kind() const { return kind_; }
  Index count(Index columns) const;  // of functions, for points of so many columns
  // out, (m, q), <- h at points; of a fixed basis at the training points, which `points` then are.
  Status write(View<const double> points, View<double> out) const;
  // out, (m, d q), <- dh/dx, the functions running fastest. `widths`: ranges of the columns, for steps of differences.
  Status write_gradient(View<const double> points, const std::vector<double>& widths, View<double> out) const;
  // A fixed basis with more rows, or without one.
  void append(View<const double> H);
  void remove(Index row);

 private:
  Kind kind_;
  Index count_ = 0;
  PointFunction f_;
  std::vector<double> values_;  // of a fixed basis, by rows
};

}  // namespace kernsel
