"""Studies of classes."""

import numpy as np
import pytest
from scipy.special import expit

import kernsel as ks
from kernsel.study import Study
from kernsel.study.classes import ClassStudy, is_of_classes, study_of_classes
from kernsel.study.tables import read_table


def flowers(put, classes, n=60):
    """Write a table of n rows whose classes are in bands of x, some at random."""
    rng = np.random.default_rng(2)
    x = rng.uniform(0, 6, n)
    code = np.minimum((x / 6 * classes).astype(int), classes - 1)
    code = np.where(rng.uniform(size=n) < 0.1, rng.integers(0, classes, n), code)
    rows = (f"{a:.3f},{'uv'[i % 2]},{'zyx'[c]}\n" for i, (a, c) in enumerate(zip(x, code, strict=True)))
    return read_table(put("x,kind,y\n" + "".join(rows)), "y", classes=True)


@pytest.fixture
def put(tmp_path):
    def write(text):
        path = tmp_path / "data.csv"
        path.write_text(text)
        return str(path)

    return write


@pytest.mark.parametrize("classes", [2, 3])
def test_kernels_are_compared_by_the_probabilities_of_rows_left_out(put, classes):
    table = flowers(put, classes)
    found = study_of_classes(table, kernels=["Linear.on(['x'])", "RBF"], test=0.25, seed=1)
    labels = np.array(table.target.levels)[table.y.astype(int)]
    training = found.kept - 1
    for line in found.lines:
        model = ks.GaussianProcessClassifier(f"1 * {line.kernel}".replace("['x']", "[0]"), criterion="loo", random_state=1)
        value = model.fit(table.X[training], labels[training]).criterion_value_
        assert line.value == pytest.approx(value, rel=0.05)
        assert line.loo_log_density == line.value / len(training)
    assert found.lines[0].value >= found.lines[1].value
    tests = np.setdiff1d(np.arange(len(labels)), training)
    assert found.test["rows"] == len(tests) == 15
    assert found.test["accuracy"] == np.mean(found.model.predict(table.X[tests]) == labels[tests])
    assert found.test["accuracy_of_most"] == np.mean(labels[tests] == table.target.levels[np.argmax(table.target.shares)])
    of_right = [found.model.predict_proba(table.X[[i]])[0, list(found.model.classes_).index(labels[i])] for i in tests]
    assert found.test["log_density"] == pytest.approx(np.mean(np.log(of_right)))
    left_out = found.left_out()
    assert 0.7 < left_out["accuracy"] <= 1
    if classes == 2:
        assert left_out["log_density"] == pytest.approx(found.lines[0].loo_log_density)


def test_rows_left_out_of_three_classes(put):
    """The scores of a model whose processes see one class against the others, with a kernel that leaves nothing to choose."""
    found = study_of_classes(flowers(put, 3, 12), kernels=["4.0 * RBF(1.0, 'fixed')"], criterion="lml")
    model, hits = found.model, 0
    X = model.processes()[0].X_train_
    labels = model.classes_[np.argmax([process.y_train_ for process in model.processes()], axis=0)]
    for row in range(12):
        others = np.delete(np.arange(12), row)
        again = ks.GaussianProcessClassifier(model.kernel, criterion="lml", optimizer=None).fit(X[others], labels[others])
        hits += again.predict(X[[row]])[0] == labels[row]
    assert abs(12 * found.left_out()["accuracy"] - hits) < 1.5  # the approximation is that of all rows
    assert np.isnan(found.lines[0].loo_log_density)


def test_a_study_is_what_it_was_after_it_was_saved(put, tmp_path):
    table = flowers(put, 3)
    found = study_of_classes(table, kernels=["RBF"], test=0.25)
    path = tmp_path / "a.ksl"
    found.save(path)
    again = ClassStudy.load(path)
    assert str(again) == str(found)
    np.testing.assert_allclose(again.probabilities(table.X), found.probabilities(table.X), rtol=1e-7)
    np.testing.assert_allclose(again.probabilities(table.X).sum(axis=1), 1.0)
    assert is_of_classes(path)
    with pytest.raises(ValueError, match=r"a.ksl predicts classes; expected a model of numbers"):
        Study.load(path)
    ks.save(found.model, path)
    assert not is_of_classes(path)
    with pytest.raises(ValueError, match="has no study of classes"):
        ClassStudy.load(path)
    notes = {"study of classes": 1} | found.as_json()
    for change in ({"names": ["x"]}, {"lines": {}}, {"target": notes["target"] | {"levels": ["z"]}}):
        ks.save(found.model, path, notes=notes | change)
        with pytest.raises(ValueError, match="the study in it is damaged"):
            ClassStudy.load(path)


def test_a_class_that_was_not_learnt_has_no_probability(put):
    table = flowers(put, 3)
    rows = np.flatnonzero(table.y < 2)
    codes = [name == "y" for name in np.array(table.target.levels)[table.y[rows].astype(int)]]
    model = ks.GaussianProcessClassifier(optimizer=None).fit(table.X[rows], np.where(codes, "y", "x"))
    study = ClassStudy("a", 1, table.names, [], table.target, [], [], "loo", model, {}, rows, 0.0)
    found = study.probabilities(table.X[:4])
    assert (found[:, 2] == 0).all()
    np.testing.assert_allclose(found[:, :2], model.predict_proba(table.X[:4]))
    scores = study.scores(np.array([[expit(1), expit(-1), 0], [0.1, 0.9, 0]]), np.array([0.0, np.nan]))
    assert (scores["rows"], scores["accuracy"], scores["log_density"]) == (1, 1, pytest.approx(np.log(expit(1))))
    assert study.scores(found, np.full(4, np.nan)) == {}
