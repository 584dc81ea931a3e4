#include "support/support_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernsel/gram.hpp"
#include "support/support_interior.hpp"

namespace kernsel {

namespace {

constexpr Index padding = LowerTiles<double>::padding;
constexpr Index most_at_once = 512;

Status reserve(Memory& memory, Index numbers) {
  return memory.reserve(static_cast<std::size_t>(std::max<Index>(numbers, 1)) * sizeof(double));
}

}  // namespace

bool SupportSolver::Rows::noise_fits() const {
  const bool valid =
      std::all_of(given_noise_.begin(), given_noise_.end(), [](double v) { return v >= 0.0 && std::isfinite(v); });
  return valid && (given_noise_.empty() || static_cast<Index>(given_noise_.size()) == X_.rows);
}

Status SupportSolver::Rows::start() {
  if (started_) return {};
  const Index n = X_.rows;
  diagonal_.resize(static_cast<std::size_t>(n));
  noise_.resize(static_cast<std::size_t>(n));
  Status status = gram_diagonal<double>(kernel_, X_, vector(diagonal_.data(), n));
  if (status.ok()) status = gram_noise(kernel_, X_, vector(noise_.data(), n));
  for (std::size_t i = 0; i < given_noise_.size(); ++i) {
    noise_[i] += given_noise_[i];
    diagonal_[i] += given_noise_[i];
  }
  active_.resize(static_cast<std::size_t>(n));
  std::iota(active_.begin(), active_.end(), Index{0});
  stride_ = round_up(n, padding);
  whole_ = static_cast<double>(stride_) * static_cast<double>(n) * sizeof(double) <= static_cast<double>(bytes_);
  at_once_ = whole_ && n <= most_at_once;
  if (status.ok() && at_once_) {
    status = reserve(matrix_, stride_ * n);
    double* K = static_cast<double*>(matrix_.data());
    if (status.ok()) status = gram<double>(kernel_, X_, View<double>{K, n, n, stride_, 1});
    for (Index i = 0; i < n && status.ok(); ++i) {
      std::fill(K + i * stride_ + n, K + (i + 1) * stride_, 0.0);
      if (!given_noise_.empty()) K[i * stride_ + i] += given_noise_[static_cast<std::size_t>(i)];
    }
    if (status.ok()) computed_ += n;
  } else if (status.ok()) {
    row_of_.assign(static_cast<std::size_t>(n), nullptr);
    page_of_.assign(static_cast<std::size_t>(n), -1);
    active_X_ = X_;
  }
  started_ = status.ok();
  return status;
}

Index SupportSolver::Rows::capacity() const {
  if (whole_) return X_.rows;
  const double page = static_cast<double>(stride_ * page_rows) * sizeof(double);
  return std::max<Index>(static_cast<Index>(static_cast<double>(bytes_) / page), 2) * page_rows;
}

Status SupportSolver::Rows::restrict_to(const std::vector<Index>& active) {
  if (whole_ || active == active_) return {};
  active_ = active;
  drop_pages();
  pages_.clear();  // rows have another length from now on
  const auto count = static_cast<Index>(active.size());
  stride_ = round_up(count, padding);
  if (count < X_.rows) return gather(active, active_points_, active_X_);
  active_X_ = X_;
  return {};
}

void SupportSolver::Rows::drop_pages() {
  for (Page& page : pages_) {
    for (const Index i : page.points) row_of_[static_cast<std::size_t>(i)] = nullptr;
    page.points.clear();
    page.used = 0;
  }
}

Status SupportSolver::Rows::gather(const std::vector<Index>& points, Memory& memory, View<const double>& to) const {
  const auto count = static_cast<Index>(points.size());
  const Status status = reserve(memory, count * X_.cols);
  if (!status.ok()) return status;
  double* values = static_cast<double*>(memory.data());
  for (Index c = 0; c < X_.cols; ++c)
    for (Index i = 0; i < count; ++i) values[i + c * count] = X_(points[static_cast<std::size_t>(i)], c);
  to = columns<const double>(values, count, X_.cols);
  return {};
}

Status SupportSolver::Rows::compute(const Index* points, Index count, double* to) {
  const std::vector<Index> some(points, points + count);
  Memory memory;
  View<const double> of;
  Status status = gather(some, memory, of);
  const auto width = static_cast<Index>(active_.size());
  if (status.ok()) status = cross_gram<double>(kernel_, of, active_X_, View<double>{to, count, width, stride_, 1});
  for (Index r = 0; r < count && status.ok(); ++r) {
    double* row = to + r * stride_;
    std::fill(row + width, row + stride_, 0.0);
    const auto own = std::lower_bound(active_.begin(), active_.end(), points[r]) - active_.begin();
    row[own] += noise_[static_cast<std::size_t>(points[r])];
  }
  if (status.ok()) computed_ += count;
  return status;
}

Status SupportSolver::Rows::free_page(Index& page) {
  const Index room = capacity() / page_rows, count = static_cast<Index>(pages_.size());
  const auto oldest =
      std::min_element(pages_.begin(), pages_.end(), [](const Page& a, const Page& b) { return a.used < b.used; });
  if ((whole_ || count < room) && (oldest == pages_.end() || oldest->used > 0)) {
    pages_.emplace_back();
    page = count;
    return reserve(pages_.back().memory, page_rows * stride_);
  }
  page = oldest - pages_.begin();
  for (const Index i : oldest->points) row_of_[static_cast<std::size_t>(i)] = nullptr;
  oldest->points.clear();
  return {};
}

Status SupportSolver::Rows::fetch(const std::vector<Index>& points, std::vector<const double*>& rows) {
  if (static_cast<Index>(points.size()) > capacity()) return Status::invalid("support vectors: more rows than can be kept");
  rows.resize(points.size());
  if (at_once_) {
    const double* K = static_cast<const double*>(matrix_.data());
    for (std::size_t k = 0; k < points.size(); ++k) rows[k] = K + points[k] * stride_;
    return {};
  }
  ++clock_;
  std::vector<Index> missing;
  for (const Index i : points) {
    if (row_of_[static_cast<std::size_t>(i)])
      pages_[static_cast<std::size_t>(page_of_[static_cast<std::size_t>(i)])].used = clock_;
    else
      missing.push_back(i);
  }
  const auto in_use = std::count_if(pages_.begin(), pages_.end(), [this](const Page& page) { return page.used == clock_; });
  if (!whole_ && !missing.empty() && (in_use + 1) * page_rows + static_cast<Index>(missing.size()) > capacity()) {
    drop_pages();  // the pages in use and the missing rows would not fit together
    missing = points;
  }
  const auto count = static_cast<Index>(missing.size());
  for (Index begin = 0; begin < count;) {
    // A page that is not full takes further rows. It must be in use: fetch() reuses the rows of a page only all at once.
    Index at = -1;
    for (std::size_t p = 0; p < pages_.size(); ++p)
      if (pages_[p].used > 0 && static_cast<Index>(pages_[p].points.size()) < page_rows) at = static_cast<Index>(p);
    Status status;
    if (at < 0) status = free_page(at);
    if (!status.ok()) return status;
    Page& page = pages_[static_cast<std::size_t>(at)];
    const auto there = static_cast<Index>(page.points.size());
    const Index now = std::min(page_rows - there, count - begin);
    double* to = static_cast<double*>(page.memory.data()) + there * stride_;
    status = compute(missing.data() + begin, now, to);
    if (!status.ok()) return status;
    page.used = clock_;
    for (Index k = 0; k < now; ++k) {
      const Index i = missing[static_cast<std::size_t>(begin + k)];
      page.points.push_back(i);
      row_of_[static_cast<std::size_t>(i)] = to + k * stride_;
      page_of_[static_cast<std::size_t>(i)] = at;
    }
    begin += now;
  }
  for (std::size_t k = 0; k < points.size(); ++k) rows[k] = row_of_[static_cast<std::size_t>(points[k])];
  return {};
}

Status SupportSolver::Rows::near_solution(const SupportProblem& problem, std::vector<double>& a) {
  const auto n = static_cast<double>(X_.rows);
  if ((whole_ ? 12.0 : 4.0) * n * n > static_cast<double>(bytes_)) return {};  // half a matrix for the factor
  if (!whole_) {
    drop_pages();
    pages_.clear();
  }
  std::vector<double> product;
  const Status status = multiply(interior_start(problem), product);
  return status.ok() ? kernsel::near_solution(kernel_, X_, given_noise_, problem, diagonal_, product, a) : status;
}

Status SupportSolver::Rows::multiply(const std::vector<double>& a, std::vector<double>& out) const {
  std::vector<Index> support;
  std::vector<double> factors;
  for (Index i = 0; i < X_.rows; ++i)
    if (a[static_cast<std::size_t>(i)] != 0.0) {
      support.push_back(i);
      factors.push_back(a[static_cast<std::size_t>(i)]);
    }
  out.assign(a.size(), 0.0);
  if (support.empty()) return {};
  Memory memory;
  View<const double> Z;
  Status status = gather(support, memory, Z);
  const View<const double> V = vector<const double>(factors.data(), static_cast<Index>(factors.size()));
  if (status.ok()) status = kernsel::multiply<double>(kernel_, X_, Z, V, vector(out.data(), X_.rows));
  for (std::size_t i = 0; i < a.size(); ++i) out[i] += noise_[i] * a[i];
  return status;
}

}  // namespace kernsel
