#include <pybind11/stl.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "arrays.hpp"
#include "compute.hpp"
#include "errors.hpp"
#include "kernsel/strings.hpp"
#include "module.hpp"

namespace py = pybind11;
using kernsel::Index;
using kernsel::Status;

namespace {

// Sequences of tokens, copied so that other threads cannot change them during a computation.
class Sequences {
 public:
  Sequences(const py::object& tokens, const py::object& offsets)
      : tokens_(whole_numbers<std::int32_t>(tokens, "tokens")), offsets_(whole_numbers<std::int64_t>(offsets, "offsets")) {
    bool right = !offsets_.empty() && offsets_.front() == 0 && offsets_.back() == static_cast<std::int64_t>(tokens_.size());
    for (std::size_t i = 1; right && i < offsets_.size(); ++i) right = offsets_[i] >= offsets_[i - 1];
    if (!right) raise_value_error("offsets: expected ascending numbers, from 0 up to the number of tokens");
  }
  kernsel::Strings strings() const { return {tokens_.data(), offsets_.data(), count()}; }
  Index count() const { return static_cast<Index>(offsets_.size()) - 1; }

 private:
  std::vector<std::int32_t> tokens_;
  std::vector<std::int64_t> offsets_;
};

// `count` new tables of the values for pairs of X and Z, for all pairs of X, or for each of X with itself (`diagonal`).
struct Tables {
  Tables(const Sequences& X, const Sequences* Z, bool diagonal, Index count)
      : rows(X.count()), cols(diagonal ? 1 : (Z ? *Z : X).count()), array(new_array<double>(count * rows, cols)) {}
  kernsel::View<double> view(Index table) { return view_of(array).block(table * rows, 0, rows, cols); }

  Index rows, cols;
  py::array_t<double> array;
};

// Returns the tables as an array of shape (count, n, m): the values, and then derivatives if they were asked for.
py::array shaped(Tables& tables, Index count) { return tables.array.reshape({count, tables.rows, tables.cols}); }

py::array spectrum(const Sequences& X, const Sequences* Z, bool diagonal, Index length, Index mismatches, Index alphabet) {
  const kernsel::Spectrum k{length, mismatches, alphabet};
  Tables tables(X, Z, diagonal, 1);
  const kernsel::View<double> out = tables.view(0);
  compute([&]() -> Status {
    if (diagonal) return kernsel::diagonal(k, X.strings(), out);
    return Z ? kernsel::cross_gram(k, X.strings(), Z->strings(), out) : kernsel::gram(k, X.strings(), out);
  });
  return shaped(tables, 1);
}

py::array subsequences(const Sequences& X, const Sequences* Z, bool diagonal, Index length, double decay, bool derivative) {
  const kernsel::Subsequences k{length, decay};
  const Index count = derivative ? 2 : 1;
  Tables tables(X, Z, diagonal, count);
  const kernsel::View<double> out = tables.view(0);
  const kernsel::View<double> slope = derivative ? tables.view(1) : kernsel::View<double>{};
  compute([&]() -> Status {
    if (diagonal) return kernsel::diagonal(k, X.strings(), out, slope);
    return Z ? kernsel::cross_gram(k, X.strings(), Z->strings(), out, slope) : kernsel::gram(k, X.strings(), out, slope);
  });
  return shaped(tables, count);
}

py::array log_alignments(const Sequences& X, const Sequences* Z, bool diagonal, double beta, double gap_open, double gap_extend,
                         double match, double mismatch, const py::object& scores, bool derivative) {
  kernsel::LocalAlignment k{beta, gap_open, gap_extend, match, mismatch, {}};
  std::optional<Input> table;
  if (!scores.is_none()) {
    table.emplace(scores, "scores", 2);
    table->to(false);
    k.scores = table->view<double>();
  }
  const Index count = derivative ? 4 : 1;
  Tables tables(X, Z, diagonal, count);
  const kernsel::View<double> out = tables.view(0);
  kernsel::AlignmentSlopes room;
  if (derivative) room = {tables.view(1), tables.view(2), tables.view(3)};
  const kernsel::AlignmentSlopes* slopes = derivative ? &room : nullptr;
  compute([&]() -> Status {
    if (diagonal) return kernsel::log_diagonal(k, X.strings(), out, slopes);
    return Z ? kernsel::log_cross_gram(k, X.strings(), Z->strings(), out, slopes)
             : kernsel::log_gram(k, X.strings(), out, slopes);
  });
  return shaped(tables, count);
}

}  // namespace

void bind_strings(py::module_& module) {
  py::class_<Sequences>(module, "Sequences")
      .def(py::init<const py::object&, const py::object&>(), py::arg("tokens"), py::arg("offsets"));
  const auto X = py::arg("X");
  const auto Z = py::arg("Z").none(true);
  const auto diagonal = py::arg("diagonal");
  module.def("spectrum", &spectrum, X, Z, diagonal, py::arg("length"), py::arg("mismatches"), py::arg("alphabet"));
  module.def("subsequences", &subsequences, X, Z, diagonal, py::arg("length"), py::arg("decay"), py::arg("derivative"));
  module.def("log_alignments", &log_alignments, X, Z, diagonal, py::arg("beta"), py::arg("gap_open"), py::arg("gap_extend"),
             py::arg("match"), py::arg("mismatch"), py::arg("scores").none(true), py::arg("derivative"));
}
