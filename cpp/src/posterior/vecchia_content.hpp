// What a posterior by Vecchia's approximation consists of.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

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
  Numbers H;  // (n, q), by rows

  // These are computed when they are first needed, by the function whose name begins with "require".
  mutable std::mutex making;
  mutable bool has_trend = false, has_rest = false, has_tree = false;
  mutable Numbers beta, R;  // (q, m), by rows; (q, q), by columns
  mutable Numbers rest;     // y - H beta, (n, m), by rows; not used if there is no trend
  mutable NearestRows tree;

  View<const double> points() const { return rows(X.data(), n, d); }
  View<const double> targets() const { return rows(y.data(), n, m); }
  View<const double> variances() const { return vector(noise.data(), n); }
  View<const double> functions() const { return rows(H.data(), n, q); }
  Problem problem() const { return {points(), targets(), variances(), functions()}; }
  const double* rest_of(Index i) const { return (q > 0 ? rest.data() : y.data()) + i * m; }
  const double* functions_at(Index i) const { return H.data() + i * q; }

  Status take(const Conditioning& given, VecchiaOptions options, Index predict_neighbours);
  Status require_trend() const;
  Status require_tree() const;
  // Checks new points, and computes all that predictions need.
  Status prepare(View<const double> Z) const;

  // Sets of neighbours of new points, each with a new point as the last of its set, which has the number n + i.
  Status sets_of(View<const double> Z, Index neighbours, bool predecessors, Sets& out) const;
  // x <- R^-T x, and x <- R^-1 x, for q numbers.
  void solve_transposed(double* x) const;
  void solve(double* x) const;
  // The ranges of the columns, in proportion to which functions of the caller are differentiated.
  Numbers widths() const;

 private:
  Status estimate_trend() const;
};

}  // namespace kernsel
