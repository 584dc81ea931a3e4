#include <pybind11/stl.h>

#include <cmath>
#include <tuple>

#include "approximations.hpp"
#include "arrays.hpp"
#include "compute.hpp"
#include "errors.hpp"
#include "functions.hpp"
#include "inference.hpp"
#include "kernsel/choose.hpp"
#include "kernsel/gram.hpp"
#include "kernsel/jitter.hpp"
#include "kernsel/starts.hpp"
#include "module.hpp"

namespace py = pybind11;
using kernsel::Choice;
using kernsel::Chooser;
using kernsel::Criterion;
using kernsel::Ended;
using kernsel::Index;
using kernsel::Optimum;
using kernsel::Rule;
using kernsel::Status;
using kernsel::Trial;

namespace {

using Numbers = std::vector<double>;

constexpr std::pair<const char*, Rule> rules[] = {
    {"none", Rule::none},     {"length", Rule::length},       {"size", Rule::size},         {"norm", Rule::norm},
    {"ratio", Rule::ratio},   {"share", Rule::share},         {"variance", Rule::variance}, {"noise", Rule::noise},
    {"period", Rule::period}, {"signed", Rule::signed_number}};

Rule rule_named(const std::string& name) {
  for (const auto& [known, rule] : rules)
    if (name == known) return rule;
  raise_value_error("rule: there is none named " + name);
}

// Statistics of data (kernsel/data.hpp), with the arrays from which they are computed.
class Statistics {
 public:
  Statistics(const py::object& X, const py::object& y, Numbers weights)
      : x_(X, "X", 2), y_(y, "y", 0), weights_(std::move(weights)), data_(converted(x_), converted(y_), pointer()) {}
  Statistics(const Statistics&) = delete;
  Statistics& operator=(const Statistics&) = delete;
  kernsel::Data& data() { return data_; }

 private:
  static kernsel::View<const double> converted(Input& input) {
    input.to(false);
    return input.view<double>();
  }
  const double* pointer() const { return weights_.empty() ? nullptr : weights_.data(); }

