"""The data of the examples are what they are said to be."""

import re
from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import stats

import kernsel as ks
from kernsel.kernels import Precomputed
from kernsel.structured.data import gaussian_clouds, molecule, molecules, promoters
from kernsel.structured.graphs import graph_gram

VALENCE = {"C": 4, "N": 3, "O": 2, "S": 2, "F": 1, "Cl": 1, "Br": 1, "I": 1}
ORDER = {"-": 1.0, "=": 2.0, "#": 3.0, ":": 1.5}


def formula(edges, labels):
    """Return the formula of a graph, hydrogen added to each atom up to its valence."""
    bonds = np.zeros(len(labels))
    for u, v, kind in edges:
        bonds[[u, v]] += ORDER[kind]
    counts = Counter(labels)
    counts["H"] = sum(max(VALENCE[label] - int(np.floor(b)), 0) for label, b in zip(labels, bonds, strict=True))
    order = ["C", "H", *sorted(set(counts) - {"C", "H"})]
    return "".join(e + (str(counts[e]) if counts[e] > 1 else "") for e in order if counts[e])


def connected(edges, n):
    reached = {0}
    for _ in range(n):
        reached |= {w for u, v, _ in edges for w in (u, v) if {u, v} & reached}
    return reached == set(range(n))


def test_molecules_are_what_their_formulas_say():
    them = molecules()
    assert len(them.graphs) == len(them.names) == len(them.formulas) == len(them.boiling_points) == 118
    assert len(set(them.names)) == len(them.names)
    for (edges, labels), name, written in zip(them.graphs, them.names, them.formulas, strict=True):
        assert formula(edges, labels) == written, name
        assert connected(edges, len(labels)), name
    sizes = sorted(len(labels) for _, labels in them.graphs)
    assert sizes[:2] == [1, 2]
    assert sizes[-1] == 10


def test_molecules_are_different():
    K = graph_gram(molecules().graphs, depth=6)
    squared = np.add.outer(np.diag(K), np.diag(K)) - 2 * K
    assert np.flatnonzero(squared + np.eye(len(K)) == 0).size == 0


def test_boiling_points():
    them = molecules()
    at = dict(zip(them.names, them.boiling_points, strict=True))
    chains = ["methane", "ethane", "propane", "butane", "pentane", "hexane", "heptane", "octane", "nonane", "decane"]
    alcohols = ["methanol", "ethanol", "1-propanol", "1-butanol", "1-pentanol", "1-hexanol", "1-heptanol"]
    for series, most in ((chains, 80), (alcohols, 25)):
        steps = np.diff([at[name] for name in series])
        assert (steps > 0).all()
        assert steps.max() < most
    # Graphs that are alike boil alike: what each has been said to be, the others say within the spread of chemistry.
    K = graph_gram(them.graphs, depth=2, kind="min-max")
    residuals = ks.loo(Precomputed(K), np.arange(len(K))[:, None], them.boiling_points, noise=0.01, trend="constant").residuals
    assert np.sqrt(np.mean(residuals**2)) < 0.5 * them.boiling_points.std()


@pytest.mark.parametrize(
    ("text", "edges", "labels"),
    [
        ("C", [], ["C"]),
        ("CCl", [(0, 1, "-")], ["C", "Cl"]),
        ("C(Br)(F)=O", [(0, 1, "-"), (0, 2, "-"), (0, 3, "=")], ["C", "Br", "F", "O"]),
        ("C#N", [(0, 1, "#")], ["C", "N"]),
        ("c1cco1", [(0, 1, ":"), (1, 2, ":"), (2, 3, ":"), (3, 0, ":")], ["C", "C", "C", "O"]),
        ("C=1CC=1", [(0, 1, "-"), (1, 2, "-"), (2, 0, "=")], ["C", "C", "C"]),
        ("Cc", [(0, 1, "-")], ["C", "C"]),
        ("c-c", [(0, 1, "-")], ["C", "C"]),
    ],
)
def test_molecules_from_text(text, edges, labels):
    assert molecule(text) == (edges, labels)


@pytest.mark.parametrize(
    "text", ["", "(C)", "=C", "C=", "C=(O)C", "C(", "C)", "C1CC", "CX", "C C", "C==C", "[CH4]", "1CC1", "C(C=)"]
)
def test_what_is_no_molecule(text):
    with pytest.raises(ValueError, match=r"^text: expected a molecule .*got .*" + re.escape(repr(text))):
        molecule(text)


