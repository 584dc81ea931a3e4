// The choice of hyperparameters. Numbers without a name were tuned on standard test functions of 2 to 20 columns, with and
// without noise (.github/CONTRIBUTING.md tells how to repeat that).
#include "kernsel/choose.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/call_out.hpp"
#include "factors/trend.hpp"
#include "kernsel/gram.hpp"
#include "kernsel/jitter.hpp"
#include "kernsel/starts.hpp"

namespace kernsel {

namespace {

constexpr Index few_points = 100;    // up to here criteria have more optima with noise, and evaluations are cheap: more starts
constexpr Index sparse_starts = 24;  // the number of sparse starts for up to 50 points; fewer for more points
constexpr int rounds_of_turns = 2;
constexpr Index polished_of_few = 6;
constexpr double first_spread = 1.0;
constexpr int rounds_of_spreads = 3;
// With more points for each length scale than `many_for_each` they determine length scales better than any expectation. With
// fewer than `few_for_each`, free length scales may fit noise.
constexpr Index many_for_each = 50, few_for_each = 10;
// The logarithm of how much more probable the data must be if length scales are alike, for likelihoods to expect that.
constexpr double clearly = 4.0;
// The gain, in nats, from which on a change of the relevance of a column (turned_points) is accepted.
constexpr double better = 1e-3;

// Uniform numbers from a seed (splitmix64): the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  // A random subset of 0 ... n - 1, in order.
  std::vector<Index> subset(Index n, Index size) {
    std::vector<Index> all(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = i;
    for (Index i = 0; i < size; ++i)
      std::swap(all[static_cast<std::size_t>(i)],
                all[static_cast<std::size_t>(i) + next() % static_cast<std::uint64_t>(n - i)]);
    all.resize(static_cast<std::size_t>(size));
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  std::uint64_t state_;
};

std::vector<Index> all_rows(Index n) {
  std::vector<Index> rows(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) rows[static_cast<std::size_t>(i)] = i;
  return rows;
}

// The standard deviation of what is expected of the logarithm of a hyperparameter. Kinds that have no unit of their own are
// expected anywhere between their bounds, `range` apart.
double expected_width(Rule rule, double range) {
  switch (rule) {
    case Rule::length:
    case Rule::size:
    case Rule::norm:
    case Rule::period:
      return 1.5;
    case Rule::variance:
    case Rule::noise:
    case Rule::ratio:
      return 2.0;
    default:
      return 0.25 * range;
  }
}

// What is expected of a spread, as a part of the logarithm of an integral, up to a constant.
double spread_cost(double spread) { return -spread / Prior::mean_spread; }

constexpr double expected_noise = 0.1;  // the noise variance that is expected, as a share of the amplitude

// Minus the second derivatives of the objective at x, by central differences of its gradient.
Status differences(Objective& objective, const std::vector<double>& x, std::vector<double>& H) {
  constexpr double step = 1e-3;
  const std::size_t n = x.size();
  H.assign(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (const double sign : {-1.0, 1.0}) {
      std::vector<double> moved = x;
      moved[i] += sign * step;
      Trial there;
      const Status status = objective.evaluate(moved, Order::gradient, there);
      if (!status.ok()) return status;
      for (std::size_t j = 0; j < n; ++j) {
        H[i + j * n] += sign * there.gradient[j] / (4.0 * step);
        H[j + i * n] += sign * there.gradient[j] / (4.0 * step);
      }
    }
  return {};
}

// Copies of some rows of the data.
struct Rows {
  std::vector<double> X, y, trend, weights, noise, known;
  static View<const double> copy(View<const double> from, const std::vector<Index>& rows, std::vector<double>& to) {
    to.clear();
    for (Index k = 0; k < from.cols; ++k)
      for (const Index i : rows) to.push_back(from(i, k));
    return columns(static_cast<const double*>(to.data()), static_cast<Index>(rows.size()), from.cols);
  }
};

std::vector<double> some_of(const std::vector<double>& values, const std::vector<Index>& rows) {
  std::vector<double> some;
  for (const Index i : rows)
    if (!values.empty()) some.push_back(values[static_cast<std::size_t>(i)]);
  return some;
}

}  // namespace

struct Chooser::Content {
  Content(const Choosing& p, ChoosingOptions o)
      : problem(p),
        options(std::move(o)),
        random(options.seed),
        own_factor(p.factor ? nullptr : dense_factor()),
        factor(p.factor ? p.factor : own_factor.get()),
        began(std::chrono::steady_clock::now()) {}

  Choosing problem;
  ChoosingOptions options;
  Random random;
  std::unique_ptr<Factor> own_factor;  // nullptr if the caller has given a factor
  Factor* factor;
  std::chrono::steady_clock::time_point began;

  Space space;
  Index n = 0;
  double variance = 1.0;            // of the targets
  std::vector<double> base, known;  // noise variances: to be multiplied by the unknown factor, and known ones
  double jitter = 0.0, least = 0.0;
  bool may_raise_jitter = false, noisy = false, few = false, profiled = false;
  std::vector<Index> factors;  // if the scale is profiled: positions of the amplitudes in theta, the first of which is fixed
  std::vector<Index> free;     // the positions in theta of the unknowns
  double noise_lower = 0.0, noise_upper = 0.0;
  Domain domain;
  std::vector<std::vector<double>> starts;
  Index alike = 0;                                           // how many length scales may be alike
  double spread = std::numeric_limits<double>::quiet_NaN();  // of length scales; NaN if they are not expected to be alike
  std::vector<Index> subset;
  Rows rows;
  std::unique_ptr<CriterionObjective> all, some;

  // Made once, in prepare(): the functions that make them may be the caller's, which must not be called after an interrupt.
  Criterion of_all, of_all_scale_free, of_subset, of_subset_scale_free;

  Status prepare();
  void add_amplitude();
  Status prepare_noise();
  void bound(double inside);
  void make_starts();
  std::unique_ptr<CriterionObjective> objective(const std::vector<Index>* of, bool scale_free);
  Status find(const std::vector<std::vector<double>>& from, bool scale_free, bool on_subset, double seconds_left, Index left,
              Optimum& out);
  Status descend(const std::vector<std::vector<double>>& from, Objective* among, double seconds_left, Index left, Optimum& out);
  Status settle(Optimum& out);
  std::vector<double> theta_of(const std::vector<double>& x) const;
  std::vector<double> x_of(const std::vector<double>& theta, double log_noise) const;
  double seconds() const {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
    return std::max(options.seconds - passed.count(), 0.0);
  }
  double within(const Trial& best) const;
  double fine() const { return n <= 300 ? (all->has_curvature() ? 1e-10 : 1e-7) : 1e-5; }
  Prior expectations(bool of_all_unknowns) const;
  double integral(const CriterionObjective& objective, const Trial& at, double with_spread);
  double best_spread(CriterionObjective& objective, bool climbs, double tolerance, double least_gain, Optimum& best,
                     double& of_first);
  Status consider_alike(Optimum& found);
  std::function<bool(Index, Index, double)> told_after(const Optimum& before) const;
  Status evidence(const Choice& choice, double& out);
};

std::vector<double> Chooser::Content::theta_of(const std::vector<double>& x) const {
  std::vector<double> theta = space.theta;
  for (std::size_t a = 0; a < free.size(); ++a) theta[static_cast<std::size_t>(free[a])] = x[a];
  return theta;
}

std::vector<double> Chooser::Content::x_of(const std::vector<double>& theta, double log_noise) const {
  std::vector<double> x;
  for (const Index p : free) x.push_back(theta[static_cast<std::size_t>(p)]);
  if (problem.finds_noise) x.push_back(log_noise);
  for (std::size_t a = 0; a < x.size(); ++a) x[a] = std::clamp(x[a], domain.lower[a], domain.upper[a]);
  return x;
}

Status Chooser::Content::prepare() {
  n = problem.X.rows;
  if (n == 0 || problem.y.rows != n || problem.y.cols == 0)
    return Status::invalid("choose: y must have one row for each point");
  if (problem.trend.cols > 0 && problem.trend.rows != n)
    return Status::invalid("choose: the trend must have one row for each point");
  for (Index i = 0; i < n && problem.weights; ++i)
    if (!(problem.weights[i] > 0.0))
      return Status::invalid("choose: weights must be positive; leave points of weight zero out");
  if (!problem.criterion) {
    problem.criterion = [](const std::vector<Index>&) { return criteria::leave_out(criteria::squared()); };
    problem.scale_free = [](const std::vector<Index>&) { return criteria::leave_out(criteria::squared(), {}, false, true); };
  }
  if (problem.space)
    space = *problem.space;
  else if (const Status status = automatic_space(problem.kernel, problem.X, problem.y, problem.weights, false, space);
           !status.ok())
    return status;
  // The kernel with exp(theta) for hyperparameters, as in the search, which may differ from the given ones by rounding.
  std::vector<double> theta = problem.kernel.theta();
  if (space.place.size() != theta.size()) return Status::invalid("choose: give the place of each hyperparameter");
  for (std::size_t p = 0; p < theta.size(); ++p)
    if (space.place[p] >= 0) theta[p] = space.theta[static_cast<std::size_t>(space.place[p])];
  problem.kernel = problem.kernel.with_theta(theta);
  variance = problem.variance > 0.0 ? problem.variance : Data({}, problem.y, problem.weights).variance();
  of_all = problem.criterion(all_rows(n));
  if (problem.scale_free) of_all_scale_free = problem.scale_free(all_rows(n));
  if (problem.finds_amplitude) add_amplitude();
  const Status status = prepare_noise();
  if (!status.ok()) return status;
  for (const Hint& hint : space.hints) alike += !problem.spreads.empty() && hint.alike >= 0 ? 1 : 0;
  if (alike > 0 && problem.spreads.size() == 1) spread = problem.spreads[0];
  if (alike > 0 && problem.expects_all)
    spread = *std::min_element(problem.spreads.begin(), problem.spreads.end(), [](double a, double b) {
      return std::abs(std::log(a / first_spread)) < std::abs(std::log(b / first_spread));
    });
  all = objective(nullptr, profiled);
  few = noisy && n <= few_points;
  if (n > options.many_points && problem.same_for_any_points) {
    subset = random.subset(n, std::min(n, options.subset_points));
    std::vector<double> H;
    if (!independent(Rows::copy(problem.trend, subset, H))) subset.clear();
    if (!subset.empty()) of_subset = problem.criterion(subset);
    if (!subset.empty() && problem.scale_free) of_subset_scale_free = problem.scale_free(subset);
  }
  make_starts();
  return {};
}

// Makes the factor of the kernel the last number of the space's theta. If the best common factor of kernel and noise is
// computed in closed form, this amplitude is fixed, and its value does not matter.
void Chooser::Content::add_amplitude() {
  Hint hint;
  hint.rule = Rule::variance;
  const bool profiles = options.profile && static_cast<bool>(problem.scale_free);
  hint.middle = profiles ? 0.0 : std::log(variance);
  space.amplitudes = {static_cast<Index>(space.theta.size())};
  space.theta.push_back(hint.middle);
  space.lower.push_back(std::log(1e-5 * variance));
  space.upper.push_back(std::log(1e10 * variance));
  space.hints.push_back(hint);
}

Status Chooser::Content::prepare_noise() {
  if (problem.noise.size() > 1 && static_cast<Index>(problem.noise.size()) != n)
    return Status::invalid("choose: give one noise variance, or one for each point");
  const auto weight = [&](Index i) { return problem.weights ? problem.weights[i] : 1.0; };
  bool some_known = false;
  for (Index i = 0; i < n && !problem.noise.empty(); ++i) {
    known.push_back(problem.noise[problem.noise.size() == 1 ? 0 : static_cast<std::size_t>(i)] / weight(i));
    some_known = some_known || known.back() > 0.0;
  }
  for (Index i = 0; i < n && problem.finds_noise; ++i) base.push_back(1.0 / weight(i));
  may_raise_jitter = problem.automatic_jitter && !some_known;

  double noise_of_kernel = 0.0;
  noisy = problem.finds_noise;
  for (std::size_t p = 0; p < space.hints.size(); ++p)
    if (space.hints[p].rule == Rule::noise) {
      noisy = true;
      noise_of_kernel += std::exp(space.theta[p]);
    }
  const bool scale_free = options.profile && !some_known && problem.scale_free && !space.amplitudes.empty();
  if (scale_free) {  // the first amplitude is fixed
    factors = space.amplitudes;
    variance = std::exp(space.theta[static_cast<std::size_t>(factors[0])]);
  }
  profiled = scale_free;
  const std::vector<Index> shown = all_rows(std::min<Index>(n, 1000));
  std::vector<double> diagonal(shown.size());
  const Status status =
      gram_diagonal<double>(problem.kernel, problem.X.block(0, 0, static_cast<Index>(shown.size()), problem.X.cols),
                            vector(diagonal.data(), static_cast<Index>(shown.size())));
  if (!status.ok()) return status;
  double size = 0.0;
  for (const double value : diagonal) size += value / static_cast<double>(diagonal.size());
  size = std::max(size - noise_of_kernel, std::numeric_limits<double>::min());
  least = least_jitter(n) * size;
  jitter = problem.automatic_jitter ? (some_known ? 0.0 : least) : problem.jitter;
  // Criteria other than likelihoods, such as cross-validation, tend towards nearly singular matrices, for which rounding errors
  // look like good predictions: their noise has a higher lower bound.
  const double floor = of_all.is_likelihood ? least : std::max(least, 1e-10 * size);
  noise_lower = std::max(floor, 1e-14 * variance);
  noise_upper = 1e2 * std::max(variance, size);
  bound(1.0);
  return {};
}

// Sets the unknowns and their bounds. The bounds of the noise are multiplied by `inside`.
void Chooser::Content::bound(double inside) {
  free.clear();
  domain = {};
  for (std::size_t p = 0; p < space.theta.size(); ++p) {
    if (profiled && static_cast<Index>(p) == factors[0]) continue;
    free.push_back(static_cast<Index>(p));
    domain.lower.push_back(space.lower[p]);
    domain.upper.push_back(space.upper[p]);
    domain.reach.push_back(space.hints[p].rule == Rule::noise ? 3.0 : 1.0);  // steps of log variances may be longer
  }
  if (!problem.finds_noise) return;
  domain.lower.push_back(std::log(inside * noise_lower));
  domain.upper.push_back(std::log(inside * noise_upper));
  domain.reach.push_back(3.0);
}

void Chooser::Content::make_starts() {
  const double shift = options.seeded ? random.uniform() : 0.0;
  std::vector<Start> made = starting_points(space.hints, variance, noisy, few ? 5 : 2, shift);
  const bool of_columns = std::any_of(space.hints.begin(), space.hints.end(), [](const Hint& h) { return h.of_column; });
  if (few && of_columns && all->has_curvature()) {
    const Index count = std::min(sparse_starts, 50 * sparse_starts / n);
    for (Start& start : sparse_points(space.hints, variance, count, shift)) made.push_back(std::move(start));
  }
  if (space.has_values) made.insert(made.begin(), Start{space.theta, made[0].log_noise});
  for (const Start& start : made) starts.push_back(x_of(start.theta, start.log_noise));
  for (Index k = 0; k < options.restarts; ++k) {
    std::vector<double>& point = starts.emplace_back();
    for (std::size_t a = 0; a < domain.count(); ++a)
      point.push_back(domain.lower[a] + random.uniform() * (domain.upper[a] - domain.lower[a]));
  }
}

// The criterion as a function of the unknowns, for the points with the rows `of`, or for all points if it is nullptr.
std::unique_ptr<CriterionObjective> Chooser::Content::objective(const std::vector<Index>* of, bool scale_free) {
  auto made = std::make_unique<CriterionObjective>(problem.kernel, *factor);
  made->criterion = of ? (scale_free ? of_subset_scale_free : of_subset) : (scale_free ? of_all_scale_free : of_all);
  if (of) {
    made->problem.X = Rows::copy(problem.X, *of, rows.X);
    made->problem.y = Rows::copy(problem.y, *of, rows.y);
    made->problem.trend = Rows::copy(problem.trend, *of, rows.trend);
    rows.weights.clear();
    for (const Index i : *of)
      if (problem.weights) rows.weights.push_back(problem.weights[i]);
    made->problem.weights = problem.weights ? rows.weights.data() : nullptr;
    made->noise = some_of(base, *of);
    made->known = some_of(known, *of);
  } else {
    made->problem = {problem.X, problem.y, {}, problem.trend, problem.weights};
    made->noise = base;
    made->known = known;
  }
  made->jitter = jitter;
  made->newton = options.newton;
  made->expected = expectations(problem.expects_all);
  made->bounds = domain;
  made->make = problem.make;
  std::vector<Index> number(space.theta.size(), -1);
  for (std::size_t a = 0; a < free.size(); ++a) number[static_cast<std::size_t>(free[a])] = static_cast<Index>(a);
  for (const Index p : space.place) made->unknowns.place.push_back(p < 0 ? -1 : number[static_cast<std::size_t>(p)]);
  if (problem.finds_amplitude) {
    made->unknowns.amplitude = number.back();
    if (number.back() < 0) made->amplitude = std::exp(space.theta.back());
  }
  if (problem.finds_noise) made->unknowns.noise = static_cast<Index>(free.size());
  if (problem.prior)
    made->prior = [this](const std::vector<double>& x, std::vector<double>& gradient) {
      std::vector<double> theta = theta_of(x);
      theta.resize(theta.size() - (problem.finds_amplitude ? 1 : 0));
      std::vector<double> slopes(theta.size(), 0.0);
      const double value = problem.prior(theta, slopes);
      slopes.resize(space.theta.size(), 0.0);
      for (std::size_t a = 0; a < free.size(); ++a) gradient[a] = slopes[static_cast<std::size_t>(free[a])];
      return value;
    };
  return made;
}

// What is expected of the unknowns: of length scales to be alike, and of everything else only if `of_all_unknowns`.
Prior Chooser::Content::expectations(bool of_all_unknowns) const {
  Prior prior;
  prior.spread = spread;
  std::vector<Index> number(space.theta.size(), -1);
  for (std::size_t a = 0; a < free.size(); ++a) number[static_cast<std::size_t>(free[a])] = static_cast<Index>(a);
  const auto excepted = [&](std::size_t p) { return p < problem.excepted.size() && problem.excepted[p]; };
  // Adds what is expected of the difference of the unknowns a and b, either of which may be fixed instead (-1), at a value.
  const auto add = [&](Index a, double fixed_a, Index b, double fixed_b, double middle, double width, bool cauchy) {
    if (a >= 0)
      prior.ones.push_back({a, b, middle + (b >= 0 ? 0.0 : fixed_b), width, cauchy});
    else if (b >= 0)
      prior.ones.push_back({b, -1, fixed_a - middle, width, cauchy});
  };
  // The amplitude that others, and the noise, are expected to be in proportion to.
  std::size_t first = space.theta.size();
  for (const Index p : space.amplitudes)
    if (const auto q = static_cast<std::size_t>(p); first == space.theta.size() && space.hints[q].rule != Rule::noise)
      first = q;
  const bool proportional = first < space.theta.size() && !excepted(first);
  const Index of_first = proportional ? number[first] : -1;
  const double fixed = proportional ? space.theta[first] : std::log(variance);
  std::vector<Prior::Alike> groups;
  std::vector<Index> group_of;
  for (std::size_t p = 0; p < space.theta.size(); ++p) {
    const Hint& hint = space.hints[p];
    const Index a = number[p];
    if (excepted(p)) continue;
    if (std::isfinite(spread) && hint.alike >= 0 && a >= 0) {
      std::size_t g = 0;
      while (g < group_of.size() && group_of[g] != hint.alike) ++g;
      if (g == groups.size()) {
        group_of.push_back(hint.alike);
        groups.emplace_back();
        if (of_all_unknowns) groups.back().width = expected_width(hint.rule, 0.0);
      }
      groups[g].at.push_back(a);
      groups[g].middle.push_back(hint.of_spread);
      continue;
    }
    if (!of_all_unknowns) continue;
    const bool is_noise = hint.rule == Rule::noise;
    const bool amplitude =
        std::find(space.amplitudes.begin(), space.amplitudes.end(), static_cast<Index>(p)) != space.amplitudes.end();
    const double width = expected_width(hint.rule, space.upper[p] - space.lower[p]);
    if (proportional && p == first)
      add(a, space.theta[p], -1, 0.0, std::log(variance), width, false);
    else if (proportional && (is_noise || amplitude))
      add(a, space.theta[p], of_first, fixed, is_noise ? std::log(expected_noise) : 0.0, width, is_noise);
    else
      add(a, space.theta[p], -1, 0.0, hint.middle, width, is_noise);
  }
  for (Prior::Alike& group : groups)
    if (group.at.size() > 1 || of_all_unknowns) prior.alike.push_back(std::move(group));
  if (of_all_unknowns && problem.finds_noise)
    add(static_cast<Index>(free.size()), 0.0, of_first, fixed, std::log(expected_noise), expected_width(Rule::noise, 0.0),
        true);
  return prior;
}

// The logarithm of the integral over the unknowns, of which everything is expected, with another spread of length scales: as it
// is to be expected from a trial of `objective`, which has expectations of its own.
double Chooser::Content::integral(const CriterionObjective& objective, const Trial& at, double with_spread) {
  std::vector<double> gradient = at.gradient, H = at.information;
  std::vector<double> slopes(gradient.size(), 0.0), curvature(H.size(), 0.0);
  objective.expected.log_density(at.x, slopes, curvature);
  for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] -= slopes[i];
  for (std::size_t i = 0; i < H.size(); ++i) H[i] -= curvature[i];
  const double present = std::exchange(spread, with_spread);
  const double value = at.criterion + expectations(true).log_density(at.x, gradient, H);
  spread = present;
  return laplace_near(value, gradient, H);
}

// Reports of the progress of a search that goes on from a result: its evaluations count, and the best criterion stays that of
// the result, because the criterion itself may become worse where something is expected.
std::function<bool(Index, Index, double)> Chooser::Content::told_after(const Optimum& before) const {
  if (!options.progress) return nullptr;
  const Index counted = before.evaluations + before.evaluations_of_some;
  return [this, counted, best = before.best.criterion](Index count, Index points, double now) {
    return options.progress(counted + count, points, std::isnan(best) ? now : best);
  };
}

// Finds the spread of length scales for which the data are the most probable, and the optimum of `objective` for it. The
// optimum for one spread also tells about the others: the best of these is tried next. `best` is where the search begins, with
// the present spread; if it is no optimum for that (`climbs`), it becomes one first. Returns the logarithm of the integral, and
// in `of_first` that for the first spread.
double Chooser::Content::best_spread(CriterionObjective& objective, bool climbs, double tolerance, double least_gain,
                                     Optimum& best, double& of_first) {
  double most = -std::numeric_limits<double>::infinity(), chosen = spread;
  of_first = most;
  Optimum here = best;
  std::vector<double> tried;
  for (int round = 0; round < rounds_of_spreads; ++round) {
    objective.expected = expectations(problem.expects_all);
    if (round > 0 || climbs) {
      SearchOptions how;
      how.coarse = how.fine = tolerance;
      how.evaluations = options.evaluations - here.evaluations - here.evaluations_of_some;
      how.seconds = seconds();
      how.progress = told_after(here);
      Optimum next;
      if (how.evaluations < 1 || !search(objective, nullptr, {here.best.x}, how, next).ok()) break;
      next.evaluations += here.evaluations;
      next.evaluations_of_some = here.evaluations_of_some;
      next.of_starts = here.of_starts;
      here = std::move(next);
      if (here.ended != Ended::converged || here.best.information.empty()) break;
    }
    tried.push_back(spread);
    const double found = integral(objective, here.best, spread);
    if (round == 0) of_first = found;
    if (found > most) {
      most = found;
      chosen = spread;
      best = here;
    }
    double next = spread, highest = found;
    for (const double other : problem.spreads) {
      const double expected = integral(objective, here.best, other);
      if (expected > highest) {
        highest = expected;
        next = other;
      }
    }
    if (highest < of_first + least_gain || std::find(tried.begin(), tried.end(), next) != tried.end()) break;
    spread = next;
  }
  best.evaluations = here.evaluations;
  best.ended = here.ended;
  spread = chosen;
  objective.expected = expectations(problem.expects_all);
  return most;
}

// Decides whether length scales are alike, after a search in which nothing was expected of them: only if the data are clearly
// more probable then. With many points the points of the subset decide. Free length scales that fit noise may be far from
// length scales that are alike: if there are few points for each column, these are also looked for from a start of their own.
Status Chooser::Content::consider_alike(Optimum& found) {
  CriterionObjective& judge = subset.empty() ? *all : *some;
  const double tolerance = all->has_curvature() ? 0.3 : 0.02, free_spread = problem.spreads.back();
  std::vector<double> middle;
  for (const Hint& hint : space.hints) middle.push_back(hint.alike >= 0 ? hint.of_spread : hint.middle);
  double most = -std::numeric_limits<double>::infinity(), of_free = most, chosen = free_spread;
  Optimum best = found;
  for (const bool alike_start : {false, true}) {
    Optimum here;
    here.best.x = alike_start ? x_of(middle, std::log(expected_noise * variance)) : found.best.x;
    here.evaluations = best.evaluations;
    here.evaluations_of_some = best.evaluations_of_some;
    spread = alike_start ? Prior::mean_spread : free_spread;
    if (alike_start && n > few_for_each * alike) break;
    double of_first = 0.0;
    double value = best_spread(judge, true, tolerance, alike_start ? 0.0 : clearly, here, of_first);
    if (!alike_start) of_free = of_first - spread_cost(free_spread);
    best.evaluations = here.evaluations;
    best.evaluations_of_some = here.evaluations_of_some;
    best.ended = here.ended;
    if (here.ended != Ended::converged) break;
    value -= spread_cost(spread);
    if (value <= most) continue;
    most = value;
    chosen = spread;
    best.best = here.best;
  }
  if (!subset.empty()) best.evaluations_of_some += std::exchange(best.evaluations, found.evaluations) - found.evaluations;
  found.evaluations = best.evaluations;
  found.evaluations_of_some = best.evaluations_of_some;
  if (best.ended != Ended::converged || !(most > of_free + clearly)) {
    spread = std::numeric_limits<double>::quiet_NaN();
    all->expected = {};
    return {};
  }
  spread = chosen;
  all->expected = expectations(false);
  SearchOptions how;
  how.coarse = how.fine = fine();
  how.evaluations = std::max<Index>(options.evaluations - found.evaluations - found.evaluations_of_some, 1);
  how.seconds = seconds();
  how.progress = told_after(found);
  Optimum next;
  const Status status = search(*all, nullptr, {best.best.x}, how, next);
  if (!status.ok() || !std::isfinite(next.best.value)) return status;
  next.evaluations += found.evaluations;
  next.evaluations_of_some = found.evaluations_of_some;
  next.of_starts = found.of_starts;
  found = std::move(next);
  return {};
}

// The logarithm of the evidence of a choice (Choice::evidence).
Status Chooser::Content::evidence(const Choice& choice, double& out) {
  std::vector<double> theta = choice.theta;
  if (problem.finds_amplitude) theta.push_back(std::log(choice.amplitude));
  profiled = false;
  jitter = choice.jitter;
  bound(1.0);
  space.theta = theta;
  all = objective(nullptr, false);
  std::vector<double> x;
  for (const Index p : free) x.push_back(theta[static_cast<std::size_t>(p)]);
  if (problem.finds_noise) x.push_back(std::log(choice.noise));
  Trial at;
  Status status = all->evaluate(x, Order::information, at);
  if (!status.ok()) return status;
  if (at.information.empty()) {
    status = differences(*all, x, at.information);
    if (!status.ok()) return status;
  }
  // The maximum was found without what is expected of the first amplitude, if that was computed in closed form, so that the
  // slope may not quite vanish; where a bound holds an unknown back, the slope stays.
  // Neither counts the slope of a search that was not brought to its end.
  for (std::size_t a = 0; a < x.size(); ++a)
    if (choice.ended != Ended::converged || std::min(x[a] - domain.lower[a], domain.upper[a] - x[a]) <= 1e-6)
      at.gradient[a] = 0.0;
  out = laplace_near(-at.value, at.gradient, at.information);
  return {};
}

// Searches from the given starts; for few points with noise, then also from the best point with the relevance of one column
// changed (turned_points), as long as this gives a better one.
Status Chooser::Content::descend(const std::vector<std::vector<double>>& from, Objective* among, double seconds_left,
                                 Index left, Optimum& out) {
  SearchOptions how;
  const bool newton = all->has_curvature();
  how.coarse = newton ? 0.1 : 0.02;
  how.fine = fine();
  how.evaluations = left;
  how.seconds = seconds_left;
  how.polished = few ? polished_of_few : 1;
  how.progress = options.progress;
  Status status = search(*all, among, from, how, out);
  const bool of_columns = std::any_of(space.hints.begin(), space.hints.end(), [](const Hint& h) { return h.of_column; });
  for (int round = 0; status.ok() && newton && few && of_columns && round < rounds_of_turns; ++round) {
    if (out.ended != Ended::converged || !std::isfinite(out.best.value)) break;
    const std::vector<double>& x = out.best.x;
    std::vector<std::vector<double>> places{x};
    for (const std::vector<double>& theta : turned_points(space.hints, theta_of(x)))
      places.push_back(x_of(theta, problem.finds_noise ? x.back() : 0.0));
    how.seconds = std::min(seconds_left, seconds());
    const Index before = out.evaluations + out.evaluations_of_some;
    how.evaluations = left - before;
    how.progress = nullptr;
    if (options.progress)
      how.progress = [&](Index count, Index points, double best) { return options.progress(before + count, points, best); };
    Optimum more;
    status = search(*all, nullptr, places, how, more);
    if (!status.ok()) break;
    out.evaluations += more.evaluations;
    out.ended = more.ended;
    out.of_starts.insert(out.of_starts.end(), more.of_starts.begin() + 1, more.of_starts.end());
    if (!(more.best.value < out.best.value - better)) break;
    out.best = std::move(more.best);
  }
  return status;
}

// If the search ended before it evaluated its result on all points, evaluates it there; after an interrupt, or when the time is
// over, the criterion becomes NaN instead.
Status Chooser::Content::settle(Optimum& out) {
  if (std::isfinite(out.best.value) || out.best.x.empty()) return {};
  if (out.ended == Ended::interrupted || out.ended == Ended::seconds) {
    out.best.criterion = std::nan("");
    return {};
  }
  const std::vector<double> x = out.best.x;
  out.best = Trial{};
  ++out.evaluations;
  return all->evaluate(x, Order::value, out.best);
}

// Searches; if the kernel matrix can be factorized nowhere, the jitter is automatic and no noise is known, again with more
// jitter (jitter.hpp).
Status Chooser::Content::find(const std::vector<std::vector<double>>& from, bool scale_free, bool on_subset,
                              double seconds_left, Index left, Optimum& out) {
  const auto attempt = [&] {
    all = objective(nullptr, scale_free);
    some = on_subset && !subset.empty() ? objective(&subset, scale_free) : nullptr;
    if (domain.count() == 0) {
      out = Optimum{};
      out.evaluations = 1;
      return all->evaluate({}, Order::value, out.best);
    }
    const Status status = descend(from, some.get(), seconds_left, left, out);
    return status.ok() ? settle(out) : status;
  };
  return may_raise_jitter ? with_jitter(jitter, least, attempt) : attempt();
}

// The logarithm of the profiled scale, clipped so that all amplitudes stay within their bounds if it is added to them.
double Chooser::Content::within(const Trial& best) const {
  const std::vector<double> theta = theta_of(best.x);
  double lowest = -std::numeric_limits<double>::infinity(), highest = -lowest;
  for (const Index amplitude : factors) {
    const auto p = static_cast<std::size_t>(amplitude);
    lowest = std::max(lowest, space.lower[p] - theta[p]);
    highest = std::min(highest, space.upper[p] - theta[p]);
  }
  return lowest <= highest ? std::clamp(std::log(best.scale), lowest, highest) : 0.0;
}

Chooser::Chooser(const Choosing& problem, ChoosingOptions options)
    : content_(std::make_unique<Content>(problem, std::move(options))) {}
Chooser::~Chooser() = default;

Status Chooser::prepare() {
  Status prepared;
  const Status called = call_out([&] { prepared = content_->prepare(); });
  return called.ok() ? prepared : called;
}

const std::vector<std::vector<double>>& Chooser::starts() const { return content_->starts; }
const Domain& Chooser::domain() const { return content_->domain; }

Status Chooser::evaluate(const std::vector<double>& x, Order order, Trial& out) {
  return content_->all->evaluate(x, order, out);
}

void Chooser::finish(const Trial& best, Choice& out) const {
  const Content& own = *content_;
  out.x = best.x;
  out.theta = own.theta_of(best.x);
  out.noise = own.problem.finds_noise ? std::exp(best.x.back()) : 0.0;
  out.jitter = own.jitter;
  out.criterion = best.criterion;
  out.scale = best.scale;
  out.profiled = own.profiled;
  out.free = own.free;
  out.gradient = best.gradient;
  out.information = best.information;
  if (own.problem.finds_noise && !best.x.empty()) {
    const double lower = own.domain.lower.back(), upper = own.domain.upper.back(), x = best.x.back();
    out.noise_at_bound = std::min(std::abs(x - lower), std::abs(x - upper)) <= 1e-6 * std::max(1.0, std::abs(x));
  }
  if (own.profiled) {
    const double within = own.within(best), inside = std::exp(within);
    for (const Index p : own.factors) out.theta[static_cast<std::size_t>(p)] += within;
    out.noise *= inside;
    out.jitter *= inside;
    out.scale = within == std::log(best.scale) ? 1.0 : best.scale / inside;
  }
  for (std::size_t p = 0; p < out.theta.size(); ++p)
    out.theta[p] = std::clamp(out.theta[p], own.space.lower[p], own.space.upper[p]);
  if (!own.problem.finds_amplitude) return;
  out.amplitude = std::exp(out.theta.back());
  out.theta.pop_back();
}

Status Chooser::run(Choice& out) {
  Status ran;
  const Status called = call_out([&] { ran = search_all(out); });
  return called.ok() ? ran : called;
}

Status Chooser::search_all(Choice& out) {
  Content& own = *content_;
  out = Choice{};
  Optimum found;
  Status status = own.find(own.starts, own.profiled, true, own.seconds(), own.options.evaluations, found);
  if (!status.ok()) return status;
  const bool none_of_all = std::isnan(found.best.criterion);  // the search was interrupted before it evaluated all points
  if (own.profiled && !none_of_all) {
    // A criterion of residuals alone does not determine the scale: it is chosen so that leave-one-out residuals are as large as
    // predicted.
    const bool knows = own.all->has_curvature() || own.all->criterion.request.variances;
    if (!knows && found.best.residual_scale > 0.0 && std::isfinite(found.best.residual_scale))
      found.best.scale = found.best.residual_scale;
    const double within = own.within(found.best);
    if (within != std::log(found.best.scale) && own.of_all.sees_scale && found.ended != Ended::interrupted) {
      // The best amplitude is outside of its bounds: the search continues with the nearest one inside, and without the closed
      // form, so that amplitudes are unknowns.
      std::vector<double> theta = own.theta_of(found.best.x);
      for (const Index p : own.factors) theta[static_cast<std::size_t>(p)] += within;
      const double inside = std::exp(within);
      const double log_noise = own.problem.finds_noise ? found.best.x.back() + within : 0.0;
      own.profiled = false;
      own.jitter *= inside;
      own.bound(inside);
      const Index spent = found.evaluations + found.evaluations_of_some;
      const bool converged = found.ended == Ended::converged;
      Optimum on;
      status = own.find({own.x_of(theta, log_noise)}, false, false, own.seconds(),
                        converged ? std::max<Index>(own.options.evaluations - spent, 1) : 1, on);
      if (!status.ok()) return status;
      on.evaluations += found.evaluations;
      on.evaluations_of_some = found.evaluations_of_some;
      on.of_starts = found.of_starts;
      if (!converged) on.ended = found.ended;
      found = std::move(on);
    }
  }
  const bool ready = found.ended == Ended::converged && !found.best.information.empty();
  if (ready && own.alike > 0 && own.problem.spreads.size() > 1 && own.all->criterion.is_likelihood) {
    double of_first = 0.0;
    if (own.problem.expects_all)
      own.best_spread(*own.all, false, own.fine(), 0.0, found, of_first);
    else if (own.n <= many_for_each * own.alike)
      status = own.consider_alike(found);
    if (!status.ok()) return status;
  }
  finish(found.best, out);
  out.spread = own.spread;
  out.ended = found.ended;
  out.evaluations = found.evaluations;
  out.evaluations_of_some = found.evaluations_of_some;
  out.of_starts = found.of_starts;
  const bool integrates = own.problem.expects_all && own.of_all.is_likelihood && out.ended != Ended::interrupted;
  return integrates ? own.evidence(out, out.evidence) : Status{};
}

Status choose(const Choosing& problem, const ChoosingOptions& options, Choice& out) {
  Chooser chooser(problem, options);
  const Status status = chooser.prepare();
  return status.ok() ? chooser.run(out) : status;
}

}  // namespace kernsel
