// The state of a Vecchia factor, and its parts:
//
//     vecchia.cpp      which sets are needed, what a criterion sees
//     likelihood.cpp   the sets of the likelihood: c and the diagonal of P., and their derivatives
//     coefficients.cpp the coefficients of trend and inducing points
//     left_out.cpp     points that are left out
//     gradient.cpp     from derivatives of a criterion to those in the hyperparameters and the noise
//     information.cpp  the expected information
//
// The notation is that of HACKING. The *columns* D are the features of inducing points, and then the functions of the trend.
#pragma once

#include <array>
#include <optional>

#include "factors/vecchia/inducing.hpp"
#include "factors/vecchia/walk.hpp"
#include "kernsel/vecchia.hpp"

namespace kernsel {

class Vecchia final : public VecchiaFactor {
 public:
  explicit Vecchia(VecchiaOptions options) : options_(std::move(options)) {}

  bool renew(const Kernel& k, View<const double> X, bool always) override;
  const std::vector<std::int32_t>& neighbours(bool left_out) const override { return left_out ? others_.of : before_.of; }
  const std::vector<double>& landmarks() const override { return inducing_.landmarks(); }
  const VecchiaOptions& options() const override { return options_; }
  std::vector<double> coefficients() const override;
  const std::vector<double>& triangle() const override { return R_; }
  std::vector<double> products() const override;
  void set_options(VecchiaOptions options) override;

  Status show(const Kernel& k, const Problem& problem, const Request& request, bool, Fit& fit) override;
  std::vector<double> trend_coefficients() const override;
  Status pull(const Partials& partials, Gradient& out) override;
  Status pull_points(const Partials& partials, View<double> out) override;
  Status information(const Partials& partials, std::vector<double>& out) override;
  Status differentiate(const Problem& problem, const Criterion& criterion, Evaluation& out) override;

 private:
  using Numbers = std::vector<double>;

  // Which points have a set of predecessors: none; the terms of the options; all; or the first ones of the order, by which a
  // trend is estimated if nothing else needs these sets.
  enum class Before { none, terms, all, first };

  // What sets of one kind show, in the order of the sets.
  struct Shown {
    Numbers v;      // v_ii
    Numbers t;      // v_i'y, (count, outputs), by rows
    PointRows eta;  // D'v_i, (count, columns)
  };

  // Derivatives of a criterion with respect to what the likelihood's sets determine.
  struct Adjoint {
    Numbers c, precision;  // (n, outputs) by columns, and (n); or empty
    bool has_U = false;
    PointRows U, M, beta;  // (n, columns); (columns, columns), symmetric; (outputs, columns)
  };

  // For the pull of one set: its derivative with respect to eta, (columns), to which fill() adds, and with respect to the
  // errors, (outputs).
  struct OfSet {
    double* eta;
    double* errors;
  };

  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
  Index columns() const { return inducing_.count() + q_; }
  bool tiled() const { return inducing_.count() > 0; }
  bool all_terms() const { return options_.terms.empty(); }
  SetPoints points() const;
  double* table_row(Index i) { return table_.data() + i * table_width_; }
  const double* table_row(Index i) const { return table_.data() + i * table_width_; }

  // vecchia.cpp
  void forget();
  bool knows(View<const double> X) const;
  Index enough_for_columns() const;
  Before needed(const Request& request) const;
  Status find_features(const Kernel& k, View<const double> X, std::vector<Feature>& out) const;
  Status find_sets(const Request& request);
  Status find_landmarks();
  Status show_all(const Kernel& k, const Problem& problem, const Request& request, Fit& fit);
  Status show_sets();
  void take_points();
  Status take_columns();
  void show_set(const Cell& cell, const std::int32_t* points, Index i, Shown& out) const;
  Status clear(Shown& out, Index count) const;
  double error(const Shown& shown, Index i, Index j) const;
  void give(Fit& fit);

  // likelihood.cpp
  Status show_before();
  void scatter(Index begin, Index end, const double* kept);
  Status without_trend();
  Status pull_before(const Partials& partials, Adjoint& adjoint, Gradient& out);

  // coefficients.cpp
  Status estimate();
  Status estimate_trend();
  Status estimate_with_inducing();
  void inverse_of_triangle();
  Status add_log_dets(const Partials& partials, PointRows& of_M) const;

  // left_out.cpp
  Status show_others();
  Status pull_others(const LeftOut& given, Adjoint& adjoint, Gradient& out);
  void show_densities();
  Status pull_densities(const Numbers& given, Gradient& out);

  // gradient.cpp
  Status differentiate_shown(const Problem& problem, const Criterion& criterion, Evaluation& out);
  Status pull_all(const Partials& partials, Gradient& out);
  void gather_columns(const Cell& cell, const std::int32_t* points, const double** rows) const;
  void pull_features(Index begin, Index end, const Sets& sets, const Shown& shown, const Numbers& kept);
  template <class Prepare, class Fill>
  Status pull_sets(const Sets& sets, const Shown& shown, const Prepare& prepare, const Fill& fill, Gradient& out);

  // information.cpp
  Status information_of(const Partials& partials, Numbers& out);

  VecchiaOptions options_;
  Before kind_ = Before::none, found_ = Before::none;  // that is needed, and that before_ is of
  Sets before_, others_;                               // neighbours among points before each point, and among all others
  std::vector<Feature> coordinates_;                   // in which neighbours were chosen
  Index columns_of_points_ = -1;                       // -1 if neighbours are to be chosen
  std::uint64_t fingerprint_ = 0;                      // of the points
  bool all_for_trend_ = false;                         // the first points of the order do not determine the trend
  Groups groups_;
  bool jointly_ = false;  // whether sets of others have the points before theirs in the group
  Inducing inducing_;

