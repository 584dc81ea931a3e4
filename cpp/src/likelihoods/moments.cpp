// Moments by quadrature: E p(y | f) over f = m + s x, x ~ N(0, 1), and its derivatives.
//
// g(x) = log p(y | m + s x) - x^2 / 2 is largest somewhere between the prior mean and where the observation alone would have f;
// if log p is not concave there may be a maximum near either. From these the integral reaches to where g has fallen by 40.
// With E, Cov and Var under the density exp(g),
//
//     d log Z / dm = E (log p)' = E x / s,    d^2 log Z / dm^2 = Cov((log p)', x) / s = (Var x - 1) / s^2,
//
// which hold at kinks of log p, too. Nothing cancels in the former if the prior is narrow, in the latter if the observation is.
#include <algorithm>
#include <cmath>
#include <vector>

#include "likelihoods/quadrature.hpp"
#include "likelihoods/rows.hpp"

namespace kernsel {

namespace {

constexpr double drop = 40.0;        // of g at the ends of the integral
constexpr double largest_drop = 60;  // beyond which the end is too far
constexpr double log_root_two_pi = 0.91893853320467274178;

// A place x of a row, at which g is known.
struct Place {
  Index row = 0;
  double x = 0.0, g = 0.0, slope = 0.0, precision = 0.0, curvature = 1.0, first = 0.0;
};

class Tilted {
 public:
  Tilted(const Likelihood& likelihood, const Observations& of, const double* mean, const double* variance)
      : likelihood_(likelihood), of_(of), mean_(mean), deviation_(static_cast<std::size_t>(of.count)) {
    for (Index i = 0; i < of.count; ++i) deviation_[static_cast<std::size_t>(i)] = std::sqrt(variance[i]);
  }

  double deviation(Index row) const { return deviation_[static_cast<std::size_t>(row)]; }
  double width(Index row) const { return 1.0 / std::sqrt(mode(row).curvature); }  // of exp(g)
  const Place& mode(Index row) const { return mode_[static_cast<std::size_t>(row)]; }
  std::vector<Panel> panels() const { return panels_; }

  Status locate() {
    Status status = climb();
    if (status.ok()) status = reach();
    return status;
  }

  // What the likelihood says at pairs of a row and x, by `call`(observations, f).
  template <class F>
  Status at(Index count, const Index* row, const double* x, const F& call) {
    y_.resize(static_cast<std::size_t>(count));
    f_.resize(y_.size());
    size_.resize(of_.size ? y_.size() : 0);
    for (Index k = 0; k < count; ++k) {
      const auto to = static_cast<std::size_t>(k);
      y_[to] = of_.y[row[k]];
      f_[to] = mean_[row[k]] + deviation(row[k]) * x[k];
      if (of_.size) size_[to] = of_.size[row[k]];
    }
    return call(Observations{count, y_.data(), of_.size ? size_.data() : nullptr}, f_.data());
  }

  Status density(Index count, const Index* row, const double* x, std::vector<Density>& out) {
    out.resize(static_cast<std::size_t>(count));
    return at(count, row, x, [&](const Observations& of, const double* f) { return likelihood_.density(of, f, out.data()); });
  }

 private:
  Status evaluate(std::vector<Place>& places) {
    rows_.clear();
    x_.clear();
    for (const Place& place : places) {
      rows_.push_back(place.row);
      x_.push_back(place.x);
    }
    const Status status = density(static_cast<Index>(places.size()), rows_.data(), x_.data(), densities_);
    for (std::size_t k = 0; k < places.size() && status.ok(); ++k) {
      Place& place = places[k];
      const Density& found = densities_[k];
      const double s = deviation(place.row);
      place.g = found.value - 0.5 * place.x * place.x;
      place.first = found.first;
      place.slope = s * found.first - place.x;
      place.precision = std::max(found.precision, 0.0);
      place.curvature = 1.0 + s * s * place.precision;
      if (std::isnan(place.g)) place.g = -std::numeric_limits<double>::infinity();
    }
    return status;
  }

