// Landmarks: where each way of placing them puts them, how many there are, and what they depend on.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "base/parallel.hpp"
#include "check.hpp"
#include "factors/landmarks.hpp"
#include "kernsel/kernel.hpp"
#include "kernsel/nystrom.hpp"
#include "kernsel/runtime.hpp"

using kernsel::choose_landmarks;
using kernsel::Code;
using kernsel::Index;
using kernsel::Kernel;
using kernsel::NystromOptions;
using kernsel::Placement;
using kernsel::View;

namespace {

using Numbers = std::vector<double>;
using Row = std::vector<double>;

constexpr Placement all[] = {Placement::pivoted, Placement::means, Placement::random};

NystromOptions options(Index landmarks, Placement placement, std::uint64_t seed = 0) {
  NystromOptions out;
  out.landmarks = landmarks;
  out.placement = placement;
  out.seed = seed;
  return out;
}

View<const double> points(const Numbers& X, Index d) { return kernsel::rows(X.data(), static_cast<Index>(X.size()) / d, d); }

Numbers chosen(const Kernel& k, const Numbers& X, Index d, const NystromOptions& wish) {
  Numbers landmarks;
  CHECK(choose_landmarks(k, points(X, d), wish, landmarks).ok());
  return landmarks;
}

std::set<Row> as_set(const Numbers& X, Index d) {
  std::set<Row> out;
  for (auto row = X.begin(); row != X.end(); row += d) out.emplace(row, row + d);
  return out;
}

bool contains(const std::set<Row>& larger, const std::set<Row>& smaller) {
  return std::includes(larger.begin(), larger.end(), smaller.begin(), smaller.end());
}

void test_different_points_that_depend_on_the_seed() {
  const Numbers X = random_numbers<double>(300 * 2, 1);
  const Kernel k = kernsel::rbf({0.3});
  for (const Placement placement : all) {
    const Numbers found = chosen(k, X, 2, options(40, placement));
    CHECK(as_set(found, 2).size() == 40);
    CHECK(found == chosen(k, X, 2, options(40, placement)));
    CHECK(found != chosen(k, X, 2, options(40, placement, 1)));
    if (placement != Placement::means) CHECK(contains(as_set(X, 2), as_set(found, 2)));
  }
}

void test_all_points_are_landmarks_if_there_are_no_more() {
  const Numbers X = random_numbers<double>(30 * 2, 2);
  for (const Placement placement : all)
    CHECK(as_set(chosen(kernsel::exponential({0.3}), X, 2, options(100, placement)), 2) == as_set(X, 2));
}

// Equal points are one landmark: of k-means, too, since no cluster is empty.
void test_equal_points_are_no_two_landmarks() {
  Numbers X;
  for (Index i = 0; i < 200; ++i) X.insert(X.end(), {static_cast<double>(i * i % 8), static_cast<double>(i % 3)});
  const std::set<Row> different = as_set(X, 2);
  CHECK(different.size() == 9);
  for (const Placement placement : all) {
    const Numbers found = chosen(kernsel::exponential({0.3}), X, 2, options(9, placement));
    CHECK(found.size() == 18 && as_set(found, 2).size() == 9);
    if (placement != Placement::means) CHECK(as_set(found, 2) == different);
    for (const Row& row : as_set(found, 2)) {  // the mean of equal numbers is rounded
      double nearest = 1.0;
      for (const Row& point : different) nearest = std::min(nearest, std::hypot(row[0] - point[0], row[1] - point[1]));
      CHECK_BELOW(nearest, 200 * 8 * epsilon<double>());
    }
    CHECK(chosen(kernsel::exponential({0.3}), X, 2, options(20, placement)).size() == 18);
  }
}

// Groups that are apart in units of the length scales, and mixed in those of the columns, have one landmark each: their mean.
void test_means_of_clusters_in_units_of_the_length_scales() {
  const Index n = 240;
  const Numbers noise = random_numbers<double>(2 * n, 3);
  Numbers X;
  std::vector<Row> mean(6, Row(2, 0.0));
  for (Index i = 0; i < n; ++i) {
    const double first = static_cast<double>(i % 6) + 0.02 * noise[static_cast<std::size_t>(2 * i)];
    const double second = 100.0 * noise[static_cast<std::size_t>(2 * i + 1)];
    X.insert(X.end(), {first, second});
    mean[static_cast<std::size_t>(i % 6)][0] += 6 * first / static_cast<double>(n);
    mean[static_cast<std::size_t>(i % 6)][1] += 6 * second / static_cast<double>(n);
  }
  const std::set<Row> found = as_set(chosen(kernsel::rbf({0.1, 1e4}), X, 2, options(6, Placement::means)), 2);
  CHECK(found.size() == 6);
  for (const Row& row : found) {  // in the order of the first column
    const Row& expected = mean[static_cast<std::size_t>(std::lround(row[0]))];
    CHECK_BELOW(std::abs(row[0] - expected[0]), static_cast<double>(n) * 6 * epsilon<double>());
    CHECK_BELOW(std::abs(row[1] - expected[1]), static_cast<double>(n) * 400 * epsilon<double>());
  }
}

// Of these points, Lloyd's rounds empty a cluster for seed 32, which then gets another point.
void test_no_cluster_is_empty() {
  const Numbers X = {10.9, 8.5, 10.8, 9.4, 10.6, 10.8, 9.7, 11.5, 10.9};
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    Numbers centres;
    CHECK(kernsel::cluster_centres(points(X, 1), {1.0}, 4, seed, centres).ok());
    CHECK(centres.size() == 4 && as_set(centres, 1).size() == 4);
    for (const double centre : centres) CHECK(centre >= 8.49 && centre <= 11.51);  // the mean of some of the points
  }
}

