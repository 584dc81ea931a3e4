"""Observations of any likelihood, against packages that have it: ``python -m bench.compare likelihoods``.

All choose an amplitude and a length scale of the same kernel, and the parameters of the likelihood, for the same data. GPBoost
and scikit-learn maximize Laplace's evidence; so do we, and we evaluate it at what each of them has found, where it must be what
they say. GPyTorch maximizes a bound of the evidence. Predictions are judged by the mean log density of new observations, over
the normal distribution that each has for the latent function.

On a busy machine threads of peers wait for each other much longer than they compute: ``OMP_NUM_THREADS=1`` is fair to all.
"""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib.util import find_spec

import numpy as np
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process import kernels as sk

import kernsel as ks
from kernsel.kernels import ConstantKernel, Matern
from kernsel.likelihoods import Bernoulli, Gamma, NegativeBinomial, Poisson, StudentT

from bench.report import row

__all__ = ["compare"]

TESTED = 1000
LANDMARKS, STEPS = 200, 300  # of GPyTorch, which takes all points as landmarks up to these
SHORTFALL = 1e-6  # of the evidence, relative: optimizers end at slightly different points
AGREEMENT = 1e-5  # of the evidence with what peers say of it, relative


@dataclass(frozen=True)
class Case:
    """A likelihood: how to draw from it, and what packages call it."""

    likelihood: object
    draw: Callable  # rng, f -> y
    gpboost: str
    gpytorch: str | None = None


CASES = {
    "Poisson": Case(Poisson(), lambda rng, f: rng.poisson(np.exp(f)), "poisson", "poisson"),
    "negative binomial": Case(
        NegativeBinomial(), lambda rng, f: rng.poisson(np.exp(f) * rng.gamma(2.0, 0.5, len(f))), "negative_binomial"
    ),
    "Gamma": Case(Gamma(), lambda rng, f: rng.gamma(2.0, np.exp(f) / 2), "gamma"),
    "Bernoulli": Case(
        Bernoulli(), lambda rng, f: rng.random(len(f)) < 1 / (1 + np.exp(-2 * f)), "bernoulli_logit", "bernoulli"
    ),
    "Student's t": Case(StudentT(df_bounds=(1.5, 1e3)), lambda rng, f: f + 0.2 * rng.standard_t(3, len(f)), "t", "student_t"),
}


@dataclass(frozen=True)
class Found:
    """What a package has found."""

    kernel: ks.kernels.Kernel
    likelihood: object
    latent: Callable  # Z -> mean and variance
    evidence: float | None = None  # as the package says


def function(X):
    return 1.2 * np.sin(2 * X[:, 0]) + np.cos(1.5 * X[:, 1])


def made(case, n, seed=0):
    """Return points and observations to learn from, and others to predict."""
    rng = np.random.default_rng([seed, n])
    X, Z = rng.uniform(0, 4, (n, 2)), rng.uniform(0, 4, (TESTED, 2))
    return X, case.draw(rng, function(X)).astype(float), Z, case.draw(rng, function(Z)).astype(float)


def matern(variance, scale):
    return ConstantKernel(variance) * Matern(scale, nu=2.5)


def kernsel(case, X, y):
    kernel = ConstantKernel("auto") * Matern(np.ptp(X) / 4, nu=2.5)
    gp = ks.GaussianProcessRegressor(kernel, likelihood=case.likelihood, inference="laplace").fit(X, y)

    def latent(Z):
        mean, deviation = gp.predict_latent(Z, return_std=True)
        return mean, deviation**2

    return Found(gp.kernel_, gp.likelihood_, latent, gp.criterion_value_)


