// The decomposition method. Each round solves for a working set of points while the other coefficients are fixed. Up to half of
// the set are those that were new in the round before; the others are those that violate the optimality conditions most. The
// rows of the changed coefficients then update the derivatives of all active points.
#include "kernsel/support.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/parallel.hpp"
#include "isa/table.hpp"
#include "kernsel/gram.hpp"
#include "support/support_interior.hpp"
#include "support/support_rows.hpp"

namespace kernsel {

namespace {

constexpr Index padding = LowerTiles<double>::padding;
constexpr double infinity = std::numeric_limits<double>::infinity();

// The numbers between which the objective is smooth around a coefficient: with epsilon, it has a kink at zero.
struct Smooth {
  double from, to;
  Smooth(double a, double lower, double upper, double epsilon)
      : from(epsilon > 0.0 && a >= 0.0 ? 0.0 : lower), to(epsilon > 0.0 && a <= 0.0 ? 0.0 : upper) {}
  bool inside(double a) const { return from < a && a < to; }
};

Smooth smooth_around(const SupportBlock<double>& block, Index k) {
  return {block.a[k], block.lower[k], block.upper[k], block.epsilon};
}

// A Newton step within a face of the feasible set: coefficients at a kink or at a bound are fixed, and the others move until
// the first of them comes to one. If many points are free, steps of pairs would converge slowly. Returns the number of free
// points, or zero if the step does not decrease the objective.
Index step_on_face(SupportBlock<double>& block) {
  std::vector<Index> free;
  for (Index k = 0; k < block.size; ++k)
    if (smooth_around(block, k).inside(block.a[k])) free.push_back(k);
  const auto m = static_cast<Index>(free.size()), padded = round_up(m, padding);
  if (m < 2 || m > LowerTiles<double>::largest_tile) return 0;
  double* memory = scratch<double>(Scratch::row, padded * (padded + padding) + block.size);
  if (!memory) return 0;
  double* A = memory;
  double* X = A + padded * padded;  // (padding, padded): row 0 has the slopes, row 1 ones
  double* moved = X + padding * padded;
  std::fill(memory, moved + block.size, 0.0);
  double largest = 0.0;
  for (Index c = 0; c < m; ++c) {
    const double* from = block.K + free[static_cast<std::size_t>(c)] * block.stride;
    for (Index r = c; r < m; ++r) A[r + c * padded] = from[free[static_cast<std::size_t>(r)]];
    largest = std::max(largest, A[c + c * padded]);
  }
  for (Index c = 0; c < padded; ++c) A[c + c * padded] += c < m ? 1e-11 * largest : 1.0;
  std::vector<double> slopes(free.size());
  for (Index c = 0; c < m; ++c) {
    const Index k = free[static_cast<std::size_t>(c)];
    slopes[static_cast<std::size_t>(c)] = block.G[k] + (block.a[k] > 0.0 ? block.epsilon : -block.epsilon);
    X[c * padding] = slopes[static_cast<std::size_t>(c)];
    X[1 + c * padding] = 1.0;
  }
  const TileKernels<double>& kernels = tile_kernels<double>();
  double pivot = 0.0;
  if (kernels.factorize(padded, A, padded, &pivot) >= 0) return 0;
  kernels.solve_transposed(padding, padded, A, padded, X, padding);
  kernels.solve(padding, padded, A, padded, X, padding);
  std::vector<double> way(free.size());
  for (Index c = 0; c < m; ++c) way[static_cast<std::size_t>(c)] = -X[c * padding];
  for (int pass = 0; pass < 2 && block.paired; ++pass) {  // the second pass removes the rounding errors of the first
    double sum = 0.0, ones = 0.0;
    for (Index c = 0; c < m; ++c) {
      sum += way[static_cast<std::size_t>(c)];
      ones += X[1 + c * padding];
    }
    for (Index c = 0; c < m; ++c) way[static_cast<std::size_t>(c)] -= X[1 + c * padding] * (sum / ones);
  }
  std::vector<const double*> rows(free.size());
  for (Index c = 0; c < m; ++c) rows[static_cast<std::size_t>(c)] = block.K + free[static_cast<std::size_t>(c)] * block.stride;
  kernels.combine(block.size, m, rows.data(), way.data(), moved);
  double slope = 0.0, curvature = 0.0;
  for (Index c = 0; c < m; ++c) {
    slope += slopes[static_cast<std::size_t>(c)] * way[static_cast<std::size_t>(c)];
    curvature += way[static_cast<std::size_t>(c)] * moved[free[static_cast<std::size_t>(c)]];
  }
  if (!(slope < 0.0)) return 0;
  double length = curvature > 0.0 ? -slope / curvature : infinity, end = 0.0;
  Index first = -1;
  for (Index c = 0; c < m; ++c) {
    const Index k = free[static_cast<std::size_t>(c)];
    const double d = way[static_cast<std::size_t>(c)], a = block.a[k];
    const Smooth range = smooth_around(block, k);
    const double stop = d > 0.0 ? range.to : range.from;
    if (d != 0.0 && (stop - a) / d < length) {
      length = (stop - a) / d;
      first = k;
      end = stop;
    }
  }
  if (!(length > 0.0 && length < infinity)) return 0;
  for (Index c = 0; c < m; ++c) {
    const Index k = free[static_cast<std::size_t>(c)];
    double& by = way[static_cast<std::size_t>(c)];
    const double before = block.a[k], now = k == first ? end : before + length * by;
    const Smooth range = smooth_around(block, k);
    block.a[k] = std::clamp(now, range.from, range.to);
    by = block.a[k] - before;  // the change after rounding
  }
  kernels.combine(block.size, m, rows.data(), way.data(), block.G);
  block.decrease -= length * (slope + curvature * length / 2.0);
  return m;
}

}  // namespace

// The state of the solution of one problem. Arrays over the active points are in the order of rows.active().
struct SupportSolver::Run {
  Run(Rows& all_rows, const SupportProblem& given, const SupportOptions& wishes, SupportFit& result)
      : rows(all_rows), problem(given), options(wishes), fit(result), n(all_rows.points()) {}

