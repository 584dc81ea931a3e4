#include "factors/nystrom/small_groups.hpp"

#include <cmath>

#include "factors/groups.hpp"
#include "factors/nystrom/content.hpp"
#include "factors/nystrom/group_matrices.hpp"
#include "isa/table.hpp"

namespace kernsel {

namespace {

using Numbers = std::vector<double>;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// A group among the rows that are processed at the same time.
struct Place {
  Index group;
  Index first;  // its first row
  Index count;
};

// Calls f(matrices, place) with the inverse of P.II for all groups among the rows from `begin` on.
template <class F>
Status for_each_group(const SmallGroups& groups, Index begin, Index count, const PointRows& t, const double* noise,
                      const F& f) {
  const auto first = std::upper_bound(groups.ends.begin(), groups.ends.end(), begin);
  const auto last = std::upper_bound(groups.ends.begin(), groups.ends.end(), begin + count);
  const Index before = first - groups.ends.begin();
  double cost = 0.0;
  const auto place_of = [&](Index job) {
    const Index group = before + job, row = group == 0 ? 0 : groups.ends[at(group - 1)];
    return Place{group, row, groups.ends[at(group)] - row};
  };
  for (Index job = 0; job < last - first; ++job) {
    const auto s = static_cast<double>(place_of(job).count);
    cost += 1000.0 + s * s * (0.2 * static_cast<double>(t.stride()) + 0.3 * s);
  }
  return run_jobs(last - first, cost, [&](Jobs& jobs, Index job) {
    const Place place = place_of(job);
    GroupMatrices matrices;
    Status status = matrices.begin(place.count);
    const Index row = place.first - begin;
    if (status.ok()) status = matrices.invert_precision(t, row, noise + row);
    if (status.code == Code::not_positive_definite && groups.trend > 0) status = trend_needs_group();
    if (status.ok()) status = within_memory([&] { return f(matrices, place); });
    if (!status.ok()) jobs.stop(status);
  });
}

// The derivatives of a criterion in what is left out of one group, and where they lead to.
class GroupSlope {
 public:
  GroupSlope(const SmallGroups& groups, const Place& place, const GroupMatrices& matrices)
      : groups_(groups), place_(place), matrices_(matrices), size_(matrices.size()), density_(!groups.of_density.empty()) {}

  bool nothing() const {
    const auto zero = [this](const Numbers& of, Index each) {
      const auto begin = of.begin() + place_.first * each;
      return of.empty() || std::all_of(begin, begin + place_.count * each, [](double slope) { return slope == 0.0; });
    };
    return zero(groups_.of_residual, groups_.outputs) && zero(groups_.of_variance, 1) &&
           (!density_ || groups_.of_density[at(place_.group)] == 0.0);
  }

  // A of the matrices is that of the density if there is one. V of the matrices <- V, and then factor() <- G_II.
  void find_precision() {
    const Index s = place_.count, m = groups_.outputs;
    double *V = matrices_.V(), *G = matrices_.factor();
    std::fill_n(V, size_ * size_, 0.0);
    for (Index i = 0; i < s && !groups_.of_variance.empty(); ++i)
      V[i * (size_ + 1)] = groups_.of_variance[at(place_.first + i)];
    Numbers r(at(s * m)), rho(at(s * m));
    for (Index k = 0; k < m; ++k)
      for (Index i = 0; i < s; ++i) {
        const std::size_t row = at((place_.first + i) * m + k);
        r[at(i + k * s)] = groups_.residual[row];
        rho[at(i + k * s)] = groups_.of_residual.empty() ? 0.0 : groups_.of_residual[row];
      }
    if (density_) add_density(r, rho);
    c_.resize(at(s * m));
    for (Index k = 0; k < m; ++k) matrices_.multiply(matrices_.S(), rho.data() + k * s, c_.data() + k * s);
    missing_.resize(at(s));
    for (Index i = 0; i < s; ++i) missing_[at(i)] = V[i * (size_ + 1)];
    multiply_both_sides(V, G);
    for (Index k = 0; k < m; ++k)
      for (Index j = 0; j < s; ++j)
        for (Index i = 0; i < s; ++i)
          G[i + j * size_] -= 0.5 * (c_[at(i + k * s)] * r[at(j + k * s)] + r[at(i + k * s)] * c_[at(j + k * s)]);
  }

  const Numbers& c() const { return c_; }  // (count, outputs), by columns
  const Numbers& missing() const { return missing_; }

 private:
  void add_density(const Numbers& r, Numbers& rho) {
    const Index s = place_.count, m = groups_.outputs;
    const double delta = groups_.of_density[at(place_.group)];
    double* V = matrices_.V();
    Numbers z(at(s));
    for (Index k = 0; k < m; ++k) {
      matrices_.multiply(matrices_.A(), r.data() + k * s, z.data());
      for (Index j = 0; j < s; ++j) {
        rho[at(j + k * s)] -= delta * z[at(j)];
        for (Index i = 0; i < s; ++i) V[i + j * size_] += 0.5 * delta * (z[at(i)] * z[at(j)] - matrices_.A()[i + j * size_]);
      }
    }
  }

  // out <- -S V S; A of the matrices is lost.
  void multiply_both_sides(const double* V, double* out) const {
    const TileKernels<double>& kernels = tile_kernels<double>();
    std::fill_n(out, size_ * size_, 0.0);
    if (groups_.of_variance.empty() && !density_) return;
    double *S = matrices_.S(), *product = matrices_.A();
    if (density_) {
      std::fill_n(product, size_ * size_, 0.0);
      kernels.multiply_nn(size_, size_, size_, 1.0, S, size_, V, size_, product, size_);
    } else {
      for (Index j = 0; j < size_; ++j) kernels.scale(size_, V[j * (size_ + 1)], S + j * size_, product + j * size_);
    }
    kernels.multiply_nn(size_, size_, size_, -1.0, product, size_, S, size_, out, size_);
  }

