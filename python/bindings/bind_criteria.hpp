#pragma once

#include <memory>

#include "bind_factor.hpp"
#include "kernsel/vecchia.hpp"

// Factors of the kernel matrix, whose memory successive evaluations share.
struct Workspace {
  std::unique_ptr<kernsel::Factor> dense = kernsel::dense_factor();
  std::unique_ptr<kernsel::VecchiaFactor> vecchia;  // made by the first evaluation that asks for it
  kernsel::Index width = 1;                         // the most neighbours that there are
  kernsel::Index columns = 1;                       // of the points
  FactorLock lock;
};

// Reads the numbers of an approximation by neighbours, (neighbours, seed, terms, inducing,
// landmarks).
kernsel::VecchiaOptions vecchia_options(const pybind11::object& numbers);
