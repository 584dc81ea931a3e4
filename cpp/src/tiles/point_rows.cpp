#include "tiles/point_rows.hpp"

#include <array>

#include "base/parallel.hpp"
#include "isa/table.hpp"
#include "kernsel/tiles.hpp"

namespace kernsel {

namespace {

constexpr Index padding = LowerTiles<double>::padding;
constexpr Index rows_of_a_job = 64, columns_of_a_job = 72;
constexpr Index strip = 24;             // columns of a triangle that are computed together, also above its diagonal
constexpr Index rows_of_a_sum = 1024;   // of which strips of two matrices fit into the cache
constexpr Index block_of_factor = 128;  // the tiles of a square matrix on which others depend
constexpr Index rows_in_cache = 256;    // of a sum over rows, so that they are read once for all columns of a tile

double flops(Index a, Index b, Index c) { return static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c); }

}  // namespace

Status PointRows::resize(Index rows, Index width, bool tiled) {
  rows_ = rows;
  width_ = width;
  tiled_ = tiled;
  stride_ = tiled ? round_up(width, padding) : width;
  // A square matrix has a row for each column of the padding, too.
  const Index padded = tiled ? round_up(rows, padding) : rows;
  const auto count = static_cast<std::size_t>(std::max<Index>(padded * stride_, 1));
  const Status status = memory_.reserve(count * sizeof(double));
  if (status.ok()) std::fill_n(row(0), count, 0.0);
  return status;
}

double PointRows::dot(const double* a, const double* b) const {
  if (tiled_) return tile_kernels<double>().dot(stride_, a, b);
  double sum = 0.0;
  for (Index j = 0; j < width_; ++j) sum += a[j] * b[j];
  return sum;
}

void PointRows::add(Index count, const double* const* rows, const double* factors, double* out) const {
  if (tiled_) return tile_kernels<double>().combine(stride_, count, rows, factors, out);
  for (Index r = 0; r < count; ++r)
    for (Index j = 0; j < width_; ++j) out[j] += factors[r] * rows[r][j];
}

Status multiply(const PointRows& M, const PointRows& A, RowRange range, PointRows& out, Index first) {
  const Index width = A.width(), stride = A.stride();
  if (!A.tiled()) {
    for (Index i = 0; i < range.count; ++i) {
      const double* a = A.row(range.begin + i);
      double* to = out.row(first + i);
      for (Index r = 0; r < width; ++r) {
        to[r] = 0.0;
        for (Index c = 0; c < width; ++c) to[r] += M.row(c)[r] * a[c];
      }
    }
    return {};
  }
  const TileKernels<double>& kernels = tile_kernels<double>();
  const Index jobs = (range.count + rows_of_a_job - 1) / rows_of_a_job;
  return run_jobs(jobs, 0.1 * flops(range.count, width, width), [&](Jobs&, Index job) {
    const Index begin = job * rows_of_a_job, count = std::min(rows_of_a_job, range.count - begin);
    double* to = out.row(first + begin);
    kernels.fill(count * stride, 0.0, to);
    kernels.multiply_nn(stride, count, width, 1.0, M.row(0), M.stride(), A.row(range.begin + begin), stride, to, stride);
  });
}

Status multiply_triangular(const PointRows& M, Triangle triangle, const PointRows& A, RowRange range, PointRows& out,
                           Index first) {
  const TileKernels<double>& kernels = tile_kernels<double>();
  const Index stride = A.stride(), jobs = (range.count + rows_of_a_job - 1) / rows_of_a_job;
  return run_jobs(jobs, 0.05 * flops(range.count, stride, stride), [&](Jobs&, Index job) {
    const Index begin = job * rows_of_a_job, count = std::min(rows_of_a_job, range.count - begin);
    const double* from = A.row(range.begin + begin);
    double* to = out.row(first + begin);
    kernels.fill(count * stride, 0.0, to);
    for (Index r = 0; r < stride; r += strip) {
      const Index height = std::min(strip, stride - r);
      const Index c = triangle == Triangle::lower ? 0 : r, inner = triangle == Triangle::lower ? r + height : stride - r;
      kernels.multiply_nn(height, count, inner, 1.0, M.row(c) + r, M.stride(), from + c, stride, to + r, stride);
    }
  });
}

Status add_products(const PointRows& A, RowRange range, const PointRows& B, Index first, bool symmetric, PointRows& out) {
  const TileKernels<double>& kernels = tile_kernels<double>();
  const Index blocks = (out.stride() + columns_of_a_job - 1) / columns_of_a_job;
  const double cost = (symmetric ? 0.05 : 0.1) * flops(range.count, A.width(), B.width());
  return run_jobs(blocks * blocks, cost, [&](Jobs&, Index job) {
    const Index i = job % blocks * columns_of_a_job, j = job / blocks * columns_of_a_job;
    if (symmetric && i < j) return;
    const Index last_row = std::min(i + columns_of_a_job, out.stride()), last = std::min(j + columns_of_a_job, out.width());
    for (Index begin = 0; begin < range.count; begin += rows_of_a_sum) {
      const Index count = std::min(rows_of_a_sum, range.count - begin);
      for (Index c = j; c < last; c += strip)
        for (Index r = symmetric ? std::max(i, c) : i; r < last_row; r += strip)
          kernels.multiply_nt(std::min(strip, last_row - r), std::min(strip, last - c), count, 1.0,
                              A.row(range.begin + begin) + r, A.stride(), B.row(first + begin) + c, B.stride(), out.row(c) + r,
                              out.stride());
    }
  });
}

