#include <pybind11/stl.h>

#include "arrays.hpp"
#include "errors.hpp"
#include "inference.hpp"
#include "module.hpp"

namespace py = pybind11;
using kernsel::Index;
using Numbers = std::vector<double>;

kernsel::Inference inference_named(const std::string& name) {
  if (name == "laplace") return kernsel::Inference::laplace;
  if (name == "ep") return kernsel::Inference::expectation_propagation;
  raise_value_error("inference: expected \"laplace\" or \"ep\", got \"" + name + "\"");
}

std::unique_ptr<kernsel::LatentFactor> Observed::around(kernsel::Factor& factor) const {
  auto made = kernsel::latent_factor(inference, likelihood, factor);
  if (!latent.empty()) made->begin_at(latent);
  return made;
}

void Observed::keep(const kernsel::LatentFactor& factor) {
  targets = factor.site_targets();
  noise = factor.site_noise();
  latent = factor.latent();
  steps = factor.steps();
  converged = factor.converged();
}

void bind_inference(py::module_& module) {
  const auto array = [](const Numbers& values) {
    auto out = new_array<double>(static_cast<Index>(values.size()));
    std::copy(values.begin(), values.end(), out.mutable_data());
    return out;
  };
  py::class_<Observed>(module, "Observed")
      .def(py::init([](SharedLikelihood likelihood, const std::string& inference, Numbers sizes) {
             auto made = std::make_unique<Observed>();
             made->likelihood = std::move(likelihood);
             made->inference = inference_named(inference);
             made->sizes = std::move(sizes);
             return made;
           }),
           py::arg("likelihood"), py::arg("inference"), py::arg("sizes"))
      .def_property_readonly("targets", [array](const Observed& self) { return array(self.targets); })
      .def_property_readonly("noise", [array](const Observed& self) { return array(self.noise); })
      .def_property_readonly("latent", [array](const Observed& self) { return array(self.latent); })
      .def_readonly("steps", &Observed::steps)
      .def_readonly("converged", &Observed::converged);
}
