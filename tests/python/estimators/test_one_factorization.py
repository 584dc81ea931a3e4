"""A fit with known hyperparameters: one factorization, in the memory of one factor, and nothing is lost by that."""

import pickle
import sys

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF, FunctionKernel, WhiteKernel

import reference
from children import run
from criterion_cases import AT_GIVEN

GP = ks.GaussianProcessRegressor
MODELS = {
    "process": "GP(k, optimizer=None, noise=0.1)",
    "trend": "GP(k, optimizer=None, noise=0.1, trend='linear', criterion='reml', scale='each')",
    "leave-one-out": "GP(k, optimizer=None, noise=0.1, criterion='loo')",
    "ridge": "ks.KernelRidge(k, alpha=0.1)",
    "ridge, several": "ks.KernelRidge(k, alpha=[0.1, 1.0], fit_intercept=True)",
    "interpolator": "ks.KernelInterpolator(k)",
}


class Counting:
    """A kernel as a function that counts the elements of which it was asked."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.elements = 0

    def __call__(self, X, Z):
        self.elements += len(X) * len(Z)
        return self.kernel(X, Z)


def lower_tiles(n, tile=96):
    """Return how many elements the lower tiles of an n x n matrix have, whole on the diagonal."""
    rows = np.minimum(tile, n - np.arange(0, n, tile))
    return int(sum(rows[i] * rows[: i + 1].sum() for i in range(len(rows))))


@pytest.fixture
def data(rng):
    X = rng.uniform(size=(300, 2))
    return X, np.column_stack([np.sin(5 * X[:, 0]) + X[:, 1], X[:, 0] - X[:, 1] ** 2]) + 0.1 * rng.standard_normal((300, 2))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"trend": "linear", "criterion": "reml"},
        {"criterion": "profiled_lml", "normalize_y": True},
        {"scale": "each"},
        {"criterion": "map"},
        {"criterion": "loo"},
        {"criterion": "kfold"},
    ],
    ids=str,
)
def test_a_process_asks_for_each_element_once(data, options):
    X, Y = data
    function = Counting(RBF(0.5))
    gp = GP(FunctionKernel(function), optimizer=None, noise=0.1, **options).fit(X, Y)
    assert gp.log_marginal_likelihood() == gp.log_marginal_likelihood_value_
    assert function.elements == lower_tiles(300)


def test_ridge_asks_for_each_element_once(data):
    X, Y = data
    function = Counting(RBF(0.5))
    ks.KernelRidge(FunctionKernel(function), alpha=0.1).fit(X, Y)
    assert function.elements == lower_tiles(300)


def test_the_end_of_a_search_takes_one_factorization(data):
    """An optimizer's best place has been evaluated; the scale of the kernel, which GCV does not see, comes with its value."""
    X, Y = data
    function = Counting(RBF(0.5))
    kernel = 1.0 * FunctionKernel(function)
    seen = []

    def optimizer(objective, theta, **_):
        seen.append(function.elements)
        value = objective(theta)[0]
        seen.append(function.elements)
        return theta, value

    gp = GP(kernel, noise=0.1, optimizer=optimizer).fit(X, Y)
    start, end = seen
    assert gp.n_evaluations_ == 1
    assert function.elements == end + lower_tiles(300)
    for count in (1, 3):
        function.elements = 0
        gp = GP(kernel, noise="auto", criterion="gcv", max_evaluations=count).fit(X, Y)
        assert gp.n_evaluations_ == count
        # A step also asks for dK/dtheta c, from the whole matrix for each output.
        assert function.elements == start + count * (end - start + Y.shape[1] * 300**2) + lower_tiles(300)


