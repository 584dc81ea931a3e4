// The tile kernels of one instruction set. Each tiles_<isa>.cpp includes this file, compiled with its own flags, its own name
// for Eigen, and its own KERNSEL_SET and KERNSEL_SET_NAME. Only the table at the end is visible to other files.
//
// The code uses the packets of Eigen: one packet is one vector register. Everything is in an anonymous namespace, and neither
// the standard library nor OpenMP is used, so that the linker cannot replace a function by one of the same name that was
// compiled for another instruction set.

#include <Eigen/Core>

#include "table.hpp"

namespace kernsel {
namespace {

namespace simd = Eigen::internal;

#if !defined(_MSC_VER) || defined(__clang__)
#define KERNSEL_INLINE inline __attribute__((always_inline))
#else
#define KERNSEL_INLINE __forceinline
#endif

// The packet type as a member: as a template argument, it would lose the vector attributes of the compiler.
template <class T>
struct Pack {
  using type = typename simd::packet_traits<T>::type;
  static constexpr Index size = simd::packet_traits<T>::size;
};

// The register tile: the numbers of packets and columns whose accumulators fit into the registers.
#if defined(__AVX512F__)
constexpr int tile_packets = 3, tile_columns = 8;  // 32 registers
#elif defined(__aarch64__)
constexpr int tile_packets = 4,
              tile_columns = 4;  // 32 registers; numbers of B take one each, and with eight of them some spill
#elif defined(__FMA__)
constexpr int tile_packets = 3, tile_columns = 4;  // 16 registers
#else
constexpr int tile_packets = 2, tile_columns = 4;  // 16 registers; without FMA, each product needs one, too
#endif

constexpr Index largest_tile = 512;  // equal to LowerTiles<T>::largest_tile

template <class T, int Rows, int Cols>
struct Accumulators {
  typename Pack<T>::type v[Cols][Rows];
};

// Each file uses functions of those included before it.
// clang-format off
#include "linear.inl"
#include "boxes.inl"
#include "pointwise.inl"
#include "exponential.inl"
#include "metric.inl"
#include "profiles.inl"
#include "product_matern.inl"
#include "rotations.inl"
#include "streaming.inl"
#include "strings.inl"
#include "support.inl"
// clang-format on

template <class T>
constexpr TileKernels<T> make_table() {
  return {multiply_nt<T>,
          multiply_lower<T>,
          multiply_nn<T>,
          factorize<T>,
          solve_transposed<T>,
          solve<T>,
          transpose<T>,
          stream<T>,
          metric<T>,
          metric_diagonal<T>,
          metric_pullback<T>,
          metric_rows<T>,
          metric_points<T>,
          product_matern<T>,
          product_matern_pullback<T>,
          product_matern_rows<T>,
          product_matern_points<T>,
          profile<T>,
          profile_pullback<T>,
          fill<T>,
          add<T>,
          multiply<T>,
          multiply_add<T>,
          scale<T>,
          sum<T>,
          dot<T>,
          combine<T>,
          support_block<T>,
          subsequences<T>,
          rotate<T>,
          box_distances<T>,
          bucket_distances<T>};
}

}  // namespace

extern const InstructionSet KERNSEL_SET;
constexpr InstructionSet table{KERNSEL_SET_NAME, make_table<float>(), make_table<double>()};
const InstructionSet KERNSEL_SET = table;

}  // namespace kernsel
