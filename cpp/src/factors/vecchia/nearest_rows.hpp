// The nearest rows of a matrix to which rows are appended, in units of the length scales of a kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "factors/neighbours/features.hpp"
#include "kernsel/kernel.hpp"
#include "kernsel/neighbours.hpp"

namespace kernsel {

// Rows that are appended stay beside the tree, where a search compares all of them with each new point, until there are so many
// that a new tree is worthwhile.
class NearestRows {
 public:
  // Chooses the features, features_of(k, X), and puts all rows of X into a tree.
  Status build(const Kernel& k, View<const double> X);
  bool empty() const { return !built_; }
  Index rows() const { return rows_; }

  void append(View<const double> X);
  // Whether a new tree is worthwhile: more rows are beside the tree than in it, or more than 1000 and 5 % of all.
  bool outgrown() const;

  // For each row of Z the indices of its m nearest rows, nearest first, and -1 where there are fewer; equally near ones in the
  // order of their indices. With `predecessors`, row i of Z may also have the rows of Z before it as neighbours, of which row j
  // has the index rows() + j. Coordinates have to be finite.
  Status nearest(View<const double> Z, Index m, bool predecessors, std::vector<std::int32_t>& out) const;

  // The maximin order of new points, in the same units.
  Status spread(View<const double> Z, std::vector<Index>& order) const;

 private:
  Status add_rows_beside_tree(View<const double> Z, Index m, bool predecessors, std::int32_t* out) const;

  Neighbours tree_;
  bool built_ = false;
  std::vector<Feature> features_;
  std::vector<double> scaled_;    // the features of the rows
  Index rows_ = 0, columns_ = 0;  // of the scaled rows
};

}  // namespace kernsel
