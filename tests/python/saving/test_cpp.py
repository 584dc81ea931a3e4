"""Models on disk in C++: somebody else's program loads each, and predicts the same numbers."""

import shutil
import subprocess
import warnings

import numpy as np
import pytest

import kernsel as ks
from kernsel import kernels
from kernsel.kernels import RBF, Kernel, Linear, Matern

import children
import saved
from building import needs_a_compiler

pytestmark = needs_a_compiler
X, y, Z = saved.X, saved.y, saved.Z


@pytest.fixture(scope="module")
def predict(programs):
    """Return a function that has models predict at points, and returns the lines that were printed."""

    def of(points, *paths):
        numbers = " ".join(repr(float(value)) for value in np.ravel(points))
        text = f"{len(points)} {np.shape(points)[1]} {numbers}"
        environment = children.environment(KERNSEL_ISA=ks.show_config("dict")["isa"])
        command = [programs / "predict", *map(str, paths)]
        done = subprocess.run(command, input=text, env=environment, capture_output=True, text=True, check=True, timeout=120)
        lines = [line.partition(" ") for line in done.stdout.splitlines()]
        return [(name, rest.split() if name == "failed" else rest) for name, _, rest in lines]

    return of


def numbers(text, like):
    return np.array(text.split(), dtype=float).reshape(np.shape(like))


@pytest.mark.parametrize("name", saved.MODELS)
def test_predictions_are_the_same(name, predict, tmp_path):
    model = saved.model(name)
    ks.save(model, tmp_path / "a.ksl")
    lines = dict(predict(Z if "sparse" in name or "objects" in name else saved.points(name), tmp_path / "a.ksl"))
    none = ("class", "pairs", "softmax", "polynomials", "fourier", "sparse", "matrix", "stack", "objects", "draws")
    none += ("its noise", "slopes")
    if any(word in name for word in none):
        assert " ".join(lines["failed"]).startswith("1 model: one that C++ cannot predict with"), lines
        return
    Q = saved.points(name)
    observed = getattr(model, "likelihood", None) is not None  # predictions are then of the latent function
    expected = model.predict_latent(Q) if observed else model.predict(Q)
    outputs = 1 if expected.ndim == 1 else expected.shape[1]
    assert lines["model"].split()[0] == type(model).__name__
    assert lines["model"].split()[2:] == [str(model.n_features_in_), str(outputs)]
    # The same kernel matrix in the same order of sums; what differs is one sum over points, of terms of both signs.
    terms = np.abs(expected).max() + 100 * np.abs(saved.Y).max()
    np.testing.assert_allclose(numbers(lines["mean"], expected), expected, rtol=0, atol=1e3 * np.finfo(float).eps * terms)
    if isinstance(model, ks.GaussianProcessRegressor):
        std = (model.predict_latent(Q, True) if observed else model.predict(Q, return_std=True, noisy=False))[1]
        # variances, the differences of what is known before and after
        before = np.abs(model.kernel_.diag(saved.X).max() * np.max(model.scale_ * model._y_train_std**2))
        got = numbers(lines["deviation"], std)
        np.testing.assert_allclose(got**2, std**2, rtol=1e-8, atol=1e4 * np.finfo(float).eps * before)
    if observed:
        mean, std = model.predict(Q, return_std=True)
        np.testing.assert_allclose(numbers(lines["observed"], mean), mean, rtol=1e-8)
        np.testing.assert_allclose(numbers(lines["variance"], mean), std**2, rtol=1e-8)
        quantiles = model.predict_quantiles(Q, [0.1, 0.5])
        np.testing.assert_allclose(numbers(lines["quantiles"], quantiles), quantiles, rtol=1e-8)


# Kernels of five levels.
OF_LEVELS = (
    kernels.Exchangeable(0.3),
    kernels.GroupedLevels([[0, 3], [1, 2, 4]], 0.8, 0.5),
    kernels.CorrelatedLevels(2, [[1.0, -0.5], [0.2, 0.3], [0.1, 0.0], [2.0, 1.0], [-1.0, 0.4]]),
    kernels.Coregion(1, [[1.0], [-0.5], [0.2], [0.3], [1.5]], [0.1, 0.2, 0.3, 0.4, 0.5]),
    kernels.Inherited(1, [0.5, -2.0, 1.5]),
    *(kernels.OrderedLevels([0.3, 1.0, 0.2, 0.7], nu=nu) for nu in (0.5, np.inf)),
)


