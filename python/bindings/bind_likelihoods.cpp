#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "arrays.hpp"
#include "compute.hpp"
#include "errors.hpp"
#include "likelihood_given.hpp"
#include "module.hpp"

namespace py = pybind11;
using kernsel::Index;
using kernsel::Likelihood;
using Numbers = std::vector<double>;

namespace {

// Vectors of one length, without gaps.
class Rows {
 public:
  const double* of(const py::object& object, const char* name) {
    Input input(object, name, 1);
    input.to(false);
    if (count_ >= 0 && input.rows() != count_)
      raise_value_error(std::string(name) + ": expected " + std::to_string(count_) + " numbers, got " +
                        std::to_string(input.rows()));
    count_ = input.rows();
    Numbers& values = kept_.emplace_back(static_cast<std::size_t>(count_));
    const auto view = input.view<double>();
    for (Index i = 0; i < count_; ++i) values[static_cast<std::size_t>(i)] = view(i, 0);
    return values.data();
  }
  const double* if_given(const py::object& object, const char* name) { return object.is_none() ? nullptr : of(object, name); }
  Index count() const { return count_; }

 private:
  std::vector<Numbers> kept_;  // vectors move with their memory
  Index count_ = -1;
};

kernsel::Observations observations(Rows& rows, const py::object& y, const py::object& size) {
  const double* values = rows.of(y, "y");
  return {rows.count(), values, rows.if_given(size, "size")};
}

kernsel::Latent latent(Rows& rows, const py::object& f, const py::object& size) {
  const double* values = rows.of(f, "f");
  return {rows.count(), values, rows.if_given(size, "size")};
}

kernsel::LatentNormal margins(Rows& rows, const py::object& mean, const py::object& variance, const py::object& size) {
  const double *m = rows.of(mean, "mean"), *v = rows.of(variance, "variance");
  return {rows.count(), m, v, rows.if_given(size, "size")};
}

// "y: expected counts, got -1 in row 3"
void raise_wrong_row(const kernsel::Status& status) {
  if (status.code != kernsel::Code::invalid_argument || status.pivot < 0) return raise_status(status);
  raise_value_error(std::string(status.message) + ", got " + py::repr(py::float_(status.value)).cast<std::string>() +
                    " in row " + std::to_string(status.pivot));
}

// An array of shape (rows, numbers of a T), filled by f(T*).
template <class T, class F>
py::array_t<double> structures(Index count, const F& f) {
  auto out = new_array<double>(count, Index(sizeof(T) / sizeof(double)));
  auto* data = reinterpret_cast<T*>(out.mutable_data());
  compute([&] { return f(data); });
  return out;
}

template <class F>
py::array_t<double> numbers(Index count, const F& f) {
  auto out = new_array<double>(count);
  double* data = out.mutable_data();
  compute([&] { return f(data); });
  return out;
}

template <class F>
py::tuple two(Index count, const F& f) {
  auto first = new_array<double>(count), second = new_array<double>(count);
  double *a = first.mutable_data(), *b = second.mutable_data();
  compute([&] { return f(a, b); });
  return py::make_tuple(first, second);
}

py::list listed(const std::vector<kernsel::LikelihoodParameter>& parameters) {
  py::list out;
  for (const auto& p : parameters) out.append(py::make_tuple(p.name, p.value, p.lower, p.upper, p.logarithm));
  return out;
}

void bind_class(py::module_& module) {
  const py::arg_v size("size", py::none());
  py::class_<Likelihood, SharedLikelihood>(module, "Likelihood")
      .def_property_readonly("name", &Likelihood::name)
      .def_property_readonly("parameters", [](const Likelihood& self) { return listed(self.parameters()); })
      .def_property_readonly("arguments", &Likelihood::arguments)
      .def_property_readonly("log_concave", &Likelihood::is_log_concave)
      .def(
          "outcomes",
          [](const Likelihood& self, double one) {
            const kernsel::Outcomes of = self.outcomes(one);
            return py::make_tuple(of.lower, of.upper, of.discrete);
          },
          py::arg("size") = 1.0)
      .def(
          "with_values",
          [](const Likelihood& self, const Numbers& values) {
            const std::size_t count = self.parameters().size();
            if (values.size() != count)
              raise_value_error("values: expected " + std::to_string(count) + " numbers, got " + std::to_string(values.size()));
            return held(self.with(values));
          })
      .def(
          "start",
          [](const Likelihood& self, const py::object& y, const py::object& sizes) {
            Rows rows;
            return listed(self.start(observations(rows, y, sizes)));
          },
          py::arg("y"), size)
      .def(
          "check",
          [](const Likelihood& self, const py::object& y, const py::object& sizes) {
            Rows rows;
            const auto of = observations(rows, y, sizes);
            raise_wrong_row(compute_status([&] { return self.check(of); }));
          },
          py::arg("y"), size)
      .def(
          "check_sizes",
          [](const Likelihood& self, const py::object& sizes) {
            Rows rows;
            const double* values = rows.of(sizes, "size");
            raise_wrong_row(compute_status([&] { return self.check_sizes(rows.count(), values); }));
          },
          py::arg("size"))
      .def(
          "rough",
          [](const Likelihood& self, const py::object& y, const py::object& sizes) {
            Rows rows;
            const auto of = observations(rows, y, sizes);
            return numbers(of.count, [&](double* out) { return self.rough(of, out); });
          },
          py::arg("y"), size)
      .def(
          "density",
          [](const Likelihood& self, const py::object& y, const py::object& f, const py::object& sizes) {
            Rows rows;
            const auto of = observations(rows, y, sizes);
            const double* at = rows.of(f, "f");
            return structures<kernsel::Density>(of.count, [&](kernsel::Density* out) { return self.density(of, at, out); });
          },
          py::arg("y"), py::arg("f"), size)
      .def(
          "density_slope",
          [](const Likelihood& self, const py::object& y, const py::object& f, Index p, const py::object& sizes) {
            Rows rows;
            const auto of = observations(rows, y, sizes);
            const double* at = rows.of(f, "f");
            return structures<kernsel::DensitySlope>(
                of.count, [&](kernsel::DensitySlope* out) { return self.density_slope(of, at, p, out); });
          },
          py::arg("y"), py::arg("f"), py::arg("p"), size)
      .def(
          "moments",
          [](const Likelihood& self, const py::object& y, const py::object& mean, const py::object& variance,
             const py::object& sizes) {
            Rows rows;
            const auto of = observations(rows, y, sizes);
            const double *m = rows.of(mean, "mean"), *v = rows.of(variance, "variance");
            return structures<kernsel::Moments>(of.count, [&](kernsel::Moments* out) { return self.moments(of, m, v, out); });
          },
          py::arg("y"), py::arg("mean"), py::arg("variance"), size)
      .def(
          "moments_slope",
          [](const Likelihood& self, const py::object& y, const py::object& mean, const py::object& variance, Index p,
             const py::object& sizes) {
            Rows rows;
            const auto of = observations(rows, y, sizes);
            const double *m = rows.of(mean, "mean"), *v = rows.of(variance, "variance");
            return numbers(of.count, [&](double* out) { return self.moments_slope(of, m, v, p, out); });
          },
          py::arg("y"), py::arg("mean"), py::arg("variance"), py::arg("p"), size)
      .def(
          "conditional",
          [](const Likelihood& self, const py::object& f, const py::object& sizes) {
            Rows rows;
            const auto at = latent(rows, f, sizes);
            return two(at.count, [&](double* a, double* b) { return self.conditional(at, a, b); });
          },
          py::arg("f"), size)
      .def(
          "probability",
          [](const Likelihood& self, const py::object& y, const py::object& f, const py::object& sizes) {
            Rows rows;
            const auto at = latent(rows, f, sizes);
            const double* values = rows.of(y, "y");
            return numbers(at.count, [&](double* out) { return self.probability(at, values, out); });
          },
          py::arg("y"), py::arg("f"), size)
      .def(
          "quantile",
          [](const Likelihood& self, const py::object& p, const py::object& f, const py::object& sizes) {
            Rows rows;
            const auto at = latent(rows, f, sizes);
            const double* values = rows.of(p, "p");
            return numbers(at.count, [&](double* out) { return self.quantile(at, values, out); });
          },
          py::arg("p"), py::arg("f"), size)
      .def(
          "predict",
          [](const Likelihood& self, const py::object& mean, const py::object& variance, const py::object& sizes) {
            Rows rows;
            const auto at = margins(rows, mean, variance, sizes);
            return two(at.count, [&](double* a, double* b) { return self.predict(at, a, b); });
          },
          py::arg("mean"), py::arg("variance"), size)
      .def(
          "predict_probability",
          [](const Likelihood& self, const py::object& y, const py::object& mean, const py::object& variance,
             const py::object& sizes) {
            Rows rows;
            const auto at = margins(rows, mean, variance, sizes);
            const double* values = rows.of(y, "y");
            return numbers(at.count, [&](double* out) { return self.predict_probability(at, values, out); });
          },
          py::arg("y"), py::arg("mean"), py::arg("variance"), size)
      .def(
          "predict_quantile",
          [](const Likelihood& self, const py::object& p, const py::object& mean, const py::object& variance,
             const py::object& sizes) {
            Rows rows;
            const auto at = margins(rows, mean, variance, sizes);
            const double* values = rows.of(p, "p");
            return numbers(at.count, [&](double* out) { return self.predict_quantile(at, values, out); });
          },
          py::arg("p"), py::arg("mean"), py::arg("variance"), size);
}

}  // namespace