  Rows& rows;
  const SupportProblem& problem;
  const SupportOptions& options;
  SupportFit& fit;
  Index n;
  std::vector<double> G;               // K a - y at the active points, padded
  std::vector<Index> recent;           // the points that were new in the last working set
  double dual = 0.0;                   // the current value of the dual problem as a maximum
  double up = 0.0, down = 0.0;         // the least derivatives for a rising and for a falling coefficient
  double gap = 0.0;                    // the duality gap over the active points
  double work = 0.0;                   // the work since the start or the jump, in nanoseconds, roughly
  bool shrunk = false, stale = false;  // whether points were left out, and G was updated
  double shrink_below = infinity;      // points are left out only if violation() is at most this

  const std::vector<Index>& active() const { return rows.active(); }
  double lower(Index i) const { return problem.lower[static_cast<std::size_t>(i)]; }
  double upper(Index i) const { return problem.upper[static_cast<std::size_t>(i)]; }
  double& a(Index i) const { return fit.a[static_cast<std::size_t>(i)]; }
  double rise(Index i, double slope) const {
    return a(i) >= upper(i) ? infinity : slope + (a(i) >= 0.0 ? problem.epsilon : -problem.epsilon);
  }
  double fall(Index i, double slope) const {
    return a(i) <= lower(i) ? infinity : (a(i) > 0.0 ? -problem.epsilon : problem.epsilon) - slope;
  }
  double violation() const { return problem.intercept ? -(up + down) : -std::min(up, down); }
  double primal() const { return dual + gap; }
  // A bound of the rounding error of the gap: the sum over the points of the larger bound times the rounding error of f - y.
  double rounding() const {
    double sum = 0.0;
    for (Index i = 0; i < n; ++i)
      sum +=
          largest(i) * (2.0 * std::abs(problem.y(i, 0)) + std::abs(G[static_cast<std::size_t>(i)]) + std::abs(fit.intercept));
    return 16.0 * std::numeric_limits<double>::epsilon() * sum;
  }
  // About the rounding error of the gap if large coefficients cancel in K a, of which |K_ij a_j| are at most the terms.
  double cancellation() const {
    double terms = 0.0, sum = 0.0;
    for (Index j = 0; j < n; ++j) terms += root(j) * std::abs(a(j));
    for (Index i = 0; i < n; ++i) sum += largest(i) * root(i) * terms;
    return std::numeric_limits<double>::epsilon() * sum;
  }
  double largest(Index i) const { return std::max(upper(i), -lower(i)); }
  double root(Index i) const { return std::sqrt(std::max(rows.diagonal()[static_cast<std::size_t>(i)], 0.0)); }
  bool solved() const { return gap <= options.tolerance * std::abs(primal()); }

