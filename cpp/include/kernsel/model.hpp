// Models in files: reading those that kernsel.save has written in Python, to predict with and to update them, and writing.
//
//     Model model;
//     Status status = load_model("model.ksl", model);
//     if (status.ok()) status = model.predict(rows(Z, m, model.columns()), rows(mean, m, model.outputs()));
//
// Where observations have a likelihood that is not the normal one, such as counts, predict is of the latent function f, and
//
//     model.predict_observations(rows(Z, m, model.columns()), exposure, mean, variance);
//
// of the observations.
//
// Models of these Python classes can be read: GaussianProcessRegressor, KernelRidge, KernelRidgeCV, KernelInterpolator, SVR,
// and RidgeRegression on the columns of X or on RadialBasis. Classifiers, other features, and kernels with Python functions
// cannot.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernsel/conjugate_gradients.hpp"
#include "kernsel/likelihood.hpp"
#include "kernsel/nystrom_posterior.hpp"
#include "kernsel/posterior.hpp"
#include "kernsel/vecchia_posterior.hpp"

namespace kernsel {

// The unit of the targets, with one number for each output: a target is that of the posterior times `factor`, plus `offset`,
// and the variance of an output is that of the process times `scale`. Empty vectors stand for 1, 0 and 1.
struct Units {
  std::vector<double> factor, offset, scale;
};

class Model {
 public:
  Model();
  // A posterior of targets in some unit. `least` is a lower limit of variances, the size to which rounding may change zero.
  explicit Model(DensePosterior posterior, Units units = {}, double least = 0.0);
  explicit Model(VecchiaPosterior posterior, Units units = {}, double least = 0.0);
  explicit Model(NystromPosterior posterior, Units units = {}, double least = 0.0);
  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

  const std::string& estimator() const;  // the name of the class in Python; empty before a model is loaded
  Index points() const;                  // the number of points from which predictions are computed
  Index columns() const;
  Index outputs() const;
  bool has_deviations() const;  // whether it is a Gaussian process, which has standard deviations
  const Kernel& kernel() const;
  // The posterior from which predictions are computed, in its own unit; nullptr for a linear function of the columns. One by
  // landmarks whose means were refined says all but these means.
  const Posterior* posterior() const;

  // mean, (m, outputs), at the points Z, (m, columns).
  Status predict(View<const double> Z, View<double> mean) const;
  // Also the standard deviation of the function, that of noisy=False in Python. For a model from a file, the first call
  // factorizes the kernel matrix in n^3/3 operations.
  Status predict(View<const double> Z, View<double> mean, View<double> deviation) const;
  // Their derivatives with respect to the points, (m, columns outputs), with the index of the output varying fastest. The view
  // of the deviation may be empty.
  Status predict_gradient(View<const double> Z, View<double> mean, View<double> deviation) const;

  // The likelihood of observations given f, with the parameters that were found; nullptr where it is the normal one.
  const Likelihood* likelihood() const;
  // The observations of a Gaussian process of one output have this likelihood: its posterior is that of f.
  Status set_likelihood(std::shared_ptr<const Likelihood> likelihood);
  // Mean and variance of new observations at points, (m) each, for a model that has a likelihood. `size` is what it knows of
  // each point, such as its exposure, (m), or nullptr for ones.
  Status predict_observations(View<const double> Z, const double* size, double* mean, double* variance) const;
  // The least values up to which the predictive probability is at least each of some levels between 0 and 1, (m, levels).
  Status predict_quantiles(View<const double> Z, const double* size, const std::vector<double>& levels,
                           View<double> quantiles) const;

  // Add points with targets, (m, outputs), and noise variances, (m), in the unit of the posterior, or remove point i, in O(n^2)
  // for each point. Only for Gaussian processes, and not if means were refined or there is a likelihood, whose targets would be
  // others.
  Status append(View<const double> X, View<const double> y, View<const double> noise);
  Status remove(Index i);

  // Means of a posterior by landmarks, which has kept its rows, become those of the whole kernel matrix, whose coefficients
  // solve_by_conjugate_gradients has found. Deviations stay as they are.
  Status refine(const Solution& solution);

 private:
  friend Status load_model(const char* path, Model& model);
  friend Status save_model(const char* path, const Model& model);
  struct Content;
  void take(Units units, double least);
  std::unique_ptr<Content> content_;
};

// Reads a file, which need not be trusted: sizes are compared with its length before anything is allocated. On failure `model`
// is unchanged.
Status load_model(const char* path, Model& model);

// Writes a model that load_model can read. Fails for kernels and trends with functions of the caller.
Status save_model(const char* path, const Model& model);

}  // namespace kernsel