  Input x_, y_;
  Numbers weights_;
  kernsel::Data data_;
};

py::object numbers(const Numbers& values, Index cols = -1) {
  if (values.empty() && cols > 0) return py::none();
  const Index rows = cols > 0 ? static_cast<Index>(values.size()) / cols : static_cast<Index>(values.size());
  auto out = cols > 0 ? new_array<double>(rows, cols) : new_array<double>(rows);
  std::copy(values.begin(), values.end(), out.mutable_data());
  return out;
}

// Wraps a Python function progress(evaluations, points, best) that is called after each evaluation; empty if it is None.
std::function<bool(Index, Index, double)> watched(const py::object& progress) {
  if (progress.is_none()) return nullptr;
  return [f = shared_object(progress)](Index count, Index points, double best) {
    const py::gil_scoped_acquire gil;
    return (*f)(count, points, best).template cast<bool>();
  };
}

kernsel::CriterionOf criterion_of(const py::object& function) {
  if (function.is_none()) return nullptr;
  return [f = shared_object(function)](const std::vector<Index>& rows) {
    const py::gil_scoped_acquire gil;
    auto array = py::array_t<Index>(static_cast<py::ssize_t>(rows.size()));
    std::copy(rows.begin(), rows.end(), array.mutable_data());
    return (*f)(array).template cast<Criterion>();
  };
}

// Returns the hints for the numbers of theta, from a list of anchors (rule, begin, count, whether logarithmic, statistics).
std::vector<kernsel::Hint> hints(const py::object& given, const Numbers& theta) {
  std::vector<kernsel::Hint> found(theta.size());
  for (std::size_t p = 0; p < theta.size(); ++p) found[p].middle = theta[p];
  std::vector<kernsel::Anchor> anchors;
  for (const py::handle& entry : given) {
    const auto anchor = py::reinterpret_borrow<py::tuple>(entry);
    anchors.push_back({rule_named(anchor[0].cast<std::string>()), anchor[1].cast<Index>(), anchor[2].cast<Index>(),
                       anchor[3].cast<bool>(), &anchor[4].cast<Statistics&>().data()});
    if (anchors.back().begin + anchors.back().count > static_cast<Index>(theta.size()))
      raise_value_error("search: anchors do not fit to theta");
  }
  kernsel::hints_of(anchors, found);
  return found;
}

// A search, with the arrays that it reads.
class Search {
 public:
  Search(const kernsel::Kernel& kernel, const py::object& X, const py::object& y, const py::object& trend, Numbers weights,
         const py::dict& noise, const py::object& criterion, const py::object& scale_free, bool same_for_any_points,
         const py::dict& space, const py::object& make, const py::object& prior, const py::dict& options)
      : x_(X, "X", 2), y_(y, "y", 0), trend_(trend, "trend", 2), weights_(std::move(weights)) {
    for (Input* input : {&x_, &y_, &trend_}) {
      input->to(false);
      input->require_finite();
    }
    kernsel::Choosing problem(kernel, x_.view<double>(), y_.view<double>());
    problem.trend = trend_.view<double>();
    problem.weights = weights_.empty() ? nullptr : weights_.data();
    problem.finds_amplitude = noise["amplitude"].cast<bool>();
    problem.finds_noise = noise["unknown"].cast<bool>();
    problem.noise = noise["known"].cast<Numbers>();
    problem.jitter = noise["jitter"].cast<double>();
    problem.automatic_jitter = noise["automatic_jitter"].cast<bool>();
    problem.criterion = criterion_of(criterion);
    problem.scale_free = criterion_of(scale_free);
    problem.same_for_any_points = same_for_any_points;
    problem.space = space_of(space);
    problem.variance = space["variance"].cast<double>();
    if (!make.is_none()) {
      problem.make = [f = shared_object(make)](const Numbers& theta) {
        const py::gil_scoped_acquire gil;
        return (*f)(theta).template cast<kernsel::Kernel>();
      };
    }
    if (!prior.is_none()) {
      problem.prior = [f = shared_object(prior)](const Numbers& values, Numbers& gradient) {
        const py::gil_scoped_acquire gil;
        const auto [value, slopes] = (*f)(values).template cast<std::pair<double, Numbers>>();
        if (slopes.size() != gradient.size()) raise_value_error("prior: expected a derivative for each number of theta");
        gradient = slopes;
        return value;
      };
    }
    if (const py::object approximation = options["approximation"]; !approximation.is_none()) {
      if (has_landmarks(approximation)) {
        landmarks_ = kernsel::nystrom_factor(nystrom_options(approximation));
        problem.landmarks = landmarks_.get();
      } else {
        approximation_ = kernsel::vecchia_factor(vecchia_options(approximation));
        problem.approximation = approximation_.get();
      }
    }
    if (const py::object observed = options["observed"]; !observed.is_none()) {
      observed_ = observed;
      const auto& of = observed.cast<const Observed&>();
      problem.likelihood = of.likelihood;
      problem.inference = of.inference;
      problem.sizes = of.sizes.empty() ? nullptr : of.sizes.data();
      problem.parameters = of.likelihood->parameters();
      const auto given = options["parameters"].cast<std::vector<std::tuple<double, double, double, bool>>>();
      if (given.size() != problem.parameters.size()) raise_value_error("parameters: expected those of the likelihood");
      for (std::size_t p = 0; p < given.size(); ++p) {
        kernsel::LikelihoodParameter& parameter = problem.parameters[p];
        bool is_free = false;
        std::tie(parameter.value, parameter.lower, parameter.upper, is_free) = given[p];
        if (!is_free) parameter.lower = parameter.upper = parameter.value;
      }
      if (problem.sizes && static_cast<Index>(of.sizes.size()) != x_.rows())
        raise_value_error("sizes: expected one for each point");
    }
    problem.spreads = options["spreads"].cast<Numbers>();
    problem.expects_all = options["expects_all"].cast<bool>();
    problem.excepted = options["excepted"].cast<std::vector<bool>>();
    kernsel::ChoosingOptions how;
    how.evaluations = options["evaluations"].cast<Index>();
    how.seconds = options["seconds"].cast<double>();
    how.restarts = options["restarts"].cast<Index>();
    how.newton = options["newton"].cast<bool>();
    how.profile = options["profile"].cast<bool>();
    how.many_points = options["many_points"].cast<Index>();
    how.subset_points = options["subset_points"].cast<Index>();
    how.subset = options["subset"].cast<std::vector<Index>>();
    how.search_points = options["search_points"].cast<Index>();
    how.progress = watched(options["progress"]);
    if (const py::object seed = options["seed"]; !seed.is_none()) {
      how.seeded = true;
      how.seed = seed.cast<std::uint64_t>();
    }
    chooser_ = std::make_unique<Chooser>(problem, how);
    compute([&] { return chooser_->prepare(); });
  }
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  Chooser& chooser() const { return *chooser_; }
  Trial& last() const { return last_; }  // the best trial with a gradient