  Status begin();
  Status prefer(const std::vector<double>& other, double its_dual);
  void balance();
  Status refresh();
  void look();
  Status unshrink();
  Status shrink();
  std::vector<Index> every() const;
  std::vector<Index> free_points() const;
  std::vector<Index> working_set(Index size) const;
  Status step(const std::vector<Index>& set, bool all, bool polished, bool& moved);
  Status jump();
  Status go();
};

// Makes a feasible start from the given coefficients: within the bounds, and with the sum of the problem if there is an
// intercept.
Status SupportSolver::Run::begin() {
  if (static_cast<Index>(fit.a.size()) != n) fit.a.assign(static_cast<std::size_t>(n), 0.0);
  for (Index i = 0; i < n; ++i) a(i) = std::clamp(a(i), lower(i), upper(i));
  if (problem.intercept) balance();
  return refresh();
}

// Returns to other coefficients, with dual value `its_dual`, if they are better. A start that is worse than zero would only
// bring its rounding errors.
Status SupportSolver::Run::prefer(const std::vector<double>& other, double its_dual) {
  if (dual >= its_dual) return {};
  fit.a = other;
  return refresh();
}

// Makes the sum of the coefficients that of the problem, up to rounding, by reducing those of the sign of the excess: first
// those between their bounds only, and then, if that does not suffice, all. What is then lacking, the first points get.
void SupportSolver::Run::balance() {
  const auto excess = [this] { return std::accumulate(fit.a.begin(), fit.a.end(), 0.0) - problem.sum; };
  for (const bool all : {false, true}) {
    double size = problem.sum, room = 0.0;
    for (Index i = 0; i < n; ++i) size += std::abs(a(i));
    const double over = excess();
    if (std::abs(over) <= 4.0 * std::numeric_limits<double>::epsilon() * size) return;
    const auto may_move = [&](Index i) {
      return (a(i) > 0.0) == (over > 0.0) && (all || (lower(i) < a(i) && a(i) < upper(i)));
    };
    for (Index i = 0; i < n; ++i) room += may_move(i) ? std::abs(a(i)) : 0.0;
    const double share = room > 0.0 ? std::min(std::abs(over) / room, 1.0) : 0.0;
    for (Index i = 0; i < n; ++i)
      if (may_move(i)) a(i) -= share * a(i);
  }
  double lacking = problem.sum > 0.0 ? -excess() : 0.0;
  for (Index i = 0; i < n && lacking > 0.0; ++i) {
    const double more = std::min(upper(i) - a(i), lacking);
    a(i) += more;
    lacking -= more;
  }
}

std::vector<Index> SupportSolver::Run::every() const {
  std::vector<Index> points(static_cast<std::size_t>(n));
  std::iota(points.begin(), points.end(), Index{0});
  return points;
}

// Makes all points active, and computes the derivatives anew.
Status SupportSolver::Run::refresh() {
  Status status = rows.restrict_to(every());
  std::vector<double> f;
  if (status.ok()) status = rows.multiply(fit.a, f);
  if (!status.ok()) return status;
  G.assign(static_cast<std::size_t>(rows.stride()), 0.0);
  dual = 0.0;
  for (Index i = 0; i < n; ++i) {
    const double y = problem.y(i, 0), value = f[static_cast<std::size_t>(i)];
    G[static_cast<std::size_t>(i)] = value - y;
    dual -= a(i) * (value / 2.0 - y) + problem.epsilon * std::abs(a(i));
  }
  shrunk = stale = false;
  look();
  return {};
}

// Computes the violation of the optimality conditions at the active points, the intercept, and the duality gap, in which the
// part of each point is its loss at y - f = -(G + b), and a (G + b) + epsilon |a|: together not negative.
void SupportSolver::Run::look() {
  up = down = infinity;
  const std::vector<Index>& points = active();
  for (std::size_t k = 0; k < points.size(); ++k) {
    up = std::min(up, rise(points[k], G[k]));
    down = std::min(down, fall(points[k], G[k]));
  }
  const bool bounded = std::isfinite(up) && std::isfinite(down);
  fit.intercept = !problem.intercept    ? 0.0
                  : bounded             ? (down - up) / 2.0
                  : std::isfinite(up)   ? -up
                  : std::isfinite(down) ? down
                                        : 0.0;
  gap = 0.0;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const double residual = G[k] + fit.intercept, value = a(points[k]);
    const double size = residual < 0.0 ? upper(points[k]) : -lower(points[k]);
    gap += size * std::max(std::abs(residual) - problem.epsilon, 0.0) + value * residual + problem.epsilon * std::abs(value);
  }
}

