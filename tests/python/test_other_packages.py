"""Models in the hands of other packages; those that are not installed are skipped, unless TEST_PACKAGES=required."""

import importlib
import os
import warnings

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import BaggingRegressor
from sklearn.model_selection import KFold

import kernsel as ks
from kernsel.kernels import RBF, Matern
from kernsel.saving.container import read_container
from kernsel.structured import BagOfItems, Spectrum
from kernsel.structured.bags import as_bags

from children import run


def package(name):
    """Import a package, or skip the test."""
    required = os.environ.get("TEST_PACKAGES") == "required"
    return importlib.import_module(name) if required else pytest.importorskip(name)


@pytest.fixture
def data(rng):
    X = rng.uniform(size=(40, 2))
    return X, np.sin(5 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(40)


@pytest.mark.parametrize(
    "model",
    [
        ks.KernelRidge("RBF"),
        ks.GaussianProcessRegressor(),
        ks.GaussianProcessRegressor(RBF(0.5), optimizer=None, alpha=0.1, approximation=ks.Vecchia(5)),
        ks.GaussianProcessRegressor(likelihood="student_t"),
        ks.SVR("rbf"),
        ks.KernelRidge(RBF(0.5).on(["X"]) * Spectrum(2).on(["s"]), alpha=0.1),
        ks.KernelRidge(BagOfItems(), alpha=0.1),
    ],
    ids=["ridge", "process", "neighbours", "likelihood", "support vectors", "strings", "bags"],
)
def test_skops(model, data):
    io = package("skops.io")
    X, y = data
    if "Spectrum" in repr(model):
        X = ks.structured.Mixed(X=X, s=[format(i * 37 % 64, "06b") for i in range(40)])
    if "Bag" in repr(model):
        X = as_bags([[i % 3, f"{i % 5}"] for i in range(40)])
    written = io.dumps(model.fit(X, y))
    read = io.loads(written, trusted=io.get_untrusted_types(data=written))
    assert np.array_equal(read.predict(X[:9]), model.predict(X[:9]))


def test_safetensors(data, tmp_path):
    """The package that defines the format of our files reads them: all arrays, and what is known of the model."""
    numpy, path = package("safetensors.numpy"), tmp_path / "model.ksl"
    model = ks.GaussianProcessRegressor().fit(*data)
    ks.save(model, path)
    theirs, ours = numpy.load_file(path), read_container(path)
    assert np.array_equal(theirs["points"], model.X_train_)
    assert all(np.array_equal(theirs[name], ours.array(name)) for name in theirs)
    with importlib.import_module("safetensors").safe_open(path, "np") as file:
        assert file.metadata() == ours.metadata


@pytest.mark.parametrize(
    ("model", "std"),
    [
        (ks.KernelRidge("RBF"), False),
        (ks.SVR("rbf"), False),
        (ks.GaussianProcessRegressor("RBF + RationalQuadratic(length_scale=0.5)"), False),
        (ks.GaussianProcessRegressor("RBF", trend=None), True),
        (ks.GaussianProcessRegressor(Matern([0.4, 0.9], nu=1.5), alpha=0.1, trend=None, optimizer=None), True),
    ],
    ids=["ridge", "support vectors", "sum", "process", "matern"],
)
def test_onnx(model, std, data):
    """By way of scikit-learn's process, which its converter knows."""
    skl2onnx, onnxruntime = package("skl2onnx"), package("onnxruntime")
    X, y = data
    process = model.fit(X, y).to_sklearn()
    options = {type(process): {"return_std": std}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own
        written = skl2onnx.to_onnx(process, X[:1], options=options).SerializeToString()
    session = onnxruntime.InferenceSession(written, providers=["CPUExecutionProvider"])
    Z = X[:9] + 0.01
    found, expected = session.run(None, {"X": Z}), model.predict(Z, return_std=True) if std else [model.predict(Z)]
    rounding = 200 * np.finfo(float).eps * process.kernel_.diag(Z).max()
    assert np.ravel(found[0]) == pytest.approx(expected[0], abs=rounding * np.abs(process.alpha_).sum())
    if std:
        assert np.ravel(found[1]) ** 2 == pytest.approx(expected[1] ** 2, abs=rounding * np.linalg.cond(process.L_) ** 2)


@pytest.mark.parametrize(
    "model", [ks.KernelRidge(RBF(0.5), alpha=0.1), ks.GaussianProcessRegressor(RBF(0.5), alpha=0.1, optimizer=None)]
)
def test_bagging(model, data):
    X, y = data
    bag = BaggingRegressor(model, n_estimators=3, max_samples=0.8, random_state=0).fit(X, y)
    expected = [clone(model).fit(X[rows], y[rows]).predict(X) for rows in bag.estimators_samples_]
    assert bag.predict(X) == pytest.approx(np.mean(expected, axis=0), rel=1e-13)


def test_mapie(data):
    """Intervals by the residuals of points that folds leave out."""
    mapie = package("mapie.regression")
    X, y = data
    model, folds = ks.KernelRidge(RBF(0.5), alpha=0.1), KFold(5)
    conformal = mapie.CrossConformalRegressor(model, confidence_level=0.8, cv=folds, method="base")
    predicted, intervals = conformal.fit_conformalize(X, y).predict_interval(X)
    model.fit(X, y)
    assert np.array_equal(predicted, model.predict(X))
    left_out = np.empty(40)
    for train, test in folds.split(X):
        left_out[test] = clone(model).fit(X[train], y[train]).predict(X[test])
    width = np.sort(np.abs(y - left_out))[int(np.ceil(0.8 * 41)) - 1]
    assert intervals[:, 1, 0] - predicted == pytest.approx(np.full(40, width), rel=1e-9)


def test_bayes_opt():
    """Its process replaced by ours, which says where to evaluate next."""
    bayes_opt = package("bayes_opt")
    search = bayes_opt.BayesianOptimization(
        lambda a, b: -((a - 0.3) ** 2) - (b + 0.2) ** 2,
        {"a": (-1, 1), "b": (-1, 1)},
        bayes_opt.acquisition.UpperConfidenceBound(kappa=1.0),
        random_state=0,
        verbose=0,
    )
    search._gp = ks.GaussianProcessRegressor("Matern(nu=2.5)", noise=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own
        search.maximize(init_points=4, n_iter=4)
    assert search.max["target"] > -0.02  # -0.093 is the best of the four random points


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no affinity on this system")
@pytest.mark.parametrize("threads", [1, 2])
def test_joblib_limits_the_threads_of_its_workers(threads):
    with joblib.parallel_config("loky", n_jobs=2, inner_max_num_threads=threads):
        told = joblib.Parallel()(joblib.delayed(ks.get_num_threads)() for _ in range(2))
    assert told == [min(threads, len(os.sched_getaffinity(0)))] * 2


@pytest.mark.slow
def test_threadpoolctl_limits_fits():
    """Its limit holds for what is loaded when it begins: the core is with the package, SciPy's BLAS with the first model."""
    code = """
        import numpy as np, threadpoolctl, kernsel as ks
        from threadpoolctl import threadpool_limits
        seen = []
        def trend(X):
            seen.append((ks.get_num_threads(), {pool["num_threads"] for pool in threadpoolctl.threadpool_info()}))
            return np.ones((len(X), 1))
        model = ks.GaussianProcessRegressor(trend=trend)
        with threadpool_limits(1):
            model.fit(np.arange(20.0)[:, None], np.sin(np.arange(20.0)))
        print(*set(map(str, seen)))
    """
    assert run(code) == "(1, {1})\n"
