// Kernels on strings, compared with sums over all words, all subsequences and all alignments, one term after the other.
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>

#include "base/parallel.hpp"
#include "check.hpp"
#include "kernsel/runtime.hpp"
#include "kernsel/strings.hpp"

using kernsel::Index;
using kernsel::LocalAlignment;
using kernsel::Spectrum;
using kernsel::Strings;
using kernsel::Subsequences;

namespace {

using String = std::vector<int>;

struct Case {
  explicit Case(std::vector<String> all) : list(std::move(all)) {
    offsets.push_back(0);
    for (const String& s : list) {
      tokens.insert(tokens.end(), s.begin(), s.end());
      offsets.push_back(static_cast<std::int64_t>(tokens.size()));
    }
  }
  Strings strings() const { return {tokens.data(), offsets.data(), size()}; }
  Index size() const { return static_cast<Index>(list.size()); }

  std::vector<String> list;
  std::vector<std::int32_t> tokens;
  std::vector<std::int64_t> offsets;
};

// Random strings, the first of which are empty and of one token; about every twelfth token is unknown (-1).
Case random_strings(Index count, int longest, int letters, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<String> all;
  for (Index i = 0; i < count; ++i) {
    String s(i < 2 ? static_cast<std::size_t>(i) : generator() % static_cast<unsigned>(longest + 1));
    for (int& token : s) token = generator() % 12 == 0 ? -1 : static_cast<int>(generator() % static_cast<unsigned>(letters));
    all.push_back(s);
  }
  return Case(all);
}

double spectrum(const String& s, const String& t, Index p, Index m, int letters) {
  const auto length = static_cast<std::size_t>(p);
  double words = std::pow(letters, p), sum = 0.0;
  for (Index code = 0; code < static_cast<Index>(words); ++code) {
    String word(length);
    Index rest = code;
    for (int& token : word) {
      token = static_cast<int>(rest % letters);
      rest /= letters;
    }
    double counts[2] = {0.0, 0.0};
    for (int which = 0; which < 2; ++which) {
      const String& in = which == 0 ? s : t;
      for (std::size_t at = 0; at + length <= in.size(); ++at) {
        Index wrong = 0;
        bool known = true;
        for (std::size_t k = 0; k < length; ++k) {
          known = known && in[at + k] >= 0;
          wrong += in[at + k] != word[k];
        }
        counts[which] += known && wrong <= m;
      }
    }
    sum += counts[0] * counts[1];
  }
  return sum;
}

struct Sum {
  double value = 0.0, slope = 0.0;
};

// Adds the terms of all common subsequences with `left` more tokens, from position i of s and j of t on. `span` is the number
// of tokens that the subsequences have spanned in both strings so far, if they have `begun`.
void subsequences(const String& s, const String& t, Index left, std::size_t i, std::size_t j, double span, bool begun,
                  double decay, Sum& sum) {
  if (left == 0) {
    sum.value += std::pow(decay, span);
    sum.slope += span * std::pow(decay, span);
    return;
  }
  for (std::size_t a = i; a < s.size(); ++a)
    for (std::size_t b = j; b < t.size(); ++b)
      if (s[a] == t[b] && s[a] >= 0)
        subsequences(s, t, left - 1, a + 1, b + 1, begun ? span + static_cast<double>(a - i + b - j) + 2.0 : 2.0, true, decay,
                     sum);
}

// A sum of weights, and its derivatives with respect to the logarithms of three parameters.
struct Sums {
  double value = 0.0;
  std::array<double, 3> slope{};
};

// Adds the weights of the local alignment that ends with the pair (i, j), and of all that continue after it. A weight is exp of
// the sum of the `exponents`: the scores of the pairs, the openings of gaps, and their extensions.
void alignments(const String& s, const String& t, Index i, Index j, const LocalAlignment& k, std::array<double, 3> exponents,
                Sums& sums) {
  const int x = s[static_cast<std::size_t>(i)], y = t[static_cast<std::size_t>(j)];
  if (x < 0 || y < 0) return;
  exponents[0] += k.beta * (k.scores.rows ? k.scores(x, y) : x == y ? k.match : k.mismatch);
  const double weight = std::exp(exponents[0] + exponents[1] + exponents[2]);
  sums.value += weight;
  sums.slope[0] += weight * (exponents[0] + exponents[1] + exponents[2]);
  sums.slope[1] += weight * exponents[1];
  sums.slope[2] += weight * exponents[2];
  for (Index a = i + 1; a < static_cast<Index>(s.size()); ++a)
    for (Index b = j + 1; b < static_cast<Index>(t.size()); ++b) {
      std::array<double, 3> more = exponents;
      bool allowed = true;
      for (const Index gap : {a - i - 1, b - j - 1}) {
        if (gap > 0) more[1] -= k.beta * k.gap_open;
        if (gap > 1) more[2] -= k.beta * static_cast<double>(gap - 1) * k.gap_extend;
        allowed = allowed && !(gap > 0 && std::isinf(k.gap_open)) && !(gap > 1 && std::isinf(k.gap_extend));
      }
      if (allowed) alignments(s, t, a, b, k, more, sums);
    }
}

// log k and its derivatives.
Sums alignment(const String& s, const String& t, const LocalAlignment& k) {
  Sums sums;
  for (Index a = 0; a < static_cast<Index>(s.size()); ++a)
    for (Index b = 0; b < static_cast<Index>(t.size()); ++b) alignments(s, t, a, b, k, {}, sums);
  for (double& slope : sums.slope) slope /= 1.0 + sums.value;
  sums.value = std::log1p(sums.value);
  return sums;
}

// Compares gram(X, views), cross_gram(X, Z, views) and diagonal(X, views), each of which fills one view for each of the
// `tables` (values and derivatives), with expected(s, t), which returns these numbers and the size to which errors are
// relative.
template <class G, class C, class D, class E>
void compare(std::size_t tables, const Case& X, const Case& Z, const G& gram, const C& cross_gram, const D& diagonal,
             const E& expected, double tolerance) {
  const Index n = X.size(), m = Z.size();
  std::vector<std::vector<double>> own(tables), cross(tables), same(tables);
  std::vector<kernsel::View<double>> own_views, cross_views, same_views;
  for (std::size_t k = 0; k < tables; ++k) {
    own[k].resize(static_cast<std::size_t>(n * n));
    cross[k].resize(static_cast<std::size_t>(n * m));
    same[k].resize(static_cast<std::size_t>(n));
    own_views.push_back(kernsel::rows(own[k].data(), n, n));
    cross_views.push_back(kernsel::columns(cross[k].data(), n, m));
    same_views.push_back(kernsel::vector(same[k].data(), n));
  }
  CHECK(gram(X.strings(), own_views).ok());
  CHECK(cross_gram(X.strings(), Z.strings(), cross_views).ok());
  CHECK(diagonal(X.strings(), same_views).ok());
  for (Index i = 0; i < n; ++i) {
    const String& s = X.list[static_cast<std::size_t>(i)];
    for (Index j = 0; j < std::max(n, m); ++j)
      for (const bool of_own : {true, false}) {
        if (j >= (of_own ? n : m)) continue;
        const auto [numbers, size] = expected(s, (of_own ? X : Z).list[static_cast<std::size_t>(j)]);
        for (std::size_t k = 0; k < tables; ++k) {
          const double found = of_own ? own_views[k](i, j) : cross_views[k](i, j);
          CHECK_BELOW(std::abs(found - numbers[k]), tolerance * size);
          if (of_own) CHECK(own_views[k](i, j) == own_views[k](j, i));
          if (of_own && i == j) CHECK(same_views[k](i, 0) == found);
        }
      }
  }
}

void words() {
  const Case X = random_strings(9, 14, 3, 1), Z = random_strings(5, 14, 3, 2);
  for (const Index p : {1, 2, 3, 4, 5})
    for (Index m = 0; m < p; ++m)
      for (const int letters : {3, 4}) {
        const Spectrum k{p, m, letters};
        compare(
            1, X, Z, [&](const Strings& x, const auto& out) { return kernsel::gram(k, x, out[0]); },
            [&](const Strings& x, const Strings& z, const auto& out) { return kernsel::cross_gram(k, x, z, out[0]); },
            [&](const Strings& x, const auto& out) { return kernsel::diagonal(k, x, out[0]); },
            [&](const String& s, const String& t) {
              return std::pair(std::vector<double>{spectrum(s, t, p, m, letters)}, 0.0);
            },
            0.0);
      }
  // Tokens with numbers so large that a word of four does not fit into one 64-bit key.
  std::vector<String> large = X.list;
  for (String& s : large)
    for (int& token : s) token = token < 0 ? token : 2147483646 - token;
  const Case far(large);
  std::vector<double> near(81), same(81);
  CHECK(kernsel::gram(Spectrum{4, 0, 0}, X.strings(), kernsel::rows(near.data(), 9, 9)).ok());
  CHECK(kernsel::gram(Spectrum{4, 0, 0}, far.strings(), kernsel::rows(same.data(), 9, 9)).ok());
  CHECK(near == same);
}

void gaps() {
  const Case X = random_strings(11, 9, 3, 3), Z = random_strings(19, 8, 3, 4);
  for (const double decay : {0.3, 1.0})
    for (const Index p : {1, 2, 3, 4, 9})
      for (const bool slope : {false, true}) {
        const Subsequences k{p, decay};
        const auto second = [&](const auto& out) { return slope ? out[1] : kernsel::View<double>{}; };
        compare(
            slope ? 2 : 1, X, Z, [&](const Strings& x, const auto& out) { return kernsel::gram(k, x, out[0], second(out)); },
            [&](const Strings& x, const Strings& z, const auto& out) {
              return kernsel::cross_gram(k, x, z, out[0], second(out));
            },
            [&](const Strings& x, const auto& out) { return kernsel::diagonal(k, x, out[0], second(out)); },
            [&](const String& s, const String& t) {
              Sum found;
              subsequences(s, t, p, 0, 0, 0.0, false, decay, found);
              return std::pair(std::vector<double>{found.value, found.slope}, slope ? found.slope : found.value);
            },
            100.0 * epsilon<double>());
      }
}

void local_alignments() {
  const Case X = random_strings(7, 5, 3, 7), Z = random_strings(5, 5, 3, 8);
  const std::vector<double> scores = {2.0, -1.0, 0.5, -1.0, 3.0, -2.0, 0.5, -2.0, 1.0};
  std::vector<LocalAlignment> kernels(5);
  kernels[1].beta = 0.3;
  kernels[1].gap_extend = 0.2;
  kernels[2].scores = kernsel::rows(scores.data(), 3, 3);
  kernels[3].gap_open = kernels[3].gap_extend = std::numeric_limits<double>::infinity();
  kernels[4].gap_open = 0.0;
  kernels[4].gap_extend = std::numeric_limits<double>::infinity();
  for (const LocalAlignment& k : kernels)
    for (const bool slopes : {false, true}) {
      const auto call = [&](const auto& f, const auto& out) {
        if (!slopes) return f(nullptr);
        const kernsel::AlignmentSlopes room{out[1], out[2], out[3]};
        return f(&room);
      };
      compare(
          slopes ? 4 : 1, X, Z,
          [&](const Strings& x, const auto& out) {
            return call([&](const kernsel::AlignmentSlopes* room) { return kernsel::log_gram(k, x, out[0], room); }, out);
          },
          [&](const Strings& x, const Strings& z, const auto& out) {
            return call([&](const kernsel::AlignmentSlopes* room) { return kernsel::log_cross_gram(k, x, z, out[0], room); },
                        out);
          },
          [&](const Strings& x, const auto& out) {
            return call([&](const kernsel::AlignmentSlopes* room) { return kernsel::log_diagonal(k, x, out[0], room); }, out);
          },
          [&](const String& s, const String& t) {
            const Sums sums = alignment(s, t, k);
            return std::pair(std::vector<double>{sums.value, sums.slope[0], sums.slope[1], sums.slope[2]}, 1.0 + sums.value);
          },
          200.0 * epsilon<double>());
    }
}

// Values whose exponential is beyond double precision: the best alignment of a string of n equal tokens with itself has the
// score n, and with a large beta all others are negligible.
void beyond_all_numbers() {
  const Case X({String(50, 1), String(400, 1), {}});
  LocalAlignment k;
  k.beta = 100.0;
  k.gap_open = k.gap_extend = 4.0;
  std::vector<double> K(9), by_beta(9), by_open(9), by_extend(9);
  const auto table = [](std::vector<double>& numbers) { return kernsel::rows(numbers.data(), 3, 3); };
  const kernsel::AlignmentSlopes slopes{table(by_beta), table(by_open), table(by_extend)};
  for (const kernsel::AlignmentSlopes* room : {static_cast<const kernsel::AlignmentSlopes*>(nullptr), &slopes}) {
    CHECK(kernsel::log_gram(k, X.strings(), table(K), room).ok());
    CHECK_BELOW(std::abs(K[4] - 40000.0), 1e-10 * 40000.0);
    CHECK_BELOW(std::abs(K[1] - (5000.0 + std::log(351.0))), 1e-10 * 5000.0);
    CHECK(K[8] == 0.0);
  }
  CHECK_BELOW(std::abs(by_beta[4] - 40000.0), 1e-10 * 40000.0);
  CHECK_BELOW(std::abs(by_beta[1] - 5000.0), 1e-10 * 5000.0);
  CHECK(by_beta[8] == 0.0 && std::abs(by_open[4]) < 1e-10 && std::abs(by_extend[4]) < 1e-10);
  k.beta = 500.0;
  CHECK(!kernsel::log_gram(k, X.strings(), table(K)).ok());
  // Without gaps, beta may be larger: log k is beta n.
  k.gap_open = k.gap_extend = std::numeric_limits<double>::infinity();
  CHECK(kernsel::log_gram(k, X.strings(), table(K)).ok());
  CHECK_BELOW(std::abs(K[4] - 200000.0), 1e-10 * 200000.0);
}

void same_bits() {
  kernsel::use_a_team_for_any_work(true);
  const Case X = random_strings(60, 90, 4, 9);
  std::vector<double> first;
  for (const int threads : {1, 2, 3}) {
    kernsel::set_num_threads(threads);
    std::vector<double> all(7 * 3600 + 60);
    const auto part = [&](Index k) { return kernsel::rows(all.data() + k * 3600, 60, 60); };
    const kernsel::AlignmentSlopes slopes{part(4), part(5), part(6)};
    CHECK(kernsel::gram(Spectrum{4, 1, 4}, X.strings(), part(0)).ok());
    CHECK(kernsel::gram(Subsequences{3, 0.7}, X.strings(), part(1), part(2)).ok());
    CHECK(kernsel::log_gram(LocalAlignment{}, X.strings(), part(3), &slopes).ok());
    CHECK(kernsel::diagonal(Subsequences{3, 0.7}, X.strings(), kernsel::vector(all.data() + 7 * 3600, 60)).ok());
    if (first.empty()) first = all;
    CHECK(all == first);
  }
  kernsel::use_a_team_for_any_work(false);
}

void wrong_arguments() {
  const Case X({{0, 1, 2}, {2}});
  std::vector<double> K(9);
  const auto out = kernsel::rows(K.data(), 2, 2);
  CHECK(!kernsel::gram(Spectrum{0, 0, 3}, X.strings(), out).ok());
  CHECK(!kernsel::gram(Spectrum{2, 2, 3}, X.strings(), out).ok());
  CHECK(!kernsel::gram(Spectrum{2, 1, 0}, X.strings(), out).ok());
  CHECK(!kernsel::gram(Spectrum{31, 1, 3}, X.strings(), out).ok());
  CHECK(!kernsel::gram(Spectrum{30, 14, 1000}, X.strings(), out).ok());  // counts that doubles do not hold exactly
  CHECK(!kernsel::gram(Spectrum{2, 0, 0}, X.strings(), kernsel::rows(K.data(), 3, 3)).ok());
  CHECK(!kernsel::diagonal(Spectrum{2, 0, 0}, X.strings(), out).ok());
  CHECK(!kernsel::gram(Subsequences{0, 0.5}, X.strings(), out).ok());
  CHECK(!kernsel::gram(Subsequences{2, 0.5}, X.strings(), out, kernsel::rows(K.data(), 3, 3)).ok());
  for (const double decay : {0.0, -1.0, 1.1, std::nan("")})
    CHECK(!kernsel::gram(Subsequences{2, decay}, X.strings(), out).ok());
  LocalAlignment k;
  k.beta = 0.0;
  CHECK(!kernsel::log_gram(k, X.strings(), out).ok());
  k.beta = 1.0;
  k.gap_open = -1.0;
  CHECK(!kernsel::log_gram(k, X.strings(), out).ok());
  k.gap_open = 1.0;
  const std::vector<double> scores = {1.0, 2.0, 3.0, 4.0, 2.0, 5.0, 5.0, 6.0, 7.0};
  k.scores = kernsel::rows(scores.data(), 3, 3);
  CHECK(!kernsel::log_gram(k, X.strings(), out).ok());  // not symmetric
  k.scores = kernsel::rows(scores.data() + 4, 1, 1);
  CHECK(!kernsel::log_gram(k, X.strings(), out).ok());  // the table of scores is smaller than the alphabet
  CHECK(kernsel::gram(Spectrum{2, 0, 0}, Strings{}, kernsel::rows(K.data(), 0, 0)).ok());
}

void interrupt() {
  const Case X = random_strings(400, 900, 4, 11);
  std::vector<double> K(400 * 400);
  kernsel::set_interrupt_check([] { return true; });
  const auto out = kernsel::rows(K.data(), 400, 400);
  CHECK(kernsel::gram(Subsequences{5, 0.7}, X.strings(), out).code == kernsel::Code::interrupted);
  CHECK(kernsel::gram(Spectrum{6, 2, 4}, X.strings(), out).code == kernsel::Code::interrupted);
  CHECK(kernsel::log_gram(LocalAlignment{}, X.strings(), out).code == kernsel::Code::interrupted);
  kernsel::set_interrupt_check(nullptr);
}

}  // namespace

int main() {
  words();
  gaps();
  local_alignments();
  beyond_all_numbers();
  same_bits();
  wrong_arguments();
  interrupt();
  return report("strings");
}