// Without a distance at which the correlation falls there are no units for clusters, and landmarks are those of Cholesky.
void test_a_kernel_that_hardly_falls_has_landmarks() {
  const Numbers X = random_numbers<double>(300 * 2, 4);
  CHECK(chosen(kernsel::rbf({0.3}) + kernsel::constant(100.0), X, 2, options(40, Placement::means)).size() == 80);
}

void test_no_more_than_determine_all_points() {
  const Numbers X = random_numbers<double>(300 * 3, 5);
  CHECK(chosen(kernsel::dot_product(1.0), X, 3, options(40, Placement::pivoted)).size() == 4 * 3);
  CHECK(chosen(kernsel::constant(2.0), X, 3, options(40, Placement::pivoted)).size() == 3);
}

void test_each_point_is_as_probable() {
  const Numbers X = {0.0, 1.0, 2.0, 3.0, 4.0};
  std::vector<int> times(5, 0);
  for (std::uint64_t seed = 0; seed < 2000; ++seed)
    for (const double x : chosen(kernsel::rbf({1.0}), X, 1, options(2, Placement::random, seed)))
      ++times[static_cast<std::size_t>(x)];
  for (const int count : times) CHECK_BELOW(std::abs(count - 800), 5 * std::sqrt(2000 * 0.4 * 0.6));  // standard deviations
}

void test_of_many_points_a_random_part_is_seen() {
  const Index n = 60000;
  Numbers X = random_numbers<double>(n, 6);
  for (Index i = 0; i < n; ++i) X[static_cast<std::size_t>(i)] += static_cast<double>(i / (n / 3)) * 100.0;
  for (const Placement placement : all) {
    const Numbers found = chosen(kernsel::rbf({1.0}), X, 1, options(12, placement));
    CHECK(found.size() == 12);
    std::set<long> parts;
    for (const double x : found) parts.insert(std::lround(x / 100.0));
    CHECK(parts == (std::set<long>{0, 1, 2}));
  }
}

void test_given_landmarks_are_checked() {
  const Numbers X = random_numbers<double>(20 * 2, 7);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  NystromOptions wish;
  wish.given = {0.5, 0.25, -1.0, 2.0};
  CHECK(chosen(kernsel::rbf({1.0}), X, 2, wish) == wish.given);
  Numbers landmarks;
  const auto refused = [&](const NystromOptions& bad) {
    return choose_landmarks(kernsel::rbf({1.0}), points(X, 2), bad, landmarks).code == Code::invalid_argument;
  };
  wish.given.push_back(1.0);
  CHECK(refused(wish));
  wish.given = {0.5, nan};
  CHECK(refused(wish));
  wish.given.assign(20002, 1.0);
  CHECK(refused(wish));
  CHECK(refused(options(0, Placement::pivoted)));
  CHECK(refused(options(10001, Placement::random)));
}

void test_the_same_bits_for_any_number_of_threads() {
  const Numbers X = random_numbers<double>(3000 * 3, 8);
  const int before = kernsel::num_threads();
  kernsel::use_a_team_for_any_work(true);
  for (const Placement placement : all) {
    kernsel::set_num_threads(1);
    const Numbers one = chosen(kernsel::rbf({0.5}), X, 3, options(70, placement));
    for (const int threads : {2, 3}) {
      kernsel::set_num_threads(threads);
      CHECK(one == chosen(kernsel::rbf({0.5}), X, 3, options(70, placement)));
    }
  }
  kernsel::use_a_team_for_any_work(false);
  kernsel::set_num_threads(before);
}

}  // namespace

int main() {
  test_different_points_that_depend_on_the_seed();
  test_all_points_are_landmarks_if_there_are_no_more();
  test_equal_points_are_no_two_landmarks();
  test_means_of_clusters_in_units_of_the_length_scales();
  test_no_cluster_is_empty();
  test_a_kernel_that_hardly_falls_has_landmarks();
  test_no_more_than_determine_all_points();
  test_each_point_is_as_probable();
  test_of_many_points_a_random_part_is_seen();
  test_given_landmarks_are_checked();
  test_the_same_bits_for_any_number_of_threads();
  return report("landmarks");
}
