"""Fitted models of every kind that can be written, small and quick: for the tests of files, in Python and in C++."""

import warnings

import numpy as np
import pandas as pd
from scipy import sparse

import kernsel as ks
from kernsel import features
from kernsel.kernels import RBF, Linear, Matern, Parameter, Precomputed, WhiteKernel
from kernsel.kernels.priors import LogNormal
from kernsel.likelihoods import AsymmetricLaplace, CensoredGaussian, HeteroscedasticGaussian, Ordinal, StudentT
from kernsel.structured import BagOfItems, MeanEmbedding, Mixed, Spectrum

rng = np.random.default_rng(7)
X = rng.uniform(0, 4, (40, 2))
Z = rng.uniform(0, 4, (9, 2))
y = np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.05 * rng.standard_normal(40)
Y = np.column_stack([y, X[:, 1] ** 2 - y])
labels = np.digitize(X[:, 0] + 0.3 * rng.standard_normal(40), [1.5, 2.7])
table = pd.DataFrame(X, columns=["width", "height \u00fc"])
K = Matern(2.0, nu=2.5)(X)
weights = np.where(np.arange(40) % 7 == 0, 0.0, 1.0 + X[:, 0])

gp, krr, cv, svr, gpc, ridge = (
    ks.GaussianProcessRegressor,
    ks.KernelRidge,
    ks.KernelRidgeCV,
    ks.SVR,
    ks.GaussianProcessClassifier,
    ks.RidgeRegression,
)
two = labels > 0
counts = rng.poisson(np.exp(1.0 + np.sin(X[:, 0])))
stack = ks.StackedRegressor
rough = np.where(X[:, 0] > 2, 1.0, np.sin(4 * X[:, 0])) + 0.1 * X[:, 1] + 0.2 * rng.standard_normal(40)
given = {"noise": np.full(40, 0.05), "optimizer": None, "trend": "constant"}

drawn = ["".join(rng.choice(list("ACGT"), 6)) for _ in range(16)]
sets = [rng.uniform(size=(2 + i % 3, 2)) for i in range(16)]
objects = Mixed(X=rng.uniform(0, 4, (16, 2)), s=drawn, bag=[tuple(s) for s in drawn], set=sets)

