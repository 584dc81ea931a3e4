"""ks.select of tables with named columns."""

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF


def table(n=40, seed=0):
    rng = np.random.default_rng(seed)
    x, kind = rng.uniform(0, 6, n), rng.choice(["new", "old", "worn"], n)
    y = np.sin(x) + (kind == "old") + 0.1 * rng.standard_normal(n)
    day = np.datetime64("2024-01-01") + rng.integers(0, 50, n)
    return {"x": x, "kind": kind, "day": day, "row": np.arange(n), "y": y}


@pytest.fixture(scope="module")
def selected():
    data = table()
    data["x"][3] = np.nan
    return ks.select(data, target="y", kernels=["RBF.on(['x']) + Linear.on(['kind'])", RBF("auto")], criterion="lml")


def test_a_table_is_encoded_as_the_command_does(selected, tmp_path):
    assert selected.encoding.names == ["x", "kind=new", "kind=old", "kind=worn", "day"]
    assert selected.best_estimator_.X_train_.shape == (39, 5)
    assert "1 row with missing values (1 in x): they are left out." in str(selected)
    assert "kind=old" in selected.describe() or "x" in selected.describe()
    new = {"kind": ["old", "worn"], "x": [1.0, 2.0], "day": ["2024-01-05", "2024-02-01"], "y": [1.8, 0.9]}
    X = [[1.0, 0.0, 1.0, 0.0, 19727.0], [2.0, 0.0, 0.0, 1.0, 19754.0]]
    np.testing.assert_array_equal(selected.predict(new), selected.best_estimator_.predict(X))
    assert selected.score(new) == selected.best_estimator_.score(X, [1.8, 0.9])
    path = tmp_path / "new.csv"
    path.write_text("kind,x,day\nold,1,2024-01-05\n")
    assert selected.predict(path)[0] == selected.predict(str(path))[0] == pytest.approx(selected.predict(new)[0])
    with pytest.raises(ValueError, match="'day', which the model predicts from, is not there"):
        selected.predict({"kind": ["old"], "x": [1.0]})
    with pytest.raises(ValueError, match="y: expected None, because column 'y' of X is the target"):
        selected.score(new, [1.0, 2.0])


def test_the_best_kernel_names_columns():
    kernels = ["RBF.on(['x']) + Linear.on(['kind'])", "2.0 * Matern.on(['day', 'x'])"]
    for kernel in kernels:
        sel = ks.select(table(), target="y", kernels=[kernel], criterion="lml")
        named = sel.best_kernel_
        assert ".on(['kind=new', 'kind=old', 'kind=worn'])" in str(named) or ".on(['day', 'x'])" in str(named)
        X = sel.best_estimator_.X_train_
        np.testing.assert_array_equal(named(X), sel.best_estimator_.kernel_(X))


def test_rows_that_cannot_be_predicted_are_gaps(selected):
    new = {"kind": ["old", "broken", "new"], "x": [1.0, 2.0, None], "day": ["2024-01-05"] * 3}
    with pytest.warns(UserWarning, match=r"not learnt \('broken' in kind\): no prediction .* missing values \(1 in x\)"):
        mean, std = selected.predict(new, return_std=True)
    assert np.isnan(mean).tolist() == np.isnan(std).tolist() == [False, True, True]
    with pytest.warns(UserWarning, match="no prediction"):
        _, covariance = selected.predict(new, return_cov=True)
    assert covariance.shape == (3, 3)
    assert np.isfinite(covariance).sum() == 1
    with pytest.warns(UserWarning, match="broken"), pytest.raises(ValueError, match="X: there is no row to predict at"):
        selected.predict({"kind": ["broken"], "x": [1.0], "day": ["2024-01-05"]})


def test_frames_of_pandas_and_files(selected, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(table())
    frame.loc[3, "x"] = None
    kernels = ["RBF.on(['x']) + Linear.on(['kind'])", "RBF"]
    again = ks.select(frame, target="y", kernels=kernels, criterion="lml")
    assert again.best.value == selected.best.value
    frame.to_csv(tmp_path / "a.csv", index=False)
    again = ks.select(tmp_path / "a.csv", target="y", kernels=kernels[:1], criterion="lml")
    assert again.encoding.names == selected.encoding.names


def test_classes():
    data = table()
    data["y"] = np.where(data["y"] > 0.5, "high", "low").astype(object)
    data["y"][5] = None
    classifier = ks.GaussianProcessClassifier(criterion="loo")
    sel = ks.select(data, target="y", kernels=["RBF"], estimator=classifier)
    assert sel.best_estimator_.classes_.tolist() == ["high", "low"]
    new = {name: values[:3].tolist() for name, values in data.items()}
    new["kind"][1] = "broken"
    with pytest.warns(UserWarning, match="no prediction"):
        found, shares = sel.predict(new), sel.predict_proba(new)
    assert found[1] is None
    assert found[0] in ("high", "low")
    assert np.isnan(shares[1]).all()
    assert shares[[0, 2]].sum(axis=1) == pytest.approx(1.0)
    data["y"] = np.arange(40) % 2
    assert ks.select(data, target="y", kernels=["RBF"], estimator=classifier).predict(data).dtype.kind == "i"


def test_arguments_that_contradict_each_other():
    with pytest.raises(ValueError, match="y: expected either y or target"):
        ks.select(table(), np.zeros(40), target="y")
    with pytest.raises(TypeError, match="y: expected the targets, or target="):
        ks.select(np.zeros((40, 2)))
    with pytest.raises(ValueError, match=r"has no column 'z'; it has x, kind"):
        ks.select(table(), target="z")
    with pytest.raises(TypeError, match="expected a frame with named columns"):
        ks.select(np.zeros((40, 2)), target="y")