  std::optional<Kernel> k_;
  Problem problem_{};
  bool shown_ = false;  // whether the last show() has succeeded
  Request request_;
  bool scatters_ = false;  // whether c, U and the diagonal of P. are computed for the points of the likelihood's sets
  Index n_ = 0, m_ = 0, q_ = 0;
  View<const double> X_;
  Numbers copied_;
  Numbers added_, noise_;  // the noise of the problem, and that with the white parts of the kernel
  PointRows D_;            // (n, columns)
  Numbers table_;          // other numbers of each point, by rows, so that those of a set are gathered at once
  Index table_width_ = 0;
  Shown shown_before_, shown_others_;
  PointRows beta_, inverse_;  // the coefficients of the columns, (outputs, columns); M^-1
  PointRows L_features_;      // the Cholesky factor of the part of M that belongs to inducing points
  Numbers R_;                 // M = R'R, by columns
  Numbers squares_, c_, precision_, of_terms_;
  PointRows U_, of_slots_, of_F_;  // P D; for the sets of a chunk, dJ/deta and more; dJ/dF
  double log_det_ = 0.0, log_det_trend_ = 0.0;
  LeftOut left_out_;
  double* of_points_ = nullptr;  // dJ/d(points), (n, d), by rows, during pull_points()
};

// Adds the gradient of sets. prepare(begin, end) is called for each chunk of sets before these are visited, and may write the
// first derivatives with respect to eta to rows of of_slots_, one for each set of the chunk. fill(cell, points, i, of_set, q)
// computes the derivatives with respect to v.
template <class Prepare, class Fill>
Status Vecchia::pull_sets(const Sets& sets, const Shown& shown, const Prepare& prepare, const Fill& fill, Gradient& out) {
  const Index parameters = k_->parameters(), most = sets.neighbours + 1, features = inducing_.count();
  const Index d = of_points_ ? X_.cols : 0;
  Numbers slopes(at(walk_batches * parameters), 0.0), noise(at(std::min(walk_chunk, sets.count()) * most));
  Numbers kept(features > 0 ? 2 * noise.size() : 0);  // a and v of each set
  Numbers in_targets(at(m_) * noise.size());
  Numbers in_points(noise.size() * at(d));
  Status status = of_slots_.resize(std::min(walk_chunk, sets.count()), columns(), tiled());
  if (status.ok()) status = prepare(0, std::min(walk_chunk, sets.count()));
  if (!status.ok()) return status;
  Status prepared;
  status = walk(
      *k_, points(), sets, true,
      [&](Cell& cell, const std::int32_t* set, Index i, Index batch) -> Status {
        if (!prepared.ok()) return prepared;
        Numbers errors(at(m_), 0.0);
        const Index slot = i % walk_chunk;
        const OfSet of_set{of_slots_.row(slot), errors.data()};
        fill(cell, set, i, of_set, cell.q());
        Status pulled = cell.pull(slopes.data() + batch * parameters, noise.data() + slot * most);
        for (Index r = 0; r < cell.count(); ++r)  // t_i = v'y
          for (Index j = 0; j < m_; ++j) in_targets[at((slot * most + r) * m_ + j)] = errors[at(j)] * cell.v()[r];
        if (pulled.ok() && of_points_) pulled = cell.pull_points(in_points.data() + slot * most * d);
        if (!pulled.ok() || features == 0) return pulled;
        // The row of this set becomes F'a + dJ/d(F'v): with eta, all that dJ/dF is made of.
        std::array<const double*, VecchiaOptions::most_neighbours + 1> rows{};
        gather_columns(cell, set, rows.data());
        D_.add(cell.count(), rows.data(), cell.a(), of_set.eta);
        for (Index j = 0; j < m_; ++j) {
          const double* row = beta_.row(j);
          const double factor = -errors[at(j)];
          D_.add(1, &row, &factor, of_set.eta);
        }
        std::copy_n(cell.a(), cell.count(), kept.data() + 2 * slot * most);
        std::copy_n(cell.v(), cell.count(), kept.data() + (2 * slot + 1) * most);
        return pulled;
      },
      [&](Index begin, Index end, Index batches) {
        for (Index batch = 0; batch < batches; ++batch)
          for (Index p = 0; p < parameters; ++p) out.theta[at(p)] += slopes[at(batch * parameters + p)];
        std::fill(slopes.begin(), slopes.end(), 0.0);
        for (Index i = begin; i < end; ++i) {
          const double* of_noise = noise.data() + i % walk_chunk * most;
          const Index size = sets.size(i);
          for (Index r = 0; r + 1 < size; ++r) out.noise[at(sets.neighbours_of(i)[r])] += of_noise[r];
          out.noise[at(sets.last[at(i)])] += of_noise[size - 1];
          for (Index r = 0; r < size; ++r) {
            const Index point = r + 1 < size ? sets.neighbours_of(i)[r] : sets.last[at(i)];
            for (Index j = 0; j < m_; ++j)
              out.targets[at(point + j * n_)] += in_targets[at((i % walk_chunk * most + r) * m_ + j)];
            if (!of_points_) continue;
            const double* from = in_points.data() + (i % walk_chunk * most + r) * d;
            for (Index k = 0; k < d; ++k) of_points_[point * d + k] += from[k];
          }
        }
        if (features > 0) pull_features(begin, end, sets, shown, kept);
        if (end < sets.count()) prepared = prepare(end, std::min(end + walk_chunk, sets.count()));
      },
      of_points_ != nullptr);
  return status.ok() ? prepared : status;
}

}  // namespace kernsel
