// A kernel of the features of another kernel k: f(S), where S is the inner product of the features, k(x, z), or their squared
// distance, k(x, x) + k(z, z) - 2 k(x, z), divided by the square of a length scale.
#include "kernels/nodes/metric_leaf.hpp"

namespace kernsel {

namespace {

template <class T>
class ComposeStep final : public Step<T> {
 public:
  ComposeStep(const MetricLeaf& leaf, const Geometry<T>& points)
      : leaf_(leaf),
        parameters_(leaf.parameters.begin(), leaf.parameters.end()),
        distance_(leaf.metric == Metric::squared_distance),
        factor_(leaf.scale.empty() ? T(1) : static_cast<T>(1.0 / (leaf.scale[0] * leaf.scale[0]))),
        rows_(points.X.rows),
        cols_(points.Z.rows) {}

  // The children are the values of k, and its diagonals for the points of X and of Z.
  Status forward(const Place& at, const T* const* children, T* out) const override {
    const Status status = features(at, children, out);
    if (!status.ok()) return status;
    tile_kernels<T>().profile(leaf_.profile, at.count(), parameters_.data(), out, out);
    return {};
  }

  Status pull_parameters(const Place& at, const T* const* children, const T* value, const T* W,
                         double* gradient) const override {
    T* S = scratch<T>(Scratch::metric, 2 * at.count());
    if (!S) return no_memory();
    T* G = S + at.count();
    const Status status = features(at, children, S);
    if (!status.ok()) return status;
    double own = 0.0;
    tile_kernels<T>().profile_pullback(leaf_.profile, at.count(), parameters_.data(), S, value, W, G, &own);
    if (leaf_.learned) *gradient++ += leaf_.exponent * own;
    if (!leaf_.scale.empty()) *gradient -= 2.0 * tile_kernels<T>().dot(at.count(), G, S);
    return {};
  }

  Status pull_points(const Place&, const T* const*, const T*, const T*, T*, T*) const override { return {}; }

  const T* pull_child(const Place& at, std::size_t c, const T* const* children, const T* value, const T* W,
                      T* room) const override {
    if (distance_ && !at.tile()) {  // the distance of a point from itself is zero for every kernel
      tile_kernels<T>().fill(at.count(), T(0), room);
      return room;
    }
    T* S = scratch<T>(Scratch::metric, 2 * at.count());  // not nullptr: pull_parameters() has just used the same memory
    T* G = c == 0 ? room : S + at.count();
    double own = 0.0;
    (void)features(at, children, S);
    tile_kernels<T>().profile_pullback(leaf_.profile, at.count(), parameters_.data(), S, value, W, G, &own);
    if (c == 0) {
      const T slope = distance_ ? T(-2) * factor_ : factor_;
      for (Index i = 0; i < at.count(); ++i) room[i] *= slope;
      return room;
    }
    tile_kernels<T>().fill(c == 1 ? at.height : at.width, T(0), room);
    if (!distance_) return room;
    for (Index j = 0; j < at.width; ++j)
      for (Index i = 0; i < at.height; ++i) room[c == 1 ? i : j] += factor_ * G[i + j * at.height];
    return room;
  }

 private:
  // Computes S, whose memory may be that of a child.
  Status features(const Place& at, const T* const* children, T* S) const {
    const T* k = children[0];
    if (!distance_) {
      for (Index i = 0; i < at.count(); ++i) S[i] = factor_ * k[i];
      return {};
    }
    if (!at.tile()) {
      tile_kernels<T>().fill(at.count(), T(0), S);
      return {};
    }
    T* x = scratch<T>(Scratch::step, at.height + at.width);
    if (!x) return no_memory();
    T* z = x + at.height;
    std::copy_n(children[1], at.height, x);
    std::copy_n(children[2], at.width, z);
    const Index rows = std::min(at.height, rows_ - at.row), cols = std::min(at.width, cols_ - at.col);
    for (Index j = 0; j < at.width; ++j)
      for (Index i = 0; i < at.height; ++i) {
        const Index e = i + j * at.height;
        // The diagonals are added first, so that (z, x) gives the same bits.
        const T square = (x[i] + z[j]) - T(2) * k[e];
        S[e] = i < rows && j < cols ? factor_ * std::max(square, T(0)) : T(0);
      }
    for (Index i = 0; at.on_diagonal() && i < at.height; ++i) S[i + i * at.height] = T(0);
    return {};
  }

  MetricLeaf leaf_;
  std::vector<T> parameters_;
  bool distance_;
  T factor_;
  Index rows_, cols_;
};

class ComposeNode final : public NodeBase<ComposeNode> {
 public:
  ComposeNode(MetricLeaf leaf, const char* problem, const Kernel& inner) : outer_(std::move(leaf), problem) {
    children = {inner.node()};
  }
  Status check(Index) const override {
    if (outer_.leaf().scale.size() > 1) return Status::invalid("compose: features have one length scale");
    return outer_.check(1);
  }
  bool may_overflow() const override { return outer_.may_overflow(); }
  bool sees_diagonals() const override { return true; }
  std::vector<double> theta() const override { return outer_.theta(); }
  bool set_theta(const double* values) override { return outer_.set_theta(values); }
  std::string key() const override { return "compose " + outer_.key(); }
  Expression expression() const override { return {"compose", {}, {}, {&outer_, children[0].get()}}; }
  template <class T>
  std::unique_ptr<Step<T>> make(const Geometry<T>& points, Status&) const {
    return std::make_unique<ComposeStep<T>>(outer_.leaf(), points);
  }

 private:
  MetricNode outer_;
};

}  // namespace

Kernel compose(const Kernel& outer, const Kernel& inner) {
  const auto* leaf = dynamic_cast<const MetricNode*>(outer.node().get());
  if (leaf && leaf->leaf().metric != Metric::difference)
    return Kernel(std::make_shared<ComposeNode>(leaf->leaf(), leaf->problem(), inner));
  const char* problem = "compose: the outer kernel must be one of a distance or of an inner product";
  return Kernel(std::make_shared<ComposeNode>(MetricLeaf{Metric::inner_product, Profile::exp, {}, {}}, problem, inner));
}

}  // namespace kernsel
