"""Length scales that are expected to be alike: both ends, exact derivatives, and what the data choose."""

import numpy as np
import pytest

import kernsel as ks
from kernsel._data.trend import trend_matrix
from kernsel._search import Budget, choice
from kernsel._search.layout import Layout
from kernsel.criteria import Evidence, Likelihood
from kernsel.kernels import RBF, ConstantKernel, Linear, Matern
from kernsel.kernels.automatic import Data

import reference

C = ConstantKernel
GP = ks.GaussianProcessRegressor


@pytest.fixture
def data(rng):
    X = rng.uniform(size=(50, 3)) * [1.0, 40.0, 1e-3]
    return X, np.sin(4 * X[:, 0]) + X[:, 1] / 40 + 0.1 * rng.standard_normal(50)


def fitted(X, y, shrinkage, kernel=None, **options):
    kernel = C("auto") * RBF("auto") if kernel is None else kernel
    return GP(kernel, shrinkage=shrinkage, **({"noise": "auto", "trend": "constant"} | options)).fit(X, y)


def lengths(gp, X):
    """Return the length scales of a multiple of a squared exponential, in standard deviations of the columns."""
    return gp.kernel_.k2.length_scale / X.std(axis=0)


@pytest.mark.parametrize("criterion", ["lml", "reml", "map"])
def test_both_ends(data, criterion):
    """A small width is one length scale for all standardized columns, a large one no expectation."""
    X, y = data
    narrow = fitted(X, y, 1e-3, criterion=criterion)
    one = fitted(X / X.std(axis=0), y, None, C("auto") * RBF(1.0), criterion=criterion)
    assert lengths(narrow, X) == pytest.approx(np.full(3, one.kernel_.k2.length_scale), rel=2e-3)
    assert narrow.criterion_value_ == pytest.approx(one.criterion_value_, abs=2e-3)
    assert narrow.predict(X) == pytest.approx(one.predict(X / X.std(axis=0)), abs=1e-3)
    wide, free = (fitted(X, y, width, criterion=criterion) for width in (1e3, None))
    assert wide.criterion_value_ == pytest.approx(free.criterion_value_, abs=1e-3)
    assert wide.predict(X) == pytest.approx(free.predict(X), abs=1e-3)
    assert lengths(free, X).max() > 3 * lengths(free, X).min()
    assert [gp.selection_.spread for gp in (narrow, wide)] == [1e-3, 1e3]
    assert np.isnan(free.selection_.spread)


def test_between_the_ends(data):
    """The likelihood grows with the width, and length scales move apart."""
    X, y = data
    found = [fitted(X, y, width) for width in (0.05, 0.25, 1.0, 4.0)]
    assert (np.diff([gp.criterion_value_ for gp in found]) > 0).all()
    assert (np.diff([np.ptp(np.log(lengths(gp, X))) for gp in found]) > 0).all()


def test_the_evidence_at_the_narrow_end(data):
    """Only the common length scale is left, which is expected where that of one column is, in units of all columns."""
    X, y = data
    narrow = fitted(X, y, 1e-3, criterion="evidence")
    one = fitted(X / X.std(axis=0), y, None, C("auto") * RBF(1.0), criterion="evidence")
    assert lengths(narrow, X) == pytest.approx(np.full(3, one.kernel_.k2.length_scale), rel=1e-2)
    assert narrow.criterion_value_ - one.criterion_value_ == pytest.approx(0.0, abs=0.02)


SUM = C("auto") * RBF("auto") + C("auto") * Linear("auto") + C("auto") * Matern("auto", nu=1.5).on([0, 2])
GROUPS = [[1, 2, 3], [5, 6, 7], [9, 10]]  # of length scales in theta of SUM, and the columns that each depends on
COLUMNS = [[0, 1, 2], [0, 1, 2], [0, 2]]