// Leaves out the points at zero or at a bound that no step would move now.
Status SupportSolver::Run::shrink() {
  const std::vector<Index>& points = active();
  const double worst = violation();
  if (!(worst > 0.0)) return {};
  std::vector<Index> kept;
  std::vector<double> slopes;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const double rises = rise(points[k], G[k]), falls = fall(points[k], G[k]);
    const bool still = problem.intercept ? rises + down >= 0.0 && falls + up >= 0.0 : rises >= worst && falls >= worst;
    if (still) continue;
    kept.push_back(points[k]);
    slopes.push_back(G[k]);
  }
  if (static_cast<double>(kept.size()) > 0.7 * static_cast<double>(points.size())) return {};
  const Status status = rows.restrict_to(kept);
  if (!status.ok()) return status;
  slopes.resize(static_cast<std::size_t>(rows.stride()), 0.0);
  G = std::move(slopes);
  recent.clear();
  shrunk = true;
  return {};
}

// Makes all points active again. Points that were left out too early should not be left out again soon, hence the new limit.
Status SupportSolver::Run::unshrink() {
  shrink_below = violation() / 10.0;
  recent.clear();
  return refresh();
}

// Returns the places of the coefficients around which the objective is smooth, as many as a Newton step can take.
std::vector<Index> SupportSolver::Run::free_points() const {
  const Index most = std::min(LowerTiles<double>::largest_tile, rows.capacity());
  std::vector<Index> set;
  for (std::size_t k = 0; k < active().size() && static_cast<Index>(set.size()) < most; ++k) {
    const Index i = active()[k];
    if (Smooth(a(i), lower(i), upper(i), problem.epsilon).inside(a(i))) set.push_back(static_cast<Index>(k));
  }
  return set;
}

