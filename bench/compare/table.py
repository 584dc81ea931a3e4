"""The table of the benchmarks' page: what people do, how long it takes here and with the packages that do it, wins and losses.

Every task is one line. Its calls are timed in turns, after their answers have been compared. A package that is not installed,
or does not do it, has no entry.
"""

import platform
import subprocess
import sys
import warnings
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn import gaussian_process as sk_gp
from sklearn.gaussian_process import kernels as sk
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVR

import kernsel as ks
from kernsel.kernels import RBF, ConstantKernel, Matern, from_sklearn

from bench.compare import classification, criteria, fits, support
from bench.compare.functions import FUNCTIONS
from bench.compare.peers import PEERS
from bench.timing import interleaved

__all__ = ["print_table"]

PACKAGES = {
    "kernsel": "kernsel",
    "scikit-learn": "scikit-learn",
    "GPy": "GPy",
    "GPyTorch": "gpytorch",
    "pylibkriging": "pylibkriging",
}


def print_table(quick=False):
    """Print the machine, the versions and the table, in Markdown."""
    print(f"{processor()}, {ks.get_num_threads()} threads; {', '.join(versions())}\n")
    print(f"| what | {' | '.join(PACKAGES)} |")
    print("|---" * (1 + len(PACKAGES)) + "|", flush=True)
    for task in TASKS:
        name, times = task(quick)
        shown = [readable(times.get(package), times["kernsel"], package) for package in PACKAGES]
        print(f"| {name} | {' | '.join(shown)} |", flush=True)


def readable(seconds, ours, package):
    """Return a time, and how many times ours it is."""
    if seconds is None:
        return ""
    text = next(
        f"{seconds * scale:.3g} {unit}" for scale, unit in ((1e6, "µs"), (1e3, "ms"), (1.0, "s")) if seconds * scale < 1000
    )
    return f"**{text}**" if package == "kernsel" else f"{text} ({seconds / ours:.2g}x)"


def processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def versions():
    for package in ("kernsel", "scikit-learn", "GPy", "GPyTorch", "pylibkriging", "NumPy", "SciPy"):
        try:
            yield f"{package} {version(package)}"
        except PackageNotFoundError:
            yield f"{package} not installed"


def timed(calls, seconds):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of optimizers at a bound
        return dict(zip(calls, interleaved(*calls.values(), seconds=seconds, rounds=2), strict=True))


def gaussian(n, d):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, d)), rng.standard_normal(n)


def gram(quick):
    n = 300 if quick else 4000
    X, _ = gaussian(n, 10)
    theirs = sk.Matern(np.linspace(2.0, 4.0, 10), nu=2.5)
    ours = from_sklearn(theirs)
    assert np.abs(ours(X[:300]) - theirs(X[:300])).max() <= 1000 * np.finfo(float).eps
    calls = {"kernsel": lambda: ours(X), "scikit-learn": lambda: theirs(X)}
    return f"Matern 5/2 matrix, a length scale a column, n = {n}, d = 10", timed(calls, 2.0)


