// Random numbers from a seed, the same on every machine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernsel/status.hpp"

namespace kernsel {

// The generator splitmix64 of Steele, Lea and Flood (2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // A number from 0 to 1, which it is never.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  // A number from 0 to `count` - 1, each as probable as the others: numbers of the last, incomplete range are drawn anew.
  std::uint64_t below(std::uint64_t count) {
    const std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t limit = largest - largest % count;
    std::uint64_t number = next();
    while (number >= limit) number = next();
    return number % count;
  }

  // A random subset of 0 ... n - 1, in order.
  std::vector<Index> subset(Index n, Index size) {
    std::vector<Index> all(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = i;
    for (Index i = 0; i < size; ++i)
      std::swap(all[static_cast<std::size_t>(i)],
                all[static_cast<std::size_t>(i) + next() % static_cast<std::uint64_t>(n - i)]);
    all.resize(static_cast<std::size_t>(size));
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  std::uint64_t state_;
};

}  // namespace kernsel
