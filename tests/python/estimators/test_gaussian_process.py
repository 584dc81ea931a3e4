"""GaussianProcessRegressor: likelihoods and updates, the manners of scikit-learn, and what is refused."""

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor as Theirs
from sklearn.gaussian_process import kernels as sk
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernsel as ks
from kernsel.kernels import RBF, ConstantKernel, DotProduct, Matern, WhiteKernel

import reference
from conventions import expected_failures
from processes import SIGNAL, assert_same_model, basis

GP = ks.GaussianProcessRegressor


@parametrize_with_checks(
    [
        GP(),
        GP(RBF() + WhiteKernel(), criterion="loo"),
        GP(None, trend="linear"),
        GP(RBF(), noise="auto", alpha=0.1, scale="each", criterion="reml"),
        GP(RBF(), noise=0.1, optimizer=None),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_conventions(estimator, check):
    check(estimator)


@pytest.fixture
def data(rng):
    X = rng.uniform(size=(40, 2))
    y = np.sin(5 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(40)
    return X, y, rng.uniform(size=(15, 2))


def test_updates_in_the_units_of_y(data):
    X, y, Z = data
    y = 100 + 30 * y
    gp = GP(SIGNAL, optimizer=None, noise=0.02, alpha=0.0, normalize_y=True).fit(X[:30], y[:30]).update(X[30:], y[30:])
    centre, unit = y[:30].mean(), y[:30].std()
    other = GP(SIGNAL, optimizer=None, noise=0.02, alpha=0.0).fit(X, (y - centre) / unit)
    mean, std = other.predict(Z, return_std=True)
    found = gp.predict(Z, return_std=True)
    assert found[0] == pytest.approx(centre + unit * mean, rel=1e-10)
    assert found[1] == pytest.approx(unit * std, rel=1e-10)
    mixed = GP(SIGNAL, optimizer=None, noise=0.02, alpha=0.0).fit(X[:30], y[:30]).update(X[30:], y[30:], noise=0.5)
    noise = np.repeat([0.02, 0.5], [30, 10])
    assert np.array_equal(mixed.noise_, noise)
    assert_same_model(mixed, GP(SIGNAL, optimizer=None, noise=noise, alpha=0.0).fit(X, y), Z, 1e-7)
    with pytest.raises(ValueError, match="noise: give the variances for the new points"):
        mixed.update(Z[:1], [0.0])
    with pytest.raises(ValueError, match="noisy: noise differs from point to point"):
        mixed.predict(Z, return_std=True, noisy=True)


@pytest.mark.parametrize("options", [{}, {"criterion": "reml"}, {"scale": "shared"}, {"normalize_y": True}], ids=str)
def test_fit_and_complexity_are_the_likelihood(data, options):
    X, y, _ = data
    Y = np.column_stack([y, 30 * y + 9 * X[:, 1]]) if "criterion" in options or not options else y[:, None]
    gp = GP("RBF", **options).fit(X, Y)
    y_train, beta = (np.reshape(values, (len(values), -1)) for values in (gp.y_train_, gp.beta_))
    fidelity = complexity = 0.0
    for k, scale in enumerate(gp.scale_):
        covariance, H = scale * gp.L_ @ gp.L_.T, np.ones((len(X), 1))
        fidelity -= 0.5 * y_train[:, k] @ np.linalg.solve(covariance, y_train[:, k] - beta[0, k])
        complexity -= 0.5 * np.linalg.slogdet(covariance)[1]
        if options.get("criterion") == "reml":
            complexity -= 0.5 * np.log(np.sum(H * np.linalg.solve(covariance, H)) / len(X))
    assert gp.fidelity_ == pytest.approx(fidelity, rel=1e-8)
    assert gp.complexity_ == pytest.approx(complexity, rel=1e-8)
    counts = GP(RBF(), optimizer=None, likelihood="poisson").fit(X[:9], np.arange(9))
    with pytest.raises(AttributeError, match="fidelity_, complexity_: Poisson observations are not normal"):
        _ = counts.complexity_


def only_some(X):
    if len(X) and X[:, 0].max() > 2:
        raise RuntimeError("no trend here")
    return np.ones((len(X), 1))


@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        (([[0.5, 0.5], "twin"], [1.0, 9.0]), ValueError, "points 3 and 21 are equal, but their values differ"),
        (([[0.5, 0.5], [3.0, 0.0]], [1.0, 2.0]), RuntimeError, "no trend here"),
        (([[0.5, 0.5]], [1.0, 2.0]), ValueError, r"y: expected shape \(1,\), got \(2,\)"),
        (([[0.5, 0.5]], [np.nan]), ValueError, "Input y contains NaN"),
        (([[0.5, np.inf]], [1.0]), ValueError, "Input X contains infinity"),
        (([[0.5]], [1.0]), ValueError, "X has 1 features"),
        (([[0.5, 0.5]], [1.0], -1.0), ValueError, "noise: expected finite numbers that are not negative, got -1.0"),
        (([[0.5, 0.5]], [1.0], [0.1, 0.2]), ValueError, r"noise must be .* \(shape \(2,\) for 1 points\)"),
    ],
)
def test_a_failed_update_changes_nothing(data, bad, error, message):
    X, y, Z = data
    gp = GP(Matern([0.3, 0.5], nu=1.5), optimizer=None, trend=only_some).fit(X[:20], y[:20])
    before = pickle.loads(pickle.dumps(gp))
    points = [X[3] if isinstance(point, str) else point for point in bad[0]]
    with pytest.raises(error, match=message):
        gp.update(np.array(points), bad[1], **({"noise": bad[2]} if len(bad) > 2 else {}))
    assert_same_model(gp, before, Z, 0.0)


def test_a_singular_update_changes_nothing(data):
    X, y, Z = data
    gp = GP(DotProduct(1.0), optimizer=None, alpha=0.0).fit(X[:3], y[:3])  # of rank 3
    before = pickle.loads(pickle.dumps(gp))
    with pytest.raises(ks.NotPositiveDefiniteError, match=r"row [34]"):
        gp.update(np.vstack([X[3:6], X[3:6]]), np.append(y[3:6], y[3:6]))
    assert_same_model(gp, before, Z, 0.0)


def test_a_failed_fit_leaves_the_last_one(data):
    X, y, Z = data
    gp = GP(DotProduct(1.0), optimizer=None, alpha=0.0, normalize_y=True).fit(X[:3], y[:3])
    before = gp.predict(Z)
    with pytest.raises(np.linalg.LinAlgError):
        gp.fit(X, 100 * y)
    assert np.array_equal(gp.predict(Z), before)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_samples(data, unit):
    X, y, Z = data
    Y = unit * np.column_stack([y, y**2])
    gp = GP(ConstantKernel(unit**2) * SIGNAL, optimizer=None, noise=0.02 * unit**2).fit(X, Y)
    Z, count = np.vstack([Z[:6], X[:2]]), 20_000
    draws = gp.sample_y(Z, count, random_state=3)
    assert draws.shape == (8, 2, count)
    mean, cov = gp.predict(Z, return_cov=True)
    std = np.sqrt(np.diag(cov[..., 0]))
    for k in range(2):
        assert np.abs((draws[:, k].mean(axis=1) - mean[:, k]) / std).max() < 5 / np.sqrt(count)
        # The variance of an empirical covariance is (c_ij^2 + c_ii c_jj) / count, at most 2 c_ii c_jj / count.
        assert np.abs((np.cov(draws[:, k]) - cov[..., k]) / np.outer(std, std)).max() < 5 * np.sqrt(2 / count)
    assert np.array_equal(gp.sample_y(Z, 5, random_state=0), gp.sample_y(Z, 5))
    assert not np.array_equal(gp.sample_y(Z, 5, random_state=0), gp.sample_y(Z, 5, random_state=1))
    assert gp.sample_y(Z, 0).shape == (8, 2, 0)
    one = GP(SIGNAL, optimizer=None).fit(X, y).sample_y(X, 3)  # at the data there is nothing left to vary
    assert one == pytest.approx(np.repeat(y[:, None], 3, axis=1), abs=1e-4)


def test_before_fitting(data):
    _, _, Z = data
    gp = GP(SIGNAL + WhiteKernel(0.1), noise=0.3, n_targets=2)
    mean, cov = gp.predict(Z, return_cov=True)
    assert mean.shape == (15, 2)
    assert not mean.any()
    assert cov[..., 1] == pytest.approx(SIGNAL(Z) + 0.1 * np.eye(15), abs=1e-15)
    assert gp.predict(Z, return_std=True)[1] == pytest.approx(np.full((15, 2), 1.6**0.5))
    assert gp.predict(Z, return_std=True, noisy=True)[1] == pytest.approx(np.full((15, 2), 1.9**0.5))
    draws = gp.sample_y(Z[:3], 20_000)
    assert draws.shape == (3, 2, 20_000)
    assert np.abs(np.cov(draws[:, 0]) - cov[:3, :3, 0]).max() < 5 * 1.6 * np.sqrt(2 / 20_000)
    assert GP().predict(Z).shape == (15,)
    calls = [lambda: gp.predict_gradient(Z), lambda: gp.update(Z, Z), lambda: gp.downdate(0)]
    calls += [lambda: gp.log_marginal_likelihood(), lambda: gp.log_marginal_likelihood([0.0])]
    calls += [lambda name=name: getattr(gp, name) for name in ("L_", "loo_residuals_", "loo_std_", "leverage_")]
    for call in calls:
        with pytest.raises(NotFittedError):
            call()


@pytest.mark.parametrize("scale", ["shared", "each"])
@pytest.mark.parametrize("criterion", ["lml", "reml"])
def test_likelihood_and_its_gradient(data, criterion, scale):
    X, y, _ = data
    Y = np.column_stack([y, 3 * y**2])
    gp = GP(SIGNAL + WhiteKernel(0.1), optimizer=None, noise=0.05, criterion=criterion, trend="linear", scale=scale).fit(X, Y)
    name = criterion if scale == "shared" else f"profiled_{criterion}"
    H = basis("linear", X)

    def value(theta):
        k = gp.kernel_.clone_with_theta(theta)
        return reference.criterion(name, k(X), np.full(40, 0.05), H, Y, scale=scale)

    theta = gp.kernel_.theta + 0.1
    found, gradient = gp.log_marginal_likelihood(theta, eval_gradient=True)
    assert found == pytest.approx(value(theta), abs=1e-9)
    expected, error = reference.central_differences(value, theta, 1e-4)
    assert gradient == pytest.approx(expected, abs=float(10 * error.max() + 1e-7))
    assert gp.log_marginal_likelihood(theta) == found
    assert gp.log_marginal_likelihood() == gp.log_marginal_likelihood_value_ == pytest.approx(gp.criterion_value_, abs=1e-9)
    assert gp.log_marginal_likelihood(gp.kernel_.theta) == pytest.approx(gp.log_marginal_likelihood_value_, abs=1e-9)
    with pytest.raises(ValueError, match="theta: expected 4 numbers, got shape"):
        gp.log_marginal_likelihood(theta[:1])
    with pytest.raises(ValueError, match="Gradient can only be evaluated"):
        gp.log_marginal_likelihood(eval_gradient=True)
    before = gp.kernel_
    gp.log_marginal_likelihood(theta)
    assert gp.kernel_ is before
    gp.log_marginal_likelihood(theta, clone_kernel=False)
    assert gp.kernel_.theta == pytest.approx(theta)


def test_likelihood_of_scikit_learn(data):
    X, y, _ = data
    kernel = sk.ConstantKernel(1.5) * sk.RBF([0.3, 0.5])
    ours, theirs = (kind(kernel, alpha=0.01, optimizer=None).fit(X, y) for kind in (GP, Theirs))
    for theta in (kernel.theta, kernel.theta + np.array([1.0, -0.5, 0.3])):
        for a, b in zip(*(gp.log_marginal_likelihood(theta, eval_gradient=True) for gp in (ours, theirs)), strict=True):
            assert a == pytest.approx(b, rel=1e-8)


def test_likelihood_where_there_is_none(data):
    X, y, _ = data
    gp = GP(RBF(0.05), alpha=0.0, optimizer=None).fit(X, y)
    assert gp.log_marginal_likelihood([20.0]) == -np.inf
    value, gradient = gp.log_marginal_likelihood([20.0], eval_gradient=True)
    assert value == -np.inf
    assert not gradient.any()


def test_noisy_and_normalized(data):
    X, y, Z = data
    y = 1000 + 50 * y
    kernel = ConstantKernel("auto") * RBF("auto")
    one = GP(kernel, noise="auto", normalize_y=True).fit(X, y)
    centre, unit = y.mean(), y.std()
    other = GP(kernel, noise="auto").fit(X, (y - centre) / unit)
    found, expected = one.predict(Z, return_std=True), other.predict(Z, return_std=True)
    assert found[0] == pytest.approx(centre + unit * expected[0], rel=1e-9)
    assert found[1] == pytest.approx(unit * expected[1], rel=1e-9)
    assert one.loo_residuals_ == pytest.approx(unit * other.loo_residuals_, rel=1e-9)
    assert one.loo_std_ == pytest.approx(unit * other.loo_std_, rel=1e-9)
    assert one.predict_gradient(Z) == pytest.approx(unit * other.predict_gradient(Z), rel=1e-9)
    wrapped = TransformedTargetRegressor(GP(kernel, noise="auto"), transformer=StandardScaler()).fit(X, y)
    assert wrapped.predict(Z) == pytest.approx(one.predict(Z), rel=1e-9)
    plain, noisy = (one.predict(Z, return_std=True, noisy=noisy)[1] for noisy in (False, True))
    assert noisy**2 - plain**2 == pytest.approx(np.full(15, one.noise_ * unit**2), rel=1e-9)
    sum_of = GP(SIGNAL, optimizer=None, noise=0.02, alpha=0.03).fit(X, y)
    plain, noisy = (sum_of.predict(Z, return_std=True, noisy=noisy)[1] for noisy in (False, True))
    assert noisy**2 - plain**2 == pytest.approx(np.full(15, 0.05), rel=1e-9)
    vector = GP(SIGNAL, optimizer=None, alpha=np.linspace(0.01, 0.02, 40)).fit(X, y)
    with pytest.raises(ValueError, match="noisy: alpha differs from point to point"):
        vector.predict(Z, return_std=True, noisy=True)


def test_copies(data):
    X, y, Z = data
    mine = X.copy()
    gp = GP(SIGNAL, optimizer=None, noise=0.1).fit(mine, y)
    before = gp.predict(Z)
    assert not np.shares_memory(gp.X_train_, mine)
    mine[:] = 0
    assert np.array_equal(gp.predict(Z), before)
    assert np.shares_memory(GP(SIGNAL, optimizer=None, noise=0.1, copy_X_train=False).fit(X, y).X_train_, X)


def test_inputs_of_many_kinds(data):
    X, y, Z = data
    X, y, Z = np.round(8 * X), np.round(8 * y), np.round(8 * Z)
    _, first = np.unique(X, axis=0, return_index=True)
    X, y = X[np.sort(first)], y[np.sort(first)]
    expected = GP().fit(X, y).predict(Z, return_std=True)
    frame = pd.DataFrame(X, columns=["a", "b"])
    kinds = [
        (X.astype(int), y.astype(int)),
        (X.astype(object), y.astype(object)),
        (X.astype(np.float32), y.astype(np.float32)),
        (np.asfortranarray(X), y[:, None]),
        (np.repeat(X, 2, axis=0)[::2], np.repeat(y, 2)[::2]),
        (X.tolist(), y.tolist()),
        (frame, pd.Series(y)),
    ]
    for points, targets in kinds:
        gp = GP().fit(points, targets)
        at = pd.DataFrame(Z, columns=["a", "b"]) if points is frame else Z
        for a, b in zip(gp.predict(at, return_std=True), expected, strict=True):
            assert np.array_equal(a, b)
    assert gp.feature_names_in_.tolist() == ["a", "b"]
    named = GP(RBF(2.0).on(["b"]), noise=0.1, optimizer=None).fit(frame, y)
    by_number = GP(RBF(2.0).on([1]), noise=0.1, optimizer=None).fit(X, y)
    assert np.array_equal(named.predict(pd.DataFrame(Z, columns=["a", "b"])), by_number.predict(Z))
    named.update(pd.DataFrame([[0.5, 0.25]], columns=["a", "b"]), [1.0])
    by_number.update([[0.5, 0.25]], [1.0])
    assert np.array_equal(named.alpha_, by_number.alpha_)
    flags = X > 4
    assert np.isfinite(GP().fit(flags, y).predict(flags)).all()
    with pytest.raises(ValueError, match="feature names should match"):
        named.predict(pd.DataFrame(Z, columns=["b", "a"]))


def test_copies_of_the_model(data, tmp_path):
    X, y, Z = data
    gp = GP(trend="linear", criterion="reml").fit(X, y)
    expected = gp.predict(Z, return_std=True)
    joblib.dump(gp, tmp_path / "gp")
    for copy in (pickle.loads(pickle.dumps(gp)), joblib.load(tmp_path / "gp")):
        for a, b in zip(copy.predict(Z, return_std=True), expected, strict=True):
            assert np.array_equal(a, b)
        copy.update(Z[:1], [0.0])
        assert len(copy.X_train_) == 41
        assert copy.selection_.n_evaluations == gp.selection_.n_evaluations
    unfitted = clone(gp)
    assert not hasattr(unfitted, "kernel_")
    assert unfitted.get_params() == gp.get_params()
    for a, b in zip(unfitted.fit(X, y).predict(Z, return_std=True), expected, strict=True):
        assert np.array_equal(a, b)


def test_searches_of_scikit_learn(data):
    X, y, Z = data
    pipe = make_pipeline(StandardScaler(), GP())
    grid = GridSearchCV(pipe, {"gaussianprocessregressor__criterion": ["lml", "loo"]}, cv=3).fit(X, y)
    assert grid.best_score_ > 0.8
    assert grid.predict(Z).shape == (15,)
    inner = GridSearchCV(
        GP(SIGNAL, optimizer=None), {"noise": [1e-3, 0.01, 10.0], "kernel__k2__length_scale": [0.3, 1.0]}, cv=3
    )
    assert inner.fit(X, y).best_params_["noise"] < 1.0


def test_columns_that_are_constant(data):
    X, y, Z = data
    wide, at = (np.column_stack([P, np.full(len(P), 3.0)]) for P in (X, Z))
    assert GP().fit(wide, y).predict(at) == pytest.approx(GP().fit(X, y).predict(Z), abs=0.1 * y.std())
    with pytest.raises(ValueError, match="trend: column 2 can be made of the others"):
        GP(trend="linear").fit(wide, y)


@pytest.mark.parametrize("options", [{}, {"criterion": "reml"}, {"criterion": "loo"}, {"scale": "each"}, {"normalize_y": True}])
def test_targets_that_the_trend_explains(data, options):
    X, _, Z = data
    gp = GP(**options).fit(X, np.full(40, 7.0))
    assert gp.selection_.ended == "undecided"
    assert np.isnan(gp.criterion_value_)
    assert gp.predict(Z) == pytest.approx(np.full(15, 7.0), rel=1e-12)
    assert np.isfinite(gp.predict(Z, return_std=True)[1]).all()
    plane = GP(trend="linear", **options).fit(X, 1 + X @ [2.0, 3.0])
    assert plane.predict(Z) == pytest.approx(1 + Z @ [2.0, 3.0], rel=1e-10)
    assert plane.predict_gradient(Z) == pytest.approx(np.tile([2.0, 3.0], (15, 1)), rel=1e-6)
    assert GP(None, **options).fit(X, np.zeros(40)).predict(Z) == pytest.approx(np.zeros(15), abs=1e-12)


def test_few_points(data):
    X, y, Z = data
    for n in (1, 2, 3):
        for kernel in ("auto", None):
            gp = GP(kernel).fit(X[:n], y[:n])
            mean, std = gp.predict(Z, return_std=True)
            assert np.isfinite(mean).all()
            assert np.isfinite(std).all()
            assert gp.predict(X[:n]) == pytest.approx(y[:n], abs=np.ptp(y[:n]) + 1e-6)
    with pytest.raises(ValueError, match="trend: its 3 functions need 3 points at least, got n_samples = 2"):
        GP(trend="linear").fit(X[:2], y[:2])
    with pytest.raises(ValueError, match="without point 0 it is not determined"):
        GP(criterion="loo").fit(X[:1], y[:1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": -1.0}, "alpha: expected finite numbers that are not negative, got -1.0"),
        ({"alpha": np.nan}, "alpha: expected finite numbers"),
        ({"alpha": None}, "alpha: expected finite numbers"),
        ({"alpha": 1j}, 'alpha: expected numbers or "auto", got 1j'),
        ({"alpha": "some"}, "alpha: expected numbers or \"auto\", got 'some'"),
        ({"alpha": np.ones((40, 1))}, r"alpha must be a scalar .* \(shape \(40, 1\) for 40 points\)"),
        ({"noise": [0.1, 0.2]}, r"noise must be a scalar .* \(shape \(2,\) for 40 points\)"),
        ({"noise": -0.1}, "noise: expected finite numbers that are not negative, got -0.1"),
        ({"noise": {}}, "noise: expected numbers"),
        ({"criterion": "aic"}, "criterion: expected one of lml, .* got 'aic'"),
        ({"criterion": None}, "criterion: expected one of"),
        ({"criterion": "risk"}, "sigma: the unbiased risk needs the standard deviation of the noise"),
        ({"kernel": "Foo"}, "kernel: there is no kernel 'Foo'"),
        ({"kernel": 3}, "kernel: expected a kernel"),
        ({"kernel": RBF}, "kernel: expected a kernel"),
        ({"kernel": np.eye(3)}, "kernel: expected a kernel"),
        ({"optimizer": "adam"}, 'optimizer: expected "auto", "newton", "l-bfgs-b", a function or None, got \'adam\''),
        ({"optimizer": 3}, "optimizer: expected .* got 3"),
        ({"trend": "cubic"}, "trend: expected .* got 'cubic'"),
        ({"trend": 3}, "trend: expected .* got int"),
        ({"trend": np.ones((40, 1))}, "trend: expected .* got ndarray; numbers at the training points would say nothing"),
        ({"trend": lambda X: X[:, 0]}, r"trend: expected one row for each of 40 points, got shape \(40,\)"),
        ({"trend": lambda X: X * np.nan}, "trend: expected finite numbers"),
        ({"scale": "both"}, "scale: expected"),
        ({"scale": "each", "criterion": "loo"}, 'scale: "each" is for likelihoods'),
        ({"n_restarts_optimizer": -1}, "n_restarts_optimizer: expected a whole number from 0 on, got -1"),
        ({"max_evaluations": 0}, "max_evaluations: expected a whole number from 1 on, got 0"),
        ({"max_seconds": "long"}, "max_seconds: expected a positive number or None, got 'long'"),
        ({"max_seconds": np.nan}, "max_seconds: expected a positive number"),
        ({"max_seconds": -1.0}, "max_seconds: expected a positive number"),
        ({"verbose": "yes"}, "verbose: expected a whole number"),
        ({"n_targets": 0}, "n_targets: expected a whole number from 1 on, or None, got 0"),
        ({"n_targets": 2}, "The number of targets seen in `y` is different"),
        ({"random_state": "seed"}, "random_state: expected a whole number"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_parameters(data, options, message):
    X, y, _ = data
    with pytest.raises((TypeError, ValueError), match=message):
        GP(**options).fit(X, y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (np.where(X[0, 0] == X, np.nan, X), y), "Input X contains NaN"),
        (lambda X, y: (np.where(X[0, 0] == X, np.inf, X), y), "Input X contains infinity"),
        (lambda X, y: (X, np.where(y == y[0], np.nan, y)), "Input y contains NaN"),
        (lambda X, y: (X[:, :0], y), r"0 feature\(s\)"),
        (lambda X, y: (X[:0], y[:0]), r"0 sample\(s\)"),
        (lambda X, y: (X[:, 0], y), "Expected 2D array, got 1D array"),
        (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
        (lambda X, y: (X, y[:, None, None]), "Found array with dim 3"),
        (lambda X, y: (X, y * 1e300), "y: its squares overflow; divide it by a number, such as 2e[+]300"),
        (lambda X, y: (X, y * 1e-300), "y: its squares underflow; multiply it by a number"),
        (lambda X, y: (X * 1e-320, y), "out of the range of their type"),
        (lambda X, y: (X + 1j, y), "Complex data not supported"),
        (lambda X, y: (np.full(X.shape, "a"), y), "could not convert string to float"),
        (lambda X, y: (X, np.full(y.shape, "a")), "could not convert string to float"),
        (lambda X, y: (X, None), "requires y to be passed"),
    ],
)
def test_bad_data(data, change, message):
    X, y, _ = data
    with pytest.raises(ValueError, match=message):
        GP().fit(*change(X, y))


def test_data_of_any_size_that_has_squares(data):
    X, y, Z = data
    mean, std = GP().fit(X, y).predict(Z, return_std=True)
    for unit in (1e-135, 1e140):
        found = GP().fit(X, unit * y).predict(Z, return_std=True)
        assert found[0] / unit == pytest.approx(mean, abs=1e-7)
        assert found[1] / unit == pytest.approx(std, abs=1e-7)
    for unit in (1e-290, 1e290):
        assert GP().fit(unit * X, y).predict(unit * Z) == pytest.approx(mean, abs=1e-7)


def test_bad_points_of_predictions(data):
    X, y, Z = data
    gp = GP(noise=0.1).fit(X, y)
    for call in (gp.predict, gp.predict_gradient, gp.sample_y):
        with pytest.raises(ValueError, match="X has 1 features, but GaussianProcessRegressor is expecting 2"):
            call(Z[:, :1])
        with pytest.raises(ValueError, match="Expected 2D array"):
            call(Z[0])
        with pytest.raises(ValueError, match="contains NaN"):
            call(Z * np.nan)
        with pytest.raises(TypeError, match="Sparse data"):
            call(sparse.csr_array(Z))
    with pytest.raises(TypeError, match="Sparse data"):
        GP().fit(sparse.csr_array(X), y)
    with pytest.raises(RuntimeError, match="At most one of return_std or return_cov"):
        gp.predict(Z, return_std=True, return_cov=True)
    with pytest.raises(ValueError, match="n_samples: expected a whole number from 0 on, got -1"):
        gp.sample_y(Z, -1)
    for i in (40, -41, 1.0, "a", None, True):
        with pytest.raises(IndexError, match="i: expected a number from -40 to 39"):
            gp.downdate(i)
    two = GP(noise=0.1).fit(X, np.column_stack([y, y**2, y**3]))
    with pytest.raises(ValueError, match=r"y: expected shape \(2, 3\), got \(3, 2\)"):
        two.update(Z[:2], np.ones((3, 2)))
