"""Which rows are outliers, and that others are not."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.estimators.outliers import LeftOutRows, far_from_neighbours, find_outliers, given_rows, heavy_tails

NONE = np.zeros(0, dtype=np.intp)


def made_up(n, d, seed, *, share=0.05):
    """Return points, clean targets and targets of which some are shifted by ten standard deviations, with those rows."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, d))
    f = truth(X)
    clean = f + 0.1 * f.std() * rng.standard_normal(n)
    rows = np.sort(rng.choice(n, round(share * n), replace=False))
    y = clean.copy()
    y[rows] += 10 * f.std() * rng.choice([-1, 1], len(rows))
    return X, clean, y, rows


def truth(X):
    first = np.sin(8 * X[:, 0])
    return first if X.shape[1] == 1 else first + np.cos(3 * X[:, 1]) * X[:, 2] + X[:, 1] ** 2


def error(model, d):
    Z = np.random.default_rng(9).uniform(size=(300, d))
    return np.sqrt(np.mean((model.predict(Z) - truth(Z)) ** 2))


AUTOMATIC = [
    *(
        ks.GaussianProcessRegressor(criterion=one)
        for one in ("lml", "reml", "loo", "loo_crps", "loo_absolute", "loo_log_density")
    ),
    ks.KernelRidge("auto"),
    ks.KernelRidge("auto", criterion="loo_absolute"),
    ks.KernelRidge(ks.kernels.RBF(0.4, "fixed"), alpha="auto"),
]


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("model", AUTOMATIC, ids=str)
def test_outliers_hardly_change_what_is_learnt(model, d):
    X, clean, y, rows = made_up(100, d, 0)
    at_best = error(model.fit(X, clean), d)
    assert not len(model.outliers_)
    assert error(model.fit(X, y), d) <= 2 * at_best
    assert model.outliers_.tolist() == rows.tolist()
    model.set_params(outliers=None)
    assert error(model.fit(X, y), d) > 3 * at_best
    model.set_params(outliers="auto")


def test_support_vectors_are_robust():
    X, clean, y, _ = made_up(60, 3, 0)
    at_best = error(ks.SVR("auto").fit(X, clean), 3)
    assert error(ks.SVR("auto").fit(X, y), 3) <= 2 * at_best


@pytest.mark.parametrize("n", [15, 40, 100])
def test_normal_noise_has_no_outliers(n):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.uniform(size=(n, 1 + 2 * (seed % 2)))
        y = truth(X) + (0.1, 1.0)[seed % 2] * rng.standard_normal(n)
        model = ks.GaussianProcessRegressor().fit(X, y)
        assert not len(model.outliers_)
        assert model.selection_.far is None


FUNCTIONS = {
    "step": lambda x: (x > 0.43) * 1.0,
    "kink": lambda x: np.abs(x - 0.37),
    "ever faster": lambda x: np.sin(1 / (x + 0.05)),
    "peak": lambda x: np.exp(-(((x - 0.6) / 0.03) ** 2)) + 0.3 * x,
    "growing": lambda x: np.exp(8 * x),
}


@pytest.mark.parametrize("noise", [0.0, 0.1])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_that_are_not_stationary_have_no_outliers(name, noise):
    for n in (50, 100):
        x = (np.arange(n) + 0.5) / n
        f = FUNCTIONS[name](x)
        y = f + noise * f.std() * np.random.default_rng(0).standard_normal(n)
        model = ks.GaussianProcessRegressor().fit(x[:, None], y)
        assert not len(model.outliers_)
        if not noise and name in ("kink", "growing"):
            assert model.selection_.far is None


def test_the_limit_is_wider_where_the_noise_is_hardly_known():
    r, v = np.ones(20), np.ones(20)
    known, hardly = LeftOutRows(r, v, 1e6, 1.0), LeftOutRows(r, v, 4.0, 1.0)
    assert known.limit == 5.0
    assert hardly.limit > 10.0


def first_fit(n, rows, size):
    residuals = np.random.default_rng(0).standard_normal(n)
    residuals[rows] = size
    return residuals


def decided(rows, *, size=30.0, harm=5.0, noise=1.0, n=100):
    """Return what is found if the fit without any rows has residuals of normal size but at `rows`, on a line of points."""
    y = first_fit(n, rows, size)
    without = LeftOutRows(y, np.ones(n), n - 5.0, noise)
    first = LeftOutRows(np.sqrt(harm) * y, np.full(n, harm), n - 5.0, noise)
    x = np.arange(n)
    return find_outliers(y, first, lambda: NONE, lambda _: without, lambda some: -np.abs(x[some][:, None] - x) / n).tolist()


def test_each_condition_is_needed():
    far_apart = [10, 50, 90]
    assert decided(far_apart) == far_apart
    assert decided(far_apart, harm=1.5) == []  # they do no harm
    assert decided(far_apart, noise=1e-9) == []  # a function without noise
    assert decided([10, 11, 12]) == []  # a peak
    assert decided(list(range(0, 100, 5))) == []  # too many
    assert decided(far_apart, size=4.0) == []  # normal noise may have them


def test_rows_that_the_trend_needs_are_left_alone():
    found = find_outliers(
        first_fit(50, [3], 40.0),
        LeftOutRows(first_fit(50, [3], 40.0), np.ones(50), 45.0, 1.0),
        lambda: NONE,
        lambda _: None,
        lambda some: np.zeros((len(some), 50)),
    )
    assert not len(found)


def test_the_median_of_neighbours_is_not_moved_by_outliers():
    X, clean, y, rows = made_up(100, 1, 3)
    assert set(rows) <= set(far_from_neighbours(X, y))
    assert not len(far_from_neighbours(X, clean))
    assert set(rows) <= set(far_from_neighbours(1e200 * X, y))


def test_tails():
    z = np.random.default_rng(0).standard_normal(400)
    assert heavy_tails(z) is None
    z[:3] = 4.5, -7.0, 5.0
    far = heavy_tails(z)
    assert far.rows.tolist() == [1, 2, 0]
    assert far.sizes.tolist() == [-7.0, 5.0, 4.5]
    assert not far.count_little


@pytest.mark.parametrize("rows", [[-1], [20], [0.5], list(range(19))])
def test_rows_that_are_none(rows):
    with pytest.raises(ValueError, match="outliers: expected"):
        given_rows(rows, 20)
