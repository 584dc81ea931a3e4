// The optimality conditions. With a = p - q, 0 <= p <= C, C the upper bound, and the multipliers z of p >= 0 and w of p <= C
// (for q <= -lower in the same way), they are
//
//     g + epsilon - z_p + w_p = 0,   -g + epsilon - z_q + w_q = 0,   g = K a - y + b,   p z = (C - p) w = mu,   sum a = sum
//
// for mu = 0. The method solves them for a sequence of mu > 0 that goes to zero. A Newton step solves (K + D) da + db = h with
// a diagonal D, as kernel ridge regression does. All linear conditions hold from the start on. Predictor and corrector use the
// same factor. Where a bound is zero, p or q is: this half of the point does not exist, and only the other one moves.
#include "support/support_interior.hpp"

#include <algorithm>
#include <cmath>

#include "kernsel/gram.hpp"

namespace kernsel {

namespace {

using Numbers = std::vector<double>;

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
  InteriorPoint(const Kernel& k, View<const double> X, const Numbers& noise, const SupportProblem& problem, double largest)
      : k_(k),
        X_(X),
        noise_(noise),
        problem_(problem),
        n_(X.rows),
        floor_(1e-15 * largest * static_cast<double>(X.rows)),
        huge_(1e20 * largest) {}

  // Runs the method from interior_start(), `product` being K times that; `done` tells whether it has converged.
  Status run(const Numbers& product, bool& done) {
    begin(product);
    double before = 1e300;
    for (int iteration = 0; iteration < 60; ++iteration) {
      const double gap = complementarity(), relative = gap / (1e-300 + objective(gap));
      if (!std::isfinite(relative)) return {};
      // When rounding errors dominate, the gap does not decrease any more.
      done = !(relative > 1e-9) || (relative < 1e-4 && gap > 0.5 * before);
      if (done) return {};
      before = gap;
      Status status = factorize();
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

 private:
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
    D_.resize(size);
    h_.resize(size);
    pair_.resize(2 * size);
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

  Status factorize() {
    for (std::size_t i = 0; i < D_.size(); ++i)
      D_[i] = out(i) ? huge_ : std::clamp(1.0 / (give(p_, i) + give(q_, i)), floor_, huge_);
    Numbers added(D_);
    for (std::size_t i = 0; i < noise_.size(); ++i) added[i] += noise_[i];
    return kernsel::factorize<double>(k_, X_, vector<const double>(added.data(), n_), L_);
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
    double sum = -problem_.sum;
    for (std::size_t i = 0; i < size; ++i) {
      pair_[i] = pair_[i + size] = 0.0;
      h_[i] = 0.0;
      if (out(i)) continue;
      rho_p[i] = -g_[i] - problem_.epsilon + wish(p_, i, mu, corrected);
      rho_q[i] = g_[i] - problem_.epsilon + wish(q_, i, mu, corrected);
      const double give_p = give(p_, i), give_q = give(q_, i);
      h_[i] = (rho_p[i] * give_p - rho_q[i] * give_q) / (give_p + give_q);
      pair_[i] = h_[i];
      pair_[i + size] = 1.0;
      sum += p_.value[i] - q_.value[i];
    }
    const Status status = solve<double>(L_, columns(pair_.data(), n_, problem_.intercept ? 2 : 1));
    if (!status.ok()) return status;
    double with_h = 0.0, with_ones = 0.0;
    for (std::size_t i = 0; i < size; ++i) {
      if (out(i)) continue;
      with_h += pair_[i];
      with_ones += pair_[i + size];
    }
    const double db = problem_.intercept ? (with_h + sum) / with_ones : 0.0;
    slope_.assign(size, 0.0);
    for (std::size_t i = 0; i < size; ++i) {
      if (out(i)) continue;
      const double da = pair_[i] - (problem_.intercept ? db * pair_[i + size] : 0.0);
      slope_[i] = h_[i] - D_[i] * da;  // the change of g
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
    for (std::size_t i = 0; i < g_.size(); ++i) g_[i] += length * slope_[i];
  }

  const Kernel& k_;
  View<const double> X_;
  const Numbers& noise_;
  const SupportProblem& problem_;
  Index n_, count_ = 0;  // count_: of the halves
  double floor_, huge_;
  Half p_{1.0, {}, {}, {}, {}, {}, {}, {}}, q_{-1.0, {}, {}, {}, {}, {}, {}, {}};
  Numbers g_, D_, h_, pair_, slope_;
  LowerTiles<double> L_;
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
  InteriorPoint method(k, X, noise, problem, *std::max_element(diagonal.begin(), diagonal.end()));
  bool done = false;
  const Status status = method.run(product, done);
  if (status.code == Code::not_positive_definite || status.code == Code::out_of_memory) return {};
  if (status.ok() && done) a = method.coefficients();
  return status;
}

}  // namespace kernsel
