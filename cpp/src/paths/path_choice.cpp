// The choice of lambda by a rule: the best value of a grid, refined between its neighbours.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "paths/content.hpp"

namespace kernsel {

namespace {

// The sign by which the curve of a rule is multiplied, so that it is to be minimized.
double sign_of(PathRule rule) {
  switch (rule) {
    case PathRule::likelihood:
    case PathRule::restricted_likelihood:
    case PathRule::profiled_likelihood:
    case PathRule::profiled_restricted_likelihood:
    case PathRule::l_curve:
      return -1.0;
    default:
      return 1.0;
  }
}

// `count` numbers from `low` to `high` at equal ratios.
std::vector<double> geometric(double low, double high, int count) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i)
    values.push_back(i == 0 ? low : i + 1 == count ? high : low * std::pow(high / low, i / (count - 1.0)));
  return values;
}

// The minimum of f in a < x < b, to `tolerance`: parabolas through the three best points, and golden sections where these lead
// out of the interval or do not get shorter (Brent's method).
template <class F>
Status minimize(double a, double b, double tolerance, const F& f, double& x, double& value) {
  const double golden = 0.5 * (3.0 - std::sqrt(5.0));
  x = a + golden * (b - a);
  Status status = f(x, value);
  double second = x, third = x, f_second = value, f_third = value, step = 0.0, before = 0.0;
  for (int i = 0; i < 500 && status.ok(); ++i) {
    const double middle = 0.5 * (a + b), least = 1.5e-8 * std::abs(x) + tolerance / 3.0;
    if (std::abs(x - middle) <= 2.0 * least - 0.5 * (b - a)) break;
    // The vertex of the parabola is x + p / q.
    const double r = (x - second) * (value - f_third), s = (x - third) * (value - f_second);
    double p = (x - third) * s - (x - second) * r, q = 2.0 * (s - r);
    if (q > 0.0) p = -p;
    q = std::abs(q);
    const bool parabola =
        std::abs(before) > least && std::abs(p) < std::abs(0.5 * q * before) && p > q * (a - x) && p < q * (b - x);
    before = step;
    if (parabola) {
      step = p / q;
      if (x + step - a < 2.0 * least || b - x - step < 2.0 * least) step = std::copysign(least, middle - x);
    } else {
      before = x < middle ? b - x : a - x;
      step = golden * before;
    }
    const double trial = x + (std::abs(step) >= least ? step : std::copysign(least, step));
    double there = 0.0;
    status = f(trial, there);
    if (there <= value) {
      (trial < x ? b : a) = x;
      third = second;
      f_third = f_second;
      second = x;
      f_second = value;
      x = trial;
      value = there;
    } else {
      (trial < x ? a : b) = trial;
      if (there <= f_second || second == x) {
        third = second;
        f_third = f_second;
        second = trial;
        f_second = there;
      } else if (there <= f_third || third == x || third == second) {
        third = trial;
        f_third = there;
      }
    }
  }
  return status;
}

class Chooser {
 public:
  Chooser(const RegularizationPath& path, PathRule rule) : path_(path), rule_(rule), sign_(sign_of(rule)) {}

  // The curve at these values of lambda, smaller being better.
  Status curve(const std::vector<double>& alphas, std::vector<double>& out) const {
    PathValues values;
    const Status status = path_.values(alphas, values, rule_ == PathRule::loo);
    if (!status.ok()) return status;
    out = values.*curve_of(rule_);
    for (double& value : out) value *= sign_;
    return status;
  }