void mirror(PointRows& A) {
  for (Index begin = 0; begin < A.width(); begin += columns_of_a_job)  // block by block, since rows are far apart
    for (Index c = 0; c < A.width(); ++c)
      for (Index r = begin; r < std::min({begin + columns_of_a_job, c, A.width()}); ++r) A.row(c)[r] = A.row(r)[c];
}

Status add_weighted(const PointRows& A, RowRange range, const double* factors, Index outputs, PointRows& out) {
  if (!A.tiled()) {
    for (Index i = 0; i < range.count; ++i)
      for (Index l = 0; l < outputs; ++l)
        for (Index j = 0; j < A.width(); ++j) out.row(l)[j] += factors[i * outputs + l] * A.row(range.begin + i)[j];
    return {};
  }
  const Index blocks = (A.stride() + columns_of_a_job - 1) / columns_of_a_job;
  return run_jobs(blocks, flops(range.count, A.width(), outputs), [&](Jobs&, Index job) {
    const Index column = job * columns_of_a_job, columns = std::min(columns_of_a_job, A.stride() - column);
    std::array<const double*, rows_in_cache> pointers{};
    std::array<double, rows_in_cache> weights{};
    for (Index begin = 0; begin < range.count; begin += rows_in_cache) {
      const Index count = std::min(rows_in_cache, range.count - begin);
      for (Index l = 0; l < outputs; ++l) {
        for (Index i = 0; i < count; ++i) {
          pointers[static_cast<std::size_t>(i)] = A.row(range.begin + begin + i) + column;
          weights[static_cast<std::size_t>(i)] = factors[(begin + i) * outputs + l];
        }
        tile_kernels<double>().combine(columns, count, pointers.data(), weights.data(), out.row(l) + column);
      }
    }
  });
}

namespace {

// The padding of a square matrix: an identity matrix of its own.
void pad_square(PointRows& A) {
  for (Index j = A.width(); j < A.stride(); ++j) {
    std::fill_n(A.row(j), A.stride(), 0.0);
    A.row(j)[j] = 1.0;
    for (Index r = 0; r < A.width(); ++r) A.row(r)[j] = 0.0;
  }
}

// X <- X L^-T, or X <- X L^-1, for a square matrix X by columns: block by block, since tile kernels solve for a tile.
Status solve_rows(const PointRows& L, bool transposed, PointRows& X) {
  const TileKernels<double>& kernels = tile_kernels<double>();
  const Index padded = L.stride(), jobs = (padded + rows_of_a_job - 1) / rows_of_a_job;
  return run_jobs(jobs, 0.05 * flops(padded, padded, padded), [&](Jobs&, Index job) {
    const Index begin = job * rows_of_a_job, count = std::min(rows_of_a_job, padded - begin);
    const auto part = [&](Index c) { return X.row(c) + begin; };
    const Index last = (padded - 1) / block_of_factor * block_of_factor;
    for (Index step = 0; step <= last; step += block_of_factor) {
      const Index c = transposed ? step : last - step, width = std::min(block_of_factor, padded - c), after = c + width;
      if (transposed && c > 0)
        kernels.multiply_nt(count, width, c, -1.0, part(0), padded, L.row(0) + c, padded, part(c), padded);
      if (!transposed && after < padded)
        kernels.multiply_nn(count, width, padded - after, -1.0, part(after), padded, L.row(c) + after, padded, part(c), padded);
      const auto solve = transposed ? kernels.solve_transposed : kernels.solve;
      solve(count, width, L.row(c) + c, padded, part(c), padded);
    }
  });
}

}  // namespace

Status factorize(PointRows& A) {
  pad_square(A);
  const TileKernels<double>& kernels = tile_kernels<double>();
  const Index padded = A.stride();
  Status status;
  for (Index c = 0; c < padded && status.ok(); c += block_of_factor) {
    const Index width = std::min(block_of_factor, padded - c), after = c + width, rest = padded - after;
    if (kernels.factorize(width, A.row(c) + c, padded, &status.value) >= 0) {
      status.code = Code::not_positive_definite;
      return status;
    }
    const Index blocks = (rest + columns_of_a_job - 1) / columns_of_a_job;
    const auto begin_of = [&](Index block) { return after + block * columns_of_a_job; };
    const auto size_of = [&](Index block) { return std::min(columns_of_a_job, padded - begin_of(block)); };
    status = run_jobs(blocks, 0.05 * flops(rest, width, width), [&](Jobs&, Index i) {
      kernels.solve_transposed(size_of(i), width, A.row(c) + c, padded, A.row(c) + begin_of(i), padded);
    });
    if (!status.ok()) return status;
    status = run_jobs(blocks, 0.05 * flops(rest, rest, width), [&](Jobs&, Index j) {
      const double* right = A.row(c) + begin_of(j);
      kernels.multiply_nt(padded - begin_of(j), size_of(j), width, -1.0, right, padded, right, padded,
                          A.row(begin_of(j)) + begin_of(j), padded);
    });
  }
  return status;
}

Status invert_transposed(const PointRows& L, PointRows& root) {
  const Status status = root.resize(L.width(), L.width(), true);
  if (!status.ok()) return status;
  for (Index j = 0; j < L.stride(); ++j) root.row(j)[j] = 1.0;
  return solve_rows(L, true, root);
}

Status invert_product(const PointRows& L, const PointRows& root, PointRows& inverse) {
  Status status = inverse.resize(L.width(), L.width(), true);
  if (!status.ok()) return status;
  std::copy_n(root.row(0), root.stride() * root.stride(), inverse.row(0));
  status = solve_rows(L, false, inverse);
  for (Index c = 0; c < L.width(); ++c)
    for (Index r = 0; r < c; ++r) inverse.row(c)[r] = inverse.row(r)[c];
  return status;
}

}  // namespace kernsel
