#include "factors/dense/groups.hpp"

#include <algorithm>
#include <cmath>

#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "factors/groups.hpp"
#include "isa/table.hpp"
#include "kernsel/cholesky.hpp"

namespace kernsel {

namespace {

using Group = std::vector<Index>;

// Computes the Cholesky factor of the block of P. that belongs to a group I: L L' = P.II, with L in `factor`.
Status factor_group(const State& state, const Group& group, LowerTiles<double>& factor) {
  const auto s = static_cast<Index>(group.size());
  const LowerTiles<double>& P = state.P;
  struct Position {
    Index block, inside;
  };
  std::vector<Position> at;
  for (const Index i : group) at.push_back({i / P.tile(), i % P.tile()});
  std::vector<double> block(static_cast<std::size_t>(s * s));  // its lower triangle: the rows of a group are in order
  for (Index c = 0; c < s; ++c) {
    const auto [column, shift] = at[static_cast<std::size_t>(c)];
    double* to = block.data() + c * s;
    for (Index r = c; r < s; ++r) {
      const auto [row, inside] = at[static_cast<std::size_t>(r)];
      to[r] = P.block(row, column)[inside + shift * P.stride(row)];
    }
    for (Index l = 0; l < state.trend.q; ++l) {
      const double* V = state.trend.V.column(l);
      const double of_column = V[group[static_cast<std::size_t>(c)]];
      for (Index r = c; r < s; ++r) to[r] -= V[group[static_cast<std::size_t>(r)]] * of_column;
    }
  }
  Status status = factor.resize(s);
  if (status.ok())
    status = factorize<double>(ArraySource<double>(columns(static_cast<const double*>(block.data()), s, s)), factor);
  if (status.code == Code::not_positive_definite) return trend_needs_group();
  return status;
}

// Multiplies P. by a matrix that is zero outside of the rows of a group; B, (s, count), by columns, are its rows in the group.
// Calls f(i, out) with each block row i of the product, (padded rows of block i, count).
template <class F>
Status multiply_group(const State& state, const Group& group, const std::vector<double>& B, Index count, const F& f) {
  const auto s = static_cast<Index>(group.size());
  const LowerTiles<double>& P = state.P;
  const double cost = static_cast<double>(state.n) * static_cast<double>(s) * (2.0 + 0.02 * static_cast<double>(count));
  return run_jobs(P.blocks(), cost, [&](Jobs& jobs, Index i) {
    if (!jobs.poll()) return;
    const Index height = P.padded_rows(i), rows = P.rows(i), tile = P.tile(), first = i * tile;
    double* columns_of_P = scratch<double>(Scratch::panel, height * (s + count));
    if (!columns_of_P) return jobs.stop(no_memory());
    double* out = columns_of_P + height * s;
    std::fill_n(columns_of_P, height * (s + count), 0.0);
    for (Index c = 0; c < s; ++c) {
      const Index j = group[static_cast<std::size_t>(c)], block = j / tile;
      double* to = columns_of_P + c * height;
      if (block <= i) {
        std::copy_n(P.block(i, block) + (j - block * tile) * P.stride(i), rows, to);
      } else {
        const double* from = P.block(block, i) + (j - block * tile);
        for (Index r = 0; r < rows; ++r) to[r] = from[r * P.stride(block)];
      }
      for (Index l = 0; l < state.trend.q; ++l)
        for (Index r = 0; r < rows; ++r) to[r] -= state.trend.V(first + r, l) * state.trend.V(j, l);
    }
    tile_kernels<double>().multiply_nn(height, count, s, 1.0, columns_of_P, height, B.data(), s, out, height);
    f(i, out);
  });
}

}  // namespace

Status leave_out(const State& state, const std::vector<Group>& groups, const Request& request, LeftOut& out) {
  const Index n = state.n, m = state.m;
  out.residual.assign(static_cast<std::size_t>(n * m), 0.0);
  out.variance.assign(request.variances ? static_cast<std::size_t>(n) : 0, 0.0);
  out.density.clear();
  LowerTiles<double> factor;  // of P.II for the current group
  for (const Group& group : groups) {
    const auto s = static_cast<Index>(group.size());
    Status status = factor_group(state, group, factor);
    if (!status.ok()) return status;
    std::vector<double> r(static_cast<std::size_t>(s * m));
    for (Index j = 0; j < m; ++j)
      for (Index i = 0; i < s; ++i) r[static_cast<std::size_t>(i + j * s)] = state.c(group[static_cast<std::size_t>(i)], j);
    const std::vector<double> c = r;
    status = solve<double>(factor, columns(r.data(), s, m));
    if (!status.ok()) return status;
    for (Index j = 0; j < m; ++j)
      for (Index i = 0; i < s; ++i)
        out.residual[static_cast<std::size_t>(group[static_cast<std::size_t>(i)] + j * n)] =
            r[static_cast<std::size_t>(i + j * s)];
    if (request.variances) {
      std::vector<double> diagonal(static_cast<std::size_t>(s));
      status = inverse_diagonal<double>(factor, vector(diagonal.data(), s));
      if (!status.ok()) return status;
      for (std::size_t i = 0; i < group.size(); ++i) out.variance[static_cast<std::size_t>(group[i])] = diagonal[i];
    }
    if (!request.densities) continue;
    const double log_2pi = std::log(2.0 * 3.14159265358979323846);
    double density = 0.5 * static_cast<double>(m) * (log_determinant(factor) - static_cast<double>(s) * log_2pi);
    for (std::size_t i = 0; i < c.size(); ++i) density -= 0.5 * c[i] * r[i];
    out.density.push_back(density);
  }
  return {};
}

namespace {

// Adds the contributions of groups to the adjoint. For a group I with residuals r, S = P.II^-1, and the partial derivatives rho
// in the residuals, sigma in the variances, delta in the density, with z = S rho:
//
//     W += -sym((P. z) (c - P. r)') + (P. S) diag(sigma) (P. S)'
//          + delta [sym((P. r) c') - (P. F) (P. F)'],  F F' = (m S + r r') / 2
//
// where P. stands for its columns I in products.
class Pulled {
 public:
  Pulled(const State& state, const std::vector<std::vector<Index>>& groups, const LeftOut& shown, const Partials& partials,
         Adjoint& adjoint)
      : state_(state), groups_(groups), shown_(shown), all_(partials), partials_(partials.left_out), adjoint_(adjoint) {}

