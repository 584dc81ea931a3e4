"""Boxes that divide space: they have all points, once, and distances from them are those of the nearest points inside."""

import numpy as np

from kernsel._solve.boxes import divided, radii


def points():
    rng = np.random.default_rng(1)
    return np.column_stack([rng.standard_normal(900), rng.uniform(size=900), rng.integers(0, 2, 900)])


def test_each_point_is_in_one_box_and_boxes_have_about_as_many():
    X = points()
    boxes = divided(X, 7)
    inside = [boxes.inside(X, box) for box in range(7)]
    np.testing.assert_array_equal(np.sort(np.concatenate(inside)), np.arange(900))
    sizes = [len(rows) for rows in inside]
    assert max(sizes) < 1.3 * min(sizes)


def test_points_that_are_equal_are_not_divided():
    assert len(divided(np.zeros((20, 2)), 4)) == 1
    boxes = divided(np.repeat([[0.0], [1.0]], 10, axis=0), 5)
    assert len(boxes) == 2


def test_distances_and_depths():
    X = points()
    boxes = divided(X, 5)
    for box in range(5):
        nearest = np.clip(X, boxes.low[box], boxes.high[box])
        np.testing.assert_array_equal(boxes.distances(X, box, box + 1), np.sqrt(np.sum((X - nearest) ** 2, axis=1)))
        rows = boxes.inside(X, box)
        depths = boxes.depths(X[rows], box)
        for row, depth in zip(rows[:20], depths[:20], strict=True):  # a step of that length in any direction ends at a face
            ends = X[row] + min(depth, 1e3) * np.vstack([np.eye(3), -np.eye(3)])
            assert boxes.distances(ends * (1 - 1e-12) + 1e-12 * X[row], box, box + 1).max() == 0 or depth == np.inf
    around_two = np.clip(X, boxes.low[1:3].min(axis=0), boxes.high[1:3].max(axis=0))
    np.testing.assert_array_equal(boxes.distances(X, 1, 3), np.sqrt(np.sum((X - around_two) ** 2, axis=1)))
    assert np.isinf(divided(X, 1).depths(X, 0)).all()


def test_radii_hold_neighbours_unless_there_are_too_many_rows():
    X = points()
    boxes = divided(X, 4)
    wide = radii(X, boxes, 10, 9000, np.inf)
    for box in range(4):
        inside = X[boxes.inside(X, box)]
        tenth = np.sort(np.sqrt(((inside[:, None] - X) ** 2).sum(axis=2)), axis=1)[:, 10]
        assert np.mean(tenth <= wide[box]) >= 0.99
    assert (radii(X, boxes, 10, 9000, 50.0) < wide).all()
    assert np.isinf(radii(X, boxes, 1000, 9000, np.inf)).all()
