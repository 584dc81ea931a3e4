"""The next points: optima are found, batches differ, constraints hold, other packages can ask."""

import pickle
from functools import partial

import numpy as np
import pytest

import kernsel as ks
from kernsel import design
from kernsel.design.feasibility import Feasibility, constraints_of

BOX = [(-1.0, 1.0), (-1.0, 1.0)]


def bowl(X):
    return np.sum((X - [0.3, -0.4]) ** 2, axis=1)


def test_asking_and_telling_ends_at_the_optimum():
    X = design.first_points(BOX, 6)
    y = bowl(X)
    for _ in range(4):
        gp = ks.GaussianProcessRegressor(noise=0.0).fit(X, -y)
        X = np.vstack([X, design.propose(gp, BOX, maximize=True)])
        y = bowl(X)
    assert y[:6].min() > 0.05
    assert y.min() < 0.01


@pytest.mark.parametrize("acquisition", ["log_ei", "ei", "pi", "ucb", "kg", "variance", "variance_reduction"])
def test_each_acquisition_by_name(process, acquisition):
    gp = process()
    x = design.propose(gp, BOX, acquisition=acquisition)
    assert x.shape == (1, 2)
    assert np.array_equal(x, design.propose(gp, BOX, acquisition=acquisition))
    if acquisition == "ucb":
        assert np.array_equal(x, design.propose(gp, BOX, acquisition=partial(design.UpperConfidenceBound, kappa=2.0)))
    if acquisition == "variance":
        corners = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1.0]])
        assert design.Variance(gp)(x)[0] >= design.Variance(gp)(corners).max()


def test_an_acquisition_of_ones_own(process):
    class Towards(design.Acquisition):
        is_positive = False

        def evaluate(self, Z, gradient):
            away = Z - [0.25, -0.5]
            return -np.sum(away**2, axis=1), -2 * away if gradient else None

    assert design.propose(process(), BOX, acquisition=Towards)[0] == pytest.approx([0.25, -0.5], abs=1e-4)


@pytest.mark.parametrize("batch", ["believer", "liar", "joint"])
def test_points_of_a_batch_differ_and_the_model_stays(process, batch):
    gp = process()
    before = pickle.dumps(gp.posterior_)
    X = design.propose(gp, BOX, 3, batch=batch)
    assert X.shape == (3, 2)
    assert (np.abs(X) <= 1).all()
    assert min(np.abs(X[i] - X[j]).max() for i in range(3) for j in range(i)) > 0.01
    assert pickle.dumps(gp.posterior_) == before
    if batch == "joint":
        joint = design.JointExpectedImprovement(gp, 3, samples=2**13)
        assert joint(X) > 1.01 * joint(design.propose(gp, BOX, 3))


def test_batches_without_noise_and_with_noises_of_their_own(rng):
    X = rng.uniform(-1, 1, (8, 2))
    for noise in (0.0, np.full(8, 0.01)):
        gp = ks.GaussianProcessRegressor(ks.kernels.RBF(0.5), noise=noise, alpha="auto", optimizer=None).fit(X, bowl(X))
        assert np.ptp(design.propose(gp, BOX, 4), axis=0).min() > 0


def test_batches_for_a_data_frame(process):
    pandas = pytest.importorskip("pandas")
    gp = process()
    framed = ks.GaussianProcessRegressor(**gp.get_params(deep=False)).fit(
        pandas.DataFrame(gp.X_train_, columns=["a", "b"]), gp.kept_data()[1]
    )
    assert np.array_equal(design.propose(framed, BOX, 2), design.propose(gp, BOX, 2))


def test_constraints():
    """The bowl's minimum is where x_0 + 0.1 > 0, which is not allowed."""
    X = design.first_points(BOX, 20)
    gp = ks.GaussianProcessRegressor(noise=0.0).fit(X, bowl(X))
    limit = ks.GaussianProcessRegressor(noise=0.0).fit(X, X[:, 0] + 0.1)
    x = design.propose(gp, BOX, constraints=[limit])[0]
    assert x[0] < -0.1
    best = float(gp.predict(X[X[:, 0] < -0.1]).min())
    improvement, feasible = design.LogExpectedImprovement(gp, best=best), Feasibility(constraints_of([limit], 2))
    grid = np.vstack([x, np.stack(np.meshgrid(np.linspace(-1, 1, 101), np.linspace(-1, 1, 101)), axis=-1).reshape(-1, 2)])
    worth = improvement(grid) + feasible.evaluate(grid, False)[0]
    assert worth[0] >= worth.max() - 1e-9
    assert design.propose(gp, BOX, 2, constraints=[(limit, -np.inf, 0.0)])[0] == pytest.approx(x)
    nowhere = ks.GaussianProcessRegressor(noise=0.0).fit(X, X[:, 0] + 1.0)
    assert design.propose(gp, BOX, constraints=[nowhere])[0, 0] < X[:, 0].min()  # where it may hold


