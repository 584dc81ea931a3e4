"""The examples on vectors: their data are right, what they print is what a slow way finds, and pictures show something."""

import contextlib
import io
import re
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.stats import linregress, multivariate_normal

from kernsel import examples
from kernsel.examples import boundary, integral_equation, piston
from kernsel.examples.data import cars, mauna_loa

VECTORS = ("stopping_distances", "mauna_loa", "integral_equation", "boundary", "piston")


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """Run each example once; return what it prints, and the name of its picture."""
    done = {}

    def run(name):
        if name not in done:
            plot = tmp_path_factory.mktemp("examples") / f"{name}.png" if find_spec("matplotlib") else None
            text = io.StringIO()
            with contextlib.redirect_stdout(text):
                examples.run(name, None if plot is None else str(plot))
            done[name] = text.getvalue(), plot
        return done[name]

    return run


@pytest.fixture
def row(outcome):
    """Return the numbers in the only line of an example that begins so."""

    def numbers(name, start):
        (line,) = (line for line in outcome(name)[0].splitlines() if line.strip().startswith(start))
        return [float(text) for text in re.findall(r"-?\d+\.?\d*(?:e[+-]\d+)?", line.strip().removeprefix(start))]

    return numbers


@pytest.mark.parametrize("name", VECTORS)
def test_what_is_printed_fits_a_terminal_and_the_picture_is_not_blank(name, outcome):
    text, plot = outcome(name)
    assert len(text.splitlines()) > 5
    assert max(map(len, text.splitlines())) <= 120
    if plot is None:
        pytest.skip("no matplotlib")
    from matplotlib.image import imread

    pixels = imread(plot)[..., :3]
    assert min(pixels.shape[:2]) > 500
    assert 0.02 < np.mean(pixels.min(axis=2) < 0.9) < 0.9
    for edge in (pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]):  # nothing is cut off
        assert edge.min() > 0.9


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


def most_likely(features, noise_power):
    """Return the greatest likelihood of cars for terms of these powers of speed and noise of that, and their coefficients."""
    speed, distance = cars()
    F, noise = np.column_stack([speed**power for power in features]), np.diag(speed ** (2 * noise_power))

    def minus(logs):
        return -multivariate_normal(cov=(F * np.exp(logs[1:])) @ F.T + np.exp(logs[0]) * noise).logpdf(distance)

    found = minimize(minus, [5.0 - 5 * noise_power, *(4.0 - 3 * p for p in features)], method="Nelder-Mead", tol=1e-6)
    variances = np.exp(found.x[1:])
    K = (F * variances) @ F.T + np.exp(found.x[0]) * noise
    return -found.fun, variances * (F.T @ np.linalg.solve(K, distance))


@pytest.mark.parametrize(
    ("start", "features", "noise_power", "column"),
    [
        ("line through the origin", [1], 0, 2),
        ("any line", [0, 1], 0, 2),
        ("reaction and brakes", [1, 2], 0, 2),
        ("With noise that is proportional to speed, the log likelihood is", [1, 2], 1, 0),
    ],
)
def test_likelihoods_of_cars(row, start, features, noise_power, column):
    value, _ = most_likely(features, noise_power)
    assert row("stopping_distances", start)[column] == pytest.approx(value, abs=0.006)


def test_errors_of_cars(row):
    speed, distance = cars()
    F = np.column_stack([np.ones(50), speed])
    residuals = distance - F @ np.linalg.lstsq(F, distance)[0]
    leverage = np.diag(F @ np.linalg.pinv(F))
    loo, gcv, _ = row("stopping_distances", "any line")
    # Least squares is the limit of great amplitudes: what is best is a little better.
    assert 0.99 < loo / np.sqrt(np.mean((residuals / (1 - leverage)) ** 2)) < 1.001
    assert 0.99 < gcv / (np.sqrt(np.mean(residuals**2)) / (1 - 2 / 50)) < 1.001


def test_brakes_of_cars(row):
    reaction, brakes = most_likely([1, 2], 1)[1]
    printed = row("stopping_distances", "distance / ft =")
    assert printed[:2] == [pytest.approx(reaction, rel=0.02), pytest.approx(brakes, rel=0.02)]
    seconds, deceleration = printed[-2:]
    # 20 mph are 8.94 m/s, a foot is 0.3048 m, g is 9.81 m/s^2.
    assert 20 * reaction * 0.3048 / 8.94 == pytest.approx(seconds, rel=0.03)
    assert 8.94**2 / 2 / (400 * brakes * 0.3048) / 9.81 == pytest.approx(deceleration, rel=0.03)


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


def test_gravity_is_the_integral():
    t = integral_equation.midpoints(64)
    found = integral_equation.blurring(t, t) @ integral_equation.masses(t)
    for i in (0, 20, 63):

        def pull(x, s=t[i]):  # of what is at x, in m/s^2
            return (
                6.674e-11 * 25 / (25**2 + (s - x) ** 2) ** 1.5 * 1e5 * (np.sin(np.pi * x / 100) + 0.5 * np.sin(np.pi * x / 50))
            )

        assert found[i] == pytest.approx(1e8 * quad(pull, 0, 100)[0], rel=1e-3)


