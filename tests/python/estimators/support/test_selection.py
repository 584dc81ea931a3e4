"""What support vector regression chooses."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.svm import SVR
from sklearn.utils.estimator_checks import check_estimator

import kernsel as ks
from kernsel.estimators.support.path import spread
from kernsel.kernels import RBF, ConstantKernel, Linear, Matern

from conventions import expected_failures


def friedman(rng, n, outliers=0.0, noise=1.0):
    X = rng.uniform(size=(n, 5))
    f = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, f + noise * rng.standard_normal(n) + (rng.random(n) < outliers) * 20 * rng.standard_normal(n), f


@pytest.fixture
def data(rng):
    X, y, _ = friedman(rng, 60, 0.1)
    return X, y, RBF("auto").for_data(X, y)


@pytest.mark.parametrize("criterion", ["kfold", "loo"])
def test_what_is_chosen_is_the_best_of_the_table(rng, criterion):
    X, y, _ = friedman(rng, 120, 0.1)
    model = ks.SVR(RBF("auto"), C="auto", epsilon="auto", criterion=criterion).fit(X, y)
    chosen = model.selection_
    assert [one.origin for one in chosen.table] == ["given"] + 3 * ["likelihood"]
    assert model.criterion_value_ == chosen.value == min(one.value for one in chosen.table)
    best = min(chosen.table, key=lambda one: one.value)
    assert (model.kernel_, chosen.factor) == (best.kernel, best.factor)
    path = ks.SVRPath(X, y, model.kernel_)
    assert path.scores(criterion).min() == pytest.approx(chosen.value, rel=1e-9)
    assert path.best(criterion) == (model.C_, model.epsilon_) == (chosen.C, chosen.epsilon)
    lengths = [one.kernel.length_scale for one in chosen.table[1:]]
    assert np.divide(lengths[2], lengths[0]) == pytest.approx(np.full(5, 2.0), rel=1e-9)
    assert str(chosen).count("\n") == 5
    alone = ks.SVR(model.kernel_, C=model.C_, epsilon=model.epsilon_).fit(X, y)
    assert np.array_equal(alone.predict(X), model.predict(X))
    fresh, _, truth = friedman(rng, 500)
    usual = ks.SVR(RBF("auto"), C=spread(y), epsilon=0.1 * spread(y)).fit(X, y)
    assert np.abs(model.predict(fresh) - truth).mean() < 0.8 * np.abs(usual.predict(fresh) - truth).mean()


def test_only_what_is_automatic_is_chosen(data):
    X, y, kernel = data
    auto = RBF("auto")
    both = ks.SVR(auto, C=3.0, epsilon=0.4).fit(X, y)
    assert both.kernel_ == kernel
    assert not hasattr(both, "selection_")
    assert (both.C_, both.epsilon_) == (3.0, 0.4)
    one = ks.SVR(auto, C="auto", epsilon=0.4, criterion="loo").fit(X, y)
    assert one.epsilon_ == 0.4
    assert one.selection_.table[0].scores.shape == (20, 1)
    other = ks.SVR(auto, lam=0.01, epsilon="auto").fit(X, y)
    assert abs(other.C_ - 1 / (2 * 60 * 0.01)) < 1e-12
    assert other.selection_.table[0].scores.shape == (1, 7)
    fixed = RBF(1.0, "fixed")
    known = ks.SVR(fixed, C="auto", epsilon="auto").fit(X, y)
    assert len(known.selection_.table) == 1
    assert known.kernel_ == fixed
    linear = ks.SVR(Linear("auto"), C="auto", epsilon="auto", criterion="loo").fit(X, y)
    assert [line.factor for line in linear.selection_.table] == [1.0, 1.0]  # no length scale of a distance
    given = ks.SVR("precomputed", C="auto", epsilon="auto").fit(fixed(X), y)
    assert (given.C_, given.epsilon_) == (known.C_, known.epsilon_)
    assert given.predict(fixed(X)) == pytest.approx(known.predict(X), rel=1e-9)
    known.set_params(C=1.0, epsilon=0.1).fit(X, y)
    assert not hasattr(known, "selection_")


def test_points_of_weight_zero_do_not_choose(data):
    X, y, _ = data
    model = ks.SVR(Matern("auto", nu=2.5), C="auto", epsilon="auto", criterion="loo")
    weights = np.ones(60)
    weights[40:] = 0
    kernel = Matern("auto", nu=2.5).for_data(X[:40], y[:40])
    with_zeros = clone(model).set_params(kernel=kernel).fit(X, y, weights)
    without = clone(model).set_params(kernel=kernel).fit(X[:40], y[:40])
    assert (with_zeros.C_, with_zeros.epsilon_) == (without.C_, without.epsilon_)
    # The kernels agree to rounding only, and the estimate jumps where a point comes to its bound: by some share.
    assert with_zeros.criterion_value_ == pytest.approx(without.criterion_value_, rel=1e-3)


def test_many_points_choose_the_kernel_by_some(rng, monkeypatch):
    X, y, _ = friedman(rng, 90)
    monkeypatch.setattr("kernsel.estimators.support.selection._FEW", 50)
    model = ks.SVR(C="auto", epsilon="auto", criterion="loo").fit(X, y)
    assert [one.n_points for one in model.selection_.table] == [50] * 4 + [90]
    assert model.criterion_value_ == model.selection_.table[-1].value
    best = min(model.selection_.table[:4], key=lambda one: one.value)
    assert model.kernel_ == best.kernel
    assert model.selection_.factor == best.factor


@pytest.mark.slow
def test_more_is_tried_beyond_the_grid_if_it_pays(rng):
    X = rng.uniform(size=(30, 1))
    y = np.sin(6 * X[:, 0])  # no noise: the less epsilon, the better
    model = ks.SVR(RBF(0.3, "fixed"), C="auto", epsilon="auto").fit(X, y)
    tried = model.selection_.table[0]
    first = ks.SVRPath(X, y, RBF(0.3))
    assert len(tried.epsilons) > 7
    assert model.epsilon_ < first.epsilons[-1]
    assert model.criterion_value_ < 0.9 * first.scores("kfold").min()
    assert tried.scores == pytest.approx(
        ks.SVRPath(X, y, RBF(0.3), Cs=tried.Cs, epsilons=tried.epsilons, tol=1e-5).scores("kfold"), rel=0.2
    )


def test_constant_targets(data):
    X, _, _ = data
    for criterion in ("kfold", "loo"):
        model = ks.SVR(C="auto", epsilon="auto", criterion=criterion).fit(X, np.full(60, 3.0))
        assert np.array_equal(model.predict(X), np.full(60, 3.0))


@pytest.mark.slow
def test_select_tries_other_models(data):
    X, y, _ = data
    kernels = [RBF("auto"), Matern("auto", nu=1.5), RBF("auto") + Linear("auto")]
    for estimator, names in ((ks.SVR(C="auto", epsilon="auto"), ["C", "epsilon"]), (ks.KernelRidge(alpha="auto"), ["alpha"])):
        found = ks.select(X, y, kernels, "loo", estimator=estimator)
        assert estimator.criterion != "loo"  # it stays what it was
        values = [one.value for one in found.tried]
        assert values == sorted(values)
        assert type(found.best_estimator_) is type(estimator)
        alone = clone(estimator).set_params(kernel=kernels[0], criterion="loo").fit(X, y)
        mine = next(one for one in found.tried if one.kernel == kernels[0])
        assert mine.value == alone.criterion_value_
        assert list(mine.others) == names
        assert mine.others[names[-1]] == getattr(alone, names[-1] + "_")
        assert np.array_equal(found.predict(X), found.best_estimator_.predict(X))
        lines = str(found).splitlines()
        assert lines[0].split() == ["kernel", "value", *names, "seconds"]
        assert lines[-1] == "smaller values of loo are better"
        with pytest.raises(TypeError, match="describe: expected a GaussianProcessRegressor"):
            found.describe()
    ridge = ks.select(X, y, kernels, estimator=ks.KernelRidge(alpha="auto", criterion="reml"))
    assert ridge.criterion.larger_is_better
    assert [one.value for one in ridge.tried] == sorted((one.value for one in ridge.tried), reverse=True)
    with pytest.raises(ValueError, match="estimator: expected one that chooses by a criterion"):
        ks.select(X, y, kernels, estimator=ks.SVR())
    with pytest.raises(TypeError, match="estimator: expected an estimator with a kernel"):
        ks.select(X, y, kernels, estimator=ks.SVR)
    with pytest.raises(ValueError, match="noise, trend: are of a Gaussian process"):
        ks.select(X, y, kernels, estimator=ks.SVR(C="auto"), noise=0.1)


def test_errors(data):
    X, y, kernel = data
    for change, message in (
        ({"C": "best"}, 'C: expected a number, positive, "auto" or None, got'),
        ({"epsilon": "best"}, "epsilon: expected a number, from 0 on"),
        ({"C": "auto", "criterion": "gcv"}, "criterion: expected one of kfold, loo, got 'gcv'"),
        ({"C": "auto", "scoring": "r2"}, "scoring: expected one of absolute, squared"),
        ({"C": "auto", "lam": 0.1}, 'lam: expected None with C="auto"'),
        ({"C": "auto", "folds": 1}, "folds: expected two folds at least, got 1"),
        (
            {"C": "auto", "kernel": "sigmoid", "coef0": -5.0, "gamma": 1.0, "criterion": "loo"},
            'criterion: "loo" needs a kernel',
        ),
    ):
        with pytest.raises(ValueError, match=message):
            ks.SVR(**({"kernel": RBF(1.0, "fixed")} | change)).fit(X, y)
    with pytest.raises(
        ValueError,
        match=r"folds: expected a number, a splitter, a list of splits, or one label for each of \d+ points, got 'five'",
    ):
        ks.SVR(RBF(1.0, "fixed"), C="auto", folds="five").fit(X, y)
    with pytest.raises(ValueError, match="nothing to choose them by, got n_samples = 1"):
        ks.SVR(C="auto").fit(X[:1], y[:1])
    for options, message in (
        ({"Cs": [0.0]}, "Cs: expected positive, finite numbers"),
        ({"epsilons": [-1.0]}, "epsilons: expected finite numbers from 0 on"),
        ({"Cs": []}, "Cs: expected positive"),
    ):
        with pytest.raises(ValueError, match=message):
            ks.SVRPath(X, y, kernel, **options)
    with pytest.raises(TypeError, match=r"kernel: expected a kernel of .* or text, got 3"):
        ks.SVRPath(X, y, 3)
    with pytest.raises(ValueError, match="y: expected a finite number for each of 60 points"):
        ks.SVRPath(X, y[:5], kernel)
    with pytest.raises(ValueError, match="X: expected a square kernel matrix"):
        ks.SVRPath(X, y, "precomputed")


@pytest.mark.slow
def test_scikit_learns_checks():
    model = ks.SVR(C="auto", epsilon=0.1, criterion="loo", tol=0.01)
    check_estimator(model, expected_failed_checks=expected_failures(model), on_skip=None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("auto", RBF("auto")),
        ("Matern(nu=2.5)", Matern("auto", nu=2.5)),
        ("RBF + Linear", ConstantKernel("auto") * RBF("auto") + ConstantKernel("auto") * Linear("auto")),
    ],
)
def test_text_leaves_c_and_epsilon_open(rng, text, kernel):
    X, y, f = friedman(rng, 60)
    model = ks.SVR(text)
    assert (model.get_params()["C"], model.get_params()["epsilon"]) == (None, None)
    chosen = ks.SVR(kernel, C="auto", epsilon="auto").fit(X, y)
    assert np.array_equal(clone(model).fit(X, y).predict(X), chosen.predict(X))
    assert (model.fit(X, y).C_, model.epsilon_) == (chosen.C_, chosen.epsilon_)
    assert np.mean((model.predict(X) - f) ** 2) < 0.2 * np.var(f)
    unit = ks.SVR(text).fit(X, 1e-6 * y + 1e-3)
    assert (unit.predict(X) - 1e-3) * 1e6 == pytest.approx(model.predict(X), abs=0.05 * np.std(f))
    half = ks.SVR(text, C=3.0).fit(X, y)
    assert half.C_ == 3.0
    assert half.selection_.table[0].scores.shape == (1, 7)
    both = ks.SVR(text, C=3.0, epsilon=0.5).fit(X, y)
    assert (both.C_, both.epsilon_) == (3.0, 0.5)
    assert not hasattr(both, "selection_")
    by_mean = ks.SVR(text, lam=0.01).fit(X, y)
    assert pytest.approx(1 / (2 * 60 * 0.01)) == by_mean.C_
    assert hasattr(by_mean, "selection_")


@pytest.mark.parametrize("kernel", [None, "rbf", "linear", RBF("auto"), "precomputed"])
def test_all_other_kernels_have_the_values_of_scikit_learn(rng, kernel):
    X, y, _ = friedman(rng, 60)
    X = RBF(0.5)(X) if kernel == "precomputed" else X
    model = (ks.SVR(tol=1e-10) if kernel is None else ks.SVR(kernel, tol=1e-10)).fit(X, y)
    assert (model.C_, model.epsilon_) == (1.0, 0.1)
    assert not hasattr(model, "selection_")
    if isinstance(kernel, str):
        assert model.predict(X) == pytest.approx(SVR(kernel=kernel, tol=1e-8).fit(X, y).predict(X), abs=1e-4)


def test_a_fit_without_support_vectors_is_warned_of(rng):
    X, y, _ = friedman(rng, 60)
    small = 1e-3 * y + 5.0
    said = rf"^epsilon: errors up to 0.1 cost nothing, but y has a spread of {np.ptp(small):.3g} only, .*epsilon=\"auto\""
    with pytest.warns(UserWarning, match=said) as caught:
        model = ks.SVR().fit(X, small)
    assert [warning.category for warning in caught] == [UserWarning]
    assert caught[0].filename == __file__
    assert len(model.support_) == 0
    assert f"the constant {model.intercept_[0]:.6g}" in str(caught[0].message)
    weights = np.where(y > np.median(y), 1.0, 0.0)
    with pytest.warns(UserWarning, match=f"a spread of {np.ptp(small[weights > 0]):.3g} only"):
        ks.SVR().fit(X, small, weights)
    with pytest.warns(UserWarning, match="a spread of"):
        ks.SVR(C="auto", epsilon=0.1).fit(X, small)
    for cure in (ks.SVR(epsilon="auto"), ks.SVR("auto")):
        assert cure.fit(X, small).score(X, small) > 0.3
    assert not len(ks.SVR().fit(X, np.full(60, 5.0)).support_)  # a constant is what it should be
    ks.SVR(C=1.0, epsilon="auto").fit(X, np.round(rng.random(60) < 0.1))  # chosen, not given


def test_a_linear_function_is_found_despite_outliers(rng):
    X, Z = rng.standard_normal((80, 4)), rng.standard_normal((200, 4))
    slopes = np.array([0.5, 1.0, 1.5, 2.0])
    clean = X @ slopes + 0.3 * rng.standard_normal(80)
    y = clean.copy()
    y[::20] += 20.0
    with_errors, without = (ks.SVR("auto").fit(X, targets) for targets in (y, clean))
    of_both = [np.sqrt(np.mean((model.predict(Z) - Z @ slopes) ** 2)) for model in (with_errors, without)]
    assert of_both[0] <= 2 * of_both[1]
    for model in (with_errors, without):
        assert (model.kernel_.length_scale / X.std(axis=0)).min() <= 30 * 2**0.5 * (1 + 1e-12)