// Returns the places of the next working set among the active points: those in `recent`, then those that violate the optimality
// conditions most, about half of them rising and half falling.
std::vector<Index> SupportSolver::Run::working_set(Index size) const {
  const std::vector<Index>& points = active();
  std::vector<char> taken(points.size(), 0);
  std::vector<Index> set;
  for (const Index k : recent) {
    taken[static_cast<std::size_t>(k)] = 1;
    set.push_back(k);
  }
  struct Candidate {
    double slope;
    Index k;
    bool operator<(const Candidate& other) const { return slope < other.slope || (slope == other.slope && k < other.k); }
  };
  std::vector<Candidate> rising, falling;
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (taken[k]) continue;
    const double rises = rise(points[k], G[k]), falls = fall(points[k], G[k]);
    if (rises < (problem.intercept ? -down : 0.0)) rising.push_back({rises, static_cast<Index>(k)});
    if (falls < (problem.intercept ? -up : 0.0)) falling.push_back({falls, static_cast<Index>(k)});
  }
  const auto pick = [&](std::vector<Candidate>& from, Index most) {
    const auto count = std::min<Index>(most, static_cast<Index>(from.size()));
    std::nth_element(from.begin(), from.begin() + std::max<Index>(count - 1, 0), from.end());
    std::sort(from.begin(), from.begin() + count);
    for (Index c = 0; c < count; ++c) {
      const Index k = from[static_cast<std::size_t>(c)].k;
      if (taken[static_cast<std::size_t>(k)]) continue;
      taken[static_cast<std::size_t>(k)] = 1;
      set.push_back(k);
    }
  };
  const Index room = size - static_cast<Index>(set.size());
  if (!rising.empty()) pick(rising, room - std::min<Index>(room / 2, static_cast<Index>(falling.size())));
  if (!falling.empty()) pick(falling, size - static_cast<Index>(set.size()));
  return set;
}

// Solves for a working set, given by places among the active points. `all` tells that the set is all points in order, so that
// the block is the whole matrix. If `polished`, Newton steps on the free coefficients come first. `moved` tells whether a
// coefficient has changed.
Status SupportSolver::Run::step(const std::vector<Index>& set, bool all, bool polished, bool& moved) {
  const std::vector<Index>& points = active();
  const auto size = static_cast<Index>(set.size()), padded = round_up(size, padding);
  std::vector<Index> chosen(set.size());
  for (std::size_t k = 0; k < set.size(); ++k) chosen[k] = points[static_cast<std::size_t>(set[k])];
  std::vector<const double*> of;
  Status status = rows.fetch(chosen, of);
  if (!status.ok()) return status;

  double* memory = scratch<double>(Scratch::panel, (all ? 0 : padded * padded) + 9 * padded);
  if (!memory) return no_memory();
  double* diagonal = memory;
  double* lowest = diagonal + padded;
  double* highest = lowest + padded;
  double* values = highest + padded;
  double* slopes = values + padded;
  double* room = slopes + padded;
  double* K = room + 4 * padded;
  std::fill(memory, room, 0.0);
  double least = 0.0;
  for (Index k = 0; k < size; ++k) {
    const Index i = chosen[static_cast<std::size_t>(k)];
    diagonal[k] = rows.diagonal()[static_cast<std::size_t>(i)];
    lowest[k] = lower(i);
    highest[k] = upper(i);
    values[k] = a(i);
    slopes[k] = G[static_cast<std::size_t>(set[static_cast<std::size_t>(k)])];
    least = std::max(least, diagonal[k]);
  }
  if (!all) {
    // Rows have a column for each point if the whole matrix fits, otherwise one for each active point.
    for (Index c = 0; c < size; ++c) {
      const double* from = of[static_cast<std::size_t>(c)];
      for (Index r = 0; r < size; ++r)
        K[r + c * padded] = from[rows.whole() ? chosen[static_cast<std::size_t>(r)] : set[static_cast<std::size_t>(r)]];
      std::fill(K + size + c * padded, K + padded + c * padded, 0.0);
    }
  }
  SupportBlock<double> block{padded,
                             all ? of[0] : K,
                             all ? rows.stride() : padded,
                             diagonal,
                             lowest,
                             highest,
                             problem.epsilon,
                             problem.intercept,
                             0.1 * violation(),
                             std::max(1e-12 * least, std::numeric_limits<double>::min()),
                             std::min<Index>(options.iterations - fit.iterations, 20 * size + 2000),
                             values,
                             slopes,
                             room,
                             room + padded,
                             room + 2 * padded,
                             room + 3 * padded,
                             0.0,
                             0,
                             false};
  const auto faced = [&] {
    const auto free = static_cast<double>(step_on_face(block));
    work += free * (0.02 * free * free + 0.5 * static_cast<double>(size));
    return free > 0.0;
  };
  const Index most = block.most;
  for (Index k = 0; polished && k < size && faced(); ++k) continue;
  dual += block.decrease;
  block.most = std::min(most, 2 * size);
  for (Index done = 0; done < most;) {
    tile_kernels<double>().support_block(block);
    const bool settled = block.iterations < block.most;
    fit.indefinite = fit.indefinite || block.indefinite;
    fit.iterations += block.iterations;
    dual += block.decrease;
    done += block.iterations;
    work += static_cast<double>(block.iterations) * static_cast<double>(size);
    block.decrease = 0.0;
    if (settled || done >= most) break;
    if (faced()) {
      ++fit.iterations;
      ++done;
      dual += block.decrease;
    }
    block.most = std::min(most - done, 2 * size);
  }
  ++fit.rounds;
  stale = true;
  work += 0.3 * static_cast<double>(size) * static_cast<double>(rows.stride());

  std::vector<const double*> changed;
  std::vector<double> by;
  for (Index k = 0; k < size; ++k) {
    double& before = a(chosen[static_cast<std::size_t>(k)]);
    if (values[k] == before) continue;
    changed.push_back(of[static_cast<std::size_t>(k)]);
    by.push_back(values[k] - before);
    before = values[k];
  }
  moved = !changed.empty();
  if (all) {
    std::copy_n(slopes, size, G.begin());
    return {};
  }
  constexpr Index chunk = 1024;
  const Index length = rows.stride(), terms = static_cast<Index>(changed.size());
  const double cost = 0.1 * static_cast<double>(length) * static_cast<double>(terms);
  return run_jobs((length + chunk - 1) / chunk, cost, [&](Jobs&, Index job) {
    const Index begin = job * chunk, count = std::min(chunk, length - begin);
    std::vector<const double*> parts(changed);
    for (const double*& part : parts) part += begin;
    tile_kernels<double>().combine(count, terms, parts.data(), by.data(), G.data() + begin);
  });
}

