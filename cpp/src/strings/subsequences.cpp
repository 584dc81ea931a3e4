// Gap-weighted subsequences: one string is compared with several others at a time, one in each lane of a vector
// (isa/strings.inl).
//
// The results of the lanes do not include the factor decay^(2 length) for the tokens that match, by which they are multiplied
// here.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/parallel.hpp"
#include "isa/table.hpp"
#include "strings/strings.hpp"

namespace kernsel {

namespace {

using std::size_t;

constexpr Index lanes = 64 / static_cast<Index>(sizeof(double));
constexpr Index rows_of_a_job = 16;
constexpr double cell_cost = 0.5;  // in nanoseconds, for each pair of tokens and each token of the subsequences

double as_number(std::int32_t token) {
  return token < 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(token);
}

std::vector<Index> by_length(const Strings& X) {
  std::vector<Index> order(static_cast<size_t>(X.count));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return X.length(a) < X.length(b); });
  return order;
}

// Strings in order of length, the shortest first, in groups of as many as there are lanes. The tokens of a group are
// interleaved.
class Groups {
 public:
  Status make(const Strings& X) {
    order_ = by_length(X);
    const Index groups = (X.count + lanes - 1) / lanes;
    first_.assign(1, 0);
    for (Index g = 0; g < groups; ++g)
      first_.push_back(first_.back() + X.length(string(std::min(g * lanes + lanes, X.count) - 1)));
    Status status = memory_.reserve(static_cast<size_t>(std::max<Index>(first_.back(), 1) * lanes) * sizeof(double));
    if (!status.ok()) return status;
    for (Index g = 0; g < groups; ++g) {
      double* to = static_cast<double*>(memory_.data()) + first_[static_cast<size_t>(g)] * lanes;
      std::fill_n(to, width(g) * lanes, std::numeric_limits<double>::quiet_NaN());
      for (Index lane = 0; lane < lanes && g * lanes + lane < X.count; ++lane) {
        const Index i = string(g * lanes + lane);
        for (Index j = 0; j < X.length(i); ++j) to[j * lanes + lane] = as_number(X.string(i)[j]);
      }
    }
    return status;
  }

  Index count() const { return static_cast<Index>(first_.size()) - 1; }
  Index string(Index place) const { return order_[static_cast<size_t>(place)]; }
  Index width(Index g) const { return first_[static_cast<size_t>(g) + 1] - first_[static_cast<size_t>(g)]; }
  const double* tokens(Index g) const {
    return static_cast<const double*>(memory_.data()) + first_[static_cast<size_t>(g)] * lanes;
  }

 private:
  std::vector<Index> order_, first_;
  Memory memory_;
};

// Compares string i of X with the strings in the lanes of a group. Returns false if the jobs were stopped.
bool run_lanes(const Subsequences& k, const Strings& X, Index i, const double* t, Index width, double* value, double* slope,
               Jobs& jobs) {
  std::fill_n(value, lanes, 0.0);
  if (slope) std::fill_n(slope, lanes, 0.0);
  const Index length = X.length(i);
  if (k.length > length || k.length > width) return true;
  double* s = scratch<double>(Scratch::row, length);
  const Index room = k.length * width * lanes * (slope ? 2 : 1);
  double* state = scratch<double>(Scratch::tape, room);
  if (!s || !state) {
    jobs.stop(no_memory(static_cast<size_t>(room) * sizeof(double)));
    return false;
  }
  for (Index j = 0; j < length; ++j) s[j] = as_number(X.string(i)[j]);
  std::fill_n(state, room, 0.0);
  const Index part = std::max<Index>(1, 1000000 / (width * k.length));
  for (Index j = 0; j < length; j += part) {
    tile_kernels<double>().subsequences({std::min(part, length - j), s + j, width, t, k.length, k.decay, state, value, slope});
    if (!jobs.poll()) return false;
  }
  return true;
}

// What is computed, and where the results go.
struct Work {
  const Subsequences& k;
  const Comparison& on;
  const View<double>&out, &slope;
  double of_matches;  // decay^(2 length)

  bool slopes() const { return slope.data != nullptr; }
  void put(Index i, Index j, double value, double its_slope) const {
    out(i, j) = of_matches * value;
    if (slopes()) slope(i, j) = of_matches * (its_slope + 2.0 * static_cast<double>(k.length) * value);
  }
  // The time for that many pairs of tokens, in nanoseconds.
  double cost(double cells) const { return cells * static_cast<double>(k.length) * cell_cost * (slopes() ? 2.0 : 1.0); }
};

