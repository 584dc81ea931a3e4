// The choice of hyperparameters. Numbers without a name were tuned on standard test functions of 2 to 20 columns, with and
// without noise (.github/CONTRIBUTING.md tells how to repeat that).
#include <algorithm>
#include <cmath>

#include "base/call_out.hpp"
#include "factors/trend.hpp"
#include "kernsel/gram.hpp"
#include "kernsel/jitter.hpp"
#include "kernsel/starts.hpp"
#include "search/chooser.hpp"

namespace kernsel {

namespace {

constexpr Index few_points = 100;    // up to here criteria have more optima with noise, and evaluations are cheap: more starts
constexpr Index sparse_starts = 24;  // the number of sparse starts for up to 50 points; fewer for more points
constexpr int rounds_of_turns = 2;
constexpr Index polished_of_few = 6;
constexpr double first_spread = 1.0;
// The gain, in nats, from which on a change of the relevance of a column (turned_points) is accepted.
constexpr double better = 1e-3;

std::vector<Index> all_rows(Index n) {
  std::vector<Index> rows(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) rows[static_cast<std::size_t>(i)] = i;
  return rows;
}

std::vector<double> some_of(const std::vector<double>& values, const std::vector<Index>& rows) {
  std::vector<double> some;
  for (const Index i : rows)
    if (!values.empty()) some.push_back(values[static_cast<std::size_t>(i)]);
  return some;
}

}  // namespace

std::vector<double> Chooser::Content::theta_of(const std::vector<double>& x) const {
  std::vector<double> theta = space.theta;
  for (std::size_t a = 0; a < free.size(); ++a) theta[static_cast<std::size_t>(free[a])] = x[a];
  return theta;
}

// `x` with the parameters of the likelihood that `from` has.
std::vector<double> Chooser::Content::with_likelihood_of(const std::vector<double>& from, std::vector<double> x) const {
  std::copy(from.begin() + static_cast<Index>(free.size()), from.end(), x.begin() + static_cast<Index>(free.size()));
  return x;
}

std::vector<double> Chooser::Content::x_of(const std::vector<double>& theta, double log_noise) const {
  std::vector<double> x;
  for (const Index p : free) x.push_back(theta[static_cast<std::size_t>(p)]);
  if (problem.finds_noise) x.push_back(log_noise);
  for (std::size_t p = 0; p < parameters.size(); ++p)
    if (finds(p))
      x.push_back(parameters[p].spread_power > 0.0 ? 0.5 * parameters[p].spread_power * log_noise : parameters[p].value);
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
  if (problem.likelihood) {
    const Status status = take_likelihood();
    if (!status.ok()) return status;
  }
  if (!problem.criterion) {
    problem.criterion = [](const std::vector<Index>&) { return criteria::leave_out(criteria::squared()); };
    problem.scale_free = [](const std::vector<Index>&) { return criteria::leave_out(criteria::squared(), {}, false, true); };
  }
  if (problem.space)
    space = *problem.space;
  else if (const Status status = automatic_space(problem.kernel, problem.X, targets(), problem.weights, false, space);
           !status.ok())
    return status;
  // The kernel with exp(theta) for hyperparameters, as in the search, which may differ from the given ones by rounding.
  std::vector<double> theta = problem.kernel.theta();
  if (space.place.size() != theta.size()) return Status::invalid("choose: give the place of each hyperparameter");
  for (std::size_t p = 0; p < theta.size(); ++p)
    if (space.place[p] >= 0) theta[p] = space.theta[static_cast<std::size_t>(space.place[p])];
  problem.kernel = problem.kernel.with_theta(theta);
  of_targets = variance = problem.variance > 0.0 ? problem.variance : Data({}, targets(), problem.weights).variance();
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
  if (n > options.many_points && problem.same_for_any_points && !approximates()) {
    for (std::size_t i = 0; i < options.subset.size(); ++i)
      if (options.subset[i] < (i ? options.subset[i - 1] + 1 : 0) || options.subset[i] >= n)
        return Status::invalid("subset: expected different rows of the points, in order");
    subset = options.subset.empty() ? random.subset(n, std::min(n, options.subset_points)) : options.subset;
    std::vector<double> H;
    if (!independent(Rows::copy(problem.trend, subset, H))) subset.clear();
    if (!subset.empty()) of_subset = problem.criterion(subset);
    if (!subset.empty() && problem.scale_free) of_subset_scale_free = problem.scale_free(subset);
  }
  make_starts();
  return {};
}

// Reads the observations and the likelihood's parameters.
Status Chooser::Content::take_likelihood() {
  if (problem.finds_noise || problem.scale_free || problem.y.cols != 1)
    return Status::invalid("choose: a likelihood has one output, and parameters of its own in place of a noise");
  std::vector<double> y;
  for (Index i = 0; i < n; ++i) y.push_back(problem.y(i, 0));
  const Observations of{n, y.data(), problem.sizes};
  Status status = problem.likelihood->check(of);
  rough.resize(static_cast<std::size_t>(n));
  if (status.ok()) status = problem.likelihood->rough(of, rough.data());
  if (!status.ok()) return status;
  parameters = problem.likelihood->start(of);
  if (problem.parameters.empty()) return {};
  if (problem.parameters.size() != parameters.size())
    return Status::invalid("choose: give all parameters of the likelihood, or none");
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const LikelihoodParameter& given = problem.parameters[p];
    if (given.value != parameters[p].value) parameters[p].spread_power = 0.0;  // the caller has a start
    parameters[p].value = given.value;
    parameters[p].lower = given.lower;
    parameters[p].upper = given.upper;
  }
  if (!problem.criterion) {
    const bool has_trend = problem.trend.cols > 0;
    problem.criterion = [has_trend](const std::vector<Index>&) { return criteria::likelihood(has_trend); };
  }
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
  for (std::size_t p = 0; p < parameters.size(); ++p) noisy = noisy || (finds(p) && parameters[p].spread_power > 0.0);
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
  if (problem.finds_noise) {
    domain.lower.push_back(std::log(inside * noise_lower));
    domain.upper.push_back(std::log(inside * noise_upper));
    domain.reach.push_back(3.0);
  }
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (!finds(p)) continue;
    domain.lower.push_back(parameters[p].lower);
    domain.upper.push_back(parameters[p].upper);
    domain.reach.push_back(1.0);
  }
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
  auto made = latent ? std::make_unique<CriterionObjective>(problem.kernel, *latent)
                     : std::make_unique<CriterionObjective>(problem.kernel, *factor);
  made->criterion = of ? (scale_free ? of_subset_scale_free : of_subset) : (scale_free ? of_all_scale_free : of_all);
  if (of) {
    made->problem.X = Rows::copy(problem.X, *of, rows.X);
    made->problem.y = Rows::copy(problem.y, *of, rows.y);
    made->problem.trend = Rows::copy(problem.trend, *of, rows.trend);
    rows.weights.clear();
    for (const Index i : *of)
      if (problem.weights) rows.weights.push_back(problem.weights[i]);
    made->problem.weights = problem.weights ? rows.weights.data() : nullptr;
    rows.sizes.clear();
    for (const Index i : *of)
      if (problem.sizes) rows.sizes.push_back(problem.sizes[i]);
    made->problem.sizes = problem.sizes ? rows.sizes.data() : nullptr;
    made->noise = some_of(base, *of);
    made->known = some_of(known, *of);
  } else {
    made->problem = {problem.X, problem.y, {}, problem.trend, problem.weights, {}, problem.sizes};
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
  Index next = static_cast<Index>(free.size()) + (problem.finds_noise ? 1 : 0);
  for (std::size_t p = 0; p < parameters.size(); ++p) made->unknowns.likelihood.push_back(finds(p) ? next++ : -1);
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
  if (integrates()) how.loss = [this](const Trial& at) { return -integral_near(at); };
  const auto loss = [&how](const Trial& at) { return how.loss ? how.loss(at) : at.value; };
  Status status = search(*all, among, from, how, out);
  const bool of_columns = std::any_of(space.hints.begin(), space.hints.end(), [](const Hint& h) { return h.of_column; });
  for (int round = 0; status.ok() && newton && few && of_columns && round < rounds_of_turns; ++round) {
    if (out.ended != Ended::converged || !std::isfinite(out.best.value)) break;
    const std::vector<double>& x = out.best.x;
    std::vector<std::vector<double>> places{x};
    for (const std::vector<double>& theta : turned_points(space.hints, theta_of(x)))
      places.push_back(with_likelihood_of(x, x_of(theta, problem.finds_noise ? x.back() : 0.0)));
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
    if (!(loss(more.best) < loss(out.best) - better)) break;
    out.best = std::move(more.best);
  }
  return status;
}

