// Kernels of the inner product p = c + x'z and of the norms u = c + x'x, v = c + z'z, columns divided by length scales: the
// radial pair and the arc-cosine kernels.
#include "kernels/nodes/metric_leaf.hpp"

namespace kernsel {

namespace {

constexpr double pi = 3.14159265358979323846;

enum class NormsKernel { radial_pair, arc_cosine0, arc_cosine1, arc_cosine2 };

// A value k with its derivatives in p, u and v.
struct Derivatives {
  double k, p, u, v;
};

// The arc-cosine kernel of order n, (u v)^(n/2) J_n(t) / pi, where t is the angle between the points. t is computed from s =
// |x/|x| - z/|z||^2 = 4 sin(t/2)^2, or, near t = pi, from s_plus = |x/|x| + z/|z||^2: an angle computed from its cosine would
// lose half of its digits there.
Derivatives arc_cosine(int n, double s, double s_plus, double u, double v) {
  const bool small = s <= 2.0;
  const double half = std::asin(std::min(std::sqrt(small ? s : s_plus) / 2.0, 1.0));
  const double rest = small ? pi - 2.0 * half : 2.0 * half;  // pi - t
  const double sine = 2.0 * std::sin(half) * std::cos(half), cosine = (small ? 1.0 : -1.0) * std::cos(2.0 * half);
  const double size = std::sqrt(u) * std::sqrt(v);
  Derivatives d{};
  if (n == 0) {
    d.k = rest / pi;
    d.p = sine * size > 0.0 ? 1.0 / (pi * sine * size) : 0.0;
  } else if (n == 1) {
    d.k = size * (sine + rest * cosine) / pi;
    d.p = rest / pi;
  } else {
    d.k = size * size * (3.0 * sine * cosine + rest * (1.0 + 2.0 * cosine * cosine)) / pi;
    d.p = 4.0 * size * (sine + rest * cosine) / pi;
  }
  if (!(size > 0.0)) return {d.k, 0.0, 0.0, 0.0};
  const double same = n * d.k - d.p * size * cosine;
  d.u = same / (2.0 * u);
  d.v = same / (2.0 * v);
  return d;
}

template <class T>
class NormsStep final : public LeafStep<T> {
 public:
  NormsStep(NormsKernel kernel, double offset, const std::vector<double>& scale, const Geometry<T>& points, Status& status)
      : kernel_(kernel),
        offset_(offset),
        scales_(scale.size()),
        same_(points.same),
        metrics_(Metric::inner_product, scale, points, status) {
    if (kernel == NormsKernel::radial_pair) return;
    if (status.ok()) status = directions(points.X, scale, points, X_);
    if (status.ok() && !same_) status = directions(points.Z, scale, points, Z_);
  }

  Status forward(const Place& at, const T* const*, T* out) const override {
    return visit(at, [&](Index, Index, Index i, const Derivatives& d) { out[i] = static_cast<T>(d.k); });
  }
  Status pull_parameters(const Place& at, const T* const*, const T*, const T* W, double* gradient) const override {
    Pulled pulled;
    const Status status = pull(at, W, pulled);
    if (!status.ok()) return status;
    if (offset_ > 0.0) {
      const TileKernels<T>& kernels = tile_kernels<T>();
      double sum = kernels.sum(at.count(), pulled.G) + kernels.sum(at.height, pulled.u);
      if (at.tile()) sum += kernels.sum(at.width, pulled.v);
      *gradient++ += offset_ * sum;
    }
    metrics_.forward(at, pulled.S);
    metrics_.pull_scales(at, pulled.S, pulled.G, scales_, gradient);
    metrics_.forward(of_x(at), pulled.S);
    metrics_.pull_scales(of_x(at), pulled.S, pulled.u, scales_, gradient);
    if (!at.tile()) return {};
    metrics_.forward(of_z(at), pulled.S);
    metrics_.pull_scales(of_z(at), pulled.S, pulled.v, scales_, gradient);
    return {};
  }
  Status pull_points(const Place& at, const T* const*, const T*, const T* W, T* gx, T* gz) const override {
    Pulled pulled;
    Status status = pull(at, W, pulled);
    if (status.ok()) status = metrics_.pull_points(at, pulled.G, pulled.S, gx, gz);
    if (status.ok()) status = metrics_.pull_points(of_x(at), pulled.u, pulled.S, gx, nullptr);
    if (status.ok() && at.tile()) status = metrics_.pull_points(of_z(at), pulled.v, pulled.S, gz, nullptr);
    return status;
  }