  Status run() {
    const Index n = state_.n, m = state_.m, count = static_cast<Index>(groups_.size());
    const bool residuals = !partials_.residual.empty(), densities = !partials_.density.empty();
    Index plus = 0, minus = 0;
    for (const double sigma : partials_.variance) ++(sigma > 0.0 ? plus : minus);
    for (std::size_t g = 0; g < partials_.density.size(); ++g)
      (partials_.density[g] < 0.0 ? plus : minus) += static_cast<Index>(groups_[g].size());
    const bool weights = densities || !all_.c.empty();
    first_ = weights ? m : 0;
    Status status = with_trend(state_, all_.log_det_trend, first_ + (residuals ? count * m : 0), adjoint_);
    if (status.ok() && plus > 0) status = adjoint_.plus.resize(state_.P, plus);
    if (status.ok() && minus > 0) status = adjoint_.minus.resize(state_.P, minus);
    if (status.ok() && weights) status = in_c_.resize(state_.padded, m);
    for (Index j = 0; j < m && status.ok() && !all_.c.empty(); ++j) std::copy_n(all_.c.data() + j * n, n, in_c_.column(j));
    for (Index g = 0; g < count && status.ok(); ++g) {
      const Group& group = groups_[static_cast<std::size_t>(g)];
      status = factor_group(state_, group, factor_);
      if (!status.ok()) return status;
      const std::vector<double> r = rows_of(group, shown_.residual, n);
      if (residuals) status = pull_residuals(g, group, r);
      if (status.ok() && !partials_.variance.empty()) status = pull_variances(group);
      if (status.ok() && densities) status = pull_density(g, group, r);
    }
    return status.ok() && weights ? add_weights(state_, in_c_, adjoint_) : status;
  }

 private:
  std::vector<double> rows_of(const Group& group, const std::vector<double>& columns, Index n) const {
    std::vector<double> out;
    out.reserve(group.size() * static_cast<std::size_t>(state_.m));
    for (Index j = 0; j < state_.m; ++j)
      for (const Index i : group) out.push_back(columns[static_cast<std::size_t>(i + j * n)]);
    return out;
  }

