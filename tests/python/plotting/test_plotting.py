"""Displays: what they draw is what estimators say, computed another way; and it can be read."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from pairs import pairwise
from scipy import stats
from sklearn import svm
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge

import kernsel as ks
from kernsel.estimators.fitted import FittedModel, LeftOut
from kernsel.kernels import RBF, Linear, Matern, Normalize, Precomputed, WhiteKernel
from kernsel.plotting import (
    KernelDisplay,
    LCurveDisplay,
    LOODisplay,
    PathDisplay,
    PosteriorDisplay,
    SearchDisplay,
    styles,
    writing,
)
from kernsel.structured import Spectrum

import children

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.text import Text

ALL = [KernelDisplay, LCurveDisplay, LOODisplay, PathDisplay, PosteriorDisplay, SearchDisplay]
LENGTH, NOISE = 1.5, 0.05
ROUGH = Matern(LENGTH, nu=0.5)  # well conditioned: other ways of computing give the same digits


@pytest.fixture(autouse=True)
def _no_figures_stay_open():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X = np.sort(rng.uniform(0, 6, 30)).reshape(-1, 1)
    y = np.sin(2 * X[:, 0]) + 0.2 * rng.standard_normal(30)
    y[11] += 3.0
    return X, y


@pytest.fixture(scope="module")
def process(data):
    return ks.GaussianProcessRegressor(ROUGH, noise=NOISE, optimizer=None).fit(*data)


@pytest.fixture(scope="module")
def table():
    """Three columns with names, and a process that has chosen."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(4)
    X = pandas.DataFrame(rng.uniform(0, 1, (40, 3)), columns=["depth", "age", "slope"])
    y = pandas.Series(np.sin(5 * X["age"]) + 0.2 * X["depth"] + 0.1 * rng.standard_normal(40), name="yield")
    return X, y, ks.GaussianProcessRegressor(noise="auto").fit(X, y)


def gram(X, Z=None):
    return np.exp(-np.abs(X[:, 0][:, None] - (X if Z is None else Z)[:, 0]) / LENGTH)


def ridge_at(X, y, alpha):
    """Return the coefficients of kernel ridge regression, by solving for them."""
    return np.linalg.solve(gram(X) + alpha * np.eye(len(y)), y)


def refitted(X, y, alpha):
    """Return leave-one-out means and variances of a process, by fitting n times."""
    means, variances = np.empty(len(y)), np.empty(len(y))
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        K, k = gram(X[rest]) + alpha * np.eye(len(rest)), gram(X[rest], X[[i]])[:, 0]
        means[i] = k @ np.linalg.solve(K, y[rest])
        variances[i] = 1 + alpha - k @ np.linalg.solve(K, k)
    return means, variances


# The path


def test_the_marks_of_the_l_curve(data):
    X, y = data
    model = ks.KernelRidgeCV(ROUGH, sigma=0.4).fit(X, y)
    display = LCurveDisplay.from_estimator(model, target_name="force", units={"force": "N"})
    assert set(display.choices_) == {"loo", "gcv", "profiled_lml", "discrepancy"}
    assert "the L-curve has no corner" in display.problems_["lcurve"]
    x, z = display.line_.get_data()
    for rule, alpha in display.choices_.items():
        c = ridge_at(X, y, alpha)
        residual, norm = alpha * np.linalg.norm(c), np.sqrt(c @ gram(X) @ c)
        np.testing.assert_allclose(np.ravel(display.marks_[rule].get_data()), [residual, norm], rtol=1e-6)
        assert np.interp(np.log(residual), np.log(x), np.log(z)) == pytest.approx(np.log(norm), abs=0.01)
    assert np.ptp(display.marks_["model"].get_xdata()) == 0
    assert display.decades_.get_xdata()[0] < display.decades_.get_xdata()[-1]
    assert "(N)" in display.ax_.get_xlabel()
    assert "force" in display.ax_.get_xlabel()
    assert display.marks_["discrepancy"].get_xdata()[0] == pytest.approx(30**0.5 * 0.4, rel=1e-6)