 private:
  // The gradients G, u and v in p, u and v; S is memory for one metric.
  struct Pulled {
    T *S, *G, *u, *v;
  };

  static Place of_x(const Place& at) {
    Place diagonal = at;
    if (at.tile()) diagonal.part = Part::diagonal_of_x;
    diagonal.width = 1;
    return diagonal;
  }
  static Place of_z(const Place& at) {
    Place diagonal = of_x(at);
    diagonal.part = Part::diagonal_of_z;
    diagonal.i = at.j;
    diagonal.row = at.col;
    diagonal.height = at.width;
    return diagonal;
  }

  // to <- the points divided by their norms, with offset^(1/2) as an additional column; zero for a point of norm zero.
  Status directions(View<const T> X, const std::vector<double>& scale, const Geometry<T>& points, Points<T>& to) {
    const std::size_t d = points.columns.size();
    std::vector<T> all(static_cast<std::size_t>(X.rows) * (d + 1));
    std::vector<double> x(d + 1);
    for (Index r = 0; r < X.rows; ++r) {
      double largest = x[d] = std::sqrt(offset_);
      for (std::size_t k = 0; k < d; ++k) {
        x[k] = static_cast<double>(X(r, points.columns[k])) / scale[scale.size() == 1 ? 0 : k];
        largest = std::max(largest, std::abs(x[k]));
      }
      double sum = 0.0;
      for (const double value : x) sum += largest > 0.0 ? value / largest * (value / largest) : 0.0;
      const double norm = largest * std::sqrt(sum);
      for (std::size_t k = 0; k <= d; ++k)
        all[static_cast<std::size_t>(r) * (d + 1) + k] = norm > 0.0 ? static_cast<T>(x[k] / norm) : T(0);
    }
    std::vector<Index> columns;
    for (std::size_t k = 0; k <= d; ++k) columns.push_back(static_cast<Index>(k));
    directions_ = static_cast<Index>(d) + 1;
    return to.assign(rows(static_cast<const T*>(all.data()), X.rows, directions_), points.block, columns,
                     std::vector<T>(d + 1, T(1)));
  }

  const T* directions_of(const Place& at, bool second) const {
    if (second) return (same_ ? X_ : Z_).block_data(at.j);
    return (at.part == Part::diagonal_of_z && !same_ ? Z_ : X_).block_data(at.i);
  }

  // Calls f(row, column, index in the tile, value and derivatives) for all elements.
  template <class F>
  Status visit(const Place& at, const F& f) const {
    T* p = scratch<T>(Scratch::step, 2 * at.count() + at.height + at.width);
    if (!p) return no_memory();
    T *s = p + at.count(), *u = s + at.count(), *v = u + at.height;
    const bool arc = kernel_ != NormsKernel::radial_pair, tile = at.tile();
    metrics_.forward(at, p);
    metrics_.forward(of_x(at), u);
    if (tile) metrics_.forward(of_z(at), v);
    const T* x = arc ? directions_of(at, false) : nullptr;
    const T* z = arc ? (tile ? directions_of(at, true) : x) : nullptr;
    if (arc && tile) {
      const PointTile<T> directions{at.height, at.width, directions_, x, z, nullptr};
      tile_kernels<T>().metric(Metric::squared_distance, directions, T(1), s);
    } else {
      tile_kernels<T>().fill(at.count(), T(0), s);
    }
    for (Index c = 0; c < at.width; ++c)
      for (Index r = 0; r < at.height; ++r) {
        const Index i = r + c * at.height;
        const double un = offset_ + double(u[r]), vn = tile ? offset_ + double(v[c]) : un;
        if (!arc) {
          f(r, c, i, Derivatives{double(p[i]) + un * vn, 1.0, vn, un});
          continue;
        }
        double plus = 0.0, of_x = 0.0, of_z = 0.0;
        for (Index k = 0; (s[i] > T(2) || un == 0.0 || vn == 0.0) && k < directions_; ++k) {
          const double a = double(x[r + k * at.height]), b = double(z[(tile ? c : r) + k * (tile ? at.width : at.height)]);
          plus += (a + b) * (a + b);
          of_x += a * a;
          of_z += b * b;
        }
        // The origin has no direction, and the kernel is 0 there. A norm may also be zero because its square underflows; such a
        // point has a direction.
        if ((un == 0.0 && of_x == 0.0) || (vn == 0.0 && of_z == 0.0)) {
          f(r, c, i, Derivatives{0.0, 0.0, 0.0, 0.0});
          continue;
        }
        f(r, c, i, arc_cosine(static_cast<int>(kernel_) - 1, double(s[i]), plus, un, vn));
      }
    return {};
  }

