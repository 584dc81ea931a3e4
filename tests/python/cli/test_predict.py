"""kernsel predict."""

import csv
import importlib
import io
from pathlib import Path

import numpy as np
import pytest

import kernsel as ks

from commands import strict


def predictions(text, delimiter=","):
    rows = list(csv.reader(io.StringIO(text), delimiter=delimiter))
    assert rows[0] == ["predicted", "std", "lower", "upper"]
    return np.array([[float(value or "nan") for value in row] for row in rows[1:]])


def test_predict(run, model):
    Path("new.csv").write_text("extra,speed\n1,21\n2,\n3,7.5\n")
    code, out, err = run("predict", model, "new.csv", "--intervals", "90%")
    assert code == 0
    assert "Columns that the model does not know are ignored: extra." in err
    assert "1 row with missing values (1 in speed): no prediction is made for them." in err
    values = predictions(out)
    mean, std = ks.load(model).predict([[21.0], [7.5]], return_std=True, noisy=True)
    half = 1.6448536269514722 * std
    np.testing.assert_allclose(values[[0, 2]], np.column_stack([mean, std, mean - half, mean + half]), rtol=1e-12)
    assert np.isnan(values[1]).all()
    filled = predictions(run("predict", model, "new.csv", "--missing", "mean")[1])
    assert filled[1, 0] == pytest.approx(ks.load(model).predict([[15.4]])[0])
    assert run("predict", model, "new.csv", "--missing", "error")[0] == 1
    said = strict(run("predict", model, "new.csv", "--json")[1])
    assert said["predictions"][1] is None
    assert said["predictions"][0]["upper"] == pytest.approx(mean[0] + 1.959963984540054 * std[0])
    assert said["error"] is None


def test_predictions_are_compared_with_the_target(run, model):
    code, out, err = run("predict", model, "cars.csv", "--output", "out.csv")
    assert (code, err) == (0, "")
    fitted = ks.load(model)
    data = np.loadtxt("cars.csv", delimiter=",", skiprows=1)
    rmse = np.sqrt(np.mean((data[:, 1] - fitted.predict(data[:, :1])) ** 2))
    text = " ".join(out.split())
    assert f"out.csv: 50 predictions of dist cars.csv has dist, too: error {rmse:.4g} (root mean square)" in text
    assert predictions(Path("out.csv").read_text()).shape == (50, 4)
    assert strict(run("predict", model, "cars.csv", "--json")[1])["error"]["rmse"] == pytest.approx(rmse)


@pytest.mark.parametrize("name", ["out.tsv", "out.npz", "out.parquet"])
def test_formats_of_predictions(run, model, name):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    expected = predictions(run("predict", model, "cars.csv")[1])
    assert run("predict", model, "cars.csv", "--output", name, "--quiet")[0] == 0
    if name.endswith("tsv"):
        values = predictions(Path(name).read_text(), "\t")
    elif name.endswith("npz"):
        with np.load(name) as archive:
            values = np.column_stack([archive[column] for column in ("predicted", "std", "lower", "upper")])
    else:
        values = importlib.import_module("pandas").read_parquet(name).to_numpy()
    np.testing.assert_array_equal(values, expected)


def test_intervals_are_a_share_or_percent(run, model):
    expected = run("predict", model, "cars.csv", "--intervals", "95")[1]
    for text in ("0.95", ".95", "95%"):
        assert run("predict", model, "cars.csv", "--intervals", text)[1] == expected
    for text, percent in (("1", 1.0), ("0.5%", 0.5), ("0.5", 50.0)):
        assert strict(run("predict", model, "cars.csv", "--intervals", text, "--json")[1])["intervals"] == percent
    assert run("predict", model, "cars.csv", "--intervals", "0")[0] == 2


@pytest.mark.parametrize("name", ["out.xlsx", "out.csv.gz", "out.json"])
def test_a_format_that_is_not_written_is_refused(run, model, name):
    code, out, err = run("predict", model, "cars.csv", "-o", name)
    assert code == 1
    assert not out
    assert f"--output: {name} would not be" in err
    assert "expected .csv, .tsv, .parquet or .npz" in " ".join(err.split())
    assert not Path(name).exists()


def test_an_unknown_category_leaves_its_row_empty(run, folder):
    rows = "".join(f"{x},{'uvw'[x % 3]},{x * x}\n" for x in range(12))
    (folder / "kinds.csv").write_text("x,kind,y\n" + rows)
    assert run("select", "kinds.csv", "--target", "y", "--kernel", "RBF", "--criterion", "lml")[0] == 0
    (folder / "new.csv").write_text("x,kind\n1,u\n2,new\n3,v\n")
    code, out, err = run("predict", "kinds.ksl", "new.csv")
    assert code == 0
    assert "1 row with values that the model has not learnt ('new' in kind): no prediction" in " ".join(err.split())
    assert np.isnan(predictions(out)).all(axis=1).tolist() == [False, True, False]
