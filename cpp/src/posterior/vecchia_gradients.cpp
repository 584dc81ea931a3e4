// The derivatives of predictions with respect to the new points, while the sets of their neighbours do not change.
#include <algorithm>

#include "base/memory.hpp"
#include "factors/vecchia/walk.hpp"
#include "kernsel/gram.hpp"
#include "posterior/vecchia_content.hpp"

namespace kernsel {

namespace {

using Numbers = std::vector<double>;

// New points that are processed at a time.
constexpr Index points_at_a_time = 256;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// A kernel between one new point and the other points of its set.
class OnePoint {
 public:
  OnePoint(const Kernel& k, const SetPoints& points, const std::int32_t* set, Index others)
      : d_(points.X.cols),
        others_(others),
        rows_(at(others * d_)),
        program_(k, gather(points, set), rows<const double>(rows_.data(), others, d_), false, block, true) {}
  const Status& status() const { return program_.status(); }

  // out[c stride] += sum_r weights_r dk(z, x_r)/dz_c, where x_r are the other points.
  Status add_slopes(const double* weights, double* out, Index stride) const {
    constexpr Index height = 8;  // of tiles of one row, with padding
    Memory memory;
    Status status = memory.reserve(at(height * (block + d_)) * sizeof(double));
    if (!status.ok()) return status;
    double *W = static_cast<double*>(memory.data()), *slopes = W + height * block;
    Numbers unused(at(program_.parameters()));
    std::fill_n(slopes, height * d_, 0.0);
    for (Index j = 0; j < program_.col_blocks() && status.ok(); ++j) {
      const Place place = program_.tile(0, j);
      std::fill_n(W, height * block, 0.0);
      for (Index r = 0; r < place.width && place.col + r < others_; ++r) W[r * height] = weights[place.col + r];
      status = program_.pullback(place, W, unused.data(), slopes);
    }
    for (Index c = 0; c < d_; ++c) out[c * stride] += slopes[c * height];
    return program_.finish(status);
  }

 private:
  static constexpr Index block = 96;

  View<const double> gather(const SetPoints& points, const std::int32_t* set) {
    for (Index r = 0; r < others_; ++r) std::copy_n(points.row(set[r]), d_, rows_.data() + r * d_);
    return {points.row(set[others_]), 1, d_, d_, 1};
  }

