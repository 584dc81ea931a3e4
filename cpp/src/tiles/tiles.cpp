#include "kernsel/tiles.hpp"

#include <algorithm>
#include <utility>

#include "base/memory.hpp"

namespace kernsel {

template <class T>
struct LowerTiles<T>::Buffer {
  Memory memory;
  T* data() const { return static_cast<T*>(memory.data()); }
};

template <class T>
LowerTiles<T>::LowerTiles() = default;
template <class T>
LowerTiles<T>::~LowerTiles() = default;

template <class T>
LowerTiles<T>::LowerTiles(LowerTiles&& other) noexcept
    : size_(std::exchange(other.size_, 0)),
      tile_(std::exchange(other.tile_, padding)),
      arena_(std::move(other.arena_)),
      panels_(std::exchange(other.panels_, {})) {}

template <class T>
LowerTiles<T>& LowerTiles<T>::operator=(LowerTiles&& other) noexcept {
  LowerTiles taken(std::move(other));
  std::swap(size_, taken.size_);
  std::swap(tile_, taken.tile_);
  std::swap(arena_, taken.arena_);
  std::swap(panels_, taken.panels_);
  return *this;
}

// Chosen by measurement: three tiles of 192 x 192 doubles fit into a second-level cache of 1 MB, and a small matrix needs
// several tiles to occupy several threads.
template <class T>
Index LowerTiles<T>::preferred_tile(Index size) {
  if (size <= 96) return std::max(round_up(size, padding), padding);
  return size <= 560 ? 96 : size <= 6000 ? 144 : 192;
}

template <class T>
std::size_t LowerTiles<T>::bytes(Index size, Index tile) {
  std::size_t elements = 0;
  for (Index row = 0; row < size; row += tile) {
    const Index height = round_up(std::min(tile, size - row), padding);
    elements += static_cast<std::size_t>(height) * static_cast<std::size_t>(row + height);
  }
  return elements * sizeof(T);
}

template <class T>
Status LowerTiles<T>::resize(Index size, Index tile) {
  constexpr Index largest_size = Index{1} << 30;  // near twice this size, bytes() of doubles reaches 2^64
  if (size < 0 || size > largest_size) return Status::invalid("LowerTiles: the size is out of range");
  if (tile < 0 || tile > largest_tile || tile % padding != 0) return Status::invalid("LowerTiles: the tile is out of range");
  if (tile == 0) tile = preferred_tile(size);
  if (!arena_) arena_ = std::make_unique<Buffer>();
  const Status status = arena_->memory.reserve(std::max<std::size_t>(bytes(size, tile), 1));
  if (!status.ok()) {
    size_ = 0;
    panels_.clear();
    return status;
  }
  size_ = size;
  tile_ = tile;
  panels_.clear();
  panels_.resize(static_cast<std::size_t>((size + tile - 1) / tile));
  T* next = arena_->data();
  for (Index i = 0; i < blocks(); ++i) {
    Panel& panel = panels_[static_cast<std::size_t>(i)];
    panel.data = next;
    panel.stride = padded_rows(i);
    next += panel.stride * (i * tile + panel.stride);
  }
  return status;
}

template <class T>
Status LowerTiles<T>::copy(const LowerTiles& other) {
  const Status status = resize(other.size_, other.tile_);
  if (!status.ok()) return status;
  for (Index i = 0; i < blocks(); ++i)
    for (Index col = 0; col < i * tile_ + padded_rows(i); ++col)
      std::copy_n(other.block(i, 0) + col * other.stride(i), padded_rows(i), block(i, 0) + col * stride(i));
  return status;
}

template <class T>
Index LowerTiles<T>::rows(Index i) const {
  return std::min(tile_, size_ - i * tile_);
}

template <class T>
Index LowerTiles<T>::padded_rows(Index i) const {
  return round_up(rows(i), padding);
}

template <class T>
void LowerTiles<T>::pad_diagonal(Index i) {
  T* tile = block(i, i);
  const Index real = rows(i), padded = padded_rows(i), step = stride(i);
  for (Index col = 0; col < padded; ++col)
    for (Index row = col < real ? real : 0; row < padded; ++row) tile[row + col * step] = row == col ? T(1) : T(0);
}

template <class T>
Status LowerTiles<T>::grow() {
  const bool new_panel = size_ % tile_ == 0;
  if (new_panel || stride(blocks() - 1) < tile_) {
    // The last block row moves to a panel of its own, with room for a whole tile.
    const Index i = new_panel ? blocks() : blocks() - 1;
    auto own = std::make_unique<Buffer>();
    const auto room = static_cast<std::size_t>(tile_) * static_cast<std::size_t>((i + 1) * tile_) * sizeof(T);
    const Status status = own->memory.reserve(room);
    if (!status.ok()) return status;
    std::fill_n(own->data(), room / sizeof(T), T(0));
    if (new_panel) {
      panels_.emplace_back();
    } else {
      for (Index col = 0; col < i * tile_ + padded_rows(i); ++col)
        std::copy_n(block(i, 0) + col * stride(i), padded_rows(i), own->data() + col * tile_);
    }
    Panel& panel = panels_.back();
    panel.data = own->data();
    panel.stride = tile_;
    panel.own = std::move(own);
  }
  ++size_;
  const Index last = blocks() - 1;
  T* panel = block(last, 0);
  for (Index col = 0; col < last * tile_; ++col)
    std::fill_n(panel + col * tile_ + rows(last), padded_rows(last) - rows(last), T(0));
  pad_diagonal(last);
  return {};
}

template <class T>
void LowerTiles<T>::shrink() {
  --size_;
  if (size_ % tile_ == 0) {
    panels_.pop_back();
    return;
  }
  const Index last = blocks() - 1, step = stride(last);
  for (Index col = 0; col < last * tile_; ++col) block(last, 0)[col * step + rows(last)] = T(0);
  pad_diagonal(last);
}

template class LowerTiles<float>;
template class LowerTiles<double>;

}  // namespace kernsel
