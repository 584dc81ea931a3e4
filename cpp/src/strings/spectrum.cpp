// The spectrum kernel with mismatches, without a list of all words of the alphabet. For two words u and v that occur in the
// strings and have equal tokens in h of p places, let near(h) be the number of words of the alphabet that differ from each of
// them in at most m places; it depends only on h. The kernel is the sum of near(h) over all pairs of words of s and t. With
// near(h) as a combination of binomial coefficients C(h, q), it becomes a sum over sets Q of places:
//
//     near(h) = sum_q c_q C(h, q),      k(s, t) = sum_q c_q sum_{|Q| = q} (pairs of a word of s and one of t that agree on Q).
//
// Since near(h) = 0 for h < p - 2m, only sets of at least p - 2m places matter, which are few even for a large alphabet. For
// each set, words are numbered by their tokens in its places and counted in each string; the counts are multiplied along lists
// of the strings that have each number. All results are whole numbers below 2^53, and therefore exact in any order of
// summation.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/parallel.hpp"
#include "kernsel/runtime.hpp"
#include "strings/strings.hpp"

namespace kernsel {

namespace {

using std::size_t;

constexpr double largest_exact = 9007199254740992.0;  // 2^53
constexpr Index longest_with_mismatches = 30;

double choose(Index n, Index k) {
  if (k < 0 || k > n) return 0.0;
  double value = 1.0;
  for (Index i = 1; i <= k; ++i) value = std::round(value * static_cast<double>(n - k + i) / static_cast<double>(i));
  return value;
}

double power(double base, Index exponent) {
  double value = 1.0;
  for (Index i = 0; i < exponent; ++i) value *= base;
  return value;
}

// near(h): the number of words of the alphabet that differ in at most m places from each of two words that agree in h places.
// The loops are over the number w of agreed places in which such a word differs from both, and over the numbers x and y of
// other places in which it is equal to the first or to the second.
double near_both(const Spectrum& k, Index h) {
  const Index d = k.length - h;
  const auto letters = static_cast<double>(k.alphabet);
  double sum = 0.0;
  for (Index w = 0; w <= h; ++w)
    for (Index x = 0; x <= d; ++x)
      for (Index y = 0; x + y <= d; ++y)
        if (d - x + w <= k.mismatches && d - y + w <= k.mismatches)
          sum += choose(h, w) * power(letters - 1.0, w) * choose(d, x) * choose(d - x, y) * power(letters - 2.0, d - x - y);
  return sum;
}

// Returns the c_q, from c_q = near(q) - sum_{r<q} c_r C(q, r).
std::vector<double> factors(const Spectrum& k) {
  std::vector<double> c(static_cast<size_t>(k.length) + 1, 0.0);
  if (k.mismatches == 0) {
    c.back() = 1.0;
    return c;
  }
  for (Index q = std::max<Index>(0, k.length - 2 * k.mismatches); q <= k.length; ++q) {
    double rest = near_both(k, q);
    for (Index r = 0; r < q; ++r) rest -= c[static_cast<size_t>(r)] * choose(q, r);
    c[static_cast<size_t>(q)] = rest;
  }
  return c;
}

// How often a string has the words of one number (`feature`).
struct Entry {
  std::uint32_t feature;
  std::uint32_t string;
  double count;
};

// All words of all strings, with numbers that are comparable between strings.
class Words {
 public:
  Words(const Spectrum& k, const Comparison& on) : length_(k.length) {
    add(on.X);
    if (on.pairs == Pairs::cross) add(on.Z);
    keys_.resize(words_.size());
    numbers_.resize(words_.size());
  }

  size_t size() const { return words_.size(); }
  Index strings() const { return static_cast<Index>(first_.size()) - 1; }
  double most() const { return most_; }  // the largest number of words in a string

  // Numbers the words by their tokens in some places, and counts them in each string. The entries are in the order of the
  // strings.
  void count(const std::vector<Index>& places) {
    std::uint64_t bound = 1;
    std::fill(keys_.begin(), keys_.end(), 0);
    for (const Index place : places) {
      if (bound > (std::uint64_t{1} << 31)) bound = number();  // so that the product below fits into 64 bits
      std::uint64_t largest = 0;
      for (size_t w = 0; w < words_.size(); ++w) {
        const auto token = static_cast<std::uint64_t>(words_[w][place]);
        keys_[w] = keys_[w] * tokens_ + token;
        largest = std::max(largest, keys_[w]);
      }
      bound = largest + 1;
    }
    features_ = bound <= std::max<std::uint64_t>(1024, words_.size()) ? bound : number();  // gaps are harmless
    std::vector<std::uint32_t> last(features_, 0);  // the last string that has the number, plus one
    std::vector<size_t> where(features_);
    entries_.clear();
    begin_.assign(1, 0);
    for (size_t i = 0; i + 1 < first_.size(); ++i) {
      for (size_t w = first_[i]; w < first_[i + 1]; ++w) {
        const auto feature = static_cast<std::uint32_t>(keys_[w]);
        if (last[feature] == i + 1) {
          entries_[where[feature]].count += 1.0;
        } else {
          last[feature] = static_cast<std::uint32_t>(i + 1);
          where[feature] = entries_.size();
          entries_.push_back({feature, static_cast<std::uint32_t>(i), 1.0});
        }
      }
      begin_.push_back(entries_.size());
    }
  }

