"""The table of criteria is complete, and a row is all that the rest of the package needs to know a criterion."""

import re

import numpy as np
import pytest

import kernsel as ks
from kernsel import cli
from kernsel.criteria import CRITERIA, Criterion, LeaveOneOut
from kernsel.criteria.names import (
    along_path,
    criterion_named,
    direction,
    label_of,
    name_of,
    needs,
    offered,
    searched,
    with_free_scale,
)
from kernsel.criteria.table import TABLE, Row
from kernsel.kernels import RBF, Linear
from kernsel.plotting.rules import style_of
from kernsel.report import render
from kernsel.study import study
from kernsel.study.tables import read_table

from criterion_cases import AT_GIVEN

NEEDED = {"sigma", "folds", "prior"}


@pytest.mark.parametrize("name", TABLE)
def test_every_row_is_complete(name):
    row = TABLE[name]
    assert row.name == name
    for text in (row.formula, row.short, row.label, row.sentence):
        assert text
        assert "\n" not in text
        assert text == text.strip(" .")
    assert row.for_search or row.for_path
    assert set(row.needs) <= NEEDED
    assert row.larger_is_better in ((None,) if name == "discrepancy" else (True, False))


@pytest.mark.parametrize("name", searched())
def test_rows_agree_with_their_classes(name):
    row = TABLE[name]
    criterion = criterion_named(name, {})
    assert isinstance(criterion, Criterion)
    assert criterion.larger_is_better == row.larger_is_better
    assert direction(name) == ("larger" if criterion.larger_is_better else "smaller")
    assert name_of(criterion) == name
    assert criterion.adds_prior == ("prior" in row.needs or criterion.integrates)
    assert hasattr(criterion, "sigma") == needs(name, "sigma")
    assert hasattr(criterion, "folds") == needs(name, "folds")


@pytest.mark.parametrize("name", along_path())
def test_rules_are_those_of_a_path(name):
    X = np.linspace(0, 6, 40)[:, None]
    y = np.sin(X[:, 0]) + 0.1 * np.cos(1e3 * X[:, 0])
    path = ks.RegularizationPath(RBF(1.0), y, X=X, sigma=0.1)
    alpha = path.best(name)
    values = getattr(path, TABLE[name].curve)
    if TABLE[name].larger_is_better is not None and name != "quasi-optimality":  # whose minimum is an interior one
        best = values.max() if TABLE[name].larger_is_better else values.min()
        found = getattr(path.at(alpha), TABLE[name].curve)[0]
        assert found >= best - 1e-9 * abs(best) if TABLE[name].larger_is_better else found <= best + 1e-9 * abs(best)
    if TABLE[name].for_search and not TABLE[name].differs_on_path:
        value = ks.evaluate(name, RBF(1.0), X, y, noise=alpha).value
        assert getattr(path.at(alpha), TABLE[name].curve)[0] == pytest.approx(value, rel=1e-8)
    assert style_of(name).name == TABLE[name].short


def test_lists_of_names():
    assert searched() == CRITERIA
    assert set(searched()) | set(along_path()) == set(TABLE)
    assert set(CRITERIA) - set(offered()) == {"risk"}
    assert {name: with_free_scale(name) for name in along_path() if with_free_scale(name) != name} == {
        "lml": "profiled_lml",
        "reml": "profiled_reml",
    }
    assert label_of(LeaveOneOut(lambda r, v: (r**4, 4 * r**3, 0 * v))) == "LeaveOneOut"


def test_all_names_are_documented(root):
    page = (root / "python/docs/criteria.md").read_text()
    for name, row in TABLE.items():
        assert f'"{name}"' in page
        assert re.search(rf"^ +{re.escape(name)} +{re.escape(row.formula)}$", ks.criteria.__doc__, re.M)
    for name in AT_GIVEN:
        assert f'"{name}"' in ks.evaluate.__doc__


def test_an_integral_has_no_value_for_given_hyperparameters(data):
    X, y = data
    assert set(CRITERIA) - set(AT_GIVEN) == {"evidence"}
    for criterion in ("evidence", ks.criteria.Evidence()):
        with pytest.raises(ValueError, match=r'criterion: expected one .* such as "reml", got "evidence", an integral'):
            ks.evaluate(criterion, RBF(1.0), X, y, noise=0.1)


def fourth_power(r, v):
    """Return the fourth powers of residuals, and their derivatives in r and v."""
    return r**4, 4 * r**3, 0 * v


