#include <pybind11/stl.h>

#include <cmath>

#include "arrays.hpp"
#include "bind_criteria.hpp"
#include "compute.hpp"
#include "errors.hpp"
#include "functions.hpp"
#include "kernsel/gram.hpp"
#include "kernsel/selection.hpp"
#include "module.hpp"

namespace py = pybind11;
using kernsel::Ended;
using kernsel::Index;
using kernsel::Objective;
using kernsel::Optimum;
using kernsel::Trial;

namespace {

using Numbers = std::vector<double>;

// An objective, and the arrays that it looks at.
class Search {
 public:
  Search(const AnyCriterion& criterion, bool larger_is_better, const kernsel::Kernel& kernel, const py::object& X,
         const py::object& y, Numbers noise, double jitter, const py::object& trend, Numbers weights,
         const std::vector<std::pair<double, double>>& bounds, std::vector<Index> place, Index noise_place, Numbers reach,
         const py::object& make, const py::object& prior)
      : x_(X, "X", 2),
        y_(y, "y", 0),
        trend_(trend, "trend", 2),
        weights_(std::move(weights)),
        objective_{kernel, {}, std::move(noise), jitter, criterion.criterion, criterion.folds, larger_is_better, {}} {
    for (Input* input : {&x_, &y_, &trend_}) {
      input->to(false);
      input->require_finite();
    }
    objective_.problem = {
        x_.view<double>(), y_.view<double>(), {}, trend_.view<double>(), weights_.empty() ? nullptr : weights_.data()};
    kernsel::Unknowns& unknowns = objective_.unknowns;
    for (const auto& [lower, upper] : bounds) {
      unknowns.lower.push_back(lower);
      unknowns.upper.push_back(upper);
    }
    unknowns.place = std::move(place);
    unknowns.noise = noise_place;
    unknowns.reach = std::move(reach);
    const auto count = static_cast<Index>(unknowns.count());
    const auto inside = [count](Index at) { return at >= -1 && at < count; };
    bool right = inside(noise_place) && unknowns.reach.size() == unknowns.count();
    for (const Index at : unknowns.place) right = right && inside(at);
    const auto n = static_cast<std::size_t>(x_.rows());
    right = right && (objective_.noise.empty() || objective_.noise.size() == n) && (weights_.empty() || weights_.size() == n);
    if (!right) raise_value_error("search: places, bounds and reach do not fit together");
    if (!make.is_none()) {
      objective_.make = [f = shared_object(make)](const Numbers& theta) {
        const py::gil_scoped_acquire gil;
        return (*f)(theta).template cast<kernsel::Kernel>();
      };
    }
    if (!prior.is_none()) {
      objective_.prior = [f = shared_object(prior)](const Numbers& values, Numbers& gradient) {
        const py::gil_scoped_acquire gil;
        const auto [value, slopes] = (*f)(values).template cast<std::pair<double, Numbers>>();
        if (slopes.size() != gradient.size()) raise_value_error("prior: expected a derivative for each unknown");
        gradient = slopes;
        return value;
      };
    }
  }
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  const Objective& objective() const { return objective_; }
  std::size_t count() const { return objective_.unknowns.count(); }

