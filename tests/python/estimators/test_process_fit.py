"""A process of which some rows are outliers: what it is, and what later changes do with them."""

import numpy as np
import pytest

import kernsel as ks
from kernsel._search import plan
from kernsel._solve.near import NearPosterior
from kernsel.estimators import gaussian_process


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(size=(60, 1)), axis=0)
    y = np.sin(8 * X[:, 0]) + 0.1 * rng.standard_normal(60)
    y[[7, 31, 48]] += 9.0, -8.0, 7.0
    return X, y


@pytest.fixture
def model(data):
    return ks.GaussianProcessRegressor().fit(*data)


ROWS = [7, 31, 48]


def test_it_is_the_fit_to_the_others_with_variances_of_their_own(data, model):
    X, y = data
    kept = np.setdiff1d(np.arange(60), ROWS)
    others = ks.GaussianProcessRegressor().fit(X[kept], y[kept])
    assert model.outliers_.tolist() == ROWS
    assert model.kernel_ == others.kernel_
    assert model.noise_ == others.noise_
    assert np.ndim(model.noise_) == 0
    assert model.criterion_value_ == others.criterion_value_
    mean, std = others.predict(X[ROWS], return_std=True)
    own = model.posterior_.noise[ROWS] - model.noise_
    np.testing.assert_allclose(own, (y[ROWS] - mean) ** 2 - std**2, rtol=1e-6)
    np.testing.assert_allclose(model.posterior_.noise[kept], model.noise_ + model.jitter_)
    # The own residual is one standard deviation, up to what the other outliers do.
    np.testing.assert_allclose(np.abs(model.loo_residuals_ / model.loo_std_)[ROWS], 1.0, rtol=0.01)
    np.testing.assert_allclose(model.loo_std_of_ordinary()[ROWS], std, rtol=0.01)
    Z = np.linspace(0, 1, 30)[:, None]
    found, expected = model.predict(Z, return_std=True), others.predict(Z, return_std=True)
    np.testing.assert_allclose(found[0], expected[0], atol=0.01)
    np.testing.assert_allclose(found[1], expected[1], rtol=0.01)
    assert model.predict(Z, return_std=True, noisy=True)[1].tolist() == found[1].tolist()


def test_given_rows(data, model):
    given = ks.GaussianProcessRegressor(outliers=[48, 7, 31]).fit(*data)
    assert given.outliers_.tolist() == ROWS
    assert given.kernel_ == model.kernel_
    np.testing.assert_array_equal(given.alpha_, model.alpha_)
    with pytest.raises(ValueError, match="outliers: expected"):
        ks.GaussianProcessRegressor(outliers=[60]).fit(*data)
    with pytest.raises(ValueError, match="outliers: expected"):
        ks.GaussianProcessRegressor(outliers="none").fit(*data)


def test_where_the_noise_is_given_nothing_is_looked_for(data):
    model = ks.GaussianProcessRegressor(noise=0.01).fit(*data)
    assert not len(model.outliers_)
    assert model.selection_.far is None


def test_the_report_names_the_largest_first(data, model):
    far = model.selection_.far
    assert far.rows.tolist() == ROWS
    assert far.count_little
    text = str(model.selection_)
    assert "3 rows are outliers, 7 (+" in text
    assert "row 8 (" in ks.GaussianProcessRegressor(outliers=[7]).fit(*data).selection_.far.said(np.arange(1, 61))


def test_tails_are_reported_where_rows_count():
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(200, 1))
    noise = 0.1 * rng.standard_normal(200)
    noise[[5, 60]] = 0.9, -0.8  # far, but no gross errors
    model = ks.GaussianProcessRegressor().fit(X, np.sin(8 * X[:, 0]) + noise)
    assert not len(model.outliers_)
    assert not model.selection_.far.count_little
    assert set(model.selection_.far.rows) == {5, 60}
    assert "outliers=[...]" in str(model.selection_)


def test_updates(model):
    before = model.predict([[0.5]])
    model.update([[0.5], [0.6]], [0.0, 0.1])
    assert model.posterior_.noise[-1] == model.noise_ + model.jitter_
    assert np.ndim(model.noise_) == 0
    model.downdate(60)
    model.downdate(-1)
    np.testing.assert_allclose(model.predict([[0.5]]), before, rtol=1e-9)
    model.downdate(10)
    assert model.outliers_.tolist() == [7, 30, 47]
    model.downdate(7)
    assert model.outliers_.tolist() == [29, 46]