 private:
  static std::shared_ptr<const kernsel::Space> space_of(const py::dict& given) {
    auto space = std::make_shared<kernsel::Space>();
    space->place = given["place"].cast<std::vector<Index>>();
    space->theta = given["theta"].cast<Numbers>();
    space->lower = given["lower"].cast<Numbers>();
    space->upper = given["upper"].cast<Numbers>();
    space->amplitudes = given["amplitudes"].cast<std::vector<Index>>();
    space->has_values = given["has_values"].cast<bool>();
    const std::size_t count = space->theta.size();
    space->hints = hints(given["anchors"], space->theta);
    bool right = space->lower.size() == count && space->upper.size() == count;
    const auto all = static_cast<Index>(count);
    for (const Index at : space->amplitudes) right = right && at >= 0 && at < all;
    for (const Index at : space->place) right = right && at >= -1 && at < all;
    if (!right) raise_value_error("search: places, bounds and anchors do not fit together");
    return space;
  }

  Input x_, y_, trend_;
  py::object observed_;
  Numbers weights_;
  std::unique_ptr<kernsel::VecchiaFactor> approximation_;
  std::unique_ptr<kernsel::NystromFactor> landmarks_;
  std::unique_ptr<Chooser> chooser_;
  mutable Trial last_;
};

const char* text_of(Ended ended) {
  static const char* const endings[] = {"converged", "evaluations", "seconds", "stopped", "interrupted"};
  return endings[static_cast<int>(ended)];
}

py::dict as_dict(const Trial& trial) {
  py::dict result;
  result["x"] = numbers(trial.x);
  result["value"] = trial.value;
  result["criterion"] = trial.criterion;
  result["gradient"] = numbers(trial.gradient);
  result["information"] = numbers(trial.information, static_cast<Index>(trial.x.size()));
  return result;
}

py::dict as_dict(const Choice& choice) {
  py::dict result;
  result["x"] = numbers(choice.x);
  result["theta"] = numbers(choice.theta);
  result["amplitude"] = choice.amplitude;
  result["noise"] = choice.noise;
  result["likelihood"] = numbers(choice.likelihood);
  result["jitter"] = choice.jitter;
  result["scale"] = choice.scale;
  result["criterion"] = choice.criterion;
  result["profiled"] = choice.profiled;
  result["noise_at_bound"] = choice.noise_at_bound;
  result["spread"] = choice.spread;
  result["evidence"] = choice.evidence;
  result["gradient"] = numbers(choice.gradient);
  const auto unknowns = static_cast<Index>(choice.gradient.size());
  result["information"] = unknowns > 0 ? numbers(choice.information, unknowns) : py::none();
  result["free"] = choice.free;
  result["ended"] = text_of(choice.ended);
  result["evaluations"] = choice.evaluations;
  result["evaluations_of_some"] = choice.evaluations_of_some;
  result["of_starts"] = numbers(choice.of_starts);
  return result;
}

// Runs a computation whose result so far is used if a signal handler raises: `found` tells whether there is a result. Returns
// the exception that was raised, or None.
template <class F, class Found>
py::object interruptible(const F& f, const Found& found) {
  Status status;
  {
    const WithoutGil released;
    status = f();
  }
  if (PyErr_Occurred()) {
    const py::error_already_set error;
    if (!found()) throw py::error_already_set(error);
    return error.value();
  }
  raise_status(status);
  return py::none();
}

py::dict run(const Search& search) {
  Choice choice;
  const py::object interrupt =
      interruptible([&] { return search.chooser().run(choice); }, [&] { return choice.ended == Ended::interrupted; });
  py::dict result = as_dict(choice);
  result["interrupt"] = interrupt;
  return result;
}

py::dict evaluate_at(const Search& search, const Numbers& x, int order) {
  if (x.size() != search.chooser().domain().count())
    raise_value_error("x: expected " + std::to_string(search.chooser().domain().count()) + " numbers, got " +
                      std::to_string(x.size()));
  Trial trial;
  compute([&] { return search.chooser().evaluate(x, static_cast<kernsel::Order>(order), trial); });
  if (order > 0 && trial.value <= search.last().value) search.last() = trial;
  return as_dict(trial);
}

// Returns the choice that x stands for. x is evaluated unless it is the best trial so far, as the result of an optimizer is.
py::dict finish_at(const Search& search, const Numbers& x) {
  Trial trial = search.last();
  const bool known = trial.x == x;
  if (!known) compute([&] { return search.chooser().evaluate(x, kernsel::Order::gradient, trial); });
  Choice choice;
  search.chooser().finish(trial, choice);
  choice.evaluations = known ? 0 : 1;
  return as_dict(choice);
}

// Wraps a Python function as an objective. It returns a value, a gradient and, if it likes, the information; or None if it
// cannot be evaluated.
std::unique_ptr<kernsel::FunctionObjective> objective_of(const py::object& function, const Numbers& lower, const Numbers& upper,
                                                         const Numbers& curvature, Index points) {
  auto objective = std::make_unique<kernsel::FunctionObjective>();
  objective->bounds = {lower, upper, Numbers(lower.size(), 1.0)};
  objective->curvature = curvature;
  objective->size = points;
  objective->function = [f = shared_object(function)](const Numbers& x, kernsel::Order order, Trial& out) {
    const py::gil_scoped_acquire gil;
    const py::object found = (*f)(numbers(x), order != kernsel::Order::value);
    if (found.is_none()) {
      out.gradient.assign(x.size(), 0.0);
      return;
    }
    const auto parts = found.cast<py::tuple>();
    out.value = parts[0].cast<double>();
    out.gradient = parts[1].cast<Numbers>();
    if (parts.size() > 2) out.information = parts[2].cast<Numbers>();
    if (parts.size() > 2 && out.information.size() != x.size() * x.size())
      raise_value_error("minimize: expected an information matrix with a row for each unknown");
  };
  return objective;
}

py::dict minimize(const py::object& all, const py::object& some, const Numbers& lower, const Numbers& upper,
                  const std::vector<Numbers>& starts, const py::dict& options) {
  for (const Numbers& start : starts)
    if (start.size() != lower.size()) raise_value_error("starts: expected as many numbers as there are bounds");
  if (starts.empty() || lower.size() != upper.size())
    raise_value_error("minimize: expected a start, and as many bounds above as below");
  const auto curvature = options["curvature"].cast<Numbers>();
  const auto of_all = objective_of(all, lower, upper, curvature, options["points"].cast<Index>());
  const auto of_some = some.is_none() ? nullptr : objective_of(some, lower, upper, curvature, 0);
  of_all->newton = options.contains("newton") && options["newton"].cast<bool>();
  kernsel::SearchOptions how;
  how.evaluations = options["evaluations"].cast<Index>();
  how.seconds = options["seconds"].cast<double>();
  how.coarse = options["coarse"].cast<double>();
  how.fine = options["fine"].cast<double>();
  how.contenders = options["contenders"].cast<Index>();
  how.progress = watched(options["progress"]);
  Optimum optimum;
  const py::object interrupt = interruptible([&] { return kernsel::search(*of_all, of_some.get(), starts, how, optimum); },
                                             [&] { return optimum.ended == Ended::interrupted && !optimum.best.x.empty(); });
  py::dict result = as_dict(optimum.best);
  result["ended"] = text_of(optimum.ended);
  result["interrupt"] = interrupt;
  result["evaluations"] = optimum.evaluations;
  result["evaluations_of_some"] = optimum.evaluations_of_some;
  result["of_starts"] = numbers(optimum.of_starts);
  result["curvature"] = numbers(optimum.curvature, static_cast<Index>(lower.size()));
  return result;
}

py::list starting_points(const py::object& anchors, const Numbers& theta, double variance, bool noise, Index random,
                         double shift) {
  py::list starts;
  for (const kernsel::Start& start : kernsel::starting_points(hints(anchors, theta), variance, noise, random, shift))
    starts.append(numbers(start.theta));
  return starts;
}

py::array_t<double> tangents(const kernsel::Kernel& k, const py::object& X, const py::object& v) {
  Input x(X, "X", 2), direction(v, "v", 1);
  for (Input* input : {&x, &direction}) {
    input->to(false);
    input->require_finite();
  }
  auto out = new_array<double>(x.rows(), k.parameters());
  // The core writes whole columns, so that the result is computed in column-major order and then copied.
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

void bind_search(py::module_& module) {
  py::class_<Statistics>(module, "Statistics")
      .def(py::init<const py::object&, const py::object&, Numbers>(), py::arg("X"), py::arg("y"), py::arg("weights"))
      .def_property_readonly("ranges", [](Statistics& s) { return numbers(s.data().ranges()); })
      .def_property_readonly("spacings", [](Statistics& s) { return numbers(s.data().spacings()); })
      .def_property_readonly("spreads", [](Statistics& s) { return numbers(s.data().spreads()); })
      .def_property_readonly("sizes", [](Statistics& s) { return numbers(s.data().sizes()); })
      .def_property_readonly("relevance", [](Statistics& s) { return numbers(s.data().relevance()); })
      .def_property_readonly("variance", [](Statistics& s) { return s.data().variance(); })
      .def(
          "propose",
          [](Statistics& s, const std::string& rule) {
            const kernsel::Proposal& found = s.data().propose(rule_named(rule));
            return py::make_tuple(numbers(found.start), numbers(found.lower), numbers(found.upper));
          },
          py::arg("rule"));
  py::class_<Search>(module, "Search")
      .def(py::init<const kernsel::Kernel&, const py::object&, const py::object&, const py::object&, Numbers, const py::dict&,
                    const py::object&, const py::object&, bool, const py::dict&, const py::object&, const py::object&,
                    const py::dict&>(),
           py::arg("kernel"), py::arg("X"), py::arg("y"), py::arg("trend"), py::arg("weights"), py::arg("noise"),
           py::arg("criterion"), py::arg("scale_free"), py::arg("same_for_any_points"), py::arg("space"), py::arg("make"),
           py::arg("prior"), py::arg("options"))
      .def_property_readonly("starts",
                             [](const Search& search) {
                               py::list starts;
                               for (const Numbers& start : search.chooser().starts()) starts.append(numbers(start));
                               return starts;
                             })
      .def_property_readonly("bounds",
                             [](const Search& search) {
                               const kernsel::Domain& domain = search.chooser().domain();
                               return py::make_tuple(numbers(domain.lower), numbers(domain.upper));
                             })
      .def("evaluate", &evaluate_at, py::arg("x"), py::arg("order"))
      .def("finish", &finish_at, py::arg("x"))
      .def("run", &run);
  module.def("minimize", &minimize, py::arg("all"), py::arg("some"), py::arg("lower"), py::arg("upper"), py::arg("starts"),
             py::arg("options"));
  module.def("starting_points", &starting_points, py::arg("anchors"), py::arg("theta"), py::arg("variance"), py::arg("noise"),
             py::arg("random"), py::arg("shift"));
  module.def("least_jitter", &kernsel::least_jitter, py::arg("n"));
  module.attr("most_raises") = kernsel::most_raises;
  module.def("tangents", &tangents, py::arg("kernel"), py::arg("X"), py::arg("v"));
}