  // Safe Newton steps from the prior mean and from where the observation would have f.
  Status climb() {
    const Index n = of_.count;
    std::vector<double> alone(static_cast<std::size_t>(n));
    Status status = likelihood_.rough(of_, alone.data());
    if (!status.ok()) return status;
    std::vector<Place> places;
    for (Index i = 0; i < n; ++i) {
      places.push_back({i});
      if (deviation(i) > 0.0) places.push_back({i, (alone[static_cast<std::size_t>(i)] - mean_[i]) / deviation(i)});
    }
    status = evaluate(places);
    if (!status.ok()) return status;
    if (likelihood_.is_log_concave()) {
      std::vector<Place> better;
      for (const Place& place : places) {
        if (better.empty() || better.back().row != place.row)
          better.push_back(place);
        else if (place.g > better.back().g)
          better.back() = place;
      }
      places.swap(better);
    }
    // The curvature of a log p that is not concave may be far too large here, and steps become longer as long as they succeed.
    const double longest = likelihood_.is_log_concave() ? 1.0 : 1e12;
    std::vector<double> length(places.size(), 1.0);
    std::vector<std::size_t> active(places.size());
    for (std::size_t k = 0; k < active.size(); ++k) active[k] = k;
    for (int step = 0; step < 200; ++step) {
      std::vector<Place> trials;
      std::vector<std::size_t> moving;
      for (const std::size_t k : active) {
        const Place& place = places[k];
        const double move = length[k] * place.slope / place.curvature;
        if (!(std::abs(move * place.slope) > 1e-3) || deviation(place.row) == 0.0) continue;
        trials.push_back({place.row, place.x + move});
        moving.push_back(k);
      }
      if (trials.empty()) break;
      status = evaluate(trials);
      if (!status.ok()) return status;
      for (std::size_t k = 0; k < trials.size(); ++k) {
        const std::size_t to = moving[k];
        if (trials[k].g >= places[to].g) {
          places[to] = trials[k];
          length[to] = std::min(longest, 2.0 * length[to]);
        } else {
          length[to] *= 0.25;
        }
      }
      active.swap(moving);
    }
    lower_.assign(static_cast<std::size_t>(n), {});
    upper_ = mode_ = lower_;
    std::vector<bool> seen(static_cast<std::size_t>(n));
    for (const Place& place : places) {
      const auto i = static_cast<std::size_t>(place.row);
      if (!seen[i] || place.x < lower_[i].x) lower_[i] = place;
      if (!seen[i] || place.x > upper_[i].x) upper_[i] = place;
      if (!seen[i] || place.g > mode_[i].g) mode_[i] = place;
      seen[i] = true;
    }
    return {};
  }

  // The ends of the integrals, and panels that are as wide as the maxima are.
  Status reach() {
    struct End {
      double sign, near = 0.0, far = 0.0, distance = 0.0;
      bool found = false;
    };
    const Index n = of_.count;
    std::vector<End> ends;
    for (Index i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      ends.push_back({-1.0, 0.0, 0.0, 9.0 / std::sqrt(lower_[k].curvature)});
      ends.push_back({1.0, 0.0, 0.0, 9.0 / std::sqrt(upper_[k].curvature)});
    }
    const auto from = [&](std::size_t k) -> const Place& { return k % 2 ? upper_[k / 2] : lower_[k / 2]; };
    for (int step = 0; step < 100; ++step) {
      std::vector<Place> trials;
      std::vector<std::size_t> of;
      for (std::size_t k = 0; k < ends.size(); ++k)
        if (!ends[k].found) {
          trials.push_back({static_cast<Index>(k / 2), from(k).x + ends[k].sign * ends[k].distance});
          of.push_back(k);
        }
      if (trials.empty()) break;
      const Status status = evaluate(trials);
      if (!status.ok()) return status;
      for (std::size_t k = 0; k < trials.size(); ++k) {
        End& end = ends[of[k]];
        const double below = mode_[of[k] / 2].g - trials[k].g;
        if (below >= drop) {
          end.far = end.distance;
          end.found = below <= largest_drop || end.far <= 1.2 * end.near;
        } else {
          end.near = end.distance;
          end.found = end.far > 0.0 && end.far <= 1.2 * end.near;
        }
        end.distance = end.far > 0.0 ? 0.5 * (end.near + end.far) : 2.0 * end.distance;
      }
    }
    for (Index i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const double begin = lower_[k].x - ends[2 * k].far, end = upper_[k].x + ends[2 * k + 1].far;
      std::vector<double> places = {begin, end};
      const bool one = (upper_[k].x - lower_[k].x) * std::sqrt(mode_[k].curvature) < 1.0;
      for (const Place* place : {&lower_[k], &upper_[k]}) {
        const Place& top = one ? mode_[k] : *place;
        const double width = 1.0 / std::sqrt(top.curvature);
        places.push_back(top.x);
        // No panel is so much wider than the one before that its nodes could miss a tail.
        for (double distance = 3.5 * width; distance < end - begin; distance *= 2.6)
          for (const double at : {top.x - distance, top.x + distance})
            if (at > begin && at < end) places.push_back(at);
        if (one) break;
      }
      std::sort(places.begin(), places.end());
      for (std::size_t p = 1; p < places.size(); ++p) {
        if (places[p - 1] < places[p]) panels_.push_back({i, places[p - 1], places[p]});
      }
    }
    return {};
  }

