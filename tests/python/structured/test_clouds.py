"""What a distribution may be, and what is said of those that are none."""

import numpy as np
import pytest

from kernsel.structured import Cloud, Gaussian, TransportEmbedding, barycenter, transport_map
from kernsel.structured.clouds import as_clouds

EPS = np.finfo(float).eps


def test_all_forms_of_a_list(rng):
    points = rng.standard_normal((3, 4, 2))
    forms = as_clouds([points[0], points[1].tolist(), (points[2], None), (points[2], [0.1, 0.2, 0.3, 0.4]), Cloud(points[0])])
    assert [type(cloud) for cloud in forms] == [Cloud] * 5
    for cloud, k in zip(forms, (0, 1, 2, 2, 0), strict=True):
        assert np.array_equal(cloud.points, points[k])
    assert forms[3].weights == pytest.approx([0.1, 0.2, 0.3, 0.4], rel=EPS)
    assert [cloud.equal for cloud in forms] == [True, True, True, False, True]
    for cloud, k in zip(as_clouds(points), range(3), strict=True):
        assert np.array_equal(cloud.points, points[k])
    again = as_clouds(forms, "X", 2, kind=Cloud)
    assert again is not forms
    assert all(one is other for one, other in zip(again, forms, strict=True))
    points[0] = np.nan  # a cloud has points of its own
    assert np.isfinite(forms[0].points).all()
    normal = [Gaussian(0.0, 1.0), Gaussian(1.0, 2.0)]
    assert as_clouds(np.array(normal, dtype=object)) == normal
    with pytest.raises(TypeError, match=r"Z\[1\]: expected a Gaussian, got Cloud"):
        as_clouds([normal[0], np.eye(1)], "Z", kind=Gaussian)
    with pytest.raises(ValueError, match=r"Z\[0\]: expected points of 3 columns, got 1"):
        as_clouds(normal, "Z", 3)


def test_weights():
    cloud = Cloud([[1.0], [2.0], [3.0]], [0.5, 0.0, 0.5])
    assert cloud.equal
    assert cloud.points.tolist() == [[1.0], [3.0]]
    assert not Cloud([[1.0], [2.0]], [0.25, 0.75]).equal
    thirds = np.full(3, 1 / 3, dtype=np.float32)
    assert Cloud(np.eye(3), thirds).weights == pytest.approx([1 / 3] * 3, rel=EPS)
    w = np.array([0.1, 0.2, 0.7])
    far = Cloud(np.array([[1.0], [2.0], [4.0]]) + 1e8, w)
    assert far.mean == pytest.approx([1e8 + 3.3], rel=2 * EPS)
    assert far.covariance[0, 0] == pytest.approx(0.1 * 2.3**2 + 0.2 * 1.3**2 + 0.7 * 0.7**2, rel=1e-6)
    assert "unequal" in repr(far)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ([], ValueError, "X: expected one cloud at least, got none"),
        (np.eye(3), ValueError, r"X: expected a list of clouds, .* got shape \(3, 3\); one cloud is a list of length one"),
        (Cloud(np.eye(2)), TypeError, "X: expected a list of clouds, got Cloud"),
        ("clouds", TypeError, "X: expected a list of clouds, got 'clouds'"),
        (None, TypeError, "X: expected a list of clouds, got None"),
        ([np.eye(2), np.zeros((0, 2))], ValueError, r"X\[1\]: .* got shape \(0, 2\): the cloud is empty"),
        ([np.eye(2), []], ValueError, r"X\[1\]: expected points of shape \(n, d\), got shape \(0,\)"),
        ([np.zeros((3, 0))], ValueError, r"X\[0\]: .* the cloud is empty"),
        ([np.arange(3.0)], ValueError, r"X\[0\]: .* got shape \(3,\); for points on a line, points.reshape\(-1, 1\)"),
        ([np.eye(2), np.eye(3)], ValueError, r"X\[1\]: expected points of 2 columns.*, got 3"),
        ([[[0.0, 1.0], [2.0]]], ValueError, r"X\[0\]: .* rows of different lengths"),
        ([[["a", "b"]]], ValueError, r"X\[0\]: expected points of shape \(n, d\), got \[\['a', 'b'\]\]"),
        ([[[1j]]], ValueError, r"X\[0\]: expected points of shape"),
        ([[[0.0, np.nan]]], ValueError, r"X\[0\]: expected finite numbers, got nan in column 1 of point 0"),
        ([(np.eye(2), [1.5, -0.5])], ValueError, r"weights of X\[0\]: .* not negative, got -0.5 for point 1"),
        ([(np.eye(2), [0.5, 0.6])], ValueError, r"weights of X\[0\]: expected a sum of one, got 1.1; divide by it"),
        ([(np.eye(2), [1.0])], ValueError, r"weights of X\[0\]: expected one for each of 2 points, got shape \(1,\)"),
        ([(np.eye(2), [np.nan, 1.0])], ValueError, r"weights of X\[0\]: expected finite numbers"),
        ([(np.eye(2), [0.0, 0.0])], ValueError, r"weights of X\[0\]: expected a sum of one, got 0"),
        ([(np.eye(2), None, 3)], ValueError, r"X\[0\]: .* a tuple of length 3"),
        ([np.eye(2), Gaussian([0, 0], np.eye(2))], TypeError, r"X\[1\]: expected a Cloud(, as X\[0\] is one)?, got Gaussian"),
    ],
)
def test_bad_clouds(X, error, message):
    for call in (TransportEmbedding().fit, barycenter, lambda X: transport_map(np.eye(2), X)):
        with pytest.raises(error, match=message):
            call(X)


@pytest.mark.parametrize(
    ("mean", "covariance", "message"),
    [
        ([0.0, 0.0], np.eye(3), r"covariance: expected shape \(2, 2\), as of the mean, got \(3, 3\)"),
        ([0.0, 0.0], [[1.0, 0.5], [0.0, 1.0]], "covariance: expected a symmetric matrix"),
        ([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]], "covariance: expected a positive semidefinite matrix, .* eigenvalue -1"),
        ([0.0, np.inf], np.eye(2), "expected finite numbers"),
        ([], np.zeros((0, 0)), r"mean: expected shape \(d,\)|covariance: expected"),
        ([[0.0]], [[1.0]], r"mean: expected shape \(d,\), got \(1, 1\)"),
    ],
)
def test_bad_gaussians(mean, covariance, message):
    with pytest.raises(ValueError, match=message):
        Gaussian(mean, covariance)
