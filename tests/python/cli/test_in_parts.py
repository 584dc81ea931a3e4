"""Files that do not fit into memory."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kernsel.cli import select
from kernsel.study import Study
from kernsel.study.tables import parts

from commands import strict

ROUNDING = 64 * 50 * np.finfo(float).eps  # of sums over the 50 rows of the model, times the condition of its matrix


@pytest.fixture
def large(monkeypatch):
    """Let every file be one that does not fit, and be read in parts of seven rows."""
    monkeypatch.setattr(parts, "_SHARE", 1e15)
    monkeypatch.setattr(parts.read_in_parts, "__defaults__", (None, 7))


@pytest.fixture
def new(folder):
    """Return a table with a missing value and a column that the model does not know."""
    frame = pd.DataFrame({"extra": 1.0, "speed": [21.0, np.nan, *np.linspace(4, 25, 18)], "dist": np.arange(20.0)})
    frame.to_parquet(folder / "new.parquet")
    frame.to_csv(folder / "new.csv", index=False)
    return frame


def printed(text):
    return pd.read_csv(io.StringIO(text))


def same(found, expected):
    """Compare predictions, which are rounded differently in blocks of other sizes."""
    pd.testing.assert_frame_equal(found, expected, rtol=ROUNDING, atol=0)


@pytest.mark.usefixtures("new")
@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.parquet"])
@pytest.mark.parametrize("source", ["new.csv", "new.parquet"])
def test_predictions_are_those_of_the_whole_file(run, model, request, name, source):
    assert run("predict", model, source, "-o", "whole.parquet")[0] == 0
    error = strict(run("predict", model, source, "--json")[1])["error"]
    request.getfixturevalue("large")
    code, out, err = run("predict", model, source, "-o", name)
    assert code == 0
    assert "1 row with missing values or values that the model has not learnt: no prediction is made." in " ".join(err.split())
    assert f"{name}: 19 predictions of dist" in out
    assert f"error {error['rmse']:.4g} (root mean square)" in " ".join(out.split())
    read = pd.read_parquet(name) if name.endswith("parquet") else pd.read_csv(name, sep=None, engine="python")
    same(read, pd.read_parquet("whole.parquet"))
    said = strict(run("predict", model, source, "-o", name, "--json")[1])
    assert said["error"] == pytest.approx(error, rel=ROUNDING)


@pytest.mark.usefixtures("new")
def test_predictions_are_printed_in_parts(run, model, request):
    expected = printed(run("predict", model, "new.parquet")[1])
    request.getfixturevalue("large")
    same(printed(run("predict", model, "new.parquet")[1]), expected)


@pytest.mark.usefixtures("new", "large")
def test_what_cannot_be_written_in_parts_is_refused(run, model):
    code, _, err = run("predict", model, "new.csv", "-o", "out.npz")
    assert (code, "expected .csv or .parquet" in " ".join(err.split())) == (1, True)
    code, _, err = run("predict", model, "new.csv", "--json")
    assert (code, "is too large for one document" in " ".join(err.split())) == (1, True)


@pytest.mark.usefixtures("large")
def test_a_file_that_ends_in_an_error_is_not_left(run, model, folder):
    (folder / "bad.csv").write_text("speed\n" + 10 * "3\n" + "three\n")
    code, _, err = run("predict", model, "bad.csv", "-o", "out.csv")
    assert (code, "line 12: column 'speed' has 'three'" in " ".join(err.split())) == (1, True)
    assert not Path("out.csv").exists()


@pytest.mark.usefixtures("large")
def test_select_learns_from_a_sample(run, folder, rng):
    x = rng.uniform(0, 6, 300)
    pd.DataFrame({"x": x, "y": np.sin(x)}).to_parquet(folder / "big.parquet")
    options = ["--target", "y", "--kernel", "RBF", "--criterion", "lml"]
    code, out, _ = run("select", "big.parquet", *options, "--rows", "40", "--json")
    assert code == 0
    found = strict(out)
    assert (found["rows"], len(found["kept"])) == (300, 40)
    assert "Learnt from a random sample of 40 rows out of 300" in " ".join(found["remarks"])
    assert found["test"]["rows"] == 260
    assert "all_rows" not in found  # all but the test rows are in the sample
    assert max(found["kept"]) > 40
    assert run("select", "big.parquet")[0] == 2
    assert run("predict", "big.ksl", "big.parquet", "-o", "out.parquet")[0] == 0
    assert np.abs(pd.read_parquet("out.parquet")["predicted"] - np.sin(x)).max() < 0.01


@pytest.mark.usefixtures("large")
def test_all_rows_are_learnt_from_by_landmarks(run, folder, rng, monkeypatch):
    monkeypatch.setattr(select, "TESTED", 1000)
    x = rng.uniform(0, 6, 4000)
    pd.DataFrame({"x": x, "y": np.sin(x) + 0.5 * rng.normal(size=4000)}).to_parquet(folder / "big.parquet", row_group_size=1500)
    options = ["--target", "y", "--kernel", "RBF", "--criterion", "lml", "--rows", "60", "--approximation", "landmarks=30"]
    code, out, err = run("select", "big.parquet", *options)
    assert (code, "Learnt from a random sample of 60 rows out of 1,060" in " ".join(err.split())) == (0, True)
    assert "RBF was conditioned on 3,000 rows" in " ".join(out.split())
    assert "This is the model that is kept." in out
    assert Study.load("big.ksl").approximation.startswith("3,000 rows: hyperparameters were chosen by 60 of them")
    found = strict(run("select", "big.parquet", *options, "--json")[1])
    assert (found["all_rows"]["rows"], found["all_rows"]["saved"]) == (3000, True)
    # 50 times as many rows: what is left of the error is that of the noise, and a seventh of what it was of the function.
    assert found["all_rows"]["test"]["rmse"] < found["test"]["rmse"]
    code, out, err = run("predict", "big.ksl", "big.parquet", "-o", "out.csv")
    assert code == 0
    assert "big.parquet has y, too" in " ".join(out.split())
    assert np.sqrt(np.mean((pd.read_csv("out.csv")["predicted"] - np.sin(x)) ** 2)) < 0.1
    code, _, err = run("report", "big.ksl")
    assert (code, "big.ksl keeps no rows, of which a report is" in " ".join(err.split())) == (1, True)
    assert "all_rows" not in strict(run("select", "big.parquet", *options[:-1], "none", "--json")[1])


@pytest.mark.parametrize("text", ["landmark", "landmarks=", "landmarks=0", "landmarks=1e3", "nystrom"])
def test_approximations_that_are_none(run, text):
    code, _, err = run("select", "cars.csv", "--target", "dist", "--approximation", text)
    assert (code, "landmarks" in err) == (2, True)


def test_classes(run, folder, rng, request):
    x = rng.uniform(0, 6, 60)
    pd.DataFrame({"x": x, "y": np.where(x > 3, "high", "low")}).to_csv(folder / "big.csv", index=False)
    select = ["select", "big.csv", "--target", "y", "--classify", "--kernel", "RBF", "--rows", "30"]
    assert run(*select)[0] == 0
    expected = printed(run("predict", "big.ksl", "big.csv")[1])
    error = strict(run("predict", "big.ksl", "big.csv", "--json")[1])["error"]
    request.getfixturevalue("large")
    same(printed(run("predict", "big.ksl", "big.csv")[1]), expected)
    assert strict(run("predict", "big.ksl", "big.csv", "--json", "-o", "out.csv")[1])["error"] == pytest.approx(
        error, rel=ROUNDING
    )
    same(pd.read_csv("out.csv"), expected)
    assert len(strict(run(*select, "--json")[1])["kept"]) == 30
