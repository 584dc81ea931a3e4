"""Bad or degenerate input for criteria and predictions by neighbours, and for those without an approximation."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF, WhiteKernel

from accuracy import eps

N = 40
NEAR = ks.Vecchia(5)


@pytest.fixture
def given(rng):
    X = rng.standard_normal((N, 2))
    return X, np.sin(X[:, 0]) + 0.1 * rng.standard_normal(N)


def value(criterion, X, y, *, kernel=None, noise=0.1, near=NEAR, **more):
    return ks.evaluate(criterion, kernel or RBF(1.0), X, y, noise=noise, approximation=near, gradient=True, **more).value


@pytest.mark.parametrize("near", [NEAR, None])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_the_row_that_is_not_finite_is_named(given, near, bad):
    X, y = given
    model = ks.GaussianProcessRegressor(RBF(1.0), noise=0.1, approximation=near)
    model.fit(X, y)
    X, good = X.copy(), X
    X[13, 1] = bad
    targets = y.copy()
    targets[7] = bad
    here = r"X: contains NaN or infinity, first at row 13, column 1"
    for call in (
        lambda: model.predict(X),
        lambda: model.predict_gradient(X),
        lambda: ks.GaussianProcessRegressor(RBF(1.0), approximation=near).fit(X, y),
        lambda: ks.evaluate("lml", RBF(1.0), X, y, noise=0.1, approximation=near),
        lambda: ks.loo(RBF(1.0), X, y, noise=0.1, approximation=near),
    ):
        with pytest.raises(ValueError, match=here):
            call()
    for call in (
        lambda: ks.GaussianProcessRegressor(RBF(1.0), approximation=near).fit(good, targets),
        lambda: ks.evaluate("lml", RBF(1.0), good, targets, noise=0.1, approximation=near),
    ):
        with pytest.raises(ValueError, match=r"y: contains NaN or infinity, first at entry 7"):
            call()
    with pytest.raises(ValueError, match=rf"noise: .*got {bad} at entry 3"):
        value("lml", good, y, noise=np.where(np.arange(N) == 3, bad, 0.1), near=near)


def test_equal_points(given):
    X, y = given
    twice = np.repeat(X[: N // 2], 2, axis=0)
    for points in (twice, np.ones((N, 2)), np.column_stack([X[:, 0], np.ones(N)])):
        exact, near = (value("lml", points, y, near=a) for a in (None, ks.Vecchia(N)))
        assert near == pytest.approx(exact, rel=N * 1e3 * eps(float))  # the condition is below N / 0.1
    alone = {"groups": np.arange(N)}
    exact, near = (value("loo", np.ones((N, 2)), y, near=a, **alone) for a in (None, ks.Vecchia(N)))
    assert near == pytest.approx(exact, rel=N * 1e3 * eps(float))
    with pytest.raises(ValueError, match="all rows are equal"):
        value("loo", np.ones((N, 2)), y)


def test_matrices_that_are_singular_say_which_row(given):
    X, y = given
    twice = np.vstack([X, X[17]])
    with pytest.raises(ks.NotPositiveDefiniteError, match=r"pivot of row (17|40) is"):
        value("lml", twice, np.append(y, 0.0), noise=0.0)
    with pytest.raises(ks.NotPositiveDefiniteError, match=r"pivot of row \d+ is"):
        value("loo_log_density", X, y, kernel=RBF(1e4), noise=0.0)
    assert np.isfinite(value("lml", X, y, noise=0.0))


def test_few_points_and_many_neighbours(given):
    X, y = given
    for n in (1, 2, 3):
        for criterion in ("lml", "loo"):
            exact, near = (value(criterion, X[:n], y[:n], near=a) for a in (None, ks.Vecchia(100)))
            assert near == pytest.approx(exact, rel=1e3 * eps(float))
    for m in (0, -1, 1.5):
        with pytest.raises(ValueError, match=f"neighbors: expected a whole number from 1 on, got {m}"):
            value("lml", X, y, near=ks.Vecchia(m))
    model = ks.GaussianProcessRegressor(RBF(1.0), noise=0.1, approximation=NEAR).fit(X[:1], y[:1])
    assert model.predict(X[:1])[0] == pytest.approx(y[0] / 1.1, rel=8 * eps(float))


def test_folds_with_few_others_and_none(given):
    X, y = given
    few = (np.arange(N) >= 3).astype(int)  # the large group has three others to be predicted from
    exact, near = (value("kfold", X, y, near=a, folds=few) for a in (None, ks.Vecchia(N)))
    assert near == pytest.approx(exact, rel=1e5 * eps(float))
    with pytest.raises(ValueError, match="folds: expected two groups"):
        value("kfold", X, y, folds=np.zeros(N, dtype=int))


def test_white_noise_is_noise_wherever_it_is(given):
    X, y = given
    inside, beside = value("lml", X, y, kernel=RBF(1.0) + WhiteKernel(0.2)), value("lml", X, y, noise=0.1 + 0.2)
    assert inside == pytest.approx(beside, rel=1e3 * eps(float))


def test_kernels_of_objects_are_refused():
    with pytest.raises(ValueError, match="approximation: Vecchia needs points that are rows of numbers"):
        value("lml", ["a", "ab", "b"], [1.0, 2.0, 3.0], kernel=ks.structured.Spectrum(1))


INTERRUPTED = """
import time
import numpy as np
import kernsel as ks
X = np.random.default_rng(0).standard_normal((1_000_000, 8))
print("begins", flush=True)
try:
    ks.evaluate("lml", ks.kernels.Matern(np.full(8, 2.0)), X, X[:, 0], noise=0.1, gradient=True, approximation=ks.Vecchia(30))
except KeyboardInterrupt:
    print(time.time(), flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("wait", [0.3, 1.0, 4.0, 10.0])  # seconds: in the order, the tree, the search, the sets
def test_interruption_of_a_million_points(wait):
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "begins\n"
        time.sleep(wait)
        sent = time.time()
        child.send_signal(signal.SIGINT)
        assert float(child.stdout.read()) - sent < 1.0
