#include "kernels/program.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <numeric>

#include "kernsel/runtime.hpp"

namespace kernsel {

template <class T>
Status Points<T>::assign(View<const T> X, Index block, const std::vector<Index>& columns, const std::vector<T>& factor) {
  block_ = block;
  columns_ = static_cast<Index>(columns.size());
  constexpr Index padding = 64 / static_cast<Index>(sizeof(T));
  const Index blocks = (X.rows + block - 1) / block;
  bool finite = true;
  const Status status = memory_.reserve(static_cast<std::size_t>(std::max<Index>(blocks * block * columns_, 1)) * sizeof(T));
  if (!status.ok()) return status;
  for (Index b = 0; b < blocks; ++b) {
    const Index first = b * block, real = std::min(block, X.rows - first), padded = round_up(real, padding);
    T* to = static_cast<T*>(memory_.data()) + first * columns_;
    for (Index k = 0; k < columns_; ++k, to += padded) {
      const T f = factor[static_cast<std::size_t>(k)];
      const T* from = &X.data[first * X.row_stride + columns[static_cast<std::size_t>(k)] * X.col_stride];
      for (Index r = 0; r < real; ++r) {
        to[r] = from[r * X.row_stride] * f;
        finite = finite && std::isfinite(to[r]);
      }
      std::fill(to + real, to + padded, T(0));
    }
  }
  if (!finite) return Status::invalid("the points, divided by the kernel's length scales, are out of the range of their type");
  return status;
}

std::string KernelNode::key() const { return "one of a kind " + std::to_string(reinterpret_cast<std::uintptr_t>(this)); }
std::unique_ptr<PointMap<float>> KernelNode::map(const Geometry<float>&, Status&) const { return nullptr; }
std::unique_ptr<PointMap<double>> KernelNode::map(const Geometry<double>&, Status&) const { return nullptr; }

template <class T>
Program<T>::Program(const Kernel& kernel, View<const T> X, View<const T> Z, bool same, Index block, bool differentiable)
    : rows_(X.rows), cols_(Z.rows), columns_(X.cols), block_(block), tile_size_(block * block), same_(same) {
  status_ = runtime_status();
  if (status_.ok() && X.cols != Z.cols) status_ = Status::invalid("X and Z differ in their number of columns");
  if (status_.ok()) status_ = kernel.check(X.cols);
  if (!status_.ok()) return;
  Geometry<T> points{X, Z, same, block, std::vector<Index>(static_cast<std::size_t>(X.cols)), differentiable};
  std::iota(points.columns.begin(), points.columns.end(), Index{0});
  frames_.push_back({});
  frames_[0].columns = X.cols;
  frames_[0].pulled = differentiable;
  compile(kernel.node().get(), points);
  for (const Frame& frame : frames_) pulls_points_ = pulls_points_ || frame.pulled;
  has_rows_ = has_rows_ && !pulls_points_;
  if (status_.ok()) assign_slots();
  const Place largest = tile(0, 0);
  tile_size_ = largest.height * largest.width;
}

// Compiles children before parents, and from left to right. There is no recursion, since an expression may be deeper than the
// stack.
template <class T>
void Program<T>::compile(const KernelNode* root, const Geometry<T>& points) {
  std::deque<Geometry<T>> inside;  // the points of subexpressions that do not see the points of the root
  std::vector<Opened> path;        // the open entries, from the root to the current one
  const auto open = [&](const KernelNode* node, const Geometry<T>* seen, Part part) {
    while (node->selected_columns() || node->maps_points()) {
      inside.push_back(enter(node, *seen));
      seen = &inside.back();
      node = node->children[0].get();
    }
    const auto [known, is_new] = known_.try_emplace(std::make_tuple(node, seen->frame, seen->columns, part), 0);
    if (is_new) {
      path.push_back({node, seen, part, &known->second, Entry{0, {}, first_parameter(node), seen->frame}});
    } else {
      path.back().entry.children.push_back(known->second);
    }
  };
  open(root, &points, Part::tile);
  while (!path.empty()) {
    const KernelNode& node = *path.back().node;
    const std::size_t next = path.back().entry.children.size(), count = node.children.size();
    const bool diagonals = node.sees_diagonals() && path.back().part == Part::tile;
    if (next < count) {
      open(node.children[next].get(), path.back().points, path.back().part);
    } else if (diagonals && next < count + 2) {
      open(node.children[0].get(), path.back().points, next == count ? Part::diagonal_of_x : Part::diagonal_of_z);
    } else {
      const std::size_t done = close(path.back());
      path.pop_back();
      if (!path.empty()) path.back().entry.children.push_back(done);
    }
  }
}

// Makes the entry of a node whose children are compiled. Returns its number.
template <class T>
std::size_t Program<T>::close(Opened& place) {
  const KernelNode& node = *place.node;
  Entry& entry = place.entry;
  entry.value = value_of(node, *place.points, place.part, entry.children);
  const Step<T>* step = values_[entry.value].step.get();
  has_rows_ = has_rows_ && place.part == Part::tile && step && (step->has_rows() || node.theta().empty());
  may_overflow_ = may_overflow_ || node.may_overflow();
  *place.known = entries_.size();
  entries_.push_back(std::move(entry));
  return entries_.size() - 1;
}

template <class T>
Geometry<T> Program<T>::enter(const KernelNode* node, const Geometry<T>& points) {
  Geometry<T> inside = points;
  if (const std::vector<Index>* selected = node->selected_columns()) {
    inside.columns.clear();
    for (const Index k : *selected) inside.columns.push_back(points.columns[static_cast<std::size_t>(k)]);
    return inside;
  }
  const auto key = std::make_tuple(node, points.frame, points.columns);
  const auto found = known_frames_.find(key);
  inside.frame = found == known_frames_.end() ? frames_.size() : found->second;
  if (found == known_frames_.end()) {
    known_frames_.emplace(key, inside.frame);
    Frame frame;
    Status status;
    if (status_.ok()) frame.map = node->map(points, status);
    if (status_.ok()) status_ = status;
    frame.parent = points.frame;
    std::string same = std::to_string(frames_[points.frame].same_points) + ":";
    for (const Index k : points.columns) same += std::to_string(k) + ",";
    frame.same_points = known_points_.emplace(same + node->key(), inside.frame).first->second;
    frame.columns = node->columns_inside(points.dimension());
    frame.first_parameter = first_parameter(node);
    frame.pulled = !node->theta().empty() || frames_[points.frame].pulled;
    frames_.push_back(std::move(frame));
  }
  const Frame& frame = frames_[inside.frame];
  inside.columns.resize(static_cast<std::size_t>(frame.columns));
  std::iota(inside.columns.begin(), inside.columns.end(), Index{0});
  inside.differentiable = frame.pulled;
  if (!status_.ok()) return inside;  // after a failure, nothing will be computed
  inside.X = frame.map->X();
  inside.Z = frame.map->Z();
  return inside;
}

template <class T>
Index Program<T>::first_parameter(const KernelNode* node) {
  const auto [first, is_new] = first_parameter_.emplace(node, parameters_);
  if (is_new) parameters_ += static_cast<Index>(node->theta().size());
  return first->second;
}

template <class T>
std::size_t Program<T>::value_of(const KernelNode& node, const Geometry<T>& points, Part part,
                                 const std::vector<std::size_t>& children) {
  Value value;
  value.part = part;
  std::string key = std::to_string(static_cast<int>(part)) + ":" + std::to_string(frames_[points.frame].same_points) + ":";
  for (const Index k : points.columns) key += std::to_string(k) + ",";
  for (const std::size_t child : children) {
    value.children.push_back(entries_[child].value);
    key += std::to_string(entries_[child].value) + ";";
  }
  const auto [known, is_new] = known_values_.emplace(key + node.key(), values_.size());
  if (!is_new) return known->second;
  Status status;
  Geometry<T> here = points;
  here.part = part;
  if (status_.ok()) value.step = node.bind(here, status);
  if (status_.ok()) status_ = status;
  if (part == Part::tile) cost_ += children.empty() ? 1.0 + 0.1 * static_cast<double>(points.dimension()) : 0.2;
  values_.push_back(std::move(value));
  return values_.size() - 1;
}

template <class T>
void Program<T>::assign_slots() {
  std::vector<std::size_t> uses(values_.size(), 0);
  for (const Value& value : values_)
    for (const std::size_t child : value.children) ++uses[child];
  std::vector<std::size_t> free_slots;
  for (Value& value : values_) {
    for (const std::size_t child : value.children)
      if (--uses[child] == 0) free_slots.push_back(values_[child].slot);
    if (free_slots.empty()) {
      value.slot = slots_++;
    } else {
      value.slot = free_slots.back();
      free_slots.pop_back();
    }
  }
}

template <class T>
void Program<T>::look_for_overflow(const T* values, Index count) const {
  for (Index i = 0; i < count; ++i)
    if (!std::isfinite(values[i])) return overflowed_.store(true, std::memory_order_relaxed);
}

template <class T>
Status Program<T>::finish(const Status& status) const {
  if (!status.ok() && status.code != Code::not_positive_definite) return status;
  if (!overflowed_.load(std::memory_order_relaxed)) return status;
  return Status::invalid(
      "the kernel overflows: an exponential or a power of it is too large for these points; scale them, or the kernel, down");
}

template <class T>
Place Program<T>::tile(Index i, Index j) const {
  constexpr Index padding = 64 / static_cast<Index>(sizeof(T));
  Place at{};
  at.i = i;
  at.j = j;
  at.row = i * block_;
  at.col = j * block_;
  at.height = round_up(std::min(block_, rows_ - at.row), padding);
  at.width = round_up(std::min(block_, cols_ - at.col), padding);
  at.same = same_;
  return at;
}

template <class T>
Place Program<T>::part_of(const Place& at, Part part) const {
  if (part == Part::tile || !at.tile()) return at;
  Place diagonal = at;
  diagonal.part = part;
  if (part == Part::diagonal_of_z) {
    diagonal.i = at.j;
    diagonal.row = at.col;
    diagonal.height = at.width;
  }
  diagonal.width = 1;
  return diagonal;
}

namespace {

constexpr std::size_t most_children = 8;

template <class T>
using Children = std::array<const T*, most_children>;

}  // namespace

template <class T>
Status Program<T>::keep_values() {
  if (row_blocks() != 1 || col_blocks() != 1) return {};
  return kept_.reserve(values_.size() * static_cast<std::size_t>(tile_size_) * sizeof(T));
}

template <class T>
Status Program<T>::forward(const Place& at, const T*& values, T* out) const {
  if (kept_.data() && at.tile()) {
    T* every = static_cast<T*>(kept_.data());
    const Status status = record(at, every);
    keeps_ = status.ok();
    values = every + static_cast<Index>(values_.size() - 1) * tile_size_;
    if (out) values = std::copy_n(values, at.count(), out) - at.count();
    return status;
  }
  T* memory = scratch<T>(Scratch::values, static_cast<Index>(slots_) * tile_size_);
  if (!memory) return no_memory();
  const std::size_t root = values_.back().slot;
  const auto slot = [&](std::size_t s) { return s == root && out ? out : memory + static_cast<Index>(s) * tile_size_; };
  for (const Value& value : values_) {
    Children<T> children{};
    for (std::size_t c = 0; c < value.children.size(); ++c) children[c] = slot(values_[value.children[c]].slot);
    const Status status = value.step->forward(part_of(at, value.part), children.data(), slot(value.slot));
    if (!status.ok()) return status;
  }
  if (may_overflow_) look_for_overflow(slot(root), at.count());
  values = slot(root);
  return {};
}

// Computes all values of a place, and stores them one after the other.
template <class T>
Status Program<T>::record(const Place& at, T* values) const {
  const Index size = tile_size_, count = static_cast<Index>(values_.size());
  for (Index v = 0; v < count; ++v) {
    const Value& value = values_[static_cast<std::size_t>(v)];
    Children<T> children{};
    for (std::size_t c = 0; c < value.children.size(); ++c) children[c] = values + static_cast<Index>(value.children[c]) * size;
    const Status status = value.step->forward(part_of(at, value.part), children.data(), values + v * size);
    if (!status.ok()) return status;
  }
  if (may_overflow_) look_for_overflow(values + (count - 1) * size, at.count());
  return {};
}

// values <- all values of a place: those that forward() has kept, or else computed again in memory of the calling thread.
template <class T>
Status Program<T>::recorded(const Place& at, const T*& values) const {
  if (keeps_ && at.tile()) {
    values = static_cast<const T*>(kept_.data());
    return {};
  }
  T* every = scratch<T>(Scratch::tape, static_cast<Index>(values_.size()) * tile_size_);
  values = every;
  return every ? record(at, every) : no_memory();
}

template <class T>
Status Program<T>::forward_recording(const Place& at, const T*& values, const T*& tape) const {
  const Status status = recorded(at, tape);
  values = tape + static_cast<Index>(values_.size() - 1) * tile_size_;
  return status;
}

template <class T>
Status Program<T>::pull_rows(const Place& at, const T* W, double* rows, const T* tape) const {
  T* adjoints = scratch<T>(Scratch::adjoint, (static_cast<Index>(entries_.size()) + 1) * tile_size_);
  if (!adjoints) return no_memory();
  const T* values = tape;
  const Status status = tape ? Status{} : recorded(at, values);
  return status.ok() ? pull_steps(at, values, adjoints, W, {nullptr, rows}, std::vector<T*>(2 * frames_.size(), nullptr))
                     : status;
}

template <class T>
Status Program<T>::pullback(const Place& at, const T* W, double* gradient, T* gx, const T* tape) const {
  T* adjoints = scratch<T>(Scratch::adjoint, (static_cast<Index>(entries_.size()) + 1) * tile_size_);
  if (!adjoints) return no_memory();
  const T* values = tape;
  Status status = tape ? Status{} : recorded(at, values);
  if (!status.ok()) return status;

  // dJ/dx and dJ/dz for the points of each frame, one after the other.
  std::vector<T*> points(2 * frames_.size(), nullptr);
  Index numbers = 0;
  for (std::size_t f = 1; f < frames_.size(); ++f)
    if (frames_[f].pulled) numbers += frames_[f].columns * (at.height + at.width);
  T* room = numbers > 0 ? scratch<T>(Scratch::points, numbers) : nullptr;
  if (numbers > 0 && !room) return no_memory();
  std::fill_n(room, numbers, T(0));
  points[0] = gx;
  for (std::size_t f = 1; f < frames_.size(); ++f) {
    if (!frames_[f].pulled) continue;
    points[2 * f] = room;
    points[2 * f + 1] = room + frames_[f].columns * at.height;
    room += frames_[f].columns * (at.height + at.width);
  }
  status = pull_steps(at, values, adjoints, W, {gradient, nullptr}, points);
  // Frames have higher numbers than the frames that they are made from.
  for (std::size_t f = frames_.size() - 1; f > 0 && status.ok(); --f) {
    const Frame& frame = frames_[f];
    if (!frame.pulled) continue;
    status = frame.map->pull(at, points[2 * f], points[2 * f + 1], gradient + frame.first_parameter, points[2 * frame.parent],
                             points[2 * frame.parent + 1]);
  }
  return status;
}

template <class T>
Status Program<T>::pull_steps(const Place& at, const T* values, T* adjoints, const T* W, const Sums& sums,
                              const std::vector<T*>& points) const {
  const Index size = tile_size_;
  // The weights of an entry are the sum of contributions from all its parents. The first contribution is stored, the others are
  // added.
  std::vector<const T*> weights(entries_.size(), nullptr);
  weights.back() = W;
  T* spare = adjoints + static_cast<Index>(entries_.size()) * size;
  for (std::size_t e = entries_.size(); e-- > 0;) {
    const Entry& entry = entries_[e];
    const Value& value = values_[entry.value];
    const T* const own_value = values + static_cast<Index>(entry.value) * size;
    const T* const own = weights[e];
    const Place place = part_of(at, value.part);
    Children<T> children{};
    for (std::size_t c = 0; c < value.children.size(); ++c) children[c] = values + static_cast<Index>(value.children[c]) * size;
    Status status;
    if (!sums.rows)
      status = value.step->pull_parameters(place, children.data(), own_value, own, sums.gradient + entry.first_parameter);
    else if (value.step->has_rows())
      status = value.step->pull_rows(place, children.data(), own_value, own, sums.rows + entry.first_parameter * at.height);
    if (!status.ok()) return status;
    T* gx = points[2 * entry.frame];
    T* gz = points[2 * entry.frame + 1];
    if (value.part == Part::diagonal_of_z) gx = gz;
    if (value.part != Part::tile) gz = nullptr;
    if (gx || gz) status = value.step->pull_points(place, children.data(), own_value, own, gx, gz);
    if (!status.ok()) return status;
    for (std::size_t c = 0; c < entry.children.size(); ++c) {
      const std::size_t child = entry.children[c];
      const T*& so_far = weights[child];
      T* room = adjoints + static_cast<Index>(child) * size;
      const T* more = value.step->pull_child(place, c, children.data(), own_value, own, so_far ? spare : room);
      if (so_far) tile_kernels<T>().add(part_of(at, values_[entries_[child].value].part).count(), so_far, more, room);
      so_far = so_far ? room : more;
    }
  }
  return {};
}

template class Points<float>;
template class Points<double>;
template class Program<float>;
template class Program<double>;

}  // namespace kernsel
