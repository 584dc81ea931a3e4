// What data say of hyperparameters before any fit: where a search should start, and how far it may go.
//
// Each kind of hyperparameter (Rule, kernel.hpp) has a start and bounds. They follow the data when these are moved or measured
// in another unit.
#pragma once

#include <optional>
#include <vector>

#include "kernsel/kernel.hpp"
#include "kernsel/status.hpp"

namespace kernsel {

// A start, and bounds on either side: one number, or one for each column.
struct Proposal {
  std::vector<double> start, lower, upper;
};

// Points X, (n, d), targets y, (n, outputs) or none, and positive weights or nullptr; the arrays must stay. What is asked for
// is computed once.
class Data {
 public:
  Data(View<const double> X, View<const double> y, const double* weights = nullptr) : X_(X), y_(y), weights_(weights) {}

  Index columns() const { return X_.cols; }
  const std::vector<double>& ranges();    // of each column; 1 where it is constant
  const std::vector<double>& spacings();  // the median distance between neighbouring values of each column
  const std::vector<double>& spreads();   // standard deviations; 1 where it is constant
  const std::vector<double>& sizes();     // root mean squares; 1 where all is zero
  // The share of the targets' variance that a cubic polynomial of each column alone explains; 1 for fewer than 8 points.
  const std::vector<double>& relevance();
  double variance();  // of the targets, the mean over outputs; 1 without targets, or if they are constant

  const Proposal& propose(Rule rule);

 private:
  Proposal proposal(Rule rule);
  double best_period(Index column, double shortest, double longest) const;

  View<const double> X_, y_;
  const double* weights_;
  std::vector<double> ranges_, spacings_, spreads_, sizes_, relevance_;
  std::optional<double> variance_;
  std::optional<Proposal> proposals_[10];
};

// What is known of one number of theta, on its scale.
struct Hint {
  Rule rule = Rule::none;
  double middle = 0.0;     // the proposal of the data
  double unit = 0.0;       // of length scales: the range of the column
  double relevance = 1.0;  // of length scales: how much the column alone explains
  double columns = 1.0;    // of length scales: how many columns the kernel sees
  Index leaf = 0;          // of length scales: which of the kernels of the expression, counted from 0
  bool of_column = false;  // is it the length scale of one column alone?
};

// What a search may change in a kernel.
struct Space {
  std::vector<Index> place;   // for each hyperparameter of the kernel the number of theta that it is, or -1: it stays
  std::vector<double> theta;  // each number once, as the kernel has it
  std::vector<double> lower, upper;
  std::vector<Hint> hints;
  std::vector<Index>
      amplitudes;           // the numbers that all grow by log s if the kernel is multiplied by s; empty if there are none
  bool has_values = false;  // are there numbers in theta that were chosen, and are a start of their own?
};

// All hyperparameters of a kernel as unknowns, with starts and bounds from data. With `keep_values` the numbers that it has are
// the first start; otherwise they do not count, and the kernel of the space has those that the data propose.
Status automatic_space(Kernel& kernel, View<const double> X, View<const double> y, const double* weights, bool keep_values,
                       Space& out);

// A hyperparameter of so many numbers that begin at `begin` in theta (-1: it stays), whose data see the columns that the kernel
// sees: the hints for them.
struct Anchor {
  Rule rule;
  Index begin, count;
  bool logarithm;
  Data* data;
};
void hints_of(const std::vector<Anchor>& anchors, std::vector<Hint>& hints);

}  // namespace kernsel
