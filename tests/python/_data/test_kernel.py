"""The argument `kernel` means the same wherever there is one."""

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as sk

import kernsel as ks
from kernsel import features
from kernsel.kernels import RBF, Linear, Matern
from kernsel.study.select import select

from accuracy import assert_forward

X = np.linspace(0, 3, 12).reshape(-1, 1)
Y = np.sin(2 * X[:, 0])
LABELS = np.where(Y > 0, "above", "below")


def of_process(kernel):
    """Return the kernel of a Gaussian process, without the amplitude that text leaves open."""
    found = ks.GaussianProcessRegressor(kernel, optimizer=None, alpha=0.1).fit(X, Y).kernel_
    return found.k2 if isinstance(kernel, str) else found


# What each place makes of an argument `kernel`: the kernel that it then has, or a number that depends on that.
ESTIMATORS = {
    "process": of_process,
    "classifier": lambda kernel: ks.GaussianProcessClassifier(kernel, optimizer=None).fit(X, LABELS).kernel_,
    "ridge": lambda kernel: ks.KernelRidge(kernel, alpha=0.1).fit(X, Y).kernel_,
    "ridge of many alphas": lambda kernel: ks.KernelRidgeCV(kernel).fit(X, Y).kernel_,
    "support vectors": lambda kernel: ks.SVR(kernel, C=1.0, epsilon=0.1).fit(X, Y).kernel_,
    "interpolator": lambda kernel: ks.KernelInterpolator(kernel).fit(X, Y).kernel_,
    "features": lambda kernel: features.RadialBasis(4, kernel=kernel).fit(X).kernel_,
}
FUNCTIONS = {
    "gram": lambda kernel: ks.gram(kernel, X),
    "evaluate": lambda kernel: ks.evaluate("lml", kernel, X, Y, noise=0.1).value,
    "loo": lambda kernel: ks.loo(kernel, X, Y, noise=0.1).residuals,
    "power function": lambda kernel: ks.linalg.power_function(kernel, X, X + 0.1, noise=0.1),
    "path": lambda kernel: ks.RegularizationPath(kernel, Y, X=X).loo,
    "path of support vectors": lambda kernel: ks.SVRPath(X, Y, kernel, Cs=[1.0], epsilons=[0.1]).coefficients,
}
PLACES = ESTIMATORS | FUNCTIONS


def same(found, expected):
    return found == expected if isinstance(found, ks.kernels.Kernel) else np.array_equal(found, expected)


@pytest.mark.parametrize("place", PLACES)
def test_a_kernel_of_scikit_learn_or_a_text_is_the_same(place):
    make = PLACES[place]
    expected = make(RBF(0.7, "fixed"))
    assert same(make(sk.RBF(0.7, "fixed")), expected)
    assert same(make("RBF(0.7, 'fixed')"), expected)


@pytest.mark.parametrize("place", PLACES)
def test_what_a_text_does_not_mention_is_set_from_the_data(place):
    make = PLACES[place]
    expected = make(Matern("auto", nu=1.5))
    assert same(make("Matern(nu=1.5)"), expected)
    if isinstance(expected, ks.kernels.Kernel):
        assert not isinstance(expected.length_scale, str)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (3.0, (TypeError, ValueError), "kernel"),
        (RBF, TypeError, r"got the class RBF; write RBF\(...\)|kernel: expected a kernel"),
        ("RBFF", ValueError, "there is no kernel 'RBFF'.*did you mean RBF"),
        (sk.CompoundKernel([sk.RBF()]), TypeError, "kernel cannot be a CompoundKernel"),
        (["RBF"], (TypeError, ValueError), "kernel"),
    ],
    ids=["number", "class", "unknown", "several", "list"],
)
def test_what_is_no_kernel(place, value, error, message):
    if place == "path" and not isinstance(value, str | sk.Kernel):
        return  # its first argument may be a matrix: tests of the path have what is none
    with pytest.raises(error, match=message):
        PLACES[place](value)


@pytest.mark.parametrize("place", ["process", "classifier", "interpolator", "features", "power function", "path"])
def test_a_matrix_where_other_points_are_needed(place):
    with pytest.raises(ValueError, match='"precomputed" says nothing of k\\(x, x\\) at other points'):
        PLACES[place]("precomputed")


@pytest.mark.parametrize(
    ("of_matrix", "of_kernel"),
    [
        (lambda K: ks.gram("precomputed", K), lambda k: ks.gram(k, X)),
        (
            lambda K: ks.evaluate("loo", "precomputed", K, Y, noise=0.1).value,
            lambda k: ks.evaluate("loo", k, X, Y, noise=0.1).value,
        ),
        (lambda K: ks.loo("precomputed", K, Y, noise=0.1).variances, lambda k: ks.loo(k, X, Y, noise=0.1).variances),
        (lambda K: ks.KernelRidge("precomputed").fit(K, Y).predict(K), lambda k: ks.KernelRidge(k).fit(X, Y).predict(X)),
        (lambda K: ks.SVR("precomputed").fit(K, Y).predict(K), lambda k: ks.SVR(k).fit(X, Y).predict(X)),
        (lambda K: ks.SVRPath(K, Y, "precomputed").loo_residuals(2, 3), lambda k: ks.SVRPath(X, Y, k).loo_residuals(2, 3)),
    ],
)
def test_a_matrix_is_the_kernel_of_its_points(of_matrix, of_kernel):
    kernel = RBF(0.7, "fixed")
    # With the least noise of these, 0.1. Support vectors take the same steps on the same numbers.
    assert_forward(of_matrix(kernel(X)), of_kernel(kernel), condition=len(X) / 0.1 + 1, n=len(X), dtype=np.float64)
    with pytest.raises(ValueError, match=r"expected a square kernel matrix.*got shape \(12, 1\)"):
        of_matrix(X)


@pytest.mark.parametrize("place", ["ridge", "ridge of many alphas", "support vectors"])
def test_names_of_kernel_machines(place):
    assert PLACES[place]("linear") == Linear(1.0, "fixed")
    assert PLACES[place](None) == PLACES[place]("auto") == PLACES[place](RBF("auto"))


def test_kernels_to_select_from():
    found = select(X, Y, [sk.RBF(0.7), "RBF"], noise=0.1)
    assert [type(one.kernel_).__name__ for one in found.tried] == ["Product", "Product"]
