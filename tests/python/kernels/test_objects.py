"""Points that are not vectors, in kernels, estimators and selections: with a kernel that is slow and obvious."""

import gc
import pickle
import threading

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor as SklearnRegressor
from sklearn.gaussian_process import kernels as sk
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score

import kernsel as ks
from kernsel.kernels import RBF, ConstantKernel, DotProduct, Linear, Normalize, Transform, Warp
from kernsel.kernels.leaf import Leaf
from kernsel.kernels.object_kernel import ObjectKernel
from kernsel.structured import Mixed
from kernsel.testing import check_kernel

EPS = np.finfo(float).eps


class Letters(ObjectKernel, Leaf):
    """1 + decay * sum of products of counts of letters, of the first so many."""

    _hyper = {"decay": "ratio"}  # noqa: RUF012
    _whole = {"length": 1}  # noqa: RUF012
    tables = 0

    def __init__(self, length=4, decay=0.5, decay_bounds=(1e-3, 1e3)):
        self.length = length
        self.decay = decay
        self.decay_bounds = decay_bounds
        self._check()
        self._check_whole()

    def _encode(self, objects):
        for s in objects:
            if not isinstance(s, str):
                raise TypeError(f"X: expected strings, got {s!r}")
        return np.array([[s.count(letter) for letter in "ACGT"] for s in objects], dtype=float).reshape(-1, 4)

    def _table(self, X, Z, derivative):
        type(self).tables += 1
        products = X[:, : self.length] @ (X if Z is None else Z)[:, : self.length].T
        decay = self.number("decay")
        return 1 + decay * products, [decay * products] if derivative else []

    def _diagonal_of(self, X):
        return 1 + self.number("decay") * np.einsum("ik,ik->i", X[:, : self.length], X[:, : self.length])


def features(strings):
    """Return features whose inner product is the kernel."""
    counts = Letters()._encode(strings)
    return np.hstack([np.ones((len(counts), 1)), np.sqrt(0.5) * counts])


@pytest.fixture
def strings(rng):
    return ["".join(rng.choice(list("ACGT"), rng.integers(5, 25))) for _ in range(150)]


@pytest.fixture
def y(strings, rng):
    return np.array([s.count("A") + 0.3 * s.count("C") ** 1.5 for s in strings]) + 0.1 * rng.normal(size=len(strings))


@pytest.fixture(params=["list", "tuple", "array", "objects", "series"])
def container(request, strings):
    return {
        "list": list,
        "tuple": tuple,
        "array": np.array,
        "objects": lambda s: np.array(s, dtype=object),
        "series": lambda s: pd.Series(s, index=np.arange(len(s)) + 7),
    }[request.param](strings)


def test_matrices(strings, container):
    F = features(strings)
    k = Letters()
    assert np.array_equal(k(container), F @ F.T) or np.allclose(k(container), F @ F.T, rtol=10 * EPS)
    assert np.allclose(k(container[:3], strings[5:]), F[:3] @ F[5:].T, rtol=10 * EPS)
    assert np.array_equal(k.diag(container), np.diag(k(container)))
    assert np.array_equal(ks.gram(k, container), k(container))
    V = np.linspace(-1, 1, len(strings))
    assert np.allclose(k.matmul(container, strings, V), F @ (F.T @ V))


@pytest.mark.parametrize(
    "kernel",
    [
        Letters(),
        2.0 * RBF(3.0) @ Letters(2, 0.3) + 0.1,
        Normalize(Letters()) * Letters(1),
        DotProduct(1.0) @ Letters(3) + RBF(0.5) @ Normalize(Letters()),
    ],
)
def test_conformance(kernel, strings):
    check_kernel(kernel, strings[:40])


