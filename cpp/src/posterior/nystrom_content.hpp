// What a posterior by Nystrom's approximation consists of.
#pragma once

#include <utility>
#include <vector>

#include "kernsel/nystrom_posterior.hpp"

namespace kernsel {

struct NystromPosterior::Content {
  using Numbers = std::vector<double>;
  static constexpr Index points_at_a_time = 8192;  // new points of which the functions of the trend are stored

  explicit Content(Kernel given) : kernel(std::move(given)) {}

  Kernel kernel;
  NystromOptions options;
  Basis basis;
  Index n = 0, d = 0, outputs = 0, q = 0;  // points, columns, outputs, functions of the trend
  bool has_rows = false;
  Numbers X, y, noise, H;  // (n, d), (n, outputs), (n) and (n, q), by rows; empty if the rows are not kept
  NystromSums sums;
  NystromBlocks blocks;
  Numbers beta;  // (q, outputs), by rows

  Index kept() const { return has_rows ? n : 0; }
  View<const double> points() const { return rows(X.data(), kept(), d); }
  View<const double> targets() const { return rows(y.data(), kept(), outputs); }
  View<const double> variances() const { return vector(noise.data(), kept()); }
  View<const double> functions() const { return rows(H.data(), kept(), q); }
  RowBlock block() const { return {points(), targets(), variances(), functions()}; }
  View<const double> landmarks() const;

  // Copies the rows, and writes the trend at them.
  Status take(const Conditioning& given);
  // Solves for sums, which become those of the posterior; if that fails, it is what it was.
  Status solve(NystromSums wanted);
  // Sums of all rows for landmarks U, (m, d), by rows, and what follows from them.
  Status fit(const Numbers& U);
  Status require_rows() const;
  // The noise of the rows, that of the kernel included.
  Status total_noise(Numbers& out) const;

  // The ranges of the landmarks in each column, in proportion to which functions of the caller are differentiated.
  Numbers widths() const;
  Status check(View<const double> Z) const;
  // Calls f(begin, Z, h) for new points, some at a time, with the functions h of the trend there.
  template <class F>
  Status in_chunks(View<const double> Z, Index size, const F& f) const {
    Status status = check(Z);
    Numbers h;
    for (Index begin = 0; begin < Z.rows && status.ok(); begin += size) {
      const View<const double> some = Z.block(begin, 0, std::min(size, Z.rows - begin), d);
      h.resize(static_cast<std::size_t>(some.rows * q));
      status = basis.write(some, rows(h.data(), some.rows, q));
      if (status.ok()) status = f(begin, some, rows<const double>(h.data(), some.rows, q));
    }
    return status;
  }
};

}  // namespace kernsel
