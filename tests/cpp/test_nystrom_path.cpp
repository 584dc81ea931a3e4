// The regularization path by landmarks, from blocks of rows, against the path of the explicit matrix F F'.
#include <algorithm>
#include <limits>
#include <memory>

#include "check.hpp"
#include "kernsel/kernel.hpp"
#include "kernsel/path.hpp"

using kernsel::Index;
using kernsel::NystromBlocks;
using kernsel::PathValues;
using kernsel::RegularizationPath;
using kernsel::RowBlock;
using kernsel::View;

namespace {

using Numbers = std::vector<double>;

struct Data {
  static constexpr Index n = 150, d = 2, m = 12, outputs = 2, q = 2;
  Numbers X = random_numbers<double>(n * d, 1), Z = random_numbers<double>(m * d, 2);
  Numbers y = random_numbers<double>(n * outputs, 3), H = random_numbers<double>(n * q, 4);
  Numbers noise, weights;
  kernsel::Kernel k = kernsel::rbf({0.9});
  std::shared_ptr<NystromBlocks> blocks = std::make_shared<NystromBlocks>();

  Data() {
    for (const double number : random_numbers<double>(n, 5)) noise.push_back(0.5 + number * number);
    for (const double variance : noise) weights.push_back(1.0 / variance);
    for (Index i = 0; i < n; ++i) H[static_cast<std::size_t>(i * q)] = 1.0;
    CHECK(blocks->begin(k, kernsel::rows<const double>(Z.data(), m, d), q).ok());
  }
  RowBlock rows(Index begin, Index count) const {
    return {kernsel::rows<const double>(X.data() + begin * d, count, d),
            kernsel::rows<const double>(y.data() + begin * outputs, count, outputs),
            kernsel::vector<const double>(noise.data() + begin, count),
            kernsel::rows<const double>(H.data() + begin * q, count, q)};
  }
  // The path from blocks of so many rows.
  RegularizationPath by_landmarks(Index size) const {
    kernsel::PathSums sums;
    for (Index begin = 0; begin < n; begin += size) {
      kernsel::PathSums part;
      CHECK(part.add(*blocks, rows(begin, std::min(size, n - begin))).ok());
      sums.add(part);
    }
    RegularizationPath path;
    CHECK(RegularizationPath::of_landmarks(*blocks, sums, {0.2, false, false}, path).ok());
    return path;
  }
  RegularizationPath explicitly() const {
    Numbers F(static_cast<std::size_t>(n * m)), Q(static_cast<std::size_t>(n * n));
    CHECK(blocks->features(kernsel::rows<const double>(X.data(), n, d), kernsel::rows(F.data(), n, m)).ok());
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j)
        for (Index l = 0; l < m; ++l)
          Q[static_cast<std::size_t>(i + j * n)] +=
              F[static_cast<std::size_t>(i * m + l)] * F[static_cast<std::size_t>(j * m + l)];
    kernsel::PathProblem problem;
    problem.y = kernsel::rows<const double>(y.data(), n, outputs);
    problem.trend = kernsel::rows<const double>(H.data(), n, q);
    problem.weights = weights.data();
    problem.sigma = 0.2;
    RegularizationPath path;
    CHECK(RegularizationPath::of_matrix(kernsel::columns<const double>(Q.data(), n, n), problem, path).ok());
    return path;
  }
};

const std::vector<double> PathValues::*curves[] = {&PathValues::loo,
                                                   &PathValues::gcv,
                                                   &PathValues::log_likelihood,
                                                   &PathValues::restricted_log_likelihood,
                                                   &PathValues::profiled_log_likelihood,
                                                   &PathValues::profiled_restricted_log_likelihood,
                                                   &PathValues::residual_norm,
                                                   &PathValues::seminorm,
                                                   &PathValues::effective_dof,
                                                   &PathValues::risk,
                                                   &PathValues::curvature,
                                                   &PathValues::quasi_optimality};

// Relative to the largest of each curve, n eps times the ratio of the largest eigenvalue to the least lambda.
void agree(const PathValues& mine, const PathValues& other, double amplified) {
  const double tolerance = 4.0 * Data::n * std::numeric_limits<double>::epsilon() * amplified;
  for (const auto curve : curves)
    for (std::size_t l = 0; l < other.alphas.size(); ++l) {
      double largest = 0.0;
      for (const double value : other.*curve) largest = std::max(largest, std::abs(value));
      CHECK_BELOW(std::abs((mine.*curve)[l] - (other.*curve)[l]), tolerance * largest);
    }
}