  const SmallGroups& groups_;
  const Place& place_;
  const GroupMatrices& matrices_;
  const Index size_;
  const bool density_;
  Numbers c_, missing_;
};

}  // namespace

Status leave_out(const NystromBlocks::Content& content, const RowBlock& block, bool variances, bool densities,
                 SmallGroups& groups) {
  const Index n = groups.rows(), m = block.y.cols;
  groups.residual.assign(at(n * m), 0.0);
  groups.variance.assign(at(variances ? n : 0), 0.0);
  groups.density.assign(densities ? groups.ends.size() : 0, 0.0);
  groups.missing.assign(at(variances || densities ? n : 0), 0.0);
  const std::vector<Index> parts = content.parts(n, groups.ends);
  Numbers noise;
  PointRows t;
  Status status = content.write_noise(block, noise);
  if (status.ok() && !groups.missing.empty()) status = content.write_diagonal(block.X, groups.missing);
  if (status.ok()) status = t.resize(content.most_rows(parts), content.width(), true);
  if (!status.ok()) return status;
  return content.for_rows(block.X, block.trend, parts, [&](Index begin, Index count, const PointRows& raw) {
    Status done;
    if (!groups.missing.empty()) done = multiply_triangular(content.inverse, Triangle::lower, raw, {0, count}, t, 0);
    for (Index i = 0; i < count && !groups.missing.empty(); ++i) groups.missing[at(begin + i)] -= t.dot(t.row(i), t.row(i));
    if (done.ok()) done = multiply_triangular(content.T, Triangle::lower, raw, {0, count}, t, 0);
    if (!done.ok()) return done;
    return for_each_group(groups, begin, count, t, noise.data() + begin, [&](GroupMatrices& matrices, const Place& place) {
      const Index s = place.count;
      Numbers c(at(s)), r(at(s * m));
      for (Index k = 0; k < m; ++k) {
        for (Index i = 0; i < s; ++i) {
          const Index row = place.first + i;
          c[at(i)] = (block.y(row, k) - raw.dot(raw.row(row - begin), content.of_raw.row(k))) / noise[at(row)];
        }
        matrices.multiply(matrices.S(), c.data(), r.data() + k * s);
        for (Index i = 0; i < s; ++i) groups.residual[at((place.first + i) * m + k)] = r[at(i + k * s)];
      }
      for (Index i = 0; i < s && variances; ++i)
        groups.variance[at(place.first + i)] = matrices.S()[i * (matrices.size() + 1)] + groups.missing[at(place.first + i)];
      if (!densities) return Status{};
      double log_det = 0.0, square = 0.0;
      const Status inverted = matrices.invert_with(groups.missing.data() + place.first, log_det);
      for (Index k = 0; k < m; ++k) {
        matrices.multiply(matrices.A(), r.data() + k * s, c.data());
        for (Index i = 0; i < s; ++i) square += r[at(i + k * s)] * c[at(i)];
      }
      const double log_2pi = std::log(2.0 * 3.14159265358979323846);
      groups.density[at(place.group)] = 0.5 * (static_cast<double>(m) * (log_det - static_cast<double>(s) * log_2pi) - square);
      return inverted;
    });
  });
}

Status find_slopes(const SmallGroups& groups, const NystromPartials& partials, Index begin, Index count, const PointRows& t,
                   const double* noise, GroupSlopes& out) {
  const Index m = groups.outputs;
  out.c.assign(at(count * m), 0.0);
  out.precision.assign(at(count), 0.0);
  out.missing.assign(at(count), 0.0);
  Status status = out.v.rows() < count ? out.v.resize(count, t.width(), true) : Status{};
  if (!status.ok()) return status;
  std::fill_n(out.v.row(0), count * out.v.stride(), 0.0);
  status = for_each_group(groups, begin, count, t, noise, [&](GroupMatrices& matrices, const Place& place) {
    const Index s = place.count, first = place.first - begin, size = matrices.size();
    GroupSlope slope(groups, place, matrices);
    if (slope.nothing()) return Status{};
    double log_det = 0.0;
    Status found;
    if (!groups.of_density.empty()) found = matrices.invert_with(groups.missing.data() + place.first, log_det);
    if (!found.ok()) return found;
    slope.find_precision();
    double* G = matrices.factor();
    for (Index i = 0; i < s; ++i) {
      for (Index k = 0; k < m; ++k) out.c[at((first + i) * m + k)] = slope.c()[at(i + k * s)];
      out.missing[at(first + i)] = slope.missing()[at(i)];
      out.precision[at(first + i)] = G[i * (size + 1)];
    }
    for (Index j = 0; j < s; ++j)
      for (Index i = 0; i < s; ++i) G[i + j * size] /= noise[first + i];
    tile_kernels<double>().multiply_nn(t.stride(), s, s, 1.0, t.row(first), t.stride(), G, size, out.v.row(first), t.stride());
    return Status{};
  });
  if (!status.ok()) return status;
  return for_each_row(count, static_cast<double>(t.stride()), [&](Index i) {
    for (Index k = 0; k < m && partials.c.data; ++k) out.c[at(i * m + k)] += partials.c(begin + i, k);
    if (partials.missing.data) out.missing[at(i)] += partials.missing(begin + i, 0);
    if (!partials.precision.data) return;
    const double g = partials.precision(begin + i, 0);
    const double* rows[] = {t.row(i)};
    const double factors[] = {g / noise[i]};
    out.precision[at(i)] += g;
    t.add(1, rows, factors, out.v.row(i));
  });
}

}  // namespace kernsel
