"""Kernels of warped columns; values and gradients are those of a leaf in `leaves`."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF, Matern, Parameter, WarpedInputs
from kernsel.testing import check_kernel


def test_it_is_a_kernel_of_warped_points(rng):
    X = rng.standard_normal((12, 2))
    k = WarpedInputs(Matern([0.5, 1.2], nu=2.5), [0.6, 1.4], 1.7, lower=[-1.0, -0.5], upper=[1.0, 2.0])
    check_kernel(k, X)
    assert k(X) == pytest.approx(Matern([0.5, 1.2], nu=2.5)(k.warp(X)), rel=1e-12)
    grid = np.linspace(-3, 3, 50)
    assert (np.diff(k.warp(np.column_stack([grid, grid])), axis=0) > 0).all()
    same = WarpedInputs(RBF(1.0), 1.0, 1.0, lower=-1.0, upper=1.0)
    assert same.warp(X) == pytest.approx(X, rel=1e-13, abs=1e-15)


def test_shapes_are_found_in_any_unit(rng, tmp_path):
    X = np.sort(rng.uniform(0, 1, (50, 1)), axis=0)
    y = np.sin(40 * X[:, 0] ** 3) + 0.05 * rng.standard_normal(50)
    plain, warped = (ks.GaussianProcessRegressor(k).fit(X, y) for k in ("RBF", "WarpedInputs(RBF)"))
    assert warped.criterion_value_ > plain.criterion_value_ + 10
    assert warped.kernel_.k2.a[0] > 1.5  # slow at the beginning
    moved = ks.GaussianProcessRegressor("WarpedInputs(RBF)").fit(1e5 * X - 7e5, y)
    assert moved.criterion_value_ == pytest.approx(warped.criterion_value_, abs=1e-4)
    ks.save(warped, tmp_path / "a.ksl")
    assert "of warped columns" in ks.select(X, y, ["WarpedInputs(RBF)"]).describe()
    Z = np.linspace(-0.2, 1.2, 9)[:, None]
    assert ks.load(tmp_path / "a.ksl").predict(Z) == pytest.approx(warped.predict(Z), rel=1e-12)


def test_shapes_may_be_tied_and_limits_given():
    X = np.array([[0.0, 1.0], [2.0, 5.0], [1.0, 2.0]])
    shape = Parameter("auto", name="shape")
    tied = WarpedInputs(RBF(1.0, "fixed"), shape, shape, lower=0.0).for_data(X)
    assert tied.n_dims == 2
    assert tied.lower.tolist() == [0.0]
    assert tied.upper == pytest.approx([2.1, 5.2])  # 5 % of the range beyond


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X: WarpedInputs(RBF(), lower=1.0, upper=1.0), "^lower, upper: expected lower < upper, got 1.0 and 1.0"),
        (lambda X: WarpedInputs(RBF(), a=-1.0), "^a: expected positive"),
        (lambda X: WarpedInputs(RBF(), b_bounds=(2.0, 1.0)), "^b_bounds: the lower bound is above the upper one"),
        (lambda X: WarpedInputs(RBF(), lower=[[0.0]]), "^lower: expected one number or one for each column"),
        (lambda X: WarpedInputs(RBF(1.0), 1.0, 1.0)(X), '^lower: "auto" is set when an estimator is fitted'),
        (lambda X: WarpedInputs(RBF(1.0), [1.0, 2.0, 3.0], 1.0, lower=0, upper=1)(X), "one for each column of X"),
        (lambda X: WarpedInputs(RBF(1.0), 1.0, 1.0, lower=0, upper=1).warp(X[0]), r"^X: expected shape \(n, d\)"),
    ],
)
def test_what_cannot_be(make, message):
    with pytest.raises(ValueError, match=message):
        make(np.arange(6.0).reshape(3, 2))
