#include "bind_factor.hpp"

#include "arrays.hpp"
#include "compute.hpp"
#include "errors.hpp"
#include "module.hpp"

namespace py = pybind11;
using kernsel::Index;
using kernsel::Status;
using kernsel::View;

std::atomic<long> FactorLock::forks{0};

std::vector<const FactorLock*>& FactorLock::in_use() {
  thread_local std::vector<const FactorLock*> locks;
  return locks;
}

std::shared_mutex& FactorLock::get() {
  for (const FactorLock* lock : in_use())
    if (lock == this) raise_runtime_error("this factor is in use by the computation that a signal handler interrupts");
  Mutex* now = current_.load();
  while (now->born != forks.load()) {
    auto fresh = std::make_unique<Mutex>();
    if (current_.compare_exchange_strong(now, fresh.get())) return fresh.release()->mutex;
  }
  return now->mutex;
}

namespace {

template <class T, class F>
void read(const Factor<T>& factor, const F& f) {
  std::shared_mutex& mutex = factor.lock.get();
  compute([&] {
    const FactorLock::Use use(&factor.lock);
    const std::shared_lock lock(mutex);
    return f(factor.tiles);
  });
}

template <class T, class F>
void change(Factor<T>& factor, const F& f) {
  std::shared_mutex& mutex = factor.lock.get();
  compute([&] {
    const FactorLock::Use use(&factor.lock);
    const std::unique_lock lock(mutex);
    return f(factor.tiles);
  });
}

// Returns f(tiles), a number that is read under the lock.
template <class T, class F>
auto value_of(const Factor<T>& factor, const F& f) {
  decltype(f(factor.tiles)) value{};
  read(factor, [&](const kernsel::LowerTiles<T>& tiles) {
    value = f(tiles);
    return Status{};
  });
  return value;
}

template <class T>
Index size_of(const Factor<T>& factor) {
  return value_of(factor, [](const auto& tiles) { return tiles.size(); });
}

Input square(const py::object& A, const char* name) {
  Input input(A, name, 2);
  if (input.rows() != input.cols())
    raise_value_error(std::string(name) + ": expected a square matrix, got shape " + input.shape());
  return input;
}

template <class T>
std::unique_ptr<Factor<T>> factorize_array(const Input& A, const Input& noise) {
  auto factor = std::make_unique<Factor<T>>();
  const auto status = compute_status([&, view = A.view<T>(), extra = noise.view<T>()] {
    const Status room = factor->tiles.resize(view.rows);
    return room.ok() ? factorize(kernsel::ArraySource<T>(view, extra), factor->tiles) : room;
  });
  if (status.code == kernsel::Code::not_positive_definite) {
    // NaN and infinity cause a pivot that is not positive, and are reported as such.
    const std::string place = A.first_not_finite(true);
    if (!place.empty()) raise_value_error("A: contains NaN or infinity, first at " + place);
  }
  raise_status(status);
  return factor;
}

// Makes a factor from an array L. Since L may come from a pickle, it is checked to be a factor of a positive definite matrix.
template <class T>
std::unique_ptr<Factor<T>> factor_of_lower(const py::object& object) {
  Input L = square(object, "L");
  L.to(sizeof(T) == 4);
  const std::string place = L.first_not_finite(true);
  if (!place.empty()) raise_value_error("L: contains NaN or infinity, first at " + place);
  for (Index i = 0; i < L.rows(); ++i)
    if (!(L.view<T>()(i, i) > T(0)))
      raise_value_error("L: expected positive numbers on the diagonal, got others in row " + std::to_string(i));
  auto factor = std::make_unique<Factor<T>>();
  change(*factor, [view = L.view<T>()](kernsel::LowerTiles<T>& tiles) {
    const Status status = tiles.resize(view.rows);
    return status.ok() ? assign_lower(kernsel::ArraySource<T>(view), tiles) : status;
  });
  return factor;
}

template <class T>
Input vector_for(const Factor<T>& factor, const py::object& object, const char* name) {
  Input input(object, name, 1);
  input.to(sizeof(T) == 4);
  const Index n = size_of(factor);
  if (input.rows() != n) {
    raise_value_error(std::string(name) + ": expected " + std::to_string(n) + " entries, one for each row of the matrix, got " +
                      std::to_string(input.rows()));
  }
  return input;
}

template <class T>
Input right_hand_sides(const Factor<T>& factor, const py::object& b) {
  Input input(b, "b", 0);
  input.to(sizeof(T) == 4);
  const Index n = size_of(factor);
  if (input.rows() != n) {
    raise_value_error("b: expected " + std::to_string(n) + " rows, as the matrix has, got shape " + input.shape());
  }
  return input;
}

template <class T>
py::object inverse_quadratic(const Factor<T>& factor, const py::object& b) {
  const Input input = right_hand_sides(factor, b);
  auto out = new_array<T>(input.cols());
  const View<const T> from = input.view<T>();
  const View<T> to = view_of(out);
  read(factor, [&](const kernsel::LowerTiles<T>& tiles) { return kernsel::inverse_quadratic(tiles, from, to); });
  return input.one_dimensional() ? py::object(py::float_(static_cast<double>(to(0, 0)))) : py::object(std::move(out));
}

template <class T>
py::array_t<T> solve(const Factor<T>& factor, const py::object& b, bool lower) {
  const Input input = right_hand_sides(factor, b);
  const Index n = input.rows();
  auto x = input.one_dimensional() ? new_array<T>(n) : new_array<T>(n, input.cols());
  const View<const T> from = input.view<T>();
  const View<T> to = view_of(x);
  read(factor, [&](const kernsel::LowerTiles<T>& tiles) {
    for (Index i = 0; i < to.rows; ++i)
      for (Index j = 0; j < to.cols; ++j) to(i, j) = from(i, j);
    return lower ? solve_lower(tiles, to) : kernsel::solve(tiles, to);
  });
  return x;
}

template <class T, class F>
py::array_t<T> square_result(const Factor<T>& factor, const F& f) {
  const Index n = size_of(factor);
  auto out = new_array<T>(n, n);
  read(factor, [&, view = view_of(out)](const kernsel::LowerTiles<T>& tiles) {
    return tiles.size() == n ? f(tiles, view) : Status::invalid("the factor was changed by another thread meanwhile");
  });
  return out;
}

// Writes the lower tiles of a symmetric result to both triangles of an array.
template <class T>
class ArraySink final : public kernsel::TileSink<T> {
 public:
  explicit ArraySink(View<T> out) : out_(out) {}
  void take(Index row, Index col, Index height, Index width, const T* tile, Index stride) override {
    for (Index c = 0; c < width; ++c)
      for (Index r = row == col ? c : 0; r < height; ++r) {
        out_(row + r, col + c) = tile[r + c * stride];
        out_(col + c, row + r) = tile[r + c * stride];
      }
  }

