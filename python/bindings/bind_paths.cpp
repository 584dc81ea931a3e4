#include <pybind11/stl.h>

#include "arrays.hpp"
#include "compute.hpp"
#include "errors.hpp"
#include "functions.hpp"
#include "kernsel/least_squares.hpp"
#include "kernsel/path.hpp"
#include "module.hpp"

namespace py = pybind11;
using kernsel::Index;
using kernsel::PathChoice;
using kernsel::PathRule;
using kernsel::PathValues;
using kernsel::RegularizationPath;
using kernsel::View;

namespace {

using Numbers = std::vector<double>;

py::array_t<double> vector_of(const Numbers& values) {
  auto out = new_array<double>(static_cast<Index>(values.size()));
  std::copy(values.begin(), values.end(), out.mutable_data());
  return out;
}

// Returns `values`, a matrix by columns, as an array in C order.
py::array_t<double> matrix_of(const Numbers& values, Index rows, Index cols) {
  auto out = new_array<double>(rows, cols);
  const View<const double> from = kernsel::columns(values.data(), rows, cols);
  const View<double> to = view_of(out);
  for (Index j = 0; j < cols; ++j)
    for (Index i = 0; i < rows; ++i) to(i, j) = from(i, j);
  return out;
}

Input numbers(const py::object& object, const char* name, int dimensions) {
  Input input(object, name, dimensions);
  input.to(false);
  return input;
}

py::dict least_squares(const py::object& A, const py::object& b, double ridge, const py::object& free) {
  const Input matrix = numbers(A, "A", 2), targets = numbers(b, "b", 2), fitted = numbers(free, "free", 2);
  kernsel::LeastSquares found;
  compute([&, a = matrix.view<double>(), y = targets.view<double>(), u = fitted.view<double>()] {
    return kernsel::least_squares(a, y, ridge, found, u);
  });
  py::dict result;
  result["rank"] = found.rank;
  result["leverage"] = vector_of(found.leverage);
  result["coefficients"] = matrix_of(found.coefficients, matrix.cols(), targets.cols());
  result["residuals"] = matrix_of(found.residuals, matrix.rows(), targets.cols());
  result["left_out"] = matrix_of(found.left_out, matrix.rows(), targets.cols());
  result["press"] = vector_of(found.press);
  return result;
}

Numbers copied(const py::object& object, const char* name) {
  const Input input = numbers(object, name, 1);
  const View<const double> from = input.view<double>();
  Numbers values(static_cast<std::size_t>(from.rows));
  for (Index i = 0; i < from.rows; ++i) values[static_cast<std::size_t>(i)] = from(i, 0);
  return values;
}

// Returns the path of a kernel matrix or of features; if the matrix is not positive semidefinite, its least and greatest
// eigenvalues. `decompose(A, values, vectors)` is a Python function that writes the decomposition of A to the other two.
py::object path(const py::object& matrix, bool features, const py::object& y, const py::object& trend,
                const py::object& weights, double sigma, bool mean_of_errors, double rounding, const py::object& decompose) {
  const Input K = numbers(matrix, "K", 2), targets = numbers(y, "y", 2), basis = numbers(trend, "trend", 2);
  const Numbers w = weights.is_none() ? Numbers() : copied(weights, "sample_weight");
  if (!w.empty() && static_cast<Index>(w.size()) != targets.rows())
    raise_value_error("sample_weight: expected one for each point");
  kernsel::PathProblem problem;
  problem.y = targets.view<double>();
  problem.trend = basis.view<double>();
  problem.weights = w.empty() ? nullptr : w.data();
  problem.sigma = sigma;
  problem.mean_of_errors = mean_of_errors;
  problem.rounding = rounding;
  const auto call = [f = shared_object(decompose)](View<double> A, View<double> values, View<double> vectors) {
    const py::gil_scoped_acquire gil;
    (*f)(array_on(A), array_on(values), array_on(vectors));
    return kernsel::Status{};
  };
  RegularizationPath made;
  const kernsel::Status status = compute_status([&, view = K.view<double>()] {
    return features ? RegularizationPath::of_features(view, problem, made, call)
                    : RegularizationPath::of_matrix(view, problem, made, call);
  });
  if (status.code == kernsel::Code::not_positive_definite)
    return py::make_tuple(made.least_eigenvalue(), made.greatest_eigenvalue());
  raise_status(status);
  return py::cast(std::move(made));
}

RegularizationPath path_of_state(const py::object& state) {
  const Input input = numbers(state, "state", 1);
  RegularizationPath made;
  raise_status(RegularizationPath::from_state(input.view<double>(), made));
  return made;
}

py::dict values_at(const RegularizationPath& self, const py::object& alphas, bool leave_out) {
  const Numbers at = copied(alphas, "alphas");
  PathValues found;
  compute([&] { return self.values(at, found, leave_out); });
  py::dict result;
  result["alphas"] = vector_of(found.alphas);
  result["loo"] = vector_of(found.loo);
  result["gcv"] = vector_of(found.gcv);
  result["log_likelihood"] = vector_of(found.log_likelihood);
  result["restricted_log_likelihood"] = vector_of(found.restricted_log_likelihood);
  result["profiled_log_likelihood"] = vector_of(found.profiled_log_likelihood);
  result["profiled_restricted_log_likelihood"] = vector_of(found.profiled_restricted_log_likelihood);
  result["residual_norm"] = vector_of(found.residual_norm);
  result["seminorm"] = vector_of(found.seminorm);
  result["effective_dof"] = vector_of(found.effective_dof);
  result["risk"] = vector_of(found.risk);
  result["curvature"] = vector_of(found.curvature);
  result["quasi_optimality"] = vector_of(found.quasi_optimality);
  return result;
}

struct NamedRule {
  const char* name;
  PathRule rule;
};
constexpr NamedRule rules[] = {{"loo", PathRule::loo},
                               {"gcv", PathRule::gcv},
                               {"lml", PathRule::likelihood},
                               {"reml", PathRule::restricted_likelihood},
                               {"profiled_lml", PathRule::profiled_likelihood},
                               {"profiled_reml", PathRule::profiled_restricted_likelihood},
                               {"risk", PathRule::risk},
                               {"discrepancy", PathRule::discrepancy},
                               {"lcurve", PathRule::l_curve},
                               {"quasi-optimality", PathRule::quasi_optimality}};

PathRule rule_of(const std::string& name) {
  for (const NamedRule& entry : rules)
    if (name == entry.name) return entry.rule;
  raise_value_error("rule: there is none of the name " + name);
}

const char* name_of(PathChoice::Outcome outcome) {
  switch (outcome) {
    case PathChoice::Outcome::no_corner:
      return "no corner";
    case PathChoice::Outcome::no_minimum:
      return "no minimum";
    case PathChoice::Outcome::noise_is_all:
      return "noise is all";
    case PathChoice::Outcome::noise_too_small:
      return "noise too small";
    case PathChoice::Outcome::found:
      break;
  }
  return "found";
}

// Returns the choice of a rule; `curve` has the values of its criterion for the lambda in `alphas`.
py::dict best(const RegularizationPath& self, const std::string& rule, const py::object& alphas, const py::object& curve,
              double tau) {
  const PathRule which = rule_of(rule);
  PathValues grid;
  grid.alphas = copied(alphas, "alphas");
  grid.*kernsel::curve_of(which) = copied(curve, "curve");
  PathChoice choice;
  compute([&] { return self.best(which, grid, choice, tau); });
  py::dict result;
  result["outcome"] = name_of(choice.outcome);
  result["alpha"] = choice.alpha;
  result["norm"] = choice.norm;
  result["wanted"] = choice.wanted;
  result["least"] = choice.least;
  return result;
}

py::array_t<double> dual_coef(const RegularizationPath& self, double alpha) {
  auto out = new_array<double>(self.points(), self.targets());
  compute([&, view = view_of(out)] { return self.dual_coef(alpha, view); });
  return out;
}

py::array_t<double> leave_groups_out(const RegularizationPath& self, const py::object& groups, Index count, bool log_density,
                                     const py::object& alphas) {
  const std::vector<std::int64_t> given = whole_numbers<std::int64_t>(groups, "groups");
  const std::vector<Index> group(given.begin(), given.end());
  const Numbers at = copied(alphas, "alphas");
  Numbers out;
  compute([&] { return self.leave_groups_out(group, count, log_density, at, out); });
  return vector_of(out);
}

}  // namespace