def likelihood(n):
    def task(quick):
        size = 100 if quick else n
        X, y = gaussian(size, 10)
        scales = np.linspace(2.0, 4.0, 10)
        kernel, room = criteria.VARIANCE * RBF(scales), ks.criteria.Workspace()
        calls = {"kernsel": lambda: ks.evaluate("lml", kernel, X, y, noise=criteria.NOISE, gradient=True, workspace=room).value}
        makes = {
            "scikit-learn": ("sklearn", criteria.sklearn_likelihood),
            "GPy": ("GPy", criteria.gpy_likelihood),
            "GPyTorch": ("gpytorch", criteria.gpytorch_likelihood),
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, (module, make) in makes.items():
                if find_spec(module):
                    calls[name] = make(X, y, scales)
                    assert abs(calls[name]() - calls["kernsel"]()) <= 1e-6 * abs(calls["kernsel"]())
        return f"log likelihood and its 12 derivatives, n = {size}", timed(calls, 2.0)

    return task


def leave_one_out(quick):
    n, d = 100 if quick else 2000, 10
    rng = np.random.default_rng(0)
    X, y, scales = rng.uniform(size=(n, d)), rng.standard_normal(n), np.linspace(0.2, 0.4, d)
    kernel, room = RBF(scales), ks.criteria.Workspace()
    calls = {"kernsel": lambda: ks.evaluate("loo", kernel, X, y, trend="constant", gradient=True, workspace=room).value}
    if find_spec("pylibkriging"):
        import pylibkriging

        given = {"theta": scales[None], "is_theta_estim": False}
        model = pylibkriging.Kriging(y, X, "gauss", "constant", False, "none", "LL", given)
        calls["pylibkriging"] = lambda: model.leaveOneOutFun(scales, True)[0]
        assert abs(calls["pylibkriging"]() - calls["kernsel"]()) <= 1e-6 * abs(calls["kernsel"]())
    return f"leave-one-out error and its derivatives, n = {n}", timed(calls, 2.0)


def fit(case, n, noisy=False):
    def task(quick):
        size = 40 if quick else n
        f = FUNCTIONS[case]
        X = f.design(size, 0)
        y = f(X)
        if noisy:
            y = y + y.std() / 10 * np.random.default_rng(0).standard_normal(size)
        kernel = ConstantKernel("auto") * Matern("auto", nu=2.5, product=True)
        noise = "auto" if noisy else 0.0
        calls = {"kernsel": lambda: ks.GaussianProcessRegressor(kernel, trend="constant", noise=noise).fit(X, y)}
        names = {"scikit-learn": "scikit-learn", "GPy": "GPy", "pylibkriging": "pylibkriging"}
        for name, peer in names.items():
            if PEERS[peer].installed and size <= PEERS[peer].largest:
                calls[name] = lambda peer=peer: PEERS[peer].fit(X, y, noisy)
        said = "with noise" if noisy else "no noise"
        return f"fit of a Gaussian process by likelihood, {said}, n = {size}, d = {f.d}", timed(calls, 1.0)

    return task


def predict(quick):
    n, m = (100, 1000) if quick else (1000, 20000)
    f = FUNCTIONS["wing"]
    X, Z = f.design(n, 0), f.uniform(m, 1)
    y = f(X) + np.random.default_rng(0).standard_normal(n)
    scales = np.ptp(X, axis=0)
    theirs = sk_gp.GaussianProcessRegressor(1e4 * sk.Matern(scales, nu=2.5), alpha=1.0, optimizer=None).fit(X, y)
    ours = ks.GaussianProcessRegressor(1e4 * Matern(scales, nu=2.5), alpha=1.0, optimizer=None).fit(X, y)
    calls = {
        "kernsel": lambda: ours.predict(Z, return_std=True, noisy=False),
        "scikit-learn": lambda: theirs.predict(Z, return_std=True),
    }
    for mine, other in zip(calls["kernsel"](), calls["scikit-learn"](), strict=True):
        assert np.abs(mine - other).max() <= 1e-5 * np.abs(other).max()
    return f"mean and standard deviation at {m:,} points, n = {n}", timed(calls, 2.0)


def ridge(n):
    def task(quick):
        size = 100 if quick else n
        X, y = gaussian(size, 10)
        ours, theirs = ks.KernelRidge(RBF(3.0), alpha=1e-2), KernelRidge(kernel="rbf", gamma=0.5 / 9, alpha=1e-2)
        assert np.abs(ours.fit(X, y).predict(X) - theirs.fit(X, y).predict(X)).max() <= 1e-8
        calls = {"kernsel": lambda: ours.fit(X, y), "scikit-learn": lambda: theirs.fit(X, y)}
        return f"kernel ridge regression, n = {size}", timed(calls, 2.0)

    return task


def best_ridge(quick):
    n, count = (100, 10) if quick else (2000, 200)
    alphas = np.logspace(-8, 2, count)
    X, y, _, _ = fits.noisy_friedman(n, 0)
    calls = {
        "kernsel": lambda: ks.KernelRidgeCV(RBF(1.0), alphas=alphas).fit(X, y),
        "scikit-learn": lambda: fits.grid_search(X, y, 1.0, alphas),
    }
    mine, _ = fits.timed(calls["kernsel"], 2.0)
    assert alphas[0] < mine.alpha_ < alphas[-1]
    times = {name: fits.timed(call, 2.0 if name == "kernsel" else 0.0)[1] for name, call in calls.items()}
    return f"the best of {count} values of alpha, n = {n} (scikit-learn: grid search, 5 folds)", times


def support_vectors(n):
    def task(quick):
        size = 200 if quick else n
        X, y = support.data(size)
        _, a, b = support.theirs(X, y, 10.0, 1.0, 1e-3)
        objective, left = support.gap(RBF(1.0), X, y, 10.0, a, b)
        ours = ks.SVR(RBF(1.0), C=10.0, epsilon=support.EPSILON, tol=left / objective)
        theirs = SVR(kernel="rbf", gamma=0.5, C=10.0, epsilon=support.EPSILON, cache_size=500)
        assert ours.fit(X, y).duality_gap_ <= 1.01 * left
        calls = {"kernsel": lambda: ours.fit(X, y), "scikit-learn": lambda: theirs.fit(X, y)}
        return f"support vector regression, n = {size}, same duality gap (scikit-learn: LIBSVM)", timed(calls, 1.0)

    return task


def classify(quick):
    n = 100 if quick else 1000
    X, y = classification.generated(n)
    start = sk.ConstantKernel(1.0, (1e-5, 1e5)) * sk.RBF(1.0, (1e-5, 1e5))
    ours = ks.GaussianProcessClassifier(start, inference="laplace", link="logistic", random_state=0)
    theirs = sk_gp.GaussianProcessClassifier(start, random_state=0)
    calls = {"kernsel": lambda: ours.fit(X, y), "scikit-learn": lambda: theirs.fit(X, y)}
    times = timed(calls, 0.0)
    assert ours.log_marginal_likelihood_value_ >= theirs.log_marginal_likelihood_value_ - 1e-3
    return f"Gaussian process classification, hyperparameters found, n = {n}, d = 5", times


def imports(quick):
    del quick
    modules = {"kernsel": "kernsel", "scikit-learn": "sklearn.gaussian_process, sklearn.kernel_ridge, sklearn.svm"}
    modules |= {
        name: module
        for name, module in {"GPy": "GPy", "GPyTorch": "gpytorch", "pylibkriging": "pylibkriging"}.items()
        if find_spec(module)
    }
    calls = {
        name: lambda module=module: subprocess.run([sys.executable, "-W", "ignore", "-c", f"import {module}"], check=True)
        for name, module in modules.items()
    }
    return "import, in a new process", timed(calls, 0.0)


TASKS = [
    gram,
    likelihood(50),
    likelihood(1000),
    likelihood(4000),
    leave_one_out,
    fit("wing", 50),
    fit("otl", 200),
    fit("otl", 1000),
    fit("wing", 100, noisy=True),
    predict,
    ridge(20),
    ridge(5000),
    best_ridge,
    support_vectors(1000),
    support_vectors(10000),
    classify,
    imports,
]
