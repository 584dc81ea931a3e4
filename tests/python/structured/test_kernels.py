"""Kernels of strings, bags, sets, graphs and distributions: as kernels, and in estimators."""

import pickle
from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

import kernsel as ks
from kernsel import structured as st
from kernsel._base.errors import NotPositiveSemidefiniteWarning
from kernsel.kernels import RBF, ConstantKernel, Linear, Matern, Normalize, WhiteKernel
from kernsel.testing import check_kernel

import reference

EPS = np.finfo(float).eps


@pytest.fixture
def strings(rng):
    return ["".join(rng.choice(list("ACGT"), rng.integers(6, 14))) for _ in range(24)]


@pytest.fixture
def bags(rng):
    return [rng.integers(0, 8, size=rng.integers(1, 9)).tolist() for _ in range(24)]


@pytest.fixture
def sets(rng):
    return [rng.normal(size=(rng.integers(1, 9), 2)) for _ in range(24)]


@pytest.fixture
def graphs(rng):
    def one():
        n = int(rng.integers(2, 9))
        edges = [(i, int(rng.integers(0, i))) for i in range(1, n)]
        return edges, "".join(rng.choice(list("CNO"), n))

    return [one() for _ in range(24)]


@pytest.fixture
def clouds(rng):
    found = [rng.normal(m, 0.5 + 0.1 * m, size=(12, 2)) for m in range(12)]
    for m in range(12):
        weights = rng.uniform(0.5, 1.5, size=7)
        found.append((rng.normal(-m, 1.0, size=(7, 2)), weights / weights.sum()))
    return found


KERNELS = [
    ("strings", st.Spectrum(2)),
    ("strings", st.Spectrum(4, 1)),
    ("strings", st.Spectrum(3, 2, alphabet="ACGT")),
    ("strings", st.Subsequence(2, 0.7)),
    ("strings", st.Subsequence(4, 0.3, alphabet="ACGT")),
    ("strings", st.LocalAlignment(0.6, 1.5, 0.5)),
    ("strings", st.LocalAlignment(0.6, 0.0, 0.5, gap_extend_bounds="fixed")),
    ("bags", st.BagOfItems()),
    ("bags", st.BagOfItems("tanimoto")),
    ("bags", st.BagOfItems("jaccard")),
    ("bags", st.BagOfItems("product")),
    ("sets", st.SetKernel(RBF([0.7, 1.3]))),
    ("sets", st.SetKernel(2.0 * Matern(1.0, nu=1.5) + Linear(2.0, "fixed"), mean=True)),
    ("graphs", st.WeisfeilerLehman(2)),
    ("graphs", st.WeisfeilerLehman(3, "min-max")),
    ("clouds", st.MeanEmbedding(RBF(1.5))),
    ("clouds", st.SlicedWasserstein(10)),
    ("clouds", st.LinearizedTransport()),
    ("clouds", st.LinearizedTransport(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0]]))),
]


@pytest.mark.parametrize(("objects", "kernel"), KERNELS, ids=lambda value: str(value)[:60])
def test_conformance(objects, kernel, request):
    points = request.getfixturevalue(objects)
    check_kernel(kernel, points)
    check_kernel(0.5 * (RBF(2.0) @ kernel) + kernel, points[:12])
    check_kernel(Normalize(kernel), points[:12])


@pytest.mark.parametrize(("objects", "kernel"), KERNELS, ids=lambda value: str(value)[:60])
def test_any_order_of_objects(objects, kernel, request, rng):
    points = request.getfixturevalue(objects)
    order = rng.permutation(len(points))
    if isinstance(kernel, st.LinearizedTransport) and isinstance(kernel.reference, str):
        kernel = st.LinearizedTransport(points[0])  # a barycenter is a local minimum, which depends on the order
    K = kernel(points)
    assert np.allclose(kernel([points[i] for i in order]), K[np.ix_(order, order)], rtol=1e-10, atol=1e-10 * np.abs(K).max())


