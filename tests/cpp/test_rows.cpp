// Rows that come in blocks: criteria and gradients are those of all rows in memory, whatever the blocks; what a source does
// wrong is one error.
#include <cmath>
#include <stdexcept>

#include "check.hpp"
#include "kernsel/rows.hpp"

using kernsel::Code;
using kernsel::Index;
using kernsel::Status;
using kernsel::View;
using Numbers = std::vector<double>;

namespace {

constexpr Index n = 90, d = 2, m = 12;

struct Data {
  Numbers X = random_numbers<double>(n * d, 1), y = random_numbers<double>(2 * n, 2), noise, H, weights;
  Data() {
    for (Index i = 0; i < n; ++i) {
      noise.push_back(0.2 + 0.01 * static_cast<double>(i % 7));
      weights.push_back(1.0 + 0.1 * static_cast<double>(i % 3));
      H.push_back(1.0);
    }
  }
  kernsel::Problem problem() const {
    return {kernsel::rows(X.data(), n, d), kernsel::rows(y.data(), n, 2), kernsel::vector(noise.data(), n),
            kernsel::rows(H.data(), n, 1), weights.data()};
  }
  View<const double> landmarks() const { return kernsel::rows(X.data(), m, d); }
};

const kernsel::Kernel& kernel() {
  static const kernsel::Kernel k = 2.0 * kernsel::matern(2.5, {0.7, 0.9}) + kernsel::white(0.1);
  return k;
}

double largest_difference(const Numbers& a, const Numbers& b) {
  CHECK(a.size() == b.size());
  double most = 0.0, size = 0.0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    most = std::max(most, std::abs(a[i] - b[i]));
    size = std::max(size, std::abs(b[i]));
  }
  return most / size;
}

// Sums over blocks are rounded in another order: the errors are those of n terms, times the condition of some m x m matrices.
constexpr double rounding = 1e4 * n * std::numeric_limits<double>::epsilon();

void blocks_are_all_rows() {
  const Data data;
  kernsel::NystromOptions options;
  options.given.assign(data.X.begin(), data.X.begin() + m * d);
  options.landmarks = m;
  const kernsel::Criterion criteria[] = {kernsel::criteria::likelihood(true),
                                         kernsel::criteria::leave_out(kernsel::criteria::log_density()),
                                         kernsel::criteria::leave_out(kernsel::criteria::squared(), {}, false, true),
                                         kernsel::criteria::generalized_cross_validation()};
  for (const kernsel::Criterion& criterion : criteria) {
    const std::unique_ptr<kernsel::NystromFactor> factor = kernsel::nystrom_factor(options);
    kernsel::Evaluation all;
    CHECK(kernsel::evaluate(kernel(), data.problem(), criterion, kernsel::Order::gradient, *factor, all).ok());
    for (const Index size : {n, Index(32), Index(1)}) {
      kernsel::Evaluation out;
      const kernsel::RowSource source = rows_of(data.problem(), size);
      CHECK(evaluate(kernel(), source, data.landmarks(), criterion, kernsel::Order::gradient, out).ok());
      CHECK_BELOW(std::abs(out.value - all.value), rounding * std::abs(all.value));
      CHECK_BELOW(largest_difference(out.gradient.theta, all.gradient.theta), rounding);
      CHECK_BELOW(largest_difference(out.gradient.noise, all.gradient.noise), rounding);
      CHECK_BELOW(largest_difference(out.beta, all.beta), rounding);
    }
  }
}

void a_source_may_fail() {
  const Data data;
  const kernsel::Criterion loo = kernsel::criteria::leave_out(kernsel::criteria::squared());
  kernsel::Evaluation out;
  const auto code = [&](const kernsel::RowSource& source) {
    return evaluate(kernel(), source, data.landmarks(), loo, kernsel::Order::value, out).code;
  };
  const kernsel::RowSource good = rows_of(data.problem(), 40);
  CHECK(code(good) == Code::ok);
  CHECK(code([](const kernsel::TakeRows&) { return Status{}; }) == Code::invalid_argument);  // no rows
  CHECK(code([](const kernsel::TakeRows&) -> Status { throw std::runtime_error("disk"); }) == Code::exception);
  int passes = 0;
  const auto once = [&](const kernsel::TakeRows& take) { return passes++ == 0 ? good(take) : Status{}; };
  CHECK(code(once) == Code::invalid_argument);  // a second pass without rows
  kernsel::Problem other = data.problem();
  other.y.cols = 1;
  const auto mixed = [&](const kernsel::TakeRows& take) {
    const Status status = good(take);
    return status.ok() ? rows_of(other, 40)(take) : status;
  };
  CHECK(code(mixed) == Code::invalid_argument);
}

}  // namespace

int main() {
  blocks_are_all_rows();
  a_source_may_fail();
  return report("rows");
}
