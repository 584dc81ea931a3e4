"""Models on disk: what is read back is what was written, and what cannot be written is refused."""

import io
import json
import pickle
import struct

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process.kernels import CompoundKernel
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

import kernsel as ks
from kernsel import features
from kernsel.kernels import RBF, FunctionKernel, Kernel, Precomputed, Sum, Transform
from kernsel.saving import container, fields
from kernsel.structured import Mixed, Spectrum

import saved

# Solutions from a factorization that is made again; a condition number of some 1e4 is in them after updates of a factor.
TOLERANCE = {"rtol": 1e-7, "atol": 1e-9}


def assert_same(a, b, where, left_out=()):
    """Two values are the same: numbers to rounding, all else exactly, attributes one by one."""
    if isinstance(a, Kernel | CompoundKernel):
        assert a == b, where
    elif sparse.issparse(a):
        assert type(a) is type(b), where
        assert_same(a.toarray(), b.toarray(), where)
    elif isinstance(a, np.ndarray | np.generic) and np.asarray(a).dtype.kind in "fc":
        assert type(a) is type(b), where
        assert (a.dtype, a.shape) == (b.dtype, b.shape), where
        np.testing.assert_allclose(b, a, err_msg=where, **TOLERANCE)
    elif isinstance(a, np.ndarray):
        assert (a.dtype, a.shape) == (b.dtype, b.shape), where
        np.testing.assert_array_equal(b, a, err_msg=where)
    elif isinstance(a, float):
        assert type(a) is type(b), where
        assert b == pytest.approx(a, rel=1e-7, abs=1e-9, nan_ok=True), where
    elif isinstance(a, list | tuple):
        assert len(a) == len(b), where
        for i, (one, other) in enumerate(zip(a, b, strict=True)):
            assert_same(one, other, f"{where}[{i}]")
    elif isinstance(a, str | int | bool | type(None)):
        assert type(a) is type(b), where
        assert a == b, where
    elif type(a).__module__.startswith("kernsel") and hasattr(a, "__dict__"):
        assert type(a) is type(b), where
        for name in vars(a):
            if not name.startswith("_") and name not in left_out:
                assert_same(getattr(a, name), getattr(b, name), f"{where}.{name}")


def public(model):
    """Return the fitted attributes, properties included."""
    names = [name for name in dir(model) if name.endswith("_") and not name.startswith("_")]
    return {name: getattr(model, name) for name in names if hasattr(model, name)}


def names(folder):
    return [path.name for path in folder.iterdir()]


@pytest.fixture
def again(tmp_path):
    def saved_and_loaded(model, **options):
        path = tmp_path / "model.ksl"
        ks.save(model, path, **options)
        return ks.load(path)

    return saved_and_loaded


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
    for method in ("predict", "predict_proba", "power_function", "error_bound"):
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


def test_everything_works_on_a_process_that_was_loaded(again):
    for name in ("gp of a table, two outputs", "gp with trend", "gp with noise of each point", "gp left as it is"):
        model, Z = saved.model(name), saved.points(name)
        loaded = again(model)
        assert_same(model.predict(Z, return_std=True), loaded.predict(Z, return_std=True), "std")
        assert_same(model.predict(Z, return_cov=True), loaded.predict(Z, return_cov=True), "cov")
        assert_same(model.sample_y(Z, 2, random_state=3), loaded.sample_y(Z, 2, random_state=3), "samples")
        assert_same(model.predict_gradient(Z, True), loaded.predict_gradient(Z, True), "gradient")
        theta = model.kernel_.theta + 0.1
        assert_same(model.log_marginal_likelihood(theta, True), loaded.log_marginal_likelihood(theta, True), "likelihood")
        assert str(loaded.selection_) == str(model.selection_)
        copy = pickle.loads(pickle.dumps(model))
        new = saved.table[:2] + 0.01 if "table" in name else saved.X[:2] + 0.01
        for one in (copy, loaded):
            one.update(new, saved.Y[:2] if model.y_train_.ndim == 2 else saved.y[:2], noise=0.1).downdate(1)
        assert_same(copy.predict(Z, return_std=True), loaded.predict(Z, return_std=True), "after update")
    refitted = again(saved.model("gp")).fit(saved.X, saved.y)
    assert_same(saved.model("gp").predict(saved.Z), refitted.predict(saved.Z), "refitted")


def test_classifiers_that_were_loaded(again):
    for name in ("classes", "classes by ep", "three classes", "softmax"):
        model, Z = saved.model(name), saved.points(name)
        loaded = again(model)
        assert_same(model.latent(Z, return_std=True), loaded.latent(Z, return_std=True), "latent")
        theta = model.kernel_.theta + 0.1
        assert_same(model.log_marginal_likelihood(theta, True), loaded.log_marginal_likelihood(theta, True), "likelihood")


def test_a_path_is_decomposed_again_when_it_is_asked_for(again):
    model = saved.model("cv")
    loaded = again(model)
    assert "path_" not in vars(loaded)
    np.testing.assert_allclose(loaded.path_.loo, model.path_.loo, rtol=1e-9)
    assert loaded.path_.best("reml") == pytest.approx(model.path_.best("reml"))
    with pytest.raises(AttributeError, match="alpha was not chosen along a path by this KernelRidge"):
        again(saved.model("ridge of a kernel")).path_  # noqa: B018


def test_a_process_with_other_hyperparameters(again):
    model = pickle.loads(pickle.dumps(saved.model("gp left as it is")))
    model.log_marginal_likelihood(model.kernel_.theta + 1, clone_kernel=False)
    loaded = again(model)
    assert loaded.kernel_ == model.kernel_ != saved.model("gp left as it is").kernel_
    assert_same(model.predict(saved.Z), loaded.predict(saved.Z), "predict")


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


