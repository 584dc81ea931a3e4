// A view of a matrix in memory that it does not own: a pointer, two sizes and two strides, counted in elements.
#pragma once

#include <cstddef>

namespace kernsel {

using Index = std::ptrdiff_t;

template <class T>
struct View {
  T* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index row_stride = 0;
  Index col_stride = 0;

  T& operator()(Index i, Index j) const { return data[i * row_stride + j * col_stride]; }
  View transposed() const { return {data, cols, rows, col_stride, row_stride}; }
  View block(Index row, Index col, Index height, Index width) const {
    return {data + (row * row_stride + col * col_stride), height, width, row_stride, col_stride};  // data may be nullptr
  }
  operator View<const T>() const { return {data, rows, cols, row_stride, col_stride}; }
};

// A matrix stored by columns (Fortran order), or by rows (C order), without gaps.
template <class T>
View<T> columns(T* data, Index rows, Index cols) {
  return {data, rows, cols, 1, rows};
}

template <class T>
View<T> rows(T* data, Index rows, Index cols) {
  return {data, rows, cols, cols, 1};
}

template <class T>
View<T> vector(T* data, Index size) {
  return {data, size, 1, 1, size};
}

}  // namespace kernsel
