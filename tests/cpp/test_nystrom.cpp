// Nystrom's approximation: passes over blocks of rows agree with the factor for rows in memory, to the last bit for any number
// of threads.
#include <cmath>

#include "base/parallel.hpp"
#include "check.hpp"
#include "kernsel/nystrom.hpp"
#include "kernsel/runtime.hpp"

using kernsel::Index;
using kernsel::View;
using Numbers = std::vector<double>;

namespace {

struct Data {
  Index n, d;
  Numbers X, y, noise, H;
  Data(Index rows, Index columns) : n(rows), d(columns), X(random_numbers<double>(n * d, 1)), y(random_numbers<double>(n, 2)) {
    for (Index i = 0; i < n; ++i) {
      noise.push_back(0.1 + 0.01 * static_cast<double>(i % 7));
      H.push_back(1.0);
    }
  }
  kernsel::Problem problem() const {
    return {kernsel::rows(X.data(), n, d), kernsel::rows(y.data(), n, 1), kernsel::vector(noise.data(), n),
            kernsel::rows(H.data(), n, 1)};
  }
};

kernsel::NystromOptions given(const Data& data, Index m) {
  kernsel::NystromOptions options;
  options.given.assign(data.X.begin(), data.X.begin() + m * data.d);
  options.landmarks = m;
  return options;
}

kernsel::Evaluation evaluation(const Data& data, Index m, const kernsel::Criterion& criterion) {
  const std::unique_ptr<kernsel::NystromFactor> factor = kernsel::nystrom_factor(given(data, m));
  kernsel::Evaluation out;
  const kernsel::Kernel k = kernsel::matern(2.5, Numbers(static_cast<std::size_t>(data.d), 0.7));
  CHECK(kernsel::evaluate(k, data.problem(), criterion, kernsel::Order::points, *factor, out).ok());
  return out;
}

void same_bits_for_any_number_of_threads(Index n, Index m) {
  const Data data(n, 3);
  // The first half in groups of three, and the others in two.
  kernsel::Groups groups;
  const Index small = (n / 2 + 2) / 3;
  for (Index i = 0; i < n; ++i) groups.of.push_back(i < n / 2 ? i / 3 : small + i % 2);
  groups.count = small + 2;
  for (const kernsel::Criterion& criterion :
       {kernsel::criteria::likelihood(true), kernsel::criteria::leave_out(kernsel::criteria::log_density()),
        kernsel::criteria::leave_out(kernsel::criteria::log_density(), groups), kernsel::criteria::joint_log_density(groups)}) {
    kernsel::use_a_team_for_any_work(true);
    kernsel::set_num_threads(1);
    const kernsel::Evaluation one = evaluation(data, m, criterion);
    kernsel::set_num_threads(3);
    const kernsel::Evaluation three = evaluation(data, m, criterion);
    kernsel::set_num_threads(2);
    kernsel::use_a_team_for_any_work(false);
    CHECK(one.value == three.value && std::isfinite(one.value));
    CHECK(one.gradient.theta == three.gradient.theta);
    CHECK(one.gradient.noise == three.gradient.noise);
    CHECK(one.points == three.points && one.landmarks == three.landmarks);
  }
}

}  // namespace

int main() {
  same_bits_for_any_number_of_threads(200, 20);
  same_bits_for_any_number_of_threads(1500, 601);
  return report("nystrom");
}
