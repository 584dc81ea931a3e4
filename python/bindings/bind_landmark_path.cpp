#include <pybind11/stl.h>

#include "approximations.hpp"
#include "arrays.hpp"
#include "compute.hpp"
#include "errors.hpp"
#include "kernsel/path.hpp"
#include "module.hpp"

namespace py = pybind11;
using kernsel::Index;
using kernsel::Kernel;
using kernsel::RegularizationPath;
using kernsel::RowBlock;
using kernsel::View;

namespace {

using Numbers = std::vector<double>;

// Arrays with a row for each point, which a path reads more than once.
class Rows {
 public:
  Rows(const py::object& X, const py::object& y, const py::object& trend, const py::object& weights)
      : X_(X, "X", 2), y_(y, "y", 2), trend_(trend, "trend", 2) {
    for (Input* input : {&X_, &y_, &trend_}) input->to(false);
    if (weights.is_none()) return;
    Input given(weights, "sample_weight", 1);
    given.to(false);
    const View<const double> w = given.view<double>();
    noise_.resize(static_cast<std::size_t>(w.rows));
    for (Index i = 0; i < w.rows; ++i) noise_[static_cast<std::size_t>(i)] = 1.0 / w(i, 0);
  }

  RowBlock block() const {
    return {X_.view<double>(), y_.view<double>(), kernsel::vector(noise_.data(), static_cast<Index>(noise_.size())),
            trend_.view<double>()};
  }

 private:
  Input X_, y_, trend_;
  Numbers noise_ = {1.0};
};

// They may be released on any thread.
std::shared_ptr<const Rows> rows_of(const py::object& X, const py::object& y, const py::object& trend,
                                    const py::object& weights) {
  return {new Rows(X, y, trend, weights), [](const Rows* held) {
            const py::gil_scoped_acquire gil;
            delete held;
          }};
}

void set_rows(RegularizationPath& path, std::shared_ptr<const kernsel::NystromBlocks> blocks,
              std::shared_ptr<const Rows> rows) {
  raise_status(path.set_rows(std::move(blocks), [rows = std::move(rows)](const auto& visit) { return visit(rows->block()); }));
}

// Returns the path of Nystrom's approximation, which refers to the arrays, and the landmarks.
py::tuple landmark_path(const Kernel& k, const py::object& approximation, const py::object& X, const py::object& y,
                        const py::object& trend, const py::object& weights, double sigma, bool mean_of_errors) {
  const auto rows = rows_of(X, y, trend, weights);
  const kernsel::NystromOptions options = nystrom_options(approximation);
  const RowBlock block = rows->block();
  const auto blocks = std::make_shared<kernsel::NystromBlocks>();
  Numbers Z;
  RegularizationPath made;
  const Index columns = block.X.cols;
  compute([&] {
    kernsel::Status status = kernsel::choose_landmarks(k, block.X, options, Z);
    const auto count = static_cast<Index>(Z.size()) / std::max<Index>(columns, 1);
    if (status.ok()) status = blocks->begin(k, kernsel::rows<const double>(Z.data(), count, columns), block.trend.cols);
    kernsel::PathSums sums;
    if (status.ok()) status = sums.add(*blocks, block);
    if (status.ok()) status = RegularizationPath::of_landmarks(*blocks, sums, {sigma, mean_of_errors, options.bound}, made);
    return status;
  });
  set_rows(made, blocks, rows);
  return py::make_tuple(std::move(made), by_rows(Z, columns));
}

// Returns a path by landmarks, restored from its state, with the rows that it is of.
RegularizationPath with_rows(const RegularizationPath& path, const Kernel& k, const py::object& Z, const py::object& X,
                             const py::object& y, const py::object& trend, const py::object& weights) {
  const auto rows = rows_of(X, y, trend, weights);
  Input landmarks(Z, "landmarks", 2);
  landmarks.to(false);
  const auto blocks = std::make_shared<kernsel::NystromBlocks>();
  RegularizationPath made = path;
  compute([&, view = landmarks.view<double>()] { return blocks->begin(k, view, rows->block().trend.cols); });
  set_rows(made, blocks, rows);
  return made;
}

py::array_t<double> landmark_coef(const RegularizationPath& path, double alpha, Index landmarks) {
  auto out = new_array<double>(landmarks + path.trend_columns(), path.targets());
  compute([&, view = view_of(out)] { return path.landmark_coef(alpha, view); });
  return out;
}

// The mean squared leave-one-out residuals, (targets, values of lambda), from one pass over the rows.
py::array_t<double> left_out(const RegularizationPath& path, const Numbers& alphas) {
  Numbers means;
  compute([&] { return path.left_out(alphas, means); });
  return by_rows(means, static_cast<Index>(alphas.size()));
}

// The path from sums over blocks of rows, and the sums of squared residuals over a block, (targets, values of lambda), for rows
// that are not in memory together. Noise is 1 / w.
RegularizationPath path_of_sums(const kernsel::NystromBlocks& blocks, const kernsel::NystromSums& sums, double weights,
                                double inverse_weights, double sigma, bool mean_of_errors, bool bound) {
  RegularizationPath made;
  compute([&] {
    return RegularizationPath::of_landmarks(blocks, {sums, weights, inverse_weights}, {sigma, mean_of_errors, bound}, made);
  });
  return made;
}
py::array_t<double> left_out_of_block(const RegularizationPath& path, const kernsel::NystromBlocks& blocks, const py::object& X,
                                      const py::object& y, const py::object& trend, const py::object& weights,
                                      const Numbers& alphas) {
  const Rows rows(X, y, trend, weights);
  Numbers sums;
  compute([&, block = rows.block()] { return path.left_out(blocks, block, alphas, sums); });
  return by_rows(sums, static_cast<Index>(alphas.size()));
}

}  // namespace

void bind_landmark_path(py::module_& module) {
  module.def("landmark_path", &landmark_path, py::arg("kernel"), py::arg("approximation"), py::arg("X"), py::arg("y"),
             py::arg("trend"), py::arg("weights"), py::arg("sigma"), py::arg("mean_of_errors"));
  module.def("path_with_rows", &with_rows, py::arg("path"), py::arg("kernel"), py::arg("landmarks"), py::arg("X"), py::arg("y"),
             py::arg("trend"), py::arg("weights"));
  module.def("path_of_sums", &path_of_sums, py::arg("blocks"), py::arg("sums"), py::arg("weights"), py::arg("inverse_weights"),
             py::arg("sigma"), py::arg("mean_of_errors"), py::arg("bound"));
  module.def("left_out_of_block", &left_out_of_block, py::arg("path"), py::arg("blocks"), py::arg("X"), py::arg("y"),
             py::arg("trend"), py::arg("weights"), py::arg("alphas"));
  module.def("left_out_along_path", &left_out, py::arg("path"), py::arg("alphas"));
  module.def("landmark_coef", &landmark_coef, py::arg("path"), py::arg("alpha"), py::arg("landmarks"));
}
