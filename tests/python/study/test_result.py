"""Studies in files: the same when they are read again, and refused if they are none."""

import json
from dataclasses import fields, replace

import numpy as np
import pytest

import kernsel as ks
from kernsel.kernels import RBF
from kernsel.saving import read_notes
from kernsel.study import Line, Study, study


def test_a_study_is_what_it_was_after_it_was_saved(found, tmp_path):
    path = tmp_path / "study.ksl"
    odd = replace(found, lines=found.lines | {"gcv": [Line("RBF", "", *[np.nan] * 4, 0.0, 0, 0, 0.1, "failed", "")]})
    odd.save(path)
    again = Study.load(path)
    for each in fields(Study):
        if each.name == "model":
            np.testing.assert_allclose(again.model.predict([[1.0, 2.0]]), found.model.predict([[1.0, 2.0]]), rtol=1e-9)
        else:
            assert str(getattr(again, each.name)) == str(getattr(odd, each.name))
    assert json.loads(json.dumps(read_notes(path), allow_nan=False))["lines"]["gcv"][0]["value"] is None
    np.testing.assert_allclose(again.model.loo_residuals_, found.model.loo_residuals_, rtol=1e-6)


def test_a_study_of_an_older_version_is_read(found, tmp_path):
    notes = {"study": 1} | found.as_json()
    for column in [*notes["columns"], notes["target"]]:
        del column["order"]
    ks.save(found.model, tmp_path / "study.ksl", notes=notes)
    assert Study.load(tmp_path / "study.ksl").columns == found.columns


def test_a_mixture_is_what_it_was_and_files_without_weights_are_read(table, found, tmp_path):
    path = tmp_path / "study.ksl"
    mixed = study(table, kernels=["RBF", "Linear"], criteria=["lml"], combine="stack")
    mixed.save(path)
    again = Study.load(path)
    assert again.is_stacked
    assert str(again.lines) == str(mixed.lines)
    np.testing.assert_allclose(again.model.predict(table.X, True), mixed.model.predict(table.X, True), rtol=1e-7)
    notes = {"study": 1} | found.as_json()
    for lines in notes["lines"].values():
        for line in lines:
            del line["weight"]  # as in files of 0.1.0
    ks.save(found.model, path, notes=notes)
    old = Study.load(path)
    assert np.isnan(old.line.weight)
    assert old.line.kernel == found.line.kernel
    assert not old.is_stacked


def test_what_is_no_study_is_refused(found, tmp_path):
    path = tmp_path / "study.ksl"
    ks.save(found.model, path)
    with pytest.raises(ValueError, match="has a model, but not what `kernsel select --save` writes beside it"):
        Study.load(path)
    notes = {"study": 1} | found.as_json()
    for change, message in (
        ({"study": 2}, "the study in it is of version 2, expected 1"),
        ({"lines": None}, "the study in it is damaged: AttributeError|TypeError"),
        ({"lines": {"lml": [{"kernel": 1}]}}, "damaged: TypeError expected a text, got 1"),
        ({"names": ["a"]}, "it is of other columns or rows than the model"),
        ({"kept": [1, 2]}, "it is of other columns or rows than the model"),
        ({"seconds": "long"}, "damaged: ValueError"),
        ({"columns": [{}]}, "damaged: KeyError 'name'"),
        ({"target": []}, "damaged: TypeError"),
    ):
        ks.save(found.model, path, notes=notes | change)
        with pytest.raises(ValueError, match=message):
            Study.load(path)
    ks.save(ks.KernelRidge(RBF(1.0)).fit(np.eye(2), [0.0, 1.0]), path, notes=notes)
    with pytest.raises(ValueError, match="expected a GaussianProcessRegressor or StackedRegressor, got a KernelRidge"):
        Study.load(path)
