// Anderson mixing: the fixed point of a map from the values and the changes of its last steps.
#pragma once

#include <vector>

namespace kernsel {

class Mixing {
 public:
  // The next place after `here`, from which the map leads to here + change: with the weights g that make the combination
  // change - D g of the last changes smallest, here + share change - (M + share D) g. D and M have the differences of the last
  // changes and places in their columns. `unit` multiplies changes before their size is measured.
  std::vector<double> next(const std::vector<double>& here, const std::vector<double>& change, const std::vector<double>& unit,
                           double share);
  void forget() { places_.clear(), changes_.clear(); }

 private:
  std::vector<std::vector<double>> places_, changes_;  // the earliest first
};

}  // namespace kernsel