def searched(criterion, X, y, spread, excepted=()):
    """Return the search of the core, nothing profiled out, for SUM and a noise variance."""
    of = Data(X, y, anchors=[])
    layout = Layout(SUM.resolve(of).on_points(X)[0])
    options = {"profile": False, "spreads": [] if spread is None else [spread]}
    options["excepted"] = [p in excepted for p in range(len(layout.theta))]
    return choice.core_search(
        criterion,
        layout,
        of,
        y,
        np.arange(len(y)),
        trend_matrix("constant", X),
        known=np.zeros(0),
        finds_noise=True,
        jitter=None,
        budget=Budget(),
        options=options,
    )


def expected(x, X, y, spread, excepted, everything):
    """Return the log density of the logarithms x of all hyperparameters of SUM and of the noise."""
    total, width = 0.0, 1.5 if everything else np.inf
    sizes = [X.std(axis=0), X.std(axis=0), X.std(axis=0)]
    starts = [np.log(X.std(axis=0)), np.log(np.sqrt(np.mean(X**2, axis=0))), np.log(X.std(axis=0))]
    for group, columns, size, start in zip(GROUPS, COLUMNS, sizes, starts, strict=True):
        used = [i for i, p in enumerate(group) if p not in excepted]
        root = np.log(len(columns)) / 2
        at = x[np.array(group)[used]]
        if spread is not None and len(used) > (0 if everything else 1):
            middle = np.log(size[columns])[used] + root
            total += reference.expected_alike(at, middle, spread, width)
        elif spread is None and everything:
            total += np.sum(reference.expected_of_logarithm(at, start[columns][used] + root, 1.5))
    if not everything:
        return total
    first = 0 not in excepted
    if first:
        total += reference.expected_of_logarithm(x[0], np.log(y.var()), 2)
    for p in (4, 8):
        if p not in excepted:
            total += reference.expected_of_logarithm(x[p], x[0] if first else np.log(y.var()), 2)
    middle = np.log(0.1) + (x[0] if first else np.log(y.var()))
    return total + reference.expected_of_logarithm(x[11], middle, 2, far=True)


@pytest.mark.parametrize("excepted", [(), (2, 5), (1, 4, 9)])
@pytest.mark.parametrize("spread", [0.3, None])
@pytest.mark.parametrize("criterion", [Evidence(), Likelihood()])
def test_densities_and_derivatives(data, rng, criterion, spread, excepted):
    X, y = data
    everything = isinstance(criterion, Evidence)
    search = searched(criterion, X, y, spread, excepted)
    lower, upper = search.bounds
    x = np.clip(search.starts[1] + 0.1 * rng.standard_normal(12), lower, upper)
    trial = search.evaluate(x.tolist(), 2)
    density = expected(x, X, y, spread, excepted, everything)
    assert -trial["value"] - trial["criterion"] == pytest.approx(density, abs=1e-9)

    slopes, error = reference.central_differences(lambda z: search.evaluate(z.tolist(), 0)["value"], x)
    assert (np.abs(trial["gradient"] - slopes) <= 10 * error).all()

    # The information is that of the likelihood, and what the expectations add: a bound of it for the Cauchy density.
    plain = searched(Likelihood(restricted=everything), X, y, None, excepted).evaluate(x.tolist(), 2)
    added = trial["information"] - plain["information"]
    exact = -reference.second_derivatives(lambda z: expected(z, X, y, spread, excepted, everything), x)
    if everything:
        z = (x[11] - np.log(0.1) - (x[0] if 0 not in excepted else np.log(y.var()))) / 2
        excess = 2 / (1 + z**2) / 4 - 2 * (1 - z**2) / (1 + z**2) ** 2 / 4
        way = np.eye(12)[11] - np.eye(12)[0]
        exact = exact + excess * np.outer(way, way)
    assert added == pytest.approx(exact, abs=1e-5 * max(1.0, np.abs(exact).max()))


def alike(seed, n=60, d=20):
    """Return data that depend on the sum of all columns, and more of them without noise."""
    rng = np.random.default_rng(seed)
    X, Z = rng.standard_normal((n, d)), rng.standard_normal((500, d))
    y, f = (np.sin(1.5 * A.sum(axis=1) / np.sqrt(d)) for A in (X, Z))
    return X, y + 0.1 * rng.standard_normal(n), Z, f


