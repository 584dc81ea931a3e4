// The optimality conditions. With a = p - q, 0 <= p <= C, C the upper bound, and the multipliers z of p >= 0 and w of p <= C
// (for q <= -lower in the same way), they are
//
//     g + epsilon - z_p + w_p = 0,   -g + epsilon - z_q + w_q = 0,   g = K a - y + b,   p z = (C - p) w = mu,   sum a = sum
//
// for mu = 0. The method solves them for a sequence of mu > 0 that goes to zero. A Newton step solves (K + D) da + db = h with
// a diagonal D, as kernel ridge regression does (support_newton.hpp). All linear conditions hold from the start on. Predictor
// and corrector use the same factor. Where a bound is zero, p or q is: this half of the point does not exist, and only the
// other one moves.
#include "support/support_interior.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "base/parallel.hpp"
#include "support/support_newton.hpp"

namespace kernsel {

namespace {

using Numbers = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double good_enough = 0.01;  // the gap, relative to the objective, from which the rounds go on

// One of the two halves of a: p, with sign 1, or q, with sign -1.
struct Half {
  double sign;
  Numbers bound;                 // the largest value; zero where this half does not exist
  Numbers value, z, w;           // the number p or q, and its multipliers z and w
  Numbers step, step_z, step_w;  // the last Newton step
};

// The values of all p and q at the start, divided by their bounds.
struct Shares {
  double up, down;
};

Shares start_of(const SupportProblem& problem) {
  double up = 0.0, down = 0.0;
  for (const double bound : problem.upper) up += bound;
  for (const double bound : problem.lower) down -= bound;
  if (!problem.intercept) return {0.5, 0.5};
  const double lowered = std::min(down, up - problem.sum) / 2.0;  // the sum of all q
  return {up > 0.0 ? (lowered + problem.sum) / up : 0.0, down > 0.0 ? lowered / down : 0.0};
}

class InteriorPoint {
 public:
  InteriorPoint(NewtonSystem& system, const SupportProblem& problem) : system_(system), problem_(problem), n_(problem.y.rows) {}

  // Runs the method from interior_start(), `product` being K times that. Returns the least gap, relative to the objective, in
  // `relative`, and the coefficients there.
  Status run(const Numbers& product, double& relative, Numbers& a) {
    begin(product);
    relative = infinity;
    double before = infinity;
    for (int iteration = 0; iteration < 60; ++iteration) {
      const double gap = complementarity(), now = gap / (1e-300 + objective(gap));
      if (!std::isfinite(now)) break;
      if (now < relative) {
        relative = now;
        a = coefficients();
      }
      // When rounding errors dominate, the gap does not decrease any more.
      if (now <= 1e-9 || (now < 1e-4 && gap > 0.5 * before)) break;
      before = gap;
      Status status;
      if (asked_to_stop()) status.code = Code::interrupted;
      if (status.ok()) status = system_.factorize(give());
      const double mu = gap / (2.0 * static_cast<double>(count_));
      if (status.ok()) status = direction(0.0, false);
      if (!status.ok()) return status;
      const double length = reach(1.0), after = complementarity(length) / (2.0 * static_cast<double>(count_));
      const double center = std::pow(after / mu, 3.0);
      status = direction(center * mu, true);
      if (!status.ok()) return status;
      move(std::min(1.0, 0.995 * reach(1e300)));
    }
    return {};
  }

 private:
  // Returns the coefficients. Those that are zero or at a bound within the accuracy of the method are set to it, and the others
  // are changed so that the sum is what it has to be, if there is an intercept.
  Numbers coefficients() const {
    Numbers a(static_cast<std::size_t>(n_), 0.0), room(a);
    double scale = 1e-300, sum = -problem_.sum, moving = 0.0;
    for (const double slope : g_) scale = std::max(scale, std::abs(slope) + problem_.epsilon);
    for (std::size_t i = 0; i < a.size(); ++i) {
      for (const Half* half : {&p_, &q_}) {
        const double C = half->bound[i], value = half->value[i];
        if (C == 0.0) continue;
        const bool zero = value / C < half->z[i] / scale, full = (C - value) / C < half->w[i] / scale;
        a[i] += half->sign * (zero ? 0.0 : full ? C : value);
        if (!zero && !full) room[i] = std::min(value, C - value);
      }
      sum += a[i];
      moving += room[i];
    }
    if (problem_.intercept && moving > 0.0)
      for (std::size_t i = 0; i < a.size(); ++i) a[i] -= room[i] * std::clamp(sum / moving, -1.0, 1.0);
    return a;
  }

