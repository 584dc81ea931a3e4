#include "likelihood_given.hpp"

#include <pybind11/stl.h>

#include <string>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "functions.hpp"

namespace py = pybind11;
using kernsel::Index;
using kernsel::Latent;
using kernsel::Observations;

namespace {

using Parameters = std::vector<std::tuple<std::string, double, double, double, bool>>;

py::object array_of(Index count, const double* values) {
  if (!values) return py::none();
  auto array = new_array<double>(count);
  std::copy(values, values + count, array.mutable_data());
  return array;
}

// Copies an array of shape (count, the numbers of a T), which is what the method returned.
template <class T>
void copy_structures(const py::object& result, const char* name, Index count, T* out) {
  static_assert(sizeof(T) % sizeof(double) == 0);
  copy_result(result, name, kernsel::rows(reinterpret_cast<double*>(out), count, Index(sizeof(T) / sizeof(double))));
}

}  // namespace

SharedLikelihood likelihood_given(const py::object& object) {
  const auto self = shared_object(object);
  kernsel::LikelihoodFunctions f;
  f.name = object.attr("name").cast<std::string>();
  for (const auto& [name, value, lower, upper, logarithm] : object.attr("parameters").cast<Parameters>())
    f.parameters.push_back({name, value, lower, upper, logarithm});
  f.log_concave = object.attr("log_concave").cast<bool>();
  std::tie(f.outcomes.lower, f.outcomes.upper, f.outcomes.discrete) =
      object.attr("outcomes").cast<std::tuple<double, double, bool>>();
  f.check = [self](const Observations& of) {
    const py::gil_scoped_acquire gil;
    self->attr("check")(array_of(of.count, of.y), array_of(of.count, of.size));
  };
  f.check_sizes = [self](Index count, const double* size) {
    const py::gil_scoped_acquire gil;
    self->attr("check_sizes")(array_of(count, size));
  };
  f.rough = [self](const Observations& of, double* out) {
    const py::gil_scoped_acquire gil;
    copy_result(self->attr("rough")(array_of(of.count, of.y), array_of(of.count, of.size)), "rough",
                kernsel::vector(out, of.count));
  };
  f.density = [self](const Observations& of, const double* at, kernsel::Density* out) {
    const py::gil_scoped_acquire gil;
    copy_structures(self->attr("density")(array_of(of.count, of.y), array_of(of.count, at), array_of(of.count, of.size)),
                    "density", of.count, out);
  };
  f.slope = [self](const Observations& of, const double* at, Index p, kernsel::DensitySlope* out) {
    const py::gil_scoped_acquire gil;
    copy_structures(
        self->attr("density_slope")(array_of(of.count, of.y), array_of(of.count, at), p, array_of(of.count, of.size)),
        "density_slope", of.count, out);
  };
  f.conditional = [self](const Latent& at, double* mean, double* variance) {
    const py::gil_scoped_acquire gil;
    const auto both = self->attr("conditional")(array_of(at.count, at.f), array_of(at.count, at.size)).cast<py::tuple>();
    copy_result(both[0], "conditional mean", kernsel::vector(mean, at.count));
    copy_result(both[1], "conditional variance", kernsel::vector(variance, at.count));
  };
  f.probability = [self](const Latent& at, const double* y, double* out) {
    const py::gil_scoped_acquire gil;
    copy_result(self->attr("probability")(array_of(at.count, y), array_of(at.count, at.f), array_of(at.count, at.size)),
                "probability", kernsel::vector(out, at.count));
  };
  f.with = [self](const std::vector<double>& values) -> std::shared_ptr<const kernsel::Likelihood> {
    const py::gil_scoped_acquire gil;
    return likelihood_given(self->attr("with_values")(values));
  };
  return held(kernsel::likelihoods::of_functions(std::move(f)));
}