// The unknowns as the data propose them, with a tenth of the variance for the noise.
std::vector<double> Chooser::Content::proposed() const {
  std::vector<double> middle;
  for (const Hint& hint : space.hints) middle.push_back(hint.alike >= 0 ? hint.of_spread : hint.middle);
  return x_of(middle, std::log(0.1 * variance));
}

// If the search ended before it evaluated its result on all points, evaluates it there; after an interrupt, or when the time is
// over, the criterion becomes NaN instead.
Status Chooser::Content::settle(Optimum& out) {
  if (std::isfinite(out.best.value) || out.best.x.empty()) return {};
  if (out.ended == Ended::seconds && out.evaluations + out.evaluations_of_some <= 1)
    out.best.x = proposed();  // nothing was evaluated
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
  out.likelihood.clear();
  for (std::size_t p = 0, next = own.free.size(); p < own.parameters.size(); ++p)
    out.likelihood.push_back(own.finds(p) ? best.x[next++] : own.parameters[p].value);
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
  Status status = own.problem.approximation && !own.latent ? own.find_approximately(found)
                  : own.approximates()
                      ? own.find_by_landmarks(found)
                      : own.find(own.starts, own.profiled, true, own.seconds(), own.options.evaluations, found);
  if (!status.ok()) return status;
  const bool none_of_all = std::isnan(found.best.criterion);  // the search was interrupted before it evaluated all points
  if (own.profiled && !none_of_all) {
    // A criterion of residuals alone does not determine the scale: it is chosen so that leave-one-out residuals are as large as
    // predicted.
    const bool knows = own.all->criterion.is_likelihood || own.all->criterion.request.variances;
    if (!knows && found.best.residual_scale > 0.0 && std::isfinite(found.best.residual_scale))
      found.best.scale = found.best.residual_scale;
    const double within = own.within(found.best);
    const bool outside = within != std::log(found.best.scale) && own.of_all.sees_scale;
    const bool expects = own.problem.expects_all && own.of_all.is_likelihood && found.ended == Ended::converged;
    if ((outside || expects) && found.ended != Ended::interrupted) {
      // The best amplitude is outside of its bounds, or something is expected of it: the search continues with the nearest one
      // inside, and without the closed form, so that amplitudes are unknowns.
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
  own.reported = found.best.criterion;
  if (ready && own.alike > 0 && own.problem.spreads.size() > 1 && own.all->criterion.is_likelihood) {
    double most = 0.0, of_first = 0.0;
    if (own.problem.expects_all)
      status = own.best_spread(*own.all, false, own.fine(), 0.0, found, most, of_first);
    else
      status = own.consider_alike(found);
    if (!status.ok()) return status;
  }
  finish(found.best, out);
  out.spread = own.spread;
  out.ended = found.ended;
  out.evaluations = found.evaluations;
  out.evaluations_of_some = found.evaluations_of_some;
  out.of_starts = found.of_starts;
  return own.integrates() && out.ended != Ended::interrupted ? own.evidence(out, out.evidence) : Status{};
}

Status choose(const Choosing& problem, const ChoosingOptions& options, Choice& out) {
  Chooser chooser(problem, options);
  const Status status = chooser.prepare();
  return status.ok() ? chooser.run(out) : status;
}

}  // namespace kernsel
