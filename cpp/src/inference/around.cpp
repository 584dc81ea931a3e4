#include "inference/around.hpp"

#include <algorithm>
#include <limits>

#include "kernsel/gram.hpp"

namespace kernsel {

Status AroundFactor::prepare(const Kernel& k, const Problem& problem, double least) {
  problem_ = problem;
  if (problem.y.cols != 1) return Status::invalid("a likelihood has one output; fit a model for each");
  y_.resize(n());
  for (std::size_t i = 0; i < n(); ++i) y_[i] = problem.y(static_cast<Index>(i), 0);
  Status status = likelihood_->check(observations());
  if (!status.ok()) return status;
  std::vector<double> diagonal(n());
  status = gram_diagonal<double>(k, problem.X, vector(diagonal.data(), problem.X.rows));
  double size = 0.0;
  for (const double value : diagonal) size += value / static_cast<double>(n());
  if (!status.ok()) return status;
  std::vector<double> rough(n());
  std::vector<Density> densities(n());
  status = likelihood_->rough(observations(), rough.data());
  if (status.ok()) status = likelihood_->density(observations(), rough.data(), densities.data());
  double most = 0.0;
  for (const Density& at : densities) most = std::max(most, at.precision);
  // Measured by a prior of no variance, every site would be held.
  const double of_prior = 1.0 / std::max(size, std::numeric_limits<double>::min() / least);
  least_ = least * (most > 0.0 ? std::min(most, of_prior) : of_prior);
  return status;
}

Status AroundFactor::fit_targets(const Kernel& k, const std::vector<double>& targets, const std::vector<double>& noise,
                                 const Request& request, bool differentiable) {
  all_noise_ = noise;
  for (std::size_t i = 0; i < n() && problem_.noise.rows > 0; ++i)
    all_noise_[i] += problem_.noise(problem_.noise.rows == 1 ? 0 : static_cast<Index>(i), 0);
  Problem here = problem_;
  here.y = vector(targets.data(), problem_.X.rows);
  here.noise = vector(static_cast<const double*>(all_noise_.data()), problem_.X.rows);
  here.weights = nullptr;  // the sites have them
  if (problem_.unknown_noise.rows == 0) here.unknown_noise = problem_.noise;
  return factor_.show(k, here, request, differentiable, fit_);
}

}  // namespace kernsel
