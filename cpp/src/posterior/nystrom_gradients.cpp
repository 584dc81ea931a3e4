// The derivatives of predictions with respect to the new points.
#include <algorithm>

#include "base/memory.hpp"
#include "factors/nystrom/content.hpp"
#include "kernsel/gram.hpp"
#include "posterior/nystrom_content.hpp"

namespace kernsel {

namespace {

using Numbers = std::vector<double>;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

// With the weights w of raw rows (k(U, z), h(z)), d mean / dz = sum_l w_l dk(u_l, z)/dz + sum_j w_j dh_j/dz.
Status NystromPosterior::mean_gradient(View<const double> Z, View<double> out) const {
  const Content& own = *content_;
  const NystromBlocks::Content& blocks = own.blocks.content();
  const Index d = own.d, m = own.outputs, q = own.q;
  if (out.rows != Z.rows || out.cols != d * m) return Status::invalid("mean_gradient: the output has the wrong shape");
  Status status = own.check(Z);
  if (!status.ok()) return status;
  return within_memory([&] {
    const Numbers widths = own.widths();
    const Index size = Content::points_at_a_time;
    for (Index begin = 0; begin < Z.rows && status.ok(); begin += size) {
      const Index count = std::min(size, Z.rows - begin);
      const View<const double> some = Z.block(begin, 0, count, d);
      Numbers slopes(at(count * d)), of_trend(at(count * d * q));
      if (q > 0) status = own.basis.write_gradient(some, widths, rows(of_trend.data(), count, d * q));
      for (Index k = 0; k < m && status.ok(); ++k) {
        const double* weights = blocks.of_raw.row(k);
        status = pullback_points<double>(own.kernel, some, own.landmarks(), {weights, count, blocks.m, 0, 1},
                                         rows(slopes.data(), count, d));
        for (Index i = 0; i < count; ++i)
          for (Index j = 0; j < d; ++j) {
            double sum = slopes[at(i * d + j)];
            for (Index l = 0; l < q; ++l) sum += of_trend[at((i * d + j) * q + l)] * weights[blocks.m + l];
            out(begin + i, j * m + k) = sum;
          }
      }
    }
    return status;
  });
}

// With the raw row r of z, the variance is k(z, z) - |L^-1 r_k|^2 + |T r|^2, so that with u = T'T r - L^-T L^-1 r_k
//
//     d variance / dz = dk(z, z)/dz + 2 sum_l u_l dk(u_l, z)/dz + 2 sum_j u_j dh_j/dz
Status NystromPosterior::variance_gradient(View<const double> Z, View<double> out) const {
  const Content& own = *content_;
  const NystromBlocks::Content& blocks = own.blocks.content();
  const Index d = own.d, q = own.q, m = blocks.m;
  if (out.rows != Z.rows || out.cols != d) return Status::invalid("variance_gradient: the output has the wrong shape");
  return within_memory([&] {
    const Index size = std::min(NystromBlocks::Content::rows_at_a_time, Z.rows);
    const Numbers widths = own.widths(), ones(at(size), 1.0);
    Numbers unused(at(own.kernel.parameters()));
    PointRows t, u, of_prior;
    Status status;
    for (PointRows* rows : {&t, &u, &of_prior})
      if (status.ok()) status = rows->resize(size, blocks.width(), true);
    if (!status.ok()) return status;
    return own.in_chunks(Z, size, [&](Index begin, View<const double> some, View<const double> h) {
      const Index count = some.rows;
      return blocks.for_rows(some, h, [&](Index, Index, const PointRows& raw) {
        const RowRange all{0, count};
        Status done = multiply_triangular(blocks.T, Triangle::lower, raw, all, t, 0);
        if (done.ok()) done = multiply_triangular(blocks.T_transposed, Triangle::upper, t, all, u, 0);
        if (done.ok()) done = multiply_triangular(blocks.inverse, Triangle::lower, raw, all, t, 0);
        if (done.ok()) done = multiply_triangular(blocks.inverse_transposed, Triangle::upper, t, all, of_prior, 0);
        for (Index i = 0; i < count && done.ok(); ++i)
          for (Index l = 0; l < m; ++l) u.row(i)[l] -= of_prior.row(i)[l];
        Numbers slopes(at(count * d)), of_diagonal(at(count * d), 0.0), of_trend(at(count * d * q));
        if (done.ok())
          done = pullback_points<double>(own.kernel, some, own.landmarks(), {u.row(0), count, m, u.stride(), 1},
                                         rows(slopes.data(), count, d));
        if (done.ok())
          done = pullback_diagonal(own.kernel, some, vector(ones.data(), count), unused.data(),
                                   rows(of_diagonal.data(), count, d));
        if (done.ok() && q > 0) done = own.basis.write_gradient(some, widths, rows(of_trend.data(), count, d * q));
        for (Index i = 0; i < count && done.ok(); ++i)
          for (Index j = 0; j < d; ++j) {
            double sum = slopes[at(i * d + j)];
            for (Index l = 0; l < q; ++l) sum += of_trend[at((i * d + j) * q + l)] * u.row(i)[m + l];
            out(begin + i, j) = of_diagonal[at(i * d + j)] + 2.0 * sum;
          }
        return done;
      });
    });
  });
}

}  // namespace kernsel
