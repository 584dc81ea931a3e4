"""A stationary kernel is added as HACKING.md says: in four files, after which it has values, gradients and a place in JSON."""

import filecmp
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from building import build, needs_a_compiler

ROOT = Path(__file__).parents[3]
SYSTEM_EIGEN = [Path(prefix, "share/eigen3/cmake/Eigen3Config.cmake") for prefix in ("/usr", "/usr/local", "/opt/homebrew")]
there_is_an_eigen = (
    (ROOT / "extern" / "eigen").exists()
    or any(path.exists() for path in SYSTEM_EIGEN)
    or any(importlib.metadata.distributions(name="cmeel-eigen"))
)

# Each file, a line of it, and what is written before that line.
EDITS = {
    "src/isa/profiles.inl": (
        "template <class T, class F>\nvoid profile_tile(",
        """// (1 + s)^-beta; p = (beta)
template <class T>
struct MultiquadricProfile {
  using P = typename Pack<T>::type;
  static constexpr int parameters = 1;
  static KERNSEL_INLINE P value(const P& s, const T* p) {
    return exp_of_negative<T>(simd::pmul(simd::pset1<P>(-p[0]), log_of_one_plus<T>(s)));
  }
  static KERNSEL_INLINE P slope(const P& s, const P& k, const T* p) {
    return simd::pdiv(simd::pmul(simd::pset1<P>(-p[0]), k), simd::padd(constant_packet<T>(1), s));
  }
  static KERNSEL_INLINE P parameter(const P& s, const P& k, const T* p) {
    return simd::pmul(simd::pset1<P>(-p[0]), simd::pmul(k, log_of_one_plus<T>(s)));
  }
};

""",
    ),
    "src/isa/table.hpp": (
        "  PROFILE(exponential, ExponentialProfile<T>)",
        "  PROFILE(multiquadric, MultiquadricProfile<T>) \\\n",
    ),
    "src/kernels/nodes/stationary.cpp": (
        "WrittenFunctions stationary_functions() {\n  static const WrittenFunction functions[] = {\n",
        """Kernel multiquadric(double beta, std::vector<double> length_scale) {
  return stationary(Profile::multiquadric, "multiquadric", std::move(length_scale), {beta});
}

""",
    ),
    "include/kernsel/kernel.hpp": (
        "// exp(-2 sin(pi r)^2 / l^2), where r is the distance in periods",
        "Kernel multiquadric(double beta, std::vector<double> length_scale);  // (1 + r^2)^-beta\n",
    ),
}
ROW = """      {"multiquadric", 1, true, 0, [](const Numbers& p, const Numbers& l, Kernels) { return multiquadric(p[0], l); }},
"""

# The rooms of the library up to the kernels, which need no other, for the base instruction set.
CMAKE = """
cmake_minimum_required(VERSION 3.24)
project(kernels LANGUAGES CXX)
include(extern/eigen.cmake)
kernsel_find_eigen()
configure_file(cpp/include/kernsel/version.hpp.in include/kernsel/version.hpp)
file(GLOB sources cpp/src/base/*.cpp cpp/src/tiles/*.cpp cpp/src/kernels/*.cpp cpp/src/kernels/*/*.cpp)
list(FILTER sources EXCLUDE REGEX team_)
set(isa cpp/src/isa/detect.cpp cpp/src/isa/tiles_base.cpp)
add_executable(added added.cpp ${isa} ${sources} cpp/src/base/team_none.cpp)
target_compile_features(added PRIVATE cxx_std_17)
target_compile_definitions(added PRIVATE KERNSEL_HAS_BASE)
target_include_directories(added PRIVATE cpp/include cpp/src tests ${CMAKE_CURRENT_BINARY_DIR}/include)
set_source_files_properties(cpp/src/isa/tiles_base.cpp PROPERTIES
  COMPILE_OPTIONS "-O1;-fno-math-errno;-isystem${KERNSEL_EIGEN_INCLUDE}")
"""

