// Models on disk: those that Python has written with kernsel.save, to predict with and to update; and those of C++.
//
//     Model model;
//     Status status = load_model("model.ksl", model);
//     if (status.ok()) status = model.predict(rows(Z, m, model.columns()), rows(mean, m, model.outputs()));
//
// Python's regressions: GaussianProcessRegressor, KernelRidge, KernelRidgeCV, KernelInterpolator, SVR, and RidgeRegression on
// columns as they are or on RadialBasis. Classifiers, other features, and kernels with functions of Python are refused.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernsel/posterior.hpp"

namespace kernsel {

// The unit of the targets: those of the posterior times factor, plus offset. The variance of each output is `scale` times that
// of the process. One number for each output; none for ones, zeros, and ones.
struct Units {
  std::vector<double> factor, offset, scale;
};

class Model {
 public:
  Model();
  // A posterior of targets in some unit; variances are not less than `least`, which rounding makes of zero.
  explicit Model(DensePosterior posterior, Units units = {}, double least = 0.0);
  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

  const std::string& estimator() const;  // the name of the class in Python; empty before a model is loaded
  Index points() const;                  // that the predictions come from
  Index columns() const;
  Index outputs() const;
  bool has_deviations() const;  // is it a Gaussian process?
  const Kernel& kernel() const;
  // What it is made of, in the unit of the posterior; nullptr for a linear function of the columns.
  const DensePosterior* posterior() const;

  // mean, (m, outputs), at the points Z, (m, columns).
  Status predict(View<const double> Z, View<double> mean) const;
  // And the standard deviation, as return_std=True gives it in Python. Of a model from a file the first call factorizes the
  // kernel matrix, n^3/3 operations.
  Status predict(View<const double> Z, View<double> mean, View<double> deviation) const;
  // Their derivatives in the points, (m, columns outputs), outputs running fastest; that of the deviation may be empty.
  Status predict_gradient(View<const double> Z, View<double> mean, View<double> deviation) const;

  // More points with targets, (m, outputs), and variances of noise, (m), in the unit of the posterior; or one point less:
  // O(n^2) for each. Of Gaussian processes.
  Status append(View<const double> X, View<const double> y, View<const double> noise);
  Status remove(Index i);

 private:
  friend Status load_model(const char* path, Model& model);
  friend Status save_model(const char* path, const Model& model);
  struct Content;
  std::unique_ptr<Content> content_;
};

// Reads a file, which may be from anywhere: sizes are compared with its length before anything is allocated. On failure `model`
// is as it was.
Status load_model(const char* path, Model& model);

// Writes a model for load_model. Refuses kernels with functions of the caller's, and trends that are such.
Status save_model(const char* path, const Model& model);

}  // namespace kernsel
