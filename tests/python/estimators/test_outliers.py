"""Which rows are outliers, and that others are not."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.estimators.outliers import LeftOutRows, find_outliers, given_rows, heavy_tails

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


def decided(rows, *, size=30.0, harm=5.0, noise=1.0, n=100, seen=1.0, tails=False):
    """Return what is found on a line of points if the fit without any rows has residuals of normal size but at `rows`.

    Squared residuals are `harm` times as large in the first fit, and those of `rows` are `seen` as large. With `tails`, every
    tenth point has a large residual.
    """
    residuals = np.random.default_rng(0).standard_normal(n)
    if tails:
        residuals[::10] = 3.3
    residuals[rows] = size
    of_first = np.sqrt(harm) * residuals
    of_first[rows] = seen * residuals[rows]
    without = LeftOutRows(residuals, np.full(n, 1.0 + 0.1), n - 5.0, noise)
    first = LeftOutRows(of_first, np.ones(n), n - 5.0, noise)
    x = np.arange(n)
    correlations = -np.abs(x[:, None] - x) / n
    return find_outliers(residuals, first, lambda: NONE, lambda _: without, lambda _: correlations).tolist()


def test_each_condition_is_needed():
    far_apart = [14, 50, 57, 92]
    assert decided(far_apart) == far_apart
    assert decided(far_apart, harm=1.05) == []  # they do no harm
    assert decided(far_apart, noise=1e-9) == []  # a function without noise
    assert decided([14, 15, 16, 17], size=12.0) == []  # the noise is larger there
    assert decided([14, 15, 16, 17]) == [14, 15, 16, 17]  # by no such factor
    assert decided([14, 15, 16, 17], seen=0.9) == []  # but if they predict each other, a function may be
    assert decided(far_apart, seen=0.5) == []  # a function that the first fit has found
    assert decided(list(range(0, 100, 5))) == []  # too many
    assert decided(far_apart, size=4.0) == []  # normal noise may have them
    assert decided(far_apart, size=8.0, harm=2.0) == far_apart
    assert decided(far_apart, size=8.0, harm=2.0, tails=True) == []  # the end of long tails
    assert decided(far_apart, harm=2.0, tails=True) == far_apart


def test_rows_that_hide_behind_others_are_found_by_further_fits():
    n, rows = 100, np.array([14, 33, 50, 57, 92])
    noise = np.random.default_rng(0).standard_normal(n)
    asked = []

    def without(left_out):
        """Return a fit whose error of predictions is the larger, the more rows it has."""
        asked.append(left_out.tolist())
        bent = 1.0 * len(np.setdiff1d(rows, left_out)) * np.where(np.arange(n) % 2, 1.0, -1.0)
        residuals = noise + bent
        residuals[rows] = (20.0, -40.0, 60.0, -80.0, 100.0)
        return LeftOutRows(residuals, np.full(n, 1.1), n - 5.0, 1.0)

    first = without(NONE)
    assert len(first.beyond_chance(first.residuals)) < len(rows)
    found = find_outliers(
        first.residuals, first, lambda: NONE, without, lambda _: -np.abs(np.subtract.outer(*2 * [np.arange(n)]))
    )
    assert found.tolist() == rows.tolist()
    assert asked[-1] == rows.tolist()


def test_rows_that_the_trend_needs_are_left_alone():
    residuals = np.random.default_rng(0).standard_normal(50)
    residuals[3] = 40.0
    first = LeftOutRows(residuals, np.ones(50), 45.0, 1.0)
    assert not len(find_outliers(residuals, first, lambda: NONE, lambda _: None, lambda _: np.eye(50)))


@pytest.mark.parametrize("size", [2.0, 4.0, 10.0])
@pytest.mark.parametrize("d", [1, 3])
def test_errors_of_one_sign_and_of_all_sizes(d, size):
    X, clean, _, rows = made_up(100, d, 1)
    at_best = error(ks.GaussianProcessRegressor().fit(X, clean), d)
    sizes = np.full(len(rows), size), size * np.random.default_rng(0).standard_normal(len(rows))
    for errors in sizes:
        y = clean.copy()
        y[rows] += errors * truth(X).std()
        model = ks.GaussianProcessRegressor().fit(X, y)
        assert error(model, d) <= 2 * at_best
        assert set(model.outliers_) <= set(rows)


def two_waves(X):
    return np.sin(6 * X[:, 0]) + X[:, 1] ** 2


def friedman(X):
    return 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]


@pytest.mark.parametrize(
    ("f", "d", "n", "size", "seed"),
    [
        pytest.param(two_waves, 2, 100, 3, 2, id="all five are neighbours, by chance"),
        pytest.param(two_waves, 2, 60, 2, 5, id="the first fit goes through them"),
        pytest.param(friedman, 5, 60, 5, 3, id="the fit without all suspects finds no noise"),
        pytest.param(friedman, 5, 100, 2, 5, id="two hide behind three"),
        pytest.param(friedman, 5, 100, 3, 4, id="one hides behind four"),
    ],
)
def test_errors_that_are_hard_to_find(f, d, n, size, seed):
    rng = np.random.default_rng(1000 * seed + n + size)
    X, Z = rng.uniform(size=(n, d)), rng.uniform(size=(1000, d))
    signal = f(Z).std()
    clean = f(X) + 0.1 * signal * rng.standard_normal(n)
    rows = rng.choice(n, n // 20, replace=False)
    y = clean.copy()
    y[rows] += rng.choice([-1, 1], len(rows)) * size * signal
    model, at_best = (ks.GaussianProcessRegressor().fit(X, targets) for targets in (y, clean))
    errors = [np.sqrt(np.mean((one.predict(Z) - f(Z)) ** 2)) for one in (model, at_best)]
    assert errors[0] <= 2 * errors[1]
    assert model.outliers_.tolist() == sorted(rows)


@pytest.mark.parametrize("size", [0.02, 0.05])
def test_noise_that_is_larger_in_some_places_is_no_error(size):
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(size=150))
    y = np.sin(8 * x) + np.where(np.abs(x - 0.5) < 0.05, 10 * size, size) * rng.standard_normal(150)
    assert not len(ks.GaussianProcessRegressor().fit(x[:, None], y).outliers_)


def test_without_gross_residuals_there_is_one_search(monkeypatch):
    searches = []
    select = ks.GaussianProcessRegressor._select
    monkeypatch.setattr(ks.GaussianProcessRegressor, "_select", lambda *given: searches.append(1) or select(*given))
    X, clean, y, _ = made_up(60, 1, 0)
    ks.GaussianProcessRegressor().fit(X, clean)
    assert len(searches) == 1
    ks.GaussianProcessRegressor().fit(X, y)
    assert len(searches) > 1


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