# Each by name: how to make it, fitted.
MODELS = {
    "gp": lambda: gp().fit(X, y),
    "gp of a table, two outputs": lambda: gp(scale="each", trend="linear", normalize_y=True).fit(table, Y),
    "gp with trend": lambda: gp("RBF", trend="quadratic", noise=0.01, criterion="reml").fit(X, y),
    "gp with noise of each point": lambda: gp(
        RBF(Parameter([1.0, 2.0], prior=LogNormal(0.0, 1.0), name="l")) + WhiteKernel(0.1, "fixed"),
        noise=0.01 + 0.01 * X[:, 0],
        alpha=np.full(40, 1e-3),
        criterion="loo_log_density",
    ).fit(X, y),
    "gp with slopes and averages": lambda: gp("RBF", trend="linear", alpha=np.full(20, 1e-3)).fit(
        X[:20],
        y[:20],
        slopes=(X[:9], np.column_stack([np.cos(X[:9, 0]), Y[:9, 0]])),
        averages=(Z, np.add(Z, [0.1, 0.0]), Z[:, 0]),
    ),
    "gp by evidence": lambda: gp("RBF", criterion="evidence").fit(X, y),
    "gp by neighbours": lambda: gp("RBF", trend="linear", approximation=ks.Vecchia(8, 12)).fit(table, y),
    "gp refined": lambda: gp(RBF(1.0), optimizer=None, noise=0.1, trend="linear", approximation=ks.Nystrom(9, refine=True)).fit(
        table, Y[:, 0]
    ),
    "gp by landmarks": lambda: gp(2.0 * RBF(1.0), optimizer=None, noise=0.1, trend="linear", approximation=ks.Nystrom(9)).fit(
        table, Y
    ),
    "gp left as it is": lambda: gp(2.0 * Matern([1.0, 2.0], nu=1.5), optimizer=None, noise=0.1).fit(X, Y),
    "gp of scikit-learn's kernel": lambda: gp(None, alpha=1e-2).fit(X, y),
    "gp updated": lambda: gp(noise="auto", trend="constant").fit(X[:30], y[:30]).update(X[30:], y[30:]).downdate(3),
    "gp of counts": lambda: gp("RBF", likelihood="poisson").fit(table, counts, exposure=1.0 + X[:, 0]),
    "gp of heavy tails": lambda: gp("RBF", likelihood=StudentT(df=4.0, df_bounds="fixed"), approximation=ks.Vecchia(8, 12)).fit(
        X, y
    ),
    "gp of quantiles": lambda: gp(RBF(1.0), optimizer=None, likelihood=AsymmetricLaplace(0.9), approximation=ks.Nystrom(9)).fit(
        X, y
    ),
    "gp of censored numbers": lambda: gp(
        RBF(1.0), optimizer=None, trend="linear", likelihood=CensoredGaussian(upper=1.5, noise=0.01)
    ).fit(X, np.minimum(y, 1.5)),
    "gp of grades": lambda: gp(RBF(1.0), optimizer=None, likelihood=Ordinal(3, (-0.5, 0.5))).fit(X, labels),
    "gp with its noise": lambda: gp(likelihood=HeteroscedasticGaussian(), trend="linear", max_evaluations=4).fit(X, y),
    "gp of draws": lambda: gp(1.0 * RBF(1.0, "fixed"), hyperparameters="sample", noise=0.01, n_draws=2).fit(X[:9], y[:9]),
    "gp of draws of counts": lambda: gp(RBF(1.0, "fixed"), likelihood="poisson", inference="mcmc", n_draws=1600).fit(
        X[:6], counts[:6]
    ),
    "stack": lambda: stack(
        [gp("RBF", noise="auto"), gp("Matern(nu=0.5)", noise="auto"), gp("Matern(nu=1.5)", noise="auto")]
    ).fit(X, rough),
    "stack of a table, two outputs": lambda: stack([gp(RBF([1.0, 2.0]), **given), gp(noise=0.1, criterion="loo")]).fit(
        table, Y
    ),
    "ridge of a kernel": lambda: krr("rbf", alpha=0.1, gamma=0.5).fit(X, Y),
    "ridge by neighbours": lambda: krr("RBF", approximation=ks.Vecchia(8, 12)).fit(table, Y, sample_weight=weights),
    "ridge by landmarks": lambda: krr(RBF(1.0), alpha=0.1, fit_intercept=True, approximation=ks.Nystrom(X[:8])).fit(
        X, y, sample_weight=weights
    ),
    "ridge chosen": lambda: krr(alpha="auto", fit_intercept=True).fit(table, y, sample_weight=weights),
    "ridge along a path": lambda: krr("rbf", alpha="auto", criterion="lcurve", fit_intercept=True).fit(X, y, weights),
    "ridge in single precision": lambda: krr(RBF(1.0), alpha=[0.1, 0.2], alpha_scale="n").fit(
        X.astype(np.float32), Y.astype(np.float32)
    ),
    "ridge of a matrix": lambda: krr("precomputed", alpha="auto").fit(K, y),
    "ridge of a matrix, by a search": lambda: krr("precomputed", alpha="auto", criterion="loo_crps").fit(K, y),
    "ridge of rows": lambda: krr(Precomputed(K) * RBF(9.0), alpha=0.1).fit(np.arange(40.0)[:, None], y),
    "ridge of objects": lambda: krr(RBF("auto").on(["X"]) + BagOfItems().on(["bag"]), alpha="auto").fit(objects[:6], y[:6]),
    "gp of objects": lambda: gp(
        2.0 * RBF(3.0) @ Spectrum(2).on(["s"]) + MeanEmbedding(RBF(1.0)).on(["set"]), optimizer=None, noise=0.1
    ).fit(objects[:6], y[:6]),
    "cv": lambda: cv("rbf", criterion="gcv", fit_intercept=True).fit(X, Y, sample_weight=weights),
    "cv of each target": lambda: cv(RBF(1.0), alpha_per_target=True, alphas=[0.01, 0.1, 1.0]).fit(X, Y),
    "cv by landmarks": lambda: cv("rbf", fit_intercept=True, approximation=ks.Nystrom(15)).fit(table, Y, weights),
    "cv of each target by given landmarks": lambda: cv(
        RBF(1.0), criterion="reml", alphas=[0.1, 1.0], alpha_per_target=True, approximation=ks.Nystrom(X[:9])
    ).fit(X, Y),
    "interpolator": lambda: ks.KernelInterpolator().fit(X, np.sin(X)),
    "interpolator of low rank": lambda: ks.KernelInterpolator(RBF(3.0)).fit(X, np.sin(X[:, 0])),
    "svr": lambda: svr(C=10.0).fit(X, y),
    "svr chosen": lambda: svr(C="auto", epsilon="auto", criterion="loo").fit(table, y, sample_weight=weights),
    "svr without errors": lambda: svr("rbf", C=np.inf, epsilon=0.2).fit(X, y),
    "svr without support": lambda: svr("rbf", epsilon=10.0).fit(X, y),
    "svr of a matrix": lambda: svr("precomputed").fit(K, y),
    "svr of sparse points": lambda: svr(Linear(1.0)).fit(sparse.csr_matrix(np.where(X > 1, X, 0)), y),
    "classes by support vectors": lambda: ks.SVC(C=3.0, class_weight={"up": 2.0, "down": 1}).fit(
        table, np.where(two, "up", "down"), weights
    ),
    "three classes of sparse points": lambda: ks.SVC("rbf", break_ties=True).fit(
        sparse.csr_matrix(np.where(X > 1, X, 0)), labels
    ),
    "one class": lambda: ks.OneClassSVM(nu=0.3).fit(table),
    "one class of a matrix": lambda: ks.OneClassSVM("precomputed").fit(K),
    "robust": lambda: ks.KernelHuberRegressor(alpha=0.1, delta=0.2).fit(table, y, weights),
    "quantile": lambda: ks.KernelQuantileRegressor("rbf", quantile=0.8).fit(X, y),
    "linear": lambda: ridge().fit(X, Y),
    "linear, dual": lambda: ridge(alpha=0.5, solver="dual", fit_intercept=False).fit(table, y),
    "polynomials": lambda: ridge(features.Polynomial(3), criterion="reml").fit(table, y, sample_weight=weights),
    "radial basis": lambda: ridge(features.RadialBasis(8), alpha_per_target=True).fit(X, Y),
    "fourier": lambda: ridge(features.Fourier(30, random_state=0)).fit(X, y),
    "classes": lambda: gpc(random_state=0).fit(table, np.where(two, "up", "down")),
    "classes by ep": lambda: gpc("RBF", inference="ep", link="probit").fit(X, two),
    "classes by draws": lambda: gpc(2.0 * RBF(1.0), optimizer=None, inference="mcmc", n_samples=40, n_burn=20).fit(X, two),
    "three classes": lambda: gpc(2.0 * RBF(1.0), optimizer=None).fit(X, labels),
    "three pairs": lambda: gpc(2.0 * RBF(1.0), optimizer=None, multi_class="one_vs_one").fit(X, labels.astype(np.uint8)),
    "softmax": lambda: gpc(2.0 * RBF(1.0), multi_class="multinomial", max_evaluations=5).fit(X, labels.astype(float)),
}
_made = {}


def model(name):
    """Return a model, made once."""
    if name not in _made:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _made[name] = MODELS[name]()
    return _made[name]


def points(name):
    """Return points to predict at."""
    if "of objects" in name:
        return objects[12:]
    if name == "ridge of rows":
        return np.array([[0.0], [3.0], [39.0]])
    if "of a matrix" in name:
        return Matern(2.0, nu=2.5)(Z, X)
    if hasattr(model(name), "feature_names_in_"):
        return pd.DataFrame(Z, columns=table.columns)
    return sparse.csr_matrix(Z) if "sparse" in name else Z
