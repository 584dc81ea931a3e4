#include "factors/dense/adjoint.hpp"

#include <algorithm>
#include <atomic>

#include "base/parallel.hpp"
#include "isa/table.hpp"
#include "kernels/program.hpp"
#include "kernsel/cholesky.hpp"
#include "kernsel/gram.hpp"

namespace kernsel {

namespace {

// Computes the tiles of W on and below the diagonal, and calls take_weights() for each, on any thread. Rows and columns of W
// that are padding are zero.
class Weights : public TileSink<double> {
 public:
  Weights(const State& state, const Adjoint& adjoint, const Program<double>& program)
      : state_(state), adjoint_(adjoint), program_(program) {}

  void take(Index row, Index col, Index, Index, const double* tile, Index stride) override {
    tile_of(row / state_.P.tile(), col / state_.P.tile(), tile, stride);
  }

  Status run() {
    const Index blocks = state_.P.blocks();
    Status status;
    if (adjoint_.squared.empty()) {
      const auto n = static_cast<double>(state_.n);
      const double cost = n * n *
                          (program_.cost() + 0.1 * static_cast<double>(adjoint_.x.columns() + adjoint_.plus.columns() +
                                                                       adjoint_.minus.columns()));
      status = run_jobs(blocks, cost, [&](Jobs& jobs, Index job) {
        const Index i = blocks - 1 - job;  // long rows first
        for (Index j = 0; j <= i; ++j) {
          if (!jobs.poll()) return;
          tile_of(i, j, nullptr, 0);
          if (failed_.load(std::memory_order_relaxed)) return;
        }
      });
    } else {
      status = weighted_square<double>(state_.P, vector(adjoint_.squared.data(), state_.n), *this);
    }
    return status.ok() ? status_ : status;
  }

 protected:
  // Tile (i, j) at its place, with columns at.height apart; it may be overwritten.
  virtual Status take_weights(Index i, Index j, const Place& at, double* W) = 0;

  const State& state_;
  const Adjoint& adjoint_;
  const Program<double>& program_;

 private:
  void tile_of(Index i, Index j, const double* square, Index stride) {
    const TileKernels<double>& kernels = tile_kernels<double>();
    const LowerTiles<double>& P = state_.P;
    const Place at = program_.tile(i, j);
    double* W = scratch<double>(Scratch::panel, at.count());
    if (!W) return fail(no_memory());
    for (Index c = 0; c < at.width; ++c) {
      const double* from = P.block(i, j) + c * P.stride(i);
      const double* less = square ? square + c * stride : nullptr;
      for (Index r = 0; r < at.height; ++r) W[r + c * at.height] = adjoint_.of_inverse * from[r] - (less ? less[r] : 0.0);
    }
    const Index padded = state_.padded, row = i * P.tile(), col = j * P.tile();
    const auto add = [&](double factor, const Tall& a, const Tall& b) {
      if (a.columns() > 0)
        kernels.multiply_nt(at.height, at.width, a.columns(), factor, a.data() + row, padded, b.data() + col, padded, W,
                            at.height);
    };
    add(0.5, adjoint_.x, adjoint_.y);
    add(0.5, adjoint_.y, adjoint_.x);
    const auto add_square = [&](double sign, const Panels& S) {
      if (S.columns() > 0)
        kernels.multiply_nt(at.height, at.width, S.columns(), sign, S.panel(i), at.height, S.panel(j), at.width, W, at.height);
    };
    add_square(1.0, adjoint_.plus);
    add_square(-1.0, adjoint_.minus);
    const Index height = P.rows(i), width = P.rows(j);
    for (Index c = 0; c < at.width; ++c)
      for (Index r = c < width ? height : 0; r < at.height; ++r) W[r + c * at.height] = 0.0;
    const Status status = take_weights(i, j, at, W);
    if (!status.ok()) fail(status);
  }
  void fail(const Status& status) {
    if (!failed_.exchange(true)) status_ = status;
  }

  std::atomic<bool> failed_{false};
  Status status_;
};

// Computes the gradient from W, one tile after the other. Each block row has sums of its own, which are added in the order of
// the rows, so that the result does not depend on the number of threads.
class Pull final : public Weights {
 public:
  Pull(const State& state, const Adjoint& adjoint, const Program<double>& program, Gradient& out)
      : Weights(state, adjoint, program),
        out_(out),
        parameters_(program.parameters()),
        sums_(static_cast<std::size_t>(state.P.blocks() * std::max<Index>(parameters_, 1)), 0.0) {}

  Status add_up(const Status& status) {
    out_.theta.assign(static_cast<std::size_t>(parameters_), 0.0);
    for (Index i = 0; i < state_.P.blocks() && status.ok(); ++i)
      for (Index p = 0; p < parameters_; ++p)
        out_.theta[static_cast<std::size_t>(p)] += sums_[static_cast<std::size_t>(i * parameters_ + p)];
    return program_.finish(status);
  }

