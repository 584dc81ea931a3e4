// Matrices of n rows and few columns, stored so that tiles can be multiplied by them.
#pragma once

#include <algorithm>
#include <vector>

#include "base/memory.hpp"
#include "kernsel/tiles.hpp"

namespace kernsel {

// A column-major matrix whose columns are padded with zeros to the rows of the tiles.
class Tall {
 public:
  Status resize(Index padded, Index columns) {
    padded_ = padded;
    columns_ = columns;
    const Status status = memory_.reserve(static_cast<std::size_t>(std::max<Index>(padded * columns, 1)) * sizeof(double));
    if (status.ok()) std::fill_n(data(), padded * columns, 0.0);
    return status;
  }
  double* data() { return static_cast<double*>(memory_.data()); }
  const double* data() const { return static_cast<const double*>(memory_.data()); }
  double* column(Index k) { return data() + k * padded_; }
  const double* column(Index k) const { return data() + k * padded_; }
  double& operator()(Index r, Index k) { return column(k)[r]; }
  double operator()(Index r, Index k) const { return column(k)[r]; }
  Index padded() const { return padded_; }
  Index columns() const { return columns_; }
  View<double> view(Index rows) { return {data(), rows, columns_, 1, padded_}; }

 private:
  Memory memory_;
  Index padded_ = 0, columns_ = 0;
};

// A matrix of n rows, stored as one column-major panel for each block row, so that a product of tiles reads contiguous memory.
class Panels {
 public:
  Status resize(const LowerTiles<double>& P, Index columns) {
    columns_ = columns;
    begins_.assign(1, 0);
    for (Index i = 0; i < P.blocks(); ++i) begins_.push_back(begins_.back() + P.padded_rows(i) * columns);
    const Status status = memory_.reserve(static_cast<std::size_t>(std::max<Index>(begins_.back(), 1)) * sizeof(double));
    if (status.ok()) std::fill_n(data(), begins_.back(), 0.0);
    return status;
  }
  double* panel(Index i) { return data() + begins_[static_cast<std::size_t>(i)]; }
  const double* panel(Index i) const {
    return static_cast<const double*>(memory_.data()) + begins_[static_cast<std::size_t>(i)];
  }
  Index columns() const { return columns_; }

 private:
  double* data() { return static_cast<double*>(memory_.data()); }
  Memory memory_;
  std::vector<Index> begins_;
  Index columns_ = 0;
};

// Returns the number of rows of P, with the padding of the last block row.
Index padded_size(const LowerTiles<double>& P);

// out <- P B for symmetric P in lower tiles, whose diagonal tiles have both triangles: 2 n^2 flops for each column of B.
Status multiply_symmetric(const LowerTiles<double>& P, const Tall& B, Tall& out);

}  // namespace kernsel