@pytest.mark.parametrize(("objects", "kernel"), KERNELS, ids=lambda value: str(value)[:60])
def test_estimators(objects, kernel, request, rng):
    points = request.getfixturevalue(objects)
    K = kernel(points)
    y = K[:, ::5] @ rng.normal(size=K[:, ::5].shape[1])
    y = y / y.std()
    size = float(np.mean(np.diag(K)))
    scaled = ConstantKernel(1 / size, "fixed") * clone(kernel)
    model = ks.GaussianProcessRegressor(scaled, noise=1e-3, optimizer=None).fit(points[:20], y[:20])
    # The same of the matrix: what is learnt from the points is learnt from the first 20 of them.
    bound = model.kernel_
    S = bound(points[:20])
    expected = bound(points[20:], points[:20]) @ np.linalg.solve(S + 1e-3 * np.eye(20), y[:20])
    assert np.allclose(model.predict(points[20:]), expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())
    fitted = ks.KernelRidge(RBF("auto") @ kernel, alpha="auto").fit(points, y)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).predict(points[:5]), fitted.predict(points[:5]))
    assert np.mean((fitted.predict(points) - y) ** 2) < 0.9


def test_strings_as_defined(strings):
    few = strings[:5]
    for p, m in ((2, 0), (3, 1)):
        expected = [[reference.spectrum(s, t, p, m, "ACGT") for s in few] for t in few]
        assert np.array_equal(st.Spectrum(p, m, alphabet="ACGT")(few), expected)
        assert np.array_equal(st.Spectrum(p, m)([*few, "ACGT"])[:5, :5], expected)  # as many letters as there are
    expected = [[reference.subsequences(s, t, 2, 0.4, "ACGT")[0] for s in few] for t in few]
    assert np.allclose(st.Subsequence(2, 0.4)(few), expected, rtol=1e-12)


def test_local_alignment_warns_where_it_is_no_kernel():
    with pytest.warns(NotPositiveSemidefiniteWarning, match="not positive semidefinite for these scores and beta=3"):
        kernel = st.LocalAlignment(3.0, scores=[[0.0, 2.0], [2.0, 0.0]], alphabet="AC")
    with pytest.raises(ks.NotPositiveDefiniteError):
        ks.KernelRidge(kernel, alpha=1e-3).fit(["ACA", "CA", "AA", "CCC"], np.arange(4.0))
    st.LocalAlignment(3.0, scores=[[2.0, 0.0], [0.0, 2.0]], alphabet="AC")
    st.LocalAlignment("auto", scores=[[0.0, 2.0], [2.0, 0.0]], alphabet="AC")


def test_tokens(rng):
    words = [rng.choice(["to", "be", "or", "not"], size=8).tolist() for _ in range(6)]
    letters = ["".join({"to": "a", "be": "b", "or": "c", "not": "d"}[word] for word in text) for text in words]
    numbers = [[{"to": 5, "be": 7, "or": -1, "not": 10**12}[word] for word in text] for text in words]
    for kernel in (st.Spectrum(2), st.Spectrum(3, 1), st.Subsequence(2), st.LocalAlignment()):
        assert np.array_equal(kernel(words), kernel(letters))
        assert np.array_equal(kernel(numbers), kernel(letters))


def test_the_alphabet_is_that_of_the_training_set(strings):
    model = ks.KernelRidge(st.Spectrum(3, 1), alpha=0.1).fit(strings[:20], np.arange(20.0))
    with_new_letters = ["ACGTXYZ", *strings[20:]]
    assert np.allclose(model.predict(with_new_letters)[1:], model.predict(strings[20:]), rtol=1e-12)


def test_sets_as_sums_of_pairs(sets):
    base = 0.7 * RBF([0.5, 1.0])
    for mean in (False, True):
        expected = [[(base(A, B).mean() if mean else base(A, B).sum()) for B in sets] for A in sets]
        assert np.allclose(st.SetKernel(base, mean)(sets), expected, rtol=1e-12)
    assert np.allclose(st.SetKernel(base, True)(sets), st.MeanEmbedding(base)(sets), rtol=1e-12)


def test_clouds_as_expectations(clouds):
    base = RBF(0.8)
    pairs = [cloud if isinstance(cloud, tuple) else (cloud, np.full(len(cloud), 1 / len(cloud))) for cloud in clouds]
    expected = [[a @ base(x, z) @ b for z, b in pairs] for x, a in pairs]
    assert np.allclose(st.MeanEmbedding(base)(clouds), expected, rtol=1e-12)


def test_embeddings_are_those_of_the_transformers(clouds):
    for kernel, transformer in (
        (st.LinearizedTransport(), st.TransportEmbedding()),
        (st.SlicedWasserstein(7), st.SlicedWassersteinEmbedding(7)),
    ):
        rows = transformer.fit(clouds).transform(clouds)
        assert np.allclose(kernel(clouds), rows @ rows.T, rtol=1e-9, atol=1e-9 * np.square(rows).sum(axis=1).max())
        assert np.allclose((RBF(2.0) @ kernel)(clouds), RBF(2.0)(rows), rtol=1e-9)
        assert np.allclose((Matern(np.full(rows.shape[1], 3.0), nu=1.5) @ kernel)(clouds), Matern(3.0, nu=1.5)(rows), rtol=1e-9)


