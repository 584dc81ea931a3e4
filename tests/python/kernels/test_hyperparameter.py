"""Ties, bounds, and searches over the arguments of a kernel."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

import kernsel as ks
from kernsel.kernels import (
    RBF,
    Linear,
    Matern,
    Parameter,
    QuadraticForm,
    WhiteKernel,
)
from kernsel.kernels.priors import Gamma, LogNormal
from kernsel.testing import check_kernel

import reference


def test_ties(rng):
    X, W = rng.standard_normal((30, 2)), rng.standard_normal((30, 30))

    def make(t):
        length = Parameter(np.exp(t[1]), bounds=(0.1, 10.0), name="length")
        return float(np.exp(t[0])) * RBF(length).on([0]) + Matern(length).on([1]) * RBF(np.exp(t[2]))

    theta = np.array([0.3, -0.2, 0.1])
    k = make(theta)
    assert k.n_dims == 3
    assert k.theta == pytest.approx(theta)
    assert k.bounds[1] == pytest.approx(np.log([0.1, 10.0]))
    assert [h.name for h in k.hyperparameters] == [
        "k1__k1__constant_value",
        "k1__k2__kernel__length_scale",
        "k2__k2__length_scale",
    ]
    expected, error = reference.central_differences(lambda t: np.vdot(W, make(t)(X)), theta, 1e-4)
    assert (np.abs(k.pullback(X, W) - expected) <= error + 1e-9).all()
    moved = k.clone_with_theta(theta + 1)
    assert np.array_equal(moved(X), make(theta + 1)(X)) or moved(X) == pytest.approx(make(theta + 1)(X))
    check_kernel(k, X)
    both = Parameter([1.0, 2.0], name="both")
    assert (RBF(both) * Matern(both)).n_dims == 2
    fixed = Parameter(1.0, bounds="fixed", name="fixed")
    assert (RBF(fixed) + Linear(fixed)).n_dims == 0


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (Parameter(2.0, name="a"), r"hyperparameters of one name must agree, k1__length_scale is 1\.0, k2__length_scale 2\.0"),
        (Parameter(1.0, bounds="fixed", name="a"), "must agree"),
        (Parameter([1.0, 1.0], name="a"), "must agree"),
    ],
)
def test_ties_that_disagree(other, message):
    with pytest.raises(ValueError, match=message):
        (RBF(Parameter(1.0, name="a")) + RBF(other)).theta  # noqa: B018


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Parameter(Parameter(1.0)), "value: expected a number"),
        (lambda: Parameter(1.0, name=3), "name: expected a text, got 3"),
        (lambda: RBF(Parameter(-1.0)), "length_scale: expected positive"),
        (
            lambda: RBF(["auto", "auto"]),
            'length_scale: expected positive numbers, got .*; "auto" alone stands for one for each',
        ),
        (lambda: RBF(Parameter(1.0, bounds=(2.0, 1.0))), "length_scale_bounds: the lower bound is above the upper one"),
        (lambda: RBF(Parameter(1.0, log=False)), "length_scale: log=False is for parameters of a FunctionKernel"),
        (lambda: QuadraticForm(Parameter([[1.0]], prior=Gamma(1.0, 1.0))), "a prior is a density of a positive number"),
        (lambda: RBF([1.0, 2.0], [(1, 2), (1, 2), (1, 2)]).theta, "length_scale_bounds: expected one pair of bounds, or 2"),
        (lambda: RBF("wide"), "length_scale: expected a number or \"auto\", got 'wide'"),
    ],
)
def test_bad_hyperparameters(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


def test_grid_search_over_a_length_scale(rng):
    X = rng.uniform(0, 6, (60, 1))
    y = np.sin(X[:, 0])
    model = ks.KernelRidge(2.0 * RBF(1.0) + WhiteKernel(1e-3), alpha=1e-6)
    search = GridSearchCV(model, {"kernel__k1__k2__length_scale": [1e-3, 1.0, 100.0], "kernel__k2__noise_level": [1e-4]}, cv=3)
    search.fit(X, y)
    assert search.best_params_["kernel__k1__k2__length_scale"] == 1.0
    assert search.best_estimator_.kernel.k2.noise_level == 1e-4
    single = GridSearchCV(ks.KernelRidge(RBF(), alpha=1e-6), {"kernel__length_scale": [1e-3, 1.0]}, cv=3).fit(X, y)
    assert single.best_params_ == {"kernel__length_scale": 1.0}


def test_sets_of_bounds():
    k = RBF([1.0, 2.0], [(0.1, 1.0), (0.2, 2.0)])
    assert k.bounds == pytest.approx(np.log([[0.1, 1.0], [0.2, 2.0]]))
    q = QuadraticForm([[1.0, -2.0]], (-3.0, 3.0))
    assert q.bounds == pytest.approx(np.array([[-3.0, 3.0], [-3.0, 3.0]]))
    assert q.theta == pytest.approx([1.0, -2.0])
    assert q.clone_with_theta([0.0, -1.0]).B.tolist() == [[0.0, -1.0]]


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, [1.0, 0.0], [[1.0]], [], "wide", None, 1j])
def test_impossible_length_scales(value):
    with pytest.raises((ValueError, TypeError), match="length_scale"):
        RBF(value)


def test_wrong_number_of_length_scales(rng):
    with pytest.raises(ValueError, match="one length scale, or one for each column"):
        RBF([1.0, 2.0])(rng.standard_normal((4, 3)))


def test_ties_that_are_auto(rng):
    length = Parameter("auto", name="length")
    X = rng.standard_normal((30, 2)) * [1.0, 10.0]
    k = (RBF(length).on([0]) + RBF(length).on([1])).for_data(X)
    assert k.n_dims == 1
    assert k.k1.kernel.length_scale == k.k2.kernel.length_scale
    assert k.pullback(X, np.ones((30, 30))).shape == (1,)


@pytest.mark.parametrize(
    "other", [Parameter(1.0, (0.1, 2.0), LogNormal(0.0, 1.0), "l"), Parameter(1.0, (5.0, 6.0), Gamma(2.0, 3.0), "l")]
)
def test_ties_with_other_bounds_or_priors(other):
    k = RBF(Parameter(1.0, (0.1, 2.0), Gamma(2.0, 3.0), "l")) + Linear(other)
    with pytest.raises(ValueError, match="or their bounds or priors differ"):
        k.log_prior()