def test_saved_and_loaded(data, model, tmp_path):
    for one in (model, ks.KernelRidge("auto").fit(*data), ks.KernelRidgeCV("rbf").fit(*data)):
        ks.save(one, tmp_path / "model.ksl")
        loaded = ks.load(tmp_path / "model.ksl")
        assert loaded.outliers_.tolist() == ROWS
        assert str(getattr(loaded, "selection_", "")) == str(getattr(one, "selection_", ""))
        np.testing.assert_allclose(loaded.predict(data[0]), one.predict(data[0]))


def test_the_path_has_the_noise_of_all_others(model):
    assert model.regularization_path().alpha == pytest.approx(model.noise_ + model.jitter_)


def test_ridge_regression_leaves_them_out(data):
    X, y = data
    model = ks.KernelRidge("auto").fit(X, y)
    weights = np.ones(60)
    weights[ROWS] = 0.0
    others = ks.KernelRidge("auto").fit(X, y, weights)
    assert model.outliers_.tolist() == ROWS
    assert (model.dual_coef_[ROWS] == 0).all()
    np.testing.assert_array_equal(model.dual_coef_, others.dual_coef_)
    assert model.criterion_value_ == others.criterion_value_
    assert model.selection_.far.rows.tolist() == ROWS
    kept = np.setdiff1d(np.arange(60), ROWS)
    alone = ks.KernelRidge(model.kernel_, alpha=model.alpha_, fit_intercept=True).fit(X[kept], y[kept])
    np.testing.assert_allclose(model.left_out(X, y).predictions[kept], alone.left_out(X[kept], y[kept]).predictions, atol=1e-7)
    np.testing.assert_allclose(model.left_out(X, y).predictions[ROWS], model.predict(X[ROWS]), rtol=1e-6)
    assert not len(ks.KernelRidge("auto", outliers=None).fit(X, y).outliers_)
    assert ks.KernelRidge("auto", outliers=ROWS).fit(X, y).alpha_ == model.alpha_


@pytest.mark.parametrize("criterion", ["loo", "gcv", "reml", "kfold"])
def test_the_ridge_regression_along_a_path_leaves_them_out(criterion, data):
    X, y = data
    model = ks.KernelRidgeCV("rbf", criterion=criterion, fit_intercept=True).fit(X, y)
    weights = np.ones(60)
    weights[ROWS] = 0.0
    others = ks.KernelRidgeCV("rbf", criterion=criterion, fit_intercept=True).fit(X, y, weights)
    assert model.outliers_.tolist() == ROWS
    assert (model.dual_coef_[ROWS] == 0).all()
    np.testing.assert_array_equal(model.dual_coef_, others.dual_coef_)
    assert model.criterion_value_ == others.criterion_value_
    assert not len(ks.KernelRidgeCV("rbf", criterion=criterion, outliers=None).fit(X, y).outliers_)
    assert ks.KernelRidgeCV("rbf", criterion=criterion, outliers=ROWS, fit_intercept=True).fit(X, y).alpha_ == model.alpha_


def test_an_outlier_that_is_given_twice_is_found_by_leaving_both_out(data):
    X, y = (np.concatenate([part, part]) for part in data)
    assert ks.KernelRidgeCV("rbf", criterion="loo", fit_intercept=True).fit(X, y).outliers_.tolist() == [
        *ROWS,
        *(r + 60 for r in ROWS),
    ]


@pytest.mark.parametrize("sees", ["neighbours", "all"])
def test_known_outliers_of_many_points(monkeypatch, sees):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 2))
    truth = np.sin(6 * X[:, 0]) + X[:, 1] ** 2
    y = truth + 0.1 * rng.standard_normal(300)
    y[::30] += 8.0
    near = ks.Vecchia(20, 60)
    planned = plan.Plan(near, near, may_grow=True, may_be_exact=sees == "all")
    monkeypatch.setattr(gaussian_process, "plan_for", lambda *_, **__: planned)
    model = ks.GaussianProcessRegressor("auto", outliers=np.arange(0, 300, 30), random_state=0).fit(X, y)
    assert isinstance(model.posterior_, NearPosterior) == (sees == "neighbours")
    assert model.outliers_.tolist() == list(range(0, 300, 30))
    assert np.sqrt(np.mean((model.predict(X) - truth) ** 2)) < 0.1