def test_the_curves_of_the_path(data, process):
    X, y = data
    display = PathDisplay.from_estimator(process, *data, target_name="force", units={"force": "N"})
    K, n = gram(X), len(y)
    best = display.choices_
    assert list(best) == ["loo", "gcv", "lml", "discrepancy"]

    def likelihood(alpha):
        return stats.multivariate_normal.logpdf(y, cov=K + alpha * np.eye(n)) / n

    for at in (100, 120, 150):
        alpha = display.lines_["loo"].get_xdata()[at]
        c = ridge_at(X, y, alpha)
        trace = np.trace(np.linalg.inv(K + alpha * np.eye(n)))
        means, _ = refitted(X, y, alpha)
        assert display.lines_["loo"].get_ydata()[at] == pytest.approx(np.sqrt(np.mean((y - means) ** 2)), rel=1e-6)
        assert display.lines_["gcv"].get_ydata()[at] == pytest.approx(np.sqrt(n) * np.linalg.norm(c) / trace, rel=1e-6)
        assert display.lines_["residual"].get_ydata()[at] == pytest.approx(alpha * np.sqrt(np.mean(c**2)), rel=1e-6)
        below = likelihood(alpha) - likelihood(best["lml"])
        assert display.lines_["lml"].get_ydata()[at] == pytest.approx(below, abs=1e-8)
    assert display.marks_["model"][0].get_xdata()[0] == pytest.approx(NOISE)
    assert display.marks_["discrepancy"].get_ydata()[0] == pytest.approx(NOISE**0.5)
    for tick, label in zip(display.dof_axis_.get_xticks(), display.dof_axis_.get_xticklabels(), strict=True):
        freedom = np.trace(np.linalg.solve(K + tick * np.eye(n), K))
        assert freedom == pytest.approx(float(label.get_text()), rel=0.02)
    said = [text.get_text() for text in display.legend_.get_texts()]
    assert f"leave-one-out: {writing.short_number(best['loo'])}" in said
    assert "of the model: 0.05" in said
    assert display.ax_.get_ylabel() == "error of force (N)"


def test_where_a_rule_finds_nothing(data):
    X, y = data
    display = PathDisplay(path=ks.RegularizationPath(ROUGH, y, X=X, noise_std=100.0)).plot()
    assert "the noise explains all of y" in display.problems_["discrepancy"]
    assert "discrepancy: none" in [text.get_text() for text in display.legend_.get_texts()]
    assert "discrepancy" not in display.marks_
    with pytest.raises(ValueError, match="noise_std"):
        PathDisplay(path=ks.RegularizationPath(ROUGH, y, X=X), rules=["discrepancy"])
    with pytest.raises(ValueError, match=r"rules: expected some of loo, .*, got 'best'"):
        LCurveDisplay(path=ks.RegularizationPath(ROUGH, y, X=X), rules=["best"])


def test_paths_of_other_models(data):
    X, y = data
    known = ks.RegularizationPath(ROUGH, y, X=X, trend="constant").best("loo")
    plain = ks.KernelRidge(ROUGH, alpha=0.1, fit_intercept=True).fit(X, y)
    assert PathDisplay.from_estimator(plain, y=y).choices_["loo"] == pytest.approx(known)
    uneven = np.linspace(0.5, 2.0, 30) * NOISE
    process = ks.GaussianProcessRegressor(ROUGH, alpha=uneven, optimizer=None).fit(X, y)
    weighted = ks.RegularizationPath(ROUGH, y, X=X, sample_weight=uneven.mean() / uneven)
    display = PathDisplay.from_estimator(process)
    assert display.choices_["gcv"] == pytest.approx(weighted.best("gcv"))
    assert display.alpha == pytest.approx(uneven.mean())
    white = ks.GaussianProcessRegressor(4.0 * ROUGH + WhiteKernel(NOISE), optimizer=None, normalize_y=True).fit(X, y)
    display = PathDisplay.from_estimator(white)  # in the units of y
    assert display.alpha == pytest.approx(NOISE * y.var())
    assert display.lines_["residual"].get_ydata().max() == pytest.approx(y.std(), rel=0.02)
    features = ks.RidgeRegression(alpha=1.0).fit(X, y)
    expected = ks.RegularizationPath.from_features(X, y, trend=np.ones((30, 1))).best("gcv")
    assert PathDisplay.from_estimator(features, X, y, rules="gcv").choices_ == {"gcv": pytest.approx(expected)}
    targets = ks.KernelRidgeCV(ROUGH, alpha_per_target=True).fit(X, np.column_stack([y, y**2]))
    assert LCurveDisplay.from_estimator(targets, output=1).alpha == targets.alpha_[1]


# Leave-one-out


def offsets(display):
    points = np.vstack([np.asarray(s.get_offsets()) for s in (display.scatter_, display.outlier_scatter_)])
    return points[np.lexsort(points.T[::-1])]


def sorted_rows(*columns):
    points = np.column_stack(columns)
    return points[np.lexsort(points.T[::-1])]


def test_predictions_with_intervals(data, process):
    X, y = data
    means, variances = refitted(X, y, NOISE)
    display = LOODisplay.from_estimator(process, level=0.9)
    np.testing.assert_allclose(offsets(display), sorted_rows(y, means), atol=1e-8)
    half = stats.norm.isf(0.05) * np.sqrt(variances)
    missed = np.abs(y - means) > half
    for collection, rows in zip(display.intervals_, (~missed, missed), strict=True):
        found = np.array([segment[:, 1] for segment in collection.get_segments()])
        np.testing.assert_allclose(found, np.column_stack([means - half, means + half])[rows], atol=1e-8)
    said = [text.get_text() for text in display.legend_.get_texts()]
    assert said[0] == f"90 % interval holds the truth: {100 * np.mean(~missed):.3g} %"
    assert display.outliers_[0] == 11
    assert display.texts_[0].get_text() == "11"


