// The matrices of one group of points that are left out together.
#pragma once

#include "tiles/point_rows.hpp"

namespace kernsel {

// (size, size), by columns, of which the first `count` rows and columns are those of the group. The others are those of an
// identity matrix, or zero. They are in memory that the calling thread keeps.
class GroupMatrices {
 public:
  Status begin(Index count);
  // S <- P.II^-1, for P.II = N^-1 - N^-1 T T'N^-1 with the rows of t from `first` on.
  Status invert_precision(const PointRows& t, Index first, const double* noise);
  // A <- (S + diag(missing))^-1, and the logarithm of its determinant.
  Status invert_with(const double* missing, double& log_det);
  // out <- M x
  void multiply(const double* M, const double* x, double* out) const;

  Index size() const { return size_; }
  double* S() const { return S_; }
  double* A() const { return A_; }
  double* V() const { return V_; }
  double* factor() const { return factor_; }  // memory for a matrix, which the functions that invert overwrite

 private:
  // `inverse` <- that of the matrix in `factor_`, of which the lower triangle is given, and which becomes its Cholesky factor.
  Status invert(double* inverse);

  Index count_ = 0, size_ = 0;
  double *factor_ = nullptr, *S_ = nullptr, *A_ = nullptr, *V_ = nullptr, *columns_ = nullptr;
};

}  // namespace kernsel