def test_whole_numbers_and_categories():
    categories = {2: [0.0, 1.0, 2.0]}
    bounds = [(-1.0, 1.0), (0, 5), None]
    X = design.first_points(bounds, 30, integers=[1], categories=categories)
    y = (X[:, 0] - 0.3) ** 2 + (X[:, 1] - 2) ** 2 / 9 + np.array([0.5, 0.0, 0.7])[X[:, 2].astype(int)]
    gp = ks.GaussianProcessRegressor("RBF", noise=0.0).fit(X, y)
    x = design.propose(gp, bounds, 2, integers=[1], categories=categories)
    assert x[:, 1:].tolist() == np.rint(x[:, 1:]).tolist()
    assert x[0] == pytest.approx([0.3, 2.0, 1.0], abs=0.15)


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"q": 9}, ValueError, "q: expected a whole number from 1 to 8, got 9"),
        ({"q": 1.5}, ValueError, "q: expected a whole number"),
        ({"batch": "all"}, ValueError, "batch: expected"),
        ({"acquisition": ["ei"]}, ValueError, "acquisition: expected a function, or one of log_ei, "),
        ({"acquisition": "best"}, ValueError, "acquisition: expected a function, or one of log_ei, "),
        (
            {"acquisition": lambda model, maximize: 1.0},
            TypeError,
            "acquisition: expected a function that returns an Acquisition",
        ),
        ({"acquisition": "ucb", "batch": "joint"}, ValueError, 'batch: "joint" is of an expected improvement'),
        ({"bounds": [(0, 1)]}, ValueError, "bounds: expected ends of 2 columns, as the model has, got 1"),
        ({"maximize": "yes"}, TypeError, "maximize: expected True or False"),
    ],
)
def test_bad_input(process, given, error, said):
    with pytest.raises(error, match=f"^{said}"):
        design.propose(process(), **{"bounds": BOX, **given})


def test_a_bound_that_may_be_negative_takes_no_constraints(process):
    with pytest.raises(ValueError, match=r"^acquisition: UpperConfidenceBound may be negative"):
        design.propose(process(), BOX, acquisition="ucb", constraints=[process()])


def test_bayes_opt_can_ask():
    bayes_opt = pytest.importorskip("bayes_opt")
    acquisition = pytest.importorskip("bayes_opt.acquisition")

    class ByKernsel(acquisition.AcquisitionFunction):
        def base_acq(self, mean, std):
            """Bayes_opt requires it of subclasses, and only its own `suggest` calls it."""

        def suggest(self, gp, target_space, **options):  # noqa: ARG002
            model = ks.GaussianProcessRegressor(noise=0.0).fit(target_space.params, target_space.target)
            return design.propose(model, target_space.bounds, maximize=True)[0]

    search = bayes_opt.BayesianOptimization(
        lambda a, b: -float(bowl(np.array([[a, b]]))[0]),
        {"a": BOX[0], "b": BOX[1]},
        acquisition_function=ByKernsel(),
        random_state=0,
        verbose=0,
    )
    search.maximize(init_points=6, n_iter=4)
    assert search.max["target"] > -0.01


def test_optuna_can_ask():
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    class ByKernsel(optuna.samplers.BaseSampler):
        def infer_relative_search_space(self, study, trial):  # noqa: ARG002
            return optuna.search_space.intersection_search_space(study.get_trials(deepcopy=False))

        def sample_relative(self, study, trial, search_space):  # noqa: ARG002
            done = study.get_trials(deepcopy=False, states=[optuna.trial.TrialState.COMPLETE])
            if len(done) < 6:
                return {}
            X = np.array([[one.params[name] for name in search_space] for one in done])
            model = ks.GaussianProcessRegressor(noise=0.0).fit(X, np.array([one.value for one in done]))
            x = design.propose(model, [(space.low, space.high) for space in search_space.values()])[0]
            return dict(zip(search_space, x.tolist(), strict=True))

        def sample_independent(self, study, trial, param_name, param_distribution):  # noqa: ARG002
            k = ["a", "b"].index(param_name)
            return design.first_points(BOX, 8)[trial.number, k]

    study = optuna.create_study(sampler=ByKernsel())
    study.optimize(lambda t: float(bowl(np.array([[t.suggest_float("a", *BOX[0]), t.suggest_float("b", *BOX[1])]]))[0]), 10)
    assert study.best_value < 0.01
