"""The slow specification of the Vecchia factor against the dense one, its gradients against differences and complex steps."""

import numpy as np
import pytest
from pairs import pairwise

import reference as ref
import reference_vecchia as vecchia
from accuracy import eps

N, OUTPUTS = 12, 2
THETA = np.array([0.3, -0.3, 0.1])  # logarithms of the variance and of two length scales
GROUPS = np.arange(N) % 4
TRENDS = [None, "constant", "linear"]
IN_SAMPLE = ["lml", "profiled_lml", "reml", "profiled_reml", "gcv", "risk"]
LEFT_OUT = ["loo", "loo_log_density", "profiled_loo_log_density", "loo_crps", "loo_absolute"]
TINY = 1e-30  # the complex step, from which nothing is subtracted
LIMIT = 64 * N * eps(float) * 500.0  # of a relative error: the condition numbers of all matrices here are below 500


def kernel(X, Z, theta):
    """Return a squared exponential kernel matrix, for complex parameters too."""
    return np.exp(theta[0]) * np.exp(-0.5 * np.sum((X[:, None] - Z) ** 2 * np.exp(-2 * theta[1:]), axis=2))


def basis(trend, X):
    return np.column_stack([np.ones(len(X)), X])[:, : {None: 0, "constant": 1, "linear": 3}[trend]]


class Problem:
    """Points, outputs, noise and trend, and the fit for given lists of neighbours."""

    def __init__(self, trend, landmarks, count, groups=None, correction="model", seed=0):
        rng = np.random.default_rng(seed)
        self.X, self.noise = rng.uniform(-1, 1, (N, 2)), rng.uniform(0.05, 0.3, N)
        self.y = np.sin(2 * self.X[:, :1]) + self.X[:, 1:] ** 2 + 0.3 * rng.standard_normal((N, OUTPUTS))
        self.H, self.Z = basis(trend, self.X), rng.uniform(-1, 1, (4, 2)) if landmarks else None
        self.predecessors = vecchia.nearest_predecessors(self.X, rng.permutation(N), count)
        self.others = vecchia.nearest_others(self.X, count, groups)
        self.groups, self.correction, self.trend, self.rng = groups, correction, trend, rng

    def matrices(self, theta):
        if self.Z is None:
            return kernel(self.X, self.X, theta), None
        return kernel(self.X, self.X, theta), (kernel(self.X, self.Z, theta), kernel(self.Z, self.Z, theta))

    def fit(self, theta=THETA, noise=None):
        K, landmarks = self.matrices(theta)
        noise = self.noise if noise is None else noise
        given = (self.predecessors, self.others, landmarks, self.groups, self.correction)
        return vecchia.fit(K, noise, self.H, self.y, *given)

    def gradient(self, found, partials):
        """Return what `pull` gives for each hyperparameter, and for the noise of each point."""
        pulled = vecchia.pull(found, partials)
        slopes = []
        for direction in np.eye(len(THETA)):
            K, landmarks = self.matrices(THETA + 1j * TINY * direction)
            slope = np.sum(pulled["K"] * K.imag)
            if landmarks is not None:
                slope += np.sum(pulled["K_XZ"] * landmarks[0].imag) + np.sum(pulled["K_ZZ"] * landmarks[1].imag)
            slopes.append(slope / TINY)
        return np.append(slopes, pulled["noise"])

    def complex_fits(self):
        """Return the fits of which the imaginary parts are derivatives, in the order of `gradient`."""
        steps = [self.fit(THETA + 1j * TINY * direction) for direction in np.eye(len(THETA))]
        return steps + [self.fit(noise=self.noise + 1j * TINY * direction) for direction in np.eye(N)]


def assert_close(found, expected, size=1.0):
    assert np.shape(found) == np.shape(expected)
    assert np.abs(found - expected).max() <= LIMIT * max(size, np.abs(expected).max())


def test_neighbours_by_hand():
    X = np.array([[0.0], [1.0], [3.0], [2.0], [2.0]])
    assert vecchia.nearest_others(X, 2).tolist() == [[1, 3], [0, 3], [3, 4], [4, 1], [3, 1]]
    assert vecchia.nearest_others(X, 3, [0, 1, 0, 1, 1]).tolist() == [[1, 3, 4], [0, 2, -1], [3, 4, 1], [2, 0, -1], [2, 0, -1]]
    assert vecchia.nearest_predecessors(X, [3, 0, 4, 1, 2], 2).tolist() == [[3, -1], [0, 3], [3, 4], [-1, -1], [3, 0]]
    Z = np.array([[1.5], [1.5]])
    assert vecchia.nearest_rows(Z, X, 3).tolist() == [[1, 3, 4], [1, 3, 4]]
    assert vecchia.nearest_rows_and_predecessors(Z, X, 3).tolist() == [[1, 3, 4], [5, 1, 3]]
    assert vecchia.own_set(1, [[-1], [3, 0, -1]]).tolist() == [3, 0, 1]