def test_residuals_leverages_and_quantiles(data, process):
    X, y = data
    means, variances = refitted(X, y, NOISE)
    z = (y - means) / np.sqrt(variances)
    named = [f"site {i}" for i in range(30)]
    display = LOODisplay.from_estimator(process, kind="residuals", labels=named, units={"y": "m"})
    np.testing.assert_allclose(offsets(display), sorted_rows(means, y - means), atol=1e-8)
    assert display.texts_[0].get_text() == "site 11"
    assert display.ax_.get_ylabel() == "truth minus prediction (m)"
    display = LOODisplay.from_estimator(process, kind="leverage", most_names=0)
    hat = np.diag(np.linalg.solve(gram(X) + NOISE * np.eye(30), gram(X)))
    np.testing.assert_allclose(offsets(display), sorted_rows(hat, z), atol=1e-8)
    assert display.texts_ == []
    display = LOODisplay.from_estimator(process, kind="qq")
    np.testing.assert_allclose(offsets(display), sorted_rows(stats.norm.ppf((np.arange(30) + 0.5) / 30), np.sort(z)), atol=1e-8)


def test_calibration(data, process):
    X, y = data
    means, variances = refitted(X, y, NOISE)
    display = LOODisplay.from_estimator(process, kind="calibration")
    levels, shares = display.line_.get_data()
    expected = [np.mean(np.abs(y - means) <= stats.norm.isf((1 - level) / 2) * np.sqrt(variances)) for level in levels]
    np.testing.assert_allclose(shares, expected)


def scatter_of(model, X=None, y=None, **options):
    return offsets(LOODisplay.from_estimator(model, X, y, kind="residuals", **options))


def test_left_out_by_other_models(data):
    X, y = data

    def by_refitting(make, targets=y, transform=lambda X: X):
        rest = [np.delete(np.arange(30), i) for i in range(30)]
        means = [make().fit(transform(X)[r], targets[r]).predict(transform(X)[[i]])[0] for i, r in enumerate(rest)]
        return sorted_rows(means, targets - means)

    smooth = np.cos(X[:, 0])
    machine = {"alpha": 0.1, "fit_intercept": True}
    for model, found, make, targets in (
        (ks.KernelRidge(ROUGH, **machine), (None, y), lambda: ks.KernelRidge(ROUGH, **machine), y),
        (ks.KernelRidgeCV(ROUGH, alphas=[0.1]), (X, y), lambda: ks.KernelRidge(ROUGH, alpha=0.1), y),
        (ks.RidgeRegression(alpha=2.0), (None, y), lambda: Ridge(alpha=2.0), y),
        (ks.KernelInterpolator(Matern(LENGTH, nu=1.5)), (), lambda: ks.KernelInterpolator(Matern(LENGTH, nu=1.5)), smooth),
    ):
        np.testing.assert_allclose(scatter_of(model.fit(X, targets), *found), by_refitting(make, targets), atol=1e-6)
    several = ks.KernelRidge(ROUGH, alpha=[0.1, 1.0]).fit(X, np.column_stack([y, smooth]))
    expected = by_refitting(lambda: ks.KernelRidge(ROUGH, alpha=1.0), smooth)
    np.testing.assert_allclose(scatter_of(several, None, np.column_stack([y, smooth]), output=1), expected, atol=1e-8)
    given = ks.KernelRidge("precomputed", alpha=0.1).fit(gram(X), y)
    expected = by_refitting(lambda: ks.KernelRidge(ROUGH, alpha=0.1))
    np.testing.assert_allclose(scatter_of(given, None, y), expected, atol=1e-8)
    # The span estimate is exact for points with no coefficient.
    vectors = ks.SVR(ROUGH, C=10.0, epsilon=0.3, tol=1e-10).fit(X, y)
    display = LOODisplay.from_estimator(vectors, X, y)
    inside = np.setdiff1d(np.arange(30), vectors.support_)
    theirs = svm.SVR(kernel="precomputed", C=10.0, epsilon=0.3, tol=1e-9).fit(gram(X), y).predict(gram(X))
    assert len(inside) > 5
    np.testing.assert_allclose(display.predictions[inside], theirs[inside], atol=1e-4)
    assert display.std is None


@pytest.mark.parametrize("intercept", [True, False])
def test_intervals_have_the_scale_of_the_best_likelihood(data, intercept):
    X, y = data
    model = ks.KernelRidge(ROUGH, alpha=0.1, fit_intercept=intercept).fit(X, y)
    display = LOODisplay.from_estimator(model, y=y)
    trend = "constant" if intercept else None
    unscaled = ks.loo(ROUGH, X, y, noise=0.1, trend=trend).variances
    scale = np.mean(display.std**2 / unscaled)
    np.testing.assert_allclose(display.std**2, scale * unscaled, rtol=1e-10)
    value, less, more = (
        ks.evaluate("reml", float(s) * ROUGH, X, y, noise=0.1 * s, trend=trend).value for s in scale * np.array([1, 0.9, 1.1])
    )
    assert value > max(less, more)
    linear = LOODisplay.from_estimator(ks.RidgeRegression(alpha=0.0).fit(X, y), y=y)
    residual = y - np.polyval(np.polyfit(X[:, 0], y, 1), X[:, 0])
    hat = ks.leverage(np.column_stack([np.ones(30), X]))
    # As in any book, but for the degrees of freedom of the slope, which is a random variable here.
    np.testing.assert_allclose(linear.std**2, residual @ residual / 29 / (1 - hat), rtol=1e-8)


