"""Many points by landmarks: criteria, the path of lambda, memory, and peers with as many landmarks.

``python -m bench.compare large`` has it at its end, ``python -m bench.compare landmarks`` alone. GPyTorch and GPBoost
count if they are installed.
"""

import resource
import time
import warnings
from importlib.util import find_spec
from multiprocessing import get_context

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline

import kernsel as ks
from kernsel._core import tile_product_rate
from kernsel.criteria import Workspace
from kernsel.kernels import RBF, ConstantKernel, Matern

from bench.report import row
from bench.timing import best

__all__ = ["compare"]

ALPHAS = np.logspace(-3, 4, 100)


def points(n, d, seed=0):
    """Return points and targets with much noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, d))
    f = np.sin(6 * X[:, 0]) + X.sum(axis=1)
    return X, f + rng.standard_normal(n), f


def criteria(n, d, m):
    """Time gradients of a likelihood and of leave-one-out criteria, in parts of the machine's rate of products."""
    X, y, _ = points(n, d)
    kernel = 1.0 * Matern(np.linspace(0.5, 1.5, d), nu=2.5)
    given, rate = ks.Nystrom(X[:m]), tile_product_rate()
    print(f"\nn = {n}, d = {d}, {m} landmarks: value and gradient in {kernel.n_dims} hyperparameters and the noise")
    for name, flops in (("lml", 3), ("loo", 7), ("loo_log_density", 7)):
        workspace = Workspace()

        def call(name=name, workspace=workspace):
            return ks.evaluate(name, kernel, X, y, noise=1.0, gradient=True, approximation=given, workspace=workspace)

        seconds = best(call, repeats=2)
        share = flops * n * m**2 / seconds / rate
        row(name, seconds * 1e3, of_product_rate=(share, ">=", 0.6) if name == "loo" and n >= 100_000 else share)


def likelihood(n, d, m):
    """Time one likelihood with its gradient, and the memory beside X."""
    X, y, _ = points(n, d)
    kernel, given = 1.0 * Matern(np.linspace(0.5, 1.5, d), nu=2.5), ks.Nystrom(X[:m])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    ks.evaluate("lml", kernel, X, y, noise=1.0, gradient=True, approximation=given)
    seconds = time.perf_counter() - start
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**20
    print(f"\nn = {n}, d = {d}, {m} landmarks")
    row("likelihood and gradient", seconds * 1e3, seconds=(seconds, "<=", 40), more_GiB=(more, "<=", 1.0))


def path(n, d, m):
    """Time KernelRidgeCV by leave-one-out errors for 100 values of lambda."""
    X, y, f = points(n, d)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    model = ks.KernelRidgeCV(RBF(1.0), alphas=ALPHAS, fit_intercept=True, approximation=ks.Nystrom(m)).fit(X, y)
    seconds = time.perf_counter() - start
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**20
    error = np.sqrt(np.mean((model.predict(X[:20_000]) - f[:20_000]) ** 2))
    row("KernelRidgeCV, 100 lambdas", seconds * 1e3, seconds=(seconds, "<=", 40), rmse=error, more_GiB=(more, "<=", 1.0))


def peers(n, d, m, fewer):
    """Fit with the landmarks of peers, or as many, and compare errors of f at new points."""
    X, y, _ = points(n, d)
    Z, _, truth = points(5_000, d, 1)

    def told(label, call):
        start = time.perf_counter()
        mean = call()
        seconds = time.perf_counter() - start
        error = np.sqrt(np.mean((mean - truth) ** 2))
        row(f"  {label}", seconds * 1e3, rmse=error, seconds=seconds)
        return seconds, error

    def against(label, theirs, ours):
        row(f"  {label} over ours", times=(theirs[0] / ours[0], ">=", 5), errors=(ours[1] / theirs[1], "<=", 1.01))

    print(f"\nn = {n}, d = {d}, {m} landmarks, the same: ridge regression with RBF(1)")
    alphas = ALPHAS[::5]
    theirs = make_pipeline(Nystroem(gamma=0.5, n_components=m, random_state=0), RidgeCV(alphas))
    nystroem = told("scikit-learn: Nystroem and RidgeCV, 20 lambdas", lambda: theirs.fit(X, y).predict(Z))
    same = {"fit_intercept": True, "approximation": ks.Nystrom(theirs[0].components_)}
    path_of_same = ks.KernelRidgeCV(RBF(1.0), alphas=alphas, outliers=None, **same)
    against("Nystroem and RidgeCV", nystroem, told("kernsel, 20 lambdas", lambda: path_of_same.fit(X, y).predict(Z)))
    conjugate = told("Falkon's algorithm in NumPy, one lambda", lambda: falkon(X, y, Z, theirs[0].components_, 10.0))
    one = ks.KernelRidge(RBF(1.0), alpha=10.0, **same)
    against("Falkon", conjugate, told("kernsel, one lambda", lambda: one.fit(X, y).predict(Z)))

    print(f"\nn = {n}, d = {d}, {m} landmarks: Gaussian process, hyperparameters by likelihood")
    process = ks.GaussianProcessRegressor(
        ConstantKernel("auto") * RBF("auto"), noise="auto", trend="constant", approximation=ks.Nystrom(m)
    )
    ours = told("kernsel", lambda: process.fit(X, y).predict(Z))
    if find_spec("gpytorch"):
        against("GPyTorch's SGPR", told("GPyTorch's SGPR, 50 steps of Adam", lambda: sgpr(X, y, Z, m)), ours)
    if find_spec("gpboost"):
        few, X, y = m // 2, X[:fewer], y[:fewer]
        print(f"\nn = {fewer}, d = {d}, {few} landmarks: the same")
        process.set_params(approximation=ks.Nystrom(few))
        ours = told("kernsel", lambda: process.fit(X, y).predict(Z))
        against("GPBoost's FITC", told("GPBoost's FITC", lambda: fitc(X, y, Z, few)), ours)


