#include "program.hpp"

#include <algorithm>
#include <array>
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

template <class T>
Program<T>::Program(const Kernel& kernel, View<const T> X, View<const T> Z, bool same, Index block)
    : rows_(X.rows), cols_(Z.rows), block_(block), same_(same) {
  status_ = runtime_status();
  if (status_.ok() && X.cols != Z.cols) status_ = Status::invalid("X and Z differ in their number of columns");
  if (status_.ok()) status_ = kernel.check(X.cols);
  if (!status_.ok()) return;
  std::vector<Index> columns(static_cast<std::size_t>(X.cols));
  std::iota(columns.begin(), columns.end(), Index{0});
  compile(kernel.node(), {X, Z, same, block, std::move(columns)});
  assign_slots();
}

template <class T>
std::size_t Program<T>::compile(const std::shared_ptr<const KernelNode>& node, const Geometry<T>& points) {
  if (const std::vector<Index>* selected = node->selected_columns()) {
    Geometry<T> inside = points;
    inside.columns.clear();
    for (const Index k : *selected) inside.columns.push_back(points.columns[static_cast<std::size_t>(k)]);
    return compile(node->children[0], inside);
  }
  const auto key = std::make_pair(node.get(), points.columns);
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  Entry entry;
  const auto [first, is_new] = first_parameter_.emplace(node.get(), parameters_);
  entry.first_parameter = first->second;
  if (is_new) parameters_ += static_cast<Index>(node->theta().size());
  for (const auto& child : node->children) entry.children.push_back(compile(child, points));
  Status status;
  entry.step = node->bind(points, status);
  if (status_.ok()) status_ = status;
  cost_ += node->children.empty() ? 1.0 + 0.1 * static_cast<double>(points.dimension()) : 0.2;
  may_overflow_ = may_overflow_ || node->may_overflow();
  entries_.push_back(std::move(entry));
  known_.emplace(key, entries_.size() - 1);
  return entries_.size() - 1;
}

template <class T>
void Program<T>::assign_slots() {
  std::vector<std::size_t> uses(entries_.size(), 0);
  for (const Entry& entry : entries_)
    for (const std::size_t child : entry.children) ++uses[child];
  std::vector<std::size_t> free_slots;
  for (Entry& entry : entries_) {
    for (const std::size_t child : entry.children)
      if (--uses[child] == 0) free_slots.push_back(entries_[child].slot);
    if (free_slots.empty()) {
      entry.slot = slots_++;
    } else {
      entry.slot = free_slots.back();
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
  if (!overflowed_.load(std::memory_order_relaxed) || status.code == Code::interrupted) return status;
  return Status::invalid(
      "the kernel overflows: an exponential or a power of it is too large for these points; scale them, or the kernel, down");
}

template <class T>
TilePlace Program<T>::place(Index i, Index j) const {
  constexpr Index padding = 64 / static_cast<Index>(sizeof(T));
  TilePlace at{};
  at.i = i;
  at.j = j;
  at.row = i * block_;
  at.col = j * block_;
  at.height = round_up(std::min(block_, rows_ - at.row), padding);
  at.width = round_up(std::min(block_, cols_ - at.col), padding);
  at.same = same_;
  return at;
}

namespace {

constexpr std::size_t most_children = 8;

}  // namespace

template <class T>
const T* Program<T>::forward(const TilePlace& at, T* out) const {
  T* memory = scratch<T>(Scratch::values, static_cast<Index>(slots_) * block_ * block_);
  if (!memory) return nullptr;
  const std::size_t root = entries_.back().slot;
  const auto slot = [&](std::size_t s) { return s == root && out ? out : memory + static_cast<Index>(s) * block_ * block_; };
  for (const Entry& entry : entries_) {
    std::array<const T*, most_children> children{};
    for (std::size_t c = 0; c < entry.children.size(); ++c) children[c] = slot(entries_[entry.children[c]].slot);
    entry.step->forward(at, children.data(), slot(entry.slot));
  }
  if (may_overflow_) look_for_overflow(slot(root), at.count());
  return slot(root);
}

template <class T>
const T* Program<T>::diagonal(Index i) const {
  T* memory = scratch<T>(Scratch::values, static_cast<Index>(entries_.size()) * block_);
  if (!memory) return nullptr;
  const auto slot = [&](std::size_t e) { return memory + static_cast<Index>(e) * block_; };
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    std::array<const T*, most_children> children{};
    for (std::size_t c = 0; c < entries_[e].children.size(); ++c) children[c] = slot(entries_[e].children[c]);
    entries_[e].step->diagonal(i, place(i, 0).height, children.data(), slot(e));
  }
  if (may_overflow_) look_for_overflow(slot(entries_.size() - 1), place(i, 0).height);
  return slot(entries_.size() - 1);
}

template <class T>
bool Program<T>::pullback(const TilePlace& at, const T* W, double* gradient) const {
  const Index tile = block_ * block_;
  const auto count = static_cast<Index>(entries_.size());
  T* values = scratch<T>(Scratch::tape, count * tile);
  T* adjoints = scratch<T>(Scratch::adjoint, (count + 1) * tile);
  if (!values || !adjoints) return false;
  std::array<const T*, most_children> children{};
  const auto find_children = [&](const Entry& entry) {
    for (std::size_t c = 0; c < entry.children.size(); ++c) children[c] = values + static_cast<Index>(entry.children[c]) * tile;
  };
  for (Index e = 0; e < count; ++e) {
    const Entry& entry = entries_[static_cast<std::size_t>(e)];
    find_children(entry);
    entry.step->forward(at, children.data(), values + e * tile);
  }
  if (may_overflow_) look_for_overflow(values + (count - 1) * tile, at.count());
  // The weights of a value come from all its parents: the first one gives them, later ones add.
  std::vector<const T*> weights(entries_.size(), nullptr);
  weights.back() = W;
  T* spare = adjoints + count * tile;
  for (Index e = count - 1; e >= 0; --e) {
    const Entry& entry = entries_[static_cast<std::size_t>(e)];
    const T* own = weights[static_cast<std::size_t>(e)];
    find_children(entry);
    if (!entry.step->pull_parameters(at, children.data(), values + e * tile, own, gradient + entry.first_parameter))
      return false;
    for (std::size_t c = 0; c < entry.children.size(); ++c) {
      const T*& so_far = weights[entry.children[c]];
      T* room = adjoints + static_cast<Index>(entry.children[c]) * tile;
      const T* more = entry.step->pull_child(at, c, children.data(), values + e * tile, own, so_far ? spare : room);
      if (so_far) tile_kernels<T>().add(at.count(), so_far, more, room);
      so_far = so_far ? room : more;
    }
  }
  return true;
}

template class Points<float>;
template class Points<double>;
template class Program<float>;
template class Program<double>;

}  // namespace kernsel
