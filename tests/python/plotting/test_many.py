"""Many points: their density has all of them, and samples are what they are said to be."""

import numpy as np

from kernsel.plotting import LOODisplay, PosteriorDisplay
from kernsel.plotting.many import DRAWN, MANY, sampled, spread_over

N = MANY + 1000


def errors(rng):
    y = rng.standard_normal(N)
    return y, y + 0.1 * rng.standard_normal(N)


def test_a_density_has_all_points_but_outliers(rng):
    y, predictions = errors(rng)
    y[3] += 5
    for kind in ("predictions", "residuals"):
        display = LOODisplay.from_predictions(y, predictions, np.full(N, 0.1), kind=kind)
        assert display.scatter_.get_array().sum() == N - len(display.outliers_)
        assert 3 in display.outliers_
    display = LOODisplay.from_predictions(y, predictions, np.full(N, 0.1))
    assert not any(len(intervals.get_segments()) for intervals in display.intervals_)
    share = np.mean(np.abs(y - predictions) <= 1.96 * 0.1)
    assert display.legend_.get_texts()[0].get_text() == f"95 % intervals hold the truth: {100 * share:.3g} %"


def test_quantiles_of_many_points_have_both_ends(rng):
    y, predictions = errors(rng)
    display = LOODisplay.from_predictions(y, predictions, np.full(N, 0.1), kind="qq")
    drawn = np.vstack([display.scatter_.get_offsets(), display.outlier_scatter_.get_offsets()])[:, 1]
    z = (y - predictions) / 0.1
    assert len(drawn) <= DRAWN + len(display.outliers_)
    assert (drawn.min(), drawn.max()) == (z.min(), z.max())


def test_samples_of_many_points_are_said():
    x = np.linspace(0, 1, N)
    display = PosteriorDisplay.from_predictions(x[:50], np.zeros(50), X=x[:, None], y=np.sin(x))
    assert len(display.scatter_.get_offsets()) == DRAWN
    assert f"data ({DRAWN:,} of {N:,})" in [text.get_text() for text in display.legend_.get_texts()]
    sides = np.linspace(0, 1, 5)
    display = PosteriorDisplay.from_predictions((sides, sides), np.outer(sides, sides), X=np.column_stack([x, x]))
    assert len(display.scatter_.get_offsets()) == DRAWN


def test_few_points_are_all_drawn():
    for choose in (sampled, spread_over):
        np.testing.assert_array_equal(choose(MANY), np.arange(MANY))
        some = choose(10 * MANY)
        assert len(some) == DRAWN
        assert (np.diff(some) > 0).all()
        assert 0 <= some[0] < some[-1] < 10 * MANY
