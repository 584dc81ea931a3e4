"""Models of points that are objects, on disk."""

import json

import numpy as np
import pandas as pd
import pytest

import kernsel as ks
from kernsel.kernels import RBF
from kernsel.saving.container import read_container, write_container
from kernsel.structured import (
    BagOfItems,
    Cloud,
    Gaussian,
    LinearizedTransport,
    MeanEmbedding,
    Mixed,
    RandomWalk,
    ShortestPath,
    Spectrum,
    TreeKernel,
    WeisfeilerLehman,
)

from letters import Letters

nx = pytest.importorskip("networkx")
N = 12
rng = np.random.default_rng(3)
texts = ["".join(rng.choice(list("ACGT"), 8)) for _ in range(N)]
y = np.array([text.count("A") for text in texts]) + 0.1 * rng.standard_normal(N)
sets = [rng.standard_normal((int(rng.integers(2, 5)), 2)) for _ in range(N)]
GP = ks.GaussianProcessRegressor


def graph(i):
    made = nx.gnp_random_graph(5, 0.5, seed=i, directed=i % 2 == 1)
    nx.set_node_attributes(made, {node: "ab"[node % 2] for node in made}, "atom")
    return made


CASES = {
    "process of strings": (GP(RBF("auto") @ Spectrum(2), noise="auto", trend="constant"), texts),
    "ridge of strings": (ks.KernelRidge(RBF("auto") @ Spectrum(2), alpha="auto"), texts),
    "path": (ks.KernelRidgeCV(Spectrum(2)), texts),
    "support vectors": (ks.SVR(Spectrum(2)), texts),
    "interpolator": (ks.KernelInterpolator(Spectrum(4)), texts),
    "classes": (ks.GaussianProcessClassifier(2.0 * Spectrum(2), optimizer=None), texts),
    "table": (GP(RBF(1.0).on(["a"]) + Spectrum(2).on(["s"])), pd.DataFrame({"a": np.arange(float(N)), "s": texts})),
    "numbers by name": (ks.KernelRidge(RBF(1.0).on(["a"])), Mixed(a=rng.uniform(size=(N, 2)), b=np.arange(N))),
    "bags": (ks.KernelRidge(BagOfItems(), alpha=0.1), [{item: text.count(item) for item in text} for text in texts]),
    "tokens": (ks.KernelRidge(Spectrum(2), alpha=0.1), [[(item, 1), (item, np.inf), None] for item in "ACGTACGTACGT"]),
    "clouds": (GP(MeanEmbedding(RBF(1.0)), noise=0.1), [Cloud(points) for points in sets]),
    "normal distributions": (
        ks.KernelRidge(RBF(1.0) @ LinearizedTransport()),
        [Gaussian(points[0], np.eye(2) * (1 + i)) for i, points in enumerate(sets)],
    ),
    "graphs": (ks.KernelRidge(WeisfeilerLehman(2, node_label="atom", directed=True)), [graph(i) for i in range(N)]),
    "edges": (ks.KernelRidge(WeisfeilerLehman(2)), [([(0, 1), (1, "end")], {0: "a", 1: "b", "end": i % 3}) for i in range(N)]),
}
CASES |= {
    "walks": (GP(RandomWalk(0.4, node_label="atom", directed=True), noise=0.1, optimizer=None), CASES["graphs"][1]),
    "paths": (ks.KernelRidge(ShortestPath("min-max")), CASES["edges"][1]),
    "trees": (GP(TreeKernel(0.3), noise=0.1), [("S", ("N", text[0]), ["V", text[1], text[2]]) for text in texts]),
    "texts of trees": (ks.KernelRidge(TreeKernel(fragments="subtrees")), [f"(S (N {text[0]}) {text[1]})" for text in texts]),
}


@pytest.mark.parametrize("name", CASES)
def test_round_trip(name, tmp_path):
    model, X = CASES[name]
    model.fit(X, y > 2 if name == "classes" else y)
    ks.save(model, tmp_path / "model.ksl")
    loaded = ks.load(tmp_path / "model.ksl")
    new = X.iloc[:4] if isinstance(X, pd.DataFrame) else X[:4]
    assert np.array_equal(loaded.predict(new), model.predict(new))
    assert loaded.kernel_ == model.kernel_
    assert not hasattr(loaded, "n_features_in_")
    ks.save(loaded, tmp_path / "again.ksl")
    assert (tmp_path / "again.ksl").read_bytes() == (tmp_path / "model.ksl").read_bytes()


DAMAGED = [
    ("graphs", {"graph": [True, [], []]}, ""),
    ("graphs", {"graph": [True, [1], []]}, "graph: expected pairs of a node and its attributes"),
    (
        "graphs",
        {"graph": [False, [{"tuple": [1, {"mapping": []}]}], [{"tuple": [1, 2, {"mapping": []}]}]]},
        "of two of its nodes",
    ),
    ("graphs", {"graph": [False, [{"tuple": [[], {"mapping": []}]}], []]}, "unhashable"),
    ("graphs", {"graph": [1, [], []]}, "objects: expected an object, got {'graph'"),
    ("clouds", {"cloud": [[["a"]], None]}, "points"),
    ("clouds", {"cloud": [{"array": "points"}, None]}, "objects: expected an object, got {'array': 'points'}"),
    ("clouds", {"import": "os"}, "objects: expected an object, got {'import': 'os'}"),
    ("tokens", {"mapping": [[[], 1]]}, "unhashable"),
    ("tokens", {"float": "1e9"}, "objects: expected an object"),
    ("process of strings", 3, r"X\[0\]: expected a string"),
]


@pytest.mark.parametrize(("name", "value", "message"), DAMAGED)
def test_damaged_objects(name, value, message, tmp_path):
    model, X = CASES[name]
    path = tmp_path / "model.ksl"
    ks.save(model.fit(X, y), path)
    container = read_container(path)
    described = json.loads(container.metadata["model"])
    described["objects"]["parts"][0]["objects"][0] = value
    arrays = {each: np.array(container.array(each)) for each in container.tensors}
    write_container(path, arrays, container.metadata | {"model": json.dumps(described)})
    if not message:  # a graph without nodes is one
        assert ks.load(path).predict(X[:2]).shape == (2,)
        return
    with pytest.raises(ValueError, match=message):
        ks.load(path)


def test_what_only_pickle_writes(tmp_path):
    path = tmp_path / "model.ksl"
    with pytest.raises(TypeError, match=r"X: point 1 is or has a complex, which cannot be written.*use pickle or joblib"):
        ks.save(ks.KernelRidge(Spectrum(1)).fit(["AC", ["A", 1j], "CA"], [1.0, 2.0, 3.0]), path)
    with pytest.raises(TypeError, match="use pickle or joblib for this model"):
        ks.save(ks.KernelRidge(Letters()).fit(texts, y), path)
    updated = GP(Spectrum(2), optimizer=None, noise=0.1).fit(texts, y).update(["ACCA"], [2.0])
    with pytest.raises(TypeError, match="objects were added by update; fit to all of them"):
        ks.save(updated, path)
    assert not list(tmp_path.iterdir())
