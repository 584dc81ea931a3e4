#include "support/support_newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "kernsel/gram.hpp"

namespace kernsel {

namespace {

using Numbers = std::vector<double>;

constexpr Index highest_rank = 128;

// Solves (K + 1 / give) da + db = h by a Cholesky factor of the whole matrix.
class WholeMatrix final : public NewtonSystem {
 public:
  WholeMatrix(const Kernel& k, View<const double> X, const Numbers& noise, const SupportProblem& problem, double largest)
      : k_(k),
        X_(X),
        noise_(noise),
        problem_(problem),
        floor_(1e-15 * largest * static_cast<double>(X.rows)),
        huge_(1e20 * largest),
        D_(static_cast<std::size_t>(X.rows)) {}

  Status factorize(const Numbers& give) override {
    give_ = give;
    for (std::size_t i = 0; i < D_.size(); ++i) D_[i] = give[i] == 0.0 ? huge_ : std::clamp(1.0 / give[i], floor_, huge_);
    Numbers added(D_);
    for (std::size_t i = 0; i < noise_.size(); ++i) added[i] += noise_[i];
    return kernsel::factorize<double>(k_, X_, vector<const double>(added.data(), X_.rows), L_);
  }

  Status solve(const Numbers& h, const Numbers& a, Numbers& slope) override {
    const std::size_t size = h.size();
    Numbers pair(2 * size, 0.0);
    double sum = -problem_.sum;
    for (std::size_t i = 0; i < size; ++i) {
      if (give_[i] == 0.0) continue;
      pair[i] = h[i];
      pair[i + size] = 1.0;
      sum += a[i];
    }
    const Status status = kernsel::solve<double>(L_, columns(pair.data(), X_.rows, problem_.intercept ? 2 : 1));
    if (!status.ok()) return status;
    double with_h = 0.0, with_ones = 0.0;
    for (std::size_t i = 0; i < size; ++i) {
      if (give_[i] == 0.0) continue;
      with_h += pair[i];
      with_ones += pair[i + size];
    }
    const double db = problem_.intercept ? (with_h + sum) / with_ones : 0.0;
    slope.assign(size, 0.0);
    for (std::size_t i = 0; i < size; ++i) {
      const double da = pair[i] - (problem_.intercept ? db * pair[i + size] : 0.0);
      if (give_[i] != 0.0) slope[i] = h[i] - D_[i] * da;
    }
    return {};
  }

  void move(double length, const Numbers& slope, Numbers& g) override {
    for (std::size_t i = 0; i < g.size(); ++i) g[i] += length * slope[i];
  }

 private:
  const Kernel& k_;
  View<const double> X_;
  const Numbers& noise_;
  const SupportProblem& problem_;
  double floor_, huge_;
  Numbers give_, D_;
  LowerTiles<double> L_;
};

// With K = L L', L of shape (n, r), and v = L'a, the change (u, db) of (v, b) minimizes
//
//     sum give (L u + db - h)^2 + |u - (L'a - v)|^2 - 2 db (sum a - sum)
//
// by a QR decomposition. Its rows, whose sizes differ by many orders of magnitude, are sorted by size and columns are
// exchanged, which keeps the errors of each row relative to that row.
class LowRank final : public NewtonSystem {
 public:
  LowRank(const SupportProblem& problem, Numbers L, Index rank, const Numbers& start)
      : problem_(problem),
        L_(std::move(L)),
        n_(start.size()),
        rank_(static_cast<std::size_t>(rank)),
        width_(rank_ + (problem.intercept ? 1 : 0)),
        height_(n_ + rank_),
        v_(transposed(start)),
        change_(width_) {}

