// Aligned memory, asked for politely: checked against what the machine has, on huge pages where it is large.
#pragma once

#include <cstddef>
#include <vector>

#include "kernsel/status.hpp"

namespace kernsel {

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
enum class Scratch { panel, values, tape, adjoint, row };
template <class T>
T* scratch(Scratch slot, Index count);  // nullptr if there is no memory

}  // namespace kernsel
