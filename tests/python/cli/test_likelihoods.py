"""kernsel select and predict with a likelihood."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest

import kernsel as ks

from commands import strict

rng = np.random.default_rng(3)
X = rng.uniform(0, 6, 60).round(3)
HOURS = rng.uniform(0.5, 3.0, 60).round(2)
FAULTS = rng.poisson(HOURS * np.exp(1 + np.sin(2 * X)))


@pytest.fixture
def faults(folder):
    rows = "\n".join(f"{x},{e},{y}" for x, e, y in zip(X, HOURS, FAULTS, strict=True))
    (folder / "faults.csv").write_text(f"x,hours,faults\n{rows}\n")
    return "faults.csv"


def test_counts_from_selection_to_prediction(run, faults):
    code, out, err = run(
        *("select", faults, "--target", "faults", "--kernel", "RBF", "--likelihood", "poisson", "--exposure", "hours")
    )
    assert code == 0, err
    said = " ".join(out.split())
    for part in (
        "the exposure of each row, from 0.",
        "By lml: ",
        "By loo_log_density: ",
        "observed: Poisson counts of mean exp(f)",
        "Their mean log density is",
    ):
        assert part in said
    model = ks.saving.load_estimator("faults.ksl")
    Path("new.csv").write_text("x,hours\n1.5,2.5\n3.0,1\n")
    code, out, err = run("predict", "faults.ksl", "new.csv", "--intervals", "80")
    assert (code, err) == (0, "")
    values = np.array(list(csv.reader(io.StringIO(out)))[1:], dtype=float)
    points, exposure = [[1.5], [3.0]], [2.5, 1.0]
    mean, std = model.predict(points, return_std=True, exposure=exposure)
    ends = model.predict_quantiles(points, [0.1, 0.9], exposure=exposure)
    np.testing.assert_allclose(values, np.column_stack([mean, std, ends]), rtol=1e-12)
    Path("one.csv").write_text("x\n1.5\n")
    code, out, err = run("predict", "faults.ksl", "one.csv", "--json")
    assert "There is no column 'hours': predictions are for exposure of 1." in " ".join(err.split())
    assert strict(out)["predictions"][0]["predicted"] == pytest.approx(model.predict([[1.5]])[0])
    document = strict(run("select", faults, "--target", "faults", "--kernel", "RBF", "--likelihood", "poisson", "--json")[1])
    assert document["chosen"]["words"][-1] == "- observed: Poisson counts of mean exp(f)"


def test_counts_without_a_likelihood_are_noticed(run, faults):
    code, out, err = run("select", faults, "--target", "faults", "--kernel", "RBF", "--criterion", "lml")
    assert code == 0
    said = " ".join((out + err).split())
    assert "look like counts, whole numbers from" in said
    assert "--likelihood poisson is for these" in said


def test_options_that_do_not_go_together(run, faults):
    select = ("select", faults, "--target", "faults")
    assert "--classify, --likelihood: expected one of them" in run(*select, "--classify", "--likelihood", "poisson")[2]
    assert "invalid choice: 'poison'" in run(*select, "--likelihood", "poison")[2]
    code, _, err = run(*select, "--exposure", "hours")
    assert code == 1
    assert "exposure: normal noise has none; expected a likelihood of counts, such as --likelihood poisson" in " ".join(
        err.split()
    )
