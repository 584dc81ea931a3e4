"""Kernels of categories: values, gradients, the columns that they take, and levels that were not learnt."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import kernsel as ks
from kernsel import _core
from kernsel.kernels import (
    RBF,
    ConstantKernel,
    Coregion,
    CorrelatedLevels,
    Exchangeable,
    GroupedLevels,
    Inherited,
    OrderedLevels,
    autoregressive,
    kernel,
)
from kernsel.testing import check_kernel

import reference as ref
from accuracy import eps

M = 4
W = np.array([[1.5, 0.2], [-0.7, 1.0], [0.3, -0.4], [0.9, 0.8]])
KERNELS = {
    "exchangeable": (Exchangeable(0.4), ref.exchangeable_levels(M, 0.4)),
    "grouped": (GroupedLevels([[0, 2], [1], [3]], 0.8, 0.5), ref.grouped_levels([0, 1, 0, 2], 0.8, 0.5)),
    "correlated": (CorrelatedLevels(2, W), ref.correlations(W @ W.T + np.eye(M))),
    "coregion": (Coregion(2, W, [0.1, 0.5, 0.2, 1.0]), W @ W.T + np.diag([0.1, 0.5, 0.2, 1.0])),
    "coregion of rank 0": (Coregion(0, np.zeros((M, 0)), [0.1, 0.5, 0.2, 1.0]), np.diag([0.1, 0.5, 0.2, 1.0])),
    "inherited": (Inherited(1, [2.0, -1.0]), np.outer([0.0, 1.0, 2.0, -1.0], [0.0, 1.0, 2.0, -1.0])),
    "inherited by one": (Inherited(3, []), np.diag([0.0, 0.0, 0.0, 1.0])),
    "ordered 1/2": (OrderedLevels([0.3, 1.0, 0.2], nu=0.5), ref.ordered_levels(ref.exponential(1.0), [0.3, 1.0, 0.2])),
    "ordered 3/2": (OrderedLevels([0.3, 1.0, 0.2], nu=1.5), ref.ordered_levels(ref.matern32(1.0), [0.3, 1.0, 0.2])),
    "ordered 5/2": (OrderedLevels([0.3, 1.0, 0.2]), ref.ordered_levels(ref.matern52(1.0), [0.3, 1.0, 0.2])),
    "ordered inf": (OrderedLevels([0.3, 1.0, 0.2], nu=np.inf), ref.ordered_levels(ref.rbf(1.0), [0.3, 1.0, 0.2])),
}


def codes(n, seed):
    return np.random.default_rng(seed).integers(0, M, (n, 1)).astype(float)


@pytest.mark.core
@pytest.mark.parametrize("name", KERNELS)
def test_values_and_gradients(name, rng):
    k, table = KERNELS[name]
    X, Z = codes(130, 0), codes(9, 1)
    limit = 8 * eps(float) * np.abs(table).max()
    assert np.abs(k(X) - table[np.ix_(*[X[:, 0].astype(int)] * 2)]).max() <= limit
    assert np.abs(k(X, Z) - table[np.ix_(X[:, 0].astype(int), Z[:, 0].astype(int))]).max() <= limit
    check_kernel(k, X, points=False)
    if name != "exchangeable":  # to which it makes no difference what the numbers are
        one_of_each = np.eye(M)[X[:, 0].astype(int)]
        assert np.array_equal(k(one_of_each), k(X))
    # By rows, as Newton's method needs them, also in a product.
    both = RBF(0.5).on([1]) * k.on([0])
    points, v = np.column_stack([X, rng.uniform(size=130)]), rng.standard_normal(130)
    found = np.array([both.in_theta(row) for row in _core.tangents(both.build(), points, v)])
    expected = np.einsum("ijp,j->ip", both.jacobian(points[:20]), v[:20]) if len(both.theta) else np.zeros((20, 0))
    some = np.array([both.in_theta(row) for row in _core.tangents(both.build(), points[:20], v[:20])])
    assert found.shape == (130, len(both.theta))
    assert np.abs(some - expected).max() <= 64 * eps(float) * np.abs(expected).max()
    assert not k.on([0]).pullback(points, np.ones((130, 130)), wrt="X").any()


@pytest.mark.parametrize("name", KERNELS)
def test_written_and_copied(name):
    k = KERNELS[name][0]
    assert kernel(repr(k)) == k
    assert "..." not in repr(k)
    assert str(k).startswith(type(k).__name__)
    assert clone(k) == pickle.loads(pickle.dumps(k)) == k
    product = 2.0 * RBF(1.0).on([1]) * k.on([0])
    assert kernel(repr(product)) == product
    assert k.clone_with_theta(k.theta) == k or np.allclose(k.clone_with_theta(k.theta).theta, k.theta, rtol=4 * eps(float))


def test_any_numbers_are_exchangeable():
    X = [[10115.0, 1.0], [10115.0, 1.0], [80331.0, 1.0], [10115.0, -2.5]]
    assert np.array_equal(Exchangeable(0.0)(X), [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    assert np.array_equal(Exchangeable(0.0).on([0])(X, [[80331.0, 0.0]])[:, 0], [0, 0, 1, 0])
    assert Exchangeable(0.0).n_dims == 0


@pytest.mark.parametrize("columns", ["codes", "0/1"])
def test_what_is_open_is_found_from_the_data(columns, rng):
    """Three levels, of which two have the same function and one has the opposite one."""
    x, level = rng.uniform(0, 6, 60), rng.integers(0, 3, 60)
    y = np.array([1.0, 1.0, -1.0])[level] * np.sin(x) + 0.01 * rng.standard_normal(60)
    given = level[:, None] if columns == "codes" else np.eye(3)[level]
    X, places = np.column_stack([x, given]), list(range(1, 1 + given.shape[1]))
    for of_levels in (CorrelatedLevels(1), CorrelatedLevels(2)):
        gp = ks.GaussianProcessRegressor(ConstantKernel("auto") * RBF("auto").on([0]) * of_levels.on(places), noise="auto")
        found = gp.fit(X, y).kernel_
        C = found.k2.kernel(np.eye(3) if columns == "0/1" else [[0], [1], [2]])
        assert C[0, 1] > 0.95
        assert C[0, 2] < -0.95
        assert gp.selection_.ended == "converged"


def test_start_has_no_equal_columns():
    auto = Coregion(2).for_data([[0.0], [1.0], [2.0], [3.0]], [1.0, -3.0, 2.0, 5.0])
    assert auto.W.shape == (4, 2)
    assert np.linalg.matrix_rank(auto.W) == 2
    assert auto.kappa.shape == (4,)
    assert OrderedLevels().for_data([[0.0], [2.0]]).gaps.shape == (2,)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Exchangeable(1.5), "correlation: expected a correlation of at most 1, got 1.5"),
        (lambda: Exchangeable(-0.1), "correlation: expected positive, finite numbers, got -0.1"),
        (lambda: Exchangeable(0.5, (0.1, 2.0)), r"correlation_bounds: expected correlations of at most 1, got \(0.1, 2.0\)"),
        (lambda: GroupedLevels([0, 1]), r"groups: expected a list of lists of levels, got \[0, 1\]"),
        (lambda: GroupedLevels([[0, 1], [1]]), "groups: expected each level in one group"),
        (lambda: GroupedLevels([[0, 5]])([[0.0]]), "groups: expected the codes 0 to 1 for an array of points"),
        (lambda: CorrelatedLevels(0), "rank: expected a whole number from 1 on, got 0"),
        (lambda: CorrelatedLevels(1, [[1.0, 2.0]]), r"W: expected 1 columns, as `rank` says, got shape \(1, 2\)"),
        (lambda: CorrelatedLevels(1, [1.0, 2.0]), "W: expected a matrix with a row for each level"),
        (lambda: CorrelatedLevels(levels=["a", "a"]), r"levels: expected a list of different levels, got \['a', 'a'\]"),
        (lambda: Coregion(1, [[1.0], [2.0]], [1.0]), "kappa: expected 2 numbers, one for each row of W"),
        (lambda: Inherited(-1), "first: expected a whole number from 0 on, got -1"),
        (lambda: Inherited(2).for_data([[1.0]]), "first: expected one of the levels, of which there are 2, got 2"),
        (lambda: autoregressive([RBF()], [0], 1), "kernels: expected a kernel for each of two fidelities at least"),
        (lambda: OrderedLevels(np.ones(4096))([[2.0]]), "levels: there can be at most 4096; an exchangeable kernel takes any"),
        (lambda: OrderedLevels(nu=2.0), "nu: expected 0.5, 1.5, 2.5 or inf, got 2.0"),
        (
            lambda: OrderedLevels([1.0])([[2.0]]),
            r"levels: expected a column of codes 0, 1, \.\.\. of the levels that the kernel",
        ),
        (
            lambda: OrderedLevels([1.0])([[0.5]]),
            r"levels: expected a column of codes 0, 1, \.\.\. of the levels that the kernel",
        ),
        (lambda: OrderedLevels([1.0])([[1.0, 1.0]]), r"levels: expected a column of codes 0, 1, \.\.\. of the levels"),
        (lambda: OrderedLevels([1.0])([[1.0, 0.0, 0.0]]), r"levels: expected one column of codes, .* name them by .on"),
        (
            lambda: OrderedLevels().for_data([[0.5]]),
            "X: OrderedLevels expects a column of codes 0, 1, .* got numbers such as 0.5",
        ),
        (lambda: OrderedLevels().for_data([[0.0]]), "gaps: expected two levels at least, got one"),
    ],
)
def test_what_is_wrong_is_said(make, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        make()


def test_many_points_by_neighbours_and_landmarks(rng):
    """Approximations place their points by values of the kernel, which has none between levels."""
    X = np.column_stack([rng.uniform(0, 6, 400), rng.integers(0, 3, 400)])
    y = np.sin(X[:, 0] + X[:, 1]) + 0.1 * rng.standard_normal(400)
    k = RBF(1.0).on([0]) * CorrelatedLevels(1, [[2.0], [1.0], [-1.0]]).on([1])
    Z = np.column_stack([rng.uniform(0, 6, 30), rng.integers(0, 3, 30)])
    exact = ks.GaussianProcessRegressor(k, noise=0.01, optimizer=None).fit(X, y).predict(Z)
    for near in (ks.Vecchia(60), ks.Nystrom(120)):
        found = ks.GaussianProcessRegressor(k, noise=0.01, optimizer=None, approximation=near).fit(X, y).predict(Z)
        assert np.abs(found - exact).max() < 0.02


def test_two_fidelities_are_a_multiple_and_an_error(rng):
    """f_high = rho f_low + d, from the covariances of its parts."""
    k = autoregressive([2.0 * RBF(0.7), 0.5 * RBF(1.5)], [0], 1)
    first, second = rng.uniform(0, 3, (6, 1)), rng.uniform(0, 3, (4, 1))
    X = np.vstack([np.column_stack([first, np.zeros(6)]), np.column_stack([second, np.ones(4)])])
    rho = 1.7
    k = k.for_data(X).clone_with_theta(np.concatenate([np.log([2.0, 0.7]), [rho], np.log([0.5, 1.5])]))
    low, error = 2.0 * RBF(0.7), 0.5 * RBF(1.5)
    both = np.block([[low(first), rho * low(first, second)], [rho * low(second, first), rho**2 * low(second) + error(second)]])
    assert np.abs(k(X) - both).max() <= 16 * eps(float) * both.max()
    check_kernel(k, X, points=False)
