"""The headline of a report, against refits."""

import re

import numpy as np
import pytest

import kernsel as ks
from kernsel.report.formats import number, percent

pytest.importorskip("matplotlib")


def left_out_by_refitting(model):
    """Return predictions of all points, each from a model of the others with the same hyperparameters, and their variances."""
    X, y = model.X_train_, model.y_train_
    found = []
    for i in range(len(y)):
        others = (X[i] != X).any(axis=1)  # rows of equal inputs are left out together
        again = ks.GaussianProcessRegressor(
            model.kernel_, alpha=model.jitter_, noise=model.noise_, trend=model.trend, optimizer=None
        ).fit(X[others], y[others])
        found.append([float(v[0]) for v in again.predict(X[[i]], return_std=True, noisy=True)])
    return np.array(found).T


@pytest.mark.parametrize("name", ["cars", "many"])
def test_headline_and_outliers_are_those_of_refitting(made, name):
    found, page = made(name)
    y = found.model.y_train_
    predicted, std = left_out_by_refitting(found.model)
    rmse = np.sqrt(np.mean((y - predicted) ** 2))
    X = found.model.X_train_
    of_mean = np.sqrt(np.mean([(y[i] - y[(X[i] != X).any(axis=1)].mean()) ** 2 for i in range(len(y))]))
    within = np.mean(np.abs(y - predicted) < 1.959964 * std)
    tiles = [float(value) for value in re.findall(r'<dd><data value="([^"]*)"', page.text)]
    noise = np.sqrt(found.model.noise_)
    np.testing.assert_allclose(tiles, [rmse, of_mean, 1 - rmse**2 / of_mean**2, within, noise, len(y)], rtol=1e-6)
    sentence = page.text.split('<p class="headline">')[1].split("</p>")[0]
    assert f">{number(rmse)}</data>" in sentence
    assert f">{percent(1 - rmse**2 / of_mean**2)}</data>" in sentence
    z = (y - predicted) / std
    order = np.argsort(-np.abs(z))
    rows = page.table("The rows farthest")
    for row, i in zip(rows, order, strict=False):
        expected = [found.kept[i], y[i], predicted[i], y[i] - predicted[i], z[i], found.model.leverage_[i]]
        np.testing.assert_allclose(row, expected, rtol=1e-5)
    nominal = {0.5: 0.674490, 0.8: 1.281552, 0.9: 1.644854, 0.95: 1.959964, 0.99: 2.575829}
    for row, (level, width) in zip(page.table("Rows within leave-one-out"), nominal.items(), strict=True):
        assert row[0] == percent(level)
        assert row[1] == np.mean(np.abs(z) <= width)
