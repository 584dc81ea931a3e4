"""Print what the foundation reaches: ``python -m bench.scaling``.

Everything is measured side by side in this run, as the best of several; the answers are asserted. Nothing else should run
meanwhile.
"""

import argparse
import json
import os
import subprocess
import sys
import threading

import numpy as np
import scipy
import scipy.linalg
import sklearn
from sklearn import kernel_ridge
from sklearn.metrics.pairwise import rbf_kernel

import kernsel as ks
from kernsel import _core
from kernsel.kernels import RBF, Matern

from bench.report import extra_memory, row
from bench.scaling.strings import spectrum, subsequences
from bench.scaling.transport import transport
from bench.timing import best, interleaved

EPS = np.finfo(float).eps


def positive(n, dtype=np.float64):
    """Return a matrix whose factor is not trivial, in O(n^2)."""
    B = np.random.default_rng(n).standard_normal((n, 8))
    return (B @ B.T + n * np.eye(n)).astype(dtype)


def factorizations(sizes):
    rate = _core.tile_product_rate()
    row("\ntile product, all threads", Gflops_double=rate / 1e9, Gflops_single=_core.tile_product_rate(single=True) / 1e9)
    for n in sizes:
        A = positive(n)
        factor = ks.linalg.cholesky(A)
        assert np.abs(factor.lower() - scipy.linalg.cholesky(A, lower=True)).max() <= 4 * n * EPS * np.sqrt(n)
        calls = (lambda A=A: ks.linalg.cholesky(A), lambda A=A: scipy.linalg.cholesky(A, lower=True))
        ours, theirs = interleaved(*calls, seconds=1.0)
        flops = n**3 / 3 / ours
        figures = {"Gflops": flops / 1e9}
        if n >= 2000:
            figures |= {"of_tile_product": (flops / rate, ">=", 0.7)}
            figures |= {"times_SciPy": (theirs / ours, ">=", 1.6 if n >= 8000 else 1.7)}
        elif n == 64:
            figures |= {"microseconds": (ours * 1e6, "<=", 10)}
        else:
            cold, cold_theirs = interleaved(*calls, seconds=1.0, pause=0.05)
            figures |= {"times_SciPy": (theirs / ours, ">=", 1.2), "after_50_ms_of_rest": (cold_theirs / cold, ">=", 1.2)}
        row(f"Cholesky, n = {n}", ours * 1e3, **figures)


def inverse_and_single():
    n = 4000
    A = positive(n)
    factor, single = ks.linalg.cholesky(A), A.astype(np.float32)
    rate = _core.tile_product_rate()
    inverse, diagonal, double, float32 = interleaved(
        factor.inverse, factor.inverse_diagonal, lambda: ks.linalg.cholesky(A), lambda: ks.linalg.cholesky(single), seconds=2.0
    )
    assert np.abs(factor.inverse() @ A[:, :3] - np.eye(n, 3)).max() <= 100 * n * EPS
    row(f"\ninverse from the factor, n = {n}", inverse * 1e3, of_tile_product=(2 * n**3 / 3 / inverse / rate, ">=", 0.65))
    row("diagonal of the inverse", diagonal * 1e3, of_the_inverse=diagonal / inverse)
    row("Cholesky, single precision", float32 * 1e3, times_double=(double / float32, ">=", 1.8))


def instruction_sets():
    """Print size x threads x instruction set, each against its own tile products; compare n = 2000 on all threads."""
    code = """
import json, numpy as np
from bench.scaling.__main__ import ks, positive
from bench.timing import best
from kernsel import _core
results = []
most = ks.get_num_threads()
for threads in sorted({1, most}):
    ks.set_num_threads(threads)
    rate = _core.tile_product_rate()
    for n in (300, 1000, 2000):
        A = positive(n)
        seconds = best(lambda: ks.linalg.cholesky(A), seconds=0.7)
        assert np.abs(ks.linalg.cholesky(A).lower() - np.linalg.cholesky(A)).max() <= 4 * n**1.5 * np.finfo(float).eps
        results.append((threads, n, seconds, n**3 / 3 / seconds / rate))
print(json.dumps(results))
"""
    print()
    slowest, targets = 0.0, {"avx512": (">=", 3.0), "avx2": (">=", 1.8)}
    for isa in ks.show_config("dict")["isa_available"]:
        environment = os.environ | {"KERNSEL_ISA": isa}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        for threads, n, seconds, fraction in json.loads(done.stdout):
            figures = {"Gflops": n**3 / 3 / seconds / 1e9, "of_tile_product": fraction}
            if n == 2000 and threads == ks.get_num_threads():
                slowest = slowest or seconds
                figures["times_base"] = (slowest / seconds, *targets[isa]) if isa in targets else slowest / seconds
            row(f"{isa:6s} {threads} threads, n = {n}", seconds * 1e3, **figures)