 protected:
  Status take_weights(Index i, Index j, const Place& at, double* W) override {
    if (i == j)
      for (Index r = 0; r < state_.P.rows(i); ++r) out_.noise[static_cast<std::size_t>(at.row + r)] += W[r + r * at.height];
    else
      tile_kernels<double>().scale(at.count(), 2.0, W, W);
    return program_.pullback(at, W, sums_.data() + i * parameters_);
  }

 private:
  Gradient& out_;
  Index parameters_;
  std::vector<double> sums_;
};

// Stores the whole matrix W.
class Store final : public Weights {
 public:
  Store(const State& state, const Adjoint& adjoint, View<double> out) : Weights(state, adjoint, *state.program), out_(out) {}

 protected:
  Status take_weights(Index i, Index j, const Place& at, double* W) override {
    const Index height = state_.P.rows(i), width = state_.P.rows(j);
    for (Index c = 0; c < width; ++c)
      for (Index r = i == j ? c : 0; r < height; ++r)
        out_(at.row + r, at.col + c) = out_(at.col + c, at.row + r) = W[r + c * at.height];
    return {};
  }

 private:
  View<double> out_;
};

}  // namespace

Status pull(const State& state, const Adjoint& adjoint, Gradient& out) {
  out.noise = adjoint.noise;
  out.noise.resize(static_cast<std::size_t>(state.n), 0.0);
  out.targets = adjoint.targets;
  out.targets.resize(static_cast<std::size_t>(state.n * state.m), 0.0);
  Pull sums(state, adjoint, *state.program, out);
  const Status status = sums.add_up(sums.run());
  if (!status.ok() || adjoint.noise.empty()) return status;
  return pullback_noise(state.k, state.problem.X, vector(adjoint.noise.data(), state.n), out.theta.data());
}

Status pull_points(const State& state, const Adjoint& adjoint, View<double> out) {
  const Index n = state.n;
  Memory memory;
  Status status = memory.reserve(static_cast<std::size_t>(n * n) * sizeof(double));
  if (!status.ok()) return status;
  const View<double> W = rows(static_cast<double*>(memory.data()), n, n);
  Store weights(state, adjoint, W);
  status = weights.run();
  if (status.ok()) status = pullback_points<double>(state.k, state.problem.X, W, out);
  if (!status.ok() || adjoint.noise.empty()) return status;
  std::vector<double> unused(static_cast<std::size_t>(state.k.parameters()));
  return pullback_noise(state.k, state.problem.X, vector(adjoint.noise.data(), n), unused.data(), out);
}

Status with_trend(const State& state, double of_trend, Index more, Adjoint& adjoint) {
  const Index n = state.n, q = state.trend.q;
  const bool squared = !adjoint.squared.empty();
  const Index first = (of_trend != 0.0 ? q : 0) + (squared ? q : 0);
  Status status = adjoint.x.resize(state.padded, first + more);
  if (status.ok()) status = adjoint.y.resize(state.padded, first + more);
  if (!status.ok() || q == 0) return status;
  Index at = more;
  for (Index j = 0; j < q && of_trend != 0.0; ++j, ++at)  // b (P. - P) = -b V V', b = of_trend
    for (Index r = 0; r < n; ++r) {
      adjoint.x(r, at) = -of_trend * state.trend.V(r, j);
      adjoint.y(r, at) = state.trend.V(r, j);
    }
  if (!squared) return {};
  // -P. G P. = -P G P + V B' + B V' with B = P G V - V (V'GV) / 2; the term -P G P is computed tile by tile.
  Tall GV, PGV;
  status = GV.resize(state.padded, q);
  if (!status.ok()) return status;
  for (Index j = 0; j < q; ++j)
    for (Index r = 0; r < n; ++r) GV(r, j) = adjoint.squared[static_cast<std::size_t>(r)] * state.trend.V(r, j);
  status = multiply_symmetric(state.P, GV, PGV);
  if (!status.ok()) return status;
  for (Index j = 0; j < q; ++j, ++at)
    for (Index r = 0; r < n; ++r) {
      adjoint.x(r, at) = 2.0 * state.trend.V(r, j);
      adjoint.y(r, at) = PGV(r, j);
    }
  for (Index j = 0; j < q; ++j)
    for (Index l = 0; l < q; ++l) {
      double dot = 0.0;
      for (Index r = 0; r < n; ++r) dot += state.trend.V(r, l) * GV(r, j);
      for (Index r = 0; r < n; ++r) adjoint.y(r, at - q + j) -= 0.5 * dot * state.trend.V(r, l);
    }
  return {};
}

Status add_weights(const State& state, Tall& G, Adjoint& adjoint) {
  Tall PG;
  const Status status = multiply_symmetric(state.P, G, PG);
  if (!status.ok()) return status;
  project(state.trend, G.view(state.n), state.n, PG);
  adjoint.targets.resize(static_cast<std::size_t>(state.n * state.m), 0.0);
  for (Index j = 0; j < state.m; ++j)
    for (Index r = 0; r < state.n; ++r) {
      adjoint.x(r, j) = -PG(r, j);
      adjoint.y(r, j) = state.c(r, j);
      adjoint.targets[static_cast<std::size_t>(r + j * state.n)] += PG(r, j);
    }
  return {};
}

}  // namespace kernsel
