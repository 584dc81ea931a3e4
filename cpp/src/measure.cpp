#include "kernsel/measure.hpp"

#include <algorithm>
#include <chrono>

#include "isa/table.hpp"
#include "kernsel/runtime.hpp"
#include "memory.hpp"
#include "parallel.hpp"

namespace kernsel {

template <class T>
double tile_product_rate() {
  using Clock = std::chrono::steady_clock;
  constexpr Index tile = 144, products = 8;
  constexpr double flops = 2.0 * tile * tile * tile;
  const auto multiply = [](Jobs&, Index) {
    T* room = scratch<T>(Scratch::panel, 3 * tile * tile);
    if (!room) return;
    std::fill_n(room, 3 * tile * tile, T(1e-3));
    for (Index p = 0; p < products; ++p)
      tile_kernels<T>().multiply_nt(tile, tile, tile, T(1e-3), room, tile, room + tile * tile, tile, room + 2 * tile * tile,
                                    tile);
  };
  double best = 0.0;
  const auto end = Clock::now() + std::chrono::milliseconds(100);
  while (Clock::now() < end) {
    const Index jobs = 16 * num_threads();
    const auto start = Clock::now();
    if (!run_jobs(jobs, 1e9, multiply).ok()) return 0.0;
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::max(best, flops * products * static_cast<double>(jobs) / seconds);
  }
  return best;
}

template double tile_product_rate<float>();
template double tile_product_rate<double>();

}  // namespace kernsel
