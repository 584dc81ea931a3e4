// Aligned memory: large requests are compared with the available memory before they are made, and use huge pages.
#pragma once

#include <array>
#include <cstddef>
#include <new>

#include "kernsel/status.hpp"

namespace kernsel {

inline Index round_up(Index value, Index multiple) { return (value + multiple - 1) / multiple * multiple; }

// Returns the status of a request for that many bytes (0 if unknown) that failed.
inline Status no_memory(std::size_t bytes = 0) {
  Status status;
  status.code = Code::out_of_memory;
  status.bytes = bytes;
  return status;
}

// Returns f(), or the status out_of_memory if f throws std::bad_alloc.
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

  // Makes room for at least that many bytes, aligned to 64 bytes; their contents are undefined. The current memory is kept if
  // it is large enough.
  Status reserve(std::size_t bytes);
  void release();
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Memory that the calling thread keeps between calls. Each slot is one buffer: uses that overlap in time need different slots.
enum class Scratch { panel, row, values, tape, adjoint, points, metric, step };
constexpr std::size_t scratch_slots = 8;
template <class T>
T* scratch(Scratch slot, Index count);  // nullptr if there is not enough memory

// While it exists, the calling thread has fresh scratch memory. It is needed around a call, from within a computation, of code
// that may run computations itself and would otherwise overwrite the buffers in use.
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