def test_a_mix_is_the_sum_of_its_parts(strings, rng):
    X = rng.normal(size=(150, 2))
    numbers, letters = RBF([1.0, 2.0]), RBF(2.0) @ Letters()
    kernel = numbers.on(["X"]) + 0.5 * letters.on(["s"])
    points = Mixed(X=X, s=strings)
    assert np.allclose(kernel(points), numbers(X) + 0.5 * letters(strings), rtol=10 * EPS)
    assert np.array_equal(kernel(points, points[::3]), kernel(points)[:, ::3])
    check_kernel(kernel, points[:30])
    table = pd.DataFrame({"X": X[:, 0], "s": strings, "z": X[:, 1]})
    assert np.array_equal((numbers.on(["X", "z"]) + 0.5 * letters.on(["s"]))(table), kernel(points))


def test_what_is_auto_is_set_from_objects(strings, y):
    kernel = (RBF("auto") @ Letters()).for_data(strings, y)
    rows = features(strings)
    assert np.isclose(kernel.outer.length_scale, np.sqrt(rows.var(axis=0).sum()), rtol=1e-6)
    X = np.arange(300.0).reshape(150, 2)
    warped = Warp(RBF("auto"), lambda X: X[:, 0]).on(["X"]).for_data(Mixed(X=X, s=strings))
    assert np.allclose(warped(Mixed(X=X, s=strings)), Warp(RBF("auto"), lambda X: X[:, 0]).for_data(X)(X))


def test_mixed_is_indexed_as_arrays_are(strings, rng):
    points = Mixed(X=rng.normal(size=150), s=strings)
    assert points.shape == (150, 2)
    assert len(points) == 150
    for rows in ([3, 1], slice(2, 9), np.arange(150) % 7 == 0, np.array([], dtype=int), (np.array([5, 4]), ...), 3):
        index = np.atleast_1d(np.arange(150)[rows[0] if isinstance(rows, tuple) else rows])
        assert points[rows].parts["s"] == [strings[i] for i in index]
        assert np.array_equal(points[rows].parts["X"], points.parts["X"][index])
    assert repr(points) == "<Mixed: 150 points of X: 1 columns, s: objects>"


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Mixed(), ValueError, "at least one part"),
        (lambda: Mixed(a=[1.0], b=["x", "y"]), ValueError, "a has 1, b has 2"),
        (lambda: Mixed(a="text"), TypeError, "a: expected an array or a sequence of objects, got 'text'"),
        (lambda: Mixed(a=3), TypeError, "got 3"),
        (lambda: Letters()("ACGT"), TypeError, "X: expected a list of objects"),
        (lambda: Letters()({"AC", "GT"}), TypeError, "X: expected a list of objects"),
        (lambda: Letters()({"AC": 1}), TypeError, "X: expected a list of objects"),
        (lambda: Mixed(a={"x"}), TypeError, "a: expected an array or a sequence of objects"),
        (lambda: Letters()([]), ValueError, "X: expected at least one object"),
        (lambda: Letters()([3.0]), TypeError, "X: expected strings, got 3.0"),
        (lambda: Letters()(Mixed(X=[1.0], s=["A"])), ValueError, r"say which: .on\(\['s'\]\)"),
        (lambda: np.asarray(Mixed(X=[1.0])), TypeError, "expected an array, got <Mixed: 1 points of X: 1 columns>"),
        (lambda: RBF()(Mixed(X=[1.0], s=["A"])), ValueError, "is one of numbers, and the points are objects"),
        (
            lambda: ks.KernelRidge().fit(Mixed(X=[1.0], s=["A"]), [1.0]),
            ValueError,
            r"RBF\('auto'\) is one of numbers, and the points are objects; give it columns",
        ),
        (
            lambda: ks.KernelRidge(RBF()).fit(Mixed(X=[1.0]), [1.0]),
            TypeError,
            "expected one that names the parts of X, such as",
        ),
        (lambda: ks.select(Mixed(X=[1.0], s=["A"]), [1.0], "search"), ValueError, "expected kernels that name the parts of X"),
        (lambda: (RBF() + Letters().on(["s"]))(Mixed(X=[1.0], s=["A"])), ValueError, r"give it columns: .on\(\['X'\]\)"),
        (lambda: (RBF() + Letters())(["A"]), ValueError, "is one of numbers, and the points are objects"),
        (lambda: Letters().on(["t"])(Mixed(s=["A"])), ValueError, "t not among the parts of the points: s"),
        (lambda: Letters().on([3])(Mixed(s=["A"])), ValueError, "there is no column 3, the points have 1"),
        (
            lambda: (RBF().on(["X"]) + Letters().on(["s"]))(Mixed(X=[np.nan], s=["A"])),
            ValueError,
            "finite numbers in the part 'X'",
        ),
        (lambda: Letters([1, 2])(["A"]), ValueError, "kernsel.select chooses one of several"),
        (lambda: Letters([]), ValueError, "length: expected at least one value"),
        (lambda: Letters([1, 0]), ValueError, "length: expected a whole number from 1 on"),
        (lambda: Letters().pullback(["A"], [[1.0]], wrt="X"), ValueError, "no derivatives in the points"),
        (lambda: Warp(Letters(), lambda X: X[:, 0])(["A", "C"]), ValueError, "is one of numbers, and the points are objects"),
        (lambda: Transform(Letters(), [[2.0]])(["A", "C"]), ValueError, "is one of numbers, and the points are objects"),
        (lambda: Letters().on(["a"])(Mixed(a=[[1, 2], [3, 4]])), ValueError, "expected objects, got columns of numbers"),
        (lambda: Letters() @ Letters(), ValueError, "outer: expected a kernel of vectors"),
    ],
)
def test_errors(make, error, message):
    with pytest.raises(error, match=message):
        make()


