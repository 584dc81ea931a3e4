"""What the example prints is so."""

import re

import numpy as np
import pytest

from kernsel.examples.data import mauna_loa


def test_parts_of_carbon_dioxide_pay(row, outcome):
    names = ("smooth trend", "+ a pattern of a year", "+ one that changes slowly", "+ what lasts some months")
    text = outcome("mauna_loa")[0].split("In words")[0]
    likelihoods = [float(re.search(rf"^ *{re.escape(name)} +(-[\d.]+)", text, re.M)[1]) for name in names]
    assert (np.diff(likelihoods) > 20).all()
    assert row("mauna_loa", "a pattern of period 1 that changes smoothly over")[0] > 50
    assert "a function of many scales around" in outcome("mauna_loa")[0]


def test_forecasts_of_carbon_dioxide(row):
    time, co2 = mauna_loa()
    past = time < 1992
    # A parabola and three harmonics of the year by least squares.
    angle = 2 * np.pi * time[:, None] * np.arange(1, 4)
    F = np.column_stack([np.vander(time - 1975, 3), np.sin(angle), np.cos(angle)])
    plain = F @ np.linalg.lstsq(F[past], co2[past])[0]
    naive = np.sqrt(np.mean((co2 - plain)[~past] ** 2))
    smooth, rough = row("mauna_loa", "error of months / ppm:")
    assert 0.3 < rough < smooth < naive
    for year in (1992, 1996, 2001):
        measured, first, first_width, first_error, second, second_width, second_error = row("mauna_loa", f"{year} ")
        assert measured == pytest.approx(co2[(time > year) & (time < year + 1)].mean(), abs=0.006)
        assert first_error == pytest.approx((measured - first) / first_width * 2, abs=0.1)
        assert second_error == pytest.approx((measured - second) / second_width * 2, abs=0.1)
        assert abs(second_error) < 2
