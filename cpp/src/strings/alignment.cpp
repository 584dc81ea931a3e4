// Local alignments (Vert, Saigo and Akutsu 2004). Let M, A and B be the sums over all alignments whose last element, at (i, j),
// is a pair of tokens, a gap in one string, or a gap in the other. Then
//
//     M(i, j) = exp(beta S) (1 + M + A + B)(i - 1, j - 1),
//     A(i, j) = open M(i - 1, j) + extend A(i - 1, j),
//     B(i, j) = open (M + A)(i, j - 1) + extend B(i, j - 1),          k = 1 + sum_ij M(i, j),
//
// where S is the score of the tokens at i and j. No term is negative. The recurrence is written once, as a template for four
// kinds of numbers: doubles, doubles with derivatives (Dual), and both with a separate exponent (Scaled), which replace them
// where doubles overflow.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/parallel.hpp"
#include "kernsel/runtime.hpp"
#include "strings/strings.hpp"

namespace kernsel {

namespace {

using std::size_t;

constexpr double largest_exponent = 500.0;  // limit of |beta score|, so that Scaled numbers times exp(beta score) are doubles
constexpr double cell_cost = 4.0;           // the time for one pair of tokens, in nanoseconds

// A number and its derivatives in the logarithms of beta, gap_open and gap_extend.
struct Dual {
  double value;
  std::array<double, 3> slope;
};

Dual operator+(const Dual& a, const Dual& b) {
  return {a.value + b.value, {a.slope[0] + b.slope[0], a.slope[1] + b.slope[1], a.slope[2] + b.slope[2]}};
}

Dual operator*(const Dual& a, const Dual& b) {
  Dual product{a.value * b.value, {}};
  for (size_t p = 0; p < 3; ++p) product.slope[p] = a.value * b.slope[p] + a.slope[p] * b.value;
  return product;
}

Dual operator*(const Dual& a, double b) { return {a.value * b, {a.slope[0] * b, a.slope[1] * b, a.slope[2] * b}}; }

double value_of(double a) { return a; }
double value_of(const Dual& a) { return a.value; }
double slope_of(double, size_t) { return 0.0; }
double slope_of(const Dual& a, size_t p) { return a.slope[p]; }
bool finite(double a) { return std::isfinite(a); }
bool finite(const Dual& a) {
  return std::isfinite(a.value) && std::isfinite(a.slope[0]) && std::isfinite(a.slope[1]) && std::isfinite(a.slope[2]);
}

// The value number * 2^(512 exponent), where `number` is zero or from 2^-256 to 2^256. The factors of products may be outside
// of this range; the product is computed first and then brought into the range.
template <class N>
struct Scaled {
  N number;
  Index exponent;
};

constexpr double up = 0x1p512, down = 0x1p-512;

template <class N>
Scaled<N> in_range(Scaled<N> a) {
  if (value_of(a.number) == 0.0) return {N{}, std::numeric_limits<int>::min()};
  for (; value_of(a.number) >= 0x1p256; ++a.exponent) a.number = a.number * down;
  for (; value_of(a.number) < 0x1p-256; --a.exponent) a.number = a.number * up;
  return a;
}

template <class N>
Scaled<N> operator+(const Scaled<N>& a, const Scaled<N>& b) {
  if (a.exponent < b.exponent) return b + a;
  if (a.exponent == b.exponent) return in_range(Scaled<N>{a.number + b.number, a.exponent});
  if (a.exponent == b.exponent + 1) return in_range(Scaled<N>{a.number + b.number * down, a.exponent});
  return a;
}

template <class N>
Scaled<N> operator*(const N& factor, const Scaled<N>& a) {
  return in_range(Scaled<N>{factor * a.number, a.exponent});
}

template <class N>
bool finite(const Scaled<N>&) {
  return true;
}

// The type of the factors that numbers of type N are multiplied by, and a number of type N for a double.
template <class N>
struct Kind {
  using Factor = N;
  static N of(double value) {
    N number{};
    if constexpr (std::is_same_v<N, double>) {
      number = value;
    } else {
      number.value = value;
    }
    return number;
  }
};

template <class N>
struct Kind<Scaled<N>> {
  using Factor = N;
  static Scaled<N> of(double value) { return in_range(Scaled<N>{Kind<N>::of(value), 0}); }
};

template <class N>
N part_of(const Dual& a) {
  if constexpr (std::is_same_v<N, double>) {
    return a.value;
  } else {
    return a;
  }
}

// log k and its derivatives in log beta, log gap_open and log gap_extend.
struct Logarithm {
  double value = 0.0;
  std::array<double, 3> slope{};
};

template <class N>
class Room {  // scratch memory for numbers of type N
 public:
  static N* get(Scratch slot, Index count) {
    static_assert(sizeof(N) % sizeof(double) == 0);
    return static_cast<N*>(static_cast<void*>(scratch<double>(slot, count * static_cast<Index>(sizeof(N) / sizeof(double)))));
  }
};

class Alignments {
 public:
  explicit Alignments(const LocalAlignment& k) : k_(k) {}

