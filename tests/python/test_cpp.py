"""The C++ tests, and a C++ program of somebody else, against the library that this package carries."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

import kernsel as ks
from kernsel._search import choose
from kernsel.criteria.names import criterion_named
from kernsel.kernels import RBF, ConstantKernel, Matern

import children
import reference
from building import build, compiler, needs_a_compiler

pytestmark = needs_a_compiler


@pytest.fixture(scope="module")
def unit_tests(tmp_path_factory):
    binary = tmp_path_factory.mktemp("cpp")
    build(Path(__file__).parents[1] / "cpp", binary, f"-Dkernsel_DIR={ks.get_cmake_dir()}")
    return binary


@pytest.mark.slow
@pytest.mark.parametrize("isa", ks.show_config("dict")["isa_available"])
def test_units(unit_tests, isa):
    for program in sorted(unit_tests.glob("test_*")):
        done = subprocess.run(
            [program],
            env=children.environment(KERNSEL_ISA=isa),
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert ": 0 failures" in done.stdout


def test_somebody_elses_program(programs, rng):
    X, Z = rng.standard_normal((130, 2)), rng.standard_normal((9, 2))
    y = np.sin(X).sum(1)
    numbers = " ".join(repr(float(v)) for v in (*X.flat, *y, *Z.flat))
    environment = children.environment(KERNSEL_ISA=ks.show_config("dict")["isa"])
    program, given = programs / "consume", f"130 2 9 {numbers}"
    done = subprocess.run([program], input=given, env=environment, capture_output=True, text=True, check=True)
    lines = dict(line.split(" ", 1) for line in done.stdout.splitlines())

    kernel = 2.0 * RBF([0.7, 1.5]) + ConstantKernel(0.5) * RBF(1.0)
    model = ks.KernelRidge(kernel, alpha=0.01).fit(X, y)
    c = model.dual_coef_
    ev = ks.evaluate("loo", kernel, X, y, noise=0.01, trend="constant", gradient=True)
    theta = np.array(lines["theta"].split(), dtype=float)  # where the C++ search ended: a maximum
    there = ks.evaluate("lml", kernel.clone_with_theta(theta), X, y, noise=0.1, trend="constant", gradient=True)
    assert np.abs(there.gradient[np.abs(theta) < 11]).max() < 0.1
    assert there.value > ks.evaluate("lml", kernel, X, y, noise=0.1, trend="constant").value
    expected = {
        "logdet": [ks.linalg.cholesky(kernel(X) + 0.01 * np.eye(130)).logdet()],
        "coefficients": c,
        "predictions": model.predict(Z),
        "gradient": kernel.pullback(X, np.outer(c, c)),
        "loo": [ev.value],
        "loo_gradient": ev.gradient,
        "likeliest": [there.value],
    }
    path = ks.RegularizationPath(kernel, y, X=X, trend="constant", alphas=[0.01])
    linear = ks.linalg.loo_least_squares(X, y)
    expected |= {
        "path_loo": path.loo,
        "path_likelihood": path.log_likelihood,
        "leverage": linear.leverage,
        "left_out": linear.residuals,
    }
    chosen = ks.RegularizationPath(kernel, y, X=X, trend="constant").best("loo")
    assert float(lines["path_alpha"]) == pytest.approx(chosen, rel=1e-4)
    assert lines["isa"] == ks.show_config("dict")["isa"]
    assert lines["version"] == ks.__version__
    for name, values in expected.items():
        assert np.array(lines[name].split(), dtype=float) == pytest.approx(values, rel=1000 * np.finfo(float).eps), name
    # A search by leave-one-out is the same in both languages, to the bit.
    found = choose(criterion_named("loo", {}), ConstantKernel("auto") * Matern("auto", nu=2.5), X, y, finds_noise=True)
    assert [float(value) for value in lines["chosen"].split()] == [found.value, found.noise, found.n_evaluations]
    noise = found.noise + found.jitter
    left_out = ks.loo(found.kernel, X, y, noise=noise, trend="constant")
    assert np.array(lines["chosen_theta"].split(), dtype=float) == pytest.approx(found.kernel.theta, rel=1e-14)
    assert np.array(lines["residuals"].split(), dtype=float) == pytest.approx(left_out.residuals, rel=1e-6, abs=1e-9)
    assert np.array(lines["chosen_leverage"].split(), dtype=float) == pytest.approx(left_out.leverage, rel=1e-6)
    a = np.array(lines["support"].split(), dtype=float)
    primal, dual = reference.support_objectives(kernel(X), y, 10.0, 0.1, a, float(lines["intercept"]))
    assert abs(primal - dual) <= 1.01e-10 * primal
    assert 0 < np.count_nonzero(a) < len(a)


@pytest.mark.parametrize("how", ["kernsel_ROOT", "cmake.root"])
def test_ways_to_find_it(how, tmp_path):
    package = Path(ks.get_cmake_dir()).parents[2]
    if how == "cmake.root":  # what scikit-build-core hands to CMake for each of these entry points
        from importlib.metadata import entry_points
        from importlib.resources import files

        (entry,) = entry_points(group="cmake.root", name="kernsel")
        assert Path(str(files(entry.value))) == package
    build(Path(__file__).parents[1] / "consume", tmp_path, f"-Dkernsel_ROOT={package}")


def test_headers_know_no_eigen():
    headers = sorted((Path(ks.get_include()) / "kernsel").glob("*.hpp"))
    assert len(headers) >= 8
    for header in headers:
        assert "Eigen/" not in header.read_text()


@pytest.mark.slow
def test_each_header_stands_alone(tmp_path):
    for header in sorted((Path(ks.get_include()) / "kernsel").glob("*.hpp")):
        source = tmp_path / "one.cpp"
        source.write_text(f"#include <kernsel/{header.name}>\n")
        command = [
            compiler,
            "-std=c++17",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-fsyntax-only",
            f"-I{ks.get_include()}",
            str(source),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
