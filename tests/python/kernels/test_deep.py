"""Kernels of very many parts, and parts within parts, on a thread with a small stack: in processes of their own, which a stack
that overflows would end."""

import pytest

from kernsel.kernels import RBF, Exp, Linear, Normalize
from kernsel.structured import MeanEmbedding

from children import run

THREAD = """
    import threading

    def on_a_small_stack(work):
        threading.stack_size(256 * 1024)
        done = []
        thread = threading.Thread(target=lambda: done.append(work()))
        thread.start()
        thread.join()
        assert done, "it raised"
"""


@pytest.mark.slow
def test_sums_and_products_of_very_many():
    out = run(
        THREAD
        + """
    import copy, math, pickle, tempfile
    import numpy as np
    import kernsel as ks
    from kernsel.kernels import RBF, WhiteKernel, kernel
    from sklearn.base import clone

    N = 1_000
    X, y = np.linspace(0.0, 1.0, 5).reshape(-1, 1), np.arange(5.0)

    def many():
        parts = [RBF(1.0 + i % 7) for i in range(N)]
        mixed = parts[0]
        for part in parts[1:]:
            mixed = (mixed + part) * 0.5
        for k in (sum(parts), math.prod(parts[1:], start=parts[0]), mixed):
            moved = k.clone_with_theta(np.zeros(k.n_dims))
            assert len(moved.theta) == len(k.bounds) == k.n_dims >= N
            assert moved(X).shape == (5, 5) and moved.diag(X)[0] > 0
            assert clone(k) == k == pickle.loads(pickle.dumps(k)) == copy.deepcopy(k)
            assert repr(k).count("RBF") == str(k).count("RBF") == N
            assert k.for_data(X, y) != moved
            assert len(k.get_params()) < 10_000
            assert k.hyperparameters[-1].name == ("k2__constant_value" if k is mixed else "k2__length_scale")
            if k is not mixed:
                assert kernel(repr(k)) == k
                assert len(k.build().json) > 10 * N
        model = ks.KernelRidge(sum(parts)).fit(X, y)
        with tempfile.TemporaryDirectory() as folder:
            ks.save(model, folder + "/model.ksl")
            assert np.array_equal(ks.load(folder + "/model.ksl").predict(X), model.predict(X))

    def very_many():
        k = sum([RBF(1.0)] * 20_000)
        core = k.build()
        assert core.diagonal(X)[0] == 20_000
        assert len(core.theta) == 20_000
        assert core.adjustable
        del core
        assert k == pickle.loads(pickle.dumps(k))

    on_a_small_stack(many)
    on_a_small_stack(very_many)
    print("done")
    """
    )
    assert out == "done\n"


@pytest.mark.slow
def test_kernels_within_kernels():
    """As deep as they may be, all that is done with a kernel fits the stack; one more is an error."""
    out = run(
        THREAD
        + """
    import copy, pickle
    import numpy as np
    from kernsel.kernels import *
    from sklearn.base import clone

    X, y = np.arange(3.0).reshape(-1, 1), np.arange(3.0)

    def ones(X):
        return np.ones(len(X))

    def same(X):
        return X

    composed = lambda k: RBF(2.0) @ k
    around = [
        Exp, Normalize, composed, lambda k: k**1, lambda k: k.on([0]), lambda k: PolynomialOf(k, [0.0, 1.0]),
        lambda k: Warp(k, ones), lambda k: Transform(k, same), lambda k: Transform(k, [[1.0]]), lambda k: RBF(2.0) + k,
        lambda k: 2.0 * (RBF(2.0) + Warp(k, ones)), lambda k: 1.0 * (Exp(k) + 1.0),
    ]

    def deepest(wrap):
        k = RBF(1.0)
        while True:
            try:
                k = wrap(k)
            except ValueError as error:
                assert "would lie within each other, and at most 100 may" in str(error), error
                return k

    def work():
        for wrap in around:
            k = deepest(wrap)
            assert k.nesting > 96, (wrap, k.nesting)
            moved = k.clone_with_theta(k.theta)
            assert moved.bounds.shape == (k.n_dims, 2)
            assert clone(k) == k == pickle.loads(pickle.dumps(k)) == copy.deepcopy(k)
            assert len(str(k)) > 100
            assert k.get_params() and [h.name for h in k.hyperparameters]
            if not any(function in repr(k) for function in ("ones", "same")):
                assert kernel(repr(k)) == k
            k.ready(X)[0].build().json
            if wrap is not composed:  # each length scale of a composition is set from a kernel matrix
                k.for_data(X, y)
            if "Exp" not in repr(k):
                assert k(X).shape == (3, 3) and k.pullback(X, np.eye(3)).shape == (k.n_dims,)
        print("done")

    on_a_small_stack(work)
    """
    )
    assert out == "done\n"


def test_how_deep_kernels_are():
    deep = RBF()
    for _ in range(99):
        deep = Exp(deep)
    cure = r"100 may; sums and products of any length count as one if each bracket is on the left"
    for make in (
        lambda: Exp(deep),
        lambda: Normalize(deep),
        lambda: RBF() * deep,
        lambda: deep + RBF(),
        lambda: Exp(RBF()).set_params(kernel=deep),
        lambda: Exp(Exp(RBF())).set_params(kernel__kernel=deep.kernel),
        lambda: (2.0 * RBF()) @ deep,
        lambda: MeanEmbedding(deep),
    ):
        with pytest.raises(ValueError, match=cure):
            make()
    once = Exp(Exp(RBF()))
    with pytest.raises(ValueError, match=cure):
        once.set_params(kernel__kernel=deep)
    assert once == Exp(Exp(RBF()))
    assert (deep.kernel + RBF() + Linear() * Linear()).nesting == 100


def test_parameters_of_long_sums():
    n = 800
    k = sum([RBF(1.0 + i) for i in range(n)])
    named = k.get_params()
    assert named["k1__k1__k2__length_scale"] == n - 2
    assert len(named) == 4 * 500
    first, second = "k1__" * (n - 1) + "length_scale", "k1__" * (n - 2) + "k2__length_scale"
    assert [h.name for h in k.hyperparameters][:2] == [first, second]
    k.set_params(**{first: 5.0, second: 7.0})
    assert k.subkernels()[0] == RBF(5.0)
    assert k.subkernels()[1] == RBF(7.0)
    with pytest.raises(ValueError, match="RBF has no parameter 'length'"):
        k.set_params(**{"k1__" * (n - 1) + "length": 5.0})
    with pytest.raises(ValueError, match="length_scale: has no parameters of its own"):
        k.set_params(**{first + "__length": 5.0})
