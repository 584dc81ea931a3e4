"""Numbers and dates in text."""

import numpy as np
import pytest

from kernsel.study.tables.numerals import day_of, numbers_of


def test_numbers_that_python_takes_and_others_do_not():
    values, others = numbers_of(["1", " 2.5 ", "-.5", "1.", "+3e-2", "NaN", "-", "1_0", "0x1", "infinity", "1,5", "१"], False)
    assert others == [7, 8, 9, 10, 11]
    assert values[:5].tolist() == [1.0, 2.5, -0.5, 1.0, 0.03]
    assert numbers_of(["1,5", "2.5", "1.000,5"], True)[1] == [2]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("1970-01-01", 0.0),
        ("1969-12-31T12:00", -0.5),
        ("2000-02-29 06:00:00.0", 11016.25),
        ("2000-02-29T06:00:00+06:00", 11016.0),
        ("2000-02-29T00:00:00Z", 11016.0),
        ("2000-03", 11017.0),
        ("2001-02-29", np.nan),
        ("20000301", np.nan),
        ("2000-W10", np.nan),
    ],
)
def test_dates(text, day):
    assert day_of(text) == pytest.approx(day, nan_ok=True)