  Index d_, others_;
  Numbers rows_;
  Program<double> program_;
};

// Calls f(cell, set, i, kernel) for each new point i of a chunk, whose sets were prepared, on any thread.
template <class F>
Status for_each_point(const Kernel& k, const SetPoints& points, const Sets& sets, const F& f) {
  return walk(
      k, points, sets, false,
      [&](const Cell& cell, const std::int32_t* set, Index i, Index) -> Status {
        if (cell.count() == 1) return f(cell, set, i, nullptr);
        const OnePoint kernel(k, points, set, cell.count() - 1);
        return kernel.status().ok() ? f(cell, set, i, &kernel) : kernel.status();
      },
      [](Index, Index, Index) {});
}

// Adds G df/dz to `out`, (count, d), for the features f of the new points, given G, (count, features), which is overwritten.
Status add_slopes_of_features(const Kernel& k, const Inducing& inducing, View<const double> points, PointRows& G,
                              View<double> out) {
  Numbers slopes(at(points.rows * points.cols));
  Status status = inducing.pull_rows(G);
  const View<const double> of_cross{G.row(0), points.rows, inducing.count(), G.stride(), 1};
  if (status.ok())
    status = pullback_points<double>(k, points, inducing.points(), of_cross, rows(slopes.data(), points.rows, points.cols));
  for (Index i = 0; i < points.rows && status.ok(); ++i)
    for (Index j = 0; j < points.cols; ++j) out(i, j) += slopes[at(i * points.cols + j)];
  return status;
}

}  // namespace

// A chunk of new points by rows, with their sets and the columns of D at them.
struct VecchiaPosterior::Chunk {
  Index begin, count;
  Numbers points, h, dh;  // (count, d), (count, w), and (count, d q) with the index of the function varying fastest
  Sets sets;
  SetPoints all;
};

// Calls f(chunk) for chunks of new points.
template <class F>
Status VecchiaPosterior::in_chunks(View<const double> Z, const F& f) const {
  const Content& own = *content_;
  Status status = own.prepare(Z);
  if (!status.ok()) return status;
  return within_memory([&] {
    const Numbers widths = own.q > 0 ? own.widths() : Numbers{};
    Chunk chunk;
    for (Index begin = 0; begin < Z.rows && status.ok(); begin += points_at_a_time) {
      const Index count = std::min(points_at_a_time, Z.rows - begin);
      chunk.begin = begin;
      chunk.count = count;
      chunk.points = by_rows(Z.block(begin, 0, count, own.d));
      chunk.h.resize(at(count * own.w));
      chunk.dh.resize(at(count * own.d * own.q));
      const View<const double> points = rows<const double>(chunk.points.data(), count, own.d);
      chunk.all = own.set_points(points, chunk.h.data());
      status = own.write_columns(points, chunk.h.data());
      if (status.ok() && own.q > 0)
        status = own.basis.write_gradient(points, widths, rows(chunk.dh.data(), count, own.d * own.q));
      if (status.ok()) status = own.sets_of(points, own.predict_neighbours, false, chunk.sets);
      if (status.ok()) status = f(chunk);
    }
    return status;
  });
}

// With w = K~^-1 (y_S - D_S beta), d mean / dz = sum_j w_j dk(z, x_j)/dz + (dh/dz)'b + (df/dz)'(u - F_S'w), where u and b are
// the parts of beta that belong to inducing points and to the trend.
Status VecchiaPosterior::mean_gradient(View<const double> Z, View<double> out) const {
  const Content& own = *content_;
  const Index m = own.m, q = own.q, d = own.d, features = own.inducing.count();
  if (out.rows != Z.rows || out.cols != d * m) return Status::invalid("mean_gradient: the output has the wrong shape");
  std::vector<PointRows> of_features(at(features > 0 ? m : 0));
  return in_chunks(Z, [&](const Chunk& chunk) {
    Status done;
    for (PointRows& G : of_features)
      if (done.ok()) done = G.resize(chunk.count, features, true);
    if (!done.ok()) return done;
    const auto visit = [&](const Cell& cell, const std::int32_t* set, Index i, const OnePoint* kernel) -> Status {
      const Index others = cell.count() - 1;
      Numbers slopes(at(d * m), 0.0), weights(at(cell.stride()));
      for (Index k = 0; k < m; ++k) {
        for (Index r = 0; r < others; ++r) weights[at(r)] = own.rest_of(set[r])[k];
        cell.solve_without_last(weights.data());
        const Status status = kernel ? kernel->add_slopes(weights.data(), slopes.data() + k, m) : Status{};
        if (!status.ok()) return status;
        if (features == 0) continue;
        double* G = of_features[at(k)].row(i);
        for (Index l = 0; l < features; ++l) G[l] = own.beta[at(l * m + k)];
        for (Index r = 0; r < others; ++r)
          for (Index l = 0; l < features; ++l) G[l] -= weights[at(r)] * own.columns_at(set[r])[l];
      }
      for (Index j = 0; j < d; ++j)
        for (Index k = 0; k < m; ++k) {
          double sum = slopes[at(j * m + k)];
          for (Index l = 0; l < q; ++l) sum += chunk.dh[at((i * d + j) * q + l)] * own.beta[at((features + l) * m + k)];
          out(chunk.begin + i, j * m + k) = sum;
        }
      return {};
    };
    done = for_each_point(own.kernel, chunk.all, chunk.sets, visit);
    for (Index k = 0; k < m && features > 0 && done.ok(); ++k) {
      const View<double> of_output{&out(chunk.begin, k), chunk.count, d, out.row_stride, m * out.col_stride};
      done = add_slopes_of_features(own.kernel, own.inducing, chunk.all.Z, of_features[at(k)], of_output);
    }
    return done;
  });
}

// With r = h(z) - D_S'b and the weights w = b + K~^-1 D_S M^-1 r,
//
//     d variance / dz = dk(z, z)/dz - 2 sum_j w_j dk(z, x_j)/dz + 2 (dh/dz)'(M^-1 r)_H + 2 (df/dz)'((M^-1 r)_F - f + F_S'w)
Status VecchiaPosterior::variance_gradient(View<const double> Z, View<double> out) const {
  const Content& own = *content_;
  const Index q = own.q, w = own.w, d = own.d, features = own.inducing.count();
  if (out.rows != Z.rows || out.cols != d) return Status::invalid("variance_gradient: the output has the wrong shape");
  PointRows of_features;
  return in_chunks(Z, [&](const Chunk& chunk) {
    const View<const double> points = chunk.all.Z;
    Numbers identity(at(chunk.count * chunk.count), 0.0);
    for (Index i = 0; i < chunk.count; ++i) identity[at(i * (chunk.count + 1))] = 1.0;
    const View<double> slopes_of_chunk = out.block(chunk.begin, 0, chunk.count, d);
    Status done = of_features.resize(chunk.count, features, true);
    if (done.ok())
      done = pullback_points<double>(own.kernel, points, rows<const double>(identity.data(), chunk.count, chunk.count),
                                     slopes_of_chunk);
    if (!done.ok()) return done;
    const auto visit = [&](const Cell& cell, const std::int32_t* set, Index i, const OnePoint* kernel) -> Status {
      const Index others = cell.count() - 1;
      const double *v = cell.v(), *f = chunk.h.data() + i * w;
      Numbers rest(f, f + w);  // becomes M^-1 r
      Numbers weights(at(cell.stride()), 0.0), slopes(at(d), 0.0);
      for (Index r = 0; r < others; ++r)
        for (Index j = 0; j < w; ++j) rest[at(j)] += v[r] / v[others] * own.columns_at(set[r])[j];
      own.solve_transposed(rest.data());
      own.solve(rest.data());
      for (Index r = 0; r < others; ++r)
        for (Index j = 0; j < w; ++j) weights[at(r)] += own.columns_at(set[r])[j] * rest[at(j)];
      if (w > 0) cell.solve_without_last(weights.data());
      for (Index r = 0; r < others; ++r) weights[at(r)] -= v[r] / v[others];
      const Status status = kernel ? kernel->add_slopes(weights.data(), slopes.data(), 1) : Status{};
      if (!status.ok()) return status;
      double* G = of_features.row(i);
      for (Index l = 0; l < features; ++l) G[l] = 2.0 * (rest[at(l)] - f[l]);
      for (Index r = 0; r < others; ++r)
        for (Index l = 0; l < features; ++l) G[l] += 2.0 * weights[at(r)] * own.columns_at(set[r])[l];
      for (Index j = 0; j < d; ++j) {
        double sum = slopes_of_chunk(i, j) - 2.0 * slopes[at(j)];
        for (Index l = 0; l < q; ++l) sum += 2.0 * chunk.dh[at((i * d + j) * q + l)] * rest[at(features + l)];
        slopes_of_chunk(i, j) = sum;
      }
      return {};
    };
    done = for_each_point(own.kernel, chunk.all, chunk.sets, visit);
    if (done.ok() && features > 0)
      done = add_slopes_of_features(own.kernel, own.inducing, points, of_features, slopes_of_chunk);
    return done;
  });
}

}  // namespace kernsel
