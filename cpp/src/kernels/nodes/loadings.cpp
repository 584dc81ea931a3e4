// Kernels of levels by loadings: B = W W' + diag(kappa), as it is, or as correlations with kappa = 1.
#include "kernels/nodes/levels.hpp"

namespace kernsel {

namespace {

// The rows w_i of W, one after another.
struct Loadings {
  std::vector<double> W;
  Index rank;

  Index levels() const { return rank > 0 ? static_cast<Index>(W.size()) / rank : 0; }
  const double* row(Index i) const { return &W[static_cast<std::size_t>(i * rank)]; }
  double product(Index i, Index j) const {
    double sum = 0.0;
    for (Index a = 0; a < rank; ++a) sum += row(i)[a] * row(j)[a];
    return sum;
  }
  const char* problem() const {
    for (const double w : W)
      if (!std::isfinite(w)) return "loadings: the entries of W must be finite";
    return nullptr;
  }
};

// (w_i'w_j + [i = j]) / ((1 + |w_i|^2) (1 + |w_j|^2))^(1/2)
struct CorrelatedLevels {
  Loadings of;

  Index levels() const { return of.levels(); }
  double square(Index i) const { return 1.0 + of.product(i, i); }
  double value(Index i, Index j) const { return i == j ? 1.0 : of.product(i, j) / std::sqrt(square(i) * square(j)); }
  void pull(Index i, Index j, double weight, double* gradient, Index stride) const {
    if (i == j) return;
    const double of_i = square(i), of_j = square(j), factor = weight / std::sqrt(of_i * of_j), product = of.product(i, j);
    for (Index a = 0; a < of.rank; ++a) {
      const double w = of.row(i)[a], v = of.row(j)[a];
      gradient[(i * of.rank + a) * stride] += factor * (v - product * w / of_i);
      gradient[(j * of.rank + a) * stride] += factor * (w - product * v / of_j);
    }
  }
  Status check() const {
    if (of.rank < 1 || of.W.empty() || static_cast<Index>(of.W.size()) % of.rank != 0)
      return Status::invalid("correlated_levels: expected a matrix W with a row for each level");
    const char* problem = of.problem();
    return problem ? Status::invalid(problem) : Status{};
  }
  std::vector<double> theta() const { return of.W; }
  std::vector<Rule> rules() const { return std::vector<Rule>(of.W.size(), Rule::none); }
  void set_theta(const double* values) { std::copy_n(values, of.W.size(), of.W.begin()); }
  Expression expression() const { return {"correlated_levels", {static_cast<double>(of.rank)}, of.W}; }
};

// w_i'w_j + [i = j] kappa_i; the rank may be 0. Without kappa, w_i w_j.
struct Coregion {
  Loadings of;
  std::vector<double> kappa;

  bool has_kappa() const { return !kappa.empty(); }
  Index levels() const { return has_kappa() ? static_cast<Index>(kappa.size()) : of.levels(); }
  double value(Index i, Index j) const {
    return of.product(i, j) + (i == j && has_kappa() ? kappa[static_cast<std::size_t>(i)] : 0.0);
  }
  void pull(Index i, Index j, double weight, double* gradient, Index stride) const {
    for (Index a = 0; a < of.rank; ++a) {
      gradient[(i * of.rank + a) * stride] += weight * of.row(j)[a];
      gradient[(j * of.rank + a) * stride] += weight * of.row(i)[a];
    }
    if (i == j && has_kappa()) gradient[(levels() * of.rank + i) * stride] += weight * kappa[static_cast<std::size_t>(i)];
  }
  Status check() const {
    if (const char* problem = of.problem()) return Status::invalid(problem);
    if (levels() < 1 || static_cast<Index>(of.W.size()) != of.rank * levels())
      return Status::invalid("coregion: expected one number kappa for each row of W");
    for (const double k : kappa)
      if (!positive(k)) return Status::invalid("coregion: kappa must be positive and finite");
    return {};
  }
  std::vector<double> theta() const {
    std::vector<double> all = of.W;
    for (const double k : kappa) all.push_back(std::log(k));
    return all;
  }
  std::vector<Rule> rules() const {
    std::vector<Rule> all(of.W.size(), Rule::none);
    all.insert(all.end(), kappa.size(), Rule::variance);
    return all;
  }
  void set_theta(const double* values) {
    std::copy_n(values, of.W.size(), of.W.begin());
    exponentials(values + of.W.size(), kappa);
  }
  Expression expression() const {
    if (!has_kappa()) return {"loadings", {}, of.W};
    std::vector<double> all = of.W;
    all.insert(all.end(), kappa.begin(), kappa.end());
    return {"coregion", {static_cast<double>(of.rank)}, std::move(all)};
  }
};

}  // namespace

Kernel correlated_levels(std::vector<double> W, Index rank) {
  return Kernel(std::make_shared<LevelNode<CorrelatedLevels>>(CorrelatedLevels{{std::move(W), rank}}));
}

Kernel coregion(std::vector<double> W, std::vector<double> kappa) {
  const auto m = static_cast<Index>(kappa.size()), rank = m > 0 ? static_cast<Index>(W.size()) / m : 1;
  return Kernel(std::make_shared<LevelNode<Coregion>>(Coregion{{std::move(W), rank}, std::move(kappa)}));
}

}  // namespace kernsel