def gram():
    n, d = 5000, 10
    X = np.random.default_rng(0).standard_normal((n, d))
    kernel, ard = RBF(3.0), RBF(np.linspace(2.0, 4.0, d))
    assert np.abs(kernel(X) - rbf_kernel(X, gamma=1 / 18)).max() <= 100 * EPS

    def fill():
        """Fill as much fresh memory, half of it on each of two threads."""
        room = np.empty((n, n))
        other = threading.Thread(target=room[n // 2 :].fill, args=(1.0,))
        other.start()
        room[: n // 2].fill(1.0)
        other.join()
        return room

    ours, scaled, theirs, filled = interleaved(
        lambda: kernel(X), lambda: ard(X), lambda: rbf_kernel(X, gamma=1 / 18), fill, seconds=2.0, rounds=5
    )
    times = {"times_sklearn": (theirs / ours, ">=", 4.0), "times_a_fill": (ours / filled, "<=", 2.5)}
    row(f"\nRBF Gram, n = {n}, d = {d}", ours * 1e3, **times)
    row("one length scale for each column", scaled * 1e3, times_sklearn=(theirs / scaled, ">=", 4.0))
    row("fill of as much fresh memory", filled * 1e3)


def ridge():
    n, d = 5000, 10
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n, d)), rng.standard_normal(n)
    ours, theirs = ks.KernelRidge(RBF(3.0), alpha=0.1), kernel_ridge.KernelRidge(kernel="rbf", gamma=1 / 18, alpha=0.1)
    assert np.abs(ours.fit(X, y).predict(X[:50]) - theirs.fit(X, y).predict(X[:50])).max() <= n * EPS * 1e4
    mine, sklearns = interleaved(lambda: ours.fit(X, y), lambda: theirs.fit(X, y), seconds=4.0)
    extra = extra_memory(
        f"""
rng = np.random.default_rng(0)
X, y = rng.standard_normal(({n}, {d})), rng.standard_normal({n})
model = ks.KernelRidge(ks.kernels.RBF(3.0), alpha=0.1)
model.fit(X[:500], y[:500])
""",
        "model.fit(X, y)",
    )
    matrices = (extra - 64 * 2**20) / (8 * n * n)
    row(f"\nKernelRidge.fit, n = {n}, d = {d}", mine * 1e3, times_sklearn=(sklearns / mine, ">=", 2.5))
    row("its peak extra memory", MB=extra / 2**20, n_x_n_matrices_beyond_64_MB=(matrices, "<=", 0.7))


def known(n=10000, d=8):
    """Print what a fit with known hyperparameters takes beside kernel ridge regression: both are one factorization."""
    rng = np.random.default_rng(0)
    X, y, Z = rng.uniform(size=(n, d)), rng.standard_normal(n), rng.uniform(size=(2000, d))
    models = {
        "KernelRidge": "ks.KernelRidge(Matern(1.0, nu=1.5), alpha=0.1)",
        "GaussianProcessRegressor": "ks.GaussianProcessRegressor(Matern(1.0, nu=1.5), optimizer=None, noise=0.1)",
        "with a trend": "ks.GaussianProcessRegressor(Matern(1.0, nu=1.5), trend='linear', optimizer=None, noise=0.1)",
        "KernelInterpolator": "ks.KernelInterpolator(Matern(1.0, nu=1.5))",
    }
    fits = [eval(text, {"ks": ks, "Matern": Matern}) for text in models.values()]
    times = interleaved(*(lambda model=model: model.fit(X, y) for model in fits), seconds=0.0, rounds=2)
    assert np.abs(fits[0].predict(Z[:50]) - fits[1].predict(Z[:50])).max() <= 1e-8
    prepare = f"""
from kernsel.kernels import Matern
rng = np.random.default_rng(0)
X, y = rng.uniform(size=({n}, {d})), rng.standard_normal({n})
model = MODEL
model.fit(X[:500], y[:500])
"""
    print()
    for (name, text), seconds in zip(models.items(), times, strict=True):
        extra = extra_memory(prepare.replace("MODEL", text), "model.fit(X, y)")
        figures = {"n_x_n_matrices_beyond_64_MB": ((extra - 64 * 2**20) / (8 * n * n), "<=", 0.6)}
        if name != "KernelRidge":
            figures |= {"times_KernelRidge": (seconds / times[0], "<=", 1.15)}
        row(f"{name}, n = {n}", seconds * 1e3, **figures)
    deviations, means = interleaved(
        lambda: fits[1].predict(Z, return_std=True, noisy=False), lambda: fits[1].predict(Z), seconds=0.0, rounds=2
    )
    rate = len(Z) * n**2 / (deviations - means)
    of = {"Gflops": rate / 1e9, "of_tile_product": rate / _core.tile_product_rate()}
    row(f"standard deviations, {len(Z)} points", deviations * 1e3, **of)


def criteria(sizes):
    """Print what a value with all gradients costs, against n^3 flops at the rate of tile products, and against each other."""
    rate, d = _core.tile_product_rate(), 10
    print()
    for n in sizes:
        rng = np.random.default_rng(0)
        X, y = rng.standard_normal((n, d)), rng.standard_normal(n)
        kernel, room = 1.5 * RBF(np.linspace(2.0, 4.0, d)), ks.criteria.Workspace()

        def call(name, X=X, y=y, kernel=kernel, room=room, **options):
            return lambda: ks.evaluate(name, kernel, X, y, noise=0.1, gradient=True, workspace=room, **options)

        names = {"loo": {}, "gcv": {}, "kfold": {"folds": 10}, "kfold_log_density": {"folds": 10}}
        calls = [call("lml"), *(call(name, **options) for name, options in names.items())]
        lml, *others = interleaved(*calls, seconds=2.0)
        limit = n**3 / rate
        figures = {"of_tile_product": (limit / lml, ">=", 0.65) if n == 4000 else limit / lml}
        if n == 50:
            figures = {"microseconds": (lml * 1e6, "<=", 150)}
        row(f"likelihood and 12 derivatives, n = {n}", lml * 1e3, **figures)
        targets = {"loo": 2.3, "gcv": 2.4, "kfold": 1.5, "kfold_log_density": 2.4}
        for name, seconds in zip(names, others, strict=True):
            ratio = seconds / lml
            row(f"   {name}", seconds * 1e3, of_the_likelihood=(ratio, "<=", targets[name]) if n >= 1000 else ratio)
    if max(sizes) < 2000:
        return
    prepare = f"""
from kernsel.kernels import *
rng = np.random.default_rng(0)
X, y = rng.standard_normal((4000, {d})), rng.standard_normal(4000)
k = 1.5 * RBF(np.ones({d}))
"""
    for name in ("lml", "loo"):
        call_of = f"ks.evaluate({name!r}, k, X{{0}}, y{{0}}, noise=0.1, gradient=True)"
        extra = extra_memory(prepare + call_of.format("[:500]"), call_of.format(""))
        matrices = (extra - 64 * 2**20) / (8 * 4000 * 4000)
        row(f"peak extra memory, {name}, n = 4000", MB=extra / 2**20, n_x_n_matrices_beyond_64_MB=(matrices, "<=", 0.7))


def path():
    n = 2000
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n, 5)), rng.standard_normal(n)
    K = RBF(2.0)(X)

    def everything():
        path = ks.RegularizationPath(K, y, sigma=1.0)
        for rule in ("loo", "gcv", "lml", "reml", "risk", "discrepancy"):
            path.best(rule)

    ours, eigh = interleaved(everything, lambda: scipy.linalg.eigh(K), seconds=6.0, rounds=2)
    row(f"\npath, 200 lambda, six rules, n = {n}", ours * 1e3, of_one_eigh=(ours / eigh, "<=", 1.5))
    n = 500
    X, y = X[:n], y[:n]
    left_out = ks.loo(RBF(2.0), X, y, noise=0.1).residuals

    def refits():
        rest = np.empty(n)
        for i in range(n):
            kept = np.arange(n) != i
            model = ks.KernelRidge(RBF(2.0), alpha=0.1).fit(X[kept], y[kept])
            rest[i] = y[i] - model.predict(X[[i]])[0]
        return rest

    assert np.abs(refits() - left_out).max() <= 1e-9
    fast, slow = best(lambda: ks.loo(RBF(2.0), X, y, noise=0.1)), best(refits, seconds=0.0, repeats=1)
    row(f"leave-one-out, n = {n}", fast * 1e3, times_refits=(slow / fast, ">=", 200))


def main():
    parser = argparse.ArgumentParser(prog="python -m bench.scaling", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes: does it run, are the answers right?")
    quick = parser.parse_args().quick
    ks.show_config()
    print(f"NumPy {np.__version__}, SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}")
    factorizations([64, 200, 500] if quick else [64, 200, 300, 500, 700, 1000, 2000, 4000, 8000])
    criteria([50, 300] if quick else [50, 500, 1000, 2000, 4000])
    if quick:
        spectrum(100, seconds=0.1)
        subsequences(30, seconds=0.1)
        transport(50, 200, seconds=0.1)
        return
    path()
    inverse_and_single()
    instruction_sets()
    gram()
    ridge()
    known()
    spectrum()
    subsequences()
    transport()


if __name__ == "__main__":
    main()
