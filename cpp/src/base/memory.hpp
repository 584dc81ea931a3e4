// Aligned memory, asked for politely: checked against what the machine has, on huge pages where it is large.
#pragma once

#include <array>
#include <cstddef>
#include <new>

#include "kernsel/status.hpp"

namespace kernsel {

inline Index round_up(Index value, Index multiple) { return (value + multiple - 1) / multiple * multiple; }

// The status of a request for that many bytes (0: not known) that could not be met.
inline Status no_memory(std::size_t bytes = 0) {
  Status status;
  status.code = Code::out_of_memory;
  status.bytes = bytes;
  return status;
}

// The status of f(), or that there is no memory.
template <class F>
Status within_memory(const F& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return no_memory();
  }
}

class Memory {
 public:
  Memory() = default;
  ~Memory() { release(); }
  Memory(Memory&& other) noexcept : data_(other.data_), bytes_(other.bytes_) {
    other.data_ = nullptr;
    other.bytes_ = 0;
  }
  Memory& operator=(Memory&& other) noexcept;

  // At least that many bytes, 64-byte aligned, contents undefined; kept if large enough.
  Status reserve(std::size_t bytes);
  void release();
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Memory of the calling thread that is kept between calls: `slot` tells uses apart that overlap in time.
enum class Scratch { panel, row, values, tape, adjoint, points, metric, step };
constexpr std::size_t scratch_slots = 8;
template <class T>
T* scratch(Scratch slot, Index count);  // nullptr if there is no memory

// Puts the calling thread's scratch memory aside for a while: for calls from within a computation to code that may compute
// itself.
class ScratchAside {
 public:
  ScratchAside();
  ~ScratchAside();
  ScratchAside(const ScratchAside&) = delete;
  ScratchAside& operator=(const ScratchAside&) = delete;

 private:
  std::array<Memory, scratch_slots> aside_;
};

}  // namespace kernsel
