// Likelihoods that are Python objects.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "kernsel/likelihood.hpp"

using SharedLikelihood = std::shared_ptr<kernsel::Likelihood>;

// pybind11 holds no pointers to constants; nothing changes a likelihood.
inline SharedLikelihood held(const std::shared_ptr<const kernsel::Likelihood>& likelihood) {
  return std::const_pointer_cast<kernsel::Likelihood>(likelihood);
}

// Wraps a Python object with methods for whole arrays, see `_core.pyi`.
SharedLikelihood likelihood_given(const pybind11::object& object);
