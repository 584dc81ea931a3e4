// Kernels on strings, and on sequences of any tokens: numbers from 0 on, in arrays one behind the other.
//
// A negative token is unknown: it matches nothing, no other unknown one either. Matrices are n x n for strings X among
// themselves, n x m for X against Z, n x 1 for each of X with itself.
#pragma once

#include <cstdint>

#include "kernsel/status.hpp"

namespace kernsel {

struct Strings {
  const std::int32_t* tokens = nullptr;
  const std::int64_t* offsets =
      nullptr;  // count + 1 of them, ascending from 0: string i is tokens[offsets[i]] up to offsets[i + 1]
  Index count = 0;

  Index length(Index i) const { return static_cast<Index>(offsets[i + 1] - offsets[i]); }
  const std::int32_t* string(Index i) const { return tokens + offsets[i]; }
};

// k(s, t) = sum_a c_a(s) c_a(t) over all words a of `length` tokens of the alphabet; c_a counts the places in a string whose
// word differs from a in `mismatches` tokens at most. Words with an unknown token are left out.
struct Spectrum {
  Index length = 3;
  Index mismatches = 0;  // below `length`
  Index alphabet = 0;    // number of tokens that there are. Only matters with mismatches, and k is a polynomial in it.
};

Status gram(const Spectrum& k, const Strings& X, View<double> out);
Status cross_gram(const Spectrum& k, const Strings& X, const Strings& Z, View<double> out);
Status diagonal(const Spectrum& k, const Strings& X, View<double> out);

// k(s, t) = sum_u sum_{i: u = s[i]} sum_{j: u = t[j]} decay^(l(i) + l(j)) over all subsequences u of `length` tokens, l being
// how many tokens of the string lie from the first to the last of it: O(length |s| |t|).
struct Subsequences {
  Index length = 3;
  double decay = 0.5;  // above 0, up to 1
};

// slope <- dk/dlog decay, if there is room for it.
Status gram(const Subsequences& k, const Strings& X, View<double> out, View<double> slope = {});
Status cross_gram(const Subsequences& k, const Strings& X, const Strings& Z, View<double> out, View<double> slope = {});
Status diagonal(const Subsequences& k, const Strings& X, View<double> out, View<double> slope = {});

// k(s, t) = 1 + sum of exp(beta score) over all local alignments of at least one pair of tokens: pairs score by the table, a
// gap of g tokens costs gap_open + (g - 1) gap_extend; a gap in both strings is one in each. It is positive semidefinite if
// exp(beta score) is, as a matrix over the alphabet; its logarithm need not be.
struct LocalAlignment {
  double beta = 1.0;
  double gap_open = 1.0;  // may be infinite, as the next: no gaps
  double gap_extend = 1.0;
  double match = 1.0, mismatch = -1.0;  // if there is no table
  View<const double> scores;            // symmetric, a row for each token
};

// Derivatives in log beta, log gap_open and log gap_extend; the last two are zero where a cost is zero or infinite.
struct AlignmentSlopes {
  View<double> beta, gap_open, gap_extend;
};

// Of the logarithm of k: k itself may be far beyond all numbers.
Status log_gram(const LocalAlignment& k, const Strings& X, View<double> out, const AlignmentSlopes* slopes = nullptr);
Status log_cross_gram(const LocalAlignment& k, const Strings& X, const Strings& Z, View<double> out,
                      const AlignmentSlopes* slopes = nullptr);
Status log_diagonal(const LocalAlignment& k, const Strings& X, View<double> out, const AlignmentSlopes* slopes = nullptr);

}  // namespace kernsel
