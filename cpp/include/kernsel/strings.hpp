// Kernels on strings: sequences of tokens, which are numbers from 0 on, stored one string after the other.
//
// A negative token is unknown: it matches no token, not even another unknown one. gram() writes the n x n matrix of the strings
// X, cross_gram() the n x m matrix of X and Z, and diagonal() the n values of each string with itself.
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

// k(s, t) = sum_a c_a(s) c_a(t) over all words a of `length` tokens of the alphabet, where c_a counts the words in a string
// that differ from a in at most `mismatches` tokens. Words with an unknown token are left out.
struct Spectrum {
  Index length = 3;
  Index mismatches = 0;  // below `length`
  Index alphabet = 0;    // the number of different tokens, on which k depends only if there are mismatches
};

Status gram(const Spectrum& k, const Strings& X, View<double> out);
Status cross_gram(const Spectrum& k, const Strings& X, const Strings& Z, View<double> out);
Status diagonal(const Spectrum& k, const Strings& X, View<double> out);

// k(s, t) = sum_u sum_{i: u = s[i]} sum_{j: u = t[j]} decay^(l(i) + l(j)) over all subsequences u of `length` tokens, where l
// is the number of tokens of the string from the first to the last token of the subsequence. O(length |s| |t|).
struct Subsequences {
  Index length = 3;
  double decay = 0.5;  // above 0, up to 1
};

// slope <- dk/dlog decay, unless the view is empty.
Status gram(const Subsequences& k, const Strings& X, View<double> out, View<double> slope = {});
Status cross_gram(const Subsequences& k, const Strings& X, const Strings& Z, View<double> out, View<double> slope = {});
Status diagonal(const Subsequences& k, const Strings& X, View<double> out, View<double> slope = {});

// k(s, t) = 1 + sum of exp(beta score) over all local alignments of at least one pair of tokens. The score of an alignment is
// the sum of the scores of its pairs of tokens, minus gap_open + (g - 1) gap_extend for each gap of g tokens; a gap in both
// strings counts as one gap in each. k is positive semidefinite if exp(beta score) is, as a matrix over the alphabet; its
// logarithm need not be.
struct LocalAlignment {
  double beta = 1.0;
  double gap_open = 1.0;  // infinity excludes gaps
  double gap_extend = 1.0;
  double match = 1.0, mismatch = -1.0;  // the scores of pairs of tokens, if there is no table
  View<const double> scores;            // the table of scores: symmetric, with a row for each token
};

// The derivatives with respect to log beta, log gap_open and log gap_extend; the last two are zero if a cost is zero or
// infinite.
struct AlignmentSlopes {
  View<double> beta, gap_open, gap_extend;
};

// These write the logarithm of k, since k itself may overflow.
Status log_gram(const LocalAlignment& k, const Strings& X, View<double> out, const AlignmentSlopes* slopes = nullptr);
Status log_cross_gram(const LocalAlignment& k, const Strings& X, const Strings& Z, View<double> out,
                      const AlignmentSlopes* slopes = nullptr);
Status log_diagonal(const LocalAlignment& k, const Strings& X, View<double> out, const AlignmentSlopes* slopes = nullptr);

}  // namespace kernsel
