"""Quantiles of projections: against loops over all directions, closed forms and transport on each line."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator

import kernsel as ks
from kernsel.kernels import RBF, FunctionKernel
from kernsel.structured import Cloud, Gaussian, SlicedWassersteinEmbedding, TransportEmbedding, wasserstein_distance
from kernsel.structured.clouds import as_clouds

EPS = np.finfo(float).eps


def random_clouds(rng, count, d=2, most=9):
    clouds = []
    for k in range(count):
        n = int(rng.integers(1, most))
        w = rng.uniform(0.1, 1.0, n)
        points = rng.standard_normal((n, d)) + rng.standard_normal(d)
        clouds.append(points if k % 2 else (points, w / w.sum()))
    return clouds


@pytest.mark.parametrize("threads_allowed", [1, 2])
def test_inside_a_computation_of_the_core(threads_allowed, threads, rng):
    """Blocks of a matrix are asked for while the core works: no lock is held, and any subset of clouds will do."""
    threads(threads_allowed)
    clouds = as_clouds(random_clouds(rng, 150))
    sliced, transport = SlicedWassersteinEmbedding(4, n_quantiles=6).fit(clouds), TransportEmbedding(np.eye(2)).fit(clouds)

    def chosen(rows):
        return [clouds[int(i)] for i in rows[:, 0]]

    numbers = np.arange(150.0)[:, None]
    for block, whole in (
        (lambda p, q: sliced.transform(chosen(p)) @ sliced.transform(chosen(q)).T, sliced.transform(clouds)),
        (lambda p, q: transport.transform(chosen(p)) @ transport.transform(chosen(q)).T, transport.transform(clouds)),
    ):
        expected = whole if whole.shape == (150, 150) else whole @ whole.T
        assert FunctionKernel(block)(numbers) == pytest.approx(expected, rel=1e-12, abs=1e-13 * np.abs(expected).max())


def test_the_same_bits_on_any_number_of_threads(threads, rng):
    clouds = random_clouds(rng, 12, most=60)
    results = []
    for count in (1, 2):
        threads(count)
        embedding = SlicedWassersteinEmbedding(7)
        results.append(embedding.fit_transform(clouds))
    assert np.array_equal(*results)


@pytest.mark.parametrize("random_state", [None, 0])
@pytest.mark.parametrize("d", [2, 3, 6])
def test_slices_against_transport_on_each_line(d, random_state, rng):
    clouds = [rng.standard_normal((14, d)) * (1 + k) for k in range(3)]
    embedding = SlicedWassersteinEmbedding(9, random_state=random_state)
    rows = embedding.fit_transform(clouds)
    assert np.linalg.norm(embedding.directions_, axis=1) == pytest.approx(np.ones(9), rel=4 * EPS)
    assert rows.shape == (3, 9 * 14)
    for i in range(3):
        for j in range(i):
            squares = [wasserstein_distance(clouds[i] @ u[:, None], clouds[j] @ u[:, None]) ** 2 for u in embedding.directions_]
            assert np.linalg.norm(rows[i] - rows[j]) == pytest.approx(np.sqrt(np.mean(squares)), rel=1e-13)
    assert embedding.transform([c[rng.permutation(14)] for c in clouds]) == pytest.approx(rows, abs=1e-15)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_translations(d, rng):
    """W(u'X, u'X + u'v) = |u'v|, whose mean square is |v|^2 / d over all directions; for many directions of Sobol' nearly."""
    cloud, v = rng.standard_normal((8, d)), rng.standard_normal(d)
    rows = SlicedWassersteinEmbedding(512).fit_transform([cloud, cloud + v])
    expected = np.linalg.norm(v) / np.sqrt(d)
    assert np.linalg.norm(rows[0] - rows[1]) == pytest.approx(expected, rel=1e-13 if d < 3 else 0.02)


def test_slices_of_unequal_clouds(rng):
    x, counts = rng.standard_normal((6, 2)), np.array([1, 2, 1, 3, 1, 2])
    weighted, repeated = (x, counts / 10), np.repeat(x, counts, axis=0)
    embedding = SlicedWassersteinEmbedding(5, n_quantiles=10).fit([weighted])
    rows = embedding.transform([weighted, repeated, rng.standard_normal((7, 2))])
    assert rows[0] == pytest.approx(rows[1], abs=1e-14)
    coarse = SlicedWassersteinEmbedding(5, n_quantiles=5).fit_transform([weighted, repeated])
    assert coarse[0] == pytest.approx(rows[0].reshape(-1, 2).mean(axis=1) * 2**0.5, abs=1e-14)
    K = RBF(1.0)(SlicedWassersteinEmbedding(10).fit_transform(random_clouds(rng, 30)))
    assert np.linalg.eigvalsh(K)[0] >= -100 * len(K) * EPS
    assert K.min() < 0.9
    line = [rng.standard_normal((12, 1)) for _ in range(2)]
    rows = SlicedWassersteinEmbedding().fit_transform(line)
    assert np.linalg.norm(rows[0] - rows[1]) == pytest.approx(wasserstein_distance(*line), rel=1e-14)


def test_directions():
    clouds = [np.eye(4)]
    first, again = (SlicedWassersteinEmbedding(40).fit(clouds).directions_ for _ in range(2))
    assert np.array_equal(first, again)
    assert len(np.unique(first.round(12), axis=0)) == 40
    drawn = [SlicedWassersteinEmbedding(40, random_state=seed).fit(clouds).directions_ for seed in (0, 0, 1)]
    assert np.array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])
    for count in (1, 2, 3):
        assert np.isfinite(SlicedWassersteinEmbedding(count).fit(clouds).directions_).all()


def test_scikit_learns_conventions(rng):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)  # most of its checks are of estimators on tables
        check_estimator(SlicedWassersteinEmbedding())
    clouds = [rng.standard_normal((4, 2)) for _ in range(3)]
    embedding = SlicedWassersteinEmbedding(3).fit(clouds)
    rows = embedding.transform(clouds)
    assert np.array_equal(pickle.loads(pickle.dumps(embedding)).transform(clouds), rows)
    assert np.array_equal(clone(embedding).fit_transform(np.array(clouds)), rows)
    assert embedding.get_feature_names_out()[-1] == "slicedwassersteinembedding11"


def test_bad_input(rng):
    good = [rng.standard_normal((4, 2))]
    fit = SlicedWassersteinEmbedding().fit
    with pytest.raises(ValueError, match=r"X\[0\]: .* the cloud is empty"):
        fit([np.zeros((0, 2))])
    with pytest.raises(ValueError, match=r"weights of X\[1\]: expected a sum of one"):
        fit([*good, (np.eye(2), [0.9, 0.9])])
    with pytest.raises(TypeError, match=r"X\[0\]: expected a Cloud, got Gaussian"):
        fit([Gaussian(0.0, 1.0)])
    embedding = SlicedWassersteinEmbedding().fit(good)
    with pytest.raises(ValueError, match="expected points of 2 columns, got 3"):
        embedding.transform([np.eye(3)])
    for options in ({"n_directions": 0}, {"n_directions": 1.5}, {"n_quantiles": 0}, {"n_quantiles": "many"}):
        with pytest.raises(ValueError, match=f"{next(iter(options))}: expected a whole number from 1 on"):
            SlicedWassersteinEmbedding(**options).fit(good)
    assert ks.structured.Cloud is Cloud