  std::uint64_t features() const { return features_; }
  const Entry* begin(Index string) const { return entries_.data() + begin_[static_cast<size_t>(string)]; }
  const Entry* end(Index string) const { return begin(string + 1); }

 private:
  void add(const Strings& some) {
    for (Index i = 0; i < some.count; ++i) {
      const std::int32_t* string = some.string(i);
      Index known = 0;
      const size_t before = words_.size();
      for (Index j = 0; j < some.length(i); ++j) {
        known = string[j] < 0 ? 0 : known + 1;
        if (string[j] >= 0) tokens_ = std::max(tokens_, static_cast<std::uint64_t>(string[j]) + 1);
        if (known >= length_) words_.push_back(string + j + 1 - length_);
      }
      first_.push_back(words_.size());
      most_ = std::max(most_, static_cast<double>(words_.size() - before));
    }
  }

  // Replaces the keys by numbers from 0 on without gaps, equal ones for equal keys, with a hash table. Returns how many numbers
  // there are, at least 1.
  std::uint64_t number() {
    size_t room = 64;
    while (room < 2 * keys_.size()) room *= 2;
    const std::uint64_t none = ~std::uint64_t{0};
    table_.assign(room, none);
    std::uint64_t count = 0;
    for (size_t w = 0; w < keys_.size(); ++w) {
      std::uint64_t at = keys_[w] * 0x9E3779B97F4A7C15u;
      at = (at ^ (at >> 32)) & (room - 1);
      while (table_[at] != none && table_[at] != keys_[w]) at = (at + 1) & (room - 1);
      if (table_[at] == none) {
        table_[at] = keys_[w];
        if (number_at_.size() < room) number_at_.resize(room);
        number_at_[at] = count++;
      }
      numbers_[w] = number_at_[at];
    }
    keys_.swap(numbers_);
    return std::max<std::uint64_t>(count, 1);
  }

  Index length_;
  std::vector<const std::int32_t*> words_;
  std::vector<size_t> first_{0};  // the first word of each string
  std::vector<std::uint64_t> keys_, numbers_, table_, number_at_;
  std::uint64_t tokens_ = 1, features_ = 0;
  double most_ = 0.0;
  std::vector<Entry> entries_;
  std::vector<size_t> begin_;
};

// For each feature, the strings from `from` up to `to` that have it, and how often.
struct Lists {
  std::vector<size_t> first;
  std::vector<std::uint32_t> string;
  std::vector<double> count;

