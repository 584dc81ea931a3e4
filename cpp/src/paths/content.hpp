// What a path knows: the decomposition, which targets share, and the targets in its coordinates.
//
// Everything is over powers of two, which rounds nothing: K over k_unit and y over y_unit, so that fourth powers are numbers.
#pragma once

#include <memory>
#include <vector>

#include "kernsel/path.hpp"
#include "paths/padded.hpp"

namespace kernsel {

// V in panels of rows, each by columns without gaps.
class PanelMatrix {
 public:
  static constexpr Index height = 64;

  // Entries undefined.
  Status reserve(Index rows, Index cols) {
    rows_ = rows;
    cols_ = cols;
    return memory_.reserve(static_cast<std::size_t>(panels() * height * std::max<Index>(cols, 1)) * sizeof(double));
  }
  Status assign(View<const double> from) {
    const Status status = reserve(from.rows, from.cols);
    if (!status.ok()) return status;
    for (Index p = 0; p < panels(); ++p)
      for (Index j = 0; j < cols_; ++j)
        for (Index i = 0; i < height; ++i) {
          const Index row = p * height + i;
          panel(p)[i + j * height] = row < rows_ ? from(row, j) : 0.0;
        }
    return status;
  }
  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index panels() const { return (rows_ + height - 1) / height; }
  double* panel(Index p) const { return static_cast<double*>(memory_.data()) + p * height * cols_; }
  double operator()(Index i, Index j) const { return panel(i / height)[i % height + j * height]; }

 private:
  Memory memory_;
  Index rows_ = 0, cols_ = 0;
};

struct Spectrum {
  Index n = 0, q = 0;
  bool features = false;
  double k_unit = 1.0;
  double least = 0.0, greatest = 0.0;  // eigenvalues over the unit, before rounding is cut off
  std::vector<double> e;               // (r), over the unit, the largest first
  PanelMatrix V;                       // (n, r)
  Padded U;                            // (n, q), an orthonormal basis of the trend
  Padded inner, cross;                 // U'KU, (q, q), and U'KV, (q, r)
  std::vector<double> root;            // (n), of the weights
  std::vector<double> beyond;          // (n), the diagonal of I - VV' - UU'
  Index r() const { return static_cast<Index>(e.size()); }
  Index zeros() const { return n - q - r(); }  // how many eigenvalues of zero have no vectors in V
};

struct RegularizationPath::Content {
  std::shared_ptr<const Spectrum> spectrum;
  double y_unit = 1.0, noise = 0.0;
  double per_alpha = 1.0;  // what lambda is multiplied by to be in the unit of the eigenvalues
  Padded z, rest;          // V'y, (r, m), and (I - VV' - UU') y, (n, m)
  std::vector<double> energy;
  double energy_of_rest = 0.0;

  Index n() const { return spectrum->n; }
  Index m() const { return rest.cols(); }
  double largest() const { return spectrum->e.empty() || !(spectrum->e[0] > 0.0) ? 1.0 : spectrum->e[0]; }
  void measure();  // the energies, of z and rest

  // 1 / (e + lambda) in a column for each lambda; and c of one target, C[p] being panel p, (height, alphas), of V (z D) + rest
  // / lambda.
  Status inverses(const std::vector<double>& lambda, Padded& D) const;
  Status coefficients(Index target, const std::vector<double>& lambda, const Padded& D, PanelMatrix& C) const;
  std::vector<double> in_units(const std::vector<double>& alphas) const;
};

Status check_alphas(const std::vector<double>& alphas);

}  // namespace kernsel
