#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <shared_mutex>

#include "kernsel/factor.hpp"

// A Cholesky factor that Python owns. Methods run without the GIL, so reading and changing it are kept apart here.
template <class T>
struct Factor {
  kernsel::LowerTiles<T> tiles;
  mutable std::shared_mutex mutex;
};
