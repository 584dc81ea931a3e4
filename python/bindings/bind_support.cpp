#include <pybind11/stl.h>

#include "arrays.hpp"
#include "bind_factor.hpp"
#include "compute.hpp"
#include "errors.hpp"
#include "kernsel/support.hpp"
#include "module.hpp"

namespace py = pybind11;
using kernsel::Index;
using Numbers = std::vector<double>;

namespace {

// A solver, with the points that it reads.
class Solver {
 public:
  Solver(const kernsel::Kernel& kernel, const py::object& X, double megabytes, Numbers noise) : x_(X, "X", 2) {
    x_.to(false);
    x_.require_finite();
    solver_ = std::make_unique<kernsel::SupportSolver>(kernel, x_.view<double>(),
                                                       static_cast<std::size_t>(megabytes * 1048576.0), std::move(noise));
  }
  kernsel::SupportSolver& solver() const { return *solver_; }
  Index points() const { return x_.rows(); }
  FactorLock lock;

 private:
  Input x_;
  std::unique_ptr<kernsel::SupportSolver> solver_;
};

py::dict solve(Solver& self, const py::object& y, Numbers lower, Numbers upper, double epsilon, bool intercept, double total,
               Numbers start, double tolerance, Index iterations, bool shrinking, Index working_set) {
  Input targets(y, "y", 1);
  targets.to(false);
  targets.require_finite();
  const kernsel::SupportProblem problem{targets.view<double>(), std::move(lower), std::move(upper), epsilon, intercept, total};
  kernsel::SupportOptions options;
  options.tolerance = tolerance;
  if (iterations >= 0) options.iterations = iterations;
  options.shrinking = shrinking;
  options.working_set = working_set;
  kernsel::SupportFit fit;
  fit.a = std::move(start);
  kernsel::Status status;
  std::shared_mutex& mutex = self.lock.get();
  {
    const WithoutGil released;
    const std::unique_lock<std::shared_mutex> lock(mutex);
    const FactorLock::Use use(&self.lock);
    status = self.solver().solve(problem, options, fit);
  }
  if (PyErr_Occurred()) throw py::error_already_set();
  raise_status(status);
  auto a = new_array<double>(self.points());
  std::copy(fit.a.begin(), fit.a.end(), a.mutable_data());
  py::dict result;
  result["a"] = a;
  result["intercept"] = fit.intercept;
  result["primal"] = fit.primal;
  result["gap"] = fit.gap;
  result["rounding"] = fit.rounding;
  result["iterations"] = fit.iterations;
  result["rounds"] = fit.rounds;
  result["rows"] = fit.rows;
  result["converged"] = fit.converged;
  result["indefinite"] = fit.indefinite;
  return result;
}

}  // namespace

void bind_support(py::module_& module) {
  py::class_<Solver>(module, "SupportSolver")
      .def(py::init<const kernsel::Kernel&, const py::object&, double, Numbers>(), py::arg("kernel"), py::arg("X"),
           py::arg("megabytes"), py::arg("noise"))
      .def("solve", &solve, py::arg("y"), py::arg("lower"), py::arg("upper"), py::arg("epsilon"), py::arg("intercept"),
           py::arg("total"), py::arg("start"), py::arg("tolerance"), py::arg("iterations"), py::arg("shrinking"),
           py::arg("working_set"));
}