def gpboost(case, X, y):
    from gpboost import GPModel

    threads = ks.get_num_threads()
    model = GPModel(
        gp_coords=X, cov_function="matern", cov_fct_shape=2.5, likelihood=case.gpboost, num_parallel_threads=threads
    )
    model.fit(y=y)
    variance, scale = model.get_cov_pars().to_numpy()[0]
    parameters = model.get_aux_pars()
    likelihood = case.likelihood
    if parameters is not None:
        numbers = dict(zip(parameters.columns, parameters.to_numpy()[0], strict=True))
        likelihood = replace(likelihood, **{name: float(numbers[name]) for name in likelihood.standard})

    def latent(Z):
        found = model.predict(gp_coords_pred=Z, predict_var=True, predict_response=False)
        return found["mu"], found["var"]

    return Found(matern(float(variance), float(scale)), likelihood, latent, -float(model.get_current_neg_log_likelihood()))


def gpytorch_likelihoods():
    """Return GPyTorch's likelihoods; its own rates of counts are log(1 + exp f)."""
    import gpytorch as gpt
    import torch

    class Poisson(gpt.likelihoods._OneDimensionalLikelihood):
        def forward(self, f):
            return torch.distributions.Poisson(f.exp())

    return {
        "poisson": Poisson,
        "bernoulli": gpt.likelihoods.BernoulliLikelihood,
        "student_t": gpt.likelihoods.StudentTLikelihood,
    }


def gpytorch(case, X, y):
    import gpytorch as gpt
    import torch

    points, targets = torch.tensor(X), torch.tensor(y)
    generator = torch.Generator().manual_seed(0)

    class Model(gpt.models.ApproximateGP):
        def __init__(self):
            landmarks = points[torch.randperm(len(points), generator=generator)[:LANDMARKS]].clone()
            posterior = gpt.variational.CholeskyVariationalDistribution(len(landmarks))
            super().__init__(gpt.variational.VariationalStrategy(self, landmarks, posterior))
            self.mean_module = gpt.means.ZeroMean()
            self.covar_module = gpt.kernels.ScaleKernel(gpt.kernels.MaternKernel(nu=2.5))

        def forward(self, x):
            return gpt.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    likelihood, model = gpytorch_likelihoods()[case.gpytorch]().double().train(), Model().double().train()
    optimizer = torch.optim.Adam([*model.parameters(), *likelihood.parameters()], lr=0.05)
    bound = gpt.mlls.VariationalELBO(likelihood, model, num_data=len(y))
    for _ in range(STEPS):
        optimizer.zero_grad()
        (-bound(model(points), targets)).backward()
        optimizer.step()
    model.eval()

    def latent(Z):
        with torch.no_grad():
            found = model(torch.tensor(Z))
        return found.mean.numpy(), found.variance.numpy()

    found = Bernoulli("probit") if case.gpytorch == "bernoulli" else case.likelihood
    if case.gpytorch == "student_t":
        found = StudentT(float(likelihood.noise.sqrt()), float(likelihood.deg_free))
    covariance = model.covar_module
    kernel = matern(float(covariance.outputscale), float(covariance.base_kernel.lengthscale))
    return Found(kernel, found, latent)


def scikit_learn(case, X, y):
    start = sk.ConstantKernel(1.0, (1e-5, 1e5)) * sk.Matern(1.0, (1e-5, 1e5), nu=2.5)
    model = GaussianProcessClassifier(start, random_state=0).fit(X, y)
    kernel = matern(float(model.kernel_.k1.constant_value), float(model.kernel_.k2.length_scale))
    return Found(kernel, case.likelihood, model.latent_mean_and_variance, model.log_marginal_likelihood_value_)


@dataclass(frozen=True)
class Package:
    """Another package, or ours."""

    fit: Callable  # case, X, y -> Found
    module: str
    has: Callable = lambda case: True  # whether it has the likelihood
    faster: dict = field(default_factory=dict)  # how many times we are to be as fast, for each n
    exact: bool = True  # whether it maximizes Laplace's evidence


