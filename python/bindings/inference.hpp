// What Python keeps of observations of a likelihood, between evaluations and after a search.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernsel/inference.hpp"
#include "likelihood_given.hpp"

// A likelihood with the sizes of observations, and the last inference with it.
struct Observed {
  SharedLikelihood likelihood;
  kernsel::Inference inference = kernsel::Inference::laplace;
  std::vector<double> sizes;  // empty if they are one

  std::vector<double> targets, noise, latent;  // of the sites, and the mode or mean of the latent values
  kernsel::Index steps = 0;
  bool converged = false;

  // The factor for these observations around another, which begins where the last inference ended.
  std::unique_ptr<kernsel::LatentFactor> around(kernsel::Factor& factor) const;
  void keep(const kernsel::LatentFactor& factor);
};

kernsel::Inference inference_named(const std::string& name);