def test_references_are_told_apart(clouds, rng):
    references = [st.Cloud(rng.normal(size=(12, 2)) + shift) for shift in (0.0, 5.0)]  # they look the same when printed
    first, second = (st.LinearizedTransport(reference) for reference in references)
    assert np.allclose((first + second)(clouds), first(clouds) + second(clouds), rtol=1e-12)
    given = [(cloud.points, np.full(12, 1 / 12)) for cloud in references]
    chosen = ks.select(clouds, rng.normal(size=len(clouds)), [RBF(1.0) @ st.LinearizedTransport(one) for one in given])
    assert [one.problem for one in chosen.tried] == ["", ""]
    assert chosen.tried[0].value != chosen.tried[1].value


def test_single_points_are_distributions():
    clouds = [[[0.0, 0.0]], [[3.0, 4.0]], [[6.0, 8.0]]]
    rows = st.TransportEmbedding().fit_transform(clouds)
    assert np.allclose(np.linalg.norm(rows - rows[0], axis=1), [0.0, 5.0, 10.0])


def test_as_many_columns_as_in_fit(sets, clouds):
    for kernel, points in ((st.SetKernel(RBF()), sets), (st.MeanEmbedding(RBF()), clouds), (st.LinearizedTransport(), clouds)):
        model = ks.KernelRidge(kernel).fit(points, np.arange(float(len(points))))
        with pytest.raises(ValueError, match="expected points of 2 columns"):
            model.predict([np.zeros((4, 3))])


def test_gaussians():
    gaussians = [st.Gaussian([m], [[s**2]]) for m, s in product((-1.0, 0.0, 2.0), (0.5, 1.0, 3.0))]
    K = (RBF(1.0) @ st.LinearizedTransport(st.Gaussian([0.0], [[1.0]])))(gaussians)
    # In one dimension the 2-Wasserstein distance is that of (mean, deviation).
    points = np.array(list(product((-1.0, 0.0, 2.0), (0.5, 1.0, 3.0))))
    assert np.allclose(K, RBF(1.0)(points), rtol=1e-10)
    with pytest.raises((ValueError, TypeError), match=r"X\[1\]"):
        st.LinearizedTransport()([gaussians[0], np.zeros((3, 1))])


def test_auto_inside_follows_the_points(sets, rng):
    y = rng.normal(size=len(sets))
    for scale in (1.0, 1e5):
        scaled = [scale * one for one in sets]
        model = ks.KernelRidge(st.SetKernel(RBF("auto")), alpha=0.1).fit(scaled, y)
        everything = np.vstack(scaled)
        assert np.allclose(model.kernel_.kernel.length_scale, everything.std(axis=0) * 2**0.5)


def test_hyperparameters_inside_are_learnt(rng):
    sets = [rng.normal(size=(6, 1)) * width for width in np.linspace(0.3, 3.0, 60)]
    y = np.linspace(0.3, 3.0, 60)
    model = ks.GaussianProcessRegressor(
        ConstantKernel("auto") * (RBF("auto") @ st.SetKernel(RBF("auto"), mean=True)), noise="auto", criterion="lml"
    ).fit(sets[::2], y[::2])
    assert np.corrcoef(model.predict(sets[1::2]), y[1::2])[0, 1] > 0.8
    names = [h.name for h in model.kernel_.hyperparameters]
    assert "k2__inner__kernel__length_scale" in names


