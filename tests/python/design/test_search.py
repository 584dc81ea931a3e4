"""The search ends at the best point of a space."""

import numpy as np
import pytest

from kernsel import design
from kernsel.design.search import Objective, ascended, at_best_neighbour, best_point
from kernsel.design.space import Space


def test_it_finds_the_best_of_a_fine_grid(process):
    gp, space = process(1e-4), Space([(-1, 1), (-1, 1)])
    objective = Objective(design.LogExpectedImprovement(gp), None)
    grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 201)] * 2), axis=-1).reshape(-1, 2)
    x = best_point(objective, space, gp.X_train_[:3], np.random.RandomState(0))
    assert objective.evaluate(x[None], False)[0][0] >= objective.evaluate(grid, False)[0].max() - 1e-9


@pytest.mark.parametrize("name", ["numbers", "a whole number", "whole numbers and categories"])
def test_it_finds_the_best_of_all_in_mixed_spaces(process, name):
    gp = process(1e-4)
    objective = Objective(design.UpperConfidenceBound(gp), None)
    fine, whole, some = np.linspace(-1, 1, 401), np.arange(-1.0, 2.0), np.array([-0.9, 0.2, 0.75])
    first, second, given = {
        "numbers": (fine, fine, {}),
        "a whole number": (fine, whole, {"integers": [1]}),
        "whole numbers and categories": (whole, some, {"integers": [0], "categories": {1: some}}),
    }[name]
    grid = np.stack(np.meshgrid(first, second), axis=-1).reshape(-1, 2)
    space = Space([(-1, 1), (-1, 1)], **given)
    x = best_point(objective, space, gp.X_train_[:3], np.random.RandomState(0))
    assert np.array_equal(space.rounded(x[None])[0], x)
    assert objective.evaluate(x[None], False)[0][0] >= objective.evaluate(grid, False)[0].max() - 1e-9


def test_steps_to_neighbours_end_where_none_is_better():
    class Steps(design.Acquisition):
        is_positive = False

        def __init__(self):
            """Be of no process."""

        def evaluate(self, Z, gradient):
            value = -((Z[:, 0] - 7) ** 2) - 3 * np.abs(Z[:, 1] - 4) - (Z[:, 2] - 0.1 * Z[:, 0]) ** 2
            away = 2 * (Z[:, 2] - 0.1 * Z[:, 0])
            return value, np.column_stack([0 * away, 0 * away, -away]) if gradient else None

    space = Space([(0, 9), None, (0, 1)], [0], {1: [1.0, 4.0, 6.0]})
    assert at_best_neighbour(Objective(Steps(), None), space, np.array([0.0, 1.0, 0.5]), 1.0) == pytest.approx([7, 4, 0.7])


def test_an_ascent_keeps_within_the_box_and_the_discrete_columns(process):
    objective, starts = Objective(design.UpperConfidenceBound(process()), None), np.array([[0.0, 1.0], [0.9, 0.0]])
    ends = ascended(objective, Space([(-1, 1), (-1, 1)], [1]), starts, 1.0, 1e-10)
    assert np.array_equal(ends[:, 1], starts[:, 1])
    assert (np.abs(ends) <= 1).all()
    assert (objective.evaluate(ends, False)[0] > objective.evaluate(starts, False)[0]).all()
