// Rows of a kernel matrix, which are computed when they are needed and kept as far as memory allows.
#pragma once

#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "kernsel/support.hpp"

namespace kernsel {

// Rows are in pages of those that were computed together. If there is room for the whole matrix, rows have all columns and are
// kept for good; if there are few points, all are computed at once. Otherwise rows have the columns of the active points, and
// the least recently used page makes room for new rows.
class SupportSolver::Rows {
 public:
  Rows(const Kernel& kernel, View<const double> X, std::size_t bytes, std::vector<double> noise)
      : kernel_(kernel), X_(X), bytes_(bytes), given_noise_(std::move(noise)) {}

  Index points() const { return X_.rows; }
  // Whether the noise that was given is one finite number for each point, not negative, or none at all.
  bool noise_fits() const;
  const std::vector<double>& diagonal() const { return diagonal_; }
  Index computed() const { return computed_; }

  // Computes the diagonal, and the matrix if there are few points. Must be called before all other functions.
  Status start();
  // Whether there is room for the whole matrix, so that rows have a column for each point, and whether it was computed at once.
  bool whole() const { return whole_; }
  bool at_once() const { return at_once_; }
  // Sets the active points: from now on, rows have only these columns, in this order. Rows that were kept are dropped, unless
  // there is room for the whole matrix, in which case they stay as they are.
  Status restrict_to(const std::vector<Index>& active);
  const std::vector<Index>& active() const { return active_; }
  // The length of a row: the number of its columns, rounded up to the padding of tiles, with zeros at the end.
  Index stride() const { return stride_; }
  // The number of rows that can be kept at a time.
  Index capacity() const;

  // rows <- pointers to the rows of some points, valid until the next call.
  Status fetch(const std::vector<Index>& points, std::vector<const double*>& rows);
  // a <- coefficients near the solution (support_interior.hpp), if the memory for rows suffices and the method converges;
  // otherwise `a` is not changed.
  Status near_solution(const SupportProblem& problem, std::vector<double>& a);
  // out <- K a, over all points.
  Status multiply(const std::vector<double>& a, std::vector<double>& out) const;

 private:
  struct Page {
    Memory memory;
    std::vector<Index> points;  // the points whose rows it has, in order
    Index used = 0;             // the number of the last call of fetch() that needed one of them, or 0
  };
  static constexpr Index page_rows = 64;

  void drop_pages();
  Status free_page(Index& page);
  Status compute(const Index* points, Index count, double* to);
  Status gather(const std::vector<Index>& points, Memory& memory, View<const double>& to) const;

  Kernel kernel_;
  View<const double> X_;
  std::size_t bytes_;
  std::vector<double> given_noise_;       // (n) or empty
  std::vector<double> diagonal_, noise_;  // noise_: that of the kernel, see gram_noise(), and what was given
  bool started_ = false, whole_ = false, at_once_ = false;
  Memory matrix_, active_points_;
  View<const double> active_X_;
  std::vector<Index> active_;
  std::vector<Page> pages_;
  std::vector<const double*> row_of_;  // the row of each point, nullptr if it is not kept
  std::vector<Index> page_of_;
  Index stride_ = 0, clock_ = 0, computed_ = 0;
};

}  // namespace kernsel
