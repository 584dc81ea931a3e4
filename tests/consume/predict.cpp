// Models of Python without Python: reads m and d, then points Z (m x d) from standard input, and for each file that is named
// prints what model it is, its predictions at Z, and their standard deviations if it has some, and for a model with a
// likelihood those of observations; or what is wrong with the file.
#include <cstdio>
#include <iostream>
#include <vector>

#include <kernsel/model.hpp>

using kernsel::Index;
using kernsel::Status;

namespace {

void print(const char* name, const std::vector<double>& values) {
  std::printf("%s", name);
  for (const double value : values) std::printf(" %.17g", value);
  std::printf("\n");
}

Status predict(const char* path, const std::vector<double>& z, Index m, Index d) {
  kernsel::Model model;
  Status status = kernsel::load_model(path, model);
  if (!status.ok()) return status;
  std::printf("model %s %td %td %td\n", model.estimator().c_str(), model.points(), model.columns(), model.outputs());
  const auto size = static_cast<std::size_t>(m * model.outputs());
  std::vector<double> mean(size), deviation(size);
  const auto Z = kernsel::rows(z.data(), m, d);
  const auto means = kernsel::rows(mean.data(), m, model.outputs());
  const auto deviations = kernsel::rows(deviation.data(), m, model.outputs());
  status = model.has_deviations() ? model.predict(Z, means, deviations) : model.predict(Z, means);
  if (!status.ok()) return status;
  print("mean", mean);
  if (model.has_deviations()) print("deviation", deviation);
  if (!model.likelihood()) return status;
  const std::vector<double> levels = {0.1, 0.5};
  std::vector<double> quantiles(2 * size);
  status = model.predict_observations(Z, nullptr, mean.data(), deviation.data());
  if (status.ok()) status = model.predict_quantiles(Z, nullptr, levels, kernsel::rows(quantiles.data(), m, Index(2)));
  if (!status.ok()) return status;
  std::printf("likelihood %s\n", model.likelihood()->name().c_str());
  print("observed", mean);
  print("variance", deviation);
  print("quantiles", quantiles);
  return status;
}

}  // namespace

int main(int count, char** paths) {
  Index m = 0, d = 0;
  std::cin >> m >> d;
  std::vector<double> z(static_cast<std::size_t>(m * d));
  for (double& value : z) std::cin >> value;
  for (int i = 1; i < count; ++i) {
    const Status status = predict(paths[i], z, m, d);
    if (!status.ok()) std::printf("failed %d %s\n", static_cast<int>(status.code), status.message);
  }
}
