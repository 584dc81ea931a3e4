// Rows that come in blocks, as often as asked: from a file, a database or another program, of any number.
//
//     RowSource source = [&](const TakeRows& take) {
//       for (const Part& part : parts) {
//         const Status status = take({part.X(), part.y(), part.noise()});
//         if (!status.ok()) return status;
//       }
//       return Status{};
//     };
//     Evaluation out;
//     Status status = evaluate(k, source, landmarks, criteria::leave_out(criteria::squared()), Order::gradient, out);
//
// A block is read while it is taken, and not after. Each pass must have the same rows in the same order; blocks of some
// thousand rows or more keep threads busy. A function that throws ends the computation with Code::exception.
#pragma once

#include <functional>

#include "kernsel/nystrom.hpp"

namespace kernsel {

using TakeRows = std::function<Status(const RowBlock& rows)>;
// Calls `take` for each block, and returns the first status that is not ok.
using RowSource = std::function<Status(const TakeRows& take)>;

// The blocks of rows in memory, of `rows_at_a_time` rows.
RowSource rows_of(const Problem& problem, Index rows_at_a_time = 65536);

// sums <- those of all rows, for blocks that have begun.
Status add_rows(const RowSource& source, const NystromBlocks& blocks, NystromSums& sums);

// Evaluates a criterion of points that are left out alone, or of none, as evaluate() does with Nystrom's factor for rows in
// memory (factor.hpp), for Order::value and Order::gradient. Z, (m, d), are the landmarks. Likelihoods take one pass and one
// more for a gradient, and keep three numbers for each row; other criteria two and two, and up to ten numbers for each row.
Status evaluate(const Kernel& k, const RowSource& source, View<const double> Z, const Criterion& criterion, Order order,
                Evaluation& out, bool bound = true);

}  // namespace kernsel
