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
