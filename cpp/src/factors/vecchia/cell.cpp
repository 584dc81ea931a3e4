#include "factors/vecchia/cell.hpp"

#include <algorithm>
#include <cmath>

#include "base/memory.hpp"
#include "isa/table.hpp"
#include "kernels/program.hpp"
#include "kernsel/tiles.hpp"

namespace kernsel {

namespace {

constexpr Index padding = LowerTiles<double>::padding;  // rows that a tile kernel solves for at once
constexpr Index largest_block = 96;
constexpr Index features_at_a_time = 64;  // of inducing points
// Of larger sets: that of a register tile of kernels with eight numbers in a packet. Tiles on the diagonal are computed as a
// whole, of which half is not used.
constexpr Index block_of_large_sets = 24;

}  // namespace

CellShape::CellShape(Index points) {
  block = points > largest_block ? block_of_large_sets : round_up(std::max<Index>(points, 1), padding);
  parts = (points + block - 1) / block;
}

Cell::Cell(const CellShape& shape, const Program<double>& program, double* memory) : shape_(shape), program_(program) {
  const Index s = shape.size();
  K_ = memory;
  W_ = K_ + s * s;
  tile_ = W_ + 4 * s;
  v_ = tile_ + shape.block * shape.block;
  q_ = v_ + s;
  x_ = q_ + s;
  rows_ = x_ + padding * s;
}

Index Cell::room(const CellShape& shape, Index parameters) {
  const Index s = shape.size(), right_sides = round_up(parameters + 1, padding);
  return s * s + 4 * s + shape.block * shape.block + 2 * s + padding * s + s * (parameters + 1) + s * right_sides;
}

// K_ <- the tiles of K_S on and below the diagonal.
Status Cell::tiles(Index first, bool differentiable) {
  const Index s = shape_.size(), block = shape_.block;
  tape_ = nullptr;
  for (Index j = 0; j < shape_.parts; ++j)
    for (Index i = j; i < shape_.parts; ++i) {
      const Place at = program_.tile(first + i, first + j);
      const double* values = nullptr;
      const Status status =
          differentiable && shape_.parts == 1 ? program_.forward_recording(at, values, tape_) : program_.forward(at, values);
      if (!status.ok()) return status;
      for (Index c = 0; c < block; ++c) std::copy_n(values + c * block, block, K_ + i * block + (j * block + c) * s);
    }
  return {};
}

// K_ -= F_S F_S', on and below the diagonal, some features at a time.
Status Cell::subtract_features(const std::int32_t* points, const SetPoints& of) {
  const TileKernels<double>& kernels = tile_kernels<double>();
  double* gathered = scratch<double>(Scratch::metric, 2 * features_at_a_time * size_);
  if (!gathered) return no_memory();
  double* by_columns = gathered + features_at_a_time * size_;  // (size_, features)
  for (Index begin = 0; begin < of.features; begin += features_at_a_time) {
    const Index features = std::min(features_at_a_time, of.features - begin);
    for (Index r = 0; r < size_; ++r) {
      if (r < count_) {
        std::copy_n(of.features_at(points[r]) + begin, features, gathered + r * features);
      } else {
        std::fill_n(gathered + r * features, features, 0.0);
      }
    }
    kernels.transpose(features, size_, gathered, features, by_columns, size_);
    kernels.multiply_lower(size_, features, -1.0, by_columns, size_, K_, shape_.size());
  }
  return {};
}

Status Cell::condition(Index first, const std::int32_t* points, Index count, const SetPoints& of, bool differentiable) {
  const Index s = shape_.size();
  first_ = first;
  count_ = count;
  size_ = round_up(count, padding);
  Status status = tiles(first, differentiable);
  if (!status.ok()) return status;
  const Index known = of.X.rows;
  for (Index i = 0; i < count; ++i) {
    double& variance = K_[i * (s + 1)];
    variance += points[i] < known ? of.noise[points[i]] : i + 1 < count ? jitter * variance : 0.0;
  }
  added_ = 0.0;
  if (points[count - 1] >= known) {
    double& variance = K_[(count - 1) * (s + 1)];
    added_ = variance > 0.0 ? variance : 1.0;
    variance += added_;
  }
  if (of.features > 0) status = subtract_features(points, of);
  if (!status.ok()) return status;
  for (Index c = 0; c < size_; ++c)  // rows that are padding have an identity matrix of their own
    for (Index r = std::max(c, count); r < size_; ++r) K_[r + c * s] = r == c ? 1.0 : 0.0;
  double pivot = 0.0;
  const Index failed = tile_kernels<double>().factorize(size_, K_, s, &pivot);
  if (failed >= 0) {
    status.code = Code::not_positive_definite;
    for (Index i = failed; i >= 0 && status.pivot < 0; --i)  // the number of a known point
      if (points[i] < known) status.pivot = points[i];
    status.value = pivot;
    return status;
  }
  std::fill_n(x_, padding * size_, 0.0);
  x_[padding * (count - 1)] = 1.0;
  tile_kernels<double>().solve(padding, size_, K_, s, x_, padding);
  for (Index i = 0; i < size_; ++i) v_[i] = x_[padding * i];
  std::fill(v_ + size_, v_ + s, 0.0);
  return {};
}

double Cell::variance() const {
  const double v = v_[count_ - 1];
  return std::max(1.0 / (v * v) - added_, 0.0);
}

void Cell::solve(double* b, bool without_last) const {
  const TileKernels<double>& kernels = tile_kernels<double>();
  std::fill_n(x_, padding * size_, 0.0);
  for (Index i = 0; i < size_; ++i) x_[padding * i] = b[i];
  kernels.solve_transposed(padding, size_, K_, shape_.size(), x_, padding);
  if (without_last) x_[padding * (count_ - 1)] = 0.0;
  kernels.solve(padding, size_, K_, shape_.size(), x_, padding);
  for (Index i = 0; i < size_; ++i) b[i] = x_[padding * i];
}

void Cell::solve_without_last(double* b) const {
  std::fill(b + count_ - 1, b + shape_.size(), 0.0);
  solve(b, true);
}

Status Cell::pull(double* gradient, double* noise) {
  const Index s = shape_.size(), block = shape_.block;
  const TileKernels<double>& kernels = tile_kernels<double>();
  double product = 0.0;
  for (Index i = 0; i < count_; ++i) product += q_[i] * v_[i];
  std::fill(q_ + count_, q_ + s, 0.0);
  solve(q_);
  // With a = K_S^-1 q - (q'v) v / 2, W = -(a v' + v a') / 2.
  double* A = W_;  // (s, 2): a, v
  double* B = W_ + 2 * s;
  for (Index i = 0; i < s; ++i) {
    A[i] = B[s + i] = q_[i] - 0.5 * product * v_[i];
    A[s + i] = B[i] = v_[i];
  }
  for (Index i = 0; i < count_; ++i) noise[i] = -A[i] * v_[i];
  for (Index j = 0; j < shape_.parts; ++j)
    for (Index i = j; i < shape_.parts; ++i) {
      kernels.fill(block * block, 0.0, tile_);
      kernels.multiply_nt(block, block, 2, i == j ? -0.5 : -1.0, A + i * block, s, B + j * block, s, tile_, block);
      const Status status = program_.pullback(program_.tile(first_ + i, first_ + j), tile_, gradient, nullptr, tape_);
      if (!status.ok()) return status;
    }
  return {};
}

Status Cell::pull_points(double* to) {
  const Index s = shape_.size(), block = shape_.block, columns = program_.columns();
  const TileKernels<double>& kernels = tile_kernels<double>();
  Status status = of_points_.reserve(static_cast<std::size_t>(block * columns) * sizeof(double));
  if (!status.ok()) return status;
  double* sums = static_cast<double*>(of_points_.data());
  std::vector<double> unused(static_cast<std::size_t>(program_.parameters()));
  for (Index i = 0; i < shape_.parts; ++i) {
    std::fill_n(sums, block * columns, 0.0);
    for (Index j = 0; j < shape_.parts; ++j) {  // a point moves a row and a column: both have the sum over the row of W + W'
      kernels.fill(block * block, 0.0, tile_);
      kernels.multiply_nt(block, block, 2, -1.0, W_ + i * block, s, W_ + 2 * s + j * block, s, tile_, block);
      status = program_.pullback(program_.tile(first_ + i, first_ + j), tile_, unused.data(), sums);
      if (!status.ok()) return status;
    }
    for (Index r = 0; r < block && i * block + r < count_; ++r)
      for (Index c = 0; c < columns; ++c) *to++ = sums[r + c * block];
  }
  return {};
}

Status Cell::add_information(const double* unknown_noise, double* information, Index stride, double* slopes) {
  const Index s = shape_.size(), block = shape_.block, parameters = program_.parameters(), p = parameters + 1;
  const Index right_sides = round_up(p, padding);
  const TileKernels<double>& kernels = tile_kernels<double>();
  double* products = rows_;   // (block, parameters) for each part in turn
  double* G = rows_ + s * p;  // (right_sides, s)
  std::fill_n(G, right_sides * s, 0.0);
  for (Index i = 0; i < shape_.parts && parameters > 0; ++i) {
    std::fill_n(products, block * parameters, 0.0);
    for (Index j = 0; j < shape_.parts; ++j) {
      for (Index c = 0; c < block; ++c) std::fill_n(tile_ + c * block, block, v_[j * block + c]);
      const Status status = program_.pull_rows(program_.tile(first_ + i, first_ + j), tile_, products, tape_);
      if (!status.ok()) return status;
    }
    for (Index r = 0; r < block && i * block + r < count_; ++r)
      for (Index a = 0; a < parameters; ++a) G[a + right_sides * (i * block + r)] = products[r + a * block];
  }
  for (Index r = 0; r < count_ && unknown_noise; ++r) G[parameters + right_sides * r] = unknown_noise[r] * v_[r];
  kernels.solve_transposed(right_sides, size_, K_, s, G, right_sides);
  double* last = G + right_sides * (count_ - 1);
  for (Index a = 0; a < p; ++a) {
    slopes[a] += last[a];
    last[a] *= std::sqrt(0.5);
  }
  kernels.multiply_lower(right_sides, count_, 1.0, G, right_sides, information, stride);
  return {};
}

}  // namespace kernsel
