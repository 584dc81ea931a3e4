// Groups of few rows that are left out together, by the inverse of their own block of P. = N^-1 - N^-1 T T'N^-1:
//
//     S_I = P.II^-1      r_I = S_I c_I      v_i = S_ii + e_i      log N(r_I; 0, S_I + diag(e_I))
//
// With derivatives rho_I in r_I, and V_I in S_I + diag(e_I) as a matrix,
//
//     G_c,I = S rho      G_II = -sym(S rho r') - S V S
//
// where for derivatives nu in the variances V = diag(nu), and for one delta in the density, with A = (S + diag(e))^-1, V =
// delta / 2 (A r r'A - A) and rho = -delta A r. G_II takes the place of the diagonal matrix of derivatives in P.ii.
#pragma once

#include <vector>

#include "kernsel/fit.hpp"
#include "kernsel/nystrom.hpp"
#include "tiles/point_rows.hpp"

namespace kernsel {

struct SmallGroups {
  using Numbers = std::vector<double>;
  std::vector<Index> ends;       // behind the last row of each group; no row after the last end belongs to one
  Index outputs = 0, trend = 0;  // columns of y, and of the trend
  Numbers residual;              // (rows of groups, outputs), by rows
  Numbers variance;              // (rows of groups); empty unless requested
  Numbers density;               // (groups); empty unless requested
  Numbers missing;               // e_i, (rows of groups), if variances or densities are requested
  // The derivatives of a criterion in these; each may be empty.
  Numbers of_residual, of_variance, of_density;

  Index rows() const { return ends.empty() ? 0 : ends.back(); }
  bool sees_missing() const { return !of_variance.empty() || !of_density.empty(); }
};

// Sets what is left out of `rows`, those of all groups; ends, outputs and trend are set.
Status leave_out(const NystromBlocks::Content& content, const RowBlock& rows, bool variances, bool densities,
                 SmallGroups& groups);

// The derivatives of a criterion, those that do not come from groups included, for `count` rows from `begin` on.
struct GroupSlopes {
  std::vector<double> c;          // in c_i, (count, outputs), by rows
  std::vector<double> precision;  // G_ii
  std::vector<double> missing;    // in e_i
  PointRows v;                    // v_i = sum_j G_ij t_j / N_j
};

// `t` has the rows t_i, and `noise` their variances. Each group is among the rows as a whole, or not at all.
Status find_slopes(const SmallGroups& groups, const NystromPartials& partials, Index begin, Index count, const PointRows& t,
                   const double* noise, GroupSlopes& out);

}  // namespace kernsel
