// Kernels of levels, the values of a column of categories. A kernel is a symmetric table with a value for each pair of levels,
// and a formula for this table; from it tiles are looked up, and gradients are pulled through it: sums of weights over pairs of
// levels first, so that no number of parameters makes a pair of points more expensive.
//
// The levels of points are codes 0, 1, ..., m - 1 in one column, or m columns of which the one of the level is 1 and all others
// are 0.
#pragma once

#include <cstdint>

#include "kernels/nodes/node.hpp"

namespace kernsel {

using Level = std::int32_t;

// The levels of points, and zeros for the padding of the last block.
template <class T>
Status levels_of(View<const T> X, const std::vector<Index>& columns, Index levels, std::vector<Level>& out) {
  constexpr Index most_padding = 64;
  out.assign(static_cast<std::size_t>(X.rows + most_padding), 0);
  const auto d = static_cast<Index>(columns.size());
  const Status wrong = Status::invalid(
      "levels: expected a column of codes 0, 1, ... of the levels that the kernel knows, or a 0/1 column for each level");
  if (d > 1 && d != levels) return wrong;
  for (Index r = 0; r < X.rows; ++r) {
    Index level = -1;
    if (d == 1) {
      const T code = X(r, columns[0]);
      if (!(code >= T(0)) || !(code < static_cast<T>(levels)) || code != std::floor(code)) return wrong;
      level = static_cast<Index>(code);
    }
    for (Index k = 0; k < d && d > 1; ++k) {
      const T value = X(r, columns[static_cast<std::size_t>(k)]);
      if ((value != T(0) && value != T(1)) || (value == T(1) && level >= 0)) return wrong;
      if (value == T(1)) level = k;
    }
    if (level < 0) return wrong;
    out[static_cast<std::size_t>(r)] = static_cast<Level>(level);
  }
  return {};
}

// The levels of both sets of points of a step.
template <class T>
class LevelPoints {
 public:
  Status assign(const Geometry<T>& points, Index levels) {
    same_ = points.same;
    Status status = levels_of(points.X, points.columns, levels, X_);
    return status.ok() && !same_ ? levels_of(points.Z, points.columns, levels, Z_) : status;
  }
  const Level* rows(const Place& at) const {
    return &(at.part == Part::diagonal_of_z && !same_ ? Z_ : X_)[static_cast<std::size_t>(at.row)];
  }
  const Level* columns(const Place& at) const { return &(same_ ? X_ : Z_)[static_cast<std::size_t>(at.col)]; }

 private:
  std::vector<Level> X_, Z_;
  bool same_ = false;
};

// Formula has: levels(), value(i, j), and pull(i, j, weight, gradient, stride), which adds weight dC_ij/dtheta_p to
// gradient[p * stride] for all parameters p.
template <class T, class Formula>
class LevelStep final : public PlacelessStep<T> {
 public:
  LevelStep(const Formula& formula, const Geometry<T>& points, Status& status) : formula_(formula), m_(formula.levels()) {
    status = points_.assign(points, m_);
    if (!status.ok()) return;
    table_.resize(static_cast<std::size_t>(m_ * m_));
    for (Index j = 0; j < m_; ++j)
      for (Index i = 0; i < m_; ++i) table_[static_cast<std::size_t>(i + j * m_)] = static_cast<T>(formula_.value(i, j));
  }

  Status forward(const Place& at, const T* const*, T* out) const override {
    const Level* x = points_.rows(at);
    if (!at.tile()) {
      for (Index r = 0; r < at.height; ++r) out[r] = table_[static_cast<std::size_t>(x[r] * (m_ + 1))];
      return {};
    }
    const Level* z = points_.columns(at);
    for (Index c = 0; c < at.width; ++c, out += at.height) {
      const T* column = &table_[static_cast<std::size_t>(z[c] * m_)];
      for (Index r = 0; r < at.height; ++r) out[r] = column[x[r]];
    }
    return {};
  }

  Status pull_parameters(const Place& at, const T* const*, const T*, const T* W, double* gradient) const override {
    double* sums = scratch<double>(Scratch::step, m_ * m_);
    if (!sums) return no_memory();
    std::fill_n(sums, m_ * m_, 0.0);
    const Level* x = points_.rows(at);
    for (Index c = 0; c < at.width; ++c, W += at.height) {
      const Level* z = at.tile() ? points_.columns(at) + c : nullptr;
      for (Index r = 0; r < at.height; ++r) sums[x[r] + (z ? *z : x[r]) * m_] += static_cast<double>(W[r]);
    }
    for (Index j = 0; j < m_; ++j)
      for (Index i = 0; i < m_; ++i)
        if (const double weight = sums[i + j * m_]; weight != 0.0) formula_.pull(i, j, weight, gradient, 1);
    return {};
  }

  bool has_rows() const override { return true; }
  Status pull_rows(const Place& at, const T* const*, const T*, const T* W, double* rows) const override {
    double* sums = scratch<double>(Scratch::step, m_);
    if (!sums) return no_memory();
    const Level *x = points_.rows(at), *z = at.tile() ? points_.columns(at) : nullptr;
    for (Index r = 0; r < at.height; ++r) {
      std::fill_n(sums, m_, 0.0);
      for (Index c = 0; c < at.width; ++c) sums[z ? z[c] : x[r]] += static_cast<double>(W[r + c * at.height]);
      for (Index j = 0; j < m_; ++j)
        if (sums[j] != 0.0) formula_.pull(x[r], j, sums[j], rows + r, at.height);
    }
    return {};
  }

 private:
  Formula formula_;
  Index m_;
  LevelPoints<T> points_;
  std::vector<T> table_;  // by columns
};

// A node whose steps look up the table of a formula, which also has: check(), theta(), rules(), set_theta() and expression().
template <class Formula>
class LevelNode final : public NodeBase<LevelNode<Formula>> {
 public:
  explicit LevelNode(Formula formula) : formula_(std::move(formula)) {}
  Status check(Index columns) const override {
    constexpr Index most_levels = 4096;  // whose table takes 128 MiB
    const Status status = formula_.check();
    if (status.ok() && formula_.levels() > most_levels)
      return Status::invalid("levels: there can be at most 4096; an exchangeable kernel takes any number");
    if (!status.ok() || columns == 1 || columns == formula_.levels()) return status;
    return Status::invalid("levels: expected one column of codes, or a 0/1 column for each level; name them by .on([...])");
  }
  std::vector<double> theta() const override { return formula_.theta(); }
  std::vector<Rule> rules() const override { return formula_.rules(); }
  bool set_theta(const double* values) override {
    formula_.set_theta(values);
    return true;
  }
  std::string key() const override {
    const Expression written = formula_.expression();
    return key_of(written.name, written.numbers) + key_of("", written.list);
  }
  Expression expression() const override { return formula_.expression(); }
  bool is_of_levels() const override { return true; }
  template <class T>
  std::unique_ptr<Step<T>> make(const Geometry<T>& points, Status& status) const {
    return std::make_unique<LevelStep<T, Formula>>(formula_, points, status);
  }

 private:
  Formula formula_;
};

// Whether a number can be a correlation of levels, which is not negative here.
inline bool is_correlation(double value) { return value >= 0.0 && value <= 1.0; }

}  // namespace kernsel
