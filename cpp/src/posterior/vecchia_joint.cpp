// The joint covariance of new points.
#include <algorithm>

#include "base/memory.hpp"
#include "factors/vecchia/walk.hpp"
#include "kernsel/gram.hpp"
#include "posterior/vecchia_content.hpp"

namespace kernsel {

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

// The error e_j of the prediction of new point j from the data is the sum of the errors of the new points in its set, times
// their weights b, and of an independent part whose variance d_j is that of the point given its set:
//
//     e_j = sum_l b_l e_l + part of variance d_j
//
// From this follow the covariances with all points before it. The points are in the maximin order: if they came as on a grid
// that is finer than the data, the sets would consist of new points on one side, and have next to no data in them. The same sum
// leads from h_l - r_l, what the training points predict of the trend's functions at the points before it, to h_j - r_j. Points
// that others are conditioned on have a little noise (Cell::jitter), which is a part of d_j, too, and is subtracted in the end:
// so it matters to rounding only.
Status VecchiaPosterior::covariance(View<const double> Z, View<double> out) const {
  const Content& own = *content_;
  const Index count = Z.rows, d = own.d, n = own.n, w = own.w;
  if (out.rows != count || out.cols != count) return Status::invalid("covariance: the output must be m x m");
  Status status = own.prepare(Z);
  if (!status.ok()) return status;
  return within_memory([&] {
    std::vector<Index> order;  // point order[j] of Z is the j-th here
    status = own.tree.spread(Z, order);
    if (!status.ok()) return status;
    std::vector<double> points(at(count * d)), h(at(count * w));
    for (Index j = 0; j < count; ++j)
      for (Index k = 0; k < d; ++k) points[at(j * d + k)] = Z(order[at(j)], k);
    const View<const double> new_points = rows<const double>(points.data(), count, d);
    Sets sets;
    std::vector<double> jitter(at(count));
    status = gram_diagonal<double>(own.kernel, new_points, vector(jitter.data(), count));
    for (double& variance : jitter) variance *= Cell::jitter;
    if (status.ok()) status = own.write_columns(new_points, h.data());
    if (status.ok()) status = own.sets_of(new_points, own.predict_neighbours, true, sets);
    if (!status.ok()) return status;
    std::vector<double> weights(sets.of.size()), variances(at(count));
    const auto visit = [&](const Cell& cell, const std::int32_t*, Index i, Index) -> Status {
      const Index others = cell.count() - 1;
      for (Index r = 0; r < others; ++r) weights[at(i * sets.neighbours + r)] = -cell.v()[r] / cell.v()[others];
      variances[at(i)] = cell.variance();
      return {};
    };
    status = walk(own.kernel, own.set_points(new_points, h.data()), sets, false, visit, [](Index, Index, Index) {});
    if (!status.ok()) return status;
    std::vector<double> C(at(count * count)), rest = h;  // the covariance without the trend, both triangles; r
    for (Index j = 0; j < count; ++j) {
      double* row = C.data() + j * count;
      const std::int32_t* set = sets.neighbours_of(j);
      const double* b = weights.data() + j * sets.neighbours;
      for (Index s = 0; s + 1 < sets.size(j); ++s) {
        const Index l = set[s] - n;
        for (Index k = 0; k < j && l >= 0; ++k) row[k] += b[s] * C[at(l * count + k)];
        for (Index k = 0; k < w; ++k)
          rest[at(j * w + k)] -= b[s] * (l < 0 ? own.columns_at(set[s])[k] : h[at(l * w + k)] - rest[at(l * w + k)]);
      }
      row[j] = variances[at(j)] + jitter[at(j)];
      for (Index s = 0; s + 1 < sets.size(j); ++s)
        if (set[s] >= n) row[j] += b[s] * row[set[s] - n];
      for (Index k = 0; k < j; ++k) C[at(k * count + j)] = row[k];
    }
    for (Index j = 0; j < count; ++j) own.solve_transposed(rest.data() + j * w);
    for (Index j = 0; j < count; ++j)
      for (Index l = 0; l <= j; ++l) {
        double sum = C[at(j * count + l)];
        for (Index k = 0; k < w; ++k) sum += rest[at(j * w + k)] * rest[at(l * w + k)];
        out(order[at(j)], order[at(l)]) = out(order[at(l)], order[at(j)]) = l < j ? sum : std::max(sum - jitter[at(j)], 0.0);
      }
    return Status{};
  });
}

}  // namespace kernsel
