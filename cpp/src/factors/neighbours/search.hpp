// The search of a tree for the nearest points of many queries.
#pragma once

#include <cstdint>
#include <vector>

#include "factors/neighbours/tree.hpp"
#include "kernsel/status.hpp"

namespace kernsel {

// A query and where its result goes. Its coordinates are those of the point at `place`, or a row of Search::Z; then `place` is
// one of those of the bucket that the query is the nearest to.
struct Query {
  std::int32_t place;
  std::int32_t row;
};

// Which points are allowed as neighbours of a query.
enum class Allowed { all, other_labels, other_labels_or_smaller_ids, smaller_labels };

struct Search {
  const PointTree& tree;
  Index m;               // the number of neighbours
  Allowed allowed;       // compares the label of a point with that of the query
  const Index* labels;   // by place; nullptr if all are allowed
  View<const double> Z;  // the coordinates of the queries, if they are no points of the tree
  std::int32_t* out;     // (rows of the output, m)
  Index most_buckets;    // how many buckets a group of queries may visit, or 0 for as many as it takes
};

// Answers all queries, which are put into the order of their places.
Status run(const Search& search, std::vector<Query>& queries);

}  // namespace kernsel
