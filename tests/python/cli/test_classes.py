"""kernsel select --classify, and predictions of classes."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest

from kernsel.study.classes import ClassStudy

from commands import strict


@pytest.fixture
def fitted(run, folder):
    """Write a table and a model of its classes; return what the command said."""
    pairs = enumerate(np.random.default_rng(0).uniform(0, 6, (40, 2)))
    rows = (f"{x:.3f},{'uv'[i % 2]},{'far' if x + 0.3 * e > 3 else 'near'}\n" for i, (x, e) in pairs)
    (folder / "data.csv").write_text("x,kind,place\n" + "".join(rows))
    options = ["--target", "place", "--classify", "--kernel", "RBF", "--kernel", "Linear", "--test", "20%"]
    return run("select", "data.csv", *options)


def test_select(fitted):
    code, out, err = fitted
    assert code == 0
    assert "8 rows that were not learnt from test the model." in err
    out = " ".join(out.split())
    study = ClassStudy.load("data.ksl")
    assert "place (target) 2 classes: far, near" in out
    assert f"Chosen by loo: {study.lines[0].kernel}" in out
    for line in study.lines:
        assert f"{line.kernel} {line.value:.6g} {100 * np.exp(line.loo_log_density):.3g} %" in out
    assert f"Each of 32 rows, predicted from the others: {100 * study.left_out()['accuracy']:.0f} % get the right class" in out
    assert f"On 8 rows that were not learnt from: {100 * study.test['accuracy']:.0f} % get the right class" in out
    assert "kernsel predict data.ksl NEW.csv" in out


@pytest.mark.usefixtures("fitted")
def test_predict(run):
    study = ClassStudy.load("data.ksl")
    Path("new.csv").write_text("kind,x\nu,5.5\nq,1\nv,0.5\n")
    code, out, err = run("predict", "data.ksl", "new.csv")
    assert code == 0
    assert "('q' in kind): no prediction is made for them." in " ".join(err.split())
    header, *rows = csv.reader(io.StringIO(out))
    assert header == ["predicted", "probability_far", "probability_near"]
    assert [row[0] for row in rows] == ["far", "", "near"]
    assert rows[1] == ["", "", ""]
    expected = study.probabilities(np.array([[5.5, 0.0], [0.5, 1.0]]))
    np.testing.assert_allclose(np.array([rows[0][1:], rows[2][1:]], dtype=float), expected, rtol=1e-12)
    said = strict(run("predict", "data.ksl", "data.csv", "--json")[1])
    assert said["predictions"][0].keys() == set(header)
    assert said["intervals"] is None
    assert 0.8 < said["error"]["accuracy"] <= 1
    for name in ("out.npz", "out.tsv"):
        out = " ".join(run("predict", "data.ksl", "data.csv", "-o", name)[1].split())
        assert f"{name}: 40 predictions of place data.csv has place, too: {100 * said['error']['accuracy']:.0f} % get" in out
    with np.load("out.npz") as archive:
        assert archive["predicted"].tolist() == [row["predicted"] for row in said["predictions"]]
    code, _, err = run("report", "data.ksl")
    assert code == 1
    assert "data.ksl predicts classes" in err


def test_groups_are_left_out_together(run, folder):
    """The class is one of patients, at random: other patients tell nothing of it, and other visits of the same all."""
    rng = np.random.default_rng(0)
    place, of_patient = rng.uniform(0, 6, 16), rng.permutation(16) % 2
    rows = (f"{place[i % 16] + 0.01 * rng.uniform():.4f},{i % 16},{i},{'ab'[of_patient[i % 16]]}\n" for i in range(64))
    (folder / "visits.csv").write_text("x,patient,day,y\n" + "".join(rows))
    arguments = ["select", "visits.csv", "--target", "y", "--classify", "--kernel", "RBF", "--columns", "x"]
    alone = strict(run(*arguments, "--json")[1])
    assert alone["left_out"]["accuracy"] > 0.9
    code, out, err = run(*arguments[:-2], "--groups", "patient", "--leave-out", "day", "--test", "25%")
    assert code == 0
    said = " ".join((out + err).split())
    assert "not used: tells the groups" in said
    assert "Left out together: 16 groups of 'patient'." in said
    assert "each row is predicted from the other groups of 'patient'" in said
    assert "Each of 48 rows, predicted from the other groups of 'patient'" in said
    study = ClassStudy.load("visits.ksl")
    assert study.names == ["x"]
    assert study.grouped_by == "groups of 'patient'"
    assert study.left_out()["log_density"] < -0.6
    assert len({(row - 1) % 16 for row in study.kept}) == 12
    by_time = strict(run(*arguments, "--time", "day", "--json")[1])
    assert by_time["grouped_by"] == "blocks of 'day'"
    code, _, err = run(*arguments, "--time", "day", "--groups", "patient")
    assert code == 2
    assert "--groups, --time: expected one of them" in err


def test_the_document(run, fitted):
    del fitted
    said = strict(run("select", "data.csv", "--target", "place", "--classify", "--kernel", "RBF", "--json")[1])
    assert said["lines"]["loo"][0]["kernel"] == "RBF"
    assert 0.8 < said["left_out"]["accuracy"] <= 1
    assert said["files"] == {"model": "data.ksl"}


def test_who_asks_for_numbers_is_told_of_classes(run, fitted):
    del fitted
    code, _, err = run("select", "data.csv", "--target", "place")
    assert code == 1
    assert "it has 2 different values: for classes, use --classify" in " ".join(err.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--report", "a.html"], "--report: there is no report of classes yet"),
        (["--trend", "linear"], "--noise, --trend: with --classify there is neither"),
        (["--kernel", "search"], "--kernel search: with --classify, expected kernels"),
        (["--criterion", "reml"], "--criterion: with --classify, expected loo or lml, got reml"),
        (["--criterion", "loo,lml"], "expected loo or lml, got loo,lml"),
    ],
)
def test_options_that_classes_do_not_have(run, fitted, options, message):
    del fitted
    code, out, err = run("select", "data.csv", "--target", "place", "--classify", *options)
    assert code == 1
    assert not out
    assert message in " ".join(err.split())