void bind_paths(py::module_& module) {
  module.def("least_squares", &least_squares, py::arg("A"), py::arg("b"), py::arg("ridge"), py::arg("free"));
  py::class_<RegularizationPath>(module, "RegularizationPath")
      // __new__ makes a complete object, so that there are none without contents. __init__ is required, but has no effect.
      .def_static("__new__", [](const py::object&, const py::object& state) { return path_of_state(state); })
      .def(py::init(&path_of_state), py::arg("state"))
      .def("__reduce__",
           [](const py::object& self) {
             const Numbers state = self.cast<const RegularizationPath&>().state();
             return py::make_tuple(py::type::of(self), py::make_tuple(vector_of(state)));
           })
      .def_property_readonly("points", &RegularizationPath::points)
      .def_property_readonly("targets", &RegularizationPath::targets)
      .def_property_readonly("trend_columns", &RegularizationPath::trend_columns)
      .def_property_readonly("largest_alpha", &RegularizationPath::largest_alpha)
      .def_property_readonly("eigenvalues", [](const RegularizationPath& self) { return vector_of(self.eigenvalues()); })
      .def("default_alphas", [](const RegularizationPath& self) { return vector_of(self.default_alphas()); })
      .def("values", &values_at, py::arg("alphas"), py::arg("leave_out"))
      .def("best", &best, py::arg("rule"), py::arg("alphas"), py::arg("curve"), py::arg("tau"))
      .def("dual_coef", &dual_coef, py::arg("alpha"))
      .def("leave_groups_out", &leave_groups_out, py::arg("groups"), py::arg("count"), py::arg("log_density"),
           py::arg("alphas"))
      .def(
          "target",
          [](const RegularizationPath& self, Index k) {
            RegularizationPath one;
            raise_status(self.target(k, one));
            return one;
          },
          py::arg("k"));
  module.def("path", &path, py::arg("matrix"), py::arg("features"), py::arg("y"), py::arg("trend"), py::arg("weights"),
             py::arg("sigma"), py::arg("mean_of_errors"), py::arg("rounding"), py::arg("decompose"));
}