  Status make() {
    if (!(k_.beta > 0.0 && std::isfinite(k_.beta))) return Status::invalid("alignment: beta must be positive");
    if (!gap(k_.gap_open, 1, open_) || !gap(k_.gap_extend, 2, extend_))
      return Status::invalid("alignment: costs of gaps must be from 0 on, and beta times them up to 500, or infinite");
    letters_ = k_.scores.rows;
    if (letters_ == 0) return pair(k_.match, match_) && pair(k_.mismatch, mismatch_) ? Status{} : too_large();
    if (k_.scores.cols != letters_) return Status::invalid("alignment: the scores must be a square matrix");
    Status status = check_memory(static_cast<size_t>(letters_ * letters_) * sizeof(double));
    if (!status.ok()) return status;
    table_.resize(static_cast<size_t>(letters_ * letters_));
    for (Index a = 0; a < letters_; ++a)
      for (Index b = 0; b < letters_; ++b) {
        if (k_.scores(a, b) != k_.scores(b, a)) return Status::invalid("alignment: the scores must be symmetric");
        Dual factor{};
        if (!pair(k_.scores(a, b), factor)) return too_large();
        table_[static_cast<size_t>(a * letters_ + b)] = factor.value;
      }
    return {};
  }

  bool knows(const Strings& X) const {
    for (Index i = 0; letters_ > 0 && i < X.count; ++i)
      for (Index j = 0; j < X.length(i); ++j)
        if (X.string(i)[j] >= letters_) return false;
    return true;
  }

  // Computes log k for string i of X and string j of Z, with derivatives if `slopes`. Returns false if the jobs were stopped.
  bool compare(const Strings& X, Index i, const Strings& Z, Index j, bool slopes, Jobs& jobs, Logarithm& log) const {
    return slopes ? logarithm<Dual>(X, i, Z, j, jobs, log) : logarithm<double>(X, i, Z, j, jobs, log);
  }

 private:
  static Status too_large() {
    return Status::invalid("alignment: scores must be finite, and beta times them between -500 and 500");
  }
  bool gap(double cost, size_t which, Dual& factor) const {
    const double exponent = k_.beta * cost;
    factor = {std::exp(-exponent), {}};
    if (std::isfinite(cost)) factor.slope[0] = factor.slope[which] = -exponent * factor.value;
    return cost >= 0.0 && (std::isinf(cost) || exponent <= largest_exponent);
  }
  bool pair(double score, Dual& factor) const {
    const double exponent = k_.beta * score;
    factor = {std::exp(exponent), {exponent * std::exp(exponent)}};
    return std::abs(exponent) <= largest_exponent;
  }
  template <class F>
  F pair(std::int32_t s, std::int32_t t) const {
    if (s < 0 || t < 0) return F{};
    if (letters_ == 0) return part_of<F>(s == t ? match_ : mismatch_);
    const double value = table_[static_cast<size_t>(s * letters_ + t)];
    return part_of<F>(Dual{value, {k_.beta * k_.scores(s, t) * value}});
  }

  template <class N>
  bool logarithm(const Strings& X, Index i, const Strings& Z, Index j, Jobs& jobs, Logarithm& log) const {
    N sum{};
    if (!add_up(X, i, Z, j, jobs, sum)) return false;
    log.value = std::log1p(value_of(sum));
    double whole = 1.0 + value_of(sum);
    if (!finite(sum)) {
      Scaled<N> all{};
      if (!add_up(X, i, Z, j, jobs, all)) return false;
      all = Kind<Scaled<N>>::of(1.0) + all;
      sum = all.number;
      whole = value_of(sum);
      log.value = std::log(whole) + static_cast<double>(all.exponent) * 512.0 * std::log(2.0);
    }
    for (size_t p = 0; p < 3; ++p) log.slope[p] = slope_of(sum, p) / whole;
    return true;
  }

