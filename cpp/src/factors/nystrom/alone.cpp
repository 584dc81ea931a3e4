#include "factors/nystrom/alone.hpp"

#include <algorithm>
#include <cmath>

namespace kernsel {

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

void ShownRows::resize(const Request& request, Index rows, Index columns) {
  n = rows;
  outputs = columns;
  c.assign(at(request.coefficients || request.left_out ? n * outputs : 0), 0.0);
  precision.assign(at(request.diagonal || request.left_out ? n : 0), 0.0);
  missing.assign(at(request.left_out && request.variances ? n : 0), 0.0);
}

LeftOut ShownRows::left_out() const {
  LeftOut out;
  for (Index k = 0; k < outputs; ++k)
    for (Index i = 0; i < n; ++i) out.residual.push_back(c[at(i + k * n)] / precision[at(i)]);
  for (std::size_t i = 0; i < missing.size(); ++i) out.variance.push_back(1.0 / precision[i] + missing[i]);
  return out;
}

double unit_of_losses(const NystromSums& sums) {
  double sum = 0.0;
  for (const double square : sums.squares) sum += square;
  sum *= std::exp(sums.log_noise / static_cast<double>(sums.rows));
  return std::isnormal(sum) ? std::ldexp(1.0, std::clamp(std::ilogb(sum), -1000, 1000)) : 1.0;
}

RowSlopes::RowSlopes(const Partials& partials, const ShownRows& shown)
    : n(shown.n), outputs(shown.outputs), c(partials.c), precision(partials.precision), noise(partials.noise) {
  const LeftOut& left_out = partials.left_out;
  if (left_out.residual.empty()) return;
  c.resize(at(n * outputs), 0.0);
  precision.resize(at(n), 0.0);
  missing = left_out.variance;
  for (Index i = 0; i < n; ++i) {
    const double p = shown.precision[at(i)];
    for (Index k = 0; k < outputs; ++k) {
      const double slope = left_out.residual[at(i + k * n)];
      c[at(i + k * n)] += slope / p;
      precision[at(i)] -= slope * shown.c[at(i + k * n)] / (p * p);
    }
    if (!missing.empty()) precision[at(i)] -= missing[at(i)] / (p * p);
  }
}

void RowSlopes::move_to_noise(const ShownRows& shown, const std::vector<double>& variances) {
  noise.resize(at(n), 0.0);
  for (Index i = 0; i < n; ++i) {
    const double N = variances[at(i)];
    noise[at(i)] += precision[at(i)] * (1.0 - 2.0 * N * shown.precision[at(i)]) / (N * N);
  }
  precision.clear();
}

NystromPartials RowSlopes::of(Index begin, Index count) const {
  const auto view = [&](const std::vector<double>& numbers, Index columns) {
    return numbers.empty() ? View<const double>{} : View<const double>{numbers.data() + begin, count, columns, 1, n};
  };
  return {view(c, outputs), view(precision, 1), view(missing, 1), view(noise, 1)};
}

}  // namespace kernsel
