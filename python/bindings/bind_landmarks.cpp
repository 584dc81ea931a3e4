#include <pybind11/stl.h>

#include "approximations.hpp"
#include "arrays.hpp"
#include "compute.hpp"
#include "errors.hpp"
#include "module.hpp"

namespace py = pybind11;
using kernsel::Index;
using kernsel::Kernel;
using kernsel::NystromBlocks;
using kernsel::NystromPartials;
using kernsel::NystromPartialSums;
using kernsel::NystromSums;
using kernsel::RowBlock;
using kernsel::View;

namespace {

using Numbers = std::vector<double>;

py::array_t<double> packed(const Numbers& values) {
  auto out = new_array<double>(Index(values.size()));
  std::copy(values.begin(), values.end(), out.mutable_data());
  return out;
}

Numbers numbers(const py::object& array) {
  const auto values = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(array);
  if (!values) raise_type_error("expected an array of numbers");
  return {values.data(), values.data() + values.size()};
}

// A block of rows with the arrays that it views.
class Block {
 public:
  Block(const py::object& X, const py::object& y, const py::object& noise, const py::object& trend)
      : X_(X, "X", 2), y_(y, "y", 2), trend_(trend, "trend", 2), noise_(noise_input(noise, X_.rows())) {
    for (Input* input : {&X_, &y_, &trend_, &noise_}) input->to(false);
  }
  RowBlock view() const { return {X_.view<double>(), y_.view<double>(), noise_.view<double>(), trend_.view<double>()}; }
  Index rows() const { return X_.rows(); }
  Index columns() const { return X_.cols(); }

 private:
  Input X_, y_, trend_, noise_;
};

// The partial derivatives for the rows of a block, of which each may be None.
class Slopes {
 public:
  Slopes(const py::object& c, const py::object& precision, const py::object& missing, const py::object& noise) {
    const auto read = [this](const py::object& given, int dimensions) {
      if (given.is_none()) return View<const double>{};
      inputs_.push_back(std::make_unique<Input>(given, "partials", dimensions));
      inputs_.back()->to(false);
      return inputs_.back()->view<double>();
    };
    view = {read(c, 2), read(precision, 1), read(missing, 1), read(noise, 1)};
  }
  NystromPartials view;

 private:
  std::vector<std::unique_ptr<Input>> inputs_;
};

py::tuple show(const NystromBlocks& blocks, const py::object& X, const py::object& y, const py::object& noise,
               const py::object& trend, bool diagonal, bool missing) {
  const Block block(X, y, noise, trend);
  const Index n = block.rows();
  auto c = new_array<double>(n, block.view().y.cols);
  py::object P = py::none(), e = py::none();
  View<double> precision, lost;
  if (diagonal) {
    auto out = new_array<double>(n);
    precision = view_of(out);
    P = std::move(out);
  }
  if (missing) {
    auto out = new_array<double>(n);
    lost = view_of(out);
    e = std::move(out);
  }
  compute([&, to = view_of(c)] { return blocks.show(block.view(), to, precision, lost); });
  return py::make_tuple(c, P, e);
}

py::tuple predict(const NystromBlocks& blocks, const py::object& Z, const py::object& trend, Index outputs, bool variances) {
  Input points(Z, "X", 2), basis(trend, "trend", 2);
  for (Input* input : {&points, &basis}) input->to(false);
  auto mean = new_array<double>(points.rows(), outputs);
  py::object second = py::none();
  View<double> variance;
  if (variances) {
    auto out = new_array<double>(points.rows());
    variance = view_of(out);
    second = std::move(out);
  }
  compute([&, to = view_of(mean)] { return blocks.predict(points.view<double>(), basis.view<double>(), to, variance); });
  return py::make_tuple(mean, second);
}

py::tuple pull(const NystromBlocks& blocks, const py::object& X, const py::object& y, const py::object& noise,
               const py::object& trend, const Slopes& slopes, Index parameters) {
  const Block block(X, y, noise, trend);
  auto theta = new_array<double>(parameters), of_noise = new_array<double>(block.rows());
  std::fill_n(theta.mutable_data(), parameters, 0.0);
  compute(
      [&, to = view_of(of_noise), at = theta.mutable_data()] { return blocks.pull(block.view(), slopes.view, at, {to}, {}); });
  return py::make_tuple(theta, of_noise);
}

// The sums of no rows, or those of a pickle, whose parts are the arguments.
std::unique_ptr<NystromSums> sums_of(const py::args& state) {
  auto s = std::make_unique<NystromSums>();
  if (state.empty()) return s;
  if (state.size() != 7) raise_type_error("NystromSums: expected no arguments, or seven");
  s->rows = state[0].cast<Index>();
  s->moments = numbers(state[1]);
  s->products = numbers(state[2]);
  s->squares = numbers(state[3]);
  s->trend = numbers(state[4]);
  s->log_noise = state[5].cast<double>();
  s->missing = state[6].cast<double>();
  return s;
}

std::unique_ptr<NystromPartialSums> partial_sums_of(const py::args& state) {
  auto s = std::make_unique<NystromPartialSums>();
  if (state.empty()) return s;
  if (state.size() != 4) raise_type_error("NystromPartialSums: expected no arguments, or four");
  *s = {numbers(state[0]), numbers(state[1]), numbers(state[2]), numbers(state[3])};
  return s;
}

void require_same_size(const Numbers& sums, const Numbers& more) {
  if (!sums.empty() && !more.empty() && sums.size() != more.size())
    raise_value_error("other: expected sums for the same landmarks, trend and outputs");
}

void require_same_size(const NystromSums& sums, const NystromSums& more) {
  require_same_size(sums.moments, more.moments);
  require_same_size(sums.products, more.products);
  require_same_size(sums.trend, more.trend);
}

}  // namespace