// Replaces the coefficients by those of the interior point method, improved by Newton steps on their face; goes back if the
// result is not better.
Status SupportSolver::Run::jump() {
  const std::vector<double> before = fit.a;
  const double its_dual = dual;
  Status status = rows.near_solution(problem, fit.a);
  if (status.ok()) status = begin();
  bool moved = false;
  if (const std::vector<Index> set = free_points(); status.ok() && !set.empty()) status = step(set, false, true, moved);
  if (status.ok()) status = refresh();
  return status.ok() ? prefer(before, its_dual) : status;
}

Status SupportSolver::Run::go() {
  Status status = begin();
  if (status.ok() && problem.sum == 0.0) status = prefer(std::vector<double>(static_cast<std::size_t>(n), 0.0), 0.0);
  const Index room = rows.capacity();
  const Index wish = options.working_set > 0 ? options.working_set : 256;
  // After this work, in nanoseconds, an interior point method is likely to be faster than further rounds: it takes about 20 n^3
  // / 3 operations. If the rounds after it take many times as long, rounding errors prevent a better solution.
  const double slow = 1e7 + 0.04 * std::pow(static_cast<double>(n), 3.0);
  bool jumped = false;
  double least_gap = infinity;
  std::vector<double> least;    // the coefficients with the least gap after the interior point method
  Index since = 0, checks = 0;  // since: rounds without progress; checks: exact recomputations
  while (status.ok()) {
    if (solved()) {
      if (shrunk) {
        status = unshrink();
      } else if (stale && options.tolerance < 1e-7 && checks++ < 10) {
        status = refresh();  // sums computed anew have smaller rounding errors
      } else {
        fit.converged = true;
        break;
      }
      continue;
    }
    if (fit.iterations >= options.iterations || (jumped && work > 30.0 * slow)) break;
    if (asked_to_stop()) {
      status.code = Code::interrupted;
      break;
    }
    if (!jumped && work > slow) {
      jumped = true;
      work = 0.0;
      recent.clear();
      status = jump();
      if (!status.ok()) break;
      least_gap = infinity;
      continue;
    }
    if (options.shrinking && !rows.whole() && fit.rounds % 8 == 7 && violation() <= shrink_below) {
      status = shrink();
      if (!status.ok()) break;
    }
    const bool together = rows.at_once() && n <= 2 * wish;
    const Index size = std::min({together ? n : wish, room, static_cast<Index>(active().size())});
    if (together) recent.clear();
    if (static_cast<Index>(recent.size()) > size / 2) recent.resize(static_cast<std::size_t>(size / 2));
    const auto kept = recent.size();
    const std::vector<Index> set = together ? every() : working_set(size);
    bool moved = false;
    if (!set.empty()) status = step(set, together, false, moved);
    if (!status.ok()) break;
    recent.assign(set.begin() + static_cast<Index>(kept), set.end());
    look();
    if (gap < 0.999 * least_gap) {
      least_gap = gap;
      since = 0;
      if (jumped) least = fit.a;
    }
    if ((moved && (shrunk || !jumped || ++since < 1000))) continue;
    if (!shrunk) {  // only rounding errors are left
      fit.converged = gap <= 1e-9 * std::abs(primal()) + rounding();
      break;
    }
    status = unshrink();
  }
  if ((shrunk || (stale && !fit.converged)) && (status.ok() || status.code == Code::interrupted)) {
    const Status again = refresh();
    if (status.ok()) status = again;
  }
  if (status.ok() && !fit.converged) {
    if (!least.empty() && gap > least_gap) {  // rounding errors have led away from there
      const double before = gap;
      fit.a.swap(least);
      status = refresh();
      if (status.ok() && gap > before) {
        fit.a.swap(least);
        status = refresh();
      }
    }
    fit.converged = solved();
  }
  fit.rounding = cancellation();
  fit.gap = gap;
  fit.primal = primal();
  fit.rows = rows.computed();
  return status;
}

