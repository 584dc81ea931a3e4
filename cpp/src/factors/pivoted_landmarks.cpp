// Landmarks by a randomly pivoted Cholesky factorization.
#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
#include "base/random.hpp"
#include "factors/landmarks.hpp"
#include "isa/table.hpp"
#include "kernsel/gram.hpp"
#include "tiles/point_rows.hpp"

namespace kernsel {

namespace {

using Numbers = std::vector<double>;

constexpr Index drawn_at_a_time = 32, rows_of_a_job = 256, rows_of_square = 16;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// The Cholesky factor of the columns that were chosen, and the variances that they leave.
//
// Points are drawn several at a time, by the variances before the first of them; each is then accepted with the probability
// variance given those accepted before it / variance by which it was drawn, so that the choice has the same distribution as if
// they were drawn one at a time (Epperly, Tropp and Webber, 2024), and nearly all of the work is products of matrices.
class PivotedCholesky {
 public:
  PivotedCholesky(const Kernel& k, View<const double> X, std::uint64_t seed) : k_(k), X_(X), random_(seed) {}

  Status begin(Index count) {
    rest_.assign(at(X_.rows), 0.0);
    Status status =
        k_.has_noise() ? set_variances_without_noise() : gram_diagonal<double>(k_, X_, vector(rest_.data(), X_.rows));
    if (status.ok()) status = G_.resize(X_.rows, count, true);
    for (const double variance : rest_) least_.push_back(least_of_landmark * variance);
    return status;
  }

  // Chooses at least one more point, and at most `most`, unless no variance is left.
  Status choose_some(Index most, std::vector<Index>& chosen) {
    const std::vector<Index> drawn = draw(std::min(most, drawn_at_a_time));
    std::vector<Index> accepted;
    Numbers L;  // of those accepted, by rows with drawn_at_a_time columns
    const Status status = accept(drawn, accepted, L);
    if (!status.ok() || accepted.empty()) return status;
    chosen.insert(chosen.end(), accepted.begin(), accepted.end());
    return add_columns(accepted, L);
  }

 private:
  // The diagonal between two equal sets of points has no noise, which may be known for all points together only.
  Status set_variances_without_noise() {
    Numbers square(at(rows_of_square * rows_of_square));
    Status status;
    for (Index begin = 0; begin < X_.rows && status.ok(); begin += rows_of_square) {
      const Index size = std::min(rows_of_square, X_.rows - begin);
      const View<const double> part = X_.block(begin, 0, size, X_.cols);
      status = cross_gram<double>(k_, part, part, rows(square.data(), size, size));
      for (Index i = 0; i < size; ++i) rest_[at(begin + i)] = square[at(i * (size + 1))];
    }
    return status;
  }

  std::vector<Index> draw(Index count) {
    Numbers sums;
    double sum = 0.0;
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      if (rest_[i] > least_[i]) sum += rest_[i];
      sums.push_back(sum);
    }
    std::vector<Index> out;
    for (Index b = 0; b < count && sum > 0.0; ++b) {
      const auto found = std::upper_bound(sums.begin(), sums.end(), random_.uniform() * sum);
      if (found != sums.end()) out.push_back(static_cast<Index>(found - sums.begin()));
    }
    return out;
  }