  Status pull_residuals(Index g, const Group& group, const std::vector<double>& r) {
    const Index m = state_.m, s = static_cast<Index>(group.size());
    adjoint_.targets.resize(static_cast<std::size_t>(state_.n * m), 0.0);
    std::vector<double> both = rows_of(group, partials_.residual, state_.n);  // z and r
    Status status = solve<double>(factor_, columns(both.data(), s, m));
    if (!status.ok()) return status;
    both.insert(both.end(), r.begin(), r.end());
    return multiply_group(state_, group, both, 2 * m, [&](Index block, const double* products) {
      const Index height = state_.P.padded_rows(block), begin = block * state_.P.tile();
      for (Index j = 0; j < m; ++j)
        for (Index i = 0; i < state_.P.rows(block); ++i) {
          adjoint_.x(begin + i, first_ + g * m + j) = -products[i + j * height];
          adjoint_.targets[static_cast<std::size_t>(begin + i + j * state_.n)] += products[i + j * height];
          adjoint_.y(begin + i, first_ + g * m + j) = state_.c(begin + i, j) - products[i + (m + j) * height];
        }
    });
  }

  // The columns of S times |sigma|^(1/2): those with positive sigma go to `plus`, and the others to `minus`.
  Status pull_variances(const Group& group) {
    const auto s = static_cast<Index>(group.size());
    std::vector<double> S(static_cast<std::size_t>(s * s)), of_sign[2];
    Status status = inverse<double>(factor_, columns(S.data(), s, s));
    for (Index i = 0; i < s && status.ok(); ++i) {
      const double sigma = partials_.variance[static_cast<std::size_t>(group[static_cast<std::size_t>(i)])];
      for (Index r = 0; r < s; ++r)
        of_sign[sigma > 0.0 ? 0 : 1].push_back(S[static_cast<std::size_t>(r + i * s)] * std::sqrt(std::abs(sigma)));
    }
    if (status.ok()) status = add_square(group, of_sign[0], adjoint_.plus, plus_);
    return status.ok() ? add_square(group, of_sign[1], adjoint_.minus, minus_) : status;
  }

  Status pull_density(Index g, const Group& group, const std::vector<double>& r) {
    const auto s = static_cast<Index>(group.size());
    const double delta = partials_.density[static_cast<std::size_t>(g)], size = std::abs(delta);
    std::vector<double> square(static_cast<std::size_t>(s * s));
    Status status = inverse<double>(factor_, columns(square.data(), s, s));
    for (Index b = 0; b < s; ++b)
      for (Index a = 0; a < s; ++a) {
        double& entry = square[static_cast<std::size_t>(a + b * s)];
        entry *= 0.5 * static_cast<double>(state_.m) * size;
        for (Index j = 0; j < state_.m; ++j)
          entry += 0.5 * size * r[static_cast<std::size_t>(a + j * s)] * r[static_cast<std::size_t>(b + j * s)];
      }
    LowerTiles<double> F;
    if (status.ok()) status = F.resize(s);
    if (status.ok())
      status = factorize<double>(ArraySource<double>(columns(static_cast<const double*>(square.data()), s, s)), F);
    if (status.ok()) status = unpack_lower<double>(F, columns(square.data(), s, s));
    if (!status.ok()) return status;
    for (Index j = 0; j < state_.m; ++j)
      for (Index i = 0; i < s; ++i)
        in_c_(group[static_cast<std::size_t>(i)], j) -= delta * r[static_cast<std::size_t>(i + j * s)];
    return delta < 0.0 ? add_square(group, square, adjoint_.plus, plus_) : add_square(group, square, adjoint_.minus, minus_);
  }

  // Writes P. B to the next columns of S, B by columns on the rows of the group.
  Status add_square(const Group& group, const std::vector<double>& B, Panels& S, Index& next) {
    const Index count = static_cast<Index>(B.size() / group.size()), begin = next;
    if (count == 0) return {};
    next += count;
    return multiply_group(state_, group, B, count, [&](Index block, const double* product) {
      const Index height = state_.P.padded_rows(block);
      std::copy_n(product, height * count, S.panel(block) + begin * height);
    });
  }

  const State& state_;
  const std::vector<Group>& groups_;
  const LeftOut& shown_;
  const Partials& all_;
  const LeftOut& partials_;
  Adjoint& adjoint_;
  LowerTiles<double> factor_;  // of P.II for the current group
  Tall in_c_;                  // dJ/dc, directly and by way of the densities
  Index first_ = 0, plus_ = 0, minus_ = 0;
};

}  // namespace

Status pull_groups(const State& state, const std::vector<Group>& groups, const LeftOut& shown, const Partials& partials,
                   Adjoint& adjoint) {
  return Pulled(state, groups, shown, partials, adjoint).run();
}

}  // namespace kernsel