  Status pull(const Place& at, const T* W, Pulled& pulled) const {
    const Index norms = round_up(at.height + std::max(at.width, at.height), 16);
    T* room = scratch<T>(Scratch::metric, 2 * at.count() + norms);
    if (!room) return no_memory();
    pulled = {room, room + at.count(), room + 2 * at.count(), room + 2 * at.count() + at.height};
    std::fill_n(pulled.u, norms, T(0));
    const bool tile = at.tile();
    return visit(at, [&](Index r, Index c, Index i, const Derivatives& d) {
      pulled.G[i] = static_cast<T>(double(W[i]) * d.p);
      pulled.u[r] += static_cast<T>(double(W[i]) * d.u);
      pulled.v[tile ? c : r] += static_cast<T>(double(W[i]) * d.v);
      if (!tile) pulled.u[r] += pulled.v[r];
    });
  }

  NormsKernel kernel_;
  double offset_;
  std::size_t scales_;
  bool same_;
  Index directions_ = 0;
  Metrics<T> metrics_;
  Points<T> X_, Z_;
};

class NormsNode final : public NodeBase<NormsNode> {
 public:
  NormsNode(NormsKernel kernel, double offset, std::vector<double> scale, const char* problem)
      : kernel_(kernel), offset_(offset), scale_(std::move(scale)), problem_(problem) {}
  Status check(Index columns) const override {
    if (problem_) return Status::invalid(problem_);
    return check_scales(scale_, columns);
  }
  std::vector<double> theta() const override {
    std::vector<double> all = logarithms(scale_);
    if (offset_ > 0.0) all.insert(all.begin(), std::log(offset_));
    return all;
  }
  std::vector<Rule> rules() const override {
    std::vector<Rule> all(scale_.size(), Rule::size);
    if (offset_ > 0.0) all.insert(all.begin(), Rule::ratio);
    return all;
  }
  bool set_theta(const double* values) override {
    if (offset_ > 0.0) offset_ = std::exp(*values++);
    exponentials(values, scale_);
    return true;
  }
  std::string key() const override {
    std::vector<double> numbers = scale_;
    numbers.push_back(offset_);
    numbers.push_back(static_cast<double>(kernel_));
    return key_of("norms", numbers);
  }
  Expression expression() const override {
    if (kernel_ == NormsKernel::radial_pair) return {"radial_pair", {}, scale_};
    const double order = kernel_ == NormsKernel::arc_cosine0 ? 0.0 : kernel_ == NormsKernel::arc_cosine1 ? 1.0 : 2.0;
    return {"arc_cosine", {order, offset_}, scale_};
  }
  bool may_overflow() const override { return true; }
  template <class T>
  std::unique_ptr<Step<T>> make(const Geometry<T>& points, Status& status) const {
    return std::make_unique<NormsStep<T>>(kernel_, offset_, scale_, points, status);
  }

 private:
  NormsKernel kernel_;
  double offset_;
  std::vector<double> scale_;
  const char* problem_;
};

}  // namespace

Kernel radial_pair(std::vector<double> length_scale) {
  return Kernel(std::make_shared<NormsNode>(NormsKernel::radial_pair, 0.0, std::move(length_scale), nullptr));
}

Kernel arc_cosine(int order, double offset, std::vector<double> length_scale) {
  const bool known = order >= 0 && order <= 2;
  const char* problem = !known                                       ? "arc_cosine: the order must be 0, 1 or 2"
                        : !(offset >= 0.0) || !std::isfinite(offset) ? "arc_cosine: the offset must be finite and not negative"
                                                                     : nullptr;
  const NormsKernel kernels[] = {NormsKernel::arc_cosine0, NormsKernel::arc_cosine1, NormsKernel::arc_cosine2};
  return Kernel(std::make_shared<NormsNode>(kernels[known ? order : 0], offset, std::move(length_scale), problem));
}

}  // namespace kernsel
