#pragma once

#include "bind_factor.hpp"
#include "kernsel/criteria.hpp"

// A criterion of either form.
struct AnyCriterion {
  kernsel::Criterion criterion;
  kernsel::Folds folds;
};

// Memory that evaluations share, one after the other.
struct Workspace {
  kernsel::LowerTiles<double> tiles;
  FactorLock lock;
};
