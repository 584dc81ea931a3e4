// Groups of many rows that are left out together, by the equations of all other rows: in the basis D = [F H], with
// M_g = sum of d_i d_i' / N_i + [I 0; 0 0] and b_g = sum of d_i y_i / N_i over the rows i that are not in the group g,
//
//     alpha_g = M_g^-1 b_g      r_i = y_i - d_i'alpha_g      v_i = N_i + e_i + d_i'M_g^-1 d_i
//
// With derivatives rho_i in r_i and nu_i in v_i, the sums u_g = M_g^-1 sum rho_i d_i and V_g = M_g^-1 (sum nu_i d_i d_i')
// M_g^-1 over the rows of a group, and D_g = sym(u_g alpha_g') - V_g, the adjoint of d_j, of a row j of group f, is
//
//     sum over g other than f of (2 / N_j) D_g d_j - u_g y_j / N_j, and - rho_j alpha_f + 2 nu_j M_f^-1 d_j - 2 nu_j [f_j; 0]
//     dJ/dN_j = nu_j - sum over g other than f of (d_j'D_g d_j - u_g'd_j y_j) / N_j^2      dJ/dk_jj = nu_j
//
// and that of K_ZZ is L^-T (sum of D_g + sum of nu_i f_i f_i') L^-1. Without variances everything but M_g is of rank one for
// each group and output, and m operations for a row.
#pragma once

#include <vector>

#include "kernsel/nystrom.hpp"

namespace kernsel {

class LargeGroups {
 public:
  using Numbers = std::vector<double>;
  // Behind the last row of each group. The first group begins with row `first`; rows before it are in no large group.
  void begin(Index first, std::vector<Index> ends) {
    first_ = first;
    ends_ = std::move(ends);
  }
  bool empty() const { return ends_.empty(); }

  // The first pass over rows, those in no group included. Fails if there is no memory for as many `matrices` of each group.
  Status add(const NystromBlocks& blocks, const RowBlock& rows, Index matrices, NystromSums& total);

  // residual, (rows of groups, outputs), by rows, and variance, (rows of groups), if requested. These and pull() leave `blocks`
  // solved for some of the rows.
  Status leave_out(NystromBlocks& blocks, const RowBlock& rows, const NystromSums& total, bool variances, Numbers& residual,
                   Numbers& variance) const;

  // The derivatives of a criterion in what leave_out() has shown, which may be empty, lead to those in the hyperparameters and
  // landmarks, which are added, and of the rows, which are set.
  Status pull(NystromBlocks& blocks, const RowBlock& rows, const NystromSums& total, const Numbers& of_residual,
              const Numbers& of_variance, double* theta, const NystromRowGradient& of_rows, View<double> landmarks) const;

 private:
  friend class LargeGroupsPull;
  Index count() const { return static_cast<Index>(ends_.size()); }
  // The rows of a group; group -1 is the rows that are in none.
  Index begin_of(Index g) const { return g < 0 ? 0 : g == 0 ? first_ : end_of(g - 1); }
  Index end_of(Index g) const { return g < 0 ? first_ : ends_[static_cast<std::size_t>(g)]; }
  RowBlock rows_of(const RowBlock& rows, Index g) const;
  Status solve_without(Index g, NystromBlocks& blocks, const NystromSums& total) const;

  Index first_ = 0;
  std::vector<Index> ends_;
  std::vector<NystromSums> sums_;  // of each group
};

}  // namespace kernsel