 private:
  Input x_, y_, trend_;
  Numbers weights_;
  Objective objective_;
};

void check_count(const Search& search, const Numbers& x) {
  if (x.size() == search.count()) return;
  raise_value_error("x: expected " + std::to_string(search.count()) + " numbers, got " + std::to_string(x.size()));
}

py::object numbers(const Numbers& values, Index cols = -1) {
  if (values.empty() && cols > 0) return py::none();
  const Index rows = cols > 0 ? static_cast<Index>(values.size()) / cols : static_cast<Index>(values.size());
  auto out = cols > 0 ? new_array<double>(rows, cols) : new_array<double>(rows);
  std::copy(values.begin(), values.end(), out.mutable_data());
  return out;
}

py::dict trial_as_dict(const Trial& trial) {
  py::dict result;
  result["x"] = numbers(trial.x);
  result["value"] = trial.value;
  result["gradient"] = numbers(trial.gradient);
  result["information"] = numbers(trial.information, static_cast<Index>(trial.x.size()));
  result["scale"] = trial.scale;
  result["residual_scale"] = trial.residual_scale;
  return result;
}

py::dict evaluate_at(const Search& search, const Numbers& x, int order, Workspace& workspace) {
  check_count(search, x);
  Trial trial;
  std::shared_mutex& mutex = workspace.lock.get();
  compute([&] {
    const std::unique_lock<std::shared_mutex> lock(mutex);
    const FactorLock::Use use(&workspace.lock);
    return search.objective().evaluate(x, static_cast<kernsel::Order>(order), workspace.tiles, trial);
  });
  return trial_as_dict(trial);
}

py::dict run(const Search& all, const Search* some, const std::vector<Numbers>& starts, Index evaluations, double seconds,
             double coarse, double fine, const py::object& progress, Workspace& workspace, Index polished) {
  for (const Numbers& start : starts) check_count(all, start);
  if (some && some->count() != all.count()) raise_value_error("search: both objectives must have the same unknowns");
  kernsel::SearchOptions options;
  options.evaluations = evaluations;
  options.seconds = seconds;
  options.coarse = coarse;
  options.fine = fine;
  options.polished = polished;
  if (!progress.is_none()) {
    options.progress = [f = shared_object(progress)](Index count, Index points, double best) {
      const py::gil_scoped_acquire gil;
      return (*f)(count, points, best).template cast<bool>();
    };
  }
  Optimum optimum;
  kernsel::Status status;
  py::object interrupt = py::none();
  std::shared_mutex& mutex = workspace.lock.get();
  {
    const WithoutGil released;
    const std::unique_lock<std::shared_mutex> lock(mutex);
    const FactorLock::Use use(&workspace.lock);
    status = kernsel::search(all.objective(), some ? &some->objective() : nullptr, starts, options, workspace.tiles, optimum);
  }
  if (PyErr_Occurred()) {  // of a signal handler: what was found so far is not lost
    const py::error_already_set error;
    if (optimum.best.x.empty()) throw py::error_already_set(error);
    interrupt = error.value();
  } else if (optimum.ended != Ended::interrupted || optimum.best.x.empty()) {
    raise_status(status);
  }
  static const char* const endings[] = {"converged", "evaluations", "seconds", "stopped", "interrupted"};
  py::dict result = trial_as_dict(optimum.best);
  result["ended"] = endings[static_cast<int>(optimum.ended)];
  result["interrupt"] = interrupt;
  result["evaluations"] = optimum.evaluations;
  result["evaluations_of_some"] = optimum.evaluations_of_some;
  result["of_starts"] = numbers(optimum.of_starts);
  return result;
}

py::array_t<double> tangents(const kernsel::Kernel& k, const py::object& X, const py::object& v) {
  Input x(X, "X", 2), direction(v, "v", 1);
  for (Input* input : {&x, &direction}) {
    input->to(false);
    input->require_finite();
  }
  auto out = new_array<double>(x.rows(), k.parameters());
  // Columns are written whole: by columns in memory of our own.
  Numbers columns(static_cast<std::size_t>(x.rows() * k.parameters()));
  compute([&] {
    return kernsel::tangents(k, x.view<double>(), direction.view<double>(),
                             {columns.data(), x.rows(), k.parameters(), 1, x.rows()});
  });
  const kernsel::View<double> to = view_of(out);
  for (Index p = 0; p < to.cols; ++p)
    for (Index i = 0; i < to.rows; ++i) to(i, p) = columns[static_cast<std::size_t>(i + p * to.rows)];
  return out;
}

}  // namespace

void bind_selection(py::module_& module) {
  py::class_<Search>(module, "Search")
      .def(py::init<const AnyCriterion&, bool, const kernsel::Kernel&, const py::object&, const py::object&, Numbers, double,
                    const py::object&, Numbers, const std::vector<std::pair<double, double>>&, std::vector<Index>, Index,
                    Numbers, const py::object&, const py::object&>(),
           py::arg("criterion"), py::arg("larger_is_better"), py::arg("kernel"), py::arg("X"), py::arg("y"), py::arg("noise"),
           py::arg("jitter"), py::arg("trend"), py::arg("weights"), py::arg("bounds"), py::arg("place"), py::arg("noise_place"),
           py::arg("reach"), py::arg("make"), py::arg("prior"))
      .def("evaluate", &evaluate_at, py::arg("x"), py::arg("order"), py::arg("workspace"))
      .def("run", &run, py::arg("some"), py::arg("starts"), py::arg("evaluations"), py::arg("seconds"), py::arg("coarse"),
           py::arg("fine"), py::arg("progress"), py::arg("workspace"), py::arg("polished") = 1);
  module.def("tangents", &tangents, py::arg("kernel"), py::arg("X"), py::arg("v"));
}
