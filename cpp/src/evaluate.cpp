// From a criterion's partial derivatives to the adjoint W = dJ/dK, and from there to the gradient.
//
//     W = a P - P G P + sum_r sym(x_r y_r') - S S',
//
// P in lower tiles, G diagonal, the rest of low rank but for S of a joint density. W exists one tile at a time.
#include <algorithm>
#include <cmath>

#include "call_out.hpp"
#include "isa/table.hpp"
#include "kernsel/criteria.hpp"
#include "kernsel/factor.hpp"
#include "kernsel/gram.hpp"
#include "memory.hpp"
#include "parallel.hpp"
#include "program.hpp"
#include "triangle.hpp"

namespace kernsel {

namespace {

// Columns of n numbers, padded to the tiles' rows, zero there.
class Tall {
 public:
  Status resize(Index padded, Index columns) {
    padded_ = padded;
    columns_ = columns;
    const Status status = memory_.reserve(static_cast<std::size_t>(std::max<Index>(padded * columns, 1)) * sizeof(double));
    if (status.ok()) std::fill_n(data(), padded * columns, 0.0);
    return status;
  }
  double* data() { return static_cast<double*>(memory_.data()); }
  const double* data() const { return static_cast<const double*>(memory_.data()); }
  double* column(Index k) { return data() + k * padded_; }
  const double* column(Index k) const { return data() + k * padded_; }
  double& operator()(Index r, Index k) { return column(k)[r]; }
  double operator()(Index r, Index k) const { return column(k)[r]; }
  Index padded() const { return padded_; }
  Index columns() const { return columns_; }
  View<double> view(Index rows) { return {data(), rows, columns_, 1, padded_}; }

 private:
  Memory memory_;
  Index padded_ = 0, columns_ = 0;
};

// A matrix of n rows in panels of one block row each, by columns: what a product of tiles reads lies together.
class Panels {
 public:
  Status resize(const LowerTiles<double>& P, Index columns) {
    columns_ = columns;
    begins_.assign(1, 0);
    for (Index i = 0; i < P.blocks(); ++i) begins_.push_back(begins_.back() + P.padded_rows(i) * columns);
    const Status status = memory_.reserve(static_cast<std::size_t>(std::max<Index>(begins_.back(), 1)) * sizeof(double));
    if (status.ok()) std::fill_n(data(), begins_.back(), 0.0);
    return status;
  }
  double* panel(Index i) { return data() + begins_[static_cast<std::size_t>(i)]; }
  const double* panel(Index i) const {
    return static_cast<const double*>(memory_.data()) + begins_[static_cast<std::size_t>(i)];
  }
  Index columns() const { return columns_; }