  // The index of the least value that is not NaN; values.size() if there is none.
  static std::size_t least_of(const std::vector<double>& values) {
    std::size_t best = values.size();
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!std::isnan(values[i]) && (best == values.size() || values[i] < values[best])) best = i;
    return best;
  }

  Status beyond_the_grid(const PathValues& grid, PathChoice& out) const {
    const std::vector<double>& given = grid.*curve_of(rule_);
    if (grid.alphas.empty() || given.size() != grid.alphas.size()) return Status::invalid("grid: expected values of the path");
    Status status = check_alphas(grid.alphas);
    if (!status.ok()) return status;
    std::vector<std::size_t> order(given.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return grid.alphas[a] < grid.alphas[b]; });
    std::vector<double> alphas, values, more, there;
    for (const std::size_t i : order) {
      alphas.push_back(grid.alphas[i]);
      values.push_back(sign_ * given[i]);
    }
    const double low = 1e-16 * path_.largest_alpha(), high = 1e12 * path_.largest_alpha();
    while (true) {  // extend the grid as long as the best value is at one of its ends
      const std::size_t best = least_of(values);
      if (best == values.size()) return Status::invalid("grid: the criterion is not a number anywhere");
      if (best == 0 && alphas.front() > low) {
        more = geometric(std::max(low, 1e-3 * alphas.front()), alphas.front(), 16);
        more.pop_back();
        status = curve(more, there);
        alphas.insert(alphas.begin(), more.begin(), more.end());
        values.insert(values.begin(), there.begin(), there.end());
      } else if (best + 1 == values.size() && alphas.back() < high) {
        more = geometric(alphas.back(), std::min(high, 1e3 * alphas.back()), 16);
        more.erase(more.begin());
        status = curve(more, there);
        alphas.insert(alphas.end(), more.begin(), more.end());
        values.insert(values.end(), there.begin(), there.end());
      } else {
        return refine(alphas[best > 0 ? best - 1 : 0], alphas[best], alphas[std::min(best + 1, alphas.size() - 1)], out);
      }
      if (!status.ok()) return status;
    }
  }

  Status interior(PathChoice& out) const {
    const std::vector<double> alphas = geometric(1e-14 * path_.largest_alpha(), 1e3 * path_.largest_alpha(), 600);
    std::vector<double> values;
    const Status status = curve(alphas, values);
    if (!status.ok()) return status;
    std::size_t best = 0;
    for (std::size_t i = 1; i + 1 < values.size(); ++i) {
      const bool minimum = values[i] < values[i - 1] && values[i] <= values[i + 1];
      if (!minimum || (rule_ == PathRule::l_curve && !(values[i] < 0.0))) continue;
      if (best == 0 || values[i] < values[best]) best = i;
    }
    if (best == 0) {
      out.outcome = rule_ == PathRule::l_curve ? PathChoice::Outcome::no_corner : PathChoice::Outcome::no_minimum;
      return status;
    }
    return refine(alphas[best - 1], alphas[best], alphas[best + 1], out);
  }

 private:
  // The minimum between `left` and `right`, or `middle`, the best of the three, if no better value is found.
  Status refine(double left, double middle, double right, PathChoice& out) const {
    out.alpha = middle;
    if (right <= left) return {};
    if (reads_rows()) return refine_by_sections(left, middle, right, out);
    const auto at = [&](double t, double& value) {
      std::vector<double> values;
      const Status status = curve({std::exp(t)}, values);
      if (status.ok()) value = values[0];
      return status;
    };
    double t = 0.0, value = 0.0, in_the_middle = 0.0;
    Status status = minimize(std::log(left), std::log(right), 1e-6, at, t, value);
    if (status.ok()) status = at(std::log(middle), in_the_middle);
    if (status.ok() && value <= in_the_middle) out.alpha = std::exp(t);
    return status;
  }

  // Whether each evaluation of the curve reads all rows, however many values of lambda it is for.
  bool reads_rows() const { return rule_ == PathRule::loo && path_.by_landmarks(); }

  // The same by three evaluations: twice the best of many values between the neighbours of the best, and then the vertex of the
  // parabola through it and its neighbours, at distances of (right / left)^(1/512).
  Status refine_by_sections(double left, double middle, double right, PathChoice& out) const {
    std::vector<double> alphas, values;
    for (int round = 0; round < 2; ++round) {
      alphas = geometric(left, right, 33);
      if (round == 0) alphas.push_back(middle);
      std::sort(alphas.begin(), alphas.end());
      const Status status = curve(alphas, values);
      if (!status.ok()) return status;
      const std::size_t best = least_of(values);
      if (best == values.size()) return {};
      middle = out.alpha = alphas[best];
      left = alphas[best > 0 ? best - 1 : 0];
      right = alphas[std::min(best + 1, alphas.size() - 1)];
      if (right <= left) return {};
      if (round == 1 && left < middle && middle < right) {
        const double a = std::log(left / middle), b = std::log(right / middle);
        const double fall = values[best - 1] - values[best], rise = values[best + 1] - values[best];
        const double bend = fall * b - rise * a;
        if (bend > 0.0) out.alpha = middle * std::exp(0.5 * (fall * b * b - rise * a * a) / bend);
      }
    }
    return {};
  }

  const RegularizationPath& path_;
  const PathRule rule_;
  const double sign_;
};

