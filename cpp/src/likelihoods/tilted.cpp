#include "likelihoods/tilted.hpp"

#include <algorithm>
#include <limits>

namespace kernsel {

namespace {

constexpr double drop = 40.0;        // of g at the ends of the integral
constexpr double largest_drop = 60;  // beyond which the end is too far

}  // namespace

Status Tilted::evaluate(std::vector<LatentPlace>& places) {
  rows_.clear();
  x_.clear();
  for (const LatentPlace& place : places) {
    rows_.push_back(place.row);
    x_.push_back(place.x);
  }
  const Status status = density(static_cast<Index>(places.size()), rows_.data(), x_.data(), densities_);
  for (std::size_t k = 0; k < places.size() && status.ok(); ++k) {
    LatentPlace& place = places[k];
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
Status Tilted::climb() {
  const Index n = of_.count;
  std::vector<double> alone(static_cast<std::size_t>(n));
  Status status = likelihood_.rough(of_, alone.data());
  if (!status.ok()) return status;
  std::vector<LatentPlace> places;
  for (Index i = 0; i < n; ++i) {
    places.push_back({i});
    if (deviation(i) > 0.0) places.push_back({i, (alone[static_cast<std::size_t>(i)] - mean_[i]) / deviation(i)});
  }
  status = evaluate(places);
  if (!status.ok()) return status;
  if (likelihood_.is_log_concave()) {
    std::vector<LatentPlace> better;
    for (const LatentPlace& place : places) {
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
    std::vector<LatentPlace> trials;
    std::vector<std::size_t> moving;
    for (const std::size_t k : active) {
      const LatentPlace& place = places[k];
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
  for (const LatentPlace& place : places) {
    const auto i = static_cast<std::size_t>(place.row);
    if (!seen[i] || place.x < lower_[i].x) lower_[i] = place;
    if (!seen[i] || place.x > upper_[i].x) upper_[i] = place;
    if (!seen[i] || place.g > mode_[i].g) mode_[i] = place;
    seen[i] = true;
  }
  return {};
}

// The ends of the integrals, and panels that are as wide as the maxima are.
Status Tilted::reach() {
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
  const auto from = [&](std::size_t k) -> const LatentPlace& { return k % 2 ? upper_[k / 2] : lower_[k / 2]; };
  for (int step = 0; step < 100; ++step) {
    std::vector<LatentPlace> trials;
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
    for (const LatentPlace* place : {&lower_[k], &upper_[k]}) {
      const LatentPlace& top = one ? mode_[k] : *place;
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

}  // namespace kernsel
