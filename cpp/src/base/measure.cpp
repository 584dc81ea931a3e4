#include "kernsel/measure.hpp"

#include <algorithm>
#include <chrono>

#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "isa/table.hpp"
#include "kernsel/runtime.hpp"

namespace kernsel {

template <class T>
Status tile_product_rate(double& rate) {
  using Clock = std::chrono::steady_clock;
  constexpr Index tile = 144, products = 8;
  constexpr double flops = 2.0 * tile * tile * tile;
  const auto multiply = [](Jobs& jobs, Index) {
    T* room = scratch<T>(Scratch::panel, 3 * tile * tile);
    if (!room) return jobs.stop(no_memory());
    std::fill_n(room, 3 * tile * tile, T(1e-3));
    for (Index p = 0; p < products; ++p)
      tile_kernels<T>().multiply_nt(tile, tile, tile, T(1e-3), room, tile, room + tile * tile, tile, room + 2 * tile * tile,
                                    tile);
  };
  rate = 0.0;
  Status status;
  const auto end = Clock::now() + std::chrono::milliseconds(100);
  while (Clock::now() < end) {
    const Index count = 16 * num_threads();
    const auto start = Clock::now();
    status = run_jobs(count, 1e9, multiply);
    if (!status.ok()) return status;
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    rate = std::max(rate, flops * products * static_cast<double>(count) / seconds);
  }
  return status;
}

template Status tile_product_rate<float>(double&);
template Status tile_product_rate<double>(double&);

}  // namespace kernsel
