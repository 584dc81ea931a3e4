#pragma once

#include <memory>

#include "bind_factor.hpp"
#include "kernsel/factor.hpp"

// A factor of the kernel matrix whose memory successive evaluations share.
struct Workspace {
  std::unique_ptr<kernsel::Factor> factor = kernsel::dense_factor();
  FactorLock lock;
};
