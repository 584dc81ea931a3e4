// Likelihoods by name: what a file says of one.
#include <algorithm>
#include <cmath>

#include "kernsel/likelihood.hpp"

namespace kernsel {

std::vector<double> Likelihood::arguments() const {
  std::vector<double> numbers;
  for (const LikelihoodParameter& p : parameters()) numbers.push_back(p.logarithm ? std::exp(p.value) : p.value);
  return numbers;
}

namespace likelihoods {

namespace {

using Made = std::shared_ptr<const Likelihood>;
using Arguments = std::vector<double>;

bool is_positive(double number) { return number > 0.0 && std::isfinite(number); }
bool is_power(double number) { return number >= 0.0 && number <= 2.0; }

struct Named {
  const char* name;
  std::size_t positive;  // the first arguments, which are positive and finite
  std::size_t others;
  bool (*allowed)(const Arguments&);  // what else is asked of them, or nullptr
  Made (*make)(const Arguments&);
};

const Named all[] = {
    {"gaussian", 1, 0, nullptr, [](const Arguments& a) { return gaussian(a[0]); }},
    {"censored_gaussian", 1, 2, [](const Arguments& a) { return a[1] < a[2]; },
     [](const Arguments& a) { return censored_gaussian(a[0], a[1], a[2]); }},
    {"student_t", 2, 0, [](const Arguments& a) { return a[1] > 1.0; },
     [](const Arguments& a) { return student_t(a[0], a[1]); }},
    {"laplace", 1, 0, nullptr, [](const Arguments& a) { return laplace(a[0]); }},
    {"asymmetric_laplace", 2, 0, [](const Arguments& a) { return a[1] < 1.0; },
     [](const Arguments& a) { return asymmetric_laplace(a[0], a[1]); }},
    {"bernoulli_logit", 0, 0, nullptr, [](const Arguments&) { return bernoulli_logit(); }},
    {"bernoulli_probit", 0, 0, nullptr, [](const Arguments&) { return bernoulli_probit(); }},
    {"binomial", 0, 0, nullptr, [](const Arguments&) { return binomial(); }},
    {"poisson", 0, 0, nullptr, [](const Arguments&) { return poisson(); }},
    {"negative_binomial", 1, 0, nullptr, [](const Arguments& a) { return negative_binomial(a[0]); }},
    {"gamma", 1, 0, nullptr, [](const Arguments& a) { return gamma(a[0]); }},
    {"beta", 1, 0, nullptr, [](const Arguments& a) { return beta(a[0]); }},
    {"log_normal", 2, 0, nullptr, [](const Arguments& a) { return log_normal(a[0], a[1]); }},
    {"logit_normal", 2, 2, [](const Arguments& a) { return a[2] < a[3] && std::isfinite(a[3] - a[2]); },
     [](const Arguments& a) { return logit_normal(a[0], a[1], a[2], a[3]); }},
    {"box_cox", 2, 1, [](const Arguments& a) { return is_power(a[2]); },
     [](const Arguments& a) { return box_cox(a[0], a[1], a[2]); }},
    {"yeo_johnson", 2, 2, [](const Arguments& a) { return std::isfinite(a[2]) && is_power(a[3]); },
     [](const Arguments& a) { return yeo_johnson(a[0], a[1], a[2], a[3]); }},
};

bool are_thresholds(const Arguments& a) {
  const auto finite = [](double number) { return std::isfinite(number); };
  const auto not_above = [](double before, double next) { return next <= before; };
  return !a.empty() && std::all_of(a.begin(), a.end(), finite) && std::adjacent_find(a.begin(), a.end(), not_above) == a.end();
}

// A noise, and as many y as z as slopes.
Made spline_of(const Arguments& a) {
  const std::size_t knots = a.empty() ? 0 : (a.size() - 1) / 3;
  if (knots < 2 || a.size() != 1 + 3 * knots || !is_positive(a[0])) return nullptr;
  const auto part = [&](std::size_t k) {
    const auto begin = a.begin() + 1 + static_cast<std::ptrdiff_t>(k * knots);
    return Arguments(begin, begin + static_cast<std::ptrdiff_t>(knots));
  };
  const Arguments y = part(0), z = part(1), slopes = part(2);
  if (!are_thresholds(y) || !are_thresholds(z) || !std::all_of(slopes.begin(), slopes.end(), is_positive)) return nullptr;
  return spline_normal(a[0], y, z, slopes);
}

}  // namespace

Status named(const std::string& name, const Arguments& arguments, Made& out) {
  constexpr const char* wrong = "likelihood: numbers that one of this name cannot have";
  if (name == "ordinal") {
    if (!are_thresholds(arguments)) return Status::invalid(wrong);
    out = ordinal(arguments);
    return {};
  }
  if (name == "spline_normal") {
    const Made made = spline_of(arguments);
    if (!made) return Status::invalid(wrong);
    out = made;
    return {};
  }
  for (const Named& one : all) {
    if (name != one.name) continue;
    const auto end_of_positive = arguments.begin() + static_cast<std::ptrdiff_t>(std::min(one.positive, arguments.size()));
    if (arguments.size() != one.positive + one.others || !std::all_of(arguments.begin(), end_of_positive, is_positive) ||
        (one.allowed && !one.allowed(arguments)))
      return Status::invalid(wrong);
    out = one.make(arguments);
    return {};
  }
  return Status::invalid("likelihood: there is none of this name");
}

}  // namespace likelihoods
}  // namespace kernsel
