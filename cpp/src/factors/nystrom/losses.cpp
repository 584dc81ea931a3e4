// Sums of losses of points that are left out one by one: the second pass over rows and the third at once.
//
// With g_i and G_c,i known as soon as P.ii is, t_i serves three times: for P.ii, for the sums, and for the part of the adjoint
// of a raw row that is its own, -2 g_i / N_i^2 T't_i. What is left for the last pass is 2 / N_i T'Psi t_i. Derivatives in P.ii
// have one sign if losses grow with |r|, so that Psi is definite, and T'Psi T = -G'G for a triangular matrix G (form.cpp): all
// in all 7 n m^2 flops instead of 9, and three evaluations of the kernel instead of four.
#include "base/call_out.hpp"
#include "factors/nystrom/content.hpp"
#include "isa/table.hpp"

namespace kernsel {

namespace {

using Numbers = std::vector<double>;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

Status NystromBlocks::show_losses(const RowBlock& block, const Request& request, double unit, View<double> c,
                                  View<double> precision, NystromPartialSums& sums) const {
  const Content& content = *content_;
  const Status checked = content.check(block, true);
  if (!checked.ok()) return checked;
  return within_memory([&] {
    const Index n = block.X.rows, w = content.width(), outputs = content.outputs();
    const Index size = std::min(Content::rows_at_a_time, n);
    Numbers noise, residuals(at(size)), slopes(at(size)), of_c(at(size * outputs)), of_precision(at(size));
    PointRows t, scaled, Psi, products;
    Status status = content.write_noise(block, noise);
    if (status.ok()) status = t.resize(size, w, true);
    if (status.ok()) status = scaled.resize(size, w, true);
    if (status.ok()) status = Psi.resize(w, w, true);
    if (status.ok()) status = products.resize(outputs, w, true);
    if (!status.ok()) return status;
    Numbers of_rows(at(content.kernel->parameters()), 0.0);
    // of_c <- G_c,i / N_i, and of_precision <- g_i / N_i^2, for rows of which c and P.ii are known
    const auto differentiate = [&](Index begin, Index count) {
      std::fill(of_precision.begin(), of_precision.end(), 0.0);
      for (Index k = 0; k < outputs; ++k) {
        for (Index i = 0; i < count; ++i) residuals[at(i)] = c(begin + i, k) / precision(begin + i, 0);
        const Status called = call_out([&] { request.slopes(count, residuals.data(), slopes.data()); });
        if (!called.ok()) return called;
        for (Index i = 0; i < count; ++i) {
          const double N = noise[at(begin + i)], P = precision(begin + i, 0);
          const double slope = (block.weights.rows > 0 ? block.weights(begin + i, 0) : 1.0) * (slopes[at(i)] / unit);
          of_c[at(i * outputs + k)] = slope / P / N;
          of_precision[at(i)] -= slope * c(begin + i, k) / (P * P) / (N * N);
        }
      }
      return Status{};
    };
    status = content.for_rows(block.X, block.trend, [&](Index begin, Index count, const PointRows& raw) {
      Status done = content.show(block, noise, begin, count, raw, c);
      if (done.ok()) done = content.show_precision(noise, begin, count, raw, t, precision);
      if (done.ok()) done = differentiate(begin, count);
      if (done.ok()) done = add_weighted(t, {0, count}, of_c.data(), outputs, products);
      if (!done.ok()) return done;
      done = for_each_row(count, static_cast<double>(content.m), [&](Index i) {
        tile_kernels<double>().scale(t.stride(), of_precision[at(i)], t.row(i), scaled.row(i));
      });
      if (done.ok()) done = add_products(t, {0, count}, scaled, 0, true, Psi);
      if (done.ok()) done = multiply_triangular(content.T_transposed, Triangle::upper, scaled, {0, count}, t, 0);
      return done.ok() ? content.pull_values(block.X.block(begin, 0, count, block.X.cols), t, of_rows.data(), {}, {}) : done;
    });
    if (!status.ok()) return status;
    mirror(Psi);
    NystromPartialSums found;
    for (Index k = 0; k < outputs; ++k) found.products.insert(found.products.end(), products.row(k), products.row(k) + w);
    for (Index j = 0; j < w; ++j) found.moments.insert(found.moments.end(), Psi.row(j), Psi.row(j) + w);
    for (const double slope : of_rows) found.theta.push_back(-2.0 * slope);
    sums.add(found);
    return status;
  });
}

}  // namespace kernsel