def test_numbers_alone():
    rng = np.random.default_rng(0)
    y = rng.standard_normal(200)
    display = LOODisplay.from_predictions(y, np.zeros(200), np.ones(200), kind="calibration")
    assert np.abs(np.subtract(*display.line_.get_data())).max() < 0.1
    display = LOODisplay.from_predictions([0.0, 1.0, 2.0], [0.1, 0.9, 5.0], labels=["a", "b", "c"])
    assert display.legend_ is None
    assert display.labels == ["a", "b", "c"]
    for wrong, message in (
        ({"predictions": [0.0, 1.0]}, "predictions: expected 3 finite numbers"),
        ({"std": [1.0, 0.0, 1.0]}, "std: expected positive numbers, got 0"),
        ({"labels": ["a"]}, "labels: expected one for each of 3 points, got 1"),
        ({"y": [0.0, np.nan, 1.0]}, "y: expected finite numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            LOODisplay(**{"y": [0.0, 1.0, 2.0], "predictions": np.zeros(3)} | wrong)
    plain = LOODisplay(y=[0.0, 1.0, 2.0], predictions=[0.1, 0.9, 2.5])
    for kind, message in (("calibration", "std: kind="), ("leverage", "leverage: kind="), ("all", "kind: expected one of")):
        with pytest.raises(ValueError, match=message):
            plain.plot(kind=kind)
    with pytest.raises(ValueError, match="level: expected a number between 0 and 1, got 95"):
        plain.plot(level=95)


# The fit


def test_the_band_of_a_process(data, process):
    X, y = data
    display = PosteriorDisplay.from_estimator(process, n_samples=3, level=0.9, target_name="h", units={"x": "s", "h": "m"})
    x, mean = display.lines_[0].get_data()
    cross = gram(x[:, None], X)
    K = gram(X) + NOISE * np.eye(30)
    np.testing.assert_allclose(mean, cross @ np.linalg.solve(K, y), atol=1e-8)
    std = np.sqrt(1 - np.sum(cross * np.linalg.solve(K, cross.T).T, axis=1))
    half = stats.norm.isf(0.05) * std
    outline = display.band_.get_paths()[0].vertices
    for i in (0, 77, 200):
        at = outline[np.isclose(outline[:, 0], x[i])][:, 1]
        np.testing.assert_allclose([at.min(), at.max()], [mean[i] - half[i], mean[i] + half[i]], atol=1e-7)
    assert len(display.lines_) == 4
    assert np.mean(np.abs(display.samples - mean[:, None]) <= half[:, None]) > 0.6
    np.testing.assert_allclose(display.scatter_.get_offsets(), np.column_stack([X, y]), atol=1e-12)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("x (s)", "h (m)")
    noisy = PosteriorDisplay.from_estimator(process, level=0.9, noisy=True)
    np.testing.assert_allclose(noisy.upper - noisy.mean, stats.norm.isf(0.05) * np.sqrt(std**2 + NOISE), atol=1e-7)


def test_slices_through_many_columns(table):
    X, y, model = table
    display = PosteriorDisplay.from_estimator(model, y=y, units={"yield": "t"})
    assert display.ax_.get_xlabel() == "age"  # it changes the mean most
    assert display.ax_.get_ylabel() == "yield (t)"
    Z = X.iloc[:2].copy()
    Z[:] = X.median().to_numpy()
    Z["age"] = display.grid[0][[10, 150]]
    np.testing.assert_allclose(display.lines_[0].get_ydata()[[10, 150]], model.predict(Z))
    assert display.ax_.get_title(loc="left") == f"at depth = {X['depth'].median():.3g}, slope = {X['slope'].median():.3g}"
    plane = PosteriorDisplay.from_estimator(model, columns=["age", "depth"], at={"slope": 0.25})
    assert [contours.axes.get_ylabel() for contours in plane.contours_] == ["depth", "depth"]
    Z = X.iloc[:1].copy()
    Z[:] = [[plane.grid[1][7], plane.grid[0][40], 0.25]]
    mean, std = model.predict(Z, return_std=True)
    assert plane.mean[7, 40] == pytest.approx(mean[0])
    assert plane.spread[7, 40] == pytest.approx(std[0])
    for wrong, message in (
        ({"columns": ["age", "age"]}, "columns: expected one or two different columns"),
        ({"columns": "ages"}, "columns: expected columns from 0 to 2, or of depth, age, slope, got 'ages'"),
        ({"at": {3: 0.0}}, "at: expected columns"),
        ({"columns": [0, 1], "n_samples": 2}, "n_samples: samples are drawn along one column"),
        ({"level": 0}, "level: expected a number between 0 and 1"),
    ):
        with pytest.raises(ValueError, match=message):
            PosteriorDisplay.from_estimator(model, **wrong)


def test_fits_of_other_models(data):
    X, y = data
    vectors = ks.SVR(ROUGH, C=10.0, epsilon=0.3).fit(X, y)
    display = PosteriorDisplay.from_estimator(vectors, X, y)
    np.testing.assert_allclose(display.upper - display.mean, 0.3)
    np.testing.assert_allclose(display.lines_[0].get_ydata()[:5], vectors.predict(display.grid[0][:5, None]))
    assert "support vectors" in [text.get_text() for text in display.legend_.get_texts()]
    through = ks.KernelInterpolator(Matern(1.0, nu=1.5)).fit(X, np.cos(X[:, 0]))
    display = PosteriorDisplay.from_estimator(through)
    np.testing.assert_allclose(display.spread, through.error_bound(display.grid[0][:, None]))
    np.testing.assert_allclose(display.y, np.cos(X[:, 0]), atol=1e-8)
    plain = PosteriorDisplay.from_estimator(ks.KernelRidge(ROUGH, alpha=0.1).fit(X, y))
    assert plain.band_ is None
    labels = ks.GaussianProcessClassifier(ROUGH, optimizer=None).fit(X, np.where(y > 0, "up", "down"))
    display = PosteriorDisplay.from_estimator(labels)
    np.testing.assert_allclose(display.mean, labels.predict_proba(display.grid[0][:, None])[:, 1])
    latent, std = labels.latent(display.grid[0][:, None], return_std=True)
    np.testing.assert_allclose(display.lower, 1 / (1 + np.exp(-latent + stats.norm.isf(0.025) * std)), rtol=1e-10)
    assert display.ax_.get_ylabel() == "probability of up"
    with pytest.raises(ValueError, match="n_samples: samples are of a GaussianProcessRegressor"):
        PosteriorDisplay.from_estimator(labels, n_samples=2)
    with pytest.raises(ValueError, match="X: an SVR keeps its support vectors only"):
        PosteriorDisplay.from_estimator(vectors)
    with pytest.raises(ValueError, match="X: expected 1 columns"):
        PosteriorDisplay.from_estimator(vectors, np.ones((3, 2)))


def test_predictions_of_any_model():
    x = np.linspace(0, 1, 5)
    display = PosteriorDisplay.from_predictions(x, x**2, 0.1 + x, X=x[:2], y=x[:2], names=["t"])
    np.testing.assert_allclose(display.lower, x**2 - stats.norm.isf(0.025) * (0.1 + x))
    assert display.ax_.get_xlabel() == "t"
    plane = PosteriorDisplay.from_predictions((x, x[:3]), np.outer(x[:3], x), samples=None)
    assert len(plane.contours_) == 1
    with pytest.raises(ValueError, match=r"mean: expected finite numbers of shape \(3, 5\), as the grid has"):
        PosteriorDisplay.from_predictions((x, x[:3]), np.outer(x, x[:3]))


# The kernel


def test_the_kernel_matrix_and_the_function(data, process):
    X, _ = data
    shuffled = X[np.random.default_rng(0).permutation(30)]
    display = KernelDisplay(kernel=ROUGH + WhiteKernel(9.0), X=shuffled).plot(units={"x": "s"})
    np.testing.assert_allclose(display.image_.get_array(), gram(X), atol=1e-12)  # in order, without noise
    r, value = display.lines_["x"].get_data()
    np.testing.assert_allclose(value, np.exp(-r / LENGTH), atol=1e-12)
    assert (r.min(), r.max()) == (0, pytest.approx(np.ptp(X)))
    assert display.axes_[1].get_xlabel() == "distance r along x (s)"
    assert KernelDisplay.from_estimator(process, kind="function").ax_.get_ylabel() == "k(r)"
    place = KernelDisplay.from_estimator(ks.KernelRidge(Linear(), alpha=1.0).fit(X, X[:, 0]), kind="function")
    r, value = place.lines_["x"].get_data()
    np.testing.assert_allclose(value, np.median(X) * (np.median(X) + r), atol=1e-8)
    assert r.min() == -r.max()


def test_columns_in_the_order_of_their_effect():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (50, 7)) * np.array([1, 1, 100, 1, 1, 1, 1])
    lengths = [3.0, 0.2, 500.0, 1.0, 30.0, 40.0, 50.0]
    display = KernelDisplay(kernel=RBF(lengths), X=X, max_points=20).plot()
    assert list(display.curves_)[:3] == ["x1", "x3", "x0"]
    assert display.matrix_.shape == (20, 20)
    np.testing.assert_array_equal(display.matrix_, RBF(lengths)(X[display.order_], X[display.order_]))
    assert [text.get_text() for text in display.legend_.get_texts()][-1] == "3 others"
    r, value = display.lines_["x1"].get_data()
    np.testing.assert_allclose(value, np.exp(-0.5 * (r * np.ptp(X[:, 1]) / 0.2) ** 2), atol=1e-12)
    two = np.repeat([[0.0], [9.0]], 10, axis=0) + 0.1 * rng.standard_normal((20, 1))
    mixed = rng.permutation(20)
    display = KernelDisplay(kernel=RBF(1.0), X=np.hstack([two, two])[mixed])
    assert len(set((mixed[display.order_[:10]] < 10).tolist())) == 1  # groups are together
    with pytest.raises(ValueError, match="names: expected one for each of 7 columns, got 1"):
        KernelDisplay(kernel=RBF(1.0), X=X, names=["a"])


def test_kernels_of_objects():
    rng = np.random.default_rng(0)
    strings = ["".join(rng.choice(list("AC"), size=8)) for _ in range(12)]
    kernel = Normalize(Spectrum(2))
    model = ks.GaussianProcessRegressor(kernel, noise=0.1, optimizer=None).fit(strings, rng.standard_normal(12))
    display = KernelDisplay.from_estimator(model)
    ordered = [strings[i] for i in display.order_]
    np.testing.assert_allclose(display.image_.get_array(), kernel(ordered), atol=1e-12)
    assert KernelDisplay.from_estimator(model, strings[:5]).matrix_.shape == (5, 5)
    assert LOODisplay.from_estimator(model).residuals_.shape == (12,)
    with pytest.raises(ValueError, match='kind: expected "matrix", since'):
        KernelDisplay.from_estimator(model, kind="both")
    with pytest.raises(TypeError, match="expected one that was fitted to columns of numbers, got one of objects"):
        PosteriorDisplay.from_estimator(model)


# Searches


@pytest.fixture(scope="module")
def found(data):
    X, y = data
    bad = Precomputed(np.eye(3))
    return ks.select(X, y, kernels=[RBF("auto"), Linear("auto"), bad, Matern("auto", nu=1.5)], criterion="loo")


def test_kernels_that_were_tried(found, data):
    display = SearchDisplay.from_estimator(found)
    values = [one.value for one in found.tried]
    assert sorted(display.names)[1:] == ["Matern(nu=1.5)", "Precomputed([[1, 0, 0], [0, 1, 0], [0, 0, 1]])", "RBF"]
    np.testing.assert_allclose(display.best_.get_offsets()[0], [values[0], 0.0])
    shown = {tuple(point) for point in np.asarray(display.scatter_.get_offsets()).round(12)}
    assert (round(values[1], 12), 1.0) in shown
    said = [text.get_text() for text in display.texts_]
    assert any(text.startswith("not fitted: precomputed") for text in said)
    assert said[1] == f"{values[0]:.6g}"
    assert "mean squared leave-one-out error, smaller is better" in display.ax_.get_xlabel().replace("\n", " ")
    assert "2 more were tried" in SearchDisplay.from_estimator(found, max_rows=2).ax_.get_xlabel().replace("\n", " ")
    assert LOODisplay.from_estimator(found).residuals_ == pytest.approx(found.best_estimator_.loo_residuals_)
    support = ks.SVR(RBF("auto"), C="auto", epsilon=0.1).fit(*data)
    display = SearchDisplay.from_estimator(support)
    assert display.values.tolist() == [one.value for one in support.selection_.table]
    assert display.best_.get_offsets()[0, 0] == pytest.approx(support.criterion_value_)


def test_where_starts_led(table):
    model = table[2]
    display = SearchDisplay.from_estimator(model)
    starts = model.selection_.of_starts
    np.testing.assert_allclose(display.values, starts)
    assert display.names[display.order_[0]] == f"start {np.nanargmax(starts) + 1}"
    assert np.allclose(display.best_.get_offsets(), [[starts.max(), 0.0]])
    assert display.values[display.order_].tolist() == sorted(starts, reverse=True)
    far = SearchDisplay(names="abcd", values=[0.0, -1.0, -2.0, -1e6]).plot()
    assert far.ax_.get_xlim()[0] > -20  # the others can be told apart
    assert far.texts_[-1].get_text() == "\N{MINUS SIGN}1e+06"
    with pytest.raises(ValueError, match="values: expected one for each of 1 names"):
        SearchDisplay(names=["a"], values=[1.0, 2.0])


# All of them


def test_what_is_no_estimator_of_ours(data):
    for display in ALL:
        with pytest.raises(TypeError, match=r"estimator: expected .*, got Ridge"):
            display.from_estimator(Ridge().fit(*data))
    for display in ALL[:-1]:
        with pytest.raises(NotFittedError):
            display.from_estimator(ks.GaussianProcessRegressor())
    classifier = ks.GaussianProcessClassifier(RBF(1.0), optimizer=None).fit(data[0], data[1] > 0)
    for display in (LOODisplay, PathDisplay):
        with pytest.raises(TypeError, match="got GaussianProcessClassifier"):
            display.from_estimator(classifier)
    given = ks.KernelRidge("precomputed").fit(gram(data[0]), data[1])
    with pytest.raises(TypeError, match="was given a kernel matrix, and knows no kernel"):
        KernelDisplay.from_estimator(given)


def test_training_data_that_are_missing_or_others(data, process):
    X, y = data
    machine = ks.KernelRidge(ROUGH, alpha=0.1).fit(X, y)
    weighted = ks.KernelRidge(ROUGH, alpha=0.1).fit(X, y, np.linspace(1, 2, 30))
    linear = ks.RidgeRegression(alpha=1.0).fit(X, y, np.linspace(1, 2, 30))
    for display in (LOODisplay, PathDisplay):
        with pytest.raises(ValueError, match="y: a KernelRidge keeps no targets"):
            display.from_estimator(machine)
        with pytest.raises(ValueError, match="y: not what this KernelRidge was fitted to, or it was fitted with weights"):
            display.from_estimator(machine, y=y + 0.1)
        with pytest.raises(ValueError, match="with weights, which it does not keep"):
            display.from_estimator(weighted, y=y)
        with pytest.raises(ValueError, match="X: expected the points that this"):
            display.from_estimator(process, X + 1, y)
        with pytest.raises(ValueError, match="y: expected the targets that this"):
            display.from_estimator(process, y=y + 1)
    with pytest.raises(ValueError, match="RidgeRegression was fitted to, or it was fitted with weights"):
        LOODisplay.from_estimator(linear, y=y)
    with pytest.raises(ValueError, match="X, y: an SVR keeps its support vectors only"):
        LOODisplay.from_estimator(ks.SVR().fit(X, y), y=y)
    with pytest.raises(ValueError, match="in the same order"):
        LOODisplay.from_estimator(ks.SVR().fit(X, y), X[::-1], y[::-1])
    with pytest.raises(ValueError, match="output: expected the number of one of 2 targets, got 2"):
        LOODisplay.from_estimator(ks.GaussianProcessRegressor(RBF(1.0), noise=0.1).fit(X, np.c_[y, y]), output=2)


def test_axes_of_the_user(process):
    figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
    assert LOODisplay.from_estimator(process, ax=axes[0]).ax_ is axes[0]
    display = PathDisplay.from_estimator(process, ax=axes[1])  # divided
    assert display.figure_ is figure
    assert len(display.axes_) == 2
    assert not axes[1].axison
    assert LCurveDisplay.from_estimator(process, ax=axes[2]).figure_ is figure
    assert plt.get_fignums() == [figure.number]
    _, two = plt.subplots(1, 2)
    assert KernelDisplay.from_estimator(process, ax=two).axes_.tolist() == two.tolist()
    free = plt.figure().add_axes([0.1, 0.1, 0.8, 0.8])
    assert LCurveDisplay.from_estimator(process, ax=free).legend_.axes is free
    for wrong, error in ((free, ValueError), ("left", TypeError), (np.append(two, axes[0]), ValueError)):
        with pytest.raises(error, match=r"^ax: "):
            PathDisplay.from_estimator(process, ax=wrong)
    again = LOODisplay.from_estimator(process)
    before = again.figure_
    assert again.plot(kind="qq").figure_ is not before  # drawn anew


def test_keywords_for_matplotlib(process):
    assert LOODisplay.from_estimator(process, scatter_kwargs={"color": "red"}).scatter_.get_facecolor()[0, 0] == 1.0
    assert LCurveDisplay.from_estimator(process, line_kwargs={"linewidth": 7}).line_.get_linewidth() == 7
    assert KernelDisplay.from_estimator(process, image_kwargs={"cmap": "magma"}).image_.get_cmap().name == "magma"


COLORS = [styles.BLUE, styles.VERMILION, styles.GREEN, styles.PINK, styles.OCHRE, styles.VIOLET]
# How linear RGB is seen without one kind of cones (Machado, Oliveira and Fernandes 2009).
SEEN = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def linear_rgb(color):
    return np.array([c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in mpl.colors.to_rgb(color)])


def lab(rgb):
    """Return CIE L*a*b*, in which distances are about as large as differences look: 2 can just be seen."""
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ np.clip(rgb, 0, 1)
    x, y, z = (np.cbrt(v) if v > 0.008856 else 7.787 * v + 16 / 116 for v in xyz / [0.9505, 1.0, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("color", COLORS)
def test_colours_are_seen_on_light_and_dark(color):
    level = np.dot([0.2126, 0.7152, 0.0722], linear_rgb(color))
    assert min(1.05 / (level + 0.05), (level + 0.05) / 0.05) >= 3


@pytest.mark.parametrize("kind", SEEN)
def test_colours_differ_to_the_colour_blind(kind):
    seen = [lab(np.array(SEEN[kind]) @ linear_rgb(color)) for color in COLORS]
    assert min(np.linalg.norm(a - b) for i, a in enumerate(seen) for b in seen[:i]) > 10


DRAWN = {
    "path": lambda m: PathDisplay.from_estimator(m["process"], units={"y": "kg/m²"}),
    "lcurve": lambda m: LCurveDisplay.from_estimator(m["process"], target_name="a target of a long name"),
    "predictions": lambda m: LOODisplay.from_estimator(m["process"], target_name="a target of a long name", units={"y": "m"}),
    "residuals": lambda m: LOODisplay.from_estimator(m["process"], kind="residuals", labels=[f"site {i}" for i in range(30)]),
    "crowd": lambda m: LOODisplay.from_predictions(
        np.r_[np.zeros(60), np.full(6, 9.0)],
        np.r_[np.linspace(-1, 1, 60), np.full(6, 0.01)],
        kind="residuals",
        labels=[f"a long name {i}" for i in range(66)],
        most_names=9,
    ),
    "leverage": lambda m: LOODisplay.from_estimator(m["process"], kind="leverage"),
    "qq": lambda m: LOODisplay.from_estimator(m["process"], kind="qq"),
    "calibration": lambda m: LOODisplay.from_estimator(m["process"], kind="calibration"),
    "line": lambda m: PosteriorDisplay.from_estimator(m["table"], n_samples=2),
    "plane": lambda m: PosteriorDisplay.from_estimator(m["table"], columns=[0, 1]),
    "kernel": lambda m: KernelDisplay.from_estimator(m["table"]),
    "search": lambda m: SearchDisplay.from_estimator(m["found"]),
}


@pytest.mark.parametrize(("name", "style", "width"), pairwise(DRAWN, ["default", "dark_background"], [3.6, 8.0]))
def test_no_text_covers_another(name, style, width, process, table, found, monkeypatch):
    written = []
    draw = Text.draw

    def noted(text, renderer, *args, **kwargs):
        if text.get_visible() and text.get_text().strip():
            written.append((text.get_text(), text.get_window_extent(renderer)))
        return draw(text, renderer, *args, **kwargs)

    with plt.style.context(style), plt.rc_context({"figure.figsize": (width, 3.4 if width < 5 else 5.0)}):
        display = DRAWN[name]({"process": process, "table": table[2], "found": found})
        foreground = mpl.rcParams["text.color"]
        monkeypatch.setattr(Text, "draw", noted)
        display.figure_.canvas.draw()
    assert len(written) > 4
    whole = display.figure_.bbox
    for i, (text, box) in enumerate(written):
        assert whole.x0 - 1 < box.x0, text
        assert box.x1 < whole.x1 + 1, text
        assert whole.y0 - 1 < box.y0, text
        assert box.y1 < whole.y1 + 1, text
        for other, beside in written[:i]:
            assert not box.padded(-0.5).overlaps(beside), f"{text!r} covers {other!r}"
    legend = getattr(display, "legend_", None)
    if legend is not None:
        assert not any(legend.get_window_extent().overlaps(ax.bbox) for ax in display.figure_.axes)
        assert mpl.colors.same_color(legend.get_texts()[0].get_color(), foreground)
    assert styles.foreground() == mpl.rcParams["text.color"]


def test_matplotlib_is_imported_late_and_missed_clearly():
    code = """
import sys, kernsel as ks
assert not [name for name in sys.modules if name.startswith("matplotlib")], "imported"
sys.modules["matplotlib"] = None
model = ks.GaussianProcessRegressor(ks.kernels.RBF(1.0), noise=0.1).fit([[0.0], [1.0], [3.0]], [0.0, 1.0, 0.0])
for name in ks.plotting.__all__:
    try:
        getattr(ks.plotting, name).from_estimator(model)
    except ImportError as error:
        assert str(error) == f"{name}.from_estimator needs matplotlib: pip install 'kernsel[plot]'", error
    else:
        raise AssertionError(name)
"""
    subprocess.run([sys.executable, "-c", code], check=True, env=children.environment())


class Mean(FittedModel, BaseEstimator):
    """A new estimator, which no display names: it predicts the mean of its targets."""

    def fit(self, X, y):
        self.X_, self.coef_, self.n_features_in_ = np.asarray(X), float(np.mean(y)), np.shape(X)[1]
        self.y_ = np.asarray(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.coef_)

    def kept_data(self):
        return self.X_, self.y_

    def left_out(self, *given):
        assert given == (None, None, 0)
        n = len(self.y_)
        return LeftOut(self.y_, (self.y_.sum() - self.y_) / (n - 1))


def test_an_estimator_that_answers_is_shown(rng):
    X, y = rng.uniform(size=(12, 1)), rng.standard_normal(12)
    model = Mean().fit(X, y)
    shown = PosteriorDisplay.from_estimator(model)
    np.testing.assert_array_equal(shown.mean, np.full(len(shown.mean), y.mean()))
    np.testing.assert_array_equal(shown.y, y)
    display = LOODisplay.from_estimator(model)
    np.testing.assert_allclose(display.residuals_, (y - y.mean()) * 12 / 11, rtol=1e-12)
    for other in (KernelDisplay, PathDisplay):
        with pytest.raises(TypeError, match="expected a fitted"):
            other.from_estimator(model)


def test_an_interpolator_shows_the_targets_it_was_given(rng, tmp_path):
    X, y = np.linspace(0, 4, 9)[:, None], rng.standard_normal(9)
    model = ks.KernelInterpolator(Matern(1.0, nu=1.5)).fit(X, y)
    ks.save(model, tmp_path / "model.ksl")
    for one in (model, ks.load(tmp_path / "model.ksl")):
        np.testing.assert_array_equal(PosteriorDisplay.from_estimator(one).y, y)