  void make(const Words& words, Index from, Index to) {
    first.assign(words.features() + 1, 0);
    for (const Entry* e = words.begin(from); e != words.begin(to); ++e) ++first[e->feature + 1];
    for (size_t f = 1; f < first.size(); ++f) first[f] += first[f - 1];
    string.resize(first.back());
    count.resize(first.back());
    std::vector<size_t> next(first.begin(), first.end() - 1);
    for (const Entry* e = words.begin(from); e != words.begin(to); ++e) {
      const size_t at = next[e->feature]++;
      string[at] = e->string - static_cast<std::uint32_t>(from);
      count[at] = e->count;
    }
  }
};

// out(i, j) += factor times the sum over features of the product of the counts in strings i and j; if `symmetric`, only on and
// below the diagonal.
Status add_products(const Words& words, const Lists& lists, double factor, bool symmetric, const View<double>& out) {
  double cost = 0.0;
  for (const Entry* e = words.begin(0); e != words.begin(out.rows); ++e)
    cost += static_cast<double>(lists.first[e->feature + 1] - lists.first[e->feature]);
  return run_jobs(out.rows, symmetric ? cost / 2.0 : cost, [&](Jobs& jobs, Index job) {
    const Index i = symmetric ? out.rows - 1 - job : job;  // the longest rows first
    const Index cols = symmetric ? i + 1 : out.cols;
    double* sums = scratch<double>(Scratch::row, cols);
    if (!sums) return jobs.stop(no_memory());
    std::fill_n(sums, cols, 0.0);
    int entries = 0;
    for (const Entry* e = words.begin(i); e != words.end(i); ++e) {
      if (++entries % 256 == 0 && !jobs.poll()) return;
      const size_t from = lists.first[e->feature], to = lists.first[e->feature + 1];
      const double* count = lists.count.data() + from;
      if (static_cast<Index>(to - from) == out.cols) {  // every string has this feature, so that the list is not needed
        for (Index j = 0; j < cols; ++j) sums[j] += e->count * count[j];
        continue;
      }
      const std::uint32_t* string = lists.string.data() + from;
      for (size_t a = 0; a < to - from && static_cast<Index>(string[a]) < cols; ++a) sums[string[a]] += e->count * count[a];
    }
    for (Index j = 0; j < cols; ++j) out(i, j) += factor * sums[j];
  });
}

// Changes `places` to the next set of the same size, in the order of their bit masks. Returns false after the last.
bool next_places(std::vector<Index>& places, Index length) {
  const auto count = static_cast<Index>(places.size());
  for (Index a = 0; a < count; ++a) {
    Index& place = places[static_cast<size_t>(a)];
    const Index end = a + 1 < count ? places[static_cast<size_t>(a) + 1] : length;
    if (place + 1 < end) {
      ++place;
      for (Index b = 0; b < a; ++b) places[static_cast<size_t>(b)] = b;
      return true;
    }
  }
  return false;
}

void add_squares(const Words& words, double factor, const View<double>& out) {
  for (Index i = 0; i < out.rows; ++i)
    for (const Entry* e = words.begin(i); e != words.end(i); ++e) out(i, 0) += factor * e->count * e->count;
}

Status check(const Spectrum& k) {
  if (k.length < 1) return Status::invalid("spectrum: words must have one token at least");
  if (k.mismatches < 0 || k.mismatches >= k.length)
    return Status::invalid("spectrum: mismatches must be from 0 on, and fewer than the tokens of a word");
  if (k.mismatches == 0) return {};
  if (k.length > longest_with_mismatches) return Status::invalid("spectrum: words with mismatches may have 30 tokens at most");
  if (k.alphabet < 1) return Status::invalid("spectrum: with mismatches, the size of the alphabet is needed");
  return {};
}

bool exact(const std::vector<double>& c, double words) {
  const auto length = static_cast<Index>(c.size()) - 1;
  double bound = 0.0;
  for (Index q = 0; q <= length; ++q)
    if (c[static_cast<size_t>(q)] != 0.0) bound += std::abs(c[static_cast<size_t>(q)]) * choose(length, q);
  return bound * words * words < largest_exact;
}

Status spectrum(const Spectrum& k, const Comparison& on, const View<double>& out) {
  Status status = check_strings(on);
  if (status.ok()) status = check_shape(on, out);
  if (status.ok()) status = check(k);
  if (!status.ok()) return status;
  const bool cross = on.pairs == Pairs::cross;
  const Index strings = on.X.count + (cross ? on.Z.count : 0);
  const double all = tokens(on.X) + (cross ? tokens(on.Z) : 0.0);
  if (all + static_cast<double>(strings) >= 4294967296.0) return Status::invalid("spectrum: expected fewer than 2^32 tokens");
  status = check_memory(static_cast<size_t>(all * 100.0));
  if (!status.ok()) return status;
  Words words(k, on);
  const std::vector<double> c = factors(k);
  if (!exact(c, std::max(words.most(), 1.0)))
    return Status::invalid(
        "spectrum: the counts are too large to be exact (above 2^53): give fewer mismatches or shorter words");
  for (Index i = 0; i < out.rows; ++i)
    for (Index j = 0; j < out.cols; ++j) out(i, j) = 0.0;
  Lists lists;
  for (Index q = 0; q <= k.length && words.size() > 0; ++q) {
    const double factor = c[static_cast<size_t>(q)];
    if (factor == 0.0) continue;
    std::vector<Index> places(static_cast<size_t>(q));
    std::iota(places.begin(), places.end(), Index{0});
    do {
      if (asked_to_stop()) {
        status.code = Code::interrupted;
        return status;
      }
      words.count(places);
      if (on.pairs == Pairs::diagonal) {
        add_squares(words, factor, out);
        continue;
      }
      lists.make(words, cross ? on.X.count : 0, strings);
      status = add_products(words, lists, factor, on.symmetric(), out);
      if (!status.ok()) return status;
    } while (next_places(places, k.length));
  }
  if (on.symmetric()) mirror(out);
  return status;
}

}  // namespace

Status gram(const Spectrum& k, const Strings& X, View<double> out) {
  return within_memory([&] { return spectrum(k, {Pairs::own, X, X}, out); });
}

Status cross_gram(const Spectrum& k, const Strings& X, const Strings& Z, View<double> out) {
  return within_memory([&] { return spectrum(k, {Pairs::cross, X, Z}, out); });
}

Status diagonal(const Spectrum& k, const Strings& X, View<double> out) {
  return within_memory([&] { return spectrum(k, {Pairs::diagonal, X, X}, out); });
}

}  // namespace kernsel