  Status accept(const std::vector<Index>& drawn, std::vector<Index>& accepted, Numbers& L) {
    const auto count = static_cast<Index>(drawn.size());
    const Numbers points = coordinates(X_, drawn);
    const View<const double> Z = rows(points.data(), count, X_.cols);
    Numbers H(at(count * count)), row(at(count));
    const Status status = cross_gram<double>(k_, Z, Z, rows(H.data(), count, count));
    if (!status.ok()) return status;
    std::vector<Index> of_drawn;  // the numbers of those accepted among those drawn
    for (Index b = 0; b < count; ++b) {
      const Index i = drawn[at(b)], size = static_cast<Index>(accepted.size());
      double rest = rest_[at(i)];
      for (Index a = 0; a < size; ++a) {
        double sum = H[at(b * count + of_drawn[at(a)])] - G_.dot(G_.row(i), G_.row(accepted[at(a)]));
        for (Index c = 0; c < a; ++c) sum -= row[at(c)] * L[at(a * drawn_at_a_time + c)];
        row[at(a)] = sum / L[at(a * drawn_at_a_time + a)];
        rest -= row[at(a)] * row[at(a)];
      }
      if (!(random_.uniform() * rest_[at(i)] < rest) || !(rest > least_[at(i)])) continue;
      accepted.push_back(i);
      of_drawn.push_back(b);
      L.resize(at((size + 1) * drawn_at_a_time), 0.0);
      std::copy_n(row.begin(), size, L.begin() + size * drawn_at_a_time);
      L[at(size * drawn_at_a_time + size)] = std::sqrt(rest);
    }
    return {};
  }

  // The columns of those accepted are (K - G G') L^-T.
  Status add_columns(const std::vector<Index>& accepted, const Numbers& L) {
    const Index n = X_.rows, count = static_cast<Index>(accepted.size()), before = columns_;
    const Numbers points = coordinates(X_, accepted);
    PointRows columns, chosen;  // (n, count), and the rows of those accepted, transposed
    Status status = columns.resize(n, count, true);
    if (status.ok()) status = chosen.resize(std::max<Index>(before, 1), count, true);
    if (!status.ok()) return status;
    for (Index c = 0; c < before; ++c)
      for (Index a = 0; a < count; ++a) chosen.row(c)[a] = G_.row(accepted[at(a)])[c];
    const View<double> out{columns.row(0), n, count, columns.stride(), 1};
    status = cross_gram<double>(k_, X_, rows(points.data(), count, X_.cols), out);
    if (!status.ok()) return status;
    const TileKernels<double>& kernels = tile_kernels<double>();
    const double cost = 0.1 * static_cast<double>(n) * static_cast<double>(count * (before + count));
    status = run_jobs((n + rows_of_a_job - 1) / rows_of_a_job, cost, [&](Jobs&, Index job) {
      const Index begin = job * rows_of_a_job, size = std::min(rows_of_a_job, n - begin);
      kernels.multiply_nn(columns.stride(), size, before, -1.0, chosen.row(0), chosen.stride(), G_.row(begin), G_.stride(),
                          columns.row(begin), columns.stride());
      for (Index i = begin; i < begin + size; ++i) {
        double* row = columns.row(i);
        for (Index a = 0; a < count; ++a) {
          for (Index c = 0; c < a; ++c) row[a] -= L[at(a * drawn_at_a_time + c)] * row[c];
          row[a] /= L[at(a * drawn_at_a_time + a)];
          rest_[at(i)] -= row[a] * row[a];
        }
        std::copy_n(row, count, G_.row(i) + before);
      }
    });
    for (const Index i : accepted) rest_[at(i)] = 0.0;
    columns_ += count;
    return status;
  }

  const Kernel& k_;
  View<const double> X_;
  Random random_;
  Numbers rest_, least_;
  PointRows G_;
  Index columns_ = 0;
};

}  // namespace

std::vector<double> coordinates(View<const double> X, const std::vector<Index>& chosen) {
  Numbers out;
  for (const Index i : chosen)
    for (Index j = 0; j < X.cols; ++j) out.push_back(X(i, j));
  return out;
}

Status choose_landmarks(const Kernel& k, View<const double> X, Index count, std::uint64_t seed, std::vector<Index>& chosen) {
  return within_memory([&] {
    chosen.clear();
    const Index most = std::min(count, X.rows);
    PivotedCholesky columns(k, X, seed);
    Status status = columns.begin(most);
    for (Index size = 0; status.ok() && size < most; size = static_cast<Index>(chosen.size())) {
      status = columns.choose_some(most - size, chosen);
      if (static_cast<Index>(chosen.size()) == size) break;
    }
    return status;
  });
}

}  // namespace kernsel
