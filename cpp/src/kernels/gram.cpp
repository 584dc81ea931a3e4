#include "kernsel/gram.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "isa/table.hpp"
#include "kernels/program.hpp"
#include "kernels/programs.hpp"
#include "kernsel/runtime.hpp"
#include "tiles/triangle.hpp"

namespace kernsel {

namespace {

constexpr double larger_than_caches = 64e6;  // bytes

template <class T>
bool has_shape(const View<T>& view, Index rows, Index cols) {
  return view.rows == rows && view.cols == cols;
}

template <class A, class B>
double elements(const View<A>& X, const View<B>& Z) {
  return static_cast<double>(X.rows) * static_cast<double>(Z.rows);
}

}  // namespace

template <class T>
Status gram(const Kernel& k, View<const T> X, View<T> out) {
  if (!has_shape(out, X.rows, X.rows)) return Status::invalid("gram: the output must be n x n");
  const Program<T> program(k, X, X, true, Program<T>::preferred_block);
  if (!program.status().ok() || X.rows == 0) return program.status();
  const TileKernels<T>& kernels = tile_kernels<T>();
  const Index blocks = program.row_blocks(), block = program.block();
  const bool large = elements(X, X) * sizeof(T) > larger_than_caches;
  const View<T> by_columns = out.col_stride == 1 ? out.transposed() : out;  // the same, since the matrix is symmetric
  const Status status = run_jobs(blocks * (blocks + 1) / 2, elements(X, X) * program.cost() / 2.0, [&](Jobs& jobs, Index job) {
    const auto [i, j] = lower_by_rows(job);
    const Place at = program.tile(i, j);
    const T* tile = nullptr;
    const Status done = program.forward(at, tile);
    if (!done.ok()) return jobs.stop(done);
    const Index rows = std::min(block, X.rows - at.row), cols = std::min(block, X.rows - at.col);
    write_tile(kernels, tile, at.height, by_columns.block(at.row, at.col, rows, cols), large);
    if (i == j) return;
    // The tile is transposed while it is in the cache, so that the output is written in long contiguous pieces.
    T* mirrored = scratch<T>(Scratch::panel, at.count());
    if (!mirrored) return jobs.stop(no_memory());
    kernels.transpose(at.height, at.width, tile, at.height, mirrored, at.width);
    write_tile(kernels, mirrored, at.width, by_columns.block(at.col, at.row, cols, rows), large);
  });
  return program.finish(status);
}

template <class T>
Status cross_gram(const Kernel& k, View<const T> X, View<const T> Z, View<T> out) {
  if (!has_shape(out, X.rows, Z.rows)) return Status::invalid("cross_gram: the output must be n x m");
  const Program<T> program(k, X, Z, false, Program<T>::preferred_block);
  if (!program.status().ok() || X.rows == 0 || Z.rows == 0) return program.status();
  const TileKernels<T>& kernels = tile_kernels<T>();
  const Index across = program.col_blocks(), block = program.block();
  const Status status = run_jobs(program.row_blocks() * across, elements(X, Z) * program.cost(), [&](Jobs& jobs, Index job) {
    const Place at = program.tile(job / across, job % across);
    const T* tile = nullptr;
    const Status done = program.forward(at, tile);
    if (!done.ok()) return jobs.stop(done);
    const Index rows = std::min(block, X.rows - at.row), cols = std::min(block, Z.rows - at.col);
    write_tile(kernels, tile, at.height, out.block(at.row, at.col, rows, cols));
  });
  return program.finish(status);
}

template <class T>
Status gram_diagonal(const Kernel& k, View<const T> X, View<T> out) {
  if (!has_shape(out, X.rows, 1)) return Status::invalid("gram_diagonal: the output must have one entry for each point");
  const Program<T> program(k, X, X, true, Program<T>::preferred_block);
  if (!program.status().ok()) return program.status();
  const Status status = run_jobs(program.row_blocks(), static_cast<double>(X.rows) * program.cost(), [&](Jobs& jobs, Index i) {
    const T* values = nullptr;
    const Status done = program.forward(program.diagonal(i), values);
    if (!done.ok()) return jobs.stop(done);
    const Index first = i * program.block(), count = std::min(program.block(), X.rows - first);
    for (Index r = 0; r < count; ++r) out(first + r, 0) = values[r];
  });
  return program.finish(status);
}

Status pullback_diagonal(const Kernel& k, View<const double> X, View<const double> weights, double* gradient,
                         View<double> points) {
  if (!has_shape(weights, X.rows, 1)) return Status::invalid("pullback_diagonal: give one weight for each point");
  const bool of_points = points.data != nullptr;
  const Program<double> program(k, X, X, true, Program<double>::preferred_block, of_points);
  if (!program.status().ok()) return program.status();
  const Index blocks = program.row_blocks(), p = program.parameters();
  return within_memory([&] {
    std::vector<double> of_blocks(static_cast<std::size_t>(blocks * p), 0.0);
    const Status done = run_jobs(blocks, 2.0 * static_cast<double>(X.rows) * program.cost(), [&](Jobs& jobs, Index i) {
      const Place at = program.diagonal(i);
      const Index first = i * program.block(), count = std::min(program.block(), X.rows - first);
      double* W = scratch<double>(Scratch::panel, at.height * (1 + X.cols));
      if (!W) return jobs.stop(no_memory());
      double* in_rows = W + at.height;
      std::fill_n(W, at.height * (1 + X.cols), 0.0);
      for (Index r = 0; r < count; ++r) W[r] = weights(first + r, 0);
      const Status status = program.pullback(at, W, of_blocks.data() + i * p, of_points ? in_rows : nullptr);
      if (!status.ok()) return jobs.stop(status);
      for (Index r = 0; r < count && of_points; ++r)
        for (Index c = 0; c < X.cols; ++c) points(first + r, c) += in_rows[r + c * at.height];
    });
    for (Index i = 0; i < blocks; ++i)
      for (Index j = 0; j < p; ++j) gradient[j] += of_blocks[static_cast<std::size_t>(i * p + j)];
    return program.finish(done);
  });
}

namespace {

// Calls f(program, diagonal tile, sign) for all diagonal tiles: with sign 1 where X is compared with itself, and with sign -1
// where it is compared with another set of equal points. The sum of both is the noise.
template <class F>
Status for_noise(const Kernel& k, View<const double> X, bool of_points, const F& f) {
  for (const bool same : {true, false}) {
    const Program<double> program(k, X, X, same, Program<double>::preferred_block, of_points);
    Status status = program.status();
    for (Index i = 0; i < program.row_blocks() && status.ok(); ++i) status = f(program, program.tile(i, i), same ? 1.0 : -1.0);
    status = program.finish(status);
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace

Status gram_noise(const Kernel& k, View<const double> X, View<double> out) {
  if (!has_shape(out, X.rows, 1)) return Status::invalid("gram_noise: the output must have one entry for each point");
  for (Index r = 0; r < X.rows; ++r) out(r, 0) = 0.0;
  if (!k.has_noise()) return {};
  return for_noise(k, X, false, [&](const Program<double>& program, const Place& at, double sign) {
    const double* values = nullptr;
    const Status status = program.forward(at, values);
    for (Index r = at.row; status.ok() && r < std::min(at.row + at.height, X.rows); ++r)
      out(r, 0) += sign * values[(r - at.row) * (at.height + 1)];
    return status;
  });
}

Status pullback_noise(const Kernel& k, View<const double> X, View<const double> weights, double* gradient,
                      View<double> points) {
  if (!has_shape(weights, X.rows, 1)) return Status::invalid("pullback_noise: give one weight for each point");
  if (!k.has_noise()) return {};
  const bool of_points = points.data != nullptr;
  return for_noise(k, X, of_points, [&](const Program<double>& program, const Place& at, double sign) {
    const Index last = std::min(at.row + at.height, X.rows);
    double* W = scratch<double>(Scratch::panel, at.count() + at.height * X.cols);
    if (!W) return no_memory();
    double* in_rows = W + at.count();
    std::fill_n(W, at.count() + at.height * X.cols, 0.0);
    for (Index r = at.row; r < last; ++r) W[(r - at.row) * (at.height + 1)] = sign * weights(r, 0);
    const Status status = program.pullback(at, W, gradient, of_points ? in_rows : nullptr);
    for (Index r = at.row; r < last && of_points && status.ok(); ++r)  // both arguments are the point
      for (Index c = 0; c < X.cols; ++c) points(r, c) += 2.0 * in_rows[r - at.row + c * at.height];
    return status;
  });
}

namespace {

template <class T>
Status multiply(const Program<T>& program, View<const T> V, View<T> out) {
  constexpr Index padding = LowerTiles<T>::padding;
  const Index block = program.block(), padded = round_up(V.rows, padding);
  Memory memory;  // V in column-major order, with zeros in the padding
  const Status status = memory.reserve(static_cast<std::size_t>(std::max<Index>(padded * V.cols, 1)) * sizeof(T));
  if (!status.ok()) return status;
  T* values = static_cast<T*>(memory.data());
  for (Index c = 0; c < V.cols; ++c) {
    for (Index r = 0; r < V.rows; ++r) values[r + c * padded] = V(r, c);
    std::fill(values + V.rows + c * padded, values + padded + c * padded, T(0));
  }
  const double cost = elements(out, V) * (program.cost() + 0.1 * static_cast<double>(V.cols));
  const Status done = run_jobs(program.row_blocks(), cost, [&](Jobs& jobs, Index i) {
    const Index height = program.tile(i, 0).height;
    T* sums = scratch<T>(Scratch::row, height * V.cols);
    if (!sums) return jobs.stop(no_memory());
    std::fill_n(sums, height * V.cols, T(0));
    for (Index j = 0; j < program.col_blocks(); ++j) {
      if (!jobs.poll()) return;
      const Place at = program.tile(i, j);
      const T* tile = nullptr;
      const Status filled = program.forward(at, tile);
      if (!filled.ok()) return jobs.stop(filled);
      tile_kernels<T>().multiply_nn(height, V.cols, at.width, T(1), tile, height, values + at.col, padded, sums, height);
    }
    const Index rows = std::min(block, out.rows - i * block);
    for (Index c = 0; c < V.cols; ++c)
      for (Index r = 0; r < rows; ++r) out(i * block + r, c) = sums[r + c * height];
  });
  return program.finish(done);
}

}  // namespace

template <class T>
Status multiply(const Kernel& k, View<const T> X, View<const T> Z, View<const T> V, View<T> out) {
  if (V.rows != Z.rows || !has_shape(out, X.rows, V.cols))
    return Status::invalid("multiply: V must be m x r, the output n x r");
  const Program<T> program(k, X, Z, false, Program<T>::preferred_block);
  if (!program.status().ok() || X.rows == 0 || V.cols == 0) return program.status();
  return multiply(program, V, out);
}

namespace {

// to <- W, in column-major order with columns `stride` apart.
template <class T>
void read_tile(View<const T> W, Index stride, T* to) {
  if (W.col_stride == 1) return tile_kernels<T>().transpose(W.cols, W.rows, W.data, W.row_stride, to, stride);
  for (Index c = 0; c < W.cols; ++c)
    for (Index r = 0; r < W.rows; ++r) to[r + c * stride] = W(r, c);
}

// to <- the weights of a tile, in column-major order, with zeros in the padding. With `fold`, the weights of (j, i) are added
// to those of (i, j), for a symmetric matrix of which only one of the two tiles is visited. `room` has the size of a tile.
template <class T>
void load_weights(View<const T> W, const Place& at, bool fold, T* room, T* to) {
  const Index rows = std::min(at.height, W.rows - at.row), cols = std::min(at.width, W.cols - at.col);
  if (rows < at.height || cols < at.width) std::fill_n(to, at.count(), T(0));
  read_tile(W.block(at.row, at.col, rows, cols), at.height, to);
  if (!fold) return;
  const View<const T> mirrored = W.block(at.col, at.row, cols, rows).transposed();
  const bool contiguous = mirrored.row_stride == 1;
  if (!contiguous) read_tile(mirrored, at.height, room);
  for (Index c = 0; c < cols; ++c) {
    const T* from = contiguous ? &mirrored(0, c) : room + c * at.height;
    for (Index r = 0; r < rows; ++r) to[r + c * at.height] += from[r];
  }
}

template <class T>
Status pull(const Kernel& k, View<const T> X, View<const T> Z, bool same, View<const T> W, double* gradient) {
  if (!has_shape(W, X.rows, Z.rows)) return Status::invalid("pullback: the weights must have the shape of the kernel matrix");
  const Program<T> program(k, X, Z, same, Program<T>::preferred_block);
  if (!program.status().ok()) return program.status();
  const Index parameters = program.parameters();
  std::fill_n(gradient, parameters, 0.0);
  if (X.rows == 0 || Z.rows == 0) return {};
  const Index blocks = program.row_blocks(), across = program.col_blocks();
  const Index tiles = same ? blocks * (blocks + 1) / 2 : blocks * across;
  // The number of partial sums does not depend on the number of threads, and they are added in order: the result has the same
  // bits for any number of threads, and the memory is bounded.
  const Index parts = std::min<Index>(tiles, 512);
  std::vector<double> partial(static_cast<std::size_t>(parts * parameters), 0.0);
  const double cost = elements(X, Z) * program.cost() * (same ? 1.0 : 2.0);
  const Status status = run_jobs(parts, cost, [&](Jobs& jobs, Index part) {
    const Index size = program.block() * program.block();
    T* weights = scratch<T>(Scratch::panel, 2 * size);
    if (!weights) return jobs.stop(no_memory());
    for (Index t = part * tiles / parts; t < (part + 1) * tiles / parts; ++t) {
      if (!jobs.poll()) return;
      const TileIndex tile = same ? lower_by_rows(t) : TileIndex{t / across, t % across};
      const Place at = program.tile(tile.i, tile.j);
      load_weights(W, at, same && tile.i != tile.j, weights + size, weights);
      const Status done = program.pullback(at, weights, partial.data() + part * parameters);
      if (!done.ok()) return jobs.stop(done);
    }
  });
  for (Index part = 0; status.ok() && part < parts; ++part)
    for (Index p = 0; p < parameters; ++p) gradient[p] += partial[static_cast<std::size_t>(part * parameters + p)];
  return program.finish(status);
}

// Each job computes the gradient in a block of rows of X. If Z is X, a point x_i moves row i and column i of the matrix; by
// symmetry, the sum over row i with the weights W + W' has both contributions.
template <class T>
Status pull_points(const Kernel& k, View<const T> X, View<const T> Z, bool same, View<const T> W, View<T> gradient) {
  if (!has_shape(W, X.rows, Z.rows)) return Status::invalid("pullback: the weights must have the shape of the kernel matrix");
  if (!has_shape(gradient, X.rows, X.cols)) return Status::invalid("pullback: the gradient must have the shape of X");
  const Program<T> program(k, X, Z, same, Program<T>::preferred_block, true);
  if (!program.status().ok()) return program.status();
  const double cost = elements(X, Z) * program.cost() * 3.0;
  const Status status = run_jobs(program.row_blocks(), cost, [&](Jobs& jobs, Index i) {
    const Index height = program.tile(i, 0).height, first = i * program.block();
    std::vector<double> unused(static_cast<std::size_t>(program.parameters()));
    const Index size = program.block() * program.block();
    T* weights = scratch<T>(Scratch::panel, 2 * size + height * X.cols);
    if (!weights) return jobs.stop(no_memory());
    T* sums = weights + 2 * size;
    std::fill_n(sums, height * X.cols, T(0));
    for (Index j = 0; j < program.col_blocks(); ++j) {
      if (!jobs.poll()) return;
      const Place at = program.tile(i, j);
      load_weights(W, at, same, weights + size, weights);
      const Status done = program.pullback(at, weights, unused.data(), sums);
      if (!done.ok()) return jobs.stop(done);
    }
    const Index rows = std::min(program.block(), X.rows - first);
    for (Index c = 0; c < X.cols; ++c)
      for (Index r = 0; r < rows; ++r) gradient(first + r, c) = sums[r + c * height];
  });
  return program.finish(status);
}

// The source of the tiles of k(X, X) + diag(noise) for the factorization.
template <class T>
class GramSource final : public TileSource<T> {
 public:
  GramSource(const Program<T>& program, View<const T> noise) : program_(program), noise_(noise) {}

  Status fill(Index row, Index col, Index height, Index width, T* tile, Index stride) const override {
    const Place at = program_.tile(row / program_.block(), col / program_.block());
    const bool in_place = stride == at.height && reinterpret_cast<std::uintptr_t>(tile) % 64 == 0;
    const T* values = nullptr;
    const Status status = program_.forward(at, values, in_place ? tile : nullptr);
    if (!status.ok()) return status;
    for (Index c = 0; values != tile && c < width; ++c) std::copy_n(values + c * at.height, height, tile + c * stride);
    if (row == col) add_noise(noise_, row, height, tile, stride);
    return {};
  }

 private:
  const Program<T>& program_;
  View<const T> noise_;
};

}  // namespace

template <class T>
Status pullback(const Kernel& k, View<const T> X, View<const T> W, double* gradient) {
  return pull(k, X, X, true, W, gradient);
}

template <class T>
Status pullback(const Kernel& k, View<const T> X, View<const T> Z, View<const T> W, double* gradient) {
  return pull(k, X, Z, false, W, gradient);
}

template <class T>
Status pullback_points(const Kernel& k, View<const T> X, View<const T> W, View<T> gradient) {
  return pull_points(k, X, X, true, W, gradient);
}

template <class T>
Status pullback_points(const Kernel& k, View<const T> X, View<const T> Z, View<const T> W, View<T> gradient) {
  return pull_points(k, X, Z, false, W, gradient);
}

template <class T>
Status factorize(const Kernel& k, View<const T> X, View<const T> noise, LowerTiles<T>& L) {
  if (noise.rows > 1 && noise.rows != X.rows)
    return Status::invalid("factorize: give one noise variance, or one for each point");
  Status status = L.resize(X.rows);
  if (!status.ok()) return status;
  const Program<T> program(k, X, X, true, L.tile());
  if (!program.status().ok()) return program.status();
  return factorize(program, noise, L);
}

template <class T>
Status factorize(const Program<T>& program, View<const T> noise, LowerTiles<T>& L) {
  return program.finish(factorize(GramSource<T>(program, noise), L));
}

namespace {

// dK/dtheta_p v by central differences in one parameter after the other.
Status tangents_by_differences(const Kernel& k, View<const double> X, View<const double> v, View<double> out) {
  std::vector<double> theta = k.theta();
  std::vector<double> ahead(static_cast<std::size_t>(X.rows)), behind(ahead);
  for (std::size_t p = 0; p < theta.size(); ++p) {
    const double at = theta[p], step = 6e-6 * std::max(1.0, std::abs(at));
    for (const double sign : {1.0, -1.0}) {
      bool changed = false;
      theta[p] = at + sign * step;
      const Kernel moved = k.with_theta(theta, &changed);
      if (!changed) return Status::invalid("tangents: the kernel is a function that is given with its parameters");
      std::vector<double>& values = sign > 0.0 ? ahead : behind;
      const Program<double> program(moved, X, X, true, Program<double>::preferred_block);
      const Status status = program.status().ok() ? multiply(program, v, vector(values.data(), X.rows)) : program.status();
      if (!status.ok()) return status;
    }
    theta[p] = at;
    for (Index i = 0; i < X.rows; ++i)
      out(i, static_cast<Index>(p)) = (ahead[static_cast<std::size_t>(i)] - behind[static_cast<std::size_t>(i)]) / (2.0 * step);
  }
  return {};
}

}  // namespace

Status tangents(const Kernel& k, View<const double> X, View<const double> v, View<double> out) {
  if (!has_shape(v, X.rows, 1) || !has_shape(out, X.rows, k.parameters()))
    return Status::invalid("tangents: give one number for each point, and room for each parameter at each point");
  const Program<double> program(k, X, X, true, Program<double>::preferred_block);
  if (!program.status().ok() || out.cols == 0) return program.status();
  return program.has_rows() ? tangents(program, v, out) : tangents_by_differences(k, X, v, out);
}

// Each job computes one block of rows. The weights of a tile are v_j in column j, so that the sums over its rows are
// dK/dtheta_p v.
Status tangents(const Program<double>& program, View<const double> v, View<double> out) {
  const double cost = elements(v, v) * program.cost() * 2.0;
  const Status status = run_jobs(program.row_blocks(), cost, [&](Jobs& jobs, Index i) {
    const Index height = program.tile(i, 0).height, first = i * program.block();
    double* weights = scratch<double>(Scratch::panel, program.block() * program.block() + height * out.cols);
    if (!weights) return jobs.stop(no_memory());
    double* sums = weights + program.block() * program.block();
    std::fill_n(sums, height * out.cols, 0.0);
    for (Index j = 0; j < program.col_blocks(); ++j) {
      if (!jobs.poll()) return;
      const Place at = program.tile(i, j);
      for (Index c = 0; c < at.width; ++c)
        std::fill_n(weights + c * at.height, at.height, at.col + c < v.rows ? v(at.col + c, 0) : 0.0);
      const Status done = program.pull_rows(at, weights, sums);
      if (!done.ok()) return jobs.stop(done);
    }
    const Index rows = std::min(program.block(), v.rows - first);
    for (Index p = 0; p < out.cols; ++p) std::copy_n(sums + p * height, rows, &out(first, p));
  });
  return program.finish(status);
}

#define KERNSEL_INSTANTIATE(T)                                                                             \
  template Status gram<T>(const Kernel&, View<const T>, View<T>);                                          \
  template Status cross_gram<T>(const Kernel&, View<const T>, View<const T>, View<T>);                     \
  template Status gram_diagonal<T>(const Kernel&, View<const T>, View<T>);                                 \
  template Status multiply<T>(const Kernel&, View<const T>, View<const T>, View<const T>, View<T>);        \
  template Status pullback<T>(const Kernel&, View<const T>, View<const T>, double*);                       \
  template Status pullback<T>(const Kernel&, View<const T>, View<const T>, View<const T>, double*);        \
  template Status pullback_points<T>(const Kernel&, View<const T>, View<const T>, View<T>);                \
  template Status pullback_points<T>(const Kernel&, View<const T>, View<const T>, View<const T>, View<T>); \
  template Status factorize<T>(const Kernel&, View<const T>, View<const T>, LowerTiles<T>&);               \
  template Status factorize<T>(const Program<T>&, View<const T>, LowerTiles<T>&);
KERNSEL_INSTANTIATE(float)
KERNSEL_INSTANTIATE(double)
#undef KERNSEL_INSTANTIATE

}  // namespace kernsel