 private:
  View<T> out_;
};

// Returns A^-1 diag(g) A^-1; the inverse is computed in a copy of the factor.
template <class T>
py::array_t<T> sandwich(const Factor<T>& factor, const py::object& g) {
  const Input weights = vector_for(factor, g, "g");
  return square_result(factor, [&](const kernsel::LowerTiles<T>& tiles, View<T> out) {
    kernsel::LowerTiles<T> inverse;
    Status status = inverse.copy(tiles);
    if (status.ok()) status = invert(inverse);
    if (!status.ok()) return status;
    ArraySink<T> sink(out);
    return weighted_square(inverse, weights.view<T>(), sink);
  });
}

template <class T>
void append(Factor<T>& factor, const py::object& a, double alpha) {
  const Input row = vector_for(factor, a, "a");
  row.require_finite();
  change(factor, [&](kernsel::LowerTiles<T>& tiles) { return kernsel::append(tiles, row.view<T>(), static_cast<T>(alpha)); });
}

template <class T>
void remove(Factor<T>& factor, Index i) {
  Index n = 0;
  bool there = false;
  change(factor, [&](kernsel::LowerTiles<T>& tiles) {
    n = tiles.size();
    there = i >= -n && i < n;
    return there ? kernsel::remove(tiles, i < 0 ? i + n : i) : Status{};
  });
  if (!there) throw py::index_error("i: " + std::to_string(i) + " is not a row of a matrix of size " + std::to_string(n));
}

template <class T>
void bind_factor_class(py::module_& module, const char* name) {
  using F = Factor<T>;
  py::class_<F>(module, name)
      // __new__ makes a complete object, so that there are none without contents. __init__ is required, but has no effect.
      .def_static("__new__", [](const py::object&, const py::object& L) { return factor_of_lower<T>(L); })
      .def(py::init(&factor_of_lower<T>), py::arg("L"))
      .def("__reduce__",
           [](const py::object& self) { return py::make_tuple(py::type::of(self), py::make_tuple(self.attr("lower")())); })
      .def_property_readonly("n", [](const F& f) { return size_of(f); })
      .def_property_readonly("dtype", [](const F&) { return py::dtype::of<T>(); })
      .def_property_readonly(
          "nbytes",
          [](const F& f) { return value_of(f, [](const auto& tiles) { return tiles.bytes(tiles.size(), tiles.tile()); }); })
      .def(
          "solve", [](const F& f, const py::object& b) { return solve(f, b, false); }, py::arg("b"))
      .def(
          "solve_lower", [](const F& f, const py::object& b) { return solve(f, b, true); }, py::arg("b"))
      .def("inverse_quadratic", &inverse_quadratic<T>, py::arg("b"))
      .def("logdet", [](const F& f) { return value_of(f, [](const auto& tiles) { return kernsel::log_determinant(tiles); }); })
      .def("inverse",
           [](const F& f) {
             return square_result(f, [](const auto& tiles, View<T> out) { return kernsel::inverse(tiles, out); });
           })
      .def("inverse_diagonal",
           [](const F& f) {
             auto out = new_array<T>(size_of(f));
             const View<T> view = view_of(out);
             read(f, [&](const auto& tiles) { return kernsel::inverse_diagonal(tiles, view); });
             return out;
           })
      .def("lower",
           [](const F& f) {
             return square_result(f, [](const auto& tiles, View<T> out) { return kernsel::unpack_lower(tiles, out); });
           })
      .def("sandwich", &sandwich<T>, py::arg("g"))
      .def("append", &append<T>, py::arg("a"), py::arg("alpha"))
      .def("remove", &remove<T>, py::arg("i"));
}

}  // namespace

void bind_factor(py::module_& module) {
  const py::module_ os = py::module_::import("os");
  if (py::hasattr(os, "register_at_fork")) {
    os.attr("register_at_fork")(py::arg("after_in_child") = py::cpp_function([] { ++FactorLock::forks; }));
  }
  bind_factor_class<float>(module, "CholeskyFloat32");
  bind_factor_class<double>(module, "CholeskyFloat64");
  module.def(
      "cholesky",
      [](const py::object& A, const py::object& noise) {
        const Input input = square(A, "A");
        Input extra = noise_input(noise, input.rows());
        extra.to(input.single());
        return input.single() ? py::cast(factorize_array<float>(input, extra))
                              : py::cast(factorize_array<double>(input, extra));
      },
      py::arg("A"), py::arg("noise"));
  module.def("columns_at_a_time", &kernsel::columns_at_a_time, py::arg("n"));
}