@pytest.fixture
def fourth(monkeypatch):
    """Add a criterion by its row alone."""
    row = Row(
        "loo_fourth",
        "mean of r_i^4",
        "leave-one-out, fourth power",
        "mean fourth power of leave-one-out errors",
        "fourth powers of errors of rows left out",
        larger_is_better=False,
        kind=LeaveOneOut,
        fixed={"loss": fourth_power, "profiled": False},
    )
    monkeypatch.setitem(TABLE, row.name, row)
    return row


@pytest.fixture
def data(rng):
    X = np.linspace(0, 6, 30)[:, None]
    return X, np.sin(X[:, 0]) + 0.1 * rng.standard_normal(30)


def test_a_new_row_is_evaluated(fourth, data):
    X, y = data
    left_out = ks.loo(RBF(1.0), X, y, noise=0.1).residuals
    assert ks.evaluate(fourth.name, RBF(1.0), X, y, noise=0.1).value == pytest.approx(np.mean(left_out**4))
    with pytest.raises(ValueError, match=r"expected one of .*, loo_fourth, a Criterion"):
        ks.evaluate("loo_fifth", RBF(1.0), X, y)


def test_a_new_row_chooses_in_estimators(fourth, data, tmp_path):
    X, y = data
    model = ks.KernelRidge("RBF", alpha="auto", criterion=fourth.name, fit_intercept=False).fit(X, y)
    value = ks.evaluate(fourth.name, model.kernel_, X, y, noise=model.alpha_).value
    assert model.criterion_value_ == pytest.approx(value, rel=1e-6)
    process = ks.GaussianProcessRegressor("RBF", noise="auto", criterion=fourth.name).fit(X, y)
    for fitted in (model, process):
        ks.save(fitted, tmp_path / "model.ksl")
        again = ks.load(tmp_path / "model.ksl")
        assert again.criterion == fourth.name
        assert again.selection_.criterion == fitted.selection_.criterion
        assert again.predict(X) == pytest.approx(fitted.predict(X))
    nested = ks.nested_cv(ks.KernelRidge("RBF", alpha="auto", criterion=fourth.name), X, y, outer=2)
    assert fourth.name in repr(nested)


def test_a_new_row_selects(fourth, data):
    X, y = data
    found = ks.select(X, y, [RBF("auto"), Linear("auto")], fourth.name)
    assert f"smaller values of {fourth.name} are better" in str(found)
    assert found.best.as_good  # by the densities of what is left out
    assert all(np.isfinite(one.value) for one in found.tried)
    pytest.importorskip("matplotlib")
    display = ks.plotting.SearchDisplay.from_estimator(found)
    assert display.criterion == fourth.label
    assert display.ax_.get_xlabel().replace("\n", " ").startswith(f"{fourth.label}, smaller is better")


def test_a_new_row_is_offered_and_explained(fourth, data, tmp_path, monkeypatch, capsys):
    X, y = data
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    np.savetxt("data.csv", np.column_stack([X, y]), delimiter=",", header="x,y", comments="")
    with pytest.raises(SystemExit):
        cli.main(["select", "--help"])
    assert f"  {fourth.name:25s} {fourth.sentence}\n" in capsys.readouterr().out
    assert cli.main(["select", "data.csv", "--target", "y", "--kernel", "RBF", "--criterion", fourth.name]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"By {fourth.name}: {fourth.sentence} (smaller is better)" in said
    assert f"Chosen by {fourth.name}: RBF" in said
    assert "The error was what was made small" in said
    assert isinstance(ks.load("data.ksl").selection_.criterion, LeaveOneOut)
    with pytest.raises(SystemExit):
        cli.main(["select", "data.csv", "--target", "y", "--criterion", "loo_forth"])
    assert f"did you mean {fourth.name}?" in capsys.readouterr().err


@pytest.mark.slow
def test_a_new_row_is_in_the_report(fourth, data, tmp_path):
    pytest.importorskip("matplotlib")
    X, y = data
    np.savetxt(tmp_path / "data.csv", np.column_stack([X, y]), delimiter=",", header="x,y", comments="")
    found = study(read_table(str(tmp_path / "data.csv"), "y"), kernels=["RBF"], criteria=[fourth.name])
    page = render(found)
    assert f"the {fourth.label}: smaller is better" in re.sub(r"<[^>]*>", "", page)
