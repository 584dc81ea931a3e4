"""Models on disk: what is read back is what was written, and what cannot be written is refused."""

import io
import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernsel as ks
from kernsel import features
from kernsel.kernels import RBF

import saved
from same import assert_same


def public(model):
    """Return the fitted attributes, properties included."""
    names = [name for name in dir(model) if name.endswith("_") and not name.startswith("_")]
    return {name: getattr(model, name) for name in names if hasattr(model, name)}


def names(folder):
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize("name", saved.MODELS)
def test_round_trip(name, again):
    model, Z = saved.model(name), saved.points(name)
    loaded = again(model)
    assert type(loaded) is type(model)
    attributes = public(model)
    if isinstance(model, ks.RidgeRegression):
        attributes.pop("path_", None)  # not written, as `save` says
    for key, value in attributes.items():
        assert_same(value, getattr(loaded, key), key, left_out=("space", "posterior", "factor", "coefficients", "average"))
    assert set(public(loaded)) == set(attributes)
    for method in ("predict", "predict_proba", "decision_function", "power_function", "error_bound"):
        if hasattr(model, method):
            assert_same(getattr(model, method)(Z), getattr(loaded, method)(Z), method)
    for key, value in model.get_params().items():
        if isinstance(value, str | int | float | type(None)):
            assert_same(value, loaded.get_params()[key], key)
    clone(loaded)
    twice = again(loaded)  # what was loaded can be written
    assert_same(model.predict(Z), twice.predict(Z), "predict")


@pytest.mark.parametrize("name", saved.MODELS)
@pytest.mark.parametrize("how", ["pickle", "joblib"])
def test_pickle_and_joblib(name, how):
    model, Z = saved.model(name), saved.points(name)
    if how == "pickle":
        loaded = pickle.loads(pickle.dumps(model))
    else:
        file = io.BytesIO()
        joblib.dump(model, file)
        loaded = joblib.load(file)
    np.testing.assert_array_equal(loaded.predict(Z), model.predict(Z))


def test_notes_and_replacing(tmp_path):
    path = tmp_path / "a.ksl"
    model = saved.model("gp")
    notes = {"files": ["a.csv", "\u00fc\ud83d"], "n": 3, "x": [1.5, None, True]}
    ks.save(model, path, notes)
    assert ks.saving.read_notes(path) == notes
    assert names(tmp_path) == ["a.ksl"]
    ks.save(model, str(path))
    assert ks.saving.read_notes(str(path)) is None
    before = path.read_bytes()
    with pytest.raises(ValueError, match="notes: expected what JSON can hold, which has no nan"):
        ks.save(model, path, {"x": np.nan})
    with pytest.raises(TypeError, match=r"notes: .*not JSON serializable"):
        ks.save(model, path, object())
    assert path.read_bytes() == before
    assert names(tmp_path) == ["a.ksl"]
    with pytest.raises(FileNotFoundError, match=r"nowhere.*a\.ksl"):
        ks.save(model, tmp_path / "nowhere" / "a.ksl")
    with pytest.raises(FileNotFoundError, match=r"none\.ksl"):
        ks.load(tmp_path / "none.ksl")
    with pytest.raises(IsADirectoryError):
        ks.load(tmp_path)


def test_a_selection_is_saved_as_its_best_model(tmp_path, rng):
    X, y = rng.uniform(size=(12, 1)), rng.standard_normal(12)
    grid = GridSearchCV(ks.KernelRidge(RBF(0.3)), {"alpha": [0.1, 1.0]}, cv=2).fit(X, y)
    for found in (ks.select(X, y, kernels=[RBF("auto")], criterion="lml"), grid):
        ks.save(found, tmp_path / "a.ksl")
        np.testing.assert_allclose(ks.load(tmp_path / "a.ksl").predict(X), found.predict(X), rtol=1e-9)


def test_a_pipeline_is_not_saved(tmp_path, rng):
    X, y = rng.uniform(size=(12, 1)), rng.standard_normal(12)
    model = make_pipeline(StandardScaler(), ks.KernelRidge(RBF(0.3))).fit(X, y)
    with pytest.raises(TypeError, match=r"model: a Pipeline .*save its last one, pipeline\[-1\].*joblib.dump"):
        ks.save(model, tmp_path / "a.ksl")
    ks.save(model[-1], tmp_path / "a.ksl")
    again = ks.load(tmp_path / "a.ksl")
    np.testing.assert_allclose(again.predict(model[:-1].transform(X)), model.predict(X), rtol=1e-9)


def test_what_is_no_fitted_estimator(tmp_path):
    with pytest.raises(NotFittedError, match=r"model: this KernelRidge is not fitted; call fit\(X, y\) before"):
        ks.save(ks.KernelRidge(), tmp_path / "a.ksl")
    for estimator in (ks.GaussianProcessRegressor(), ks.StackedRegressor(), ks.GaussianProcessClassifier(), ks.SVR()):
        with pytest.raises(NotFittedError, match=f"model: this {type(estimator).__name__} is not fitted"):
            ks.save(estimator, tmp_path / "a.ksl")
    for other in (StandardScaler(), RBF(1.0), features.Fourier(), None):
        with pytest.raises(TypeError, match=r"model: expected one of GaussianProcessRegressor, .*pickle and joblib"):
            ks.save(other, tmp_path / "a.ksl")

    class Mine(ks.KernelRidge):
        pass

    with pytest.raises(TypeError, match="got Mine"):
        ks.save(Mine().fit(saved.X, saved.y), tmp_path / "a.ksl")
