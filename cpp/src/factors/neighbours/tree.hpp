// A balanced k-d tree of points, whose leaves are buckets.
//
// All buckets hold `bucket_size` points, except the last one. A subtree is an interval of buckets; it is split in the middle
// into two intervals, and the nodes are numbered in preorder, so that the tree needs no pointers. Each node has the smallest
// box that contains its points.
#pragma once

#include <cstdint>
#include <vector>

#include "base/memory.hpp"
#include "kernsel/status.hpp"

namespace kernsel {

class PointTree {
 public:
  static constexpr Index bucket_size = 32;

  // A node and the buckets of its subtree, from `first` up to but not including `last`.
  struct Node {
    std::int32_t number;
    std::int32_t first, last;
    bool is_leaf() const { return last - first == 1; }
  };

  // Builds the tree of the rows of X. Their ids are names[row], which ascend, or the row numbers if `names` is nullptr.
  Status build(View<const double> X, const std::int32_t* names = nullptr);

  Index points() const { return points_; }
  Index columns() const { return columns_; }
  Index buckets() const { return buckets_; }
  Index nodes() const { return 2 * buckets_ - 1; }

  Node root() const { return {0, 0, static_cast<std::int32_t>(buckets_)}; }
  Node left(const Node& node) const { return {node.number + 1, node.first, middle(node)}; }
  Node right(const Node& node) const { return {node.number + 2 * (middle(node) - node.first), middle(node), node.last}; }

  // Places number the points in the order of the buckets: bucket b has the places from b * bucket_size on.
  const std::int32_t* ids() const { return ids_.data(); }  // by place
  Index size(Index bucket) const {
    const Index left = points_ - bucket * bucket_size;
    return left < bucket_size ? left : bucket_size;
  }
  // The coordinates of a bucket: (bucket_size, columns()) by columns, with zeros after the last point.
  const double* bucket(Index b) const { return static_cast<const double*>(memory_.data()) + b * bucket_size * columns_; }
  double coordinate(Index place, Index column) const {
    return bucket(place / bucket_size)[place % bucket_size + column * bucket_size];
  }

  // The box of a node: the lower ends in all columns, followed by the upper ends.
  const double* box(Index node) const { return boxes_.data() + node * 2 * columns_; }
  // The smallest id in a subtree.
  std::int32_t least_id(Index node) const { return least_ids_[static_cast<std::size_t>(node)]; }

 private:
  struct Subtree;
  static std::int32_t middle(const Node& node) { return node.first + (node.last - node.first) / 2; }
  Index first_place(const Node& node) const { return node.first * bucket_size; }
  Index last_place(const Node& node) const {
    const Index last = node.last * bucket_size;
    return last < points_ ? last : points_;
  }
  void split(const Node& node, View<const double> X);
  void finish(const Node& node, View<const double> X, const std::int32_t* names);
  void fill_subtree(const Node& node, Subtree& subtree);
  void enclose_bucket(const Node& node);
  void enclose_children(const Node& node);

  Index points_ = 0, columns_ = 0, buckets_ = 1;
  Memory memory_;
  std::vector<std::int32_t> ids_, least_ids_;
  std::vector<double> boxes_;
};

}  // namespace kernsel