 private:
  double* data() { return static_cast<double*>(memory_.data()); }
  Memory memory_;
  std::vector<Index> begins_;
  Index columns_ = 0;
};

Index padded_size(const LowerTiles<double>& P) {
  return P.blocks() == 0 ? 0 : (P.blocks() - 1) * P.tile() + P.padded_rows(P.blocks() - 1);
}

// out <- P B, P symmetric in lower tiles, diagonal tiles whole.
Status multiply_symmetric(const LowerTiles<double>& P, const Tall& B, Tall& out) {
  Status status = out.resize(B.padded(), B.columns());
  if (!status.ok() || B.columns() == 0) return status;
  const TileKernels<double>& kernels = tile_kernels<double>();
  const Index blocks = P.blocks(), tile = P.tile(), padded = B.padded();
  const auto n = static_cast<double>(P.size());
  return run_jobs(blocks, n * n * (0.5 + 0.1 * static_cast<double>(B.columns())), [&](Jobs& jobs, Index i) {
    if (!jobs.poll()) return;
    const Index height = P.padded_rows(i);
    double* turned = scratch<double>(Scratch::panel, height * tile);
    if (!turned) return jobs.stop(no_memory());
    for (Index k = 0; k < blocks; ++k) {
      const Index width = P.padded_rows(k);
      const double* left = k > i ? turned : P.block(i, k);
      if (k > i) kernels.transpose(width, height, P.block(k, i), P.stride(k), turned, height);
      kernels.multiply_nn(height, B.columns(), width, 1.0, left, k > i ? height : P.stride(i), B.data() + k * tile, padded,
                          out.data() + i * tile, padded);
    }
  });
}

// The trend: V with P_H = P - V V'.
struct Trend {
  Tall V;
  std::vector<double> R;  // (q, q), upper, by columns: H'PH = R'R
  Index q = 0;
  double log_det = 0.0;  // log det H'PH - log det H'H: the same for any basis
};

// Upper triangular R with U'U = R'R, U overwritten by its orthonormal columns; twice is enough.
Status orthonormalize(View<double> U, std::vector<double>& R) {
  const Index q = U.cols;
  R.assign(static_cast<std::size_t>(q * q), 0.0);
  for (Index k = 0; k < q; ++k) {
    double before = 0.0, norm = 0.0;
    for (Index r = 0; r < U.rows; ++r) before += U(r, k) * U(r, k);
    for (int pass = 0; pass < 2; ++pass)
      for (Index j = 0; j < k; ++j) {
        double dot = 0.0;
        for (Index r = 0; r < U.rows; ++r) dot += U(r, j) * U(r, k);
        for (Index r = 0; r < U.rows; ++r) U(r, k) -= dot * U(r, j);
        R[static_cast<std::size_t>(j + k * q)] += dot;
      }
    for (Index r = 0; r < U.rows; ++r) norm += U(r, k) * U(r, k);
    if (!(norm > before * 1e-24)) return Status::invalid("trend: its columns are linearly dependent");
    norm = std::sqrt(norm);
    R[static_cast<std::size_t>(k + k * q)] = norm;
    for (Index r = 0; r < U.rows; ++r) U(r, k) /= norm;
  }
  return {};
}

Status make_trend(const LowerTiles<double>& L, View<const double> H, Index padded, Trend& out) {
  const Index n = L.size(), q = out.q = H.cols;
  if (q == 0) return {};
  if (q > n) return Status::invalid("trend: there are more columns than points");
  Tall U;
  Status status = U.resize(padded, q);
  if (status.ok()) status = out.V.resize(padded, q);
  if (!status.ok()) return status;
  const auto fill = [&](Tall& to) {
    for (Index k = 0; k < q; ++k)
      for (Index r = 0; r < n; ++r) to(r, k) = H(r, k);
  };
  fill(U);
  status = orthonormalize(U.view(n), out.R);
  for (Index k = 0; k < q && status.ok(); ++k) out.log_det -= 2.0 * std::log(out.R[static_cast<std::size_t>(k + k * q)]);
  fill(U);
  fill(out.V);
  if (status.ok()) status = solve_lower<double>(L, U.view(n));
  if (status.ok()) status = orthonormalize(U.view(n), out.R);
  if (status.ok()) status = solve<double>(L, out.V.view(n));
  if (!status.ok()) return status;
  for (Index k = 0; k < q; ++k) {  // V = P H R^-1
    const double pivot = out.R[static_cast<std::size_t>(k + k * q)];
    out.log_det += 2.0 * std::log(pivot);
    for (Index j = 0; j < k; ++j) {
      const double factor = out.R[static_cast<std::size_t>(j + k * q)];
      for (Index r = 0; r < n; ++r) out.V(r, k) -= factor * out.V(r, j);
    }
    for (Index r = 0; r < n; ++r) out.V(r, k) /= pivot;
  }
  return {};
}

// B <- B - V (V' other)
void project(const Trend& trend, View<const double> other, Index n, Tall& B) {
  for (Index k = 0; k < B.columns(); ++k)
    for (Index j = 0; j < trend.q; ++j) {
      const double* v = trend.V.column(j);
      double dot = 0.0;
      for (Index r = 0; r < n; ++r) dot += v[r] * other(r, k);
      for (Index r = 0; r < n; ++r) B(r, k) -= dot * v[r];
    }
}

// R^-1 (V'y): the coefficients of the trend.
std::vector<double> coefficients(const Trend& trend, View<const double> y) {
  std::vector<double> beta(static_cast<std::size_t>(trend.q * y.cols));
  for (Index k = 0; k < y.cols; ++k)
    for (Index j = trend.q - 1; j >= 0; --j) {
      double sum = 0.0;
      for (Index r = 0; r < y.rows; ++r) sum += trend.V(r, j) * y(r, k);
      for (Index l = j + 1; l < trend.q; ++l)
        sum -= trend.R[static_cast<std::size_t>(j + l * trend.q)] * beta[static_cast<std::size_t>(l + k * trend.q)];
      beta[static_cast<std::size_t>(j + k * trend.q)] = sum / trend.R[static_cast<std::size_t>(j + j * trend.q)];
    }
  return beta;
}

// A fit: everything that does not depend on the criterion.
struct State {
  State(const Kernel& kernel, const Problem& given, LowerTiles<double>& buffer)
      : k(kernel), problem(given), P(buffer), n(given.X.rows), m(given.y.cols) {}

