// The information of the likelihood.
#include <algorithm>

#include "factors/vecchia/state.hpp"
#include "kernsel/tiles.hpp"

namespace kernsel {

// The expected information of the sets without inducing points, as it is a metric for steps: both are approximations of the
// same process, and that of the residual sets alone would know nothing of the part that inducing points explain.
Status Vecchia::information_of(const Partials& partials, Numbers& out) {
  const Sets& sets = request_.in_sample || others_.empty() ? before_ : others_;
  const Index parameters = k_->parameters(), p = parameters + 1, stride = round_up(p, LowerTiles<double>::padding);
  const View<const double>& unknown = problem_.unknown_noise.rows > 0 ? problem_.unknown_noise : problem_.noise;
  const Index room = stride * stride;
  Memory memory;  // the sums of each batch, aligned
  Status status = memory.reserve(at(std::min(walk_batches, sets.count()) * room) * sizeof(double));
  if (!status.ok()) return status;
  double* sums = static_cast<double*>(memory.data());
  std::fill_n(sums, std::min(walk_batches, sets.count()) * room, 0.0);
  Numbers slopes(at(walk_batches * p), 0.0), total(at(room), 0.0), slope(at(p), 0.0);
  status = walk(
      *k_, {X_, added_.data()}, sets, true,
      [&](Cell& cell, const std::int32_t* points, Index, Index batch) -> Status {
        double* noise = cell.q();  // free, since nothing is pulled back
        for (Index r = 0; r < cell.count() && unknown.rows > 0; ++r) noise[r] = unknown(unknown.rows == 1 ? 0 : points[r], 0);
        return cell.add_information(unknown.rows > 0 ? noise : nullptr, sums + batch * room, stride, slopes.data() + batch * p);
      },
      [&](Index, Index, Index batches) {
        for (Index batch = 0; batch < batches; ++batch) {
          for (Index a = 0; a < room; ++a) total[at(a)] += sums[batch * room + a];
          for (Index a = 0; a < p; ++a) slope[at(a)] += slopes[at(batch * p + a)];
        }
        std::fill_n(sums, batches * room, 0.0);
        std::fill(slopes.begin(), slopes.end(), 0.0);
      });
  if (!status.ok()) return status;
  const double outputs = static_cast<double>(m_), freedom = std::max(partials.freedom, 1.0);
  out.assign(at(p * p), 0.0);
  for (Index b = 0; b < p; ++b)
    for (Index a = 0; a < p; ++a) {
      double value = total[at(std::max(a, b) + std::min(a, b) * stride)];
      if (partials.profiled != Profiled::no) value -= 0.5 * slope[at(a)] * slope[at(b)] / freedom;
      out[at(a + b * p)] = outputs * value;
    }
  return {};
}

}  // namespace kernsel
