// The landmarks of Nystrom's approximation, for each way to place them.
#include <algorithm>
#include <cmath>
#include <set>

#include "base/memory.hpp"
#include "base/random.hpp"
#include "factors/landmarks.hpp"
#include "factors/neighbours/features.hpp"
#include "kernsel/neighbours.hpp"
#include "kernsel/nystrom.hpp"
#include "kernsel/vecchia.hpp"

namespace kernsel {

namespace {

using Numbers = std::vector<double>;

constexpr Index rows_for_each = 20, always_seen = 20000;

Status check(View<const double> X, const NystromOptions& options) {
  if (X.rows == 0 || X.cols == 0) return Status::invalid("choose_landmarks: there are no points");
  if (options.given.empty()) {
    if (options.landmarks < 1) return Status::invalid("choose_landmarks: at least one landmark is needed");
    if (options.landmarks > NystromOptions::most_landmarks)
      return Status::invalid("choose_landmarks: there can be at most 10000 landmarks");
    return {};
  }
  const auto columns = static_cast<std::size_t>(X.cols);
  if (options.given.size() % columns != 0)
    return Status::invalid("choose_landmarks: given landmarks must have as many columns as the points");
  if (options.given.size() / columns > static_cast<std::size_t>(NystromOptions::most_landmarks))
    return Status::invalid("choose_landmarks: there can be at most 10000 landmarks");
  for (const double coordinate : options.given)
    if (!std::isfinite(coordinate))
      return Status::invalid("choose_landmarks: the coordinates of given landmarks must be finite");
  return {};
}

// Different rows of X, each as probable as the others.
std::vector<Index> random_rows(View<const double> X, Index count, std::uint64_t seed) {
  const auto before = [&](Index a, Index b) {
    for (Index j = 0; j < X.cols; ++j)
      if (X(a, j) != X(b, j)) return X(a, j) < X(b, j);
    return false;
  };
  std::set<Index, decltype(before)> different(before);
  std::vector<Index> chosen;
  for (const Index i : random_order(X.rows, seed)) {
    if (static_cast<Index>(chosen.size()) == count) break;
    if (different.insert(i).second) chosen.push_back(i);
  }
  return chosen;
}

Status place(const Kernel& k, View<const double> X, Placement placement, Index count, std::uint64_t seed, Numbers& landmarks) {
  if (placement == Placement::random) {
    landmarks = coordinates(X, random_rows(X, count, seed));
    return {};
  }
  if (placement == Placement::means && level_columns(k, X.cols).empty()) {  // nothing lies between levels
    Numbers scales;
    Status status = column_scales(k, X, scales);
    if (status.ok()) status = cluster_centres(X, scales, count, seed, landmarks);
    // There may be too few if scales are zero, as those of a kernel are that hardly falls with the distance.
    if (!status.ok() || static_cast<Index>(landmarks.size()) == count * X.cols) return status;
  }
  std::vector<Index> chosen;
  const Status status = choose_landmarks(k, X, count, seed, chosen);
  landmarks = coordinates(X, chosen);
  return status;
}

}  // namespace

Status choose_landmarks(const Kernel& k, View<const double> X, const NystromOptions& options, std::vector<double>& landmarks) {
  return within_memory([&] {
    const Status status = check(X, options);
    if (!status.ok()) return status;
    landmarks = options.given;
    if (!landmarks.empty()) return status;
    const Index count = std::min(options.landmarks, X.rows), seen = std::max(rows_for_each * count, always_seen);
    if (X.rows <= seen) return place(k, X, options.placement, count, options.seed, landmarks);
    Random random(options.seed);
    const Numbers part = coordinates(X, random.subset(X.rows, seen));
    return place(k, rows(part.data(), seen, X.cols), options.placement, count, random.next(), landmarks);
  });
}

}  // namespace kernsel