void values_and_rules() {
  const Data data;
  const RegularizationPath exact = data.explicitly();
  RegularizationPath path = data.by_landmarks(37), whole = data.by_landmarks(Data::n);
  const std::vector<double> alphas = {0.01, 0.3, 4.0};
  const double amplified = exact.largest_alpha() / 0.01;
  PathValues mine, other;
  CHECK(!path.values(alphas, mine).ok());  // it has no rows
  const auto in_blocks = [&data](const auto& visit) {
    kernsel::Status status;
    for (Index begin = 0; begin < Data::n && status.ok(); begin += 64)
      status = visit(data.rows(begin, std::min<Index>(64, Data::n - begin)));
    return status;
  };
  CHECK(path.set_rows(data.blocks, in_blocks).ok());
  CHECK(whole.set_rows(data.blocks, in_blocks).ok());
  CHECK(exact.values(alphas, other).ok());
  CHECK(path.values(alphas, mine).ok());
  agree(mine, other, amplified);
  CHECK(whole.values(alphas, mine).ok());
  agree(mine, other, amplified);
  CHECK(path.by_landmarks() && !exact.by_landmarks());
  CHECK(path.points() == Data::n && path.targets() == Data::outputs && path.trend_columns() == Data::q);
  CHECK(path.eigenvalues().size() == static_cast<std::size_t>(Data::m));
  // The choice with errors of points that are left out reads the rows a few times, and no more.
  kernsel::PathChoice choice, reference;
  PathValues grid;
  int passes = 0;
  CHECK(path.set_rows(data.blocks,
                      [&](const auto& visit) {
                        ++passes;
                        return in_blocks(visit);
                      })
            .ok());
  CHECK(path.values(path.default_alphas(), grid).ok());
  CHECK(path.best(kernsel::PathRule::loo, grid, choice).ok());
  CHECK(passes <= 4);
  CHECK(exact.values(exact.default_alphas(), grid).ok());
  CHECK(exact.best(kernsel::PathRule::loo, grid, reference).ok());
  CHECK_BELOW(std::abs(std::log(choice.alpha / reference.alpha)), 1e-4);
  // One target alone.
  RegularizationPath second, second_exact;
  CHECK(path.target(1, second).ok() && exact.target(1, second_exact).ok());
  CHECK(second.values(alphas, mine).ok() && second_exact.values(alphas, other).ok());
  agree(mine, other, amplified);
}

void coefficients_and_states() {
  const Data data;
  const RegularizationPath exact = data.explicitly(), path = data.by_landmarks(50);
  RegularizationPath again;
  const Numbers state = path.state();
  CHECK(RegularizationPath::from_state(kernsel::vector(state.data(), static_cast<Index>(state.size())), again).ok());
  constexpr Index w = Data::m + Data::q;
  Numbers u(w * Data::outputs), v(u.size()), c(Data::n * Data::outputs);
  CHECK(path.landmark_coef(0.1, kernsel::columns(u.data(), w, Data::outputs)).ok());
  CHECK(again.landmark_coef(0.1, kernsel::columns(v.data(), w, Data::outputs)).ok());
  CHECK(u == v);
  // y - f = lambda c / w at all points, where f is a sum over landmarks.
  CHECK(exact.dual_coef(0.1, kernsel::columns(c.data(), Data::n, Data::outputs)).ok());
  const double tolerance = 4.0 * Data::n * std::numeric_limits<double>::epsilon() * exact.largest_alpha() / 0.1;
  const Numbers& X = data.X;
  double largest_y = 0.0;
  for (const double value : data.y) largest_y = std::max(largest_y, std::abs(value));
  for (Index i = 0; i < Data::n; ++i)
    for (Index k = 0; k < Data::outputs; ++k) {
      double f = 0.0;
      for (Index j = 0; j < Data::m; ++j) {
        double square = 0.0;
        for (Index l = 0; l < Data::d; ++l) {
          const double step =
              (X[static_cast<std::size_t>(i * Data::d + l)] - data.Z[static_cast<std::size_t>(j * Data::d + l)]) / 0.9;
          square += step * step;
        }
        f += u[static_cast<std::size_t>(j + k * w)] * std::exp(-0.5 * square);
      }
      for (Index p = 0; p < Data::q; ++p)
        f += u[static_cast<std::size_t>(Data::m + p + k * w)] * data.H[static_cast<std::size_t>(i * Data::q + p)];
      const double rest = data.y[static_cast<std::size_t>(i * Data::outputs + k)] - f;
      const double expected = 0.1 * c[static_cast<std::size_t>(i + k * Data::n)] * data.noise[static_cast<std::size_t>(i)];
      CHECK_BELOW(std::abs(rest - expected), 100.0 * tolerance * largest_y);
    }
  for (const std::size_t kept : {std::size_t{1}, std::size_t{15}, std::size_t{16}, state.size() - 1})
    CHECK(!RegularizationPath::from_state(kernsel::vector(state.data(), static_cast<Index>(kept)), again).ok());
  for (std::size_t i = 1; i < 6; ++i)
    for (const double wrong : {-1.0, 0.5, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
      Numbers damaged = state;
      damaged[i] = wrong;
      CHECK(!RegularizationPath::from_state(kernsel::vector<const double>(damaged.data(), static_cast<Index>(state.size())),
                                            again)
                 .ok());
    }
}

void refusals() {
  const Data data;
  RegularizationPath path = data.by_landmarks(Data::n), other;
  Numbers out(1000), sums;
  CHECK(!path.dual_coef(0.1, kernsel::columns(out.data(), Data::n, Data::outputs)).ok());
  CHECK(!path.landmark_coef(0.1, kernsel::columns(out.data(), Data::m, Data::outputs)).ok());
  CHECK(!path.leave_groups_out(std::vector<Index>(Data::n, 0), 2, false, {0.1}, sums).ok());
  CHECK(!data.explicitly().set_rows(data.blocks, {}).ok());
  CHECK(!data.explicitly().landmark_coef(0.1, kernsel::columns(out.data(), Data::m, Data::outputs)).ok());
  RowBlock of_another = data.rows(0, 5);
  of_another.trend = of_another.trend.block(0, 0, 5, 1);
  CHECK(!path.left_out(*data.blocks, of_another, {0.1}, sums).ok());
  kernsel::PathSums none;
  CHECK(!RegularizationPath::of_landmarks(*data.blocks, none, {}, other).ok());
  NystromBlocks noisy;
  CHECK(noisy.begin(data.k + kernsel::white(0.1), kernsel::rows<const double>(data.Z.data(), Data::m, Data::d), Data::q).ok());
  CHECK(!none.add(noisy, data.rows(0, 5)).ok());
}

}  // namespace

int main() {
  values_and_rules();
  coefficients_and_states();
  refusals();
  return report("nystrom_path");
}