@pytest.mark.parametrize("landmarks", [False, True])
@pytest.mark.parametrize("trend", TRENDS)
def test_all_neighbours_give_dense_values(trend, landmarks):
    for correction, weighted, groups in (("model", True, GROUPS), ("model", False, None), ("point", False, None)):
        problem = Problem(trend, landmarks, N + 2, groups, correction)
        (K, _), y, H = problem.matrices(THETA), problem.y, problem.H
        w = problem.rng.uniform(0.5, 2, N) if weighted else np.ones(N)
        noise = problem.noise / w
        found = problem.fit(noise=noise)
        r, v = np.empty(y.shape), np.empty(N)
        for label in range(N) if groups is None else range(4):
            out = np.flatnonzero(np.arange(N) == label if groups is None else groups == label)
            mean, covariance = ref.predict_without(K, noise, H, y, out)
            r[out], v[out] = y[out] - mean, np.diag(covariance)
        assert_close(found["residual"], r)
        assert_close(found["variance"], v)
        assert_close(vecchia.criterion("kfold", found, w)[0], np.average(r**2, weights=w[:, None] * np.ones(OUTPUTS)))
        for name in IN_SAMPLE if weighted else IN_SAMPLE + LEFT_OUT:
            for scale in ("each", "shared") if "profiled" in name else ("shared",):
                expected = ref.criterion(name, K, noise, H, y, sigma=0.3, smoothing=0.1, scale=scale)
                assert_close(vecchia.criterion(name, found, None, 0.3, 0.1, scale)[0], expected)


def test_the_short_formula_for_points_left_out():
    """It is right for groups without a trend; with one, variances may be negative, where those of the model never are."""
    for trend, equal in ((None, True), ("constant", False)):
        model, point = (Problem(trend, False, N, GROUPS, correction).fit() for correction in ("model", "point"))
        assert np.allclose(model["residual"], point["residual"], rtol=0, atol=LIMIT) == equal
        assert np.allclose(model["variance"], point["variance"], rtol=0, atol=LIMIT) == equal
    problem = Problem(None, True, 3)
    problem.Z, problem.noise = problem.X[:4] + 0.01, np.full(N, 1e-6)
    assert problem.fit()["variance"].min() > 0
    problem.correction = "point"
    assert problem.fit()["variance"].min() < 0


@pytest.mark.parametrize("landmarks", [False, True])
@pytest.mark.parametrize("trend", TRENDS)
def test_few_neighbours_are_a_process_of_their_own(trend, landmarks):
    """All but what predicts the points that are left out follows from the precision matrix as from any other."""
    problem = Problem(trend, landmarks, 3, GROUPS)
    found, y, noise = problem.fit(), problem.y, problem.noise
    V = np.linalg.inv(vecchia.precision_matrix(found))
    for name in IN_SAMPLE:
        expected = ref.criterion(name, V - np.diag(noise), noise, problem.H, y, sigma=0.3)
        assert_close(vecchia.criterion(name, found, sigma=0.3)[0], expected)
    c, sums = found["c"], np.sum(y * found["c"], axis=0)
    assert_close(found["quadratic"], sums)
    assert_close(c, found["projected"] @ y)

    # The trend without a group: that of the rows and columns of the others of the residuals' covariance, which has no group.
    p, D = len(found["K_ZZ"]), found["D"]
    prior = np.zeros((D.shape[1], D.shape[1]))
    prior[:p, :p] = found["K_ZZ"]
    P = np.zeros((N, N))
    for S, v in zip(found["sets"], found["vectors"], strict=True):
        P[np.ix_(S, S)] += np.outer(v, v)
    V = np.linalg.inv(P)
    for i, (S, v) in enumerate(zip(found["sets_left_out"], found["vectors_left_out"], strict=True)):
        kept = np.flatnonzero(GROUPS[i] != GROUPS)
        weighted = np.linalg.solve(V[np.ix_(kept, kept)], D[kept])
        M = prior + D[kept].T @ weighted
        beta, eta = np.linalg.solve(M, weighted.T @ y[kept]), D[S].T @ v
        assert_close(found["residual"][i], (v @ y[S] - eta @ beta) / v[-1])
        assert_close(found["variance"][i], (1 + eta @ np.linalg.solve(M, eta)) / v[-1] ** 2)