PROGRAM = """
#include <string>

#include "check.hpp"
#include "kernsel/gram.hpp"
#include "kernsel/kernel_json.hpp"

using kernsel::Index;
using kernsel::Kernel;

int main() {
  const Index n = 9;
  const std::vector<double> x = random_numbers<double>(3 * n, 1), w = random_numbers<double>(n * n, 2);
  const auto X = kernsel::columns(x.data(), n, 3), W = kernsel::columns(w.data(), n, n);
  const double beta = 0.7, scales[] = {0.5, 1.0, 2.0};
  const Kernel k = kernsel::multiquadric(beta, {0.5, 1.0, 2.0});
  const auto gram = [&](const Kernel& of) {
    std::vector<double> K(static_cast<std::size_t>(n * n));
    CHECK(kernsel::gram<double>(of, X, kernsel::columns(K.data(), n, n)).ok());
    return K;
  };

  const std::vector<double> K = gram(k);
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i) {
      double s = 0.0;
      for (Index c = 0; c < 3; ++c) s += std::pow((X(i, c) - X(j, c)) / scales[c], 2.0);
      // Some rounding in s, the logarithm and the exponential, of numbers below 1.
      CHECK_BELOW(std::abs(K[static_cast<std::size_t>(i + j * n)] - std::pow(1.0 + s, -beta)), 32 * epsilon<double>());
    }

  const std::vector<double> theta = k.theta();
  CHECK(theta.size() == 4 && k.rules()[0] == kernsel::Rule::ratio && k.rules()[1] == kernsel::Rule::length);
  std::vector<double> gradient(4), tangents(static_cast<std::size_t>(4 * n)), ones(static_cast<std::size_t>(n), 1.0);
  CHECK(kernsel::pullback<double>(k, X, W, gradient.data()).ok());
  const auto of_ones = kernsel::vector<const double>(ones.data(), n);
  CHECK(kernsel::tangents(k, X, of_ones, kernsel::columns(tangents.data(), n, 4)).ok());
  for (std::size_t p = 0; p < 4; ++p) {
    const double h = 1e-5;  // its square, and rounding over it, for sums of n^2 = 81 terms of size 1
    std::vector<double> more = theta, less = theta;
    more[p] += h;
    less[p] -= h;
    const std::vector<double> above = gram(k.with_theta(more)), below = gram(k.with_theta(less));
    double sum = 0.0;
    std::vector<double> rows(static_cast<std::size_t>(n), 0.0);
    for (std::size_t at = 0; at < above.size(); ++at) {
      sum += w[at] * (above[at] - below[at]) / (2.0 * h);
      rows[at % static_cast<std::size_t>(n)] += (above[at] - below[at]) / (2.0 * h);
    }
    CHECK_BELOW(std::abs(sum - gradient[p]), 1e-8);
    for (std::size_t i = 0; i < rows.size(); ++i)
      CHECK_BELOW(std::abs(rows[i] - tangents[i + p * static_cast<std::size_t>(n)]), 1e-8);
  }

  std::string json;
  CHECK(kernsel::kernel_to_json(2.0 * k, json).ok());
  CHECK(json == "[\\"scale\\",2,[\\"multiquadric\\",0.7,[0.5,1,2]]]");
  Kernel again = kernsel::constant(1.0);
  CHECK(kernsel::kernel_from_json(json, again).ok());
  const std::vector<double> twice = gram(again);
  for (std::size_t at = 0; at < K.size(); ++at) CHECK(twice[at] == 2.0 * K[at]);
  CHECK(kernsel::multiquadric(-1.0, {1.0}).check(3).code == kernsel::Code::invalid_argument);
  return report("added");
}
"""


@pytest.fixture
def tree(root, tmp_path):
    """Return a copy of the sources with the new kernel in it."""
    for folder in ("cpp", "extern"):
        shutil.copytree(root / folder, tmp_path / folder)
    for name, (line, text) in EDITS.items():
        path = tmp_path / "cpp" / name
        before = path.read_text()
        assert before.count(line) == 1, f"{name}: {line}"
        # The function of the kernel goes before the table, and its row into it.
        after = text + line + ROW if "WrittenFunctions" in line else text + line
        path.write_text(before.replace(line, after))
    (tmp_path / "tests").mkdir()
    shutil.copy(root / "tests" / "cpp" / "check.hpp", tmp_path / "tests")
    (tmp_path / "CMakeLists.txt").write_text(CMAKE)
    (tmp_path / "added.cpp").write_text(PROGRAM)
    return tmp_path


def test_hacking_names_the_files_that_were_edited(root, tree):
    names = [path.relative_to(root / "cpp").as_posix() for path in sorted((root / "cpp").rglob("*")) if path.is_file()]
    _, changed, missing = filecmp.cmpfiles(root / "cpp", tree / "cpp", names, shallow=False)
    assert set(changed) == set(EDITS)
    assert not missing
    assert len(changed) <= 4
    row = re.search(r"^\| a stationary kernel \|(.*)\|$", (root / "cpp" / "HACKING.md").read_text(), re.M)[1]
    files, _, _ = row.partition("; tested")
    named = re.findall(r"`([\w/]+\.(?:inl|hpp|cpp))`", files)
    assert sorted(named) == sorted(name.removeprefix("src/").removeprefix("include/kernsel/") for name in EDITS)


@pytest.mark.slow
@needs_a_compiler
@pytest.mark.skipif(
    not there_is_an_eigen and os.environ.get("TEST_EMBEDDING") != "required",
    reason="no Eigen on this machine, such as Debian's libeigen3-dev",
)
def test_a_new_kernel_has_values_gradients_and_a_name(tree):
    build(
        tree, tree / "build", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS=-O0 -g0", f"-DPython_EXECUTABLE={sys.executable}"
    )
    done = subprocess.run([tree / "build" / "added"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
