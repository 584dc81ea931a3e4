#include "inference/mixing.hpp"

#include <cmath>

namespace kernsel {

namespace {

constexpr std::size_t remembered = 6;  // places
constexpr double dependent = 1e-8;     // what is left of a column that is taken for a combination of the others

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void add(double factor, const std::vector<double>& from, std::vector<double>& to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * from[i];
}

}  // namespace

std::vector<double> Mixing::next(const std::vector<double>& here, const std::vector<double>& change,
                                 const std::vector<double>& unit, double share) {
  if (places_.size() == remembered) {
    places_.erase(places_.begin());
    changes_.erase(changes_.begin());
  }
  places_.push_back(here);
  changes_.push_back(change);
  std::vector<double> there = here, rest = change;
  add(share, change, there);
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] *= unit[i];
  // Modified Gram-Schmidt, the latest differences first. Beside each orthogonal column is the step that it stands for.
  std::vector<std::vector<double>> basis, steps;
  for (std::size_t k = places_.size() - 1; k-- > 0;) {
    std::vector<double> column(here.size()), step(here.size());
    for (std::size_t i = 0; i < here.size(); ++i) {
      const double difference = changes_[k + 1][i] - changes_[k][i];
      column[i] = difference * unit[i];
      step[i] = places_[k + 1][i] - places_[k][i] + share * difference;
    }
    const double size = dot(column, column);
    for (std::size_t b = 0; b < basis.size(); ++b) {
      const double part = dot(basis[b], column);
      add(-part, basis[b], column);
      add(-part, steps[b], step);
    }
    const double left = dot(column, column);
    if (!(left > dependent * dependent * size)) continue;
    for (std::vector<double>* values : {&column, &step})
      for (double& value : *values) value /= std::sqrt(left);
    const double weight = dot(column, rest);
    add(-weight, step, there);
    add(-weight, column, rest);
    basis.push_back(std::move(column));
    steps.push_back(std::move(step));
  }
  return there;
}

}  // namespace kernsel