REGRESSORS = [
    ks.GaussianProcessRegressor(kernel=RBF("auto") @ Letters(), noise="auto", trend="constant"),
    ks.KernelRidge(RBF("auto") @ Letters(), alpha="auto"),
    ks.KernelRidgeCV(RBF(4.0) @ Normalize(Letters(4, 0.5, "fixed")) + RBF(4.0) @ Letters()),
    ks.SVR(kernel=RBF("auto") @ Letters(), C="auto", epsilon=0.1),
    ks.KernelInterpolator(RBF("auto") @ Letters()),
]


@pytest.mark.parametrize("model", REGRESSORS, ids=lambda model: type(model).__name__)
def test_estimators(model, strings):
    y = np.array([np.sin(0.3 * s.count("A")) + 0.1 * s.count("C") for s in strings])
    model = clone(model).fit(strings[:100], y[:100])
    predicted = model.predict(strings[100:])
    assert np.sqrt(np.mean((predicted - y[100:]) ** 2)) < 0.5 * y.std()
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(strings[100:]), predicted)
    again = clone(model).fit(strings[:100], y[:100])
    assert np.array_equal(again.predict(strings[100:]), predicted)
    # Without the objects: the same of their features, with the hyperparameters that were found.
    assert np.array_equal(model.predict(np.array(strings[100:], dtype=object)), predicted)
    with pytest.raises((ValueError, TypeError), match="X: expected"):
        model.predict([1.5])
    with pytest.raises(ValueError, match="inconsistent"):
        clone(model).fit(strings[:5], y[:4])


def test_same_as_scikit_learn_on_the_features(strings, y):
    kernel = ConstantKernel(2.0, "fixed") * RBF(3.0, "fixed") @ Letters(4, 0.5, "fixed")
    ours = ks.GaussianProcessRegressor(kernel, alpha=0.01).fit(strings[:100], y[:100])
    theirs = SklearnRegressor(2.0 * sk.RBF(3.0), alpha=0.01, optimizer=None).fit(features(strings[:100]), y[:100])
    for ours_one, theirs_one in zip(
        ours.predict(strings[100:], return_std=True), theirs.predict(features(strings[100:]), return_std=True), strict=True
    ):
        assert np.allclose(ours_one, theirs_one, rtol=1e-8)
    covariance = ours.predict(strings[100:], return_cov=True)[1]
    assert np.allclose(covariance, theirs.predict(features(strings[100:]), return_cov=True)[1], rtol=1e-6, atol=1e-10)
    assert np.isclose(ours.log_marginal_likelihood_value_, theirs.log_marginal_likelihood_value_)


