"""A model of some rows of a file, conditioned on all of them."""

import numpy as np
import pandas as pd
import pytest

import kernsel as ks
from kernsel._data.rows import row_source
from kernsel.estimators.process_of_rows import conditioned_on_rows
from kernsel.study import Study, study
from kernsel.study.all_rows import learn_from_all
from kernsel.study.tables import read_sample, read_table

import reference_nystrom
from accuracy import assert_forward


def test_predictions_are_those_of_landmarks_for_all_other_rows(tmp_path, rng):
    x, kind = rng.uniform(0, 6, 400), rng.choice(["u", "v"], 400)
    y = np.sin(x) + (kind == "v") + 0.5 * rng.normal(size=400)
    x[[5, 80]] = np.nan
    path = str(tmp_path / "a.csv")
    pd.DataFrame({"x": x, "kind": kind, "y": y}).to_csv(path, index=False)
    table = read_sample(path, "y", 120, 1)
    found = study(table, kernels=["Matern(nu=0.5)"], criteria=["lml"], rows=60)
    learnt = learn_from_all(found, table, path, "drop", ks.Nystrom(15))
    aside = np.setdiff1d(table.kept, found.kept)
    whole = read_table(path, "y")
    seen = ~np.isin(whole.kept, aside)
    assert (learnt.rows, learnt.landmarks, learnt.study.test["rows"]) == (seen.sum(), 15, len(aside))

    learnt.study.save(tmp_path / "a.ksl")
    process, k, Z = found.process, found.process.kernel_, learnt.study.model.posterior_.landmarks
    X, new = whole.X[seen], whole.X[~seen]
    noise, one = np.full(len(X), process.noise_ + process.jitter_), np.ones((len(X), 1))
    fit = {"noise": noise, "H": one, "y": whole.y[seen][:, None]}
    own, K_ZZ = k(new), k(Z)
    mean, covariance = reference_nystrom.predict(fit, k(X, Z), K_ZZ, k(new, Z), own, one[: len(new)])
    std = np.sqrt(np.diag(covariance) + noise[0])
    # Two matrices are solved with: that of the landmarks, and that of all rows, whose largest eigenvalue is a sum of n.
    condition = np.linalg.cond(K_ZZ) + len(X) * own[0, 0] / noise[0]
    for model in (learnt.study.model, Study.load(tmp_path / "a.ksl").model):
        predicted = model.predictive(new)
        assert_forward(predicted.mean[:, 0], mean[:, 0], condition, len(X), np.float64)
        assert_forward(predicted.std[:, 0], std, condition, len(X), np.float64)
    errors = whole.y[~seen] - mean[:, 0]
    assert learnt.study.test["rmse"] == pytest.approx(np.sqrt(np.mean(errors**2)), rel=1e-8)
    assert learnt.test_of_some == found.test
    assert learnt.study.approximation.startswith(f"{seen.sum()} rows: hyperparameters were chosen by 60 of them")
    assert (learnt.study.keeps_rows, found.keeps_rows) == (False, True)


def test_a_process_of_several_targets_is_refused(rng):
    X, y = rng.normal(size=(20, 1)), rng.normal(size=(20, 2))
    model = ks.GaussianProcessRegressor(ks.kernels.RBF(1.0), noise=0.1, optimizer=None).fit(X, y)
    with pytest.raises(ValueError, match="model: expected a process of one target"):
        conditioned_on_rows(model, row_source(X, y), ks.Nystrom(5))
