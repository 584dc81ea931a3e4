// Starts and bounds for the search of hyperparameters, derived from the data before any fit.
//
// Each kind of hyperparameter (Rule, kernel.hpp) has a start and bounds. These change accordingly if the data are shifted or
// measured in another unit.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "kernsel/kernel.hpp"
#include "kernsel/status.hpp"

namespace kernsel {

// A start and bounds of a hyperparameter: one number, or one for each column.
struct Proposal {
  std::vector<double> start, lower, upper;
};

// Statistics of points X, (n, d), targets y, (n, outputs) or none, and positive weights or nullptr, whose arrays must outlive
// the object. Each statistic is computed when it is first asked for.
class Data {
 public:
  Data(View<const double> X, View<const double> y, const double* weights = nullptr) : X_(X), y_(y), weights_(weights) {}

  Index columns() const { return X_.cols; }
  const std::vector<double>& ranges();    // the range of each column; 1 for a constant column
  const std::vector<double>& spacings();  // the median distance between neighbouring values of each column
  const std::vector<double>& spreads();   // the standard deviation of each column; 1 for a constant column
  const std::vector<double>& sizes();     // the root mean square of each column; 1 for a column of zeros
  // The share of the targets' variance that a cubic polynomial of each column alone explains; 1 for fewer than 8 points.
  const std::vector<double>& relevance();
  double variance();  // the variance of the targets, averaged over outputs; 1 without targets, or if they are constant
  // The period of the strongest oscillation of the targets along each column. It is 0 if that is longer than a quarter of the
  // range, or no stronger than the strongest one of mere noise.
  const std::vector<double>& periods();
  // The distance of points, in ranges of the columns, at which the targets have lost half of their likeness; 0 if the nearest
  // points are as unlike as any others, or if there are too few.
  double half_distance();

  const Proposal& propose(Rule rule);

 private:
  Proposal proposal(Rule rule);
  struct Wave {
    double period, power;  // the power is |sum_i y_i exp(2 pi i x_i / period)|^2 / sum_i y_i^2, on average 1 for noise
  };
  std::vector<Index> sample(Index count) const;
  Wave strongest_wave(Index column, Index output, double shortest, double longest, Index points, Index& frequencies) const;

  View<const double> X_, y_;
  const double* weights_;
  std::vector<double> ranges_, spacings_, spreads_, sizes_, relevance_;
  std::vector<double> periods_;
  std::optional<double> variance_, half_distance_;
  std::optional<Proposal> proposals_[10];
};

// Information about one number of theta, on the scale of theta, from which starts are made.
struct Hint {
  Rule rule = Rule::none;
  double middle = 0.0;     // the start that the data propose
  double unit = 0.0;       // for length scales: the range of the column
  double relevance = 1.0;  // for length scales: the share of the targets' variance that the column alone explains
  double columns = 1.0;    // for length scales: the number of columns that the kernel depends on
  Index leaf = 0;          // for length scales: the index of the simple kernel in the expression
  bool of_column = false;  // whether it is the length scale of a single column
  // The length scales of one kernel, of distances or inner products, have the same number `alike` (-1 otherwise), and the
  // logarithms of the standard deviations of their columns as their units, times the square root of the number of columns.
  Index alike = -1;
  double of_spread = 0.0;
  // For length scales: two that are short enough to follow what the targets do, from their strongest oscillation and from the
  // distance at which they lose their likeness; logarithms, or NaN if the data show none that are shorter than usual.
  double of_wave = std::numeric_limits<double>::quiet_NaN(), of_likeness = std::numeric_limits<double>::quiet_NaN();
};

// The hyperparameters of a kernel that a search may change.
struct Space {
  std::vector<Index> place;   // for each hyperparameter of the kernel its position in theta, or -1 if it is fixed
  std::vector<double> theta;  // the values of the kernel's free hyperparameters, tied ones once
  std::vector<double> lower, upper;
  std::vector<Hint> hints;
  // The positions in theta that all grow by log s if the kernel is multiplied by s; empty if there are none.
  std::vector<Index> amplitudes;
  bool has_values = false;  // whether theta has values that the caller has chosen, which are one of the starts
};

// All hyperparameters of a kernel as unknowns, with starts and bounds from data. With `keep_values`, the values of the kernel
// are the first start; otherwise they are replaced, also in `kernel`, by those that the data propose.
Status automatic_space(Kernel& kernel, View<const double> X, View<const double> y, const double* weights, bool keep_values,
                       Space& out);

// A hyperparameter of `count` numbers that begin at `begin` in theta (-1 if it is fixed), with the data of the columns that its
// kernel depends on. hints_of() sets the hints of these numbers.
struct Anchor {
  Rule rule;
  Index begin, count;
  bool logarithm;
  Data* data;
};
void hints_of(const std::vector<Anchor>& anchors, std::vector<Hint>& hints);

}  // namespace kernsel