  // sum <- sum_ij M(i, j), or a number that is not finite if it overflows. Returns false if the jobs were stopped.
  template <class N>
  bool add_up(const Strings& X, Index i, const Strings& Z, Index j, Jobs& jobs, N& sum) const {
    using F = typename Kind<N>::Factor;
    const Index rows = X.length(i), cols = Z.length(j);
    N* M = Room<N>::get(Scratch::tape, 3 * cols + 1);
    F* pairs = Room<F>::get(Scratch::row, cols + 1);
    if (!M || !pairs) {
      jobs.stop(no_memory(static_cast<size_t>(4 * cols) * sizeof(N)));
      return false;
    }
    const N zero = Kind<N>::of(0.0), one = Kind<N>::of(1.0);
    const F open = part_of<F>(open_), extend = part_of<F>(extend_);
    N* A = M + cols;
    N* all = A + cols;  // 1 + M + A + B of the previous row, shifted by one column
    std::fill_n(M, 2 * cols, zero);
    std::fill_n(all, cols + 1, one);
    sum = zero;
    for (Index r = 0; r < rows && finite(sum); ++r) {
      if (r % 16 == 0 && !jobs.poll()) return false;
      const std::int32_t s = X.string(i)[r];
      for (Index c = 0; c < cols; ++c) pairs[c] = pair<F>(s, Z.string(j)[c]);
      for (Index c = 0; c < cols; ++c) {
        A[c] = open * M[c] + extend * A[c];
        M[c] = pairs[c] * all[c];
      }
      N B = zero, before = zero;  // before: M + A of the previous column
      for (Index c = 0; c < cols; ++c) {
        B = open * before + extend * B;
        before = M[c] + A[c];
        sum = sum + M[c];
        all[c + 1] = one + (before + B);
      }
    }
    return true;
  }

  const LocalAlignment& k_;
  Dual open_{}, extend_{}, match_{}, mismatch_{};
  Index letters_ = 0;  // 0 if there is no table of scores
  std::vector<double> table_;
};

Status alignments(const LocalAlignment& k, const Comparison& on, const View<double>& out, const AlignmentSlopes* slopes) {
  Status status = check_strings(on);
  if (status.ok()) status = check_shape(on, out);
  const std::array<const View<double>*, 3> slope_views = {
      slopes ? &slopes->beta : nullptr, slopes ? &slopes->gap_open : nullptr, slopes ? &slopes->gap_extend : nullptr};
  for (const View<double>* view : slope_views)
    if (status.ok() && view) status = check_shape(on, *view);
  Alignments sums(k);
  if (status.ok()) status = sums.make();
  if (!status.ok()) return status;
  if (!sums.knows(on.X) || !sums.knows(on.Z)) return Status::invalid("alignment: a token is not in the table of scores");
  const bool symmetric = on.symmetric(), diagonal = on.pairs == Pairs::diagonal;
  double cells = tokens(on.X) * tokens(on.Z) * (symmetric ? 0.5 : 1.0);
  if (diagonal) cells /= static_cast<double>(std::max<Index>(on.X.count, 1));
  status = run_jobs(on.X.count, cells * cell_cost * (slopes ? 4.0 : 1.0), [&](Jobs& jobs, Index job) {
    const Index i = symmetric ? on.X.count - 1 - job : job;  // the rows of the triangle with most pairs first
    for (Index j = 0; j < (symmetric ? i + 1 : on.cols()); ++j) {
      Logarithm log;
      if (!sums.compare(on.X, i, on.Z, diagonal ? i : j, slopes != nullptr, jobs, log)) return;
      out(i, j) = log.value;
      for (size_t p = 0; slopes && p < 3; ++p) (*slope_views[p])(i, j) = log.slope[p];
    }
  });
  if (status.ok() && symmetric) {
    mirror(out);
    for (const View<double>* view : slope_views)
      if (view) mirror(*view);
  }
  return status;
}

}  // namespace

Status log_gram(const LocalAlignment& k, const Strings& X, View<double> out, const AlignmentSlopes* slopes) {
  return within_memory([&] { return alignments(k, {Pairs::own, X, X}, out, slopes); });
}

Status log_cross_gram(const LocalAlignment& k, const Strings& X, const Strings& Z, View<double> out,
                      const AlignmentSlopes* slopes) {
  return within_memory([&] { return alignments(k, {Pairs::cross, X, Z}, out, slopes); });
}

Status log_diagonal(const LocalAlignment& k, const Strings& X, View<double> out, const AlignmentSlopes* slopes) {
  return within_memory([&] { return alignments(k, {Pairs::diagonal, X, X}, out, slopes); });
}

}  // namespace kernsel