  Status factorize(const Numbers& give) override {
    roots_.resize(n_);
    for (std::size_t i = 0; i < n_; ++i) roots_[i] = std::sqrt(give[i]);
    Numbers sizes(height_, 1.0);
    for (std::size_t i = 0; i < n_; ++i) {
      double size = problem_.intercept ? 1.0 : 0.0;
      for (std::size_t c = 0; c < rank_; ++c) size = std::max(size, std::abs(L_[i + c * n_]));
      sizes[i] = roots_[i] * size;
    }
    order_.resize(height_);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t i, std::size_t j) { return sizes[i] > sizes[j]; });
    Q_.assign(height_ * width_, 0.0);
    for (std::size_t row = 0; row < height_; ++row)
      for (std::size_t c = 0; c < width_; ++c) Q_[row + c * height_] = entry(order_[row], c);
    decompose();
    return {};
  }

  Status solve(const Numbers& h, const Numbers& a, Numbers& slope) override {
    const Numbers residual = transposed(a);
    Numbers right(height_);
    for (std::size_t row = 0; row < height_; ++row) {
      const std::size_t i = order_[row];
      right[row] = i < n_ ? roots_[i] * h[i] : residual[i - n_] - v_[i - n_];
    }
    for (std::size_t c = 0; c < width_; ++c) reflect(c, right.data());
    if (problem_.intercept) {
      Numbers linear(width_, 0.0);  // R'^-1 times the linear term
      const double excess = std::accumulate(a.begin(), a.end(), -problem_.sum);
      for (std::size_t c = 0; c < width_; ++c) {
        double value = columns_[c] == rank_ ? excess : 0.0;
        for (std::size_t k = 0; k < c; ++k) value -= Q_[k + c * height_] * linear[k];
        linear[c] = value / diagonal_[c];
        right[c] += linear[c];
      }
    }
    for (std::size_t c = width_; c-- > 0;) {
      double value = right[c];
      for (std::size_t k = c + 1; k < width_; ++k) value -= Q_[c + k * height_] * right[k];
      right[c] = value / diagonal_[c];
      change_[columns_[c]] = right[c];
    }
    slope.assign(n_, problem_.intercept ? change_[rank_] : 0.0);
    add(change_, slope);
    return {};
  }

  void move(double length, const Numbers&, Numbers& g) override {
    for (std::size_t c = 0; c < rank_; ++c) v_[c] += length * change_[c];
    if (problem_.intercept) b_ += length * change_[rank_];
    for (std::size_t i = 0; i < n_; ++i) g[i] = b_ - problem_.y(static_cast<Index>(i), 0);
    add(v_, g);
  }

 private:
  // The rows are those of the points, with a last column of ones for b, and then those of an identity.
  double entry(std::size_t i, std::size_t c) const {
    if (i >= n_) return i - n_ == c ? 1.0 : 0.0;
    return roots_[i] * (c < rank_ ? L_[i + c * n_] : 1.0);
  }

  Numbers transposed(const Numbers& a) const {
    Numbers found(rank_, 0.0);
    for (std::size_t c = 0; c < rank_; ++c)
      for (std::size_t i = 0; i < n_; ++i) found[c] += L_[i + c * n_] * a[i];
    return found;
  }

  // to += L u
  void add(const Numbers& u, Numbers& to) const {
    for (std::size_t c = 0; c < rank_; ++c)
      for (std::size_t i = 0; i < n_; ++i) to[i] += L_[i + c * n_] * u[c];
  }