def falkon(X, y, Z, U, alpha):
    """Rudi, Carratino and Rosasco's algorithm (2017): conjugate gradients with a preconditioner of the landmarks U."""
    m = len(U)

    def k(A, B):
        square = (A**2).sum(1)[:, None] - 2 * A @ B.T + (B**2).sum(1)
        return np.exp(-0.5 * np.maximum(square, 0))

    n, parts = len(X), np.array_split(np.arange(len(X)), max(len(X) // 10_000, 1))
    K = k(U, U)
    T = cholesky(K + 1e-10 * m * np.eye(m))
    A = cholesky(T @ T.T / m + alpha / n * np.eye(m))

    def solve(matrix, v, trans):
        return solve_triangular(matrix, v, trans=trans)

    def product(v):
        out = np.zeros(m)
        for part in parts:
            B = k(X[part], U)
            out += B.T @ (B @ v)
        return out

    def operator(beta):
        inside = solve(A, beta, 0)
        c = solve(T, inside, 0)
        return solve(A, solve(T, product(c) / n, 1) + alpha / n * inside, 1)

    right = np.zeros(m)
    for part in parts:
        right += k(X[part], U).T @ (y[part] - y.mean())
    found, _ = cg(LinearOperator((m, m), operator), solve(A, solve(T, right / n, 1), 1), rtol=1e-6, maxiter=20)
    return k(Z, U) @ solve(T, solve(A, found, 0), 0) + y.mean()


def sgpr(X, y, Z, m):
    import gpytorch
    import torch

    torch.manual_seed(0)
    inputs, targets = torch.tensor(X), torch.tensor(y)

    class Model(gpytorch.models.ExactGP):
        def __init__(self, likelihood):
            super().__init__(inputs, targets, likelihood)
            self.mean_module = gpytorch.means.ConstantMean()
            base = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel(ard_num_dims=X.shape[1]))
            chosen = inputs[torch.randperm(len(inputs))[:m]].clone()
            self.covar_module = gpytorch.kernels.InducingPointKernel(base, inducing_points=chosen, likelihood=likelihood)

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        likelihood = gpytorch.likelihoods.GaussianLikelihood()
        model = Model(likelihood).double()
        likelihood.double()
        model.train()
        optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
        criterion = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
        for _ in range(50):
            optimizer.zero_grad()
            loss = -criterion(model(inputs), targets)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            return model(torch.tensor(Z)).mean.numpy()


def fitc(X, y, Z, m):
    import gpboost

    model = gpboost.GPModel(
        gp_coords=X, cov_function="gaussian_ard", gp_approx="fitc", num_ind_points=m, likelihood="gaussian", seed=0
    )
    model.fit(y=y, X=np.ones((len(y), 1)), params={"trace": False})
    return model.predict(gp_coords_pred=Z, X_pred=np.ones((len(Z), 1)), predict_var=False)["mu"]


def alone(target, *arguments):
    """Run something in a process of its own, whose peak of memory is that of it."""
    child = get_context("spawn").Process(target=target, args=arguments)
    child.start()
    child.join()
    assert child.exitcode == 0


def compare(quick, with_peers=True):
    """Print everything."""
    size, m = (5_000, 100) if quick else (100_000, 1000)
    many = 10_000 if quick else 1_000_000
    criteria(size, 10, m)
    alone(likelihood, many, 10, m)
    alone(path, many, 10, m)
    if with_peers:
        peers(2_000 if quick else 20_000, 10, m // 2, 1_000 if quick else 4_000)
