#include "likelihoods/quantiles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "likelihoods/special.hpp"

namespace kernsel {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest = 1e300;  // of a quantile that is finite: beyond, distribution functions overflow

// Numbers without bounds in the place of y: the logarithm of the distance from a bound, or the logarithm of the ratio of the
// distances from two. Whole numbers stay as they are.
class Scale {
 public:
  explicit Scale(const Outcomes& of)
      : of_(of), below_(!of.discrete && of.lower > -infinity), above_(!of.discrete && of.upper < infinity) {}

  bool is_plain() const { return !below_ && !above_; }
  double to_y(double t) const {
    if (below_ && above_) return of_.lower + (of_.upper - of_.lower) * logistic(t);
    return below_ ? of_.lower + std::exp(t) : above_ ? of_.upper - std::exp(-t) : t;
  }
  double from_y(double y) const {
    if (below_ && above_) return std::log((y - of_.lower) / (of_.upper - y));
    return below_ ? std::log(y - of_.lower) : above_ ? -std::log(of_.upper - y) : y;
  }

 private:
  Outcomes of_;
  bool below_, above_;
};

// The quantile is above `low`, whose probability is less than p, and not above `high`. Scores are quantiles of the normal
// distribution for these probabilities, in which most distributions are nearly straight.
class Search {
 public:
  Search(Middle middle, Outcomes outcomes, double p) : outcomes_(outcomes), scale_(outcomes), p_(p), goal_(normal_quantile(p)) {
    low_ = outcomes_.discrete ? outcomes_.lower - 1.0 : -infinity;
    high_ = outcomes_.discrete ? outcomes_.upper : infinity;
    low_score_ = -infinity;
    high_score_ = infinity;
    next_ = scale_.from_y(middle.place);
    step_ = scale_.is_plain() ? middle.width : std::abs(scale_.from_y(middle.place + middle.width) - next_);
    if (!(step_ > 0.0 && std::isfinite(step_))) step_ = 1.0;
    if (!std::isfinite(next_)) next_ = 0.0;
    if (outcomes_.discrete) next_ = std::clamp(std::floor(next_), outcomes_.lower, outcomes_.upper);
    if (!(p > 0.0 && p < 1.0)) {
      done_ = true;
      high_ = std::numeric_limits<double>::quiet_NaN();
    }
  }

  bool is_done() const { return done_; }
  double next() const { return scale_.to_y(next_); }
  double result() const { return scale_.to_y(high_); }

  void learn(double probability) {
    const double width = high_ - low_, score = normal_quantile(std::min(probability, 1.0)) - goal_;
    if (std::isnan(probability)) {
      done_ = true;
      high_ = probability;
      return;
    }
    (probability < p_ ? low_ : high_) = next_;
    (probability < p_ ? low_score_ : high_score_) = score;
    // From the side that has not moved for two steps, a step is taken as if it were nearer (Illinois).
    const bool raised = probability < p_;
    if (raised == raised_) (raised ? high_score_ : low_score_) *= 0.5;
    raised_ = raised;
    if (++count_ > 400 || is_narrow()) done_ = true;
    if (!outcomes_.discrete && std::abs(probability - p_) <= 1e-13 * std::min(p_, 1.0 - p_)) {
      high_ = next_;
      done_ = true;
    }
    if (done_) return;
    slow_ = high_ - low_ > 0.5 * width ? slow_ + 1 : 0;
    next_ = propose();
    if (outcomes_.discrete) next_ = std::clamp(std::floor(next_), low_ + 1.0, high_ - 1.0);
    if (!(next_ > low_ && next_ < high_)) done_ = true;  // no number is between
  }

 private:
  bool is_narrow() const {
    if (!std::isfinite(low_) || !std::isfinite(high_)) return false;
    if (scale_.to_y(low_) == scale_.to_y(high_)) return true;
    const double size = std::max({std::abs(low_), std::abs(high_), scale_.is_plain() ? 0.0 : 1.0});
    return high_ - low_ <= std::max(outcomes_.discrete ? 1.0 : 0.0, 4.0 * std::numeric_limits<double>::epsilon() * size);
  }

  double propose() {
    if (slow_ > 3 || !std::isfinite(low_score_) || !std::isfinite(high_score_)) {
      slow_ = 0;
      return inside();
    }
    const double part = low_score_ / (low_score_ - high_score_);
    return low_ + std::clamp(part, 1e-3, 1.0 - 1e-3) * (high_ - low_);
  }

  double longer_step() { return step_ *= growth_ *= 1.5; }

  // Between the ends, in the middle of their logarithms if one is far from the other; or beyond the only end.
  double inside() {
    if (!std::isfinite(low_) && !std::isfinite(high_)) return 0.0;
    if (!std::isfinite(low_)) return std::max(high_ - longer_step(), -largest);
    if (!std::isfinite(high_)) return std::min(low_ + longer_step(), largest);
    if (low_ >= 1.0 && high_ > 4.0 * low_) return std::sqrt(low_) * std::sqrt(high_);
    if (high_ <= -1.0 && low_ < 4.0 * high_) return -std::sqrt(-high_) * std::sqrt(-low_);
    return 0.5 * low_ + 0.5 * high_;
  }

  Outcomes outcomes_;
  Scale scale_;
  double p_, goal_, step_, low_, high_, low_score_, high_score_, next_;
  bool raised_ = false, done_ = false;
  int count_ = 0, slow_ = 0;
  double growth_ = 1.0;  // of the step, until the quantile is between two numbers
};

}  // namespace

Status search_quantiles(const std::vector<Middle>& middle, const std::vector<Outcomes>& outcomes, const double* p,
                        const Distribution& probability, double* out) {
  std::vector<Search> searches;
  for (std::size_t i = 0; i < middle.size(); ++i) searches.emplace_back(middle[i], outcomes[i], p[i]);
  std::vector<Index> row;
  std::vector<double> y, found;
  while (true) {
    row.clear();
    y.clear();
    for (std::size_t i = 0; i < searches.size(); ++i)
      if (!searches[i].is_done()) {
        row.push_back(static_cast<Index>(i));
        y.push_back(searches[i].next());
      }
    if (row.empty()) break;
    found.resize(row.size());
    const Status status = probability(static_cast<Index>(row.size()), row.data(), y.data(), found.data());
    if (!status.ok()) return status;
    for (std::size_t k = 0; k < row.size(); ++k) searches[static_cast<std::size_t>(row[k])].learn(found[k]);
  }
  for (std::size_t i = 0; i < searches.size(); ++i) out[i] = searches[i].result();
  return {};
}

}  // namespace kernsel