def unlike(seed, n=200, d=6):
    """Return data that depend on the first two columns."""
    rng = np.random.default_rng(seed)
    X, Z = rng.uniform(size=(n, d)), rng.uniform(size=(500, d))
    y, f = (np.sin(6 * A[:, 0]) + A[:, 1] for A in (X, Z))
    return X, y + 0.1 * rng.standard_normal(n), Z, f


def errors(made, criterion, seeds):
    """Return the errors on other points with and without shrinkage, and the widths that the data have chosen."""
    found = []
    for seed in range(seeds):
        X, y, Z, f = made(seed)
        models = [fitted(X, y, shrinkage, "RBF", criterion=criterion) for shrinkage in ("auto", None)]
        found.append([np.sqrt(np.mean((gp.predict(Z) - f) ** 2)) for gp in models] + [models[0].selection_.spread])
    return np.array(found).T


@pytest.mark.parametrize("criterion", ["lml", "reml", "evidence"])
def test_many_columns_that_matter_alike(criterion):
    shrunk, free, widths = errors(alike, criterion, 5)
    assert shrunk.mean() < 0.9 * free.mean()
    assert (shrunk < free).all()
    assert np.median(widths) <= 0.5


@pytest.mark.parametrize("criterion", ["lml", "evidence"])
def test_few_columns_that_matter(criterion):
    shrunk, free, widths = errors(unlike, criterion, 3)
    assert (shrunk < 1.05 * free).all()
    if criterion == "lml":
        assert np.isnan(widths).all()
    else:
        assert (widths >= 1).all()


def test_columns_that_do_not_matter():
    """Noise alone: free length scales fit it."""
    rng = np.random.default_rng(5)
    X, y, Z = rng.standard_normal((60, 20)), rng.standard_normal(60), rng.standard_normal((500, 20))
    one, free = (fitted(X, y, shrinkage, "RBF") for shrinkage in ("auto", None))
    assert np.std(one.predict(Z)) < np.std(free.predict(Z))
    assert np.std(one.predict(Z)) < 0.3


def same(one, other):
    assert np.array_equal(one.kernel_.theta, other.kernel_.theta)
    assert one.criterion_value_ == other.criterion_value_
    assert one.n_evaluations_ == other.n_evaluations_
    assert np.isnan(one.selection_.spread)


@pytest.mark.parametrize("criterion", ["loo", "gcv", "loo_log_density"])
def test_auto_is_nothing_for_criteria_that_are_no_likelihoods(data, criterion):
    same(*(fitted(*data, shrinkage, criterion=criterion) for shrinkage in ("auto", None)))


@pytest.mark.parametrize("criterion", ["lml", "evidence", "loo"])
@pytest.mark.parametrize("shrinkage", ["auto", 0.1])
def test_one_column_is_alike_already(data, criterion, shrinkage):
    X, y = data
    same(*(fitted(X[:, :1], y, how, criterion=criterion) for how in (shrinkage, None)))


def test_auto_leaves_kernels_that_were_given(data):
    X, y = data
    kernel = C(1.0) * RBF([0.5, 20.0, 1e-3])
    same(*(fitted(X, y, shrinkage, kernel) for shrinkage in ("auto", None)))
    isotropic = [fitted(X, y, shrinkage, C("auto") * RBF(20.0)) for shrinkage in ("auto", 0.1)]
    same(*isotropic)


def test_a_width_holds_for_any_criterion(data):
    X, y = data
    narrow = fitted(X, y, 1e-2, criterion="loo")
    assert np.ptp(np.log(lengths(narrow, X))) < 0.05
    assert narrow.selection_.spread == 1e-2


def test_the_choice_is_told(data):
    X, y, _, _ = alike(0)
    gp = fitted(X, y, "auto", "RBF")
    assert f"alike, but for a factor of {np.exp(gp.selection_.spread):.3g}" in str(gp.selection_)
    assert "alike" not in str(fitted(*data, None).selection_)


@pytest.mark.parametrize("value", ["none", 0.0, -1.0, np.inf, np.nan, True, [0.5]])
def test_other_values(data, value):
    with pytest.raises(ValueError, match=r'shrinkage: expected "auto", a positive number or None'):
        fitted(*data, value)
