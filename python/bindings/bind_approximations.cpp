#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "approximations.hpp"
#include "arrays.hpp"
#include "compute.hpp"
#include "module.hpp"

namespace py = pybind11;
using kernsel::Index;
using kernsel::Kernel;
using kernsel::View;

namespace {

using Features = std::vector<std::tuple<Index, double, double>>;  // column, scale, period

std::vector<kernsel::Feature> features_from(const Features& given) {
  std::vector<kernsel::Feature> out;
  for (const auto& [column, scale, period] : given) out.push_back({column, scale, period});
  return out;
}

bool are_equal(const std::vector<kernsel::Feature>& a, const std::vector<kernsel::Feature>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const kernsel::Feature& x, const kernsel::Feature& y) {
    return x.column == y.column && x.scale == y.scale && x.period == y.period;
  });
}

}  // namespace

bool has_landmarks(const py::object& approximation) {
  return py::isinstance<py::tuple>(approximation) && py::isinstance<py::str>(approximation.cast<py::tuple>()[0]);
}

kernsel::VecchiaOptions vecchia_options(const py::object& numbers) {
  kernsel::VecchiaOptions options;
  Features features;
  std::tie(options.neighbours, options.seed, options.terms, options.inducing, options.landmarks, options.ordered, features) =
      numbers.cast<std::tuple<Index, std::uint64_t, std::vector<Index>, Index, std::vector<double>, bool, Features>>();
  options.features = features_from(features);
  return options;
}

kernsel::NystromOptions nystrom_options(const py::object& numbers) {
  kernsel::NystromOptions options;
  Index placement = 0;
  std::string name;
  std::tie(name, options.landmarks, placement, options.seed, options.bound, options.given) =
      numbers.cast<std::tuple<std::string, Index, Index, std::uint64_t, bool, std::vector<double>>>();
  options.placement = placement == 0   ? kernsel::Placement::pivoted
                      : placement == 1 ? kernsel::Placement::means
                                       : kernsel::Placement::random;
  return options;
}

py::array_t<double> by_rows(const std::vector<double>& values, Index columns) {
  auto out = new_array<double>(Index(values.size()) / columns, columns);
  std::copy(values.begin(), values.end(), out.mutable_data());
  return out;
}

namespace {

kernsel::Factor& vecchia_of(const kernsel::VecchiaOptions& options, const Kernel& k, View<const double> X,
                            Workspace& workspace) {
  std::unique_ptr<kernsel::VecchiaFactor>& factor = workspace.vecchia;
  if (!factor || factor->options().neighbours != options.neighbours || factor->options().seed != options.seed ||
      factor->options().terms != options.terms || factor->options().inducing != options.inducing ||
      factor->options().landmarks != options.landmarks || factor->options().ordered != options.ordered ||
      !are_equal(factor->options().features, options.features))
    factor = kernsel::vecchia_factor(options);
  factor->renew(k, X);
  workspace.width = std::max<Index>(X.rows - 1, 1);
  workspace.columns = X.cols;
  return *factor;
}

kernsel::Factor& nystrom_of(const kernsel::NystromOptions& options, View<const double> X, Workspace& workspace) {
  std::unique_ptr<kernsel::NystromFactor>& factor = workspace.nystrom;
  if (!factor || factor->options().landmarks != options.landmarks || factor->options().placement != options.placement ||
      factor->options().seed != options.seed || factor->options().bound != options.bound ||
      factor->options().given != options.given)
    factor = kernsel::nystrom_factor(options);
  workspace.columns = X.cols;
  return *factor;
}

py::object neighbours_of(const Workspace& workspace, bool left_out) {
  if (!workspace.vecchia) return py::none();
  const std::vector<std::int32_t>& found = workspace.vecchia->neighbours(left_out);
  const auto m = workspace.vecchia->options().neighbours;
  if (found.empty()) return py::none();
  auto out = py::array_t<std::int32_t>(static_cast<py::ssize_t>(found.size()));
  std::copy(found.begin(), found.end(), out.mutable_data());
  return out.attr("reshape")(-1, std::min<Index>(m, workspace.width));
}

py::object products_of(const Workspace& workspace) {
  const std::vector<double> found = workspace.vecchia ? workspace.vecchia->products() : std::vector<double>();
  if (found.empty()) return py::none();
  return by_rows(found, static_cast<Index>(std::lround(std::sqrt(static_cast<double>(found.size())))));
}

py::object landmarks_of(const Workspace& workspace) {
  for (const std::vector<double>* found : {workspace.nystrom ? &workspace.nystrom->landmarks() : nullptr,
                                           workspace.vecchia ? &workspace.vecchia->landmarks() : nullptr})
    if (found && !found->empty()) return by_rows(*found, workspace.columns);
  return py::none();
}

}  // namespace

FactorFor factor_of(const py::object& approximation, Workspace& workspace) {
  if (approximation.is_none())
    return [&workspace](const Kernel&, View<const double>) -> kernsel::Factor& { return *workspace.dense; };
  if (has_landmarks(approximation))
    return [&workspace, options = nystrom_options(approximation)](const Kernel&, View<const double> X) -> kernsel::Factor& {
      return nystrom_of(options, X, workspace);
    };
  return [&workspace, options = vecchia_options(approximation)](const Kernel& k, View<const double> X) -> kernsel::Factor& {
    return vecchia_of(options, k, X, workspace);
  };
}

void bind_approximations(py::module_& module) {
  py::class_<Workspace>(
      module, "Workspace",
      "Memory that evaluations of a criterion share, one after the other: nothing is allocated twice.\n\nGive it to "
      "`kernsel.evaluate` as `workspace`, for data of one size.")  // whole as soon as it is new
      .def_static("__new__", [](const py::object&) { return std::make_unique<Workspace>(); })
      .def(py::init<>())
      .def("neighbors", &neighbours_of, py::arg("left_out") = false,
           "The neighbours of each point that the last evaluation with an approximation used, (n, m), and -1 where there are "
           "fewer; with `left_out` those from which points are predicted that are left out. None if it used none.")
      .def("products", &products_of,
           "The products of the targets Y of the last evaluation of a likelihood with neighbours, Y'P Y, or of what a trend "
           "leaves of them, (outputs, outputs). None if it used none.")
      .def("landmarks", &landmarks_of,
           "The landmarks, or those of the inducing points, that the last evaluation with an approximation used, (k, d). None "
           "if "
           "it used none.");
  module.def(
      "features_of",
      [](const Kernel& k, const py::object& X) {
        Input points(X, "X", 2);
        points.to(false);
        points.require_finite();
        std::vector<kernsel::Feature> found;
        compute([&] { return kernsel::features_of(k, points.view<double>(), found); });
        Features out;
        for (const kernsel::Feature& feature : found) out.emplace_back(feature.column, feature.scale, feature.period);
        return out;
      },
      py::arg("kernel"), py::arg("X"));
  module.def(
      "in_features",
      [](const py::object& X, const Features& features) {
        Input points(X, "X", 2);
        points.to(false);
        std::vector<double> values;
        const Index columns = kernsel::in_features(points.view<double>(), features_from(features), values).cols;
        auto out = new_array<double>(points.rows(), columns);
        std::copy(values.begin(), values.end(), out.mutable_data());
        return out;
      },
      py::arg("X"), py::arg("features"));
}
