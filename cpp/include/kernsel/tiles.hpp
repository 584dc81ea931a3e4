// The lower triangle of a symmetric or triangular matrix, in square tiles.
//
// The matrix is divided into block rows. Block row i is a column-major panel of its rows and of all columns up to the end of
// its diagonal tile, so that tile (i, j) begins at column j * tile() of the panel. Rows are padded to a multiple of the vector
// width. The padding is zero, with ones on the diagonal, and every operation of the library preserves it, so that the inner
// loops need no special cases at the edges.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "kernsel/status.hpp"

namespace kernsel {

template <class T>
class LowerTiles {
 public:
  static constexpr Index padding = 64 / static_cast<Index>(sizeof(T));
  static constexpr Index largest_tile = 512;
  static Index preferred_tile(Index size);
  static std::size_t bytes(Index size, Index tile);

  LowerTiles();
  ~LowerTiles();
  LowerTiles(LowerTiles&&) noexcept;
  LowerTiles& operator=(LowerTiles&&) noexcept;

  // Allocates memory for a size x size matrix, unless the current memory is large enough. `tile` is a multiple of `padding`, at
  // most `largest_tile`, or 0 for the preferred size.
  Status resize(Index size, Index tile = 0);

  Status copy(const LowerTiles& other);

  Index size() const { return size_; }
  Index tile() const { return tile_; }
  Index blocks() const { return static_cast<Index>(panels_.size()); }
  Index rows(Index i) const;         // the number of rows of block row i
  Index padded_rows(Index i) const;  // the same number with padding
  Index stride(Index i) const { return panels_[static_cast<std::size_t>(i)].stride; }

  T* block(Index i, Index j) { return panels_[static_cast<std::size_t>(i)].data + j * tile_ * stride(i); }
  const T* block(Index i, Index j) const { return panels_[static_cast<std::size_t>(i)].data + j * tile_ * stride(i); }
  T& at(Index row, Index col) {
    return panels_[static_cast<std::size_t>(row / tile_)].data[col * stride(row / tile_) + row % tile_];
  }
  T at(Index row, Index col) const { return const_cast<LowerTiles*>(this)->at(row, col); }

  void pad_diagonal(Index i);  // writes the padding of diagonal tile (i, i)

  // Add or remove a row at the end; existing rows keep their place, or are moved once.
  Status grow();
  void shrink();

 private:
  struct Buffer;
  struct Panel {
    T* data = nullptr;
    Index stride = 0;
    std::unique_ptr<Buffer> own;  // panels made by grow(); the others lie in arena_
  };

  Index size_ = 0;
  Index tile_ = padding;
  std::unique_ptr<Buffer> arena_;
  std::vector<Panel> panels_;
};

extern template class LowerTiles<float>;
extern template class LowerTiles<double>;

}  // namespace kernsel
