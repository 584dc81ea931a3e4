// Functions of points that the user gives: their values and derivatives at all points.
#pragma once

#include "base/call_out.hpp"
#include "kernels/nodes/node.hpp"

namespace kernsel {

// The key of a node with a function. Functions without a name are all different; see PointFunction::name.
inline std::string function_key(const char* what, const std::string& name, const KernelNode& node) {
  return name.empty() ? node.KernelNode::key() : what + (" " + name);
}

// A copy of the columns that a kernel sees, in double precision.
template <class T>
class PlainPoints {
 public:
  PlainPoints(View<const T> X, const std::vector<Index>& columns)
      : rows_(X.rows), columns_(static_cast<Index>(columns.size())) {
    values_.reserve(static_cast<std::size_t>(rows_ * columns_));
    for (Index r = 0; r < rows_; ++r)
      for (const Index k : columns) values_.push_back(static_cast<double>(X(r, k)));
  }
  View<const double> view() const { return rows(values_.data(), rows_, columns_); }
  View<double> view() { return rows(values_.data(), rows_, columns_); }

  // Steps for central differences, one for each column: about a thousandth of its range.
  std::vector<double> steps() const {
    std::vector<double> all;
    for (Index k = 0; k < columns_; ++k) {
      double low = HUGE_VAL, high = -HUGE_VAL;
      for (Index r = 0; r < rows_; ++r) {
        low = std::min(low, view()(r, k));
        high = std::max(high, view()(r, k));
      }
      const double size = high > low ? high - low : std::max(std::abs(high), 1.0);
      all.push_back(std::ldexp(1.0, std::ilogb(size) - 10));  // a power of two, so that quotients are exact
    }
    return all;
  }

 private:
  Index rows_, columns_;
  std::vector<double> values_;
};

// out <- df/dx_k by central differences of fourth order, from four calls of f(h, values), which evaluates at points moved by h
// along column k.
template <class F>
Status central_differences(const F& f, double step, std::vector<double>& out) {
  const double moves[] = {1.0, -1.0, 2.0, -2.0}, factors[] = {8.0 / 12.0, -8.0 / 12.0, -1.0 / 12.0, 1.0 / 12.0};
  std::vector<double> values(out.size());
  std::fill(out.begin(), out.end(), 0.0);
  for (int m = 0; m < 4; ++m) {
    const Status status = f(moves[m] * step, values);
    if (!status.ok()) return status;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += factors[m] / step * values[i];
  }
  return {};
}

// The values of a function with several outputs at all points of both sets, in column-major blocks (height, outputs). If the
// geometry asks for derivatives, these are (n, outputs * columns), with the index of the column varying fastest; they come from
// the derivative that the user gave, or from differences.
template <class T>
class PointValues {
 public:
  PointValues(const PointFunction& f, Index outputs, const Geometry<T>& points, Status& status) : same_(points.same) {
    status = X_.assign(f, outputs, points.X, points);
    if (status.ok() && !same_) status = Z_.assign(f, outputs, points.Z, points);
  }
  const T* of_x(const Place& at) const { return first(at).values.block_data(at.i); }
  const T* of_z(const Place& at) const { return second().values.block_data(at.j); }
  const T* derivative_of_x(const Place& at) const { return first(at).derivatives.block_data(at.i); }
  const T* derivative_of_z(const Place& at) const { return second().derivatives.block_data(at.j); }
  // The values for a whole set of points, column-major.
  View<const T> all_of_x() const { return X_.all(); }
  View<const T> all_of_z() const { return second().all(); }

 private:
  struct Set {
    Points<T> values, derivatives;
    std::vector<T> plain;
    Index outputs = 0;

    View<const T> all() const {
      return columns(plain.data(), static_cast<Index>(plain.size()) / std::max<Index>(outputs, 1), outputs);
    }

    Status assign(const PointFunction& f, Index count, View<const T> X, const Geometry<T>& points) {
      PlainPoints<T> x(X, points.columns);
      outputs = count;
      std::vector<double> out(static_cast<std::size_t>(X.rows * count));
      Status status = call_out([&] { f.value(x.view(), columns(out.data(), X.rows, count)); });
      if (status.ok()) status = store(out, X.rows, count, points.block, plain, values);
      if (!status.ok() || !points.differentiable) return status;
      const Index dimension = points.dimension();
      std::vector<double> slopes(out.size() * static_cast<std::size_t>(dimension));
      if (f.derivative) {
        status = call_out([&] { f.derivative(x.view(), columns(slopes.data(), X.rows, count * dimension)); });
      } else {
        const std::vector<double> steps = x.steps();
        for (Index k = 0; k < dimension && status.ok(); ++k) {
          const auto moved = [&](double h, std::vector<double>& to) {
            PlainPoints<T> other = x;
            for (Index r = 0; r < X.rows; ++r) other.view()(r, k) += h;
            return call_out(
                [&] { f.value(const_cast<const PlainPoints<T>&>(other).view(), columns(to.data(), X.rows, count)); });
          };
          status = central_differences(moved, steps[static_cast<std::size_t>(k)], out);
          for (const double slope : out)
            if (status.ok() && !std::isfinite(slope))
              status = Status::invalid(
                  "a derivative by differences is not finite: the function is not, near the points; give its derivative");
          for (Index o = 0; o < count; ++o)
            std::copy_n(out.data() + o * X.rows, X.rows, slopes.data() + (o * dimension + k) * X.rows);
        }
      }
      std::vector<T> unused;
      return status.ok() ? store(slopes, X.rows, count * dimension, points.block, unused, derivatives) : status;
    }

    static Status store(const std::vector<double>& from, Index rows, Index count, Index block, std::vector<T>& plain,
                        Points<T>& to) {
      plain.resize(from.size());
      std::vector<Index> all;
      for (Index o = 0; o < count; ++o) all.push_back(o);
      for (std::size_t i = 0; i < from.size(); ++i) {
        if (!std::isfinite(from[i])) return Status::invalid("a function of the points returned a number that is not finite");
        plain[i] = static_cast<T>(from[i]);
      }
      return to.assign(columns(static_cast<const T*>(plain.data()), rows, count), block, all, std::vector<T>(all.size(), T(1)));
    }
  };

  const Set& second() const { return same_ ? X_ : Z_; }
  const Set& first(const Place& at) const { return at.part == Part::diagonal_of_z ? second() : X_; }

  Set X_, Z_;
  bool same_;
};

}  // namespace kernsel
