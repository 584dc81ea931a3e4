// What a posterior by Vecchia's approximation consists of.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "factors/vecchia/cell.hpp"
#include "factors/vecchia/inducing.hpp"
#include "factors/vecchia/nearest_rows.hpp"
#include "factors/vecchia/sets.hpp"
#include "kernsel/vecchia_posterior.hpp"

namespace kernsel {

// A copy of a matrix, by rows.
std::vector<double> by_rows(View<const double> from);

struct VecchiaPosterior::Content {
  using Numbers = std::vector<double>;

  explicit Content(Kernel given) : kernel(std::move(given)) {}

  Kernel kernel;
  VecchiaOptions options;
  Index predict_neighbours = 0;
  Index n = 0, d = 0, m = 0, q = 0;  // points, columns, outputs, functions of the trend
  Numbers X, y, noise;               // (n, d) and (n, m), by rows; (n)
  Basis basis;
  Inducing inducing;
  Index w = 0;  // the features of inducing points and the functions of the trend: the columns of D = [F H]
  Numbers D;    // (n, w), by rows

  // These are computed when they are first needed, by the function whose name begins with "require".
  mutable std::mutex making;
  mutable bool has_trend = false, has_rest = false, has_tree = false;
  mutable Numbers beta, R;  // (w, m), by rows; (w, w), by columns
  mutable Numbers rest;     // y - D beta, (n, m), by rows; not used if D has no columns
  mutable NearestRows tree;

  View<const double> points() const { return rows(X.data(), n, d); }
  View<const double> targets() const { return rows(y.data(), n, m); }
  View<const double> variances() const { return vector(noise.data(), n); }
  View<const double> functions() const { return {D.data() + inducing.count(), n, q, w, 1}; }
  Problem problem() const { return {points(), targets(), variances(), functions()}; }
  const double* rest_of(Index i) const { return (w > 0 ? rest.data() : y.data()) + i * m; }
  const double* columns_at(Index i) const { return D.data() + i * w; }
  // The points, and new ones Z with the columns of D at them, by rows.
  SetPoints set_points(View<const double> Z = {}, const double* columns_of_Z = nullptr) const {
    const Index features = inducing.count();
    return {points(), noise.data(), Z, features, rows(D.data(), n, w), rows(columns_of_Z, Z.rows, w)};
  }

  Status take(const Conditioning& given, VecchiaOptions options, Index predict_neighbours);
  // Computes L of the landmarks for the kernel, and all of D.
  Status make_columns();
  // Writes the columns of D at the rows of Z, by rows.
  Status write_columns(View<const double> Z, double* out) const;
  Status require_trend() const;
  Status require_tree() const;
  // Checks new points, and computes all that predictions need.
  Status prepare(View<const double> Z) const;

  // Sets of neighbours of new points, each with a new point as the last of its set, which has the number n + i.
  Status sets_of(View<const double> Z, Index neighbours, bool predecessors, Sets& out) const;
  // x <- R^-T x, and x <- R^-1 x, for w numbers.
  void solve_transposed(double* x) const;
  void solve(double* x) const;
  // The ranges of the columns, in proportion to which functions of the caller are differentiated.
  Numbers widths() const;

 private:
  Status choose();
  Status estimate_trend() const;
};

}  // namespace kernsel