def test_gaussian_process(strings, y):
    model = ks.GaussianProcessRegressor(RBF("auto") @ Letters(), noise="auto", trend="constant")
    prior_mean, prior_std = model.predict(strings[:3], return_std=True)
    assert np.array_equal(prior_mean, np.zeros(3))
    assert np.allclose(prior_std, 1.0)
    model.fit(strings[:100], y[:100])
    assert model.sample_y(strings[100:], 4).shape == (50, 4)
    assert model.loo_residuals_.shape == (100,)
    before = model.predict(strings[100:])
    fewer = model.predict(strings[:100])
    model.update(strings[100:120], y[100:120])
    assert np.abs(model.predict(strings[100:120]) - y[100:120]).mean() < np.abs(before[:20] - y[100:120]).mean() + 0.05
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(strings[:5]), model.predict(strings[:5]))
    for _ in range(20):
        model.downdate(-1)
    assert np.allclose(model.predict(strings[:100]), fewer, atol=1e-6)
    with pytest.raises(ValueError, match="no derivatives in points that are objects"):
        model.predict_gradient(strings[:2])
    with pytest.raises(ValueError, match='trend: expected "constant" or None'):
        ks.GaussianProcessRegressor(Letters(), trend="linear").fit(strings, y)
    theta = model.kernel_.theta
    _, gradient = model.log_marginal_likelihood(theta, eval_gradient=True)
    for p in range(len(theta)):
        step = 1e-5 * np.eye(len(theta))[p]
        difference = (model.log_marginal_likelihood(theta + step) - model.log_marginal_likelihood(theta - step)) / 2e-5
        assert np.isclose(gradient[p], difference, rtol=1e-4, atol=1e-4 * np.abs(gradient).max() + 1e-4)


def test_classifier(strings, y):
    labels = np.where(y > np.median(y), "high", "low")
    model = ks.GaussianProcessClassifier(RBF("auto") @ Letters()).fit(strings[:100], labels[:100])
    assert model.score(strings[100:], labels[100:]) > 0.8
    assert pickle.loads(pickle.dumps(model)).predict(strings[100:]).tolist() == model.predict(strings[100:]).tolist()


def test_tables_are_made_once_where_only_outer_parameters_change(strings, y):
    Letters.tables = 0
    fixed = Letters(4, 0.5, "fixed")
    model = ks.GaussianProcessRegressor(2.0 * RBF("auto") @ fixed, noise="auto").fit(strings[:100], y[:100])
    assert model.n_evaluations_ > 10
    assert Letters.tables == 1
    model.predict(strings[100:], return_std=True)
    assert Letters.tables == 2  # of new points against those of fit
    Letters.tables = 0
    ks.select(strings, y, [RBF("auto") @ fixed, fixed, Letters([2, 4], 0.5, "fixed")])
    assert Letters.tables == 2  # of length 4 and 2


def test_predictions_take_no_derivatives(strings, y, monkeypatch):
    model = ks.GaussianProcessRegressor(2.0 * Letters(), noise=0.1).fit(strings[:100], y[:100])
    asked, table = [], Letters._table
    monkeypatch.setattr(
        Letters, "_table", lambda self, X, Z, derivative: asked.append(derivative) or table(self, X, Z, derivative)
    )
    model.predict(strings[100:], return_std=True)
    assert asked == [False]
    W = np.ones((3, 100))
    slope = model.kernel_.pullback(strings[:3], W, strings[:100])[1]
    assert np.isclose(slope, ((model.kernel_(strings[:3], strings[:100]) - model.kernel_.k1.constant_value) * W).sum())


def test_tables_of_several_terms_are_kept_side_by_side(strings, y):
    Letters.tables = 0
    fixed = [Letters(4, decay, "fixed") for decay in (0.1, 0.2, 0.4)]
    kernel = ConstantKernel("auto") * fixed[0] + ConstantKernel("auto") * fixed[1] + RBF("auto") @ fixed[2]
    model = ks.GaussianProcessRegressor(kernel, noise="auto").fit(strings[:100], y[:100])
    assert model.n_evaluations_ > 10
    assert Letters.tables == 3
    K = model.kernel_(strings[:100])
    parts = [constant * one for constant, one in zip((model.kernel_.k1.k1.k1, model.kernel_.k1.k2.k1), fixed, strict=False)]
    parts.append(clone(model.kernel_.k2))
    assert np.allclose(K, sum(part(strings[:100]) for part in parts), rtol=1e-12)