def every_kernel():
    """Yield kernels in which each class of kernsel.kernels is, with points of two columns."""
    columns = [1.3, 0.7]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from (
            RBF(columns),
            kernels.Exponential(columns),
            Matern(columns, nu=0.5),
            Matern(1.5, nu=1.5),
            Matern(columns, nu=2.5),
            Matern(columns, nu=np.inf),
            Matern(columns, nu=0.8),
            *(Matern(columns, nu=nu, product=True) for nu in (0.5, 1.5, 2.5, np.inf, 3.25)),
            kernels.RationalQuadratic(columns, alpha=0.7),
            kernels.ExpSineSquared(1.1, [2.0, 3.0]),
            kernels.Cosine(columns),
            *(kernels.Wendland([6.0, 7.0], smoothness=k) for k in (0, 1, 2)),
            kernels.SpectralMixture([1.0, 0.5], [[5.0, 4.0], [8.0, 2.0]], [[2.0, 2.5], [3.0, 1.5]]),
            kernels.DotProduct(0.3),
            kernels.DotProduct(0.0, length_scale=columns),
            Linear(columns),
            kernels.Polynomial(3, 0.4, columns),
            kernels.Sigmoid(-0.3, columns),
            kernels.RadialPair(columns),
            *(kernels.ArcCosine(k, 0.4, columns) for k in (0, 1, 2)),
            kernels.Brownian(),
            kernels.QuadraticForm([[1.0, -0.5], [0.2, 0.3], [0.1, 0.0]]),
            kernels.ConstantKernel(0.3),
            kernels.WhiteKernel(0.2),
            kernels.Precomputed(np.eye(5) + 0.3).on([0]),
            *(one.on([0]) for one in OF_LEVELS),
            RBF(1.0) + Linear(1.0) * RBF(2.0) + 3.0 * Matern(1.0),
            RBF(1.0) * (Linear(1.0) + kernels.Brownian()) ** 2,
            RBF(columns) ** 0.3,
            kernels.Exp(Linear(2.0)),
            kernels.PolynomialOf(Linear(1.0), [1.0, 0.0, 2.0]),
            RBF(0.7).on([1]) * Linear(1.0),
            kernels.Normalize(kernels.Polynomial(2, 1.0)),
            kernels.Composition(RBF(2.0), Linear(1.0)),
            kernels.Transform(RBF(1.0), [[1.0, 0.2], [0.0, 3.0]]),
            kernels.Functionals(0.7 * RBF(columns) + Matern(1.5, nu=2.5)),
            kernels.WarpedInputs(RBF(1.0), [0.7, 1.3], 1.6, lower=[-1.0, -2.0], upper=1.0),
        )


@pytest.mark.parametrize("kernel", list(every_kernel()), ids=repr)
def test_every_kernel(kernel, predict, tmp_path):
    indices = "Precomputed" in repr(kernel) or getattr(kernel, "kernel", None) in OF_LEVELS
    points, others = (np.floor(a) for a in (X, Z)) if indices else (X, Z)
    if isinstance(kernel, kernels.Functionals):
        points, others = kernel.slopes(X[: len(X) // 2]), kernel.values(Z)
    c = np.random.default_rng(1).standard_normal(len(points))
    model = ks.KernelRidge(kernel, alpha=1e3)
    model.fit(points, y)
    model.dual_coef_ = c
    ks.save(model, tmp_path / "a.ksl")
    lines = dict(predict(others, tmp_path / "a.ksl"))
    expected = model.predict(others)
    size = np.abs(kernel(others, points)) @ np.abs(c)
    atol = 100 * np.finfo(float).eps * max(size.max(), 1)
    np.testing.assert_allclose(numbers(lines["mean"], expected), expected, rtol=0, atol=atol)


def test_no_kernel_is_forgotten():
    seen = set()

    def walk(kernel):
        seen.add(type(kernel).__name__)
        for child in kernel.subkernels():
            walk(child)

    for kernel in every_kernel():
        walk(kernel)
    known = {name for name in kernels.__all__ if isinstance(k := getattr(kernels, name), type) and issubclass(k, Kernel)}
    assert known - seen == {"Kernel", "FunctionKernel", "HeteroscedasticNoise", "Warp"}


def test_kernels_with_functions_are_refused(predict, tmp_path):
    noisy = RBF(1.0) + kernels.HeteroscedasticNoise(np.full(len(X), 0.1))
    model = ks.GaussianProcessRegressor(noisy, optimizer=None).fit(X, y)
    ks.save(model, tmp_path / "a.ksl")
    (line,) = predict(Z, tmp_path / "a.ksl")
    assert line[0] == "failed"
    assert "its kernel has a function of Python" in " ".join(line[1])


def test_errors(predict, tmp_path):
    path = tmp_path / "a.ksl"
    ks.save(saved.model("gp"), path)
    shutil.copy(path, tmp_path / "short.ksl")
    (tmp_path / "short.ksl").write_bytes(path.read_bytes()[:-8])
    lines = predict(np.ones((2, 3)), path, tmp_path / "short.ksl", tmp_path / "none.ksl", tmp_path)
    assert [name for name, _ in lines] == ["model", "failed", "failed", "failed", "failed"]
    said = [" ".join(text) for name, text in lines if name == "failed"]
    assert said[0] == "1 Z: expected as many columns as the model has"
    assert said[1] == "1 model: the shape of an array is not that of its bytes in the file"
    assert said[2] == "1 model: the file cannot be opened"
    assert said[3].startswith("1 model: the file")