SupportSolver::SupportSolver(const Kernel& kernel, View<const double> X, std::size_t bytes, std::vector<double> noise)
    : rows_(std::make_unique<Rows>(kernel, X, bytes, std::move(noise))) {}
SupportSolver::~SupportSolver() = default;

Status SupportSolver::solve(const SupportProblem& problem, const SupportOptions& options, SupportFit& fit) {
  const Index n = rows_->points();
  fit.intercept = fit.primal = fit.gap = fit.rounding = 0.0;
  fit.iterations = fit.rounds = fit.rows = 0;
  fit.converged = fit.indefinite = false;
  if (n == 0) return Status::invalid("support vectors: there are no points");
  if (problem.y.rows != n || static_cast<Index>(problem.lower.size()) != n || static_cast<Index>(problem.upper.size()) != n)
    return Status::invalid("support vectors: y, lower and upper must have one number for each point");
  double largest_sum = 0.0;
  for (std::size_t i = 0; i < problem.upper.size(); ++i) {
    if (!(-infinity < problem.lower[i] && problem.lower[i] <= 0.0 && 0.0 <= problem.upper[i] && problem.upper[i] < infinity))
      return Status::invalid("support vectors: bounds must be finite, with lower <= 0 <= upper");
    largest_sum += problem.upper[i];
  }
  if (!(problem.sum >= 0.0 && problem.sum <= (1.0 + 1e-12) * largest_sum))  // all at their bounds, but for rounding
    return Status::invalid("support vectors: the sum must be between zero and the sum of the upper bounds");
  if (!(problem.epsilon >= 0.0 && problem.epsilon < infinity))
    return Status::invalid("support vectors: epsilon must not be negative");
  for (const double value : fit.a)
    if (!std::isfinite(value)) return Status::invalid("support vectors: a start must be finite");
  if (!rows_->noise_fits())
    return Status::invalid("support vectors: noise must be finite, not negative, and one number for each point");
  const Status status = rows_->start();
  if (!status.ok()) return status;
  return Run(*rows_, problem, options, fit).go();
}

}  // namespace kernsel
