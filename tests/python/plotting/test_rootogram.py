"""Rootograms: bars hang from the roots of expected frequencies; and other displays of counts."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF
from kernsel.likelihoods import Binomial
from kernsel.plotting import LOODisplay, PosteriorDisplay, RootogramDisplay

rng = np.random.default_rng(2)
X = np.linspace(0, 6, 50)[:, None]
Y = rng.poisson(np.exp(1 + np.sin(X[:, 0])))


@pytest.fixture(scope="module")
def process():
    return ks.GaussianProcessRegressor(RBF(1.0), optimizer=None, likelihood="poisson").fit(X, Y)


def test_bars_hang_from_the_expected_frequencies(process):
    display = RootogramDisplay.from_estimator(process, target_name="faults")
    most = Y.max()
    np.testing.assert_array_equal(display.observed[: most + 1], [np.sum(k == Y) for k in range(most + 1)])
    left_out = process.left_out_predictive()
    expected = [np.exp(left_out.log_density(np.full((50, 1), float(k)))).sum() for k in range(most + 1)]
    np.testing.assert_allclose(display.expected[:-1], expected, atol=1e-6)  # 50 times the error of an integral
    assert display.expected.sum() == pytest.approx(50)
    for k, bar in enumerate(display.bars_):
        assert bar.get_y() + bar.get_height() == pytest.approx(np.sqrt(display.expected[k]))
        assert bar.get_height() == pytest.approx(np.sqrt(display.observed[k]))
    assert display.ax_.get_xlabel() == "faults"
    assert [text.get_text() for text in display.ax_.get_xticklabels()][-1] == f"\u2265 {most + 1}"


def test_large_counts_are_taken_together():
    y = np.where(np.arange(50) == 7, 90, Y)
    display = RootogramDisplay.from_estimator(
        ks.GaussianProcessRegressor(RBF(1.0), optimizer=None, likelihood="poisson").fit(X, y)
    )
    assert len(display.observed) == 42
    assert display.observed[-1] == 1
    assert display.observed.sum() == 50


def test_a_number_of_trials_is_the_end():
    model = ks.GaussianProcessRegressor(RBF(1.0), optimizer=None, likelihood=Binomial()).fit(X, np.minimum(Y, 5), trials=5)
    display = RootogramDisplay.from_estimator(model)
    assert display.observed.sum() == 50
    assert display.expected[:6].sum() == pytest.approx(50)


def test_what_has_no_counts():
    with pytest.raises(TypeError, match='expected a process with a likelihood of counts, such as likelihood="poisson"'):
        RootogramDisplay.from_estimator(ks.GaussianProcessRegressor("RBF").fit(X, Y))
    with pytest.raises(ValueError, match="expected a likelihood of counts, got StudentT"):
        RootogramDisplay.from_estimator(
            ks.GaussianProcessRegressor(RBF(1.0), optimizer=None, likelihood="student_t").fit(X, np.sin(X[:, 0]))
        )
    with pytest.raises(ValueError, match="expected no negative frequencies"):
        RootogramDisplay(observed=[1.0, -1.0], expected=[1.0, 1.0])


def test_intervals_of_left_out_counts_are_quantiles(process):
    display = LOODisplay.from_estimator(process, level=0.8)
    low, high = process.left_out_predictive().quantiles([0.1, 0.9])[:, 0].T
    missed = (low > Y) | (high < Y)
    for collection, rows in zip(display.intervals_, (~missed, missed), strict=True):
        found = np.array([segment[:, 1] for segment in collection.get_segments()]).reshape(-1, 2)
        np.testing.assert_allclose(found, np.column_stack([low, high])[rows], atol=1e-12)


def test_samples_are_means_of_observations(process):
    display = PosteriorDisplay.from_estimator(process, n_samples=2, random_state=1)
    drawn = np.exp(process.sample_y(display.grid[0][:, None], 2, random_state=1, noisy=False))
    np.testing.assert_allclose(display.samples, drawn, rtol=1e-9)
