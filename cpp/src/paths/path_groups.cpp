// Leaving groups out along the path: the residuals of a group are P_II^-1 c_I, P_II being its block of the precision
// V D V' + (I - VV' - UU') / lambda. No fold is refitted.
#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
#include "paths/content.hpp"

namespace kernsel {

namespace {

constexpr Index block = 128;  // columns that are factorized at a time; a multiple of the padding
constexpr double pi = 3.14159265358979323846;

// Overwrites the lower triangle of A, (size, size), where `size` includes the padding, by its Cholesky factor: one block of
// columns after the other, each of which updates the columns to its right.
Status factorize_lower(Padded& A, Index size) {
  const TileKernels<double>& kernels = tile_kernels<double>();
  for (Index first = 0; first < size; first += block) {
    const Index width = std::min(block, size - first), below = first + width;
    double* const diagonal = A.column(first) + first;
    double pivot = 0.0;
    const Index failed = kernels.factorize(width, diagonal, A.stride(), &pivot);
    if (failed >= 0) {
      Status status;
      status.code = Code::not_positive_definite;
      status.pivot = first + failed;
      status.value = pivot;
      return status;
    }
    if (below >= size) break;
    kernels.solve_transposed(size - below, width, diagonal, A.stride(), A.column(first) + below, A.stride());
    for (Index col = below; col < size; col += block)
      kernels.multiply_nt(size - col, std::min(block, size - col), width, -1.0, A.column(first) + col, A.stride(),
                          A.column(first) + col, A.stride(), A.column(col) + col, A.stride());
  }
  return {};
}

// b <- L^-1 b and b <- L^-T b.
void solve_lower(const Padded& L, Index size, double* b) {
  for (Index j = 0; j < size; ++j) {
    b[j] /= L(j, j);
    for (Index i = j + 1; i < size; ++i) b[i] -= L(i, j) * b[j];
  }
}
void solve_lower_transposed(const Padded& L, Index size, double* b) {
  for (Index j = size; j-- > 0;) {
    for (Index i = j + 1; i < size; ++i) b[j] -= L(i, j) * b[i];
    b[j] /= L(j, j);
  }
}

// One group: its rows of V and of U.
struct Part {
  std::vector<Index> rows;
  Padded V, U;
  Index size() const { return static_cast<Index>(rows.size()); }
};

Status rows_of(const Spectrum& s, Part& part) {
  Status status = part.V.resize(part.size(), s.r());
  if (status.ok()) status = part.U.resize(part.size(), s.q);
  if (!status.ok()) return status;
  for (Index j = 0; j < s.r(); ++j)
    for (Index i = 0; i < part.size(); ++i) part.V(i, j) = s.V(part.rows[static_cast<std::size_t>(i)], j);
  for (Index j = 0; j < s.q; ++j)
    for (Index i = 0; i < part.size(); ++i) part.U(i, j) = s.U(part.rows[static_cast<std::size_t>(i)], j);
  return status;
}

// P_II for one lambda, with ones on the padding of the diagonal.
Status precision_of(const Spectrum& s, const Part& part, double lambda, const double* D, Padded& P) {
  Padded scaled;
  const Index size = part.size(), padded = part.V.stride();
  Status status = scaled.resize(size, s.r());
  if (status.ok()) status = P.resize(padded, padded);
  if (!status.ok()) return status;
  const double beyond = s.features ? 1.0 / lambda : 0.0;
  for (Index j = 0; j < s.r(); ++j)
    for (Index i = 0; i < size; ++i) scaled(i, j) = part.V(i, j) * (D[j] - beyond);
  const TileKernels<double>& kernels = tile_kernels<double>();
  for (Index col = 0; col < padded; col += block) {
    const Index width = std::min(block, padded - col);
    double* const out = P.column(col) + col;
    kernels.multiply_nt(padded - col, width, s.r(), 1.0, scaled.data() + col, padded, part.V.data() + col, padded, out, padded);
    if (s.features)
      kernels.multiply_nt(padded - col, width, s.q, -beyond, part.U.data() + col, padded, part.U.data() + col, padded, out,
                          padded);
  }
  for (Index i = 0; i < padded; ++i) P(i, i) = i < size ? P(i, i) + beyond : 1.0;
  return status;
}

}  // namespace

Status RegularizationPath::leave_groups_out(const std::vector<Index>& group, Index count, bool log_density,
                                            const std::vector<double>& alphas, std::vector<double>& out) const {
  return within_memory([&]() -> Status {
    Status status = check_alphas(alphas);
    if (!status.ok()) return status;
    if (content_ && content_->spectrum->landmarks)
      return Status::invalid("groups: a path by landmarks leaves points out alone only");
    if (!content_ || static_cast<Index>(group.size()) != points())
      return Status::invalid("groups: expected a number for each point");
    if (count < 2) return Status::invalid("groups: expected two at least: one of them must be left to learn from");
    std::vector<Part> parts(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (group[i] < 0 || group[i] >= count) return Status::invalid("groups: expected numbers from 0 to count - 1");
      parts[static_cast<std::size_t>(group[i])].rows.push_back(static_cast<Index>(i));
    }
    for (const Part& part : parts)
      if (part.rows.size() == group.size())
        return Status::invalid("groups: expected points in two at least: one of them must be left to learn from");
    const Content& content = *content_;
    const Spectrum& s = *content.spectrum;
    const std::vector<double> lambda = content.in_units(alphas);
    const Index m = content.m(), l_count = static_cast<Index>(lambda.size());
    Padded D;
    std::vector<PanelMatrix> c(static_cast<std::size_t>(m));
    status = content.inverses(lambda, D);
    for (Index k = 0; k < m && status.ok(); ++k) status = content.coefficients(k, lambda, D, c[static_cast<std::size_t>(k)]);
    if (!status.ok()) return status;
    const double square = content.y_unit * content.y_unit / s.k_unit;
    const double of_weights = 0.5 * s.log_weights - 0.5 * static_cast<double>(s.n) * std::log(2.0 * pi * s.k_unit);
    std::vector<double> squared(lambda.size(), 0.0), density(lambda.size(), static_cast<double>(m) * of_weights);
    for (Part& part : parts) {
      if (part.rows.empty()) continue;
      status = rows_of(s, part);
      if (!status.ok()) return status;
      const auto size = static_cast<double>(part.size());
      const double cost = 0.1 * size * size * (size / 3.0 + static_cast<double>(s.r())) * static_cast<double>(l_count);
      status = run_jobs(l_count, cost, [&](Jobs& jobs, Index l) {
        const auto at = static_cast<std::size_t>(l);
        Padded P;
        Status done = precision_of(s, part, lambda[at], D.column(l), P);
        if (done.ok()) done = factorize_lower(P, P.rows());
        if (!done.ok()) return jobs.stop(done);
        double log_det = 0.0;
        for (Index i = 0; i < part.size(); ++i) log_det += 2.0 * std::log(P(i, i));
        std::vector<double> left_out(part.rows.size());
        double quadratic = 0.0, sum = 0.0;
        for (const PanelMatrix& of_target : c) {
          for (std::size_t i = 0; i < part.rows.size(); ++i) left_out[i] = of_target(part.rows[i], l);
          solve_lower(P, part.size(), left_out.data());
          for (const double value : left_out) quadratic += value * value;
          solve_lower_transposed(P, part.size(), left_out.data());
          for (const double value : left_out) sum += value * value;
        }
        squared[at] += sum;
        density[at] += 0.5 * (static_cast<double>(m) * log_det - square * quadratic);
      });
      if (!status.ok()) return status;
      part = {};
    }
    if (!log_density)
      for (double& value : squared) value = content.y_unit * content.y_unit * value / (static_cast<double>(m) * s.weights);
    out = log_density ? density : squared;
    return status;
  });
}

}  // namespace kernsel