  const Kernel& k;
  const Problem& problem;
  LowerTiles<double>& P;  // first L
  Index n, m, padded = 0;
  Tall c;
  Trend trend;
  std::vector<double> noise, precision;
  double log_det = 0.0;
};

Status check(const Problem& problem) {
  const Index n = problem.X.rows;
  if (n == 0) return Status::invalid("evaluate: there are no points");
  if (problem.y.rows != n || problem.y.cols == 0) return Status::invalid("evaluate: y must have one row for each point");
  if (problem.noise.rows > 1 && problem.noise.rows != n)
    return Status::invalid("evaluate: give one noise variance, or one for each point");
  if (problem.trend.cols > 0 && problem.trend.rows != n)
    return Status::invalid("evaluate: the trend must have one row for each point");
  return {};
}

Status start(State& state) {
  const Problem& problem = state.problem;
  const Index n = state.n;
  state.noise.resize(static_cast<std::size_t>(n));
  Status status = gram_noise(state.k, problem.X, vector(state.noise.data(), n));
  for (Index i = 0; i < n && problem.noise.rows > 0; ++i)
    state.noise[static_cast<std::size_t>(i)] += problem.noise(problem.noise.rows == 1 ? 0 : i, 0);
  if (status.ok()) status = factorize<double>(state.k, problem.X, problem.noise, state.P);
  if (!status.ok()) return status;
  state.padded = padded_size(state.P);
  state.log_det = log_determinant(state.P);
  status = make_trend(state.P, problem.trend, state.padded, state.trend);
  if (status.ok()) status = state.c.resize(state.padded, state.m);
  if (!status.ok()) return status;
  for (Index k = 0; k < state.m; ++k)
    for (Index i = 0; i < n; ++i) state.c(i, k) = problem.y(i, k);
  status = solve<double>(state.P, state.c.view(n));
  project(state.trend, problem.y, n, state.c);
  return status;
}

// The diagonal of P., and with `whole` P in place of L. Where it is divided by, `strict`, it must not be zero.
Status find_precision(State& state, bool whole, bool strict) {
  const Index n = state.n;
  state.precision.resize(static_cast<std::size_t>(n));
  Status status = whole ? invert(state.P) : inverse_diagonal<double>(state.P, vector(state.precision.data(), n));
  for (Index i = 0; i < n && status.ok(); ++i) {
    double& p = state.precision[static_cast<std::size_t>(i)];
    if (whole) p = state.P.at(i, i);
    const double all = p;
    for (Index j = 0; j < state.trend.q; ++j) p -= state.trend.V(i, j) * state.trend.V(i, j);
    if (strict && !(p > 1e-10 * all))
      status = Status::invalid("trend: a point has leverage one: without it the trend is not determined");
  }
  return status;
}

void report(const State& state, Evaluation& out) {
  out.beta = coefficients(state.trend, state.problem.y);
  out.c.clear();
  for (Index k = 0; k < state.m; ++k) out.c.insert(out.c.end(), state.c.column(k), state.c.column(k) + state.n);
  out.precision = state.precision;
  out.noise = state.noise;
  out.log_det = state.log_det;
  out.dof = state.precision.empty() ? std::nan("") : 0.0;
  for (std::size_t i = 0; i < state.precision.size(); ++i) out.dof += 1.0 - state.noise[i] * state.precision[i];
}

struct Adjoint {
  double of_inverse = 0.0;      // a
  std::vector<double> squared;  // G; empty for zero
  Tall x, y;                    // sum of sym(x y')
  Panels S;
  std::vector<double> noise;  // of the criterion itself
};

// Sums up the gradient, one tile of W after the other: sums of each block row, added up in order.
class Pull final : public TileSink<double> {
 public:
  Pull(const State& state, const Adjoint& adjoint, const Program<double>& program, Evaluation& out)
      : state_(state),
        adjoint_(adjoint),
        program_(program),
        out_(out),
        parameters_(program.parameters()),
        sums_(static_cast<std::size_t>(state.P.blocks() * std::max<Index>(parameters_, 1)), 0.0) {}

