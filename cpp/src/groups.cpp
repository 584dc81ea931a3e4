// Criteria of groups of points that are left out together.
#include <cmath>

#include "adjoint.hpp"
#include "isa/table.hpp"
#include "kernsel/criteria.hpp"
#include "kernsel/factor.hpp"
#include "memory.hpp"
#include "parallel.hpp"
#include "state.hpp"

namespace kernsel {

namespace {

// One group that is left out: r_I = P_II^-1 c_I, and what the gradient needs.
struct Group {
  std::vector<Index> points;
};

// L L' = P.II
Status factor_group(const State& state, const Group& group, LowerTiles<double>& factor) {
  const auto s = static_cast<Index>(group.points.size());
  std::vector<double> block(static_cast<std::size_t>(s * s));
  for (Index c = 0; c < s; ++c)
    for (Index r = 0; r < s; ++r) {
      const Index i = group.points[static_cast<std::size_t>(r)], j = group.points[static_cast<std::size_t>(c)];
      double value = i >= j ? state.P.at(i, j) : state.P.at(j, i);
      for (Index l = 0; l < state.trend.q; ++l) value -= state.trend.V(i, l) * state.trend.V(j, l);
      block[static_cast<std::size_t>(r + c * s)] = value;
    }
  Status status = factor.resize(s);
  if (status.ok())
    status = factorize<double>(ArraySource<double>(columns(static_cast<const double*>(block.data()), s, s)), factor);
  if (status.code == Code::not_positive_definite)
    return Status::invalid("folds: a group cannot be left out: without it the trend is not determined");
  return status;
}

// f(i, out (padded rows of block i, count)) for each block row of P. B, B (s, count) being on the rows of the group.
template <class F>
Status multiply_group(const State& state, const Group& group, const std::vector<double>& B, Index count, const F& f) {
  const auto s = static_cast<Index>(group.points.size());
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
      const Index j = group.points[static_cast<std::size_t>(c)], block = j / tile;
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

Status evaluate(const Kernel& k, const Problem& problem, const Folds& folds, Order order, LowerTiles<double>& buffer,
                Evaluation& out) {
  const bool gradient = order != Order::value;
  Status status = check(problem);
  if (!status.ok()) return status;
  State state(k, problem, buffer);
  const Index n = state.n, m = state.m;
  if (static_cast<Index>(folds.fold.size()) != n) return Status::invalid("folds: give the number of a group for each point");
  std::vector<Group> groups(static_cast<std::size_t>(std::max<Index>(folds.count, 0)));
  for (Index i = 0; i < n; ++i) {
    const Index f = folds.fold[static_cast<std::size_t>(i)];
    if (f < 0 || f >= folds.count) return Status::invalid("folds: groups are numbered from 0 to count - 1");
    groups[static_cast<std::size_t>(f)].points.push_back(i);
  }
  for (const Group& group : groups)
    if (group.points.empty() || static_cast<Index>(group.points.size()) == n)
      return Status::invalid("folds: each group must have points, and leave some");
  status = start(state, gradient);
  if (status.ok()) status = find_precision(state, true, false);
  if (!status.ok()) return status;
  report(state, out);

  Adjoint adjoint;
  const auto count = static_cast<Index>(groups.size());
  const auto weight = [&](Index i) { return problem.weights ? problem.weights[i] : 1.0; };
  double total = 0.0;
  for (Index i = 0; i < n; ++i) total += weight(i);
  const double share = 1.0 / (total * static_cast<double>(m));
  if (gradient) {
    status = with_trend(state, 0.0, folds.log_density ? m : count * m, adjoint);
    if (status.ok() && folds.log_density) status = adjoint.S.resize(state.P, n);
    if (!status.ok()) return status;
  }
  Tall G;  // dJ/dc of a joint density
  if (gradient && folds.log_density) status = G.resize(state.padded, m);
  out.value = 0.0;
  LowerTiles<double> factor;  // of one group after the other
  Index first = 0;            // column of S
  for (Index g = 0; g < count && status.ok(); ++g) {
    const Group& group = groups[static_cast<std::size_t>(g)];
    const auto s = static_cast<Index>(group.points.size());
    status = factor_group(state, group, factor);
    if (!status.ok()) return status;
    std::vector<double> r(static_cast<std::size_t>(s * m));
    for (Index j = 0; j < m; ++j)
      for (Index i = 0; i < s; ++i)
        r[static_cast<std::size_t>(i + j * s)] = state.c(group.points[static_cast<std::size_t>(i)], j);
    const std::vector<double> c = r;
    status = solve<double>(factor, columns(r.data(), s, m));
    if (!status.ok()) return status;
    if (!folds.log_density) {
      std::vector<double> both = r;  // z = P_II^-1 W r, and r
      for (std::size_t e = 0; e < r.size(); ++e) {
        both[e] *= weight(group.points[e % static_cast<std::size_t>(s)]);
        out.value += share * r[e] * both[e];
      }
      if (!gradient) continue;
      status = solve<double>(factor, columns(both.data(), s, m));
      both.insert(both.end(), r.begin(), r.end());
      if (!status.ok()) return status;
      // -(2/n) sym((P. z) (c - P. r)')
      status = multiply_group(state, group, both, 2 * m, [&](Index block, const double* products) {
        const Index height = state.P.padded_rows(block), begin = block * state.P.tile();
        for (Index j = 0; j < m; ++j)
          for (Index i = 0; i < state.P.rows(block); ++i) {
            adjoint.x(begin + i, g * m + j) = -2.0 * share * products[i + j * height];
            adjoint.y(begin + i, g * m + j) = state.c(begin + i, j) - products[i + (m + j) * height];
          }
      });
      continue;
    }
    const double log_det = log_determinant(factor);
    out.value += 0.5 * static_cast<double>(m) * (log_det - static_cast<double>(s) * std::log(2.0 * 3.14159265358979323846));
    for (std::size_t i = 0; i < c.size(); ++i) out.value -= 0.5 * c[i] * r[i];
    if (!gradient) continue;
    // G_I = r r' / 2 + m P_II^-1 / 2, and its factor F: P. G P. = (P. F)(P. F)'
    std::vector<double> square(static_cast<std::size_t>(s * s));
    status = inverse<double>(factor, columns(square.data(), s, s));
    for (Index b = 0; b < s; ++b)
      for (Index a = 0; a < s; ++a) {
        double& entry = square[static_cast<std::size_t>(a + b * s)];
        entry *= 0.5 * static_cast<double>(m);
        for (Index j = 0; j < m; ++j)
          entry += 0.5 * r[static_cast<std::size_t>(a + j * s)] * r[static_cast<std::size_t>(b + j * s)];
      }
    LowerTiles<double> F;
    if (status.ok()) status = F.resize(s);
    if (status.ok())
      status = factorize<double>(ArraySource<double>(columns(static_cast<const double*>(square.data()), s, s)), F);
    if (status.ok()) status = unpack_lower<double>(F, columns(square.data(), s, s));
    if (!status.ok()) return status;
    status = multiply_group(state, group, square, s, [&](Index block, const double* product) {
      const Index height = state.P.padded_rows(block);
      std::copy_n(product, height * s, adjoint.S.panel(block) + first * height);
    });
    for (Index j = 0; j < m && status.ok(); ++j)
      for (Index i = 0; i < s; ++i) G(group.points[static_cast<std::size_t>(i)], j) = -r[static_cast<std::size_t>(i + j * s)];
    first += s;
  }
  if (!status.ok() || !gradient) return status;
  if (folds.log_density) status = add_weights(state, G, adjoint);
  return status.ok() ? pull(state, adjoint, out) : status;
}

}  // namespace kernsel
