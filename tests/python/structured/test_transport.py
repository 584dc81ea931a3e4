"""The transport embedding: against linear programs of all pairs, closed forms, quadrature."""

import itertools
import pickle
import warnings

import numpy as np
import pytest
from scipy import linalg
from sklearn.base import clone
from sklearn.exceptions import NotFittedError, SkipTestWarning
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import kernsel as ks
from kernsel import structured as st
from kernsel.kernels import RBF
from kernsel.structured import Cloud, Gaussian, TransportEmbedding, barycenter, transport_map, wasserstein_distance
from kernsel.structured.threads import on_threads

from reference import transport_plan

EPS = np.finfo(float).eps


def random_weights(rng, n):
    w = rng.uniform(0.1, 1.0, n)
    return w / w.sum()


def positive(rng, d):
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    return (Q * rng.uniform(0.2, 3.0, d)) @ Q.T


@pytest.mark.parametrize("solver", ["highs", "pot"])
def test_inner_products_are_those_of_maps(solver, rng):
    """<Id - T_mu, Id - T_nu> in L2(rho), by loops over the points of rho and plans of all pairs."""
    x, a = rng.standard_normal((7, 2)), random_weights(rng, 7)
    clouds = [(rng.standard_normal((n, 2)) * n / 5, random_weights(rng, n)) for n in (4, 7, 9)]
    shifts = []
    for y, b in clouds:
        P = transport_plan(a, b, x, y)
        shifts.append([x[i] - sum(P[i, j] * y[j] for j in range(len(y))) / a[i] for i in range(7)])
    K = [[sum(a[i] * (s[i] @ t[i]) for i in range(7)) for t in shifts] for s in shifts]
    rows = TransportEmbedding((x, a), solver=solver).fit_transform(clouds)
    assert rows.dtype == np.float64
    assert rows @ rows.T == pytest.approx(np.array(K), rel=1e-8, abs=1e-8)


