"""Dates in text."""

import numpy as np
import pytest

from kernsel.study.tables.dates import day_of, order_of


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("1970-01-01", 0.0),
        ("1969-12-31T12:00", -0.5),
        ("2000-02-29 06:00:00.0", 11016.25),
        ("2000-02-29T06:00:00+06:00", 11016.0),
        ("2000-02-29T00:00:00Z", 11016.0),
        ("2000-03", 11017.0),
        ("2000-02-29T06:00:00+0600", 11016.0),
        ("2000-02-29 6:30 PM", 11016.0 + 18.5 / 24),
        ("2000-02-29 12:15 am", 11016.0 + 0.25 / 24),
        ("2000/02/29", 11016.0),
        ("29.02.2000", 11016.0),
        ("29. 2. 2000 12:00", 11016.5),
        ("2/29/2000", 11016.0),
        ("29-2-2000", 11016.0),
        ("Mar 2000", 11017.0),
        ("march 1, 2000", 11017.0),
        ("1 Sept. 2000", 11201.0),
        ("01-Mar-2000", 11017.0),
        ("2000-Mar-01", 11017.0),
        ("3/1/2000", np.nan),
        ("2000.3", np.nan),
        ("2000", np.nan),
        ("Mars 2000", np.nan),
        ("2000-02-29 24:00", np.nan),
        ("2000-02-29 13:00 pm", np.nan),
        ("2000-02/29", np.nan),
        ("31.12.99", 10956.0),
        ("31.12.68", 36159.0),
        ("01.01.69", -365.0),
        ("05-Jan-20 6:00", 18266.25),
        ("5 jan 20", 18266.0),
        ("1/13/20", 18274.0),
        ("01/05/20", np.nan),
        ("1.2.10", np.nan),
        ("Jan 20", np.nan),
        ("2001-02-29", np.nan),
        ("20000301", np.nan),
        ("2000-W10", np.nan),
    ],
)
def test_dates(text, day):
    assert day_of(text) == pytest.approx(day, nan_ok=True)


def test_the_order_of_a_column():
    assert order_of(["1/2/2024", "2024-12-31", "13/2/2024"]) == "day first"
    assert order_of(["1/2/2024", "text", "2/13/2024 10:00"]) == "month first"
    assert order_of(["1/2/2024"]) == order_of(["13/2/2024", "2/13/2024"]) == ""
    assert order_of(["01/05/20", "13/05/20"]) == "day first"
    assert day_of("01/05/20", "day first") == day_of("2020-05-01")
    assert day_of("20000229", "eight digits") == day_of("20000229.0", "eight digits") == 11016.0
    assert np.isnan([day_of(text, "eight digits") for text in ("20010229", "18991231", "200002291", "2000-02-29")]).all()
    assert day_of("1/13/2024", "day first") != day_of("1/13/2024", "month first")
