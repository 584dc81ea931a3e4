"""What kernels of graphs refuse, and what they are in estimators."""

import numpy as np
import pytest

import kernsel as ks
from kernsel import structured as st

RING = ([(0, 1), (1, 2), (2, 0)], "CCC")


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: st.WeisfeilerLehman(-1), ValueError, "depth: expected a whole number from 0 on"),
        (lambda: st.WeisfeilerLehman()([([(0, 5)], "CO")]), ValueError, r"X\[0\]"),
        (lambda: st.WeisfeilerLehman()([([(0, 1)], "CO"), ([(0, 1)], None)]), ValueError, "has no labels"),
        (lambda: st.ShortestPath("cosine"), ValueError, "kind: expected one of"),
        (lambda: st.RandomWalk(1.0), ValueError, "decay: expected a number above 0, below 1, got 1.0"),
        (lambda: st.RandomWalk(0.0), ValueError, "decay: expected"),
        (lambda: st.RandomWalk(decay_bounds=(0.1, 1.0)), ValueError, "decay_bounds: expected two numbers above 0, below 1"),
        (lambda: st.RandomWalk(decay_bounds="auto"), ValueError, "decay_bounds: expected .* or \"fixed\", got 'auto'"),
        (lambda: st.RandomWalk(steps="all"), ValueError, 'steps: expected "probabilities" or "counts"'),
        (
            lambda: st.RandomWalk(0.3, steps="counts")([RING]),
            ValueError,
            "decay: expected a number below 0.25",
        ),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_a_search_finds_the_decay():
    rng = np.random.default_rng(2)
    graphs = []
    for _ in range(14):
        n = int(rng.integers(3, 8))
        graphs.append(([(i, int(rng.integers(0, i))) for i in range(1, n)], rng.choice(list("CO"), n).tolist()))
    y = np.array([sum(labels[u] != labels[v] for u, v in edges) / len(labels) for edges, labels in graphs])
    model = ks.GaussianProcessRegressor(st.RandomWalk("auto"), noise=1e-3).fit(graphs, y)
    best = model.log_marginal_likelihood_value_
    for decay in (0.1, 0.5, 0.9):
        fixed = ks.GaussianProcessRegressor(st.RandomWalk(decay), noise=1e-3, optimizer=None).fit(graphs, y)
        assert best >= fixed.log_marginal_likelihood_value_
    assert 0.01 <= model.kernel_.decay <= 0.9