  void begin(const Numbers& product) {
    const auto size = static_cast<std::size_t>(n_);
    const Shares shares = start_of(problem_);
    double level = 0.0;
    g_.resize(size);
    for (std::size_t i = 0; i < size; ++i) {
      g_[i] = product[i] - problem_.y(static_cast<Index>(i), 0);
      level += std::abs(g_[i]) / static_cast<double>(n_);
    }
    level = std::max(0.1 * (level + problem_.epsilon), 1e-300);
    for (Half* half : {&p_, &q_}) {
      for (Numbers* numbers : {&half->bound, &half->value, &half->z, &half->w, &half->step, &half->step_z, &half->step_w})
        numbers->assign(size, 0.0);
      for (std::size_t i = 0; i < size; ++i) {
        half->bound[i] = half == &p_ ? problem_.upper[i] : -problem_.lower[i];
        if (half->bound[i] == 0.0) continue;
        ++count_;
        const double slope = half->sign * g_[i] + problem_.epsilon;
        half->value[i] = half->bound[i] * (half == &p_ ? shares.up : shares.down);
        half->z[i] = std::max(slope, 0.0) + level;
        half->w[i] = std::max(-slope, 0.0) + level;
      }
    }
    h_.resize(size);
    a_.resize(size);
  }

  bool out(std::size_t i) const { return p_.bound[i] == 0.0 && q_.bound[i] == 0.0; }

  // The duality gap after a step of this length.
  double complementarity(double length = 0.0) const {
    double sum = 0.0;
    for (const Half* half : {&p_, &q_})
      for (std::size_t i = 0; i < g_.size(); ++i) {
        const double value = half->value[i] + length * half->step[i];
        sum += value * (half->z[i] + length * half->step_z[i]) +
               (half->bound[i] - value) * (half->w[i] + length * half->step_w[i]);
      }
    return sum;
  }

  // An estimate of the primal objective, which is the value of the dual problem, -(a'Ka/2 - a'y + epsilon (p + q)), plus the
  // gap.
  double objective(double gap) const {
    double dual = 0.0;
    for (std::size_t i = 0; i < g_.size(); ++i) {
      const double a = p_.value[i] - q_.value[i], y = problem_.y(static_cast<Index>(i), 0);
      dual -= a * (g_[i] + y) / 2.0 - a * y + problem_.epsilon * (p_.value[i] + q_.value[i]);
    }
    return std::abs(dual) + gap;
  }

  // How far a half moves by a unit of slope; zero if it does not exist.
  double give(const Half& half, std::size_t i) const {
    return half.bound[i] == 0.0 ? 0.0 : 1.0 / (half.z[i] / half.value[i] + half.w[i] / (half.bound[i] - half.value[i]));
  }

  // How far a coefficient moves by a unit of slope.
  Numbers give() const {
    Numbers both(g_.size());
    for (std::size_t i = 0; i < both.size(); ++i) both[i] = give(p_, i) + give(q_, i);
    return both;
  }

  // The terms mu / p - mu / (C - p) of the right-hand side of a half, with the second-order corrections from the predictor.
  double wish(const Half& half, std::size_t i, double mu, bool corrected) const {
    if (half.bound[i] == 0.0) return 0.0;
    const double more = corrected ? half.step[i] * half.step_z[i] : 0.0;
    const double less = corrected ? half.step[i] * half.step_w[i] : 0.0;
    return (mu - more) / half.value[i] - (mu + less) / (half.bound[i] - half.value[i]);
  }

