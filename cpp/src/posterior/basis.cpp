#include <algorithm>
#include <cmath>
#include <limits>

#include "base/call_out.hpp"
#include "kernsel/trend.hpp"

namespace kernsel {

Basis Basis::functions(Index count, PointFunction f) {
  Basis basis(Kind::functions);
  basis.count_ = count;
  basis.f_ = std::move(f);
  return basis;
}

Basis Basis::fixed(View<const double> H) {
  Basis basis(H.cols > 0 ? Kind::fixed : Kind::none);
  basis.count_ = H.cols;
  basis.append(H);
  return basis;
}

void Basis::append(View<const double> H) {
  for (Index i = 0; i < H.rows; ++i)
    for (Index j = 0; j < H.cols; ++j) values_.push_back(H(i, j));
}

void Basis::remove(Index row) {
  if (kind_ != Kind::fixed) return;
  const auto begin = values_.begin() + row * count_;
  values_.erase(begin, begin + count_);
}

Index Basis::count(Index columns) const {
  switch (kind_) {
    case Kind::none:
      return 0;
    case Kind::constant:
      return 1;
    case Kind::linear:
      return 1 + columns;
    case Kind::quadratic:
      return 1 + columns + columns * (columns + 1) / 2;
    default:
      return count_;
  }
}

Status Basis::write(View<const double> points, View<double> out) const {
  const Index d = points.cols;
  if (kind_ == Kind::functions) return call_out([&] { f_.value(points, out); });
  if (kind_ == Kind::fixed) {
    if (points.rows * count_ != static_cast<Index>(values_.size()))
      return Status::invalid("trend: a matrix says nothing of other points; give a name or a function to predict");
    for (Index i = 0; i < out.rows; ++i)
      for (Index j = 0; j < count_; ++j) out(i, j) = values_[static_cast<std::size_t>(i * count_ + j)];
    return {};
  }
  for (Index i = 0; i < points.rows && kind_ != Kind::none; ++i) {
    Index at = 0;
    out(i, at++) = 1.0;
    for (Index k = 0; kind_ != Kind::constant && k < d; ++k) out(i, at++) = points(i, k);
    for (Index j = 0; kind_ == Kind::quadratic && j < d; ++j)
      for (Index k = j; k < d; ++k) out(i, at++) = points(i, j) * points(i, k);
  }
  return {};
}

Status Basis::write_gradient(View<const double> points, const std::vector<double>& widths, View<double> out) const {
  const Index n = points.rows, d = points.cols, q = count(d);
  for (Index i = 0; i < out.rows; ++i)
    for (Index j = 0; j < out.cols; ++j) out(i, j) = 0.0;
  if (kind_ == Kind::fixed) return Status::invalid("trend: a matrix says nothing of other points; give a name or a function");
  if (kind_ == Kind::functions && f_.derivative) {
    std::vector<double> slopes(static_cast<std::size_t>(n * q * d));  // (n, q d), the column of the points varying fastest
    const View<double> to = rows(slopes.data(), n, q * d);
    const Status status = call_out([&] { f_.derivative(points, to); });
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < q; ++j)
        for (Index k = 0; k < d; ++k) out(i, k * q + j) = to(i, j * d + k);
    return status;
  }
  if (kind_ == Kind::functions) {
    std::vector<double> moved(static_cast<std::size_t>(n * d)), ahead(static_cast<std::size_t>(n * q)), behind(ahead.size());
    const View<double> Z = rows(moved.data(), n, d);
    for (Index k = 0; k < d; ++k) {
      double size = widths[static_cast<std::size_t>(k)];
      for (Index i = 0; i < n; ++i) size = std::max(size, std::abs(points(i, k)));
      const double step = std::cbrt(std::numeric_limits<double>::epsilon()) * (size > 0.0 ? size : 1.0);
      std::vector<double> width(static_cast<std::size_t>(n), 0.0);
      for (const double sign : {1.0, -1.0}) {
        for (Index i = 0; i < n; ++i)
          for (Index j = 0; j < d; ++j) Z(i, j) = points(i, j) + (j == k ? sign * step : 0.0);
        for (Index i = 0; i < n; ++i) width[static_cast<std::size_t>(i)] += sign * Z(i, k);
        const Status status = call_out([&] { f_.value(Z, rows((sign > 0.0 ? ahead : behind).data(), n, q)); });
        if (!status.ok()) return status;
      }
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < q; ++j) {
          const auto at = static_cast<std::size_t>(i * q + j);
          out(i, k * q + j) = (ahead[at] - behind[at]) / width[static_cast<std::size_t>(i)];
        }
    }
    return {};
  }
  for (Index i = 0; i < n; ++i) {
    for (Index k = 0; kind_ != Kind::constant && kind_ != Kind::none && k < d; ++k) out(i, k * q + 1 + k) = 1.0;
    Index at = 1 + d;
    for (Index j = 0; kind_ == Kind::quadratic && j < d; ++j)
      for (Index k = j; k < d; ++k, ++at) {
        out(i, j * q + at) += points(i, k);
        out(i, k * q + at) += points(i, j);
      }
  }
  return {};
}

}  // namespace kernsel