// Compares each string of X with each string of Z; if the pairs are those of X, each pair once, on and below the diagonal.
Status compare(const Work& work) {
  const Strings& X = work.on.X;
  const bool symmetric = work.on.symmetric();
  Groups others;
  const Status status = others.make(work.on.Z);
  if (!status.ok()) return status;
  const std::vector<Index> rows = by_length(X);
  const Index blocks = (X.count + rows_of_a_job - 1) / rows_of_a_job;
  double cells = 0.0;
  for (Index g = 0; g < others.count(); ++g) cells += tokens(X) * static_cast<double>(others.width(g) * lanes);
  return run_jobs(blocks * others.count(), work.cost(symmetric ? cells / 2.0 : cells), [&](Jobs& jobs, Index job) {
    const Index block = blocks - 1 - job / others.count(), g = job % others.count();  // the longest strings first
    alignas(64) double value[lanes];
    alignas(64) double slope[lanes] = {};
    for (Index r = block * rows_of_a_job; r < std::min((block + 1) * rows_of_a_job, X.count); ++r) {
      if (symmetric && g * lanes > r) continue;
      const Index i = rows[static_cast<size_t>(r)];
      if (!run_lanes(work.k, X, i, others.tokens(g), others.width(g), value, work.slopes() ? slope : nullptr, jobs)) return;
      const Index last = std::min(g * lanes + lanes, symmetric ? r + 1 : work.on.Z.count) - 1;
      for (Index c = g * lanes; c <= last; ++c) {
        const Index j = others.string(c);
        work.put(symmetric ? std::max(i, j) : i, symmetric ? std::min(i, j) : j, value[c - g * lanes], slope[c - g * lanes]);
      }
    }
  });
}

// Compares each string with itself, which uses only the first lane.
Status compare_with_itself(const Work& work) {
  const Strings& X = work.on.X;
  double cells = 0.0;
  for (Index i = 0; i < X.count; ++i) cells += static_cast<double>(X.length(i)) * static_cast<double>(X.length(i) * lanes);
  return run_jobs(X.count, work.cost(cells), [&](Jobs& jobs, Index i) {
    alignas(64) double value[lanes];
    alignas(64) double slope[lanes] = {};
    const Index length = X.length(i);
    double* t = scratch<double>(Scratch::panel, std::max<Index>(length, 1) * lanes);
    if (!t) return jobs.stop(no_memory());
    std::fill_n(t, length * lanes, std::numeric_limits<double>::quiet_NaN());
    for (Index j = 0; j < length; ++j) t[j * lanes] = as_number(X.string(i)[j]);
    if (run_lanes(work.k, X, i, t, length, value, work.slopes() ? slope : nullptr, jobs)) work.put(i, 0, value[0], slope[0]);
  });
}

Status check(const Subsequences& k) {
  if (k.length < 1) return Status::invalid("subsequences: they must have one token at least");
  if (!(k.decay > 0.0 && k.decay <= 1.0)) return Status::invalid("subsequences: decay must be above 0, up to 1");
  return {};
}

Status subsequences(const Subsequences& k, const Comparison& on, const View<double>& out, const View<double>& slope) {
  const Work work{k, on, out, slope, std::pow(k.decay, 2.0 * static_cast<double>(k.length))};
  Status status = check_strings(on);
  if (status.ok()) status = check_shape(on, out);
  if (status.ok() && work.slopes()) status = check_shape(on, slope);
  if (status.ok()) status = check(k);
  if (!status.ok()) return status;
  status = on.pairs == Pairs::diagonal ? compare_with_itself(work) : compare(work);
  if (status.ok() && on.symmetric()) {
    mirror(out);
    if (work.slopes()) mirror(slope);
  }
  return status;
}

}  // namespace

Status gram(const Subsequences& k, const Strings& X, View<double> out, View<double> slope) {
  return within_memory([&] { return subsequences(k, {Pairs::own, X, X}, out, slope); });
}

Status cross_gram(const Subsequences& k, const Strings& X, const Strings& Z, View<double> out, View<double> slope) {
  return within_memory([&] { return subsequences(k, {Pairs::cross, X, Z}, out, slope); });
}

Status diagonal(const Subsequences& k, const Strings& X, View<double> out, View<double> slope) {
  return within_memory([&] { return subsequences(k, {Pairs::diagonal, X, X}, out, slope); });
}

}  // namespace kernsel
