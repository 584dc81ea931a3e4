// Nystrom's approximation: the function is known by its values at landmarks, for any number of points with much noise.
//
//     std::unique_ptr<NystromFactor> factor = nystrom_factor({});
//     Evaluation out;
//     Status status = evaluate(k, problem, criteria::likelihood(), Order::gradient, *factor, out);
//
// With m landmarks Z and K_ZZ = k(Z, Z) (1 + 1e-10 on the diagonal) = L L', the kernel matrix is replaced by
//
//     Q = F F',   F = k(X, Z) L^-T,   K~ = Q + N
//
// so that all that n points say is a sum over them: with the functions of the trend as further columns, D = [F H],
//
//     D'N^-1 D + [I 0; 0 0] = R R',   t_i = R^-1 d_i,   P.ii = (1 - t_i't_i / N_i) / N_i,   log det K~ = log det F + sum log
//     N_i
//
// where det F is that of the first m rows and columns. Nothing of the size n x m is stored: points are processed in blocks, two
// to four times. For a fit that takes 2 n m^2 flops, with derivatives of likelihoods 4 n m^2, with those of losses of residuals
// of points that are left out 7 n m^2, and of densities 12 n m^2. The memory is some m x m matrices.
//
// Groups of points are left out together, of any sizes: up to m + q points by their own block of P., which takes about as long
// as to leave points out alone, and larger ones by the sums over all others. These are kept, (m + q)^2 numbers for each, and
// twice as many for derivatives of variances; without variances derivatives take no more flops than the fit. Joint densities
// need the covariances within each group, of any size.
//
// What landmarks do not see of a function, e_i = k(x_i, x_i) - q_ii, is missing in Q. Variances of points that are left out
// have it added. Likelihoods become a lower bound of the exact one by subtracting sum_i e_i / N_i / 2 for each output
// (`NystromOptions::bound`), without which they reward landmarks that are too few. Where e_i is much larger than the noise,
// there are too few landmarks, and no criterion can be trusted (NystromFit::missing).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "kernsel/factor.hpp"

namespace kernsel {

enum class Placement {
  pivoted,  // by a randomly pivoted Cholesky factorization: spread over the points, dense where the function varies fast
  means,    // centres of clusters (k-means)
  random    // some of the points
};

struct NystromOptions {
  static constexpr Index most_landmarks = 10000;
  Index landmarks = 1000;  // fewer are used if there are fewer points, or if fewer determine all others
  Placement placement = Placement::pivoted;
  std::uint64_t seed = 0;
  std::vector<double> given = {};  // the coordinates of landmarks, (any number, d), by rows; if empty, they are chosen
  bool bound = true;
};

class NystromFactor : public Factor {
 public:
  // The landmarks in use, by rows. They are chosen when points are first seen, and remain as long as the points do.
  virtual const std::vector<double>& landmarks() const = 0;
  virtual const NystromOptions& options() const = 0;
  virtual void set_options(NystromOptions options) = 0;  // also forgets the landmarks
};

std::unique_ptr<NystromFactor> nystrom_factor(NystromOptions options);

// Chooses landmarks among the points, for the kernel's values; coordinates by rows. Of more than 20 times as many points (and
// of more than 20,000) a random part is seen.
Status choose_landmarks(const Kernel& k, View<const double> X, const NystromOptions& options, std::vector<double>& landmarks);

// The same, for points that are not in memory at the same time or not on the same machine: blocks of rows in, sums out. Sums
// of blocks are added, in any grouping of the caller, and nothing else is shared by them. A criterion takes up to four passes:
//
//     NystromBlocks blocks;
//     blocks.begin(k, Z, q);
//     for each block: blocks.add(rows, sums);                              1. a fit: sums for all blocks
//     blocks.solve(sums);
//     for each block: blocks.show(rows, c, precision, missing);            2. c_i, P.ii and e_i, for criteria that need them
//     blocks.set_totals(totals);
//     for each block: blocks.add_partials(rows, partials, more);           3. sums for a gradient, if there are partials
//     blocks.solve_partials(more);
//     for each block: blocks.pull(rows, partials, theta, noise, ...);      4. the gradient, summed over blocks
//     blocks.pull_landmarks(theta, ...);                                      and what does not depend on rows, once
//
// For sums of losses of residuals show_losses() is the second pass and the third.
struct RowBlock {
  View<const double> X;             // (n, d)
  View<const double> y;             // (n, outputs)
  View<const double> noise;         // variances, (n), or one number, without those of the kernel
  View<const double> trend = {};    // H, (n, q), or none
  View<const double> weights = {};  // of the rows in a criterion, (n), or none; the noise is that of each row as it is
};

// The sums of the first pass. They are those of no rows at first, and have w = m + q columns.
struct NystromSums {
  Index rows = 0;
  std::vector<double> moments;   // D'N^-1 D, (w, w)
  std::vector<double> products;  // D'N^-1 y, (w, outputs), by columns
  std::vector<double> squares;   // y'N^-1 y of each output
  std::vector<double> trend;     // H'H, (q, q)
  double log_noise = 0.0;        // sum log N_i
  double missing = 0.0;          // sum e_i / N_i
  void add(const NystromSums& other);
  void subtract(const NystromSums& other);  // sums of some of the rows
};

// The derivatives of a criterion in what the second pass shows, for the rows of a block, (n, outputs), (n), (n), and in N_i
// where it occurs in the formula of the criterion, (n). Each may be empty, for zeros.
struct NystromPartials {
  View<const double> c, precision, missing, noise;
};

// Where the derivatives of a criterion for the rows of a block are written: in their noise, (n), in their targets, (n,
// outputs), and in their points, (n, d). Each may be empty.
struct NystromRowGradient {
  View<double> noise, targets = {}, points = {};
};

// The sums of the third pass.
struct NystromPartialSums {
  std::vector<double> products;  // sum t_i G_c,i / N_i, (w, outputs), by columns
  std::vector<double> moments;   // sum g_i / N_i^2 t_i t_i', (w, w); empty for zeros, as the next one
  std::vector<double> missing;   // sum of dJ/de_i f_i f_i', (m, m)
  // What each g_i adds to the derivatives in the hyperparameters beside the sums; empty if pull() adds it.
  std::vector<double> theta;
  void add(const NystromPartialSums& other);
  void multiply(double factor);
};

// The derivatives in sums, of which the first pass knows the values; see Partials.
struct NystromTotals {
  std::vector<double> squares;  // in y'c of each output
  double log_det = 0.0, log_det_trend = 0.0;
  double missing = 0.0;  // in sum e_i / N_i
};

class NystromBlocks {
 public:
  NystromBlocks();
  ~NystromBlocks();
  NystromBlocks(NystromBlocks&&) noexcept;
  NystromBlocks& operator=(NystromBlocks&&) noexcept;

