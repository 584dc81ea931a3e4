"""A known mean of a process."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import kernsel as ks
from kernsel._data.mean import mean_at
from kernsel.kernels import RBF


def parabola(X):
    return 3.0 * X[:, 0] ** 2


def test_it_is_subtracted_before_and_added_after(rng):
    X, Z, more = rng.uniform(-1, 1, (20, 1)), np.array([[0.5], [3.0]]), np.array([[0.1]])
    y = parabola(X) + np.sin(5 * X[:, 0]) + 0.1 * rng.standard_normal(20)
    gp = ks.GaussianProcessRegressor("RBF", mean=parabola).fit(X, y)
    rest = ks.GaussianProcessRegressor("RBF").fit(X, y - parabola(X))
    close = {"rel": 1e-9, "abs": 1e-9}
    assert gp.criterion_value_ == rest.criterion_value_

    def compare(gp, rest):
        for noisy in (None, False):
            mean, std = gp.predict(Z, return_std=True, noisy=noisy)
            expected, spread = rest.predict(Z, return_std=True, noisy=noisy)
            assert mean == pytest.approx(expected + parabola(Z), **close)
            assert std == pytest.approx(spread, **close)
        assert gp.sample_y(Z) == pytest.approx(rest.sample_y(Z) + parabola(Z)[:, None], **close)
        assert gp.predict_quantiles(Z, [0.1]) == pytest.approx(rest.predict_quantiles(Z, [0.1]) + parabola(Z)[:, None], **close)
        assert gp.log_density(Z, [1.0, 2.0]) == pytest.approx(rest.log_density(Z, [1.0, 2.0] - parabola(Z)), **close)
        assert gp.loo_residuals_ == pytest.approx(rest.loo_residuals_, **close)

    compare(gp, rest)
    compare(pickle.loads(pickle.dumps(gp)), rest)
    assert gp.left_out(X, y).y == pytest.approx(y, **close)
    assert gp.left_out_predictive().mean[:, 0] == pytest.approx(y - rest.loo_residuals_, **close)
    compare(gp.update(more, [4.0]), rest.update(more, 4.0 - parabola(more)))
    prior = clone(gp).set_params(kernel=RBF(1.0))
    assert prior.predict(Z) == pytest.approx(parabola(Z))
    other = ks.GaussianProcessRegressor(RBF(1.0), noise=0.1, optimizer=None, mean=rest.predict).fit(X, np.column_stack([y, -y]))
    assert other.predict(Z).shape == (2, 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mean": lambda X: X[:3]}, r"^mean: expected the function to return an array of shape \(8,\), got \(3, 1\)"),
        ({"mean": lambda X: np.log(X[:, 0])}, "^mean: expected the function to return finite numbers, got .* in row 0"),
        ({"mean": parabola, "likelihood": "student_t"}, "^mean: is of normal noise"),
        ({"mean": parabola, "hyperparameters": "sample"}, "^mean: expected None with hyperparameters"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_means_that_cannot_be(options, message):
    X = np.arange(8.0)[:, None]
    with pytest.raises(ValueError, match=message):
        ks.GaussianProcessRegressor("RBF", **options).fit(X, np.sin(X[:, 0]))


def test_what_a_mean_cannot_do(tmp_path):
    X = np.arange(8.0)[:, None]
    gp = ks.GaussianProcessRegressor("RBF", mean=parabola).fit(X, np.sin(X[:, 0]))
    with pytest.raises(ValueError, match=r"^mean: expected None for rows that are read in blocks"):
        ks.GaussianProcessRegressor(mean=parabola).fit(ks.row_source(X, np.sin(X[:, 0])), None)
    with pytest.raises(ValueError, match=r"^mean: expected None with slopes or averages"):
        ks.GaussianProcessRegressor("RBF", mean=parabola).fit(X, np.sin(X[:, 0]), slopes=(X, np.cos(X)))
    with pytest.raises(ValueError, match=r"^mean: its derivatives are not known"):
        gp.predict_gradient(X)
    with pytest.raises(ValueError, match=r"^mean: scikit-learn has no known mean"):
        gp.to_sklearn()
    with pytest.raises(ValueError, match="expected a process without a known mean"):
        ks.design.propose(gp, [(0, 1)])
    with pytest.raises(TypeError, match=r"mean: .* cannot be written"):
        ks.save(gp, tmp_path / "a.ksl")
    with pytest.raises(TypeError, match=r"^mean: expected a function of points"):
        mean_at(3.0, X, 1)
