// The factorization: the inverse in place, tiles of P diag(g) P, and rows that are appended and removed across tiles.
#include <algorithm>
#include <mutex>

#include "base/parallel.hpp"
#include "check.hpp"
#include "kernsel/cholesky.hpp"
#include "kernsel/runtime.hpp"

using kernsel::Index;
using kernsel::LowerTiles;

namespace {

template <class T>
LowerTiles<T> factor(const std::vector<T>& A, Index n, Index tile) {
  LowerTiles<T> L;
  CHECK(L.resize(n, tile).ok());
  CHECK(factorize(kernsel::ArraySource<T>(kernsel::columns(A.data(), n, n)), L).ok());
  return L;
}

template <class T>
void inverse_in_place_is_the_inverse(Index n, Index tile) {
  const std::vector<T> A = positive_definite<T>(n, 1);
  LowerTiles<T> L = factor(A, n, tile);
  std::vector<T> P(A.size()), tiles(A.size());
  CHECK(inverse(L, kernsel::columns(P.data(), n, n)).ok());
  CHECK(invert(L).ok());
  CHECK(unpack_symmetric(L, kernsel::columns(tiles.data(), n, n)).ok());
  CHECK(P == tiles);

  // P diag(g) P from its lower tiles, each of which must be passed to the sink once.
  struct Sink final : kernsel::TileSink<T> {
    std::vector<T> square;
    Index n, tiles = 0;
    std::mutex mutex;
    void take(Index row, Index col, Index height, Index width, const T* tile, Index stride) override {
      const std::lock_guard<std::mutex> lock(mutex);
      ++tiles;
      for (Index c = 0; c < width; ++c)
        for (Index r = 0; r < height; ++r) square[static_cast<std::size_t>(row + r + (col + c) * n)] = tile[r + c * stride];
    }
  } sink;
  sink.n = n;
  sink.square.assign(A.size(), T(0));
  const std::vector<T> g = random_numbers<T>(n, 2);
  CHECK(weighted_square(L, kernsel::vector(g.data(), n), sink).ok());
  CHECK(sink.tiles == L.blocks() * (L.blocks() + 1) / 2);
  double largest = 0.0;
  for (const T p : P) largest = std::max(largest, std::abs(static_cast<double>(p)));
  const double limit = 16.0 * static_cast<double>(n) * epsilon<T>() * largest * largest * static_cast<double>(n);
  for (Index i = 0; i < n; i += 3)
    for (Index j = 0; j <= i; j += 5) {
      double sum = 0.0;
      for (Index k = 0; k < n; ++k)
        sum += static_cast<double>(P[static_cast<std::size_t>(i + k * n)]) *
               static_cast<double>(g[static_cast<std::size_t>(k)]) *
               static_cast<double>(P[static_cast<std::size_t>(k + j * n)]);
      CHECK_BELOW(std::abs(static_cast<double>(sink.square[static_cast<std::size_t>(i + j * n)]) - sum), limit);
    }
}

template <class T>
void points_come_and_go(Index most) {
  const std::vector<T> A = positive_definite<T>(most, 3);
  const auto view = kernsel::columns(A.data(), most, most);
  const Index tile = 2 * LowerTiles<T>::padding;
  LowerTiles<T> L;
  CHECK(L.resize(0, tile).ok());
  for (Index n = 0; n < most; ++n) CHECK(append(L, view.block(0, n, n, 1), view(n, n)).ok());
  const LowerTiles<T> fresh = factor(A, most, tile);
  const double limit = 32.0 * static_cast<double>(most) * epsilon<T>() * std::sqrt(static_cast<double>(view(0, 0)));
  for (Index i = 0; i < most; ++i)
    for (Index j = 0; j <= i; ++j) CHECK_BELOW(std::abs(static_cast<double>(L.at(i, j) - fresh.at(i, j))), limit);
  while (L.size() > 0) {
    CHECK(remove(L, 0).ok());
    // L must be the factor of the trailing block of A.
    const Index first = most - L.size();
    for (Index i = 0; i < L.size(); i += 7)
      for (Index j = 0; j <= i; j += 3) {
        double sum = 0.0;
        for (Index k = 0; k <= j; ++k) sum += static_cast<double>(L.at(i, k)) * static_cast<double>(L.at(j, k));
        CHECK_BELOW(std::abs(sum - static_cast<double>(view(first + i, first + j))),
                    32.0 * static_cast<double>(most) * epsilon<T>() * static_cast<double>(view(0, 0)));
      }
  }
  CHECK(!remove(L, 0).ok());
}

template <class T>
void bad_arguments() {
  LowerTiles<T> L;
  CHECK(!L.resize(-1).ok());
  CHECK(!L.resize(10, 3).ok());
  CHECK(!L.resize(10, LowerTiles<T>::largest_tile + LowerTiles<T>::padding).ok());
  CHECK(L.resize(2000, LowerTiles<T>::largest_tile).ok());
  CHECK(!L.resize(Index(1) << 40).ok());
  CHECK(L.resize(10).ok());
  std::vector<T> b(9);
  CHECK(solve(L, kernsel::vector(b.data(), 9)).code == kernsel::Code::invalid_argument);
  CHECK(inverse(L, kernsel::columns(b.data(), 3, 3)).code == kernsel::Code::invalid_argument);
  CHECK(inverse_diagonal(L, kernsel::vector(b.data(), 9)).code == kernsel::Code::invalid_argument);
  LowerTiles<T> taken(std::move(L));
  CHECK(taken.size() == 10);
  CHECK(L.size() == 0 && L.blocks() == 0);
  CHECK(L.resize(5).ok());
  L = std::move(taken);
  CHECK(L.size() == 10);
  const kernsel::Status status = L.resize(Index(1) << 24);
  CHECK(status.code == kernsel::Code::out_of_memory);
  CHECK(status.bytes > (std::size_t(1) << 40));
}

template <class T>
void all() {
  const Index padding = LowerTiles<T>::padding;
  for (const Index n : {1, 7, 8, 16, 17, 50, 97, 150})
    for (const Index tile : {padding, 3 * padding, 10 * padding}) inverse_in_place_is_the_inverse<T>(n, tile);
  points_come_and_go<T>(90);
  bad_arguments<T>();
}

}  // namespace

int main() {
  kernsel::use_a_team_for_any_work(true);
  for (const int threads : {1, 2, 4}) {
    kernsel::set_num_threads(threads);
    all<float>();
    all<double>();
  }
  return report("factor");
}