  Status direction(double mu, bool corrected) {
    const std::size_t size = g_.size();
    Numbers rho_p(size, 0.0), rho_q(size, 0.0);
    for (std::size_t i = 0; i < size; ++i) {
      h_[i] = 0.0;
      a_[i] = p_.value[i] - q_.value[i];
      if (out(i)) continue;
      rho_p[i] = -g_[i] - problem_.epsilon + wish(p_, i, mu, corrected);
      rho_q[i] = g_[i] - problem_.epsilon + wish(q_, i, mu, corrected);
      const double give_p = give(p_, i), give_q = give(q_, i);
      h_[i] = (rho_p[i] * give_p - rho_q[i] * give_q) / (give_p + give_q);
    }
    const Status status = system_.solve(h_, a_, slope_);
    if (!status.ok()) return status;
    for (std::size_t i = 0; i < size; ++i) {
      if (out(i)) continue;
      const double ways[] = {(rho_p[i] - slope_[i]) * give(p_, i), (rho_q[i] + slope_[i]) * give(q_, i)};
      int at = 0;
      for (Half* half : {&p_, &q_}) {
        const double step = ways[at++], value = half->value[i], room = half->bound[i] - value;
        if (half->bound[i] == 0.0) continue;
        const double more = corrected ? half->step[i] * half->step_z[i] : 0.0;
        const double less = corrected ? half->step[i] * half->step_w[i] : 0.0;
        half->step_z[i] = (mu - more) / value - half->z[i] - half->z[i] / value * step;
        half->step_w[i] = (mu + less) / room - half->w[i] + half->w[i] / room * step;
        half->step[i] = step;
      }
    }
    return {};
  }

  // The length that a step may have before a number becomes negative, at most `longest`.
  double reach(double longest) const {
    double length = longest;
    const auto limit = [&](double value, double step) {
      if (step < 0.0) length = std::min(length, -value / step);
    };
    for (const Half* half : {&p_, &q_})
      for (std::size_t i = 0; i < g_.size(); ++i) {
        if (half->bound[i] == 0.0) continue;
        limit(half->value[i], half->step[i]);
        limit(half->bound[i] - half->value[i], -half->step[i]);
        limit(half->z[i], half->step_z[i]);
        limit(half->w[i], half->step_w[i]);
      }
    return length;
  }

  void move(double length) {
    for (Half* half : {&p_, &q_})
      for (std::size_t i = 0; i < g_.size(); ++i) {
        half->value[i] += length * half->step[i];
        half->z[i] += length * half->step_z[i];
        half->w[i] += length * half->step_w[i];
      }
    system_.move(length, slope_, g_);
  }

  NewtonSystem& system_;
  const SupportProblem& problem_;
  Index n_, count_ = 0;  // count_: of the halves
  Half p_{1.0, {}, {}, {}, {}, {}, {}, {}}, q_{-1.0, {}, {}, {}, {}, {}, {}, {}};
  Numbers g_, h_, a_, slope_;  // slope_: the change of g in the last Newton step
};

}  // namespace

std::vector<double> interior_start(const SupportProblem& problem) {
  const Shares shares = start_of(problem);
  std::vector<double> a(problem.upper.size());
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = shares.up * problem.upper[i] + shares.down * problem.lower[i];
  return a;
}

Status near_solution(const Kernel& k, View<const double> X, const std::vector<double>& noise, const SupportProblem& problem,
                     const std::vector<double>& diagonal, const std::vector<double>& product, std::vector<double>& a) {
  std::unique_ptr<NewtonSystem> system;
  Status status = newton_system(k, X, noise, problem, diagonal, interior_start(problem), system);
  double relative = infinity;
  std::vector<double> found;
  if (status.ok()) status = InteriorPoint(*system, problem).run(product, relative, found);
  if (status.code == Code::not_positive_definite || status.code == Code::out_of_memory) return {};
  if (status.ok() && relative < good_enough) a = found;
  return status;
}

}  // namespace kernsel
