// Eigenvectors of a symmetric matrix. Their matrix is stored in panels of rows, and one job applies all reflections and
// rotations to a panel: no order of operations depends on the number of threads.
#include <algorithm>
#include <numeric>

#include "base/parallel.hpp"
#include "kernsel/decomposition.hpp"
#include "paths/tridiagonal.hpp"

namespace kernsel {

namespace {

constexpr Index panel_height = 32, block_width = 32;

class Vectors {
 public:
  Status resize(Index n) {
    n_ = n;
    panels_ = (n + panel_height - 1) / panel_height;
    return memory_.reserve(static_cast<std::size_t>(panels_ * panel_height * n) * sizeof(double));
  }
  Index panels() const { return panels_; }
  double* panel(Index i) const { return static_cast<double*>(memory_.data()) + i * panel_height * n_; }

  // Computes the product Q of the reflections whose vectors are the columns of V, in blocks of b: H_1 ... H_b = I - V T V', T
  // upper triangular.
  Status multiply_reflections(const Padded& V, const std::vector<double>& tau) {
    const TileKernels<double>& kernels = tile_kernels<double>();
    const Index blocks = (n_ + block_width - 1) / block_width;
    Padded T;
    Status status = T.resize(block_width, blocks * block_width);
    if (!status.ok()) return status;
    for (Index j = 0; j < n_; ++j) {
      const Index first = j / block_width * block_width;
      const double t = tau[static_cast<std::size_t>(j)];
      double* const column = T.column(j);
      column[j - first] = t;
      for (Index i = first; i < j; ++i) {
        const double product = -t * dot_from(j + 1, V.stride(), V.column(i), V.column(j));
        for (Index k = first; k <= i; ++k) column[k - first] += T(k - first, i) * product;
      }
    }
    const double size = static_cast<double>(n_);
    return run_jobs(panels_, 0.1 * size * size * size, [&](Jobs& jobs, Index i) {
      double* const X = panel(i);
      std::fill_n(X, panel_height * n_, 0.0);
      for (Index r = 0; r < std::min(panel_height, n_ - i * panel_height); ++r)
        X[r + (i * panel_height + r) * panel_height] = 1.0;
      alignas(64) double product[panel_height * block_width], product_t[panel_height * block_width];
      for (Index first = 0; first < n_ && jobs.poll(); first += block_width) {
        const Index width = std::min(block_width, n_ - first), rest = n_ - first;
        double* const right = X + first * panel_height;
        std::fill_n(product, panel_height * width, 0.0);
        std::fill_n(product_t, panel_height * width, 0.0);
        kernels.multiply_nn(panel_height, width, rest, 1.0, right, panel_height, V.column(first) + first, V.stride(), product,
                            panel_height);
        kernels.multiply_nn(panel_height, width, width, 1.0, product, panel_height, T.column(first), T.stride(), product_t,
                            panel_height);
        kernels.multiply_nt(panel_height, rest, width, -1.0, product_t, panel_height, V.column(first) + first, V.stride(),
                            right, panel_height);
      }
    });
  }

  Status rotate(const Rotations& rotations) {
    const double cost = 0.3 * static_cast<double>(rotations.cosines.size()) * static_cast<double>(n_);
    return run_jobs(panels_, cost, [&](Jobs& jobs, Index i) {
      for (const Sweep& sweep : rotations.sweeps) {
        tile_kernels<double>().rotate(panel_height, sweep.count, rotations.cosines.data() + sweep.begin,
                                      rotations.sines.data() + sweep.begin, panel(i) + sweep.first * panel_height,
                                      panel_height);
        if (!jobs.poll()) return;
      }
    });
  }

 private:
  Memory memory_;
  Index n_ = 0, panels_ = 0;
};

}  // namespace

Status symmetric_eigen(View<const double> A, View<double> e, View<double> V) {
  return within_memory([&]() -> Status {
    const Index n = A.rows;
    if (A.cols != n || e.rows != n || V.rows != n || V.cols != n)
      return Status::invalid("symmetric_eigen: expected A (n, n), e (n) and V (n, n)");
    if (n == 0) return {};
    double largest = 0.0;
    for (Index j = 0; j < n; ++j) largest = std::max(largest, largest_of(A.block(j, j, n - j, 1)));
    if (!std::isfinite(largest)) return Status::invalid("symmetric_eigen: expected finite numbers");
    const double unit = power_of_two(largest);
    Padded work;
    Vectors vectors;
    Status status = work.resize(n, n);
    if (status.ok()) status = vectors.resize(n);
    if (!status.ok()) return status;
    for (Index j = 0; j < n; ++j)
      for (Index i = j; i < n; ++i) work(i, j) = work(j, i) = A(i, j) / unit;
    Tridiagonal T;
    status = tridiagonalize(work, T);
    if (status.ok()) status = vectors.multiply_reflections(work, T.tau);
    if (status.ok()) status = diagonalize(T, [&](const Rotations& rotations) { return vectors.rotate(rotations); });
    if (!status.ok()) return status;
    std::vector<Index> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), Index{0});
    const auto value = [&](Index i) { return T.diagonal[static_cast<std::size_t>(i)]; };
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return value(a) > value(b); });
    for (Index j = 0; j < n; ++j) {
      const Index from = order[static_cast<std::size_t>(j)];
      e(j, 0) = unit * value(from);
      for (Index i = 0; i < n; ++i) V(i, j) = vectors.panel(i / panel_height)[i % panel_height + from * panel_height];
    }
    return status;
  });
}

}  // namespace kernsel