@pytest.fixture(scope="module")
def memory_of_models():
    """Return the memory of each fit over that of a matrix: each in a child of one process that has imported what it needs."""
    code = """
        import os, numpy as np, kernsel as ks
        GP, k, n = ks.GaussianProcessRegressor, ks.kernels.Matern([0.3] * 4, nu=0.5), 4000
        X = np.random.default_rng(0).standard_normal((n, 4))
        Y = np.column_stack([np.sin(X.sum(axis=1)), X[:, 0] ** 2])
        def memory(name):
            lines = open("/proc/self/status").read().splitlines()
            return next(1024 * int(line.split()[1]) for line in lines if line.startswith(name))
        for text in TEXTS:
            if os.fork() == 0:  # the peak of its memory is its own
                model = eval(text)
                model.fit(X[:500], Y[:500])  # what is loaded and kept for any size
                before = memory("VmRSS")
                model.fit(X, Y)
                print((memory("VmHWM") - before) / (8 * n * n), flush=True)
                os._exit(0)
            os.wait()
    """
    return dict(zip(MODELS, map(float, run(code.replace("TEXTS", repr(list(MODELS.values())))).split()), strict=True))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of memory from /proc")
@pytest.mark.parametrize("name", MODELS)
def test_memory_for_one_factor(name, memory_of_models):
    assert 0.4 < memory_of_models[name] < 0.6 + 16 * 2**20 / (8 * 4000**2)


@pytest.mark.parametrize("trend", [None, "constant", "linear"])
@pytest.mark.parametrize("criterion", [name for name in AT_GIVEN if name != "risk"])
def test_the_value_of_any_criterion(data, criterion, trend):
    X, Y = data[0][:60], data[1][:60]
    kernel = 1.3 * RBF([0.4, 0.6]) + WhiteKernel(0.02)
    noise = np.linspace(0.05, 0.1, 60)
    gp = GP(kernel, optimizer=None, noise=noise, alpha=0.0, trend=trend, criterion=criterion).fit(X, Y)
    expected = ks.evaluate(criterion, kernel, X, Y, noise=noise, trend=trend).value
    assert gp.criterion_value_ == pytest.approx(expected, rel=1e-10)
    found = gp.posterior_
    if criterion in ("lml", "reml"):
        value = reference.criterion(criterion, kernel(X), noise, found.H, Y)
        assert gp.criterion_value_ == pytest.approx(value, rel=1e-10)


def test_a_value_that_is_asked_for_late(data):
    X, Y = data[0][:60], data[1][:60]
    kernel = RBF(0.5)
    expected = ks.evaluate("loo", kernel, X, Y, noise=0.1).value
    for change in (
        lambda gp: gp,
        lambda gp: pickle.loads(pickle.dumps(gp)),
        lambda gp: gp.update([[0.5, 0.5]], [[1.0, 1.0]]),
        lambda gp: gp.downdate(3),
        lambda gp: gp.set_params(criterion="gcv"),
    ):
        gp = GP(kernel, optimizer=None, noise=0.1, alpha=0.0, criterion="loo").fit(X, Y)
        assert "criterion_value_" not in vars(gp)
        assert change(gp).criterion_value_ == pytest.approx(expected, rel=1e-10)
    gp.set_params(criterion="lml").fit(X, Y)
    assert gp.criterion_value_ == pytest.approx(gp.log_marginal_likelihood_value_, rel=1e-12)
    assert not hasattr(GP(kernel), "criterion_value_")


def test_a_criterion_that_cannot_be_evaluated_is_refused_by_fit(data):
    X, Y = data[0][:60], data[1][:60]
    with pytest.raises(ValueError, match="sigma: the unbiased risk needs"):
        GP(RBF(0.5), optimizer=None, noise=0.1, criterion="risk").fit(X, Y)
    with pytest.raises(ValueError, match="leverage"):
        GP(RBF(0.5), optimizer=None, noise=0.1, criterion="loo", trend=lambda X: np.eye(60)[:, :2]).fit(X, Y)
    with pytest.raises(ValueError, match="folds"):
        GP(RBF(0.5), optimizer=None, noise=0.1, criterion=ks.criteria.GroupsOut(100)).fit(X, Y)