def test_a_list_of_one_number_is_that_number(strings, y):
    for one in ([2], (2,), range(2, 3), np.array([2]), np.int64(2)):
        assert np.array_equal(Letters(one)(strings), Letters(2)(strings))
    chosen = ks.select(strings, y, RBF("auto") @ Letters([2]) + Letters(np.array([1, 4])))
    assert [one.problem for one in chosen.tried] == ["", ""]


def test_select_tries_all_whole_numbers(strings, y):
    chosen = ks.select(strings, y, [RBF("auto") @ Letters([1, 2, 4]), Letters(range(1, 4)) * (RBF("auto") @ Letters([3, 4]))])
    assert len(chosen.tried) == 3 + 6
    best = min((one for one in chosen.tried), key=lambda one: one.value)
    assert best is chosen.best
    assert np.sqrt(np.mean((chosen.predict(strings[:20]) - y[:20]) ** 2)) < 0.3
    assert "features of Letters" in chosen.describe()
    ridge = ks.select(strings, y, [RBF("auto") @ Letters([1, 2])], estimator=ks.KernelRidge(alpha="auto"))
    assert len(ridge.tried) == 2
    with pytest.raises(ValueError, match="select chooses one of several"):
        ks.KernelRidge(Letters([1, 2])).fit(strings, y)


def test_select_for_classifiers(strings, y, rng):
    labels = np.where(y > np.median(y), "high", "low")
    classifier = ks.GaussianProcessClassifier(criterion="loo")
    chosen = ks.select(strings[:100], labels[:100], [RBF("auto") @ Letters([1, 4]), Letters(2)], estimator=classifier)
    assert len(chosen.tried) == 3
    assert "larger values of loo_log_density are better" in str(chosen)
    best = chosen.best_estimator_
    assert best.score(strings[100:], labels[100:]) > 0.8
    assert chosen.best.value == max(one.value for one in chosen.tried) == pytest.approx(best.loo_log_probability_.sum())
    for one in chosen.tried:  # each with an amplitude of its own
        alone = clone(classifier).set_params(kernel=one.kernel).fit(strings[:100], labels[:100])
        assert alone.criterion_value_ == one.value
    X = rng.normal(size=(30, 2))
    three = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    for several in ("one_vs_rest", "multinomial"):
        classifier = ks.GaussianProcessClassifier(multi_class=several, max_evaluations=10)
        found = ks.select(X, three, [RBF("auto"), Linear()], estimator=classifier)
        assert found.best.value == found.best_estimator_.log_marginal_likelihood_value_
        assert "RBF(" in str(found)
        assert found.predict(X).shape == (30,)


def test_criteria(strings, y):
    kernel = RBF(2.0) @ Letters()
    for criterion in ("lml", "loo", "gcv"):
        found = ks.evaluate(criterion, kernel, strings, y, noise=0.1, gradient=True)
        other = ks.evaluate(criterion, RBF(2.0), features(strings), y, noise=0.1, gradient=True)
        assert np.isclose(found.value, other.value, rtol=1e-8)
        assert np.isclose(found.gradient[0], other.gradient[0], rtol=1e-6)
    residuals = ks.loo(RBF(2.0), features(strings), y, noise=0.1).residuals
    assert np.allclose(ks.loo(kernel, strings, y, noise=0.1).residuals, residuals)


def test_paths_and_power_functions(strings, y):
    path = ks.RegularizationPath(Letters(), y, X=strings, trend="constant")
    other = ks.RegularizationPath(Letters()(strings), y, X=np.zeros((150, 1)), trend="constant")
    assert path.best("loo") == pytest.approx(other.best("loo"), rel=1e-6)
    kernel = RBF(3.0) @ Letters()
    distances = ks.linalg.power_function(RBF(3.0), features(strings[:40]), features(strings[40:]), noise=0.1)
    assert np.allclose(ks.linalg.power_function(kernel, strings[:40], strings[40:], noise=0.1), distances, rtol=1e-6)


