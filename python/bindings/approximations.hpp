#pragma once

#include <functional>
#include <memory>

#include "arrays.hpp"
#include "bind_factor.hpp"
#include "kernsel/nystrom.hpp"
#include "kernsel/vecchia.hpp"

// Factors of the kernel matrix, whose memory successive evaluations share.
struct Workspace {
  std::unique_ptr<kernsel::Factor> dense = kernsel::dense_factor();
  std::unique_ptr<kernsel::VecchiaFactor> vecchia;  // made by the first evaluation that asks for it
  std::unique_ptr<kernsel::NystromFactor> nystrom;  // likewise
  kernsel::Index width = 1;                         // the most neighbours that there are
  kernsel::Index columns = 1;                       // of the points
  FactorLock lock;
};

// Whether an approximation is one by landmarks: its first item is then that word.
bool has_landmarks(const pybind11::object& approximation);
// Reads the numbers of an approximation by neighbours, (neighbours, seed, terms, inducing, landmarks, ordered, features), where
// each feature is (column, scale, period).
kernsel::VecchiaOptions vecchia_options(const pybind11::object& numbers);
// Reads those of one by landmarks, ("landmarks", number, placement, seed, bound, coordinates).
kernsel::NystromOptions nystrom_options(const pybind11::object& numbers);

// Returns a function that makes the factor for an approximation, or for None, ready for a kernel and points.
using FactorFor = std::function<kernsel::Factor&(const kernsel::Kernel& k, kernsel::View<const double> X)>;
FactorFor factor_of(const pybind11::object& approximation, Workspace& workspace);

// An array of rows of so many columns.
pybind11::array_t<double> by_rows(const std::vector<double>& values, kernsel::Index columns);
