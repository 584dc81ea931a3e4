"""Numbers, dates and names for people."""

import numpy as np
import pytest

from kernsel.report.formats import clean, date, number, percent, seconds, short, split_unit

pytest.importorskip("matplotlib")


MINUS, TIMES = "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (15.3791, "15.4"), (9.996, "10.0"), (999.96, "1,000"), (1234567.8, "1,234,568"), (42.2, "42.2"), (18.0, "18"),
        (0.000123, "0.000123"), (1e7, f"1.00 {TIMES} 10⁷"), (-2e-5, f"{MINUS}2.00 {TIMES} 10⁻⁵"),
        (1e-310, f"1.00 {TIMES} 10⁻³¹⁰"),
        (0.0, "0"), (float("nan"), "\N{EN DASH}"), (-np.inf, f"{MINUS}∞"),
    ],
)  # fmt: skip
def test_numbers_for_people(value, text):
    assert number(value) == text


def test_other_formats():
    assert [percent(v) for v in (0.0, 1.0, 0.936, 0.9996, 0.99999, 0.002, -0.12)] == [
        "0 %", "100 %", "94 %", "99.96 %", "99.999 %", "0.2 %", f"{MINUS}12 %",
    ]  # fmt: skip
    assert [seconds(v) for v in (0.0021, 0.0996, 12.34, 99.7, 3725.0)] == [
        "2.1 ms",
        "0.10 s",
        "12 s",
        "1 min 40 s",
        "1 h 2 min",
    ]
    assert short("a" * 30 + "b" * 30, 11) == "aaaaaa…bbbb"
    assert clean("a\n\tb\x07") == "a b\N{REPLACEMENT CHARACTER}"
    assert split_unit("x (a) [m/s]") == ("x (a)", "m/s")
    assert date(19783.5) == "2024-03-01 12:00"