def test_trends_are_no_functions_of_objects(strings, y):
    for trend in ("linear", lambda X: X):
        for use in (
            lambda trend: ks.evaluate("lml", Letters(), strings, y, noise=0.1, trend=trend),
            lambda trend: ks.loo(Letters(), strings, y, noise=0.1, trend=trend),
            lambda trend: ks.RegularizationPath(Letters(), y, X=strings, trend=trend),
            lambda trend: ks.GaussianProcessRegressor(Letters(), trend=trend).fit(strings, y),
        ):
            with pytest.raises(ValueError, match='trend: expected "constant" or None for points that are objects'):
                use(trend)
    H = np.arange(150.0)[:, None]
    value = ks.evaluate("lml", Letters(), strings, y, noise=0.1, trend=H).value
    other = ks.evaluate("lml", Linear(1.0), features(strings), y, noise=0.1, trend=H).value
    assert value == pytest.approx(other, rel=1e-9)


def test_kernels_of_the_numbers_in_a_mix(strings, rng):
    X = rng.normal(size=150)
    y = np.sin(X)
    points, kernel = Mixed(X=X, s=strings), RBF("auto").on(["X"])
    for model in (
        ks.GaussianProcessRegressor(kernel, noise=0.01),
        ks.KernelRidge(kernel),
        ks.SVR(kernel),
        ks.KernelRidgeCV(kernel),
    ):
        alike = clone(model).set_params(kernel=RBF("auto")).fit(X[:, None], y)
        fitted = clone(model).fit(points, y)
        assert np.allclose(fitted.predict(points[:9]), alike.predict(X[:9, None]), rtol=1e-6, atol=1e-9)
        assert np.array_equal(pickle.loads(pickle.dumps(fitted)).predict(points[:9]), fitted.predict(points[:9]))
    labels = ks.GaussianProcessClassifier(kernel).fit(points, X > 0).predict(points)
    assert np.mean(labels == (X > 0)) > 0.9
    chosen = ks.select(points, y, [kernel, Letters().on(["s"])])
    assert np.abs(chosen.predict(points) - y).max() < 0.01
    assert ks.SVRPath(points, y, RBF(1.0).on(["X"]), Cs=[1.0], epsilons=[0.1]).converged.all()


def test_paths_of_support_vectors(strings, y):
    path = ks.SVRPath(strings, y, RBF(3.0) @ Letters(), Cs=[1.0, 10.0], epsilons=[0.1])
    other = ks.SVRPath(features(strings), y, RBF(3.0), Cs=[1.0, 10.0], epsilons=[0.1])
    assert np.allclose(path.objectives, other.objectives, rtol=1e-3)


def test_scikit_learns_tools(strings, y, rng):
    points = Mixed(X=rng.normal(size=(150, 2)), s=strings)
    kernel = 0.1 * Linear("auto").on(["X"]) + (RBF("auto") @ Letters()).on(["s"])
    assert cross_val_score(ks.KernelRidge(kernel, alpha="auto"), points, y, cv=3).min() > 0.9
    assert cross_val_predict(ks.KernelRidge(RBF(3.0) @ Letters(), alpha=0.1), strings, y, cv=3).shape == (150,)
    search = GridSearchCV(ks.KernelRidge(RBF("auto") @ Letters(), alpha=0.01), {"kernel__inner__length": [1, 4]}, cv=3)
    assert search.fit(strings, y).best_params_ == {"kernel__inner__length": 4}
    result = ks.nested_cv(ks.KernelRidge(RBF("auto") @ Letters(), alpha="auto"), points.parts["s"], y, outer=3)
    assert result.mean["score"] > 0.9