void bind_likelihoods(py::module_& module) {
  namespace likelihoods = kernsel::likelihoods;
  bind_class(module);
  module.def("likelihood_given", &likelihood_given);
  module.def(
      "gaussian", [](double noise) { return held(likelihoods::gaussian(noise)); }, py::arg("noise"));
  module.def(
      "censored_gaussian",
      [](double noise, double lower, double upper) { return held(likelihoods::censored_gaussian(noise, lower, upper)); },
      py::arg("noise"), py::arg("lower"), py::arg("upper"));
  module.def(
      "student_t", [](double scale, double df) { return held(likelihoods::student_t(scale, df)); }, py::arg("scale"),
      py::arg("df"));
  module.def(
      "laplace", [](double scale) { return held(likelihoods::laplace(scale)); }, py::arg("scale"));
  module.def(
      "asymmetric_laplace",
      [](double scale, double quantile) { return held(likelihoods::asymmetric_laplace(scale, quantile)); }, py::arg("scale"),
      py::arg("quantile"));
  module.def("bernoulli_logit", [] { return held(likelihoods::bernoulli_logit()); });
  module.def("bernoulli_probit", [] { return held(likelihoods::bernoulli_probit()); });
  module.def("binomial", [] { return held(likelihoods::binomial()); });
  module.def(
      "ordinal", [](const Numbers& thresholds) { return held(likelihoods::ordinal(thresholds)); }, py::arg("thresholds"));
  module.def("poisson", [] { return held(likelihoods::poisson()); });
  module.def("heteroscedastic", [] { return held(likelihoods::heteroscedastic()); });
  module.def(
      "negative_binomial", [](double shape) { return held(likelihoods::negative_binomial(shape)); }, py::arg("shape"));
  module.def(
      "gamma", [](double shape) { return held(likelihoods::gamma(shape)); }, py::arg("shape"));
  module.def(
      "beta", [](double concentration) { return held(likelihoods::beta(concentration)); }, py::arg("concentration"));
  module.def(
      "log_normal", [](double noise, double unit) { return held(likelihoods::log_normal(noise, unit)); }, py::arg("noise"),
      py::arg("unit"));
  module.def(
      "logit_normal",
      [](double noise, double unit, double lower, double upper) {
        return held(likelihoods::logit_normal(noise, unit, lower, upper));
      },
      py::arg("noise"), py::arg("unit"), py::arg("lower"), py::arg("upper"));
  module.def(
      "box_cox", [](double noise, double unit, double power) { return held(likelihoods::box_cox(noise, unit, power)); },
      py::arg("noise"), py::arg("unit"), py::arg("power"));
  module.def(
      "yeo_johnson",
      [](double noise, double unit, double location, double power) {
        return held(likelihoods::yeo_johnson(noise, unit, location, power));
      },
      py::arg("noise"), py::arg("unit"), py::arg("location"), py::arg("power"));
  module.def(
      "spline_normal",
      [](double noise, const Numbers& y, const Numbers& z, const Numbers& slopes) {
        return held(likelihoods::spline_normal(noise, y, z, slopes));
      },
      py::arg("noise"), py::arg("y"), py::arg("z"), py::arg("slopes"));
}
