"""Features of landmarks: their inner products, and derivatives by central differences."""

import numpy as np
import pytest
from sklearn.base import clone

from kernsel import RidgeRegression, load, save
from kernsel.features import Nystrom
from kernsel.kernels import RBF, Linear, Matern

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(30, 2))


def test_inner_products_are_exact_at_landmarks_and_less_elsewhere():
    features = Nystrom(8, kernel=Matern(0.5, nu=1.5)).fit(X)
    F, G, k = features.transform(X), features.transform(features.landmarks_), features.kernel_
    np.testing.assert_allclose(F @ G.T, k(X, features.landmarks_), rtol=0, atol=1e-9)  # the diagonal of k(Z, Z) has 1e-10 more
    assert (np.sum(F**2, axis=1) <= k.diag(X) + 1e-9).all()
    assert np.linalg.eigvalsh(k(X) - F @ F.T).min() > -1e-9


@pytest.mark.parametrize("wrt", ["theta", "X", "landmarks"])
def test_derivatives(wrt):
    weights, step = RNG.normal(size=(30, 6)), 1e-6
    fitted = Nystrom(6, kernel=Matern([0.4, 0.6], nu=2.5) + Linear()).fit(X)
    at = {"theta": fitted.kernel_.theta, "X": X, "landmarks": fitted.landmarks_}

    def value(changed):
        other = clone(fitted).set_params(
            landmarks=changed["landmarks"], kernel=fitted.kernel_.clone_with_theta(changed["theta"])
        )
        return np.sum(weights * other.fit(X).transform(changed["X"]))

    found = fitted.pullback(X, weights, wrt=wrt)
    assert found.shape == at[wrt].shape
    for place in list(np.ndindex(found.shape))[:6]:
        change = np.zeros(found.shape)
        change[place] = step
        slope = (value(at | {wrt: at[wrt] + change}) - value(at | {wrt: at[wrt] - change})) / (2 * step)
        assert abs(found[place] - slope) < 1e-6 * max(1, np.abs(found).max())


def test_in_a_linear_model_that_is_saved(tmp_path):
    y = np.sin(6 * X[:, 0])
    model = RidgeRegression(Nystrom(10, kernel=RBF(0.5), random_state=3), alpha=1e-3).fit(X, y)
    save(model, tmp_path / "model.ksl")
    np.testing.assert_array_equal(load(tmp_path / "model.ksl").predict(X), model.predict(X))
    assert model.features_.get_feature_names_out().tolist()[:2] == ["nystrom0", "nystrom1"]


def test_what_is_refused():
    with pytest.raises(ValueError, match="landmarks: expected"):
        Nystrom(0).fit(X)
    with pytest.raises(ValueError, match=r"W: expected shape \(30, 4\)"):
        Nystrom(4).fit(X).pullback(X, np.ones((30, 3)))
    with pytest.raises(ValueError, match="columns"):
        Nystrom(np.ones((3, 5))).fit(X)