  void take(Index row, Index col, Index, Index, const double* tile, Index stride) override {
    tile_of(row / state_.P.tile(), col / state_.P.tile(), tile, stride);
  }

  Status run() {
    const Index blocks = state_.P.blocks();
    Status status;
    if (adjoint_.squared.empty()) {
      const auto n = static_cast<double>(state_.n);
      const double cost = n * n * (program_.cost() + 0.1 * static_cast<double>(adjoint_.x.columns() + adjoint_.S.columns()));
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
    if (status.ok()) status = status_;
    out_.gradient.assign(static_cast<std::size_t>(parameters_), 0.0);
    for (Index i = 0; i < blocks && status.ok(); ++i)
      for (Index p = 0; p < parameters_; ++p)
        out_.gradient[static_cast<std::size_t>(p)] += sums_[static_cast<std::size_t>(i * parameters_ + p)];
    return program_.finish(status);
  }

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
    if (const Index rank = adjoint_.S.columns(); rank > 0)
      kernels.multiply_nt(at.height, at.width, rank, -1.0, adjoint_.S.panel(i), at.height, adjoint_.S.panel(j), at.width, W,
                          at.height);
    const Index height = P.rows(i), width = P.rows(j);
    for (Index c = 0; c < at.width; ++c)
      for (Index r = c < width ? height : 0; r < at.height; ++r) W[r + c * at.height] = 0.0;
    if (i == j)
      for (Index r = 0; r < height; ++r) out_.noise_gradient[static_cast<std::size_t>(row + r)] += W[r + r * at.height];
    else
      kernels.scale(at.count(), 2.0, W, W);
    const Status status = program_.pullback(at, W, sums_.data() + i * parameters_);
    if (!status.ok()) fail(status);
  }
  void fail(const Status& status) {
    if (!failed_.exchange(true)) status_ = status;
  }

