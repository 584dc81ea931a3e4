// Rows of a kernel matrix, computed when they are asked for, as many as memory allows.
#pragma once

#include <vector>

#include "base/memory.hpp"
#include "kernsel/support.hpp"

namespace kernsel {

// The whole matrix if there is room for it. Otherwise rows over the active points, in pages that were computed together: the
// page that was not used for longest makes room.
class SupportSolver::Rows {
 public:
  Rows(const Kernel& kernel, View<const double> X, std::size_t bytes) : kernel_(kernel), X_(X), bytes_(bytes) {}

  Index points() const { return X_.rows; }
  const std::vector<double>& diagonal() const { return diagonal_; }
  Index computed() const { return computed_; }

  // To be called first: the diagonal, and the matrix if it is to be whole.
  Status start();
  bool whole() const { return whole_; }
  // From now on only these columns are wanted, in this order. Rows that were kept are dropped, unless the matrix is whole.
  Status restrict_to(const std::vector<Index>& active);
  const std::vector<Index>& active() const { return active_; }
  // Multiples of the padding that rows are long, zero beyond the active points.
  Index stride() const { return stride_; }
  // How many rows can be held at a time.
  Index capacity() const;

  // The rows of some points, which all stay until the next call.
  Status fetch(const std::vector<Index>& points, std::vector<const double*>& rows);
  // a <- coefficients near the solution, if they can be found (support_interior.hpp) in the memory that there is for rows.
  Status near_solution(const SupportProblem& problem, std::vector<double>& a);
  // out <- K a, of all points.
  Status multiply(const std::vector<double>& a, std::vector<double>& out) const;

 private:
  struct Page {
    Memory memory;
    std::vector<Index> points;  // whose rows it has, from its beginning
    Index used = 0;             // the fetch that last needed one of them
  };
  static constexpr Index page_rows = 64;

  void drop_pages();
  Status free_page(Index& page);
  Status compute(const Index* points, Index count, double* to);
  Status gather(const std::vector<Index>& points, Memory& memory, View<const double>& to) const;

  Kernel kernel_;
  View<const double> X_;
  std::size_t bytes_;
  std::vector<double> diagonal_, noise_;  // noise_: the part of the diagonal that equal points do not share
  bool started_ = false, whole_ = false;
  Memory matrix_, active_points_;
  View<const double> active_X_;
  std::vector<Index> active_;
  std::vector<Page> pages_;
  std::vector<const double*> row_of_;  // of each point; nullptr if it is not kept
  std::vector<Index> page_of_;
  Index stride_ = 0, clock_ = 0, computed_ = 0;
};

}  // namespace kernsel