  // Q_ <- the vectors of Householder reflections, on and below the diagonal, and R above it, with its diagonal in diagonal_.
  void decompose() {
    columns_.resize(width_);
    std::iota(columns_.begin(), columns_.end(), std::size_t{0});
    diagonal_.assign(width_, 0.0);
    for (std::size_t c = 0; c < width_; ++c) {
      std::size_t pick = c;
      double most = -1.0;
      for (std::size_t k = c; k < width_; ++k) {
        double size = 0.0;
        for (std::size_t row = c; row < height_; ++row) size += Q_[row + k * height_] * Q_[row + k * height_];
        if (size > most) {
          most = size;
          pick = k;
        }
      }
      std::swap(columns_[c], columns_[pick]);
      if (pick != c)
        std::swap_ranges(Q_.begin() + static_cast<std::ptrdiff_t>(c * height_),
                         Q_.begin() + static_cast<std::ptrdiff_t>((c + 1) * height_),
                         Q_.begin() + static_cast<std::ptrdiff_t>(pick * height_));
      double* own = Q_.data() + c * height_;
      diagonal_[c] = own[c] > 0.0 ? -std::sqrt(most) : std::sqrt(most);
      own[c] -= diagonal_[c];
      for (std::size_t k = c + 1; k < width_; ++k) reflect(c, Q_.data() + k * height_);
    }
  }

  // x <- x - 2 q q'x / q'q for the vector q of reflection c.
  void reflect(std::size_t c, double* x) const {
    const double* q = Q_.data() + c * height_;
    double product = 0.0, size = 0.0;
    for (std::size_t row = c; row < height_; ++row) {
      product += q[row] * x[row];
      size += q[row] * q[row];
    }
    if (size == 0.0) return;
    for (std::size_t row = c; row < height_; ++row) x[row] -= 2.0 * product / size * q[row];
  }

  const SupportProblem& problem_;
  Numbers L_;  // (n, r)
  std::size_t n_, rank_, width_, height_;
  double b_ = 0.0;
  Numbers v_, change_;  // (r), (width): the last solution
  Numbers roots_, Q_, diagonal_;
  std::vector<std::size_t> order_, columns_;
};

// L <- the factor of K = L L' up to rounding, by its largest remaining diagonal elements. `rank` is zero if it would be more
// than a quarter of the number of points, or more than `highest_rank`.
Status low_rank_factor(const Kernel& k, View<const double> X, const Numbers& diagonal, Numbers& L, Index& rank) {
  const Index n = X.rows;
  const auto size = static_cast<std::size_t>(n);
  Numbers left(diagonal), row(size), point(static_cast<std::size_t>(X.cols));
  const double least = 16.0 * std::numeric_limits<double>::epsilon() * *std::max_element(diagonal.begin(), diagonal.end());
  for (rank = 0; rank <= std::min(n / 4, highest_rank); ++rank) {
    const auto pivot = static_cast<std::size_t>(std::max_element(left.begin(), left.end()) - left.begin());
    if (left[pivot] <= least) return {};
    for (Index c = 0; c < X.cols; ++c) point[static_cast<std::size_t>(c)] = X(static_cast<Index>(pivot), c);
    const Status status = cross_gram<double>(k, rows<const double>(point.data(), 1, X.cols), X, rows(row.data(), 1, n));
    if (!status.ok()) return status;
    const double root = std::sqrt(left[pivot]);
    const auto at = static_cast<std::size_t>(rank) * size;
    L.resize(at + size);
    for (std::size_t i = 0; i < size; ++i) {
      double value = row[i];
      for (std::size_t c = 0; c < at; c += size) value -= L[i + c] * L[pivot + c];
      L[i + at] = value / root;
      left[i] -= L[i + at] * L[i + at];
    }
    left[pivot] = 0.0;
  }
  rank = 0;
  return {};
}

}  // namespace

Status newton_system(const Kernel& k, View<const double> X, const Numbers& noise, const SupportProblem& problem,
                     const Numbers& diagonal, const Numbers& start, std::unique_ptr<NewtonSystem>& system) {
  Numbers L;
  Index rank = 0;
  const Status status = low_rank_factor(k, X, diagonal, L, rank);
  if (!status.ok()) return status;
  if (rank > 0) {
    system = std::make_unique<LowRank>(problem, std::move(L), rank, start);
  } else {
    const double largest = *std::max_element(diagonal.begin(), diagonal.end());
    system = std::make_unique<WholeMatrix>(k, X, noise, problem, largest);
  }
  return {};
}

}  // namespace kernsel
