// Increasing functions g of an observation, by which g(y) is normal.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "kernsel/likelihood.hpp"

namespace kernsel {
namespace likelihoods {

// g(y) and log g'(y), and their derivatives in the power.
struct Warped {
  double z = 0.0, log_slope = 0.0;
  double z_in_power = 0.0, log_slope_in_power = 0.0;
};

class Warp {
 public:
  virtual ~Warp() = default;
  virtual const char* name() const = 0;               // of the likelihood
  virtual std::vector<double> arguments() const = 0;  // of its function, after the noise
  virtual const char* fault(double y) const = 0;      // what is wrong with y, or nullptr
  virtual Outcomes outcomes() const { return {}; }    // the limits of y
  virtual Warped at(double y) const = 0;
  virtual double inverse(double z) const = 0;               // the y of g(y) = z; the nearest limit of y if there is none
  virtual std::vector<double> kinks() const { return {}; }  // the z between which the inverse is smooth
  // log y, or log |y|, grows by at most 1 / unit for each unit of z.
  virtual double unit() const { return std::numeric_limits<double>::infinity(); }
  // The parameter, a power from 0 to 2; nullptr if there is none.
  virtual const double* power() const { return nullptr; }
  virtual std::shared_ptr<const Warp> with_power(double) const { return nullptr; }
};

// (exp(p l) - 1) / p, which is l for p = 0, and its derivative in p.
struct PowerOfLog {
  double value, slope;
};

inline PowerOfLog power_of_log(double l, double p) {
  if (l == -std::numeric_limits<double>::infinity()) return {p > 0.0 ? -1.0 / p : l, 0.0};
  const double t = p * l;
  if (std::abs(t) > 0.5) return {std::expm1(t) / p, (l * std::exp(t) - std::expm1(t) / p) / p};
  double term = 1.0, value = 1.0, slope = 0.5;  // sums of t^k / (k + 1)! and (k + 1) t^k / (k + 2)!
  for (int k = 1; k < 16; ++k) {
    term *= t / (k + 1);
    value += term;
    slope += term * (k + 1) / (k + 2);
  }
  return {l * value, l * l * slope};
}

// The l of (exp(p l) - 1) / p = w; minus infinity if there is none.
inline double log_of_power(double w, double p) {
  const double t = p * w;
  if (t <= -1.0) return -std::numeric_limits<double>::infinity();
  return std::abs(t) < 1e-8 ? w * (1.0 - 0.5 * t) : std::log1p(t) / p;
}

// g(y) = unit ((y / unit)^p - 1) / p for positive y, which is unit log(y / unit) for p = 0.
class BoxCoxWarp final : public Warp {
 public:
  BoxCoxWarp(double unit, double power) : unit_(unit), power_(power) {}

  const char* name() const override { return "box_cox"; }
  const char* fault(double y) const override { return y > 0.0 && std::isfinite(y) ? nullptr : "y: expected positive numbers"; }
  Warped at(double y) const override {
    const double l = std::log(y / unit_);
    const PowerOfLog w = power_of_log(l, power_);
    return {unit_ * w.value, (power_ - 1.0) * l, unit_ * w.slope, l};
  }
  double inverse(double z) const override { return unit_ * std::exp(log_of_power(z / unit_, power_)); }
  double unit() const override { return unit_; }
  std::vector<double> kinks() const override {
    return power_ > 0.0 ? std::vector<double>{-unit_ / power_} : std::vector<double>{};
  }
  Outcomes outcomes() const override { return {0.0, std::numeric_limits<double>::infinity(), false}; }
  const double* power() const override { return &power_; }
  std::shared_ptr<const Warp> with_power(double power) const override { return std::make_shared<BoxCoxWarp>(unit_, power); }
  std::vector<double> arguments() const override { return {unit_, power_}; }

 private:
  double unit_, power_;
};

// g(y) = unit log(y / unit) for positive y.
class LogWarp final : public Warp {
 public:
  explicit LogWarp(double unit) : unit_(unit) {}

  const char* name() const override { return "log_normal"; }
  const char* fault(double y) const override { return y > 0.0 && std::isfinite(y) ? nullptr : "y: expected positive numbers"; }
  Warped at(double y) const override {
    const double l = std::log(y / unit_);
    return {unit_ * l, -l, 0.0, 0.0};
  }
  double inverse(double z) const override { return unit_ * std::exp(z / unit_); }
  double unit() const override { return unit_; }
  Outcomes outcomes() const override { return {0.0, std::numeric_limits<double>::infinity(), false}; }
  std::vector<double> arguments() const override { return {unit_}; }

 private:
  double unit_;
};

// With u = (y - location) / unit: g(y) = unit ((1 + u)^p - 1) / p for u >= 0, and minus the same of -u with 2 - p for u < 0.
class YeoJohnsonWarp final : public Warp {
 public:
  YeoJohnsonWarp(double unit, double location, double power) : unit_(unit), location_(location), power_(power) {}