def test_the_file_is_one_of_safetensors(tmp_path):
    path = tmp_path / "a.ksl"
    model = saved.model("gp of a table, two outputs")
    ks.save(model, path)
    raw = path.read_bytes()  # read as the format's documentation has it
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    assert length % 8 == 0
    metadata = header.pop("__metadata__")
    assert (metadata["format"], metadata["version"]) == ("kernsel", "1")
    assert json.loads(metadata["model"])["column_names"] == list(saved.table.columns)
    begin, end = header["points"]["data_offsets"]
    points = np.frombuffer(raw[8 + length + begin : 8 + length + end], dtype="<f8").reshape(header["points"]["shape"])
    np.testing.assert_array_equal(points, model.X_train_)
    assert max(entry["data_offsets"][1] for entry in header.values()) == len(raw) - 8 - length


def test_arrays_of_all_kinds(tmp_path):
    arrays = {
        "a": np.array([True, False, True]),
        "b": np.arange(6.0).reshape(2, 3).T,
        "c": np.float32(1.5) * np.ones((2, 0)),
        "d": np.array(-3),
        "e": np.frombuffer(b"abc", dtype=np.uint8),
        "f": np.arange(3, dtype=">f8"),
    }
    container.write_container(tmp_path / "x", arrays, {"k": "v"})
    found = container.read_container(tmp_path / "x")
    assert found.metadata == {"k": "v"}
    for name, array in arrays.items():
        np.testing.assert_array_equal(found.array(name), array)
        assert found.array(name).shape == array.shape
        assert found.array(name).dtype.isnative


def cubed(X, Z):
    return np.asarray((X @ Z.T + 1) ** 3)


UNWRITABLE = {
    "a kernel of Python": (lambda: ks.KernelRidge(FunctionKernel(cubed)), "kernel: .*cubed"),
    "a function of two points": (lambda: ks.KernelRidge(lambda x, z: float(x @ z)), "kernel: "),
    "a kernel with a map": (lambda: ks.KernelRidge(Transform(RBF(1.0), np.sin)), "kernel: Transform"),
    "scikit-learn's cosine": (lambda: ks.KernelRidge("cosine"), "kernel: FunctionKernel"),
    "a trend": (lambda: ks.GaussianProcessRegressor(trend=lambda X: np.ones((len(X), 1))), "trend: "),
    "a loss": (lambda: ks.GaussianProcessRegressor(criterion=lambda r, v: (r**4, 4 * r**3, 0 * v)), "criterion: "),
    "an optimizer": (lambda: ks.GaussianProcessRegressor(RBF(1.0, "fixed"), optimizer=print), "optimizer: "),
    "a generator": (lambda: ks.GaussianProcessRegressor(random_state=np.random.RandomState(0)), "random_state: "),
    "a splitter": (lambda: ks.SVR(folds=KFold(2)), "folds: "),
    "a transformer": (lambda: ks.RidgeRegression(StandardScaler()), "features: StandardScaler"),
}


@pytest.mark.parametrize("what", UNWRITABLE)
def test_what_cannot_be_written_is_named(what, tmp_path):
    make, named = UNWRITABLE[what]
    model = make().fit(saved.X, saved.y)
    with pytest.raises(TypeError, match=named + ".*use pickle or joblib"):
        ks.save(model, tmp_path / "a.ksl")
    assert names(tmp_path) == []


def test_kernels_that_are_too_much(tmp_path, monkeypatch):
    monkeypatch.setattr(fields, "LONGEST_KERNEL", 10_000)
    many = RBF(1.0)
    for _ in range(1500):
        many = Sum(many, RBF(1.0, "fixed"))
    for kernel in (many, FunctionKernel(cubed)):
        with pytest.raises(TypeError, match=r"parameters\.kernel: .*use pickle or joblib"):
            ks.save(ks.KernelRidge(kernel).fit(saved.X, saved.y), tmp_path / "a.ksl")
    strings = ["AC", "CA", "AACC", "CC"]
    model = ks.KernelRidge(Spectrum(2)).fit(strings, [1.0, 2.0, 3.0, 4.0])
    with pytest.raises(TypeError, match="use pickle or joblib"):
        ks.save(model, tmp_path / "a.ksl")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(strings), model.predict(strings))
    parts = Mixed(a=saved.X)  # numbers, but read by name
    with pytest.raises(TypeError, match="use pickle or joblib"):
        ks.save(ks.KernelRidge(RBF(1.0).on(["a"])).fit(parts, saved.y), tmp_path / "a.ksl")


def test_what_is_no_fitted_estimator(tmp_path):
    with pytest.raises(NotFittedError):
        ks.save(ks.KernelRidge(), tmp_path / "a.ksl")
    for other in (StandardScaler(), RBF(1.0), features.Fourier(), None):
        with pytest.raises(TypeError, match=r"model: expected one of GaussianProcessRegressor, .*pickle and joblib"):
            ks.save(other, tmp_path / "a.ksl")

    class Mine(ks.KernelRidge):
        pass

    with pytest.raises(TypeError, match="got Mine"):
        ks.save(Mine().fit(saved.X, saved.y), tmp_path / "a.ksl")


def test_matrices_in_kernels(again):
    K = saved.K
    model = ks.KernelRidge(2.0 * Precomputed(K) + Precomputed(K @ K).on([0]), alpha=0.1).fit(np.arange(40.0)[:, None], saved.y)
    loaded = again(model)
    assert loaded.kernel_ == model.kernel_
    np.testing.assert_allclose(loaded.predict([[3.0]]), model.predict([[3.0]]))