@pytest.mark.parametrize("landmarks", [False, True])
@pytest.mark.parametrize("trend", TRENDS)
def test_predictions_are_kriging(trend, landmarks):
    problem = Problem(trend, landmarks, N)
    X, Z, (K, _), found = problem.X, problem.rng.uniform(-1, 1, (5, 2)), problem.matrices(THETA), problem.fit()
    cross, own, h = kernel(Z, X, THETA), kernel(Z, Z, THETA), basis(trend, Z)
    to_landmarks = kernel(Z, problem.Z, THETA) if landmarks else None
    mean, covariance, _ = ref.kriging(K + np.diag(problem.noise), cross.T, own, problem.H, h, problem.y)
    means, variances = vecchia.predict(found, cross, np.diag(own), h, vecchia.nearest_rows(Z, X, N), to_landmarks)
    assert_close(means, mean)
    assert_close(variances, np.diag(covariance))
    neighbours = vecchia.nearest_rows_and_predecessors(Z, X, N + 5)
    means, joint = vecchia.predict_jointly(found, cross, own, h, neighbours, to_landmarks)
    assert_close(means, mean)
    assert_close(joint, covariance)

    # A row that is new is predicted as one that is left out, but for its noise, where there is no trend.
    if trend is None and not landmarks:
        found = Problem(trend, landmarks, 3).fit()
        mean, variance = vecchia.predict(found, K, np.diag(K), problem.H, vecchia.nearest_others(X, 3))
        assert_close(problem.y - mean, found["residual"])
        assert_close(variance + problem.noise, found["variance"])


KINDS = {"quadratic": OUTPUTS, "c": (N, OUTPUTS), "precision": N, "log_det": (), "log_det_trend": ()}
KINDS |= {"residual": (N, OUTPUTS), "variance": N}
CASES = pairwise(TRENDS, [False, True], [None, GROUPS], [0, 3, N], ["model", "point"])


@pytest.mark.parametrize(("trend", "landmarks", "groups", "count", "correction"), CASES)
def test_gradients_by_complex_steps(trend, landmarks, groups, count, correction):
    problem = Problem(trend, landmarks, count, groups, correction)
    found, steps, w = problem.fit(), problem.complex_fits(), problem.rng.uniform(0.5, 2, N)
    random = {kind: problem.rng.standard_normal(shape) for kind, shape in KINDS.items()}
    for kind, slopes in random.items():
        expected = np.array([np.sum(slopes * step[kind].imag) if kind in step else 0.0 for step in steps]) / TINY
        assert_close(problem.gradient(found, {kind: slopes}), expected, size=1e-3)
    assert_close(
        problem.gradient(found, random),
        sum(problem.gradient(found, {kind: slopes}) for kind, slopes in random.items()),
    )
    for name in IN_SAMPLE + LEFT_OUT:
        expected = np.array([vecchia.criterion(name, step, w, 0.3, 0.1)[0].imag for step in steps]) / TINY
        slopes = vecchia.criterion(name, found, w, 0.3, 0.1)[1]
        assert_close(problem.gradient(found, slopes), expected, size=1e-3)
        if "quadratic" in slopes:  # the quadratic forms, as functions of c
            slopes["c"] = problem.y * slopes.pop("quadratic")
            assert_close(problem.gradient(found, slopes), expected, size=1e-3)


@pytest.mark.parametrize("name", ["reml", "gcv", "profiled_loo_log_density"])
def test_gradients_by_central_differences(name):
    problem = Problem("linear", True, 3, GROUPS)

    def value(parameters):
        return vecchia.criterion(name, problem.fit(parameters[:3], parameters[3:]), None, 0.3, 0.1)[0]

    expected, error = ref.central_differences(value, np.append(THETA, problem.noise), 1e-4)
    found = problem.fit()
    gradient = problem.gradient(found, vecchia.criterion(name, found, None, 0.3, 0.1)[1])
    assert (np.abs(gradient - expected) <= error + 1e-8 * np.abs(expected).max()).all()


def test_information():
    """With all neighbours it is 1/2 tr(P dK_a P dK_b); with few, minus the expected second derivatives of the likelihood."""
    problem = Problem(None, False, N)
    steps = [problem.matrices(THETA + 1j * TINY * direction)[0].imag / TINY for direction in np.eye(3)]
    tangents = [*steps, np.diag(problem.noise)]
    P = np.linalg.inv(problem.matrices(THETA)[0] + np.diag(problem.noise))
    expected = np.array([[0.5 * np.trace(P @ a @ P @ b) for b in tangents] for a in tangents])
    slopes = np.array([np.trace(P @ a) for a in tangents])
    assert_close(vecchia.information(problem.fit(), tangents), expected)
    assert_close(vecchia.information(problem.fit(), tangents, N), expected - 0.5 * np.outer(slopes, slopes) / N)

    few = Problem(None, False, 3)
    C = few.fit()["C"]

    def expected_likelihood(parameters):
        found = few.fit(parameters[:3], few.noise * np.exp(parameters[3]))
        squares = [v @ C[np.ix_(S, S)] @ v for S, v in zip(found["sets"], found["vectors"], strict=True)]
        return -0.5 * (found["log_det"] + np.sum(squares))

    curvature = ref.second_derivatives(expected_likelihood, np.append(THETA, 0.0))
    assert -curvature == pytest.approx(vecchia.information(few.fit(), tangents), abs=1e-5 * np.abs(curvature).max())