  const char* name() const override { return "yeo_johnson"; }
  const char* fault(double y) const override { return std::isfinite(y) ? nullptr : "y: expected finite numbers"; }
  Warped at(double y) const override {
    const double u = (y - location_) / unit_, l = std::log1p(std::abs(u)), sign = u < 0.0 ? -1.0 : 1.0;
    const PowerOfLog w = power_of_log(l, u < 0.0 ? 2.0 - power_ : power_);
    return {sign * unit_ * w.value, sign * (power_ - 1.0) * l, unit_ * w.slope, sign * l};
  }
  double inverse(double z) const override {
    const double w = z / unit_, sign = w < 0.0 ? -1.0 : 1.0;
    return location_ + sign * unit_ * std::expm1(log_of_power(std::abs(w), w < 0.0 ? 2.0 - power_ : power_));
  }
  double unit() const override { return unit_; }
  std::vector<double> kinks() const override { return {0.0}; }
  const double* power() const override { return &power_; }
  std::shared_ptr<const Warp> with_power(double power) const override {
    return std::make_shared<YeoJohnsonWarp>(unit_, location_, power);
  }
  std::vector<double> arguments() const override { return {unit_, location_, power_}; }

 private:
  double unit_, location_, power_;
};

// g(y) = unit log(u / (1 - u)) with u = (y - lower) / (upper - lower), for y between the limits.
class LogitWarp final : public Warp {
 public:
  LogitWarp(double unit, double lower, double upper) : unit_(unit), lower_(lower), upper_(upper) {}

  const char* name() const override { return "logit_normal"; }
  const char* fault(double y) const override {
    return y > lower_ && y < upper_ ? nullptr : "y: expected numbers between the lower and the upper limit, both excluded";
  }
  Warped at(double y) const override {
    const double width = upper_ - lower_, above = y - lower_, below = upper_ - y;
    return {unit_ * (std::log(above) - std::log(below)), std::log(unit_) + std::log(width) - std::log(above) - std::log(below),
            0.0, 0.0};
  }
  double inverse(double z) const override {
    const double w = z / unit_, small = std::exp(-std::abs(w)), share = small / (1.0 + small) * (upper_ - lower_);
    return w < 0.0 ? lower_ + share : upper_ - share;
  }
  double unit() const override { return unit_; }
  Outcomes outcomes() const override { return {lower_, upper_, false}; }
  std::vector<double> arguments() const override { return {unit_, lower_, upper_}; }

 private:
  double unit_, lower_, upper_;
};

// An increasing function through knots, with given slopes at these: a rational quadratic between two of them, see Gregory and
// Delbourgo, "Piecewise rational quadratic interpolation to monotonic data", IMA Journal of Numerical Analysis 2 (1982), which
// is increasing whatever the slopes, and has its inverse in closed form. Straight lines continue it.
class SplineWarp final : public Warp {
 public:
  SplineWarp(std::vector<double> y, std::vector<double> z, std::vector<double> slope)
      : y_(std::move(y)), z_(std::move(z)), slope_(std::move(slope)) {}

  const char* name() const override { return "spline_normal"; }
  const char* fault(double y) const override { return std::isfinite(y) ? nullptr : "y: expected finite numbers"; }
  Warped at(double y) const override {
    const std::size_t last = y_.size() - 1;
    if (y <= y_.front()) return {z_.front() + slope_.front() * (y - y_.front()), std::log(slope_.front()), 0.0, 0.0};
    if (y >= y_[last]) return {z_[last] + slope_[last] * (y - y_[last]), std::log(slope_[last]), 0.0, 0.0};
    const Piece of = piece(above(y_, y));
    const double x = (y - of.y) / of.width, rest = 1.0 - x, denominator = of.mean + of.bend * x * rest;
    const double z = of.z + of.height * (of.mean * x * x + of.first * x * rest) / denominator;
    const double sum = of.last * x * x + 2.0 * of.mean * x * rest + of.first * rest * rest;
    return {z, std::log(sum) + 2.0 * std::log(of.mean / denominator), 0.0, 0.0};
  }
  double inverse(double z) const override {
    const std::size_t last = z_.size() - 1;
    if (z <= z_.front()) return y_.front() + (z - z_.front()) / slope_.front();
    if (z >= z_[last]) return y_[last] + (z - z_[last]) / slope_[last];
    const Piece of = piece(above(z_, z));
    const double part = z - of.z;
    const double a = of.height * (of.mean - of.first) + part * of.bend, b = of.height * of.first - part * of.bend;
    const double c = of.mean * part;
    return of.y + of.width * 2.0 * c / (b + std::sqrt(std::max(b * b + 4.0 * a * c, 0.0)));
  }
  std::vector<double> kinks() const override { return z_; }
  std::vector<double> arguments() const override {
    std::vector<double> all = y_;
    all.insert(all.end(), z_.begin(), z_.end());
    all.insert(all.end(), slope_.begin(), slope_.end());
    return all;
  }

 private:
  struct Piece {
    double y, z, width, height, mean, first, last, bend;  // mean is the slope of the straight line between its ends
  };
  // The first knot above x, which is between the first one and the last.
  static std::size_t above(const std::vector<double>& knots, double x) {
    return static_cast<std::size_t>(std::upper_bound(knots.begin(), knots.end() - 1, x) - knots.begin());
  }
  Piece piece(std::size_t end) const {
    const std::size_t k = end - 1;
    const double width = y_[end] - y_[k], height = z_[end] - z_[k], mean = height / width;
    return {y_[k], z_[k], width, height, mean, slope_[k], slope_[end], slope_[k] + slope_[end] - 2.0 * mean};
  }

  std::vector<double> y_, z_, slope_;
};

}  // namespace likelihoods
}  // namespace kernsel