  const State& state_;
  const Adjoint& adjoint_;
  const Program<double>& program_;
  Evaluation& out_;
  Index parameters_;
  std::vector<double> sums_;
  std::atomic<bool> failed_{false};
  Status status_;
};

Status pull(const State& state, const Adjoint& adjoint, Evaluation& out) {
  const Program<double> program(state.k, state.problem.X, state.problem.X, true, state.P.tile());
  if (!program.status().ok()) return program.status();
  out.noise_gradient = adjoint.noise;
  out.noise_gradient.resize(static_cast<std::size_t>(state.n), 0.0);
  Pull sums(state, adjoint, program, out);
  Status status = sums.run();
  if (!status.ok() || adjoint.noise.empty()) return status;
  return pullback_noise(state.k, state.problem.X, vector(adjoint.noise.data(), state.n), out.gradient.data());
}

// Room for so many terms of low rank, first those of the trend.
Status with_trend(const State& state, double of_trend, Index more, Adjoint& adjoint) {
  const Index n = state.n, q = state.trend.q;
  const bool squared = !adjoint.squared.empty();
  const Index first = (of_trend != 0.0 ? q : 0) + (squared ? q : 0);
  Status status = adjoint.x.resize(state.padded, first + more);
  if (status.ok()) status = adjoint.y.resize(state.padded, first + more);
  if (!status.ok() || q == 0) return status;
  Index at = more;
  for (Index j = 0; j < q && of_trend != 0.0; ++j, ++at)  // b (P_H - P) = -b V V'
    for (Index r = 0; r < n; ++r) {
      adjoint.x(r, at) = -of_trend * state.trend.V(r, j);
      adjoint.y(r, at) = state.trend.V(r, j);
    }
  if (!squared) return {};
  // -P. G P. = -P G P + V B' + B V', B = P G V - V (V'GV) / 2
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

// W += -sym((P. G) c') for G = dJ/dc, in the first columns of x and y.
Status add_weights(const State& state, Tall& G, Adjoint& adjoint) {
  Tall PG;
  const Status status = multiply_symmetric(state.P, G, PG);
  if (!status.ok()) return status;
  project(state.trend, G.view(state.n), state.n, PG);
  for (Index j = 0; j < state.m; ++j)
    for (Index r = 0; r < state.n; ++r) {
      adjoint.x(r, j) = -PG(r, j);
      adjoint.y(r, j) = state.c(r, j);
    }
  return {};
}

}  // namespace

Status evaluate(const Kernel& k, const Problem& problem, const Criterion& criterion, bool gradient, LowerTiles<double>& buffer,
                Evaluation& out) {
  Status status = check(problem);
  if (!status.ok()) return status;
  State state(k, problem, buffer);
  const Index n = state.n, m = state.m;
  status = start(state);
  if (status.ok() && (gradient || criterion.sees_precision)) status = find_precision(state, gradient, criterion.sees_precision);
  if (!status.ok()) return status;
  const Fit fit{problem.y,       state.c.view(n), state.precision.data(), state.noise.data(),
                problem.weights, state.trend.q,   state.log_det,          state.trend.log_det};
  Partials partials;
  Status applied;
  status = call_out([&] { applied = criterion.apply(fit, partials); });
  if (status.ok()) status = applied;
  if (!status.ok()) return status;
  report(state, out);
  out.value = partials.value;
  out.scale = partials.scale;
  if (!gradient) return {};

  Adjoint adjoint;
  adjoint.of_inverse = partials.log_det;
  adjoint.squared = partials.precision;
  adjoint.noise = partials.noise;
  status = with_trend(state, partials.log_det_trend, partials.c.empty() ? 0 : m, adjoint);
  if (status.ok() && !partials.c.empty()) {
    Tall G;
    status = G.resize(state.padded, m);
    for (Index j = 0; j < m && status.ok(); ++j) std::copy_n(partials.c.data() + j * n, n, G.column(j));
    if (status.ok()) status = add_weights(state, G, adjoint);
  }
  return status.ok() ? pull(state, adjoint, out) : status;
}

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

Status evaluate(const Kernel& k, const Problem& problem, const Folds& folds, bool gradient, LowerTiles<double>& buffer,
                Evaluation& out) {
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
  status = start(state);
  if (status.ok()) status = find_precision(state, true, false);
  if (!status.ok()) return status;
  report(state, out);

  Adjoint adjoint;
  const auto count = static_cast<Index>(groups.size());
  const double share = 1.0 / (static_cast<double>(n) * static_cast<double>(m));
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
      for (const double residual : r) out.value += share * residual * residual;
      if (!gradient) continue;
      std::vector<double> both = r;  // z = P_II^-1 r, and r
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
