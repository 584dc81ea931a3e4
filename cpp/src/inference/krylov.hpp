// GMRES: the solution of a linear system whose matrix is near the identity, by products with it.
#pragma once

#include <cmath>
#include <vector>

#include "kernsel/status.hpp"

namespace kernsel {

// x <- A^-1 b, where multiply(v, Av) is the product; until the residual is `tolerance` times that of zero, or after as many
// products as there are numbers, at most `most`.
template <class Multiply>
Status solve_near_identity(const Multiply& multiply, const std::vector<double>& b, double tolerance, std::size_t most,
                           std::vector<double>& x) {
  const std::size_t n = b.size();
  const auto dot = [n](const std::vector<double>& a, const std::vector<double>& c) {
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) sum += a[i] * c[i];
    return sum;
  };
  x.assign(n, 0.0);
  const double size = std::sqrt(dot(b, b));
  if (!(size > 0.0)) return {};
  std::vector<std::vector<double>> basis{b}, R;  // the columns of R are those of the triangle in A Q_k = Q_k+1 H
  for (double& value : basis[0]) value /= size;
  std::vector<double> cosines, sines, right{size}, next(n);
  while (R.size() < std::min(most, n) && std::abs(right.back()) > tolerance * size) {
    const Status status = multiply(basis.back(), next);
    if (!status.ok()) return status;
    std::vector<double> column;
    for (int pass = 0; pass < 2; ++pass)
      for (std::size_t k = 0; k < basis.size(); ++k) {
        const double part = dot(basis[k], next);
        for (std::size_t i = 0; i < n; ++i) next[i] -= part * basis[k][i];
        if (pass == 0)
          column.push_back(part);
        else
          column[k] += part;
      }
    const double rest = std::sqrt(dot(next, next));
    for (std::size_t k = 0; k < cosines.size(); ++k) {
      const double upper = cosines[k] * column[k] + sines[k] * column[k + 1];
      column[k + 1] = cosines[k] * column[k + 1] - sines[k] * column[k];
      column[k] = upper;
    }
    const double length = std::hypot(column.back(), rest);
    if (!(length > 0.0)) break;  // A is singular: the best solution so far
    cosines.push_back(column.back() / length);
    sines.push_back(rest / length);
    column.back() = length;
    R.push_back(std::move(column));
    right.push_back(-sines.back() * right.back());
    right[right.size() - 2] *= cosines.back();
    if (!(rest > 0.0)) break;
    for (double& value : next) value /= rest;
    basis.push_back(next);
  }
  for (std::size_t k = R.size(); k-- > 0;) {
    double sum = right[k];
    for (std::size_t l = k + 1; l < R.size(); ++l) sum -= R[l][k] * right[l];
    right[k] = sum / R[k][k];
    for (std::size_t i = 0; i < n; ++i) x[i] += right[k] * basis[k][i];
  }
  return {};
}

}  // namespace kernsel