void bind_landmarks(py::module_& module) {
  py::class_<NystromSums>(module, "NystromSums")
      .def_static("__new__", [](const py::object&, const py::args& state) { return sums_of(state); })
      .def(py::init(&sums_of))
      .def("__reduce__",
           [](const py::object& self) {
             const auto& s = self.cast<const NystromSums&>();
             return py::make_tuple(py::type::of(self),
                                   py::make_tuple(s.rows, packed(s.moments), packed(s.products), packed(s.squares),
                                                  packed(s.trend), s.log_noise, s.missing));
           })
      .def(
          "add",
          [](NystromSums& sums, const NystromSums& more) {
            require_same_size(sums, more);
            sums.add(more);
          },
          py::arg("other"))
      .def(
          "subtract",
          [](NystromSums& sums, const NystromSums& some) {
            require_same_size(sums, some);
            if (some.rows > sums.rows) raise_value_error("other: expected sums of some of the rows");
            sums.subtract(some);
          },
          py::arg("other"))
      .def_readonly("rows", &NystromSums::rows)
      .def_readonly("missing", &NystromSums::missing)
      .def_readonly("log_noise", &NystromSums::log_noise)
      .def_property_readonly("moments", [](const NystromSums& sums) { return packed(sums.moments); })
      .def_property_readonly("products", [](const NystromSums& sums) { return packed(sums.products); })
      .def_property_readonly("squares", [](const NystromSums& sums) { return packed(sums.squares); })
      .def_property_readonly("trend", [](const NystromSums& sums) { return packed(sums.trend); });
  py::class_<NystromPartialSums>(module, "NystromPartialSums")
      .def_static("__new__", [](const py::object&, const py::args& state) { return partial_sums_of(state); })
      .def(py::init(&partial_sums_of))
      .def("__reduce__",
           [](const py::object& self) {
             const auto& s = self.cast<const NystromPartialSums&>();
             return py::make_tuple(py::type::of(self),
                                   py::make_tuple(packed(s.products), packed(s.moments), packed(s.missing), packed(s.theta)));
           })
      .def(
          "add",
          [](NystromPartialSums& sums, const NystromPartialSums& more) {
            require_same_size(sums.moments, more.moments);
            require_same_size(sums.products, more.products);
            require_same_size(sums.missing, more.missing);
            sums.add(more);
          },
          py::arg("other"))
      .def_property_readonly("products", [](const NystromPartialSums& sums) { return packed(sums.products); })
      .def_property_readonly("moments", [](const NystromPartialSums& sums) { return packed(sums.moments); })
      .def_property_readonly("missing", [](const NystromPartialSums& sums) { return packed(sums.missing); });
  py::class_<NystromBlocks>(module, "NystromBlocks")
      .def_static(
          "begin",
          [](const Kernel& k, const py::object& Z, Index trend) {
            Input landmarks(Z, "landmarks", 2);
            landmarks.to(false);
            landmarks.require_finite();
            auto blocks = std::make_unique<NystromBlocks>();
            compute([&] { return blocks->begin(k, landmarks.view<double>(), trend); });
            return blocks;
          },
          py::arg("kernel"), py::arg("landmarks"), py::arg("trend"))
      .def(
          "add",
          [](const NystromBlocks& blocks, const py::object& X, const py::object& y, const py::object& noise,
             const py::object& trend) {
            const Block block(X, y, noise, trend);
            auto sums = std::make_unique<NystromSums>();
            compute([&] { return blocks.add(block.view(), *sums); });
            return sums;
          },
          py::arg("X"), py::arg("y"), py::arg("noise"), py::arg("trend"))
      .def(
          "features",
          [](const NystromBlocks& blocks, const py::object& X, Index count) {
            Input points(X, "X", 2);
            points.to(false);
            auto out = new_array<double>(points.rows(), count);
            compute([&, to = view_of(out)] { return blocks.features(points.view<double>(), to); });
            return out;
          },
          py::arg("X"), py::arg("count"))
      .def("solve", [](NystromBlocks& blocks, const NystromSums& sums) { compute([&] { return blocks.solve(sums); }); })
      .def_property_readonly("log_det", &NystromBlocks::log_det)
      .def_property_readonly("log_det_trend", &NystromBlocks::log_det_trend)
      .def_property_readonly("squares", [](const NystromBlocks& blocks) { return packed(blocks.squares()); })
      .def_property_readonly("trend_coefficients",
                             [](const NystromBlocks& blocks) { return packed(blocks.trend_coefficients()); })
      .def("show", &show, py::arg("X"), py::arg("y"), py::arg("noise"), py::arg("trend"), py::arg("diagonal"),
           py::arg("missing"))
      .def(
          "set_totals",
          [](NystromBlocks& blocks, Numbers squares, double log_det, double log_det_trend, double missing) {
            blocks.set_totals({std::move(squares), log_det, log_det_trend, missing});
          },
          py::arg("squares"), py::arg("log_det"), py::arg("log_det_trend"), py::arg("missing"))
      .def(
          "add_partials",
          [](const NystromBlocks& blocks, const py::object& X, const py::object& y, const py::object& noise,
             const py::object& trend, const py::object& c, const py::object& precision, const py::object& missing) {
            const Block block(X, y, noise, trend);
            const Slopes slopes(c, precision, missing, py::none());
            auto sums = std::make_unique<NystromPartialSums>();
            compute([&] { return blocks.add_partials(block.view(), slopes.view, *sums); });
            return sums;
          },
          py::arg("X"), py::arg("y"), py::arg("noise"), py::arg("trend"), py::arg("c"), py::arg("precision"),
          py::arg("missing"))
      .def("solve_partials",
           [](NystromBlocks& blocks, const NystromPartialSums& sums) { compute([&] { return blocks.solve_partials(sums); }); })
      .def(
          "pull",
          [](const NystromBlocks& blocks, const py::object& X, const py::object& y, const py::object& noise,
             const py::object& trend, const py::object& c, const py::object& precision, const py::object& missing,
             const py::object& of_noise, Index parameters) {
            return pull(blocks, X, y, noise, trend, Slopes(c, precision, missing, of_noise), parameters);
          },
          py::arg("X"), py::arg("y"), py::arg("noise"), py::arg("trend"), py::arg("c"), py::arg("precision"),
          py::arg("missing"), py::arg("of_noise"), py::arg("parameters"))
      .def(
          "pull_landmarks",
          [](const NystromBlocks& blocks, Index parameters) {
            auto theta = new_array<double>(parameters);
            std::fill_n(theta.mutable_data(), parameters, 0.0);
            compute([&, at = theta.mutable_data()] { return blocks.pull_landmarks(at, {}); });
            return theta;
          },
          py::arg("parameters"))
      .def("predict", &predict, py::arg("X"), py::arg("trend"), py::arg("outputs"), py::arg("variances"));
  module.def(
      "choose_landmarks",
      [](const Kernel& k, const py::object& X, const py::object& approximation) {
        Input points(X, "X", 2);
        points.to(false);
        points.require_finite();
        const kernsel::NystromOptions options = nystrom_options(approximation);
        Numbers landmarks;
        compute([&] { return kernsel::choose_landmarks(k, points.view<double>(), options, landmarks); });
        return by_rows(landmarks, points.cols());
      },
      py::arg("kernel"), py::arg("X"), py::arg("approximation"));
}
