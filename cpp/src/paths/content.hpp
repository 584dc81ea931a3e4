// The content of a path: the decomposition (Spectrum), which paths of several targets share, and the targets in the coordinates
// of its eigenvectors.
//
// K is divided by k_unit and y by y_unit, powers of two, which does not round, so that fourth powers neither overflow nor
// vanish. If there are weights w, K and y are also multiplied by w^(1/2) from the left, and K from the right.
#pragma once

#include <memory>
#include <vector>

#include "kernsel/path.hpp"
#include "paths/padded.hpp"

namespace kernsel {

// A matrix in panels of `height` rows, each by columns without gaps; the last panel is padded with zeros.
class PanelMatrix {
 public:
  static constexpr Index height = 64;

  // Makes room; the entries are undefined.
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
  bool landmarks = false;  // V is not in memory: rows of it are computed from those of the data, see rotation
  double k_unit = 1.0;
  double least = 0.0, greatest = 0.0;  // over the unit, before eigenvalues within rounding of 0 become 0
  std::vector<double> e;               // (r), eigenvalues over the unit, the largest first
  PanelMatrix V;                       // (n, r), eigenvectors
  Padded U;                            // (n, q), an orthonormal basis of the trend
  Padded inner, cross;                 // U'KU, (q, q), and U'KV, (q, r)
  std::vector<double> root;            // (n), the square roots of the weights
  std::vector<double> beyond;          // (n), the diagonal of I - VV' - UU'
  // Sums over the rows, with weights w: sum w, sum log w, and the mean of 1 / w.
  double weights = 0.0, log_weights = 0.0, inverse_weights = 0.0;
  // For landmarks: row i of V is w_i^(1/2) rotation (k_i, h_i), (r, m + q), where k_i are the kernel's values with landmarks,
  // and row i of U is w_i^(1/2) trend_root h_i, (q, q). `missing` is sum w_i (k_ii - q_ii) over the unit, if it is to be seen.
  Padded rotation, trend_root;
  double missing = 0.0;
  Index r() const { return static_cast<Index>(e.size()); }
  Index zeros() const { return n - q - r(); }  // the number of eigenvalues of zero without vectors in V
};

struct RegularizationPath::Content {
  std::shared_ptr<const Spectrum> spectrum;
  double y_unit = 1.0, noise = 0.0;
  double per_alpha = 1.0;            // lambda times this is in the unit of the eigenvalues
  Padded z, rest;                    // V'y, (r, m), and (I - VV' - UU') y, (n, m)
  std::vector<double> rest_squares;  // (m), the sums of squares of the columns of `rest`
  std::vector<double> energy;        // (r), the sums of squares of the rows of z
  double energy_of_rest = 0.0;

  // For landmarks: the coefficients of y in the trend alone, (q, m), and the columns of y that the path is of.
  Padded trend_of_y;
  std::vector<Index> columns;

  Index n() const { return spectrum->n; }
  Index m() const { return z.cols(); }
  double largest() const { return spectrum->e.empty() || !(spectrum->e[0] > 0.0) ? 1.0 : spectrum->e[0]; }
  void measure();          // computes the energies of z and of `rest`
  void measure_squares();  // computes rest_squares from `rest`

  // inverses() computes D, (r, count): 1 / (e + lambda), one column for each lambda. coefficients() computes those of one
  // target, C, (n, count): V (z D) + rest / lambda.
  Status inverses(const std::vector<double>& lambda, Padded& D) const;
  Status coefficients(Index target, const std::vector<double>& lambda, const Padded& D, PanelMatrix& C) const;
  std::vector<double> in_units(const std::vector<double>& alphas) const;
};

Status check_alphas(const std::vector<double>& alphas);

// A path by landmarks as numbers, of which the first tells that it is one, and its reconstruction from them.
constexpr double state_of_landmarks = -1.0;
std::vector<double> landmark_state(const RegularizationPath::Content& content);
Status content_of_landmark_state(View<const double> state, std::shared_ptr<const RegularizationPath::Content>& out);

}  // namespace kernsel