// Solves |lambda c|^2 = tau^2 n m sigma^2 by Newton's method for |lambda c|^-1 in beta = 1 / lambda: increasing and concave, so
// that the iteration is monotone from 0.
Status discrepancy(const RegularizationPath::Content& content, double tau, PathChoice& out) {
  if (!(content.noise > 0.0)) return Status::invalid("sigma: discrepancy needs the standard deviation of the noise");
  if (!(tau > 0.0) || !std::isfinite(tau)) return Status::invalid("tau: expected a positive number");
  const std::vector<double>&e = content.spectrum->e, &energy = content.energy;
  const double sigma = content.noise / content.y_unit;
  const double target = tau * tau * static_cast<double>(content.n() * content.m()) * sigma * sigma;
  double stays = content.energy_of_rest, total = content.energy_of_rest;
  for (std::size_t j = 0; j < e.size(); ++j) {
    total += energy[j];
    if (e[j] <= 1e-14 * content.largest()) stays += energy[j];
  }
  out.norm = content.y_unit * std::sqrt(total);
  out.wanted = content.y_unit * std::sqrt(target);
  out.least = content.y_unit * std::sqrt(stays);
  if (target >= total || target <= stays) {
    out.outcome = target >= total ? PathChoice::Outcome::noise_is_all : PathChoice::Outcome::noise_too_small;
    return {};
  }
  double beta = 0.0;
  for (int i = 0; i < 200; ++i) {
    double square = content.energy_of_rest, slope = 0.0;
    for (std::size_t j = 0; j < e.size(); ++j) {
      const double scaled = 1.0 / (1.0 + beta * e[j]), part = energy[j] * scaled * scaled;
      square += part;
      slope += e[j] * part * scaled;
    }
    if (std::abs(square / target - 1.0) < 1e-13) break;
    slope *= std::pow(square, -1.5);
    beta += (1.0 / std::sqrt(target) - 1.0 / std::sqrt(square)) / slope;
  }
  out.alpha = 1.0 / beta / content.per_alpha;
  return {};
}

}  // namespace

std::vector<double> PathValues::*curve_of(PathRule rule) {
  switch (rule) {
    case PathRule::loo:
      return &PathValues::loo;
    case PathRule::gcv:
      return &PathValues::gcv;
    case PathRule::likelihood:
      return &PathValues::log_likelihood;
    case PathRule::restricted_likelihood:
      return &PathValues::restricted_log_likelihood;
    case PathRule::profiled_likelihood:
      return &PathValues::profiled_log_likelihood;
    case PathRule::profiled_restricted_likelihood:
      return &PathValues::profiled_restricted_log_likelihood;
    case PathRule::risk:
      return &PathValues::risk;
    case PathRule::discrepancy:
      return &PathValues::residual_norm;
    case PathRule::l_curve:
      return &PathValues::curvature;
    case PathRule::quasi_optimality:
      break;
  }
  return &PathValues::quasi_optimality;
}

Status RegularizationPath::best(PathRule rule, const PathValues& grid, PathChoice& out, double tau) const {
  return within_memory([&]() -> Status {
    if (!content_) return Status::invalid("path: nothing has been decomposed");
    out = {};
    if (rule == PathRule::discrepancy) return discrepancy(*content_, tau, out);
    if (rule == PathRule::risk && !(content_->noise > 0.0))
      return Status::invalid("sigma: the risk needs the standard deviation of the noise");
    const Chooser chooser(*this, rule);
    const bool interior = rule == PathRule::l_curve || rule == PathRule::quasi_optimality;
    return interior ? chooser.interior(out) : chooser.beyond_the_grid(grid, out);
  });
}

}  // namespace kernsel
