#include "strings/strings.hpp"

namespace kernsel {

namespace {

bool ascending(const Strings& X) {
  if (X.count < 0 || (X.count > 0 && !X.offsets)) return false;
  for (Index i = 0; i < X.count; ++i)
    if (X.offsets[i] < 0 || X.offsets[i + 1] < X.offsets[i]) return false;
  return true;
}

}  // namespace

Status check_strings(const Comparison& on) {
  return ascending(on.X) && ascending(on.Z) ? Status{} : Status::invalid("strings: the offsets must be ascending, from 0 on");
}

Status check_shape(const Comparison& on, const View<double>& out) {
  if (out.rows == on.X.count && out.cols == on.cols()) return {};
  return Status::invalid("strings: the matrix must have a row for each string of X, and a column for each of Z");
}

void mirror(const View<double>& out) {
  for (Index i = 0; i < out.rows; ++i)
    for (Index j = 0; j < i; ++j) out(j, i) = out(i, j);
}

double tokens(const Strings& X) { return X.count > 0 ? static_cast<double>(X.offsets[X.count] - X.offsets[0]) : 0.0; }

}  // namespace kernsel
