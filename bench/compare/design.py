"""Evaluations until an optimum is found, and time a suggestion, beside Optuna's and BoTorch's processes.

``python -m bench.compare design``. Each begins with the same ten points, and knows the optimum when its best value is within a
hundredth, or a thousandth, of the function's range. Evaluations are medians over seeds, of those that a search was allowed
if it has not arrived.
"""

import time
import warnings
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

import kernsel as ks

__all__ = ["FUNCTIONS", "SEARCHES", "compare", "kernsel_search"]

FIRST, MOST = 10, 60  # points of the first design, and evaluations in all


@dataclass(frozen=True)
class Problem:
    """A function of one point on a box, with its minimum and its maximum there."""

    call: object
    bounds: list
    least: float
    most: float

    def reached(self, values, share):
        """Return how many evaluations it took to come within a share of the range; all that were allowed if never."""
        arrived = np.minimum.accumulate(values) <= self.least + share * (self.most - self.least)
        return int(arrived.argmax()) + 1 if arrived.any() else len(values)


def branin(x):
    bent = x[1] - 5.1 / (4 * np.pi**2) * x[0] ** 2 + 5 / np.pi * x[0] - 6
    return bent**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x[0]) + 10


def camel(x):
    a, b = x
    return (4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (4 * b**2 - 4) * b**2


WEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
SHARPNESS = np.array(
    [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
)
CENTRES = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


def hartmann(x):
    return -WEIGHTS @ np.exp(-np.sum(SHARPNESS * (x - CENTRES) ** 2, axis=1))


FUNCTIONS = {
    "Branin": Problem(branin, [(-5.0, 10.0), (0.0, 15.0)], 0.397887, 308.129096),
    "six-hump camel": Problem(camel, [(-3.0, 3.0), (-2.0, 2.0)], -1.031628, 162.9),
    "Hartmann 6": Problem(hartmann, [(0.0, 1.0)] * 6, -3.322368, 0.0),
}


def kernsel_search(problem, seed, most=MOST):
    """Return the values that a search has seen in turn, and the seconds of each suggestion, fit included."""
    X = ks.design.first_points(problem.bounds, FIRST, random_state=seed)
    y = np.array([problem.call(x) for x in X])
    seconds = []
    while len(y) < most:
        begin = time.perf_counter()
        gp = ks.GaussianProcessRegressor(noise=0.0, random_state=seed).fit(X, y)
        x = ks.design.propose(gp, problem.bounds, random_state=seed + len(y))
        seconds.append(time.perf_counter() - begin)
        X, y = np.vstack([X, x]), np.append(y, problem.call(x[0]))
    return y, seconds


def optuna_search(problem, seed, most=MOST):
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.GPSampler(seed=seed, n_startup_trials=FIRST, deterministic_objective=True)
    study = optuna.create_study(sampler=sampler)
    names = [f"x{k}" for k in range(len(problem.bounds))]
    for x in ks.design.first_points(problem.bounds, FIRST, random_state=seed):
        study.enqueue_trial(dict(zip(names, x.tolist(), strict=True)))
    seconds = []
    for i in range(most):
        begin = time.perf_counter()
        trial = study.ask()
        x = np.array([trial.suggest_float(name, *ends) for name, ends in zip(names, problem.bounds, strict=True)])
        if i >= FIRST:
            seconds.append(time.perf_counter() - begin)
        study.tell(trial, problem.call(x))
    return np.array([trial.value for trial in study.trials]), seconds


def botorch_search(problem, seed, most=MOST):
    import torch
    from botorch.acquisition import LogExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.models.transforms import Normalize, Standardize
    from botorch.optim import optimize_acqf
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.manual_seed(seed)
    bounds = torch.tensor(problem.bounds, dtype=torch.float64).T
    X = torch.tensor(ks.design.first_points(problem.bounds, FIRST, random_state=seed))
    y = torch.tensor([[-problem.call(x)] for x in X.numpy()])
    seconds = []
    while len(y) < most:
        begin = time.perf_counter()
        scaled = {"input_transform": Normalize(X.shape[1], bounds=bounds), "outcome_transform": Standardize(1)}
        model = SingleTaskGP(X, y, torch.full_like(y, 1e-8), **scaled)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        x, _ = optimize_acqf(LogExpectedImprovement(model, y.max()), bounds, 1, num_restarts=8, raw_samples=512)
        seconds.append(time.perf_counter() - begin)
        X, y = torch.cat([X, x]), torch.cat([y, torch.tensor([[-problem.call(x[0].numpy())]])])
    return -y[:, 0].numpy(), seconds


SEARCHES = {
    "kernsel": (kernsel_search, "kernsel"),
    "Optuna's GPSampler": (optuna_search, "optuna"),
    "BoTorch": (botorch_search, "botorch"),
}


def compare(quick):
    """Print, for each function and search, the evaluations that the optimum took, and the median time of a suggestion."""
    seeds, most = (range(1), FIRST + 5) if quick else (range(10), MOST)
    for name, problem in FUNCTIONS.items():
        print(f"\n{name}, medians of {len(seeds)}: evaluations to 1 %, to 0.1 % of the range; of a suggestion, ms")
        for search, (run, module) in SEARCHES.items():
            if find_spec(module) is None:
                print(f"   {search} is not installed")
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = [run(problem, seed, most) for seed in seeds]
            assert all(len(values) == most for values, _ in found)
            evaluations = [np.median([problem.reached(values, share) for values, _ in found]) for share in (0.01, 0.001)]
            taken = 1e3 * np.median(np.concatenate([seconds for _, seconds in found]))
            print(f"   {search:20} {evaluations[0]:6.1f} {evaluations[1]:6.1f} {taken:9.1f}")