  const Likelihood& likelihood_;
  const Observations of_;
  const double* mean_;
  std::vector<double> deviation_;
  std::vector<Place> lower_, upper_, mode_;  // the lowest, the highest and the best maximum found
  std::vector<Panel> panels_;
  std::vector<double> y_, size_, f_, x_;
  std::vector<Index> rows_;
  std::vector<Density> densities_;
};

Observations part(const Observations& of, Index begin, Index end) {
  return {end - begin, of.y + begin, of.size ? of.size + begin : nullptr};
}

Status moments_of_block(const Likelihood& likelihood, const Observations& of, const double* mean, const double* variance,
                        Moments* out) {
  constexpr Index functions = 5;
  Tilted tilted(likelihood, of, mean, variance);
  Status status = tilted.locate();
  if (!status.ok()) return status;
  std::vector<Density> found;
  std::vector<double> sums(static_cast<std::size_t>(of.count * functions)), units;
  for (Index i = 0; i < of.count; ++i) {
    const double width = tilted.width(i), first = std::max(1.0, std::abs(tilted.mode(i).x));
    units.insert(units.end(), {0.0, 0.0, 0.0, width * first, width * width * first});
  }
  const auto evaluate = [&](Index count, const Index* row, const double* x, double* values) {
    const Status done = tilted.density(count, row, x, found);
    for (Index k = 0; k < count && done.ok(); ++k) {
      const Place& mode = tilted.mode(row[k]);
      const Density& at = found[static_cast<std::size_t>(k)];
      const double p = std::exp(at.value - 0.5 * x[k] * x[k] - mode.g);
      const double first = p > 0.0 ? tilted.deviation(row[k]) * (at.first - mode.first) : 0.0, away = x[k] - mode.x;
      const double all[functions] = {p, p * away, p * away * away, p * first, p * first * away};
      std::copy_n(all, functions, values + k * functions);
    }
    return done;
  };
  status = integrate(of.count, tilted.panels(), functions, evaluate, units.data(), sums.data());
  if (!status.ok()) return status;
  for (Index i = 0; i < of.count; ++i) {
    const double s = tilted.deviation(i), *sum = sums.data() + i * functions;
    const Place& mode = tilted.mode(i);
    const double away = sum[1] / sum[0], first = sum[3] / sum[0];
    const double value = mode.g + std::log(sum[0]) - log_root_two_pi;
    if (s * s * mode.precision > 1.0)
      out[i] = {value, (mode.x + away) / s, (sum[2] / sum[0] - away * away - 1.0) / (s * s)};
    else
      out[i] = {value, mode.first + first / s, (sum[4] / sum[0] - away * first) / (s * s)};
  }
  // Without variance the observation alone remains.
  std::vector<Density> alone(static_cast<std::size_t>(of.count));
  if (std::none_of(variance, variance + of.count, [](double v) { return v == 0.0; })) return status;
  status = likelihood.density(of, mean, alone.data());
  for (Index i = 0; i < of.count && status.ok(); ++i) {
    const Density& at = alone[static_cast<std::size_t>(i)];
    if (variance[i] == 0.0) out[i] = {at.value, at.first, at.second};
  }
  return status;
}

Status slopes_of_block(const Likelihood& likelihood, const Observations& of, const double* mean, const double* variance,
                       Index p, double* out) {
  constexpr Index functions = 2;
  Tilted tilted(likelihood, of, mean, variance);
  Status status = tilted.locate();
  if (!status.ok()) return status;
  std::vector<Density> found;
  std::vector<DensitySlope> slopes;
  std::vector<double> sums(static_cast<std::size_t>(of.count * functions)), units;
  for (Index i = 0; i < of.count; ++i) units.insert(units.end(), {0.0, tilted.width(i)});
  const auto evaluate = [&](Index count, const Index* row, const double* x, double* values) {
    slopes.resize(static_cast<std::size_t>(count));
    Status done = tilted.density(count, row, x, found);
    if (!done.ok()) return done;
    done = tilted.at(count, row, x, [&](const Observations& at, const double* f) {
      return likelihood.density_slope(at, f, p, slopes.data());
    });
    for (Index k = 0; k < count && done.ok(); ++k) {
      const auto at = static_cast<std::size_t>(k);
      const double weight = std::exp(found[at].value - 0.5 * x[k] * x[k] - tilted.mode(row[k]).g);
      values[k * functions] = weight;
      values[k * functions + 1] = weight > 0.0 ? weight * slopes[at].value : 0.0;
    }
    return done;
  };
  status = integrate(of.count, tilted.panels(), functions, evaluate, units.data(), sums.data());
  for (Index i = 0; i < of.count && status.ok(); ++i)
    out[i] = sums[static_cast<std::size_t>(i * functions + 1)] / sums[static_cast<std::size_t>(i * functions)];
  return status;
}

}  // namespace

Status Likelihood::moments(const Observations& of, const double* mean, const double* variance, Moments* out) const {
  return for_blocks(of.count, !is_for_any_thread(), 5000.0, [&](Index begin, Index end) {
    return moments_of_block(*this, part(of, begin, end), mean + begin, variance + begin, out + begin);
  });
}

Status Likelihood::moments_slope(const Observations& of, const double* mean, const double* variance, Index p,
                                 double* out) const {
  return for_blocks(of.count, !is_for_any_thread(), 8000.0, [&](Index begin, Index end) {
    return slopes_of_block(*this, part(of, begin, end), mean + begin, variance + begin, p, out + begin);
  });
}

}  // namespace kernsel
