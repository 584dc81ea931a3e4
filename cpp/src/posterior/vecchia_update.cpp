// Points are added to the posterior, or removed.
#include <algorithm>
#include <cmath>

#include "base/memory.hpp"
#include "factors/trend.hpp"
#include "factors/vecchia/walk.hpp"
#include "posterior/vecchia_content.hpp"

namespace kernsel {

namespace {

using Numbers = std::vector<double>;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// The least squares of a trend, min |E beta - T|^2, as the triangle of [E T] = Q [R, R beta], by rows, to which rows are added.
class TrendRows {
 public:
  TrendRows(const Numbers& R, const Numbers& beta, Index q, Index outputs) : q_(q), width_(q + outputs) {
    rows_.assign(at(q * width_), 0.0);
    for (Index j = 0; j < q; ++j)
      for (Index l = j; l < q; ++l) {
        row(j)[l] = R[at(j + l * q)];
        for (Index k = 0; k < outputs; ++k) row(j)[q + k] += R[at(j + l * q)] * beta[at(l * outputs + k)];
      }
  }

  // Adds a row of [E T], which is overwritten, by rotations.
  void add(double* added) {
    for (Index j = 0; j < q_; ++j) {
      double* own = row(j);
      const double length = std::hypot(own[j], added[j]);
      if (!(length > 0.0)) continue;
      const double c = own[j] / length, s = added[j] / length;
      for (Index l = j; l < width_; ++l) {
        const double before = own[l];
        own[l] = c * before + s * added[l];
        added[l] = c * added[l] - s * before;
      }
    }
  }

  void write(Numbers& R, Numbers& beta) {
    const Index outputs = width_ - q_;
    for (Index j = q_ - 1; j >= 0; --j) {
      for (Index l = j; l < q_; ++l) R[at(j + l * q_)] = row(j)[l];
      for (Index k = 0; k < outputs; ++k) {
        double sum = row(j)[q_ + k];
        for (Index l = j + 1; l < q_; ++l) sum -= row(j)[l] * beta[at(l * outputs + k)];
        beta[at(j * outputs + k)] = sum / row(j)[j];
      }
    }
  }

 private:
  double* row(Index j) { return rows_.data() + j * width_; }

  Index q_, width_;
  Numbers rows_;
};

}  // namespace

// The points are added to the arrays first, so that the sets of the new ones are sets of rows of X as all others.
Status VecchiaPosterior::append(View<const double> X, View<const double> y, View<const double> noise) {
  Content& own = *content_;
  const Index before = own.n, more = X.rows, d = own.d, m = own.m, w = own.w;
  if (X.cols != d || y.rows != more || y.cols != m || noise.rows != more)
    return Status::invalid("append: expected points, targets and noise as those that are there");
  if (own.basis.kind() == Basis::Kind::fixed)
    return Status::invalid("trend: a matrix says nothing of other points; give a name or a function to predict");
  for (Index i = 0; i < more; ++i)
    for (Index j = 0; j < d; ++j)
      if (!std::isfinite(X(i, j))) return Status::invalid("append: expected finite coordinates");
  Status status = own.require_trend();
  if (status.ok()) status = own.require_tree();
  if (!status.ok() || more == 0) return status;
  Numbers added;  // of each set H'v and v'y
  status = within_memory([&] {
    Sets sets;
    Status found = own.sets_of(X, own.options.neighbours, true, sets);
    if (!found.ok()) return found;
    added.assign(at(more * (w + m)), 0.0);
    const Numbers points = by_rows(X), targets = by_rows(y),
                  variances = by_rows(noise);  // these may be views of the posterior's
    own.X.insert(own.X.end(), points.begin(), points.end());
    own.y.insert(own.y.end(), targets.begin(), targets.end());
    own.noise.insert(own.noise.end(), variances.begin(), variances.end());
    own.D.resize(at((before + more) * w));
    own.n = before + more;
    found = own.write_columns(own.points().block(before, 0, more, d), own.D.data() + before * w);
    if (!found.ok()) return found;
    const auto visit = [&](const Cell& cell, const std::int32_t* set, Index i, Index) -> Status {
      double* sums = added.data() + i * (w + m);
      for (Index r = 0; r < cell.count(); ++r) {
        for (Index j = 0; j < w; ++j) sums[j] += cell.v()[r] * own.columns_at(set[r])[j];
        for (Index k = 0; k < m; ++k) sums[w + k] += cell.v()[r] * own.y[at(set[r] * m + k)];
      }
      return {};
    };
    found = walk(own.kernel, own.set_points(), sets, false, visit, [](Index, Index, Index) {});
    if (found.ok()) own.tree.append(own.points().block(before, 0, more, d));
    return found;
  });
  if (!status.ok()) {
    own.n = before;
    own.X.resize(at(before * d));
    own.y.resize(at(before * m));
    own.noise.resize(at(before));
    own.D.resize(at(before * w));
    return status;
  }
  own.has_tree = !own.tree.outgrown();
  own.has_rest = false;
  TrendRows trend(own.R, own.beta, w, m);
  for (Index i = 0; i < more && w > 0; ++i) trend.add(added.data() + i * (w + m));
  trend.write(own.R, own.beta);
  return {};
}

Status VecchiaPosterior::remove(Index i) {
  Content& own = *content_;
  if (i < 0 || i >= own.n || own.n <= std::max<Index>(own.q, 1))
    return Status::invalid("remove: there is no such point, or without it too few would be left");
  const auto without = [i](Numbers values, Index each) {
    values.erase(values.begin() + i * each, values.begin() + (i + 1) * each);
    return values;
  };
  return within_memory([&] {
    Numbers D = without(own.D, own.w);
    if (!independent({D.data() + own.inducing.count(), own.n - 1, own.q, own.w, 1}))
      return Status::invalid("remove: without this point the columns of the trend are linearly dependent");
    own.D = std::move(D);
    own.X.erase(own.X.begin() + i * own.d, own.X.begin() + (i + 1) * own.d);
    own.y.erase(own.y.begin() + i * own.m, own.y.begin() + (i + 1) * own.m);
    own.noise.erase(own.noise.begin() + i);
    own.basis.remove(i);
    --own.n;
    own.has_trend = own.has_rest = own.has_tree = false;
    return Status{};
  });
}

}  // namespace kernsel