def test_other_parts_than_in_fit(strings, y, rng):
    kernel = RBF("auto").on(["X"]) + Letters().on(["s"])
    points = Mixed(X=rng.normal(size=150), s=strings)
    model = ks.KernelRidge(kernel).fit(points, y)
    expected = model.predict(points[:4])
    assert np.array_equal(model.predict(Mixed(s=strings[:4], X=points.parts["X"][:4])), expected)
    for wrong, message in [
        (strings[:4], "expected the parts X, s, got None"),
        (Mixed(s=strings[:4]), "expected the parts X, s, got s"),
        (Mixed(s=[1.0], X=[2.0]), "expected objects in the part 's'"),
        (Mixed(s=["A"], X=["A"]), "expected numbers in the part 'X'"),
        (Mixed(s=["A"], X=[[1.0, 2.0]]), "expected 1 columns in the part 'X', got 2"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.predict(wrong)


def test_many_points_are_predicted_in_parts(strings, y, monkeypatch):
    model = ks.GaussianProcessRegressor(RBF(3.0) @ Letters(), noise=0.1).fit(strings, y)
    whole = model.predict(strings, return_std=True)
    ridge = ks.KernelRidge(RBF(3.0) @ Letters()).fit(strings, y)
    of_ridge = ridge.predict(strings)
    interpolator = ks.KernelInterpolator(RBF(3.0) @ Letters()).fit(strings[:20], (RBF(3.0) @ Letters())(strings[:20])[0])
    of_interpolator = interpolator.predict(strings)
    classifier = ks.GaussianProcessClassifier(RBF(3.0) @ Letters(), optimizer=None).fit(strings, y > np.median(y))
    of_classifier, labels = classifier.predict_proba(strings), classifier.predict(strings).tolist()
    monkeypatch.setattr("kernsel._data.points._AT_ONCE", 40)
    for a, b in zip(model.predict(pd.Series(strings), return_std=True), whole, strict=True):
        assert np.allclose(a, b, rtol=1e-10)
    assert np.allclose(ridge.predict(tuple(strings)), of_ridge, rtol=1e-10)
    assert np.allclose(interpolator.predict(strings), of_interpolator, rtol=1e-10)
    assert np.allclose(classifier.predict_proba(strings), of_classifier, rtol=1e-10)
    assert classifier.predict(strings).tolist() == labels


def test_tables_are_kept_within_limits(strings, y, monkeypatch):
    kernel = Letters(4, 0.5, "fixed") + RBF(3.0, "fixed") @ Letters(2, 0.3, "fixed")
    expected = ks.KernelRidge(kernel, alpha=0.1).fit(strings, y).predict(strings[:9])
    monkeypatch.setattr("kernsel.kernels.objects._MOST_BYTES", 1)
    model = ks.KernelRidge(kernel, alpha=0.1).fit(strings, y)
    assert len(model.kernel_.k1._pool.kept()[0]._results) == 1
    assert np.array_equal(model.predict(strings[:9]), expected)


def test_new_points_are_forgotten(strings, y):
    model = ks.GaussianProcessRegressor(RBF(3.0) @ Letters(), noise=0.1).fit(strings[:50], y[:50])
    pool = model.kernel_.inner._pool
    for _ in range(3):
        model.predict(strings, return_std=True)
    gc.collect()
    assert len(pool._sets) == 1
    assert len(pool.wanted()) == 1


def test_threads(strings, y):
    model = ks.GaussianProcessRegressor(RBF(3.0) @ Letters(), noise=0.1).fit(strings, y)
    expected = [model.predict(strings[i:]) for i in range(8)]
    wrong = []

    def work():
        for i in range(8):
            if not np.array_equal(model.predict(strings[i:]), expected[i]):
                wrong.append(i)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_numbers_that_are_no_objects_are_refused(strings, y):
    model = ks.KernelRidge(RBF(3.0) @ Letters()).fit(strings, y)
    for numbers in ([[1000.0]], [[-1.0]], [[0.5]]):
        with pytest.raises(ValueError, match="X: expected the objects that the kernel is of"):
            model.kernel_(np.array(numbers))
    with pytest.raises(ValueError, match="are numbers"):
        Letters().build()