FASTER = {50: 1, 1000: 5}
PACKAGES = {
    "kernsel": Package(kernsel, "kernsel"),
    "GPBoost": Package(gpboost, "gpboost", lambda case: case.gpboost, FASTER),
    "GPyTorch, variational": Package(gpytorch, "gpytorch", lambda case: case.gpytorch, FASTER, exact=False),
    "scikit-learn": Package(scikit_learn, "sklearn", lambda case: isinstance(case.likelihood, Bernoulli), FASTER),
}


def timed(call):
    """Return what a call returns, and its seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of hyperparameters at a bound
        start = time.perf_counter()
        result = call()
        return result, time.perf_counter() - start


def evidence_of(found, X, y):
    """Return Laplace's evidence at what a package has found."""
    return ks.evaluate("lml", found.kernel, X, y, likelihood=found.likelihood).value


def density_of(found, Z, y):
    """Return the mean log density of new observations."""
    mean, variance = found.latent(Z)
    return float(np.mean(found.likelihood.moments(y, mean, np.maximum(variance, 1e-12))[0]))


def compare_case(name, n, rounds):
    """Print a row for each package, ours first."""
    case = CASES[name]
    X, y, Z, new = made(case, n)
    packages = {label: package for label, package in PACKAGES.items() if package.has(case) and find_spec(package.module)}
    seconds, found = dict.fromkeys(packages, np.inf), {}
    for _ in range(rounds):  # in turns, so that a disturbance of the machine hits all
        for label, package in packages.items():
            for _ in range(1 if label in found and seconds[label] > 5 else 2):
                found[label], took = timed(lambda fit=package.fit: fit(case, X, y))
                seconds[label] = min(seconds[label], took)
                if took > 5:
                    break
    ours = evidence_of(found["kernsel"], X, y)
    for label, package in packages.items():
        density, what = density_of(found[label], Z, new), f"{name}, n = {n}, {label}"
        if label == "kernsel":
            row(what, seconds[label] * 1e3, evidence=ours, density=density)
            continue
        times, theirs = seconds[label] / seconds["kernsel"], evidence_of(found[label], X, y)
        if found[label].evidence is not None:
            assert abs(theirs - found[label].evidence) <= AGREEMENT * abs(theirs), (label, theirs, found[label].evidence)
        below = (theirs - ours) / abs(ours)
        same = type(found[label].likelihood) is type(case.likelihood) and package.exact
        row(
            what,
            seconds[label] * 1e3,
            evidence=theirs,
            density=density,
            times=(times, ">=", package.faster[n]) if n in package.faster else times,
            **({"ours_below": (below, "<=", SHORTFALL)} if same else {}),
        )


def neighbours(n, limit):
    """Print the time of a fit of counts at many points, by nearest neighbours."""
    case = CASES["Poisson"]
    X, y, Z, new = made(case, n)
    kernel = ConstantKernel("auto") * Matern("auto", nu=2.5)
    gp = ks.GaussianProcessRegressor(kernel, likelihood="poisson", inference="laplace", approximation=ks.Vecchia(30))
    _, seconds = timed(lambda: gp.fit(X, y))
    density, best = float(gp.log_density(Z, new).mean()), float(case.likelihood.log_density(new, function(Z)).mean())
    assert density > best - 0.02  # of the true rates
    row(f"Poisson, n = {n}, 30 neighbours", seconds * 1e3, seconds=(seconds, "<=", limit), density=density, of_true_rates=best)


def compare(quick=False):
    """Print times, evidences and densities of all likelihoods, and the time of a fit to many counts."""
    for package in PACKAGES.values():
        if not find_spec(package.module):
            print(f"{package.module} is not installed")
    print(
        "\nLaplace's evidence at what each has found, mean log density of new observations, and how many times we are as fast."
    )
    for n in (50,) if quick else (50, 200, 1000):
        for name in CASES:
            compare_case(name, n, 1 if quick else 2)
    neighbours(5000 if quick else 100_000, 60)
