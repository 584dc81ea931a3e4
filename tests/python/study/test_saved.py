"""Selections from tables on disk: what is loaded predicts from tables, and the command takes the file."""

import numpy as np
import pytest

import kernsel as ks
from kernsel import cli
from kernsel.plotting import PosteriorDisplay
from kernsel.study import Study
from kernsel.study.classes import ClassStudy
from kernsel.study.encoded import TableModel


def table(n=40):
    rng = np.random.default_rng(0)
    x, kind = rng.uniform(0, 6, n), rng.choice(["new", "old", "worn"], n)
    return {"x": x, "kind": kind, "y": np.sin(x) + (kind == "old") + 0.1 * rng.standard_normal(n)}


def written(path, data):
    path.write_text(",".join(data) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in zip(*data.values(), strict=True)))
    return str(path)


@pytest.mark.parametrize("options", [{}, {"combine": None}, {"criterion": "loo", "groups": np.arange(40) % 5}], ids=repr)
def test_a_selection_is_read_back_with_its_encoding(options, tmp_path, capsys):
    data, path = table(), tmp_path / "a.ksl"
    data["x"][3] = np.nan
    if "groups" in options:
        options = options | {"groups": options["groups"][1:]}
    selected = ks.select(data, target="y", kernels=["RBF", "Linear.on(['kind']) + RBF.on(['x'])"], **options)
    ks.save(selected, path)
    model = ks.load(path)
    assert isinstance(model, TableModel)
    assert model.encoding.names == selected.encoding.names
    np.testing.assert_array_equal(model.encoding.kept, selected.encoding.kept)
    new = {"kind": ["old", "broken"], "x": [1.0, 2.0]}
    with pytest.warns(UserWarning, match="no prediction"):
        found, expected = (one.predict(new, return_std=True) for one in (model, selected))
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    data["x"][3] = 1.0
    assert model.score(data) == pytest.approx(selected.score(data))
    ks.save(model, tmp_path / "b.ksl")
    assert (tmp_path / "b.ksl").read_bytes() == path.read_bytes()
    assert PosteriorDisplay.from_estimator(model).lines_
    study = Study.load(path)
    assert [line.value for line in study.lines[study.criterion]] == [one.value for one in selected.tried]
    assert study.noise == pytest.approx(selected.best_estimator_.noise_)
    assert np.isfinite(study.line.loo_rmse)
    assert (study.grouped_by == "groups") == ("groups" in options)
    assert cli.main(["predict", str(path), written(tmp_path / "new.csv", data), "-o", str(tmp_path / "out.csv")]) == 0
    out = np.loadtxt(tmp_path / "out.csv", delimiter=",", skiprows=1)
    np.testing.assert_allclose(out[:, 0], selected.predict(data), rtol=1e-9)
    assert cli.main(["report", str(path)]) == 0
    assert "arning" not in capsys.readouterr().err


@pytest.mark.parametrize("labels", [["down", "up"], [0, 1]])
def test_classes(labels, tmp_path):
    data, path = table(), tmp_path / "a.ksl"
    data["y"] = np.array(labels)[(data["y"] > 0.5).astype(int)]
    selected = ks.select(data, target="y", kernels=["RBF"], estimator=ks.GaussianProcessClassifier(criterion="loo"))
    ks.save(selected, path)
    model = ks.load(path)
    assert model.predict(data).tolist() == selected.predict(data).tolist()
    np.testing.assert_allclose(model.predict_proba(data), selected.predict_proba(data), rtol=1e-7)
    study = ClassStudy.load(path)
    np.testing.assert_allclose(
        study.probabilities(selected.best_estimator_.base_estimator_.X_train_), model.predict_proba(data)
    )
    assert study.left_out()["log_density"] == pytest.approx(study.lines[0].loo_log_density)
    assert cli.main(["predict", str(path), written(tmp_path / "new.csv", data), "-o", str(tmp_path / "out.csv")]) == 0
    assert (tmp_path / "out.csv").read_text().split("\n")[1].startswith(f"{selected.predict(data)[0]},")


def test_models_that_the_command_has_not(tmp_path, capsys):
    data, path = table(), tmp_path / "a.ksl"
    selected = ks.select(data, target="y", kernels=["RBF"], estimator=ks.KernelRidge(alpha="auto"))
    ks.save(selected, path)
    np.testing.assert_allclose(ks.load(path).predict(data), selected.predict(data), rtol=1e-9)
    assert cli.main(["predict", str(path), written(tmp_path / "new.csv", data)]) == 1
    assert "has no Gaussian process; kernsel.load reads it" in " ".join(capsys.readouterr().err.split())
    with pytest.raises(ValueError, match="notes: expected None, since the notes of this selection"):
        ks.save(selected, path, notes={"a": 1})
    for change in ({"selection": 2}, {"names": ["x"]}, {"kept": "z"}, {"target": None}):
        ks.save(selected.best_estimator_, path, notes=ks.saving.read_notes(path) | change)
        with pytest.raises(ValueError, match="the notes in it are damaged"):
            ks.load(path)
        ks.save(selected, path)