  // For a kernel and landmarks Z, (m, d), which are copied, and a trend of q functions: factorizes K_ZZ.
  Status begin(const Kernel& k, View<const double> Z, Index trend);
  Status add(const RowBlock& rows, NystromSums& sums) const;
  // out, (n, m), by rows, <- F at the rows of X.
  Status features(View<const double> X, View<double> out) const;

  // Other targets for the rows that solve() has seen: their products and squares, and what replaces those of solve().
  Status add_targets(const RowBlock& rows, NystromSums& sums) const;
  Status solve_targets(const NystromSums& sums);

  // Ends the first pass. Fails if the columns of the trend are linearly dependent.
  Status solve(const NystromSums& sums);
  double log_det() const;
  double log_det_trend() const;
  const std::vector<double>& squares() const;      // y'c of each output
  std::vector<double> trend_coefficients() const;  // (q, outputs), by columns
  Status show(const RowBlock& rows, View<double> c, View<double> precision, View<double> missing) const;
  // The second pass and the third at once, for a criterion that is a sum of losses of residuals (Request::slopes): shows c and
  // P.ii, and adds sums for derivatives in residuals that are slope times weight over `unit`. Rows are then pulled with
  // NystromPartials::precision empty, and g_i (1 - 2 N_i P.ii) / N_i^2 among the derivatives in N_i.
  Status show_losses(const RowBlock& rows, const Request& request, double unit, View<double> c, View<double> precision,
                     NystromPartialSums& sums) const;

  void set_totals(NystromTotals totals);
  Status add_partials(const RowBlock& rows, const NystromPartials& partials, NystromPartialSums& sums) const;
  Status solve_partials(const NystromPartialSums& sums);
  // theta += the derivatives in the hyperparameters; those of the rows are set; landmarks, (m, d), which may be empty, += those
  // in Z.
  Status pull(const RowBlock& rows, const NystromPartials& partials, double* theta, const NystromRowGradient& of_rows,
              View<double> landmarks) const;
  Status pull_landmarks(double* theta, View<double> landmarks) const;

  // Predictions at new points, with the functions of the trend there: the mean, (n, outputs), and the variance of the function.
  Status predict(View<const double> X, View<const double> trend, View<double> mean, View<double> variance) const;

  struct Content;
  const Content& content() const { return *content_; }

 private:
  std::unique_ptr<Content> content_;
};

}  // namespace kernsel
