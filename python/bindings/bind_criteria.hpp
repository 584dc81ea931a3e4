#pragma once

#include <memory>

#include "bind_factor.hpp"
#include "kernsel/factor.hpp"

// A factor of the kernel matrix that evaluations share, one after the other: its memory is kept.
struct Workspace {
  std::unique_ptr<kernsel::Factor> factor = kernsel::dense_factor();
  FactorLock lock;
};
