"""The validation curve: its errors are those of refits."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import KFold, validation_curve
from sklearn.tree import DecisionTreeRegressor

import kernsel as ks
from kernsel.kernels import RBF, Matern
from kernsel.plotting import ValidationDisplay

from plotted import ROUGH, refitted

ALPHAS = [1e-6, 1.0, 1000.0]


def test_errors_are_those_of_refits(data):
    X = data[0]
    y = np.sin(X[:, 0]) + 0.7 * np.random.default_rng(5).standard_normal(30)
    model = ks.KernelRidge(ROUGH)
    folds = KFold(3, shuffle=True, random_state=0)
    display = ValidationDisplay.from_estimator(model, X, y, param_name="alpha", param_range=ALPHAS, cv=folds, units={"y": "N"})
    train, test = validation_curve(
        model, X, y, param_name="alpha", param_range=ALPHAS, cv=folds, scoring="neg_root_mean_squared_error"
    )
    np.testing.assert_allclose(display.train, -train, rtol=1e-12)
    np.testing.assert_allclose(display.validation, -test, rtol=1e-12)
    left_out = [np.sqrt(np.mean((y - refitted(X, y, alpha)[0]) ** 2)) for alpha in ALPHAS]
    np.testing.assert_allclose(display.left_out[:, 0], left_out, rtol=1e-6)  # a condition number of 1e6 or so
    np.testing.assert_array_equal(display.lines_["validation"].get_ydata(), -test.mean(axis=1))
    low = display.bands_["validation"].get_paths()[0].get_extents().y0
    assert low == pytest.approx((-test.mean(axis=1) - test.std(axis=1, ddof=1) / 3**0.5).min())
    assert display.best_ == ALPHAS[int(np.argmax(test.mean(axis=1)))] == 1.0
    assert display.sides_ == {"overfits": "left", "underfits": "right"}
    assert [text.get_text() for text in display.texts_] == ["← overfits", "underfits →"]
    assert display.ax_.get_ylabel() == "error of y (N)"
    assert display.ax_.get_xscale() == "log"
    assert not hasattr(model, "dual_coef_")  # a copy was fitted


def test_two_estimators_on_the_same_axes():
    errors = {"param_name": "alpha", "values": [0.1, 1.0, 10.0], "train": [0.1, 0.2, 0.5], "validation": [0.6, 0.3, 0.5]}
    first = ValidationDisplay(**errors).plot(name="one")
    second = ValidationDisplay(**errors).plot(first.ax_, name="two", line_kwargs={"color": "black"})
    texts = [text.get_text() for text in second.legend_.get_texts()]
    assert texts == [f"{name}: {label}" for name in ("one", "two") for label in ("points of the fit", "left out", "best: 1")]
    assert {line.get_color() for line in second.lines_.values()} == {"black"}
    assert (len(first.texts_), second.texts_) == (2, [])


class Refusing(ks.KernelRidge):
    def left_out(self, X=None, y=None, output=0):
        del X, y, output
        raise ValueError("y: not what this KernelRidge was fitted to")


def test_without_errors_of_single_points(data):
    """Two targets have none, nor has a model that refuses, as one does that was fitted with weights it does not keep."""
    X, y = data
    options = {"param_name": "kernel__length_scale", "param_range": [0.5, 1.0], "cv": 2}
    two = ValidationDisplay.from_estimator(ks.KernelRidge(RBF(1.0), alpha=0.1), X, np.column_stack([y, -y]), **options)
    assert two.left_out is None
    assert ValidationDisplay.from_estimator(Refusing(RBF(1.0)), X, y, **options).left_out is None


def test_any_estimator_and_any_parameter(data):
    X, y = data
    tree = ValidationDisplay.from_estimator(
        DecisionTreeRegressor(random_state=0), X, y, param_name="max_depth", param_range=range(1, 6), cv=2,
        loss=mean_absolute_error,
    )  # fmt: skip
    assert tree.left_out is None
    assert tree.sides_.get("underfits", "left") == "left"
    assert tree.ax_.get_ylabel() == "mean absolute error"
    kernels = [ROUGH, Matern(0.01, nu=0.5)]
    named = ValidationDisplay.from_estimator(ks.KernelRidge(alpha=0.1), X, y, param_name="kernel", param_range=kernels, cv=2)
    assert [label.get_text() for label in named.ax_.get_xticklabels()] == [str(kernel) for kernel in kernels]
    forest = RandomForestClassifier(n_estimators=2, random_state=0)
    classes = ValidationDisplay.from_estimator(forest, X, y > 0, param_name="criterion", param_range=["gini", "entropy"], cv=2)
    assert classes.sides_ == {}
    assert classes.ax_.get_ylabel() == "share of wrong classes"


def test_bad_input(data):
    X, y = data
    with pytest.raises(ValueError, match=r"^X, y: expected the points and the targets"):
        ValidationDisplay.from_estimator(ks.KernelRidge(ROUGH))
    with pytest.raises(ValueError, match=r"^param_range: expected at least one value"):
        ValidationDisplay.from_estimator(ks.KernelRidge(ROUGH), X, y)
    with pytest.raises(ValueError, match=r"^train: expected finite numbers, a row for each of 2 values, got shape \(3,\)"):
        ValidationDisplay(param_name="alpha", values=[1.0, 2.0], train=[1.0, 2.0, 3.0], validation=[1.0, 2.0])
    with pytest.raises(ValueError, match=r"^left_out: expected finite numbers"):
        ValidationDisplay(param_name="a", values=[1.0], train=[1.0], validation=[1.0], left_out=[np.nan])
