// Kernels of levels that are all alike: exchangeable ones, of any number, and those of groups.
#include <map>

#include "kernels/nodes/levels.hpp"

namespace kernsel {

namespace {

// 1 for points that are equal in all columns, and otherwise the correlation. Points need not be codes of levels: each point
// that differs from all others is a level of its own.
template <class T>
class ExchangeableStep final : public PlacelessStep<T> {
 public:
  ExchangeableStep(double correlation, const Geometry<T>& points)
      : correlation_(static_cast<T>(correlation)), learned_(correlation > 0.0), same_(points.same) {
    std::map<std::vector<T>, Level> known;
    number(points.X, points.columns, known, X_);
    if (!same_) number(points.Z, points.columns, known, Z_);
  }
  Status forward(const Place& at, const T* const*, T* out) const override {
    each(at, [&](Index i, Index, bool equal) { out[i] = equal ? T(1) : correlation_; });
    return {};
  }
  Status pull_parameters(const Place& at, const T* const*, const T*, const T* W, double* gradient) const override {
    double sum = 0.0;
    each(at, [&](Index i, Index, bool equal) { sum += equal ? 0.0 : static_cast<double>(W[i]); });
    if (learned_) *gradient += static_cast<double>(correlation_) * sum;
    return {};
  }
  bool has_rows() const override { return true; }
  Status pull_rows(const Place& at, const T* const*, const T*, const T* W, double* rows) const override {
    each(at, [&](Index i, Index r, bool equal) {
      if (learned_ && !equal) rows[r] += static_cast<double>(correlation_ * W[i]);
    });
    return {};
  }

 private:
  static void number(View<const T> X, const std::vector<Index>& columns, std::map<std::vector<T>, Level>& known,
                     std::vector<Level>& out) {
    constexpr Index most_padding = 64;
    out.assign(static_cast<std::size_t>(X.rows + most_padding), 0);
    std::vector<T> point(columns.size());
    for (Index r = 0; r < X.rows; ++r) {
      for (std::size_t k = 0; k < columns.size(); ++k) point[k] = X(r, columns[k]);
      out[static_cast<std::size_t>(r)] = known.try_emplace(point, static_cast<Level>(known.size())).first->second;
    }
  }
  // Calls f(index in the tile, row, whether both points are equal) for all elements.
  template <class F>
  void each(const Place& at, const F& f) const {
    const std::vector<Level>& of_rows = at.part == Part::diagonal_of_z && !same_ ? Z_ : X_;
    const Level *x = &of_rows[static_cast<std::size_t>(at.row)], *z = &(same_ ? X_ : Z_)[static_cast<std::size_t>(at.col)];
    for (Index c = 0; c < at.width; ++c)
      for (Index r = 0; r < at.height; ++r) f(r + c * at.height, r, !at.tile() || x[r] == z[c]);
  }

  T correlation_;
  bool learned_, same_;
  std::vector<Level> X_, Z_;
};

class ExchangeableNode final : public NodeBase<ExchangeableNode> {
 public:
  explicit ExchangeableNode(double correlation) : correlation_(correlation) {}
  Status check(Index) const override {
    return is_correlation(correlation_) ? Status{} : Status::invalid("exchangeable: the correlation must be between 0 and 1");
  }
  // A correlation of zero stays: it has no logarithm.
  std::vector<double> theta() const override {
    return correlation_ > 0.0 ? std::vector<double>{std::log(correlation_)} : std::vector<double>{};
  }
  std::vector<Rule> rules() const override { return std::vector<Rule>(theta().size(), Rule::share); }
  bool set_theta(const double* values) override {
    if (correlation_ > 0.0) correlation_ = std::exp(*values);
    return true;
  }
  std::string key() const override { return key_of("exchangeable", {correlation_}); }
  Expression expression() const override { return {"exchangeable", {correlation_}}; }
  bool is_of_levels() const override { return true; }
  template <class T>
  std::unique_ptr<Step<T>> make(const Geometry<T>& points, Status&) const {
    return std::make_unique<ExchangeableStep<T>>(correlation_, points);
  }

 private:
  double correlation_;
};

// 1 for equal levels, `within` for two of one group, and `within` times `between` for levels of different groups.
struct GroupedLevels {
  double within, between;
  std::vector<Index> groups;  // of each level

  Index levels() const { return static_cast<Index>(groups.size()); }
  bool apart(Index i, Index j) const { return groups[static_cast<std::size_t>(i)] != groups[static_cast<std::size_t>(j)]; }
  double value(Index i, Index j) const { return i == j ? 1.0 : within * (apart(i, j) ? between : 1.0); }
  void pull(Index i, Index j, double weight, double* gradient, Index stride) const {
    if (i == j) return;
    gradient[0] += weight * value(i, j);
    if (apart(i, j)) gradient[stride] += weight * value(i, j);
  }
  Status check() const {
    if (groups.empty()) return Status::invalid("grouped_levels: expected the group of each level");
    if (is_correlation(within) && within > 0.0 && is_correlation(between) && between > 0.0) return {};
    return Status::invalid("grouped_levels: the correlations must be positive, and at most 1");
  }
  std::vector<double> theta() const { return {std::log(within), std::log(between)}; }
  std::vector<Rule> rules() const { return {Rule::share, Rule::share}; }
  void set_theta(const double* values) {
    within = std::exp(values[0]);
    between = std::exp(values[1]);
  }
  Expression expression() const { return {"grouped_levels", {within, between}, {groups.begin(), groups.end()}}; }
};

}  // namespace

Kernel exchangeable(double correlation) { return Kernel(std::make_shared<ExchangeableNode>(correlation)); }

Kernel grouped_levels(double within, double between, std::vector<Index> groups) {
  return Kernel(std::make_shared<LevelNode<GroupedLevels>>(GroupedLevels{within, between, std::move(groups)}));
}

}  // namespace kernsel
