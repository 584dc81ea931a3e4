// Models that Python has written with kernsel.save, to predict with.
//
//     Model model;
//     Status status = load_model("model.ksl", model);
//     if (status.ok()) status = model.predict(rows(Z, m, model.columns()), rows(mean, m, model.outputs()));
//
// All regressions: GaussianProcessRegressor, KernelRidge, KernelRidgeCV, KernelInterpolator, SVR, and RidgeRegression on
// columns as they are or on RadialBasis. Others, and kernels with functions of Python, are refused.
#pragma once

#include <memory>
#include <string>

#include "kernsel/kernel.hpp"

namespace kernsel {

class Model {
 public:
  Model();
  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

  const std::string& estimator() const;  // the name of the class in Python; empty before a model is loaded
  Index points() const;                  // that the predictions come from
  Index columns() const;
  Index outputs() const;
  bool has_deviations() const;  // is it a Gaussian process?
  const Kernel& kernel() const;

  // mean, (m, outputs), at the points Z, (m, columns).
  Status predict(View<const double> Z, View<double> mean) const;
  // And the standard deviation, as return_std=True gives it in Python. The first call factorizes the kernel matrix, n^3/3
  // operations: not to be made by several threads at once.
  Status predict(View<const double> Z, View<double> mean, View<double> deviation);

 private:
  friend Status load_model(const char* path, Model& model);
  struct Content;
  std::unique_ptr<Content> content_;
};

// Reads a file, which may be from anywhere: sizes are compared with its length before anything is allocated. On failure `model`
// is as it was.
Status load_model(const char* path, Model& model);

}  // namespace kernsel