def test_inner_products_of_gaussians_by_quadrature(rng):
    """E (x - T_mu x)'(x - T_nu x) for x from rho: maps are linear, so that Gauss and Hermite's rule of two nodes is exact."""
    rho, mu, nu = (Gaussian(rng.standard_normal(2), positive(rng, 2)) for _ in range(3))
    nodes = np.array(list(itertools.product([-1.0, 1.0], repeat=2)))
    x = rho.mean + nodes @ np.linalg.cholesky(rho.covariance).T

    def shift(g):
        A = linalg.solve(rho.covariance, linalg.sqrtm(rho.covariance @ g.covariance)).real  # S^-1 (S R)^(1/2)
        return x - g.mean - (x - rho.mean) @ A

    exact = np.mean(np.sum(shift(mu) * shift(nu), axis=1))
    rows = TransportEmbedding(rho).fit_transform([mu, nu])
    assert rows[0] @ rows[1] == pytest.approx(exact, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_order_of_points_and_translation(d, rng):
    clouds = [Cloud(rng.standard_normal((30, d)) * (1 + k), None if k % 2 else random_weights(rng, 30)) for k in range(4)]
    shuffled = []
    for cloud in clouds:
        order = rng.permutation(len(cloud))
        shuffled.append(Cloud(cloud.points[order], cloud.weights[order]))
    for reference in ("barycenter", rng.standard_normal((30, d))):
        embedding = TransportEmbedding(reference, max_iter=2).fit(clouds)
        rows = embedding.transform(clouds)
        assert embedding.transform(shuffled) == pytest.approx(rows, abs=1e-8)
    # All moved alike, with the reference: nothing changes. One cloud moved: it is as if its images had moved.
    v = rng.standard_normal(d)
    moved = [Cloud(cloud.points + v, cloud.weights) for cloud in clouds]
    rows = TransportEmbedding(max_iter=2).fit_transform(clouds)
    assert TransportEmbedding(max_iter=2).fit_transform(moved) == pytest.approx(rows, abs=1e-8)
    assert embedding.transform(moved) == pytest.approx(
        embedding.transform(clouds) - np.tile(v, 30) * np.repeat(embedding.reference_.weights, d) ** 0.5, abs=1e-8
    )


def test_the_norm_of_a_row_is_a_distance(rng):
    clouds = [rng.standard_normal((25, 2)) * rng.uniform(0.5, 2.0, 2) + rng.standard_normal(2) for _ in range(5)]
    embedding = TransportEmbedding().fit(clouds)
    rows = embedding.transform(clouds)
    for row, cloud in zip(rows, clouds, strict=True):
        assert np.linalg.norm(row) == pytest.approx(wasserstein_distance(embedding.reference_, cloud), rel=1e-12)
    for i, j in itertools.combinations(range(5), 2):
        assert np.linalg.norm(rows[i] - rows[j]) >= wasserstein_distance(clouds[i], clouds[j]) * (1 - 1e-12)


def test_kernels_of_rows_are_positive_semidefinite(rng):
    clouds = []
    for _ in range(30):
        n = int(rng.integers(3, 12))
        clouds.append((rng.standard_normal((n, 2)) + rng.standard_normal(2), random_weights(rng, n)))
    rows = TransportEmbedding("sample", size=8, random_state=0).fit_transform(clouds)
    for K in (rows @ rows.T, RBF(0.5)(rows)):
        assert np.linalg.eigvalsh(K)[0] >= -100 * len(K) * EPS * np.abs(K).max()
    assert np.abs(rows).max() > 0


def test_the_same_bits_on_any_number_of_threads(threads, rng):
    clouds = [rng.standard_normal((20, 2)) for _ in range(9)] + [(rng.standard_normal((5, 2)), random_weights(rng, 5))]
    results = []
    for count in (1, 2):
        threads(count)
        results.append(TransportEmbedding().fit_transform(clouds))
    assert np.array_equal(*results)
    assert np.array_equal(TransportEmbedding().fit(clouds).transform(clouds), results[0])

    done = np.zeros(100, dtype=int)
    on_threads(lambda i: done.__setitem__(i, done[i] + 1), 100)
    assert (done == 1).all()
    for count in (1, 2):
        threads(count)
        with pytest.raises(ZeroDivisionError):
            on_threads(lambda i: 1 // (i - 3), 100)


@pytest.mark.parametrize("reference", ["barycenter", "sample", "given"])
def test_rows_and_back(reference, rng):
    clouds = [rng.standard_normal((15, 2)) + k for k in range(4)]
    given = (rng.standard_normal((15, 2)), random_weights(rng, 15))
    embedding = TransportEmbedding(given if reference == "given" else reference, random_state=3)
    rows = embedding.fit_transform(clouds)
    assert np.array_equal(embedding.transform(clouds), rows)
    assert rows.shape == (4, 30)
    back = embedding.inverse_transform(rows)
    for cloud, points in zip(back, clouds, strict=True):
        expected = transport_map(embedding.reference_, [points])[0]
        assert cloud.points == pytest.approx(expected, abs=1e-13)
        assert cloud.weights == pytest.approx(embedding.reference_.weights, rel=4 * EPS)
    copy = pickle.loads(pickle.dumps(embedding))
    assert np.array_equal(copy.transform(clouds), rows)
    assert np.array_equal(clone(embedding).fit_transform(clouds), rows)
    assert np.array_equal(embedding.fit_transform(np.array(clouds)), rows)
    table = clone(embedding).set_output(transform="pandas").fit_transform(clouds)
    assert list(table.columns[:2]) == ["transportembedding0", "transportembedding1"]
    if reference == "sample":
        everything = {tuple(point) for points in clouds for point in points}
        assert {tuple(point) for point in embedding.reference_.points} <= everything
        assert len(np.unique(embedding.reference_.points, axis=0)) == 15
        other = TransportEmbedding("sample", random_state=4).fit(clouds).reference_
        assert not np.array_equal(other.points, embedding.reference_.points)


def test_in_a_pipeline(rng):
    """The scale of a cloud is learnt from its points."""
    scale = rng.uniform(0.5, 2.0, 40)
    clouds = [s * rng.standard_normal((30, 2)) for s in scale]
    model = make_pipeline(TransportEmbedding(max_iter=3), ks.KernelRidge(RBF(1.0), alpha="auto"))
    model.fit(clouds[:30], scale[:30])
    assert model.score(clouds[30:], scale[30:]) > 0.8


def test_scikit_learns_conventions():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)  # most of its checks are of estimators on tables
        check_estimator(TransportEmbedding())
    with pytest.raises(NotFittedError):
        TransportEmbedding().transform([np.eye(2)])


def test_bad_arguments(rng):
    X = [rng.standard_normal((5, 2)) for _ in range(3)]
    normal = Gaussian([0.0, 0.0], np.eye(2))
    for options, error, message in (
        ({"reference": "mean"}, ValueError, 'reference: expected "barycenter", "sample" or a distribution, got \'mean\''),
        ({"reference": np.eye(3)}, ValueError, r"reference: expected points of 2 columns, as X\[0\] has, got 3"),
        ({"reference": (np.eye(2), [0.5, 0.6])}, ValueError, "weights of reference: expected a sum of one"),
        ({"reference": normal}, TypeError, r"reference: expected a Cloud, as X\[0\] is one, got Gaussian"),
        ({"size": 0}, ValueError, 'size: expected a whole number from 1 on, or "auto", got 0'),
        ({"size": 2.5}, ValueError, "size: expected a whole number"),
        ({"reference": "sample", "size": 16}, ValueError, "size: expected at most the 15 points"),
        ({"max_iter": -1}, ValueError, "max_iter: expected a whole number from 0 on, got -1"),
        ({"tol": np.nan}, ValueError, "tol: expected a number from 0 on, got nan"),
        ({"solver": "simplex"}, ValueError, 'solver: expected "auto", "pot" or "highs"'),
    ):
        with pytest.raises(error, match=message):
            TransportEmbedding(**options).fit(X)
    embedding = TransportEmbedding().fit(X)
    with pytest.raises(ValueError, match="expected points of 2 columns, got 3"):
        embedding.transform([np.eye(3)])
    with pytest.raises(TypeError, match=r"X\[0\]: expected a Cloud, got Gaussian"):
        embedding.transform([normal])
    with pytest.raises(ValueError, match=r"X: expected shape \(N, 10\)"):
        embedding.inverse_transform(np.zeros((2, 9)))
    with pytest.raises(ValueError, match='"sample" is for clouds'):
        TransportEmbedding("sample").fit([normal, normal])
    with pytest.raises(TypeError, match="second: expected a Cloud, as first is one"):
        wasserstein_distance(np.eye(2), normal)
    with pytest.raises(ValueError, match="second: expected points of 2 columns"):
        wasserstein_distance(np.eye(2), np.eye(3))
    with pytest.raises(TypeError, match=r"reference: expected a Cloud, got Gaussian"):
        transport_map(normal, X)
    with pytest.raises(ValueError, match="X: expected Gaussians whose covariances have a mean that is positive definite"):
        barycenter([Gaussian([0.0, 0.0], np.diag([1.0, 0.0])), Gaussian([0.0, 0.0], np.diag([2.0, 0.0]))])
    assert barycenter([Gaussian(0.0, 0.0), Gaussian(2.0, 0.0)]).mean == [1.0]


@pytest.fixture
def clouds(rng):
    found = [rng.normal(m, 0.5 + 0.1 * m, size=(12, 2)) for m in range(12)]
    for m in range(12):
        weights = rng.uniform(0.5, 1.5, size=7)
        found.append((rng.normal(-m, 1.0, size=(7, 2)), weights / weights.sum()))
    return found


def test_single_points_are_distributions():
    clouds = [[[0.0, 0.0]], [[3.0, 4.0]], [[6.0, 8.0]]]
    rows = st.TransportEmbedding().fit_transform(clouds)
    assert np.allclose(np.linalg.norm(rows - rows[0], axis=1), [0.0, 5.0, 10.0])