def test_rules_for_gravity(row):
    n = 64
    t = integral_equation.midpoints(n)
    A, b = integral_equation.blurring(t, t), integral_equation.measured(t, 0)
    for start in ("discrepancy  ", "discrepancy, tau = 1.1", "L-curve", "GCV", "quasi-optimality"):
        alpha, over, freedom, off, median, most = row("integral_equation", start)
        x = np.linalg.solve(A.T @ A + alpha * np.eye(n), A.T @ b)
        assert off == pytest.approx(np.sqrt(np.mean((x - integral_equation.masses(t)) ** 2)), rel=0.02)
        assert over == pytest.approx(np.linalg.norm(A @ x - b) / 8, rel=0.01)  # 64^(1/2) times noise of 1
        assert freedom == pytest.approx(np.trace(np.linalg.solve(A.T @ A + alpha * np.eye(n), A.T @ A)), abs=0.06)
        assert 1 <= median <= most
    assert row("integral_equation", "discrepancy  ")[1] == 1.0
    assert row("integral_equation", "discrepancy, tau = 1.1")[1] == 1.1


def test_true_probabilities_of_moons(rng):
    angle = np.pi * rng.uniform(size=200_000)
    which = rng.integers(2, size=len(angle))
    centre = np.where(which, [1 - np.cos(angle), 0.5 - np.sin(angle)], [np.cos(angle), np.sin(angle)]).T
    points = centre + 0.3 * rng.standard_normal(centre.shape)
    for z in ([0.5, 0.4], [1.0, 0.1], [0.0, 0.4]):
        near = ((points - z) ** 2).sum(axis=1) < 0.08**2
        share = which[near].mean()
        error = np.sqrt(share * (1 - share) / near.sum())
        assert boundary.true_probability(np.array([z]))[0] == pytest.approx(share, abs=4 * error + 0.005)


def test_classifiers_of_moons(row):
    theirs, same, default, ep, best = (
        row("boundary", start)
        for start in (
            "scikit-learn, RBF",
            "the same kernel here",
            "the default here",
            "expectation propagation",
            "the best possible",
        )
    )
    assert same[1:] == pytest.approx(theirs, abs=0.11)
    assert theirs[0] < ep[1] < best[0]
    for loo, held_out, right, off in (same, default, ep):
        assert loo == pytest.approx(held_out, abs=2)
        assert 85 < right <= best[1] + 1
        assert 0 < off < 0.1
    assert best[2] == 0


def test_the_piston_is_in_balance():
    X = piston.sample(5, seed=3)
    for (weight, surface, volume, spring, pressure, ambient, filling), seconds in zip(X, piston.cycle_time(X), strict=True):
        stiffness = (2 * np.pi / seconds) ** 2 * weight  # of the gas and the spring
        gas = pressure * volume / filling * ambient
        at_rest = surface * np.sqrt(gas / (stiffness - spring))
        # Pressure times volume is what it was, and the force of the gas holds the weight and the spring.
        force = gas / at_rest * surface
        assert force == pytest.approx(
            pressure * surface + 19.62 * weight - spring * volume / surface + spring * at_rest / surface, rel=1e-9
        )


def test_samples_of_pistons_fill_every_range():
    X = piston.sample(50, seed=0)
    for column, (_, low, high) in zip(X.T, piston.INPUTS.values(), strict=True):
        assert sorted(np.floor((column - low) / (high - low) * 50)) == list(range(50))


def test_effects_and_intervals_of_pistons(row):
    for name in ("piston weight", "piston surface", "initial gas volume", "spring coefficient"):
        found, true = row("piston", name)[-2:]
        assert found == pytest.approx(true, rel=0.2)
        assert true > 0.1
    for name in ("atmospheric pressure", "ambient temperature", "filling temperature"):
        assert max(row("piston", name)[-2:]) < 0.03
    product, distance, by_loo = (
        row("piston", name) for name in ("product of Matern  ", "Matern of the distance", "product, by leave-one-out")
    )
    for loo, half, most, error, other_half, other_most in (product, distance, by_loo):
        assert 0.004 < min(loo, error) < max(loo, error) < 0.015  # of 0.14 without a model
        assert 35 < min(half, other_half) < max(half, other_half) < 70
        assert 70 < min(most, other_most) < max(most, other_most) < 99
    assert by_loo[0] < product[0] < product[3] < by_loo[3]


def test_names_are_those_of_the_files():
    folder = Path(examples.__file__).parent
    files = {path.stem for path in folder.glob("*.py") if "def main(plot" in path.read_text()}
    assert set(examples.names()) == files
    assert all(30 < len(text) < 85 for text in examples.names().values())
    examples.names().clear()
    assert examples.names()


def test_wrong_names():
    with pytest.raises(ValueError, match=r"name: expected one of .*piston.*, got 'mauna-lao'; did you mean 'mauna_loa'\?"):
        examples.run("mauna-lao")
    with pytest.raises(ValueError, match=r"got 'drawing'$"):
        examples.run("drawing")


def test_plots_that_cannot_be_are_refused_before_the_work(tmp_path, capsys, monkeypatch):
    pytest.importorskip("matplotlib")
    with pytest.raises(ValueError, match=r"plot: expected the name of a file that ends in one of .*png.*, got '.*cars\.txt'"):
        examples.run("stopping_distances", str(tmp_path / "cars.txt"))
    with pytest.raises(ValueError, match="plot: expected the name of a file that ends"):
        examples.run("stopping_distances", "plot")
    with pytest.raises(FileNotFoundError, match=r"plot: there is no folder to write '.*cars\.png' into; make it first"):
        examples.run("stopping_distances", str(tmp_path / "none" / "cars.png"))
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"^plot needs matplotlib: pip install 'kernsel\[plot\]'$"):
        examples.run("stopping_distances", str(tmp_path / "cars.png"))
    assert capsys.readouterr().out == ""