def test_select_chooses_whole_numbers_and_decay(rng):
    many = ["".join(rng.choice(list("AC"), 12)) for _ in range(60)]
    y = np.array([s.count("AAC") for s in many], dtype=float)
    chosen = ks.select(many, y, [st.Spectrum([1, 2, 3], [0, 1]), st.Subsequence([2, 3])])
    assert len(chosen.tried) == 5 + 2  # no more mismatches than letters
    best = chosen.best.kernel.k2
    assert (best.length, best.mismatches) == (3, 0)
    of_gaps = [one.kernel_.get_params() for one in chosen.tried if isinstance(one.kernel.k2, st.Subsequence)]
    assert all(params[name] != 0.5 for params in of_gaps for name in params if name.endswith("__decay"))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: st.Spectrum(0), ValueError, "length: expected a whole number from 1 on"),
        (lambda: st.Spectrum(2, 2), ValueError, "mismatches: expected fewer"),
        (
            lambda: st.Spectrum(2, alphabet="ACGT")(["ACX"]),
            ValueError,
            r"X\[0\]: expected letters of the alphabet 'ACGT', got 'X'",
        ),
        (lambda: st.Spectrum(2)("ACGT"), TypeError, "X: expected a list of objects"),
        (lambda: st.Spectrum(2)([1.0]), TypeError, r"X\[0\]: expected a string or a sequence of tokens, got 1.0"),
        (lambda: Normalize(st.Spectrum(3))(["ACGT", "A"]), ValueError, "not positive for a point"),
        (lambda: st.Spectrum(2, alphabet=3.5), TypeError, "alphabet: expected a string or a sequence"),
        (lambda: st.Subsequence(2, alphabet="AAC"), ValueError, "alphabet: expected tokens that are all different"),
        (lambda: st.Spectrum(2, 1, alphabet=3)(["AC", "GT"]), ValueError, "alphabet: expected at least 4"),
        (lambda: st.Subsequence(2, 1.5), ValueError, "decay: expected a number above 0, up to 1"),
        (lambda: st.Subsequence(2, 0.5, (0.1, 5.0)), ValueError, "decay_bounds: expected numbers above 0, up to 1"),
        (lambda: st.BagOfItems()(csr_array(np.eye(2))), TypeError, "X: expected a list of objects"),
        (lambda: st.LocalAlignment(-1.0), ValueError, "beta: expected"),
        (lambda: st.LocalAlignment(scores={("A", "A"): 1.0}), ValueError, "alphabet"),
        (lambda: st.BagOfItems("cosine"), ValueError, "kind: expected one of"),
        (lambda: st.BagOfItems()(["text"]), TypeError, r"X\[0\]"),
        (
            lambda: st.SetKernel(RBF(), mean=True)([np.zeros((0, 2)), np.zeros((1, 2))]),
            ValueError,
            r"X\[0\]: expected one point",
        ),
        (lambda: st.SetKernel(3.0), TypeError, "kernel: expected a kernel of vectors"),
        (lambda: st.SetKernel(st.Spectrum(2)), TypeError, "kernel: expected a kernel of vectors"),
        (
            lambda: st.SetKernel(RBF())([np.zeros((2, 2)), np.zeros((2, 3))]),
            ValueError,
            r"X\[1\]: expected points of 2 columns",
        ),
        (lambda: st.MeanEmbedding(RBF())([np.zeros((0, 2))]), ValueError, "the cloud is empty"),
        (lambda: st.MeanEmbedding(RBF())([(np.zeros((2, 1)), [0.5, 0.6])]), ValueError, r"weights of X\[0\]"),
        (lambda: st.MeanEmbedding(RBF())([(np.zeros((2, 1)), [1.5, -0.5])]), ValueError, r"weights of X\[0\]"),
        (lambda: st.LinearizedTransport()([np.zeros((2, 1)), np.zeros((2, 2))]), ValueError, r"X\[1\]"),
        (lambda: st.LinearizedTransport("centre")([np.zeros((2, 1))]), ValueError, "reference"),
        (lambda: st.WeisfeilerLehman(-1), ValueError, "depth: expected a whole number from 0 on"),
        (lambda: st.WeisfeilerLehman()([([(0, 5)], "CO")]), ValueError, r"X\[0\]"),
        (lambda: st.WeisfeilerLehman()([([(0, 1)], "CO"), ([(0, 1)], None)]), ValueError, "has no labels"),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_right_answers_for_the_least():
    assert np.array_equal(st.Spectrum(2)(["", "AC"]), [[0.0, 0.0], [0.0, 1.0]])
    assert np.array_equal(st.Subsequence(2)([""]), [[0.0]])
    assert np.array_equal(st.LocalAlignment()(["", ""]), np.ones((2, 2)))
    assert np.array_equal(st.BagOfItems()([[], []]), np.ones((2, 2)))
    assert np.array_equal(st.SetKernel(RBF())([np.zeros((0, 1)), [[1.0]]]), [[0.0, 0.0], [0.0, 1.0]])
    loop = st.WeisfeilerLehman(1)([([(0, 0)], "C"), ([], "C")])
    assert np.array_equal(loop, [[2.0, 1.0], [1.0, 2.0]])
    assert (RBF(1.0) @ st.Spectrum(2) + WhiteKernel(0.5))(["AA", "AA"])[0, 0] == 1.5