def test_promoters():
    strings, labels = promoters(600, random_state=0)
    assert Counter(labels.tolist()) == {0: 300, 1: 300}
    assert promoters(600, random_state=0)[0] == strings != promoters(600, random_state=1)[0]
    assert all(re.fullmatch("[ACGT]{57}", s) for s in strings)
    counts = np.array(
        [[sum(s.count(c) for s, y in zip(strings, labels, strict=True) if y == which) for c in "ACGT"] for which in (0, 1)]
    )
    assert stats.chi2_contingency(counts).pvalue > 1e-4  # the letters alone do not tell
    assert stats.chi2_contingency([[300 * 57 * 0.25] * 4, counts[0]]).pvalue < 1e-4

    def best(s):
        """Return how many letters of the two boxes can be found at once."""
        matches = {
            box: np.array([sum(a == b for a, b in zip(s[i:], box, strict=False)) for i in range(len(s) - 5)])
            for box in ("TTGACA", "TATAAT")
        }
        return max(int((matches["TTGACA"][: -6 - gap] + matches["TATAAT"][6 + gap :]).max()) for gap in range(15, 20))

    found = np.array([best(s) for s in strings])
    # Of the twelve letters of the boxes, 0.9 are as they should be; if they are elsewhere, or by chance, it is more.
    assert found[labels == 1].mean() > 12 * 0.9 - 4 * np.sqrt(12 * 0.9 * 0.1 / 300)
    assert stats.mannwhitneyu(found[labels == 1], found[labels == 0], alternative="greater").pvalue < 1e-10
    whole, labels = promoters(100, conserved=1, random_state=0)
    gaps = [re.search("TTGACA(.{15,19})TATAAT.{12,15}$", s) for s, y in zip(whole, labels, strict=True) if y]
    assert all(gaps)
    assert {len(found[1]) for found in gaps} == {15, 16, 17, 18, 19}


def test_shapes_of_promoters():
    assert promoters(1, length=46, random_state=0)[1].tolist() == [0]
    assert [len(s) for s in promoters(50, length=46, random_state=0)[0]] == [46] * 50
    assert promoters(7, random_state=0)[1].sum() == 3


@pytest.mark.parametrize("parameter", ["correlation", "scale"])
@pytest.mark.parametrize("d", [2, 3])
def test_clouds(parameter, d):
    n = 4000
    clouds, values = gaussian_clouds(25, n_points=n, n_features=d, parameter=parameter, random_state=3)
    assert [cloud.shape for cloud in clouds] == [(n, d)] * 25
    assert np.ptp(values) > 0.7
    for cloud, value in zip(clouds, values, strict=True):
        r, s = (value, 1.0) if parameter == "correlation" else (0.0, value)
        covariance = s**2 * ((1 - r) * np.eye(d) + r)
        # A covariance of n points has errors of (c_ij^2 + c_ii c_jj)^(1/2) / n^(1/2); 225 of them are within five.
        error = np.sqrt(covariance**2 + np.outer(np.diag(covariance), np.diag(covariance))) / np.sqrt(n)
        assert (np.abs(np.cov(cloud.T) - covariance) < 5 * error).all()
    means = np.array([cloud.mean(axis=0) for cloud in clouds])
    assert stats.kstest(means.ravel(), "norm").pvalue > 1e-4
    again, same = gaussian_clouds(25, n_points=n, n_features=d, parameter=parameter, random_state=3)
    assert_array_equal(same, values)
    assert_array_equal(again[7], clouds[7])


def test_clouds_of_one_column():
    clouds, values = gaussian_clouds(5, n_features=1, parameter="scale", random_state=0)
    assert [cloud.shape for cloud in clouds] == [(50, 1)] * 5
    assert ((values > 0.5) & (values < 2)).all()


@pytest.mark.parametrize(
    ("function", "keywords", "message"),
    [
        (promoters, {"n_strings": 0}, "^n_strings: expected a whole number from 1 on, got 0"),
        (promoters, {"length": 45}, "^length: expected a whole number from 46 on, got 45"),
        (promoters, {"conserved": 1.1}, "^conserved: expected a probability, got 1.1"),
        (promoters, {"conserved": "much"}, "^conserved: expected a probability, got 'much'"),
        (gaussian_clouds, {"n_clouds": 2.5}, "^n_clouds: expected a whole number from 1 on, got 2.5"),
        (gaussian_clouds, {"n_points": 0}, "^n_points: expected"),
        (gaussian_clouds, {"n_features": 1}, "^n_features: expected a whole number from 2 on, got 1"),
        (gaussian_clouds, {"parameter": "mean"}, '^parameter: expected "correlation" or "scale", got \'mean\''),
    ],
)
def test_wrong_arguments(function, keywords, message):
    with pytest.raises(ValueError, match=message):
        function(**keywords)
